//! What traces can tell apart: which rules they put to the test, and which descriptor values occur in them.
//!
//! A rule whose other values change no result of the traces at hand is not tested by them, however many samples match.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use capture_format::{Dispatch, Entries, Field, ImageDescriptor, SamplerDescriptor, Shown};
use rayon::prelude::*;
use serde::Serialize;

use crate::{
    explain::{DescriptorField, Target, model::Models},
    rules::{Profile, RuleId},
};

/// Counts over traces, built by adding dispatches.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    dispatches: u64,
    samples: u64,
    refused: Vec<Refused>,
    /// By profile, rule and value: samples and dispatches that would change.
    changes: BTreeMap<(&'static str, RuleId, usize), Count>,
    profiles: BTreeMap<&'static str, Profile>,
    /// By place in [`fields`] and value: dispatches.
    values: BTreeMap<(usize, u32), u64>,
}

/// Samples and the dispatches they are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Samples.
    pub samples: u64,
    /// Dispatches with at least one of them.
    pub dispatches: u64,
}

/// A dispatch that could not be counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Name of the dispatch.
    pub dispatch: String,
    /// Why it is refused.
    pub reason: String,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Dispatches counted.
    pub dispatches: u64,
    /// Samples in them.
    pub samples: u64,
    /// Dispatches that the rules refuse; they are not among those counted.
    pub refused: Vec<Refused>,
    /// For each profile that dispatches were held against.
    pub profiles: Vec<ProfileCoverage>,
    /// Every field of S# and T# with named values or of one bit.
    pub fields: Vec<FieldCoverage>,
}

/// Which rules of a profile are put to the test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileCoverage {
    /// The profile.
    pub profile: &'static str,
    /// Every rule.
    pub rules: Vec<RuleCoverage>,
}

/// How far a rule is put to the test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleCoverage {
    /// Name of the rule.
    pub rule: &'static str,
    /// Its value in the profile.
    pub value: &'static str,
    /// Its other values, except those that another rule of the profile excludes.
    pub alternatives: Vec<AlternativeCoverage>,
}

/// How often another value of a rule would change a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlternativeCoverage {
    /// The other value.
    pub value: &'static str,
    /// How often a result would change.
    #[serde(flatten)]
    pub count: Count,
}

/// Which values of a descriptor field occur.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldCoverage {
    /// `S#.Z_FILTER`.
    pub field: String,
    /// `word2[25:24]`.
    pub bits: String,
    /// The values that occur.
    pub values: Vec<ValueCoverage>,
    /// Defined values that do not occur.
    pub missing: Vec<String>,
}

/// How often a value of a field occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueCoverage {
    /// The value as text.
    pub value: String,
    /// Dispatches that have it.
    pub dispatches: u64,
}

impl RuleCoverage {
    /// Whether some result tells the profile's value from every other one.
    #[must_use]
    pub fn is_distinguished(&self) -> bool {
        self.alternatives.iter().all(|a| a.count.samples > 0)
    }

    /// Whether no result depends on the rule.
    #[must_use]
    pub fn is_untested(&self) -> bool {
        self.alternatives.iter().all(|a| a.count.samples == 0)
    }
}

impl Report {
    /// The coverage of a rule under a profile.
    #[must_use]
    pub fn rule(&self, profile: &str, rule: RuleId) -> Option<&RuleCoverage> {
        self.profiles.iter().find(|p| p.profile == profile)?.rules.iter().find(|r| r.rule == rule.name())
    }
}

/// The fields whose values are counted: those with named values, and flags.
fn fields() -> Vec<DescriptorField> {
    let counted = |f: &&'static Field| {
        !f.is_reserved() && (matches!(f.shown, Shown::Names(_)) || f.width == 1 && matches!(f.shown, Shown::Plain))
    };
    let sampler = SamplerDescriptor::FIELDS.iter().filter(counted).map(DescriptorField::Sampler);
    let image = ImageDescriptor::FIELDS.iter().filter(counted).map(DescriptorField::Image);
    sampler.chain(image).collect()
}

impl Coverage {
    /// Counts a dispatch under a profile: the oracle's own, as a rule. Where channels are known not to be measured, only the
    /// others count.
    pub fn add(&mut self, dispatch: &Dispatch, profile: &Profile) {
        let models = Models::new(dispatch);
        let results = match models.results(&profile.rules) {
            Ok(results) => results,
            Err(refusal) => {
                let (dispatch, reason) = (dispatch.name.clone(), refusal.to_string());
                self.refused.push(Refused { dispatch, reason });
                return;
            }
        };
        self.dispatches += 1;
        self.samples += results.len() as u64 / 4;
        self.profiles.entry(profile.name).or_insert_with(|| profile.clone());
        let measured = dispatch.expected.as_ref().and_then(|e| e.measured.as_deref());
        let target = Target { words: &results, measured, integer: models.integer() };
        for (change, rules) in models.alternatives(profile.rules) {
            let Ok(states) = models.states(&rules) else { continue };
            let Ok(sampler) = models.sampler(&rules, &states) else { continue };
            let changed = (0..results.len() / 4).into_par_iter().with_min_len(1024);
            let changed = changed.filter(|&s| !sampler.all_channels(s, target.accepts(s))).count() as u64;
            if changed > 0 {
                let count = self.changes.entry((profile.name, change.rule, change.value)).or_default();
                count.samples += changed;
                count.dispatches += 1;
            }
        }
        // Entries of tables that no sample uses show nothing.
        let used: BTreeSet<Entries> = (0..results.len() / 4).filter_map(|n| dispatch.entries_of(n)).collect();
        let images: BTreeSet<_> = used.iter().filter_map(|e| Some(dispatch.image_at(e.image as usize)?.0)).collect();
        let samplers: BTreeSet<_> = used.iter().filter_map(|e| dispatch.sampler_at(e.sampler as usize)).collect();
        for (at, field) in fields().into_iter().enumerate() {
            let values: BTreeSet<u32> = match field {
                DescriptorField::Sampler(f) => samplers.iter().map(|words| f.extract(words.as_slice())).collect(),
                DescriptorField::Image(f) => images.iter().map(|words| f.extract(words.as_slice())).collect(),
            };
            for value in values {
                *self.values.entry((at, value)).or_default() += 1;
            }
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let rule = |profile: &Profile, rule: RuleId| RuleCoverage {
            rule: rule.name(),
            value: profile.rules.value_name(rule),
            alternatives: profile
                .rules
                .alternatives()
                .filter(|(change, _)| change.rule == rule)
                .map(|(change, _)| AlternativeCoverage {
                    value: change.value_name(),
                    count: self.changes.get(&(profile.name, rule, change.value)).copied().unwrap_or_default(),
                })
                .collect(),
        };
        let profiles = self
            .profiles
            .values()
            .map(|p| ProfileCoverage { profile: p.name, rules: RuleId::ALL.iter().map(|&r| rule(p, r)).collect() })
            .collect();
        Report {
            dispatches: self.dispatches,
            samples: self.samples,
            refused: self.refused.clone(),
            profiles,
            fields: fields().into_iter().enumerate().map(|(at, field)| self.field(at, field)).collect(),
        }
    }

    fn field(&self, at: usize, field: DescriptorField) -> FieldCoverage {
        let f = field.field();
        let occurring = || self.values.range((at, 0)..=(at, u32::MAX)).map(|(&(_, value), &n)| (value, n));
        let defined: Vec<u32> = match f.shown {
            Shown::Names(names) => {
                names.iter().filter(|(_, name)| !name.starts_with("RESERVED")).map(|(code, _)| *code).collect()
            }
            _ => vec![0, 1],
        };
        let missing = defined.into_iter().filter(|code| occurring().all(|(value, _)| value != *code));
        FieldCoverage {
            field: field.name(),
            bits: f.bits_text(),
            values: occurring().map(|(v, n)| ValueCoverage { value: f.describe(v), dispatches: n }).collect(),
            missing: missing.map(|code| f.describe(code)).collect(),
        }
    }
}

/// A report as text: what can't be told apart first, then the counts.
#[must_use]
pub fn render_text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string can't fail, so the results are dropped.
    let _ = writeln!(text, "{} samples in {} dispatches", report.samples, report.dispatches);
    for refused in &report.refused {
        let _ = writeln!(text, "not counted: {}: {}", refused.dispatch, refused.reason);
    }
    for profile in &report.profiles {
        let _ = writeln!(text, "\nrules of {}: samples that another value would change", profile.profile);
        for rule in &profile.rules {
            if rule.alternatives.is_empty() {
                continue;
            }
            let verdict = match (rule.is_untested(), rule.is_distinguished()) {
                (true, _) => "NOT TESTED",
                (_, true) => "told apart",
                _ => "in part",
            };
            let _ = writeln!(text, "  {verdict:10}  {:24} {}", rule.rule, rule.value);
            for other in rule.alternatives.iter().filter(|_| !rule.is_untested()) {
                let Count { samples, dispatches } = other.count;
                let _ = match samples {
                    0 => writeln!(text, "                {:24} never distinguished", other.value),
                    _ => writeln!(
                        text,
                        "                {:24} {samples} samples in {dispatches} dispatches",
                        other.value
                    ),
                };
            }
        }
    }
    let _ = writeln!(text, "\nfields: dispatches with each value");
    for field in report.fields.iter().filter(|f| !is_long(f)) {
        let values: Vec<_> = field.values.iter().map(|v| format!("{}: {}", v.value, v.dispatches)).collect();
        let _ = writeln!(text, "  {:28} {:14} {}", field.field, field.bits, values.join(", "));
        if !field.missing.is_empty() {
            let _ = writeln!(text, "  {:43} never: {}", "", field.missing.join(", "));
        }
    }
    for field in report.fields.iter().filter(|f| is_long(f)) {
        let values: Vec<_> = field.values.iter().map(|v| format!("{}: {}", v.value, v.dispatches)).collect();
        let missing = field.missing.len();
        let _ = writeln!(text, "  {:28} {:14} {}", field.field, field.bits, values.join(", "));
        let _ = writeln!(text, "  {:43} never: {missing} others", "");
    }
    text
}

/// Whether a field has so many values that those that don't occur are only counted.
fn is_long(field: &FieldCoverage) -> bool {
    field.missing.len() > 20
}
