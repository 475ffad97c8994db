//! The image instructions a dispatch can record, by their RDNA2 names.

use std::{fmt, str::FromStr};

/// What an image instruction does with the texels it addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// `image_load`: one texel by integer coordinates, no sampler.
    Load,
    /// `image_sample*`: filtered.
    Sample,
    /// `image_gather4*`: one channel of the four texels of the bilinear footprint.
    Gather4,
}

/// Where an instruction takes its level of detail from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LodSource {
    /// From the differences of the coordinates in the 2×2 quad.
    Implicit,
    /// `_b`: as [`LodSource::Implicit`], plus the instruction's bias (column `bias`).
    Bias,
    /// `_d`: from given derivatives (columns `dudx` …).
    Derivatives,
    /// `_l`, and `image_load_mip`: given (column `lod`).
    Explicit,
    /// `_lz`: level zero of the view.
    Zero,
}

/// One image instruction: `image_load`, `image_load_mip`, or a form of `image_sample` or `image_gather4`.
///
/// ```
/// use capture_format::{LodSource, Op, OpKind};
/// let op: Op = "image_sample_d_cl_o".parse().unwrap();
/// assert_eq!((op.kind, op.lod), (OpKind::Sample, LodSource::Derivatives));
/// assert!(op.lod_clamp && op.offset && !op.compare);
/// assert_eq!(op.to_string(), "image_sample_d_cl_o");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op {
    /// Load, sample or gather.
    pub kind: OpKind,
    /// `_c`: depth compare.
    pub compare: bool,
    /// Where the LOD comes from. A load without `_mip` has [`LodSource::Zero`].
    pub lod: LodSource,
    /// `_cl`: a lower clamp of the LOD (column `clamp`).
    pub lod_clamp: bool,
    /// `_o`: texel offsets (column `offset`), packed `x[5:0] y[13:8] z[21:16]`, each signed.
    pub offset: bool,
}

impl Op {
    /// `image_load`.
    pub const LOAD: Self = Self::plain(OpKind::Load, LodSource::Zero);
    /// `image_sample_lz`.
    pub const SAMPLE_LZ: Self = Self::plain(OpKind::Sample, LodSource::Zero);
    /// `image_sample_l`.
    pub const SAMPLE_L: Self = Self::plain(OpKind::Sample, LodSource::Explicit);

    /// An instruction without compare, LOD clamp and offsets.
    #[must_use]
    pub const fn plain(kind: OpKind, lod: LodSource) -> Self {
        Self { kind, compare: false, lod, lod_clamp: false, offset: false }
    }

    /// Every instruction that exists on GFX10.3, in a fixed order.
    pub fn all() -> impl Iterator<Item = Self> {
        let loads = [Self::LOAD, Self::plain(OpKind::Load, LodSource::Explicit)];
        let filtered = [OpKind::Sample, OpKind::Gather4].into_iter().flat_map(|kind| {
            [LodSource::Implicit, LodSource::Bias, LodSource::Derivatives, LodSource::Explicit, LodSource::Zero]
                .into_iter()
                .flat_map(move |lod| {
                    [false, true].into_iter().flat_map(move |compare| {
                        [false, true].into_iter().flat_map(move |lod_clamp| {
                            [false, true].into_iter().map(move |offset| Self { kind, compare, lod, lod_clamp, offset })
                        })
                    })
                })
        });
        loads.into_iter().chain(filtered).filter(|op| op.exists())
    }

    /// Whether GFX10.3 has this combination.
    #[must_use]
    pub fn exists(self) -> bool {
        match self.kind {
            OpKind::Load => {
                !self.compare
                    && !self.lod_clamp
                    && !self.offset
                    && matches!(self.lod, LodSource::Zero | LodSource::Explicit)
            }
            OpKind::Sample | OpKind::Gather4 => {
                let clampable = matches!(self.lod, LodSource::Implicit | LodSource::Bias | LodSource::Derivatives);
                (clampable || !self.lod_clamp) && !(self.kind == OpKind::Gather4 && self.lod == LodSource::Derivatives)
            }
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == OpKind::Load {
            return f.write_str(if self.lod == LodSource::Explicit { "image_load_mip" } else { "image_load" });
        }
        f.write_str(if self.kind == OpKind::Sample { "image_sample" } else { "image_gather4" })?;
        if self.compare {
            f.write_str("_c")?;
        }
        f.write_str(match self.lod {
            LodSource::Implicit => "",
            LodSource::Bias => "_b",
            LodSource::Derivatives => "_d",
            LodSource::Explicit => "_l",
            LodSource::Zero => "_lz",
        })?;
        if self.lod_clamp {
            f.write_str("_cl")?;
        }
        f.write_str(if self.offset { "_o" } else { "" })
    }
}

/// The text is not the name of an image instruction that is known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown op {0:?}, expected image_load, image_load_mip, or a form of image_sample or image_gather4 such as image_sample_lz"
)]
pub struct UnknownOp(pub String);

impl FromStr for Op {
    type Err = UnknownOp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all().find(|op| op.to_string() == text).ok_or_else(|| UnknownOp(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_round_trips_through_its_name() {
        let names: Vec<String> = Op::all().map(|op| op.to_string()).collect();
        assert_eq!(names.len(), 2 + 32 + 24);
        for (op, name) in Op::all().zip(&names) {
            assert_eq!(name.parse(), Ok(op));
        }
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }

    #[test]
    fn ops_that_do_not_exist_are_refused_by_name() {
        for name in ["image_gather4_d", "image_sample_lz_cl", "image_sample_l_cl_o", "image_store", "", "image_load_o"]
        {
            assert_eq!(name.parse::<Op>(), Err(UnknownOp(name.to_owned())));
        }
    }
}
