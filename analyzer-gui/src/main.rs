//! The window of the analyzer.

use std::{process::ExitCode, time::Instant};

use analyzer_gui::{args::Args, ui::app::AnalyzerApp};
use clap::Parser as _;

fn main() -> ExitCode {
    let started = Instant::now();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors. What can't be printed is lost with the terminal.
            drop(error.print());
            return if error.use_stderr() { ExitCode::from(64) } else { ExitCode::SUCCESS };
        }
    };
    match run(&args, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("analyzer-gui: {error:#}");
            ExitCode::from(70)
        }
    }
}

fn run(args: &Args, started: Instant) -> anyhow::Result<()> {
    let mut options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("texel trace analyzer")
            .with_app_id("analyzer-gui")
            .with_inner_size(args.size.0)
            .with_drag_and_drop(true),
        persist_window: !args.fresh,
        ..eframe::NativeOptions::default()
    };
    // Frame times are those of the work, not of the screen.
    options.glow_options.vsync = args.bench_frames.is_none();
    let create = |creation: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Box::new(AnalyzerApp::new(creation, args, started)?))
    };
    eframe::run_native("analyzer-gui", options, Box::new(create)).map_err(|error| {
        anyhow::anyhow!(
            "cannot open a window: {error}; on Linux, check DISPLAY or WAYLAND_DISPLAY and that OpenGL is installed"
        )
    })
}
