//! The text form of a trace: `case.toml` and the `.bin` files beside it.
//!
//! ```toml
//! schema = 1
//! name = "weight-rounding"
//! summary = "bilinear weights are rounded to 1/256, ties to even"   # optional
//!
//! [oracle]
//! device = "AMD gfx1035"
//! profile = "gfx1035"
//! source = "published"            # measured, published or synthetic
//! note = ""                       # optional
//!
//! [[dispatch]]
//! name = "ties"                   # unique in the case
//! op = "image_sample_lz"
//! grid = [2, 1, 1]                # invocations
//! image = ["0x00000000", …]       # T#, 8 words
//! sampler = ["0x00000092", …]     # S#, 4 words; absent for image_load
//! border_table = { rows = [["0x00000000", "0x3f800000", 0.5, 1]] }   # optional: R, G, B, A
//! dmask = 1                       # optional
//! texels = { words = ["0x780f01e0", …] }                      # or { file = "texels.bin" }
//! coords = { columns = ["u", "v"], rows = [[0.5, "0x3f000000"], [1, 0]] }   # or columns and file
//! expected = { rows = [["0x3f800000", "*", "*", "*"], …] }    # optional; or { file = "…", measured = "…" }
//! ```
//!
//! **Numbers.** An FP32 value is a decimal number with a point or exponent, rounded to the nearest FP32; a decimal integer
//! that FP32 holds exactly; `inf` or `-inf`; or its bits as text, `"0x3f000000"`. A NaN is written as bits. A word that is no
//! FP32 value (T#, S#, texels, the columns `offset`, `image` and `sampler`) is an integer or its bits as text. `"*"` in `expected` stands for a channel
//! that was not measured.
//!
//! **Files** hold the same words, little-endian, without header or padding: `texels` level by level, slice by slice, row by
//! row; `coords` row-major in their columns; `expected` four words a sample. When not all channels of a file were measured,
//! `measured` names a second file with a byte a sample, whose bits 0 to 3 say which of X, Y, Z, W were; the other words
//! are 0. Paths are relative to the folder of the case, with `/` between parts, and may not leave it.
//!
//! An unknown key is an error, and so is a schema other than 1.
//!
//! # Tables of descriptors
//!
//! A dispatch whose samples choose among several T#s (bindless images) has `images` instead of `image` and `texels`, and one
//! whose samples choose among several S#s has `samplers` instead of `sampler`. The columns `image` and `sampler` of `coords`
//! say which entry, from 0 on, each sample uses; a column stands there exactly when its table has more than one entry. A table
//! has at most 65,536 entries. There is one `border_table` for all S#s.
//!
//! ```toml
//! [[dispatch]]
//! name = "bindless"
//! op = "image_sample_lz"
//! grid = [3, 1, 1]
//! samplers = [["0x00000092", …], ["0x00000000", …]]           # S#s, 4 words each
//! coords = { columns = ["u", "v", "image", "sampler"], rows = [[0.5, 0.25, 0, 1], [0.5, 0.25, 1, 0], [1, 0, 1, 1]] }
//!
//! [[dispatch.images]]             # behind the other keys of the dispatch, as TOML asks for
//! words = ["0x00000000", …]       # T#, 8 words
//! texels = { words = ["0x780f01e0", …] }                      # or { file = "…" }, which several entries may name
//!
//! [[dispatch.images]]
//! words = ["0x00000000", …]
//! texels = { file = "…" }
//! ```
//!
//! # Compute dispatches
//!
//! ```toml
//! [[compute]]
//! name = "bloom"                  # unique in the case, among dispatches of both kinds
//! module = { file = "bloom.module.bin" }                      # SPIR-V; or { words = […] }
//! entry = "main"
//! groups = [8, 8, 1]
//! specialization = { rows = [[0, "0x1", 4]] }                 # optional: id, value, bytes
//! push_constants = { words = ["0x3f800000"] }                 # optional
//! shader_hash = "0x0123456789abcdef"                          # optional: the guest's shader
//! isa = { words = ["0xbf810000"] }                            # optional: its machine code
//! labels = ["frame 7"]            # optional
//! ended = true                    # optional; false: the host died in it or stopped recording
//!
//! [[compute.binding]]
//! set = 0
//! binding = 0
//! element = 0                     # optional: for arrays of descriptors
//! kind = "sampled-image"          # combined-image, storage-image, sampler, uniform-buffer, storage-buffer
//! image = ["0x00000000", …]       # optional: T# (8 words); sampler = S# (4 words), buffer = V# (4 words) likewise
//! format = 98                     # images: the host's VkFormat
//! view = "2d"                     # images: 1d, 1d-array, 2d, 2d-array, 3d, cube, cube-array
//! extent = [64, 64, 1]            # images: texels of level 0
//! layers = 1                      # images
//! levels = 1                      # images
//! words = 4096                    # buffers: their size
//! element_type = "float"          # buffers: uint, sint, float, format-43
//! channels = 4                    # buffers: words a sample
//! grid = [32, 32, 1]              # buffers, optional: samples in x, y, z
//! output = true                   # optional: the contents after the dispatch are compared
//! before = { file = "…" }         # optional: contents before it, all subresources; zeros when absent
//! after = { file = "…" }          # outputs
//! ```

mod number;
mod read;
mod read_compute;
mod write;
mod write_compute;

use std::path::{Path, PathBuf};

pub use write::{CaseOptions, write_case, write_recording_case};

use crate::{DispatchProblem, Recording, Trace};

/// The schema that is read and written.
pub const SCHEMA: u32 = 1;

/// The file that a folder is searched for when it is opened as a case.
pub const CASE_FILE: &str = "case.toml";

/// The longest case file that is read, in bytes. Arrays that make a text longer than this belong into `.bin` files.
pub const MAX_CASE_BYTES: u64 = 64 << 20;

/// The text form of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Case;

impl Case {
    /// Reads a case of sample dispatches: a `.toml` file, or a folder that holds `case.toml`, with the `.bin` files it names.
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("case.toml");
    /// std::fs::write(&path, r#"
    /// schema = 1
    /// name = "one-texel"
    /// oracle = { device = "by hand", profile = "exact", source = "synthetic" }
    /// [[dispatch]]
    /// name = "centre"
    /// op = "image_load"
    /// grid = [1, 1, 1]
    /// image = [0, "0x82b00000", "0x80000000", "0x900003ac", 0, 0, 0, 0]
    /// texels = { words = ["0x780f01e0"] }
    /// coords = { columns = ["x", "y"], rows = [[0, 0.0]] }
    /// expected = { rows = [[1, 1.0, "0x3f800000", "*"]] }
    /// "#).unwrap();
    /// let trace = capture_format::Case::read(&path).unwrap();
    /// let expected = trace.dispatches[0].expected.as_ref().unwrap();
    /// assert_eq!(expected.sample(0), Some([0x3f80_0000, 0x3f80_0000, 0x3f80_0000, 0]));
    /// assert_eq!(expected.measured_channels(0), 0b0111);
    /// ```
    ///
    /// # Errors
    /// A file that can't be read, text that is not a case, and a compute dispatch; the message names the file, line, column,
    /// dispatch and key.
    pub fn read(path: &Path) -> Result<Trace, CaseError> {
        read::read_trace(path)
    }

    /// As [`Case::read`], with dispatches of both kinds, in the order of their tables.
    ///
    /// # Errors
    /// As [`Case::read`].
    pub fn read_recording(path: &Path) -> Result<Recording, CaseError> {
        read::read(path)
    }
}

/// Why a case could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, such as `read`.
        action: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The content is not a case.
    #[error("{}:{line}:{column}: {place}{problem}", path.display())]
    Invalid {
        /// The case file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The dispatch and the key with a colon and a space behind, or empty.
        place: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The case is written in a schema that this version does not know.
    #[error("{}: schema {found} is newer than this program reads (up to {SCHEMA})", path.display())]
    SchemaTooNew {
        /// The case file.
        path: PathBuf,
        /// The schema it states.
        found: u64,
    },
    /// The case file is too long to be read.
    #[error("{}: {bytes} bytes, expected at most {MAX_CASE_BYTES}; larger arrays belong into .bin files", path.display())]
    TooLong {
        /// The case file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// A case to be written contradicts itself.
    #[error("cannot write the case {case:?}: dispatch {dispatch:?}: {problem}")]
    Unwritable {
        /// Name of the trace.
        case: String,
        /// Name of the dispatch.
        dispatch: String,
        /// What is wrong with it.
        problem: DispatchProblem,
    },
}
