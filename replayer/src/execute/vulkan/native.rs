//! Sampling with the device's own texture unit.
//!
//! A [`NativeJob`] is a [`Job`](crate::execute::Job) whose images have any of a few Vulkan formats, a component mapping and,
//! when combined with a sampler, the sampler's state. Nothing is emulated: what the device can not do is refused by the name
//! of the feature or limit.

use ash::vk;

use super::VulkanExecutor;
use crate::execute::{ExecuteError, Image, ImageDim, Module};

/// Format of a native image; the words of [`NativeImage::texels`] are its texels in memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeFormat {
    /// `VK_FORMAT_R32_UINT`, 1 word.
    R32Uint,
    /// `VK_FORMAT_R32_SINT`, 1 word.
    R32Sint,
    /// `VK_FORMAT_R32_SFLOAT`, 1 word.
    R32Sfloat,
    /// `VK_FORMAT_B10G11R11_UFLOAT_PACK32`, 1 word.
    B10G11R11Ufloat,
    /// `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`, 1 word.
    E5B9G9R9Ufloat,
    /// `VK_FORMAT_A2B10G10R10_UNORM_PACK32`, 1 word.
    A2B10G10R10Unorm,
    /// `VK_FORMAT_R8G8B8A8_UNORM`, 1 word.
    Rgba8Unorm,
    /// `VK_FORMAT_R16G16_SFLOAT`, 1 word.
    Rg16Sfloat,
    /// `VK_FORMAT_R16G16B16A16_SFLOAT`, 2 words.
    Rgba16Sfloat,
    /// `VK_FORMAT_R32G32B32A32_SFLOAT`, 4 words.
    Rgba32Sfloat,
    /// `VK_FORMAT_R32G32B32A32_UINT`, 4 words.
    Rgba32Uint,
}

impl NativeFormat {
    /// 32-bit words a texel.
    #[must_use]
    pub fn words(self) -> u32 {
        match self {
            Self::R32Uint
            | Self::R32Sint
            | Self::R32Sfloat
            | Self::B10G11R11Ufloat
            | Self::E5B9G9R9Ufloat
            | Self::A2B10G10R10Unorm
            | Self::Rgba8Unorm
            | Self::Rg16Sfloat => 1,
            Self::Rgba16Sfloat => 2,
            Self::Rgba32Sfloat | Self::Rgba32Uint => 4,
        }
    }

    /// Whether modules read integers from it.
    #[must_use]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::R32Uint | Self::R32Sint | Self::Rgba32Uint)
    }

    pub(super) fn vk(self) -> vk::Format {
        match self {
            Self::R32Uint => vk::Format::R32_UINT,
            Self::R32Sint => vk::Format::R32_SINT,
            Self::R32Sfloat => vk::Format::R32_SFLOAT,
            Self::B10G11R11Ufloat => vk::Format::B10G11R11_UFLOAT_PACK32,
            Self::E5B9G9R9Ufloat => vk::Format::E5B9G9R9_UFLOAT_PACK32,
            Self::A2B10G10R10Unorm => vk::Format::A2B10G10R10_UNORM_PACK32,
            Self::Rgba8Unorm => vk::Format::R8G8B8A8_UNORM,
            Self::Rg16Sfloat => vk::Format::R16G16_SFLOAT,
            Self::Rgba16Sfloat => vk::Format::R16G16B16A16_SFLOAT,
            Self::Rgba32Sfloat => vk::Format::R32G32B32A32_SFLOAT,
            Self::Rgba32Uint => vk::Format::R32G32B32A32_UINT,
        }
    }
}

/// Type of the view that is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeView {
    /// One dimension.
    D1,
    /// Layers of one dimension.
    D1Array,
    /// Two dimensions.
    D2,
    /// Layers of two dimensions.
    D2Array,
    /// Three dimensions.
    D3,
    /// Six square layers.
    Cube,
    /// Six square layers a cube.
    CubeArray,
}

impl From<ImageDim> for NativeView {
    fn from(dim: ImageDim) -> Self {
        match dim {
            ImageDim::D1 => Self::D1,
            ImageDim::D1Array => Self::D1Array,
            ImageDim::D2 => Self::D2,
            ImageDim::D2Array => Self::D2Array,
            ImageDim::D3 => Self::D3,
        }
    }
}

impl NativeView {
    pub(super) fn vk(self) -> vk::ImageViewType {
        match self {
            Self::D1 => vk::ImageViewType::TYPE_1D,
            Self::D1Array => vk::ImageViewType::TYPE_1D_ARRAY,
            Self::D2 => vk::ImageViewType::TYPE_2D,
            Self::D2Array => vk::ImageViewType::TYPE_2D_ARRAY,
            Self::D3 => vk::ImageViewType::TYPE_3D,
            Self::Cube => vk::ImageViewType::CUBE,
            Self::CubeArray => vk::ImageViewType::CUBE_ARRAY,
        }
    }

    pub(super) fn image_type(self) -> vk::ImageType {
        match self {
            Self::D1 | Self::D1Array => vk::ImageType::TYPE_1D,
            Self::D3 => vk::ImageType::TYPE_3D,
            Self::D2 | Self::D2Array | Self::Cube | Self::CubeArray => vk::ImageType::TYPE_2D,
        }
    }
}

/// What a component of the view is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// Zero.
    Zero,
    /// One.
    One,
    /// The texel's R.
    R,
    /// The texel's G.
    G,
    /// The texel's B.
    B,
    /// The texel's A.
    A,
}

impl Component {
    /// The mapping that changes nothing.
    pub const IDENTITY: [Self; 4] = [Self::R, Self::G, Self::B, Self::A];

    pub(super) fn vk(self) -> vk::ComponentSwizzle {
        match self {
            Self::Zero => vk::ComponentSwizzle::ZERO,
            Self::One => vk::ComponentSwizzle::ONE,
            Self::R => vk::ComponentSwizzle::R,
            Self::G => vk::ComponentSwizzle::G,
            Self::B => vk::ComponentSwizzle::B,
            Self::A => vk::ComponentSwizzle::A,
        }
    }
}

/// An image with format, view and component mapping.
#[derive(Clone, Copy, Debug)]
pub struct NativeImage<'a> {
    /// Format of the image and its view.
    pub format: NativeFormat,
    /// Type of the view; it covers all levels and layers.
    pub view: NativeView,
    /// Texels of level 0 in x, y, z; 1 in the dimensions that are not there.
    pub extent: [u32; 3],
    /// Number of array layers: 1 when it is no array, 6 a cube.
    pub layers: u32,
    /// Number of levels.
    pub levels: u32,
    /// What modules see as R, G, B, A.
    pub components: [Component; 4],
    /// All texels, level by level, in a level layer by layer (or slice by slice), row by row.
    pub texels: &'a [u32],
}

impl<'a> From<Image<'a>> for NativeImage<'a> {
    fn from(image: Image<'a>) -> Self {
        Self {
            format: NativeFormat::R32Uint,
            view: image.dim.into(),
            extent: image.extent,
            layers: image.layers,
            levels: image.levels,
            components: Component::IDENTITY,
            texels: image.texels,
        }
    }
}

/// Filter in a level, or between levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NativeFilter {
    /// The nearest texel or level.
    #[default]
    Nearest,
    /// A weighted sum of the nearest.
    Linear,
}

/// Addressing of coordinates outside the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressMode {
    /// Repeats the image.
    Repeat,
    /// Repeats the image, every second time mirrored.
    MirroredRepeat,
    /// The texel on the edge.
    #[default]
    ClampToEdge,
    /// The border colour.
    ClampToBorder,
    /// Mirrors once, then the texel on the edge (feature `samplerMirrorClampToEdge`).
    MirrorClampToEdge,
}

impl AddressMode {
    pub(super) fn vk(self) -> vk::SamplerAddressMode {
        match self {
            Self::Repeat => vk::SamplerAddressMode::REPEAT,
            Self::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
            Self::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            Self::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
            Self::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
        }
    }
}

/// Colour of [`AddressMode::ClampToBorder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BorderColor {
    /// 0, 0, 0, 0.
    #[default]
    TransparentBlack,
    /// 0, 0, 0, 1.
    OpaqueBlack,
    /// 1, 1, 1, 1.
    OpaqueWhite,
    /// Any colour, as bits of floats, or integers for an integer format (`VK_EXT_custom_border_color`).
    Custom([u32; 4]),
}

/// What a sampler takes of the texels in its footprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReductionMode {
    /// The weighted average.
    #[default]
    Average,
    /// The minimum (feature `samplerFilterMinmax`).
    Min,
    /// The maximum (feature `samplerFilterMinmax`).
    Max,
}

/// State of a native sampler, as in `VkSamplerCreateInfo`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NativeSamplerState {
    /// Filter when magnified.
    pub mag: NativeFilter,
    /// Filter when minified.
    pub min: NativeFilter,
    /// Filter between levels.
    pub mip: NativeFilter,
    /// Addressing in u, v, w.
    pub address: [AddressMode; 3],
    /// Colour outside, for [`AddressMode::ClampToBorder`].
    pub border: BorderColor,
    /// Smallest LOD.
    pub min_lod: f32,
    /// Largest LOD; 1000 is none (`VK_LOD_CLAMP_NONE`).
    pub max_lod: f32,
    /// Added to the LOD.
    pub lod_bias: f32,
    /// Highest anisotropy; `None` is isotropic.
    pub anisotropy: Option<f32>,
    /// Coordinates in texels.
    pub unnormalized: bool,
    /// What is taken of the footprint.
    pub reduction: ReductionMode,
}

impl Default for NativeSamplerState {
    /// Nearest, clamped to the edge, all levels.
    fn default() -> Self {
        Self {
            mag: NativeFilter::Nearest,
            min: NativeFilter::Nearest,
            mip: NativeFilter::Nearest,
            address: [AddressMode::ClampToEdge; 3],
            border: BorderColor::TransparentBlack,
            min_lod: 0.0,
            max_lod: 1000.0,
            lod_bias: 0.0,
            anisotropy: None,
            unnormalized: false,
            reduction: ReductionMode::Average,
        }
    }
}

/// What is bound at a binding of a native job.
#[derive(Clone, Copy, Debug)]
pub enum NativeResource<'a> {
    /// A read-only storage buffer, or a uniform buffer if the module declares one there.
    Input(&'a [u32]),
    /// A storage buffer of that many words, zero at first, returned after the run.
    Output(usize),
    /// A storage buffer that holds these words at first, returned after the run.
    InOut(&'a [u32]),
    /// A storage image of one level that holds these texels at first, returned after the run. The component mapping is the
    /// identity.
    Storage(NativeImage<'a>),
    /// A sampled image without a sampler, for fetches.
    Image(NativeImage<'a>),
    /// An image combined with a sampler.
    Sampled(NativeImage<'a>, NativeSamplerState),
}

/// A native resource with its place.
#[derive(Clone, Copy, Debug)]
pub struct NativeBinding<'a> {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for arrays of descriptors; else 0.
    pub element: u32,
    /// What is bound.
    pub resource: NativeResource<'a>,
}

/// One compute dispatch with native resources; see [`Job`](crate::execute::Job).
#[derive(Clone, Copy, Debug)]
pub struct NativeJob<'a> {
    /// The module.
    pub module: &'a Module,
    /// Name of the entry point.
    pub entry: &'a str,
    /// Specialization constants: `SpecId` and the 32-bit value.
    pub specialization: &'a [(u32, u32)],
    /// What is bound, in any order.
    pub bindings: &'a [NativeBinding<'a>],
    /// Push constants from offset 0 on.
    pub push_constants: &'a [u32],
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
}

/// Samples with a device's own texture unit.
pub trait NativeSampler {
    /// Runs a job to the end; the contents of its outputs in the order of `job.bindings`.
    ///
    /// # Errors
    /// [`ExecuteError::Unsupported`] names the feature, format or limit that the device lacks; the others as
    /// [`ExecuteError`] lists.
    fn run_native(&mut self, job: &NativeJob<'_>) -> Result<Vec<Vec<u32>>, ExecuteError>;
}

impl NativeSampler for VulkanExecutor {
    fn run_native(&mut self, job: &NativeJob<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        self.engine.run(job)
    }
}
