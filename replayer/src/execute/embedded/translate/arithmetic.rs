//! Arithmetic on scalars of all widths, expressed by the operations on registers.

use super::Translator;
use super::types::Scalar;
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Op, Reg};

/// The same operation on 64 bits.
fn on_64(op: Op) -> Option<Op> {
    Some(match op {
        Op::And | Op::Or | Op::Xor | Op::Not | Op::Select | Op::Mov => op,
        Op::Add => Op::Add64,
        Op::Sub => Op::Sub64,
        Op::Mul => Op::Mul64,
        Op::MulHiU => Op::MulHiU64,
        Op::MulHiS => Op::MulHiS64,
        Op::UDiv => Op::UDiv64,
        Op::SDiv => Op::SDiv64,
        Op::UMod => Op::UMod64,
        Op::SRem => Op::SRem64,
        Op::SMod => Op::SMod64,
        Op::Shl => Op::Shl64,
        Op::Shr => Op::Shr64,
        Op::Sar => Op::Sar64,
        Op::Eq => Op::Eq64,
        Op::Ne => Op::Ne64,
        Op::Ult => Op::Ult64,
        Op::Ule => Op::Ule64,
        Op::Slt => Op::Slt64,
        Op::Sle => Op::Sle64,
        Op::Carry => Op::Carry64,
        Op::Borrow => Op::Borrow64,
        Op::FAdd => Op::FAdd64,
        Op::FSub => Op::FSub64,
        Op::FMul => Op::FMul64,
        Op::FDiv => Op::FDiv64,
        Op::FRem => Op::FRem64,
        Op::FMod => Op::FMod64,
        Op::FEq => Op::FEq64,
        Op::FNe => Op::FNe64,
        Op::FLt => Op::FLt64,
        Op::FLe => Op::FLe64,
        Op::FMin => Op::FMin64,
        Op::FMax => Op::FMax64,
        Op::NMin => Op::NMin64,
        Op::NMax => Op::NMax64,
        Op::Fma => Op::Fma64,
        Op::Sqrt => Op::Sqrt64,
        Op::Floor => Op::Floor64,
        Op::Ceil => Op::Ceil64,
        Op::Trunc => Op::Trunc64,
        Op::RoundEven => Op::RoundEven64,
        Op::Round => Op::Round64,
        Op::FSign => Op::FSign64,
        Op::IsNan => Op::IsNan64,
        Op::IsInf => Op::IsInf64,
        Op::Ldexp => Op::Ldexp64,
        Op::FrexpMant => Op::FrexpMant64,
        Op::FrexpExp => Op::FrexpExp64,
        Op::ModfFract => Op::ModfFract64,
        _ => return None,
    })
}

/// Operations whose result is a bool (or, of FrexpExp, an integer) whatever their operands are.
fn gives_one_slot(op: Op) -> bool {
    matches!(
        op,
        Op::Eq
            | Op::Ne
            | Op::Ult
            | Op::Ule
            | Op::Slt
            | Op::Sle
            | Op::FEq
            | Op::FNe
            | Op::FLt
            | Op::FLe
            | Op::IsNan
            | Op::IsInf
            | Op::FrexpExp
    )
}

/// Operations that take their operands as signed.
fn is_signed(op: Op) -> bool {
    matches!(op, Op::SDiv | Op::SRem | Op::SMod | Op::Sar | Op::Slt | Op::Sle | Op::SMin | Op::SMax | Op::MulHiS)
}

impl Translator<'_> {
    pub(super) fn needs_int(&self, s: Scalar) -> Result<u32, ExecuteError> {
        match s {
            Scalar::Int { bits, .. } => Ok(bits.into()),
            _ => Err(self.fail("expected integers")),
        }
    }

    pub(super) fn needs_float(&self, s: Scalar) -> Result<u32, ExecuteError> {
        match s {
            Scalar::Float { bits } => Ok(bits.into()),
            _ => Err(self.fail("expected floats")),
        }
    }

    pub(super) fn unsupported_width(&self, bits: u32) -> ExecuteError {
        self.fail(&format!("is not supported on {bits} bits"))
    }

    /// Zeroes the bits above a narrow integer.
    pub(super) fn trim(&mut self, r: Reg, bits: u32) -> Result<Reg, ExecuteError> {
        if bits >= 32 {
            return Ok(r);
        }
        let mask = self.word((1 << bits) - 1);
        self.op(Op::And, 1, &[r, mask], 0)
    }

    /// Sign-extends a narrow integer to 32 bits.
    pub(super) fn extend(&mut self, r: Reg, bits: u32) -> Result<Reg, ExecuteError> {
        if bits >= 32 { Ok(r) } else { self.op(Op::SExt, 1, &[r], bits) }
    }

    /// An integer operation on any width, named by the one on 32 bits.
    pub(super) fn int(&mut self, op: Op, s: Scalar, args: &[Reg]) -> Result<Reg, ExecuteError> {
        let bits = self.needs_int(s)?;
        if bits == 64 {
            let w = if gives_one_slot(op) { 1 } else { 2 };
            let op = on_64(op).ok_or_else(|| self.unsupported_width(64))?;
            return self.op(op, w, args, 64);
        }
        if bits == 32 {
            return self.op(op, 1, args, 32);
        }
        let mut wide = args.to_vec();
        if is_signed(op) {
            for (n, r) in wide.iter_mut().enumerate() {
                // The amount of a shift is not signed.
                if !(op == Op::Sar && n == 1) {
                    *r = self.extend(*r, bits)?;
                }
            }
        }
        let r = match op {
            Op::MulHiU | Op::MulHiS => {
                // The product fits 32 bits.
                let product = self.op(Op::Mul, 1, &wide, 32)?;
                let by = self.word(bits);
                self.op(Op::Shr, 1, &[product, by], 32)?
            }
            Op::Carry => {
                let sum = self.op(Op::Add, 1, &wide, 32)?;
                let by = self.word(bits);
                self.op(Op::Shr, 1, &[sum, by], 32)?
            }
            _ => self.op(op, 1, &wide, bits)?,
        };
        if gives_one_slot(op) { Ok(r) } else { self.trim(r, bits) }
    }

    /// A float operation on any width, named by the one on 32 bits.
    pub(super) fn flt(&mut self, op: Op, s: Scalar, args: &[Reg]) -> Result<Reg, ExecuteError> {
        match self.needs_float(s)? {
            64 => {
                let w = if gives_one_slot(op) { 1 } else { 2 };
                match op {
                    Op::FClamp => {
                        let low = self.op(Op::FMax64, 2, &args[..2], 0)?;
                        self.op(Op::FMin64, 2, &[low, args[2]], 0)
                    }
                    Op::NClamp => {
                        let low = self.op(Op::NMax64, 2, &args[..2], 0)?;
                        self.op(Op::NMin64, 2, &[low, args[2]], 0)
                    }
                    _ => {
                        let op = on_64(op).ok_or_else(|| self.unsupported_width(64))?;
                        self.op(op, w, args, 0)
                    }
                }
            }
            32 => self.op(op, 1, args, 0),
            bits => {
                // 24 bits are more than twice a half's 11, so that the second rounding changes nothing.
                let mut wide = vec![];
                for (n, &r) in args.iter().enumerate() {
                    let is_exponent = op == Op::Ldexp && n == 1;
                    wide.push(if is_exponent { r } else { self.op(Op::F16ToF, 1, &[r], 0)? });
                }
                if op == Op::Fma {
                    // A double holds a half's products exactly, and all but the widest sums.
                    for r in &mut wide {
                        *r = self.op(Op::FToF64, 2, &[*r], 0)?;
                    }
                    let sum = self.op(Op::Fma64, 2, &wide, 0)?;
                    return self.op(Op::F64ToF16, 1, &[sum], 0);
                }
                let r = self.op(op, 1, &wide, 0)?;
                if bits != 16 || gives_one_slot(op) { Ok(r) } else { self.op(Op::FToF16, 1, &[r], 0) }
            }
        }
    }

    /// A function that is only there for 16 and 32 bits, with its number.
    pub(super) fn math(&mut self, op: Op, s: Scalar, args: &[Reg], number: u32) -> Result<Reg, ExecuteError> {
        match self.needs_float(s)? {
            32 => self.op(op, 1, args, number),
            16 => {
                let mut wide = vec![];
                for &r in args {
                    wide.push(self.op(Op::F16ToF, 1, &[r], 0)?);
                }
                let r = self.op(op, 1, &wide, number)?;
                self.op(Op::FToF16, 1, &[r], 0)
            }
            bits => Err(self.unsupported_width(bits)),
        }
    }

    /// A float constant of any width.
    pub(super) fn float_of(&mut self, s: Scalar, value: f64) -> Reg {
        match s.bits() {
            64 => self.double(value),
            16 => self.word(crate::execute::embedded::half::from_f64(value)),
            _ => self.float(value as f32),
        }
    }

    /// An integer constant of any width.
    pub(super) fn int_of(&mut self, s: Scalar, value: i64) -> Reg {
        let bits = s.bits();
        self.constant(value as u64 & (u64::MAX >> (64 - bits)), s.width())
    }

    pub(super) fn negate(&mut self, s: Scalar, r: Reg) -> Result<Reg, ExecuteError> {
        let sign = self.constant(1 << (self.needs_float(s)? - 1), s.width());
        self.op(Op::Xor, s.width(), &[r, sign], 0)
    }

    pub(super) fn absolute(&mut self, s: Scalar, r: Reg) -> Result<Reg, ExecuteError> {
        let mask = self.constant((1 << (self.needs_float(s)? - 1)) - 1, s.width());
        self.op(Op::And, s.width(), &[r, mask], 0)
    }

    pub(super) fn not(&mut self, r: Reg) -> Result<Reg, ExecuteError> {
        self.op(Op::Not, 1, &[r], 0)
    }

    pub(super) fn select(&mut self, width: u8, cond: Reg, yes: Reg, no: Reg) -> Result<Reg, ExecuteError> {
        self.op(Op::Select, width, &[cond, yes, no], 0)
    }

    /// A shift; the amount may have another width than what is shifted.
    pub(super) fn shift(&mut self, op: Op, s: Scalar, base: Reg, by: Scalar, amount: Reg) -> Result<Reg, ExecuteError> {
        let (bits, by_bits) = (self.needs_int(s)?, self.needs_int(by)?);
        let amount = match (bits, by_bits) {
            (64, 64) => amount,
            (64, _) => {
                let zero = self.word(0);
                self.op(Op::Make64, 2, &[amount, zero], 0)?
            }
            (_, 64) => {
                // High bits only matter for being too wide.
                let low = self.op(Op::Lo64, 1, &[amount], 0)?;
                let high = self.op(Op::Hi64, 1, &[amount], 0)?;
                let (zero, top) = (self.word(0), self.word(1 << 31));
                let beyond = self.op(Op::Ne, 1, &[high, zero], 0)?;
                let beyond = self.op(Op::And, 1, &[beyond, top], 0)?;
                self.op(Op::Or, 1, &[low, beyond], 0)?
            }
            _ => amount,
        };
        self.int(op, s, &[base, amount])
    }

    /// OpUConvert.
    pub(super) fn u_convert(&mut self, from: u32, to: u32, r: Reg) -> Result<Reg, ExecuteError> {
        match (from, to) {
            (64, 64) => Ok(r),
            (64, _) => {
                let low = self.op(Op::Lo64, 1, &[r], 0)?;
                self.trim(low, to)
            }
            (_, 64) => {
                let zero = self.word(0);
                self.op(Op::Make64, 2, &[r, zero], 0)
            }
            _ if to < from => self.trim(r, to),
            _ => Ok(r),
        }
    }

    /// OpSConvert.
    pub(super) fn s_convert(&mut self, from: u32, to: u32, r: Reg) -> Result<Reg, ExecuteError> {
        if from == 64 || to < from {
            return self.u_convert(from, to, r);
        }
        let r = self.extend(r, from)?;
        if to == 64 { self.widen_signed(r) } else { self.trim(r, to) }
    }

    fn widen_signed(&mut self, r: Reg) -> Result<Reg, ExecuteError> {
        let by = self.word(31);
        let high = self.op(Op::Sar, 1, &[r, by], 32)?;
        self.op(Op::Make64, 2, &[r, high], 0)
    }

    /// OpFConvert.
    pub(super) fn f_convert(&mut self, from: u32, to: u32, r: Reg) -> Result<Reg, ExecuteError> {
        match (from, to) {
            (16, 32) => self.op(Op::F16ToF, 1, &[r], 0),
            (16, 64) => {
                let r = self.op(Op::F16ToF, 1, &[r], 0)?;
                self.op(Op::FToF64, 2, &[r], 0)
            }
            (32, 16) => self.op(Op::FToF16, 1, &[r], 0),
            (32, 64) => self.op(Op::FToF64, 2, &[r], 0),
            (64, 16) => self.op(Op::F64ToF16, 1, &[r], 0),
            (64, 32) => self.op(Op::F64ToF, 1, &[r], 0),
            _ => Ok(r),
        }
    }

    /// OpConvertFToU and OpConvertFToS.
    pub(super) fn float_to_int(&mut self, from: u32, to: u32, signed: bool, r: Reg) -> Result<Reg, ExecuteError> {
        let (r, from) = if from == 16 { (self.op(Op::F16ToF, 1, &[r], 0)?, 32) } else { (r, from) };
        let (op, w) = match (from, to, signed) {
            (32, 64, false) => (Op::FToU64, 2),
            (32, 64, true) => (Op::FToS64, 2),
            (32, _, false) => (Op::FToU, 1),
            (32, _, true) => (Op::FToS, 1),
            (_, 64, false) => (Op::F64ToU64, 2),
            (_, 64, true) => (Op::F64ToS64, 2),
            (_, _, false) => (Op::F64ToU, 1),
            (_, _, true) => (Op::F64ToS, 1),
        };
        self.op(op, w, &[r], to)
    }

    /// OpConvertUToF and OpConvertSToF.
    pub(super) fn int_to_float(&mut self, from: u32, to: u32, signed: bool, r: Reg) -> Result<Reg, ExecuteError> {
        let r = if signed { self.extend(r, from)? } else { r };
        let (op, w) = match (from, to, signed) {
            (64, 64, false) => (Op::U64ToF64, 2),
            (64, 64, true) => (Op::S64ToF64, 2),
            (64, _, false) => (Op::U64ToF, 1),
            (64, _, true) => (Op::S64ToF, 1),
            (_, 64, false) => (Op::UToF64, 2),
            (_, 64, true) => (Op::SToF64, 2),
            (_, _, false) => (Op::UToF, 1),
            (_, _, true) => (Op::SToF, 1),
        };
        let r = self.op(op, w, &[r], 0)?;
        // What a float does not hold exactly is infinite as a half, so that rounding twice changes nothing.
        if to == 16 { self.op(Op::FToF16, 1, &[r], 0) } else { Ok(r) }
    }

    /// OpBitcast between numbers: the parts of the one are joined or split into those of the other, low bits first.
    pub(super) fn bitcast(&mut self, from: u32, to: u32, data: &[Reg]) -> Result<Vec<Reg>, ExecuteError> {
        let unit = from.min(to);
        let mut units = vec![];
        for &r in data {
            let words = if from == 64 && unit < 64 {
                vec![self.op(Op::Lo64, 1, &[r], 0)?, self.op(Op::Hi64, 1, &[r], 0)?]
            } else {
                vec![r]
            };
            for word in words {
                if unit >= from.min(32) {
                    units.push(word);
                    continue;
                }
                for n in 0..from.min(32) / unit {
                    let by = self.word(n * unit);
                    let part = self.op(Op::Shr, 1, &[word, by], 32)?;
                    units.push(self.trim(part, unit)?);
                }
            }
        }
        let mut out = vec![];
        for group in units.chunks((to / unit) as usize) {
            if unit == to {
                out.push(group[0]);
                continue;
            }
            let mut words = vec![];
            for part in group.chunks((to.min(32) / unit) as usize) {
                let mut word = part[0];
                for (n, &r) in part.iter().enumerate().skip(1) {
                    let by = self.word(n as u32 * unit);
                    let up = self.op(Op::Shl, 1, &[r, by], 32)?;
                    word = self.op(Op::Or, 1, &[word, up], 0)?;
                }
                words.push(word);
            }
            out.push(match words[..] {
                [low, high] => self.op(Op::Make64, 2, &[low, high], 0)?,
                _ => words[0],
            });
        }
        Ok(out)
    }

    /// Sum of products, from the first to the last.
    pub(super) fn dot(&mut self, s: Scalar, a: &[Reg], b: &[Reg]) -> Result<Reg, ExecuteError> {
        let mut sum = None;
        for (&a, &b) in a.iter().zip(b) {
            let product = self.flt(Op::FMul, s, &[a, b])?;
            sum = Some(match sum {
                Some(sum) => self.flt(Op::FAdd, s, &[sum, product])?,
                None => product,
            });
        }
        sum.ok_or_else(|| self.fail("a product of nothing"))
    }

    /// Root of the sum of squares.
    pub(super) fn length(&mut self, s: Scalar, a: &[Reg]) -> Result<Reg, ExecuteError> {
        if let &[r] = a {
            return self.absolute(s, r);
        }
        let square = self.dot(s, a, a)?;
        self.flt(Op::Sqrt, s, &[square])
    }
}
