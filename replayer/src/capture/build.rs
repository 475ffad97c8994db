//! From plain numbers to T#, S# and texels.

use capture_format::{
    AnisoRatio, BorderColorType, Clamp, DstSel, FieldRangeError, FilterMode, ImageDescriptor, ImageType, MipFilter,
    SamplerDescriptor, TexelFormat, XyFilter,
};

use super::Texels;
use crate::{generate::Random, state::Extent};

/// An image.
#[derive(Clone, Copy, Debug)]
pub struct ImageSpec {
    /// Kind of the image and its view.
    pub kind: ImageType,
    /// Texels of level 0 in x, y, z; 1 in the dimensions that are not there.
    pub size: [u32; 3],
    /// Layers; faces count.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Format.
    pub format: TexelFormat,
    /// Content.
    pub texels: Texels,
}

impl ImageSpec {
    /// A 2D image of format 43 with one level.
    #[must_use]
    pub fn d2(width: u32, height: u32, texels: Texels) -> Self {
        Self {
            kind: ImageType::D2,
            size: [width, height, 1],
            layers: 1,
            levels: 1,
            format: TexelFormat::R10G11B11_FLOAT,
            texels,
        }
    }

    /// All levels that the size has.
    #[must_use]
    pub fn with_all_levels(self) -> Self {
        Self { levels: self.size.into_iter().max().unwrap_or(1).ilog2() + 1, ..self }
    }

    /// The T#.
    ///
    /// # Errors
    /// When a size does not fit its field.
    pub fn descriptor(&self) -> Result<[u32; 8], FieldRangeError> {
        let [x, y, z] = self.size;
        let last = (self.levels - 1) as u8;
        let one_channel = self.format == TexelFormat::R32_UINT;
        let select = if one_channel {
            [DstSel::X, DstSel::Zero, DstSel::Zero, DstSel::One]
        } else {
            [DstSel::X, DstSel::Y, DstSel::Z, DstSel::One]
        };
        let mut image = ImageDescriptor::default()
            .with_format(self.format.code())?
            .with_width(x)?
            .with_height(y)?
            .with_resource_level(true)
            .with_dst_sel(select)
            .with_last_level(last)?
            .with_max_mip(last)?
            .with_image_type(self.kind);
        if self.kind == ImageType::D3 {
            image = image.with_depth(z)?;
        } else if self.kind.has_layers() {
            image = image.with_depth_field((self.layers - 1) as u16)?;
        }
        Ok(image.words())
    }

    /// The texels, in the order in which dispatches have them.
    #[must_use]
    pub fn words(&self, random: &mut Random) -> Vec<u32> {
        let extent = Extent { size: self.size, layers: self.layers, levels: self.levels };
        let mut words = Vec::new();
        for level in 0..self.levels {
            let [width, height, depth] = extent.level_size(level);
            for z in 0..depth * self.layers {
                for y in 0..height {
                    words.extend((0..width).map(|x| self.texels.word(self.format, [x, y, z, level], random)));
                }
            }
        }
        words
    }
}

/// A sampler.
#[derive(Clone, Copy, Debug)]
pub struct SamplerSpec {
    /// Addressing along x, y, z.
    pub clamp: [Clamp; 3],
    /// Filter when magnifying.
    pub mag: XyFilter,
    /// Filter when minifying.
    pub min: XyFilter,
    /// Choice of levels.
    pub mip: MipFilter,
    /// Blend, min or max.
    pub mode: FilterMode,
    /// MIN_LOD and MAX_LOD in 1/256.
    pub lods: [u16; 2],
    /// LOD_BIAS in 1/256.
    pub bias: i16,
    /// Coordinates in texels.
    pub unnormalized: bool,
    /// Border colour.
    pub border: BorderColorType,
    /// Highest anisotropy, for the anisotropic filters.
    pub ratio: AnisoRatio,
}

impl SamplerSpec {
    /// Edge addressing and one filter for both.
    #[must_use]
    pub fn plain(filter: XyFilter) -> Self {
        Self {
            clamp: [Clamp::ClampLastTexel; 3],
            mag: filter,
            min: filter,
            mip: MipFilter::None,
            mode: FilterMode::Blend,
            lods: [0, 0xfff],
            bias: 0,
            unnormalized: false,
            border: BorderColorType::TransparentBlack,
            ratio: AnisoRatio::X1,
        }
    }

    /// The same addressing along all axes.
    #[must_use]
    pub fn clamped(self, clamp: Clamp) -> Self {
        Self { clamp: [clamp; 3], ..self }
    }

    /// The S#.
    ///
    /// # Errors
    /// When a LOD or the bias does not fit its field.
    pub fn descriptor(&self) -> Result<[u32; 4], FieldRangeError> {
        let [x, y, z] = self.clamp;
        Ok(SamplerDescriptor::default()
            .with_clamp_x(x)
            .with_clamp_y(y)
            .with_clamp_z(z)
            .with_xy_mag_filter(self.mag)
            .with_xy_min_filter(self.min)
            .with_mip_filter(self.mip)
            // As Vulkan does it.
            .with_mip_point_preclamp(self.mip == MipFilter::Point)
            .with_filter_mode(self.mode)
            .with_force_unnormalized(self.unnormalized)
            .with_border_color_type(self.border)
            .with_max_aniso_ratio(self.ratio)
            .with_min_lod(self.lods[0])?
            .with_max_lod(self.lods[1])?
            .with_lod_bias(self.bias)?
            .words())
    }
}
