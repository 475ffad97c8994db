//! The binary form of a trace: `.texeltrace`.
//!
//! # Format, version 1
//!
//! All integers are little-endian, all offsets count from the start of the file. Everything starts at a multiple of 64 bytes;
//! what is left over up to the next multiple is zero, and checked to be. Checksums are XXH3, 64 bits, seed 0 if not said
//! otherwise.
//!
//! **File header**, 64 bytes: magic `89 54 58 54 52 0d 0a 1a`, version u32, zero u32, checksum of these 16 bytes u64, zeros.
//!
//! **Record**: a header of 64 bytes, then the payload.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | `TREC` |
//! | 4..8 | type |
//! | 8..12 | flags: bit 0, the payload is one zstd frame; bit 1, a reader that does not know the type must refuse the file |
//! | 12..16 | zero |
//! | 16..24 | bytes of the payload as stored |
//! | 24..32 | bytes of the payload when unpacked; equal to the former when it is not compressed |
//! | 32..48 | XXH3-128 of the unpacked payload for blobs, else zero |
//! | 48..56 | checksum of the payload as stored |
//! | 56..64 | checksum of bytes 0..56, its seed the offset of the record |
//!
//! The seed binds a header to its place: a trace that is stored inside a blob of another can't be mistaken for records of
//! that other when records are searched for after damage.
//!
//! | type | record | payload |
//! |---|---|---|
//! | 1 | trace header, exactly one, the first | msgpack: `name`, `summary`, `device`, `profile`, `source`, `note` |
//! | 2 | blob | raw bytes: words of texels, coordinates, results; bytes of a mask |
//! | 3 | sample dispatch | msgpack, below |
//! | 4 | index, the last | msgpack: `offsets`, `types` and `flags` of all records before it; `names` of the sample dispatches; `compute` dispatches, each with its `name` and the offset of its `end` |
//! | 16 | compute dispatch, written before it runs | msgpack, below |
//! | 17 | end of a compute dispatch | msgpack: `begin`, the offset of the record above; `outputs`, each a `binding` by its number and the blob `after` |
//! | 18 | reserved: a SPIR-V module | |
//! | 19 | reserved: a label | |
//!
//! msgpack structures are maps with names for keys; keys that a reader does not know are skipped, and so are records of a
//! type that it does not know, unless flag bit 1 is set.
//!
//! A **sample dispatch** has `name`, `op`, `grid`, `image`, `sampler`, `border_table`, `dmask`, `columns`, and refers to blobs
//! before it: `texels`, `coords`, `expected`, `measured`. Such a reference is the offset `at`, the unpacked `bytes`, and the
//! `hash` as two 64-bit halves, high half first. Equal blobs are stored once.
//!
//! A sample dispatch with tables of descriptors has `image`, `texels` and `sampler` as entries 0, and the others in
//! `more_images`, each with `words` and the blob `texels`, and in `more_samplers`. A table has at most 65,536 entries. Where
//! there is one, `columns` holds `image` or `sampler`: the entry that a sample uses, an unsigned integer. A reader from before
//! tables does not know these columns and gives an error for the dispatch; it reads the other dispatches of the file.
//!
//! A **compute dispatch** has `name`, `module` (a blob: SPIR-V), `entry`, `specialization` (`id`, `value`, `bytes`),
//! `push_constants`, `groups`, `shader_hash` and `isa` (a blob) of the guest's shader, `labels`, and `bindings`. A binding has
//! `set`, `binding`, `element`, `kind` (`sampled-image`, `combined-image`, `storage-image`, `sampler`, `uniform-buffer`,
//! `storage-buffer`), the guest's descriptor (`image`, `sampler`, `buffer`), whether it is an `output`, and the blob `before`
//! with its contents; images `format` (a `VkFormat`), `view`, `extent`, `layers`, `levels`; buffers `words`, `element_type`,
//! `channels`, `grid`. A dispatch without an end is one in which the recording host died or stopped recording.
//!
//! **Trailer**, the last 64 bytes: `TEND`, version u32, offset of the index u64, zeros up to 56, checksum of bytes 0..56 with
//! the trailer's offset as seed.
//!
//! A blob's zstd window is at most 8 MiB.
//!
//! # What is read from a damaged file
//!
//! Opening reads the file header, the trailer, the index and the trace header, no more. Without a sound index the records are
//! found by a scan, and [`TraceReader::recovery`] says what was lost and where. A dispatch's own record and its blobs are
//! checked when it is asked for, each time: a flipped byte gives an error naming the record and its offset, and the other
//! dispatches are still read.

mod blob;
mod compute_record;
mod layout;
mod reader;
mod scan;
mod structure;
mod writer;

use std::{fmt, path::PathBuf};

pub(crate) use compute_record::BindingFields;
pub(crate) use layout::FILE_MAGIC;
pub use layout::{RecordKind, VERSION};
pub use reader::{DispatchHead, ReadOptions, RecordInfo, TraceReader, read_trace};
pub use scan::{Lost, Recovery};
pub use structure::TraceMeta;
pub use writer::{
    ComputeTicket, OutputContent, StoredBlob, TraceWriter, WriteError, WriteOptions, write_recording, write_trace,
};

use crate::{DispatchKind, DispatchProblem};

#[cfg(target_endian = "big")]
compile_error!("blobs are little-endian and used in place; a big-endian reader would have to swap them");

/// Why a trace file, or a part of it, can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, such as `open`.
        action: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no trace at all.
    #[error("{}: not a trace: {problem}", path.display())]
    NotATrace {
        /// The file.
        path: PathBuf,
        /// What was found at offset 0.
        problem: String,
    },
    /// The file is of a version that this program does not read.
    #[error("{}: format version {found}, this program reads 1 to {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version it states.
        found: u32,
    },
    /// The file holds a record that must be understood and is not.
    #[error("{}: {kind} at offset {offset} must be understood to read this trace; a newer version of this program can", path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// The record's type.
        kind: RecordKind,
        /// Offset of the record.
        offset: u64,
    },
    /// A record is damaged or contradicts another.
    #[error("{}: {record} at offset {offset}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the record is, with the dispatch it belongs to.
        record: String,
        /// Offset of the record.
        offset: u64,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// A blob unpacks to more than [`ReadOptions::max_unpacked_bytes`].
    #[error("{}: {record} at offset {offset}: unpacks to {bytes} bytes, the limit is {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What the record is, with the dispatch it belongs to.
        record: String,
        /// Offset of the record.
        offset: u64,
        /// The unpacked length that the record states.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A dispatch was read in full and contradicts itself.
    #[error("{}: dispatch {name:?} at offset {offset}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Name of the dispatch.
        name: String,
        /// Offset of its record.
        offset: u64,
        /// What is wrong.
        problem: DispatchProblem,
    },
    /// The trace has no dispatch of that number.
    #[error("{}: no dispatch {index}, the trace has {count}", path.display())]
    NoSuchDispatch {
        /// The file.
        path: PathBuf,
        /// The number asked for, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The dispatch is not of the kind that was asked for.
    #[error("{}: dispatch {name:?} is a {found}, expected a {expected}{}", path.display(), hint(*found))]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// Name of the dispatch.
        name: String,
        /// What it is.
        found: DispatchKind,
        /// What was asked for.
        expected: DispatchKind,
    },
    /// A whole trace was asked for, and the file was cut short or damaged.
    #[error("{}: incomplete: {recovery}", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What was lost.
        recovery: Box<Recovery>,
    },
}

/// Where dispatches of a kind are of use.
fn hint(found: DispatchKind) -> &'static str {
    match found {
        DispatchKind::Compute => "; the path `recorded` runs compute dispatches",
        DispatchKind::Sample => "",
    }
}

/// Shows at most a few items of a list, so that a message stays short.
fn shorten<T: fmt::Display>(items: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SHOWN: usize = 4;
    for item in items.iter().take(SHOWN) {
        write!(f, "; {item}")?;
    }
    if items.len() > SHOWN {
        write!(f, "; and {} more", items.len() - SHOWN)?;
    }
    Ok(())
}
