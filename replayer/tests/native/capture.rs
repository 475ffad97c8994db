//! Captures.

use capture_format::{Column, Op, OracleSource, find_traces, open as open_trace};
use replayer::{
    capture::{
        CaptureError, Captured, LeftOut, Plan, Provenance, Suite, capture, capture_suite, capture_to_folder,
        usual_profile,
    },
    execute::{
        ExecuteError,
        vulkan::{NativeJob, NativeSampler},
    },
    path::{Path, evaluate},
    rules::Profile,
};

use crate::{assert_silent, open};

const PLAN: Plan = Plan { seed: 7, samples: 128 };

#[test]
fn every_suite_is_captured_and_read_back() {
    let mut executor = open();
    let info = executor.device().clone();
    let provenance = Provenance::of(&info, None, "2026-01-31");
    let folder = tempfile::tempdir().unwrap();
    let (mut left_out, mut written) = (Vec::new(), Vec::new());
    let mut each = |suite: Suite, path: Option<&std::path::Path>, captured: &Captured| {
        written.extend(path.map(std::path::Path::to_owned));
        left_out.extend(captured.left_out.iter().map(|l| format!("{suite} {}: {}", l.dispatch, l.reason)));
        true
    };
    capture_to_folder(
        &mut |d| replayer::native::run(&mut executor, d),
        Suite::ALL,
        &PLAN,
        &provenance,
        folder.path(),
        &mut each,
    )
    .unwrap();
    assert_silent(&mut executor);
    // Only what a device may lack is left out, by the name of the feature or limit.
    let may_lack = [
        "samplerMirrorClampToEdge",
        "customBorderColors",
        "MINMAX",
        "samplerFilterMinmax",
        "maxImageDimension",
        "imageCubeArray",
        "nisotropy",
        "maxSamplerLodBias",
    ];
    for line in &left_out {
        assert!(may_lack.iter().any(|name| line.contains(name)), "{line}");
    }
    let traces = find_traces(folder.path()).unwrap();
    written.sort_unstable();
    assert_eq!(traces, written);
    assert!(traces.len() >= Suite::ALL.len() - 1, "{left_out:#?}");
    for path in traces {
        let source = open_trace(&path).unwrap();
        let oracle = source.oracle();
        assert_eq!(oracle.source, OracleSource::Measured);
        assert_eq!((oracle.device.as_str(), oracle.profile.as_str()), (info.name.as_str(), usual_profile(&info)));
        for part in ["vendor 0x", "driver ", "subTexelPrecisionBits ", "captured 2026-01-31", "suite ", "seed 7"] {
            assert!(oracle.note.contains(part), "{part} in {}", oracle.note);
        }
        for index in 0..source.len() {
            let dispatch = source.dispatch(index).unwrap();
            let expected = dispatch.expected.unwrap();
            assert_eq!(expected.words.len(), dispatch.coords.rows() * 4, "{}: {}", path.display(), dispatch.name);
        }
    }
}

#[test]
fn a_plan_means_the_same_dispatches_every_time() {
    for &suite in Suite::ALL {
        let dispatches = suite.dispatches(&PLAN).unwrap();
        assert!(!dispatches.is_empty(), "{suite}");
        assert!(dispatches == suite.dispatches(&PLAN).unwrap(), "{suite}");
        let mut names: Vec<_> = dispatches.iter().map(|d| &d.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), dispatches.len(), "{suite}: names are unique");
        assert_eq!(suite.name().parse(), Ok(suite));
    }
    let other = Plan { seed: 8, ..PLAN };
    assert_ne!(Suite::Addressing.dispatches(&other).unwrap(), Suite::Addressing.dispatches(&PLAN).unwrap());
    let error = "wieghts".parse::<Suite>().unwrap_err().to_string();
    assert!(error.starts_with("unknown suite \"wieghts\", expected all or one of weights, point-edges, "), "{error}");
}

/// A point-sampled texel is no matter of opinion: captures of it equal the textbook wherever that is unambiguous.
#[test]
fn point_samples_inside_texels_equal_the_textbook() {
    let mut executor = open();
    let provenance = Provenance::of(&executor.device().clone(), None, "2026-01-31");
    let mut checked = 0;
    for suite in [Suite::Addressing, Suite::Sizes, Suite::Volumes, Suite::Formats] {
        let captured =
            capture_suite(&mut |d| replayer::native::run(&mut executor, d), suite, &PLAN, &provenance).unwrap();
        for dispatch in &captured.trace.dispatches {
            if dispatch.op != Op::SAMPLE_LZ || !dispatch.name.contains("point") && !dispatch.name.ends_with("codes") {
                continue;
            }
            let reference = evaluate(dispatch, Path::Reference, &Profile::EXACT, None, false).unwrap();
            let size = capture_format::ImageDescriptor::from_words(dispatch.image);
            let sizes = [size.width(), size.height(), size.depth()].map(|n| n as f32);
            let expected = &dispatch.expected.as_ref().unwrap().words;
            for (sample, row) in dispatch.coords.words.chunks_exact(dispatch.coords.columns.len()).enumerate() {
                // Not where a rounding of the coordinate could decide.
                let inside = row.iter().zip(&dispatch.coords.columns).all(|(&word, column)| {
                    let axis = [Column::U, Column::V, Column::W].iter().position(|c| c == column).unwrap();
                    let texel = f32::from_bits(word) * sizes[axis];
                    (texel - texel.round()).abs() > 0.01
                });
                if inside {
                    let at = sample * 4..sample * 4 + 4;
                    let nan = |words: &[u32]| {
                        words
                            .iter()
                            .map(|&w| if f32::from_bits(w).is_nan() { 0x7fc0_0000 } else { w })
                            .collect::<Vec<_>>()
                    };
                    let (got, wanted) = (nan(&expected[at.clone()]), nan(&reference[at]));
                    assert_eq!(got, wanted, "{suite} {} sample {sample}", dispatch.name);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 2000, "{checked}");
}

/// Returns another result every time.
struct Unsteady(u32);

impl NativeSampler for Unsteady {
    fn run_native(&mut self, job: &NativeJob<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        self.0 += 1;
        Ok(vec![vec![self.0; job.groups[0] as usize * 64 * 4].into_iter().take(128 * 4).collect()])
    }
}

/// Lacks everything.
struct Bare;

impl NativeSampler for Bare {
    fn run_native(&mut self, _: &NativeJob<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        Err(ExecuteError::Unsupported("samplers".to_owned()))
    }
}

#[test]
fn devices_that_disagree_with_themselves_or_can_do_nothing_are_errors() {
    let provenance = Provenance { device: "test".to_owned(), profile: "exact".to_owned(), text: "test".to_owned() };
    let dispatches: Vec<_> = Suite::Addressing.dispatches(&PLAN).unwrap().into_iter().take(1).collect();
    let mut unsteady = Unsteady(0);
    let error = capture(
        &mut |dispatch| replayer::native::run(&mut unsteady, dispatch),
        "t",
        "",
        dispatches.clone(),
        &provenance,
        "",
    )
    .unwrap_err();
    assert!(
        matches!(
            error,
            CaptureError::Unsteady { differing: 128, sample: 0, first: [1, 1, 1, 1], second: [2, 2, 2, 2], .. }
        ),
        "{error}"
    );
    let mut bare = |dispatch: &_| replayer::native::run(&mut Bare, dispatch);
    let captured = capture(&mut bare, "t", "", dispatches, &provenance, "").unwrap();
    assert!(captured.trace.dispatches.is_empty());
    assert_eq!(captured.left_out, [LeftOut { dispatch: "wrap-point".to_owned(), reason: "samplers".to_owned() }]);
    let error = capture(&mut bare, "t", "", Vec::new(), &provenance, "").unwrap_err();
    assert_eq!(error.to_string(), "t: no dispatches to capture");
}
