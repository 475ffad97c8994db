//! The selection: which dispatches of which files a run covers.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use capture_format::{Source, find_traces, open};
use globset::{Glob, GlobMatcher};

use super::{Against, Item, Settings, Shard};
use crate::results::{InputError, ShardInfo};

/// What the command line selects.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Traces, cases, folders or globs.
    pub paths: Vec<PathBuf>,
    /// Globs on dispatch names, or on `trace/dispatch` when they hold a slash; empty: all.
    pub filters: Vec<String>,
    /// The part of the selection that runs here.
    pub shard: Option<Shard>,
}

/// The dispatches of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What runs here.
    pub items: Vec<Item>,
    /// Inputs that could not be read.
    pub errors: Vec<InputError>,
    /// The part that runs here.
    pub shard: Option<ShardInfo>,
    /// Digest of the names of all selected dispatches.
    names: u64,
    /// Dispatches selected before they were dealt to shards.
    pub selected: usize,
}

/// The selection is not understood.
#[derive(Debug, thiserror::Error)]
#[error("filter {glob:?}: {source}")]
pub struct PlanError {
    glob: String,
    source: globset::Error,
}

/// Finds the files, lists their dispatches and leaves those that are selected. Files that can't be read are listed beside.
///
/// # Errors
/// When a filter is no glob.
pub fn plan(selection: &Selection) -> Result<Plan, PlanError> {
    let filters = selection.filters.iter().map(|glob| Filter::new(glob)).collect::<Result<Vec<_>, _>>()?;
    let mut plan = Plan::default();
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    for path in &selection.paths {
        match find_traces(path) {
            Ok(found) if found.is_empty() && path.is_dir() => {
                plan.fail(path, "no trace (.texeltrace) and no case (.toml) in it");
            }
            Ok(found) if found.is_empty() => {
                plan.fail(path, "no trace (.texeltrace) and no case (.toml) matches this pattern")
            }
            Ok(found) => files.extend(found.into_iter().filter(|file| seen.insert(file.clone()))),
            Err(error) => plan.fail(path, error),
        }
    }
    for file in files {
        match open(&file) {
            Ok(source) => {
                // What is left of a damaged file runs; that it is damaged is an error all the same. A file without an end is
                // that of a writer that died, and one of which no dispatch is left has lost all that it was for.
                if let Source::Packed(reader) = &source
                    && let Some(recovery) = reader.recovery().filter(|r| !r.lost.is_empty() || source.is_empty())
                {
                    plan.fail(&file, recovery);
                }
                let names = source.names().into_iter().enumerate();
                plan.items.extend(
                    names
                        .filter(|(_, name)| {
                            filters.is_empty() || filters.iter().any(|f| f.accepts(source.name(), name))
                        })
                        .map(|(index, dispatch)| Item {
                            file: file.clone(),
                            trace: source.name().to_owned(),
                            index,
                            dispatch: dispatch.to_owned(),
                            profile: source.oracle().profile.clone(),
                        }),
                );
            }
            Err(error) => plan.fail(&file, error),
        }
    }
    plan.selected = plan.items.len();
    if let Some(shard) = selection.shard {
        let selected = plan.selected;
        plan.shard = Some(ShardInfo { shard, selected: selected as u64, run: 0 });
        plan.names = digest(plan.items.iter().flat_map(|item| [&*item.trace, &*item.dispatch]));
        let mut position = 0..;
        plan.items
            .retain(|item| position.next().is_some_and(|p| shard.keeps(p, selected, &item.trace, &item.dispatch)));
    }
    Ok(plan)
}

/// A digest of texts in order, below 2^48: JSON's numbers hold it exactly.
fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    }
    hash.digest() >> 16
}

impl Plan {
    /// Where the results of a run of this plan stand in the whole, when it is of a shard.
    #[must_use]
    pub fn shard_of(&self, settings: &Settings) -> Option<ShardInfo> {
        let against = match settings.against {
            Against::Oracle => "oracle".to_owned(),
            Against::Path(path) => path.to_string(),
        };
        let (path, profile) = (settings.path.to_string(), settings.profile.clone().unwrap_or_default());
        let (strict, payload) = (settings.strict.to_string(), settings.nan_payload.to_string());
        let run = digest([&*self.names.to_string(), &path, &against, &profile, &strict, &payload]);
        self.shard.map(|info| ShardInfo { run, ..info })
    }

    fn fail(&mut self, file: &Path, message: impl ToString) {
        let (file, message) = (file.display().to_string(), message.to_string());
        // Errors of the libraries name the file themselves.
        let message = message.strip_prefix(&format!("{file}:")).map_or(message.as_str(), str::trim_start).to_owned();
        self.errors.push(InputError { file, message });
    }
}

struct Filter {
    matcher: GlobMatcher,
    whole: bool,
}

impl Filter {
    fn new(glob: &str) -> Result<Self, PlanError> {
        let matcher = Glob::new(glob).map_err(|source| PlanError { glob: glob.to_owned(), source })?.compile_matcher();
        Ok(Self { matcher, whole: glob.contains('/') })
    }

    fn accepts(&self, trace: &str, dispatch: &str) -> bool {
        if self.whole { self.matcher.is_match(format!("{trace}/{dispatch}")) } else { self.matcher.is_match(dispatch) }
    }
}
