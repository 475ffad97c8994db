//! Shards: one of N parts of a selection, run elsewhere.

use std::{fmt, ops::Range, str::FromStr};

use serde::{Deserialize, Serialize};

/// How dispatches are dealt to shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShardKind {
    /// The M-th of N runs of neighbouring dispatches of nearly equal length.
    Slice,
    /// By a hash of trace and dispatch name, so that a dispatch keeps its shard when others are added.
    Hash,
}

impl ShardKind {
    fn name(self) -> &'static str {
        match self {
            Self::Slice => "slice",
            Self::Hash => "hash",
        }
    }
}

/// One of `count` shards. `index` is 1-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shard {
    /// How dispatches are dealt.
    pub kind: ShardKind,
    /// Which shard, from 1 to `count`.
    pub index: u64,
    /// Number of shards.
    pub count: u64,
}

/// The shard on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// This one.
    Given(Shard),
    /// The one that the environment of a job scheduler names.
    Auto(ShardKind),
}

/// Why a text or an environment names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// The text has another form.
    #[error("shard {0:?}: expected slice:M/N, hash:M/N, auto or auto:hash")]
    Form(String),
    /// The index is not one of the shards.
    #[error("shard {index} of {count}: expected an index from 1 to {count} and a count of at least 1")]
    OutOfRange {
        /// The index, 1-based.
        index: i128,
        /// The number of shards.
        count: u64,
    },
    /// No variable of a known scheduler is set.
    #[error(
        "shard auto: expected the environment of a Slurm array (SLURM_ARRAY_TASK_ID), of a Kubernetes indexed job \
         (JOB_COMPLETION_INDEX with JOB_COMPLETIONS) or of GitLab (CI_NODE_INDEX)"
    )]
    NoEnvironment,
    /// A variable that is needed is missing or no number.
    #[error("shard auto: variable {name} is {found}, expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value, quoted, or "not set".
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
}

impl Shard {
    /// Checks an index against a count.
    ///
    /// # Errors
    /// When the index is not from 1 to `count`.
    pub fn new(kind: ShardKind, index: u64, count: u64) -> Result<Self, ShardError> {
        if (1..=count).contains(&index) {
            Ok(Self { kind, index, count })
        } else {
            Err(ShardError::OutOfRange { index: i128::from(index), count })
        }
    }

    /// Which of `items` belong to this shard: the `position`s that it keeps, given the names of each.
    #[must_use]
    pub fn keeps(&self, position: usize, selected: usize, trace: &str, dispatch: &str) -> bool {
        match self.kind {
            ShardKind::Slice => self.slice(selected).contains(&position),
            ShardKind::Hash => {
                let mut name = Vec::with_capacity(trace.len() + dispatch.len() + 1);
                name.extend_from_slice(trace.as_bytes());
                name.push(0);
                name.extend_from_slice(dispatch.as_bytes());
                xxhash_rust::xxh3::xxh3_64(&name) % self.count == self.index - 1
            }
        }
    }

    /// The positions of a slice.
    fn slice(&self, selected: usize) -> Range<usize> {
        let cut = |n: u64| {
            // At most `selected`, so it fits.
            usize::try_from(selected as u128 * u128::from(n) / u128::from(self.count)).unwrap_or(selected)
        };
        cut(self.index - 1)..cut(self.index)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.kind.name(), self.index, self.count)
    }
}

impl FromStr for ShardChoice {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || ShardError::Form(text.to_owned());
        match text {
            "auto" | "auto:slice" => return Ok(Self::Auto(ShardKind::Slice)),
            "auto:hash" => return Ok(Self::Auto(ShardKind::Hash)),
            _ => {}
        }
        let (kind, rest) = text.split_once(':').ok_or_else(form)?;
        let kind = [ShardKind::Slice, ShardKind::Hash].into_iter().find(|k| k.name() == kind).ok_or_else(form)?;
        let (index, count) = rest.split_once('/').ok_or_else(form)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| form());
        Shard::new(kind, number(index)?, number(count)?).map(Self::Given)
    }
}

impl ShardChoice {
    /// The shard, read from `variable` (the environment) when the choice is `auto`.
    ///
    /// Slurm arrays may start anywhere and have a step; Kubernetes counts from 0 and does not tell a job how many indices
    /// there are, so the job passes that as `JOB_COMPLETIONS`; GitLab counts from 1. A Slurm task started by a GitLab job
    /// has the variables of both: the inner one counts.
    ///
    /// # Errors
    /// When no scheduler's variables are set, or they contradict each other.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, ShardError> {
        let kind = match self {
            Self::Given(shard) => return Ok(shard),
            Self::Auto(kind) => kind,
        };
        let number = |name: &'static str, expected: &'static str| {
            let value = variable(name);
            value.as_deref().and_then(|v| v.trim().parse::<u64>().ok()).ok_or_else(|| ShardError::Variable {
                name,
                found: value.map_or_else(|| "not set".to_owned(), |v| format!("{v:?}")),
                expected,
            })
        };
        let (index, count) = if variable("SLURM_ARRAY_TASK_ID").is_some() {
            let id = number("SLURM_ARRAY_TASK_ID", "the number of the task")?;
            let min = number("SLURM_ARRAY_TASK_MIN", "the lowest number in the array")?;
            let count = number("SLURM_ARRAY_TASK_COUNT", "the number of tasks")?;
            let step = match variable("SLURM_ARRAY_TASK_STEP") {
                Some(_) => number("SLURM_ARRAY_TASK_STEP", "the distance of two numbers")?.max(1),
                None => 1,
            };
            let above = i128::from(id) - i128::from(min);
            if above % i128::from(step) != 0 {
                return Err(ShardError::Variable {
                    name: "SLURM_ARRAY_TASK_ID",
                    found: format!("\"{id}\""),
                    expected: "a number of an array without gaps (low-high or low-high:step)",
                });
            }
            (above / i128::from(step), count)
        } else if variable("JOB_COMPLETION_INDEX").is_some() {
            let index = number("JOB_COMPLETION_INDEX", "the index of the pod")?;
            let count = number(
                "JOB_COMPLETIONS",
                "the number of indices (spec.completions, which Kubernetes does not pass by itself)",
            )?;
            (i128::from(index), count)
        } else if variable("CI_NODE_INDEX").is_some() {
            let index = number("CI_NODE_INDEX", "the number of the job")?;
            (i128::from(index) - 1, number("CI_NODE_TOTAL", "the number of jobs")?)
        } else {
            return Err(ShardError::NoEnvironment);
        };
        u64::try_from(index + 1)
            .ok()
            .and_then(|index| Shard::new(kind, index, count).ok())
            .ok_or(ShardError::OutOfRange { index: index + 1, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(variables: &[(&str, &str)]) -> Result<String, String> {
        ShardChoice::Auto(ShardKind::Slice)
            .resolve(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
            .map(|shard| shard.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn slices_are_disjoint_complete_and_even() {
        for (selected, count) in [(10, 4), (3, 5), (0, 2), (10_000, 7)] {
            let mut seen = vec![0; selected];
            let mut sizes = Vec::new();
            for index in 1..=count {
                let shard = Shard::new(ShardKind::Slice, index, count).unwrap();
                let kept: Vec<_> = (0..selected).filter(|&p| shard.keeps(p, selected, "", "")).collect();
                sizes.push(kept.len());
                kept.into_iter().for_each(|p| seen[p] += 1);
            }
            assert!(seen.iter().all(|&n| n == 1));
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn a_hashed_dispatch_is_in_one_shard_whatever_else_is_selected() {
        for n in 0..200 {
            let name = format!("dispatch {n}");
            let homes = |position, selected| {
                (1..=5)
                    .filter(|&index| {
                        Shard::new(ShardKind::Hash, index, 5).unwrap().keeps(position, selected, "trace", &name)
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(homes(n, 200).len(), 1);
            assert_eq!(homes(n, 200), homes(n + 3, 999));
        }
    }

    #[test]
    fn texts_are_checked() {
        assert_eq!("hash:2/3".parse(), Ok(ShardChoice::Given(Shard { kind: ShardKind::Hash, index: 2, count: 3 })));
        assert_eq!("auto".parse(), Ok(ShardChoice::Auto(ShardKind::Slice)));
        for text in ["slice:0/3", "slice:4/3", "hash:1/0"] {
            assert!(matches!(text.parse::<ShardChoice>(), Err(ShardError::OutOfRange { .. })), "{text}");
        }
        for text in ["", "slice", "slice:1", "3/4", "slice:a/4", "slice:-1/4", "mod:1/2"] {
            assert!(matches!(text.parse::<ShardChoice>(), Err(ShardError::Form(_))), "{text}");
        }
    }

    #[test]
    fn environments_of_schedulers_are_read() {
        let slurm = |id, min, count, step| {
            auto(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_STEP", step),
            ])
        };
        assert_eq!(slurm("0", "0", "4", "1"), Ok("slice:1/4".to_owned()));
        assert_eq!(slurm("7", "1", "4", "2"), Ok("slice:4/4".to_owned()));
        assert_eq!(
            slurm("9", "1", "4", "2"),
            Err("shard 5 of 4: expected an index from 1 to 4 and a count of at least 1".to_owned())
        );
        assert!(slurm("2", "1", "4", "2").unwrap_err().contains("without gaps"));
        assert_eq!(auto(&[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "3")]), Ok("slice:1/3".to_owned()));
        assert!(auto(&[("JOB_COMPLETION_INDEX", "0")]).unwrap_err().contains("JOB_COMPLETIONS is not set"));
        assert!(auto(&[("JOB_COMPLETION_INDEX", "3"), ("JOB_COMPLETIONS", "3")]).is_err());
        assert_eq!(auto(&[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "2")]), Ok("slice:2/2".to_owned()));
        assert!(auto(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "2")]).unwrap_err().starts_with("shard 0 of 2"));
        assert!(auto(&[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "2")]).unwrap_err().contains("is \"x\""));
        assert!(auto(&[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID"));
    }
}
