//! Evaluation of a dispatch in slabs, so that it can report progress and be given up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use capture_format::{Coords, Dispatch, LodSource};
use replayer::{
    execute::Executor,
    path::{Failure, Path, evaluate},
    rules::Profile,
};

use super::{
    compare::{Operands, compare, options},
    outcome::{Outcome, Sizes, Summary, number_of},
    stats::Stats,
};

/// Samples in a slab: large enough that a device is kept busy, small enough that giving up is felt at once.
const SLAB: u64 = 1 << 20;

/// What an evaluation reports while it runs, and how it is told to stop.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    /// Says how many samples there are.
    pub fn begin(&self, samples: u64) {
        self.total.store(samples, Ordering::Relaxed);
    }

    /// Asks the evaluation to end without a result.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag that [`Self::cancel`] sets.
    #[must_use]
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// Samples done and samples in all.
    #[must_use]
    pub fn samples(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// A part of a dispatch: whole rows, or a run of samples in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slab {
    first: u64,
    grid: [u32; 3],
}

/// Cuts a grid into slabs of whole pairs of rows, so that no 2×2 quad is cut apart.
///
/// A grid whose rows are longer than a slab is cut inside its rows when it has a single one, at even places.
fn slabs(grid: [u32; 3]) -> Vec<Slab> {
    let [width, height, depth] = grid.map(u64::from);
    let total = width.saturating_mul(height).saturating_mul(depth);
    if total <= SLAB {
        return vec![Slab { first: 0, grid }];
    }
    let mut slabs = Vec::new();
    for z in 0..depth {
        if height == 1 {
            let mut x = 0;
            while x < width {
                let run = SLAB.min(width - x);
                slabs.push(Slab { first: z * width + x, grid: [run as u32, 1, 1] });
                x += run;
            }
        } else {
            let rows = (SLAB / width / 2 * 2).max(2);
            let mut y = 0;
            while y < height {
                let run = rows.min(height - y);
                slabs.push(Slab { first: (z * height + y) * width, grid: [width as u32, run as u32, 1] });
                y += run;
            }
        }
    }
    slabs
}

/// The rows of coordinates of a slab.
fn cut(dispatch: &Dispatch, slab: Slab) -> Dispatch {
    let stride = dispatch.coords.columns.len() as u64;
    let samples: u64 = slab.grid.iter().map(|&n| u64::from(n)).product();
    let (start, end) = (slab.first * stride, (slab.first + samples) * stride);
    let words = dispatch.coords.words.get(start as usize..end as usize).unwrap_or_default();
    Dispatch {
        grid: slab.grid,
        coords: Coords { columns: dispatch.coords.columns.clone(), words: words.into() },
        expected: None,
        ..dispatch.clone()
    }
}

/// Evaluates a dispatch and compares it with its oracle; `None` when it was given up.
///
/// `executor` is called once if the path needs one.
pub fn run(
    dispatch: Arc<Dispatch>,
    path: Path,
    profile: &Profile,
    executor: Option<&mut (dyn Executor + 'static)>,
    strict: bool,
    progress: &Progress,
) -> Option<Outcome> {
    let started = Instant::now();
    let samples = dispatch.sample_count();
    progress.begin(samples);
    let info = executor.as_ref().map(|executor| executor.info().clone());
    let result = words(&dispatch, path, profile, executor, strict, progress);
    let elapsed = started.elapsed();
    let number = number_of(&dispatch);
    if progress.is_cancelled() {
        return None;
    }
    let mut outcome = Outcome {
        words: None,
        number,
        comparison: None,
        sizes: Sizes::default(),
        summary: Summary::of(samples, None),
        stats: None,
        executor: info.filter(|_| path.needs_executor()),
        elapsed,
        dispatch,
    };
    match result {
        Err(failure) => outcome.summary = Summary::of_failure(samples, &failure),
        Ok(words) => {
            let expected = outcome.dispatch.expected.as_ref();
            let compared = expected.map(|e| {
                let measured = e.measured.as_deref();
                let operands = Operands { grid: outcome.dispatch.grid, got: &words, expected: &e.words, measured };
                compare(&operands, &options(number))
            });
            outcome.summary = match compared.transpose() {
                Ok(comparison) => {
                    outcome.comparison = comparison;
                    Summary::of(samples, outcome.comparison.as_ref())
                }
                Err(error) => {
                    let advice = "The recorded results do not fill the grid; record the dispatch again.";
                    Summary { samples, ..Summary::unreadable(error.to_string(), advice) }
                }
            };
            if let Some(comparison) = &outcome.comparison {
                outcome.sizes = Sizes::of(&words, &outcome.dispatch, comparison, number);
            }
            outcome.stats = Some(Arc::new(Stats::of_results(&words, None, number)));
            outcome.words = Some(Arc::new(words));
        }
    }
    (!progress.is_cancelled()).then_some(outcome)
}

fn words(
    dispatch: &Dispatch,
    path: Path,
    profile: &Profile,
    mut executor: Option<&mut (dyn Executor + 'static)>,
    strict: bool,
    progress: &Progress,
) -> Result<Vec<u32>, Failure> {
    let slabs = slabs(dispatch.grid);
    let implicit = matches!(dispatch.op.lod, LodSource::Implicit | LodSource::Bias);
    // In a grid of one row the neighbours of a quad lie in the row; cutting at even places keeps them together too.
    if slabs.len() == 1 || implicit && dispatch.grid[1] > 1 && dispatch.grid[1] % 2 == 1 {
        return evaluate(dispatch, path, profile, executor.map(|e| e as &mut dyn Executor), strict);
    }
    let mut words = Vec::new();
    for slab in slabs {
        if progress.is_cancelled() {
            return Ok(Vec::new());
        }
        let part = cut(dispatch, slab);
        words.extend(evaluate(&part, path, profile, executor.as_deref_mut().map(|e| e as &mut dyn Executor), strict)?);
        progress.done.fetch_add(part.sample_count(), Ordering::Relaxed);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_cover_every_sample_once_and_keep_pairs_of_rows() {
        for grid in [[4096, 4096, 1], [3, 5, 7], [5_000_000, 1, 2], [2_000_000, 3, 1], [1000, 2001, 3], [0, 4, 4]] {
            let mut next = 0;
            let slabs = slabs(grid);
            for slab in &slabs {
                assert_eq!(slab.first, next, "{grid:?}");
                next += slab.grid.iter().map(|&n| u64::from(n)).product::<u64>();
                if slabs.len() > 1 && grid[1] > 1 {
                    let row = slab.first / u64::from(grid[0]) % u64::from(grid[1]);
                    assert_eq!(row % 2, 0, "{grid:?} starts a slab inside a pair of rows");
                }
            }
            assert_eq!(next, grid.iter().map(|&n| u64::from(n)).product::<u64>(), "{grid:?}");
        }
    }
}
