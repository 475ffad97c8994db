//! The profiles: which value each hardware has for each rule, and why.

use super::{
    Accumulation, AddressStage, AnisotropyRule, BorderMissingChannel, BorderPrecision, BorderSwizzle,
    CoordinateProduct, CoordinateStep, CubeCorner, CubeDirection, DenormalCoordinate, EdgeClamp, Evidence,
    EvidenceKind, ExplicitLodBias, HalfBorder, IntegerConversion, LayerRounding, LodDerivatives, LodRounding,
    LodRoundingStage, MinMaxTaps, MinifyFrom, MipFilterBits, MipNearest, MipNearestLod, MipPointClamp, NanCoordinate,
    OffsetStage, PerfFields, PointRounding, QuadDerivatives, ResultRounding, RuleId, Rules, SampleGroup, SubtexelBits,
    TruncCoord, WeightRounding, WeightScheme, ZFilterRule, ZeroWeightTaps,
};

/// One hardware's set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `gfx1035`, `h200`, `exact` or `lavapipe`; a profile made by changing rules keeps the name it was made from.
    pub name: &'static str,
    /// The choice for every rule.
    pub rules: Rules,
}

impl Profile {
    /// AMD GFX10.3 (RDNA2), as measured on a gfx1035.
    pub const GFX1035: Self = Self {
        name: "gfx1035",
        rules: Rules {
            nan_coordinate: NanCoordinate::Zero,
            denormal_coordinate: DenormalCoordinate::Zero,
            integer_conversion: IntegerConversion::Limited,
            coordinate_step: CoordinateStep::None,
            coordinate_product: CoordinateProduct::Fp32,
            subtexel_bits: SubtexelBits::Eight,
            point_rounding: PointRounding::NearestEven,
            weight_rounding: WeightRounding::NearestEven,
            trunc_coord: TruncCoord::Everywhere,
            edge_clamp: EdgeClamp::Index,
            address_stage: AddressStage::Texel,
            offset_stage: OffsetStage::Texel,
            half_border: HalfBorder::CoordinateClamp,
            z_filter: ZFilterRule::Own,
            mip_filter_bits: MipFilterBits::Bits27To26,
            weight_scheme: WeightScheme::Product,
            accumulation: Accumulation::Fp32,
            result_rounding: ResultRounding::Fp32,
            zero_weight_taps: ZeroWeightTaps::LeftOut,
            minmax_taps: MinMaxTaps::Weighted,
            lod_rounding: LodRounding::NearestEven,
            lod_rounding_stage: LodRoundingStage::Final,
            explicit_lod_bias: ExplicitLodBias::Added,
            mip_nearest: MipNearest::HalfUp,
            mip_nearest_lod: MipNearestLod::Rounded,
            minify_from: MinifyFrom::AboveZero,
            border_swizzle: BorderSwizzle::DstSel,
            border_missing_channel: BorderMissingChannel::Border,
            border_precision: BorderPrecision::Fp32,
            layer_rounding: LayerRounding::NearestEven,
            mip_point_clamp: MipPointClamp::ByField,
            perf_fields: PerfFields::Ignored,
            lod_derivatives: LodDerivatives::Length,
            quad_derivatives: QuadDerivatives::Coarse,
            anisotropy: AnisotropyRule::PowersOfTwo,
            cube_corner: CubeCorner::Average,
            cube_direction: CubeDirection::Quotient,
            sample_group: SampleGroup::One,
        },
    };

    /// NVIDIA H200 (Hopper) sampling B10G11R11_UFLOAT through Vulkan.
    pub const H200: Self = Self {
        name: "h200",
        rules: Rules {
            nan_coordinate: NanCoordinate::Zero,
            denormal_coordinate: DenormalCoordinate::Zero,
            integer_conversion: IntegerConversion::Limited,
            coordinate_step: CoordinateStep::Bits21,
            coordinate_product: CoordinateProduct::Exact,
            subtexel_bits: SubtexelBits::Eight,
            point_rounding: PointRounding::Floor,
            weight_rounding: WeightRounding::HalfUp,
            trunc_coord: TruncCoord::Ignored,
            edge_clamp: EdgeClamp::Position,
            address_stage: AddressStage::Texel,
            offset_stage: OffsetStage::Texel,
            half_border: HalfBorder::CoordinateClamp,
            z_filter: ZFilterRule::Own,
            mip_filter_bits: MipFilterBits::Bits27To26,
            weight_scheme: WeightScheme::Totals,
            accumulation: Accumulation::Aligned14,
            result_rounding: ResultRounding::HalfUp11,
            zero_weight_taps: ZeroWeightTaps::LeftOut,
            minmax_taps: MinMaxTaps::Weighted,
            lod_rounding: LodRounding::TowardZero,
            lod_rounding_stage: LodRoundingStage::Operand,
            explicit_lod_bias: ExplicitLodBias::Added,
            mip_nearest: MipNearest::HalfUp,
            mip_nearest_lod: MipNearestLod::Rounded,
            minify_from: MinifyFrom::AboveZero,
            border_swizzle: BorderSwizzle::DstSel,
            border_missing_channel: BorderMissingChannel::One,
            border_precision: BorderPrecision::Cut16,
            layer_rounding: LayerRounding::NearestEven,
            mip_point_clamp: MipPointClamp::Before,
            perf_fields: PerfFields::Ignored,
            lod_derivatives: LodDerivatives::Octagon,
            quad_derivatives: QuadDerivatives::Coarse,
            anisotropy: AnisotropyRule::Pairs,
            cube_corner: CubeCorner::Shares,
            cube_direction: CubeDirection::Reciprocal,
            sample_group: SampleGroup::One,
        },
    };

    /// The textbook: nothing is quantized, arithmetic is FP32.
    pub const EXACT: Self = Self {
        name: "exact",
        rules: Rules {
            nan_coordinate: NanCoordinate::Zero,
            denormal_coordinate: DenormalCoordinate::Zero,
            integer_conversion: IntegerConversion::Limited,
            coordinate_step: CoordinateStep::None,
            coordinate_product: CoordinateProduct::Fp32,
            subtexel_bits: SubtexelBits::None,
            point_rounding: PointRounding::Floor,
            weight_rounding: WeightRounding::NearestEven,
            trunc_coord: TruncCoord::Ignored,
            edge_clamp: EdgeClamp::Index,
            address_stage: AddressStage::Texel,
            offset_stage: OffsetStage::Texel,
            half_border: HalfBorder::CoordinateClamp,
            z_filter: ZFilterRule::Own,
            mip_filter_bits: MipFilterBits::Bits27To26,
            weight_scheme: WeightScheme::Product,
            accumulation: Accumulation::Fp32,
            result_rounding: ResultRounding::Fp32,
            zero_weight_taps: ZeroWeightTaps::LeftOut,
            minmax_taps: MinMaxTaps::Weighted,
            lod_rounding: LodRounding::None,
            lod_rounding_stage: LodRoundingStage::Final,
            explicit_lod_bias: ExplicitLodBias::Added,
            mip_nearest: MipNearest::HalfDown,
            mip_nearest_lod: MipNearestLod::Rounded,
            minify_from: MinifyFrom::AboveZero,
            border_swizzle: BorderSwizzle::DstSel,
            border_missing_channel: BorderMissingChannel::Border,
            border_precision: BorderPrecision::Fp32,
            layer_rounding: LayerRounding::NearestEven,
            mip_point_clamp: MipPointClamp::Before,
            perf_fields: PerfFields::Ignored,
            lod_derivatives: LodDerivatives::Length,
            quad_derivatives: QuadDerivatives::Fine,
            anisotropy: AnisotropyRule::PowersOfTwo,
            cube_corner: CubeCorner::Average,
            cube_direction: CubeDirection::Quotient,
            sample_group: SampleGroup::One,
        },
    };

    /// Mesa's llvmpipe, which lavapipe samples with: the textbook in the order of operations that its generated code has, on a
    /// CPU with AVX and FMA.
    pub const LAVAPIPE: Self = Self {
        name: "lavapipe",
        rules: Rules {
            nan_coordinate: NanCoordinate::Kept,
            denormal_coordinate: DenormalCoordinate::Kept,
            integer_conversion: IntegerConversion::Lowest,
            edge_clamp: EdgeClamp::Coordinate,
            address_stage: AddressStage::Coordinate,
            offset_stage: OffsetStage::Coordinate,
            accumulation: Accumulation::DifferenceFused,
            zero_weight_taps: ZeroWeightTaps::Included,
            mip_nearest: MipNearest::NearestEven,
            border_missing_channel: BorderMissingChannel::One,
            border_precision: BorderPrecision::Unsigned,
            lod_derivatives: LodDerivatives::LinearLogarithm,
            anisotropy: AnisotropyRule::Ellipse,
            cube_corner: CubeCorner::Thirds,
            cube_direction: CubeDirection::HalfQuotient,
            sample_group: SampleGroup::Eight,
            ..Self::EXACT.rules
        },
    };

    /// The emulated filter as it was first submitted, by its own description, errors included: the mip filter is read from
    /// `word2[25:24]`, Z_FILTER is not modelled, the border colour is not swizzled, weights are FP32 fractions, TRUNC_COORD is
    /// ignored (coordinates are always floored), and the layer is floor(layer + 0.5). No hardware has these rules, so it is
    /// not among [`Profile::ALL`].
    pub const AS_SUBMITTED: Self = Self {
        name: "as-submitted",
        rules: Rules {
            mip_filter_bits: MipFilterBits::Bits25To24,
            z_filter: ZFilterRule::FollowsXy,
            border_swizzle: BorderSwizzle::None,
            subtexel_bits: SubtexelBits::None,
            lod_rounding: LodRounding::None,
            trunc_coord: TruncCoord::Ignored,
            point_rounding: PointRounding::Floor,
            layer_rounding: LayerRounding::HalfUp,
            ..Self::GFX1035.rules
        },
    };

    /// Every profile.
    pub const ALL: [Self; 4] = [Self::GFX1035, Self::H200, Self::EXACT, Self::LAVAPIPE];

    /// The profile of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name == name)
    }

    /// What the value of a rule rests on in this profile.
    #[must_use]
    pub fn evidence(&self, rule: RuleId) -> Evidence {
        match self.name {
            "gfx1035" => gfx1035(rule),
            "h200" => h200(rule),
            "lavapipe" => lavapipe(rule),
            "as-submitted" => {
                Evidence { kind: EvidenceKind::Definition, source: "the submitted change's description of itself" }
            }
            _ => Evidence {
                kind: EvidenceKind::Definition,
                source: "the Vulkan specification's texel filtering equations in FP32 without quantization, and its preferred choices",
            },
        }
    }
}

const fn measured(source: &'static str) -> Evidence {
    Evidence { kind: EvidenceKind::Measured, source }
}

const fn documented(source: &'static str) -> Evidence {
    Evidence { kind: EvidenceKind::Documented, source }
}

const fn driver(source: &'static str) -> Evidence {
    Evidence { kind: EvidenceKind::Driver, source }
}

const fn inferred(source: &'static str) -> Evidence {
    Evidence { kind: EvidenceKind::Inferred, source }
}

fn gfx1035(rule: RuleId) -> Evidence {
    match rule {
        RuleId::NanCoordinate => inferred("not measured; as the H200 does"),
        RuleId::DenormalCoordinate => inferred("not measured; as the H200 does"),
        RuleId::IntegerConversion => inferred("not measured; as the H200 does"),
        RuleId::AddressStage => measured("gfx1035 review: wrap and mirror match by index at 1/64-texel steps"),
        RuleId::OffsetStage => inferred("not measured; as the H200 does"),
        RuleId::SampleGroup => inferred("a texture unit filters each sample of a quad on its own; not measured"),
        RuleId::CoordinateStep => measured(
            "gfx1035 review: every address mode matches without one at 1/64-texel steps; finer steps are not measured",
        ),
        RuleId::CoordinateProduct => {
            measured("gfx1035 review: matches at 1/64-texel steps, where FP32 is exact; rounding is not measured")
        }

        RuleId::SubtexelBits => measured("gfx1035 review: weights in steps of 1/256 in a 1/1024-texel sweep"),
        RuleId::PointRounding => measured(
            "gfx1035 review: k - 2^-12 and k - 2^-20 read texel k with TRUNC_COORD 0; steps of 1/256 by vkd3d-proton's sweeps on AMD",
        ),
        RuleId::WeightRounding => measured("gfx1035 review: 1.5/256 and 2.5/256 give 2/256, 3.5/256 gives 4/256"),
        RuleId::TruncCoord => {
            driver("Mesa ac_gpu_info conformant_trunc_coord and PAL truncateCoords; measured for point, for linear not")
        }
        RuleId::EdgeClamp => measured("gfx1035 review: bilinear edge matches clamped indices at 1/64-texel steps"),
        RuleId::HalfBorder => measured("gfx1035 review: half border matches at 1/64-texel steps"),
        RuleId::ZFilterRule => measured("gfx1035 review: Z_FILTER 1 with bilinear XY; AMD ISA text for 0 and 2"),
        RuleId::MipFilterBits => measured("gfx1035 review: bits 25:24 change nothing on a 2D image, 27:26 do"),
        RuleId::WeightScheme => {
            measured("gfx1035 review: products of axis weights match bit for bit at 1/64-texel steps")
        }
        RuleId::Accumulation => inferred(
            "FP32 matches where any reasonable datapath is exact; rounding with wide exponents is not measured",
        ),
        RuleId::ResultRounding => measured(
            "gfx1035 review: 0.49609375 and the like come back whole; results of more than 8 bits are not measured",
        ),
        RuleId::ZeroWeightTaps => inferred("not measured; as the H200 does"),
        RuleId::MinMaxTaps => inferred("Vulkan's and D3D's rule; not measured"),
        RuleId::LodRounding => measured("gfx1035 review: LOD 0.49 blends with 125/256"),
        RuleId::LodRoundingStage => inferred("published points have no bias and no fractional clamp"),
        RuleId::ExplicitLodBias => inferred("Vulkan and D3D add it; whether the hardware does is not measured"),
        RuleId::MipNearest => measured("gfx1035 review: MIP_FILTER 1 switches to level 1 at LOD 0.5"),
        RuleId::MipNearestLod => inferred("one conversion for both uses, as for coordinates; not measured"),
        RuleId::MinifyFrom => documented("AMD ISA text: magnification when the LOD is at most 0"),
        RuleId::BorderSwizzle => {
            measured("gfx1035 review: XYZ1 with transparent black gives W = 1, X = ZERO with white gives 0")
        }
        RuleId::BorderMissingChannel => inferred("not measured for W through a selector"),
        RuleId::BorderPrecision => inferred("not measured for table colours"),
        RuleId::MipPointClamp => inferred(
            "radeonsi notes that MIP_POINT_PRECLAMP 1 clamps before the selection; what 0 does to a fraction is not measured",
        ),
        RuleId::PerfFields => {
            inferred("PAL says that non-zero lets the hardware read one level or slice; from which LOD on is not known")
        }
        RuleId::LodDerivatives => {
            inferred("D3D's and Vulkan's definition; the hardware's approximation is not measured")
        }
        RuleId::QuadDerivatives => inferred("one LOD a quad is what texture units are built for; not measured"),
        RuleId::AnisotropyRule => documented(
            "PAL's anisoThreshold: min(2^ceil(log2(ratio - threshold)), limit) probes; where they lie is inferred",
        ),
        RuleId::CubeCorner => inferred("Vulkan's recommendation; not measured"),
        RuleId::CubeDirection => inferred(
            "the instructions take s, t and face; what a shader divides with is its own, and the quotient is the exact one",
        ),
        RuleId::LayerRounding => {
            driver("Mesa inserts round-to-even on the layer for GFX10 because TRUNC_COORD would truncate it")
        }
    }
}

fn h200(rule: RuleId) -> Evidence {
    match rule {
        RuleId::HalfBorder => inferred("Vulkan has no half border"),
        RuleId::ZFilterRule | RuleId::MipFilterBits | RuleId::TruncCoord => {
            inferred("a field of S# that Vulkan does not have; taken as its meaning on GFX10.3, or as without effect")
        }
        RuleId::BorderSwizzle => inferred("the border colour's order under a view swizzle is not measured"),
        RuleId::MipNearestLod | RuleId::WeightScheme | RuleId::Accumulation | RuleId::ResultRounding => measured(
            "H200, driver 580.159.04: 0 of 16,384 samples differ in every configuration with near and wide exponents",
        ),
        RuleId::AddressStage | RuleId::OffsetStage | RuleId::SampleGroup => measured(
            "H200, driver 580.159.04: 0 samples differ with fixed-point coordinates, which are folded and moved by index",
        ),
        RuleId::NanCoordinate | RuleId::DenormalCoordinate | RuleId::IntegerConversion => {
            measured("H200, driver 580.159.04: special coordinates in every address mode")
        }
        RuleId::CoordinateStep | RuleId::CoordinateProduct => {
            measured("H200, driver 580.159.04: sizes 100x37 and 7x5; 3 to 143 samples differ without the step")
        }
        RuleId::SubtexelBits | RuleId::WeightRounding => measured("H200, driver 580.159.04: sweep at 1/4096 texel"),
        RuleId::PointRounding => measured("H200, driver 580.159.04: points within 2^-24 of texel edges"),
        RuleId::EdgeClamp | RuleId::MinMaxTaps => measured("H200, driver 580.159.04: visible in 3D and in min/max"),
        RuleId::ZeroWeightTaps => measured("H200, driver 580.159.04: images with infinities and NaN"),
        RuleId::LodRounding
        | RuleId::LodRoundingStage
        | RuleId::ExplicitLodBias
        | RuleId::MipNearest
        | RuleId::MinifyFrom => measured("H200, driver 580.159.04: LOD sweep at 1/4096, bias 0.75, clamps 0.6 to 3.3"),
        RuleId::BorderMissingChannel | RuleId::BorderPrecision => {
            measured("H200, driver 580.159.04: custom border (0.3, 2.5, 700)")
        }
        RuleId::MipPointClamp => measured("H200, driver 580.159.04: clamps 0.6 to 3.3"),
        RuleId::PerfFields => inferred("fields of S# that Vulkan does not have"),
        RuleId::LodDerivatives => measured(
            "H200, driver 580.159.04: of 65,536 samples 0 differ for one or two derivatives on 256x256, 100x37 and 256 texels, 7 and 4 \
             in 3D",
        ),
        RuleId::AnisotropyRule => measured(
            "H200, driver 580.159.04: sweeps of one texel through 57 footprints, 16,384 random ones and every clamp: 0 differ with near \
             exponents; 1 to 2 in 100 with exponents from 0 to 29",
        ),
        RuleId::QuadDerivatives => inferred("Vulkan's definition; not measured"),
        RuleId::CubeCorner => {
            measured("H200, driver 580.159.04: 2,655 corner samples on a cube's last level, each weight")
        }
        RuleId::CubeDirection => measured(
            "H200, driver 580.159.04: 7,306 of 294,912 directions beside steps of 1/256 texel differ, by the last bit of the \
             reciprocal, which is not always the nearest",
        ),
        RuleId::LayerRounding => measured("H200, driver 580.159.04: half up fails on 883 samples"),
    }
}

fn lavapipe(rule: RuleId) -> Evidence {
    match rule {
        RuleId::NanCoordinate | RuleId::DenormalCoordinate | RuleId::IntegerConversion => measured(
            "Mesa 22.3.6, LLVM 15, AVX2: 0 samples of special coordinates, LODs and layers differ in any address mode",
        ),
        RuleId::EdgeClamp | RuleId::AddressStage | RuleId::OffsetStage => measured(
            "Mesa 22.3.6, LLVM 15, AVX2: 0 samples differ in any address mode, on sizes that are powers of two and others",
        ),
        RuleId::Accumulation => measured(
            "Mesa 22.3.6, LLVM 15, AVX2 and FMA: 0 samples differ with texels of all exponents; without FMA a CPU has fp32-difference",
        ),
        RuleId::ZeroWeightTaps => measured("Mesa 22.3.6: 0 samples of images with infinities and NaN differ"),
        RuleId::MipNearest | RuleId::MinifyFrom | RuleId::LodRounding | RuleId::LodRoundingStage => {
            measured("Mesa 22.3.6: 0 samples of LOD sweeps with ties, biases and limits differ")
        }
        RuleId::LodDerivatives => measured("Mesa 22.3.6: 0 samples with given derivatives differ"),
        RuleId::BorderMissingChannel | RuleId::BorderPrecision => {
            measured("Mesa 22.3.6: 0 samples with built-in and custom border colours differ")
        }
        RuleId::CubeCorner | RuleId::CubeDirection => {
            measured("Mesa 22.3.6: 0 samples of faces, directions, seams and corners differ")
        }
        RuleId::SampleGroup => measured(
            "Mesa 22.3.6, vectors of 256 bits: 0 samples differ with filters by LOD, non-finite texels and corners, partly filled \
             groups included; vectors of 128 bits would be groups of four",
        ),
        RuleId::AnisotropyRule => measured(
            "Mesa 22.3.6: 0 of 24,576 samples differ in a capture, each footprint's texels and weights included",
        ),
        RuleId::LayerRounding => measured("Mesa 22.3.6: 0 samples of array layers beside halves differ"),
        RuleId::MinMaxTaps => inferred("lavapipe has no reduction for the formats that are captured"),
        RuleId::HalfBorder => inferred("Vulkan has no half border"),
        RuleId::ZFilterRule | RuleId::MipFilterBits | RuleId::TruncCoord | RuleId::PerfFields => {
            inferred("a field of S# that Vulkan does not have; taken as its meaning on GFX10.3, or as without effect")
        }
        RuleId::BorderSwizzle => measured("Mesa 22.3.6: 0 samples with a border under a view swizzle differ"),
        RuleId::QuadDerivatives => inferred("captures give derivatives; not measured"),
        RuleId::ExplicitLodBias | RuleId::MipNearestLod | RuleId::MipPointClamp => {
            measured("Mesa 22.3.6: 0 samples with biases and limits differ")
        }
        RuleId::CoordinateStep
        | RuleId::CoordinateProduct
        | RuleId::SubtexelBits
        | RuleId::PointRounding
        | RuleId::WeightRounding
        | RuleId::WeightScheme
        | RuleId::ResultRounding => measured("Mesa 22.3.6: 0 samples differ in FP32 without any grid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_consistent_and_found_by_name() {
        for profile in Profile::ALL {
            assert_eq!(profile.rules.inconsistency(), None, "{}", profile.name);
            assert_eq!(Profile::by_name(profile.name), Some(profile.clone()));
            for &rule in RuleId::ALL {
                assert!(profile.evidence(rule).source.len() > 10);
            }
        }
        assert_eq!(Profile::by_name("gfx1100"), None);
    }
}
