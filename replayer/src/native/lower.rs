//! From T# and S# to what Vulkan has for them.

use std::borrow::Cow;

use capture_format::{
    BorderColorType, Clamp, Dispatch, DstSel, FilterMode, ImageDescriptor, ImageType, LodSource, MipFilter, Op, OpKind,
    SamplerDescriptor, TexelFormat, XyFilter, ZFilter, bits::Field, texel,
};

use super::part;
use crate::{
    execute::vulkan::{
        AddressMode, BorderColor, Component, NativeFilter, NativeFormat, NativeSamplerState, NativeView, ReductionMode,
    },
    reference::texel_count_refusal,
    refusal::Refusal,
    state::Extent,
};

/// The most texels a dispatch may have, as for the other paths.
const MAX_TEXELS: u64 = 1 << 29;

/// What a dispatch is in Vulkan's terms: an image that holds exactly the view's levels and layers.
#[derive(Clone, Debug)]
pub struct Lowered<'a> {
    /// The instruction.
    pub op: Op,
    /// Format of image and view.
    pub format: NativeFormat,
    /// Type of the view.
    pub view: NativeView,
    /// Texels of the first level in x, y, z.
    pub extent: [u32; 3],
    /// Layers.
    pub layers: u32,
    /// Levels.
    pub levels: u32,
    /// Component mapping of the view.
    pub components: [Component; 4],
    /// The sampler; `None` for loads.
    pub sampler: Option<NativeSamplerState>,
    /// For gathers the component, before the mapping is applied as Vulkan counts it.
    pub gather_component: u8,
    /// Texels in the host's format.
    pub texels: Cow<'a, [u32]>,
}

/// Says in Vulkan's terms what a dispatch's descriptors say.
///
/// # Errors
/// A field that holds what Vulkan does not have, or that contradicts another part of the dispatch.
pub fn lower(dispatch: &Dispatch) -> Result<Lowered<'_>, Refusal> {
    let image = ImageDescriptor::from_words(dispatch.image);
    let op = dispatch.op;
    check_op(op)?;
    let rows = dispatch.coords.rows() as u64;
    if rows != dispatch.sample_count()
        || !dispatch.coords.words.len().is_multiple_of(dispatch.coords.columns.len().max(1))
    {
        let [x, y, z] = dispatch.grid;
        return Err(part("grid", format!("{x}x{y}x{z}"), &format!("coords has {rows} rows; one a sample is expected")));
    }
    let (format, repacked) = format(image)?;
    refuse_image_flags(image)?;
    let kind = image.image_type();
    let shape = Shape::of(image)?;
    let components = components(image, repacked)?;
    let gather_component = gather_component(dispatch)?;
    if op.kind == OpKind::Gather4 && matches!(kind, ImageType::D1 | ImageType::D1Array | ImageType::D3) {
        return Err(image_field(image, &ImageDescriptor::TYPE, "Vulkan gathers from 2D images and cubes only"));
    }
    let cube = kind == ImageType::Cube;
    if cube && (op.offset || op.kind == OpKind::Load || op.lod == LodSource::Derivatives) {
        return Err(part("op", op, "Vulkan has no texel offsets, loads, or derivatives of face coordinates for cubes"));
    }
    let mut levels = shape.first_level..shape.last_level + 1;
    let sampler = match (op.kind, dispatch.sampler) {
        (OpKind::Load, _) => None,
        (_, None) => return Err(part("sampler", "absent", &format!("{op} needs an S#"))),
        (_, Some(words)) => {
            let about = About { image, op, dispatch, repacked, axes: shape.axes, levels: levels.len() };
            let lowered = sampler(SamplerDescriptor::from_words(words), &about)?;
            // One level is one level, whatever the LOD; magnification and minification are still told apart by it.
            if lowered.base_only {
                levels.end = levels.start + 1;
            }
            Some(lowered.state)
        }
    };
    if dispatch.texels.len() as u64 != shape.extent.texels() {
        return Err(texel_count_refusal(&shape.extent, dispatch.texels.len()));
    }
    let view = match kind {
        ImageType::D1 => NativeView::D1,
        ImageType::D1Array => NativeView::D1Array,
        ImageType::D2 => NativeView::D2,
        ImageType::D2Array => NativeView::D2Array,
        ImageType::D3 => NativeView::D3,
        _ if shape.layers.len() == 6 => NativeView::Cube,
        _ => NativeView::CubeArray,
    };
    let mut lowered = Lowered {
        op,
        format,
        view,
        extent: shape.extent.level_size(levels.start),
        layers: shape.layers.len() as u32,
        levels: levels.len() as u32,
        components,
        sampler,
        gather_component,
        texels: shape.crop(&dispatch.texels, levels),
    };
    if repacked {
        lowered.texels = lowered.texels.iter().map(|&texel| texel::to_b10g11r11(texel)).collect();
    }
    Ok(lowered)
}

pub(super) fn field(descriptor: &str, words: &[u32], field: &Field, reason: &str) -> Refusal {
    Refusal {
        field: format!("{descriptor}.{}", field.name),
        bits: Some(field.bits_text()),
        value: field.describe(field.extract(words)),
        reason: reason.to_owned(),
    }
}

pub(super) fn image_field(image: ImageDescriptor, which: &Field, reason: &str) -> Refusal {
    field("T#", &image.words(), which, reason)
}

pub(super) fn check_op(op: Op) -> Result<(), Refusal> {
    let refuse = |reason| Err(part("op", op, reason));
    if op.compare {
        return refuse("formats 30 to 43 have no depth to compare");
    }
    if op.lod_clamp {
        return refuse("a LOD clamp of the instruction is not expressed");
    }
    match (op.kind, op.lod) {
        (_, LodSource::Implicit | LodSource::Bias) => {
            refuse("quads of compute invocations are not expressed; _l, _lz and _d are")
        }
        (OpKind::Gather4, lod) if lod != LodSource::Zero => refuse("Vulkan gathers from level 0; gather4_lz does so"),
        _ => Ok(()),
    }
}

fn format(image: ImageDescriptor) -> Result<(NativeFormat, bool), Refusal> {
    match TexelFormat::from_code(image.format()) {
        Some(TexelFormat::R32_UINT) => Ok((NativeFormat::R32Uint, false)),
        Some(TexelFormat::R11G11B10_FLOAT) => Ok((NativeFormat::B10G11R11Ufloat, false)),
        Some(TexelFormat::R10G11B11_FLOAT) => Ok((NativeFormat::B10G11R11Ufloat, true)),
        _ => Err(image_field(
            image,
            &ImageDescriptor::FORMAT,
            "Vulkan has formats 20 and 36, and 43 with its fields moved; no other is filtered there",
        )),
    }
}

fn refuse_image_flags(image: ImageDescriptor) -> Result<(), Refusal> {
    let words = image.words();
    let base = u32::from(image.base_level()) * 256;
    if u32::from(image.min_lod()) > base {
        return Err(image_field(image, &ImageDescriptor::MIN_LOD, "Vulkan's views have no smallest LOD"));
    }
    for which in [&ImageDescriptor::CORNER_SAMPLES, &ImageDescriptor::LINKED_RESOURCE, &ImageDescriptor::PRT_DEFAULT] {
        if which.extract(&words) != 0 {
            return Err(image_field(image, which, "Vulkan has no counterpart"));
        }
    }
    Ok(())
}

/// Sizes, and the view's part of the resource.
pub(super) struct Shape {
    pub(super) extent: Extent,
    axes: usize,
    first_level: u32,
    last_level: u32,
    layers: std::ops::Range<u32>,
}

impl Shape {
    pub(super) fn of(image: ImageDescriptor) -> Result<Self, Refusal> {
        let refuse = |which: &Field, reason: &str| Err(image_field(image, which, reason));
        let (axes, layered) = match image.image_type() {
            ImageType::D1 => (1, false),
            ImageType::D1Array => (1, true),
            ImageType::D2 => (2, false),
            ImageType::D2Array | ImageType::Cube => (2, true),
            ImageType::D3 => (3, false),
            _ => return refuse(&ImageDescriptor::TYPE, "1D, 2D, 3D, cubes and arrays are expressed"),
        };
        if axes == 3 && image.array_pitch() & 1 != 0 {
            return refuse(&ImageDescriptor::ARRAY_PITCH, "a 3D view for storage can not be sampled in Vulkan");
        }
        let size = [image.width(), if axes > 1 { image.height() } else { 1 }, if axes > 2 { image.depth() } else { 1 }];
        let all_layers = if layered { u32::from(image.last_slice()) + 1 } else { 1 };
        let extent = Extent { size, layers: all_layers, levels: u32::from(image.max_mip()) + 1 };
        let largest = size.into_iter().max().unwrap_or(1);
        if extent.levels > largest.ilog2() + 1 {
            return refuse(&ImageDescriptor::MAX_MIP, "more levels than the size has");
        }
        if extent.texels() > MAX_TEXELS {
            return Err(part("T#", extent.texels(), "texels in all levels; at most 2^29 are supported"));
        }
        let last_level = u32::from(image.last_level()).min(u32::from(image.max_mip()));
        let first_level = u32::from(image.base_level());
        if first_level > last_level {
            return refuse(&ImageDescriptor::BASE_LEVEL, "is beyond the view's last level");
        }
        let first_layer = if layered { u32::from(image.base_array()) } else { 0 };
        if first_layer >= all_layers {
            return refuse(&ImageDescriptor::BASE_ARRAY, "is beyond the last slice");
        }
        let layers = first_layer..all_layers;
        if image.image_type() == ImageType::Cube {
            if !layers.len().is_multiple_of(6) {
                return refuse(&ImageDescriptor::DEPTH, "Vulkan's cubes have six faces each");
            }
            if size[0] != size[1] {
                return refuse(&ImageDescriptor::HEIGHT, "Vulkan's cubes have square faces");
            }
        }
        Ok(Self { extent, axes, first_level, last_level, layers })
    }

    /// The texels of some levels of the view. All levels of all layers must be in `texels`.
    fn crop<'a>(&self, texels: &'a [u32], levels: std::ops::Range<u32>) -> Cow<'a, [u32]> {
        if levels == (0..self.extent.levels) && self.layers.len() as u32 == self.extent.layers {
            return texels.into();
        }
        let mut kept = Vec::new();
        let mut start = 0;
        for level in 0..levels.end {
            let [x, y, z] = self.extent.level_size(level).map(|n| n as usize);
            let layer = x * y * z;
            if level >= levels.start {
                kept.extend_from_slice(
                    &texels[start + self.layers.start as usize * layer..start + self.layers.end as usize * layer],
                );
            }
            start += layer * self.extent.layers as usize;
        }
        kept.into()
    }
}

fn components(image: ImageDescriptor, repacked: bool) -> Result<[Component; 4], Refusal> {
    let fields = [
        &ImageDescriptor::DST_SEL_X,
        &ImageDescriptor::DST_SEL_Y,
        &ImageDescriptor::DST_SEL_Z,
        &ImageDescriptor::DST_SEL_W,
    ];
    let mut components = Component::IDENTITY;
    for ((component, select), which) in components.iter_mut().zip(image.dst_sel()).zip(fields) {
        let select = if repacked { texel::b10g11r11_component(select) } else { select };
        *component = match select {
            DstSel::Zero => Component::Zero,
            DstSel::One => Component::One,
            DstSel::X => Component::R,
            DstSel::Y => Component::G,
            DstSel::Z => Component::B,
            DstSel::W => Component::A,
            _ => return Err(image_field(image, which, "Vulkan's component mapping has 0, 1, X, Y, Z and W")),
        };
    }
    Ok(components)
}

pub(super) fn gather_component(dispatch: &Dispatch) -> Result<u8, Refusal> {
    match dispatch.dmask {
        _ if dispatch.op.kind != OpKind::Gather4 => Ok(0),
        None => Ok(0),
        Some(mask) if mask < 16 && mask.is_power_of_two() => Ok(mask.trailing_zeros() as u8),
        Some(mask) => Err(part("dmask", mask, "a gather's DMASK has exactly one of its four bits set")),
    }
}

/// What a sampler is used with.
struct About<'a> {
    image: ImageDescriptor,
    op: Op,
    dispatch: &'a Dispatch,
    repacked: bool,
    axes: usize,
    levels: usize,
}

struct LoweredSampler {
    state: NativeSamplerState,
    /// Whether only the view's first level is ever read.
    base_only: bool,
}

fn sampler(sampler: SamplerDescriptor, about: &About<'_>) -> Result<LoweredSampler, Refusal> {
    let refusal = |which: &Field, reason: &str| field("S#", &sampler.words(), which, reason);
    let words = sampler.words();
    for (which, reason) in [
        (&SamplerDescriptor::DERIV_ADJUST_EN, "Vulkan has no adjustment of derivatives"),
        (&SamplerDescriptor::MC_COORD_TRUNC, "Vulkan has no weights of one bit"),
        (&SamplerDescriptor::BLEND_PRT, "Vulkan has no counterpart"),
    ] {
        if which.extract(&words) != 0 {
            return Err(refusal(which, reason));
        }
    }
    let gather = about.op.kind == OpKind::Gather4;
    let filter = |filter: XyFilter, which: &Field| match filter {
        XyFilter::Point => Ok(NativeFilter::Nearest),
        XyFilter::Bilinear | XyFilter::AnisoBilinear => Ok(NativeFilter::Linear),
        XyFilter::AnisoPoint => Err(refusal(which, "Vulkan does not say what anisotropy does to nearest texels")),
    };
    let mut state = NativeSamplerState {
        mag: filter(sampler.xy_mag_filter(), &SamplerDescriptor::XY_MAG_FILTER)?,
        min: filter(sampler.xy_min_filter(), &SamplerDescriptor::XY_MIN_FILTER)?,
        anisotropy: anisotropy(sampler, refusal)?,
        reduction: match sampler.filter_mode() {
            FilterMode::Blend => ReductionMode::Average,
            _ if gather => return Err(refusal(&SamplerDescriptor::FILTER_MODE, "Vulkan's gathers do not reduce")),
            FilterMode::Min => ReductionMode::Min,
            FilterMode::Max => ReductionMode::Max,
            _ => return Err(refusal(&SamplerDescriptor::FILTER_MODE, "0, 1 and 2 are defined")),
        },
        unnormalized: sampler.force_unnormalized(),
        ..NativeSamplerState::default()
    };
    if state.anisotropy.is_some() && state.mag != state.min {
        return Err(refusal(
            &SamplerDescriptor::XY_MAG_FILTER,
            "Vulkan's anisotropy is for magnification and minification alike",
        ));
    }
    if about.axes == 3 {
        let slices = match sampler.z_filter() {
            ZFilter::None => None,
            ZFilter::Point => Some(NativeFilter::Nearest),
            ZFilter::Linear => Some(NativeFilter::Linear),
            _ => return Err(refusal(&SamplerDescriptor::Z_FILTER, "0, 1 and 2 are defined")),
        };
        if slices.is_some_and(|slices| slices != state.mag || slices != state.min) {
            return Err(refusal(&SamplerDescriptor::Z_FILTER, "Vulkan filters slices as it filters x and y"));
        }
        if sampler.perf_z() != 0 && state.mag == NativeFilter::Linear {
            return Err(refusal(&SamplerDescriptor::PERF_Z, "Vulkan has no counterpart"));
        }
    }
    let base_only = levels(sampler, about, &mut state, &refusal)?;
    addressing(sampler, about, &mut state, &refusal)?;
    Ok(LoweredSampler { state, base_only })
}

fn anisotropy(sampler: SamplerDescriptor, refusal: impl Fn(&Field, &str) -> Refusal) -> Result<Option<f32>, Refusal> {
    let [mag, min] = [sampler.xy_mag_filter(), sampler.xy_min_filter()].map(XyFilter::is_aniso);
    if !mag && !min {
        return Ok(None);
    }
    if mag != min {
        return Err(refusal(
            &SamplerDescriptor::XY_MAG_FILTER,
            "Vulkan's anisotropy is for magnification and minification alike",
        ));
    }
    for which in [&SamplerDescriptor::ANISO_BIAS, &SamplerDescriptor::ANISO_THRESHOLD] {
        if which.extract(&sampler.words()) != 0 {
            return Err(refusal(which, "Vulkan has a highest ratio and nothing else"));
        }
    }
    if sampler.aniso_override() {
        return Err(refusal(&SamplerDescriptor::ANISO_OVERRIDE, "Vulkan has no counterpart"));
    }
    let ratio = sampler.max_aniso_ratio().ratio();
    let ratio = ratio.ok_or_else(|| refusal(&SamplerDescriptor::MAX_ANISO_RATIO, "0 to 4 are defined"))?;
    Ok(Some(ratio as f32))
}

/// LOD and the choice of levels; whether only the first one is read.
fn levels(
    sampler: SamplerDescriptor,
    about: &About<'_>,
    state: &mut NativeSamplerState,
    refusal: &impl Fn(&Field, &str) -> Refusal,
) -> Result<bool, Refusal> {
    let one_level = about.levels == 1;
    let base_only = match sampler.mip_filter() {
        MipFilter::None => true,
        MipFilter::Point => {
            // Vulkan clamps the LOD before it chooses the nearest level.
            if !one_level && !sampler.mip_point_preclamp() {
                for (lod, which) in
                    [(sampler.min_lod(), &SamplerDescriptor::MIN_LOD), (sampler.max_lod(), &SamplerDescriptor::MAX_LOD)]
                {
                    if lod % 256 != 0 && u32::from(lod) < 256 * (about.levels as u32 - 1) {
                        return Err(refusal(
                            which,
                            "Vulkan clamps before it chooses the nearest level (MIP_POINT_PRECLAMP)",
                        ));
                    }
                }
            }
            one_level
        }
        MipFilter::Linear => {
            if sampler.perf_mip() != 0 && !one_level {
                return Err(refusal(&SamplerDescriptor::PERF_MIP, "Vulkan has no counterpart"));
            }
            state.mip = NativeFilter::Linear;
            one_level
        }
        MipFilter::PointAnisoAdj => return Err(refusal(&SamplerDescriptor::MIP_FILTER, "0, 1 and 2 are expressed")),
    };
    if sampler.min_lod() > sampler.max_lod() {
        return Err(refusal(&SamplerDescriptor::MIN_LOD, "Vulkan needs MIN_LOD at most MAX_LOD"));
    }
    if about.op.lod == LodSource::Derivatives && sampler.lod_bias_sec() != 0 {
        return Err(refusal(&SamplerDescriptor::LOD_BIAS_SEC, "Vulkan has one bias, rounded otherwise"));
    }
    if base_only {
        state.mip = NativeFilter::Nearest;
    }
    if about.op.kind == OpKind::Gather4 {
        // A gather reads the first level; clamps and bias that could say otherwise have no counterpart.
        if !base_only && sampler.min_lod() != 0 {
            return Err(refusal(&SamplerDescriptor::MIN_LOD, "Vulkan gathers from level 0"));
        }
        if !base_only && sampler.lod_bias() > 0 {
            return Err(refusal(&SamplerDescriptor::LOD_BIAS, "Vulkan gathers from level 0"));
        }
        return Ok(true);
    }
    if state.unnormalized {
        if !base_only {
            return Err(refusal(
                &SamplerDescriptor::MIP_FILTER,
                "with unnormalized coordinates Vulkan reads one level",
            ));
        }
        if state.mag != state.min {
            return Err(refusal(
                &SamplerDescriptor::XY_MAG_FILTER,
                "with unnormalized coordinates Vulkan needs equal filters",
            ));
        }
        // With one level and equal filters the LOD decides nothing; Vulkan wants it clamped to 0.
        (state.min_lod, state.max_lod) = (0.0, 0.0);
        return Ok(true);
    }
    state.min_lod = sampler.min_lod_f32();
    state.max_lod = sampler.max_lod_f32();
    state.lod_bias = sampler.lod_bias_f32();
    Ok(base_only)
}

fn addressing(
    sampler: SamplerDescriptor,
    about: &About<'_>,
    state: &mut NativeSamplerState,
    refusal: &impl Fn(&Field, &str) -> Refusal,
) -> Result<(), Refusal> {
    if about.image.image_type() == ImageType::Cube {
        if sampler.disable_cube_wrap() {
            return Err(refusal(&SamplerDescriptor::DISABLE_CUBE_WRAP, "Vulkan's cubes join their faces"));
        }
        return Ok(());
    }
    let fields = [&SamplerDescriptor::CLAMP_X, &SamplerDescriptor::CLAMP_Y, &SamplerDescriptor::CLAMP_Z];
    let mut border = false;
    for axis in 0..about.axes {
        let clamp = sampler.clamp()[axis];
        let which = fields[axis];
        state.address[axis] = match clamp {
            Clamp::Wrap => AddressMode::Repeat,
            Clamp::Mirror => AddressMode::MirroredRepeat,
            Clamp::ClampLastTexel => AddressMode::ClampToEdge,
            Clamp::MirrorOnceLastTexel => AddressMode::MirrorClampToEdge,
            Clamp::ClampBorder => AddressMode::ClampToBorder,
            Clamp::ClampHalfBorder | Clamp::MirrorOnceHalfBorder | Clamp::MirrorOnceBorder => {
                return Err(refusal(
                    which,
                    "Vulkan has repeat, mirrored repeat, edge, border and mirror once to the edge",
                ));
            }
        };
        let clamps = matches!(clamp, Clamp::ClampLastTexel | Clamp::ClampBorder);
        if state.unnormalized && !clamps {
            return Err(refusal(which, "with unnormalized coordinates Vulkan clamps to edge or border only"));
        }
        border |= clamp == Clamp::ClampBorder;
    }
    if state.unnormalized && (about.axes == 3 || about.image.image_type().has_layers() || about.op.offset) {
        return Err(refusal(
            &SamplerDescriptor::FORCE_UNNORMALIZED,
            "Vulkan has it for 1D and 2D images without layers and without texel offsets",
        ));
    }
    if border {
        state.border = border_color(sampler, about, refusal)?;
    }
    Ok(())
}

fn border_color(
    sampler: SamplerDescriptor,
    about: &About<'_>,
    refusal: &impl Fn(&Field, &str) -> Refusal,
) -> Result<BorderColor, Refusal> {
    let order = about.image.bc_swizzle().order();
    let order = order.ok_or_else(|| image_field(about.image, &ImageDescriptor::BC_SWIZZLE, "0 to 5 are defined"))?;
    let stored = match sampler.border_color_type() {
        BorderColorType::TransparentBlack => return Ok(BorderColor::TransparentBlack),
        BorderColorType::OpaqueWhite => return Ok(BorderColor::OpaqueWhite),
        BorderColorType::OpaqueBlack if order[3] == 3 => return Ok(BorderColor::OpaqueBlack),
        BorderColorType::OpaqueBlack => {
            return Err(image_field(about.image, &ImageDescriptor::BC_SWIZZLE, "Vulkan's opaque black has its 1 in W"));
        }
        BorderColorType::Register => {
            let index = usize::from(sampler.border_color_ptr());
            let rows = about.dispatch.border_table.len();
            *about.dispatch.border_table.get(index).ok_or_else(|| {
                refusal(&SamplerDescriptor::BORDER_COLOR_PTR, &format!("border_table has {rows} rows"))
            })?
        }
    };
    let color = order.map(|channel| stored[usize::from(channel)]);
    if about.repacked && color[0] != color[2] {
        // An H200 does not apply it, other hardware does.
        return Err(image_field(
            about.image,
            &ImageDescriptor::FORMAT,
            "the repacked format needs a view swizzle, and Vulkan does not say whether that applies to a custom border; use format 36",
        ));
    }
    Ok(BorderColor::Custom(color))
}
