//! Kits for the HSA hardware oracle: a dispatch goes out as RDNA2 assembly with its rows of operands, and the printed words
//! come back as a trace.
//!
//! The oracle is a small program that runs a piece of assembly on the local AMD GPU, a row of four words a lane. A kit is a
//! folder with `case.toml` (what is measured) and a folder for each dispatch:
//!
//! | file | |
//! |---|---|
//! | `body.s` | assembly for wave32; the same for every run |
//! | `rows-000.txt` | the rows of a run: the first four operands of each sample |
//! | `extra-000.bin` | what follows the rows in memory: T#, S#, further operands, texels |
//! | `commands.txt` | a command line for each run; the last file it names receives what the oracle prints |
//!
//! A run has at most 1,024 rows, and 32 where an instruction takes more than four operands: these are found by the lane's
//! number, which is known to count the lanes of one wave. All runs of a dispatch have the same number of rows, so that the
//! extra bytes start at one offset; the last run is filled up by repeating its last row.

mod body;
mod import;
mod kit;
mod layout;

pub use self::{
    import::{ImportError, Measured, import},
    kit::{ExportError, Kit, Run, export, write},
};
