//! Arguments for report files, shared by `run` and `merge`.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;

use super::{
    exit::Failure,
    place::{check_apart, check_file, check_folder, is_same, replace_file},
};
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
    pub(super) fn start<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a PathBuf> + Clone,
    ) -> Result<Option<HtmlReport>, Failure> {
        if let Some(folder) = &self.html {
            check_folder("--html", folder)?;
        }
        let json = self.json.as_ref().filter(|_| !self.json_to_stdout());
        let places = [
            ("--html", self.html.as_ref()),
            ("--json", json),
            ("--junit", self.junit.as_ref()),
            ("--markdown", self.markdown.as_ref()),
        ];
        let places: Vec<_> = places.into_iter().filter_map(|(option, path)| Some((option, path?))).collect();
        for (n, (option, path)) in places.iter().enumerate() {
            if *option != "--html" {
                check_file(option, path)?;
                check_apart(option, path, inputs.clone())?;
            }
            if let Some((other, _)) = places[..n].iter().find(|(_, other)| is_same(other, path)) {
                return Err(Failure::usage(format!(
                    "{option} {}: expected another place than {other}",
                    path.display()
                )));
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
            written.push(replace_file(path, |file| Ok(write_results(file, results)?)));
        }
        if let Some(path) = &self.junit {
            written.push(replace_file(path, |file| Ok(write_junit(file, results)?)));
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

fn append_markdown(path: &Path, results: &Results) -> anyhow::Result<()> {
    let file = File::options().append(true).create(true).open(path);
    let mut file = file.with_context(|| path.display().to_string())?;
    let mut text = Vec::new();
    write_markdown(&mut text, results)?;
    file.write_all(&text).with_context(|| path.display().to_string())
}
