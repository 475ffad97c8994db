//! The reference and the emitted SPIR-V agree bit for bit on seeded random dispatches, and give what is pinned. Needs a
//! Vulkan device (lavapipe).

use capture_format::Column;
use replayer::{
    emulated,
    execute::{
        Executor,
        embedded::{Choice, Embedded, Finding},
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    generate::{Generator, Tally},
    materialise::materialise,
    path::{Path, evaluate},
    rules::{Accumulation, AnisotropyRule, EdgeClamp, MipNearest, NanCoordinate, Profile, RuleId, Rules, SampleGroup},
    state::{State, View},
    table::{Parts, integer_results},
};

fn executor() -> VulkanExecutor {
    VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default())
        .expect("this test runs on a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)")
}

fn is_nan(word: u32) -> bool {
    word & 0x7fff_ffff > 0x7f80_0000
}

/// Runs `count` dispatches from `first` on; panics at the first that differs.
fn compare(generator: &Generator, first: u64, count: u64) -> Tally {
    let mut executor = executor();
    let mut tally = Tally::default();
    for index in first..first + count {
        let generated = generator.dispatch(index);
        let (dispatch, profile) = (&generated.dispatch, &generated.profile);
        dispatch.check().unwrap_or_else(|problem| panic!("dispatch {index}: {problem}"));
        let parts = Parts::new(dispatch).unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let states = parts
            .states(&profile.rules)
            .unwrap_or_else(|refusal| panic!("dispatch {index} ({}, {}): {refusal}", dispatch.op, profile.name));
        tally.add(dispatch, profile);
        let sampler =
            parts.reference(&profile.rules, &states).unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let reference = sampler.run();
        let integer = integer_results(dispatch);
        let same = |a: u32, b: u32| a == b || !integer && is_nan(a) && is_nan(b);
        assert!(
            (0..reference.len() / 4).all(|n| (0..4).all(|c| same(reference[n * 4 + c], sampler.sample(n)[c]))),
            "dispatch {index}: blocks differ from samples one by one\n{} {states:#?}",
            profile.name
        );
        for (n, words) in reference.chunks_exact(4).enumerate() {
            assert!(
                sampler.all_channels(n, |channel, word| same(words[channel], word)),
                "dispatch {index}, sample {n}"
            );
        }
        let emulated = emulated::run_parts(&mut executor, profile.rules, &parts, &states)
            .unwrap_or_else(|failure| panic!("dispatch {index}: {failure}"));
        for (n, (&a, &b)) in reference.iter().zip(&emulated).enumerate() {
            let (part, _) = parts.place(n / 4).expect("there is such a sample");
            let state = &states[part];
            assert!(
                same(a, b),
                "dispatch {index} of seed {:#x}, sample {}, channel {}: reference {a:#010x}, emulated {b:#010x}\n\
                 profile {} {:?}, {state:#?}\noperands {:?} {:x?}",
                generator.seed,
                n / 4,
                n % 4,
                profile.name,
                profile.rules,
                dispatch.coords.columns,
                &dispatch.coords.words[n / 4 * dispatch.coords.columns.len()..][..dispatch.coords.columns.len()],
            );
        }
    }
    tally
}

#[test]
fn reference_and_emulated_agree_on_random_dispatches() {
    let count = std::env::var("DIFFERENTIAL_DISPATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let states = std::env::var("DIFFERENTIAL_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(560);
    let tally = compare(&Generator::new(0x7e_e1, states), 0, count);
    println!("{tally}");
    if count >= 10_000 {
        assert!(tally.distinct_states() >= 500, "{}", tally.distinct_states());
        for profile in ["gfx1035", "h200", "exact"] {
            assert!(tally.count("profile", profile) > 500);
        }
    }
}

/// lavapipe's rules without the elliptical filter, the textbook with each of their values alone, and some mixtures.
fn rules_of_a_cpu() -> Vec<Profile> {
    let lavapipe = Rules { anisotropy: AnisotropyRule::PowersOfTwo, ..Profile::LAVAPIPE.rules };
    let profile = |rules| Profile { name: "lavapipe", rules };
    let mut profiles = vec![profile(lavapipe); 8];
    for &rule in RuleId::ALL {
        let (own, textbook) = (lavapipe.value(rule), Profile::EXACT.rules.value(rule));
        if own != textbook {
            let (alone, without) = (Profile::EXACT.rules.with(rule, own), lavapipe.with(rule, textbook));
            profiles.extend([alone, without].into_iter().flatten().map(profile));
        }
    }
    let unfused = Rules { accumulation: Accumulation::Difference, sample_group: SampleGroup::Four, ..lavapipe };
    let by_position = Rules { edge_clamp: EdgeClamp::Position, nan_coordinate: NanCoordinate::Lowest, ..lavapipe };
    profiles.extend([unfused, by_position].map(profile));
    assert!(profiles.iter().all(|p| p.rules.inconsistency().is_none()) && profiles.len() >= 40, "{}", profiles.len());
    profiles
}

#[test]
fn reference_and_emulated_agree_by_the_rules_of_a_cpu() {
    let count = std::env::var("DIFFERENTIAL_DISPATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let generator = Generator { profiles: rules_of_a_cpu(), tables: 0, ..Generator::new(0x1a_7a, 100) };
    compare(&generator, 0, count);
}

#[test]
fn the_embedded_executor_and_the_device_agree_on_random_dispatches() {
    executors_agree(&Generator::new(0xe_be, 100), 600);
}

#[test]
fn the_embedded_executor_and_the_device_agree_by_the_rules_of_a_cpu() {
    executors_agree(&Generator { profiles: rules_of_a_cpu(), tables: 0, ..Generator::new(0xe_bf, 25) }, 100);
}

fn executors_agree(generator: &Generator, count: u64) {
    let (mut vulkan, mut embedded) = (executor(), Embedded::new());
    for index in 0..count {
        let generated = generator.dispatch(index);
        let (dispatch, rules) = (&generated.dispatch, generated.profile.rules);
        let parts = Parts::new(dispatch).unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let states = parts.states(&rules).unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let a = emulated::run_parts(&mut vulkan, rules, &parts, &states);
        let b = emulated::run_parts(&mut embedded, rules, &parts, &states);
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => panic!("dispatch {index}: {:?}, {:?}", a.err(), b.err()),
        };
        let integer = integer_results(dispatch);
        let differs = |(&a, &b): (&u32, &u32)| a != b && (integer || !(is_nan(a) && is_nan(b)));
        if let Some(n) = a.iter().zip(&b).position(differs) {
            panic!(
                "dispatch {index} of seed {:#x}, sample {}, channel {}: {:#010x} on the device, {:#010x} embedded\n\
                 profile {}, {states:#?}",
                generator.seed,
                n / 4,
                n % 4,
                a[n],
                b[n],
                generated.profile.name
            );
        }
    }
    // The emitted modules depend on nothing that Vulkan leaves open, but for the sign of a zero that becomes an integer.
    let open = |f: &Finding| f.choice != Choice::ZerosInMinMax;
    let found: Vec<String> =
        embedded.take_report().findings.iter().filter(|f| open(f)).map(Finding::to_string).collect();
    assert_eq!(found, Vec::<String>::new());
}

/// The rows of the table of things that must work, by what the names of their dispatches begin with.
const ROWS: [&str; 10] =
    ["format-", "filter-", "address-", "border-", "weight-", "trunc-", "z-", "level-", "view-", "coordinate-"];

fn product() -> capture_format::Trace {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/product.toml");
    capture_format::Case::read(&file).expect("the case ships beside the tests")
}

/// Each row's points, worked out by hand, on the reference and as SPIR-V on both executors.
#[test]
fn every_row_of_the_table_gives_its_pinned_words() {
    let trace = product();
    for row in ROWS {
        assert!(trace.dispatches.iter().any(|d| d.name.starts_with(row)), "{row}");
    }
    assert_eq!(trace.dispatches.len(), 87);
    let (mut vulkan, mut embedded) = (executor(), Embedded::new());
    for dispatch in &trace.dispatches {
        let expected = dispatch.expected.as_ref().expect("every dispatch has pinned words");
        let profile = Profile::GFX1035;
        for (which, results) in [
            ("reference", evaluate(dispatch, Path::Reference, &profile, None, false)),
            ("device", evaluate(dispatch, Path::Emulated, &profile, Some(&mut vulkan), false)),
            ("embedded", evaluate(dispatch, Path::Emulated, &profile, Some(&mut embedded), false)),
        ] {
            let words = results.unwrap_or_else(|failure| panic!("{} on {which}: {failure}", dispatch.name));
            for (n, (&got, &wanted)) in words.iter().zip(expected.words.iter()).enumerate() {
                if expected.measured_channels(n / 4) >> (n % 4) & 1 == 1 {
                    assert_eq!(got, wanted, "{} on {which}, sample {}, channel {}", dispatch.name, n / 4, n % 4);
                }
            }
        }
    }
}

/// Coordinates around texels' edges and centres, ties of the grid and their neighbours in FP32, near the image, around limits
/// and far away.
fn coordinates_that_are_hard(size: u32, unnormalized: bool) -> Vec<f32> {
    let n = f64::from(size);
    let whole = [0.0, 1.0, -1.0, n - 1.0, n, -n, 2.0 * n, -2.0 * n, 3.0 * n + 1.0, 32_767.0, 32_768.0, 40_000.0];
    let far = [
        8192.0,
        16_384.0,
        65_535.0,
        65_536.0,
        131_072.0,
        1_048_576.0,
        2_097_151.0,
        2_097_152.0,
        4_194_303.0,
        4_194_304.0,
        5e6,
        1e8,
    ];
    let parts = [0.0, 0.25, 0.5, 1.0, 16.0, 64.0, 75.0, 127.5, 128.0, 128.5, 255.0, 255.5].map(|steps| steps / 256.0);
    let mut all =
        vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -1e-40, 1e-30, -1e-30, -0.0];
    for place in whole.into_iter().chain(far).chain(far.map(|x| -x)) {
        for part in parts {
            let c = if unnormalized { place + part } else { (place + part) / n } as f32;
            all.extend([c.next_down(), c, c.next_up()]);
        }
    }
    all
}

/// The two ways in which positions are found, on the CPU and in SPIR-V, agree where rounding is hardest.
#[test]
fn positions_agree_at_the_edges_of_texels_and_of_the_grid() {
    let base = product().dispatches.into_iter().find(|d| d.name == "filter-bilinear").expect("it is in the case");
    let (mut vulkan, mut embedded) = (executor(), Embedded::new());
    let mut compared = 0;
    for size in [1, 2, 3, 37, 1023, 4096, 16_383, 16_384] {
        let height = 3;
        let mut dispatch = base.clone();
        dispatch.image[1] = dispatch.image[1] & !(3 << 30) | (size - 1) << 30;
        dispatch.image[2] = (size - 1) >> 2 | (height - 1) << 14 | 1 << 31;
        // Finite as small floats: the exponents' highest bits are 0.
        let word = |n: u32| n.wrapping_mul(0x9e37_79b1) & !(1 << 9 | 1 << 20 | 1 << 31);
        dispatch.texels = (0..size * height).map(word).collect::<Vec<_>>().into();
        // Products of small floats and weights are exact, those of fractions are not.
        for (format, (address, linear, trunc, unnormalized)) in (0..8u32)
            .flat_map(|address| {
                [(false, false), (false, true), (true, false), (true, true)].map(|(l, t)| (address, l, t, false))
            })
            .chain([(2, false, false, true), (2, true, false, true), (6, true, false, true)])
            .flat_map(|case| [(43, case), (30, case)])
            .filter(|&(format, (_, linear, ..))| format == 43 || linear)
        {
            dispatch.image[1] = dispatch.image[1] & !(0x1ff << 20) | format << 20;
            let (across, down) =
                (coordinates_that_are_hard(size, unnormalized), coordinates_that_are_hard(height, unnormalized));
            let pairs = across.iter().zip(down.iter().cycle().skip(size as usize % 97));
            dispatch.coords.words = pairs.flat_map(|(u, v)| [u.to_bits(), v.to_bits()]).collect::<Vec<_>>().into();
            dispatch.grid = [across.len() as u32, 1, 1];
            dispatch.expected = None;
            let filter = u32::from(linear);
            dispatch.sampler = Some([
                address | address << 3 | u32::from(unnormalized) << 15 | u32::from(trunc) << 27,
                0x00ff_f000,
                filter << 20 | filter << 22,
                0x8000_0000,
            ]);
            dispatch.check().expect("it is whole");
            for profile in [Profile::GFX1035, Profile::EXACT, Profile::H200, Profile::AS_SUBMITTED] {
                if (trunc || format == 30) && profile.name != "gfx1035" {
                    continue;
                }
                let run = |path, executor: Option<&mut dyn Executor>| {
                    evaluate(&dispatch, path, &profile, executor, false)
                        .unwrap_or_else(|failure| panic!("{}, {size}, {address}: {failure}", profile.name))
                };
                let reference = run(Path::Reference, None);
                for (which, words) in [
                    ("device", run(Path::Emulated, Some(&mut vulkan))),
                    ("embedded", run(Path::Emulated, Some(&mut embedded))),
                ] {
                    if let Some(n) = reference.iter().zip(&words).position(|(a, b)| a != b) {
                        let at = &dispatch.coords.words[n / 4 * 2..][..2];
                        panic!(
                            "{} on {which}: format {format}, size {size}, CLAMP {address}, linear {linear}, TRUNC_COORD {trunc}, \
                             unnormalized {unnormalized}, at {:e} {:e}: {:#010x}, reference {:#010x}",
                            profile.name,
                            f32::from_bits(at[0]),
                            f32::from_bits(at[1]),
                            words[n],
                            reference[n]
                        );
                    }
                    compared += words.len() / 4;
                }
            }
        }
    }
    assert!(compared > 500_000, "{compared}");
}

/// A denormal lower clamp of the LOD is no limit: that can be seen where ties go to even unless nothing limits.
#[test]
fn a_denormal_lod_clamp_counts_as_none() {
    let mut dispatch =
        product().dispatches.into_iter().find(|d| d.name == "filter-bilinear").expect("it is in the case");
    dispatch.op = "image_sample_d_cl".parse().expect("it is an instruction");
    // 16x16 with 5 levels.
    dispatch.image[1] = dispatch.image[1] & !(3 << 30) | 3 << 30;
    dispatch.image[2] = 3 | 15 << 14 | 1 << 31;
    dispatch.image[3] = dispatch.image[3] & !(0xff << 12) | 4 << 16;
    dispatch.image[5] = 4 << 4;
    let level = |n: u32| vec![0x0010_0200 + n; (16 >> n) * (16 >> n)];
    dispatch.texels = (0..5).flat_map(level).collect::<Vec<u32>>().into();
    dispatch.sampler = Some([0x12, 0x00ff_f000, 1 << 26, 0x8000_0000]);
    dispatch.coords.columns = State::operands(dispatch.op, View::D2);
    let value = |column: &Column| match column {
        Column::Dudx | Column::Dvdx => 0.0625f32.to_bits(),
        Column::Clamp => 1,
        _ => 0,
    };
    dispatch.coords.words = dispatch.coords.columns.iter().map(value).collect::<Vec<_>>().into();
    (dispatch.grid, dispatch.expected) = ([1, 1, 1], None);
    dispatch.check().expect("it is whole");
    let rules = Rules { mip_nearest: MipNearest::NearestEven, ..Profile::GFX1035.rules };
    let profile = Profile { rules, ..Profile::GFX1035 };
    let (mut vulkan, mut embedded) = (executor(), Embedded::new());
    let reference = evaluate(&dispatch, Path::Reference, &profile, None, false).expect("it is modelled");
    for executor in [&mut vulkan as &mut dyn Executor, &mut embedded] {
        let words = evaluate(&dispatch, Path::Emulated, &profile, Some(executor), false).expect("it is modelled");
        assert_eq!(words, reference);
    }
}

/// One module an instruction on a view in a format class: the state reaches it as specialization constants.
#[test]
fn states_share_the_module_of_their_instruction() {
    let trace = product();
    let keys = |prefix: &str| -> std::collections::HashSet<_> {
        let with = trace.dispatches.iter().filter(|d| d.name.starts_with(prefix));
        let rules = Profile::GFX1035.rules;
        with.map(|d| emulated::ModuleKey::of(&materialise(d, &rules).expect("it is modelled"), rules)).collect()
    };
    // Loads of floats, of fixed point and of integers.
    assert_eq!(keys("format-").len(), 3);
    assert_eq!(keys("z-").len(), 1);
    // 1D and 2D, with offsets and without.
    assert_eq!(keys("address-").len(), 3);
}

/// What is not modelled is refused with the field, its bits and its value.
#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let trace = product();
    let named = |name: &str| trace.dispatches.iter().find(|d| d.name == name).expect("it is in the case").clone();
    let refused = |dispatch: &capture_format::Dispatch| {
        let refusal = materialise(dispatch, &Profile::GFX1035.rules).expect_err("it is not modelled");
        format!("{} {} {}", refusal.field, refusal.bits.unwrap_or_default(), refusal.value)
    };
    let image = |word: usize, bits: u32| {
        let mut dispatch = named("filter-bilinear");
        dispatch.image[word] ^= bits;
        refused(&dispatch)
    };
    let sampler = |word: usize, bits: u32| {
        // The filter along z is only looked at in 3D.
        let in_3d = (word, bits) == (2, 3 << 24);
        let mut dispatch = named(if in_3d { "z-filter-follows" } else { "filter-anisotropic" });
        dispatch.sampler.as_mut().expect("it is sampled")[word] ^= bits;
        refused(&dispatch)
    };
    assert_eq!(image(5, 1 << 23), "T#.CORNER_SAMPLES word5[23] 1");
    assert_eq!(image(5, 1 << 24), "T#.LINKED_RESOURCE word5[24] 1");
    assert_eq!(sampler(2, 1 << 31), "S#.DERIV_ADJUST_EN word2[31] 1");
    assert_eq!(sampler(0, 1 << 19), "S#.MC_COORD_TRUNC word0[19] 1");
    assert_eq!(sampler(0, 3 << 29), "S#.FILTER_MODE word0[30:29] 3 RESERVED_3");
    assert_eq!(sampler(2, 3 << 24), "S#.Z_FILTER word2[25:24] 3 RESERVED_3");
    assert_eq!(sampler(2, 3 << 26), "S#.MIP_FILTER word2[27:26] 3 POINT_ANISO_ADJ");
    assert_eq!(sampler(0, 4 << 9), "S#.MAX_ANISO_RATIO word0[11:9] 5 RESERVED_5");
    assert_eq!(sampler(0, 1 << 21), "S#.ANISO_BIAS word0[26:21] 0x1 = 0.03125");
}
