//! Compute dispatches: their outputs as images, like the results of sample dispatches.

use std::{sync::Arc, time::Instant};

use capture_format::{BoundResource, Column, ComputeDispatch, Coords, Dispatch, Expected, Op, Words};
use replayer::{
    execute::{ExecuteError, Executor},
    path::Failure,
    recorded::{self, Samples},
};

use super::{
    compare::{Number, Operands, compare, options},
    evaluate::Progress,
    number::grouped,
    outcome::{Outcome, Sizes, Summary},
    stats::Stats,
};

/// A compute dispatch with what the window draws of it.
pub struct Compute {
    /// As recorded.
    pub dispatch: Arc<ComputeDispatch>,
    /// The outputs that can be shown, in the order of the bindings.
    pub outputs: Vec<OutputView>,
    /// What the recording lacks to be replayed and compared, for people.
    pub lacks: Vec<String>,
    /// The images that are read, where they have a T# and texels.
    pub inputs: Vec<InputView>,
    /// Why the outputs are not run and compared.
    not_compared: Option<NotCompared>,
}

/// Why a dispatch is not run and compared.
enum NotCompared {
    /// The recording holds nothing to compare with.
    NoOracle(String),
    /// An output has no form in which it could be compared.
    Refused(Failure),
}

/// An output as an image.
pub struct OutputView {
    /// Number of its binding in the dispatch's list.
    pub binding: usize,
    /// How its words are read.
    pub samples: Samples,
    /// Grid and recorded contents, in the form in which the results of sample dispatches are drawn. It has neither texels nor
    /// coordinates.
    pub frame: Arc<Dispatch>,
    /// The spread of the recorded contents.
    pub stats: Option<Arc<Stats>>,
}

/// An image that the dispatch reads.
pub struct InputView {
    /// Number of its binding in the dispatch's list.
    pub binding: usize,
    /// Its place, such as `set 0 binding 1`.
    pub name: String,
    /// T#, S# and texels, in the form in which textures of sample dispatches are drawn: a load of one texel.
    pub source: Arc<Dispatch>,
}

impl Compute {
    /// Takes a dispatch apart.
    #[must_use]
    pub fn new(dispatch: ComputeDispatch) -> Self {
        let mut outputs = Vec::new();
        let mut not_compared = recorded::without_oracle(&dispatch).map(NotCompared::NoOracle);
        for (number, binding) in dispatch.outputs() {
            match recorded::samples(binding) {
                Ok(samples) => {
                    let after = binding.contents().1;
                    outputs.extend(output_view(&dispatch, number, samples, after.map(Words::as_slice)));
                }
                Err(refusal) => {
                    not_compared.get_or_insert(NotCompared::Refused(refusal.into()));
                }
            }
        }
        let inputs = dispatch.bindings.iter().enumerate().filter_map(|(number, binding)| {
            let BoundResource::Image(image) = &binding.resource else { return None };
            let source = Dispatch {
                image: image.descriptor?,
                sampler: image.sampler,
                texels: image.before.clone()?,
                ..frame(&dispatch.name, [1, 1, 1])
            };
            let coords = Coords { columns: vec![Column::X], words: vec![0].into() };
            let source = Arc::new(Dispatch { coords, ..source });
            Some(InputView { binding: number, name: binding.to_string(), source })
        });
        let (inputs, lacks) = (inputs.collect(), recorded::lacks(&dispatch));
        Self { outputs, lacks, inputs, not_compared, dispatch: Arc::new(dispatch) }
    }

    /// What stands for an output where images are drawn; a single sample without contents when there is no such output.
    #[must_use]
    pub fn frame(&self, output: usize) -> Arc<Dispatch> {
        let found = self.outputs.get(output).map(|output| output.frame.clone());
        found.unwrap_or_else(|| Arc::new(frame(&self.dispatch.name, [1, 1, 1])))
    }

    /// How the words of an output are read.
    #[must_use]
    pub fn number(&self, output: usize) -> Number {
        self.outputs.get(output).map_or(Number::Uint, |output| output.samples.number)
    }

    /// Samples of all outputs.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.outputs.iter().map(|output| output.frame.sample_count()).fold(0, u64::saturating_add)
    }
}

/// A dispatch that holds nothing but a grid.
fn frame(name: &str, grid: [u32; 3]) -> Dispatch {
    Dispatch {
        name: name.to_owned(),
        op: Op::LOAD,
        grid,
        image: [0; 8],
        sampler: None,
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: Words::default(),
        coords: Coords { columns: Vec::new(), words: Words::default() },
        expected: None,
    }
}

/// `None` for an output without a sample.
fn output_view(
    dispatch: &ComputeDispatch,
    binding: usize,
    samples: Samples,
    after: Option<&[u32]>,
) -> Option<OutputView> {
    let mut frame = frame(&dispatch.name, samples.grid);
    if frame.sample_count() == 0 {
        return None;
    }
    frame.expected = after.map(|after| Expected { words: samples.unpack(after).into(), measured: samples.measured() });
    let expected = frame.expected.as_ref();
    let stats = expected.map(|e| Arc::new(Stats::of_results(&e.words, e.measured.as_deref(), samples.number)));
    Some(OutputView { binding, samples, frame: Arc::new(frame), stats })
}

/// Runs a compute dispatch and compares each output with what the recording holds of it: one outcome an output, at least one.
/// `None` when it was given up.
///
/// As in `replayer run`, a dispatch whose outputs are not all recorded is not run: the host may have died of it.
pub fn run(
    compute: &Compute,
    executor: Result<&mut (dyn Executor + 'static), ExecuteError>,
    progress: &Progress,
) -> Option<Vec<Outcome>> {
    let started = Instant::now();
    progress.begin(compute.sample_count());
    let every = |summary: &Summary| {
        let outputs = 0..compute.outputs.len().max(1);
        outputs.map(|n| outcome(compute, n, summary.clone())).collect::<Vec<_>>()
    };
    match &compute.not_compared {
        Some(NotCompared::NoOracle(reason)) => return Some(every(&Summary::not_recorded(reason.clone()))),
        Some(NotCompared::Refused(failure)) => return Some(every(&Summary::of_compute_failure(failure))),
        None => {}
    }
    let (info, result) = match executor {
        Ok(executor) => (Some(executor.info().clone()), recorded::run(&compute.dispatch, executor)),
        Err(error) => (None, Err(Failure::Execute(error))),
    };
    if progress.is_cancelled() {
        return None;
    }
    let mut outcomes = match result {
        Err(failure) => every(&Summary::of_compute_failure(&failure)),
        Ok(contents) => {
            let compared = compute.outputs.iter().enumerate().map(|(n, view)| {
                let words = contents.iter().find(|output| output.binding == view.binding);
                compared(compute, n, view, words.map(|output| output.words.as_slice()).unwrap_or_default())
            });
            compared.collect()
        }
    };
    for outcome in &mut outcomes {
        (outcome.elapsed, outcome.executor) = (started.elapsed(), info.clone());
    }
    (!progress.is_cancelled()).then_some(outcomes)
}

fn outcome(compute: &Compute, output: usize, summary: Summary) -> Outcome {
    Outcome {
        dispatch: compute.frame(output),
        words: None,
        number: compute.number(output),
        comparison: None,
        sizes: Sizes::default(),
        summary,
        stats: None,
        executor: None,
        elapsed: std::time::Duration::ZERO,
    }
}

fn compared(compute: &Compute, output: usize, view: &OutputView, contents: &[u32]) -> Outcome {
    let (samples, number) = (view.frame.sample_count(), view.samples.number);
    let words = view.samples.unpack(contents);
    let mut outcome = outcome(compute, output, Summary::of(samples, None));
    if words.len() as u64 != samples.saturating_mul(4) {
        let (got, wanted) = (grouped(words.len() as u64 / 4), grouped(samples));
        let error = ExecuteError::Driver(format!("{}: {got} samples, expected {wanted}", view.samples.name));
        outcome.summary = Summary::of_compute_failure(&error.into());
        return outcome;
    }
    if let Some(expected) = &view.frame.expected {
        let measured = expected.measured.as_deref();
        let operands = Operands { grid: view.frame.grid, got: &words, expected: &expected.words, measured };
        match compare(&operands, &options(number)) {
            Ok(comparison) => {
                outcome.summary = Summary::of(samples, Some(&comparison));
                outcome.sizes = Sizes::of(&words, &view.frame, &comparison, number);
                outcome.comparison = Some(comparison);
            }
            Err(error) => {
                let error = ExecuteError::Driver(format!("{}: {error}", view.samples.name));
                outcome.summary = Summary::of_compute_failure(&error.into());
            }
        }
    }
    outcome.stats = Some(Arc::new(Stats::of_results(&words, view.samples.measured().as_deref(), number)));
    outcome.words = Some(Arc::new(words));
    outcome
}
