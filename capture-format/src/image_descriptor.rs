//! T#: the image descriptor of GFX10.3, eight words.

use crate::{
    bits::{FieldRangeError, Shown, descriptor},
    codes::{DstSel, IMG_FORMAT_NAMES, SW_MODE_NAMES},
};

descriptor! {
    /// A T# of GFX10.3, as raw words. Reserved bits are kept.
    ///
    /// Layout: Mesa's `gfx10-rsrc.json` (the gfx103 variants) and LLPC's register tables; PAL's structure has wider
    /// dimensions, which take in reserved bits. A descriptor of another generation must not be read with this: GFX11 has
    /// other positions and other format numbers.
    ///
    /// ```
    /// use capture_format::{ImageDescriptor, ImageType};
    /// let image = ImageDescriptor::from_words([0, 0xc240_0000, 0x800f_c00f, 0x9000_03ac, 0, 0, 0, 0]);
    /// assert_eq!((image.width(), image.height()), (64, 64));
    /// assert_eq!(image.image_type(), ImageType::D2);
    /// assert_eq!(image.format(), 36);
    /// assert_eq!(image.with_width(17).unwrap().width(), 17);
    /// ```
    ImageDescriptor: 8 words;

    BASE_ADDRESS: 0 [31:0] (int u32, Shown::Hex) => base_address_lo, with_base_address_lo,
        "Bits 39:8 of the address; swizzles with XOR keep the pipe and bank XOR in the low bits.";

    BASE_ADDRESS_HI: 1 [7:0] (int u8, Shown::Hex) => base_address_hi, with_base_address_hi,
        "Bits 47:40 of the address.";
    MIN_LOD: 1 [19:8] (int u16, Shown::Unsigned { fraction_bits: 8 }) => min_lod, with_min_lod,
        "Smallest LOD that is allowed (residency of a PRT).";
    FORMAT: 1 [28:20] (int u16, Shown::Names(IMG_FORMAT_NAMES)) => format, with_format,
        "Data and number format (GFX10's unified IMG_FMT).";
    RESERVED_1_29: 1 [29:29] (reserved), "Reserved.";
    WIDTH_LO: 1 [31:30] (int u8, Shown::Plain) => width_lo, with_width_lo, "Bits 1:0 of width - 1.";

    WIDTH_HI: 2 [11:0] (int u16, Shown::Plain) => width_hi, with_width_hi, "Bits 13:2 of width - 1.";
    RESERVED_2_12: 2 [13:12] (reserved), "Reserved.";
    HEIGHT: 2 [27:14] (int u16, Shown::PlusOne) => height_field, with_height_field, "Height - 1.";
    RESERVED_2_28: 2 [30:28] (reserved), "Reserved.";
    RESOURCE_LEVEL: 2 [31:31] (flag) => resource_level, with_resource_level,
        "Documented as 1; descriptors with 0 work as well.";

    DST_SEL_X: 3 [2:0] (codes DstSel) => dst_sel_x, with_dst_sel_x, "Source of the first channel of the result.";
    DST_SEL_Y: 3 [5:3] (codes DstSel) => dst_sel_y, with_dst_sel_y, "Source of the second channel of the result.";
    DST_SEL_Z: 3 [8:6] (codes DstSel) => dst_sel_z, with_dst_sel_z, "Source of the third channel of the result.";
    DST_SEL_W: 3 [11:9] (codes DstSel) => dst_sel_w, with_dst_sel_w, "Source of the fourth channel of the result.";
    BASE_LEVEL: 3 [15:12] (int u8, Shown::Plain) => base_level, with_base_level,
        "First level of the view; 0 for multisampled images.";
    LAST_LEVEL: 3 [19:16] (int u8, Shown::Plain) => last_level, with_last_level,
        "Last level of the view; log2 of the samples for multisampled images.";
    SW_MODE: 3 [24:20] (int u8, Shown::Names(SW_MODE_NAMES)) => sw_mode, with_sw_mode, "Swizzle of the texels in memory.";
    BC_SWIZZLE: 3 [27:25] (codes BcSwizzle) => bc_swizzle, with_bc_swizzle, "Channel order of the border colour.";
    TYPE: 3 [31:28] (codes ImageType) => image_type, with_image_type, "Kind of image.";

    DEPTH: 4 [12:0] (int u16, Shown::Plain) => depth_field, with_depth_field,
        "3D: depth of level 0, less one. Arrays and cubes: last slice. 1D, 2D, 2D_MSAA: bits 12:0 of pitch - 1.";
    PITCH_MSB: 4 [13:13] (flag) => pitch_msb, with_pitch_msb, "Bit 13 of pitch - 1 (GFX10.3).";
    RESERVED_4_14: 4 [15:14] (reserved), "Reserved.";
    BASE_ARRAY: 4 [28:16] (int u16, Shown::Plain) => base_array, with_base_array, "First slice of the view.";
    RESERVED_4_29: 4 [31:29] (reserved), "Reserved.";

    ARRAY_PITCH: 5 [3:0] (int u8, Shown::Plain) => array_pitch, with_array_pitch,
        "3D, bit 0: BASE_ARRAY and DEPTH are slices of the bound level (a UAV) instead of being ignored and of level 0.";
    MAX_MIP: 5 [7:4] (int u8, Shown::Plain) => max_mip, with_max_mip,
        "Last level of the resource; log2 of the samples for multisampled images.";
    MIN_LOD_WARN: 5 [19:8] (int u16, Shown::Unsigned { fraction_bits: 8 }) => min_lod_warn, with_min_lod_warn,
        "LOD under which a fetch is reported.";
    PERF_MOD: 5 [22:20] (int u8, Shown::Plain) => perf_mod, with_perf_mod, "Performance only; drivers write 4.";
    CORNER_SAMPLES: 5 [23:23] (flag) => corner_samples, with_corner_samples,
        "Texels are sampled at corners instead of centres.";
    LINKED_RESOURCE: 5 [24:24] (flag) => linked_resource, with_linked_resource,
        "A residency map is linked; it changes the meaning of BC_SWIZZLE and MIN_LOD_WARN.";
    LOD_HDW_CNT_EN: 5 [25:25] (flag) => lod_hdw_cnt_en, with_lod_hdw_cnt_en, "LOD counters are on.";
    PRT_DEFAULT: 5 [26:26] (flag) => prt_default, with_prt_default, "Default for unmapped texels of a PRT.";
    RESERVED_5_27: 5 [30:27] (reserved), "Reserved.";
    BIG_PAGE: 5 [31:31] (flag) => big_page, with_big_page, "The memory has big pages (GFX10.3).";

    COUNTER_BANK_ID: 6 [7:0] (int u8, Shown::Plain) => counter_bank_id, with_counter_bank_id, "Bank of the LOD counters.";
    LLC_NOALLOC: 6 [9:8] (int u8, Shown::Plain) => llc_noalloc, with_llc_noalloc,
        "Policy of the last-level cache (GFX10.3).";
    ITERATE_256: 6 [10:10] (flag) => iterate_256, with_iterate_256, "Multisampled depth: iterates in steps of 256 bytes.";
    RESERVED_6_11: 6 [14:11] (reserved), "Reserved.";
    MAX_UNCOMPRESSED_BLOCK_SIZE: 6 [16:15] (codes BlockSize)
        => max_uncompressed_block_size, with_max_uncompressed_block_size, "DCC: largest uncompressed block.";
    MAX_COMPRESSED_BLOCK_SIZE: 6 [18:17] (codes BlockSize)
        => max_compressed_block_size, with_max_compressed_block_size, "DCC: largest compressed block.";
    META_PIPE_ALIGNED: 6 [19:19] (flag) => meta_pipe_aligned, with_meta_pipe_aligned, "Metadata is aligned to pipes.";
    WRITE_COMPRESS_ENABLE: 6 [20:20] (flag) => write_compress_enable, with_write_compress_enable, "Writes compress.";
    COMPRESSION_EN: 6 [21:21] (flag) => compression_en, with_compression_en, "Reads decompress (DCC or HTILE).";
    ALPHA_IS_ON_MSB: 6 [22:22] (flag) => alpha_is_on_msb, with_alpha_is_on_msb, "DCC: alpha is in the highest bits.";
    COLOR_TRANSFORM: 6 [23:23] (flag) => color_transform, with_color_transform, "DCC: colour transform.";
    META_DATA_ADDRESS_LO: 6 [31:24] (int u8, Shown::Hex) => meta_data_address_lo, with_meta_data_address_lo,
        "Bits 15:8 of the metadata's address.";

    META_DATA_ADDRESS_HI: 7 [31:0] (int u32, Shown::Hex) => meta_data_address_hi, with_meta_data_address_hi,
        "Bits 47:16 of the metadata's address.";
}

/// Values that are spread over several fields, or stored less one.
impl ImageDescriptor {
    /// Width of level 0 in texels, 1 to 16384: WIDTH_HI and WIDTH_LO.
    #[must_use]
    pub const fn width(self) -> u32 {
        ((self.width_hi() as u32) << 2 | self.width_lo() as u32) + 1
    }

    /// Sets the width of level 0 in texels.
    ///
    /// # Errors
    /// When it is not 1 to 16384.
    pub fn with_width(self, width: u32) -> Result<Self, FieldRangeError> {
        let stored = less_one("WIDTH", [&Self::WIDTH_HI, &Self::WIDTH_LO], width, 1 << 14)?;
        let mut words = self.0;
        Self::WIDTH_LO.insert(&mut words, stored & 3)?;
        Self::WIDTH_HI.insert(&mut words, stored >> 2)?;
        Ok(Self(words))
    }

    /// Height of level 0 in texels, 1 to 16384.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.height_field() as u32 + 1
    }

    /// Sets the height of level 0 in texels.
    ///
    /// # Errors
    /// When it is not 1 to 16384.
    pub fn with_height(self, height: u32) -> Result<Self, FieldRangeError> {
        let stored = less_one("HEIGHT", [&Self::HEIGHT], height, 1 << 14)?;
        let mut words = self.0;
        Self::HEIGHT.insert(&mut words, stored)?;
        Ok(Self(words))
    }

    /// DEPTH as the depth of level 0 of a 3D image in texels, 1 to 8192. Means nothing for other types.
    #[must_use]
    pub const fn depth(self) -> u32 {
        self.depth_field() as u32 + 1
    }

    /// Sets the depth of level 0 of a 3D image in texels.
    ///
    /// # Errors
    /// When it is not 1 to 8192.
    pub fn with_depth(self, depth: u32) -> Result<Self, FieldRangeError> {
        let stored = less_one("DEPTH", [&Self::DEPTH], depth, 1 << 13)?;
        let mut words = self.0;
        Self::DEPTH.insert(&mut words, stored)?;
        Ok(Self(words))
    }

    /// DEPTH as the last slice of an array or cube (cubes: faces count as slices). Means nothing for other types.
    #[must_use]
    pub const fn last_slice(self) -> u16 {
        self.depth_field()
    }

    /// Pitch of the rows of a 1D, 2D or 2D_MSAA image in texels: PITCH_MSB and DEPTH, plus one. `None` when the two are 0:
    /// no pitch is given and rows are packed as the layout has them. Means nothing for other types.
    #[must_use]
    pub const fn pitch(self) -> Option<u32> {
        let stored = (self.pitch_msb() as u32) << 13 | self.depth_field() as u32;
        if stored == 0 { None } else { Some(stored + 1) }
    }

    /// DST_SEL_X to DST_SEL_W.
    #[must_use]
    pub const fn dst_sel(self) -> [DstSel; 4] {
        [self.dst_sel_x(), self.dst_sel_y(), self.dst_sel_z(), self.dst_sel_w()]
    }

    /// Sets DST_SEL_X to DST_SEL_W.
    #[must_use]
    pub const fn with_dst_sel(self, [x, y, z, w]: [DstSel; 4]) -> Self {
        self.with_dst_sel_x(x).with_dst_sel_y(y).with_dst_sel_z(z).with_dst_sel_w(w)
    }

    /// MIN_LOD.
    #[must_use]
    pub fn min_lod_f32(self) -> f32 {
        f32::from(self.min_lod()) / 256.0
    }

    /// MIN_LOD_WARN.
    #[must_use]
    pub fn min_lod_warn_f32(self) -> f32 {
        f32::from(self.min_lod_warn()) / 256.0
    }

    /// Address of the texels in bytes, a multiple of 256: BASE_ADDRESS_HI and BASE_ADDRESS.
    #[must_use]
    pub const fn base_address(self) -> u64 {
        (self.base_address_hi() as u64) << 40 | (self.base_address_lo() as u64) << 8
    }

    /// Address of the metadata in bytes, a multiple of 256: META_DATA_ADDRESS_HI and META_DATA_ADDRESS_LO.
    #[must_use]
    pub const fn meta_data_address(self) -> u64 {
        (self.meta_data_address_hi() as u64) << 16 | (self.meta_data_address_lo() as u64) << 8
    }

    /// Whether this is the unbound image: all bits zero, RESOURCE_LEVEL aside. Reads give 0 (AMD's ISA documents).
    #[must_use]
    pub fn is_unbound(self) -> bool {
        self.with_resource_level(false) == Self::default()
    }
}

fn less_one<const N: usize>(
    field: &'static str,
    parts: [&crate::bits::Field; N],
    size: u32,
    max: u32,
) -> Result<u32, FieldRangeError> {
    if (1..=max).contains(&size) {
        return Ok(size - 1);
    }
    let bits = parts.map(crate::bits::Field::bits_text).join(", ");
    Err(FieldRangeError { field, bits, min: 1, max: max.into(), value: size.into() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codes::{BcSwizzle, ImageType};

    #[test]
    fn known_image_decodes() {
        let image = ImageDescriptor::from_words([0, 0xc240_0000, 0x8007_c007, 0x9000_03ac, 0, 0, 0, 0]);
        assert_eq!((image.width(), image.height()), (32, 32));
        assert_eq!((image.format(), image.sw_mode(), image.bc_swizzle()), (36, 0, BcSwizzle::Xyzw));
        assert!(image.resource_level());
        assert_eq!(image.dst_sel(), [DstSel::X, DstSel::Y, DstSel::Z, DstSel::One]);
        assert_eq!((image.image_type(), image.base_level(), image.last_level()), (ImageType::D2, 0, 0));
    }

    #[test]
    fn sizes_take_their_whole_range() {
        let zero = ImageDescriptor::default();
        assert_eq!((zero.width(), zero.height(), zero.depth()), (1, 1, 1));
        let largest = zero.with_width(16_384).unwrap().with_height(16_384).unwrap().with_depth(8192).unwrap();
        assert_eq!(largest.words(), [0, 0xc000_0000, 0x0fff_cfff, 0, 0x1fff, 0, 0, 0]);
        assert_eq!((largest.width(), largest.height(), largest.depth()), (16_384, 16_384, 8192));
        assert!(zero.with_width(16_385).is_err());
        assert!(zero.with_height(16_385).is_err());
        assert!(zero.with_height(0).is_err());
        assert!(zero.with_depth(8193).is_err());
    }

    #[test]
    fn pitch_joins_depth_and_its_top_bit() {
        let image = ImageDescriptor::from_words([0, 0, 0, 0, 0x3fff, 0, 0, 0]);
        assert_eq!((image.pitch(), image.last_slice()), (Some(16_384), 0x1fff));
        assert_eq!(ImageDescriptor::from_words([0, 0, 0, 0, 255, 0, 0, 0]).pitch(), Some(256));
        assert_eq!(ImageDescriptor::from_words([0, 0, 0, 0, 0xc000, 0, 0, 0]).pitch(), None);
    }

    #[test]
    fn addresses_join_their_parts() {
        let image = ImageDescriptor::from_words([0x8765_4321, 0xab, 0, 0, 0, 0, 0xcd00_0000, 0x1234_5678]);
        assert_eq!(image.base_address(), 0xab87_6543_2100);
        assert_eq!(image.meta_data_address(), 0x1234_5678_cd00);
    }

    #[test]
    fn unbound_ignores_resource_level_only() {
        assert!(ImageDescriptor::default().is_unbound());
        assert!(ImageDescriptor::from_words([0, 0, 0x8000_0000, 0, 0, 0, 0, 0]).is_unbound());
        for field in ImageDescriptor::FIELDS.iter().filter(|field| field.name != "RESOURCE_LEVEL") {
            let mut words = [0; 8];
            field.insert(&mut words, 1).unwrap();
            assert!(!ImageDescriptor::from_words(words).is_unbound(), "{field}");
        }
    }

    #[test]
    fn array_fields_are_where_gfx10_has_them() {
        let image = ImageDescriptor::from_words([0, 0, 0, 0xdedc_b000, 0x1fff_0000, 0x8780_0050, 0x00f8_0600, 0]);
        assert_eq!((image.base_level(), image.last_level(), image.max_mip()), (11, 12, 5));
        assert_eq!((image.sw_mode(), image.bc_swizzle()), (0x0d, BcSwizzle::Reserved7));
        assert_eq!((image.image_type(), image.base_array()), (ImageType::D2Array, 0x1fff));
        assert!(image.corner_samples() && image.linked_resource() && image.big_page() && image.iterate_256());
        assert_eq!(image.llc_noalloc(), 2);
        assert!(image.meta_pipe_aligned() && image.compression_en() && image.color_transform());
    }

    proptest! {
        #[test]
        fn sizes_round_trip_and_keep_the_rest(words: [u32; 8], width in 1u32..=16_384, height in 1u32..=16_384) {
            let image = ImageDescriptor::from_words(words);
            let changed = image.with_width(width).unwrap().with_height(height).unwrap();
            prop_assert_eq!((changed.width(), changed.height()), (width, height));
            let back = changed.with_width(image.width()).unwrap().with_height(image.height()).unwrap();
            prop_assert_eq!(back, image);
            prop_assert_eq!(image.with_dst_sel(image.dst_sel()), image);
        }
    }
}
