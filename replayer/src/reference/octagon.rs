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

/// `(factor * m + rounding) / 2^shift` of a value's 10-bit mantissa m, cut to 10 bits again; 0 of 0. The value is short and
/// not negative.
#[inline(always)]
fn scaled(value: f32, (factor, rounding, shift): (f32, f32, f32)) -> f32 {
    let product = (factor * mantissa(value) + rounding) * (unit(value) * shift);
    if value == 0.0 { 0.0 } else { short(product) }
}

/// Factor, rounding and power of two of `scaled`, for shares of a length: 11/32 and 1/4.
pub const LENGTH_SHARES: [(f32, f32, f32); 2] = [(11.0, 4.0, 1.0 / 16_384.0), (8.0, 0.0, 1.0 / 16_384.0)];

/// The same for shares of 11/16 of a length: 11/16, 121/512 and 11/64.
pub const DIAGONAL_SHARES: [(f32, f32, f32); 3] =
    [(11.0, 4.0, 1.0 / 8_192.0), (121.0, 32.0, 1.0 / 262_144.0), (88.0, 32.0, 1.0 / 262_144.0)];

/// The place of the last of 11 bits below a value's leading one, and its reciprocal; the value is positive.
#[inline(always)]
fn guard(value: f32) -> (f32, f32) {
    let unit = unit(value);
    (unit * (1.0 / 1024.0), f32::from_bits(0x7f00_0000 - unit.to_bits()) * 1024.0)
}

/// The sum of short values: the one of smaller magnitude is cut to 11 bits below the other's leading one, the sum to 10.
#[inline(always)]
fn sum(a: f32, b: f32) -> f32 {
    let (larger, smaller) = if a.abs() >= b.abs() { (a, b) } else { (b, a) };
    if larger == 0.0 {
        return 0.0;
    }
    let (guard, per_guard) = guard(larger.abs());
    let kept = (smaller * per_guard).trunc() * guard;
    short(larger + kept)
}

/// Lengths along the axes, the largest first.
#[inline(always)]
fn sorted([x, y, z]: [f32; 3]) -> [f32; 3] {
    let (larger, smaller) = (x.max(y), x.min(y));
    [larger.max(z), smaller.max(larger.min(z)), smaller.min(z)]
}

/// The length of a vector: its largest component, 11/32 of the next and 1/4 of the smallest.
#[inline(always)]
fn length(along: [f32; 3]) -> f32 {
    let [most, middle, least] = sorted(along.map(f32::abs));
    let [of_middle, of_least] = LENGTH_SHARES;
    sum(most, sum(scaled(middle, of_middle), scaled(least, of_least)))
}

/// 11/16 of the length of a vector, which is a diagonal of the footprint.
#[inline(always)]
fn diagonal(along: [f32; 3]) -> f32 {
    let [most, middle, least] = sorted(along.map(f32::abs));
    let [of_most, of_middle, of_least] = DIAGONAL_SHARES;
    sum(scaled(most, of_most), sum(scaled(middle, of_middle), scaled(least, of_least)))
}

/// The product of the mantissas of two short values as a multiplier gives it whose columns below 2^6 are cut from each
/// partial product, in steps of 2^6 and with 7 of them added to round; their powers of two are left out.
#[inline(always)]
fn mantissa_product(a: f32, b: f32) -> f32 {
    let (a, b) = (mantissa(a) as u32, mantissa(b) as u32);
    let cut: u32 = (0..6).map(|bit| (b >> bit & 1) * (a << bit & 0x3f)).sum();
    ((a * b - cut) / 64 + 7) as f32
}

/// The product of two short values, short.
#[inline(always)]
fn product(a: f32, b: f32) -> f32 {
    let (x, y) = (a.abs(), b.abs());
    let magnitude = short(mantissa_product(x, y) * (unit(x) * (1.0 / 4096.0)) * unit(y));
    if x == 0.0 || y == 0.0 { 0.0 } else { magnitude.copysign(a) * 1.0f32.copysign(b) }
}

/// A derivative in texels, shortened.
#[inline(always)]
fn in_texels(derivative: f32, size: u32) -> f32 {
    let derivative = short(derivative);
    // A power of two only moves the exponent.
    if size.is_power_of_two() { short(derivative * size as f32) } else { product(derivative, short(size as f32)) }
}

/// The octagon around a footprint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Octagon {
    /// Its largest extent in texels.
    pub extent: f32,
    /// The area of the parallelogram in x and y that the derivatives span, in texels.
    pub area: f32,
    /// The vector in texels whose length is the largest extent.
    pub axis: [f32; 3],
}

impl Octagon {
    /// The octagon of derivatives along x and y, on a level of these sizes. The derivatives are not NaN.
    #[must_use]
    pub fn new(derivatives: &[[f32; 3]; 2], size: &[u32; 3]) -> Self {
        let [x, y]: [[f32; 3]; 2] = derivatives.map(|d| std::array::from_fn(|axis| in_texels(d[axis], size[axis])));
        let of_x = length(x);
        let of_y = length(y);
        let added: [f32; 3] = std::array::from_fn(|axis| sum(x[axis], y[axis]));
        // The shorter one is taken off the longer.
        let (from, off) = if of_y >= of_x { (y, x) } else { (x, y) };
        let difference: [f32; 3] = std::array::from_fn(|axis| sum(from[axis], -off[axis]));
        let shortened = |along: [f32; 3]| along.map(|value| scaled(value.abs(), DIAGONAL_SHARES[0]).copysign(value));
        let (of_sum, of_difference) = (diagonal(added), diagonal(difference));
        // Of equal extents x comes first, then the sum, y and the difference; y before x alone was not seen to matter.
        let mut widest = (of_x, x);
        for (extent, axis) in [(of_sum, shortened(added)), (of_y, y), (of_difference, shortened(difference))] {
            if extent > widest.0 {
                widest = (extent, axis);
            }
        }
        let (straight, crossed) = (product(x[0], y[1]), product(x[1], y[0]));
        Self { extent: widest.0, area: difference_of_products(straight, crossed), axis: widest.1 }
    }
}

/// The magnitude of `a - b`, both short, each cut to 11 bits below the leading one of the larger.
#[inline(always)]
fn difference_of_products(a: f32, b: f32) -> f32 {
    let larger = a.abs().max(b.abs());
    if larger == 0.0 {
        return 0.0;
    }
    let (guard, per_guard) = guard(larger);
    let difference = (a * per_guard).trunc() - (b * per_guard).trunc();
    difference.abs() * guard
}

/// The level of detail of a footprint with these derivatives along x and y, on a level of these sizes; a multiple of 1/256.
/// The derivatives are not NaN.
#[must_use]
pub fn lod(derivatives: &[[f32; 3]; 2], size: &[u32; 3]) -> f32 {
    log2(Octagon::new(derivatives, size).extent)
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
