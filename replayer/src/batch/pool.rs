//! Runs a plan's dispatches on several workers.

use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};

use super::{
    Backend, ExecutorName, Item, Judged, Settings, Stop,
    child::{Lost, Worker},
    judge_recorded,
};
use crate::{
    execute::Executor,
    results::{DispatchResult, InputError, Outcome, Status},
    source::SourceCache,
};

/// Workers in a row that may fail to start before a run gives up.
const FAILED_STARTS: usize = 3;
/// How long a worker may take to open its executor: a driver that compiles its built-in shaders on first use is slow.
const START_SECONDS: u64 = 60;

/// Where dispatches run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In worker processes: a crash, a hang or a loss of memory is the verdict of one dispatch.
    Process,
    /// In this process, on threads. A crash of the driver ends the run.
    None,
}

/// How a plan is run.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Where dispatches run.
    pub isolation: Isolation,
    /// Workers at a time.
    pub jobs: usize,
    /// How long a dispatch may take. Only processes can be held to it.
    pub timeout: Duration,
    /// Address space of a worker in MiB.
    pub memory_mib: Option<u64>,
    /// The program that has the `worker` command.
    pub program: PathBuf,
    /// Run an unexpected result once more.
    pub rerun: bool,
}

/// What became of one item.
#[derive(Debug)]
pub enum Settled {
    /// It has a verdict.
    Judged(Box<Judged>),
    /// It could not be read.
    Unreadable(InputError),
    /// A worker is ready; what runs its dispatches.
    Executor(ExecutorName),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Every item was settled.
    Complete,
    /// It was asked to end early.
    Stopped,
    /// There is no executor such as the settings ask for.
    NoExecutor(String),
    /// Workers do not start any more.
    Abandoned(String),
}

/// Runs all items. `assess` says how a verdict stands to the expectations; `settled` gets each item's number and what became
/// of it, on this thread, in the order in which they end.
pub fn run_all(
    backend: &dyn Backend,
    items: &[Item],
    settings: &Settings,
    options: &PoolOptions,
    stop: &Stop,
    assess: &(dyn Fn(&DispatchResult) -> (Outcome, Option<String>) + Sync),
    mut settled: impl FnMut(usize, Settled),
) -> RunEnd {
    let shared = Shared {
        backend,
        items,
        settings,
        options,
        stop,
        assess,
        next: AtomicUsize::new(0),
        end: Mutex::new(RunEnd::Complete),
        failed_starts: AtomicUsize::new(0),
    };
    let jobs = options.jobs.clamp(1, items.len().max(1));
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..jobs {
            let sender = sender.clone();
            let shared = &shared;
            scope.spawn(move || match options.isolation {
                Isolation::Process => shared.run_in_processes(&sender),
                Isolation::None => shared.run_here(&sender),
            });
        }
        drop(sender);
        for (number, what) in receiver {
            settled(number, what);
        }
    });
    if stop.is_requested() && shared.next.load(Ordering::SeqCst) < items.len() {
        shared.finish(RunEnd::Stopped);
    }
    shared.end.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Shared<'a> {
    backend: &'a dyn Backend,
    items: &'a [Item],
    settings: &'a Settings,
    options: &'a PoolOptions,
    stop: &'a Stop,
    assess: &'a (dyn Fn(&DispatchResult) -> (Outcome, Option<String>) + Sync),
    next: AtomicUsize,
    end: Mutex<RunEnd>,
    failed_starts: AtomicUsize,
}

type Out = Sender<(usize, Settled)>;

impl Shared<'_> {
    fn has_ended(&self) -> bool {
        self.stop.is_requested() || *self.end.lock().unwrap_or_else(PoisonError::into_inner) != RunEnd::Complete
    }

    /// Records why the run ends early; the first reason stays.
    fn finish(&self, end: RunEnd) {
        let mut current = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if *current == RunEnd::Complete {
            *current = end;
        }
    }

    fn take(&self) -> Option<(usize, &Item)> {
        if self.has_ended() {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        self.items.get(number).map(|item| (number, item))
    }

    /// Judges an item with `run`, once more when the result is unexpected.
    fn settle(&self, mut run: impl FnMut() -> Option<Attempt>) -> Option<Attempt> {
        let mut attempt = run()?;
        if let Attempt::Judged(judged) = &mut attempt {
            let (outcome, expectation) = (self.assess)(&judged.result);
            judged.result.outcome = outcome;
            judged.result.expectation = expectation;
            // What a refusal rests on is in the dispatch; it can't come out otherwise.
            let may_vary = !matches!(judged.result.status, Status::Refused | Status::NoOracle);
            if outcome != Outcome::Expected && may_vary && self.options.rerun {
                match run() {
                    Some(Attempt::Judged(again)) if !again.result.same_result(&judged.result) => {
                        judged.result.outcome = Outcome::Flaky;
                        let first = std::mem::take(&mut judged.result.reason);
                        judged.result.reason = Some(format!(
                            "{}a second run gave {}, {}",
                            first.map_or_else(String::new, |r| r + "; "),
                            again.result.status,
                            again.result.summary()
                        ));
                    }
                    // The same again, or the run is ending: the first result stands.
                    Some(_) | None => {}
                }
            }
        }
        Some(attempt)
    }

    fn report(&self, out: &Out, number: usize, attempt: Attempt) {
        let settled = match attempt {
            Attempt::Judged(judged) => Settled::Judged(judged),
            Attempt::Unreadable(message) => {
                let file = self.items[number].file.display().to_string();
                Settled::Unreadable(InputError { file, message })
            }
        };
        // The receiver lives as long as the scope in which this thread runs.
        let _ = out.send((number, settled));
    }

    fn run_in_processes(&self, out: &Out) {
        let mut worker = None;
        while let Some((number, item)) = self.take() {
            let Some(attempt) = self.settle(|| self.attempt(&mut worker, item, number, out)) else {
                return;
            };
            self.report(out, number, attempt);
        }
    }

    /// Has a worker judge an item; `None` when the run ends.
    fn attempt(&self, slot: &mut Option<Worker>, item: &Item, number: usize, out: &Out) -> Option<Attempt> {
        let start = Instant::now();
        let mut worker = match slot.take() {
            Some(worker) => worker,
            None => match self.start() {
                Ok(worker) => {
                    if let Some(name) = &worker.executor {
                        let _ = out.send((number, Settled::Executor(name.clone())));
                    }
                    worker
                }
                Err(end) => {
                    self.finish(end);
                    return None;
                }
            },
        };
        let lost = match worker.judge(item, self.options.timeout, self.stop) {
            Ok(judged) => {
                if !judged.executor_lost {
                    *slot = Some(worker);
                }
                return Some(Attempt::Judged(Box::new(judged)));
            }
            Err(lost) => lost,
        };
        let (status, reason) = match lost {
            Lost::Unreadable(message) => {
                *slot = Some(worker);
                return Some(Attempt::Unreadable(message));
            }
            Lost::Stopped => return None,
            Lost::TimedOut => {
                let mut reason = format!("no result after {} s", self.options.timeout.as_secs_f64());
                let last = worker.last_words();
                if !last.is_empty() {
                    reason += "; the worker's last words: ";
                    reason += &last.join(" | ");
                }
                (Status::Timeout, reason)
            }
            Lost::Died(reason) | Lost::NoExecutor(reason) => (Status::Crash, reason),
        };
        let mut result = item.without_result(self.settings, status, reason);
        if let Some(name) = worker.executor.take() {
            (result.executor, result.device, result.driver) = (name.kind, name.device, name.driver);
        }
        result.seconds = start.elapsed().as_secs_f64();
        Some(Attempt::Judged(Box::new(Judged { result, pictures: None, executor_lost: true })))
    }

    /// Starts a worker, with as many tries as are left to the run.
    fn start(&self) -> Result<Worker, RunEnd> {
        loop {
            let timeout = Duration::from_secs(START_SECONDS).max(self.options.timeout);
            let options = self.options;
            let reason = match Worker::start(&options.program, options.memory_mib, self.settings, timeout, self.stop) {
                Ok(worker) => {
                    self.failed_starts.store(0, Ordering::SeqCst);
                    return Ok(worker);
                }
                Err(Lost::Stopped) => return Err(RunEnd::Stopped),
                Err(Lost::NoExecutor(reason)) => return Err(RunEnd::NoExecutor(reason)),
                Err(Lost::TimedOut) => format!("a worker was not ready after {} s", timeout.as_secs()),
                Err(Lost::Died(reason) | Lost::Unreadable(reason)) => reason,
            };
            if self.failed_starts.fetch_add(1, Ordering::SeqCst) + 1 >= FAILED_STARTS {
                return Err(RunEnd::Abandoned(format!("{FAILED_STARTS} workers in a row did not start: {reason}")));
            }
            if self.has_ended() {
                return Err(RunEnd::Stopped);
            }
        }
    }

    fn run_here(&self, out: &Out) {
        let mut executor: Option<Box<dyn Executor>> = None;
        let mut sources = SourceCache::default();
        while let Some((number, item)) = self.take() {
            let attempt = self.settle(|| {
                if self.settings.needs_executor() && executor.is_none() {
                    match self.backend.open(self.settings) {
                        Ok(opened) => {
                            let _ = out.send((number, Settled::Executor(opened.info().into())));
                            executor = Some(opened);
                        }
                        Err(error) => {
                            self.finish(RunEnd::NoExecutor(error.to_string()));
                            return None;
                        }
                    }
                }
                let dispatch = match sources.recorded(&item.file, item.index) {
                    Ok(dispatch) => dispatch,
                    Err(error) => return Some(Attempt::Unreadable(error.to_string())),
                };
                let judged = judge_recorded(
                    self.backend,
                    item,
                    &dispatch,
                    self.settings,
                    executor.as_deref_mut().map(|e| e as &mut dyn Executor),
                );
                if judged.executor_lost {
                    executor = None;
                }
                Some(Attempt::Judged(Box::new(judged)))
            });
            let Some(attempt) = attempt else { return };
            self.report(out, number, attempt);
        }
    }
}

enum Attempt {
    Judged(Box<Judged>),
    Unreadable(String),
}
