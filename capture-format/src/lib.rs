//! Traces of texture sampling on GFX10.3 hardware, as data: no GPU is needed to read or write one.
//!
//! A [`Trace`] holds [`Dispatch`]es. A dispatch is one recorded run of sampling invocations: an instruction ([`Op`]), a T#
//! and an S# as raw words, the texels, the coordinates, and what an oracle (real hardware) returned. The same content has
//! two forms: a binary container (`.texeltrace`) and a case (text, `case.toml`), written and reviewed by hand.

pub mod case;
pub mod dispatch;
pub mod dispatch_check;
pub mod op;
pub mod words;

pub use case::{Case, CaseError, CaseOptions, write_case};
pub use dispatch::{Column, Coords, Dispatch, Expected, Oracle, OracleSource, Trace};
pub use dispatch_check::DispatchProblem;
pub use op::{LodSource, Op, OpKind};
pub use words::Words;
