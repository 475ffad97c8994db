//! Variables, pointers, loads and stores.

use std::rc::Rc;

use rspirv::spirv::{BuiltIn, Decoration, StorageClass};

use super::types::{MAX_VALUE, Part, Scalar, Type};
use super::{ImageRef, Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Atomic, BufferDecl, Builtin, Count, Descriptor, Inst, NONE, Op, POISON, Reg};
use crate::execute::embedded::source::{Id, SourceInst};

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A variable of the invocation: its register and slots.
    Variable(Reg, u32),
    /// The same, not to be written.
    Input(Reg, u32),
    /// The workgroup's memory; offsets are in words.
    Shared,
    /// A buffer; offsets are in bytes.
    Buffer(u32),
    /// An image or sampler variable.
    Handle(Id),
    /// A texel: image and type of the image.
    Texel(u32, Id),
}

/// A pointer.
#[derive(Clone, Debug)]
pub(super) struct Ptr {
    pub root: Root,
    /// What it points to.
    pub part: Part,
    /// Literal part of the address.
    pub offset: u32,
    /// Register with the dynamic part of the address.
    pub dynamic: Reg,
    /// MatrixStride, and whether matrices are stored by rows.
    pub matrix: Option<(u32, bool)>,
    /// Bytes from component to component when they are not adjacent.
    pub spread: Option<u32>,
    /// It points to an array of descriptors, of which no element is chosen yet.
    pub array: bool,
    /// Register with the element of an array of descriptors.
    pub element: Reg,
    /// The variable's id, for the trace.
    pub variable: Id,
}

/// The type of a variable's descriptors, and how many it has.
fn descriptors(id: Id, ty: &Type) -> (Id, Count) {
    match ty {
        Type::Array(element, count) => (*element, Count::Fixed(*count)),
        Type::Runtime(element) => (*element, Count::Runtime),
        _ => (id, Count::One),
    }
}

impl Translator<'_> {
    /// Takes a variable, in or outside a function.
    pub(super) fn declare_variable(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        let Type::Pointer(class, to) = self.ty(i.ty)?.ty else { return Err(self.fail("its type is no pointer")) };
        if src.word(i, 0)? != class {
            return Err(self.fail("its storage class is not its type's"));
        }
        let info = self.ty(to)?;
        let initial = match src.operands(i).get(1) {
            Some(&id) => Some(self.data(id)?),
            None => None,
        };
        let class = StorageClass::from_u32(class).ok_or_else(|| self.fail("unknown storage class"))?;
        if initial.is_some() && !matches!(class, StorageClass::Function | StorageClass::Private) {
            return Err(self.fail("initializers are supported for Function and Private variables"));
        }
        let root = match class {
            StorageClass::Function | StorageClass::Private => {
                if self.global == (class == StorageClass::Function) {
                    return Err(self.fail("its storage class does not fit its place"));
                }
                let var = self.new_variable(info.slots)?;
                if !self.global && self.calls.len() > 1 {
                    // A function may be inlined into a loop.
                    self.push(Inst { dst: var, imm: info.slots, ..self.inst(Op::ClearVar) })?;
                }
                Root::Variable(var, info.slots)
            }
            StorageClass::Workgroup if self.global => {
                let at = self.shared_words;
                self.shared_words = at
                    .checked_add(info.slots)
                    .filter(|&n| n <= self.limits.shared_words)
                    .ok_or_else(|| self.fail("the workgroup's memory is too large"))?;
                let ptr = Ptr { offset: at, ..self.pointer(Root::Shared, to, i.id) };
                self.set(i.id, Val::Ptr(ptr.into()));
                return Ok(());
            }
            StorageClass::Input if self.global => return self.declare_input(i, to),
            StorageClass::PushConstant if self.global => {
                let n = match self.buffers.iter().position(|b| matches!(b, BufferDecl::Push)) {
                    Some(n) => n,
                    None => {
                        self.buffers.push(BufferDecl::Push);
                        self.buffers.len() - 1
                    }
                };
                Root::Buffer(n as u32)
            }
            StorageClass::Uniform | StorageClass::StorageBuffer if self.global => {
                let (block, count) = descriptors(to, &info.ty);
                if count != Count::One && !matches!(self.ty(block)?.ty, Type::Struct(_)) {
                    return Err(self.fail("an array of descriptors that are no blocks"));
                }
                let descriptor = self.descriptor(i.id, count)?;
                self.buffers.push(BufferDecl::Bound(descriptor));
                Root::Buffer(self.buffers.len() as u32 - 1)
            }
            StorageClass::UniformConstant if self.global => {
                let (opaque, count) = descriptors(to, &info.ty);
                let image = match self.ty(opaque)?.ty {
                    Type::SampledImage(image) => Some(image),
                    Type::Image(..) => Some(opaque),
                    Type::Sampler => None,
                    _ => return Err(self.fail("expected images, samplers, or an array of them")),
                };
                let handle = match image {
                    Some(image) => {
                        let Type::Image(decl, ..) = self.ty(image)?.ty else { return Err(self.fail("no image type")) };
                        let descriptor = self.descriptor(i.id, count)?;
                        self.images.push((descriptor, decl));
                        Val::Image(ImageRef { index: self.images.len() as u32 - 1, element: NONE }, image)
                    }
                    None => Val::Nothing,
                };
                self.handles.insert(i.id, handle);
                Root::Handle(i.id)
            }
            other => return Err(self.fail(&format!("storage class {other:?} is not supported here"))),
        };
        let array =
            matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant)
                && descriptors(to, &info.ty).1 != Count::One;
        let ptr = Ptr { array, ..self.pointer(root, to, i.id) };
        if let (Some(data), Root::Variable(..)) = (initial, root) {
            if self.global {
                // Written when the program starts.
                self.initial.push((ptr.clone(), data));
            } else {
                self.store(&ptr, &data)?;
            }
        }
        self.set(i.id, Val::Ptr(ptr.into()));
        Ok(())
    }

    fn pointer(&self, root: Root, to: Id, variable: Id) -> Ptr {
        Ptr {
            root,
            part: Part::Type(to),
            offset: 0,
            dynamic: NONE,
            matrix: None,
            spread: None,
            array: false,
            element: NONE,
            variable,
        }
    }

    /// Writes the initializers of Private variables, and zeroes the workgroup's memory where the module wants it.
    pub(super) fn initialize(&mut self) -> Result<(), ExecuteError> {
        for (ptr, data) in std::mem::take(&mut self.initial) {
            self.store(&ptr, &data)?;
        }
        Ok(())
    }

    fn new_variable(&mut self, slots: u32) -> Result<Reg, ExecuteError> {
        self.variable_slots = self
            .variable_slots
            .checked_add(slots)
            .filter(|&n| n <= self.limits.slots)
            .ok_or_else(|| self.fail("the invocation's variables are too large"))?;
        let var = self.reg(slots);
        self.variables.push(var);
        Ok(var)
    }

    fn descriptor(&self, id: Id, count: Count) -> Result<Descriptor, ExecuteError> {
        let get = |d| self.src.decoration(id, d);
        match (get(Decoration::DescriptorSet), get(Decoration::Binding)) {
            (Some(set), Some(binding)) => {
                Ok(Descriptor { set, binding, count, written: false, name: self.src.name(id) })
            }
            _ => Err(self.fail("has no DescriptorSet and Binding")),
        }
    }

    fn declare_input(&mut self, i: &SourceInst, to: Id) -> Result<(), ExecuteError> {
        let number = self.src.decoration(i.id, Decoration::BuiltIn);
        let number = number.ok_or_else(|| self.fail("an input that is no built-in"))?;
        let (builtin, n) = match BuiltIn::from_u32(number) {
            Some(BuiltIn::NumWorkgroups) => (Builtin::NumWorkgroups, 3),
            Some(BuiltIn::WorkgroupId) => (Builtin::WorkgroupId, 3),
            Some(BuiltIn::LocalInvocationId) => (Builtin::LocalInvocationId, 3),
            Some(BuiltIn::GlobalInvocationId) => (Builtin::GlobalInvocationId, 3),
            Some(BuiltIn::LocalInvocationIndex) => (Builtin::LocalInvocationIndex, 1),
            other => return Err(self.fail(&format!("built-in {other:?} ({number}) is not supported"))),
        };
        match self.vector(to)? {
            (Scalar::Int { bits: 32, .. }, count) if count == n => {}
            _ => return Err(self.fail(&format!("expected {n} 32-bit integers"))),
        }
        let var = self.new_variable(n)?;
        self.builtins.push((builtin, var));
        let ptr = self.pointer(Root::Input(var, n), to, i.id);
        self.set(i.id, Val::Ptr(ptr.into()));
        Ok(())
    }

    /// The pointer that an id is.
    pub(super) fn ptr(&self, id: Id) -> Result<Rc<Ptr>, ExecuteError> {
        match self.value(id)? {
            Val::Ptr(p) => Ok(p),
            _ => Err(self.fail(&format!("%{id} is no pointer"))),
        }
    }

    /// OpAccessChain.
    pub(super) fn access_chain(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let mut p = (*self.ptr(self.src.word(i, 0)?)?).clone();
        let explicit = matches!(p.root, Root::Buffer(_));
        let indices = self.src.operands(i)[1..].to_vec();
        for id in indices {
            let (s, index) = self.scalar(id)?;
            let Scalar::Int { bits, signed } = s else { return Err(self.fail(&format!("%{id} is no integer"))) };
            if p.array {
                let Part::Type(array) = p.part else { return Err(self.fail("no array of descriptors")) };
                let (Type::Array(element, _) | Type::Runtime(element)) = self.ty(array)?.ty else {
                    return Err(self.fail("no array of descriptors"));
                };
                p.element = self.element(index, bits, signed)?;
                p.array = false;
                p.part = Part::Type(element);
                continue;
            }
            // Bytes or slots from element to element, number of elements, type of an element.
            let (stride, count, part) = match p.part {
                Part::Type(ty) => match &self.ty(ty)?.ty {
                    Type::Struct(members) => {
                        let n = self.constant_of(index).filter(|&n| n < members.len() as u64);
                        let n = n.ok_or_else(|| self.fail("a member's index is no constant in range"))? as u32;
                        let offset = if explicit {
                            let matrix = |d| self.src.member_decoration(ty, n, d);
                            if let Some(stride) = matrix(Decoration::MatrixStride) {
                                p.matrix = Some((stride, matrix(Decoration::RowMajor).is_some()));
                            }
                            self.member_offset(ty, n)?
                        } else {
                            let mut at = 0;
                            for m in &members[..n as usize] {
                                at += self.ty(*m)?.slots;
                            }
                            at
                        };
                        p.offset = self.sum(p.offset, offset)?;
                        p.part = Part::Type(members[n as usize]);
                        continue;
                    }
                    Type::Array(element, n) => (self.stride(ty, *element, explicit)?, *n, Part::Type(*element)),
                    Type::Runtime(element) if explicit => {
                        (self.stride(ty, *element, explicit)?, POISON, Part::Type(*element))
                    }
                    Type::Matrix(s, rows, columns) => {
                        let part = Part::Vector(*s, *rows);
                        let size = if explicit { s.bits() / 8 } else { s.width().into() };
                        match p.matrix {
                            Some((stride, true)) if explicit => {
                                p.spread = Some(stride);
                                (size, *columns, part)
                            }
                            Some((stride, false)) if explicit => (stride, *columns, part),
                            None if explicit => return Err(self.fail("a matrix without MatrixStride")),
                            _ => (size * rows, *columns, part),
                        }
                    }
                    Type::Vector(s, n) => {
                        let size = if explicit { s.bits() / 8 } else { s.width().into() };
                        (size, *n, Part::Scalar(*s))
                    }
                    _ => return Err(self.fail("an index into what is no composite")),
                },
                Part::Vector(s, n) => {
                    let size = if explicit { s.bits() / 8 } else { s.width().into() };
                    (p.spread.take().unwrap_or(size), n, Part::Scalar(s))
                }
                Part::Scalar(_) => return Err(self.fail("an index into a scalar")),
            };
            p.part = part;
            self.step(&mut p, index, (bits, signed), stride, count)?;
        }
        self.check_pointee(i.ty, p.part)?;
        self.set(i.id, Val::Ptr(p.into()));
        Ok(())
    }

    /// The index of an element in 32 bits; what does not fit is beyond every array.
    fn element(&mut self, index: Reg, bits: u8, signed: bool) -> Result<Reg, ExecuteError> {
        match bits {
            64 => self.operation(Inst { b: index, c: 1, imm: POISON, ..self.inst(Op::Address64) }),
            8 | 16 if signed => self.op(Op::SExt, 1, &[index], bits.into()),
            _ => Ok(index),
        }
    }

    /// Refuses what accesses an array of descriptors as a whole.
    pub(super) fn needs_element(&self, p: &Ptr) -> Result<(), ExecuteError> {
        if p.array { Err(self.fail("an array of descriptors is accessed as a whole")) } else { Ok(()) }
    }

    /// The declared type of a pointer must have the shape of what it points to, as loads go by that.
    fn check_pointee(&self, ty: Id, part: Part) -> Result<(), ExecuteError> {
        let Type::Pointer(_, to) = self.ty(ty)?.ty else { return Err(self.fail("its type is no pointer")) };
        let fits = match part {
            Part::Type(id) => id == to,
            Part::Vector(s, n) => matches!(self.ty(to)?.ty, Type::Vector(t, m) if (t, m) == (s, n)),
            Part::Scalar(s) => matches!(self.ty(to)?.ty, Type::Scalar(t) if t == s),
        };
        if fits { Ok(()) } else { Err(self.fail("its type does not point to what the indices lead to")) }
    }

    /// Moves a pointer by `index * stride`.
    fn step(
        &mut self,
        p: &mut Ptr,
        index: Reg,
        (bits, signed): (u8, bool),
        stride: u32,
        count: u32,
    ) -> Result<(), ExecuteError> {
        if let Some(v) = self.constant_of(index)
            && v < u64::from(count)
            && let Some(offset) = (v * u64::from(stride)).try_into().ok().and_then(|o: u32| p.offset.checked_add(o))
        {
            p.offset = offset;
            return Ok(());
        }
        let index = if signed && bits < 32 { self.op(Op::SExt, 1, &[index], bits.into())? } else { index };
        let op = if bits == 64 { Op::Address64 } else { Op::Address };
        let inst = Inst { a: p.dynamic, b: index, c: stride, imm: count, ..self.inst(op) };
        p.dynamic = self.address(inst)?;
        Ok(())
    }

    /// An address operation; one on constants becomes [`POISON`] or a constant.
    fn address(&mut self, inst: Inst) -> Result<Reg, ExecuteError> {
        self.operation(inst)
    }

    fn sum(&self, a: u32, b: u32) -> Result<u32, ExecuteError> {
        a.checked_add(b).filter(|&n| n < POISON).ok_or_else(|| self.fail("an offset that does not fit 32 bits"))
    }

    pub(super) fn member_offset(&self, ty: Id, member: u32) -> Result<u32, ExecuteError> {
        self.src
            .member_decoration(ty, member, Decoration::Offset)
            .ok_or_else(|| self.fail(&format!("member {member} of %{ty} has no Offset")))
    }

    /// Bytes, or slots, from element to element.
    pub(super) fn stride(&self, array: Id, element: Id, explicit: bool) -> Result<u32, ExecuteError> {
        if explicit {
            self.src
                .decoration(array, Decoration::ArrayStride)
                .ok_or_else(|| self.fail(&format!("%{array} has no ArrayStride")))
        } else {
            Ok(self.ty(element)?.slots)
        }
    }

    /// Scalars that a pointer points to, with their offsets in bytes or slots.
    fn places(&self, p: &Ptr) -> Result<Vec<(Scalar, u32)>, ExecuteError> {
        self.needs_element(p)?;
        if let Part::Type(id) = p.part {
            let n = self.ty(id)?.scalars;
            if n > MAX_VALUE {
                return Err(self.fail(&format!("a value of {n} scalars, at most {MAX_VALUE} are accepted")));
            }
        }
        let mut list = vec![];
        self.push_places(p.part, p.offset, p, p.matrix, &mut list)?;
        Ok(list)
    }

    fn push_places(
        &self,
        part: Part,
        at: u32,
        p: &Ptr,
        matrix: Option<(u32, bool)>,
        list: &mut Vec<(Scalar, u32)>,
    ) -> Result<(), ExecuteError> {
        let explicit = matches!(p.root, Root::Buffer(_));
        let size = |s: Scalar| if explicit { s.bits() / 8 } else { s.width().into() };
        match part {
            Part::Scalar(s) => {
                if explicit && s == Scalar::Bool {
                    return Err(self.fail("bools have no form in buffers"));
                }
                list.push((s, at));
            }
            Part::Vector(s, n) => {
                for c in 0..n {
                    let at = self.sum(at, c * p.spread.unwrap_or(size(s)).min(1 << 28))?;
                    self.push_places(Part::Scalar(s), at, p, matrix, list)?;
                }
            }
            Part::Type(id) => match &self.ty(id)?.ty {
                Type::Scalar(s) => self.push_places(Part::Scalar(*s), at, p, matrix, list)?,
                Type::Vector(s, n) => {
                    for c in 0..*n {
                        self.push_places(Part::Scalar(*s), self.sum(at, c * size(*s))?, p, matrix, list)?;
                    }
                }
                Type::Matrix(s, rows, columns) => {
                    let (column, row) = match matrix {
                        Some((stride, true)) if explicit => (size(*s), stride),
                        Some((stride, false)) if explicit => (stride, size(*s)),
                        None if explicit => return Err(self.fail("a matrix without MatrixStride")),
                        _ => (size(*s) * rows, size(*s)),
                    };
                    for c in 0..*columns {
                        for r in 0..*rows {
                            let offset = u64::from(c) * u64::from(column) + u64::from(r) * u64::from(row);
                            let offset = u32::try_from(offset).unwrap_or(POISON);
                            self.push_places(Part::Scalar(*s), self.sum(at, offset)?, p, matrix, list)?;
                        }
                    }
                }
                Type::Array(element, n) if self.ty(*element)?.scalars > 0 => {
                    let stride = self.stride(id, *element, explicit)?;
                    for e in 0..*n {
                        let offset = e.checked_mul(stride).unwrap_or(POISON);
                        self.push_places(Part::Type(*element), self.sum(at, offset)?, p, matrix, list)?;
                    }
                }
                Type::Array(..) => {}
                Type::Struct(members) => {
                    let mut slot = 0;
                    for (m, &ty) in members.iter().enumerate() {
                        let m = m as u32;
                        let (offset, matrix) = if explicit {
                            let get = |d| self.src.member_decoration(id, m, d);
                            let row_major = get(Decoration::RowMajor).is_some();
                            let own = get(Decoration::MatrixStride).map(|s| (s, row_major));
                            (self.member_offset(id, m)?, own.or(matrix))
                        } else {
                            (slot, matrix)
                        };
                        slot += self.ty(ty)?.slots;
                        self.push_places(Part::Type(ty), self.sum(at, offset)?, p, matrix, list)?;
                    }
                }
                _ => return Err(self.fail(&format!("%{id} is no type of values"))),
            },
        }
        Ok(())
    }

    /// Loads what a pointer points to.
    pub(super) fn load(&mut self, p: &Ptr) -> Result<Vec<Reg>, ExecuteError> {
        let mut data = vec![];
        for (s, at) in self.places(p)? {
            let w = s.width();
            let r = match p.root {
                Root::Variable(var, slots) | Root::Input(var, slots) => {
                    if p.dynamic == NONE {
                        if let Some(&r) = self.known.get(&(var, at)) {
                            data.push(r);
                            continue;
                        }
                        let inst = Inst { w, a: var, imm: at, ..self.inst(Op::ReadVar) };
                        let r = self.operation(inst)?;
                        self.known.insert((var, at), r);
                        r
                    } else {
                        let inst = Inst { w, a: p.dynamic, b: var, c: slots, imm: at, ..self.inst(Op::GatherVar) };
                        self.operation(inst)?
                    }
                }
                Root::Shared => {
                    let inst = Inst { w, a: p.dynamic, d: at, ..self.inst(Op::LoadShared) };
                    self.operation(inst)?
                }
                Root::Buffer(n) => {
                    let k = (s.bits() / 8) as u8;
                    let inst = Inst { w, k, a: p.dynamic, d: at, e: p.element, imm: n, ..self.inst(Op::LoadBuffer) };
                    self.operation(inst)?
                }
                Root::Handle(_) | Root::Texel(..) => return Err(self.fail("this pointer cannot be loaded from")),
            };
            data.push(r);
        }
        Ok(data)
    }

    /// Stores scalars to what a pointer points to.
    pub(super) fn store(&mut self, p: &Ptr, data: &[Reg]) -> Result<(), ExecuteError> {
        let places = self.places(p)?;
        let scalars: Vec<Scalar> = places.iter().map(|&(s, _)| s).collect();
        self.check_widths(data, &scalars)?;
        for (&(s, at), &value) in places.iter().zip(data) {
            let w = s.width();
            match p.root {
                Root::Variable(var, slots) => {
                    if p.dynamic == NONE {
                        if self.known.get(&(var, at)) == Some(&value) {
                            continue;
                        }
                        self.push(Inst { w, dst: var, a: value, imm: at, ..self.inst(Op::WriteVar) })?;
                        self.known.insert((var, at), value);
                    } else {
                        let inst = Inst {
                            w,
                            dst: var,
                            a: p.dynamic,
                            b: value,
                            c: slots,
                            imm: at,
                            ..self.inst(Op::ScatterVar)
                        };
                        self.push(inst)?;
                        self.known.retain(|k, _| k.0 != var);
                    }
                }
                Root::Shared => {
                    self.note_undef(value)?;
                    self.push(Inst { w, a: p.dynamic, b: value, d: at, ..self.inst(Op::StoreShared) })?;
                }
                Root::Buffer(n) => {
                    self.note_undef(value)?;
                    self.mark_written(n)?;
                    let k = (s.bits() / 8) as u8;
                    let inst = Inst {
                        w,
                        k,
                        a: p.dynamic,
                        b: value,
                        d: at,
                        e: p.element,
                        imm: n,
                        ..self.inst(Op::StoreBuffer)
                    };
                    self.push(inst)?;
                }
                Root::Input(..) | Root::Handle(_) | Root::Texel(..) => {
                    return Err(self.fail("this pointer cannot be stored to"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn note_undef(&mut self, r: Reg) -> Result<(), ExecuteError> {
        if self.is_undef(r) { self.note(crate::execute::embedded::report::Choice::Undefined) } else { Ok(()) }
    }

    fn mark_written(&mut self, n: u32) -> Result<(), ExecuteError> {
        match &mut self.buffers[n as usize] {
            BufferDecl::Bound(d) => {
                d.written = true;
                Ok(())
            }
            BufferDecl::Push => Err(self.fail("push constants cannot be stored to")),
        }
    }

    /// Emits an atomic operation on a pointer; the old value.
    pub(super) fn atomic(&mut self, p: &Ptr, kind: Atomic, value: Reg, comparator: Reg) -> Result<Reg, ExecuteError> {
        let places = match p.root {
            Root::Texel(..) => vec![],
            _ => self.places(p)?,
        };
        let mut inst =
            Inst { k: kind as u8, a: p.dynamic, b: value, c: comparator, e: p.element, ..self.inst(Op::AtomicBuffer) };
        match (p.root, &places[..]) {
            (Root::Buffer(n), &[(s, at)]) if s.bits() == 32 => {
                if kind != Atomic::Load {
                    self.mark_written(n)?;
                }
                inst.d = at;
                inst.imm = n;
            }
            (Root::Shared, &[(s, at)]) if s.bits() == 32 => {
                inst.op = Op::AtomicShared;
                inst.d = at;
            }
            (Root::Texel(image, _), _) => {
                if kind != Atomic::Load {
                    self.images[image as usize].0.written = true;
                }
                inst.op = Op::AtomicTexel;
                inst.imm = image;
            }
            _ => {
                return Err(
                    self.fail("atomics are supported on 32-bit numbers in buffers, workgroup memory and images")
                );
            }
        }
        self.operation(inst)
    }

    /// OpArrayLength.
    pub(super) fn array_length(&mut self, i: &SourceInst) -> Result<Reg, ExecuteError> {
        let (base, member) = (self.src.word(i, 0)?, self.src.word(i, 1)?);
        let p = self.ptr(base)?;
        self.needs_element(&p)?;
        if let (Root::Buffer(n), Part::Type(ty), NONE) = (p.root, p.part, p.dynamic)
            && let Type::Struct(members) = &self.ty(ty)?.ty
            && let Some(&array) = members.get(member as usize)
            && let Type::Runtime(element) = self.ty(array)?.ty
        {
            let stride = self.stride(array, element, true)?;
            let offset = self.sum(p.offset, self.member_offset(ty, member)?)?;
            let inst = Inst { imm: n, c: offset, d: stride, e: p.element, ..self.inst(Op::ArrayLength) };
            return self.operation(inst);
        }
        Err(self.fail("expected a block whose member is a runtime array"))
    }
}
