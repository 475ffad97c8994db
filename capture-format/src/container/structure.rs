//! The msgpack structures of the records.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::layout::RecordKind;
use crate::{Oracle, OracleSource, Trace};

/// What is known of a trace before its first dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceMeta {
    /// A short name, unique among the traces that are looked at together.
    pub name: String,
    /// What it shows, in a line.
    pub summary: String,
    /// The hardware whose results the dispatches carry.
    pub oracle: Oracle,
}

impl From<&Trace> for TraceMeta {
    fn from(trace: &Trace) -> Self {
        Self { name: trace.name.clone(), summary: trace.summary.clone(), oracle: trace.oracle.clone() }
    }
}

/// Payload of the trace header.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TraceRecord {
    name: String,
    #[serde(default)]
    summary: String,
    device: String,
    profile: String,
    source: String,
    #[serde(default)]
    note: String,
}

impl From<&TraceMeta> for TraceRecord {
    fn from(meta: &TraceMeta) -> Self {
        let oracle = meta.oracle.clone();
        Self {
            name: meta.name.clone(),
            summary: meta.summary.clone(),
            device: oracle.device,
            profile: oracle.profile,
            source: oracle.source.name().to_owned(),
            note: oracle.note,
        }
    }
}

impl TryFrom<TraceRecord> for TraceMeta {
    type Error = String;

    fn try_from(record: TraceRecord) -> Result<Self, String> {
        let source = OracleSource::ALL
            .into_iter()
            .find(|source| source.name() == record.source)
            .ok_or_else(|| format!("source {:?}, expected measured, published or synthetic", record.source))?;
        let oracle = Oracle { device: record.device, profile: record.profile, source, note: record.note };
        Ok(Self { name: record.name, summary: record.summary, oracle })
    }
}

/// A reference to a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct BlobRef {
    /// Offset of its record.
    pub at: u64,
    /// Its unpacked length.
    pub bytes: u64,
    /// Hash of its unpacked content, high half first.
    pub hash: [u64; 2],
}

impl BlobRef {
    pub fn new(at: u64, bytes: u64, hash: u128) -> Self {
        Self { at, bytes, hash: [(hash >> 64) as u64, hash as u64] }
    }

    pub fn hash(&self) -> u128 {
        u128::from(self.hash[0]) << 64 | u128::from(self.hash[1])
    }
}

/// A further T# of a sample dispatch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableImageRecord {
    pub words: [u32; 8],
    pub texels: BlobRef,
}

/// Payload of a sample dispatch.
///
/// With `more_images` or `more_samplers` there is a column that chooses among the entries. A reader that does not know tables
/// does not know that column either, and refuses the dispatch instead of sampling entry 0.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DispatchRecord {
    pub name: String,
    pub op: String,
    pub grid: [u32; 3],
    pub image: [u32; 8],
    #[serde(default)]
    pub sampler: Option<[u32; 4]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_images: Vec<TableImageRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_samplers: Vec<[u32; 4]>,
    #[serde(default)]
    pub border_table: Vec<[u32; 4]>,
    #[serde(default)]
    pub dmask: Option<u8>,
    pub columns: Vec<String>,
    pub texels: BlobRef,
    pub coords: BlobRef,
    #[serde(default)]
    pub expected: Option<BlobRef>,
    #[serde(default)]
    pub measured: Option<BlobRef>,
}

/// The one key that says which dispatch a record is, read without the rest.
#[derive(Debug, Deserialize)]
pub(super) struct DispatchName {
    pub name: String,
}

/// Payload of the index.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct IndexRecord {
    /// Offset of each record before the index, ascending.
    pub offsets: Vec<u64>,
    /// Type of each record.
    pub types: Vec<u32>,
    /// Flags of each record.
    pub flags: Vec<u32>,
    /// Names of the sample dispatches, in the order of their records.
    pub names: Vec<String>,
    /// The compute dispatches, in the order of their records. A reader that does not know them finds a sound index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compute: Vec<ComputeName>,
}

/// A compute dispatch in the index.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ComputeName {
    pub name: String,
    /// Offset of the record with its end, if it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

impl IndexRecord {
    pub fn push(&mut self, offset: u64, kind: RecordKind, flags: u32) {
        self.offsets.push(offset);
        self.types.push(kind.number());
        self.flags.push(flags);
    }
}

pub(super) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(payload).map_err(|error| format!("not the expected structure: {error}"))
}
