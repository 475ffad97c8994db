//! The taps of one sample: which texels are read, and with which weights.

use crate::{
    reference::{
        address::address,
        blend::{AxisWeight, Weights},
        coordinate::{Axis, Position, Rounding, condition, position},
        image::Image,
        lod::{Levels, LodOperand, levels},
        operands::Operands,
    },
    rules::{LayerRounding, Rules, TruncCoord, ZFilterRule},
    state::{Filter, SliceFilter, State, View},
};

/// One texel of a footprint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tap {
    /// Where it is in its level: x, y, and slice or resource layer; `None` for the border.
    pub texel: Option<[u32; 3]>,
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
    /// Weights along x, y, z and between levels. Those along an axis are the same in both levels only when the position is,
    /// so they are given by level.
    pub weights: [Weights; 2],
}

/// Chooses levels, positions and taps of a sample.
#[must_use]
pub fn footprint(rules: &Rules, state: &State, image: &Image<'_>, operands: &Operands, gather: bool) -> Footprint {
    let source =
        LodOperand { bits: operands.lod, bias: operands.bias, clamp: operands.clamp, explicit: operands.explicit_lod };
    let levels = levels(rules, state, &source);
    let filter = if gather {
        Filter::Linear
    } else if levels.minify {
        state.min
    } else {
        state.mag
    };
    let slice_filter = match state.slices {
        SliceFilter::Own(own) if rules.z_filter == ZFilterRule::Own => own,
        _ => filter,
    };
    let layer = layer(rules, state, operands.layer);
    let two_levels = levels.weight > 0.0;
    let mut result = Footprint {
        levels,
        resource_levels: [state.base_level + levels.level, state.base_level + levels.next],
        level_count: if two_levels { 2 } else { 1 },
        filter,
        slice_filter,
        positions: [[Position { index: 0, step: 0, weight: 0.0 }; 3]; 2],
        layer,
        taps: Default::default(),
        weights: [[AxisWeight::default(); 4]; 2],
    };
    for m in 0..result.level_count {
        let level = result.resource_levels[m];
        let size = image.extent.level_size(level);
        let mut indices = [[Some(0u32); 2]; 3];
        for axis in 0..state.view.axes() {
            let filter = if axis == 2 { slice_filter } else { filter };
            let about = Axis {
                size: size[axis],
                address: state.address[axis],
                filter,
                unnormalized: state.unnormalized,
                trunc_coord: state.trunc_coord,
            };
            let at = position(rules, &about, operands.coordinates[axis]);
            result.positions[m][axis] = at;
            let bits = rules.subtexel_bits.bits().unwrap_or(0);
            result.weights[m][axis] =
                AxisWeight { linear: filter == Filter::Linear, step: at.step, bits, weight: at.weight };
            for tap in 0..2 {
                let index = at.index + operands.offset[axis] + tap as i32;
                indices[axis][tap] = address(about.address, filter, index, about.size);
            }
        }
        result.weights[m][3] = AxisWeight { linear: two_levels, step: levels.step, bits: 8, weight: levels.weight };
        let count = |axis: usize| if result.weights[m][axis].linear { 2 } else { 1 };
        for z in 0..count(2) {
            for y in 0..count(1) {
                for x in 0..count(0) {
                    let tap = match (indices[0][x], indices[1][y], indices[2][z]) {
                        (Some(x), Some(y), Some(z)) => {
                            let z = if state.view == View::D3 { z } else { layer };
                            let word = image.texel(level, x, y, z);
                            Tap { texel: Some([x, y, z]), word, channels: state.format.unpack(word) }
                        }
                        _ => Tap { texel: None, word: 0, channels: state.border },
                    };
                    result.taps[m][z][y][x] = tap;
                }
            }
        }
    }
    result
}

/// The resource layer that a layer operand names.
#[inline(always)]
#[must_use]
pub fn layer(rules: &Rules, state: &State, operand: u32) -> u32 {
    if !state.view.is_layered() {
        return 0;
    }
    // Limited first, so that rounding and the conversion are defined for every operand.
    let layer = condition(rules, operand).clamp(-1.0, 16384.0);
    let layer = if state.trunc_coord && rules.trunc_coord == TruncCoord::Everywhere {
        layer.trunc()
    } else {
        match rules.layer_rounding {
            LayerRounding::NearestEven => layer.round_ties_even(),
            LayerRounding::HalfUp => Rounding::HalfUp.f32(layer),
            LayerRounding::Floor => layer.floor(),
        }
    };
    state.base_layer + (layer.max(0.0) as u32).min(state.last_layer)
}
