//! Small pictures of a result, of what it is held against, and of where and how much they differ.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::compare::{Comparison, Difference, DifferenceKind, NAN_DISTANCE, Operands, Options, is_nan};

/// Longest side of a picture. Larger results are shown by every n-th sample, their heatmap by the worst of n×n.
const MAX_SIDE: usize = 512;
/// Width to which one long row is folded.
const FOLD: usize = 256;

/// Pictures of one dispatch, as PNG files in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureSet {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Samples a pixel stands for, along each side.
    pub step: u32,
    /// What the result is held against.
    pub expected: String,
    /// The result.
    pub got: String,
    /// Where they differ, by ULPs; `None` when they don't.
    pub heatmap: Option<String>,
}

/// The colour of samples that agree.
const SAME: [u8; 4] = [0x1b, 0x22, 0x2b, 0xff];
/// The colour of a NaN, and of a NaN against a number.
const NAN: [u8; 4] = [0xff, 0x00, 0xff, 0xff];
/// The colour of a difference in the sign of zero only.
const ZERO: [u8; 4] = [0x3d, 0xd6, 0xe0, 0xff];
/// The colour of an infinity.
const INFINITE: [u8; 4] = [0xff, 0xd4, 0x00, 0xff];
/// Colours of differences of 1, 2^6, 2^12, 2^18 and 2^24 ULPs and more.
const RAMP: [[u8; 3]; 5] =
    [[0x2c, 0x5f, 0xb8], [0x35, 0xa8, 0x85], [0xd8, 0xc7, 0x3a], [0xf0, 0x8a, 0x24], [0xe5, 0x2b, 0x2b]];

/// The colour of a difference in a heatmap.
#[must_use]
pub fn heat(difference: &Difference) -> [u8; 4] {
    match (difference.kind, difference.ulp()) {
        (DifferenceKind::Nan | DifferenceKind::NanPayload, _) | (_, NAN_DISTANCE) => NAN,
        (DifferenceKind::SignOfZero, _) => ZERO,
        (DifferenceKind::Value, ulp) => {
            let at = f64::from(ulp.max(1)).log2().min(23.999) / 6.0;
            let (from, part) = (at.floor(), at.fract());
            let (low, high) = (RAMP[from as usize], RAMP[from as usize + 1]);
            let mix = |c: usize| (f64::from(low[c]) + (f64::from(high[c]) - f64::from(low[c])) * part).round() as u8;
            [mix(0), mix(1), mix(2), 0xff]
        }
    }
}

/// Draws a comparison. `None` when there is no sample. Slices stand below each other.
pub(crate) fn draw(operands: &Operands<'_>, comparison: &Comparison) -> Option<PictureSet> {
    let layout = Layout::of(operands.grid)?;
    let channels = measured_channels(operands);
    let range = Range::of(operands, channels);
    let image =
        |words: &[u32]| layout.pixels(|sample| sample_of(words, sample).map_or([0; 4], |w| range.color(w, channels)));
    let options = Options::default();
    let difference = |index: usize| {
        let (got, expected) = (sample_of(operands.got, index)?, sample_of(operands.expected, index)?);
        let mask = operands.measured.map_or(Some(0xf), |m| m.get(index).copied())?;
        Difference::of(index as u64, operands.grid, got, expected, mask, &options)
    };
    let heatmap = || {
        layout.boxes(|samples| {
            let worst = samples
                .filter(|&i| comparison.mismatches.contains(i))
                .filter_map(difference)
                .max_by_key(|d| (d.kind == DifferenceKind::Nan, d.ulp()));
            worst.map_or(SAME, |d| heat(&d))
        })
    };
    Some(PictureSet {
        width: u32::try_from(layout.width).ok()?,
        height: u32::try_from(layout.height).ok()?,
        step: u32::try_from(layout.step).ok()?,
        expected: layout.encode(&image(operands.expected))?,
        got: layout.encode(&image(operands.got))?,
        heatmap: if comparison.is_match() { None } else { Some(layout.encode(&heatmap())?) },
    })
}

fn sample_of(words: &[u32], index: usize) -> Option<[u32; 4]> {
    words.get(index * 4..index * 4 + 4)?.try_into().ok()
}

/// Channels that were measured in any sample.
fn measured_channels(operands: &Operands<'_>) -> u8 {
    operands.measured.map_or(0xf, |m| m.iter().fold(0, |any, &mask| any | mask))
}

/// How samples become pixels.
struct Layout {
    /// Samples in a row, and rows.
    columns: usize,
    rows: usize,
    samples: usize,
    step: usize,
    width: usize,
    height: usize,
}

impl Layout {
    fn of(grid: [u32; 3]) -> Option<Self> {
        let [x, y, z] = grid.map(|d| d as usize);
        let samples = x.checked_mul(y)?.checked_mul(z)?;
        if samples == 0 {
            return None;
        }
        let columns = if y * z == 1 && x > FOLD { FOLD } else { x };
        let rows = samples.div_ceil(columns);
        let step = columns.max(rows).div_ceil(MAX_SIDE);
        Some(Self { columns, rows, samples, step, width: columns.div_ceil(step), height: rows.div_ceil(step) })
    }

    /// One pixel for every `step`-th sample.
    fn pixels(&self, color: impl Fn(usize) -> [u8; 4]) -> Vec<u8> {
        self.boxes(|samples| samples.next().map_or([0; 4], &color))
    }

    /// One pixel for each box of `step`×`step` samples.
    fn boxes(&self, color: impl Fn(&mut dyn Iterator<Item = usize>) -> [u8; 4]) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(self.width * self.height * 4);
        for y in 0..self.height {
            for x in 0..self.width {
                let rows = y * self.step..((y + 1) * self.step).min(self.rows);
                let columns = x * self.step..((x + 1) * self.step).min(self.columns);
                let mut samples = rows
                    .flat_map(|row| columns.clone().map(move |column| row * self.columns + column))
                    .filter(|&index| index < self.samples);
                pixels.extend_from_slice(&color(&mut samples));
            }
        }
        pixels
    }

    fn encode(&self, pixels: &[u8]) -> Option<String> {
        let mut file = Vec::new();
        let mut encoder =
            png::Encoder::new(&mut file, u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(pixels).ok()?;
        writer.finish().ok()?;
        Some(STANDARD.encode(&file))
    }
}

/// The values that are drawn from black to white.
struct Range {
    low: f32,
    high: f32,
}

impl Range {
    /// From the 1st to the 99th percentile of the finite values of both sides, so that one outlier does not turn the rest
    /// black, and both pictures use one scale.
    fn of(operands: &Operands<'_>, channels: u8) -> Self {
        // A sample of the values is enough for a percentile.
        let stride = (operands.got.len() / 4).div_ceil(1 << 16).max(1);
        let mut values: Vec<f32> = [operands.got, operands.expected]
            .into_iter()
            .flat_map(|words| words.as_chunks::<4>().0.iter().step_by(stride))
            .flat_map(|sample| (0..3).filter(|c| channels >> c & 1 == 1).map(|c| f32::from_bits(sample[c])))
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f32::total_cmp);
        let at = |part: usize| values.get((values.len().saturating_sub(1)) * part / 100).copied().unwrap_or(0.0);
        Self { low: at(1).min(0.0), high: at(99) }
    }

    fn color(&self, sample: [u32; 4], channels: u8) -> [u8; 4] {
        let shown = |c: usize| channels >> c & 1 == 1;
        if (0..4).any(|c| shown(c) && is_nan(sample[c])) {
            return NAN;
        }
        if (0..4).any(|c| shown(c) && f32::from_bits(sample[c]).is_infinite()) {
            return INFINITE;
        }
        let level = |c: usize| {
            let width = self.high - self.low;
            let part = if width > 0.0 { (f32::from_bits(sample[c]) - self.low) / width } else { 0.0 };
            // From linear to display, roughly: small values stay visible.
            (part.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0).round() as u8
        };
        match channels & 0xf {
            // A single measured channel is shown in grey.
            one @ (1 | 2 | 4 | 8) => {
                let grey = level(one.trailing_zeros() as usize);
                [grey, grey, grey, 0xff]
            }
            _ => {
                let rgb = |c| if shown(c) { level(c) } else { 0 };
                [rgb(0), rgb(1), rgb(2), 0xff]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;

    fn decode(picture: &str) -> (u32, u32, Vec<u8>) {
        let file = STANDARD.decode(picture).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, pixels)
    }

    fn pictures(grid: [u32; 3], got: &[u32], expected: &[u32]) -> PictureSet {
        let operands = Operands { grid, got, expected, measured: None };
        draw(&operands, &compare(&operands, &Options::default()).unwrap()).unwrap()
    }

    #[test]
    fn a_heatmap_marks_the_samples_that_differ() {
        let expected = [0u32; 4 * 6];
        let mut got = expected;
        got[4] = 1;
        got[2 * 4 + 1] = 0x7fc0_0000;
        got[5 * 4 + 3] = 0x8000_0000;
        let set = pictures([3, 2, 1], &got, &expected);
        let (width, height, pixels) = decode(set.heatmap.as_ref().unwrap());
        assert_eq!((width, height), (3, 2));
        let [r, g, b] = RAMP[0];
        assert_eq!(pixels.as_chunks::<4>().0, [SAME, [r, g, b, 0xff], NAN, SAME, SAME, ZERO]);
    }

    #[test]
    fn long_rows_fold_and_large_results_shrink_without_losing_a_difference() {
        let row = pictures([1000, 1, 1], &[0; 4000], &[0; 4000]);
        assert_eq!((row.width, row.height, row.step, row.heatmap), (256, 4, 1, None));

        let samples = 1100 * 600;
        let expected = vec![0x3f80_0000; samples * 4];
        let mut got = expected.clone();
        got[(599 * 1100 + 1099) * 4] ^= 1;
        let large = pictures([1100, 600, 1], &got, &expected);
        let (width, height, pixels) = decode(large.heatmap.as_ref().unwrap());
        assert_eq!((width, height, large.step), (367, 200, 3));
        let marked: Vec<_> =
            pixels.as_chunks::<4>().0.iter().enumerate().filter(|(_, p)| **p != SAME).map(|(i, _)| i).collect();
        assert_eq!(marked, [367 * 200 - 1]);
    }

    #[test]
    fn the_ramp_covers_every_distance() {
        for ulp in [0, 1, 2, 63, 64, 1 << 12, 1 << 23, 1 << 24, 0xff00_0000] {
            let difference = Difference {
                index: 0,
                position: [0; 3],
                channels: 1,
                got: [0; 4],
                expected: [0; 4],
                distances: [ulp, 0, 0, 0],
                kind: DifferenceKind::Value,
            };
            assert_eq!(heat(&difference)[3], 0xff);
        }
    }
}
