//! Writing the text form.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{CASE_FILE, CaseError, SCHEMA, write_compute};
use crate::{Dispatch, DispatchProblem, Expected, Pending, Recorded, Recording, Replacement, Trace, TraceMeta, Words};

/// How a case is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOptions {
    /// Name of the case file in the folder.
    pub file_name: String,
    /// Arrays of up to this many words stand in the case file, longer ones in `.bin` files beside it.
    pub inline_words: usize,
    /// Whether files that are there already are replaced. If not, they are an error.
    pub overwrite: bool,
}

impl Default for CaseOptions {
    /// `case.toml`, with up to 256 words inline, and nothing is replaced.
    fn default() -> Self {
        Self { file_name: CASE_FILE.to_owned(), inline_words: 256, overwrite: false }
    }
}

/// Writes a trace as a case into a folder, which is created if need be, and gives the path of the case file.
///
/// The same trace gives the same bytes. Equal texels are written once. All files are written under other names and then moved
/// to their places, the case file last: what can't be written leaves the folder as it was. A mask under which everything was measured is not written, so it reads back as `None`.
///
/// # Errors
/// A dispatch that fails [`Dispatch::check`] or has the name of one before it, a file that is there already, and what the
/// operating system refuses.
pub fn write_case(trace: &Trace, dir: &Path, options: &CaseOptions) -> Result<PathBuf, CaseError> {
    let dispatches = trace.dispatches.iter().cloned().map(Recorded::Sample).collect();
    write_recording_case(&Recording { meta: TraceMeta::from(trace), dispatches }, dir, options)
}

/// As [`write_case`], with dispatches of both kinds.
///
/// # Errors
/// As [`write_case`].
pub fn write_recording_case(recording: &Recording, dir: &Path, options: &CaseOptions) -> Result<PathBuf, CaseError> {
    check(recording)?;
    let case_path = dir.join(&options.file_name);
    fs::create_dir_all(dir).map_err(|source| CaseError::Io { path: dir.to_owned(), action: "create", source })?;
    let mut files = Files { dir, options, written: HashMap::new(), names: HashSet::new(), pending: Vec::new() };
    files.names.insert(options.file_name.to_lowercase());
    // Looked at first: without it there is no case in the folder.
    files.check_free(&case_path)?;
    let text = case_text(recording, &mut files)?;
    files.create(&options.file_name, text.as_bytes())?;
    for (path, file) in files.pending {
        file.commit().map_err(|source| CaseError::Io { path, action: "write", source })?;
    }
    Ok(case_path)
}

fn check(recording: &Recording) -> Result<(), CaseError> {
    let unwritable = |dispatch: &str, problem| CaseError::Unwritable {
        case: recording.meta.name.clone(),
        dispatch: dispatch.to_owned(),
        problem,
    };
    if recording.meta.name.is_empty() {
        let problem = DispatchProblem { field: "name", problem: "the case itself has no name".to_owned() };
        return Err(unwritable("", problem));
    }
    let mut names = HashSet::new();
    for dispatch in &recording.dispatches {
        let checked = match dispatch {
            Recorded::Sample(dispatch) => dispatch.check(),
            Recorded::Compute(dispatch) => dispatch.check(),
        };
        let name = dispatch.name();
        checked.map_err(|problem| unwritable(name, problem))?;
        if !names.insert(name) {
            let problem =
                DispatchProblem { field: "name", problem: "a dispatch before this has the same name".to_owned() };
            return Err(unwritable(name, problem));
        }
    }
    Ok(())
}

/// The `.bin` files of the case.
pub(super) struct Files<'a> {
    dir: &'a Path,
    pub(super) options: &'a CaseOptions,
    /// Texels that have a file already, and its name.
    written: HashMap<Vec<u8>, String>,
    /// Names in use, in lower case: some file systems do not tell case apart.
    names: HashSet<String>,
    /// What is written and waits for the rest.
    pending: Vec<(PathBuf, Pending)>,
}

impl Files<'_> {
    fn create(&mut self, name: &str, content: &[u8]) -> Result<(), CaseError> {
        let path = self.dir.join(name);
        self.check_free(&path)?;
        let written = Replacement::new(&path).and_then(|mut file| {
            file.write_all(content)?;
            file.close()
        });
        let file = written.map_err(|source| CaseError::Io { path: path.clone(), action: "write", source })?;
        self.pending.push((path, file));
        Ok(())
    }

    /// Refuses a file that is there, unless it may be replaced.
    fn check_free(&self, path: &Path) -> Result<(), CaseError> {
        if self.options.overwrite || fs::symlink_metadata(path).is_err() {
            return Ok(());
        }
        let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the file is there already");
        Err(CaseError::Io { path: path.to_owned(), action: "create", source })
    }

    /// A name for a part of a dispatch that is not in use yet and valid everywhere.
    fn name(&mut self, dispatch: &str, part: &str) -> String {
        let plain: String =
            dispatch.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
        // A leading dot would hide the file, and names may not grow without end.
        let stem: String = plain.trim_start_matches('.').chars().take(80).collect();
        let stem = if stem.is_empty() { "dispatch".to_owned() } else { stem };
        let first = format!("{stem}.{part}.bin");
        let numbered = (2u32..).map(|n| format!("{stem}-{n}.{part}.bin"));
        let names = &self.names;
        let name = std::iter::once(first).chain(numbered).find(|name| !names.contains(&name.to_lowercase()));
        // The range of numbers is longer than any list of dispatches.
        let name = name.unwrap_or_else(|| format!("{part}.bin"));
        self.names.insert(name.to_lowercase());
        name
    }

    fn put(&mut self, dispatch: &str, part: &str, content: &[u8]) -> Result<String, CaseError> {
        let name = self.name(dispatch, part);
        self.create(&name, content)?;
        Ok(name)
    }

    pub(super) fn put_shared(&mut self, dispatch: &str, part: &str, words: &Words) -> Result<String, CaseError> {
        let content = bytes(words);
        if let Some(name) = self.written.get(&content) {
            return Ok(name.clone());
        }
        let name = self.put(dispatch, part, &content)?;
        self.written.insert(content, name.clone());
        Ok(name)
    }
}

fn bytes(words: &Words) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A string as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Words as bits: `["0x…", "0x…"]`.
pub(super) fn hex_list(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word:#010x}\"")).collect();
    format!("[{}]", words.join(", "))
}

/// A table of rows, each on its line.
pub(super) fn rows(rows: impl Iterator<Item = String>) -> String {
    rows.fold(String::from("[\n"), |text, row| text + "  " + &row + ",\n") + "]"
}

fn case_text(recording: &Recording, files: &mut Files<'_>) -> Result<String, CaseError> {
    let TraceMeta { name, summary, oracle } = &recording.meta;
    let mut text = format!("schema = {SCHEMA}\nname = {}\n", quoted(name));
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key} = {value}");
    };
    line("summary", &quoted(summary));
    line("\n[oracle]\ndevice", &quoted(&oracle.device));
    line("profile", &quoted(&oracle.profile));
    line("source", &quoted(oracle.source.name()));
    line("note", &quoted(&oracle.note));
    for dispatch in &recording.dispatches {
        match dispatch {
            Recorded::Sample(dispatch) => {
                text.push_str("\n[[dispatch]]\n");
                dispatch_text(dispatch, files, &mut text)?;
            }
            Recorded::Compute(dispatch) => {
                text.push_str("\n[[compute]]\n");
                write_compute::compute_text(dispatch, files, &mut text)?;
            }
        }
    }
    Ok(text)
}

fn dispatch_text(dispatch: &Dispatch, files: &mut Files<'_>, text: &mut String) -> Result<(), CaseError> {
    let inline_words = files.options.inline_words;
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key} = {value}");
    };
    line("name", &quoted(&dispatch.name));
    line("op", &quoted(&dispatch.op.to_string()));
    line("grid", &format!("{:?}", dispatch.grid));
    let one_image = dispatch.more_images.is_empty();
    if one_image {
        line("image", &hex_list(&dispatch.image));
    }
    if !dispatch.more_samplers.is_empty() {
        line("samplers", &rows(dispatch.samplers().map(|sampler| hex_list(sampler))));
    } else if let Some(sampler) = &dispatch.sampler {
        line("sampler", &hex_list(sampler));
    }
    if !dispatch.border_table.is_empty() {
        let entries = rows(dispatch.border_table.iter().map(|entry| hex_list(entry)));
        line("border_table", &format!("{{ rows = {entries} }}"));
    }
    if let Some(dmask) = dispatch.dmask {
        line("dmask", &dmask.to_string());
    }
    if one_image {
        line("texels", &texels_text(&dispatch.name, "texels", &dispatch.texels, files)?);
    }
    let coords = &dispatch.coords;
    let columns: Vec<String> = coords.columns.iter().map(|column| quoted(column.name())).collect();
    let content = if coords.words.len() <= inline_words {
        format!("rows = {}", rows(coords.words.chunks(coords.columns.len()).map(hex_list)))
    } else {
        format!("file = {}", quoted(&files.put(&dispatch.name, "coords", &bytes(&coords.words))?))
    };
    line("coords", &format!("{{ columns = [{}], {content} }}", columns.join(", ")));
    if let Some(expected) = &dispatch.expected {
        line("expected", &format!("{{ {} }}", expected_text(&dispatch.name, expected, files)?));
    }
    if !one_image {
        // Tables of their own, so they end the dispatch.
        for (entry, (words, texels)) in dispatch.images().enumerate() {
            line("\n[[dispatch.images]]\nwords", &hex_list(words));
            line("texels", &texels_text(&dispatch.name, &format!("texels-{entry}"), texels, files)?);
        }
    }
    Ok(())
}

fn texels_text(dispatch: &str, part: &str, texels: &Words, files: &mut Files<'_>) -> Result<String, CaseError> {
    if texels.len() <= files.options.inline_words {
        return Ok(format!("{{ words = {} }}", hex_list(texels)));
    }
    Ok(format!("{{ file = {} }}", quoted(&files.put_shared(dispatch, part, texels)?)))
}

fn expected_text(dispatch: &str, expected: &Expected, files: &mut Files<'_>) -> Result<String, CaseError> {
    if expected.words.len() <= files.options.inline_words {
        let row = |(sample, words): (usize, &[u32])| {
            let mask = expected.measured_channels(sample);
            let channel = |(c, word): (usize, &u32)| {
                if mask & (1 << c) == 0 { "\"*\"".to_owned() } else { format!("\"{word:#010x}\"") }
            };
            format!("[{}]", words.iter().enumerate().map(channel).collect::<Vec<_>>().join(", "))
        };
        return Ok(format!("rows = {}", rows(expected.words.chunks(4).enumerate().map(row))));
    }
    let file = files.put(dispatch, "expected", &bytes(&expected.words))?;
    let mut text = format!("file = {}", quoted(&file));
    if let Some(measured) = expected.measured.as_ref().filter(|mask| mask.iter().any(|&m| m != 0xf)) {
        let _ = write!(text, ", measured = {}", quoted(&files.put(dispatch, "measured", measured)?));
    }
    Ok(text)
}
