//! Comparison as the replayer does it, with what the window asks of it.

pub use replayer::compare::{
    Bitmap, Comparison, Difference, DifferenceKind, NAN_DISTANCE, Number, Operands, Options, compare, is_nan,
    ulp_distance,
};

/// Differing samples that are kept in order of their size.
pub const WORST: usize = 10_000;

/// The options of every comparison here: payloads of NaNs do not count.
#[must_use]
pub fn options(number: Number) -> Options {
    Options { number, nan_payload: false, first: 0, worst: WORST }
}

/// Compares one sample over the channels in `measured`; `None` when they agree.
#[must_use]
pub fn difference(got: [u32; 4], expected: [u32; 4], measured: u8, number: Number) -> Option<Difference> {
    Difference::of(0, [1, 1, 1], got, expected, measured, &options(number))
}

/// The largest distance that is not of a NaN against a number, among the worst that are kept; when all of these are NaNs, the
/// largest distance that there can be.
#[must_use]
pub fn largest_number_distance(comparison: &Comparison) -> u32 {
    let number = comparison.worst.iter().map(Difference::ulp).find(|&ulp| ulp != NAN_DISTANCE);
    number.unwrap_or(if comparison.mismatched > comparison.nan { 0xff00_0000 } else { 1 })
}

/// A comparison of results of one row, for tests.
#[cfg(test)]
pub(crate) fn compare_row(got: &[u32], expected: &[u32], worst: usize) -> Comparison {
    let grid = [(got.len() / 4) as u32, 1, 1];
    let options = Options { worst, ..options(Number::Float) };
    compare(&Operands { grid, got, expected, measured: None }, &options).unwrap()
}
