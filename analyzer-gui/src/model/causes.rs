//! Why a sample differs: the seam to whatever explains it.

use capture_format::Dispatch;
use replayer::{
    materialise::materialise,
    reference::Sampler,
    rules::{Profile, RuleId},
};

use super::compare::{Number, difference};

/// One explanation of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The rule.
    pub rule: RuleId,
    /// The value it has in the profile.
    pub has: &'static str,
    /// The value under which the result is the oracle's.
    pub needs: &'static str,
}

/// Names the causes of differences.
pub trait Causes: Send + Sync {
    /// The causes of one sample, likeliest first; empty when no explanation was found.
    ///
    /// # Errors
    /// Text that says why no explanation could be looked for.
    fn of_sample(&self, dispatch: &Dispatch, profile: &Profile, sample: usize) -> Result<Vec<Cause>, String>;
}

/// Tries every change of a single rule on the reference.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleRules;

impl Causes for SingleRules {
    fn of_sample(&self, dispatch: &Dispatch, profile: &Profile, sample: usize) -> Result<Vec<Cause>, String> {
        let expected = dispatch.expected.as_ref().ok_or("the dispatch has no oracle")?;
        let words = expected.sample(sample).ok_or("the oracle has no such sample")?;
        let measured = expected.measured_channels(sample);
        let mut causes = Vec::new();
        for (change, rules) in profile.rules.alternatives() {
            // A rule may change what the descriptors say, so the state is made anew.
            let Ok(state) = materialise(dispatch, &rules) else { continue };
            let sampler = Sampler::new(rules, &state, &dispatch.texels, &dispatch.coords).map_err(|r| r.to_string())?;
            if sample >= sampler.samples() {
                return Err("the dispatch has no such sample".to_owned());
            }
            let number = super::outcome::number_of_state(&state);
            if difference(sampler.sample(sample), words, measured, number).is_none() {
                causes.push(Cause {
                    rule: change.rule,
                    has: profile.rules.value_name(change.rule),
                    needs: change.value_name(),
                });
            }
        }
        Ok(causes)
    }
}

/// Whether a sample of a result agrees with the oracle: causes are looked for only when it does not.
#[must_use]
pub fn differs(dispatch: &Dispatch, got: [u32; 4], sample: usize, number: Number) -> bool {
    let Some(expected) = &dispatch.expected else { return false };
    let Some(words) = expected.sample(sample) else { return false };
    difference(got, words, expected.measured_channels(sample), number).is_some()
}
