//! What one invocation of an emulator's shader reads and writes, texel by texel.

use capture_format::{BoundImage, BoundResource, ComputeDispatch};

use super::{bind::Bound, refuse, samples};
use crate::{
    compare::Number,
    execute::{Job, Module, embedded::Embedded},
    path::Failure,
};

/// One access of an invocation to an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Number of the image's binding in the dispatch's list.
    pub binding: usize,
    /// Coordinates as they are in the module: x, y, z as the dimension has them, then the layer.
    pub coordinates: Vec<i32>,
    /// Level.
    pub level: u32,
    /// It was written.
    pub write: bool,
    /// The first word of the texel as it was recorded; `None` for a place that is not there, and for images that modules write.
    pub word: Option<u32>,
    /// The texel's channels as FP32, with the bits of those that are there; for texels of one word that are no integers.
    pub channels: Option<([u32; 4], u8)>,
}

/// The accesses of an invocation, a `GlobalInvocationId`, in the order in which they are made. Found on the embedded executor.
///
/// # Errors
/// As [`super::run`], and an invocation that is not part of the dispatch.
pub fn taps(dispatch: &ComputeDispatch, invocation: [u32; 3]) -> Result<Vec<Tap>, Failure> {
    let module = Module::new(dispatch.module.to_vec());
    let bound = Bound::new(dispatch)?;
    let bindings = bound.plain()?;
    let job = Job {
        module: &module,
        entry: &dispatch.entry,
        specialization: bound.specialization(),
        bindings: &bindings,
        push_constants: &dispatch.push_constants,
        groups: dispatch.groups,
    };
    let steps = Embedded::new().trace_invocation(&job, invocation)?;
    let fetches = steps.into_iter().filter_map(|step| step.fetch);
    fetches
        .map(|fetch| {
            let place = dispatch.bindings.iter().position(|b| (b.set, b.binding) == (fetch.set, fetch.binding));
            let image = place.and_then(|place| match &dispatch.bindings[place].resource {
                BoundResource::Image(image) => Some((place, image)),
                BoundResource::Buffer(_) | BoundResource::Sampler(_) => None,
            });
            let (binding, image) = image.ok_or_else(|| {
                let place = format!("set {} binding {}", fetch.set, fetch.binding);
                refuse(&place, "an access", "the module accesses an image that was not recorded")
            })?;
            let word = recorded_word(image, fetch.word);
            let layout = samples(&dispatch.bindings[binding]).ok();
            let layout = layout.filter(|l| image.format.texel_words() == Some(1) && l.number == Number::Float);
            let channels = word.zip(layout).map(|(word, layout)| {
                let [x, y, z, w] = layout.unpack(&[word])[..] else { return ([0; 4], 0) };
                ([x, y, z, w], layout.channels)
            });
            let (coordinates, level, write) = (fetch.coordinates, fetch.level, fetch.write);
            Ok(Tap { binding, coordinates, level, write, word, channels })
        })
        .collect()
}

/// What was recorded of an image at a word.
fn recorded_word(image: &BoundImage, word: u32) -> Option<u32> {
    let before = image.before.as_ref().filter(|_| !image.storage)?;
    before.get(usize::try_from(word).ok()?).copied()
}
