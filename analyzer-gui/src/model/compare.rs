//! Comparison, bit for bit over the measured channels.

use rayon::prelude::*;

/// The distance of a NaN from a number.
pub const NAN_DISTANCE: u32 = u32::MAX;

/// How the words of a result are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Number {
    /// FP32.
    #[default]
    Float,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
}

/// Whether a word is a NaN, read as FP32.
#[must_use]
pub const fn is_nan(word: u32) -> bool {
    word & 0x7fff_ffff > 0x7f80_0000
}

/// Steps between two FP32 words on the line of all FP32 numbers; [`NAN_DISTANCE`] for a NaN and a number.
#[must_use]
pub const fn ulp_distance(a: u32, b: u32) -> u32 {
    match (is_nan(a), is_nan(b)) {
        (true, true) => 0,
        (false, false) => {
            let (a_size, b_size) = (a & 0x7fff_ffff, b & 0x7fff_ffff);
            if (a ^ b) >> 31 == 0 { a_size.abs_diff(b_size) } else { a_size + b_size }
        }
        _ => NAN_DISTANCE,
    }
}

/// One sample that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the sample.
    pub index: u64,
    /// Which of X, Y, Z, W differ, in bits 0 to 3.
    pub channels: u8,
    /// Distance a channel.
    pub distances: [u32; 4],
}

impl Difference {
    /// The largest distance.
    #[must_use]
    pub fn ulp(&self) -> u32 {
        self.distances.into_iter().max().unwrap_or(0)
    }

    /// Compares one sample over the channels in `measured`; `None` when they agree.
    #[must_use]
    pub fn of(index: u64, got: [u32; 4], expected: [u32; 4], measured: u8, number: Number) -> Option<Self> {
        let (mut channels, mut distances) = (0, [0; 4]);
        for channel in 0..4 {
            let (g, e) = (got[channel], expected[channel]);
            if measured >> channel & 1 == 0 || g == e {
                continue;
            }
            distances[channel] = match number {
                Number::Uint => g.abs_diff(e),
                Number::Sint => g.cast_signed().abs_diff(e.cast_signed()),
                Number::Float if is_nan(g) && is_nan(e) => continue,
                Number::Float => ulp_distance(g, e),
            };
            channels |= 1 << channel;
        }
        (channels != 0).then_some(Self { index, channels, distances })
    }
}

/// Which samples differ: one bit a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a sample is in the set.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        index < self.len && self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Samples compared.
    pub samples: u64,
    /// Samples that differ.
    pub mismatched: u64,
    /// Samples in which X, Y, Z, W differ.
    pub channels: [u64; 4],
    /// Samples in which a NaN stands against a number.
    pub nan: u64,
    /// Samples in which nothing but the sign of zero differs.
    pub sign_of_zero: u64,
    /// The largest distance.
    pub max_ulp: u32,
    /// The differing samples of the largest distance, largest first.
    pub worst: Vec<Difference>,
    /// Which samples differ.
    pub mismatches: Bitmap,
}

/// Compares results of `grid`; both have four words a sample.
#[must_use]
pub fn compare(got: &[u32], expected: &[u32], measured: Option<&[u8]>, number: Number, worst: usize) -> Comparison {
    let samples = (got.len().min(expected.len())) / 4;
    let block = |at: usize| {
        let mut part = Comparison::default();
        let mut bits = 0u64;
        for index in at * 64..(at * 64 + 64).min(samples) {
            let range = index * 4..index * 4 + 4;
            if got[range.clone()] == expected[range.clone()] {
                continue;
            }
            let four = |words: &[u32]| std::array::from_fn(|c| words[index * 4 + c]);
            let mask = measured.map_or(0xf, |m| m.get(index).copied().unwrap_or(0));
            let Some(found) = Difference::of(index as u64, four(got), four(expected), mask, number) else { continue };
            bits |= 1 << (index % 64);
            part.mismatched += 1;
            for c in 0..4 {
                part.channels[c] += u64::from(found.channels >> c & 1);
            }
            part.nan += u64::from(number == Number::Float && found.ulp() == NAN_DISTANCE);
            part.sign_of_zero += u64::from(number == Number::Float && found.ulp() == 0);
            part.max_ulp = part.max_ulp.max(found.ulp());
            part.worst.push(found);
        }
        (bits, part)
    };
    let keep = |list: &mut Vec<Difference>| {
        list.sort_by_key(|d| (std::cmp::Reverse(d.ulp()), d.index));
        list.truncate(worst);
    };
    const BLOCKS: usize = 1024;
    let blocks = samples.div_ceil(64);
    let parts: Vec<(Vec<u64>, Comparison)> = (0..blocks.div_ceil(BLOCKS))
        .into_par_iter()
        .map(|chunk| {
            let mut words = Vec::with_capacity(BLOCKS);
            let mut sum = Comparison::default();
            for at in chunk * BLOCKS..(chunk * BLOCKS + BLOCKS).min(blocks) {
                let (bits, part) = block(at);
                words.push(bits);
                sum.add(part);
            }
            keep(&mut sum.worst);
            (words, sum)
        })
        .collect();
    let mut all = Comparison { samples: samples as u64, ..Comparison::default() };
    for (words, part) in parts {
        all.mismatches.words.extend(words);
        all.add(part);
        if all.worst.len() > worst.saturating_mul(4) {
            keep(&mut all.worst);
        }
    }
    keep(&mut all.worst);
    all.mismatches.len = samples;
    all
}

impl Comparison {
    /// The largest distance that is not of a NaN against a number, among the worst that are kept; when all of these are NaNs,
    /// the largest distance that there can be.
    #[must_use]
    pub fn largest_number_distance(&self) -> u32 {
        let number = self.worst.iter().map(Difference::ulp).find(|&ulp| ulp != NAN_DISTANCE);
        number.unwrap_or(if self.nan > 0 && self.mismatched > self.nan { 0xff00_0000 } else { 1 })
    }

    fn add(&mut self, part: Self) {
        self.mismatched += part.mismatched;
        self.nan += part.nan;
        self.sign_of_zero += part.sign_of_zero;
        self.max_ulp = self.max_ulp.max(part.max_ulp);
        self.worst.extend(part.worst);
        for c in 0..4 {
            self.channels[c] += part.channels[c];
        }
    }
}
