//! What a run depended on that Vulkan and SPIR-V leave open.

use std::collections::BTreeMap;

/// A choice that Vulkan leaves to the implementation, or a result that it calls undefined. The text says what this executor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// A shift by the width or more: the amount is taken modulo the width.
    ShiftTooWide,
    /// Integer division or remainder by zero: all bits of the result are set.
    DivisionByZero,
    /// The least signed integer divided by -1: the quotient wraps, the remainder is 0.
    DivisionOverflow,
    /// OpSRem or OpSMod of a negative operand, which SPIR-V defines and Vulkan does not: as SPIR-V says, with the sign of the
    /// first and of the second operand.
    NegativeRemainder,
    /// A bit field that reaches beyond the width: bits beyond it are dropped, and those read are 0.
    BitFieldTooWide,
    /// A NaN converted to an integer: 0.
    NanToInteger,
    /// A float out of the integer's range: the nearest integer that there is.
    FloatOutOfRange,
    /// FMin, FMax or FClamp of a NaN: the other operand.
    NanInMinMax,
    /// FMin or FMax of zeros with different signs: -0 is less than +0.
    ZerosInMinMax,
    /// A clamp whose lower limit is above the upper one: the upper one.
    ClampLimits,
    /// Round of a value halfway between two integers: the even one.
    RoundHalf,
    /// An Fma whose single rounding differs from that of a product and a sum: it is rounded once.
    FusedRounding,
    /// An operand outside the function's domain (the root or logarithm of a negative number): what C's function returns.
    OutOfDomain,
    /// A buffer access out of bounds: reads give 0, writes are dropped.
    BufferOutOfBounds,
    /// A buffer access at an address that is not a multiple of its size: the address is rounded down.
    Misaligned,
    /// An index beyond a vector's or an array's end: reads give 0, writes are dropped.
    IndexOutOfBounds,
    /// A texel, layer or level that the image lacks: reads give 0, writes are dropped, its size is 0.
    ImageOutOfBounds,
    /// A variable read before it was written: 0.
    Uninitialized,
    /// OpUndef as an operand: 0.
    Undefined,
    /// A barrier that not all invocations of the workgroup reach together: those that wait go on once all others wait or ended.
    DivergentBarrier,
    /// OpUnreachable was reached: the invocation ends.
    Unreachable,
}

impl Choice {
    pub(super) const ALL: [Self; 21] = [
        Self::ShiftTooWide,
        Self::DivisionByZero,
        Self::DivisionOverflow,
        Self::NegativeRemainder,
        Self::BitFieldTooWide,
        Self::NanToInteger,
        Self::FloatOutOfRange,
        Self::NanInMinMax,
        Self::ZerosInMinMax,
        Self::ClampLimits,
        Self::RoundHalf,
        Self::FusedRounding,
        Self::OutOfDomain,
        Self::BufferOutOfBounds,
        Self::Misaligned,
        Self::IndexOutOfBounds,
        Self::ImageOutOfBounds,
        Self::Uninitialized,
        Self::Undefined,
        Self::DivergentBarrier,
        Self::Unreachable,
    ];

    /// What happened and what this executor made of it, in a sentence's part.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::ShiftTooWide => "shift by the width or more (taken modulo the width)",
            Self::DivisionByZero => "integer division by zero (all bits set)",
            Self::DivisionOverflow => "least integer divided by -1 (wraps)",
            Self::NegativeRemainder => "signed remainder of a negative operand (as SPIR-V defines it)",
            Self::BitFieldTooWide => "bit field beyond the width (cut off)",
            Self::NanToInteger => "NaN converted to an integer (0)",
            Self::FloatOutOfRange => "float out of the integer's range (nearest integer)",
            Self::NanInMinMax => "minimum or maximum with a NaN (the other operand)",
            Self::ZerosInMinMax => "minimum or maximum of +0 and -0 (-0 is less)",
            Self::ClampLimits => "clamp with limits the wrong way round (the upper one)",
            Self::RoundHalf => "Round of a tie (to even)",
            Self::FusedRounding => "Fma where one rounding differs from two (rounded once)",
            Self::OutOfDomain => "operand outside the function's domain",
            Self::BufferOutOfBounds => "buffer access out of bounds (0, or dropped)",
            Self::Misaligned => "misaligned buffer access (rounded down)",
            Self::IndexOutOfBounds => "index out of bounds (0, or dropped)",
            Self::ImageOutOfBounds => "image access out of bounds (0, or dropped)",
            Self::Uninitialized => "variable read before it was written (0)",
            Self::Undefined => "OpUndef used as an operand (0)",
            Self::DivergentBarrier => "barrier that not all invocations reach together",
            Self::Unreachable => "OpUnreachable reached (the invocation ends)",
        }
    }
}

/// One instruction that depended on a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Key of the module ([`Module::key`](crate::execute::Module)).
    pub module: u64,
    /// The choice.
    pub choice: Choice,
    /// Name of the opcode, such as `OpConvertFToS`; extended instructions as `OpExtInst FMin`.
    pub opcode: String,
    /// Offset of the instruction in words from the start of the module.
    pub word: u32,
    /// Result id of the instruction, if it has one.
    pub result: Option<u32>,
    /// How often an invocation executed it so.
    pub count: u64,
    /// `GlobalInvocationId` of the first such invocation, in the order of workgroups, then local indices.
    pub first: [u32; 3],
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.first;
        write!(f, "{} at word {}", self.opcode, self.word)?;
        if let Some(id) = self.result {
            write!(f, " (%{id})")?;
        }
        write!(f, ": {}, {} times, first in invocation ({x}, {y}, {z})", self.choice.text(), self.count)
    }
}

/// All that the runs since the last [`Embedded::take_report`](super::Embedded::take_report) depended on, by module, word offset and choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings; empty when the module relied on nothing that Vulkan leaves open.
    pub findings: Vec<Finding>,
}

impl Report {
    pub(super) fn merge(&mut self, more: Vec<Finding>) {
        for f in more {
            match self.findings.iter_mut().find(|o| o.module == f.module && o.word == f.word && o.choice == f.choice) {
                Some(o) => o.count = o.count.saturating_add(f.count),
                None => self.findings.push(f),
            }
        }
        self.findings.sort_by_key(|f| (f.module, f.word, f.choice));
    }
}

/// Counts while running: by instruction and choice, how often and the first invocation's linear index.
#[derive(Default)]
pub(super) struct Notes {
    map: BTreeMap<(u32, Choice), (u64, u64)>,
}

impl Notes {
    pub fn add(&mut self, src: u32, choice: Choice, count: u64, first: u64) {
        let e = self.map.entry((src, choice)).or_insert((0, first));
        e.0 = e.0.saturating_add(count);
        e.1 = e.1.min(first);
    }

    pub fn merge(&mut self, other: Self) {
        for ((src, choice), (count, first)) in other.map {
            self.add(src, choice, count, first);
        }
    }

    pub fn into_iter(self) -> impl Iterator<Item = (u32, Choice, u64, u64)> {
        self.map.into_iter().map(|((src, choice), (count, first))| (src, choice, count, first))
    }
}
