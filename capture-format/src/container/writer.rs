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
    compute_record::{ComputeEndRecord, ComputeRecord, OutputRecord},
    layout::{BLOCK, BLOCK_BYTES, FLAG_COMPRESSED, RecordHeader, RecordKind, encode_file_header, encode_trailer},
    structure::{BlobRef, ComputeName, DispatchRecord, IndexRecord, TableImageRecord, TraceMeta, TraceRecord},
};
use crate::{ComputeDispatch, Dispatch, DispatchProblem, Recorded, Recording, Replacement, Trace};

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
    /// Bytes of all names.
    names_bytes: usize,
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
        let mut writer = Self { out, path, at: 0, packer, blobs, names, names_bytes: 0, index, failed: None };
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
        let mut more_images = Vec::with_capacity(dispatch.more_images.len());
        for image in &dispatch.more_images {
            more_images.push(TableImageRecord { words: image.words, texels: self.words(&image.texels)? });
        }
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
            more_images,
            more_samplers: dispatch.more_samplers.clone(),
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
        self.names_bytes += dispatch.name.len();
        self.names.insert(dispatch.name.clone());
        self.index.names.push(dispatch.name.clone());
        Ok(())
    }

    /// Stores a blob ahead of the dispatch that refers to it, unless an equal one is there. It is handed to the output with
    /// the dispatch.
    ///
    /// # Errors
    /// A failed write, now or before, and a length that is no whole number of words.
    pub fn store(&mut self, content: &[u8]) -> Result<StoredBlob, WriteError> {
        self.still_sound()?;
        if !content.len().is_multiple_of(4) {
            return Err(WriteError::Usage(format!("{} bytes, expected a whole number of words", content.len())));
        }
        self.blob(content).map(StoredBlob)
    }

    /// Writes a compute dispatch before it runs, and hands it to the output: if the host dies in it, the trace says in what.
    ///
    /// Contents after the dispatch are not looked at; [`TraceWriter::end_compute`] takes them. `stored`: contents before the
    /// dispatch that [`TraceWriter::store`] has taken, by the number of the binding, instead of those in the dispatch.
    ///
    /// # Errors
    /// As [`TraceWriter::add_dispatch`], and stored contents that are of another length than the binding.
    pub fn begin_compute(
        &mut self,
        dispatch: &ComputeDispatch,
        stored: &[(usize, StoredBlob)],
    ) -> Result<ComputeTicket, WriteError> {
        self.still_sound()?;
        let name = &dispatch.name;
        let invalid = |problem| WriteError::Invalid { name: name.clone(), problem };
        dispatch.check().map_err(invalid)?;
        if self.names.contains(name) {
            return Err(WriteError::DuplicateName { name: name.clone() });
        }
        let mut before: Vec<Option<BlobRef>> = vec![None; dispatch.bindings.len()];
        for (number, blob) in stored {
            check_stored(dispatch, *number, *blob).map_err(|problem| {
                invalid(DispatchProblem { field: "bindings", problem: format!("{number}: {problem}") })
            })?;
            before[*number] = Some(blob.0);
        }
        let module = self.words(&dispatch.module)?;
        let isa = &dispatch.guest_shader.isa;
        let isa = if isa.is_empty() { None } else { Some(self.words(isa)?) };
        for (binding, before) in dispatch.bindings.iter().zip(&mut before) {
            if let (None, (Some(words), _)) = (&before, binding.contents()) {
                *before = Some(self.words(words)?);
            }
        }
        let begin = self.at;
        self.structure(RecordKind::Compute, &ComputeRecord::new(dispatch, module, isa, before))?;
        self.flush(RecordKind::Compute)?;
        self.names_bytes += name.len();
        self.names.insert(name.clone());
        let number = self.index.compute.len();
        self.index.compute.push(ComputeName { name: name.clone(), end: None });
        let outputs = dispatch.bindings.iter().map(|b| b.is_output().then(|| b.content_words())).collect();
        Ok(ComputeTicket { begin, number, name: name.clone(), outputs })
    }

    /// Writes the end of a compute dispatch with its outputs, by the numbers of their bindings. An output that is not among
    /// them has no contents. A failed check gives the ticket up: the dispatch stays without an end.
    ///
    /// # Errors
    /// A failed write, now or before; a number that is no output, is given twice, or contents of another length than the
    /// binding.
    pub fn end_compute(
        &mut self,
        ticket: ComputeTicket,
        outputs: &[(usize, OutputContent<'_>)],
    ) -> Result<(), WriteError> {
        self.still_sound()?;
        let ComputeTicket { begin, number, name, outputs: declared } = ticket;
        let invalid = |place: usize, problem: String| WriteError::Invalid {
            name: name.clone(),
            problem: DispatchProblem { field: "bindings", problem: format!("{place}: {problem}") },
        };
        for (i, (place, content)) in outputs.iter().enumerate() {
            let Some(Some(size)) = declared.get(*place) else {
                return Err(invalid(*place, "is no output".to_owned()));
            };
            if outputs[..i].iter().any(|(other, _)| other == place) {
                return Err(invalid(*place, "is given twice".to_owned()));
            }
            let bytes = match content {
                OutputContent::Words(words) => words.len() as u64 * 4,
                OutputContent::Stored(blob) => blob.bytes(),
            };
            if let Some(size) = size
                && Some(bytes) != size.checked_mul(4)
            {
                return Err(invalid(*place, format!("expected {size} words after the dispatch, found {bytes} bytes")));
            }
        }
        let mut records = Vec::with_capacity(outputs.len());
        for (place, content) in outputs {
            let after = match content {
                OutputContent::Words(words) => self.words(words)?,
                OutputContent::Stored(blob) => blob.0,
            };
            let binding = u32::try_from(*place).map_err(|_| invalid(*place, "is no output".to_owned()))?;
            records.push(OutputRecord { binding, after });
        }
        let end = self.at;
        self.structure(RecordKind::ComputeEnd, &ComputeEndRecord { begin, outputs: records })?;
        self.flush(RecordKind::ComputeEnd)?;
        if let Some(entry) = self.index.compute.get_mut(number) {
            entry.end = Some(end);
        }
        Ok(())
    }

    /// Adds a compute dispatch with its end, if it has one.
    ///
    /// # Errors
    /// As [`TraceWriter::begin_compute`].
    pub fn add_compute(&mut self, dispatch: &ComputeDispatch) -> Result<(), WriteError> {
        let ticket = self.begin_compute(dispatch, &[])?;
        if !dispatch.ended {
            return Ok(());
        }
        let outputs = dispatch.outputs();
        let outputs: Vec<_> = outputs
            .filter_map(|(number, binding)| Some((number, OutputContent::Words(binding.contents().1?.as_slice()))))
            .collect();
        self.end_compute(ticket, &outputs)
    }

    /// Bytes written so far, the index and the trailer not among them.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.at
    }

    /// The most bytes that the file would have if it were finished now.
    #[must_use]
    pub fn finished_bytes_bound(&self) -> u64 {
        // Offset, type and flags of a record take at most 19 bytes; a name has 5 before it, an offset of an end 9 beside keys.
        let names: usize = self.names_bytes + self.names.len() * 32;
        self.at + (4 * BLOCK + 64 + self.index.offsets.len() * 19 + names) as u64
    }

    /// The output.
    pub fn output(&self) -> &W {
        &self.out
    }

    fn words(&mut self, words: &[u32]) -> Result<BlobRef, WriteError> {
        self.blob(bytemuck::cast_slice(words))
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
        let checksum = if packed.is_none() { checksum_of_hashed(content, hash) } else { xxh3_64(payload) };
        let header = RecordHeader {
            kind: RecordKind::Blob,
            flags,
            stored: payload.len() as u64,
            unpacked: bytes,
            hash,
            checksum,
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

/// `xxh3_64` of a content whose `xxh3_128` is known. Beyond 240 bytes XXH3 makes both of the same sums, and the low half of the
/// long one is the short one; hashing large blobs once instead of twice is what keeps recording near the speed of the disk.
fn checksum_of_hashed(content: &[u8], hash: u128) -> u64 {
    if content.len() > 240 { hash as u64 } else { xxh3_64(content) }
}

/// A blob that is in the trace already. It is good for the writer that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBlob(BlobRef);

impl StoredBlob {
    /// Its length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }
}

/// A compute dispatch that has begun, for [`TraceWriter::end_compute`] of the same writer.
#[derive(Debug)]
pub struct ComputeTicket {
    begin: u64,
    number: usize,
    name: String,
    /// For each binding that is an output, its size in words where that is known.
    outputs: Vec<Option<Option<u64>>>,
}

/// Contents after a compute dispatch.
#[derive(Clone, Copy, Debug)]
pub enum OutputContent<'a> {
    /// To be written.
    Words(&'a [u32]),
    /// Taken by [`TraceWriter::store`] already.
    Stored(StoredBlob),
}

fn check_stored(dispatch: &ComputeDispatch, number: usize, blob: StoredBlob) -> Result<(), String> {
    let binding = dispatch.bindings.get(number).ok_or("there is no such binding")?;
    if binding.contents().0.is_some() {
        return Err("has contents before the dispatch, and stored ones as well".to_owned());
    }
    match binding.content_words() {
        Some(words) if words.checked_mul(4) != Some(blob.bytes()) => {
            Err(format!("expected {words} words before the dispatch, found {} bytes", blob.bytes()))
        }
        None if matches!(binding.resource, crate::BoundResource::Sampler(_)) => {
            Err("a sampler has no contents".to_owned())
        }
        _ => Ok(()),
    }
}

/// Writes a whole trace. It is written under another name in the same folder and renamed when it is complete, so that
/// whoever opens `path` finds the old content or the new one.
///
/// # Errors
/// What [`TraceWriter`] refuses; then nothing is left behind and what was at `path` is untouched.
pub fn write_trace(path: &Path, trace: &Trace, options: WriteOptions) -> Result<(), WriteError> {
    write_whole(path, &TraceMeta::from(trace), options, |writer| {
        trace.dispatches.iter().try_for_each(|dispatch| writer.add_dispatch(dispatch))
    })
}

/// As [`write_trace`], with dispatches of both kinds.
///
/// # Errors
/// As [`write_trace`].
pub fn write_recording(path: &Path, recording: &Recording, options: WriteOptions) -> Result<(), WriteError> {
    write_whole(path, &recording.meta, options, |writer| {
        recording.dispatches.iter().try_for_each(|dispatch| match dispatch {
            Recorded::Sample(dispatch) => writer.add_dispatch(dispatch),
            Recorded::Compute(dispatch) => writer.add_compute(dispatch),
        })
    })
}

type WholeWriter = TraceWriter<BufWriter<Replacement>>;

fn write_whole(
    path: &Path,
    meta: &TraceMeta,
    options: WriteOptions,
    add: impl FnOnce(&mut WholeWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let fail = |action| move |source| WriteError::File { path: path.to_owned(), action, source };
    let file = Replacement::new(path).map_err(fail("create"))?;
    let out = BufWriter::with_capacity(1 << 16, file);
    let mut writer = TraceWriter::start(out, Some(path.to_owned()), meta, options)?;
    add(&mut writer)?;
    let file = writer.finish()?.into_inner().map_err(|error| fail("write")(error.into_error()))?;
    file.commit().map_err(fail("write"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_a_hashed_content_is_that_of_the_content() {
        let content: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        let lengths = (0..3000).chain([4096, 65_535, 65_536, 131_073, 200_000]);
        for length in lengths {
            let content = &content[..length];
            assert_eq!(checksum_of_hashed(content, xxh3_128(content)), xxh3_64(content), "{length} bytes");
        }
    }
}
