//! From a differing sample to the smallest case that shows the same cause.
//!
//! Every step changes the input, asks the path and the rules for their results, and is kept only when the cause is still the
//! one that was found. The image becomes as small as it can, coordinates short, texels 0 or 1, and descriptor fields zero.
//! As nobody measured the changed input, the expected result is then what the rules that explain the difference give, and the
//! case says so. A difference that nothing explains is only cut down to its one sample: its recorded result stays valid.

mod candidates;
mod check;

use capture_format::{
    Coords, Dispatch, Expected, Field, ImageDescriptor, LodSource, OpKind, Oracle, OracleSource, SamplerDescriptor,
    Trace,
};

use self::{
    candidates::{Fill, PLAIN_FILLS, more_fills, quads_with_shape, shapes, short_operands, with_shape},
    check::Check,
};
use crate::{
    explain::{Cause, ExplainError, Explanation, Subject, model::one},
    path::Failure,
    state::{Extent, View},
};

/// Computes a dispatch by the path under test.
pub type PathRun<'a> = dyn FnMut(&Dispatch) -> Result<Vec<u32>, Failure> + 'a;

/// A reduced case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// One dispatch, ready to be written as a case.
    pub trace: Trace,
    /// The cause that it shows.
    pub cause: Cause,
    /// The sample of the original dispatch that it comes from.
    pub sample: usize,
    /// Changed inputs that were tried.
    pub tried: usize,
    /// Those that were kept.
    pub kept: usize,
}

/// Why there is no reduced case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReduceError {
    /// The explanation has no such group.
    #[error("dispatch {dispatch} has no cause number {group}, it has {groups}")]
    NoGroup {
        /// The dispatch.
        dispatch: String,
        /// The number asked for.
        group: usize,
        /// How many there are.
        groups: usize,
    },
    /// None of the samples that were tried shows the cause when it is run alone.
    #[error("dispatch {dispatch}: none of {tried} samples shows the cause {cause} when it is run alone")]
    NotAlone {
        /// The dispatch.
        dispatch: String,
        /// The cause.
        cause: String,
        /// Samples tried.
        tried: usize,
    },
    /// The path failed on the way.
    #[error(transparent)]
    Path(#[from] Failure),
    /// The results do not belong to the dispatch.
    #[error(transparent)]
    Explain(#[from] ExplainError),
}

/// Samples of a group that are tried, one after the other, as the one to start from.
const FIRST_SAMPLES: usize = 32;

/// Reduces the cause number `group` of an explanation. `oracle` and `trace` say where the dispatch comes from.
///
/// # Errors
/// When no sample shows the cause alone, or the path fails.
pub fn reduce(
    subject: &Subject<'_>,
    explanation: &Explanation,
    group: usize,
    trace: &str,
    oracle: &Oracle,
    path: &mut PathRun<'_>,
) -> Result<Reduced, ReduceError> {
    let dispatch = subject.dispatch;
    let Some(found) = explanation.groups.get(group) else {
        let groups = explanation.groups.len();
        return Err(ReduceError::NoGroup { dispatch: dispatch.name.clone(), group, groups });
    };
    let cause = found.rule.clone();
    let mut samples: Vec<usize> = explanation.samples_of(group).collect();
    let stride = samples.len().div_ceil(FIRST_SAMPLES).max(1);
    samples = samples.into_iter().step_by(stride).collect();
    if cause == Cause::Unexplained {
        return Ok(cut_only(subject, cause, found.first, trace, oracle));
    }
    let mut check = Check::new(subject, cause.clone(), path);
    let mut tried = 0;
    // A sample that nothing else explains is better, but the smaller image may settle it.
    let starts = [true, false].into_iter().flat_map(|unambiguous| samples.iter().map(move |&s| (unambiguous, s)));
    for (unambiguous, sample) in starts {
        for alone in alone(subject, sample) {
            check.unambiguous = unambiguous;
            tried += 1;
            check.hold_to_profile(subject, sample);
            if !check.accepts(&alone)? {
                continue;
            }
            let mut smallest = alone;
            check.unambiguous = true;
            if !shrink(&mut smallest, &mut check)? && !unambiguous {
                check.unambiguous = false;
                shrink(&mut smallest, &mut check)?;
            }
            simplify(&mut smallest, &mut check)?;
            let expected = check.expected(&smallest);
            smallest.expected = expected.map(|words| Expected { words: words.into(), measured: None });
            let place = place(dispatch, sample);
            let note = format!(
                "reduced from {trace}, dispatch {}, sample {place}{}; the expected result is not measured but computed by the \
                 rules that explain the difference there",
                dispatch.name,
                descriptors(dispatch, sample)
            );
            let (tried, kept) = (check.tried, check.kept);
            let trace =
                finished(smallest, &cause, trace, Oracle { source: OracleSource::Synthetic, note, ..oracle.clone() });
            return Ok(Reduced { trace, cause, sample, tried, kept });
        }
    }
    Err(ReduceError::NotAlone { dispatch: dispatch.name.clone(), cause: cause.name(), tried })
}

fn place(dispatch: &Dispatch, sample: usize) -> String {
    let [width, height, _] = dispatch.grid.map(|n| n.max(1) as usize);
    format!("{},{},{}", sample % width, sample / width % height, sample / width / height)
}

fn finished(mut dispatch: Dispatch, cause: &Cause, trace: &str, oracle: Oracle) -> Trace {
    let slug = match cause.changes() {
        [] => cause.name(),
        changes => changes.iter().map(|c| c.rule.name()).collect::<Vec<_>>().join("-"),
    };
    dispatch.name = "reduced".to_owned();
    Trace { name: format!("{trace}-{slug}"), summary: cause.label(None), oracle, dispatches: vec![dispatch] }
}

/// The entries of tables that a sample uses, for a note; empty without tables.
fn descriptors(dispatch: &Dispatch, sample: usize) -> String {
    let Some(entries) = dispatch.entries_of(sample).filter(|_| dispatch.is_table()) else { return String::new() };
    let image = (dispatch.image_count() > 1).then(|| format!("T#[{}]", entries.image));
    let sampler = (dispatch.sampler_count() > 1).then(|| format!("S#[{}]", entries.sampler));
    format!(" with {}", image.into_iter().chain(sampler).collect::<Vec<_>>().join(" and "))
}

/// The one sample as it was recorded.
fn cut_only(subject: &Subject<'_>, cause: Cause, sample: usize, trace: &str, oracle: &Oracle) -> Reduced {
    let mut dispatch = rows(subject.dispatch, [1, 1, 1], &[sample]);
    let words = subject.expected.sample(sample).unwrap_or_default();
    let measured = subject.expected.measured.is_some().then(|| vec![subject.expected.measured_channels(sample)]);
    dispatch.expected = Some(Expected { words: words.to_vec().into(), measured });
    let name = &subject.dispatch.name;
    let descriptors = descriptors(subject.dispatch, sample);
    let cut =
        format!("sample {} of {trace}, dispatch {name}{descriptors}, as recorded", place(subject.dispatch, sample));
    let note = if oracle.note.is_empty() { cut } else { format!("{}; {cut}", oracle.note) };
    let trace = finished(dispatch, &cause, trace, Oracle { note, ..oracle.clone() });
    Reduced { trace, cause, sample, tried: 0, kept: 0 }
}

/// The sample alone; for an instruction that takes its LOD from neighbours, its quad.
fn alone(subject: &Subject<'_>, sample: usize) -> Vec<Dispatch> {
    let dispatch = subject.dispatch;
    let mut ways = vec![rows(dispatch, [1, 1, 1], &[sample])];
    let [width, height, _] = dispatch.grid.map(|n| n as usize);
    if dispatch.op.kind != OpKind::Load
        && matches!(dispatch.op.lod, LodSource::Implicit | LodSource::Bias)
        && width >= 2
        && height >= 2
    {
        let (x, y) = (sample % width & !1, (sample / width % height) & !1);
        let corner = sample - sample % width - (sample / width % height - y) * width + x;
        if x + 1 < width && y + 1 < height {
            ways.push(rows(dispatch, [2, 2, 1], &[corner, corner + 1, corner + width, corner + width + 1]));
        }
    }
    ways
}

/// A dispatch of some of the samples, without an oracle. Of tables of descriptors only the pair is left that the first sample
/// uses: they are one sample, or a quad.
fn rows(dispatch: &Dispatch, grid: [u32; 3], samples: &[usize]) -> Dispatch {
    let numbers: Vec<u32> = samples.iter().map(|&sample| sample as u32).collect();
    let entries = samples.first().and_then(|&sample| dispatch.entries_of(sample)).unwrap_or_default();
    // All are samples of the dispatch, whose results were compared.
    dispatch.with_entries(entries, grid, &numbers).unwrap_or_else(|| dispatch.clone())
}

/// Looks for the smallest image: of every shape from one texel up, with simple texels first and then with those of the
/// original, and with many coordinates at once. Whether one was found.
fn shrink(dispatch: &mut Dispatch, check: &mut Check<'_, '_>) -> Result<bool, ReduceError> {
    let Some((view, extent)) = check.geometry(dispatch) else { return Ok(false) };
    Ok(shrink_with(&PLAIN_FILLS, view, &extent, dispatch, check)?
        || shrink_with(&more_fills(), view, &extent, dispatch, check)?)
}

fn shrink_with(
    fills: &[Fill],
    view: View,
    extent: &Extent,
    dispatch: &mut Dispatch,
    check: &mut Check<'_, '_>,
) -> Result<bool, ReduceError> {
    let base_level = u32::from(ImageDescriptor::from_words(dispatch.image).base_level());
    let now = extent.texels();
    for shape in shapes(view, extent.levels).into_iter().filter(|shape| shape.texels(view) < now) {
        for &fill in fills {
            if dispatch.sample_count() != 1 {
                for smaller in quads_with_shape(dispatch, view, extent, base_level, shape, fill) {
                    if check.accepts(&smaller)? {
                        *dispatch = smaller;
                        return Ok(true);
                    }
                }
                continue;
            }
            let Some(batch) = with_shape(dispatch, view, extent, base_level, shape, fill) else { continue };
            for row in check.promising(&batch) {
                let smaller = rows(&batch, [1, 1, 1], &[row]);
                if check.accepts(&smaller)? {
                    *dispatch = smaller;
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Fields of T# that say what the image is; the others are tried as zero.
fn is_structural(field: &Field) -> bool {
    let kept = [
        &ImageDescriptor::FORMAT,
        &ImageDescriptor::WIDTH_LO,
        &ImageDescriptor::WIDTH_HI,
        &ImageDescriptor::HEIGHT,
        &ImageDescriptor::RESOURCE_LEVEL,
        &ImageDescriptor::TYPE,
        &ImageDescriptor::DEPTH,
        &ImageDescriptor::MAX_MIP,
    ];
    kept.iter().any(|f| f.name == field.name) || field.name.starts_with("DST_SEL_")
}

/// DST_SEL as X, Y, Z, 1.
const PLAIN_SELECT: u32 = 0x3ac;

/// Zeroes fields, makes texels 0 or 1 and operands short, as long as anything gets simpler.
fn simplify(dispatch: &mut Dispatch, check: &mut Check<'_, '_>) -> Result<(), ReduceError> {
    const ROUNDS: usize = 3;
    let one = one(dispatch.image);
    for _ in 0..ROUNDS {
        let mut simpler = false;
        let mut attempt = |candidate: Dispatch, dispatch: &mut Dispatch| -> Result<bool, ReduceError> {
            let better = candidate != *dispatch && check.accepts(&candidate)?;
            if better {
                *dispatch = candidate;
                simpler = true;
            }
            Ok(better)
        };
        for field in ImageDescriptor::FIELDS.iter().filter(|f| !is_structural(f)) {
            let mut candidate = dispatch.clone();
            candidate.image[usize::from(field.word)] &= !field.mask();
            attempt(candidate, dispatch)?;
        }
        let mut candidate = dispatch.clone();
        candidate.image[3] = candidate.image[3] & !0xfff | PLAIN_SELECT;
        attempt(candidate, dispatch)?;
        for field in SamplerDescriptor::FIELDS {
            let mut candidate = dispatch.clone();
            if let Some(words) = &mut candidate.sampler {
                words[usize::from(field.word)] &= !field.mask();
                attempt(candidate, dispatch)?;
            }
        }
        attempt(Dispatch { border_table: Vec::new(), ..dispatch.clone() }, dispatch)?;
        for at in 0..dispatch.texels.len().min(MAX_TEXELS) {
            for word in [0, one] {
                let mut texels = dispatch.texels.to_vec();
                if texels[at] == word {
                    break;
                }
                texels[at] = word;
                if attempt(Dispatch { texels: texels.into(), ..dispatch.clone() }, dispatch)? {
                    break;
                }
            }
        }
        for at in 0..dispatch.coords.words.len() {
            let column = dispatch.coords.columns[at % dispatch.coords.columns.len()];
            for word in short_operands(column, dispatch.coords.words[at]) {
                let mut words = dispatch.coords.words.to_vec();
                words[at] = word;
                let coords = Coords { columns: dispatch.coords.columns.clone(), words: words.into() };
                if attempt(Dispatch { coords, ..dispatch.clone() }, dispatch)? {
                    break;
                }
            }
        }
        if !simpler {
            break;
        }
    }
    Ok(())
}

/// Texels that are simplified one by one; an image with more could not be made smaller.
const MAX_TEXELS: usize = 256;
