//! Comparison, bit for bit over the measured channels.
//!
//! A sample is four words (X, Y, Z, W after DST_SEL). Two words are equal when their bits are. Read as FP32, a NaN also
//! equals any other NaN unless payloads are asked for, and never equals a number; +0 and −0 differ, and are told apart
//! from other differences as [`DifferenceKind::SignOfZero`]. Integer results have neither rule.

mod bitmap;
mod difference;
mod scan;
mod ulp;

use capture_format::NumericKind;

pub use bitmap::Bitmap;
pub(crate) use difference::position;
pub use difference::{Difference, DifferenceKind};
pub use scan::{CompareError, Comparison, Operands, compare};
pub use ulp::{NAN_DISTANCE, is_nan, ulp_distance};

/// How the words of a result are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Number {
    /// FP32: the rules for NaN and zero apply, distances are ULPs.
    #[default]
    Float,
    /// Unsigned integers: a distance is the difference of the numbers.
    Uint,
    /// Signed integers in two's complement: a distance is the difference of the numbers.
    Sint,
}

impl Number {
    /// How the channels of a format are read.
    #[must_use]
    pub fn of(kind: NumericKind) -> Self {
        match kind {
            NumericKind::Uint => Self::Uint,
            NumericKind::Sint => Self::Sint,
            NumericKind::Unorm
            | NumericKind::Snorm
            | NumericKind::Uscaled
            | NumericKind::Sscaled
            | NumericKind::Float => Self::Float,
        }
    }
}

/// What is asked of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the words are read.
    pub number: Number,
    /// Whether two NaNs with different sign or payload differ. Only for [`Number::Float`].
    pub nan_payload: bool,
    /// How many of the first differing samples are kept.
    pub first: usize,
    /// How many of the differing samples with the largest distance are kept.
    pub worst: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { number: Number::Float, nan_payload: false, first: 8, worst: 8 }
    }
}
