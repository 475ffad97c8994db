//! Where outputs go: looked at before the work, so that a place that can't be written to is told at once.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use capture_format::{Replacement, check_place};

use super::exit::Failure;

/// Whether a file can be written there, by the option that names it; changes nothing.
pub(super) fn check_file(option: &str, path: &Path) -> Result<(), Failure> {
    let refused = |error| Failure::usage(format!("{option} {}: cannot be written: {error}", path.display()));
    check_place(path).map_err(refused)
}

/// As [`check_file`], for what is not made again as easily as the results of a run.
pub(super) fn check_new_file(option: &str, path: &Path, force: bool) -> Result<(), Failure> {
    check_file(option, path)?;
    check_free(option, path, force)
}

/// Refuses to replace a file that is there, unless that is asked for.
pub(super) fn check_free(option: &str, path: &Path, force: bool) -> Result<(), Failure> {
    if path.is_file() && !force {
        let path = path.display();
        return Err(Failure::usage(format!("{option} {path}: the file is there already, --force replaces it")));
    }
    Ok(())
}

/// Whether a folder with files in it can be written there, by the option that names it; changes nothing.
pub(super) fn check_folder(option: &str, path: &Path) -> Result<(), Failure> {
    let problem = |text: String| Failure::usage(format!("{option} {}: {text}", path.display()));
    if path.exists() && !path.is_dir() {
        return Err(problem("expected a folder, it is a file".to_owned()));
    }
    if path.is_symlink() && !path.exists() {
        return Err(problem("expected a folder, it is a link that leads nowhere".to_owned()));
    }
    // What is not there is made, in the first folder that is.
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(there) = whole.ancestors().find(|folder| folder.exists()) else { return Ok(()) };
    if !there.is_dir() {
        return Err(problem(format!("{} is a file, expected a folder", there.display())));
    }
    let file = Replacement::new(&there.join("file"));
    file.map(drop).map_err(|error| problem(format!("cannot be written: {error}")))
}

/// Refuses to write over what is read.
pub(super) fn check_apart<'a>(
    option: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Failure> {
    match inputs.into_iter().find(|input| is_same(input, output)) {
        Some(input) => {
            let (output, input) = (output.display(), input.display());
            Err(Failure::usage(format!("{option} {output}: expected another file than the input {input}")))
        }
        None => Ok(()),
    }
}

/// Whether two paths name one place, where one may be lost by the other: a device can be named twice.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let is_device = a.exists() && !a.is_file() && !a.is_dir();
    !is_device && place(a).is_some_and(|a| place(b) == Some(a))
}

/// Writes a file that is complete when it is there: see [`Replacement`].
pub(super) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut out = BufWriter::new(Replacement::new(path).with_context(name)?);
    write(&mut out).with_context(name)?;
    let file = out.into_inner().map_err(|error| error.into_error()).with_context(name)?;
    file.commit().with_context(name)
}
