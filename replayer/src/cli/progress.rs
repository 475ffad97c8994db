//! Progress on standard error.

use std::{
    io::{IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// A bar on a terminal, else a plain line now and then.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    total: usize,
    done: usize,
    unexpected: usize,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed} (left: {eta})") {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        Self { bar, total, done: 0, unexpected: 0, started: now, last_line: now }
    }

    /// One more dispatch is settled.
    pub(super) fn step(&mut self, unexpected: bool) {
        self.done += 1;
        self.unexpected += usize::from(unexpected);
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} unexpected", self.unexpected));
            bar.inc(1);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let Self { done, total, unexpected, .. } = *self;
            let seconds = self.started.elapsed().as_secs();
            // Where standard error is closed, nobody reads it.
            let _ = writeln!(std::io::stderr(), "{done} of {total} dispatches, {unexpected} unexpected, {seconds} s");
        }
    }

    /// Writes results while the bar is out of the way.
    pub(super) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// A line on standard error beside the bar.
    pub(super) fn note(&self, line: &str) {
        self.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{line}");
        });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
