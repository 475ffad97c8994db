//! One operation a module: each invocation takes a row of operands and stores the result.

use rspirv::spirv::{BuiltIn, GlslStd450Op as G, Op};

use super::shader::{BOOL, F16, F32, F64, I8, I16, I32, I64, Kind, Shader, U8, U16, U32, U64};
use super::{Bound, Case, Exactness};

/// Operands and result of a row, as bits.
pub type Row = (Vec<u64>, u64);

fn f(x: f32) -> u64 {
    x.to_bits().into()
}

fn d(x: f64) -> u64 {
    x.to_bits()
}

/// Bits of a signed integer of `bits`.
fn n(x: i64, bits: u32) -> u64 {
    x as u64 & (u64::MAX >> (64 - bits))
}

fn i(x: i64) -> u64 {
    n(x, 32)
}

const TRUE: u64 = 1;
const FALSE: u64 = 0;

fn read(s: &mut Shader, kind: Kind, low: u32, high: u32) -> u32 {
    match kind {
        BOOL => {
            let zero = s.u(0);
            s.kind_op(Op::INotEqual, BOOL, &[low, zero])
        }
        U32 => low,
        I32 | F32 => s.kind_op(Op::Bitcast, kind, &[low]),
        U8 | U16 => s.kind_op(Op::UConvert, kind, &[low]),
        I8 | I16 => s.kind_op(Op::SConvert, kind, &[low]),
        F16 => {
            let h = s.kind_op(Op::UConvert, U16, &[low]);
            s.kind_op(Op::Bitcast, F16, &[h])
        }
        _ => {
            let pair = s.kind_op(Op::CompositeConstruct, U32.by(2), &[low, high]);
            s.kind_op(Op::Bitcast, kind, &[pair])
        }
    }
}

fn write(s: &mut Shader, kind: Kind, value: u32) -> (u32, u32) {
    let zero = s.u(0);
    let low = match kind {
        BOOL => {
            let one = s.u(1);
            s.kind_op(Op::Select, U32, &[value, one, zero])
        }
        U32 => value,
        I32 | F32 => s.kind_op(Op::Bitcast, U32, &[value]),
        U8 | U16 | I8 | I16 => s.kind_op(Op::UConvert, U32, &[value]),
        F16 => {
            let h = s.kind_op(Op::Bitcast, U16, &[value]);
            s.kind_op(Op::UConvert, U32, &[h])
        }
        _ => {
            let pair = s.kind_op(Op::Bitcast, U32.by(2), &[value]);
            let low = s.kind_op(Op::CompositeExtract, U32, &[pair, 0]);
            let high = s.kind_op(Op::CompositeExtract, U32, &[pair, 1]);
            return (low, high);
        }
    };
    (low, zero)
}

/// A case of any operation from operands to a result.
pub fn custom(
    name: &str,
    operands: &[Kind],
    result: Kind,
    rows: &[Row],
    emit: impl FnOnce(&mut Shader, &[u32]) -> u32,
) -> Case {
    let mut s = Shader::new([1, 1, 1]);
    let (input, output) = (s.buffer(0), s.buffer(1));
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let x = s.global_x(gid);
    let step = s.u(2 * operands.len() as u32);
    let base = s.kind_op(Op::IMul, U32, &[x, step]);
    let mut args = vec![];
    for (k, kind) in operands.iter().enumerate() {
        let at = s.u(2 * k as u32);
        let at = s.kind_op(Op::IAdd, U32, &[base, at]);
        let low = s.load_word(input, at);
        let one = s.u(1);
        let next = s.kind_op(Op::IAdd, U32, &[at, one]);
        let high = s.load_word(input, next);
        args.push(read(&mut s, *kind, low, high));
    }
    let value = emit(&mut s, &args);
    let (low, high) = write(&mut s, result, value);
    let (one, two) = (s.u(1), s.u(2));
    let at = s.kind_op(Op::IMul, U32, &[x, two]);
    s.store_word(output, at, low);
    let next = s.kind_op(Op::IAdd, U32, &[at, one]);
    s.store_word(output, next, high);
    s.effect(Op::Return, &[]);
    let words = |v: u64| [v as u32, (v >> 32) as u32];
    let inputs = rows.iter().flat_map(|r| {
        assert_eq!(r.0.len(), operands.len(), "{name}");
        r.0.iter().copied().flat_map(words)
    });
    let expected = rows.iter().flat_map(|r| words(r.1)).collect();
    let bindings = vec![Bound::Input(inputs.collect()), Bound::Output(2 * rows.len())];
    Case::new(name, s, bindings, expected).groups([rows.len() as u32, 1, 1])
}

/// A core operation.
fn op(name: &str, o: Op, operands: &[Kind], result: Kind, rows: &[Row]) -> Case {
    custom(name, operands, result, rows, |s, args| s.kind_op(o, result, args))
}

/// An extended operation.
fn ext(name: &str, g: G, operands: &[Kind], result: Kind, rows: &[Row]) -> Case {
    custom(name, operands, result, rows, |s, args| {
        let ty = s.ty(result);
        s.ext(g, ty, args)
    })
}

/// An extended operation on vectors that are built of the operands.
fn vectors(
    name: &str,
    operands: usize,
    size: u32,
    result: Kind,
    rows: &[Row],
    emit: impl FnOnce(&mut Shader, &[u32]) -> u32,
) -> Case {
    let kinds = vec![F32; operands * size as usize];
    custom(name, &kinds, result, rows, |s, args| {
        let list: Vec<u32> =
            args.chunks(size as usize).map(|c| s.kind_op(Op::CompositeConstruct, F32.by(size), c)).collect();
        emit(s, &list)
    })
}

fn r(args: &[u64], result: u64) -> Row {
    (args.to_vec(), result)
}

fn fr(args: &[f32], result: f32) -> Row {
    (args.iter().map(|&x| f(x)).collect(), f(result))
}

fn fb(args: &[f32], result: bool) -> Row {
    (args.iter().map(|&x| f(x)).collect(), result.into())
}

fn integers(list: &mut Vec<Case>) {
    let ui = [U32, U32];
    let ii = [I32, I32];
    list.extend([
        op("IAdd.u32", Op::IAdd, &ui, U32, &[r(&[u32::MAX.into(), 2], 1), r(&[3, 4], 7)]),
        op("IAdd.mixed", Op::IAdd, &[I32, U32], I32, &[r(&[i(-3), 1], i(-2))]),
        op("ISub.u32", Op::ISub, &ui, U32, &[r(&[1, 2], i(-1)), r(&[9, 4], 5)]),
        op("IMul.u32", Op::IMul, &ui, U32, &[r(&[0x1_0001, 0x1_0001], 0x2_0001), r(&[7, 6], 42)]),
        op("UDiv.u32", Op::UDiv, &ui, U32, &[r(&[7, 2], 3), r(&[u32::MAX.into(), 1], u32::MAX.into())]),
        op("SDiv.i32", Op::SDiv, &ii, I32, &[r(&[i(-7), 2], i(-3)), r(&[7, i(-2)], i(-3)), r(&[i(-7), i(-2)], 3)]),
        op("UMod.u32", Op::UMod, &ui, U32, &[r(&[7, 3], 1), r(&[u32::MAX.into(), 16], 15)]),
        op("SRem.i32", Op::SRem, &ii, I32, &[r(&[7, 3], 1)]),
        op("SMod.i32", Op::SMod, &ii, I32, &[r(&[7, 3], 1), r(&[6, 3], 0)]),
        op("SRem.i32.negative", Op::SRem, &ii, I32, &[r(&[i(-7), 3], i(-1)), r(&[7, i(-3)], 1)]).choice(),
        op("SMod.i32.negative", Op::SMod, &ii, I32, &[r(&[i(-7), 3], 2), r(&[7, i(-3)], i(-2)), r(&[i(-6), 3], 0)])
            .choice(),
        op("SNegate.i32", Op::SNegate, &[I32], I32, &[r(&[5], i(-5)), r(&[i(i32::MIN.into())], i(i32::MIN.into()))]),
        op("Not.u32", Op::Not, &[U32], U32, &[r(&[0xff], 0xffff_ff00)]),
        op("BitwiseAnd.u32", Op::BitwiseAnd, &ui, U32, &[r(&[0b1100, 0b1010], 0b1000)]),
        op("BitwiseOr.u32", Op::BitwiseOr, &ui, U32, &[r(&[0b1100, 0b1010], 0b1110)]),
        op("BitwiseXor.u32", Op::BitwiseXor, &ui, U32, &[r(&[0b1100, 0b1010], 0b0110)]),
        op("ShiftLeftLogical.u32", Op::ShiftLeftLogical, &ui, U32, &[r(&[3, 31], 1 << 31), r(&[1, 0], 1)]),
        op("ShiftRightLogical.u32", Op::ShiftRightLogical, &ui, U32, &[r(&[1 << 31, 31], 1)]),
        op(
            "ShiftRightArithmetic.i32",
            Op::ShiftRightArithmetic,
            &[I32, U32],
            I32,
            &[r(&[i(-8), 1], i(-4)), r(&[8, 3], 1)],
        ),
        op(
            "ShiftLeftLogical.u64",
            Op::ShiftLeftLogical,
            &[U64, U32],
            U64,
            &[r(&[3, 63], 1 << 63), r(&[1, 32], 1 << 32)],
        ),
        op(
            "ShiftRightLogical.u64",
            Op::ShiftRightLogical,
            &[U64, U64],
            U64,
            &[r(&[1 << 63, 63], 1), r(&[1 << 40, 8], 1 << 32)],
        ),
        op(
            "ShiftRightArithmetic.i64",
            Op::ShiftRightArithmetic,
            &[I64, U32],
            I64,
            &[r(&[-256i64 as u64, 4], -16i64 as u64)],
        ),
        op("ShiftRightLogical.by64", Op::ShiftRightLogical, &[U32, U64], U32, &[r(&[0x100, 4], 0x10)]),
        op(
            "ShiftRightArithmetic.i8",
            Op::ShiftRightArithmetic,
            &[I8, U32],
            I8,
            &[r(&[0x80, 7], 0xff), r(&[0x40, 6], 1)],
        ),
        op("ShiftLeftLogical.u16", Op::ShiftLeftLogical, &[U16, U16], U16, &[r(&[0x8001, 1], 2)]),
        op("BitCount.u32", Op::BitCount, &[U32], U32, &[r(&[0], 0), r(&[u32::MAX.into()], 32), r(&[0x8001], 2)]),
        op("BitReverse.u32", Op::BitReverse, &[U32], U32, &[r(&[1], 1 << 31), r(&[0xf0], 0x0f00_0000)]),
        op(
            "BitFieldInsert.u32",
            Op::BitFieldInsert,
            &[U32, U32, U32, U32],
            U32,
            &[
                r(&[0xffff_ffff, 0, 8, 8], 0xffff_00ff),
                r(&[0, 0x1ff, 4, 8], 0xff0),
                r(&[5, 9, 0, 32], 9),
                r(&[5, 9, 3, 0], 5),
            ],
        ),
        op(
            "BitFieldUExtract.u32",
            Op::BitFieldUExtract,
            &[U32, U32, U32],
            U32,
            &[r(&[0xabcd_1234, 8, 8], 0x12), r(&[0xabcd_1234, 0, 32], 0xabcd_1234), r(&[0xabcd_1234, 4, 0], 0)],
        ),
        op(
            "BitFieldSExtract.i32",
            Op::BitFieldSExtract,
            &[I32, U32, U32],
            I32,
            &[r(&[0xf80, 4, 8], i(-8)), r(&[0x7f0, 4, 8], 0x7f), r(&[0x1, 0, 0], 0)],
        ),
        op("IAdd.u64", Op::IAdd, &[U64, U64], U64, &[r(&[0xffff_ffff, 1], 1 << 32), r(&[u64::MAX, 2], 1)]),
        op("ISub.u64", Op::ISub, &[U64, U64], U64, &[r(&[1 << 32, 1], 0xffff_ffff)]),
        op("IMul.u64", Op::IMul, &[U64, U64], U64, &[r(&[0x1_0000_0001, 0x1_0000_0001], 0x2_0000_0001)]),
        op("UDiv.u64", Op::UDiv, &[U64, U64], U64, &[r(&[u64::MAX, 10], u64::MAX / 10)]),
        op("SDiv.i64", Op::SDiv, &[I64, I64], I64, &[r(&[-7i64 as u64, 2], -3i64 as u64)]),
        op("UMod.u64", Op::UMod, &[U64, U64], U64, &[r(&[u64::MAX, 10], 5)]),
        op("SRem.i64", Op::SRem, &[I64, I64], I64, &[r(&[17, 5], 2)]),
        op("SMod.i64", Op::SMod, &[I64, I64], I64, &[r(&[17, 5], 2)]),
        op("SNegate.i64", Op::SNegate, &[I64], I64, &[r(&[1], u64::MAX)]),
        op("Not.u64", Op::Not, &[U64], U64, &[r(&[0xff], !0xff)]),
        op("BitwiseXor.u64", Op::BitwiseXor, &[U64, U64], U64, &[r(&[u64::MAX, 1 << 40], !(1 << 40))]),
        op("BitwiseAnd.u64", Op::BitwiseAnd, &[U64, U64], U64, &[r(&[!0, 5 << 33], 5 << 33)]),
        op("IAdd.u8", Op::IAdd, &[U8, U8], U8, &[r(&[255, 3], 2)]),
        op("ISub.i8", Op::ISub, &[I8, I8], I8, &[r(&[n(-128, 8), 1], 127)]),
        op("IMul.u16", Op::IMul, &[U16, U16], U16, &[r(&[0x101, 0x101], 0x0201)]),
        op("SDiv.i8", Op::SDiv, &[I8, I8], I8, &[r(&[n(-7, 8), 2], n(-3, 8)), r(&[n(-100, 8), n(-10, 8)], 10)]),
        op("SDiv.i16", Op::SDiv, &[I16, I16], I16, &[r(&[n(-700, 16), 7], n(-100, 16))]),
        op("UDiv.u8", Op::UDiv, &[U8, U8], U8, &[r(&[200, 3], 66)]),
        op("UMod.u16", Op::UMod, &[U16, U16], U16, &[r(&[60_000, 7], 60_000 % 7)]),
        op("Not.u8", Op::Not, &[U8], U8, &[r(&[0x0f], 0xf0)]),
        op("SNegate.i16", Op::SNegate, &[I16], I16, &[r(&[1], 0xffff)]),
        op("SLessThan.i8", Op::SLessThan, &[I8, I8], BOOL, &[r(&[n(-1, 8), 1], TRUE), r(&[1, n(-1, 8)], FALSE)]),
        op("ULessThan.u8", Op::ULessThan, &[U8, U8], BOOL, &[r(&[255, 1], FALSE), r(&[1, 255], TRUE)]),
        op("SLessThan.i64", Op::SLessThan, &[I64, I64], BOOL, &[r(&[u64::MAX, 0], TRUE), r(&[0, u64::MAX], FALSE)]),
        op("ULessThan.u64", Op::ULessThan, &[U64, U64], BOOL, &[r(&[1 << 32, 1], FALSE), r(&[1, 1 << 32], TRUE)]),
        op("IEqual.u64", Op::IEqual, &[U64, U64], BOOL, &[r(&[1 << 32, 0], FALSE), r(&[1 << 32, 1 << 32], TRUE)]),
        op("IEqual.u32", Op::IEqual, &ui, BOOL, &[r(&[1, 1], TRUE), r(&[1, 2], FALSE)]),
        op("INotEqual.u32", Op::INotEqual, &ui, BOOL, &[r(&[1, 1], FALSE), r(&[1, 2], TRUE)]),
    ]);
    // -1 and 1, equal, and 1 and -1: by signed and by unsigned order.
    let compare = |o: Op, name: &str, kind: Kind, want: [u64; 3]| {
        let rows = [r(&[i(-1), 1], want[0]), r(&[1, 1], want[1]), r(&[1, i(-1)], want[2])];
        op(name, o, &[kind, kind], BOOL, &rows)
    };
    list.extend([
        compare(Op::ULessThan, "ULessThan", U32, [FALSE, FALSE, TRUE]),
        compare(Op::ULessThanEqual, "ULessThanEqual", U32, [FALSE, TRUE, TRUE]),
        compare(Op::UGreaterThan, "UGreaterThan", U32, [TRUE, FALSE, FALSE]),
        compare(Op::UGreaterThanEqual, "UGreaterThanEqual", U32, [TRUE, TRUE, FALSE]),
        compare(Op::SLessThan, "SLessThan", I32, [TRUE, FALSE, FALSE]),
        compare(Op::SLessThanEqual, "SLessThanEqual", I32, [TRUE, TRUE, FALSE]),
        compare(Op::SGreaterThan, "SGreaterThan", I32, [FALSE, FALSE, TRUE]),
        compare(Op::SGreaterThanEqual, "SGreaterThanEqual", I32, [FALSE, TRUE, TRUE]),
    ]);
    let pair = |name: &str, o: Op, kind: Kind, part: u32, rows: &[Row]| {
        custom(name, &[kind, kind], kind, rows, |s, args| {
            let scalar = s.ty(kind);
            let both = s.structure(&[scalar, scalar]);
            let pair = s.op(o, both, args);
            s.kind_op(Op::CompositeExtract, kind, &[pair, part])
        })
    };
    let max = u64::from(u32::MAX);
    list.extend([
        pair("IAddCarry.sum", Op::IAddCarry, U32, 0, &[r(&[max, 2], 1)]),
        pair("IAddCarry.carry", Op::IAddCarry, U32, 1, &[r(&[max, 2], 1), r(&[max, 0], 0)]),
        pair("ISubBorrow.difference", Op::ISubBorrow, U32, 0, &[r(&[1, 2], max)]),
        pair("ISubBorrow.borrow", Op::ISubBorrow, U32, 1, &[r(&[1, 2], 1), r(&[2, 2], 0)]),
        pair("UMulExtended.low", Op::UMulExtended, U32, 0, &[r(&[max, max], 1)]),
        pair("UMulExtended.high", Op::UMulExtended, U32, 1, &[r(&[max, max], max - 1), r(&[2, 3], 0)]),
        pair("SMulExtended.high", Op::SMulExtended, I32, 1, &[r(&[max, 2], max), r(&[1 << 31, 1 << 31], 1 << 30)]),
        pair("UMulExtended.u64.high", Op::UMulExtended, U64, 1, &[r(&[u64::MAX, u64::MAX], u64::MAX - 1)]),
        pair("IAddCarry.u64.carry", Op::IAddCarry, U64, 1, &[r(&[u64::MAX, 1], 1), r(&[5, 1], 0)]),
        pair("UMulExtended.u16.high", Op::UMulExtended, U16, 1, &[r(&[0xffff, 0xffff], 0xfffe)]),
        pair("SMulExtended.i8.high", Op::SMulExtended, I8, 1, &[r(&[0xff, 2], 0xff), r(&[0x80, 0x80], 0x40)]),
    ]);
    let bb = [BOOL, BOOL];
    let table = |name: &str, o: Op, want: [u64; 4]| {
        let rows: Vec<Row> = (0..4).map(|n| r(&[n & 1, n >> 1], want[n as usize])).collect();
        op(name, o, &bb, BOOL, &rows)
    };
    list.extend([
        table("LogicalAnd", Op::LogicalAnd, [0, 0, 0, 1]),
        table("LogicalOr", Op::LogicalOr, [0, 1, 1, 1]),
        table("LogicalEqual", Op::LogicalEqual, [1, 0, 0, 1]),
        table("LogicalNotEqual", Op::LogicalNotEqual, [0, 1, 1, 0]),
        op("LogicalNot", Op::LogicalNot, &[BOOL], BOOL, &[r(&[0], 1), r(&[1], 0)]),
        op("Select.u32", Op::Select, &[BOOL, U32, U32], U32, &[r(&[1, 5, 6], 5), r(&[0, 5, 6], 6)]),
        op(
            "Select.u64",
            Op::Select,
            &[BOOL, U64, U64],
            U64,
            &[r(&[1, 5 << 40, 6], 5 << 40), r(&[0, 5, 6 << 40], 6 << 40)],
        ),
    ]);
}

fn floats(list: &mut Vec<Case>) {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let tiny = f32::from_bits(1);
    list.extend([
        op(
            "FAdd.f32",
            Op::FAdd,
            &[F32, F32],
            F32,
            &[
                fr(&[1.0, f32::EPSILON / 2.0], 1.0),
                fr(&[1.0 + f32::EPSILON, f32::EPSILON / 2.0], 1.0 + 2.0 * f32::EPSILON),
                fr(&[inf, 1.0], inf),
                fr(&[-0.0, 0.0], 0.0),
                fr(&[0.1, 0.2], 0.3 + f32::EPSILON / 8.0),
            ],
        ),
        op("FSub.f32", Op::FSub, &[F32, F32], F32, &[fr(&[1.0, 1.0], 0.0), fr(&[0.3, 0.1], 0.3 - 0.1)]),
        op(
            "FMul.f32",
            Op::FMul,
            &[F32, F32],
            F32,
            &[fr(&[3.0, -0.5], -1.5), fr(&[0.0, -1.0], -0.0), fr(&[1e30, 1e30], inf)],
        ),
        op("FDiv.f32", Op::FDiv, &[F32, F32], F32, &[fr(&[1.0, 4.0], 0.25), fr(&[6.0, 3.0], 2.0)]),
        op("FNegate.f32", Op::FNegate, &[F32], F32, &[fr(&[0.0], -0.0), fr(&[-2.5], 2.5)]),
        op("FAdd.f64", Op::FAdd, &[F64, F64], F64, &[r(&[d(0.1), d(0.2)], d(0.1 + 0.2))]),
        op("FSub.f64", Op::FSub, &[F64, F64], F64, &[r(&[d(1.0), d(1e-17)], d(1.0))]),
        op("FMul.f64", Op::FMul, &[F64, F64], F64, &[r(&[d(1.1), d(1.1)], d(1.1 * 1.1))]),
        op("FDiv.f64", Op::FDiv, &[F64, F64], F64, &[r(&[d(1.0), d(4.0)], d(0.25))]),
        op("FNegate.f64", Op::FNegate, &[F64], F64, &[r(&[d(1.5)], d(-1.5))]),
        // 1, 0.0004883 and 2048 as halves: the sum is a tie, the product of 3 and 5.
        op("FAdd.f16", Op::FAdd, &[F16, F16], F16, &[r(&[0x3c00, 0x1000], 0x3c00), r(&[0x3c01, 0x1000], 0x3c02)]),
        op("FMul.f16", Op::FMul, &[F16, F16], F16, &[r(&[0x4200, 0x4500], 0x4b80), r(&[0x7bff, 0x4000], 0x7c00)]),
        op("FDiv.f16", Op::FDiv, &[F16, F16], F16, &[r(&[0x3c00, 0x4400], 0x3400)]),
        op("FNegate.f16", Op::FNegate, &[F16], F16, &[r(&[0x3c00], 0xbc00)]),
        op(
            "FOrdLessThan.f16",
            Op::FOrdLessThan,
            &[F16, F16],
            BOOL,
            &[r(&[0x3c00, 0x4000], TRUE), r(&[0x7e00, 0x4000], FALSE)],
        ),
        op(
            "FOrdLessThan.f64",
            Op::FOrdLessThan,
            &[F64, F64],
            BOOL,
            &[r(&[d(1.0), d(2.0)], TRUE), r(&[d(f64::NAN), d(2.0)], FALSE)],
        ),
        op(
            "FUnordLessThan.f64",
            Op::FUnordLessThan,
            &[F64, F64],
            BOOL,
            &[r(&[d(3.0), d(2.0)], FALSE), r(&[d(f64::NAN), d(2.0)], TRUE)],
        ),
        op("IsNan.f64", Op::IsNan, &[F64], BOOL, &[r(&[d(f64::NAN)], TRUE), r(&[d(f64::INFINITY)], FALSE)]),
        op("IsInf.f64", Op::IsInf, &[F64], BOOL, &[r(&[d(f64::NAN)], FALSE), r(&[d(-f64::INFINITY)], TRUE)]),
        op("IsNan.f32", Op::IsNan, &[F32], BOOL, &[fb(&[nan], true), fb(&[inf], false), fb(&[1.0], false)]),
        op("IsInf.f32", Op::IsInf, &[F32], BOOL, &[fb(&[nan], false), fb(&[-inf], true), fb(&[1.0], false)]),
        op("QuantizeToF16", Op::QuantizeToF16, &[F32], F32, &[fr(&[1.0 + 1.0 / 2048.0], 1.0), fr(&[65520.0], inf)]),
        ext("Sqrt.f32", G::Sqrt, &[F32], F32, &[fr(&[9.0], 3.0), fr(&[0.0], 0.0)]),
        ext("Sqrt.f64", G::Sqrt, &[F64], F64, &[r(&[d(2.25)], d(1.5))]),
    ]);
    // Vulkan lets these be off, or flushes subnormals where nothing preserves them.
    let inexact = |mut c: Case| {
        c.exactness = Exactness::Inexact;
        c
    };
    list.extend([
        // The sign of a zero that was too small is open.
        inexact(op("QuantizeToF16.small", Op::QuantizeToF16, &[F32], F32, &[fr(&[-1e-7], -0.0)])),
        inexact(op("FAdd.f32.subnormal", Op::FAdd, &[F32, F32], F32, &[fr(&[tiny, tiny], f32::from_bits(2))])),
        inexact(op(
            "FMul.f32.subnormal",
            Op::FMul,
            &[F32, F32],
            F32,
            &[fr(&[f32::MIN_POSITIVE, 0.5], f32::from_bits(0x40_0000))],
        )),
        inexact(op("FDiv.f32.third", Op::FDiv, &[F32, F32], F32, &[fr(&[1.0, 3.0], 1.0 / 3.0), fr(&[1.0, 0.0], inf)])),
        inexact(op("FRem.f32", Op::FRem, &[F32, F32], F32, &[fr(&[7.5, 2.0], 1.5), fr(&[-7.5, 2.0], -1.5)])),
        inexact(op("FMod.f32", Op::FMod, &[F32, F32], F32, &[fr(&[7.5, 2.0], 1.5), fr(&[-7.5, 2.0], 0.5)])),
        inexact(op("FRem.f64", Op::FRem, &[F64, F64], F64, &[r(&[d(-7.5), d(2.0)], d(-1.5))])),
        inexact(op("FMod.f64", Op::FMod, &[F64, F64], F64, &[r(&[d(-7.5), d(2.0)], d(0.5))])),
        inexact(ext("Sqrt.f32.two", G::Sqrt, &[F32], F32, &[fr(&[2.0], std::f32::consts::SQRT_2)])),
        inexact(ext(
            "InverseSqrt",
            G::InverseSqrt,
            &[F32],
            F32,
            &[fr(&[4.0], 0.5), fr(&[2.0], std::f32::consts::FRAC_1_SQRT_2)],
        )),
        inexact(ext("InverseSqrt.f64", G::InverseSqrt, &[F64], F64, &[r(&[d(4.0)], d(0.5))])),
        inexact(ext("Sin", G::Sin, &[F32], F32, &[fr(&[0.0], 0.0), fr(&[1.0], 0.841_470_96)])),
        inexact(ext("Cos", G::Cos, &[F32], F32, &[fr(&[0.0], 1.0), fr(&[1.0], 0.540_302_3)])),
        inexact(ext("Tan", G::Tan, &[F32], F32, &[fr(&[1.0], 1.557_407_7)])),
        inexact(ext("Asin", G::Asin, &[F32], F32, &[fr(&[1.0], std::f32::consts::FRAC_PI_2)])),
        inexact(ext("Acos", G::Acos, &[F32], F32, &[fr(&[-1.0], std::f32::consts::PI)])),
        inexact(ext("Atan", G::Atan, &[F32], F32, &[fr(&[1.0], std::f32::consts::FRAC_PI_4)])),
        inexact(ext(
            "Atan2",
            G::Atan2,
            &[F32, F32],
            F32,
            &[fr(&[1.0, -1.0], 2.356_194_5), fr(&[-1.0, 0.0], -std::f32::consts::FRAC_PI_2)],
        )),
        inexact(ext("Sinh", G::Sinh, &[F32], F32, &[fr(&[1.0], 1.175_201_2)])),
        inexact(ext("Cosh", G::Cosh, &[F32], F32, &[fr(&[1.0], 1.543_080_7)])),
        inexact(ext("Tanh", G::Tanh, &[F32], F32, &[fr(&[1.0], 0.761_594_2)])),
        inexact(ext("Asinh", G::Asinh, &[F32], F32, &[fr(&[1.0], 0.881_373_6)])),
        inexact(ext("Acosh", G::Acosh, &[F32], F32, &[fr(&[2.0], 1.316_958)])),
        inexact(ext("Atanh", G::Atanh, &[F32], F32, &[fr(&[0.5], 0.549_306_15)])),
        inexact(ext("Pow", G::Pow, &[F32, F32], F32, &[fr(&[2.0, 10.0], 1024.0), fr(&[9.0, 0.5], 3.0)])),
        inexact(ext("Exp", G::Exp, &[F32], F32, &[fr(&[1.0], std::f32::consts::E), fr(&[0.0], 1.0)])),
        inexact(ext("Log", G::Log, &[F32], F32, &[fr(&[std::f32::consts::E], 0.999_999_94), fr(&[1.0], 0.0)])),
        inexact(ext("Exp2", G::Exp2, &[F32], F32, &[fr(&[3.0], 8.0), fr(&[0.5], std::f32::consts::SQRT_2)])),
        inexact(ext("Log2", G::Log2, &[F32], F32, &[fr(&[8.0], 3.0), fr(&[0.125], -3.0)])),
        inexact(ext("Radians", G::Radians, &[F32], F32, &[fr(&[180.0], std::f32::consts::PI)])),
        inexact(ext("Degrees", G::Degrees, &[F32], F32, &[fr(&[std::f32::consts::PI], 180.0)])),
        inexact(ext("Sqrt.f16", G::Sqrt, &[F16], F16, &[r(&[0x4400], 0x4000)])),
        inexact(ext("Exp2.f16", G::Exp2, &[F16], F16, &[r(&[0x4200], 0x4800)])),
    ]);
    let compare = |name: &str, o: Op, want: [bool; 4]| {
        let rows =
            [fb(&[1.0, 2.0], want[0]), fb(&[2.0, 2.0], want[1]), fb(&[3.0, 2.0], want[2]), fb(&[nan, 2.0], want[3])];
        op(name, o, &[F32, F32], BOOL, &rows)
    };
    let (t, x) = (true, false);
    list.extend([
        compare("FOrdEqual", Op::FOrdEqual, [x, t, x, x]),
        compare("FUnordEqual", Op::FUnordEqual, [x, t, x, t]),
        compare("FOrdNotEqual", Op::FOrdNotEqual, [t, x, t, x]),
        compare("FUnordNotEqual", Op::FUnordNotEqual, [t, x, t, t]),
        compare("FOrdLessThan", Op::FOrdLessThan, [t, x, x, x]),
        compare("FUnordLessThan", Op::FUnordLessThan, [t, x, x, t]),
        compare("FOrdGreaterThan", Op::FOrdGreaterThan, [x, x, t, x]),
        compare("FUnordGreaterThan", Op::FUnordGreaterThan, [x, x, t, t]),
        compare("FOrdLessThanEqual", Op::FOrdLessThanEqual, [t, t, x, x]),
        compare("FUnordLessThanEqual", Op::FUnordLessThanEqual, [t, t, x, t]),
        compare("FOrdGreaterThanEqual", Op::FOrdGreaterThanEqual, [x, t, t, x]),
        compare("FUnordGreaterThanEqual", Op::FUnordGreaterThanEqual, [x, t, t, t]),
    ]);
}

fn conversions(list: &mut Vec<Case>) {
    list.extend([
        op(
            "ConvertFToU.u32",
            Op::ConvertFToU,
            &[F32],
            U32,
            &[r(&[f(3.9)], 3), r(&[f(4_294_967_040.0)], 0xffff_ff00), r(&[f(-0.5)], 0)],
        ),
        op(
            "ConvertFToS.i32",
            Op::ConvertFToS,
            &[F32],
            I32,
            &[r(&[f(-3.9)], i(-3)), r(&[f(-2_147_483_648.0)], 1 << 31)],
        ),
        op(
            "ConvertUToF.f32",
            Op::ConvertUToF,
            &[U32],
            F32,
            &[r(&[u32::MAX.into()], f(4_294_967_296.0)), r(&[16_777_217], f(16_777_216.0))],
        ),
        op("ConvertSToF.f32", Op::ConvertSToF, &[I32], F32, &[r(&[i(-7)], f(-7.0))]),
        op("ConvertFToU.u64", Op::ConvertFToU, &[F32], U64, &[r(&[f(1e15)], 999_999_986_991_104)]),
        op("ConvertFToS.i64", Op::ConvertFToS, &[F32], I64, &[r(&[f(-1e15)], -999_999_986_991_104i64 as u64)]),
        op("ConvertFToU.f64.u32", Op::ConvertFToU, &[F64], U32, &[r(&[d(4_294_967_295.5)], 0xffff_ffff)]),
        op("ConvertFToS.f64.i32", Op::ConvertFToS, &[F64], I32, &[r(&[d(-7.9)], i(-7))]),
        op("ConvertFToU.f64.u64", Op::ConvertFToU, &[F64], U64, &[r(&[d(1e19)], 10_000_000_000_000_000_000)]),
        op(
            "ConvertFToS.f64.i64",
            Op::ConvertFToS,
            &[F64],
            I64,
            &[r(&[d(-1e18)], -1_000_000_000_000_000_000i64 as u64)],
        ),
        op("ConvertUToF.u64.f32", Op::ConvertUToF, &[U64], F32, &[r(&[1 << 63], f(9_223_372_036_854_775_808.0))]),
        op("ConvertSToF.i64.f32", Op::ConvertSToF, &[I64], F32, &[r(&[-3i64 as u64], f(-3.0))]),
        op("ConvertUToF.u64.f64", Op::ConvertUToF, &[U64], F64, &[r(&[1 << 53], d(9_007_199_254_740_992.0))]),
        op("ConvertSToF.i64.f64", Op::ConvertSToF, &[I64], F64, &[r(&[-3i64 as u64], d(-3.0))]),
        op("ConvertUToF.u32.f64", Op::ConvertUToF, &[U32], F64, &[r(&[u32::MAX.into()], d(4_294_967_295.0))]),
        op("ConvertSToF.i32.f64", Op::ConvertSToF, &[I32], F64, &[r(&[i(-1)], d(-1.0))]),
        op("ConvertSToF.i8.f32", Op::ConvertSToF, &[I8], F32, &[r(&[0xff], f(-1.0))]),
        op("ConvertUToF.u16.f16", Op::ConvertUToF, &[U16], F16, &[r(&[2049], 0x6800)]),
        op("ConvertFToS.f32.i8", Op::ConvertFToS, &[F32], I8, &[r(&[f(-128.0)], 0x80), r(&[f(5.5)], 5)]),
        op("ConvertFToU.f16.u32", Op::ConvertFToU, &[F16], U32, &[r(&[0x7bff], 65504)]),
        op("UConvert.u32.u64", Op::UConvert, &[U32], U64, &[r(&[u32::MAX.into()], u32::MAX.into())]),
        op("UConvert.u64.u32", Op::UConvert, &[U64], U32, &[r(&[0x1_2345_6789], 0x2345_6789)]),
        op("UConvert.u32.u8", Op::UConvert, &[U32], U8, &[r(&[0x1ff], 0xff)]),
        op("UConvert.u8.u64", Op::UConvert, &[U8], U64, &[r(&[0xff], 0xff)]),
        op("SConvert.i32.i64", Op::SConvert, &[I32], I64, &[r(&[i(-2)], -2i64 as u64)]),
        op("SConvert.i8.i32", Op::SConvert, &[I8], I32, &[r(&[0x80], i(-128))]),
        op("SConvert.i16.i64", Op::SConvert, &[I16], I64, &[r(&[0x8000], -32768i64 as u64)]),
        op("SConvert.i64.i16", Op::SConvert, &[I64], I16, &[r(&[-2i64 as u64], 0xfffe)]),
        op("SConvert.i8.i16", Op::SConvert, &[I8], I16, &[r(&[0x80], 0xff80)]),
        op("FConvert.f32.f64", Op::FConvert, &[F32], F64, &[r(&[f(0.1)], d(f64::from(0.1f32)))]),
        op(
            "FConvert.f16.f32",
            Op::FConvert,
            &[F16],
            F32,
            &[r(&[0x3555], f(0.333_251_95)), r(&[0xfc00], f(f32::NEG_INFINITY))],
        ),
        op("FConvert.f16.f64", Op::FConvert, &[F16], F64, &[r(&[0x3c00], d(1.0))]),
        op("Bitcast.f32.u32", Op::Bitcast, &[F32], U32, &[r(&[f(1.0)], 0x3f80_0000)]),
        op("Bitcast.u64.f64", Op::Bitcast, &[U64], F64, &[r(&[d(1.5)], d(1.5))]),
        custom("Bitcast.u64.u16x4", &[U64], U16, &[r(&[0x4444_3333_2222_1111], 0x3333)], |s, a| {
            let v = s.kind_op(Op::Bitcast, U16.by(4), &[a[0]]);
            s.kind_op(Op::CompositeExtract, U16, &[v, 2])
        }),
        custom("Bitcast.u8x4.u32", &[U8, U8, U8, U8], U32, &[r(&[0x11, 0x22, 0x33, 0x44], 0x4433_2211)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U8.by(4), a);
            s.kind_op(Op::Bitcast, U32, &[v])
        }),
        custom("Bitcast.u32.f16x2", &[U32], F16, &[r(&[0x4000_3c00], 0x4000)], |s, a| {
            let v = s.kind_op(Op::Bitcast, F16.by(2), &[a[0]]);
            s.kind_op(Op::CompositeExtract, F16, &[v, 1])
        }),
    ]);
    // Rounding of narrowing conversions is the implementation's, unless a mode says otherwise.
    let nearest = |mut c: Case| {
        c.exactness = Exactness::Inexact;
        c
    };
    list.extend([
        nearest(op(
            "FConvert.f64.f32",
            Op::FConvert,
            &[F64],
            F32,
            &[r(&[d(0.1)], f(0.1)), r(&[d(1e300)], f(f32::INFINITY))],
        )),
        nearest(op(
            "FConvert.f32.f16",
            Op::FConvert,
            &[F32],
            F16,
            &[r(&[f(1.0 / 3.0)], 0x3555), r(&[f(5.96e-8)], 1), r(&[f(1e9)], 0x7c00)],
        )),
        nearest(op(
            "FConvert.f64.f16",
            Op::FConvert,
            &[F64],
            F16,
            &[r(&[d(1.000_488_281_25)], 0x3c00), r(&[d(1.000_488_281_250_1)], 0x3c01)],
        )),
    ]);
}

fn extended(list: &mut Vec<Case>) {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    list.extend([
        ext("RoundEven", G::RoundEven, &[F32], F32, &[fr(&[2.5], 2.0), fr(&[3.5], 4.0), fr(&[-0.5], -0.0)]),
        ext("Round", G::Round, &[F32], F32, &[fr(&[2.4], 2.0), fr(&[-2.6], -3.0)]),
        ext("Trunc", G::Trunc, &[F32], F32, &[fr(&[-2.7], -2.0), fr(&[2.7], 2.0)]),
        ext("Floor", G::Floor, &[F32], F32, &[fr(&[-2.1], -3.0), fr(&[2.7], 2.0)]),
        ext("Ceil", G::Ceil, &[F32], F32, &[fr(&[-2.7], -2.0), fr(&[2.1], 3.0)]),
        ext("Fract", G::Fract, &[F32], F32, &[fr(&[2.25], 0.25), fr(&[-0.25], 0.75)]),
        ext("FAbs", G::FAbs, &[F32], F32, &[fr(&[-2.5], 2.5), fr(&[-0.0], 0.0)]),
        ext("SAbs", G::SAbs, &[I32], I32, &[r(&[i(-5)], 5), r(&[7], 7)]),
        ext("FSign", G::FSign, &[F32], F32, &[fr(&[-2.5], -1.0), fr(&[9.0], 1.0), fr(&[0.0], 0.0)]),
        ext("SSign", G::SSign, &[I32], I32, &[r(&[i(-5)], i(-1)), r(&[7], 1), r(&[0], 0)]),
        ext("FMin", G::FMin, &[F32, F32], F32, &[fr(&[1.0, 2.0], 1.0), fr(&[-inf, 2.0], -inf)]),
        ext("FMax", G::FMax, &[F32, F32], F32, &[fr(&[1.0, 2.0], 2.0)]),
        ext("NMin", G::NMin, &[F32, F32], F32, &[fr(&[nan, 2.0], 2.0), fr(&[3.0, nan], 3.0), fr(&[1.0, 2.0], 1.0)]),
        ext("NMax", G::NMax, &[F32, F32], F32, &[fr(&[nan, 2.0], 2.0), fr(&[3.0, nan], 3.0), fr(&[1.0, 2.0], 2.0)]),
        ext(
            "FClamp",
            G::FClamp,
            &[F32, F32, F32],
            F32,
            &[fr(&[-1.0, 0.0, 1.0], 0.0), fr(&[2.0, 0.0, 1.0], 1.0), fr(&[0.5, 0.0, 1.0], 0.5)],
        ),
        ext("NClamp", G::NClamp, &[F32, F32, F32], F32, &[fr(&[nan, 0.25, 1.0], 0.25), fr(&[2.0, 0.0, 1.0], 1.0)]),
        ext("UMin", G::UMin, &[U32, U32], U32, &[r(&[i(-1), 1], 1)]),
        ext("UMax", G::UMax, &[U32, U32], U32, &[r(&[i(-1), 1], i(-1))]),
        ext("SMin", G::SMin, &[I32, I32], I32, &[r(&[i(-1), 1], i(-1))]),
        ext("SMax", G::SMax, &[I32, I32], I32, &[r(&[i(-1), 1], 1)]),
        ext("UClamp", G::UClamp, &[U32, U32, U32], U32, &[r(&[9, 2, 5], 5), r(&[1, 2, 5], 2)]),
        ext("SClamp", G::SClamp, &[I32, I32, I32], I32, &[r(&[i(-9), i(-2), 5], i(-2))]),
        ext("UMin.u64", G::UMin, &[U64, U64], U64, &[r(&[1 << 40, 3], 3)]),
        ext("SMax.i64", G::SMax, &[I64, I64], I64, &[r(&[u64::MAX, 3], 3)]),
        ext("SMin.i16", G::SMin, &[I16, I16], I16, &[r(&[0xffff, 3], 0xffff)]),
        ext("UClamp.u8", G::UClamp, &[U8, U8, U8], U8, &[r(&[200, 2, 100], 100)]),
        ext("FindILsb", G::FindILsb, &[U32], I32, &[r(&[0], i(-1)), r(&[0x50], 4)]),
        ext("FindUMsb", G::FindUMsb, &[U32], I32, &[r(&[0], i(-1)), r(&[0x50], 6), r(&[i(-1)], 31)]),
        ext("FindSMsb", G::FindSMsb, &[I32], I32, &[r(&[0], i(-1)), r(&[i(-1)], i(-1)), r(&[i(-2)], 0), r(&[0x50], 6)]),
        ext("Ldexp", G::Ldexp, &[F32, I32], F32, &[r(&[f(1.5), 4], f(24.0)), r(&[f(1.0), i(-3)], f(0.125))]),
        ext("Step", G::Step, &[F32, F32], F32, &[fr(&[2.0, 1.0], 0.0), fr(&[2.0, 2.0], 1.0)]),
        ext("FMix", G::FMix, &[F32, F32, F32], F32, &[fr(&[2.0, 4.0, 0.5], 3.0), fr(&[2.0, 4.0, 0.0], 2.0)]),
        ext(
            "SmoothStep",
            G::SmoothStep,
            &[F32, F32, F32],
            F32,
            &[fr(&[0.0, 1.0, 0.5], 0.5), fr(&[0.0, 1.0, 2.0], 1.0)],
        ),
        ext("Fma.exact", G::Fma, &[F32, F32, F32], F32, &[fr(&[2.0, 3.0, 4.0], 10.0)]),
        ext("Floor.f64", G::Floor, &[F64], F64, &[r(&[d(-1.5)], d(-2.0))]),
        ext("Ceil.f64", G::Ceil, &[F64], F64, &[r(&[d(1.5)], d(2.0))]),
        ext("Trunc.f64", G::Trunc, &[F64], F64, &[r(&[d(-1.5)], d(-1.0))]),
        ext("RoundEven.f64", G::RoundEven, &[F64], F64, &[r(&[d(2.5)], d(2.0))]),
        ext("FSign.f64", G::FSign, &[F64], F64, &[r(&[d(-2.5)], d(-1.0))]),
        ext("FAbs.f64", G::FAbs, &[F64], F64, &[r(&[d(-2.5)], d(2.5))]),
        ext("FMin.f64", G::FMin, &[F64, F64], F64, &[r(&[d(1.0), d(2.0)], d(1.0))]),
        ext("FMax.f64", G::FMax, &[F64, F64], F64, &[r(&[d(1.0), d(2.0)], d(2.0))]),
        ext("FClamp.f64", G::FClamp, &[F64, F64, F64], F64, &[r(&[d(3.0), d(1.0), d(2.0)], d(2.0))]),
        ext("NMin.f64", G::NMin, &[F64, F64], F64, &[r(&[d(f64::NAN), d(2.0)], d(2.0))]),
        ext("NClamp.f64", G::NClamp, &[F64, F64, F64], F64, &[r(&[d(f64::NAN), d(1.0), d(2.0)], d(1.0))]),
        ext("Fma.f64", G::Fma, &[F64, F64, F64], F64, &[r(&[d(2.0), d(3.0), d(4.0)], d(10.0))]),
        ext("Ldexp.f64", G::Ldexp, &[F64, I32], F64, &[r(&[d(1.5), 2], d(6.0))]),
        ext("Floor.f16", G::Floor, &[F16], F16, &[r(&[0xbe00], 0xc000)]),
        ext("FMax.f16", G::FMax, &[F16, F16], F16, &[r(&[0x3c00, 0x4000], 0x4000)]),
        ext("Fma.f16", G::Fma, &[F16, F16, F16], F16, &[r(&[0x4000, 0x4200, 0x4400], 0x4900)]),
    ]);
    let pack = |name: &str, g: G, count: u32, rows: &[Row]| {
        vectors(name, 1, count, U32, rows, |s, v| {
            let ty = s.ty(U32);
            s.ext(g, ty, v)
        })
    };
    let unpack = |name: &str, g: G, count: u32, part: u32, rows: &[Row]| {
        custom(name, &[U32], F32, rows, |s, a| {
            let ty = s.ty(F32.by(count));
            let v = s.ext(g, ty, a);
            s.kind_op(Op::CompositeExtract, F32, &[v, part])
        })
    };
    list.extend([
        pack("PackHalf2x16", G::PackHalf2x16, 2, &[r(&[f(1.0), f(-2.0)], 0xc000_3c00)]),
        pack("PackUnorm4x8", G::PackUnorm4x8, 4, &[r(&[f(0.0), f(1.0), f(2.0), f(-1.0)], 0x00ff_ff00)]),
        pack("PackSnorm4x8", G::PackSnorm4x8, 4, &[r(&[f(1.0), f(-1.0), f(0.0), f(-5.0)], 0x8100_817f)]),
        pack("PackUnorm2x16", G::PackUnorm2x16, 2, &[r(&[f(1.0), f(0.0)], 0xffff)]),
        pack("PackSnorm2x16", G::PackSnorm2x16, 2, &[r(&[f(1.0), f(-1.0)], 0x8001_7fff)]),
        unpack("UnpackHalf2x16", G::UnpackHalf2x16, 2, 1, &[r(&[0xc000_3c00], f(-2.0))]),
        unpack("UnpackUnorm4x8", G::UnpackUnorm4x8, 4, 2, &[r(&[0x00ff_0000], f(1.0)), r(&[0x0033_0000], f(0.2))]),
        unpack("UnpackSnorm4x8", G::UnpackSnorm4x8, 4, 3, &[r(&[0x8000_0000], f(-1.0)), r(&[0x7f00_0000], f(1.0))]),
        unpack("UnpackUnorm2x16", G::UnpackUnorm2x16, 2, 0, &[r(&[0xffff], f(1.0))]),
        unpack("UnpackSnorm2x16", G::UnpackSnorm2x16, 2, 1, &[r(&[0x8001_0000], f(-1.0))]),
        custom("PackDouble2x32", &[U32, U32], F64, &[r(&[0, 0x3ff8_0000], d(1.5))], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), a);
            let ty = s.ty(F64);
            s.ext(G::PackDouble2x32, ty, &[v])
        }),
        custom("UnpackDouble2x32", &[F64], U32, &[r(&[d(1.5)], 0x3ff8_0000)], |s, a| {
            let ty = s.ty(U32.by(2));
            let v = s.ext(G::UnpackDouble2x32, ty, a);
            s.kind_op(Op::CompositeExtract, U32, &[v, 1])
        }),
        custom("ModfStruct.fract", &[F32], F32, &[fr(&[-2.25], -0.25), fr(&[3.0], 0.0)], |s, a| {
            let scalar = s.ty(F32);
            let both = s.structure(&[scalar, scalar]);
            let v = s.ext(G::ModfStruct, both, a);
            s.kind_op(Op::CompositeExtract, F32, &[v, 0])
        }),
        custom("ModfStruct.whole", &[F32], F32, &[fr(&[-2.25], -2.0)], |s, a| {
            let scalar = s.ty(F32);
            let both = s.structure(&[scalar, scalar]);
            let v = s.ext(G::ModfStruct, both, a);
            s.kind_op(Op::CompositeExtract, F32, &[v, 1])
        }),
        custom("FrexpStruct.mantissa", &[F32], F32, &[fr(&[12.0], 0.75), fr(&[0.0], 0.0)], |s, a| {
            let (scalar, int) = (s.ty(F32), s.ty(I32));
            let both = s.structure(&[scalar, int]);
            let v = s.ext(G::FrexpStruct, both, a);
            s.kind_op(Op::CompositeExtract, F32, &[v, 0])
        }),
        custom("FrexpStruct.exponent", &[F32], I32, &[r(&[f(12.0)], 4), r(&[f(0.25)], i(-1))], |s, a| {
            let (scalar, int) = (s.ty(F32), s.ty(I32));
            let both = s.structure(&[scalar, int]);
            let v = s.ext(G::FrexpStruct, both, a);
            s.kind_op(Op::CompositeExtract, I32, &[v, 1])
        }),
    ]);
    let geometry = |name: &str, g: G, operands: usize, part: Option<u32>, rows: &[Row]| {
        vectors(name, operands, 3, F32, rows, |s, v| {
            let ty = s.ty(if part.is_some() { F32.by(3) } else { F32 });
            let value = s.ext(g, ty, v);
            match part {
                Some(n) => s.kind_op(Op::CompositeExtract, F32, &[value, n]),
                None => value,
            }
        })
    };
    list.extend([
        geometry("Length", G::Length, 1, None, &[fr(&[2.0, 3.0, 6.0], 7.0)]),
        geometry("Distance", G::Distance, 2, None, &[fr(&[3.0, 5.0, 9.0, 1.0, 2.0, 3.0], 7.0)]),
        geometry("Cross", G::Cross, 2, Some(2), &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], -3.0)]),
        geometry("Normalize", G::Normalize, 1, Some(1), &[fr(&[0.0, 4.0, 0.0], 1.0)]),
        geometry(
            "FaceForward",
            G::FaceForward,
            3,
            Some(0),
            &[
                fr(&[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0], 1.0),
                fr(&[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0], -1.0),
            ],
        ),
        geometry("Reflect", G::Reflect, 2, Some(1), &[fr(&[1.0, -1.0, 0.0, 0.0, 1.0, 0.0], 1.0)]),
        custom(
            "Refract",
            &[F32, F32, F32, F32, F32],
            F32,
            &[fr(&[0.0, -1.0, 0.0, 1.0, 1.0], -1.0), fr(&[1.0, 0.0, 0.0, 1.0, 2.0], 0.0)],
            |s, a| {
                let v = s.kind_op(Op::CompositeConstruct, F32.by(2), &a[..2]);
                let n = s.kind_op(Op::CompositeConstruct, F32.by(2), &a[2..4]);
                let ty = s.ty(F32.by(2));
                let v = s.ext(G::Refract, ty, &[v, n, a[4]]);
                s.kind_op(Op::CompositeExtract, F32, &[v, 1])
            },
        ),
    ]);
}

fn composites(list: &mut Vec<Case>) {
    list.extend([
        vectors("Dot", 2, 3, F32, &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 32.0)], |s, v| s.kind_op(Op::Dot, F32, v)),
        vectors("VectorTimesScalar", 1, 2, F32, &[fr(&[3.0, 4.0], 12.0)], |s, v| {
            let x = s.kind_op(Op::CompositeExtract, F32, &[v[0], 0]);
            let v = s.kind_op(Op::VectorTimesScalar, F32.by(2), &[v[0], x]);
            s.kind_op(Op::CompositeExtract, F32, &[v, 1])
        }),
        vectors("MatrixTimesVector", 3, 2, F32, &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 34.0)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let m = s.op(Op::CompositeConstruct, m, &v[..2]);
            let v = s.kind_op(Op::MatrixTimesVector, F32.by(2), &[m, v[2]]);
            s.kind_op(Op::CompositeExtract, F32, &[v, 1])
        }),
        vectors("VectorTimesMatrix", 3, 2, F32, &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 39.0)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let m = s.op(Op::CompositeConstruct, m, &v[..2]);
            let v = s.kind_op(Op::VectorTimesMatrix, F32.by(2), &[v[2], m]);
            s.kind_op(Op::CompositeExtract, F32, &[v, 1])
        }),
        vectors("MatrixTimesMatrix", 4, 2, F32, &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 46.0)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let a = s.op(Op::CompositeConstruct, m, &v[..2]);
            let b = s.op(Op::CompositeConstruct, m, &v[2..]);
            let c = s.op(Op::MatrixTimesMatrix, m, &[a, b]);
            s.kind_op(Op::CompositeExtract, F32, &[c, 1, 1])
        }),
        vectors("MatrixTimesScalar", 2, 2, F32, &[fr(&[1.0, 2.0, 3.0, 4.0], 12.0)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let a = s.op(Op::CompositeConstruct, m, v);
            let three = s.f(3.0);
            let c = s.op(Op::MatrixTimesScalar, m, &[a, three]);
            s.kind_op(Op::CompositeExtract, F32, &[c, 1, 1])
        }),
        vectors("OuterProduct", 2, 2, F32, &[fr(&[1.0, 2.0, 3.0, 4.0], 6.0)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let c = s.op(Op::OuterProduct, m, v);
            s.kind_op(Op::CompositeExtract, F32, &[c, 0, 1])
        }),
        vectors("Transpose", 2, 3, F32, &[fr(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3.0)], |s, v| {
            let (m, t) = (s.matrix(F32.by(3), 2), s.matrix(F32.by(2), 3));
            let c = s.op(Op::CompositeConstruct, m, v);
            let c = s.op(Op::Transpose, t, &[c]);
            s.kind_op(Op::CompositeExtract, F32, &[c, 2, 0])
        }),
        vectors(
            "Determinant",
            3,
            3,
            F32,
            &[
                fr(&[2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 5.0, 7.0, 4.0], 24.0),
                fr(&[0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0], -1.0),
            ],
            |s, v| {
                let m = s.matrix(F32.by(3), 3);
                let c = s.op(Op::CompositeConstruct, m, v);
                let ty = s.ty(F32);
                s.ext(G::Determinant, ty, &[c])
            },
        ),
        vectors("MatrixInverse", 2, 2, F32, &[fr(&[2.0, 0.0, 0.0, 4.0], 0.25)], |s, v| {
            let m = s.matrix(F32.by(2), 2);
            let c = s.op(Op::CompositeConstruct, m, v);
            let c = s.ext(G::MatrixInverse, m, &[c]);
            s.kind_op(Op::CompositeExtract, F32, &[c, 1, 1])
        }),
        custom("VectorShuffle", &[U32, U32, U32, U32], U32, &[r(&[1, 2, 3, 4], 0x314)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), &a[..2]);
            let w = s.kind_op(Op::CompositeConstruct, U32.by(2), &a[2..]);
            let x = s.kind_op(Op::VectorShuffle, U32.by(3), &[v, w, 2, 0, 3]);
            digits(s, x, 3)
        }),
        custom("CompositeInsert", &[U32, U32, U32], U32, &[r(&[1, 2, 3], 0x132)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(3), &[a[0], a[0], a[1]]);
            let v = s.kind_op(Op::CompositeInsert, U32.by(3), &[a[2], v, 1]);
            digits(s, v, 3)
        }),
        custom("CompositeConstruct.nested", &[U32, U32], U32, &[r(&[1, 2], 0x212)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), a);
            let v = s.kind_op(Op::CompositeConstruct, U32.by(3), &[a[1], v]);
            digits(s, v, 3)
        }),
        custom("VectorExtractDynamic", &[U32, U32, U32], U32, &[r(&[7, 8, 0], 7), r(&[7, 8, 1], 8)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), &a[..2]);
            s.kind_op(Op::VectorExtractDynamic, U32, &[v, a[2]])
        }),
        custom("VectorInsertDynamic", &[U32, U32, U32], U32, &[r(&[7, 8, 0], 0x98), r(&[7, 8, 1], 0x79)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), &a[..2]);
            let nine = s.u(9);
            let v = s.kind_op(Op::VectorInsertDynamic, U32.by(2), &[v, nine, a[2]]);
            digits(s, v, 2)
        }),
        custom("Any", &[BOOL, BOOL], BOOL, &[r(&[0, 0], 0), r(&[0, 1], 1)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, BOOL.by(2), a);
            s.kind_op(Op::Any, BOOL, &[v])
        }),
        custom("All", &[BOOL, BOOL], BOOL, &[r(&[1, 1], 1), r(&[0, 1], 0)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, BOOL.by(2), a);
            s.kind_op(Op::All, BOOL, &[v])
        }),
        custom("Select.vector", &[BOOL, BOOL], U32, &[r(&[1, 0], 0x14), r(&[0, 1], 0x32)], |s, a| {
            let c = s.kind_op(Op::CompositeConstruct, BOOL.by(2), a);
            let k: Vec<u32> = (1..=4).map(|n| s.u(n)).collect();
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), &k[..2]);
            let w = s.kind_op(Op::CompositeConstruct, U32.by(2), &k[2..]);
            let x = s.kind_op(Op::Select, U32.by(2), &[c, v, w]);
            digits(s, x, 2)
        }),
        custom("IAdd.vector", &[U32, U32], U32, &[r(&[1, 2], 0x24)], |s, a| {
            let v = s.kind_op(Op::CompositeConstruct, U32.by(2), a);
            let v = s.kind_op(Op::IAdd, U32.by(2), &[v, v]);
            digits(s, v, 2)
        }),
        custom("CopyObject", &[U32], U32, &[r(&[5], 5)], |s, a| s.kind_op(Op::CopyObject, U32, a)),
        custom("Ordered", &[F32, F32], BOOL, &[fb(&[1.0, 2.0], true), fb(&[f32::NAN, 2.0], false)], |s, a| {
            // Ordered and Unordered are for kernels; the same by comparing.
            let x = s.kind_op(Op::FOrdEqual, BOOL, &[a[0], a[0]]);
            let y = s.kind_op(Op::FOrdEqual, BOOL, &[a[1], a[1]]);
            s.kind_op(Op::LogicalAnd, BOOL, &[x, y])
        }),
    ]);
}

/// Components of a vector as hexadecimal digits, the first highest.
fn digits(s: &mut Shader, v: u32, count: u32) -> u32 {
    let mut sum = s.u(0);
    let sixteen = s.u(16);
    for n in 0..count {
        let c = s.kind_op(Op::CompositeExtract, U32, &[v, n]);
        sum = s.kind_op(Op::IMul, U32, &[sum, sixteen]);
        sum = s.kind_op(Op::IAdd, U32, &[sum, c]);
    }
    sum
}

/// Results that Vulkan leaves open.
fn choices(list: &mut Vec<Case>) {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let max = u64::from(u32::MAX);
    list.extend(
        [
            op("UDiv.zero", Op::UDiv, &[U32, U32], U32, &[r(&[7, 0], max)]),
            op("UMod.zero", Op::UMod, &[U32, U32], U32, &[r(&[7, 0], max)]),
            op("SDiv.zero", Op::SDiv, &[I32, I32], I32, &[r(&[7, 0], max)]),
            op("SDiv.overflow", Op::SDiv, &[I32, I32], I32, &[r(&[1 << 31, max], 1 << 31)]),
            op("SDiv.i8.overflow", Op::SDiv, &[I8, I8], I8, &[r(&[0x80, 0xff], 0x80)]),
            op("SRem.overflow", Op::SRem, &[I32, I32], I32, &[r(&[1 << 31, max], 0)]),
            op("UDiv.u64.zero", Op::UDiv, &[U64, U64], U64, &[r(&[7, 0], u64::MAX)]),
            op("ShiftLeftLogical.wide", Op::ShiftLeftLogical, &[U32, U32], U32, &[r(&[1, 33], 2)]),
            op("ShiftRightLogical.u64.wide", Op::ShiftRightLogical, &[U64, U32], U64, &[r(&[4, 65], 2)]),
            op("ShiftLeftLogical.u8.wide", Op::ShiftLeftLogical, &[U8, U32], U8, &[r(&[1, 9], 2)]),
            op("BitFieldUExtract.wide", Op::BitFieldUExtract, &[U32, U32, U32], U32, &[r(&[0xf000_0000, 28, 8], 0xf)]),
            op("ConvertFToU.nan", Op::ConvertFToU, &[F32], U32, &[r(&[f(nan)], 0)]),
            op("ConvertFToS.nan", Op::ConvertFToS, &[F32], I32, &[r(&[f(nan)], 0)]),
            op("ConvertFToU.range", Op::ConvertFToU, &[F32], U32, &[r(&[f(-1.0)], 0), r(&[f(inf)], max)]),
            op("ConvertFToS.range", Op::ConvertFToS, &[F32], I32, &[r(&[f(3e9)], 0x7fff_ffff), r(&[f(-3e9)], 1 << 31)]),
            op("ConvertFToS.i8.range", Op::ConvertFToS, &[F32], I8, &[r(&[f(128.0)], 127), r(&[f(-1000.0)], 0x80)]),
            op("ConvertFToU.f64.range", Op::ConvertFToU, &[F64], U64, &[r(&[d(2e19)], u64::MAX)]),
            ext("FMin.nan", G::FMin, &[F32, F32], F32, &[fr(&[nan, 1.0], 1.0)]),
            ext("FMax.zeros", G::FMax, &[F32, F32], F32, &[fr(&[-0.0, 0.0], 0.0), fr(&[0.0, -0.0], 0.0)]),
            ext("FMin.zeros", G::FMin, &[F32, F32], F32, &[fr(&[-0.0, 0.0], -0.0), fr(&[0.0, -0.0], -0.0)]),
            ext("FClamp.limits", G::FClamp, &[F32, F32, F32], F32, &[fr(&[1.0, 5.0, 3.0], 3.0)]),
            ext("UClamp.limits", G::UClamp, &[U32, U32, U32], U32, &[r(&[1, 5, 3], 3)]),
            ext("Round.half", G::Round, &[F32], F32, &[fr(&[2.5], 2.0)]),
            ext(
                "Fma.rounding",
                G::Fma,
                &[F32, F32, F32],
                F32,
                &[fr(&[1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0], -f32::EPSILON * f32::EPSILON)],
            ),
            ext("Log2.zero", G::Log2, &[F32], F32, &[fr(&[0.0], -inf)]),
            ext("Atan2.zero", G::Atan2, &[F32, F32], F32, &[fr(&[0.0, 0.0], 0.0)]),
            ext("Pow.zero", G::Pow, &[F32, F32], F32, &[fr(&[0.0, 0.0], 1.0)]),
            custom("VectorExtractDynamic.beyond", &[U32, U32, U32], U32, &[r(&[7, 8, 2], 0)], |s, a| {
                let v = s.kind_op(Op::CompositeConstruct, U32.by(2), &a[..2]);
                s.kind_op(Op::VectorExtractDynamic, U32, &[v, a[2]])
            }),
            custom("Undef", &[U32], U32, &[r(&[7], 7)], |s, a| {
                let u = s.kind_op(Op::Undef, U32, &[]);
                s.kind_op(Op::IAdd, U32, &[a[0], u])
            }),
        ]
        .map(Case::choice),
    );
}

pub fn cases() -> Vec<Case> {
    let mut list = vec![];
    integers(&mut list);
    floats(&mut list);
    conversions(&mut list);
    extended(&mut list);
    composites(&mut list);
    choices(&mut list);
    list
}
