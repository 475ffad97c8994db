//! [`AnisotropyRule::Pairs`](crate::rules::AnisotropyRule::Pairs): where the probes of an anisotropic filter lie, and their
//! integer weights.
//!
//! Probes stand in pairs on both sides of the sample, a texel of the level apart, along the longest axis of the footprint.
//! Ratio, spacing and weights come from logarithms in steps of 1/256, as the level of detail does. Found on an H200 by
//! sweeps of a single texel through footprints, whose second difference shows places and weights.

use crate::{
    reference::octagon::{Octagon, log2},
    state::{Anisotropy, View},
};

/// Steps of a logarithm in an octave.
pub const OCTAVE: i32 = 256;

/// Probes of a sample, before levels are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// log2 of the footprint's length over its width, 0 to that of the largest ratio, in steps of 1/256. None for 0 and below.
    pub ratio: i32,
    /// Direction of the line in x and y, in 1/64.
    pub direction: [i32; 2],
}

/// Whether there are probes on a view at all: an H200 filters 1D and 3D views as without anisotropy.
#[must_use]
pub fn covers(view: View) -> bool {
    matches!(view, View::D2 | View::D2Array | View::Cube)
}

/// The level of detail, and the line of probes, of a footprint.
#[must_use]
pub fn line(octagon: &Octagon, anisotropy: Anisotropy) -> (f32, Line) {
    let steps = |value: f32| (log2(value) * OCTAVE as f32) as i32;
    let length = steps(octagon.extent);
    // The width is the area over the length.
    let ratio = (2 * length - steps(octagon.area)).clamp(0, OCTAVE * anisotropy.log2_ratio as i32);
    let lod = (length - ratio) as f32 * (1.0 / OCTAVE as f32);
    // Below one texel of the view's first level the footprint counts as a texel wide.
    (lod, Line { ratio: ratio.min(length.max(0)), direction: direction([octagon.axis[0], octagon.axis[1]]) })
}

/// A vector of length 64 in the direction of another one, rounded: looked up by four leading bits of the larger component
/// and the bits of the same places of the smaller, of which one below 1/32 of the larger one's power of two counts as 0.
#[must_use]
pub fn direction(vector: [f32; 2]) -> [i32; 2] {
    let larger = vector[0].abs().max(vector[1].abs());
    let unit = f32::from_bits(larger.to_bits() & 0x7f80_0000);
    if unit == 0.0 {
        return [0; 2];
    }
    let per_cell = 8.0 * f32::from_bits(0x7f00_0000 - unit.to_bits());
    let odd = vector.map(|along| {
        let cells = along.abs() * per_cell;
        if cells < 0.25 { 0.0 } else { 2.0 * cells.floor() + 1.0 }
    });
    let length = f64::from(odd[0] * odd[0] + odd[1] * odd[1]).sqrt();
    std::array::from_fn(|axis| {
        let along = (64.0 * f64::from(odd[axis]) / length + 0.5).floor() as i32;
        if vector[axis] < 0.0 { -along } else { along }
    })
}

/// Coefficients of 2^-t on 0..1, lowest power first: Chebyshev interpolation, error below 2^-24.
pub const EXP2_COEFFICIENTS: [f32; 6] =
    [0.999_999_94, -0.693_143_1, 0.240_178_96, -0.055_298_12, 0.009_209_18, -0.000_946_877];

/// 256 times 2^-`steps`/256, rounded, for 0 to 255: 256 to 128.
#[inline(always)]
#[must_use]
pub fn mantissa(steps: u32) -> u32 {
    let t = steps as f32 * (1.0 / 256.0);
    let power = EXP2_COEFFICIENTS.iter().rev().fold(0.0f32, |sum, c| sum * t + c);
    (power * 256.0 + 0.5) as u32
}

/// The probes in one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelProbes {
    /// Number of pairs; 0 for a single probe in the middle.
    pub pairs: u32,
    /// Weight of a pair's probe; the outermost pair has what is left of [`Self::side`].
    pub weight: u32,
    /// The weight of all probes of one side.
    pub side: u32,
    /// log2 of the weight of all probes.
    pub bits: u32,
    /// From the middle to the first probe in x and y, in 1/128 of a texel. The others lie at odd multiples.
    pub step: [i32; 2],
}

impl LevelProbes {
    /// The probes of a line with this ratio in a level, whose footprint is `2^(stretch/256)` texels wide.
    #[must_use]
    pub fn new(ratio: i32, direction: [i32; 2], stretch: u32) -> Self {
        if ratio <= 0 {
            return Self { pairs: 0, weight: 0, side: 256, bits: 8, step: [0; 2] };
        }
        let rounded = mantissa(ratio as u32 % 256);
        // What is rounded to a half belongs to the next octave.
        let carry = rounded == 128;
        let (octave, inverse) = if carry { (ratio as u32 / 256 + 1, 256) } else { (ratio as u32 / 256, rounded) };
        let (side, bits, weight): (u32, u32, u32) = match octave {
            0 => (256, 9, 256),
            1 => (256, 9, inverse),
            _ => (512, 10, inverse << 2 >> octave),
        };
        let spacing = if octave == 0 { 256 - inverse } else { 128 };
        let stretch = if stretch == 0 { 64 } else { mantissa(256 - stretch) as i32 >> 1 };
        let step = direction.map(|along| ((spacing as i32 * along + 64 >> 7) * stretch) >> 6);
        Self { pairs: side.div_ceil(weight), weight, side, bits, step }
    }

    /// Number of probes.
    #[must_use]
    pub fn count(&self) -> u32 {
        (2 * self.pairs).max(1)
    }

    /// Weight of a probe where the level has `part` of 256: the sums over a side's probes from the middle outwards are
    /// rounded, half up on one side and half down on the other. Probes alternate between the sides.
    #[must_use]
    pub fn share(&self, probe: u32, part: u32) -> u32 {
        if self.pairs == 0 {
            return part;
        }
        let pair = probe / 2;
        let rounded = |whole: u32| match probe % 2 {
            0 => (whole * part + 128) >> 8,
            _ => whole - ((whole * (256 - part) + 128) >> 8),
        };
        let up_to = |pairs: u32| rounded((pairs * self.weight).min(self.side));
        up_to(pair + 1) - up_to(pair)
    }

    /// Where a probe lies, in 1/128 of a texel from the middle.
    #[must_use]
    pub fn place(&self, probe: u32) -> [i32; 2] {
        let odd = (probe / 2 * 2 + 1) as i32;
        self.step.map(|along| if probe.is_multiple_of(2) { odd * along } else { -odd * along })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights that a sweep of one texel through footprints along x gave, in 1/1024, from the middle outwards.
    #[test]
    fn weights_are_the_measured_ones() {
        let of = |ratio: f32| {
            let (_, line) = line(
                &Octagon { extent: ratio, area: ratio, axis: [ratio, 0.0, 0.0] },
                Anisotropy { log2_ratio: 4, threshold: 0 },
            );
            let probes = LevelProbes::new(line.ratio, line.direction, 0);
            let unit = 1024 >> probes.bits;
            (0..probes.pairs).map(|pair| probes.share(2 * pair, 256) * unit).collect::<Vec<u32>>()
        };
        assert_eq!(of(1.0), [0u32; 0]);
        assert_eq!(of(1.5), [512]);
        assert_eq!(of(2.0), [512]);
        assert_eq!(of(2.25), [454, 58]);
        assert_eq!(of(3.0), [342, 170]);
        assert_eq!(of(4.0), [256, 256]);
        assert_eq!(of(5.0), [204, 204, 104]);
        assert_eq!(of(7.0), [146, 146, 146, 74]);
        assert_eq!(of(10.0), [102, 102, 102, 102, 102, 2]);
        assert_eq!(of(14.0), [73, 73, 73, 73, 73, 73, 73, 1]);
        assert_eq!(of(16.0), [64; 8]);
        assert_eq!(of(20.0), [64; 8]);
    }

    #[test]
    fn places_are_the_measured_ones() {
        let first = |ratio: i32, direction, stretch| LevelProbes::new(ratio, direction, stretch).step;
        // 1/256 of a texel in the sweep were 30, 52, 86, 110 and 128 for ratios of 1.125, 1.25, 1.5, 1.75 and 2.
        for (ratio, place) in [(1.125f32, 30), (1.25, 52), (1.5, 86), (1.75, 110), (2.0, 128)] {
            assert_eq!(first((log2(ratio) * 256.0) as i32, [64, 0], 0), [place / 2, 0], "{ratio}");
        }
        // Half the distance is rounded toward +x and +y.
        assert_eq!(first(171, [64, 4], 0), [48, 3]);
        assert_eq!(first(171, [-64, -4], 0), [-47, -3]);
        // Stretched by 1.25 and 1.7.
        assert_eq!(first(513, [64, 0], 82), [80, 0]);
        assert_eq!(first(406, [64, 0], 196), [109, 0]);
        let probes = LevelProbes::new(600, [60, 22], 0);
        assert_eq!([0, 1, 2, 5].map(|n| probes.place(n)), [[60, 22], [-60, -22], [180, 66], [-300, -110]]);
    }

    /// Pairs of a level that has 174 of 256, as the sweep gave them.
    #[test]
    fn sums_of_weights_are_rounded_from_the_middle_outwards() {
        let probes = LevelProbes::new(513, [64, 0], 82);
        assert_eq!((0..6).map(|n| probes.share(n, 174)).collect::<Vec<u32>>(), [173, 173, 174, 174, 1, 1]);
        let sixteen = LevelProbes::new(1024, [64, 0], 26);
        assert_eq!([0, 1, 2, 3].map(|n| sixteen.share(n, 230)), [58, 57, 57, 58]);
        for ratio in -3..=1024 {
            for part in [1, 83, 128, 255, 256] {
                let probes = LevelProbes::new(ratio, [64, 0], 0);
                let sum: u32 = (0..probes.count()).map(|n| probes.share(n, part)).sum();
                assert_eq!(sum, part << (probes.bits - 8), "{ratio} {part}");
            }
        }
    }

    #[test]
    fn directions_are_the_measured_ones() {
        for (vector, expected) in [
            ([15.6, 0.4], [64, 2]),
            ([16.0, 0.45], [64, 0]),
            ([-15.0, 1.0], [-64, 6]),
            ([14.2, 6.9], [58, 26]),
            ([3.0, -3.1], [45, -45]),
            ([8.5, 5.2], [54, 35]),
            ([0.0, -2.0], [0, -64]),
            ([0.0, 0.0], [0, 0]),
        ] {
            assert_eq!(direction(vector), expected, "{vector:?}");
        }
    }

    #[test]
    fn the_polynomial_gives_the_rounded_powers() {
        for steps in 0..256u32 {
            let exact = (256.0 * 2f64.powf(-f64::from(steps) / 256.0) + 0.5).floor() as u32;
            assert_eq!(mantissa(steps), exact, "{steps}");
        }
    }
}
