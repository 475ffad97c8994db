//! The operands of one invocation, taken out of a row of coordinates.

use capture_format::{Column, Coords, LodSource, OpKind};

use crate::{
    reference::{coordinate::condition, derivatives::probe_place, lod::LodOperand, pairs::Line},
    refusal::Refusal,
    rules::Rules,
    state::{State, View},
};

/// Operands of one invocation. What an instruction does not take is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Operands {
    /// Coordinates along the axes, FP32 bits.
    pub coordinates: [u32; 3],
    /// Layer (or face), FP32 bits.
    pub layer: u32,
    /// Level of detail before bias and clamps, FP32 bits.
    pub lod: u32,
    /// Whether `lod` was given rather than computed.
    pub explicit_lod: bool,
    /// Bias, FP32 bits.
    pub bias: u32,
    /// Lower LOD clamp, FP32 bits.
    pub clamp: Option<u32>,
    /// Texel offsets.
    pub offset: [i32; 3],
    /// log2 of the number of probes of an anisotropic filter; 0 without one.
    pub log2_probes: u32,
    /// Change of each coordinate along the line of the probes.
    pub major: [f32; 3],
    /// The line of the probes by [`crate::reference::pairs`]; without a ratio where there is none.
    pub line: Line,
    /// What the samples that take one way with this one ask for.
    pub group: Group,
}

/// What some of the samples of a group ask for, so that all of them do it: see [`crate::rules::SampleGroup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Filter linearly, where filters differ by LOD.
    pub linear: bool,
    /// Blend two levels.
    pub levels: bool,
    /// Add up products of texels and weights, in the first and the second level, because of a cube's corner.
    pub products: [bool; 2],
}

impl Operands {
    /// The operands of one probe of an anisotropic filter: moved along the line of the probes.
    #[inline(always)]
    #[must_use]
    pub fn probe(&self, rules: &Rules, index: u32) -> Self {
        let place = probe_place(index, self.log2_probes);
        let coordinates =
            std::array::from_fn(|n| (condition(rules, self.coordinates[n]) + self.major[n] * place).to_bits());
        Self { coordinates, ..*self }
    }

    /// Where the level of detail comes from.
    #[inline(always)]
    #[must_use]
    pub fn lod_operand(&self) -> LodOperand {
        LodOperand { bits: self.lod, bias: self.bias, clamp: self.clamp, explicit: self.explicit_lod }
    }
}

/// Where each operand stands in a row of the recorded coordinates.
#[derive(Clone, Debug)]
pub struct OperandLayout {
    coordinates: [Option<usize>; 3],
    layer: Option<usize>,
    lod: Option<usize>,
    bias: Option<usize>,
    clamp: Option<usize>,
    offset: Option<usize>,
    derivatives: [[Option<usize>; 3]; 2],
    explicit_lod: bool,
    /// Words in a row.
    pub stride: usize,
}

impl OperandLayout {
    /// Finds the operands of the state's instruction among the columns.
    ///
    /// # Errors
    /// When a column is missing, doubled, or not an operand of the instruction on this view.
    pub fn new(state: &State, coords: &Coords) -> Result<Self, Refusal> {
        let wanted = State::operands(state.op, state.view);
        let mut sorted_wanted = wanted.clone();
        let mut sorted_found = coords.columns.clone();
        sorted_wanted.sort_unstable();
        sorted_found.sort_unstable();
        if sorted_wanted != sorted_found {
            let list = |columns: &[Column]| columns.iter().map(|c| c.name()).collect::<Vec<_>>().join(" ");
            return Err(Refusal {
                field: "coords.columns".to_owned(),
                bits: None,
                value: list(&coords.columns),
                reason: format!("{} on a {} view takes {}", state.op, state.view.name(), list(&wanted)),
            });
        }
        let find = |column| coords.index_of(column);
        let coordinates = match (state.op.kind, state.view) {
            (OpKind::Load, _) => [find(Column::X), find(Column::Y), find(Column::Z)],
            (_, View::Cube) => [find(Column::S), find(Column::T), None],
            _ => [find(Column::U), find(Column::V), find(Column::W)],
        };
        Ok(Self {
            coordinates,
            layer: find(Column::Layer).or(find(Column::Face)),
            lod: find(Column::Lod),
            bias: find(Column::Bias),
            clamp: find(Column::Clamp),
            offset: find(Column::Offset),
            derivatives: [
                [find(Column::Dudx), find(Column::Dvdx), find(Column::Dwdx)],
                [find(Column::Dudy), find(Column::Dvdy), find(Column::Dwdy)],
            ],
            explicit_lod: matches!(state.op.lod, LodSource::Explicit | LodSource::Zero),
            stride: coords.columns.len(),
        })
    }

    /// The operands in a row of [`Self::stride`] words.
    #[inline(always)]
    #[must_use]
    pub fn read(&self, row: &[u32]) -> Operands {
        let at = |index: Option<usize>| index.map_or(0, |i| row[i]);
        Operands {
            coordinates: self.coordinates.map(at),
            layer: at(self.layer),
            lod: at(self.lod),
            explicit_lod: self.explicit_lod,
            bias: at(self.bias),
            clamp: self.clamp.map(|i| row[i]),
            offset: self.offset.map_or([0; 3], |i| unpack_offset(row[i])),
            log2_probes: 0,
            major: [0.0; 3],
            group: Group::default(),
            line: Line::default(),
        }
    }

    /// Where the coordinates stand in a row.
    #[must_use]
    pub fn coordinate_places(&self) -> [Option<usize>; 3] {
        self.coordinates
    }

    /// Where the level of detail stands in a row.
    #[must_use]
    pub fn lod_place(&self) -> Option<usize> {
        self.lod
    }

    /// The coordinates in a row, as bits.
    #[inline(always)]
    #[must_use]
    pub fn coordinates(&self, row: &[u32]) -> [u32; 3] {
        self.coordinates.map(|index| index.map_or(0, |i| row[i]))
    }

    /// The derivatives along x and y given in a row, as bits.
    #[inline(always)]
    #[must_use]
    pub fn derivatives(&self, row: &[u32]) -> [[u32; 3]; 2] {
        self.derivatives.map(|side| side.map(|index| index.map_or(0, |i| row[i])))
    }
}

/// Texel offsets as the instructions take them: x in bits 5:0, y in 13:8, z in 21:16, each signed (LLPC's packing).
#[inline(always)]
#[must_use]
pub fn unpack_offset(word: u32) -> [i32; 3] {
    [0, 8, 16].map(|shift| ((word >> shift) as i32) << 26 >> 26)
}
