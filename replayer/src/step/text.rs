//! Steps as text.

use std::fmt::Write as _;

use super::{SampleStep, SampleTrace, StepFilter};
use crate::{
    execute::embedded::{Step, Value},
    report::{decimal, hex_float},
};

/// The steps of a sample that pass a filter, one a line, between a heading and the results.
#[must_use]
pub fn render_steps(trace: &SampleTrace, filter: &StepFilter) -> String {
    let mut text = String::new();
    let [x, y, z] = trace.position;
    let shown: Vec<&SampleStep> = filter.apply(&trace.steps).collect();
    let name = |s: &SampleStep| s.section.map_or("", |section| section.name());
    let wide = shown.iter().map(|s| name(s).len()).max().unwrap_or(0);
    // Writing to a string can't fail, so the results are dropped.
    let _ = writeln!(
        text,
        "{} sample {x},{y},{z} (number {}): {} by {} ({}), {} of {} steps",
        trace.dispatch,
        trace.sample,
        trace.op,
        trace.path,
        trace.profile,
        shown.len(),
        trace.steps.len()
    );
    for s in shown {
        let _ = writeln!(text, "{:>5}  {:wide$}  {}", s.index, name(s), step_text(&s.step));
    }
    for (channel, word) in ['X', 'Y', 'Z', 'W'].into_iter().zip(trace.words) {
        let _ = writeln!(text, "{channel} {word:#010x} {} {}", hex_float(word), decimal(word));
    }
    text
}

/// A step in one line: result, opcode, operands, value.
fn step_text(step: &Step) -> String {
    let result = result_text(step);
    let operands = operands_text(step).join(", ");
    let opcode = short_opcode(&step.opcode);
    let value = step.value.as_ref().map_or(String::new(), |v| format!(" -> {v}"));
    let result = if result.is_empty() { String::new() } else { format!("{result} = ") };
    let space = if operands.is_empty() { "" } else { " " };
    format!("{result}{opcode}{space}{operands}{value}")
}

/// The opcode without what each one begins with.
fn short_opcode(opcode: &str) -> &str {
    opcode.strip_prefix("OpExtInst ").or_else(|| opcode.strip_prefix("Op")).unwrap_or(opcode)
}

/// Id and name of a step's result; empty when it has none.
#[must_use]
pub fn result_text(step: &Step) -> String {
    match (step.result, &step.name) {
        (Some(id), Some(name)) => format!("%{id} {name}"),
        (Some(id), None) => format!("%{id}"),
        _ => String::new(),
    }
}

/// A step's operands, each as its id, its name and its value. The instruction set of an extended instruction, and its number
/// there, are left out: the opcode says the same.
#[must_use]
pub fn operands_text(step: &Step) -> Vec<String> {
    let skipped = if step.opcode.starts_with("OpExtInst ") { 2 } else { 0 };
    step.operands
        .iter()
        .skip(skipped)
        .map(|o| match (o.id, &o.name, &o.value) {
            // A pointer's value names its variable, and a block's or image's value is its name.
            (_, _, value @ Value::Pointer { .. }) => value.to_string(),
            (Some(id), _, Value::Name(name)) if *name == format!("%{id}") => name.clone(),
            (Some(id), _, Value::Name(name)) => format!("%{id} {name}"),
            (Some(id), Some(name), value) => format!("%{id} {name}: {value}"),
            (Some(id), None, value) => format!("%{id}: {value}"),
            (None, _, value) => value.to_string(),
        })
        .collect()
}
