//! `run`: replays dispatches and compares.

use std::{collections::BTreeMap, io::Write as _, path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    progress::Progress,
    reports::ReportArguments,
    self_check,
    settings::{ComputeArguments, TIME_LIMIT},
};
use crate::{
    batch::{
        ExecutorKind, Isolation, Judged, Pictures, Plan, PoolOptions, RunEnd, Selection, Settings, Settled,
        ShardChoice, Stop, plan, run_all,
    },
    expectations::Expectations,
    report::{Layout, changes, read_results, write_result, write_summary},
    results::{InputError, Outcome, Results},
};

const EXAMPLES: &str = "\
Examples:
  replayer run traces                                   all traces of a folder, the emulated path against the oracle
  replayer run traces/h200 --path reference             the CPU model
  replayer run a.texeltrace --against reference         two paths against each other, no oracle needed
  replayer run traces --filter 'random-2d/*' --jobs 8   some dispatches, by trace/dispatch
  replayer run traces --expectations traces/expectations.toml --junit results.xml --html report
  replayer run traces --shard slice:2/4 --json shard-2.json
  replayer run --self-check game.texeltrace             what a recording lacks to be replayed";

/// Replay dispatches and compare the results bit for bit
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunArguments {
    /// Traces (.texeltrace), cases (.toml), folders that are searched, or globs
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// Only dispatches whose name matches this glob; one with a slash is held against trace/dispatch. May be given again
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    #[command(flatten)]
    compute: ComputeArguments,
    /// What is known not to match (TOML)
    #[arg(long, value_name = "FILE")]
    expectations: Option<PathBuf>,
    /// Show only what changed since an earlier run's --json
    #[arg(long, value_name = "RESULTS.json")]
    base: Option<PathBuf>,
    /// Run one of N parts: slice:M/N, hash:M/N (M from 1), or auto by the environment of Slurm, Kubernetes or GitLab
    #[arg(long, value_name = "SHARD", help_heading = "Batch")]
    shard: Option<ShardChoice>,
    /// Workers at a time [default: the number of CPU cores]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Batch")]
    jobs: Option<u16>,
    /// Seconds a dispatch may take [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Batch")]
    timeout: Option<Duration>,
    /// Run dispatches in worker processes or in this one [default: process, when a Vulkan driver is involved]
    #[arg(long, value_enum, help_heading = "Batch")]
    isolation: Option<IsolationArgument>,
    /// Address space of a worker in MiB. GPU drivers reserve much more than they use
    #[arg(long, value_name = "MIB", help_heading = "Batch")]
    memory: Option<u64>,
    /// Run nothing: say what each dispatch lacks to be replayed and compared. For use right after recording
    #[arg(long, conflicts_with_all = ["expectations", "base", "jobs", "timeout", "isolation", "memory", "no_rerun", "json", "junit", "html", "markdown"])]
    self_check: bool,
    /// Don't run an unexpected result once more to see whether it is flaky
    #[arg(long, help_heading = "Batch")]
    no_rerun: bool,
    #[command(flatten)]
    reports: ReportArguments,
    /// Dispatches with pictures on the page
    #[arg(long, value_enum, default_value = "mismatches", requires = "html", help_heading = "Reports")]
    html_pictures: PicturesArgument,
    /// Print only what is not as expected
    #[arg(long, short, help_heading = "Reports")]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IsolationArgument {
    Process,
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PicturesArgument {
    Mismatches,
    All,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&s| s > 0.0 && s <= 1e6);
    let duration = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).filter(|d| !d.is_zero());
    duration.ok_or_else(|| "expected a number of seconds above 0, at most 1000000".to_owned())
}

pub(super) fn run(arguments: RunArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if arguments.self_check {
        let shard =
            arguments.shard.map(|choice| choice.resolve(|name| std::env::var(name).ok())).transpose().or_usage()?;
        let selection = Selection { paths: arguments.paths, filters: arguments.filter, shard };
        let settings = arguments.compute.settings(Pictures::None)?;
        return self_check::run(&plan(&selection).or_usage()?, &settings, arguments.quiet, context);
    }
    let pictures = match (&arguments.reports.html, arguments.html_pictures) {
        (None, _) => Pictures::None,
        (Some(_), PicturesArgument::Mismatches) => Pictures::Mismatches,
        (Some(_), PicturesArgument::All) => Pictures::All,
    };
    let mut settings = arguments.compute.settings(pictures)?;
    let options = pool_options(&arguments, &settings)?;
    if options.isolation == Isolation::Process {
        // The worker is ended first: that needs no help of a driver that may hang.
        settings.time_limit = options.timeout + Duration::from_secs(5);
    }
    let expectations = match &arguments.expectations {
        Some(path) => Expectations::read(path).or_input()?,
        None => Expectations::default(),
    };
    let base = arguments.base.as_deref().map(read_results).transpose().or_input()?;
    let shard = arguments.shard.map(|choice| choice.resolve(|name| std::env::var(name).ok())).transpose().or_usage()?;
    let selection = Selection { paths: arguments.paths.clone(), filters: arguments.filter.clone(), shard };
    let plan = plan(&selection).or_usage()?;
    let mut inputs: Vec<PathBuf> = plan.items.iter().map(|item| item.file.clone()).collect();
    inputs.dedup();
    inputs.extend(arguments.expectations.clone());
    let html = arguments.reports.start(&inputs)?;

    let stop = Stop::default();
    end_on_signal(&stop)?;
    let show = !arguments.reports.json_to_stdout() && base.is_none();
    let mut batch = Batch::new(&plan, html, show, arguments.quiet);
    let start = std::time::Instant::now();
    let end = run_all(
        context.backend,
        &plan.items,
        &settings,
        &options,
        &stop,
        &|result| expectations.assess(result),
        |number, settled| batch.settle(number, settled, context),
    );
    let Batch { progress, settled, html, error, numbers, errors, .. } = batch;
    drop(progress);
    error?;
    if let RunEnd::NoExecutor(reason) = &end {
        let option = if settings.device.is_some() { "--device" } else { "--executor" };
        return Err(Failure::usage(format!("{option}: {reason}")));
    }

    let mut results = Results::new(settled);
    results.shard = plan.shard_of(&settings);
    results.errors = plan.errors.into_iter().chain(errors).collect();
    results.seconds = start.elapsed().as_secs_f64();
    results.not_run = plan.items.len().saturating_sub(results.dispatches.len() + numbers.unreadable) as u64;
    results.unreadable = numbers.unreadable as u64;
    results.ended = match &end {
        RunEnd::Complete | RunEnd::NoExecutor(_) => None,
        RunEnd::Stopped => Some("by a signal".to_owned()),
        RunEnd::Abandoned(reason) => Some(reason.clone()),
    };
    if arguments.expectations.is_some() && end == RunEnd::Complete {
        results.unused_expectations = expectations.unused();
    }
    if !arguments.reports.json_to_stdout() {
        let mut out = context.out.buffered();
        if let Some(base) = &base {
            let changes = changes(base, &results);
            for change in &changes {
                writeln!(out, "{}: {}", change.label(), change.text())?;
            }
            writeln!(out, "{} of {} dispatches changed", changes.len(), results.dispatches.len())?;
        }
        write_summary(&mut out, &results)?;
        out.flush()?;
    }
    arguments.reports.write(&results, &numbers.of_results, html, &mut context.out)?;
    match end {
        RunEnd::Stopped => Ok(Exit::Interrupted),
        RunEnd::Abandoned(_) => Ok(Exit::Internal),
        _ if plan.selected == 0 && results.errors.is_empty() => {
            Err(Failure::nothing_selected(&arguments.paths, !arguments.filter.is_empty()))
        }
        _ => Ok(Exit::of(&results)),
    }
}

fn pool_options(arguments: &RunArguments, settings: &Settings) -> Result<PoolOptions, Failure> {
    let driver = settings.needs_executor() && settings.executor != ExecutorKind::Embedded;
    let limited = arguments.timeout.is_some() || arguments.memory.is_some();
    let isolation = match arguments.isolation {
        Some(IsolationArgument::None) if limited => {
            return Err(Failure::usage(
                "--isolation none: expected no --timeout and no --memory, only processes can be limited",
            ));
        }
        Some(IsolationArgument::None) => Isolation::None,
        Some(IsolationArgument::Process) => Isolation::Process,
        None if driver || limited => Isolation::Process,
        None => Isolation::None,
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(PoolOptions {
        isolation,
        jobs: arguments.jobs.map_or(cores, usize::from),
        timeout: arguments.timeout.unwrap_or(TIME_LIMIT),
        memory_mib: arguments.memory,
        program: std::env::current_exe()?,
        rerun: !arguments.no_rerun,
    })
}

/// The first signal ends the run with its reports, the second at once.
pub(super) fn end_on_signal(stop: &Stop) -> Result<(), Failure> {
    let stop = stop.clone();
    Ok(ctrlc::set_handler(move || {
        if stop.request() {
            std::process::exit(130);
        }
        let _ = writeln!(std::io::stderr(), "ending; once more to end at once");
    })?)
}

/// Numbers in the selection.
#[derive(Default)]
struct Numbers {
    /// Of each result, in their order.
    of_results: Vec<usize>,
    /// How many could not be read.
    unreadable: usize,
}

/// What a run has settled so far. Lines are printed in the order of the selection.
struct Batch {
    progress: Progress,
    layout: Layout,
    show: bool,
    quiet: bool,
    html: Option<crate::report::HtmlReport>,
    early: BTreeMap<usize, Option<Box<Judged>>>,
    next: usize,
    settled: Vec<crate::results::DispatchResult>,
    numbers: Numbers,
    errors: Vec<InputError>,
    executor: Option<String>,
    error: Result<(), Failure>,
}

impl Batch {
    fn new(plan: &Plan, html: Option<crate::report::HtmlReport>, show: bool, quiet: bool) -> Self {
        Self {
            progress: Progress::new(plan.items.len()),
            layout: Layout::of(plan.items.iter().map(|item| (&*item.trace, &*item.dispatch))),
            show,
            quiet,
            html,
            early: BTreeMap::new(),
            next: 0,
            settled: Vec::new(),
            numbers: Numbers::default(),
            errors: Vec::new(),
            executor: None,
            error: Ok(()),
        }
    }

    fn settle(&mut self, number: usize, settled: Settled, context: &mut Context<'_>) {
        match settled {
            Settled::Executor(name) => {
                let name = name.to_string();
                if self.executor.as_ref() != Some(&name) {
                    self.progress.note(&format!("runs on {name}"));
                    self.executor = Some(name);
                }
                return;
            }
            Settled::Judged(judged) => {
                self.progress.step(judged.result.outcome != Outcome::Expected);
                self.early.insert(number, Some(judged));
            }
            Settled::Unreadable(error) => {
                self.progress.step(true);
                self.errors.push(error);
                self.numbers.unreadable += 1;
                self.early.insert(number, None);
            }
        }
        while let Some(judged) = self.early.remove(&self.next) {
            if let Some(judged) = judged
                && let Err(error) = self.take(self.next, *judged, context)
                && self.error.is_ok()
            {
                self.error = Err(error);
            }
            self.next += 1;
        }
    }

    fn take(&mut self, number: usize, judged: Judged, context: &mut Context<'_>) -> Result<(), Failure> {
        if let (Some(html), Some(pictures)) = (&mut self.html, &judged.pictures) {
            html.add_pictures(number, pictures)?;
        }
        let written = if self.show && !context.out.is_closed() {
            self.progress.suspend(|| write_result(&mut context.out, &judged.result, self.layout, self.quiet))
        } else {
            Ok(())
        };
        self.numbers.of_results.push(number);
        self.settled.push(judged.result);
        Ok(written?)
    }
}
