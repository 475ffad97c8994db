//! Where a sample lies in a level: steps of the coordinate grid, clamps of the position, and the weight along each axis.

use super::{
    AxisTaps, Emitter,
    address::{Index, Reach},
};
use crate::{
    emulated::{
        code::{B, D, F, I, U, Value},
        section::Stage,
        specialization::Slot,
    },
    reference::coordinate::{
        FINEST_STEP, NORMALIZED_LIMIT, Rounding, SHIFT_BITS, TEXEL_LIMIT, largest_size_of_step, rounding,
    },
    rules::{CoordinateProduct, CubeDirection, DenormalCoordinate, EdgeClamp, HalfBorder, RuleId},
    state::{Address, Filter, View},
};

impl Emitter<'_> {
    pub(super) fn round_f(&mut self, how: Rounding, x: F) -> F {
        let code = &mut *self.code;
        match how {
            Rounding::Floor => code.f_floor(x),
            Rounding::NearestEven => code.f_round_even(x),
            Rounding::HalfUp => {
                let down = code.f_floor(x);
                let rest = code.f_sub(x, down);
                let half = code.f(0.5);
                let one = code.f(1.0);
                let up = code.f_ge(rest, half);
                let next = code.f_add(down, one);
                code.select(up, next, down)
            }
        }
    }

    fn round_d(&mut self, how: Rounding, x: D) -> D {
        let code = &mut *self.code;
        match how {
            Rounding::Floor => code.d_floor(x),
            Rounding::NearestEven => code.d_round_even(x),
            Rounding::HalfUp => {
                let down = code.d_floor(x);
                let rest = code.d_sub(x, down);
                let half = code.d(0.5);
                let one = code.d(1.0);
                let up = code.d_ge(rest, half);
                let next = code.d_add(down, one);
                code.select(up, next, down)
            }
        }
    }

    /// Applies the rounding in force: it depends on the filter (dynamic) and on TRUNC_COORD (specialized).
    pub(super) fn round_by_filter<T: Value>(&mut self, linear: B, x: T, round: fn(&mut Self, Rounding, T) -> T) -> T {
        let mut cache: Vec<(Rounding, T)> = Vec::new();
        let mut rounded = |emitter: &mut Self, how: Rounding| match cache.iter().find(|(known, _)| *known == how) {
            Some(&(_, value)) => value,
            None => {
                let value = round(emitter, how, x);
                cache.push((how, value));
                value
            }
        };
        let trunc = self.slot_is(Slot::TruncCoord, 1);
        let mut by_filter = |emitter: &mut Self, filter: Filter| {
            let (set, clear) = (rounding(emitter.rules, filter, true), rounding(emitter.rules, filter, false));
            // What serves both kinds of filter alike goes by the one for linear.
            let shared = (set, clear)
                == (rounding(emitter.rules, Filter::Linear, true), rounding(emitter.rules, Filter::Linear, false));
            let rule = if shared { RuleId::WeightRounding } else { RuleId::PointRounding };
            let _section = emitter.code.section(rule);
            let clear_value = rounded(emitter, clear);
            if set == clear {
                return (clear_value, set, clear);
            }
            let set_value = rounded(emitter, set);
            let _section = emitter.code.section(RuleId::TruncCoord);
            (emitter.code.select(trunc, set_value, clear_value), set, clear)
        };
        let (point, point_set, point_clear) = by_filter(self, Filter::Point);
        if (point_set, point_clear)
            == (rounding(self.rules, Filter::Linear, true), rounding(self.rules, Filter::Linear, false))
        {
            return point;
        }
        let (linear_value, ..) = by_filter(self, Filter::Linear);
        self.code.select(linear, linear_value, point)
    }

    /// See [`crate::reference::coordinate::position`] and [`crate::reference::address::address`].
    pub(super) fn axis(
        &mut self,
        axis: usize,
        bits: U,
        [offset, shift]: [Option<I>; 2],
        size: I,
        linear: B,
    ) -> AxisTaps {
        if !self.places_by_coordinate() {
            return self.axis_by_index(axis, bits, [offset, shift], size, linear);
        }
        if self.view != View::Cube {
            return self.axis_by_coordinate(axis, bits, offset, size, linear);
        }
        // A seamless cube has no addressing.
        let c = self.on_face(bits);
        let on_face = self.code.f_bits(c);
        let separate = self.axis_by_coordinate(axis, on_face, offset, size, linear);
        let joined = self.axis_by_index(axis, bits, [offset, shift], size, linear);
        let seamless = self.slot_is(Slot::CubeWrap, 1);
        let code = &mut *self.code;
        AxisTaps {
            linear,
            step: code.select(seamless, joined.step, separate.step),
            weight: code.select(seamless, joined.weight, separate.weight),
            nan: separate.nan.map(|nan| {
                let apart = code.b_not(seamless);
                code.b_and(nan, apart)
            }),
            raw: code.select(seamless, joined.raw, separate.raw),
            indices: [0, 1].map(|n| code.select(seamless, joined.indices[n], separate.indices[n])),
            inside: [0, 1].map(|n| code.select(seamless, joined.inside[n], separate.inside[n])),
        }
    }

    /// The coordinate on a cube's face, 0 to 1: see [`crate::reference::footprint`].
    fn on_face(&mut self, bits: U) -> F {
        let operand = self.condition(bits);
        let (one, two) = (self.code.f(1.0), self.code.f(2.0));
        let c = self.code.f_clamp(operand, one, two);
        let c = self.code.f_sub(c, one);
        if self.rules.cube_direction != CubeDirection::HalfQuotient {
            return c;
        }
        let _section = self.code.section(RuleId::CubeDirection);
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let made = code.f_lt(operand, zero);
        let place = code.f_abs(operand);
        let place = code.f_min(place, two);
        code.select(made, place, c)
    }

    fn axis_by_index(&mut self, axis: usize, bits: U, [offset, shift]: [Option<I>; 2], size: I, linear: B) -> AxisTaps {
        let _section = self.code.section(Stage::Position);
        let c = if self.view == View::Cube {
            let c = self.on_face(bits);
            let bits = self.code.f_bits(c);
            self.condition(bits)
        } else {
            let visible = self.sees_denormals();
            self.condition_where(bits, visible)
        };
        let c = self.step_down(c, size);
        let size_f = self.code.i_to_f(size);
        let (index, step, weight) = if self.rules.coordinate_product == CoordinateProduct::Exact {
            let fixed = self.exact_position(axis, c, size, linear);
            let (index, step, weight) = self.on_grid(axis, fixed, [offset, shift], size, linear);
            // Whole periods are off, but a probe can be far.
            let reach = if shift.is_some() { Reach::Far } else { Reach::Near };
            (Index::of(self.code, index, reach), step, weight)
        } else {
            let unnormalized = self.slot_is(Slot::Unnormalized, 1);
            let scaled = self.code.f_mul(c, size_f);
            let s = self.code.select(unnormalized, c, scaled);
            let s = self.half_border_limit(axis, s, size_f);
            match self.rules.subtexel_bits.bits() {
                Some(bits) if self.grid_fits_fp32(shift) => self.on_grid_in_fp32(axis, s, offset, size_f, linear, bits),
                Some(bits) => {
                    let periodic = self.is_periodic(axis);
                    let s = self.limited_to_texels(s, periodic);
                    let scale = self.code.f((1u32 << bits) as f32);
                    let x = self.code.f_mul(s, scale);
                    let rounded = self.round_by_filter(linear, x, Self::round_f);
                    let fixed = self.code.f_to_i(rounded);
                    let (index, step, weight) = self.on_grid(axis, fixed, [offset, shift], size, linear);
                    (Index::of(self.code, index, Reach::Far), step, weight)
                }
                None => {
                    let (low, high) = (self.code.f(-TEXEL_LIMIT), self.code.f(TEXEL_LIMIT));
                    let s = self.code.f_clamp(s, low, high);
                    let (index, step, weight) = self.unquantized(axis, s, offset, size_f, linear);
                    (Index::of(self.code, index, Reach::Far), step, weight)
                }
            }
        };
        let (indices, inside) = self.address(axis, index, size, size_f, linear);
        AxisTaps { linear, step, weight, nan: None, raw: index.integer, indices, inside }
    }

    /// Whether a denormal coordinate can give another result than 0 does; `None` where it always can. Rounding to a grid's
    /// nearest step makes them one.
    fn sees_denormals(&mut self) -> Option<B> {
        let rules = self.rules;
        let on_grid = rules.coordinate_step.bits().is_none()
            && rules.coordinate_product == CoordinateProduct::Fp32
            && rules.subtexel_bits.bits().is_some()
            && rules.denormal_coordinate == DenormalCoordinate::Zero;
        let floors =
            |trunc| [Filter::Point, Filter::Linear].map(|f| rounding(rules, f, trunc)).contains(&Rounding::Floor);
        if !on_grid || floors(false) {
            return None;
        }
        Some(if floors(true) { self.slot_is(Slot::TruncCoord, 1) } else { self.code.b(false) })
    }

    pub(super) fn step_down(&mut self, c: F, size: I) -> F {
        let _section = self.code.section(RuleId::CoordinateStep);
        let Some(bits) = self.rules.coordinate_step.bits() else { return c };
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let code = &mut *self.code;
        let power = |bits: u32| (1u32 << bits) as f32;
        let (mut scale, mut step) = (code.f(power(bits)), code.f(1.0 / power(bits)));
        for finer in bits + 1..=FINEST_STEP {
            let largest = code.i(largest_size_of_step(finer - 1) as i32);
            let needs = code.i_lt(largest, size);
            let (finer_scale, finer_step) = (code.f(power(finer)), code.f(1.0 / power(finer)));
            scale = code.select(needs, finer_scale, scale);
            step = code.select(needs, finer_step, step);
        }
        let (low, high) = (code.f(-NORMALIZED_LIMIT), code.f(NORMALIZED_LIMIT));
        let x = code.f_clamp(c, low, high);
        let x = code.f_mul(x, scale);
        let x = code.f_floor(x);
        let x = code.f_mul(x, step);
        code.select(unnormalized, c, x)
    }

    pub(super) fn half_border_limit(&mut self, axis: usize, s: F, size: F) -> F {
        let _section = self.code.section(RuleId::HalfBorder);
        if self.rules.half_border != HalfBorder::CoordinateClamp {
            return s;
        }
        let half = self.slot_is(Self::address_slot(axis), Address::HalfBorder as u32);
        let half = self.unless_seamless(half);
        let once = self.slot_is(Self::address_slot(axis), Address::MirrorOnceHalfBorder as u32);
        let once = self.unless_seamless(once);
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let minus = code.f_sub(zero, size);
        let low = code.select(once, minus, zero);
        let limited = code.f_clamp(s, low, size);
        let either = code.b_or(half, once);
        code.select(either, limited, s)
    }

    fn exact_position(&mut self, axis: usize, c: F, size: I, linear: B) -> I {
        let _section = self.code.section(RuleId::CoordinateProduct);
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let periodic = self.is_periodic(axis);
        let half = self.slot_is(Self::address_slot(axis), Address::HalfBorder as u32);
        let half = self.unless_seamless(half);
        let once = self.slot_is(Self::address_slot(axis), Address::MirrorOnceHalfBorder as u32);
        let once = self.unless_seamless(once);
        let limit_half_border = self.rules.half_border == HalfBorder::CoordinateClamp;
        let code = &mut *self.code;
        let (low, high) = (code.f(-NORMALIZED_LIMIT), code.f(NORMALIZED_LIMIT));
        let c = code.f_clamp(c, low, high);
        let c = code.f_to_d(c);
        let (point_five, two, zero) = (code.d(0.5), code.d(2.0), code.d(0.0));
        let halved = code.d_mul(c, point_five);
        let periods = code.d_floor(halved);
        let whole = code.d_mul(periods, two);
        let reduced = code.d_sub(c, whole);
        let normalized = code.b_not(unnormalized);
        let reduce = code.b_and(periodic, normalized);
        let c = code.select(reduce, reduced, c);
        let size = code.i_to_d(size);
        let scaled = code.d_mul(c, size);
        let mut s = code.select(unnormalized, c, scaled);
        if limit_half_border {
            let minus = code.d_sub(zero, size);
            let low = code.select(once, minus, zero);
            let limited = code.d_clamp(s, low, size);
            let either = code.b_or(half, once);
            s = code.select(either, limited, s);
        }
        let (low, high) = (code.d(f64::from(-TEXEL_LIMIT)), code.d(f64::from(TEXEL_LIMIT)));
        let s = code.d_clamp(s, low, high);
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        let scale = code.d(f64::from(1u32 << bits));
        let x = code.d_mul(s, scale);
        let rounded = self.round_by_filter(linear, x, Self::round_d);
        self.code.d_to_i(rounded)
    }

    /// Whether positions are clamped (by the rules), and in which of the modes that do (by the state).
    fn position_clamps(&mut self, axis: usize, linear: B) -> Option<[B; 2]> {
        let _section = self.code.section(RuleId::EdgeClamp);
        if self.rules.edge_clamp != EdgeClamp::Position || self.gathers {
            return None;
        }
        let modes = [Address::Edge, Address::MirrorOnceEdge].map(|mode| {
            let mode = self.slot_is(Self::address_slot(axis), mode as u32);
            let mode = self.unless_seamless(mode);
            self.code.b_and(mode, linear)
        });
        Some(modes)
    }

    fn on_grid(&mut self, axis: usize, fixed: I, [offset, probe]: [Option<I>; 2], size: I, linear: B) -> (I, U, F) {
        let _section = self.code.section(RuleId::SubtexelBits);
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        let clamps = self.position_clamps(axis, linear);
        let code = &mut *self.code;
        let (zero, half) = (code.i(0), code.i(1 << (bits - 1)));
        let shift = code.u(bits);
        let half = code.select(linear, half, zero);
        let fixed = match offset {
            Some(offset) => {
                let offset = code.i_shl(offset, shift);
                code.i_add(fixed, offset)
            }
            None => fixed,
        };
        let fixed = match probe {
            Some(probe) => {
                let down = code.u(SHIFT_BITS);
                let probe = code.i_shl(probe, shift);
                let probe = code.i_shr(probe, down);
                code.i_add(fixed, probe)
            }
            None => fixed,
        };
        let mut fixed = code.i_sub(fixed, half);
        if let Some([edge, mirror_once]) = clamps {
            let _section = code.section(RuleId::EdgeClamp);
            let (one, texel) = (code.i(1), code.i(1 << bits));
            let last = code.i_sub(size, one);
            let last = code.i_shl(last, shift);
            let minus = code.i_sub(zero, last);
            let below = code.i_sub(minus, texel);
            let low = code.select(mirror_once, below, zero);
            let limited = code.i_clamp(fixed, low, last);
            let limit = code.b_or(edge, mirror_once);
            fixed = code.select(limit, limited, fixed);
        }
        let index = code.i_shr(fixed, shift);
        let unsigned = code.i_to_u(fixed);
        let (mask, none) = (code.u((1 << bits) - 1), code.u(0));
        let step = code.u_and(unsigned, mask);
        let step = code.select(linear, step, none);
        let scale = code.f(1.0 / (1u32 << bits) as f32);
        let weight = code.u_to_f(step);
        let weight = code.f_mul(weight, scale);
        (index, step, weight)
    }

    pub(super) fn unquantized(&mut self, axis: usize, s: F, offset: Option<I>, size: F, linear: B) -> (I, U, F) {
        let _section = self.code.section(RuleId::SubtexelBits);
        let clamps = self.position_clamps(axis, linear);
        let code = &mut *self.code;
        let (zero, half, one) = (code.f(0.0), code.f(0.5), code.f(1.0));
        let half = code.select(linear, half, zero);
        let mut t = code.f_sub(s, half);
        let mut limit = None;
        if let Some([edge, mirror_once]) = clamps {
            let _section = code.section(RuleId::EdgeClamp);
            let last = code.f_sub(size, one);
            let moved = match offset {
                Some(offset) => {
                    let offset = code.i_to_f(offset);
                    code.f_add(t, offset)
                }
                None => t,
            };
            let minus_one = code.f(-1.0);
            let below = code.f_sub(minus_one, last);
            let low = code.select(mirror_once, below, zero);
            let limited = code.f_clamp(moved, low, last);
            let limits = code.b_or(edge, mirror_once);
            t = code.select(limits, limited, t);
            limit = Some(limits);
        }
        let down = code.f_floor(t);
        let index = code.f_to_i(down);
        let index = match offset {
            Some(offset) => {
                let moved = code.i_add(index, offset);
                match limit {
                    Some(limit) => code.select(limit, index, moved),
                    None => moved,
                }
            }
            None => index,
        };
        let weight = code.f_sub(t, down);
        let weight = code.select(linear, weight, zero);
        let step = code.u(0);
        (index, step, weight)
    }
}
