//! Addressing: from a texel index to the texel in the image, or to the border.

use crate::state::{Address, Filter};

/// The texel that an index names in an image of `size` texels along the axis; `None` for the border.
///
/// `index` must be within ±2^23.
#[inline(always)]
#[must_use]
pub fn address(mode: Address, filter: Filter, index: i32, size: u32) -> Option<u32> {
    let size = size as i32;
    let index = match mode {
        Address::MirrorOnceEdge | Address::MirrorOnceHalfBorder | Address::MirrorOnceBorder => mirror_once(index),
        _ => index,
    };
    let index = match mode {
        Address::Wrap => remainder(index, size),
        Address::Mirror => {
            let i = remainder(index, 2 * size);
            if i < size { i } else { 2 * size - 1 - i }
        }
        Address::Edge | Address::MirrorOnceEdge => index.clamp(0, size - 1),
        // Point sampling never sees a half border: coordinate `size` names the last texel.
        Address::HalfBorder | Address::MirrorOnceHalfBorder if filter == Filter::Point => index.clamp(0, size - 1),
        Address::HalfBorder | Address::MirrorOnceHalfBorder | Address::Border | Address::MirrorOnceBorder => {
            if !(0..size).contains(&index) {
                return None;
            }
            index
        }
    };
    Some(index as u32)
}

/// `index mod period` in 0..period, for indices within ±2^23 and periods to 2^15.
///
/// The FP32 quotient is off by at most one; unlike an integer division this vectorizes.
#[inline(always)]
fn remainder(index: i32, period: i32) -> i32 {
    let quotient = (index as f32 / period as f32).floor() as i32;
    let rest = index - quotient * period;
    let rest = if rest < 0 { rest + period } else { rest };
    if rest >= period { rest - period } else { rest }
}

/// Mirrors negative indices about the image's first edge: -1 is texel 0.
#[inline(always)]
#[must_use]
pub fn mirror_once(index: i32) -> i32 {
    if index >= 0 { index } else { -1 - index }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_around_an_image_of_three_texels() {
        let b = u32::MAX;
        let indices: Vec<i32> = (-7..=7).collect();
        for (mode, expected) in [
            (Address::Wrap, [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]),
            (Address::Mirror, [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]),
            (Address::Edge, [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]),
            (Address::MirrorOnceEdge, [2, 2, 2, 2, 2, 1, 0, 0, 1, 2, 2, 2, 2, 2, 2]),
            (Address::HalfBorder, [b, b, b, b, b, b, b, 0, 1, 2, b, b, b, b, b]),
            (Address::MirrorOnceHalfBorder, [b, b, b, b, 2, 1, 0, 0, 1, 2, b, b, b, b, b]),
            (Address::Border, [b, b, b, b, b, b, b, 0, 1, 2, b, b, b, b, b]),
            (Address::MirrorOnceBorder, [b, b, b, b, 2, 1, 0, 0, 1, 2, b, b, b, b, b]),
        ] {
            let found: Vec<u32> = indices.iter().map(|&i| address(mode, Filter::Linear, i, 3).unwrap_or(b)).collect();
            assert_eq!(found, expected, "{mode:?}");
        }
    }

    #[test]
    fn the_remainder_is_exact_over_its_range() {
        for period in (1..70).chain([100, 255, 257, 1000, 4096, 16_383, 16_384, 32_766, 32_768]) {
            let edges = [0i32, 1, 2, 3, 1 << 22, (1 << 22) + 33, (1 << 23) - 1];
            let multiples = (1..200).map(|k| k * period);
            let far = (1..200).map(|k| ((1 << 22) / period - k) * period);
            for base in edges.into_iter().chain(multiples).chain(far) {
                for index in [base - 1, base, base + 1, -base, 1 - base, -1 - base] {
                    if index.abs() <= 1 << 23 {
                        assert_eq!(remainder(index, period), index.rem_euclid(period), "{index} mod {period}");
                    }
                }
            }
        }
    }

    #[test]
    fn point_sampling_never_sees_a_half_border() {
        assert_eq!(address(Address::HalfBorder, Filter::Point, 3, 3), Some(2));
        assert_eq!(address(Address::MirrorOnceHalfBorder, Filter::Point, -4, 3), Some(2));
        assert_eq!(address(Address::Border, Filter::Point, 3, 3), None);
    }
}
