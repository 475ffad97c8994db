//! The command line of the replayer.

use std::process::ExitCode;

fn main() -> ExitCode {
    replayer::cli::main(&replayer::batch::Installed)
}
