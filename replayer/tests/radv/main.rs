//! S# as RADV itself writes them, for the states that a Vulkan sampler can have.
//!
//! `samplers.txt` holds what RADV of Mesa 25.0.7 wrote for a gfx1035 (`RADV_FORCE_FAMILY=rembrandt`, without hardware), a line
//! for each of [`states`]. The ignored test asks the driver that is installed, and writes the file anew when
//! `REPLAYER_BLESS` is 1:
//!
//! `RADV_FORCE_FAMILY=rembrandt VK_DRIVER_FILES=radeon_icd.json cargo test -p replayer --test radv -- --ignored`

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

use std::{fmt::Write as _, path::PathBuf};

use capture_format::{
    AnisoRatio, BorderColorType, Clamp, CompareFunc, FilterMode, MipFilter, SamplerDescriptor, XyFilter,
};
use replayer::{
    execute::vulkan::{
        AddressMode, BorderColor, DeviceSelection, NativeFilter, NativeSamplerState, RawDevice, ReductionMode,
        VulkanOptions, sampler_words,
    },
    native,
};

type State = (NativeSamplerState, Option<CompareFunc>);

const ADDRESSES: [(AddressMode, Clamp); 5] = [
    (AddressMode::Repeat, Clamp::Wrap),
    (AddressMode::MirroredRepeat, Clamp::Mirror),
    (AddressMode::ClampToEdge, Clamp::ClampLastTexel),
    (AddressMode::MirrorClampToEdge, Clamp::MirrorOnceLastTexel),
    (AddressMode::ClampToBorder, Clamp::ClampBorder),
];

const BORDERS: [(BorderColor, BorderColorType); 3] = [
    (BorderColor::TransparentBlack, BorderColorType::TransparentBlack),
    (BorderColor::OpaqueBlack, BorderColorType::OpaqueBlack),
    (BorderColor::OpaqueWhite, BorderColorType::OpaqueWhite),
];

/// Every choice of addressing, of filters with anisotropy and reduction, of border with comparison, and many LODs.
fn states() -> Vec<State> {
    let base = NativeSamplerState::default();
    let mut states = Vec::new();
    for (u, _) in ADDRESSES {
        for (v, _) in ADDRESSES {
            for (w, _) in ADDRESSES {
                for (border, _) in BORDERS {
                    states.push((NativeSamplerState { address: [u, v, w], border, ..base }, None));
                }
            }
        }
    }
    let filters = [NativeFilter::Nearest, NativeFilter::Linear];
    let reductions = [ReductionMode::Average, ReductionMode::Min, ReductionMode::Max];
    for mag in filters {
        for min in filters {
            for mip in filters {
                for reduction in reductions {
                    for anisotropy in [None, Some(1.0), Some(2.0), Some(3.5), Some(4.0), Some(8.0), Some(16.0)] {
                        states.push((NativeSamplerState { mag, min, mip, reduction, anisotropy, ..base }, None));
                    }
                }
            }
        }
    }
    for compare in CompareFunc::ALL {
        for mag in filters {
            states.push((NativeSamplerState { mag, ..base }, Some(compare)));
        }
    }
    let lods = [0.0, 1.0 / 256.0, 0.25, 0.3, 1.0, 2.7182817, 14.99, 15.0, 1000.0];
    for min_lod in lods {
        for max_lod in lods.into_iter().filter(|&max| max >= min_lod) {
            states.push((NativeSamplerState { min_lod, max_lod, ..base }, None));
        }
    }
    for lod_bias in [-15.99, -4.0, -1.0 / 256.0, -0.3, 0.001, 0.5, 3.3, 15.9] {
        states.push((NativeSamplerState { lod_bias, ..base }, None));
    }
    for filter in filters {
        for (address, _) in [ADDRESSES[2], ADDRESSES[4]] {
            let state = NativeSamplerState { mag: filter, min: filter, address: [address; 3], ..base };
            states.push((NativeSamplerState { unnormalized: true, max_lod: 0.0, ..state }, None));
        }
    }
    states
}

fn clamp(mode: AddressMode) -> Clamp {
    ADDRESSES.iter().find(|(m, _)| *m == mode).unwrap().1
}

/// 1/256, cut, from 0 to 15.
fn lod(value: f32) -> u16 {
    (value.clamp(0.0, 15.0) * 256.0) as u16
}

fn ratio(anisotropy: Option<f32>) -> AnisoRatio {
    match anisotropy {
        Some(a) if a >= 16.0 => AnisoRatio::X16,
        Some(a) if a >= 8.0 => AnisoRatio::X8,
        Some(a) if a >= 4.0 => AnisoRatio::X4,
        Some(a) if a >= 2.0 => AnisoRatio::X2,
        _ => AnisoRatio::X1,
    }
}

fn xy(filter: NativeFilter, ratio: AnisoRatio) -> XyFilter {
    match (filter, ratio) {
        (NativeFilter::Nearest, AnisoRatio::X1) => XyFilter::Point,
        (NativeFilter::Linear, AnisoRatio::X1) => XyFilter::Bilinear,
        (NativeFilter::Nearest, _) => XyFilter::AnisoPoint,
        (NativeFilter::Linear, _) => XyFilter::AnisoBilinear,
    }
}

/// The S# of a state: Vulkan's own parts, and what RADV puts in beside them.
fn encode((state, compare): &State) -> SamplerDescriptor {
    let ratio = ratio(state.anisotropy);
    let [x, y, z] = state.address.map(clamp);
    let border = BORDERS.iter().find(|(b, _)| *b == state.border).unwrap().1;
    let uses_border = state.address.contains(&AddressMode::ClampToBorder);
    SamplerDescriptor::default()
        .with_clamp_x(x)
        .with_clamp_y(y)
        .with_clamp_z(z)
        .with_max_aniso_ratio(ratio)
        .with_depth_compare_func(compare.unwrap_or(CompareFunc::Never))
        .with_force_unnormalized(state.unnormalized)
        .with_filter_mode(match state.reduction {
            ReductionMode::Average => FilterMode::Blend,
            ReductionMode::Min => FilterMode::Min,
            ReductionMode::Max => FilterMode::Max,
        })
        .with_min_lod(lod(state.min_lod))
        .unwrap()
        .with_max_lod(lod(state.max_lod))
        .unwrap()
        .with_lod_bias((state.lod_bias * 256.0) as i16)
        .unwrap()
        .with_xy_mag_filter(xy(state.mag, ratio))
        .with_xy_min_filter(xy(state.min, ratio))
        .with_mip_filter(if state.mip == NativeFilter::Linear { MipFilter::Linear } else { MipFilter::Point })
        .with_border_color_type(if uses_border { border } else { BorderColorType::TransparentBlack })
        // RADV's own: thresholds of anisotropy, and truncation for point sampling.
        .with_aniso_threshold(ratio as u8 >> 1)
        .unwrap()
        .with_aniso_bias(ratio as u8)
        .unwrap()
        .with_perf_mip(if ratio == AnisoRatio::X1 { 0 } else { ratio as u8 + 6 })
        .unwrap()
        .with_trunc_coord(state.mag == NativeFilter::Nearest && state.min == NativeFilter::Nearest)
}

#[track_caller]
fn assert_words(words: &[[u32; 4]]) {
    let states = states();
    assert_eq!(words.len(), states.len(), "a line a state");
    let mut fields = std::collections::BTreeSet::new();
    for (words, state) in words.iter().zip(&states) {
        let (found, wanted) = (SamplerDescriptor::from_words(*words), encode(state));
        for field in SamplerDescriptor::FIELDS {
            let (a, b) = (field.extract(words), field.extract(&wanted.words()));
            assert_eq!(a, b, "{} of {state:?}: RADV has {}", field.name, field.describe(a));
            if a != 0 {
                fields.insert(field.name);
            }
        }
        assert_eq!(found, wanted, "{state:?}");
    }
    assert!(fields.len() >= 16, "{fields:?}");
}

fn recorded() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/radv/samplers.txt")
}

#[test]
fn recorded_words_decode_to_their_states_and_encode_back() {
    let text = std::fs::read_to_string(recorded()).unwrap();
    let words: Vec<[u32; 4]> = text
        .lines()
        .map(|line| {
            let words: Vec<u32> = line.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
            words.try_into().unwrap()
        })
        .collect();
    assert_words(&words);
}

#[test]
#[ignore = "needs RADV of Mesa 23 or later, started without hardware; see the head of this file"]
fn the_installed_driver_writes_these_words() {
    let selection = DeviceSelection::Name("RADV".to_owned());
    let words = sampler_words(&selection, &VulkanOptions::default(), &states()).unwrap();
    if std::env::var_os("REPLAYER_BLESS").is_some_and(|value| value == "1") {
        let mut text = String::new();
        for [a, b, c, d] in &words {
            writeln!(text, "{a:08x} {b:08x} {c:08x} {d:08x}").unwrap();
        }
        std::fs::write(recorded(), text).unwrap();
    }
    assert_words(&words);
}

/// Layouts and pipelines of raw captures, as far as a device without hardware goes: RADV has no memory then, and ends with a
/// segmentation fault when it makes an image.
#[test]
#[ignore = "needs RADV of Mesa 23 or later, started without hardware; see the head of this file"]
fn modules_for_raw_descriptors_compile() {
    let device = RawDevice::open(&DeviceSelection::Auto, &VulkanOptions::default()).unwrap();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/product.toml");
    let mut compiled = 0;
    for dispatch in capture_format::Case::read(&file).unwrap().dispatches {
        if native::raw(&dispatch).is_ok() {
            // Memory is what comes after layouts and pipelines.
            let error = native::run_raw(&device, &dispatch).unwrap_err().to_string();
            assert!(error.contains("no type of memory that fits"), "{}: {error}", dispatch.name);
            compiled += 1;
        }
    }
    assert!(compiled > 40, "{compiled}");
}
