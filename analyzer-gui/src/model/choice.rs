//! What results are computed with: path, profile, executor.

use std::{fmt, str::FromStr};

use capture_format::Oracle;
use replayer::{path::Path, rules::Profile};
use serde::{Deserialize, Serialize};

/// What computes the result that is held against the oracle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The path.
    pub path: Path,
    /// Whose rules it follows.
    pub profile: ProfileChoice,
    /// What runs SPIR-V, for paths that need it.
    pub executor: ExecutorChoice,
    /// Whether rules that rest on inference alone are refused.
    pub strict: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            path: Path::Emulated,
            profile: ProfileChoice::OfOracle,
            executor: ExecutorChoice::default(),
            strict: false,
        }
    }
}

/// Whose rules a result follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProfileChoice {
    /// The profile that the trace's oracle follows.
    #[default]
    OfOracle,
    /// A profile by name.
    Named(String),
}

/// The trace or the user names a profile that there is none of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no profile {name:?}, expected one of {}", Profile::ALL.map(|p| p.name).join(", "))]
pub struct UnknownProfile {
    name: String,
}

impl ProfileChoice {
    /// The profile for a trace with this oracle.
    ///
    /// # Errors
    /// When there is no profile of that name.
    pub fn resolve(&self, oracle: &Oracle) -> Result<Profile, UnknownProfile> {
        let name = match self {
            Self::OfOracle => &oracle.profile,
            Self::Named(name) => name,
        };
        Profile::by_name(name).ok_or_else(|| UnknownProfile { name: name.clone() })
    }
}

impl fmt::Display for ProfileChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfOracle => f.write_str("the oracle's"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// What runs SPIR-V.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExecutorChoice {
    /// The best Vulkan device, or the embedded executor when there is none.
    #[default]
    Auto,
    /// The embedded executor, which needs no driver.
    Embedded,
    /// A Vulkan device by name.
    Vulkan(String),
}

/// `auto`, `embedded`, or the name of a device.
impl fmt::Display for ExecutorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Embedded => f.write_str("embedded"),
            Self::Vulkan(name) => f.write_str(name),
        }
    }
}

/// As it is displayed.
impl FromStr for ExecutorChoice {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "auto" => Self::Auto,
            "embedded" => Self::Embedded,
            name => Self::Vulkan(name.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use capture_format::OracleSource;

    use super::*;

    #[test]
    fn profiles_are_resolved_by_the_oracle_or_by_name() {
        let mut oracle = Oracle {
            device: String::new(),
            profile: "h200".to_owned(),
            source: OracleSource::Measured,
            note: String::new(),
        };
        assert_eq!(ProfileChoice::OfOracle.resolve(&oracle).unwrap().name, "h200");
        assert_eq!(ProfileChoice::Named("exact".to_owned()).resolve(&oracle).unwrap().name, "exact");
        oracle.profile = "voodoo".to_owned();
        let error = ProfileChoice::OfOracle.resolve(&oracle).unwrap_err().to_string();
        assert!(error.starts_with("no profile \"voodoo\", expected one of gfx1035, h200, exact, lavapipe"), "{error}");
    }
}
