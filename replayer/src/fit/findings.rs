//! What samples say about each rule.

use std::collections::BTreeSet;

use capture_format::Dispatch;

use super::{
    SampleRef,
    score::{Place, Samples},
};
use crate::{
    capture::{Plan, Suite},
    materialise::materialise,
    reference::Sampler,
    rules::{RuleId, Rules},
};

/// Samples that are named.
pub const SHOWN: usize = 4;

/// What samples say about one other value of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Index of the value.
    pub value: usize,
    /// What came of trying it; `None` when it contradicts another rule, so that it can't be tried alone.
    pub tried: Option<Decider>,
}

/// Samples for and against a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    /// Samples that differ with the value.
    pub mismatched: usize,
    /// Samples that the fitted value explains and this one does not.
    pub against: usize,
    /// Samples that this value explains and the fitted one does not.
    pub in_favour: usize,
    /// The first samples that speak against it.
    pub samples: Vec<SampleRef>,
}

/// What samples say about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Samples contradict every other value that can be tried.
    Decided,
    /// Some other values explain as much.
    Undecided,
    /// There is no other value, or none that can be tried alone.
    NotTried,
}

/// A rule with the values that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// Index of the fitted value.
    pub value: usize,
    /// The other values, the most contradicted last.
    pub alternatives: Vec<Alternative>,
}

impl Finding {
    /// What the samples say.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.alternatives.iter().all(|a| a.tried.is_none()) {
            Verdict::NotTried
        } else if self.undecided().is_empty() {
            Verdict::Decided
        } else {
            Verdict::Undecided
        }
    }

    /// The other values that explain as many samples.
    #[must_use]
    pub fn undecided(&self) -> Vec<usize> {
        let equal = |d: &Decider| d.against <= d.in_favour;
        self.alternatives.iter().filter(|a| a.tried.as_ref().is_some_and(equal)).map(|a| a.value).collect()
    }
}

/// Tries every other value of every rule on all samples.
pub fn findings(samples: &Samples, rules: &Rules, mismatches: &[Place]) -> Vec<Finding> {
    let differing: BTreeSet<Place> = mismatches.iter().copied().collect();
    RuleId::ALL
        .iter()
        .map(|&rule| {
            let value = rules.value(rule);
            let mut alternatives: Vec<Alternative> = (0..rule.value_names().len())
                .filter(|&other| other != value)
                .map(|other| {
                    let changed = rules.with(rule, other).filter(|changed| changed.inconsistency().is_none());
                    let tried = changed.map(|changed| {
                        let found = samples.mismatches(&changed);
                        let against: Vec<&Place> = found.iter().filter(|place| !differing.contains(place)).collect();
                        Decider {
                            mismatched: found.len(),
                            against: against.len(),
                            in_favour: differing.len() - (found.len() - against.len()),
                            samples: against.iter().take(SHOWN).map(|&&place| samples.name(place)).collect(),
                        }
                    });
                    Alternative { value: other, tried }
                })
                .collect();
            alternatives.sort_by_key(|a| a.tried.as_ref().map_or(usize::MAX, |d| d.mismatched));
            Finding { rule, value, alternatives }
        })
        .collect()
}

/// What the capture suites give under one set of rules, to be held against others.
pub struct Deciders {
    /// Suite, dispatch, and its words where the rules model it.
    dispatches: Vec<(Suite, Dispatch, Option<Vec<u32>>)>,
}

/// A capture that tells two sets of rules apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WouldDecide {
    /// The suite.
    pub suite: Suite,
    /// Name of its first dispatch on which the rules differ.
    pub dispatch: String,
    /// Samples of it that differ.
    pub differing: usize,
    /// Samples of it.
    pub samples: usize,
}

impl Deciders {
    /// Runs the suites under `rules`.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        let plan = Plan { samples: 512, ..Plan::default() };
        let of_suite = |&suite: &Suite| {
            // The suites fit their descriptors, which a test checks.
            let dispatches = suite.dispatches(&plan).unwrap_or_default();
            dispatches.into_iter().map(move |dispatch| (suite, dispatch))
        };
        let dispatches = Suite::ALL.iter().flat_map(of_suite).map(|(suite, dispatch)| {
            let words = results(&dispatch, rules);
            (suite, dispatch, words)
        });
        Self { dispatches: dispatches.collect() }
    }

    /// The first dispatch on which other rules give something else.
    #[must_use]
    pub fn against(&self, other: &Rules) -> Option<WouldDecide> {
        self.dispatches.iter().find_map(|(suite, dispatch, words)| {
            let (ours, theirs) = (words.as_ref()?, results(dispatch, other)?);
            let differing = ours.chunks_exact(4).zip(theirs.chunks_exact(4)).filter(|(a, b)| a != b).count();
            let samples = ours.len() / 4;
            (differing > 0).then(|| WouldDecide { suite: *suite, dispatch: dispatch.name.clone(), differing, samples })
        })
    }
}

fn results(dispatch: &Dispatch, rules: &Rules) -> Option<Vec<u32>> {
    let state = materialise(dispatch, rules).ok()?;
    Some(Sampler::new(*rules, &state, &dispatch.texels, &dispatch.coords).ok()?.run())
}
