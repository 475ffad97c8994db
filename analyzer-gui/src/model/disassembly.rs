//! The SPIR-V of a dispatch, as text.

use capture_format::{ComputeDispatch, Dispatch};
use replayer::{
    emulated::{ModuleKey, Slot, module, specialize, specialize_table},
    refusal::Refusal,
    rules::Rules,
    table::Parts,
};
use rspirv::{
    binary::Disassemble as _,
    dr::{Instruction, Module, Operand},
    spirv::Decoration,
};

/// One specialization constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// `SpecId`.
    pub id: u32,
    /// Its name; empty when the module has none for it.
    pub name: String,
    /// Its value for this dispatch.
    pub value: u64,
}

/// A module with its specialization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembly {
    /// The instructions, one a line.
    pub lines: Vec<String>,
    /// Words of the module.
    pub words: usize,
    /// Instructions of the module; some lines are comments.
    pub instructions: usize,
    /// The specialization.
    pub constants: Vec<Constant>,
}

/// Disassembles the module that the emulated path runs for a dispatch.
///
/// # Errors
/// The refusal of the dispatch, or the defect of the module, as text.
pub fn disassemble(dispatch: &Dispatch, rules: &Rules) -> Result<Disassembly, String> {
    let refused = |refusal: Refusal| format!("refused: {refusal}");
    let parts = Parts::new(dispatch).map_err(refused)?;
    let states = parts.states(rules).map_err(refused)?;
    let key = ModuleKey::of_parts(&parts, &states, *rules).ok_or("no module serves all states")?;
    let module = module(&key).map_err(|error| error.to_string())?;
    let specialization = match states.as_slice() {
        [state] if !key.table => specialize(state),
        states => specialize_table(states),
    };
    let name = |id: u32| Slot::ALL.iter().find(|&&slot| slot as u32 == id).map_or("common", |slot| slot.name());
    let constants =
        specialization.into_iter().map(|(id, value)| Constant { id, name: name(id).to_owned(), value: value.into() });
    let parsed = parse(&module.words)?;
    Ok(disassembly(&parsed, module.words.len(), constants.collect()))
}

/// Disassembles the module of a compute dispatch.
///
/// # Errors
/// The defect of the module, as text.
pub fn disassemble_recorded(dispatch: &ComputeDispatch) -> Result<Disassembly, String> {
    let parsed = parse(&dispatch.module)?;
    let named = |id: u32| {
        let is_of = |decoration: &&Instruction| {
            decoration.operands.get(1..) == Some(&[Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(id)])
        };
        let constant = parsed.annotations.iter().find(is_of)?.operands.first()?.clone();
        let name = parsed.debug_names.iter().find(|name| name.operands.first() == Some(&constant))?;
        match name.operands.get(1) {
            Some(Operand::LiteralString(name)) => Some(name.clone()),
            _ => None,
        }
    };
    let constants = dispatch.specialization.iter().map(|constant| Constant {
        id: constant.id,
        name: named(constant.id).unwrap_or_default(),
        value: constant.value,
    });
    Ok(disassembly(&parsed, dispatch.module.len(), constants.collect()))
}

fn parse(words: &[u32]) -> Result<Module, String> {
    rspirv::dr::load_words(words).map_err(|error| format!("the module does not parse: {error}"))
}

fn disassembly(module: &Module, words: usize, constants: Vec<Constant>) -> Disassembly {
    let lines = module.disassemble().lines().map(str::to_owned).collect();
    Disassembly { lines, words, instructions: module.all_inst_iter().count(), constants }
}
