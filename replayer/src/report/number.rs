//! Words as people read them: hex words, hex floats, decimals, coordinates in 1/256 texel.

/// A word as a hex float: the bits of an FP32 value without rounding, in C's form.
///
/// ```
/// use replayer::report::hex_float;
/// assert_eq!(hex_float(0x3fc0_0000), "0x1.8p+0");
/// assert_eq!(hex_float(0x8000_0000), "-0x0p+0");
/// assert_eq!(hex_float(0x0000_0001), "0x0.000002p-126");
/// assert_eq!(hex_float(0xff80_0000), "-inf");
/// assert_eq!(hex_float(0x7fc0_0001), "nan(0x400001)");
/// ```
#[must_use]
pub fn hex_float(word: u32) -> String {
    let sign = if word >> 31 == 1 { "-" } else { "" };
    let (exponent, mantissa) = (word >> 23 & 0xff, word & 0x7f_ffff);
    let digits = |mantissa: u32| {
        // 23 bits, filled up to six digits.
        let text = format!("{:06x}", mantissa << 1);
        let text = text.trim_end_matches('0');
        if text.is_empty() { String::new() } else { format!(".{text}") }
    };
    match (exponent, mantissa) {
        (0, 0) => format!("{sign}0x0p+0"),
        (0, _) => format!("{sign}0x0{}p-126", digits(mantissa)),
        (0xff, 0) => format!("{sign}inf"),
        (0xff, _) => format!("{sign}nan({mantissa:#x})"),
        _ => format!("{sign}0x1{}p{:+}", digits(mantissa), exponent.cast_signed() - 127),
    }
}

/// A word as the shortest decimal that reads back as the same FP32 value.
///
/// ```
/// use replayer::report::decimal;
/// assert_eq!(decimal(0x3dcc_cccd), "0.1");
/// assert_eq!(decimal(0x8000_0000), "-0.0");
/// assert_eq!(decimal(0x7149_f2ca), "1e30");
/// ```
#[must_use]
pub fn decimal(word: u32) -> String {
    format!("{:?}", f32::from_bits(word))
}

/// A distance in ULPs, or that a NaN stands against a number.
#[must_use]
pub fn ulps(distance: u32) -> String {
    if distance == crate::compare::NAN_DISTANCE { "NaN".to_owned() } else { format!("{distance} ULP") }
}

/// Seconds with three digits of use.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hex_float_reads_back_as_the_same_bits() {
        let value = |text: &str| -> f64 {
            let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
            let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let fraction = fraction
                .chars()
                .enumerate()
                .map(|(i, c)| f64::from(c.to_digit(16).unwrap()) / 16f64.powi(i32::try_from(i).unwrap() + 1));
            sign * (whole.parse::<f64>().unwrap() + fraction.sum::<f64>()) * 2f64.powi(exponent.parse().unwrap())
        };
        for word in (0..0x7f80_0000u32).step_by(65_521).chain([0, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff]) {
            for word in [word, word | 1 << 31] {
                let read = value(&hex_float(word)) as f32;
                assert_eq!(read.to_bits(), word, "{}", hex_float(word));
            }
        }
    }
}
