//! What samples say about each rule.

use std::collections::BTreeSet;

use capture_format::Dispatch;

use super::{
    SampleRef,
    score::{Place, Samples},
    search::{GROUPS, combinations, repaired},
};
use crate::{
    capture::{Plan, Suite},
    materialise::materialise,
    reference::Sampler,
    rules::{RuleChange, RuleId, Rules, SubtexelBits},
};

/// Samples that are named.
pub const SHOWN: usize = 4;

/// Samples of a dispatch that a combination of changes must explain before all are looked at.
const THINNED: usize = 96;

/// What samples say about one other value of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Index of the value.
    pub value: usize,
    /// What came of trying it; `None` when it contradicts another rule, so that it can't be tried alone.
    pub tried: Option<Decider>,
    /// Changes of other rules with which it explains as many samples as the fitted rules, though it does not alone.
    pub together: Option<Vec<RuleChange>>,
}

impl Alternative {
    /// Whether the samples do not speak against it, alone or together with other changes.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.together.is_some() || self.tried.as_ref().is_some_and(|tried| tried.against <= tried.in_favour)
    }

    /// The rules with this value, and the changes that it needs.
    #[must_use]
    pub fn rules(&self, rule: RuleId, fitted: &Rules) -> Option<Rules> {
        let changed = fitted.with(rule, self.value)?;
        self.together.iter().flatten().try_fold(changed, |rules, change| rules.with(change.rule, change.value))
    }
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
        if !self.undecided().is_empty() {
            Verdict::Undecided
        } else if self.alternatives.iter().all(|a| a.tried.is_none()) {
            Verdict::NotTried
        } else {
            Verdict::Decided
        }
    }

    /// The other values that explain as many samples.
    #[must_use]
    pub fn undecided(&self) -> Vec<usize> {
        self.alternatives.iter().filter(|a| a.is_possible()).map(|a| a.value).collect()
    }
}

/// Tries every other value of every rule on all samples.
pub fn findings(samples: &Samples, rules: &Rules, mismatches: &[Place]) -> Vec<Finding> {
    let differing: BTreeSet<Place> = mismatches.iter().copied().collect();
    let thinned = samples.thinned(THINNED);
    let limits = [thinned.mismatches(rules).len(), mismatches.len()];
    RuleId::ALL
        .iter()
        .map(|&rule| {
            let value = rules.value(rule);
            let mut alternatives: Vec<Alternative> = (0..rule.value_names().len())
                .filter(|&other| other != value)
                .map(|other| {
                    let changed = rules.with(rule, other);
                    // A grid excludes what was found without one; then it is held against the textbook's ways.
                    let changed = match rule {
                        RuleId::SubtexelBits if rules.subtexel_bits == SubtexelBits::None => {
                            changed.map(Rules::for_a_grid)
                        }
                        _ => changed,
                    };
                    let changed = changed.filter(|changed| changed.inconsistency().is_none());
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
                    let mut alternative = Alternative { value: other, tried, together: None };
                    if !alternative.is_possible() {
                        alternative.together =
                            together(samples, &thinned, limits, rules, RuleChange { rule, value: other });
                    }
                    alternative
                })
                .collect();
            alternatives.sort_by_key(|a| a.tried.as_ref().map_or(usize::MAX, |d| d.mismatched));
            Finding { rule, value, alternatives }
        })
        .collect()
}

/// The fewest changes of rules that act together with `change` with which it explains as much as the fitted rules.
fn together(
    samples: &Samples,
    thinned: &Samples,
    [thinned_limit, limit]: [usize; 2],
    fitted: &Rules,
    change: RuleChange,
) -> Option<Vec<RuleChange>> {
    let changed = fitted.with(change.rule, change.value)?;
    let mut candidates: Vec<(Vec<RuleChange>, Rules)> = Vec::new();
    for group in GROUPS.iter().filter(|group| group.contains(&change.rule)) {
        let others: Vec<RuleId> = group.iter().copied().filter(|&rule| rule != change.rule).collect();
        let all = repaired(changed).into_iter().chain(combinations(changed, &others));
        candidates.extend(all.map(|rules| (differences(fitted, &rules, change.rule), rules)));
    }
    candidates.sort_by_key(|(changes, _)| changes.len());
    candidates
        .into_iter()
        .filter(|(changes, _)| !changes.is_empty())
        .find(|(_, rules)| {
            thinned.mismatched(rules, thinned_limit).is_some() && samples.mismatched(rules, limit).is_some()
        })
        .map(|(changes, _)| changes)
}

/// The rules in which two sets differ, but for one, with the values of the second.
fn differences(a: &Rules, b: &Rules, but: RuleId) -> Vec<RuleChange> {
    RuleId::ALL
        .iter()
        .filter(|&&rule| rule != but && a.value(rule) != b.value(rule))
        .map(|&rule| RuleChange { rule, value: b.value(rule) })
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
