//! Pictures of results, differences and textures, a rectangle at a time and at any reduction.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use capture_format::{Dispatch, TexelFormat};
use egui::Color32;
use serde::{Deserialize, Serialize};

use super::{
    causes::Causes,
    colour::{self, Range},
    compare::{NAN_DISTANCE, Number, difference},
    navigate::Layout,
    number::{WordClass, value},
    outcome::Outcome,
    texture::Slice,
};

/// Which channels a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Channels {
    /// X, Y, Z as red, green, blue.
    Rgb,
    /// One channel, 0 to 3, in grey.
    Solo(u8),
}

impl Channels {
    /// Every choice.
    pub const ALL: [Self; 5] = [Self::Rgb, Self::Solo(0), Self::Solo(1), Self::Solo(2), Self::Solo(3)];

    /// The channels as bits.
    #[must_use]
    pub fn mask(self) -> u8 {
        match self {
            Self::Rgb => 0b111,
            Self::Solo(c) => 1 << c,
        }
    }

    /// The channels whose differences are shown, as bits: with X, Y and Z those of W as well, so that none is overlooked.
    #[must_use]
    pub fn compared(self) -> u8 {
        match self {
            Self::Rgb => 0b1111,
            Self::Solo(_) => self.mask(),
        }
    }

    /// The name on its button.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rgb => "RGB",
            Self::Solo(0) => "X",
            Self::Solo(1) => "Y",
            Self::Solo(2) => "Z",
            Self::Solo(_) => "W",
        }
    }
}

/// `rgb`, `x`, `y`, `z` or `w`, whatever the case.
impl std::str::FromStr for Channels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|channels| channels.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("{text:?} names no channels, expected rgb, x, y, z or w"))
    }
}

/// What a heatmap shows of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
pub enum Metric {
    /// Distance in ULPs, on a logarithmic scale.
    Ulp,
    /// |got − expected|.
    Absolute,
    /// got − expected.
    Signed,
    /// |got − expected| / |expected|.
    Relative,
    /// The cause, a colour for each.
    Cause,
}

impl Metric {
    /// Every metric.
    pub const ALL: [Self; 5] = [Self::Ulp, Self::Absolute, Self::Signed, Self::Relative, Self::Cause];

    /// Its name in the window.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ulp => "ULP",
            Self::Absolute => "|E|",
            Self::Signed => "signed",
            Self::Relative => "relative",
            Self::Cause => "cause",
        }
    }

    /// What it says.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Ulp => "Distance in units in the last place",
            Self::Absolute => "|got - expected|",
            Self::Signed => "got - expected",
            Self::Relative => "|got - expected| / |expected|",
            Self::Cause => "Which rule explains the difference",
        }
    }
}

/// Results of four words a sample.
#[derive(Clone)]
pub enum Plane {
    /// What a path returned.
    Got(Arc<Outcome>),
    /// What the oracle returned.
    Expected(Arc<Dispatch>),
}

impl Plane {
    /// Invocations in x, y, z.
    #[must_use]
    pub fn grid(&self) -> [u32; 3] {
        match self {
            Self::Got(outcome) => outcome.dispatch.grid,
            Self::Expected(dispatch) => dispatch.grid,
        }
    }

    /// The words of a sample, with bits 0 to 3 saying which of them there are.
    #[must_use]
    #[inline]
    pub fn sample(&self, index: usize) -> Option<([u32; 4], u8)> {
        match self {
            Self::Got(outcome) => {
                let words = outcome.words.as_ref()?.get(index * 4..index * 4 + 4)?;
                Some((words.try_into().ok()?, 0xf))
            }
            Self::Expected(dispatch) => {
                let expected = dispatch.expected.as_ref()?;
                Some((expected.sample(index)?, expected.measured_channels(index)))
            }
        }
    }
}

/// What is drawn.
#[derive(Clone)]
pub enum Content {
    /// Values of results, spread over a range.
    Values {
        /// The results.
        plane: Plane,
        /// The slice of the grid.
        z: u32,
    },
    /// |got − expected| in colour, where the range's high end is the brightest.
    Difference {
        /// Results and oracle.
        outcome: Arc<Outcome>,
        /// The slice of the grid.
        z: u32,
    },
    /// Sizes of differences as false colours; the range's high end is the largest.
    Heat {
        /// Results and oracle.
        outcome: Arc<Outcome>,
        /// The slice of the grid.
        z: u32,
        /// Which size.
        metric: Metric,
        /// The causes, for [`Metric::Cause`].
        causes: Option<Arc<Causes>>,
    },
    /// Texels of a level and slice.
    Texture {
        /// The dispatch whose texels they are.
        dispatch: Arc<Dispatch>,
        /// Where they are.
        slice: Slice,
        /// How they are unpacked.
        format: TexelFormat,
    },
}

/// A picture that can be drawn in parts.
#[derive(Clone)]
pub struct Picture {
    /// What is drawn.
    pub content: Content,
    /// How words are read.
    pub number: Number,
    /// Which channels.
    pub channels: Channels,
    /// The range of values.
    pub range: Range,
    /// Whether NaN, infinities and denormal numbers are marked.
    pub overlay: bool,
    /// Tells contents apart that have been read or computed at different times.
    pub serial: u64,
}

impl Picture {
    /// Width and height in samples or texels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        match &self.content {
            Content::Texture { slice, .. } => slice.size,
            _ => self.layout().size(),
        }
    }

    /// How samples are laid out; for textures of no meaning.
    #[must_use]
    fn layout(&self) -> Layout {
        Layout::of(match &self.content {
            Content::Values { plane, .. } => plane.grid(),
            Content::Difference { outcome, .. } | Content::Heat { outcome, .. } => outcome.dispatch.grid,
            Content::Texture { dispatch, .. } => dispatch.grid,
        })
    }

    /// A number that differs between pictures that look different.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        match &self.content {
            Content::Values { plane, z } => (0, matches!(plane, Plane::Got(_)), *z).hash(&mut hash),
            Content::Difference { z, .. } => (1, *z).hash(&mut hash),
            Content::Heat { z, metric, causes, .. } => (2, *z, *metric, causes.is_some()).hash(&mut hash),
            Content::Texture { slice, .. } => (3, slice.offset, slice.size).hash(&mut hash),
        }
        (self.serial, self.channels, self.range.low.to_bits(), self.range.high.to_bits(), self.overlay).hash(&mut hash);
        hash.finish()
    }

    /// What is written into a texel at high zoom, in lines of at most so many characters: a line a channel shown. Differences
    /// show ULPs, and nothing where there is none. Nothing at all when a line does not fit.
    #[must_use]
    pub fn labels(&self, x: u32, y: u32, most: usize) -> Vec<String> {
        self.fitting_labels(x, y, most).unwrap_or_default()
    }

    fn fitting_labels(&self, x: u32, y: u32, most: usize) -> Option<Vec<String>> {
        use super::number::{short, short_ulp};
        let lines = |mask: u8| (0..4usize).filter(move |c| mask >> c & 1 == 1);
        let shown = |mask: u8| lines(self.channels.mask() & mask);
        match &self.content {
            Content::Values { plane, z } => {
                let (words, mask) = plane.sample(self.layout().index(x, y, *z)?)?;
                shown(mask).map(|c| short(words[c], self.number, most)).collect()
            }
            Content::Texture { dispatch, slice, format } => {
                let words = format.unpack(*dispatch.texels.get(slice.index(x, y))?);
                let present = (1u8 << format.channels().len()).wrapping_sub(1);
                shown(present).map(|c| short(words[c], self.number, most)).collect()
            }
            Content::Difference { outcome, z } | Content::Heat { outcome, z, .. } => {
                let index = self.layout().index(x, y, *z)?;
                let found = outcome.difference(index)?;
                match &self.content {
                    Content::Heat { causes, metric: Metric::Cause, .. } => {
                        let group = causes.as_ref()?.group_of(index)?;
                        Some(vec![format!("#{}", group + 1)])
                    }
                    Content::Heat { metric, .. } if *metric != Metric::Ulp => {
                        let sized = outcome.sized(index, self.channels.compared())?;
                        let value = match metric {
                            Metric::Relative => sized.relative,
                            Metric::Absolute => sized.error.abs(),
                            _ => sized.error,
                        };
                        Some(vec![short((value as f32).to_bits(), Number::Float, most)?])
                    }
                    _ => {
                        let differs = lines(self.channels.compared() & found.channels);
                        differs.map(|c| short_ulp(found.distances[c], most)).collect()
                    }
                }
            }
        }
    }

    /// Draws `width` × `height` pixels, each standing for a block of `2^level` squared samples; the first block is at
    /// `origin`, counted in blocks. Blocks reach over the image's edge only as far as the image goes.
    #[must_use]
    pub fn draw(&self, level: u32, origin: [u32; 2], [width, height]: [u32; 2]) -> Vec<Color32> {
        let mut pixels = Vec::with_capacity(width as usize * height as usize);
        let layout = self.layout();
        for y in origin[1]..origin[1] + height {
            for x in origin[0]..origin[0] + width {
                pixels.push(self.block(layout, level, x, y));
            }
        }
        pixels
    }

    fn block(&self, layout: Layout, level: u32, x: u32, y: u32) -> Color32 {
        let [w, h] = self.size();
        let span = |at: u32, size: u32| {
            let start = (u64::from(at) << level).min(size.into()) as u32;
            start..(u64::from(at + 1) << level).min(size.into()) as u32
        };
        let (xs, ys) = (span(x, w), span(y, h));
        match &self.content {
            Content::Values { .. } | Content::Texture { .. } => {
                // Reduced values are the mean of at most 4 × 4 samples of the block; what is special among them wins.
                let step = (1u32 << level >> 2).max(1);
                let mut sum = [0.0f32; 3];
                let mut count = 0.0f32;
                let mut marked = None;
                for y in ys.step_by(step as usize) {
                    for x in xs.clone().step_by(step as usize) {
                        match self.light(layout, x, y) {
                            Light::Missing => {}
                            Light::Special(class) => marked = marked.max(Some(class as u8)),
                            Light::Rgb(rgb) => {
                                (0..3).for_each(|c| sum[c] += rgb[c]);
                                count += 1.0;
                            }
                        }
                    }
                }
                let special = [WordClass::Ordinary, WordClass::Denormal, WordClass::Infinity, WordClass::Nan];
                if let Some(mark) = marked.and_then(|m| colour::of_class(special[usize::from(m)])) {
                    return mark;
                }
                if count == 0.0 {
                    return colour::NOT_MEASURED[((x / 4 + y / 4) % 2) as usize];
                }
                let [r, g, b] = sum.map(|s| colour::srgb_byte_fast(s / count));
                Color32::from_rgb(r, g, b)
            }
            Content::Difference { outcome, z } | Content::Heat { outcome, z, .. } => {
                self.largest_difference(layout, outcome, *z, xs, ys)
            }
        }
    }

    fn light(&self, layout: Layout, x: u32, y: u32) -> Light {
        let (words, mask) = match &self.content {
            Content::Values { plane, z } => match layout.index(x, y, *z).and_then(|index| plane.sample(index)) {
                Some(sample) => sample,
                None => return Light::Missing,
            },
            Content::Texture { dispatch, slice, format } => match dispatch.texels.get(slice.index(x, y)) {
                Some(&word) => (format.unpack(word), 0xf),
                None => return Light::Missing,
            },
            Content::Difference { .. } | Content::Heat { .. } => return Light::Missing,
        };
        let shown = self.channels.mask() & mask;
        if shown == 0 {
            return Light::Missing;
        }
        if self.overlay && self.number == Number::Float {
            let class = |c: usize| if shown >> c & 1 == 1 { WordClass::of(words[c]) } else { WordClass::Ordinary };
            let gravest = (0..4).map(class).max_by_key(|class| *class as u8);
            if let Some(class) = gravest.filter(|class| *class != WordClass::Ordinary) {
                return Light::Special(class);
            }
        }
        let at = |c: usize| match self.number {
            Number::Float => self.range.position(f32::from_bits(words[c])),
            number => self.range.position(value(words[c], number) as f32),
        };
        Light::Rgb(match self.channels {
            Channels::Rgb => std::array::from_fn(|c| if shown >> c & 1 == 1 { at(c) } else { 0.0 }),
            Channels::Solo(c) => [at(usize::from(c)); 3],
        })
    }

    fn largest_difference(
        &self,
        layout: Layout,
        outcome: &Outcome,
        z: u32,
        xs: std::ops::Range<u32>,
        ys: std::ops::Range<u32>,
    ) -> Color32 {
        let (Some(words), Some(expected)) = (&outcome.words, &outcome.dispatch.expected) else {
            return colour::NOT_MEASURED[0];
        };
        let Some(comparison) = &outcome.comparison else { return colour::NOT_MEASURED[0] };
        let shown = self.channels.compared();
        let mut largest: Option<(Sized, usize)> = None;
        for y in ys.clone() {
            // Samples of a row of the image follow each other.
            let Some(row) = layout.index(xs.start, y, z) else { continue };
            let mut rest = row..row + xs.len();
            while let Some(index) = comparison.mismatches.first_in(rest.clone()) {
                rest.start = index + 1;
                let mask = expected.measured_channels(index) & shown;
                let (Some(got), Some(wanted)) = (words.get(index * 4..index * 4 + 4), expected.sample(index)) else {
                    continue;
                };
                let got: [u32; 4] = std::array::from_fn(|c| got[c]);
                if let Some(found) = Sized::of(got, wanted, mask, self.number)
                    && largest.as_ref().is_none_or(|(l, _)| found.sort_key() > l.sort_key())
                {
                    largest = Some((found, index));
                }
            }
        }
        match largest {
            Some((found, index)) => self.colour_of(&found, index),
            None => {
                let first = layout.index(xs.start, ys.start, z);
                if first.is_none_or(|first| expected.measured_channels(first) & shown == 0) {
                    colour::NOT_MEASURED[((xs.start / 4 + ys.start / 4) % 2) as usize]
                } else {
                    colour::AGREES
                }
            }
        }
    }

    fn colour_of(&self, found: &Sized, index: usize) -> Color32 {
        if let Content::Heat { metric: Metric::Cause, causes, .. } = &self.content {
            return colour::cause(causes.as_ref().and_then(|causes| causes.group_of(index)));
        }
        if found.ulp == NAN_DISTANCE && self.number == Number::Float {
            return colour::NAN_AGAINST_NUMBER;
        }
        let most = f64::from(self.range.high);
        match &self.content {
            Content::Heat { metric: Metric::Ulp, .. } => colour::heat(colour::log_position(found.ulp.into(), most)),
            Content::Heat { metric: Metric::Absolute, .. } => colour::heat((found.error.abs() / most) as f32),
            Content::Heat { metric: Metric::Signed, .. } => colour::signed((found.error / most) as f32),
            Content::Heat { metric: Metric::Relative, .. } => colour::heat((found.relative / most) as f32),
            _ => {
                // A difference too small for its range still shows, so that no differing texel looks equal.
                let bytes = found.errors.map(|e| colour::srgb_byte_fast((e / most) as f32));
                let [r, g, b] = match self.channels {
                    Channels::Rgb => [bytes[0], bytes[1], bytes[2]],
                    Channels::Solo(c) => [bytes[usize::from(c)]; 3],
                };
                Color32::from_rgb(r.max(36), g.max(36), b.max(36))
            }
        }
    }
}

/// What a sample gives to a picture of values.
enum Light {
    Missing,
    Special(WordClass),
    Rgb([f32; 3]),
}

/// The sizes of one sample's difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sized {
    /// The largest distance in ULPs, or of integers.
    pub ulp: u32,
    /// got − expected of the channel with the largest |got − expected|.
    pub error: f64,
    /// The largest |got − expected| / |expected|.
    pub relative: f64,
    /// |got − expected| a channel.
    pub errors: [f64; 4],
}

impl Sized {
    /// Sizes the difference of a sample over the channels in `mask`; `None` when they agree.
    #[must_use]
    pub fn of(got: [u32; 4], expected: [u32; 4], mask: u8, number: Number) -> Option<Self> {
        let found = difference(got, expected, mask, number)?;
        let mut sized = Self { ulp: found.ulp(), error: 0.0, relative: 0.0, errors: [0.0; 4] };
        for c in (0..4).filter(|c| found.channels >> c & 1 == 1) {
            let (g, e) = (value(got[c], number), value(expected[c], number));
            let error = g - e;
            // An infinity less itself is NaN, but equal words do not come here; a NaN counts as infinitely far.
            let size = if error.is_nan() { f64::INFINITY } else { error.abs() };
            sized.errors[c] = size;
            if size >= sized.error.abs() {
                sized.error = if error.is_nan() { f64::INFINITY } else { error };
            }
            let relative = if e == 0.0 { if size == 0.0 { 0.0 } else { f64::INFINITY } } else { size / e.abs() };
            sized.relative = sized.relative.max(if relative.is_nan() { f64::INFINITY } else { relative });
        }
        Some(sized)
    }

    fn sort_key(&self) -> (u32, u64) {
        (self.ulp, self.error.abs().to_bits())
    }
}

#[cfg(test)]
mod tests {
    use capture_format::{Column, Coords, Expected, Op, Words};

    use super::{
        super::{
            compare::{Operands, compare, options},
            outcome::Summary,
        },
        *,
    };

    /// Results whose X counts up, against an oracle that differs in one sample.
    fn outcome(size: u32, differs: usize) -> Arc<Outcome> {
        let samples = (size * size) as usize;
        let words: Vec<u32> = (0..samples).flat_map(|i| [(i as f32).to_bits(), 0, 0, 0x3f80_0000]).collect();
        let mut expected = words.clone();
        expected[differs * 4] += 16;
        let dispatch = Dispatch {
            name: "d".to_owned(),
            op: Op::SAMPLE_LZ,
            grid: [size, size, 1],
            image: [0; 8],
            sampler: None,
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: Words::default(),
            coords: Coords { columns: vec![Column::U], words: Words::default() },
            expected: Some(Expected { words: expected.clone().into(), measured: None }),
        };
        let operands = Operands { grid: dispatch.grid, got: &words, expected: &expected, measured: None };
        let comparison = compare(&operands, &options(Number::Float)).unwrap();
        Arc::new(Outcome {
            dispatch: Arc::new(dispatch),
            words: Some(Arc::new(words)),
            number: Number::Float,
            summary: Summary::of(samples as u64, Some(&comparison)),
            comparison: Some(comparison),
            sizes: Default::default(),
            stats: None,
            executor: None,
            elapsed: std::time::Duration::ZERO,
        })
    }

    fn picture(content: Content, high: f32) -> Picture {
        let range = Range { low: 0.0, high };
        Picture { content, number: Number::Float, channels: Channels::Solo(0), range, overlay: true, serial: 1 }
    }

    #[test]
    fn a_single_differing_sample_shows_at_every_reduction() {
        let (size, differs) = (64u32, 37 * 64 + 21);
        let outcome = outcome(size, differs);
        for metric in Metric::ALL {
            let picture = picture(Content::Heat { outcome: outcome.clone(), z: 0, metric, causes: None }, 16.0);
            for level in 0..=6 {
                let blocks = size >> level;
                let pixels = picture.draw(level, [0, 0], [blocks, blocks]);
                let shown: Vec<usize> = (0..pixels.len()).filter(|&i| pixels[i] != colour::AGREES).collect();
                let at = (37 >> level) * blocks as usize + (21 >> level);
                assert_eq!(shown, [at], "{metric:?} at level {level}");
            }
        }
        let picture = picture(Content::Difference { outcome, z: 0 }, 1e30);
        let pixels = picture.draw(3, [0, 0], [8, 8]);
        assert_eq!(pixels.iter().filter(|&&p| p != colour::AGREES).count(), 1, "tiny differences show as well");
    }

    #[test]
    fn values_are_spread_over_the_range_and_reduced_by_their_mean() {
        let outcome = outcome(4, 0);
        let picture = picture(Content::Values { plane: Plane::Got(outcome), z: 0 }, 15.0);
        let pixels = picture.draw(0, [0, 0], [4, 4]);
        assert_eq!((pixels[0], pixels[15]), (Color32::BLACK, Color32::WHITE));
        let grey = colour::srgb_byte_fast(0.5);
        assert_eq!(picture.draw(2, [0, 0], [1, 1]), [Color32::from_rgb(grey, grey, grey)]);
        assert_eq!(picture.draw(0, [3, 3], [1, 1]), [Color32::WHITE]);
    }

    #[test]
    fn pictures_that_look_different_have_different_fingerprints() {
        let outcome = outcome(4, 0);
        let values = picture(Content::Values { plane: Plane::Got(outcome.clone()), z: 0 }, 1.0);
        let mut all = vec![values.clone()];
        all.push(Picture { channels: Channels::Rgb, ..values.clone() });
        all.push(Picture { range: Range { low: 0.0, high: 2.0 }, ..values.clone() });
        all.push(Picture { overlay: false, ..values.clone() });
        all.push(Picture { serial: 2, ..values.clone() });
        all.push(picture(Content::Difference { outcome: outcome.clone(), z: 0 }, 1.0));
        all.push(picture(Content::Heat { outcome: outcome.clone(), z: 0, metric: Metric::Ulp, causes: None }, 1.0));
        all.push(picture(Content::Heat { outcome: outcome.clone(), z: 1, metric: Metric::Ulp, causes: None }, 1.0));
        let mut prints: Vec<u64> = all.iter().map(Picture::fingerprint).collect();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), all.len());
    }

    #[test]
    fn sizes_of_differences() {
        let f = f32::to_bits;
        let of = |got: f32, expected: f32| Sized::of([f(got), 0, 0, 0], [f(expected), 0, 0, 0], 1, Number::Float);
        assert_eq!(of(1.0, 1.0), None);
        let down = of(1.0, 2.0).unwrap();
        assert_eq!((down.ulp, down.error, down.relative), (0x80_0000, -1.0, 0.5));
        assert_eq!(of(f32::NAN, 2.0).unwrap().ulp, NAN_DISTANCE);
        assert_eq!(of(1.0, 0.0).unwrap().relative, f64::INFINITY);
        assert_eq!(of(f32::INFINITY, 1.0).unwrap().error, f64::INFINITY);
    }
}
