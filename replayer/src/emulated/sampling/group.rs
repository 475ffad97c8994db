//! What the samples that take one way ask for: see [`crate::rules::SampleGroup`].

use rspirv::spirv::Word;

use super::{Emitter, Inputs};
use crate::{
    emulated::{
        code::{B, Code, I, U},
        specialization::Slot,
    },
    rules::{CubeCorner, RuleId, Rules, SampleGroup},
    state::View,
};

/// What some of a sample's group ask for.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// Filter linearly, where filters differ by LOD.
    linear: B,
    /// Blend two levels.
    levels: B,
    /// By level: add up products of texels and weights; `None` without the rule for it.
    pub(super) products: Option<[B; 2]>,
    /// Whether this sample's own filter is point, although the group's is linear.
    snaps: B,
}

/// Variables of the entry point for a loop over the samples of a group.
#[derive(Clone, Copy)]
pub struct GroupVariables {
    counter: Word,
    /// Whether one filters linearly, is minified, blends levels: bits 0 to 2.
    asks: Word,
    /// Whether one has a cube's corner in the first, in the second level: bits 0 and 1.
    corners: Word,
}

impl GroupVariables {
    /// Whether a module needs them.
    #[must_use]
    pub fn needed(rules: &Rules, view: View) -> bool {
        rules.sample_group != SampleGroup::One || rules.cube_corner == CubeCorner::Thirds && view == View::Cube
    }

    /// Declares them; only at the start of a function.
    pub fn declare(code: &mut Code) -> Self {
        Self { counter: code.local::<U>("member"), asks: code.local::<U>("asks"), corners: code.local::<U>("corners") }
    }
}

/// How the rows of other samples are read.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// Number of samples.
    pub samples: U,
    /// This sample.
    pub index: U,
    /// Reads the operands of a sample.
    pub read: &'a dyn Fn(&mut Code, U) -> Inputs,
}

impl Emitter<'_> {
    /// What the samples of this sample's group ask for; `None` where each takes its own way.
    pub(super) fn group(&mut self, explicit: bool) -> Option<Group> {
        let variables = self.group_variables?;
        let _section = self.code.section(RuleId::SampleGroup);
        let size = self.rules.sample_group.size() as u32;
        let (mag, min) = (self.slot(Slot::Mag), self.slot(Slot::Min));
        let mip_linear = self.slot_is(Slot::Mip, 2);
        let code = &mut *self.code;
        let (none, count) = (code.u(0), code.u(size));
        let rest = code.u_mod(self.rows.index, count);
        let first = code.u_sub(self.rows.index, rest);
        let unequal = code.u_ne(mag, min);
        let several = code.b(size > 1);
        let unequal = code.b_and(unequal, several);
        let blends = code.b_and(mip_linear, several);
        code.store(variables.asks, none);
        code.store(variables.corners, none);

        let open = code.begin_loop(variables.counter, count);
        let member = code.u_add(first, open.index);
        let inputs = self.member(member, true);
        let levels = self.levels(&inputs, explicit);
        let code = &mut *self.code;
        let filter = code.select(levels.minify, min, mag);
        let zero = code.f(0.0);
        let fraction = code.f_gt(levels.weight, zero);
        let (one, two, four) = (code.u(1), code.u(2), code.u(4));
        let before: U = code.load(variables.asks);
        let mut asks = code.u_or(before, filter);
        for (asked, bit) in [(levels.minify, two), (fraction, four)] {
            let bit = code.select(asked, bit, none);
            asks = code.u_or(asks, bit);
        }
        code.store(variables.asks, asks);
        code.end_loop(open);

        let asks: U = code.load(variables.asks);
        let [linear, minify, fraction] = [one, two, four].map(|bit| {
            let bit = code.u_and(asks, bit);
            code.u_ne(bit, none)
        });
        let linear = code.b_and(unequal, linear);
        let levels = code.select(linear, minify, fraction);
        let levels = code.b_and(blends, levels);
        let snaps = code.b(false);
        let mut group = Group { linear, levels, products: None, snaps };
        if self.rules.cube_corner == CubeCorner::Thirds && self.view == View::Cube {
            group.products = Some(self.corners_of_group(variables, first, count, group, explicit));
        }
        Some(group)
    }

    /// Operands of a member of the group; beyond the last sample they are 0.
    fn member(&mut self, member: U, zeros: bool) -> Inputs {
        let code = &mut *self.code;
        let exists = code.u_lt(member, self.rows.samples);
        let row = code.select(exists, member, self.rows.index);
        let mut inputs = (self.rows.read)(code, row);
        if zeros {
            let none = code.u(0);
            let mut or_zero = |word: &mut U| *word = code.select(exists, *word, none);
            inputs.lod.iter_mut().for_each(&mut or_zero);
            inputs.bias.iter_mut().for_each(&mut or_zero);
            inputs.clamp.iter_mut().for_each(&mut or_zero);
            inputs.derivatives.iter_mut().flatten().flatten().for_each(&mut or_zero);
        }
        if let Some(derivatives) = &inputs.derivatives {
            let computed = self.computed(derivatives);
            inputs.lod = Some(self.code.f_bits(computed.lod));
        }
        inputs
    }

    /// In which levels a member of the group has a tap beyond a cube's corner.
    fn corners_of_group(
        &mut self,
        variables: GroupVariables,
        first: U,
        count: U,
        group: Group,
        explicit: bool,
    ) -> [B; 2] {
        let _section = self.code.section(RuleId::CubeCorner);
        let (mag, min) = (self.slot_is(Slot::Mag, 1), self.slot_is(Slot::Min, 1));
        let seamless = self.slot_is(Slot::CubeWrap, 1);
        let open = self.code.begin_loop(variables.counter, count);
        let member = self.code.u_add(first, open.index);
        let exists = self.code.u_lt(member, self.rows.samples);
        let inputs = self.member(member, false);
        let levels = self.levels(&inputs, explicit);
        let code = &mut *self.code;
        let linear = code.select(levels.minify, min, mag);
        let linear = code.b_or(linear, group.linear);
        let two = code.b_or(levels.two, group.levels);
        let counts = code.b_and(exists, linear);
        let counts = code.b_and(counts, seamless);
        let mut found: U = code.load(variables.corners);
        for (level, read, bit) in [(levels.level, None, 1), (levels.next, Some(two), 2)] {
            let size = self.level(level).size[0];
            let [s, t] = [0, 1].map(|axis| {
                let taps = self.axis(axis, inputs.coordinates[axis], [None; 2], size, linear);
                self.leaves_face(taps.raw, size)
            });
            let code = &mut *self.code;
            let mut corner = code.b_and(s, t);
            corner = code.b_and(corner, counts);
            if let Some(read) = read {
                corner = code.b_and(corner, read);
            }
            let (bit, none) = (code.u(bit), code.u(0));
            let bit = code.select(corner, bit, none);
            found = code.u_or(found, bit);
        }
        let code = &mut *self.code;
        code.store(variables.corners, found);
        code.end_loop(open);
        let found: U = code.load(variables.corners);
        let none = code.u(0);
        [1, 2].map(|bit| {
            let bit = code.u(bit);
            let bit = code.u_and(found, bit);
            code.u_ne(bit, none)
        })
    }

    /// Whether one of two taps from an index on lies beyond the face.
    fn leaves_face(&mut self, index: I, size: I) -> B {
        let code = &mut *self.code;
        let (zero, one) = (code.i(0), code.i(1));
        let next = code.i_add(index, one);
        let below = code.i_lt(index, zero);
        let beyond = code.i_ge(next, size);
        code.b_or(below, beyond)
    }

    /// The filter in force, and whether two levels are read, once the group's wishes are heard.
    pub(super) fn with_group(&mut self, linear: B, two: B) -> (B, B) {
        let Some(mut group) = self.group else { return (linear, two) };
        let code = &mut *self.code;
        let own_point = code.b_not(linear);
        group.snaps = code.b_and(own_point, group.linear);
        let result = (code.b_or(linear, group.linear), code.b_or(two, group.levels));
        self.group = Some(group);
        result
    }

    /// A position whose nearest texel gets all of the weight, where the sample's own filter is point.
    pub(super) fn snapped(&mut self, axis: usize, mut taps: super::AxisTaps) -> super::AxisTaps {
        let Some(group) = self.group else { return taps };
        let own_slices = if axis == 2 && self.rules.z_filter == crate::rules::ZFilterRule::Own {
            let slices = self.slot(Slot::Slices);
            let none = self.code.u(0);
            self.code.u_ne(slices, none)
        } else {
            self.code.b(false)
        };
        let code = &mut *self.code;
        let follows = code.b_not(own_slices);
        let snaps = code.b_and(group.snaps, follows);
        let (half, zero, one) = (code.f(0.5), code.f(0.0), code.f(1.0));
        let near = code.f_ge(half, taps.weight);
        let whole = code.select(near, zero, one);
        taps.weight = code.select(snaps, whole, taps.weight);
        taps.nan = taps.nan.map(|nan| {
            let stays = code.b_not(snaps);
            code.b_and(nan, stays)
        });
        taps
    }
}
