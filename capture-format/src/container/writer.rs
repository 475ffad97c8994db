//! Writing a container.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{
    blob,
    layout::{BLOCK, BLOCK_BYTES, FLAG_COMPRESSED, RecordHeader, RecordKind, encode_file_header, encode_trailer},
    structure::{BlobRef, DispatchRecord, IndexRecord, TraceMeta, TraceRecord},
};
use crate::{Dispatch, DispatchProblem, Trace};

/// How a trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// zstd level for blobs, 1 to 19; `None`, the default, leaves them as they are, to be used in place from the map.
    pub compression: Option<i32>,
}

impl WriteOptions {
    /// As small as it gets: zstd level 19. For traces that are kept or sent.
    #[must_use]
    pub fn compact() -> Self {
        Self { compression: Some(blob::MAX_LEVEL) }
    }
}

/// Why a trace could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file could not be made, renamed or replaced.
    #[error("{}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// Writing failed. What was complete before the offset stays readable; nothing more can be added.
    #[error("{}writing failed in the {kind} at offset {offset}: {source}", prefix(path.as_deref()))]
    Output {
        /// The file, if the output is one.
        path: Option<PathBuf>,
        /// The record that is not complete.
        kind: RecordKind,
        /// Its offset.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// An earlier write failed.
    #[error("nothing can be added: writing the trace failed at offset {offset} before")]
    FailedBefore {
        /// Offset of the record that is not complete.
        offset: u64,
    },
    /// The dispatch contradicts itself. Nothing was written.
    #[error("dispatch {name:?}: {problem}")]
    Invalid {
        /// Name of the dispatch.
        name: String,
        /// What is wrong.
        problem: DispatchProblem,
    },
    /// A dispatch of that name is in the trace already. Nothing was written.
    #[error("dispatch {name:?}: a dispatch before this has the same name")]
    DuplicateName {
        /// Name of the dispatch.
        name: String,
    },
    /// The options or the trace's own data are not valid.
    #[error("{0}")]
    Usage(String),
}

fn prefix(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!("{}: ", path.display()))
}

/// Writes a trace record by record.
///
/// Each dispatch is handed to the output in full before [`TraceWriter::add_dispatch`] returns, its blobs before the record
/// that refers to them. A program that dies at any moment leaves a file of which every dispatch added so far is read. The
/// same calls give the same bytes, for one version of zstd.
///
/// ```
/// use capture_format::container::{TraceMeta, TraceReader, TraceWriter, WriteOptions};
/// # let oracle = capture_format::Oracle { device: String::new(), profile: "exact".into(),
/// #     source: capture_format::OracleSource::Synthetic, note: String::new() };
/// let meta = TraceMeta { name: "empty".to_owned(), summary: String::new(), oracle };
/// let bytes = TraceWriter::begin(Vec::new(), &meta, WriteOptions::default()).unwrap().finish().unwrap();
/// assert_eq!(TraceReader::from_bytes(&bytes, "memory").unwrap().meta(), &meta);
/// ```
pub struct TraceWriter<W: Write> {
    out: W,
    /// For messages.
    path: Option<PathBuf>,
    /// Bytes written, the offset of the next record.
    at: u64,
    packer: Option<zstd::bulk::Compressor<'static>>,
    /// Blobs by hash and length. Two blobs of one hash and length are taken to be equal.
    blobs: HashMap<(u128, u64), BlobRef>,
    names: HashSet<String>,
    index: IndexRecord,
    failed: Option<u64>,
}

impl TraceWriter<BufWriter<File>> {
    /// Starts a trace in a new file. A file that is there already is unlinked first, not overwritten: who has it mapped
    /// keeps the old content.
    ///
    /// # Errors
    /// What the operating system refuses, and invalid options.
    pub fn create(path: &Path, meta: &TraceMeta, options: WriteOptions) -> Result<Self, WriteError> {
        let fail = |source| WriteError::File { path: path.to_owned(), action: "create", source };
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fail(error)),
            Ok(found) if found.is_file() || found.is_symlink() => fs::remove_file(path).map_err(fail)?,
            Ok(_) => return Err(fail(io::Error::other("something that is not a regular file is there already"))),
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
        Self::start(BufWriter::with_capacity(1 << 16, file), Some(path.to_owned()), meta, options)
    }
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace in any output: writes the file header and the trace header.
    ///
    /// # Errors
    /// A failed write, invalid options, and a trace without a name.
    pub fn begin(out: W, meta: &TraceMeta, options: WriteOptions) -> Result<Self, WriteError> {
        Self::start(out, None, meta, options)
    }

    fn start(out: W, path: Option<PathBuf>, meta: &TraceMeta, options: WriteOptions) -> Result<Self, WriteError> {
        if meta.name.is_empty() {
            return Err(WriteError::Usage("a trace needs a name".to_owned()));
        }
        let packer = match options.compression {
            None => None,
            Some(level) if (1..=blob::MAX_LEVEL).contains(&level) => {
                let packer = zstd::bulk::Compressor::new(level);
                Some(packer.map_err(|error| WriteError::Usage(format!("cannot start zstd: {error}")))?)
            }
            Some(level) => {
                let problem = format!("compression level {level}, expected 1 to {}", blob::MAX_LEVEL);
                return Err(WriteError::Usage(problem));
            }
        };
        let (blobs, names, index) = (HashMap::new(), HashSet::new(), IndexRecord::default());
        let mut writer = Self { out, path, at: 0, packer, blobs, names, index, failed: None };
        writer.put(RecordKind::Trace, |out| out.write_all(&encode_file_header()))?;
        writer.at = BLOCK_BYTES;
        writer.structure(RecordKind::Trace, &TraceRecord::from(meta))?;
        writer.flush(RecordKind::Trace)?;
        Ok(writer)
    }

    /// Adds a dispatch and hands it to the output.
    ///
    /// # Errors
    /// A dispatch that fails [`Dispatch::check`] or whose name is taken changes nothing. After a failed write nothing can be
    /// added any more.
    pub fn add_dispatch(&mut self, dispatch: &Dispatch) -> Result<(), WriteError> {
        self.still_sound()?;
        dispatch.check().map_err(|problem| WriteError::Invalid { name: dispatch.name.clone(), problem })?;
        if self.names.contains(&dispatch.name) {
            return Err(WriteError::DuplicateName { name: dispatch.name.clone() });
        }
        let texels = self.blob(bytemuck::cast_slice(&dispatch.texels))?;
        let coords = self.blob(bytemuck::cast_slice(&dispatch.coords.words))?;
        let (mut expected, mut measured) = (None, None);
        if let Some(results) = &dispatch.expected {
            expected = Some(self.blob(bytemuck::cast_slice(&results.words))?);
            // A mask under which everything was measured says no more than none.
            if let Some(mask) = results.measured.as_ref().filter(|mask| mask.iter().any(|&m| m != 0xf)) {
                measured = Some(self.blob(mask)?);
            }
        }
        let record = DispatchRecord {
            name: dispatch.name.clone(),
            op: dispatch.op.to_string(),
            grid: dispatch.grid,
            image: dispatch.image,
            sampler: dispatch.sampler,
            border_table: dispatch.border_table.clone(),
            dmask: dispatch.dmask,
            columns: dispatch.coords.columns.iter().map(|column| column.name().to_owned()).collect(),
            texels,
            coords,
            expected,
            measured,
        };
        self.structure(RecordKind::SampleDispatch, &record)?;
        self.flush(RecordKind::SampleDispatch)?;
        self.names.insert(dispatch.name.clone());
        self.index.names.push(dispatch.name.clone());
        Ok(())
    }

    /// Writes the index and the trailer, flushes, and gives the output back.
    ///
    /// # Errors
    /// A failed write, now or before.
    pub fn finish(mut self) -> Result<W, WriteError> {
        self.still_sound()?;
        let at = self.at;
        let index = std::mem::take(&mut self.index);
        self.structure(RecordKind::Index, &index)?;
        let trailer = encode_trailer(at, self.at);
        self.put(RecordKind::Index, |out| out.write_all(&trailer))?;
        self.flush(RecordKind::Index)?;
        Ok(self.out)
    }

    fn still_sound(&self) -> Result<(), WriteError> {
        self.failed.map_or(Ok(()), |offset| Err(WriteError::FailedBefore { offset }))
    }

    fn put(&mut self, kind: RecordKind, write: impl FnOnce(&mut W) -> io::Result<()>) -> Result<(), WriteError> {
        write(&mut self.out).map_err(|source| self.fail(kind, source))
    }

    fn fail(&mut self, kind: RecordKind, source: io::Error) -> WriteError {
        self.failed = Some(self.at);
        WriteError::Output { path: self.path.clone(), kind, offset: self.at, source }
    }

    fn flush(&mut self, kind: RecordKind) -> Result<(), WriteError> {
        self.put(kind, Write::flush)
    }

    fn structure(&mut self, kind: RecordKind, content: &impl Serialize) -> Result<(), WriteError> {
        let payload = rmp_serde::to_vec_named(content)
            .map_err(|error| WriteError::Usage(format!("the {kind} cannot be encoded: {error}")))?;
        let length = payload.len() as u64;
        let (hash, checksum) = (0, xxh3_64(&payload));
        self.record(&RecordHeader { kind, flags: 0, stored: length, unpacked: length, hash, checksum }, &payload)
    }

    /// Stores a blob, unless an equal one is there.
    fn blob(&mut self, content: &[u8]) -> Result<BlobRef, WriteError> {
        let bytes = content.len() as u64;
        let hash = xxh3_128(content);
        if let Some(known) = self.blobs.get(&(hash, bytes)) {
            return Ok(*known);
        }
        let reference = BlobRef::new(self.at, bytes, hash);
        let packed = self.packer.as_mut().map(|packer| blob::pack(content, packer)).transpose();
        let packed = packed.map_err(|source| self.fail(RecordKind::Blob, source))?.flatten();
        let (payload, flags) = packed.as_deref().map_or((content, 0), |packed| (packed, FLAG_COMPRESSED));
        let header = RecordHeader {
            kind: RecordKind::Blob,
            flags,
            stored: payload.len() as u64,
            unpacked: bytes,
            hash,
            checksum: xxh3_64(payload),
        };
        self.record(&header, payload)?;
        self.blobs.insert((hash, bytes), reference);
        Ok(reference)
    }

    fn record(&mut self, header: &RecordHeader, payload: &[u8]) -> Result<(), WriteError> {
        let offset = self.at;
        let block = header.encode(offset);
        let padding = payload.len().next_multiple_of(BLOCK) - payload.len();
        self.put(header.kind, |out| {
            out.write_all(&block)?;
            out.write_all(payload)?;
            out.write_all(&[0; BLOCK][..padding])
        })?;
        self.at += (BLOCK + payload.len() + padding) as u64;
        if header.kind != RecordKind::Index {
            self.index.push(offset, header.kind, header.flags);
        }
        Ok(())
    }
}

/// Writes a whole trace. It is written under another name in the same folder and renamed when it is complete, so that
/// whoever opens `path` finds the old content or the new one.
///
/// # Errors
/// What [`TraceWriter`] refuses; then nothing is left behind and what was at `path` is untouched.
pub fn write_trace(path: &Path, trace: &Trace, options: WriteOptions) -> Result<(), WriteError> {
    let fail = |action| move |source| WriteError::File { path: path.to_owned(), action, source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".texeltrace.tmp");
    // As any new file, and not only for its owner as temporary files are.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(fail("create"))?;
    let out = BufWriter::with_capacity(1 << 16, file);
    let mut writer = TraceWriter::start(out, Some(path.to_owned()), &TraceMeta::from(trace), options)?;
    for dispatch in &trace.dispatches {
        writer.add_dispatch(dispatch)?;
    }
    let file = writer.finish()?.into_inner().map_err(|error| fail("write")(error.into_error()))?;
    file.as_file().sync_all().map_err(fail("write"))?;
    file.persist(path).map_err(|error| fail("rename to")(error.error))?;
    Ok(())
}
