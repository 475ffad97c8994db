//! Conversions of one channel between its code and the 32-bit word that shaders see.
//!
//! Decoding is straight-line arithmetic with selects, since it runs once a channel of every tap. It depends on FP32 denormals
//! nowhere, so a processor that flushes them changes no result. Bits above a code are ignored.

/// Bits of the FP32 infinity; anything above it, sign aside, is a NaN.
const INFINITY: u32 = 0x7f80_0000;
/// How much larger an FP32 exponent is than one of 5 bits: 127 − 15.
const REBIAS: u32 = 112;

const fn low_bits(code: u32, bits: u32) -> u32 {
    code & (u32::MAX >> (32 - bits))
}

/// A code of `bits` bits (1 to 32) in two's complement.
#[must_use]
#[inline]
pub const fn sign_extend(code: u32, bits: u32) -> i32 {
    (code << (32 - bits)).cast_signed() >> (32 - bits)
}

/// An unsigned float of 5 exponent bits (bias 15) and `mantissa_bits` (1 to 23) as FP32 bits, exactly.
///
/// Denormals are kept. Exponent 31 is +Inf, or a NaN whose mantissa is moved to the top of FP32's.
///
/// ```
/// use capture_format::texel::small_float_to_f32_bits;
/// assert_eq!(f32::from_bits(small_float_to_f32_bits(0x7bf, 6)), 65024.0);
/// assert_eq!(f32::from_bits(small_float_to_f32_bits(0x001, 6)), 1.0 / 1048576.0);
/// ```
#[must_use]
#[inline]
pub const fn small_float_to_f32_bits(code: u32, mantissa_bits: u32) -> u32 {
    const SMALLEST_NORMAL: u32 = (REBIAS + 1) << 23;
    let shifted = low_bits(code, 5 + mantissa_bits) << (23 - mantissa_bits);
    let exponent = shifted >> 23;
    let normal = shifted + (REBIAS << 23);
    // m * 2^(-14-M) is (1 + m / 2^M) * 2^-14 less 2^-14: exact.
    let denormal = (f32::from_bits(shifted + SMALLEST_NORMAL) - f32::from_bits(SMALLEST_NORMAL)).to_bits();
    let special = shifted | INFINITY;
    match exponent {
        0 => denormal,
        31 => special,
        _ => normal,
    }
}

/// FP32 bits as an unsigned float of 5 exponent bits (bias 15) and `mantissa_bits` (1 to 23).
///
/// Truncates toward zero, into denormals too. Negative numbers, −0 and −Inf are 0. Finite numbers that are too large are
/// the largest finite one, +Inf stays. A NaN of either sign keeps the top bits of its mantissa, or has mantissa 1 when they
/// are all 0. These rules are pinned by an emulator's store tests (AnyPS5).
#[must_use]
#[inline]
pub const fn f32_bits_to_small_float(word: u32, mantissa_bits: u32) -> u32 {
    let infinity = 31 << mantissa_bits;
    let cut = 23 - mantissa_bits;
    let magnitude = word & 0x7fff_ffff;
    if magnitude > INFINITY {
        let mantissa = (magnitude & 0x007f_ffff) >> cut;
        return infinity | if mantissa == 0 { 1 } else { mantissa };
    }
    if word != magnitude {
        return 0;
    }
    match magnitude >> 23 {
        255 => infinity,
        // 2^16 and above.
        143.. => infinity - 1,
        // 2^-14 and above.
        113.. => (magnitude >> cut) - (REBIAS << mantissa_bits),
        // The product is exact, the conversion truncates.
        _ => (f32::from_bits(magnitude) * f32::from_bits((127 + 14 + mantissa_bits) << 23)) as u32,
    }
}

/// A UNORM code of `bits` bits (1 to 24) as FP32 bits: code / (2^bits − 1), rounded once to nearest even.
#[must_use]
#[inline]
pub const fn unorm_to_f32_bits(code: u32, bits: u32) -> u32 {
    (low_bits(code, bits) as f32 / low_bits(u32::MAX, bits) as f32).to_bits()
}

/// FP32 bits as a UNORM code of `bits` bits (1 to 24): the exact product with 2^bits − 1, rounded to nearest even. NaN and
/// what is not above 0 give 0, 1 and above give the largest code.
///
/// Rounding to nearest and the ends are pinned by an emulator's store tests (AnyPS5); ties to even, and that the product is
/// not rounded before, are inferred.
#[must_use]
#[inline]
pub fn f32_bits_to_unorm(word: u32, bits: u32) -> u32 {
    let scaled = f64::from(f32::from_bits(word)) * f64::from(low_bits(u32::MAX, bits));
    // The conversion saturates and takes NaN to 0.
    (scaled.round_ties_even() as u32).min(low_bits(u32::MAX, bits))
}

/// An SNORM code of `bits` bits (2 to 25) as FP32 bits: code / (2^(bits−1) − 1), rounded once to nearest even, at least −1.
#[must_use]
#[inline]
pub const fn snorm_to_f32_bits(code: u32, bits: u32) -> u32 {
    (sign_extend(code, bits) as f32 / low_bits(u32::MAX, bits - 1) as f32).max(-1.0).to_bits()
}

/// FP32 bits as an SNORM code of `bits` bits (2 to 25): the exact product with 2^(bits−1) − 1, rounded to nearest even,
/// after a clamp to −1 to 1. NaN gives 0. Inferred from the rules of UNORM.
#[must_use]
#[inline]
pub fn f32_bits_to_snorm(word: u32, bits: u32) -> u32 {
    let value = f64::from(f32::from_bits(word)).clamp(-1.0, 1.0);
    let scaled = value * f64::from(low_bits(u32::MAX, bits - 1));
    low_bits((scaled.round_ties_even() as i32).cast_unsigned(), bits)
}

/// FP32 bits as a USCALED code of `bits` bits (1 to 32): truncated toward zero and clamped; NaN gives 0. Inferred.
#[must_use]
#[inline]
pub const fn f32_bits_to_uscaled(word: u32, bits: u32) -> u32 {
    let value = f32::from_bits(word) as u32;
    let max = low_bits(u32::MAX, bits);
    if value > max { max } else { value }
}

/// FP32 bits as an SSCALED code of `bits` bits (1 to 32): truncated toward zero and clamped; NaN gives 0. Inferred.
#[must_use]
#[inline]
pub fn f32_bits_to_sscaled(word: u32, bits: u32) -> u32 {
    let max = (low_bits(u32::MAX, bits) >> 1).cast_signed();
    low_bits((f32::from_bits(word) as i32).clamp(-max - 1, max).cast_unsigned(), bits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The value by its definition, in FP64.
    fn small_float(code: u32, mantissa_bits: u32) -> f64 {
        let mantissa = f64::from(code & ((1 << mantissa_bits) - 1));
        let exponent = (code >> mantissa_bits) as i32;
        let one = f64::from(1 << mantissa_bits);
        match exponent {
            0 => mantissa / one * 2f64.powi(-14),
            31 if mantissa == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + mantissa / one) * 2f64.powi(exponent - 15),
        }
    }

    #[test]
    fn every_small_float_is_exact() {
        for mantissa_bits in [5, 6] {
            for code in 0..32 << mantissa_bits {
                let bits = small_float_to_f32_bits(code, mantissa_bits);
                let value = small_float(code, mantissa_bits);
                if value.is_nan() {
                    let mantissa = code & ((1 << mantissa_bits) - 1);
                    assert_eq!(bits, 0x7f80_0000 | mantissa << (23 - mantissa_bits));
                } else {
                    assert_eq!(f64::from(f32::from_bits(bits)), value, "{code:#x}");
                    assert_eq!(bits >> 31, 0);
                }
                // Garbage above the code does not matter.
                assert_eq!(small_float_to_f32_bits(code | !0 << (5 + mantissa_bits), mantissa_bits), bits);
            }
        }
    }

    #[test]
    fn small_floats_truncate_at_every_step() {
        for mantissa_bits in [5, 6] {
            let largest = (31 << mantissa_bits) - 1;
            for code in 0..largest {
                let next = small_float_to_f32_bits(code + 1, mantissa_bits);
                assert_eq!(f32_bits_to_small_float(next, mantissa_bits), code + 1);
                assert_eq!(f32_bits_to_small_float(next - 1, mantissa_bits), code, "just below {:#x}", code + 1);
            }
            assert_eq!(f32_bits_to_small_float(0x7f7f_ffff, mantissa_bits), largest);
            assert_eq!(f32_bits_to_small_float(0x7f80_0000, mantissa_bits), largest + 1);
        }
    }

    /// Whether `bits` is the FP32 number nearest to `code / max`: the comparison is exact in FP64 (24 + 11 bits).
    fn is_nearest(bits: u32, code: i32, max: u32) -> bool {
        let error = |bits: u32| (f64::from(f32::from_bits(bits)) * f64::from(max) - f64::from(code)).abs();
        let exact = error(bits);
        exact == 0.0 || (exact < error(bits + 1) && exact < error(bits - 1))
    }

    #[test]
    fn normalized_codes_are_rounded_once() {
        for bits in [10, 11] {
            let max = (1u32 << bits) - 1;
            for code in 0..=max {
                assert!(is_nearest(unorm_to_f32_bits(code, bits), code.cast_signed(), max), "{code}");
                let signed = sign_extend(code, bits).max(1 - (1 << (bits - 1)));
                assert!(is_nearest(snorm_to_f32_bits(code, bits), signed, max >> 1), "{signed}");
            }
            assert_eq!(snorm_to_f32_bits(1 << (bits - 1), bits), (-1f32).to_bits());
            assert_eq!(snorm_to_f32_bits(0, bits), 0);
        }
    }

    #[test]
    fn unorm_takes_the_nearest_code_and_clamps() {
        for bits in [10, 11] {
            let max = (1u32 << bits) - 1;
            for (value, code) in [
                (f32::NAN, 0),
                (-f32::NAN, 0),
                (-1.0, 0),
                (f32::NEG_INFINITY, 0),
                (-0.0, 0),
                (1.0, max),
                (1.0f32.next_down(), max),
                (2.0, max),
                (f32::INFINITY, max),
                // 0.5 * (2^n - 1) is a tie.
                (0.5, 1 << (bits - 1)),
            ] {
                assert_eq!(f32_bits_to_unorm(value.to_bits(), bits), code, "{value}");
            }
        }
    }

    #[test]
    fn signed_kinds_clamp() {
        let cases = [(f32::NAN, 0, 0), (f32::INFINITY, 0x3ff, 0x3ff), (f32::NEG_INFINITY, 0x401, 0x400)];
        for (value, snorm, sscaled) in cases {
            assert_eq!(f32_bits_to_snorm(value.to_bits(), 11), snorm, "{value}");
            assert_eq!(f32_bits_to_sscaled(value.to_bits(), 11), sscaled, "{value}");
        }
        assert_eq!(f32_bits_to_sscaled((-1.9f32).to_bits(), 11), 0x7ff);
        assert_eq!(f32_bits_to_uscaled(1.9f32.to_bits(), 11), 1);
        assert_eq!(f32_bits_to_uscaled((-1.9f32).to_bits(), 11), 0);
        assert_eq!(f32_bits_to_uscaled(1e9f32.to_bits(), 10), 1023);
        assert_eq!(f32_bits_to_uscaled(f32::NAN.to_bits(), 10), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Any word at all: the code's value is the largest that is not above it.
        #[test]
        fn small_floats_truncate_any_word(word: u32) {
            for mantissa_bits in [5, 6] {
                let code = f32_bits_to_small_float(word, mantissa_bits);
                let value = f64::from(f32::from_bits(word));
                prop_assert!(code < 32 << mantissa_bits);
                if value.is_nan() {
                    prop_assert!(small_float(code, mantissa_bits).is_nan());
                } else if value <= 0.0 {
                    prop_assert_eq!(code, 0);
                } else {
                    prop_assert!(small_float(code, mantissa_bits) <= value);
                    let largest = (31 << mantissa_bits) - 1;
                    prop_assert!(code >= largest || small_float(code + 1, mantissa_bits) > value);
                }
            }
        }

        #[test]
        fn unorm_is_nearest_inside_its_range(value in 0f32..1.0) {
            for bits in [10, 11] {
                let max = f64::from((1u32 << bits) - 1);
                let code = f32_bits_to_unorm(value.to_bits(), bits);
                prop_assert!((f64::from(value) * max - f64::from(code)).abs() <= 0.5);
            }
        }
    }
}
