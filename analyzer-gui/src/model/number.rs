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

/// A word as a decimal of at most so many characters, with as many significant digits as fit; `None` when fewer than two
/// fit and they are not all there are.
#[must_use]
pub fn short(bits: u32, number: Number, most: usize) -> Option<String> {
    if number == Number::Float {
        short_float(f32::from_bits(bits), most)
    } else {
        Some(decimal(bits, number))
            .filter(|text| text.len() <= most)
            .or_else(|| short_float(value(bits, number) as f32, most))
    }
}

fn short_float(value: f32, most: usize) -> Option<String> {
    if value == 0.0 || !value.is_finite() {
        return Some(format!("{value}")).filter(|text| text.len() <= most);
    }
    let exact = format!("{value}");
    if exact.len() <= most {
        return Some(exact);
    }
    // From the most digits to the fewest: what fits first, in plain form or with an exponent.
    (2..=6usize).rev().find_map(|digits| {
        let scientific = format!("{value:.*e}", digits - 1);
        // The exponent after rounding: 9.996 with three digits is 10.0.
        let exponent: i32 = scientific.rsplit_once('e')?.1.parse().ok()?;
        let decimals = digits as i32 - 1 - exponent;
        let plain = if decimals >= 0 { format!("{value:.*}", decimals as usize) } else { format!("{value:.0}") };
        let whole_digits_known = decimals >= 0;
        [Some(plain).filter(|_| whole_digits_known), Some(scientific)]
            .into_iter()
            .flatten()
            .find(|text| text.len() <= most)
    })
}

/// A part of a whole: as `n/256` where weights are multiples of a fixed step, else as a decimal; exact in both forms.
#[must_use]
pub fn weight(part: f64, quantised: bool) -> String {
    if quantised { format!("{}/256", part * 256.0) } else { part.to_string() }
}

/// As [`weight`] in at most so many characters: digits after the point are left out where they don't fit.
#[must_use]
pub fn short_weight(part: f64, quantised: bool, most: usize) -> Option<String> {
    let exact = weight(part, quantised);
    if exact.len() <= most {
        return Some(exact);
    }
    let rounded = |digits: usize| {
        if quantised { format!("{:.digits$}/256", part * 256.0) } else { format!("{part:.digits$}") }
    };
    (1..=6).rev().map(rounded).find(|text| text.len() <= most)
}

/// A distance in ULPs in at most so many characters: in full, else in thousands, millions or billions.
#[must_use]
pub fn short_ulp(distance: u32, most: usize) -> Option<String> {
    let full = ulp(distance);
    if full.len() <= most || distance == super::compare::NAN_DISTANCE {
        return Some(full).filter(|text| text.len() <= most);
    }
    let (unit, name) = match distance {
        0..1_000_000 => (1e3, "k"),
        1_000_000..1_000_000_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let scaled = f64::from(distance) / unit;
    (0..=2).rev().map(|digits| format!("{scaled:.digits$}{name}")).find(|text| text.len() <= most)
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
    fn short_forms_have_the_digits_that_fit() {
        let short = |value: f32, most| short(value.to_bits(), Number::Float, most);
        for (value, most, text) in [
            (1.0f32, 5, Some("1")),
            (0.0625, 6, Some("0.0625")),
            (0.0625, 5, Some("0.062")),
            (123.456, 6, Some("123.46")),
            (123.456, 5, Some("123.5")),
            (123.456, 3, Some("123")),
            (123.456, 2, None),
            (0.367_187_5, 6, Some("0.3672")),
            (-0.367_187_5, 6, Some("-0.367")),
            (9.9996, 4, Some("10.0")),
            (65_024.0, 5, Some("65024")),
            (65_024.0, 4, None),
            (1e-6, 7, Some("1.00e-6")),
            (1.234e-30, 7, Some("1.2e-30")),
            (f32::NAN, 3, Some("NaN")),
            (f32::NEG_INFINITY, 3, None),
        ] {
            assert_eq!(short(value, most).as_deref(), text, "{value} in {most}");
        }
        assert_eq!(super::short(u32::MAX, Number::Uint, 10).as_deref(), Some("4294967295"));
        assert_eq!(super::short(u32::MAX, Number::Uint, 6).as_deref(), Some("4.29e9"));
        for most in 3..12 {
            for bits in (0..u32::MAX - 0x10_0000).step_by(0x10_0001) {
                let text = super::short(bits, Number::Float, most);
                assert!(text.is_none_or(|text| text.len() <= most), "{bits:#x} in {most}");
            }
        }
    }

    #[test]
    fn weights_are_exact_where_they_fit() {
        assert_eq!(weight(163.0 / 256.0, true), "163/256");
        assert_eq!(weight(0.5 / 65_536.0 * 256.0, true), "0.5/256");
        assert_eq!(weight(0.633_789_062_5, false), "0.6337890625");
        assert_eq!(short_weight(163.0 / 256.0, true, 7).as_deref(), Some("163/256"));
        assert_eq!(short_weight(163.0 / 256.0, true, 6), None);
        assert_eq!(short_weight(41.066_406_25 / 256.0, true, 9).as_deref(), Some("41.07/256"));
        assert_eq!(short_weight(0.633_789_062_5, false, 6).as_deref(), Some("0.6338"));
        assert_eq!(short_weight(0.0, true, 5).as_deref(), Some("0/256"));
    }

    #[test]
    fn distances_are_shortened_by_thousands() {
        let short = |distance, most| short_ulp(distance, most);
        assert_eq!(short(4096, 5).as_deref(), Some("4,096"));
        assert_eq!(short(4096, 4).as_deref(), Some("4.1k"));
        assert_eq!(short(964_689_920, 7).as_deref(), Some("964.69M"));
        assert_eq!(short(964_689_920, 4).as_deref(), Some("965M"));
        assert_eq!(short(964_689_920, 3), None);
        assert_eq!(short(super::super::compare::NAN_DISTANCE, 3).as_deref(), Some("NaN"));
    }
}
