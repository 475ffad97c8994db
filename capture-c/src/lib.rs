//! The C library `texeltrace`: records an emulator's compute dispatches as traces.
//!
//! [`ffi`] is the interface that `include/texeltrace.h` declares. Behind it a [`recorder::Recorder`] hands what it is given to a
//! thread that writes, through a queue of bounded size. Nothing here ends the host's process: each function returns a status,
//! and [`ffi::texeltrace_message`] says what it means.

mod budget;
pub mod ffi;
mod handles;
mod queue;
pub mod recorder;
pub mod status;
