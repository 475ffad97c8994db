//! What the tests of the window share.

pub mod renderer;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use analyzer_gui::{args::Args, ui::app::AnalyzerApp};
use egui_kittest::Harness;
use replayer::path::Path as ReplayPath;

/// The traces that ship.
pub fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces")
}

/// A shipped trace.
pub fn trace(name: &str) -> PathBuf {
    traces().join(name)
}

/// A window on files, on the reference path, with nothing stored.
pub fn window(args: Args) -> Harness<'static, AnalyzerApp> {
    window_in(args, egui::Theme::Dark)
}

/// As [`window`], in a colour scheme.
pub fn window_in(args: Args, theme: egui::Theme) -> Harness<'static, AnalyzerApp> {
    let args = Args { path: args.path.or(Some(ReplayPath::Reference)), fresh: true, ..args };
    let mut harness = Harness::builder()
        .with_size([1600.0, 1000.0])
        .with_max_steps(400)
        .with_theme(theme)
        .renderer(renderer::Software::default())
        .build_eframe(|creation| AnalyzerApp::new(creation, &args, Instant::now()).expect("threads"));
    settle(&mut harness);
    harness
}

/// Runs frames until nothing is left to do in the background.
pub fn settle(harness: &mut Harness<'_, AnalyzerApp>) {
    let started = Instant::now();
    let mut quiet = 0;
    while quiet < 3 {
        assert!(started.elapsed() < Duration::from_secs(120), "the window does not come to rest");
        harness.step();
        quiet = if harness.state().is_settled() { quiet + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(2));
    }
}
