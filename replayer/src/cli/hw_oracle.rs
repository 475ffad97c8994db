//! `export hw-oracle` and `import hw-oracle`: kits for the HSA hardware oracle.

use std::{io::Write as _, path::PathBuf};

use capture_format::{Trace, WriteOptions, open, write_trace};
use clap::Args;

use super::{
    Context,
    emit::find_dispatch,
    exit::{Exit, Failure, OrExit as _},
    explain::no_case_there,
    place::check_new_file,
};
use crate::{
    interchange::hw_oracle::{ExportError, Measured, import, write},
    text::counted,
};

/// Write a kit that measures a case on an AMD GPU: assembly, rows, extra bytes and command lines
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  replayer export hw-oracle traces/gfx1035/weight-rounding.toml -o kit\n  (run the lines of kit/*/commands.txt in their folders on the GPU's machine)\n  replayer import hw-oracle kit --target gfx1035 -o measured.texeltrace"
)]
pub(super) struct ExportKitArguments {
    /// The trace or case
    trace: PathBuf,
    /// Only this dispatch, by number (from 0) or name; may be given more than once
    #[arg(long, value_name = "N|NAME")]
    dispatch: Vec<String>,
    /// The folder to write
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Replace a kit that is there
    #[arg(long)]
    force: bool,
}

/// Read what the hardware oracle printed for a kit, as a trace
#[derive(Debug, Args)]
pub(super) struct ImportKitArguments {
    /// The kit's folder, with the printed words in each dispatch's out-000.txt and so on
    kit: PathBuf,
    /// The GPU's target name, such as gfx1035
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Who measured, when, with which driver
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// The trace to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Replace a trace that is there
    #[arg(long)]
    force: bool,
}

pub(super) fn export(arguments: &ExportKitArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    no_case_there(&arguments.output, arguments.force)?;
    let source = open(&arguments.trace).or_input()?;
    let dispatches = if arguments.dispatch.is_empty() {
        (0..source.len()).map(|n| source.dispatch(n)).collect::<Result<_, _>>().or_input()?
    } else {
        arguments.dispatch.iter().map(|name| find_dispatch(&source, name)).collect::<Result<_, _>>()?
    };
    let meta = source.meta().clone();
    let trace = Trace { name: meta.name, summary: meta.summary, oracle: meta.oracle, dispatches };
    let runs = write(&trace, &arguments.output, arguments.force).map_err(|error| match error {
        ExportError::Refused { .. } => Failure::input(format!("{}: {error}", arguments.trace.display())),
        ExportError::Case(_) | ExportError::Io { .. } => error.into(),
    })?;
    let folder = arguments.output.display();
    writeln!(
        context.out,
        "{folder}: {}, {}; the command lines are in commands.txt of each",
        counted(trace.dispatches.len(), "dispatch"),
        counted(runs, "run")
    )?;
    Ok(Exit::Success)
}

pub(super) fn import_kit(arguments: &ImportKitArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    check_new_file("--output", &arguments.output, arguments.force)?;
    let measured = Measured { target: arguments.target.clone(), note: arguments.note.clone() };
    let trace = import(&arguments.kit, &measured).or_input()?;
    write_trace(&arguments.output, &trace, WriteOptions::compact())?;
    let samples: usize = trace.dispatches.iter().map(|d| d.coords.rows()).sum();
    writeln!(
        context.out,
        "{}: {}, {}",
        arguments.output.display(),
        counted(trace.dispatches.len(), "dispatch"),
        counted(samples, "sample")
    )?;
    Ok(Exit::Success)
}
