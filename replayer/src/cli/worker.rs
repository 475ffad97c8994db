//! `worker`: judges dispatches for a run. Started by `run`, not by hand.

use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure},
};
use crate::batch::serve;

#[derive(Debug, Args)]
pub(super) struct WorkerArguments {
    /// Address space in MiB
    #[arg(long)]
    memory: Option<u64>,
}

pub(super) fn run(arguments: &WorkerArguments, context: &Context<'_>) -> Result<Exit, Failure> {
    if let Some(mib) = arguments.memory {
        limit_memory(mib)?;
    }
    end_with_parent();
    let input = std::io::BufReader::new(std::io::stdin());
    // Standard output is for messages alone. It is locked by the console of the command line, so a second handle is taken.
    serve(context.backend, input, messages()?)?;
    Ok(Exit::Success)
}

#[cfg(unix)]
fn messages() -> std::io::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    Ok(std::io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(windows)]
fn messages() -> std::io::Result<std::fs::File> {
    use std::os::windows::io::AsHandle as _;
    Ok(std::io::stdout().as_handle().try_clone_to_owned()?.into())
}

#[cfg(unix)]
fn limit_memory(mib: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let bytes = mib.saturating_mul(1 << 20);
    Ok(setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?)
}

#[cfg(not(unix))]
fn limit_memory(_: u64) -> Result<(), Failure> {
    Err(Failure::usage("--memory: expected a Unix system"))
}

/// A worker that hangs in a driver does not see the end of its input when the run is killed.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        // Without it the worker still ends at the end of its input.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
}
