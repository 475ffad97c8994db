//! Work off the UI thread: opening traces, reading and evaluating dispatches.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path as FilePath, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use capture_format::{ComputeDispatch, Dispatch, DispatchKind, Op, Recorded, Source, find_traces, open};
use replayer::{
    batch::{ExecutorKind, open_executor},
    execute::{ExecuteError, Executor},
    path::Failure,
    rules::Profile,
};

use super::{
    causes::{self, Causes, Sides},
    choice::{Choice, ExecutorChoice},
    compute::{self, Compute},
    edits::Edits,
    evaluate::{self, Progress},
    outcome::{Outcome, Sizes, Summary, number_of},
    stamp::{Change, Stamp},
    stats::Stats,
};

/// How often open files are looked at.
const WATCHED_EVERY: Duration = Duration::from_secs(1);

/// Dispatches of more samples are not evaluated for the list alone: the user asks for them by selecting them.
pub const LISTED_SAMPLES: u64 = 1 << 22;

/// Time for one slab, after which its evaluation is a timeout.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// A dispatch by the numbers of its trace and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DispatchId {
    /// Number of the open trace.
    pub trace: usize,
    /// Place in the trace.
    pub index: usize,
}

/// Which result: a dispatch as changed, under a choice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResultKey {
    /// The dispatch.
    pub id: DispatchId,
    /// Path, profile, executor.
    pub choice: Choice,
    /// Changed descriptor bits.
    pub edits: Edits,
}

/// What is known of a dispatch without reading its arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// What it is, or why the record can't be read.
    pub about: Result<About, String>,
}

/// What a dispatch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Samples: the instruction and the grid.
    Sample(Op, [u32; 3]),
    /// A compute dispatch of an emulator.
    Compute,
}

/// A dispatch that was read.
pub enum Loaded {
    /// A sample dispatch.
    Sample {
        /// As recorded.
        dispatch: Arc<Dispatch>,
        /// The spread of the oracle's values.
        stats: Option<Arc<Stats>>,
    },
    /// A compute dispatch.
    Compute(Arc<Compute>),
}

/// An opened trace.
pub struct Opened {
    /// The file or folder.
    pub path: PathBuf,
    /// The file as it was when it was opened.
    pub stamp: Stamp,
    /// The trace, or why it can't be opened.
    pub result: Result<(Arc<Source>, Vec<Head>), String>,
}

/// What the worker reports.
pub enum Report {
    /// A trace was opened, or could not be.
    Opened(Opened),
    /// All paths of a request were looked at; how many traces were found under each.
    Searched {
        /// The path that was asked for.
        path: PathBuf,
        /// Traces found.
        found: usize,
        /// Whether no other path waits.
        last: bool,
    },
    /// A dispatch was read.
    Loaded(DispatchId, Loaded),
    /// A dispatch can't be read.
    Unreadable(DispatchId, String),
    /// An evaluation that the user waits for ended: one outcome, of a compute dispatch one for each output.
    Evaluated(ResultKey, Vec<Arc<Outcome>>),
    /// A dispatch is too large to be evaluated for the list alone.
    TooLarge(DispatchId),
    /// An evaluation ended for the list.
    Summarised(ResultKey, Summary),
    /// The causes of a result were looked for; `None` when the search was given up.
    Explained(ResultKey, Option<Result<Arc<Causes>, String>>),
    /// An open file is not what it was.
    Changed(PathBuf, Change),
    /// A file was written, or why not; `None` when it was given up.
    Exported(Option<Result<PathBuf, String>>),
}

/// An evaluation.
struct Task {
    key: ResultKey,
    source: Arc<Source>,
    keep: bool,
}

/// Writes a file and returns its path; `None` when the flag was set before it was done.
pub type Export = Box<dyn FnOnce(&AtomicBool) -> Option<Result<PathBuf, String>> + Send>;

/// A result whose causes are looked for.
pub struct ExplainTask {
    /// Which result.
    pub key: ResultKey,
    /// The result.
    pub outcome: Arc<Outcome>,
    /// What computed it, and what the oracle follows.
    pub sides: Sides,
}

#[derive(Default)]
struct Queue {
    opening: VecDeque<PathBuf>,
    /// Files whose changes are looked for.
    watched: Vec<(PathBuf, Stamp)>,
    /// What the user waits for.
    wanted: Option<(ResultKey, Arc<Source>)>,
    /// What the list asks for.
    list: VecDeque<(ResultKey, Arc<Source>)>,
    /// The running evaluation: its key, whether the user waits for it, its progress.
    running: Option<(ResultKey, bool, Arc<Progress>)>,
    opening_now: bool,
    explaining: Option<ExplainTask>,
    explaining_now: Option<(ResultKey, Arc<AtomicBool>)>,
    exporting: Option<Arc<AtomicBool>>,
    forget_executors: bool,
    quit: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Called when there is something new to show.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The handle of the worker threads: one opens and watches files, one evaluates, one looks for causes, and one writes a file
/// when that is asked for. Dropping it ends them after the slab that they are at.
pub struct Worker {
    shared: Arc<Shared>,
    sender: Sender<Report>,
    wake: Wake,
    reports: Receiver<Report>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Worker {
    /// Starts the threads. `wake` is called after each report.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (sender, reports) = channel();
        let explain = thread::Builder::new().name("explain".to_owned()).spawn({
            let (shared, sender, wake) = (shared.clone(), sender.clone(), wake.clone());
            move || explain(&shared, &sender, &wake)
        })?;
        let open = thread::Builder::new().name("open".to_owned()).spawn({
            let opener = Opener { shared: shared.clone(), sender: sender.clone(), wake: wake.clone() };
            move || opener.work()
        })?;
        let evaluate = thread::Builder::new().name("evaluate".to_owned()).spawn({
            let (shared, sender, wake) = (shared.clone(), sender.clone(), wake.clone());
            move || Evaluator { shared, sender, wake, executors: HashMap::new() }.work()
        })?;
        Ok(Self { shared, sender, wake, reports, threads: vec![open, explain, evaluate] })
    }

    /// Asks for the causes of a result. A search for another result is given up.
    pub fn explain(&self, task: ExplainTask) {
        let mut queue = self.shared.lock();
        match &queue.explaining_now {
            Some((key, stop)) if *key == task.key && !stop.load(Ordering::Relaxed) => return,
            Some((_, stop)) => stop.store(true, Ordering::Relaxed),
            None => {}
        }
        queue.explaining = Some(task);
        self.shared.changed.notify_all();
    }

    /// Gives the search for causes up.
    pub fn cancel_explaining(&self) {
        let mut queue = self.shared.lock();
        queue.explaining = None;
        if let Some((_, stop)) = &queue.explaining_now {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the causes of a result are being looked for.
    #[must_use]
    pub fn is_explaining(&self, key: &ResultKey) -> bool {
        let queue = self.shared.lock();
        let running = |(now, stop): &(ResultKey, Arc<AtomicBool>)| now == key && !stop.load(Ordering::Relaxed);
        queue.explaining.as_ref().is_some_and(|task| task.key == *key)
            || queue.explaining_now.as_ref().is_some_and(running)
    }

    /// Writes a file in a thread of its own; one file at a time. Returns whether it was begun.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn export(&mut self, export: Export) -> std::io::Result<bool> {
        let stop = {
            let mut queue = self.shared.lock();
            if queue.exporting.is_some() {
                return Ok(false);
            }
            queue.exporting.insert(Arc::default()).clone()
        };
        let (shared, sender, wake) = (self.shared.clone(), self.sender.clone(), self.wake.clone());
        let spawned = thread::Builder::new().name("export".to_owned()).spawn(move || {
            let done = export(&stop);
            // The receiver is gone only while the window closes.
            drop(sender.send(Report::Exported(done)));
            shared.lock().exporting = None;
            wake();
        });
        match spawned {
            Ok(thread) => {
                self.threads.retain(|thread| !thread.is_finished());
                self.threads.push(thread);
                Ok(true)
            }
            Err(error) => {
                self.shared.lock().exporting = None;
                Err(error)
            }
        }
    }

    /// Whether a file is being written.
    #[must_use]
    pub fn is_exporting(&self) -> bool {
        self.shared.lock().exporting.is_some()
    }

    /// Gives up the file that is being written.
    pub fn cancel_export(&self) {
        if let Some(stop) = &self.shared.lock().exporting {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Replaces the files whose changes are reported, once each.
    pub fn watch(&self, files: Vec<(PathBuf, Stamp)>) {
        self.shared.lock().watched = files;
    }

    /// Asks for the traces under a path.
    pub fn open(&self, path: PathBuf) {
        self.shared.lock().opening.push_back(path);
        self.shared.changed.notify_all();
    }

    /// Asks for a result that the user waits for. It is done before all others; another one that the user waited for is given
    /// up.
    pub fn want(&self, key: ResultKey, source: Arc<Source>) {
        let mut queue = self.shared.lock();
        if let Some((running, wanted, progress)) = &mut queue.running {
            if *running == key && *wanted && !progress.is_cancelled() {
                queue.wanted = None;
                return;
            }
            progress.cancel();
        }
        queue.wanted = Some((key, source));
        self.shared.changed.notify_all();
    }

    /// Replaces what the list asks for.
    pub fn summarise(&self, list: impl IntoIterator<Item = (ResultKey, Arc<Source>)>) {
        let mut queue = self.shared.lock();
        queue.list = list.into_iter().collect();
        if let Some((key, false, progress)) = &queue.running
            && !queue.list.iter().any(|(listed, _)| listed == key)
        {
            progress.cancel();
        }
        let running = queue.running.as_ref().map(|(key, ..)| key.clone());
        queue.list.retain(|(key, _)| Some(key) != running.as_ref());
        self.shared.changed.notify_all();
    }

    /// Gives up what the user waits for.
    pub fn cancel(&self) {
        let mut queue = self.shared.lock();
        queue.wanted = None;
        queue.list.clear();
        if let Some((.., progress)) = &queue.running {
            progress.cancel();
        }
    }

    /// Closes the executors, so that they are opened anew.
    pub fn forget_executors(&self) {
        self.shared.lock().forget_executors = true;
    }

    /// Samples done and in all of the evaluation that the user waits for.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        let queue = self.shared.lock();
        match &queue.running {
            Some((_, true, progress)) if !progress.is_cancelled() => Some(progress.samples()),
            _ => queue.wanted.as_ref().map(|_| (0, 0)),
        }
    }

    /// Dispatches that the list still waits for.
    #[must_use]
    pub fn listed(&self) -> usize {
        let queue = self.shared.lock();
        queue.list.len() + usize::from(matches!(queue.running, Some((_, false, _))))
    }

    /// Whether nothing runs or waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let queue = self.shared.lock();
        queue.opening.is_empty()
            && !queue.opening_now
            && queue.wanted.is_none()
            && queue.list.is_empty()
            && queue.running.is_none()
            && queue.explaining.is_none()
            && queue.explaining_now.is_none()
            && queue.exporting.is_none()
    }

    /// Whether traces are being opened.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        let queue = self.shared.lock();
        queue.opening_now || !queue.opening.is_empty()
    }

    /// The next report, if there is one.
    #[must_use]
    pub fn poll(&self) -> Option<Report> {
        self.reports.try_recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        {
            let mut queue = self.shared.lock();
            queue.quit = true;
            if let Some((.., progress)) = &queue.running {
                progress.cancel();
            }
            let searching = queue.explaining_now.as_ref().map(|(_, stop)| stop);
            for stop in searching.into_iter().chain(&queue.exporting) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of the worker was already printed by its hook; there is nothing to add at the end.
            drop(thread.join());
        }
    }
}

/// Looks for causes until the end.
fn explain(shared: &Shared, sender: &Sender<Report>, wake: &Wake) {
    loop {
        let (ExplainTask { key, outcome, sides }, stop) = {
            let mut queue = shared.lock();
            loop {
                if queue.quit {
                    return;
                }
                if let Some(task) = queue.explaining.take() {
                    let stop = Arc::new(AtomicBool::new(false));
                    queue.explaining_now = Some((task.key.clone(), stop.clone()));
                    break (task, stop);
                }
                queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let found = match &outcome.words {
            None => Some(Err("there is no result".to_owned())),
            Some(words) => {
                Causes::of(&outcome.dispatch, words, &sides, &stop).map(|found| found.map(Arc::new)).transpose()
            }
        };
        // The receiver is gone only while the window closes.
        drop(sender.send(Report::Explained(key, found)));
        shared.lock().explaining_now = None;
        wake();
    }
}

/// Opens traces and looks for changes of those that are open.
struct Opener {
    shared: Arc<Shared>,
    sender: Sender<Report>,
    wake: Wake,
}

impl Opener {
    fn work(self) {
        loop {
            let path = {
                let mut queue = self.shared.lock();
                loop {
                    if queue.quit {
                        return;
                    }
                    if let Some(path) = queue.opening.pop_front() {
                        queue.opening_now = true;
                        break Some(path);
                    }
                    let (found, waited) =
                        self.shared.changed.wait_timeout(queue, WATCHED_EVERY).unwrap_or_else(PoisonError::into_inner);
                    queue = found;
                    if waited.timed_out() {
                        break None;
                    }
                }
            };
            match path {
                Some(path) => {
                    self.open(&path);
                    self.shared.lock().opening_now = false;
                    (self.wake)();
                }
                None => self.watch(),
            }
        }
    }

    fn watch(&self) {
        let watched = self.shared.lock().watched.clone();
        for (path, stamp) in watched {
            if let Some(change) = stamp.change(&path) {
                self.shared.lock().watched.retain(|(known, _)| *known != path);
                self.report(Report::Changed(path, change));
            }
        }
    }

    fn report(&self, report: Report) {
        // The receiver is gone only while the window closes.
        drop(self.sender.send(report));
        (self.wake)();
    }

    fn open(&self, path: &FilePath) {
        let found = match find_traces(path) {
            Ok(found) => found,
            Err(error) => {
                let (stamp, result) = (Stamp::of(path), Err(error.to_string()));
                self.report(Report::Opened(Opened { path: path.to_owned(), stamp, result }));
                let last = self.shared.lock().opening.is_empty();
                return self.report(Report::Searched { path: path.to_owned(), found: 1, last });
            }
        };
        let count = found.len();
        for trace in found {
            if self.shared.lock().quit {
                return;
            }
            // Before the file is read, so that a change while it is read is found.
            let stamp = Stamp::of(&trace);
            let result = open(&trace).map(|source| (heads(&source), Arc::new(source)));
            let result = result.map(|(heads, source)| (source, heads)).map_err(|error| error.to_string());
            self.report(Report::Opened(Opened { path: trace, stamp, result }));
        }
        let last = self.shared.lock().opening.is_empty();
        self.report(Report::Searched { path: path.to_owned(), found: count, last });
    }
}

struct Evaluator {
    shared: Arc<Shared>,
    sender: Sender<Report>,
    wake: Wake,
    executors: HashMap<ExecutorChoice, Result<Box<dyn Executor>, ExecuteError>>,
}

impl Evaluator {
    fn work(mut self) {
        while let Some((Task { key, source, keep }, progress)) = self.next() {
            self.evaluate(&key, &source, keep, &progress);
            self.shared.lock().running = None;
            (self.wake)();
        }
    }

    /// Waits for the next task; `None` at the end.
    fn next(&mut self) -> Option<(Task, Arc<Progress>)> {
        let mut queue = self.shared.lock();
        loop {
            if queue.quit {
                return None;
            }
            if std::mem::take(&mut queue.forget_executors) {
                self.executors.clear();
            }
            let wanted = queue.wanted.take().map(|task| (task, true));
            if let Some(((key, source), keep)) = wanted.or_else(|| queue.list.pop_front().map(|task| (task, false))) {
                let progress = Arc::<Progress>::default();
                queue.running = Some((key.clone(), keep, progress.clone()));
                return Some((Task { key, source, keep }, progress));
            }
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn report(&self, report: Report) {
        // The receiver is gone only while the window closes.
        drop(self.sender.send(report));
        (self.wake)();
    }

    fn evaluate(&mut self, key: &ResultKey, source: &Source, keep: bool, progress: &Progress) {
        let loaded = match source.recorded(key.id.index) {
            Ok(Recorded::Sample(dispatch)) => Arc::new(dispatch),
            Ok(Recorded::Compute(dispatch)) => return self.evaluate_compute(key, dispatch, keep, progress),
            Err(error) => return self.report(Report::Unreadable(key.id, error.to_string())),
        };
        if keep {
            let number = number_of(&loaded);
            let expected = loaded.expected.as_ref();
            let stats = expected.map(|e| Arc::new(Stats::of_results(&e.words, e.measured.as_deref(), number)));
            self.report(Report::Loaded(key.id, Loaded::Sample { dispatch: loaded.clone(), stats }));
        }
        let dispatch = if key.edits.is_empty() { loaded } else { Arc::new(key.edits.apply(&loaded)) };
        let samples = dispatch.sample_count();
        let choice = &key.choice;
        let outcome = match choice.profile.resolve(source.oracle()) {
            Err(error) => Some(without_words(
                dispatch,
                Summary {
                    samples,
                    ..Summary::unreadable(error.to_string(), "Choose one of the known profiles in the bar at the top.")
                },
            )),
            Ok(profile) => {
                let executor = match choice.path.needs_executor() {
                    true => self.executor(&choice.executor).map(Some),
                    false => Ok(None),
                };
                match executor {
                    Err(error) => Some(without_words(dispatch, Summary::of_failure(samples, &Failure::Execute(error)))),
                    Ok(executor) => evaluate::run(dispatch, choice.path, &profile, executor, choice.strict, progress),
                }
            }
        };
        match outcome {
            None => {}
            Some(outcome) if keep => self.report(Report::Evaluated(key.clone(), vec![Arc::new(outcome)])),
            Some(mut outcome) => {
                if let (1..=causes::LISTED, Some(words), Ok(profile)) =
                    (outcome.summary.mismatched, &outcome.words, choice.profile.resolve(source.oracle()))
                {
                    let oracle = Profile::by_name(&source.oracle().profile);
                    let sides = Sides { path: choice.path, profile, oracle };
                    let found = Causes::of(&outcome.dispatch, words, &sides, progress.stop()).ok().flatten();
                    outcome.summary.cause = found.and_then(|causes| causes.main().map(str::to_owned));
                }
                self.report(Report::Summarised(key.clone(), outcome.summary));
            }
        }
    }

    fn evaluate_compute(&mut self, key: &ResultKey, dispatch: ComputeDispatch, keep: bool, progress: &Progress) {
        let compute = Arc::new(Compute::new(dispatch));
        if keep {
            self.report(Report::Loaded(key.id, Loaded::Compute(compute.clone())));
        } else if compute.sample_count() > LISTED_SAMPLES {
            return self.report(Report::TooLarge(key.id));
        }
        let executor = self.executor(&key.choice.executor);
        let Some(outcomes) = compute::run(&compute, executor, progress) else { return };
        let outcomes: Vec<_> = outcomes.into_iter().map(Arc::new).collect();
        if keep {
            self.report(Report::Evaluated(key.clone(), outcomes));
        } else {
            self.report(Report::Summarised(key.clone(), Summary::total(&outcomes)));
        }
    }

    fn executor(&mut self, choice: &ExecutorChoice) -> Result<&mut (dyn Executor + 'static), ExecuteError> {
        let entry = self.executors.entry(choice.clone()).or_insert_with(|| {
            let (kind, device) = match choice {
                ExecutorChoice::Auto => (ExecutorKind::Auto, None),
                ExecutorChoice::Embedded => (ExecutorKind::Embedded, None),
                ExecutorChoice::Vulkan(name) => (ExecutorKind::Vulkan, Some(name.as_str())),
            };
            open_executor(kind, device, TIME_LIMIT)
        });
        match entry {
            Ok(executor) => Ok(executor.as_mut()),
            Err(error) => Err(error.clone()),
        }
    }
}

fn without_words(dispatch: Arc<Dispatch>, summary: Summary) -> Outcome {
    Outcome {
        number: number_of(&dispatch),
        dispatch,
        words: None,
        comparison: None,
        sizes: Sizes::default(),
        summary,
        stats: None,
        executor: None,
        elapsed: Duration::ZERO,
    }
}

fn heads(source: &Source) -> Vec<Head> {
    match source {
        Source::Packed(reader) => reader
            .names()
            .enumerate()
            .map(|(index, name)| Head {
                name: name.to_owned(),
                about: match reader.kind(index) {
                    Some(DispatchKind::Compute) => Ok(About::Compute),
                    _ => {
                        let head = reader.dispatch_head(index);
                        head.map(|head| About::Sample(head.op, head.grid)).map_err(|error| error.to_string())
                    }
                },
            })
            .collect(),
        Source::Case(_) => (0..source.len())
            .map(|index| match source.recorded(index) {
                Ok(Recorded::Sample(dispatch)) => {
                    Head { about: Ok(About::Sample(dispatch.op, dispatch.grid)), name: dispatch.name }
                }
                Ok(Recorded::Compute(dispatch)) => Head { about: Ok(About::Compute), name: dispatch.name },
                Err(error) => Head { name: format!("#{index}"), about: Err(error.to_string()) },
            })
            .collect(),
    }
}
