//! `fuzz`: random dispatches between two paths, up to the first difference.

use std::{
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use capture_format::{CaseOptions, Dispatch, write_case};
use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    explain::no_case_there,
    place::check_file,
    run::end_on_signal,
    settings::TIME_LIMIT,
};
use crate::{
    batch::{Against, Backend, ExecutorKind, Pictures, Settings, Stop},
    execute::{ExecuteError, Executor},
    explain::render_text,
    fuzz::{FuzzError, Progress, Side, fuzz},
    generate::Generator,
    path::Path,
    rules::Profile,
};

const EXAMPLES: &str = "\
A side is PATH[:PROFILE[:EXECUTOR]], with `any` for the profiles of the generator in turn.

Examples:
  replayer fuzz --a emulated --b reference --count 100000
  replayer fuzz --a emulated:gfx1035:vulkan --b emulated:gfx1035:embedded
  replayer fuzz --a reference:gfx1035 --b reference:h200 -o found
  replayer fuzz --a emulated --b reference --state fuzz.json     goes on where it ended";

/// Run random dispatches on two paths, up to the first difference, which is reduced to a case
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FuzzArguments {
    /// One side
    #[arg(long, value_name = "SIDE")]
    a: SideName,
    /// The other side
    #[arg(long, value_name = "SIDE")]
    b: SideName,
    /// Names the sequence of dispatches
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Dispatches to run
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    count: u64,
    /// States (S#, T# and instruction) that dispatches cycle through
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    states: u64,
    /// Where to go on from, and to keep how far it went
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The folder to write the case of a difference into
    #[arg(long, short, value_name = "CASE", default_value = "difference")]
    output: PathBuf,
    /// Replace a case that is there
    #[arg(long)]
    force: bool,
}

/// A side as it is named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SideName {
    path: Path,
    profile: Option<Profile>,
    executor: ExecutorKind,
}

impl FromStr for SideName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        let path = parts.next().unwrap_or_default().parse::<Path>().map_err(|e| e.to_string())?;
        if path == Path::Recorded {
            return Err("recorded runs compute dispatches, and random dispatches are none".to_owned());
        }
        let profile = match parts.next() {
            None | Some("any") => None,
            Some(name) => Some(Profile::by_name(name).ok_or_else(|| {
                let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
                format!("unknown profile {name:?}, expected any or one of {}", known.join(", "))
            })?),
        };
        let executor = match parts.next() {
            None | Some("auto") => ExecutorKind::Auto,
            Some("vulkan") => ExecutorKind::Vulkan,
            Some("embedded") => ExecutorKind::Embedded,
            Some(other) => return Err(format!("unknown executor {other:?}, expected auto, vulkan or embedded")),
        };
        match parts.next() {
            None => Ok(Self { path, profile, executor }),
            Some(more) => Err(format!("{more:?} behind PATH:PROFILE:EXECUTOR")),
        }
    }
}

impl SideName {
    fn side<'a>(&self, backend: &'a dyn Backend) -> Result<Side<'a>, Failure> {
        let path = self.path;
        let mut executor: Option<Box<dyn Executor>> = None;
        if path.needs_executor() {
            let settings = Settings {
                path,
                recorded: false,
                against: Against::Oracle,
                profile: None,
                executor: self.executor,
                device: None,
                time_limit: TIME_LIMIT,
                strict: false,
                nan_payload: false,
                pictures: Pictures::None,
            };
            executor = Some(backend.open(&settings).map_err(no_executor).or_usage()?);
        }
        let profile = self.profile.as_ref().map_or("any", |p| p.name);
        let kind = executor.as_ref().map_or(String::new(), |e| format!(":{}", e.info().kind));
        let run = move |dispatch: &Dispatch, profile: &Profile| {
            let executor: Option<&mut dyn Executor> = match &mut executor {
                Some(executor) => Some(&mut **executor),
                None => None,
            };
            backend.evaluate(dispatch, path, profile, executor, false)
        };
        Ok(Side { name: format!("{path}:{profile}{kind}"), profile: self.rules(), run: Box::new(run) })
    }

    /// The profile by which the side computes, when it does not change from dispatch to dispatch.
    fn rules(&self) -> Option<Profile> {
        match (&self.profile, self.path) {
            (_, Path::AsSubmitted) => Some(Profile::AS_SUBMITTED),
            (profile, _) => profile.clone(),
        }
    }
}

fn no_executor(error: ExecuteError) -> anyhow::Error {
    anyhow::Error::from(error).context("no executor")
}

pub(super) fn run(arguments: &FuzzArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if arguments.a == arguments.b {
        return Err(Failure::usage("--b: expected another side than --a"));
    }
    no_case_there(&arguments.output, arguments.force)?;
    if let Some(path) = &arguments.state {
        check_file("--state", path)?;
    }
    let backend = context.backend;
    let (mut a, mut b) = (arguments.a.side(backend)?, arguments.b.side(backend)?);
    let generator = Generator::new(arguments.seed, arguments.states);
    let mut progress = Progress::start(&generator, &a, &b);
    if let Some(path) = &arguments.state {
        progress = match progress.resume(path) {
            Err(error @ (FuzzError::Other { .. } | FuzzError::State { .. })) => return Err(error).or_usage(),
            other => other.or_input()?,
        };
    }
    let stop = Stop::default();
    end_on_signal(&stop)?;
    let first = progress.next;
    let terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let mut stored = Ok(());
    let mut now = progress.clone();
    let mut step = |next: u64| {
        if shown.elapsed() >= Duration::from_secs(1) {
            shown = Instant::now();
            if terminal {
                let _ = write!(std::io::stderr(), "\r{} dispatches", next - first);
            }
            now.next = next;
            if let Some(path) = &arguments.state {
                stored = now.store(path);
            }
        }
        stored.is_ok() && !stop.is_requested()
    };
    let outcome = fuzz(&generator, &mut progress, arguments.count, &mut a, &mut b, &mut step)?;
    stored?;
    if terminal {
        let _ = write!(std::io::stderr(), "\r");
    }
    if let Some(path) = &arguments.state {
        progress.store(path)?;
    }
    writeln!(context.out, "{} against {}", a.name, b.name)?;
    write!(context.out, "{}", outcome.tally)?;
    writeln!(
        context.out,
        "{} dispatches compared, {} refused by both, {:.0} dispatches/s, next is {}",
        outcome.compared,
        outcome.refused,
        outcome.rate(),
        progress.next
    )?;
    let Some(difference) = outcome.difference else {
        return Ok(if stop.is_requested() { Exit::Interrupted } else { Exit::Success });
    };
    writeln!(context.out, "\ndispatch {} of seed {} differs", difference.index, arguments.seed)?;
    if let Some(failure) = &difference.failure {
        writeln!(context.out, "{failure}")?;
    }
    if let Some(explanation) = &difference.explanation {
        write!(context.out, "{}", render_text("the dispatch", explanation, &|_| None))?;
    }
    if let Err(reason) = &difference.reduction {
        writeln!(context.out, "not reduced: {reason}")?;
    }
    let options = CaseOptions { overwrite: arguments.force, ..CaseOptions::default() };
    let written = write_case(&difference.trace, &arguments.output, &options)
        .with_context(|| arguments.output.display().to_string())?;
    writeln!(context.out, "written to {}", written.display())?;
    Ok(Exit::Regression)
}
