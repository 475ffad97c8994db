//! `capture`: what a Vulkan device's own sampler returns, as traces.

use std::{io::Write as _, path::PathBuf};

use capture_format::{CASE_FILE, WriteOptions, open, write_trace};
use clap::Args;

use super::{
    Context,
    exit::{Exit, Failure, OrExit as _},
    place::{check_apart, check_folder, check_free, check_new_file},
    progress::Progress,
    run::end_on_signal,
};
use crate::{
    batch::Stop,
    capture::{Captured, Plan, Provenance, Sample, Suite, capture, capture_to_folder, today, trace_file},
    execute::{
        ExecuteError,
        vulkan::{DeviceInfo, DeviceSelection, RawDevice, VulkanExecutor, VulkanOptions},
    },
    native,
    rules::Profile,
    text::counted,
};

/// Capture what a Vulkan device's own sampler returns, as traces with their provenance
///
/// Formats 36 and 20 are sampled as they are, format 43 with its fields moved into B10G11R11 and a view swizzle, which loses
/// nothing. What Vulkan can't express is left out and named. Each dispatch is run twice, and the runs must agree.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer capture --device 0 --suite all -o captured\n  replayer capture --suite weights --suite lods --seed 7 --samples 1024 -o captured\n  replayer capture --case traces/gfx1035/weight-rounding.toml -o weight-rounding.texeltrace"
)]
pub(super) struct CaptureArguments {
    /// The Vulkan device, by its number in `devices` or a part of its name
    #[arg(long, value_name = "N|NAME")]
    device: Option<String>,
    /// What to capture: all, or the name of a suite; may be given more than once
    #[arg(long, value_name = "all|NAME", required_unless_present = "case", conflicts_with = "case")]
    suite: Vec<String>,
    /// Capture the dispatches of this trace or case instead
    #[arg(long, value_name = "TRACE")]
    case: Option<PathBuf>,
    /// Write T# and S# into the device's descriptors as they are, so that formats and fields that Vulkan does not have reach
    /// the hardware. For AMD's RDNA2 with VK_EXT_descriptor_buffer; UNTESTED ON HARDWARE. Images of one level, 1D, 2D and 3D
    #[arg(long)]
    raw: bool,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = Plan::default().seed)]
    seed: u64,
    /// Samples of a random dispatch, and the most of a sweep
    #[arg(long, value_name = "N", default_value_t = Plan::default().samples, value_parser = samples)]
    samples: usize,
    /// The rules that the device follows: gfx1035, h200, exact or lavapipe [default: by the device]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The folder to write to, a file a suite; with --case the file
    #[arg(long, short, value_name = "DIR|FILE")]
    output: PathBuf,
    /// Replace traces that are there
    #[arg(long)]
    force: bool,
}

fn samples(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(samples @ 1..=1_048_576) => Ok(samples),
        _ => Err("expected a number from 1 to 1048576".to_owned()),
    }
}

/// The device that an option names; any without one.
pub(super) fn device_selection(text: Option<&str>) -> DeviceSelection {
    text.map_or(DeviceSelection::Auto, |text| match text.parse() {
        Ok(selection) => selection,
        Err(never) => match never {},
    })
}

pub(super) fn run(arguments: &CaptureArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let suites = suites(&arguments.suite)?;
    if let Some(name) = &arguments.profile
        && Profile::by_name(name).is_none()
    {
        let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
        return Err(Failure::usage(format!("--profile {name}: expected one of {}", known.join(", "))));
    }
    match &arguments.case {
        Some(case) => {
            check_new_file("--output", &arguments.output, arguments.force)?;
            check_apart("--output", &arguments.output, [case, &case.join(CASE_FILE)])?;
        }
        None => {
            check_folder("--output", &arguments.output)?;
            for suite in &suites {
                check_free("--output", &arguments.output.join(trace_file(*suite)), arguments.force)?;
            }
        }
    }
    let selection = device_selection(arguments.device.as_deref());
    let no_device = |error: ExecuteError| {
        Failure::usage(if arguments.device.is_some() { format!("--device: {error}") } else { error.to_string() })
    };
    if arguments.raw {
        let device = RawDevice::open(&selection, &VulkanOptions::default()).map_err(no_device)?;
        device.check_generation().or_usage()?;
        let info = device.info().clone();
        return capture_with(arguments, &suites, &info, &mut |dispatch| native::run_raw(&device, dispatch), context);
    }
    let mut device = VulkanExecutor::open(&selection, &VulkanOptions::default()).map_err(no_device)?;
    let info = device.device().clone();
    capture_with(arguments, &suites, &info, &mut |dispatch| native::run(&mut device, dispatch), context)
}

fn capture_with(
    arguments: &CaptureArguments,
    suites: &[Suite],
    info: &DeviceInfo,
    device: &mut Sample<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let mut provenance = Provenance::of(info, arguments.profile.as_deref(), &today());
    if arguments.raw {
        provenance.text.push_str("; T# and S# as raw words");
    }
    writeln!(context.out, "{}, profile {}", provenance.text, provenance.profile)?;
    let report = |out: &mut dyn std::io::Write, what: &str, captured: &Captured| {
        let dispatches = &captured.trace.dispatches;
        let samples: usize = dispatches.iter().map(|d| d.coords.rows()).sum();
        writeln!(
            out,
            "{what}: {}, {}, {} left out",
            counted(dispatches.len(), "dispatch"),
            counted(samples, "sample"),
            captured.left_out.len()
        )?;
        for left_out in &captured.left_out {
            writeln!(out, "  left out: {}: {}", left_out.dispatch, left_out.reason)?;
        }
        Ok::<(), std::io::Error>(())
    };
    if let Some(path) = &arguments.case {
        let source = open(path).or_input()?;
        let dispatches = (0..source.len()).map(|n| source.dispatch(n)).collect::<Result<Vec<_>, _>>().or_input()?;
        let summary = source.meta().summary.clone();
        let captured = capture(device, source.name(), &summary, dispatches, &provenance, "")?;
        report(&mut context.out, &arguments.output.display().to_string(), &captured)?;
        if captured.trace.dispatches.is_empty() {
            return Ok(Exit::NothingSelected);
        }
        write_trace(&arguments.output, &captured.trace, WriteOptions::compact())?;
        return Ok(Exit::Success);
    }
    let plan = Plan { seed: arguments.seed, samples: arguments.samples };
    // The suite that runs is still written.
    let stop = Stop::default();
    end_on_signal(&stop)?;
    let mut progress = Progress::new(suites.len());
    let mut printed = Ok(());
    let out = &mut context.out;
    capture_to_folder(device, suites, &plan, &provenance, &arguments.output, |suite, path, captured| {
        let what = path.map_or_else(|| format!("{suite} (not written)"), |path| path.display().to_string());
        if printed.is_ok() {
            printed = report(out, &what, captured);
        }
        progress.step(false);
        !stop.is_requested()
    })?;
    drop(progress);
    printed?;
    Ok(if stop.is_requested() { Exit::Interrupted } else { Exit::Success })
}

fn suites(names: &[String]) -> Result<Vec<Suite>, Failure> {
    let mut suites = Vec::new();
    for name in names {
        if name == "all" {
            suites.extend(Suite::ALL);
        } else {
            suites.push(name.parse().or_usage()?);
        }
    }
    suites.sort_unstable();
    suites.dedup();
    Ok(suites)
}
