//! The entry point that the modules of the emulated and of the native path have: an invocation a sample, workgroups in rows.

use rspirv::{
    dr::Operand,
    spirv::{self, Decoration, Op as SpirvOp, StorageClass, Word},
};

use super::{
    code::{Code, U, Value},
    module::element,
};
use crate::refusal::Refusal;

/// Name of the entry point.
pub const ENTRY: &str = "main";

/// Invocations of a workgroup.
pub const WORKGROUP: u32 = 64;

/// Workgroups in a row of the dispatch: within Vulkan's smallest maxComputeWorkGroupCount.
const GROUPS_IN_A_ROW: u32 = 32768;

/// How a dispatch covers its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Samples, the first push constant.
    pub(crate) samples: u32,
    /// Workgroups in a row, the second push constant.
    pub(crate) row: u32,
    /// Workgroups in x, y, z.
    pub(crate) groups: [u32; 3],
}

impl Coverage {
    /// The workgroups for so many samples.
    pub(crate) fn of(samples: usize) -> Result<Self, Refusal> {
        let samples = u32::try_from(samples).map_err(|_| Refusal {
            field: "grid".to_owned(),
            bits: None,
            value: format!("{samples} samples"),
            reason: "a dispatch has at most 2^32 - 1 samples".to_owned(),
        })?;
        let groups = samples.div_ceil(WORKGROUP);
        let row = groups.min(GROUPS_IN_A_ROW);
        Ok(Self { samples, row, groups: [row, groups.div_ceil(row.max(1)), 1] })
    }
}

/// The `GlobalInvocationId` that computes a sample of a dispatch of so many.
#[must_use]
pub fn invocation(sample: u32, samples: u32) -> [u32; 3] {
    let row = samples.div_ceil(WORKGROUP).clamp(1, GROUPS_IN_A_ROW);
    let (group, lane) = (sample / WORKGROUP, sample % WORKGROUP);
    [group % row * WORKGROUP + lane, group / row, 0]
}

/// An entry point that has begun.
pub(crate) struct EntryPoint {
    push: Word,
    group: Word,
    lane: Word,
}

/// The invocation's sample.
#[derive(Clone, Copy)]
pub(crate) struct OneOf {
    /// Samples of the dispatch.
    pub(crate) samples: U,
    /// Which of them it is.
    pub(crate) index: U,
}

impl EntryPoint {
    /// Begins the function. What is declared next are its variables; then comes [`Self::each_sample`].
    pub(crate) fn begin(code: &mut Code) -> Self {
        let push = push_constants(code);
        let group = builtin(code, 3, spirv::BuiltIn::WorkgroupId, "workgroup");
        let lane = builtin(code, 1, spirv::BuiltIn::LocalInvocationIndex, "lane");
        let void = code.void_type();
        let signature = code.raw().type_function(void, []);
        let begun = code.raw().begin_function(void, None, spirv::FunctionControl::NONE, signature);
        let main = code.keep(begun);
        code.raw().entry_point(spirv::ExecutionModel::GLCompute, main, ENTRY, [group, lane]);
        code.raw().execution_mode(main, spirv::ExecutionMode::LocalSize, [WORKGROUP, 1, 1]);
        let begun = code.raw().begin_block(None);
        code.keep(begun);
        Self { push, group, lane }
    }

    /// Loads a push constant: see [`super`].
    pub(crate) fn push(&self, code: &mut Code, member: i32) -> U {
        load_push(code, self.push, member)
    }

    /// Emits what computes the invocation's sample, stores its four words into the results' buffer, and ends the function.
    pub(crate) fn each_sample(&self, code: &mut Code, results: Word, sample: impl FnOnce(&mut Code, OneOf) -> [U; 4]) {
        let uint = U::type_id(code);
        let samples = self.push(code, 0);
        let row = self.push(code, 1);
        let group3 = code.raw().type_vector(uint, 3);
        let group = code.instruction(SpirvOp::Load, group3, vec![Operand::IdRef(self.group)]);
        let (group_x, group_y): (U, U) = (code.extract(group, 0), code.extract(group, 1));
        let lane: U = code.load(self.lane);
        let groups_before = code.u_mul(group_y, row);
        let group = code.u_add(groups_before, group_x);
        let lanes = code.u(WORKGROUP);
        let first = code.u_mul(group, lanes);
        let index = code.u_add(first, lane);
        code.name(index.id(), "sample");
        let in_grid = code.u_lt(index, samples);
        code.if_then(in_grid, |code| {
            let words = sample(code, OneOf { samples, index });
            let word4 = code.raw().type_vector(uint, 4);
            let pointer = element(code, results, word4, index);
            let vector = code.vector(&words);
            let stored = code.raw().store(pointer, vector, None, []);
            code.keep(stored);
        });
        let returned = code.raw().ret();
        code.keep(returned);
        let ended = code.raw().end_function();
        code.keep(ended);
    }
}

fn push_constants(code: &mut Code) -> Word {
    let uint = U::type_id(code);
    let builder = code.raw();
    let block = builder.type_struct([uint, uint, uint, uint]);
    builder.decorate(block, Decoration::Block, []);
    for (member, name) in ["samples", "groups_in_a_row", "grid_width", "grid_height"].into_iter().enumerate() {
        let member = member as u32;
        builder.member_decorate(block, member, Decoration::Offset, [Operand::LiteralBit32(4 * member)]);
        builder.member_name(block, member, name);
    }
    let pointer = builder.type_pointer(None, StorageClass::PushConstant, block);
    let variable = builder.variable(pointer, None, StorageClass::PushConstant, None);
    builder.name(variable, "dispatch");
    variable
}

fn builtin(code: &mut Code, components: u32, builtin: spirv::BuiltIn, name: &str) -> Word {
    let uint = U::type_id(code);
    let builder = code.raw();
    let ty = if components == 1 { uint } else { builder.type_vector(uint, components) };
    let pointer = builder.type_pointer(None, StorageClass::Input, ty);
    let variable = builder.variable(pointer, None, StorageClass::Input, None);
    builder.decorate(variable, Decoration::BuiltIn, [Operand::BuiltIn(builtin)]);
    builder.name(variable, name);
    variable
}

fn load_push(code: &mut Code, block: Word, member: i32) -> U {
    let uint = U::type_id(code);
    let pointer_type = code.raw().type_pointer(None, StorageClass::PushConstant, uint);
    let member = code.i(member);
    let pointer =
        code.instruction(SpirvOp::AccessChain, pointer_type, vec![Operand::IdRef(block), Operand::IdRef(member.id())]);
    code.load(pointer)
}
