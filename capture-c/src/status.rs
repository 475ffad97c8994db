//! What a call returns.

use std::fmt;

/// The kinds of outcome of a call. The numbers are those of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The dispatch is not recorded: the filter or a limit leaves it out. Nothing else is to be done for it.
    Skipped = 1,
    /// An argument is not valid; nothing was changed.
    InvalidArgument = 2,
    /// The handle names nothing that is there; nothing was changed.
    InvalidHandle = 3,
    /// The call is not possible at this point; nothing was changed.
    BadOrder = 4,
    /// The file would grow beyond the limit; nothing was changed.
    Limit = 5,
    /// The file can't be written any more. What was complete before stays readable.
    Io = 6,
    /// Memory ran out; nothing was changed.
    OutOfMemory = 7,
    /// A mistake of this library.
    Internal = 8,
}

impl Status {
    /// Every status, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Skipped,
        Self::InvalidArgument,
        Self::InvalidHandle,
        Self::BadOrder,
        Self::Limit,
        Self::Io,
        Self::OutOfMemory,
        Self::Internal,
    ];
}

/// A status other than [`Status::Ok`], with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub status: Status,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(Status::InvalidArgument, message)
    }

    pub(crate) fn order(message: impl Into<String>) -> Self {
        Self::new(Status::BadOrder, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
