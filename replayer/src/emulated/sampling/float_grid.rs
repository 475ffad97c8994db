//! Positions on the coordinate grid without leaving FP32: the same steps as [`super::position`] takes in integers, in fewer
//! instructions.

use super::{
    Emitter,
    address::{Index, Reach, less_periods},
};
use crate::{
    emulated::{
        code::{B, F, I, U},
        section::Stage,
        specialization::Slot,
    },
    reference::coordinate::{Rounding, rounding, texel_limit},
    rules::{EdgeClamp, RuleId},
    state::Filter,
};

impl Emitter<'_> {
    /// Whether nothing but an offset in whole texels is added to the position.
    pub(super) fn grid_fits_fp32(&self, shift: Option<I>) -> bool {
        shift.is_none() && (self.rules.edge_clamp != EdgeClamp::Position || self.gathers)
    }

    /// See [`crate::reference::coordinate::position`]. Index, steps and weight for a position in texels of any finite size or
    /// an infinity, on a grid of 1 / 2^`bits`.
    pub(super) fn on_grid_in_fp32(
        &mut self,
        axis: usize,
        s: F,
        offset: Option<I>,
        size: F,
        linear: B,
        bits: u32,
    ) -> (Index, U, F) {
        let _section = self.code.section(RuleId::SubtexelBits);
        let s = self.within_period(axis, s, size);
        let code = &mut *self.code;
        let (scale, unit) = (code.f((1u32 << bits) as f32), code.f(1.0 / (1u32 << bits) as f32));
        let x = code.f_mul(s, scale);
        let rounded = self.rounded_for(Filter::Linear, x);
        let code = &mut *self.code;
        let minus_half = code.f(-0.5);
        let t = code.f_fma_of_exact(rounded, unit, minus_half);
        let down = code.f_floor(t);
        let fraction = code.f_sub(t, down);
        let texel = self.point_texel(s, bits);
        let code = &mut *self.code;
        let down = code.select(linear, down, texel);
        let zero = code.f(0.0);
        let weight = code.select(linear, fraction, zero);
        let step = if self.rules.fixed_point_weights() {
            let steps = code.f_mul(weight, scale);
            code.f_to_u(steps)
        } else {
            code.u(0)
        };
        let mut integer = code.f_to_i(down);
        let mut float = down;
        if let Some(offset) = offset {
            integer = code.i_add(integer, offset);
            let offset = code.i_to_f(offset);
            float = code.f_add(float, offset);
        }
        (Index { integer, float, reach: Reach::Near }, step, weight)
    }

    /// A position with whole periods taken off, about a period from 0 at the most, or limited where the mode does not repeat.
    ///
    /// The number of periods is rounded toward 0, so that what is left is no larger than the position, and exact: what lies
    /// between texels stays as it is.
    fn within_period(&mut self, axis: usize, s: F, size: F) -> F {
        let _section = self.code.section(Stage::Address);
        let periodic = self.is_periodic(axis);
        let period = self.period(axis, size);
        let s = self.limited_to_texels(s, periodic);
        let code = &mut *self.code;
        let one = code.f(1.0);
        let inverse = code.f_div(one, period);
        let periods = code.f_mul(s, inverse);
        let periods = code.f_trunc(periods);
        let rest = less_periods(code, s, periods, period);
        code.select(periodic, rest, s)
    }

    /// A position that is limited as [`texel_limit`] says.
    pub(super) fn limited_to_texels(&mut self, s: F, periodic: B) -> F {
        let code = &mut *self.code;
        let _section = code.section(RuleId::IntegerConversion);
        let [low, high] = [-1.0, 1.0].map(|sign| {
            let [far, near] = [true, false].map(|repeats| code.f(sign * texel_limit(repeats)));
            code.select(periodic, far, near)
        });
        code.f_clamp(s, low, high)
    }

    /// A number rounded as the filter does, by TRUNC_COORD.
    fn rounded_for(&mut self, filter: Filter, x: F) -> F {
        let (clear, set) = (rounding(self.rules, filter, false), rounding(self.rules, filter, true));
        let section = self.code.section(RuleId::WeightRounding);
        let rounded = self.round_f(clear, x);
        drop(section);
        if clear == set {
            return rounded;
        }
        let _section = self.code.section(RuleId::TruncCoord);
        let other = self.round_f(set, x);
        let trunc = self.slot_is(Slot::TruncCoord, 1);
        self.code.select(trunc, other, rounded)
    }

    /// The texel of a point-sampled position within 2^15 texels.
    ///
    /// A position rounded to the nearest step lies in the texel that holds what is half a step further, ties too: a texel
    /// begins at an even number of steps. Where that sum is not exact, the position is at least a step from the texel's end.
    fn point_texel(&mut self, s: F, bits: u32) -> F {
        let (clear, set) = (rounding(self.rules, Filter::Point, false), rounding(self.rules, Filter::Point, true));
        let texel = |emitter: &mut Self, how: Rounding| {
            let code = &mut *emitter.code;
            match how {
                Rounding::Floor => code.f_floor(s),
                Rounding::NearestEven | Rounding::HalfUp => {
                    let half_step = code.f(0.5 / (1u32 << bits) as f32);
                    let further = code.f_add(s, half_step);
                    code.f_floor(further)
                }
            }
        };
        let section = self.code.section(RuleId::PointRounding);
        let found = texel(self, clear);
        drop(section);
        if clear == set {
            return found;
        }
        let _section = self.code.section(RuleId::TruncCoord);
        let other = texel(self, set);
        let trunc = self.slot_is(Slot::TruncCoord, 1);
        self.code.select(trunc, other, found)
    }
}
