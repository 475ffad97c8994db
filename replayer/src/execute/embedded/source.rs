//! A module cut into instructions: names, decorations, entry points, functions and their control flow, not yet specialized.
//!
//! rspirv's grammar says which instructions have a result; operands stay words, and whoever reads one checks that it is there.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE, Instruction, OperandKind};
use rspirv::spirv::{self, Op};

use crate::execute::ExecuteError;

/// A result id.
pub(super) type Id = u32;

/// Words beyond which a module is refused.
const MAX_WORDS: usize = 1 << 22;
/// Ids beyond which a module is refused; as SPIR-V's universal limit.
const MAX_BOUND: u32 = 1 << 22;

static GRAMMAR: LazyLock<HashMap<u32, &'static Instruction<'static>>> =
    LazyLock::new(|| INSTRUCTION_TABLE.iter().map(|i| (i.opcode as u32, i)).collect());

/// Name of an instruction, such as `OpIAdd`.
pub(super) fn op_name(op: Op) -> String {
    GRAMMAR.get(&(op as u32)).map_or_else(|| format!("Op{}", op as u32), |i| format!("Op{}", i.opname))
}

/// Name of an instruction of GLSL.std.450.
pub(super) fn ext_name(number: u32) -> String {
    GLSL_STD_450_INSTRUCTION_TABLE
        .iter()
        .find(|i| u32::from(i.opcode) == number)
        .map_or_else(|| number.to_string(), |i| i.opname.to_owned())
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceInst {
    pub op: Op,
    /// Type of the result, 0 if it has none.
    pub ty: Id,
    /// The result, 0 if there is none.
    pub id: Id,
    /// Offset in words.
    pub at: u32,
    /// Operands after the result, as a range of words.
    pub start: u32,
    pub end: u32,
}

/// A basic block of the module.
#[derive(Clone, Debug)]
pub(super) struct SourceBlock {
    pub label: Id,
    /// Instructions from after the label to the terminator, both included.
    pub first: usize,
    pub last: usize,
    /// Blocks that control may go to, as indices.
    pub successors: Vec<usize>,
    /// A block at or after this one goes here.
    pub has_back_edge: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Index of OpFunction.
    pub inst: usize,
    /// Results of the parameters.
    pub params: Vec<usize>,
    pub blocks: Vec<SourceBlock>,
    /// Blocks in the order in which they are translated: a construct's blocks before its merge block.
    pub order: Vec<usize>,
}

/// An extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtSet {
    Glsl,
    NonSemantic,
}

/// Decorations: what is decorated, with the decoration and its operands.
type Decorations<K> = HashMap<K, Vec<(u32, Vec<u32>)>>;

/// A module's parts.
pub(super) struct Source {
    pub words: Arc<[u32]>,
    pub key: u64,
    pub insts: Vec<SourceInst>,
    pub names: HashMap<Id, String>,
    pub strings: HashMap<Id, String>,
    pub decorations: Decorations<Id>,
    pub member_decorations: Decorations<(Id, u32)>,
    pub sets: HashMap<Id, ExtSet>,
    /// Name, function and index of OpEntryPoint.
    pub entries: Vec<(String, Id, usize)>,
    /// Entry point, mode and index of the instruction.
    pub modes: Vec<(Id, u32, usize)>,
    /// Types, constants and global variables.
    pub globals: Vec<usize>,
    pub functions: HashMap<Id, Function>,
    /// Instruction that defines an id.
    pub defs: HashMap<Id, usize>,
    /// Index of the last OpLine before an instruction, where one applies.
    pub lines: HashMap<usize, usize>,
}

impl Source {
    /// Cuts a module into its parts.
    pub fn parse(words: &Arc<[u32]>, key: u64) -> Result<Self, ExecuteError> {
        let module = |text: String| ExecuteError::Module(text);
        if words.len() < 5 {
            return Err(module(format!("{} words, expected a header of 5", words.len())));
        }
        if words.len() > MAX_WORDS {
            return Err(module(format!("{} words, at most {MAX_WORDS} are accepted", words.len())));
        }
        if words[0] != spirv::MAGIC_NUMBER {
            return Err(module(format!("word 0 is {:#010x}, expected SPIR-V's magic number", words[0])));
        }
        if words[3] > MAX_BOUND {
            return Err(module(format!("word 3: bound {} of ids, at most {MAX_BOUND} are accepted", words[3])));
        }
        let mut source = Self {
            words: words.clone(),
            key,
            insts: Vec::new(),
            names: HashMap::new(),
            strings: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
            sets: HashMap::new(),
            entries: Vec::new(),
            modes: Vec::new(),
            globals: Vec::new(),
            functions: HashMap::new(),
            defs: HashMap::new(),
            lines: HashMap::new(),
        };
        source.split()?;
        source.sort()?;
        Ok(source)
    }

    fn split(&mut self) -> Result<(), ExecuteError> {
        let words = self.words.clone();
        let bound = words[3];
        let mut at = 5;
        while at < words.len() {
            let (count, code) = ((words[at] >> 16) as usize, words[at] & 0xffff);
            let fail = |text: String| Err(ExecuteError::Module(format!("word {at}: {text}")));
            let Some(grammar) = GRAMMAR.get(&code) else { return fail(format!("unknown opcode {code}")) };
            if count == 0 || count > words.len() - at {
                return fail(format!("Op{} of {count} words, {} are left", grammar.opname, words.len() - at));
            }
            let mut inst = SourceInst {
                op: grammar.opcode,
                ty: 0,
                id: 0,
                at: at as u32,
                start: at as u32 + 1,
                end: (at + count) as u32,
            };
            for operand in grammar.operands.iter().take(2) {
                let slot = match operand.kind {
                    OperandKind::IdResultType => &mut inst.ty,
                    OperandKind::IdResult => &mut inst.id,
                    _ => break,
                };
                let id = if inst.start < inst.end { words[inst.start as usize] } else { 0 };
                if id == 0 || id >= bound {
                    return fail(format!("Op{} has no valid result", grammar.opname));
                }
                *slot = id;
                inst.start += 1;
            }
            if inst.id != 0 && self.defs.insert(inst.id, self.insts.len()).is_some() {
                return fail(format!("%{} is defined twice", inst.id));
            }
            self.insts.push(inst);
            at += count;
        }
        Ok(())
    }

    fn sort(&mut self) -> Result<(), ExecuteError> {
        let mut line = None;
        let mut function: Option<Function> = None;
        let mut open = None;
        for n in 0..self.insts.len() {
            let i = self.insts[n];
            match i.op {
                Op::Line => line = Some(n),
                Op::NoLine => line = None,
                _ => {
                    if let Some(line) = line {
                        self.lines.insert(n, line);
                    }
                }
            }
            // A line is in force until the end of its block.
            if matches!(i.op, Op::Label | Op::FunctionEnd) {
                line = None;
            }
            match i.op {
                Op::Nop
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
                | Op::MemberName
                | Op::ModuleProcessed
                | Op::Extension
                | Op::Line
                | Op::NoLine => {}
                Op::Name => {
                    let (id, text) = (self.word(&i, 0)?, self.text(&i, 1)?.0);
                    self.names.insert(id, text);
                }
                Op::String => {
                    let text = self.text(&i, 0)?.0;
                    self.strings.insert(i.id, text);
                }
                Op::ExtInstImport => {
                    let name = self.text(&i, 0)?.0;
                    let set = if name == "GLSL.std.450" {
                        ExtSet::Glsl
                    } else if name.starts_with("NonSemantic.") {
                        ExtSet::NonSemantic
                    } else {
                        return Err(self.fail(&i, &format!("instruction set {name:?} is not supported")));
                    };
                    self.sets.insert(i.id, set);
                }
                Op::Capability => self.capability(&i)?,
                Op::MemoryModel => {
                    if self.word(&i, 0)? != spirv::AddressingModel::Logical as u32 {
                        return Err(self.fail(&i, "only logical addressing is supported"));
                    }
                }
                Op::EntryPoint => {
                    let (model, id) = (self.word(&i, 0)?, self.word(&i, 1)?);
                    let name = self.text(&i, 2)?.0;
                    if model == spirv::ExecutionModel::GLCompute as u32 {
                        self.entries.push((name, id, n));
                    }
                }
                Op::ExecutionMode | Op::ExecutionModeId => {
                    let (id, mode) = (self.word(&i, 0)?, self.word(&i, 1)?);
                    self.modes.push((id, mode, n));
                }
                Op::Decorate | Op::DecorateId => {
                    let (id, kind) = (self.word(&i, 0)?, self.word(&i, 1)?);
                    let rest = self.operands(&i)[2..].to_vec();
                    self.decorations.entry(id).or_default().push((kind, rest));
                }
                Op::MemberDecorate => {
                    let (id, member, kind) = (self.word(&i, 0)?, self.word(&i, 1)?, self.word(&i, 2)?);
                    let rest = self.operands(&i)[3..].to_vec();
                    self.member_decorations.entry((id, member)).or_default().push((kind, rest));
                }
                // Strings for HLSL's semantics.
                Op::DecorateString | Op::MemberDecorateString => {}
                Op::Function => {
                    if function.is_some() {
                        return Err(self.fail(&i, "inside a function"));
                    }
                    function = Some(Function { inst: n, params: vec![], blocks: vec![], order: vec![] });
                }
                Op::FunctionEnd => {
                    let (Some(mut f), None) = (function.take(), open) else {
                        return Err(self.fail(&i, "no function, or a block without its end"));
                    };
                    self.connect(&mut f)?;
                    self.functions.insert(self.insts[f.inst].id, f);
                }
                _ => match (&mut function, open) {
                    (None, _) => self.globals.push(n),
                    (Some(f), None) => match i.op {
                        Op::FunctionParameter if f.blocks.is_empty() => f.params.push(n),
                        Op::Label => open = Some(n),
                        _ => return Err(self.fail(&i, "expected a label")),
                    },
                    (Some(f), Some(label)) => match i.op {
                        Op::Label | Op::FunctionParameter => return Err(self.fail(&i, "inside a block")),
                        Op::Branch
                        | Op::BranchConditional
                        | Op::Switch
                        | Op::Return
                        | Op::ReturnValue
                        | Op::Kill
                        | Op::TerminateInvocation
                        | Op::Unreachable => {
                            f.blocks.push(SourceBlock {
                                label: self.insts[label].id,
                                first: label + 1,
                                last: n,
                                successors: vec![],
                                has_back_edge: false,
                            });
                            open = None;
                        }
                        _ => {}
                    },
                },
            }
        }
        match function {
            Some(f) => Err(self.fail(&self.insts[f.inst], "has no end")),
            None => Ok(()),
        }
    }

    /// Finds successors, the order of blocks, and where loops begin.
    fn connect(&self, f: &mut Function) -> Result<(), ExecuteError> {
        if f.blocks.is_empty() {
            return Err(self.fail(&self.insts[f.inst], "has no body"));
        }
        let index: HashMap<Id, usize> = f.blocks.iter().enumerate().map(|(n, b)| (b.label, n)).collect();
        // What is visited first ends up last.
        let mut visits = Vec::with_capacity(f.blocks.len());
        for n in 0..f.blocks.len() {
            let last = self.insts[f.blocks[n].last];
            let mut labels = vec![];
            match last.op {
                Op::Branch => labels.push(self.word(&last, 0)?),
                Op::BranchConditional => labels.extend([self.word(&last, 1)?, self.word(&last, 2)?]),
                Op::Switch => {
                    let step = self.switch_step(&last)?;
                    labels.push(self.word(&last, 1)?);
                    labels.extend(self.operands(&last)[2..].chunks_exact(step).map(|c| c[step - 1]));
                }
                _ => {}
            }
            let find = |label: Id| match index.get(&label) {
                Some(0) | None => Err(self.fail(&last, &format!("%{label} is no block to branch to"))),
                Some(&to) => Ok(to),
            };
            let targets = labels.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
            let mut visit = vec![];
            let inner = &self.insts[f.blocks[n].first..f.blocks[n].last];
            if let Some(before) = inner.iter().rfind(|i| !matches!(i.op, Op::Line | Op::NoLine)) {
                match before.op {
                    Op::LoopMerge => visit.extend([find(self.word(before, 0)?)?, find(self.word(before, 1)?)?]),
                    Op::SelectionMerge => visit.push(find(self.word(before, 0)?)?),
                    _ => {}
                }
            }
            visit.extend(targets.iter().copied());
            f.blocks[n].successors = targets;
            visits.push(visit);
        }
        // Depth first, with an own stack: block and the next of its visits.
        let mut seen = vec![false; f.blocks.len()];
        let mut stack = vec![(0, 0)];
        seen[0] = true;
        while let Some((block, next)) = stack.last_mut() {
            match visits[*block].get(*next) {
                Some(&to) => {
                    *next += 1;
                    if !seen[to] {
                        seen[to] = true;
                        stack.push((to, 0));
                    }
                }
                None => {
                    f.order.push(*block);
                    stack.pop();
                }
            }
        }
        f.order.reverse();
        let mut place = vec![usize::MAX; f.blocks.len()];
        for (n, &b) in f.order.iter().enumerate() {
            place[b] = n;
        }
        for &b in &f.order {
            for to in f.blocks[b].successors.clone() {
                if place[to] <= place[b] {
                    f.blocks[to].has_back_edge = true;
                }
            }
        }
        Ok(())
    }

    /// Words of a case of a switch: literal and label.
    pub fn switch_step(&self, inst: &SourceInst) -> Result<usize, ExecuteError> {
        let selector = self.word(inst, 0)?;
        let ty = self.type_of(selector).and_then(|ty| self.defs.get(&ty)).map(|&n| self.insts[n]);
        let wide = match ty {
            Some(t) if t.op == Op::TypeInt => self.word(&t, 0)? == 64,
            _ => return Err(self.fail(inst, &format!("%{selector} is no integer"))),
        };
        let step = if wide { 3 } else { 2 };
        let operands = self.operands(inst).len();
        if operands < 2 || !(operands - 2).is_multiple_of(step) {
            return Err(self.fail(inst, "its cases are incomplete"));
        }
        Ok(step)
    }

    fn capability(&self, i: &SourceInst) -> Result<(), ExecuteError> {
        use spirv::Capability as C;
        let number = self.word(i, 0)?;
        let known = match C::from_u32(number) {
            Some(
                C::Matrix
                | C::Shader
                | C::Float16
                | C::Float64
                | C::Int64
                | C::Int16
                | C::Int8
                | C::Sampled1D
                | C::Image1D
                | C::ImageQuery
                | C::StorageImageExtendedFormats
                | C::StorageImageReadWithoutFormat
                | C::StorageImageWriteWithoutFormat
                | C::StorageBuffer16BitAccess
                | C::UniformAndStorageBuffer16BitAccess
                | C::StoragePushConstant16
                | C::StorageBuffer8BitAccess
                | C::UniformAndStorageBuffer8BitAccess
                | C::StoragePushConstant8
                | C::SignedZeroInfNanPreserve
                | C::DenormPreserve
                | C::RoundingModeRTE
                | C::VulkanMemoryModel
                | C::VulkanMemoryModelDeviceScope
                | C::VariablePointersStorageBuffer
                | C::VariablePointers
                | C::AtomicFloat32AddEXT
                | C::AtomicFloat32MinMaxEXT
                | C::UniformBufferArrayDynamicIndexing
                | C::SampledImageArrayDynamicIndexing
                | C::StorageBufferArrayDynamicIndexing
                | C::StorageImageArrayDynamicIndexing
                | C::ShaderNonUniform
                | C::RuntimeDescriptorArray
                | C::UniformBufferArrayNonUniformIndexing
                | C::SampledImageArrayNonUniformIndexing
                | C::StorageBufferArrayNonUniformIndexing
                | C::StorageImageArrayNonUniformIndexing
                | C::SampledCubeArray
                | C::ImageCubeArray
                | C::FloatControls2
                | C::ExpectAssumeKHR,
            ) => return Ok(()),
            Some(other) => format!("{other:?}"),
            None => number.to_string(),
        };
        Err(self.fail(i, &format!("capability {known} is not supported")))
    }

    /// Operands after the result.
    pub fn operands(&self, inst: &SourceInst) -> &[u32] {
        &self.words[inst.start as usize..inst.end as usize]
    }

    /// Operand `n` after the result.
    pub fn word(&self, inst: &SourceInst, n: usize) -> Result<u32, ExecuteError> {
        self.operands(inst).get(n).copied().ok_or_else(|| self.fail(inst, &format!("operand {n} is missing")))
    }

    /// The string from operand `n` on, and the operand after it.
    pub fn text(&self, inst: &SourceInst, n: usize) -> Result<(String, usize), ExecuteError> {
        let words = self.operands(inst).get(n..).unwrap_or_default();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        match bytes.iter().position(|&b| b == 0) {
            Some(end) => Ok((String::from_utf8_lossy(&bytes[..end]).into_owned(), n + end / 4 + 1)),
            None => Err(self.fail(inst, "a string without its end")),
        }
    }

    /// Type of an id's value.
    pub fn type_of(&self, id: Id) -> Option<Id> {
        self.defs.get(&id).map(|&n| self.insts[n].ty).filter(|&ty| ty != 0)
    }

    /// First operand of a decoration, 0 for one without.
    pub fn decoration(&self, id: Id, kind: spirv::Decoration) -> Option<u32> {
        find_decoration(self.decorations.get(&id), kind)
    }

    /// The same for a struct's member.
    pub fn member_decoration(&self, id: Id, member: u32, kind: spirv::Decoration) -> Option<u32> {
        find_decoration(self.member_decorations.get(&(id, member)), kind)
    }

    /// Name for people: OpName's, else the id.
    pub fn name(&self, id: Id) -> String {
        self.names.get(&id).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("%{id}"))
    }

    /// Name of an instruction, with the extended instruction's.
    pub fn inst_name(&self, inst: &SourceInst) -> String {
        let name = op_name(inst.op);
        match (inst.op, self.operands(inst)) {
            (Op::ExtInst, [set, number, ..]) if self.sets.get(set) == Some(&ExtSet::Glsl) => {
                format!("{name} {}", ext_name(*number))
            }
            _ => name,
        }
    }

    /// An error that names the instruction.
    pub fn fail(&self, inst: &SourceInst, text: &str) -> ExecuteError {
        let id = if inst.id == 0 { String::new() } else { format!(" (%{})", inst.id) };
        ExecuteError::Module(format!("{} at word {}{id}: {text}", self.inst_name(inst), inst.at))
    }
}

fn find_decoration(list: Option<&Vec<(u32, Vec<u32>)>>, kind: spirv::Decoration) -> Option<u32> {
    list?.iter().find(|d| d.0 == kind as u32).map(|d| d.1.first().copied().unwrap_or(0))
}
