//! A small assembler for test modules: sections of words, types and constants declared when first asked for.

use std::collections::HashMap;

use rspirv::spirv::{
    BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, FunctionControl, GlslStd450Op, ImageFormat,
    Op, StorageClass,
};

/// A scalar type, or a vector of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Void,
    Bool,
    U(u32),
    I(u32),
    F(u32),
    /// A vector of the scalar with a code ([`Kind::code`]), and its length.
    V(u8, u32),
}

pub const BOOL: Kind = Kind::Bool;
pub const U8: Kind = Kind::U(8);
pub const U16: Kind = Kind::U(16);
pub const U32: Kind = Kind::U(32);
pub const U64: Kind = Kind::U(64);
pub const I8: Kind = Kind::I(8);
pub const I16: Kind = Kind::I(16);
pub const I32: Kind = Kind::I(32);
pub const I64: Kind = Kind::I(64);
pub const F16: Kind = Kind::F(16);
pub const F32: Kind = Kind::F(32);
pub const F64: Kind = Kind::F(64);

const SCALARS: [Kind; 12] = [BOOL, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64];

impl Kind {
    /// A vector of this scalar.
    pub fn by(self, n: u32) -> Self {
        let code = SCALARS.iter().position(|k| *k == self).expect("a scalar");
        Self::V(code as u8, n)
    }

    pub fn scalar(self) -> Self {
        match self {
            Self::V(code, _) => SCALARS[usize::from(code)],
            other => other,
        }
    }

    pub fn len(self) -> usize {
        match self {
            Self::V(_, n) => n as usize,
            _ => 1,
        }
    }
}

/// Sets a storage image apart from a sampled one.
#[derive(Clone, Copy, Debug)]
pub struct ImageType {
    pub dim: Dim,
    pub arrayed: bool,
    pub storage: Option<ImageFormat>,
    pub channel: Kind,
}

/// A module under construction; its entry point is `main`.
pub struct Shader {
    next: u32,
    capabilities: Vec<Capability>,
    pub names: Vec<u32>,
    pub modes: Vec<u32>,
    pub decorations: Vec<u32>,
    pub globals: Vec<u32>,
    pub functions: Vec<u32>,
    pub code: Vec<u32>,
    known: HashMap<String, u32>,
    interface: Vec<u32>,
    pub main: u32,
    pub glsl: u32,
    local: [u32; 3],
    has_local: bool,
    extensions: Vec<&'static str>,
}

pub fn text_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn put(to: &mut Vec<u32>, op: Op, words: &[u32]) {
    to.push((words.len() as u32 + 1) << 16 | op as u32);
    to.extend(words);
}

impl Shader {
    pub fn new(local: [u32; 3]) -> Self {
        Self {
            next: 3,
            capabilities: vec![Capability::Shader],
            names: vec![],
            modes: vec![],
            decorations: vec![],
            globals: vec![],
            functions: vec![],
            code: vec![],
            known: HashMap::new(),
            interface: vec![],
            main: 1,
            glsl: 2,
            local,
            has_local: true,
            extensions: vec![],
        }
    }

    /// Leaves the size of workgroups to the caller.
    pub fn without_local_size(&mut self) {
        self.has_local = false;
    }

    pub fn extension(&mut self, name: &'static str) {
        if !self.extensions.contains(&name) {
            self.extensions.push(name);
        }
    }

    pub fn capability(&mut self, c: Capability) {
        if !self.capabilities.contains(&c) {
            self.capabilities.push(c);
        }
    }

    pub fn capabilities(&self) -> Vec<Capability> {
        self.capabilities.clone()
    }

    pub fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    pub fn name(&mut self, id: u32, name: &str) {
        let mut words = vec![id];
        words.extend(text_words(name));
        put(&mut self.names, Op::Name, &words);
    }

    pub fn decorate(&mut self, id: u32, d: Decoration, more: &[u32]) {
        let mut words = vec![id, d as u32];
        words.extend(more);
        put(&mut self.decorations, Op::Decorate, &words);
    }

    pub fn decorate_member(&mut self, id: u32, member: u32, d: Decoration, more: &[u32]) {
        let mut words = vec![id, member, d as u32];
        words.extend(more);
        put(&mut self.decorations, Op::MemberDecorate, &words);
    }

    /// A global declaration with a result, made once for each form.
    fn declare(&mut self, op: Op, ty: Option<u32>, words: &[u32]) -> u32 {
        let key = format!("{op:?} {ty:?} {words:?}");
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.global(op, ty, words);
        self.known.insert(key, id);
        id
    }

    /// A global declaration with a result.
    pub fn global(&mut self, op: Op, ty: Option<u32>, words: &[u32]) -> u32 {
        let id = self.id();
        let mut all: Vec<u32> = ty.into_iter().collect();
        all.push(id);
        all.extend(words);
        put(&mut self.globals, op, &all);
        id
    }

    pub fn ty(&mut self, kind: Kind) -> u32 {
        match kind {
            Kind::Void => self.declare(Op::TypeVoid, None, &[]),
            Kind::Bool => self.declare(Op::TypeBool, None, &[]),
            Kind::U(bits) | Kind::I(bits) => {
                match bits {
                    8 => self.capability(Capability::Int8),
                    16 => self.capability(Capability::Int16),
                    64 => self.capability(Capability::Int64),
                    _ => {}
                }
                let signed = u32::from(matches!(kind, Kind::I(_)));
                self.declare(Op::TypeInt, None, &[bits, signed])
            }
            Kind::F(bits) => {
                match bits {
                    16 => self.capability(Capability::Float16),
                    64 => self.capability(Capability::Float64),
                    _ => {}
                }
                self.declare(Op::TypeFloat, None, &[bits])
            }
            Kind::V(_, n) => {
                let scalar = self.ty(kind.scalar());
                self.declare(Op::TypeVector, None, &[scalar, n])
            }
        }
    }

    pub fn matrix(&mut self, column: Kind, columns: u32) -> u32 {
        let column = self.ty(column);
        self.declare(Op::TypeMatrix, None, &[column, columns])
    }

    pub fn array(&mut self, element: u32, n: u32) -> u32 {
        let n = self.u(n);
        self.declare(Op::TypeArray, None, &[element, n])
    }

    pub fn structure(&mut self, members: &[u32]) -> u32 {
        self.declare(Op::TypeStruct, None, members)
    }

    pub fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.declare(Op::TypePointer, None, &[class as u32, to])
    }

    pub fn constant(&mut self, kind: Kind, value: u64) -> u32 {
        let ty = self.ty(kind);
        match kind {
            Kind::Bool => self.declare(if value != 0 { Op::ConstantTrue } else { Op::ConstantFalse }, Some(ty), &[]),
            Kind::U(64) | Kind::I(64) | Kind::F(64) => {
                self.declare(Op::Constant, Some(ty), &[value as u32, (value >> 32) as u32])
            }
            Kind::I(bits) if bits < 32 => {
                let up = 32 - bits;
                self.declare(Op::Constant, Some(ty), &[(((value as u32) << up) as i32 >> up) as u32])
            }
            _ => self.declare(Op::Constant, Some(ty), &[value as u32]),
        }
    }

    pub fn u(&mut self, value: u32) -> u32 {
        self.constant(U32, value.into())
    }

    pub fn f(&mut self, value: f32) -> u32 {
        self.constant(F32, value.to_bits().into())
    }

    pub fn spec(&mut self, kind: Kind, spec_id: u32, default: u32) -> u32 {
        let ty = self.ty(kind);
        let id = match (kind, default) {
            (Kind::Bool, 0) => self.global(Op::SpecConstantFalse, Some(ty), &[]),
            (Kind::Bool, _) => self.global(Op::SpecConstantTrue, Some(ty), &[]),
            _ => self.global(Op::SpecConstant, Some(ty), &[default]),
        };
        self.decorate(id, Decoration::SpecId, &[spec_id]);
        id
    }

    /// An instruction of `main` with a result.
    pub fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.op_as(id, op, ty, operands);
        id
    }

    /// The same with an id that is known before.
    pub fn op_as(&mut self, id: u32, op: Op, ty: u32, operands: &[u32]) {
        let mut words = vec![ty, id];
        words.extend(operands);
        put(&mut self.code, op, &words);
    }

    pub fn kind_op(&mut self, op: Op, kind: Kind, operands: &[u32]) -> u32 {
        let ty = self.ty(kind);
        self.op(op, ty, operands)
    }

    /// An instruction of `main` without a result.
    pub fn effect(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.code, op, operands);
    }

    pub fn ext(&mut self, g: GlslStd450Op, ty: u32, operands: &[u32]) -> u32 {
        let mut words = vec![self.glsl, g as u32];
        words.extend(operands);
        self.op(Op::ExtInst, ty, &words)
    }

    pub fn label(&mut self, id: u32) {
        self.effect(Op::Label, &[id]);
    }

    pub fn variable(&mut self, class: StorageClass, ty: u32, initializer: Option<u32>) -> u32 {
        let ptr = self.pointer(class, ty);
        let mut words = vec![class as u32];
        words.extend(initializer);
        self.global(Op::Variable, Some(ptr), &words)
    }

    /// A variable of `main`; to be made before any other instruction of it.
    pub fn local(&mut self, ty: u32, initializer: Option<u32>) -> u32 {
        let ptr = self.pointer(StorageClass::Function, ty);
        let mut words = vec![StorageClass::Function as u32];
        words.extend(initializer);
        self.op(Op::Variable, ptr, &words)
    }

    pub fn builtin(&mut self, b: BuiltIn, kind: Kind) -> u32 {
        let ty = self.ty(kind);
        let var = self.variable(StorageClass::Input, ty, None);
        self.decorate(var, Decoration::BuiltIn, &[b as u32]);
        self.interface.push(var);
        var
    }

    pub fn bind(&mut self, id: u32, binding: u32) {
        self.decorate(id, Decoration::DescriptorSet, &[0]);
        self.decorate(id, Decoration::Binding, &[binding]);
    }

    /// A storage buffer of a runtime array of a type that takes `stride` bytes.
    pub fn buffer_of(&mut self, binding: u32, element: u32, stride: u32) -> u32 {
        let array = self.global(Op::TypeRuntimeArray, None, &[element]);
        self.decorate(array, Decoration::ArrayStride, &[stride]);
        let block = self.global(Op::TypeStruct, None, &[array]);
        self.decorate(block, Decoration::Block, &[]);
        self.decorate_member(block, 0, Decoration::Offset, &[0]);
        self.extension("SPV_KHR_storage_buffer_storage_class");
        let var = self.variable(StorageClass::StorageBuffer, block, None);
        self.bind(var, binding);
        var
    }

    /// A storage buffer of words.
    pub fn buffer(&mut self, binding: u32) -> u32 {
        let word = self.ty(U32);
        self.buffer_of(binding, word, 4)
    }

    /// Push constants of words.
    pub fn push_constants(&mut self, count: u32) -> u32 {
        let word = self.ty(U32);
        let members = vec![word; count as usize];
        let block = self.global(Op::TypeStruct, None, &members);
        self.decorate(block, Decoration::Block, &[]);
        for n in 0..count {
            self.decorate_member(block, n, Decoration::Offset, &[4 * n]);
        }
        self.variable(StorageClass::PushConstant, block, None)
    }

    pub fn image_type(&mut self, t: ImageType) -> u32 {
        let channel = self.ty(t.channel);
        match t.dim {
            Dim::Dim1D if t.storage.is_some() => self.capability(Capability::Image1D),
            Dim::Dim1D => self.capability(Capability::Sampled1D),
            _ => {}
        }
        let sampled = if t.storage.is_some() { 2 } else { 1 };
        let format = t.storage.unwrap_or(ImageFormat::Unknown) as u32;
        self.declare(Op::TypeImage, None, &[channel, t.dim as u32, 0, t.arrayed.into(), 0, sampled, format])
    }

    pub fn image(&mut self, binding: u32, t: ImageType) -> u32 {
        let ty = self.image_type(t);
        let var = self.variable(StorageClass::UniformConstant, ty, None);
        self.bind(var, binding);
        var
    }

    /// Pointer to an element of a buffer's array.
    pub fn element(&mut self, buffer: u32, element: u32, index: u32) -> u32 {
        let zero = self.u(0);
        let ptr = self.pointer(StorageClass::StorageBuffer, element);
        self.op(Op::AccessChain, ptr, &[buffer, zero, index])
    }

    pub fn load(&mut self, ty: u32, ptr: u32) -> u32 {
        self.op(Op::Load, ty, &[ptr])
    }

    pub fn load_word(&mut self, buffer: u32, index: u32) -> u32 {
        let word = self.ty(U32);
        let ptr = self.element(buffer, word, index);
        self.load(word, ptr)
    }

    pub fn store_word(&mut self, buffer: u32, index: u32, value: u32) {
        let word = self.ty(U32);
        let ptr = self.element(buffer, word, index);
        self.effect(Op::Store, &[ptr, value]);
    }

    /// Component x of GlobalInvocationId.
    pub fn global_x(&mut self, var: u32) -> u32 {
        let v3 = self.ty(U32.by(3));
        let id = self.load(v3, var);
        self.kind_op(Op::CompositeExtract, U32, &[id, 0])
    }

    /// A function of other parameters, made of what `body` puts into the code; to be called outside `main`'s own code.
    pub fn function(&mut self, ret: u32, params: &[u32], body: impl FnOnce(&mut Self, &[u32])) -> u32 {
        let mut words = vec![ret];
        words.extend(params);
        let ty = self.declare(Op::TypeFunction, None, &words);
        let id = self.id();
        let outer = std::mem::take(&mut self.code);
        self.op_as(id, Op::Function, ret, &[FunctionControl::NONE.bits(), ty]);
        let ids: Vec<u32> = params.iter().map(|p| self.op(Op::FunctionParameter, *p, &[])).collect();
        let label = self.id();
        self.label(label);
        body(self, &ids);
        self.effect(Op::FunctionEnd, &[]);
        let code = std::mem::replace(&mut self.code, outer);
        self.functions.extend(code);
        id
    }

    /// The words; `main`'s code must end with its return.
    pub fn finish(mut self) -> Vec<u32> {
        let void = self.ty(Kind::Void);
        let fn_type = self.declare(Op::TypeFunction, None, &[void]);
        let label = self.id();
        let mut head = vec![];
        for c in &self.capabilities {
            put(&mut head, Op::Capability, &[*c as u32]);
        }
        for e in &self.extensions {
            put(&mut head, Op::Extension, &text_words(e));
        }
        let mut import = vec![self.glsl];
        import.extend(text_words("GLSL.std.450"));
        put(&mut head, Op::ExtInstImport, &import);
        put(&mut head, Op::MemoryModel, &[0, 1]);
        let mut entry = vec![ExecutionModel::GLCompute as u32, self.main];
        entry.extend(text_words("main"));
        entry.extend(&self.interface);
        put(&mut head, Op::EntryPoint, &entry);
        if self.has_local {
            let [x, y, z] = self.local;
            put(&mut head, Op::ExecutionMode, &[self.main, ExecutionMode::LocalSize as u32, x, y, z]);
        }
        let mut words = vec![rspirv::spirv::MAGIC_NUMBER, 0x0001_0300, 0, self.next, 0];
        words.extend(head);
        words.extend(self.modes);
        words.extend(self.names);
        words.extend(self.decorations);
        words.extend(self.globals);
        put(&mut words, Op::Function, &[void, self.main, FunctionControl::NONE.bits(), fn_type]);
        put(&mut words, Op::Label, &[label]);
        words.extend(self.code);
        put(&mut words, Op::FunctionEnd, &[]);
        words.extend(self.functions);
        words
    }
}
