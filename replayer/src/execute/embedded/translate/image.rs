//! Images: fetches, reads, writes and queries.

use rspirv::spirv::{ImageOperands, Op as SpirvOp};

use super::memory::{Ptr, Root};
use super::types::{Part, Scalar, TexelFormat, Type};
use super::{ImageRef, Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{ImageDecl, Inst, NONE, Op, Reg};
use crate::execute::embedded::source::{Id, SourceInst};

impl Translator<'_> {
    /// An image operand: which, its declaration, channel type and format.
    fn image(&self, id: Id) -> Result<(ImageRef, ImageDecl, Scalar, TexelFormat), ExecuteError> {
        let Val::Image(n, ty) = self.value(id)? else { return Err(self.fail(&format!("%{id} is no image"))) };
        match self.ty(ty)?.ty {
            Type::Image(decl, channel, format) => Ok((n, decl, channel, format)),
            _ => Err(self.fail(&format!("%{id} is no image"))),
        }
    }

    /// Address of a texel; POISON out of bounds.
    fn texel(&mut self, n: ImageRef, decl: ImageDecl, coordinate: Id, level: Reg) -> Result<Reg, ExecuteError> {
        let (s, data) = self.vector_operand(coordinate)?;
        if self.needs_int(s)? != 32 {
            return Err(self.fail("coordinates must be 32-bit integers"));
        }
        // Faces and layers follow the coordinates.
        let count = usize::from(decl.dim) + usize::from(decl.arrayed || decl.cube);
        if data.len() < count {
            return Err(self.fail(&format!("expected {count} coordinates")));
        }
        let zero = self.word(0);
        let (x, y, z) = match (decl.dim, count) {
            (1, 1) => (data[0], zero, zero),
            (1, _) => (data[0], zero, data[1]),
            (2, 2) => (data[0], data[1], zero),
            _ => (data[0], data[1], data[2]),
        };
        self.operation(Inst { a: x, b: y, c: z, d: level, e: n.element, imm: n.index, ..self.inst(Op::TexelAddress) })
    }

    /// Level of an access; other operands are refused.
    fn level(&mut self, i: &SourceInst, at: usize) -> Result<Reg, ExecuteError> {
        let operands = self.src.operands(i);
        let Some(&bits) = operands.get(at) else { return Ok(self.word(0)) };
        let mut rest = operands[at + 1..].iter();
        let mut level = None;
        // What says how memory is shared, or that the sign is that of the type, changes nothing here.
        let scopes = ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE;
        let hints = ImageOperands::NON_PRIVATE_TEXEL | ImageOperands::VOLATILE_TEXEL | ImageOperands::NONTEMPORAL;
        let signs = ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND;
        let known = ImageOperands::LOD | scopes | hints | signs;
        if bits & !known.bits() != 0 {
            return Err(self.fail(&format!("image operands {:#x} are not supported", bits & !known.bits())));
        }
        if bits & ImageOperands::LOD.bits() != 0 {
            let id = *rest.next().ok_or_else(|| self.fail("its Lod is missing"))?;
            let (s, r) = self.scalar(id)?;
            if self.needs_int(s)? != 32 {
                return Err(self.fail("Lod must be a 32-bit integer"));
            }
            level = Some(r);
        }
        Ok(match level {
            Some(r) => r,
            None => self.word(0),
        })
    }

    /// Translates an image instruction.
    pub(super) fn image_instruction(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        match i.op {
            SpirvOp::Image => {
                let value = self.value(src.word(i, 0)?)?;
                if !matches!(value, Val::Image(..)) {
                    return Err(self.fail("no sampled image"));
                }
                self.set(i.id, value);
                Ok(())
            }
            SpirvOp::ImageFetch | SpirvOp::ImageRead => {
                let (n, decl, channel, format) = self.image(src.word(i, 0)?)?;
                if decl.storage != (i.op == SpirvOp::ImageRead) {
                    return Err(self.fail("OpImageFetch is for sampled images, OpImageRead for storage images"));
                }
                let level = self.level(i, 2)?;
                let address = self.texel(n, decl, src.word(i, 1)?, level)?;
                let (s, count) = self.vector(i.ty)?;
                if s.bits() != 32 || matches!(s, Scalar::Float { .. }) != matches!(channel, Scalar::Float { .. }) {
                    return Err(self.fail("its type is not the image's"));
                }
                let texel = self.read_texel(n, decl, channel, format, address)?;
                let data = texel.into_iter().take(count as usize).collect();
                self.set_data(i.id, i.ty, data)
            }
            SpirvOp::ImageWrite => {
                let (n, decl, channel, format) = self.image(src.word(i, 0)?)?;
                if !decl.storage {
                    return Err(self.fail("the image is no storage image"));
                }
                let level = self.level(i, 3)?;
                let address = self.texel(n, decl, src.word(i, 1)?, level)?;
                let (s, data) = self.vector_operand(src.word(i, 2)?)?;
                if s.bits() != 32 || matches!(s, Scalar::Float { .. }) != matches!(channel, Scalar::Float { .. }) {
                    return Err(self.fail("the texel's type is not the image's"));
                }
                self.images[n.index as usize].0.written = true;
                let words = self.texel_words(format, &data)?;
                for (k, r) in words.into_iter().enumerate() {
                    self.note_undef(r)?;
                    let inst =
                        Inst { a: address, b: r, k: k as u8, e: n.element, imm: n.index, ..self.inst(Op::StoreTexel) };
                    self.push(inst)?;
                }
                Ok(())
            }
            SpirvOp::ImageTexelPointer => {
                let p = self.ptr(src.word(i, 0)?)?;
                let Root::Handle(id) = p.root else { return Err(self.fail("no image variable")) };
                self.needs_element(&p)?;
                let Some(Val::Image(n, ty)) = self.handles.get(&id).cloned() else { return Err(self.fail("no image")) };
                let n = ImageRef { element: p.element, ..n };
                let Type::Image(decl, channel, format) = self.ty(ty)?.ty else { return Err(self.fail("no image")) };
                if !decl.storage || format != TexelFormat::Words(1) {
                    return Err(self.fail("expected a storage image of one 32-bit channel"));
                }
                match self.constant_of(self.scalar(src.word(i, 2)?)?.1) {
                    Some(0) => {}
                    _ => return Err(self.fail("its sample is not 0")),
                }
                let level = self.word(0);
                let dynamic = self.texel(n, decl, src.word(i, 1)?, level)?;
                let p = Ptr { root: Root::Texel(n.index, ty), part: Part::Scalar(channel), dynamic, ..(*p).clone() };
                self.set(i.id, Val::Ptr(p.into()));
                Ok(())
            }
            SpirvOp::ImageQuerySizeLod | SpirvOp::ImageQuerySize => {
                let (n, decl, ..) = self.image(src.word(i, 0)?)?;
                let level = if i.op == SpirvOp::ImageQuerySizeLod {
                    match self.scalar(src.word(i, 1)?)? {
                        (Scalar::Int { bits: 32, .. }, r) => r,
                        _ => return Err(self.fail("its level must be a 32-bit integer")),
                    }
                } else {
                    self.word(0)
                };
                let mut fields: Vec<u8> = (0..decl.dim).collect();
                if decl.arrayed {
                    fields.push(if decl.cube { 5 } else { 3 });
                }
                let (s, count) = self.vector(i.ty)?;
                if count as usize != fields.len() || self.needs_int(s)? != 32 {
                    return Err(self.fail(&format!("expected {} 32-bit integers", fields.len())));
                }
                let mut data = vec![];
                for k in fields {
                    let inst = Inst { a: level, k, e: n.element, imm: n.index, ..self.inst(Op::ImageQuery) };
                    data.push(self.operation(inst)?);
                }
                self.set_data(i.id, i.ty, data)
            }
            SpirvOp::ImageQueryLevels => {
                let (n, ..) = self.image(src.word(i, 0)?)?;
                let zero = self.word(0);
                let inst = Inst { a: zero, k: 4, e: n.element, imm: n.index, ..self.inst(Op::ImageQuery) };
                let r = self.operation(inst)?;
                self.set_data(i.id, i.ty, vec![r])
            }
            _ => Err(self.fail("is not supported")),
        }
    }

    /// Four channels of a texel; those that the format lacks are 0, 0, 1.
    fn read_texel(
        &mut self,
        n: ImageRef,
        decl: ImageDecl,
        channel: Scalar,
        format: TexelFormat,
        address: Reg,
    ) -> Result<Vec<Reg>, ExecuteError> {
        let mut words = vec![];
        for k in 0..decl.words {
            let inst = Inst { a: address, k, e: n.element, imm: n.index, ..self.inst(Op::LoadTexel) };
            words.push(self.operation(inst)?);
        }
        let mut channels = vec![];
        match format {
            TexelFormat::Words(_) => channels = words,
            TexelFormat::Half4 => {
                for r in self.bitcast(32, 16, &words)? {
                    channels.push(self.op(Op::F16ToF, 1, &[r], 0)?);
                }
            }
            _ => {
                for r in self.bitcast(32, 8, &words)? {
                    channels.push(match format {
                        TexelFormat::Uint8 => r,
                        TexelFormat::Sint8 => self.extend(r, 8)?,
                        _ => self.op_k(Op::UnpackNorm, 1, &[r], 8, u8::from(format == TexelFormat::Snorm8))?,
                    });
                }
            }
        }
        while channels.len() < 3 {
            channels.push(self.word(0));
        }
        if channels.len() < 4 {
            let one = if matches!(channel, Scalar::Float { .. }) { self.float(1.0) } else { self.word(1) };
            channels.push(one);
        }
        Ok(channels)
    }

    /// Words of a texel that is written.
    fn texel_words(&mut self, format: TexelFormat, data: &[Reg]) -> Result<Vec<Reg>, ExecuteError> {
        let count = match format {
            TexelFormat::Words(n) => usize::from(n),
            _ => 4,
        };
        if data.len() < count {
            return Err(self.fail(&format!("the texel has less than {count} channels")));
        }
        let data = &data[..count];
        let mut parts = vec![];
        match format {
            TexelFormat::Words(_) => Ok(data.to_vec()),
            TexelFormat::Half4 => {
                for &r in data {
                    parts.push(self.op(Op::FToF16, 1, &[r], 0)?);
                }
                self.bitcast(16, 32, &parts)
            }
            _ => {
                for &r in data {
                    parts.push(match format {
                        TexelFormat::Uint8 | TexelFormat::Sint8 => self.trim(r, 8)?,
                        _ => self.op_k(Op::PackNorm, 1, &[r], 8, u8::from(format == TexelFormat::Snorm8))?,
                    });
                }
                self.bitcast(8, 32, &parts)
            }
        }
    }

    /// Value of an image or sampler variable.
    pub(super) fn load_handle(&mut self, p: &Ptr) -> Result<Val, ExecuteError> {
        match p.root {
            Root::Handle(id) if p.dynamic == NONE => {
                self.needs_element(p)?;
                match self.handles.get(&id) {
                    Some(&Val::Image(n, ty)) => Ok(Val::Image(ImageRef { element: p.element, ..n }, ty)),
                    Some(other) => Ok(other.clone()),
                    None => Err(self.fail("no image or sampler")),
                }
            }
            _ => Err(self.fail("no image or sampler variable")),
        }
    }
}
