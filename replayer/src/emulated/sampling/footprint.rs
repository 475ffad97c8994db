//! The texels of a sample in one level, across cube edges as well.

use rspirv::{
    dr::Operand,
    spirv::{self, Op as SpirvOp},
};

use super::{AxisTaps, Emitter, Inputs, Level, LevelTaps, TableTexels, Tap, Texels};
use crate::{
    emulated::{
        code::{B, I, U, Value},
        module::element,
        section::Stage,
        specialization::Slot,
    },
    reference::{
        coordinate::Rounding,
        cube::{NEIGHBOURS, Neighbour},
        place::INTEGER_END,
    },
    rules::{CubeCorner, IntegerConversion, LayerRounding, RuleId, TruncCoord},
    state::View,
};

impl Emitter<'_> {
    /// The word of a texel. The indices (along the axes, then the layer) are inside the level.
    pub(super) fn fetch(&mut self, level: &Level, at: &[I]) -> U {
        let _section = self.code.section(Stage::Fetch);
        let image = match (self.texels, level.start) {
            (Texels::Image(image), _) => image,
            (Texels::Table(table), start) => return self.fetch_from(table, level, start, at),
        };
        let coordinate = if at.len() == 1 { at[0].id() } else { self.code.vector(at) };
        let uint = U::type_id(self.code);
        let vector = self.code.raw().type_vector(uint, 4);
        let texel = self.code.instruction(
            SpirvOp::ImageFetch,
            vector,
            vec![
                Operand::IdRef(image),
                Operand::IdRef(coordinate),
                Operand::ImageOperands(spirv::ImageOperands::LOD),
                Operand::IdRef(level.number.id()),
            ],
        );
        self.code.extract(texel, 0)
    }

    /// The word of a texel in the buffer of a table: its level's start and the row-major place in the level.
    fn fetch_from(&mut self, table: TableTexels, level: &Level, start: Option<U>, at: &[I]) -> U {
        let mut place = self.code.i(0);
        for (axis, &index) in at.iter().enumerate().rev() {
            // The outermost index has no size that it would be a multiple of.
            let outer = if axis + 1 == at.len() { place } else { self.code.i_mul(place, level.size[axis]) };
            place = self.code.i_add(outer, index);
        }
        let place = self.code.i_to_u(place);
        let place = match start {
            Some(start) => self.code.u_add(start, place),
            None => place,
        };
        let uint = U::type_id(self.code);
        let pointer = element(self.code, table.texels, uint, place);
        self.code.load(pointer)
    }

    /// See [`crate::reference::footprint::layer`].
    pub(super) fn layer(&mut self, operand: U) -> I {
        let _section = self.code.section(RuleId::LayerRounding);
        let mut value = self.limited(operand, -1.0, 16384.0);
        if self.rules.integer_conversion == IntegerConversion::Lowest {
            let _section = self.code.section(RuleId::IntegerConversion);
            let whole = self.condition(operand);
            let (end, minus) = (self.code.f(INTEGER_END), self.code.f(-1.0));
            let beyond = self.code.f_ge(whole, end);
            value = self.code.select(beyond, minus, value);
        }
        let rounded = self.round_f(
            match self.rules.layer_rounding {
                LayerRounding::NearestEven => Rounding::NearestEven,
                LayerRounding::HalfUp => Rounding::HalfUp,
                LayerRounding::Floor => Rounding::Floor,
            },
            value,
        );
        let rounded = if self.rules.trunc_coord == TruncCoord::Everywhere {
            let _section = self.code.section(RuleId::TruncCoord);
            let trunc = self.slot_is(Slot::TruncCoord, 1);
            let cut = self.code.f_trunc(value);
            self.code.select(trunc, cut, rounded)
        } else {
            rounded
        };
        let (base, last) = (self.slot(Slot::BaseLayer), self.slot(Slot::LastLayer));
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let layer = code.f_max(rounded, zero);
        let layer = code.f_to_u(layer);
        let layer = if self.view == View::Cube {
            let (three, seven, five, six, one) = (code.u(3), code.u(7), code.u(5), code.u(6), code.u(1));
            let layers = code.u_add(last, one);
            let cubes = code.u_div(layers, six);
            let last_cube = code.u_sub(cubes, one);
            let cube = code.u_shr(layer, three);
            let cube = code.u_min(cube, last_cube);
            let face = code.u_and(layer, seven);
            let face = code.u_min(face, five);
            let first = code.u_mul(cube, six);
            code.u_add(first, face)
        } else {
            code.u_min(layer, last)
        };
        let layer = code.u_add(layer, base);
        code.u_to_i(layer)
    }

    pub(super) fn level_taps(
        &mut self,
        level: U,
        inputs: &Inputs,
        layer: Option<I>,
        linear: B,
        slice_linear: B,
        m: usize,
    ) -> LevelTaps {
        let _section = self.code.section(Stage::Address);
        let level = &self.chosen_level(level);
        let offsets: Vec<Option<I>> = (0..3).map(|axis| inputs.offset.map(|word| self.offset(word, axis))).collect();
        let axes: Vec<AxisTaps> = (0..self.view.axes())
            .map(|axis| {
                let linear = if axis == 2 { slice_linear } else { linear };
                let shift = inputs.shift.and_then(|shift| shift.get(axis).copied());
                let at = [offsets[axis], shift];
                let taps = self.axis(axis, inputs.coordinates[axis], at, level.size[axis], linear);
                self.snapped(axis, taps)
            })
            .collect();
        let products = self.group.as_ref().and_then(|group| group.products.map(|products| products[m]));
        if let (View::Cube, Some(layer)) = (self.view, layer) {
            let taps = self.cube_taps(level, axes, layer, linear);
            return LevelTaps { products, ..taps };
        }
        let count = |axis: usize| if axis < axes.len() { 2 } else { 1 };
        let taps = (0..count(2))
            .map(|z| {
                (0..count(1))
                    .map(|y| {
                        (0..count(0))
                            .map(|x| {
                                let places = [x, y, z];
                                let mut at: Vec<I> =
                                    axes.iter().zip(places).map(|(axis, place)| axis.indices[place]).collect();
                                at.extend(layer);
                                let word = self.fetch(level, &at);
                                let inside = axes
                                    .iter()
                                    .zip(places)
                                    .map(|(axis, place)| axis.inside[place])
                                    .reduce(|a, b| self.code.b_and(a, b));
                                let border = match inside {
                                    Some(inside) => self.code.b_not(inside),
                                    None => self.code.b(false),
                                };
                                Tap { word, border, corner: None }
                            })
                            .collect()
                    })
                    .collect()
            })
            .collect();
        LevelTaps { axes, taps, products: None }
    }

    /// Taps on a cube: on the face itself, or across its edges when the cube is seamless.
    fn cube_taps(&mut self, level: &Level, axes: Vec<AxisTaps>, layer: I, linear: B) -> LevelTaps {
        let _section = self.code.section(Stage::Address);
        let seamless = self.slot_is(Slot::CubeWrap, 1);
        let base = self.slot(Slot::BaseLayer);
        let code = &mut *self.code;
        let (six, zero, one) = (code.u(6), code.i(0), code.i(1));
        let last = code.i_sub(level.size[0], one);
        let unsigned = code.i_to_u(layer);
        let from_base = code.u_sub(unsigned, base);
        let face = code.u_mod(from_base, six);
        let face = code.u_to_i(face);
        let first_of_cube = code.i_sub(layer, face);
        let no = code.b(false);
        // Indices from the first tap's, limited to the face and one texel beyond it (none for point sampling).
        let free: Vec<[I; 2]> = axes
            .iter()
            .map(|axis| {
                let minus_one = code.i(-1);
                let low = code.select(linear, minus_one, zero);
                let index = code.i_clamp(axis.raw, low, last);
                let next = code.i_add(index, one);
                [index, next]
            })
            .collect();
        let taps = (0..2)
            .map(|y| {
                (0..2)
                    .map(|x| {
                        let (i, j) = (free[0][x], free[1][y]);
                        let code = &mut *self.code;
                        let (inside_i, inside_j) = (code.i_clamp(i, zero, last), code.i_clamp(j, zero, last));
                        let (same_i, same_j) = (code.i_eq(i, inside_i), code.i_eq(j, inside_j));
                        let (out_i, out_j) = (code.b_not(same_i), code.b_not(same_j));
                        let corner = code.b_and(out_i, out_j);
                        let corner = code.b_and(corner, seamless);
                        // Beyond s only, beyond t only; both are looked up for a corner.
                        let across_s = self.across_edge(face, i, inside_j, last, true);
                        let across_t = self.across_edge(face, j, inside_i, last, false);
                        let code = &mut *self.code;
                        let mut place = [face, inside_i, inside_j];
                        let only_s = code.b_and(out_i, same_j);
                        let only_t = code.b_and(out_j, same_i);
                        // Beyond a corner, the texel that takes its weight only to be left out.
                        let only_s = match self.rules.cube_corner {
                            CubeCorner::Thirds => out_i,
                            _ => only_s,
                        };
                        for n in 0..3 {
                            place[n] = code.select(only_s, across_s[n], place[n]);
                            place[n] = code.select(only_t, across_t[n], place[n]);
                        }
                        let (clamped_x, clamped_y) = (axes[0].indices[x], axes[1].indices[y]);
                        place = [
                            code.select(seamless, place[0], face),
                            code.select(seamless, place[1], clamped_x),
                            code.select(seamless, place[2], clamped_y),
                        ];
                        let inside = code.b_and(axes[0].inside[x], axes[1].inside[y]);
                        let outside = code.b_not(inside);
                        let border = code.select(seamless, no, outside);
                        let word_at = |emitter: &mut Self, [face, i, j]: [I; 3]| {
                            let layer = emitter.code.i_add(first_of_cube, face);
                            emitter.fetch(level, &[i, j, layer])
                        };
                        let word = word_at(self, place);
                        // Without a corner the others are this same texel: its fetch is not paid for three times.
                        let code = &mut *self.code;
                        let a: [I; 3] = std::array::from_fn(|n| code.select(corner, across_s[n], place[n]));
                        let b: [I; 3] = std::array::from_fn(|n| code.select(corner, across_t[n], place[n]));
                        let others = match self.rules.cube_corner {
                            CubeCorner::Average => [word_at(self, a), word_at(self, b)],
                            CubeCorner::OwnFace | CubeCorner::Shares | CubeCorner::Thirds => [word; 2],
                        };
                        Tap { word, border, corner: Some((corner, others)) }
                    })
                    .collect()
            })
            .collect();
        LevelTaps { axes, taps: vec![taps], products: None }
    }

    /// Face and texel that lie beyond an edge, as [`crate::reference::cube::NEIGHBOURS`] says. `index` is the one that is out.
    fn across_edge(&mut self, face: I, index: I, along: I, last: I, is_s: bool) -> [I; 3] {
        let code = &mut *self.code;
        let zero = code.i(0);
        let below = code.i_lt(index, zero);
        let face = code.i_to_u(face);
        let first_edge = if is_s { 0 } else { 2 };
        let mut looked_up = |value: &dyn Fn(&Neighbour) -> i32| -> I {
            let [low, high] = [0, 1].map(|n| {
                let values: Vec<I> = NEIGHBOURS.iter().map(|edges| code.i(value(&edges[first_edge + n]))).collect();
                code.choose(face, &values)
            });
            code.select(below, low, high)
        };
        let other = looked_up(&|n| n.face as i32);
        let along_s = looked_up(&|n| n.along_s.into());
        let reversed = looked_up(&|n| n.reversed.into());
        let at_last = looked_up(&|n| n.at_last.into());
        let mirrored = code.i_sub(last, along);
        let forward = code.i_eq(reversed, zero);
        let along = code.select(forward, along, mirrored);
        let at_first = code.i_eq(at_last, zero);
        let across = code.select(at_first, zero, last);
        let along_t = code.i_eq(along_s, zero);
        [other, code.select(along_t, across, along), code.select(along_t, along, across)]
    }

    /// See [`crate::reference::operands::unpack_offset`].
    pub(super) fn offset(&mut self, word: U, axis: usize) -> I {
        let _section = self.code.section(Stage::Operands);
        let left = self.code.u(26 - 8 * axis as u32);
        let right = self.code.u(26);
        let signed = self.code.u_to_i(word);
        let top = self.code.i_shl(signed, left);
        self.code.i_shr(top, right)
    }
}
