//! Integer weights of taps, and which taps have none.

use super::{AxisTaps, Emitter, LevelTaps, Levels, map_taps};
use crate::{
    emulated::code::{B, Code, D, U},
    rules::{WeightScheme, ZeroWeightTaps},
};

impl Emitter<'_> {
    /// Which taps are left out of a blend; `None` when none are.
    pub(super) fn dead_taps(&mut self, level: &LevelTaps, numerators: Option<&Numerators>) -> Option<Vec<Vec<Vec<B>>>> {
        if self.rules.zero_weight_taps != ZeroWeightTaps::LeftOut {
            return None;
        }
        if let Some(numerators) = numerators {
            return Some(self.no_numerator(numerators));
        }
        let axes: Vec<[B; 2]> = level.axes.iter().map(|axis| self.weightless(axis)).collect();
        Some(map_taps(&level.taps, |at, _| {
            axes.iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| self.code.b_or(a, b))
                .unwrap_or_else(|| self.code.b(false))
        }))
    }

    /// Which taps have an integer weight of 0.
    pub(super) fn no_numerator(&mut self, numerators: &Numerators) -> Vec<Vec<Vec<B>>> {
        match numerators {
            Numerators::Integers(all) => map_taps(all, |_, &n| {
                let zero = self.code.u(0);
                self.code.u_eq(n, zero)
            }),
            Numerators::Reals(all) => map_taps(all, |_, &n| {
                let zero = self.code.d(0.0);
                let weighted = self.code.d_lt(zero, n);
                self.code.b_not(weighted)
            }),
        }
    }

    /// Whether the first and the second texel along an axis have no weight.
    pub(super) fn weightless(&mut self, axis: &AxisTaps) -> [B; 2] {
        let code = &mut *self.code;
        if self.rules.subtexel_bits.bits().is_some() {
            let zero = code.u(0);
            return [code.b(false), code.u_eq(axis.step, zero)];
        }
        let (zero, one) = (code.f(0.0), code.f(1.0));
        [code.f_ge(axis.weight, one), code.f_eq(axis.weight, zero)]
    }

    pub(super) fn numerators(&mut self, level: &LevelTaps, levels: &Levels, m: usize) -> Numerators {
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        if self.rules.weight_scheme == WeightScheme::Product {
            let along = |emitter: &mut Self, step: U, bits: u32| -> [D; 2] {
                let code = &mut *emitter.code;
                let whole = code.u(1 << bits);
                let first = code.u_sub(whole, step);
                [code.u_to_d(first), code.u_to_d(step)]
            };
            let mip = along(self, levels.step, 8)[m];
            let axes: Vec<[D; 2]> = level.axes.iter().map(|axis| along(self, axis.step, bits)).collect();
            return Numerators::Reals(map_taps(&level.taps, |at, _| {
                axes.iter()
                    .zip([at[2], at[1], at[0]])
                    .fold(mip, |product, (axis, place)| self.code.d_mul(product, axis[place]))
            }));
        }
        let whole = self.code.u(256);
        let [first, second] = self.split(whole, levels.step, 8);
        let total = if m == 0 { first } else { second };
        let slices = match level.axes.get(2) {
            Some(z) => self.split(total, z.step, bits).to_vec(),
            None => vec![total],
        };
        let integers = slices
            .into_iter()
            .map(|slice| {
                let [c0, c1] = self.split(slice, level.axes[0].step, bits);
                let Some(y) = level.axes.get(1) else { return vec![vec![c0, c1]] };
                let code = &mut *self.code;
                let (whole, half, shift) = (code.u(1 << bits), code.u(1 << (bits - 1)), code.u(bits));
                let rest = code.u_sub(whole, y.step);
                let share = |code: &mut Code, total: U, part: U| {
                    let product = code.u_mul(total, part);
                    let product = code.u_add(product, half);
                    code.u_shr(product, shift)
                };
                let r00 = share(code, c0, rest);
                let r11 = share(code, c1, y.step);
                let (r01, r10) = (code.u_sub(c0, r00), code.u_sub(c1, r11));
                vec![vec![r00, r10], vec![r01, r11]]
            })
            .collect();
        Numerators::Integers(integers)
    }

    fn split(&mut self, total: U, step: U, bits: u32) -> [U; 2] {
        let code = &mut *self.code;
        let (half, shift) = (code.u(1 << (bits - 1)), code.u(bits));
        let product = code.u_mul(total, step);
        let product = code.u_add(product, half);
        let second = code.u_shr(product, shift);
        [code.u_sub(total, second), second]
    }

    /// log2 of the whole of [`Self::numerators`].
    pub(super) fn numerator_bits(&self, level: &LevelTaps) -> u32 {
        match self.rules.weight_scheme {
            WeightScheme::Totals => 8,
            WeightScheme::Product => 8 + level.axes.len() as u32 * self.rules.subtexel_bits.bits().unwrap_or(8),
        }
    }
}

/// Integer weights of a level's taps: words where they fit, FP64 where they do not.
pub(super) enum Numerators {
    Integers(Vec<Vec<Vec<U>>>),
    Reals(Vec<Vec<Vec<D>>>),
}
