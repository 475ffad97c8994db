//! Pictures of the main views, held against those that are checked in.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use analyzer_gui::{args::Args, ui::panes::Pane};
use support::{settle, trace, window, window_in};

#[test]
fn main_window() {
    let mut harness = window(Args {
        traces: vec![trace("h200/weights/weights.texeltrace")],
        goto: Some("sweep:4100".parse().unwrap()),
        ..Args::default()
    });
    // How long evaluation took is written in the window and differs from run to run.
    harness.state_mut().hide_times();
    settle(&mut harness);
    harness.snapshot("main-window");
}

#[test]
fn heatmap_of_other_rules() {
    let mut harness = window(Args {
        traces: vec![trace("h200/weights/weights.texeltrace")],
        profile: Some("exact".to_owned()),
        close_up: true,
        ..Args::default()
    });
    harness.state_mut().hide_times();
    harness.state_mut().show_pane(Pane::Heatmap);
    settle(&mut harness);
    harness.snapshot("heatmap");
}

#[test]
fn empty_window() {
    let mut harness = window(Args::default());
    harness.snapshot("empty");
}

#[test]
fn light_colours_and_a_flipped_field() {
    let mut harness = window_in(
        Args {
            traces: vec![trace("h200/weights/weights.texeltrace")],
            set: vec!["S#.XY_MAG_FILTER=POINT".to_owned()],
            ..Args::default()
        },
        egui::Theme::Light,
    );
    harness.state_mut().hide_times();
    settle(&mut harness);
    harness.snapshot("flipped-light");
}
