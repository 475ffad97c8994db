//! The source texture of a dispatch: levels, slices, texels.

use std::sync::Arc;

use capture_format::Dispatch;
use replayer::{materialise::materialise, rules::Rules, state::State};

use super::{compare::Number, outcome::number_of_state, stats::Stats};

/// Where the texels of one slice of one level are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Index of the first texel among the dispatch's words.
    pub offset: usize,
    /// Width and height.
    pub size: [u32; 2],
}

impl Slice {
    /// Index of a texel among the dispatch's words.
    #[must_use]
    #[inline]
    pub fn index(&self, x: u32, y: u32) -> usize {
        self.offset + y as usize * self.size[0] as usize + x as usize
    }
}

/// The texture of a dispatch without tables of descriptors.
pub struct Texture {
    /// The dispatch whose texels these are.
    pub dispatch: Arc<Dispatch>,
    /// What its descriptors say.
    pub state: State,
    /// How unpacked texels are read.
    pub number: Number,
    /// The spread of the texels' values.
    pub stats: Stats,
}

impl Texture {
    /// Takes the texture of a dispatch under a profile's rules.
    ///
    /// # Errors
    /// The refusal, when the descriptors hold what is not modelled, and texels that do not fill the image.
    pub fn new(dispatch: Arc<Dispatch>, rules: &Rules) -> Result<Self, String> {
        let state = materialise(&dispatch, rules).map_err(|refusal| refusal.to_string())?;
        let (wanted, found) = (state.extent.texels(), dispatch.texels.len());
        if wanted != found as u64 {
            return Err(replayer::reference::texel_count_refusal(&state.extent, found).to_string());
        }
        let number = number_of_state(&state);
        let present = (1u8 << state.format.channels().len()).wrapping_sub(1);
        let stats = Stats::gather(found, number, |i| (state.format.unpack(dispatch.texels[i]), present));
        Ok(Self { dispatch, state, number, stats })
    }

    /// Number of levels.
    #[must_use]
    pub fn levels(&self) -> u32 {
        self.state.extent.levels
    }

    /// Slices or layers of a level.
    #[must_use]
    pub fn slices(&self, level: u32) -> u32 {
        let extent = &self.state.extent;
        extent.level_size(level)[2].saturating_mul(extent.layers)
    }

    /// A slice of a level; `None` when there is no such slice.
    #[must_use]
    pub fn slice(&self, level: u32, slice: u32) -> Option<Slice> {
        if level >= self.levels() || slice >= self.slices(level) {
            return None;
        }
        let extent = &self.state.extent;
        let before: u64 = (0..level).map(|l| extent.level_texels(l)).sum();
        let [w, h, _] = extent.level_size(level);
        let offset = before + u64::from(slice) * u64::from(w) * u64::from(h);
        Some(Slice { offset: usize::try_from(offset).ok()?, size: [w, h] })
    }
}
