//! What rules are called among people, and which descriptor fields they belong to.

use capture_format::{Field, ImageDescriptor, SamplerDescriptor};

use crate::{
    rules::RuleId,
    state::{Filter, State},
};

/// A field of S# or T#.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorField {
    /// A field of the S#.
    Sampler(&'static Field),
    /// A field of the T#.
    Image(&'static Field),
}

impl DescriptorField {
    /// `S#.TRUNC_COORD`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Sampler(field) => format!("S#.{}", field.name),
            Self::Image(field) => format!("T#.{}", field.name),
        }
    }

    /// The field.
    #[must_use]
    pub fn field(self) -> &'static Field {
        match self {
            Self::Sampler(field) | Self::Image(field) => field,
        }
    }
}

/// What a rule is called in a sentence about a dispatch of that state.
///
/// The fixed-point grid of coordinates is the rounding of weights to whoever filters linearly, and which texel is read to
/// whoever does not.
#[must_use]
pub fn label(rule: RuleId, state: Option<&State>) -> &'static str {
    let linear = state.is_none_or(|s| s.rules_in_force().contains(&RuleId::WeightRounding) || s.mag == Filter::Linear);
    match rule {
        RuleId::SubtexelBits if linear => "weight rounding",
        RuleId::SubtexelBits => "coordinate grid",
        RuleId::PointRounding => "TRUNC_COORD clear, point",
        RuleId::WeightRounding => "weight rounding",
        RuleId::TruncCoord => "TRUNC_COORD",
        RuleId::NanCoordinate => "NaN coordinates",
        RuleId::DenormalCoordinate => "denormal coordinates",
        RuleId::IntegerConversion => "huge coordinates",
        RuleId::AddressStage => "where periods are folded",
        RuleId::OffsetStage => "where offsets are added",
        RuleId::SampleGroup => "samples that take one way",
        RuleId::CoordinateStep => "coordinate grid before the product",
        RuleId::CoordinateProduct => "product of coordinate and size",
        RuleId::EdgeClamp => "clamp to edge",
        RuleId::HalfBorder => "half border",
        RuleId::ZFilterRule => "Z_FILTER",
        RuleId::MipFilterBits => "mip-filter bits",
        RuleId::WeightScheme => "how tap weights are made",
        RuleId::Accumulation => "precision of the sum",
        RuleId::ResultRounding => "rounding of the result",
        RuleId::ZeroWeightTaps => "taps of weight 0",
        RuleId::MinMaxTaps => "taps of min and max",
        RuleId::LodRounding => "mip-weight rounding",
        RuleId::LodRoundingStage => "when the LOD is rounded",
        RuleId::ExplicitLodBias => "bias of an explicit LOD",
        RuleId::MipNearest => "nearest mip at halves",
        RuleId::MipNearestLod => "LOD of the nearest mip",
        RuleId::MinifyFrom => "mag or min filter",
        RuleId::BorderSwizzle => "border swizzle",
        RuleId::BorderMissingChannel => "border in missing channels",
        RuleId::BorderPrecision => "precision of the border colour",
        RuleId::LayerRounding => "array layer rounding",
        RuleId::MipPointClamp => "MIP_POINT_PRECLAMP",
        RuleId::PerfFields => "PERF_MIP and PERF_Z",
        RuleId::LodDerivatives => "LOD from derivatives",
        RuleId::QuadDerivatives => "derivatives in a quad",
        RuleId::AnisotropyRule => "anisotropy",
        RuleId::CubeCorner => "cube corners",
        RuleId::CubeDirection => "direction to face",
    }
}

/// The fields whose bits decide what a rule does, those that matter most first.
#[must_use]
pub fn fields(rule: RuleId) -> &'static [DescriptorField] {
    use DescriptorField::{Image as T, Sampler as S};
    type SD = SamplerDescriptor;
    type ID = ImageDescriptor;
    macro_rules! list {
        ($($kind:ident($type:ident::$name:ident)),* $(,)?) => { &[$($kind(&$type::$name)),*] };
    }
    match rule {
        RuleId::NanCoordinate | RuleId::DenormalCoordinate | RuleId::IntegerConversion => {
            list![S(SD::FORCE_UNNORMALIZED)]
        }
        RuleId::CoordinateStep | RuleId::CoordinateProduct => {
            list![S(SD::FORCE_UNNORMALIZED), T(ID::WIDTH_LO), T(ID::WIDTH_HI), T(ID::HEIGHT), T(ID::DEPTH)]
        }
        RuleId::SubtexelBits | RuleId::WeightRounding => list![
            S(SD::XY_MAG_FILTER),
            S(SD::XY_MIN_FILTER),
            S(SD::Z_FILTER),
            S(SD::TRUNC_COORD),
            T(ID::WIDTH_LO),
            T(ID::WIDTH_HI),
            T(ID::HEIGHT),
        ],
        RuleId::PointRounding | RuleId::TruncCoord => {
            list![S(SD::TRUNC_COORD), S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER), S(SD::Z_FILTER)]
        }
        RuleId::EdgeClamp | RuleId::HalfBorder | RuleId::AddressStage | RuleId::OffsetStage => {
            list![S(SD::CLAMP_X), S(SD::CLAMP_Y), S(SD::CLAMP_Z)]
        }
        RuleId::ZFilterRule => list![S(SD::Z_FILTER), S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER), T(ID::TYPE)],
        RuleId::MipFilterBits => list![S(SD::MIP_FILTER), S(SD::Z_FILTER), T(ID::BASE_LEVEL), T(ID::LAST_LEVEL)],
        RuleId::WeightScheme | RuleId::Accumulation | RuleId::ResultRounding | RuleId::ZeroWeightTaps => {
            list![S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER), S(SD::FILTER_MODE), T(ID::FORMAT)]
        }
        RuleId::MinMaxTaps => list![S(SD::FILTER_MODE), S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER)],
        RuleId::LodRounding | RuleId::LodRoundingStage | RuleId::ExplicitLodBias => list![
            S(SD::MIP_FILTER),
            S(SD::LOD_BIAS),
            S(SD::MIN_LOD),
            S(SD::MAX_LOD),
            T(ID::MIN_LOD),
            T(ID::BASE_LEVEL),
            T(ID::LAST_LEVEL),
        ],
        RuleId::MipNearest | RuleId::MipNearestLod => {
            list![S(SD::MIP_FILTER), S(SD::MIP_POINT_PRECLAMP), T(ID::BASE_LEVEL), T(ID::LAST_LEVEL)]
        }
        RuleId::MinifyFrom => list![S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER), S(SD::LOD_BIAS)],
        RuleId::BorderSwizzle | RuleId::BorderMissingChannel => list![
            S(SD::BORDER_COLOR_TYPE),
            T(ID::BC_SWIZZLE),
            T(ID::DST_SEL_X),
            T(ID::DST_SEL_Y),
            T(ID::DST_SEL_Z),
            T(ID::DST_SEL_W),
        ],
        RuleId::BorderPrecision => list![S(SD::BORDER_COLOR_TYPE), S(SD::BORDER_COLOR_PTR)],
        RuleId::LayerRounding => list![S(SD::TRUNC_COORD), T(ID::BASE_ARRAY), T(ID::DEPTH)],
        RuleId::MipPointClamp => list![S(SD::MIP_POINT_PRECLAMP), S(SD::MIN_LOD), S(SD::MAX_LOD), S(SD::MIP_FILTER)],
        RuleId::PerfFields => list![S(SD::PERF_MIP), S(SD::PERF_Z), S(SD::MIP_FILTER), S(SD::Z_FILTER)],
        RuleId::LodDerivatives | RuleId::QuadDerivatives => {
            list![S(SD::MIP_FILTER), S(SD::LOD_BIAS), T(ID::WIDTH_LO), T(ID::WIDTH_HI), T(ID::HEIGHT)]
        }
        RuleId::AnisotropyRule => {
            list![S(SD::MAX_ANISO_RATIO), S(SD::ANISO_THRESHOLD), S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER)]
        }
        RuleId::CubeCorner => list![S(SD::DISABLE_CUBE_WRAP), T(ID::TYPE)],
        RuleId::SampleGroup => list![S(SD::XY_MAG_FILTER), S(SD::XY_MIN_FILTER), S(SD::MIP_FILTER)],
        RuleId::CubeDirection => list![T(ID::TYPE)],
    }
}
