//! Files that are complete when they are there: written beside their place, then moved to it.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A file on its way to a place where whoever looks finds the old content or the new one. Dropped, it leaves nothing.
///
/// A link stays one, and what it names is replaced. A device or a pipe is written to, never replaced.
#[derive(Debug)]
pub struct Replacement {
    content: Content,
    target: PathBuf,
}

#[derive(Debug)]
enum Content {
    Beside(tempfile::NamedTempFile),
    Direct(File),
}

impl Replacement {
    /// Begins a file for a place.
    ///
    /// # Errors
    /// A folder, a link to nothing, and what the operating system refuses.
    pub fn new(path: &Path) -> io::Result<Self> {
        let target = target_of(path)?;
        if let Ok(found) = fs::metadata(&target)
            && !found.is_file()
        {
            let content = Content::Direct(File::options().write(true).open(&target)?);
            return Ok(Self { content, target });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".tmp");
        // As any new file, and not only for its owner as temporary files are.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder_of(&target)).map_err(unnamed)?;
        if let Ok(old) = fs::metadata(&target) {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self { content: Content::Beside(file), target })
    }

    /// The file that is written.
    #[must_use]
    pub fn file(&self) -> &File {
        match &self.content {
            Content::Beside(file) => file.as_file(),
            Content::Direct(file) => file,
        }
    }

    /// Waits until the content is stored, and moves it to its place.
    ///
    /// # Errors
    /// What the operating system refuses; then the old content is there.
    pub fn commit(self) -> io::Result<()> {
        self.close()?.commit()
    }

    /// As [`Self::commit`] without the move: the file waits, closed, for the others that belong to it.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn close(self) -> io::Result<Pending> {
        Ok(match self.content {
            Content::Beside(file) => {
                file.as_file().sync_all()?;
                Pending { beside: Some(file.into_temp_path()), target: self.target }
            }
            // A pipe can't be synchronized.
            Content::Direct(_) => Pending { beside: None, target: self.target },
        })
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// A file that is written and not in its place yet. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct Pending {
    beside: Option<tempfile::TempPath>,
    target: PathBuf,
}

impl Pending {
    /// Moves the file to its place.
    ///
    /// # Errors
    /// What the operating system refuses; then the old content is there.
    pub fn commit(self) -> io::Result<()> {
        match self.beside {
            Some(beside) => beside.persist(&self.target).map_err(|error| error.error),
            None => Ok(()),
        }
    }
}

/// Whether a file can take a place; changes nothing.
///
/// # Errors
/// As [`Replacement::new`].
pub fn check_place(path: &Path) -> io::Result<()> {
    let target = target_of(path)?;
    // Opening a pipe would wait for its reader.
    if target.is_file() {
        File::options().append(true).open(&target)?;
    }
    if target.exists() { Ok(()) } else { Replacement::new(path).map(drop) }
}

/// What a path names, links followed.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    let ends_as_folder =
        path.as_os_str().as_encoded_bytes().last().is_some_and(|&last| std::path::is_separator(last.into()));
    if path.file_name().is_none() || ends_as_folder || path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "expected a file, it is a folder"));
    }
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path).map_err(|error| {
            io::Error::new(error.kind(), format!("expected a file, it is a link that leads nowhere ({error})"))
        }),
        Ok(_) => Ok(path.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = folder_of(path);
            if folder.is_dir() {
                return Ok(path.to_owned());
            }
            Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no folder {}", folder.display())))
        }
        Err(error) => Err(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The error without the name of a temporary file, which nobody asked for.
fn unnamed(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((text, _)) => io::Error::new(error.kind(), text),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_when_it_is_complete_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        fs::write(&place, "old").unwrap();
        let mut abandoned = Replacement::new(&place).unwrap();
        abandoned.write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read(&place).unwrap(), b"old");
        let mut whole = Replacement::new(&place).unwrap();
        whole.write_all(b"new").unwrap();
        let pending = whole.close().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"old");
        pending.commit().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_place_for_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (path, words) in [
            (at(""), "it is a folder"),
            (at("."), "it is a folder"),
            (at("new/"), "it is a folder"),
            (at("none/file"), "there is no folder"),
        ] {
            for error in [Replacement::new(&path).unwrap_err(), check_place(&path).unwrap_err()] {
                assert!(error.to_string().contains(words), "{error}");
            }
        }
        assert!(check_place(&at("x".repeat(300).as_str())).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, nowhere) =
            (folder.path().join("file"), folder.path().join("link"), folder.path().join("nowhere"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        std::os::unix::fs::symlink(folder.path().join("none"), &nowhere).unwrap();
        let mut through = Replacement::new(&link).unwrap();
        through.write_all(b"new").unwrap();
        through.commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(Replacement::new(&nowhere).unwrap_err().to_string().contains("leads nowhere"));
        // A link, so that a mistake here would not replace the device.
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        let mut out = Replacement::new(&device).unwrap();
        assert!(matches!(out.content, Content::Direct(_)));
        out.write_all(b"gone").unwrap();
        out.commit().unwrap();
    }
}
