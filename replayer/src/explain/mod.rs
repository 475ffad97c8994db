//! Why a sample differs: the rules whose change turns the path's value into the oracle's.
//!
//! A path computes by rules that are known ([`PathModel::Rules`]) or not. Where they are known and the path's value is what
//! the reference gives for them, the cause is the smallest set of changes to these rules that gives the oracle's value.
//! Where the path's value is something else, the rules of the oracle are changed until they give the path's value: then the
//! path computes as if it had these other rules.
//!
//! - one change is tried first, then pairs; every change of a rule on which the dispatch's results depend;
//! - where the oracle's profile is known and gives the oracle's value, the cause is sought among the differences to the
//!   profile, of any number; other changes that would do are named as alternatives;
//! - where several changes explain a sample, the one that explains most of the samples looked at is chosen;
//! - what nothing explains stays [`Cause::Unexplained`].

mod agree;
mod bits;
mod cause;
mod label;
pub(crate) mod model;
mod resolve;
pub mod sample;
mod search;
mod text;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use capture_format::{Dispatch, Expected};
use rayon::prelude::*;

pub use self::{
    agree::{Target, is_nan, same_word, ulp_distance},
    cause::{Alternative, Assignment, Cause, Change, Explanation, Group},
    label::{DescriptorField, fields, label},
    sample::{Evaluation, SampleDetail, UsedDescriptors, Way, detail, evaluate_sample},
    search::Limits,
    text::{render_sample, render_text, texel_position},
};
use self::{
    bits::Bits,
    model::Models,
    resolve::{Choices, resolve},
    search::{Findings, Space},
};
use crate::{
    refusal::Refusal,
    rules::{RuleId, Rules},
};

/// What is known about the rules of the path under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathModel {
    /// It is meant to compute by these; what it computes otherwise is a defect of its code or of its executor.
    Rules(Rules),
    /// Nothing: another device's sampler, say, or recorded code.
    Unknown,
}

/// Results that differ from an oracle's.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The dispatch.
    pub dispatch: &'a Dispatch,
    /// The path's results, four words a sample.
    pub got: &'a [u32],
    /// What they are held against: the dispatch's own expected results, or another path's.
    pub expected: &'a Expected,
    /// The rules of the path.
    pub path: PathModel,
    /// The rules that the oracle is held to follow: those of its profile.
    pub oracle: Option<Rules>,
}

/// The rules on which a result of a dispatch can depend under some rules, special operands considered.
///
/// # Errors
/// When the rules refuse the dispatch.
pub fn rules_that_matter(dispatch: &Dispatch, rules: &Rules) -> Result<Vec<RuleId>, Refusal> {
    let models = Models::new(dispatch);
    let states = models.states(rules)?;
    Ok(RuleId::ALL.iter().copied().filter(|&rule| models.depends_on(rules, &states, rule)).collect())
}

/// Why there is no explanation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExplainError {
    /// Two arrays do not belong to one dispatch.
    #[error("dispatch {dispatch}: {what} has {found} words, expected {expected}: four a sample")]
    Length {
        /// The dispatch.
        dispatch: String,
        /// Which array.
        what: &'static str,
        /// Its length in words.
        found: usize,
        /// The length of the other arrays, or what the grid asks for.
        expected: u64,
    },
    /// There is no such sample.
    #[error("dispatch {dispatch} has no sample {sample}, it has {samples}")]
    NoSample {
        /// The dispatch.
        dispatch: String,
        /// The sample asked for.
        sample: usize,
        /// How many there are.
        samples: usize,
    },
    /// Neither the path's nor the oracle's rules are known, so there is nothing to change.
    #[error("dispatch {0}: neither the rules of the path nor those of the oracle are known")]
    NoRules(String),
    /// The dispatch is refused under the rules that are to be shown.
    #[error("dispatch {dispatch}: refused: {refusal}")]
    Refused {
        /// The dispatch.
        dispatch: String,
        /// Why.
        refusal: Refusal,
    },
}

/// Explains the differences of one dispatch.
///
/// # Errors
/// When results and dispatch do not belong together, or neither side's rules are known.
pub fn explain(subject: &Subject<'_>, limits: &Limits) -> Result<Explanation, ExplainError> {
    Ok(explain_all(std::slice::from_ref(subject), limits)?.pop().unwrap_or_default())
}

/// As [`explain`]; `None` when `stop` was set by another thread before the search was done.
///
/// # Errors
/// As [`explain`].
pub fn explain_until(
    subject: &Subject<'_>,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<Option<Explanation>, ExplainError> {
    let subjects = std::slice::from_ref(subject);
    check(subject)?;
    let models = [Models::until(subject.dispatch, stop)];
    let found = explain_by(subjects, &models, limits).pop();
    Ok(found.filter(|_| !stop.load(Ordering::Relaxed)))
}

/// Explains the differences of several dispatches together: among causes that explain a sample equally well, the one that
/// explains most samples of all of them is chosen. One explanation a subject.
///
/// # Errors
/// As [`explain`].
pub fn explain_all(subjects: &[Subject<'_>], limits: &Limits) -> Result<Vec<Explanation>, ExplainError> {
    subjects.iter().try_for_each(check)?;
    let models: Vec<Models<'_>> = subjects.iter().map(|s| Models::new(s.dispatch)).collect();
    Ok(explain_by(subjects, &models, limits))
}

fn explain_by(subjects: &[Subject<'_>], models: &[Models<'_>], limits: &Limits) -> Vec<Explanation> {
    let splits: Vec<Split> = subjects.iter().zip(models).map(|(subject, models)| split(subject, models)).collect();
    let mut forward = Vec::new();
    let mut backward = Vec::new();
    let most_controls = (CONTROLS / subjects.len().max(1)).clamp(16, 256);
    for ((subject, models), split) in subjects.iter().zip(models).zip(&splits) {
        let integer = models.integer();
        let space = |base: Rules, target, toward, samples: &[u32]| {
            let (controls, control_weight) = controls(models, &base, &target, &split.agreeing, most_controls);
            Space { models, base, target, toward, samples: samples.to_vec(), controls, control_weight }
        };
        if let PathModel::Rules(base) = subject.path {
            let target = Target::of_expected(subject.expected, integer);
            forward.push(searched(space(base, target, subject.oracle, &split.modelled), limits));
        } else {
            forward.push(nothing(models));
        }
        if let Some(base) = subject.oracle {
            let measured = subject.expected.measured.as_deref();
            let target = Target { words: subject.got, measured, integer };
            backward.push(searched(space(base, target, None, &split.deviating), limits));
        } else {
            backward.push(nothing(models));
        }
    }
    let (forward_choices, backward_choices) = (resolve(&forward), resolve(&backward));
    let mut explanations = Vec::new();
    for (at, (subject, split)) in subjects.iter().zip(&splits).enumerate() {
        let executor = matches!(subject.path, PathModel::Rules(_));
        let mut builder = Builder::new(split);
        builder.add(&forward[at], &forward_choices[at], Cause::Rules);
        builder.add(&backward[at], &backward_choices[at], |changes| {
            let changes = changes.into_iter().map(Change::reversed).collect();
            if executor { Cause::Executor(changes) } else { Cause::Rules(changes) }
        });
        let rest = if executor { Cause::Executor(Vec::new()) } else { Cause::Unexplained };
        let not_searched = forward[at].1.not_searched + backward[at].1.not_searched;
        explanations.push(builder.finish(subject.expected.words.len() / 4, split, rest, not_searched));
    }
    explanations
}

fn check(subject: &Subject<'_>) -> Result<(), ExplainError> {
    let expected = subject.dispatch.sample_count().saturating_mul(4);
    let arrays = [("the path's result", subject.got.len()), ("the oracle's result", subject.expected.words.len())];
    for (what, found) in arrays {
        if u64::try_from(found) != Ok(expected) || u32::try_from(found / 4).is_err() {
            return Err(ExplainError::Length { dispatch: subject.dispatch.name.clone(), what, found, expected });
        }
    }
    if subject.path == PathModel::Unknown && subject.oracle.is_none() {
        return Err(ExplainError::NoRules(subject.dispatch.name.clone()));
    }
    Ok(())
}

/// Samples that do not differ and are held against causes, over all dispatches that are explained together.
const CONTROLS: usize = 16_384;

/// Some of the agreeing samples, spread evenly, for which the rules give the target's result; and how many each stands for.
fn controls(models: &Models<'_>, rules: &Rules, target: &Target<'_>, agreeing: &[u32], most: usize) -> (Vec<u32>, f64) {
    let stride = agreeing.len().div_ceil(most).max(1);
    let picked: Vec<u32> = agreeing.iter().copied().step_by(stride).collect();
    let holds = models.agreeing(rules, &picked, target);
    (holds.iter().map(|at| picked[at]).collect(), stride as f64)
}

/// The samples by what is to be explained about them.
struct Split {
    /// They do not differ.
    agreeing: Vec<u32>,
    /// The path's value is what the reference gives for the path's rules.
    modelled: Vec<u32>,
    /// It is not, or the path's rules are not known, and the oracle's value is what the reference gives for its rules.
    deviating: Vec<u32>,
    /// Neither.
    unknown: Vec<u32>,
}

fn split(subject: &Subject<'_>, models: &Models<'_>) -> Split {
    let integer = models.integer();
    let expected = Target::of_expected(subject.expected, integer);
    let got = Target { words: subject.got, ..expected };
    let count = u32::try_from(expected.samples()).unwrap_or(u32::MAX);
    let (agreeing, differing): (Vec<u32>, Vec<u32>) =
        (0..count).into_par_iter().partition(|&s| expected.agrees(s as usize, got.sample(s as usize)));
    let partition = |samples: Vec<u32>, rules: Option<Rules>, target: &Target<'_>| {
        let agreeing = match rules {
            Some(rules) => models.agreeing(&rules, &samples, target),
            None => Bits::empty(samples.len()),
        };
        let pick = |wanted: bool| {
            samples.iter().enumerate().filter(|&(at, _)| agreeing.contains(at) == wanted).map(|(_, &s)| s).collect()
        };
        (pick(true), pick(false))
    };
    let rules = match subject.path {
        PathModel::Rules(rules) => Some(rules),
        PathModel::Unknown => None,
    };
    let (modelled, rest): (Vec<u32>, Vec<u32>) = partition(differing, rules, &got);
    let (deviating, unknown) = partition(rest, subject.oracle, &expected);
    Split { agreeing, modelled, deviating, unknown }
}

fn searched<'a>(space: Space<'a>, limits: &Limits) -> (Space<'a>, Findings) {
    let findings = space.search(limits);
    (space, findings)
}

/// A space without samples: keeps the lists of spaces as long as the list of subjects.
fn nothing<'a>(models: &'a Models<'a>) -> (Space<'a>, Findings) {
    let target = Target { words: &[], measured: None, integer: false };
    let base = crate::rules::Profile::EXACT.rules;
    let (samples, controls) = (Vec::new(), Vec::new());
    let space = Space { models, base, target, toward: None, samples, controls, control_weight: 0.0 };
    (space, Findings { candidates: Vec::new(), not_searched: 0 })
}

/// Puts the choices of one dispatch together.
struct Builder {
    groups: Vec<Group>,
    assignments: Vec<Assignment>,
}

impl Builder {
    fn new(split: &Split) -> Self {
        let count = split.modelled.len() + split.deviating.len() + split.unknown.len();
        Self { groups: Vec::new(), assignments: Vec::with_capacity(count) }
    }

    fn add(&mut self, found: &(Space<'_>, Findings), choices: &Choices, cause: impl Fn(Vec<Change>) -> Cause) {
        let (space, findings) = found;
        let mut left = Bits::full(space.samples.len());
        let name = |changes: &[crate::rules::RuleChange]| {
            let change =
                |c: &crate::rules::RuleChange| Change { rule: c.rule, from: space.base.value(c.rule), to: c.value };
            cause(changes.iter().map(change).collect())
        };
        for choice in choices {
            left.remove(&choice.samples);
            let mut ambiguous = Bits::empty(space.samples.len());
            let mut alternatives = Vec::new();
            let others = findings.candidates.iter();
            for other in others.filter(|c| c.changes != choice.changes && c.changes.len() <= choice.changes.len()) {
                let shared = other.explains.and(&choice.samples);
                if !shared.is_empty() {
                    alternatives.push(Alternative { rule: name(&other.changes), samples: shared.count() });
                    ambiguous.add(&shared);
                }
            }
            alternatives.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.rule.cmp(&b.rule)));
            let samples = choice.samples.iter().map(|at| space.samples[at]);
            self.group(name(&choice.changes), ambiguous.count(), alternatives, samples);
        }
        let rest: Vec<u32> = left.iter().map(|at| space.samples[at]).collect();
        let none = match cause(Vec::new()) {
            executor @ Cause::Executor(_) => executor,
            _ => Cause::Unexplained,
        };
        self.group(none, 0, Vec::new(), rest.into_iter());
    }

    fn group(
        &mut self,
        rule: Cause,
        ambiguous: usize,
        alternatives: Vec<Alternative>,
        samples: impl Iterator<Item = u32>,
    ) {
        let at = self.groups.iter().position(|g| g.rule == rule).unwrap_or(self.groups.len());
        let before = self.assignments.len();
        let group = u32::try_from(at).unwrap_or(u32::MAX);
        self.assignments.extend(samples.map(|sample| Assignment { sample, group }));
        let added = &self.assignments[before..];
        let Some(first) = added.iter().map(|a| a.sample as usize).min() else { return };
        if at == self.groups.len() {
            self.groups.push(Group { rule, samples: added.len(), ambiguous, alternatives, first });
        } else {
            let there = &mut self.groups[at];
            there.samples += added.len();
            there.ambiguous += ambiguous;
            there.first = there.first.min(first);
            there.alternatives.extend(alternatives);
        }
    }

    fn finish(mut self, samples: usize, split: &Split, rest: Cause, not_searched: usize) -> Explanation {
        self.group(rest, 0, Vec::new(), split.unknown.iter().copied());
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.groups[a], &self.groups[b]);
            b.samples.cmp(&a.samples).then_with(|| a.rule.cmp(&b.rule))
        });
        let new_place: BTreeMap<u32, u32> =
            order.iter().enumerate().map(|(new, &old)| (old as u32, new as u32)).collect();
        let groups = order.iter().map(|&at| self.groups[at].clone()).collect();
        for assignment in &mut self.assignments {
            assignment.group = new_place.get(&assignment.group).copied().unwrap_or(assignment.group);
        }
        self.assignments.sort_unstable_by_key(|a| a.sample);
        Explanation { samples, mismatched: self.assignments.len(), groups, not_searched, assignments: self.assignments }
    }
}
