//! Instructions that touch memory: variables, buffers, workgroup memory, images.

use std::sync::atomic::{Ordering, fence};

use super::ir::{Atomic, Inst, LANES, Lanes, Mask, NONE, Op, POISON, Program};
use super::kernels::Env;
use super::report::{Choice, Notes};
use super::resources::{Resources, Words};
use super::trace::Step;
use crate::execute::ExecuteError;

/// What instructions that are no arithmetic work on.
pub(super) struct Context<'a> {
    pub resources: &'a Resources<'a>,
    pub program: &'a Program,
    pub defined: &'a mut Vec<u64>,
    pub memory: &'a mut Vec<u32>,
    pub written: &'a mut Vec<bool>,
    pub notes: &'a mut Notes,
    pub base: u64,
    /// The lane that is traced.
    pub lane: Option<u64>,
    pub steps: &'a mut Vec<Step>,
    pub trace_limit: usize,
    pub overflow: bool,
    /// Why the run has to end.
    pub error: Option<ExecuteError>,
}

/// Address in a lane, wide enough for the literal part.
#[inline(always)]
fn address(i: &Inst, regs: &[Lanes], l: usize) -> Option<u64> {
    let dynamic = if i.a == NONE { 0 } else { regs[i.a as usize][l] };
    (dynamic != POISON).then(|| u64::from(dynamic) + u64::from(i.d))
}

/// Lanes of a mask.
fn each(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let l = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (l < LANES).then_some(l)
    })
}

#[inline(always)]
fn put(regs: &mut [Lanes], i: &Inst, slot: u32, mask: &Mask, t: &Lanes) {
    let dst = &mut regs[(i.dst + slot) as usize];
    if i.masked && !mask.is_full() {
        for l in 0..LANES {
            dst[l] = (t[l] & mask.lanes[l]) | (dst[l] & !mask.lanes[l]);
        }
    } else {
        *dst = *t;
    }
}

impl Env for Context<'_> {
    fn note(&mut self, choice: Choice, src: u32, lanes: u64) {
        let first = self.base + u64::from(lanes.trailing_zeros());
        self.notes.add(src, choice, lanes.count_ones().into(), first);
    }

    fn effect(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        if i.e == NONE {
            return self.access(i, regs, mask);
        }
        // One access for each element of the array of descriptors that any lane has.
        let elements = regs[i.e as usize];
        let mut rest = mask.bits;
        while rest != 0 {
            let element = elements[rest.trailing_zeros() as usize];
            let same = each(rest).filter(|&l| elements[l] == element).fold(0u64, |lanes, l| lanes | 1 << l);
            rest &= !same;
            match self.resources.element(self.program, i, element) {
                Ok(imm) => self.access(&Inst { imm, e: NONE, masked: true, ..*i }, regs, &Mask::new(same)),
                Err(error) => self.error = self.error.take().or(Some(error)),
            }
        }
    }
}

impl Context<'_> {
    /// What the instruction does to one resource.
    fn access(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        match i.op {
            Op::ReadVar => self.read_var(i, regs, mask),
            Op::WriteVar => {
                for s in 0..u32::from(i.w) {
                    let t = regs[(i.a + s) as usize];
                    let dst = &mut regs[(i.dst + s) as usize];
                    for l in 0..LANES {
                        dst[l] = (t[l] & mask.lanes[l]) | (dst[l] & !mask.lanes[l]);
                    }
                    self.defined[(i.dst + s) as usize] |= mask.bits;
                }
            }
            Op::ClearVar => {
                for s in i.dst..i.dst + i.imm {
                    self.defined[s as usize] &= !mask.bits;
                }
            }
            Op::GatherVar => self.gather(i, regs, mask),
            Op::ScatterVar => self.scatter(i, regs, mask),
            Op::LoadBuffer => self.load_buffer(i, regs, mask),
            Op::StoreBuffer => self.store_buffer(i, regs, mask),
            Op::AtomicBuffer => {
                let words = self.resources.buffers[i.imm as usize];
                let mut bad = 0;
                let mut misaligned = 0;
                let mut t = [0; LANES];
                for l in each(mask.bits) {
                    let at = address(i, regs, l);
                    misaligned |= u64::from(at.is_some_and(|a| !a.is_multiple_of(4))) << l;
                    match at.and_then(|a| atomic(i, regs, l, words, (a / 4) as usize)) {
                        Some(old) => t[l] = old,
                        None => bad |= 1 << l,
                    }
                }
                put(regs, i, 0, mask, &t);
                self.note_some(Choice::BufferOutOfBounds, i, bad);
                self.note_some(Choice::Misaligned, i, misaligned);
            }
            Op::LoadShared => {
                let mut bad = 0;
                let mut unset = 0;
                for s in 0..u32::from(i.w) {
                    let mut t = [0; LANES];
                    for l in each(mask.bits) {
                        let at = address(i, regs, l).map(|a| a as usize + s as usize);
                        match at.and_then(|a| self.memory.get(a).map(|v| (*v, self.written[a]))) {
                            Some((v, written)) => {
                                t[l] = v;
                                unset |= u64::from(!written) << l;
                            }
                            None => bad |= 1 << l,
                        }
                    }
                    // The address may share its slot with the result's last word only.
                    put(regs, i, s, mask, &t);
                }
                self.note_some(Choice::IndexOutOfBounds, i, bad);
                self.note_some(Choice::Uninitialized, i, unset);
            }
            Op::StoreShared => {
                let mut bad = 0;
                for s in 0..u32::from(i.w) {
                    for l in each(mask.bits) {
                        let at = address(i, regs, l).map(|a| a as usize + s as usize);
                        match at.filter(|&a| a < self.memory.len()) {
                            Some(a) => {
                                self.memory[a] = regs[(i.b + s) as usize][l];
                                self.written[a] = true;
                            }
                            None => bad |= 1 << l,
                        }
                    }
                }
                self.note_some(Choice::IndexOutOfBounds, i, bad);
            }
            Op::AtomicShared => {
                let mut bad = 0;
                let mut unset = 0;
                let mut t = [0; LANES];
                for l in each(mask.bits) {
                    match address(i, regs, l).map(|a| a as usize).filter(|&a| a < self.memory.len()) {
                        Some(a) => {
                            let kind = atomic_kind(i);
                            let value = operand(regs, i.b, l);
                            t[l] = self.memory[a];
                            self.memory[a] = kind.apply(t[l], value, operand(regs, i.c, l));
                            unset |= u64::from(!self.written[a] && kind != Atomic::Store) << l;
                            self.written[a] |= kind != Atomic::Load;
                        }
                        None => bad |= 1 << l,
                    }
                }
                put(regs, i, 0, mask, &t);
                self.note_some(Choice::IndexOutOfBounds, i, bad);
                self.note_some(Choice::Uninitialized, i, unset);
            }
            Op::TexelAddress => {
                let view = &self.resources.images[i.imm as usize];
                let mut t = [POISON; LANES];
                let mut bad = 0;
                let (x, y) = (&regs[i.a as usize], &regs[i.b as usize]);
                let (z, level) = (&regs[i.c as usize], &regs[i.d as usize]);
                // Mostly all lanes have one level, which is then looked up once.
                if level.iter().all(|l| *l == level[0]) {
                    view.addresses(x, y, z, level[0], &mut t);
                } else {
                    for l in 0..LANES {
                        t[l] = view.address(x[l], y[l], z[l], level[l]);
                    }
                }
                if t.contains(&POISON) {
                    for (l, t) in t.iter().enumerate() {
                        bad |= u64::from(*t == POISON) << l;
                    }
                }
                put(regs, i, 0, mask, &t);
                self.note_some(Choice::ImageOutOfBounds, i, bad & mask.bits);
            }
            Op::LoadTexel => {
                let view = &self.resources.images[i.imm as usize];
                let mut t = [0; LANES];
                let address = &regs[i.a as usize];
                for l in 0..LANES {
                    // Lanes that do not execute hold anything as their address.
                    let at = (address[l] as usize).wrapping_mul(view.texel_words).wrapping_add(i.k.into());
                    t[l] = if address[l] == POISON { 0 } else { view.words.get(at).unwrap_or(0) };
                }
                put(regs, i, 0, mask, &t);
            }
            Op::StoreTexel => {
                let view = &self.resources.images[i.imm as usize];
                for l in each(mask.bits) {
                    let at = regs[i.a as usize][l];
                    if at != POISON {
                        let at = at as usize * view.texel_words + usize::from(i.k);
                        view.words.set(at, regs[i.b as usize][l], u32::MAX);
                    }
                }
            }
            Op::AtomicTexel => {
                let view = &self.resources.images[i.imm as usize];
                let mut t = [0; LANES];
                for l in each(mask.bits) {
                    let at = operand(regs, i.a, l);
                    if at != POISON {
                        let at = at as usize * view.texel_words;
                        t[l] = atomic(i, regs, l, view.words, at).unwrap_or(0);
                    }
                }
                put(regs, i, 0, mask, &t);
            }
            Op::ArrayLength => {
                let bytes = (self.resources.buffers[i.imm as usize].len() as u64).saturating_mul(4);
                let count = bytes.saturating_sub(i.c.into()).checked_div(i.d.into()).unwrap_or(0);
                put(regs, i, 0, mask, &[u32::try_from(count).unwrap_or(u32::MAX); LANES]);
            }
            Op::ImageQuery => {
                let view = &self.resources.images[i.imm as usize];
                let mut t = [0; LANES];
                let mut bad = 0;
                for l in each(mask.bits) {
                    match view.query(i.k, regs[i.a as usize][l]) {
                        Some(v) => t[l] = v,
                        None => bad |= 1 << l,
                    }
                }
                put(regs, i, 0, mask, &t);
                self.note_some(Choice::ImageOutOfBounds, i, bad);
            }
            Op::Fence => fence(Ordering::SeqCst),
            Op::Note => {
                if let Some(choice) = Choice::ALL.get(i.imm as usize) {
                    self.note(*choice, i.src, mask.bits);
                }
            }
            Op::Trace => {
                let Some(lane) = self.lane.filter(|l| mask.bits >> l & 1 != 0) else { return };
                if self.steps.len() >= self.trace_limit {
                    self.overflow = true;
                    return;
                }
                let record = &self.program.trace[i.imm as usize];
                self.steps.push(record.step(self.program, regs, lane as usize));
            }
            // All others are arithmetic.
            _ => {}
        }
    }
}

#[inline(always)]
fn operand(regs: &[Lanes], r: u32, l: usize) -> u32 {
    regs.get(r as usize).map_or(0, |lanes| lanes[l])
}

fn atomic_kind(i: &Inst) -> Atomic {
    Atomic::ALL.get(usize::from(i.k)).copied().unwrap_or(Atomic::Load)
}

fn atomic(i: &Inst, regs: &[Lanes], l: usize, words: Words<'_>, at: usize) -> Option<u32> {
    words.atomic(at, atomic_kind(i), operand(regs, i.b, l), operand(regs, i.c, l))
}

impl Context<'_> {
    fn note_some(&mut self, choice: Choice, i: &Inst, lanes: u64) {
        if lanes != 0 {
            self.note(choice, i.src, lanes);
        }
    }

    fn read_var(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        let mut unset = 0;
        let mut words = [[0; LANES]; 2];
        for (s, word) in words.iter_mut().enumerate().take(i.w.into()) {
            let slot = i.a as usize + s;
            *word = regs[slot];
            let missing = mask.bits & !self.defined[slot];
            for l in each(missing) {
                word[l] = 0;
            }
            unset |= missing;
        }
        for (s, word) in words.iter().enumerate().take(i.w.into()) {
            put(regs, i, s as u32, mask, word);
        }
        self.note_some(Choice::Uninitialized, i, unset);
    }

    /// Slot of a variable in a lane.
    fn slot(&self, i: &Inst, regs: &[Lanes], variable: u32, l: usize) -> Option<usize> {
        let dynamic = regs[i.a as usize][l];
        let at = u64::from(dynamic) + u64::from(i.imm);
        (dynamic != POISON && at + u64::from(i.w) <= u64::from(i.c)).then(|| variable as usize + at as usize)
    }

    fn gather(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        let (mut bad, mut unset) = (0, 0);
        let mut words = [[0; LANES]; 2];
        for l in each(mask.bits) {
            let Some(slot) = self.slot(i, regs, i.b, l) else {
                bad |= 1 << l;
                continue;
            };
            for (s, word) in words.iter_mut().enumerate().take(i.w.into()) {
                if self.defined[slot + s] >> l & 1 != 0 {
                    word[l] = regs[slot + s][l];
                } else {
                    unset |= 1 << l;
                }
            }
        }
        for (s, word) in words.iter().enumerate().take(i.w.into()) {
            put(regs, i, s as u32, mask, word);
        }
        self.note_some(Choice::IndexOutOfBounds, i, bad);
        self.note_some(Choice::Uninitialized, i, unset);
    }

    fn scatter(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        let mut bad = 0;
        for l in each(mask.bits) {
            let Some(slot) = self.slot(i, regs, i.dst, l) else {
                bad |= 1 << l;
                continue;
            };
            for s in 0..usize::from(i.w) {
                regs[slot + s][l] = regs[i.b as usize + s][l];
                self.defined[slot + s] |= 1 << l;
            }
        }
        self.note_some(Choice::IndexOutOfBounds, i, bad);
    }

    /// Reads a number of `k` bytes, low word first.
    #[inline(always)]
    fn read(words: Words<'_>, at: u64, k: u8) -> Option<[u32; 2]> {
        let n = (at / 4) as usize;
        match k {
            4 => Some([words.get(n)?, 0]),
            8 => {
                let n = n & !1;
                Some([words.get(n)?, words.get(n + 1)?])
            }
            2 => Some([words.get(n)? >> ((at & 2) * 8) & 0xffff, 0]),
            _ => Some([words.get(n)? >> ((at & 3) * 8) & 0xff, 0]),
        }
    }

    fn load_buffer(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        let words = self.resources.buffers[i.imm as usize];
        let (mut bad, mut misaligned) = (0, 0);
        let mut t = [[0; LANES]; 2];
        if i.a == NONE {
            // The same for all.
            let at = u64::from(i.d);
            match Self::read(words, at, i.k) {
                Some([low, high]) => t = [[low; LANES], [high; LANES]],
                None => bad = mask.bits,
            }
            if !at.is_multiple_of(i.k.into()) {
                misaligned = mask.bits;
            }
        } else if let (4, true, Words::Fixed(words)) = (i.k, i.d.is_multiple_of(4), words) {
            let dynamic = &regs[i.a as usize];
            let shift = (i.d / 4) as usize;
            for l in 0..LANES {
                let at = dynamic[l];
                let value = words.get((at / 4) as usize + shift).filter(|_| at != POISON);
                bad |= u64::from(value.is_none()) << l;
                misaligned |= u64::from(!at.is_multiple_of(4) && at != POISON) << l;
                t[0][l] = value.copied().unwrap_or(0);
            }
        } else {
            for l in each(mask.bits) {
                let at = address(i, regs, l);
                misaligned |= u64::from(at.is_some_and(|a| !a.is_multiple_of(i.k.into()))) << l;
                match at.and_then(|a| Self::read(words, a, i.k)) {
                    Some([low, high]) => {
                        t[0][l] = low;
                        t[1][l] = high;
                    }
                    None => bad |= 1 << l,
                }
            }
        }
        put(regs, i, 0, mask, &t[0]);
        if i.w == 2 {
            put(regs, i, 1, mask, &t[1]);
        }
        self.note_some(Choice::BufferOutOfBounds, i, bad & mask.bits);
        self.note_some(Choice::Misaligned, i, misaligned & mask.bits);
    }

    fn store_buffer(&mut self, i: &Inst, regs: &mut [Lanes], mask: &Mask) {
        let words = self.resources.buffers[i.imm as usize];
        let (mut bad, mut misaligned) = (0, 0);
        for l in each(mask.bits) {
            let Some(at) = address(i, regs, l) else {
                bad |= 1 << l;
                continue;
            };
            misaligned |= u64::from(!at.is_multiple_of(i.k.into())) << l;
            let n = (at / 4) as usize;
            let value = regs[i.b as usize][l];
            let stored = match i.k {
                4 => words.set(n, value, u32::MAX),
                8 => {
                    // Both words or none.
                    let n = n & !1;
                    n + 1 < words.len()
                        && words.set(n, value, u32::MAX)
                        && words.set(n + 1, regs[i.b as usize + 1][l], u32::MAX)
                }
                2 => {
                    let shift = (at & 2) as u32 * 8;
                    words.set(n, (value & 0xffff) << shift, 0xffff << shift)
                }
                _ => {
                    let shift = (at & 3) as u32 * 8;
                    words.set(n, (value & 0xff) << shift, 0xff << shift)
                }
            };
            bad |= u64::from(!stored) << l;
        }
        self.note_some(Choice::BufferOutOfBounds, i, bad);
        self.note_some(Choice::Misaligned, i, misaligned);
    }
}
