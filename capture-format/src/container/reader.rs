//! Reading a container.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use memmap2::Mmap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::{
    ContainerError, Lost, Recovery, blob,
    compute_record::{ComputeEndRecord, ComputeRecord, EndedDispatch},
    layout::{
        BLOCK, BLOCK_BYTES, FLAG_MUST_UNDERSTAND, FileHeader, RecordHeader, RecordKind, VERSION, decode_file_header,
        decode_trailer,
    },
    scan::{Located, block_at, scan},
    structure::{BlobRef, ComputeName, DispatchName, DispatchRecord, IndexRecord, TraceMeta, TraceRecord, decode},
};
use crate::{
    Column, ComputeDispatch, Coords, Dispatch, DispatchKind, Expected, MAX_TABLE_ENTRIES, Op, Recorded, Recording,
    TableImage, Trace, Words, map,
};

/// Limits of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The most bytes that a compressed blob may unpack to. Blobs that are not compressed are used in place and not limited.
    /// The default is 1 GiB, one level of 16384² texels.
    pub max_unpacked_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_unpacked_bytes: blob::MAX_PACKED_BYTES as u64 }
    }
}

/// A trace file that is open for reading. Dispatches are read when they are asked for.
pub struct TraceReader {
    path: PathBuf,
    map: Arc<Mmap>,
    options: ReadOptions,
    version: u32,
    meta: TraceMeta,
    /// All records but the index, in their order.
    records: Vec<Located>,
    /// The index, if it was used.
    index: Option<Located>,
    dispatches: Vec<Entry>,
    recovery: Option<Recovery>,
}

struct Entry {
    name: String,
    record: Located,
    /// The end of a compute dispatch.
    end: Option<Located>,
}

/// A dispatch without its blobs: what is known of it without reading texels, coordinates and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchHead {
    /// Unique within the trace.
    pub name: String,
    /// Offset of its record.
    pub offset: u64,
    /// The instruction.
    pub op: Op,
    /// Number of invocations in x, y, z.
    pub grid: [u32; 3],
    /// The T#, entry 0 when there is a table.
    pub image: [u32; 8],
    /// The S#, entry 0 when there is a table.
    pub sampler: Option<[u32; 4]>,
    /// Number of T#s.
    pub image_count: usize,
    /// Number of S#s.
    pub sampler_count: usize,
    /// What the columns of the coordinates hold.
    pub columns: Vec<Column>,
    /// Bytes of the texels of all T#s; texels that several entries share count each time. Saturates at `u64::MAX`.
    pub texel_bytes: u64,
    /// Whether there are results of an oracle.
    pub has_expected: bool,
}

/// One record of a file, as [`TraceReader::records`] gives it.
#[derive(Debug)]
pub struct RecordInfo {
    /// Where its header starts.
    pub offset: u64,
    /// What it holds.
    pub kind: RecordKind,
    /// Bytes of its payload in the file.
    pub stored_bytes: u64,
    /// Bytes of its payload when unpacked.
    pub unpacked_bytes: u64,
    /// Whether the payload is compressed.
    pub compressed: bool,
    /// What is wrong with its header, checksum or padding; then the lengths are what its place leaves.
    pub problem: Option<ContainerError>,
}

/// What was found of the structure of a file: by its index, or by a scan.
struct Found {
    records: Vec<Located>,
    index: Option<Located>,
    dispatches: Vec<Entry>,
    recovery: Option<Recovery>,
}

impl TraceReader {
    /// Opens a trace. Takes no longer for a large one than for a small one with as many records.
    ///
    /// The file is mapped, and blobs are used in place: as long as the reader or what it gave out lives, the file may be
    /// appended to, renamed or removed, but not overwritten or cut short.
    ///
    /// # Errors
    /// A file that is not a trace, is of an unknown version, or has no sound file header and trace header. All other damage is
    /// reported by [`TraceReader::recovery`] or by the dispatch that it concerns.
    pub fn open(path: &Path) -> Result<Self, ContainerError> {
        Self::open_with(path, ReadOptions::default())
    }

    /// As [`TraceReader::open`], with other limits.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn open_with(path: &Path, options: ReadOptions) -> Result<Self, ContainerError> {
        let fail = |source| ContainerError::Io { path: path.to_owned(), action: "open", source };
        // Asked before opening: opening a pipe would wait for its other end.
        if !fs::metadata(path).map_err(fail)?.is_file() {
            return Err(fail(std::io::Error::other("not a regular file")));
        }
        let file = File::open(path).map_err(fail)?;
        let bytes = file.metadata().map_err(fail)?.len();
        check_length(path, bytes)?;
        Self::new(path.to_owned(), map::map_file(&file).map_err(fail)?, options)
    }

    /// Reads a trace from memory; `label` stands for its path in errors.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn from_bytes(bytes: &[u8], label: impl Into<PathBuf>) -> Result<Self, ContainerError> {
        let path = label.into();
        check_length(&path, bytes.len() as u64)?;
        let map = map::map_bytes(bytes);
        let map = map.map_err(|source| ContainerError::Io { path: path.clone(), action: "copy", source })?;
        Self::new(path, map, ReadOptions::default())
    }

    fn new(path: PathBuf, map: Arc<Mmap>, options: ReadOptions) -> Result<Self, ContainerError> {
        let version = read_file_header(&path, &map)?;
        let found = match by_index(&map) {
            Ok(found) => found,
            Err(reason) => by_scan(&path, &map, reason)?,
        };
        let unknown = |record: &&Located| matches!(record.kind, RecordKind::Unknown(_));
        let must = |record: &&Located| record.flags & FLAG_MUST_UNDERSTAND != 0;
        if let Some(record) = found.records.iter().filter(unknown).find(must) {
            return Err(ContainerError::NotUnderstood { path, kind: record.kind, offset: record.offset });
        }
        let meta = read_meta(&path, &map, found.records.first())?;
        let Found { records, index, dispatches, recovery } = found;
        Ok(Self { path, map, options, version, meta, records, index, dispatches, recovery })
    }

    /// The file, as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format version of the file.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Name, summary and oracle.
    #[must_use]
    pub fn meta(&self) -> &TraceMeta {
        &self.meta
    }

    /// Number of dispatches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.dispatches.len()
    }

    /// Whether there is no dispatch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dispatches.is_empty()
    }

    /// Names of the dispatches in recording order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.dispatches.iter().map(|entry| entry.name.as_str())
    }

    /// What was lost, if the file had to be read without its index. A caller shows this to the user.
    #[must_use]
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// Records of types that this version skips: their offsets and types.
    pub fn skipped(&self) -> impl Iterator<Item = (u64, RecordKind)> {
        let unknown = |record: &&Located| matches!(record.kind, RecordKind::Unknown(_));
        self.records.iter().filter(unknown).map(|record| (record.offset, record.kind))
    }

    /// Which kind of dispatch it is; `None` for a number out of range.
    #[must_use]
    pub fn kind(&self, index: usize) -> Option<DispatchKind> {
        self.dispatches.get(index).map(Entry::kind)
    }

    /// A sample dispatch without its blobs. Reads its own record and checks it.
    ///
    /// # Errors
    /// A number out of range, a compute dispatch, and a damaged record.
    pub fn dispatch_head(&self, index: usize) -> Result<DispatchHead, ContainerError> {
        let entry = self.entry_of(index, DispatchKind::Sample)?;
        let record = self.dispatch_record(entry)?;
        let fail = |problem: String| self.damaged(&entry.what(), entry.record.offset, problem);
        Ok(DispatchHead {
            op: record.op.parse().map_err(|error: crate::op::UnknownOp| fail(error.to_string()))?,
            columns: columns(&record).map_err(fail)?,
            name: record.name,
            offset: entry.record.offset,
            grid: record.grid,
            image: record.image,
            sampler: record.sampler,
            image_count: record.more_images.len() + 1,
            sampler_count: usize::from(record.sampler.is_some()) + record.more_samplers.len(),
            texel_bytes: record
                .more_images
                .iter()
                .fold(record.texels.bytes, |sum, image| sum.saturating_add(image.texels.bytes)),
            has_expected: record.expected.is_some(),
        })
    }

    /// Reads a dispatch of either kind, as [`TraceReader::dispatch`] and [`TraceReader::compute`] do.
    ///
    /// # Errors
    /// As these.
    pub fn recorded(&self, index: usize) -> Result<Recorded, ContainerError> {
        match self.entry(index)?.kind() {
            DispatchKind::Sample => self.dispatch(index).map(Recorded::Sample),
            DispatchKind::Compute => self.compute(index).map(Recorded::Compute),
        }
    }

    /// Reads a compute dispatch. Records and blobs are checked against their checksums on each call; blobs that are not
    /// compressed are then used in place.
    ///
    /// # Errors
    /// A number out of range, a sample dispatch, a damaged record or blob, a blob beyond the limit, and a dispatch that fails
    /// [`ComputeDispatch::check`].
    pub fn compute(&self, index: usize) -> Result<ComputeDispatch, ContainerError> {
        let entry = self.entry_of(index, DispatchKind::Compute)?;
        let offset = entry.record.offset;
        let fail = |problem: String| self.damaged(&entry.what(), offset, problem);
        let (_, payload) = self.checked(&entry.what(), &entry.record)?;
        let record: ComputeRecord = decode(payload).map_err(fail)?;
        if record.name != entry.name {
            return Err(fail(format!("the record names itself {:?}", record.name)));
        }
        let module = self.blob_words(entry, "module", &record.module)?;
        let isa = record.isa.as_ref().map(|isa| self.blob_words(entry, "machine code", isa)).transpose()?;
        let mut dispatch = record.dispatch(module, isa.unwrap_or_default()).map_err(fail)?;
        for (place, bound) in record.bindings.iter().enumerate() {
            if let Some(before) = &bound.before {
                let words = self.blob_words(entry, &format!("contents of binding {place}"), before)?;
                dispatch.bindings[place].set_before(words);
            }
        }
        if let Some(end) = &entry.end {
            self.read_end(entry, end, &mut dispatch)?;
        }
        dispatch.check().map_err(|problem| ContainerError::Invalid {
            path: self.path.clone(),
            name: dispatch.name.clone(),
            offset,
            problem,
        })?;
        Ok(dispatch)
    }

    /// Adds what the end of a compute dispatch says.
    fn read_end(&self, entry: &Entry, end: &Located, dispatch: &mut ComputeDispatch) -> Result<(), ContainerError> {
        let what = format!("end of {}", entry.what());
        let fail = |problem: String| self.damaged(&what, end.offset, problem);
        let (_, payload) = self.checked(&what, end)?;
        let record: ComputeEndRecord = decode(payload).map_err(fail)?;
        if record.begin != entry.record.offset {
            return Err(fail(format!("belongs to the dispatch at offset {}", record.begin)));
        }
        dispatch.ended = true;
        for output in &record.outputs {
            let place = output.binding as usize;
            let Some(binding) = dispatch.bindings.get(place).filter(|binding| binding.is_output()) else {
                return Err(fail(format!("binding {place} is no output")));
            };
            if binding.contents().1.is_some() {
                return Err(fail(format!("binding {place} has two contents")));
            }
            let words = self.blob_before(entry, end, &format!("output of binding {place}"), &output.after)?;
            dispatch.bindings[place].set_after(words);
        }
        Ok(())
    }

    /// Reads a dispatch. Its record and its blobs are checked against their checksums on each call; blobs that are not
    /// compressed are then used in place.
    ///
    /// # Errors
    /// A number out of range, a compute dispatch, a damaged record or blob, a blob beyond the limit, and a dispatch that fails
    /// [`Dispatch::check`].
    pub fn dispatch(&self, index: usize) -> Result<Dispatch, ContainerError> {
        let entry = self.entry_of(index, DispatchKind::Sample)?;
        let record = self.dispatch_record(entry)?;
        let offset = entry.record.offset;
        let fail = |problem: String| self.damaged(&entry.what(), offset, problem);
        let op = record.op.parse().map_err(|error: crate::op::UnknownOp| fail(error.to_string()))?;
        let columns = columns(&record).map_err(fail)?;
        let expected = match (&record.expected, &record.measured) {
            (Some(words), measured) => Some(Expected {
                words: self.blob_words(entry, "results", words)?,
                measured: measured.as_ref().map(|mask| self.blob_bytes(entry, "mask", mask)).transpose()?,
            }),
            (None, None) => None,
            (None, Some(_)) => return Err(fail("a mask of measured channels without results".to_owned())),
        };
        let texels = self.blob_words(entry, "texels", &record.texels)?;
        let dispatch = Dispatch {
            more_images: self.table_images(entry, &record, &texels)?,
            more_samplers: record.more_samplers,
            texels,
            coords: Coords { columns, words: self.blob_words(entry, "coordinates", &record.coords)? },
            name: record.name,
            op,
            grid: record.grid,
            image: record.image,
            sampler: record.sampler,
            border_table: record.border_table,
            dmask: record.dmask,
            expected,
        };
        dispatch.check().map_err(|problem| ContainerError::Invalid {
            path: self.path.clone(),
            name: dispatch.name.clone(),
            offset,
            problem,
        })?;
        Ok(dispatch)
    }

    /// The further T#s of a table. A blob that several entries refer to is read once, and what compressed blobs unpack to
    /// together is limited as one blob is.
    fn table_images(
        &self,
        entry: &Entry,
        record: &DispatchRecord,
        first: &Words,
    ) -> Result<Vec<TableImage>, ContainerError> {
        if record.more_images.len() >= MAX_TABLE_ENTRIES {
            let problem = format!("{} T#s, expected at most {MAX_TABLE_ENTRIES}", record.more_images.len() + 1);
            return Err(self.damaged(&entry.what(), entry.record.offset, problem));
        }
        let mut known = HashMap::from([(record.texels, first.clone())]);
        let mut unpacked = if first.is_mapped() { 0 } else { record.texels.bytes };
        let mut images = Vec::with_capacity(record.more_images.len());
        for (at, image) in record.more_images.iter().enumerate() {
            let texels = match known.get(&image.texels) {
                Some(texels) => texels.clone(),
                None => {
                    let part = format!("texels of T# {}", at + 1);
                    let read = self.blob_words(entry, &part, &image.texels)?;
                    if !read.is_mapped() {
                        unpacked = unpacked.saturating_add(image.texels.bytes);
                        let limit = self.options.max_unpacked_bytes;
                        if unpacked > limit {
                            return Err(ContainerError::TooLarge {
                                path: self.path.clone(),
                                record: blob_name(entry, &format!("texels of T# 0 to {}", at + 1)),
                                offset: entry.record.offset,
                                bytes: unpacked,
                                limit,
                            });
                        }
                    }
                    known.insert(image.texels, read.clone());
                    read
                }
            };
            images.push(TableImage { words: image.words, texels });
        }
        Ok(images)
    }

    /// All records with their lengths, each checked against its checksums. The whole file is read.
    pub fn records(&self) -> impl Iterator<Item = RecordInfo> {
        self.records.iter().chain(&self.index).map(|record| {
            let left = record.end.saturating_sub(record.offset).saturating_sub(BLOCK_BYTES);
            let (header, problem) = match self.checked(&record.kind.to_string(), record) {
                Ok((header, _)) => (Some(header), None),
                Err(error) => (None, Some(error)),
            };
            RecordInfo {
                offset: record.offset,
                kind: record.kind,
                stored_bytes: header.map_or(left, |header| header.stored),
                unpacked_bytes: header.map_or(left, |header| header.unpacked),
                compressed: header.is_some_and(|header| header.compressed()),
                problem,
            }
        })
    }

    /// Reads everything and gives what is wrong: damaged records and dispatches that can't be read. Damage that was found on
    /// opening is in [`TraceReader::recovery`].
    #[must_use]
    pub fn verify(&self) -> Vec<ContainerError> {
        let records = self.records().filter_map(|record| record.problem);
        let dispatches = (0..self.len()).filter_map(|index| self.recorded(index).err());
        records.chain(dispatches).collect()
    }

    fn entry(&self, index: usize) -> Result<&Entry, ContainerError> {
        let count = self.dispatches.len();
        let missing = || ContainerError::NoSuchDispatch { path: self.path.clone(), index, count };
        self.dispatches.get(index).ok_or_else(missing)
    }

    fn entry_of(&self, index: usize, expected: DispatchKind) -> Result<&Entry, ContainerError> {
        let entry = self.entry(index)?;
        let found = entry.kind();
        if found == expected {
            return Ok(entry);
        }
        Err(ContainerError::OtherKind { path: self.path.clone(), name: entry.name.clone(), found, expected })
    }

    fn damaged(&self, record: &str, offset: u64, problem: impl Into<String>) -> ContainerError {
        damaged(&self.path, record, offset, problem)
    }

    fn checked(&self, what: &str, record: &Located) -> Result<(RecordHeader, &[u8]), ContainerError> {
        checked_record(&self.map, record).map_err(|problem| self.damaged(what, record.offset, problem))
    }

    fn dispatch_record(&self, entry: &Entry) -> Result<DispatchRecord, ContainerError> {
        let (_, payload) = self.checked(&entry.what(), &entry.record)?;
        let record: DispatchRecord =
            decode(payload).map_err(|problem| self.damaged(&entry.what(), entry.record.offset, problem))?;
        if record.name != entry.name {
            let problem = format!("the record names itself {:?}", record.name);
            return Err(self.damaged(&entry.what(), entry.record.offset, problem));
        }
        Ok(record)
    }

    /// The payload that a reference leads to, as stored, checked, with its header.
    fn blob(&self, entry: &Entry, part: &str, reference: &BlobRef) -> Result<(RecordHeader, &[u8]), ContainerError> {
        self.blob_of(entry, &entry.record, part, reference)
    }

    /// As [`Self::blob`], for one that `referring`, a record of the entry, refers to.
    fn blob_of(
        &self,
        entry: &Entry,
        referring: &Located,
        part: &str,
        reference: &BlobRef,
    ) -> Result<(RecordHeader, &[u8]), ContainerError> {
        let what = blob_name(entry, part);
        let position = self.records.binary_search_by_key(&reference.at, |record| record.offset);
        let record = position.ok().and_then(|position| self.records.get(position));
        let Some(record) = record.filter(|record| record.kind == RecordKind::Blob) else {
            return Err(self.damaged(&what, reference.at, "no blob starts here"));
        };
        if record.offset >= referring.offset {
            return Err(self.damaged(&what, reference.at, "stands behind the dispatch that refers to it"));
        }
        let (header, payload) = self.checked(&what, record)?;
        if (header.unpacked, header.hash) != (reference.bytes, reference.hash()) {
            return Err(self.damaged(&what, reference.at, "length or hash is not what the dispatch refers to"));
        }
        Ok((header, payload))
    }

    /// Unpacks a compressed blob in pieces and checks what comes out.
    fn unpack(
        &self,
        entry: &Entry,
        part: &str,
        at: u64,
        (header, payload): (RecordHeader, &[u8]),
        mut take: impl FnMut(&[u8], usize),
    ) -> Result<(), ContainerError> {
        let what = blob_name(entry, part);
        let (bytes, limit) = (header.unpacked, self.options.max_unpacked_bytes);
        let length = usize::try_from(bytes).ok().filter(|_| bytes <= limit);
        let Some(length) = length else {
            return Err(ContainerError::TooLarge { path: self.path.clone(), record: what, offset: at, bytes, limit });
        };
        let mut hash = Xxh3::new();
        let unpacked = blob::unpack(payload, bytes, |piece| {
            hash.update(piece);
            take(piece, length);
        });
        unpacked.map_err(|problem| self.damaged(&what, at, problem))?;
        if hash.digest128() != header.hash {
            return Err(self.damaged(&what, at, "the hash of the unpacked content does not match"));
        }
        Ok(())
    }

    fn blob_words(&self, entry: &Entry, part: &str, reference: &BlobRef) -> Result<Words, ContainerError> {
        self.blob_before(entry, &entry.record, part, reference)
    }

    fn blob_before(
        &self,
        entry: &Entry,
        referring: &Located,
        part: &str,
        reference: &BlobRef,
    ) -> Result<Words, ContainerError> {
        let (header, payload) = self.blob_of(entry, referring, part, reference)?;
        let fail = |problem| self.damaged(&blob_name(entry, part), reference.at, problem);
        if !header.unpacked.is_multiple_of(4) {
            return Err(fail("not a whole number of words"));
        }
        if header.compressed() {
            let mut words: Vec<u32> = Vec::new();
            self.unpack(entry, part, reference.at, (header, payload), |piece, length| {
                // Doubling as a vector does, but not beyond what can still come.
                let more = piece.len() / 4;
                if words.capacity() - words.len() < more {
                    let left = (length / 4).saturating_sub(words.len());
                    words.reserve_exact(more.max(words.len().min(left)));
                }
                words.extend(piece.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
            })?;
            return Ok(words.into());
        }
        let start = usize::try_from(reference.at).ok().and_then(|at| at.checked_add(BLOCK));
        let words = start.and_then(|start| Words::from_map(self.map.clone(), start, payload.len()));
        words.ok_or_else(|| fail("does not lie in the file"))
    }

    fn blob_bytes(&self, entry: &Entry, part: &str, reference: &BlobRef) -> Result<Vec<u8>, ContainerError> {
        let (header, payload) = self.blob(entry, part, reference)?;
        if !header.compressed() {
            return Ok(payload.to_vec());
        }
        let mut bytes = Vec::new();
        self.unpack(entry, part, reference.at, (header, payload), |piece, _| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }
}

impl Entry {
    fn kind(&self) -> DispatchKind {
        if self.record.kind == RecordKind::Compute { DispatchKind::Compute } else { DispatchKind::Sample }
    }

    /// Where it stands among the others: a compute dispatch where it ended, behind all others when it did not.
    fn place(&self) -> (bool, u64) {
        match (self.kind(), &self.end) {
            (DispatchKind::Sample, _) => (false, self.record.offset),
            (DispatchKind::Compute, Some(end)) => (false, end.offset),
            (DispatchKind::Compute, None) => (true, self.record.offset),
        }
    }

    fn what(&self) -> String {
        format!("dispatch {:?}", self.name)
    }
}

fn blob_name(entry: &Entry, part: &str) -> String {
    format!("{part} of dispatch {:?}", entry.name)
}

fn columns(record: &DispatchRecord) -> Result<Vec<Column>, String> {
    let parse = |name: &String| name.parse().map_err(|error: crate::dispatch::UnknownColumn| error.to_string());
    record.columns.iter().map(parse).collect()
}

fn damaged(path: &Path, record: &str, offset: u64, problem: impl Into<String>) -> ContainerError {
    ContainerError::Damaged { path: path.to_owned(), record: record.to_owned(), offset, problem: problem.into() }
}

fn check_length(path: &Path, bytes: u64) -> Result<(), ContainerError> {
    if bytes < BLOCK_BYTES {
        let problem = format!("{bytes} bytes, expected a file header of {BLOCK} at offset 0");
        return Err(ContainerError::NotATrace { path: path.to_owned(), problem });
    }
    Ok(())
}

fn read_file_header(path: &Path, map: &[u8]) -> Result<u32, ContainerError> {
    let Some(block) = block_at(map, 0) else {
        check_length(path, map.len() as u64)?;
        return Err(damaged(path, "file header", 0, "not there"));
    };
    match decode_file_header(block) {
        FileHeader::Version(version @ 1..=VERSION) => Ok(version),
        FileHeader::Version(found) => Err(ContainerError::Version { path: path.to_owned(), found }),
        FileHeader::Damaged(problem) => Err(damaged(path, "file header", 0, problem)),
        FileHeader::NotATrace => Err(ContainerError::NotATrace {
            path: path.to_owned(),
            problem: "offset 0 does not hold the first bytes of one".to_owned(),
        }),
    }
}

/// Header and payload of a record, after all checks: place, header, checksum, padding.
fn checked_record<'a>(map: &'a [u8], record: &Located) -> Result<(RecordHeader, &'a [u8]), String> {
    let block = block_at(map, record.offset).ok_or("the file ends before it")?;
    let header = RecordHeader::decode(block, record.offset)?;
    if (header.kind, header.flags) != (record.kind, record.flags) {
        return Err(format!("is a {} with flags {}, not what the index says", header.kind, header.flags));
    }
    if header.end(record.offset) != Some(record.end) {
        return Err(format!("its {} bytes do not end where the next record starts", header.stored));
    }
    let range = |from: u64, to: u64| map.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?);
    let start = record.offset + BLOCK_BYTES;
    // The sum can't overflow: it is at most `record.end`.
    let end = start + header.stored;
    let (Some(payload), Some(padding)) = (range(start, end), range(end, record.end)) else {
        return Err(format!("the file ends inside its {} bytes", header.stored));
    };
    if xxh3_64(payload) != header.checksum {
        return Err("the checksum of the payload does not match".to_owned());
    }
    if padding.iter().any(|&byte| byte != 0) {
        return Err("the padding behind it is not zero".to_owned());
    }
    Ok((header, payload))
}

fn read_meta(path: &Path, map: &[u8], first: Option<&Located>) -> Result<TraceMeta, ContainerError> {
    let fail = |offset, problem: String| damaged(path, "trace header", offset, problem);
    let record = first.ok_or_else(|| fail(BLOCK_BYTES, "the file ends before it is complete".to_owned()))?;
    if record.kind != RecordKind::Trace || record.offset != BLOCK_BYTES {
        return Err(fail(BLOCK_BYTES, format!("the first sound record is a {} at {}", record.kind, record.offset)));
    }
    let (_, payload) = checked_record(map, record).map_err(|problem| fail(record.offset, problem))?;
    let meta = decode::<TraceRecord>(payload).and_then(TraceMeta::try_from);
    meta.map_err(|problem| fail(record.offset, problem))
}

/// Takes the records from the index. The error says why it can't be used.
fn by_index(map: &[u8]) -> Result<Found, String> {
    let len = map.len() as u64;
    if !len.is_multiple_of(BLOCK_BYTES) {
        return Err("the file does not end in a trailer".to_owned());
    }
    let trailer = len - BLOCK_BYTES;
    let at = decode_trailer(block_at(map, trailer).ok_or("the file does not end in a trailer")?, trailer)?;
    if !at.is_multiple_of(BLOCK_BYTES) || at < BLOCK_BYTES || at >= trailer {
        return Err(format!("the trailer names offset {at} for the index, which lies outside the records"));
    }
    let index = Located { offset: at, end: trailer, kind: RecordKind::Index, flags: 0 };
    let (_, payload) = checked_record(map, &index).map_err(|problem| format!("index at offset {at}: {problem}"))?;
    let content: IndexRecord = decode(payload).map_err(|problem| format!("index at offset {at}: {problem}"))?;
    let fail = |problem: &str| Err(format!("index at offset {at}: {problem}"));

    let count = content.offsets.len();
    if content.types.len() != count || content.flags.len() != count {
        return fail("its lists differ in length");
    }
    let mut records = Vec::with_capacity(count);
    for (i, &offset) in content.offsets.iter().enumerate() {
        let end = content.offsets.get(i + 1).copied().unwrap_or(at);
        // The first record stands behind the file header, and each ends where the next one starts.
        let room = end.checked_sub(offset).is_some_and(|bytes| bytes >= BLOCK_BYTES);
        if !room || !offset.is_multiple_of(BLOCK_BYTES) || (i == 0 && offset != BLOCK_BYTES) {
            return fail("its offsets do not follow each other");
        }
        let kind = RecordKind::from_number(content.types[i]);
        if (kind == RecordKind::Trace) != (i == 0) || kind == RecordKind::Index {
            return fail("it lists a trace header or an index where there is none");
        }
        records.push(Located { offset, end, kind, flags: content.flags[i] });
    }
    let dispatches: Vec<&Located> = records.iter().filter(|record| record.kind == RecordKind::SampleDispatch).collect();
    if dispatches.len() != content.names.len() {
        return fail("it does not name each dispatch");
    }
    let computes: Vec<&Located> = records.iter().filter(|record| record.kind == RecordKind::Compute).collect();
    if computes.len() != content.compute.len() {
        return fail("it does not name each compute dispatch");
    }
    let mut names = HashSet::new();
    let all = content.names.iter().chain(content.compute.iter().map(|entry| &entry.name));
    if !all.into_iter().all(|name| names.insert(name.as_str())) {
        return fail("it names two dispatches alike");
    }
    drop(names);
    let samples = content.names.into_iter().zip(dispatches);
    let mut entries: Vec<Entry> = samples.map(|(name, record)| Entry { name, record: *record, end: None }).collect();
    let mut ends = HashSet::new();
    for (ComputeName { name, end }, record) in content.compute.into_iter().zip(computes) {
        let located = end.map(|end| {
            let at = records.binary_search_by_key(&end, |record| record.offset).ok()?;
            let found = records.get(at).filter(|found| found.kind == RecordKind::ComputeEnd)?;
            (found.offset > record.offset && ends.insert(end)).then_some(*found)
        });
        let end = match located {
            Some(None) => return fail("it names an end of a compute dispatch where there is none"),
            Some(end) => end,
            None => None,
        };
        entries.push(Entry { name, record: *record, end });
    }
    entries.sort_by_key(Entry::place);
    let dispatches = entries;
    Ok(Found { records, index: Some(index), dispatches, recovery: None })
}

/// Finds the records without the index.
fn by_scan(path: &Path, map: &[u8], reason: String) -> Result<Found, ContainerError> {
    let (records, mut lost) = scan(map);
    let mut dispatches: Vec<Entry> = Vec::new();
    let mut names = HashSet::new();
    for record in &records {
        let mut lose = |problem: String| {
            lost.push(Lost { offset: record.offset, bytes: record.end - record.offset, problem });
        };
        match record.kind {
            RecordKind::SampleDispatch | RecordKind::Compute => {
                let name = checked_record(map, record).and_then(|(_, payload)| decode::<DispatchName>(payload));
                match name {
                    Ok(DispatchName { name }) if names.insert(name.clone()) => {
                        dispatches.push(Entry { name, record: *record, end: None });
                    }
                    Ok(DispatchName { name }) => {
                        let problem = "a dispatch before this has the same name".to_owned();
                        return Err(damaged(path, &format!("dispatch {name:?}"), record.offset, problem));
                    }
                    Err(problem) => lose(format!("{}: {problem}", record.kind)),
                }
            }
            RecordKind::ComputeEnd => {
                let begin = checked_record(map, record).and_then(|(_, payload)| decode::<EndedDispatch>(payload));
                // Dispatches stand in the order of their records here.
                let found = begin.map(|EndedDispatch { begin }| {
                    let at = dispatches.binary_search_by_key(&begin, |entry| entry.record.offset).ok()?;
                    dispatches.get_mut(at).filter(|entry| entry.kind() == DispatchKind::Compute)
                });
                match found {
                    Ok(Some(entry)) if entry.end.is_none() => entry.end = Some(*record),
                    Ok(Some(entry)) => lose(format!("a second end of dispatch {:?}", entry.name)),
                    Ok(None) => lose("the end of a compute dispatch that is lost".to_owned()),
                    Err(problem) => lose(format!("{}: {problem}", record.kind)),
                }
            }
            RecordKind::Trace if record.offset != BLOCK_BYTES => lose("a second trace header".to_owned()),
            _ => {}
        }
    }
    lost.sort_by_key(|part| part.offset);
    dispatches.sort_by_key(Entry::place);
    Ok(Found { records, index: None, dispatches, recovery: Some(Recovery { reason, lost }) })
}

/// Reads a whole trace.
///
/// # Errors
/// As [`TraceReader::open`] and [`TraceReader::dispatch`], and a file that was cut short or damaged, even if all its
/// dispatches could be read: what else was there is not known. [`TraceReader`] gives what is left of such a file. A compute
/// dispatch: [`TraceReader::read_recording`] reads both kinds.
pub fn read_trace(path: &Path) -> Result<Trace, ContainerError> {
    TraceReader::open(path)?.read_all()
}

impl TraceReader {
    /// Reads all dispatches of a trace that has sample dispatches only.
    ///
    /// # Errors
    /// As [`read_trace`].
    pub fn read_all(&self) -> Result<Trace, ContainerError> {
        self.complete()?;
        let TraceMeta { name, summary, oracle } = self.meta.clone();
        let dispatches = (0..self.len()).map(|index| self.dispatch(index)).collect::<Result<_, _>>()?;
        Ok(Trace { name, summary, oracle, dispatches })
    }

    /// Reads all dispatches of both kinds.
    ///
    /// # Errors
    /// As [`read_trace`].
    pub fn read_recording(&self) -> Result<Recording, ContainerError> {
        self.complete()?;
        let dispatches = (0..self.len()).map(|index| self.recorded(index)).collect::<Result<_, _>>()?;
        Ok(Recording { meta: self.meta.clone(), dispatches })
    }

    fn complete(&self) -> Result<(), ContainerError> {
        let Some(recovery) = &self.recovery else { return Ok(()) };
        let recovery = Box::new(recovery.clone());
        Err(ContainerError::Incomplete { path: self.path.clone(), recovery })
    }
}
