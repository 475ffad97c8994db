//! Results as lines for people.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};

use super::{decimal, hex_float, seconds, ulps};
use crate::{
    compare::{Difference, DifferenceKind, Number},
    results::{DispatchResult, Outcome, OutputResult, Results, Status},
    text::counted,
};

/// Differing samples shown for a dispatch.
const SHOWN_SAMPLES: usize = 4;
/// Failing dispatches that are shown once more at the end, and slowest ones.
const SHOWN_FAILURES: usize = 10;
const SHOWN_SLOWEST: usize = 3;
/// Below that no dispatch is called slow.
const SLOW_SECONDS: f64 = 0.1;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn color(status: Status, outcome: Outcome) -> Style {
    let color = match (status, outcome) {
        (_, Outcome::Improvement) => AnsiColor::Cyan,
        (_, Outcome::Flaky) => AnsiColor::Magenta,
        (Status::Match, _) => AnsiColor::Green,
        (_, Outcome::Expected) | (Status::NoOracle, _) => AnsiColor::Yellow,
        (_, Outcome::Regression) => AnsiColor::Red,
    };
    color.on_default().bold()
}

/// Widths of the columns, from what a run covers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    trace: usize,
    dispatch: usize,
}

impl Layout {
    /// Columns wide enough for these traces and dispatches, up to a limit.
    pub fn of<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        names.into_iter().fold(Self::default(), |widths, (trace, dispatch)| Self {
            trace: widths.trace.max(trace.chars().count()).min(40),
            dispatch: widths.dispatch.max(dispatch.chars().count()).min(40),
        })
    }
}

/// Writes the line of a dispatch and, when it differs, its first differing samples.
///
/// # Errors
/// When the output can't be written.
pub fn write_result(out: &mut dyn Write, result: &DispatchResult, layout: Layout, quiet: bool) -> io::Result<()> {
    if quiet && result.outcome == Outcome::Expected {
        return Ok(());
    }
    let style = color(result.status, result.outcome);
    let note = match result.outcome {
        Outcome::Expected if result.status == Status::Match => String::new(),
        Outcome::Expected => " (expected)".to_owned(),
        Outcome::Regression => String::new(),
        other => format!(" ({other})"),
    };
    let ulp = if result.status == Status::Mismatch { format!(", max {}", ulps(result.max_ulp)) } else { String::new() };
    let Layout { trace, dispatch } = layout;
    writeln!(
        out,
        "{style}{:9}{style:#} {:trace$}  {:dispatch$}  {}{ulp}{note}",
        result.status,
        result.trace,
        result.dispatch,
        result.summary()
    )?;
    for cause in &result.causes {
        let name = if cause.label.is_empty() { &cause.rule } else { &cause.label };
        writeln!(out, "          cause {name}: {}", counted(cause.samples, "sample"))?;
    }
    if let (Some(expectation), true) = (&result.expectation, result.outcome != Outcome::Expected) {
        writeln!(out, "          {DIM}expected: {expectation}{DIM:#}")?;
    }
    if result.status == Status::Mismatch && result.outcome != Outcome::Expected {
        for output in result.outputs.iter().filter(|output| output.mismatched > 0) {
            write_output(out, output)?;
        }
    }
    if result.status == Status::Mismatch && result.outcome != Outcome::Expected && result.outputs.is_empty() {
        for difference in result.first.iter().take(SHOWN_SAMPLES) {
            write_difference(out, difference)?;
        }
        let more = result.mismatched.saturating_sub(SHOWN_SAMPLES as u64);
        if more > 0 && !result.first.is_empty() {
            writeln!(out, "          {DIM}… {more} more{DIM:#}")?;
        }
    }
    Ok(())
}

/// Writes an output of a compute dispatch that differs, with its first differing samples.
fn write_output(out: &mut dyn Write, output: &OutputResult) -> io::Result<()> {
    let OutputResult { name, mismatched, samples, .. } = output;
    writeln!(out, "          output {name}: {mismatched} of {samples} samples differ")?;
    for difference in output.first.iter().take(SHOWN_SAMPLES) {
        match output.number {
            Number::Float => write_difference(out, difference)?,
            Number::Uint | Number::Sint => {
                let [x, y, z] = difference.position;
                for channel in (0..4).filter(|channel| difference.channels >> channel & 1 == 1) {
                    let (got, expected) = (difference.got[channel], difference.expected[channel]);
                    let number = |word: u32| match output.number {
                        Number::Sint => word.cast_signed().to_string(),
                        Number::Uint | Number::Float => word.to_string(),
                    };
                    let (letter, distance) = (['X', 'Y', 'Z', 'W'][channel], difference.distances[channel]);
                    writeln!(
                        out,
                        "          {:14} {letter}  got {got:#010x} {:12} expected {expected:#010x} {:12} by {distance}",
                        format!("({x},{y},{z})"),
                        number(got),
                        number(expected),
                    )?;
                }
            }
        }
    }
    let more = mismatched.saturating_sub(SHOWN_SAMPLES.min(output.first.len()) as u64);
    if more > 0 && !output.first.is_empty() {
        writeln!(out, "          {DIM}… {more} more{DIM:#}")?;
    }
    Ok(())
}

/// Writes a differing sample, a line a channel: coordinates, words, hex floats, decimals, distance.
///
/// # Errors
/// When the output can't be written.
pub fn write_difference(out: &mut dyn Write, difference: &Difference) -> io::Result<()> {
    for line in difference_lines(difference) {
        writeln!(out, "          {line}")?;
    }
    Ok(())
}

pub(super) fn difference_lines(difference: &Difference) -> impl Iterator<Item = String> {
    let [x, y, z] = difference.position;
    let place = format!("({x},{y},{z})");
    (0..4).filter(|channel| difference.channels >> channel & 1 == 1).map(move |channel| {
        let mut line = format!("{place:14} {}", ['X', 'Y', 'Z', 'W'][channel]);
        for (name, word) in [("got", difference.got[channel]), ("expected", difference.expected[channel])] {
            // Writing to a String does not fail.
            let _ = write!(line, "  {name} {word:#010x} {:16} {:14}", hex_float(word), decimal(word));
        }
        let distance = difference.distances[channel];
        let zeros = (difference.got[channel] | difference.expected[channel]) & 0x7fff_ffff == 0;
        let text = match difference.kind {
            _ if zeros => "sign of zero".to_owned(),
            DifferenceKind::NanPayload => "NaN payload".to_owned(),
            _ => ulps(distance),
        };
        line + &text
    })
}

/// Writes what stands below the dispatches: what is not as expected, causes, slowest dispatches, unreadable inputs, unused
/// expectations, totals.
///
/// # Errors
/// When the output can't be written.
pub fn write_summary(out: &mut dyn Write, results: &Results) -> io::Result<()> {
    let unexpected: Vec<_> = results.dispatches.iter().filter(|d| d.outcome != Outcome::Expected).collect();
    // With few dispatches their own lines are still in view.
    if !unexpected.is_empty() && results.dispatches.len() > 2 * SHOWN_FAILURES {
        writeln!(out, "\n{BOLD}not as expected{BOLD:#}")?;
        for result in unexpected.iter().take(SHOWN_FAILURES) {
            let style = color(result.status, result.outcome);
            writeln!(
                out,
                "  {style}{:11}{style:#} {}: {}, {}",
                result.outcome,
                result.label(),
                result.status,
                result.summary()
            )?;
        }
        if unexpected.len() > SHOWN_FAILURES {
            writeln!(out, "  … {} more", unexpected.len() - SHOWN_FAILURES)?;
        }
    }
    let causes = results.causes();
    if !causes.is_empty() {
        writeln!(out, "\n{BOLD}causes{BOLD:#}")?;
        for cause in causes {
            writeln!(out, "  {:>10} samples  {}", cause.samples, cause.rule)?;
        }
    }
    let mut slowest: Vec<_> = results.dispatches.iter().filter(|d| d.seconds >= SLOW_SECONDS).collect();
    slowest.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    if !slowest.is_empty() && results.dispatches.len() > 1 {
        writeln!(out, "\n{BOLD}slowest{BOLD:#}")?;
        for result in slowest.into_iter().take(SHOWN_SLOWEST) {
            writeln!(out, "  {:>10}  {}", seconds(result.seconds), result.label())?;
        }
    }
    if !results.errors.is_empty() {
        let red = AnsiColor::Red.on_default().bold();
        writeln!(out, "\n{BOLD}unreadable{BOLD:#}")?;
        for error in &results.errors {
            writeln!(out, "  {red}{}{red:#}: {}", error.file, error.message)?;
        }
    }
    // What applies to nothing in a shard may apply in another.
    if results.shard.is_none() && !results.unused_expectations.is_empty() {
        writeln!(out, "\n{BOLD}expectations that applied to nothing{BOLD:#}")?;
        for entry in &results.unused_expectations {
            writeln!(out, "  {entry}")?;
        }
    }
    let counts: Vec<_> = Status::ALL
        .into_iter()
        .filter(|&status| results.totals.of(status) > 0)
        .map(|status| format!("{} {status}", results.totals.of(status)))
        .chain((!results.errors.is_empty()).then(|| format!("{} unreadable", results.errors.len())))
        .chain((results.not_run > 0).then(|| format!("{} not run", results.not_run)))
        .collect();
    let samples: u64 = results.dispatches.iter().map(|d| d.samples).sum();
    writeln!(
        out,
        "\n{BOLD}{}{BOLD:#}: {}; {} in {}",
        counted(results.totals.dispatches(), "dispatch"),
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") },
        counted(samples, "sample"),
        seconds(results.seconds)
    )?;
    let outcomes: Vec<_> = [Outcome::Regression, Outcome::Flaky, Outcome::Improvement]
        .into_iter()
        .filter(|&outcome| results.count(outcome) > 0)
        .map(|outcome| format!("{} {outcome}", results.count(outcome)))
        .collect();
    if !outcomes.is_empty() {
        writeln!(out, "not as expected: {}", outcomes.join(", "))?;
    }
    if let Some(ended) = &results.ended {
        writeln!(out, "ended early: {ended}")?;
    }
    Ok(())
}
