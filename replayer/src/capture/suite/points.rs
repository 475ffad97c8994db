//! Coordinates of the suites.

use crate::generate::Random;

/// Values that coordinates and levels of detail seldom have.
pub const SPECIAL: [u32; 26] = [
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x0000_0001, // smallest denormal
    0x8000_0001,
    0x007f_ffff, // largest denormal
    0x807f_ffff,
    0x0080_0000, // smallest normal number
    0x3380_0000, // 2^-24
    0x3f00_0000, // 0.5
    0x3f7f_ffff, // just below 1
    0x3f80_0000, // 1
    0x3f80_0001, // just above 1
    0xbf80_0000, // -1
    0xbf80_0001,
    0xb380_0000, // -2^-24
    0x4b00_0000, // 2^23
    0x4b80_0001, // above 2^24
    0xcb80_0001,
    0x4f00_0000, // 2^31
    0xcf00_0001, // below -2^31
    0x5f00_0000, // 2^63
    0x7f7f_ffff, // largest finite number
    0xff7f_ffff,
    0x7f80_0000, // infinity
    0xff80_0000,
    0x7fc0_0000, // NaN
];

/// `count` points from texel `from` on over one texel, evenly: off the 1/256 grid where `count` is above 256.
pub fn sweep(size: u32, from: f64, count: usize) -> Vec<u32> {
    (0..count).map(|n| normalized(from + n as f64 / (count - 1).max(1) as f64, size)).collect()
}

/// Positions halfway between two steps of 1/256 of a texel, and beside them by 2^-12 … 2^-18 texels.
pub fn ties(size: u32, from: f64, count: usize, random: &mut Random) -> Vec<u32> {
    (0..count)
        .map(|_| {
            let tie = from + (f64::from(random.below(256)) + 0.5) / 256.0;
            let beside = match random.below(3) {
                0 => 0.0,
                1 => 0.5f64.powi(12 + random.below(7) as i32),
                _ => -0.5f64.powi(12 + random.below(7) as i32),
            };
            normalized(tie + beside, size)
        })
        .collect()
}

/// Texel edges k and k ± 2^-n, n to 24, along an axis of `size` texels.
pub fn edges(size: u32, count: usize, random: &mut Random) -> Vec<u32> {
    let near = |k: u32, n: u32, side: u32| {
        let distance = [0.0, 0.5f64.powi(n as i32), -(0.5f64.powi(n as i32))][side as usize];
        f64::from(k) + distance
    };
    let all = (size as usize + 1) * 24 * 2 + size as usize + 1;
    if all <= count {
        let mut points: Vec<u32> = (0..=size).map(|k| normalized(near(k, 0, 0), size)).collect();
        for k in 0..=size {
            for n in 1..=24 {
                points.extend([1, 2].map(|side| normalized(near(k, n, side), size)));
            }
        }
        return points;
    }
    (0..count)
        .map(|_| {
            let (k, n, side) = (random.below(size + 1), 1 + random.below(24), random.below(3));
            normalized(near(k, n, side), size)
        })
        .collect()
}

/// A position in texels as a normalized coordinate, rounded once.
pub fn normalized(texels: f64, size: u32) -> u32 {
    ((texels / f64::from(size)) as f32).to_bits()
}

/// Every pair, cut to `count`.
pub fn pairs(values: &[u32], count: usize) -> Vec<[u32; 2]> {
    values.iter().flat_map(|&a| values.iter().map(move |&b| [a, b])).take(count).collect()
}
