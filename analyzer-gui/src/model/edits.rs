//! Descriptor bits changed in the window.

use std::collections::BTreeMap;

use capture_format::{Dispatch, Entries, Field, FieldRangeError};

/// Which descriptor of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Descriptor {
    /// The image descriptor, T#.
    Image,
    /// The sampler descriptor, S#.
    Sampler,
}

impl Descriptor {
    /// `T#` or `S#`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "T#",
            Self::Sampler => "S#",
        }
    }

    /// The entry of its table among those that a sample uses.
    #[must_use]
    pub fn entry(self, entries: Entries) -> u32 {
        match self {
            Self::Image => entries.image,
            Self::Sampler => entries.sampler,
        }
    }
}

/// The words of descriptors as they are in force, by their entry in the dispatch's tables; only those that were changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edits {
    images: BTreeMap<u32, [u32; 8]>,
    samplers: BTreeMap<u32, [u32; 4]>,
}

impl Edits {
    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.images.is_empty() && self.samplers.is_empty()
    }

    /// The dispatch with the changed words. Texels, coordinates and oracle stay as recorded.
    #[must_use]
    pub fn apply(&self, dispatch: &Dispatch) -> Dispatch {
        let mut changed = dispatch.clone();
        for (&entry, &words) in &self.images {
            match entry.checked_sub(1) {
                None => changed.image = words,
                Some(more) => {
                    if let Some(image) = changed.more_images.get_mut(more as usize) {
                        image.words = words;
                    }
                }
            }
        }
        for (&entry, &words) in &self.samplers {
            match entry.checked_sub(1) {
                None => changed.sampler = Some(words),
                Some(more) => {
                    if let Some(sampler) = changed.more_samplers.get_mut(more as usize) {
                        *sampler = words;
                    }
                }
            }
        }
        changed
    }

    /// The words of a descriptor, changed or as recorded; `None` when the dispatch has no such descriptor.
    #[must_use]
    pub fn words(&self, dispatch: &Dispatch, descriptor: Descriptor, entry: u32) -> Option<Vec<u32>> {
        let recorded = recorded(dispatch, descriptor, entry)?;
        let changed = match descriptor {
            Descriptor::Image => self.images.get(&entry).map(|words| words.to_vec()),
            Descriptor::Sampler => self.samplers.get(&entry).map(|words| words.to_vec()),
        };
        Some(changed.unwrap_or_else(|| recorded.to_vec()))
    }

    /// The entries of which fields are changed, ascending.
    pub fn entries(&self, descriptor: Descriptor) -> impl Iterator<Item = u32> + '_ {
        let (images, samplers) = match descriptor {
            Descriptor::Image => (Some(self.images.keys()), None),
            Descriptor::Sampler => (None, Some(self.samplers.keys())),
        };
        images.into_iter().flatten().chain(samplers.into_iter().flatten()).copied()
    }

    /// Sets a field. Words that equal the recorded ones again count as unchanged.
    ///
    /// # Errors
    /// When the value does not fit the field.
    pub fn set(
        &mut self,
        dispatch: &Dispatch,
        descriptor: Descriptor,
        entry: u32,
        field: &Field,
        value: u32,
    ) -> Result<(), FieldRangeError> {
        let Some(mut words) = self.words(dispatch, descriptor, entry) else { return Ok(()) };
        field.insert(&mut words, value)?;
        self.put(dispatch, descriptor, entry, &words);
        Ok(())
    }

    /// Gives a field its recorded value back.
    pub fn revert(&mut self, dispatch: &Dispatch, descriptor: Descriptor, entry: u32, field: &Field) {
        let words = self.words(dispatch, descriptor, entry).zip(recorded(dispatch, descriptor, entry));
        let Some((mut words, recorded)) = words else { return };
        restore(field, &mut words, recorded);
        self.put(dispatch, descriptor, entry, &words);
    }

    fn put(&mut self, dispatch: &Dispatch, descriptor: Descriptor, entry: u32, words: &[u32]) {
        let unchanged = recorded(dispatch, descriptor, entry) == Some(words);
        match descriptor {
            Descriptor::Image => put(&mut self.images, entry, words, unchanged),
            Descriptor::Sampler => put(&mut self.samplers, entry, words, unchanged),
        }
    }
}

fn put<const N: usize>(map: &mut BTreeMap<u32, [u32; N]>, entry: u32, words: &[u32], unchanged: bool) {
    match words.try_into() {
        Ok(words) if !unchanged => drop(map.insert(entry, words)),
        _ => drop(map.remove(&entry)),
    }
}

/// The words of a descriptor as recorded; `None` when the dispatch has no such descriptor.
#[must_use]
pub fn recorded(dispatch: &Dispatch, descriptor: Descriptor, entry: u32) -> Option<&[u32]> {
    match descriptor {
        Descriptor::Image => dispatch.image_at(entry as usize).map(|(words, _)| words.as_slice()),
        Descriptor::Sampler => dispatch.sampler_at(entry as usize).map(|words| words.as_slice()),
    }
}

fn restore(field: &Field, words: &mut [u32], recorded: &[u32]) {
    let at = usize::from(field.word);
    words[at] = (words[at] & !field.mask()) | (recorded[at] & field.mask());
}

#[cfg(test)]
mod tests {
    use capture_format::{Column, Coords, ImageDescriptor, Op, SamplerDescriptor, TableImage, Words};

    use super::*;

    fn dispatch() -> Dispatch {
        Dispatch {
            name: "d".to_owned(),
            op: Op::SAMPLE_LZ,
            grid: [1, 1, 1],
            image: [0; 8],
            sampler: Some([0; 4]),
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: Words::default(),
            coords: Coords { columns: vec![Column::U], words: Words::default() },
            expected: None,
        }
    }

    #[test]
    fn a_field_is_changed_and_given_back() {
        let dispatch = dispatch();
        let (field, sampler) = (&SamplerDescriptor::TRUNC_COORD, Descriptor::Sampler);
        let mut edits = Edits::default();
        edits.set(&dispatch, sampler, 0, field, 1).unwrap();
        assert_eq!(edits.entries(sampler).collect::<Vec<_>>(), [0]);
        assert_eq!(edits.apply(&dispatch).sampler, Some([1 << 27, 0, 0, 0]));
        edits.set(&dispatch, Descriptor::Image, 0, &ImageDescriptor::BASE_LEVEL, 3).unwrap();
        edits.revert(&dispatch, sampler, 0, field);
        assert_eq!(edits.apply(&dispatch).sampler, Some([0; 4]));
        assert_eq!(edits.apply(&dispatch).image[3], 3 << 12);
        edits.set(&dispatch, Descriptor::Image, 0, &ImageDescriptor::BASE_LEVEL, 0).unwrap();
        assert!(edits.is_empty(), "equal words are no change");
        assert!(edits.set(&dispatch, sampler, 0, field, 2).is_err());
        assert!(edits.is_empty());
    }

    #[test]
    fn a_field_of_a_table_is_changed_in_its_entry_alone() {
        let image = TableImage { words: [1; 8], texels: Words::default() };
        let dispatch = Dispatch { more_images: vec![image; 2], more_samplers: vec![[2; 4]; 2], ..dispatch() };
        let mut edits = Edits::default();
        edits.set(&dispatch, Descriptor::Image, 2, &ImageDescriptor::BASE_LEVEL, 3).unwrap();
        edits.set(&dispatch, Descriptor::Sampler, 1, &SamplerDescriptor::TRUNC_COORD, 1).unwrap();
        edits.set(&dispatch, Descriptor::Sampler, 3, &SamplerDescriptor::TRUNC_COORD, 1).unwrap();
        let changed = edits.apply(&dispatch);
        assert_eq!((changed.image, changed.more_images[0].words), ([0; 8], [1; 8]));
        assert_eq!(changed.more_images[1].words, [1, 1, 1, 1 | 3 << 12, 1, 1, 1, 1]);
        assert_eq!((changed.sampler, changed.more_samplers), (Some([0; 4]), vec![[2 | 1 << 27, 2, 2, 2], [2; 4]]));
        edits.revert(&dispatch, Descriptor::Image, 2, &ImageDescriptor::BASE_LEVEL);
        assert_eq!(edits.entries(Descriptor::Image).count(), 0);
        assert_eq!(edits.entries(Descriptor::Sampler).collect::<Vec<_>>(), [1], "there is no entry 3");
    }

    #[test]
    fn a_dispatch_without_sampler_has_none_to_change() {
        let dispatch = Dispatch { sampler: None, ..dispatch() };
        let mut edits = Edits::default();
        edits.set(&dispatch, Descriptor::Sampler, 0, &SamplerDescriptor::CLAMP_X, 1).unwrap();
        assert!(edits.is_empty());
        assert_eq!(edits.words(&dispatch, Descriptor::Sampler, 0), None);
    }
}
