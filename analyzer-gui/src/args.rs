//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::model::{goto::Goto, raster::Metric};

/// Shows traces of texture sampling: per-texel differences, sampler decodes, heatmaps.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "analyzer-gui", version)]
pub struct Args {
    /// Traces (.texeltrace), cases (case.toml), folders that are searched for them, or patterns.
    pub traces: Vec<PathBuf>,

    /// Opens a dispatch and selects a sample: DISPATCH or DISPATCH:X,Y,Z, where DISPATCH is a name or #NUMBER.
    #[arg(long, value_name = "DISPATCH:X,Y,Z")]
    pub goto: Option<Goto>,

    /// What computes the results: emulated or reference. Left out, as in the last session.
    #[arg(long)]
    pub path: Option<replayer::path::Path>,

    /// Whose rules are followed: gfx1035, h200 or exact. Left out, as in the last session.
    #[arg(long)]
    pub profile: Option<String>,

    /// What the heatmap shows. Left out, as in the last session.
    #[arg(long)]
    pub metric: Option<Metric>,

    /// Sets a descriptor field before evaluation, as S#.TRUNC_COORD=1. May be given several times.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,

    /// Starts with this colour scheme: dark or light.
    #[arg(long)]
    pub theme: Option<Theme>,

    /// Forgets layout, recent files and choices.
    #[arg(long)]
    pub fresh: bool,

    /// Width and height of the window in points.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1600x1000")]
    pub size: WindowSize,

    /// Writes a picture of the window to this PNG file once everything is shown, and ends.
    #[arg(long, value_name = "FILE")]
    pub screenshot: Option<PathBuf>,

    /// The pane that is brought to the front at the start, such as heatmap.
    #[arg(long, value_name = "PANE")]
    pub show: Vec<crate::ui::panes::Pane>,

    /// Shows the selected sample at high zoom at the start.
    #[arg(long)]
    pub close_up: bool,

    /// Pans and zooms for that many frames once everything is shown, prints frame times and ends.
    #[arg(long, value_name = "FRAMES", hide = true)]
    pub bench_frames: Option<usize>,
}

/// A colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Theme {
    /// Light text on dark.
    Dark,
    /// Dark text on light.
    Light,
}

/// Width and height of a window in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSize(pub [f32; 2]);

impl Default for WindowSize {
    fn default() -> Self {
        Self([1600.0, 1000.0])
    }
}

impl std::str::FromStr for WindowSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |part: &str| part.parse::<u16>().ok().filter(|n| *n >= 320).map(f32::from);
        text.split_once('x')
            .and_then(|(w, h)| Some(Self([parse(w)?, parse(h)?])))
            .ok_or_else(|| format!("{text:?} is no size, expected WIDTHxHEIGHT, each 320 to 65535"))
    }
}
