//! Formats and views of host images, as Vulkan numbers and names them.

use std::{fmt, str::FromStr};

use crate::TexelFormat;

/// A `VkFormat`, by its number. Any number can be recorded; those that are known here have a name and a texel size.
///
/// ```
/// use capture_format::HostFormat;
/// assert_eq!(HostFormat::R32_UINT.to_string(), "VK_FORMAT_R32_UINT");
/// assert_eq!(HostFormat(97).texel_words(), Some(2));
/// assert_eq!(HostFormat(146).texel_words(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostFormat(pub u32);

/// Number, name without prefix, words a texel. The numbers are those of the Vulkan specification.
const KNOWN: [(u32, &str, u32); 14] = [
    (37, "R8G8B8A8_UNORM", 1),
    (41, "R8G8B8A8_UINT", 1),
    (64, "A2B10G10R10_UNORM_PACK32", 1),
    (83, "R16G16_SFLOAT", 1),
    (97, "R16G16B16A16_SFLOAT", 2),
    (98, "R32_UINT", 1),
    (99, "R32_SINT", 1),
    (100, "R32_SFLOAT", 1),
    (101, "R32G32_UINT", 2),
    (103, "R32G32_SFLOAT", 2),
    (107, "R32G32B32A32_UINT", 4),
    (109, "R32G32B32A32_SFLOAT", 4),
    (122, "B10G11R11_UFLOAT_PACK32", 1),
    (123, "E5B9G9R9_UFLOAT_PACK32", 1),
];

impl HostFormat {
    /// The form in which an emulator keeps packed formats that no PC GPU samples.
    pub const R32_UINT: Self = Self(98);
    /// One signed integer.
    pub const R32_SINT: Self = Self(99);
    /// One float.
    pub const R32_SFLOAT: Self = Self(100);
    /// Four floats.
    pub const R32G32B32A32_SFLOAT: Self = Self(109);

    /// The name without `VK_FORMAT_`; `None` for a number that is not known here.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(number, ..)| *number == self.0).map(|(_, name, _)| *name)
    }

    /// 32-bit words a texel; `None` for a number that is not known here.
    #[must_use]
    pub fn texel_words(self) -> Option<u32> {
        KNOWN.iter().find(|(number, ..)| *number == self.0).map(|(.., words)| *words)
    }

    /// The guest format whose texels have the same bits, for formats of one word that are handled here.
    #[must_use]
    pub fn guest(self) -> Option<TexelFormat> {
        match self.0 {
            98 => Some(TexelFormat::R32_UINT),
            122 => Some(TexelFormat::R11G11B10_FLOAT),
            _ => None,
        }
    }
}

impl fmt::Display for HostFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "VK_FORMAT_{name}"),
            None => write!(f, "VkFormat {}", self.0),
        }
    }
}

/// Type of a host image's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostView {
    /// One dimension.
    D1,
    /// Layers of one dimension.
    D1Array,
    /// Two dimensions.
    D2,
    /// Layers of two dimensions.
    D2Array,
    /// Three dimensions.
    D3,
    /// Six square layers.
    Cube,
    /// Six square layers a cube.
    CubeArray,
}

impl HostView {
    /// Every type, in a fixed order.
    pub const ALL: [Self; 7] =
        [Self::D1, Self::D1Array, Self::D2, Self::D2Array, Self::D3, Self::Cube, Self::CubeArray];

    /// The word that stands in records and case files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::D1 => "1d",
            Self::D1Array => "1d-array",
            Self::D2 => "2d",
            Self::D2Array => "2d-array",
            Self::D3 => "3d",
            Self::Cube => "cube",
            Self::CubeArray => "cube-array",
        }
    }
}

impl fmt::Display for HostView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no type of view.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown view {0:?}, expected 1d, 1d-array, 2d, 2d-array, 3d, cube or cube-array")]
pub struct UnknownView(pub String);

impl FromStr for HostView {
    type Err = UnknownView;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|view| view.name() == text).ok_or_else(|| UnknownView(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ascending_and_sizes_follow_from_the_names() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (number, name, words) in KNOWN {
            // The digits behind the channels' letters, up to the first underscore, are their bits.
            let channels = name.split('_').next().unwrap();
            let bits: u32 = channels.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).sum();
            assert_eq!(bits, words * 32, "{number} {name}");
        }
    }

    #[test]
    fn views_round_trip_through_their_names() {
        for view in HostView::ALL {
            assert_eq!(view.name().parse(), Ok(view));
        }
        assert!("2D".parse::<HostView>().is_err());
    }
}
