//! The emulated path: SPIR-V that fetches, unpacks and filters texels of an R32_UINT image.
//!
//! One compute module serves an instruction on a view type in a format class, under one hardware's rules; the state of S#
//! and T# reaches it as specialization constants ([`specialization`]). Bindings of set 0: 0 the image, 1 the operands (one
//! row a sample, in the order of [`crate::state::State::operands`]), 2 the results (four words a sample). Push constants:
//! number of samples, workgroups in a row, grid width, grid height.
//!
//! Where samples choose among several descriptors, the table form of the module takes no image. Binding 0 is then a buffer with
//! the texels of all images in use, binding 3 one with a row for each state in use ([`specialization::state_row`]), and the last
//! word in a sample's row of operands is the number of its state. What all states have in common is passed as constants. It
//! needs no feature of the device, neither arrays of images nor an index that differs between invocations.

pub mod code;
pub mod decode;
pub(crate) mod entry;
pub(crate) mod module;
mod sampling;
pub mod section;
pub mod specialization;
mod table;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use capture_format::{Coords, Op};

use crate::{
    execute::{Binding, ExecuteError, Executor, Image, ImageDim, Job, Module, Resource},
    path::Failure,
    reference::{cube::with_faces, operands::OperandLayout},
    refusal::Refusal,
    rules::{AnisotropyRule, RuleId, Rules},
    state::{State, View},
    table::Parts,
};

use self::{entry::Coverage, table::Table};

pub use decode::FormatClass;
pub use entry::{ENTRY, WORKGROUP, invocation};
pub use specialization::{Slot, specialize, specialize_table};

/// What a module is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleKey {
    /// The instruction.
    pub op: Op,
    /// The view's shape.
    pub view: View,
    /// The format's class.
    pub class: FormatClass,
    /// Whether it is the form for tables of descriptors.
    pub table: bool,
    /// The hardware's rules.
    pub rules: Rules,
}

impl ModuleKey {
    /// The key of the module that serves a state.
    #[must_use]
    pub fn of(state: &State, rules: Rules) -> Self {
        Self { op: state.op, view: state.view, class: FormatClass::of(state.format), table: false, rules }
    }

    /// The key of the module that serves the states of a dispatch: [`Self::of`] one, or the table form. `None` without
    /// states, and for states that no dispatch has together ([`Parts::states`]).
    #[must_use]
    pub fn of_parts(parts: &Parts<'_>, states: &[State], rules: Rules) -> Option<Self> {
        let key = Self::of(states.first()?, rules);
        if !parts.whole().is_table() {
            return Some(key);
        }
        let same_view = states.iter().all(|state| state.view == key.view);
        let class = states.iter().map(|state| FormatClass::of(state.format)).try_fold(key.class, FormatClass::with);
        Some(Self { class: class.filter(|_| same_view)?, table: true, ..key })
    }
}

/// The module for a key. Modules are made once and kept.
///
/// # Errors
/// [`ExecuteError::Module`] when it can not be built, which is a defect of this crate.
pub fn module(key: &ModuleKey) -> Result<Arc<Module>, ExecuteError> {
    static MODULES: Mutex<Option<HashMap<ModuleKey, Arc<Module>>>> = Mutex::new(None);
    let lock = || MODULES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(module) = lock().get_or_insert_default().get(key) {
        return Ok(module.clone());
    }
    let words = module::emit(key).map_err(|error| ExecuteError::Module(format!("{key:?}: {error}")))?;
    let module = Arc::new(Module::new(words));
    lock().get_or_insert_default().insert(*key, module.clone());
    Ok(module)
}

/// Runs a dispatch through its module; four words a sample.
///
/// # Errors
/// [`Failure::Refused`] when texels or operands do not fit the state, [`Failure::Execute`] when the executor fails.
pub fn run(
    executor: &mut dyn Executor,
    rules: Rules,
    state: &State,
    texels: &[u32],
    coords: &Coords,
) -> Result<Vec<u32>, Failure> {
    with_job(rules, state, texels, coords, |job| run_job(executor, job, coords.rows()))?
}

/// As [`run`], for a dispatch with tables of descriptors or without.
///
/// # Errors
/// As [`run`].
pub fn run_parts(
    executor: &mut dyn Executor,
    rules: Rules,
    parts: &Parts<'_>,
    states: &[State],
) -> Result<Vec<u32>, Failure> {
    with_parts_job(rules, parts, states, |job| run_job(executor, job, parts.whole().coords.rows()))?
}

fn run_job(executor: &mut dyn Executor, job: &Job<'_>, samples: usize) -> Result<Vec<u32>, Failure> {
    let results = if samples == 0 { vec![Vec::new()] } else { executor.run(job)? };
    results
        .into_iter()
        .next()
        .filter(|words| words.len() == samples * 4)
        .ok_or_else(|| ExecuteError::Driver("the executor returned no results".to_owned()).into())
}

/// As [`with_job`], for a dispatch with tables of descriptors or without.
///
/// # Errors
/// As [`with_job`], and texels of all images that are more than 2^29 together.
pub fn with_parts_job<T>(
    rules: Rules,
    parts: &Parts<'_>,
    states: &[State],
    f: impl FnOnce(&Job<'_>) -> T,
) -> Result<T, Failure> {
    let whole = parts.whole();
    if let ([state], false) = (states, whole.is_table()) {
        return with_job(rules, state, &whole.texels, &whole.coords, f);
    }
    let key = ModuleKey::of_parts(parts, states, rules)
        .ok_or_else(|| ExecuteError::InvalidJob("states that do not belong to the dispatch".to_owned()))?;
    let module = module(&key)?;
    let table = Table::new(&rules, parts, states)?;
    let samples = whole.coords.rows();
    let Coverage { samples: count, row, groups } = Coverage::of(samples)?;
    Ok(f(&Job {
        module: &module,
        entry: ENTRY,
        specialization: &specialize_table(states),
        bindings: &[
            Binding { set: 0, binding: 0, element: 0, resource: Resource::Input(&table.texels) },
            Binding { set: 0, binding: 1, element: 0, resource: Resource::Input(&table.operands) },
            Binding { set: 0, binding: 2, element: 0, resource: Resource::Output(samples * 4) },
            Binding { set: 0, binding: 3, element: 0, resource: Resource::Input(&table.states) },
        ],
        push_constants: &[count, row, whole.grid[0], whole.grid[1]],
        groups,
    }))
}

/// Calls `f` with the job that runs a dispatch; its only output is the results, four words a sample.
///
/// # Errors
/// [`Failure::Refused`] when texels or operands do not fit the state.
pub fn with_job<T>(
    rules: Rules,
    state: &State,
    texels: &[u32],
    coords: &Coords,
    f: impl FnOnce(&Job<'_>) -> T,
) -> Result<T, Failure> {
    let expected = state.extent.texels();
    if expected != texels.len() as u64 {
        return Err(crate::reference::texel_count_refusal(&state.extent, texels.len()).into());
    }
    if rules.anisotropy == AnisotropyRule::Ellipse && state.anisotropy.is_some() {
        return Err(Refusal {
            field: "anisotropy".to_owned(),
            bits: None,
            value: rules.value_name(RuleId::AnisotropyRule).to_owned(),
            reason: "the elliptical filter of lavapipe is computed by the reference only".to_owned(),
        }
        .into());
    }
    let coords = &*with_faces(&rules, state, coords);
    OperandLayout::new(state, coords)?;
    let module = module(&ModuleKey::of(state, rules))?;
    let operands = in_module_order(state, coords);
    let samples = coords.rows();
    let Coverage { samples: count, row, groups } = Coverage::of(samples)?;
    Ok(f(&Job {
        module: &module,
        entry: ENTRY,
        specialization: &specialize(state),
        bindings: &[
            Binding { set: 0, binding: 0, element: 0, resource: Resource::Image(image(state, texels)) },
            Binding { set: 0, binding: 1, element: 0, resource: Resource::Input(&operands) },
            Binding { set: 0, binding: 2, element: 0, resource: Resource::Output(samples * 4) },
        ],
        push_constants: &[count, row, state.grid[0], state.grid[1]],
        groups,
    }))
}

/// The image of a state as executors bind it.
#[must_use]
pub fn image<'a>(state: &State, texels: &'a [u32]) -> Image<'a> {
    let dim = match state.view {
        View::D1 => ImageDim::D1,
        View::D1Array => ImageDim::D1Array,
        View::D2 => ImageDim::D2,
        View::D2Array | View::Cube => ImageDim::D2Array,
        View::D3 => ImageDim::D3,
    };
    Image { dim, extent: state.extent.size, layers: state.extent.layers, levels: state.extent.levels, texels }
}

/// The coordinates with their columns in the order in which modules take them.
pub(crate) fn in_module_order<'a>(state: &State, coords: &'a Coords) -> std::borrow::Cow<'a, [u32]> {
    let order = State::operands(state.op, state.view);
    if order == coords.columns {
        return coords.words.as_slice().into();
    }
    let places: Vec<usize> = order.iter().filter_map(|&column| coords.index_of(column)).collect();
    coords.words.chunks_exact(coords.columns.len()).flat_map(|row| places.iter().map(|&p| row[p])).collect()
}
