//! Sampling with the device's own texture unit, at points where the result is exact on every device.

use replayer::execute::{
    ExecuteError, Module,
    vulkan::{
        AddressMode, BorderColor, Component, NativeBinding, NativeFilter, NativeFormat, NativeImage, NativeJob,
        NativeResource, NativeSampler, NativeSamplerState, NativeView, ReductionMode, VulkanExecutor,
    },
};
use rspirv::spirv::Dim;

use crate::{assert_silent, modules, open};

/// Samples `image` at rows of coordinates and LOD.
fn sample(
    executor: &mut VulkanExecutor,
    image: NativeImage<'_>,
    state: NativeSamplerState,
    rows: &[&[f32]],
) -> Result<Vec<[f32; 4]>, ExecuteError> {
    let (dim, arrayed) = match image.view {
        NativeView::D1 => (Dim::Dim1D, false),
        NativeView::D1Array => (Dim::Dim1D, true),
        NativeView::D2 => (Dim::Dim2D, false),
        NativeView::D2Array => (Dim::Dim2D, true),
        NativeView::D3 => (Dim::Dim3D, false),
        NativeView::Cube => (Dim::DimCube, false),
        NativeView::CubeArray => (Dim::DimCube, true),
    };
    run(executor, &modules::sample(dim, arrayed), NativeResource::Sampled(image, state), rows)
}

fn run(
    executor: &mut VulkanExecutor,
    module: &Module,
    resource: NativeResource<'_>,
    rows: &[&[f32]],
) -> Result<Vec<[f32; 4]>, ExecuteError> {
    let words: Vec<u32> = rows.iter().flat_map(|row| row.iter().map(|f| f.to_bits())).collect();
    let at = |binding, resource| NativeBinding { set: 0, binding, element: 0, resource };
    let bindings =
        [at(0, NativeResource::Input(&words)), at(1, NativeResource::Output(4 * rows.len())), at(2, resource)];
    let groups = [u32::try_from(rows.len()).unwrap(), 1, 1];
    let job =
        NativeJob { module, entry: "main", specialization: &[], bindings: &bindings, push_constants: &[], groups };
    let out = executor.run_native(&job)?;
    Ok(out[0].chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]].map(f32::from_bits)).collect())
}

fn image(view: NativeView, extent: [u32; 3], layers: u32, texels: &[u32]) -> NativeImage<'_> {
    NativeImage {
        format: NativeFormat::R32Sfloat,
        view,
        extent,
        layers,
        levels: 1,
        components: Component::IDENTITY,
        texels,
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn formats_are_decoded_and_components_mapped() {
    let mut executor = open(|_| {});
    // 1.0 has the exponent 15: R 11 bits, G 11 bits, B 10 bits from the lowest on. R = 1, G = 1.5, B = 2.
    let texel = [(15 << 6) | ((15 << 6 | 1 << 5) << 11) | ((16 << 5) << 22)];
    let packed = NativeImage {
        format: NativeFormat::B10G11R11Ufloat,
        components: [Component::B, Component::One, Component::R, Component::G],
        ..image(NativeView::D2, [1, 1, 1], 1, &texel)
    };
    let state = NativeSamplerState::default();
    assert_eq!(sample(&mut executor, packed, state, &[&[0.5, 0.5, 0.0]]), Ok(vec![[2.0, 1.0, 1.0, 1.5]]));
    // The same image with another mapping.
    let plain = NativeImage { components: Component::IDENTITY, ..packed };
    assert_eq!(sample(&mut executor, plain, state, &[&[0.5, 0.5, 0.0]]), Ok(vec![[1.0, 1.5, 2.0, 1.0]]));
    let wide = bits(&[1.0, -2.0, 0.25, 8.0, 5.0, 6.0, 7.0, 9.0]);
    let wide = NativeImage { format: NativeFormat::Rgba32Sfloat, ..image(NativeView::D2, [2, 1, 1], 1, &wide) };
    assert_eq!(
        sample(&mut executor, wide, state, &[&[0.25, 0.5, 0.0], &[0.75, 0.5, 0.0]]),
        Ok(vec![[1.0, -2.0, 0.25, 8.0], [5.0, 6.0, 7.0, 9.0]])
    );
    assert_silent(&mut executor);
}

#[test]
fn every_view_is_sampled() {
    let mut executor = open(|_| {});
    let state = NativeSamplerState::default();
    let x =
        |result: Result<Vec<[f32; 4]>, ExecuteError>| -> Vec<f32> { result.unwrap().iter().map(|v| v[0]).collect() };
    let texels: Vec<u32> = (0..12).map(|i| (i as f32).to_bits()).collect();
    let d1 = image(NativeView::D1, [4, 1, 1], 1, &texels[..4]);
    assert_eq!(x(sample(&mut executor, d1, state, &[&[0.1, 0.0], &[0.9, 0.0]])), [0.0, 3.0]);
    let d1_array = image(NativeView::D1Array, [4, 1, 1], 3, &texels);
    assert_eq!(x(sample(&mut executor, d1_array, state, &[&[0.3, 2.0, 0.0]])), [9.0]);
    let d2_array = image(NativeView::D2Array, [2, 2, 1], 3, &texels);
    assert_eq!(x(sample(&mut executor, d2_array, state, &[&[0.75, 0.25, 1.0, 0.0]])), [5.0]);
    let d3 = image(NativeView::D3, [2, 2, 3], 1, &texels);
    assert_eq!(x(sample(&mut executor, d3, state, &[&[0.25, 0.75, 0.5, 0.0]])), [6.0]);
    // +X, -X, +Y, -Y, +Z, -Z.
    let axes: [&[f32]; 6] = [
        &[1.0, 0.0, 0.0, 0.0],
        &[-1.0, 0.0, 0.0, 0.0],
        &[0.0, 1.0, 0.0, 0.0],
        &[0.0, -1.0, 0.0, 0.0],
        &[0.0, 0.0, 1.0, 0.0],
        &[0.0, 0.0, -1.0, 0.0],
    ];
    let cube = image(NativeView::Cube, [1, 1, 1], 6, &texels[..6]);
    assert_eq!(x(sample(&mut executor, cube, state, &axes)), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let cubes = image(NativeView::CubeArray, [1, 1, 1], 12, &texels);
    assert_eq!(x(sample(&mut executor, cubes, state, &[&[0.0, -1.0, 0.0, 1.0, 0.0]])), [9.0]);
    assert_silent(&mut executor);
}

#[test]
fn filters_levels_and_addressing_follow_the_state() {
    let mut executor = open(|_| {});
    let texels = bits(&[0.0, 8.0, 16.0, 24.0, 100.0, 200.0, 300.0]);
    let levels = NativeImage { levels: 3, ..image(NativeView::D1, [4, 1, 1], 1, &texels) };
    let mut x = |state, rows: &[&[f32]]| -> Vec<f32> {
        sample(&mut executor, levels, state, rows).unwrap().iter().map(|v| v[0]).collect()
    };
    let nearest = NativeSamplerState::default();
    let linear = NativeSamplerState { mag: NativeFilter::Linear, min: NativeFilter::Linear, ..nearest };
    assert_eq!(x(nearest, &[&[0.4, 0.0], &[0.6, 1.0], &[0.6, 2.0]]), [8.0, 200.0, 300.0]);
    // Half way between texels.
    assert_eq!(x(linear, &[&[0.25, 0.0], &[0.5, 1.0]]), [4.0, 150.0]);
    let trilinear = NativeSamplerState { mip: NativeFilter::Linear, ..linear };
    assert_eq!(x(trilinear, &[&[0.5, 1.5]]), [225.0]);
    assert_eq!(x(NativeSamplerState { min_lod: 2.0, ..nearest }, &[&[0.1, 0.0]]), [300.0]);
    assert_eq!(x(NativeSamplerState { max_lod: 0.0, ..nearest }, &[&[0.1, 5.0]]), [0.0]);
    assert_eq!(x(NativeSamplerState { lod_bias: 1.0, ..nearest }, &[&[0.1, 0.0]]), [100.0]);
    let with = |mode| NativeSamplerState { address: [mode; 3], ..nearest };
    let outside: [&[f32]; 3] = [&[-0.1, 0.0], &[1.3, 0.0], &[2.6, 0.0]];
    assert_eq!(x(with(AddressMode::Repeat), &outside), [24.0, 8.0, 16.0]);
    assert_eq!(x(with(AddressMode::MirroredRepeat), &outside), [0.0, 16.0, 16.0]);
    assert_eq!(x(with(AddressMode::ClampToEdge), &outside), [0.0, 24.0, 24.0]);
    let border = NativeSamplerState { border: BorderColor::OpaqueWhite, ..with(AddressMode::ClampToBorder) };
    assert_eq!(x(border, &outside), [1.0, 1.0, 1.0]);
    assert_silent(&mut executor);
}

#[test]
fn optional_features_work_or_are_refused_by_name() {
    let mut executor = open(|_| {});
    let device = executor.device().clone();
    let texels = bits(&[1.0, 2.0, 4.0, 8.0]);
    let line = image(NativeView::D2, [4, 1, 1], 1, &texels);
    let nearest = NativeSamplerState::default();
    let mut check = |has: bool, name: &str, state, at: &[f32], expected: Option<f32>| match sample(
        &mut executor,
        line,
        state,
        &[at],
    ) {
        Ok(out) => {
            assert!(has, "{name} is not reported, yet it was sampled");
            assert!(expected.is_none_or(|e| out[0][0] == e), "{name}: {} for {expected:?}", out[0][0]);
        }
        Err(ExecuteError::Unsupported(text)) => {
            assert!(!has, "{name} is reported: {text}");
            assert!(text.contains(name), "{text}");
        }
        Err(other) => panic!("{name}: {other:?}"),
    };
    let mirror = NativeSamplerState { address: [AddressMode::MirrorClampToEdge; 3], ..nearest };
    check(device.sampler_mirror_clamp_to_edge, "samplerMirrorClampToEdge", mirror, &[-0.3, 0.5, 0.0], Some(2.0));
    check(device.sampler_mirror_clamp_to_edge, "samplerMirrorClampToEdge", mirror, &[-3.0, 0.5, 0.0], Some(8.0));
    let border = NativeSamplerState {
        address: [AddressMode::ClampToBorder; 3],
        border: BorderColor::Custom([0.375f32.to_bits(), 0, 0, 0]),
        ..nearest
    };
    check(device.custom_border_color, "customBorderColors", border, &[-0.3, 0.5, 0.0], Some(0.375));
    let linear = NativeSamplerState { mag: NativeFilter::Linear, min: NativeFilter::Linear, ..nearest };
    let max = NativeSamplerState { reduction: ReductionMode::Max, ..linear };
    check(device.sampler_filter_minmax, "samplerFilterMinmax", max, &[0.5, 0.5, 0.0], Some(4.0));
    let min = NativeSamplerState { reduction: ReductionMode::Min, ..linear };
    check(device.sampler_filter_minmax, "samplerFilterMinmax", min, &[0.5, 0.5, 0.0], Some(2.0));
    let unnormalized = NativeSamplerState { unnormalized: true, max_lod: 0.0, ..nearest };
    check(true, "unnormalized", unnormalized, &[2.5, 0.5, 0.0], Some(4.0));
    let anisotropic = NativeSamplerState { anisotropy: Some(2.0), ..linear };
    // How it weighs the texels is up to the device.
    check(device.max_sampler_anisotropy >= 2.0, "samplerAnisotropy", anisotropic, &[0.375, 0.5, 0.0], None);
    assert_silent(&mut executor);
}

#[test]
fn wrong_states_are_refused() {
    let mut executor = open(|_| {});
    let texels = bits(&[1.0, 2.0]);
    let line = image(NativeView::D2, [2, 1, 1], 1, &texels);
    let nearest = NativeSamplerState::default();
    let row: [&[f32]; 1] = [&[0.5, 0.5, 0.0]];
    let mut error = |image, state| sample(&mut executor, image, state, &row).unwrap_err().to_string();
    let text = error(line, NativeSamplerState { unnormalized: true, ..nearest });
    assert_eq!(text, "not supported: sampler: unnormalized coordinates need min_lod and max_lod 0");
    let text = error(line, NativeSamplerState { min_lod: 2.0, max_lod: 1.0, ..nearest });
    assert_eq!(text, "invalid job: sampler: max_lod 1 is below min_lod 2");
    let text = error(line, NativeSamplerState { lod_bias: f32::NAN, ..nearest });
    assert!(text.contains("must be finite"), "{text}");
    let text = error(line, NativeSamplerState { anisotropy: Some(1e6), ..nearest });
    assert!(text.contains("maxSamplerAnisotropy") || text.contains("samplerAnisotropy"), "{text}");
    let text = error(NativeImage { format: NativeFormat::R32Uint, ..line }, nearest);
    assert_eq!(text, "invalid job: set 0 binding 2: the module reads floats from an image of R32Uint");
    let bare = run(&mut executor, &modules::sample(Dim::Dim2D, false), NativeResource::Image(line), &row);
    assert_eq!(
        bare.unwrap_err().to_string(),
        "invalid job: set 0 binding 2: the module has an image combined with a sampler, the job binds an image without a \
         sampler"
    );
    assert_silent(&mut executor);
}
