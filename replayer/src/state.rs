//! Filter state: what a T#, an S# and an instruction together say, ready to be applied.
//!
//! Both the reference and the emitted SPIR-V work from a [`State`]; neither looks at descriptor bits.

use capture_format::{Column, LodSource, NumericKind, Op, OpKind, TexelFormat};

use crate::rules::RuleId;

/// The shape of the view that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum View {
    /// 1D.
    D1,
    /// 1D array.
    D1Array,
    /// 2D.
    D2,
    /// 2D array.
    D2Array,
    /// 3D.
    D3,
    /// Cube or cube array: six layers a cube.
    Cube,
}

impl View {
    /// Every view, in a fixed order.
    pub const ALL: [Self; 6] = [Self::D1, Self::D1Array, Self::D2, Self::D2Array, Self::D3, Self::Cube];

    /// Number of axes along which texels are filtered (a cube's face has two).
    #[must_use]
    pub fn axes(self) -> usize {
        match self {
            Self::D1 | Self::D1Array => 1,
            Self::D2 | Self::D2Array | Self::Cube => 2,
            Self::D3 => 3,
        }
    }

    /// Whether the view has layers (a cube's faces count).
    #[must_use]
    pub fn is_layered(self) -> bool {
        matches!(self, Self::D1Array | Self::D2Array | Self::Cube)
    }

    /// Short name in reports and module names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::D1 => "1d",
            Self::D1Array => "1d_array",
            Self::D2 => "2d",
            Self::D2Array => "2d_array",
            Self::D3 => "3d",
            Self::Cube => "cube",
        }
    }
}

/// Point or linear, along one axis or for a whole footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    /// One texel.
    Point,
    /// Two texels an axis.
    Linear,
}

/// How slices of a 3D image are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SliceFilter {
    /// As XY.
    FollowXy,
    /// On its own.
    Own(Filter),
}

/// How levels are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MipMode {
    /// The view's base level only.
    Base,
    /// The nearest level.
    Point,
    /// Two levels are blended.
    Linear,
}

/// What is done with the taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reduction {
    /// Weighted and added up.
    Blend,
    /// The smallest, channel by channel.
    Min,
    /// The largest, channel by channel.
    Max,
}

/// What an output channel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Select {
    /// 0.
    Zero,
    /// 1 (the integer 1 for integer formats).
    One,
    /// Channel 0 to 3 of the filtered value.
    Channel(u8),
}

/// Addressing beyond the image, by S#.CLAMP codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// 0: periodic.
    Wrap,
    /// 1: periodic with every second period mirrored.
    Mirror,
    /// 2: the last texel goes on.
    Edge,
    /// 3: mirrored once about 0, then [`Address::Edge`].
    MirrorOnceEdge,
    /// 4: [`Address::Border`] after the coordinate is limited to the image.
    HalfBorder,
    /// 5: mirrored once, then [`Address::HalfBorder`].
    MirrorOnceHalfBorder,
    /// 6: the border colour.
    Border,
    /// 7: mirrored once, then [`Address::Border`].
    MirrorOnceBorder,
}

impl Address {
    /// Every mode, by S# code.
    pub const ALL: [Self; 8] = [
        Self::Wrap,
        Self::Mirror,
        Self::Edge,
        Self::MirrorOnceEdge,
        Self::HalfBorder,
        Self::MirrorOnceHalfBorder,
        Self::Border,
        Self::MirrorOnceBorder,
    ];

    /// Whether a tap can be border.
    #[must_use]
    pub fn has_border(self) -> bool {
        matches!(self, Self::HalfBorder | Self::MirrorOnceHalfBorder | Self::Border | Self::MirrorOnceBorder)
    }
}

/// An anisotropic filter that is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Anisotropy {
    /// log2 of the largest number of probes, 1 to 4.
    pub log2_ratio: u32,
    /// S#.ANISO_THRESHOLD, 1/8.
    pub threshold: u32,
}

/// Texel counts and their layout: level by level, in a level slice by slice, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Texels of level 0 in x, y, z (1 where the view has no such axis).
    pub size: [u32; 3],
    /// Array layers in the resource; 1 for 3D and for views without layers.
    pub layers: u32,
    /// Levels in the resource.
    pub levels: u32,
}

impl Extent {
    /// Texels of a level in x, y, z.
    #[must_use]
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|n| n.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Texels in a level over all slices or layers.
    #[must_use]
    pub fn level_texels(&self, level: u32) -> u64 {
        let [x, y, z] = self.level_size(level).map(u64::from);
        x * y * z * u64::from(self.layers)
    }

    /// Texels in all levels.
    #[must_use]
    pub fn texels(&self) -> u64 {
        (0..self.levels).map(|level| self.level_texels(level)).sum()
    }
}

/// Everything a sample depends on beside its operands, the texels and the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The instruction.
    pub op: Op,
    /// The gathered channel (before DST_SEL) for gathers, else 0.
    pub gather_channel: u8,
    /// Shape of the view.
    pub view: View,
    /// Texel format.
    pub format: TexelFormat,
    /// Sizes of the resource.
    pub extent: Extent,
    /// First level of the view.
    pub base_level: u32,
    /// Last level of the view, counted from its first.
    pub last_level: u32,
    /// First layer of the view.
    pub base_layer: u32,
    /// Last layer of the view, counted from its first.
    pub last_layer: u32,
    /// What each output channel shows.
    pub select: [Select; 4],
    /// Addressing in x, y, z.
    pub address: [Address; 3],
    /// XY filter when magnifying.
    pub mag: Filter,
    /// XY filter when minifying.
    pub min: Filter,
    /// Filter over slices of a 3D image.
    pub slices: SliceFilter,
    /// Choice of levels.
    pub mip: MipMode,
    /// Blend, min or max.
    pub reduction: Reduction,
    /// S#.TRUNC_COORD.
    pub trunc_coord: bool,
    /// S#.FORCE_UNNORMALIZED.
    pub unnormalized: bool,
    /// S#.MIN_LOD, 1/256.
    pub min_lod: u32,
    /// S#.MAX_LOD, 1/256.
    pub max_lod: u32,
    /// T#.MIN_LOD counted from the view's first level, 1/256; at least 0.
    pub image_min_lod: u32,
    /// S#.LOD_BIAS, 1/256; for computed LODs with S#.LOD_BIAS_SEC.
    pub lod_bias: i32,
    /// S#.MIP_POINT_PRECLAMP.
    pub mip_point_preclamp: bool,
    /// The border colour as internal x, y, z, w (FP32 bits; integers for integer formats), after BC_SWIZZLE.
    pub border: [u32; 4],
    /// Whether the border colour is from the table.
    pub table_border: bool,
    /// The anisotropic filter, when one is on and the instruction has derivatives.
    pub anisotropy: Option<Anisotropy>,
    /// Whether a cube is filtered across its edges (S#.DISABLE_CUBE_WRAP is clear).
    pub cube_wrap: bool,
    /// Whether PERF_MIP or PERF_Z is set where it could matter.
    pub perf_fields: bool,
    /// Samples along x, y, z: implicit derivatives come from the 2x2 quads of this grid.
    pub grid: [u32; 3],
}

impl State {
    /// The operands of an instruction on a view, in the order in which the emitted modules take them.
    #[must_use]
    pub fn operands(op: Op, view: View) -> Vec<Column> {
        let mut columns = match (op.kind, view) {
            (OpKind::Load, View::D1) => vec![Column::X],
            (OpKind::Load, View::D1Array) => vec![Column::X, Column::Layer],
            (OpKind::Load, View::D2) => vec![Column::X, Column::Y],
            (OpKind::Load, View::D2Array | View::Cube) => vec![Column::X, Column::Y, Column::Layer],
            (OpKind::Load, View::D3) => vec![Column::X, Column::Y, Column::Z],
            (_, View::D1) => vec![Column::U],
            (_, View::D1Array) => vec![Column::U, Column::Layer],
            (_, View::D2) => vec![Column::U, Column::V],
            (_, View::D2Array) => vec![Column::U, Column::V, Column::Layer],
            (_, View::D3) => vec![Column::U, Column::V, Column::W],
            (_, View::Cube) => vec![Column::S, Column::T, Column::Face],
        };
        match op.lod {
            LodSource::Explicit => columns.push(Column::Lod),
            LodSource::Bias => columns.push(Column::Bias),
            LodSource::Derivatives => {
                let all = [Column::Dudx, Column::Dvdx, Column::Dwdx, Column::Dudy, Column::Dvdy, Column::Dwdy];
                let axes = view.axes();
                columns.extend(all.iter().enumerate().filter(|(i, _)| i % 3 < axes).map(|(_, c)| *c));
            }
            LodSource::Implicit | LodSource::Zero => {}
        }
        if op.lod_clamp {
            columns.push(Column::Clamp);
        }
        if op.offset {
            columns.push(Column::Offset);
        }
        columns
    }

    /// The rules on which results in this state can depend, in the order of the table.
    ///
    /// What depends on the operands alone (a NaN among them, say) counts only where every operand can matter; rules for
    /// special operands are left out.
    #[must_use]
    pub fn rules_in_force(&self) -> Vec<RuleId> {
        RuleId::ALL.iter().copied().filter(|&rule| self.depends_on(rule)).collect()
    }

    fn depends_on(&self, rule: RuleId) -> bool {
        if self.op.kind == OpKind::Load {
            return false;
        }
        let gather = self.op.kind == OpKind::Gather4;
        let levels = self.last_level > 0 && self.mip != MipMode::Base;
        let computed_lod = !matches!(self.op.lod, LodSource::Explicit | LodSource::Zero);
        let seamless = self.view == View::Cube && self.cube_wrap;
        let unequal = self.mag != self.min && !gather;
        let xy_linear = self.mag == Filter::Linear || self.min == Filter::Linear || gather;
        let xy_point = !gather && (self.mag == Filter::Point || self.min == Filter::Point);
        let own_slices = match (self.view, self.slices) {
            (View::D3, SliceFilter::Own(filter)) => Some(filter),
            _ => None,
        };
        let linear = xy_linear || own_slices == Some(Filter::Linear);
        let point = xy_point || own_slices == Some(Filter::Point);
        let blends = !gather && (linear || levels && self.mip == MipMode::Linear);
        let lod_matters = levels || unequal;
        let axes = &self.address[..self.view.axes()];
        match rule {
            // Special operands.
            RuleId::NanCoordinate | RuleId::DenormalCoordinate | RuleId::IntegerConversion => false,
            RuleId::CoordinateStep | RuleId::CoordinateProduct => !self.unnormalized,
            RuleId::SubtexelBits => true,
            RuleId::PointRounding => point && !self.trunc_coord,
            RuleId::WeightRounding => linear && !self.trunc_coord,
            RuleId::TruncCoord => self.trunc_coord,
            RuleId::EdgeClamp => linear && axes.contains(&Address::Edge) && self.reduction != Reduction::Blend,
            RuleId::AddressStage => {
                let folds = |axis: usize| match self.address[axis] {
                    Address::Mirror => true,
                    Address::Wrap => !self.extent.level_size(self.base_level)[axis].is_power_of_two(),
                    _ => false,
                };
                !self.unnormalized && !seamless && (0..self.view.axes()).any(folds)
            }
            RuleId::OffsetStage => self.op.offset,
            RuleId::SampleGroup => {
                self.op.kind == OpKind::Sample
                    && self.reduction == Reduction::Blend
                    && (unequal || levels && self.mip == MipMode::Linear || seamless && linear)
            }
            RuleId::HalfBorder => axes.iter().any(|a| matches!(a, Address::HalfBorder | Address::MirrorOnceHalfBorder)),
            RuleId::ZFilterRule => self.view == View::D3,
            RuleId::MipFilterBits => self.last_level > 0,
            RuleId::WeightScheme | RuleId::Accumulation | RuleId::ResultRounding => {
                // A gather may blend the place beyond a cube's corner.
                blends && self.reduction == Reduction::Blend || seamless && gather
            }
            RuleId::ZeroWeightTaps => {
                blends && self.reduction == Reduction::Blend && self.format.kind() == NumericKind::Float
            }
            RuleId::MinMaxTaps => blends && self.reduction != Reduction::Blend,
            RuleId::LodRounding => lod_matters,
            RuleId::LodRoundingStage => lod_matters && self.lod_bias != 0,
            RuleId::ExplicitLodBias => {
                lod_matters && self.lod_bias != 0 && matches!(self.op.lod, LodSource::Explicit | LodSource::Zero)
            }
            RuleId::MipNearest | RuleId::MipNearestLod => levels && self.mip == MipMode::Point,
            RuleId::MinifyFrom => unequal,
            RuleId::BorderSwizzle => self.uses_border(),
            RuleId::BorderMissingChannel => self.uses_border() && self.shows_missing_channel(),
            RuleId::BorderPrecision => self.uses_border() && self.table_border,
            RuleId::LayerRounding => self.view.is_layered() && !self.trunc_coord,
            RuleId::MipPointClamp => levels && self.mip == MipMode::Point && (self.min_lod, self.max_lod) != (0, 0xfff),
            RuleId::PerfFields => self.perf_fields,
            RuleId::LodDerivatives => computed_lod && (lod_matters || self.anisotropy.is_some()),
            RuleId::QuadDerivatives => {
                matches!(self.op.lod, LodSource::Implicit | LodSource::Bias)
                    && (lod_matters || self.anisotropy.is_some())
            }
            RuleId::AnisotropyRule => self.anisotropy.is_some(),
            RuleId::CubeCorner => seamless && linear,
            // Only where directions were recorded, of which a state does not know.
            RuleId::CubeDirection => false,
        }
    }

    /// Whether an output shows a channel that the format lacks.
    fn shows_missing_channel(&self) -> bool {
        let present = self.format.channels().len();
        self.select.iter().any(|s| matches!(s, Select::Channel(c) if usize::from(*c) >= present))
    }

    /// Whether any axis in use can give border taps.
    #[must_use]
    pub fn uses_border(&self) -> bool {
        if self.view == View::Cube && self.cube_wrap {
            return false;
        }
        self.address[..self.view.axes()].iter().any(|a| a.has_border())
    }
}
