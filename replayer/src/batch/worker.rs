//! The worker's side: judges dispatches that come over standard input until it ends.

use std::io::{Read, Write};

use super::{
    Backend, Item, ProtocolError, Settings, judge_recorded,
    protocol::{Hello, Ready, Reply, Request, receive, send},
};
use crate::source::SourceCache;

/// Why a worker ended before its input did.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A message is not what was expected.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The settings name an unknown path.
    #[error(transparent)]
    Path(#[from] crate::path::UnknownPath),
    /// The input holds no settings.
    #[error("worker input: expected the settings of a run (workers are started by `run`, not by hand)")]
    NoHello,
}

/// Judges dispatches until `input` ends.
///
/// # Errors
/// When a message can not be read or written.
pub fn serve(backend: &dyn Backend, mut input: impl Read, mut output: impl Write) -> Result<(), WorkerError> {
    let settings: Settings = receive::<Hello>(&mut input)?.ok_or(WorkerError::NoHello)?.try_into()?;
    let mut executor = None;
    if settings.needs_executor() {
        match backend.open(&settings) {
            Ok(opened) => executor = Some(opened),
            Err(error) => {
                send(&mut output, &Ready::No(error.to_string()))?;
                return Ok(());
            }
        }
    }
    send(&mut output, &Ready::Yes(executor.as_ref().map(|e| e.info().into())))?;

    let mut sources = SourceCache::default();
    while let Some(request) = receive::<Request>(&mut input)? {
        let item = Item::from(request);
        let reply = match sources.recorded(&item.file, item.index) {
            Err(error) => Reply::Unreadable(error.to_string()),
            Ok(dispatch) => {
                let judged =
                    judge_recorded(backend, &item, &dispatch, &settings, executor.as_deref_mut().map(|e| e as _));
                Reply::Judged(Box::new(judged))
            }
        };
        send(&mut output, &reply)?;
    }
    Ok(())
}
