//! Making and writing kits.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use capture_format::{
    CaseError, CaseOptions, Column, Dispatch, ImageDescriptor, LodSource, OpKind, SamplerDescriptor, Trace,
    bits::Field, write_case,
};

use super::{
    body::{Offsets, body},
    layout::Linear,
};
use crate::{
    materialise::materialise, reference::texel_count_refusal, refusal::Refusal, rules::Profile, state::State,
    table::tables_refused,
};

/// The most rows of a run.
const MAX_ROWS: usize = 1024;

/// Lanes of a wave, to a multiple of which the oracle fills up the rows.
const WAVE: usize = 32;

/// The modes that the oracle wants, with the values that shaders of emulators run under: FP32 and FP16 denormals kept,
/// rounding to nearest, IEEE 0.
pub const MODES: [(&str, u32, u32); 7] = [
    ("--ieee", 0, 1),
    ("--denorm32", 3, 3),
    ("--denorm16", 3, 3),
    ("--dx10-clamp", 1, 1),
    ("--round32", 0, 3),
    ("--round16", 0, 3),
    ("--fp16-overflow", 0, 1),
];

/// One start of the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Text of the rows, a line a row.
    pub rows: String,
    /// The extra bytes.
    pub extra: Vec<u8>,
    /// Samples in it; the rows beyond are fillers.
    pub samples: usize,
}

/// All that is needed to measure a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kit {
    /// The assembly.
    pub body: String,
    /// The runs, in the order of the samples.
    pub runs: Vec<Run>,
    /// Rows of every run.
    pub rows: usize,
}

/// Why kits could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The dispatch holds what a kit can not express.
    #[error("dispatch {dispatch:?}: refused: {refusal}")]
    Refused {
        /// Name of the dispatch.
        dispatch: String,
        /// What is in the way.
        refusal: Refusal,
    },
    /// The case could not be written.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A file could not be written.
    #[error("{}: cannot write: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

fn part(field: &str, value: impl ToString, reason: &str) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value: value.to_string(), reason: reason.to_owned() }
}

fn field(descriptor: &str, words: &[u32], which: &Field, reason: &str) -> Refusal {
    Refusal {
        field: format!("{descriptor}.{}", which.name),
        bits: Some(which.bits_text()),
        value: which.describe(which.extract(words)),
        reason: reason.to_owned(),
    }
}

/// Makes the kit of a dispatch.
///
/// # Errors
/// What is not modelled at all, what depends on a GPU's registers (the border colour table), on the lanes beside (LODs from
/// quads), or on a memory layout other than linear (compression).
pub fn export(dispatch: &Dispatch) -> Result<Kit, Refusal> {
    let op = dispatch.op;
    if dispatch.is_table() {
        return Err(tables_refused(
            dispatch,
            "the code of a kit samples with one T# and one S#; a case of one pair can be exported",
        ));
    }
    // The hardware decides what a field means; the profile here only finds the operands and sizes.
    let state = materialise(dispatch, &Profile::GFX1035.rules)?;
    if matches!(op.lod, LodSource::Implicit | LodSource::Bias) {
        return Err(part("op", op, "a LOD from the quad's coordinates is not expressed; _l, _lz and _d are"));
    }
    let image = ImageDescriptor::from_words(dispatch.image);
    for which in [&ImageDescriptor::COMPRESSION_EN, &ImageDescriptor::BIG_PAGE] {
        if which.extract(&dispatch.image) != 0 {
            return Err(field("T#", &dispatch.image, which, "a kit's image is plain linear memory"));
        }
    }
    if state.table_border && state.uses_border() {
        let words = dispatch.sampler.unwrap_or_default();
        let which = &SamplerDescriptor::BORDER_COLOR_TYPE;
        return Err(field("S#", &words, which, "the border colour table is found by a register that a kit can't set"));
    }
    if dispatch.texels.len() as u64 != state.extent.texels() {
        return Err(texel_count_refusal(&state.extent, dispatch.texels.len()));
    }
    let order = operand_order(&state, &dispatch.coords.columns)?;
    let places: Vec<usize> = order.iter().filter_map(|&column| dispatch.coords.index_of(column)).collect();
    let samples: Vec<Vec<u32>> = dispatch
        .coords
        .words
        .chunks_exact(dispatch.coords.columns.len())
        .map(|row| places.iter().map(|&place| operand(op.kind, row[place])).collect())
        .collect();
    let further = order.len().saturating_sub(4);
    let most = if further > 0 { WAVE } else { MAX_ROWS };
    let rows = if samples.len() > most { most } else { samples.len().next_multiple_of(WAVE) };

    let memory = Linear::new(&state.extent)?.place(&dispatch.texels);
    let start = rows as u32 * 16;
    let further_at = start + 48;
    let offsets = Offsets {
        descriptors: start,
        further: further_at,
        image: (further_at + (rows * further * 4) as u32).next_multiple_of(256),
    };
    let mut descriptors = linear(image)?.words().to_vec();
    descriptors.extend(dispatch.sampler.unwrap_or_default());
    let runs = samples.chunks(rows.max(1)).map(|chunk| run(chunk, rows, &offsets, &descriptors, &memory)).collect();
    let dmask = 1 << state.gather_channel;
    Ok(Kit { body: body(op, state.view, order.len(), dmask, &offsets), runs, rows })
}

/// The T# with linear memory, without a pitch of its own.
fn linear(image: ImageDescriptor) -> Result<ImageDescriptor, Refusal> {
    let words = image.words();
    let cleared = image.with_sw_mode(0).map_err(|error| part("T#.SW_MODE", 0, &error.to_string()))?;
    let kind = image.image_type();
    if kind.has_layers() || kind == capture_format::ImageType::D3 || image.pitch().is_none() {
        return Ok(cleared);
    }
    Err(field(
        "T#",
        &words,
        &ImageDescriptor::DEPTH,
        "gives the pitch of a 2D image; a kit's image has the layout's own",
    ))
}

/// The operands in the order of the address registers: offset, bias, derivatives, coordinates, LOD or clamp (AMD's ISA
/// documents).
fn operand_order(state: &State, found: &[Column]) -> Result<Vec<Column>, Refusal> {
    let wanted = State::operands(state.op, state.view);
    let mut sorted = [wanted.clone(), found.to_vec()];
    sorted.iter_mut().for_each(|columns| columns.sort_unstable());
    if sorted[0] != sorted[1] {
        let list = |columns: &[Column]| columns.iter().map(|c| c.name()).collect::<Vec<_>>().join(" ");
        let reason = format!("{} on a {} view takes {}", state.op, state.view.name(), list(&wanted));
        return Err(part("coords.columns", list(found), &reason));
    }
    let rank = |column: &Column| match column {
        Column::Offset => 0,
        Column::Bias => 1,
        Column::Dudx | Column::Dvdx | Column::Dwdx | Column::Dudy | Column::Dvdy | Column::Dwdy => 2,
        Column::Lod | Column::Clamp => 4,
        _ => 3,
    };
    let mut order = wanted;
    // Stable: within a kind the order is already the instruction's.
    order.sort_by_key(rank);
    Ok(order)
}

/// An operand as the instruction takes it: loads take integers.
fn operand(kind: OpKind, bits: u32) -> u32 {
    if kind != OpKind::Load {
        return bits;
    }
    let value = f32::from_bits(bits);
    if value <= -1.0 { (value as i32).cast_unsigned() } else { value as u32 }
}

fn run(chunk: &[Vec<u32>], rows: usize, offsets: &Offsets, descriptors: &[u32], memory: &[u32]) -> Run {
    let mut text = String::new();
    let mut extra: Vec<u32> = descriptors.to_vec();
    let filler = chunk.last();
    for row in chunk.iter().chain(std::iter::repeat_n(filler, rows - chunk.len()).flatten()) {
        let word = |n: usize| row.get(n).copied().unwrap_or(0);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:#010x} {:#010x} {:#010x} {:#010x}", word(0), word(1), word(2), word(3));
        extra.extend(row.iter().skip(4));
    }
    extra.resize(((offsets.image - offsets.descriptors) / 4) as usize, 0);
    extra.extend_from_slice(memory);
    let extra = extra.iter().flat_map(|word| word.to_le_bytes()).collect();
    Run { rows: text, extra, samples: chunk.len() }
}

/// Names of a run's files: rows, extra bytes, and what the oracle prints.
pub fn file_names(run: usize) -> [String; 3] {
    [format!("rows-{run:03}.txt"), format!("extra-{run:03}.bin"), format!("out-{run:03}.txt")]
}

/// Folder of a dispatch in the kit of its trace.
pub fn folder_name(index: usize, dispatch: &Dispatch) -> String {
    let name: String = dispatch
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' })
        .take(64)
        .collect();
    format!("{index:03}-{name}")
}

/// The command lines of a kit.
pub fn commands(kit: &Kit) -> String {
    let modes: Vec<String> = MODES.iter().map(|(name, value, _)| format!("{name} {value}")).collect();
    (0..kit.runs.len())
        .map(|run| {
            let [rows, extra, out] = file_names(run);
            format!("hw_oracle.py body.s {rows} {} --extra {extra} --outs 4 > {out}\n", modes.join(" "))
        })
        .collect()
}

/// Writes the kits of a trace's dispatches into a folder; the number of runs.
///
/// # Errors
/// The first dispatch that can not be expressed, before anything is written, and files that can't be written. A case that
/// is already in the folder is an error too.
pub fn write(trace: &Trace, folder: &Path, force: bool) -> Result<usize, ExportError> {
    let kits = trace
        .dispatches
        .iter()
        .map(|d| export(d).map_err(|refusal| ExportError::Refused { dispatch: d.name.clone(), refusal }))
        .collect::<Result<Vec<_>, _>>()?;
    let mut asked = trace.clone();
    for dispatch in &mut asked.dispatches {
        dispatch.expected = None;
    }
    write_case(&asked, folder, &CaseOptions { overwrite: force, ..CaseOptions::default() })?;
    let mut runs = 0;
    for (index, (kit, dispatch)) in kits.iter().zip(&trace.dispatches).enumerate() {
        let place = folder.join(folder_name(index, dispatch));
        std::fs::create_dir_all(&place).map_err(|source| ExportError::Io { path: place.clone(), source })?;
        let file = |name: &str, bytes: &[u8]| {
            let path = place.join(name);
            std::fs::write(&path, bytes).map_err(|source| ExportError::Io { path, source })
        };
        file("body.s", kit.body.as_bytes())?;
        file("commands.txt", commands(kit).as_bytes())?;
        for (number, run) in kit.runs.iter().enumerate() {
            let [rows, extra, _] = file_names(number);
            file(&rows, run.rows.as_bytes())?;
            file(&extra, &run.extra)?;
        }
        runs += kit.runs.len();
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_plain() {
        let mut dispatch =
            crate::capture::Suite::Weights.dispatches(&crate::capture::Plan::default()).unwrap().remove(0);
        dispatch.name = "a/../b c".to_owned();
        assert_eq!(folder_name(7, &dispatch), "007-a----b-c");
    }
}
