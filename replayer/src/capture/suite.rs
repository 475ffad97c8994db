//! The suites: what is captured of a device, by theme.

mod fill;
mod points;

use std::{fmt, str::FromStr};

use capture_format::{Dispatch, FieldRangeError};

use super::Plan;

macro_rules! suites {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal => $fill:path,)*) => {
        /// A list of dispatches about one part of sampling.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Suite { $($(#[doc = $doc])+ $variant,)* }

        impl Suite {
            /// Every suite, in a fixed order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name on the command line, and of the file.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it is about, in a line.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc,)+).trim_ascii(),)* }
            }

            /// The dispatches, without results. The same plan gives the same dispatches.
            ///
            /// # Errors
            /// When a size or LOD of the suite does not fit its field, which is a defect of this crate.
            pub fn dispatches(self, plan: &Plan) -> Result<Vec<Dispatch>, FieldRangeError> {
                let mut maker = fill::Maker::new(plan, self.name());
                match self { $(Self::$variant => $fill(&mut maker)?,)* }
                Ok(maker.dispatches)
            }
        }
    };
}

suites! {
    /// Sweeps of the linear weight along x, y and z: off the grid, on ties and beside them
    Weights = "weights" => fill::weights,
    /// Point sampling at k and k ± 2^-n texels
    PointEdges = "point-edges" => fill::point_edges,
    /// Random coordinates in each address mode, point and linear
    Addressing = "addressing" => fill::addressing,
    /// Zeros, denormals, infinities, NaN and huge values as coordinates
    Special = "special" => fill::special,
    /// Random coordinates on images whose sizes are no powers of two
    Sizes = "sizes" => fill::sizes,
    /// Texels of all exponents, denormals among them
    Wide = "wide" => fill::wide,
    /// Infinities and NaN among the texels
    NonFinite = "non-finite" => fill::non_finite,
    /// Sweeps of the level of detail: ties, off the grid, between levels, special values
    Lods = "lods" => fill::lods,
    /// Bias and clamps of the level of detail
    Clamps = "clamps" => fill::clamps,
    /// 3D images
    Volumes = "volumes" => fill::volumes,
    /// 1D images, arrays, and the rounding of the layer
    Arrays = "arrays" => fill::arrays,
    /// Cubes by face coordinates and by direction
    Cubes = "cubes" => fill::cubes,
    /// Gathers
    Gathers = "gathers" => fill::gathers,
    /// Border colours, built in and from the table
    Borders = "borders" => fill::borders,
    /// Min and max filters
    MinMax = "minmax" => fill::min_max,
    /// Unnormalized coordinates
    Unnormalized = "unnormalized" => fill::unnormalized,
    /// Texel offsets
    Offsets = "offsets" => fill::offsets,
    /// Views of some levels and layers of an image
    Views = "views" => fill::views,
    /// Formats 36, 43 and 20, and every code of their channels
    Formats = "formats" => fill::formats,
    /// The level of detail from given derivatives
    Gradients = "gradients" => fill::gradients,
    /// Anisotropic filters with given derivatives
    Anisotropy = "anisotropy" => fill::anisotropy,
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no suite.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown suite {name:?}, expected all or one of {}", Suite::ALL.iter().map(|s| s.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownSuite {
    /// The text.
    pub name: String,
}

impl FromStr for Suite {
    type Err = UnknownSuite;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|s| s.name() == text).ok_or_else(|| UnknownSuite { name: text.to_owned() })
    }
}
