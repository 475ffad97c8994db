//! Integer weights of taps, and which taps have none.

use super::{AxisTaps, Emitter, LevelTaps, map_taps};
use crate::{
    emulated::code::{B, Code, D, F, U, Value},
    rules::{CubeCorner, RuleId, WeightScheme, ZeroWeightTaps},
    state::View,
};

impl Emitter<'_> {
    /// Which taps are left out of a blend; `None` when none are.
    pub(super) fn dead_taps(&mut self, level: &LevelTaps, numerators: Option<&Numerators>) -> Option<Vec<Vec<Vec<B>>>> {
        let _section = self.code.section(RuleId::ZeroWeightTaps);
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
        let zero = code.f(0.0);
        let second = code.f_eq(axis.weight, zero);
        // A weight on a grid is below 1.
        if self.rules.subtexel_bits.bits().is_some() {
            return [code.b(false), second];
        }
        let one = code.f(1.0);
        [code.f_ge(axis.weight, one), second]
    }

    /// Integer weights of a level's taps: see [`crate::reference::blend::numerators`].
    pub(super) fn numerators(&mut self, level: &LevelTaps, share: Share) -> Numerators {
        let _section = self.code.section(RuleId::WeightScheme);
        let numerators = self.tap_numerators(level, share);
        if self.view != View::Cube || self.rules.cube_corner != CubeCorner::Shares {
            return numerators;
        }
        match numerators {
            Numerators::Integers(mut all) => {
                let (none, one, factor, shift) = (self.code.u(0), self.code.u(1), self.code.u(0x5556), self.code.u(16));
                self.share_corner(
                    level,
                    &mut all[0],
                    none,
                    |code, whole| {
                        // A third of at most 257, rounded down: the product's fraction never reaches the next whole.
                        let product = code.u_add(whole, one);
                        let product = code.u_mul(product, factor);
                        let third = code.u_shr(product, shift);
                        let rest = code.u_sub(whole, third);
                        (third, code.u_sub(rest, third))
                    },
                    Code::u_add,
                );
                Numerators::Integers(all)
            }
            Numerators::Reals(mut all) => {
                let (none, one, factor) = (self.code.d(0.0), self.code.d(1.5), self.code.d(1.0 / 3.0));
                self.share_corner(
                    level,
                    &mut all[0],
                    none,
                    |code, whole| {
                        // A half more than the whole number keeps the product away from whole thirds.
                        let product = code.d_add(whole, one);
                        let product = code.d_mul(product, factor);
                        let third = code.d_floor(product);
                        let rest = code.d_sub(whole, third);
                        (third, code.d_sub(rest, third))
                    },
                    Code::d_add,
                );
                Numerators::Reals(all)
            }
        }
    }

    /// Moves the weight of the place beyond a cube's corner to the texels around it.
    fn share_corner<T: Value>(
        &mut self,
        level: &LevelTaps,
        slice: &mut [Vec<T>],
        none: T,
        shares: impl Fn(&mut Code, T) -> (T, T),
        add: impl Fn(&mut Code, T, T) -> T,
    ) {
        let _section = self.code.section(RuleId::CubeCorner);
        let before = slice.to_vec();
        for (y, x) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let Some((corner, _)) = level.taps[0][y][x].corner else { continue };
            let code = &mut *self.code;
            let (third, rest) = shares(code, before[y][x]);
            slice[y][x] = code.select(corner, none, slice[y][x]);
            for (y, x, share) in [(1 - y, x, third), (y, 1 - x, third), (1 - y, 1 - x, rest)] {
                let share = code.select(corner, share, none);
                slice[y][x] = add(code, slice[y][x], share);
            }
        }
    }

    fn tap_numerators(&mut self, level: &LevelTaps, share: Share) -> Numerators {
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        if self.rules.weight_scheme == WeightScheme::Product {
            let along = |emitter: &mut Self, step: U, bits: u32| -> [D; 2] {
                let code = &mut *emitter.code;
                let whole = code.u(1 << bits);
                let first = code.u_sub(whole, step);
                [code.u_to_d(first), code.u_to_d(step)]
            };
            let mip = match share {
                Share::Level { step, m } => along(self, step, 8)[m],
                Share::Probe { total, .. } => self.code.u_to_d(total),
            };
            let axes: Vec<[D; 2]> = level.axes.iter().map(|axis| along(self, axis.step, bits)).collect();
            return Numerators::Reals(map_taps(&level.taps, |at, _| {
                axes.iter()
                    .zip([at[2], at[1], at[0]])
                    .fold(mip, |product, (axis, place)| self.code.d_mul(product, axis[place]))
            }));
        }
        let total = match share {
            Share::Level { step, m } => {
                let whole = self.code.u(256);
                let second = self.share(whole, step, 8);
                let first = self.code.u_sub(whole, second);
                if m == 0 { first } else { second }
            }
            Share::Probe { total, .. } => total,
        };
        let slices = match level.axes.get(2) {
            Some(z) => {
                let rest = self.rest(z.step, bits);
                let first = self.share(total, rest, bits);
                vec![first, self.code.u_sub(total, first)]
            }
            None => vec![total],
        };
        let integers = slices
            .into_iter()
            .map(|slice| {
                let c1 = self.share(slice, level.axes[0].step, bits);
                let c0 = self.code.u_sub(slice, c1);
                let Some(y) = level.axes.get(1) else { return vec![vec![c0, c1]] };
                let rest = self.rest(y.step, bits);
                let r00 = self.share(c0, rest, bits);
                let r11 = self.share(c1, y.step, bits);
                let (r01, r10) = (self.code.u_sub(c0, r00), self.code.u_sub(c1, r11));
                vec![vec![r00, r10], vec![r01, r11]]
            })
            .collect();
        Numerators::Integers(integers)
    }

    /// A part of a total, rounded half up.
    fn share(&mut self, total: U, part: U, bits: u32) -> U {
        let code = &mut *self.code;
        let (half, shift) = (code.u(1 << (bits - 1)), code.u(bits));
        let product = code.u_mul(total, part);
        let product = code.u_add(product, half);
        code.u_shr(product, shift)
    }

    /// The first tap's part along an axis.
    fn rest(&mut self, step: U, bits: u32) -> U {
        let whole = self.code.u(1 << bits);
        self.code.u_sub(whole, step)
    }

    /// log2 of the whole of [`Self::numerators`] over what the level or the probe has of it.
    fn axis_bits(&self, level: &LevelTaps) -> u32 {
        match self.rules.weight_scheme {
            WeightScheme::Totals => 0,
            WeightScheme::Product => level.axes.len() as u32 * self.rules.subtexel_bits.bits().unwrap_or(8),
        }
    }

    /// One over the whole of [`Self::numerators`].
    pub(super) fn numerator_unit(&mut self, level: &LevelTaps, share: Share) -> D {
        let axes = 1.0 / (1u64 << self.axis_bits(level)) as f64;
        match share {
            Share::Level { .. } => self.code.d(axes / 256.0),
            Share::Probe { unit, .. } => {
                let axes = self.code.d(axes);
                let unit = self.code.f_to_d(unit);
                self.code.d_mul(unit, axes)
            }
        }
    }
}

/// What part of the whole a level's taps have.
#[derive(Clone, Copy)]
pub(super) enum Share {
    /// The first (0) or second level, whose second has so many steps of 1/256.
    Level { step: U, m: usize },
    /// A probe's integer weight, and one over the weight of all probes.
    Probe { total: U, unit: F },
}

/// Integer weights of a level's taps: words where they fit, FP64 where they do not.
pub(super) enum Numerators {
    Integers(Vec<Vec<Vec<U>>>),
    Reals(Vec<Vec<Vec<D>>>),
}
