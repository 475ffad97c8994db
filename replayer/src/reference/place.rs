//! The two texels along an axis, and the weight between them: position and addressing together.
//!
//! Without a fixed-point grid the rules can ask for steps that change the coordinate and not the index: folding, limiting and
//! moving it. Then a texel does not follow from an index alone.

use crate::{
    reference::{
        address::{address, mirror_once},
        coordinate::{Axis, Position, TEXEL_LIMIT, condition, half_border_limits, position, step_down},
    },
    rules::{AddressStage, EdgeClamp, IntegerConversion, NanCoordinate, OffsetStage, Rules},
    state::{Address, Filter},
};

/// Where a sample lies along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Index of the first tap (before addressing, where that is by index) and weight of the second.
    pub position: Position,
    /// The texels of both taps; `None` for the border.
    pub taps: [Option<u32>; 2],
}

/// The largest fraction that a point-sampled, folded coordinate has: the FP32 below 1.
pub const LARGEST_FRACTION: f32 = 1.0 - f32::EPSILON / 2.0;

/// The place of a coordinate along an axis.
#[inline(always)]
#[must_use]
pub fn place(rules: &Rules, axis: &Axis, coordinate: u32) -> Place {
    let by_index = rules.edge_clamp != EdgeClamp::Coordinate
        && rules.address_stage == AddressStage::Texel
        && rules.offset_stage == OffsetStage::Texel
        && rules.nan_coordinate != NanCoordinate::Kept
        && rules.integer_conversion == IntegerConversion::Limited;
    // Rules::inconsistency keeps the other values away from a fixed-point grid.
    if by_index || rules.subtexel_bits.bits().is_some() {
        let position = position(rules, axis, coordinate);
        let at = |tap| address(axis.address, axis.filter, position.index + tap, axis.size);
        return Place { position, taps: [at(0), at(1)] };
    }
    by_coordinate(rules, axis, coordinate)
}

/// The first number beyond 32-bit integers: 2^31.
pub const INTEGER_END: f32 = 2_147_483_648.0;

/// A whole number as an integer, by x86's conversion: -2^31 for what does not fit.
#[inline(always)]
#[must_use]
pub fn to_integer(value: f32) -> i32 {
    if (-INTEGER_END..INTEGER_END).contains(&value) { value as i32 } else { i32::MIN }
}

/// A coordinate beyond every image and every 32-bit integer of texels; its product with a size is finite.
pub const FAR: f32 = 1.0e10;

/// The number that stands for a NaN coordinate which the rules keep: what the limits of the addressing mode make of it.
fn stand_in(axis: &Axis) -> f32 {
    match axis.address {
        Address::Edge if axis.filter == Filter::Point => -FAR,
        Address::Edge | Address::MirrorOnceEdge => FAR,
        Address::Mirror => 0.0,
        _ => -FAR,
    }
}

/// Half of the coordinate less the nearest whole number, doubled: a mirrored coordinate, negative in every second period.
#[inline(always)]
fn mirrored(c: f32) -> f32 {
    let half = c * 0.5;
    let rest = half - half.round_ties_even();
    rest + rest
}

fn by_coordinate(rules: &Rules, axis: &Axis, coordinate: u32) -> Place {
    let linear = axis.filter == Filter::Linear;
    let is_nan = coordinate & 0x7fff_ffff > 0x7f80_0000;
    let kept = is_nan && rules.nan_coordinate == NanCoordinate::Kept;
    let mut weight_is_nan =
        kept && linear && !matches!(axis.address, Address::Edge | Address::MirrorOnceEdge | Address::Mirror);
    let mut c = if kept { stand_in(axis) } else { condition(rules, coordinate) };
    c = step_down(rules, axis, c);
    let size = axis.size as f32;
    let last = axis.size as i32 - 1;
    let periodic = matches!(axis.address, Address::Wrap | Address::Mirror);
    let edge = matches!(axis.address, Address::Edge | Address::MirrorOnceEdge);
    let folds = rules.address_stage == AddressStage::Coordinate
        && !axis.unnormalized
        && (axis.address == Address::Mirror || axis.address == Address::Wrap && !axis.power_of_two);
    let moves = rules.offset_stage == OffsetStage::Coordinate;
    let mut offset = axis.offset;

    if folds {
        let lost = kept || c.is_infinite();
        weight_is_nan |= lost && linear && axis.address == Address::Wrap;
        if moves {
            c += offset as f32 / size;
            offset = 0;
        }
        c = match axis.address {
            Address::Wrap if linear && lost => 0.0,
            Address::Wrap if linear => c - c.floor(),
            Address::Wrap if lost => LARGEST_FRACTION,
            Address::Wrap => (c - c.floor()).min(LARGEST_FRACTION),
            _ if lost && axis.gather => 1.0,
            _ if lost => 0.0,
            _ if axis.gather => mirrored(c),
            _ => mirrored(c).abs(),
        };
    }
    let mut s = if axis.unnormalized { c } else { c * size };
    if let Some((low, high)) = half_border_limits(rules, axis) {
        s = s.clamp(low, high);
    }
    let limited = rules.integer_conversion == IntegerConversion::Limited
        || periodic && !folds && !(axis.address == Address::Wrap && axis.power_of_two);
    if limited {
        s = s.clamp(-TEXEL_LIMIT, TEXEL_LIMIT);
    }
    let place = |index: i32, weight: f32, taps: [Option<u32>; 2]| {
        let weight = if weight_is_nan { f32::NAN } else { weight };
        Place { position: Position { index, step: 0, weight }, taps }
    };
    let by_index = |index: i32, weight: f32| {
        let taps = [index, index.wrapping_add(1)].map(|i| address_any(axis, i));
        place(index, weight, taps)
    };

    if !linear {
        if moves && edge {
            s += offset as f32;
            offset = 0;
        }
        if axis.address == Address::MirrorOnceEdge && rules.edge_clamp == EdgeClamp::Coordinate {
            s += offset as f32;
            // As an unsigned number, -2^31 is beyond the last texel.
            let index = to_integer(s.abs().floor());
            let texel = (index as u32).min(last as u32);
            return place(index, 0.0, [Some(texel); 2]);
        }
        let index = to_integer(s.floor()).wrapping_add(offset);
        if folds && axis.address == Address::Mirror {
            return place(index, 0.0, [Some(index.clamp(0, last) as u32); 2]);
        }
        return by_index(index, 0.0);
    }

    if edge && !axis.gather && rules.edge_clamp == EdgeClamp::Coordinate {
        s += offset as f32;
        if axis.address == Address::MirrorOnceEdge {
            s = s.abs();
        }
        let t = (s.min(size) - 0.5).max(0.0);
        let down = t.floor();
        let index = down as i32;
        return place(index, t - down, [index, index + 1].map(|i| Some(i.min(last) as u32)));
    }
    if axis.address == Address::Edge && axis.gather && rules.edge_clamp == EdgeClamp::Coordinate {
        let s = (s + offset as f32).min(size).max(0.0);
        // Cut, so that both taps are the first texel below its centre.
        let [first, second] = [s - 0.5, s + 0.5].map(|t| (t as i32).min(last));
        return place(first, 0.0, [Some(first as u32), Some(second as u32)]);
    }
    if edge && axis.clamps_position(rules) {
        let at = position(rules, axis, c.to_bits());
        return by_index(at.index, at.weight);
    }
    let moved_after = periodic;
    if moves && !moved_after {
        s += offset as f32;
    }
    let mut t = s - 0.5;
    if moves && moved_after {
        t += offset as f32;
    }
    if moves {
        offset = 0;
    }
    let down = t.floor();
    let index = to_integer(down).wrapping_add(offset);
    let weight = t - down;
    match axis.address {
        Address::Wrap if folds => {
            let index = if t < 0.0 { last } else { index };
            let first = index.rem_euclid(last + 1);
            let next = if first == last { 0 } else { first + 1 };
            place(index, weight, [first, next].map(|i| Some(i as u32)))
        }
        Address::Mirror if folds && axis.gather => {
            place(index, weight, [index, index.wrapping_add(1)].map(|i| Some(mirror_once(i).min(last) as u32)))
        }
        Address::Mirror if folds => {
            place(index, weight, [index, index.wrapping_add(1)].map(|i| Some(i.clamp(0, last) as u32)))
        }
        _ => by_index(index, weight),
    }
}

/// Addressing for every index: by [`address`] within its reach, by two's complement beyond it.
fn address_any(axis: &Axis, index: i32) -> Option<u32> {
    match axis.address {
        Address::Wrap if axis.size.is_power_of_two() => Some(index as u32 & (axis.size - 1)),
        _ => address(axis.address, axis.filter, index.clamp(-INDEX_LIMIT, INDEX_LIMIT), axis.size),
    }
}

/// Indices that [`address`] takes, beyond every image.
const INDEX_LIMIT: i32 = 1 << 23;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reference::coordinate::tests::axis, rules::Profile};

    /// Texels and the weight's bits.
    fn at(rules: &Rules, axis: &Axis, coordinate: f32) -> ([Option<u32>; 2], u32) {
        let found = place(rules, axis, coordinate.to_bits());
        (found.taps, found.position.weight.to_bits())
    }

    const EXACT: Rules = Profile::EXACT.rules;

    #[test]
    fn a_folded_coordinate_is_rounded_at_another_place() {
        let folds = Rules { address_stage: AddressStage::Coordinate, ..EXACT };
        let wrap = axis(7, Address::Wrap, Filter::Linear);
        assert_eq!(at(&folds, &wrap, 2.7), ([Some(4), Some(5)], 0x3ecc_cce0));
        assert_eq!(at(&EXACT, &wrap, 2.7), ([Some(4), Some(5)], 0x3ecc_ccc0));
        let mirror = axis(10, Address::Mirror, Filter::Linear);
        assert_eq!(at(&folds, &mirror, 1.3), ([Some(6), Some(7)], 0x3f00_0008));
        assert_eq!(at(&EXACT, &mirror, 1.3), ([Some(7), Some(6)], 0x3f00_0000));
        // Powers of two are folded by index, and the last fraction is below 1.
        let even = axis(8, Address::Wrap, Filter::Linear);
        assert_eq!(at(&folds, &even, 2.7), at(&EXACT, &even, 2.7));
        assert_eq!(at(&folds, &axis(7, Address::Wrap, Filter::Point), -1e-10).0[0], Some(6));
    }

    #[test]
    fn an_offset_moves_the_coordinate_or_the_index() {
        let folds = Rules { address_stage: AddressStage::Coordinate, ..EXACT };
        let moves = Rules { offset_stage: OffsetStage::Coordinate, ..folds };
        let wrap = Axis { offset: 3, ..axis(7, Address::Wrap, Filter::Linear) };
        assert_eq!(at(&moves, &wrap, 0.1), ([Some(3), Some(4)], 0x3e4c_ccd0));
        assert_eq!(at(&folds, &wrap, 0.1), ([Some(3), Some(4)], 0x3e4c_cccc));
        // 0.3 texels and 100 are rounded together.
        let border = Axis { offset: 100, ..axis(3, Address::Border, Filter::Linear) };
        assert_eq!(at(&moves, &border, 0.1).1, 0x3f4c_cd00);
        assert_eq!(at(&EXACT, &border, 0.1).1, 0x3f4c_cccd);
    }

    #[test]
    fn an_edge_limits_the_coordinate_or_the_index() {
        let limits = Rules { edge_clamp: EdgeClamp::Coordinate, ..EXACT };
        let edge = axis(8, Address::Edge, Filter::Linear);
        assert_eq!(at(&limits, &edge, 0.03125), ([Some(0), Some(1)], 0));
        assert_eq!(at(&EXACT, &edge, 0.03125), ([Some(0), Some(0)], 0x3f40_0000));
        assert_eq!(at(&limits, &edge, 5.0), ([Some(7), Some(7)], 0x3f00_0000));
        // Mirrored by magnitude: the edge of texel 1 is the same texel on both sides.
        let once = axis(8, Address::MirrorOnceEdge, Filter::Point);
        assert_eq!(at(&limits, &once, -0.125).0[0], Some(1));
        assert_eq!(at(&EXACT, &once, -0.125).0[0], Some(0));
        // A gather reads its limited coordinate's neighbours.
        let gather = Axis { gather: true, ..edge };
        assert_eq!(at(&limits, &gather, -3.0).0, [Some(0), Some(0)]);
        assert_eq!(at(&limits, &gather, 7.0).0, [Some(7), Some(7)]);
    }

    #[test]
    fn a_nan_is_what_the_limits_make_of_it() {
        let keeps = Rules { nan_coordinate: NanCoordinate::Kept, ..Profile::LAVAPIPE.rules };
        let nan = |size, address, filter| {
            let (taps, weight) = at(&keeps, &axis(size, address, filter), f32::NAN);
            (taps, f32::from_bits(weight).is_nan())
        };
        assert_eq!(nan(8, Address::Edge, Filter::Linear), ([Some(7), Some(7)], false));
        assert_eq!(nan(8, Address::Edge, Filter::Point).0[0], Some(0));
        assert_eq!(nan(8, Address::MirrorOnceEdge, Filter::Point).0[0], Some(7));
        assert_eq!(nan(8, Address::Mirror, Filter::Linear), ([Some(0), Some(0)], false));
        assert_eq!(nan(8, Address::Wrap, Filter::Linear), ([Some(0), Some(1)], true));
        assert_eq!(nan(7, Address::Wrap, Filter::Linear), ([Some(6), Some(0)], true));
        assert_eq!(nan(7, Address::Wrap, Filter::Point).0[0], Some(6));
        assert_eq!(nan(8, Address::Border, Filter::Linear), ([None, None], true));
    }

    #[test]
    fn what_no_integer_holds_becomes_the_lowest() {
        assert_eq!(
            [2_147_483_520.0, 2_147_483_648.0, -3e9, f32::INFINITY].map(to_integer),
            [2_147_483_520, i32::MIN, i32::MIN, i32::MIN]
        );
        let lowest = Rules { integer_conversion: IntegerConversion::Lowest, ..EXACT };
        let edge = axis(8, Address::Edge, Filter::Point);
        assert_eq!(at(&lowest, &edge, 1e10).0[0], Some(0));
        assert_eq!(at(&EXACT, &edge, 1e10).0[0], Some(7));
        let border = at(&lowest, &axis(8, Address::Border, Filter::Linear), f32::INFINITY);
        assert!(border.0 == [None, None] && f32::from_bits(border.1).is_nan());
    }

    #[test]
    fn a_denormal_has_a_sign_where_it_is_kept() {
        let keeps = Rules { denormal_coordinate: crate::rules::DenormalCoordinate::Kept, ..EXACT };
        let border = axis(8, Address::Border, Filter::Point);
        assert_eq!(place(&keeps, &border, 0x8000_0001).taps[0], None);
        assert_eq!(place(&EXACT, &border, 0x8000_0001).taps[0], Some(0));
        assert_eq!(place(&keeps, &border, 0x8000_0000).taps[0], Some(0));
    }
}
