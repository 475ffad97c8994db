//! A summary in Markdown, for the page of a CI job.

use std::io::{self, Write};

use super::{number, ulps};
use crate::{
    results::{Outcome, Results, Status},
    text::counted,
};

/// Rows of the table of what is not as expected.
const ROWS: usize = 50;

/// Writes a summary: totals, what is not as expected, causes, unreadable inputs, unused expectations.
///
/// # Errors
/// When the output can't be written.
pub fn write_markdown(out: &mut dyn Write, results: &Results) -> io::Result<()> {
    let totals = &results.totals;
    writeln!(out, "## Texel traces: {}\n", counted(totals.dispatches(), "dispatch"))?;
    let names: Vec<_> = Status::ALL.into_iter().map(Status::name).collect();
    writeln!(out, "| {} |\n|{}", names.join(" | "), "--:|".repeat(names.len()))?;
    let counts: Vec<_> = Status::ALL.into_iter().map(|s| totals.of(s).to_string()).collect();
    writeln!(out, "| {} |\n", counts.join(" | "))?;
    if let Some(ended) = &results.ended {
        writeln!(out, "**Ended early:** {}; {} did not run.\n", text(ended), counted(results.not_run, "dispatch"))?;
    }
    let unexpected: Vec<_> = results.dispatches.iter().filter(|d| d.outcome != Outcome::Expected).collect();
    if unexpected.is_empty() {
        writeln!(out, "Everything is as expected, in {}.\n", number::seconds(results.seconds))?;
    } else {
        writeln!(out, "| outcome | dispatch | verdict | max ULP | |\n|---|---|---|--:|---|")?;
        for result in unexpected.iter().take(ROWS) {
            let ulp = if result.status == Status::Mismatch { ulps(result.max_ulp) } else { String::new() };
            let (label, summary) = (text(&result.label()), text(&result.summary()));
            writeln!(out, "| {} | {label} | {} | {ulp} | {summary} |", result.outcome, result.status)?;
        }
        if unexpected.len() > ROWS {
            writeln!(out, "\n{} more are in the other reports.", unexpected.len() - ROWS)?;
        }
        writeln!(out)?;
    }
    let causes = results.causes();
    if !causes.is_empty() {
        writeln!(out, "| cause | samples |\n|---|--:|")?;
        for cause in causes {
            writeln!(out, "| {} | {} |", text(&cause.rule), cause.samples)?;
        }
        writeln!(out)?;
    }
    for error in &results.errors {
        writeln!(out, "- **unreadable** {}: {}", text(&error.file), text(&error.message))?;
    }
    for entry in &results.unused_expectations {
        writeln!(out, "- **unused expectation** {}", text(entry))?;
    }
    Ok(())
}

/// Text that stands for itself in a table's cell.
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
