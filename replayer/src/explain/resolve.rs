//! From what could explain each sample to one cause a sample.
//!
//! Many samples are explained by more than one change. The cause is then the one that explains most of the samples looked at
//! together, less those that agree and would not by the change. A small cause whose samples better founded changes explain
//! together is a coincidence.

use std::collections::BTreeMap;

use super::{
    bits::Bits,
    search::{Findings, Space},
};
use crate::rules::RuleChange;

/// Changes chosen for samples of one space.
pub(super) struct Choice {
    pub(super) changes: Vec<RuleChange>,
    /// The samples, by position in the space.
    pub(super) samples: Bits,
}

/// What is decided for one space: the choices, disjoint; samples in none of them stay unexplained.
pub(super) type Choices = Vec<Choice>;

type Key = Vec<RuleChange>;

/// Chooses for several spaces together; one result a space.
pub(super) fn resolve(spaces: &[(Space<'_>, Findings)]) -> Vec<Choices> {
    let mut chosen: BTreeMap<Key, Vec<Bits>> = BTreeMap::new();
    let mut left: Vec<Bits> = spaces.iter().map(|(space, _)| Bits::full(space.samples.len())).collect();
    let largest = spaces.iter().flat_map(|(_, f)| &f.candidates).map(|c| c.changes.len()).max().unwrap_or(0);
    for size in 1..=largest {
        choose(spaces, size, &mut left, &mut chosen);
    }
    drop_coincidences(spaces, &mut chosen);
    let mut results: Vec<Choices> = spaces.iter().map(|_| Vec::new()).collect();
    for (changes, samples) in chosen {
        for (choices, samples) in results.iter_mut().zip(samples) {
            if !samples.is_empty() {
                choices.push(Choice { changes: changes.clone(), samples });
            }
        }
    }
    results
}

/// Causes of most samples that are held against samples that do not differ, for each choice.
const HELD_AGAINST_CONTROLS: usize = 24;

fn total(bits: &[Bits]) -> usize {
    bits.iter().map(Bits::count).sum()
}

/// Covers the samples left by sets of one size, the one that covers most first.
fn choose(spaces: &[(Space<'_>, Findings)], size: usize, left: &mut [Bits], chosen: &mut BTreeMap<Key, Vec<Bits>>) {
    let mut sets: BTreeMap<&Key, Vec<(usize, &Bits)>> = BTreeMap::new();
    for (at, (_, findings)) in spaces.iter().enumerate() {
        for candidate in findings.candidates.iter().filter(|c| c.changes.len() == size) {
            sets.entry(&candidate.changes).or_default().push((at, &candidate.eligible));
        }
    }
    // How many of a set's changes lead to what is known, and how many are chosen on their own.
    let known = |key: &Key| {
        let toward = spaces.iter().find_map(|(space, _)| space.toward);
        key.iter().filter(|c| toward.is_some_and(|rules| rules.value(c.rule) == c.value)).count()
    };
    let mut contradicted: BTreeMap<&Key, f64> = BTreeMap::new();
    loop {
        let covers =
            |places: &[(usize, &Bits)]| -> usize { places.iter().map(|&(at, bits)| bits.count_and(&left[at])).sum() };
        let mut ranked: Vec<(usize, &Key)> =
            sets.iter().map(|(&key, places)| (covers(places), key)).filter(|(covers, _)| *covers > 0).collect();
        // Among equals the first in the order of the table.
        ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        ranked.truncate(HELD_AGAINST_CONTROLS);
        let mut best: Option<((i64, usize, usize), &Key)> = None;
        for (covers, key) in ranked {
            let against = *contradicted
                .entry(key)
                .or_insert_with(|| spaces.iter().map(|(space, _)| space.contradicted(key)).sum());
            let supported = key.iter().filter(|&&c| chosen.contains_key(std::slice::from_ref(&c))).count();
            let rank = ((covers as f64 - against) as i64, known(key), supported);
            if best.is_none_or(|(b, _)| rank > b) {
                best = Some((rank, key));
            }
        }
        let Some((_, key)) = best else { return };
        let mut samples: Vec<Bits> = left.iter().map(|l| Bits::empty(l.len())).collect();
        for &(at, bits) in &sets[key] {
            samples[at].add(&bits.and(&left[at]));
        }
        for (left, taken) in left.iter_mut().zip(&samples) {
            left.remove(taken);
        }
        chosen.insert(key.clone(), samples);
    }
}

/// Gives the samples of a small single cause to a pair of better founded ones, when pairs explain all of them.
fn drop_coincidences(spaces: &[(Space<'_>, Findings)], chosen: &mut BTreeMap<Key, Vec<Bits>>) {
    let mut singles: Vec<(usize, Key)> =
        chosen.iter().filter(|(key, _)| key.len() == 1).map(|(key, bits)| (total(bits), key.clone())).collect();
    singles.sort();
    for (support, key) in singles.clone() {
        let Some(samples) = chosen.get(&key).cloned() else { continue };
        let founded: Vec<RuleChange> = singles
            .iter()
            .filter(|(count, other)| *count > support && chosen.contains_key(other))
            .filter_map(|(_, other)| other.first().copied())
            .collect();
        let mut left = samples;
        let mut moved: Vec<(Key, Vec<Bits>)> = Vec::new();
        for (at, &first) in founded.iter().enumerate() {
            for &second in founded[at + 1..].iter().filter(|c| c.rule != first.rule) {
                let mut pair = vec![first, second];
                pair.sort();
                let explained: Vec<Bits> =
                    spaces.iter().zip(&left).map(|((space, _), bits)| space.explained_by(&pair, bits)).collect();
                if total(&explained) > 0 {
                    left.iter_mut().zip(&explained).for_each(|(left, bits)| left.remove(bits));
                    moved.push((pair, explained));
                }
            }
        }
        if moved.is_empty() || total(&left) > 0 {
            continue;
        }
        chosen.remove(&key);
        for (pair, bits) in moved {
            match chosen.get_mut(&pair) {
                Some(there) => there.iter_mut().zip(&bits).for_each(|(there, bits)| there.add(bits)),
                None => drop(chosen.insert(pair, bits)),
            }
        }
    }
}
