//! Where outputs go: looked at before the work, so that a place that can't be written to is told at once.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::Context as _;

use super::exit::Failure;

/// Whether a file can be written there, by the option that names it; changes nothing.
pub(super) fn check_file(option: &str, path: &Path) -> Result<(), Failure> {
    let problem = |text: String| Failure::usage(format!("{option} {}: {text}", path.display()));
    if path.file_name().is_none() || path.is_dir() {
        return Err(problem("expected a file, it is a folder".to_owned()));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(problem(format!("there is no folder {}", folder.display())));
    }
    check_writable(path).map_err(|error| problem(format!("cannot be written: {error}")))
}

/// Whether a folder with files in it can be written there, by the option that names it; changes nothing.
pub(super) fn check_folder(option: &str, path: &Path) -> Result<(), Failure> {
    let problem = |text: String| Failure::usage(format!("{option} {}: {text}", path.display()));
    if path.exists() && !path.is_dir() {
        return Err(problem("expected a folder, it is a file".to_owned()));
    }
    // What is not there is made, in the first folder that is.
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(there) = whole.ancestors().find(|folder| folder.exists()) else { return Ok(()) };
    if !there.is_dir() {
        return Err(problem(format!("{} is a file, expected a folder", there.display())));
    }
    let place = there.join("file");
    file_beside(&place).map(drop).map_err(|error| problem(format!("cannot be written: {error}")))
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a file can take this place.
fn check_writable(path: &Path) -> io::Result<()> {
    // Opening a pipe would wait for its reader.
    if path.is_file() {
        File::options().append(true).open(path)?;
    }
    if path.exists() { Ok(()) } else { file_beside(path).map(drop) }
}

/// A file in the same folder, gone when dropped. Errors do not name it, which nobody asked for.
fn file_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder_of(path)).map_err(|error| {
        let text = error.to_string();
        io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or(&text))
    })
}

/// Writes a file beside its place and moves it there: what is there is complete, the old file or the new one.
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    if path.file_name().is_none() || path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(name);
    }
    // A device or a pipe is written to, never replaced, and a link stays one.
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if resolved.exists() && !resolved.is_file() {
        let mut out = BufWriter::new(File::options().write(true).open(&resolved).with_context(name)?);
        write(&mut out).with_context(name)?;
        return out.flush().with_context(name);
    }
    let mut beside = file_beside(&resolved).with_context(name)?;
    let mut out = BufWriter::new(beside.as_file_mut());
    write(&mut out).with_context(name)?;
    out.flush().with_context(name)?;
    drop(out);
    // Temporary files are private; what is written here is for whoever may read the folder.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let old = std::fs::metadata(&resolved).map(|old| old.permissions());
        let permissions = old.unwrap_or_else(|_| std::fs::Permissions::from_mode(0o644));
        beside.as_file().set_permissions(permissions).with_context(name)?;
    }
    beside.persist(&resolved).map_err(|error| error.error).with_context(name)?;
    Ok(())
}
