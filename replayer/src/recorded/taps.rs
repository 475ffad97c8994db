//! What one invocation of an emulator's shader reads and writes, texel by texel.

use capture_format::{BoundImage, BoundResource, ComputeDispatch, HostView};

use super::{bind::Bound, refuse, samples};
use crate::{
    compare::Number,
    execute::{
        Job, Module,
        embedded::{Embedded, Step},
    },
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
    /// The texel is there. Reads of one that is not give 0, writes change nothing.
    pub inside: bool,
    /// The first word of what was read or written.
    pub word: u32,
    /// The texel's channels as FP32, with the bits of those that are there; for texels of one word that are no integers.
    pub channels: Option<([u32; 4], u8)>,
}

/// Each instruction that an invocation, a `GlobalInvocationId`, executes. Found on the embedded executor.
///
/// # Errors
/// As [`super::run`], and an invocation that is not part of the dispatch.
pub fn steps(dispatch: &ComputeDispatch, invocation: [u32; 3]) -> Result<Vec<Step>, Failure> {
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
    Ok(Embedded::new().trace_invocation(&job, invocation)?)
}

/// The accesses of an invocation, a `GlobalInvocationId`, in the order in which they are made.
///
/// # Errors
/// As [`steps`].
pub fn taps(dispatch: &ComputeDispatch, invocation: [u32; 3]) -> Result<Vec<Tap>, Failure> {
    accesses(dispatch, &steps(dispatch, invocation)?)
}

/// The accesses to images among the steps of an invocation.
///
/// # Errors
/// [`Failure::Refused`] for an access to an image that was not recorded.
pub fn accesses(dispatch: &ComputeDispatch, steps: &[Step]) -> Result<Vec<Tap>, Failure> {
    let fetches = steps.iter().filter_map(|step| step.fetch.as_ref());
    fetches
        .map(|fetch| {
            let at = (fetch.set, fetch.binding, fetch.element);
            let place = dispatch.bindings.iter().position(|b| (b.set, b.binding, b.element) == at);
            let image = place.and_then(|place| match &dispatch.bindings[place].resource {
                BoundResource::Image(image) => Some((place, image)),
                BoundResource::Buffer(_) | BoundResource::Sampler(_) => None,
            });
            let (binding, image) = image.ok_or_else(|| {
                let place = format!("set {} binding {} element {}", fetch.set, fetch.binding, fetch.element);
                refuse(&place, "an access", "the module accesses an image that was not recorded")
            })?;
            let inside = is_inside(image, &fetch.coordinates, fetch.level);
            let word = fetch.word;
            let layout = samples(&dispatch.bindings[binding]).ok();
            let layout = layout.filter(|l| image.format.texel_words() == Some(1) && l.number == Number::Float);
            let channels = layout.map(|layout| {
                let [x, y, z, w] = layout.unpack(&[word])[..] else { return ([0; 4], 0) };
                ([x, y, z, w], layout.channels)
            });
            let (coordinates, level, write) = (fetch.coordinates.clone(), fetch.level, fetch.write);
            Ok(Tap { binding, coordinates, level, write, inside, word, channels })
        })
        .collect()
}

/// Whether an image has a texel at these coordinates.
fn is_inside(image: &BoundImage, coordinates: &[i32], level: u32) -> bool {
    let (axes, layered) = match image.view {
        HostView::D1 => (1, false),
        HostView::D1Array => (1, true),
        HostView::D2 => (2, false),
        HostView::D2Array | HostView::Cube | HostView::CubeArray => (2, true),
        HostView::D3 => (3, false),
    };
    let below = |at: Option<&i32>, size: u32| at.is_some_and(|&at| u32::try_from(at).is_ok_and(|at| at < size));
    let extent = image.level_extent(level);
    let inside = (0..axes).all(|axis| below(coordinates.get(axis), extent[axis]));
    level < image.levels && inside && (!layered || below(coordinates.get(axes), image.layers))
}
