//! What is open, selected, changed and known: the state behind the window.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use capture_format::{Dispatch, Entries, Field, FieldRangeError, Source};
use replayer::{explain::SampleDetail, path::Path as ReplayPath, rules::Profile};

use super::{
    causes::{self, Causes, Known, Sides, sample_detail},
    choice::{Choice, ExecutorChoice},
    compare::Number,
    compute::Compute,
    disassembly::{Disassembly, disassemble, disassemble_recorded},
    edits::{Descriptor, Edits, recorded},
    fields,
    goto::{DispatchRef, Goto},
    list::{Listing, Query, Row, arrange},
    navigate::{self, Order, Step},
    outcome::{Outcome, Summary, Verdict, number_of},
    sample::{SampleInfo, TapInfo, taps},
    stamp::{Change, Stamp},
    stats::Stats,
    texture::Texture,
    worker::{About, DispatchId, ExplainTask, Export, Head, LISTED_SAMPLES, Loaded, Report, ResultKey, Wake, Worker},
};

/// Results that are kept cost at most this many bytes, beside the one that is shown.
const KEPT_BYTES: usize = 1 << 30;

/// Explanations that are kept.
const KEPT_CAUSES: usize = 16;

/// Lists of more dispatches are not made anew with each verdict.
const LISTED_AT_ONCE: usize = 2000;

/// How old such a list may be.
const LISTED_EVERY: Duration = Duration::from_millis(400);

/// An open trace, or one that could not be opened.
pub struct TraceEntry {
    /// The file or folder.
    pub path: PathBuf,
    /// What became of the file since it was opened.
    pub change: Option<Change>,
    /// Whether the user has seen that it does not open.
    pub dismissed: bool,
    stamp: Stamp,
    /// The trace with its dispatches, or what is wrong with it.
    pub content: Result<(Arc<Source>, Vec<Head>), String>,
}

/// A dispatch that is shown, with what is derived from it.
pub struct Shown {
    /// Which one.
    pub id: DispatchId,
    /// As recorded.
    pub recorded: Arc<Dispatch>,
    /// With changed fields.
    pub dispatch: Arc<Dispatch>,
    /// The compute dispatch of which an output is shown. `recorded` and `dispatch` then hold the output's grid and recorded
    /// contents, and nothing else.
    pub compute: Option<Arc<Compute>>,
    /// The spread of the oracle's values.
    pub stats: Option<Arc<Stats>>,
    /// How results are read.
    pub number: Number,
    /// The texture, or why it is not shown. Of a table of images, that of the selected sample.
    pub texture: Result<Texture, String>,
    /// The entries of tables of descriptors that are in sight: those of the selected sample, or of the first.
    pub entries: Entries,
    /// Tells this from what was shown before.
    pub serial: u64,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What happened.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// A file that can be opened again because of it.
    pub reload: Option<PathBuf>,
}

/// The entries of tables that a sample uses; of none, those of the first sample.
fn entries_in_sight(dispatch: &Dispatch, sample: Option<usize>) -> Entries {
    dispatch.entries_of(sample.unwrap_or(0)).unwrap_or_default()
}

/// The dispatch that holds the texture in sight: the dispatch itself, or an entry of its tables alone with one quad.
fn textured(dispatch: &Arc<Dispatch>, entries: Entries) -> Option<Arc<Dispatch>> {
    if !dispatch.is_table() {
        return Some(dispatch.clone());
    }
    dispatch.with_entries(entries, [2, 2, 1], &[0; 4]).map(Arc::new)
}

/// The state behind the window.
pub struct Session {
    worker: Worker,
    traces: Vec<TraceEntry>,
    selected: Option<DispatchId>,
    sample: Option<usize>,
    slice: u32,
    /// Which output of a compute dispatch is shown.
    output: usize,
    /// Whether the user chose it; else the first that differs is shown.
    output_chosen: bool,
    /// The output to be shown of the next dispatch.
    pending_output: Option<usize>,
    /// Which image that a compute dispatch reads is shown.
    input: usize,
    /// The sample to be selected once the grid is known.
    pending_sample: Option<[u32; 3]>,
    /// Dispatches that are not evaluated for the list.
    too_large: HashSet<DispatchId>,
    choice: Choice,
    edits: HashMap<DispatchId, Edits>,
    loaded: Option<(DispatchId, Loaded)>,
    /// Dispatches that can't be read, and why.
    unreadable: HashMap<DispatchId, String>,
    shown: Option<Shown>,
    /// Results, the latest used last, one outcome an output, each with the serial of its first.
    results: VecDeque<(ResultKey, Vec<Arc<Outcome>>, u64)>,
    summaries: HashMap<ResultKey, Summary>,
    serial: u64,
    goto: Option<Goto>,
    messages: Vec<Message>,
    opened: Vec<PathBuf>,
    sample_info: Option<(SampleKey, SampleView)>,
    /// Causes of results, the latest last.
    explained: VecDeque<(ResultKey, Result<Arc<Causes>, String>)>,
    /// The cause whose samples are stepped through.
    cause: usize,
    disassembly: Option<(u64, Choice, Result<Disassembly, String>)>,
    /// Bumped when rows may have changed.
    rows_version: u64,
    rows: Option<ListingCache>,
    /// Whether the list has to ask for verdicts again.
    list_stale: bool,
}

#[derive(Clone, PartialEq)]
struct SampleKey {
    index: usize,
    shown: u64,
    result: Option<u64>,
    choice: Choice,
    explained: bool,
}

/// A sample in full.
#[derive(Clone, Debug)]
pub struct SampleView {
    /// What the dispatch holds of it, and its taps by the path's rules.
    pub info: SampleInfo,
    /// What the replayer says about how its values come about, or why it says nothing.
    pub detail: Result<SampleDetail, String>,
    /// Its taps by the rules that give the oracle's value; none when they are not known.
    pub expected_taps: Vec<TapInfo>,
}

struct ListingCache {
    version: u64,
    query: Query,
    made: Instant,
    listing: Arc<Listing>,
}

impl Session {
    /// Starts with nothing open.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(choice: Choice, wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            worker: Worker::start(wake)?,
            traces: Vec::new(),
            selected: None,
            sample: None,
            slice: 0,
            output: 0,
            output_chosen: false,
            pending_output: None,
            input: 0,
            pending_sample: None,
            too_large: HashSet::new(),
            choice,
            edits: HashMap::new(),
            loaded: None,
            unreadable: HashMap::new(),
            shown: None,
            results: VecDeque::new(),
            summaries: HashMap::new(),
            serial: 0,
            goto: None,
            messages: Vec::new(),
            opened: Vec::new(),
            sample_info: None,
            explained: VecDeque::new(),
            cause: 0,
            disassembly: None,
            rows_version: 0,
            rows: None,
            list_stale: false,
        })
    }

    /// Opens what a path stands for, in the background.
    pub fn open(&mut self, path: PathBuf) {
        self.worker.open(path);
    }

    /// Closes everything.
    pub fn close_all(&mut self) {
        self.worker.cancel();
        self.traces.clear();
        self.edits.clear();
        self.results.clear();
        self.summaries.clear();
        self.explained.clear();
        (self.selected, self.sample, self.slice, self.loaded, self.shown) = (None, None, 0, None, None);
        self.unreadable.clear();
        self.too_large.clear();
        (self.sample_info, self.disassembly) = (None, None);
        self.rows_version += 1;
    }

    /// Goes to a dispatch and a sample as soon as it is open.
    pub fn goto(&mut self, goto: Goto) {
        self.goto = Some(goto);
        self.follow_goto();
    }

    /// As [`Self::goto`], among what is open already: a place that is not there is an error at once.
    pub fn goto_open(&mut self, goto: Goto) {
        self.goto(goto);
        if !self.worker.is_opening()
            && let Some(goto) = self.goto.take()
        {
            self.error(format!("{goto}: no such dispatch in the open traces"));
        }
    }

    /// Takes in what the worker reports. Returns whether anything changed.
    pub fn poll(&mut self) -> bool {
        let mut changed = false;
        while let Some(report) = self.worker.poll() {
            changed = true;
            self.take(report);
        }
        if std::mem::take(&mut self.list_stale) {
            self.ask_for_list();
        }
        changed
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Opened(opened) => {
                // A trace that is opened again replaces the one of before in its place.
                let entry = TraceEntry {
                    path: opened.path.clone(),
                    change: None,
                    dismissed: false,
                    stamp: opened.stamp,
                    content: opened.result,
                };
                let reopened = opened.path.clone();
                let known = self.traces.iter().position(|trace| trace.path == opened.path);
                if let Ok((source, _)) = &entry.content {
                    self.opened.push(opened.path);
                    if let Some(recovery) = source.recovery() {
                        self.error(format!("{}: read in part: {recovery}", source.path().display()));
                    }
                }
                match known {
                    Some(at) => {
                        self.forget(at);
                        self.traces[at] = entry;
                    }
                    None => self.traces.push(entry),
                }
                self.messages.retain(|message| message.reload.as_deref() != Some(&*reopened));
                self.watch();
                self.rows_version += 1;
                self.follow_goto();
                if self.selected.is_none() && self.goto.is_none() {
                    self.select_first();
                }
                self.list_stale = true;
            }
            Report::Searched { path, found, last } => {
                if found == 0 {
                    self.error(format!(
                        "{}: no traces there; expected .texeltrace files or folders with case.toml",
                        path.display()
                    ));
                }
                if last && let Some(goto) = self.goto.take() {
                    self.error(format!("{goto}: no such dispatch in the open traces"));
                    if self.selected.is_none() {
                        self.select_first();
                    }
                }
            }
            Report::Loaded(id, loaded) => {
                self.unreadable.remove(&id);
                self.loaded = Some((id, loaded));
                self.show();
            }
            Report::Unreadable(id, reason) => {
                self.summaries.insert(
                    self.key(id),
                    Summary::unreadable(reason.clone(), "The other dispatches of the trace can still be read."),
                );
                self.unreadable.insert(id, reason);
                self.rows_version += 1;
            }
            Report::TooLarge(id) => {
                self.too_large.insert(id);
            }
            Report::Evaluated(key, outcomes) => {
                self.summaries.insert(key.clone(), Summary::total(&outcomes));
                let first = self.serial + 1;
                self.serial += outcomes.len() as u64;
                let differing = outcomes.iter().position(|outcome| outcome.summary.mismatched > 0);
                self.results.retain(|(known, ..)| *known != key);
                self.results.push_back((key.clone(), outcomes, first));
                self.explain_unasked(&key);
                if let Some(output) = differing.filter(|_| self.selected == Some(key.id) && self.sample.is_none())
                    && !self.output_chosen
                {
                    self.show_output(output);
                }
                let bytes = |results: &VecDeque<(ResultKey, Vec<Arc<Outcome>>, u64)>| {
                    results.iter().flat_map(|(_, outcomes, _)| outcomes).map(|outcome| outcome.bytes()).sum::<usize>()
                };
                while self.results.len() > 1 && bytes(&self.results) > KEPT_BYTES {
                    self.results.pop_front();
                }
                self.rows_version += 1;
                self.list_stale = true;
            }
            Report::Explained(key, found) => {
                self.rows_version += 1;
                let Some(found) = found else { return };
                if let (Ok(causes), Some(summary)) = (&found, self.summaries.get_mut(&key)) {
                    summary.cause = causes.main().map(str::to_owned);
                }
                self.explained.retain(|(known, _)| *known != key);
                self.explained.push_back((key, found));
                if self.explained.len() > KEPT_CAUSES {
                    self.explained.pop_front();
                }
            }
            Report::Changed(path, change) => self.take_change(&path, change),
            Report::Exported(None) => self.note("Nothing was written: given up".to_owned()),
            Report::Exported(Some(Ok(path))) => self.note(format!("Wrote {}", path.display())),
            Report::Exported(Some(Err(error))) => self.error(error),
            Report::Summarised(key, summary) => {
                self.summaries.insert(key, summary);
                self.rows_version += 1;
            }
        }
    }

    fn watch(&self) {
        let opened = self.traces.iter().filter(|entry| entry.content.is_ok() && entry.change.is_none());
        self.worker.watch(opened.map(|entry| (entry.path.clone(), entry.stamp.clone())).collect());
    }

    fn take_change(&mut self, path: &Path, change: Change) {
        let Some(at) = self.traces.iter().position(|entry| entry.path == path) else { return };
        self.traces[at].change = Some(change);
        let name = path.display();
        let text = match change {
            Change::Gone => format!("{name}: was deleted; what is shown is what was opened"),
            Change::Replaced => format!("{name}: was replaced; what is shown is what was opened"),
            Change::Written => format!("{name}: was written to; what is shown may no longer be in it"),
            Change::Shortened => {
                // What is mapped beyond the new end is gone, so nothing of the trace is read any more.
                let reason = format!("{name}: was shortened by another program while it was open");
                self.forget(at);
                self.traces[at].content = Err(reason.clone());
                reason
            }
        };
        let reload = (change != Change::Gone).then(|| path.to_owned());
        self.messages.push(Message { text, is_error: true, reload });
        self.rows_version += 1;
    }

    fn forget(&mut self, trace: usize) {
        self.results.retain(|(key, ..)| key.id.trace != trace);
        self.summaries.retain(|key, _| key.id.trace != trace);
        self.explained.retain(|(key, _)| key.id.trace != trace);
        self.edits.retain(|id, _| id.trace != trace);
        self.unreadable.retain(|id, _| id.trace != trace);
        self.too_large.retain(|id| id.trace != trace);
        if self.selected.is_some_and(|id| id.trace == trace) {
            (self.selected, self.sample, self.loaded, self.shown) = (None, None, None, None);
            (self.sample_info, self.disassembly) = (None, None);
        }
    }

    fn error(&mut self, text: String) {
        self.messages.push(Message { text, is_error: true, reload: None });
    }

    /// Adds a message that is no error.
    pub fn note(&mut self, text: String) {
        self.messages.push(Message { text, is_error: false, reload: None });
    }

    /// Adds an error.
    pub fn complain(&mut self, error: &dyn std::fmt::Display) {
        self.error(error.to_string());
    }

    /// Messages that were not dismissed.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Removes a message.
    pub fn dismiss(&mut self, at: usize) {
        if at < self.messages.len() {
            self.messages.remove(at);
        }
    }

    /// Files that were opened since the last call.
    pub fn take_opened(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.opened)
    }

    fn follow_goto(&mut self) {
        let Some(goto) = &self.goto else { return };
        let found = self.traces.iter().enumerate().find_map(|(trace, entry)| {
            let (_, heads) = entry.content.as_ref().ok()?;
            let index = match &goto.dispatch {
                DispatchRef::Name(name) => heads.iter().position(|head| head.name == *name)?,
                DispatchRef::Number(number) => Some(*number).filter(|number| *number < heads.len())?,
            };
            Some(DispatchId { trace, index })
        });
        if let Some(id) = found {
            let goto = self.goto.take();
            self.select(id);
            self.pending_sample = goto.and_then(|goto| goto.sample);
            self.take_pending_sample();
        }
    }

    /// Selects the sample that was asked for, once the grid is known.
    fn take_pending_sample(&mut self) {
        let Some((at, grid)) = self.pending_sample.zip(self.selected.and_then(|id| self.grid(id))) else { return };
        self.pending_sample = None;
        match navigate::index(at, grid) {
            Some(index) => self.select_sample(Some(index)),
            None => self.error(format!(
                "{},{},{}: no such sample, the grid is {} x {} x {}",
                at[0], at[1], at[2], grid[0], grid[1], grid[2]
            )),
        }
    }

    fn grid(&self, id: DispatchId) -> Option<[u32; 3]> {
        match self.about(id)? {
            About::Sample(_, grid) => Some(grid),
            // It is known once the dispatch is read.
            About::Compute => self.shown.as_ref().filter(|shown| shown.id == id).map(|shown| shown.dispatch.grid),
        }
    }

    fn about(&self, id: DispatchId) -> Option<About> {
        let (_, heads) = self.traces.get(id.trace)?.content.as_ref().ok()?;
        heads.get(id.index)?.about.as_ref().ok().copied()
    }

    /// Whether the selected dispatch is a compute dispatch.
    #[must_use]
    pub fn is_compute(&self) -> bool {
        self.selected.and_then(|id| self.about(id)) == Some(About::Compute)
    }

    /// The path in force for the selected dispatch: a compute dispatch is run by its own SPIR-V, whatever is chosen.
    #[must_use]
    pub fn path(&self) -> ReplayPath {
        if self.is_compute() { ReplayPath::Recorded } else { self.choice.path }
    }

    /// Which output of a compute dispatch is shown.
    #[must_use]
    pub fn output(&self) -> usize {
        self.output
    }

    /// Chooses the output that is shown.
    pub fn choose_output(&mut self, output: usize) {
        self.output_chosen = true;
        self.show_output(output);
    }

    /// Chooses the output of the dispatch that is selected next.
    pub fn expect_output(&mut self, output: usize) {
        self.pending_output = Some(output);
    }

    fn show_output(&mut self, output: usize) {
        if output != self.output {
            (self.output, self.sample) = (output, None);
            self.show();
        }
    }

    /// Which image that a compute dispatch reads is shown, by its place among those with a T# and texels.
    #[must_use]
    pub fn input(&self) -> usize {
        self.input
    }

    /// Chooses the image that is shown as source texture.
    pub fn choose_input(&mut self, input: usize) {
        if input != self.input {
            self.input = input;
            self.show();
        }
    }

    fn select_first(&mut self) {
        let first =
            self.traces.iter().position(|entry| entry.content.as_ref().is_ok_and(|(_, heads)| !heads.is_empty()));
        if let Some(trace) = first {
            self.select(DispatchId { trace, index: 0 });
        }
    }

    /// The open traces, and those that could not be opened.
    #[must_use]
    pub fn traces(&self) -> &[TraceEntry] {
        &self.traces
    }

    /// Traces that can't be opened and were not dismissed, by their number: the file and what is wrong with it.
    pub fn broken(&self) -> impl Iterator<Item = (usize, &Path, &str)> {
        self.traces.iter().enumerate().filter(|(_, entry)| !entry.dismissed).filter_map(|(at, entry)| {
            let reason = entry.content.as_ref().err()?;
            Some((at, entry.path.as_path(), reason.as_str()))
        })
    }

    /// No longer shows that a trace can't be opened.
    pub fn dismiss_broken(&mut self, trace: usize) {
        if let Some(entry) = self.traces.get_mut(trace) {
            entry.dismissed = true;
        }
    }

    /// Whether any trace is open.
    #[must_use]
    pub fn has_traces(&self) -> bool {
        self.traces.iter().any(|entry| entry.content.is_ok())
    }

    fn source(&self, id: DispatchId) -> Option<&Arc<Source>> {
        self.traces.get(id.trace)?.content.as_ref().ok().map(|(source, _)| source)
    }

    /// The trace of the selected dispatch.
    #[must_use]
    pub fn selected_source(&self) -> Option<&Arc<Source>> {
        self.source(self.selected?)
    }

    /// The selected dispatch.
    #[must_use]
    pub fn selected(&self) -> Option<DispatchId> {
        self.selected
    }

    /// Name of the selected dispatch.
    #[must_use]
    pub fn selected_name(&self) -> Option<&str> {
        let id = self.selected?;
        let (_, heads) = self.traces.get(id.trace)?.content.as_ref().ok()?;
        heads.get(id.index).map(|head| head.name.as_str())
    }

    /// Selects a dispatch; it is read and evaluated in the background.
    pub fn select(&mut self, id: DispatchId) {
        if self.source(id).is_none() || self.selected == Some(id) {
            return;
        }
        (self.selected, self.sample, self.slice, self.shown) = (Some(id), None, 0, None);
        (self.input, self.pending_sample) = (0, None);
        self.output_chosen = self.pending_output.is_some();
        self.output = self.pending_output.take().unwrap_or(0);
        if self.loaded.as_ref().is_some_and(|(loaded, ..)| *loaded != id) {
            self.loaded = None;
        }
        self.show();
        self.ask();
    }

    fn key(&self, id: DispatchId) -> ResultKey {
        ResultKey { id, choice: self.effective(id), edits: self.edits.get(&id).cloned().unwrap_or_default() }
    }

    /// The choice as results depend on it: the executor does not matter to a path that needs none.
    fn effective(&self, id: DispatchId) -> Choice {
        let mut choice = self.choice.clone();
        if self.about(id) == Some(About::Compute) {
            // Its SPIR-V follows no profile of ours.
            return Choice { path: ReplayPath::Recorded, executor: choice.executor, ..Choice::default() };
        }
        if !choice.path.needs_executor() {
            choice.executor = ExecutorChoice::Auto;
        }
        choice
    }

    /// Asks for what is selected, unless it is there.
    fn ask(&mut self) {
        let Some(id) = self.selected else { return };
        let key = self.key(id);
        let has_result = match self.results.iter().position(|(known, ..)| *known == key) {
            Some(at) => {
                // The latest used is kept longest.
                if let Some(result) = self.results.remove(at) {
                    self.results.push_back(result);
                }
                self.explain_unasked(&key);
                true
            }
            None => false,
        };
        let has_dispatch = self.loaded.as_ref().is_some_and(|(loaded, ..)| *loaded == id);
        if !(has_result && has_dispatch)
            && let Some(source) = self.source(id).cloned()
        {
            self.worker.want(key, source);
        }
        self.rows_version += 1;
    }

    /// Asks for the verdicts that the list lacks.
    fn ask_for_list(&mut self) {
        let mut wanted = Vec::new();
        // What a change does to the counts is seen against those without it.
        if let Some((id, source)) = self.selected.and_then(|id| Some((id, self.source(id)?)))
            && self.edits.contains_key(&id)
        {
            let key = ResultKey { id, choice: self.effective(id), edits: Edits::default() };
            if !self.summaries.contains_key(&key) {
                wanted.push((key, source.clone()));
            }
        }
        for (trace, entry) in self.traces.iter().enumerate() {
            let Ok((source, heads)) = &entry.content else { continue };
            for (index, head) in heads.iter().enumerate() {
                let id = DispatchId { trace, index };
                let small = match &head.about {
                    Ok(About::Sample(_, grid)) => {
                        grid.iter().fold(1u64, |n, &d| n.saturating_mul(d.into())) <= LISTED_SAMPLES
                    }
                    Ok(About::Compute) => !self.too_large.contains(&id),
                    Err(_) => false,
                };
                let key = self.key(id);
                if small && self.selected != Some(id) && !self.summaries.contains_key(&key) {
                    wanted.push((key, source.clone()));
                }
            }
        }
        self.worker.summarise(wanted);
    }

    /// Makes what is shown from what is loaded, changed and chosen.
    fn show(&mut self) {
        let Some((id, loaded)) = &self.loaded else { return };
        if self.selected != Some(*id) {
            return;
        }
        let (id, profile) = (*id, self.profile());
        let (recorded, stats) = match loaded {
            Loaded::Sample { dispatch, stats } => (dispatch.clone(), stats.clone()),
            Loaded::Compute(compute) => {
                let compute = compute.clone();
                self.show_compute(id, compute, profile);
                return;
            }
        };
        let dispatch = match self.edits.get(&id) {
            Some(edits) if !edits.is_empty() => Arc::new(edits.apply(&recorded)),
            _ => recorded.clone(),
        };
        self.serial += 1;
        self.slice = self.slice.min(dispatch.grid[2].saturating_sub(1));
        self.sample = self.sample.filter(|&sample| (sample as u64) < dispatch.sample_count());
        let entries = entries_in_sight(&dispatch, self.sample);
        let texture = profile.and_then(|profile| {
            let textured = textured(&dispatch, entries).ok_or("no sample uses an image")?;
            Texture::new(textured, &profile.rules)
        });
        self.shown = Some(Shown {
            id,
            number: number_of(&dispatch),
            recorded,
            dispatch,
            compute: None,
            stats,
            texture,
            entries,
            serial: self.serial,
        });
    }

    fn show_compute(&mut self, id: DispatchId, compute: Arc<Compute>, profile: Result<Profile, String>) {
        self.output = self.output.min(compute.outputs.len().saturating_sub(1));
        self.input = self.input.min(compute.inputs.len().saturating_sub(1));
        let texture = match compute.inputs.get(self.input) {
            Some(input) => profile.and_then(|profile| Texture::new(input.source.clone(), &profile.rules)),
            None => Err("no image with a T# and texels is bound".to_owned()),
        };
        let dispatch = compute.frame(self.output);
        self.serial += 1;
        self.slice = self.slice.min(dispatch.grid[2].saturating_sub(1));
        self.sample = self.sample.filter(|&sample| (sample as u64) < dispatch.sample_count());
        self.shown = Some(Shown {
            id,
            number: compute.number(self.output),
            stats: compute.outputs.get(self.output).and_then(|output| output.stats.clone()),
            recorded: dispatch.clone(),
            dispatch,
            compute: Some(compute),
            texture,
            entries: Entries::default(),
            serial: self.serial,
        });
        self.take_pending_sample();
    }

    /// The dispatch that is shown, once it is read.
    #[must_use]
    pub fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    /// Why the selected dispatch can't be read.
    #[must_use]
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.get(&self.selected?).map(String::as_str)
    }

    /// The profile in force for the selected dispatch.
    ///
    /// # Errors
    /// Text that names the unknown profile.
    pub fn profile(&self) -> Result<Profile, String> {
        let source = self.selected_source().ok_or("no dispatch is selected")?;
        self.choice.profile.resolve(source.oracle()).map_err(|error| error.to_string())
    }

    /// The result of what is selected under the present choice, with its serial.
    #[must_use]
    pub fn outcome(&self) -> Option<(&Arc<Outcome>, u64)> {
        let key = self.key(self.selected?);
        let (_, outcomes, first) = self.results.iter().find(|(known, ..)| *known == key)?;
        outcomes.get(self.output).map(|outcome| (outcome, first + self.output as u64))
    }

    /// The results of all outputs of the selected dispatch, one of a sample dispatch; none before they are there.
    #[must_use]
    pub fn outcomes(&self) -> &[Arc<Outcome>] {
        let key = self.selected.map(|id| self.key(id));
        let found = self.results.iter().find(|(known, ..)| Some(known) == key.as_ref());
        found.map(|(_, outcomes, _)| outcomes.as_slice()).unwrap_or_default()
    }

    /// What computed the results of a dispatch under a choice, and what its oracle follows.
    fn sides(&self, key: &ResultKey) -> Option<Sides> {
        let oracle = self.source(key.id)?.oracle();
        let profile = key.choice.profile.resolve(oracle).ok()?;
        Some(Sides { path: key.choice.path, profile, oracle: Profile::by_name(&oracle.profile) })
    }

    fn explain(&mut self, key: ResultKey, outcome: Arc<Outcome>) {
        if let Some(sides) = self.sides(&key) {
            self.worker.explain(ExplainTask { key, outcome, sides });
        }
    }

    /// Looks for the causes of a result when there are not too many differences.
    fn explain_unasked(&mut self, key: &ResultKey) {
        if key.choice.path == ReplayPath::Recorded {
            return;
        }
        let found = self.results.iter().find(|(known, ..)| known == key);
        let found = found.and_then(|(_, outcomes, _)| outcomes.first().cloned());
        let Some(outcome) = found else { return };
        let known = self.explained.iter().any(|(known, _)| known == key);
        if !known && key.edits.is_empty() && (1..=causes::UNASKED).contains(&outcome.summary.mismatched) {
            self.explain(key.clone(), outcome);
        }
    }

    /// Gives the search for causes up.
    pub fn cancel_explaining(&mut self) {
        self.worker.cancel_explaining();
    }

    /// Writes a file in the background; what became of it is a message.
    pub fn export(&mut self, export: Export) {
        match self.worker.export(export) {
            Ok(true) => {}
            Ok(false) => self.error("another file is still being written; wait, or give it up".to_owned()),
            Err(error) => self.error(format!("no thread to write the file: {error}")),
        }
    }

    /// Whether a file is being written.
    #[must_use]
    pub fn is_exporting(&self) -> bool {
        self.worker.is_exporting()
    }

    /// Gives up the file that is being written.
    pub fn cancel_export(&mut self) {
        self.worker.cancel_export();
    }

    /// Looks for the causes of what is shown, however many samples differ.
    pub fn explain_shown(&mut self) {
        if let (Some(id), Some((outcome, _))) = (self.selected, self.outcome()) {
            let outcome = outcome.clone();
            self.explain(self.key(id), outcome);
        }
    }

    /// What is known of the causes of what is shown.
    #[must_use]
    pub fn causes(&self) -> Known {
        let (Some(id), Some((outcome, _))) = (self.selected, self.outcome()) else { return Known::Nothing };
        let mismatched = outcome.summary.mismatched;
        if mismatched == 0 {
            return Known::Nothing;
        }
        if self.is_compute() {
            return Known::Failed(
                "Causes are looked for among the rules of sampling. A compute dispatch is a program of its own: select a sample and follow it under “Shader steps”.".to_owned(),
            );
        }
        let key = self.key(id);
        match self.explained.iter().find(|(known, _)| *known == key) {
            Some((_, Ok(causes))) => Known::Found(causes.clone()),
            Some((_, Err(reason))) => Known::Failed(reason.clone()),
            None if self.worker.is_explaining(&key) => Known::Searching,
            None if !key.edits.is_empty() => {
                Known::NotAsked("fields were changed, so the oracle's results are of another dispatch".to_owned())
            }
            None if mismatched <= causes::UNASKED => Known::NotAsked("the search was given up".to_owned()),
            None => Known::NotAsked(causes::too_many(mismatched)),
        }
    }

    /// The cause whose samples are stepped through, by its place among the causes.
    #[must_use]
    pub fn cause(&self) -> usize {
        self.cause
    }

    /// Chooses the cause whose samples are stepped through.
    pub fn choose_cause(&mut self, cause: usize) {
        self.cause = cause;
    }

    /// The counts of the selected dispatch before any field was changed, when it was evaluated.
    #[must_use]
    pub fn unchanged_summary(&self) -> Option<&Summary> {
        let id = self.selected?;
        self.summaries.get(&ResultKey { id, choice: self.effective(id), edits: Edits::default() })
    }

    /// The present choice.
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Chooses what results are computed with.
    pub fn choose(&mut self, choice: Choice) {
        if choice == self.choice {
            return;
        }
        self.choice = choice;
        self.cause = 0;
        self.show();
        self.ask();
        self.list_stale = true;
    }

    /// Chooses the path and leaves the rest.
    pub fn choose_path(&mut self, path: ReplayPath) {
        self.choose(Choice { path, ..self.choice.clone() });
    }

    /// Forgets the results of the selected dispatch and opens executors anew.
    pub fn run_again(&mut self) {
        self.worker.forget_executors();
        let selected = self.selected;
        self.results.retain(|(key, ..)| Some(key.id) != selected);
        // Verdicts that an executor failed to give may come now.
        self.summaries.retain(|key, summary| {
            Some(key.id) != selected && !matches!(summary.verdict, Verdict::Failed | Verdict::Timeout)
        });
        self.ask();
        self.list_stale = true;
    }

    /// Gives up what is being computed.
    pub fn cancel(&mut self) {
        self.worker.cancel();
        self.worker.cancel_explaining();
    }

    /// Samples done and in all of what the user waits for.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        self.worker.progress()
    }

    /// Dispatches whose verdict the list waits for.
    #[must_use]
    pub fn listed(&self) -> usize {
        self.worker.listed()
    }

    /// Whether traces are being opened.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        self.worker.is_opening()
    }

    /// Whether nothing runs in the background. Reports may still wait to be polled.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.worker.is_idle() && !self.list_stale
    }

    /// Changed fields of the selected dispatch.
    #[must_use]
    pub fn edits(&self) -> Edits {
        self.selected.and_then(|id| self.edits.get(&id)).cloned().unwrap_or_default()
    }

    /// Sets a field of the selected dispatch and evaluates it again; in a table of descriptors, of the entry in sight.
    ///
    /// # Errors
    /// When the value does not fit the field.
    pub fn set_field(&mut self, descriptor: Descriptor, field: &Field, value: u32) -> Result<(), FieldRangeError> {
        let Some(entry) = self.shown.as_ref().map(|shown| descriptor.entry(shown.entries)) else { return Ok(()) };
        self.set_field_of(descriptor, entry, field, value)
    }

    /// As [`Self::set_field`], for an entry of the dispatch's tables; 0 without a table.
    ///
    /// # Errors
    /// As [`Self::set_field`].
    pub fn set_field_of(
        &mut self,
        descriptor: Descriptor,
        entry: u32,
        field: &Field,
        value: u32,
    ) -> Result<(), FieldRangeError> {
        let Some(shown) = &self.shown else { return Ok(()) };
        if shown.compute.is_some() {
            self.error(format!(
                "{}: fields of a compute dispatch can't be changed, its SPIR-V does not read them",
                field.name
            ));
            return Ok(());
        }
        let mut edits = self.edits();
        if recorded(&shown.recorded, descriptor, entry).is_none() {
            let name = fields::entry_name(descriptor, Some(entry));
            self.error(format!("{}: there is no {name} in {}", field.name, shown.recorded.name));
            return Ok(());
        }
        edits.set(&shown.recorded, descriptor, entry, field, value)?;
        self.set_edits(edits);
        Ok(())
    }

    /// Gives a field its recorded value back; in a table of descriptors, of the entry in sight.
    pub fn revert_field(&mut self, descriptor: Descriptor, field: &Field) {
        let Some(shown) = &self.shown else { return };
        let mut edits = self.edits();
        edits.revert(&shown.recorded, descriptor, descriptor.entry(shown.entries), field);
        self.set_edits(edits);
    }

    /// Gives all fields their recorded values back.
    pub fn revert_all(&mut self) {
        self.set_edits(Edits::default());
    }

    fn set_edits(&mut self, edits: Edits) {
        let Some(id) = self.selected else { return };
        if edits == self.edits() {
            return;
        }
        if edits.is_empty() {
            self.edits.remove(&id);
        } else {
            self.edits.insert(id, edits);
        }
        self.show();
        self.ask();
    }

    /// The selected sample.
    #[must_use]
    pub fn sample(&self) -> Option<usize> {
        self.sample
    }

    /// Selects a sample and shows its slice.
    pub fn select_sample(&mut self, sample: Option<usize>) {
        self.sample = sample;
        if let (Some(sample), Some(grid)) = (sample, self.selected.and_then(|id| self.grid(id))) {
            self.slice = navigate::position(sample, grid)[2];
        }
        // Other descriptors come into sight, and with them another texture.
        let now = self.shown.as_ref().filter(|shown| shown.dispatch.is_table());
        if now.is_some_and(|shown| shown.entries != entries_in_sight(&shown.dispatch, self.sample)) {
            self.show();
        }
    }

    /// The slice of the grid that is shown.
    #[must_use]
    pub fn slice(&self) -> u32 {
        self.slice
    }

    /// Shows a slice of the grid.
    pub fn set_slice(&mut self, slice: u32) {
        let slices = self.shown.as_ref().map_or(1, |shown| shown.dispatch.grid[2]);
        self.slice = slice.min(slices.saturating_sub(1));
    }

    /// Selects the next or previous differing sample. Returns whether there is one.
    pub fn step(&mut self, order: Order, step: Step) -> bool {
        if order == Order::Cause
            && let Known::Found(causes) = self.causes()
        {
            let next = causes.step(self.cause, self.sample, step == Step::Next);
            if next.is_some() {
                self.select_sample(next);
            }
            return next.is_some();
        }
        let Some(next) = self
            .outcome()
            .and_then(|(outcome, _)| outcome.comparison.as_ref())
            .and_then(|comparison| navigate::step(comparison, order, self.sample, step))
        else {
            return false;
        };
        self.select_sample(Some(next));
        true
    }

    /// The selected sample in full.
    pub fn sample_view(&mut self) -> Option<&SampleView> {
        let index = self.sample?;
        let shown = self.shown.as_ref()?;
        let outcome = self.outcome();
        let is_compute = shown.compute.is_some();
        let causes = match self.causes() {
            Known::Found(causes) => Some(causes),
            _ => None,
        };
        let key = SampleKey {
            index,
            shown: shown.serial,
            result: outcome.map(|(_, serial)| serial),
            choice: self.choice.clone(),
            explained: causes.is_some(),
        };
        if self.sample_info.as_ref().is_none_or(|(known, _)| *known != key) && is_compute {
            let info = SampleInfo::of_values(&shown.dispatch, outcome.map(|(o, _)| o.as_ref()), index, shown.number);
            let detail = Err("a compute dispatch is a program of its own".to_owned());
            self.sample_info = Some((key, SampleView { info, detail, expected_taps: Vec::new() }));
        } else if self.sample_info.as_ref().is_none_or(|(known, _)| *known != key) {
            let profile = self.profile().ok()?;
            let rules = self.choice.path.profile(&profile).rules;
            let outcome = outcome.map(|(outcome, _)| outcome.as_ref());
            let info = SampleInfo::new(&shown.dispatch, outcome, &rules, index, shown.number);
            let sides = self.sides(&self.key(shown.id));
            let detail = match (outcome, sides) {
                (Some(outcome), Some(sides)) => sample_detail(outcome, &sides, causes.as_deref(), index),
                _ => Err("there is no result".to_owned()),
            };
            let expected = detail.as_ref().ok().and_then(|detail| detail.oracle.as_ref());
            let expected_taps = expected.map(|expected| taps(expected, &shown.dispatch)).unwrap_or_default();
            self.sample_info = Some((key, SampleView { info, detail, expected_taps }));
        }
        self.sample_info.as_ref().map(|(_, view)| view)
    }

    /// The module of the selected dispatch.
    ///
    /// # Errors
    /// Text that says why there is none.
    pub fn disassembly(&mut self) -> Result<&Disassembly, String> {
        let shown = self.shown.as_ref().ok_or("no dispatch is shown")?;
        let stale = self
            .disassembly
            .as_ref()
            .is_none_or(|(serial, choice, _)| *serial != shown.serial || *choice != self.choice);
        if stale {
            let compute = shown.compute.as_ref();
            let rules = match self.choice.path {
                ReplayPath::Native if compute.is_none() => {
                    Err("the native path uses the device's own sampler".to_owned())
                }
                path => self.profile().map(|profile| path.profile(&profile).rules),
            };
            let made = match compute {
                Some(compute) => disassemble_recorded(&compute.dispatch),
                None => rules.and_then(|rules| disassemble(&shown.dispatch, &rules)),
            };
            self.disassembly = Some((shown.serial, self.choice.clone(), made));
        }
        match &self.disassembly {
            Some((.., Ok(made))) => Ok(made),
            Some((.., Err(error))) => Err(error.clone()),
            None => Err("no dispatch is shown".to_owned()),
        }
    }

    /// The lines of the list. They are made anew only when something changed, and long lists not with each verdict: see
    /// [`Self::is_listing_stale`].
    pub fn listing(&mut self, query: &Query) -> Arc<Listing> {
        if let Some(known) = &self.rows
            && known.query == *query
            && (known.version == self.rows_version
                || known.listing.dispatches > LISTED_AT_ONCE && known.made.elapsed() < LISTED_EVERY)
        {
            return known.listing.clone();
        }
        let listing = Arc::new(arrange(self.all_rows(), query));
        self.rows = Some(ListingCache {
            version: self.rows_version,
            query: query.clone(),
            made: Instant::now(),
            listing: listing.clone(),
        });
        listing
    }

    /// Whether the list lacks what is known by now; it should be asked for again after a moment.
    #[must_use]
    pub fn is_listing_stale(&self) -> bool {
        self.rows.as_ref().is_some_and(|known| known.version != self.rows_version)
    }

    fn all_rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (trace, entry) in self.traces.iter().enumerate() {
            let Ok((source, heads)) = &entry.content else { continue };
            for (index, head) in heads.iter().enumerate() {
                let id = DispatchId { trace, index };
                let summary = self.summaries.get(&self.key(id));
                rows.push(Row {
                    id,
                    trace: source.name().to_owned(),
                    name: head.name.clone(),
                    op: match &head.about {
                        Ok(About::Sample(op, _)) => op.to_string(),
                        Ok(About::Compute) => "compute".to_owned(),
                        Err(_) => "?".to_owned(),
                    },
                    verdict: summary.map(|s| s.verdict).or(head.about.is_err().then_some(Verdict::Unreadable)),
                    mismatched: summary.map_or(0, |s| s.mismatched),
                    max_ulp: summary.map_or(0, |s| s.max_ulp),
                    cause: summary.and_then(|s| s.cause.clone()),
                    changed: self.edits.contains_key(&id),
                });
            }
        }
        rows
    }

    /// Selects the dispatch of the list after or before the selected one.
    pub fn step_row(&mut self, query: &Query, step: Step) {
        let selected = self.selected;
        let listing = self.listing(query);
        let mut before = None;
        let mut rows = listing.rows().map(|row| row.id);
        let mut first = None;
        let is_there = rows.any(|id| {
            first = first.or(Some(id));
            let found = Some(id) == selected;
            if !found {
                before = Some(id);
            }
            found
        });
        let next = match step {
            Step::Next if is_there => rows.next(),
            Step::Previous if is_there => before,
            _ => first,
        };
        if let Some(id) = next {
            self.select(id);
        }
    }

    /// The place of what is shown, as `--goto` takes it.
    #[must_use]
    pub fn place(&self) -> Option<Goto> {
        let id = self.selected?;
        let (_, heads) = self.traces.get(id.trace)?.content.as_ref().ok()?;
        let name = &heads.get(id.index)?.name;
        // What `--goto` would take for something else is named by its number.
        let is_unique = heads.iter().filter(|head| head.name == *name).nth(1).is_none();
        let named = name
            .parse::<Goto>()
            .is_ok_and(|goto| goto.sample.is_none() && goto.dispatch == DispatchRef::Name(name.clone()));
        let dispatch = if is_unique && named { DispatchRef::Name(name.clone()) } else { DispatchRef::Number(id.index) };
        let sample =
            self.sample.zip(self.shown.as_ref()).map(|(sample, shown)| navigate::position(sample, shown.dispatch.grid));
        Some(Goto { dispatch, sample })
    }

    /// The file of the selected dispatch.
    #[must_use]
    pub fn selected_path(&self) -> Option<&Path> {
        self.traces.get(self.selected?.trace).map(|entry| entry.path.as_path())
    }
}
