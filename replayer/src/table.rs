//! Tables of descriptors: the samples of a dispatch by the pair of T# and S# that they use.
//!
//! A [`Parts`] of a dispatch with one T# and one S# is that dispatch. With tables, the samples of each pair in use become a
//! dispatch of their own; entries that no sample uses are not looked at. Where an instruction takes its level of detail from
//! 2x2 quads, quads stay together: what hardware does when the lanes of a quad choose different descriptors is not known, and
//! refused.

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::OnceLock};

use capture_format::{Column, Dispatch, Entries, Field, ImageDescriptor, LodSource, OpKind, TexelFormat};
use rayon::prelude::*;

use crate::{
    explain::DescriptorField,
    materialise::{materialise, whole_quads},
    reference::Sampler,
    refusal::Refusal,
    rules::{RuleId, Rules, SampleGroup},
    state::State,
};

/// The samples of a dispatch that use one T# with one S#.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The entries of the tables; 0 where there is no table.
    pub entries: Entries,
    /// A sample of it, or a quad, as a dispatch without tables: its descriptors, without what most samples pass.
    head: Cow<'a, Dispatch>,
    /// Where its samples stand among those of all parts.
    range: Range<usize>,
}

impl Part<'_> {
    /// A dispatch without tables with the part's T# and S#, and some of its samples.
    #[must_use]
    pub fn head(&self) -> &Dispatch {
        &self.head
    }
}

/// A dispatch by the descriptors that its samples use.
#[derive(Debug)]
pub struct Parts<'a> {
    whole: &'a Dispatch,
    /// By entry of the T#, then of the S#.
    parts: Vec<Part<'a>>,
    /// The part of each sample; empty, as are the next two, where the only part is the whole.
    numbers: Vec<u32>,
    /// All samples, part by part.
    order: Vec<u32>,
    /// Where each sample stands in that order.
    places: Vec<u32>,
    /// The parts as dispatches, made when they are asked for.
    dispatches: OnceLock<Vec<Dispatch>>,
}

impl<'a> Parts<'a> {
    /// Splits a dispatch.
    ///
    /// # Errors
    /// A quad of an instruction that takes its level of detail from quads whose samples use different entries, an entry that
    /// is not there, and more than 2^32 - 1 samples.
    pub fn new(dispatch: &'a Dispatch) -> Result<Self, Refusal> {
        if !dispatch.is_table() {
            let range = 0..dispatch.coords.rows();
            let part = Part { entries: Entries::default(), head: Cow::Borrowed(dispatch), range };
            return Ok(Self::of(dispatch, vec![part]));
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
        let quads = takes_quads(dispatch);
        if quads {
            whole_quads(dispatch)?;
        }
        let chosen = entries(dispatch, count as usize)?;
        let (used, of_pair) = Numbers::new(dispatch, &chosen);
        let numbers: Vec<u32> = chosen.par_iter().with_min_len(SAMPLES_A_TASK).map(|&e| of_pair.of(e)).collect();
        drop(chosen);
        let mut ends = vec![0usize; used.len()];
        for &number in &numbers {
            ends[number as usize] += 1;
        }
        let mut next: Vec<usize> = Vec::with_capacity(used.len());
        let mut start = 0;
        for end in &mut ends {
            next.push(start);
            start += *end;
            *end = start;
        }
        let starts = next.clone();
        let (mut order, mut places) = (vec![0; count as usize], vec![0; count as usize]);
        for sample in samples_in_order(dispatch.grid, count, quads) {
            let place = &mut next[numbers[sample as usize] as usize];
            order[*place] = sample;
            places[sample as usize] = *place as u32;
            *place += 1;
        }
        let mut parts = Vec::with_capacity(used.len());
        for (entries, range) in used.into_iter().zip(starts.into_iter().zip(ends).map(|(start, end)| start..end)) {
            let samples = &order[range.clone()];
            if quads && let Some(quad) = samples.chunks(4).find(|quad| !is_quad(dispatch.grid, quad)) {
                return Err(divergent(dispatch, quad[0]));
            }
            let (grid, some) = if quads { ([2, 2, 1], &samples[..4]) } else { ([1, 1, 1], &samples[..1]) };
            let head = dispatch.with_entries(entries, grid, some);
            let head = head.ok_or_else(|| missing(dispatch, samples[0] as usize, entries))?;
            parts.push(Part { entries, head: Cow::Owned(head), range });
        }
        Ok(Self { numbers, order, places, ..Self::of(dispatch, parts) })
    }

    fn of(whole: &'a Dispatch, parts: Vec<Part<'a>>) -> Self {
        let (numbers, order, places) = (Vec::new(), Vec::new(), Vec::new());
        Self { whole, parts, numbers, order, places, dispatches: OnceLock::new() }
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

    /// The number of the part that each sample is in; empty when the only part is the whole.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Number of the part that a sample is in, and the sample's number there; `None` when there is no such sample.
    #[must_use]
    pub fn place(&self, sample: usize) -> Option<(usize, usize)> {
        if self.numbers.is_empty() {
            return (sample < self.whole.coords.rows()).then_some((0, sample));
        }
        let number = *self.numbers.get(sample)? as usize;
        Some((number, *self.places.get(sample)? as usize - self.parts[number].range.start))
    }

    /// The numbers that the samples of a part have in the whole dispatch, in the order of the part; none for a part that is
    /// not there.
    pub fn samples(&self, part: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let range = self.parts.get(part).map_or(0..0, |part| part.range.clone());
        range.map(|place| self.order.get(place).map_or(place, |&sample| sample as usize))
    }

    /// The samples of each part as a dispatch with one T# and one S#. It has an oracle only where it is the whole dispatch.
    #[must_use]
    pub fn dispatches(&self) -> &[Dispatch] {
        if self.numbers.is_empty() {
            return std::slice::from_ref(self.whole);
        }
        let quads = takes_quads(self.whole);
        let dispatch = |part: &Part<'a>| {
            let samples = &self.order[part.range.clone()];
            let length = samples.len() as u32;
            let grid = if quads { [2, length / 2, 1] } else { [length, 1, 1] };
            // The entries are those of the head, and the samples were counted.
            self.whole.with_entries(part.entries, grid, samples).unwrap_or_else(|| part.head().clone())
        };
        self.dispatches.get_or_init(|| self.parts.par_iter().map(dispatch).collect())
    }

    /// A sample as a dispatch without tables, with its quad if the instruction takes one, and the sample's number there; `None`
    /// when there is no such sample.
    #[must_use]
    pub fn alone(&self, sample: usize) -> Option<(Cow<'a, Dispatch>, usize)> {
        let (number, place) = self.place(sample)?;
        if self.numbers.is_empty() {
            return Some((Cow::Borrowed(self.whole), sample));
        }
        let part = &self.parts[number];
        let (grid, length) = if takes_quads(self.whole) { ([2, 2, 1], 4) } else { ([1, 1, 1], 1) };
        let first = part.range.start + place - place % length;
        let samples = self.order.get(first..first + length)?;
        Some((Cow::Owned(self.whole.with_entries(part.entries, grid, samples)?), place % length))
    }

    /// The state of each part under some rules.
    ///
    /// # Errors
    /// What [`materialise`] refuses of a descriptor that some sample uses, with the entry's number; T#s of different view
    /// types, of which an instruction has one; integer formats beside others, since the results of a dispatch are read as
    /// one or the other.
    pub fn states(&self, rules: &Rules) -> Result<Vec<State>, Refusal> {
        self.one_by_one(rules)?;
        let mut states: Vec<State> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let state = materialise(part.head(), rules).map_err(|refusal| self.named(refusal, part))?;
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
        self.one_by_one(rules)?;
        let there = self.place(sample).and_then(|(number, _)| self.parts.get(number));
        let found = there.ok_or_else(|| no_sample(self.whole, sample))?;
        materialise(found.head(), rules).map_err(|refusal| self.named(refusal, found))
    }

    /// Parts are sampled apart, which is the same only where each sample takes its own way.
    fn one_by_one(&self, rules: &Rules) -> Result<(), Refusal> {
        if self.parts.len() < 2 || rules.sample_group == SampleGroup::One {
            return Ok(());
        }
        let value = format!("sample-group {}", rules.value_name(RuleId::SampleGroup));
        Err(part("rules", value, "what a group of samples does whose descriptors differ is not modelled"))
    }

    fn alike(&self, part: &Part<'_>, state: &State, first: &State) -> Result<(), Refusal> {
        let image = part.head.image;
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
            let first = self.order[part.range.clone()].iter().min().copied().unwrap_or(0);
            refusal.reason += &match (images, samplers) {
                (true, true) => format!("; sample {first} uses T#[{image}] with S#[{sampler}]"),
                (true, false) => format!("; sample {first} uses T#[{image}]"),
                _ => format!("; sample {first} uses S#[{sampler}]"),
            };
        }
        refusal
    }

    /// Checks that texels fill the images and that the columns are the instruction's operands.
    ///
    /// # Errors
    /// The refusal of the first part for which this does not hold.
    pub(crate) fn check(&self, rules: &Rules, states: &[State]) -> Result<(), Refusal> {
        self.parts.iter().zip(states).try_for_each(|(part, state)| {
            let head = part.head();
            let checked = Sampler::new(*rules, state, &head.texels, &head.coords).map(|_| ());
            checked.map_err(|refusal| self.named(refusal, part))
        })
    }

    /// The reference for states of these parts.
    ///
    /// # Errors
    /// When texels do not fill their image, or the columns are not the instruction's operands.
    pub fn reference<'s>(&'s self, rules: &Rules, states: &'s [State]) -> Result<PartSamplers<'s>, Refusal> {
        let sampler = |((part, state), dispatch): ((&'s Part<'a>, &'s State), &'s Dispatch)| {
            Sampler::new(*rules, state, &dispatch.texels, &dispatch.coords).map_err(|refusal| self.named(refusal, part))
        };
        let samplers = self.parts.iter().zip(states).zip(self.dispatches()).map(sampler).collect::<Result<_, _>>()?;
        Ok(PartSamplers { parts: self, samplers })
    }

    /// Puts results in the order of parts, four words a sample, in the order of the whole dispatch.
    #[must_use]
    pub fn in_order(&self, results: Vec<u32>) -> Vec<u32> {
        if self.numbers.is_empty() {
            return results;
        }
        let mut whole = vec![0; self.places.len() * 4];
        let chunks = whole.par_chunks_mut(SAMPLES_A_TASK * 4).zip(self.places.par_chunks(SAMPLES_A_TASK));
        chunks.for_each(|(words, places)| {
            for (words, &place) in words.chunks_exact_mut(4).zip(places) {
                if let Some(found) = results.get(place as usize * 4..).and_then(|rest| rest.get(..4)) {
                    words.copy_from_slice(found);
                }
            }
        });
        whole
    }
}

/// Samples that one task handles.
const SAMPLES_A_TASK: usize = 1 << 14;

/// The reference for a whole dispatch: a [`Sampler`] a part.
#[derive(Debug)]
pub struct PartSamplers<'s> {
    parts: &'s Parts<'s>,
    samplers: Vec<Sampler<'s>>,
}

impl<'s> PartSamplers<'s> {
    /// The sampler of a sample and the sample's number there.
    ///
    /// # Panics
    /// When there is no such sample.
    #[must_use]
    pub fn at(&self, sample: usize) -> (&Sampler<'s>, usize) {
        let (part, place) = self.parts.place(sample).unwrap_or((0, sample));
        (&self.samplers[part], place)
    }

    /// All samples, four words each.
    #[must_use]
    pub fn run(&self) -> Vec<u32> {
        if let [sampler] = self.samplers.as_slice() {
            return self.parts.in_order(sampler.run());
        }
        let mut results = vec![0; self.parts.order.len() * 4];
        let mut slices = Vec::with_capacity(self.samplers.len());
        let mut rest = results.as_mut_slice();
        for sampler in &self.samplers {
            let (slice, behind) = std::mem::take(&mut rest).split_at_mut(sampler.samples() * 4);
            slices.push((sampler, slice));
            rest = behind;
        }
        slices.into_par_iter().for_each(|(sampler, slice)| sampler.run_into(slice));
        self.parts.in_order(results)
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

/// The number of each pair in use, by entries.
enum Numbers {
    /// A word for each pair that there is; what is not in use has no meaning.
    Dense {
        samplers: usize,
        numbers: Vec<u32>,
    },
    Sparse(HashMap<Entries, u32>),
}

impl Numbers {
    /// The most pairs for which there is a word each.
    const DENSE: usize = 1 << 22;

    /// Numbers the pairs in use; and these, in order.
    fn new(dispatch: &Dispatch, chosen: &[Entries]) -> (Vec<Entries>, Self) {
        let samplers = dispatch.sampler_count().max(1);
        match dispatch.image_count().checked_mul(samplers).filter(|&pairs| pairs <= Self::DENSE) {
            Some(pairs) => {
                let mut numbers = vec![u32::MAX; pairs];
                for entries in chosen {
                    numbers[entries.image as usize * samplers + entries.sampler as usize] = 0;
                }
                let mut used = Vec::new();
                for (pair, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
                    *number = used.len() as u32;
                    used.push(Entries { image: (pair / samplers) as u32, sampler: (pair % samplers) as u32 });
                }
                (used, Self::Dense { samplers, numbers })
            }
            None => {
                let mut used = chosen.to_vec();
                used.par_sort_unstable();
                used.dedup();
                let numbers = used.iter().copied().zip(0..).collect();
                (used, Self::Sparse(numbers))
            }
        }
    }

    /// The number of a pair that is in use.
    fn of(&self, entries: Entries) -> u32 {
        match self {
            Self::Dense { samplers, numbers } => numbers[entries.image as usize * samplers + entries.sampler as usize],
            Self::Sparse(numbers) => numbers.get(&entries).copied().unwrap_or(0),
        }
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

/// The entries that each sample uses.
fn entries(dispatch: &Dispatch, count: usize) -> Result<Vec<Entries>, Refusal> {
    let column = |table: bool, column: Column| match (table, dispatch.coords.index_of(column)) {
        (false, _) => Ok(None),
        (true, Some(at)) => Ok(Some(at)),
        (true, None) => Err(part(
            "coords.columns",
            list(dispatch),
            &format!("a table of descriptors takes the column {column}, which chooses"),
        )),
    };
    let image = column(!dispatch.more_images.is_empty(), Column::Image)?;
    let sampler = column(!dispatch.more_samplers.is_empty(), Column::Sampler)?;
    let (images, samplers) = (dispatch.image_count(), dispatch.sampler_count());
    let rows = dispatch.coords.words.chunks_exact(dispatch.coords.columns.len());
    let of_row = |(sample, row): (usize, &[u32])| {
        let entry = |at: Option<usize>| at.map_or(0, |at| row[at]);
        let entries = Entries { image: entry(image), sampler: entry(sampler) };
        let there = (entries.image as usize) < images && (samplers == 0 || (entries.sampler as usize) < samplers);
        if there { Ok(entries) } else { Err(missing(dispatch, sample, entries)) }
    };
    rows.take(count).enumerate().map(of_row).collect()
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
fn samples_in_order(grid: [u32; 3], count: u32, quads: bool) -> Box<dyn Iterator<Item = u32>> {
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

#[cfg(test)]
mod tests {
    use capture_format::{Coords, Op, TableImage};

    use super::*;
    use crate::rules::Profile;

    /// Samples of a load or, with `quads`, of an instruction that takes quads, with the image and S# that each uses.
    fn dispatch(grid: [u32; 3], quads: bool, images: u32, samplers: u32, chosen: &[[u32; 2]]) -> Dispatch {
        let words = [0, 43 << 20, 1 << 31, 9 << 28 | 0x3ac, 0, 0, 0, 0];
        let image = TableImage { words, texels: vec![7].into() };
        let op = if quads { Op::plain(OpKind::Sample, LodSource::Implicit) } else { Op::SAMPLE_LZ };
        let rows = chosen.iter().enumerate();
        let rows = rows.flat_map(|(n, [image, sampler])| [(n as f32).to_bits(), 0, *image, *sampler]);
        Dispatch {
            name: "t".to_owned(),
            op,
            grid,
            image: words,
            sampler: Some([0x92, 0xfff << 12, 0, 0]),
            more_images: vec![image; images as usize - 1],
            more_samplers: vec![[0x92, 0xfff << 12, 0, 0]; samplers as usize - 1],
            border_table: Vec::new(),
            dmask: None,
            texels: vec![7].into(),
            coords: Coords {
                columns: vec![Column::U, Column::V, Column::Image, Column::Sampler],
                words: rows.collect::<Vec<u32>>().into(),
            },
            expected: None,
        }
    }

    fn numbers(parts: &Parts<'_>) -> Vec<(Entries, Vec<usize>)> {
        parts.parts().iter().enumerate().map(|(n, part)| (part.entries, parts.samples(n).collect())).collect()
    }

    #[test]
    fn samples_are_parted_by_pair_and_put_together_again() {
        let chosen = [[1, 0], [0, 2], [1, 0], [1, 1], [0, 2]];
        // Few pairs are counted, many are looked up.
        for (images, samplers) in [(2, 3), (2000, 3000)] {
            let dispatch = dispatch([5, 1, 1], false, images, samplers, &chosen);
            let parts = Parts::new(&dispatch).unwrap();
            let of = |image, sampler| Entries { image, sampler };
            assert_eq!(
                numbers(&parts),
                [(of(0, 2), vec![1, 4]), (of(1, 0), vec![0, 2]), (of(1, 1), vec![3])],
                "{images} T#s"
            );
            let places: Vec<_> = (0..6).map(|sample| parts.place(sample)).collect();
            assert_eq!(places, [Some((1, 0)), Some((0, 0)), Some((1, 1)), Some((2, 0)), Some((0, 1)), None]);
            let part = &parts.dispatches()[1];
            assert_eq!((part.grid, &part.coords.words[..]), ([2, 1, 1], &[0, 0, 2.0f32.to_bits(), 0][..]));
            let alone = |sample: usize| parts.alone(sample).map(|(d, place)| (d.coords.words.to_vec(), place));
            assert_eq!((alone(4), alone(5)), (Some((vec![4.0f32.to_bits(), 0], 0)), None));
            let results = (0..3).flat_map(|part| parts.samples(part)).flat_map(|n| [n as u32; 4]);
            assert_eq!(parts.in_order(results.collect()), (0..5).flat_map(|n| [n; 4]).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn quads_stay_together() {
        // Two quads, of which the first uses another image.
        let chosen: Vec<[u32; 2]> = (0..8).map(|n| [u32::from(n % 4 < 2), 0]).collect();
        let dispatch = dispatch([4, 2, 1], true, 2, 2, &chosen);
        let parts = Parts::new(&dispatch).unwrap();
        let of = |image| Entries { image, sampler: 0 };
        assert_eq!(numbers(&parts), [(of(0), vec![2, 3, 6, 7]), (of(1), vec![0, 1, 4, 5])]);
        assert!(parts.dispatches().iter().all(|part| part.grid == [2, 2, 1]));
        let (quad, place) = parts.alone(5).unwrap();
        let u: Vec<f32> = quad.coords.words.chunks(2).map(|row| f32::from_bits(row[0])).collect();
        assert_eq!((place, u), (3, vec![0.0, 1.0, 4.0, 5.0]));
        parts.states(&Profile::GFX1035.rules).unwrap();
    }

    #[test]
    fn a_dispatch_without_tables_is_its_own_part() {
        let chosen = [[0, 0]; 4];
        let mut dispatch = dispatch([4, 1, 1], false, 1, 1, &chosen);
        dispatch.coords.columns.truncate(2);
        dispatch.coords.words = vec![0; 8].into();
        let parts = Parts::new(&dispatch).unwrap();
        assert!(std::ptr::eq(&parts.dispatches()[0], &dispatch));
        assert_eq!((parts.place(3), parts.place(4)), (Some((0, 3)), None));
        assert_eq!(parts.samples(0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(parts.in_order(vec![5; 16]), [5; 16]);
    }

    /// lavapipe's samples take one way in groups, which parts would tear.
    #[test]
    fn rules_by_groups_of_samples_are_refused_with_tables() {
        let both = dispatch([2, 1, 1], false, 2, 1, &[[0, 0], [1, 0]]);
        let refusal = Parts::new(&both).unwrap().states(&Profile::LAVAPIPE.rules).unwrap_err();
        assert!(refusal.to_string().contains("sample-group"), "{refusal}");
        let one = dispatch([2, 1, 1], false, 2, 1, &[[1, 0], [1, 0]]);
        assert!(Parts::new(&one).unwrap().states(&Profile::LAVAPIPE.rules).is_ok());
    }
}
