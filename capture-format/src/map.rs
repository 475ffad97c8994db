//! Memory maps of trace files.

use std::{fs::File, io, sync::Arc};

use memmap2::{Mmap, MmapMut};

/// Maps a whole file for reading. The file must not be empty.
#[allow(unsafe_code)]
pub(crate) fn map_file(file: &File) -> io::Result<Arc<Mmap>> {
    // SAFETY: a map is sound as long as nobody changes or shortens the mapped part of the file. The writers of this crate
    // keep to that: a finished trace is written under another name and renamed, a recording is only appended to, and
    // `TraceWriter::create` unlinks an older file instead of overwriting it. Another program that rewrites the file in place
    // breaks the promise; that is the known limit of every reader that maps its input, and is stated at `TraceReader::open`.
    let map = unsafe { Mmap::map(file) }?;
    Ok(Arc::new(map))
}

/// Copies bytes into an anonymous map, so that a trace in memory is read like one on disk. There must be at least one.
pub(crate) fn map_bytes(bytes: &[u8]) -> io::Result<Arc<Mmap>> {
    let mut map = MmapMut::map_anon(bytes.len())?;
    map.copy_from_slice(bytes);
    Ok(Arc::new(map.make_read_only()?))
}
