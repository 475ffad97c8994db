//! From taps and weights to a filtered value.

use crate::rules::{Accumulation, CubeCorner, MinMaxTaps, ResultRounding, Rules, WeightScheme, ZeroWeightTaps};
use crate::state::Reduction;

/// Weights along one axis: of the second tap, on the grid and as FP32.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisWeight {
    /// Whether there are two taps.
    pub linear: bool,
    /// Weight of the second tap in steps of `1 / 2^bits`.
    pub step: u32,
    /// log2 of the steps in the whole.
    pub bits: u32,
    /// Weight of the second tap as FP32.
    pub weight: f32,
}

impl AxisWeight {
    /// Whether a tap (0 or 1) has a weight that is not zero.
    #[inline(always)]
    #[must_use]
    pub fn has_weight(&self, tap: usize) -> bool {
        // A NaN is a weight.
        if tap == 0 { self.weight < 1.0 || self.weight.is_nan() } else { self.weight != 0.0 }
    }
}

/// The taps of a sample in one channel: `[level][slice][row][column]`.
pub type Taps = [LevelTaps; 2];

/// The taps of a sample in one channel and one level: `[slice][row][column]`.
pub type LevelTaps = [[[f32; 2]; 2]; 2];

/// The weights of a sample in one level: along x, y, z, and between the levels (the same in both).
pub type Weights = [AxisWeight; 4];

/// Row and column of the tap beyond a cube's corner, by level; `None` where all taps are texels or borders.
pub type Corners = [Option<[usize; 2]>; 2];

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;
const MIP: usize = 3;

/// Number of taps along an axis.
#[inline(always)]
fn count(axis: &AxisWeight) -> usize {
    if axis.linear { 2 } else { 1 }
}

/// Blends the taps of one channel. `products` says in which levels texels and weights are multiplied one by one
/// ([`CubeCorner::Thirds`]).
#[must_use]
pub fn blend(rules: &Rules, taps: &Taps, weights: &[Weights; 2], corners: &Corners, products: [bool; 2]) -> f32 {
    match rules.accumulation.aligned_bits() {
        Some(bits) => aligned(rules, taps, weights, corners, bits),
        None if rules.weight_scheme == WeightScheme::Totals => {
            let (numerators, bits) = numerators(rules, weights, corners);
            let mut sum = 0.0f32;
            for_each_tap(weights, |m, z, y, x| {
                let numerator = numerators[m][z][y][x];
                if numerator != 0 || rules.zero_weight_taps == ZeroWeightTaps::Included {
                    sum += taps[m][z][y][x] * (numerator as f64 / (1u64 << bits) as f64) as f32;
                }
            });
            round_result(rules, f64::from(sum))
        }
        None => {
            let level = |m: usize| {
                if products[m] {
                    return sum_of_products(rules, &taps[m][0], &weights[m], corners[m]);
                }
                lerp_level(rules, &taps[m], &weights[m])
            };
            round_result(rules, f64::from(lerp(rules, &weights[0][MIP], level(0), || level(1))))
        }
    }
}

/// The blend of a level's taps along x, y and z in FP32.
fn lerp_level(rules: &Rules, taps: &LevelTaps, weights: &Weights) -> f32 {
    let slice = |z: usize| {
        let row = |y: usize| {
            let [a, b] = taps[z][y];
            lerp(rules, &weights[X], a, || b)
        };
        lerp(rules, &weights[Y], row(0), || row(1))
    };
    lerp(rules, &weights[Z], slice(0), || slice(1))
}

/// The weights that [`sum_of_products`] multiplies with, by row and column.
#[must_use]
pub fn product_weights(weights: &Weights, corner: Option<[usize; 2]>) -> [[f32; 2]; 2] {
    let (x, y) = (weights[X].weight, weights[Y].weight);
    let (left, upper) = (1.0 - x, 1.0 - y);
    let mut shares = [[left * upper, x * upper], [left * y, x * y]];
    if let Some([row, column]) = corner {
        let third = shares[row][column] * (1.0 / 3.0);
        shares.iter_mut().flatten().for_each(|share| *share += third);
        shares[row][column] = 0.0;
    }
    shares
}

/// Four products of texels and weights, added up row by row; a third of the weight beyond a cube's corner goes to each of the
/// other texels.
#[must_use]
pub fn sum_of_products(rules: &Rules, taps: &[[f32; 2]; 2], weights: &Weights, corner: Option<[usize; 2]>) -> f32 {
    let shares = product_weights(weights, corner);
    let product = |row: usize, column: usize| {
        let weightless = !weights[X].has_weight(column) || !weights[Y].has_weight(row) || corner == Some([row, column]);
        let left_out = weightless && rules.zero_weight_taps == ZeroWeightTaps::LeftOut;
        shares[row][column] * if left_out { 0.0 } else { taps[row][column] }
    };
    [(0, 1), (1, 0), (1, 1)].iter().fold(product(0, 0), |sum, &(row, column)| product(row, column) + sum)
}

/// `a (1-w) + b w` in FP32, each operation rounded once, or as [`Accumulation`] says; `a` where there is one tap.
#[inline(always)]
#[must_use]
pub fn lerp(rules: &Rules, axis: &AxisWeight, a: f32, b: impl FnOnce() -> f32) -> f32 {
    if !axis.linear {
        return a;
    }
    if rules.zero_weight_taps == ZeroWeightTaps::LeftOut {
        if axis.weight == 0.0 {
            return a;
        }
        if axis.weight == 1.0 {
            return b();
        }
    }
    match rules.accumulation {
        Accumulation::Difference => (b() - a) * axis.weight + a,
        Accumulation::DifferenceFused => axis.weight.mul_add(b() - a, a),
        _ => a * (1.0 - axis.weight) + b() * axis.weight,
    }
}

/// Visits the taps that are read, by `[level][slice][row][column]`.
#[inline(always)]
pub fn for_each_tap(weights: &[Weights; 2], mut visit: impl FnMut(usize, usize, usize, usize)) {
    for m in 0..count(&weights[0][MIP]) {
        for_each_level_tap(&weights[m], |z, y, x| visit(m, z, y, x));
    }
}

/// Visits the taps that are read in one level, by `[slice][row][column]`.
#[inline(always)]
fn for_each_level_tap(weights: &Weights, mut visit: impl FnMut(usize, usize, usize)) {
    for z in 0..count(&weights[Z]) {
        for y in 0..count(&weights[Y]) {
            for x in 0..count(&weights[X]) {
                visit(z, y, x);
            }
        }
    }
}

/// Integer weights of all taps `[level][slice][row][column]`.
pub type Numerators = [LevelNumerators; 2];

/// Integer weights of the taps of a level, `[slice][row][column]`.
pub type LevelNumerators = [[[u64; 2]; 2]; 2];

/// Integer weights of all taps, and log2 of the whole.
#[must_use]
pub fn numerators(rules: &Rules, weights: &[Weights; 2], corners: &Corners) -> (Numerators, u32) {
    let between = &weights[0][MIP];
    let totals = match rules.weight_scheme {
        WeightScheme::Product => [along(between, 0), along(between, 1)],
        // The whole is 256; it is split between the levels first.
        WeightScheme::Totals => {
            let second = if between.linear { share(256, u64::from(between.step), between) } else { 0 };
            [256 - second, second]
        }
    };
    let of_level = |m: usize| {
        if m < count(between) {
            level_numerators(rules, &weights[m], corners[m], totals[m])
        } else {
            Default::default()
        }
    };
    let between_bits = if rules.weight_scheme == WeightScheme::Totals { 8 } else { between.bits };
    ([of_level(0), of_level(1)], between_bits + axis_bits(rules, &weights[0]))
}

/// log2 of the sum of [`level_numerators`] over their total.
#[must_use]
pub fn axis_bits(rules: &Rules, weights: &Weights) -> u32 {
    match rules.weight_scheme {
        WeightScheme::Totals => 0,
        // An axis with one tap counts with the whole, so that shares of a corner are rounded at the same place everywhere.
        WeightScheme::Product => weights[..MIP].iter().map(|w| w.bits).sum(),
    }
}

/// The part of a total that a tap's integer weight takes, rounded half up.
fn share(total: u64, part: u64, w: &AxisWeight) -> u64 {
    (total * part + (1 << (w.bits - 1))) >> w.bits
}

/// Integer weight of a tap along one axis.
fn along(w: &AxisWeight, tap: usize) -> u64 {
    match (w.linear, tap) {
        (false, _) => 1 << w.bits,
        (true, 0) => (1u64 << w.bits) - u64::from(w.step),
        (true, _) => u64::from(w.step),
    }
}

/// Integer weights of the taps of a level, or of one probe in it, that has `total`. The weight of the place beyond a cube's
/// corner goes to the texels around it.
#[must_use]
pub fn level_numerators(rules: &Rules, weights: &Weights, corner: Option<[usize; 2]>, total: u64) -> LevelNumerators {
    let mut result = split(rules, weights, total);
    if let (Some([y, x]), CubeCorner::Shares) = (corner, rules.cube_corner) {
        let slice = &mut result[0];
        let whole = std::mem::take(&mut slice[y][x]);
        let third = (whole + 1) / 3;
        slice[1 - y][x] += third;
        slice[y][1 - x] += third;
        slice[1 - y][1 - x] += whole - 2 * third;
    }
    result
}

fn split(rules: &Rules, weights: &Weights, total: u64) -> LevelNumerators {
    let mut result = LevelNumerators::default();
    let [x, y, z, _] = weights;
    if rules.weight_scheme == WeightScheme::Product {
        for_each_level_tap(weights, |slice, row, column| {
            result[slice][row][column] = total * along(z, slice) * along(y, row) * along(x, column);
        });
        return result;
    }
    // Each axis splits its total in two: slices, columns, rows. Of a pair, the share of the first slice or the second
    // column is rounded, and in the rows the outer tap's.
    let first = |total: u64, w: &AxisWeight| {
        if w.linear { share(total, (1 << w.bits) - u64::from(w.step), w) } else { total }
    };
    let second = |total: u64, w: &AxisWeight| if w.linear { share(total, u64::from(w.step), w) } else { 0 };
    let s0 = first(total, z);
    for (slice, total) in [s0, total - s0].into_iter().enumerate() {
        let c1 = second(total, x);
        let c0 = total - c1;
        let (r00, r11) = (first(c0, y), second(c1, y));
        result[slice] = [[r00, c1 - r11], [c0 - r00, r11]];
    }
    result
}

/// Smallest exponent to which taps are aligned: FP16's smallest normal one.
const MIN_EXPONENT: i32 = -14;

#[inline(always)]
fn exponent(value: f32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32 - 127).max(MIN_EXPONENT)
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Whether a tap has a weight along every axis and between the levels.
fn has_weight(weights: &[Weights; 2], [m, z, y, x]: [usize; 4]) -> bool {
    weights[m][MIP].has_weight(m) && has_axis_weight(&weights[m], [z, y, x])
}

/// Whether a tap has a weight along every axis.
fn has_axis_weight(weights: &Weights, [z, y, x]: [usize; 3]) -> bool {
    weights[Z].has_weight(z) && weights[Y].has_weight(y) && weights[X].has_weight(x)
}

/// NaN and infinities among the taps that count.
#[derive(Default)]
struct Specials {
    nan: bool,
    infinity: bool,
    negative_infinity: bool,
}

impl Specials {
    fn note(&mut self, value: f32) {
        self.nan |= value.is_nan();
        self.infinity |= value == f32::INFINITY;
        self.negative_infinity |= value == f32::NEG_INFINITY;
    }

    /// What a sum over them is, where there are any.
    fn result(&self) -> Option<f32> {
        match self {
            Self { nan: true, .. } | Self { infinity: true, negative_infinity: true, .. } => Some(f32::NAN),
            Self { infinity: true, .. } => Some(f32::INFINITY),
            Self { negative_infinity: true, .. } => Some(f32::NEG_INFINITY),
            _ => None,
        }
    }
}

fn aligned(rules: &Rules, taps: &Taps, weights: &[Weights; 2], corners: &Corners, fraction_bits: u32) -> f32 {
    let (numerators, weight_bits) = numerators(rules, weights, corners);
    let all = rules.zero_weight_taps == ZeroWeightTaps::Included;
    let mut specials = Specials::default();
    for_each_tap(weights, |m, z, y, x| {
        if all || has_weight(weights, [m, z, y, x]) {
            specials.note(taps[m][z][y][x]);
        }
    });
    if let Some(special) = specials.result() {
        return special;
    }
    let total = (0..count(&weights[0][MIP]))
        .map(|m| aligned_level(rules, &taps[m], &weights[m], &numerators[m], fraction_bits, weight_bits))
        .fold(0.0, |sum, level| sum + level);
    round_result(rules, total)
}

/// The weighted sum over the taps of a level, slice by slice.
fn aligned_level(
    rules: &Rules,
    taps: &LevelTaps,
    weights: &Weights,
    numerators: &LevelNumerators,
    fraction_bits: u32,
    weight_bits: u32,
) -> f64 {
    let all = rules.zero_weight_taps == ZeroWeightTaps::Included;
    (0..count(&weights[Z])).fold(0.0, |sum, z| {
        let group = (0..count(&weights[Y]))
            .flat_map(|y| (0..count(&weights[X])).map(move |x| (y, x)))
            .filter(|&(y, x)| all || numerators[z][y][x] != 0)
            .map(|(y, x)| (taps[z][y][x], numerators[z][y][x]));
        sum + aligned_group(group, fraction_bits) * power_of_two(-(weight_bits as i32))
    })
}

/// The taps of one probe of an anisotropic filter in one channel.
#[derive(Clone, Copy, Debug)]
pub struct ProbeTaps {
    /// The taps.
    pub taps: LevelTaps,
    /// The weights along the axes.
    pub weights: Weights,
    /// Row and column of the tap beyond a cube's corner.
    pub corner: Option<[usize; 2]>,
    /// The probe's integer weight.
    pub share: u32,
    /// log2 of the weight of all probes.
    pub bits: u32,
}

impl ProbeTaps {
    /// Visits the taps that are read, by `[slice][row][column]`.
    pub fn for_each(&mut self, mut visit: impl FnMut(&mut LevelTaps, usize, usize, usize)) {
        let (taps, weights) = (&mut self.taps, self.weights);
        for_each_level_tap(&weights, |z, y, x| visit(taps, z, y, x));
    }

    fn numerators(&self, rules: &Rules) -> (LevelNumerators, u32) {
        let numerators = level_numerators(rules, &self.weights, self.corner, u64::from(self.share));
        (numerators, self.bits + axis_bits(rules, &self.weights))
    }
}

/// Blends the probes of an anisotropic filter in one channel. Their weights are integers, as
/// [`Rules::inconsistency`] wants it.
#[must_use]
pub fn blend_probes(rules: &Rules, probes: &[ProbeTaps]) -> f32 {
    let all = rules.zero_weight_taps == ZeroWeightTaps::Included;
    if let Some(fraction_bits) = rules.accumulation.aligned_bits() {
        let mut specials = Specials::default();
        for probe in probes {
            for_each_level_tap(&probe.weights, |z, y, x| {
                if all || has_axis_weight(&probe.weights, [z, y, x]) {
                    specials.note(probe.taps[z][y][x]);
                }
            });
        }
        return specials.result().unwrap_or_else(|| {
            let total = probes.iter().fold(0.0, |sum, probe| {
                let (numerators, bits) = probe.numerators(rules);
                sum + aligned_level(rules, &probe.taps, &probe.weights, &numerators, fraction_bits, bits)
            });
            round_result(rules, total)
        });
    }
    let mut sum = 0.0f32;
    for probe in probes {
        let (numerators, bits) = probe.numerators(rules);
        for_each_level_tap(&probe.weights, |z, y, x| {
            let numerator = numerators[z][y][x];
            if all || numerator != 0 {
                sum += probe.taps[z][y][x] * (numerator as f64 / (1u64 << bits) as f64) as f32;
            }
        });
    }
    round_result(rules, f64::from(sum))
}

/// Smallest or largest tap of all probes in one channel, as [`reduce`].
#[must_use]
pub fn reduce_probes(rules: &Rules, reduction: Reduction, probes: &[ProbeTaps]) -> f32 {
    let mut best = f32::NAN;
    for probe in probes {
        let (numerators, _) = probe.numerators(rules);
        for_each_level_tap(&probe.weights, |z, y, x| {
            if numerators[z][y][x] != 0 || rules.minmax_taps == MinMaxTaps::All {
                keep_best(reduction, &mut best, probe.taps[z][y][x]);
            }
        });
    }
    best
}

/// Replaces the best by a better value, or by any while it is NaN.
fn keep_best(reduction: Reduction, best: &mut f32, value: f32) {
    let better = if reduction == Reduction::Min { value < *best } else { value > *best };
    if better || best.is_nan() {
        *best = value;
    }
}

/// The sum of products with integer weights, the values cut to a number of bits below the largest one's exponent. Special
/// values are passed over.
fn aligned_group(taps: impl Iterator<Item = (f32, u64)> + Clone, fraction_bits: u32) -> f64 {
    let Some(largest) = taps.clone().map(|(value, _)| exponent(value)).max() else { return 0.0 };
    let sum: f64 = taps
        .filter(|(value, numerator)| *numerator != 0 && value.is_finite())
        .map(|(value, numerator)| {
            (f64::from(value) * power_of_two(fraction_bits as i32 - largest)).trunc() * numerator as f64
        })
        .sum();
    sum * power_of_two(largest - fraction_bits as i32)
}

/// What a gather returns for the place beyond a cube's corner by [`CubeCorner::Shares`]: the blend of the face's own texel
/// and the two across its edges, as if the place had the whole weight.
#[must_use]
pub fn corner_value(rules: &Rules, [own, across_t, across_s]: [f32; 3]) -> f32 {
    let plain = own + across_t + across_s;
    if !plain.is_finite() {
        return plain;
    }
    let [third, rest] = corner_shares(rules, 2);
    let whole = 1u64 << corner_bits(rules, 2);
    let taps = [(own, rest), (across_t, third), (across_s, third)];
    let value = match rules.accumulation.aligned_bits() {
        Some(bits) => aligned_group(taps.into_iter(), bits) / whole as f64,
        None => f64::from(
            taps.iter().fold(0.0f32, |sum, &(value, numerator)| sum + value * (numerator as f64 / whole as f64) as f32),
        ),
    };
    round_result(rules, value)
}

/// log2 of the whole weight of a gather's corner, on a view of so many axes.
#[must_use]
pub fn corner_bits(rules: &Rules, axes: u32) -> u32 {
    match rules.weight_scheme {
        WeightScheme::Totals => 8,
        WeightScheme::Product => 8 + axes * rules.subtexel_bits.bits().unwrap_or(8),
    }
}

/// Integer weights of a gather's corner: of each texel across an edge, and of the face's own.
#[must_use]
pub fn corner_shares(rules: &Rules, axes: u32) -> [u64; 2] {
    let whole = 1u64 << corner_bits(rules, axes);
    let third = (whole + 1) / 3;
    [third, whole - 2 * third]
}

/// Rounds a filtered value as [`ResultRounding`] says.
#[inline(always)]
#[must_use]
pub fn round_result(rules: &Rules, value: f64) -> f32 {
    #[derive(PartialEq)]
    enum Ties {
        Up,
        Even,
        Cut,
    }
    let (bits, ties) = match rules.result_rounding {
        ResultRounding::Fp32 => return value as f32,
        ResultRounding::HalfUp10 => (10, Ties::Up),
        ResultRounding::HalfUp11 => (11, Ties::Up),
        ResultRounding::NearestEven11 => (11, Ties::Even),
        ResultRounding::Cut11 => (11, Ties::Cut),
        ResultRounding::HalfUp12 => (12, Ties::Up),
    };
    if !value.is_finite() {
        return value as f32;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(MIN_EXPONENT);
    let step = power_of_two(exponent - (bits - 1));
    let scaled = value.abs() / step;
    let rounded = match ties {
        // scaled has at most `bits` integer bits, so adding a half is exact for every sum of taps.
        Ties::Up => (scaled + 0.5).floor(),
        Ties::Even => scaled.round_ties_even(),
        Ties::Cut => scaled.floor(),
    };
    (rounded * step).copysign(value) as f32
}

/// Smallest or largest tap of one channel. NaN taps are passed over unless all are NaN.
#[must_use]
pub fn reduce(rules: &Rules, reduction: Reduction, taps: &Taps, weights: &[Weights; 2], corners: &Corners) -> f32 {
    let mut best = f32::NAN;
    let numerators = rules.fixed_point_weights().then(|| numerators(rules, weights, corners).0);
    for_each_tap(weights, |m, z, y, x| {
        let weighted = match &numerators {
            Some(numerators) => numerators[m][z][y][x] != 0,
            None => has_weight(weights, [m, z, y, x]),
        };
        if weighted || rules.minmax_taps == MinMaxTaps::All {
            keep_best(reduction, &mut best, taps[m][z][y][x]);
        }
    });
    best
}

/// A border colour's channel as [`crate::rules::BorderPrecision::Cut16`] keeps it, as FP32 bits. NaN and infinities stay.
#[must_use]
pub fn cut_to_fp16(bits: u32) -> u32 {
    const LARGEST: f32 = 65504.0;
    let value = f32::from_bits(bits);
    if !value.is_finite() {
        return bits;
    }
    let step = power_of_two(exponent(value) - 10);
    let cut = (f64::from(value) / step).trunc() * step;
    (cut as f32).clamp(-LARGEST, LARGEST).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Profile;

    #[test]
    fn three_ways_to_blend_two_values_end_in_three_results() {
        let [a, b, weight] = [0x3fbe_f679, 0x3e81_dbba, 0x3f4e_6ce2].map(f32::from_bits);
        let axis = AxisWeight { linear: true, step: 0, bits: 0, weight };
        let by = |accumulation| lerp(&Rules { accumulation, ..Profile::EXACT.rules }, &axis, a, || b).to_bits();
        assert_eq!(by(Accumulation::Fp32), 0x3efc_a1b7);
        assert_eq!(by(Accumulation::Difference), 0x3efc_a1b8);
        assert_eq!(by(Accumulation::DifferenceFused), 0x3efc_a1b9);
    }

    #[test]
    fn a_corner_s_weight_goes_to_the_other_three_by_thirds() {
        let axis = |weight| AxisWeight { linear: true, step: 0, bits: 0, weight };
        let weights = [axis(0.3), axis(0.6), AxisWeight::default(), AxisWeight::default()];
        let taps = [[9.0, 1.1], [2.3, 3.7]];
        let sum = sum_of_products(&Profile::LAVAPIPE.rules, &taps, &weights, Some([0, 0]));
        assert_eq!(sum.to_bits(), 0x401b_4e82);
        let shares = product_weights(&weights, Some([0, 0]));
        assert_eq!(shares[0][0], 0.0);
        assert!((shares.iter().flatten().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}
