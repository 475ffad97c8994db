//! GLSL.std.450.

use rspirv::spirv::GlslStd450Op as G;

use super::Translator;
use super::memory::Ptr;
use super::types::Scalar;
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Math, Op, Reg};
use crate::execute::embedded::source::SourceInst;

impl Translator<'_> {
    /// The operands, each with the result's number of components (or `n` of them, where the result is another).
    fn glsl_operands(&self, i: &SourceInst, count: usize) -> Result<Vec<(Scalar, Vec<Reg>)>, ExecuteError> {
        let mut list: Vec<(Scalar, Vec<Reg>)> = vec![];
        for at in 0..count {
            let (s, data) = self.vector_operand(self.src.word(i, 2 + at)?)?;
            if list.first().is_some_and(|f| f.1.len() != data.len()) {
                return Err(self.fail("its operands have different numbers of components"));
            }
            list.push((s, data.to_vec()));
        }
        Ok(list)
    }

    /// Applies an operation to each component of operands that have the result's width.
    fn glsl_map(
        &mut self,
        i: &SourceInst,
        count: usize,
        mut f: impl FnMut(&mut Self, Scalar, &[Reg]) -> Result<Reg, ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let operands = self.glsl_operands(i, count)?;
        let s = operands[0].0;
        if operands.iter().any(|o| o.0.bits() != s.bits() || (o.0 == Scalar::Bool) != (s == Scalar::Bool)) {
            return Err(self.fail("its operands have different widths"));
        }
        let mut data = vec![];
        for n in 0..operands[0].1.len() {
            let args: Vec<Reg> = operands.iter().map(|o| o.1[n]).collect();
            data.push(f(self, s, &args)?);
        }
        self.set_data(i.id, i.ty, data)
    }

    fn glsl_float(&mut self, i: &SourceInst, count: usize, op: Op) -> Result<(), ExecuteError> {
        self.glsl_map(i, count, |t, s, args| t.flt(op, s, args))
    }

    fn glsl_int(&mut self, i: &SourceInst, count: usize, op: Op) -> Result<(), ExecuteError> {
        self.glsl_map(i, count, |t, s, args| match (op, s.bits()) {
            (Op::SMin | Op::SMax | Op::SClamp | Op::UMin | Op::UMax | Op::UClamp, bits) if bits != 32 => {
                t.min_max(op, s, args)
            }
            (Op::FindLsb | Op::FindUMsb | Op::FindSMsb, bits) if bits != 32 => Err(t.unsupported_width(bits)),
            _ => t.int(op, s, args),
        })
    }

    /// Minimum, maximum and clamp of integers that are not 32 bits wide, by comparing.
    fn min_max(&mut self, op: Op, s: Scalar, args: &[Reg]) -> Result<Reg, ExecuteError> {
        let (less, first) = match op {
            Op::SMin => (Op::Slt, true),
            Op::SMax => (Op::Slt, false),
            Op::UMin => (Op::Ult, true),
            Op::UMax => (Op::Ult, false),
            Op::SClamp => {
                let low = self.min_max(Op::SMax, s, &args[..2])?;
                return self.min_max(Op::SMin, s, &[low, args[2]]);
            }
            _ => {
                let low = self.min_max(Op::UMax, s, &args[..2])?;
                return self.min_max(Op::UMin, s, &[low, args[2]]);
            }
        };
        let is_less = self.int(less, s, &args[..2])?;
        let (yes, no) = if first { (args[0], args[1]) } else { (args[1], args[0]) };
        self.select(s.width(), is_less, yes, no)
    }

    fn glsl_math(&mut self, i: &SourceInst, m: Math) -> Result<(), ExecuteError> {
        self.glsl_map(i, 1, |t, s, args| t.math(Op::Math, s, args, m as u32))
    }

    /// Products by a constant.
    fn glsl_scale(&mut self, i: &SourceInst, factor: f64) -> Result<(), ExecuteError> {
        self.glsl_map(i, 1, |t, s, args| {
            let k = t.float_of(s, factor);
            t.flt(Op::FMul, s, &[args[0], k])
        })
    }

    /// Translates an extended instruction.
    pub(super) fn glsl(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        let number = src.word(i, 1)?;
        let Some(op) = G::from_u32(number) else { return Err(self.fail(&format!("{number} is unknown"))) };
        match op {
            G::Round => self.glsl_float(i, 1, Op::Round),
            G::RoundEven => self.glsl_float(i, 1, Op::RoundEven),
            G::Trunc => self.glsl_float(i, 1, Op::Trunc),
            G::Floor => self.glsl_float(i, 1, Op::Floor),
            G::Ceil => self.glsl_float(i, 1, Op::Ceil),
            G::FSign => self.glsl_float(i, 1, Op::FSign),
            G::Sqrt => self.glsl_float(i, 1, Op::Sqrt),
            G::FMin => self.glsl_float(i, 2, Op::FMin),
            G::FMax => self.glsl_float(i, 2, Op::FMax),
            G::NMin => self.glsl_float(i, 2, Op::NMin),
            G::NMax => self.glsl_float(i, 2, Op::NMax),
            G::FClamp => self.glsl_float(i, 3, Op::FClamp),
            G::NClamp => self.glsl_float(i, 3, Op::NClamp),
            G::Fma => self.glsl_float(i, 3, Op::Fma),
            G::FAbs => self.glsl_map(i, 1, |t, s, args| t.absolute(s, args[0])),
            G::SAbs => self.glsl_map(i, 1, |t, s, args| {
                let zero = t.int_of(s, 0);
                let negative = t.int(Op::Slt, s, &[args[0], zero])?;
                let opposite = t.int(Op::Sub, s, &[zero, args[0]])?;
                t.select(s.width(), negative, opposite, args[0])
            }),
            G::SSign => self.glsl_map(i, 1, |t, s, args| {
                let (zero, one, minus) = (t.int_of(s, 0), t.int_of(s, 1), t.int_of(s, -1));
                let negative = t.int(Op::Slt, s, &[args[0], zero])?;
                let positive = t.int(Op::Slt, s, &[zero, args[0]])?;
                let r = t.select(s.width(), positive, one, zero)?;
                t.select(s.width(), negative, minus, r)
            }),
            G::Fract => self.glsl_map(i, 1, |t, s, args| {
                let floor = t.flt(Op::Floor, s, args)?;
                t.flt(Op::FSub, s, &[args[0], floor])
            }),
            G::Radians => self.glsl_scale(i, std::f64::consts::PI / 180.0),
            G::Degrees => self.glsl_scale(i, 180.0 / std::f64::consts::PI),
            G::Sin => self.glsl_math(i, Math::Sin),
            G::Cos => self.glsl_math(i, Math::Cos),
            G::Tan => self.glsl_math(i, Math::Tan),
            G::Asin => self.glsl_math(i, Math::Asin),
            G::Acos => self.glsl_math(i, Math::Acos),
            G::Atan => self.glsl_math(i, Math::Atan),
            G::Sinh => self.glsl_math(i, Math::Sinh),
            G::Cosh => self.glsl_math(i, Math::Cosh),
            G::Tanh => self.glsl_math(i, Math::Tanh),
            G::Asinh => self.glsl_math(i, Math::Asinh),
            G::Acosh => self.glsl_math(i, Math::Acosh),
            G::Atanh => self.glsl_math(i, Math::Atanh),
            G::Exp => self.glsl_math(i, Math::Exp),
            G::Log => self.glsl_math(i, Math::Log),
            G::Exp2 => self.glsl_math(i, Math::Exp2),
            G::Log2 => self.glsl_math(i, Math::Log2),
            G::InverseSqrt => self.glsl_map(i, 1, |t, s, args| {
                if s.bits() == 64 {
                    let root = t.flt(Op::Sqrt, s, args)?;
                    let one = t.float_of(s, 1.0);
                    return t.flt(Op::FDiv, s, &[one, root]);
                }
                t.math(Op::Math, s, args, Math::InverseSqrt as u32)
            }),
            G::Atan2 => self.glsl_map(i, 2, |t, s, args| t.math(Op::Atan2, s, args, 0)),
            G::Pow => self.glsl_map(i, 2, |t, s, args| t.math(Op::Pow, s, args, 0)),
            G::FMix => self.glsl_map(i, 3, |t, s, args| {
                let one = t.float_of(s, 1.0);
                let rest = t.flt(Op::FSub, s, &[one, args[2]])?;
                let x = t.flt(Op::FMul, s, &[args[0], rest])?;
                let y = t.flt(Op::FMul, s, &[args[1], args[2]])?;
                t.flt(Op::FAdd, s, &[x, y])
            }),
            G::Step => self.glsl_map(i, 2, |t, s, args| {
                let (zero, one) = (t.float_of(s, 0.0), t.float_of(s, 1.0));
                let less = t.flt(Op::FLt, s, &[args[1], args[0]])?;
                t.select(s.width(), less, zero, one)
            }),
            G::SmoothStep => self.glsl_map(i, 3, |t, s, args| {
                let (zero, one) = (t.float_of(s, 0.0), t.float_of(s, 1.0));
                let (two, three) = (t.float_of(s, 2.0), t.float_of(s, 3.0));
                let up = t.flt(Op::FSub, s, &[args[2], args[0]])?;
                let span = t.flt(Op::FSub, s, &[args[1], args[0]])?;
                let x = t.flt(Op::FDiv, s, &[up, span])?;
                let x = t.flt(Op::FClamp, s, &[x, zero, one])?;
                let twice = t.flt(Op::FMul, s, &[two, x])?;
                let slope = t.flt(Op::FSub, s, &[three, twice])?;
                let square = t.flt(Op::FMul, s, &[x, x])?;
                t.flt(Op::FMul, s, &[square, slope])
            }),
            G::UMin => self.glsl_int(i, 2, Op::UMin),
            G::SMin => self.glsl_int(i, 2, Op::SMin),
            G::UMax => self.glsl_int(i, 2, Op::UMax),
            G::SMax => self.glsl_int(i, 2, Op::SMax),
            G::UClamp => self.glsl_int(i, 3, Op::UClamp),
            G::SClamp => self.glsl_int(i, 3, Op::SClamp),
            G::FindILsb => self.glsl_int(i, 1, Op::FindLsb),
            G::FindUMsb => self.glsl_int(i, 1, Op::FindUMsb),
            G::FindSMsb => self.glsl_int(i, 1, Op::FindSMsb),
            G::Ldexp => {
                let operands = self.glsl_operands(i, 2)?;
                let (s, e) = (operands[0].0, operands[1].0);
                let bits = self.needs_int(e)?;
                if bits == 64 {
                    return Err(self.unsupported_width(64));
                }
                let mut data = vec![];
                for (&x, &e) in operands[0].1.iter().zip(&operands[1].1) {
                    let e = self.extend(e, bits)?;
                    data.push(self.flt(Op::Ldexp, s, &[x, e])?);
                }
                self.set_data(i.id, i.ty, data)
            }
            G::Modf | G::ModfStruct | G::Frexp | G::FrexpStruct => self.glsl_parts(i, op),
            G::PackSnorm4x8 => self.glsl_pack(i, 8, true),
            G::PackUnorm4x8 => self.glsl_pack(i, 8, false),
            G::PackSnorm2x16 => self.glsl_pack(i, 16, true),
            G::PackUnorm2x16 => self.glsl_pack(i, 16, false),
            G::UnpackSnorm4x8 => self.glsl_unpack(i, 8, true),
            G::UnpackUnorm4x8 => self.glsl_unpack(i, 8, false),
            G::UnpackSnorm2x16 => self.glsl_unpack(i, 16, true),
            G::UnpackUnorm2x16 => self.glsl_unpack(i, 16, false),
            G::PackHalf2x16 => {
                let operands = self.glsl_operands(i, 1)?;
                let data = self.of_bits(&operands[0], 32, 2)?;
                let mut halves = vec![];
                for r in data {
                    halves.push(self.op(Op::FToF16, 1, &[r], 0)?);
                }
                let data = self.bitcast(16, 32, &halves)?;
                self.set_data(i.id, i.ty, data)
            }
            G::UnpackHalf2x16 => {
                let operands = self.glsl_operands(i, 1)?;
                let data = self.of_bits(&operands[0], 32, 1)?;
                let mut out = vec![];
                for r in self.bitcast(32, 16, &data)? {
                    out.push(self.op(Op::F16ToF, 1, &[r], 0)?);
                }
                self.set_data(i.id, i.ty, out)
            }
            G::PackDouble2x32 => {
                let operands = self.glsl_operands(i, 1)?;
                let data = self.of_bits(&operands[0], 32, 2)?;
                let data = self.bitcast(32, 64, &data)?;
                self.set_data(i.id, i.ty, data)
            }
            G::UnpackDouble2x32 => {
                let operands = self.glsl_operands(i, 1)?;
                let data = self.of_bits(&operands[0], 64, 1)?;
                let data = self.bitcast(64, 32, &data)?;
                self.set_data(i.id, i.ty, data)
            }
            G::Length => {
                let operands = self.glsl_operands(i, 1)?;
                let (s, a) = &operands[0];
                let r = self.length(*s, a)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            G::Distance => {
                let operands = self.same_floats(i, 2)?;
                let s = operands[0].0;
                let mut d = vec![];
                for (&a, &b) in operands[0].1.iter().zip(&operands[1].1) {
                    d.push(self.flt(Op::FSub, s, &[a, b])?);
                }
                let r = self.length(s, &d)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            G::Normalize => {
                let operands = self.glsl_operands(i, 1)?;
                let (s, a) = &operands[0];
                let length = self.length(*s, a)?;
                let mut data = vec![];
                for &a in a {
                    data.push(self.flt(Op::FDiv, *s, &[a, length])?);
                }
                self.set_data(i.id, i.ty, data)
            }
            G::Cross => {
                let operands = self.same_floats(i, 2)?;
                let (s, a) = &operands[0];
                let b = &operands[1].1;
                if a.len() != 3 {
                    return Err(self.fail("expected three components"));
                }
                let mut data = vec![];
                for (x, y) in [(1, 2), (2, 0), (0, 1)] {
                    let p = self.flt(Op::FMul, *s, &[a[x], b[y]])?;
                    let q = self.flt(Op::FMul, *s, &[a[y], b[x]])?;
                    data.push(self.flt(Op::FSub, *s, &[p, q])?);
                }
                self.set_data(i.id, i.ty, data)
            }
            G::FaceForward => {
                let operands = self.same_floats(i, 3)?;
                let s = operands[0].0;
                let along = self.dot(s, &operands[2].1, &operands[1].1)?;
                let zero = self.float_of(s, 0.0);
                let keep = self.flt(Op::FLt, s, &[along, zero])?;
                let mut data = vec![];
                for &n in &operands[0].1 {
                    let opposite = self.negate(s, n)?;
                    data.push(self.select(s.width(), keep, n, opposite)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            G::Reflect => {
                let operands = self.same_floats(i, 2)?;
                let s = operands[0].0;
                let along = self.dot(s, &operands[1].1, &operands[0].1)?;
                let two = self.float_of(s, 2.0);
                let twice = self.flt(Op::FMul, s, &[two, along])?;
                let mut data = vec![];
                for (&v, &n) in operands[0].1.iter().zip(&operands[1].1) {
                    let back = self.flt(Op::FMul, s, &[twice, n])?;
                    data.push(self.flt(Op::FSub, s, &[v, back])?);
                }
                self.set_data(i.id, i.ty, data)
            }
            G::Refract => self.refract(i),
            G::Determinant => {
                let (s, m, rows, columns) = self.matrix_operand(src.word(i, 2)?)?;
                if rows != columns {
                    return Err(self.fail("the matrix is not square"));
                }
                let r = self.determinant(s, &m, rows)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            G::MatrixInverse => {
                let (s, m, rows, columns) = self.matrix_operand(src.word(i, 2)?)?;
                if rows != columns {
                    return Err(self.fail("the matrix is not square"));
                }
                let whole = self.determinant(s, &m, rows)?;
                let mut data = vec![];
                for column in 0..rows {
                    for row in 0..rows {
                        // The transposed cofactor.
                        let minor = minor(&m, rows, row, column);
                        let mut r = self.determinant(s, &minor, rows - 1)?;
                        if (row + column) % 2 == 1 {
                            r = self.negate(s, r)?;
                        }
                        data.push(self.flt(Op::FDiv, s, &[r, whole])?);
                    }
                }
                self.set_data(i.id, i.ty, data)
            }
            _ => Err(self.fail("is not supported")),
        }
    }

    fn same_floats(&self, i: &SourceInst, count: usize) -> Result<Vec<(Scalar, Vec<Reg>)>, ExecuteError> {
        let operands = self.glsl_operands(i, count)?;
        if operands.iter().any(|o| o.0 != operands[0].0) {
            return Err(self.fail("its operands have different types"));
        }
        Ok(operands)
    }

    fn of_bits(&self, operand: &(Scalar, Vec<Reg>), bits: u32, count: usize) -> Result<Vec<Reg>, ExecuteError> {
        if operand.0.bits() != bits || operand.1.len() != count {
            return Err(self.fail(&format!("expected {count} components of {bits} bits")));
        }
        Ok(operand.1.clone())
    }

    fn glsl_pack(&mut self, i: &SourceInst, bits: u32, signed: bool) -> Result<(), ExecuteError> {
        let operands = self.glsl_operands(i, 1)?;
        let data = self.of_bits(&operands[0], 32, (32 / bits) as usize)?;
        let mut parts = vec![];
        for r in data {
            parts.push(self.op_k(Op::PackNorm, 1, &[r], bits, u8::from(signed))?);
        }
        let data = self.bitcast(bits, 32, &parts)?;
        self.set_data(i.id, i.ty, data)
    }

    fn glsl_unpack(&mut self, i: &SourceInst, bits: u32, signed: bool) -> Result<(), ExecuteError> {
        let operands = self.glsl_operands(i, 1)?;
        let data = self.of_bits(&operands[0], 32, 1)?;
        let mut out = vec![];
        for r in self.bitcast(32, bits, &data)? {
            out.push(self.op_k(Op::UnpackNorm, 1, &[r], bits, u8::from(signed))?);
        }
        self.set_data(i.id, i.ty, out)
    }

    /// Modf and Frexp: the second result goes into a struct or to a pointer.
    fn glsl_parts(&mut self, i: &SourceInst, op: G) -> Result<(), ExecuteError> {
        let (s, data) = self.vector_operand(self.src.word(i, 2)?)?;
        let (mut first, mut second) = (vec![], vec![]);
        let is_modf = matches!(op, G::Modf | G::ModfStruct);
        for &r in data.iter() {
            if is_modf {
                first.push(self.flt(Op::ModfFract, s, &[r])?);
                second.push(self.flt(Op::Trunc, s, &[r])?);
            } else {
                first.push(self.flt(Op::FrexpMant, s, &[r])?);
                second.push(self.flt(Op::FrexpExp, s, &[r])?);
            }
        }
        if matches!(op, G::Modf | G::Frexp) {
            let p: std::rc::Rc<Ptr> = self.ptr(self.src.word(i, 3)?)?;
            self.store(&p, &second)?;
        } else {
            first.extend(second);
        }
        self.set_data(i.id, i.ty, first)
    }

    fn refract(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let operands = self.same_floats(i, 2)?;
        let (e, eta) = self.scalar(self.src.word(i, 4)?)?;
        let (s, v) = &operands[0];
        let (s, n) = (*s, &operands[1].1);
        if e != s {
            return Err(self.fail("its operands have different types"));
        }
        let (zero, one) = (self.float_of(s, 0.0), self.float_of(s, 1.0));
        let along = self.dot(s, n, v)?;
        // k = 1 - eta * eta * (1 - along * along)
        let square = self.flt(Op::FMul, s, &[along, along])?;
        let rest = self.flt(Op::FSub, s, &[one, square])?;
        let eta2 = self.flt(Op::FMul, s, &[eta, eta])?;
        let product = self.flt(Op::FMul, s, &[eta2, rest])?;
        let k = self.flt(Op::FSub, s, &[one, product])?;
        let total = self.flt(Op::FLt, s, &[k, zero])?;
        // The root is not taken where the result is zero.
        let safe = self.select(s.width(), total, zero, k)?;
        let root = self.flt(Op::Sqrt, s, &[safe])?;
        let scaled = self.flt(Op::FMul, s, &[eta, along])?;
        let back = self.flt(Op::FAdd, s, &[scaled, root])?;
        let mut data = vec![];
        for (&v, &n) in v.iter().zip(n) {
            let a = self.flt(Op::FMul, s, &[eta, v])?;
            let b = self.flt(Op::FMul, s, &[back, n])?;
            let r = self.flt(Op::FSub, s, &[a, b])?;
            data.push(self.select(s.width(), total, zero, r)?);
        }
        self.set_data(i.id, i.ty, data)
    }

    /// Expanded along the first column.
    fn determinant(&mut self, s: Scalar, m: &[Reg], n: usize) -> Result<Reg, ExecuteError> {
        if n == 1 {
            return Ok(m[0]);
        }
        let mut sum = None;
        for row in 0..n {
            let minor = minor(m, n, 0, row);
            let part = self.determinant(s, &minor, n - 1)?;
            let part = self.flt(Op::FMul, s, &[m[row], part])?;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.flt(if row % 2 == 1 { Op::FSub } else { Op::FAdd }, s, &[sum, part])?,
            });
        }
        sum.ok_or_else(|| self.fail("the matrix is empty"))
    }
}

/// The matrix, by columns, without a column and a row.
fn minor(m: &[Reg], n: usize, column: usize, row: usize) -> Vec<Reg> {
    let inside = |at: &usize| at / n != column && at % n != row;
    (0..n * n).filter(inside).map(|at| m[at]).collect()
}
