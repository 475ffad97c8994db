//! The words by which a [`State`] reaches a module: its specialization constants.

use super::decode::FormatClass;
use crate::state::{Filter, MipMode, Reduction, Select, SliceFilter, State};

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal,)*) => {
        /// One specialization constant; its `SpecId` is its position in this list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Slot { $($(#[$doc])* $slot,)* }

        impl Slot {
            /// Every constant, by `SpecId`.
            pub const ALL: &'static [Self] = &[$(Self::$slot,)*];

            /// The constant's name in disassemblies and listings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$slot => $name,)* }
            }
        }
    };
}

slots! {
    /// 0: X is the narrow channel (10 bits, as in formats 37 to 43); 1: Z is (formats 30 to 36); 2: one 32-bit channel.
    Layout = "layout",
    /// 0 unorm, 1 snorm, 2 uscaled, 3 sscaled, for fixed-point formats; 0 unsigned, 1 signed, for integer formats.
    Numeric = "numeric",
    /// S#.CLAMP_X.
    AddressX = "address_x",
    /// S#.CLAMP_Y.
    AddressY = "address_y",
    /// S#.CLAMP_Z.
    AddressZ = "address_z",
    /// XY filter when magnifying: 0 point, 1 linear.
    Mag = "mag_linear",
    /// XY filter when minifying: 0 point, 1 linear.
    Min = "min_linear",
    /// Filter over slices: 0 as XY, 1 point, 2 linear.
    Slices = "slice_filter",
    /// Choice of levels: 0 base, 1 point, 2 linear.
    Mip = "mip_mode",
    /// 0 blend, 1 min, 2 max.
    Reduction = "reduction",
    /// S#.TRUNC_COORD.
    TruncCoord = "trunc_coord",
    /// S#.FORCE_UNNORMALIZED.
    Unnormalized = "unnormalized",
    /// S#.MIN_LOD and T#.MIN_LOD, the larger, 1/256.
    MinLod = "min_lod",
    /// S#.MAX_LOD, 1/256.
    MaxLod = "max_lod",
    /// log2 of the largest number of anisotropic probes; 0 without anisotropy.
    Anisotropy = "log2_max_anisotropy",
    /// S#.ANISO_THRESHOLD, 1/8.
    AnisoThreshold = "aniso_threshold",
    /// Whether a cube is filtered across its edges.
    CubeWrap = "cube_wrap",
    /// S#.MIP_POINT_PRECLAMP.
    MipPointPreclamp = "mip_point_preclamp",
    /// S#.LOD_BIAS (and LOD_BIAS_SEC for computed LODs), signed, 1/256.
    LodBias = "lod_bias",
    /// First level of the view.
    BaseLevel = "base_level",
    /// Last level of the view, from its first.
    LastLevel = "last_level",
    /// First layer of the view.
    BaseLayer = "base_layer",
    /// Last layer of the view, from its first.
    LastLayer = "last_layer",
    /// What output X shows: 0 zero, 1 one, 2 to 5 channel X to W.
    SelectX = "select_x",
    /// What output Y shows.
    SelectY = "select_y",
    /// What output Z shows.
    SelectZ = "select_z",
    /// What output W shows.
    SelectW = "select_w",
    /// The gathered channel, 0 to 3.
    GatherChannel = "gather_channel",
    /// Border colour, X.
    BorderX = "border_x",
    /// Border colour, Y.
    BorderY = "border_y",
    /// Border colour, Z.
    BorderZ = "border_z",
    /// Border colour, W.
    BorderW = "border_w",
}

impl Slot {
    /// The constant's value for a state.
    #[must_use]
    pub fn value(self, state: &State) -> u32 {
        let filter = |f: Filter| u32::from(f == Filter::Linear);
        let select = |n: usize| match state.select[n] {
            Select::Zero => 0,
            Select::One => 1,
            Select::Channel(c) => 2 + u32::from(c),
        };
        match self {
            Self::Layout => super::decode::layout_word(state.format),
            Self::Numeric => super::decode::numeric_word(state.format),
            Self::AddressX => state.address[0] as u32,
            Self::AddressY => state.address[1] as u32,
            Self::AddressZ => state.address[2] as u32,
            Self::Mag => filter(state.mag),
            Self::Min => filter(state.min),
            Self::Slices => match state.slices {
                SliceFilter::FollowXy => 0,
                SliceFilter::Own(f) => 1 + filter(f),
            },
            Self::Mip => match state.mip {
                MipMode::Base => 0,
                MipMode::Point => 1,
                MipMode::Linear => 2,
            },
            Self::Reduction => match state.reduction {
                Reduction::Blend => 0,
                Reduction::Min => 1,
                Reduction::Max => 2,
            },
            Self::TruncCoord => state.trunc_coord.into(),
            Self::Unnormalized => state.unnormalized.into(),
            Self::MinLod => state.min_lod.max(state.image_min_lod),
            Self::MaxLod => state.max_lod,
            Self::Anisotropy => state.anisotropy.map_or(0, |a| a.log2_ratio),
            Self::AnisoThreshold => state.anisotropy.map_or(0, |a| a.threshold),
            Self::CubeWrap => state.cube_wrap.into(),
            Self::MipPointPreclamp => state.mip_point_preclamp.into(),
            Self::LodBias => state.lod_bias as u32,
            Self::BaseLevel => state.base_level,
            Self::LastLevel => state.last_level,
            Self::BaseLayer => state.base_layer,
            Self::LastLayer => state.last_layer,
            Self::SelectX => select(0),
            Self::SelectY => select(1),
            Self::SelectZ => select(2),
            Self::SelectW => select(3),
            Self::GatherChannel => state.gather_channel.into(),
            Self::BorderX => state.border[0],
            Self::BorderY => state.border[1],
            Self::BorderZ => state.border[2],
            Self::BorderW => state.border[3],
        }
    }
}

macro_rules! row_words {
    ($($(#[$doc:meta])* $word:ident = $name:literal,)*) => {
        /// A word that stands behind the [`Slot`]s in the row of a state; only tables of descriptors have such rows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RowWord { $($(#[$doc])* $word,)* }

        impl RowWord {
            const COUNT: usize = [$(Self::$word),*].len();

            /// Its name in disassemblies.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$word => $name,)* }
            }

            /// Its place in the row.
            #[must_use]
            pub fn place(self) -> u32 {
                (Slot::ALL.len() + self as usize) as u32
            }
        }
    };
}

row_words! {
    /// Whether the format is a fixed-point one: 0 float, 1 fixed. Without meaning for integers.
    Fixed = "fixed",
    /// Texels of level 0 in x.
    Width = "width",
    /// Texels of level 0 in y.
    Height = "height",
    /// Slices of level 0.
    Depth = "depth",
    /// Where level 0 starts among the texels of all images. A word for each further level follows.
    Start = "level_start",
}

/// The most levels that an image has.
pub const MOST_LEVELS: usize = 16;

/// Words in the row of a state.
pub const ROW_WORDS: usize = Slot::ALL.len() + RowWord::COUNT - 1 + MOST_LEVELS;

/// The row of a state in a table: the values of its [`Slot`]s, then its [`RowWord`]s. `start` is where the image's texels
/// begin among the texels of all images; `start` and its texels together are below 2^32.
#[must_use]
pub fn state_row(state: &State, start: u32) -> [u32; ROW_WORDS] {
    let mut row = [0; ROW_WORDS];
    for (word, slot) in row.iter_mut().zip(Slot::ALL) {
        *word = slot.value(state);
    }
    let mut put = |word: RowWord, value: u32| row[word.place() as usize] = value;
    put(RowWord::Fixed, u32::from(FormatClass::of(state.format) == FormatClass::Fixed));
    for (word, size) in [RowWord::Width, RowWord::Height, RowWord::Depth].into_iter().zip(state.extent.size) {
        put(word, size);
    }
    let mut at = start;
    for level in 0..state.extent.levels {
        if let Some(word) = row.get_mut(RowWord::Start.place() as usize + level as usize) {
            *word = at;
        }
        at = at.wrapping_add(state.extent.level_texels(level) as u32);
    }
    row
}

/// `SpecId` of the word in the table form that says which [`Slot`]s have the same value in all states: bit n for slot n. Their
/// values are specialization constants then, as in the form for one state, so that a compiler drops what they rule out.
pub const COMMON: u32 = Slot::ALL.len() as u32;

// A bit for each slot.
const _: () = assert!(COMMON <= 32);

/// The specialization of the table form for the states of a dispatch: what they have in common, and which slots that is.
#[must_use]
pub fn specialize_table(states: &[State]) -> Vec<(u32, u32)> {
    let Some((first, others)) = states.split_first() else { return Vec::new() };
    let mut common = 0;
    let mut values = Vec::with_capacity(Slot::ALL.len() + 1);
    for &slot in Slot::ALL {
        let value = slot.value(first);
        if others.iter().all(|state| slot.value(state) == value) {
            common |= 1 << slot as u32;
            values.push((slot as u32, value));
        }
    }
    values.push((COMMON, common));
    values
}

/// The specialization of a module for a state: `SpecId` and value of every constant.
#[must_use]
pub fn specialize(state: &State) -> Vec<(u32, u32)> {
    Slot::ALL.iter().map(|&slot| (slot as u32, slot.value(state))).collect()
}
