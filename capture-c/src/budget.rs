//! The limit on the file's size, kept by promising bytes before they are written.

use std::sync::{Mutex, PoisonError};

/// Counts what is in the file and what was promised to it.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most bytes that the finished file may have.
    max: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    written: u64,
    promised: u64,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Self {
        Self { max, state: Mutex::default() }
    }

    /// Promises room for `bytes`; `false` when they do not fit.
    pub(crate) fn promise(&self, bytes: u64) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let promised = state.promised.saturating_add(bytes);
        if state.written.saturating_add(promised) > self.max {
            return false;
        }
        state.promised = promised;
        true
    }

    /// Takes a promise back that nothing was written for.
    pub(crate) fn release(&self, bytes: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.promised = state.promised.saturating_sub(bytes);
    }

    /// Keeps a promise: the file would have at most `written` bytes if it were finished now.
    pub(crate) fn keep(&self, promised: u64, written: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.promised = state.promised.saturating_sub(promised);
        state.written = written;
    }
}

/// The most bytes that a blob takes in the file: header, padding, its place in the index.
pub(crate) fn blob_bytes(content: u64) -> u64 {
    content.saturating_add(64 + 63 + 19)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_and_what_is_written_count_together() {
        let budget = Budget::new(100);
        assert!(budget.promise(60));
        assert!(!budget.promise(41));
        budget.keep(60, 70);
        assert!(!budget.promise(31));
        assert!(budget.promise(30));
        budget.release(30);
        assert!(budget.promise(30));
        assert!(!budget.promise(u64::MAX));
    }
}
