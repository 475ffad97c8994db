//! The frame of a module: declarations, the entry point, operands in, results out.

use capture_format::{Column, LodSource, OpKind};
use rspirv::{
    dr::Operand,
    spirv::{self, Decoration, Op as SpirvOp, StorageClass, Word},
};

use super::{
    ModuleKey,
    code::{Code, U, Value},
    entry::{EntryPoint, OneOf},
    sampling::{About, Emitter, GroupVariables, Inputs, Rows, TableTexels, Texels, Variables, condition},
    section::{Stage, listing},
    specialization::{COMMON, ROW_WORDS, RowWord, Slot},
};
use crate::{
    rules::{Accumulation, CoordinateProduct, OffsetStage, QuadDerivatives, ResultRounding, RuleId},
    state::{State, View},
};

/// Emits the module for a key.
pub fn emit(key: &ModuleKey) -> Result<Vec<u32>, rspirv::dr::Error> {
    let mut code = Code::new();
    let rules = &key.rules;
    code.set_listing(&listing(rules));
    let _section = code.section(Stage::Operands);
    if rules.fixed_point_weights()
        || rules.coordinate_product == CoordinateProduct::Exact
        || rules.result_rounding != ResultRounding::Fp32
        || rules.accumulation == Accumulation::DifferenceFused
        || rules.offset_stage == OffsetStage::Coordinate
    {
        code.enable_f64();
    }
    let uint = U::type_id(&code);
    let bound = if key.table { None } else { Some(Specialized::declare(&mut code, key.view)) };
    let word4 = code.raw().type_vector(uint, 4);
    let words = block(&mut code, uint, 4, Decoration::NonWritable);
    let input = |code: &mut Code, binding, name| resource(code, words, StorageClass::StorageBuffer, binding, name);
    let operands = input(&mut code, 1, "operands");
    let (results, _) = buffer(&mut code, word4, 16, 2, "results", Decoration::NonReadable);
    let bound = match bound {
        Some(specialized) => Bound::Image(specialized),
        None => Bound::Table {
            texels: input(&mut code, 0, "texels"),
            states: input(&mut code, 3, "states"),
            slots: declare_slots(&mut code),
            common: code.specialization(COMMON, 0, "common"),
        },
    };
    let entry = EntryPoint::begin(&mut code);
    let computes_lod = !matches!(key.op.lod, LodSource::Explicit | LodSource::Zero);
    let variables = (computes_lod && key.op.kind == OpKind::Sample).then(|| Variables::new(&mut code, rules));
    let group_variables = (key.op.kind == OpKind::Sample && GroupVariables::needed(rules, key.view))
        .then(|| GroupVariables::declare(&mut code));
    entry.each_sample(&mut code, results, |code, OneOf { samples, index }| {
        let inputs = read_operands(code, key, operands, &entry, index);
        let (slots, texels) = bound.state(code, key, operands, index);
        let gathers = key.op.kind == OpKind::Gather4;
        let about = About { rules, view: key.view, class: key.class, gathers, variables, group_variables };
        let read = |code: &mut Code, index: U| read_operands(code, key, operands, &entry, index);
        let rows = Rows { samples, index, read: &read };
        let mut emitter = Emitter::new(code, about, &slots, texels, rows);
        let explicit = matches!(key.op.lod, LodSource::Explicit | LodSource::Zero);
        match key.op.kind {
            OpKind::Load => emitter.load(&inputs),
            OpKind::Sample => emitter.sample(&inputs, explicit),
            OpKind::Gather4 => emitter.gather(&inputs, explicit),
        }
    });
    code.finish()
}

/// How the state and the texels reach a module.
enum Bound {
    /// As specialization constants and an image.
    Image(Specialized),
    /// As buffers: the texels of all images, and a row a state. Slots that `common` names are specialization constants.
    Table { texels: Word, states: Word, slots: Vec<U>, common: U },
}

/// The specialization constants and the image of a module.
struct Specialized {
    slots: Vec<U>,
    image_type: Word,
    image: Word,
}

fn declare_slots(code: &mut Code) -> Vec<U> {
    Slot::ALL.iter().map(|&slot| code.specialization(slot as u32, 0, slot.name())).collect()
}

impl Specialized {
    fn declare(code: &mut Code, view: View) -> Self {
        code.raw().capability(spirv::Capability::ImageQuery);
        let dim = match view {
            View::D1 | View::D1Array => {
                code.raw().capability(spirv::Capability::Sampled1D);
                spirv::Dim::Dim1D
            }
            View::D2 | View::D2Array | View::Cube => spirv::Dim::Dim2D,
            View::D3 => spirv::Dim::Dim3D,
        };
        let slots = declare_slots(code);
        let uint = U::type_id(code);
        let arrayed = u32::from(view.is_layered());
        let image_type = code.raw().type_image(uint, dim, 0, arrayed, 0, 1, spirv::ImageFormat::Unknown, None);
        let image = resource(code, image_type, StorageClass::UniformConstant, 0, "image");
        Self { slots, image_type, image }
    }
}

impl Bound {
    /// The words of the state of a sample, and its texels. Of a table, the last word in the sample's row of operands says
    /// which state it is.
    fn state(&self, code: &mut Code, key: &ModuleKey, operands: Word, index: U) -> (Vec<U>, Texels) {
        let (texels, states, constants, common) = match self {
            Self::Image(Specialized { slots, image_type, image }) => {
                let loaded = code.instruction(SpirvOp::Load, *image_type, vec![Operand::IdRef(*image)]);
                return (slots.clone(), Texels::Image(loaded));
            }
            Self::Table { texels, states, slots, common } => (*texels, *states, slots, *common),
        };
        let uint = U::type_id(code);
        let stride = row_words(key);
        let (last, stride) = (code.u(stride - 1), code.u(stride));
        let at = code.u_mul(index, stride);
        let at = code.u_add(at, last);
        let pointer = element(code, operands, uint, at);
        let number: U = code.load(pointer);
        code.name(number.id(), "state");
        let words = code.u(ROW_WORDS as u32);
        let row = code.u_mul(number, words);
        let word = |code: &mut Code, place: u32, name: &str| -> U {
            let place = code.u(place);
            let at = code.u_add(row, place);
            let pointer = element(code, states, uint, at);
            let word: U = code.load(pointer);
            code.name(word.id(), name);
            word
        };
        let zero = code.u(0);
        let slot = |(&slot, &constant): (&Slot, &U)| {
            let own = word(code, slot as u32, slot.name());
            let bit = code.u(1 << slot as u32);
            let bit = code.u_and(common, bit);
            let is_common = code.u_ne(bit, zero);
            code.select(is_common, constant, own)
        };
        let slots = Slot::ALL.iter().zip(constants).map(slot).collect();
        let mut word = |which: RowWord| word(code, which.place(), which.name());
        let size = [RowWord::Width, RowWord::Height, RowWord::Depth].map(&mut word);
        let fixed = word(RowWord::Fixed);
        (slots, Texels::Table(TableTexels { texels, states, row, size, fixed }))
    }
}

/// Words in a row of operands.
fn row_words(key: &ModuleKey) -> u32 {
    State::operands(key.op, key.view).len() as u32 + u32::from(key.table)
}

pub(crate) fn resource(code: &mut Code, ty: Word, class: StorageClass, binding: u32, name: &str) -> Word {
    let builder = code.raw();
    let pointer = builder.type_pointer(None, class, ty);
    let variable = builder.variable(pointer, None, class, None);
    builder.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
    builder.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    builder.name(variable, name);
    variable
}

/// A storage buffer that is one runtime array; the variable and the block's type.
pub(crate) fn buffer(
    code: &mut Code,
    element: Word,
    stride: u32,
    binding: u32,
    name: &str,
    access: Decoration,
) -> (Word, Word) {
    let block = block(code, element, stride, access);
    (resource(code, block, StorageClass::StorageBuffer, binding, name), block)
}

/// The type of a block that is one runtime array. Once for each element: types are not repeated, their decorations would be.
fn block(code: &mut Code, element: Word, stride: u32, access: Decoration) -> Word {
    let builder = code.raw();
    let array = builder.type_runtime_array(element);
    builder.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(stride)]);
    let block = builder.type_struct([array]);
    builder.decorate(block, Decoration::Block, []);
    builder.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
    builder.member_decorate(block, 0, access, []);
    block
}

/// Pointer to an element of a buffer.
pub(crate) fn element(code: &mut Code, buffer: Word, ty: Word, index: U) -> Word {
    let pointer_type = code.raw().type_pointer(None, StorageClass::StorageBuffer, ty);
    let zero = code.i(0);
    code.instruction(
        SpirvOp::AccessChain,
        pointer_type,
        vec![Operand::IdRef(buffer), Operand::IdRef(zero.id()), Operand::IdRef(index.id())],
    )
}

fn read_operands(code: &mut Code, key: &ModuleKey, operands: Word, entry: &EntryPoint, index: U) -> Inputs {
    let columns = State::operands(key.op, key.view);
    let stride = code.u(row_words(key));
    let row = code.u_mul(index, stride);
    let uint = U::type_id(code);
    let mut inputs = Inputs::default();
    let mut along = [Vec::new(), Vec::new()];
    for (n, column) in columns.into_iter().enumerate() {
        let at = code.u(n as u32);
        let at = code.u_add(row, at);
        let pointer = element(code, operands, uint, at);
        let value: U = code.load(pointer);
        code.name(value.id(), column.name());
        match column {
            Column::U | Column::V | Column::W | Column::S | Column::T | Column::X | Column::Y | Column::Z => {
                inputs.coordinates.push(value);
            }
            Column::Layer | Column::Face => inputs.layer = Some(value),
            Column::Lod => inputs.lod = Some(value),
            Column::Bias => inputs.bias = Some(value),
            Column::Clamp => inputs.clamp = Some(value),
            Column::Offset => inputs.offset = Some(value),
            Column::Dudx | Column::Dvdx | Column::Dwdx => along[0].push(value),
            Column::Dudy | Column::Dvdy | Column::Dwdy => along[1].push(value),
            // Directions are turned into s, t, face before a module sees them, and entries of tables into the state's number.
            Column::Rx | Column::Ry | Column::Rz | Column::Image | Column::Sampler => {}
        }
    }
    inputs.derivatives = match key.op.lod {
        _ if key.op.kind == OpKind::Load => None,
        LodSource::Derivatives => Some(along),
        LodSource::Implicit | LodSource::Bias => Some(quad_derivatives(code, key, operands, entry, index)),
        LodSource::Explicit | LodSource::Zero => None,
    };
    inputs
}

/// Differences of the coordinates in a sample's 2x2 quad, as [`crate::reference::Sampler`] takes them: a real shader has
/// them from the other lanes of the quad, a recorded grid from its neighbouring rows.
fn quad_derivatives(code: &mut Code, key: &ModuleKey, operands: Word, entry: &EntryPoint, index: U) -> [Vec<U>; 2] {
    let _section = code.section(RuleId::QuadDerivatives);
    let (width, height) = (entry.push(code, 2), entry.push(code, 3));
    let one = code.u(1);
    let x = code.u_mod(index, width);
    let y = code.u_div(index, width);
    let y = code.u_mod(y, height);
    let (odd_x, odd_y) = (code.u_and(x, one), code.u_and(y, one));
    let up = code.u_mul(odd_y, width);
    let left = code.u_sub(index, odd_x);
    let top = code.u_sub(index, up);
    let first = code.u_sub(left, up);
    let (left, top) = match key.rules.quad_derivatives {
        QuadDerivatives::Coarse => (first, first),
        QuadDerivatives::Fine => (left, top),
    };
    let right = code.u_add(left, one);
    let bottom = code.u_add(top, width);
    let axes = key.view.axes();
    let stride = code.u(row_words(key));
    let uint = U::type_id(code);
    let mut difference = |from: U, to: U| {
        let rows = [from, to].map(|row| code.u_mul(row, stride));
        (0..axes)
            .map(|axis| {
                // Coordinates are the first columns.
                let at = code.u(axis as u32);
                let [from, to] = rows.map(|row| {
                    let at = code.u_add(row, at);
                    let pointer = element(code, operands, uint, at);
                    let bits = code.load(pointer);
                    condition(code, &key.rules, bits)
                });
                let change = code.f_sub(to, from);
                code.f_bits(change)
            })
            .collect()
    };
    [difference(left, right), difference(top, bottom)]
}
