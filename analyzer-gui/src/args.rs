//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::{
    model::{
        choice::ExecutorChoice,
        goto::Goto,
        raster::{Channels, Metric},
        viewport::Viewport,
    },
    ui::view_state::RangeMode,
};

/// Shows traces of texture sampling: per-texel differences, sampler decodes, heatmaps.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "analyzer-gui", version)]
pub struct Args {
    /// Traces (.texeltrace), cases (case.toml), folders that are searched for them, or patterns.
    pub traces: Vec<PathBuf>,

    /// Opens a dispatch and selects a sample: DISPATCH or DISPATCH:X,Y,Z, where DISPATCH is a name or #NUMBER.
    #[arg(long, value_name = "DISPATCH:X,Y,Z")]
    pub goto: Option<Goto>,

    /// What computes the results: emulated, reference, as-submitted or native. Left out, as in the last session.
    /// Compute dispatches are run by their own SPIR-V, whatever is chosen.
    #[arg(long)]
    pub path: Option<replayer::path::Path>,

    /// Shows this output of the compute dispatch, by its number (from 0). Left out, the first that differs.
    #[arg(long, value_name = "N")]
    pub output: Option<usize>,

    /// What runs SPIR-V: auto, embedded, or a Vulkan device by its name. Left out, as in the last session.
    #[arg(long)]
    pub executor: Option<ExecutorChoice>,

    /// Refuses rules that rest on inference alone.
    #[arg(long)]
    pub strict: bool,

    /// Whose rules are followed: gfx1035, h200, exact or lavapipe. Left out, as in the last session.
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

    /// The pane that takes the room of all at the start.
    #[arg(long, value_name = "PANE")]
    pub maximise: Option<crate::ui::panes::Pane>,

    /// Shows the selected sample at high zoom at the start.
    #[arg(long)]
    pub close_up: bool,

    /// The channels that are shown at the start.
    #[arg(long, value_name = "rgb|x|y|z|w")]
    pub channels: Option<Channels>,

    /// The range of values that is shown at the start, such as 0..1 or 1%..99%.
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub range: Option<RangeMode>,

    /// The slice of the grid that is shown at the start.
    #[arg(long)]
    pub slice: Option<u32>,

    /// Where the images are and how large: the sample in the middle, and points of the window a sample.
    #[arg(long, value_name = "X,Y@ZOOM", allow_hyphen_values = true)]
    pub at: Option<Viewport>,

    /// As --at, of the source texture: the texel in the middle, and points of the window a texel.
    #[arg(long, value_name = "X,Y@ZOOM", allow_hyphen_values = true)]
    pub texture_at: Option<Viewport>,

    /// The level and slice of the source texture that are shown at the start.
    #[arg(long, value_name = "LEVEL,SLICE")]
    pub texture: Option<TextureAt>,

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

/// A level and a slice of the source texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureAt(pub [u32; 2]);

impl std::str::FromStr for TextureAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.split_once(',')
            .and_then(|(level, slice)| Some(Self([level.trim().parse().ok()?, slice.trim().parse().ok()?])))
            .ok_or_else(|| format!("{text:?} is no place, expected LEVEL,SLICE"))
    }
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
