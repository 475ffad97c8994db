//! `pack` and `unpack`: between the two forms of a trace.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use capture_format::{
    CASE_FILE, CaseOptions, Recording, Source, WriteOptions, open, write_recording, write_recording_case,
};
use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    explain::no_case_there,
    place::{check_apart, check_new_file},
};
use crate::text::counted;

/// Pack a case into a trace
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  replayer pack cases/ties/case.toml -o ties.texeltrace")]
pub(super) struct PackArguments {
    /// The case: a .toml file or its folder
    case: PathBuf,
    /// The trace to write
    #[arg(long, short, value_name = "TRACE")]
    output: PathBuf,
    /// Compress texels, coordinates and results (zstd). They can't be used in place then
    #[arg(long)]
    compress: bool,
    /// Replace a trace that is there
    #[arg(long)]
    force: bool,
}

/// Unpack a trace into a case: case.toml and .bin files
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  replayer unpack ties.texeltrace -o cases/ties")]
pub(super) struct UnpackArguments {
    /// The trace
    trace: PathBuf,
    /// The folder to write
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Arrays of up to this many words stand in case.toml, longer ones in .bin files
    #[arg(long, value_name = "WORDS", default_value_t = CaseOptions::default().inline_words)]
    inline: usize,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

pub(super) fn pack(arguments: &PackArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    check_new_file("--output", &arguments.output, arguments.force)?;
    check_apart("--output", &arguments.output, [&arguments.case, &arguments.case.join(CASE_FILE)])?;
    let trace = read(&arguments.case)?;
    let options = if arguments.compress { WriteOptions::compact() } else { WriteOptions::default() };
    write_recording(&arguments.output, &trace, options).with_context(|| arguments.output.display().to_string())?;
    tell(&trace, &arguments.output, context)
}

pub(super) fn unpack(arguments: &UnpackArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    no_case_there(&arguments.output, arguments.force)?;
    let trace = read(&arguments.trace)?;
    let options = CaseOptions { inline_words: arguments.inline, overwrite: arguments.force, ..CaseOptions::default() };
    let path = write_recording_case(&trace, &arguments.output, &options)?;
    tell(&trace, &path, context)
}

fn read(path: &Path) -> Result<Recording, Failure> {
    match open(path).or_input()? {
        // All of it or nothing: a copy of a damaged trace would look sound.
        Source::Packed(reader) => reader.read_recording().or_input(),
        source => {
            let dispatches =
                (0..source.len()).map(|index| source.recorded(index)).collect::<Result<_, _>>().or_input()?;
            Ok(Recording { meta: source.meta().clone(), dispatches })
        }
    }
}

fn tell(recording: &Recording, path: &Path, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (name, count) = (&recording.meta.name, recording.dispatches.len());
    writeln!(context.out, "{name}: {} in {}", counted(count, "dispatch"), path.display())?;
    Ok(Exit::Success)
}
