//! `merge`: joins the results of shards.

use std::{io::Write as _, path::PathBuf};

use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    reports::ReportArguments,
};
use crate::report::{Layout, merge, read_results, write_result, write_summary};

/// Join the results of shards into one report
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  replayer merge shard-*.json --json results.json --junit results.xml\n\nMissing, overlapping and foreign shards are errors. The exit code is that of the joined results."
)]
pub(super) struct MergeArguments {
    /// What `run --shard … --json` wrote, of every shard
    #[arg(required = true, value_name = "RESULTS.json")]
    results: Vec<PathBuf>,
    #[command(flatten)]
    reports: ReportArguments,
}

pub(super) fn run(arguments: &MergeArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let shards = arguments.results.iter().map(|path| Ok((path.display().to_string(), read_results(path)?)));
    let shards = shards.collect::<Result<Vec<_>, crate::report::ReadError>>().or_input()?;
    let results = merge(shards).or_input()?;
    let html = arguments.reports.start(&arguments.results)?;
    if !arguments.reports.json_to_stdout() {
        let mut out = context.out.buffered();
        let layout = Layout::of(results.dispatches.iter().map(|d| (&*d.trace, &*d.dispatch)));
        for result in &results.dispatches {
            write_result(&mut out, result, layout, true)?;
        }
        write_summary(&mut out, &results)?;
        out.flush()?;
    }
    arguments.reports.write(&results, &[], html, &mut context.out)?;
    Ok(if results.ended.is_some() { Exit::Input } else { Exit::of(&results) })
}
