//! Finding the records of a file without its index.

use std::fmt;

use super::{
    layout::{BLOCK, BLOCK_BYTES, Block, RECORD_MAGIC, RecordHeader, RecordKind, decode_trailer},
    shorten,
};

/// A record that is known to start and end at these offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub offset: u64,
    /// Offset behind the padding.
    pub end: u64,
    pub kind: RecordKind,
    pub flags: u32,
}

/// What a reader did without the index, and what it did not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Why the index could not be used.
    pub reason: String,
    /// The parts of the file that hold nothing readable, in their order. Empty when only the index is gone, as after a
    /// recording that ended between two records.
    pub lost: Vec<Lost>,
}

/// A part of a file that holds nothing readable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where it starts.
    pub offset: u64,
    /// Its length, in bytes of the file.
    pub bytes: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lost {} bytes at offset {}: {}", self.bytes, self.offset, self.problem)
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, records were found by a scan", self.reason)?;
        shorten(&self.lost, f)
    }
}

pub(super) fn block_at(bytes: &[u8], offset: u64) -> Option<&Block> {
    bytes.get(usize::try_from(offset).ok()?..)?.first_chunk::<BLOCK>()
}

/// Walks from record to record. Behind damage, the next offset at which a sound header stands is taken up.
pub(super) fn scan(bytes: &[u8]) -> (Vec<Located>, Vec<Lost>) {
    let len = bytes.len() as u64;
    let (mut records, mut lost) = (Vec::new(), Vec::new());
    let mut offset = BLOCK_BYTES;
    while offset < len {
        let problem = match record_at(bytes, offset) {
            Ok(record) => {
                offset = record.end;
                // An index is of no use any more: it is known to be damaged, or to be followed by something else.
                if record.kind != RecordKind::Index {
                    records.push(record);
                }
                continue;
            }
            Err(problem) => problem,
        };
        if block_at(bytes, offset).is_some_and(|block| decode_trailer(block, offset).is_ok()) {
            offset += BLOCK_BYTES;
            continue;
        }
        let next = next_header(bytes, offset + BLOCK_BYTES).unwrap_or(len);
        lost.push(Lost { offset, bytes: next - offset, problem });
        offset = next;
    }
    (records, lost)
}

/// The record that starts at an offset and is there in full.
fn record_at(bytes: &[u8], offset: u64) -> Result<Located, String> {
    let len = bytes.len() as u64;
    let Some(block) = block_at(bytes, offset) else {
        return Err(format!("the file ends inside a record's header ({} of {BLOCK} bytes)", len - offset));
    };
    let header = RecordHeader::decode(block, offset)?;
    match header.end(offset) {
        Some(end) if end <= len => Ok(Located { offset, end, kind: header.kind, flags: header.flags }),
        _ => Err(format!(
            "the file ends inside a {} ({} of {} bytes)",
            header.kind,
            len - offset - BLOCK_BYTES,
            header.stored
        )),
    }
}

fn next_header(bytes: &[u8], mut offset: u64) -> Option<u64> {
    loop {
        let block = block_at(bytes, offset)?;
        if block[..4] == RECORD_MAGIC && RecordHeader::decode(block, offset).is_ok() {
            return Some(offset);
        }
        offset += BLOCK_BYTES;
    }
}
