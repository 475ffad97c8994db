//! The command line: arguments in, exit code out. The `replayer` program is this with the executors of the build.

mod bless;
mod capture;
mod console;
mod devices;
mod emit;
mod exit;
mod explain;
mod export;
mod fit;
mod fuzz;
mod hw_oracle;
mod import;
mod info;
mod merge;
mod pack;
mod place;
mod progress;
mod reports;
mod run;
mod self_check;
mod settings;
mod step;
mod worker;

use std::{io::Write as _, process::ExitCode};

use clap::{Parser, Subcommand, error::ErrorKind};

use self::{
    console::Console,
    exit::{Exit, Failure},
};
use crate::batch::Backend;

const EXIT_CODES: &str = "\
Exit codes:
   0  as expected
   1  a mismatch, or another result that is worse than expected
   2  only improvements: expectations are to be updated (bless)
   3  an input can't be read, or an oracle is missing
   4  nothing is selected
  64  the command line is wrong
  70  internal error
 130  ended early by a signal; reports cover what ran until then";

/// Replays traces of texture sampling bit for bit and says why a texel differs.
#[derive(Debug, Parser)]
#[command(name = "replayer", version, after_help = EXIT_CODES, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArguments),
    Info(info::InfoArguments),
    Pack(pack::PackArguments),
    Unpack(pack::UnpackArguments),
    Explain(explain::ExplainArguments),
    Step(step::StepArguments),
    Reduce(explain::ReduceArguments),
    Coverage(explain::CoverageArguments),
    Fuzz(fuzz::FuzzArguments),
    Devices(devices::DevicesArguments),
    Capture(capture::CaptureArguments),
    Emit(emit::EmitArguments),
    Export(export::ExportArguments),
    Import(import::ImportArguments),
    Fit(fit::FitArguments),
    Rules(fit::RulesArguments),
    Merge(merge::MergeArguments),
    Bless(bless::BlessArguments),
    #[command(hide = true)]
    Worker(worker::WorkerArguments),
}

/// What commands share.
struct Context<'a> {
    backend: &'a dyn Backend,
    out: Console,
}

/// Runs the command line of this process with the executors of `backend`.
pub fn main(backend: &dyn Backend) -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Where the output is closed, nobody reads the help.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                _ => Exit::Usage.into(),
            };
        }
    };
    let mut context = Context { backend, out: Console::stdout() };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(arguments, &mut context),
        Command::Info(arguments) => info::run(&arguments, &mut context),
        Command::Pack(arguments) => pack::pack(&arguments, &mut context),
        Command::Unpack(arguments) => pack::unpack(&arguments, &mut context),
        Command::Explain(arguments) => explain::explain(&arguments, &mut context),
        Command::Step(arguments) => step::run(arguments, &mut context),
        Command::Reduce(arguments) => explain::reduce_case(&arguments, &mut context),
        Command::Coverage(arguments) => explain::coverage(&arguments, &mut context),
        Command::Fuzz(arguments) => fuzz::run(&arguments, &mut context),
        Command::Devices(arguments) => devices::run(&arguments, &mut context),
        Command::Capture(arguments) => capture::run(&arguments, &mut context),
        Command::Emit(arguments) => emit::run(&arguments, &mut context),
        Command::Export(arguments) => export::run(arguments, &mut context),
        Command::Import(arguments) => import::run(&arguments, &mut context),
        Command::Fit(arguments) => fit::run(&arguments, &mut context),
        Command::Rules(arguments) => fit::rules(&arguments, &mut context),
        Command::Merge(arguments) => merge::run(&arguments, &mut context),
        Command::Bless(arguments) => bless::run(&arguments, &mut context),
        Command::Worker(arguments) => worker::run(&arguments, &context),
    };
    let flushed = context.out.flush().map_err(Failure::from);
    match result.and_then(|exit| flushed.map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.print();
            failure.exit.into()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
