//! From recorded bindings to those of an executor.

use capture_format::{BoundBuffer, BoundImage, BoundResource, ComputeDispatch, HostFormat, HostView};

use super::refuse;
use crate::{
    execute::{
        Binding, ExecuteError, Executor, Image, ImageDim, Job, Module, Resource,
        vulkan::{Component, NativeBinding, NativeFormat, NativeImage, NativeJob, NativeResource, NativeView},
    },
    path::Failure,
    refusal::Refusal,
};

/// The most words that stand for contents that were not recorded: a size in a file costs nothing, zeros do.
const MAX_ZERO_WORDS: u64 = 1 << 28;

/// The bindings of a dispatch, ready to be bound.
pub(super) struct Bound<'a> {
    specialization: Vec<(u32, u32)>,
    resources: Vec<(Place, Ready<'a>)>,
}

/// Where a resource is bound: set, binding, element.
type Place = (u32, u32, u32);

/// A resource with its contents; zeros stand for those that were not recorded.
enum Ready<'a> {
    Uniform(&'a [u32]),
    /// A storage buffer with its size in words.
    Buffer(Option<&'a [u32]>, usize),
    Image(&'a BoundImage, Texels<'a>),
}

enum Texels<'a> {
    Recorded(&'a [u32]),
    Zeros(Vec<u32>),
}

impl Texels<'_> {
    fn words(&self) -> &[u32] {
        match self {
            Self::Recorded(words) => words,
            Self::Zeros(words) => words,
        }
    }
}

impl<'a> Bound<'a> {
    pub(super) fn new(dispatch: &'a ComputeDispatch) -> Result<Self, Refusal> {
        let mut specialization = Vec::with_capacity(dispatch.specialization.len());
        for constant in &dispatch.specialization {
            let value = u32::try_from(constant.value).ok().filter(|_| constant.bytes <= 4);
            let value = value.ok_or_else(|| {
                let field = format!("specialization constant {}", constant.id);
                refuse(&field, format!("{} bytes", constant.bytes), "expected one of at most 32 bits")
            })?;
            specialization.push((constant.id, value));
        }
        let mut zeros = MAX_ZERO_WORDS;
        let mut resources = Vec::with_capacity(dispatch.bindings.len());
        for binding in &dispatch.bindings {
            let field = format!("binding {binding}");
            let ready = match &binding.resource {
                BoundResource::Sampler(_) => {
                    return Err(refuse(
                        &field,
                        "a sampler",
                        "the state of the host's sampler is not recorded; only modules that fetch texels are replayed",
                    ));
                }
                BoundResource::Buffer(buffer) => buffer_ready(&field, buffer, &mut zeros)?,
                BoundResource::Image(image) => image_ready(&field, image, &mut zeros)?,
            };
            resources.push(((binding.set, binding.binding, binding.element), ready));
        }
        Ok(Self { specialization, resources })
    }

    pub(super) fn specialization(&self) -> &[(u32, u32)] {
        &self.specialization
    }

    /// Numbers of the bindings whose contents the executor returns.
    pub(super) fn written(&self) -> Vec<usize> {
        let written = |ready: &Ready<'_>| match ready {
            Ready::Uniform(_) => false,
            Ready::Buffer(..) => true,
            Ready::Image(image, _) => image.storage,
        };
        self.resources.iter().enumerate().filter(|(_, (_, ready))| written(ready)).map(|(number, _)| number).collect()
    }

    /// Runs the module; contents after it of all that [`Self::written`] names.
    pub(super) fn run(
        &self,
        dispatch: &ComputeDispatch,
        module: &Module,
        executor: &mut dyn Executor,
    ) -> Result<Vec<Vec<u32>>, Failure> {
        let push_constants = dispatch.push_constants.as_slice();
        let (entry, groups, specialization) =
            (dispatch.entry.as_str(), dispatch.groups, self.specialization.as_slice());
        if let Some(device) = executor.native() {
            let bindings = self.native()?;
            let job = NativeJob { module, entry, specialization, bindings: &bindings, push_constants, groups };
            return Ok(device.run_native(&job)?);
        }
        let bindings = self.plain()?;
        Ok(executor.run(&Job { module, entry, specialization, bindings: &bindings, push_constants, groups })?)
    }

    /// For a Vulkan device.
    fn native(&self) -> Result<Vec<NativeBinding<'_>>, Failure> {
        fn bind<'b>(
            &((set, binding, element), ref ready): &'b (Place, Ready<'_>),
        ) -> Result<NativeBinding<'b>, Failure> {
            let resource = match ready {
                Ready::Uniform(words) => NativeResource::Input(words),
                Ready::Buffer(Some(words), _) => NativeResource::InOut(words),
                Ready::Buffer(None, words) => NativeResource::Output(*words),
                Ready::Image(image, texels) => {
                    let native = NativeImage {
                        format: native_format(image.format)
                            .ok_or_else(|| unknown_format(set, binding, image.format))?,
                        view: native_view(image.view),
                        extent: image.extent,
                        layers: image.layers,
                        levels: image.levels,
                        components: Component::IDENTITY,
                        texels: texels.words(),
                    };
                    if image.storage { NativeResource::Storage(native) } else { NativeResource::Image(native) }
                }
            };
            Ok(NativeBinding { set, binding, element, resource })
        }
        self.resources.iter().map(bind).collect()
    }

    /// For any other executor.
    pub(super) fn plain(&self) -> Result<Vec<Binding<'_>>, Failure> {
        fn bind<'b>(&((set, binding, element), ref ready): &'b (Place, Ready<'_>)) -> Result<Binding<'b>, Failure> {
            let resource = match ready {
                Ready::Uniform(words) => Resource::Input(words),
                Ready::Buffer(Some(words), _) => Resource::InOut(words),
                Ready::Buffer(None, words) => Resource::Output(*words),
                Ready::Image(image, texels) => {
                    let plain = Image {
                        dim: match image.view {
                            HostView::D1 => ImageDim::D1,
                            HostView::D1Array => ImageDim::D1Array,
                            HostView::D2 => ImageDim::D2,
                            HostView::D3 => ImageDim::D3,
                            HostView::D2Array | HostView::Cube | HostView::CubeArray => ImageDim::D2Array,
                        },
                        extent: image.extent,
                        layers: image.layers,
                        levels: image.levels,
                        texels: texels.words(),
                    };
                    if image.storage {
                        Resource::Storage(plain)
                    } else if matches!(
                        image.format,
                        HostFormat::R32_UINT | HostFormat::R32_SINT | HostFormat::R32_SFLOAT
                    ) {
                        // One word a texel, which is what a fetch returns.
                        Resource::Image(plain)
                    } else {
                        return Err(ExecuteError::Unsupported(format!(
                            "set {set} binding {binding}: an image of {}; the embedded executor fetches from images of \
                             one 32-bit channel",
                            image.format
                        ))
                        .into());
                    }
                }
            };
            Ok(Binding { set, binding, element, resource })
        }
        self.resources.iter().map(bind).collect()
    }
}

fn take_zeros(field: &str, words: u64, zeros: &mut u64) -> Result<usize, Refusal> {
    let left = zeros.checked_sub(words);
    let (Some(left), Ok(length)) = (left, usize::try_from(words)) else {
        let reason =
            format!("contents that were not recorded count as zeros, of which there are at most {MAX_ZERO_WORDS}");
        return Err(refuse(field, format!("{words} words"), reason));
    };
    *zeros = left;
    Ok(length)
}

fn buffer_ready<'a>(field: &str, buffer: &'a BoundBuffer, zeros: &mut u64) -> Result<Ready<'a>, Refusal> {
    match (&buffer.before, buffer.uniform) {
        (Some(words), true) => Ok(Ready::Uniform(words)),
        (Some(words), false) => Ok(Ready::Buffer(Some(words), words.len())),
        (None, true) => Err(refuse(field, "a uniform buffer", "its contents were not recorded")),
        (None, false) => Ok(Ready::Buffer(None, take_zeros(field, buffer.words, zeros)?)),
    }
}

fn image_ready<'a>(field: &str, image: &'a BoundImage, zeros: &mut u64) -> Result<Ready<'a>, Refusal> {
    if image.combined {
        return Err(refuse(
            field,
            "an image with a sampler",
            "the state of the host's sampler is not recorded; only modules that fetch texels are replayed",
        ));
    }
    let texels = match &image.before {
        Some(words) => Texels::Recorded(words),
        None => {
            let words = image.content_words();
            let words = words.ok_or_else(|| refuse(field, image.format, "the size of its texels is not known"))?;
            Texels::Zeros(vec![0; take_zeros(field, words, zeros)?])
        }
    };
    Ok(Ready::Image(image, texels))
}

fn unknown_format(set: u32, binding: u32, format: HostFormat) -> Failure {
    let field = format!("binding set {set} binding {binding}");
    refuse(&field, format, "images of this host format are recorded, but not replayed").into()
}

/// The format of a host image, when images of it are replayed.
pub(super) fn native_format(format: HostFormat) -> Option<NativeFormat> {
    Some(match format.0 {
        37 => NativeFormat::Rgba8Unorm,
        64 => NativeFormat::A2B10G10R10Unorm,
        83 => NativeFormat::Rg16Sfloat,
        97 => NativeFormat::Rgba16Sfloat,
        98 => NativeFormat::R32Uint,
        99 => NativeFormat::R32Sint,
        100 => NativeFormat::R32Sfloat,
        107 => NativeFormat::Rgba32Uint,
        109 => NativeFormat::Rgba32Sfloat,
        122 => NativeFormat::B10G11R11Ufloat,
        123 => NativeFormat::E5B9G9R9Ufloat,
        _ => return None,
    })
}

fn native_view(view: HostView) -> NativeView {
    match view {
        HostView::D1 => NativeView::D1,
        HostView::D1Array => NativeView::D1Array,
        HostView::D2 => NativeView::D2,
        HostView::D2Array => NativeView::D2Array,
        HostView::D3 => NativeView::D3,
        HostView::Cube => NativeView::Cube,
        HostView::CubeArray => NativeView::CubeArray,
    }
}
