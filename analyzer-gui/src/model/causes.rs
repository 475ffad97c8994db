//! Why the samples of a result differ, as the replayer explains it.

use std::sync::{Arc, atomic::AtomicBool};

use capture_format::Dispatch;
use replayer::{
    explain::{
        Assignment, Cause, ExplainError, Explanation, Limits, PathModel, SampleDetail, Subject, detail, explain_until,
    },
    path::Path,
    rules::Profile,
    table::Parts,
};

use super::{number::grouped, outcome::Outcome};

/// Differing samples up to which causes are looked for without being asked.
pub const UNASKED: u64 = 1 << 17;

/// Differing samples up to which the list looks for the causes of a dispatch that is not selected.
pub const LISTED: u64 = 1 << 13;

/// What a result was computed by, and what its oracle is held to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The path.
    pub path: Path,
    /// The profile that the path was asked to follow.
    pub profile: Profile,
    /// The oracle's profile, if there is one of that name.
    pub oracle: Option<Profile>,
}

/// The causes of a result's differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    explanation: Explanation,
    labels: Vec<String>,
}

impl Sides {
    fn subject<'a>(&self, dispatch: &'a Dispatch, got: &'a [u32]) -> Option<Subject<'a>> {
        Some(Subject {
            dispatch,
            got,
            expected: dispatch.expected.as_ref()?,
            path: PathModel::Rules(self.path.profile(&self.profile).rules),
            oracle: self.oracle.as_ref().map(|profile| profile.rules),
        })
    }
}

impl Causes {
    /// Looks for the causes of all differences; `None` when `stop` was set before they were found.
    ///
    /// # Errors
    /// When there is nothing to explain, and what [`explain_until`] refuses.
    pub fn of(dispatch: &Dispatch, got: &[u32], sides: &Sides, stop: &AtomicBool) -> Result<Option<Self>, String> {
        let subject = sides.subject(dispatch, got).ok_or("the dispatch has no oracle")?;
        let found = explain_until(&subject, &Limits::default(), stop).map_err(|error| error.to_string())?;
        let Some(explanation) = found else { return Ok(None) };
        // The window's font has no arrow. What a rule is called depends on what the dispatch's sampler does under the oracle's rules.
        let rules = sides.oracle.as_ref().unwrap_or(&sides.profile).rules;
        let parts = Parts::new(dispatch).ok();
        let state_of = |sample| parts.as_ref()?.state_of(&rules, sample).ok();
        let label = |cause: &Cause, sample| cause.label(state_of(sample).as_ref()).replace('→', "->");
        let labels = explanation.groups.iter().map(|group| label(&group.rule, group.first)).collect();
        Ok(Some(Self { explanation, labels }))
    }

    /// The explanation.
    #[must_use]
    pub fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// The causes in words with the number of samples of each, most samples first.
    pub fn groups(&self) -> impl Iterator<Item = (&str, usize)> {
        self.labels.iter().map(String::as_str).zip(self.explanation.groups.iter().map(|group| group.samples))
    }

    /// The cause of a sample, by its place among [`Self::groups`].
    #[must_use]
    pub fn group_of(&self, sample: usize) -> Option<usize> {
        let assignments = &self.explanation.assignments;
        let at = assignments.binary_search_by_key(&sample, |a| a.sample as usize).ok()?;
        Some(assignments[at].group as usize)
    }

    /// The differing sample of a cause after (or before) one, going round at the end.
    #[must_use]
    pub fn step(&self, group: usize, from: Option<usize>, forwards: bool) -> Option<usize> {
        // Assignments are in the order of the samples, so only the way to the next one is looked at.
        let all = &self.explanation.assignments;
        let find = |part: &[Assignment], forwards: bool| {
            let is_of = |a: &&Assignment| a.group as usize == group;
            let found = if forwards { part.iter().find(is_of) } else { part.iter().rev().find(is_of) };
            found.map(|a| a.sample as usize)
        };
        if forwards {
            let start = from.map_or(0, |from| all.partition_point(|a| a.sample as usize <= from));
            find(&all[start..], true).or_else(|| find(all, true))
        } else {
            let end = from.map_or(all.len(), |from| all.partition_point(|a| (a.sample as usize) < from));
            find(&all[..end], false).or_else(|| find(all, false))
        }
    }

    /// The cause of most samples, in words.
    #[must_use]
    pub fn main(&self) -> Option<&str> {
        self.labels.first().map(String::as_str)
    }
}

/// Everything that the replayer says about a sample of a result.
///
/// # Errors
/// When the result has no words or no oracle, and what [`detail`] refuses.
pub fn sample_detail(
    outcome: &Outcome,
    sides: &Sides,
    causes: Option<&Causes>,
    sample: usize,
) -> Result<SampleDetail, String> {
    let got = outcome.words.as_ref().ok_or("there is no result")?;
    let subject = sides.subject(&outcome.dispatch, got).ok_or("the dispatch has no oracle")?;
    let group = causes.and_then(|causes| causes.explanation.group_of(sample));
    detail(&subject, group, sample).map_err(|error: ExplainError| error.to_string())
}

/// What is known of the causes of a result.
#[derive(Clone, Debug, Default)]
pub enum Known {
    /// Nothing differs, or there is nothing to hold the result against.
    #[default]
    Nothing,
    /// They are not looked for: why.
    NotAsked(String),
    /// They are being looked for.
    Searching,
    /// They were looked for.
    Found(Arc<Causes>),
    /// They could not be looked for: why.
    Failed(String),
}

/// Why causes are not looked for without being asked.
#[must_use]
pub fn too_many(mismatched: u64) -> String {
    format!("{} samples differ; looking for the causes of so many takes a while", grouped(mismatched))
}
