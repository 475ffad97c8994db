//! Opening a trace in whichever form it is.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use crate::{
    Case, CaseError, ContainerError, Dispatch, DispatchKind, Oracle, Recorded, Recording, TraceMeta, TraceReader,
    case::CASE_FILE,
    container::{FILE_MAGIC, Recovery},
    find::TRACE_EXTENSION,
};

/// Why a trace can't be opened or one of its dispatches can't be read. Each names the file.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A packed trace can't be read.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A case can't be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The path can't be looked at.
    #[error("{}: cannot open: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The path is neither form of a trace.
    #[error("{}: {problem}, expected a .{TRACE_EXTENSION} file, a case (.toml), or a folder with {CASE_FILE}", path.display())]
    NotATrace {
        /// The path.
        path: PathBuf,
        /// What was found.
        problem: &'static str,
    },
    /// The case has no dispatch of that number.
    #[error("{}: no dispatch {index}, the case has {count}", path.display())]
    NoSuchDispatch {
        /// The case.
        path: PathBuf,
        /// The number asked for, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
}

/// An open trace of either form. Dispatches of a packed trace are read when they are asked for.
pub enum Source {
    /// A packed trace.
    Packed(TraceReader),
    /// A case, read in full.
    Case(CaseSource),
}

/// A case that was read.
#[derive(Clone, Debug)]
pub struct CaseSource {
    path: PathBuf,
    meta: TraceMeta,
    dispatches: Vec<Recorded>,
}

/// Opens a `.texeltrace` file, a case file, or a folder with `case.toml`. A file is taken for a packed trace if it starts like
/// one, whatever its name.
///
/// # Errors
/// A path that is none of these, and what [`TraceReader::open`] and [`Case::read`] refuse.
pub fn open(path: &Path) -> Result<Source, OpenError> {
    let fail = |source| OpenError::Io { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(fail)?;
    let has_extension = |extension| path.extension().is_some_and(|found| found == extension);
    if metadata.is_dir() {
        if path.join(CASE_FILE).is_file() {
            return CaseSource::open(path);
        }
        return Err(OpenError::NotATrace { path: path.to_owned(), problem: "a folder without a case" });
    }
    if !metadata.is_file() {
        return Err(OpenError::NotATrace { path: path.to_owned(), problem: "not a regular file" });
    }
    if has_extension(TRACE_EXTENSION) || starts_like_a_trace(path).map_err(fail)? {
        return Ok(Source::Packed(TraceReader::open(path)?));
    }
    if has_extension("toml") {
        return CaseSource::open(path);
    }
    Err(OpenError::NotATrace { path: path.to_owned(), problem: "a file of another kind" })
}

fn starts_like_a_trace(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(FILE_MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == FILE_MAGIC)
}

impl CaseSource {
    fn open(path: &Path) -> Result<Source, OpenError> {
        let Recording { meta, dispatches } = Case::read_recording(path)?;
        Ok(Source::Case(Self { path: path.to_owned(), meta, dispatches }))
    }

    fn recorded(&self, index: usize) -> Result<Recorded, OpenError> {
        self.dispatches.get(index).cloned().ok_or_else(|| OpenError::NoSuchDispatch {
            path: self.path.clone(),
            index,
            count: self.dispatches.len(),
        })
    }
}

impl Source {
    /// The path that was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Packed(reader) => reader.path(),
            Self::Case(case) => &case.path,
        }
    }

    /// Name, summary and oracle.
    #[must_use]
    pub fn meta(&self) -> &TraceMeta {
        match self {
            Self::Packed(reader) => reader.meta(),
            Self::Case(case) => &case.meta,
        }
    }

    /// Name of the trace.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.meta().name
    }

    /// Provenance of the expected results.
    #[must_use]
    pub fn oracle(&self) -> &Oracle {
        &self.meta().oracle
    }

    /// Number of dispatches.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Packed(reader) => reader.len(),
            Self::Case(case) => case.dispatches.len(),
        }
    }

    /// Whether there is no dispatch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the dispatches in recording order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Packed(reader) => reader.names().collect(),
            Self::Case(case) => case.dispatches.iter().map(Recorded::name).collect(),
        }
    }

    /// Number of the dispatch with a name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names().into_iter().position(|found| found == name)
    }

    /// Which kind of dispatch it is; `None` for a number out of range.
    #[must_use]
    pub fn kind(&self, index: usize) -> Option<DispatchKind> {
        match self {
            Self::Packed(reader) => reader.kind(index),
            Self::Case(case) => case.dispatches.get(index).map(Recorded::kind),
        }
    }

    /// Reads a sample dispatch. For a packed trace this reads the file and checks checksums on each call; see
    /// [`TraceReader::dispatch`].
    ///
    /// # Errors
    /// A number out of range, a compute dispatch, and damage of a packed trace.
    pub fn dispatch(&self, index: usize) -> Result<Dispatch, OpenError> {
        match self {
            Self::Packed(reader) => Ok(reader.dispatch(index)?),
            Self::Case(case) => match case.recorded(index)? {
                Recorded::Sample(dispatch) => Ok(dispatch),
                Recorded::Compute(dispatch) => Err(ContainerError::OtherKind {
                    path: case.path.clone(),
                    name: dispatch.name,
                    found: DispatchKind::Compute,
                    expected: DispatchKind::Sample,
                }
                .into()),
            },
        }
    }

    /// Reads a dispatch of either kind; see [`TraceReader::recorded`].
    ///
    /// # Errors
    /// A number out of range, and damage of a packed trace.
    pub fn recorded(&self, index: usize) -> Result<Recorded, OpenError> {
        match self {
            Self::Packed(reader) => Ok(reader.recorded(index)?),
            Self::Case(case) => case.recorded(index),
        }
    }

    /// What was lost of a packed trace that was cut short or damaged. A caller shows this to the user.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        match self {
            Self::Packed(reader) => reader.recovery(),
            Self::Case(_) => None,
        }
    }
}
