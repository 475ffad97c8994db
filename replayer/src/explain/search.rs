//! Which changes of rules give the wanted results, sample by sample.

use std::collections::HashMap;

use super::{agree::Target, bits::Bits, model::Models};
use crate::rules::{RuleChange, Rules};

/// Limits of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many samples that no single change explains all pairs of changes are tried on; fewer where a sample takes several
    /// probes. Pairs found there are tried on all.
    pub pair_samples: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pair_samples: 2_048 }
    }
}

/// Samples that all pairs are tried on in one round.
const ROUND: usize = 512;

/// Samples that all pairs are tried on at least, whatever one costs.
const FEWEST: usize = 64;

/// What is searched: changes that lead from the base rules' results to the target's.
pub(super) struct Space<'a> {
    pub(super) models: &'a Models<'a>,
    pub(super) base: Rules,
    pub(super) target: Target<'a>,
    /// Rules that are held to be the target's. Where they give the target's result, the cause is sought among the
    /// differences to them: a coincidence of other rules is no better than what is known.
    pub(super) toward: Option<Rules>,
    /// The samples, ascending.
    pub(super) samples: Vec<u32>,
    /// Some of the samples that do not differ, for which the base rules give the target's result: changes that are right
    /// leave it as it is.
    pub(super) controls: Vec<u32>,
    /// How many samples each control stands for.
    pub(super) control_weight: f64,
}

/// A set of changes and the samples it explains.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Sorted by rule.
    pub(super) changes: Vec<RuleChange>,
    /// Where it gives the target's result.
    pub(super) explains: Bits,
    /// Where it may be chosen; a subset of `explains`.
    pub(super) eligible: Bits,
}

/// What a search found.
pub(super) struct Findings {
    pub(super) candidates: Vec<Candidate>,
    /// Samples that were not tried on all pairs, among those that nothing explains.
    pub(super) not_searched: usize,
}

impl Space<'_> {
    /// Rules after some changes; `None` when two of them contradict each other.
    pub(super) fn changed(&self, changes: &[RuleChange]) -> Option<Rules> {
        let rules = changes.iter().try_fold(self.base, |rules, c| rules.with(c.rule, c.value))?;
        rules.inconsistency().is_none().then_some(rules)
    }

    fn agreeing(&self, rules: &Rules, positions: &Bits) -> Bits {
        let list: Vec<usize> = positions.iter().collect();
        let samples: Vec<u32> = list.iter().map(|&at| self.samples[at]).collect();
        let mut found = Bits::empty(self.samples.len());
        self.models.agreeing(rules, &samples, &self.target).iter().for_each(|at| found.insert(list[at]));
        found
    }

    /// Where a set of changes explains samples at these positions.
    pub(super) fn explained_by(&self, changes: &[RuleChange], positions: &Bits) -> Bits {
        match self.changed(changes) {
            Some(rules) if !positions.is_empty() => self.agreeing(&rules, positions),
            _ => Bits::empty(self.samples.len()),
        }
    }

    /// How many samples that do not differ would, by these changes; estimated from the controls.
    pub(super) fn contradicted(&self, changes: &[RuleChange]) -> f64 {
        let Some(rules) = self.changed(changes).filter(|_| !self.controls.is_empty()) else { return 0.0 };
        // What the changed rules refuse says nothing.
        let Ok(states) = self.models.states(&rules) else { return 0.0 };
        if !changes.iter().any(|c| self.models.depends_on(&rules, &states, c.rule)) {
            return 0.0;
        }
        let agreeing = self.models.agreeing(&rules, &self.controls, &self.target).count();
        (self.controls.len() - agreeing) as f64 * self.control_weight
    }

    /// Searches single changes, pairs, and the differences to the rules that are held to be the target's.
    pub(super) fn search(&self, limits: &Limits) -> Findings {
        let count = self.samples.len();
        let mut findings = Findings { candidates: Vec::new(), not_searched: 0 };
        if count == 0 {
            return findings;
        }
        let known = self.known_differences();
        let reproduced = match &self.toward {
            Some(rules) if !known.is_empty() => self.models.agreeing(rules, &self.samples, &self.target),
            _ => Bits::empty(count),
        };
        let unknown = Bits::full(count).without(&reproduced);

        let mut rest = Bits::full(count);
        for (change, rules) in self.models.alternatives(self.base) {
            let explains = self.models.agreeing(&rules, &self.samples, &self.target);
            if explains.is_empty() {
                continue;
            }
            let eligible = if known.contains(&change) { explains.clone() } else { explains.and(&unknown) };
            rest.remove(&eligible);
            findings.candidates.push(Candidate { changes: vec![change], explains, eligible });
        }
        self.search_known(&known, &rest.and(&reproduced), &mut findings.candidates);
        findings.not_searched = self.search_pairs(rest.and(&unknown), limits, &mut findings.candidates);
        findings
    }

    /// The changes that lead to the rules held to be the target's, as far as a result can depend on them.
    fn known_differences(&self) -> Vec<RuleChange> {
        let Some(toward) = &self.toward else { return Vec::new() };
        let states = [&self.base, toward].map(|rules| (rules, self.models.states(rules)));
        let matters = |rule| {
            states
                .iter()
                .any(|(rules, states)| states.as_ref().is_ok_and(|states| self.models.depends_on(rules, states, rule)))
        };
        super::cause::Change::between(&self.base, toward)
            .into_iter()
            .filter(|c| matters(c.rule))
            .map(|c| RuleChange { rule: c.rule, value: c.to })
            .collect()
    }

    /// Among the known differences: the pairs, then for the rest a smallest set, by leaving out one after the other as long
    /// as the result stays the target's.
    fn search_known(&self, known: &[RuleChange], positions: &Bits, candidates: &mut Vec<Candidate>) {
        let mut rest = positions.clone();
        for (at, &first) in known.iter().enumerate() {
            for &second in &known[at + 1..] {
                let explains = self.explained_by(&[first, second], positions);
                if !explains.is_empty() {
                    rest.remove(&explains);
                    candidates.push(candidate(vec![first, second], explains));
                }
            }
        }
        let mut groups: HashMap<Vec<RuleChange>, Bits> = HashMap::new();
        if known.len() > 2 && !rest.is_empty() {
            groups.insert(known.to_vec(), rest);
        }
        for &leave_out in known {
            let mut next: HashMap<Vec<RuleChange>, Bits> = HashMap::new();
            let mut put = |set: Vec<RuleChange>, bits: Bits| match next.get_mut(&set) {
                Some(there) => there.add(&bits),
                None => drop(next.insert(set, bits)),
            };
            for (set, bits) in groups {
                let smaller: Vec<RuleChange> = set.iter().copied().filter(|&c| c != leave_out).collect();
                let still = self.explained_by(&smaller, &bits);
                let needed = bits.without(&still);
                for (set, bits) in [(smaller, still), (set, needed)] {
                    if !bits.is_empty() {
                        put(set, bits);
                    }
                }
            }
            groups = next;
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0)));
        candidates.extend(groups.into_iter().map(|(changes, explains)| candidate(changes, explains)));
    }

    /// Tries pairs of changes: all of them on a part of the samples, those found there on all. Returns how many samples
    /// are left that were not tried on all pairs.
    fn search_pairs(&self, positions: Bits, limits: &Limits, candidates: &mut Vec<Candidate>) -> usize {
        if positions.is_empty() {
            return 0;
        }
        let pairs = self.pairs();
        let mut tried = vec![false; pairs.len()];
        let mut left = positions.clone();
        let mut searched = 0;
        let probes = self.models.states(&self.base).map_or(1, |states| states.most_probes());
        let most = (limits.pair_samples / probes).max(FEWEST.min(limits.pair_samples));
        while !left.is_empty() && searched < most && !pairs.is_empty() {
            let list: Vec<usize> = left.iter().collect();
            // Spread over the dispatch, so that neighbours with one cause don't fill a round.
            let stride = list.len().div_ceil(ROUND.min(most - searched)).max(1);
            let mut round = Bits::empty(self.samples.len());
            list.iter().step_by(stride).for_each(|&at| round.insert(at));
            searched += round.count();
            let hits: Vec<usize> =
                (0..pairs.len()).filter(|&p| !tried[p] && !self.explained_by(&pairs[p], &round).is_empty()).collect();
            for p in hits {
                tried[p] = true;
                let explains = self.explained_by(&pairs[p], &positions);
                left.remove(&explains);
                candidates.push(candidate(pairs[p].to_vec(), explains));
            }
            left.remove(&round);
        }
        if pairs.is_empty() { 0 } else { left.count() }
    }

    /// The pairs of changes of two rules that both matter once both are changed. (Alone, neither needs to: a point
    /// sample's rounding shows only where coordinates have a grid.)
    fn pairs(&self) -> Vec<[RuleChange; 2]> {
        let mut pairs = Vec::new();
        let all: Vec<RuleChange> = crate::rules::RuleId::ALL
            .iter()
            .flat_map(|&rule| (0..rule.value_names().len()).map(move |value| RuleChange { rule, value }))
            .filter(|c| self.base.value(c.rule) != c.value)
            .collect();
        for (at, &first) in all.iter().enumerate() {
            for &second in all[at + 1..].iter().filter(|c| c.rule != first.rule) {
                let pair = [first, second];
                let Some(rules) = self.changed(&pair) else { continue };
                let Ok(states) = self.models.states(&rules) else { continue };
                if pair.iter().all(|c| self.models.depends_on(&rules, &states, c.rule)) {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }
}

fn candidate(changes: Vec<RuleChange>, explains: Bits) -> Candidate {
    Candidate { changes, eligible: explains.clone(), explains }
}
