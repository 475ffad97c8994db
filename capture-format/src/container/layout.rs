//! The fixed parts of the file: header, record headers, trailer.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The version that is written. Versions from 1 up to this are read.
pub const VERSION: u32 = 1;

/// Size of the file header, of a record's header and of the trailer, and what everything is aligned to.
pub(super) const BLOCK: usize = 64;
pub(super) const BLOCK_BYTES: u64 = BLOCK as u64;

pub(super) const FLAG_COMPRESSED: u32 = 1;
pub(super) const FLAG_MUST_UNDERSTAND: u32 = 2;

/// The first bytes of every trace: a byte that is no text, a name, and line ends that a transfer as text would change.
pub(crate) const FILE_MAGIC: [u8; 8] = *b"\x89TXTR\r\n\x1a";
pub(super) const RECORD_MAGIC: [u8; 4] = *b"TREC";
const TRAILER_MAGIC: [u8; 4] = *b"TEND";

pub(super) type Block = [u8; BLOCK];

/// `bytes` up to the next multiple of [`BLOCK`].
pub(super) fn padded(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(BLOCK_BYTES)
}

fn u32_at(block: &Block, at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&block[at..at + 4]);
    u32::from_le_bytes(bytes)
}

fn u64_at(block: &Block, at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&block[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// Name, summary and oracle of the trace.
    Trace,
    /// Texels, coordinates, results, or a mask of measured channels.
    Blob,
    /// A sample dispatch without its blobs.
    SampleDispatch,
    /// Where the other records are.
    Index,
    /// A compute dispatch, written before it runs.
    Compute,
    /// The end of a compute dispatch, with its outputs.
    ComputeEnd,
    /// A type that this version skips.
    Unknown(u32),
}

impl RecordKind {
    /// The kind that a type number stands for.
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Trace,
            2 => Self::Blob,
            3 => Self::SampleDispatch,
            4 => Self::Index,
            16 => Self::Compute,
            17 => Self::ComputeEnd,
            other => Self::Unknown(other),
        }
    }

    /// The number that stands in the file.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::Trace => 1,
            Self::Blob => 2,
            Self::SampleDispatch => 3,
            Self::Index => 4,
            Self::Compute => 16,
            Self::ComputeEnd => 17,
            Self::Unknown(number) => number,
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trace => "trace header",
            Self::Blob => "blob",
            Self::SampleDispatch => "sample dispatch",
            Self::Index => "index",
            Self::Compute => "compute dispatch",
            Self::ComputeEnd => "end of a compute dispatch",
            Self::Unknown(number) => {
                let reserved = match number {
                    18 => " (SPIR-V module)",
                    19 => " (label)",
                    _ => "",
                };
                return write!(f, "record of type {number}{reserved}");
            }
        })
    }
}

/// What the file header says, or why it can't be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileHeader {
    Version(u32),
    NotATrace,
    Damaged(&'static str),
}

pub(super) fn encode_file_header() -> Block {
    let mut block = [0; BLOCK];
    block[..8].copy_from_slice(&FILE_MAGIC);
    block[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let checksum = xxh3_64(&block[..16]);
    block[16..24].copy_from_slice(&checksum.to_le_bytes());
    block
}

pub(super) fn decode_file_header(block: &Block) -> FileHeader {
    if block[..8] != FILE_MAGIC {
        return FileHeader::NotATrace;
    }
    if u64_at(block, 16) != xxh3_64(&block[..16]) {
        return FileHeader::Damaged("the checksum does not match");
    }
    let version = u32_at(block, 8);
    // What else a newer header holds is not known.
    if version == VERSION && (u32_at(block, 12) != 0 || block[24..].iter().any(|&byte| byte != 0)) {
        return FileHeader::Damaged("not zero where it must be");
    }
    FileHeader::Version(version)
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub kind: RecordKind,
    pub flags: u32,
    /// Bytes of the payload as stored.
    pub stored: u64,
    /// Bytes of the payload when unpacked.
    pub unpacked: u64,
    /// Hash of the unpacked payload, for blobs.
    pub hash: u128,
    /// Checksum of the payload as stored.
    pub checksum: u64,
}

impl RecordHeader {
    pub fn compressed(&self) -> bool {
        self.flags & FLAG_COMPRESSED != 0
    }

    /// Offset behind the record that starts at `offset`, padding included.
    pub fn end(&self, offset: u64) -> Option<u64> {
        offset.checked_add(BLOCK_BYTES)?.checked_add(padded(self.stored)?)
    }

    pub fn encode(&self, offset: u64) -> Block {
        let mut block = [0; BLOCK];
        block[..4].copy_from_slice(&RECORD_MAGIC);
        block[4..8].copy_from_slice(&self.kind.number().to_le_bytes());
        block[8..12].copy_from_slice(&self.flags.to_le_bytes());
        block[16..24].copy_from_slice(&self.stored.to_le_bytes());
        block[24..32].copy_from_slice(&self.unpacked.to_le_bytes());
        block[32..48].copy_from_slice(&self.hash.to_le_bytes());
        block[48..56].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = xxh3_64_with_seed(&block[..56], offset);
        block[56..].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// The header in a block that stands at `offset`, or what is wrong with it.
    pub fn decode(block: &Block, offset: u64) -> Result<Self, &'static str> {
        if block[..4] != RECORD_MAGIC {
            return Err("no record starts here");
        }
        if u64_at(block, 56) != xxh3_64_with_seed(&block[..56], offset) {
            return Err("the checksum of the record's header does not match");
        }
        let mut hash = [0; 16];
        hash.copy_from_slice(&block[32..48]);
        let header = Self {
            kind: RecordKind::from_number(u32_at(block, 4)),
            flags: u32_at(block, 8),
            stored: u64_at(block, 16),
            unpacked: u64_at(block, 24),
            hash: u128::from_le_bytes(hash),
            checksum: u64_at(block, 48),
        };
        header.check(u32_at(block, 12)).map(|()| header)
    }

    /// Whether the fields of a record of a known type make sense together.
    fn check(&self, reserved: u32) -> Result<(), &'static str> {
        if matches!(self.kind, RecordKind::Unknown(_)) {
            return Ok(());
        }
        if reserved != 0 {
            return Err("not zero where it must be");
        }
        if self.flags & !(FLAG_COMPRESSED | FLAG_MUST_UNDERSTAND) != 0 {
            return Err("unknown flags");
        }
        if self.compressed() && self.kind != RecordKind::Blob {
            return Err("compressed, which only blobs may be");
        }
        if !self.compressed() && self.stored != self.unpacked {
            return Err("not compressed, but its two lengths differ");
        }
        Ok(())
    }
}

pub(super) fn encode_trailer(index: u64, offset: u64) -> Block {
    let mut block = [0; BLOCK];
    block[..4].copy_from_slice(&TRAILER_MAGIC);
    block[4..8].copy_from_slice(&VERSION.to_le_bytes());
    block[8..16].copy_from_slice(&index.to_le_bytes());
    let checksum = xxh3_64_with_seed(&block[..56], offset);
    block[56..].copy_from_slice(&checksum.to_le_bytes());
    block
}

/// The offset of the index that a trailer at `offset` names, or what is wrong with it.
pub(super) fn decode_trailer(block: &Block, offset: u64) -> Result<u64, &'static str> {
    if block[..4] != TRAILER_MAGIC {
        return Err("the file does not end in a trailer");
    }
    if u64_at(block, 56) != xxh3_64_with_seed(&block[..56], offset) {
        return Err("the checksum of the trailer does not match");
    }
    Ok(u64_at(block, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: RecordHeader = RecordHeader {
        kind: RecordKind::Blob,
        flags: FLAG_COMPRESSED,
        stored: 0x0102_0304_0506_0708,
        unpacked: 0x1112_1314_1516_1718,
        hash: 0x2122_2324_2526_2728_292a_2b2c_2d2e_2f30,
        checksum: 0x3132_3334_3536_3738,
    };

    #[test]
    fn record_headers_are_laid_out_as_documented() {
        let block = HEADER.encode(128);
        assert_eq!(block[..24], *b"TREC\x02\0\0\0\x01\0\0\0\0\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01");
        assert_eq!((block[24], block[32], block[47], block[48], block[55]), (0x18, 0x30, 0x21, 0x38, 0x31));
        assert_eq!(RecordHeader::decode(&block, 128), Ok(HEADER));
    }

    #[test]
    fn a_header_is_bound_to_its_offset() {
        let problem = "the checksum of the record's header does not match";
        assert_eq!(RecordHeader::decode(&HEADER.encode(128), 192), Err(problem));
    }

    #[test]
    fn lengths_that_overflow_have_no_end() {
        assert_eq!(RecordHeader { stored: u64::MAX - 10, ..HEADER }.end(64), None);
        assert_eq!(RecordHeader { stored: u64::MAX - 63, ..HEADER }.end(64), None);
        assert_eq!(RecordHeader { stored: 65, ..HEADER }.end(64), Some(256));
    }

    #[test]
    fn fields_that_contradict_each_other_are_refused() {
        let decode = |header: RecordHeader| RecordHeader::decode(&header.encode(64), 64);
        assert_eq!(
            decode(RecordHeader { kind: RecordKind::Index, ..HEADER }),
            Err("compressed, which only blobs may be")
        );
        assert_eq!(decode(RecordHeader { flags: 0, ..HEADER }), Err("not compressed, but its two lengths differ"));
        assert_eq!(decode(RecordHeader { flags: 4, ..HEADER }), Err("unknown flags"));
        let unknown = RecordHeader { kind: RecordKind::Unknown(99), flags: 4, ..HEADER };
        assert_eq!(decode(unknown), Ok(unknown));
    }
}
