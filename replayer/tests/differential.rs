//! The reference and the emitted SPIR-V agree bit for bit on seeded random dispatches. Needs a Vulkan device (lavapipe).

use replayer::{
    emulated,
    execute::{
        embedded::{Choice, Embedded, Finding},
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    generate::{Generator, Tally},
    materialise::materialise,
    reference::Sampler,
    rules::{Accumulation, AnisotropyRule, EdgeClamp, NanCoordinate, Profile, RuleId, Rules, SampleGroup},
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
        let state = materialise(dispatch, &profile.rules)
            .unwrap_or_else(|refusal| panic!("dispatch {index} ({}, {}): {refusal}", dispatch.op, profile.name));
        tally.add(dispatch, profile, &state);
        let sampler = Sampler::new(profile.rules, &state, &dispatch.texels, &dispatch.coords)
            .unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let reference = sampler.run();
        let integer = state.format.kind().is_integer();
        let same = |a: u32, b: u32| a == b || !integer && is_nan(a) && is_nan(b);
        assert!(
            reference.iter().zip(sampler.run_one_by_one()).all(|(&a, b)| same(a, b)),
            "dispatch {index}: blocks differ from samples one by one\n{} {state:#?}",
            profile.name
        );
        for (n, words) in reference.chunks_exact(4).enumerate() {
            assert!(
                sampler.all_channels(n, |channel, word| same(words[channel], word)),
                "dispatch {index}, sample {n}"
            );
        }
        let emulated = emulated::run(&mut executor, profile.rules, &state, &dispatch.texels, &dispatch.coords)
            .unwrap_or_else(|failure| panic!("dispatch {index}: {failure}"));
        for (n, (&a, &b)) in reference.iter().zip(&emulated).enumerate() {
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
    let generator = Generator { profiles: rules_of_a_cpu(), ..Generator::new(0x1a_7a, 100) };
    compare(&generator, 0, count);
}

#[test]
fn the_embedded_executor_and_the_device_agree_on_random_dispatches() {
    executors_agree(&Generator::new(0xe_be, 100), 600);
}

#[test]
fn the_embedded_executor_and_the_device_agree_by_the_rules_of_a_cpu() {
    executors_agree(&Generator { profiles: rules_of_a_cpu(), ..Generator::new(0xe_bf, 25) }, 100);
}

fn executors_agree(generator: &Generator, count: u64) {
    let (mut vulkan, mut embedded) = (executor(), Embedded::new());
    for index in 0..count {
        let generated = generator.dispatch(index);
        let (dispatch, rules) = (&generated.dispatch, generated.profile.rules);
        let state = materialise(dispatch, &rules).unwrap_or_else(|refusal| panic!("dispatch {index}: {refusal}"));
        let a = emulated::run(&mut vulkan, rules, &state, &dispatch.texels, &dispatch.coords);
        let b = emulated::run(&mut embedded, rules, &state, &dispatch.texels, &dispatch.coords);
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => panic!("dispatch {index}: {:?}, {:?}", a.err(), b.err()),
        };
        let integer = state.format.kind().is_integer();
        let differs = |(&a, &b): (&u32, &u32)| a != b && (integer || !(is_nan(a) && is_nan(b)));
        if let Some(n) = a.iter().zip(&b).position(differs) {
            panic!(
                "dispatch {index} of seed {:#x}, sample {}, channel {}: {:#010x} on the device, {:#010x} embedded\n\
                 profile {}, {state:#?}",
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
