//! Random traces and the cases that ship, for the tests of both forms.
#![allow(dead_code)] // each test program uses a part

use std::path::PathBuf;

use capture_format::{Column, Coords, Dispatch, Expected, Op, OpKind, Oracle, OracleSource, TableImage, Trace, Words};
use proptest::{collection::vec, option, prelude::*, sample::subsequence};

/// The folder of the cases that ship.
pub fn traces() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../traces")
}

/// Path of every case that ships, sorted.
pub fn shipped_cases() -> Vec<PathBuf> {
    let mut cases = Vec::new();
    let mut folders = vec![traces()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml")
                && path.file_name().is_some_and(|name| name != "expectations.toml")
            {
                cases.push(path);
            }
        }
    }
    cases.sort();
    assert!(cases.len() >= 37, "only {} cases found", cases.len());
    cases
}

/// Text with what is awkward in file names, TOML and msgpack.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z0-9-]{1,12}", 1 => "[ -~]{1,8}", 1 => ".{1,8}", 1 => Just("\u{7f}\u{0}\"\\\r\n\t../é".to_owned())]
}

fn dispatch(name: String) -> impl Strategy<Value = Dispatch> {
    let ops: Vec<Op> = Op::all().collect();
    let grid = [1..5u32, 1..4, 1..3];
    let operands: Vec<Column> = Column::ALL.iter().copied().filter(|column| !column.chooses_entry()).collect();
    // Further entries of the tables; mostly there are none.
    let more = || prop_oneof![3 => Just(0usize), 1 => 1..4usize];
    (proptest::sample::select(ops), grid, subsequence(operands, 1..=4), more(), more()).prop_flat_map(
        move |(op, grid, mut columns, more_images, more_samplers)| {
            let more_samplers = if op.kind == OpKind::Load { 0 } else { more_samplers };
            if more_images > 0 {
                columns.insert(0, Column::Image);
            }
            if more_samplers > 0 {
                columns.push(Column::Sampler);
            }
            let samples = grid.iter().product::<u32>() as usize;
            let name = name.clone();
            let sampler = any::<[u32; 4]>().prop_map(move |words| (op.kind != OpKind::Load).then_some(words));
            let measured = vec(0..16u8, samples).prop_map(|mask| mask.iter().any(|&m| m != 15).then_some(mask));
            let measured = prop_oneof![Just(None), measured];
            let expected = option::of((vec(any::<u32>(), samples * 4), measured));
            // Of few values, so that equal blobs come up.
            let texels = || prop_oneof![vec(any::<u32>(), 0..200), vec(0..2u32, 0..3)];
            let image = (any::<[u32; 8]>(), texels());
            let image = image.prop_map(|(words, texels)| TableImage { words, texels: texels.into() });
            (
                any::<[u32; 8]>(),
                (sampler, vec(image, more_images), vec(any::<[u32; 4]>(), more_samplers)),
                vec(any::<[u32; 4]>(), 0..3),
                option::of(1..16u8),
                texels(),
                vec(any::<u32>(), samples * columns.len()),
                expected,
            )
                .prop_map(
                    move |(image, (sampler, images, samplers), border_table, dmask, texels, mut coords, expected)| {
                        for row in coords.chunks_exact_mut(columns.len()) {
                            for (word, column) in row.iter_mut().zip(&columns) {
                                match column {
                                    Column::Image => *word %= images.len() as u32 + 1,
                                    Column::Sampler => *word %= samplers.len() as u32 + 1,
                                    _ => {}
                                }
                            }
                        }
                        Dispatch {
                            name: name.clone(),
                            op,
                            grid,
                            image,
                            sampler,
                            more_images: images,
                            more_samplers: samplers,
                            border_table,
                            dmask,
                            texels: texels.into(),
                            coords: Coords { columns: columns.clone(), words: coords.into() },
                            expected: expected.map(|(mut words, measured)| {
                                for (sample, mask) in measured.iter().flatten().enumerate() {
                                    (0..4).filter(|c| mask & (1 << c) == 0).for_each(|c| words[sample * 4 + c] = 0);
                                }
                                Expected { words: words.into(), measured }
                            }),
                        }
                    },
                )
        },
    )
}

/// Valid traces of up to three dispatches.
pub fn trace() -> impl Strategy<Value = Trace> {
    let dispatches = proptest::collection::btree_set(text(), 0..4)
        .prop_flat_map(|names| names.into_iter().map(dispatch).collect::<Vec<_>>());
    let source = proptest::sample::select(OracleSource::ALL.to_vec());
    ([text(), text(), text(), text(), text()], source, dispatches).prop_map(
        |([name, summary, device, profile, note], source, dispatches)| Trace {
            name,
            summary,
            oracle: Oracle { device, profile, source, note },
            dispatches,
        },
    )
}

/// A dispatch with three T#s, two of which share texels, and two S#s.
pub fn table_dispatch() -> Dispatch {
    let first = small_trace().dispatches.swap_remove(0);
    let image = |words: [u32; 8], texels: Words| TableImage { words, texels };
    Dispatch {
        name: "table".to_owned(),
        grid: [3, 1, 1],
        more_images: vec![
            image([1, 0xc1e0_0000, 0x8007_c007, 0x9000_03ac, 0, 0, 0, 0], first.texels.clone()),
            image([2, 0xc240_0000, 0x8007_c007, 0x9000_03ac, 0, 0, 0, 0], (0..300).collect::<Vec<u32>>().into()),
        ],
        more_samplers: vec![[0, 0x00ff_f000, 0, 0]],
        coords: Coords {
            columns: vec![Column::Image, Column::U, Column::V, Column::Sampler],
            words: vec![2, 0x3f00_0000, 0, 1, 0, 0x3e80_0000, 0x3f80_0000, 0, 1, 0, 0, 1].into(),
        },
        expected: None,
        ..first
    }
}

/// A small trace with all that a dispatch without tables may have.
pub fn small_trace() -> Trace {
    let first = Dispatch {
        name: "first".to_owned(),
        op: Op::SAMPLE_LZ,
        grid: [2, 1, 1],
        image: [0, 0xc240_0000, 0x8007_c007, 0x9000_03ac, 0, 0, 0, 0],
        sampler: Some([0x92, 0x00ff_f000, 0x0050_0000, 0xc000_0000]),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: vec![[0, 0x3f80_0000, 0x3f00_0000, 1]],
        dmask: Some(1),
        texels: vec![0x780f_01e0, 0, 0x780f_01e0].into(),
        coords: Coords {
            columns: vec![Column::U, Column::V],
            words: vec![0x3f00_0000, 0, 0x3e80_0000, 0x7fc0_0001].into(),
        },
        expected: Some(Expected { words: vec![1, 0, 0, 4, 5, 6, 7, 8].into(), measured: Some(vec![0b1001, 0b1111]) }),
    };
    let second = Dispatch {
        name: "second".to_owned(),
        op: Op::LOAD,
        sampler: None,
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        coords: Coords { columns: vec![Column::X, Column::Offset], words: vec![0, 1, 0x3f80_0000, 0x0012_3456].into() },
        expected: None,
        ..first.clone()
    };
    // Long and regular, so that it is worth compressing.
    let third = Dispatch { name: "third".to_owned(), texels: vec![0x1234_5678; 300].into(), ..first.clone() };
    Trace {
        name: "small".to_owned(),
        summary: "one of each".to_owned(),
        oracle: Oracle {
            device: "by hand".to_owned(),
            profile: "exact".to_owned(),
            source: OracleSource::Synthetic,
            note: String::new(),
        },
        dispatches: vec![first, second, third],
    }
}
