//! Steps through the emulated path's shader for one sample: each executed instruction with the values of its operands and
//! its result, and the section of the sampling model that it belongs to.
//!
//! The steps come from the embedded executor, whatever executor is used otherwise. They are a plain list: going forward and
//! back is indexing.
//!
//! ```
//! use replayer::step::StepFilter;
//! use replayer::{path::Path, rules::Profile, step::trace_sample};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let case = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/gfx1035/weight-rounding.toml");
//! let dispatch = capture_format::open(case.as_ref())?.dispatch(0)?;
//! let trace = trace_sample(&dispatch, Path::Emulated, &Profile::GFX1035, 0)?;
//! let fetches = StepFilter { opcode: Some("ImageFetch".to_owned()), ..StepFilter::default() };
//! assert_eq!(fetches.apply(&trace.steps).count(), 4);
//! # Ok(())
//! # }
//! ```

mod json;
mod text;

use capture_format::{Dispatch, Op};

use crate::{
    emulated::{self, Slot, section::Section},
    execute::embedded::{Embedded, Step, Value},
    path::{Failure, Path},
    refusal::Refusal,
    rules::{Profile, Rules},
    table::Parts,
};

pub use json::{StepJson, TraceJson, ValueJson};
pub use text::{operands_text, render_steps, result_text};

/// One executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleStep {
    /// Its place among all steps of the sample, from 0 on.
    pub index: usize,
    /// The rule or stage that it was emitted for; `None` for what has none, such as branches.
    pub section: Option<Section>,
    /// The instruction with its values.
    pub step: Step,
}

/// One sample of a dispatch, instruction by instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleTrace {
    /// Name of the dispatch.
    pub dispatch: String,
    /// The instruction that was sampled with.
    pub op: Op,
    /// The path: emulated or as-submitted.
    pub path: Path,
    /// Name of the profile by whose rules the module was emitted.
    pub profile: &'static str,
    /// The rules by which the module was emitted.
    pub rules: Rules,
    /// Number of the sample, x fastest, then y, then z.
    pub sample: usize,
    /// The sample's place in the grid.
    pub position: [u32; 3],
    /// Words of the module.
    pub module_words: usize,
    /// Specialization constants with their values; of a dispatch with tables of descriptors, those that all states have in
    /// common.
    pub specialization: Vec<(Slot, u32)>,
    /// The sample's state where states are rows of a buffer; empty without tables of descriptors.
    pub state: Vec<(Slot, u32)>,
    /// The executed instructions.
    pub steps: Vec<SampleStep>,
    /// What the sample returns: X, Y, Z, W.
    pub words: [u32; 4],
}

/// Executes a sample of a dispatch step by step on the embedded executor.
///
/// # Errors
/// [`Failure::Refused`] when the dispatch holds what is not modelled, has no sample of that number, or the path runs no
/// SPIR-V that this crate generates; [`Failure::Execute`] when the executor fails.
pub fn trace_sample(dispatch: &Dispatch, path: Path, profile: &Profile, sample: usize) -> Result<SampleTrace, Failure> {
    if !matches!(path, Path::Emulated | Path::AsSubmitted) {
        let refusal =
            refuse("path", path.to_string(), "it has no steps: emulated and as-submitted run generated SPIR-V");
        return Err(refusal.into());
    }
    let profile = path.profile(profile);
    let parts = Parts::new(dispatch)?;
    let states = parts.states(&profile.rules)?;
    let samples = dispatch.coords.rows();
    let Some(invocation) = number_of(sample, samples) else {
        return Err(refuse("sample", sample.to_string(), &format!("the dispatch has {samples}")).into());
    };
    let rules = profile.rules;
    let state = parts.place(sample).and_then(|(part, _)| states.get(part));
    let state = state.ok_or_else(|| refuse("sample", sample.to_string(), &format!("the dispatch has {samples}")))?;
    let (module_words, steps) = emulated::with_parts_job(rules, &parts, &states, |job| {
        (job.module.words.len(), Embedded::new().trace_invocation(job, invocation))
    })?;
    let steps: Vec<SampleStep> = steps?
        .into_iter()
        .enumerate()
        .map(|(index, step)| {
            let section = step.line.as_ref().and_then(|line| Section::of_line(&line.file, line.line));
            SampleStep { index, section, step }
        })
        .collect();
    let words = stored_words(&steps).ok_or_else(|| {
        crate::execute::ExecuteError::Module("the invocation stores no result of four words".to_owned())
    })?;
    let value = |&slot: &Slot| (slot, slot.value(state));
    let is_constant = |slot: Slot| states.iter().all(|other| slot.value(other) == slot.value(state));
    Ok(SampleTrace {
        dispatch: dispatch.name.clone(),
        op: dispatch.op,
        path,
        profile: profile.name,
        rules,
        sample,
        position: crate::compare::position(sample as u64, dispatch.grid),
        module_words,
        specialization: Slot::ALL.iter().filter(|&&slot| is_constant(slot)).map(value).collect(),
        state: Slot::ALL.iter().filter(|_| dispatch.is_table()).map(value).collect(),
        steps,
        words,
    })
}

fn refuse(field: &str, value: String, reason: &str) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value, reason: reason.to_owned() }
}

/// The invocation of a sample, when it is one of so many.
fn number_of(sample: usize, samples: usize) -> Option<[u32; 3]> {
    let (number, count) = (u32::try_from(sample).ok()?, u32::try_from(samples).ok()?);
    (sample < samples).then(|| emulated::invocation(number, count))
}

/// What the last store of four words stored.
fn stored_words(steps: &[SampleStep]) -> Option<[u32; 4]> {
    steps.iter().rev().filter(|s| s.step.opcode == "OpStore").find_map(|s| {
        let Value::Composite(list) = &s.step.operands.get(1)?.value else { return None };
        let words: Vec<u32> = list
            .iter()
            .map(|v| match v {
                Value::Unsigned(word, 32) => u32::try_from(*word).ok(),
                _ => None,
            })
            .collect::<Option<_>>()?;
        <[u32; 4]>::try_from(words).ok()
    })
}

/// Which steps to show. What is not set lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepFilter {
    /// Only steps of these sections; all, when there are none.
    pub sections: Vec<Section>,
    /// Only opcodes whose name contains this, whatever its case.
    pub opcode: Option<String>,
    /// Only steps of which the result or an operand has a name that contains this, or is this id (`%12`).
    pub name: Option<String>,
    /// Only steps from this number on.
    pub from: usize,
    /// At most so many steps.
    pub count: Option<usize>,
}

impl StepFilter {
    /// The steps that pass.
    pub fn apply<'a>(&'a self, steps: &'a [SampleStep]) -> impl Iterator<Item = &'a SampleStep> {
        let opcode = self.opcode.as_ref().map(|text| text.to_lowercase());
        steps
            .iter()
            .skip(self.from)
            .filter(move |s| {
                (self.sections.is_empty() || s.section.is_some_and(|section| self.sections.contains(&section)))
                    && opcode.as_ref().is_none_or(|text| s.step.opcode.to_lowercase().contains(text))
                    && self.name.as_ref().is_none_or(|text| has_name(&s.step, text))
            })
            .take(self.count.unwrap_or(usize::MAX))
    }
}

fn has_name(step: &Step, text: &str) -> bool {
    let fits = |id: Option<u32>, name: Option<&str>| match text.strip_prefix('%') {
        Some(number) => id.is_some_and(|id| number.parse() == Ok(id)),
        None => name.is_some_and(|name| name.contains(text)),
    };
    fits(step.result, step.name.as_deref()) || step.operands.iter().any(|o| fits(o.id, o.name.as_deref()))
}
