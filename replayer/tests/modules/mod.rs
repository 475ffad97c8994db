//! Small modules with what they must give, for any executor.

#![allow(dead_code, missing_docs, reason = "each test binary uses a part of it")]

pub mod control;
pub mod memory;
pub mod mutate;
pub mod operations;
pub mod shader;

use replayer::execute::{Binding, ExecuteError, Executor, Image, ImageDim, Job, Module, Resource};

/// An image that a case binds.
#[derive(Clone, Debug)]
pub struct CaseImage {
    pub dim: ImageDim,
    pub extent: [u32; 3],
    pub layers: u32,
    pub levels: u32,
    pub texels: Vec<u32>,
}

/// A resource at the binding of its place in the list, set 0.
#[derive(Clone, Debug)]
pub enum Bound {
    Input(Vec<u32>),
    Output(usize),
    Image(CaseImage),
    /// The elements of an array of descriptors; `None` where nothing is bound.
    Array(Vec<Option<Bound>>),
}

/// How sure the expected words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Vulkan prescribes them.
    Exact,
    /// Vulkan allows a range; these are what the embedded executor gives.
    Inexact,
    /// Vulkan calls the result undefined or leaves a choice; these are the embedded executor's.
    Choice,
}

/// A module with its inputs and the words of its outputs, one after the other.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub module: Module,
    /// Capabilities that the module declares.
    pub capabilities: Vec<rspirv::spirv::Capability>,
    pub bindings: Vec<Bound>,
    pub push_constants: Vec<u32>,
    pub specialization: Vec<(u32, u32)>,
    pub groups: [u32; 3],
    pub expected: Vec<u32>,
    pub exactness: Exactness,
}

impl Case {
    pub fn new(name: &str, shader: shader::Shader, bindings: Vec<Bound>, expected: Vec<u32>) -> Self {
        let capabilities = shader.capabilities();
        Self {
            name: name.to_owned(),
            module: Module::new(shader.finish()),
            capabilities,
            bindings,
            push_constants: vec![],
            specialization: vec![],
            groups: [1, 1, 1],
            expected,
            exactness: Exactness::Exact,
        }
    }

    pub fn groups(mut self, groups: [u32; 3]) -> Self {
        self.groups = groups;
        self
    }

    pub fn push(mut self, words: &[u32]) -> Self {
        self.push_constants = words.to_vec();
        self
    }

    pub fn specialize(mut self, values: &[(u32, u32)]) -> Self {
        self.specialization = values.to_vec();
        self
    }

    pub fn choice(mut self) -> Self {
        self.exactness = Exactness::Choice;
        self
    }

    /// Calls `f` with the job.
    pub fn with_job<T>(&self, f: impl FnOnce(&Job<'_>) -> T) -> T {
        fn resource(bound: &Bound) -> Resource<'_> {
            match bound {
                Bound::Input(words) => Resource::Input(words),
                Bound::Output(n) => Resource::Output(*n),
                Bound::Image(i) => Resource::Image(Image {
                    dim: i.dim,
                    extent: i.extent,
                    layers: i.layers,
                    levels: i.levels,
                    texels: &i.texels,
                }),
                Bound::Array(_) => panic!("an array in an array"),
            }
        }
        let mut bindings: Vec<Binding<'_>> = Vec::new();
        for (binding, bound) in (0..).zip(&self.bindings) {
            match bound {
                Bound::Array(list) => {
                    for (element, bound) in (0..).zip(list) {
                        let bound = bound.as_ref().map(resource);
                        bindings.extend(bound.map(|resource| Binding { set: 0, binding, element, resource }));
                    }
                }
                one => bindings.push(Binding { set: 0, binding, element: 0, resource: resource(one) }),
            }
        }
        f(&Job {
            module: &self.module,
            entry: "main",
            specialization: &self.specialization,
            bindings: &bindings,
            push_constants: &self.push_constants,
            groups: self.groups,
        })
    }

    /// The words of all outputs.
    ///
    /// # Errors
    /// The executor's.
    pub fn run(&self, executor: &mut dyn Executor) -> Result<Vec<u32>, ExecuteError> {
        self.with_job(|job| executor.run(job)).map(|o| o.concat())
    }
}

/// All cases.
pub fn all() -> Vec<Case> {
    let mut list = operations::cases();
    list.extend(control::cases());
    list.extend(memory::cases());
    list
}
