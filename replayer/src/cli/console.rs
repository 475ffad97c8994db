//! Standard output, on which a closed pipe is no error.

use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::AutoStream;

/// Locked standard output. Colours are left out unless it is a terminal and `NO_COLOR` is unset. Once the reader has closed
/// the pipe, what is written is dropped: a run goes on for its reports and its exit code.
pub(super) struct Console {
    out: AutoStream<StdoutLock<'static>>,
    closed: bool,
}

impl Console {
    pub(super) fn stdout() -> Self {
        Self { out: AutoStream::auto(io::stdout().lock()), closed: false }
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// A buffered writer for much output.
    pub(super) fn buffered(&mut self) -> BufWriter<&mut Self> {
        BufWriter::new(self)
    }

    fn pass<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            other => other,
        }
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.out.write(bytes);
        self.pass(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.flush();
        self.pass(result, ())
    }
}

/// Writes bytes as they are to standard output; a closed pipe is no error.
pub(super) fn write_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
