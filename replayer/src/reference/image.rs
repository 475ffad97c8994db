//! The texels of a dispatch by level, slice and position.

use crate::state::Extent;

/// Texels in their layout.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// Sizes.
    pub extent: Extent,
    texels: &'a [u32],
    level_offsets: Vec<usize>,
}

impl<'a> Image<'a> {
    /// Takes texels laid out level by level, slice by slice, row by row; `None` when there are not as many as the extent has.
    #[must_use]
    pub fn new(extent: Extent, texels: &'a [u32]) -> Option<Self> {
        if extent.texels() != texels.len() as u64 {
            return None;
        }
        let mut level_offsets = Vec::with_capacity(extent.levels as usize);
        let mut offset = 0;
        for level in 0..extent.levels {
            level_offsets.push(offset);
            offset += extent.level_texels(level) as usize;
        }
        Some(Self { extent, texels, level_offsets })
    }

    /// All texels.
    #[must_use]
    pub fn texels(&self) -> &'a [u32] {
        self.texels
    }

    /// Offset of a level's first texel.
    #[inline(always)]
    #[must_use]
    pub fn level_offset(&self, level: u32) -> usize {
        self.level_offsets[level as usize]
    }

    /// The texel at x, y in a slice (or layer) of a level. All must be inside the image.
    #[inline(always)]
    #[must_use]
    pub fn texel(&self, level: u32, x: u32, y: u32, slice: u32) -> u32 {
        let [width, height, _] = self.extent.level_size(level);
        let row = slice as usize * height as usize + y as usize;
        self.texels[self.level_offset(level) + row * width as usize + x as usize]
    }
}
