//! Runs a program: 64 invocations at a time, which part at branches and meet again.
//!
//! The invocations of a block of lanes stand in groups, each at the start of a basic block. The group at the earliest block goes
//! first, so that those ahead wait and are joined: as blocks are ordered with merge blocks last, that is where they meet.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::Instant;

use rayon::prelude::*;

use super::Limits;
use super::effects::Context;
use super::ir::{Builtin, LANES, Lanes, Mask, Program, Term};
use super::kernels;
use super::report::{Choice, Notes};
use super::resources::Resources;
use super::trace::Step;
use crate::execute::ExecuteError;

/// Groups of a dispatch, and the number of invocations.
#[derive(Clone, Copy)]
struct Grid {
    groups: [u32; 3],
    local: [u32; 3],
    /// Invocations of a workgroup.
    size: u64,
    total: u64,
}

impl Grid {
    fn new(program: &Program, groups: [u32; 3]) -> Option<Self> {
        let product = |v: [u32; 3]| v.iter().try_fold(1u64, |a, &n| a.checked_mul(n.into()));
        let size = product(program.local_size)?;
        let total = product(groups)?.checked_mul(size)?;
        Some(Self { groups, local: program.local_size, size, total })
    }

    /// Workgroup and place in it of an invocation by its linear index.
    fn place(&self, index: u64) -> ([u32; 3], [u32; 3]) {
        let split = |n: u64, [x, y, _]: [u32; 3]| {
            let (x, y) = (u64::from(x.max(1)), u64::from(y.max(1)));
            [(n % x) as u32, (n / x % y) as u32, (n / x / y) as u32]
        };
        (split(index / self.size, self.groups), split(index % self.size, self.local))
    }

    fn global(&self, index: u64) -> [u32; 3] {
        let (group, local) = self.place(index);
        std::array::from_fn(|n| group[n].wrapping_mul(self.local[n]).wrapping_add(local[n]))
    }

    /// The inverse of [`Self::global`].
    fn index(&self, id: [u32; 3]) -> Option<u64> {
        let mut index = 0u64;
        let mut local = 0u64;
        for n in (0..3).rev() {
            let group = id[n] / self.local[n];
            if group >= self.groups[n] {
                return None;
            }
            index = index * u64::from(self.groups[n]) + u64::from(group);
            local = local * u64::from(self.local[n]) + u64::from(id[n] % self.local[n]);
        }
        Some(index * self.size + local)
    }
}

/// What a run gave beside its outputs.
pub(super) struct Outcome {
    /// By instruction and choice: how often, and the first invocation.
    pub notes: Vec<(u32, Choice, u64, [u32; 3])>,
    pub steps: Vec<Step>,
}

/// What all threads see.
struct Shared<'a> {
    program: &'a Program,
    resources: &'a Resources<'a>,
    limits: &'a Limits,
    arch: pulp::Arch,
    grid: Grid,
    start: Instant,
    stop: AtomicBool,
}

/// Runs a dispatch; with `trace` only what that invocation needs.
pub(super) fn run(
    program: &Program,
    resources: &Resources<'_>,
    groups: [u32; 3],
    limits: &Limits,
    trace: Option<[u32; 3]>,
) -> Result<Outcome, ExecuteError> {
    let grid = Grid::new(program, groups).filter(|g| g.total <= limits.invocations).ok_or_else(|| {
        ExecuteError::Unsupported(format!(
            "{groups:?} workgroups of {:?}, at most {} invocations are accepted",
            program.local_size, limits.invocations
        ))
    })?;
    let shared = Shared {
        program,
        resources,
        limits,
        arch: pulp::Arch::new(),
        grid,
        start: Instant::now(),
        stop: AtomicBool::new(false),
    };
    let mut notes = Notes::default();
    for &(choice, src) in &program.notes {
        notes.add(src, choice, 1, 0);
    }
    let unit = if program.lockstep { grid.size } else { LANES as u64 };
    let units = grid.total.div_ceil(unit);
    let sets = if program.lockstep { grid.size.div_ceil(LANES as u64) } else { 1 };
    let bytes = sets.saturating_mul(u64::from(program.slots)).saturating_mul(size_of::<Lanes>() as u64);
    if bytes > limits.memory_bytes as u64 {
        return Err(ExecuteError::Unsupported(format!(
            "a workgroup needs {bytes} bytes of registers, at most {} are accepted",
            limits.memory_bytes
        )));
    }
    let mut steps = vec![];
    if let Some(id) = trace {
        let index = grid
            .index(id)
            .ok_or_else(|| ExecuteError::InvalidJob(format!("invocation {id:?} is not part of the dispatch")))?;
        let mut worker = Worker::new(&shared);
        worker.traced = Some(index);
        worker.unit(index / unit)?;
        steps = worker.steps;
    } else if units > 0 {
        let threads = (rayon::current_num_threads() as u64).min(units);
        let next = AtomicU64::new(0);
        let all = Mutex::new(Notes::default());
        let work = |_: usize| -> Result<(), ExecuteError> {
            let mut worker = Worker::new(&shared);
            let mut result = Ok(());
            while result.is_ok() && !shared.stop.load(Ordering::Relaxed) {
                let unit = next.fetch_add(1, Ordering::Relaxed);
                if unit >= units {
                    break;
                }
                result = worker.unit(unit);
            }
            if result.is_err() {
                shared.stop.store(true, Ordering::Relaxed);
            }
            all.lock().unwrap_or_else(std::sync::PoisonError::into_inner).merge(worker.notes);
            result
        };
        if threads == 1 {
            work(0)?;
        } else {
            (0..threads as usize).into_par_iter().with_max_len(1).map(work).collect::<Result<Vec<()>, _>>()?;
        }
        notes.merge(all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    }
    let notes = notes.into_iter().map(|(src, choice, count, first)| (src, choice, count, grid.global(first))).collect();
    Ok(Outcome { notes, steps })
}

/// Up to 64 invocations.
struct Set {
    regs: Vec<Lanes>,
    /// Lanes in which a variable's slot was written.
    defined: Vec<u64>,
    /// Groups by the block that they are at.
    ready: Vec<(u32, u64)>,
    /// Groups that wait at a barrier: block to go on at, lanes, the barrier.
    parked: Vec<(u32, u64, u32)>,
    /// Linear index of lane 0.
    base: u64,
}

/// A thread's state.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    sets: Vec<Set>,
    memory: Vec<u32>,
    /// Words of the workgroup's memory that were written.
    written: Vec<bool>,
    notes: Notes,
    traced: Option<u64>,
    steps: Vec<Step>,
    mask: Mask,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>) -> Self {
        Self {
            shared,
            sets: vec![],
            memory: vec![],
            written: vec![],
            notes: Notes::default(),
            traced: None,
            steps: vec![],
            mask: Mask::new(u64::MAX),
        }
    }

    /// Runs a workgroup, or 64 invocations of whatever workgroups.
    fn unit(&mut self, unit: u64) -> Result<(), ExecuteError> {
        let program = self.shared.program;
        let grid = self.shared.grid;
        let size = if program.lockstep { grid.size } else { LANES as u64 };
        let first = unit * size;
        let end = (first + size).min(grid.total);
        let mut used = 0;
        for base in (first..end).step_by(LANES) {
            let count = (end - base).min(LANES as u64);
            let mut lanes = u64::MAX >> (LANES as u64 - count);
            if let (false, Some(index)) = (program.lockstep, self.traced) {
                lanes = 1 << (index - base);
            }
            if self.sets.len() == used {
                self.sets.push(new_set(program));
            }
            self.begin(used, base, lanes);
            used += 1;
        }
        if program.lockstep {
            self.memory.clear();
            self.memory.resize(program.shared_words as usize, 0);
            self.written.clear();
            self.written.resize(program.shared_words as usize, false);
        }
        let mut budget = self.shared.limits.steps.saturating_mul(used as u64);
        loop {
            for n in 0..used {
                self.advance(n, &mut budget)?;
            }
            if !self.release(used, end - first) {
                return Ok(());
            }
        }
    }

    /// Sets up the invocations from `base` on.
    fn begin(&mut self, n: usize, base: u64, lanes: u64) {
        let grid = self.shared.grid;
        let set = &mut self.sets[n];
        set.base = base;
        set.ready.clear();
        set.ready.push((0, lanes));
        set.parked.clear();
        for &(slot, count) in &self.shared.program.variables {
            set.defined[slot as usize..(slot + count) as usize].fill(0);
        }
        let builtins = &self.shared.program.builtins;
        for &(b, slot) in builtins {
            let width = if b == Builtin::LocalInvocationIndex { 1 } else { 3 };
            set.defined[slot as usize..slot as usize + width].fill(u64::MAX);
        }
        if builtins.is_empty() {
            return;
        }
        let (mut group, mut local) = grid.place(base);
        let mut index = (base % grid.size) as u32;
        for l in 0..LANES {
            for &(b, slot) in builtins {
                let slot = slot as usize;
                for n in 0..3 {
                    let value = match b {
                        Builtin::NumWorkgroups => grid.groups[n],
                        Builtin::WorkgroupId => group[n],
                        Builtin::LocalInvocationId => local[n],
                        Builtin::GlobalInvocationId => group[n].wrapping_mul(grid.local[n]).wrapping_add(local[n]),
                        Builtin::LocalInvocationIndex => {
                            set.regs[slot][l] = index;
                            break;
                        }
                    };
                    set.regs[slot + n][l] = value;
                }
            }
            // The next invocation.
            index += 1;
            if increment(&mut local, grid.local) {
                index = 0;
                increment(&mut group, grid.groups);
            }
        }
    }

    /// Runs a set until all its invocations ended or wait.
    fn advance(&mut self, n: usize, budget: &mut u64) -> Result<(), ExecuteError> {
        let Shared { program, resources, arch, limits, .. } = *self.shared;
        let set = &mut self.sets[n];
        while let Some(at) = earliest(&set.ready) {
            let (block_index, bits) = set.ready.swap_remove(at);
            if self.mask.bits != bits {
                self.mask = Mask::new(bits);
            }
            let block = &program.blocks[block_index as usize];
            let cost = block.insts.len() as u64 + 1;
            if *budget < cost {
                return Err(self.out_of_steps(block_index));
            }
            // Checking the clock now and then is enough.
            if (*budget ^ (*budget - cost)) >> 20 != 0 && self.shared.start.elapsed() > limits.time {
                return Err(self.out_of_time(block_index));
            }
            *budget -= cost;
            let mut context = Context {
                resources,
                program,
                defined: &mut set.defined,
                memory: &mut self.memory,
                written: &mut self.written,
                notes: &mut self.notes,
                base: set.base,
                lane: self.traced.and_then(|t| t.checked_sub(set.base)).filter(|&l| l < LANES as u64),
                steps: &mut self.steps,
                trace_limit: limits.trace_steps,
                overflow: false,
                error: None,
            };
            kernels::run(arch, &block.insts, &mut set.regs, &self.mask, &mut context);
            if let Some(error) = context.error.take() {
                return Err(error);
            }
            if context.overflow {
                return Err(ExecuteError::Timeout(format!(
                    "the invocation executes more than {} instructions, the limit for a trace",
                    limits.trace_steps
                )));
            }
            let mut go = |set_regs: &mut Vec<Lanes>, ready: &mut Vec<(u32, u64)>, edge: usize, to: u64| {
                let edge = &block.edges[edge];
                if !edge.insts.is_empty() {
                    if to == self.mask.bits {
                        kernels::run(arch, &edge.insts, set_regs, &self.mask, &mut context);
                    } else {
                        kernels::run(arch, &edge.insts, set_regs, &Mask::new(to), &mut context);
                    }
                }
                join(ready, edge.target, to);
            };
            match &block.term {
                Term::Jump => go(&mut set.regs, &mut set.ready, 0, bits),
                Term::Branch(r) => {
                    let yes = truths(&set.regs[*r as usize], &self.mask);
                    if yes != 0 {
                        go(&mut set.regs, &mut set.ready, 0, yes);
                    }
                    if yes != bits {
                        go(&mut set.regs, &mut set.ready, 1, bits & !yes);
                    }
                }
                Term::Switch(r, w, values) => {
                    let mut rest = bits;
                    let selector = |l: usize| {
                        let low = u64::from(set.regs[*r as usize][l]);
                        let high = if *w == 2 { u64::from(set.regs[*r as usize + 1][l]) } else { 0 };
                        low | high << 32
                    };
                    let mut parts: VecDeque<(usize, u64)> = VecDeque::new();
                    while rest != 0 {
                        let value = selector(rest.trailing_zeros() as usize);
                        let same = (0..LANES).filter(|&l| rest >> l & 1 != 0 && selector(l) == value);
                        let same = same.fold(0u64, |a, l| a | 1 << l);
                        rest &= !same;
                        parts.push_back((values.iter().position(|v| *v == value).map_or(0, |n| n + 1), same));
                    }
                    for (edge, to) in parts {
                        go(&mut set.regs, &mut set.ready, edge, to);
                    }
                }
                Term::Barrier(src) => {
                    let target = block.edges[0].target;
                    match set.parked.iter_mut().find(|p| (p.0, p.2) == (target, *src)) {
                        Some(p) => p.1 |= bits,
                        None => set.parked.push((target, bits, *src)),
                    }
                }
                Term::Return | Term::Open => {}
            }
        }
        Ok(())
    }

    /// Lets the invocations at barriers go on; false when there are none.
    fn release(&mut self, used: usize, invocations: u64) -> bool {
        let sets = &mut self.sets[..used];
        let waiting: u64 = sets.iter().flat_map(|s| &s.parked).map(|p| u64::from(p.1.count_ones())).sum();
        if waiting == 0 {
            return false;
        }
        let mut places = sets.iter().flat_map(|s| &s.parked).map(|p| p.2);
        let first = places.next();
        if waiting != invocations || places.any(|p| Some(p) != first) {
            for set in sets.iter() {
                for &(_, lanes, src) in &set.parked {
                    let index = set.base + u64::from(lanes.trailing_zeros());
                    self.notes.add(src, Choice::DivergentBarrier, lanes.count_ones().into(), index);
                }
            }
        }
        fence(Ordering::SeqCst);
        for set in sets {
            for (target, lanes, _) in std::mem::take(&mut set.parked) {
                join(&mut set.ready, target, lanes);
            }
        }
        true
    }

    fn place(&self, block: u32) -> String {
        let program = self.shared.program;
        let src = program.blocks[block as usize].insts.first().map_or(0, |i| i.src);
        let inst = program.source.insts[src as usize];
        format!("{} at word {}", program.source.inst_name(&inst), inst.at)
    }

    fn out_of_steps(&self, block: u32) -> ExecuteError {
        let steps = self.shared.limits.steps;
        ExecuteError::Timeout(format!("64 invocations take more than {steps} steps, at {}", self.place(block)))
    }

    fn out_of_time(&self, block: u32) -> ExecuteError {
        let time = self.shared.limits.time;
        ExecuteError::Timeout(format!("the dispatch takes more than {time:?}, at {}", self.place(block)))
    }
}

fn new_set(program: &Program) -> Set {
    let mut regs = vec![[0; LANES]; program.slots as usize];
    for &(slot, value) in &program.constants {
        regs[slot as usize] = [value; LANES];
    }
    Set { regs, defined: vec![0; program.slots as usize], ready: vec![], parked: vec![], base: 0 }
}

/// Counts up in x, then y, then z; true when it starts again.
fn increment(v: &mut [u32; 3], limit: [u32; 3]) -> bool {
    for n in 0..3 {
        v[n] += 1;
        if v[n] < limit[n] {
            return false;
        }
        v[n] = 0;
    }
    true
}

fn earliest(ready: &[(u32, u64)]) -> Option<usize> {
    (0..ready.len()).min_by_key(|&n| ready[n].0)
}

fn join(ready: &mut Vec<(u32, u64)>, target: u32, lanes: u64) {
    match ready.iter_mut().find(|g| g.0 == target) {
        Some(g) => g.1 |= lanes,
        None => ready.push((target, lanes)),
    }
}

/// Lanes of the mask in which a bool is true.
fn truths(r: &Lanes, mask: &Mask) -> u64 {
    let (mut any, mut all) = (0, u32::MAX);
    for (v, m) in r.iter().zip(&mask.lanes) {
        any |= v & m;
        all &= v | !m;
    }
    if any == 0 {
        return 0;
    }
    if all == u32::MAX {
        return mask.bits;
    }
    let mut bits = 0;
    for (l, v) in r.iter().enumerate() {
        bits |= u64::from(v >> 31) << l;
    }
    bits & mask.bits
}
