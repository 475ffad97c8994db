//! One instruction at a time.

use rspirv::spirv::{self, Decoration, Op as SpirvOp};

use super::types::{Part, Scalar, Type};
use super::{Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Atomic, NONE, Op, Reg};
use crate::execute::embedded::source::{ExtSet, Id, SourceInst};

/// Opcodes that a specialization constant may be computed with.
pub(super) fn is_constant_op(op: SpirvOp) -> bool {
    use SpirvOp as S;
    matches!(
        op,
        S::SConvert
            | S::UConvert
            | S::FConvert
            | S::SNegate
            | S::Not
            | S::IAdd
            | S::ISub
            | S::IMul
            | S::UDiv
            | S::SDiv
            | S::UMod
            | S::SRem
            | S::SMod
            | S::ShiftRightLogical
            | S::ShiftRightArithmetic
            | S::ShiftLeftLogical
            | S::BitwiseOr
            | S::BitwiseXor
            | S::BitwiseAnd
            | S::VectorShuffle
            | S::CompositeExtract
            | S::CompositeInsert
            | S::LogicalOr
            | S::LogicalAnd
            | S::LogicalNot
            | S::LogicalEqual
            | S::LogicalNotEqual
            | S::Select
            | S::IEqual
            | S::INotEqual
            | S::ULessThan
            | S::SLessThan
            | S::UGreaterThan
            | S::SGreaterThan
            | S::ULessThanEqual
            | S::SLessThanEqual
            | S::UGreaterThanEqual
            | S::SGreaterThanEqual
            | S::QuantizeToF16
            | S::Bitcast
            | S::FNegate
            | S::FAdd
            | S::FSub
            | S::FMul
            | S::FDiv
            | S::ConvertFToS
            | S::ConvertFToU
            | S::ConvertSToF
            | S::ConvertUToF
    )
}

impl Translator<'_> {
    /// Result type's scalar and the operands from `at` on, which all have as many components as the result.
    fn componentwise(&self, i: &SourceInst, count: usize) -> Result<(Scalar, Vec<Operand>), ExecuteError> {
        let (s, n) = self.vector(i.ty)?;
        let mut list = vec![];
        for at in 0..count {
            let (s, data) = self.vector_operand(self.src.word(i, at)?)?;
            if data.len() != n as usize {
                return Err(self.fail(&format!("expected operands of {n} components")));
            }
            list.push((s, data));
        }
        Ok((s, list))
    }

    /// Applies an operation to each component.
    fn map(
        &mut self,
        i: &SourceInst,
        count: usize,
        mut f: impl FnMut(&mut Self, Scalar, &[Scalar], &[Reg]) -> Result<Reg, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let (s, operands) = self.componentwise(i, count)?;
        let kinds: Vec<Scalar> = operands.iter().map(|o| o.0).collect();
        let mut data = vec![];
        for n in 0..operands[0].1.len() {
            let args: Vec<Reg> = operands.iter().map(|o| o.1[n]).collect();
            data.push(f(self, s, &kinds, &args)?);
        }
        self.set_data(i.id, i.ty, data)
    }

    /// Two operands of the same width.
    fn same(&self, kinds: &[Scalar]) -> Result<Scalar, ExecuteError> {
        let is_same = |a: &Scalar, b: &Scalar| match (a, b) {
            (Scalar::Int { bits: a, .. }, Scalar::Int { bits: b, .. }) => a == b,
            _ => a == b,
        };
        match kinds {
            [a] => Ok(*a),
            [a, rest @ ..] if rest.iter().all(|b| is_same(a, b)) => Ok(*a),
            _ => Err(self.fail("its operands have different types")),
        }
    }

    /// Operands and result of one integer width.
    fn int_map(&mut self, i: &SourceInst, count: usize, op: Op) -> Result<(), ExecuteError> {
        self.map(i, count, |t, s, kinds, args| {
            let kind = t.same(kinds)?;
            t.same(&[s, kind])?;
            t.int(op, kind, args)
        })
    }

    fn float_map(&mut self, i: &SourceInst, count: usize, op: Op) -> Result<(), ExecuteError> {
        self.map(i, count, |t, s, kinds, args| {
            let kind = t.same(kinds)?;
            t.same(&[s, kind])?;
            t.flt(op, kind, args)
        })
    }

    /// A comparison of integers; with `swap` its operands change places, with `not` its result is inverted.
    fn int_compare(&mut self, i: &SourceInst, op: Op, swap: bool) -> Result<(), ExecuteError> {
        self.map(i, 2, |t, _, kinds, args| {
            let kind = t.same(kinds)?;
            let args = if swap { [args[1], args[0]] } else { [args[0], args[1]] };
            t.int(op, kind, &args)
        })
    }

    fn float_compare(&mut self, i: &SourceInst, op: Op, swap: bool, not: bool) -> Result<(), ExecuteError> {
        self.map(i, 2, |t, _, kinds, args| {
            let kind = t.same(kinds)?;
            let args = if swap { [args[1], args[0]] } else { [args[0], args[1]] };
            let r = t.flt(op, kind, &args)?;
            if not { t.not(r) } else { Ok(r) }
        })
    }

    fn logical(&mut self, i: &SourceInst, count: usize, op: Op, not: bool) -> Result<(), ExecuteError> {
        self.map(i, count, |t, _, kinds, args| {
            if kinds.iter().any(|k| *k != Scalar::Bool) {
                return Err(t.fail("expected bools"));
            }
            let r = t.op(op, 1, args, 0)?;
            if not { t.not(r) } else { Ok(r) }
        })
    }

    /// Translates an instruction that is no terminator.
    pub(super) fn instruction(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        use SpirvOp as S;
        let src = self.src;
        match i.op {
            S::Nop | S::Line | S::NoLine | S::SelectionMerge | S::LoopMerge => Ok(()),
            S::Undef => {
                let scalars = self.scalars(i.ty)?;
                let data = scalars.iter().map(|s| self.undef(s.width())).collect();
                self.set_data(i.id, i.ty, data)
            }
            S::Variable => self.declare_variable(i),
            S::Load => {
                let p = self.ptr(src.word(i, 0)?)?;
                if let super::memory::Root::Handle(_) = p.root {
                    let value = self.load_handle(&p)?;
                    self.set(i.id, value);
                    return Ok(());
                }
                let data = self.load(&p)?;
                self.set_data(i.id, i.ty, data)
            }
            S::Store => {
                let p = self.ptr(src.word(i, 0)?)?;
                let data = self.data(src.word(i, 1)?)?;
                self.store(&p, &data)
            }
            S::CopyMemory => {
                let (to, from) = (self.ptr(src.word(i, 0)?)?, self.ptr(src.word(i, 1)?)?);
                let data = self.load(&from)?;
                self.store(&to, &data)
            }
            S::AccessChain | S::InBoundsAccessChain => self.access_chain(i),
            S::CopyObject | S::CopyLogical => {
                let value = self.value(src.word(i, 0)?)?;
                match value {
                    Val::Data(data) => self.set_data(i.id, i.ty, data.to_vec()),
                    other => {
                        self.set(i.id, other);
                        Ok(())
                    }
                }
            }
            S::ArrayLength => {
                let r = self.array_length(i)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            S::FunctionCall => {
                let mut args = vec![];
                for &id in &src.operands(i)[1.min(src.operands(i).len())..] {
                    args.push(self.value(id)?);
                }
                let value = self.inline(src.word(i, 0)?, args)?;
                match (value, &self.ty(i.ty)?.ty) {
                    (_, Type::Void) => Ok(()),
                    (Val::Data(data), _) => self.set_data(i.id, i.ty, data.to_vec()),
                    // It has no return, so that nothing after the call is reached.
                    (Val::Nothing, _) => {
                        let scalars = self.scalars(i.ty)?;
                        let data = scalars.iter().map(|s| self.undef(s.width())).collect();
                        self.set_data(i.id, i.ty, data)
                    }
                    (other, _) => {
                        self.set(i.id, other);
                        Ok(())
                    }
                }
            }
            S::CompositeConstruct => {
                let mut data = vec![];
                for &id in src.operands(i) {
                    data.extend(self.data(id)?.iter());
                    if data.len() > super::types::MAX_VALUE as usize {
                        break;
                    }
                }
                self.set_data(i.id, i.ty, data)
            }
            S::CompositeExtract => {
                let id = src.word(i, 0)?;
                let data = self.data(id)?;
                let (at, size) = self.path(id, &src.operands(i)[1..])?;
                self.set_data(i.id, i.ty, data[at..at + size].to_vec())
            }
            S::CompositeInsert => {
                let part = self.data(src.word(i, 0)?)?;
                let id = src.word(i, 1)?;
                let mut data = self.data(id)?.to_vec();
                let (at, size) = self.path(id, &src.operands(i)[2..])?;
                if part.len() != size {
                    return Err(self.fail("the object does not fit its place"));
                }
                data[at..at + size].copy_from_slice(&part);
                self.set_data(i.id, i.ty, data)
            }
            S::VectorShuffle => {
                let (_, a) = self.vector_operand(src.word(i, 0)?)?;
                let (_, b) = self.vector_operand(src.word(i, 1)?)?;
                let (s, _) = self.vector(i.ty)?;
                let all: Vec<Reg> = a.iter().chain(b.iter()).copied().collect();
                let mut data = vec![];
                for &n in &src.operands(i)[2..] {
                    data.push(match all.get(n as usize) {
                        Some(&r) => r,
                        None if n == u32::MAX => self.undef(s.width()),
                        None => return Err(self.fail(&format!("component {n} is not there"))),
                    });
                }
                self.set_data(i.id, i.ty, data)
            }
            S::VectorExtractDynamic => {
                let (s, data) = self.vector_operand(src.word(i, 0)?)?;
                let (index, bound) = self.component_index(src.word(i, 1)?, data.len())?;
                self.note_beyond(index, bound)?;
                let mut r = self.constant(0, s.width());
                for (n, &component) in data.iter().enumerate() {
                    let n = self.word(n as u32);
                    let here = self.op(Op::Eq, 1, &[index, n], 0)?;
                    r = self.select(s.width(), here, component, r)?;
                }
                self.set_data(i.id, i.ty, vec![r])
            }
            S::VectorInsertDynamic => {
                let (s, data) = self.vector_operand(src.word(i, 0)?)?;
                let (t, component) = self.scalar(src.word(i, 1)?)?;
                self.same(&[s, t])?;
                let (index, bound) = self.component_index(src.word(i, 2)?, data.len())?;
                self.note_beyond(index, bound)?;
                let mut out = vec![];
                for (n, &old) in data.iter().enumerate() {
                    let n = self.word(n as u32);
                    let here = self.op(Op::Eq, 1, &[index, n], 0)?;
                    out.push(self.select(s.width(), here, component, old)?);
                }
                self.set_data(i.id, i.ty, out)
            }
            S::Transpose => {
                let (s, data, rows, columns) = self.matrix_operand(src.word(i, 0)?)?;
                let _ = s;
                let mut out = vec![];
                for r in 0..rows {
                    for c in 0..columns {
                        out.push(data[c * rows + r]);
                    }
                }
                self.set_data(i.id, i.ty, out)
            }

            S::IAdd => self.int_map(i, 2, Op::Add),
            S::ISub => self.int_map(i, 2, Op::Sub),
            S::IMul => self.int_map(i, 2, Op::Mul),
            S::UDiv => self.int_map(i, 2, Op::UDiv),
            S::SDiv => self.int_map(i, 2, Op::SDiv),
            S::UMod => self.int_map(i, 2, Op::UMod),
            S::SRem => self.int_map(i, 2, Op::SRem),
            S::SMod => self.int_map(i, 2, Op::SMod),
            S::SNegate => self.map(i, 1, |t, s, kinds, args| {
                t.same(&[s, kinds[0]])?;
                let zero = t.constant(0, s.width());
                t.int(Op::Sub, s, &[zero, args[0]])
            }),
            S::Not => self.int_map(i, 1, Op::Not),
            S::BitwiseAnd => self.int_map(i, 2, Op::And),
            S::BitwiseOr => self.int_map(i, 2, Op::Or),
            S::BitwiseXor => self.int_map(i, 2, Op::Xor),
            S::ShiftLeftLogical | S::ShiftRightLogical | S::ShiftRightArithmetic => {
                let op = match i.op {
                    S::ShiftLeftLogical => Op::Shl,
                    S::ShiftRightLogical => Op::Shr,
                    _ => Op::Sar,
                };
                self.map(i, 2, |t, s, kinds, args| {
                    t.same(&[s, kinds[0]])?;
                    t.shift(op, kinds[0], args[0], kinds[1], args[1])
                })
            }
            S::BitCount => self.map(i, 1, |t, s, kinds, args| {
                let bits = t.needs_int(kinds[0])?;
                let count = if bits == 64 {
                    let low = t.op(Op::Lo64, 1, &[args[0]], 0)?;
                    let high = t.op(Op::Hi64, 1, &[args[0]], 0)?;
                    let low = t.op(Op::BitCount, 1, &[low], 0)?;
                    let high = t.op(Op::BitCount, 1, &[high], 0)?;
                    t.op(Op::Add, 1, &[low, high], 0)?
                } else {
                    t.op(Op::BitCount, 1, args, 0)?
                };
                let to = t.needs_int(s)?;
                t.u_convert(32, to, count)
            }),
            S::BitReverse => self.map(i, 1, |t, s, kinds, args| {
                t.same(&[s, kinds[0]])?;
                match t.needs_int(s)? {
                    32 => t.op(Op::BitReverse, 1, args, 0),
                    bits => Err(t.unsupported_width(bits)),
                }
            }),
            S::BitFieldInsert => {
                let (s, a) = self.vector_operand(src.word(i, 0)?)?;
                let (s2, b) = self.vector_operand(src.word(i, 1)?)?;
                let (offset, count) = self.bit_range(i, 2, s)?;
                if s2 != s || a.len() != b.len() {
                    return Err(self.fail("its operands have different types"));
                }
                let mut data = vec![];
                for (&a, &b) in a.iter().zip(b.iter()) {
                    data.push(self.op(Op::BitInsert, 1, &[a, b, offset, count], 0)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            S::BitFieldSExtract | S::BitFieldUExtract => {
                let (s, a) = self.vector_operand(src.word(i, 0)?)?;
                let (offset, count) = self.bit_range(i, 1, s)?;
                let op = if i.op == S::BitFieldSExtract { Op::BitExtractS } else { Op::BitExtractU };
                let mut data = vec![];
                for &a in a.iter() {
                    data.push(self.op(op, 1, &[a, offset, count], 0)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            S::IAddCarry => self.pair(i, Op::Add, Op::Carry),
            S::ISubBorrow => self.pair(i, Op::Sub, Op::Borrow),
            S::UMulExtended => self.pair(i, Op::Mul, Op::MulHiU),
            S::SMulExtended => self.pair(i, Op::Mul, Op::MulHiS),
            S::IEqual => self.int_compare(i, Op::Eq, false),
            S::INotEqual => self.int_compare(i, Op::Ne, false),
            S::ULessThan => self.int_compare(i, Op::Ult, false),
            S::ULessThanEqual => self.int_compare(i, Op::Ule, false),
            S::UGreaterThan => self.int_compare(i, Op::Ult, true),
            S::UGreaterThanEqual => self.int_compare(i, Op::Ule, true),
            S::SLessThan => self.int_compare(i, Op::Slt, false),
            S::SLessThanEqual => self.int_compare(i, Op::Sle, false),
            S::SGreaterThan => self.int_compare(i, Op::Slt, true),
            S::SGreaterThanEqual => self.int_compare(i, Op::Sle, true),
            S::LogicalAnd => self.logical(i, 2, Op::And, false),
            S::LogicalOr => self.logical(i, 2, Op::Or, false),
            S::LogicalNotEqual => self.logical(i, 2, Op::Xor, false),
            S::LogicalEqual => self.logical(i, 2, Op::Xor, true),
            S::LogicalNot => self.logical(i, 1, Op::Not, false),
            S::Any | S::All => {
                let (s, data) = self.vector_operand(src.word(i, 0)?)?;
                if s != Scalar::Bool {
                    return Err(self.fail("expected bools"));
                }
                let op = if i.op == S::Any { Op::Or } else { Op::And };
                let mut r = data[0];
                for &more in &data[1..] {
                    r = self.op(op, 1, &[r, more], 0)?;
                }
                self.set_data(i.id, i.ty, vec![r])
            }
            S::Select => self.select_instruction(i),

            S::FAdd => self.float_map(i, 2, Op::FAdd),
            S::FSub => self.float_map(i, 2, Op::FSub),
            S::FMul => self.float_map(i, 2, Op::FMul),
            S::FDiv => self.float_map(i, 2, Op::FDiv),
            S::FRem => self.float_map(i, 2, Op::FRem),
            S::FMod => self.float_map(i, 2, Op::FMod),
            S::FNegate => self.map(i, 1, |t, s, kinds, args| {
                t.same(&[s, kinds[0]])?;
                t.negate(s, args[0])
            }),
            S::FOrdEqual => self.float_compare(i, Op::FEq, false, false),
            S::FUnordEqual => self.float_compare(i, Op::FNe, false, true),
            S::FOrdNotEqual => self.float_compare(i, Op::FNe, false, false),
            S::FUnordNotEqual => self.float_compare(i, Op::FEq, false, true),
            S::FOrdLessThan => self.float_compare(i, Op::FLt, false, false),
            S::FUnordLessThan => self.float_compare(i, Op::FLe, true, true),
            S::FOrdGreaterThan => self.float_compare(i, Op::FLt, true, false),
            S::FUnordGreaterThan => self.float_compare(i, Op::FLe, false, true),
            S::FOrdLessThanEqual => self.float_compare(i, Op::FLe, false, false),
            S::FUnordLessThanEqual => self.float_compare(i, Op::FLt, true, true),
            S::FOrdGreaterThanEqual => self.float_compare(i, Op::FLe, true, false),
            S::FUnordGreaterThanEqual => self.float_compare(i, Op::FLt, false, true),
            S::IsNan => self.map(i, 1, |t, _, kinds, args| t.flt(Op::IsNan, kinds[0], args)),
            S::IsInf => self.map(i, 1, |t, _, kinds, args| t.flt(Op::IsInf, kinds[0], args)),
            S::Ordered | S::Unordered => {
                let not = i.op == S::Ordered;
                self.map(i, 2, |t, _, kinds, args| {
                    let kind = t.same(kinds)?;
                    let a = t.flt(Op::IsNan, kind, &args[..1])?;
                    let b = t.flt(Op::IsNan, kind, &args[1..])?;
                    let r = t.op(Op::Or, 1, &[a, b], 0)?;
                    if not { t.not(r) } else { Ok(r) }
                })
            }
            S::Dot => {
                let (s, a) = self.vector_operand(src.word(i, 0)?)?;
                let (s2, b) = self.vector_operand(src.word(i, 1)?)?;
                if s != s2 || a.len() != b.len() {
                    return Err(self.fail("its operands have different types"));
                }
                let r = self.dot(s, &a, &b)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            S::VectorTimesScalar | S::MatrixTimesScalar => {
                let a = self.data(src.word(i, 0)?)?;
                let (s, b) = self.scalar(src.word(i, 1)?)?;
                self.check_all(&a, s)?;
                let mut data = vec![];
                for &a in a.iter() {
                    data.push(self.flt(Op::FMul, s, &[a, b])?);
                }
                self.set_data(i.id, i.ty, data)
            }
            S::VectorTimesMatrix => {
                let (s, v) = self.vector_operand(src.word(i, 0)?)?;
                let (t, m, rows, _) = self.matrix_operand(src.word(i, 1)?)?;
                if s != t || v.len() != rows {
                    return Err(self.fail("its operands do not fit"));
                }
                let mut data = vec![];
                for column in m.chunks_exact(rows) {
                    data.push(self.dot(s, &v, column)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            S::MatrixTimesVector => {
                let (s, m, rows, columns) = self.matrix_operand(src.word(i, 0)?)?;
                let (t, v) = self.vector_operand(src.word(i, 1)?)?;
                if s != t || v.len() != columns {
                    return Err(self.fail("its operands do not fit"));
                }
                let data = self.matrix_times(s, &m, rows, &v)?;
                self.set_data(i.id, i.ty, data)
            }
            S::MatrixTimesMatrix => {
                let (s, a, rows, columns) = self.matrix_operand(src.word(i, 0)?)?;
                let (t, b, inner, _) = self.matrix_operand(src.word(i, 1)?)?;
                if s != t || inner != columns {
                    return Err(self.fail("its operands do not fit"));
                }
                let mut data = vec![];
                for column in b.chunks_exact(inner) {
                    data.extend(self.matrix_times(s, &a, rows, column)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            S::OuterProduct => {
                let (s, a) = self.vector_operand(src.word(i, 0)?)?;
                let (t, b) = self.vector_operand(src.word(i, 1)?)?;
                self.same(&[s, t])?;
                let mut data = vec![];
                for &b in b.iter() {
                    for &a in a.iter() {
                        data.push(self.flt(Op::FMul, s, &[a, b])?);
                    }
                }
                self.set_data(i.id, i.ty, data)
            }

            S::ConvertFToU | S::ConvertFToS => {
                let signed = i.op == S::ConvertFToS;
                self.map(i, 1, |t, s, kinds, args| {
                    let (from, to) = (t.needs_float(kinds[0])?, t.needs_int(s)?);
                    t.float_to_int(from, to, signed, args[0])
                })
            }
            S::ConvertSToF | S::ConvertUToF => {
                let signed = i.op == S::ConvertSToF;
                self.map(i, 1, |t, s, kinds, args| {
                    let (from, to) = (t.needs_int(kinds[0])?, t.needs_float(s)?);
                    t.int_to_float(from, to, signed, args[0])
                })
            }
            S::UConvert => self.map(i, 1, |t, s, kinds, args| {
                let (from, to) = (t.needs_int(kinds[0])?, t.needs_int(s)?);
                t.u_convert(from, to, args[0])
            }),
            S::SConvert => self.map(i, 1, |t, s, kinds, args| {
                let (from, to) = (t.needs_int(kinds[0])?, t.needs_int(s)?);
                t.s_convert(from, to, args[0])
            }),
            S::FConvert => {
                let mode = src.decoration(i.id, Decoration::FPRoundingMode);
                if mode.is_some_and(|m| m != spirv::FPRoundingMode::RTE as u32) {
                    return Err(self.fail("only rounding to nearest even is supported"));
                }
                self.map(i, 1, |t, s, kinds, args| {
                    let (from, to) = (t.needs_float(kinds[0])?, t.needs_float(s)?);
                    t.f_convert(from, to, args[0])
                })
            }
            S::QuantizeToF16 => self.map(i, 1, |t, s, kinds, args| {
                t.same(&[s, kinds[0]])?;
                match t.needs_float(s)? {
                    32 => t.op(Op::QuantizeF16, 1, args, 0),
                    bits => Err(t.unsupported_width(bits)),
                }
            }),
            S::Bitcast => {
                let (s, data) = self.vector_operand(src.word(i, 0)?)?;
                let (t, n) = self.vector(i.ty)?;
                let total = s.bits() as usize * data.len();
                if s == Scalar::Bool || t == Scalar::Bool || total != t.bits() as usize * n as usize {
                    return Err(self.fail("its operand has another size"));
                }
                let data = self.bitcast(s.bits(), t.bits(), &data)?;
                self.set_data(i.id, i.ty, data)
            }

            S::AtomicLoad
            | S::AtomicStore
            | S::AtomicExchange
            | S::AtomicCompareExchange
            | S::AtomicIIncrement
            | S::AtomicIDecrement
            | S::AtomicIAdd
            | S::AtomicISub
            | S::AtomicSMin
            | S::AtomicUMin
            | S::AtomicSMax
            | S::AtomicUMax
            | S::AtomicAnd
            | S::AtomicOr
            | S::AtomicXor
            | S::AtomicFAddEXT
            | S::AtomicFMinEXT
            | S::AtomicFMaxEXT => self.atomic_instruction(i),
            S::ControlBarrier => {
                let scope = self.scalar(src.word(i, 0)?)?.1;
                if self.constant_of(scope) != Some(spirv::Scope::Workgroup as u64) {
                    return Err(self.fail("only the workgroup's scope is supported"));
                }
                self.push(self.inst(Op::Fence))?;
                if self.global {
                    return Err(self.fail("outside a function"));
                }
                self.barrier();
                Ok(())
            }
            S::MemoryBarrier => self.push(self.inst(Op::Fence)),
            S::ExtInst => match src.sets.get(&src.word(i, 0)?) {
                Some(ExtSet::Glsl) => self.glsl(i),
                Some(ExtSet::NonSemantic) => Ok(()),
                None => Err(self.fail("of an unknown set")),
            },
            S::Image
            | S::ImageFetch
            | S::ImageRead
            | S::ImageWrite
            | S::ImageTexelPointer
            | S::ImageQuerySizeLod
            | S::ImageQuerySize
            | S::ImageQueryLevels => self.image_instruction(i),
            S::AssumeTrueKHR => Ok(()),
            S::ExpectKHR => {
                let data = self.data(src.word(i, 0)?)?.to_vec();
                self.set_data(i.id, i.ty, data)
            }
            _ => Err(self.fail("is not supported")),
        }
    }

    /// Place and size of a part of a composite.
    fn path(&self, id: Id, indices: &[u32]) -> Result<(usize, usize), ExecuteError> {
        let ty = self.type_of(id)?;
        let mut part = Part::Type(ty);
        let mut at = 0;
        let mut size = self.ty(ty)?.scalars;
        for &n in indices {
            let (next, offset, count) = self.member(&part, n)?;
            part = next;
            at += offset;
            size = count;
        }
        // The value has its type's scalars, so that the part lies inside it.
        Ok((at as usize, size as usize))
    }

    /// A component's index as 32 bits, and the number of components.
    fn component_index(&mut self, id: Id, count: usize) -> Result<(Reg, u32), ExecuteError> {
        let (s, r) = self.scalar(id)?;
        let Scalar::Int { bits, signed } = s else { return Err(self.fail("the index is no integer")) };
        let r = match bits {
            64 => {
                // High bits make it out of range.
                let low = self.op(Op::Lo64, 1, &[r], 0)?;
                let high = self.op(Op::Hi64, 1, &[r], 0)?;
                let zero = self.word(0);
                let beyond = self.op(Op::Ne, 1, &[high, zero], 0)?;
                self.op(Op::Or, 1, &[low, beyond], 0)?
            }
            32 => r,
            _ if signed => self.extend(r, bits.into())?,
            _ => r,
        };
        Ok((r, count as u32))
    }

    /// Notes an index that is out of range: an address operation does not, as addresses are checked when they are used.
    fn note_beyond(&mut self, index: Reg, bound: u32) -> Result<(), ExecuteError> {
        if self.constant_of(index).is_some_and(|v| v < u64::from(bound)) {
            return Ok(());
        }
        let bound = self.word(bound);
        let inst = super::Inst { a: index, b: bound, ..self.inst(Op::NoteBeyond) };
        self.push(inst)
    }

    /// Offset and count of a bit field of 32-bit integers.
    fn bit_range(&mut self, i: &SourceInst, at: usize, s: Scalar) -> Result<(Reg, Reg), ExecuteError> {
        let bits = self.needs_int(s)?;
        if bits != 32 {
            return Err(self.unsupported_width(bits));
        }
        let mut pair = [NONE; 2];
        for (n, r) in pair.iter_mut().enumerate() {
            let (s, v) = self.scalar(self.src.word(i, at + n)?)?;
            let from = self.needs_int(s)?;
            if from == 64 {
                return Err(self.unsupported_width(64));
            }
            *r = v;
        }
        Ok((pair[0], pair[1]))
    }

    /// A struct of two results.
    fn pair(&mut self, i: &SourceInst, first: Op, second: Op) -> Result<(), ExecuteError> {
        let (s, a) = self.vector_operand(self.src.word(i, 0)?)?;
        let (t, b) = self.vector_operand(self.src.word(i, 1)?)?;
        self.same(&[s, t])?;
        if a.len() != b.len() {
            return Err(self.fail("its operands have different types"));
        }
        let (mut low, mut high) = (vec![], vec![]);
        for (&a, &b) in a.iter().zip(b.iter()) {
            low.push(self.int(first, s, &[a, b])?);
            high.push(self.int(second, s, &[a, b])?);
        }
        low.extend(high);
        self.set_data(i.id, i.ty, low)
    }

    fn select_instruction(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let (s, cond) = self.vector_operand(self.src.word(i, 0)?)?;
        if s != Scalar::Bool {
            return Err(self.fail("its condition is no bool"));
        }
        let (yes, no) = (self.value(self.src.word(i, 1)?)?, self.value(self.src.word(i, 2)?)?);
        let (Val::Data(yes), Val::Data(no)) = (yes, no) else { return Err(self.fail("selects no numbers")) };
        let scalars = self.scalars(i.ty)?;
        self.check_widths(&yes, &scalars)?;
        self.check_widths(&no, &scalars)?;
        if cond.len() != 1 && cond.len() != scalars.len() {
            return Err(self.fail("its condition has another number of components"));
        }
        let mut data = vec![];
        for (n, s) in scalars.iter().enumerate() {
            let cond = if cond.len() == 1 { cond[0] } else { cond[n] };
            data.push(self.select(s.width(), cond, yes[n], no[n])?);
        }
        self.set_data(i.id, i.ty, data)
    }

    fn check_all(&self, data: &[Reg], s: Scalar) -> Result<(), ExecuteError> {
        let scalars = vec![s; data.len()];
        self.check_widths(data, &scalars)
    }

    /// A matrix: scalar, columns one after the other, rows, columns.
    pub(super) fn matrix_operand(&self, id: Id) -> Result<(Scalar, Vec<Reg>, usize, usize), ExecuteError> {
        let Type::Matrix(s, rows, columns) = self.ty(self.type_of(id)?)?.ty else {
            return Err(self.fail(&format!("%{id} is no matrix")));
        };
        Ok((s, self.data(id)?.to_vec(), rows as usize, columns as usize))
    }

    /// A matrix by a vector, summed from the first column to the last.
    fn matrix_times(&mut self, s: Scalar, m: &[Reg], rows: usize, v: &[Reg]) -> Result<Vec<Reg>, ExecuteError> {
        let mut data = vec![];
        for r in 0..rows {
            let row: Vec<Reg> = m.iter().skip(r).step_by(rows).copied().collect();
            data.push(self.dot(s, &row, v)?);
        }
        Ok(data)
    }

    fn atomic_instruction(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        use SpirvOp as S;
        let src = self.src;
        let p = self.ptr(src.word(i, 0)?)?;
        // Pointer, scope, semantics (two for an exchange with comparison), value, comparator.
        let value_at = if i.op == S::AtomicCompareExchange { 4 } else { 3 };
        let (kind, value) = match i.op {
            S::AtomicLoad => (Atomic::Load, None),
            S::AtomicStore => (Atomic::Store, Some(value_at)),
            S::AtomicExchange => (Atomic::Exchange, Some(value_at)),
            S::AtomicCompareExchange => (Atomic::CompareExchange, Some(value_at)),
            S::AtomicIIncrement => (Atomic::Add, None),
            S::AtomicIDecrement => (Atomic::Sub, None),
            S::AtomicIAdd => (Atomic::Add, Some(value_at)),
            S::AtomicISub => (Atomic::Sub, Some(value_at)),
            S::AtomicSMin => (Atomic::SMin, Some(value_at)),
            S::AtomicUMin => (Atomic::UMin, Some(value_at)),
            S::AtomicSMax => (Atomic::SMax, Some(value_at)),
            S::AtomicUMax => (Atomic::UMax, Some(value_at)),
            S::AtomicAnd => (Atomic::And, Some(value_at)),
            S::AtomicOr => (Atomic::Or, Some(value_at)),
            S::AtomicXor => (Atomic::Xor, Some(value_at)),
            S::AtomicFAddEXT => (Atomic::FAdd, Some(value_at)),
            S::AtomicFMinEXT => (Atomic::FMin, Some(value_at)),
            _ => (Atomic::FMax, Some(value_at)),
        };
        let word = |t: &mut Self, at: usize| {
            let (s, r) = t.scalar(src.word(i, at)?)?;
            if s.bits() == 32 && s != Scalar::Bool { Ok(r) } else { Err(t.unsupported_width(s.bits())) }
        };
        let value = match value {
            Some(at) => word(self, at)?,
            None if kind == Atomic::Load => NONE,
            None => self.word(1),
        };
        let comparator = if kind == Atomic::CompareExchange { word(self, 5)? } else { NONE };
        let old = self.atomic(&p, kind, value, comparator)?;
        if i.op == S::AtomicStore { Ok(()) } else { self.set_data(i.id, i.ty, vec![old]) }
    }
}

type Operand = (Scalar, std::rc::Rc<[Reg]>);
