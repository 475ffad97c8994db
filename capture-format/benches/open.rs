//! Opening a trace and listing its dispatches: 1 MiB against 1 GiB, with as many dispatches, and what reading one costs.
//!
//! The traces are made once, in the target folder. The last line gives the ratio, which has to stay below 2: opening reads
//! the index, never the blobs.

use std::{
    hint::black_box,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use capture_format::{
    Column, Coords, Dispatch, Expected, Op, Oracle, OracleSource, TraceMeta, TraceReader, TraceWriter, WriteOptions,
};
use criterion::Criterion;

const DISPATCHES: usize = 64;

fn main() {
    let small = trace_of(1 << 20);
    let large = trace_of(1 << 30);
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("open and list, 1 MiB", |b| b.iter(|| open_and_list(black_box(&small))));
    criterion.bench_function("open and list, 1 GiB", |b| b.iter(|| open_and_list(black_box(&large))));
    let reader = TraceReader::open(&large).expect("the trace that was just made");
    criterion.bench_function("read and check a dispatch of 16 MiB in the page cache", |b| {
        b.iter(|| reader.dispatch(black_box(7)).expect("a sound dispatch"))
    });
    criterion.final_summary();

    let (small, large) = (median(&small), median(&large));
    let ratio = large.as_secs_f64() / small.as_secs_f64();
    println!("open and list: 1 MiB in {small:?}, 1 GiB in {large:?}, ratio {ratio:.2} (at most 2 is required)");
}

fn open_and_list(path: &Path) -> usize {
    let reader = TraceReader::open(path).expect("the trace that was just made");
    assert!(reader.recovery().is_none());
    let bytes: usize = reader.names().map(str::len).sum();
    assert_eq!(reader.len(), DISPATCHES);
    bytes
}

fn median(path: &Path) -> Duration {
    let mut times: Vec<Duration> = (0..301)
        .map(|_| {
            let start = Instant::now();
            black_box(open_and_list(path));
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// A trace whose texels take `bytes` altogether.
fn trace_of(bytes: usize) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("open-{bytes}.texeltrace"));
    if TraceReader::open(&path).is_ok_and(|reader| reader.recovery().is_none() && reader.len() == DISPATCHES) {
        return path;
    }
    let meta = TraceMeta {
        name: "open".to_owned(),
        summary: String::new(),
        oracle: Oracle {
            device: "none".to_owned(),
            profile: "exact".to_owned(),
            source: OracleSource::Synthetic,
            note: String::new(),
        },
    };
    let mut writer = TraceWriter::create(&path, &meta, WriteOptions::default()).expect("room in the target folder");
    for index in 0..DISPATCHES {
        // All words differ, so that no blob equals another.
        let first = (index as u32) << 24;
        let dispatch = Dispatch {
            name: format!("dispatch-{index:02}"),
            op: Op::LOAD,
            grid: [1, 1, 1],
            image: [0; 8],
            sampler: None,
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: (first..).take(bytes / DISPATCHES / 4).collect::<Vec<u32>>().into(),
            coords: Coords { columns: vec![Column::X], words: vec![first].into() },
            expected: Some(Expected { words: vec![first, 0, 0, 0].into(), measured: None }),
        };
        writer.add_dispatch(&dispatch).expect("room in the target folder");
    }
    writer.finish().expect("room in the target folder");
    path
}
