//! The run's side of one worker process.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::{
    ExecutorName, Item, Judged, ProtocolError, Settings, Stop,
    protocol::{Hello, Ready, Reply, Request, receive, send},
};

/// Lines of a worker's standard error that are kept.
const LAST_WORDS: usize = 20;
/// How often a waiting run looks at whether it is to end.
const TICK: Duration = Duration::from_millis(50);
/// How long a worker that was told to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// A running worker.
pub(super) struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    replies: Receiver<Result<Message, ProtocolError>>,
    last_words: Arc<Mutex<VecDeque<String>>>,
    readers: Vec<JoinHandle<()>>,
    /// What runs the dispatches, when an executor is needed.
    pub executor: Option<ExecutorName>,
}

enum Message {
    Ready(Ready),
    Reply(Reply),
}

/// Why a worker gave no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// It ended; how, and what it said last.
    Died(String),
    /// It did not answer in time.
    TimedOut,
    /// The run is to end.
    Stopped,
    /// It has no executor.
    NoExecutor(String),
    /// The dispatch could not be read.
    Unreadable(String),
}

impl Worker {
    /// Starts a worker and waits until it can be given dispatches.
    pub(super) fn start(
        program: &Path,
        memory_mib: Option<u64>,
        settings: &Settings,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<Self, Lost> {
        let mut command = Command::new(program);
        command.arg("worker");
        if let Some(mib) = memory_mib {
            command.arg("--memory").arg(mib.to_string());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Only the last words are kept: a backtrace would take the place of what they are about.
        command.env("RUST_BACKTRACE", "0");
        // A Ctrl-C on the terminal goes to the whole foreground group; workers are ended by the run instead.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .map_err(|error| Lost::Died(format!("{}: cannot start a worker: {error}", program.display())))?;

        let (Some(input), Some(mut output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Lost::Died("a worker started without its pipes".to_owned()));
        };
        let (sender, replies) = channel();
        let from_output = std::thread::spawn(move || {
            read_messages(&mut output, &sender);
        });
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let lines = Arc::clone(&last_words);
        let from_errors = std::thread::spawn(move || keep_last_lines(errors, &lines));
        let mut worker = Self {
            child,
            input: Some(input),
            replies,
            last_words,
            readers: vec![from_output, from_errors],
            executor: None,
        };
        if let Err(error) = worker.tell(&Hello::from(settings)) {
            return Err(worker.died(&error));
        }
        match worker.wait(timeout, stop)? {
            Message::Ready(Ready::Yes(executor)) => {
                worker.executor = executor;
                Ok(worker)
            }
            Message::Ready(Ready::No(reason)) => Err(Lost::NoExecutor(reason)),
            Message::Reply(_) => Err(Lost::Died("a worker answered before it was asked".to_owned())),
        }
    }

    /// Has a dispatch judged. After an error other than [`Lost::Unreadable`] the worker is of no more use.
    pub(super) fn judge(&mut self, item: &Item, timeout: Duration, stop: &Stop) -> Result<Judged, Lost> {
        if let Err(error) = self.tell(&Request::from(item)) {
            return Err(self.died(&error));
        }
        match self.wait(timeout, stop)? {
            Message::Reply(Reply::Judged(judged)) => Ok(*judged),
            Message::Reply(Reply::Unreadable(message)) => Err(Lost::Unreadable(message)),
            Message::Ready(_) => Err(Lost::Died("a worker said twice that it is ready".to_owned())),
        }
    }

    fn tell(&mut self, message: &impl serde::Serialize) -> Result<(), ProtocolError> {
        match &mut self.input {
            Some(input) => send(input, message),
            None => Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into()),
        }
    }

    fn wait(&mut self, timeout: Duration, stop: &Stop) -> Result<Message, Lost> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = deadline.map_or(TICK, |d| d.saturating_duration_since(Instant::now()));
            match self.replies.recv_timeout(left.min(TICK)) {
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(error)) => return Err(self.died(&error)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.died(&std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()));
                }
                Err(RecvTimeoutError::Timeout) if stop.is_requested() => return Err(Lost::Stopped),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Lost::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Says how the process ended, after its pipe broke.
    fn died(&mut self, error: &ProtocolError) -> Lost {
        self.input = None;
        let status = self.end_within(GRACE);
        for reader in self.readers.drain(..) {
            // A reader that panicked has nothing more to say.
            let _ = reader.join();
        }
        let mut text = match (status, error) {
            (_, ProtocolError::Form(error)) => format!("the worker sent a broken message: {error}"),
            (Some(status), _) => describe(status),
            (None, error) => format!("the worker closed its pipe and had to be killed: {error}"),
        };
        let last = self.last_words();
        if !last.is_empty() {
            text += "; its last words: ";
            text += &last.join(" | ");
        }
        Lost::Died(text)
    }

    /// The last lines of the worker's standard error.
    pub(super) fn last_words(&self) -> Vec<String> {
        self.last_words.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn end_within(&mut self, grace: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + grace;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker ends when its input does. One that is busy is killed at once: nobody waits for its answer any more.
        let idle = self.input.take().is_some();
        let ended = idle && self.end_within(Duration::from_millis(20)).is_some();
        if !ended {
            // Fails only when the process has ended meanwhile.
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

fn read_messages(
    output: &mut std::process::ChildStdout,
    sender: &std::sync::mpsc::Sender<Result<Message, ProtocolError>>,
) {
    let mut first = true;
    loop {
        let message = if std::mem::take(&mut first) {
            receive::<Ready>(output).map(|m| m.map(Message::Ready))
        } else {
            receive::<Reply>(output).map(|m| m.map(Message::Reply))
        };
        let (message, last) = match message {
            Ok(None) => return,
            Ok(Some(message)) => (Ok(message), false),
            Err(error) => (Err(error), true),
        };
        if sender.send(message).is_err() || last {
            return;
        }
    }
}

fn keep_last_lines(errors: std::process::ChildStderr, lines: &Mutex<VecDeque<String>>) {
    // Drivers write bytes that are no UTF-8, and lines without end.
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match std::io::Read::take(&mut reader, 4096).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if !text.is_empty() {
                    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                    if lines.len() == LAST_WORDS {
                        lines.pop_front();
                    }
                    lines.push_back(text);
                }
            }
        }
    }
}

/// How a process ended, in words.
fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = match number {
            4 => " (SIGILL)",
            6 => " (SIGABRT)",
            7 => " (SIGBUS)",
            8 => " (SIGFPE)",
            9 => " (SIGKILL; the system kills processes that take too much memory)",
            11 => " (SIGSEGV)",
            15 => " (SIGTERM)",
            _ => "",
        };
        return format!("the worker ended by signal {number}{name}");
    }
    match status.code() {
        Some(code) => format!("the worker ended with exit code {code}"),
        None => "the worker ended without an exit code".to_owned(),
    }
}
