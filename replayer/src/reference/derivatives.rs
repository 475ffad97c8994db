//! From derivatives of the coordinates to a level of detail, and to the probes of an anisotropic filter.

use crate::{
    reference::{
        coordinate::condition,
        octagon::{self, Octagon},
        pairs::{self, Line},
    },
    rules::{AnisotropyRule, LodDerivatives, Rules},
    state::{Anisotropy, State},
};

/// A level of detail that was computed, and how many probes an anisotropic filter takes along which line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computed {
    /// log2 of the footprint's length (over the number of probes), before bias and clamps.
    pub lod: f32,
    /// log2 of the number of probes.
    pub log2_probes: u32,
    /// Change of each coordinate along the footprint's longer side.
    pub major: [f32; 3],
    /// The line of probes by [`AnisotropyRule::Pairs`].
    pub line: Line,
}

/// Coefficients of log2(1 + f) / f on 0..1, lowest power first: Chebyshev interpolation, error of log2 below 2^-19.
///
/// How the hardware takes the logarithm is not known; LODs are used in steps of 1/256.
pub const LOG2_COEFFICIENTS: [f32; 7] =
    [1.442_693, -0.721_144_1, 0.477_496_36, -0.338_377_2, 0.213_943_21, -0.094_626_81, 0.020_016_65];

/// The lowest and highest LOD that [`half_log2`] gives, for 0 and for infinity.
pub const LOG2_LIMIT: f32 = 64.0;

/// `log2(square) / 2` for a sum of squares, in FP32 with a fixed order of operations; ±64 for 0 and infinity.
#[inline(always)]
#[must_use]
pub fn half_log2(square: f32) -> f32 {
    let bits = square.to_bits();
    if bits < 0x0080_0000 {
        return -LOG2_LIMIT;
    }
    if bits >= 0x7f80_0000 {
        return LOG2_LIMIT;
    }
    let exponent = (bits >> 23) as i32 - 127;
    let f = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000) - 1.0;
    (exponent as f32 + log2_of_mantissa(f)) * 0.5
}

/// Half of a square's logarithm, which is taken as linear between powers of two: the exponent less 1 plus the mantissa, in
/// FP32. What is not finite counts as 0, and 0 has the exponent -127.
#[inline(always)]
#[must_use]
pub fn half_linear_log2(square: f32) -> f32 {
    let bits = if square.is_finite() { square.to_bits() } else { 0 };
    let exponent = (bits >> 23) as i32 - 128;
    let mantissa = f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000);
    (exponent as f32 + mantissa) * 0.5
}

/// `log2(1 + f)` for a fraction in 0..1, in FP32 with a fixed order of operations.
#[inline(always)]
#[must_use]
pub fn log2_of_mantissa(f: f32) -> f32 {
    LOG2_COEFFICIENTS.iter().rev().fold(0.0f32, |sum, c| sum * f + c) * f
}

/// Computes the level of detail from the derivatives along x and y of each coordinate, as FP32 bits.
///
/// The footprint's sides are the lengths of the two derivative vectors in texels of the view's first level; the LOD is log2
/// of the longer one, or as [`LodDerivatives`] says. With anisotropy the longer side is covered by the smallest power of two
/// of probes that is at least the sides' ratio less ANISO_THRESHOLD (PAL's anisoThreshold), and the LOD is that of a probe's
/// share.
#[must_use]
pub fn computed(rules: &Rules, state: &State, derivatives: &[[u32; 3]; 2]) -> Computed {
    let size = state.extent.level_size(state.base_level);
    let axes = state.view.axes();
    let size: [u32; 3] = std::array::from_fn(|axis| if state.unnormalized { 1 } else { size[axis] });
    let along: [[f32; 3]; 2] = derivatives.map(|derivative| {
        std::array::from_fn(|axis| if axis < axes { condition(rules, derivative[axis]) } else { 0.0 })
    });
    let changes = along.map(|along| along.map(without_tiny));
    let texels = changes.map(|along| [0, 1, 2].map(|axis| along[axis] * size[axis] as f32));
    let sides = texels.map(|texels: [f32; 3]| match rules.lod_derivatives {
        LodDerivatives::Length | LodDerivatives::Octagon | LodDerivatives::LinearLogarithm => {
            texels.iter().fold(0.0f32, |sum, t| sum + t * t)
        }
        LodDerivatives::Largest => texels.iter().fold(0.0f32, |most, t| most.max(t * t)),
    });
    let x_is_longer = sides[0] >= sides[1];
    let (long, short) = if x_is_longer { (sides[0], sides[1]) } else { (sides[1], sides[0]) };
    if let (Some(anisotropy), AnisotropyRule::Pairs) = (state.anisotropy, rules.anisotropy) {
        let octagon = Octagon::new(&along, &size);
        let (lod, line) = if pairs::covers(state.view) {
            pairs::line(&octagon, anisotropy)
        } else {
            (octagon::log2(octagon.extent), Line::default())
        };
        return Computed { lod, line, ..Computed::default() };
    }
    let log2_probes = state.anisotropy.map_or(0, |a| log2_probes(a, long, short));
    let log2_long = match rules.lod_derivatives {
        LodDerivatives::Octagon => octagon::lod(&along, &size),
        LodDerivatives::Length | LodDerivatives::Largest => half_log2(long),
        LodDerivatives::LinearLogarithm => half_linear_log2(long),
    };
    let major = changes[usize::from(!x_is_longer)];
    Computed { lod: log2_long - log2_probes as f32, log2_probes, major, line: Line::default() }
}

/// The smallest k, up to the limit, with `2^k >= ratio - threshold`, by comparing squares.
#[inline(always)]
fn log2_probes(anisotropy: Anisotropy, long: f32, short: f32) -> u32 {
    (0..anisotropy.log2_ratio).find(|&k| long <= short * ratio_square(anisotropy, k)).unwrap_or(anisotropy.log2_ratio)
}

/// The square of the largest ratio that `2^k` probes serve.
#[inline(always)]
#[must_use]
pub fn ratio_square(anisotropy: Anisotropy, k: u32) -> f32 {
    let ratio = (1u32 << k) as f32 + anisotropy.threshold as f32 * 0.125;
    ratio * ratio
}

/// Smaller derivatives count as 0 in lengths and in lines of probes (2^-60, far below a step of any image and any LOD), so that
/// neither their squares nor parts of them are denormal: executors differ in those.
pub(crate) const SMALLEST_CHANGE: f32 = f32::from_bits((127 - 60) << 23);

#[inline(always)]
fn without_tiny(change: f32) -> f32 {
    if change.abs() < SMALLEST_CHANGE { 0.0 } else { change }
}

/// Where probe `index` of `2^log2_probes` lies on the footprint's longer side, -0.5 to 0.5: the middle of its share.
#[inline(always)]
#[must_use]
pub fn probe_place(index: u32, log2_probes: u32) -> f32 {
    (2 * index + 1) as f32 * (0.5 / (1u32 << log2_probes) as f32) - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_within_a_fraction_of_a_lod_step() {
        for n in 1..4_000 {
            let x = 1.005f32.powi(n - 2000);
            let exact = (f64::from(x).log2() * 0.5) as f32;
            assert!((half_log2(x) - exact).abs() < 4e-6, "{x} {} {exact}", half_log2(x));
        }
        assert_eq!(half_log2(1.0), 0.0);
        assert_eq!(half_log2(4.0), 1.0);
        assert_eq!(half_log2(0.0625), -2.0);
        assert_eq!((half_log2(0.0), half_log2(f32::INFINITY)), (-64.0, 64.0));
    }

    #[test]
    fn probes_cover_the_ratio_and_lie_symmetrically() {
        let a = Anisotropy { log2_ratio: 4, threshold: 0 };
        for (long, expected) in [(1.0, 0), (1.1, 1), (2.0, 1), (2.1, 2), (4.0, 2), (9.0, 4), (100.0, 4)] {
            assert_eq!(log2_probes(a, long * long, 1.0), expected, "{long}");
        }
        let a = Anisotropy { log2_ratio: 2, threshold: 4 };
        assert_eq!([1.5, 1.6, 2.5, 2.6].map(|l: f32| log2_probes(a, l * l, 1.0)), [0, 1, 1, 2]);
        assert_eq!([0, 1, 2, 3].map(|i| probe_place(i, 2)), [-0.375, -0.125, 0.125, 0.375]);
        assert_eq!(probe_place(0, 0), 0.0);
    }

    #[test]
    fn neither_squares_nor_steps_of_derivatives_are_denormal() {
        for change in [f32::MIN_POSITIVE, -f32::MIN_POSITIVE, SMALLEST_CHANGE, -SMALLEST_CHANGE, 1.0, 0.0] {
            for step in (0..16).map(|index| without_tiny(change) * probe_place(index, 4)) {
                assert!(step == 0.0 || step.is_normal(), "{change:e} {step:e}");
            }
            let square = without_tiny(change) * without_tiny(change);
            assert!(square == 0.0 || square.is_normal(), "{change:e} {square:e}");
        }
        assert_eq!(without_tiny(-SMALLEST_CHANGE), -SMALLEST_CHANGE);
    }

    #[test]
    fn a_linear_logarithm_is_exact_at_powers_of_two_only() {
        assert_eq!([1.0, 4.0, 64.0, 0.25].map(half_linear_log2), [0.0, 1.0, 3.0, -1.0]);
        assert_eq!([6.0, 1.5].map(half_linear_log2), [1.25, 0.25]);
        assert_eq!([0.0, f32::INFINITY, f32::NAN].map(half_linear_log2), [-63.5; 3]);
    }
}
