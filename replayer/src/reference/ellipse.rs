//! The elliptical anisotropic filter ([`crate::rules::AnisotropyRule::Ellipse`]).
//!
//! The footprint is the ellipse A u² + B u v + C v² = F around the sample, in texels of one level; each texel in its bounding
//! box has the weight exp(-2 q / 1023), q being the ellipse's form scaled to 1023 on its border, cut to a whole number. The
//! two derivative vectors that span it are differences between neighbouring samples: of each four, the second less the first
//! and the third less the first.

use std::sync::LazyLock;

use crate::{
    reference::{
        Sampler,
        coordinate::{Axis, condition},
        derivatives::half_linear_log2,
        footprint::{Tap, layer},
        lod::{LodOperand, levels},
        operands::{Group, Operands},
        place::place,
    },
    rules::AnisotropyRule,
    state::{Filter, MipMode},
};

/// Entries of the table of weights.
pub const TABLE: usize = 1024;

/// The weights by the scaled form of the ellipse: exp(-2 q / 1023) in FP32, to six decimal places.
pub static WEIGHTS: LazyLock<[f32; TABLE]> = LazyLock::new(|| {
    std::array::from_fn(|q| {
        let distance = q as f32 / (TABLE - 1) as f32;
        let weight = f64::from((f64::from(-2.0 * distance)).exp() as f32);
        ((weight * 1e6).round() / 1e6) as f32
    })
});

/// An ellipse in the texels of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    /// The centre, in texels from the first one's centre.
    pub centre: [f32; 2],
    /// A, B and C, scaled so that the border has [`TABLE`] - 1.
    pub form: [f32; 3],
    /// Columns and rows of the bounding box, first and last.
    pub bounds: [[i32; 2]; 2],
}

impl Ellipse {
    /// The ellipse around a place (in texels from the image's corner) with the two vectors `x` and `y`, in a level of so many
    /// columns and rows.
    ///
    /// Half of its box is limited to twice the level's size and 2: more than coordinates ask for that differ by at most 1, and a
    /// bound where operands have none.
    #[must_use]
    pub fn new(place: [f32; 2], [x, y]: [[f32; 2]; 2], size: [u32; 2]) -> Self {
        let [ux, vx] = x;
        let [uy, vy] = y;
        let a = (vx * vx + vy * vy) + 1.0;
        let b = (ux * vx + uy * vy) * -2.0;
        let c = (ux * ux + uy * uy) + 1.0;
        let f = a * c - (b * b) / 4.0;
        let d = (0.0 - b * b) + (a * c) * 4.0;
        let half_width = (2.0 / d) * ((d * c) * f).sqrt();
        let half_height = (2.0 / d) * ((a * d) * f).sqrt();
        let scale = (TABLE - 1) as f32 / f;
        let centre = place.map(|place| place + -0.5);
        let bounds = [(0, half_width), (1, half_height)].map(|(axis, half): (usize, f32)| {
            let half = half.min((2 * size[axis] + 2) as f32);
            [(centre[axis] - half).floor() as i32, (centre[axis] + half).ceil() as i32]
        });
        Self { centre, form: [a * scale, b * scale, c * scale], bounds }
    }

    /// Visits the texels with their weights, row by row; those without weight are passed over.
    pub fn each_texel(&self, mut visit: impl FnMut(i32, i32, f32)) {
        let [a, b, c] = self.form;
        let [[first, last], [top, bottom]] = self.bounds;
        let u = first as f32 - self.centre[0];
        let step_first = ((u + u) + 1.0) * a;
        let form_first = (u * u) * a;
        for row in top..=bottom {
            let v = row as f32 - self.centre[1];
            let mut step = v * b + step_first;
            let mut form = (c * v + b * u) * v + form_first;
            for column in first..=last {
                let q = form as i32;
                if q < TABLE as i32 {
                    visit(column, row, WEIGHTS[q.max(0) as usize]);
                }
                form += step;
                step += a + a;
            }
        }
    }
}

impl Sampler<'_> {
    /// Whether samples are filtered elliptically.
    #[must_use]
    pub fn is_elliptical(&self) -> bool {
        self.rules.anisotropy == AnisotropyRule::Ellipse && self.state.anisotropy.is_some()
    }

    /// The differences of the coordinates along x and y in the four neighbouring samples.
    fn quad_differences(&self, index: usize) -> [[f32; 2]; 2] {
        let first = index - index % 4;
        // Beyond the last sample coordinates are 0.
        let at = |sample: usize| match sample < self.samples() {
            true => self.layout.coordinates(self.row(sample)).map(|bits| condition(&self.rules, bits)),
            false => [0.0; 3],
        };
        let [origin, x, y] = [first, first + 1, first + 2].map(at);
        [[x[0] - origin[0], x[1] - origin[1]], [y[0] - origin[0], y[1] - origin[1]]]
    }

    /// The level that an elliptical sample reads: by the shorter of the two vectors, cut, whatever the mip filter.
    fn elliptical_level(&self, index: usize) -> u32 {
        let state = self.state;
        let size = self.image.extent.level_size(state.base_level);
        let squares = self.quad_differences(index).map(|[u, v]| {
            let (u, v) = (u * size[0] as f32, v * size[1] as f32);
            u * u + v * v
        });
        let operands = self.layout.read(self.row(index));
        let lod = half_linear_log2(squares[0].min(squares[1]));
        let source = LodOperand { bits: lod.to_bits(), bias: operands.bias, clamp: operands.clamp, explicit: false };
        match state.mip {
            MipMode::Base => state.base_level,
            _ => state.base_level + (levels(&self.rules, state, &source).lod as u32).min(state.last_level),
        }
    }

    /// The level that an elliptical footprint reads, and its texels with their weights, in the order in which they are added
    /// up.
    #[must_use]
    pub fn elliptical_taps(&self, index: usize, operands: &Operands) -> (u32, Vec<(Tap, f32)>) {
        let mut taps = Vec::new();
        let level = self.each_elliptical_tap(index, operands, |tap, weight| taps.push((tap, weight)));
        (level, taps)
    }

    fn each_elliptical_tap(&self, index: usize, operands: &Operands, mut visit: impl FnMut(Tap, f32)) -> u32 {
        let state = self.state;
        let size = self.image.extent.level_size(state.base_level);
        let differences = self.quad_differences(index);
        let level = self.elliptical_level(index);
        let scale = 1.0 / (1u32 << (level - state.base_level)) as f32;
        let vectors = differences.map(|[u, v]| [u * size[0] as f32 * scale, v * size[1] as f32 * scale]);
        let place: [f32; 2] = std::array::from_fn(|axis| {
            condition(&self.rules, operands.coordinates[axis]) * (size[axis] as f32 * scale)
        });
        // A texel's place is divided by the size of the level that the first four of the group read.
        let first = index - index % self.rules.sample_group.size().max(4);
        let [width, height, _] = self.image.extent.level_size(self.elliptical_level(first));
        let [columns, rows, _] = self.image.extent.level_size(level);
        Ellipse::new(place, vectors, [columns, rows]).each_texel(|column, row, weight| {
            let at = [column as f32 / width as f32, row as f32 / height as f32];
            visit(self.nearest_texel(level, operands, at), weight);
        });
        level
    }

    /// The filtered channels of an elliptical footprint.
    pub(super) fn ellipse(&self, index: usize, operands: &Operands) -> [u32; 4] {
        let mut sums = [0.0f32; 4];
        let mut whole = 0.0f32;
        self.each_elliptical_tap(index, operands, |tap, weight| {
            for (sum, bits) in sums.iter_mut().zip(tap.channels) {
                *sum += f32::from_bits(bits) * weight;
            }
            whole += weight;
        });
        if whole == 0.0 {
            let mut footprint = self.footprint(&Operands { group: Group::default(), ..*operands });
            footprint.level_count = 1;
            footprint.weights[0][3].linear = false;
            return self.combine(&footprint);
        }
        sums.map(|sum| (sum / whole).to_bits())
    }

    /// The texel at normalized coordinates.
    fn nearest_texel(&self, level: u32, operands: &Operands, at: [f32; 2]) -> Tap {
        let size = self.image.extent.level_size(level);
        let taps: [Option<u32>; 2] = std::array::from_fn(|axis| {
            let about = Axis {
                size: size[axis],
                address: self.state.address[axis],
                filter: Filter::Point,
                unnormalized: false,
                trunc_coord: false,
                offset: operands.offset[axis],
                shift: 0,
                gather: false,
                power_of_two: self.image.extent.level_size(self.state.base_level)[axis].is_power_of_two(),
            };
            place(&self.rules, &about, at[axis].to_bits()).taps[0]
        });
        match taps {
            [Some(x), Some(y)] => {
                let layer = layer(&self.rules, self.state, operands.layer);
                let word = self.image.texel(level, x, y, layer);
                Tap { texel: Some([x, y, layer]), corner: false, word, channels: self.state.format.unpack(word) }
            }
            _ => Tap { texel: None, corner: false, word: 0, channels: self.state.border },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_an_exponential_to_six_places() {
        assert_eq!([0, 1, 44, 1023].map(|q| WEIGHTS[q]), [1.0, 0.998_047, 0.917_575, 0.135_335]);
    }

    #[test]
    fn without_vectors_the_four_nearest_texels_count_alike() {
        let ellipse = Ellipse::new([4.0, 4.0], [[0.0; 2]; 2], [8, 8]);
        assert_eq!((ellipse.form, ellipse.bounds), ([1023.0, 0.0, 1023.0], [[2, 5], [2, 5]]));
        let mut texels = Vec::new();
        ellipse.each_texel(|column, row, weight| texels.push((column, row, weight)));
        let weight = WEIGHTS[511];
        assert_eq!(texels, [(3, 3, weight), (4, 3, weight), (3, 4, weight), (4, 4, weight)]);
    }

    #[test]
    fn a_box_is_bounded_by_the_level() {
        let ellipse = Ellipse::new([0.5, 0.5], [[1e9, 0.0], [0.0, 1.0]], [4, 4]);
        assert_eq!(ellipse.bounds[0], [-10, 10]);
    }
}
