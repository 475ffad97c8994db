//! The SPIR-V of a dispatch, as text.

use capture_format::Dispatch;
use replayer::{
    emulated::{ModuleKey, Slot, module},
    materialise::materialise,
    rules::Rules,
};
use rspirv::binary::Disassemble as _;

/// One specialization constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// `SpecId`.
    pub id: u32,
    /// Its name.
    pub name: &'static str,
    /// Its value for this dispatch.
    pub value: u32,
}

/// A module with its specialization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembly {
    /// The instructions, one a line.
    pub lines: Vec<String>,
    /// Words of the module.
    pub words: usize,
    /// The specialization.
    pub constants: Vec<Constant>,
}

/// Disassembles the module that the emulated path runs for a dispatch.
///
/// # Errors
/// The refusal of the dispatch, or the defect of the module, as text.
pub fn disassemble(dispatch: &Dispatch, rules: &Rules) -> Result<Disassembly, String> {
    let state = materialise(dispatch, rules).map_err(|refusal| format!("refused: {refusal}"))?;
    let module = module(&ModuleKey::of(&state, *rules)).map_err(|error| error.to_string())?;
    let parsed =
        rspirv::dr::load_words(&module.words).map_err(|error| format!("the module does not parse: {error}"))?;
    Ok(Disassembly {
        lines: parsed.disassemble().lines().map(str::to_owned).collect(),
        words: module.words.len(),
        constants: Slot::ALL
            .iter()
            .map(|&slot| Constant { id: slot as u32, name: slot.name(), value: slot.value(&state) })
            .collect(),
    })
}
