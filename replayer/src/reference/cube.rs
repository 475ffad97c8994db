//! Cubes: faces, and the texels beyond a face's edges.
//!
//! The face coordinates are those of the cube instructions: `s`, `t` in 1..2 and the face number, +X, -X, +Y, -Y, +Z, -Z.

use std::borrow::Cow;

use capture_format::{Column, Coords, LodSource, OpKind};

use crate::{
    reference::footprint::whole_layer,
    rules::{CubeDirection, Rules},
    state::{State, View},
};

/// Which direction the s axis, the t axis and the outward normal of each face have: axis 0 to 2 (x, y, z) and sign.
pub const FACES: [[(usize, i32); 3]; 6] = [
    [(2, -1), (1, -1), (0, 1)],
    [(2, 1), (1, -1), (0, -1)],
    [(0, 1), (2, 1), (1, 1)],
    [(0, 1), (2, -1), (1, -1)],
    [(0, 1), (1, -1), (2, 1)],
    [(0, -1), (1, -1), (2, -1)],
];

/// What lies beyond an edge of a face: the face there, and how a texel's place on it follows from the place along the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The face beyond the edge.
    pub face: u32,
    /// Whether the edge runs along the neighbour's s axis (else along t).
    pub along_s: bool,
    /// Whether the place along the edge counts the other way there.
    pub reversed: bool,
    /// Whether the edge is at the neighbour's last texel (else at its first), across the edge's direction.
    pub at_last: bool,
}

/// The four edges of each face: s below 0, s beyond the last, t below 0, t beyond the last.
pub const NEIGHBOURS: [[Neighbour; 4]; 6] = neighbours();

const fn neighbours() -> [[Neighbour; 4]; 6] {
    let none = Neighbour { face: 0, along_s: false, reversed: false, at_last: false };
    let mut all = [[none; 4]; 6];
    let mut face = 0;
    while face < 6 {
        let mut edge = 0;
        while edge < 4 {
            all[face][edge] = neighbour(face, edge);
            edge += 1;
        }
        face += 1;
    }
    all
}

/// Folds the cube's surface over an edge: the neighbour's normal is the direction that the edge lies in, and this face's
/// normal is the direction that leads back across the edge.
const fn neighbour(face: usize, edge: usize) -> Neighbour {
    let [s, t, normal] = FACES[face];
    let (across, along) = if edge < 2 { (s, t) } else { (t, s) };
    let sign = if edge.is_multiple_of(2) { -1 } else { 1 };
    let mut found = 0;
    while found < 6 {
        let outward = FACES[found][2];
        if outward.0 == across.0 && outward.1 == across.1 * sign {
            break;
        }
        found += 1;
    }
    let [other_s, other_t, _] = FACES[found];
    let along_s = other_s.0 == along.0;
    let (other_along, other_across) = if along_s { (other_s, other_t) } else { (other_t, other_s) };
    Neighbour { face: found as u32, along_s, reversed: other_along.1 != along.1, at_last: other_across.1 == normal.1 }
}

/// The face and texel that indices up to one texel beyond a face's edges name, on faces of `size` texels; `None` beyond a
/// corner, where no texel is.
#[inline(always)]
#[must_use]
pub fn across_edges(face: u32, i: i32, j: i32, size: u32) -> Option<(u32, u32, u32)> {
    let last = size as i32 - 1;
    let (out_s, out_t) = (i < 0 || i > last, j < 0 || j > last);
    let edge = match (out_s, out_t) {
        (false, false) => return Some((face, i as u32, j as u32)),
        (true, true) => return None,
        (true, false) => usize::from(i > last),
        (false, true) => 2 + usize::from(j > last),
    };
    let to = NEIGHBOURS[face as usize][edge];
    let along = if out_s { j } else { i };
    let along = if to.reversed { last - along } else { along } as u32;
    let across = if to.at_last { last as u32 } else { 0 };
    Some(if to.along_s { (to.face, along, across) } else { (to.face, across, along) })
}

/// Turns a direction (FP32 bits) into `s`, `t` (1 to 2) and face, as shaders do before a sampling instruction.
///
/// NaN counts as no extent; of equal extents z goes before y before x. A minor coordinate that comes out as NaN is in the
/// face's middle.
#[must_use]
pub fn face_coordinates(rules: &Rules, direction: [u32; 3]) -> [u32; 3] {
    let direction = direction.map(flushed);
    let extent = |value: f32| if value.is_nan() { -1.0 } else { value.abs() };
    let direction = match rules.cube_direction {
        CubeDirection::Quotient | CubeDirection::HalfQuotient => direction,
        CubeDirection::Reciprocal => {
            let major = direction.iter().fold(f32::NAN, |most, value| most.max(value.abs()));
            let reciprocal = flushed((1.0 / major).to_bits());
            direction.map(|value| flushed((value * reciprocal).to_bits()))
        }
    };
    let [x, y, z] = direction.map(extent);
    let axis = if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    };
    let face = 2 * axis + usize::from(direction[axis] < 0.0);
    let [s, t, _] = FACES[face];
    let along = |(minor, sign): (usize, i32)| {
        let minor = f64::from(direction[minor]) * f64::from(sign);
        let major = direction[axis].abs();
        let quotient = match rules.cube_direction {
            CubeDirection::Quotient => f64::from((minor / f64::from(major)) as f32),
            CubeDirection::Reciprocal => minor,
            CubeDirection::HalfQuotient => {
                let half = if major > 0.0 { 0.5 / major } else { 0.0 };
                let place = minor as f32 * half + 0.5;
                // The instruction's 1..2 has not all of the bits: a place is handed on as its negative, see `on_face`. A NaN
                // is at the face's edge.
                return (if place.is_nan() { 0.0 } else { -place }).to_bits();
            }
        };
        let place = if quotient.is_nan() { 1.5 } else { quotient * 0.5 + 1.5 };
        match rules.cube_direction {
            CubeDirection::Quotient | CubeDirection::HalfQuotient => (place as f32).to_bits(),
            // Between two FP32 values nothing differs that a step of the coordinate grid could tell, when cut.
            CubeDirection::Reciprocal => round_down(place).to_bits(),
        }
    };
    [along(s), along(t), (face as f32).to_bits()]
}

/// A value without denormals.
fn flushed(bits: u32) -> f32 {
    let value = f32::from_bits(bits);
    if value.is_subnormal() { 0.0f32.copysign(value) } else { value }
}

/// The largest FP32 value that is not above a positive value.
fn round_down(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

/// Coordinates with `s t face` where `rx ry rz` (and the layer of a cube array) were recorded; others as they are.
///
/// Derivatives of a direction are not those of `s` and `t`: where they are given, the columns are left, to be refused.
#[must_use]
pub fn with_faces<'a>(rules: &Rules, state: &State, coords: &'a Coords) -> Cow<'a, Coords> {
    let direction = [Column::Rx, Column::Ry, Column::Rz].map(|column| coords.index_of(column));
    let ([Some(rx), Some(ry), Some(rz)], View::Cube) = (direction, state.view) else { return Cow::Borrowed(coords) };
    if state.op.kind == OpKind::Load || state.op.lod == LodSource::Derivatives {
        return Cow::Borrowed(coords);
    }
    let layer = coords.index_of(Column::Layer);
    let mut columns = coords.columns.clone();
    for (place, column) in [(rx, Column::S), (ry, Column::T), (rz, Column::Face)] {
        columns[place] = column;
    }
    if let Some(layer) = layer {
        columns.remove(layer);
    }
    let cubes = (state.last_layer + 1) / 6;
    let mut words = Vec::with_capacity(coords.words.len());
    for row in coords.words.chunks_exact(coords.columns.len()) {
        let [s, t, face] = face_coordinates(rules, [row[rx], row[ry], row[rz]]);
        let cube = layer.map_or(0, |at| whole_layer(rules, state.trunc_coord, row[at]).min(cubes.saturating_sub(1)));
        let face = (f32::from_bits(face) + (8 * cube) as f32).to_bits();
        for (at, &word) in row.iter().enumerate() {
            match at {
                _ if at == rx => words.push(s),
                _ if at == ry => words.push(t),
                _ if at == rz => words.push(face),
                _ if Some(at) == layer => {}
                _ => words.push(word),
            }
        }
    }
    Cow::Owned(Coords { columns, words: words.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Profile;

    /// The centre of a texel as a point on the cube's surface, in halves of a texel.
    fn point(face: u32, i: i32, j: i32, size: i32) -> [i32; 3] {
        let [s, t, normal] = FACES[face as usize];
        let mut p = [0; 3];
        p[normal.0] = normal.1 * size;
        p[s.0] = s.1 * (2 * i + 1 - size);
        p[t.0] = t.1 * (2 * j + 1 - size);
        p
    }

    #[test]
    fn texels_beyond_an_edge_are_the_nearest_on_the_neighbour() {
        let size = 4;
        for face in 0..6 {
            for k in 0..size {
                for (i, j) in [(-1, k), (size, k), (k, -1), (k, size)] {
                    let (other, a, b) = across_edges(face, i, j, size as u32).unwrap();
                    assert_ne!(other, face);
                    // The texel inside the edge and the one beyond it lie half a texel from the edge each: they differ by
                    // one half-step in two directions and by none in the third.
                    let inside = point(face, i.clamp(0, size - 1), j.clamp(0, size - 1), size);
                    let beyond = point(other, a as i32, b as i32, size);
                    let mut apart: Vec<i32> = (0..3).map(|n| (inside[n] - beyond[n]).abs()).collect();
                    apart.sort_unstable();
                    assert_eq!(apart, [0, 1, 1], "face {face} ({i}, {j}) -> face {other} ({a}, {b})");
                }
            }
            assert_eq!(across_edges(face, -1, size, size as u32), None);
            assert_eq!(across_edges(face, 2, 3, size as u32), Some((face, 2, 3)));
        }
    }

    #[test]
    fn a_half_quotient_is_rounded_on_the_way() {
        let rules = Rules { cube_direction: CubeDirection::HalfQuotient, ..crate::rules::Profile::EXACT.rules };
        let direction = [0x3f66_6666, 0x3e99_999a, 0x3e4c_cccd];
        // Handed on as negatives.
        assert_eq!(face_coordinates(&rules, direction), [0xbec7_1c72, 0xbeaa_aaaa, 0]);
    }

    fn on_face(rules: &Rules, direction: [f32; 3]) -> [f32; 3] {
        face_coordinates(rules, direction.map(f32::to_bits)).map(f32::from_bits)
    }

    #[test]
    fn directions_name_face_centres_and_ties_prefer_z_then_y() {
        for rules in [Profile::GFX1035.rules, Profile::H200.rules] {
            for (direction, face) in [
                ([1.0, 0.0, 0.0], 0.0f32),
                ([-2.0, 0.0, 0.0], 1.0),
                ([0.0, 3.0, 0.0], 2.0),
                ([0.0, -1.0, 0.0], 3.0),
                ([0.0, 0.0, 1.0], 4.0),
                ([0.0, 0.0, -1.0], 5.0),
            ] {
                assert_eq!(on_face(&rules, direction), [1.5, 1.5, face]);
            }
            assert_eq!(on_face(&rules, [1.0, 1.0, 1.0])[2], 4.0);
            assert_eq!(on_face(&rules, [1.0, 1.0, 0.5])[2], 2.0);
            assert_eq!(on_face(&rules, [0.5, 0.25, 1.0]), [1.75, 1.375, 4.0]);
        }
    }

    /// Faces that an H200 chose for directions that are no directions.
    #[test]
    fn special_directions_have_a_face() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        for (direction, face) in [
            ([0.0, 0.0, 0.0], 4.0f32),
            ([0.0, 1.0, inf], 2.0),
            ([1.0, nan, inf], 0.0),
            ([0.5, inf, -inf], 0.0),
            ([inf, -1.0, 0.5], 4.0),
            ([-inf, -1.0, nan], 2.0),
            ([nan, -1.0, 1e-40], 3.0),
            ([nan, 1e-38, -1.0], 5.0),
            ([0.0, -1e-45, 0.5], 4.0),
            ([-1.0, 1e-45, nan], 1.0),
            ([0.5, -3e38, 0.0], 4.0),
            ([nan, nan, nan], 4.0),
        ] {
            let got = on_face(&Profile::H200.rules, direction);
            assert_eq!(got[2], face, "{direction:?}");
            assert!((1.0..=2.0).contains(&got[0]) && (1.0..=2.0).contains(&got[1]), "{direction:?} {got:?}");
        }
    }

    #[test]
    fn a_quotient_is_rounded_once_and_a_reciprocal_before() {
        let (minor, major) = (0.7f32, 1.3f32);
        let reciprocal = f64::from(minor * (1.0 / major)) * 0.5 + 1.5;
        let [s, ..] = on_face(&Profile::H200.rules, [minor, 0.0, major]);
        assert!(f64::from(s) <= reciprocal && reciprocal < f64::from(s.next_up()));
        let quotient = (f64::from(minor / major) * 0.5 + 1.5) as f32;
        assert_eq!(on_face(&Profile::EXACT.rules, [minor, 0.0, major])[0], quotient);
    }
}
