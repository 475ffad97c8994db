//! Dispatches with tables of descriptors: the reference, a device and the embedded executor agree, and what can't be sampled
//! is refused by the entry's number.

use std::collections::BTreeSet;

use capture_format::{
    Clamp, Column, Coords, Dispatch, FilterMode, ImageDescriptor, LodSource, MipFilter, Op, OpKind, SamplerDescriptor,
    TableImage, TexelFormat, XyFilter,
};
use replayer::{
    execute::{
        Executor,
        embedded::Embedded,
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    generate::Random,
    path::{Failure, Path, evaluate},
    rules::Profile,
};

use crate::{assert_silent, open};

/// T#s and S#s in the tables.
const IMAGES: u32 = 1000;
const SAMPLERS: u32 = 96;

/// A 2D image with all its levels, of a size and in a format by its number.
fn image(random: &mut Random, formats: &[TexelFormat]) -> TableImage {
    let format = random.pick(formats);
    let size = [1 + random.below(24), 1 + random.below(24)];
    let levels = 1 + random.below(size[0].max(size[1]).ilog2() + 1);
    let words = [
        0,
        u32::from(format.code()) << 20 | (size[0] - 1 & 3) << 30,
        (size[0] - 1) >> 2 | (size[1] - 1) << 14 | 1 << 31,
        0x3ac | (levels - 1) << 16 | 9 << 28,
        0,
        (levels - 1) << 4,
        0,
        0,
    ];
    let texels: u32 = (0..levels).map(|level| (size[0] >> level).max(1) * (size[1] >> level).max(1)).sum();
    let mut texel = || match format.kind().is_integer() {
        true => random.bits(),
        // Numbers near each other: sums then depend on every weight.
        false => format.pack(std::array::from_fn(|_| random.uniform(0.0, 1.0).to_bits())),
    };
    TableImage { words, texels: (0..texels).map(|_| texel()).collect::<Vec<_>>().into() }
}

fn sampler(random: &mut Random, integer: bool) -> [u32; 4] {
    let filter = if integer || random.one_in(4) { XyFilter::Point } else { XyFilter::Bilinear };
    let mips = [MipFilter::None, MipFilter::Point, if integer { MipFilter::None } else { MipFilter::Linear }];
    let mut words = SamplerDescriptor::default()
        .with_clamp_x(random.pick(&Clamp::ALL))
        .with_clamp_y(random.pick(&Clamp::ALL))
        .with_xy_mag_filter(filter)
        .with_xy_min_filter(filter)
        .with_mip_filter(random.pick(&mips))
        .with_trunc_coord(random.one_in(4))
        .with_filter_mode(if random.one_in(8) { FilterMode::Max } else { FilterMode::Blend })
        .words();
    // All levels, and one of the built-in border colours.
    words[1] = 0xfff << 12;
    words[3] = random.below(3) << 30;
    words
}

/// `side` x `side` samples that choose at random; in quads where the instruction needs them.
fn bindless(seed: u64, op: Op, formats: &[TexelFormat], side: u32) -> Dispatch {
    let mut random = Random::new(seed, 0);
    let random = &mut random;
    let integer = formats[0].kind().is_integer();
    let mut images: Vec<TableImage> = (0..IMAGES).map(|_| image(random, formats)).collect();
    let takes_sampler = op.kind != OpKind::Load;
    let mut samplers: Vec<[u32; 4]> = (0..SAMPLERS).map(|_| sampler(random, integer)).collect();
    let mut columns = match op.kind {
        OpKind::Load => vec![Column::X, Column::Y],
        _ => vec![Column::U, Column::V],
    };
    columns.extend((op.lod == LodSource::Explicit).then_some(Column::Lod));
    columns.push(Column::Image);
    columns.extend(takes_sampler.then_some(Column::Sampler));
    let quads = op.lod == LodSource::Implicit;
    let chosen: Vec<[u32; 2]> = (0..side * side).map(|_| [random.below(IMAGES), random.below(SAMPLERS)]).collect();
    let mut words = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let (first_x, first_y) = if quads { (x & !1, y & !1) } else { (x, y) };
            let [image, sampler] = chosen[(first_y * side + first_x) as usize];
            for column in &columns {
                words.push(match column {
                    Column::X | Column::Y => (random.below(12) as f32).to_bits(),
                    Column::U | Column::V => random.uniform(-1.5, 2.5).to_bits(),
                    Column::Lod => random.uniform(-1.0, 6.0).to_bits(),
                    Column::Image => image,
                    _ => sampler,
                });
            }
        }
    }
    let first = images.remove(0);
    let sampler = takes_sampler.then(|| samplers.remove(0));
    Dispatch {
        name: "bindless".to_owned(),
        op,
        grid: [side, side, 1],
        image: first.words,
        sampler,
        more_images: images,
        more_samplers: if takes_sampler { samplers } else { Vec::new() },
        border_table: Vec::new(),
        dmask: None,
        texels: first.texels,
        coords: Coords { columns, words: words.into() },
        expected: None,
    }
}

fn formats(codes: &[u16]) -> Vec<TexelFormat> {
    codes.iter().map(|&code| TexelFormat::from_code(code).unwrap()).collect()
}

fn run(dispatch: &Dispatch, path: Path, profile: &Profile, executor: &mut dyn Executor) -> Vec<u32> {
    evaluate(dispatch, path, profile, Some(executor), false).unwrap_or_else(|failure| panic!("{failure}"))
}

#[test]
fn a_thousand_descriptors_give_the_same_on_the_reference_a_device_and_the_embedded_executor() {
    let (mut vulkan, mut embedded) = (open(|_| {}), Embedded::new());
    let implicit = Op::plain(OpKind::Sample, LodSource::Implicit);
    let (floats, numbers, integers) = ([43, 36], [43, 30, 36, 31, 37, 39], [20, 34, 42]);
    let runs: [(Op, &[u16], Profile); 5] = [
        (Op::SAMPLE_L, &numbers, Profile::GFX1035),
        (Op::SAMPLE_L, &floats, Profile::H200),
        (implicit, &numbers, Profile::GFX1035),
        (Op::SAMPLE_LZ, &integers, Profile::GFX1035),
        (Op::LOAD, &numbers, Profile::EXACT),
    ];
    for (seed, (op, codes, profile)) in runs.into_iter().enumerate() {
        let dispatch = bindless(seed as u64, op, &formats(codes), 64);
        dispatch.check().unwrap();
        let used: BTreeSet<u32> = (0..4096).filter_map(|n| Some(dispatch.entries_of(n)?.image)).collect();
        assert!(used.len() > if op == implicit { 600 } else { 970 }, "{}", used.len());
        let reference = run(&dispatch, Path::Reference, &profile, &mut embedded);
        assert!(reference.iter().collect::<BTreeSet<_>>().len() > 500, "the results say something");
        assert_eq!(run(&dispatch, Path::Emulated, &profile, &mut vulkan), reference, "{op} on the device");
        assert_eq!(run(&dispatch, Path::Emulated, &profile, &mut embedded), reference, "{op}, embedded");
        // What each sample returns is what its T# and S# return alone.
        for sample in (0..4096u32).step_by(61).filter(|_| op != implicit) {
            let entries = dispatch.entries_of(sample as usize).unwrap();
            let alone = dispatch.with_entries(entries, [1, 1, 1], &[sample]).unwrap();
            assert!(!alone.is_table());
            let words = run(&alone, Path::Emulated, &profile, &mut embedded);
            assert_eq!(words, reference[sample as usize * 4..][..4], "{op}, sample {sample}, {entries:?}");
        }
    }
    assert_silent(&mut vulkan);
}

fn refused(dispatch: &Dispatch) -> String {
    match evaluate(dispatch, Path::Reference, &Profile::GFX1035, None, false) {
        Err(Failure::Refused(refusal)) => {
            let emulated =
                evaluate(dispatch, Path::Emulated, &Profile::GFX1035, Some(&mut Embedded::new()), false).unwrap_err();
            assert_eq!(emulated, Failure::Refused(refusal.clone()), "both paths refuse alike");
            refusal.to_string()
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// Four samples on four T#s and three S#s, of which the last of each is not used: (0,0), (1,0), (2,1), (0,1).
fn small() -> Dispatch {
    let all = bindless(9, Op::SAMPLE_LZ, &formats(&[43, 30]), 2);
    let words = [0.1f32, 0.2, 0.3, 0.4].map(f32::to_bits);
    let rows = [[0, 0], [1, 0], [2, 1], [0, 1]].into_iter().zip(words);
    let words: Vec<u32> = rows.flat_map(|([image, sampler], c)| [c, c, image, sampler]).collect();
    Dispatch {
        grid: [4, 1, 1],
        more_images: all.more_images[..3].to_vec(),
        sampler: Some([0x92, 0x00ff_f000, 0x0050_0000, 0]),
        more_samplers: vec![[0x49, 0x00ff_f000, 0x0050_0000, 0], [0, 0x00ff_f000, 0, 0]],
        coords: Coords { columns: all.coords.columns, words: words.into() },
        ..all
    }
}

#[test]
fn only_descriptors_that_a_sample_uses_can_be_refused() {
    let plain = small();
    plain.check().unwrap();
    let results = |dispatch: &Dispatch| evaluate(dispatch, Path::Reference, &Profile::GFX1035, None, false);
    let expected = results(&plain).unwrap();
    let image = |entry: usize, field: &capture_format::Field, value: u32| {
        let mut changed = small();
        field.insert(&mut changed.more_images[entry - 1].words, value).unwrap();
        changed
    };
    let sampler = |entry: usize, field: &capture_format::Field, value: u32| {
        let mut changed = small();
        field.insert(&mut changed.more_samplers[entry - 1], value).unwrap();
        changed
    };
    for unused in [image(3, &ImageDescriptor::FORMAT, 5), sampler(2, &SamplerDescriptor::MC_COORD_TRUNC, 1)] {
        assert_eq!(results(&unused).unwrap(), expected);
    }
    let mut short = small();
    short.more_images[1].texels = vec![0; 3].into();
    let (texels, levels) = (plain.more_images[1].texels.len(), plain.more_images[1].words[5] >> 4);
    for (dispatch, reason) in [
        (
            image(2, &ImageDescriptor::FORMAT, 5),
            "T#[2].FORMAT (word1[28:20]) = 5 8_UINT: formats 20 and 30 to 43 are modelled; sample 2 uses T#[2] with S#[1]"
                .to_owned(),
        ),
        (
            sampler(1, &SamplerDescriptor::MC_COORD_TRUNC, 1),
            "S#[1].MC_COORD_TRUNC (word0[19]) = 1: weights of one bit for motion compensation are not modelled; sample 3 \
             uses T#[0] with S#[1]"
                .to_owned(),
        ),
        (
            image(1, &ImageDescriptor::TYPE, 8),
            "T#[1].TYPE (word3[31:28]) = 8 1D: an instruction has one type of view, and T#[0] is 2d".to_owned(),
        ),
        (
            image(1, &ImageDescriptor::FORMAT, 20),
            "T#[1].FORMAT (word1[28:20]) = 20 32_UINT: integer texels can not be filtered linearly; sample 1 uses T#[1] with \
             S#[0]"
                .to_owned(),
        ),
        (
            short,
            format!(
                "images[2].texels = 3 words: T# describes {texels} texels in {} levels; sample 2 uses T#[2] with S#[1]",
                levels + 1
            ),
        ),
    ] {
        assert_eq!(refused(&dispatch), reason);
    }
    // Without linear filters, integers are refused for being among others.
    let mut points = image(1, &ImageDescriptor::FORMAT, 20);
    points.sampler.iter_mut().for_each(|words| words[2] = 0);
    assert_eq!(
        refused(&points),
        "T#[1].FORMAT (word1[28:20]) = 20 32_UINT: the results of a dispatch are read as integers or as numbers, and T#[0] has \
         11_11_10_FLOAT (R10_G11_B11)"
    );
    // A dispatch that no reader would give.
    let mut beyond = small();
    let mut words = beyond.coords.words.to_vec();
    words[14] = 9;
    beyond.coords.words = words.into();
    assert_eq!(refused(&beyond), "coords = sample 3: T#[9], S#[1]: there are 4 T#s and 3 S#s");
}

#[test]
fn a_quad_with_different_descriptors_is_refused_where_the_lod_comes_from_it() {
    let mut dispatch = bindless(11, Op::plain(OpKind::Sample, LodSource::Implicit), &formats(&[43]), 8);
    let run = |dispatch: &Dispatch| evaluate(dispatch, Path::Reference, &Profile::GFX1035, None, false);
    run(&dispatch).unwrap();
    let words = dispatch.coords.words.to_vec();
    // Sample (5,2), in the quad at (4,2).
    let row = (2 * 8 + 5) * 4;
    let (image, sampler) = (words[row + 2], words[row + 3]);
    for (column, before, name) in [(2, image, "image"), (3, sampler, "sampler")] {
        let mut changed = words.clone();
        changed[row + column] = before ^ 1;
        dispatch.coords.words = changed.into();
        assert_eq!(
            refused(&dispatch),
            format!(
                "coords.{name} = {before}, {}, {before}, {before} in the quad at (4,2,0): image_sample takes its level of detail \
                 from the quad, and what it is when the quad's samples choose different descriptors is not known",
                before ^ 1
            )
        );
        // With a level of its own, each sample may choose.
        let free = Dispatch { op: Op::SAMPLE_LZ, ..dispatch.clone() };
        run(&free).unwrap();
    }
}

#[test]
fn a_table_beyond_the_limits_of_a_device_says_which() {
    // 16 images of 2,048 x 2,048 texels are 256 MiB; lavapipe's buffers hold 128 MiB.
    let mut dispatch = small();
    let words = [0, 43 << 20 | 3 << 30, 2047 >> 2 | 2047 << 14 | 1 << 31, 9 << 28 | 0x3ac, 0, 0, 0, 0];
    dispatch.more_images = (0..16)
        .map(|n| TableImage { words, texels: (0..2048 * 2048).map(|i| i ^ n << 24).collect::<Vec<u32>>().into() })
        .collect();
    dispatch.grid = [16, 1, 1];
    dispatch.coords.words = (1..17).flat_map(|image| [0, 0, image, 0]).collect::<Vec<u32>>().into();
    dispatch.check().unwrap();
    let mut vulkan = VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default()).unwrap();
    if vulkan.info().device.starts_with("llvmpipe") {
        let failure = evaluate(&dispatch, Path::Emulated, &Profile::GFX1035, Some(&mut vulkan), false).unwrap_err();
        assert!(failure.to_string().contains("maxStorageBufferRange"), "{failure}");
    }
    let reference = evaluate(&dispatch, Path::Reference, &Profile::GFX1035, None, false).unwrap();
    let embedded = run(&dispatch, Path::Emulated, &Profile::GFX1035, &mut Embedded::new());
    assert_eq!(embedded, reference);
}
