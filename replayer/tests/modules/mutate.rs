//! Damaged modules, made from good ones.

use std::time::{Duration, Instant};

use replayer::execute::embedded::{Embedded, Limits};
use replayer::execute::{ExecuteError, Module};

use super::Case;

/// A generator of numbers that are the same for the same seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Where the instructions of a module are: first word and number of words.
fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut list = vec![];
    let mut at = 5;
    while at < words.len() {
        let count = (words[at] >> 16) as usize;
        if count == 0 || at + count > words.len() {
            break;
        }
        list.push((at, count));
        at += count;
    }
    list
}

/// Changes a module in one to four places.
pub fn mutate(words: &mut Vec<u32>, other: &[u32], random: &mut Random) {
    // One change mostly, so that much of what comes out still runs.
    for _ in 0..=random.below(8).saturating_sub(5) {
        let list = instructions(words);
        if list.is_empty() {
            return;
        }
        let (at, count) = list[random.below(list.len())];
        let word = at + random.below(count);
        let operand = at + count.min(2) - 1 + random.below(count - count.min(2) + 1);
        match random.below(20) {
            0 => words[word] ^= 1 << random.below(32),
            1 => words[word] = random.next() as u32,
            2 => {
                words.drain(at..at + count);
            }
            3 => {
                let copy = words[at..at + count].to_vec();
                let (to, _) = list[random.below(list.len())];
                words.splice(to..to, copy);
            }
            // Another instruction with the same operands.
            4..=6 => {
                let (to, _) = list[random.below(list.len())];
                let code = words[to] & 0xffff;
                words[at] = words[at] & 0xffff_0000 | code;
            }
            7 => {
                let list = instructions(other);
                let (from, n) = list[random.below(list.len())];
                words.splice(at..at, other[from..from + n].to_vec());
            }
            8 => words.truncate(word.max(1)),
            9 | 10 => {
                let from = random.below(words.len());
                words[operand] = words[from];
            }
            11 => words[operand] ^= 1 << random.below(32),
            // Two operands change places.
            12..=14 => {
                let second = at + 1 + random.below(count - 1 + usize::from(count == 1));
                words.swap(operand.min(at + count - 1), second.min(at + count - 1));
            }
            // Another id, or a small number.
            _ => words[operand] = random.below(words[3] as usize) as u32,
        }
        if words.len() < 5 {
            return;
        }
    }
}

/// Limits under which any module ends soon.
pub fn tight_limits() -> Limits {
    Limits {
        steps: 1 << 14,
        time: Duration::from_secs(2),
        invocations: 1 << 12,
        workgroup_invocations: 256,
        shared_words: 1 << 14,
        slots: 1 << 14,
        instructions: 1 << 14,
        memory_bytes: 64 << 20,
        trace_steps: 1 << 12,
    }
}

/// What became of damaged modules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub ran: u64,
    pub refused: u64,
    pub cut: u64,
    pub slowest: Duration,
}

/// Runs one damaged module.
pub fn run_one(cases: &[Case], seed: u64, executor: &mut Embedded, tally: &mut Tally) {
    let mut random = Random(seed);
    let mut case = cases[random.below(cases.len())].clone();
    let other = &cases[random.below(cases.len())];
    let mut words = case.module.words.to_vec();
    mutate(&mut words, &other.module.words, &mut random);
    case.module = Module::new(words);
    let start = Instant::now();
    let result = if random.below(8) == 0 {
        case.with_job(|job| executor.trace_invocation(job, [0; 3])).map(|_| ())
    } else {
        case.with_job(|job| replayer::execute::Executor::run(executor, job)).map(|_| ())
    };
    tally.slowest = tally.slowest.max(start.elapsed());
    match result {
        Ok(()) => tally.ran += 1,
        Err(ExecuteError::Timeout(_)) => tally.cut += 1,
        Err(_) => tally.refused += 1,
    }
}
