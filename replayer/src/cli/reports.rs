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

    /// Starts the page, so that a folder that can't be written to is told before the run.
    pub(super) fn start_html(&self) -> Result<Option<HtmlReport>, Failure> {
        Ok(self.html.as_deref().map(HtmlReport::create).transpose()?)
    }

    /// Writes all reports. `numbers`: each result's number in the selection, as the page's pictures are kept.
    pub(super) fn write(
        &self,
        results: &Results,
        numbers: &[usize],
        html: Option<HtmlReport>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if self.json_to_stdout() {
            write_results(out, results)?;
        } else if let Some(path) = &self.json {
            replace(path, |file| Ok(write_results(file, results)?))?;
        }
        if let Some(path) = &self.junit {
            replace(path, |file| Ok(write_junit(file, results)?))?;
        }
        if let Some(html) = html {
            html.finish(results, numbers)?;
        }
        if let Some(path) = &self.markdown {
            let file = File::options().append(true).create(true).open(path);
            let mut file = file.with_context(|| path.display().to_string())?;
            let mut text = Vec::new();
            write_markdown(&mut text, results)?;
            file.write_all(&text).with_context(|| path.display().to_string())?;
        }
        if self.github_annotations {
            write_annotations(out, results)?;
        }
        Ok(())
    }
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
    let folder = resolved.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::NamedTempFile::new_in(folder).with_context(name)?;
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
