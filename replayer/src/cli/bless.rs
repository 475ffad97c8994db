//! `bless`: makes results the expected ones.

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    place::{check_file, replace_file},
};
use crate::{expectations::bless, report::read_results};

const EXAMPLES: &str = "\
Example:
  replayer run traces --expectations known.toml --json results.json
  replayer bless results.json --expectations known.toml            shows what would change
  replayer bless results.json --expectations known.toml --write --reason 'weights are not rounded yet'

Crashes, timeouts and flaky results are never blessed. Comments and order of the file stay.";

/// Make the results of a run the expected ones
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BlessArguments {
    /// What `run --json` or `merge --json` wrote
    results: PathBuf,
    /// The file of expectations; it may be missing
    #[arg(long, value_name = "FILE")]
    expectations: PathBuf,
    /// Change the file, rather than show what would change
    #[arg(long)]
    write: bool,
    /// Why new entries are as they are
    #[arg(long, value_name = "TEXT", default_value = "not explained yet")]
    reason: String,
}

pub(super) fn run(arguments: &BlessArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let results = read_results(&arguments.results).or_input()?;
    let path = &arguments.expectations;
    if arguments.write {
        check_file("--expectations", path)?;
    }
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "schema = 1\n".to_owned(),
        Err(error) => return Err(error).with_context(|| path.display().to_string()).or_input(),
    };
    let blessing = bless(&text, path, &results, &arguments.reason).or_input()?;
    let mut out = context.out.buffered();
    for change in &blessing.changes {
        writeln!(out, "{change}")?;
    }
    for refused in &blessing.refused {
        writeln!(out, "not blessed: {refused}")?;
    }
    if blessing.changes.is_empty() {
        writeln!(out, "{}: nothing to change", path.display())?;
    } else if arguments.write {
        replace_file(path, |file| Ok(file.write_all(blessing.text.as_bytes())?))?;
        writeln!(out, "{}: {} entries changed", path.display(), blessing.changes.len())?;
    } else {
        writeln!(out, "{}: {} entries would change; --write changes them", path.display(), blessing.changes.len())?;
    }
    out.flush()?;
    Ok(if blessing.refused.is_empty() { Exit::Success } else { Exit::Regression })
}
