//! From a coordinate operand to a position in texels: texel index and weight along one axis.

use crate::{
    rules::{
        CoordinateProduct, DenormalCoordinate, EdgeClamp, HalfBorder, NanCoordinate, PointRounding, Rules, TruncCoord,
        WeightRounding,
    },
    state::{Address, Filter},
};

/// Texel coordinates are limited to ±2^22, so that 8 fraction bits fit a 32-bit integer with room for offsets.
///
/// FP32 has no fraction from 2^23 on, so nothing but the choice of texel for absurd wrapped coordinates depends on it.
pub const TEXEL_LIMIT: f32 = 4_194_304.0;

/// The limit of texel coordinates that come from an FP32 product and go to a grid: 2^15 where the address mode does not repeat,
/// so that half a texel can be taken off in FP32 without rounding. Both are outside of every image, whatever the offset; the
/// weights there are seen in nothing but a sum's rounding.
#[inline(always)]
#[must_use]
pub const fn texel_limit(repeats: bool) -> f32 {
    if repeats { TEXEL_LIMIT } else { 32_768.0 }
}

/// Normalized coordinates are limited to ±2^24 before an exact product: all FP32 values beyond are even integers.
pub const NORMALIZED_LIMIT: f32 = 16_777_216.0;

/// A position along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Index of the (first) texel with the instruction's offset, before addressing.
    pub index: i32,
    /// Weight of the second texel in steps of the fixed-point grid; 0 without one and for point sampling.
    pub step: u32,
    /// Weight of the second texel in 0..=1 (exactly `step / 2^bits` on a grid); 0 for point sampling.
    pub weight: f32,
}

/// Fraction bits of the distance of a probe from the sample.
pub const SHIFT_BITS: u32 = 7;

/// What the position along an axis depends on beside the coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Texels along the axis in the level.
    pub size: u32,
    /// Addressing.
    pub address: Address,
    /// Filter along the axis.
    pub filter: Filter,
    /// Whether the coordinate counts texels.
    pub unnormalized: bool,
    /// S#.TRUNC_COORD.
    pub trunc_coord: bool,
    /// Texel offset of the instruction.
    pub offset: i32,
    /// Where a probe lies beside the sample, in `1 / 2^SHIFT_BITS` of a texel.
    pub shift: i32,
    /// Whether the footprint is gathered: its position is not clamped.
    pub gather: bool,
    /// Whether the view's first level has a power of two of texels along the axis.
    pub power_of_two: bool,
}

impl Axis {
    /// Whether the position is clamped to the outer texels' centres.
    #[inline(always)]
    pub(crate) fn clamps_position(&self, rules: &Rules) -> bool {
        rules.edge_clamp == EdgeClamp::Position
            && self.filter == Filter::Linear
            && !self.gather
            && matches!(self.address, Address::Edge | Address::MirrorOnceEdge)
    }
}

/// How a number goes to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Down.
    Floor,
    /// To the nearest, ties to even.
    NearestEven,
    /// To the nearest, ties up.
    HalfUp,
}

impl Rounding {
    /// Rounds an FP64 value.
    #[inline(always)]
    #[must_use]
    pub fn f64(self, x: f64) -> f64 {
        match self {
            Self::Floor => x.floor(),
            Self::NearestEven => x.round_ties_even(),
            Self::HalfUp => {
                let down = x.floor();
                // x - down is exact, unlike x + 0.5.
                if x - down >= 0.5 { down + 1.0 } else { down }
            }
        }
    }

    /// Rounds an FP32 value.
    #[inline(always)]
    #[must_use]
    pub fn f32(self, x: f32) -> f32 {
        match self {
            Self::Floor => x.floor(),
            Self::NearestEven => x.round_ties_even(),
            Self::HalfUp => {
                let down = x.floor();
                if x - down >= 0.5 { down + 1.0 } else { down }
            }
        }
    }
}

/// The rounding of coordinates in force for a filter.
#[inline(always)]
#[must_use]
pub fn rounding(rules: &Rules, filter: Filter, trunc_coord: bool) -> Rounding {
    match filter {
        Filter::Point if trunc_coord && rules.trunc_coord != TruncCoord::Ignored => Rounding::Floor,
        Filter::Linear if trunc_coord && rules.trunc_coord == TruncCoord::Everywhere => Rounding::Floor,
        Filter::Point => match rules.point_rounding {
            PointRounding::Floor => Rounding::Floor,
            PointRounding::NearestEven => Rounding::NearestEven,
            PointRounding::HalfUp => Rounding::HalfUp,
        },
        Filter::Linear => match rules.weight_rounding {
            WeightRounding::Floor => Rounding::Floor,
            WeightRounding::NearestEven => Rounding::NearestEven,
            WeightRounding::HalfUp => Rounding::HalfUp,
        },
    }
}

/// Replaces NaN and denormals, by the rules for them.
#[inline(always)]
#[must_use]
pub fn condition(rules: &Rules, bits: u32) -> f32 {
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        match rules.nan_coordinate {
            // What is kept is seen to where it makes a difference.
            NanCoordinate::Zero | NanCoordinate::Kept => 0.0,
            NanCoordinate::Lowest => f32::NEG_INFINITY,
        }
    } else if magnitude < 0x0080_0000 {
        match rules.denormal_coordinate {
            DenormalCoordinate::Kept if magnitude > 0 => f32::MIN_POSITIVE.copysign(f32::from_bits(bits)),
            DenormalCoordinate::Kept | DenormalCoordinate::Zero => 0.0,
        }
    } else {
        f32::from_bits(bits)
    }
}

/// The position of a coordinate along an axis.
#[inline(always)]
#[must_use]
pub fn position(rules: &Rules, axis: &Axis, coordinate: u32) -> Position {
    let c = step_down(rules, axis, condition(rules, coordinate));
    if rules.coordinate_product == CoordinateProduct::Exact { exact(rules, axis, c) } else { fp32(rules, axis, c) }
}

/// The largest size whose coordinates a step of 2^-`bits` resolves to 1/256 of a texel.
#[must_use]
pub const fn largest_size_of_step(bits: u32) -> u32 {
    1 << (bits - 8)
}

/// Fraction bits of the finest step, which the largest images have.
pub const FINEST_STEP: u32 = 22;

/// Floors a normalized coordinate to the grid of [`crate::rules::CoordinateStep`].
#[inline(always)]
pub(crate) fn step_down(rules: &Rules, axis: &Axis, c: f32) -> f32 {
    match rules.coordinate_step.bits() {
        Some(bits) if !axis.unnormalized => {
            let bits = (bits..FINEST_STEP).find(|&b| axis.size <= largest_size_of_step(b)).unwrap_or(FINEST_STEP);
            // Scaling by a power of two is exact; the limit keeps it finite.
            let scale = (1u32 << bits) as f32;
            (c.clamp(-NORMALIZED_LIMIT, NORMALIZED_LIMIT) * scale).floor() * (1.0 / scale)
        }
        _ => c,
    }
}

/// Limits of the coordinate, in texels, for the half-border modes.
#[inline(always)]
pub(crate) fn half_border_limits(rules: &Rules, axis: &Axis) -> Option<(f32, f32)> {
    let size = axis.size as f32;
    match axis.address {
        Address::HalfBorder if rules.half_border == HalfBorder::CoordinateClamp => Some((0.0, size)),
        Address::MirrorOnceHalfBorder if rules.half_border == HalfBorder::CoordinateClamp => Some((-size, size)),
        _ => None,
    }
}

#[inline(always)]
fn fp32(rules: &Rules, axis: &Axis, c: f32) -> Position {
    let mut s = if axis.unnormalized { c } else { c * axis.size as f32 };
    if let Some((low, high)) = half_border_limits(rules, axis) {
        s = s.clamp(low, high);
    }
    let Some(bits) = rules.subtexel_bits.bits() else {
        return unquantized(rules, axis, s.clamp(-TEXEL_LIMIT, TEXEL_LIMIT));
    };
    let limit = texel_limit(matches!(axis.address, Address::Wrap | Address::Mirror));
    s = s.clamp(-limit, limit);
    let fixed = rounding(rules, axis.filter, axis.trunc_coord).f32(s * (1u32 << bits) as f32);
    on_grid(rules, axis, fixed as i32, bits)
}

#[inline(always)]
fn unquantized(rules: &Rules, axis: &Axis, s: f32) -> Position {
    let shift = axis.shift as f32 * (1.0 / (1 << SHIFT_BITS) as f32);
    if axis.filter == Filter::Point {
        return Position { index: (s + shift).floor() as i32 + axis.offset, step: 0, weight: 0.0 };
    }
    let mut t = s - 0.5 + shift;
    if axis.clamps_position(rules) {
        t += axis.offset as f32;
        let last = (axis.size - 1) as f32;
        let mirrored = axis.address == Address::MirrorOnceEdge;
        t = t.clamp(if mirrored { -last - 1.0 } else { 0.0 }, last);
    }
    let index = t.floor();
    let offset = if axis.clamps_position(rules) { 0 } else { axis.offset };
    Position { index: index as i32 + offset, step: 0, weight: t - index }
}

#[inline(always)]
fn exact(rules: &Rules, axis: &Axis, c: f32) -> Position {
    let mut c = f64::from(c.clamp(-NORMALIZED_LIMIT, NORMALIZED_LIMIT));
    if !axis.unnormalized && matches!(axis.address, Address::Wrap | Address::Mirror) {
        // The modes repeat after two images; taking whole periods off first keeps the product small. The difference is
        // exact in FP64 for every multiple of 2^-51, so for all coordinates on a step.
        c -= 2.0 * (c * 0.5).floor();
    }
    let mut s = if axis.unnormalized { c } else { c * f64::from(axis.size) };
    if let Some((low, high)) = half_border_limits(rules, axis) {
        s = s.clamp(f64::from(low), f64::from(high));
    }
    s = s.clamp(f64::from(-TEXEL_LIMIT), f64::from(TEXEL_LIMIT));
    // Rules::inconsistency keeps exact products and unquantized positions apart; 8 bits is what a caller that ignores it gets.
    let bits = rules.subtexel_bits.bits().unwrap_or(8);
    let fixed = rounding(rules, axis.filter, axis.trunc_coord).f64(s * f64::from(1u32 << bits));
    on_grid(rules, axis, fixed as i32, bits)
}

/// Splits a fixed-point texel coordinate into index and weight.
#[inline(always)]
fn on_grid(rules: &Rules, axis: &Axis, fixed: i32, bits: u32) -> Position {
    let fixed = fixed + (axis.offset << bits) + (axis.shift << bits >> SHIFT_BITS);
    if axis.filter == Filter::Point {
        return Position { index: fixed >> bits, step: 0, weight: 0.0 };
    }
    // Half a texel is a whole number of steps, so it may be taken off after rounding.
    let mut fixed = fixed - (1 << (bits - 1));
    if axis.clamps_position(rules) {
        let last = (axis.size as i32 - 1) << bits;
        // Mirrored about coordinate 0, half a texel before the first centre. Between the two images of that centre both
        // taps are the first texel, with weights that can be seen in the sum's rounding.
        let mirrored = axis.address == Address::MirrorOnceEdge;
        fixed = fixed.clamp(if mirrored { -last - (1 << bits) } else { 0 }, last);
    }
    let step = fixed as u32 & ((1 << bits) - 1);
    Position { index: fixed >> bits, step, weight: step as f32 * (1.0 / (1u32 << bits) as f32) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rules::Profile;

    /// An axis of a view whose first level has this size.
    pub fn axis(size: u32, address: Address, filter: Filter) -> Axis {
        Axis {
            size,
            address,
            filter,
            unnormalized: false,
            trunc_coord: false,
            offset: 0,
            shift: 0,
            gather: false,
            power_of_two: size.is_power_of_two(),
        }
    }

    fn at(rules: &Rules, axis: &Axis, c: f32) -> (i32, u32) {
        let p = position(rules, axis, c.to_bits());
        (p.index, p.step)
    }

    #[test]
    fn gfx1035_rounds_weights_to_nearest_even_and_carries() {
        let rules = Profile::GFX1035.rules;
        let a = axis(32, Address::Edge, Filter::Linear);
        for (steps, expected) in [(1.5, (2, 2)), (2.5, (2, 2)), (3.5, (2, 4)), (255.5, (3, 0)), (255.4, (2, 255))] {
            assert_eq!(at(&rules, &a, (2.5 + steps / 256.0) / 32.0), expected, "{steps}");
        }
    }

    #[test]
    fn gfx1035_point_reads_the_next_texel_just_below_the_edge_unless_truncated() {
        let rules = Profile::GFX1035.rules;
        let mut a = axis(32, Address::Edge, Filter::Point);
        assert_eq!(at(&rules, &a, (3.0 - 1.0 / 4096.0) / 32.0), (3, 0));
        assert_eq!(at(&rules, &a, (3.0 - 1.0 / 400.0) / 32.0), (2, 0));
        a.trunc_coord = true;
        assert_eq!(at(&rules, &a, (3.0 - 1.0 / 4096.0) / 32.0), (2, 0));
    }

    #[test]
    fn h200_floors_coordinates_and_rounds_weights_half_up() {
        let rules = Profile::H200.rules;
        let a = axis(32, Address::Wrap, Filter::Linear);
        assert_eq!(at(&rules, &a, (2.5 + 2.5 / 256.0) / 32.0), (2, 3));
        // -1e-10 is floored to -2^-21: 1/256 below position -0.5 after rounding, one period up.
        assert_eq!(at(&rules, &a, -1e-10), (63, 128));
        assert_eq!(at(&rules, &axis(32, Address::Wrap, Filter::Point), -1e-10), (63, 0));
    }

    #[test]
    fn special_coordinates_have_a_result_under_all_profiles() {
        for profile in Profile::ALL {
            for address in Address::ALL {
                for filter in [Filter::Point, Filter::Linear] {
                    for c in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-40, -1e-40, -0.0] {
                        let p = position(&profile.rules, &axis(37, address, filter), c.to_bits());
                        assert!(
                            p.index.unsigned_abs() <= (1 << 22) + 1 && (0.0..=1.0).contains(&p.weight),
                            "{c} {p:?}"
                        );
                    }
                }
            }
            let a = axis(16, Address::Edge, Filter::Linear);
            let zero = position(&profile.rules, &a, 0);
            for c in [f32::NAN, 1e-40, -1e-40, -0.0] {
                assert_eq!(position(&profile.rules, &a, c.to_bits()), zero);
            }
        }
    }
}
