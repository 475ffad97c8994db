//! From taps and weights to a filtered value.

use crate::rules::{MinMaxTaps, ResultRounding, Rules, WeightScheme, ZeroWeightTaps};
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
        if tap == 0 { self.weight < 1.0 } else { self.weight > 0.0 }
    }
}

/// The taps of a sample in one channel: `[level][slice][row][column]`.
pub type Taps = [[[[f32; 2]; 2]; 2]; 2];

/// The weights of a sample in one level: along x, y, z, and between the levels (the same in both).
pub type Weights = [AxisWeight; 4];

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;
const MIP: usize = 3;

/// Number of taps along an axis.
#[inline(always)]
fn count(axis: &AxisWeight) -> usize {
    if axis.linear { 2 } else { 1 }
}

/// Blends the taps of one channel.
#[must_use]
pub fn blend(rules: &Rules, taps: &Taps, weights: &[Weights; 2]) -> f32 {
    match rules.accumulation.aligned_bits() {
        Some(bits) => aligned(rules, taps, weights, bits),
        None if rules.weight_scheme == WeightScheme::Totals => {
            let (numerators, bits) = numerators(rules, weights);
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
                let slice = |z: usize| {
                    let row = |y: usize| {
                        let [a, b] = taps[m][z][y];
                        lerp(rules, &weights[m][X], a, || b)
                    };
                    lerp(rules, &weights[m][Y], row(0), || row(1))
                };
                lerp(rules, &weights[m][Z], slice(0), || slice(1))
            };
            round_result(rules, f64::from(lerp(rules, &weights[0][MIP], level(0), || level(1))))
        }
    }
}

/// `a (1-w) + b w` in FP32, each operation rounded once; `a` where there is one tap.
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
    a * (1.0 - axis.weight) + b() * axis.weight
}

fn for_each_tap(weights: &[Weights; 2], mut visit: impl FnMut(usize, usize, usize, usize)) {
    for m in 0..count(&weights[0][MIP]) {
        for z in 0..count(&weights[m][Z]) {
            for y in 0..count(&weights[m][Y]) {
                for x in 0..count(&weights[m][X]) {
                    visit(m, z, y, x);
                }
            }
        }
    }
}

/// Integer weights of all taps `[level][slice][row][column]`, and log2 of the whole.
#[must_use]
pub fn numerators(rules: &Rules, weights: &[Weights; 2]) -> ([[[[u64; 2]; 2]; 2]; 2], u32) {
    let mut result = [[[[0; 2]; 2]; 2]; 2];
    if rules.weight_scheme == WeightScheme::Product {
        let bits = weights[0].iter().filter(|w| w.linear).map(|w| w.bits).sum();
        let along = |w: &AxisWeight, tap: usize| -> u64 {
            match (w.linear, tap) {
                (false, _) => 1,
                (true, 0) => (1u64 << w.bits) - u64::from(w.step),
                (true, _) => u64::from(w.step),
            }
        };
        for_each_tap(weights, |m, z, y, x| {
            result[m][z][y][x] = along(&weights[m][MIP], m)
                * along(&weights[m][Z], z)
                * along(&weights[m][Y], y)
                * along(&weights[m][X], x);
        });
        return (result, bits);
    }
    // The whole is 256; each axis splits its total in two: levels first, then slices, columns, rows. Of a pair, the share
    // of the second column is rounded, and in the rows the outer tap's.
    let split = |total: u64, w: &AxisWeight| -> (u64, u64) {
        if !w.linear {
            return (total, 0);
        }
        let second = (total * u64::from(w.step) + (1 << (w.bits - 1))) >> w.bits;
        (total - second, second)
    };
    let (l0, l1) = split(256, &weights[0][MIP]);
    for (m, level) in [l0, l1].into_iter().enumerate() {
        let (s0, s1) = split(level, &weights[m][Z]);
        for (z, slice) in [s0, s1].into_iter().enumerate() {
            let (c0, c1) = split(slice, &weights[m][X]);
            let y = &weights[m][Y];
            if y.linear {
                let rest = (1u64 << y.bits) - u64::from(y.step);
                let half = 1u64 << (y.bits - 1);
                let r00 = (c0 * rest + half) >> y.bits;
                let r11 = (c1 * u64::from(y.step) + half) >> y.bits;
                result[m][z] = [[r00, c1 - r11], [c0 - r00, r11]];
            } else {
                result[m][z][0] = [c0, c1];
            }
        }
    }
    (result, 8)
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
    weights[m][MIP].has_weight(m)
        && weights[m][Z].has_weight(z)
        && weights[m][Y].has_weight(y)
        && weights[m][X].has_weight(x)
}

fn aligned(rules: &Rules, taps: &Taps, weights: &[Weights; 2], fraction_bits: u32) -> f32 {
    let (numerators, weight_bits) = numerators(rules, weights);
    let used = |m: usize, z: usize, y: usize, x: usize| {
        numerators[m][z][y][x] != 0 || rules.zero_weight_taps == ZeroWeightTaps::Included
    };
    let (mut nan, mut infinity, mut negative_infinity) = (false, false, false);
    for_each_tap(weights, |m, z, y, x| {
        if has_weight(weights, [m, z, y, x]) || rules.zero_weight_taps == ZeroWeightTaps::Included {
            let value = taps[m][z][y][x];
            nan |= value.is_nan();
            infinity |= value == f32::INFINITY;
            negative_infinity |= value == f32::NEG_INFINITY;
        }
    });
    if nan || infinity && negative_infinity {
        return f32::NAN;
    }
    if infinity || negative_infinity {
        return if infinity { f32::INFINITY } else { f32::NEG_INFINITY };
    }
    let mut total = 0.0f64;
    for (m, level) in weights.iter().enumerate().take(count(&weights[0][MIP])) {
        for z in 0..count(&level[Z]) {
            let group = || (0..count(&level[Y])).flat_map(|y| (0..count(&level[X])).map(move |x| (y, x)));
            let largest = group().filter(|&(y, x)| used(m, z, y, x)).map(|(y, x)| exponent(taps[m][z][y][x])).max();
            let Some(largest) = largest else { continue };
            let mut sum = 0.0f64;
            for (y, x) in group() {
                // A special value without a weight of its own has been dealt with above.
                if numerators[m][z][y][x] != 0 && taps[m][z][y][x].is_finite() {
                    let cut = (f64::from(taps[m][z][y][x]) * power_of_two(fraction_bits as i32 - largest)).trunc();
                    sum += cut * numerators[m][z][y][x] as f64;
                }
            }
            total += sum * power_of_two(largest - fraction_bits as i32 - weight_bits as i32);
        }
    }
    round_result(rules, total)
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
pub fn reduce(rules: &Rules, reduction: Reduction, taps: &Taps, weights: &[Weights; 2]) -> f32 {
    let mut best = f32::NAN;
    let numerators = rules.fixed_point_weights().then(|| numerators(rules, weights).0);
    for_each_tap(weights, |m, z, y, x| {
        let weighted = match &numerators {
            Some(numerators) => numerators[m][z][y][x] != 0,
            None => has_weight(weights, [m, z, y, x]),
        };
        if weighted || rules.minmax_taps == MinMaxTaps::All {
            let value = taps[m][z][y][x];
            let better = if reduction == Reduction::Min { value < best } else { value > best };
            if better || best.is_nan() {
                best = value;
            }
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
