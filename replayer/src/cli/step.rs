//! `step`: each instruction that the emulated path's shader executes for one sample.

use std::{io::Write as _, path::PathBuf};

use capture_format::open;
use clap::Args;

use super::{
    Context,
    emit::find_dispatch,
    exit::{Exit, Failure, OrExit as _},
    explain::{known_profile, parse_position, sample_number},
};
use crate::{
    emulated::section::Section,
    path::{self, Path},
    step::{StepFilter, TraceJson, render_steps, trace_sample},
};

/// Step through the shader for one sample: each instruction with its values, and the rule it was emitted for
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer step a.texeltrace --dispatch ties --sample 1,0,0\n  replayer step a.texeltrace --sample 1 --section weight-rounding --section position\n  replayer step a.texeltrace --sample 1 --op ImageFetch --json"
)]
pub(super) struct StepArguments {
    /// The trace or case
    trace: PathBuf,
    /// The dispatch, by number (from 0) or name
    #[arg(long, value_name = "N|NAME", default_value = "0")]
    dispatch: String,
    /// The sample's place in the grid
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_position)]
    sample: [u32; 3],
    /// emulated, or as-submitted: the paths that run generated SPIR-V
    #[arg(long, value_name = "PATH", default_value = "emulated")]
    path: Path,
    /// The rules of this hardware: gfx1035, h200, exact or lavapipe; without it, those that the oracle follows
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only what belongs to this rule or stage; may be given again
    #[arg(long, value_name = "RULE|STAGE", value_parser = parse_section, help_heading = "Selection")]
    section: Vec<Section>,
    /// Only opcodes whose name contains this
    #[arg(long, value_name = "TEXT", help_heading = "Selection")]
    op: Option<String>,
    /// Only steps with a result or operand of a name that contains this, or of this id
    #[arg(long, value_name = "TEXT|%ID", help_heading = "Selection")]
    name: Option<String>,
    /// Only steps from this number on
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Selection")]
    from: usize,
    /// At most so many steps
    #[arg(long, value_name = "N", help_heading = "Selection")]
    count: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_section(text: &str) -> Result<Section, String> {
    Section::by_name(text).ok_or_else(|| {
        let known: Vec<_> = Section::all().map(Section::name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

pub(super) fn run(arguments: StepArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let source = open(&arguments.trace).or_input()?;
    let dispatch = find_dispatch(&source, &arguments.dispatch)?;
    let profile = known_profile(arguments.profile.as_deref().unwrap_or(&source.oracle().profile))?;
    if !matches!(arguments.path, Path::Emulated | Path::AsSubmitted) {
        return Err(Failure::usage(format!(
            "--path {}: expected emulated or as-submitted, which run generated SPIR-V",
            arguments.path
        )));
    }
    let sample = sample_number(&dispatch, arguments.sample)?;
    let trace = match trace_sample(&dispatch, arguments.path, &profile, sample) {
        Ok(trace) => trace,
        Err(failure @ path::Failure::Refused(_)) => {
            return Err(anyhow::anyhow!("{}: {}: {failure}", arguments.trace.display(), dispatch.name)).or_input();
        }
        Err(path::Failure::Execute(error)) => return Err(anyhow::Error::from(error).into()),
    };
    let StepArguments { section, op, name, from, count, json, .. } = arguments;
    let filter = StepFilter { sections: section, opcode: op, name, from, count };
    let mut out = context.out.buffered();
    if json {
        serde_json::to_writer_pretty(&mut out, &TraceJson::new(&trace, &filter))?;
        writeln!(out)?;
    } else {
        out.write_all(render_steps(&trace, &filter).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Success)
}
