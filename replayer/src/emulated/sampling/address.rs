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

    /// Texels until the address mode repeats, where it does.
    pub(super) fn period(&mut self, axis: usize, size: F) -> F {
        let mirror = self.slot_is(Self::address_slot(axis), Address::Mirror as u32);
        let double = self.code.f_add(size, size);
        self.code.select(mirror, double, size)
    }

    /// The texels that an index and the next one address, and whether they lie inside of the image.
    pub(super) fn address(&mut self, axis: usize, index: Index, size: I, size_f: F, linear: B) -> ([I; 2], [B; 2]) {
        let _section = self.code.section(Stage::Address);
        let slot = Self::address_slot(axis);
        let periodic = self.is_periodic(axis);
        let period = self.period(axis, size_f);
        let mirror = self.slot_is(slot, Address::Mirror as u32);
        let mirror_once = [Address::MirrorOnceEdge, Address::MirrorOnceHalfBorder, Address::MirrorOnceBorder]
            .map(|a| self.slot_is(slot, a as u32));
        let full_border = [Address::Border, Address::MirrorOnceBorder].map(|a| self.slot_is(slot, a as u32));
        let half_border = [Address::HalfBorder, Address::MirrorOnceHalfBorder].map(|a| self.slot_is(slot, a as u32));
        let code = &mut *self.code;
        let (zero, one) = (code.i(0), code.i(1));
        let last = code.i_sub(size, one);

        // Periodic: one remainder serves both texels.
        let first = remainder(code, index.float, period, index.reach);
        let first = code.f_to_i(first);
        let next = code.i_add(first, one);
        // The first index less the last texel is 0 or below; as an unsigned number it is larger than the next index, or 0.
        let from_last = code.i_sub(first, last);
        let (next_u, from_last_u) = (code.i_to_u(next), code.i_to_u(from_last));
        let wrapped = code.u_min(next_u, from_last_u);
        let wrapped = code.u_to_i(wrapped);
        let double = code.i_add(size, size);
        let two_last = code.i_sub(double, one);
        let reflected = code.i_sub(two_last, first);
        let first_reflected = code.i_min(first, reflected);
        // Behind the period's end follows its first texel.
        let reflected = code.i_sub(two_last, next);
        let next_reflected = code.i_min(next, reflected);
        let next_reflected = code.i_max(next_reflected, zero);
        let periodic_indices =
            [code.select(mirror, first_reflected, first), code.select(mirror, next_reflected, wrapped)];

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
            let i = if tap == 0 { index.integer } else { code.i_add(index.integer, one) };
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

/// A texel index before addressing.
#[derive(Clone, Copy)]
pub(super) struct Index {
    pub integer: I,
    pub float: F,
    pub reach: Reach,
}

impl Index {
    pub(super) fn of(code: &mut Code, integer: I, reach: Reach) -> Self {
        Self { integer, float: code.i_to_f(integer), reach }
    }
}

/// How far from 0 an index can be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Below 2^19.
    Near,
    /// Below 2^23.
    Far,
}

/// `index mod period` in 0..period, for whole numbers and periods to 2^15.
///
/// Vulkan allows the reciprocal an error of 2.5 ULP, so the quotient is off by less than 4 |index| / (2^23 period). The half
/// texel that is added keeps it away from whole numbers by `0.5 / period`, so it is exact for near indices; for far ones what
/// is left is near.
pub(super) fn remainder(code: &mut Code, index: F, period: F, reach: Reach) -> F {
    let (half, one) = (code.f(0.5), code.f(1.0));
    let inverse = code.f_div(one, period);
    let steps = if reach == Reach::Near { 1 } else { 2 };
    (0..steps).fold(index, |index, _| {
        let middle = code.f_add(index, half);
        let quotient = code.f_mul(middle, inverse);
        let quotient = code.f_floor(quotient);
        less_periods(code, index, quotient, period)
    })
}

/// A position or an index less a number of periods near to its own, without rounding: both the product and the difference are
/// multiples of the position's last place, and no larger than 2^24 of them.
pub(super) fn less_periods(code: &mut Code, position: F, periods: F, period: F) -> F {
    let periods = code.f_neg(periods);
    code.f_fma_of_exact(periods, period, position)
}

#[cfg(test)]
mod tests {
    /// [`super::remainder`] with a reciprocal that is off by so many ULP.
    fn remainder(index: f32, period: f32, off: i32, steps: usize) -> f32 {
        let inverse = f32::from_bits((1.0 / period).to_bits().wrapping_add_signed(off));
        (0..steps).fold(index, |index, _| index - ((index + 0.5) * inverse).floor() * period)
    }

    #[test]
    fn a_remainder_is_exact_with_any_reciprocal_that_vulkan_allows() {
        let periods = [1, 2, 3, 5, 7, 37, 255, 256, 1000, 4095, 4097, 16_383, 16_384, 32_766, 32_768];
        let (mut one_step_is_wrong, near, far) = (false, 1 << 19, 1 << 23);
        for period in periods {
            for off in -3..=3 {
                let exact = |index: i32, steps| {
                    remainder(index as f32, period as f32, off, steps) == index.rem_euclid(period) as f32
                };
                for around in [0, 1, 2, 3, 100, near / period, far / period] {
                    for index in (-2..=2).map(|d| around * period + d).flat_map(|i| [i, -i]) {
                        assert!(index.abs() > near || exact(index, 1), "{index} mod {period}, off by {off}");
                        assert!(index.abs() > far || exact(index, 2), "{index} mod {period}, off by {off}");
                        one_step_is_wrong |= index.abs() <= far && !exact(index, 1);
                    }
                }
            }
        }
        assert!(one_step_is_wrong);
    }
}
