//! Comparison beside memcpy on the same data. Throughput counts the bytes read: both results for a comparison, the source
//! for a copy.
#![allow(missing_docs, reason = "criterion's macros write undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use replayer::compare::{Operands, Options, compare};

/// A result of 16 Mi samples is 256 MiB, far above any cache.
const GRID: [u32; 3] = [4096, 4096, 1];
const SAMPLES: usize = 4096 * 4096;

fn benchmarks(criterion: &mut Criterion) {
    let expected: Vec<u32> = (0..SAMPLES as u32 * 4).map(|i| i.wrapping_mul(2_654_435_761) & 0x3fff_ffff).collect();
    let bytes = size_of_val(expected.as_slice()) as u64;
    let mut group = criterion.benchmark_group("compare");
    group.sample_size(10);

    let mut got = expected.clone();
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("memcpy", |b| b.iter(|| black_box(&mut got).copy_from_slice(black_box(&expected))));

    group.throughput(Throughput::Bytes(2 * bytes));
    let mut run = |name: &str, got: &[u32], measured: Option<&[u8]>| {
        let operands = Operands { grid: GRID, got, expected: &expected, measured };
        let options = Options::default();
        group.bench_function(name, |b| {
            b.iter(|| compare(black_box(&operands), &options).expect("the lengths fit the grid").mismatched)
        });
    };
    run("equal", &got, None);
    got.iter_mut().step_by(4000).for_each(|word| *word ^= 1);
    run("one sample in a thousand differs", &got, None);
    got.copy_from_slice(&expected);
    got.iter_mut().skip(3).step_by(4).for_each(|word| *word ^= 1);
    run("three channels measured", &got, Some(&vec![0b0111; SAMPLES]));
    group.finish();
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
