//! Annotations that GitHub Actions shows beside a job.

use std::io::{self, Write};

use crate::results::{Outcome, Results};

/// GitHub shows ten annotations of a kind for a step; more are cut off.
const LIMIT: usize = 10;

/// Writes workflow commands: an error for each regression, a warning for each improvement, flake and unused expectation.
///
/// # Errors
/// When the output can't be written.
pub fn write_annotations(out: &mut dyn Write, results: &Results) -> io::Result<()> {
    let mut errors: Vec<(String, String)> =
        results.errors.iter().map(|e| (e.file.clone(), e.message.clone())).collect();
    let mut warnings = Vec::new();
    for result in &results.dispatches {
        let line = || (result.label(), format!("{}: {}", result.status, result.summary()));
        match result.outcome {
            Outcome::Expected => {}
            Outcome::Regression | Outcome::Flaky => errors.push(line()),
            Outcome::Improvement => warnings.push(line()),
        }
    }
    warnings.extend(results.unused_expectations.iter().map(|e| ("unused expectation".to_owned(), e.clone())));
    for (kind, lines) in [("error", errors), ("warning", warnings)] {
        let more = lines.len().saturating_sub(LIMIT);
        for (number, (title, text)) in lines.into_iter().take(LIMIT).enumerate() {
            let rest = if more > 0 && number + 1 == LIMIT { format!(" (and {more} more)") } else { String::new() };
            writeln!(out, "::{kind} title={}::{}", property(&title), data(&(text + &rest)))?;
        }
    }
    Ok(())
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
