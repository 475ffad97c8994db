//! The buffers of a table module: texels of all images, a row a state, operands with the number of the state.

use std::collections::HashMap;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::{in_module_order, specialization::state_row};
use crate::{
    materialise::MAX_TEXELS, reference::cube::with_faces, refusal::Refusal, rules::Rules, state::State, table::Parts,
};

pub(super) struct Table {
    /// Texels of every image in use, equal ones once.
    pub texels: Vec<u32>,
    /// [`super::specialization::ROW_WORDS`] a part.
    pub states: Vec<u32>,
    /// A row a sample: the operands in the order of the module, and the number of the part.
    pub operands: Vec<u32>,
}

impl Table {
    /// # Errors
    /// Texels or operands that do not fit a state, and more than 2^29 texels in all.
    pub fn new(rules: &Rules, parts: &Parts<'_>, states: &[State]) -> Result<Self, Refusal> {
        // Whether all fits is known before anything is copied.
        parts.check(rules, states)?;
        let (starts, texels) = texels(parts)?;
        let rows = states.iter().zip(starts).flat_map(|(state, start)| state_row(state, start)).collect();
        let operands = operands(rules, parts, states);
        Ok(Self { texels, states: rows, operands })
    }
}

/// Where the texels of each part start, and the texels of all.
fn texels(parts: &Parts<'_>) -> Result<(Vec<u32>, Vec<u32>), Refusal> {
    let mut all: Vec<u32> = Vec::new();
    // A part has the samples of an image with one S#, so images come up again; and images can be equal.
    let mut of_entry: HashMap<u32, u32> = HashMap::new();
    let mut of_content: HashMap<(u128, usize), u32> = HashMap::new();
    let mut starts = Vec::with_capacity(parts.parts().len());
    for part in parts.parts() {
        if let Some(&start) = of_entry.get(&part.entries.image) {
            starts.push(start);
            continue;
        }
        let texels = part.head().texels.as_slice();
        let content = (xxh3_128(bytemuck::cast_slice(texels)), texels.len());
        let start = match of_content.get(&content) {
            Some(&start) => start,
            None => {
                let end = all.len() + texels.len();
                if end as u64 > MAX_TEXELS {
                    return Err(Refusal {
                        field: "images".to_owned(),
                        bits: None,
                        value: format!("{end} texels and more"),
                        reason: "the images that a dispatch uses have at most 2^29 texels together".to_owned(),
                    });
                }
                // Below 2^29.
                let start = all.len() as u32;
                all.extend_from_slice(texels);
                of_content.insert(content, start);
                start
            }
        };
        of_entry.insert(part.entries.image, start);
        starts.push(start);
    }
    Ok((starts, all))
}

/// Rows that one task writes.
const ROWS: usize = 1 << 14;

fn operands(rules: &Rules, parts: &Parts<'_>, states: &[State]) -> Vec<u32> {
    let Some(first) = states.first() else { return Vec::new() };
    let coords = &parts.whole().coords;
    let order = State::operands(first.op, first.view);
    let stride = order.len() + 1;
    let mut operands = vec![0; coords.rows() * stride];
    let places: Vec<usize> = order.iter().filter_map(|&column| coords.index_of(column)).collect();
    if places.len() == order.len() {
        let width = coords.columns.len();
        let rows = coords.words.par_chunks(ROWS * width).zip(parts.numbers().par_chunks(ROWS));
        operands.par_chunks_mut(ROWS * stride).zip(rows).for_each(|(operands, (rows, numbers))| {
            for ((operands, row), &number) in
                operands.chunks_exact_mut(stride).zip(rows.chunks_exact(width)).zip(numbers)
            {
                for (word, &place) in operands.iter_mut().zip(&places) {
                    *word = row[place];
                }
                operands[stride - 1] = number;
            }
        });
        return operands;
    }
    // Directions become faces by the state of their part.
    for (number, (dispatch, state)) in parts.dispatches().iter().zip(states).enumerate() {
        let coords = &*with_faces(rules, state, &dispatch.coords);
        let rows = in_module_order(state, coords);
        for (sample, row) in parts.samples(number).zip(rows.chunks_exact(stride - 1)) {
            let operands = &mut operands[sample * stride..][..stride];
            operands[..stride - 1].copy_from_slice(row);
            operands[stride - 1] = number as u32;
        }
    }
    operands
}
