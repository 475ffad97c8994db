//! `explain`, `reduce` and `coverage`: why samples differ, and what traces can tell.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use capture_format::{
    BoundResource, CaseOptions, Column, ComputeDispatch, Coords, Dispatch, DispatchKind, Expected, Op, Recorded,
    Source, open, write_case,
};
use clap::Args;

use super::{
    Context,
    emit::{find_dispatch, find_index},
    exit::{Exit, Failure, OrExit as _},
    place::{check_folder, check_free},
    settings::ComputeArguments,
};
use crate::{
    batch::{Against, Pictures, Selection, Settings, plan},
    coverage::{self, Coverage},
    execute::{ExecuteError, Executor},
    explain::{Explanation, Limits, PathModel, Subject, detail, explain_all, render_sample, render_text},
    path, recorded,
    reduce::{ReduceError, reduce},
    rules::{Profile, Rules},
    source::SourceCache,
    table::Parts,
    text::counted,
};

/// Say why samples differ: which rule, which descriptor bits, how many samples
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  replayer explain a.texeltrace --path as-submitted\n  replayer explain a.texeltrace --dispatch ties --sample 1,0,0"
)]
pub(super) struct ExplainArguments {
    /// The trace or case
    trace: PathBuf,
    /// Only this dispatch, by number (from 0) or name
    #[arg(long, value_name = "N|NAME")]
    dispatch: Option<String>,
    /// Show this sample of the dispatch in full: coordinates, taps, weights, both results. Needs --dispatch where the trace has
    /// more than one
    ///
    /// Of a compute dispatch: the invocation of that number, with the texels that its shader accesses
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_position)]
    sample: Option<[u32; 3]>,
    /// Of a compute dispatch: show beside them the taps that the rules ask for at these coordinates, of image_sample_lz on the
    /// first image with a T# and an S#
    #[arg(long, value_name = "U,V", requires = "sample", value_parser = parse_coordinates)]
    at: Option<Coordinates>,
    /// Print JSON
    #[arg(long, conflicts_with = "sample")]
    json: bool,
    #[command(flatten)]
    compute: ComputeArguments,
}

/// Reduce a differing dispatch to one sample in the smallest image with the same cause
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  replayer reduce a.texeltrace --path as-submitted --dispatch 3 -o cases/small")]
pub(super) struct ReduceArguments {
    /// The trace or case
    trace: PathBuf,
    /// The dispatch, by number (from 0) or name; without it, the first that differs
    #[arg(long, value_name = "N|NAME")]
    dispatch: Option<String>,
    /// Which of its causes, by the number in `explain` (from 0)
    #[arg(long, value_name = "N", default_value_t = 0)]
    cause: usize,
    /// The folder to write the case into
    #[arg(long, short, value_name = "CASE")]
    output: PathBuf,
    /// Replace a case that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    compute: ComputeArguments,
}

/// Say which rules the traces can tell apart, and which descriptor values occur in them
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  replayer coverage traces --profile gfx1035")]
pub(super) struct CoverageArguments {
    /// Traces (.texeltrace), cases (.toml), folders that are searched, or globs
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// The rules of this hardware: gfx1035, h200, exact or lavapipe; without it, those that each trace's oracle follows
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn parse_position(text: &str) -> Result<[u32; 3], String> {
    let mut position = [0; 3];
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > position.len() {
        return Err(format!("{} numbers: expected X, X,Y or X,Y,Z, the place in the grid", parts.len()));
    }
    for (part, number) in parts.iter().zip(&mut position) {
        *number = part.parse().map_err(|_| {
            format!("{part:?}: expected a whole number from 0 to {} in X,Y,Z, the place in the grid", u32::MAX)
        })?;
    }
    Ok(position)
}

/// Coordinates of a sample: u, v and w as far as they are given.
#[derive(Clone, Debug)]
pub(super) struct Coordinates(Vec<f32>);

fn parse_coordinates(text: &str) -> Result<Coordinates, String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let numbers = numbers.ok().filter(|numbers| (1..=3).contains(&numbers.len()));
    numbers.map(Coordinates).ok_or_else(|| "expected one to three numbers: U, U,V or U,V,W".to_owned())
}

/// The profile of that name, or an error that lists the known ones.
pub(super) fn known_profile(name: &str) -> Result<Profile, Failure> {
    let known: Vec<_> = Profile::ALL.iter().map(|p| p.name).collect();
    Profile::by_name(name)
        .ok_or_else(|| Failure::usage(format!("profile {name:?}: expected one of {} (--profile)", known.join(", "))))
}

/// Number of the sample at a place of a dispatch's grid.
pub(super) fn sample_number(dispatch: &Dispatch, [x, y, z]: [u32; 3]) -> Result<usize, Failure> {
    let [width, height, depth] = dispatch.grid;
    if x >= width || y >= height || z >= depth {
        return Err(Failure::usage(format!(
            "--sample {x},{y},{z}: expected a place in the grid {width}x{height}x{depth} of {}",
            dispatch.name
        )));
    }
    Ok(x as usize + width as usize * (y as usize + height as usize * z as usize))
}

/// Why a dispatch can't be compared.
#[derive(Debug, thiserror::Error)]
enum Incomparable {
    #[error("no oracle")]
    NoOracle,
    #[error(transparent)]
    Path(#[from] path::Failure),
    #[error("{0}: {1}")]
    Other(path::Path, path::Failure),
}

impl Incomparable {
    fn exit(&self) -> Exit {
        match self {
            Self::NoOracle => Exit::Input,
            Self::Path(_) | Self::Other(..) => Exit::Regression,
        }
    }
}

/// A dispatch with both sides' results.
struct Compared {
    dispatch: Dispatch,
    got: Vec<u32>,
    expected: Expected,
    path: PathModel,
    oracle: Option<Rules>,
    /// The profile that the path was asked to follow.
    profile: Profile,
}

impl Compared {
    fn subject(&self) -> Subject<'_> {
        let Self { dispatch, got, expected, path, oracle, .. } = self;
        Subject { dispatch, got, expected, path: *path, oracle: *oracle }
    }
}

/// What computes dispatches of one trace.
struct Computer<'a, 'b> {
    context: &'a Context<'b>,
    settings: Settings,
    oracle_profile: String,
    executor: Option<Box<dyn Executor>>,
}

impl<'a, 'b> Computer<'a, 'b> {
    fn new(arguments: &ComputeArguments, source: &Source, context: &'a Context<'b>) -> Result<Self, Failure> {
        let settings = arguments.settings(Pictures::None)?;
        let executor = if settings.needs_executor() { Some(context.backend.open(&settings)?) } else { None };
        Ok(Self { context, settings, oracle_profile: source.oracle().profile.clone(), executor })
    }

    fn run(&mut self, dispatch: &Dispatch, path: path::Path, profile: &Profile) -> Result<Vec<u32>, path::Failure> {
        let executor: Option<&mut dyn Executor> = match &mut self.executor {
            Some(executor) => Some(&mut **executor),
            None => None,
        };
        self.context.backend.evaluate(dispatch, path, profile, executor, self.settings.strict)
    }

    /// Both sides' results; an error says why there are none.
    fn compare(&mut self, dispatch: Dispatch) -> Result<Result<Compared, Incomparable>, Failure> {
        let profile = known_profile(self.settings.profile.as_deref().unwrap_or(&self.oracle_profile))?;
        let path = self.settings.path;
        let got = match self.run(&dispatch, path, &profile) {
            Ok(got) => got,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let (expected, oracle) = match self.settings.against {
            Against::Path(other) => match self.run(&dispatch, other, &profile) {
                Ok(words) => (Expected { words: words.into(), measured: None }, Some(other.profile(&profile).rules)),
                Err(failure) => return Ok(Err(Incomparable::Other(other, failure))),
            },
            Against::Oracle => match dispatch.expected.clone() {
                Some(expected) => (expected, Profile::by_name(&self.oracle_profile).map(|p| p.rules)),
                None => return Ok(Err(Incomparable::NoOracle)),
            },
        };
        let path = PathModel::Rules(path.profile(&profile).rules);
        Ok(Ok(Compared { dispatch, got, expected, path, oracle, profile }))
    }
}

fn dispatches(source: &Source, one: Option<&str>) -> Result<Vec<Dispatch>, Failure> {
    match one {
        Some(text) => Ok(vec![find_dispatch(source, text)?]),
        None => (0..source.len())
            .filter(|&index| source.kind(index) != Some(DispatchKind::Compute))
            .map(|index| source.dispatch(index))
            .collect::<Result<_, _>>()
            .or_input(),
    }
}

/// Shows what an invocation of a compute dispatch accesses.
fn explain_compute(
    arguments: &ExplainArguments,
    source: &Source,
    dispatch: &ComputeDispatch,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let name = &dispatch.name;
    let Some(invocation) = arguments.sample else {
        return Err(Failure::usage(format!(
            "{name} is a compute dispatch: expected --sample X,Y,Z, an invocation; `run` compares its outputs"
        )));
    };
    let [x, y, z] = invocation;
    let taps = match recorded::taps(dispatch, invocation) {
        Ok(taps) => taps,
        Err(path::Failure::Execute(ExecuteError::InvalidJob(text))) => {
            return Err(Failure::usage(format!("--sample {x},{y},{z}: {text}")));
        }
        Err(failure @ path::Failure::Refused(_)) => {
            writeln!(context.out, "{name}: {failure}")?;
            return Ok(Exit::Regression);
        }
        Err(failure) => return Err(anyhow::Error::new(failure).context(name.clone()).into()),
    };
    let mut out = context.out.buffered();
    writeln!(out, "{name}: invocation ({x},{y},{z}), {} accesses to images", taps.len())?;
    for tap in &taps {
        let place: Vec<String> = tap.coordinates.iter().map(ToString::to_string).collect();
        let verb = if tap.write { "writes" } else { "reads" };
        let binding = &dispatch.bindings[tap.binding];
        write!(out, "  {verb:6} {binding}  level {}  ({})", tap.level, place.join(","))?;
        write!(out, "  {:#010x} ", tap.word)?;
        if let Some((channels, there)) = tap.channels {
            for channel in (0..4).filter(|channel| there >> channel & 1 == 1) {
                write!(out, "  {} {}", ['X', 'Y', 'Z', 'W'][channel], f32::from_bits(channels[channel]))?;
            }
        }
        if !tap.inside {
            write!(out, "  outside the image")?;
        }
        writeln!(out)?;
    }
    if let Some(coordinates) = &arguments.at {
        let profile = arguments.compute.profile_name().unwrap_or(&source.oracle().profile);
        let profile = known_profile(profile)?;
        writeln!(out, "\nby the rules of {}:", profile.name)?;
        out.write_all(rules_beside(dispatch, coordinates, &profile)?.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The taps of `image_sample_lz` on the first image that has a T# and an S#.
fn rules_beside(
    dispatch: &ComputeDispatch,
    Coordinates(coordinates): &Coordinates,
    profile: &Profile,
) -> Result<String, Failure> {
    let images = dispatch.bindings.iter().filter_map(|binding| match &binding.resource {
        BoundResource::Image(image) => Some((image.descriptor?, image.sampler?, image.before.clone()?)),
        BoundResource::Buffer(_) | BoundResource::Sampler(_) => None,
    });
    let Some((image, sampler, texels)) = images.into_iter().next() else {
        return Err(Failure::usage(format!("--at: no image of {} has a T#, an S# and texels", dispatch.name)));
    };
    let columns = [Column::U, Column::V, Column::W][..coordinates.len()].to_vec();
    let words: Vec<u32> = coordinates.iter().map(|coordinate| coordinate.to_bits()).collect();
    let sample = Dispatch {
        name: dispatch.name.clone(),
        op: Op::SAMPLE_LZ,
        grid: [1, 1, 1],
        image,
        sampler: Some(sampler),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels,
        coords: Coords { columns, words: words.into() },
        expected: None,
    };
    let got = match path::evaluate(&sample, path::Path::Reference, profile, None, false) {
        Ok(got) => got,
        Err(failure) => return Ok(format!("{failure}\n")),
    };
    let expected = Expected { words: got.clone().into(), measured: None };
    let (model, oracle) = (PathModel::Rules(profile.rules), Some(profile.rules));
    let subject = Subject { dispatch: &sample, got: &got, expected: &expected, path: model, oracle };
    let mut detail = detail(&subject, None, 0)?;
    // The same rules again.
    detail.oracle = None;
    Ok(render_sample(&detail))
}

pub(super) fn explain(arguments: &ExplainArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let source = open(&arguments.trace).or_input()?;
    let one = match (&arguments.dispatch, arguments.sample, source.len()) {
        (Some(one), ..) => Some(one.as_str()),
        (None, Some(_), 1) => Some("0"),
        (None, Some(_), count) => {
            let trace = arguments.trace.display();
            return Err(Failure::usage(format!(
                "--sample: {trace} has {}, expected --dispatch N|NAME",
                counted(count, "dispatch")
            )));
        }
        (None, None, _) => None,
    };
    if let Some(one) = one
        && let Recorded::Compute(dispatch) = source.recorded(find_index(&source, one)?).or_input()?
    {
        return explain_compute(arguments, &source, &dispatch, context);
    }
    if arguments.at.is_some() {
        return Err(Failure::usage("--at: expected a compute dispatch"));
    }
    let mut text = String::new();
    let mut compared = Vec::new();
    let mut computer = Computer::new(&arguments.compute, &source, context)?;
    let mut exits = Vec::new();
    for dispatch in dispatches(&source, one)? {
        let name = dispatch.name.clone();
        match computer.compare(dispatch)? {
            Ok(both) => compared.push(both),
            Err(reason) => {
                exits.push(reason.exit());
                text += &format!("{name}: {reason}\n");
            }
        }
    }
    drop(computer);
    let subjects: Vec<Subject<'_>> = compared.iter().map(Compared::subject).collect();
    let explanations = explain_all(&subjects, &Limits::default())?;
    if arguments.json {
        let named = |(both, explanation): (&Compared, &Explanation)| serde_json::json!({ "dispatch": both.dispatch.name, "explanation": explanation });
        let all: Vec<_> = compared.iter().zip(&explanations).map(named).collect();
        text = serde_json::to_string_pretty(&serde_json::json!({ "schema": 1, "dispatches": all }))? + "\n";
    } else {
        for (both, explanation) in compared.iter().zip(&explanations) {
            let (parts, rules) = (Parts::new(&both.dispatch).ok(), both.oracle.unwrap_or(both.profile.rules));
            let state_of = |sample| parts.as_ref()?.state_of(&rules, sample).ok();
            text += &render_text(&both.dispatch.name, explanation, &state_of);
        }
    }
    if let (Some([x, y, z]), [subject], [explanation]) = (arguments.sample, &subjects[..], &explanations[..]) {
        let sample = sample_number(subject.dispatch, [x, y, z])?;
        let detail = detail(subject, explanation.group_of(sample), sample)?;
        text += "\n";
        text += &render_sample(&detail);
    }
    context.out.write_all(text.as_bytes())?;
    if compared.is_empty() && exits.is_empty() {
        let trace = arguments.trace.display();
        return Err(Failure::nothing(format!(
            "{trace}: no dispatch samples an image; `run` compares compute dispatches"
        )));
    }
    if explanations.iter().any(|e| e.mismatched > 0) {
        exits.push(Exit::Regression);
    }
    // A verdict that could not be reached comes before one that is bad.
    let gravest = [Exit::Input, Exit::Regression].into_iter().find(|exit| exits.contains(exit));
    Ok(gravest.unwrap_or(Exit::Success))
}

/// Refuses to start what would not be written in the end.
pub(super) fn no_case_there(folder: &Path, force: bool) -> Result<(), Failure> {
    check_folder("--output", folder)?;
    let file = folder.join("case.toml");
    check_free("--output", &file, force)
}

pub(super) fn reduce_case(arguments: &ReduceArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    no_case_there(&arguments.output, arguments.force)?;
    let source = open(&arguments.trace).or_input()?;
    let mut computer = Computer::new(&arguments.compute, &source, context)?;
    for dispatch in dispatches(&source, arguments.dispatch.as_deref())? {
        let name = dispatch.name.clone();
        let both = match computer.compare(dispatch)? {
            Ok(both) => both,
            Err(reason) if arguments.dispatch.is_some() => return Err(Failure::usage(format!("{name}: {reason}"))),
            Err(_) => continue,
        };
        let subject = both.subject();
        let explanation = crate::explain::explain(&subject, &Limits::default())?;
        if explanation.mismatched == 0 {
            continue;
        }
        let path = computer.settings.path;
        let mut run = |dispatch: &Dispatch| computer.run(dispatch, path, &both.profile);
        let reduced = reduce(&subject, &explanation, arguments.cause, source.name(), source.oracle(), &mut run);
        let reduced = match reduced {
            Err(error @ ReduceError::NoGroup { .. }) => return Err(Failure::usage(format!("--cause: {error}"))),
            other => other?,
        };
        let options = CaseOptions { overwrite: arguments.force, ..CaseOptions::default() };
        let written = write_case(&reduced.trace, &arguments.output, &options)
            .with_context(|| arguments.output.display().to_string())?;
        let texels = reduced.trace.dispatches.first().map_or(0, |d| d.texels.len());
        writeln!(
            context.out,
            "{}: {name}, sample {}: {} in {texels} texels ({} inputs tried, {} kept)",
            written.display(),
            reduced.sample,
            reduced.cause,
            reduced.tried,
            reduced.kept
        )?;
        return Ok(Exit::Success);
    }
    let which =
        arguments.dispatch.as_deref().map_or("no dispatch differs".to_owned(), |d| format!("{d} does not differ"));
    Err(Failure::nothing(format!("{}: {which}, there is nothing to reduce", arguments.trace.display())))
}

pub(super) fn coverage(arguments: &CoverageArguments, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let profile = arguments.profile.as_deref().map(known_profile).transpose()?;
    let plan = plan(&Selection { paths: arguments.paths.clone(), ..Selection::default() }).or_usage()?;
    for error in &plan.errors {
        let _ = writeln!(std::io::stderr(), "{}: {}", error.file, error.message);
    }
    if plan.items.is_empty() {
        let paths: Vec<_> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        let failure = Failure::nothing(format!("{}: no dispatches there", paths.join(", ")));
        return if plan.errors.is_empty() { Err(failure) } else { Ok(Exit::Input) };
    }
    let mut cache = SourceCache::default();
    let mut coverage = Coverage::default();
    for item in &plan.items {
        let dispatch = cache.dispatch(&item.file, item.index).or_input()?;
        let own = match &profile {
            Some(profile) => profile.clone(),
            None => known_profile(&item.profile)?,
        };
        coverage.add(&dispatch, &own);
    }
    let report = coverage.report();
    let mut out = context.out.buffered();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        out.write_all(coverage::render_text(&report).as_bytes())?;
    }
    out.flush()?;
    Ok(if plan.errors.is_empty() { Exit::Success } else { Exit::Input })
}
