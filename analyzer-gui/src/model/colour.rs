//! Colours of values, differences and distances.

use egui::Color32;

use super::number::WordClass;

/// What is drawn where there is no value: not measured, or outside.
pub const NOT_MEASURED: [Color32; 2] = [Color32::from_rgb(52, 52, 58), Color32::from_rgb(66, 66, 74)];

/// What a heatmap shows where two results agree.
pub const AGREES: Color32 = Color32::from_rgb(16, 18, 24);

/// What a heatmap shows for a NaN against a number.
pub const NAN_AGAINST_NUMBER: Color32 = Color32::from_rgb(255, 0, 255);

/// The overlay's colour of a word that is not an ordinary number.
#[must_use]
pub fn of_class(class: WordClass) -> Option<Color32> {
    match class {
        WordClass::Ordinary => None,
        WordClass::Denormal => Some(Color32::from_rgb(40, 220, 90)),
        WordClass::Infinity => Some(Color32::from_rgb(255, 190, 0)),
        WordClass::Nan => Some(Color32::from_rgb(255, 0, 255)),
    }
}

/// A number limited to 0 to 1; NaN is 0.
#[inline]
fn unit(value: f32) -> f32 {
    if value >= 0.0 { value.min(1.0) } else { 0.0 }
}

/// A range of values that is spread over colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The value of the darkest colour.
    pub low: f32,
    /// The value of the brightest colour.
    pub high: f32,
}

impl Range {
    /// Where a value is in the range, 0 to 1; NaN counts as 0.
    #[must_use]
    #[inline]
    pub fn position(self, value: f32) -> f32 {
        let span = self.high - self.low;
        let at = if span > 0.0 { (value - self.low) / span } else { f32::from(value > self.low) };
        unit(at)
    }
}

/// Linear light, 0 to 1, as the byte of an sRGB picture.
#[must_use]
#[inline]
pub fn srgb_byte(linear: f32) -> u8 {
    let encoded = if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// [`srgb_byte`] by table: at most one step off near the dark end, where the eye sees none.
#[must_use]
#[inline]
pub fn srgb_byte_fast(linear: f32) -> u8 {
    const STEPS: usize = 4096;
    static TABLE: std::sync::LazyLock<Vec<u8>> =
        std::sync::LazyLock::new(|| (0..=STEPS).map(|n| srgb_byte(n as f32 / STEPS as f32)).collect());
    // A float that is too large or negative is cut to the table by the conversion and by `min`.
    TABLE[((linear * STEPS as f32) as usize).min(STEPS)]
}

/// Control points of the scale for sizes: dark violet over red and orange to pale yellow, brightness rising evenly.
const HEAT: [[f32; 3]; 6] = [
    [45.0, 20.0, 92.0],
    [110.0, 28.0, 120.0],
    [178.0, 44.0, 104.0],
    [230.0, 88.0, 62.0],
    [250.0, 158.0, 50.0],
    [252.0, 240.0, 170.0],
];

/// Control points of the scale for signed differences: blue below, near black at zero, orange above.
const SIGNED: [[f32; 3]; 5] =
    [[110.0, 190.0, 255.0], [36.0, 90.0, 190.0], [18.0, 18.0, 22.0], [190.0, 80.0, 20.0], [255.0, 190.0, 90.0]];

fn along(points: &[[f32; 3]], at: f32) -> Color32 {
    let last = points.len() - 1;
    let at = unit(at) * last as f32;
    let first = (at as usize).min(last - 1);
    let rest = at - first as f32;
    let [r, g, b] =
        std::array::from_fn(|c| (points[first][c] + (points[first + 1][c] - points[first][c]) * rest + 0.5) as u8);
    Color32::from_rgb(r, g, b)
}

/// The colour of a size, 0 to 1.
#[must_use]
pub fn heat(at: f32) -> Color32 {
    along(&HEAT, at)
}

/// The colour of a signed difference, −1 to 1.
#[must_use]
pub fn signed(at: f32) -> Color32 {
    along(&SIGNED, at * 0.5 + 0.5)
}

/// Colours that are told apart easily, also by most who see few colours.
const CAUSES: [[u8; 3]; 8] = [
    [86, 180, 233],
    [230, 159, 0],
    [0, 178, 130],
    [240, 228, 66],
    [204, 121, 167],
    [213, 94, 0],
    [60, 110, 220],
    [235, 235, 235],
];

/// The colour of a cause by its place, most samples first; beyond the eighth all are grey, and so is what has none.
#[must_use]
pub fn cause(place: Option<usize>) -> Color32 {
    match place.and_then(|place| CAUSES.get(place)) {
        Some(&[r, g, b]) => Color32::from_rgb(r, g, b),
        None => Color32::from_gray(120),
    }
}

/// Where a distance is on a logarithmic scale up to `most`, 0 to 1.
#[must_use]
pub fn log_position(distance: f64, most: f64) -> f32 {
    if most <= 0.0 { 0.0 } else { ((1.0 + distance).log2() / (1.0 + most).log2()) as f32 }
}

/// A text colour that can be read on a colour.
#[must_use]
pub fn readable_on(colour: Color32) -> Color32 {
    let [r, g, b, _] = colour.to_array().map(u32::from);
    if 299 * r + 587 * g + 114 * b > 140_000 { Color32::BLACK } else { Color32::WHITE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_place_values() {
        let range = Range { low: -1.0, high: 3.0 };
        assert_eq!([-1.0, 1.0, 3.0, 9.0, -9.0, f32::NAN].map(|v| range.position(v)), [0.0, 0.5, 1.0, 1.0, 0.0, 0.0]);
        let point = Range { low: 2.0, high: 2.0 };
        assert_eq!([1.0, 2.0, 3.0].map(|v| point.position(v)), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn brightness_of_the_heat_scale_rises() {
        let light = |c: Color32| 299 * u32::from(c.r()) + 587 * u32::from(c.g()) + 114 * u32::from(c.b());
        let steps: Vec<u32> = (0..=50).map(|n| light(heat(n as f32 / 50.0))).collect();
        assert!(steps.is_sorted(), "{steps:?}");
        assert!(light(AGREES) < steps[0]);
    }

    #[test]
    fn the_fast_encoding_is_off_by_one_step_at_most_beyond_the_dark_end() {
        for n in 0..=100_000 {
            let linear = n as f32 / 100_000.0;
            let (exact, fast) = (srgb_byte(linear), srgb_byte_fast(linear));
            let allowed = if linear < 0.01 { 2 } else { 1 };
            assert!(exact.abs_diff(fast) <= allowed, "{linear}: {exact} {fast}");
        }
        assert_eq!([srgb_byte_fast(f32::NAN), srgb_byte_fast(-1.0), srgb_byte_fast(f32::INFINITY)], [0, 0, 255]);
    }
}
