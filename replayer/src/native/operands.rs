//! From recorded operands to the rows of a native module.

use std::collections::BTreeMap;

use capture_format::{Column, Dispatch, LodSource, OpKind};

use super::{kernel::shape, lower::Lowered, part};
use crate::{execute::vulkan::NativeView, reference::operands::unpack_offset, refusal::Refusal};

/// What an instruction takes its level from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// Level 0.
    Zero,
    /// A level of detail.
    Lod,
    /// Derivatives of the coordinates along x, then along y.
    Gradients,
    /// A texel by whole numbers and a level, no sampler.
    Texel,
}

/// Samples that one module serves.
pub struct Batch {
    /// Their numbers in the dispatch.
    pub samples: Vec<usize>,
    /// Their rows of operands.
    pub words: Vec<u32>,
    /// What the level comes from.
    pub fetch: Fetch,
    /// Their texel offsets, which Vulkan wants as constants.
    pub offset: Option<[i32; 3]>,
}

/// Distinct texel offsets in a dispatch, each a module of its own.
const MAX_OFFSETS: usize = 64;

/// The rows of a dispatch, by texel offset.
pub fn batches(dispatch: &Dispatch, lowered: &Lowered) -> Result<Vec<Batch>, Refusal> {
    let op = lowered.op;
    let columns = &dispatch.coords.columns;
    let by_direction = columns.contains(&Column::Rx);
    let wanted = columns_of(lowered, by_direction);
    let (mut sorted, mut found) = (wanted.clone(), columns.clone());
    sorted.sort_unstable();
    found.sort_unstable();
    if sorted != found {
        let list = |columns: &[Column]| columns.iter().map(|c| c.name()).collect::<Vec<_>>().join(" ");
        return Err(part("coords.columns", list(columns), &format!("{op} on this view takes {}", list(&wanted))));
    }
    let places: Vec<usize> =
        wanted.iter().filter(|&&c| c != Column::Offset).filter_map(|&c| dispatch.coords.index_of(c)).collect();
    let offset_place = dispatch.coords.index_of(Column::Offset);
    let fetch = match (op.kind, op.lod) {
        (OpKind::Load, _) => Fetch::Texel,
        (_, LodSource::Explicit) => Fetch::Lod,
        (_, LodSource::Derivatives) => Fetch::Gradients,
        _ => Fetch::Zero,
    };
    let mut batches: BTreeMap<Option<u32>, Batch> = BTreeMap::new();
    let mut picked = Vec::new();
    for (sample, row) in dispatch.coords.words.chunks_exact(columns.len()).enumerate() {
        let key = offset_place.map(|place| row[place]);
        let batch = match batches.get_mut(&key) {
            Some(batch) => batch,
            None => {
                let offset = key.map(|word| constant_offset(lowered, word)).transpose()?;
                if batches.len() == MAX_OFFSETS {
                    return Err(part("coords.offset", "more values", &format!("at most {MAX_OFFSETS} are supported")));
                }
                batches.entry(key).or_insert(Batch { samples: Vec::new(), words: Vec::new(), fetch, offset })
            }
        };
        picked.clear();
        picked.extend(places.iter().map(|&place| row[place]));
        batch.samples.push(sample);
        match (op.kind, lowered.view) {
            (OpKind::Load, _) => texel(lowered, sample, &picked, &mut batch.words)?,
            (_, NativeView::Cube | NativeView::CubeArray) if !by_direction => {
                direction(lowered, sample, &picked, &mut batch.words)?;
            }
            _ => batch.words.extend_from_slice(&picked),
        }
    }
    Ok(batches.into_values().collect())
}

fn columns_of(lowered: &Lowered, by_direction: bool) -> Vec<Column> {
    let load = lowered.op.kind == OpKind::Load;
    let mut columns = match (lowered.view, load, by_direction) {
        (NativeView::Cube | NativeView::CubeArray, _, true) => vec![Column::Rx, Column::Ry, Column::Rz],
        (NativeView::Cube | NativeView::CubeArray, _, false) => vec![Column::S, Column::T, Column::Face],
        (view, true, _) => [Column::X, Column::Y, Column::Z][..shape(view).0].to_vec(),
        (view, false, _) => [Column::U, Column::V, Column::W][..shape(view).0].to_vec(),
    };
    if matches!(lowered.view, NativeView::D1Array | NativeView::D2Array)
        || lowered.view == NativeView::CubeArray && by_direction
    {
        columns.push(Column::Layer);
    }
    match lowered.op.lod {
        LodSource::Explicit => columns.push(Column::Lod),
        LodSource::Derivatives => {
            let axes = shape(lowered.view).0;
            for along in [[Column::Dudx, Column::Dvdx, Column::Dwdx], [Column::Dudy, Column::Dvdy, Column::Dwdy]] {
                columns.extend_from_slice(&along[..axes]);
            }
        }
        LodSource::Zero | LodSource::Implicit | LodSource::Bias => {}
    }
    if lowered.op.offset {
        columns.push(Column::Offset);
    }
    columns
}

/// The offsets of a packed word: Vulkan promises -8 to 7.
fn constant_offset(lowered: &Lowered, word: u32) -> Result<[i32; 3], Refusal> {
    let offset = unpack_offset(word);
    let axes = shape(lowered.view).0;
    match offset[..axes].iter().find(|n| !(-8..=7).contains(*n)) {
        Some(n) => Err(part("coords.offset", n, "every Vulkan device takes texel offsets from -8 to 7")),
        None => Ok(offset),
    }
}

/// A load's row as whole numbers: coordinates, layer, level.
fn texel(lowered: &Lowered, sample: usize, row: &[u32], out: &mut Vec<u32>) -> Result<(), Refusal> {
    let whole = |bits: u32, end: u32| {
        let value = f32::from_bits(bits);
        let index = if value > -1.0 { value as u32 } else { u32::MAX };
        (index < end).then_some(index).ok_or_else(|| {
            part(
                "coords",
                format!("sample {sample}: {value}"),
                &format!("loads outside 0 to {} are not expressed", end - 1),
            )
        })
    };
    let axes = shape(lowered.view).0;
    let explicit = lowered.op.lod == LodSource::Explicit;
    let level = if explicit { whole(row[row.len() - 1], lowered.levels)? } else { 0 };
    for (axis, &bits) in row[..axes].iter().enumerate() {
        out.push(whole(bits, (lowered.extent[axis] >> level).max(1))?);
    }
    if shape(lowered.view).1 {
        out.push(whole(row[axes], lowered.layers)?);
    }
    out.push(level);
    Ok(())
}

/// A direction that stands for `s t face`: its major axis is 1, so that the device's division by it is exact.
fn direction(lowered: &Lowered, sample: usize, row: &[u32], out: &mut Vec<u32>) -> Result<(), Refusal> {
    let [s, t, face] = [row[0], row[1], row[2]].map(f32::from_bits);
    // Exact inside the face: a multiple of 2^-23 less 1.5, doubled.
    let [sc, tc] = [s, t].map(|x| (x - 1.5) * 2.0);
    if !(sc.abs() < 1.0 && tc.abs() < 1.0) {
        return Err(part(
            "coords",
            format!("sample {sample}: s {s}, t {t}"),
            "on a face's edge and beyond it (s and t outside 1 to 2) a direction belongs to another face",
        ));
    }
    let cubes = lowered.layers / 6;
    let number = face as u32;
    if number as f32 != face || number % 8 > 5 || number / 8 >= cubes {
        return Err(part(
            "coords",
            format!("sample {sample}: face {face}"),
            &format!("a direction needs a whole face 0 to 5, plus 8 times a cube below {cubes}"),
        ));
    }
    let direction = match number % 8 {
        0 => [1.0, -tc, -sc],
        1 => [-1.0, -tc, sc],
        2 => [sc, 1.0, tc],
        3 => [sc, -1.0, -tc],
        4 => [sc, -tc, 1.0],
        _ => [-sc, -tc, -1.0],
    };
    out.extend(direction.map(f32::to_bits));
    if lowered.view == NativeView::CubeArray {
        out.push(((number / 8) as f32).to_bits());
    }
    out.extend_from_slice(&row[3..]);
    Ok(())
}
