//! The pass over whole results.

use rayon::prelude::*;

use super::{Bitmap, Difference, DifferenceKind, NAN_DISTANCE, Options};

/// Samples a block: one word of the bitmap.
const BLOCK: usize = 64;
/// Samples a chunk. Its words (64 KiB on each side) stay in the L2 cache between the equality test and the slow pass.
const CHUNK: usize = 64 * BLOCK;
/// Chunks that one task takes at least: below that, handing work to another thread costs more than it saves.
const CHUNKS_A_TASK: usize = 16;

/// The two results that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// Invocations in x, y, z.
    pub grid: [u32; 3],
    /// Four words a sample, of the path under test.
    pub got: &'a [u32],
    /// Four words a sample, of what it is held against.
    pub expected: &'a [u32],
    /// One byte a sample, its bits 0 to 3 say which channels count; `None`: all of them.
    pub measured: Option<&'a [u8]>,
}

/// The operands are not results of one grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {found} {unit}, expected {expected} for a grid of {grid:?}", grid = grid)]
pub struct CompareError {
    what: &'static str,
    unit: &'static str,
    found: usize,
    expected: u64,
    grid: [u32; 3],
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Samples compared.
    pub samples: u64,
    /// Samples in which a measured channel differs.
    pub mismatched: u64,
    /// Samples in which X, Y, Z, W differ.
    pub channels: [u64; 4],
    /// Samples in which a NaN stands against a number.
    pub nan: u64,
    /// Samples in which nothing but the sign of zero differs.
    pub sign_of_zero: u64,
    /// The largest distance: ULPs in FP32, [`NAN_DISTANCE`] when a NaN stands against a number; integers: the difference.
    pub max_ulp: u32,
    /// The first differing samples, as many as the options asked for.
    pub first: Vec<Difference>,
    /// The differing samples of the largest distance, largest first, among equals the earlier one first.
    pub worst: Vec<Difference>,
    /// Which samples differ.
    pub mismatches: Bitmap,
}

impl Comparison {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.mismatched == 0
    }
}

/// Compares two results bit for bit over the measured channels.
///
/// Where both agree the pass runs about as fast as memory is read; the cost of a difference is paid only in the chunks that
/// hold one.
///
/// # Errors
/// When an operand's length is not that of the grid.
pub fn compare(operands: &Operands<'_>, options: &Options) -> Result<Comparison, CompareError> {
    let Operands { grid, got, expected, measured } = *operands;
    let samples = grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)));
    let check = |what, unit, found: usize, expected: u64| {
        if u64::try_from(found) == Ok(expected) {
            Ok(())
        } else {
            Err(CompareError { what, unit, found, expected, grid })
        }
    };
    check("results", "words", got.len(), samples.saturating_mul(4))?;
    check("expected results", "words", expected.len(), samples.saturating_mul(4))?;
    if let Some(measured) = measured {
        check("measured channels", "bytes", measured.len(), samples)?;
    }

    let (got, expected) = (as_samples(got), as_samples(expected));
    let scan = |at: usize, got: &[[u32; 4]], expected: &[[u32; 4]]| {
        let start = at * CHUNK;
        let measured = measured.map(|m| &m[start..start + got.len()]);
        scan_chunk(start, grid, got, expected, measured, options)
    };
    let merge = |a: Partial, b: Partial| a.then(b, options);
    let total = got
        .par_chunks(CHUNK)
        .zip(expected.par_chunks(CHUNK))
        .enumerate()
        .with_min_len(CHUNKS_A_TASK)
        .fold(Partial::default, |sum, (at, (got, expected))| merge(sum, scan(at, got, expected)))
        .reduce(Partial::default, merge);

    let mut words = vec![0; got.len().div_ceil(BLOCK)];
    for (block, bits) in total.blocks {
        words[block] = bits;
    }
    Ok(Comparison { samples, mismatches: Bitmap::from_words(words, got.len()), ..total.found })
}

/// Results as samples; the length was checked to be a multiple of four.
fn as_samples(words: &[u32]) -> &[[u32; 4]] {
    words.as_chunks().0
}

/// What a run of chunks holds.
#[derive(Default)]
struct Partial {
    found: Comparison,
    /// The words of the bitmap that are not zero, ascending.
    blocks: Vec<(usize, u64)>,
}

impl Partial {
    /// Joins this run with the one that follows it.
    fn then(mut self, next: Self, options: &Options) -> Self {
        if next.found.is_match() {
            return self;
        }
        if self.found.is_match() {
            return next;
        }
        let (found, other) = (&mut self.found, next.found);
        found.mismatched += other.mismatched;
        for (sum, n) in found.channels.iter_mut().zip(other.channels) {
            *sum += n;
        }
        found.nan += other.nan;
        found.sign_of_zero += other.sign_of_zero;
        found.max_ulp = found.max_ulp.max(other.max_ulp);
        found.first.extend(other.first);
        found.first.truncate(options.first);
        found.worst.extend(other.worst);
        keep_worst(&mut found.worst, options.worst);
        self.blocks.extend(next.blocks);
        self
    }
}

/// Leaves the `limit` worst, the earlier one first among equals.
fn keep_worst(worst: &mut Vec<Difference>, limit: usize) {
    worst.sort_by_key(|d| (std::cmp::Reverse(d.ulp()), d.index));
    worst.truncate(limit);
}

/// Compares one chunk, whose first sample is `start`.
fn scan_chunk(
    start: usize,
    grid: [u32; 3],
    got: &[[u32; 4]],
    expected: &[[u32; 4]],
    measured: Option<&[u8]>,
    options: &Options,
) -> Partial {
    let mut partial = Partial::default();
    // Flat words are compared as memory, rows of four are not.
    if got.as_flattened() == expected.as_flattened() {
        return partial;
    }
    let mut worst = Vec::new();
    for (block, (got, expected)) in got.chunks(BLOCK).zip(expected.chunks(BLOCK)).enumerate() {
        let measured = measured.map(|m| &m[block * BLOCK..block * BLOCK + got.len()]);
        let mut candidates = differing_bits(got, expected, measured);
        let mut bits = 0u64;
        while candidates != 0 {
            let at = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let mask = measured.map_or(0xf, |m| m[at]);
            let index = (start + block * BLOCK + at) as u64;
            let Some(difference) = Difference::of(index, grid, got[at], expected[at], mask, options) else { continue };
            bits |= 1 << at;
            record(&mut partial.found, &mut worst, &difference, options);
        }
        if bits != 0 {
            partial.blocks.push((start / BLOCK + block, bits));
        }
    }
    keep_worst(&mut worst, options.worst);
    partial.found.worst = worst;
    partial
}

/// Adds a difference to the counts and, where there is room, to the lists.
fn record(found: &mut Comparison, worst: &mut Vec<Difference>, difference: &Difference, options: &Options) {
    found.mismatched += 1;
    for (channel, count) in found.channels.iter_mut().enumerate() {
        *count += u64::from(difference.channels >> channel & 1);
    }
    match difference.kind {
        DifferenceKind::Nan => found.nan += 1,
        DifferenceKind::SignOfZero => found.sign_of_zero += 1,
        DifferenceKind::Value | DifferenceKind::NanPayload => {}
    }
    let ulp = difference.ulp();
    debug_assert!(difference.kind != DifferenceKind::Nan || ulp == NAN_DISTANCE);
    found.max_ulp = found.max_ulp.max(ulp);
    if found.first.len() < options.first {
        found.first.push(*difference);
    }
    if options.worst > 0 {
        // Sorted only now and then: a list of twice the length wanted always holds the worst ones so far.
        worst.push(*difference);
        if worst.len() >= 2 * options.worst.max(32) {
            keep_worst(worst, options.worst);
        }
    }
}

/// Which of up to 64 samples have a measured channel whose bits differ. Two NaNs are still among them.
fn differing_bits(got: &[[u32; 4]], expected: &[[u32; 4]], measured: Option<&[u8]>) -> u64 {
    let pairs = got.iter().zip(expected).enumerate();
    match measured {
        None => pairs.fold(0, |bits, (at, (a, b))| bits | u64::from(a != b) << at),
        Some(measured) => pairs.zip(measured).fold(0, |bits, ((at, (a, b)), &mask)| {
            let differs = (0..4).fold(0, |any, c| any | ((a[c] ^ b[c]) * u32::from(mask >> c & 1)));
            bits | u64::from(differs != 0) << at
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn operands<'a>(grid: [u32; 3], got: &'a [u32], expected: &'a [u32], measured: Option<&'a [u8]>) -> Operands<'a> {
        Operands { grid, got, expected, measured }
    }

    /// The same by the definition, one sample after the other.
    fn by_definition(operands: &Operands<'_>, options: &Options) -> Vec<Difference> {
        let samples = operands.got.len() / 4;
        (0..samples)
            .filter_map(|i| {
                let words = |w: &[u32]| <[u32; 4]>::try_from(&w[i * 4..i * 4 + 4]).unwrap();
                let mask = operands.measured.map_or(0xf, |m| m[i]);
                let (got, expected) = (words(operands.got), words(operands.expected));
                Difference::of(i as u64, operands.grid, got, expected, mask, options)
            })
            .collect()
    }

    fn check(operands: &Operands<'_>, options: &Options) {
        let found = compare(operands, options).unwrap();
        let all = by_definition(operands, options);
        assert_eq!(found.samples, operands.got.len() as u64 / 4);
        assert_eq!(found.mismatched, all.len() as u64);
        assert_eq!(
            found.mismatches.iter().map(|i| i as u64).collect::<Vec<_>>(),
            all.iter().map(|d| d.index).collect::<Vec<_>>()
        );
        assert_eq!(found.max_ulp, all.iter().map(Difference::ulp).max().unwrap_or(0));
        for channel in 0..4 {
            assert_eq!(found.channels[channel], all.iter().filter(|d| d.channels >> channel & 1 == 1).count() as u64);
        }
        assert_eq!(found.nan, all.iter().filter(|d| d.kind == DifferenceKind::Nan).count() as u64);
        assert_eq!(found.sign_of_zero, all.iter().filter(|d| d.kind == DifferenceKind::SignOfZero).count() as u64);
        assert_eq!(found.first, all.iter().take(options.first).copied().collect::<Vec<_>>());
        let mut worst = all;
        keep_worst(&mut worst, options.worst);
        assert_eq!(found.worst, worst);
    }

    #[test]
    fn finds_a_single_bit_anywhere() {
        // More samples than several tasks take, and no whole number of blocks.
        let samples = CHUNK * CHUNKS_A_TASK * 2 + 77;
        let grid = [u32::try_from(samples).unwrap(), 1, 1];
        let expected: Vec<u32> = (0..samples as u32 * 4).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let options = Options { number: super::super::Number::Uint, ..Options::default() };
        let mut got = expected.clone();
        assert!(compare(&operands(grid, &got, &expected, None), &options).unwrap().is_match());
        for sample in [0, 1, 63, 64, CHUNK - 1, CHUNK, CHUNK * CHUNKS_A_TASK, samples - 1] {
            for channel in 0..4 {
                let at = sample * 4 + channel;
                got[at] ^= 1;
                let found = compare(&operands(grid, &got, &expected, None), &options).unwrap();
                assert_eq!((found.mismatched, found.max_ulp), (1, 1));
                assert_eq!(found.first.len(), 1);
                assert_eq!((found.first[0].index, found.first[0].channels), (sample as u64, 1 << channel));
                assert_eq!(found.mismatches.iter().collect::<Vec<_>>(), [sample]);
                got[at] ^= 1;
            }
        }
    }

    #[test]
    fn lengths_that_are_not_the_grid_s_are_errors() {
        let options = Options::default();
        let error = |o: &Operands<'_>| compare(o, &options).unwrap_err().to_string();
        assert_eq!(
            error(&operands([2, 2, 1], &[0; 15], &[0; 16], None)),
            "results: 15 words, expected 16 for a grid of [2, 2, 1]"
        );
        assert_eq!(
            error(&operands([2, 2, 1], &[0; 16], &[0; 20], None)),
            "expected results: 20 words, expected 16 for a grid of [2, 2, 1]"
        );
        assert_eq!(
            error(&operands([2, 2, 1], &[0; 16], &[0; 16], Some(&[0; 3]))),
            "measured channels: 3 bytes, expected 4 for a grid of [2, 2, 1]"
        );
        assert!(compare(&operands([u32::MAX; 3], &[], &[], None), &options).is_err());
        assert!(compare(&operands([0, 4, 1], &[], &[], None), &options).unwrap().is_match());
    }

    #[test]
    fn every_sample_differing_keeps_the_lists_short() {
        let samples = CHUNK * 3 + 5;
        let grid = [u32::try_from(samples).unwrap(), 1, 1];
        let expected = vec![0x3f80_0000; samples * 4];
        let got: Vec<u32> = (0..samples * 4).map(|i| 0x3f80_0000 + (i as u32 / 4 * 7919 % 10_007) + 1).collect();
        check(&operands(grid, &got, &expected, None), &Options { first: 3, worst: 5, ..Options::default() });
        check(&operands(grid, &got, &expected, None), &Options { first: 0, worst: 0, ..Options::default() });
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            words in prop::collection::vec((0usize..9, 0usize..9), 4 * 150),
            mask in prop::option::of(prop::collection::vec(0u8..16, 150)),
            nan_payload: bool,
            integers: bool,
        ) {
            let special = [0, 0x8000_0000, 0x7fc0_0000, 0xffff_ffff, 0x3f80_0000, 0x3f80_0001, 1, 0x7f80_0000, 0xff80_0000];
            let (got, expected): (Vec<u32>, Vec<u32>) = words.iter().map(|&(a, b)| (special[a], special[b])).unzip();
            let number = if integers { super::super::Number::Sint } else { super::super::Number::Float };
            check(
                &operands([10, 5, 3], &got, &expected, mask.as_deref()),
                &Options { number, nan_payload, first: 7, worst: 6 },
            );
        }
    }
}
