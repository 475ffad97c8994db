//! Unpacking texels in the shader.

use capture_format::{NumericKind, TexelFormat, TexelLayout};

use super::code::{Code, F, U};

/// Formats that share a module: they differ in specialization constants only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FormatClass {
    /// Small floats: 36 and 43.
    Float,
    /// UNORM, SNORM, USCALED, SSCALED.
    Fixed,
    /// UINT, SINT and 32_UINT.
    Integer,
    /// [`Self::Float`] and [`Self::Fixed`] in one table of images, told apart by a word of the state.
    FloatOrFixed,
}

impl FormatClass {
    /// The class of a format.
    #[must_use]
    pub fn of(format: TexelFormat) -> Self {
        match format.kind() {
            NumericKind::Float => Self::Float,
            NumericKind::Unorm | NumericKind::Snorm | NumericKind::Uscaled | NumericKind::Sscaled => Self::Fixed,
            NumericKind::Uint | NumericKind::Sint => Self::Integer,
        }
    }

    /// Short name in module names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Fixed => "fixed",
            Self::Integer => "integer",
            Self::FloatOrFixed => "float_or_fixed",
        }
    }

    /// The class of a table that holds images of two classes; `None` when one of them is integers and the other not.
    #[must_use]
    pub fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::Integer, _) | (_, Self::Integer) => None,
            _ => Some(Self::FloatOrFixed),
        }
    }
}

/// The specialization word of a format's bit layout.
#[must_use]
pub fn layout_word(format: TexelFormat) -> u32 {
    match format.layout() {
        TexelLayout::Bits11_11_10 => 0,
        TexelLayout::Bits10_11_11 => 1,
        TexelLayout::Bits32 => 2,
    }
}

/// The specialization word of a format's numbers.
#[must_use]
pub fn numeric_word(format: TexelFormat) -> u32 {
    match format.kind() {
        NumericKind::Unorm | NumericKind::Uint | NumericKind::Float => 0,
        NumericKind::Snorm | NumericKind::Sint => 1,
        NumericKind::Uscaled => 2,
        NumericKind::Sscaled => 3,
    }
}

/// The layout constants of a module, as it uses them.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// [`layout_word`].
    pub layout: U,
    /// [`numeric_word`].
    pub numeric: U,
}

/// Channels X, Y, Z of a texel of the float class.
pub fn float(code: &mut Code, format: Format, word: U) -> [F; 3] {
    let zero = code.u(0);
    let narrow_x = code.u_eq(format.layout, zero);
    // A small float has FP16's exponent, so its bits moved up to FP16's mantissa are the same number: 5 bits up for the
    // 10-bit channel, 4 for the 11-bit ones. Beside the first channel lies nothing but the sign, which it has not.
    let mut field = |shift: u32, bits: u32, up: u32| {
        let moved = match shift.cmp(&up) {
            std::cmp::Ordering::Less => {
                let by = code.u(up - shift);
                code.u_shl(word, by)
            }
            std::cmp::Ordering::Equal => word,
            std::cmp::Ordering::Greater => {
                let by = code.u(shift - up);
                code.u_shr(word, by)
            }
        };
        if shift == 0 {
            return moved;
        }
        let mask = code.u((1 << bits) - 1 << up);
        code.u_and(moved, mask)
    };
    let narrow = [field(0, 10, 5), field(10, 11, 4), field(21, 11, 4)];
    let wide = [field(0, 11, 4), field(11, 11, 4), field(22, 10, 5)];
    std::array::from_fn(|n| {
        let half = code.select(narrow_x, narrow[n], wide[n]);
        let value = code.unpack_half(half)[0];
        if n == 0 { code.f_abs(value) } else { value }
    })
}

/// The codes of channels X, Y, Z, sign-extended when `signed`.
fn codes(code: &mut Code, format: Format, word: U, signed: bool) -> [U; 3] {
    let zero = code.u(0);
    let narrow_x = code.u_eq(format.layout, zero);
    let mut field = |shift: u32, bits: u32| {
        let left = code.u(32 - bits - shift);
        let right = code.u(32 - bits);
        let top = code.u_shl(word, left);
        if signed {
            let top = code.u_to_i(top);
            let value = code.i_shr(top, right);
            code.i_to_u(value)
        } else {
            code.u_shr(top, right)
        }
    };
    let narrow = [field(0, 10), field(10, 11), field(21, 11)];
    let wide = [field(0, 11), field(11, 11), field(22, 10)];
    std::array::from_fn(|n| code.select(narrow_x, narrow[n], wide[n]))
}

/// Channels X, Y, Z of a texel of the fixed class.
pub fn fixed(code: &mut Code, format: Format, word: U) -> [F; 3] {
    let unsigned = codes(code, format, word, false).map(|c| code.u_to_f(c));
    let signed = codes(code, format, word, true);
    let signed = signed.map(|c| {
        let c = code.u_to_i(c);
        code.i_to_f(c)
    });
    let zero = code.u(0);
    let narrow_x = code.u_eq(format.layout, zero);
    std::array::from_fn(|n| {
        let narrow = match n {
            0 => Some(true),
            2 => Some(false),
            _ => None,
        };
        // The channel has 10 bits when it is X of one layout or Z of the other.
        let mut normalized = |value: F, bits_wide: u32| {
            let wide = divide_by_all_ones(code, value, bits_wide);
            match narrow {
                None => wide,
                Some(when) => {
                    let short = divide_by_all_ones(code, value, bits_wide - 1);
                    if when { code.select(narrow_x, short, wide) } else { code.select(narrow_x, wide, short) }
                }
            }
        };
        let unorm = normalized(unsigned[n], 11);
        let snorm = normalized(signed[n], 10);
        let minus_one = code.f(-1.0);
        let snorm = code.f_max(snorm, minus_one);
        code.choose(format.numeric, &[unorm, snorm, unsigned[n], signed[n]])
    })
}

/// `value / (2^bits - 1)` rounded to nearest even, for integers within ±2^11; Vulkan's division need not round so.
///
/// With q = 2^-bits the quotient is value q + value (1/(2^bits - 1) - q); the first product is exact, the second is at most
/// 2^-bits of it, so the sum is rounded as the quotient would be. A test holds it against division for every code.
fn divide_by_all_ones(code: &mut Code, value: F, bits: u32) -> F {
    let [high, low] = all_ones_reciprocal(bits);
    let (high, low) = (code.f(high), code.f(low));
    let (a, b) = (code.f_mul(value, high), code.f_mul(value, low));
    code.f_add(a, b)
}

/// 1/(2^bits - 1) as the sum of a power of two and a rest.
fn all_ones_reciprocal(bits: u32) -> [f32; 2] {
    let whole = (1u64 << bits) as f64;
    [(1.0 / whole) as f32, (1.0 / (whole - 1.0) - 1.0 / whole) as f32]
}

/// Channels X, Y, Z, W of a texel of the integer class.
pub fn integer(code: &mut Code, format: Format, word: U) -> [U; 4] {
    let (zero, one, two) = (code.u(0), code.u(1), code.u(2));
    let single = code.u_eq(format.layout, two);
    let is_signed = code.u_ne(format.numeric, zero);
    let unsigned = codes(code, format, word, false);
    let signed = codes(code, format, word, true);
    let [x, y, z] = std::array::from_fn(|n| code.select(is_signed, signed[n], unsigned[n]));
    [code.select(single, word, x), code.select(single, zero, y), code.select(single, zero, z), one]
}

#[cfg(test)]
mod tests {
    use super::all_ones_reciprocal;

    #[test]
    fn the_sum_that_stands_for_a_division_is_exact_for_every_code() {
        for bits in [9, 10, 11] {
            let [high, low] = all_ones_reciprocal(bits);
            let whole = ((1u32 << bits) - 1) as f32;
            for value in -(1i32 << bits)..1 << bits {
                let value = value as f32;
                assert_eq!((value * high + value * low).to_bits(), (value / whole).to_bits(), "{value} / {whole}");
            }
        }
    }
}
