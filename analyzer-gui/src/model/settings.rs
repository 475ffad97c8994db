//! What is remembered from one start to the next.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    choice::{Choice, ExecutorChoice, ProfileChoice},
    list::Sort,
    navigate::Order,
    raster::Metric,
};

/// Files that are remembered.
const RECENT: usize = 12;

/// What is remembered. Fields that are missing in a stored form have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Files opened last, the latest first.
    pub recent: Vec<PathBuf>,
    /// Name of the path.
    pub path: String,
    /// The profile.
    pub profile: ProfileChoice,
    /// The executor.
    pub executor: ExecutorChoice,
    /// Whether inference is refused.
    pub strict: bool,
    /// Order of the list.
    pub sort: Sort,
    /// Order of the differing samples.
    pub order: Order,
    /// What the heatmap shows.
    pub metric: Metric,
    /// Whether NaN, infinities and denormal numbers are marked.
    pub overlay: bool,
    /// Whether the neighbourhood of the pointer is shown.
    pub lens: bool,
    /// Whether legends are shown in images.
    pub legend: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let choice = Choice::default();
        Self {
            recent: Vec::new(),
            path: choice.path.name().to_owned(),
            profile: choice.profile,
            executor: choice.executor,
            strict: choice.strict,
            sort: Sort::default(),
            order: Order::default(),
            metric: Metric::Ulp,
            overlay: true,
            lens: false,
            legend: true,
        }
    }
}

impl Settings {
    /// The remembered choice; a path that there no longer is counts as the default one.
    #[must_use]
    pub fn choice(&self) -> Choice {
        Choice {
            path: self.path.parse().unwrap_or(Choice::default().path),
            profile: self.profile.clone(),
            executor: self.executor.clone(),
            strict: self.strict,
        }
    }

    /// Remembers a choice.
    pub fn set_choice(&mut self, choice: &Choice) {
        self.path = choice.path.name().to_owned();
        self.profile = choice.profile.clone();
        self.executor = choice.executor.clone();
        self.strict = choice.strict;
    }

    /// Remembers a file as the latest.
    pub fn remember(&mut self, path: &Path) {
        self.recent.retain(|known| known != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(RECENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_files_are_remembered_once() {
        let mut settings = Settings::default();
        for n in 0..20 {
            settings.remember(Path::new(&format!("{n}")));
        }
        settings.remember(Path::new("15"));
        assert_eq!(settings.recent.len(), RECENT);
        assert_eq!(settings.recent[..3], ["15", "19", "18"].map(PathBuf::from));
    }

    #[test]
    fn a_choice_is_remembered() {
        let mut settings = Settings::default();
        let choice = Choice {
            path: replayer::path::Path::Reference,
            profile: ProfileChoice::Named("exact".to_owned()),
            executor: ExecutorChoice::Vulkan("llvmpipe".to_owned()),
            strict: true,
        };
        settings.set_choice(&choice);
        assert_eq!(settings.choice(), choice);
        settings.path = "gone".to_owned();
        assert_eq!(settings.choice().path, Choice::default().path);
    }
}
