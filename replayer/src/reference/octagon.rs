//! [`LodDerivatives::Octagon`](crate::rules::LodDerivatives::Octagon): a footprint's extent and its logarithm in short
//! mantissas.
//!
//! Sums of products that the hardware cuts are written as FP32 operations that are exact: all values have at most 14 bits.

use crate::reference::derivatives::log2_of_mantissa;

/// Bits of an FP32 value that stay: sign, exponent and 9 bits of the fraction.
pub const MANTISSA_MASK: u32 = 0xffff_c000;

/// The largest extent; a smaller one than its reciprocal counts as none.
pub const LIMIT: f32 = 1.152_921_5e18;

/// What is added to the logarithm in steps before it is cut.
///
/// All 256 entries of the measured table lie within it: it may be 0.4687 to 0.4702.
pub const LOG2_ROUNDING: f32 = 0.469_5;

/// Cuts a value's mantissa to 10 bits; 0 below 1 / [`LIMIT`], and at most [`LIMIT`].
#[inline(always)]
fn short(value: f32) -> f32 {
    let magnitude = value.abs().min(LIMIT);
    let kept = if magnitude < 1.0 / LIMIT { 0.0 } else { f32::from_bits(magnitude.to_bits() & MANTISSA_MASK) };
    kept.copysign(value)
}

/// The power of two of a value that is not negative; 0 of 0.
#[inline(always)]
fn unit(value: f32) -> f32 {
    f32::from_bits(value.to_bits() & 0x7f80_0000)
}

/// The 10-bit mantissa of a short value, 512 to 1023, as a number; of 0 as that of 1.
#[inline(always)]
fn mantissa(value: f32) -> f32 {
    (value.to_bits() >> 14 & 0x1ff | 0x200) as f32
}

/// 11/16 of a sum of short values.
#[inline(always)]
fn eleven_sixteenths(sum: f32) -> f32 {
    let sum = short(sum.abs());
    ((11.0 * mantissa(sum) + 4.0) * 0.125).floor() * (unit(sum) * (1.0 / 1024.0))
}

/// The length of a vector of lengths along the axes, shortened.
#[inline(always)]
fn length(along: [f32; 3]) -> f32 {
    let [x, y, z] = along.map(short);
    let (larger, smaller) = (x.max(y), x.min(y));
    let most = larger.max(z);
    let least = smaller.min(z);
    let middle = smaller.max(larger.min(z));
    let per_unit = f32::from_bits(0x7f00_0000 - unit(most).to_bits());
    // In quarters of the largest one's last place, as both shares are cut.
    let share = |factor: f32, rounding: f32, value: f32| {
        ((factor * mantissa(value) + rounding) * (unit(value) * per_unit) * 0.125).floor() * 0.25
    };
    let rest = (share(11.0, 4.0, middle) + share(8.0, 0.0, least)).floor();
    (mantissa(most) + rest) * (unit(most) * (1.0 / 512.0))
}

/// A derivative in texels, shortened: the product is rounded where the size is no power of two.
#[inline(always)]
fn in_texels(derivative: f32, size: u32) -> f32 {
    let texels = short(derivative) * size as f32;
    // Half a place more before the cut, which may carry into the exponent.
    let half = if size.is_power_of_two() { 0 } else { 0x2000 };
    short(f32::from_bits(texels.to_bits() + half))
}

/// The level of detail of a footprint with these derivatives along x and y, on a level of these sizes; a multiple of 1/256.
/// The derivatives are not NaN.
#[must_use]
pub fn lod(derivatives: &[[f32; 3]; 2], size: &[u32; 3]) -> f32 {
    let [x, y]: [[f32; 3]; 2] = derivatives.map(|d| std::array::from_fn(|axis| in_texels(d[axis], size[axis])));
    let sum = std::array::from_fn(|axis| eleven_sixteenths(x[axis] + y[axis]));
    let difference = std::array::from_fn(|axis| eleven_sixteenths(x[axis] - y[axis]));
    let extents = [length(x.map(f32::abs)), length(y.map(f32::abs)), length(sum), length(difference)];
    log2(extents.into_iter().fold(0.0f32, f32::max))
}

/// log2 in steps of 1/256, from the exponent and 8 bits of the fraction; -64 of 0.
#[must_use]
pub fn log2(extent: f32) -> f32 {
    let bits = extent.to_bits();
    if bits < 0x0080_0000 {
        return -64.0;
    }
    let exponent = (bits >> 23) as i32 - 127;
    let place = bits >> 15 & 0xff;
    // The middle of what has these bits.
    let fraction = (place as f32 + 0.5) * (1.0 / 256.0);
    let steps = (log2_of_mantissa(fraction) * 256.0 + LOG2_ROUNDING).floor().min(255.0);
    let steps = if place == 0 { 0.0 } else { steps };
    exponent as f32 + steps * (1.0 / 256.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an H200 returned for 65,536 lengths from 2^-9 to 2^9: places where the steps are not log2 of the middle, rounded.
    #[test]
    fn the_logarithm_is_the_measured_table() {
        let one_less = [61, 86, 108, 109, 110, 111, 115, 116, 117, 141, 162, 170];
        for place in 0..256u32 {
            let middle = (256.0 * (1.0 + (f64::from(place) + 0.5) / 256.0).log2()).round();
            let expected = match place {
                0 => 0.0,
                255 => 255.0,
                _ if one_less.contains(&place) => middle - 1.0,
                _ => middle,
            };
            for exponent in [-3, 0, 5] {
                let extent = 2f32.powi(exponent) * (1.0 + (place as f32 + 0.9) / 256.0);
                assert_eq!(log2(extent), exponent as f32 + expected as f32 / 256.0, "{place}");
            }
        }
        assert_eq!(log2(0.0), -64.0);
    }

    #[test]
    fn lengths_are_the_measured_sums() {
        // 515 and 1011 in units of 1/512 beside a longer one: 11/32 of them, cut.
        assert_eq!(length([1.998_046_9, 515.0 / 512.0, 0.0]), (1023.0 + 177.0) / 512.0);
        assert_eq!(length([2.0, 1011.0 / 512.0, 0.0]), 2.0 * (512.0 + 173.0) / 512.0);
        assert_eq!(length([0.0, 0.0, 0.25]), 0.25);
        assert_eq!(length([0.0; 3]), 0.0);
        // Collinear derivatives of the same length reach 11/16 of both.
        let size = [256, 256, 1];
        let of_texels = |x: f32, y: f32| lod(&[[x / 256.0, 0.0, 0.0], [y / 256.0, 0.0, 0.0]], &size);
        assert_eq!(of_texels(2.0, 2.0), log2(2.75));
        assert_eq!(of_texels(2.0, -0.5), 1.0);
        assert_eq!(of_texels(0.0, 0.0), -64.0);
    }
}
