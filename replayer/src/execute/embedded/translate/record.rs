//! Records for the trace.

use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{ImageOperands, Op as SpirvOp};

use super::memory::Ptr;
use super::types::{Scalar, Type};
use super::{Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Inst, Op};
use crate::execute::embedded::source::{Id, SourceInst};
use crate::execute::embedded::trace::{FetchRecord, Form, Record, Source};

fn form_of(s: Scalar) -> Form {
    match s {
        Scalar::Bool => Form::Bool,
        Scalar::Int { bits, signed: true } => Form::Signed(bits),
        Scalar::Int { bits, signed: false } => Form::Unsigned(bits),
        Scalar::Float { bits } => Form::Float(bits),
    }
}

impl Translator<'_> {
    /// Records an instruction that was translated.
    pub(super) fn record(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        use SpirvOp as S;
        let silent = matches!(i.op, S::Nop | S::Line | S::NoLine | S::SelectionMerge | S::LoopMerge);
        if self.trace.is_none() || silent {
            return Ok(());
        }
        self.record_always(i)
    }

    /// Records a terminator, which is not translated yet.
    pub(super) fn record_before(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        if self.trace.is_none() { Ok(()) } else { self.record_always(i) }
    }

    fn record_always(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let ids = self.operand_ids(i);
        let operands = ids
            .into_iter()
            .map(|(word, is_id)| if is_id { (Some(word), self.source_of(word)) } else { (None, Source::Literal(word)) })
            .collect();
        let result = (i.id != 0 && self.value(i.id).is_ok()).then(|| self.source_of(i.id));
        let fetch = self.fetch_record(i);
        let record = Record { src: self.at as u32, depth: self.calls.len() as u32, operands, result, fetch };
        let Some(trace) = &mut self.trace else { return Ok(()) };
        trace.push(record);
        let imm = trace.len() as u32 - 1;
        let inst = Inst { imm, ..self.inst(Op::Trace) };
        self.push(inst)
    }

    /// The operands, and whether each is an id.
    fn operand_ids(&self, i: &SourceInst) -> Vec<(u32, bool)> {
        let grammar = INSTRUCTION_TABLE.get(i.op);
        let words = self.src.operands(i);
        let kinds =
            grammar.operands.iter().filter(|o| !matches!(o.kind, OperandKind::IdResultType | OperandKind::IdResult));
        let mut list = vec![];
        let mut rest = words.iter().copied();
        for o in kinds {
            let is_id = match o.kind {
                OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => true,
                OperandKind::PairIdRefIdRef => {
                    // A phi: values and the blocks that they come from.
                    list.extend(rest.by_ref().map(|w| (w, true)));
                    true
                }
                OperandKind::ImageOperands => {
                    list.extend(rest.by_ref().take(1).map(|w| (w, false)));
                    list.extend(rest.by_ref().map(|w| (w, true)));
                    false
                }
                _ => false,
            };
            match o.quantifier {
                rspirv::grammar::OperandQuantifier::ZeroOrMore => list.extend(rest.by_ref().map(|w| (w, is_id))),
                _ => list.extend(rest.by_ref().take(1).map(|w| (w, is_id))),
            }
        }
        list
    }

    fn source_of(&self, id: Id) -> Source {
        match self.value(id) {
            Ok(Val::Data(data)) => match self.type_of(id).and_then(|ty| self.form(ty)) {
                Ok(form) => Source::Registers(form, data.to_vec()),
                Err(_) => Source::Name(self.src.name(id)),
            },
            Ok(Val::Ptr(p)) => {
                let Ptr { variable, offset, dynamic, .. } = *p;
                Source::Pointer(self.src.name(variable), offset, dynamic)
            }
            _ => Source::Name(self.src.name(id)),
        }
    }

    fn form(&self, id: Id) -> Result<Form, ExecuteError> {
        Ok(match &self.ty(id)?.ty {
            Type::Scalar(s) => form_of(*s),
            Type::Vector(s, n) => Form::Composite(vec![form_of(*s); *n as usize]),
            Type::Matrix(s, rows, columns) => {
                Form::Composite(vec![Form::Composite(vec![form_of(*s); *rows as usize]); *columns as usize])
            }
            Type::Array(element, n) if self.ty(*element)?.scalars > 0 => {
                Form::Composite(vec![self.form(*element)?; *n as usize])
            }
            Type::Array(..) => Form::Composite(vec![]),
            Type::Struct(members) => Form::Composite(members.iter().map(|m| self.form(*m)).collect::<Result<_, _>>()?),
            _ => return Err(self.fail("no type of values")),
        })
    }

    fn fetch_record(&mut self, i: &SourceInst) -> Option<FetchRecord> {
        let write = match i.op {
            SpirvOp::ImageFetch | SpirvOp::ImageRead => false,
            SpirvOp::ImageWrite => true,
            _ => return None,
        };
        let operands = self.src.operands(i);
        let Ok(Val::Image(image, _)) = self.value(*operands.first()?) else { return None };
        let coordinates = self.data(*operands.get(1)?).ok()?.to_vec();
        let word = *self.data(if write { *operands.get(2)? } else { i.id }).ok()?.first()?;
        let at = if write { 3 } else { 2 };
        let has_lod = operands.get(at).is_some_and(|m| m & ImageOperands::LOD.bits() != 0);
        let level = if has_lod { *self.data(*operands.get(at + 1)?).ok()?.first()? } else { self.word(0) };
        Some(FetchRecord { image: image.index, element: image.element, coordinates, level, word, write })
    }
}
