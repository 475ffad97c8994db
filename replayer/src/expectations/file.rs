//! The file of expectations.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use toml::Spanned;

use crate::results::{Cause, DispatchResult, Status};

/// Version of the file's form.
const SCHEMA: u32 = 1;

/// A file of expectations.
#[derive(Debug, Default)]
pub struct Expectations {
    pub(super) entries: Vec<Entry>,
    path: PathBuf,
}

/// One entry: conditions and what is expected where they hold.
#[derive(Debug)]
pub struct Entry {
    trace: GlobMatcher,
    dispatch: GlobMatcher,
    path: Option<GlobMatcher>,
    device: Option<GlobMatcher>,
    driver: Option<GlobMatcher>,
    /// The expected verdict.
    pub verdict: Status,
    /// The expected number of differing samples.
    pub mismatched: Option<u64>,
    /// The expected causes.
    pub causes: Vec<Cause>,
    pub(super) field: Option<GlobMatcher>,
    /// Why.
    pub reason: String,
    /// Line in the file, from 1 on.
    pub line: usize,
    used: AtomicBool,
}

/// Why a file of expectations can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ExpectationError {
    /// The file can't be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The text is no TOML of this form.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Line, from 1 on.
        line: usize,
        /// Column in bytes, from 1 on.
        column: usize,
        /// What is wrong and what was expected.
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    schema: Spanned<u32>,
    #[serde(default)]
    expect: Vec<Spanned<EntryText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryText {
    trace: Spanned<String>,
    dispatch: Option<Spanned<String>>,
    path: Option<Spanned<String>>,
    device: Option<Spanned<String>>,
    driver: Option<Spanned<String>>,
    verdict: Spanned<String>,
    mismatched: Option<Spanned<u64>>,
    #[serde(default)]
    causes: Vec<Spanned<CauseText>>,
    field: Option<Spanned<String>>,
    reason: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CauseText {
    rule: String,
    samples: u64,
}

impl Expectations {
    /// Reads a file.
    ///
    /// # Errors
    /// When it can't be read, or is not of the form that the module describes.
    pub fn read(path: &Path) -> Result<Self, ExpectationError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ExpectationError::Io { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// When it is not of the form that the module describes.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ExpectationError> {
        let place = Place { text, path };
        let file: FileText =
            toml::from_str(text).map_err(|error| place.error(error.span().unwrap_or(0..0), error.message()))?;
        if *file.schema.get_ref() != SCHEMA {
            return Err(
                place.error(file.schema.span(), &format!("schema {}, expected {SCHEMA}", file.schema.get_ref()))
            );
        }
        let entries = file.expect.into_iter().map(|entry| Entry::new(entry, &place)).collect::<Result<_, _>>()?;
        Ok(Self { entries, path: path.to_owned() })
    }

    /// The entry that applies to a result: the first whose conditions hold. It counts as used from then on.
    pub(super) fn applying(&self, result: &DispatchResult) -> Option<&Entry> {
        let entry = self.entries.iter().find(|entry| entry.applies_to(result))?;
        entry.used.store(true, Ordering::Relaxed);
        Some(entry)
    }

    /// The entries that applied to no result so far, as text.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let unused = self.entries.iter().filter(|entry| !entry.used.load(Ordering::Relaxed));
        unused
            .map(|entry| {
                let (trace, dispatch) = (entry.trace.glob(), entry.dispatch.glob());
                format!("{}:{}: {trace} / {dispatch}: {}", self.path.display(), entry.line, entry.verdict)
            })
            .collect()
    }
}

impl Entry {
    fn new(spanned: Spanned<EntryText>, place: &Place<'_>) -> Result<Self, ExpectationError> {
        let line = place.line_and_column(spanned.span().start).0;
        let text = spanned.into_inner();
        let verdict: Status = text
            .verdict
            .get_ref()
            .parse()
            .map_err(|error: crate::results::UnknownStatus| place.error(text.verdict.span(), &error.to_string()))?;
        let glob = |text: Spanned<String>| {
            Glob::new(text.get_ref())
                .map(|glob| glob.compile_matcher())
                .map_err(|error| place.error(text.span(), &format!("expected a glob: {error}")))
        };
        if text.reason.get_ref().trim().is_empty() {
            return Err(place.error(text.reason.span(), "empty reason, expected why this is so"));
        }
        match (verdict, &text.mismatched, text.causes.first()) {
            (Status::Mismatch, None, None) => {
                return Err(place.error(
                    text.verdict.span(),
                    "a mismatch without counts, expected mismatched = N or causes = [{ rule = …, samples = N }]",
                ));
            }
            (Status::Mismatch, ..) => {}
            (_, Some(count), _) => {
                return Err(
                    place.error(count.span(), "mismatched beside another verdict, expected only for a mismatch")
                );
            }
            (_, None, Some(cause)) => {
                return Err(place.error(cause.span(), "causes beside another verdict, expected only for a mismatch"));
            }
            _ => {}
        }
        if let (Some(field), true) = (&text.field, verdict != Status::Refused) {
            return Err(place.error(field.span(), "field beside another verdict, expected only for refused"));
        }
        let mut causes = Vec::<Cause>::new();
        for cause in text.causes {
            let span = cause.span();
            let CauseText { rule, samples } = cause.into_inner();
            if causes.iter().any(|c| c.rule == rule) {
                return Err(place.error(span, &format!("cause {rule} twice, expected each rule once")));
            }
            causes.push(Cause::new(&rule, samples));
        }
        let every = || Glob::new("*").map(|glob| glob.compile_matcher()).map_err(|e| place.error(0..0, &e.to_string()));
        Ok(Self {
            trace: glob(text.trace)?,
            dispatch: text.dispatch.map_or_else(every, glob)?,
            path: text.path.map(glob).transpose()?,
            device: text.device.map(glob).transpose()?,
            driver: text.driver.map(glob).transpose()?,
            verdict,
            mismatched: text.mismatched.map(Spanned::into_inner),
            causes,
            field: text.field.map(glob).transpose()?,
            reason: text.reason.into_inner(),
            line,
            used: AtomicBool::new(false),
        })
    }

    /// Whether the conditions hold for a result.
    pub(super) fn applies_to(&self, result: &DispatchResult) -> bool {
        let holds = |glob: &Option<GlobMatcher>, text: &str| glob.as_ref().is_none_or(|glob| glob.is_match(text));
        self.trace.is_match(&result.trace)
            && self.dispatch.is_match(&result.dispatch)
            && holds(&self.path, &result.path)
            && holds(&self.device, &result.device)
            && holds(&self.driver, &result.driver)
    }

    /// Whether the entry names this dispatch alone.
    pub(super) fn is_for(&self, result: &DispatchResult) -> bool {
        self.trace.glob().glob() == globset::escape(&result.trace)
            && self.dispatch.glob().glob() == globset::escape(&result.dispatch)
    }
}

/// A text with its path, to say where in it something is wrong.
struct Place<'a> {
    text: &'a str,
    path: &'a Path,
}

impl Place<'_> {
    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        (line, column)
    }

    fn error(&self, span: Range<usize>, message: &str) -> ExpectationError {
        let (line, column) = self.line_and_column(span.start);
        ExpectationError::Form { path: self.path.to_owned(), line, column, message: message.trim().replace('\n', ", ") }
    }
}
