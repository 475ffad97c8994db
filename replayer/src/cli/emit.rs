//! `emit`: the SPIR-V of a dispatch.

use std::{
    fmt::Write as _,
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
    sync::Arc,
};

use capture_format::{Dispatch, Source, open};
use clap::Args;
use rspirv::binary::Disassemble as _;

use super::{
    Context,
    capture::device_selection,
    console::write_bytes,
    exit::{Exit, Failure, OrExit as _},
    place::{check_apart, check_file, replace_file},
};
use crate::{
    emulated::{self, ModuleKey, Slot, specialization::ROW_WORDS},
    execute::{
        Module,
        vulkan::{BoundTexels, Statistic, VulkanOptions, compile_statistics},
    },
    native,
    path::Path,
    rules::Profile,
    table::Parts,
};

/// Emit the SPIR-V module that the emulated path runs for a dispatch
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer emit a.texeltrace --dispatch ties --text\n  replayer emit a.texeltrace -o ties.spv && spirv-val --target-env vulkan1.1 ties.spv"
)]
pub(super) struct EmitArguments {
    /// The trace or case
    trace: PathBuf,
    /// The dispatch, by number (from 0) or name
    #[arg(long, value_name = "N|NAME", default_value = "0")]
    dispatch: String,
    /// The rules of this hardware; without it, those that the oracle follows
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Print a disassembly, with the values of the specialization constants
    #[arg(long)]
    text: bool,
    /// Print what a Vulkan device's compiler says of the module: instructions, registers, size, as far as it says so
    #[arg(long)]
    statistics: bool,
    /// The path whose module it is: emulated, as-submitted, or native (the device's own sampler)
    #[arg(long, value_name = "PATH", default_value = "emulated")]
    path: Path,
    /// The Vulkan device for --statistics, by its number in `devices` or a part of its name
    #[arg(long, value_name = "N|NAME")]
    device: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(arguments: &EmitArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if let Some(path) = &arguments.output {
        check_file("--output", path)?;
        check_apart("--output", path, [&arguments.trace])?;
    }
    let source = open(&arguments.trace).or_input()?;
    let dispatch = find_dispatch(&source, &arguments.dispatch)?;
    let name = arguments.profile.as_deref().unwrap_or(&source.oracle().profile);
    let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
    let profile = Profile::by_name(name)
        .ok_or_else(|| Failure::usage(format!("profile {name:?}: expected one of {} (--profile)", known.join(", "))))?;
    let profile = match arguments.path {
        Path::Emulated | Path::Native => profile,
        Path::AsSubmitted => Profile::AS_SUBMITTED,
        other => {
            let name = other.name();
            return Err(Failure::usage(format!(
                "--path {name} runs no module; expected emulated, as-submitted or native"
            )));
        }
    };
    let refused = |refusal: &dyn std::fmt::Display| {
        anyhow::anyhow!("{}: {}: refused: {refusal}", arguments.trace.display(), dispatch.name)
    };
    if arguments.path == Path::Native {
        let (module, sampled) = native::module_of(&dispatch).map_err(|failure| refused(&failure)).or_input()?;
        let texels = if sampled { BoundTexels::Sampled } else { BoundTexels::Image };
        return write(
            arguments,
            context,
            &source,
            &dispatch,
            &Emitted { module, specialization: Vec::new(), texels, by: "native path".to_owned() },
        );
    }
    let parts = Parts::new(&dispatch).map_err(|refusal| refused(&refusal)).or_input()?;
    let states = parts.states(&profile.rules).map_err(|refusal| refused(&refusal)).or_input()?;
    let key = ModuleKey::of_parts(&parts, &states, profile.rules);
    let key = key.ok_or_else(|| anyhow::anyhow!("{}: no module serves all states", dispatch.name))?;
    let module = emulated::module(&key)?;
    let mut by = format!("profile {}", profile.name);
    let (specialization, texels) = match states.as_slice() {
        [state] if !key.table => (emulated::specialize(state), BoundTexels::Image),
        _ => {
            by += &format!(", table form with {} states in rows of {ROW_WORDS} words", states.len());
            (emulated::specialize_table(&states), BoundTexels::Buffers)
        }
    };
    write(arguments, context, &source, &dispatch, &Emitted { module, specialization, texels, by })
}

/// A module with what it runs with.
struct Emitted {
    module: Arc<Module>,
    specialization: Vec<(u32, u32)>,
    /// What it reads texels from.
    texels: BoundTexels,
    /// By what rules it samples.
    by: String,
}

fn write(
    arguments: &EmitArguments,
    context: &mut Context<'_>,
    source: &Source,
    dispatch: &Dispatch,
    emitted: &Emitted,
) -> Result<Exit, Failure> {
    let Emitted { module, specialization, texels, .. } = emitted;
    if arguments.statistics {
        let selection = device_selection(arguments.device.as_deref());
        let options = VulkanOptions::default();
        let statistics = compile_statistics(&selection, &options, module, emulated::ENTRY, specialization, *texels)?;
        for Statistic { name, value } in statistics {
            writeln!(context.out, "{value:>12}  {name}")?;
        }
        return Ok(Exit::Success);
    }
    if arguments.text {
        let parsed = rspirv::dr::load_words(&module.words)
            .map_err(|error| anyhow::anyhow!("the module does not parse: {error}"))?;
        let mut text = String::new();
        writeln!(text, "; {} {}, {}, entry point {}", source.name(), dispatch.name, emitted.by, emulated::ENTRY)?;
        for &(id, value) in specialization {
            let slot = Slot::ALL.iter().find(|&&slot| slot as u32 == id).map_or("common", |slot| slot.name());
            writeln!(text, "; SpecId {id} = {value} ({value:#x}) {slot}")?;
        }
        text += &parsed.disassemble();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        match &arguments.output {
            Some(path) => replace_file(path, |file| Ok(file.write_all(text.as_bytes())?))?,
            None => context.out.write_all(text.as_bytes())?,
        }
        return Ok(Exit::Success);
    }
    let bytes: Vec<u8> = module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match &arguments.output {
        Some(path) => replace_file(path, |file| Ok(file.write_all(&bytes)?))?,
        None if std::io::stdout().is_terminal() => {
            return Err(Failure::usage(
                "a module is binary: expected -o FILE, --text, or standard output that is no terminal",
            ));
        }
        None => write_bytes(&bytes)?,
    }
    Ok(Exit::Success)
}

/// The sample dispatch of that number or name.
pub(super) fn find_dispatch(source: &Source, text: &str) -> Result<Dispatch, Failure> {
    source.dispatch(find_index(source, text)?).or_input()
}

/// The number of the dispatch of that number or name.
pub(super) fn find_index(source: &Source, text: &str) -> Result<usize, Failure> {
    let index = match (source.position(text), text.parse::<usize>()) {
        (Some(index), _) => index,
        (None, Ok(index)) if index < source.len() => index,
        _ => {
            let names = source.names();
            let shown: Vec<_> = names.iter().take(8).copied().collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            let path = source.path().display();
            return Err(Failure::usage(format!(
                "{path}: no dispatch {text:?}, expected a number below {} or one of {}{more}",
                names.len(),
                shown.join(", ")
            )));
        }
    };
    Ok(index)
}
