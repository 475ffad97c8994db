//! Steps as JSON.

use serde::Serialize;

use super::{SampleStep, SampleTrace, StepFilter};
use crate::{
    emulated::section::Section,
    execute::embedded::{Operand, Value},
};

/// A value with its type. Floats have their bits and a decimal, which also tells NaN and infinities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ValueJson {
    /// A bool.
    Bool {
        /// It.
        value: bool,
    },
    /// An unsigned integer.
    Uint {
        /// Its width.
        bits: u8,
        /// It.
        value: u64,
    },
    /// A signed integer.
    Int {
        /// Its width.
        bits: u8,
        /// It.
        value: i64,
    },
    /// A float.
    Float {
        /// Its width.
        bits: u8,
        /// Its bits, as hexadecimal with `0x`.
        word: String,
        /// The shortest decimal that reads back as the same, `NaN`, `inf` or `-inf`.
        value: String,
    },
    /// A vector, matrix by columns, array or struct.
    Composite {
        /// Its parts.
        values: Vec<ValueJson>,
    },
    /// A pointer.
    Pointer {
        /// Name of the variable.
        variable: String,
        /// Bytes (in a buffer) or words from its start; absent when it points out of bounds.
        #[serde(skip_serializing_if = "Option::is_none")]
        offset: Option<u32>,
    },
    /// A literal.
    Literal {
        /// It.
        value: u32,
    },
    /// What has a name instead of a value.
    Name {
        /// It.
        value: String,
    },
}

impl From<&Value> for ValueJson {
    fn from(value: &Value) -> Self {
        let float = |bits, word: String, value: String| Self::Float { bits, word, value };
        match value {
            Value::Bool(value) => Self::Bool { value: *value },
            Value::Unsigned(value, bits) => Self::Uint { bits: *bits, value: *value },
            Value::Signed(value, bits) => Self::Int { bits: *bits, value: *value },
            Value::F16(word) => float(16, format!("{word:#06x}"), format!("{:?}", value.as_f64().unwrap_or(f64::NAN))),
            Value::F32(x) => float(32, format!("{:#010x}", x.to_bits()), format!("{x:?}")),
            Value::F64(x) => float(64, format!("{:#018x}", x.to_bits()), format!("{x:?}")),
            Value::Composite(list) => Self::Composite { values: list.iter().map(Self::from).collect() },
            Value::Pointer { variable, offset } => Self::Pointer { variable: variable.clone(), offset: *offset },
            Value::Literal(value) => Self::Literal { value: *value },
            Value::Name(name) => Self::Name { value: name.clone() },
        }
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperandJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    value: ValueJson,
}

impl From<&Operand> for OperandJson {
    fn from(o: &Operand) -> Self {
        Self { id: o.id, name: o.name.clone(), value: (&o.value).into() }
    }
}

/// A texel that was read or written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FetchJson {
    coordinates: Vec<i32>,
    level: u32,
    word: String,
    write: bool,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepJson {
    index: usize,
    /// The rule that it was emitted for, with its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<[&'static str; 2]>,
    /// The stage, where no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'static str>,
    opcode: String,
    word: u32,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    operands: Vec<OperandJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ValueJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<FetchJson>,
}

/// A sample's steps, those that pass a filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceJson {
    schema: u32,
    dispatch: String,
    op: String,
    path: &'static str,
    profile: &'static str,
    sample: usize,
    position: [u32; 3],
    module_words: usize,
    specialization: Vec<SlotJson>,
    /// The sample's state in a table of descriptors: a word of its row each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<StateJson>,
    /// Steps that were executed, shown or not.
    executed: usize,
    steps: Vec<StepJson>,
    /// X, Y, Z, W.
    words: [String; 4],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct SlotJson {
    spec_id: u32,
    name: &'static str,
    value: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct StateJson {
    word: u32,
    name: &'static str,
    value: u32,
}

impl TraceJson {
    /// Takes what is to be written.
    #[must_use]
    pub fn new(trace: &SampleTrace, filter: &StepFilter) -> Self {
        Self {
            schema: 1,
            dispatch: trace.dispatch.clone(),
            op: trace.op.to_string(),
            path: trace.path.name(),
            profile: trace.profile,
            sample: trace.sample,
            position: trace.position,
            module_words: trace.module_words,
            specialization: trace
                .specialization
                .iter()
                .map(|&(slot, value)| SlotJson { spec_id: slot as u32, name: slot.name(), value })
                .collect(),
            state: trace
                .state
                .iter()
                .map(|&(slot, value)| StateJson { word: slot as u32, name: slot.name(), value })
                .collect(),
            executed: trace.steps.len(),
            steps: filter.apply(&trace.steps).map(|s| step_json(trace, s)).collect(),
            words: trace.words.map(|word| format!("{word:#010x}")),
        }
    }
}

fn step_json(trace: &SampleTrace, s: &SampleStep) -> StepJson {
    let step = &s.step;
    let (rule, stage) = match s.section {
        Some(Section::Rule(rule)) => (Some([rule.name(), trace.rules.value_name(rule)]), None),
        Some(Section::Stage(stage)) => (None, Some(stage.name())),
        None => (None, None),
    };
    StepJson {
        index: s.index,
        rule,
        stage,
        opcode: step.opcode.clone(),
        word: step.word,
        depth: step.depth,
        result: step.result,
        name: step.name.clone(),
        operands: step.operands.iter().map(OperandJson::from).collect(),
        value: step.value.as_ref().map(ValueJson::from),
        fetch: step.fetch.as_ref().map(|f| FetchJson {
            coordinates: f.coordinates.clone(),
            level: f.level,
            word: format!("{:#010x}", f.word),
            write: f.write,
        }),
    }
}
