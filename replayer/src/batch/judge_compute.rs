//! The verdict on a compute dispatch: every declared output is compared with what the recording holds of it.

use std::time::Instant;

use capture_format::ComputeDispatch;

use super::{Against, Backend, Judged, Pictures, Settings, judge::fail};
use crate::{
    compare::{Comparison, Operands, Options, compare},
    execute::{ExecuteError, Executor},
    path::{Failure, Path},
    recorded::{Samples, samples, without_oracle},
    refusal::Refusal,
    report::picture,
    results::{OutputResult, Status},
};

pub(super) fn verdict(
    backend: &dyn Backend,
    dispatch: &ComputeDispatch,
    settings: &Settings,
    executor: &mut Option<&mut dyn Executor>,
    judged: &mut Judged,
) {
    let result = &mut judged.result;
    dispatch.entry.clone_into(&mut result.op);
    let path = if settings.recorded { Path::Recorded } else { settings.path };
    path.name().clone_into(&mut result.path);
    let refuse = |field: &str, value: &str, reason: &str| {
        let (field, value, reason) = (field.to_owned(), value.to_owned(), reason.to_owned());
        Failure::Refused(Refusal { field, bits: None, value, reason })
    };
    if path != Path::Recorded {
        let reason = "a compute dispatch is run by its own SPIR-V, expected the path recorded";
        return fail(judged, refuse("path", path.name(), reason), None);
    }
    if settings.against != Against::Oracle {
        let reason = "a compute dispatch is held against its recorded outputs, expected oracle";
        return fail(judged, refuse("against", settings.against.name(), reason), None);
    }
    if let Some(reason) = without_oracle(dispatch) {
        result.reason = Some(reason);
        return;
    }
    let mut outputs = Vec::new();
    for (number, binding) in dispatch.outputs() {
        match samples(binding) {
            Ok(samples) => outputs.push((number, samples)),
            Err(refusal) => return fail(judged, refusal.into(), None),
        }
    }
    let start = Instant::now();
    let got = match executor {
        Some(executor) => backend.run_recorded(dispatch, *executor),
        None => Err(ExecuteError::Unavailable("the recorded path needs an executor".to_owned()).into()),
    };
    result.evaluate_seconds = start.elapsed().as_secs_f64();
    let got = match got {
        Ok(got) => got,
        Err(failure) => return fail(judged, failure, None),
    };
    let mut digest = xxhash_rust::xxh3::Xxh3::new();
    got.iter().for_each(|output| digest.update(bytemuck::cast_slice(&output.words)));
    result.digest = format!("{:016x}", digest.digest());
    result.status = Status::Match;
    result.reason = None;
    let mut shown = false;
    for (number, samples) in &outputs {
        let words = got.iter().find(|output| output.binding == *number).map(|output| output.words.as_slice());
        let after = dispatch.bindings[*number].contents().1;
        let (Some(words), Some(after)) = (words, after) else {
            let error = ExecuteError::Driver(format!("{}: the executor returned no contents", samples.name));
            return fail(judged, error.into(), None);
        };
        if let Err(text) = compare_output(samples, words, after, settings, judged, &mut shown) {
            return fail(judged, ExecuteError::Driver(text).into(), None);
        }
    }
}

fn compare_output(
    samples: &Samples,
    got: &[u32],
    expected: &[u32],
    settings: &Settings,
    judged: &mut Judged,
    shown: &mut bool,
) -> Result<(), String> {
    let (got, expected, measured) = (samples.unpack(got), samples.unpack(expected), samples.measured());
    let operands = Operands { grid: samples.grid, got: &got, expected: &expected, measured: measured.as_deref() };
    let options = Options { number: samples.number, nan_payload: settings.nan_payload, ..Options::default() };
    let comparison = compare(&operands, &options).map_err(|error| format!("{}: {error}", samples.name))?;
    let result = &mut judged.result;
    let first_one = result.outputs.is_empty();
    let differs = !comparison.is_match();
    result.samples = result.samples.saturating_add(comparison.samples);
    result.mismatched += comparison.mismatched;
    result.max_ulp = result.max_ulp.max(comparison.max_ulp);
    result.nan += comparison.nan;
    result.sign_of_zero += comparison.sign_of_zero;
    for (sum, n) in result.channels.iter_mut().zip(comparison.channels) {
        *sum += n;
    }
    let first_to_differ = differs && result.status == Status::Match;
    if first_one || first_to_differ {
        result.grid = samples.grid;
        result.first.clone_from(&comparison.first);
        result.worst.clone_from(&comparison.worst);
    }
    if differs {
        result.status = Status::Mismatch;
    }
    let wanted = match settings.pictures {
        Pictures::None => false,
        Pictures::Mismatches => first_to_differ,
        Pictures::All => first_to_differ || first_one,
    };
    if wanted && (!*shown || first_to_differ) {
        judged.pictures = picture::draw(&operands, &comparison);
        *shown = true;
    }
    judged.result.outputs.push(output_result(samples, comparison));
    Ok(())
}

fn output_result(samples: &Samples, comparison: Comparison) -> OutputResult {
    OutputResult {
        name: samples.name.clone(),
        grid: samples.grid,
        number: samples.number,
        samples: comparison.samples,
        mismatched: comparison.mismatched,
        max_ulp: comparison.max_ulp,
        channels: comparison.channels,
        first: comparison.first,
    }
}
