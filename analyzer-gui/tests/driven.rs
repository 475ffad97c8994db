//! The window, driven by its accessible labels.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../replayer/tests/assemble/mod.rs"]
mod assemble;
mod hardship;
mod recorded;
mod support;
mod tables;

use analyzer_gui::{
    args::Args,
    model::{causes::Known, choice::ProfileChoice, list::Query, number::grouped, outcome::Verdict},
    ui::{app::AnalyzerApp, panes::Pane},
};
use egui_kittest::{Harness, kittest::Queryable as _};
use replayer::path::Path;
use support::{settle, trace, window};

fn open(traces: &[&str]) -> Harness<'static, AnalyzerApp> {
    window(Args { traces: traces.iter().map(|name| trace(name)).collect(), ..Args::default() })
}

fn verdict(harness: &Harness<'_, AnalyzerApp>) -> (Verdict, u64) {
    let (outcome, _) = harness.state().session().outcome().expect("a result");
    (outcome.summary.verdict, outcome.summary.mismatched)
}

fn click(harness: &mut Harness<'_, AnalyzerApp>, label: &str) {
    harness.get_by_label(label).click();
    settle(harness);
}

/// Chooses an entry of a list that drops down.
fn choose(harness: &mut Harness<'_, AnalyzerApp>, list: &str, entry: &str) {
    click(harness, list);
    click(harness, entry);
}

#[test]
fn the_empty_window_says_how_to_start() {
    let mut harness = window(Args::default());
    assert!(harness.query_by_label("No trace is open").is_some());
    click(&mut harness, "Open path…");
    harness.get_by_label("Path to open").focus();
    harness.step();
    harness.get_by_label("Path to open").type_text(&trace("gfx1035/trunc-coord.texeltrace").display().to_string());
    harness.step();
    click(&mut harness, "Open");
    assert!(harness.state().session().shown().is_some());
}

#[test]
fn a_shipped_trace_opens_and_matches() {
    let harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    for label in ["random-2d / wrap: match", "random-2d / border-white: match"] {
        assert!(harness.query_by_label(label).is_some(), "{label}");
    }
    for view in ["Oracle image", "Result image", "Heatmap image", "Source texture image"] {
        assert!(harness.query_by_label(view).is_some(), "{view}");
    }
}

#[test]
fn mismatches_are_stepped_through_and_explained() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    choose(&mut harness, "Profile", "gfx1035");
    let (verdict, mismatched) = verdict(&harness);
    assert_eq!(verdict, Verdict::Mismatch);
    assert!(mismatched > 1000, "{mismatched}");
    click(&mut harness, "Next mismatch");
    let first = harness.state().session().sample().expect("a differing sample");
    harness.key_press(egui::Key::N);
    settle(&mut harness);
    let second = harness.state().session().sample().expect("another one");
    assert!(second > first);
    let (outcome, _) = harness.state().session().outcome().unwrap();
    assert!(outcome.difference(first).is_some() && outcome.difference(second).is_some());
    assert!((first + 1..second).all(|index| outcome.difference(index).is_none()), "none was passed over");
    assert!(harness.query_by_label("Taps").is_some());
    click(&mut harness, "Previous mismatch");
    assert_eq!(harness.state().session().sample(), Some(first));
    choose(&mut harness, "Order of mismatches", "by size");
    harness.state_mut().session_mut().select_sample(None);
    click(&mut harness, "Next mismatch");
    let (outcome, _) = harness.state().session().outcome().unwrap();
    let sample = harness.state().session().sample().unwrap();
    assert_eq!(outcome.difference(sample).unwrap().ulp(), outcome.summary.max_ulp);
}

#[test]
fn the_samples_of_a_cause_are_stepped_through() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    choose(&mut harness, "Profile", "gfx1035");
    let Known::Found(causes) = harness.state().session().causes() else { panic!("no causes were found") };
    let mismatched = harness.state().session().outcome().unwrap().0.summary.mismatched;
    assert_eq!(causes.groups().map(|(_, samples)| samples as u64).sum::<u64>(), mismatched);
    let (label, samples) = causes.groups().nth(1).expect("more than one cause");
    click(&mut harness, &format!("{}  {label}", grouped(samples as u64)));
    let first = harness.state().session().sample().expect("a sample of the cause");
    assert_eq!(causes.group_of(first), Some(1));
    assert!((0..first).all(|index| causes.group_of(index) != Some(1)), "it is not the first of its cause");
    assert!(harness.query_by_label("Cause").is_some());
    harness.key_press(egui::Key::N);
    settle(&mut harness);
    let second = harness.state().session().sample().unwrap();
    assert_eq!(causes.group_of(second), Some(1));
    assert!(second > first || samples == 1);
    // The list names the main cause as well.
    let main = causes.main().unwrap();
    let listing = harness.state_mut().session_mut().listing(&Query::default());
    assert_eq!(listing.rows().next().unwrap().cause.as_deref(), Some(main));
    click(&mut harness, "cause");
    assert!(harness.query_by_label("Heatmap image").is_some());
}

#[test]
fn a_flipped_field_changes_the_counts_and_goes_back() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    choose(&mut harness, "S# CLAMP_X", "2 CLAMP_LAST_TEXEL");
    let (changed, mismatched) = verdict(&harness);
    assert_eq!(changed, Verdict::Mismatch);
    let text = format!("Changed: {} differ, 0 as recorded", grouped(mismatched));
    assert!(harness.query_by_label(&text).is_some(), "{text}");
    click(&mut harness, "Revert S# CLAMP_X");
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    assert!(harness.state().session().edits().is_empty());
}

#[test]
fn a_field_that_is_not_modelled_is_refused_and_says_what_to_do() {
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    click(&mut harness, "S# MC_COORD_TRUNC");
    let (outcome, _) = harness.state().session().outcome().unwrap();
    assert_eq!(outcome.summary.verdict, Verdict::Refused);
    let reason = outcome.summary.reason.clone().unwrap();
    assert!(reason.contains("S#.MC_COORD_TRUNC") && reason.contains("word0[19]"), "{reason}");
    assert!(harness.query_by_label(&format!("refused: {reason}")).is_some());
    assert!(harness.query_by_label_contains("The named field holds what is not modelled").is_some());
    click(&mut harness, "Revert all");
    assert_eq!(verdict(&harness).0, Verdict::Match);
}

#[test]
fn the_path_is_switched_and_results_are_kept() {
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    let elapsed = |harness: &Harness<'_, AnalyzerApp>| harness.state().session().outcome().unwrap().0.elapsed;
    let reference = elapsed(&harness);
    choose(&mut harness, "Path", "emulated");
    choose(&mut harness, "Executor", "embedded: on the CPU, without a driver");
    assert_eq!(harness.state().session().choice().path, Path::Emulated);
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    let info = harness.state().session().outcome().unwrap().0.executor.clone().unwrap();
    assert_eq!(info.kind, "embedded");
    choose(&mut harness, "Path", "reference");
    assert_eq!(elapsed(&harness), reference, "the result was evaluated again");
}

#[test]
fn a_broken_file_is_said_and_harms_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.texeltrace");
    std::fs::copy(trace("gfx1035/weight-rounding.texeltrace"), &good).unwrap();
    std::fs::write(folder.path().join("bad.texeltrace"), b"no trace at all").unwrap();
    let harness = window(Args { traces: vec![folder.path().to_owned()], ..Args::default() });
    assert!(harness.query_by_label("bad.texeltrace: cannot be opened").is_some());
    assert!(harness.query_by_label_contains("bad.texeltrace: not a trace").is_some());
    assert_eq!(verdict(&harness).0, Verdict::Match);
}

#[test]
fn a_folder_without_traces_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let harness = window(Args { traces: vec![folder.path().to_owned()], ..Args::default() });
    assert!(harness.query_all_by_label_contains("no traces there").next().is_some());
    assert!(harness.query_by_label("No trace is open").is_some());
}

#[test]
fn the_command_line_goes_to_a_sample() {
    let harness = window(Args {
        traces: vec![trace("h200/random-2d")],
        goto: Some("edge:17,3,0".parse().unwrap()),
        profile: Some("exact".to_owned()),
        set: vec!["S#.TRUNC_COORD=1".to_owned()],
        ..Args::default()
    });
    let session = harness.state().session();
    assert_eq!(session.selected_name(), Some("edge"));
    assert_eq!(session.sample(), Some(3 * 128 + 17));
    assert_eq!(session.choice().profile, ProfileChoice::Named("exact".to_owned()));
    assert_eq!(session.edits().apply(&session.shown().unwrap().recorded).sampler.unwrap()[0] >> 27 & 1, 1);
    assert_eq!(session.place().unwrap().to_string(), "edge:17,3,0");
    assert!(harness.query_by_label("Sample 17,3,0").is_some());
}

#[test]
fn a_place_that_is_not_there_is_said() {
    let harness = window(Args {
        traces: vec![trace("gfx1035/weight-rounding.texeltrace")],
        goto: Some("nowhere:1,2,3".parse().unwrap()),
        ..Args::default()
    });
    assert!(harness.query_by_label("nowhere:1,2,3: no such dispatch in the open traces").is_some());
    assert!(harness.state().session().shown().is_some(), "the first dispatch is shown instead");
}

#[test]
fn the_list_is_walked_and_filtered_by_keyboard() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    harness.key_press(egui::Key::PageDown);
    settle(&mut harness);
    assert_eq!(harness.state().session().selected_name(), Some("mirror"));
    harness.get_by_label("Filter dispatches").focus();
    harness.step();
    harness.get_by_label("Filter dispatches").type_text("border");
    settle(&mut harness);
    assert!(harness.query_by_label("random-2d / wrap: match").is_none());
    assert!(harness.query_by_label("random-2d / border-white: match").is_some());
}

#[test]
fn the_module_is_shown_with_its_specialization() {
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    harness.state_mut().show_pane(Pane::Spirv);
    settle(&mut harness);
    assert!(harness.query_by_label("address_x").is_some());
    assert!(harness.query_by_label_contains("OpCapability Shader").is_some());
}

#[test]
fn differing_samples_and_the_changed_dispatch_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    choose(&mut harness, "Profile", "exact");
    let (_, mismatched) = verdict(&harness);
    assert!(mismatched > 0);
    let mut export = |what: &str, name: &str| {
        let path = folder.path().join(name);
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
        settle(&mut harness);
        choose(&mut harness, "What to export", what);
        harness.get_by_label("Export path").focus();
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        harness.step();
        harness.get_by_label("Export path").type_text(&path.display().to_string());
        settle(&mut harness);
        click(&mut harness, "Write file");
        path
    };
    let csv = std::fs::read_to_string(export("differing samples (CSV)", "a.csv")).unwrap();
    assert_eq!(csv.lines().count() as u64, 1 + mismatched, "{csv}");
    let png = std::fs::read(export("picture of a view (PNG)", "a.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    let exr = std::fs::read(export("values of the result (EXR)", "a.exr")).unwrap();
    assert_eq!(exr[..4], [0x76, 0x2f, 0x31, 0x01]);
    let case = capture_format::Case::read(&export("dispatch as a case (folder)", "case")).unwrap();
    let shown = harness.state().session().shown().unwrap();
    assert_eq!(case.dispatches, [shown.recorded.as_ref().clone()]);
}

#[test]
fn a_narrow_panel_keeps_the_values_of_the_fields() {
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    harness.set_size(egui::vec2(1000.0, 640.0));
    settle(&mut harness);
    let control = harness.get_by_label("S# CLAMP_X").rect();
    assert!(control.width() > 50.0 && control.right() <= 1000.0, "{control:?}");
}

#[test]
fn the_shader_is_stepped_through_forward_and_back() {
    let mut harness = open(&["gfx1035/weight-rounding.texeltrace"]);
    harness.state_mut().show_pane(Pane::Steps);
    settle(&mut harness);
    assert!(
        harness.query_by_label("Click a sample in an image to step through the shader that computes it.").is_some()
    );
    harness.state_mut().session_mut().select_sample(Some(0));
    settle(&mut harness);
    for _ in 0..3 {
        click(&mut harness, "Step forward");
    }
    click(&mut harness, "Step back");
    assert_eq!(harness.state().steps().current(), 2);
    harness.key_press(egui::Key::Period);
    settle(&mut harness);
    assert_eq!(harness.state().steps().current(), 3);
    choose(&mut harness, "Section of steps", "weight-rounding");
    click(&mut harness, "First step");
    let rounding = harness.state().steps().current();
    assert!(rounding > 50, "{rounding}");
    assert!(harness.query_by_label(&format!("Step {rounding}: OpExtInst RoundEven")).is_some());
    // 641.5/256 is a tie.
    assert!(harness.query_by_label("642.0 (0x44208000)").is_some());
    // From the operand to where it was computed.
    click(&mut harness, &format!("step {}", rounding - 1));
    assert_eq!(harness.state().steps().current(), rounding - 1);
    // Another sample shows the same instruction with its own values.
    harness.state_mut().session_mut().select_sample(Some(1));
    settle(&mut harness);
    assert_eq!(harness.state().steps().current(), rounding - 1);
    // The last row is in sight, not below the end of its list.
    choose(&mut harness, "Section of steps", "all sections");
    click(&mut harness, "Last step");
    let last = harness.state().steps().current();
    let row = harness.get_by_label_contains(&format!("{last} ")).rect();
    assert!(row.bottom() <= harness.get_by_label("Causes").rect().top(), "{row:?}");
    // A path without a shader is refused no steps: they are those of the emulated path.
    assert!(harness.query_by_label("No steps").is_none());
}
