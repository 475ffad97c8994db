//! Types and constants, after specialization.

use std::rc::Rc;

use rspirv::spirv::{self, BuiltIn, Decoration, Op};

use super::{Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{ImageDecl, Reg};
use crate::execute::embedded::source::{Id, SourceInst};

/// Scalars beyond which a value is refused; variables may be larger.
pub(super) const MAX_VALUE: u32 = 1 << 12;
/// Slots beyond which a type is refused.
const MAX_SLOTS: u32 = 1 << 22;
/// Nesting beyond which a type is refused.
const MAX_DEPTH: u32 = 32;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    Int { bits: u8, signed: bool },
    Float { bits: u8 },
}

impl Scalar {
    /// Slots of its register.
    pub fn width(self) -> u8 {
        if self.bits() == 64 { 2 } else { 1 }
    }

    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 32,
            Self::Int { bits, .. } | Self::Float { bits } => u32::from(bits),
        }
    }
}

/// How an image's texels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TexelFormat {
    /// One word a channel, taken as it is.
    Words(u8),
    /// Four channels of 16-bit floats.
    Half4,
    /// Four channels of 8 bits: unorm, snorm, unsigned, signed.
    Unorm8,
    Snorm8,
    Uint8,
    Sint8,
}

/// A type.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Void,
    Scalar(Scalar),
    Vector(Scalar, u32),
    /// Scalar, rows, columns.
    Matrix(Scalar, u32, u32),
    Array(Id, u32),
    Runtime(Id),
    Struct(Vec<Id>),
    Pointer(u32, Id),
    Function,
    /// Declaration, type of a channel, format of a storage image.
    Image(ImageDecl, Scalar, TexelFormat),
    SampledImage(Id),
    Sampler,
}

/// A type with its size.
#[derive(Clone, Debug)]
pub(super) struct TypeInfo {
    pub ty: Type,
    /// Scalars of a value.
    pub scalars: u32,
    /// Slots of a variable outside buffers.
    pub slots: u32,
    depth: u32,
}

impl Translator<'_> {
    /// The type with an id.
    pub(super) fn ty(&self, id: Id) -> Result<Rc<TypeInfo>, ExecuteError> {
        self.types.get(&id).cloned().ok_or_else(|| self.fail(&format!("%{id} is no type known here")))
    }

    /// Scalar and number of components of a scalar or vector type.
    pub(super) fn vector(&self, id: Id) -> Result<(Scalar, u32), ExecuteError> {
        match self.ty(id)?.ty {
            Type::Scalar(s) => Ok((s, 1)),
            Type::Vector(s, n) => Ok((s, n)),
            _ => Err(self.fail(&format!("%{id} is no scalar or vector type"))),
        }
    }

    /// The scalars of a value of the type.
    pub(super) fn scalars(&self, id: Id) -> Result<Vec<Scalar>, ExecuteError> {
        let info = self.ty(id)?;
        if info.scalars > MAX_VALUE {
            return Err(self.fail(&format!("a value of {} scalars, at most {MAX_VALUE} are accepted", info.scalars)));
        }
        let mut list = Vec::with_capacity(info.scalars as usize);
        self.push_scalars(id, &mut list)?;
        Ok(list)
    }

    fn push_scalars(&self, id: Id, list: &mut Vec<Scalar>) -> Result<(), ExecuteError> {
        match &self.ty(id)?.ty {
            Type::Scalar(s) => list.push(*s),
            Type::Vector(s, n) => list.extend(std::iter::repeat_n(*s, *n as usize)),
            Type::Matrix(s, rows, columns) => list.extend(std::iter::repeat_n(*s, (rows * columns) as usize)),
            // Arrays of nothing could be as long as they like.
            Type::Array(element, n) if self.ty(*element)?.scalars > 0 => {
                for _ in 0..*n {
                    self.push_scalars(*element, list)?;
                }
            }
            Type::Array(..) => {}
            Type::Struct(members) => {
                for m in members {
                    self.push_scalars(*m, list)?;
                }
            }
            _ => return Err(self.fail(&format!("%{id} is no type of values"))),
        }
        Ok(())
    }

    /// Member `n` of a composite type: its type if it has an id, and the number of scalars before it, and of its own.
    pub(super) fn member(&self, id: &Part, n: u32) -> Result<(Part, u32, u32), ExecuteError> {
        let beyond = || self.fail(&format!("index {n} is beyond the composite's end"));
        let Part::Type(id) = *id else {
            let Part::Vector(s, count) = *id else { return Err(self.fail("an index into a scalar")) };
            return if n < count { Ok((Part::Scalar(s), n, 1)) } else { Err(beyond()) };
        };
        let info = self.ty(id)?;
        match &info.ty {
            Type::Vector(s, count) if n < *count => Ok((Part::Scalar(*s), n, 1)),
            Type::Matrix(s, rows, columns) if n < *columns => Ok((Part::Vector(*s, *rows), n * rows, *rows)),
            Type::Array(element, count) if n < *count => {
                let size = self.ty(*element)?.scalars;
                Ok((Part::Type(*element), n * size, size))
            }
            Type::Struct(members) if (n as usize) < members.len() => {
                let mut at = 0;
                for m in &members[..n as usize] {
                    at += self.ty(*m)?.scalars;
                }
                let size = self.ty(members[n as usize])?.scalars;
                Ok((Part::Type(members[n as usize]), at, size))
            }
            _ => Err(beyond()),
        }
    }

    fn add_type(&mut self, i: &SourceInst, ty: Type, scalars: u64, slots: u64, depth: u32) -> Result<(), ExecuteError> {
        let limit = u64::from(MAX_SLOTS);
        if slots > limit || scalars > limit {
            return Err(self.fail(&format!("a type of {slots} words, at most {limit} are accepted")));
        }
        if depth > MAX_DEPTH {
            return Err(self.fail(&format!("types are nested more than {MAX_DEPTH} deep")));
        }
        self.types.insert(i.id, Rc::new(TypeInfo { ty, scalars: scalars as u32, slots: slots as u32, depth }));
        Ok(())
    }

    /// Takes a type declaration.
    pub(super) fn declare_type(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        match i.op {
            Op::TypeVoid => self.add_type(i, Type::Void, 0, 0, 0),
            Op::TypeBool => self.add_type(i, Type::Scalar(Scalar::Bool), 1, 1, 0),
            Op::TypeInt => {
                let (bits, signed) = (src.word(i, 0)?, src.word(i, 1)?);
                if !matches!(bits, 8 | 16 | 32 | 64) || signed > 1 {
                    return Err(self.fail(&format!("integers of {bits} bits are not supported")));
                }
                let s = Scalar::Int { bits: bits as u8, signed: signed == 1 };
                self.add_type(i, Type::Scalar(s), 1, u64::from(s.width()), 0)
            }
            Op::TypeFloat => {
                let bits = src.word(i, 0)?;
                if !matches!(bits, 16 | 32 | 64) || src.operands(i).len() > 1 {
                    return Err(self.fail(&format!("floats of {bits} bits, or of that encoding, are not supported")));
                }
                let s = Scalar::Float { bits: bits as u8 };
                self.add_type(i, Type::Scalar(s), 1, u64::from(s.width()), 0)
            }
            Op::TypeVector => {
                let n = src.word(i, 1)?;
                let Type::Scalar(s) = self.ty(src.word(i, 0)?)?.ty else { return Err(self.fail("no scalar type")) };
                if !(2..=4).contains(&n) {
                    return Err(self.fail(&format!("vectors of {n} are not supported")));
                }
                self.add_type(i, Type::Vector(s, n), n.into(), u64::from(n) * u64::from(s.width()), 0)
            }
            Op::TypeMatrix => {
                let columns = src.word(i, 1)?;
                match self.ty(src.word(i, 0)?)?.ty {
                    Type::Vector(s @ Scalar::Float { .. }, rows) if (2..=4).contains(&columns) => {
                        let n = u64::from(rows * columns);
                        self.add_type(i, Type::Matrix(s, rows, columns), n, n * u64::from(s.width()), 0)
                    }
                    _ => Err(self.fail("expected 2 to 4 columns of floats")),
                }
            }
            Op::TypeArray => {
                let element = src.word(i, 0)?;
                let length = self.global_data(src.word(i, 1)?)?;
                let n = match length[..] {
                    [r] => self.constant_of(r).filter(|&n| n > 0 && n <= u64::from(MAX_SLOTS)),
                    _ => None,
                };
                let n = n.ok_or_else(|| self.fail("the length is no constant in range"))?;
                let e = self.ty(element)?;
                self.add_type(
                    i,
                    Type::Array(element, n as u32),
                    n * u64::from(e.scalars),
                    n * u64::from(e.slots),
                    e.depth + 1,
                )
            }
            Op::TypeRuntimeArray => {
                let element = src.word(i, 0)?;
                let depth = self.ty(element)?.depth + 1;
                self.add_type(i, Type::Runtime(element), 0, 0, depth)
            }
            Op::TypeStruct => {
                let members = src.operands(i).to_vec();
                let (mut scalars, mut slots, mut depth) = (0, 0, 0);
                for m in &members {
                    let info = self.ty(*m)?;
                    scalars += u64::from(info.scalars);
                    slots += u64::from(info.slots);
                    depth = depth.max(info.depth + 1);
                }
                self.add_type(i, Type::Struct(members), scalars, slots, depth)
            }
            Op::TypePointer => {
                let (class, to) = (src.word(i, 0)?, src.word(i, 1)?);
                self.ty(to)?;
                self.add_type(i, Type::Pointer(class, to), 0, 0, 0)
            }
            Op::TypeFunction => self.add_type(i, Type::Function, 0, 0, 0),
            Op::TypeImage => self.declare_image(i),
            Op::TypeSampledImage => {
                let image = src.word(i, 0)?;
                let Type::Image(..) = self.ty(image)?.ty else { return Err(self.fail("no image type")) };
                self.add_type(i, Type::SampledImage(image), 0, 0, 0)
            }
            Op::TypeSampler => self.add_type(i, Type::Sampler, 0, 0, 0),
            _ => Err(self.fail("this type is not supported")),
        }
    }

    fn declare_image(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        let Type::Scalar(channel) = self.ty(src.word(i, 0)?)?.ty else { return Err(self.fail("no scalar type")) };
        if channel.bits() != 32 || channel == Scalar::Bool {
            return Err(self.fail("channels that are not 32-bit numbers are not supported"));
        }
        let dim = src.word(i, 1)?;
        let (dim, cube) = match spirv::Dim::from_u32(dim) {
            Some(spirv::Dim::Dim1D) => (1, false),
            Some(spirv::Dim::Dim2D) => (2, false),
            Some(spirv::Dim::Dim3D) => (3, false),
            Some(spirv::Dim::DimCube) => (2, true),
            other => return Err(self.fail(&format!("images of {other:?} ({dim}) are not supported"))),
        };
        let (arrayed, samples, sampled) = (src.word(i, 3)?, src.word(i, 4)?, src.word(i, 5)?);
        if samples != 0 {
            return Err(self.fail("multisampled images are not supported"));
        }
        let storage = match sampled {
            1 => false,
            2 => true,
            _ => return Err(self.fail("an image that is neither sampled nor storage")),
        };
        use spirv::ImageFormat as F;
        let number = src.word(i, 6)?;
        let format = match F::from_u32(number) {
            Some(F::Unknown | F::R32f | F::R32ui | F::R32i) => TexelFormat::Words(1),
            Some(F::Rg32f | F::Rg32ui | F::Rg32i) => TexelFormat::Words(2),
            Some(F::Rgba32f | F::Rgba32ui | F::Rgba32i) => TexelFormat::Words(4),
            Some(F::Rgba16f) => TexelFormat::Half4,
            Some(F::Rgba8) => TexelFormat::Unorm8,
            Some(F::Rgba8Snorm) => TexelFormat::Snorm8,
            Some(F::Rgba8ui) => TexelFormat::Uint8,
            Some(F::Rgba8i) => TexelFormat::Sint8,
            other => return Err(self.fail(&format!("image format {other:?} ({number}) is not supported"))),
        };
        if !storage && matches!(channel, Scalar::Float { .. }) {
            return Err(self.fail("sampled images of floats are not supported; images are R32_UINT"));
        }
        let words = match format {
            TexelFormat::Words(n) => n,
            TexelFormat::Half4 => 2,
            _ => 1,
        };
        let decl = ImageDecl { dim, arrayed: arrayed == 1, cube, storage, words };
        self.add_type(i, Type::Image(decl, channel, format), 0, 0, 0)
    }

    /// Takes a constant.
    pub(super) fn declare_constant(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        let info = self.ty(i.ty)?;
        let special = matches!(i.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse)
            .then(|| src.decoration(i.id, Decoration::SpecId))
            .flatten()
            .and_then(|id| self.specialization.iter().rev().find(|s| s.0 == id))
            .map(|s| s.1);
        let data: Vec<Reg> = match i.op {
            Op::ConstantTrue | Op::SpecConstantTrue | Op::ConstantFalse | Op::SpecConstantFalse => {
                let default = matches!(i.op, Op::ConstantTrue | Op::SpecConstantTrue);
                let Type::Scalar(Scalar::Bool) = info.ty else { return Err(self.fail("its type is not bool")) };
                let value = special.map_or(default, |v| v != 0);
                vec![self.constant_bool(value)]
            }
            Op::Constant | Op::SpecConstant => {
                let Type::Scalar(s) = info.ty else { return Err(self.fail("its type is no number")) };
                let low = src.word(i, 0)?;
                let value = match (s, special) {
                    (Scalar::Bool, _) => return Err(self.fail("its type is no number")),
                    (_, Some(_)) if s.bits() == 64 => {
                        return Err(self.fail("64-bit constants cannot be specialized by 32-bit values"));
                    }
                    (_, None) if s.bits() == 64 => u64::from(low) | u64::from(src.word(i, 1)?) << 32,
                    // Narrow literals are sign-extended to the word; registers hold them zero-extended.
                    (_, special) => u64::from(special.unwrap_or(low) & (u32::MAX >> (32 - s.bits()))),
                };
                vec![self.constant(value, s.width())]
            }
            Op::ConstantNull => {
                if matches!(info.ty, Type::Pointer(..)) {
                    return Err(self.fail("null pointers are not supported"));
                }
                let scalars = self.scalars(i.ty)?;
                scalars.iter().map(|s| self.constant(0, s.width())).collect()
            }
            Op::Undef => {
                let scalars = self.scalars(i.ty)?;
                scalars.iter().map(|s| self.undef(s.width())).collect()
            }
            // Composites.
            _ => {
                let mut data = vec![];
                for part in src.operands(i) {
                    data.extend(self.global_data(*part)?.iter());
                    if data.len() > MAX_VALUE as usize {
                        break;
                    }
                }
                let scalars = self.scalars(i.ty)?;
                self.check_widths(&data, &scalars)?;
                data
            }
        };
        if src.decoration(i.id, Decoration::BuiltIn) == Some(BuiltIn::WorkgroupSize as u32) {
            let size: Vec<u64> = data.iter().filter_map(|&r| self.constant_of(r)).collect();
            match size[..] {
                [x, y, z] => self.local_size = [x, y, z].map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
                _ => return Err(self.fail("the workgroup's size is not three constants")),
            }
        }
        self.globals.insert(i.id, Val::Data(data.into()));
        Ok(())
    }
}

/// A part of a composite; columns and components have no type id of their own at hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Type(Id),
    Vector(Scalar, u32),
    Scalar(Scalar),
}
