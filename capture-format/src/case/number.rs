//! Numbers as they stand in case files.

use toml::de::DeValue;

/// The bits of an FP32 value.
pub(super) fn fp32(value: &DeValue<'_>) -> Result<u32, String> {
    const EXPECTED: &str = "expected a decimal number or \"0x…\" bits";
    match value {
        DeValue::String(text) => hex(text).ok_or_else(|| format!("{EXPECTED}, found {text:?}")),
        DeValue::Float(float) => {
            let text = float.as_str();
            let (Ok(single), Ok(double)) = (text.parse::<f32>(), text.parse::<f64>()) else {
                return Err(format!("{EXPECTED}, found {text}"));
            };
            if single.is_nan() {
                return Err("a NaN has many encodings, expected its bits as \"0x…\"".to_owned());
            }
            if single.is_infinite() && !text.contains("inf") {
                return Err(format!("{text} is beyond the largest FP32 value; write inf if that is meant"));
            }
            if single == 0.0 && double != 0.0 {
                return Err(format!("{text} is below the smallest FP32 value; write 0.0 if that is meant"));
            }
            Ok(single.to_bits())
        }
        DeValue::Integer(integer) if integer.radix() == 10 => {
            let text = integer.as_str();
            if text == "-0" {
                return Err("-0 is an integer without sign, expected 0 or -0.0".to_owned());
            }
            let exact = text.parse::<i64>().ok().filter(|whole| (*whole as f32) as i128 == i128::from(*whole));
            exact.map(|whole| (whole as f32).to_bits()).ok_or_else(|| format!("{text} is not exact in FP32"))
        }
        DeValue::Integer(integer) => {
            Err(format!("{integer} may be meant as a number or as bits, expected a decimal number or \"{integer}\""))
        }
        other => Err(format!("{EXPECTED}, found {}", kind(other))),
    }
}

/// A word that is not an FP32 value.
pub(super) fn word(value: &DeValue<'_>) -> Result<u32, String> {
    const EXPECTED: &str = "expected a 32-bit word, as \"0x…\" or as an integer";
    match value {
        DeValue::String(text) => hex(text).ok_or_else(|| format!("{EXPECTED}, found {text:?}")),
        DeValue::Integer(integer) => {
            integer_value(integer.as_str(), integer.radix()).ok_or_else(|| format!("{EXPECTED}, found {integer}"))
        }
        other => Err(format!("{EXPECTED}, found {}", kind(other))),
    }
}

/// A word of 64 bits.
pub(super) fn long(value: &DeValue<'_>) -> Result<u64, String> {
    const EXPECTED: &str = "expected a 64-bit word, as \"0x…\" or as an integer";
    match value {
        DeValue::String(text) => hex_digits(text, 16)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| format!("{EXPECTED}, found {text:?}")),
        DeValue::Integer(integer) => {
            u64::from_str_radix(integer.as_str(), integer.radix()).map_err(|_| format!("{EXPECTED}, found {integer}"))
        }
        other => Err(format!("{EXPECTED}, found {}", kind(other))),
    }
}

/// A plain unsigned integer, such as a size.
pub(super) fn integer(value: &DeValue<'_>) -> Result<u32, String> {
    match value {
        DeValue::Integer(integer) => integer_value(integer.as_str(), integer.radix())
            .ok_or_else(|| format!("expected an integer from 0 to {}, found {integer}", u32::MAX)),
        other => Err(format!("expected an integer, found {}", kind(other))),
    }
}

/// The type of a value with its article.
pub(super) fn kind(value: &DeValue<'_>) -> String {
    let name = value.type_str();
    format!("{} {name}", if name.starts_with(['a', 'i']) { "an" } else { "a" })
}

fn integer_value(text: &str, radix: u32) -> Option<u32> {
    u32::from_str_radix(text, radix).ok()
}

/// `0x` and one to eight digits.
fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(hex_digits(text, 8)?, 16).ok()
}

/// What stands behind `0x`, when it is one to `most` digits.
fn hex_digits(text: &str, most: usize) -> Option<&str> {
    let digits = text.strip_prefix("0x")?;
    let plain = (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, number: fn(&DeValue<'_>) -> Result<u32, String>) -> Result<u32, String> {
        number(DeValue::parse(text).unwrap().get_ref())
    }

    #[test]
    fn fp32_values() {
        for (text, bits) in [
            ("0.5", 0x3f00_0000),
            ("-0.0", 0x8000_0000),
            ("0", 0),
            ("1", 0x3f80_0000),
            ("-2", 0xc000_0000),
            ("16777216", 0x4b80_0000),
            ("1e-45", 1),
            ("1_000.25", 0x447a_1000),
            // Nearest FP32, not nearest FP64 rounded again.
            ("1.00000005960464477540", 0x3f80_0001),
            ("inf", 0x7f80_0000),
            ("-inf", 0xff80_0000),
            ("\"0x7fc00001\"", 0x7fc0_0001),
            ("\"0xF\"", 15),
        ] {
            assert_eq!(parse(text, fp32), Ok(bits), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_not_what_was_meant_are_refused() {
        for (text, problem) in [
            ("nan", "a NaN has many encodings, expected its bits as \"0x…\""),
            ("1e39", "1e39 is beyond the largest FP32 value; write inf if that is meant"),
            ("1e-60", "1e-60 is below the smallest FP32 value; write 0.0 if that is meant"),
            ("16777217", "16777217 is not exact in FP32"),
            ("9223372036854775807", "9223372036854775807 is not exact in FP32"),
            ("-0", "-0 is an integer without sign, expected 0 or -0.0"),
            (
                "0x3f000000",
                "0x3f000000 may be meant as a number or as bits, expected a decimal number or \"0x3f000000\"",
            ),
            ("\"0x\"", "expected a decimal number or \"0x…\" bits, found \"0x\""),
            ("\"0x123456789\"", "expected a decimal number or \"0x…\" bits, found \"0x123456789\""),
            ("\"0x+1\"", "expected a decimal number or \"0x…\" bits, found \"0x+1\""),
            ("true", "expected a decimal number or \"0x…\" bits, found a boolean"),
        ] {
            assert_eq!(parse(text, fp32), Err(problem.to_owned()), "{text}");
        }
    }

    #[test]
    fn words_and_integers() {
        assert_eq!(parse("4294967295", word), Ok(u32::MAX));
        assert_eq!(parse("0xffffffff", word), Ok(u32::MAX));
        assert_eq!(parse("\"0xffffffff\"", word), Ok(u32::MAX));
        assert_eq!(parse("-1", word), Err("expected a 32-bit word, as \"0x…\" or as an integer, found -1".to_owned()));
        assert_eq!(
            parse("1.0", word),
            Err("expected a 32-bit word, as \"0x…\" or as an integer, found a float".to_owned())
        );
        assert_eq!(
            parse("4294967296", integer),
            Err("expected an integer from 0 to 4294967295, found 4294967296".to_owned())
        );
        assert_eq!(parse("\"3\"", integer), Err("expected an integer, found a string".to_owned()));
        let long = |text: &str| long(DeValue::parse(text).unwrap().get_ref());
        assert_eq!(long("\"0xffffffffffffffff\""), Ok(u64::MAX));
        assert_eq!(long("7"), Ok(7));
        assert!(long("\"0x10000000000000000\"").unwrap_err().starts_with("expected a 64-bit word"));
        assert!(long("-1").unwrap_err().ends_with("found -1"));
    }
}
