//! What is left to do once all is translated: unreachable blocks and unused results go, straight lines of blocks become one
//! block, registers get slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::Translator;
use crate::execute::ExecuteError;
use crate::execute::embedded::ir::{Block, Inst, NONE, Op, Program, Reg, Term};
use crate::execute::embedded::source::Source;

/// Loops nested deeper are refused.
const MAX_NESTING: usize = 64;

/// Makes the program.
pub(super) fn finish(mut t: Translator<'_>, source: &Arc<Source>) -> Result<Program, ExecuteError> {
    reach(&mut t)?;
    join(&mut t);
    remove_unused(&mut t);
    order_copies(&mut t);
    allocate(t, source)
}

/// Drops the blocks that no edge leads to.
fn reach(t: &mut Translator<'_>) -> Result<(), ExecuteError> {
    let mut reached = vec![false; t.blocks.len()];
    let mut stack = vec![0u32];
    reached[0] = true;
    while let Some(b) = stack.pop() {
        for edge in &t.blocks[b as usize].edges {
            let Some(r) = reached.get_mut(edge.target as usize) else {
                return Err(ExecuteError::Module("control flow that is not structured is not supported".into()));
            };
            if !*r {
                *r = true;
                stack.push(edge.target);
            }
        }
    }
    retain(t, &reached);
    Ok(())
}

/// Keeps some blocks, in their order.
fn retain(t: &mut Translator<'_>, keep: &[bool]) {
    let mut place = vec![NONE; keep.len()];
    let mut next = 0;
    for (n, keep) in keep.iter().enumerate() {
        if *keep {
            place[n] = next;
            next += 1;
        }
    }
    let mut n = 0;
    t.blocks.retain(|_| {
        n += 1;
        keep[n - 1]
    });
    for edge in t.blocks.iter_mut().flat_map(|b| &mut b.edges) {
        edge.target = place[edge.target as usize];
    }
}

/// Appends a block to the one before where that is the only way to it.
fn join(t: &mut Translator<'_>) {
    let mut entries = vec![0u32; t.blocks.len()];
    for edge in t.blocks.iter().flat_map(|b| &b.edges) {
        entries[edge.target as usize] += 1;
    }
    let mut keep = vec![true; t.blocks.len()];
    // From the end, so that a chain collapses into its first block.
    for n in (0..t.blocks.len().saturating_sub(1)).rev() {
        let joins = matches!(t.blocks[n].term, Term::Jump)
            && matches!(&t.blocks[n].edges[..], [e] if e.target as usize == n + 1 && e.copies.is_empty())
            && entries[n + 1] == 1;
        if joins {
            let empty = Block { insts: vec![], term: Term::Open, edges: vec![] };
            let next = std::mem::replace(&mut t.blocks[n + 1], empty);
            keep[n + 1] = false;
            t.blocks[n].insts.extend(next.insts);
            t.blocks[n].term = next.term;
            t.blocks[n].edges = next.edges;
        }
    }
    retain(t, &keep);
}

fn term_reg(term: &Term) -> Option<Reg> {
    match term {
        Term::Branch(r) | Term::Switch(r, ..) => Some(*r),
        _ => None,
    }
}

/// Removes what nothing reads.
fn remove_unused(t: &mut Translator<'_>) {
    let mut live = vec![false; t.widths.len()];
    let records = t.trace.take().unwrap_or_default();
    loop {
        let mut changed = false;
        let mut mark = |live: &mut Vec<bool>, r: Reg| {
            if !std::mem::replace(&mut live[r as usize], true) {
                changed = true;
            }
        };
        for block in t.blocks.iter().rev() {
            for edge in &block.edges {
                for &(dst, src) in &edge.copies {
                    if live[dst as usize] {
                        mark(&mut live, src);
                    }
                }
            }
            if let Some(r) = term_reg(&block.term) {
                mark(&mut live, r);
            }
            for inst in block.insts.iter().rev() {
                if inst.op == Op::Trace {
                    for r in records[inst.imm as usize].regs() {
                        mark(&mut live, r);
                    }
                }
                if inst.op.shape().effect || live[inst.dst as usize] {
                    for r in inst.uses() {
                        mark(&mut live, r);
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    for block in &mut t.blocks {
        block.insts.retain(|i| i.op.shape().effect || live[i.dst as usize]);
        for edge in &mut block.edges {
            edge.copies.retain(|c| live[c.0 as usize] && c.0 != c.1);
        }
    }
    t.variables.retain(|&v| live[v as usize]);
    t.builtins.retain(|&(_, v)| live[v as usize]);
    t.values.retain(|&r, _| live[r as usize]);
    t.trace = Some(records);
}

/// Turns parallel copies into moves.
fn order_copies(t: &mut Translator<'_>) {
    for b in 0..t.blocks.len() {
        for e in 0..t.blocks[b].edges.len() {
            let copies = std::mem::take(&mut t.blocks[b].edges[e].copies);
            let sources: std::collections::HashSet<Reg> = copies.iter().map(|c| c.1).collect();
            let crossing = copies.iter().any(|c| sources.contains(&c.0));
            let moved = |dst: Reg, a: Reg, w: u32, masked| Inst { w: w as u8, dst, a, masked, ..t.inst(Op::Mov) };
            let mut insts = vec![];
            let mut temporaries = vec![];
            for &(dst, src) in &copies {
                let w = t.widths[src as usize];
                if crossing {
                    let through = t.widths.len() as Reg + temporaries.len() as Reg;
                    temporaries.push(w);
                    insts.push(moved(through, src, w, false));
                } else {
                    insts.push(moved(dst, src, w, true));
                }
            }
            if crossing {
                for (n, &(dst, src)) in copies.iter().enumerate() {
                    let through = t.widths.len() as Reg + n as Reg;
                    insts.push(moved(dst, through, t.widths[src as usize], true));
                }
                t.widths.extend(temporaries);
            }
            t.blocks[b].edges[e].insts = insts;
        }
    }
}

/// From where to where a register is needed.
#[derive(Clone, Copy)]
struct Span {
    first: u32,
    last: u32,
}

/// Loops, by where their instructions are: nested or apart, never crossing.
struct Loops {
    spans: Vec<Span>,
    parents: Vec<usize>,
}

impl Loops {
    fn new(mut spans: Vec<Span>) -> Result<Self, ExecuteError> {
        spans.sort_by_key(|s| (s.first, Reverse(s.last)));
        spans.dedup_by_key(|s| s.first);
        let mut out: Vec<Span> = vec![];
        let mut parents: Vec<usize> = vec![];
        let mut open: Vec<usize> = vec![];
        for s in spans {
            while open.last().is_some_and(|&n| out[n].last < s.first) {
                open.pop();
            }
            // Loops that cross count as one with the larger end.
            for &n in &open {
                out[n].last = out[n].last.max(s.last);
            }
            if open.len() >= MAX_NESTING {
                return Err(ExecuteError::Module(format!("loops are nested more than {MAX_NESTING} deep")));
            }
            parents.push(open.last().copied().unwrap_or(usize::MAX));
            open.push(out.len());
            out.push(s);
        }
        Ok(Self { spans: out, parents })
    }

    /// The outermost loop around `at` that does not reach `other`.
    fn outermost_without(&self, at: u32, other: u32) -> Option<Span> {
        let mut n = self.spans.partition_point(|s| s.first <= at).checked_sub(1)?;
        let mut found = None;
        while let Some(s) = self.spans.get(n) {
            if s.last >= at {
                if s.first <= other && other <= s.last {
                    break;
                }
                found = Some(*s);
            }
            n = self.parents[n];
        }
        found
    }
}

/// Visits every instruction with its place; the moves of edges come after the block's end.
fn walk(blocks: &mut [Block], mut f: impl FnMut(u32, &mut Inst)) -> Vec<Span> {
    let mut at = 0;
    let mut spans = vec![];
    for block in blocks {
        let first = at;
        for inst in &mut block.insts {
            f(at, inst);
            at += 2;
        }
        // The terminator.
        at += 2;
        for inst in block.edges.iter_mut().flat_map(|e| &mut e.insts) {
            f(at, inst);
            at += 2;
        }
        spans.push(Span { first, last: at });
        at += 2;
    }
    spans
}

fn allocate(mut t: Translator<'_>, source: &Arc<Source>) -> Result<Program, ExecuteError> {
    let tracing = t.trace.as_ref().is_some_and(|r| !r.is_empty());
    let unused = Span { first: u32::MAX, last: 0 };
    let mut spans = vec![unused; t.widths.len()];
    let mut touch = |r: Reg, at: u32| {
        let s = &mut spans[r as usize];
        s.first = s.first.min(at);
        s.last = s.last.max(at);
    };
    let mut blocks = std::mem::take(&mut t.blocks);
    let places = walk(&mut blocks, |at, inst| {
        for r in inst.uses() {
            touch(r, at);
        }
        if inst.op.shape().dst && inst.dst != NONE {
            // Arithmetic reads all its operands before it writes.
            touch(inst.dst, at + u32::from(inst.op.is_pure()));
        }
    });
    let mut loops = vec![];
    for (n, block) in blocks.iter().enumerate() {
        if let Some(r) = term_reg(&block.term) {
            touch(r, places[n].first + 2 * block.insts.len() as u32);
        }
        for edge in &block.edges {
            if edge.target as usize <= n {
                loops.push(Span { first: places[edge.target as usize].first, last: places[n].last });
            }
        }
    }
    let loops = Loops::new(loops)?;

    // Constants and variables keep their slots.
    let mut slots = vec![NONE; t.widths.len()];
    let mut next = 0u32;
    let mut take = |slots: &mut Vec<u32>, r: Reg, width: u32| {
        slots[r as usize] = next;
        next = next.saturating_add(width);
    };
    let mut constants = vec![];
    let mut values: Vec<(Reg, u64)> = t.values.iter().map(|(&r, &v)| (r, v)).collect();
    values.sort_unstable();
    for (r, value) in values {
        let width = t.widths[r as usize];
        take(&mut slots, r, width);
        constants.push((slots[r as usize], value as u32));
        if width == 2 {
            constants.push((slots[r as usize] + 1, (value >> 32) as u32));
        }
    }
    let mut variables = vec![];
    for &v in &t.variables {
        let width = t.widths[v as usize];
        take(&mut slots, v, width);
        variables.push((slots[v as usize], width));
    }

    // All others share slots where their spans are apart.
    let mut escapes = vec![false; t.widths.len()];
    let mut order = vec![];
    for r in 0..t.widths.len() {
        let mut s = spans[r];
        if slots[r] != NONE || s.first > s.last {
            continue;
        }
        if let Some(around) = loops.outermost_without(s.first, s.last) {
            escapes[r] = true;
            s.first = around.first;
        }
        if let Some(around) = loops.outermost_without(s.last, s.first) {
            s.last = around.last;
        }
        order.push((s.first, s.last, r));
    }
    order.sort_unstable();
    let mut free: [Vec<u32>; 3] = Default::default();
    let mut active = BinaryHeap::new();
    for (first, last, r) in order {
        let width = t.widths[r] as usize;
        if !tracing {
            while let Some(&Reverse((end, slot, width))) = active.peek() {
                if end >= first {
                    break;
                }
                active.pop();
                let list: &mut Vec<u32> = &mut free[width];
                list.push(slot);
            }
        }
        slots[r] = match free[width].pop() {
            Some(slot) => slot,
            None => {
                let slot = next;
                next = next.saturating_add(width as u32);
                slot
            }
        };
        active.push(Reverse((last, slots[r], width)));
    }
    if next > t.limits.slots {
        return Err(ExecuteError::Unsupported(format!(
            "an invocation needs {next} registers, at most {} are accepted",
            t.limits.slots
        )));
    }

    let mut lockstep = false;
    walk(&mut blocks, |_, inst| {
        let shape = inst.op.shape();
        lockstep |= matches!(inst.op, Op::LoadShared | Op::StoreShared | Op::AtomicShared);
        if shape.dst && inst.dst != NONE {
            inst.masked |= escapes[inst.dst as usize];
            inst.dst = slots[inst.dst as usize];
            if inst.op == Op::WriteVar {
                inst.dst += inst.imm;
            }
        }
        for (is, r) in [(shape.a, &mut inst.a), (shape.b, &mut inst.b), (shape.c, &mut inst.c), (shape.d, &mut inst.d)]
        {
            if is && *r != NONE {
                *r = slots[*r as usize];
            }
        }
        if inst.e != NONE {
            inst.e = slots[inst.e as usize];
        }
        if inst.op == Op::ReadVar {
            inst.a += inst.imm;
        }
    });
    for block in &mut blocks {
        match &mut block.term {
            Term::Branch(r) | Term::Switch(r, ..) => *r = slots[*r as usize],
            Term::Barrier(_) => lockstep = true,
            _ => {}
        }
    }
    let mut trace = t.trace.take().unwrap_or_default();
    for record in &mut trace {
        record.rename(&slots);
    }
    Ok(Program {
        blocks,
        slots: next,
        constants,
        variables,
        builtins: t.builtins.iter().map(|&(b, r)| (b, slots[r as usize])).collect(),
        buffers: t.buffers,
        images: t.images,
        shared_words: t.shared_words,
        local_size: t.local_size,
        lockstep,
        notes: t.notes,
        trace,
        source: source.clone(),
    })
}
