//! The text form: what ships is read, what is written is read back, and what is wrong is named with its place.
#![allow(clippy::unwrap_used)] // helpers of tests may, as tests do

mod common;

use std::{fs, path::Path};

use capture_format::{Case, CaseError, CaseOptions, Column, OracleSource, Trace, write_case};
use proptest::prelude::*;

#[test]
fn shipped_cases_are_read_and_written_back() {
    for path in common::shipped_cases() {
        let trace = Case::read(&path).unwrap();
        assert!(!trace.dispatches.is_empty(), "{}", path.display());
        for dispatch in &trace.dispatches {
            assert!(dispatch.expected.is_some() && !dispatch.texels.is_empty(), "{} {}", path.display(), dispatch.name);
        }
        let dir = tempfile::tempdir().unwrap();
        let written = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap();
        assert_eq!(Case::read(&written).unwrap(), trace, "{}", path.display());
    }
}

#[test]
fn values_of_shipped_cases() {
    let ties = Case::read(&common::traces().join("gfx1035/weight-rounding.toml")).unwrap();
    assert_eq!((ties.name.as_str(), ties.oracle.source), ("weight-rounding", OracleSource::Published));
    let dispatch = &ties.dispatches[0];
    assert_eq!(dispatch.op.to_string(), "image_sample_lz");
    assert_eq!(dispatch.coords.columns, [Column::U, Column::V]);
    assert_eq!(dispatch.coords.words[2], 0x3da0_a000);
    let expected = dispatch.expected.as_ref().unwrap();
    assert_eq!((expected.sample(2), expected.measured_channels(2)), (Some([0, 0x3c80_0000, 0, 0]), 0b0010));

    // A folder is read through its case.toml.
    let weights = Case::read(&common::traces().join("h200/weights")).unwrap();
    let file = fs::read(common::traces().join("h200/weights/sweep.expected.bin")).unwrap();
    let expected = weights.dispatches[0].expected.as_ref().unwrap();
    assert_eq!(expected.measured, None);
    assert_eq!(expected.words[5].to_le_bytes(), file[20..24]);
    assert_eq!(expected.words.len() * 4, file.len());
}

#[test]
fn a_written_case_reads_as_one_written_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let mut trace = common::small_trace();
    trace.summary = "a \"quote\"\n".to_owned();
    let options = CaseOptions { inline_words: 16, ..CaseOptions::default() };
    let path = write_case(&trace, dir.path(), &options).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        r#"schema = 1
name = "small"
summary = "a \"quote\"\n"

[oracle]
device = "by hand"
profile = "exact"
source = "synthetic"
note = ""

[[dispatch]]
name = "first"
op = "image_sample_lz"
grid = [2, 1, 1]
image = ["0x00000000", "0xc2400000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
sampler = ["0x00000092", "0x00fff000", "0x00500000", "0xc0000000"]
border_table = { rows = [
  ["0x00000000", "0x3f800000", "0x3f000000", "0x00000001"],
] }
dmask = 1
texels = { words = ["0x780f01e0", "0x00000000", "0x780f01e0"] }
coords = { columns = ["u", "v"], rows = [
  ["0x3f000000", "0x00000000"],
  ["0x3e800000", "0x7fc00001"],
] }
expected = { rows = [
  ["0x00000001", "*", "*", "0x00000004"],
  ["0x00000005", "0x00000006", "0x00000007", "0x00000008"],
] }

[[dispatch]]
name = "second"
op = "image_load"
grid = [2, 1, 1]
image = ["0x00000000", "0xc2400000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
texels = { words = ["0x780f01e0", "0x00000000", "0x780f01e0"] }
coords = { columns = ["x", "offset"], rows = [
  ["0x00000000", "0x00000001"],
  ["0x3f800000", "0x00123456"],
] }

[[dispatch]]
name = "third"
op = "image_sample_lz"
grid = [2, 1, 1]
image = ["0x00000000", "0xc2400000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
sampler = ["0x00000092", "0x00fff000", "0x00500000", "0xc0000000"]
border_table = { rows = [
  ["0x00000000", "0x3f800000", "0x3f000000", "0x00000001"],
] }
dmask = 1
texels = { file = "third.texels.bin" }
coords = { columns = ["u", "v"], rows = [
  ["0x3f000000", "0x00000000"],
  ["0x3e800000", "0x7fc00001"],
] }
expected = { rows = [
  ["0x00000001", "*", "*", "0x00000004"],
  ["0x00000005", "0x00000006", "0x00000007", "0x00000008"],
] }
"#
    );
    assert_eq!(fs::read(dir.path().join("third.texels.bin")).unwrap(), 0x1234_5678u32.to_le_bytes().repeat(300));
    assert_eq!(Case::read(&path).unwrap(), trace);
}

#[test]
fn a_table_is_written_as_tables_behind_its_dispatch() {
    let dir = tempfile::tempdir().unwrap();
    let mut trace = common::small_trace();
    trace.dispatches = vec![common::table_dispatch(), trace.dispatches.swap_remove(1)];
    let path = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let table = text.split("[[dispatch]]").nth(1).unwrap();
    assert_eq!(
        table,
        r#"
name = "table"
op = "image_sample_lz"
grid = [3, 1, 1]
samplers = [
  ["0x00000092", "0x00fff000", "0x00500000", "0xc0000000"],
  ["0x00000000", "0x00fff000", "0x00000000", "0x00000000"],
]
border_table = { rows = [
  ["0x00000000", "0x3f800000", "0x3f000000", "0x00000001"],
] }
dmask = 1
coords = { columns = ["image", "u", "v", "sampler"], rows = [
  ["0x00000002", "0x3f000000", "0x00000000", "0x00000001"],
  ["0x00000000", "0x3e800000", "0x3f800000", "0x00000000"],
  ["0x00000001", "0x00000000", "0x00000000", "0x00000001"],
] }

[[dispatch.images]]
words = ["0x00000000", "0xc2400000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
texels = { words = ["0x780f01e0", "0x00000000", "0x780f01e0"] }

[[dispatch.images]]
words = ["0x00000001", "0xc1e00000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
texels = { words = ["0x780f01e0", "0x00000000", "0x780f01e0"] }

[[dispatch.images]]
words = ["0x00000002", "0xc2400000", "0x8007c007", "0x900003ac", "0x00000000", "0x00000000", "0x00000000", "0x00000000"]
texels = { file = "table.texels-2.bin" }

"#
    );
    assert_eq!(Case::read(&path).unwrap(), trace);
}

#[test]
fn each_mistake_in_a_table_is_named_with_its_place() {
    const TABLE: &str = r#"schema = 1
name = "n"
oracle = { device = "d", profile = "exact", source = "synthetic" }
[[dispatch]]
name = "b"
op = "image_sample_lz"
grid = [2, 1, 1]
samplers = [[0, 1, 2, 3], [4, 5, 6, 7]]
coords = { columns = ["u", "image", "sampler"], rows = [[0.5, 1, 0], [1, "0x0", 1]] }
[[dispatch.images]]
words = [0, 1, 2, 3, 4, 5, 6, 7]
texels = { words = [1] }
[[dispatch.images]]
words = [8, 9, 10, 11, 12, 13, 14, 15]
texels = { words = [2, 3] }
"#;
    let dir = tempfile::tempdir().unwrap();
    let read = |text: &str| read_text(dir.path(), text);
    let good = &read(TABLE).unwrap().dispatches[0];
    assert_eq!((good.image_count(), good.sampler_at(1)), (2, Some(&[4, 5, 6, 7])));
    assert_eq!((good.image[7], good.texels[0], good.more_images[0].texels[1]), (7, 1, 3));
    assert_eq!(good.coords.words[..], [0x3f00_0000, 1, 0, 0x3f80_0000, 0, 1]);
    for (from, to, message) in [
        (
            "samplers = ",
            "sampler = [0, 1, 2, 3]\nsamplers = ",
            "8:11: dispatch \"b\": sampler: stands beside samplers, expected one of the two",
        ),
        ("[[0, 1, 2, 3], [4, 5, 6, 7]]", "[]", "8:12: dispatch \"b\": samplers: expected at least one entry"),
        ("[4, 5, 6, 7]", "[4, 5, 6]", "8:27: dispatch \"b\": samplers[1]: expected 4 numbers, found 3"),
        (
            "coords",
            "image = [0, 1, 2, 3, 4, 5, 6, 7]\ncoords",
            "9:9: dispatch \"b\": image: stands beside images, expected one of the two forms",
        ),
        (
            "coords",
            "texels = { words = [1] }\ncoords",
            "9:10: dispatch \"b\": texels: stands beside images, expected one of the two forms",
        ),
        ("[0.5, 1, 0]", "[0.5, 2, 0]", "9:10: dispatch \"b\": coords: row 0, column image: entry 2, but images has 2"),
        (
            "[0.5, 1, 0]",
            "[0.5, 0.5, 0]",
            "9:63: dispatch \"b\": coords.rows[0][1]: expected a 32-bit word, as \"0x…\" or as an integer, found a float",
        ),
        ("[0, 1, 2, 3, 4, 5, 6, 7]", "[0]", "11:9: dispatch \"b\": images[0].words: expected 8 numbers, found 1"),
        ("{ words = [2, 3] }", "{}", "15:10: dispatch \"b\": images[1].texels: expected words or file"),
        (
            "texels = { words = [1] }",
            "texel = 1",
            "12:1: dispatch \"b\": images[0].texel: unknown key, expected one of words, texels",
        ),
        (
            "\"image\"",
            "\"w\"",
            "9:10: dispatch \"b\": coords: 2 T#s in images, but no column image to choose among them",
        ),
    ] {
        assert!(TABLE.contains(from), "{from}");
        let error = read(&TABLE.replacen(from, to, 1)).expect_err(to).to_string();
        assert_eq!(error, format!("{}/case.toml:{message}", dir.path().display()));
    }
}

#[test]
fn nothing_is_replaced_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let trace = common::small_trace();
    let path = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap();
    let error = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap_err();
    assert!(matches!(&error, CaseError::Io { path: at, source, .. }
        if *at == path && source.kind() == std::io::ErrorKind::AlreadyExists));
    write_case(&trace, dir.path(), &CaseOptions { overwrite: true, ..CaseOptions::default() }).unwrap();
}

#[test]
fn equal_texels_share_a_file_and_like_names_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut trace = common::small_trace();
    let third = trace.dispatches.pop().unwrap();
    trace.dispatches.clear();
    for (name, word) in [("a/b", 1), ("A-B", 2), ("a b", 1), ("..", 3)] {
        let texels = vec![word; 300].into();
        trace.dispatches.push(capture_format::Dispatch { name: name.to_owned(), texels, ..third.clone() });
    }
    let path = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap();
    let mut names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["A-B-2.texels.bin", "a-b.texels.bin", "case.toml", "dispatch.texels.bin"]);
    assert_eq!(Case::read(&path).unwrap(), trace);
}

#[test]
fn a_trace_that_contradicts_itself_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut trace = common::small_trace();
    trace.dispatches[1].name = "first".to_owned();
    let error = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write the case \"small\": dispatch \"first\": name: a dispatch before this has the same name"
    );
    trace.dispatches[1].grid = [3, 1, 1];
    let error = write_case(&trace, dir.path(), &CaseOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write the case \"small\": dispatch \"first\": coords: expected 3 rows of 2 for a grid of [3, 1, 1], found 4 words"
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_traces_are_written_and_read_back(trace in common::trace(), inline_words in 0..300usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = write_case(&trace, dir.path(), &CaseOptions { inline_words, ..CaseOptions::default() }).unwrap();
        prop_assert_eq!(Case::read(&path).unwrap(), trace);
    }
}

/// A case that is right, with `{…}` marks where the tests put something wrong.
const GOOD: &str = r#"schema = 1
name = "n"
oracle = { device = "d", profile = "exact", source = "synthetic" }
[[dispatch]]
name = "ties"
op = "image_sample_lz"
grid = [2, 1, 1]
image = [0, 1, 2, 3, 4, 5, 6, 7]
sampler = [0, 1, 2, 3]
texels = { words = [1, 2] }
coords = { columns = ["u", "offset"], rows = [[0.5, 1], [1, "0x2"]] }
expected = { rows = [[1, 2, 3, 4], ["*", 2, 3, 4]] }
"#;

fn read_text(dir: &Path, text: &str) -> Result<Trace, CaseError> {
    fs::write(dir.join("case.toml"), text).unwrap();
    Case::read(dir)
}

/// Replaces the first `from` of the good case and gives the error without the folder's name.
fn error_of(from: &str, to: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("eight.bin"), [0; 8]).unwrap();
    fs::write(dir.path().join("seven.bin"), [0; 7]).unwrap();
    fs::write(dir.path().join("zeros.bin"), [0; 32]).unwrap();
    fs::write(dir.path().join("mask.bin"), [1, 16]).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    assert!(GOOD.contains(from), "{from}");
    let error = read_text(dir.path(), &GOOD.replacen(from, to, 1)).expect_err(to).to_string();
    error.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn each_mistake_is_named_with_its_place() {
    assert!(read_text(tempfile::tempdir().unwrap().path(), GOOD).is_ok());
    let mut wrong = Vec::new();
    for (from, to, message) in [
        ("schema = 1\n", "", "case.toml:1:1: missing key schema"),
        ("schema = 1", "schema = 2", "case.toml: schema 2 is newer than this program reads (up to 1)"),
        ("schema = 1", "schema = \"1\"", "case.toml:1:10: schema: expected the integer 1"),
        ("schema = 1", "schema = 0", "case.toml:1:10: schema: expected the integer 1"),
        (
            "schema = 1",
            "schema = 1\nshema = 1",
            "case.toml:2:1: shema: unknown key, expected one of schema, name, summary, oracle, dispatch, compute",
        ),
        ("name = \"n\"", "name = \"\"", "case.toml:2:8: name: a case needs a name"),
        ("name = \"n\"", "name = 3", "case.toml:2:8: name: expected a string, found an integer"),
        (
            "\"d\", ",
            "\"d\", devise = 1, ",
            "case.toml:3:26: oracle.devise: unknown key, expected one of device, profile, source, note",
        ),
        ("device = \"d\", ", "", "case.toml:3:10: missing key oracle.device"),
        (
            "\"synthetic\"",
            "\"guessed\"",
            "case.toml:3:54: oracle.source: expected measured, published or synthetic, found \"guessed\"",
        ),
        ("name = \"ties\"", "", "case.toml:4:1: dispatch 0: missing key name"),
        ("op = \"image_sample_lz\"", "", "case.toml:4:1: dispatch \"ties\": missing key op"),
        (
            "op = \"image_sample_lz\"",
            "op = \"image_sample_lzz\"",
            "case.toml:6:6: dispatch \"ties\": op: unknown op \"image_sample_lzz\", expected image_load, image_load_mip, or a form of image_sample or image_gather4 such as image_sample_lz",
        ),
        ("grid = [2, 1, 1]", "grid = [2, 1]", "case.toml:7:8: dispatch \"ties\": grid: expected 3 numbers, found 2"),
        (
            "grid = [2, 1, 1]",
            "grid = [2, 1, -1]",
            "case.toml:7:15: dispatch \"ties\": grid[2]: expected an integer from 0 to 4294967295, found -1",
        ),
        (
            "grid = [2, 1, 1]",
            "grid = [3, 1, 1]",
            "case.toml:11:46: dispatch \"ties\": coords.rows: expected 3 for the grid, found 2",
        ),
        (
            "grid = [2, 1, 1]",
            "grid = [4294967295, 4294967295, 4294967295]",
            "case.toml:11:46: dispatch \"ties\": coords.rows: no table holds a grid of that size",
        ),
        (
            "grid = [2, 1, 1]",
            "grid = [65536, 65536, 1]",
            "case.toml:11:46: dispatch \"ties\": coords.rows: expected 4294967296 for the grid, found 2",
        ),
        ("6, 7]", "6]", "case.toml:8:9: dispatch \"ties\": image: expected 8 numbers, found 7"),
        (
            "6, 7]",
            "6, 7.0]",
            "case.toml:8:31: dispatch \"ties\": image[7]: expected a 32-bit word, as \"0x…\" or as an integer, found a float",
        ),
        (
            "sampler = [0, 1, 2, 3]",
            "",
            "case.toml:4:1: dispatch \"ties\": sampler: image_sample_lz needs an S# (4 words)",
        ),
        ("image_sample_lz", "image_load", "case.toml:9:11: dispatch \"ties\": sampler: image_load takes no S#"),
        ("sampler", "dmask = 0\nsampler", "case.toml:9:9: dispatch \"ties\": dmask: expected 1 to 15"),
        (
            "sampler",
            "dmask = 300\nsampler",
            "case.toml:9:9: dispatch \"ties\": dmask: expected an integer from 1 to 15",
        ),
        (
            "sampler",
            "border_table = { rows = [[0, 1, 2]] }\nsampler",
            "case.toml:9:26: dispatch \"ties\": border_table.rows[0]: expected 4 numbers, found 3",
        ),
        (
            "words = [1, 2]",
            "words = [1, \"2\"]",
            "case.toml:10:24: dispatch \"ties\": texels.words[1]: expected a 32-bit word, as \"0x…\" or as an integer, found \"2\"",
        ),
        (
            "words = [1, 2]",
            "word = [1, 2]",
            "case.toml:10:12: dispatch \"ties\": texels.word: unknown key, expected one of words, file",
        ),
        ("words = [1, 2]", "", "case.toml:10:10: dispatch \"ties\": texels: expected words or file"),
        (
            "words = [1, 2]",
            "words = [], file = \"eight.bin\"",
            "case.toml:10:31: dispatch \"ties\": texels.file: stands beside words, expected one of the two",
        ),
        (
            "words = [1, 2]",
            "file = \"seven.bin\"",
            "case.toml:10:19: dispatch \"ties\": texels.file: 7 bytes, expected a multiple of 4",
        ),
        (
            "words = [1, 2]",
            "file = \"folder\"",
            "case.toml:10:19: dispatch \"ties\": texels.file: folder: cannot read: not a regular file",
        ),
        (
            "words = [1, 2]",
            "file = \"../eight.bin\"",
            "case.toml:10:19: dispatch \"ties\": texels.file: expected a path inside the folder of the case, relative, with / between parts, found \"../eight.bin\"",
        ),
        (
            "words = [1, 2]",
            "file = \"/eight.bin\"",
            "case.toml:10:19: dispatch \"ties\": texels.file: expected a path inside the folder of the case, relative, with / between parts, found \"/eight.bin\"",
        ),
        (
            "words = [1, 2]",
            "file = 'folder\\eight.bin'",
            "case.toml:10:19: dispatch \"ties\": texels.file: expected a path inside the folder of the case, relative, with / between parts, found \"folder\\\\eight.bin\"",
        ),
        (
            "\"u\"",
            "\"uu\"",
            "case.toml:11:23: dispatch \"ties\": coords.columns[0]: unknown column \"uu\", expected one of u v w, s t face, rx ry rz, x y z, layer, lod, bias, clamp, dudx dvdx dwdx dudy dvdy dwdy, offset, image, sampler",
        ),
        ("\"offset\"", "\"u\"", "case.toml:11:10: dispatch \"ties\": coords: column u stands twice"),
        (
            "[1, \"0x2\"]",
            "[1]",
            "case.toml:11:57: dispatch \"ties\": coords.rows[1]: expected 2 numbers (u, offset), found 1",
        ),
        (
            "[1, \"0x2\"]",
            "[1, 2.0]",
            "case.toml:11:61: dispatch \"ties\": coords.rows[1][1]: expected a 32-bit word, as \"0x…\" or as an integer, found a float",
        ),
        (
            "[1, \"0x2\"]",
            "[nan, 2]",
            "case.toml:11:58: dispatch \"ties\": coords.rows[1][0]: a NaN has many encodings, expected its bits as \"0x…\"",
        ),
        (
            "rows = [[0.5, 1], [1, \"0x2\"]]",
            "file = \"eight.bin\"",
            "case.toml:11:46: dispatch \"ties\": coords.file: eight.bin: expected 16 bytes for the grid, found 8",
        ),
        (
            "[\"*\", 2, 3, 4]",
            "[\"*\", 2, 3]",
            "case.toml:12:36: dispatch \"ties\": expected.rows[1]: expected 4 numbers (X, Y, Z, W) or \"*\", found 3",
        ),
        (
            "[\"*\", 2, 3, 4]",
            "[\"x\", 2, 3, 4]",
            "case.toml:12:37: dispatch \"ties\": expected.rows[1][0]: expected a decimal number or \"0x…\" bits, found \"x\"",
        ),
        (
            "rows = [[1, 2, 3, 4], [\"*\", 2, 3, 4]]",
            "file = \"zeros.bin\", measured = \"mask.bin\"",
            "case.toml:12:12: dispatch \"ties\": expected: sample 1: mask of measured channels 0x10, expected 0 to 15",
        ),
        (
            "[\"*\", 2, 3, 4]]",
            "[\"*\", 2, 3, 4]], measured = \"mask.bin\"",
            "case.toml:12:64: dispatch \"ties\": expected.measured: goes with file; in rows, \"*\" is what was not measured",
        ),
        (
            "schema = 1",
            "schema = ",
            "case.toml:1:10: not valid TOML: string values must be quoted, expected literal string",
        ),
    ] {
        let error = error_of(from, to);
        if error != message {
            wrong.push(format!("{from} -> {to}\n  found    {error}\n  expected {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_dispatches_of_one_name_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let second = &GOOD[GOOD.find("[[dispatch]]").unwrap()..];
    let error = read_text(dir.path(), &format!("{GOOD}{second}")).unwrap_err().to_string();
    assert!(
        error.ends_with("case.toml:14:8: dispatch \"ties\": name: a dispatch before this has the same name"),
        "{error}"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = Case::read(&dir.path().join("none.toml")).unwrap_err();
    assert!(error.to_string().contains("none.toml: cannot read: "), "{error}");
    let error = Case::read(dir.path()).unwrap_err();
    assert!(error.to_string().contains("case.toml: cannot read: "), "{error}");
    fs::write(dir.path().join("case.toml"), b"name = \"\xff\"").unwrap();
    let error = Case::read(dir.path()).unwrap_err();
    assert!(error.to_string().contains("case.toml: cannot read: stream did not contain valid UTF-8"), "{error}");
}

#[test]
fn a_long_sparse_file_is_refused_by_its_length_alone() {
    let dir = tempfile::tempdir().unwrap();
    let case = fs::File::create(dir.path().join("case.toml")).unwrap();
    case.set_len(capture_format::case::MAX_CASE_BYTES + 1).unwrap();
    let error = Case::read(dir.path()).unwrap_err();
    assert!(matches!(error, CaseError::TooLong { bytes, .. } if bytes == capture_format::case::MAX_CASE_BYTES + 1));
    // 100 GiB of coordinates where 16 bytes are expected.
    fs::File::create(dir.path().join("long.bin")).unwrap().set_len(100 << 30).unwrap();
    let text = GOOD.replace("rows = [[0.5, 1], [1, \"0x2\"]]", "file = \"long.bin\"");
    let error = read_text(dir.path(), &text).unwrap_err().to_string();
    assert!(error.ends_with("long.bin: expected 16 bytes for the grid, found 107374182400"), "{error}");
}
