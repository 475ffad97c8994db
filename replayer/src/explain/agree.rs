//! When two results are the same.

use capture_format::Expected;

/// Results that others are held against: four words a sample, and which of them count.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Four words a sample.
    pub words: &'a [u32],
    /// A byte a sample, its bits 0 to 3 say which of X, Y, Z, W count; `None`: all of them.
    pub measured: Option<&'a [u8]>,
    /// Whether the words are integers, among which there is no NaN.
    pub integer: bool,
}

impl<'a> Target<'a> {
    /// The recorded results of an oracle.
    #[must_use]
    pub fn of_expected(expected: &'a Expected, integer: bool) -> Self {
        Self { words: &expected.words, measured: expected.measured.as_deref(), integer }
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.words.len() / 4
    }

    /// The channels of a sample that count, in bits 0 to 3; none beyond the last sample.
    #[inline]
    #[must_use]
    pub fn channels(&self, sample: usize) -> u8 {
        self.measured.map_or(0xf, |mask| mask.get(sample).copied().unwrap_or(0))
    }

    /// The four words of a sample; zeros beyond the last one.
    #[inline]
    #[must_use]
    pub fn sample(&self, sample: usize) -> [u32; 4] {
        self.words.get(sample * 4..).and_then(|words| words.first_chunk()).copied().unwrap_or_default()
    }

    /// Whether a sample's words are these, over the channels that count.
    #[inline]
    #[must_use]
    pub fn agrees(&self, sample: usize, words: [u32; 4]) -> bool {
        let accepts = self.accepts(sample);
        (0..4).all(|channel| accepts(channel, words[channel]))
    }

    /// Whether a word is the one of a channel of a sample, or the channel does not count.
    #[inline]
    pub fn accepts(&self, sample: usize) -> impl Fn(usize, u32) -> bool + use<> {
        let (channels, wanted, integer) = (self.channels(sample), self.sample(sample), self.integer);
        move |channel, word| channels >> channel & 1 == 0 || same_word(word, wanted[channel], integer)
    }
}

/// Whether two words are the same result: the same bits, or two NaNs.
#[inline]
#[must_use]
pub fn same_word(a: u32, b: u32, integer: bool) -> bool {
    a == b || !integer && is_nan(a) && is_nan(b)
}

/// Whether FP32 bits are a NaN.
#[inline]
#[must_use]
pub fn is_nan(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

/// How many FP32 values lie between two, the second one counted; `None` when either is a NaN. +0 and −0 are one value.
#[must_use]
pub fn ulp_distance(a: u32, b: u32) -> Option<u32> {
    let place = |bits: u32| {
        let magnitude = i64::from(bits & 0x7fff_ffff);
        if bits >> 31 == 1 { -magnitude } else { magnitude }
    };
    if is_nan(a) || is_nan(b) {
        return None;
    }
    // Twice 0x7f80_0000 at most, which fits.
    Some((place(a) - place(b)).unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_measured_channels_count_and_nan_equals_nan() {
        let words = [0x7fc0_0000, 0, 0x3f80_0000, 7];
        let target = Target { words: &words, measured: Some(&[0b0101]), integer: false };
        assert!(target.agrees(0, [0xffff_ffff, 9, 0x3f80_0000, 9]));
        assert!(!target.agrees(0, [0, 0, 0x3f80_0000, 7]));
        assert!(!target.agrees(0, [0x7fc0_0000, 0, 0x3f80_0001, 7]));
        let integers = Target { integer: true, ..target };
        assert!(!integers.agrees(0, [0xffff_ffff, 0, 0x3f80_0000, 7]));
        assert!(!Target { measured: None, ..target }.agrees(0, [0x7fc0_0000, 0x8000_0000, 0x3f80_0000, 7]));
    }

    #[test]
    fn distances_cross_zero() {
        assert_eq!(ulp_distance(1, 0x8000_0001), Some(2));
        assert_eq!(ulp_distance(0, 0x8000_0000), Some(0));
        assert_eq!(ulp_distance(0x7f80_0000, 0xff80_0000), Some(0xff00_0000));
        assert_eq!(ulp_distance(0x7fc0_0000, 0), None);
    }
}
