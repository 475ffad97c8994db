//! The container: what is written is read back, and damage of any kind is reported and never read as data.
#![allow(clippy::unwrap_used)] // helpers of tests may, as tests do

mod common;

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use capture_format::{
    Case, ContainerError, Dispatch, Trace, TraceMeta, TraceReader, TraceWriter, WriteError, WriteOptions,
    container::{ReadOptions, RecordKind},
    read_trace, write_trace,
};
use proptest::prelude::*;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

fn pack(trace: &Trace, options: WriteOptions) -> Vec<u8> {
    let mut writer = TraceWriter::begin(Vec::new(), &TraceMeta::from(trace), options).unwrap();
    trace.dispatches.iter().for_each(|dispatch| writer.add_dispatch(dispatch).unwrap());
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<TraceReader, ContainerError> {
    TraceReader::from_bytes(bytes, "t")
}

fn unpack(bytes: &[u8]) -> Trace {
    let reader = read(bytes).unwrap();
    assert!(reader.verify().is_empty(), "{:?}", reader.verify());
    reader.read_all().unwrap()
}

#[test]
fn shipped_cases_pack_and_unpack_and_pack_the_same() {
    for path in common::shipped_cases() {
        let trace = Case::read(&path).unwrap();
        let packed = pack(&trace, WriteOptions::default());
        assert_eq!(unpack(&packed), trace, "{}", path.display());
        assert_eq!(pack(&unpack(&packed), WriteOptions::default()), packed, "{}", path.display());
    }
}

#[test]
fn packed_traces_that_ship_are_what_their_cases_give() {
    for path in common::shipped_cases() {
        let folder = path.parent().unwrap();
        let stem = if path.ends_with("case.toml") { folder.file_name() } else { path.file_stem() };
        let packed_path = folder.join(format!("{}.texeltrace", stem.unwrap().to_str().unwrap()));
        let trace = Case::read(&path).unwrap();
        let repacked = pack(&trace, WriteOptions::compact());
        let same = fs::read(&packed_path).unwrap() == repacked;
        assert!(same, "{}: run cargo run -p capture-format --example pack-cases -- traces", packed_path.display());
        assert_eq!(read_trace(&packed_path).unwrap(), trace);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_traces_pack_and_unpack_and_pack_the_same(trace in common::trace(), level in proptest::option::of(1..20i32)) {
        let options = WriteOptions { compression: level };
        let packed = pack(&trace, options);
        let again = unpack(&packed);
        prop_assert_eq!(&again, &trace);
        prop_assert_eq!(pack(&again, options), packed);
    }

    #[test]
    fn any_bytes_behind_the_header_are_read_without_a_panic(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = pack(&common::small_trace(), WriteOptions::default());
        bytes.truncate(64);
        bytes.extend(tail);
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn a_file_is_read_in_place_and_its_blobs_are_aligned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("small.texeltrace");
    let trace = common::small_trace();
    write_trace(&path, &trace, WriteOptions::default()).unwrap();
    let reader = TraceReader::open(&path).unwrap();
    assert!(reader.recovery().is_none());
    assert_eq!(reader.names().collect::<Vec<_>>(), ["first", "second", "third"]);
    let dispatch = reader.dispatch(2).unwrap();
    assert_eq!(dispatch, trace.dispatches[2]);
    assert!(dispatch.texels.is_mapped() && dispatch.coords.words.is_mapped());
    assert_eq!(dispatch.texels.as_slice().as_ptr() as usize % 64, 0);
    let head = reader.dispatch_head(0).unwrap();
    assert_eq!((head.op, head.grid, head.texel_bytes), (trace.dispatches[0].op, [2, 1, 1], 12));
    // The words stay readable when the reader is gone and the file has lost its name.
    drop(reader);
    fs::remove_file(&path).unwrap();
    assert_eq!(dispatch, trace.dispatches[2]);
}

#[test]
fn equal_blobs_are_stored_once_and_long_ones_packed() {
    let trace = common::small_trace();
    let bytes = pack(&trace, WriteOptions::compact());
    let reader = read(&bytes).unwrap();
    let kinds: Vec<(RecordKind, bool)> = reader.records().map(|record| (record.kind, record.compressed)).collect();
    let (blob, packed) = ((RecordKind::Blob, false), (RecordKind::Blob, true));
    let dispatch = (RecordKind::SampleDispatch, false);
    assert_eq!(
        kinds,
        [
            (RecordKind::Trace, false),
            // Texels, coordinates, results and mask of the first dispatch.
            blob,
            blob,
            blob,
            blob,
            dispatch,
            // The second shares its texels, the third all but its texels.
            blob,
            dispatch,
            packed,
            dispatch,
            (RecordKind::Index, false),
        ]
    );
    let third = reader.records().nth(8).unwrap();
    assert_eq!(third.unpacked_bytes, 1200);
    assert!(third.stored_bytes < 100);
    assert!(!reader.dispatch(2).unwrap().texels.is_mapped());
    assert_eq!(unpack(&bytes), trace);
}

#[test]
fn tables_of_descriptors_are_stored_with_equal_texels_once() {
    let table = common::table_dispatch();
    let trace = Trace { dispatches: vec![table.clone()], ..common::small_trace() };
    for options in [WriteOptions::default(), WriteOptions::compact()] {
        let bytes = pack(&trace, options);
        let reader = read(&bytes).unwrap();
        // Texels of entries 0 and 1, those of entry 2, and the coordinates.
        assert_eq!(reader.records().filter(|record| record.kind == RecordKind::Blob).count(), 3);
        let head = reader.dispatch_head(0).unwrap();
        assert_eq!((head.image_count, head.sampler_count, head.texel_bytes), (3, 2, 12 + 12 + 1200));
        assert_eq!(unpack(&bytes), trace);
    }
}

#[test]
fn what_compressed_texels_of_a_table_unpack_to_together_is_limited() {
    let mut table = common::table_dispatch();
    for (n, image) in table.more_images.iter_mut().enumerate() {
        image.texels = vec![n as u32; 4096].into();
    }
    let trace = Trace { dispatches: vec![table.clone()], ..common::small_trace() };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.texeltrace");
    fs::write(&path, pack(&trace, WriteOptions::compact())).unwrap();
    let limit =
        |max_unpacked_bytes| TraceReader::open_with(&path, ReadOptions { max_unpacked_bytes }).unwrap().dispatch(0);
    assert_eq!(limit(2 * 16384).unwrap(), table);
    let error = limit(2 * 16384 - 4).unwrap_err().to_string();
    assert!(error.contains("texels of T# 0 to 2 of dispatch \"table\""), "{error}");
    assert!(error.ends_with("unpacks to 32768 bytes, the limit is 32764"), "{error}");
}

/// Offset of each dispatch's end in a packed trace, in order.
fn dispatch_ends(bytes: &[u8]) -> Vec<u64> {
    let records: Vec<_> = read(bytes).unwrap().records().collect();
    let ends = records.windows(2).filter(|pair| pair[0].kind == RecordKind::SampleDispatch).map(|pair| pair[1].offset);
    ends.collect()
}

#[test]
fn a_file_cut_anywhere_gives_every_dispatch_that_was_complete() {
    for options in [WriteOptions::default(), WriteOptions::compact()] {
        let trace = common::small_trace();
        let bytes = pack(&trace, options);
        let ends = dispatch_ends(&bytes);
        assert_eq!(ends.len(), 3);
        let header_end = read(&bytes).unwrap().records().nth(1).unwrap().offset as usize;
        for cut in 0..bytes.len() {
            let reader = match read(&bytes[..cut]) {
                Ok(reader) => reader,
                Err(error) => {
                    assert!(cut < header_end, "cut at {cut}: {error}");
                    continue;
                }
            };
            let complete = ends.iter().filter(|&&end| end <= cut as u64).count();
            assert_eq!(reader.len(), complete, "cut at {cut}");
            for index in 0..complete {
                assert_eq!(reader.dispatch(index).unwrap(), trace.dispatches[index], "cut at {cut}");
            }
            let recovery = reader.recovery().unwrap();
            let lost = recovery.lost.first();
            // Something is lost unless the cut is between two records, and it reaches up to the cut.
            assert!(lost.is_some() || cut % 64 == 0, "cut at {cut}: {recovery}");
            assert!(lost.is_none_or(|lost| lost.offset + lost.bytes == cut as u64), "cut at {cut}: {recovery}");
            assert!(matches!(reader.read_all(), Err(ContainerError::Incomplete { .. })), "cut at {cut}");
        }
    }
}

#[test]
fn a_cut_is_described_with_its_offset() {
    let bytes = pack(&common::small_trace(), WriteOptions::default());
    let blob = read(&bytes).unwrap().records().nth(8).unwrap();
    assert_eq!((blob.kind, blob.stored_bytes), (RecordKind::Blob, 1200));
    let cut = blob.offset as usize + 64 + 100;
    let reader = read(&bytes[..cut]).unwrap();
    assert_eq!(
        reader.read_all().unwrap_err().to_string(),
        format!(
            "t: incomplete: the file does not end in a trailer, records were found by a scan; \
             lost 164 bytes at offset {}: the file ends inside a blob (100 of 1200 bytes)",
            blob.offset
        )
    );
}

#[test]
fn a_flip_of_any_byte_is_found_and_never_read_as_data() {
    for options in [WriteOptions::default(), WriteOptions::compact()] {
        let trace = common::small_trace();
        let mut bytes = pack(&trace, options);
        let starts: Vec<u64> = read(&bytes).unwrap().records().map(|record| record.offset).collect();
        assert_eq!(starts.len(), 11);
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                bytes[at] ^= flip;
                check_flipped(&bytes, &trace, &starts, at);
                bytes[at] ^= flip;
            }
        }
        assert_eq!(unpack(&bytes), trace);
    }
}

/// Records of the small trace, by number, that each dispatch needs: its blobs and itself.
const NEEDED: [&[usize]; 3] = [&[1, 2, 3, 4, 5], &[1, 6, 7], &[2, 3, 4, 8, 9]];

/// `starts` are the offsets of the records, the index last.
fn check_flipped(bytes: &[u8], trace: &Trace, starts: &[u64], at: usize) {
    // The record that holds the byte; none holds the file header.
    let hit = starts.iter().rposition(|&start| start <= at as u64);
    let reader = match read(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            // Only the two headers are needed to open a file.
            assert!(matches!(hit, None | Some(0)), "byte {at}: {error}");
            let offset = format!("offset {}", if hit.is_none() { 0 } else { 64 });
            assert!(error.to_string().contains(&offset), "byte {at}: {error}");
            return;
        }
    };
    let hit = hit.expect("a damaged file header was accepted");
    let index = starts.len() - 1;
    assert_ne!(hit, 0, "byte {at}: a damaged trace header was accepted");
    assert_eq!(reader.meta(), &TraceMeta::from(trace));
    assert_eq!(reader.names().collect::<Vec<_>>(), ["first", "second", "third"]);
    for (number, original) in trace.dispatches.iter().enumerate() {
        match reader.dispatch(number) {
            Ok(dispatch) => {
                assert!(!NEEDED[number].contains(&hit), "byte {at} of what dispatch {number} needs was accepted");
                assert_eq!(&dispatch, original, "byte {at}");
            }
            Err(error) => {
                assert!(NEEDED[number].contains(&hit), "byte {at}: {error}");
                let offset = format!(" at offset {}: ", starts[hit]);
                assert!(error.to_string().contains(&offset), "byte {at}: {error}");
            }
        }
    }
    // Damage to index or trailer loses no dispatch and is told; all other is found by a check of the whole file.
    assert_eq!(reader.recovery().is_some(), hit == index, "byte {at}");
    let damaged: Vec<u64> = reader.records().filter(|record| record.problem.is_some()).map(|r| r.offset).collect();
    assert_eq!(damaged, if hit == index { vec![] } else { vec![starts[hit]] }, "byte {at}");
}

#[test]
fn damage_without_an_index_costs_only_what_it_hits() {
    let trace = common::small_trace();
    let bytes = pack(&trace, WriteOptions::default());
    let second = read(&bytes).unwrap().records().nth(7).unwrap();
    assert_eq!(second.kind, RecordKind::SampleDispatch);
    let mut damaged = bytes[..bytes.len() - 64].to_vec();
    damaged[second.offset as usize + 5] ^= 1;
    let reader = read(&damaged).unwrap();
    assert_eq!(reader.names().collect::<Vec<_>>(), ["first", "third"]);
    assert_eq!(reader.dispatch(1).unwrap(), trace.dispatches[2]);
    let recovery = reader.recovery().unwrap();
    assert_eq!(recovery.lost.len(), 1);
    assert_eq!(recovery.lost[0].offset, second.offset);
    assert_eq!(recovery.lost[0].problem, "the checksum of the record's header does not match");
}

#[test]
fn a_trace_inside_a_blob_is_not_taken_for_part_of_the_file() {
    let mut trace = common::small_trace();
    let inner: Vec<u32> =
        pack(&trace, WriteOptions::default()).as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    trace.dispatches.truncate(1);
    trace.dispatches[0].texels = inner.into();
    let bytes = pack(&trace, WriteOptions::default());
    // The header of the blob is lost, so the search for the next record runs through the inner trace.
    let blob = read(&bytes).unwrap().records().nth(1).unwrap();
    let mut damaged = bytes[..bytes.len() - 64].to_vec();
    damaged[blob.offset as usize] ^= 1;
    let reader = read(&damaged).unwrap();
    assert_eq!(reader.names().collect::<Vec<_>>(), ["first"]);
    let error = reader.dispatch(0).unwrap_err().to_string();
    assert_eq!(error, format!("t: texels of dispatch \"first\" at offset {}: no blob starts here", blob.offset));
}

/// Fails once it has taken `room` bytes, as a full disk does, and keeps what it took.
struct Full {
    taken: Vec<u8>,
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let free = self.room - self.taken.len();
        if free == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = &bytes[..bytes.len().min(free)];
        self.taken.extend(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_that_leaves_a_readable_file() {
    let trace = common::small_trace();
    let whole = pack(&trace, WriteOptions::default());
    for room in 0..whole.len() {
        let mut out = Full { taken: Vec::new(), room };
        let full = |error: &WriteError| matches!(error, WriteError::Output { source, .. } if source.kind() == io::ErrorKind::StorageFull);
        let mut added = 0;
        match TraceWriter::begin(&mut out, &TraceMeta::from(&trace), WriteOptions::default()) {
            Err(error) => assert!(full(&error), "room {room}: {error}"),
            Ok(mut writer) => {
                let mut failed = false;
                for dispatch in &trace.dispatches {
                    match writer.add_dispatch(dispatch) {
                        Ok(()) => added += 1,
                        Err(error) if failed => assert!(matches!(error, WriteError::FailedBefore { .. })),
                        Err(error) => {
                            assert!(full(&error), "room {room}: {error}");
                            failed = true;
                        }
                    }
                }
                assert!(writer.finish().is_err(), "room {room}");
            }
        }
        assert_eq!(out.taken, whole[..room]);
        match read(&out.taken) {
            Ok(reader) => {
                assert_eq!(reader.len(), added, "room {room}");
                for index in 0..added {
                    assert_eq!(reader.dispatch(index).unwrap(), trace.dispatches[index], "room {room}");
                }
            }
            Err(_) => assert_eq!(added, 0, "room {room}"),
        }
    }
}

#[test]
fn what_is_not_valid_is_refused_and_changes_nothing() {
    let trace = common::small_trace();
    let meta = TraceMeta::from(&trace);
    let mut writer = TraceWriter::begin(Vec::new(), &meta, WriteOptions::default()).unwrap();
    writer.add_dispatch(&trace.dispatches[0]).unwrap();
    let error = writer.add_dispatch(&trace.dispatches[0]).unwrap_err();
    assert_eq!(error.to_string(), "dispatch \"first\": a dispatch before this has the same name");
    let bad = Dispatch { grid: [3, 1, 1], name: "bad".to_owned(), ..trace.dispatches[0].clone() };
    let error = writer.add_dispatch(&bad).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dispatch \"bad\": coords: expected 3 rows of 2 for a grid of [3, 1, 1], found 4 words"
    );
    writer.add_dispatch(&trace.dispatches[1]).unwrap();
    writer.add_dispatch(&trace.dispatches[2]).unwrap();
    assert_eq!(writer.finish().unwrap(), pack(&trace, WriteOptions::default()));

    for level in [0, 20, -1] {
        let options = WriteOptions { compression: Some(level) };
        let error = TraceWriter::begin(Vec::new(), &meta, options).err().unwrap();
        assert_eq!(error.to_string(), format!("compression level {level}, expected 1 to 19"));
    }
}

#[test]
fn writing_a_trace_replaces_it_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.texeltrace");
    let mut trace = common::small_trace();
    write_trace(&path, &trace, WriteOptions::default()).unwrap();
    let old = TraceReader::open(&path).unwrap();
    trace.dispatches.pop();
    write_trace(&path, &trace, WriteOptions::default()).unwrap();
    assert_eq!(read_trace(&path).unwrap(), trace);
    assert_eq!(old.read_all().unwrap(), common::small_trace());

    trace.dispatches[1].grid = [0, 1, 1];
    let error = write_trace(&path, &trace, WriteOptions::default()).unwrap_err();
    assert!(matches!(error, WriteError::Invalid { .. }), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file was left behind");
    assert_eq!(read_trace(&path).unwrap().dispatches.len(), 2);

    // A recording takes the name over; who reads the old content keeps it.
    let old = TraceReader::open(&path).unwrap();
    let mut writer = TraceWriter::create(&path, &TraceMeta::from(&trace), WriteOptions::default()).unwrap();
    writer.add_dispatch(&common::small_trace().dispatches[2]).unwrap();
    assert_eq!(old.read_all().unwrap().dispatches.len(), 2);
    // What was added is in the file before the recording ends.
    let unfinished = TraceReader::open(&path).unwrap();
    assert_eq!(unfinished.dispatch(0).unwrap(), common::small_trace().dispatches[2]);
    assert!(unfinished.recovery().unwrap().lost.is_empty());
    writer.finish().unwrap();
    assert!(TraceReader::open(&path).unwrap().recovery().is_none());
    assert!(TraceWriter::create(dir.path(), &TraceMeta::from(&trace), WriteOptions::default()).is_err());
}

// Hostile files, made by hand from the description of the format.

/// A record at `offset`, with a header that is right for whatever is given.
fn record(offset: usize, kind: u32, flags: u32, lengths: (u64, u64), hash: u128, payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    block.extend(b"TREC");
    block.extend(kind.to_le_bytes());
    block.extend(flags.to_le_bytes());
    block.extend([0; 4]);
    block.extend(lengths.0.to_le_bytes());
    block.extend(lengths.1.to_le_bytes());
    block.extend(hash.to_le_bytes());
    block.extend(xxh3_64(payload).to_le_bytes());
    block.extend(xxh3_64_with_seed(&block, offset as u64).to_le_bytes());
    block.extend(payload);
    block.resize(block.len().next_multiple_of(64), 0);
    block
}

fn plain(bytes: &mut Vec<u8>, kind: u32, payload: &[u8]) -> u64 {
    let (offset, length) = (bytes.len(), payload.len() as u64);
    let hash = if kind == 2 { xxh3_128(payload) } else { 0 };
    bytes.extend(record(offset, kind, 0, (length, length), hash, payload));
    offset as u64
}

fn trailer(bytes: &mut Vec<u8>, index: u64) {
    let offset = bytes.len() as u64;
    let mut block = b"TEND\x01\0\0\0".to_vec();
    block.extend(index.to_le_bytes());
    block.resize(56, 0);
    block.extend(xxh3_64_with_seed(&block, offset).to_le_bytes());
    bytes.extend(block);
}

/// File header and trace header.
fn start() -> Vec<u8> {
    let trace = Trace { dispatches: Vec::new(), ..common::small_trace() };
    let bytes = pack(&trace, WriteOptions::default());
    let index = read(&bytes).unwrap().records().nth(1).unwrap();
    assert_eq!(index.kind, RecordKind::Index);
    bytes[..index.offset as usize].to_vec()
}

#[derive(serde::Serialize)]
struct Index {
    offsets: Vec<u64>,
    types: Vec<u32>,
    flags: Vec<u32>,
    names: Vec<String>,
}

#[derive(Clone, serde::Serialize)]
struct Reference {
    at: u64,
    bytes: u64,
    hash: [u64; 2],
}

#[derive(serde::Serialize)]
struct Record<'a> {
    name: &'a str,
    op: &'a str,
    grid: [u32; 3],
    image: [u32; 8],
    columns: Vec<&'a str>,
    texels: Reference,
    coords: Reference,
    unknown_key: Vec<String>,
}

fn reference(at: u64, content: &[u8]) -> Reference {
    let hash = xxh3_128(content);
    Reference { at, bytes: content.len() as u64, hash: [(hash >> 64) as u64, hash as u64] }
}

fn dispatch_record(name: &str, texels: &Reference, coords: &Reference) -> Vec<u8> {
    let record = Record {
        name,
        op: "image_load",
        grid: [1, 1, 1],
        image: [0; 8],
        columns: vec!["x"],
        texels: texels.clone(),
        coords: coords.clone(),
        unknown_key: vec!["skipped".to_owned()],
    };
    rmp_serde::to_vec_named(&record).unwrap()
}

#[test]
fn records_made_by_the_description_are_read() {
    let mut bytes = start();
    let word = 7u32.to_le_bytes();
    let blob = reference(plain(&mut bytes, 2, &word), &word);
    plain(&mut bytes, 3, &dispatch_record("d", &blob, &blob));
    let reader = read(&bytes).unwrap();
    let dispatch = reader.dispatch(0).unwrap();
    assert_eq!((&dispatch.texels[..], &dispatch.coords.words[..]), (&[7][..], &[7][..]));
    assert!(reader.recovery().unwrap().lost.is_empty());
}

#[test]
fn a_length_of_100_gib_in_a_short_file_allocates_nothing() {
    let huge = 100u64 << 30;
    let before = peak_kib();
    for (lengths, flags) in [((huge, huge), 0), ((u64::MAX, u64::MAX), 0), ((huge, huge), 1)] {
        let mut bytes = start();
        let at = bytes.len();
        bytes.extend(record(at, 2, flags, lengths, 0, &[]));
        let reader = read(&bytes).unwrap();
        let lost = &reader.recovery().unwrap().lost;
        assert_eq!((lost.len(), lost[0].offset), (1, at as u64));
        assert_eq!(lost[0].problem, format!("the file ends inside a blob (0 of {} bytes)", lengths.0));
    }
    // A short frame that claims to unpack to that much.
    let packed = zstd::bulk::compress(&[0; 4096], 3).unwrap();
    let mut bytes = start();
    let at = bytes.len();
    bytes.extend(record(at, 2, 1, (packed.len() as u64, huge), 5, &packed));
    let word = 7u32.to_le_bytes();
    let coords = reference(plain(&mut bytes, 2, &word), &word);
    let texels = Reference { at: at as u64, bytes: huge, hash: [0, 5] };
    plain(&mut bytes, 3, &dispatch_record("d", &texels, &coords));
    assert!(bytes.len() < 1024);
    assert_eq!(
        read(&bytes).unwrap().dispatch(0).unwrap_err().to_string(),
        format!("t: texels of dispatch \"d\" at offset {at}: unpacks to {huge} bytes, the limit is 1073741824")
    );
    // Within a limit that allows it, the frame's real content decides.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.texeltrace");
    fs::write(&path, &bytes).unwrap();
    let reader = TraceReader::open_with(&path, ReadOptions { max_unpacked_bytes: u64::MAX }).unwrap();
    let error = reader.dispatch(0).unwrap_err().to_string();
    assert!(error.ends_with(&format!("unpacks to 4096 bytes, expected {huge}")), "{error}");
    // Tests run side by side, so this leaves room for what the others take.
    assert!(peak_kib() - before < 4 << 20, "address space grew from {before} to {} KiB", peak_kib());
}

/// The most address space that this process has had, in KiB; it counts memory that was asked for and not touched.
/// 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.map_or(0, |line| line.trim_end_matches("kB").trim().parse().unwrap())
}

#[test]
fn references_that_lead_anywhere_else_are_refused() {
    let word = 7u32.to_le_bytes();
    let mut base = start();
    let blob = reference(plain(&mut base, 2, &word), &word);
    let dispatch_at = base.len() as u64;
    for (texels, problem) in [
        (Reference { at: 64, ..blob.clone() }, "no blob starts here"),
        (Reference { at: blob.at + 1, ..blob.clone() }, "no blob starts here"),
        (Reference { at: dispatch_at, ..blob.clone() }, "no blob starts here"),
        (Reference { at: u64::MAX, ..blob.clone() }, "no blob starts here"),
        (Reference { bytes: 8, ..blob.clone() }, "length or hash is not what the dispatch refers to"),
        (Reference { hash: [0, 0], ..blob.clone() }, "length or hash is not what the dispatch refers to"),
    ] {
        let mut bytes = base.clone();
        plain(&mut bytes, 3, &dispatch_record("d", &texels, &blob));
        let error = read(&bytes).unwrap().dispatch(0).unwrap_err().to_string();
        assert_eq!(error, format!("t: texels of dispatch \"d\" at offset {}: {problem}", texels.at));
    }
    // A blob behind its dispatch: references only lead back, so they can't run in a circle.
    let mut bytes = base.clone();
    let length = dispatch_record("d", &blob, &blob).len();
    let mut later = reference(dispatch_at + 64 + (length as u64).next_multiple_of(64), &[1, 0, 0, 0]);
    // The offset takes as many bytes in msgpack as the other one, or one or two more.
    while {
        let payload = dispatch_record("d", &later, &blob);
        let at = dispatch_at + 64 + (payload.len() as u64).next_multiple_of(64);
        let moved = at != later.at;
        later.at = at;
        moved
    } {}
    plain(&mut bytes, 3, &dispatch_record("d", &later, &blob));
    assert_eq!(plain(&mut bytes, 2, &[1, 0, 0, 0]), later.at);
    let error = read(&bytes).unwrap().dispatch(0).unwrap_err().to_string();
    assert!(error.ends_with("stands behind the dispatch that refers to it"), "{error}");
}

/// A dispatch record with a table of T#s, whatever that holds.
fn table_record(texels: &Reference, coords: &Reference, columns: &[&str], more: &[(Vec<u32>, Reference)]) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct Image<'a> {
        words: &'a [u32],
        texels: &'a Reference,
    }
    #[derive(serde::Serialize)]
    struct Table<'a> {
        name: &'a str,
        op: &'a str,
        grid: [u32; 3],
        image: [u32; 8],
        columns: &'a [&'a str],
        texels: &'a Reference,
        coords: &'a Reference,
        more_images: Vec<Image<'a>>,
    }
    let more_images = more.iter().map(|(words, texels)| Image { words, texels }).collect();
    let (name, op) = ("d", "image_load");
    let record = Table { name, op, grid: [1, 1, 1], image: [0; 8], columns, texels, coords, more_images };
    rmp_serde::to_vec_named(&record).unwrap()
}

#[test]
fn tables_that_lead_anywhere_or_are_too_long_are_refused() {
    let word = 7u32.to_le_bytes();
    let row = [1u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
    let mut base = start();
    let blob = reference(plain(&mut base, 2, &word), &word);
    let coords = reference(plain(&mut base, 2, &row), &row);
    let entry = |texels: &Reference| (vec![0; 8], texels.clone());
    let read_with = |record: Vec<u8>| {
        let mut bytes = base.clone();
        plain(&mut bytes, 3, &record);
        read(&bytes).unwrap().dispatch(0)
    };
    let columns = ["x", "image"];
    let good = read_with(table_record(&blob, &coords, &columns, &[entry(&blob)])).unwrap();
    assert_eq!((good.image_count(), good.image_at(1).unwrap().1[0]), (2, 7));
    let nowhere = Reference { at: 64, ..blob.clone() };
    let longer = Reference { bytes: 8, ..blob.clone() };
    let many = vec![entry(&blob); 65_536];
    let mut cut_off = table_record(&blob, &coords, &columns, &[]);
    // An array that states 2^32 - 1 entries where the record ends.
    assert_eq!(cut_off.pop(), Some(0x90));
    cut_off.extend([0xdd, 0xff, 0xff, 0xff, 0xff]);
    let before = peak_kib();
    for (record, problem) in [
        (
            table_record(&blob, &coords, &columns, &[entry(&nowhere)]),
            "texels of T# 1 of dispatch \"d\" at offset 64: no blob",
        ),
        (
            table_record(&blob, &coords, &columns, &[entry(&blob), entry(&longer)]),
            "texels of T# 2 of dispatch \"d\" at offset 256: length or hash is not what the dispatch refers to",
        ),
        (table_record(&blob, &coords, &columns, &[(vec![0; 7], blob.clone())]), "not the expected structure"),
        (table_record(&blob, &coords, &columns, &many), "65537 T#s, expected at most 65536"),
        (table_record(&blob, &coords, &columns, &[]), "column image: there is no table of T#s (images) to choose from"),
        (table_record(&blob, &coords, &["x", "y"], &[entry(&blob)]), "no column image to choose among them"),
    ] {
        let error = read_with(record).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}\n{problem}");
    }
    let mut bytes = base.clone();
    plain(&mut bytes, 3, &cut_off);
    let reader = read(&bytes).unwrap();
    let lost = &reader.recovery().unwrap().lost;
    assert_eq!((reader.len(), lost.len()), (0, 1));
    assert!(lost[0].problem.starts_with("sample dispatch: not the expected structure"), "{}", lost[0].problem);
    assert!(peak_kib() - before < 1 << 20, "address space grew from {before} to {} KiB", peak_kib());
}

#[test]
fn an_index_that_is_wrong_is_not_used() {
    let word = 7u32.to_le_bytes();
    let mut base = start();
    let blob_at = plain(&mut base, 2, &word);
    let blob = reference(blob_at, &word);
    let d = plain(&mut base, 3, &dispatch_record("d", &blob, &blob));
    let e = plain(&mut base, 3, &dispatch_record("e", &blob, &blob));
    let good = || (vec![64, blob_at, d, e], vec![1, 2, 3, 3], vec![0; 4], vec!["d", "e"]);
    let with_index = |(offsets, types, flags, names): (Vec<u64>, Vec<u32>, Vec<u32>, Vec<&str>)| {
        let mut bytes = base.clone();
        let names = names.into_iter().map(str::to_owned).collect();
        let index = rmp_serde::to_vec_named(&Index { offsets, types, flags, names }).unwrap();
        let at = plain(&mut bytes, 4, &index);
        trailer(&mut bytes, at);
        bytes
    };
    let bytes = with_index(good());
    assert!(read(&bytes).unwrap().recovery().is_none());
    assert_eq!(read(&bytes).unwrap().verify().len(), 0);

    type Change = fn(&mut (Vec<u64>, Vec<u32>, Vec<u32>, Vec<&str>));
    let changes: [(Change, &str); 11] = [
        (|i| i.0[2] = u64::MAX, "its offsets do not follow each other"),
        (|i| i.0[2] = i.0[1], "its offsets do not follow each other"),
        (|i| i.0[2] += 1, "its offsets do not follow each other"),
        (|i| i.0.swap(1, 2), "its offsets do not follow each other"),
        (|i| i.0[0] = 0, "its offsets do not follow each other"),
        (|i| i.0.truncate(3), "its lists differ in length"),
        (|i| i.1[3] = 1, "it lists a trace header or an index where there is none"),
        (|i| i.1[3] = 4, "it lists a trace header or an index where there is none"),
        (|i| i.3[1] = "d", "it names two dispatches alike"),
        (|i| i.3.truncate(1), "it does not name each dispatch"),
        (|i| i.2.clear(), "its lists differ in length"),
    ];
    for (change, problem) in changes {
        let mut index = good();
        change(&mut index);
        let reader = read(&with_index(index)).unwrap();
        assert_eq!(reader.recovery().unwrap().reason, format!("index at offset {}: {problem}", base.len()));
        assert_eq!(reader.names().collect::<Vec<_>>(), ["d", "e"]);
        assert!(reader.verify().is_empty());
    }

    // An index that is sound in itself and does not fit the records: each dispatch says so.
    let mut index = good();
    index.3 = vec!["e", "d"];
    let error = read(&with_index(index)).unwrap().dispatch(0).unwrap_err().to_string();
    assert_eq!(error, format!("t: dispatch \"e\" at offset {d}: the record names itself \"d\""));
    let mut index = good();
    index.0.remove(2);
    (index.1, index.2, index.3) = (vec![1, 2, 3], vec![0; 3], vec!["e"]);
    let reader = read(&with_index(index)).unwrap();
    assert!(reader.verify()[0].to_string().ends_with("its 4 bytes do not end where the next record starts"));

    // A trailer that names anything but the index.
    for at in [0, 64, blob_at, e + 1, base.len() as u64 + 4096, u64::MAX] {
        let mut bytes = base.clone();
        trailer(&mut bytes, at);
        let reader = read(&bytes).unwrap();
        assert_eq!(reader.len(), 2, "index at {at}");
        assert!(reader.recovery().is_some(), "index at {at}");
    }
}

#[test]
fn two_dispatches_of_one_name_are_refused() {
    let word = 7u32.to_le_bytes();
    let mut bytes = start();
    let blob = reference(plain(&mut bytes, 2, &word), &word);
    plain(&mut bytes, 3, &dispatch_record("d", &blob, &blob));
    let second = plain(&mut bytes, 3, &dispatch_record("d", &blob, &blob));
    assert_eq!(
        read(&bytes).err().unwrap().to_string(),
        format!("t: dispatch \"d\" at offset {second}: a dispatch before this has the same name")
    );
}

#[test]
fn records_of_unknown_types_are_skipped_unless_they_must_be_understood() {
    let trace = common::small_trace();
    let word = 7u32.to_le_bytes();
    let mut bytes = start();
    let at = bytes.len();
    bytes.extend(record(at, 19, 0, (5, 9), 1, b"label"));
    let blob = reference(plain(&mut bytes, 2, &word), &word);
    plain(&mut bytes, 3, &dispatch_record("d", &blob, &blob));
    let reader = read(&bytes).unwrap();
    assert_eq!(reader.meta().name, trace.name);
    assert_eq!(reader.skipped().collect::<Vec<_>>(), [(at as u64, RecordKind::Unknown(19))]);
    assert!(reader.dispatch(0).is_ok());

    let at = bytes.len();
    bytes.extend(record(at, 18, 2, (0, 0), 0, &[]));
    assert_eq!(
        read(&bytes).err().unwrap().to_string(),
        format!(
            "t: record of type 18 (SPIR-V module) at offset {at} must be understood to read this trace; \
             a newer version of this program can"
        )
    );
}

#[test]
fn other_versions_and_other_files_are_named() {
    let mut bytes = start();
    for (version, message) in [
        (2u32, "t: format version 2, this program reads 1 to 1"),
        (0, "t: format version 0, this program reads 1 to 1"),
    ] {
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let checksum = xxh3_64(&bytes[..16]);
        bytes[16..24].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(read(&bytes).err().unwrap().to_string(), message);
    }
    assert_eq!(
        read(&[0; 64]).err().unwrap().to_string(),
        "t: not a trace: offset 0 does not hold the first bytes of one"
    );
    assert_eq!(
        read(&[]).err().unwrap().to_string(),
        "t: not a trace: 0 bytes, expected a file header of 64 at offset 0"
    );
    let dir = tempfile::tempdir().unwrap();
    assert!(TraceReader::open(dir.path()).err().unwrap().to_string().ends_with("cannot open: not a regular file"));
    let error = TraceReader::open(Path::new("none.texeltrace")).err().unwrap().to_string();
    assert!(error.starts_with("none.texeltrace: cannot open: "), "{error}");
    let error = unpack_error(&start());
    assert!(error.contains("the file does not end in a trailer"), "{error}");
}

fn unpack_error(bytes: &[u8]) -> String {
    read(bytes).unwrap().read_all().unwrap_err().to_string()
}
