//! The C interface from C: header, call order, threads, limits, a killed recorder, and the examples.

#![allow(clippy::unwrap_used, reason = "a step that fails fails the test")]

mod examples;
mod header;
mod programs;
mod recording;
