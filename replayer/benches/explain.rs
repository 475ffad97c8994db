//! Explaining a dispatch of 2^20 samples of which three in four differ.

use std::{hint::black_box, time::Duration};

use capture_format::{Column, Coords, Dispatch, Expected, Op};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use replayer::{
    explain::{Limits, PathModel, Subject, explain},
    path::{Path, evaluate},
    rules::Profile,
};

/// A bilinear sweep at 1/1024 texel: FP32 weights differ from those of 1/256 in 768 of 1,024 samples.
fn sweep() -> Dispatch {
    let coords = (0u32..1 << 20).flat_map(|sample| {
        let texels = 4.5 + (sample % 16_384) as f32 / 1024.0;
        [(texels / 32.0).to_bits(), 0.5f32.to_bits()]
    });
    Dispatch {
        name: "sweep".to_owned(),
        op: Op::SAMPLE_LZ,
        grid: [1024, 1024, 1],
        image: [0, 0xc2b0_0000, 0x8000_c007, 0x9000_03ac, 0, 0, 0, 0],
        sampler: Some([0x92, 0x00ff_f000, 0x0050_0000, 0]),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: (0..128u32).map(|at| if at % 2 == 0 { 0x780f_01e0 } else { 0 }).collect::<Vec<_>>().into(),
        coords: Coords { columns: vec![Column::U, Column::V], words: coords.collect::<Vec<u32>>().into() },
        expected: None,
    }
}

fn bench(criterion: &mut Criterion) {
    let dispatch = sweep();
    let run = |profile: &Profile| evaluate(&dispatch, Path::Reference, profile, None, false);
    let (Ok(got), Ok(words)) = (run(&Profile::AS_SUBMITTED), run(&Profile::GFX1035)) else {
        return eprintln!("the sweep is refused");
    };
    let expected = Expected { words: words.into(), measured: None };
    let path = PathModel::Rules(Profile::AS_SUBMITTED.rules);
    let known =
        Subject { dispatch: &dispatch, got: &got, expected: &expected, path, oracle: Some(Profile::GFX1035.rules) };
    let mut group = criterion.benchmark_group("explain");
    group.throughput(Throughput::Elements(1 << 20)).sample_size(10).measurement_time(Duration::from_secs(10));
    for (name, subject) in [
        ("rules known on both sides", known),
        ("rules of the oracle unknown", Subject { oracle: None, ..known }),
        ("rules of the path unknown", Subject { path: PathModel::Unknown, ..known }),
    ] {
        group.bench_function(name, |b| b.iter(|| explain(black_box(&subject), &Limits::default())));
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
