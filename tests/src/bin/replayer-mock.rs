//! The replayer's command line with the mock backend in the place of the executors.

use std::process::ExitCode;

fn main() -> ExitCode {
    replayer::cli::main(&end_to_end::mock::Mock)
}
