//! Compute dispatches: whole dispatches of an emulator, with the very SPIR-V that it ran.

use std::{fmt, str::FromStr};

use crate::{Dispatch, HostFormat, HostView, TexelFormat, TraceMeta, Words};

/// One recorded dispatch of an emulator: what it ran, what was bound, and what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeDispatch {
    /// Unique within the trace.
    pub name: String,
    /// The SPIR-V module.
    pub module: Words,
    /// Name of the entry point.
    pub entry: String,
    /// Specialization constants.
    pub specialization: Vec<SpecializationValue>,
    /// Push constants from offset 0 on.
    pub push_constants: Words,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// What is bound, in the order in which it was recorded.
    pub bindings: Vec<ComputeBinding>,
    /// The guest's shader from which the module was made.
    pub guest_shader: GuestShader,
    /// Labels of the host around the dispatch, outermost first.
    pub labels: Vec<String>,
    /// Whether the end of the dispatch was recorded. Without it the host died in it or stopped recording.
    pub ended: bool,
}

/// The value of a specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecializationValue {
    /// `SpecId`.
    pub id: u32,
    /// The value, zero-extended.
    pub value: u64,
    /// Its size in bytes: 1, 2, 4 or 8. Booleans have 4.
    pub bytes: u8,
}

/// The guest's shader, as far as the host told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestShader {
    /// The host's hash of it.
    pub hash: Option<u64>,
    /// Its machine code.
    pub isa: Words,
}

/// A resource with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputeBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for arrays of descriptors.
    pub element: u32,
    /// What is bound.
    pub resource: BoundResource,
}

/// What is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundResource {
    /// An image, alone or combined with a sampler.
    Image(BoundImage),
    /// A sampler alone.
    Sampler(BoundSampler),
    /// A buffer.
    Buffer(BoundBuffer),
}

/// An image that is bound. Contents are all its subresources: level by level, in a level layer by layer (or slice by slice),
/// row by row, without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundImage {
    /// Bound as a storage image. Else it is only read.
    pub storage: bool,
    /// The guest's T#.
    pub descriptor: Option<[u32; 8]>,
    /// It is combined with a sampler of the host.
    pub combined: bool,
    /// The guest's S# with which the guest samples it, whether the host has a sampler for that or filters in the shader.
    pub sampler: Option<[u32; 4]>,
    /// Format of the host's image.
    pub format: HostFormat,
    /// Type of the host's view.
    pub view: HostView,
    /// Texels of level 0 in x, y, z; 1 in the dimensions that are not there.
    pub extent: [u32; 3],
    /// Number of layers: 1 when it is no array, 6 a cube.
    pub layers: u32,
    /// Number of levels; 1 for a storage image, which is one level.
    pub levels: u32,
    /// Contents before the dispatch; zeros when `None`.
    pub before: Option<Words>,
    /// Whether the contents after the dispatch are an output.
    pub output: bool,
    /// Contents after the dispatch.
    pub after: Option<Words>,
}

/// A sampler that is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundSampler {
    /// The guest's S#.
    pub descriptor: Option<[u32; 4]>,
}

/// A buffer that is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundBuffer {
    /// Bound as a uniform buffer instead of a storage buffer.
    pub uniform: bool,
    /// The guest's V#.
    pub descriptor: Option<[u32; 4]>,
    /// Its size in words.
    pub words: u64,
    /// Contents before the dispatch; zeros when `None`.
    pub before: Option<Words>,
    /// Whether the contents after the dispatch are an output.
    pub output: bool,
    /// How outputs are read.
    pub layout: BufferLayout,
    /// Contents after the dispatch.
    pub after: Option<Words>,
}

/// How the words of an output buffer are read and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLayout {
    /// What a word is.
    pub element: ElementType,
    /// Words that are shown as one sample: 1 to 4. A packed element has 1.
    pub channels: u8,
    /// Samples in x, y, z; `None`: one row. The product times `channels` is the size in words.
    pub grid: Option<[u32; 3]>,
}

impl Default for BufferLayout {
    /// Unsigned integers, one a sample.
    fn default() -> Self {
        Self { element: ElementType::Uint, channels: 1, grid: None }
    }
}

/// What a word of a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// FP32.
    Float,
    /// A texel of a guest format of one word.
    Texel(TexelFormat),
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uint => f.write_str("uint"),
            Self::Sint => f.write_str("sint"),
            Self::Float => f.write_str("float"),
            Self::Texel(format) => write!(f, "format-{}", format.code()),
        }
    }
}

/// The text names no type of element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown element {0:?}, expected uint, sint, float, or format-N with a FORMAT code of 20 or 30 to 43")]
pub struct UnknownElement(pub String);

impl FromStr for ElementType {
    type Err = UnknownElement;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "uint" => return Ok(Self::Uint),
            "sint" => return Ok(Self::Sint),
            "float" => return Ok(Self::Float),
            _ => {}
        }
        let code = text.strip_prefix("format-").and_then(|code| code.parse().ok());
        code.and_then(TexelFormat::from_code).map(Self::Texel).ok_or_else(|| UnknownElement(text.to_owned()))
    }
}

impl ComputeDispatch {
    /// The bindings whose contents after the dispatch are outputs, with their numbers.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, &ComputeBinding)> {
        self.bindings.iter().enumerate().filter(|(_, binding)| binding.is_output())
    }
}

impl ComputeBinding {
    /// Whether its contents after the dispatch are an output.
    #[must_use]
    pub fn is_output(&self) -> bool {
        match &self.resource {
            BoundResource::Image(image) => image.output,
            BoundResource::Buffer(buffer) => buffer.output,
            BoundResource::Sampler(_) => false,
        }
    }

    /// Contents before and after the dispatch.
    #[must_use]
    pub fn contents(&self) -> (Option<&Words>, Option<&Words>) {
        match &self.resource {
            BoundResource::Image(image) => (image.before.as_ref(), image.after.as_ref()),
            BoundResource::Buffer(buffer) => (buffer.before.as_ref(), buffer.after.as_ref()),
            BoundResource::Sampler(_) => (None, None),
        }
    }

    pub(crate) fn set_before(&mut self, words: Words) {
        match &mut self.resource {
            BoundResource::Image(image) => image.before = Some(words),
            BoundResource::Buffer(buffer) => buffer.before = Some(words),
            BoundResource::Sampler(_) => {}
        }
    }

    pub(crate) fn set_after(&mut self, words: Words) {
        match &mut self.resource {
            BoundResource::Image(image) => image.after = Some(words),
            BoundResource::Buffer(buffer) => buffer.after = Some(words),
            BoundResource::Sampler(_) => {}
        }
    }

    /// Words of its contents; `None` for samplers and for images of a format whose texels' size is not known.
    #[must_use]
    pub fn content_words(&self) -> Option<u64> {
        match &self.resource {
            BoundResource::Image(image) => image.content_words(),
            BoundResource::Buffer(buffer) => Some(buffer.words),
            BoundResource::Sampler(_) => None,
        }
    }
}

impl fmt::Display for ComputeBinding {
    /// Its place: `set 0 binding 1`, with the element where it is not 0.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "set {} binding {}", self.set, self.binding)?;
        if self.element != 0 { write!(f, " element {}", self.element) } else { Ok(()) }
    }
}

impl BoundImage {
    /// Texels of a level in x, y, z.
    #[must_use]
    pub fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|size| size.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Words of all subresources; `None` when the texels' size is not known or the product does not fit 64 bits.
    #[must_use]
    pub fn content_words(&self) -> Option<u64> {
        let texel = u64::from(self.format.texel_words()?);
        (0..self.levels).try_fold(0u64, |sum, level| {
            let sizes = self.level_extent(level).map(u64::from);
            let texels = sizes.into_iter().try_fold(u64::from(self.layers), u64::checked_mul)?;
            sum.checked_add(texels.checked_mul(texel)?)
        })
    }

    /// The guest format of the T#, when it is one that is handled here.
    #[must_use]
    pub fn guest_format(&self) -> Option<TexelFormat> {
        let descriptor = crate::ImageDescriptor::from_words(self.descriptor?);
        TexelFormat::from_code(descriptor.format())
    }
}

/// A dispatch of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A run of sampling invocations.
    Sample(Dispatch),
    /// A whole dispatch of an emulator.
    Compute(ComputeDispatch),
}

impl Recorded {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Sample(dispatch) => &dispatch.name,
            Self::Compute(dispatch) => &dispatch.name,
        }
    }

    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> DispatchKind {
        match self {
            Self::Sample(_) => DispatchKind::Sample,
            Self::Compute(_) => DispatchKind::Compute,
        }
    }
}

/// Kinds of dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DispatchKind {
    /// [`Dispatch`].
    Sample,
    /// [`ComputeDispatch`].
    Compute,
}

impl fmt::Display for DispatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sample => "sample dispatch",
            Self::Compute => "compute dispatch",
        })
    }
}

/// A whole trace with dispatches of both kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Name, summary and oracle.
    pub meta: TraceMeta,
    /// The dispatches: sample dispatches where they were added, compute dispatches where they ended; those that did not end
    /// stand last.
    pub dispatches: Vec<Recorded>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip_through_their_names() {
        let texels = TexelFormat::all().map(ElementType::Texel);
        for element in [ElementType::Uint, ElementType::Sint, ElementType::Float].into_iter().chain(texels) {
            assert_eq!(element.to_string().parse(), Ok(element));
        }
        for text in ["", "half", "format-", "format-44", "format--1", "format-70000"] {
            assert_eq!(text.parse::<ElementType>(), Err(UnknownElement(text.to_owned())));
        }
    }
}
