//! Reading what the oracle printed.

use std::path::{Path, PathBuf};

use capture_format::{Case, CaseError, Dispatch, Expected, Oracle, OracleSource, Trace};

use super::{
    body::MISPLACED,
    kit::{Kit, MODES, export, file_names, folder_name},
};
use crate::refusal::Refusal;

/// The longest text file that is read.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// Words that the body returns.
const OUTS: usize = 4;

/// Where a measurement comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The GPU's target name, such as `gfx1035`.
    pub target: String,
    /// Free text: who, when, driver.
    pub note: String,
}

/// Why a kit's results could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The kit's case can't be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A file can't be read.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The kit's case holds what no kit can be made of.
    #[error("{}: dispatch {dispatch:?}: refused: {refusal}", path.display())]
    Refused {
        /// The kit.
        path: PathBuf,
        /// Name of the dispatch.
        dispatch: String,
        /// What is in the way.
        refusal: Refusal,
    },
    /// A file is not what it should be.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The extra bytes are not those of the case.
    #[error("{}: differs from the kit of its case at byte {offset}", path.display())]
    Extra {
        /// The file.
        path: PathBuf,
        /// The first byte that differs.
        offset: usize,
    },
}

/// Reads a kit with the oracle's output beside its rows.
///
/// Body, rows and extra bytes must be those that the case gives, every mode must be in the command lines, and each run must have
/// a line of output a row.
///
/// # Errors
/// The first file and line that is not as expected.
pub fn import(folder: &Path, measured: &Measured) -> Result<Trace, ImportError> {
    let mut trace = Case::read(folder)?;
    let mut modes: Option<String> = None;
    for (index, dispatch) in trace.dispatches.iter_mut().enumerate() {
        let place = folder.join(folder_name(index, dispatch));
        let kit = export(dispatch).map_err(|refusal| ImportError::Refused {
            path: folder.to_owned(),
            dispatch: dispatch.name.clone(),
            refusal,
        })?;
        let (words, of_dispatch) = read(&place, &kit, dispatch)?;
        match &modes {
            Some(modes) if *modes != of_dispatch => {
                let problem = format!("modes {of_dispatch}, other dispatches of the kit have {modes}");
                return Err(ImportError::Line { path: place.join("commands.txt"), line: 1, problem });
            }
            _ => modes = Some(of_dispatch),
        }
        dispatch.expected = Some(Expected { words: words.into(), measured: None });
    }
    let parts = [
        format!("measured by the HSA hardware oracle on {}", measured.target),
        format!("modes {}", modes.unwrap_or_default()),
        format!("kit of replayer {}", env!("CARGO_PKG_VERSION")),
        measured.note.clone(),
    ];
    trace.oracle = Oracle {
        device: format!("AMD {}", measured.target),
        profile: "gfx1035".to_owned(),
        source: OracleSource::Measured,
        note: parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("; "),
    };
    Ok(trace)
}

fn read(place: &Path, kit: &Kit, dispatch: &Dispatch) -> Result<(Vec<u32>, String), ImportError> {
    same_text(&place.join("body.s"), &kit.body)?;
    let modes = modes(&place.join("commands.txt"), kit)?;
    let mut words = Vec::with_capacity(dispatch.coords.rows() * OUTS);
    for (number, run) in kit.runs.iter().enumerate() {
        let [rows, extra, out] = file_names(number);
        same_text(&place.join(rows), &run.rows)?;
        let path = place.join(extra);
        let found = std::fs::read(&path).map_err(|source| ImportError::Io { path: path.clone(), source })?;
        if found != run.extra {
            let same = found.iter().zip(&run.extra).take_while(|(a, b)| a == b).count();
            return Err(ImportError::Extra { path, offset: same });
        }
        let path = place.join(out);
        let output = output(&path, &text(&path)?, kit.rows)?;
        words.extend_from_slice(&output[..run.samples * OUTS]);
    }
    Ok((words, modes))
}

fn text(path: &Path) -> Result<String, ImportError> {
    let fail = |source| ImportError::Io { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(fail)?.len();
    if bytes > MAX_TEXT_BYTES {
        return Err(fail(std::io::Error::other(format!("{bytes} bytes, expected at most {MAX_TEXT_BYTES}"))));
    }
    std::fs::read_to_string(path).map_err(fail)
}

/// Checks that a file holds the lines it was written with.
fn same_text(path: &Path, expected: &str) -> Result<(), ImportError> {
    let found = text(path)?;
    let (mut found, mut wanted) = (found.lines(), expected.lines());
    for line in 1.. {
        match (found.next(), wanted.next()) {
            (None, None) => break,
            (Some(a), Some(b)) if a.trim_end() == b => {}
            (a, b) => {
                let shown = |line: Option<&str>| line.map_or("the end".to_owned(), |l| format!("{l:?}"));
                let problem = format!("{}, expected {} as the case gives it", shown(a), shown(b));
                return Err(ImportError::Line { path: path.to_owned(), line, problem });
            }
        }
    }
    Ok(())
}

/// Reads the modes off the command lines; all runs must have the same.
fn modes(path: &Path, kit: &Kit) -> Result<String, ImportError> {
    let found = text(path)?;
    let mut all: Option<String> = None;
    let lines: Vec<(usize, &str)> = (1..).zip(found.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    if lines.len() != kit.runs.len() {
        let problem = format!("{} command lines, expected one for each of {} runs", lines.len(), kit.runs.len());
        return Err(ImportError::Line { path: path.to_owned(), line: found.lines().count().max(1), problem });
    }
    for (line, command) in lines {
        let fail = |problem: String| ImportError::Line { path: path.to_owned(), line, problem };
        let words: Vec<&str> = command.split_whitespace().collect();
        if let Some(flag) = words.iter().find(|w| ["--wave64", "--coarse"].contains(*w)) {
            return Err(fail(format!("{flag}: a kit is for wave32 and exact addresses")));
        }
        let mut modes = Vec::new();
        for (name, _, most) in MODES {
            let value = words.iter().position(|w| *w == name).map(|at| words.get(at + 1).copied().unwrap_or(""));
            let value = value.ok_or_else(|| fail(format!("{name} is missing, the oracle wants every mode")))?;
            let number = value.parse::<u32>().ok().filter(|v| *v <= most);
            let number = number.ok_or_else(|| fail(format!("{name} {value:?}, expected a number from 0 to {most}")))?;
            modes.push(format!("{name} {number}"));
        }
        let modes = modes.join(" ");
        match &all {
            Some(all) if *all != modes => return Err(fail(format!("modes {modes}, the runs before have {all}"))),
            _ => all = Some(modes),
        }
    }
    Ok(all.unwrap_or_default())
}

/// Parses a run's output: a line a row, four words of 8 hex digits.
fn output(path: &Path, text: &str, rows: usize) -> Result<Vec<u32>, ImportError> {
    let mut words = Vec::with_capacity(rows * OUTS);
    let mut found = 0;
    for (line, content) in (1..).zip(text.lines()) {
        let fail = |problem: String| ImportError::Line { path: path.to_owned(), line, problem };
        if content.trim().is_empty() {
            continue;
        }
        found += 1;
        if found > rows {
            return Err(fail(format!("row {found}, expected {rows} rows")));
        }
        let row: Vec<&str> = content.split_whitespace().collect();
        if row.len() != OUTS {
            return Err(fail(format!("{} words, expected {OUTS}", row.len())));
        }
        for word in row {
            let hex = word.len() == 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u32::from_str_radix(word, 16).ok().filter(|_| hex);
            words.push(value.ok_or_else(|| fail(format!("{word:?}, expected 8 hex digits")))?);
        }
        if words[words.len() - OUTS..] == [MISPLACED; OUTS] {
            return Err(fail(
                "the oracle's input was not at a multiple of 256 bytes, so nothing was sampled".to_owned(),
            ));
        }
    }
    if found < rows {
        let line = text.lines().count() + 1;
        let problem = format!("the end after {found} rows, expected {rows} rows");
        return Err(ImportError::Line { path: path.to_owned(), line, problem });
    }
    Ok(words)
}
