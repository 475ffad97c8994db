//! Anisotropic filters by pairs of probes: see [`crate::reference::pairs`].

use super::{Computed, Emitter, Inputs, Levels, Probes, Sum, Variables, weight::Share};
use crate::{
    emulated::{
        code::{B, F, I, U},
        section::Stage,
        specialization::Slot,
    },
    reference::pairs::{EXP2_COEFFICIENTS, OCTAVE, covers},
    rules::RuleId,
};

/// The probes in one level: see [`crate::reference::pairs::LevelProbes`].
#[derive(Clone, Copy)]
struct LevelProbes {
    pairs: U,
    weight: U,
    side: U,
    /// One over the weight of all probes.
    unit: F,
    step: [I; 2],
    /// The level's part of 256.
    part: U,
}

impl Emitter<'_> {
    /// The level of detail and the line of probes of conditioned derivatives, on a level of these sizes.
    pub(super) fn line(&mut self, derivatives: &[Vec<F>; 2], size: &[I]) -> Computed {
        let octagon = self.octagon(derivatives, size);
        let length = self.short_log2(octagon.extent);
        let none = self.code.i(0);
        if !covers(self.view) {
            return Computed { lod: length, probes: Probes::Pairs { ratio: none, direction: [none; 2] } };
        }
        let area = self.short_log2(octagon.area);
        let _section = self.code.section(RuleId::AnisotropyRule);
        let limit = self.slot(Slot::Anisotropy);
        let code = &mut *self.code;
        let octave = code.f(OCTAVE as f32);
        let steps = [length, area].map(|log2| {
            let steps = code.f_mul(log2, octave);
            code.f_to_i(steps)
        });
        let [length, area] = steps;
        let octave = code.u(OCTAVE as u32);
        let limit = code.u_mul(limit, octave);
        let limit = code.u_to_i(limit);
        let twice = code.i_add(length, length);
        let ratio = code.i_sub(twice, area);
        let ratio = code.i_clamp(ratio, none, limit);
        let lod = code.i_sub(length, ratio);
        let lod = code.i_to_f(lod);
        let step = code.f(1.0 / OCTAVE as f32);
        let lod = code.f_mul(lod, step);
        let longest = code.i_max(length, none);
        let ratio = code.i_min(ratio, longest);
        let direction = self.direction([octagon.axis[0], octagon.axis[1]]);
        Computed { lod, probes: Probes::Pairs { ratio, direction } }
    }

    /// See [`crate::reference::pairs::direction`]; the root's error of some ULP is far from changing an entry.
    fn direction(&mut self, vector: [F; 2]) -> [I; 2] {
        let [x, y] = vector.map(|along| self.code.f_abs(along));
        let larger = self.code.f_max(x, y);
        let unit = self.unit_bits(larger);
        let per_unit = self.per_unit(unit);
        let code = &mut *self.code;
        let none = code.u(0);
        let empty = code.u_eq(unit, none);
        let (cells, zero, one, two) = (code.f(8.0), code.f(0.0), code.f(1.0), code.f(2.0));
        let (threshold, whole, half) = (code.f(0.25), code.f(64.0), code.f(0.5));
        let per_cell = code.f_mul(per_unit, cells);
        let per_cell = code.select(empty, zero, per_cell);
        let odd = [x, y].map(|along| {
            let cells = code.f_mul(along, per_cell);
            let small = code.f_lt(cells, threshold);
            let cut = code.f_floor(cells);
            let cut = code.f_mul(cut, two);
            let cut = code.f_add(cut, one);
            code.select(small, zero, cut)
        });
        let squares = odd.map(|along| code.f_mul(along, along));
        let square = code.f_add(squares[0], squares[1]);
        let square = code.select(empty, one, square);
        let inverse = code.f_inverse_sqrt(square);
        std::array::from_fn(|axis| {
            let along = code.f_mul(odd[axis], whole);
            let along = code.f_mul(along, inverse);
            let along = code.f_add(along, half);
            let along = code.f_floor(along);
            let along = code.f_to_i(along);
            let none = code.i(0);
            let opposite = code.i_sub(none, along);
            let negative = code.f_lt(vector[axis], zero);
            code.select(negative, opposite, along)
        })
    }

    /// See [`crate::reference::pairs::mantissa`].
    fn power_mantissa(&mut self, steps: U) -> U {
        let code = &mut *self.code;
        let steps = code.u_to_f(steps);
        let step = code.f(1.0 / OCTAVE as f32);
        let t = code.f_mul(steps, step);
        let zero = code.f(0.0);
        let power = EXP2_COEFFICIENTS.iter().rev().fold(zero, |sum, &c| {
            let c = code.f(c);
            let product = code.f_mul(sum, t);
            code.f_add(product, c)
        });
        let (whole, half) = (code.f(256.0), code.f(0.5));
        let power = code.f_mul(power, whole);
        let power = code.f_add(power, half);
        code.f_to_u(power)
    }

    fn level_probes(&mut self, ratio: I, direction: [I; 2], stretch: U, part: U) -> LevelProbes {
        let (none, octave_steps) = (self.code.i(0), self.code.u(OCTAVE as u32));
        let some = self.code.i_lt(none, ratio);
        let ratio = self.code.i_max(ratio, none);
        let ratio = self.code.i_to_u(ratio);
        let fraction = self.code.u_mod(ratio, octave_steps);
        let rounded = self.power_mantissa(fraction);
        let rest = self.code.u_sub(octave_steps, stretch);
        let stretched = self.power_mantissa(rest);
        let code = &mut *self.code;
        let (zero, one, two) = (code.u(0), code.u(1), code.u(2));
        let (half, whole, both) = (code.u(128), code.u(256), code.u(512));
        let octave = code.u_div(ratio, octave_steps);
        let carry = code.u_eq(rounded, half);
        let next = code.u_add(octave, one);
        let octave = code.select(carry, next, octave);
        let inverse = code.select(carry, whole, rounded);
        let first = code.u_eq(octave, zero);
        let fine = code.u_ge(octave, two);
        let side = code.select(fine, both, whole);
        let quadruple = code.u_shl(inverse, two);
        let of_fine = code.u_shr(quadruple, octave);
        let weight = code.select(fine, of_fine, inverse);
        let weight = code.select(first, whole, weight);
        let before = code.u_sub(weight, one);
        let pairs = code.u_add(side, before);
        let pairs = code.u_div(pairs, weight);
        let pairs = code.select(some, pairs, zero);
        let units = [8, 9, 10].map(|bits| code.f(1.0 / (1u32 << bits) as f32));
        let unit = code.select(fine, units[2], units[1]);
        let unit = code.select(some, unit, units[0]);
        let apart = code.u_sub(whole, inverse);
        let spacing = code.select(first, apart, half);
        let spacing = code.u_to_i(spacing);
        let straight = code.u_eq(stretch, zero);
        let plain = code.u(64);
        let stretch = code.u_shr(stretched, one);
        let stretch = code.select(straight, plain, stretch);
        let stretch = code.u_to_i(stretch);
        let (rounding, seven, six) = (code.i(64), code.u(7), code.u(6));
        let step = direction.map(|along| {
            let step = code.i_mul(spacing, along);
            let step = code.i_add(step, rounding);
            let step = code.i_shr(step, seven);
            let step = code.i_mul(step, stretch);
            code.i_shr(step, six)
        });
        LevelProbes { pairs, weight, side, unit, step, part }
    }

    /// A probe's integer weight: see [`crate::reference::pairs::LevelProbes::share`].
    fn probe_share(&mut self, level: &LevelProbes, pair: U, second: B) -> U {
        let code = &mut *self.code;
        let (one, whole, half, eight) = (code.u(1), code.u(256), code.u(128), code.u(8));
        let rest = code.u_sub(whole, level.part);
        let part = code.select(second, rest, level.part);
        let next = code.u_add(pair, one);
        let [from, to] = [pair, next].map(|pairs| {
            let sum = code.u_mul(pairs, level.weight);
            let sum = code.u_min(sum, level.side);
            let share = code.u_mul(sum, part);
            let share = code.u_add(share, half);
            let share = code.u_shr(share, eight);
            let other = code.u_sub(sum, share);
            code.select(second, other, share)
        });
        code.u_sub(to, from)
    }

    /// `image_sample*` with the probes of a line.
    pub(super) fn pairs(&mut self, inputs: &Inputs, ratio: I, direction: [I; 2], variables: Variables) -> [U; 4] {
        let _section = self.code.section(RuleId::AnisotropyRule);
        let levels = self.levels(inputs, false);
        let [linear, slice_linear] = self.filters(levels.minify);
        let layer = inputs.layer.map(|operand| self.layer(operand));
        let [first, second] = self.probes_by_level(&levels, ratio, direction);
        let code = &mut *self.code;
        let (zero, one) = (code.u(0), code.u(1));
        let [of_first, of_second] = [first, second].map(|level| {
            let twice = code.u_add(level.pairs, level.pairs);
            code.u_max(twice, one)
        });
        let of_second = code.select(levels.two, of_second, zero);
        let count = code.u_add(of_first, of_second);
        let single = {
            let any = code.b_or(linear, levels.two);
            let any = code.b_or(any, slice_linear);
            let paired = code.u_gt(of_first, one);
            let any = code.b_or(any, paired);
            code.b_not(any)
        };
        let best = self.code.f(f32::NAN);
        let empty = Sum { best, ..self.empty_sum() };
        self.store_sums(variables, [empty; 4]);
        let open = self.code.begin_loop(variables.counter, count);
        let index = open.index;
        let code = &mut *self.code;
        let after = code.u_ge(index, of_first);
        let from = code.select(after, of_first, zero);
        let probe = code.u_sub(index, from);
        let level = LevelProbes {
            pairs: code.select(after, second.pairs, first.pairs),
            weight: code.select(after, second.weight, first.weight),
            side: code.select(after, second.side, first.side),
            unit: code.select(after, second.unit, first.unit),
            step: std::array::from_fn(|axis| code.select(after, second.step[axis], first.step[axis])),
            part: code.select(after, second.part, first.part),
        };
        let resource_level = code.select(after, levels.next, levels.level);
        let pair = code.u_shr(probe, one);
        let side = code.u_and(probe, one);
        let other_side = code.u_eq(side, one);
        let middle = code.u_eq(level.pairs, zero);
        let share = self.probe_share(&level, pair, other_side);
        let code = &mut *self.code;
        let share = code.select(middle, level.part, share);
        let odd = code.u_add(pair, pair);
        let odd = code.u_add(odd, one);
        let odd = code.u_to_i(odd);
        let none = code.i(0);
        let shift = level.step.map(|along| {
            let place = code.i_mul(odd, along);
            let opposite = code.i_sub(none, place);
            let place = code.select(other_side, opposite, place);
            code.select(middle, none, place)
        });
        let probe = Inputs { shift: Some(shift), ..inputs.clone() };
        let taps = self.level_taps(resource_level, &probe, layer, linear, slice_linear, 0);
        let only = self.channels(taps.taps[0][0][0]);
        let before = self.load_sums(variables);
        let sums = self.add_level(Some(before), &taps, Share::Probe { total: share, unit: level.unit }, levels.weight);
        self.store_sums(variables, sums);
        for (&variable, channel) in variables.sums.iter().zip(only) {
            // A single texel goes through as it is; the sum is kept elsewhere then, or not needed.
            let sum: F = self.code.load(variable);
            let kept = self.code.select(single, channel, sum);
            self.code.store(variable, kept);
        }
        self.code.end_loop(open);
        let sums = self.load_sums(variables);
        let mut channels: [F; 4] = std::array::from_fn(|n| {
            let filtered = self.finish(sums[n]);
            self.code.select(single, sums[n].fp32, filtered)
        });
        self.plain_w(&mut channels);
        let _section = self.code.section(Stage::Output);
        self.output(channels)
    }

    fn probes_by_level(&mut self, levels: &Levels, ratio: I, direction: [I; 2]) -> [LevelProbes; 2] {
        let code = &mut *self.code;
        let (octave, none) = (code.u(OCTAVE as u32), code.u(0));
        let step = code.select(levels.two, levels.step, none);
        let part = code.u_sub(octave, step);
        let shorter = code.u_to_i(part);
        let shorter = code.i_sub(ratio, shorter);
        let first = self.level_probes(ratio, direction, step, part);
        [first, self.level_probes(shorter, direction, none, step)]
    }

    fn store_sums(&mut self, variables: Variables, sums: [Sum; 4]) {
        for (n, sum) in sums.into_iter().enumerate() {
            self.code.store(variables.sums[n], sum.fp32);
            if let Some(wide) = variables.wide_sums {
                let value = match sum.fp64 {
                    Some(value) => value,
                    None => self.code.d(0.0),
                };
                self.code.store(wide[n], value);
            }
            if let Some(flags) = variables.flags {
                for (variable, flag) in
                    flags[n].into_iter().zip([sum.nan, sum.infinity, sum.negative_infinity, sum.found])
                {
                    self.code.store(variable, flag);
                }
            }
            if let Some(best) = variables.best {
                self.code.store(best[n], sum.best);
            }
        }
    }

    fn load_sums(&mut self, variables: Variables) -> [Sum; 4] {
        std::array::from_fn(|n| {
            let mut sum = self.empty_sum();
            sum.fp32 = self.code.load(variables.sums[n]);
            sum.fp64 = variables.wide_sums.map(|wide| self.code.load(wide[n]));
            if let Some(flags) = variables.flags {
                [sum.nan, sum.infinity, sum.negative_infinity, sum.found] =
                    flags[n].map(|variable| self.code.load(variable));
            }
            if let Some(best) = variables.best {
                sum.best = self.code.load(best[n]);
            }
            sum
        })
    }
}
