//! Messages between the run and its workers: a length (u32, little-endian) and that many bytes of MessagePack.

use std::{
    fmt,
    io::{self, Read, Write},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{ExecutorKind, Item, Judged, Pictures, Settings};
use crate::execute::ExecutorInfo;

/// The longest message that is accepted: three pictures with much room to spare.
const MAX_BYTES: u32 = 64 << 20;

/// First message to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    path: String,
    recorded: bool,
    against: String,
    profile: Option<String>,
    executor: ExecutorKind,
    device: Option<String>,
    time_limit: Duration,
    strict: bool,
    nan_payload: bool,
    pictures: Pictures,
}

impl From<&Settings> for Hello {
    fn from(settings: &Settings) -> Self {
        Self {
            path: settings.path.name().to_owned(),
            recorded: settings.recorded,
            against: settings.against.name().to_owned(),
            profile: settings.profile.clone(),
            executor: settings.executor,
            device: settings.device.clone(),
            time_limit: settings.time_limit,
            strict: settings.strict,
            nan_payload: settings.nan_payload,
            pictures: settings.pictures,
        }
    }
}

impl TryFrom<Hello> for Settings {
    type Error = crate::path::UnknownPath;

    fn try_from(hello: Hello) -> Result<Self, Self::Error> {
        Ok(Self {
            path: hello.path.parse()?,
            recorded: hello.recorded,
            against: hello.against.parse()?,
            profile: hello.profile,
            executor: hello.executor,
            device: hello.device,
            time_limit: hello.time_limit,
            strict: hello.strict,
            nan_payload: hello.nan_payload,
            pictures: hello.pictures,
        })
    }
}

/// What runs the dispatches: an [`ExecutorInfo`] that can be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorName {
    /// `vulkan` or `embedded`.
    pub kind: String,
    /// Name of the device.
    pub device: String,
    /// The driver with its version.
    pub driver: String,
}

impl From<&ExecutorInfo> for ExecutorName {
    fn from(info: &ExecutorInfo) -> Self {
        Self { kind: info.kind.to_owned(), device: info.device.clone(), driver: info.driver.clone() }
    }
}

impl fmt::Display for ExecutorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.kind, self.device, self.driver)
    }
}

/// A worker's answer to [`Hello`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Ready {
    /// It can be given dispatches; what runs them, when an executor is needed.
    Yes(Option<ExecutorName>),
    /// It has no executor.
    No(String),
}

/// A dispatch to judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    file: PathBuf,
    trace: String,
    index: usize,
    dispatch: String,
    profile: String,
}

impl From<&Item> for Request {
    fn from(item: &Item) -> Self {
        Self {
            file: item.file.clone(),
            trace: item.trace.clone(),
            index: item.index,
            dispatch: item.dispatch.clone(),
            profile: item.profile.clone(),
        }
    }
}

impl From<Request> for Item {
    fn from(request: Request) -> Self {
        Self {
            file: request.file,
            trace: request.trace,
            index: request.index,
            dispatch: request.dispatch,
            profile: request.profile,
        }
    }
}

/// A worker's answer to [`Request`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// The verdict.
    Judged(Box<Judged>),
    /// The dispatch could not be read.
    Unreadable(String),
}

/// What went wrong with a message.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The pipe broke or could not be read.
    #[error("worker pipe: {0}")]
    Io(#[from] io::Error),
    /// The bytes are not the message that was expected.
    #[error("worker message: {0}")]
    Form(#[from] WireError),
}

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The length is above the limit.
    #[error("{0} bytes, expected at most {MAX_BYTES}")]
    TooLong(u64),
    /// The bytes do not decode.
    #[error(transparent)]
    Decode(#[from] rmp_serde::decode::Error),
    /// The message does not encode.
    #[error(transparent)]
    Encode(#[from] rmp_serde::encode::Error),
}

/// Writes a message and flushes.
pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<(), ProtocolError> {
    let bytes = rmp_serde::to_vec_named(message).map_err(WireError::Encode)?;
    let length = u32::try_from(bytes.len()).ok().filter(|&n| n <= MAX_BYTES);
    let length = length.ok_or(WireError::TooLong(bytes.len() as u64))?;
    // In one write, so that a worker that dies leaves no half message that waits for its end.
    let mut framed = Vec::with_capacity(bytes.len() + 4);
    framed.extend_from_slice(&length.to_le_bytes());
    framed.extend_from_slice(&bytes);
    to.write_all(&framed)?;
    to.flush()?;
    Ok(())
}

/// Reads a message; `None` at the end of the stream.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> Result<Option<T>, ProtocolError> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_BYTES {
        return Err(WireError::TooLong(u64::from(length)).into());
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Ok(None);
    }
    Ok(Some(rmp_serde::from_slice(&bytes).map_err(WireError::Decode)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_as_they_were_sent() {
        let mut pipe = Vec::new();
        send(&mut pipe, &Ready::No("here".to_owned())).unwrap();
        send(&mut pipe, &Ready::No("there".to_owned())).unwrap();
        let mut from = pipe.as_slice();
        assert!(matches!(receive(&mut from).unwrap(), Some(Ready::No(text)) if text == "here"));
        assert!(matches!(receive(&mut from).unwrap(), Some(Ready::No(text)) if text == "there"));
        assert!(receive::<Ready>(&mut from).unwrap().is_none());
    }

    #[test]
    fn a_cut_message_is_the_end_and_an_absurd_length_an_error() {
        let mut pipe = Vec::new();
        send(&mut pipe, &Ready::No("here".to_owned())).unwrap();
        for cut in 0..pipe.len() {
            assert!(receive::<Ready>(&mut &pipe[..cut]).unwrap().is_none(), "{cut}");
        }
        let error = receive::<Ready>(&mut [0xff; 8].as_slice()).unwrap_err();
        assert_eq!(error.to_string(), "worker message: 4294967295 bytes, expected at most 67108864");
        assert!(receive::<Ready>(&mut [1, 0, 0, 0, 0xc1].as_slice()).is_err());
    }
}
