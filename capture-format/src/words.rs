//! Arrays of 32-bit words that are either owned or used in place from a mapped file.

use std::{fmt, ops::Deref, sync::Arc};

use memmap2::Mmap;

/// A cheaply cloned, immutable array of little-endian 32-bit words.
///
/// Texels, coordinates and results are arrays of words. Read from a container they stay in the map and are used in place.
#[derive(Clone)]
pub struct Words(Storage);

#[derive(Clone)]
enum Storage {
    /// Not `Arc<[u32]>`, which would copy the words of a vector.
    Owned(Arc<Vec<u32>>),
    /// `offset` and `len` are in bytes; the range was checked to lie inside the map, aligned to 4, when this was made.
    Mapped { map: Arc<Mmap>, offset: usize, len: usize },
}

impl Words {
    /// Words in `len` bytes of a map from `offset` on, used in place.
    ///
    /// `None` when the range is not inside the map, is not a whole number of words, or does not start at a word's boundary.
    #[must_use]
    pub fn from_map(map: Arc<Mmap>, offset: usize, len: usize) -> Option<Self> {
        let bytes = map.get(offset..offset.checked_add(len)?)?;
        bytemuck::try_cast_slice::<u8, u32>(bytes).ok()?;
        Some(Self(Storage::Mapped { map, offset, len }))
    }

    /// The words as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        match &self.0 {
            Storage::Owned(words) => words,
            Storage::Mapped { map, offset, len } => bytemuck::cast_slice(&map[*offset..*offset + *len]),
        }
    }

    /// Whether the words are read in place from a mapped file.
    #[must_use]
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Storage::Mapped { .. })
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Self {
        Self(Storage::Owned(Arc::new(words)))
    }
}

impl From<&[u32]> for Words {
    fn from(words: &[u32]) -> Self {
        words.to_vec().into()
    }
}

impl Default for Words {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        self.as_slice()
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.as_slice();
        write!(f, "Words({} words", words.len())?;
        for word in words.iter().take(4) {
            write!(f, " {word:#010x}")?;
        }
        f.write_str(if words.len() > 4 { " …)" } else { ")" })
    }
}
