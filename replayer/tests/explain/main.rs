//! Explanations, reductions and coverage of whole traces. Tests of the emulated path need a Vulkan device (lavapipe) and fail
//! without one.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

mod detail;
mod fuzz;
mod h200;
mod review;
mod tables;
mod variants;

use std::path::{Path, PathBuf};

use capture_format::{Dispatch, Trace, read_trace};
use replayer::{
    execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    explain::{PathModel, Subject},
    path::{self, evaluate},
    rules::Profile,
};

fn executor() -> VulkanExecutor {
    VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default())
        .expect("this test runs on a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)")
}

fn traces(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(folder)
}

fn read(file: &str) -> Trace {
    read_trace(&traces(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn oracle(trace: &Trace) -> Profile {
    Profile::by_name(&trace.oracle.profile).unwrap()
}

/// Results of a path, with what is needed to explain them.
struct Run<'a> {
    dispatch: &'a Dispatch,
    got: Vec<u32>,
    path: PathModel,
    oracle: Profile,
}

impl<'a> Run<'a> {
    /// The reference under `profile`.
    fn reference(dispatch: &'a Dispatch, profile: &Profile, oracle: &Profile) -> Self {
        let got = evaluate(dispatch, path::Path::Reference, profile, None, false).unwrap();
        Self { dispatch, got, path: PathModel::Rules(profile.rules), oracle: oracle.clone() }
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            dispatch: self.dispatch,
            got: &self.got,
            expected: self.dispatch.expected.as_ref().unwrap(),
            path: self.path,
            oracle: Some(self.oracle.rules),
        }
    }
}
