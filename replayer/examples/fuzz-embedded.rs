//! Runs damaged modules on the embedded executor: `cargo run --release --example fuzz-embedded -- --count 1000000`.
//!
//! A panic ends it with the seed of the module; at the end it says how many ran, how many were refused or cut off, the longest
//! time of one, and by how much the process grew.

#[path = "../tests/modules/mod.rs"]
mod modules;

use std::cell::Cell;
use std::time::Instant;

use anyhow::ensure;
use clap::Parser;
use modules::mutate::{Tally, run_one, tight_limits};
use replayer::execute::embedded::Embedded;

#[derive(Parser)]
struct Arguments {
    /// Modules to run.
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// Seed of the first; the next ones follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// Resident bytes of this process, where the system says.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * 4096)
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        eprintln!("seed {}", SEED.get());
        report(info);
    }));
    let cases = modules::all();
    let mut executor = Embedded::with_limits(tight_limits());
    let mut tally = Tally::default();
    let start = Instant::now();
    let mut before = None;
    for n in 0..arguments.count {
        // The first modules fill the caches.
        if n == arguments.count.min(10_000) / 2 {
            before = resident_bytes();
        }
        let seed = arguments.seed.wrapping_add(n);
        SEED.set(seed);
        run_one(&cases, seed, &mut executor, &mut tally);
        drop(executor.take_report());
        if (n + 1) % 100_000 == 0 {
            eprintln!("{} after {:?}: {tally:?}", n + 1, start.elapsed());
        }
    }
    let grown = before.zip(resident_bytes()).map(|(a, b)| b.saturating_sub(a));
    println!("{} modules in {:?}: {tally:?}, grown by {grown:?} bytes", arguments.count, start.elapsed());
    ensure!(tally.slowest.as_secs() < 10, "a module took {:?}", tally.slowest);
    if let Some(grown) = grown {
        ensure!(grown < 256 << 20, "the process grew by {grown} bytes");
    }
    ensure!(tally.ran > 0 || arguments.count == 0, "no module ran");
    Ok(())
}
