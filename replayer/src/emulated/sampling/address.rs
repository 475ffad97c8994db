//! Which texel an index addresses, by the eight CLAMP values.

use super::Emitter;
use crate::{
    emulated::{
        code::{B, Code, F, I},
        section::Stage,
        specialization::Slot,
    },
    state::{Address, View},
};

impl Emitter<'_> {
    pub(super) fn is_periodic(&mut self, axis: usize) -> B {
        let two = self.code.u(2);
        let mode = self.slot(Self::address_slot(axis));
        let periodic = self.code.u_lt(mode, two);
        self.unless_seamless(periodic)
    }

    /// A seamless cube has no addressing beyond its faces.
    pub(super) fn unless_seamless(&mut self, condition: B) -> B {
        if self.view != View::Cube {
            return condition;
        }
        let separate = self.slot_is(Slot::CubeWrap, 0);
        self.code.b_and(condition, separate)
    }

    pub(super) fn address(&mut self, axis: usize, index: I, size: I, size_f: F, linear: B) -> ([I; 2], [B; 2]) {
        let _section = self.code.section(Stage::Address);
        let slot = Self::address_slot(axis);
        let periodic = self.is_periodic(axis);
        let mirror = self.slot_is(slot, Address::Mirror as u32);
        let mirror_once = [Address::MirrorOnceEdge, Address::MirrorOnceHalfBorder, Address::MirrorOnceBorder]
            .map(|a| self.slot_is(slot, a as u32));
        let full_border = [Address::Border, Address::MirrorOnceBorder].map(|a| self.slot_is(slot, a as u32));
        let half_border = [Address::HalfBorder, Address::MirrorOnceHalfBorder].map(|a| self.slot_is(slot, a as u32));
        let code = &mut *self.code;
        let (zero, one) = (code.i(0), code.i(1));
        let last = code.i_sub(size, one);
        let double = code.i_add(size, size);

        // Periodic: one remainder serves both texels.
        let period = code.select(mirror, double, size);
        let double_f = code.f_add(size_f, size_f);
        let period_f = code.select(mirror, double_f, size_f);
        let first = remainder(code, index, period, period_f);
        let second = code.i_add(first, one);
        let wraps = code.i_eq(second, period);
        let second = code.select(wraps, zero, second);
        let two_last = code.i_sub(double, one);
        let reflect = |code: &mut Code, i: I| {
            let reflected = code.i_sub(two_last, i);
            let plain = code.i_lt(i, size);
            code.select(plain, i, reflected)
        };
        let periodic_indices = [reflect(code, first), reflect(code, second)];

        // The others: mirrored once or not, then limited; border where that changed the index.
        let once = code.b_or(mirror_once[0], mirror_once[1]);
        let once = code.b_or(once, mirror_once[2]);
        let full = code.b_or(full_border[0], full_border[1]);
        let half = code.b_or(half_border[0], half_border[1]);
        let half = code.b_and(half, linear);
        let has_border = code.b_or(full, half);
        let no_border = code.b_not(has_border);
        let mut indices = [zero; 2];
        let mut inside = [no_border; 2];
        for tap in 0..2 {
            let i = if tap == 0 { index } else { code.i_add(index, one) };
            // -1 - i is i with all bits flipped.
            let flipped = code.i_not(i);
            let negative = code.i_lt(i, zero);
            let flip = code.b_and(once, negative);
            let i = code.select(flip, flipped, i);
            let limited = code.i_clamp(i, zero, last);
            let kept = code.i_eq(limited, i);
            inside[tap] = code.b_or(no_border, kept);
            indices[tap] = code.select(periodic, periodic_indices[tap], limited);
        }
        (indices, inside)
    }
}

/// `index mod period` in 0..period, for |index| below 2^23 and periods to 2^15.
///
/// The quotient by FP32 reciprocal is off by at most one, also with the 2.5 ULP that Vulkan allows a division, as long as
/// the period is at least 2; the corrections make up for that, and the last limit serves a period of 1.
pub(super) fn remainder(code: &mut Code, index: I, period: I, period_f: F) -> I {
    let one = code.f(1.0);
    let reciprocal = code.f_div(one, period_f);
    let index_f = code.i_to_f(index);
    let quotient = code.f_mul(index_f, reciprocal);
    let quotient = code.f_floor(quotient);
    let quotient = code.f_to_i(quotient);
    let whole = code.i_mul(quotient, period);
    let rest = code.i_sub(index, whole);
    let zero = code.i(0);
    let negative = code.i_lt(rest, zero);
    let up = code.i_add(rest, period);
    let rest = code.select(negative, up, rest);
    let beyond = code.i_ge(rest, period);
    let down = code.i_sub(rest, period);
    let rest = code.select(beyond, down, rest);
    let one = code.i(1);
    let last = code.i_sub(period, one);
    code.i_clamp(rest, zero, last)
}
