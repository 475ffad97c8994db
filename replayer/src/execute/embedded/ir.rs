//! The internal program that a module is translated to: flat instructions on registers of [`LANES`] lanes, in basic blocks.
//!
//! Every scalar of the module is a register: one slot of 32 bits a lane, or two adjacent slots for 64 bits (low word first).
//! Bools are all ones or zero; integers of 8 and 16 bits are zero-extended; 16-bit floats are their bits, zero-extended.
//! Composites exist only while translating: they are lists of registers.

use super::report::Choice;

/// Invocations that one instruction is decoded for.
pub(super) const LANES: usize = 64;

/// One slot: a 32-bit word for each lane.
pub(super) type Lanes = [u32; LANES];

/// A register while translating, the index of its first slot after allocation.
pub(super) type Reg = u32;

/// No register.
pub(super) const NONE: Reg = u32::MAX;

/// Address that is out of bounds whatever it is added to.
pub(super) const POISON: u32 = u32::MAX;

/// The lanes that execute.
pub(super) struct Mask {
    /// Bit `l` is lane `l`.
    pub bits: u64,
    /// The same as all ones or zero for each lane.
    pub lanes: Lanes,
}

impl Mask {
    pub fn new(bits: u64) -> Self {
        let mut lanes = [0; LANES];
        for (l, lane) in lanes.iter_mut().enumerate() {
            *lane = 0u32.wrapping_sub((bits >> l) as u32 & 1);
        }
        Self { bits, lanes }
    }

    pub fn is_full(&self) -> bool {
        self.bits == u64::MAX
    }
}

/// What an instruction does. Unless said otherwise operands are `a`, `b`, `c`, `d` in the order of SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    // Slot by slot, on `w` slots.
    Mov,
    And,
    Or,
    Xor,
    Not,
    /// `a ? b : c`; `a` is one slot.
    Select,
    // 32-bit integers.
    Add,
    Sub,
    Mul,
    MulHiU,
    MulHiS,
    /// Divisions have the integer's width in `imm` for the overflow check.
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    /// Shifts have the width in `imm`: the amount is taken modulo it.
    Shl,
    Shr,
    Sar,
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
    UMin,
    UMax,
    SMin,
    SMax,
    /// `min(max(a, b), c)`.
    UClamp,
    SClamp,
    /// 1 when `a + b` carries.
    Carry,
    /// 1 when `a - b` borrows.
    Borrow,
    BitCount,
    BitReverse,
    FindLsb,
    FindUMsb,
    FindSMsb,
    BitInsert,
    BitExtractU,
    BitExtractS,
    /// Sign extension of the low `imm` bits.
    SExt,
    // 64-bit integers.
    Add64,
    Sub64,
    Mul64,
    MulHiU64,
    MulHiS64,
    UDiv64,
    SDiv64,
    UMod64,
    SRem64,
    SMod64,
    Shl64,
    Shr64,
    Sar64,
    Eq64,
    Ne64,
    Ult64,
    Ule64,
    Slt64,
    Sle64,
    Carry64,
    Borrow64,
    /// `a` low word, `b` high word.
    Make64,
    Lo64,
    Hi64,
    // 32-bit floats.
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FMod,
    FEq,
    /// Ordered and not equal.
    FNe,
    FLt,
    FLe,
    FMin,
    FMax,
    NMin,
    NMax,
    FClamp,
    NClamp,
    Fma,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    Round,
    FSign,
    IsNan,
    IsInf,
    Ldexp,
    FrexpMant,
    FrexpExp,
    /// Fraction of Modf, with the sign of the operand.
    ModfFract,
    /// A function of one operand, [`Math`] in `imm`.
    Math,
    Atan2,
    Pow,
    // 64-bit floats.
    FAdd64,
    FSub64,
    FMul64,
    FDiv64,
    FRem64,
    FMod64,
    FEq64,
    FNe64,
    FLt64,
    FLe64,
    FMin64,
    FMax64,
    NMin64,
    NMax64,
    Fma64,
    Sqrt64,
    Floor64,
    Ceil64,
    Trunc64,
    RoundEven64,
    Round64,
    FSign64,
    IsNan64,
    IsInf64,
    Ldexp64,
    FrexpMant64,
    FrexpExp64,
    ModfFract64,
    // Conversions. To integers, `imm` is the width converted to.
    FToU,
    FToS,
    UToF,
    SToF,
    F64ToU,
    F64ToS,
    UToF64,
    SToF64,
    FToU64,
    FToS64,
    U64ToF,
    S64ToF,
    F64ToU64,
    F64ToS64,
    U64ToF64,
    S64ToF64,
    FToF64,
    F64ToF,
    F16ToF,
    FToF16,
    F64ToF16,
    QuantizeF16,
    /// `imm` is 8 or 16, `k` 1 for signed: round(clamp(a) * max) as the packing functions do it, low bits.
    PackNorm,
    /// The inverse on the low `imm` bits.
    UnpackNorm,
    // Addresses.
    /// `a + b * c_imm` where `a` may be absent; [`POISON`] when `b >= imm` or the sum does not fit. `c` is a literal.
    Address,
    /// The same for a 64-bit index in `b`.
    Address64,
    /// Texel index of (`a`, `b`, `c`) at level `d` in image `imm`, or [`POISON`].
    TexelAddress,
    // Memory. `a` is a dynamic address or [`NONE`], `d` a literal added to it; `w` slots.
    /// Slot `imm` of variable `a`.
    ReadVar,
    /// Stores `a` to slot `imm` of variable `dst`.
    WriteVar,
    /// Slot `a + imm` of variable `b` that has `c` slots.
    GatherVar,
    /// Stores `b` to slot `a + imm` of variable `dst` that has `c` slots.
    ScatterVar,
    /// Makes `imm` slots of `dst` zero and not initialised.
    ClearVar,
    /// Buffer `imm`, `k` bytes.
    LoadBuffer,
    /// `b` is stored.
    StoreBuffer,
    /// [`Atomic`] in `k`; `b` value, `c` comparator.
    AtomicBuffer,
    LoadShared,
    StoreShared,
    AtomicShared,
    /// Word `k` of texel `a` of image `imm`.
    LoadTexel,
    /// `b` is stored.
    StoreTexel,
    AtomicTexel,
    /// Elements of a runtime array in buffer `imm` from byte `c` on, `d` bytes each.
    ArrayLength,
    /// Extent `k` of image `imm` at level `a`; `k` 3 is the layers, 4 the levels.
    ImageQuery,
    Fence,
    /// The instruction depends on the choice with index `imm`, in each lane.
    Note,
    /// The index `a` is out of bounds unless it is below `b`.
    NoteBeyond,
    /// Record `imm` of the trace.
    Trace,
}

/// Functions of one operand that are computed in 64 bits and rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Math {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Log,
    Exp2,
    Log2,
    InverseSqrt,
}

impl Math {
    pub const ALL: [Self; 17] = [
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Asinh,
        Self::Acosh,
        Self::Atanh,
        Self::Exp,
        Self::Log,
        Self::Exp2,
        Self::Log2,
        Self::InverseSqrt,
    ];
}

/// Read-modify-write operations; the old value is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Atomic {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Add,
    Sub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
}

impl Atomic {
    pub const ALL: [Self; 16] = [
        Self::Load,
        Self::Store,
        Self::Exchange,
        Self::CompareExchange,
        Self::Add,
        Self::Sub,
        Self::SMin,
        Self::UMin,
        Self::SMax,
        Self::UMax,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::FAdd,
        Self::FMin,
        Self::FMax,
    ];

    /// The value that memory holds afterwards.
    pub fn apply(self, old: u32, value: u32, comparator: u32) -> u32 {
        let float = |f: fn(f32, f32) -> f32| f(f32::from_bits(old), f32::from_bits(value)).to_bits();
        match self {
            Self::Load => old,
            Self::Store | Self::Exchange => value,
            Self::CompareExchange => {
                if old == comparator {
                    value
                } else {
                    old
                }
            }
            Self::Add => old.wrapping_add(value),
            Self::Sub => old.wrapping_sub(value),
            Self::SMin => (old as i32).min(value as i32) as u32,
            Self::UMin => old.min(value),
            Self::SMax => (old as i32).max(value as i32) as u32,
            Self::UMax => old.max(value),
            Self::And => old & value,
            Self::Or => old | value,
            Self::Xor => old ^ value,
            Self::FAdd => float(|a, b| a + b),
            Self::FMin => float(super::kernels::n_min),
            Self::FMax => float(super::kernels::n_max),
        }
    }
}

/// Which fields of an instruction are registers.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub dst: bool,
    pub a: bool,
    pub b: bool,
    pub c: bool,
    pub d: bool,
    /// Must stay although nothing reads its result.
    pub effect: bool,
}

impl Op {
    pub fn shape(self) -> Shape {
        let pure = |n: u32| Shape { dst: true, a: n > 0, b: n > 1, c: n > 2, d: n > 3, effect: false };
        let effect = |dst, n: u32| Shape { dst, effect: true, ..pure(n) };
        match self {
            Self::Mov
            | Self::Not
            | Self::BitCount
            | Self::BitReverse
            | Self::FindLsb
            | Self::FindUMsb
            | Self::FindSMsb
            | Self::SExt
            | Self::Lo64
            | Self::Hi64
            | Self::Sqrt
            | Self::Floor
            | Self::Ceil
            | Self::Trunc
            | Self::RoundEven
            | Self::Round
            | Self::FSign
            | Self::IsNan
            | Self::IsInf
            | Self::FrexpMant
            | Self::FrexpExp
            | Self::ModfFract
            | Self::Math
            | Self::Sqrt64
            | Self::Floor64
            | Self::Ceil64
            | Self::Trunc64
            | Self::RoundEven64
            | Self::Round64
            | Self::FSign64
            | Self::IsNan64
            | Self::IsInf64
            | Self::FrexpMant64
            | Self::FrexpExp64
            | Self::ModfFract64
            | Self::FToU
            | Self::FToS
            | Self::UToF
            | Self::SToF
            | Self::F64ToU
            | Self::F64ToS
            | Self::UToF64
            | Self::SToF64
            | Self::FToU64
            | Self::FToS64
            | Self::U64ToF
            | Self::S64ToF
            | Self::F64ToU64
            | Self::F64ToS64
            | Self::U64ToF64
            | Self::S64ToF64
            | Self::FToF64
            | Self::F64ToF
            | Self::F16ToF
            | Self::FToF16
            | Self::F64ToF16
            | Self::QuantizeF16
            | Self::PackNorm
            | Self::UnpackNorm
            | Self::ReadVar
            | Self::LoadBuffer
            | Self::LoadShared
            | Self::LoadTexel
            | Self::WriteVar
            | Self::ImageQuery => pure(1),
            Self::Select | Self::UClamp | Self::SClamp | Self::FClamp | Self::NClamp | Self::Fma | Self::Fma64 => {
                pure(3)
            }
            Self::BitExtractU | Self::BitExtractS => pure(3),
            Self::BitInsert | Self::TexelAddress => pure(4),
            Self::ArrayLength | Self::ClearVar => pure(0),
            Self::StoreBuffer | Self::StoreShared | Self::StoreTexel => effect(false, 2),
            Self::AtomicBuffer | Self::AtomicShared | Self::AtomicTexel => effect(true, 3),
            Self::Fence | Self::Note | Self::Trace => effect(false, 0),
            Self::NoteBeyond => effect(false, 2),
            // All others have two operands.
            _ => pure(2),
        }
    }

    /// Depends on nothing but its operands, so that it can be evaluated while translating.
    pub fn is_pure(self) -> bool {
        !matches!(
            self,
            Self::TexelAddress
                | Self::ReadVar
                | Self::WriteVar
                | Self::GatherVar
                | Self::ScatterVar
                | Self::ClearVar
                | Self::LoadBuffer
                | Self::StoreBuffer
                | Self::AtomicBuffer
                | Self::LoadShared
                | Self::StoreShared
                | Self::AtomicShared
                | Self::LoadTexel
                | Self::StoreTexel
                | Self::AtomicTexel
                | Self::ArrayLength
                | Self::ImageQuery
                | Self::Fence
                | Self::Note
                | Self::NoteBeyond
                | Self::Trace
        )
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst {
    pub op: Op,
    /// Slots of the result (or of the value stored): 1 or 2.
    pub w: u8,
    pub k: u8,
    /// Lanes that do not execute keep the old value of `dst`.
    pub masked: bool,
    pub dst: Reg,
    pub a: Reg,
    pub b: Reg,
    pub c: Reg,
    pub d: Reg,
    /// Element of the array of descriptors that `imm` is, or [`NONE`].
    pub e: Reg,
    pub imm: u32,
    /// Index of the module's instruction.
    pub src: u32,
}

impl Inst {
    /// The registers read.
    pub fn uses(&self) -> impl Iterator<Item = Reg> {
        let s = self.op.shape();
        [(s.a, self.a), (s.b, self.b), (s.c, self.c), (s.d, self.d)]
            .into_iter()
            .filter_map(|(is, r)| (is && r != NONE).then_some(r))
            .chain((self.e != NONE).then_some(self.e))
    }
}

/// Where control goes, and what is copied to phis on the way.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub target: u32,
    /// Parallel copies while translating.
    pub copies: Vec<(Reg, Reg)>,
    /// The same in order, after translation.
    pub insts: Vec<Inst>,
}

/// How a block ends; the edges are in [`Block::edges`].
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// Not set yet.
    Open,
    Jump,
    /// Edge 0 when the register is true, else edge 1.
    Branch(Reg),
    /// Edge `i + 1` for the value `i`, else edge 0.
    Switch(Reg, u8, Vec<u64>),
    /// Edge 0 once all invocations of the workgroup are here.
    Barrier(u32),
    Return,
}

/// A basic block. Blocks are in an order in which a construct's blocks come before its merge block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub insts: Vec<Inst>,
    pub term: Term,
    pub edges: Vec<Edge>,
}

/// How many descriptors a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// It is no array.
    One,
    Fixed(u32),
    /// As many as are bound.
    Runtime,
}

/// A descriptor, or an array of them, that the program uses.
#[derive(Clone, Debug)]
pub(super) struct Descriptor {
    pub set: u32,
    pub binding: u32,
    pub count: Count,
    /// Something stores to it.
    pub written: bool,
    pub name: String,
}

/// A buffer: a descriptor or the push constants.
#[derive(Clone, Debug)]
pub(super) enum BufferDecl {
    Push,
    Bound(Descriptor),
}

/// Form of a texel that a storage image declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageDecl {
    /// 1, 2 or 3.
    pub dim: u8,
    pub arrayed: bool,
    /// Faces count as layers.
    pub cube: bool,
    pub storage: bool,
    /// Words a texel.
    pub words: u8,
}

/// A value that the executor supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Builtin {
    NumWorkgroups,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
}

/// A translated module.
pub(super) struct Program {
    pub blocks: Vec<Block>,
    /// Slots of the register file.
    pub slots: u32,
    /// Slot and value.
    pub constants: Vec<(u32, u32)>,
    /// Variables: first slot and count.
    pub variables: Vec<(u32, u32)>,
    /// First slot of a built-in.
    pub builtins: Vec<(Builtin, u32)>,
    pub buffers: Vec<BufferDecl>,
    pub images: Vec<(Descriptor, ImageDecl)>,
    /// Words of workgroup memory.
    pub shared_words: u32,
    pub local_size: [u32; 3],
    /// Invocations of a workgroup depend on each other.
    pub lockstep: bool,
    /// Choices that constants depend on.
    pub notes: Vec<(Choice, u32)>,
    /// Name and offset of each of the module's instructions that reports may name.
    pub trace: Vec<super::trace::Record>,
    /// The module.
    pub source: std::sync::Arc<super::source::Source>,
}
