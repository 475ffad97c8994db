//! Dispatches whose results are exact on every device, and refusals.

use std::path::Path as FilePath;

use capture_format::{
    BorderColorType, Clamp, Column, Coords, Dispatch, DstSel, ImageDescriptor, ImageType, LodSource, MipFilter, Op,
    OpKind, SamplerDescriptor, TexelFormat, XyFilter, ZFilter, open as open_trace,
};
use replayer::{
    capture::{ImageSpec, SamplerSpec, Texels},
    generate::Random,
    native,
    path::{Failure, Path, evaluate},
    rules::Profile,
};

use crate::{assert_silent, open};

fn dispatch(op: Op, image: &ImageSpec, sampler: &SamplerSpec, columns: &[Column], rows: &[&[f32]]) -> Dispatch {
    let words: Vec<u32> = rows.iter().flat_map(|row| row.iter().map(|x| x.to_bits())).collect();
    Dispatch {
        name: "test".to_owned(),
        op,
        grid: [rows.len() as u32, 1, 1],
        image: image.descriptor().unwrap(),
        sampler: Some(sampler.descriptor().unwrap()),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: image.words(&mut Random::new(1, 0)).into(),
        coords: Coords { columns: columns.to_vec(), words: words.into() },
        expected: None,
    }
}

fn channels(word: u32) -> [u32; 4] {
    TexelFormat::R10G11B11_FLOAT.unpack(word)
}

#[test]
fn every_code_decodes_as_the_reference_does() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../traces/h200/decode");
    let dispatch = open_trace(&root).unwrap().dispatch(0).unwrap();
    let mut executor = open();
    let native = evaluate(&dispatch, Path::Native, &Profile::EXACT, Some(&mut executor), false).unwrap();
    let reference = evaluate(&dispatch, Path::Reference, &Profile::EXACT, None, false).unwrap();
    let nan = |word: u32| f32::from_bits(word).is_nan();
    let same = |(a, b): (&u32, &u32)| a == b || nan(*a) && nan(*b);
    assert!(native.iter().zip(&reference).all(same));
    assert!(reference.iter().filter(|&&word| nan(word)).count() > 90, "the codes hold NaNs");
    assert_silent(&mut executor);
}

#[test]
fn a_path_without_a_device_says_what_is_missing() {
    let image = ImageSpec::d2(2, 2, Texels::Near);
    let d =
        dispatch(Op::SAMPLE_LZ, &image, &SamplerSpec::plain(XyFilter::Point), &[Column::U, Column::V], &[&[0.1, 0.1]]);
    let error = evaluate(&d, Path::Native, &Profile::EXACT, None, false).unwrap_err();
    assert_eq!(error.to_string(), "the native path needs a Vulkan device: its own sampler is what it runs");
    assert_eq!("native".parse(), Ok(Path::Native));
}

#[test]
fn views_take_their_levels_and_layers() {
    let mut executor = open();
    let image = ImageSpec { kind: ImageType::D2Array, layers: 4, levels: 3, ..ImageSpec::d2(8, 4, Texels::Near) };
    let sampler = SamplerSpec { mip: MipFilter::Point, ..SamplerSpec::plain(XyFilter::Point) };
    let columns = [Column::U, Column::V, Column::Layer, Column::Lod];
    let mut d = dispatch(Op::SAMPLE_L, &image, &sampler, &columns, &[&[0.3, 0.3, 1.0, 1.0], &[0.9, 0.9, 0.0, 0.0]]);
    d.image = ImageDescriptor::from_words(d.image).with_base_level(1).unwrap().with_base_array(2).unwrap().words();
    let got = native::run(&mut executor, &d).unwrap();
    // Levels of 8x4, 4x2 and 2x1 texels with 4 layers each; level 1 + 1, layer 2 + 1 and level 1 + 0, layer 2 + 0.
    let level = [0, 8 * 4 * 4, 8 * 4 * 4 + 4 * 2 * 4];
    let expected = [d.texels[level[2] + 3 * 2], d.texels[level[1] + 2 * 8 + 4 + 3]];
    assert_eq!(got, expected.map(channels).concat());
    // Without a mip filter there is one level, whatever the LOD.
    d.sampler = Some(SamplerSpec::plain(XyFilter::Point).descriptor().unwrap());
    let got = native::run(&mut executor, &d).unwrap();
    assert_eq!(got[..4], channels(d.texels[level[1] + 3 * 8 + 1]));
    assert_silent(&mut executor);
}

#[test]
fn faces_are_reached_by_coordinates_and_by_direction() {
    let mut executor = open();
    let cube = ImageSpec { kind: ImageType::Cube, layers: 12, ..ImageSpec::d2(4, 4, Texels::Near) };
    let point = SamplerSpec::plain(XyFilter::Point);
    let mut rows = Vec::new();
    for face in 0..12u32 {
        for texel in 0..16u32 {
            let at = |n: u32| 1.0 + (n as f32 + 0.5) / 4.0;
            rows.push([at(texel % 4), at(texel / 4), (face / 6 * 8 + face % 6) as f32]);
        }
    }
    let slices: Vec<&[f32]> = rows.iter().map(|row| &row[..]).collect();
    let d = dispatch(Op::SAMPLE_LZ, &cube, &point, &[Column::S, Column::T, Column::Face], &slices);
    let expected: Vec<u32> = d.texels.iter().flat_map(|&word| channels(word)).collect();
    assert_eq!(native::run(&mut executor, &d).unwrap(), expected);
    // -Y, second cube: sc = x = -0.25, tc = -z = 0.75, so texel 1, 3 of face 3.
    let columns = [Column::Rx, Column::Ry, Column::Rz, Column::Layer];
    let d = dispatch(Op::SAMPLE_LZ, &cube, &point, &columns, &[&[-0.25, -1.0, -0.75, 1.0]]);
    assert_eq!(native::run(&mut executor, &d).unwrap(), channels(d.texels[(6 + 3) * 16 + 3 * 4 + 1]));
    let d = dispatch(Op::SAMPLE_LZ, &cube, &point, &[Column::S, Column::T, Column::Face], &[&[2.0, 1.5, 0.0]]);
    let error = native::run(&mut executor, &d).unwrap_err().to_string();
    assert!(error.starts_with("refused: coords = sample 0: s 2, t 1.5: on a face's edge"), "{error}");
    assert_silent(&mut executor);
}

#[test]
fn gathers_offsets_and_loads_return_whole_texels() {
    let mut executor = open();
    let image = ImageSpec::d2(4, 4, Texels::Near);
    let point = SamplerSpec::plain(XyFilter::Point).clamped(Clamp::Wrap);
    let gather = Op { offset: true, ..Op::plain(OpKind::Gather4, LodSource::Zero) };
    let columns = [Column::U, Column::V, Column::Offset];
    let offset = |x: i32, y: i32| f32::from_bits((x & 0x3f | (y & 0x3f) << 8) as u32);
    let rows: [&[f32]; 2] = [&[0.5, 0.5, offset(0, 0)], &[0.5, 0.5, offset(-1, 2)]];
    let mut d = dispatch(gather, &image, &point, &columns, &rows);
    d.dmask = Some(4);
    let z = |x: usize, y: usize| channels(d.texels[y * 4 + x])[2];
    let got = native::run(&mut executor, &d).unwrap();
    assert_eq!(got, [z(1, 2), z(2, 2), z(2, 1), z(1, 1), z(0, 0), z(1, 0), z(1, 3), z(0, 3)]);

    let sample = Op { offset: true, ..Op::SAMPLE_LZ };
    let d = dispatch(sample, &image, &point, &columns, &[&[0.1, 0.1, offset(2, -1)]]);
    assert_eq!(native::run(&mut executor, &d).unwrap(), channels(d.texels[3 * 4 + 2]));
    let d = dispatch(sample, &image, &point, &columns, &[&[0.1, 0.1, offset(8, 0)]]);
    let error = native::run(&mut executor, &d).unwrap_err().to_string();
    assert_eq!(error, "refused: coords.offset = 8: every Vulkan device takes texel offsets from -8 to 7");

    let mut d = dispatch(Op::LOAD, &image, &point, &[Column::X, Column::Y], &[&[3.0, 1.9]]);
    d.sampler = None;
    assert_eq!(native::run(&mut executor, &d).unwrap(), channels(d.texels[4 + 3]));
    d.coords.words = vec![4.0f32.to_bits(), 0].into();
    let error = native::run(&mut executor, &d).unwrap_err().to_string();
    assert_eq!(error, "refused: coords = sample 0: 4: loads outside 0 to 3 are not expressed");
    assert_silent(&mut executor);
}

#[test]
fn constants_borders_and_integers_come_through() {
    let mut executor = open();
    let image = ImageSpec { format: TexelFormat::R11G11B10_FLOAT, ..ImageSpec::d2(2, 2, Texels::Near) };
    let border = SamplerSpec {
        border: BorderColorType::Register,
        ..SamplerSpec::plain(XyFilter::Point).clamped(Clamp::ClampBorder)
    };
    let mut d = dispatch(Op::SAMPLE_LZ, &image, &border, &[Column::U, Column::V], &[&[-1.0, 0.5], &[0.2, 0.2]]);
    d.border_table = vec![[0.25, 0.5, 8.0, 1.0].map(f32::to_bits)];
    let select = [DstSel::Z, DstSel::X, DstSel::One, DstSel::Zero];
    d.image = ImageDescriptor::from_words(d.image).with_dst_sel(select).words();
    let one = 1f32.to_bits();
    let [x, _, z, _] = TexelFormat::R11G11B10_FLOAT.unpack(d.texels[0]);
    let expected = [8f32.to_bits(), 0.25f32.to_bits(), one, 0, z, x, one, 0];
    assert_eq!(native::run(&mut executor, &d).unwrap(), expected);

    let words = ImageSpec { format: TexelFormat::R32_UINT, ..image };
    let d =
        dispatch(Op::SAMPLE_LZ, &words, &SamplerSpec::plain(XyFilter::Point), &[Column::U, Column::V], &[&[0.9, 0.9]]);
    assert_eq!(native::run(&mut executor, &d).unwrap(), [d.texels[3], 0, 0, 1]);
    assert_silent(&mut executor);
}

#[test]
fn what_vulkan_lacks_is_refused_by_field() {
    let mut executor = open();
    let image = ImageSpec { levels: 2, ..ImageSpec::d2(4, 4, Texels::Near) };
    let trilinear = SamplerSpec { mip: MipFilter::Linear, ..SamplerSpec::plain(XyFilter::Bilinear) };
    let plain = dispatch(Op::SAMPLE_LZ, &image, &trilinear, &[Column::U, Column::V], &[&[0.5, 0.5]]);
    assert!(native::run(&mut executor, &plain).is_ok());
    let mut refused = |change: &dyn Fn(&mut Dispatch)| {
        let mut d = plain.clone();
        change(&mut d);
        match native::run(&mut executor, &d) {
            Err(Failure::Refused(refusal)) => format!("{} {}", refusal.field, refusal.bits.unwrap_or_default()),
            other => panic!("{other:?}"),
        }
    };
    let sampler = |d: &Dispatch| SamplerDescriptor::from_words(d.sampler.unwrap());
    let with = |change: &dyn Fn(SamplerDescriptor) -> SamplerDescriptor| {
        let words = change(sampler(&plain)).words();
        move |d: &mut Dispatch| d.sampler = Some(words)
    };
    let image = |change: &dyn Fn(ImageDescriptor) -> ImageDescriptor| {
        let words = change(ImageDescriptor::from_words(plain.image)).words();
        move |d: &mut Dispatch| d.image = words
    };
    assert_eq!(refused(&with(&|s| s.with_clamp_x(Clamp::ClampHalfBorder))), "S#.CLAMP_X word0[2:0]");
    assert_eq!(refused(&with(&|s| s.with_clamp_y(Clamp::MirrorOnceBorder))), "S#.CLAMP_Y word0[5:3]");
    assert_eq!(refused(&with(&|s| s.with_perf_mip(3).unwrap())), "S#.PERF_MIP word1[27:24]");
    assert_eq!(refused(&with(&|s| s.with_deriv_adjust_en(true))), "S#.DERIV_ADJUST_EN word2[31]");
    assert_eq!(refused(&with(&|s| s.with_min_lod(300).unwrap().with_max_lod(200).unwrap())), "S#.MIN_LOD word1[11:0]");
    let point = |s: SamplerDescriptor| s.with_mip_filter(MipFilter::Point).with_max_lod(100).unwrap();
    assert_eq!(refused(&with(&point)), "S#.MAX_LOD word1[23:12]");
    assert_eq!(refused(&image(&|i| i.with_format(30).unwrap())), "T#.FORMAT word1[28:20]");
    assert_eq!(refused(&image(&|i| i.with_min_lod(1).unwrap())), "T#.MIN_LOD word1[19:8]");
    assert_eq!(refused(&|d: &mut Dispatch| d.op = Op { lod_clamp: true, ..Op::SAMPLE_LZ }), "op ");
    let slices = with(&|s| s.with_z_filter(ZFilter::Point));
    let in_3d = |d: &mut Dispatch| {
        slices(d);
        let volume = ImageSpec { kind: ImageType::D3, size: [4, 4, 2], levels: 1, ..ImageSpec::d2(4, 4, Texels::Near) };
        d.image = volume.descriptor().unwrap();
        d.texels = volume.words(&mut Random::new(1, 0)).into();
    };
    assert_eq!(refused(&in_3d), "S#.Z_FILTER word2[25:24]");
    assert_silent(&mut executor);
}
