//! How often each descriptor value occurred, and how many distinct states.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use capture_format::{Dispatch, Field, ImageDescriptor, SamplerDescriptor, Shown};

use crate::{
    emulated::{ModuleKey, specialize},
    rules::Profile,
    state::State,
    table::Parts,
};

/// Counts over dispatches.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Dispatches counted.
    pub dispatches: u64,
    values: BTreeMap<(&'static str, String), u64>,
    states: HashSet<u64>,
}

impl Tally {
    /// Counts a dispatch; one with tables by each pair of descriptors that samples use. What the profile refuses counts as a
    /// dispatch only.
    pub fn add(&mut self, dispatch: &Dispatch, profile: &Profile) {
        self.dispatches += 1;
        let Ok(parts) = Parts::new(dispatch) else { return };
        let Ok(states) = parts.states(&profile.rules) else { return };
        for (part, state) in parts.parts().iter().zip(&states) {
            self.add_state(part.head(), profile, state);
        }
    }

    fn add_state(&mut self, dispatch: &Dispatch, profile: &Profile, state: &State) {
        let mut count = |name: &'static str, value: String| *self.values.entry((name, value)).or_default() += 1;
        count("op", dispatch.op.to_string());
        count("view", state.view.name().to_owned());
        count("format", state.format.to_string());
        count("profile", profile.name.to_owned());
        let mut fields = |fields: &'static [Field], words: &[u32]| {
            for field in fields {
                if matches!(field.shown, Shown::Names(_)) && field.name != "FORMAT" && field.name != "SW_MODE"
                    || field.width == 1 && !field.is_reserved()
                {
                    count(field.name, field.describe(field.extract(words)));
                }
            }
        };
        fields(ImageDescriptor::FIELDS, &dispatch.image);
        if let Some(sampler) = dispatch.sampler {
            fields(SamplerDescriptor::FIELDS, &sampler);
        }
        let mut hasher = DefaultHasher::new();
        ModuleKey::of(state, profile.rules).hash(&mut hasher);
        specialize(state).hash(&mut hasher);
        self.states.insert(hasher.finish());
    }

    /// Number of distinct states: module and specialization.
    #[must_use]
    pub fn distinct_states(&self) -> usize {
        self.states.len()
    }

    /// How often a name had a value.
    #[must_use]
    pub fn count(&self, name: &str, value: &str) -> u64 {
        self.values.iter().filter(|((n, v), _)| *n == name && v == value).map(|(_, c)| *c).sum()
    }

    /// Every name, value and count, sorted.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        self.values.iter().map(|((name, value), count)| (*name, value.as_str(), *count))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} dispatches, {} distinct states", self.dispatches, self.distinct_states())?;
        for (name, value, count) in self.counts() {
            writeln!(f, "{name:>28} {value:<32} {count:>10}")?;
        }
        Ok(())
    }
}
