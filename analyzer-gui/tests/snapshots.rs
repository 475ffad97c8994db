//! Pictures of the main views, held against those that are checked in.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use analyzer_gui::{args::Args, ui::panes::Pane};
use support::{settle, trace, window};

#[test]
fn main_window() {
    let mut harness = window(Args {
        traces: vec![trace("h200/random-2d/random-2d.texeltrace")],
        goto: Some("edge:40,60,0".parse().unwrap()),
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
        traces: vec![trace("h200/random-2d/random-2d.texeltrace")],
        profile: Some("gfx1035".to_owned()),
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
    let mut harness = window(Args {
        traces: vec![trace("h200/random-2d/random-2d.texeltrace")],
        set: vec!["S#.CLAMP_X=CLAMP_LAST_TEXEL".to_owned()],
        theme: Some(analyzer_gui::args::Theme::Light),
        ..Args::default()
    });
    harness.state_mut().hide_times();
    settle(&mut harness);
    harness.snapshot("flipped-light");
}
