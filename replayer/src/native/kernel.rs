//! The modules of the native path: one image instruction a sample, nothing around it.
//!
//! Bindings, push constants and grid are those of the emulated path's modules, with the image (combined with its sampler) at
//! binding 0.

use rspirv::{
    dr::Operand,
    spirv::{self, ImageOperands, Op, StorageClass, Word},
};

use super::operands::Fetch;
use crate::{
    emulated::{
        code::{Code, F, I, U, Value},
        entry::{EntryPoint, OneOf},
        module::{buffer, element, resource},
    },
    execute::vulkan::NativeView,
};

/// What a module is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Where the level comes from, and whether the instruction filters at all.
    pub fetch: Fetch,
    /// Type of the view.
    pub view: NativeView,
    /// Whether texels are integers.
    pub integer: bool,
    /// The component that a gather returns (after the view's mapping); `None` for other instructions.
    pub gather_component: Option<u8>,
    /// Constant texel offsets.
    pub offset: Option<[i32; 3]>,
    /// Whether the sampler has a binding of its own, 3.
    pub apart: bool,
}

/// Axes of a view's coordinates without the layer, whether it has layers, and its dimension.
pub fn shape(view: NativeView) -> (usize, bool, spirv::Dim) {
    match view {
        NativeView::D1 => (1, false, spirv::Dim::Dim1D),
        NativeView::D1Array => (1, true, spirv::Dim::Dim1D),
        NativeView::D2 => (2, false, spirv::Dim::Dim2D),
        NativeView::D2Array => (2, true, spirv::Dim::Dim2D),
        NativeView::D3 => (3, false, spirv::Dim::Dim3D),
        NativeView::Cube => (3, false, spirv::Dim::DimCube),
        NativeView::CubeArray => (3, true, spirv::Dim::DimCube),
    }
}

impl Kernel {
    /// Words in a row of operands: coordinates, layer, then what the level comes from.
    pub fn stride(&self) -> usize {
        let (axes, layered, _) = shape(self.view);
        axes + usize::from(layered)
            + match self.fetch {
                Fetch::Zero => 0,
                Fetch::Lod | Fetch::Texel => 1,
                Fetch::Gradients => 2 * axes,
            }
    }

    /// Emits the module.
    pub fn emit(&self) -> Result<Vec<u32>, rspirv::dr::Error> {
        let mut code = Code::new();
        let (axes, layered, dim) = shape(self.view);
        match (dim, layered) {
            (spirv::Dim::Dim1D, _) => {
                code.raw().capability(spirv::Capability::Sampled1D);
            }
            (spirv::Dim::DimCube, true) => {
                code.raw().capability(spirv::Capability::SampledCubeArray);
            }
            _ => {}
        }
        let component = if self.integer { U::type_id(&code) } else { F::type_id(&code) };
        let image = code.raw().type_image(component, dim, 0, layered.into(), 0, 1, spirv::ImageFormat::Unknown, None);
        let combined = if self.fetch == Fetch::Texel { image } else { code.raw().type_sampled_image(image) };
        let bound = if self.apart { image } else { combined };
        let variable = resource(&mut code, bound, StorageClass::UniformConstant, 0, "image");
        let sampler = (self.apart && self.fetch != Fetch::Texel).then(|| {
            let ty = code.raw().type_sampler();
            (ty, resource(&mut code, ty, StorageClass::UniformConstant, 3, "sampler"))
        });
        let uint = U::type_id(&code);
        let word4 = code.raw().type_vector(uint, 4);
        let (rows, _) = buffer(&mut code, uint, 4, 1, "operands", spirv::Decoration::NonWritable);
        let (results, _) = buffer(&mut code, word4, 16, 2, "results", spirv::Decoration::NonReadable);
        EntryPoint::begin(&mut code).each_sample(&mut code, results, |code, OneOf { index, .. }| {
            let stride = code.u(self.stride() as u32);
            let row = code.u_mul(index, stride);
            let words: Vec<U> = (0..self.stride() as u32)
                .map(|n| {
                    let n = code.u(n);
                    let at = code.u_add(row, n);
                    let pointer = element(code, rows, uint, at);
                    code.load(pointer)
                })
                .collect();
            let (at, rest) = words.split_at(axes + usize::from(layered));
            let mut loaded = code.instruction(Op::Load, bound, vec![Operand::IdRef(variable)]);
            if let Some((ty, sampler)) = sampler {
                let sampler = code.instruction(Op::Load, ty, vec![Operand::IdRef(sampler)]);
                let both = vec![Operand::IdRef(loaded), Operand::IdRef(sampler)];
                loaded = code.instruction(Op::SampledImage, combined, both);
            }
            let texel = code.raw().type_vector(component, 4);
            let result = self.sample(code, texel, loaded, at, rest, axes);
            std::array::from_fn(|n| {
                if self.integer {
                    code.extract(result, n as u32)
                } else {
                    let value: F = code.extract(result, n as u32);
                    code.f_bits(value)
                }
            })
        });
        code.finish()
    }

    fn sample(&self, code: &mut Code, texel: Word, image: Word, at: &[U], rest: &[U], axes: usize) -> Word {
        if self.fetch == Fetch::Texel {
            let at: Vec<I> = at.iter().map(|&word| code.u_to_i(word)).collect();
            let at = vector(code, &at);
            let level = code.u_to_i(rest[0]);
            let operands = vec![
                Operand::IdRef(image),
                Operand::IdRef(at),
                Operand::ImageOperands(ImageOperands::LOD),
                Operand::IdRef(level.id()),
            ];
            return code.instruction(Op::ImageFetch, texel, operands);
        }
        let floats = |code: &mut Code, words: &[U]| {
            let values: Vec<F> = words.iter().map(|&word| code.u_float(word)).collect();
            vector(code, &values)
        };
        let mut operands = vec![Operand::IdRef(image), Operand::IdRef(floats(code, at))];
        let mut mask = ImageOperands::NONE;
        let mut extra = Vec::new();
        let op = match self.gather_component {
            Some(component) => {
                operands.push(Operand::IdRef(code.u(u32::from(component)).id()));
                Op::ImageGather
            }
            None => {
                match self.fetch {
                    Fetch::Gradients => {
                        mask |= ImageOperands::GRAD;
                        let (x, y) = rest.split_at(axes);
                        extra.extend([floats(code, x), floats(code, y)]);
                    }
                    Fetch::Lod => {
                        mask |= ImageOperands::LOD;
                        extra.push(floats(code, rest));
                    }
                    Fetch::Zero | Fetch::Texel => {
                        mask |= ImageOperands::LOD;
                        extra.push(code.f(0.0).id());
                    }
                }
                Op::ImageSampleExplicitLod
            }
        };
        if let Some(offset) = self.offset {
            mask |= ImageOperands::CONST_OFFSET;
            let parts: Vec<Word> = offset[..axes].iter().map(|&n| code.i(n).id()).collect();
            extra.push(match parts.as_slice() {
                [one] => *one,
                _ => {
                    let int = I::type_id(code);
                    let builder = code.raw();
                    let ty = builder.type_vector(int, parts.len() as u32);
                    builder.constant_composite(ty, parts)
                }
            });
        }
        if mask != ImageOperands::NONE {
            operands.push(Operand::ImageOperands(mask));
            operands.extend(extra.into_iter().map(Operand::IdRef));
        }
        code.instruction(op, texel, operands)
    }
}

/// A vector, or the value alone where there is one.
fn vector<T: Value>(code: &mut Code, values: &[T]) -> Word {
    match values {
        [one] => one.id(),
        _ => code.vector(values),
    }
}
