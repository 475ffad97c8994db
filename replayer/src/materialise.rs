//! From a dispatch's raw words to a [`State`], or to a refusal that names the field.

use capture_format::{
    BorderColorType, Clamp, Dispatch, DstSel, FilterMode, ImageDescriptor, ImageType, LodSource, MipFilter,
    NumericKind, OpKind, SamplerDescriptor, TexelFormat, XyFilter, ZFilter, bits::Field,
};

use crate::{
    reference::blend::cut_to_fp16,
    refusal::Refusal,
    rules::{AnisotropyRule, BorderMissingChannel, BorderPrecision, BorderSwizzle, MipFilterBits, Rules},
    state::{Address, Anisotropy, Extent, Filter, MipMode, Reduction, Select, SliceFilter, State, View},
    table::tables_refused,
};

/// The most texels a dispatch may have: what a 16,384 × 16,384 image with all its levels holds.
pub(crate) const MAX_TEXELS: u64 = 1 << 29;

/// Border magnitudes below 2^-62 count as 0, so that no product with a weight is denormal: executors differ in those.
const SMALLEST_BORDER: f32 = 1.0 / (1u64 << 62) as f32;

/// Reads the T# and S# of a dispatch, by the rules that concern their bits. A dispatch with tables of descriptors has a state
/// for each pair in use: [`crate::table::Parts::states`].
///
/// # Errors
/// A field that holds what is not modelled, or that contradicts another part of the dispatch; tables of descriptors.
pub fn materialise(dispatch: &Dispatch, rules: &Rules) -> Result<State, Refusal> {
    if let Some(contradiction) = rules.inconsistency() {
        return Err(part("rules", "", contradiction));
    }
    if dispatch.is_table() {
        return Err(tables_refused(dispatch, "a state is that of one T# with one S#"));
    }
    let image = ImageDescriptor::from_words(dispatch.image);
    let op = dispatch.op;
    if op.compare {
        return Err(part("op", op, "depth comparison is not modelled: formats 30 to 43 have no depth"));
    }
    let rows = dispatch.coords.rows() as u64;
    if rows != dispatch.sample_count()
        || !dispatch.coords.words.len().is_multiple_of(dispatch.coords.columns.len().max(1))
    {
        let [x, y, z] = dispatch.grid;
        return Err(part("grid", format!("{x}x{y}x{z}"), &format!("coords has {rows} rows; one a sample is expected")));
    }
    whole_quads(dispatch)?;
    let view = view(image)?;
    if view == View::Cube && op.offset {
        return Err(part("op", op, "texel offsets on a cube are not defined"));
    }
    if op.kind == OpKind::Gather4 && matches!(view, View::D1 | View::D1Array | View::D3) {
        return Err(part("op", op, "gathers are defined on 2D views and cubes"));
    }
    let format = format(image, rules)?;
    refuse_set_flags(image)?;
    let extent = extent(image, view)?;
    if extent.texels() > MAX_TEXELS {
        return Err(part("T#", extent.texels(), "texels in all levels; at most 2^29 are supported"));
    }
    let max_mip = u32::from(image.max_mip());
    let base_level = u32::from(image.base_level());
    // LAST_LEVEL beyond MAX_MIP occurs in real titles; the resource ends the view.
    let last_level = u32::from(image.last_level()).min(max_mip);
    if base_level > last_level {
        return Err(image_field(
            image,
            &ImageDescriptor::BASE_LEVEL,
            &format!("is beyond the view's last level, {last_level}"),
        ));
    }
    let layers = if view.is_layered() { extent.layers } else { 1 };
    let base_layer = if view.is_layered() { u32::from(image.base_array()) } else { 0 };
    if base_layer >= layers {
        return Err(image_field(
            image,
            &ImageDescriptor::BASE_ARRAY,
            &format!("is beyond the last slice, {}", layers - 1),
        ));
    }
    if view == View::Cube && (layers - base_layer) % 6 != 0 {
        return Err(image_field(
            image,
            &ImageDescriptor::DEPTH,
            &format!("a cube view has a multiple of 6 layers; this one has {}", layers - base_layer),
        ));
    }
    let mut state = State {
        op,
        gather_channel: gather_channel(dispatch)?,
        view,
        format,
        extent,
        base_level,
        last_level: last_level - base_level,
        base_layer,
        last_layer: layers - 1 - base_layer,
        select: selects(image)?,
        address: [Address::Edge; 3],
        mag: Filter::Point,
        min: Filter::Point,
        slices: SliceFilter::FollowXy,
        mip: MipMode::Base,
        reduction: Reduction::Blend,
        trunc_coord: false,
        unnormalized: false,
        min_lod: 0,
        max_lod: 0xfff,
        image_min_lod: u32::from(image.min_lod()).saturating_sub(base_level * 256),
        lod_bias: 0,
        mip_point_preclamp: false,
        border: [0; 4],
        table_border: false,
        anisotropy: None,
        cube_wrap: false,
        perf_fields: false,
        grid: dispatch.grid,
    };
    match (op.kind, dispatch.sampler) {
        (OpKind::Load, _) => {}
        (_, None) => return Err(part("sampler", "absent", &format!("{op} needs an S#"))),
        (_, Some(words)) => sampler(&mut state, SamplerDescriptor::from_words(words), image, dispatch, rules)?,
    }
    Ok(state)
}

/// Refuses a grid that does not consist of whole quads where the level of detail comes from quads.
pub(crate) fn whole_quads(dispatch: &Dispatch) -> Result<(), Refusal> {
    let [x, y, z] = dispatch.grid;
    let from_quads = matches!(dispatch.op.lod, LodSource::Implicit | LodSource::Bias);
    if from_quads && (!x.is_multiple_of(2) || !y.is_multiple_of(2)) {
        let reason = "implicit derivatives come from 2x2 quads of the grid, so x and y must be even";
        return Err(part("grid", format!("{x}x{y}x{z}"), reason));
    }
    Ok(())
}

fn part(field: &str, value: impl ToString, reason: &str) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value: value.to_string(), reason: reason.to_owned() }
}

fn field(descriptor: &str, words: &[u32], field: &Field, reason: &str) -> Refusal {
    Refusal {
        field: format!("{descriptor}.{}", field.name),
        bits: Some(field.bits_text()),
        value: field.describe(field.extract(words)),
        reason: reason.to_owned(),
    }
}

fn image_field(image: ImageDescriptor, which: &Field, reason: &str) -> Refusal {
    field("T#", &image.words(), which, reason)
}

fn sampler_field(sampler: SamplerDescriptor, which: &Field, reason: &str) -> Refusal {
    field("S#", &sampler.words(), which, reason)
}

fn view(image: ImageDescriptor) -> Result<View, Refusal> {
    match image.image_type() {
        ImageType::D1 => Ok(View::D1),
        ImageType::D1Array => Ok(View::D1Array),
        ImageType::D2 => Ok(View::D2),
        ImageType::D2Array => Ok(View::D2Array),
        ImageType::D3 => Ok(View::D3),
        ImageType::Cube => Ok(View::Cube),
        _ => Err(image_field(image, &ImageDescriptor::TYPE, "1D, 2D, 3D, cube and arrays of 1D and 2D are modelled")),
    }
}

fn format(image: ImageDescriptor, rules: &Rules) -> Result<TexelFormat, Refusal> {
    let refuse = |reason: &str| Err(image_field(image, &ImageDescriptor::FORMAT, reason));
    let Some(format) = TexelFormat::from_code(image.format()) else {
        return refuse("formats 20 and 30 to 43 are modelled");
    };
    let float = matches!(image.format(), 36 | 43);
    if rules.accumulation.aligned_bits().is_some() && !float && !format.kind().is_integer() {
        return refuse("the rule accumulation aligned is known for formats 36 and 43 only");
    }
    Ok(format)
}

/// Fields that change sampling in ways that are not modelled, when they are set.
fn refuse_set_flags(image: ImageDescriptor) -> Result<(), Refusal> {
    let words = image.words();
    for (which, reason) in [
        (&ImageDescriptor::CORNER_SAMPLES, "corner sampling changes the mapping of coordinates; not modelled"),
        (&ImageDescriptor::LINKED_RESOURCE, "a residency map changes which texels are read; not modelled"),
    ] {
        if which.extract(&words) != 0 {
            return Err(image_field(image, which, reason));
        }
    }
    Ok(())
}

fn extent(image: ImageDescriptor, view: View) -> Result<Extent, Refusal> {
    let height = if view.axes() == 1 { 1 } else { image.height() };
    let (depth, layers) = match view {
        View::D3 => {
            if image.array_pitch() & 1 != 0 {
                return Err(image_field(
                    image,
                    &ImageDescriptor::ARRAY_PITCH,
                    "a 3D view for storage counts slices of its own level; sampling it is not modelled",
                ));
            }
            (image.depth(), 1)
        }
        View::D1Array | View::D2Array | View::Cube => (1, u32::from(image.last_slice()) + 1),
        View::D1 | View::D2 => (1, 1),
    };
    let size = [image.width(), height, depth];
    if view == View::Cube && size[0] != size[1] {
        return Err(image_field(
            image,
            &ImageDescriptor::HEIGHT,
            &format!("a cube's faces are square; the width is {}", size[0]),
        ));
    }
    let levels = u32::from(image.max_mip()) + 1;
    let largest = size.into_iter().max().unwrap_or(1);
    if levels > largest.ilog2() + 1 {
        return Err(image_field(
            image,
            &ImageDescriptor::MAX_MIP,
            &format!("an image of {}x{}x{} has at most {} levels", size[0], size[1], size[2], largest.ilog2() + 1),
        ));
    }
    Ok(Extent { size, layers, levels })
}

fn selects(image: ImageDescriptor) -> Result<[Select; 4], Refusal> {
    let fields = [
        &ImageDescriptor::DST_SEL_X,
        &ImageDescriptor::DST_SEL_Y,
        &ImageDescriptor::DST_SEL_Z,
        &ImageDescriptor::DST_SEL_W,
    ];
    let mut selects = [Select::Zero; 4];
    for ((select, which), field) in selects.iter_mut().zip(image.dst_sel()).zip(fields) {
        *select = match which {
            DstSel::Zero => Select::Zero,
            DstSel::One => Select::One,
            DstSel::X => Select::Channel(0),
            DstSel::Y => Select::Channel(1),
            DstSel::Z => Select::Channel(2),
            DstSel::W => Select::Channel(3),
            _ => return Err(image_field(image, field, "the meaning of this selector for sampling is not known")),
        };
    }
    Ok(selects)
}

fn gather_channel(dispatch: &Dispatch) -> Result<u8, Refusal> {
    if dispatch.op.kind != OpKind::Gather4 {
        return Ok(0);
    }
    match dispatch.dmask {
        None => Ok(0),
        Some(mask) if mask < 16 && mask.is_power_of_two() => Ok(mask.trailing_zeros() as u8),
        Some(mask) => Err(part("dmask", mask, "a gather's DMASK has exactly one of its four bits set")),
    }
}

fn sampler(
    state: &mut State,
    sampler: SamplerDescriptor,
    image: ImageDescriptor,
    dispatch: &Dispatch,
    rules: &Rules,
) -> Result<(), Refusal> {
    let refuse = |which: &Field, reason: &str| Err(sampler_field(sampler, which, reason));
    if sampler.deriv_adjust_en() {
        return refuse(
            &SamplerDescriptor::DERIV_ADJUST_EN,
            "words 2 and 3 then mean something else, and how derivatives are adjusted is not known",
        );
    }
    if sampler.mc_coord_trunc() {
        return refuse(
            &SamplerDescriptor::MC_COORD_TRUNC,
            "weights of one bit for motion compensation are not modelled",
        );
    }
    state.address = sampler.clamp().map(|clamp| Address::ALL[Clamp::bits(clamp) as usize]);
    let filter = |filter: XyFilter| match filter {
        XyFilter::Point | XyFilter::AnisoPoint => Filter::Point,
        XyFilter::Bilinear | XyFilter::AnisoBilinear => Filter::Linear,
    };
    state.mag = filter(sampler.xy_mag_filter());
    state.min = filter(sampler.xy_min_filter());
    state.anisotropy = anisotropy(state, sampler)?;
    state.slices = match sampler.z_filter() {
        ZFilter::None => SliceFilter::FollowXy,
        ZFilter::Point => SliceFilter::Own(Filter::Point),
        ZFilter::Linear => SliceFilter::Own(Filter::Linear),
        _ if state.view == View::D3 => return refuse(&SamplerDescriptor::Z_FILTER, "0, 1 and 2 are defined"),
        _ => SliceFilter::FollowXy,
    };
    let (mip, mip_field) = match rules.mip_filter_bits {
        MipFilterBits::Bits27To26 => (sampler.mip_filter(), &SamplerDescriptor::MIP_FILTER),
        MipFilterBits::Bits25To24 => (MipFilter::from_bits(sampler.z_filter().bits()), &SamplerDescriptor::Z_FILTER),
    };
    state.mip = match mip {
        MipFilter::None => MipMode::Base,
        MipFilter::Point => MipMode::Point,
        MipFilter::Linear => MipMode::Linear,
        _ => return refuse(mip_field, "the point filter with an adjustment for anisotropy is not modelled"),
    };
    state.reduction = match sampler.filter_mode() {
        FilterMode::Blend => Reduction::Blend,
        FilterMode::Min => Reduction::Min,
        FilterMode::Max => Reduction::Max,
        _ => return refuse(&SamplerDescriptor::FILTER_MODE, "0, 1 and 2 are defined"),
    };
    let linear = state.mag == Filter::Linear
        || state.min == Filter::Linear
        || state.mip == MipMode::Linear
        || (state.view == View::D3 && state.slices == SliceFilter::Own(Filter::Linear));
    if state.format.kind().is_integer() && linear && state.op.kind == OpKind::Sample {
        return Err(image_field(image, &ImageDescriptor::FORMAT, "integer texels can not be filtered linearly"));
    }
    state.perf_fields = sampler.perf_mip() != 0 && state.mip == MipMode::Linear && state.last_level > 0
        || sampler.perf_z() != 0 && state.view == View::D3;
    state.cube_wrap = !sampler.disable_cube_wrap();
    state.trunc_coord = sampler.trunc_coord();
    state.unnormalized = sampler.force_unnormalized();
    if state.unnormalized {
        unnormalized(state, sampler)?;
    }
    state.min_lod = u32::from(sampler.min_lod());
    state.max_lod = u32::from(sampler.max_lod());
    state.lod_bias = i32::from(sampler.lod_bias());
    if !matches!(state.op.lod, LodSource::Explicit | LodSource::Zero) {
        state.lod_bias += 16 * i32::from(sampler.lod_bias_sec());
    }
    state.mip_point_preclamp = sampler.mip_point_preclamp();
    state.table_border = sampler.border_color_type() == BorderColorType::Register;
    state.border = border(state, sampler, image, dispatch, rules)?;
    if rules.anisotropy == AnisotropyRule::Ellipse && state.anisotropy.is_some() {
        if !matches!(state.view, View::D2 | View::D2Array) {
            return Err(image_field(
                image,
                &ImageDescriptor::TYPE,
                "the elliptical filter is known for 2D images only",
            ));
        }
        if state.reduction != Reduction::Blend {
            return refuse(&SamplerDescriptor::FILTER_MODE, "the elliptical filter only blends");
        }
    }
    Ok(())
}

/// The anisotropic filter that is on, if one is: it needs derivatives, a ratio above 1, and more than one level unless
/// ANISO_OVERRIDE is clear.
fn anisotropy(state: &State, sampler: SamplerDescriptor) -> Result<Option<Anisotropy>, Refusal> {
    let wanted = sampler.xy_mag_filter().is_aniso() || sampler.xy_min_filter().is_aniso();
    let explicit = matches!(state.op.lod, LodSource::Explicit | LodSource::Zero);
    let overridden = sampler.aniso_override() && state.last_level == 0;
    if !wanted || explicit || overridden || state.op.kind != OpKind::Sample {
        return Ok(None);
    }
    let ratio = sampler.max_aniso_ratio();
    if ratio.ratio().is_none() {
        return Err(sampler_field(sampler, &SamplerDescriptor::MAX_ANISO_RATIO, "0 to 4 are defined"));
    }
    if sampler.aniso_bias() != 0 {
        return Err(sampler_field(
            sampler,
            &SamplerDescriptor::ANISO_BIAS,
            "how the bias changes the ratio is not known, so only 0 is modelled",
        ));
    }
    if ratio.bits() == 0 {
        return Ok(None);
    }
    if state.format.kind().is_integer() {
        return Err(sampler_field(
            sampler,
            &SamplerDescriptor::XY_MIN_FILTER,
            "probes of integer texels can not be averaged",
        ));
    }
    Ok(Some(Anisotropy { log2_ratio: ratio.bits(), threshold: sampler.aniso_threshold().into() }))
}

/// PAL allows unnormalized coordinates with edge or border addressing and a single level only.
fn unnormalized(state: &State, sampler: SamplerDescriptor) -> Result<(), Refusal> {
    let fields = [&SamplerDescriptor::CLAMP_X, &SamplerDescriptor::CLAMP_Y, &SamplerDescriptor::CLAMP_Z];
    for (address, which) in state.address.iter().zip(fields).take(state.view.axes()) {
        if matches!(address, Address::Wrap | Address::Mirror | Address::MirrorOnceEdge) {
            return Err(sampler_field(
                sampler,
                which,
                "with FORCE_UNNORMALIZED only edge and border addressing are defined",
            ));
        }
    }
    if state.view == View::Cube {
        return Err(sampler_field(
            sampler,
            &SamplerDescriptor::FORCE_UNNORMALIZED,
            "the coordinates of a cube are those of its faces",
        ));
    }
    if state.mip != MipMode::Base {
        return Err(sampler_field(
            sampler,
            &SamplerDescriptor::MIP_FILTER,
            "with FORCE_UNNORMALIZED there is no choice of levels",
        ));
    }
    Ok(())
}

/// The border colour before DST_SEL: stored R, G, B, A ordered by BC_SWIZZLE.
fn border(
    state: &State,
    sampler: SamplerDescriptor,
    image: ImageDescriptor,
    dispatch: &Dispatch,
    rules: &Rules,
) -> Result<[u32; 4], Refusal> {
    if !state.uses_border() {
        return Ok([0; 4]);
    }
    let one = state.format.kind().one();
    let mut stored = match sampler.border_color_type() {
        BorderColorType::TransparentBlack => [0; 4],
        BorderColorType::OpaqueBlack => [0, 0, 0, one],
        BorderColorType::OpaqueWhite => [one; 4],
        BorderColorType::Register => {
            let index = usize::from(sampler.border_color_ptr());
            *dispatch.border_table.get(index).ok_or_else(|| {
                sampler_field(
                    sampler,
                    &SamplerDescriptor::BORDER_COLOR_PTR,
                    &format!("border_table has {} rows", dispatch.border_table.len()),
                )
            })?
        }
    };
    if !state.format.kind().is_integer() {
        for channel in &mut stored {
            match rules.border_precision {
                BorderPrecision::Fp32 => {}
                BorderPrecision::Cut16 => *channel = cut_to_fp16(*channel),
                BorderPrecision::Unsigned if matches!(state.format.kind(), NumericKind::Float) => {
                    // A NaN is no number above 0.
                    *channel = f32::from_bits(*channel).max(0.0).to_bits();
                }
                BorderPrecision::Unsigned => {}
            }
            if f32::from_bits(*channel).abs() < SMALLEST_BORDER {
                *channel = 0;
            }
        }
    }
    if rules.border_swizzle == BorderSwizzle::None {
        return Ok(stored);
    }
    let Some(order) = image.bc_swizzle().order() else {
        return Err(image_field(image, &ImageDescriptor::BC_SWIZZLE, "0 to 5 are defined"));
    };
    let mut internal = order.map(|channel| stored[channel as usize]);
    if rules.border_missing_channel == BorderMissingChannel::One {
        for channel in internal.iter_mut().skip(state.format.channels().len()) {
            *channel = one;
        }
    }
    Ok(internal)
}
