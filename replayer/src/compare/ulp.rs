//! Distance of two FP32 words in units in the last place.

/// The distance of a NaN from a number. The largest distance of two numbers (−Inf to +Inf) is `0xff00_0000`.
pub const NAN_DISTANCE: u32 = u32::MAX;

/// Whether a word is a NaN, read as FP32.
#[must_use]
pub const fn is_nan(word: u32) -> bool {
    word & 0x7fff_ffff > 0x7f80_0000
}

/// Number of steps between two FP32 words on the line of all FP32 numbers, −Inf to +Inf.
///
/// +0 and −0 are the same point of that line, so their distance is 0, and the distance across zero is the sum of both
/// distances from zero. Two NaNs have the distance 0, a NaN and a number [`NAN_DISTANCE`].
///
/// ```
/// use replayer::compare::{NAN_DISTANCE, ulp_distance};
/// assert_eq!(ulp_distance(1.0f32.to_bits(), 1.0f32.next_up().to_bits()), 1);
/// assert_eq!(ulp_distance((-0.0f32).to_bits(), 0), 0);
/// assert_eq!(ulp_distance(0x8000_0001, 0x0000_0001), 2);
/// assert_eq!(ulp_distance(0x7fc0_0000, 0), NAN_DISTANCE);
/// ```
#[must_use]
pub const fn ulp_distance(a: u32, b: u32) -> u32 {
    match (is_nan(a), is_nan(b)) {
        (true, true) => 0,
        (false, false) => {
            let (a_size, b_size) = (a & 0x7fff_ffff, b & 0x7fff_ffff);
            // Neither is a NaN, so both are at most 0x7f80_0000 and the sum fits.
            if (a ^ b) >> 31 == 0 { a_size.abs_diff(b_size) } else { a_size + b_size }
        }
        _ => NAN_DISTANCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_defined_across_sign_infinity_and_nan() {
        let cases: &[(u32, u32, u32)] = &[
            (0, 0, 0),
            (0, 0x8000_0000, 0),
            (1, 0x8000_0000, 1),
            (1, 0x8000_0001, 2),
            (0x3f80_0000, 0x3f7f_ffff, 1),
            (0x7f7f_ffff, 0x7f80_0000, 1),
            (0x7f80_0000, 0xff80_0000, 0xff00_0000),
            (0x7f80_0000, 0x7f80_0001, NAN_DISTANCE),
            (0xffff_ffff, 0xbf80_0000, NAN_DISTANCE),
            (0x7fc0_0000, 0xffff_ffff, 0),
        ];
        for &(a, b, distance) in cases {
            assert_eq!(ulp_distance(a, b), distance, "{a:#010x} {b:#010x}");
            assert_eq!(ulp_distance(b, a), distance, "{b:#010x} {a:#010x}");
        }
    }
}
