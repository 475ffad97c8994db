//! Opened traces, kept for the dispatches that follow.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use capture_format::{Dispatch, OpenError, Recorded, Source, open};

/// The last few traces that were opened, so that neighbouring dispatches of one file open it once.
#[derive(Default)]
pub struct SourceCache {
    recent: VecDeque<(PathBuf, Source)>,
}

impl SourceCache {
    /// Traces that stay open.
    const OPEN: usize = 4;

    /// Reads a sample dispatch of a file.
    ///
    /// # Errors
    /// As [`open`] and [`Source::dispatch`].
    pub fn dispatch(&mut self, file: &Path, index: usize) -> Result<Dispatch, OpenError> {
        self.source(file)?.dispatch(index)
    }

    /// Reads a dispatch of either kind of a file.
    ///
    /// # Errors
    /// As [`open`] and [`Source::recorded`].
    pub fn recorded(&mut self, file: &Path, index: usize) -> Result<Recorded, OpenError> {
        self.source(file)?.recorded(index)
    }

    fn source(&mut self, file: &Path) -> Result<&Source, OpenError> {
        let at = match self.recent.iter().position(|(path, _)| path == file) {
            Some(at) => at,
            None => {
                let source = open(file)?;
                self.recent.truncate(Self::OPEN - 1);
                self.recent.push_front((file.to_owned(), source));
                0
            }
        };
        Ok(&self.recent[at].1)
    }
}
