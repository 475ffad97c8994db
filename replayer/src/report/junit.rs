//! Results as JUnit XML, in the form that Jenkins and GitLab read.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::terminal::difference_lines;
use crate::{
    results::{DispatchResult, Outcome, Results, Status},
    text::counted,
};

/// Writes a suite a trace and a case a dispatch. What is not as expected is a failure, a crash, timeout or unreadable input
/// an error; what is known not to match is skipped, with the reason. Every dispatch and every input is there.
///
/// # Errors
/// When the output can't be written.
pub fn write_junit(out: &mut dyn Write, results: &Results) -> io::Result<()> {
    let mut report = Report::new("replayer");
    report.set_time(duration(results.seconds));
    let mut suites = BTreeMap::<&str, Vec<&DispatchResult>>::new();
    let mut order = Vec::new();
    for result in &results.dispatches {
        let suite = suites.entry(&result.trace).or_default();
        if suite.is_empty() {
            order.push(result.trace.as_str());
        }
        suite.push(result);
    }
    for trace in order {
        let dispatches = &suites[trace];
        let mut suite = TestSuite::new(trace);
        suite.set_time(duration(dispatches.iter().map(|d| d.seconds).sum()));
        suite.add_test_cases(dispatches.iter().map(|result| case(result)));
        report.add_test_suite(suite);
    }
    let inputs: Vec<_> = results.errors.iter().map(|e| error_case(&e.file, "unreadable", &e.message)).collect();
    let ended = results.ended.iter().map(|why| {
        error_case("run", "ended early", &format!("{why}; {} did not run", counted(results.not_run, "dispatch")))
    });
    let cases: Vec<_> = inputs.into_iter().chain(ended).collect();
    if !cases.is_empty() {
        let mut suite = TestSuite::new("inputs");
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    let mut text = Vec::new();
    report.serialize(&mut text).map_err(io::Error::other)?;
    without_total_of_skipped(&mut text);
    out.write_all(&text)
}

/// Takes the attribute `skipped` off the root element: Jenkins's schema has it on suites only.
fn without_total_of_skipped(text: &mut Vec<u8>) {
    const ATTRIBUTE: &[u8] = b" skipped=\"";
    let root_end = text.windows(2).position(|pair| pair == b"?>").map_or(0, |declaration| {
        let rest = &text[declaration + 2..];
        declaration + 2 + rest.iter().position(|&byte| byte == b'>').unwrap_or(0)
    });
    let Some(start) = text[..root_end].windows(ATTRIBUTE.len()).position(|window| window == ATTRIBUTE) else { return };
    let value = start + ATTRIBUTE.len();
    let Some(length) = text[value..root_end].iter().position(|&byte| byte == b'"') else { return };
    text.drain(start..=value + length);
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn error_case(name: &str, kind: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind).set_message(message);
    let mut case = TestCase::new(name, status);
    case.set_classname("inputs");
    case
}

fn case(result: &DispatchResult) -> TestCase {
    let status = match result.outcome {
        Outcome::Expected if result.status == Status::Match => TestCaseStatus::success(),
        Outcome::Expected => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(result.status.name());
            status.set_message(format!("{}; expected: {}", result.summary(), expectation(result)));
            status
        }
        Outcome::Improvement | Outcome::Flaky | Outcome::Regression => {
            let kind = match result.status {
                Status::Crash | Status::Timeout => NonSuccessKind::Error,
                _ => NonSuccessKind::Failure,
            };
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(format!("{} {}", result.outcome, result.status));
            status.set_message(result.summary());
            let mut text = format!("{}: {}\n", result.status, result.summary());
            if result.expectation.is_some() {
                text += &format!("expected: {}\n", expectation(result));
            }
            for cause in &result.causes {
                text += &format!("cause {}: {}\n", cause.rule, counted(cause.samples, "sample"));
            }
            for difference in &result.first {
                for line in difference_lines(difference) {
                    text += &line;
                    text.push('\n');
                }
            }
            status.set_description(text);
            status
        }
    };
    let mut case = TestCase::new(result.dispatch.as_str(), status);
    case.set_classname(format!("{}.{}", result.trace, result.path));
    case.set_time(duration(result.seconds));
    case
}

fn expectation(result: &DispatchResult) -> &str {
    result.expectation.as_deref().unwrap_or("match")
}
