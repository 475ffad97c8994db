//! Paths: the ways to compute a dispatch's results.

use std::{fmt, str::FromStr};

use capture_format::Dispatch;

use crate::{
    emulated,
    execute::{ExecuteError, Executor},
    native,
    refusal::Refusal,
    rules::Profile,
    state::State,
    table::Parts,
};

/// What computes results from a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// SPIR-V that this project generates, on an executor.
    Emulated,
    /// The CPU model.
    Reference,
    /// The emulated path by the rules of [`Profile::AS_SUBMITTED`], whatever profile is asked for.
    AsSubmitted,
    /// The Vulkan device's own sampler, without the profile's rules.
    Native,
    /// The SPIR-V that a compute dispatch holds, on an executor; see [`crate::recorded`].
    Recorded,
}

impl Path {
    /// Every path, in a fixed order.
    pub const ALL: [Self; 5] = [Self::Emulated, Self::Reference, Self::AsSubmitted, Self::Native, Self::Recorded];

    /// The word on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::Reference => "reference",
            Self::AsSubmitted => "as-submitted",
            Self::Native => "native",
            Self::Recorded => "recorded",
        }
    }

    /// Whether [`evaluate`] needs an executor.
    #[must_use]
    pub fn needs_executor(self) -> bool {
        match self {
            Self::Emulated | Self::AsSubmitted | Self::Native | Self::Recorded => true,
            Self::Reference => false,
        }
    }

    /// The profile by whose rules the path computes when it is asked to follow `profile`.
    #[must_use]
    pub fn profile(self, profile: &Profile) -> Profile {
        match self {
            Self::Emulated | Self::Reference | Self::Native | Self::Recorded => profile.clone(),
            Self::AsSubmitted => Profile::AS_SUBMITTED,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown path {0:?}, expected emulated, reference, as-submitted, native or recorded")]
pub struct UnknownPath(pub String);

impl FromStr for Path {
    type Err = UnknownPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| UnknownPath(text.to_owned()))
    }
}

/// Why a path gave no results.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The dispatch holds what is not modelled.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The executor failed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

/// Computes a dispatch: four words a sample (X, Y, Z, W after DST_SEL), x fastest, then y, then z.
///
/// `executor` must be there when [`Path::needs_executor`] says so. With `strict`, a rule that the dispatch depends on and
/// that rests on inference alone is a refusal; the native path depends on no rule.
///
/// # Errors
/// [`Failure::Refused`] for what is not modelled, [`Failure::Execute`] when the executor fails.
pub fn evaluate(
    dispatch: &Dispatch,
    path: Path,
    profile: &Profile,
    executor: Option<&mut dyn Executor>,
    strict: bool,
) -> Result<Vec<u32>, Failure> {
    let profile = &path.profile(profile);
    if path == Path::Recorded {
        return Err(Refusal {
            field: "path".to_owned(),
            bits: None,
            value: path.to_string(),
            reason: "a sample dispatch holds no SPIR-V; this path runs compute dispatches".to_owned(),
        }
        .into());
    }
    if path == Path::Native {
        let device = executor.and_then(|executor| executor.native());
        let device = device.ok_or_else(|| {
            ExecuteError::Unavailable(
                "the native path needs a Vulkan device: its own sampler is what it runs".to_owned(),
            )
        })?;
        return native::run(device, dispatch);
    }
    let parts = Parts::new(dispatch)?;
    let states = parts.states(&profile.rules)?;
    if strict {
        states.iter().try_for_each(|state| refuse_inference(profile, state))?;
    }
    match path {
        Path::Reference => Ok(parts.reference(&profile.rules, &states)?.run()),
        Path::Emulated | Path::AsSubmitted | Path::Native | Path::Recorded => {
            let executor =
                executor.ok_or_else(|| ExecuteError::Unavailable("the emulated path needs an executor".to_owned()))?;
            emulated::run_parts(executor, profile.rules, &parts, &states)
        }
    }
}

/// Refuses when a rule that the state depends on rests on inference.
fn refuse_inference(profile: &Profile, state: &State) -> Result<(), Refusal> {
    for rule in state.rules_in_force() {
        let evidence = profile.evidence(rule);
        if evidence.kind.is_weak() {
            return Err(Refusal {
                field: format!("rule {}", rule.name()),
                bits: None,
                value: profile.rules.value_name(rule).to_owned(),
                reason: format!("rests on inference ({}), which --strict refuses", evidence.source),
            });
        }
    }
    Ok(())
}
