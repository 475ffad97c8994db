//! Words as text: raw, as hexadecimal float, as decimal.

use super::compare::Number;

/// What kind of FP32 number a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordClass {
    /// Zero or a normal number.
    Ordinary,
    /// A denormal number.
    Denormal,
    /// An infinity.
    Infinity,
    /// A NaN.
    Nan,
}

impl WordClass {
    /// The class of a word read as FP32.
    #[must_use]
    pub fn of(word: u32) -> Self {
        match (word >> 23 & 0xff, word & 0x7f_ffff) {
            (0xff, 0) => Self::Infinity,
            (0xff, _) => Self::Nan,
            (0, 1..) => Self::Denormal,
            _ => Self::Ordinary,
        }
    }
}

/// The raw word: `0x3f800000`.
#[must_use]
pub fn word(bits: u32) -> String {
    format!("{bits:#010x}")
}

/// An FP32 word as a hexadecimal float, exactly: `0x1.8p+1`, `-0x0p+0`, `0x0.000002p-126`, `inf`, `nan:0x400000`.
///
/// Trailing zeros of the fraction are left out. A NaN shows the bits below its exponent.
#[must_use]
pub fn hex_float(bits: u32) -> String {
    let sign = if bits >> 31 == 1 { "-" } else { "" };
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    if exponent == 0xff {
        return if fraction == 0 { format!("{sign}inf") } else { format!("{sign}nan:{fraction:#x}") };
    }
    let digits = format!("{:06x}", fraction << 1);
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let (lead, power) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -126),
        _ => (1, exponent - 127),
    };
    format!("{sign}0x{lead}{point}{digits}p{power:+}")
}

/// A word as a decimal number that reads back to the same bits.
#[must_use]
pub fn decimal(bits: u32, number: Number) -> String {
    match number {
        Number::Float => format!("{:?}", f32::from_bits(bits)),
        Number::Uint => bits.to_string(),
        Number::Sint => bits.cast_signed().to_string(),
    }
}

/// A word as a short decimal, for labels inside texels: about five characters.
#[must_use]
pub fn short(bits: u32, number: Number) -> String {
    if number != Number::Float {
        return decimal(bits, number);
    }
    let value = f32::from_bits(bits);
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let size = value.abs();
    if (0.001..10_000.0).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 5) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}

/// A word as a number for ranges and colours.
#[must_use]
pub fn value(bits: u32, number: Number) -> f64 {
    match number {
        Number::Float => f32::from_bits(bits).into(),
        Number::Uint => bits.into(),
        Number::Sint => bits.cast_signed().into(),
    }
}

/// An amount with thousands separated by thin commas: `16,777,216`.
#[must_use]
pub fn grouped(amount: u64) -> String {
    let digits = amount.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A distance in ULPs as text; a NaN against a number has none.
#[must_use]
pub fn ulp(distance: u32) -> String {
    if distance == super::compare::NAN_DISTANCE { "NaN".to_owned() } else { grouped(distance.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_floats_are_exact() {
        for (bits, text) in [
            (0x3f80_0000, "0x1p+0"),
            (0x4040_0000, "0x1.8p+1"),
            (0xbf00_0001, "-0x1.000002p-1"),
            (0x8000_0000, "-0x0p+0"),
            (0x0000_0001, "0x0.000002p-126"),
            (0x007f_ffff, "0x0.fffffep-126"),
            (0x0080_0000, "0x1p-126"),
            (0x7f7f_ffff, "0x1.fffffep+127"),
            (0xff80_0000, "-inf"),
            (0x7fc0_0001, "nan:0x400001"),
        ] {
            assert_eq!(hex_float(bits), text);
        }
    }

    #[test]
    fn decimals_read_back() {
        for bits in [0x3f80_0001u32, 0x3dcc_cccd, 1, 0x7f7f_ffff, 0x8000_0000] {
            let text = decimal(bits, Number::Float);
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), bits, "{text}");
        }
        assert_eq!(decimal(u32::MAX, Number::Sint), "-1");
        assert_eq!(decimal(u32::MAX, Number::Uint), "4294967295");
    }

    #[test]
    fn classes_are_told_apart() {
        assert_eq!(
            [0, 0x8000_0000, 1, 0x7f80_0000, 0xff80_0000, 0x7f80_0001, 0x3f80_0000].map(WordClass::of),
            [
                WordClass::Ordinary,
                WordClass::Ordinary,
                WordClass::Denormal,
                WordClass::Infinity,
                WordClass::Infinity,
                WordClass::Nan,
                WordClass::Ordinary
            ]
        );
    }

    #[test]
    fn amounts_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 16_777_216].map(grouped), ["0", "999", "1,000", "16,777,216"]);
    }

    #[test]
    fn short_forms_stay_short() {
        for (value, text) in
            [(1.0f32, "1.000"), (0.0625, "0.06250"), (123.456, "123.5"), (65024.0, "6.50e4"), (1e-6, "1.00e-6")]
        {
            assert_eq!(short(value.to_bits(), Number::Float), text);
        }
        assert_eq!(short(f32::NAN.to_bits(), Number::Float), "NaN");
    }
}
