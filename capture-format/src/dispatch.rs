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
    /// The T#, entry 0 when there is a table of several. BASE_ADDRESS is ignored, the texels are in `texels`.
    pub image: [u32; 8],
    /// The S#, entry 0 when there is a table of several; absent for loads.
    pub sampler: Option<[u32; 4]>,
    /// Entries 1 and up of the table of T#s (bindless images). With them, each sample chooses by its [`Column::Image`].
    pub more_images: Vec<TableImage>,
    /// Entries 1 and up of the table of S#s. With them, each sample chooses by its [`Column::Sampler`].
    pub more_samplers: Vec<[u32; 4]>,
    /// Entries of the border colour table (R, G, B, A as FP32 bits), for BORDER_COLOR_TYPE 3.
    pub border_table: Vec<[u32; 4]>,
    /// The instruction's DMASK. For gathers its single set bit names the component; for other ops it is informative: all
    /// four channels are recorded. `None` counts as the first component.
    pub dmask: Option<u8>,
    /// One word a texel of `image`, level by level, slice by slice, row by row, without padding.
    pub texels: Words,
    /// What each invocation passes to the instruction.
    pub coords: Coords,
    /// What the oracle returned; `None` when the dispatch has no oracle yet.
    pub expected: Option<Expected>,
}

/// A T# of a table with its texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableImage {
    /// The T#. BASE_ADDRESS is ignored.
    pub words: [u32; 8],
    /// One word a texel, level by level, slice by slice, row by row, without padding.
    pub texels: Words,
}

/// The most entries that a table of T#s or of S#s may have.
pub const MAX_TABLE_ENTRIES: usize = 1 << 16;

/// Which entries of the tables a sample uses; 0 where there is no table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entries {
    /// Entry of the table of T#s.
    pub image: u32,
    /// Entry of the table of S#s.
    pub sampler: u32,
}

impl Dispatch {
    /// Number of invocations, the product of the grid. Saturates at `u64::MAX`.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.grid.iter().fold(1u64, |n, &d| n.saturating_mul(u64::from(d)))
    }

    /// Whether samples choose among several T#s or S#s.
    #[must_use]
    pub fn is_table(&self) -> bool {
        !self.more_images.is_empty() || !self.more_samplers.is_empty()
    }

    /// Number of T#s, at least 1.
    #[must_use]
    pub fn image_count(&self) -> usize {
        self.more_images.len() + 1
    }

    /// Number of S#s; 0 for loads.
    #[must_use]
    pub fn sampler_count(&self) -> usize {
        usize::from(self.sampler.is_some()) + self.more_samplers.len()
    }

    /// A T# with its texels; `None` for a number that is not below [`Self::image_count`].
    #[must_use]
    pub fn image_at(&self, entry: usize) -> Option<(&[u32; 8], &Words)> {
        match entry.checked_sub(1) {
            None => Some((&self.image, &self.texels)),
            Some(more) => self.more_images.get(more).map(|image| (&image.words, &image.texels)),
        }
    }

    /// An S#; `None` for a number that is not below [`Self::sampler_count`].
    #[must_use]
    pub fn sampler_at(&self, entry: usize) -> Option<&[u32; 4]> {
        match entry.checked_sub(1) {
            None => self.sampler.as_ref(),
            Some(more) => self.more_samplers.get(more),
        }
    }

    /// All T#s with their texels, in the order of the table.
    pub fn images(&self) -> impl ExactSizeIterator<Item = (&[u32; 8], &Words)> {
        (0..self.image_count()).map(|entry| match entry {
            0 => (&self.image, &self.texels),
            _ => (&self.more_images[entry - 1].words, &self.more_images[entry - 1].texels),
        })
    }

    /// All S#s, in the order of the table.
    pub fn samplers(&self) -> impl Iterator<Item = &[u32; 4]> {
        self.sampler.iter().chain(&self.more_samplers)
    }

    /// The entries that a sample uses; `None` when there is no such sample, or a column that chooses is missing.
    #[must_use]
    pub fn entries_of(&self, sample: usize) -> Option<Entries> {
        let stride = self.coords.columns.len();
        let row = self.coords.words.get(sample.checked_mul(stride)?..sample.checked_add(1)?.checked_mul(stride)?)?;
        let chosen = |table: bool, column| if table { Some(row[self.coords.index_of(column)?]) } else { Some(0) };
        Some(Entries {
            image: chosen(!self.more_images.is_empty(), Column::Image)?,
            sampler: chosen(!self.more_samplers.is_empty(), Column::Sampler)?,
        })
    }

    /// These samples with one T# and one S#, as a dispatch without tables: `grid` says how they lie in it, and there is no
    /// oracle. `None` when an entry or a sample is not there.
    ///
    /// ```
    /// # use capture_format::{Column, Coords, Dispatch, Entries, Op, TableImage};
    /// # let dispatch = Dispatch { name: "d".into(), op: Op::LOAD, grid: [2, 1, 1], image: [0; 8], sampler: None,
    /// #     more_images: vec![TableImage { words: [7; 8], texels: vec![5].into() }], more_samplers: vec![],
    /// #     border_table: vec![], dmask: None, texels: vec![4].into(), expected: None,
    /// #     coords: Coords { columns: vec![Column::X, Column::Image], words: vec![10, 0, 11, 1].into() } };
    /// let second = dispatch.with_entries(Entries { image: 1, sampler: 0 }, [1, 1, 1], &[1]).unwrap();
    /// assert_eq!((second.image, second.texels[0], second.is_table()), ([7; 8], 5, false));
    /// assert_eq!((second.coords.columns, second.coords.words[0]), (vec![Column::X], 11));
    /// ```
    #[must_use]
    pub fn with_entries(&self, entries: Entries, grid: [u32; 3], samples: &[u32]) -> Option<Self> {
        let (image, texels) = self.image_at(entries.image as usize)?;
        let sampler = match self.sampler {
            None => None,
            Some(_) => Some(*self.sampler_at(entries.sampler as usize)?),
        };
        let columns = &self.coords.columns;
        let kept: Vec<usize> = (0..columns.len()).filter(|&at| !columns[at].chooses_entry()).collect();
        let mut words = Vec::with_capacity(samples.len() * kept.len());
        for &sample in samples {
            let start = (sample as usize).checked_mul(columns.len())?;
            let row = self.coords.words.get(start..start.checked_add(columns.len())?)?;
            words.extend(kept.iter().map(|&at| row[at]));
        }
        Some(Self {
            name: self.name.clone(),
            op: self.op,
            grid,
            image: *image,
            sampler,
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: self.border_table.clone(),
            dmask: self.dmask,
            texels: texels.clone(),
            coords: Coords { columns: kept.iter().map(|&at| columns[at]).collect(), words: words.into() },
            expected: None,
        })
    }

    /// Words of the texels of all T#s; an array that several entries share counts each time. Saturates at `u64::MAX`.
    #[must_use]
    pub fn texel_words(&self) -> u64 {
        self.images().fold(0u64, |sum, (_, texels)| sum.saturating_add(texels.len() as u64))
    }
}

/// The operands of each invocation: a table with a row an invocation (x fastest, then y, then z) and a column an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coords {
    /// What the columns hold, in order.
    pub columns: Vec<Column>,
    /// `rows * columns` words, row-major. Columns are FP32 bits, unless [`Column::is_integer`] says otherwise.
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
    /// Entry of the table of T#s, an unsigned integer. No operand of the instruction: it stands for the descriptor that the
    /// shader has loaded.
    Image = "image",
    /// Entry of the table of S#s, an unsigned integer.
    Sampler = "sampler",
}

impl Column {
    /// Whether the column holds integers (packed offsets, entries of tables) instead of FP32 bits.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::Offset | Self::Image | Self::Sampler)
    }

    /// Whether the column chooses a descriptor and is no operand of the instruction.
    #[must_use]
    pub fn chooses_entry(self) -> bool {
        matches!(self, Self::Image | Self::Sampler)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown column {0:?}, expected one of u v w, s t face, rx ry rz, x y z, layer, lod, bias, clamp, dudx dvdx dwdx dudy dvdy dwdy, offset, image, sampler"
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
