//! Functions: inlining, blocks, phis.

use std::collections::HashMap;

use rspirv::spirv::Op as SpirvOp;

use super::{Translator, Val};
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Reg, Term};
use crate::execute::embedded::report::Choice;
use crate::execute::embedded::source::{Id, SourceInst};

/// An edge of a block: indices of both.
type EdgePlace = (usize, usize);

/// A phi whose loop is still being translated.
struct OpenPhi {
    /// Values by the block that they come from.
    parents: Vec<(Id, Id)>,
    regs: Vec<Reg>,
}

/// What is known in the function being inlined.
#[derive(Default)]
pub(super) struct Frame {
    pub values: HashMap<Id, Val>,
    /// Edges to blocks that are not translated yet, with the label they come from.
    pending: HashMap<Id, Vec<(EdgePlace, Id)>>,
    /// Loop headers that were translated: block and phis.
    headers: HashMap<Id, (usize, Vec<OpenPhi>)>,
    /// Label of the block being translated.
    label: Id,
    returns: Vec<(EdgePlace, Val)>,
}

impl Translator<'_> {
    /// Inlines a function; its result.
    pub(super) fn inline(&mut self, id: Id, args: Vec<Val>) -> Result<Val, ExecuteError> {
        let src = self.src;
        let Some(function) = src.functions.get(&id) else {
            return Err(self.fail(&format!("%{id} is no function with a body")));
        };
        if self.calls.contains(&id) {
            return Err(self.fail(&format!("%{id} calls itself")));
        }
        if self.calls.len() >= 64 {
            return Err(self.fail("calls are nested more than 64 deep"));
        }
        if args.len() != function.params.len() {
            return Err(self.fail(&format!("%{id} takes {} arguments", function.params.len())));
        }
        self.calls.push(id);
        let mut frame = Frame::default();
        for (&param, arg) in function.params.iter().zip(args) {
            let p = src.insts[param];
            if let Val::Data(data) = &arg {
                let scalars = self.scalars(p.ty)?;
                self.check_widths(data, &scalars)?;
            }
            frame.values.insert(p.id, arg);
        }
        let outer = std::mem::replace(&mut self.frame, frame);
        let call = self.at;
        for (n, &b) in function.order.iter().enumerate() {
            let block = &function.blocks[b];
            self.frame.label = block.label;
            if n > 0 && !self.enter(block.label, block.has_back_edge)? {
                continue;
            }
            let phis = self.phis(block.first, block.last, block.has_back_edge)?;
            for at in block.first + phis..=block.last {
                self.at = at;
                let i = src.insts[at];
                if at == block.last {
                    self.record_before(&i)?;
                    self.terminator(&i)?;
                } else {
                    self.instruction(&i)?;
                    self.record(&i)?;
                }
            }
        }
        self.at = call;
        let frame = std::mem::replace(&mut self.frame, outer);
        self.calls.pop();
        self.leave(frame.returns)
    }

    /// Starts the block with a label; false when no edge leads to it.
    fn enter(&mut self, label: Id, header: bool) -> Result<bool, ExecuteError> {
        let edges = self.frame.pending.remove(&label).unwrap_or_default();
        if edges.is_empty() {
            return Ok(false);
        }
        // What is known still holds after a single edge from the block before.
        let keep = match edges[..] {
            [((from, _), _)] if !header && from == self.current => {
                Some((std::mem::take(&mut self.known), std::mem::take(&mut self.computed)))
            }
            _ => None,
        };
        self.open_block();
        if let Some((known, computed)) = keep {
            (self.known, self.computed) = (known, computed);
        }
        for &((from, n), _) in &edges {
            self.blocks[from].edges[n].target = self.current as u32;
        }
        self.frame.pending.insert(label, edges);
        if header {
            self.frame.headers.insert(label, (self.current, vec![]));
        }
        Ok(true)
    }

    /// Translates the phis at a block's start; how many instructions they are.
    fn phis(&mut self, first: usize, last: usize, header: bool) -> Result<usize, ExecuteError> {
        let src = self.src;
        let edges = self.frame.pending.remove(&self.frame.label).unwrap_or_default();
        let mut count = 0;
        let mut results = vec![];
        for at in first..last {
            let i = src.insts[at];
            if matches!(i.op, SpirvOp::Line | SpirvOp::NoLine) {
                count += 1;
                continue;
            }
            if i.op != SpirvOp::Phi {
                break;
            }
            count += 1;
            self.at = at;
            let scalars = self.scalars(i.ty)?;
            let parents: Vec<(Id, Id)> = src.operands(&i).chunks_exact(2).map(|c| (c[1], c[0])).collect();
            let mut inputs = vec![];
            for &(place, from) in &edges {
                let data = self.phi_input(&parents, from)?;
                self.check_widths(&data, &scalars)?;
                inputs.push((place, data));
            }
            let same = inputs.windows(2).all(|w| w[0].1 == w[1].1);
            if let (false, true, Some((_, data))) = (header, same, inputs.first()) {
                results.push((at, data.to_vec()));
                continue;
            }
            let regs: Vec<Reg> = scalars.iter().map(|s| self.reg(s.width().into())).collect();
            for ((from, n), data) in inputs {
                let copies = regs.iter().copied().zip(data.iter().copied());
                self.blocks[from].edges[n].copies.extend(copies);
                self.insts += data.len();
            }
            if header && let Some((_, open)) = self.frame.headers.get_mut(&self.frame.label) {
                open.push(OpenPhi { parents, regs: regs.clone() });
            }
            results.push((at, regs));
        }
        // Phis read their operands together, before any of them has its new value.
        for (at, data) in results {
            self.at = at;
            let i = src.insts[at];
            self.set_data(i.id, i.ty, data)?;
            self.record(&i)?;
        }
        Ok(count)
    }

    fn phi_input(&self, parents: &[(Id, Id)], from: Id) -> Result<std::rc::Rc<[Reg]>, ExecuteError> {
        match parents.iter().find(|p| p.0 == from) {
            Some(&(_, value)) => self.data(value),
            None => Err(self.fail(&format!("has no value for the block %{from}"))),
        }
    }

    /// Adds an edge to a label.
    fn edge(&mut self, label: Id) -> Result<(), ExecuteError> {
        let place = self.open_edge();
        let from = self.frame.label;
        let Some((target, phis)) = self.frame.headers.get(&label) else {
            self.frame.pending.entry(label).or_default().push((place, from));
            return Ok(());
        };
        let mut copies = vec![];
        for phi in phis {
            let data = self.phi_input(&phi.parents, from)?;
            let fits = data.len() == phi.regs.len()
                && data.iter().zip(&phi.regs).all(|(&a, &b)| self.widths[a as usize] == self.widths[b as usize]);
            if !fits {
                return Err(self.fail("a phi's operand has another type"));
            }
            copies.extend(phi.regs.iter().copied().zip(data.iter().copied()));
        }
        let edge = &mut self.blocks[place.0].edges[place.1];
        edge.target = *target as u32;
        self.insts += copies.len();
        edge.copies = copies;
        Ok(())
    }

    fn terminator(&mut self, i: &SourceInst) -> Result<(), ExecuteError> {
        let src = self.src;
        match i.op {
            SpirvOp::Branch => {
                self.edge(src.word(i, 0)?)?;
                self.set_term(Term::Jump);
            }
            SpirvOp::BranchConditional => {
                let cond = self.bool_operand(src.word(i, 0)?)?;
                let (yes, no) = (src.word(i, 1)?, src.word(i, 2)?);
                if self.is_undef(cond) {
                    self.note(Choice::Undefined)?;
                }
                match self.constant_of(cond) {
                    Some(v) => {
                        self.edge(if v != 0 { yes } else { no })?;
                        self.set_term(Term::Jump);
                    }
                    None if yes == no => {
                        self.edge(yes)?;
                        self.set_term(Term::Jump);
                    }
                    None => {
                        self.edge(yes)?;
                        self.edge(no)?;
                        self.set_term(Term::Branch(cond));
                    }
                }
            }
            SpirvOp::Switch => {
                let (s, selector) = self.scalar(src.word(i, 0)?)?;
                let step = src.switch_step(i)?;
                if usize::from(s.width()) + 1 != step {
                    return Err(self.fail("its selector has another width"));
                }
                let operands = src.operands(i);
                let narrow = u64::MAX >> (64 - s.bits());
                let cases: Vec<(u64, Id)> = operands[2..]
                    .chunks_exact(step)
                    .map(|c| {
                        let high = if step == 3 { u64::from(c[1]) << 32 } else { 0 };
                        ((u64::from(c[0]) | high) & narrow, c[step - 1])
                    })
                    .collect();
                if self.is_undef(selector) {
                    self.note(Choice::Undefined)?;
                }
                if let Some(v) = self.constant_of(selector) {
                    let label = cases.iter().find(|c| c.0 == v).map_or(operands[1], |c| c.1);
                    self.edge(label)?;
                    self.set_term(Term::Jump);
                } else {
                    self.edge(operands[1])?;
                    for c in &cases {
                        self.edge(c.1)?;
                    }
                    let values = cases.into_iter().map(|c| c.0).collect();
                    self.set_term(Term::Switch(selector, s.width(), values));
                }
            }
            SpirvOp::Return => {
                let place = self.open_edge();
                self.frame.returns.push((place, Val::Nothing));
                self.set_term(Term::Jump);
            }
            SpirvOp::ReturnValue => {
                let value = self.value(src.word(i, 0)?)?;
                let place = self.open_edge();
                self.frame.returns.push((place, value));
                self.set_term(Term::Jump);
            }
            SpirvOp::Unreachable => {
                self.note(Choice::Unreachable)?;
                self.set_term(Term::Return);
            }
            _ => return Err(self.fail("is not supported in compute shaders")),
        }
        Ok(())
    }

    fn set_term(&mut self, term: Term) {
        self.blocks[self.current].term = term;
    }

    /// Joins the returns of an inlined function.
    fn leave(&mut self, returns: Vec<(EdgePlace, Val)>) -> Result<Val, ExecuteError> {
        if let [((from, n), value)] = &returns[..]
            && *from == self.current
            && *n == 0
        {
            // The only return ends the last block: go on in it.
            let block = &mut self.blocks[*from];
            block.edges.clear();
            block.term = Term::Open;
            return Ok(value.clone());
        }
        // Without any return nothing leads to this block, and what follows is dropped.
        self.open_block();
        for &((from, n), _) in &returns {
            self.blocks[from].edges[n].target = self.current as u32;
        }
        let Some((_, Val::Data(first))) = returns.first() else {
            return match returns.first() {
                Some((_, Val::Nothing)) | None => Ok(Val::Nothing),
                Some((_, value)) if returns.len() == 1 => Ok(value.clone()),
                Some(_) => Err(self.fail("functions with several returns of pointers or images are not supported")),
            };
        };
        let regs: Vec<Reg> = first.iter().map(|&r| self.reg(self.widths[r as usize])).collect();
        for ((from, n), value) in &returns {
            let Val::Data(data) = value else { return Err(self.fail("returns values of several types")) };
            let fits = data.len() == regs.len()
                && data.iter().zip(&regs).all(|(&a, &b)| self.widths[a as usize] == self.widths[b as usize]);
            if !fits {
                return Err(self.fail("returns values of several types"));
            }
            let copies = regs.iter().copied().zip(data.iter().copied());
            self.blocks[*from].edges[*n].copies.extend(copies);
            self.insts += data.len();
        }
        Ok(Val::Data(regs.into()))
    }

    /// Register of a bool operand.
    pub(super) fn bool_operand(&self, id: Id) -> Result<Reg, ExecuteError> {
        match self.scalar(id)? {
            (super::types::Scalar::Bool, r) => Ok(r),
            _ => Err(self.fail(&format!("%{id} is no bool"))),
        }
    }

    /// Ends the block at a barrier.
    pub(super) fn barrier(&mut self) {
        let at = self.at as u32;
        let (from, n) = self.open_edge();
        self.set_term(Term::Barrier(at));
        self.open_block();
        self.blocks[from].edges[n].target = self.current as u32;
    }
}
