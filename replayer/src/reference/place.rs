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

/// The number that stands for a NaN coordinate which the rules keep: what the limits of the addressing mode make of it.
fn stand_in(axis: &Axis) -> f32 {
    match axis.address {
        Address::Edge if axis.filter == Filter::Point => f32::NEG_INFINITY,
        Address::Edge | Address::MirrorOnceEdge => f32::INFINITY,
        Address::Mirror => 0.0,
        _ => f32::NEG_INFINITY,
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
