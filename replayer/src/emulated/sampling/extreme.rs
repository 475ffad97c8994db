//! Minimum and maximum over a footprint.

use super::{Emitter, LevelTaps, Sum, each_tap, weight::Numerators};
use crate::{
    emulated::{
        code::{B, F},
        specialization::Slot,
    },
    rules::{MinMaxTaps, RuleId},
};

impl Emitter<'_> {
    /// See [`crate::reference::blend::reduce`].
    pub(super) fn reduce(
        &mut self,
        previous: Option<Sum>,
        level: &LevelTaps,
        values: &[Vec<Vec<F>>],
        numerators: Option<&Numerators>,
    ) -> (F, B) {
        let _section = self.code.section(RuleId::MinMaxTaps);
        let minimum = self.slot_is(Slot::Reduction, 1);
        let all = self.rules.minmax_taps == MinMaxTaps::All;
        let mut weightless: Vec<[B; 2]> = level.axes.iter().map(|axis| self.weightless(axis)).collect();
        let by_numerator = numerators.filter(|_| !all).map(|numerators| self.no_numerator(numerators));
        let code = &mut *self.code;
        let (mut best, mut found) = match previous {
            Some(sum) => (sum.best, sum.found),
            None => (code.f(f32::NAN), code.b(false)),
        };
        for (axis, weightless) in level.axes.iter().zip(&mut weightless) {
            // A point axis has no second texel.
            let point = code.b_not(axis.linear);
            let by_axis = !all && by_numerator.is_none();
            weightless[1] = if by_axis { code.b_or(weightless[1], point) } else { point };
            if !by_axis {
                weightless[0] = code.b(false);
            }
        }
        let (mask, infinity) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
        each_tap(values, |at, &value| {
            let dead = weightless
                .iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| code.b_or(a, b));
            let bits = code.f_bits(value);
            let magnitude = code.u_and(bits, mask);
            let nan = code.u_gt(magnitude, infinity);
            let mut skip = match dead {
                Some(dead) => code.b_or(dead, nan),
                None => nan,
            };
            if let Some(dead) = by_numerator.as_ref().map(|dead| dead[at[0]][at[1]][at[2]]) {
                skip = code.b_or(skip, dead);
            }
            let take = code.b_not(skip);
            let (less, greater) = (code.f_lt(value, best), code.f_gt(value, best));
            let better = code.select(minimum, less, greater);
            let first = code.b_not(found);
            let better = code.b_or(first, better);
            let better = code.b_and(better, take);
            best = code.select(better, value, best);
            found = code.b_or(found, take);
        });
        (best, found)
    }
}
