//! A backend for tests of the batch: what a dispatch does is in its name.

use std::time::Duration;

use capture_format::{Column, Coords, Dispatch, Expected, Op, Oracle, OracleSource, Trace};
use replayer::{
    batch::{Backend, Settings},
    execute::{ExecuteError, Executor, ExecutorInfo, Job},
    path::{Failure, Path},
    refusal::Refusal,
    rules::Profile,
};

/// Does what the first word of a dispatch's name says:
///
/// | name | |
/// |---|---|
/// | `match …` | returns the expected results |
/// | `mismatch N …` | as `match`, one bit off in the first N samples |
/// | `refuse …` | is refused for the field `T#.TYPE` |
/// | `segv …`, `abort …` | the process ends by SIGSEGV or SIGABRT |
/// | `panic …` | the path panics |
/// | `hang FILE` | creates FILE and does not return |
/// | `memory …` | allocates until there is no more |
/// | `lost …` | the device is lost |
/// | `slow MS …` | as `match`, after so many milliseconds |
/// | `flaky FILE` | mismatches when FILE is missing, and creates it; else matches |
#[derive(Clone, Copy, Debug, Default)]
pub struct Mock;

struct MockExecutor(ExecutorInfo);

impl Executor for MockExecutor {
    fn info(&self) -> &ExecutorInfo {
        &self.0
    }

    fn run(&mut self, _: &Job<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        Err(ExecuteError::Unsupported("the mock computes no jobs".to_owned()))
    }
}

impl Backend for Mock {
    fn open(&self, settings: &Settings) -> Result<Box<dyn Executor>, ExecuteError> {
        if settings.device.as_deref() == Some("none") {
            return Err(ExecuteError::Unavailable("there is no such device".to_owned()));
        }
        let info = ExecutorInfo {
            kind: "vulkan",
            device: "mock device, revision 2".to_owned(),
            driver: "mock 1.0".to_owned(),
        };
        Ok(Box::new(MockExecutor(info)))
    }

    fn evaluate(
        &self,
        dispatch: &Dispatch,
        _: Path,
        _: &Profile,
        _: Option<&mut dyn Executor>,
        _: bool,
    ) -> Result<Vec<u32>, Failure> {
        let mut words = dispatch.expected.as_ref().map(|e| e.words.to_vec()).unwrap_or_default();
        let (what, rest) = dispatch.name.split_once(' ').unwrap_or((&dispatch.name, ""));
        let number = rest.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(1);
        match what {
            "match" => {}
            "mismatch" => words.iter_mut().step_by(4).zip(0..number).for_each(|(word, _)| *word ^= 1),
            "refuse" => {
                return Err(Failure::Refused(Refusal {
                    field: "T#.TYPE".to_owned(),
                    bits: Some("word3[31:28]".to_owned()),
                    value: "14".to_owned(),
                    reason: "not modelled".to_owned(),
                }));
            }
            "segv" => signal(&format!("driver: {rest}")),
            "abort" => {
                eprintln!("assertion failed in driver: {rest}");
                std::process::abort();
            }
            "panic" => panic!("mock panic"),
            "hang" => {
                eprintln!("waiting for a fence");
                let _ = std::fs::File::create(rest);
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            "memory" => {
                let mut kept = Vec::new();
                loop {
                    // Not touched: it is the address space that is limited.
                    kept.push(vec![0u8; 64 << 20]);
                    std::hint::black_box(&kept);
                }
            }
            "lost" => return Err(ExecuteError::DeviceLost("vkQueueSubmit".to_owned()).into()),
            "slow" => std::thread::sleep(Duration::from_millis(number)),
            "flaky" => {
                if std::fs::File::create_new(rest).is_ok() {
                    words[0] ^= 1;
                }
            }
            other => return Err(ExecuteError::InvalidJob(format!("the mock does not know {other:?}")).into()),
        }
        Ok(words)
    }
}

#[cfg(unix)]
fn signal(last_words: &str) {
    eprintln!("{last_words}");
    // The first one meets the handler that Rust installs for stack overflows, which takes itself away.
    loop {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::SEGV);
    }
}

#[cfg(not(unix))]
fn signal(last_words: &str) {
    eprintln!("{last_words}");
    std::process::abort();
}

/// A trace with a dispatch of 4×2 samples for each name.
#[must_use]
pub fn trace(name: &str, dispatches: &[&str]) -> Trace {
    let dispatch = |name: &&str| {
        let image = [0, 0x82b0_0000, 0x8000_0000, 0x9000_03ac, 0, 0, 0, 0];
        Dispatch {
            name: (*name).to_owned(),
            op: Op::LOAD,
            grid: [4, 2, 1],
            image,
            sampler: None,
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: vec![0x780f_01e0].into(),
            coords: Coords { columns: vec![Column::X, Column::Y], words: vec![0; 16].into() },
            expected: Some(Expected { words: vec![0x3f80_0000; 32].into(), measured: None }),
        }
    };
    Trace {
        name: name.to_owned(),
        summary: String::new(),
        oracle: Oracle {
            device: "mock".to_owned(),
            profile: "exact".to_owned(),
            source: OracleSource::Synthetic,
            note: String::new(),
        },
        dispatches: dispatches.iter().map(dispatch).collect(),
    }
}
