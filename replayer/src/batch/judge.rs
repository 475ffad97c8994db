//! The verdict on one dispatch.

use std::{panic::AssertUnwindSafe, time::Instant};

use capture_format::{Dispatch, Expected, Recorded};
use serde::{Deserialize, Serialize};

use super::{Against, Backend, Item, Pictures, Settings, judge_compute};
use crate::{
    compare::{Comparison, Number, Operands, Options, compare},
    execute::{ExecuteError, Executor},
    explain::{Group, Limits, PathModel, Subject, detail, explain, render_sample},
    path::{Failure, Path},
    refusal::Refusal,
    report::picture::{self, PictureSet},
    results::{Cause, DispatchResult, ExplainedSample, Outcome, Status},
    rules::Profile,
    table::{self, Parts},
};

/// A verdict with the pictures that were asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict.
    pub result: DispatchResult,
    /// Result, oracle and heatmap.
    pub pictures: Option<PictureSet>,
    /// Whether the executor can not be used any more, because its device was lost.
    pub executor_lost: bool,
}

impl Item {
    /// A result without a verdict by comparison.
    pub(super) fn without_result(&self, settings: &Settings, status: Status, reason: String) -> DispatchResult {
        DispatchResult {
            trace: self.trace.clone(),
            dispatch: self.dispatch.clone(),
            path: settings.path.name().to_owned(),
            against: settings.against.name().to_owned(),
            profile: settings.profile.clone().unwrap_or_else(|| self.profile.clone()),
            executor: "none".to_owned(),
            status,
            samples: 0,
            mismatched: 0,
            max_ulp: 0,
            causes: Vec::new(),
            reason: Some(reason),
            file: self.file.display().to_string(),
            index: self.index,
            grid: [0; 3],
            op: String::new(),
            device: String::new(),
            driver: String::new(),
            refused_field: None,
            channels: [0; 4],
            nan: 0,
            sign_of_zero: 0,
            digest: String::new(),
            seconds: 0.0,
            evaluate_seconds: 0.0,
            outcome: Outcome::Expected,
            expectation: None,
            first: Vec::new(),
            worst: Vec::new(),
            explained: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

/// Computes a dispatch of either kind and compares it. A panic in the path is a [`Status::Crash`].
pub fn judge_recorded(
    backend: &dyn Backend,
    item: &Item,
    dispatch: &Recorded,
    settings: &Settings,
    mut executor: Option<&mut dyn Executor>,
) -> Judged {
    match dispatch {
        Recorded::Sample(dispatch) => judge(backend, item, dispatch, settings, executor),
        Recorded::Compute(dispatch) => {
            let result = item.without_result(settings, Status::NoOracle, String::new());
            guarded(result, &mut executor, |executor, judged| {
                judge_compute::verdict(backend, dispatch, settings, executor, judged);
            })
        }
    }
}

/// Computes a sample dispatch and compares it. A panic in the path is a [`Status::Crash`].
pub fn judge(
    backend: &dyn Backend,
    item: &Item,
    dispatch: &Dispatch,
    settings: &Settings,
    mut executor: Option<&mut dyn Executor>,
) -> Judged {
    let mut result = item.without_result(settings, Status::NoOracle, String::new());
    result.samples = dispatch.sample_count();
    result.grid = dispatch.grid;
    result.op = dispatch.op.to_string();
    guarded(result, &mut executor, |executor, judged| {
        verdict(backend, item, dispatch, settings, executor, judged);
    })
}

/// Finds a verdict; a panic on the way is one, too.
fn guarded(
    mut result: DispatchResult,
    executor: &mut Option<&mut dyn Executor>,
    find: impl FnOnce(&mut Option<&mut dyn Executor>, &mut Judged),
) -> Judged {
    let start = Instant::now();
    if let Some(executor) = executor {
        let info = executor.info();
        result.executor = info.kind.to_owned();
        result.device.clone_from(&info.device);
        result.driver.clone_from(&info.driver);
    }
    let mut judged = Judged { result, pictures: None, executor_lost: false };
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| find(executor, &mut judged)));
    if let Err(panic) = outcome {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("without a message");
        judged.result.status = Status::Crash;
        judged.result.reason = Some(format!("the path panicked: {text}"));
        // What the executor holds after an unwind is unknown.
        judged.executor_lost = true;
    }
    judged.result.seconds = start.elapsed().as_secs_f64();
    judged
}

fn verdict(
    backend: &dyn Backend,
    item: &Item,
    dispatch: &Dispatch,
    settings: &Settings,
    executor: &mut Option<&mut dyn Executor>,
    judged: &mut Judged,
) {
    let result = &mut judged.result;
    if settings.against == Against::Oracle && dispatch.expected.is_none() {
        result.reason = Some("the dispatch holds no expected results; --against PATH compares two paths".to_owned());
        return;
    }
    let Some(profile) = Profile::by_name(&result.profile) else {
        let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
        let refusal = Refusal {
            field: "oracle.profile".to_owned(),
            bits: None,
            value: result.profile.clone(),
            reason: format!("unknown profile, expected one of {}; --profile names another", known.join(", ")),
        };
        return fail(judged, Failure::Refused(refusal), None);
    };
    let mut run = |path: Path| {
        let executor =
            if path.needs_executor() { executor.as_mut().map(|e| &mut **e as &mut dyn Executor) } else { None };
        backend.evaluate(dispatch, path, &profile, executor, settings.strict)
    };

    let start = Instant::now();
    let got = run(settings.path);
    result.evaluate_seconds = start.elapsed().as_secs_f64();
    let got = match got {
        Ok(words) => words,
        Err(failure) => return fail(judged, failure, None),
    };
    result.digest = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(&got)));
    let other;
    let (expected, measured) = match settings.against {
        Against::Path(path) => match run(path) {
            Ok(words) => {
                other = words;
                (other.as_slice(), None)
            }
            Err(failure) => return fail(judged, failure, Some(path)),
        },
        Against::Oracle => match &dispatch.expected {
            Some(expected) => (expected.words.as_slice(), expected.measured.as_deref()),
            // Told above, before the path ran.
            None => return,
        },
    };

    let operands = Operands { grid: dispatch.grid, got: &got, expected, measured };
    let number = table::format(dispatch).map_or(Number::Float, |format| Number::of(format.kind()));
    let options = Options { number, nan_payload: settings.nan_payload, ..Options::default() };
    match compare(&operands, &options) {
        Ok(comparison) => {
            fill(result, &comparison);
            if !comparison.is_match() {
                // The oracle's words are shared, not copied.
                let expected = match (settings.against, &dispatch.expected) {
                    (Against::Oracle, Some(recorded)) => recorded.clone(),
                    _ => Expected { words: expected.to_vec().into(), measured: None },
                };
                let oracle = match settings.against {
                    Against::Oracle => Profile::by_name(&item.profile),
                    Against::Path(path) => Some(path.profile(&profile)),
                };
                let subject = Subject {
                    dispatch,
                    got: &got,
                    expected: &expected,
                    path: PathModel::Rules(settings.path.profile(&profile).rules),
                    oracle: oracle.map(|profile| profile.rules),
                };
                explain_result(result, &subject, settings.pictures != Pictures::None);
            }
            let wanted = match settings.pictures {
                Pictures::None => false,
                Pictures::Mismatches => !comparison.is_match(),
                Pictures::All => true,
            };
            if wanted {
                judged.pictures = picture::draw(&operands, &comparison);
            }
        }
        Err(error) => {
            result.status = Status::Crash;
            result.reason = Some(error.to_string());
        }
    }
}

/// How many of the worst samples are told in full on a page.
const TOLD_IN_FULL: usize = 3;

/// Fills in the causes, and for a page the worst samples in full. What only differs by what the search for causes takes as
/// equal is a cause of its own.
fn explain_result(result: &mut DispatchResult, subject: &Subject<'_>, for_page: bool) {
    let explanation = match explain(subject, &Limits::default()) {
        Ok(explanation) => explanation,
        Err(error) => {
            result.reason = Some(format!("no causes: {error}"));
            return;
        }
    };
    let PathModel::Rules(rules) = subject.path else { return };
    let rules = subject.oracle.unwrap_or(rules);
    let parts = Parts::new(subject.dispatch).ok();
    let label = |group: &Group, sample: usize| {
        let state = parts.as_ref().and_then(|parts| parts.state_of(&rules, sample).ok());
        group.rule.label(state.as_ref())
    };
    for group in &explanation.groups {
        let (rule, label) = (group.rule.name(), label(group, group.first));
        let label = if label == rule { String::new() } else { label };
        result.causes.push(Cause { rule, samples: group.samples as u64, label });
    }
    let payloads = result.mismatched.saturating_sub(explanation.mismatched as u64);
    if payloads > 0 {
        result.causes.push(Cause::new("nan-payload", payloads));
    }
    if for_page {
        let worst = result.worst.iter().take(TOLD_IN_FULL).filter_map(|difference| {
            let sample = usize::try_from(difference.index).ok()?;
            let group = explanation.group_of(sample);
            let cause = group.map_or("nan-payload".to_owned(), |group| label(group, sample));
            let text = detail(subject, group, sample).map_or_else(|error| error.to_string(), |d| render_sample(&d));
            Some(ExplainedSample { position: difference.position, cause, text })
        });
        result.explained = worst.collect();
    }
}

fn fill(result: &mut DispatchResult, comparison: &Comparison) {
    result.status = if comparison.is_match() { Status::Match } else { Status::Mismatch };
    result.reason = None;
    result.samples = comparison.samples;
    result.mismatched = comparison.mismatched;
    result.max_ulp = comparison.max_ulp;
    result.channels = comparison.channels;
    result.nan = comparison.nan;
    result.sign_of_zero = comparison.sign_of_zero;
    result.first.clone_from(&comparison.first);
    result.worst.clone_from(&comparison.worst);
}

/// Turns a path's failure into a verdict. `against`: the failing path, when it is not the one under test.
pub(super) fn fail(judged: &mut Judged, failure: Failure, against: Option<Path>) {
    let result = &mut judged.result;
    let prefix = against.map_or_else(String::new, |path| format!("{path}: "));
    let (status, text) = match failure {
        Failure::Refused(refusal) => {
            result.refused_field = Some(refusal.field.clone());
            (Status::Refused, refusal.to_string())
        }
        Failure::Execute(error) => {
            // After a timeout the device may still be busy with the run that was given up.
            judged.executor_lost = matches!(error, ExecuteError::DeviceLost(_) | ExecuteError::Timeout(_));
            let status = match &error {
                ExecuteError::Unsupported(_) => {
                    result.refused_field = Some("executor".to_owned());
                    Status::Refused
                }
                ExecuteError::Timeout(_) => Status::Timeout,
                ExecuteError::Unavailable(_)
                | ExecuteError::InvalidJob(_)
                | ExecuteError::Module(_)
                | ExecuteError::DeviceLost(_)
                | ExecuteError::OutOfMemory(_)
                | ExecuteError::Driver(_) => Status::Crash,
            };
            (status, error.to_string())
        }
    };
    result.status = status;
    result.reason = Some(prefix + &text);
}
