//! The texels and the weight along an axis where the coordinate itself is folded, limited or moved: see
//! [`crate::reference::place`].

use super::{
    AxisTaps, Emitter,
    address::{Index, Reach, remainder},
};
use crate::{
    emulated::{
        code::{B, Code, F, I, U},
        section::Stage,
        specialization::Slot,
    },
    reference::{
        coordinate::TEXEL_LIMIT,
        place::{FAR, LARGEST_FRACTION},
    },
    rules::{AddressStage, EdgeClamp, IntegerConversion, NanCoordinate, OffsetStage, RuleId},
    state::Address,
};

/// Texel coordinates are limited to ±2^40 where no other limit is: no integer holds them either way.
const FAR_TEXELS: f32 = 1_099_511_627_776.0;

/// Indices that [`Emitter::address`] takes.
const INDEX_LIMIT: i32 = 1 << 23;

/// What is known of an axis before its coordinate is looked at.
struct Modes {
    wrap: B,
    mirror: B,
    edge: B,
    once_edge: B,
    half_border: B,
    /// CLAMP_LAST_TEXEL or MIRROR_ONCE_LAST_TEXEL.
    edges: B,
    /// WRAP or MIRROR.
    periodic: B,
    /// Whether the coordinate is folded.
    folds: B,
    /// WRAP by index.
    wraps_index: B,
}

impl Emitter<'_> {
    /// Whether texels do not follow from an index alone.
    pub(super) fn places_by_coordinate(&self) -> bool {
        self.rules.subtexel_bits.bits().is_none()
            && (self.rules.edge_clamp == EdgeClamp::Coordinate
                || self.rules.address_stage == AddressStage::Coordinate
                || self.rules.offset_stage == OffsetStage::Coordinate
                || self.rules.nan_coordinate == NanCoordinate::Kept
                || self.rules.integer_conversion == IntegerConversion::Lowest)
    }

    fn modes(&mut self, axis: usize) -> Modes {
        let _section = self.code.section(RuleId::AddressStage);
        let slot = Self::address_slot(axis);
        let [wrap, mirror, edge, once_edge, half, once_half] = [
            Address::Wrap,
            Address::Mirror,
            Address::Edge,
            Address::MirrorOnceEdge,
            Address::HalfBorder,
            Address::MirrorOnceHalfBorder,
        ]
        .map(|mode| self.slot_is(slot, mode as u32));
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let base = self.slot(Slot::BaseLevel);
        let first = self.level(base).size[axis];
        let by_coordinate = self.rules.address_stage == AddressStage::Coordinate;
        let code = &mut *self.code;
        let (one, zero) = (code.i(1), code.i(0));
        let below = code.i_sub(first, one);
        let shared = code.i_and(first, below);
        let power_of_two = code.i_eq(shared, zero);
        let uneven = code.b_not(power_of_two);
        let wraps_coordinate = code.b_and(wrap, uneven);
        let folds = code.b_or(mirror, wraps_coordinate);
        let normalized = code.b_not(unnormalized);
        let folds = code.b_and(folds, normalized);
        let allowed = code.b(by_coordinate);
        Modes {
            wrap,
            mirror,
            edge,
            once_edge,
            half_border: code.b_or(half, once_half),
            edges: code.b_or(edge, once_edge),
            periodic: code.b_or(wrap, mirror),
            folds: code.b_and(folds, allowed),
            wraps_index: code.b_and(wrap, power_of_two),
        }
    }

    pub(super) fn axis_by_coordinate(
        &mut self,
        axis: usize,
        bits: U,
        offset: Option<I>,
        size: I,
        linear: B,
    ) -> AxisTaps {
        let _section = self.code.section(Stage::Position);
        let modes = self.modes(axis);
        let rules = self.rules;
        let moves = rules.offset_stage == OffsetStage::Coordinate;
        let kept = rules.nan_coordinate == NanCoordinate::Kept;
        let lowest = rules.integer_conversion == IntegerConversion::Lowest;
        let limits_edge = rules.edge_clamp == EdgeClamp::Coordinate;
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let size_f = self.code.i_to_f(size);
        let mut c = self.condition(bits);
        let mut weight_is_nan = self.code.b(false);
        let mut is_nan = None;
        if kept {
            let _section = self.code.section(RuleId::NanCoordinate);
            let nan = self.is_nan(bits);
            let code = &mut *self.code;
            let (far, near, zero) = (code.f(FAR), code.f(-FAR), code.f(0.0));
            let edge = code.select(linear, far, near);
            let stand_in = code.select(modes.edge, edge, near);
            let stand_in = code.select(modes.once_edge, far, stand_in);
            let stand_in = code.select(modes.mirror, zero, stand_in);
            c = code.select(nan, stand_in, c);
            is_nan = Some(nan);
            let dropped = code.b_or(modes.edges, modes.mirror);
            let seen = code.b_not(dropped);
            let seen = code.b_and(nan, seen);
            weight_is_nan = code.b_and(seen, linear);
        }
        c = self.step_down(c, size);

        // Folded coordinates; infinities leave nothing of them.
        let mut folded = self.folded(&modes, c, offset.filter(|_| moves), size_f, linear);
        let code = &mut *self.code;
        if rules.address_stage == AddressStage::Coordinate {
            let mut infinite = is_infinite(code, c);
            if let Some(nan) = is_nan {
                infinite = code.b_or(infinite, nan);
            }
            // What is left of an infinity or a NaN.
            let (nothing, largest) = (code.f(0.0), code.f(LARGEST_FRACTION));
            let wrapped = code.select(linear, nothing, largest);
            let mirrored = code.f(if self.gathers { 1.0 } else { 0.0 });
            let left = code.select(modes.mirror, mirrored, wrapped);
            folded = code.select(infinite, left, folded);
            let wraps = code.b_and(modes.folds, modes.wrap);
            let lost = code.b_and(infinite, wraps);
            let lost = code.b_and(lost, linear);
            weight_is_nan = code.b_or(weight_is_nan, lost);
        }
        let c = code.select(modes.folds, folded, c);
        let scaled = code.f_mul(c, size_f);
        let s = code.select(unnormalized, c, scaled);
        let s = self.half_border_limit(axis, s, size_f);
        let code = &mut *self.code;
        let texel_limits = (code.f(-TEXEL_LIMIT), code.f(TEXEL_LIMIT));
        let limited = code.f_clamp(s, texel_limits.0, texel_limits.1);
        let s = if lowest {
            let unfolded = code.b_not(modes.folds);
            let by_index = code.b_not(modes.wraps_index);
            let limits = code.b_and(modes.periodic, unfolded);
            let limits = code.b_and(limits, by_index);
            let infinite = is_infinite(code, s);
            let free = code.b_not(limits);
            let mut lost = code.b_and(infinite, free);
            lost = code.b_and(lost, linear);
            if rules.edge_clamp != EdgeClamp::Index && !self.gathers {
                let not_edge = code.b_not(modes.edges);
                lost = code.b_and(lost, not_edge);
            }
            weight_is_nan = code.b_or(weight_is_nan, lost);
            let (low, high) = (code.f(-FAR_TEXELS), code.f(FAR_TEXELS));
            let far = code.f_clamp(s, low, high);
            code.select(limits, limited, far)
        } else {
            limited
        };
        let _ = modes.half_border;

        let (zero, one) = (code.i(0), code.i(1));
        let last = code.i_sub(size, one);
        let offset = offset.unwrap_or(zero);
        let offset_f = code.i_to_f(offset);
        // An offset that has been added to the coordinate is not added to the index.
        let point_offset = if moves {
            let moved = code.b_or(modes.folds, modes.edges);
            code.select(moved, zero, offset)
        } else {
            offset
        };
        let moved_s = code.f_add(s, offset_f);

        // Point sampling.
        let point_s = if moves { code.select(modes.edges, moved_s, s) } else { s };
        let down = code.f_floor(point_s);
        let index = to_integer(code, down);
        let point_index = code.i_add(index, point_offset);
        let mut point_texel = None;
        if limits_edge {
            let magnitude = code.f_abs(moved_s);
            let down = code.f_floor(magnitude);
            let index = to_integer(code, down);
            let index = code.i_to_u(index);
            let limit = code.i_to_u(last);
            let texel = code.u_min(index, limit);
            point_texel = Some(code.u_to_i(texel));
        }

        // Linear filtering of what is neither folded nor limited.
        let half = code.f(0.5);
        let (linear_t, linear_offset) = if moves {
            let before = code.f_sub(s, half);
            let after = code.f_add(before, offset_f);
            let other = code.f_sub(moved_s, half);
            // A folded coordinate has been moved.
            let periodic = code.select(modes.folds, before, after);
            (code.select(modes.periodic, periodic, other), zero)
        } else {
            (code.f_sub(s, half), offset)
        };
        let down = code.f_floor(linear_t);
        let linear_weight = code.f_sub(linear_t, down);
        let linear_index = to_integer(code, down);
        let linear_index = code.i_add(linear_index, linear_offset);

        let index = code.select(linear, linear_index, point_index);
        let mut weight = linear_weight;
        let mut by_index = index;
        if rules.edge_clamp == EdgeClamp::Position && !self.gathers {
            let (low, high) = texel_limits;
            let s = self.code.f_clamp(s, low, high);
            let (index, _, clamped) = self.unquantized(axis, s, Some(offset), size_f, linear);
            let code = &mut *self.code;
            let takes = code.b_and(modes.edges, linear);
            by_index = code.select(takes, index, by_index);
            weight = code.select(takes, clamped, weight);
        }
        let code = &mut *self.code;
        let (low, high) = (code.i(-INDEX_LIMIT), code.i(INDEX_LIMIT));
        let addressed = code.i_clamp(by_index, low, high);
        let addressed = Index::of(code, addressed, Reach::Far);
        let (mut indices, mut inside) = self.address(axis, addressed, size, size_f, linear);
        let code = &mut *self.code;
        let yes = code.b(true);
        {
            // Where the size is a power of two, periods are taken off by two's complement.
            let shared = code.i_and(size, last);
            let power_of_two = code.i_eq(shared, zero);
            let masks = code.b_and(modes.wrap, power_of_two);
            let next = code.i_add(by_index, one);
            for (n, index) in [by_index, next].into_iter().enumerate() {
                let masked = code.i_and(index, last);
                indices[n] = code.select(masks, masked, indices[n]);
            }
        }
        if let Some(texel) = point_texel {
            let point = code.b_not(linear);
            let takes = code.b_and(point, modes.once_edge);
            for n in 0..2 {
                indices[n] = code.select(takes, texel, indices[n]);
                inside[n] = code.select(takes, yes, inside[n]);
            }
        }
        if rules.address_stage == AddressStage::Coordinate {
            let next = code.i_add(index, one);
            // MIRROR: limited, or for a gather mirrored by index.
            let mirrored = [index, next].map(|i| {
                if self.gathers {
                    let flipped = code.i_not(i);
                    let negative = code.i_lt(i, zero);
                    let i = code.select(negative, flipped, i);
                    code.i_min(i, last)
                } else {
                    code.i_clamp(i, zero, last)
                }
            });
            let mirrors = code.b_and(modes.folds, modes.mirror);
            // WRAP: before the first centre lies the last texel.
            let nothing = code.f(0.0);
            let before = code.f_lt(linear_t, nothing);
            let first = code.select(before, last, index);
            // A folded coordinate is within its period, give or take a tap.
            let first = code.i_to_f(first);
            let first = remainder(code, first, size_f, Reach::Near);
            let first = code.f_to_i(first);
            let at_last = code.i_eq(first, last);
            let second = code.i_add(first, one);
            let second = code.select(at_last, zero, second);
            let wraps = code.b_and(modes.folds, modes.wrap);
            let wraps = code.b_and(wraps, linear);
            for (n, wrapped) in [first, second].into_iter().enumerate() {
                indices[n] = code.select(mirrors, mirrored[n], indices[n]);
                indices[n] = code.select(wraps, wrapped, indices[n]);
            }
        }
        let mut raw = by_index;
        if limits_edge && !self.gathers {
            let _section = code.section(RuleId::EdgeClamp);
            let magnitude = code.f_abs(moved_s);
            let s = code.select(modes.once_edge, magnitude, moved_s);
            let s = code.f_min(s, size_f);
            let t = code.f_sub(s, half);
            let nothing = code.f(0.0);
            let t = code.f_max(t, nothing);
            let down = code.f_floor(t);
            let first = code.f_to_i(down);
            let next = code.i_add(first, one);
            let fraction = code.f_sub(t, down);
            let takes = code.b_and(modes.edges, linear);
            weight = code.select(takes, fraction, weight);
            raw = code.select(takes, first, raw);
            for (n, index) in [first, next].into_iter().enumerate() {
                let index = code.i_min(index, last);
                indices[n] = code.select(takes, index, indices[n]);
                inside[n] = code.select(takes, yes, inside[n]);
            }
        }
        if limits_edge && self.gathers {
            let _section = code.section(RuleId::EdgeClamp);
            let nothing = code.f(0.0);
            let s = code.f_clamp(moved_s, nothing, size_f);
            let takes = code.b_and(modes.edge, linear);
            let (less, more) = (code.f_sub(s, half), code.f_add(s, half));
            for (n, t) in [less, more].into_iter().enumerate() {
                let index = code.f_to_i(t);
                let index = code.i_min(index, last);
                indices[n] = code.select(takes, index, indices[n]);
                inside[n] = code.select(takes, yes, inside[n]);
            }
        }
        let (nothing, not_a_number, step) = (code.f(0.0), code.f(f32::NAN), code.u(0));
        let weight = code.select(weight_is_nan, not_a_number, weight);
        let weight = code.select(linear, weight, nothing);
        AxisTaps { linear, step, weight, nan: Some(weight_is_nan), raw, indices, inside }
    }

    /// The coordinate within its period: its fraction, or its distance to the nearest even number.
    fn folded(&mut self, modes: &Modes, c: F, offset: Option<I>, size: F, linear: B) -> F {
        let _section = self.code.section(RuleId::AddressStage);
        if self.rules.address_stage != AddressStage::Coordinate {
            return c;
        }
        let code = &mut *self.code;
        // An infinity is seen to by the caller.
        let (low, high) = (code.f(f32::MIN), code.f(f32::MAX));
        let c = code.f_clamp(c, low, high);
        let c = match offset {
            Some(offset) => {
                let offset = code.i_to_f(offset);
                let part = code.f_quotient(offset, size);
                code.f_add(c, part)
            }
            None => c,
        };
        let down = code.f_floor(c);
        let fraction = code.f_sub(c, down);
        let largest = code.f(LARGEST_FRACTION);
        let limited = code.f_min(fraction, largest);
        let fraction = code.select(linear, fraction, limited);
        let half = code.f(0.5);
        let half = code.f_mul(c, half);
        let nearest = code.f_round_even(half);
        let rest = code.f_sub(half, nearest);
        let mirrored = code.f_add(rest, rest);
        let mirrored = if self.gathers { mirrored } else { code.f_abs(mirrored) };
        code.select(modes.mirror, mirrored, fraction)
    }

    pub(super) fn is_nan(&mut self, bits: U) -> B {
        let (mask, infinity) = (self.code.u(0x7fff_ffff), self.code.u(0x7f80_0000));
        let magnitude = self.code.u_and(bits, mask);
        self.code.u_gt(magnitude, infinity)
    }
}

fn is_infinite(code: &mut Code, value: F) -> B {
    let (mask, infinity) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
    let bits = code.f_bits(value);
    let magnitude = code.u_and(bits, mask);
    code.u_eq(magnitude, infinity)
}

/// A whole number as an integer; -2^31 for what does not fit. See [`crate::reference::place::to_integer`].
fn to_integer(code: &mut Code, value: F) -> I {
    let (low, high) = (code.f(-2_147_483_648.0), code.f(2_147_483_520.0));
    let limited = code.f_clamp(value, low, high);
    let integer = code.f_to_i(limited);
    let beyond = code.f_gt(value, high);
    let lowest = code.i(i32::MIN);
    code.select(beyond, lowest, integer)
}
