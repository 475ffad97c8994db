//! What recording costs: large contents beside plain `write(2)` of as many bytes, and the time on the calling thread of a
//! dispatch with small contents. `cargo bench -p capture-c` writes files of 1 GiB into the folder for temporary files.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't go on ends")]

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use capture_format::{
    BoundBuffer, BoundResource, BufferLayout, ComputeBinding, GuestShader, Oracle, OracleSource, TraceMeta,
};
use texeltrace::recorder::{DispatchInfo, Options, Recorder, Shader};

/// Large contents: so many of so many bytes.
const LARGE: (usize, usize) = (64, 16 << 20);
const SMALL_DISPATCHES: u32 = 20_000;
const ROUNDS: usize = 5;

fn recorder(path: &Path) -> Arc<Recorder> {
    let oracle = Oracle {
        device: String::new(),
        profile: "exact".to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    Recorder::open(Options {
        path: path.to_owned(),
        meta: TraceMeta { name: "bench".to_owned(), summary: String::new(), oracle },
        queue_bytes: Options::QUEUE_BYTES,
        copy_bytes: Options::COPY_BYTES,
        max_file_bytes: None,
        max_dispatches: None,
        shader_hashes: Vec::new(),
        wait_for_begin: false,
    })
    .unwrap()
}

fn shader(recorder: &Arc<Recorder>) -> Arc<Shader> {
    let guest = GuestShader { hash: Some(1), isa: vec![0xbf81_0000; 256].into() };
    Arc::new(recorder.shader(vec![0x0723_0203; 4096].into(), guest).unwrap())
}

fn buffer(binding: u32, bytes: usize, output: bool) -> ComputeBinding {
    let resource = BoundResource::Buffer(BoundBuffer {
        uniform: false,
        descriptor: None,
        words: bytes as u64 / 4,
        before: None,
        output,
        layout: BufferLayout::default(),
        after: None,
    });
    ComputeBinding { set: 0, binding, element: 0, resource }
}

/// Contents that are all different, so that none is stored once for several.
fn contents() -> Vec<Vec<u8>> {
    let (count, bytes) = LARGE;
    (0..count)
        .map(|number| {
            let mut content = vec![0x5a; bytes];
            content[..8].copy_from_slice(&(number as u64).to_le_bytes());
            content
        })
        .collect()
}

fn plain_write(path: &Path, contents: &[Vec<u8>]) -> Duration {
    let start = Instant::now();
    let mut file = File::create(path).unwrap();
    contents.iter().for_each(|content| file.write_all(content).unwrap());
    drop(file);
    start.elapsed()
}

fn record_large(path: &Path, contents: &[Vec<u8>]) -> Duration {
    let start = Instant::now();
    let recorder = recorder(path);
    let shader = shader(&recorder);
    for content in contents {
        let info = DispatchInfo { groups: [1, 1, 1], ..DispatchInfo::default() };
        let dispatch = recorder.dispatch(&shader, info).unwrap().unwrap();
        dispatch.bind(buffer(0, content.len(), false), Some(content)).unwrap();
        dispatch.begin().unwrap();
        dispatch.end().unwrap();
    }
    recorder.close().unwrap();
    start.elapsed()
}

/// Time on the calling thread a dispatch: its median and its 99th percentile.
fn record_small(path: &Path) -> (Duration, Duration) {
    let recorder = recorder(path);
    let shader = shader(&recorder);
    let mut times = Vec::new();
    let mut content = [0u8; 1024];
    for number in 0..SMALL_DISPATCHES {
        content[..4].copy_from_slice(&number.to_le_bytes());
        let start = Instant::now();
        let info = DispatchInfo { name: "small".to_owned(), groups: [1, 1, 1], ..DispatchInfo::default() };
        let dispatch = recorder.dispatch(&shader, info).unwrap().unwrap();
        dispatch.bind(buffer(0, 1024, false), Some(&content)).unwrap();
        dispatch.bind(buffer(1, 256, true), None).unwrap();
        dispatch.begin().unwrap();
        dispatch.output((0, 1, 0), &content[..256]).unwrap();
        dispatch.end().unwrap();
        drop(dispatch);
        times.push(start.elapsed());
    }
    recorder.close().unwrap();
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let (plain_path, path) = (dir.path().join("plain"), dir.path().join("bench.texeltrace"));
    let contents = contents();
    let bytes: usize = contents.iter().map(Vec::len).sum();
    let mut plain = Duration::MAX;
    let mut recorded = Duration::MAX;
    for _ in 0..ROUNDS {
        let remove = || [&plain_path, &path].map(std::fs::remove_file).into_iter().for_each(drop);
        plain = plain.min(plain_write(&plain_path, &contents));
        remove();
        recorded = recorded.min(record_large(&path, &contents));
        remove();
    }
    let speed = |time: Duration| bytes as f64 / time.as_secs_f64() / f64::from(1 << 30);
    println!("{} MiB by write(2)      {:6.2} GiB/s", bytes >> 20, speed(plain));
    println!(
        "{} MiB recorded         {:6.2} GiB/s, {:.0} % of that",
        bytes >> 20,
        speed(recorded),
        100.0 * speed(recorded) / speed(plain)
    );
    let (median, late) = record_small(&path);
    println!("dispatch with 1.25 KiB     {median:?} on the calling thread, 99 % under {late:?}");
}
