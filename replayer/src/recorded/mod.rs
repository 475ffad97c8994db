//! The recorded path: runs the very module that an emulator ran, with the bindings that it had.
//!
//! Storage buffers and storage images hold their recorded contents at first (zeros where none were recorded) and are read back;
//! those that the recording declares as outputs are compared with what it holds of them after the dispatch. What is bound more
//! than once in the host (one buffer at two bindings) is as many copies here.

mod bind;
mod check;
mod describe;
mod output;
mod taps;

use capture_format::ComputeDispatch;

use self::bind::Bound;
pub use self::{
    check::{lacks, without_oracle},
    describe::describe,
    output::{Samples, samples},
    taps::{Tap, accesses, steps, taps},
};
use crate::{
    execute::{ExecuteError, Executor, Module},
    path::Failure,
    refusal::Refusal,
};

/// What the recorded path gave for one output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Number of its binding in the dispatch's list.
    pub binding: usize,
    /// Its contents after the dispatch.
    pub words: Vec<u32>,
}

/// Runs a compute dispatch: its declared outputs, in the order of the bindings.
///
/// # Errors
/// [`Failure::Refused`] for a recording that can't be run as it was, by the part that is to blame; [`Failure::Execute`] when the
/// executor fails.
pub fn run(dispatch: &ComputeDispatch, executor: &mut dyn Executor) -> Result<Vec<Output>, Failure> {
    let module = Module::new(dispatch.module.to_vec());
    let bound = Bound::new(dispatch)?;
    let contents = bound.run(dispatch, &module, executor)?;
    let written = bound.written();
    if contents.len() != written.len() {
        let text = format!("{} outputs, expected {}", contents.len(), written.len());
        return Err(ExecuteError::Driver(text).into());
    }
    let outputs = written.into_iter().zip(contents).filter(|(place, _)| dispatch.bindings[*place].is_output());
    Ok(outputs.map(|(binding, words)| Output { binding, words }).collect())
}

/// A refusal of a part of the recording.
fn refuse(field: &str, value: impl ToString, reason: impl Into<String>) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value: value.to_string(), reason: reason.into() }
}
