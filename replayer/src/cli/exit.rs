//! Exit codes, and errors that end a command.

use std::{io::Write as _, path::PathBuf, process::ExitCode};

use anstyle::{AnsiColor, Style};

use crate::results::{Outcome, Results};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// As expected.
    Success,
    /// A mismatch or another regression.
    Regression,
    /// Improvements only.
    Improvement,
    /// An input is unreadable or an oracle missing.
    Input,
    /// Nothing is selected.
    NothingSelected,
    /// The command line is wrong.
    Usage,
    /// An error of the program or its surroundings.
    Internal,
    /// Ended early by a signal.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Regression => 1,
            Exit::Improvement => 2,
            Exit::Input => 3,
            Exit::NothingSelected => 4,
            Exit::Usage => 64,
            Exit::Internal => 70,
            Exit::Interrupted => 130,
        })
    }
}

impl Exit {
    /// The exit code of complete results: a verdict that could not be reached comes before one that is bad.
    pub(super) fn of(results: &Results) -> Self {
        if results.lacks_input() {
            Self::Input
        } else if results.count(Outcome::Regression) + results.count(Outcome::Flaky) > 0 {
            Self::Regression
        } else if results.count(Outcome::Improvement) > 0 {
            Self::Improvement
        } else {
            Self::Success
        }
    }
}

/// An error with the exit code it leads to.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    error: anyhow::Error,
}

impl Failure {
    pub(super) fn usage(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Usage, error: anyhow::anyhow!("{message}") }
    }

    /// An input can't be read.
    pub(super) fn input(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::Input, error: anyhow::anyhow!("{message}") }
    }

    /// Nothing is left to work on.
    pub(super) fn nothing(message: impl std::fmt::Display) -> Self {
        Self { exit: Exit::NothingSelected, error: anyhow::anyhow!("{message}") }
    }

    /// No dispatch is selected, by paths and filters that select from them.
    pub(super) fn nothing_selected(paths: &[PathBuf], filtered: bool) -> Self {
        let which = if filtered { "no dispatch passes --filter in" } else { "no dispatch in" };
        let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        Self::nothing(format!("nothing selected: {which} {}", paths.join(", ")))
    }

    /// One line on standard error, with the chain of causes.
    pub(super) fn print(&self) {
        const RED: Style = AnsiColor::Red.on_default().bold();
        let mut line = String::new();
        for cause in self.error.chain() {
            let text = cause.to_string();
            // Some errors have their cause in their own text, some leave it to the chain.
            if line.is_empty() {
                line = text;
            } else if !line.contains(&text) {
                line = format!("{line}: {text}");
            }
        }
        let line = line.replace('\n', " ");
        // Where standard error is closed, nobody reads it.
        let _ = writeln!(anstream::stderr().lock(), "{RED}error{RED:#}: {line}");
    }
}

/// Any error that is not given another exit code.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: Exit::Internal, error: error.into() }
    }
}

/// Gives errors their exit code.
pub(super) trait OrExit<T> {
    /// The input can't be read.
    fn or_input(self) -> Result<T, Failure>;
    /// The command line is wrong.
    fn or_usage(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_input(self) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit: Exit::Input, error: error.into() })
    }

    fn or_usage(self) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit: Exit::Usage, error: error.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{InputError, Status, tests::result};

    fn exit(outcomes: &[(Status, Outcome)], unreadable: bool) -> Exit {
        let dispatches = outcomes.iter().map(|&(status, outcome)| {
            let mut found = result("t", "d", status);
            found.outcome = outcome;
            found
        });
        let mut results = Results::new(dispatches.collect());
        if unreadable {
            results.errors.push(InputError { file: "f".to_owned(), message: "m".to_owned() });
        }
        Exit::of(&results)
    }

    #[test]
    fn the_gravest_result_decides() {
        let good = (Status::Match, Outcome::Expected);
        let known = (Status::Mismatch, Outcome::Expected);
        let better = (Status::Match, Outcome::Improvement);
        let worse = (Status::Crash, Outcome::Regression);
        let flaky = (Status::Match, Outcome::Flaky);
        assert_eq!(exit(&[good, known], false), Exit::Success);
        assert_eq!(exit(&[good, better], false), Exit::Improvement);
        assert_eq!(exit(&[better, worse], false), Exit::Regression);
        assert_eq!(exit(&[better, flaky], false), Exit::Regression);
        assert_eq!(exit(&[good, worse], true), Exit::Input);
        assert_eq!(exit(&[(Status::NoOracle, Outcome::Regression), worse], false), Exit::Input);
        assert_eq!(exit(&[(Status::NoOracle, Outcome::Expected)], false), Exit::Success);
    }
}
