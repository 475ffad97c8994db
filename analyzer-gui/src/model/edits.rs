//! Descriptor bits changed in the window.

use capture_format::{Dispatch, Field, FieldRangeError};

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
}

/// The words of both descriptors as they are in force; `None` where nothing was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edits {
    image: Option<[u32; 8]>,
    sampler: Option<[u32; 4]>,
}

impl Edits {
    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.image.is_none() && self.sampler.is_none()
    }

    /// The dispatch with the changed words. Texels, coordinates and oracle stay as recorded.
    #[must_use]
    pub fn apply(&self, dispatch: &Dispatch) -> Dispatch {
        let mut changed = dispatch.clone();
        changed.image = self.image.unwrap_or(changed.image);
        changed.sampler = self.sampler.or(changed.sampler);
        changed
    }

    /// The words of a descriptor, changed or as recorded; `None` when the dispatch has no such descriptor.
    #[must_use]
    pub fn words(&self, dispatch: &Dispatch, descriptor: Descriptor) -> Option<Vec<u32>> {
        match descriptor {
            Descriptor::Image => Some(self.image.unwrap_or(dispatch.image).to_vec()),
            Descriptor::Sampler => self.sampler.or(dispatch.sampler).map(|words| words.to_vec()),
        }
    }

    /// Whether a field has another value than the recorded one.
    #[must_use]
    pub fn is_changed(&self, dispatch: &Dispatch, descriptor: Descriptor, field: &Field) -> bool {
        match (descriptor, self.image, self.sampler, dispatch.sampler) {
            (Descriptor::Image, Some(words), ..) => field.extract(&words) != field.extract(&dispatch.image),
            (Descriptor::Sampler, _, Some(words), Some(recorded)) => field.extract(&words) != field.extract(&recorded),
            _ => false,
        }
    }

    /// Sets a field. Words that equal the recorded ones again count as unchanged.
    ///
    /// # Errors
    /// When the value does not fit the field.
    pub fn set(
        &mut self,
        dispatch: &Dispatch,
        descriptor: Descriptor,
        field: &Field,
        value: u32,
    ) -> Result<(), FieldRangeError> {
        match descriptor {
            Descriptor::Image => {
                let mut words = self.image.unwrap_or(dispatch.image);
                field.insert(&mut words, value)?;
                self.image = (words != dispatch.image).then_some(words);
            }
            Descriptor::Sampler => {
                if let Some(recorded) = dispatch.sampler {
                    let mut words = self.sampler.unwrap_or(recorded);
                    field.insert(&mut words, value)?;
                    self.sampler = (words != recorded).then_some(words);
                }
            }
        }
        Ok(())
    }

    /// Gives a field its recorded value back.
    pub fn revert(&mut self, dispatch: &Dispatch, descriptor: Descriptor, field: &Field) {
        match (descriptor, &mut self.image, &mut self.sampler, dispatch.sampler) {
            (Descriptor::Image, Some(words), ..) => {
                restore(field, words, &dispatch.image);
                self.image = self.image.filter(|words| *words != dispatch.image);
            }
            (Descriptor::Sampler, _, Some(words), Some(recorded)) => {
                restore(field, words, &recorded);
                self.sampler = self.sampler.filter(|words| *words != recorded);
            }
            _ => {}
        }
    }
}

fn restore(field: &Field, words: &mut [u32], recorded: &[u32]) {
    let at = usize::from(field.word);
    words[at] = (words[at] & !field.mask()) | (recorded[at] & field.mask());
}

#[cfg(test)]
mod tests {
    use capture_format::{Column, Coords, ImageDescriptor, Op, SamplerDescriptor, Words};

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
        edits.set(&dispatch, sampler, field, 1).unwrap();
        assert!(edits.is_changed(&dispatch, sampler, field) && !edits.is_empty());
        assert_eq!(edits.apply(&dispatch).sampler, Some([1 << 27, 0, 0, 0]));
        edits.set(&dispatch, Descriptor::Image, &ImageDescriptor::BASE_LEVEL, 3).unwrap();
        edits.revert(&dispatch, sampler, field);
        assert_eq!(edits.apply(&dispatch).sampler, Some([0; 4]));
        assert_eq!(edits.apply(&dispatch).image[3], 3 << 12);
        edits.set(&dispatch, Descriptor::Image, &ImageDescriptor::BASE_LEVEL, 0).unwrap();
        assert!(edits.is_empty(), "equal words are no change");
        assert!(edits.set(&dispatch, sampler, field, 2).is_err());
        assert!(edits.is_empty());
    }

    #[test]
    fn a_dispatch_without_sampler_has_none_to_change() {
        let dispatch = Dispatch { sampler: None, ..dispatch() };
        let mut edits = Edits::default();
        edits.set(&dispatch, Descriptor::Sampler, &SamplerDescriptor::CLAMP_X, 1).unwrap();
        assert!(edits.is_empty());
        assert_eq!(edits.words(&dispatch, Descriptor::Sampler), None);
    }
}
