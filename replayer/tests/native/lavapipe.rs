//! lavapipe's own sampler: its profile gives every bit of it, and the textbook's differences have names.

use std::collections::BTreeSet;

use replayer::{
    capture::{Plan, Provenance, Suite, capture_suite, usual_profile},
    execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    explain::{Cause, Limits, PathModel, Subject, explain_all},
    path::{Path, evaluate},
    rules::Profile,
};

/// Every rule in which the textbook differs from lavapipe.
const RULES: [&str; 16] = [
    "accumulation",
    "address-stage",
    "anisotropy",
    "border-missing-channel",
    "border-precision",
    "cube-corner",
    "cube-direction",
    "denormal-coordinate",
    "edge-clamp",
    "integer-conversion",
    "lod-derivatives",
    "mip-nearest",
    "nan-coordinate",
    "offset-stage",
    "sample-group",
    "zero-weight-taps",
];

#[test]
fn its_profile_gives_every_bit_and_the_textbook_differs_by_named_rules() {
    let mut executor = VulkanExecutor::open(&DeviceSelection::Name("lavapipe".to_owned()), &VulkanOptions::default())
        .expect("this test runs on lavapipe; install it (Debian: mesa-vulkan-drivers libvulkan1)");
    let info = executor.device().clone();
    // What the profile is about: eight samples at a time, products and sums rounded once.
    assert!(info.name.contains("256 bits"), "the lavapipe profile needs a CPU with AVX2 and FMA: {}", info.name);
    assert_eq!(usual_profile(&info), "lavapipe");
    let provenance = Provenance::of(&info, None, "2026-01-31");
    let mut named = BTreeSet::new();
    let (mut compared, mut differing) = (0, 0);
    for plan in [Plan { seed: 1, samples: 256 }, Plan { seed: 4242, samples: 61 }] {
        for &suite in Suite::ALL {
            let captured =
                capture_suite(&mut |d| replayer::native::run(&mut executor, d), suite, &plan, &provenance).unwrap();
            let textbook: Vec<Vec<u32>> = captured
                .trace
                .dispatches
                .iter()
                .map(|dispatch| {
                    let expected = dispatch.expected.as_ref().unwrap();
                    let own = evaluate(dispatch, Path::Reference, &Profile::LAVAPIPE, None, false).unwrap();
                    let differing = different_words(&own, &expected.words);
                    assert_eq!(differing, 0, "seed {}, {suite} {}: words", plan.seed, dispatch.name);
                    compared += own.len();
                    evaluate(dispatch, Path::Reference, &Profile::EXACT, None, false).unwrap()
                })
                .collect();
            let subjects: Vec<Subject<'_>> = captured
                .trace
                .dispatches
                .iter()
                .zip(&textbook)
                .map(|(dispatch, got)| Subject {
                    dispatch,
                    got,
                    expected: dispatch.expected.as_ref().unwrap(),
                    path: PathModel::Rules(Profile::EXACT.rules),
                    oracle: Some(Profile::LAVAPIPE.rules),
                })
                .collect();
            for (subject, explanation) in subjects.iter().zip(explain_all(&subjects, &Limits::default()).unwrap()) {
                differing += explanation.mismatched;
                for group in &explanation.groups {
                    let name = &subject.dispatch.name;
                    assert_ne!(group.rule, Cause::Unexplained, "seed {}, {suite} {name}", plan.seed);
                    named.extend(group.rule.changes().iter().map(|change| change.rule.name()));
                }
            }
        }
    }
    assert!(compared > 100_000 && differing > 10_000, "{compared} words, {differing} samples");
    assert_eq!(named.into_iter().collect::<Vec<_>>(), RULES);
}

/// How many words differ; a NaN is a NaN.
fn different_words(a: &[u32], b: &[u32]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|&(&a, &b)| !replayer::explain::same_word(a, b, false)).count()
}
