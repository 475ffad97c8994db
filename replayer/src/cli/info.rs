//! `info`: what a trace holds.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anstyle::Style;
use capture_format::{
    BoundResource, ComputeBinding, ComputeDispatch, Dispatch, Field, ImageDescriptor, Recorded, SamplerDescriptor,
    Source, Words, open,
};
use clap::Args;
use serde_json::{Value, json};

use super::{
    Context,
    emit::find_index,
    exit::{Exit, Failure, OrExit as _},
};
use crate::recorded::describe;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Show what a trace holds: records, dispatches, every field of S# and T# with its bits
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer info ties.texeltrace\n  replayer info ties.texeltrace --dispatch off-grid --json"
)]
pub(super) struct InfoArguments {
    /// The trace or case
    trace: PathBuf,
    /// Only this dispatch, by number (from 0) or name
    #[arg(long, value_name = "N|NAME")]
    dispatch: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &InfoArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let source = open(&arguments.trace).or_input()?;
    let one = arguments.dispatch.as_deref().map(|text| find_index(&source, text)).transpose()?;
    let one = one.map(|index| source.recorded(index).or_input()).transpose()?;
    let closed = || Ok(Exit::Success);
    let mut sound = true;
    if arguments.json {
        let mut dispatches = Vec::new();
        match &one {
            Some(dispatch) => dispatches.push(recorded_json(dispatch)),
            None => {
                for index in 0..source.len() {
                    match source.recorded(index) {
                        Ok(dispatch) => dispatches.push(recorded_json(&dispatch)),
                        Err(error) => {
                            sound = false;
                            dispatches.push(json!({ "name": source.names().get(index), "error": error.to_string() }));
                        }
                    }
                }
            }
        }
        let mut all = trace_json(&source);
        all["dispatches"] = dispatches.into();
        sound &= all["problems"].as_array().is_none_or(Vec::is_empty);
        let mut out = context.out.buffered();
        serde_json::to_writer_pretty(&mut out, &all)?;
        writeln!(out)?;
        out.flush()?;
    } else {
        match &one {
            Some(dispatch) => write_recorded(&mut context.out.buffered(), dispatch)?,
            None => {
                sound &= write_trace(&mut context.out.buffered(), &source)?;
                for index in 0..source.len() {
                    if context.out.is_closed() {
                        return closed();
                    }
                    match source.recorded(index) {
                        Ok(dispatch) => write_recorded(&mut context.out.buffered(), &dispatch)?,
                        Err(error) => {
                            sound = false;
                            writeln!(context.out, "\n{BOLD}dispatch {index}{BOLD:#}: {error}")?;
                        }
                    }
                }
            }
        }
    }
    Ok(if sound { Exit::Success } else { Exit::Input })
}

/// Writes what is not in a dispatch. Whether the file is sound.
fn write_trace(out: &mut dyn Write, source: &Source) -> io::Result<bool> {
    let (meta, oracle) = (source.meta(), source.oracle());
    writeln!(out, "{BOLD}{}{BOLD:#}  {}", source.name(), meta.summary)?;
    writeln!(out, "  file     {}", source.path().display())?;
    writeln!(out, "  oracle   {}, profile {}, {}", oracle.device, oracle.profile, oracle.source)?;
    if !oracle.note.is_empty() {
        writeln!(out, "  note     {}", oracle.note)?;
    }
    writeln!(out, "  holds    {} dispatches", source.len())?;
    let mut sound = true;
    if let Source::Packed(reader) = source {
        writeln!(out, "  format   container version {}", reader.version())?;
        if let Some(recovery) = reader.recovery() {
            writeln!(out, "  damage   {recovery}")?;
            for lost in &recovery.lost {
                sound = false;
                writeln!(out, "           {lost}")?;
            }
        }
        writeln!(out, "\n  {DIM}{:>12}  {:20} {:>12} {:>12}{DIM:#}", "offset", "record", "stored", "unpacked")?;
        for record in reader.records() {
            let kind = record.kind.to_string();
            let packed = if record.compressed { "  zstd" } else { "" };
            let (offset, stored, unpacked) = (record.offset, record.stored_bytes, record.unpacked_bytes);
            write!(out, "  {offset:>12}  {kind:20} {stored:>12} {unpacked:>12}{packed}")?;
            if let Some(problem) = &record.problem {
                sound = false;
                write!(out, "  {problem}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(sound)
}

fn write_recorded(out: &mut dyn Write, dispatch: &Recorded) -> io::Result<()> {
    match dispatch {
        Recorded::Sample(dispatch) => write_dispatch(out, dispatch),
        Recorded::Compute(dispatch) => write_compute(out, dispatch),
    }
}

fn write_compute(out: &mut dyn Write, dispatch: &ComputeDispatch) -> io::Result<()> {
    let [x, y, z] = dispatch.groups;
    let ended = if dispatch.ended { "" } else { ", not ended" };
    writeln!(out, "\n{BOLD}{}{BOLD:#}  compute dispatch{ended}", dispatch.name)?;
    for label in &dispatch.labels {
        writeln!(out, "  label    {label}")?;
    }
    writeln!(out, "  module   {} words of SPIR-V, entry point {}", dispatch.module.len(), dispatch.entry)?;
    writeln!(out, "  groups   {x}×{y}×{z}")?;
    for constant in &dispatch.specialization {
        let digits = 2 + 2 * usize::from(constant.bytes);
        writeln!(out, "  constant {}: {:#0digits$x}", constant.id, constant.value)?;
    }
    if !dispatch.push_constants.is_empty() {
        writeln!(out, "  push     {}", hex(&dispatch.push_constants))?;
    }
    if let Some(hash) = dispatch.guest_shader.hash {
        writeln!(out, "  guest    shader {hash:#018x}, {} words of machine code", dispatch.guest_shader.isa.len())?;
    }
    for binding in &dispatch.bindings {
        write_binding(out, binding)?;
    }
    Ok(())
}

fn write_binding(out: &mut dyn Write, binding: &ComputeBinding) -> io::Result<()> {
    writeln!(out, "  {binding}: {}", describe(binding))?;
    let held =
        |words: Option<&Words>| words.map_or("not recorded".to_owned(), |words| format!("{} words", words.len()));
    let (before, after) = binding.contents();
    if binding.content_words().is_some() || before.is_some() {
        writeln!(out, "    before {}", held(before))?;
    }
    if binding.is_output() {
        writeln!(out, "    output {}", held(after))?;
    }
    match &binding.resource {
        BoundResource::Image(image) => {
            if let Some(words) = &image.descriptor {
                write_fields(out, "T#", words, ImageDescriptor::FIELDS)?;
            }
            if let Some(words) = &image.sampler {
                write_fields(out, "S#", words, SamplerDescriptor::FIELDS)?;
            }
        }
        BoundResource::Sampler(sampler) => {
            if let Some(words) = &sampler.descriptor {
                write_fields(out, "S#", words, SamplerDescriptor::FIELDS)?;
            }
        }
        BoundResource::Buffer(buffer) => {
            if let Some(words) = &buffer.descriptor {
                writeln!(out, "    V#     {}", hex(words))?;
            }
        }
    }
    Ok(())
}

fn write_dispatch(out: &mut dyn Write, dispatch: &Dispatch) -> io::Result<()> {
    let [x, y, z] = dispatch.grid;
    let columns: Vec<_> = dispatch.coords.columns.iter().map(|c| c.name()).collect();
    writeln!(out, "\n{BOLD}{}{BOLD:#}  {}", dispatch.name, dispatch.op)?;
    writeln!(out, "  grid     {x}×{y}×{z}, {} samples", dispatch.sample_count())?;
    writeln!(out, "  texels   {} words", dispatch.texels.len())?;
    writeln!(out, "  coords   {} rows of {}", dispatch.coords.rows(), columns.join(" "))?;
    if let Some(dmask) = dispatch.dmask {
        writeln!(out, "  DMASK    {dmask:#x}")?;
    }
    match &dispatch.expected {
        None => writeln!(out, "  expected none")?,
        Some(expected) => {
            let counts = [0, 1, 2, 3].map(|channel| {
                let samples = expected.words.len() / 4;
                (0..samples).filter(|&i| expected.measured_channels(i) >> channel & 1 == 1).count()
            });
            let [x, y, z, w] = counts;
            writeln!(out, "  expected {} samples; measured: X {x}, Y {y}, Z {z}, W {w}", expected.words.len() / 4)?;
        }
    }
    for (number, row) in dispatch.border_table.iter().enumerate() {
        writeln!(out, "  border   {number}: {}", hex(row))?;
    }
    write_fields(out, "T#", &dispatch.image, ImageDescriptor::FIELDS)?;
    if let Some(sampler) = &dispatch.sampler {
        write_fields(out, "S#", sampler, SamplerDescriptor::FIELDS)?;
    }
    Ok(())
}

fn hex(words: &[u32]) -> String {
    words.iter().map(|word| format!("{word:#010x}")).collect::<Vec<_>>().join(" ")
}

fn write_fields(out: &mut dyn Write, title: &str, words: &[u32], fields: &[Field]) -> io::Result<()> {
    writeln!(out, "  {title}       {}", hex(words))?;
    for field in fields {
        let value = field.extract(words);
        // Reserved bits are of interest only when something is in them.
        if !field.is_reserved() || value != 0 {
            writeln!(out, "    {:12} {:28} {}", field.bits_text(), field.name, field.describe(value))?;
        }
    }
    Ok(())
}

fn trace_json(source: &Source) -> Value {
    let (meta, oracle) = (source.meta(), source.oracle());
    let mut all = json!({
        "schema": 1,
        "file": source.path().display().to_string(),
        "name": source.name(),
        "summary": meta.summary,
        "oracle": {
            "device": oracle.device,
            "profile": oracle.profile,
            "source": oracle.source.name(),
            "note": oracle.note,
        },
    });
    if let Source::Packed(reader) = source {
        let mut problems: Vec<String> =
            reader.recovery().iter().flat_map(|r| &r.lost).map(ToString::to_string).collect();
        let mut records = Vec::new();
        for record in reader.records() {
            records.push(json!({
                "offset": record.offset,
                "kind": record.kind.to_string(),
                "stored_bytes": record.stored_bytes,
                "unpacked_bytes": record.unpacked_bytes,
                "compressed": record.compressed,
            }));
            problems.extend(record.problem.map(|problem| problem.to_string()));
        }
        all["version"] = reader.version().into();
        all["records"] = records.into();
        all["recovery"] = reader.recovery().map(ToString::to_string).into();
        all["problems"] = problems.into();
    }
    all
}

fn recorded_json(dispatch: &Recorded) -> Value {
    match dispatch {
        Recorded::Sample(dispatch) => dispatch_json(dispatch),
        Recorded::Compute(dispatch) => compute_json(dispatch),
    }
}

fn compute_json(dispatch: &ComputeDispatch) -> Value {
    let constants = dispatch.specialization.iter();
    let bindings = dispatch.bindings.iter().map(|binding| {
        let (before, after) = binding.contents();
        let words = |words: Option<&Words>| words.map(|words| words.len());
        let (image, sampler, buffer) = match &binding.resource {
            BoundResource::Image(image) => (image.descriptor, image.sampler, None),
            BoundResource::Sampler(sampler) => (None, sampler.descriptor, None),
            BoundResource::Buffer(buffer) => (None, None, buffer.descriptor),
        };
        json!({
            "set": binding.set,
            "binding": binding.binding,
            "element": binding.element,
            "text": describe(binding),
            "output": binding.is_output(),
            "before_words": words(before),
            "after_words": words(after),
            "image": image.map(|words| json!({ "words": words, "fields": fields_json(&words, ImageDescriptor::FIELDS) })),
            "sampler": sampler
                .map(|words| json!({ "words": words, "fields": fields_json(&words, SamplerDescriptor::FIELDS) })),
            "buffer": buffer,
        })
    });
    json!({
        "name": dispatch.name,
        "kind": "compute",
        "ended": dispatch.ended,
        "labels": dispatch.labels,
        "module_words": dispatch.module.len(),
        "entry": dispatch.entry,
        "groups": dispatch.groups,
        "specialization": constants
            .map(|c| json!({ "id": c.id, "value": c.value, "bytes": c.bytes }))
            .collect::<Vec<_>>(),
        "push_constants": dispatch.push_constants.as_slice(),
        "shader_hash": dispatch.guest_shader.hash.map(|hash| format!("{hash:#018x}")),
        "isa_words": dispatch.guest_shader.isa.len(),
        "bindings": bindings.collect::<Vec<_>>(),
    })
}

fn dispatch_json(dispatch: &Dispatch) -> Value {
    let columns: Vec<_> = dispatch.coords.columns.iter().map(|c| c.name()).collect();
    json!({
        "name": dispatch.name,
        "op": dispatch.op.to_string(),
        "grid": dispatch.grid,
        "samples": dispatch.sample_count(),
        "dmask": dispatch.dmask,
        "texel_words": dispatch.texels.len(),
        "columns": columns,
        "rows": dispatch.coords.rows(),
        "border_table": dispatch.border_table,
        "has_expected": dispatch.expected.is_some(),
        "image": { "words": dispatch.image, "fields": fields_json(&dispatch.image, ImageDescriptor::FIELDS) },
        "sampler": dispatch
            .sampler
            .map(|words| json!({ "words": words, "fields": fields_json(&words, SamplerDescriptor::FIELDS) })),
    })
}

fn fields_json(words: &[u32], fields: &[Field]) -> Vec<Value> {
    let one = |field: &Field| {
        let value = field.extract(words);
        json!({ "name": field.name, "bits": field.bits_text(), "value": value, "text": field.describe(value) })
    };
    fields.iter().map(one).collect()
}
