//! Arguments for report files, shared by `run` and `merge`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;

use super::exit::Failure;
use crate::{
    report::{HtmlReport, write_annotations, write_junit, write_markdown, write_results},
    results::Results,
};

/// Reports beside the terminal's.
#[derive(Clone, Debug, Args)]
pub(super) struct ReportArguments {
    /// Write results as JSON; - writes them to standard output instead of the lines for people
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub(super) json: Option<PathBuf>,
    /// Write results as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Write a page with pictures, DIR/index.html; it works from disk
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    pub(super) html: Option<PathBuf>,
    /// Append a summary in Markdown, such as to $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    markdown: Option<PathBuf>,
    /// Print GitHub annotations
    #[arg(long, help_heading = "Reports")]
    github_annotations: bool,
}

impl ReportArguments {
    /// Whether JSON goes to standard output.
    pub(super) fn json_to_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// Starts the page, and looks where the other reports go, so that a place that can't be written to is told before the run.
    pub(super) fn start(&self) -> Result<Option<HtmlReport>, Failure> {
        let json = self.json.as_ref().filter(|_| !self.json_to_stdout());
        let files = [("--json", json), ("--junit", self.junit.as_ref()), ("--markdown", self.markdown.as_ref())];
        for (option, path) in files.into_iter().filter_map(|(option, path)| Some((option, path?))) {
            if path.file_name().is_none() || path.is_dir() {
                return Err(Failure::usage(format!("{option} {}: expected a file, it is a folder", path.display())));
            }
            let folder = folder_of(path);
            if !folder.is_dir() {
                let (path, folder) = (path.display(), folder.display());
                return Err(Failure::usage(format!("{option} {path}: there is no folder {folder}")));
            }
            if let Err(error) = check_writable(path) {
                return Err(Failure::usage(format!("{option} {}: cannot be written: {error}", path.display())));
            }
        }
        let html = |folder| HtmlReport::create(folder).map_err(|error| Failure::usage(format!("--html {error}")));
        self.html.as_deref().map(html).transpose()
    }

    /// Writes all reports; one that can't be written keeps no other back. `numbers`: each result's number in the selection, as
    /// the page's pictures are kept.
    pub(super) fn write(
        &self,
        results: &Results,
        numbers: &[usize],
        html: Option<HtmlReport>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut written: Vec<anyhow::Result<()>> = Vec::new();
        if self.json_to_stdout() {
            written.push(write_results(out, results).map_err(Into::into));
        } else if let Some(path) = &self.json {
            written.push(replace(path, |file| Ok(write_results(file, results)?)));
        }
        if let Some(path) = &self.junit {
            written.push(replace(path, |file| Ok(write_junit(file, results)?)));
        }
        if let Some(html) = html {
            written.push(html.finish(results, numbers).map(drop).map_err(Into::into));
        }
        if let Some(path) = &self.markdown {
            written.push(append_markdown(path, results));
        }
        if self.github_annotations {
            written.push(write_annotations(out, results).map_err(Into::into));
        }
        Ok(written.into_iter().collect::<anyhow::Result<()>>()?)
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a report can take this place; changes nothing.
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

fn append_markdown(path: &Path, results: &Results) -> anyhow::Result<()> {
    let file = File::options().append(true).create(true).open(path);
    let mut file = file.with_context(|| path.display().to_string())?;
    let mut text = Vec::new();
    write_markdown(&mut text, results)?;
    file.write_all(&text).with_context(|| path.display().to_string())
}

/// Writes a file beside its place and moves it there: a report that is there is complete.
fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    if path.file_name().is_none() || path.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(name);
    }
    // A device or a pipe is written to, never replaced, and a link stays one.
    let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if resolved.exists() && !resolved.is_file() {
        let mut out = BufWriter::new(std::fs::OpenOptions::new().write(true).open(&resolved).with_context(name)?);
        write(&mut out).with_context(name)?;
        return out.flush().with_context(name);
    }
    let mut beside = file_beside(&resolved).with_context(name)?;
    let mut out = BufWriter::new(beside.as_file_mut());
    write(&mut out).with_context(name)?;
    out.flush().with_context(name)?;
    drop(out);
    // Temporary files are private; a report is for whoever may read the folder.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::Permissions::from_mode(0o644);
        beside.as_file().set_permissions(permissions).with_context(name)?;
    }
    beside.persist(&resolved).map_err(|error| error.error).with_context(name)?;
    Ok(())
}
