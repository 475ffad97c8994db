//! What a SPIR-V module declares, as far as a job has to agree with it: drivers check none of it, and many crash on a
//! contradiction.

use std::collections::{BTreeSet, HashMap, HashSet};

use rspirv::spirv::{
    BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, MAGIC_NUMBER, Op, StorageClass,
};

use crate::execute::ExecuteError;

/// A module's interface.
#[derive(Debug, Default)]
pub(crate) struct ModuleInfo {
    /// Major and minor version.
    pub(super) version: (u32, u32),
    pub(super) capabilities: BTreeSet<u32>,
    pub(super) entries: Vec<Entry>,
    /// Variables with a descriptor set and binding that functions use.
    pub(super) resources: Vec<Declared>,
    /// Bits of the type of each specialization constant by its `SpecId`; 1 for a boolean.
    pub(super) spec_bits: HashMap<u32, u32>,
    /// `LocalSize` by entry point, where it is a literal.
    local_sizes: HashMap<u32, [u32; 3]>,
    /// Built-in `WorkgroupSize`, which overrides `LocalSize`.
    workgroup_size: Option<[Scalar; 3]>,
    /// Modes of float arithmetic with their widths, by entry point.
    pub(super) float_modes: Vec<(u32, ExecutionMode, u32)>,
    /// Bytes that the push constant block spans, 0 when there is none.
    pub(super) push_constant_bytes: u32,
}

/// An entry point for compute.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: u32,
    pub(super) name: String,
}

/// A variable with its place.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) kind: Kind,
    /// Elements of an array of descriptors, where the module says how many.
    count: Option<Scalar>,
}

impl Declared {
    /// The least number of descriptors that the binding must have room for.
    pub(super) fn count(&self, specialization: &[(u32, u32)]) -> u32 {
        self.count.map_or(1, |count| count.with(specialization))
    }
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Storage buffer.
    Storage,
    /// Uniform buffer.
    Uniform,
    /// Image without a sampler.
    Image(Texture),
    /// Image combined with a sampler.
    Sampled(Texture),
    /// Storage image.
    StorageImage(Texture),
    /// What jobs can not bind.
    Other(&'static str),
}

/// What a variable of a module is, for those who only need to know whether a binding fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModuleResource {
    StorageBuffer,
    UniformBuffer,
    Image,
    StorageImage,
    Combined,
    /// What jobs can not bind, in words.
    Other(&'static str),
}

impl ModuleResource {
    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::StorageBuffer => "a storage buffer",
            Self::UniformBuffer => "a uniform buffer",
            Self::Image => "an image without a sampler",
            Self::StorageImage => "a storage image",
            Self::Combined => "an image combined with a sampler",
            Self::Other(what) => what,
        }
    }
}

/// An image type: dimension and whether it has layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Texture {
    pub(super) dim: Dim,
    pub(super) arrayed: bool,
    /// Whether it is read as integers.
    pub(super) integer: bool,
}

#[derive(Clone, Copy, Debug)]
struct Scalar {
    value: u32,
    spec: Option<u32>,
}

impl Scalar {
    fn with(self, specialization: &[(u32, u32)]) -> u32 {
        let given = specialization.iter().find(|(id, _)| Some(*id) == self.spec);
        given.map_or(self.value, |(_, value)| *value)
    }
}

/// The parts of types that sizes and kinds depend on.
#[derive(Clone, Debug)]
enum Type {
    Bool,
    Number { bits: u32, integer: bool },
    Composite { of: u32, count: u32 },
    Array { of: u32, length: u32 },
    RuntimeArray { of: u32 },
    Struct(Vec<u32>),
    Image { sampled: u32, dim: Dim, arrayed: bool, multisampled: bool, storage: bool },
    Sampler,
    SampledImage(u32),
    Pointer { of: u32 },
    AccelerationStructure,
}

#[derive(Default)]
struct Scan {
    types: HashMap<u32, Type>,
    constants: HashMap<u32, u32>,
    composites: HashMap<u32, Vec<u32>>,
    scalar_types: HashMap<u32, u32>,
    spec_ids: HashMap<u32, u32>,
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    uniform_blocks: HashSet<u32>,
    buffer_blocks: HashSet<u32>,
    offsets: HashMap<(u32, u32), u32>,
    matrix_strides: HashMap<(u32, u32), u32>,
    array_strides: HashMap<u32, u32>,
    workgroup_size: Option<u32>,
    variables: Vec<(u32, u32, u32)>,
    used: HashSet<u32>,
    functions: HashSet<u32>,
    memory_model: bool,
}

impl ModuleInfo {
    /// Reads a module's declarations.
    pub(crate) fn read(words: &[u32]) -> Result<Self, ExecuteError> {
        let broken = |text: String| ExecuteError::Module(text);
        let [magic, version, _generator, bound, schema, ..] = *words else {
            return Err(broken(format!("{} words, a SPIR-V header takes 5", words.len())));
        };
        if magic != MAGIC_NUMBER {
            return Err(broken(format!("starts with 0x{magic:08x}, SPIR-V with 0x{MAGIC_NUMBER:08x}")));
        }
        if bound == 0 || schema != 0 {
            return Err(broken(format!("header with bound {bound} and schema {schema}")));
        }
        let mut info = Self { version: ((version >> 16) & 0xff, (version >> 8) & 0xff), ..Self::default() };
        let mut scan = Scan::default();
        let mut rest = words.get(5..).unwrap_or_default();
        let mut in_function = false;
        while let [first, ..] = *rest {
            let at = words.len() - rest.len();
            let count = (first >> 16) as usize;
            let Some((instruction, after)) = rest.split_at_checked(count).filter(|_| count > 0) else {
                return Err(broken(format!("instruction at word {at} has {count} words, {} are left", rest.len())));
            };
            rest = after;
            let operands = &instruction[1..];
            let Some(op) = Op::from_u32(first & 0xffff) else {
                return Err(broken(format!("unknown opcode {} at word {at}", first & 0xffff)));
            };
            match op {
                Op::Function => {
                    in_function = true;
                    scan.functions.extend(operands.get(1));
                }
                Op::FunctionEnd => in_function = false,
                Op::Variable if in_function && operands.get(2) != Some(&(StorageClass::Function as u32)) => {
                    return Err(broken(format!(
                        "variable at word {at} is within a function, but not of its storage class"
                    )));
                }
                _ => {}
            }
            if in_function {
                scan.used.extend(operands);
            } else {
                info.declaration(&mut scan, op, operands)
                    .ok_or_else(|| broken(format!("Op{op:?} at word {at} lacks operands or has unknown ones")))?;
            }
        }
        if in_function {
            return Err(broken("ends within a function".to_owned()));
        }
        info.finish(&scan)?;
        Ok(info)
    }

    /// One instruction outside functions; `None` if it is malformed.
    fn declaration(&mut self, scan: &mut Scan, op: Op, operands: &[u32]) -> Option<()> {
        let word = |i: usize| operands.get(i).copied();
        match op {
            Op::Capability => {
                self.capabilities.insert(word(0)?);
            }
            Op::MemoryModel => scan.memory_model = true,
            Op::EntryPoint => {
                if word(0)? == ExecutionModel::GLCompute as u32 {
                    self.entries.push(Entry { id: word(1)?, name: string(operands.get(2..)?)? });
                }
            }
            Op::ExecutionMode => {
                let entry = word(0)?;
                match ExecutionMode::from_u32(word(1)?)? {
                    ExecutionMode::LocalSize => {
                        self.local_sizes.insert(entry, [word(2)?, word(3)?, word(4)?]);
                    }
                    mode @ (ExecutionMode::DenormPreserve
                    | ExecutionMode::DenormFlushToZero
                    | ExecutionMode::SignedZeroInfNanPreserve
                    | ExecutionMode::RoundingModeRTE
                    | ExecutionMode::RoundingModeRTZ) => self.float_modes.push((entry, mode, word(2)?)),
                    _ => {}
                }
            }
            Op::Decorate => {
                let id = word(0)?;
                match Decoration::from_u32(word(1)?)? {
                    Decoration::SpecId => drop(scan.spec_ids.insert(id, word(2)?)),
                    Decoration::DescriptorSet => drop(scan.sets.insert(id, word(2)?)),
                    Decoration::Binding => drop(scan.bindings.insert(id, word(2)?)),
                    Decoration::Block => drop(scan.uniform_blocks.insert(id)),
                    Decoration::BufferBlock => drop(scan.buffer_blocks.insert(id)),
                    Decoration::ArrayStride => drop(scan.array_strides.insert(id, word(2)?)),
                    Decoration::BuiltIn if word(2)? == BuiltIn::WorkgroupSize as u32 => scan.workgroup_size = Some(id),
                    _ => {}
                }
            }
            Op::MemberDecorate => {
                let place = (word(0)?, word(1)?);
                match Decoration::from_u32(word(2)?)? {
                    Decoration::Offset => drop(scan.offsets.insert(place, word(3)?)),
                    Decoration::MatrixStride => drop(scan.matrix_strides.insert(place, word(3)?)),
                    _ => {}
                }
            }
            Op::Constant | Op::SpecConstant => {
                scan.scalar_types.insert(word(1)?, word(0)?);
                scan.constants.insert(word(1)?, word(2)?);
            }
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                scan.scalar_types.insert(word(1)?, word(0)?);
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                scan.composites.insert(word(1)?, operands.get(2..)?.to_vec());
            }
            Op::Variable => scan.variables.push((word(0)?, word(1)?, word(2)?)),
            _ => {
                if let Some(kind) = type_of(op, operands)? {
                    scan.types.insert(word(0)?, kind);
                }
            }
        }
        Some(())
    }

    fn finish(&mut self, scan: &Scan) -> Result<(), ExecuteError> {
        if !scan.memory_model {
            return Err(ExecuteError::Module("has no OpMemoryModel".to_owned()));
        }
        if self.entries.is_empty() {
            return Err(ExecuteError::Module("has no entry point for compute".to_owned()));
        }
        if let Some(entry) = self.entries.iter().find(|e| !scan.functions.contains(&e.id)) {
            return Err(ExecuteError::Module(format!("entry point {:?} has no function", entry.name)));
        }
        for (id, spec) in &scan.spec_ids {
            let bits = match scan.scalar_types.get(id).and_then(|t| scan.types.get(t)) {
                Some(Type::Bool) => 1,
                Some(Type::Number { bits, .. }) => *bits,
                _ => return Err(ExecuteError::Module(format!("SpecId {spec} is on what is no scalar constant"))),
            };
            self.spec_bits.insert(*spec, bits);
        }
        if let Some(id) = scan.workgroup_size {
            let scalar =
                |id: &u32| Some(Scalar { value: *scan.constants.get(id)?, spec: scan.spec_ids.get(id).copied() });
            let parts: Option<Vec<Scalar>> =
                scan.composites.get(&id).and_then(|parts| parts.iter().map(scalar).collect());
            // A size computed from specialization constants stays unknown here.
            self.workgroup_size = parts.and_then(|parts| parts.try_into().ok());
        }
        for &(pointer, id, class) in &scan.variables {
            if !scan.used.contains(&id) {
                continue;
            }
            let Some(Type::Pointer { of }) = scan.types.get(&pointer) else {
                return Err(ExecuteError::Module(format!("variable %{id} is not of a pointer type")));
            };
            match StorageClass::from_u32(class) {
                Some(StorageClass::PushConstant) => {
                    let bytes = scan.size(*of, None, 0).ok_or_else(|| {
                        ExecuteError::Module(format!("push constant block %{id} has members of unknown size"))
                    })?;
                    self.push_constant_bytes = self.push_constant_bytes.max(bytes);
                }
                Some(class @ (StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::UniformConstant)) => {
                    let (Some(&set), Some(&binding)) = (scan.sets.get(&id), scan.bindings.get(&id)) else {
                        return Err(ExecuteError::Module(format!("variable %{id} has no DescriptorSet or no Binding")));
                    };
                    let (of, count) = scan.descriptors(*of);
                    self.resources.push(Declared { set, binding, kind: scan.kind(of, class), count });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Names of the entry points for compute.
    pub(crate) fn entry_names(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    /// Bytes that the push constant block spans, 0 when there is none.
    pub(crate) fn push_constant_bytes(&self) -> u32 {
        self.push_constant_bytes
    }

    /// Set, binding and kind of what functions use.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (u32, u32, ModuleResource)> {
        self.resources.iter().map(|declared| {
            let kind = match declared.kind {
                Kind::Storage => ModuleResource::StorageBuffer,
                Kind::Uniform => ModuleResource::UniformBuffer,
                Kind::Image(_) => ModuleResource::Image,
                Kind::StorageImage(_) => ModuleResource::StorageImage,
                Kind::Sampled(_) => ModuleResource::Combined,
                Kind::Other(what) => ModuleResource::Other(what),
            };
            (declared.set, declared.binding, kind)
        })
    }

    /// Invocations of a workgroup in x, y, z with these specialization constants, where the module tells.
    pub(super) fn workgroup_size(&self, entry: u32, specialization: &[(u32, u32)]) -> Option<[u32; 3]> {
        let value = |s: Scalar| s.with(specialization);
        self.workgroup_size.map(|size| size.map(value)).or_else(|| self.local_sizes.get(&entry).copied())
    }

    /// The capability's name, its number if this program does not know it.
    pub(super) fn capability_name(number: u32) -> String {
        Capability::from_u32(number).map_or_else(|| number.to_string(), |c| format!("{c:?}"))
    }
}

impl Scan {
    /// The type of a variable's descriptors, and how many it has where it is an array whose length is known here.
    fn descriptors(&self, of: u32) -> (u32, Option<Scalar>) {
        match self.types.get(&of) {
            Some(Type::Array { of, length }) => {
                let value = self.constants.get(length).copied();
                (*of, value.map(|value| Scalar { value, spec: self.spec_ids.get(length).copied() }))
            }
            Some(Type::RuntimeArray { of }) => (*of, None),
            _ => (of, None),
        }
    }

    fn kind(&self, of: u32, class: StorageClass) -> Kind {
        let texture = |image: &Type| match image {
            Type::Image { sampled, dim, arrayed, .. } => {
                let integer = matches!(self.types.get(sampled), Some(Type::Number { integer: true, .. }));
                Some(Texture { dim: *dim, arrayed: *arrayed, integer })
            }
            _ => None,
        };
        match (class, self.types.get(&of)) {
            (_, Some(Type::Array { .. } | Type::RuntimeArray { .. })) => {
                Kind::Other("an array of arrays of descriptors")
            }
            (StorageClass::StorageBuffer, Some(Type::Struct(_))) => Kind::Storage,
            (StorageClass::Uniform, Some(Type::Struct(_))) if self.buffer_blocks.contains(&of) => Kind::Storage,
            (StorageClass::Uniform, Some(Type::Struct(_))) if self.uniform_blocks.contains(&of) => Kind::Uniform,
            (StorageClass::UniformConstant, Some(image @ Type::Image { dim, multisampled, storage, .. })) => {
                if *multisampled {
                    Kind::Other("a multisampled image")
                } else if *dim == Dim::DimBuffer {
                    Kind::Other("a texel buffer")
                } else if *storage {
                    texture(image).map_or(Kind::Other("an unknown image"), Kind::StorageImage)
                } else {
                    texture(image).map_or(Kind::Other("an unknown image"), Kind::Image)
                }
            }
            (StorageClass::UniformConstant, Some(Type::SampledImage(image))) => {
                self.types.get(image).and_then(texture).map_or(Kind::Other("an unknown image"), Kind::Sampled)
            }
            (StorageClass::UniformConstant, Some(Type::Sampler)) => Kind::Other("a sampler alone"),
            (StorageClass::UniformConstant, Some(Type::AccelerationStructure)) => {
                Kind::Other("an acceleration structure")
            }
            _ => Kind::Other("of an unknown type"),
        }
    }

    /// Bytes that a type spans in a block; `None` when that is unknown. `stride` is a matrix member's.
    fn size(&self, of: u32, stride: Option<u32>, depth: u32) -> Option<u32> {
        // Types can not contain themselves in a valid module; an invalid one shall not overflow the stack.
        if depth > 64 {
            return None;
        }
        match self.types.get(&of)? {
            Type::Number { bits, .. } => Some(bits.div_ceil(8)),
            Type::Composite { of: part, count } => match (stride, self.types.get(part)?) {
                (Some(stride), Type::Composite { .. }) => stride.checked_mul(*count),
                _ => self.size(*part, None, depth + 1)?.checked_mul(*count),
            },
            Type::Array { length, .. } => self.array_strides.get(&of)?.checked_mul(*self.constants.get(length)?),
            Type::Struct(members) => {
                let mut end = 0;
                for (place, member) in (0u32..).zip(members) {
                    let offset = *self.offsets.get(&(of, place))?;
                    let stride = self.matrix_strides.get(&(of, place)).copied();
                    end = end.max(offset.checked_add(self.size(*member, stride, depth + 1)?)?);
                }
                Some(end)
            }
            // A pointer to a buffer.
            Type::Pointer { .. } => Some(8),
            _ => None,
        }
    }
}

/// The type that an instruction declares, `Some(None)` if it declares none, `None` if it is malformed.
fn type_of(op: Op, operands: &[u32]) -> Option<Option<Type>> {
    let word = |i: usize| operands.get(i).copied();
    Some(Some(match op {
        Op::TypeBool => Type::Bool,
        Op::TypeInt => Type::Number { bits: word(1)?, integer: true },
        Op::TypeFloat => Type::Number { bits: word(1)?, integer: false },
        Op::TypeVector | Op::TypeMatrix => Type::Composite { of: word(1)?, count: word(2)? },
        Op::TypeArray => Type::Array { of: word(1)?, length: word(2)? },
        Op::TypeRuntimeArray => Type::RuntimeArray { of: word(1)? },
        Op::TypeStruct => Type::Struct(operands.get(1..)?.to_vec()),
        Op::TypeImage => Type::Image {
            sampled: word(1)?,
            dim: Dim::from_u32(word(2)?)?,
            arrayed: word(4)? != 0,
            multisampled: word(5)? != 0,
            storage: word(6)? == 2,
        },
        Op::TypeSampler => Type::Sampler,
        Op::TypeSampledImage => Type::SampledImage(word(1)?),
        Op::TypePointer => Type::Pointer { of: word(2)? },
        Op::TypeAccelerationStructureKHR => Type::AccelerationStructure,
        _ => return Some(None),
    }))
}

/// A literal string: bytes from the lowest of each word on, up to a zero.
fn string(words: &[u32]) -> Option<String> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    if bytes.len() == words.len().checked_mul(4)? {
        return None;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &[u32]) -> String {
        match ModuleInfo::read(words) {
            Err(ExecuteError::Module(text)) => text,
            other => panic!("expected a module error, got {other:?}"),
        }
    }

    #[test]
    fn broken_modules_are_refused_with_the_place() {
        assert_eq!(text(&[]), "0 words, a SPIR-V header takes 5");
        assert_eq!(text(&[1, 2, 3, 4, 5]), "starts with 0x00000001, SPIR-V with 0x07230203");
        let header = [MAGIC_NUMBER, 0x0001_0300, 0, 8, 0];
        let with = |more: &[u32]| [&header[..], more].concat();
        assert_eq!(text(&with(&[0])), "instruction at word 5 has 0 words, 1 are left");
        assert_eq!(text(&with(&[3 << 16 | 17, 1])), "instruction at word 5 has 3 words, 2 are left");
        assert_eq!(text(&with(&[1 << 16 | 0xfff0])), "unknown opcode 65520 at word 5");
        assert_eq!(text(&with(&[1 << 16 | 17])), "OpCapability at word 5 lacks operands or has unknown ones");
        assert_eq!(text(&with(&[5 << 16 | 54, 1, 2, 0, 3])), "ends within a function");
    }

    #[test]
    fn strings_end_in_the_word_with_a_zero() {
        assert_eq!(string(&[u32::from_le_bytes(*b"main"), 0, 7]).as_deref(), Some("main"));
        assert_eq!(string(&[u32::from_le_bytes(*b"abc\0")]).as_deref(), Some("abc"));
        assert_eq!(string(&[u32::from_le_bytes(*b"main")]), None);
    }
}
