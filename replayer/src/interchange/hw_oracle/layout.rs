//! Texels as SW_MODE LINEAR has them in memory.
//!
//! AMD's addrlib (`Gfx10Lib::HwlComputeSurfaceInfoLinear`) says: rows start at multiples of 256 bytes; a slice or layer holds
//! all its levels, the smallest first; slices follow each other, in 3D images as many in every level as in level 0. The sizes
//! of small levels are rounded up there (`GetMipSize`). That the texture unit of a gfx1035 follows this in every case is
//! inferred from it.

use crate::{refusal::Refusal, state::Extent};

/// Texels of 4 bytes in the 256 bytes at whose multiples rows start.
const PITCH: u64 = 64;

/// The most words that an image may take: a kit's extra bytes are copied for every run.
const MAX_WORDS: u64 = 1 << 24;

/// Places of all levels.
pub struct Linear {
    extent: Extent,
    /// Row pitch in words, and first word in a slice, of each level.
    levels: Vec<(u64, u64)>,
    slice_words: u64,
}

impl Linear {
    pub fn new(extent: &Extent) -> Result<Self, Refusal> {
        let mut levels = vec![(0, 0); extent.levels as usize];
        let mut slice_words = 0u64;
        for (level, place) in levels.iter_mut().enumerate().rev() {
            let [width, height] = [0, 1].map(|axis| u64::from(extent.size[axis]).div_ceil(1 << level).max(1));
            let pitch = width.next_multiple_of(PITCH);
            *place = (pitch, slice_words);
            slice_words += pitch * height;
        }
        let linear = Self { extent: extent.clone(), levels, slice_words };
        if linear.words() > MAX_WORDS {
            return Err(Refusal {
                field: "T#".to_owned(),
                bits: None,
                value: format!("{} bytes as SW_MODE LINEAR", linear.words() * 4),
                reason: format!("a kit holds images of at most {} bytes", MAX_WORDS * 4),
            });
        }
        Ok(linear)
    }

    fn slices(&self) -> u64 {
        u64::from(self.extent.size[2]) * u64::from(self.extent.layers)
    }

    /// Words of the whole image.
    fn words(&self) -> u64 {
        self.slice_words.saturating_mul(self.slices())
    }

    /// The texels of a dispatch, moved to their places.
    pub fn place(&self, texels: &[u32]) -> Vec<u32> {
        let mut memory = vec![0; self.words() as usize];
        let mut rows = texels;
        for (level, &(pitch, start)) in self.levels.iter().enumerate() {
            let [width, height, depth] = self.extent.level_size(level as u32);
            for slice in 0..u64::from(depth * self.extent.layers) {
                for y in 0..u64::from(height) {
                    let (row, rest) = rows.split_at(width as usize);
                    let at = (slice * self.slice_words + start + y * pitch) as usize;
                    memory[at..at + row.len()].copy_from_slice(row);
                    rows = rest;
                }
            }
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_placed_smallest_first_in_each_layer() {
        let extent = Extent { size: [70, 3, 1], layers: 2, levels: 3 };
        // Levels of 70x3, 35x1 and 17x1 texels; rounded up 35x2 and 18x1.
        let texels: Vec<u32> = (1..=(70 * 3 + 35 + 17) * 2).collect();
        let memory = Linear::new(&extent).unwrap().place(&texels);
        let slice = 64 + 2 * 64 + 3 * 128;
        assert_eq!(memory.len(), 2 * slice);
        let level1 = 70 * 3 * 2;
        let level2 = level1 + 35 * 2;
        assert_eq!(memory[0..18], [&texels[level2..level2 + 17], &[0]].concat());
        assert_eq!(memory[64..99], texels[level1..level1 + 35]);
        assert_eq!(memory[192..262], texels[..70]);
        assert_eq!(memory[192 + 2 * 128..192 + 2 * 128 + 70], texels[140..210]);
        assert_eq!(memory[slice + 64..slice + 64 + 35], texels[level1 + 35..level1 + 70]);
        assert_eq!(memory[slice + 192..slice + 192 + 70], texels[210..280]);
    }

    #[test]
    fn slices_of_small_levels_keep_the_distance_of_level_0() {
        let extent = Extent { size: [2, 2, 2], layers: 1, levels: 2 };
        let memory = Linear::new(&extent).unwrap().place(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(memory.len(), 2 * 3 * 64);
        assert_eq!([memory[0], memory[64], memory[65], memory[128], memory[129]], [9, 1, 2, 3, 4]);
        assert_eq!([memory[192], memory[192 + 64], memory[192 + 129]], [0, 5, 8]);
    }
}
