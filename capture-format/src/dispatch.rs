//! What a trace records.

use std::{fmt, str::FromStr};

use crate::{Op, Words};

/// A list of dispatches with what recorded them: the content of a `.texeltrace` file and of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// A short name, unique among the traces that are looked at together.
    pub name: String,
    /// What it shows, in a line.
    pub summary: String,
    /// The hardware whose results the dispatches carry.
    pub oracle: Oracle,
    /// The recorded dispatches, in recording order.
    pub dispatches: Vec<Dispatch>,
}

/// Provenance of the expected results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oracle {
    /// Marketing or target name of the device, such as `AMD gfx1035`.
    pub device: String,
    /// Name of the profile the device follows: `gfx1035`, `h200`, `exact`, …
    pub profile: String,
    /// How the results were come by.
    pub source: OracleSource,
    /// Free text: driver, limits, how the case was rebuilt.
    pub note: String,
}

/// How an oracle's results were come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OracleSource {
    /// Read back from the device by this project's own capture or import.
    Measured,
    /// Published by somebody who measured them.
    Published,
    /// Computed, by a profile of the reference for instance.
    Synthetic,
}

impl OracleSource {
    /// Every source, in a fixed order.
    pub const ALL: [Self; 3] = [Self::Measured, Self::Published, Self::Synthetic];

    /// The word that stands in case files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Synthetic => "synthetic",
        }
    }
}

impl fmt::Display for OracleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One recorded run of sampling invocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Unique within the trace.
    pub name: String,
    /// The instruction that each invocation runs.
    pub op: Op,
    /// Number of invocations in x, y, z; the results are shown as an image of that size.
    pub grid: [u32; 3],
    /// The T#. BASE_ADDRESS is ignored, the texels are in `texels`.
    pub image: [u32; 8],
    /// The S#; absent for loads.
    pub sampler: Option<[u32; 4]>,
    /// Entries of the border colour table (R, G, B, A as FP32 bits), for BORDER_COLOR_TYPE 3.
    pub border_table: Vec<[u32; 4]>,
    /// The instruction's DMASK. For gathers its single set bit names the component; for other ops it is informative: all
    /// four channels are recorded. `None` counts as the first component.
    pub dmask: Option<u8>,
    /// One word a texel, level by level, slice by slice, row by row, without padding.
    pub texels: Words,
    /// What each invocation passes to the instruction.
    pub coords: Coords,
    /// What the oracle returned; `None` when the dispatch has no oracle yet.
    pub expected: Option<Expected>,
}

impl Dispatch {
    /// Number of invocations, the product of the grid. Saturates at `u64::MAX`.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)))
    }
}

/// The operands of each invocation: a table with a row an invocation (x fastest, then y, then z) and a column an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coords {
    /// What the columns hold, in order.
    pub columns: Vec<Column>,
    /// `rows * columns` words, row-major. All columns are FP32 bits but [`Column::Offset`], a packed integer.
    pub words: Words,
}

impl Coords {
    /// Position of a column in a row.
    #[must_use]
    pub fn index_of(&self, column: Column) -> Option<usize> {
        self.columns.iter().position(|&c| c == column)
    }

    /// Number of complete rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.words.len().checked_div(self.columns.len()).unwrap_or(0)
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// One operand of the recorded instruction, named as in case files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Column { $($(#[$doc])* $variant,)* }

        impl Column {
            /// Every column, in a fixed order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that stands in case files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

columns! {
    /// First coordinate, normalized or in texels as FORCE_UNNORMALIZED says.
    U = "u",
    /// Second coordinate.
    V = "v",
    /// Third coordinate of a 3D image.
    W = "w",
    /// Cube: first face coordinate as the instruction takes it, sc/|ma| + 1.5.
    S = "s",
    /// Cube: second face coordinate, tc/|ma| + 1.5.
    T = "t",
    /// Cube: face number, plus 8 times the layer for cube arrays.
    Face = "face",
    /// Cube: direction, x. Turned into `s t face` by the rules of the cube instructions.
    Rx = "rx",
    /// Cube: direction, y.
    Ry = "ry",
    /// Cube: direction, z.
    Rz = "rz",
    /// Loads: first texel index, as FP32.
    X = "x",
    /// Loads: second texel index, as FP32.
    Y = "y",
    /// Loads: third texel index, as FP32.
    Z = "z",
    /// Array layer.
    Layer = "layer",
    /// Explicit level of detail.
    Lod = "lod",
    /// Level-of-detail bias of the instruction.
    Bias = "bias",
    /// Lower clamp of the level of detail.
    Clamp = "clamp",
    /// Derivative of u along x.
    Dudx = "dudx",
    /// Derivative of v along x.
    Dvdx = "dvdx",
    /// Derivative of w along x.
    Dwdx = "dwdx",
    /// Derivative of u along y.
    Dudy = "dudy",
    /// Derivative of v along y.
    Dvdy = "dvdy",
    /// Derivative of w along y.
    Dwdy = "dwdy",
    /// Packed texel offsets: `x[5:0]`, `y[13:8]`, `z[21:16]`, each signed.
    Offset = "offset",
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown column {0:?}, expected one of u v w, s t face, rx ry rz, x y z, layer, lod, bias, clamp, dudx dvdx dwdx dudy dvdy dwdy, offset"
)]
pub struct UnknownColumn(pub String);

impl FromStr for Column {
    type Err = UnknownColumn;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|c| c.name() == text).ok_or_else(|| UnknownColumn(text.to_owned()))
    }
}

/// What the oracle returned: four words a sample (X, Y, Z, W after DST_SEL).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// `4 * samples` words. A word that was not measured is 0.
    pub words: Words,
    /// One byte a sample, its bits 0 to 3 say which of X, Y, Z, W were measured; `None`: all of them.
    pub measured: Option<Vec<u8>>,
}

impl Expected {
    /// The four words of a sample.
    #[must_use]
    pub fn sample(&self, index: usize) -> Option<[u32; 4]> {
        self.words.get(index * 4..index * 4 + 4)?.try_into().ok()
    }

    /// Which of the four channels of a sample were measured, in bits 0 to 3.
    #[must_use]
    pub fn measured_channels(&self, index: usize) -> u8 {
        self.measured.as_ref().map_or(0xf, |mask| mask.get(index).copied().unwrap_or(0))
    }
}
