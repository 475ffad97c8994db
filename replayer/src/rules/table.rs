//! The table of rules: each rule is one named choice in the sampling model, with the values it can take.
//!
//! Everything that varies a rule (`explain`, `coverage`, `fit`, the profiles) goes through this table, so a rule is added in
//! one place. What a value means in arithmetic is stated where it is applied, in [`crate::reference`].

macro_rules! rules {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident : $type:ident = $name:literal {
            $( $(#[doc = $vdoc:literal])+ $variant:ident = $vname:literal, )+
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $type { $( $(#[doc = $vdoc])+ $variant, )+ }

            impl $type {
                /// Every value, in the order of the table.
                pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
                const NAMES: &'static [&'static str] = &[$($vname,)+];
                const DOCS: &'static [&'static [&'static str]] = &[$(&[$($vdoc,)+],)+];
            }
        )+

        /// A choice for every rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct Rules { $( $(#[doc = $doc])+ pub $field: $type, )+ }

        /// Names a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RuleId { $( $(#[doc = $doc])+ $type, )+ }

        impl RuleId {
            /// Every rule, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$type,)+];

            /// The rule's name on the command line and in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$type => $name,)+ }
            }

            /// What the rule is about, in lines.
            #[must_use]
            pub fn doc(self) -> &'static [&'static str] {
                match self { $(Self::$type => &[$($doc,)+],)+ }
            }

            /// The names of the rule's values.
            #[must_use]
            pub fn value_names(self) -> &'static [&'static str] {
                match self { $(Self::$type => $type::NAMES,)+ }
            }

            /// What the rule's values mean, in lines.
            #[must_use]
            pub fn value_docs(self) -> &'static [&'static [&'static str]] {
                match self { $(Self::$type => $type::DOCS,)+ }
            }
        }

        impl Rules {
            /// Index of the rule's value among [`RuleId::value_names`].
            #[must_use]
            pub fn value(&self, rule: RuleId) -> usize {
                match rule { $(RuleId::$type => self.$field as usize,)+ }
            }

            /// The same rules with one value changed; `None` when the rule has no value of that index.
            #[must_use]
            pub fn with(mut self, rule: RuleId, value: usize) -> Option<Self> {
                match rule { $(RuleId::$type => self.$field = *$type::ALL.get(value)?,)+ }
                Some(self)
            }
        }
    };
}

rules! {
    /// What a NaN coordinate counts as.
    nan_coordinate: NanCoordinate = "nan-coordinate" {
        /// Zero.
        Zero = "zero",
        /// The lowest coordinate.
        Lowest = "lowest",
        /// What FP32 arithmetic makes of it. Limits drop it: the last texel for the edge modes (the first one for
        /// CLAMP_LAST_TEXEL and point), the first for MIRROR. Elsewhere its texel is border, or the first one where the image
        /// repeats, and a linear weight is NaN. A LOD is limited from above, then from below; without a limit it names level
        /// 0, minified.
        Kept = "kept",
    }
    /// What a denormal coordinate counts as.
    denormal_coordinate: DenormalCoordinate = "denormal-coordinate" {
        /// Zero, whatever its sign.
        Zero = "zero",
        /// A number of its sign, which is all that can be seen of it; it is computed with as the smallest normal number.
        Kept = "kept",
    }
    /// How a number that no 32-bit integer holds becomes one: a texel coordinate, a level of detail, a layer.
    integer_conversion: IntegerConversion = "integer-conversion" {
        /// It is limited before: to 2^22 texels (2^15 on a grid after an FP32 product, where the mode does not repeat), 64 levels,
        /// 16384 layers.
        Limited = "limited",
        /// To -2^31, as x86 converts, infinities and NaN included, unless a limit of the coordinate's own comes first. A
        /// linear weight beside an infinity is NaN. A LOD has its upper limit only below 14. Coordinates of periods that are
        /// no power of two are limited as before, unless the coordinate itself is folded.
        Lowest = "lowest",
    }
    /// The grid to which a normalized coordinate is floored before it is multiplied by the size. For sizes of which it does
    /// not resolve 1/256 of a texel the next finer one that does, up to 2^-22.
    coordinate_step: CoordinateStep = "coordinate-step" {
        /// It is used as it is.
        None = "none",
        /// Multiples of 2^-20.
        Bits20 = "2^-20",
        /// Multiples of 2^-21.
        Bits21 = "2^-21",
        /// Multiples of 2^-22.
        Bits22 = "2^-22",
    }
    /// How a normalized coordinate is multiplied by the size.
    coordinate_product: CoordinateProduct = "coordinate-product" {
        /// In FP32, rounded to nearest even.
        Fp32 = "fp32",
        /// Without rounding.
        Exact = "exact",
    }
    /// Fraction bits of the texel coordinate in fixed point, for weights and for the choice of texels.
    subtexel_bits: SubtexelBits = "subtexel-bits" {
        /// No fixed point: the FP32 fraction is the weight.
        None = "none",
        /// 4 bits.
        Four = "4",
        /// 5 bits.
        Five = "5",
        /// 6 bits.
        Six = "6",
        /// 7 bits.
        Seven = "7",
        /// 8 bits.
        Eight = "8",
    }
    /// How a point-sampled coordinate goes to fixed point, before its fraction is dropped.
    point_rounding: PointRounding = "point-rounding" {
        /// Down: the texel that holds the coordinate.
        Floor = "floor",
        /// To the nearest step, ties to even: just below a texel's edge reads the next texel.
        NearestEven = "nearest-even",
        /// To the nearest step, ties up.
        HalfUp = "half-up",
    }
    /// How a linearly filtered coordinate goes to fixed point.
    weight_rounding: WeightRounding = "weight-rounding" {
        /// Down.
        Floor = "floor",
        /// To the nearest step, ties to even.
        NearestEven = "nearest-even",
        /// To the nearest step, ties up.
        HalfUp = "half-up",
    }
    /// Where S#.TRUNC_COORD makes the conversion to fixed point round down.
    trunc_coord: TruncCoord = "trunc-coord" {
        /// Everywhere: point, linear, gather and array layer.
        Everywhere = "everywhere",
        /// For point sampling only.
        PointOnly = "point-only",
        /// Nowhere: the bit has no effect.
        Ignored = "ignored",
    }
    /// How CLAMP_LAST_TEXEL and MIRROR_ONCE_LAST_TEXEL keep taps inside the image.
    edge_clamp: EdgeClamp = "edge-clamp" {
        /// Each tap's index is clamped; the weights stay.
        Index = "index",
        /// The position is clamped to the first and last texel's centre after the offset is added, so that the weight outside
        /// is 0; MIRROR_ONCE_LAST_TEXEL does so after mirroring. A gather's position is not clamped.
        Position = "position",
        /// The coordinate (for MIRROR_ONCE_LAST_TEXEL its magnitude) with the offset is limited to the size; half a texel
        /// less it is limited to 0, and the second tap's index to the last texel. A gather's coordinate is limited to 0 and the
        /// size by CLAMP_LAST_TEXEL, and half a texel less and more is cut to the taps' indices; by MIRROR_ONCE_LAST_TEXEL its
        /// indices are clamped.
        Coordinate = "coordinate",
    }
    /// Where the periodic modes (WRAP and MIRROR) are applied.
    address_stage: AddressStage = "address-stage" {
        /// To each tap's index.
        Texel = "texel",
        /// To the normalized coordinate: the fraction for WRAP, the distance to the nearest even number for MIRROR, whose taps
        /// are then clamped by index. WRAP on axes of powers of two (in the view's first
        /// level) stays with the index.
        Coordinate = "coordinate",
    }
    /// Where a texel offset is added.
    offset_stage: OffsetStage = "offset-stage" {
        /// To each tap's index.
        Texel = "texel",
        /// To the coordinate in FP32: in texels, or divided by the size where the coordinate is folded. Point sampling adds it
        /// to the index unless the coordinate is folded or clamped to an edge.
        Coordinate = "coordinate",
    }
    /// How the half-border modes limit the coordinate.
    half_border: HalfBorder = "half-border" {
        /// To [0, size] before the half texel is taken off: at most half of the weight is border, point never sees it.
        CoordinateClamp = "coordinate-clamp",
        /// Not at all: as the full border modes.
        AsBorder = "as-border",
    }
    /// Whether S#.Z_FILTER is in force.
    z_filter: ZFilterRule = "z-filter" {
        /// 0 follows the XY filter, 1 is point, 2 is linear.
        Own = "own",
        /// The slices always follow the XY filter.
        FollowsXy = "follows-xy",
    }
    /// The bits of S# word 2 that hold the mip filter.
    mip_filter_bits: MipFilterBits = "mip-filter-bits" {
        /// 27:26.
        Bits27To26 = "27:26",
        /// 25:24.
        Bits25To24 = "25:24",
    }
    /// How the taps' weights are made from the weights along the axes.
    weight_scheme: WeightScheme = "weight-scheme" {
        /// Products of the axes' weights.
        Product = "product",
        /// Integers of 1/256 that always add up to the whole: a total is split in two, rounded half up, axis by axis.
        Totals = "totals",
    }
    /// How weighted taps are added up.
    accumulation: Accumulation = "accumulation" {
        /// In FP32, a (1-w) + b w along x, then y, z, levels; each operation rounded to nearest even.
        Fp32 = "fp32",
        /// In FP32, a + (b-a) w in the same order; each operation rounded to nearest even.
        Difference = "fp32-difference",
        /// As before, the product and the sum rounded once together.
        DifferenceFused = "fp32-difference-fused",
        /// In fixed point: taps of a slice are cut to 12 fraction bits below the largest one's exponent.
        Aligned12 = "aligned-12",
        /// As before with 13 fraction bits.
        Aligned13 = "aligned-13",
        /// As before with 14 fraction bits.
        Aligned14 = "aligned-14",
        /// As before with 15 fraction bits.
        Aligned15 = "aligned-15",
        /// As before with 16 fraction bits.
        Aligned16 = "aligned-16",
    }
    /// How the filtered value is rounded at the end.
    result_rounding: ResultRounding = "result-rounding" {
        /// To FP32.
        Fp32 = "fp32",
        /// To 10 significant bits, half up; below 2^-14 in steps of 2^-23.
        HalfUp10 = "half-up-10",
        /// To 11 significant bits (FP16), half up; below 2^-14 in steps of 2^-24.
        HalfUp11 = "half-up-11",
        /// To 11 significant bits (FP16), ties to even; below 2^-14 in steps of 2^-24.
        NearestEven11 = "nearest-even-11",
        /// Cut to 11 significant bits (FP16); below 2^-14 in steps of 2^-24.
        Cut11 = "cut-11",
        /// To 12 significant bits, half up; below 2^-14 in steps of 2^-25.
        HalfUp12 = "half-up-12",
    }
    /// Taps whose weight is 0.
    zero_weight_taps: ZeroWeightTaps = "zero-weight-taps" {
        /// Are left out: an infinity or NaN there does not matter. What counts is the weight along each axis, also where the
        /// tap's own integer weight has come to 0.
        LeftOut = "left-out",
        /// Are multiplied by 0: an infinity or NaN there gives NaN.
        Included = "included",
    }
    /// Which taps a min or max filter looks at.
    minmax_taps: MinMaxTaps = "minmax-taps" {
        /// Those whose weight (the tap's integer weight, where there is one) is not 0.
        Weighted = "weighted",
        /// All of the footprint.
        All = "all",
    }
    /// How the level of detail goes to fixed point (8 fraction bits).
    lod_rounding: LodRounding = "lod-rounding" {
        /// It does not.
        None = "none",
        /// Down.
        Floor = "floor",
        /// Toward zero.
        TowardZero = "toward-zero",
        /// To the nearest step, ties to even.
        NearestEven = "nearest-even",
        /// To the nearest step, ties up.
        HalfUp = "half-up",
    }
    /// When the level of detail goes to fixed point.
    lod_rounding_stage: LodRoundingStage = "lod-rounding-stage" {
        /// As an operand, before bias and clamps.
        Operand = "operand",
        /// At the end, after bias and clamps.
        Final = "final",
    }
    /// Whether S#.LOD_BIAS is added to an explicit level of detail.
    explicit_lod_bias: ExplicitLodBias = "explicit-lod-bias" {
        /// It is.
        Added = "added",
        /// It is not.
        Ignored = "ignored",
    }
    /// Which level a point mip filter takes halfway between two.
    mip_nearest: MipNearest = "mip-nearest" {
        /// The smaller image: floor(lod + 0.5).
        HalfUp = "half-up",
        /// The larger image: ceil(lod + 0.5) - 1.
        HalfDown = "half-down",
        /// The one with the even number; the smaller image for a LOD from derivatives that has neither bias nor limits.
        NearestEven = "nearest-even",
    }
    /// The level of detail that a point mip filter rounds.
    mip_nearest_lod: MipNearestLod = "mip-nearest-lod" {
        /// The one in fixed point, as for blending.
        Rounded = "rounded",
        /// The one before the final conversion to fixed point.
        Unrounded = "unrounded",
    }
    /// From which level of detail on XY_MIN_FILTER is used instead of XY_MAG_FILTER.
    minify_from: MinifyFrom = "minify-from" {
        /// Above 0.
        AboveZero = "above-zero",
        /// At 0 and above.
        AtZero = "at-zero",
    }
    /// Whether the border colour goes through DST_SEL.
    border_swizzle: BorderSwizzle = "border-swizzle" {
        /// As texels do, constant selectors included.
        DstSel = "dst-sel",
        /// It does not: stored R, G, B, A are returned as X, Y, Z, W.
        None = "none",
    }
    /// The border's value in a channel that the format lacks.
    border_missing_channel: BorderMissingChannel = "border-missing-channel" {
        /// The border colour's own.
        Border = "border",
        /// 1, as a texel's.
        One = "one",
    }
    /// Precision of a border colour from the table.
    border_precision: BorderPrecision = "border-precision" {
        /// FP32.
        Fp32 = "fp32",
        /// Cut to FP16: 11 significant bits, steps of 2^-24 below 2^-14, at most 65504.
        Cut16 = "cut-fp16",
        /// FP32, at least 0 where the format's channels are floats, which have no sign.
        Unsigned = "fp32-unsigned",
    }
    /// How an array layer operand becomes a layer (TRUNC_COORD aside), before it is clamped to the view.
    layer_rounding: LayerRounding = "layer-rounding" {
        /// To the nearest, ties to even.
        NearestEven = "nearest-even",
        /// To the nearest, ties up.
        HalfUp = "half-up",
        /// Down.
        Floor = "floor",
    }
    /// When a point mip filter's LOD is clamped.
    mip_point_clamp: MipPointClamp = "mip-point-clamp" {
        /// As S#.MIP_POINT_PRECLAMP says: before a level is chosen when it is set, else the chosen level is clamped.
        ByField = "by-field",
        /// Before a level is chosen, always.
        Before = "before",
    }
    /// What PERF_MIP and PERF_Z change.
    perf_fields: PerfFields = "perf-fields" {
        /// Nothing: levels and slices are blended as with 0.
        Ignored = "ignored",
    }
    /// The length of the footprint's sides, for a LOD from derivatives.
    lod_derivatives: LodDerivatives = "lod-derivatives" {
        /// The length of the derivative vector in texels.
        Length = "length",
        /// Its largest component.
        Largest = "largest",
        /// An octagon around the footprint: the largest of both derivatives' lengths and of 11/16 of their sum and
        /// difference; a length is the largest component, 11/32 of the next and 1/4 of the smallest. Mantissas have 10 bits,
        /// and the logarithm, looked up by 8 of them, is in steps of 1/256.
        Octagon = "octagon",
        /// The length of the derivative vector; half of its square's logarithm, which is linear between powers of two. An
        /// infinite or NaN square counts as 0.
        LinearLogarithm = "linear-logarithm",
    }
    /// Which differences in a 2x2 quad are the derivatives of a sample without given ones.
    quad_derivatives: QuadDerivatives = "quad-derivatives" {
        /// Those of the quad's first row and first column, for all four.
        Coarse = "coarse",
        /// Those of the sample's own row and column.
        Fine = "fine",
    }
    /// How an anisotropic filter covers its footprint.
    anisotropy: AnisotropyRule = "anisotropy" {
        /// By a power of two of equally weighted probes along the longer side, at the LOD of a probe's share.
        PowersOfTwo = "powers-of-two",
        /// By pairs of probes a texel apart along the octagon's longest axis, at the LOD of the footprint's width, which is
        /// its area over its length. Weights are integers; the outermost pair has what is left. ANISO_THRESHOLD has no
        /// effect, and views of one or three axes are filtered as without anisotropy.
        Pairs = "pairs",
        /// By an ellipse whose texels have weights that fall with the distance, in one level. Its axes are the differences of
        /// the coordinates in four neighbouring samples, whatever derivatives are given.
        Ellipse = "ellipse",
    }
    /// The value beyond a cube's corner, where no texel is.
    cube_corner: CubeCorner = "cube-corner" {
        /// The average of the three texels around the corner.
        Average = "average",
        /// The face's own texel at the corner.
        OwnFace = "own-face",
        /// Nothing; its integer weight goes to the three texels around the corner: a third, rounded to the nearest, to each
        /// of the two on other faces, and the rest to the face's own.
        Shares = "shares",
        /// Nothing; a third of its weight, in FP32, goes to each of the three texels around the corner, and the four products
        /// of texels and weights are added up, in every sample of the group. A gather returns the average.
        Thirds = "thirds",
    }
    /// How a direction becomes a place on a cube's face.
    cube_direction: CubeDirection = "cube-direction" {
        /// The quotient by the major coordinate, rounded once to FP32.
        Quotient = "quotient",
        /// The product with the FP32 reciprocal of the major coordinate, rounded to FP32; halved and centred without
        /// rounding.
        Reciprocal = "reciprocal",
        /// The product with the FP32 quotient of a half by the major coordinate, rounded to FP32, then a half is added, rounded.
        HalfQuotient = "half-quotient",
    }
    /// How many neighbouring samples take one way: where one of them blends levels, filters linearly or touches a cube's
    /// corner, all of them do, with weights of 0 or 1 where their own way has none.
    sample_group: SampleGroup = "sample-group" {
        /// Each sample takes its own.
        One = "one",
        /// Four.
        Four = "four",
        /// Eight.
        Eight = "eight",
    }
}
