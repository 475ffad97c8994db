//! Tables of descriptors: the samples of a dispatch by the pair of T# and S# that they use.
//!
//! A [`Parts`] of a dispatch with one T# and one S# is that dispatch. With tables, the samples of each pair in use become a
//! dispatch of their own; entries that no sample uses are not looked at. Where an instruction takes its level of detail from
//! 2x2 quads, quads stay together: what hardware does when the lanes of a quad choose different descriptors is not known, and
//! refused.

use std::{borrow::Cow, collections::HashMap};

use capture_format::{Column, Dispatch, Entries, Field, ImageDescriptor, LodSource, OpKind, TexelFormat};
use rayon::prelude::*;

use crate::{
    explain::DescriptorField,
    materialise::{materialise, whole_quads},
    reference::Sampler,
    refusal::Refusal,
    rules::Rules,
    state::State,
};

/// The samples of a dispatch that use one T# with one S#.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The entries of the tables; 0 where there is no table.
    pub entries: Entries,
    /// The samples as a dispatch without tables.
    dispatch: Cow<'a, Dispatch>,
    /// The number that each sample has in the whole dispatch; `None`: the part is the whole.
    samples: Option<Vec<u32>>,
}

impl Part<'_> {
    /// The samples as a dispatch with one T# and one S#. It has an oracle only where it is the whole dispatch.
    #[must_use]
    pub fn dispatch(&self) -> &Dispatch {
        &self.dispatch
    }

    /// The number that a sample of the part has in the whole dispatch.
    #[must_use]
    pub fn number(&self, sample: usize) -> usize {
        self.samples.as_ref().map_or(sample, |numbers| numbers.get(sample).map_or(usize::MAX, |&n| n as usize))
    }

    /// The first of its samples in the whole dispatch.
    fn first(&self) -> usize {
        self.samples.as_ref().and_then(|numbers| numbers.iter().min()).map_or(0, |&number| number as usize)
    }
}

/// A dispatch by the descriptors that its samples use.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    whole: &'a Dispatch,
    /// By entry of the T#, then of the S#.
    parts: Vec<Part<'a>>,
    /// Part and place in it of each sample; empty where the only part is the whole.
    places: Vec<[u32; 2]>,
}

impl<'a> Parts<'a> {
    /// Splits a dispatch.
    ///
    /// # Errors
    /// A quad of an instruction that takes its level of detail from quads whose samples use different entries, an entry that
    /// is not there, and more than 2^32 - 1 samples.
    pub fn new(dispatch: &'a Dispatch) -> Result<Self, Refusal> {
        if !dispatch.is_table() {
            let part = Part { entries: Entries::default(), dispatch: Cow::Borrowed(dispatch), samples: None };
            return Ok(Self { whole: dispatch, parts: vec![part], places: Vec::new() });
        }
        let count = u32::try_from(dispatch.coords.rows()).map_err(|_| {
            let samples = format!("{} samples", dispatch.coords.rows());
            part("grid", samples, "a dispatch has at most 2^32 - 1 samples")
        })?;
        if u64::from(count) != dispatch.sample_count() || count == 0 {
            let [x, y, z] = dispatch.grid;
            let reason = format!("coords has {count} rows; one a sample is expected, and one at least");
            return Err(part("grid", format!("{x}x{y}x{z}"), &reason));
        }
        let chosen: Vec<Entries> =
            (0..count as usize).map(|sample| entries(dispatch, sample)).collect::<Result<_, _>>()?;
        let quads = takes_quads(dispatch);
        if quads {
            whole_quads(dispatch)?;
        }
        let mut by_entries: HashMap<Entries, Vec<u32>> = HashMap::new();
        for sample in order(dispatch.grid, count, quads) {
            by_entries.entry(chosen[sample as usize]).or_default().push(sample);
        }
        let mut groups: Vec<(Entries, Vec<u32>)> = by_entries.into_iter().collect();
        groups.sort_unstable_by_key(|(entries, _)| *entries);
        let mut places = vec![[0; 2]; count as usize];
        let mut parts = Vec::with_capacity(groups.len());
        for (number, (entries, samples)) in groups.into_iter().enumerate() {
            for (place, &sample) in samples.iter().enumerate() {
                places[sample as usize] = [number as u32, place as u32];
            }
            if quads && let Some(quad) = samples.chunks(4).find(|quad| !is_quad(dispatch.grid, quad)) {
                return Err(divergent(dispatch, quad[0]));
            }
            let length = samples.len() as u32;
            let grid = if quads { [2, length / 2, 1] } else { [length, 1, 1] };
            let alone = dispatch.with_entries(entries, grid, &samples);
            let alone = alone.ok_or_else(|| missing(dispatch, samples[0] as usize, entries))?;
            parts.push(Part { entries, dispatch: Cow::Owned(alone), samples: Some(samples) });
        }
        Ok(Self { whole: dispatch, parts, places })
    }

    /// The dispatch that was split.
    #[must_use]
    pub fn whole(&self) -> &'a Dispatch {
        self.whole
    }

    /// The parts, by entries.
    #[must_use]
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// Number of the part that a sample is in, and the sample's number there; `None` when there is no such sample.
    #[must_use]
    pub fn place(&self, sample: usize) -> Option<(usize, usize)> {
        if self.places.is_empty() {
            return (sample < self.whole.coords.rows()).then_some((0, sample));
        }
        self.places.get(sample).map(|&[part, place]| (part as usize, place as usize))
    }

    /// The state of each part under some rules.
    ///
    /// # Errors
    /// What [`materialise`] refuses of a descriptor that some sample uses, with the entry's number; T#s of different view
    /// types, of which an instruction has one; integer formats beside others, since the results of a dispatch are read as
    /// one or the other.
    pub fn states(&self, rules: &Rules) -> Result<Vec<State>, Refusal> {
        let mut states: Vec<State> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let state = materialise(part.dispatch(), rules).map_err(|refusal| self.named(refusal, part))?;
            if let Some(first) = states.first() {
                self.alike(part, &state, first)?;
            }
            states.push(state);
        }
        Ok(states)
    }

    /// The state of the part that a sample is in.
    ///
    /// # Errors
    /// As [`Self::states`], for this part alone, and a sample that is not there.
    pub fn state_of(&self, rules: &Rules, sample: usize) -> Result<State, Refusal> {
        let there = self.place(sample).and_then(|(number, _)| self.parts.get(number));
        let found = there.ok_or_else(|| no_sample(self.whole, sample))?;
        materialise(found.dispatch(), rules).map_err(|refusal| self.named(refusal, found))
    }

    fn alike(&self, part: &Part<'_>, state: &State, first: &State) -> Result<(), Refusal> {
        let image = part.dispatch.image;
        let other = self.parts[0].entries.image;
        let refuse = |field: &Field, reason: String| {
            Err(Refusal {
                field: format!("T#[{}].{}", part.entries.image, field.name),
                bits: Some(field.bits_text()),
                value: field.describe(field.extract(&image)),
                reason,
            })
        };
        if state.view != first.view {
            let reason = format!("an instruction has one type of view, and T#[{other}] is {}", first.view.name());
            return refuse(&ImageDescriptor::TYPE, reason);
        }
        if state.format.kind().is_integer() != first.format.kind().is_integer() {
            let reason = format!(
                "the results of a dispatch are read as integers or as numbers, and T#[{other}] has {}",
                first.format
            );
            return refuse(&ImageDescriptor::FORMAT, reason);
        }
        Ok(())
    }

    /// A refusal of a part with the entries that it is about.
    pub(crate) fn named(&self, mut refusal: Refusal, part: &Part<'_>) -> Refusal {
        if !self.whole.is_table() {
            return refusal;
        }
        let Entries { image, sampler } = part.entries;
        let (images, samplers) = (!self.whole.more_images.is_empty(), !self.whole.more_samplers.is_empty());
        let named = |rest: &str, name: &str, entry: u32| Some(format!("{name}[{entry}]{rest}"));
        let field = match (refusal.field.get(..2), refusal.field.as_str()) {
            (Some("T#"), field) if images => named(&field[2..], "T#", image),
            (Some("S#"), field) if samplers => named(&field[2..], "S#", sampler),
            (_, "texels") if images => Some(format!("images[{image}].texels")),
            _ => None,
        };
        if let Some(field) = field {
            refusal.field = field;
            let first = part.first();
            refusal.reason += &match (images, samplers) {
                (true, true) => format!("; sample {first} uses T#[{image}] with S#[{sampler}]"),
                (true, false) => format!("; sample {first} uses T#[{image}]"),
                _ => format!("; sample {first} uses S#[{sampler}]"),
            };
        }
        refusal
    }

    /// The reference for states of these parts.
    ///
    /// # Errors
    /// When texels do not fill their image, or the columns are not the instruction's operands.
    pub fn reference<'s>(&'s self, rules: &Rules, states: &'s [State]) -> Result<PartSamplers<'s>, Refusal> {
        let sampler = |(part, state): (&'s Part<'a>, &'s State)| {
            let dispatch = part.dispatch();
            Sampler::new(*rules, state, &dispatch.texels, &dispatch.coords).map_err(|refusal| self.named(refusal, part))
        };
        let samplers = self.parts.iter().zip(states).map(sampler).collect::<Result<_, _>>()?;
        Ok(PartSamplers { parts: &self.parts, places: &self.places, samplers })
    }

    /// Puts the results of the parts, four words a sample, in the order of the whole dispatch.
    #[must_use]
    pub fn gather(&self, results: Vec<Vec<u32>>) -> Vec<u32> {
        gather(&self.parts, self.places.len(), results)
    }
}

fn gather(parts: &[Part<'_>], samples: usize, mut results: Vec<Vec<u32>>) -> Vec<u32> {
    if let ([Part { samples: None, .. }], [_]) = (parts, results.as_slice()) {
        return results.swap_remove(0);
    }
    let mut whole = vec![0; samples * 4];
    for (part, words) in parts.iter().zip(results) {
        for (&sample, words) in part.samples.iter().flatten().zip(words.chunks_exact(4)) {
            whole[sample as usize * 4..][..4].copy_from_slice(words);
        }
    }
    whole
}

/// The reference for a whole dispatch: a [`Sampler`] a part.
#[derive(Clone, Debug)]
pub struct PartSamplers<'s> {
    parts: &'s [Part<'s>],
    places: &'s [[u32; 2]],
    samplers: Vec<Sampler<'s>>,
}

impl<'s> PartSamplers<'s> {
    /// The sampler of a sample and the sample's number there.
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn at(&self, sample: usize) -> (&Sampler<'s>, usize) {
        match self.places.get(sample) {
            Some(&[part, place]) => (&self.samplers[part as usize], place as usize),
            None => (&self.samplers[0], sample),
        }
    }

    /// All samples, four words each.
    #[must_use]
    pub fn run(&self) -> Vec<u32> {
        let results = self.samplers.par_iter().map(Sampler::run).collect();
        gather(self.parts, self.places.len(), results)
    }

    /// One sample: X, Y, Z, W.
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn sample(&self, sample: usize) -> [u32; 4] {
        let (sampler, place) = self.at(sample);
        sampler.sample(place)
    }

    /// As [`Sampler::all_channels`].
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn all_channels(&self, sample: usize, accepts: impl Fn(usize, u32) -> bool) -> bool {
        let (sampler, place) = self.at(sample);
        sampler.all_channels(place, accepts)
    }
}

/// Whether the results of a dispatch are integers. The format of the first T# that a sample uses decides, as all are then
/// alike; one that is not known counts as a format of numbers: it is refused anyway.
#[must_use]
pub fn integer_results(dispatch: &Dispatch) -> bool {
    format(dispatch).is_some_and(|format| format.kind().is_integer())
}

/// The format of the first T# that a sample uses; of a table, all that are used are integers or none is.
#[must_use]
pub fn format(dispatch: &Dispatch) -> Option<TexelFormat> {
    let entry = dispatch.entries_of(0).unwrap_or_default().image;
    let (words, _) = dispatch.image_at(entry as usize)?;
    TexelFormat::from_code(ImageDescriptor::from_words(*words).format())
}

/// A value of a field in the descriptors that a sample uses; `None` for an S# that is not there.
#[must_use]
pub fn field_value(dispatch: &Dispatch, sample: usize, field: DescriptorField) -> Option<u32> {
    let entries = dispatch.entries_of(sample)?;
    match field {
        DescriptorField::Image(field) => {
            dispatch.image_at(entries.image as usize).map(|(words, _)| field.extract(words))
        }
        DescriptorField::Sampler(field) => {
            dispatch.sampler_at(entries.sampler as usize).map(|words| field.extract(words))
        }
    }
}

/// The refusal of a sample that a dispatch does not have.
pub(crate) fn no_sample(dispatch: &Dispatch, sample: usize) -> Refusal {
    part("sample", sample.to_string(), &format!("the dispatch has {}", dispatch.coords.rows()))
}

/// What a dispatch with tables is refused by where one T# and one S# are needed.
pub(crate) fn tables_refused(dispatch: &Dispatch, reason: &str) -> Refusal {
    let (images, samplers) = (dispatch.image_count(), dispatch.sampler_count());
    part("tables of descriptors", format!("{images} T#, {samplers} S#"), reason)
}

fn part(field: &str, value: String, reason: &str) -> Refusal {
    Refusal { field: field.to_owned(), bits: None, value, reason: reason.to_owned() }
}

/// Whether the instruction takes its level of detail from 2x2 quads.
fn takes_quads(dispatch: &Dispatch) -> bool {
    dispatch.op.kind != OpKind::Load && matches!(dispatch.op.lod, LodSource::Implicit | LodSource::Bias)
}

fn entries(dispatch: &Dispatch, sample: usize) -> Result<Entries, Refusal> {
    let entries = dispatch.entries_of(sample).ok_or_else(|| {
        part("coords.columns", list(dispatch), "a table of descriptors takes the column image or sampler that chooses")
    })?;
    let there = dispatch.image_at(entries.image as usize).is_some()
        && (dispatch.sampler.is_none() || dispatch.sampler_at(entries.sampler as usize).is_some());
    if there { Ok(entries) } else { Err(missing(dispatch, sample, entries)) }
}

fn list(dispatch: &Dispatch) -> String {
    dispatch.coords.columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(" ")
}

fn missing(dispatch: &Dispatch, sample: usize, entries: Entries) -> Refusal {
    let Entries { image, sampler } = entries;
    let (images, samplers) = (dispatch.image_count(), dispatch.sampler_count());
    part(
        "coords",
        format!("sample {sample}: T#[{image}], S#[{sampler}]"),
        &format!("there are {images} T#s and {samplers} S#s"),
    )
}

/// The samples in the order of parts: as they are, or quad by quad, each from left to right, then down.
fn order(grid: [u32; 3], count: u32, quads: bool) -> Box<dyn Iterator<Item = u32>> {
    if !quads {
        return Box::new(0..count);
    }
    let [width, height, depth] = grid;
    let firsts = (0..depth)
        .flat_map(move |z| (0..height / 2).map(move |y| (z * height + 2 * y) * width))
        .flat_map(move |row| (0..width / 2).map(move |x| row + 2 * x));
    Box::new(firsts.flat_map(move |first| quad_of(width, first)))
}

fn quad_of(width: u32, first: u32) -> [u32; 4] {
    [first, first + 1, first + width, first + width + 1]
}

/// Whether these are the four samples of a quad.
fn is_quad([width, height, _]: [u32; 3], samples: &[u32]) -> bool {
    let first = samples[0];
    (first % width).is_multiple_of(2) && (first / width % height).is_multiple_of(2) && samples == quad_of(width, first)
}

/// The refusal of the quad that a sample lies in.
fn divergent(dispatch: &Dispatch, sample: u32) -> Refusal {
    let [width, height, _] = dispatch.grid;
    let (x, y, z) = (sample % width & !1, sample / width % height & !1, sample / width / height);
    let quad = quad_of(width, (z * height + y) * width + x);
    let used: Vec<Entries> = quad.iter().filter_map(|&n| dispatch.entries_of(n as usize)).collect();
    let differs = |entry: fn(&Entries) -> u32| used.windows(2).any(|pair| entry(&pair[0]) != entry(&pair[1]));
    let (column, entry): (Column, fn(&Entries) -> u32) =
        if differs(|e| e.image) { (Column::Image, |e| e.image) } else { (Column::Sampler, |e| e.sampler) };
    let values: Vec<String> = used.iter().map(|e| entry(e).to_string()).collect();
    part(
        &format!("coords.{column}"),
        format!("{} in the quad at ({x},{y},{z})", values.join(", ")),
        &format!(
            "{} takes its level of detail from the quad, and what it is when the quad's samples choose different descriptors \
             is not known",
            dispatch.op
        ),
    )
}
