//! The published review, reproduced by the path as-submitted.

use std::fmt::Write as _;

use replayer::{
    explain::{self, Limits, explain_all, render_text},
    materialise::materialise,
    path::{Path, evaluate},
    rules::Profile,
};

use super::{Run, executor, oracle, read};

/// What is said about both traces of the review.
const REVIEW: &str = include_str!("review.txt");

#[test]
fn as_submitted_shows_each_published_point_with_its_cause() {
    let mut executor = executor();
    let mut text = String::new();
    for file in ["review/published/published.texeltrace", "review/sweep-1024/sweep-1024.texeltrace"] {
        let trace = read(file);
        let oracle = oracle(&trace);
        let runs: Vec<Run<'_>> = trace
            .dispatches
            .iter()
            .map(|dispatch| {
                let got = evaluate(dispatch, Path::AsSubmitted, &oracle, Some(&mut executor), false).unwrap();
                let path = explain::PathModel::Rules(Profile::AS_SUBMITTED.rules);
                Run { dispatch, got, path, oracle: oracle.clone() }
            })
            .collect();
        let subjects: Vec<_> = runs.iter().map(Run::subject).collect();
        let explanations = explain_all(&subjects, &Limits::default()).unwrap();
        for (run, explanation) in runs.iter().zip(&explanations) {
            let state = materialise(run.dispatch, &oracle.rules).unwrap();
            write!(text, "{}", render_text(&run.dispatch.name, explanation, &|_| Some(state.clone()))).unwrap();
        }
    }
    if let Some(path) = std::env::var_os("BLESS_REVIEW") {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, REVIEW, "\n{text}");
}

#[test]
fn the_review_holds_the_points_of_gfx1035() {
    let review = read("review/published/published.texeltrace");
    let mut found = 0;
    for part in ["mip-filter", "z-filter", "border-swizzle", "weight-rounding", "trunc-coord", "decode"] {
        for mut dispatch in read(&format!("gfx1035/{part}.texeltrace")).dispatches {
            dispatch.name = format!("{part}-{}", dispatch.name);
            assert_eq!(review.dispatches[found], dispatch);
            found += 1;
        }
    }
    assert_eq!(review.dispatches.len(), found);
}

#[test]
fn the_sweep_is_what_gfx1035_s_rules_give() {
    let sweep = read("review/sweep-1024/sweep-1024.texeltrace");
    assert_eq!(sweep.oracle.source, capture_format::OracleSource::Synthetic);
    for dispatch in &sweep.dispatches {
        let run = Run::reference(dispatch, &Profile::GFX1035, &Profile::GFX1035);
        assert_eq!(run.got, dispatch.expected.as_ref().unwrap().words.to_vec());
        assert_eq!(run.got.chunks(4).filter(|s| s[0] != 0 && s[0] != 0x3f80_0000).count(), 1019);
    }
}
