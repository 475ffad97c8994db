//! `export`: results and dispatches in other forms.

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    place::{check_apart, check_file},
    progress::Progress,
    settings::ComputeArguments,
};
use crate::{
    batch::{Against, Pictures, Selection, plan},
    compare::{Operands, Options, compare},
    execute::Executor,
    path::Path,
    report::table::{SampleTable, TableForm},
    results::InputError,
    rules::Profile,
    source::SourceCache,
    text::counted,
};

/// Write results sample by sample, or kits that measure on hardware
#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    #[command(subcommand)]
    form: Form,
}

#[derive(Debug, Subcommand)]
enum Form {
    /// Apache Parquet, for DuckDB, Polars or Spark
    #[command(
        after_help = "Example:\n  replayer export parquet traces -o samples.parquet\n  duckdb -c \"select trace, dispatch, count(*) from 'samples.parquet' where mismatch > 0 group by all\""
    )]
    Parquet(TableArguments),
    /// Comma-separated values
    #[command(after_help = "Example:\n  replayer export csv traces --filter ties -o ties.csv")]
    Csv(TableArguments),
    HwOracle(super::hw_oracle::ExportKitArguments),
}

#[derive(Debug, Args)]
struct TableArguments {
    /// Traces, cases, folders or globs
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Only dispatches whose name matches this glob
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    #[command(flatten)]
    compute: ComputeArguments,
}

pub(super) fn run(arguments: ExportArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match arguments.form {
        Form::Parquet(arguments) => table(&arguments, TableForm::Parquet, context),
        Form::Csv(arguments) => table(&arguments, TableForm::Csv, context),
        Form::HwOracle(arguments) => super::hw_oracle::export(&arguments, context),
    }
}

fn table(arguments: &TableArguments, form: TableForm, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let settings = arguments.compute.settings(Pictures::None)?;
    check_file("--output", &arguments.output)?;
    check_apart("--output", &arguments.output, &arguments.paths)?;
    let selection = Selection { paths: arguments.paths.clone(), filters: arguments.filter.clone(), shard: None };
    let plan = plan(&selection).or_usage()?;
    let mut executor = None;
    if settings.needs_executor() && !plan.items.is_empty() {
        executor = Some(context.backend.open(&settings).or_usage()?);
    }
    if plan.items.is_empty() {
        return Err(match plan.errors.first() {
            Some(InputError { file, message }) => Failure::input(format!("{file}: {message}")),
            None => Failure::nothing_selected(&arguments.paths, !arguments.filter.is_empty()),
        });
    }
    let name = || arguments.output.display().to_string();
    let mut table = SampleTable::create(&arguments.output, form).with_context(name)?;
    let mut sources = SourceCache::default();
    let mut progress = Progress::new(plan.items.len());
    let (mut samples, mut left_out, mut unreadable) = (0, 0, plan.errors.len());
    for error in &plan.errors {
        progress.note(&format!("{}: {}", error.file, error.message));
    }
    for item in &plan.items {
        let label = format!("{}/{}", item.trace, item.dispatch);
        let dispatch = match sources.dispatch(&item.file, item.index) {
            Ok(dispatch) => dispatch,
            Err(error) => {
                progress.note(&error.to_string());
                unreadable += 1;
                continue;
            }
        };
        let profile = settings.profile.as_deref().unwrap_or(&item.profile);
        let mut words = |path: Path| {
            let profile = Profile::by_name(profile).ok_or_else(|| format!("unknown profile {profile:?}"))?;
            let executor = executor.as_deref_mut().map(|e| e as &mut dyn Executor);
            let executor = if path.needs_executor() { executor } else { None };
            let words = context.backend.evaluate(&dispatch, path, &profile, executor, settings.strict);
            words.map_err(|failure| format!("{path}: {failure}"))
        };
        let computed = words(settings.path).and_then(|got| match settings.against {
            Against::Path(path) => Ok((got, words(path)?, None)),
            Against::Oracle => match &dispatch.expected {
                Some(expected) => Ok((got, expected.words.to_vec(), expected.measured.clone())),
                // Without an oracle nothing is measured: the columns are null.
                None => Ok((got.clone(), vec![0; got.len()], Some(vec![0; got.len() / 4]))),
            },
        });
        let written = computed.and_then(|(got, expected, measured)| {
            let operands =
                Operands { grid: dispatch.grid, got: &got, expected: &expected, measured: measured.as_deref() };
            // Checks the lengths.
            compare(&operands, &Options { first: 0, worst: 0, ..Options::default() }).map_err(|e| e.to_string())?;
            Ok(table.write(&item.trace, &item.dispatch, &operands).map(|()| got.len() / 4))
        });
        match written {
            Ok(count) => samples += count.with_context(name)?,
            Err(reason) => {
                progress.note(&format!("left out: {label}: {reason}"));
                left_out += 1;
            }
        }
        progress.step(false);
    }
    drop(progress);
    table.finish().with_context(name)?;
    writeln!(
        context.out,
        "{}: {} of {}, {left_out} left out, {unreadable} unreadable",
        name(),
        counted(samples, "sample"),
        counted(plan.items.len(), "dispatch")
    )?;
    Ok(match (unreadable, left_out) {
        (1.., _) => Exit::Input,
        (_, 1..) => Exit::Regression,
        _ => Exit::Success,
    })
}
