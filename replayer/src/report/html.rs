//! Results as one page that works from disk: no other file, no request.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use super::{decimal, hex_float, picture::PictureSet, seconds, ulps};
use crate::{
    compare::Difference,
    results::{DispatchResult, Outcome, Results, Status},
    text::counted,
};

/// Why a page could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct HtmlError {
    path: PathBuf,
    source: io::Error,
}

/// A page whose pictures are kept in a file until the results are complete, so that memory does not grow with the run.
pub struct HtmlReport {
    folder: PathBuf,
    spool: File,
    end: u64,
    /// Place of the pictures of each dispatch, by its number in the selection.
    places: Vec<Option<(u64, usize)>>,
}

impl HtmlReport {
    /// A page `index.html` in a folder, which is created if need be.
    ///
    /// # Errors
    /// When the folder can't be written to.
    pub fn create(folder: &Path) -> Result<Self, HtmlError> {
        let error = |source| HtmlError { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(error)?;
        let spool = tempfile::tempfile_in(folder).map_err(error)?;
        Ok(Self { folder: folder.to_owned(), spool, end: 0, places: Vec::new() })
    }

    /// Keeps the pictures of a dispatch.
    ///
    /// # Errors
    /// When the folder is full.
    pub fn add_pictures(&mut self, number: usize, pictures: &PictureSet) -> Result<(), HtmlError> {
        let mut text = Vec::new();
        let write = |this: &mut Self, text: &[u8]| {
            this.spool.seek(SeekFrom::Start(this.end))?;
            this.spool.write_all(text)
        };
        figures(&mut text, pictures)
            .and_then(|()| write(self, &text))
            .map_err(|source| HtmlError { path: self.folder.clone(), source })?;
        if self.places.len() <= number {
            self.places.resize(number + 1, None);
        }
        self.places[number] = Some((self.end, text.len()));
        self.end += text.len() as u64;
        Ok(())
    }

    /// Writes the page. `numbers` has each result's number in the selection.
    ///
    /// # Errors
    /// When the page can't be written.
    pub fn finish(mut self, results: &Results, numbers: &[usize]) -> Result<PathBuf, HtmlError> {
        let path = self.folder.join("index.html");
        // Written beside and renamed: a page that is there is complete.
        let unfinished = self.folder.join("index.html.tmp");
        self.write(&unfinished, results, numbers)
            .and_then(|()| std::fs::rename(&unfinished, &path))
            .map_err(|source| HtmlError { path: path.clone(), source })?;
        Ok(path)
    }

    fn write(&mut self, path: &Path, results: &Results, numbers: &[usize]) -> io::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        head(&mut out, results)?;
        for (at, result) in results.dispatches.iter().enumerate() {
            open_dispatch(&mut out, result)?;
            let place = numbers.get(at).and_then(|&n| self.places.get(n).copied().flatten());
            if let Some((start, length)) = place {
                self.spool.seek(SeekFrom::Start(start))?;
                io::copy(&mut (&self.spool).take(length as u64), &mut out)?;
            }
            close_dispatch(&mut out, result)?;
        }
        write!(out, "</main>\n<script>{}</script>\n</body>\n</html>\n", include_str!("page.js"))?;
        out.flush()
    }
}

/// Text that stands for itself in HTML, in attributes too.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn head(out: &mut impl Write, results: &Results) -> io::Result<()> {
    let totals = &results.totals;
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>Texel traces: {} of {} match</title>\n<style>{}</style>\n</head>\n<body>\n<header>\n<h1>Texel traces</h1>\n<p class=\"totals\">",
        totals.of(Status::Match),
        totals.dispatches(),
        include_str!("page.css")
    )?;
    for status in Status::ALL {
        let count = totals.of(status);
        if count > 0 {
            write!(out, "<span class=\"badge {status}\">{count} {status}</span> ")?;
        }
    }
    writeln!(out, "<span>in {}</span></p>", seconds(results.seconds))?;
    if let Some(ended) = &results.ended {
        let not_run = results.not_run;
        writeln!(
            out,
            "<p class=\"alert\">Ended early: {}; {} did not run.</p>",
            escape(ended),
            counted(not_run, "dispatch")
        )?;
    }
    for error in &results.errors {
        let (file, message) = (escape(&error.file), escape(&error.message));
        writeln!(out, "<p class=\"alert\">Unreadable: <b>{file}</b>: {message}</p>")?;
    }
    for entry in &results.unused_expectations {
        writeln!(out, "<p class=\"alert\">Expectation that applied to nothing: {}</p>", escape(entry))?;
    }
    let causes = results.causes();
    if !causes.is_empty() {
        writeln!(out, "<table class=\"causes\"><tr><th>cause</th><th>samples</th></tr>")?;
        for cause in causes {
            let rule = escape(&cause.rule);
            writeln!(
                out,
                "<tr><td><button data-search=\"{rule}\">{rule}</button></td><td>{}</td></tr>",
                cause.samples
            )?;
        }
        writeln!(out, "</table>")?;
    }
    write!(
        out,
        "<div class=\"filter\"><input id=\"search\" type=\"search\" placeholder=\"trace, dispatch, op, cause, reason …\" aria-label=\"search\">"
    )?;
    let chosen = |on: bool| if on { " checked" } else { "" };
    for status in Status::ALL {
        write!(
            out,
            "<label><input type=\"checkbox\" name=\"status\" value=\"{status}\"{}>{status}</label>",
            chosen(true)
        )?;
    }
    writeln!(
        out,
        "<label><input type=\"checkbox\" id=\"unexpected\">only unexpected</label><output id=\"shown\"></output></div>"
    )?;
    writeln!(
        out,
        "<p class=\"legend\">Heatmaps: <i style=\"background:#1b222b\"></i>same <i style=\"background:#3dd6e0\"></i>sign of zero \
         <i class=\"ramp\"></i>1 … 2<sup>24</sup> ULP and more <i style=\"background:#f0f\"></i>NaN against number. \
         Pictures: black to white is 0 (or the 1st percentile, if negative) to the 99th percentile; <i style=\"background:#ffd400\"></i>infinite <i style=\"background:#f0f\"></i>NaN.</p>\n</header>\n<main>"
    )
}

fn open_dispatch(out: &mut impl Write, result: &DispatchResult) -> io::Result<()> {
    let causes: Vec<_> = result.causes.iter().map(|c| format!("{} {}", c.rule, c.samples)).collect();
    let words = [
        result.trace.as_str(),
        &result.dispatch,
        &result.op,
        &result.path,
        &result.profile,
        &result.device,
        result.reason.as_deref().unwrap_or_default(),
        &causes.join(" "),
    ];
    let search = escape(&words.join(" ").to_lowercase());
    let (status, outcome) = (result.status, result.outcome);
    let open = if outcome == Outcome::Expected { "" } else { " open" };
    let note = if outcome == Outcome::Expected && status != Status::Match {
        " <span class=\"outcome\">expected</span>".to_owned()
    } else if outcome == Outcome::Expected {
        String::new()
    } else {
        format!(" <span class=\"outcome {outcome}\">{outcome}</span>")
    };
    write!(
        out,
        "<details data-status=\"{status}\" data-outcome=\"{outcome}\" data-text=\"{search}\"{open}>\n\
         <summary><span class=\"badge {status}\">{status}</span> <b>{}</b> {} <span class=\"note\">{}{}</span>{note}</summary>\n",
        escape(&result.trace),
        escape(&result.dispatch),
        escape(&result.summary()),
        if status == Status::Mismatch { format!(", max {}", ulps(result.max_ulp)) } else { String::new() },
    )
}

fn figures(out: &mut impl Write, pictures: &PictureSet) -> io::Result<()> {
    let PictureSet { width, height, step, expected, got, heatmap } = pictures;
    // Small results are enlarged by whole factors, so that a texel stays a square.
    let zoom = (256 / width.max(height).max(&1)).clamp(1, 16);
    let (w, h) = (width * zoom, height * zoom);
    writeln!(out, "<div class=\"pictures\">")?;
    let heatmap = heatmap.iter().map(|data| ("heatmap", data));
    for (name, data) in [("oracle", expected), ("result", got)].into_iter().chain(heatmap) {
        writeln!(
            out,
            "<figure><img alt=\"{name}\" loading=\"lazy\" width=\"{w}\" height=\"{h}\" src=\"data:image/png;base64,{data}\"><figcaption>{name}</figcaption></figure>"
        )?;
    }
    if *step > 1 {
        writeln!(out, "<p>A pixel stands for {step}×{step} samples.</p>")?;
    }
    writeln!(out, "</div>")
}

fn close_dispatch(out: &mut impl Write, result: &DispatchResult) -> io::Result<()> {
    let [x, y, z] = result.grid;
    let mut facts = vec![
        ("op", result.op.clone()),
        ("grid", format!("{x}×{y}×{z}")),
        ("path", format!("{} against {}, profile {}", result.path, result.against, result.profile)),
        ("executor", format!("{} {} {}", result.executor, result.device, result.driver)),
        ("time", format!("{}, the path {}", seconds(result.seconds), seconds(result.evaluate_seconds))),
    ];
    if let Some(expectation) = &result.expectation {
        facts.push(("expected", expectation.clone()));
    }
    if result.status == Status::Mismatch {
        let [x, y, z, w] = result.channels;
        facts.push(("channels", format!("X {x}, Y {y}, Z {z}, W {w} samples differ")));
    }
    for cause in &result.causes {
        facts.push(("cause", format!("{}: {}", cause.rule, counted(cause.samples, "sample"))));
    }
    writeln!(out, "<dl>")?;
    for (name, text) in facts {
        writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&text))?;
    }
    writeln!(out, "</dl>")?;
    for (title, list) in [("Worst samples", &result.worst), ("First differing samples", &result.first)] {
        samples(out, title, list)?;
    }
    for sample in &result.explained {
        let [x, y, z] = sample.position;
        let (cause, text) = (escape(&sample.cause), escape(&sample.text));
        writeln!(out, "<h3>{x},{y},{z}: {cause}</h3>\n<pre class=\"explained\">{text}</pre>")?;
    }
    let goto = result.worst.first().map_or_else(
        || format!("{}:0,0,0", result.index),
        |d| format!("{}:{},{},{}", result.index, d.position[0], d.position[1], d.position[2]),
    );
    let command = format!("analyzer-gui {} --goto {goto}", shell_word(&result.file));
    writeln!(out, "<p><code class=\"command\">{}</code></p>\n</details>", escape(&command))
}

fn samples(out: &mut impl Write, title: &str, list: &[Difference]) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<table class=\"samples\"><caption>{title}</caption><tr><th>x,y,z</th><th></th><th colspan=\"3\">result</th><th colspan=\"3\">oracle</th><th>distance</th></tr>"
    )?;
    for difference in list {
        let [x, y, z] = difference.position;
        for channel in (0..4).filter(|c| difference.channels >> c & 1 == 1) {
            write!(out, "<tr><td>{x},{y},{z}</td><td>{}</td>", ['X', 'Y', 'Z', 'W'][channel])?;
            for word in [difference.got[channel], difference.expected[channel]] {
                write!(out, "<td>{word:08x}</td><td>{}</td><td>{}</td>", hex_float(word), decimal(word))?;
            }
            writeln!(out, "<td>{}</td></tr>", ulps(difference.distances[channel]))?;
        }
    }
    writeln!(out, "</table>")
}

/// A word that a shell takes as it is.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
