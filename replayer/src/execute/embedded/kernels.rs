//! The arithmetic, block by block: each kernel's loop over the lanes is compiled for the widest vectors that the CPU has.
//!
//! Floats are IEEE 754: each operation rounds to nearest even, nothing is contracted, subnormals are kept.

use super::half;
use super::ir::{Inst, LANES, Lanes, Mask, Math, NONE, Op, POISON};
use super::report::Choice;

/// What kernels cannot do alone.
pub(super) trait Env {
    /// Executes an instruction that touches memory or resources.
    fn effect(&mut self, inst: &Inst, regs: &mut [Lanes], mask: &Mask);
    /// Notes that the instruction depended on a choice in these lanes.
    fn note(&mut self, choice: Choice, src: u32, lanes: u64);
}

/// Runs instructions one after the other for the lanes of the mask.
pub(super) fn run(arch: pulp::Arch, insts: &[Inst], regs: &mut [Lanes], mask: &Mask, env: &mut dyn Env) {
    arch.dispatch(Run { insts, regs, mask, env });
}

/// A closure would not do: it is compiled for the vectors that every CPU has, and called from where there are wider ones.
struct Run<'a> {
    insts: &'a [Inst],
    regs: &'a mut [Lanes],
    mask: &'a Mask,
    env: &'a mut dyn Env,
}

impl pulp::WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for inst in self.insts {
            step(inst, self.regs, self.mask, self.env);
        }
    }
}

#[inline(always)]
fn put(regs: &mut [Lanes], i: &Inst, slot: u32, mask: &Mask, t: &Lanes) {
    let dst = &mut regs[(i.dst + slot) as usize];
    if i.masked && !mask.is_full() {
        for l in 0..LANES {
            dst[l] = (t[l] & mask.lanes[l]) | (dst[l] & !mask.lanes[l]);
        }
    } else {
        *dst = *t;
    }
}

#[inline(always)]
fn un(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u32) -> u32) {
    let mut t = [0; LANES];
    let a = &regs[i.a as usize];
    for l in 0..LANES {
        t[l] = f(a[l]);
    }
    put(regs, i, 0, m, &t);
}

#[inline(always)]
fn bin(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u32, u32) -> u32) {
    let mut t = [0; LANES];
    let a = &regs[i.a as usize];
    let b = &regs[i.b as usize];
    for l in 0..LANES {
        t[l] = f(a[l], b[l]);
    }
    put(regs, i, 0, m, &t);
}

#[inline(always)]
fn tri(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u32, u32, u32) -> u32) {
    let mut t = [0; LANES];
    let a = &regs[i.a as usize];
    let b = &regs[i.b as usize];
    let c = &regs[i.c as usize];
    for l in 0..LANES {
        t[l] = f(a[l], b[l], c[l]);
    }
    put(regs, i, 0, m, &t);
}

#[inline(always)]
fn fun(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f32) -> f32) {
    un(regs, i, m, |a| f(f32::from_bits(a)).to_bits());
}

#[inline(always)]
fn fbin(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f32, f32) -> f32) {
    bin(regs, i, m, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

#[inline(always)]
fn fcmp(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f32, f32) -> bool) {
    bin(regs, i, m, |a, b| flag(f(f32::from_bits(a), f32::from_bits(b))));
}

#[inline(always)]
fn flag(b: bool) -> u32 {
    0u32.wrapping_sub(u32::from(b))
}

#[inline(always)]
fn wide(regs: &[Lanes], r: u32, l: usize) -> u64 {
    u64::from(regs[r as usize][l]) | u64::from(regs[r as usize + 1][l]) << 32
}

#[inline(always)]
fn read64(regs: &[Lanes], r: u32) -> [u64; LANES] {
    let mut t = [0; LANES];
    let lo = &regs[r as usize];
    let hi = &regs[r as usize + 1];
    for l in 0..LANES {
        t[l] = u64::from(lo[l]) | u64::from(hi[l]) << 32;
    }
    t
}

#[inline(always)]
fn put64(regs: &mut [Lanes], i: &Inst, m: &Mask, t: &[u64; LANES]) {
    let mut lo = [0; LANES];
    let mut hi = [0; LANES];
    for l in 0..LANES {
        lo[l] = t[l] as u32;
        hi[l] = (t[l] >> 32) as u32;
    }
    put(regs, i, 0, m, &lo);
    put(regs, i, 1, m, &hi);
}

#[inline(always)]
fn un64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u64) -> u64) {
    let mut a = read64(regs, i.a);
    for v in &mut a {
        *v = f(*v);
    }
    put64(regs, i, m, &a);
}

#[inline(always)]
fn bin64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u64, u64) -> u64) {
    let mut a = read64(regs, i.a);
    let b = read64(regs, i.b);
    for l in 0..LANES {
        a[l] = f(a[l], b[l]);
    }
    put64(regs, i, m, &a);
}

#[inline(always)]
fn cmp64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u64, u64) -> bool) {
    let a = read64(regs, i.a);
    let b = read64(regs, i.b);
    let mut t = [0; LANES];
    for l in 0..LANES {
        t[l] = flag(f(a[l], b[l]));
    }
    put(regs, i, 0, m, &t);
}

#[inline(always)]
fn fun64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f64) -> f64) {
    un64(regs, i, m, |a| f(f64::from_bits(a)).to_bits());
}

#[inline(always)]
fn fbin64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f64, f64) -> f64) {
    bin64(regs, i, m, |a, b| f(f64::from_bits(a), f64::from_bits(b)).to_bits());
}

#[inline(always)]
fn fcmp64(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(f64, f64) -> bool) {
    cmp64(regs, i, m, |a, b| f(f64::from_bits(a), f64::from_bits(b)));
}

/// From a 64-bit operand to a 32-bit result.
#[inline(always)]
fn narrow(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u64) -> u32) {
    let a = read64(regs, i.a);
    let mut t = [0; LANES];
    for l in 0..LANES {
        t[l] = f(a[l]);
    }
    put(regs, i, 0, m, &t);
}

/// From a 32-bit operand to a 64-bit result.
#[inline(always)]
fn widen(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u32) -> u64) {
    let a = &regs[i.a as usize];
    let mut t = [0; LANES];
    for l in 0..LANES {
        t[l] = f(a[l]);
    }
    put64(regs, i, m, &t);
}

/// Notes a choice for the lanes in which the predicate holds. The first loop finds whether there is any, in vectors.
#[inline(always)]
fn check(i: &Inst, m: &Mask, env: &mut dyn Env, choice: Choice, bad: impl Fn(usize) -> bool) {
    let mut any = 0;
    for l in 0..LANES {
        any |= flag(bad(l));
    }
    if any != 0 {
        let mut bits = 0;
        for l in 0..LANES {
            bits |= u64::from(bad(l)) << l;
        }
        if bits & m.bits != 0 {
            env.note(choice, i.src, bits & m.bits);
        }
    }
}

#[inline(always)]
fn f(regs: &[Lanes], r: u32, l: usize) -> f32 {
    f32::from_bits(regs[r as usize][l])
}

#[inline(always)]
fn d(regs: &[Lanes], r: u32, l: usize) -> f64 {
    f64::from_bits(wide(regs, r, l))
}

/// Minimum in which a NaN loses and -0 is less than +0.
#[inline(always)]
pub(super) fn n_min(a: f32, b: f32) -> f32 {
    let least = if a == b { f32::from_bits(a.to_bits() | b.to_bits()) } else { a };
    if b < a || a.is_nan() { b } else { least }
}

/// Maximum in which a NaN loses and +0 is more than -0.
#[inline(always)]
pub(super) fn n_max(a: f32, b: f32) -> f32 {
    let most = if a == b { f32::from_bits(a.to_bits() & b.to_bits()) } else { a };
    if b > a || a.is_nan() { b } else { most }
}

#[inline(always)]
fn n_min64(a: f64, b: f64) -> f64 {
    let least = if a == b { f64::from_bits(a.to_bits() | b.to_bits()) } else { a };
    if b < a || a.is_nan() { b } else { least }
}

#[inline(always)]
fn n_max64(a: f64, b: f64) -> f64 {
    let most = if a == b { f64::from_bits(a.to_bits() & b.to_bits()) } else { a };
    if b > a || a.is_nan() { b } else { most }
}

#[inline(always)]
fn check_min_max(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes]) {
    check(i, m, env, Choice::NanInMinMax, |l| f(regs, i.a, l).is_nan() | f(regs, i.b, l).is_nan());
    check(i, m, env, Choice::ZerosInMinMax, |l| {
        let (a, b) = (regs[i.a as usize][l], regs[i.b as usize][l]);
        ((a | b) << 1 == 0) & (a != b)
    });
}

#[inline(always)]
fn check_min_max64(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes]) {
    check(i, m, env, Choice::NanInMinMax, |l| d(regs, i.a, l).is_nan() | d(regs, i.b, l).is_nan());
    check(i, m, env, Choice::ZerosInMinMax, |l| {
        let (a, b) = (wide(regs, i.a, l), wide(regs, i.b, l));
        ((a | b) << 1 == 0) & (a != b)
    });
}

fn math(func: u32, x: f32) -> f32 {
    let x = f64::from(x);
    let Some(func) = Math::ALL.get(func as usize) else { return f32::NAN };
    let y = match func {
        Math::Sin => libm::sin(x),
        Math::Cos => libm::cos(x),
        Math::Tan => libm::tan(x),
        Math::Asin => libm::asin(x),
        Math::Acos => libm::acos(x),
        Math::Atan => libm::atan(x),
        Math::Sinh => libm::sinh(x),
        Math::Cosh => libm::cosh(x),
        Math::Tanh => libm::tanh(x),
        Math::Asinh => libm::asinh(x),
        Math::Acosh => libm::acosh(x),
        Math::Atanh => libm::atanh(x),
        Math::Exp => libm::exp(x),
        Math::Log => libm::log(x),
        Math::Exp2 => libm::exp2(x),
        Math::Log2 => libm::log2(x),
        Math::InverseSqrt => 1.0 / x.sqrt(),
    };
    y as f32
}

/// Whether the result of the function is undefined at `x`.
#[inline(always)]
fn out_of_domain(func: u32, x: f32) -> bool {
    let is = |m: Math| m as u32 == func;
    if is(Math::Asin) || is(Math::Acos) {
        x.abs() > 1.0
    } else if is(Math::Acosh) {
        x < 1.0
    } else if is(Math::Atanh) {
        x.abs() >= 1.0
    } else if is(Math::Log) || is(Math::Log2) || is(Math::InverseSqrt) {
        x <= 0.0
    } else {
        false
    }
}

/// `x * 2^e`, rounded once.
fn ldexp(x: f64, e: i32) -> f64 {
    libm::ldexp(x, e)
}

#[inline(always)]
fn low_mask(bits: u32) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
fn limits(signed: bool, width: u32) -> (f64, f64) {
    match (signed, width) {
        (false, 8) => (0.0, 255.0),
        (false, 16) => (0.0, 65_535.0),
        (false, _) => (0.0, 4_294_967_295.0),
        (true, 8) => (-128.0, 127.0),
        (true, 16) => (-32_768.0, 32_767.0),
        (true, _) => (-2_147_483_648.0, 2_147_483_647.0),
    }
}

/// Notes NaNs and, with truncation towards zero, values out of range.
#[inline(always)]
fn check_to_int(i: &Inst, m: &Mask, env: &mut dyn Env, value: impl Fn(usize) -> f64, lo: f64, hi: f64) {
    // Beyond the limits by less than 1 still truncates to a limit; where 1 is less than a spacing of doubles, the limits
    // given are the first values that do not fit.
    check(i, m, env, Choice::NanToInteger, |l| value(l).is_nan());
    check(i, m, env, Choice::FloatOutOfRange, |l| (value(l) <= lo) | (value(l) >= hi));
}

/// The same for floats, where one comparison finds both in the common case.
#[inline(always)]
fn check_to_int32(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes], lo: f32, hi: f32) {
    let a = &regs[i.a as usize];
    let mut any = 0;
    for v in a {
        let v = f32::from_bits(*v);
        any |= !flag((v > lo) & (v < hi));
    }
    if any != 0 {
        check(i, m, env, Choice::NanToInteger, |l| f32::from_bits(a[l]).is_nan());
        check(i, m, env, Choice::FloatOutOfRange, |l| (f32::from_bits(a[l]) <= lo) | (f32::from_bits(a[l]) >= hi));
    }
}

#[inline(always)]
fn step(i: &Inst, regs: &mut [Lanes], m: &Mask, env: &mut dyn Env) {
    match i.op {
        Op::Mov => {
            if i.w == 2 {
                let t = regs[i.a as usize + 1];
                let s = regs[i.a as usize];
                put(regs, i, 0, m, &s);
                put(regs, i, 1, m, &t);
            } else {
                let t = regs[i.a as usize];
                put(regs, i, 0, m, &t);
            }
        }
        Op::And => slotwise(regs, i, m, |a, b| a & b),
        Op::Or => slotwise(regs, i, m, |a, b| a | b),
        Op::Xor => slotwise(regs, i, m, |a, b| a ^ b),
        Op::Not => {
            if i.w == 2 {
                un64(regs, i, m, |a| !a);
            } else {
                un(regs, i, m, |a| !a);
            }
        }
        Op::Select => {
            if i.w == 2 {
                let mut b = read64(regs, i.b);
                let c = read64(regs, i.c);
                let a = &regs[i.a as usize];
                for l in 0..LANES {
                    b[l] = if a[l] != 0 { b[l] } else { c[l] };
                }
                put64(regs, i, m, &b);
            } else {
                tri(regs, i, m, |a, b, c| if a != 0 { b } else { c });
            }
        }
        Op::Add => bin(regs, i, m, u32::wrapping_add),
        Op::Sub => bin(regs, i, m, u32::wrapping_sub),
        Op::Mul => bin(regs, i, m, u32::wrapping_mul),
        Op::MulHiU => bin(regs, i, m, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        Op::MulHiS => bin(regs, i, m, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
        Op::UDiv => {
            check(i, m, env, Choice::DivisionByZero, |l| regs[i.b as usize][l] == 0);
            bin(regs, i, m, |a, b| a.checked_div(b).unwrap_or(u32::MAX));
        }
        Op::UMod => {
            check(i, m, env, Choice::DivisionByZero, |l| regs[i.b as usize][l] == 0);
            bin(regs, i, m, |a, b| a.checked_rem(b).unwrap_or(u32::MAX));
        }
        Op::SDiv => signed_division(regs, i, m, env, i32::wrapping_div),
        Op::SRem => {
            check_remainder(i, m, env, regs);
            signed_division(regs, i, m, env, i32::wrapping_rem);
        }
        Op::SMod => {
            check_remainder(i, m, env, regs);
            signed_division(regs, i, m, env, |a, b| {
                let r = a.wrapping_rem(b);
                if r != 0 && (r < 0) != (b < 0) { r.wrapping_add(b) } else { r }
            });
        }
        Op::Shl => {
            check(i, m, env, Choice::ShiftTooWide, |l| regs[i.b as usize][l] >= i.imm);
            bin(regs, i, m, |a, b| a << (b & (i.imm - 1) & 31));
        }
        Op::Shr => {
            check(i, m, env, Choice::ShiftTooWide, |l| regs[i.b as usize][l] >= i.imm);
            bin(regs, i, m, |a, b| a >> (b & (i.imm - 1) & 31));
        }
        Op::Sar => {
            check(i, m, env, Choice::ShiftTooWide, |l| regs[i.b as usize][l] >= i.imm);
            bin(regs, i, m, |a, b| ((a as i32) >> (b & (i.imm - 1) & 31)) as u32);
        }
        Op::Eq => bin(regs, i, m, |a, b| flag(a == b)),
        Op::Ne => bin(regs, i, m, |a, b| flag(a != b)),
        Op::Ult => bin(regs, i, m, |a, b| flag(a < b)),
        Op::Ule => bin(regs, i, m, |a, b| flag(a <= b)),
        Op::Slt => bin(regs, i, m, |a, b| flag((a as i32) < b as i32)),
        Op::Sle => bin(regs, i, m, |a, b| flag(a as i32 <= b as i32)),
        Op::UMin => bin(regs, i, m, u32::min),
        Op::UMax => bin(regs, i, m, u32::max),
        Op::SMin => bin(regs, i, m, |a, b| (a as i32).min(b as i32) as u32),
        Op::SMax => bin(regs, i, m, |a, b| (a as i32).max(b as i32) as u32),
        Op::UClamp => {
            check(i, m, env, Choice::ClampLimits, |l| regs[i.b as usize][l] > regs[i.c as usize][l]);
            tri(regs, i, m, |a, b, c| a.max(b).min(c));
        }
        Op::SClamp => {
            check(i, m, env, Choice::ClampLimits, |l| regs[i.b as usize][l] as i32 > regs[i.c as usize][l] as i32);
            tri(regs, i, m, |a, b, c| (a as i32).max(b as i32).min(c as i32) as u32);
        }
        Op::Carry => bin(regs, i, m, |a, b| u32::from(a.wrapping_add(b) < a)),
        Op::Borrow => bin(regs, i, m, |a, b| u32::from(a < b)),
        Op::BitCount => un(regs, i, m, u32::count_ones),
        Op::BitReverse => un(regs, i, m, u32::reverse_bits),
        Op::FindLsb => un(regs, i, m, |a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        Op::FindUMsb => un(regs, i, m, |a| 31u32.wrapping_sub(a.leading_zeros())),
        Op::FindSMsb => un(regs, i, m, |a| 31u32.wrapping_sub((a ^ ((a as i32) >> 31) as u32).leading_zeros())),
        Op::BitInsert => {
            let mut t = [0; LANES];
            check(i, m, env, Choice::BitFieldTooWide, |l| {
                u64::from(regs[i.c as usize][l]) + u64::from(regs[i.d as usize][l]) > 32
            });
            for l in 0..LANES {
                let (offset, count) = (regs[i.c as usize][l], regs[i.d as usize][l]);
                let bits = u64::from(low_mask(count)).checked_shl(offset).unwrap_or(0) as u32;
                let insert = u64::from(regs[i.b as usize][l]).checked_shl(offset).unwrap_or(0) as u32;
                t[l] = (regs[i.a as usize][l] & !bits) | (insert & bits);
            }
            put(regs, i, 0, m, &t);
        }
        Op::BitExtractU => {
            check_bit_extract(i, m, env, regs);
            tri(regs, i, m, |a, b, c| a.checked_shr(b).unwrap_or(0) & low_mask(c));
        }
        Op::BitExtractS => {
            check_bit_extract(i, m, env, regs);
            tri(regs, i, m, |a, b, c| {
                let v = a.checked_shr(b).unwrap_or(0) & low_mask(c);
                let up = 32u32.saturating_sub(c);
                if up >= 32 { 0 } else { (((v << up) as i32) >> up) as u32 }
            });
        }
        Op::SExt => un(regs, i, m, |a| (((a << (32 - i.imm)) as i32) >> (32 - i.imm)) as u32),
        Op::FAdd => fbin(regs, i, m, |a, b| a + b),
        Op::FSub => fbin(regs, i, m, |a, b| a - b),
        Op::FMul => fbin(regs, i, m, |a, b| a * b),
        Op::FDiv => fbin(regs, i, m, |a, b| a / b),
        Op::FRem => fbin(regs, i, m, |a, b| a - b * (a / b).trunc()),
        Op::FMod => fbin(regs, i, m, |a, b| a - b * (a / b).floor()),
        Op::FEq => fcmp(regs, i, m, |a, b| a == b),
        Op::FNe => fcmp(regs, i, m, |a, b| (a < b) | (a > b)),
        Op::FLt => fcmp(regs, i, m, |a, b| a < b),
        Op::FLe => fcmp(regs, i, m, |a, b| a <= b),
        Op::FMin => {
            check_min_max(i, m, env, regs);
            fbin(regs, i, m, n_min);
        }
        Op::FMax => {
            check_min_max(i, m, env, regs);
            fbin(regs, i, m, n_max);
        }
        Op::NMin => fbin(regs, i, m, n_min),
        Op::NMax => fbin(regs, i, m, n_max),
        Op::FClamp => {
            check(i, m, env, Choice::NanInMinMax, |l| {
                f(regs, i.a, l).is_nan() | f(regs, i.b, l).is_nan() | f(regs, i.c, l).is_nan()
            });
            check(i, m, env, Choice::ClampLimits, |l| f(regs, i.b, l) > f(regs, i.c, l));
            tri(regs, i, m, clamp);
        }
        Op::NClamp => {
            check(i, m, env, Choice::ClampLimits, |l| f(regs, i.b, l) > f(regs, i.c, l));
            tri(regs, i, m, clamp);
        }
        Op::Fma => {
            let mut t = [0; LANES];
            let mut twice = [0; LANES];
            for l in 0..LANES {
                let (a, b, c) = (f(regs, i.a, l), f(regs, i.b, l), f(regs, i.c, l));
                t[l] = a.mul_add(b, c).to_bits();
                twice[l] = (a * b + c).to_bits();
            }
            check(i, m, env, Choice::FusedRounding, |l| {
                (t[l] != twice[l]) & !(f32::from_bits(t[l]).is_nan() & f32::from_bits(twice[l]).is_nan())
            });
            put(regs, i, 0, m, &t);
        }
        Op::Sqrt => {
            check(i, m, env, Choice::OutOfDomain, |l| f(regs, i.a, l) < 0.0);
            fun(regs, i, m, |a| a.sqrt());
        }
        Op::Floor => fun(regs, i, m, |a| a.floor()),
        Op::Ceil => fun(regs, i, m, |a| a.ceil()),
        Op::Trunc => fun(regs, i, m, |a| a.trunc()),
        Op::RoundEven => fun(regs, i, m, |a| a.round_ties_even()),
        Op::Round => {
            check(i, m, env, Choice::RoundHalf, |l| (f(regs, i.a, l) - f(regs, i.a, l).trunc()).abs() == 0.5);
            fun(regs, i, m, |a| a.round_ties_even());
        }
        Op::FSign => fun(regs, i, m, |a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                a
            }
        }),
        Op::IsNan => un(regs, i, m, |a| flag(a & 0x7fff_ffff > 0x7f80_0000)),
        Op::IsInf => un(regs, i, m, |a| flag(a & 0x7fff_ffff == 0x7f80_0000)),
        Op::Ldexp => {
            // A double holds every product with a float's scale; beyond the clamp the result is zero or infinite anyway.
            bin(regs, i, m, |a, b| {
                let e = (b as i32).clamp(-400, 400);
                (ldexp(f64::from(f32::from_bits(a)), e) as f32).to_bits()
            });
        }
        Op::FrexpMant => fun(regs, i, m, |a| if a.is_finite() { libm::frexpf(a).0 } else { a }),
        Op::FrexpExp => un(regs, i, m, |a| {
            let a = f32::from_bits(a);
            if a.is_finite() { libm::frexpf(a).1 as u32 } else { 0 }
        }),
        Op::ModfFract => {
            fun(regs, i, m, |a| if a.is_infinite() { 0f32.copysign(a) } else { (a - a.trunc()).copysign(a) })
        }
        Op::Math => {
            check(i, m, env, Choice::OutOfDomain, |l| out_of_domain(i.imm, f(regs, i.a, l)));
            masked_lanes(regs, i, m, |r, l| math(i.imm, f(r, i.a, l)).to_bits());
        }
        Op::Atan2 => {
            check(i, m, env, Choice::OutOfDomain, |l| (f(regs, i.a, l) == 0.0) & (f(regs, i.b, l) == 0.0));
            masked_lanes(regs, i, m, |r, l| {
                (libm::atan2(f64::from(f(r, i.a, l)), f64::from(f(r, i.b, l))) as f32).to_bits()
            });
        }
        Op::Pow => {
            check(i, m, env, Choice::OutOfDomain, |l| {
                (f(regs, i.a, l) < 0.0) | ((f(regs, i.a, l) == 0.0) & (f(regs, i.b, l) <= 0.0))
            });
            masked_lanes(regs, i, m, |r, l| {
                (libm::pow(f64::from(f(r, i.a, l)), f64::from(f(r, i.b, l))) as f32).to_bits()
            });
        }
        Op::FToU => {
            let (_, hi) = limits(false, i.imm);
            check_to_int32(i, m, env, regs, -1.0, (hi + 1.0) as f32);
            un(regs, i, m, |a| (f32::from_bits(a) as u32).min(low_mask(i.imm)));
        }
        Op::FToS => {
            let (lo, hi) = limits(true, i.imm);
            // Of 32 bits, the greatest float below the least integer.
            let below = if i.imm == 32 { -2_147_483_904.0 } else { (lo - 1.0) as f32 };
            check_to_int32(i, m, env, regs, below, (hi + 1.0) as f32);
            let (lo, hi) = (lo as i32, hi as i32);
            un(regs, i, m, |a| (f32::from_bits(a) as i32).clamp(lo, hi) as u32 & low_mask(i.imm));
        }
        Op::UToF => un(regs, i, m, |a| (a as f32).to_bits()),
        Op::SToF => un(regs, i, m, |a| (a as i32 as f32).to_bits()),
        Op::F16ToF => un(regs, i, m, half::to_f32),
        Op::FToF16 => un(regs, i, m, half::from_f32),
        Op::QuantizeF16 => un(regs, i, m, half::quantize),
        Op::Address => {
            let mut t = [0; LANES];
            let b = &regs[i.b as usize];
            for l in 0..LANES {
                t[l] = address(if i.a == NONE { 0 } else { regs[i.a as usize][l] }, u64::from(b[l]), i.c, i.imm);
            }
            put(regs, i, 0, m, &t);
        }
        Op::Lo64 => {
            let t = regs[i.a as usize];
            put(regs, i, 0, m, &t);
        }
        Op::Hi64 => {
            let t = regs[i.a as usize + 1];
            put(regs, i, 0, m, &t);
        }
        Op::Make64 => {
            let lo = regs[i.a as usize];
            let hi = regs[i.b as usize];
            put(regs, i, 0, m, &lo);
            put(regs, i, 1, m, &hi);
        }
        Op::NoteBeyond => {
            check(i, m, env, Choice::IndexOutOfBounds, |l| regs[i.a as usize][l] >= regs[i.b as usize][l]);
        }
        Op::ReadVar
        | Op::WriteVar
        | Op::GatherVar
        | Op::ScatterVar
        | Op::ClearVar
        | Op::LoadBuffer
        | Op::StoreBuffer
        | Op::AtomicBuffer
        | Op::LoadShared
        | Op::StoreShared
        | Op::AtomicShared
        | Op::TexelAddress
        | Op::LoadTexel
        | Op::StoreTexel
        | Op::AtomicTexel
        | Op::ArrayLength
        | Op::ImageQuery
        | Op::Fence
        | Op::Note
        | Op::Trace => env.effect(i, regs, m),
        _ => step_rare(i, regs, m, env),
    }
}

#[inline(always)]
fn slotwise(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(u32, u32) -> u32) {
    if i.w == 2 {
        bin64(regs, i, m, |a, b| {
            u64::from(f(a as u32, b as u32)) | u64::from(f((a >> 32) as u32, (b >> 32) as u32)) << 32
        });
    } else {
        bin(regs, i, m, f);
    }
}

#[inline(always)]
fn check_bit_extract(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes]) {
    check(i, m, env, Choice::BitFieldTooWide, |l| {
        u64::from(regs[i.b as usize][l]) + u64::from(regs[i.c as usize][l]) > 32
    });
}

#[inline(always)]
fn clamp(x: u32, lo: u32, hi: u32) -> u32 {
    n_min(n_max(f32::from_bits(x), f32::from_bits(lo)), f32::from_bits(hi)).to_bits()
}

#[inline(always)]
fn address(base: u32, index: u64, stride: u32, bound: u32) -> u32 {
    // An index that passes the bound fits 32 bits, so that neither step overflows 64.
    if base == POISON || index >= u64::from(bound) {
        return POISON;
    }
    let sum = u64::from(base) + index * u64::from(stride);
    if sum >= u64::from(POISON) { POISON } else { sum as u32 }
}

/// A function too slow for the lanes that do not execute.
#[inline(always)]
fn masked_lanes(regs: &mut [Lanes], i: &Inst, m: &Mask, f: impl Fn(&[Lanes], usize) -> u32) {
    let mut t = [0; LANES];
    for (l, t) in t.iter_mut().enumerate() {
        if m.bits >> l & 1 != 0 {
            *t = f(regs, l);
        }
    }
    put(regs, i, 0, m, &t);
}

#[inline(always)]
fn signed_division(regs: &mut [Lanes], i: &Inst, m: &Mask, env: &mut dyn Env, f: impl Fn(i32, i32) -> i32) {
    check(i, m, env, Choice::DivisionByZero, |l| regs[i.b as usize][l] == 0);
    let least = (1u32 << (i.imm - 1)).wrapping_neg();
    check(i, m, env, Choice::DivisionOverflow, |l| {
        (regs[i.a as usize][l] == least) & (regs[i.b as usize][l] == u32::MAX)
    });
    bin(regs, i, m, |a, b| if b == 0 { u32::MAX } else { f(a as i32, b as i32) as u32 });
}

/// Division by zero is noted as such.
#[inline(always)]
fn check_remainder(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes]) {
    check(i, m, env, Choice::NegativeRemainder, |l| {
        let (a, b) = (regs[i.a as usize][l], regs[i.b as usize][l]);
        ((a | b) >> 31 != 0) & (b != 0)
    });
}

#[inline(always)]
fn check_remainder64(i: &Inst, m: &Mask, env: &mut dyn Env, regs: &[Lanes]) {
    check(i, m, env, Choice::NegativeRemainder, |l| {
        let (a, b) = (wide(regs, i.a, l), wide(regs, i.b, l));
        ((a | b) >> 63 != 0) & (b != 0)
    });
}

#[inline(always)]
fn signed_division64(regs: &mut [Lanes], i: &Inst, m: &Mask, env: &mut dyn Env, f: impl Fn(i64, i64) -> i64) {
    check(i, m, env, Choice::DivisionByZero, |l| wide(regs, i.b, l) == 0);
    check(i, m, env, Choice::DivisionOverflow, |l| {
        (wide(regs, i.a, l) as i64 == i64::MIN) & (wide(regs, i.b, l) == u64::MAX)
    });
    bin64(regs, i, m, |a, b| if b == 0 { u64::MAX } else { f(a as i64, b as i64) as u64 });
}

/// The kernels that are not worth a place in the hot loop.
#[inline(never)]
fn step_rare(i: &Inst, regs: &mut [Lanes], m: &Mask, env: &mut dyn Env) {
    match i.op {
        Op::Add64 => bin64(regs, i, m, u64::wrapping_add),
        Op::Sub64 => bin64(regs, i, m, u64::wrapping_sub),
        Op::Mul64 => bin64(regs, i, m, u64::wrapping_mul),
        Op::MulHiU64 => bin64(regs, i, m, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        Op::MulHiS64 => bin64(regs, i, m, |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
        Op::UDiv64 => {
            check(i, m, env, Choice::DivisionByZero, |l| wide(regs, i.b, l) == 0);
            bin64(regs, i, m, |a, b| a.checked_div(b).unwrap_or(u64::MAX));
        }
        Op::UMod64 => {
            check(i, m, env, Choice::DivisionByZero, |l| wide(regs, i.b, l) == 0);
            bin64(regs, i, m, |a, b| a.checked_rem(b).unwrap_or(u64::MAX));
        }
        Op::SDiv64 => signed_division64(regs, i, m, env, i64::wrapping_div),
        Op::SRem64 => {
            check_remainder64(i, m, env, regs);
            signed_division64(regs, i, m, env, i64::wrapping_rem);
        }
        Op::SMod64 => {
            check_remainder64(i, m, env, regs);
            signed_division64(regs, i, m, env, |a, b| {
                let r = a.wrapping_rem(b);
                if r != 0 && (r < 0) != (b < 0) { r.wrapping_add(b) } else { r }
            });
        }
        Op::Shl64 => {
            check(i, m, env, Choice::ShiftTooWide, |l| wide(regs, i.b, l) >= 64);
            bin64(regs, i, m, |a, b| a << (b & 63));
        }
        Op::Shr64 => {
            check(i, m, env, Choice::ShiftTooWide, |l| wide(regs, i.b, l) >= 64);
            bin64(regs, i, m, |a, b| a >> (b & 63));
        }
        Op::Sar64 => {
            check(i, m, env, Choice::ShiftTooWide, |l| wide(regs, i.b, l) >= 64);
            bin64(regs, i, m, |a, b| ((a as i64) >> (b & 63)) as u64);
        }
        Op::Eq64 => cmp64(regs, i, m, |a, b| a == b),
        Op::Ne64 => cmp64(regs, i, m, |a, b| a != b),
        Op::Ult64 => cmp64(regs, i, m, |a, b| a < b),
        Op::Ule64 => cmp64(regs, i, m, |a, b| a <= b),
        Op::Slt64 => cmp64(regs, i, m, |a, b| (a as i64) < b as i64),
        Op::Sle64 => cmp64(regs, i, m, |a, b| a as i64 <= b as i64),
        Op::Carry64 => bin64(regs, i, m, |a, b| u64::from(a.wrapping_add(b) < a)),
        Op::Borrow64 => bin64(regs, i, m, |a, b| u64::from(a < b)),
        Op::FAdd64 => fbin64(regs, i, m, |a, b| a + b),
        Op::FSub64 => fbin64(regs, i, m, |a, b| a - b),
        Op::FMul64 => fbin64(regs, i, m, |a, b| a * b),
        Op::FDiv64 => fbin64(regs, i, m, |a, b| a / b),
        Op::FRem64 => fbin64(regs, i, m, |a, b| a - b * (a / b).trunc()),
        Op::FMod64 => fbin64(regs, i, m, |a, b| a - b * (a / b).floor()),
        Op::FEq64 => fcmp64(regs, i, m, |a, b| a == b),
        Op::FNe64 => fcmp64(regs, i, m, |a, b| (a < b) | (a > b)),
        Op::FLt64 => fcmp64(regs, i, m, |a, b| a < b),
        Op::FLe64 => fcmp64(regs, i, m, |a, b| a <= b),
        Op::FMin64 => {
            check_min_max64(i, m, env, regs);
            fbin64(regs, i, m, n_min64);
        }
        Op::FMax64 => {
            check_min_max64(i, m, env, regs);
            fbin64(regs, i, m, n_max64);
        }
        Op::NMin64 => fbin64(regs, i, m, n_min64),
        Op::NMax64 => fbin64(regs, i, m, n_max64),
        Op::Fma64 => {
            let mut t = [0; LANES];
            let mut twice = [0; LANES];
            for l in 0..LANES {
                let (a, b, c) = (d(regs, i.a, l), d(regs, i.b, l), d(regs, i.c, l));
                t[l] = a.mul_add(b, c).to_bits();
                twice[l] = (a * b + c).to_bits();
            }
            check(i, m, env, Choice::FusedRounding, |l| {
                (t[l] != twice[l]) & !(f64::from_bits(t[l]).is_nan() & f64::from_bits(twice[l]).is_nan())
            });
            put64(regs, i, m, &t);
        }
        Op::Sqrt64 => {
            check(i, m, env, Choice::OutOfDomain, |l| d(regs, i.a, l) < 0.0);
            fun64(regs, i, m, |a| a.sqrt());
        }
        Op::Floor64 => fun64(regs, i, m, |a| a.floor()),
        Op::Ceil64 => fun64(regs, i, m, |a| a.ceil()),
        Op::Trunc64 => fun64(regs, i, m, |a| a.trunc()),
        Op::RoundEven64 => fun64(regs, i, m, |a| a.round_ties_even()),
        Op::Round64 => {
            check(i, m, env, Choice::RoundHalf, |l| (d(regs, i.a, l) - d(regs, i.a, l).trunc()).abs() == 0.5);
            fun64(regs, i, m, |a| a.round_ties_even());
        }
        Op::FSign64 => fun64(regs, i, m, |a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                a
            }
        }),
        Op::IsNan64 => narrow(regs, i, m, |a| flag(f64::from_bits(a).is_nan())),
        Op::IsInf64 => narrow(regs, i, m, |a| flag(f64::from_bits(a).is_infinite())),
        Op::Ldexp64 => {
            let mut a = read64(regs, i.a);
            for (l, a) in a.iter_mut().enumerate() {
                *a = ldexp(f64::from_bits(*a), regs[i.b as usize][l] as i32).to_bits();
            }
            put64(regs, i, m, &a);
        }
        Op::FrexpMant64 => fun64(regs, i, m, |a| if a.is_finite() { libm::frexp(a).0 } else { a }),
        Op::FrexpExp64 => narrow(regs, i, m, |a| {
            let a = f64::from_bits(a);
            if a.is_finite() { libm::frexp(a).1 as u32 } else { 0 }
        }),
        Op::ModfFract64 => {
            fun64(regs, i, m, |a| if a.is_infinite() { 0f64.copysign(a) } else { (a - a.trunc()).copysign(a) });
        }
        Op::F64ToU => {
            let (lo, hi) = limits(false, i.imm);
            check_to_int(i, m, env, |l| d(regs, i.a, l), lo - 1.0, hi + 1.0);
            narrow(regs, i, m, |a| (f64::from_bits(a) as u32).min(low_mask(i.imm)));
        }
        Op::F64ToS => {
            let (lo, hi) = limits(true, i.imm);
            check_to_int(i, m, env, |l| d(regs, i.a, l), lo - 1.0, hi + 1.0);
            let (lo, hi) = (lo as i32, hi as i32);
            narrow(regs, i, m, |a| (f64::from_bits(a) as i32).clamp(lo, hi) as u32 & low_mask(i.imm));
        }
        Op::UToF64 => widen(regs, i, m, |a| f64::from(a).to_bits()),
        Op::SToF64 => widen(regs, i, m, |a| f64::from(a as i32).to_bits()),
        Op::FToU64 => {
            check_to_int(i, m, env, |l| f64::from(f(regs, i.a, l)), -1.0, TWO_64);
            widen(regs, i, m, |a| f32::from_bits(a) as u64);
        }
        Op::FToS64 => {
            check_to_int(i, m, env, |l| f64::from(f(regs, i.a, l)), BELOW_I64, TWO_63);
            widen(regs, i, m, |a| f32::from_bits(a) as i64 as u64);
        }
        Op::U64ToF => narrow(regs, i, m, |a| (a as f32).to_bits()),
        Op::S64ToF => narrow(regs, i, m, |a| (a as i64 as f32).to_bits()),
        Op::F64ToU64 => {
            check_to_int(i, m, env, |l| d(regs, i.a, l), -1.0, TWO_64);
            un64(regs, i, m, |a| f64::from_bits(a) as u64);
        }
        Op::F64ToS64 => {
            check_to_int(i, m, env, |l| d(regs, i.a, l), BELOW_I64, TWO_63);
            un64(regs, i, m, |a| f64::from_bits(a) as i64 as u64);
        }
        Op::U64ToF64 => un64(regs, i, m, |a| (a as f64).to_bits()),
        Op::S64ToF64 => un64(regs, i, m, |a| (a as i64 as f64).to_bits()),
        Op::FToF64 => widen(regs, i, m, |a| f64::from(f32::from_bits(a)).to_bits()),
        Op::F64ToF => narrow(regs, i, m, |a| (f64::from_bits(a) as f32).to_bits()),
        Op::F64ToF16 => narrow(regs, i, m, |a| half::from_f64(f64::from_bits(a))),
        Op::PackNorm => {
            let signed = i.k == 1;
            let scale = if signed { low_mask(i.imm - 1) } else { low_mask(i.imm) } as f32;
            check(i, m, env, Choice::NanToInteger, |l| f(regs, i.a, l).is_nan());
            un(regs, i, m, |a| {
                let low = if signed { -1.0 } else { 0.0 };
                let x = f32::from_bits(a);
                let x = if x.is_nan() { 0.0 } else { n_min(n_max(x, low), 1.0) };
                ((x * scale).round_ties_even() as i32 as u32) & low_mask(i.imm)
            });
        }
        Op::UnpackNorm => {
            let scale = if i.k == 1 { low_mask(i.imm - 1) } else { low_mask(i.imm) } as f32;
            let up = 32 - i.imm;
            if i.k == 1 {
                un(regs, i, m, |a| n_max(((a << up) as i32 >> up) as f32 / scale, -1.0).to_bits());
            } else {
                un(regs, i, m, |a| ((a & low_mask(i.imm)) as f32 / scale).to_bits());
            }
        }
        Op::Address64 => {
            let mut t = [0; LANES];
            for (l, t) in t.iter_mut().enumerate() {
                *t = address(if i.a == NONE { 0 } else { regs[i.a as usize][l] }, wide(regs, i.b, l), i.c, i.imm);
            }
            put(regs, i, 0, m, &t);
        }
        // All others are in `step`.
        _ => env.effect(i, regs, m),
    }
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;
/// The greatest double below the least `i64`.
const BELOW_I64: f64 = -9_223_372_036_854_777_856.0;
