//! The codes that descriptor fields hold, under AMD's names.
//!
//! Every type here covers all codes of its field, reserved ones too, so decoding never fails and never loses a bit.

macro_rules! codes {
    ($(
        $(#[$doc:meta])*
        $name:ident: $width:literal bits { $($(#[$variant_doc:meta])* $variant:ident = $amd:literal,)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Number of bits of a code.
            pub const WIDTH: u32 = $width;

            /// Every code, in order.
            pub const ALL: [Self; 1 << $width] = [$(Self::$variant,)*];

            /// Codes and their AMD names, in order.
            pub const NAMES: &'static [(u32, &'static str)] = &[$((Self::$variant as u32, $amd),)*];

            #[doc = concat!("The meaning of the low ", stringify!($width), " bits.")]
            #[must_use]
            pub const fn from_bits(bits: u32) -> Self {
                Self::ALL[(bits & ((1 << $width) - 1)) as usize]
            }

            /// The code.
            #[must_use]
            pub const fn bits(self) -> u32 {
                self as u32
            }

            /// AMD's name, without the prefix of its register header.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $amd,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

codes! {
    /// CLAMP_X, _Y, _Z: what happens to coordinates outside the image.
    Clamp: 3 bits {
        /// Repeats.
        Wrap = "WRAP",
        /// Repeats, mirrored every other time.
        Mirror = "MIRROR",
        /// Edge texel.
        ClampLastTexel = "CLAMP_LAST_TEXEL",
        /// Mirrored once about zero, then the edge texel.
        MirrorOnceLastTexel = "MIRROR_ONCE_LAST_TEXEL",
        /// Clamped to the edge; a linear filter blends at most half of the border in.
        ClampHalfBorder = "CLAMP_HALF_BORDER",
        /// Mirrored once about zero, then as [`Clamp::ClampHalfBorder`].
        MirrorOnceHalfBorder = "MIRROR_ONCE_HALF_BORDER",
        /// Border colour.
        ClampBorder = "CLAMP_BORDER",
        /// Mirrored once about zero, then the border colour.
        MirrorOnceBorder = "MIRROR_ONCE_BORDER",
    }

    /// MAX_ANISO_RATIO.
    AnisoRatio: 3 bits {
        /// 1:1.
        X1 = "1",
        /// 2:1.
        X2 = "2",
        /// 4:1.
        X4 = "4",
        /// 8:1.
        X8 = "8",
        /// 16:1.
        X16 = "16",
        /// Reserved.
        Reserved5 = "RESERVED_5",
        /// Reserved.
        Reserved6 = "RESERVED_6",
        /// Reserved.
        Reserved7 = "RESERVED_7",
    }

    /// DEPTH_COMPARE_FUNC: which relation of reference to texel gives 1.
    CompareFunc: 3 bits {
        /// Always 0.
        Never = "NEVER",
        /// reference < texel.
        Less = "LESS",
        /// reference = texel.
        Equal = "EQUAL",
        /// reference <= texel.
        LessEqual = "LESSEQUAL",
        /// reference > texel.
        Greater = "GREATER",
        /// reference <> texel.
        NotEqual = "NOTEQUAL",
        /// reference >= texel.
        GreaterEqual = "GREATEREQUAL",
        /// Always 1.
        Always = "ALWAYS",
    }

    /// FILTER_MODE: how the taps are reduced to a result.
    FilterMode: 2 bits {
        /// Weighted sum.
        Blend = "BLEND",
        /// Smallest of each channel.
        Min = "MIN",
        /// Largest of each channel.
        Max = "MAX",
        /// Reserved.
        Reserved3 = "RESERVED_3",
    }

    /// XY_MAG_FILTER, XY_MIN_FILTER.
    XyFilter: 2 bits {
        /// Nearest texel.
        Point = "POINT",
        /// 2×2 texels (two in 1D).
        Bilinear = "BILINEAR",
        /// Anisotropic over nearest texels.
        AnisoPoint = "ANISO_POINT",
        /// Anisotropic over bilinear samples.
        AnisoBilinear = "ANISO_BILINEAR",
    }

    /// Z_FILTER: the filter along the third axis of a 3D image.
    ZFilter: 2 bits {
        /// Follows the XY filter in force.
        None = "NONE",
        /// Nearest slice.
        Point = "POINT",
        /// Two slices.
        Linear = "LINEAR",
        /// Reserved.
        Reserved3 = "RESERVED_3",
    }

    /// MIP_FILTER: the choice among levels.
    MipFilter: 2 bits {
        /// BASE_LEVEL only.
        None = "NONE",
        /// Nearest level.
        Point = "POINT",
        /// Two levels.
        Linear = "LINEAR",
        /// Nearest level, adjusted for anisotropy.
        PointAnisoAdj = "POINT_ANISO_ADJ",
    }

    /// BORDER_COLOR_TYPE.
    BorderColorType: 2 bits {
        /// (0, 0, 0, 0).
        TransparentBlack = "TRANS_BLACK",
        /// (0, 0, 0, 1).
        OpaqueBlack = "OPAQUE_BLACK",
        /// (1, 1, 1, 1).
        OpaqueWhite = "OPAQUE_WHITE",
        /// The entry BORDER_COLOR_PTR of the border colour table.
        Register = "REGISTER",
    }

    /// DST_SEL_X, _Y, _Z, _W: where a channel of the result comes from.
    DstSel: 3 bits {
        /// Constant 0.
        Zero = "0",
        /// Constant 1: 1.0, or integer 1 for integer formats.
        One = "1",
        /// AMD's enum has it without saying what it does.
        NBc1 = "N_BC_1",
        /// Reserved.
        Reserved3 = "RESERVED_3",
        /// First component of the format.
        X = "X",
        /// Second component of the format.
        Y = "Y",
        /// Third component of the format.
        Z = "Z",
        /// Fourth component of the format.
        W = "W",
    }

    /// BC_SWIZZLE: the order in which the border colour's channels are stored.
    BcSwizzle: 3 bits {
        /// X, Y, Z, W.
        Xyzw = "XYZW",
        /// X, W, Y, Z.
        Xwyz = "XWYZ",
        /// W, Z, Y, X.
        Wzyx = "WZYX",
        /// W, X, Y, Z.
        Wxyz = "WXYZ",
        /// Z, Y, X, W.
        Zyxw = "ZYXW",
        /// Y, X, W, Z.
        Yxwz = "YXWZ",
        /// Reserved.
        Reserved6 = "RESERVED_6",
        /// Reserved.
        Reserved7 = "RESERVED_7",
    }

    /// TYPE of a T#.
    ImageType: 4 bits {
        /// Not an image.
        Reserved0 = "RSVD_0",
        /// Not an image.
        Reserved1 = "RSVD_1",
        /// Not an image.
        Reserved2 = "RSVD_2",
        /// Not an image.
        Reserved3 = "RSVD_3",
        /// Not an image.
        Reserved4 = "RSVD_4",
        /// Not an image.
        Reserved5 = "RSVD_5",
        /// Not an image.
        Reserved6 = "RSVD_6",
        /// Not an image.
        Reserved7 = "RSVD_7",
        /// One axis.
        D1 = "1D",
        /// Two axes.
        D2 = "2D",
        /// Three axes.
        D3 = "3D",
        /// Six faces.
        Cube = "CUBE",
        /// Layers of one axis.
        D1Array = "1D_ARRAY",
        /// Layers of two axes.
        D2Array = "2D_ARRAY",
        /// Two axes, several samples a texel.
        D2Msaa = "2D_MSAA",
        /// Layers of two axes, several samples a texel.
        D2MsaaArray = "2D_MSAA_ARRAY",
    }

    /// MAX_UNCOMPRESSED_BLOCK_SIZE, MAX_COMPRESSED_BLOCK_SIZE: DCC block sizes.
    BlockSize: 2 bits {
        /// 64 bytes.
        B64 = "64B",
        /// 128 bytes.
        B128 = "128B",
        /// 256 bytes.
        B256 = "256B",
        /// Reserved.
        Reserved3 = "RESERVED_3",
    }
}

impl Clamp {
    /// Whether coordinates outside the image can give the border colour.
    #[must_use]
    pub const fn uses_border(self) -> bool {
        matches!(self, Self::ClampHalfBorder | Self::MirrorOnceHalfBorder | Self::ClampBorder | Self::MirrorOnceBorder)
    }
}

impl AnisoRatio {
    /// The ratio as a number; `None` for reserved codes.
    #[must_use]
    pub const fn ratio(self) -> Option<u32> {
        match self {
            Self::Reserved5 | Self::Reserved6 | Self::Reserved7 => None,
            _ => Some(1 << self.bits()),
        }
    }
}

impl XyFilter {
    /// Whether the filter is one of the anisotropic ones.
    #[must_use]
    pub const fn is_aniso(self) -> bool {
        matches!(self, Self::AnisoPoint | Self::AnisoBilinear)
    }

    /// Whether each sample blends neighbouring texels.
    #[must_use]
    pub const fn is_bilinear(self) -> bool {
        matches!(self, Self::Bilinear | Self::AnisoBilinear)
    }
}

impl BcSwizzle {
    /// The letters of the order, as channel numbers (X is 0); `None` for reserved codes.
    #[must_use]
    pub const fn order(self) -> Option<[u8; 4]> {
        match self {
            Self::Xyzw => Some([0, 1, 2, 3]),
            Self::Xwyz => Some([0, 3, 1, 2]),
            Self::Wzyx => Some([3, 2, 1, 0]),
            Self::Wxyz => Some([3, 0, 1, 2]),
            Self::Zyxw => Some([2, 1, 0, 3]),
            Self::Yxwz => Some([1, 0, 3, 2]),
            Self::Reserved6 | Self::Reserved7 => None,
        }
    }
}

impl ImageType {
    /// Whether the code names an image.
    #[must_use]
    pub const fn is_image(self) -> bool {
        self.bits() >= Self::D1.bits()
    }

    /// Whether the image has layers, chosen by a coordinate of their own. A cube counts: its DEPTH is the last slice.
    #[must_use]
    pub const fn has_layers(self) -> bool {
        matches!(self, Self::Cube | Self::D1Array | Self::D2Array | Self::D2MsaaArray)
    }

    /// Whether a texel has several samples.
    #[must_use]
    pub const fn is_multisampled(self) -> bool {
        matches!(self, Self::D2Msaa | Self::D2MsaaArray)
    }
}

/// SW_MODE codes of GFX10.3 and their AMD names.
pub const SW_MODE_NAMES: &[(u32, &str)] = &[
    (0, "LINEAR"),
    (1, "256B_S"),
    (2, "256B_D"),
    (3, "256B_R"),
    (4, "4KB_Z"),
    (5, "4KB_S"),
    (6, "4KB_D"),
    (7, "4KB_R"),
    (8, "64KB_Z"),
    (9, "64KB_S"),
    (10, "64KB_D"),
    (11, "64KB_R"),
    (12, "VAR_Z"),
    (13, "VAR_S"),
    (14, "VAR_D"),
    (15, "VAR_R"),
    (16, "64KB_Z_T"),
    (17, "64KB_S_T"),
    (18, "64KB_D_T"),
    (19, "64KB_R_T"),
    (20, "4KB_Z_X"),
    (21, "4KB_S_X"),
    (22, "4KB_D_X"),
    (23, "4KB_R_X"),
    (24, "64KB_Z_X"),
    (25, "64KB_S_X"),
    (26, "64KB_D_X"),
    (27, "64KB_R_X"),
    (28, "VAR_Z_X"),
    (29, "VAR_S_X"),
    (30, "VAR_D_X"),
    (31, "VAR_R_X"),
];

/// The AMD name of a SW_MODE code.
#[must_use]
pub fn sw_mode_name(code: u8) -> Option<&'static str> {
    name_of(SW_MODE_NAMES, code.into())
}

/// FORMAT codes of GFX10 and their AMD names, which list components from the highest bits down. Codes that are used for
/// textures rarely (FMASK, some sub-byte and multimedia ones) are left out.
pub const IMG_FORMAT_NAMES: &[(u32, &str)] = &[
    (0, "INVALID"),
    (1, "8_UNORM"),
    (2, "8_SNORM"),
    (3, "8_USCALED"),
    (4, "8_SSCALED"),
    (5, "8_UINT"),
    (6, "8_SINT"),
    (7, "16_UNORM"),
    (8, "16_SNORM"),
    (9, "16_USCALED"),
    (10, "16_SSCALED"),
    (11, "16_UINT"),
    (12, "16_SINT"),
    (13, "16_FLOAT"),
    (14, "8_8_UNORM"),
    (15, "8_8_SNORM"),
    (16, "8_8_USCALED"),
    (17, "8_8_SSCALED"),
    (18, "8_8_UINT"),
    (19, "8_8_SINT"),
    (20, "32_UINT"),
    (21, "32_SINT"),
    (22, "32_FLOAT"),
    (23, "16_16_UNORM"),
    (24, "16_16_SNORM"),
    (25, "16_16_USCALED"),
    (26, "16_16_SSCALED"),
    (27, "16_16_UINT"),
    (28, "16_16_SINT"),
    (29, "16_16_FLOAT"),
    (30, "10_11_11_UNORM"),
    (31, "10_11_11_SNORM"),
    (32, "10_11_11_USCALED"),
    (33, "10_11_11_SSCALED"),
    (34, "10_11_11_UINT"),
    (35, "10_11_11_SINT"),
    (36, "10_11_11_FLOAT"),
    (37, "11_11_10_UNORM"),
    (38, "11_11_10_SNORM"),
    (39, "11_11_10_USCALED"),
    (40, "11_11_10_SSCALED"),
    (41, "11_11_10_UINT"),
    (42, "11_11_10_SINT"),
    (43, "11_11_10_FLOAT"),
    (44, "10_10_10_2_UNORM"),
    (45, "10_10_10_2_SNORM"),
    (46, "10_10_10_2_USCALED"),
    (47, "10_10_10_2_SSCALED"),
    (48, "10_10_10_2_UINT"),
    (49, "10_10_10_2_SINT"),
    (50, "2_10_10_10_UNORM"),
    (51, "2_10_10_10_SNORM"),
    (52, "2_10_10_10_USCALED"),
    (53, "2_10_10_10_SSCALED"),
    (54, "2_10_10_10_UINT"),
    (55, "2_10_10_10_SINT"),
    (56, "8_8_8_8_UNORM"),
    (57, "8_8_8_8_SNORM"),
    (58, "8_8_8_8_USCALED"),
    (59, "8_8_8_8_SSCALED"),
    (60, "8_8_8_8_UINT"),
    (61, "8_8_8_8_SINT"),
    (62, "32_32_UINT"),
    (63, "32_32_SINT"),
    (64, "32_32_FLOAT"),
    (65, "16_16_16_16_UNORM"),
    (66, "16_16_16_16_SNORM"),
    (67, "16_16_16_16_USCALED"),
    (68, "16_16_16_16_SSCALED"),
    (69, "16_16_16_16_UINT"),
    (70, "16_16_16_16_SINT"),
    (71, "16_16_16_16_FLOAT"),
    (72, "32_32_32_UINT"),
    (73, "32_32_32_SINT"),
    (74, "32_32_32_FLOAT"),
    (75, "32_32_32_32_UINT"),
    (76, "32_32_32_32_SINT"),
    (77, "32_32_32_32_FLOAT"),
    (128, "8_SRGB"),
    (129, "8_8_SRGB"),
    (130, "8_8_8_8_SRGB"),
    (131, "6E4_FLOAT"),
    (132, "5_9_9_9_FLOAT"),
    (133, "5_6_5_UNORM"),
    (134, "1_5_5_5_UNORM"),
    (135, "5_5_5_1_UNORM"),
    (136, "4_4_4_4_UNORM"),
    (140, "32_FLOAT_CLAMP"),
    (169, "BC1_UNORM"),
    (170, "BC1_SRGB"),
    (171, "BC2_UNORM"),
    (172, "BC2_SRGB"),
    (173, "BC3_UNORM"),
    (174, "BC3_SRGB"),
    (175, "BC4_UNORM"),
    (176, "BC4_SNORM"),
    (177, "BC5_UNORM"),
    (178, "BC5_SNORM"),
    (179, "BC6_UFLOAT"),
    (180, "BC6_SFLOAT"),
    (181, "BC7_UNORM"),
    (182, "BC7_SRGB"),
    (273, "MM_10_11_11_UNORM"),
    (274, "MM_10_11_11_UINT"),
];

/// The AMD name of a FORMAT code, for those of [`IMG_FORMAT_NAMES`].
#[must_use]
pub fn img_format_name(code: u16) -> Option<&'static str> {
    name_of(IMG_FORMAT_NAMES, code.into())
}

fn name_of(names: &'static [(u32, &'static str)], code: u32) -> Option<&'static str> {
    names.binary_search_by_key(&code, |(c, _)| *c).ok().and_then(|i| names.get(i)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_numbered_as_the_hardware_has_them() {
        assert_eq!(Clamp::ClampBorder.bits(), 6);
        assert_eq!(AnisoRatio::X16.bits(), 4);
        assert_eq!(CompareFunc::GreaterEqual.bits(), 6);
        assert_eq!(FilterMode::Max.bits(), 2);
        assert_eq!(XyFilter::AnisoBilinear.bits(), 3);
        assert_eq!(ZFilter::Linear.bits(), 2);
        assert_eq!(MipFilter::PointAnisoAdj.bits(), 3);
        assert_eq!(BorderColorType::Register.bits(), 3);
        assert_eq!(DstSel::X.bits(), 4);
        assert_eq!(DstSel::W.bits(), 7);
        assert_eq!(BcSwizzle::Yxwz.bits(), 5);
        assert_eq!(ImageType::D1.bits(), 8);
        assert_eq!(ImageType::D2MsaaArray.bits(), 15);
        assert_eq!(BlockSize::B256.bits(), 2);
    }

    #[test]
    fn tables_of_names_are_ascending_without_doubles() {
        for names in [SW_MODE_NAMES, IMG_FORMAT_NAMES, Clamp::NAMES, ImageType::NAMES, BcSwizzle::NAMES] {
            assert!(names.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let distinct: std::collections::BTreeSet<_> = names.iter().map(|(_, name)| name).collect();
            assert_eq!(distinct.len(), names.len());
        }
        assert_eq!(SW_MODE_NAMES.len(), 32);
        assert_eq!(sw_mode_name(27), Some("64KB_R_X"));
        assert_eq!(img_format_name(43), Some("11_11_10_FLOAT"));
        assert_eq!(img_format_name(182), Some("BC7_SRGB"));
        assert_eq!(img_format_name(127), None);
    }

    #[test]
    fn swizzle_orders_spell_their_names() {
        for swizzle in BcSwizzle::ALL {
            if let Some(order) = swizzle.order() {
                let spelt: String = order.iter().map(|&c| ['X', 'Y', 'Z', 'W'][usize::from(c)]).collect();
                assert_eq!(spelt, swizzle.name());
            }
        }
    }

    #[test]
    fn ratios_double_with_the_code() {
        assert_eq!(AnisoRatio::ALL.map(AnisoRatio::ratio)[..5], [Some(1), Some(2), Some(4), Some(8), Some(16)]);
        assert_eq!(AnisoRatio::ALL.map(AnisoRatio::ratio)[5..], [None, None, None]);
    }
}
