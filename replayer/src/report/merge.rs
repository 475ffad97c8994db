//! Joins the results of shards.

use std::collections::BTreeMap;

use crate::{
    batch::ShardKind,
    results::{Results, ShardInfo},
    text::counted,
};

/// Why results are not the shards of one run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Nothing was given.
    #[error("no results to merge")]
    Empty,
    /// A file is no shard.
    #[error("{0}: expected the results of a shard (run --shard), these are of a whole run")]
    NoShard(String),
    /// The files are shards of different runs.
    #[error("{file}: a shard of {found}, expected one of {expected} as in {first}")]
    Different {
        /// The file.
        file: String,
        /// What it is a shard of.
        found: String,
        /// What the first file is a shard of.
        expected: String,
        /// The first file.
        first: String,
    },
    /// Two files hold one shard.
    #[error("shard {index} is in both {first} and {second}")]
    Overlap {
        /// The shard, 1-based.
        index: u64,
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// A dispatch is in two shards.
    #[error("{dispatch} is in both {first} and {second}")]
    Twice {
        /// `trace/dispatch`.
        dispatch: String,
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// Shards are missing.
    #[error("of {count} shards these are missing: {missing}")]
    Missing {
        /// Their numbers.
        missing: String,
        /// Number of shards.
        count: u64,
    },
    /// The shards together hold another number of dispatches than were selected.
    #[error("the shards hold {found} dispatches, expected the {expected} that were selected")]
    Count {
        /// Dispatches in the shards, with those that did not run or could not be read.
        found: u64,
        /// Dispatches that were selected.
        expected: u64,
    },
}

/// Joins the results of all shards of one run, each with the name of its file.
///
/// # Errors
/// When a shard is missing, given twice or of another run, or a dispatch is in two of them.
pub fn merge(shards: Vec<(String, Results)>) -> Result<Results, MergeError> {
    let mut by_index = BTreeMap::<u64, (String, Results)>::new();
    let mut whole: Option<(String, ShardInfo)> = None;
    for (file, results) in shards {
        let info = results.shard.ok_or_else(|| MergeError::NoShard(file.clone()))?;
        let (first, expected) = whole.get_or_insert_with(|| (file.clone(), info));
        if run_of(&info) != run_of(expected) {
            let (found, expected, first) = (run_of(&info), run_of(expected), first.clone());
            return Err(MergeError::Different { file, found, expected, first });
        }
        if let Some((first, _)) = by_index.get(&info.shard.index) {
            return Err(MergeError::Overlap { index: info.shard.index, first: first.clone(), second: file });
        }
        by_index.insert(info.shard.index, (file, results));
    }
    let (_, whole) = whole.ok_or(MergeError::Empty)?;
    let missing: Vec<_> =
        (1..=whole.shard.count).filter(|i| !by_index.contains_key(i)).map(|i| i.to_string()).collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing { missing: missing.join(", "), count: whole.shard.count });
    }
    join(by_index.into_values().collect(), &whole)
}

/// What shards of one run have in common.
fn run_of(info: &ShardInfo) -> String {
    let kind = match info.shard.kind {
        ShardKind::Slice => "slices",
        ShardKind::Hash => "hash classes",
    };
    format!("{} {kind} of {}, run {:012x}", info.shard.count, counted(info.selected, "dispatch"), info.run)
}

fn join(shards: Vec<(String, Results)>, whole: &ShardInfo) -> Result<Results, MergeError> {
    let mut seen = BTreeMap::new();
    let mut dispatches = Vec::new();
    let mut merged = Results::new(Vec::new());
    let mut unused: Option<Vec<String>> = None;
    let mut found = 0;
    for (file, shard) in shards {
        found += shard.dispatches.len() as u64 + shard.not_run + shard.unreadable;
        for result in shard.dispatches {
            let key = (result.file.clone(), result.trace.clone(), result.dispatch.clone());
            if let Some(first) = seen.insert(key, file.clone()) {
                return Err(MergeError::Twice { dispatch: result.label(), first, second: file });
            }
            dispatches.push(result);
        }
        // Every shard opens every input to select its part, so each lists the same unreadable ones.
        merged.errors.extend(shard.errors);
        merged.not_run += shard.not_run;
        merged.unreadable += shard.unreadable;
        merged.seconds = merged.seconds.max(shard.seconds);
        if let Some(ended) = shard.ended {
            merged.ended.get_or_insert(format!("{file}: {ended}"));
        }
        // What no shard used is unused.
        let mine = shard.unused_expectations;
        unused = Some(match unused {
            None => mine,
            Some(all) => all.into_iter().filter(|entry| mine.contains(entry)).collect(),
        });
    }
    merged.errors.sort();
    merged.errors.dedup();
    if found != whole.selected {
        return Err(MergeError::Count { found, expected: whole.selected });
    }
    if whole.shard.kind == ShardKind::Hash {
        // Slices follow each other; hash classes are put back into the order of the selection.
        dispatches.sort_by(|a, b| (&a.file, a.index).cmp(&(&b.file, b.index)));
    }
    let counted = Results::new(dispatches);
    Ok(Results {
        dispatches: counted.dispatches,
        totals: counted.totals,
        unused_expectations: unused.unwrap_or_default(),
        ..merged
    })
}
