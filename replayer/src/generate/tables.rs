//! Tables of descriptors in random dispatches.

use capture_format::{Column, Coords, Dispatch, LodSource, OpKind, SamplerDescriptor, TableImage, TexelFormat};

use super::{FLOATS, Random, SharedState, border_color, image, sampler, sizes, texel, texel_count};
use crate::rules::Accumulation;

/// Makes a dispatch one with tables: the T# and the S# that are there become the first entries, and each sample (each
/// quad, where the level of detail comes from quads) chooses at random.
pub(super) fn add(random: &mut Random, state: &SharedState, dispatch: &mut Dispatch) {
    let takes_sampler = dispatch.op.kind != OpKind::Load;
    let (mut images, mut samplers) = (1 + random.below(8), if takes_sampler { 1 + random.below(5) } else { 0 });
    match random.below(4) {
        0 if takes_sampler => images = 0,
        1 => samplers = 0,
        _ => {}
    }
    dispatch.more_images = (0..images).map(|_| more_image(random, state)).collect();
    dispatch.more_samplers = (0..samplers).map(|_| more_sampler(random, state, dispatch)).collect();
    choose(random, dispatch);
}

fn more_image(random: &mut Random, state: &SharedState) -> TableImage {
    let integer = state.format.kind().is_integer();
    let formats: Vec<TexelFormat> = TexelFormat::all()
        .filter(|format| format.kind().is_integer() == integer)
        .filter(|format| {
            state.profile.rules.accumulation == Accumulation::Fp32 || integer || matches!(format.code(), 36 | 43)
        })
        .collect();
    let format = if !integer && random.one_in(2) { random.pick(&FLOATS) } else { random.pick(&formats) };
    let levels = if random.one_in(3) { 1 } else { 1 + random.below(5) };
    let base_level = random.below(levels);
    let other = SharedState {
        profile: state.profile.clone(),
        format,
        image: image(random, state.view, format),
        levels,
        base_level,
        last_level: base_level + random.below(levels - base_level),
        border_table: Vec::new(),
        image_min_lod: if random.one_in(4) { random.below(256 * levels) } else { 0 },
        ..*state
    };
    let (image, size, layers) = sizes(random, &other);
    let texels: Vec<u32> = (0..texel_count(size, layers, levels)).map(|_| texel(random, format)).collect();
    TableImage { words: image.words(), texels: texels.into() }
}

fn more_sampler(random: &mut Random, state: &SharedState, dispatch: &mut Dispatch) -> [u32; 4] {
    let unnormalized = state.sampler.force_unnormalized() && random.one_in(2);
    let sampler: SamplerDescriptor = sampler(random, state.op, state.view, state.format, unnormalized, state.levels);
    if dispatch.border_table.is_empty() {
        dispatch.border_table = (0..4).map(|_| border_color(random, state.format)).collect();
    }
    sampler.words()
}

/// Adds the columns that choose.
fn choose(random: &mut Random, dispatch: &mut Dispatch) {
    let tables = [
        (Column::Image, dispatch.image_count() as u32, !dispatch.more_images.is_empty()),
        (Column::Sampler, dispatch.sampler_count() as u32, !dispatch.more_samplers.is_empty()),
    ];
    let quads = matches!(dispatch.op.lod, LodSource::Implicit | LodSource::Bias);
    let [width, height, _] = dispatch.grid;
    for (column, count, there) in tables {
        if !there {
            continue;
        }
        let chosen: Vec<u32> = (0..width * height).map(|_| random.below(count)).collect();
        let entry = |sample: usize| {
            let (x, y) = (sample as u32 % width, sample as u32 / width);
            let place = if quads { (y & !1) * width + (x & !1) } else { y * width + x };
            chosen.get(place as usize).copied().unwrap_or(0)
        };
        let Coords { columns, words } = &dispatch.coords;
        let front = random.one_in(2);
        let mut all = Vec::with_capacity(words.len() + chosen.len());
        for (sample, row) in words.chunks_exact(columns.len()).enumerate() {
            let (before, after) = if front { (Some(entry(sample)), None) } else { (None, Some(entry(sample))) };
            all.extend(before);
            all.extend(row);
            all.extend(after);
        }
        let mut columns = columns.clone();
        columns.insert(if front { 0 } else { columns.len() }, column);
        dispatch.coords = Coords { columns, words: all.into() };
    }
}
