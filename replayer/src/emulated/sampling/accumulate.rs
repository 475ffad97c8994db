//! The weighted sum over a footprint, in each hardware's arithmetic.

use rspirv::spirv::Word;

use super::{
    AxisTaps, Emitter, LevelTaps, MIN_BIASED_EXPONENT, Sum, Tap, Texels, each_tap, map_taps,
    weight::{Numerators, Share},
};
use crate::{
    emulated::{
        code::{B, Code, D, F, Value},
        decode::FormatClass,
        section::Stage,
    },
    reference::blend::{corner_bits, corner_shares},
    rules::{Accumulation, RuleId, SampleGroup, ZeroWeightTaps},
    state::View,
};

impl Emitter<'_> {
    /// Adds a level's taps to the sums (or starts them). The weight between levels is that of the second.
    pub(super) fn add_level(
        &mut self,
        sums: Option<[Sum; 4]>,
        level: &LevelTaps,
        share: Share,
        between: F,
    ) -> [Sum; 4] {
        let _section = self.code.section(Stage::Filter);
        let numerators = if self.rules.fixed_point_weights() { Some(self.numerators(level, share)) } else { None };
        let dead = self.dead_taps(level, numerators.as_ref());
        let zero = self.code.u(0);
        // Taps without weight read as zero, so that an infinity or NaN there does not matter.
        let blended: Vec<Vec<Vec<[F; 4]>>> = map_taps(&level.taps, |at, tap| {
            let tap = match dead.as_ref().map(|dead| dead[at[0]][at[1]][at[2]]) {
                Some(dead) => {
                    let alive = self.code.b_not(dead);
                    Tap {
                        word: self.code.select(dead, zero, tap.word),
                        border: self.code.b_and(tap.border, alive),
                        corner: tap
                            .corner
                            .map(|(corner, others)| (corner, others.map(|word| self.code.select(dead, zero, word)))),
                    }
                }
                None => *tap,
            };
            self.channels(tap)
        });
        let reducible: Vec<Vec<Vec<[F; 4]>>> = map_taps(&level.taps, |_, tap| self.channels(*tap));
        std::array::from_fn(|n| {
            let previous = sums.map(|sums| sums[n]);
            let values = map_taps(&blended, |_, channels| channels[n]);
            let raw = map_taps(&reducible, |_, channels| channels[n]);
            let mut sum = self.blend(previous, level, (share, between), &values, numerators.as_ref());
            if self.rules.accumulation.aligned_bits().is_some() {
                self.note_special(&mut sum, level, &raw);
            }
            (sum.best, sum.found) = self.reduce(previous, level, &raw, numerators.as_ref());
            sum
        })
    }

    pub(super) fn blend(
        &mut self,
        previous: Option<Sum>,
        level: &LevelTaps,
        (share, between): (Share, F),
        values: &[Vec<Vec<F>>],
        numerators: Option<&Numerators>,
    ) -> Sum {
        let _section = self.code.section(RuleId::Accumulation);
        let mut sum = previous.unwrap_or_else(|| self.empty_sum());
        match (self.rules.accumulation.aligned_bits(), numerators) {
            (Some(bits), Some(numerators)) => self.add_aligned(&mut sum, (level, share), values, numerators, bits),
            (None, Some(numerators)) => {
                let unit = self.numerator_unit(level, share);
                each_tap(values, |at, &value| {
                    let weight = match numerators {
                        Numerators::Integers(all) => {
                            let weight = self.code.u_to_f(all[at[0]][at[1]][at[2]]);
                            let unit = self.code.d_to_f(unit);
                            self.code.f_mul(weight, unit)
                        }
                        Numerators::Reals(all) => {
                            let weight = self.code.d_mul(all[at[0]][at[1]][at[2]], unit);
                            self.code.d_to_f(weight)
                        }
                    };
                    let product = self.code.f_mul(value, weight);
                    sum.fp32 = self.code.f_add(sum.fp32, product);
                });
            }
            (_, None) => {
                let short = self.products_are_exact();
                let slices: Vec<F> = values
                    .iter()
                    .map(|slice| {
                        let rows: Vec<F> = slice.iter().map(|row| self.lerp(&level.axes[0], row, short)).collect();
                        match level.axes.get(1) {
                            Some(y) => self.lerp(y, &rows, None),
                            None => rows[0],
                        }
                    })
                    .collect();
                let mut value = match level.axes.get(2) {
                    Some(z) => self.lerp(z, &slices, None),
                    None => slices[0],
                };
                if let Some(products) = level.products {
                    let products_sum = self.sum_of_products(level, values);
                    value = self.code.select(products, products_sum, value);
                }
                sum.fp32 = match previous {
                    // Only reached where the level's weight is above 0, or another sample's of the group; it is below 1.
                    Some(first) => {
                        let blended = self.weighted(between, first.fp32, value);
                        if self.rules.zero_weight_taps == ZeroWeightTaps::LeftOut
                            && self.rules.sample_group != SampleGroup::One
                        {
                            let zero = self.code.f(0.0);
                            let weightless = self.code.f_eq(between, zero);
                            self.code.select(weightless, first.fp32, blended)
                        } else {
                            blended
                        }
                    }
                    None => value,
                };
            }
        }
        sum
    }

    /// Where the product of a texel and a weight is exact, so that a device may fuse it into a sum; `None` where it need not be.
    /// Weights on a grid have 9 significant bits at the most and small floats 7; a border colour may have more than the 15 that
    /// FP32 leaves, as has the average around a cube's corner.
    fn products_are_exact(&mut self) -> Option<B> {
        let short = self.class == FormatClass::Float
            // In a table the border colour is not known when the module is compiled.
            && matches!(self.texels, Texels::Image(_))
            && self.view != View::Cube
            && self.rules.subtexel_bits.bits().is_some()
            && !self.rules.accumulation.is_difference();
        short.then(|| {
            let uses_border = self.uses_border();
            let border = self.border();
            let code = &mut *self.code;
            let (mask, zero) = (code.u((1 << 9) - 1), code.u(0));
            let all = border.into_iter().fold(zero, |all, word| code.u_or(all, word));
            let low = code.u_and(all, mask);
            let short_border = code.u_eq(low, zero);
            let none = code.b_not(uses_border);
            code.b_or(none, short_border)
        })
    }

    /// See [`crate::reference::blend::blend`] for [`CubeCorner::Thirds`].
    fn sum_of_products(&mut self, level: &LevelTaps, values: &[Vec<Vec<F>>]) -> F {
        let _section = self.code.section(RuleId::CubeCorner);
        let left_out = self.rules.zero_weight_taps == ZeroWeightTaps::LeftOut;
        let code = &mut *self.code;
        let (zero, one, third) = (code.f(0.0), code.f(1.0), code.f(1.0 / 3.0));
        let (x, y) = (level.axes[0].weight, level.axes[1].weight);
        let (left, upper) = (code.f_sub(one, x), code.f_sub(one, y));
        let shares = [[(left, upper), (x, upper)], [(left, y), (x, y)]].map(|row| row.map(|(a, b)| code.f_mul(a, b)));
        let corners: Vec<Vec<Option<B>>> = level.taps[0]
            .iter()
            .map(|row| row.iter().map(|tap| tap.corner.map(|(corner, _)| corner)).collect())
            .collect();
        let mut of_corner = zero;
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if let Some(corner) = corners[row][column] {
                of_corner = code.select(corner, shares[row][column], of_corner);
            }
        }
        let part = code.f_mul(of_corner, third);
        let mut sum = None;
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut share = code.f_add(shares[row][column], part);
            let mut value = values[0][row][column];
            if let Some(corner) = corners[row][column] {
                share = code.select(corner, zero, share);
                if left_out {
                    value = code.select(corner, zero, value);
                }
            }
            let product = code.f_mul(share, value);
            sum = Some(match sum {
                Some(sum) => code.f_add(product, sum),
                None => product,
            });
        }
        sum.unwrap_or(zero)
    }

    /// `a (1-w) + b w`, or `a` for point. A tap without weight has become 0, so the formula leaves it out. `exact`: where the
    /// products are.
    fn lerp(&mut self, axis: &AxisTaps, taps: &[F], exact: Option<B>) -> F {
        let mut blended = self.weighted(axis.weight, taps[0], taps[1]);
        if let Some(exact) = exact {
            let code = &mut *self.code;
            let one = code.f(1.0);
            let rest = code.f_sub(one, axis.weight);
            let first = code.f_mul(taps[0], rest);
            let fused = code.f_fma_of_exact(taps[1], axis.weight, first);
            blended = code.select(exact, fused, blended);
        }
        if let Some(nan) = axis.nan {
            let not_a_number = self.code.f(f32::NAN);
            blended = self.code.select(nan, not_a_number, blended);
        }
        self.code.select(axis.linear, blended, taps[0])
    }

    pub(super) fn weighted(&mut self, weight: F, a: F, b: F) -> F {
        let code = &mut *self.code;
        if self.rules.accumulation.is_difference() {
            let difference = code.f_sub(b, a);
            if self.rules.accumulation == Accumulation::DifferenceFused {
                return code.f_fused(weight, difference, a);
            }
            let part = code.f_mul(difference, weight);
            return code.f_add(part, a);
        }
        let one = code.f(1.0);
        let rest = code.f_sub(one, weight);
        let (a, b) = (code.f_mul(a, rest), code.f_mul(b, weight));
        code.f_add(a, b)
    }

    fn add_aligned(
        &mut self,
        sum: &mut Sum,
        (level, share): (&LevelTaps, Share),
        values: &[Vec<Vec<F>>],
        numerators: &Numerators,
        fraction_bits: u32,
    ) {
        let weight_unit = self.numerator_unit(level, share);
        for (z, slice) in values.iter().enumerate() {
            let code = &mut *self.code;
            let (magnitude_mask, infinity_bits) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
            let (shift, zero) = (code.u(23), code.f(0.0));
            let mut largest = code.u(MIN_BIASED_EXPONENT);
            let mut finite = Vec::new();
            for &value in slice.iter().flatten() {
                let bits = code.f_bits(value);
                let magnitude = code.u_and(bits, magnitude_mask);
                let special = code.u_ge(magnitude, infinity_bits);
                let value = code.select(special, zero, value);
                let exponent = code.u_shr(magnitude, shift);
                largest = code.u_max(largest, exponent);
                finite.push(value);
            }
            // 2^(fraction_bits - exponent), from its bits; special values give a scale that is not used.
            let bias = code.u(254 + fraction_bits);
            let exponent = code.u_sub(bias, largest);
            let scale = code.u_shl(exponent, shift);
            let scale = code.u_float(scale);
            let mut total = None;
            for (i, &value) in finite.iter().enumerate() {
                let (y, x) = (i / slice[0].len(), i % slice[0].len());
                let aligned = code.f_mul(value, scale);
                let cut = code.f_trunc(aligned);
                let cut = code.f_to_d(cut);
                let weight = match numerators {
                    Numerators::Integers(all) => code.u_to_d(all[z][y][x]),
                    Numerators::Reals(all) => all[z][y][x],
                };
                let product = code.d_mul(cut, weight);
                total = Some(match total {
                    Some(total) => code.d_add(total, product),
                    None => product,
                });
            }
            let Some(total) = total else { continue };
            // 2^(exponent - fraction_bits) fits FP32.
            let low = code.u(fraction_bits);
            let exponent = code.u_sub(largest, low);
            let unit = code.u_shl(exponent, shift);
            let unit = code.u_float(unit);
            let unit = code.f_to_d(unit);
            let unit = code.d_mul(unit, weight_unit);
            let value = code.d_mul(total, unit);
            sum.fp64 = Some(match sum.fp64 {
                Some(before) => code.d_add(before, value),
                None => value,
            });
        }
    }

    /// What a gather returns beyond a cube's corner: see [`crate::reference::blend::corner_value`].
    pub(super) fn corner_value(&mut self, level: &LevelTaps, [own, across_t, across_s]: [F; 3]) -> F {
        let _section = self.code.section(RuleId::CubeCorner);
        let plain = self.code.f_add(own, across_t);
        let plain = self.code.f_add(plain, across_s);
        let [third, rest] = corner_shares(self.rules, 2);
        let scale = 1.0 / (1u64 << corner_bits(self.rules, 2)) as f64;
        let value = match self.rules.accumulation.aligned_bits() {
            Some(bits) => {
                let zero = self.code.f(0.0);
                let numerators =
                    vec![[[rest, third], [third, 0]].map(|row| row.map(|n| self.code.d(n as f64)).to_vec()).to_vec()];
                let mut sum = self.empty_sum();
                let values = vec![vec![vec![own, across_t], vec![across_s, zero]]];
                let whole = Share::Level { step: self.code.u(0), m: 0 };
                self.add_aligned(&mut sum, (level, whole), &values, &Numerators::Reals(numerators), bits);
                let total = match sum.fp64 {
                    Some(total) => total,
                    None => self.code.d(0.0),
                };
                self.round_result(total)
            }
            None => {
                let mut sum = self.code.f(0.0);
                for (value, numerator) in [(own, rest), (across_t, third), (across_s, third)] {
                    let weight = self.code.f((numerator as f64 * scale) as f32);
                    let product = self.code.f_mul(value, weight);
                    sum = self.code.f_add(sum, product);
                }
                self.rounded(sum)
            }
        };
        let code = &mut *self.code;
        let (bits, mask) = (code.f_bits(plain), code.u(0x7f80_0000));
        let exponent = code.u_and(bits, mask);
        let special = code.u_eq(exponent, mask);
        code.select(special, plain, value)
    }

    pub(super) fn empty_sum(&mut self) -> Sum {
        let code = &mut *self.code;
        let (zero, no) = (code.f(0.0), code.b(false));
        Sum { fp32: zero, fp64: None, nan: no, infinity: no, negative_infinity: no, best: zero, found: no }
    }

    /// Notes NaN and infinities among the taps that have a weight along every axis.
    fn note_special(&mut self, sum: &mut Sum, level: &LevelTaps, values: &[Vec<Vec<F>>]) {
        let _section = self.code.section(RuleId::Accumulation);
        let left_out = self.rules.zero_weight_taps == ZeroWeightTaps::LeftOut;
        let weightless: Vec<[B; 2]> = level
            .axes
            .iter()
            .map(|axis| {
                let [first, second] = self.weightless(axis);
                // A point axis has no second texel.
                let point = self.code.b_not(axis.linear);
                if left_out { [first, self.code.b_or(second, point)] } else { [self.code.b(false), point] }
            })
            .collect();
        let code = &mut *self.code;
        let (mask, infinity_bits) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
        let negative_bits = code.u(f32::NEG_INFINITY.to_bits());
        each_tap(values, |at, &value| {
            let dead = weightless
                .iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| code.b_or(a, b));
            let Some(dead) = dead else { return };
            let alive = code.b_not(dead);
            let bits = code.f_bits(value);
            let magnitude = code.u_and(bits, mask);
            let nan = code.u_gt(magnitude, infinity_bits);
            let positive = code.u_eq(bits, infinity_bits);
            let negative = code.u_eq(bits, negative_bits);
            for (flag, is) in
                [(&mut sum.nan, nan), (&mut sum.infinity, positive), (&mut sum.negative_infinity, negative)]
            {
                let counts = code.b_and(is, alive);
                *flag = code.b_or(*flag, counts);
            }
        });
    }
}

impl Sum {
    /// The values that a branch can change, with their types.
    pub(super) fn values(&self, code: &Code) -> Vec<(Word, Word)> {
        let float = F::type_id(code);
        let boolean = B::type_id(code);
        let mut values = vec![
            (float, self.fp32.id()),
            (boolean, self.nan.id()),
            (boolean, self.infinity.id()),
            (boolean, self.negative_infinity.id()),
            (float, self.best.id()),
            (boolean, self.found.id()),
        ];
        values.extend(self.fp64.map(|d| (D::type_id(code), d.id())));
        values
    }

    pub(super) fn with_ids(&self, ids: &[Word]) -> Self {
        Self {
            fp32: F::from_id(ids[0]),
            nan: B::from_id(ids[1]),
            infinity: B::from_id(ids[2]),
            negative_infinity: B::from_id(ids[3]),
            best: F::from_id(ids[4]),
            found: B::from_id(ids[5]),
            fp64: self.fp64.map(|_| D::from_id(ids[6])),
        }
    }
}
