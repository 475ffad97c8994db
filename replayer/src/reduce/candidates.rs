//! Smaller inputs that are worth a try.

use capture_format::{Column, Coords, Dispatch, ImageDescriptor, NumericKind, SamplerDescriptor, TexelFormat};

use crate::{
    explain::model::one,
    state::{Extent, View},
};

/// The most texels along an axis.
const LARGEST: u32 = 4;

/// Sizes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    size: [u32; 3],
    layers: u32,
    levels: u32,
}

impl Shape {
    pub(super) fn texels(&self, _view: View) -> u64 {
        Extent { size: self.size, layers: self.layers, levels: self.levels }.texels()
    }
}

/// Every small shape for a view, smallest first.
pub(super) fn shapes(view: View, levels: u32) -> Vec<Shape> {
    let sizes = |used: bool| if used { 1..=LARGEST } else { 1..=1 };
    let axes = view.axes();
    let mut shapes = Vec::new();
    for levels in 1..=levels.min(2) {
        for x in sizes(true) {
            for y in sizes(axes >= 2) {
                for z in sizes(axes >= 3) {
                    for layers in sizes(view.is_layered()) {
                        let layers = if view == View::Cube { layers * 6 } else { layers };
                        let square = view != View::Cube || x == y;
                        if square && levels <= x.max(y).max(z).ilog2() + 1 {
                            shapes.push(Shape { size: [x, y, z], layers, levels });
                        }
                    }
                }
            }
        }
    }
    shapes.sort_by_key(|s| (s.texels(view), s.levels, s.size));
    shapes
}

/// What a smaller image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Zeros and ones in turn, along every axis and between levels.
    Checker,
    /// One texel of ones, the rest zero.
    Single,
    /// Words with many bits, all different, by a seed; floats are near each other.
    Noise(u32),
    /// Words with many bits, all different, by a seed; floats are of any finite size.
    Wide(u32),
    /// What the original holds around the taps.
    Original,
}

/// What is tried first, with simple texels before others.
pub(super) const PLAIN_FILLS: [Fill; 5] =
    [Fill::Single, Fill::Checker, Fill::Original, Fill::Noise(FIRST_SEED), Fill::Wide(FIRST_SEED)];

/// What is tried where no small image shows the cause with those: a sum's last bits show for few texels.
pub(super) fn more_fills() -> Vec<Fill> {
    const SEEDS: u32 = 12;
    (1..=SEEDS).map(|n| Fill::Wide(FIRST_SEED.wrapping_mul(2 * n + 1))).collect()
}

const FIRST_SEED: u32 = 0x9e37_79b9;

/// A quad with an image of another shape: its samples stay as far apart in texels, and the first is at a few places.
pub(super) fn quads_with_shape(
    dispatch: &Dispatch,
    view: View,
    extent: &Extent,
    base_level: u32,
    shape: Shape,
    fill: Fill,
) -> Vec<Dispatch> {
    let Some(batch) = with_shape(dispatch, view, extent, base_level, shape, fill) else { return Vec::new() };
    let columns = dispatch.coords.columns.len();
    let (old, new) = (extent.level_size(base_level), shape.size);
    let unnormalized = is_unnormalized(dispatch);
    let Some(kept) = batch.coords.words.get(..columns).map(<[u32]>::to_vec) else { return Vec::new() };
    let quad = |place: Option<f64>| {
        let mut words = dispatch.coords.words.to_vec();
        let mut axis = 0;
        for (at, column) in dispatch.coords.columns.iter().enumerate() {
            let of_axis = matches!(column, Column::U | Column::V | Column::W);
            let (from, to) =
                if unnormalized || !of_axis { (1.0, 1.0) } else { (f64::from(old[axis]), f64::from(new[axis])) };
            let first = f64::from(f32::from_bits(dispatch.coords.words[at]));
            let start = match place {
                Some(place) if of_axis => place,
                _ => f64::from(f32::from_bits(kept[at])) * to,
            };
            for row in words.chunks_exact_mut(columns) {
                if of_axis {
                    let texels = start + (f64::from(f32::from_bits(row[at])) - first) * from;
                    row[at] = ((texels / to) as f32).to_bits();
                } else if *column == Column::Layer {
                    row[at] = kept[at];
                }
            }
            axis += usize::from(of_axis);
        }
        let coords = Coords { columns: dispatch.coords.columns.clone(), words: words.into() };
        Dispatch { coords, grid: dispatch.grid, ..batch.clone() }
    };
    let places = [None, Some(0.5), Some(0.25), Some(0.75), Some(1.0), Some(0.501), Some(0.999)];
    places.into_iter().map(quad).collect()
}

fn is_unnormalized(dispatch: &Dispatch) -> bool {
    let set = |words| SamplerDescriptor::from_words(words).force_unnormalized();
    dispatch.sampler.is_some_and(set)
}

/// The dispatch with an image of another shape, and a row for every operand that is worth a try.
pub(super) fn with_shape(
    dispatch: &Dispatch,
    view: View,
    extent: &Extent,
    base_level: u32,
    shape: Shape,
    fill: Fill,
) -> Option<Dispatch> {
    let small = Extent { size: shape.size, layers: shape.layers, levels: shape.levels };
    let mut words = dispatch.image;
    let depth = match view {
        View::D3 => shape.size[2] - 1,
        view if view.is_layered() => shape.layers - 1,
        _ => 0,
    };
    for (field, value) in [
        (&ImageDescriptor::WIDTH_LO, (shape.size[0] - 1) & 3),
        (&ImageDescriptor::WIDTH_HI, (shape.size[0] - 1) >> 2),
        (&ImageDescriptor::HEIGHT, shape.size[1] - 1),
        (&ImageDescriptor::DEPTH, depth),
        (&ImageDescriptor::BASE_ARRAY, 0),
        (&ImageDescriptor::BASE_LEVEL, 0),
        (&ImageDescriptor::LAST_LEVEL, shape.levels - 1),
        (&ImageDescriptor::MAX_MIP, shape.levels - 1),
        (&ImageDescriptor::MIN_LOD, 0),
    ] {
        field.insert(&mut words, value).ok()?;
    }
    let unnormalized = is_unnormalized(dispatch);
    let row = dispatch.coords.words.get(..dispatch.coords.columns.len())?;
    let (rows, moved) = operand_rows(&dispatch.coords.columns, row, view, extent, base_level, &small, unnormalized);
    let texels = fill_texels(dispatch, extent, base_level, &small, fill, moved);
    let count = u32::try_from(rows.len() / row.len().max(1)).ok()?;
    let coords = Coords { columns: dispatch.coords.columns.clone(), words: rows.into() };
    Some(Dispatch { image: words, texels: texels.into(), coords, grid: [count, 1, 1], ..dispatch.clone() })
}

/// Rows of operands, those nearest to the original first, and by how many texels the original moved along each axis.
fn operand_rows(
    columns: &[Column],
    row: &[u32],
    view: View,
    extent: &Extent,
    base_level: u32,
    small: &Extent,
    unnormalized: bool,
) -> (Vec<u32>, [i64; 3]) {
    let old = extent.level_size(base_level);
    let mut moved = [0i64; 3];
    let mut kept = row.to_vec();
    let mut centred = row.to_vec();
    let mut choices: Vec<Vec<u32>> = Vec::new();
    let mut axis = 0;
    for (at, column) in columns.iter().enumerate() {
        let word = row[at];
        match column {
            Column::U | Column::V | Column::W => {
                let (from, to) = (f64::from(old[axis]), f64::from(small.size[axis]));
                let c = f64::from(f32::from_bits(word));
                let texels = if unnormalized { c } else { c * from };
                let operand = |texels: f64| {
                    let scaled = if unnormalized { texels } else { texels / to };
                    (scaled as f32).to_bits()
                };
                if texels.is_finite() {
                    let target = match texels {
                        t if t < 0.0 => t.max(-2.0 * to),
                        t if t >= from => (t - from).min(to) + to,
                        t => t % to,
                    };
                    moved[axis] = (texels.floor() - target.floor()) as i64;
                    kept[at] = operand(target);
                }
                centred[at] = operand(0.5);
                choices.push(positions(texels, small.size[axis]).into_iter().map(operand).collect());
                axis += 1;
            }
            Column::X | Column::Y | Column::Z => {
                let (index, size) = (f32::from_bits(word), small.size[axis]);
                let target = if index.is_finite() && index >= 0.0 && index < old[axis] as f32 {
                    index % size as f32
                } else {
                    index
                };
                moved[axis] = (f64::from(index) - f64::from(target)) as i64;
                kept[at] = target.to_bits();
                centred[at] = kept[at];
                choices.push((0..size).map(|i| (i as f32).to_bits()).collect());
                axis += 1;
            }
            Column::Layer if view.is_layered() => {
                let layer = f32::from_bits(word);
                kept[at] = (layer - layer.floor() + layer.floor() % small.layers as f32).to_bits();
                centred[at] = 0;
                choices.push((0..=small.layers * 4).map(|i| (i as f32 * 0.25).to_bits()).collect());
            }
            Column::Lod | Column::Clamp | Column::Bias => {
                let lod = f32::from_bits(word);
                let whole = if lod > 0.0 { lod.floor() } else { 0.0 };
                let mut lods = vec![word, (lod - whole).to_bits()];
                lods.extend([0.5f32, 0.25, 0.75, 1.0, 0.49, 0.0, -0.5].map(f32::to_bits));
                lods.extend((0..1024u16).map(|i| (f32::from(i) / 1024.0).to_bits()));
                centred[at] = 0;
                choices.push(lods);
            }
            Column::S | Column::T => {
                // The cube instructions give 1 to 2 on a face.
                let size = f64::from(small.size[axis]);
                let operand = |texels: f64| ((1.0 + texels / size) as f32).to_bits();
                centred[at] = ((1.0 + 0.5 / size) as f32).to_bits();
                choices.push(
                    positions(f64::from(f32::from_bits(word)) - 1.0, small.size[axis])
                        .into_iter()
                        .map(operand)
                        .collect(),
                );
                axis += 1;
            }
            Column::Face => {
                centred[at] = 0;
                choices.push((0..6u8).map(|face| f32::from(face).to_bits()).collect());
            }
            Column::Dudx | Column::Dudy => kept[at] = rescaled(word, old[0], small.size[0], &mut choices),
            Column::Dvdx | Column::Dvdy => kept[at] = rescaled(word, old[1], small.size[1], &mut choices),
            Column::Dwdx | Column::Dwdy => kept[at] = rescaled(word, old[2], small.size[2], &mut choices),
            Column::Offset => {
                // It would lead out of a small image, whatever the coordinates are.
                centred[at] = 0;
                choices.push(vec![0]);
            }
            _ => choices.push(vec![0]),
        }
    }
    let mut rows = Vec::new();
    rows.extend(&kept);
    rows.extend(&centred);
    // The same position along all axes.
    let coordinates: Vec<usize> = columns
        .iter()
        .enumerate()
        .filter(|(_, c)| matches!(c, Column::U | Column::V | Column::W))
        .map(|(at, _)| at)
        .collect();
    let longest = coordinates.iter().map(|&at| choices[at].len()).max().unwrap_or(0);
    for base in [&centred, &kept] {
        for (at, choices) in choices.iter().enumerate() {
            for &choice in choices {
                let mut row = base.clone();
                row[at] = choice;
                rows.extend(row);
            }
        }
        for n in 0..longest {
            let mut row = base.clone();
            for &at in &coordinates {
                row[at] = choices[at].get(n).or(choices[at].last()).copied().unwrap_or_default();
            }
            rows.extend(row);
        }
    }
    (rows, moved)
}

/// A derivative that covers as many texels of the smaller image.
fn rescaled(word: u32, old: u32, small: u32, choices: &mut Vec<Vec<u32>>) -> u32 {
    let texels = f32::from_bits(word) * old as f32;
    choices.push([0.0, 0.5, 1.0, 2.0, 3.0, 4.0].map(|n: f32| (n / small as f32).to_bits()).to_vec());
    (texels / small as f32).to_bits()
}

/// Positions in texels along an axis of `size`: short ones, those with the original's fraction, every half step of 1/256 over
/// two texels, and what lies just beside edges and steps.
fn positions(original: f64, size: u32) -> Vec<f64> {
    let mut all = Vec::new();
    let around = -1..=i64::from(size);
    all.extend((-4..=i64::from(size) * 4 + 4).map(|k| k as f64 / 4.0));
    if original.is_finite() {
        all.extend(around.clone().map(|i| i as f64 + (original - original.floor())));
    }
    for edge in around {
        all.extend([-1.0, 1.0].iter().flat_map(|s| [2f64.powi(-12), 2f64.powi(-20)].map(|d| edge as f64 + s * d)));
    }
    let steps = 512 * i64::from(size.min(2)) + 256;
    all.extend((-256..steps).map(|k| k as f64 / 512.0));
    all.extend((0..steps).step_by(2).flat_map(|k| {
        let tie = (k as f64 + 1.0) / 512.0;
        [tie - 2f64.powi(-22), tie + 2f64.powi(-22)]
    }));
    all
}

/// The word without infinities and NaN in its small floats.
fn finite(format: Option<TexelFormat>, word: u32) -> u32 {
    let Some(format) = format.filter(|f| f.kind() == NumericKind::Float) else { return word };
    format.channels().iter().fold(word, |word, channel| {
        let mantissa_bits = channel.bits.saturating_sub(5);
        let code = channel.extract(word);
        let is_special = channel.bits <= 11 && code >> mantissa_bits == 31;
        if is_special { word & !(1 << (channel.shift + mantissa_bits)) } else { word }
    })
}

fn fill_texels(
    dispatch: &Dispatch,
    extent: &Extent,
    base_level: u32,
    small: &Extent,
    fill: Fill,
    moved: [i64; 3],
) -> Vec<u32> {
    let one = one(dispatch.image);
    let format = TexelFormat::from_code(ImageDescriptor::from_words(dispatch.image).format());
    let image = crate::reference::image::Image::new(extent.clone(), &dispatch.texels);
    let mut texels = Vec::new();
    let mut noise = match fill {
        Fill::Noise(seed) | Fill::Wide(seed) => seed,
        Fill::Checker | Fill::Single | Fill::Original => 0,
    };
    for level in 0..small.levels {
        let [width, height, depth] = small.level_size(level);
        let slices = depth * small.layers;
        for z in 0..slices {
            for y in 0..height {
                for x in 0..width {
                    texels.push(match fill {
                        Fill::Single => {
                            let corner = [width, height, slices].map(|n| (n - 1).min(1));
                            if [x, y, z] == corner && level == small.levels - 1 { one } else { 0 }
                        }
                        Fill::Checker => {
                            if (x + y + z + level) % 2 == 1 {
                                one
                            } else {
                                0
                            }
                        }
                        Fill::Noise(_) => {
                            noise = noise.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                            // Exponents of the small floats stay finite and near each other.
                            noise & 0x4fe7_f9fe | 0x6008_0100
                        }
                        Fill::Wide(_) => {
                            noise = noise.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                            // The generator's high bits are the good ones.
                            finite(format, noise.rotate_left(13))
                        }
                        Fill::Original => {
                            let from = (base_level + level).min(extent.levels - 1);
                            let size = extent.level_size(from);
                            let at = [x, y, z].map(i64::from);
                            let place = |axis: usize, count: u32| {
                                let shifted = at[axis] + (moved[axis] >> level);
                                shifted.rem_euclid(i64::from(count.max(1))) as u32
                            };
                            let (x, y) = (place(0, size[0]), place(1, size[1]));
                            let z = place(2, size[2].max(extent.layers));
                            image.as_ref().map_or(0, |image| image.texel(from, x, y, z))
                        }
                    });
                }
            }
        }
    }
    texels
}

/// Shorter values for an operand, shortest first.
pub(super) fn short_operands(column: Column, now: u32) -> Vec<u32> {
    if column == Column::Offset {
        return if now == 0 { Vec::new() } else { vec![0] };
    }
    let mut short = vec![0.0f32, 0.5, 1.0, 0.25, 0.75, -1.0, -0.5, 1.5];
    for bits in 3..=10 {
        let whole = 1i32 << bits;
        short.extend((1..whole).step_by(2).map(|k| k as f32 / whole as f32));
    }
    let length = |word: u32| (23 - (word & 0x007f_ffff | 0x0080_0000).trailing_zeros()).min(23);
    let value = f32::from_bits(now);
    short
        .into_iter()
        .filter(|s| now != s.to_bits() && (!value.is_finite() || length(s.to_bits()) < length(now) || *s == 0.0))
        .map(f32::to_bits)
        .collect()
}
