//! Recording: what is called on the host's threads, and the thread that writes.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::BufWriter,
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use capture_format::{
    BoundResource, ComputeBinding, ComputeDispatch, GuestShader, SpecializationValue, TraceMeta, TraceWriter, Words,
    WriteOptions,
    container::{ComputeTicket, OutputContent, StoredBlob},
};

use crate::{
    budget::{Budget, blob_bytes},
    queue::Queue,
    status::{Failure, Status},
};

/// How a recording is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The file. One that is there already is replaced.
    pub path: PathBuf,
    /// Name, summary and provenance of the outputs.
    pub meta: TraceMeta,
    /// The most bytes that wait to be written; who adds more waits.
    pub queue_bytes: usize,
    /// Contents of up to this many bytes are copied into the queue; longer ones are written from where they are, before the call
    /// returns.
    pub copy_bytes: usize,
    /// The most bytes that the file may have.
    pub max_file_bytes: Option<u64>,
    /// The most dispatches that are recorded.
    pub max_dispatches: Option<u64>,
    /// Only dispatches of shaders with these hashes are recorded; all when empty.
    pub shader_hashes: Vec<u64>,
    /// A dispatch begins only when the system has its record, so that it is in the file even if the process dies in it.
    pub wait_for_begin: bool,
}

impl Options {
    /// [`Options::queue_bytes`] when nothing else is asked for.
    pub const QUEUE_BYTES: usize = 64 << 20;
    /// [`Options::copy_bytes`] when nothing else is asked for.
    pub const COPY_BYTES: usize = 1 << 20;
}

/// A recording that is being made. All calls may come from any thread.
pub struct Recorder {
    options: Options,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Dispatches that were let in.
    admitted: AtomicU64,
    next: AtomicU64,
    names: Mutex<Names>,
}

/// What host threads and the writing thread share.
struct Shared {
    queue: Queue<Work>,
    budget: Budget,
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

#[derive(Default)]
struct Names {
    used: HashSet<String>,
    /// How often a name was asked for.
    counts: HashMap<String, u64>,
}

/// A shader that dispatches run.
pub struct Shader {
    module: Words,
    guest: GuestShader,
    /// Its module was counted against the size of the file.
    counted: AtomicBool,
}

/// What a dispatch is, but for its bindings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchInfo {
    /// Its name. Dispatches of one name are told apart by a number behind it.
    pub name: String,
    /// Name of the entry point.
    pub entry: String,
    /// Specialization constants.
    pub specialization: Vec<SpecializationValue>,
    /// Push constants.
    pub push_constants: Words,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Labels, outermost first.
    pub labels: Vec<String>,
}

/// A dispatch that is being recorded. Calls on one dispatch wait for each other.
pub struct Dispatch {
    recorder: Arc<Recorder>,
    shader: Arc<Shader>,
    state: Mutex<State>,
}

enum State {
    /// Bindings are being added.
    Building {
        dispatch: Box<ComputeDispatch>,
        stored: Vec<(usize, StoredBlob)>,
        places: HashSet<Place>,
    },
    /// It has begun: outputs are being added.
    Begun {
        id: u64,
        /// Place and size in bytes of each output, where it is known.
        outputs: Vec<(Place, usize, Option<u64>)>,
        contents: Vec<(usize, Content)>,
        /// Bytes promised for its end.
        promised: u64,
    },
    Over,
}

/// Set, binding, element.
type Place = (u32, u32, u32);

/// Contents on their way to the file.
enum Content {
    Words(Vec<u32>),
    Stored(StoredBlob),
}

/// What the writing thread is asked to do.
enum Work {
    Store {
        /// Borrowed from a host thread that waits until this work is dropped.
        content: &'static [u8],
        promised: u64,
        reply: SyncSender<StoredBlob>,
    },
    Begin {
        id: u64,
        dispatch: Box<ComputeDispatch>,
        stored: Vec<(usize, StoredBlob)>,
        promised: u64,
        reply: Option<SyncSender<()>>,
    },
    End {
        id: u64,
        outputs: Vec<(usize, Content)>,
        promised: u64,
    },
    Discard {
        id: u64,
    },
    Flush {
        reply: SyncSender<()>,
    },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Creates the file and starts the thread that writes.
    ///
    /// # Errors
    /// [`Status::Io`] when the file can't be created, [`Status::InvalidArgument`] for options that are not valid.
    pub fn open(options: Options) -> Result<Arc<Self>, Failure> {
        let writer = TraceWriter::create(&options.path, &options.meta, WriteOptions::default());
        let writer = writer.map_err(|error| {
            let status = match error {
                capture_format::WriteError::Usage(_) => Status::InvalidArgument,
                _ => Status::Io,
            };
            Failure::new(status, error.to_string())
        })?;
        let shared = Arc::new(Shared {
            queue: Queue::new(options.queue_bytes),
            budget: Budget::new(options.max_file_bytes.unwrap_or(u64::MAX)),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        });
        shared.budget.keep(0, writer.finished_bytes_bound());
        let theirs = shared.clone();
        let thread = std::thread::Builder::new().name("texeltrace".to_owned()).spawn(move || write(&theirs, writer));
        let thread = thread.map_err(|error| Failure::new(Status::Io, format!("cannot start a thread: {error}")))?;
        Ok(Arc::new(Self {
            options,
            shared,
            thread: Mutex::new(Some(thread)),
            admitted: AtomicU64::new(0),
            next: AtomicU64::new(0),
            names: Mutex::default(),
        }))
    }

    /// Writes all that waits and the index, and closes the file. Dispatches that have not ended stay without an end.
    ///
    /// # Errors
    /// [`Status::Io`] when anything could not be written, now or before; [`Status::BadOrder`] when it is closed already.
    pub fn close(&self) -> Result<(), Failure> {
        let Some(thread) = lock(&self.thread).take() else {
            return Err(Failure::order("the recording is closed already"));
        };
        self.shared.queue.close();
        if thread.join().is_err() {
            return Err(Failure::new(Status::Internal, "the writing thread panicked"));
        }
        self.check()
    }

    /// Waits until the system has all that was recorded so far.
    ///
    /// # Errors
    /// [`Status::Io`] when anything could not be written; [`Status::BadOrder`] when the recording is closed.
    pub fn flush(&self) -> Result<(), Failure> {
        let (reply, done) = sync_channel(1);
        self.push(Work::Flush { reply }, 0)?;
        // Dropped without an answer when writing failed.
        let _ = done.recv();
        self.check()
    }

    /// Takes a shader. Its module is stored once.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] when there is no module.
    pub fn shader(&self, module: Words, guest: GuestShader) -> Result<Shader, Failure> {
        if module.is_empty() {
            return Err(Failure::argument("a shader needs a SPIR-V module"));
        }
        Ok(Shader { module, guest, counted: AtomicBool::new(false) })
    }

    /// Whether the filter lets dispatches of a shader in, and there is room for another.
    #[must_use]
    pub fn wants(&self, shader: &Shader) -> bool {
        let hashes = &self.options.shader_hashes;
        let passes = hashes.is_empty() || shader.guest.hash.is_some_and(|hash| hashes.contains(&hash));
        let room = self.options.max_dispatches.is_none_or(|max| self.admitted.load(Ordering::Relaxed) < max);
        passes && room && self.shared.budget.promise(0)
    }

    /// Starts a dispatch. `None`: it is left out.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] when the information contradicts itself, [`Status::Io`] when writing has failed.
    pub fn dispatch(self: &Arc<Self>, shader: &Arc<Shader>, info: DispatchInfo) -> Result<Option<Dispatch>, Failure> {
        self.check()?;
        if lock(&self.thread).is_none() {
            return Err(Failure::order("the recording is closed"));
        }
        if !self.wants(shader) {
            return Ok(None);
        }
        let dispatch = ComputeDispatch {
            name: if info.name.is_empty() { default_name(shader) } else { info.name },
            module: shader.module.clone(),
            entry: if info.entry.is_empty() { "main".to_owned() } else { info.entry },
            specialization: info.specialization,
            push_constants: info.push_constants,
            groups: info.groups,
            bindings: Vec::new(),
            guest_shader: shader.guest.clone(),
            labels: info.labels,
            ended: false,
        };
        dispatch.check().map_err(|problem| Failure::argument(problem.to_string()))?;
        if !self.admit() {
            return Ok(None);
        }
        let state = State::Building { dispatch: Box::new(dispatch), stored: Vec::new(), places: HashSet::new() };
        Ok(Some(Dispatch { recorder: self.clone(), shader: shader.clone(), state: Mutex::new(state) }))
    }

    fn admit(&self) -> bool {
        let max = self.options.max_dispatches.unwrap_or(u64::MAX);
        let more = |count: u64| (count < max).then_some(count + 1);
        self.admitted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// A name that no dispatch has.
    fn unique(&self, name: &str) -> String {
        let mut names = lock(&self.names);
        let Names { used, counts } = &mut *names;
        let count = counts.entry(name.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let unique = if *count == 1 { name.to_owned() } else { format!("{name}#{count}") };
            if used.insert(unique.clone()) {
                return unique;
            }
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if !self.shared.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(lock(&self.shared.failure).clone().unwrap_or_else(|| Failure::new(Status::Io, "writing failed")))
    }

    fn push(&self, work: Work, bytes: usize) -> Result<(), Failure> {
        self.check()?;
        self.shared.queue.push(work, bytes).map_err(|_| Failure::order("the recording is closed"))
    }

    /// Takes contents: copies short ones, has long ones written from where they are. Room for them was promised.
    fn take(&self, bytes: &[u8], promised: u64) -> Result<Content, Failure> {
        if bytes.len() > self.options.copy_bytes {
            return self.store(bytes, promised).map(Content::Stored);
        }
        let mut words: Vec<u32> = Vec::new();
        if words.try_reserve_exact(bytes.len() / 4).is_err() {
            return Err(Failure::new(Status::OutOfMemory, format!("no memory for a copy of {} bytes", bytes.len())));
        }
        words.extend(bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)));
        Ok(Content::Words(words))
    }

    /// Has the writing thread store contents, and waits for it.
    fn store(&self, content: &[u8], promised: u64) -> Result<StoredBlob, Failure> {
        let (reply, done) = sync_channel(1);
        // SAFETY: only the lifetime changes. The writing thread uses the slice until it answers or drops the work with the
        // sender in it, and this function returns only after the one or the other: `recv` comes back in no other way, and
        // when `push` fails, the work was dropped here.
        #[allow(unsafe_code)]
        let content: &'static [u8] = unsafe { std::slice::from_raw_parts(content.as_ptr(), content.len()) };
        self.push(Work::Store { content, promised, reply }, 0)?;
        done.recv().map_err(|_| {
            self.check().err().unwrap_or_else(|| Failure::new(Status::Internal, "the writing thread did not answer"))
        })
    }
}

fn default_name(shader: &Shader) -> String {
    shader.guest.hash.map_or_else(|| "dispatch".to_owned(), |hash| format!("shader-{hash:016x}"))
}

/// The most bytes that the record of a dispatch takes, without its blobs.
fn begin_bytes(dispatch: &ComputeDispatch) -> u64 {
    let labels: usize = dispatch.labels.iter().map(|label| label.len() + 5).sum();
    let names = 2 * dispatch.name.len() + dispatch.entry.len() + labels;
    let lists = 5 * dispatch.push_constants.len() + 48 * dispatch.specialization.len() + 600 * dispatch.bindings.len();
    // Header, padding and place in the index, then the names of the keys.
    (64 + 63 + 64 + 512 + names + lists) as u64
}

/// The most bytes that the record of an end takes, without its blobs.
fn end_bytes(outputs: usize) -> u64 {
    (64 + 63 + 64 + 64 + 96 * outputs) as u64
}

impl Dispatch {
    /// Adds a binding, whose contents before the dispatch are `contents`.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] when it contradicts itself or another binding, [`Status::BadOrder`] after the dispatch has
    /// begun, [`Status::Limit`] when the file has no room, [`Status::Io`] when writing has failed.
    pub fn bind(&self, binding: ComputeBinding, contents: Option<&[u8]>) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        let State::Building { dispatch, stored, places } = &mut *state else {
            return Err(state.late("a binding can be added only before the dispatch begins"));
        };
        // The checks that a reader makes, before anything is kept.
        binding.check(false).map_err(|problem| Failure::argument(format!("{binding}: {problem}")))?;
        if let Some(bytes) = contents {
            check_length(&binding, bytes.len(), "before")?;
        }
        let place = (binding.set, binding.binding, binding.element);
        if places.contains(&place) {
            return Err(Failure::argument(format!("{binding}: is bound twice")));
        }
        dispatch.bindings.push(binding);
        let number = dispatch.bindings.len() - 1;
        match contents.map(|bytes| self.take_before(bytes)).transpose() {
            Ok(None) => {}
            Ok(Some(Content::Stored(blob))) => stored.push((number, blob)),
            Ok(Some(Content::Words(words))) => match &mut dispatch.bindings[number].resource {
                BoundResource::Image(image) => image.before = Some(words.into()),
                BoundResource::Buffer(buffer) => buffer.before = Some(words.into()),
                BoundResource::Sampler(_) => {}
            },
            Err(failure) => {
                dispatch.bindings.pop();
                return Err(failure);
            }
        }
        places.insert(place);
        Ok(())
    }

    /// Short contents are counted when the dispatch begins, long ones are written now.
    fn take_before(&self, bytes: &[u8]) -> Result<Content, Failure> {
        let recorder = &self.recorder;
        if bytes.len() <= recorder.options.copy_bytes {
            return recorder.take(bytes, 0);
        }
        let promised = blob_bytes(bytes.len() as u64);
        if !recorder.shared.budget.promise(promised) {
            return Err(no_room(promised));
        }
        recorder.take(bytes, promised).inspect_err(|_| recorder.shared.budget.release(promised))
    }

    /// Records that the dispatch is about to run.
    ///
    /// # Errors
    /// [`Status::BadOrder`] when it has begun, [`Status::Limit`] when the file has no room, [`Status::Io`] when writing has failed.
    pub fn begin(&self) -> Result<(), Failure> {
        let recorder = &self.recorder;
        let mut state = lock(&self.state);
        let State::Building { dispatch, .. } = &*state else {
            return Err(state.late("a dispatch begins once"));
        };
        recorder.check()?;
        let held = |binding: &ComputeBinding| binding.contents().0.map_or(0, |words| words.len() as u64 * 4);
        let contents: u64 = dispatch.bindings.iter().map(held).sum();
        let blobs: u64 = dispatch.bindings.iter().map(|binding| blob_bytes(held(binding))).sum();
        let module = blob_bytes(self.shader.module.len() as u64 * 4)
            .saturating_add(blob_bytes(self.shader.guest.isa.len() as u64 * 4));
        let counted = self.shader.counted.load(Ordering::Relaxed);
        let begin = begin_bytes(dispatch).saturating_add(blobs).saturating_add(if counted { 0 } else { module });
        let outputs: Vec<_> = dispatch
            .outputs()
            .map(|(number, b)| ((b.set, b.binding, b.element), number, b.content_words().map(|words| words * 4)))
            .collect();
        let after = outputs.iter().map(|(.., bytes)| blob_bytes(bytes.unwrap_or(0)));
        let end = after.fold(end_bytes(outputs.len()), u64::saturating_add);
        let total = begin.saturating_add(end);
        if !recorder.shared.budget.promise(total) {
            return Err(no_room(total));
        }
        let id = recorder.next.fetch_add(1, Ordering::Relaxed);
        let begun = State::Begun { id, outputs, contents: Vec::new(), promised: end };
        let State::Building { mut dispatch, stored, .. } = std::mem::replace(&mut *state, begun) else {
            return Err(Failure::new(Status::Internal, "the dispatch changed while it was locked"));
        };
        dispatch.name = recorder.unique(&dispatch.name);
        let (reply, done) = recorder.options.wait_for_begin.then(|| sync_channel(1)).unzip();
        let work = Work::Begin { id, dispatch, stored, promised: begin, reply };
        recorder.push(work, usize::try_from(contents).unwrap_or(usize::MAX)).inspect_err(|_| {
            recorder.shared.budget.release(total);
            *state = State::Over;
        })?;
        self.shader.counted.store(true, Ordering::Relaxed);
        if let Some(done) = done {
            let _ = done.recv();
            recorder.check()?;
        }
        Ok(())
    }

    /// Adds what an output holds after the dispatch.
    ///
    /// # Errors
    /// [`Status::InvalidArgument`] for a place that is no output, was given before, or has another size; [`Status::BadOrder`]
    /// before the dispatch has begun, [`Status::Limit`] when the file has no room, [`Status::Io`] when writing has failed.
    pub fn output(&self, place: Place, bytes: &[u8]) -> Result<(), Failure> {
        let recorder = &self.recorder;
        let mut state = lock(&self.state);
        let State::Begun { outputs, contents, promised, .. } = &mut *state else {
            return Err(state.late("an output is given after the dispatch has begun"));
        };
        let (set, binding, element) = place;
        let at = format!("set {set} binding {binding} element {element}");
        let Some((_, number, size)) = outputs.iter().find(|(known, ..)| *known == place) else {
            return Err(Failure::argument(format!("{at} was not added as an output")));
        };
        if contents.iter().any(|(known, _)| known == number) {
            return Err(Failure::argument(format!("{at}: this output was given before")));
        }
        let length = bytes.len() as u64;
        if size.is_some_and(|size| size != length) || !length.is_multiple_of(4) {
            let expected = size.map_or("a multiple of 4".to_owned(), |size| size.to_string());
            return Err(Failure::argument(format!("{at}: {length} bytes after the dispatch, expected {expected}")));
        }
        // The size of a format that is not known was not counted yet.
        let extra = if size.is_none() { length } else { 0 };
        if extra > 0 && !recorder.shared.budget.promise(extra) {
            return Err(no_room(extra));
        }
        *promised = promised.saturating_add(extra);
        let share = if bytes.len() > recorder.options.copy_bytes { blob_bytes(length) } else { 0 };
        let content = recorder.take(bytes, share)?;
        *promised = promised.saturating_sub(share);
        contents.push((*number, content));
        Ok(())
    }

    /// Records that the dispatch has ended.
    ///
    /// # Errors
    /// [`Status::BadOrder`] when it has not begun or has ended, [`Status::Io`] when writing has failed.
    pub fn end(&self) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        if !matches!(*state, State::Begun { .. }) {
            return Err(state.late("a dispatch ends after it has begun"));
        }
        let State::Begun { id, contents, promised, .. } = std::mem::replace(&mut *state, State::Over) else {
            return Err(Failure::new(Status::Internal, "the dispatch changed while it was locked"));
        };
        let held = |content: &Content| match content {
            Content::Words(words) => words.len() * 4,
            Content::Stored(_) => 0,
        };
        let bytes = contents.iter().map(|(_, content)| held(content)).sum();
        self.recorder.push(Work::End { id, outputs: contents, promised }, bytes)
    }

    /// Gives the dispatch up: one that has begun stays without an end, one that has not is not recorded.
    ///
    /// # Errors
    /// [`Status::BadOrder`] when it has ended or was given up.
    pub fn discard(&self) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Over) {
            State::Building { .. } => {
                self.recorder.admitted.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            }
            State::Begun { id, promised, .. } => {
                self.recorder.shared.budget.release(promised);
                self.recorder.push(Work::Discard { id }, 0)
            }
            State::Over => Err(State::Over.late("a dispatch is given up once")),
        }
    }

    /// Whether it belongs to a recorder.
    pub(crate) fn is_of(&self, recorder: &Arc<Recorder>) -> bool {
        Arc::ptr_eq(&self.recorder, recorder)
    }
}

impl State {
    fn late(&self, rule: &str) -> Failure {
        let now = match self {
            Self::Building { .. } => "has not begun",
            Self::Begun { .. } => "has begun",
            Self::Over => "is over",
        };
        Failure::order(format!("{rule}; this one {now}"))
    }
}

fn no_room(bytes: u64) -> Failure {
    Failure::new(Status::Limit, format!("up to {bytes} bytes more would make the file longer than its limit"))
}

fn check_length(binding: &ComputeBinding, bytes: usize, when: &str) -> Result<(), Failure> {
    let length = bytes as u64;
    if matches!(binding.resource, BoundResource::Sampler(_)) {
        return Err(Failure::argument(format!("{binding}: a sampler has no contents")));
    }
    let fits = match binding.content_words() {
        Some(words) => words.checked_mul(4) == Some(length),
        None => length.is_multiple_of(4),
    };
    if fits {
        return Ok(());
    }
    let expected = binding.content_words().map_or("a multiple of 4".to_owned(), |words| format!("4 * {words}"));
    Err(Failure::argument(format!("{binding}: {length} bytes {when} the dispatch, expected {expected}")))
}

type FileWriter = TraceWriter<BufWriter<File>>;

/// The writing thread: takes work until the queue is closed.
fn write(shared: &Shared, mut writer: FileWriter) {
    let mut tickets = HashMap::new();
    while let Some(work) = shared.queue.pop() {
        // Work that comes after a failure is dropped; who waits for its answer sees that.
        if shared.failed.load(Ordering::Acquire) {
            continue;
        }
        guarded(shared, || perform(shared, &mut writer, &mut tickets, work));
    }
    if !shared.failed.load(Ordering::Acquire) {
        guarded(shared, || writer.finish().map(drop).map_err(|error| error.to_string()));
    }
}

/// Keeps the first failure, a panic among them.
fn guarded(shared: &Shared, act: impl FnOnce() -> Result<(), String>) {
    let failure = match std::panic::catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return,
        Ok(Err(message)) => Failure::new(Status::Io, message),
        Err(_) => Failure::new(Status::Internal, "the writing thread panicked"),
    };
    lock(&shared.failure).get_or_insert(failure);
    shared.failed.store(true, Ordering::Release);
}

fn perform(
    shared: &Shared,
    writer: &mut FileWriter,
    tickets: &mut HashMap<u64, ComputeTicket>,
    work: Work,
) -> Result<(), String> {
    match work {
        Work::Store { content, promised, reply } => {
            let stored = writer.store(content).map_err(|error| error.to_string())?;
            shared.budget.keep(promised, writer.finished_bytes_bound());
            // Its receiver waits.
            let _ = reply.send(stored);
        }
        Work::Begin { id, dispatch, stored, promised, reply } => {
            let ticket = writer.begin_compute(&dispatch, &stored).map_err(|error| error.to_string())?;
            tickets.insert(id, ticket);
            shared.budget.keep(promised, writer.finished_bytes_bound());
            if let Some(reply) = reply {
                let _ = reply.send(());
            }
        }
        Work::End { id, outputs, promised } => {
            let ticket = tickets.remove(&id).ok_or("a dispatch ended that had not begun")?;
            let outputs: Vec<_> = outputs
                .iter()
                .map(|(number, content)| {
                    let content = match content {
                        Content::Words(words) => OutputContent::Words(words),
                        Content::Stored(blob) => OutputContent::Stored(*blob),
                    };
                    (*number, content)
                })
                .collect();
            writer.end_compute(ticket, &outputs).map_err(|error| error.to_string())?;
            shared.budget.keep(promised, writer.finished_bytes_bound());
        }
        Work::Discard { id } => {
            tickets.remove(&id);
        }
        Work::Flush { reply } => {
            let _ = reply.send(());
        }
    }
    Ok(())
}
