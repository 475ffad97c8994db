//! A texel's channels: decoding, border colours, the view swizzle.

use super::{Emitter, Tap, Texels};
use crate::{
    emulated::{
        code::{F, U, Value},
        decode::{self, Format, FormatClass},
        section::Stage,
        specialization::Slot,
    },
    rules::{BorderSwizzle, CubeCorner, RuleId},
};

impl Emitter<'_> {
    pub(super) fn format(&self) -> Format {
        Format { layout: self.slot(Slot::Layout), numeric: self.slot(Slot::Numeric) }
    }

    pub(super) fn select_channel<T: Value>(&mut self, slot: Slot, zero: T, one: T, channels: [T; 4]) -> T {
        let which = self.slot(slot);
        let [x, y, z, w] = channels;
        self.code.choose(which, &[zero, one, x, y, z, w])
    }

    pub(super) fn border(&self) -> [U; 4] {
        [Slot::BorderX, Slot::BorderY, Slot::BorderZ, Slot::BorderW].map(|slot| self.slot(slot))
    }

    /// A tap's four channels: before DST_SEL, or after it when the border colour does not go through it.
    pub(super) fn channels(&mut self, tap: Tap) -> [F; 4] {
        let _section = self.code.section(Stage::Decode);
        let [x, y, z] = self.decode(tap.word);
        let one = self.code.f(1.0);
        let mut channels = [x, y, z, one];
        if let (Some((corner, others)), CubeCorner::Average) = (tap.corner, self.rules.cube_corner) {
            let _section = self.code.section(RuleId::CubeCorner);
            let others = others.map(|word| self.decode(word));
            let third = self.code.f(1.0 / 3.0);
            for (n, channel) in channels.iter_mut().enumerate().take(3) {
                let sum = self.code.f_add(*channel, others[0][n]);
                let sum = self.code.f_add(sum, others[1][n]);
                let average = self.code.f_mul(sum, third);
                *channel = self.code.select(corner, average, *channel);
            }
        }
        if self.rules.border_swizzle == BorderSwizzle::None {
            let _section = self.code.section(RuleId::BorderSwizzle);
            let zero = self.code.f(0.0);
            channels = Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels));
        }
        let border = self.border();
        std::array::from_fn(|n| {
            let border = self.code.u_float(border[n]);
            self.code.select(tap.border, border, channels[n])
        })
    }

    pub(super) fn decode(&mut self, word: U) -> [F; 3] {
        let format = self.format();
        match (self.class, self.texels) {
            (FormatClass::FloatOrFixed, Texels::Table(table)) => {
                let float = decode::float(self.code, format, word);
                let fixed = decode::fixed(self.code, format, word);
                let zero = self.code.u(0);
                let is_float = self.code.u_eq(table.fixed, zero);
                std::array::from_fn(|n| self.code.select(is_float, float[n], fixed[n]))
            }
            (FormatClass::Float | FormatClass::FloatOrFixed, _) => decode::float(self.code, format, word),
            (FormatClass::Fixed | FormatClass::Integer, _) => decode::fixed(self.code, format, word),
        }
    }

    pub(super) fn integer_channels(&mut self, tap: Tap) -> [U; 4] {
        let _section = self.code.section(Stage::Decode);
        let format = self.format();
        let mut channels = decode::integer(self.code, format, tap.word);
        if self.rules.border_swizzle == BorderSwizzle::None {
            let _section = self.code.section(RuleId::BorderSwizzle);
            let (zero, one) = (self.code.u(0), self.code.u(1));
            channels = Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels));
        }
        let border = self.border();
        std::array::from_fn(|n| self.code.select(tap.border, border[n], channels[n]))
    }
}
