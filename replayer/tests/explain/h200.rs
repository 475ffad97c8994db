//! What is known of the H200 against gfx1035's rules, from the measured traces.

use std::collections::BTreeMap;

use capture_format::{SamplerDescriptor, Trace};
use replayer::{
    coverage::Coverage,
    explain::{Cause, Limits, explain_all},
    rules::{Profile, RuleId},
};

use super::{Run, read};

/// A trace of the H200. Vulkan has no TRUNC_COORD, so the bit is whatever the recorder put there; cleared, gfx1035 rounds.
fn h200(name: &str) -> Trace {
    let mut trace = read(&format!("h200/{name}/{name}.texeltrace"));
    for sampler in trace.dispatches.iter_mut().filter_map(|d| d.sampler.as_mut()) {
        sampler[0] &= !SamplerDescriptor::TRUNC_COORD.mask();
    }
    trace
}

/// Samples by rule over all causes that name it, for the traces of a file.
fn rules_named(file: &str) -> (BTreeMap<&'static str, usize>, usize) {
    let trace = h200(file);
    let runs: Vec<Run<'_>> =
        trace.dispatches.iter().map(|d| Run::reference(d, &Profile::GFX1035, &Profile::H200)).collect();
    let subjects: Vec<_> = runs.iter().map(Run::subject).collect();
    let mut named = BTreeMap::new();
    let mut unexplained = 0;
    for group in explain_all(&subjects, &Limits::default()).unwrap().iter().flat_map(|e| &e.groups) {
        for change in group.rule.changes() {
            assert_eq!(change.to, Profile::H200.rules.value(change.rule), "{change}");
            *named.entry(change.rule.name()).or_default() += group.samples;
        }
        unexplained += if matches!(group.rule, Cause::Rules(_)) { 0 } else { group.samples };
    }
    (named, unexplained)
}

#[test]
fn the_known_differences_are_named() {
    for (file, rule) in [
        ("weights", "weight-rounding"),
        ("mips", "lod-rounding"),
        ("point-edges", "point-rounding"),
        ("random-2d", "result-rounding"),
    ] {
        let (named, unexplained) = rules_named(file);
        println!("{file}: {named:?}");
        assert_eq!(unexplained, 0, "{file}");
        let most = named.iter().max_by_key(|(_, samples)| **samples).map(|(rule, _)| *rule);
        assert_eq!(most, Some(rule), "{file}: {named:?}");
    }
}

#[test]
fn coverage_says_what_tells_the_h200_from_gfx1035() {
    let mut coverage = Coverage::default();
    for name in ["weights", "mips", "point-edges"] {
        for dispatch in &h200(name).dispatches {
            coverage.add(dispatch, &Profile::GFX1035);
        }
    }
    let report = coverage.report();
    let samples = |rule: RuleId, value: &str| {
        let rule = report.rule("gfx1035", rule).unwrap();
        rule.alternatives.iter().find(|a| a.value == value).unwrap().count.samples
    };
    assert!(samples(RuleId::WeightRounding, "half-up") > 100);
    assert!(samples(RuleId::LodRounding, "toward-zero") > 100);
    assert!(samples(RuleId::PointRounding, "floor") > 100);
    assert!(report.rule("gfx1035", RuleId::BorderSwizzle).unwrap().is_untested());
}

#[test]
fn quarter_texel_samples_can_not_tell_how_weights_are_rounded() {
    // The sweep's rows on quarter texels.
    let mut dispatch = read("review/sweep-1024/sweep-1024.texeltrace").dispatches.remove(0);
    let mut whole = Coverage::default();
    whole.add(&dispatch, &Profile::GFX1035);
    assert!(!whole.report().rule("gfx1035", RuleId::WeightRounding).unwrap().is_untested());

    let quarter =
        |words: &[u32], per_row: usize| -> Vec<u32> { words.chunks(per_row).step_by(256).flatten().copied().collect() };
    dispatch.coords.words = quarter(&dispatch.coords.words, 2).into();
    let expected = dispatch.expected.as_mut().unwrap();
    expected.words = quarter(&expected.words, 4).into();
    dispatch.grid = [4, 1, 1];
    let mut coverage = Coverage::default();
    coverage.add(&dispatch, &Profile::GFX1035);
    let report = coverage.report();
    let rounding = report.rule("gfx1035", RuleId::WeightRounding).unwrap();
    assert!(rounding.is_untested(), "{rounding:?}");
    let text = replayer::coverage::render_text(&report);
    assert!(text.contains("NOT TESTED  weight-rounding          nearest-even"), "{text}");
}
