//! The examples: built with gcc, g++ and CMake, run on the CPU's Vulkan device, replayed on two executors.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use capture_format::{BoundResource, Recorded, open};
use replayer::{
    execute::{
        Executor,
        embedded::Embedded,
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    recorded,
};

use super::programs::{compile_c, installed, manifest, pkg_config, run};

fn sources() -> PathBuf {
    manifest().join("../capture-format/examples/recording")
}

/// The folder with what is built once for all tests: modules, and the programs made by gcc and g++.
fn built() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        for name in ["unpack43", "filter43"] {
            let mut assemble = Command::new("spirv-as");
            assemble.args(["--target-env", "vulkan1.1"]).arg(sources().join(format!("{name}.spvasm")));
            run(assemble.arg("-o").arg(dir.path().join(format!("{name}.spv"))));
            run(Command::new("spirv-val")
                .args(["--target-env", "vulkan1.1"])
                .arg(dir.path().join(format!("{name}.spv"))));
        }
        compile_c(&sources().join("record.c"), &dir.path().join("record"));
        let mut compile = Command::new("g++");
        compile.args(["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-o"]);
        compile.arg(dir.path().join("record_vulkan")).arg(sources().join("record_vulkan.cpp"));
        compile.args(pkg_config(&["--cflags"]));
        // The static library, and what it needs.
        compile.arg(installed().join("lib/libtexeltrace.a")).args(["-lvulkan", "-lpthread", "-ldl", "-lm"]);
        run(&mut compile);
        dir
    });
    folder.path()
}

fn vulkan() -> VulkanExecutor {
    let options = VulkanOptions { validation: true, ..VulkanOptions::default() };
    VulkanExecutor::open(&DeviceSelection::Auto, &options)
        .unwrap_or_else(|error| panic!("the examples need a Vulkan device and the validation layer: {error}"))
}

/// Replays all dispatches of a trace; for each its outputs as (differing words, words).
fn replay(path: &Path, executor: &mut dyn Executor) -> Vec<Vec<(usize, usize)>> {
    let source = open(path).unwrap();
    let dispatches = (0..source.len()).map(|index| match source.recorded(index).unwrap() {
        Recorded::Compute(dispatch) => dispatch,
        Recorded::Sample(dispatch) => panic!("{:?} is a sample dispatch", dispatch.name),
    });
    dispatches
        .map(|dispatch| {
            assert_eq!(recorded::lacks(&dispatch), Vec::<String>::new());
            let outputs = recorded::run(&dispatch, executor).unwrap();
            let differing = outputs.iter().map(|output| {
                let expected = dispatch.bindings[output.binding].contents().1.unwrap();
                assert_eq!(expected.len(), output.words.len());
                let differing = expected.iter().zip(&output.words).filter(|(a, b)| a != b).count();
                (differing, output.words.len())
            });
            differing.collect()
        })
        .collect()
}

#[track_caller]
fn assert_replays(path: &Path, expected: &[Vec<(usize, usize)>]) {
    let mut device = vulkan();
    assert_eq!(replay(path, &mut device), expected, "on {}", device.info().device);
    assert_eq!(device.take_validation_messages(), Vec::<String>::new());
    assert_eq!(replay(path, &mut Embedded::new()), expected, "on the embedded executor");
}

#[test]
fn the_c_example_replays_without_a_difference() {
    let trace = built().join("c.texeltrace");
    run(Command::new(built().join("record")).arg(built().join("unpack43.spv")).arg(&trace));
    assert_replays(&trace, &vec![vec![(0, 40 * 30 * 3)]; 3]);
}

#[test]
fn the_vulkan_example_replays_without_a_difference() {
    let outputs = vec![vec![(0, 100 * 60 * 4), (0, 100 * 60)]; 2];
    for (name, options) in [("gpu", &[][..]), ("cpu", &["--outputs", "cpu"][..]), ("down", &["--weights", "down"][..])]
    {
        let trace = built().join(format!("vulkan-{name}.texeltrace"));
        run(Command::new(built().join("record_vulkan")).arg(built().join("filter43.spv")).arg(&trace).args(options));
        assert_replays(&trace, &outputs);
    }
}

#[test]
fn a_wrong_rule_of_weights_is_reported_with_the_output_that_differs() {
    let trace = built().join("wrong.texeltrace");
    run(Command::new(built().join("record_vulkan")).arg(built().join("filter43.spv")).arg(&trace).args([
        "--outputs",
        "cpu",
        "--weights",
        "down",
        "--dispatches",
        "2",
    ]));
    let found = replay(&trace, &mut Embedded::new());
    assert_eq!(replay(&trace, &mut vulkan()), found);
    // Steps of 0.3701 texels fall between two weights, steps of 0.25 on one. Nearest texels have no weights.
    assert!(found[0][0].0 > 1000, "{found:?}");
    assert_eq!(found[0][1].0, 0);
    assert_eq!((found[1][0].0, found[1][1].0), (0, 0));

    let results = replayer_run(&trace);
    let first = &results.dispatches[0];
    assert_eq!(first.status, replayer::results::Status::Mismatch);
    assert!(first.summary().contains(" in set 0 binding 1: buffer of 24000 words, float by 4"), "{}", first.summary());
    assert_eq!((first.outputs[0].mismatched > 0, first.outputs[1].mismatched), (true, 0));
    assert_eq!(first.outputs[1].name, "set 0 binding 2: image 100x60x1, 11_11_10_FLOAT (R10_G11_B11)");
    assert_eq!(results.dispatches[1].status, replayer::results::Status::Match);
}

/// As `replayer run` judges the dispatches of a trace.
fn replayer_run(trace: &Path) -> replayer::results::Results {
    use replayer::batch::{Against, ExecutorKind, Installed, Pictures, Selection, Settings, judge_recorded, plan};
    let settings = Settings {
        path: replayer::path::Path::Emulated,
        recorded: true,
        against: Against::Oracle,
        profile: None,
        executor: ExecutorKind::Embedded,
        device: None,
        time_limit: std::time::Duration::from_secs(60),
        strict: false,
        nan_payload: false,
        pictures: Pictures::Mismatches,
    };
    let plan = plan(&Selection { paths: vec![trace.to_owned()], filters: Vec::new(), shard: None }).unwrap();
    let source = open(trace).unwrap();
    let judge = |item: &replayer::batch::Item| {
        let dispatch = source.recorded(item.index).unwrap();
        let judged = judge_recorded(&Installed, item, &dispatch, &settings, Some(&mut Embedded::new()));
        assert_eq!(judged.pictures.is_some(), judged.result.mismatched > 0);
        judged.result
    };
    replayer::results::Results::new(plan.items.iter().map(judge).collect())
}

#[test]
fn the_examples_build_with_cmake_and_what_they_record_is_what_was_bound() {
    let build = built().join("cmake");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(sources()).arg("-B").arg(&build);
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed().display()));
    run(&mut configure);
    run(Command::new("cmake").arg("--build").arg(&build));
    let trace = built().join("cmake.texeltrace");
    run(Command::new(build.join("record_vulkan")).arg(built().join("filter43.spv")).arg(&trace));
    run(Command::new(build.join("record")).arg(built().join("unpack43.spv")).arg(built().join("c2.texeltrace")));
    let Recorded::Compute(dispatch) = open(&trace).unwrap().recorded(1).unwrap() else { panic!("no compute dispatch") };
    assert_eq!((dispatch.name.as_str(), dispatch.groups), ("filter#2", [13, 8, 1]));
    assert_eq!(dispatch.labels, ["frame 1"]);
    assert_eq!(dispatch.push_constants.as_slice(), [100, 60, 0.25f32.to_bits()]);
    let module = fs::read(built().join("filter43.spv")).unwrap();
    assert_eq!(bytemuck::cast_slice::<u32, u8>(&dispatch.module), module);
    let BoundResource::Image(image) = &dispatch.bindings[0].resource else { panic!("no image") };
    let descriptor = capture_format::ImageDescriptor::from_words(image.descriptor.unwrap());
    assert_eq!((descriptor.width(), descriptor.height(), descriptor.format()), (37, 23, 43));
    assert_eq!(image.before.as_ref().unwrap().len(), 37 * 23);
}
