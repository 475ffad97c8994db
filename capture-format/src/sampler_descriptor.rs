//! S#: the sampler descriptor of GFX10.3, four words.

use crate::bits::{Shown, descriptor};

descriptor! {
    /// An S# of GFX10.3, as raw words. Reserved bits are kept.
    ///
    /// Layout: Mesa's `gfx10-rsrc.json`, PAL's `sq_img_samp_t` and AMD's ISA documents agree on it. With DERIV_ADJUST_EN set,
    /// word 2 bits 13:0 and word 3 mean something else; the table does not follow that.
    ///
    /// ```
    /// use capture_format::{Clamp, SamplerDescriptor, XyFilter};
    /// let sampler = SamplerDescriptor::from_words([0x92, 0x00ff_f000, 0x0050_0000, 0]);
    /// assert_eq!(sampler.clamp_x(), Clamp::ClampLastTexel);
    /// assert_eq!(sampler.xy_min_filter(), XyFilter::Bilinear);
    /// assert_eq!(sampler.max_lod_f32(), 4095.0 / 256.0);
    /// assert_eq!(sampler.with_clamp_x(Clamp::Wrap).words()[0], 0x90);
    /// ```
    SamplerDescriptor: 4 words;

    CLAMP_X: 0 [2:0] (codes Clamp) => clamp_x, with_clamp_x, "Addressing outside the image along x.";
    CLAMP_Y: 0 [5:3] (codes Clamp) => clamp_y, with_clamp_y, "Addressing outside the image along y.";
    CLAMP_Z: 0 [8:6] (codes Clamp) => clamp_z, with_clamp_z, "Addressing outside a 3D image along z.";
    MAX_ANISO_RATIO: 0 [11:9] (codes AnisoRatio) => max_aniso_ratio, with_max_aniso_ratio,
        "Largest anisotropy ratio.";
    DEPTH_COMPARE_FUNC: 0 [14:12] (codes CompareFunc) => depth_compare_func, with_depth_compare_func,
        "Comparison of the reference with the texel, for compare instructions.";
    FORCE_UNNORMALIZED: 0 [15:15] (flag) => force_unnormalized, with_force_unnormalized,
        "Coordinates are in texels instead of 0 to 1.";
    ANISO_THRESHOLD: 0 [18:16] (int u8, Shown::Unsigned { fraction_bits: 3 }) => aniso_threshold, with_aniso_threshold,
        "Threshold of the anisotropy ratio's fraction under which its floor sets the number of samples.";
    MC_COORD_TRUNC: 0 [19:19] (flag) => mc_coord_trunc, with_mc_coord_trunc,
        "The bilinear weight is cut to one bit (motion compensation).";
    FORCE_DEGAMMA: 0 [20:20] (flag) => force_degamma, with_force_degamma,
        "Decodes sRGB where the data format allows it.";
    ANISO_BIAS: 0 [26:21] (int u8, Shown::Unsigned { fraction_bits: 5 }) => aniso_bias, with_aniso_bias,
        "Bias of the anisotropy ratio.";
    TRUNC_COORD: 0 [27:27] (flag) => trunc_coord, with_trunc_coord,
        "The conversion of coordinates to fixed point truncates instead of rounding to nearest even.";
    DISABLE_CUBE_WRAP: 0 [28:28] (flag) => disable_cube_wrap, with_disable_cube_wrap,
        "Cube faces clamp by CLAMP_X and CLAMP_Y instead of joining.";
    FILTER_MODE: 0 [30:29] (codes FilterMode) => filter_mode, with_filter_mode,
        "How the taps are reduced to a result.";
    SKIP_DEGAMMA: 0 [31:31] (flag) => skip_degamma, with_skip_degamma, "sRGB is not decoded.";

    MIN_LOD: 1 [11:0] (int u16, Shown::Unsigned { fraction_bits: 8 }) => min_lod, with_min_lod,
        "Smallest LOD, relative to the view's BASE_LEVEL.";
    MAX_LOD: 1 [23:12] (int u16, Shown::Unsigned { fraction_bits: 8 }) => max_lod, with_max_lod,
        "Largest LOD, relative to the view's BASE_LEVEL.";
    PERF_MIP: 1 [27:24] (int u8, Shown::Plain) => perf_mip, with_perf_mip,
        "Non-zero lets the hardware fetch one level instead of blending two.";
    PERF_Z: 1 [31:28] (int u8, Shown::Plain) => perf_z, with_perf_z,
        "Non-zero lets the hardware fetch one slice instead of blending two.";

    LOD_BIAS: 2 [13:0] (signed i16, 8) => lod_bias, with_lod_bias, "Added to the LOD.";
    LOD_BIAS_SEC: 2 [19:14] (signed i8, 4) => lod_bias_sec, with_lod_bias_sec, "Added to a computed LOD.";
    XY_MAG_FILTER: 2 [21:20] (codes XyFilter) => xy_mag_filter, with_xy_mag_filter,
        "Filter along x and y when magnifying (LOD at most 0).";
    XY_MIN_FILTER: 2 [23:22] (codes XyFilter) => xy_min_filter, with_xy_min_filter,
        "Filter along x and y when minifying.";
    Z_FILTER: 2 [25:24] (codes ZFilter) => z_filter, with_z_filter, "Filter along z.";
    MIP_FILTER: 2 [27:26] (codes MipFilter) => mip_filter, with_mip_filter, "Choice among levels.";
    MIP_POINT_PRECLAMP: 2 [28:28] (flag) => mip_point_preclamp, with_mip_point_preclamp,
        "With a point MIP_FILTER the LOD is clamped before a level is chosen instead of after.";
    ANISO_OVERRIDE: 2 [29:29] (flag) => aniso_override, with_aniso_override,
        "No anisotropy when the view has a single level.";
    BLEND_PRT: 2 [30:30] (flag) => blend_prt, with_blend_prt, "Unmapped texels of a PRT blend as zero.";
    DERIV_ADJUST_EN: 2 [31:31] (flag) => deriv_adjust_en, with_deriv_adjust_en,
        "Word 3 holds adjustments of the derivatives, and word 2 bits 13:0 the border colour's fields.";

    BORDER_COLOR_PTR: 3 [11:0] (int u16, Shown::Plain) => border_color_ptr, with_border_color_ptr,
        "Entry of the border colour table, for BORDER_COLOR_TYPE 3.";
    RESERVED_3_12: 3 [29:12] (reserved), "Reserved.";
    BORDER_COLOR_TYPE: 3 [31:30] (codes BorderColorType) => border_color_type, with_border_color_type,
        "The border colour.";
}

/// Fixed-point fields as numbers, exactly.
impl SamplerDescriptor {
    /// MIN_LOD.
    #[must_use]
    pub fn min_lod_f32(self) -> f32 {
        f32::from(self.min_lod()) / 256.0
    }

    /// MAX_LOD.
    #[must_use]
    pub fn max_lod_f32(self) -> f32 {
        f32::from(self.max_lod()) / 256.0
    }

    /// LOD_BIAS, -32 to 31.99609375.
    #[must_use]
    pub fn lod_bias_f32(self) -> f32 {
        f32::from(self.lod_bias()) / 256.0
    }

    /// LOD_BIAS_SEC, -2 to 1.9375.
    #[must_use]
    pub fn lod_bias_sec_f32(self) -> f32 {
        f32::from(self.lod_bias_sec()) / 16.0
    }

    /// ANISO_THRESHOLD, 0 to 0.875.
    #[must_use]
    pub fn aniso_threshold_f32(self) -> f32 {
        f32::from(self.aniso_threshold()) / 8.0
    }

    /// ANISO_BIAS, 0 to 1.96875.
    #[must_use]
    pub fn aniso_bias_f32(self) -> f32 {
        f32::from(self.aniso_bias()) / 32.0
    }

    /// CLAMP_X, CLAMP_Y, CLAMP_Z.
    #[must_use]
    pub const fn clamp(self) -> [crate::codes::Clamp; 3] {
        [self.clamp_x(), self.clamp_y(), self.clamp_z()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::*;

    /// Words that an emulator's tests of these formats use.
    #[test]
    fn known_samplers_decode() {
        let point_edge = SamplerDescriptor::from_words([0x92, 0x00ff_f000, 0, 0]);
        assert_eq!(point_edge.clamp(), [Clamp::ClampLastTexel; 3]);
        assert_eq!((point_edge.min_lod(), point_edge.max_lod()), (0, 0xfff));
        assert_eq!(point_edge.xy_mag_filter(), XyFilter::Point);
        assert_eq!(point_edge.mip_filter(), MipFilter::None);
        assert_eq!(point_edge.z_filter(), ZFilter::None);

        let linear = SamplerDescriptor::from_words([0x8092, 0x00ff_f000, 0x0050_0000, 0]);
        assert!(linear.force_unnormalized());
        assert_eq!([linear.xy_mag_filter(), linear.xy_min_filter()], [XyFilter::Bilinear; 2]);
        assert_eq!((linear.z_filter(), linear.mip_filter()), (ZFilter::None, MipFilter::None));

        assert_eq!(SamplerDescriptor::from_words([0x49, 0, 0, 0]).clamp(), [Clamp::Mirror; 3]);
        assert_eq!(SamplerDescriptor::from_words([0xdb, 0, 0, 0]).clamp(), [Clamp::MirrorOnceLastTexel; 3]);
        let half_border = SamplerDescriptor::from_words([0x124, 0x00ff_f000, 0x0050_0000, 0x8000_0000]);
        assert_eq!(half_border.clamp(), [Clamp::ClampHalfBorder; 3]);
        assert_eq!(half_border.border_color_type(), BorderColorType::OpaqueWhite);
    }

    /// Z_FILTER is in bits 25:24 and MIP_FILTER in 27:26 of word 2; the two have been mixed up before.
    #[test]
    fn z_filter_lies_below_mip_filter() {
        let sampler = SamplerDescriptor::from_words([0, 0, 0x0600_0000, 0]);
        assert_eq!((sampler.z_filter(), sampler.mip_filter()), (ZFilter::Linear, MipFilter::Point));
    }

    #[test]
    fn every_setter_writes_its_bits() {
        let zero = SamplerDescriptor::default();
        let words = |result: Result<SamplerDescriptor, _>| result.map(SamplerDescriptor::words);
        assert_eq!(zero.with_clamp_z(Clamp::MirrorOnceBorder).words(), [7 << 6, 0, 0, 0]);
        assert_eq!(zero.with_max_aniso_ratio(AnisoRatio::X16).words(), [4 << 9, 0, 0, 0]);
        assert_eq!(zero.with_depth_compare_func(CompareFunc::Always).words(), [7 << 12, 0, 0, 0]);
        assert_eq!(words(zero.with_aniso_bias(63)), Ok([63 << 21, 0, 0, 0]));
        assert_eq!(zero.with_trunc_coord(true).words(), [1 << 27, 0, 0, 0]);
        assert_eq!(zero.with_filter_mode(FilterMode::Max).words(), [2 << 29, 0, 0, 0]);
        assert_eq!(words(zero.with_perf_z(9)), Ok([0, 9 << 28, 0, 0]));
        assert_eq!(words(zero.with_lod_bias(-1)), Ok([0, 0, 0x3fff, 0]));
        assert_eq!(words(zero.with_lod_bias_sec(-1)), Ok([0, 0, 0x3f << 14, 0]));
        assert_eq!(zero.with_deriv_adjust_en(true).words(), [0, 0, 1 << 31, 0]);
        assert_eq!(words(zero.with_border_color_ptr(0xabc)), Ok([0, 0, 0, 0xabc]));
        assert_eq!(zero.with_border_color_type(BorderColorType::Register).words(), [0, 0, 0, 3 << 30]);
        let full = SamplerDescriptor::from_words([u32::MAX; 4]);
        assert_eq!(full.with_mip_filter(MipFilter::None).words(), [u32::MAX, u32::MAX, 0xf3ff_ffff, u32::MAX]);
        assert_eq!(full.with_trunc_coord(false).words()[0], 0xf7ff_ffff);
    }

    #[test]
    fn fixed_point_fields_are_exact() {
        let sampler = SamplerDescriptor::from_words([0x0007_0000 | 63 << 21, 0x00ff_f001, 0x2000 | 0x1f << 14, 0]);
        assert_eq!((sampler.min_lod_f32(), sampler.max_lod_f32()), (1.0 / 256.0, 4095.0 / 256.0));
        assert_eq!((sampler.lod_bias(), sampler.lod_bias_f32()), (-8192, -32.0));
        assert_eq!((sampler.lod_bias_sec(), sampler.lod_bias_sec_f32()), (31, 1.9375));
        assert_eq!((sampler.aniso_threshold_f32(), sampler.aniso_bias_f32()), (0.875, 1.96875));
    }
}
