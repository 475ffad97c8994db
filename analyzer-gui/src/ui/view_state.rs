//! How images are shown: zoom, channels, ranges, modes. Shared by all views of a dispatch.

use std::{fmt, str::FromStr, sync::Arc};

use crate::model::{
    causes::Known,
    colour::Range,
    compare::largest_number_distance,
    raster::{Channels, Content, Metric, Picture, Plane},
    session::{Session, Shown},
    stats::Stats,
    viewport::Viewport,
    worker::DispatchId,
};

/// How the range of values is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeMode {
    /// Between two percentiles of the finite values.
    Percentile(f64, f64),
    /// As set by hand.
    Manual(Range),
}

impl RangeMode {
    /// Names of the choices in the window, with what they stand for.
    pub const PRESETS: [(&'static str, Self); 3] = [
        ("1% to 99%", Self::Percentile(1.0, 99.0)),
        ("0.1% to 99.9%", Self::Percentile(0.1, 99.9)),
        ("smallest to largest", Self::Percentile(0.0, 100.0)),
    ];

    /// Its name in the window.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Manual(_) => "by hand".to_owned(),
            mode => match Self::PRESETS.iter().find(|(_, preset)| *preset == mode) {
                Some((name, _)) => (*name).to_owned(),
                None => mode.to_string(),
            },
        }
    }
}

/// `LOW..HIGH`, in values or with `%` in percentiles.
impl fmt::Display for RangeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(low, high) => write!(f, "{low}%..{high}%"),
            Self::Manual(Range { low, high }) => write!(f, "{low}..{high}"),
        }
    }
}

/// As it is displayed.
///
/// ```
/// use analyzer_gui::{model::colour::Range, ui::view_state::RangeMode};
/// assert_eq!("0.1%..99.9%".parse(), Ok(RangeMode::Percentile(0.1, 99.9)));
/// assert_eq!("-1..2.5".parse(), Ok(RangeMode::Manual(Range { low: -1.0, high: 2.5 })));
/// assert!("2..1".parse::<RangeMode>().is_err());
/// ```
impl FromStr for RangeMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (low, high) = text.split_once("..")?;
            match (low.strip_suffix('%'), high.strip_suffix('%')) {
                (Some(low), Some(high)) => {
                    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                    (0.0 <= low && low < high && high <= 100.0).then_some(Self::Percentile(low, high))
                }
                (None, None) => {
                    let (low, high): (f32, f32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                    (low.is_finite() && high.is_finite() && low < high).then_some(Self::Manual(Range { low, high }))
                }
                _ => None,
            }
        };
        parse()
            .ok_or_else(|| format!("{text:?} is no range, expected LOW..HIGH with LOW below HIGH, as 0..1 or 1%..99%"))
    }
}

/// Which images a view can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    /// What the oracle returned.
    Oracle,
    /// What the path returned.
    Result,
    /// |got − expected| in colour.
    Difference,
    /// The size of the difference in false colours.
    Heatmap,
}

/// How images are shown.
pub struct ViewState {
    /// Zoom and pan of the dispatch's images.
    pub viewport: Viewport,
    /// Zoom and pan of the texture.
    pub texture_viewport: Viewport,
    /// Channels as chosen by the user; `None`: RGB, or the first measured one.
    pub channels: Option<Channels>,
    /// Channels of the texture.
    pub texture_channels: Channels,
    /// Range of results and oracle.
    pub range: RangeMode,
    /// Range of the texture.
    pub texture_range: RangeMode,
    /// Level and slice of the texture.
    pub texture_at: [u32; 2],
    /// The oracle is shown in place of the result as long as the key is held.
    pub oracle_held: bool,
    /// Oracle and result alternate.
    pub blink: bool,
    /// The oracle is shown left of this part of the result's view.
    pub split: Option<f32>,
    /// What is under the pointer in the dispatch's images.
    pub hovered: Option<[u32; 2]>,
    /// A sample that is to be brought into sight.
    pub reveal: Option<[u32; 2]>,
    texture_reveal: Option<[u32; 2]>,
    dispatch: Option<(DispatchId, usize)>,
    automatic_channels: Channels,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            viewport: Viewport::default(),
            texture_viewport: Viewport::default(),
            channels: None,
            texture_channels: Channels::Rgb,
            range: RangeMode::PRESETS[0].1,
            texture_range: RangeMode::PRESETS[0].1,
            texture_at: [0, 0],
            oracle_held: false,
            blink: false,
            split: None,
            hovered: None,
            reveal: None,
            texture_reveal: None,
            dispatch: None,
            automatic_channels: Channels::Rgb,
        }
    }
}

impl ViewState {
    /// Adapts to another dispatch, or another output of it: the whole of it is shown.
    pub fn follow(&mut self, session: &Session) {
        let Some(shown) = session.shown() else { return };
        let output = session.output();
        if self.dispatch == Some((shown.id, output)) {
            return;
        }
        let is_other = self.dispatch.is_none_or(|(id, _)| id != shown.id);
        self.dispatch = Some((shown.id, output));
        self.viewport.fit();
        self.hovered = None;
        if is_other {
            self.texture_viewport.fit();
            self.texture_at = [0, 0];
        }
        self.automatic_channels = automatic_channels(shown);
    }

    /// Brings a texel of the texture into sight in the next frame.
    pub fn texture_reveal(&mut self, texel: [u32; 2]) {
        self.texture_reveal = Some(texel);
    }

    /// The texel of the texture that is to be brought into sight, once.
    pub fn take_texture_reveal(&mut self) -> Option<[u32; 2]> {
        self.texture_reveal.take()
    }

    /// The channels that are shown.
    #[must_use]
    pub fn channels(&self) -> Channels {
        self.channels.unwrap_or(self.automatic_channels)
    }

    /// The range of the results' values.
    #[must_use]
    pub fn value_range(&self, stats: Option<&Stats>) -> Range {
        resolve(self.range, stats, self.channels().mask())
    }

    /// The range of the texels' values.
    #[must_use]
    pub fn texel_range(&self, stats: &Stats) -> Range {
        resolve(self.texture_range, Some(stats), self.texture_channels.mask())
    }

    /// Whether the result's view shows the oracle at this time.
    #[must_use]
    pub fn shows_oracle(&self, seconds: f64) -> bool {
        self.oracle_held || self.blink && seconds.rem_euclid(1.0) >= 0.5
    }

    /// The picture of a view, or why there is none.
    ///
    /// # Errors
    /// A short text for the empty view.
    pub fn picture(
        &self,
        session: &Session,
        kind: ViewKind,
        metric: Metric,
        overlay: bool,
    ) -> Result<Arc<Picture>, &'static str> {
        let shown = session.shown().ok_or("nothing is shown")?;
        let z = session.slice();
        let outcome = session.outcome();
        let compared = outcome.filter(|(outcome, _)| outcome.comparison.is_some());
        let stats = shown.stats.as_deref().or(outcome.and_then(|(outcome, _)| outcome.stats.as_deref()));
        let values = self.value_range(stats);
        let missing = if session.progress().is_some() { "evaluating…" } else { "no results" };
        let (content, range, serial) = match kind {
            ViewKind::Oracle => {
                if shown.dispatch.expected.is_none() {
                    let is_compute = shown.compute.is_some();
                    return Err(if is_compute { "no contents were recorded" } else { "the dispatch has no oracle" });
                }
                (Content::Values { plane: Plane::Expected(shown.dispatch.clone()), z }, values, shown.serial)
            }
            ViewKind::Result => {
                let (outcome, serial) = outcome.filter(|(outcome, _)| outcome.words.is_some()).ok_or(missing)?;
                (Content::Values { plane: Plane::Got(outcome.clone()), z }, values, serial)
            }
            ViewKind::Difference => {
                let (outcome, serial) = compared.ok_or(missing)?;
                let high = most(outcome.sizes.absolute);
                (Content::Difference { outcome: outcome.clone(), z }, Range { low: 0.0, high }, serial)
            }
            ViewKind::Heatmap => {
                let (outcome, serial) = compared.ok_or(missing)?;
                let high = match metric {
                    Metric::Ulp => outcome.comparison.as_ref().map_or(0, largest_number_distance) as f32,
                    Metric::Absolute | Metric::Signed => most(outcome.sizes.absolute),
                    Metric::Relative => most(outcome.sizes.relative),
                    Metric::Cause => 1.0,
                };
                let causes = match (metric, session.causes()) {
                    (Metric::Cause, Known::Found(causes)) => Some(causes),
                    (Metric::Cause, Known::Searching) => return Err("looking for causes…"),
                    (Metric::Cause, Known::NotAsked(_)) => {
                        return Err("causes were not looked for; see the tile Causes");
                    }
                    (Metric::Cause, Known::Failed(_)) => {
                        return Err("causes could not be looked for; see the tile Causes");
                    }
                    _ => None,
                };
                (Content::Heat { outcome: outcome.clone(), z, metric, causes }, Range { low: 0.0, high }, serial)
            }
        };
        Ok(Arc::new(Picture { content, number: shown.number, channels: self.channels(), range, overlay, serial }))
    }

    /// The picture of the texture, or why there is none.
    ///
    /// # Errors
    /// Text for the empty view.
    pub fn texture_picture(&self, session: &Session, overlay: bool) -> Result<Arc<Picture>, String> {
        let shown = session.shown().ok_or("nothing is shown")?;
        let texture = shown.texture.as_ref().map_err(Clone::clone)?;
        let [level, slice] = self.texture_at;
        let slice = texture.slice(level, slice).ok_or("the texture has no such level or slice")?;
        let content = Content::Texture { dispatch: texture.dispatch.clone(), slice, format: texture.state.format };
        Ok(Arc::new(Picture {
            content,
            number: texture.number,
            channels: self.texture_channels,
            range: self.texel_range(&texture.stats),
            overlay,
            serial: shown.serial,
        }))
    }
}

fn most(size: f64) -> f32 {
    if size > 0.0 { size as f32 } else { 1.0 }
}

fn resolve(mode: RangeMode, stats: Option<&Stats>, channels: u8) -> Range {
    match mode {
        RangeMode::Manual(range) => range,
        RangeMode::Percentile(low, high) => {
            let found = stats.and_then(|stats| stats.range(channels, low, high));
            let [low, high] = found.unwrap_or([0.0, 1.0]);
            // One value alone is shown against zero, or one.
            if low < high {
                Range { low, high }
            } else if high > 0.0 {
                Range { low: 0.0, high }
            } else {
                Range { low, high: low + 1.0 }
            }
        }
    }
}

/// RGB, or the first channel that was measured when X, Y and Z were not all.
fn automatic_channels(shown: &Shown) -> Channels {
    let Some(expected) = &shown.recorded.expected else { return Channels::Rgb };
    let looked_at = shown.recorded.sample_count().min(4096) as usize;
    let measured = (0..looked_at).fold(0, |mask, index| mask | expected.measured_channels(index));
    let single = matches!(shown.recorded.op.kind, capture_format::OpKind::Gather4);
    if measured & 0b111 == 0b111 && !single || measured == 0 {
        Channels::Rgb
    } else {
        Channels::Solo(measured.trailing_zeros() as u8)
    }
}
