//! 16-bit floats, as bits in the low half of a word.

/// Exact.
#[inline(always)]
pub(super) fn to_f32(h: u32) -> u32 {
    let sign = (h & 0x8000) << 16;
    let magnitude = h & 0x7fff;
    if magnitude > 0x7c00 {
        sign | 0x7fc0_0000 | (magnitude & 0x3ff) << 13
    } else if magnitude == 0x7c00 {
        sign | 0x7f80_0000
    } else {
        // The exponent's bias differs by 112; multiplying by 2^112 also normalizes subnormals.
        sign | (f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)).to_bits()
    }
}

/// To nearest even, overflow to infinity, subnormals kept.
#[inline(always)]
pub(super) fn from_f32(x: u32) -> u32 {
    let sign = (x >> 16) & 0x8000;
    let magnitude = x & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        sign | 0x7e00 | (magnitude >> 13 & 0x3ff)
    } else if magnitude >= 0x477f_f000 {
        sign | 0x7c00
    } else if magnitude < 0x3880_0000 {
        // The spacing of floats in [0.5, 1) is that of half's subnormals, so that the sum is rounded as needed.
        sign | ((f32::from_bits(magnitude) + 0.5).to_bits() - 0x3f00_0000)
    } else {
        let odd = magnitude >> 13 & 1;
        sign | ((magnitude - 0x3800_0000 + 0xfff + odd) >> 13)
    }
}

/// To nearest even in one rounding.
pub(super) fn from_f64(x: f64) -> u32 {
    // Rounding to float by truncation with a sticky last bit keeps what the second rounding needs: a float has more than
    // two bits beyond a half's.
    let near = x as f32;
    if near.is_nan() || f64::from(near) == x {
        return from_f32(near.to_bits());
    }
    let toward_zero = if f64::from(near).abs() > x.abs() { near.to_bits().wrapping_sub(1) } else { near.to_bits() };
    from_f32(toward_zero | 1)
}

/// As OpQuantizeToF16: rounded to half, subnormals become zero.
#[inline(always)]
pub(super) fn quantize(x: u32) -> u32 {
    let h = from_f32(x);
    if h & 0x7c00 == 0 { (h & 0x8000) << 16 } else { to_f32(h) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_survive_a_round_trip() {
        for h in 0..0x1_0000u32 {
            let f = to_f32(h);
            let back = from_f32(f);
            if h & 0x7fff > 0x7c00 {
                assert_eq!(back, h | 0x200, "{h:#06x}");
            } else {
                assert_eq!(back, h, "{h:#06x}");
                assert_eq!(from_f64(f64::from(f32::from_bits(f))), h, "{h:#06x}");
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_their_neighbours_do_not() {
        for h in 0..0x7c00u32 {
            let (low, high) = (f32::from_bits(to_f32(h)), to_f32(h + 1));
            // The step above the greatest half is to 65536, which is what would come next.
            let high = if h + 1 == 0x7c00 { 65536.0 } else { f32::from_bits(high) };
            let tie = (f64::from(low) + f64::from(high)) / 2.0;
            let even = h + (h & 1);
            assert_eq!(from_f32((tie as f32).to_bits()), even, "{h:#06x}");
            assert_eq!(from_f64(tie), even, "{h:#06x}");
            assert_eq!(from_f64(tie.next_down()), h, "{h:#06x}");
            assert_eq!(from_f64(tie.next_up()), h + 1, "{h:#06x}");
            assert_eq!(from_f32((tie as f32).next_down().to_bits()), h, "{h:#06x}");
        }
    }

    #[test]
    fn quantizing_flushes_subnormals_and_overflows_to_infinity() {
        assert_eq!(quantize(1e-7f32.to_bits()), 0);
        assert_eq!(quantize((-1e-7f32).to_bits()), 0x8000_0000);
        assert_eq!(quantize(65520f32.to_bits()), 0x7f80_0000);
        assert_eq!(quantize(1.000_01f32.to_bits()), 1f32.to_bits());
    }
}
