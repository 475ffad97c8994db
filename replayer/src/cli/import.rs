//! `import`: what other tools measured, as traces.

use clap::{Args, Subcommand};

use super::{
    Context,
    exit::{Exit, Failure},
    hw_oracle::{ImportKitArguments, import_kit},
};

/// Read what other tools measured, as traces
#[derive(Debug, Args)]
pub(super) struct ImportArguments {
    #[command(subcommand)]
    form: Form,
}

#[derive(Debug, Subcommand)]
enum Form {
    HwOracle(ImportKitArguments),
}

pub(super) fn run(arguments: &ImportArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match &arguments.form {
        Form::HwOracle(arguments) => import_kit(arguments, context),
    }
}
