//! What a job computes, and which jobs are refused.

use std::time::Duration;

use replayer::execute::{
    ExecuteError, Executor, Image, ImageDim, Job, Module, Resource,
    vulkan::{MemoryMode, VulkanExecutor},
};
use rspirv::spirv::{Capability, Dim};

use crate::{assert_copies, assert_silent, bind, job, modules, open};

/// Both ways to reach memory; every CPU device has both.
fn both_modes() -> [VulkanExecutor; 2] {
    [open(|o| o.memory = MemoryMode::Auto), open(|o| o.memory = MemoryMode::Staged)]
}

#[test]
fn buffers_are_copied() {
    for mut executor in both_modes() {
        let words: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        assert_copies(&mut executor, &words);
        // Fewer words in the same pools, then more than they hold.
        assert_copies(&mut executor, &[0xffff_ffff, 0, 0x7fc0_0001]);
        let words: Vec<u32> = (0..40_000u32).map(|i| !i).collect();
        assert_copies(&mut executor, &words);
        assert_silent(&mut executor);
    }
}

#[test]
fn outputs_are_zero_at_first_and_keep_their_order() {
    let module = modules::first_only();
    for mut executor in both_modes() {
        // Leaves other words in the pool.
        assert_copies(&mut executor, &[0xdead_beef; 300]);
        let bindings = [bind(4, Resource::Output(2)), bind(0, Resource::Output(100))];
        let mut expected = vec![0; 100];
        expected[0] = 7;
        assert_eq!(executor.run(&job(&module, &bindings, 1)), Ok(vec![vec![0, 0], expected]));
        assert_silent(&mut executor);
    }
}

#[test]
fn nothing_to_do_gives_zeros() {
    let module = modules::copy();
    let mut executor = open(|_| {});
    let bindings = [bind(0, Resource::Input(&[1, 2])), bind(1, Resource::Output(2))];
    for groups in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        let job = Job { groups, ..job(&module, &bindings, 0) };
        assert_eq!(executor.run(&job), Ok(vec![vec![0, 0]]));
    }
    let bindings = [bind(0, Resource::Input(&[])), bind(1, Resource::Output(0))];
    assert_eq!(executor.run(&job(&module, &bindings, 3)), Ok(vec![vec![]]));
    assert_eq!(executor.pipeline_counts().pipelines_made, 0);
    // An empty input beside an output that is there.
    let bindings = [bind(0, Resource::Input(&[])), bind(1, Resource::Output(2))];
    assert_eq!(executor.run(&job(&module, &bindings, 2)), Ok(vec![vec![0, 0]]));
    assert_silent(&mut executor);
}

#[test]
fn accesses_out_of_bounds_write_nothing_else() {
    let module = modules::copy();
    for mut executor in both_modes() {
        let bindings = [bind(0, Resource::Input(&[5; 64])), bind(1, Resource::Output(3))];
        assert_eq!(executor.run(&job(&module, &bindings, 64)), Ok(vec![vec![5, 5, 5]]));
        assert_silent(&mut executor);
    }
}

#[test]
fn uniform_blocks_take_inputs() {
    let module = modules::uniform();
    for mut executor in both_modes() {
        let bindings = [bind(0, Resource::Input(&[0x1234_5678, 0, 0, 0])), bind(1, Resource::Output(2))];
        assert_eq!(executor.run(&job(&module, &bindings, 2)), Ok(vec![vec![0x1234_5678; 2]]));
        assert_silent(&mut executor);
    }
}

#[test]
fn specialization_and_push_constants_reach_the_module() {
    let module = modules::constants();
    let mut executor = open(|_| {});
    let bindings = [replayer::execute::Binding { set: 1, binding: 3, element: 0, resource: Resource::Output(1) }];
    let mut value = |specialization: &[(u32, u32)], push_constants: &[u32]| {
        let job = Job { specialization, push_constants, ..job(&module, &bindings, 1) };
        executor.run(&job).map(|out| out[0][0])
    };
    assert_eq!(value(&[], &[9, 100_000]), Ok(102_005));
    assert_eq!(value(&[(7, 3)], &[9, 0]), Ok(3005));
    assert_eq!(value(&[(9, 1), (7, 4)], &[9, 0]), Ok(4001));
    // An id that the module lacks, and more push constants than it reads.
    assert_eq!(value(&[(8, 77), (7, 4)], &[9, 10, 11]), Ok(4015));
    assert_eq!(
        value(&[(7, 1), (7, 1)], &[0, 0]),
        Err(ExecuteError::InvalidJob("specialization constant 7 is given twice".to_owned()))
    );
    assert_eq!(
        value(&[], &[1]),
        Err(ExecuteError::InvalidJob("4 bytes of push constants, the module's block takes 8".to_owned()))
    );
    let limit = executor.device().max_push_constants_size;
    let many = vec![0; limit as usize / 4 + 1];
    let job = Job { push_constants: &many, ..job(&module, &bindings, 1) };
    let error = executor.run(&job);
    let text = format!("{} bytes of push constants, maxPushConstantsSize is {limit}", 4 * many.len());
    assert_eq!(error, Err(ExecuteError::Unsupported(text)));
    assert_silent(&mut executor);
}

/// Every texel of an image by fetches, in the order of the texels.
fn fetch_all(executor: &mut VulkanExecutor, image: Image<'_>) -> Result<Vec<u32>, ExecuteError> {
    let (dim, arrayed) = match image.dim {
        ImageDim::D1 => (Dim::Dim1D, false),
        ImageDim::D1Array => (Dim::Dim1D, true),
        ImageDim::D2 => (Dim::Dim2D, false),
        ImageDim::D2Array => (Dim::Dim2D, true),
        ImageDim::D3 => (Dim::Dim3D, false),
    };
    let mut rows = Vec::new();
    for level in 0..image.levels {
        let [w, h, d] = image.extent.map(|e| (e >> level).max(1));
        for layer in 0..image.layers {
            for z in 0..d {
                for y in 0..h {
                    for x in 0..w {
                        match image.dim {
                            ImageDim::D1 => rows.extend([x]),
                            ImageDim::D1Array => rows.extend([x, layer]),
                            ImageDim::D2 => rows.extend([x, y]),
                            ImageDim::D2Array => rows.extend([x, y, layer]),
                            ImageDim::D3 => rows.extend([x, y, z]),
                        }
                        rows.push(level);
                    }
                }
            }
        }
    }
    let module = modules::fetch(dim, arrayed);
    let count = image.texels.len();
    let bindings = [bind(0, Resource::Input(&rows)), bind(1, Resource::Output(count)), bind(2, Resource::Image(image))];
    executor.run(&job(&module, &bindings, u32::try_from(count).unwrap())).map(|mut out| out.remove(0))
}

/// An image of one texel.
fn single(texels: &[u32; 1]) -> Resource<'_> {
    Resource::Image(Image { dim: ImageDim::D2, extent: [1, 1, 1], layers: 1, levels: 1, texels })
}

fn noise(count: usize, seed: u32) -> Vec<u32> {
    (0..count as u32).map(|i| (i ^ seed).wrapping_mul(0x85eb_ca6b).rotate_left(13).wrapping_mul(0xc2b2_ae35)).collect()
}

#[test]
fn every_texel_of_every_level_and_layer_arrives() {
    let shapes = [
        (ImageDim::D1, [13, 1, 1], 1, 4, 13 + 6 + 3 + 1),
        (ImageDim::D1Array, [7, 1, 1], 3, 3, 3 * (7 + 3 + 1)),
        (ImageDim::D2, [9, 5, 1], 1, 4, 45 + 8 + 2 + 1),
        (ImageDim::D2, [1, 1, 1], 1, 1, 1),
        (ImageDim::D2Array, [5, 6, 1], 6, 3, 6 * (30 + 6 + 1)),
        (ImageDim::D3, [6, 3, 5], 1, 3, 90 + 3 * 2 + 1),
    ];
    for mut executor in both_modes() {
        for (dim, extent, layers, levels, count) in shapes {
            for seed in [1, 2, 1] {
                let texels = noise(count, seed);
                let image = Image { dim, extent, layers, levels, texels: &texels };
                assert_eq!(fetch_all(&mut executor, image), Ok(texels.clone()), "{dim:?} {extent:?}");
            }
        }
        assert_silent(&mut executor);
    }
}

#[test]
fn images_of_one_shape_in_one_job_stay_apart() {
    let mut k = modules::Kernel::new();
    let output = k.buffer(0, 0);
    let images = [1, 2, 3].map(|binding| k.image(0, binding, Dim::Dim2D, false));
    let zero = k.constant(0);
    for (place, image) in (0..).zip(images) {
        let texel = k.fetch(image, &[zero, zero], zero);
        let place = k.constant(place);
        k.store(output, place, texel);
    }
    let module = k.finish();
    let mut executor = open(|_| {});
    // Each content meets each place, kept from the run before or not.
    for [a, b, c] in [[1u32, 2, 3], [3, 1, 2], [2, 2, 1], [4, 2, 4], [1, 2, 3]] {
        let (a, b, c) = ([a], [b], [c]);
        let bindings = [bind(0, Resource::Output(3)), bind(1, single(&a)), bind(2, single(&b)), bind(3, single(&c))];
        assert_eq!(executor.run(&job(&module, &bindings, 1)), Ok(vec![vec![a[0], b[0], c[0]]]));
    }
    assert_silent(&mut executor);
}

#[test]
fn contradictory_jobs_are_invalid() {
    let mut executor = open(|_| {});
    let invalid = |executor: &mut VulkanExecutor, job: &Job<'_>| match executor.run(job) {
        Err(ExecuteError::InvalidJob(text)) => text,
        other => panic!("expected InvalidJob, got {other:?}"),
    };
    let copy = modules::copy();
    let bindings = [bind(0, Resource::Input(&[1]))];
    assert_eq!(
        invalid(&mut executor, &job(&copy, &bindings, 1)),
        "the module uses set 0 binding 1, nothing is bound there"
    );
    let bindings = [bind(0, Resource::Input(&[1])), bind(1, Resource::Output(1)), bind(1, Resource::Output(1))];
    assert_eq!(invalid(&mut executor, &job(&copy, &bindings, 1)), "set 0 binding 1 is bound twice");

    let fetch = modules::fetch(Dim::Dim2D, false);
    let image = |dim, texels| Resource::Image(Image { dim, extent: [2, 2, 1], layers: 1, levels: 1, texels });
    let with = |resource| [bind(0, Resource::Input(&[0; 3])), bind(1, Resource::Output(1)), bind(2, resource)];
    let text = invalid(&mut executor, &job(&fetch, &with(image(ImageDim::D2, &[0; 3])), 1));
    assert_eq!(
        text,
        "set 0 binding 2: image D2 R32Uint 2x2x1, layers 1, levels 1: 3 words of texels, its levels take 4"
    );
    let text = invalid(&mut executor, &job(&fetch, &with(image(ImageDim::D2Array, &[0; 4])), 1));
    assert!(text.contains("the module has an image of Dim2D, the job binds a view of D2Array"), "{text}");
    let text = invalid(&mut executor, &job(&fetch, &with(Resource::Input(&[0])), 1));
    assert!(text.contains("the module has an image without a sampler, the job binds an input buffer"), "{text}");
    let levels = Image { dim: ImageDim::D2, extent: [2, 2, 1], layers: 1, levels: 3, texels: &[0; 6] };
    let text = invalid(&mut executor, &job(&fetch, &with(Resource::Image(levels)), 1));
    assert!(text.contains("2 levels at most"), "{text}");

    let forged = Module { words: modules::uniform().words, key: copy.key };
    let text = invalid(&mut executor, &job(&forged, &bindings, 1));
    assert!(text.starts_with("two modules with different words"), "{text}");
    // The executor goes on.
    assert_copies(&mut executor, &[3, 4]);
    assert_silent(&mut executor);
}

#[test]
fn what_the_device_lacks_is_named() {
    let mut executor = open(|_| {});
    let unsupported = |executor: &mut VulkanExecutor, job: &Job<'_>| match executor.run(job) {
        Err(ExecuteError::Unsupported(text)) => text,
        other => panic!("expected Unsupported, got {other:?}"),
    };
    let bindings = [bind(0, Resource::Input(&[1])), bind(1, Resource::Output(1))];
    let kernel = modules::copy_with(Capability::Kernel);
    let text = unsupported(&mut executor, &job(&kernel, &bindings, 1));
    assert!(text.starts_with("SPIR-V capability Kernel on "), "{text}");

    let copy = modules::copy();
    let many = Job { groups: [1, u32::MAX, 1], ..job(&copy, &bindings, 1) };
    let text = unsupported(&mut executor, &many);
    assert!(text.starts_with("4294967295 workgroups in y, maxComputeWorkGroupCount is "), "{text}");

    let large = [bind(0, Resource::Input(&[1])), bind(1, Resource::Output(usize::MAX))];
    let text = unsupported(&mut executor, &job(&copy, &large, 1));
    assert!(text.contains("maxStorageBufferRange"), "{text}");

    let far = [replayer::execute::Binding { set: 1000, binding: 0, element: 0, resource: Resource::Output(1) }];
    let text = unsupported(&mut executor, &job(&copy, &far, 1));
    assert!(text.starts_with("descriptor set 1000, maxBoundDescriptorSets is "), "{text}");

    let fetch = modules::fetch(Dim::Dim2D, false);
    let wide = executor.device().max_image_dimension_2d + 1;
    let image = Image { dim: ImageDim::D2, extent: [wide, 1, 1], layers: 1, levels: 1, texels: &[] };
    let bindings = [bind(0, Resource::Input(&[0; 3])), bind(1, Resource::Output(1)), bind(2, Resource::Image(image))];
    let text = unsupported(&mut executor, &job(&fetch, &bindings, 1));
    assert!(text.contains(&format!("extent {wide}, maxImageDimension2D is {}", wide - 1)), "{text}");
    assert_silent(&mut executor);
}

#[test]
fn broken_modules_are_module_errors() {
    let mut executor = open(|_| {});
    let bindings = [bind(0, Resource::Input(&[1])), bind(1, Resource::Output(1))];
    let words = modules::copy().words.to_vec();
    for cut in 0..words.len() {
        let module = Module::new(words[..cut].to_vec());
        match executor.run(&job(&module, &bindings, 1)) {
            Err(ExecuteError::Module(_)) => {}
            other => panic!("cut to {cut} words: {other:?}"),
        }
    }
    let copy = modules::copy();
    let other = Job { entry: "other", ..job(&copy, &bindings, 1) };
    assert_eq!(
        executor.run(&other),
        Err(ExecuteError::Module("no compute entry point \"other\", there are: \"main\"".to_owned()))
    );
    assert_silent(&mut executor);
}

fn xorshift(start: u32, rounds: u32) -> u32 {
    (0..rounds).fold(start, |v, _| {
        let v = v ^ (v << 13);
        let v = v ^ (v >> 17);
        v ^ (v << 5)
    })
}

#[test]
fn a_run_over_its_time_is_a_timeout_and_the_next_one_waits() {
    let module = modules::scramble();
    let mut executor = open(|o| o.timeout = Duration::from_millis(100));
    let run = |executor: &mut VulkanExecutor, rounds: u32, groups: u32| {
        let bindings = [bind(0, Resource::Output(groups as usize))];
        executor.run(&Job { push_constants: &[rounds], ..job(&module, &bindings, groups) })
    };
    // llvmpipe ends each loop after 65,535 rounds, so that the work grows by invocations, until it takes too long.
    let mut groups = 1024;
    let text = loop {
        match run(&mut executor, 60_000, groups) {
            Err(ExecuteError::Timeout(text)) => break text,
            Ok(_) => groups *= 2,
            Err(other) => panic!("expected a timeout, got {other:?}"),
        }
        assert!(groups < 65_536, "the device is too fast for this test");
    };
    assert_eq!(text, "vkWaitForFences: the run has not ended after 0.1 s");
    assert_eq!(executor.last_run_timing(), None);
    // Each run waits for the end of the slow one, up to its own time.
    let mut tries = 0;
    loop {
        match run(&mut executor, 3, 2) {
            Err(ExecuteError::Timeout(text)) => {
                assert_eq!(text, "vkWaitForFences: an earlier run has not ended after 0.1 s");
            }
            other => {
                assert_eq!(other, Ok(vec![vec![xorshift(1, 3), xorshift(2, 3)]]));
                break;
            }
        }
        tries += 1;
        assert!(tries < 1200, "the slow run did not end within two minutes");
    }
    assert_silent(&mut executor);
}
