//! Whether a file is still the one that was opened.

use std::{fs::Metadata, path::Path, time::SystemTime};

/// A file as it was at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// `None` when there was none.
    file: Option<Found>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Which file of the file system it is.
    identity: Option<(u64, u64)>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is none any more. What is mapped of it stays readable.
    Gone,
    /// Another file is in its place, or there is a file where there was none. What is mapped of the old one stays readable.
    Replaced,
    /// It was written to in place. What is mapped may hold other bytes now, which its checksums tell.
    Written,
    /// It was shortened in place, so that a part of what is mapped is gone and must not be read.
    Shortened,
}

impl Stamp {
    /// The file at a path as it is now. A folder has a stamp, too: that of its case file.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let case = path.join("case.toml");
        let metadata =
            std::fs::metadata(path).and_then(|found| if found.is_dir() { case.metadata() } else { Ok(found) });
        let found =
            |found: Metadata| Found { bytes: found.len(), modified: found.modified().ok(), identity: identity(&found) };
        Self { file: metadata.ok().map(found) }
    }

    /// What became of the file at the path since.
    #[must_use]
    pub fn change(&self, path: &Path) -> Option<Change> {
        let now = Self::of(path);
        match (&self.file, &now.file) {
            _ if now == *self => None,
            (Some(_), None) => Some(Change::Gone),
            (Some(old), Some(new)) if old.identity == new.identity => {
                Some(if new.bytes < old.bytes { Change::Shortened } else { Change::Written })
            }
            _ => Some(Change::Replaced),
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

/// Other systems do not let a mapped file be shortened.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_became_of_a_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let missing = Stamp::of(&path);
        assert_eq!(missing.change(&path), None);
        fs::write(&path, b"first").unwrap();
        assert_eq!(missing.change(&path), Some(Change::Replaced));
        let first = Stamp::of(&path);
        assert_eq!(first.change(&path), None);
        fs::write(&path, b"first and more").unwrap();
        assert_eq!(first.change(&path), Some(Change::Written));
        fs::write(&path, b"1").unwrap();
        assert_eq!(first.change(&path), Some(Change::Shortened));
        fs::write(folder.path().join("b"), b"first").unwrap();
        fs::rename(folder.path().join("b"), &path).unwrap();
        #[cfg(unix)]
        assert_eq!(first.change(&path), Some(Change::Replaced));
        fs::remove_file(&path).unwrap();
        assert_eq!(first.change(&path), Some(Change::Gone));
    }
}
