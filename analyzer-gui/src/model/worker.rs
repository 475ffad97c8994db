//! Work off the UI thread: opening traces, reading and evaluating dispatches.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path as FilePath, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use capture_format::{Dispatch, Op, Source, find_traces, open};
use replayer::{
    batch::{ExecutorKind, open_executor},
    execute::{ExecuteError, Executor},
    path::Failure,
    rules::Profile,
};

use super::{
    causes::{self, Causes, Sides},
    choice::{Choice, ExecutorChoice},
    edits::Edits,
    evaluate::{self, Progress},
    outcome::{Outcome, Sizes, Summary, number_of},
    stats::Stats,
};

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
    /// The instruction and the grid, or why the record can't be read.
    pub about: Result<(Op, [u32; 3]), String>,
}

/// A dispatch that was read, with the spread of its oracle's values.
pub struct Loaded {
    /// The dispatch as recorded.
    pub dispatch: Arc<Dispatch>,
    /// The spread of the oracle's values.
    pub stats: Option<Arc<Stats>>,
}

/// An opened trace.
pub struct Opened {
    /// The file or folder.
    pub path: PathBuf,
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
    /// An evaluation ended. `words` are left out of those that only the list asked for.
    Evaluated(ResultKey, Box<Outcome>),
    /// An evaluation ended for the list.
    Summarised(ResultKey, Summary),
    /// The causes of a result were looked for.
    Explained(ResultKey, Result<Arc<Causes>, String>),
}

/// One task.
enum Task {
    Open(PathBuf),
    Evaluate { key: ResultKey, source: Arc<Source>, keep: bool },
}

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
    /// What the user waits for.
    wanted: Option<(ResultKey, Arc<Source>)>,
    /// What the list asks for.
    list: VecDeque<(ResultKey, Arc<Source>)>,
    /// The running evaluation: its key, whether the user waits for it, its progress.
    running: Option<(ResultKey, bool, Arc<Progress>)>,
    opening_now: bool,
    explaining: Option<ExplainTask>,
    explaining_now: Option<ResultKey>,
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

/// The handle of the worker threads: one opens and evaluates, one looks for causes. Dropping it ends them after the slab, and
/// the search, that they are at.
pub struct Worker {
    shared: Arc<Shared>,
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
        let evaluate = thread::Builder::new().name("evaluate".to_owned()).spawn({
            let shared = shared.clone();
            move || Thread { shared, sender, wake, executors: HashMap::new() }.work()
        })?;
        Ok(Self { shared, reports, threads: vec![explain, evaluate] })
    }

    /// Asks for the causes of a result. A search that has not begun is replaced.
    pub fn explain(&self, task: ExplainTask) {
        self.shared.lock().explaining = Some(task);
        self.shared.changed.notify_all();
    }

    /// Whether the causes of a result are being looked for.
    #[must_use]
    pub fn is_explaining(&self, key: &ResultKey) -> bool {
        let queue = self.shared.lock();
        queue.explaining.as_ref().is_some_and(|task| task.key == *key) || queue.explaining_now.as_ref() == Some(key)
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
        let ExplainTask { key, outcome, sides } = {
            let mut queue = shared.lock();
            loop {
                if queue.quit {
                    return;
                }
                if let Some(task) = queue.explaining.take() {
                    queue.explaining_now = Some(task.key.clone());
                    break task;
                }
                queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let found = match &outcome.words {
            None => Err("there is no result".to_owned()),
            Some(words) => Causes::of(&outcome.dispatch, words, &sides).map(Arc::new),
        };
        // The receiver is gone only while the window closes.
        drop(sender.send(Report::Explained(key, found)));
        shared.lock().explaining_now = None;
        wake();
    }
}

struct Thread {
    shared: Arc<Shared>,
    sender: Sender<Report>,
    wake: Wake,
    executors: HashMap<ExecutorChoice, Result<Box<dyn Executor>, ExecuteError>>,
}

impl Thread {
    fn work(mut self) {
        while let Some(task) = self.next() {
            match task {
                Task::Open(path) => {
                    self.open(&path);
                    self.shared.lock().opening_now = false;
                }
                Task::Evaluate { key, source, keep } => {
                    let progress = self.shared.lock().running.as_ref().map(|(.., progress)| progress.clone());
                    if let Some(progress) = progress {
                        self.evaluate(&key, &source, keep, &progress);
                    }
                    self.shared.lock().running = None;
                }
            }
            (self.wake)();
        }
    }

    /// Waits for the next task; `None` at the end.
    fn next(&mut self) -> Option<Task> {
        let mut queue = self.shared.lock();
        loop {
            if queue.quit {
                return None;
            }
            if std::mem::take(&mut queue.forget_executors) {
                self.executors.clear();
            }
            if let Some(path) = queue.opening.pop_front() {
                queue.opening_now = true;
                return Some(Task::Open(path));
            }
            let wanted = queue.wanted.take().map(|task| (task, true));
            if let Some(((key, source), keep)) = wanted.or_else(|| queue.list.pop_front().map(|task| (task, false))) {
                queue.running = Some((key.clone(), keep, Arc::default()));
                return Some(Task::Evaluate { key, source, keep });
            }
            queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
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
                let result = Err(error.to_string());
                self.report(Report::Opened(Opened { path: path.to_owned(), result }));
                let last = self.shared.lock().opening.is_empty();
                return self.report(Report::Searched { path: path.to_owned(), found: 1, last });
            }
        };
        let count = found.len();
        for trace in found {
            let result = open(&trace).map(|source| (heads(&source), Arc::new(source)));
            let result = result.map(|(heads, source)| (source, heads)).map_err(|error| error.to_string());
            self.report(Report::Opened(Opened { path: trace, result }));
        }
        let last = self.shared.lock().opening.is_empty();
        self.report(Report::Searched { path: path.to_owned(), found: count, last });
    }

    fn evaluate(&mut self, key: &ResultKey, source: &Source, keep: bool, progress: &Progress) {
        let loaded = match source.dispatch(key.id.index) {
            Ok(dispatch) => Arc::new(dispatch),
            Err(error) => return self.report(Report::Unreadable(key.id, error.to_string())),
        };
        if keep {
            let number = number_of(&loaded);
            let expected = loaded.expected.as_ref();
            let stats = expected.map(|e| Arc::new(Stats::of_results(&e.words, e.measured.as_deref(), number)));
            self.report(Report::Loaded(key.id, Loaded { dispatch: loaded.clone(), stats }));
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
            Some(outcome) if keep => self.report(Report::Evaluated(key.clone(), Box::new(outcome))),
            Some(mut outcome) => {
                if let (1..=causes::LISTED, Some(words), Ok(profile)) =
                    (outcome.summary.mismatched, &outcome.words, choice.profile.resolve(source.oracle()))
                {
                    let oracle = Profile::by_name(&source.oracle().profile);
                    let sides = Sides { path: choice.path, profile, oracle };
                    let found = Causes::of(&outcome.dispatch, words, &sides).ok();
                    outcome.summary.cause = found.and_then(|causes| causes.main().map(str::to_owned));
                }
                self.report(Report::Summarised(key.clone(), outcome.summary));
            }
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
                about: reader.dispatch_head(index).map(|head| (head.op, head.grid)).map_err(|error| error.to_string()),
            })
            .collect(),
        Source::Case(_) => (0..source.len())
            .map(|index| match source.dispatch(index) {
                Ok(dispatch) => Head { about: Ok((dispatch.op, dispatch.grid)), name: dispatch.name },
                Err(error) => Head { name: format!("#{index}"), about: Err(error.to_string()) },
            })
            .collect(),
    }
}
