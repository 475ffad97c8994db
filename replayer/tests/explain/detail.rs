//! A sample in full.

use std::sync::atomic::{AtomicBool, Ordering};

use replayer::{
    explain::{self, Cause, Limits, explain, render_sample, sample::Way},
    generate::Generator,
    path::{Failure, Path, evaluate},
    rules::{NanCoordinate, Profile},
};

use super::{Run, read};

#[test]
fn a_tie_is_shown_with_its_coordinates_taps_weights_and_results() {
    let trace = read("gfx1035/weight-rounding.texeltrace");
    let run = Run::reference(&trace.dispatches[0], &Profile::AS_SUBMITTED, &Profile::GFX1035);
    let subject = run.subject();
    let explanation = explain(&subject, &Limits::default()).unwrap();
    let detail = explain::detail(&subject, explanation.group_of(0), 0).unwrap();
    let text = render_sample(&detail);
    for part in [
        "ties image_sample_lz sample 0 at 0,0,0",
        "cause     weight rounding (subtexel-bits none → 8)",
        "S#.XY_MAG_FILTER         word2[21:20]   1 bilinear",
        "from the first centre 2.#01+0.5 → texel 2 + 1.5/256",
        "from the first centre 2.#01+0.5 → texel 2 + 2/256",
        "0x1.8p-8 0.005859375",
        "0x1p-7 0.0078125",
    ] {
        assert!(text.to_lowercase().contains(&part.to_lowercase()), "{part:?} is missing in\n{text}");
    }
    println!("{text}");
}

#[test]
fn the_last_step_of_every_blend_is_the_result() {
    let mut blends = 0;
    for profile in Profile::ALL {
        // Samples that take one way in groups have no tables.
        let tables = if profile.name == "lavapipe" { 0 } else { 64 };
        let generator = Generator { profiles: vec![profile.clone()], tables, ..Generator::new(7, 150) };
        for index in 0..150 {
            let mut dispatch = generator.dispatch(index).dispatch;
            let words = match evaluate(&dispatch, Path::Reference, &profile, None, false) {
                Ok(words) => words,
                // The elliptical filter is not known for every view.
                Err(Failure::Refused(refusal)) if profile.name == "lavapipe" => {
                    assert!(refusal.to_string().contains("elliptical"), "{refusal}");
                    continue;
                }
                Err(failure) => panic!("{failure}"),
            };
            dispatch.expected = Some(capture_format::Expected { words: words.into(), measured: None });
            let run = Run::reference(&dispatch, &profile, &profile);
            let subject = run.subject();
            assert_eq!(explain(&subject, &Limits::default()).unwrap().mismatched, 0);
            for sample in 0..dispatch.coords.rows().min(8) {
                let detail = explain::detail(&subject, None, sample).unwrap();
                let evaluation = detail.path.as_ref().unwrap();
                assert_eq!(evaluation.result, detail.got, "{}", dispatch.name);
                // The text of every kind of sample can be written.
                assert!(render_sample(&detail).contains("the results agree"));
                // As text: a coordinate that is NaN does not equal itself.
                let alone = explain::evaluate_sample(&dispatch, profile.rules, sample).unwrap();
                assert_eq!(format!("{alone:?}"), format!("{evaluation:?}"), "{}", dispatch.name);
                let Way::Filtered(probes) = &evaluation.way else { continue };
                for probe in probes {
                    let taps = probe.levels.iter().flat_map(|level| &level.taps);
                    let whole: f64 = taps.map(|tap| tap.weight).sum();
                    // By a CPU's rules a huge coordinate has no weight.
                    let weighted = profile.rules.nan_coordinate != NanCoordinate::Kept || !whole.is_nan();
                    if !weighted {
                        continue;
                    }
                    // Weights without a fixed step are FP32, whose products are not exact.
                    let step = if profile.rules.fixed_point_weights() { 0.0 } else { 1e-3 };
                    assert!((whole - 256.0).abs() <= step, "{} sample {sample}: {whole}/256", dispatch.name);
                }
                let [probe] = &probes[..] else { continue };
                for blend in &probe.blends {
                    let last = blend.steps.last().unwrap().result;
                    let same = explain::same_word(last, detail.got[blend.output], false);
                    assert!(
                        same,
                        "{} sample {sample}: {last:#x} {:?}\n{}",
                        dispatch.name,
                        detail.got,
                        render_sample(&detail)
                    );
                    blends += 1;
                }
            }
        }
    }
    assert!(blends > 1000, "{blends}");
}

#[test]
fn what_the_executor_computes_wrong_is_not_explained_by_rules() {
    let trace = read("gfx1035/weight-rounding.texeltrace");
    let mut run = Run::reference(&trace.dispatches[0], &Profile::GFX1035, &Profile::GFX1035);
    run.got[1] ^= 0x0000_0123;
    let explanation = explain(&run.subject(), &Limits::default()).unwrap();
    assert_eq!((explanation.mismatched, explanation.groups.len()), (1, 1));
    assert_eq!(explanation.groups[0].rule, Cause::Executor(Vec::new()));
    // By other rules than it is meant to follow: named, but still the executor's.
    let other = Run::reference(&trace.dispatches[0], &Profile::AS_SUBMITTED, &Profile::GFX1035);
    run.got = other.got;
    let explanation = explain(&run.subject(), &Limits::default()).unwrap();
    assert_eq!(explanation.groups[0].rule.name(), "executor, as if subtexel-bits: none → 8");
}

#[test]
fn a_search_that_is_given_up_finds_nothing() {
    let trace = read("gfx1035/weight-rounding.texeltrace");
    let run = Run::reference(&trace.dispatches[0], &Profile::AS_SUBMITTED, &Profile::GFX1035);
    let (limits, stop) = (Limits::default(), AtomicBool::new(false));
    let whole = explain(&run.subject(), &limits).unwrap();
    assert_eq!(explain::explain_until(&run.subject(), &limits, &stop), Ok(Some(whole)));
    stop.store(true, Ordering::Relaxed);
    assert_eq!(explain::explain_until(&run.subject(), &limits, &stop), Ok(None));
}

#[test]
fn results_of_another_length_and_samples_that_are_not_there_are_errors() {
    let trace = read("gfx1035/weight-rounding.texeltrace");
    let mut run = Run::reference(&trace.dispatches[0], &Profile::GFX1035, &Profile::GFX1035);
    let error = explain::detail(&run.subject(), None, 3).unwrap_err();
    assert_eq!(error.to_string(), "dispatch ties has no sample 3, it has 3");
    let error = explain::evaluate_sample(&trace.dispatches[0], Profile::GFX1035.rules, 3).unwrap_err();
    assert_eq!(error.to_string(), "dispatch ties has no sample 3, it has 3");
    run.got.pop();
    let error = explain(&run.subject(), &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "dispatch ties: the path's result has 11 words, expected 12: four a sample");
}
