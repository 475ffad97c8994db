//! The reference and the emitted SPIR-V agree bit for bit on seeded random dispatches. Needs a Vulkan device (lavapipe).

use replayer::{
    emulated,
    execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    generate::{Generator, Tally},
    materialise::materialise,
    reference::Sampler,
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
        let emulated = emulated::run(&mut executor, profile.rules, &state, &dispatch.texels, &dispatch.coords)
            .unwrap_or_else(|failure| panic!("dispatch {index}: {failure}"));
        for (n, (&a, &b)) in reference.iter().zip(&emulated).enumerate() {
            assert!(
                same(a, b),
                "dispatch {index} of seed {:#x}, sample {}, channel {}: reference {a:#010x}, emulated {b:#010x}\n\
                 profile {}, {state:#?}\noperands {:?} {:x?}",
                generator.seed,
                n / 4,
                n % 4,
                profile.name,
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
