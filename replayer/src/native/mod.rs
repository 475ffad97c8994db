//! The native path: a dispatch through a Vulkan device's own sampler.
//!
//! T# and S# are turned into a Vulkan image, view, component mapping and sampler where these say exactly the same
//! ([`lower`]); what Vulkan can not say is refused by the field's name. Only S#.TRUNC_COORD has no counterpart and is not
//! refused: texels are addressed as the device does it.

mod kernel;
mod lower;
mod operands;
mod raw;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use capture_format::{Dispatch, OpKind};

use self::{kernel::Kernel, operands::Batch};
pub use self::{
    lower::{Lowered, lower},
    raw::{Raw, raw, raw_module, run_raw},
};
use crate::{
    emulated::entry::{Coverage, ENTRY},
    execute::{
        ExecuteError, Module,
        vulkan::{NativeBinding, NativeImage, NativeJob, NativeResource, NativeSampler},
    },
    path::Failure,
    refusal::Refusal,
    table::{Part, Parts},
};

/// Samples a dispatch on a device; four words a sample. With tables of descriptors the samples of each pair in use are run
/// with its image and sampler alone.
///
/// # Errors
/// [`Failure::Refused`] for what Vulkan can not express, [`Failure::Execute`] for what the device lacks or when it fails.
pub fn run(device: &mut dyn NativeSampler, dispatch: &Dispatch) -> Result<Vec<u32>, Failure> {
    let parts = Parts::new(dispatch)?;
    let run = |(part, dispatch): (&Part<'_>, &Dispatch)| {
        run_one(&mut *device, dispatch).map_err(|failure| match failure {
            Failure::Refused(refusal) => Failure::Refused(parts.named(refusal, part)),
            other => other,
        })
    };
    let results: Vec<Vec<u32>> = parts.parts().iter().zip(parts.dispatches()).map(run).collect::<Result<_, _>>()?;
    Ok(parts.in_order(results.concat()))
}

fn run_one(device: &mut dyn NativeSampler, dispatch: &Dispatch) -> Result<Vec<u32>, Failure> {
    let lowered = lower(dispatch)?;
    in_batches(dispatch, &lowered, |batch, coverage| run_batch(device, &lowered, batch, coverage))
}

/// The results of a dispatch from those of its batches, which `run` computes; four words a sample.
fn in_batches(
    dispatch: &Dispatch,
    lowered: &Lowered<'_>,
    mut run: impl FnMut(&Batch, &Coverage) -> Result<Vec<u32>, Failure>,
) -> Result<Vec<u32>, Failure> {
    let mut results = vec![0; dispatch.coords.rows() * 4];
    for batch in operands::batches(dispatch, lowered)?.iter().filter(|batch| !batch.samples.is_empty()) {
        let samples = batch.samples.len();
        let words = run(batch, &Coverage::of(samples)?)?;
        if words.len() != samples * 4 {
            return Err(ExecuteError::Driver(format!("{} words came for {samples} samples", words.len())).into());
        }
        for (sample, words) in batch.samples.iter().zip(words.chunks_exact(4)) {
            if let Some(place) = results.get_mut(sample * 4..sample * 4 + 4) {
                place.copy_from_slice(words);
            }
        }
    }
    Ok(results)
}

fn run_batch(
    device: &mut dyn NativeSampler,
    lowered: &Lowered,
    batch: &Batch,
    coverage: &Coverage,
) -> Result<Vec<u32>, Failure> {
    let module = module(&kernel(lowered, batch))?;
    let image = NativeImage {
        format: lowered.format,
        view: lowered.view,
        extent: lowered.extent,
        layers: lowered.layers,
        levels: lowered.levels,
        components: lowered.components,
        texels: &lowered.texels,
    };
    let image = match lowered.sampler {
        Some(sampler) => NativeResource::Sampled(image, sampler),
        None => NativeResource::Image(image),
    };
    let at = |binding, resource| NativeBinding { set: 0, binding, element: 0, resource };
    let results = device.run_native(&NativeJob {
        module: &module,
        entry: ENTRY,
        specialization: &[],
        bindings: &[
            at(0, image),
            at(1, NativeResource::Input(&batch.words)),
            at(2, NativeResource::Output(batch.samples.len() * 4)),
        ],
        push_constants: &[coverage.samples, coverage.row, 0, 0],
        groups: coverage.groups,
    })?;
    Ok(results.into_iter().next().unwrap_or_default())
}

fn kernel(lowered: &Lowered, batch: &Batch) -> Kernel {
    Kernel {
        fetch: batch.fetch,
        view: lowered.view,
        integer: lowered.format.is_integer(),
        gather_component: (lowered.op.kind == OpKind::Gather4).then_some(lowered.gather_component),
        offset: batch.offset,
        apart: false,
    }
}

/// The module that samples a dispatch (its first samples, where several texel offsets or descriptors take several modules),
/// and whether it takes a sampler.
///
/// # Errors
/// As [`run`]; a dispatch without samples has no module.
pub fn module_of(dispatch: &Dispatch) -> Result<(Arc<Module>, bool), Failure> {
    let parts = Parts::new(dispatch)?;
    let empty = || ExecuteError::InvalidJob("a dispatch without samples takes no module".to_owned());
    let dispatch = parts.parts().first().ok_or_else(empty)?.head();
    let lowered = lower(dispatch)?;
    let batches = operands::batches(dispatch, &lowered)?;
    let batch = batches.first().ok_or_else(empty)?;
    Ok((module(&kernel(&lowered, batch))?, lowered.sampler.is_some()))
}

/// The module of a kernel. Modules are made once and kept.
fn module(kernel: &Kernel) -> Result<Arc<Module>, ExecuteError> {
    static MODULES: Mutex<Option<HashMap<Kernel, Arc<Module>>>> = Mutex::new(None);
    let lock = || MODULES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(module) = lock().get_or_insert_default().get(kernel) {
        return Ok(module.clone());
    }
    let words = kernel.emit().map_err(|error| ExecuteError::Module(format!("{kernel:?}: {error}")))?;
    let module = Arc::new(Module::new(words));
    lock().get_or_insert_default().insert(*kernel, module.clone());
    Ok(module)
}

/// A refusal of something that is no descriptor field.
fn part(field: &str, value: impl ToString, reason: &str) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value: value.to_string(), reason: reason.to_owned() }
}
