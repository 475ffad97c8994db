//! Fitting: which rules explain what an oracle returned.
//!
//! The search starts from a set of rules and changes one rule, or a group of rules that act together, as long as the model
//! comes closer to the recorded words. Closeness is counted in bits of distance between words, so that a rule can be found
//! while another that shapes the same results is still wrong; the final steps count samples that differ. At the end every other
//! value of every rule is tried on all samples: it is either contradicted by samples, which are named, or can't be told apart.

mod findings;
mod score;
mod search;

use capture_format::Dispatch;

pub use self::{
    findings::{Alternative, Decider, Deciders, Finding, Verdict, WouldDecide},
    score::SampleRef,
};
use self::{score::Samples, search::search};
use crate::rules::Rules;

/// A dispatch with the name of the trace that it is from.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Name of the trace.
    pub trace: String,
    /// The dispatch, with what the oracle returned.
    pub dispatch: Dispatch,
}

/// A dispatch that was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the trace.
    pub trace: String,
    /// Name of the dispatch.
    pub dispatch: String,
    /// Why: no oracle, or what is not modelled.
    pub reason: String,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The rules that explain most samples.
    pub rules: Rules,
    /// Measured samples.
    pub samples: usize,
    /// Samples that differ under the rules that the search started from.
    pub mismatched_before: usize,
    /// Samples that no value of the rules explains.
    pub mismatched: usize,
    /// The first of them.
    pub unexplained: Vec<SampleRef>,
    /// For every rule, what the samples say about it; in the order of the table.
    pub findings: Vec<Finding>,
    /// Dispatches that were not used.
    pub left_out: Vec<LeftOut>,
}

/// Why nothing could be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// No dispatch has an oracle and can be modelled.
    #[error("no samples to fit: {}", .0.first().map_or("no dispatches".to_owned(), |l| format!("{}/{}: {}", l.trace, l.dispatch, l.reason)))]
    NoSamples(Vec<LeftOut>),
    /// The rules to start from contradict each other.
    #[error("the rules to start from are inconsistent: {0}")]
    Inconsistent(&'static str),
}

/// Finds the rules that explain most of the recorded samples, starting from `start`.
///
/// # Errors
/// When there are no samples, and for rules that contradict each other.
pub fn fit(recorded: &[Recorded], start: Rules) -> Result<Fit, FitError> {
    if let Some(contradiction) = start.inconsistency() {
        return Err(FitError::Inconsistent(contradiction));
    }
    let (all, left_out) = Samples::collect(recorded, &start);
    if all.count() == 0 {
        return Err(FitError::NoSamples(left_out));
    }
    let rules = search(&all, start);
    let mismatches = all.mismatches(&rules);
    Ok(Fit {
        rules,
        samples: all.count(),
        mismatched_before: all.mismatches(&start).len(),
        mismatched: mismatches.len(),
        unexplained: mismatches.iter().take(findings::SHOWN).map(|&at| all.name(at)).collect(),
        findings: findings::findings(&all, &rules, &mismatches),
        left_out,
    })
}
