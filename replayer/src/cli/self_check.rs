//! `run --self-check`: what dispatches lack to be replayed.

use std::io::Write as _;

use capture_format::{Dispatch, Recorded};

use super::{
    Context,
    exit::{Exit, Failure},
};
use crate::{
    batch::{Plan, Settings},
    recorded,
    rules::Profile,
    source::SourceCache,
    table::Parts,
    text::counted,
};

/// Prints what each dispatch of a plan lacks. Nothing is run.
pub(super) fn run(plan: &Plan, settings: &Settings, quiet: bool, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut sources = SourceCache::default();
    let mut lacking = 0usize;
    let mut out = context.out.buffered();
    for error in &plan.errors {
        writeln!(out, "unreadable {}: {}", error.file, error.message)?;
    }
    for item in &plan.items {
        let lacks = match sources.recorded(&item.file, item.index) {
            Err(error) => vec![error.to_string()],
            Ok(Recorded::Compute(dispatch)) => recorded::lacks(&dispatch),
            Ok(Recorded::Sample(dispatch)) => {
                sample_lacks(&dispatch, settings.profile.as_deref().unwrap_or(&item.profile))
            }
        };
        if !lacks.is_empty() {
            lacking += 1;
            writeln!(out, "lacks      {}/{}", item.trace, item.dispatch)?;
            for what in lacks {
                writeln!(out, "           {what}")?;
            }
        } else if !quiet {
            writeln!(out, "complete   {}/{}", item.trace, item.dispatch)?;
        }
    }
    writeln!(
        out,
        "{} of {} can be replayed and compared",
        plan.items.len() - lacking,
        counted(plan.items.len(), "dispatch")
    )?;
    out.flush()?;
    Ok(match (plan.errors.len() + lacking, plan.items.len()) {
        (0, 0) => Exit::NothingSelected,
        (0, _) => Exit::Success,
        _ => Exit::Input,
    })
}

fn sample_lacks(dispatch: &Dispatch, profile: &str) -> Vec<String> {
    let mut lacks = Vec::new();
    if dispatch.expected.is_none() {
        lacks.push("the expected results".to_owned());
    }
    match Profile::by_name(profile) {
        None => lacks.push(format!("a known profile: {profile:?}")),
        Some(profile) => {
            if let Err(refusal) = Parts::new(dispatch).and_then(|parts| parts.states(&profile.rules)) {
                lacks.push(format!("refused: {refusal}"));
            }
        }
    }
    lacks
}
