//! Causes of differences, and what an explanation says.

use std::fmt;

use serde::Serialize;

use super::label::label;
use crate::{
    rules::{RuleId, Rules},
    state::State,
};

/// One rule, with the value the path computes by and the value that gives the oracle's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    /// The rule.
    pub rule: RuleId,
    /// Index of the path's value among [`RuleId::value_names`].
    pub from: usize,
    /// Index of the oracle's value.
    pub to: usize,
}

impl Change {
    /// Name of the path's value.
    #[must_use]
    pub fn from_name(self) -> &'static str {
        self.rule.value_names().get(self.from).copied().unwrap_or("?")
    }

    /// Name of the oracle's value.
    #[must_use]
    pub fn to_name(self) -> &'static str {
        self.rule.value_names().get(self.to).copied().unwrap_or("?")
    }

    /// The changes that lead from one choice of rules to another, in the order of the table.
    #[must_use]
    pub fn between(from: &Rules, to: &Rules) -> Vec<Self> {
        let all = RuleId::ALL.iter().map(|&rule| Self { rule, from: from.value(rule), to: to.value(rule) });
        all.filter(|change| change.from != change.to).collect()
    }

    /// The rules after these changes; `None` when a value does not exist or two rules then contradict each other.
    #[must_use]
    pub fn apply(changes: &[Self], rules: Rules) -> Option<Rules> {
        let changed = changes.iter().try_fold(rules, |rules, change| rules.with(change.rule, change.to))?;
        changed.inconsistency().is_none().then_some(changed)
    }

    /// The same change seen from the other side.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { rule: self.rule, from: self.to, to: self.from }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} → {}", self.rule.name(), self.from_name(), self.to_name())
    }
}

/// Why a sample differs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The path computes by other rules than the oracle: these, sorted by rule.
    Rules(Vec<Change>),
    /// The path does not compute what the reference gives for the path's rules: a defect of the path's code or of what runs
    /// it. The changes say by which rules it seems to compute instead; there are none when no rule fits.
    Executor(Vec<Change>),
    /// No change of one or two rules, and no part of what is known of the oracle, gives the oracle's value.
    Unexplained,
}

impl Cause {
    /// The rules concerned.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        match self {
            Self::Rules(changes) | Self::Executor(changes) => changes,
            Self::Unexplained => &[],
        }
    }

    /// The cause by rules and values, as it stands in results and expectations: `weight-rounding: floor → nearest-even`.
    #[must_use]
    pub fn name(&self) -> String {
        self.text(|change| change.to_string())
    }

    /// The cause in words for people: `weight rounding (subtexel-bits none → 8)`. What a rule is called depends on what the
    /// dispatch's sampler does, which the state says.
    #[must_use]
    pub fn label(&self, state: Option<&State>) -> String {
        self.text(|change| {
            let (rule, from, to) = (change.rule.name(), change.from_name(), change.to_name());
            format!("{} ({rule} {from} → {to})", label(change.rule, state))
        })
    }

    fn text(&self, one: impl Fn(&Change) -> String) -> String {
        let list = |changes: &[Change]| changes.iter().map(&one).collect::<Vec<_>>().join(" + ");
        match self {
            Self::Rules(changes) => list(changes),
            Self::Executor(changes) if changes.is_empty() => "executor".to_owned(),
            Self::Executor(changes) => format!("executor, as if {}", list(changes)),
            Self::Unexplained => "unexplained".to_owned(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// Another cause that would explain samples of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// The other cause.
    pub rule: Cause,
    /// Samples of the group that it explains.
    pub samples: usize,
}

/// Samples with the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The cause.
    pub rule: Cause,
    /// Its samples.
    pub samples: usize,
    /// How many of these another cause that is not larger would explain as well.
    pub ambiguous: usize,
    /// The other causes, those of most samples first.
    pub alternatives: Vec<Alternative>,
    /// The first sample.
    pub first: usize,
}

/// The cause of one differing sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Number of the sample in its dispatch.
    pub sample: u32,
    /// Index of its group in [`Explanation::groups`].
    pub group: u32,
}

/// Why the samples of a dispatch differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Samples of the dispatch.
    pub samples: usize,
    /// Samples that differ.
    pub mismatched: usize,
    /// The causes, those of most samples first.
    pub groups: Vec<Group>,
    /// Unexplained samples for which pairs of rules were not searched because there were too many of them.
    pub not_searched: usize,
    /// The cause of each differing sample, in the order of the samples.
    #[serde(skip)]
    pub assignments: Vec<Assignment>,
}

impl Explanation {
    /// The group of a sample; `None` when it does not differ.
    #[must_use]
    pub fn group_of(&self, sample: usize) -> Option<&Group> {
        let at = self.assignments.binary_search_by_key(&sample, |a| a.sample as usize).ok()?;
        self.groups.get(self.assignments[at].group as usize)
    }

    /// The samples of a group, ascending.
    pub fn samples_of(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        self.assignments.iter().filter(move |a| a.group as usize == group).map(|a| a.sample as usize)
    }
}
