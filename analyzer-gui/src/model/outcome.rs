//! What an evaluation found.

use std::{fmt, sync::Arc, time::Duration};

use capture_format::{Dispatch, NumericKind, TexelFormat};
use replayer::{
    execute::{ExecuteError, ExecutorInfo},
    path::Failure,
    state::State,
};

use rayon::prelude::*;

use super::{
    compare::{Comparison, Difference, Number, options},
    raster::Sized,
    stats::Stats,
};

/// The verdict on a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// A measured bit differs.
    Mismatch,
    /// The executor failed.
    Failed,
    /// The dispatch holds what is not modelled.
    Refused,
    /// The executor did not end in time.
    Timeout,
    /// The dispatch can't be read.
    Unreadable,
    /// There is nothing to hold the result against.
    NoOracle,
    /// Every measured bit agrees.
    Match,
}

impl Verdict {
    /// Every verdict, gravest first.
    pub const ALL: [Self; 7] =
        [Self::Mismatch, Self::Failed, Self::Refused, Self::Timeout, Self::Unreadable, Self::NoOracle, Self::Match];

    /// The word for it, as in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Unreadable => "unreadable",
            Self::NoOracle => "no-oracle",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A verdict with its numbers: what the list shows of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The verdict.
    pub verdict: Verdict,
    /// Samples.
    pub samples: u64,
    /// Samples that differ.
    pub mismatched: u64,
    /// The largest distance in ULPs.
    pub max_ulp: u32,
    /// The cause of most differing samples, once it is known.
    pub cause: Option<String>,
    /// Why there is no comparison.
    pub reason: Option<String>,
    /// What the user can do about it.
    pub advice: Option<&'static str>,
}

/// The results of one dispatch under one choice.
pub struct Outcome {
    /// The dispatch as it was evaluated, changed fields included.
    pub dispatch: Arc<Dispatch>,
    /// Four words a sample, when the path gave results.
    pub words: Option<Arc<Vec<u32>>>,
    /// How the words are read.
    pub number: Number,
    /// How the results stand to the oracle; `None` when either is missing.
    pub comparison: Option<Comparison>,
    /// The largest sizes of the differences.
    pub sizes: Sizes,
    /// Verdict and counts.
    pub summary: Summary,
    /// Values of the result, for ranges.
    pub stats: Option<Arc<Stats>>,
    /// The executor that ran it.
    pub executor: Option<ExecutorInfo>,
    /// Time the path took.
    pub elapsed: Duration,
}

/// The largest sizes among all differing samples; finite ones only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizes {
    /// |got − expected|.
    pub absolute: f64,
    /// |got − expected| / |expected|.
    pub relative: f64,
}

impl Sizes {
    /// Looks at every differing sample.
    #[must_use]
    pub fn of(words: &[u32], dispatch: &Dispatch, comparison: &Comparison, number: Number) -> Self {
        let Some(expected) = &dispatch.expected else { return Self::default() };
        let size = |index: usize| {
            let got = <[u32; 4]>::try_from(words.get(index * 4..index * 4 + 4)?).ok()?;
            let sized = Sized::of(got, expected.sample(index)?, expected.measured_channels(index), number)?;
            let finite = |v: f64| if v.is_finite() { v.abs() } else { 0.0 };
            Some(Self { absolute: finite(sized.error), relative: finite(sized.relative) })
        };
        (0..comparison.mismatches.len())
            .into_par_iter()
            .with_min_len(1 << 16)
            .filter(|&index| comparison.mismatches.contains(index))
            .filter_map(size)
            .reduce(Self::default, |a, b| Self {
                absolute: a.absolute.max(b.absolute),
                relative: a.relative.max(b.relative),
            })
    }
}

impl Outcome {
    /// What the path returned for a sample.
    #[must_use]
    pub fn got(&self, index: usize) -> Option<[u32; 4]> {
        self.words.as_ref()?.get(index * 4..index * 4 + 4)?.try_into().ok()
    }

    /// How a sample differs from the oracle.
    #[must_use]
    pub fn difference(&self, index: usize) -> Option<Difference> {
        let expected = self.dispatch.expected.as_ref()?;
        let (got, wanted) = (self.got(index)?, expected.sample(index)?);
        let measured = expected.measured_channels(index);
        Difference::of(index as u64, self.dispatch.grid, got, wanted, measured, &options(self.number))
    }

    /// The sizes of a sample's difference over the channels in `mask`.
    #[must_use]
    pub fn sized(&self, index: usize, mask: u8) -> Option<Sized> {
        let expected = self.dispatch.expected.as_ref()?;
        Sized::of(self.got(index)?, expected.sample(index)?, expected.measured_channels(index) & mask, self.number)
    }

    /// Bytes that keeping this costs.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let words = self.words.as_ref().map_or(0, |words| words.len() * 4);
        let bitmap = self.comparison.as_ref().map_or(0, |c| c.mismatches.len() / 8);
        words + bitmap + 4096
    }
}

/// How the results of a dispatch are read: integer formats give integers.
#[must_use]
pub fn number_of(dispatch: &Dispatch) -> Number {
    match replayer::table::format(dispatch).map(TexelFormat::kind) {
        Some(NumericKind::Uint) => Number::Uint,
        Some(NumericKind::Sint) => Number::Sint,
        _ => Number::Float,
    }
}

/// As [`number_of`], from a state.
#[must_use]
pub fn number_of_state(state: &State) -> Number {
    match state.format.kind() {
        NumericKind::Uint => Number::Uint,
        NumericKind::Sint => Number::Sint,
        _ => Number::Float,
    }
}

impl Summary {
    /// The summary of a comparison; of results without an oracle when there is none.
    #[must_use]
    pub fn of(samples: u64, comparison: Option<&Comparison>) -> Self {
        let (verdict, mismatched, max_ulp) = match comparison {
            None => (Verdict::NoOracle, 0, 0),
            Some(c) if c.mismatched == 0 => (Verdict::Match, 0, 0),
            Some(c) => (Verdict::Mismatch, c.mismatched, c.max_ulp),
        };
        Self { verdict, samples, mismatched, max_ulp, cause: None, reason: None, advice: None }
    }

    /// The summary of a path that gave no results.
    #[must_use]
    pub fn of_failure(samples: u64, failure: &Failure) -> Self {
        let (verdict, advice) = match failure {
            Failure::Refused(_) => (
                Verdict::Refused,
                "The named field holds what is not modelled. Change it under “T# and S#” to see the dispatch without it, or choose another path.",
            ),
            Failure::Execute(ExecuteError::Unavailable(_)) => (
                Verdict::Failed,
                "Choose the path “reference”, which runs on the CPU and needs no driver, or install a Vulkan driver (Mesa's lavapipe will do) and press “Run again”.",
            ),
            Failure::Execute(ExecuteError::Timeout(_)) => {
                (Verdict::Timeout, "Choose another device, or the path “reference”, and press “Run again”.")
            }
            Failure::Execute(_) => (
                Verdict::Failed,
                "Choose another device, or the path “reference”, to tell a driver's fault from the dispatch's.",
            ),
        };
        let reason = match failure {
            Failure::Refused(refusal) => refusal.to_string(),
            Failure::Execute(error) => error.to_string(),
        };
        Self { verdict, samples, mismatched: 0, max_ulp: 0, cause: None, reason: Some(reason), advice: Some(advice) }
    }

    /// As [`Self::of_failure`], of a compute dispatch.
    #[must_use]
    pub fn of_compute_failure(failure: &Failure) -> Self {
        let advice = match failure {
            Failure::Refused(_) => {
                "The recording can't be replayed as it is; “Bindings” lists what it lacks. What is recorded is shown."
            }
            Failure::Execute(ExecuteError::Unavailable(_)) => {
                "Choose the executor “embedded”, which runs on the CPU and needs no driver, or install a Vulkan driver (Mesa's lavapipe will do) and press “Run again”."
            }
            Failure::Execute(_) => {
                "Choose another executor in the bar at the top, to tell a driver's fault from the dispatch's."
            }
        };
        Self { advice: Some(advice), ..Self::of_failure(0, failure) }
    }

    /// The summary of a compute dispatch whose outputs are not all recorded.
    #[must_use]
    pub fn not_recorded(reason: String) -> Self {
        let advice = "It was not run: there is nothing to hold it against. Mark its outputs and end the dispatch when recording; “Bindings” shows what is there.";
        Self { reason: Some(reason), advice: Some(advice), ..Self::of(0, None) }
    }

    /// The summary of several outputs of one dispatch: the gravest verdict, and counts of all.
    #[must_use]
    pub fn total(outcomes: &[Arc<Outcome>]) -> Self {
        let mut total = Self::of(0, None);
        if let Some(gravest) = outcomes.iter().map(|outcome| &outcome.summary).min_by_key(|summary| summary.verdict) {
            total = Self { samples: 0, mismatched: 0, ..gravest.clone() };
        }
        for Outcome { summary, .. } in outcomes.iter().map(|outcome| &**outcome) {
            total.samples = total.samples.saturating_add(summary.samples);
            total.mismatched = total.mismatched.saturating_add(summary.mismatched);
            total.max_ulp = total.max_ulp.max(summary.max_ulp);
        }
        total
    }

    /// The summary of what could not be read, or not be resolved.
    #[must_use]
    pub fn unreadable(reason: String, advice: &'static str) -> Self {
        Self {
            verdict: Verdict::Unreadable,
            samples: 0,
            mismatched: 0,
            max_ulp: 0,
            cause: None,
            reason: Some(reason),
            advice: Some(advice),
        }
    }

    /// Counts in a line.
    #[must_use]
    pub fn text(&self) -> String {
        use super::number::{grouped, ulp};
        match self.verdict {
            Verdict::Match => format!("{} samples match", grouped(self.samples)),
            Verdict::Mismatch => format!(
                "{} of {} samples differ, at most {} ULP",
                grouped(self.mismatched),
                grouped(self.samples),
                ulp(self.max_ulp)
            ),
            Verdict::NoOracle => format!("{} samples, no oracle to hold them against", grouped(self.samples)),
            _ => self.reason.clone().unwrap_or_default(),
        }
    }
}
