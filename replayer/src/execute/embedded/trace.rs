//! What one invocation does, instruction by instruction.

use std::fmt;

use super::half;
use super::ir::{LANES, Lanes, NONE, Program, Reg};

/// A value as its type says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A bool.
    Bool(bool),
    /// An unsigned integer and its bits.
    Unsigned(u64, u8),
    /// A signed integer and its bits.
    Signed(i64, u8),
    /// The bits of a 16-bit float.
    F16(u16),
    /// A 32-bit float; its bits are `to_bits`.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A vector, matrix (by columns), array or struct.
    Composite(Vec<Value>),
    /// A pointer: the variable's name and where in it; `None` when it points out of bounds.
    Pointer {
        /// Name of the variable.
        variable: String,
        /// Bytes from the start of a buffer, or words from the start of another variable.
        offset: Option<u32>,
    },
    /// A literal, or an enumerant as its number.
    Literal(u32),
    /// A block, function, image or whatever else has no value of its own.
    Name(String),
}

impl Value {
    /// The value of a float of any width, exactly.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::F16(bits) => Some(f32::from_bits(half::to_f32(u32::from(*bits))).into()),
            Self::F32(value) => Some((*value).into()),
            Self::F64(value) => Some(*value),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Unsigned(v @ 0..=9, _) => write!(f, "{v}"),
            Self::Unsigned(v, _) => write!(f, "{v} ({v:#x})"),
            Self::Signed(v, _) => write!(f, "{v}"),
            Self::F16(v) => write!(f, "{:?} ({v:#06x})", f32::from_bits(half::to_f32(u32::from(*v)))),
            Self::F32(v) => write!(f, "{v:?} ({:#010x})", v.to_bits()),
            Self::F64(v) => write!(f, "{v:?} ({:#018x})", v.to_bits()),
            Self::Composite(list) => {
                f.write_str("{")?;
                for (n, v) in list.iter().enumerate() {
                    write!(f, "{}{v}", if n == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Pointer { variable, offset: Some(offset) } => write!(f, "&{variable}+{offset}"),
            Self::Pointer { variable, offset: None } => write!(f, "&{variable} out of bounds"),
            Self::Literal(v) => write!(f, "{v}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// An operand of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The id, if the operand is one.
    pub id: Option<u32>,
    /// Its OpName.
    pub name: Option<String>,
    /// Its value when the instruction was executed.
    pub value: Value,
}

/// An image access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Descriptor set of the image.
    pub set: u32,
    /// Binding of the image.
    pub binding: u32,
    /// Element, for arrays of images; else 0.
    pub element: u32,
    /// Coordinates as they are in the module: x, y, z as the dimension has them, then the layer.
    pub coordinates: Vec<i32>,
    /// Level.
    pub level: u32,
    /// First word of the texel that was read or written.
    pub word: u32,
    /// It was written.
    pub write: bool,
}

/// Where the source of an instruction is, as OpLine gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file, or whatever string the module's maker put there.
    pub file: String,
    /// Line number.
    pub line: u32,
    /// Column number.
    pub column: u32,
}

/// An executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Name of the opcode, such as `OpFAdd`; extended instructions as `OpExtInst Floor`.
    pub opcode: String,
    /// Offset of the instruction in words from the start of the module.
    pub word: u32,
    /// Functions around it, 1 in the entry point. A call's step follows those of the function called.
    pub depth: u32,
    /// Id of the result.
    pub result: Option<u32>,
    /// OpName of the result.
    pub name: Option<String>,
    /// The operands after the result's type and id.
    pub operands: Vec<Operand>,
    /// Value of the result.
    pub value: Option<Value>,
    /// What OpLine said last.
    pub line: Option<Line>,
    /// The texel that it read or wrote.
    pub fetch: Option<Fetch>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6} ", self.word)?;
        match (self.result, &self.name) {
            (Some(id), Some(name)) => write!(f, "%{id} {name} = ")?,
            (Some(id), None) => write!(f, "%{id} = ")?,
            _ => {}
        }
        f.write_str(&self.opcode)?;
        for o in &self.operands {
            match (o.id, &o.name) {
                (Some(id), Some(name)) => write!(f, " %{id} {name}:{}", o.value)?,
                (Some(id), None) => write!(f, " %{id}:{}", o.value)?,
                _ => write!(f, " {}", o.value)?,
            }
        }
        if let Some(v) = &self.value {
            write!(f, " -> {v}")?;
        }
        Ok(())
    }
}

/// Form of a value that is in registers.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Bool,
    Unsigned(u8),
    Signed(u8),
    Float(u8),
    Composite(Vec<Form>),
}

/// How to get a value when a step is recorded.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Registers(Form, Vec<Reg>),
    /// Variable, literal part and register of the address.
    Pointer(String, u32, Reg),
    Literal(u32),
    Name(String),
}

/// The image of a step's access: descriptor, coordinates, level, word.
#[derive(Clone, Debug)]
pub(super) struct FetchRecord {
    pub image: u32,
    /// [`NONE`] when it is no array.
    pub element: Reg,
    pub coordinates: Vec<Reg>,
    pub level: Reg,
    pub word: Reg,
    pub write: bool,
}

/// What to record about an instruction.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Index of the module's instruction.
    pub src: u32,
    pub depth: u32,
    pub operands: Vec<(Option<u32>, Source)>,
    pub result: Option<Source>,
    pub fetch: Option<FetchRecord>,
}

impl Record {
    fn each(&mut self, mut f: impl FnMut(&mut Reg)) {
        for source in self.operands.iter_mut().map(|o| &mut o.1).chain(&mut self.result) {
            match source {
                Source::Registers(_, regs) => regs.iter_mut().for_each(&mut f),
                Source::Pointer(_, _, r) if *r != NONE => f(r),
                _ => {}
            }
        }
        if let Some(fetch) = &mut self.fetch {
            fetch.coordinates.iter_mut().for_each(&mut f);
            if fetch.element != NONE {
                f(&mut fetch.element);
            }
            f(&mut fetch.level);
            f(&mut fetch.word);
        }
    }

    /// All registers that it reads.
    pub fn regs(&self) -> Vec<Reg> {
        let mut list = vec![];
        self.clone().each(|r| list.push(*r));
        list
    }

    /// Replaces registers by their slots.
    pub fn rename(&mut self, slots: &[u32]) {
        self.each(|r| *r = slots[*r as usize]);
    }

    /// The step, with the values of a lane.
    pub fn step(&self, program: &Program, regs: &[Lanes], lane: usize) -> Step {
        let source = &program.source;
        let i = source.insts[self.src as usize];
        let word = |r: Reg| regs.get(r as usize).map_or(0, |l| l[lane % LANES]);
        let value = |s: &Source| match s {
            Source::Registers(form, list) => read(form, &mut list.iter().copied(), &word),
            Source::Pointer(variable, offset, dynamic) => {
                let base = if *dynamic == NONE { 0 } else { word(*dynamic) };
                Value::Pointer { variable: variable.clone(), offset: base.checked_add(*offset) }
            }
            Source::Literal(v) => Value::Literal(*v),
            Source::Name(name) => Value::Name(name.clone()),
        };
        let name = |id: u32| source.names.get(&id).filter(|n| !n.is_empty()).cloned();
        let line = source.lines.get(&(self.src as usize)).and_then(|&n| {
            let [file, line, column] = *source.operands(&source.insts[n]) else { return None };
            Some(Line { file: source.strings.get(&file).cloned().unwrap_or_default(), line, column })
        });
        Step {
            opcode: source.inst_name(&i),
            word: i.at,
            depth: self.depth,
            result: (i.id != 0).then_some(i.id),
            name: name(i.id),
            operands: self
                .operands
                .iter()
                .map(|(id, s)| Operand { id: *id, name: id.and_then(name), value: value(s) })
                .collect(),
            value: self.result.as_ref().map(value),
            line,
            fetch: self.fetch.as_ref().map(|f| {
                let descriptor = &program.images[f.image as usize].0;
                Fetch {
                    set: descriptor.set,
                    binding: descriptor.binding,
                    element: if f.element == NONE { 0 } else { word(f.element) },
                    coordinates: f.coordinates.iter().map(|&r| word(r) as i32).collect(),
                    level: word(f.level),
                    word: word(f.word),
                    write: f.write,
                }
            }),
        }
    }
}

fn read(form: &Form, regs: &mut impl Iterator<Item = Reg>, word: &impl Fn(Reg) -> u32) -> Value {
    if let Form::Composite(list) = form {
        return Value::Composite(list.iter().map(|f| read(f, regs, word)).collect());
    }
    let r = regs.next().unwrap_or(NONE);
    let low = word(r);
    let wide = || u64::from(low) | u64::from(word(r.wrapping_add(1))) << 32;
    match form {
        Form::Bool => Value::Bool(low != 0),
        Form::Unsigned(64) => Value::Unsigned(wide(), 64),
        Form::Unsigned(bits) => Value::Unsigned(low.into(), *bits),
        Form::Signed(64) => Value::Signed(wide() as i64, 64),
        Form::Signed(bits) => {
            let up = 32 - u32::from(*bits);
            Value::Signed((((low << up) as i32) >> up).into(), *bits)
        }
        Form::Float(64) => Value::F64(f64::from_bits(wide())),
        Form::Float(16) => Value::F16(low as u16),
        _ => Value::F32(f32::from_bits(low)),
    }
}
