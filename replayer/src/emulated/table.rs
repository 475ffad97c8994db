//! The buffers of a table module: texels of all images, a row a state, operands with the number of the state.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::{
    in_module_order,
    specialization::{ROW_WORDS, state_row},
};
use crate::{
    materialise::MAX_TEXELS, reference::cube::with_faces, refusal::Refusal, rules::Rules, state::State, table::Parts,
};

pub(super) struct Table {
    /// Texels of every image in use, equal ones once.
    pub texels: Vec<u32>,
    /// [`ROW_WORDS`] a part.
    pub states: Vec<u32>,
    /// A row a sample: the operands in the order of the module, and the number of the part.
    pub operands: Vec<u32>,
}

impl Table {
    /// # Errors
    /// Texels or operands that do not fit a state, and more than 2^29 texels in all.
    pub fn new(rules: &Rules, parts: &Parts<'_>, states: &[State]) -> Result<Self, Refusal> {
        let mut table =
            Self { texels: Vec::new(), states: Vec::with_capacity(states.len() * ROW_WORDS), operands: Vec::new() };
        // A part has the samples of an image with one S#, so images come up again.
        let mut starts: HashMap<(u128, usize), u32> = HashMap::new();
        let mut of_entry: HashMap<u32, u32> = HashMap::new();
        // Whether the texels and operands fit is known before anything is copied.
        parts.reference(rules, states)?;
        for (number, (part, state)) in parts.parts().iter().zip(states).enumerate() {
            let dispatch = part.dispatch();
            let start = match of_entry.get(&part.entries.image) {
                Some(&start) => start,
                None => {
                    let texels = dispatch.texels.as_slice();
                    let key = (xxh3_128(bytemuck::cast_slice(texels)), texels.len());
                    let next = table.texels.len();
                    if !starts.contains_key(&key) && (next + texels.len()) as u64 > MAX_TEXELS {
                        return Err(Refusal {
                            field: "images".to_owned(),
                            bits: None,
                            value: format!("{} texels and more", next + texels.len()),
                            reason: "the images that a dispatch uses have at most 2^29 texels together".to_owned(),
                        });
                    }
                    // At most 2^29.
                    let start = *starts.entry(key).or_insert_with(|| {
                        table.texels.extend_from_slice(texels);
                        next as u32
                    });
                    of_entry.insert(part.entries.image, start);
                    start
                }
            };
            table.states.extend(state_row(state, start));
            table.put_operands(rules, parts, number, state);
        }
        Ok(table)
    }

    fn put_operands(&mut self, rules: &Rules, parts: &Parts<'_>, number: usize, state: &State) {
        let part = &parts.parts()[number];
        let coords = &*with_faces(rules, state, &part.dispatch().coords);
        let ordered = in_module_order(state, coords);
        let columns = State::operands(state.op, state.view).len();
        let stride = columns + 1;
        if self.operands.is_empty() {
            self.operands = vec![0; parts.whole().coords.rows() * stride];
        }
        for (sample, row) in ordered.chunks_exact(columns).enumerate() {
            let at = part.number(sample) * stride;
            let place = &mut self.operands[at..at + stride];
            place[..columns].copy_from_slice(row);
            place[columns] = number as u32;
        }
    }
}
