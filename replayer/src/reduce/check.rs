//! Whether a changed input still shows the cause.

use capture_format::{Dispatch, Expected};

use super::{PathRun, ReduceError};
use crate::{
    explain::{self, Cause, Change, Limits, Subject, model::Models, same_word, sample::sides},
    rules::Rules,
    state::{Extent, View},
};

/// Holds changed inputs against the cause that was found.
pub(super) struct Check<'p, 'f> {
    cause: Cause,
    path_model: explain::PathModel,
    /// The rules of the oracle's profile.
    oracle: Option<Rules>,
    /// By which the path's values come about; `None` when no rules fit.
    got: Option<Rules>,
    /// By which the expected values come about.
    expected: Option<Rules>,
    /// Rules in between, each with one of several changes left out: none of them may explain the difference.
    partial: Vec<Rules>,
    /// Whether the profile's rules must give the expected value too, as they did for the recorded sample.
    profile_holds: bool,
    path: &'p mut PathRun<'f>,
    /// Whether the cause must be the one that is found for the changed input, not only one of those that fit.
    pub(super) unambiguous: bool,
    pub(super) tried: usize,
    pub(super) kept: usize,
}

impl<'p, 'f> Check<'p, 'f> {
    pub(super) fn new(subject: &Subject<'_>, cause: Cause, path: &'p mut PathRun<'f>) -> Self {
        let (mut got, mut expected) = sides(subject, Some(&cause));
        if cause == Cause::Executor(Vec::new()) {
            // What the code computes is nobody's rules; it is meant to be the path's own.
            expected = got.take();
        }
        let changes = cause.changes();
        let partial = match got {
            Some(rules) if changes.len() > 1 => (0..changes.len())
                .filter_map(|left_out| {
                    let rest: Vec<Change> =
                        changes.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, c)| *c).collect();
                    Change::apply(&rest, rules)
                })
                .collect(),
            _ => Vec::new(),
        };
        Self {
            cause,
            path_model: subject.path,
            oracle: subject.oracle,
            got,
            expected,
            partial,
            profile_holds: false,
            path,
            unambiguous: true,
            tried: 0,
            kept: 0,
        }
    }

    /// From here on the profile must give the expected value where it gives the recorded one for this sample.
    pub(super) fn hold_to_profile(&mut self, subject: &Subject<'_>, sample: usize) {
        let models = Models::new(subject.dispatch);
        let result = self.oracle.and_then(|rules| models.result(&rules, sample).ok());
        let target = explain::Target::of_expected(subject.expected, models.integer());
        self.profile_holds = result.is_some_and(|result| target.agrees(sample, result));
    }

    /// The shape of a dispatch's view and the sizes of its resource.
    pub(super) fn geometry(&self, dispatch: &Dispatch) -> Option<(View, Extent)> {
        let states = Models::new(dispatch).states(&self.expected?).ok()?;
        let [state] = states.all() else { return None };
        Some((state.view, state.extent.clone()))
    }

    /// The expected results of a changed input.
    pub(super) fn expected(&self, dispatch: &Dispatch) -> Option<Vec<u32>> {
        Models::new(dispatch).results(&self.expected?).ok()
    }

    /// The rows of a batch that differ as wanted by the rules alone, the first few. Without rules for the path none are
    /// known beforehand; then all of a small number are worth a try.
    pub(super) fn promising(&self, batch: &Dispatch) -> Vec<usize> {
        const MOST: usize = 12;
        let models = Models::new(batch);
        let integer = models.integer();
        let rows = batch.coords.rows();
        let Some(Ok(expected)) = self.expected.map(|rules| models.results(&rules)) else { return Vec::new() };
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).all(|(&a, &b)| same_word(a, b, integer));
        let Some(got) = self.got else { return (0..rows.min(MOST)).collect() };
        let Ok(got) = models.results(&got) else { return Vec::new() };
        let differing: Vec<usize> =
            (0..rows).filter(|row| !same(&expected[row * 4..row * 4 + 4], &got[row * 4..row * 4 + 4])).collect();
        let holds = |rules: &Rules, row: usize| {
            models.result(rules, row).is_ok_and(|result| same(&result, &expected[row * 4..row * 4 + 4]))
        };
        let wanted = |row: &usize| {
            self.partial.iter().all(|rules| !holds(rules, *row))
                && (!self.profile_holds || self.oracle.is_some_and(|rules| holds(&rules, *row)))
        };
        differing.into_iter().filter(wanted).take(MOST).collect()
    }

    /// Whether an input shows the cause: by the rules, by the search for causes, and on the path itself.
    pub(super) fn accepts(&mut self, dispatch: &Dispatch) -> Result<bool, ReduceError> {
        self.tried += 1;
        let models = Models::new(dispatch);
        let integer = models.integer();
        let Some(Ok(expected)) = self.expected.map(|rules| models.results(&rules)) else { return Ok(false) };
        let same =
            |a: &[u32], b: &[u32]| a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| same_word(a, b, integer));
        let gives = |rules: &Rules, words: &[u32]| models.results(rules).is_ok_and(|results| same(&results, words));
        if self.partial.iter().any(|rules| gives(rules, &expected)) {
            return Ok(false);
        }
        if self.profile_holds && self.oracle.is_some_and(|rules| !gives(&rules, &expected)) {
            return Ok(false);
        }
        let by_rules = match self.got.map(|rules| models.results(&rules)) {
            Some(Ok(got)) if same(&got, &expected) => return Ok(false),
            Some(Ok(got)) if !self.has_cause(dispatch, &got, &expected)? => return Ok(false),
            Some(Err(_)) => return Ok(false),
            Some(Ok(got)) => Some(got),
            None => None,
        };
        let got = match (self.path)(dispatch) {
            Ok(got) => got,
            // A changed field may hold what is not modelled.
            Err(crate::path::Failure::Refused(_)) => return Ok(false),
            Err(failure) => return Err(failure.into()),
        };
        let accepted = match by_rules {
            Some(by_rules) => same(&got, &by_rules),
            None => !same(&got, &expected) && self.has_cause(dispatch, &got, &expected)?,
        };
        self.kept += usize::from(accepted);
        Ok(accepted)
    }

    fn has_cause(&self, dispatch: &Dispatch, got: &[u32], expected: &[u32]) -> Result<bool, ReduceError> {
        let expected = Expected { words: expected.to_vec().into(), measured: None };
        let subject = Subject { dispatch, got, expected: &expected, path: self.path_model, oracle: self.oracle };
        let explanation = explain::explain(&subject, &Limits::default())?;
        let fits = |group: &explain::Group| {
            group.rule == self.cause
                || !self.unambiguous && group.alternatives.iter().any(|other| other.rule == self.cause)
        };
        Ok(explanation.groups.iter().any(fits))
    }
}
