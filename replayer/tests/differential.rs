//! The reference and the emitted SPIR-V agree bit for bit on seeded random dispatches, and give what is pinned. Needs a
//! Vulkan device (lavapipe).

use replayer::{
    emulated,
    execute::{
        embedded::{Choice, Embedded, Finding},
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    generate::{Generator, Tally},
    materialise::materialise,
    path::{Path, evaluate},
    rules::{Accumulation, AnisotropyRule, EdgeClamp, NanCoordinate, Profile, RuleId, Rules, SampleGroup},
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
