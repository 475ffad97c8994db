//! From a sum to the result's precision.

use super::{Emitter, Sum};
use crate::{
    emulated::{
        code::{D, F},
        section::Stage,
        specialization::Slot,
    },
    rules::{ResultRounding, RuleId},
};

impl Emitter<'_> {
    /// The filtered value of a channel.
    pub(super) fn finish(&mut self, sum: Sum) -> F {
        let _section = self.code.section(Stage::Filter);
        let blended = match sum.fp64 {
            Some(total) => {
                let rounded = self.round_result(total);
                let code = &mut *self.code;
                let infinity = code.f(f32::INFINITY);
                let negative = code.f(f32::NEG_INFINITY);
                let not_a_number = code.f(f32::NAN);
                let both = code.b_and(sum.infinity, sum.negative_infinity);
                let nan = code.b_or(sum.nan, both);
                let value = code.select(sum.negative_infinity, negative, rounded);
                let value = code.select(sum.infinity, infinity, value);
                code.select(nan, not_a_number, value)
            }
            None => self.rounded(sum.fp32),
        };
        let zero = self.code.u(0);
        let reduction = self.slot(Slot::Reduction);
        let reduces = self.code.u_ne(reduction, zero);
        self.code.select(reduces, sum.best, blended)
    }

    /// Rounds an FP32 value as results are; NaN and infinities stay.
    pub(super) fn rounded(&mut self, value: F) -> F {
        let _section = self.code.section(RuleId::ResultRounding);
        if self.rules.result_rounding == ResultRounding::Fp32 {
            return value;
        }
        let code = &mut *self.code;
        let bits = code.f_bits(value);
        let mask = code.u(0x7f80_0000);
        let exponent = code.u_and(bits, mask);
        let special = code.u_eq(exponent, mask);
        let zero = code.f(0.0);
        let finite = code.select(special, zero, value);
        let wide = code.f_to_d(finite);
        let rounded = self.round_result(wide);
        self.code.select(special, value, rounded)
    }

    /// See [`crate::reference::blend::round_result`]; the value must be finite.
    pub(super) fn round_result(&mut self, value: D) -> F {
        enum Ties {
            Up,
            Even,
            Cut,
        }
        let (bits, ties) = match self.rules.result_rounding {
            ResultRounding::Fp32 => return self.code.d_to_f(value),
            ResultRounding::HalfUp10 => (10, Ties::Up),
            ResultRounding::HalfUp11 => (11, Ties::Up),
            ResultRounding::NearestEven11 => (11, Ties::Even),
            ResultRounding::Cut11 => (11, Ties::Cut),
            ResultRounding::HalfUp12 => (12, Ties::Up),
        };
        let code = &mut *self.code;
        let high = code.d_high_word(value);
        let (twenty, mask) = (code.u(20), code.u(0x7ff));
        let exponent = code.u_shr(high, twenty);
        let exponent = code.u_and(exponent, mask);
        // From FP64's bias to FP32's, with FP16's smallest exponent as the floor; sums stay below FP32's largest.
        let smallest = code.u(1023 - 14);
        let exponent = code.u_max(exponent, smallest);
        let offset = code.u(1023 - 127);
        let exponent = code.u_sub(exponent, offset);
        let shift = code.u(23);
        let drop = code.u(bits - 1);
        let step = code.u_sub(exponent, drop);
        let step = code.u_shl(step, shift);
        let step = code.u_float(step);
        let step = code.f_to_d(step);
        let bias = code.u(254 + bits - 1);
        let inverse = code.u_sub(bias, exponent);
        let inverse = code.u_shl(inverse, shift);
        let inverse = code.u_float(inverse);
        let inverse = code.f_to_d(inverse);
        let magnitude = code.d_abs(value);
        let scaled = code.d_mul(magnitude, inverse);
        let rounded = match ties {
            Ties::Up => {
                let half = code.d(0.5);
                let up = code.d_add(scaled, half);
                code.d_floor(up)
            }
            Ties::Even => code.d_round_even(scaled),
            Ties::Cut => code.d_floor(scaled),
        };
        let result = code.d_mul(rounded, step);
        let result = code.d_to_f(result);
        let bits = code.f_bits(result);
        let sign_mask = code.u(0x8000_0000);
        let sign = code.u_and(high, sign_mask);
        let bits = code.u_or(bits, sign);
        code.u_float(bits)
    }
}
