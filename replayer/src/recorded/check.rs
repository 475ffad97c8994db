//! What a recording lacks to be replayed, found without running it.

use capture_format::{BoundResource, ComputeBinding, ComputeDispatch};

use super::{bind::native_format, samples};
use crate::execute::vulkan::{ModuleInfo, ModuleResource};

/// What a compute dispatch lacks to be replayed and compared; empty when it lacks nothing. Nothing is run: an executor may still
/// refuse it for a feature or a limit of its own.
#[must_use]
pub fn lacks(dispatch: &ComputeDispatch) -> Vec<String> {
    let mut lacks = Vec::new();
    if !dispatch.ended {
        lacks.push("the end of the dispatch was not recorded".to_owned());
    }
    if dispatch.outputs().next().is_none() {
        lacks.push("no output is declared, so that there is nothing to compare".to_owned());
    }
    for (_, binding) in dispatch.outputs() {
        if dispatch.ended && binding.contents().1.is_none() {
            lacks.push(format!("{binding}: the contents of this output after the dispatch"));
        }
        if let Err(refusal) = samples(binding) {
            lacks.push(refusal.to_string());
        }
    }
    for constant in &dispatch.specialization {
        if constant.bytes > 4 {
            lacks.push(format!("specialization constant {} of 64 bits is not replayed", constant.id));
        }
    }
    for binding in &dispatch.bindings {
        lacks.extend(binding_lacks(binding));
    }
    match ModuleInfo::read(&dispatch.module) {
        Ok(info) => module_lacks(dispatch, &info, &mut lacks),
        Err(error) => lacks.push(error.to_string()),
    }
    lacks
}

/// Why there is nothing to hold the outputs of a dispatch against; `None` when the recording has them all.
#[must_use]
pub fn without_oracle(dispatch: &ComputeDispatch) -> Option<String> {
    if !dispatch.ended {
        return Some("the recording ended before the dispatch did: its outputs are not known".to_owned());
    }
    if dispatch.outputs().next().is_none() {
        return Some("the recording declares no output of the dispatch".to_owned());
    }
    let lacking: Vec<String> = dispatch
        .outputs()
        .filter(|(_, binding)| binding.contents().1.is_none())
        .map(|(_, binding)| binding.to_string())
        .collect();
    (!lacking.is_empty()).then(|| format!("the recording lacks outputs: {}", lacking.join(", ")))
}

fn binding_lacks(binding: &ComputeBinding) -> Option<String> {
    let before = binding.contents().0;
    match &binding.resource {
        BoundResource::Sampler(_) => Some(format!("{binding}: the state of the host's sampler")),
        BoundResource::Image(image) if image.combined => Some(format!("{binding}: the state of the host's sampler")),
        BoundResource::Image(image) if native_format(image.format).is_none() => {
            Some(format!("{binding}: images of {} are not replayed", image.format))
        }
        BoundResource::Image(image) if before.is_none() && !image.output => Some(format!("{binding}: the texels")),
        BoundResource::Buffer(buffer) if before.is_none() && !buffer.output => {
            Some(format!("{binding}: the contents of the buffer before the dispatch"))
        }
        BoundResource::Image(_) | BoundResource::Buffer(_) => None,
    }
}

fn module_lacks(dispatch: &ComputeDispatch, info: &ModuleInfo, lacks: &mut Vec<String>) {
    let entries = info.entry_names();
    if !entries.contains(&dispatch.entry.as_str()) {
        lacks.push(format!(
            "the module has no entry point {:?} for compute, there are: {}",
            dispatch.entry,
            entries.join(", ")
        ));
    }
    let (given, needed) = (dispatch.push_constants.len() as u64 * 4, u64::from(info.push_constant_bytes()));
    if given < needed {
        lacks.push(format!("{given} bytes of push constants were recorded, the module's block takes {needed}"));
    }
    for (set, binding, declared) in info.declared() {
        let at = |text: &str| format!("set {set} binding {binding}: {text}");
        let mut elements =
            dispatch.bindings.iter().filter(|bound| (bound.set, bound.binding) == (set, binding)).peekable();
        if elements.peek().is_none() {
            lacks.push(at("the module uses it, nothing was recorded there"));
            continue;
        }
        if let ModuleResource::Other(what) = declared {
            lacks.push(at(&format!("the module has {what}, which is not replayed")));
            continue;
        }
        // One message says it, also for an array.
        if let Some(found) = elements.find_map(|bound| misfit(declared, &bound.resource)) {
            lacks.push(at(&format!("the module has {}, {found} was recorded", declared.name())));
        }
    }
}

/// What is bound, in words, where it does not fit what the module declares.
fn misfit(declared: ModuleResource, bound: &BoundResource) -> Option<&'static str> {
    let fits = match (declared, bound) {
        (ModuleResource::StorageBuffer, BoundResource::Buffer(buffer)) => !buffer.uniform,
        (ModuleResource::UniformBuffer, BoundResource::Buffer(buffer)) => buffer.uniform,
        (ModuleResource::Image, BoundResource::Image(image)) => !image.storage && !image.combined,
        (ModuleResource::StorageImage, BoundResource::Image(image)) => image.storage,
        (ModuleResource::Combined, BoundResource::Image(image)) => image.combined,
        _ => false,
    };
    let found = match bound {
        BoundResource::Sampler(_) => "a sampler",
        BoundResource::Image(image) if image.storage => "a storage image",
        BoundResource::Image(image) if image.combined => "an image combined with a sampler",
        BoundResource::Image(_) => "an image without a sampler",
        BoundResource::Buffer(buffer) if buffer.uniform => "a uniform buffer",
        BoundResource::Buffer(_) => "a storage buffer",
    };
    (!fits).then_some(found)
}
