//! `info`: what a trace holds.

use std::{
    collections::{BTreeMap, BTreeSet},
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
use crate::{recorded::describe, text::counted};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// Show what a trace holds: records, dispatches, every field of S# and T# with its bits
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer info ties.texeltrace\n  replayer info ties.texeltrace --dispatch off-grid --json\n  replayer info bindless.texeltrace --descriptor 'T#[17]' --descriptor 'S#[3]'"
)]
pub(super) struct InfoArguments {
    /// The trace or case
    trace: PathBuf,
    /// Only this dispatch, by number (from 0) or name
    #[arg(long, value_name = "N|NAME")]
    dispatch: Option<String>,
    /// Show an entry of a table of descriptors in full, as T#[N] or S#[N]; of a table, only what its entries hold is shown
    /// otherwise. May be given several times
    #[arg(long, value_name = "T#[N]|S#[N]", value_parser = parse_entry)]
    descriptor: Vec<TableEntry>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An entry of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableEntry {
    kind: Kind,
    number: usize,
}

/// Which descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Image,
    Sampler,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "T#",
            Self::Sampler => "S#",
        }
    }

    fn fields(self) -> &'static [Field] {
        match self {
            Self::Image => ImageDescriptor::FIELDS,
            Self::Sampler => SamplerDescriptor::FIELDS,
        }
    }

    /// The words of each entry.
    fn table(self, dispatch: &Dispatch) -> Vec<&[u32]> {
        match self {
            Self::Image => dispatch.images().map(|(words, _)| words.as_slice()).collect(),
            Self::Sampler => dispatch.samplers().map(|words| words.as_slice()).collect(),
        }
    }

    /// Samples that use each entry.
    fn uses(self, dispatch: &Dispatch) -> Vec<u64> {
        let mut uses = vec![0; self.table(dispatch).len()];
        for entries in (0..dispatch.coords.rows()).filter_map(|sample| dispatch.entries_of(sample)) {
            let entry = match self {
                Self::Image => entries.image,
                Self::Sampler => entries.sampler,
            };
            if let Some(count) = uses.get_mut(entry as usize) {
                *count += 1;
            }
        }
        uses
    }
}

/// `T#[17]`, as refusals name an entry, or `T#17`.
fn parse_entry(text: &str) -> Result<TableEntry, String> {
    let split = text.get(..2).zip(text.get(2..));
    let (kind, rest) = match split {
        Some(("T#", rest)) => (Kind::Image, rest),
        Some(("S#", rest)) => (Kind::Sampler, rest),
        _ => return Err("expected T#[N] or S#[N]".to_owned()),
    };
    let number = rest.strip_prefix('[').map_or(Some(rest), |rest| rest.strip_suffix(']'));
    let number = number.and_then(|number| number.parse().ok()).ok_or("expected T#[N] or S#[N]")?;
    Ok(TableEntry { kind, number })
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
            Some(dispatch) => dispatches.push(recorded_json(dispatch, &arguments.descriptor)),
            None => {
                for index in 0..source.len() {
                    match source.recorded(index) {
                        Ok(dispatch) => dispatches.push(recorded_json(&dispatch, &arguments.descriptor)),
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
            Some(dispatch) => write_recorded(&mut context.out.buffered(), dispatch, &arguments.descriptor)?,
            None => {
                sound &= write_trace(&mut context.out.buffered(), &source)?;
                for index in 0..source.len() {
                    if context.out.is_closed() {
                        return closed();
                    }
                    match source.recorded(index) {
                        Ok(dispatch) => {
                            write_recorded(&mut context.out.buffered(), &dispatch, &arguments.descriptor)?;
                        }
                        Err(error) => {
                            sound = false;
                            writeln!(context.out, "\n{BOLD}dispatch {index}{BOLD:#}: {error}")?;
                        }
                    }
                }
            }
        }
    }
    if sound {
        return Ok(Exit::Success);
    }
    Err(anyhow::anyhow!("{}: parts of it are damaged or lost, the list says which", arguments.trace.display()))
        .or_input()
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
    writeln!(out, "  holds    {}", counted(source.len(), "dispatch"))?;
    let mut sound = true;
    if let Source::Packed(reader) = source {
        writeln!(out, "  format   container version {}", reader.version())?;
        if let Some(recovery) = reader.recovery() {
            writeln!(out, "  damage   {recovery}")?;
            sound &= recovery.lost.is_empty();
            // The line above names the first.
            for lost in recovery.lost.iter().skip(1) {
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

fn write_recorded(out: &mut dyn Write, dispatch: &Recorded, shown: &[TableEntry]) -> io::Result<()> {
    match dispatch {
        Recorded::Sample(dispatch) => write_dispatch(out, dispatch, shown),
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

fn write_dispatch(out: &mut dyn Write, dispatch: &Dispatch, shown: &[TableEntry]) -> io::Result<()> {
    let [x, y, z] = dispatch.grid;
    let columns: Vec<_> = dispatch.coords.columns.iter().map(|c| c.name()).collect();
    writeln!(out, "\n{BOLD}{}{BOLD:#}  {}", dispatch.name, dispatch.op)?;
    writeln!(out, "  grid     {x}×{y}×{z}, {}", counted(dispatch.sample_count(), "sample"))?;
    match dispatch.image_count() {
        1 => writeln!(out, "  texels   {} words", dispatch.texels.len())?,
        images => writeln!(out, "  texels   {} words in {images} images", dispatch.texel_words())?,
    }
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
            writeln!(
                out,
                "  expected {}; measured: X {x}, Y {y}, Z {z}, W {w}",
                counted(expected.words.len() / 4, "sample")
            )?;
        }
    }
    for (number, row) in dispatch.border_table.iter().enumerate() {
        writeln!(out, "  border   {number}: {}", hex(row))?;
    }
    for kind in [Kind::Image, Kind::Sampler] {
        match kind.table(dispatch).as_slice() {
            [] => {}
            [words] => write_fields(out, kind.name(), words, kind.fields())?,
            table => write_table(out, kind, table, dispatch)?,
        }
    }
    for entry in shown.iter().filter(|entry| entry.kind.table(dispatch).len() > 1) {
        match entry.kind.table(dispatch).get(entry.number) {
            Some(words) => {
                let uses = entry.kind.uses(dispatch)[entry.number];
                let title = format!("{}[{}]", entry.kind.name(), entry.number);
                writeln!(out, "  {title} used by {}", counted(uses, "sample"))?;
                write_fields(out, &title, words, entry.kind.fields())?;
            }
            None => writeln!(out, "  {}[{}] is not there", entry.kind.name(), entry.number)?,
        }
    }
    Ok(())
}

/// Values of a field that are listed one by one.
const LISTED_VALUES: usize = 6;

/// What the entries of a table hold, a line a field.
fn write_table(out: &mut dyn Write, kind: Kind, table: &[&[u32]], dispatch: &Dispatch) -> io::Result<()> {
    let used = kind.uses(dispatch).iter().filter(|&&count| count > 0).count();
    let distinct = table.iter().collect::<BTreeSet<_>>().len();
    let name = kind.name();
    writeln!(out, "  {name}       table of {} entries, {used} in use, {distinct} distinct", table.len())?;
    for field in kind.fields() {
        let mut values: BTreeMap<u32, usize> = BTreeMap::new();
        for words in table {
            *values.entry(field.extract(words)).or_default() += 1;
        }
        if field.is_reserved() && values.keys().all(|&value| value == 0) {
            continue;
        }
        let text = match (values.len(), values.first_key_value(), values.last_key_value()) {
            (1, Some((&value, _)), _) => field.describe(value),
            (2..=LISTED_VALUES, ..) => {
                let listed = values.iter().map(|(&value, count)| format!("{} ({count}×)", field.describe(value)));
                listed.collect::<Vec<_>>().join(", ")
            }
            (count, Some((&least, _)), Some((&most, _))) => {
                format!("{count} values, {} to {}", field.describe(least), field.describe(most))
            }
            _ => String::new(),
        };
        writeln!(out, "    {:12} {:28} {text}", field.bits_text(), field.name)?;
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

fn recorded_json(dispatch: &Recorded, shown: &[TableEntry]) -> Value {
    match dispatch {
        Recorded::Sample(dispatch) => dispatch_json(dispatch, shown),
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

/// The descriptors of a kind: the one there is under `single`, or the entries of a table under `table`.
fn put_descriptors(all: &mut Value, kind: Kind, [single, table]: [&str; 2], dispatch: &Dispatch, shown: &[TableEntry]) {
    let fields = |words: &[u32]| json!({ "words": words, "fields": fields_json(words, kind.fields()) });
    let entries = kind.table(dispatch);
    if entries.len() < 2 {
        all[single] = entries.first().map_or(Value::Null, |words| fields(words));
        return;
    }
    let uses = kind.uses(dispatch);
    let entry = |(number, words): (usize, &&[u32])| {
        let mut one =
            if shown.contains(&TableEntry { kind, number }) { fields(words) } else { json!({ "words": words }) };
        one["samples"] = uses[number].into();
        if kind == Kind::Image {
            one["texel_words"] = dispatch.image_at(number).map(|(_, texels)| texels.len()).into();
        }
        one
    };
    all[table] = entries.iter().enumerate().map(entry).collect();
}

fn dispatch_json(dispatch: &Dispatch, shown: &[TableEntry]) -> Value {
    let columns: Vec<_> = dispatch.coords.columns.iter().map(|c| c.name()).collect();
    let mut all = json!({
        "name": dispatch.name,
        "op": dispatch.op.to_string(),
        "grid": dispatch.grid,
        "samples": dispatch.sample_count(),
        "dmask": dispatch.dmask,
        "texel_words": dispatch.texel_words(),
        "columns": columns,
        "rows": dispatch.coords.rows(),
        "border_table": dispatch.border_table,
        "has_expected": dispatch.expected.is_some(),
    });
    put_descriptors(&mut all, Kind::Image, ["image", "images"], dispatch, shown);
    put_descriptors(&mut all, Kind::Sampler, ["sampler", "samplers"], dispatch, shown);
    all
}

fn fields_json(words: &[u32], fields: &[Field]) -> Vec<Value> {
    let one = |field: &Field| {
        let value = field.extract(words);
        json!({ "name": field.name, "bits": field.bits_text(), "value": value, "text": field.describe(value) })
    };
    fields.iter().map(one).collect()
}
