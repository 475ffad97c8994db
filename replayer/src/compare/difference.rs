//! One differing sample.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{NAN_DISTANCE, Number, Options, is_nan, ulp_distance};

/// In what way a sample differs. Where its channels differ in several ways, the last of these that occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Two NaNs with different sign or payload; only when payloads are compared.
    NanPayload,
    /// +0 against −0.
    SignOfZero,
    /// Two different numbers.
    Value,
    /// A NaN against a number.
    Nan,
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NanPayload => "NaN payload",
            Self::SignOfZero => "sign of zero",
            Self::Value => "value",
            Self::Nan => "NaN against number",
        })
    }
}

/// One sample that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Number of the sample: x fastest, then y, then z.
    pub index: u64,
    /// The invocation, x, y, z.
    pub position: [u32; 3],
    /// Which of X, Y, Z, W differ, in bits 0 to 3. Channels that were not measured never do.
    pub channels: u8,
    /// The words of the path under test.
    pub got: [u32; 4],
    /// The words it is held against.
    pub expected: [u32; 4],
    /// Distance a channel: ULPs in FP32 ([`ulp_distance`]) or the difference of two integers; 0 where the channel does not
    /// differ, and for the sign of zero; [`NAN_DISTANCE`] for a NaN against a number.
    pub distances: [u32; 4],
    /// In what way the sample differs.
    pub kind: DifferenceKind,
}

impl Difference {
    /// The largest distance of the channels that differ.
    #[must_use]
    pub fn ulp(&self) -> u32 {
        self.distances.into_iter().max().unwrap_or(0)
    }

    /// Compares one sample over the channels in `measured` (bits 0 to 3); `None` when they agree.
    #[must_use]
    pub fn of(
        index: u64,
        grid: [u32; 3],
        got: [u32; 4],
        expected: [u32; 4],
        measured: u8,
        options: &Options,
    ) -> Option<Self> {
        let mut channels = 0;
        let mut distances = [0; 4];
        let mut kind = None;
        for channel in 0..4 {
            if measured >> channel & 1 == 1
                && let Some((distance, this)) = word_difference(got[channel], expected[channel], options)
            {
                channels |= 1 << channel;
                distances[channel] = distance;
                kind = kind.max(Some(this));
            }
        }
        let position = position(index, grid);
        kind.map(|kind| Self { index, position, channels, got, expected, distances, kind })
    }
}

/// The invocation of a sample, x fastest.
pub(crate) fn position(index: u64, grid: [u32; 3]) -> [u32; 3] {
    let (width, height) = (u64::from(grid[0].max(1)), u64::from(grid[1].max(1)));
    let rows = index / width;
    // The remainders are below a u32; z is too for every index inside the grid.
    [(index % width) as u32, (rows % height) as u32, u32::try_from(rows / height).unwrap_or(u32::MAX)]
}

/// Distance and kind of a word's difference; `None` when the words agree.
fn word_difference(got: u32, expected: u32, options: &Options) -> Option<(u32, DifferenceKind)> {
    if got == expected {
        return None;
    }
    match options.number {
        Number::Uint => Some((got.abs_diff(expected), DifferenceKind::Value)),
        Number::Sint => Some((got.cast_signed().abs_diff(expected.cast_signed()), DifferenceKind::Value)),
        Number::Float => match (is_nan(got), is_nan(expected)) {
            (true, true) => options.nan_payload.then_some((0, DifferenceKind::NanPayload)),
            (false, false) => {
                let zeros = (got | expected) & 0x7fff_ffff == 0;
                let kind = if zeros { DifferenceKind::SignOfZero } else { DifferenceKind::Value };
                Some((ulp_distance(got, expected), kind))
            }
            _ => Some((NAN_DISTANCE, DifferenceKind::Nan)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: u32 = 0x7fc0_0000;
    const NEGATIVE_ZERO: u32 = 0x8000_0000;
    const ONE: u32 = 0x3f80_0000;

    fn differ(got: u32, expected: u32, options: &Options) -> Option<(u32, DifferenceKind)> {
        let found = Difference::of(0, [1, 1, 1], [0, got, 0, 0], [0, expected, 0, 0], 0xf, options)?;
        assert_eq!(found.channels, 0b10);
        assert_eq!(found.ulp(), found.distances[1]);
        Some((found.distances[1], found.kind))
    }

    #[test]
    fn nan_equals_nan_but_never_a_number() {
        let options = Options::default();
        assert_eq!(differ(NAN, 0xffff_ffff, &options), None);
        for number in [0, NEGATIVE_ZERO, ONE, 0x7f80_0000, 0xff80_0000] {
            assert_eq!(differ(NAN, number, &options), Some((NAN_DISTANCE, DifferenceKind::Nan)));
            assert_eq!(differ(number, NAN, &options), Some((NAN_DISTANCE, DifferenceKind::Nan)));
        }
        let options = Options { nan_payload: true, ..options };
        assert_eq!(differ(NAN, NAN, &options), None);
        assert_eq!(differ(NAN, NAN + 1, &options), Some((0, DifferenceKind::NanPayload)));
    }

    #[test]
    fn zeros_of_different_sign_differ_by_their_sign() {
        let options = Options::default();
        assert_eq!(differ(0, NEGATIVE_ZERO, &options), Some((0, DifferenceKind::SignOfZero)));
        assert_eq!(differ(0, 1, &options), Some((1, DifferenceKind::Value)));
        assert_eq!(differ(NEGATIVE_ZERO, 1, &options), Some((1, DifferenceKind::Value)));
    }

    #[test]
    fn integers_have_no_nan_and_no_negative_zero() {
        let unsigned = Options { number: Number::Uint, ..Options::default() };
        let signed = Options { number: Number::Sint, ..Options::default() };
        assert_eq!(differ(NAN, NAN + 1, &unsigned), Some((1, DifferenceKind::Value)));
        assert_eq!(differ(0, u32::MAX, &unsigned), Some((u32::MAX, DifferenceKind::Value)));
        assert_eq!(differ(0, u32::MAX, &signed), Some((1, DifferenceKind::Value)));
        assert_eq!(differ(0, NEGATIVE_ZERO, &signed), Some((1 << 31, DifferenceKind::Value)));
    }

    #[test]
    fn channels_that_were_not_measured_never_differ() {
        let options = Options::default();
        let (got, expected) = ([1, 2, 3, 4], [9, 2, 9, 9]);
        let measured = |mask| Difference::of(0, [1, 1, 1], got, expected, mask, &options).map(|d| d.channels);
        assert_eq!(measured(0xf), Some(0b1101));
        assert_eq!(measured(0b0110), Some(0b0100));
        assert_eq!(measured(0b0010), None);
        assert_eq!(measured(0), None);
    }

    #[test]
    fn the_gravest_kind_stands_for_the_sample() {
        let options = Options::default();
        let got = [NEGATIVE_ZERO, ONE, NAN, 0];
        let kind = |mask| Difference::of(0, [1, 1, 1], got, [0; 4], mask, &options).map(|d| d.kind);
        assert_eq!(kind(0b0001), Some(DifferenceKind::SignOfZero));
        assert_eq!(kind(0b0011), Some(DifferenceKind::Value));
        assert_eq!(kind(0b1111), Some(DifferenceKind::Nan));
    }

    #[test]
    fn positions_count_x_first() {
        let at = |index| position(index, [5, 3, 2]);
        assert_eq!(
            [at(0), at(4), at(5), at(14), at(15), at(29)],
            [[0, 0, 0], [4, 0, 0], [0, 1, 0], [4, 2, 0], [0, 0, 1], [4, 2, 1]]
        );
    }
}
