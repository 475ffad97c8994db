//! The taps of one sample: which texels are read, and with which weights.

use crate::{
    reference::{
        blend::{AxisWeight, Corners, Weights},
        coordinate::{Axis, Position, Rounding, condition, position},
        cube::across_edges,
        image::Image,
        lod::{Levels, levels},
        operands::Operands,
        place::{INTEGER_END, place},
    },
    rules::{CubeCorner, CubeDirection, IntegerConversion, LayerRounding, Rules, TruncCoord, ZFilterRule},
    state::{Address, Filter, SliceFilter, State, View},
};

/// One texel of a footprint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tap {
    /// Where it is in its level: x, y, and slice or resource layer; `None` for the border. Beyond a cube's corner, the
    /// face's own texel there.
    pub texel: Option<[u32; 3]>,
    /// Whether this stands for the place beyond a cube's corner, so that its channels are made of three texels.
    pub corner: bool,
    /// The packed word; 0 for the border.
    pub word: u32,
    /// The unpacked channels before DST_SEL (FP32 bits; integers for integer formats).
    pub channels: [u32; 4],
}

/// All that decides a filtered sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    /// The levels.
    pub levels: Levels,
    /// Resource level of each of the two.
    pub resource_levels: [u32; 2],
    /// Number of levels read: 1 or 2.
    pub level_count: usize,
    /// XY filter in force.
    pub filter: Filter,
    /// Filter along z in force.
    pub slice_filter: Filter,
    /// Position along each axis in each level read.
    pub positions: [[Position; 3]; 2],
    /// Layer of the resource that is read; 0 without layers.
    pub layer: u32,
    /// The taps, `[level][slice][row][column]`; those that are not read are all zero.
    pub taps: [[[[Tap; 2]; 2]; 2]; 2],
    /// Row and column of the place beyond a cube's corner in each level read, where there is one.
    pub corners: Corners,
    /// Whether texels and weights are multiplied one by one in each level, by [`CubeCorner::Thirds`].
    pub products: [bool; 2],
    /// Weights along x, y, z and between levels. Those along an axis are the same in both levels only when the position is,
    /// so they are given by level.
    pub weights: [Weights; 2],
}

/// The levels of a sample.
#[must_use]
pub fn levels_of(rules: &Rules, state: &State, operands: &Operands) -> Levels {
    levels(rules, state, &operands.lod_operand())
}

/// One probe of an anisotropic filter, in one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The level: 0 for the first one that the sample reads, 1 for the one after it.
    pub level: usize,
    /// Where it lies beside the sample along x, y and z, in 1/128 of a texel of its level.
    pub shift: [i32; 3],
    /// Its integer weight.
    pub share: u32,
    /// log2 of the weight of all probes.
    pub bits: u32,
}

/// Chooses levels, positions and taps of a sample.
#[must_use]
pub fn footprint(rules: &Rules, state: &State, image: &Image<'_>, operands: &Operands, gather: bool) -> Footprint {
    footprint_of(rules, state, image, operands, gather, None)
}

/// Chooses levels, positions and taps of a sample, or of one of its probes, whose taps are in one level only.
#[must_use]
pub fn footprint_of(
    rules: &Rules,
    state: &State,
    image: &Image<'_>,
    operands: &Operands,
    gather: bool,
    probe: Option<&Probe>,
) -> Footprint {
    let levels = levels_of(rules, state, operands);
    let own_filter = if gather {
        Filter::Linear
    } else if levels.minify {
        state.min
    } else {
        state.mag
    };
    let filter = if operands.group.linear { Filter::Linear } else { own_filter };
    // One of the group is linear, this one is not: the nearest texel gets all of the weight.
    let snaps = filter != own_filter;
    let own_slices = match state.slices {
        SliceFilter::Own(own) if rules.z_filter == ZFilterRule::Own => Some(own),
        _ => None,
    };
    let slice_filter_is_own = own_slices.is_some();
    let slice_filter = own_slices.unwrap_or(filter);
    let layer = layer(rules, state, operands.layer);
    let seamless = state.view == View::Cube && state.cube_wrap;
    let two_levels = levels.weight > 0.0 || operands.group.levels;
    let mut result = Footprint {
        levels,
        resource_levels: [state.base_level + levels.level, state.base_level + levels.next],
        level_count: if two_levels { 2 } else { 1 },
        filter,
        slice_filter,
        positions: [[Position { index: 0, step: 0, weight: 0.0 }; 3]; 2],
        layer,
        taps: Default::default(),
        corners: [None; 2],
        products: operands.group.products,
        weights: [[AxisWeight::default(); 4]; 2],
    };
    let shift = probe.map_or([0; 3], |probe| probe.shift);
    for m in 0..result.level_count {
        if probe.is_some_and(|probe| probe.level != m) {
            continue;
        }
        let level = result.resource_levels[m];
        let size = image.extent.level_size(level);
        let mut indices = [[Index::Inside(0); 2]; 3];
        for axis in 0..state.view.axes() {
            let filter = if axis == 2 { slice_filter } else { filter };
            let about = Axis {
                size: size[axis],
                // A seamless cube's edge is neither clamped nor wrapped: the taps beyond it lie on another face.
                address: if seamless { Address::Border } else { state.address[axis] },
                filter,
                unnormalized: state.unnormalized,
                trunc_coord: state.trunc_coord,
                offset: operands.offset[axis],
                shift: shift[axis],
                gather,
                power_of_two: image.extent.level_size(state.base_level)[axis].is_power_of_two(),
            };
            let coordinate = operands.coordinates[axis];
            let coordinate = if state.view == View::Cube { on_face(rules, coordinate) } else { coordinate };
            let found = (!seamless).then(|| place(rules, &about, coordinate));
            let mut at = found.map_or_else(|| position(rules, &about, coordinate), |found| found.position);
            if snaps && !(axis == 2 && slice_filter_is_own) {
                at.weight = if at.weight <= 0.5 { 0.0 } else { 1.0 };
            }
            result.positions[m][axis] = at;
            let bits = rules.subtexel_bits.bits().unwrap_or(0);
            result.weights[m][axis] =
                AxisWeight { linear: filter == Filter::Linear, step: at.step, bits, weight: at.weight };
            for tap in 0..2 {
                indices[axis][tap] = match found {
                    None => {
                        let last = about.size as i32 - 1;
                        let first = if filter == Filter::Point { 0 } else { -1 };
                        Index::Free(at.index.clamp(first, last) + tap as i32)
                    }
                    Some(found) => found.taps[tap].map_or(Index::Border, Index::Inside),
                };
            }
        }
        result.weights[m][3] = AxisWeight { linear: two_levels, step: levels.step, bits: 8, weight: levels.weight };
        let count = |axis: usize| if result.weights[m][axis].linear { 2 } else { 1 };
        for z in 0..count(2) {
            for y in 0..count(1) {
                for x in 0..count(0) {
                    let tap = match (indices[0][x], indices[1][y], indices[2][z]) {
                        (Index::Free(i), Index::Free(j), _) => cube_tap(rules, state, image, level, layer, [i, j]),
                        (Index::Inside(x), Index::Inside(y), Index::Inside(z)) => {
                            let z = if state.view == View::D3 { z } else { layer };
                            texel_tap(state, image, level, [x, y, z])
                        }
                        _ => Tap { texel: None, corner: false, word: 0, channels: state.border },
                    };
                    if tap.corner {
                        result.corners[m] = Some([y, x]);
                    }
                    result.taps[m][z][y][x] = tap;
                }
            }
        }
    }
    result
}

/// A texel index along an axis.
#[derive(Clone, Copy)]
enum Index {
    Inside(u32),
    Border,
    /// On a seamless cube: up to one texel beyond the face.
    Free(i32),
}

/// The normalized coordinate on a face: the cube instructions give 1..2, to which it is limited.
fn on_face(rules: &Rules, coordinate: u32) -> u32 {
    let c = condition(rules, coordinate);
    if rules.cube_direction == CubeDirection::HalfQuotient && c < 0.0 {
        // Made from a direction.
        return (-c).min(2.0).to_bits();
    }
    (c.clamp(1.0, 2.0) - 1.0).to_bits()
}

fn texel_tap(state: &State, image: &Image<'_>, level: u32, [x, y, z]: [u32; 3]) -> Tap {
    let word = image.texel(level, x, y, z);
    Tap { texel: Some([x, y, z]), corner: false, word, channels: state.format.unpack(word) }
}

/// A tap of a seamless cube, at most one texel beyond the face.
fn cube_tap(rules: &Rules, state: &State, image: &Image<'_>, level: u32, layer: u32, [i, j]: [i32; 2]) -> Tap {
    let [size, ..] = image.extent.level_size(level);
    let first_of_cube = layer - (layer - state.base_layer) % 6;
    let face = layer - first_of_cube;
    let at = |i: i32, j: i32| {
        across_edges(face, i, j, size).map(|(face, x, y)| texel_tap(state, image, level, [x, y, first_of_cube + face]))
    };
    let last = size as i32 - 1;
    let (inside_i, inside_j) = (i.clamp(0, last), j.clamp(0, last));
    match (at(i, j), at(inside_i, inside_j), at(i, inside_j), at(inside_i, j)) {
        (Some(tap), ..) => tap,
        (None, Some(own), Some(a), Some(b)) if rules.cube_corner == CubeCorner::Average => {
            let average = |n: usize| {
                let [own, a, b] = [own, a, b].map(|tap| f32::from_bits(tap.channels[n]));
                ((own + a + b) * (1.0 / 3.0)).to_bits()
            };
            let channels = if state.format.kind().is_integer() { own.channels } else { std::array::from_fn(average) };
            Tap { corner: true, channels, ..own }
        }
        (None, _, Some(across_s), _) if rules.cube_corner == CubeCorner::Thirds => Tap { corner: true, ..across_s },
        (None, own, ..) => Tap { corner: true, ..own.unwrap_or_default() },
    }
}

/// A layer operand as a whole number, 0 and up.
#[inline(always)]
#[must_use]
pub fn whole_layer(rules: &Rules, trunc_coord: bool, operand: u32) -> u32 {
    // Limited first, so that rounding and the conversion are defined for every operand.
    let mut layer = condition(rules, operand);
    if rules.integer_conversion == IntegerConversion::Lowest && layer >= INTEGER_END {
        layer = -1.0;
    }
    let layer = layer.clamp(-1.0, 16384.0);
    let layer = if trunc_coord && rules.trunc_coord == TruncCoord::Everywhere {
        layer.trunc()
    } else {
        match rules.layer_rounding {
            LayerRounding::NearestEven => layer.round_ties_even(),
            LayerRounding::HalfUp => Rounding::HalfUp.f32(layer),
            LayerRounding::Floor => layer.floor(),
        }
    };
    layer.max(0.0) as u32
}

/// The resource layer that a layer operand names.
#[inline(always)]
#[must_use]
pub fn layer(rules: &Rules, state: &State, operand: u32) -> u32 {
    if !state.view.is_layered() {
        return 0;
    }
    let layer = whole_layer(rules, state.trunc_coord, operand);
    let layer = if state.view == View::Cube {
        // Face plus 8 times the cube; faces 6 and 7 do not exist and count as 5.
        let cube = (layer / 8).min((state.last_layer + 1) / 6 - 1);
        6 * cube + (layer % 8).min(5)
    } else {
        layer.min(state.last_layer)
    };
    state.base_layer + layer
}
