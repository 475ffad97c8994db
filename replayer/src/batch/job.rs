//! What a worker is told: how to compute, and which dispatch.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::path::Path;

/// What results are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// The recorded results.
    Oracle,
    /// Another path's results.
    Path(Path),
}

impl Against {
    /// The word on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Path(path) => path.name(),
        }
    }
}

impl std::str::FromStr for Against {
    type Err = crate::path::UnknownPath;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "oracle" { Ok(Self::Oracle) } else { text.parse().map(Self::Path) }
    }
}

/// Which executor is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutorKind {
    /// Vulkan when there is a device that fits, else the embedded one.
    #[default]
    Auto,
    /// A Vulkan device.
    Vulkan,
    /// The embedded executor.
    Embedded,
}

/// How dispatches are computed and compared; the same for all dispatches of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The path under test.
    pub path: Path,
    /// Compute dispatches take [`Path::Recorded`], whatever `path` is: no path was asked for.
    pub recorded: bool,
    /// What it is held against.
    pub against: Against,
    /// The profile by name; `None`: the one that each trace's oracle follows.
    pub profile: Option<String>,
    /// Which executor.
    pub executor: ExecutorKind,
    /// The executor's device, by number or part of its name.
    pub device: Option<String>,
    /// How long the executor may take for a run, before it gives up by itself.
    pub time_limit: Duration,
    /// Refuse what rests on inference alone.
    pub strict: bool,
    /// Compare the payload of NaNs as well.
    pub nan_payload: bool,
    /// Draw pictures of these results.
    pub pictures: Pictures,
}

impl Settings {
    /// Whether one of the two paths runs on an executor.
    #[must_use]
    pub fn needs_executor(&self) -> bool {
        self.path.needs_executor() || matches!(self.against, Against::Path(p) if p.needs_executor())
    }
}

/// Of which dispatches pictures are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pictures {
    /// None.
    #[default]
    None,
    /// Those that differ.
    Mismatches,
    /// All that have a result.
    All,
}

/// One dispatch of a selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The file that holds it.
    pub file: PathBuf,
    /// Name of its trace.
    pub trace: String,
    /// Its number in the trace.
    pub index: usize,
    /// Its name.
    pub dispatch: String,
    /// The trace's own profile.
    pub profile: String,
}
