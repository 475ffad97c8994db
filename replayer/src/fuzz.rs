//! Differential fuzzing: seeded random dispatches between two ways to compute them, up to the first difference.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use capture_format::{Dispatch, Expected, Oracle, OracleSource, Replacement, Trace};
use serde::{Deserialize, Serialize};

use crate::{
    explain::{self, Explanation, Limits, PathModel, Subject, same_word},
    generate::{Generator, Tally},
    path::Failure,
    reduce::{Reduced, reduce},
    rules::Profile,
    table,
};

/// Computes a dispatch by a profile: four words a sample.
pub type Evaluate<'a> = dyn FnMut(&Dispatch, &Profile) -> Result<Vec<u32>, Failure> + 'a;

/// One of the two ways to compute a dispatch.
pub struct Side<'a> {
    /// What it is, for reports and for the state file: path, profile, executor.
    pub name: String,
    /// The rules it computes by; `None`: those of the profile that a dispatch was generated for.
    pub profile: Option<Profile>,
    /// Computes a dispatch by a profile.
    pub run: Box<Evaluate<'a>>,
}

/// How far a sequence of dispatches was run: what is stored to go on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Seed of the generator.
    pub seed: u64,
    /// Its number of states.
    pub states: u64,
    /// Samples of a dispatch along x and y.
    pub grid: [u32; 2],
    /// Name of the first side.
    pub a: String,
    /// Name of the second side.
    pub b: String,
    /// Index of the next dispatch.
    pub next: u64,
}

/// What a run of the fuzzer found.
#[derive(Debug)]
pub struct Outcome {
    /// Dispatches that both sides computed.
    pub compared: u64,
    /// Dispatches that both sides refused.
    pub refused: u64,
    /// Wall clock time.
    pub elapsed: Duration,
    /// The values and states that were reached, by the dispatches that were computed.
    pub tally: Tally,
    /// The first difference; `None` when all agreed.
    pub difference: Option<Difference>,
}

impl Outcome {
    /// Dispatches a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        (self.compared + self.refused) as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// The dispatch on which the sides differ.
#[derive(Debug)]
pub struct Difference {
    /// Its index in the sequence.
    pub index: u64,
    /// Why it differs; `None` when one side alone has no results.
    pub explanation: Option<Explanation>,
    /// What one side says instead of results.
    pub failure: Option<String>,
    /// The smallest case that shows the cause, or the dispatch as it was generated.
    pub trace: Trace,
    /// How the case was reduced, or why it was not.
    pub reduction: Result<Reduced, String>,
}

/// Why fuzzing ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    /// An executor failed on both sides.
    #[error("dispatch {index}: {failure}")]
    Failed {
        /// Index of the dispatch.
        index: u64,
        /// The failure.
        failure: Failure,
    },
    /// The state file can't be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The state file is not one.
    #[error("{}: {source}; expected the state of a fuzzing run", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The state file belongs to another run.
    #[error("{}: state of another run: {what} {found}, expected {expected}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// Which setting differs.
        what: &'static str,
        /// What the file has.
        found: String,
        /// What was asked for.
        expected: String,
    },
}

impl Progress {
    /// The start of a sequence.
    #[must_use]
    pub fn start(generator: &Generator, a: &Side<'_>, b: &Side<'_>) -> Self {
        let Generator { seed, states, grid, .. } = *generator;
        Self { seed, states, grid, a: a.name.clone(), b: b.name.clone(), next: 0 }
    }

    /// Goes on from a state file, when there is one.
    ///
    /// # Errors
    /// When the file can't be read or belongs to a run with other settings.
    pub fn resume(self, path: &Path) -> Result<Self, FuzzError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self),
            Err(source) => return Err(FuzzError::Io { path: path.to_owned(), action: "read", source }),
        };
        let stored: Self =
            serde_json::from_str(&text).map_err(|source| FuzzError::State { path: path.to_owned(), source })?;
        for (what, found, expected) in [
            ("seed", stored.seed.to_string(), self.seed.to_string()),
            ("states", stored.states.to_string(), self.states.to_string()),
            ("grid", format!("{:?}", stored.grid), format!("{:?}", self.grid)),
            ("first side", stored.a.clone(), self.a.clone()),
            ("second side", stored.b.clone(), self.b.clone()),
        ] {
            if found != expected {
                return Err(FuzzError::Other { path: path.to_owned(), what, found, expected });
            }
        }
        Ok(stored)
    }

    /// Writes a state file; one that is there is replaced at once or not at all.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn store(&self, path: &Path) -> Result<(), FuzzError> {
        let io = |action, source| FuzzError::Io { path: path.to_owned(), action, source };
        let text =
            serde_json::to_string_pretty(self).map_err(|source| FuzzError::State { path: path.to_owned(), source })?;
        let store = || {
            let mut file = Replacement::new(path)?;
            file.write_all((text + "\n").as_bytes())?;
            file.commit()
        };
        store().map_err(|e| io("write", e))
    }
}

/// Runs `count` dispatches from `progress.next` on, up to the first difference, which is explained and reduced.
///
/// `step` is called after each dispatch; when it says `false`, the run ends there. `progress` is left at the dispatch to go
/// on from: after the last one that agreed.
///
/// # Errors
/// [`FuzzError::Failed`] when both sides fail on a dispatch for another reason than a refusal.
pub fn fuzz(
    generator: &Generator,
    progress: &mut Progress,
    count: u64,
    a: &mut Side<'_>,
    b: &mut Side<'_>,
    step: &mut dyn FnMut(u64) -> bool,
) -> Result<Outcome, FuzzError> {
    let start = Instant::now();
    let mut outcome =
        Outcome { compared: 0, refused: 0, elapsed: Duration::ZERO, tally: Tally::default(), difference: None };
    let end = progress.next.saturating_add(count);
    while progress.next < end {
        let index = progress.next;
        let generated = generator.dispatch(index);
        let dispatch = &generated.dispatch;
        let profile_a = a.profile.clone().unwrap_or_else(|| generated.profile.clone());
        let profile_b = b.profile.clone().unwrap_or_else(|| generated.profile.clone());
        match ((a.run)(dispatch, &profile_a), (b.run)(dispatch, &profile_b)) {
            (Ok(got), Ok(expected)) => {
                outcome.compared += 1;
                outcome.tally.add(dispatch, &profile_b);
                if !same_results(dispatch, &got, &expected) {
                    let profiles = [&profile_a, &profile_b];
                    outcome.difference = Some(difference(index, dispatch, &got, expected, profiles, a, b));
                    break;
                }
            }
            (Err(Failure::Refused(_)), Err(Failure::Refused(_))) => outcome.refused += 1,
            (Err(failure), Err(_)) => return Err(FuzzError::Failed { index, failure }),
            (Ok(_), Err(failure)) => {
                outcome.difference = Some(one_sided(index, dispatch, &b.name, &failure));
                break;
            }
            (Err(failure), Ok(_)) => {
                outcome.difference = Some(one_sided(index, dispatch, &a.name, &failure));
                break;
            }
        }
        progress.next += 1;
        if !step(progress.next) {
            break;
        }
    }
    outcome.elapsed = start.elapsed();
    Ok(outcome)
}

fn same_results(dispatch: &Dispatch, a: &[u32], b: &[u32]) -> bool {
    let integer = table::integer_results(dispatch);
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| same_word(a, b, integer))
}

fn oracle(side: &Side<'_>, profile: &Profile, note: &str) -> Oracle {
    Oracle {
        device: side.name.clone(),
        profile: profile.name.to_owned(),
        source: OracleSource::Synthetic,
        note: note.to_owned(),
    }
}

fn whole(dispatch: &Dispatch, expected: Option<Expected>, oracle: Oracle, summary: String) -> Trace {
    let dispatches = vec![Dispatch { expected, ..dispatch.clone() }];
    Trace { name: dispatch.name.clone(), summary, oracle, dispatches }
}

fn difference(
    index: u64,
    dispatch: &Dispatch,
    got: &[u32],
    expected: Vec<u32>,
    [profile_a, profile_b]: [&Profile; 2],
    a: &mut Side<'_>,
    b: &Side<'_>,
) -> Difference {
    let expected = Expected { words: expected.into(), measured: None };
    let path = PathModel::Rules(profile_a.rules);
    let subject = Subject { dispatch, got, expected: &expected, path, oracle: Some(profile_b.rules) };
    let oracle = oracle(b, profile_b, "found by random dispatches");
    let explanation = explain::explain(&subject, &Limits::default());
    let reduction = match &explanation {
        Err(error) => Err(error.to_string()),
        Ok(explanation) => {
            let mut run = |dispatch: &Dispatch| (a.run)(dispatch, profile_a);
            reduce(&subject, explanation, 0, &dispatch.name, &oracle, &mut run).map_err(|error| error.to_string())
        }
    };
    let trace = match &reduction {
        Ok(reduced) => reduced.trace.clone(),
        Err(_) => {
            let summary = format!("{} and {} differ", a.name, b.name);
            whole(dispatch, Some(expected), oracle, summary)
        }
    };
    Difference { index, explanation: explanation.ok(), failure: None, trace, reduction }
}

fn one_sided(index: u64, dispatch: &Dispatch, side: &str, failure: &Failure) -> Difference {
    let oracle = Oracle {
        device: "none".to_owned(),
        profile: "none".to_owned(),
        source: OracleSource::Synthetic,
        note: format!("{side}: {failure}"),
    };
    let trace = whole(dispatch, None, oracle, format!("{side} alone has no results"));
    let reduction = Err("one side has no results".to_owned());
    Difference { index, explanation: None, failure: Some(format!("{side}: {failure}")), trace, reduction }
}
