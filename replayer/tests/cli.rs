//! The program on the traces that ship, with the paths that need no driver.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod recorded;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

fn traces(part: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("traces").join(part).display().to_string()
}

fn replayer(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_replayer")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)))
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

#[test]
fn every_shipped_dispatch_matches_by_the_reference() {
    let output = replayer(&["run", &traces(""), "--path", "reference", "--json", "-"]);
    let results = json(&output);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(results["totals"]["match"].as_u64().unwrap() >= 46);
    assert_eq!(results["dispatches"].as_array().unwrap().len() as u64, results["totals"]["match"].as_u64().unwrap());
}

#[test]
fn the_embedded_executor_gives_the_published_results() {
    let arguments = ["run", &traces("gfx1035"), "--executor", "embedded", "--json", "-"];
    let output = replayer(&arguments);
    let results = json(&output);
    assert_eq!(output.status.code(), Some(0), "{results:#}");
    assert!(results["dispatches"].as_array().unwrap().iter().all(|d| d["executor"] == "embedded"));
}

#[test]
fn a_wrong_profile_mismatches_with_words_floats_and_distances() {
    let output =
        replayer(&["run", &traces("gfx1035/weight-rounding.toml"), "--path", "reference", "--profile", "exact"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    let line = shown.lines().find(|line| line.contains("(0,0,0)")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("expected 0x3c000000 0x1p-7"), "{line}");
    assert!(line.trim_end().ends_with("ULP"), "{line}");
    assert!(!shown.contains('\x1b'), "colours, and no terminal");
}

#[test]
fn two_paths_need_no_oracle() {
    let arguments =
        ["run", &traces("gfx1035"), "--path", "emulated", "--against", "reference", "--executor", "embedded"];
    let output = replayer(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let same = replayer(&["run", &traces("gfx1035"), "--path", "reference", "--against", "reference"]);
    assert_eq!(same.status.code(), Some(64));
}

#[test]
fn pack_and_unpack_keep_the_content() {
    let folder = Folder::new();
    let case = traces("gfx1035/weight-rounding.toml");
    let packed = replayer(&["pack", &case, "-o", &folder.name("a.texeltrace")]);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed.stderr));
    let unpacked = replayer(&["unpack", &folder.name("a.texeltrace"), "-o", &folder.name("case")]);
    assert_eq!(unpacked.status.code(), Some(0), "{}", text(&unpacked.stderr));
    let read = |path: &Path| capture_format::Case::read(path).unwrap();
    assert_eq!(read(&folder.path("case")), read(Path::new(&case)));

    let again = replayer(&["pack", &case, "-o", &folder.name("a.texeltrace")]);
    assert_eq!(again.status.code(), Some(64));
    assert!(text(&again.stderr).ends_with("the file is there already, --force replaces it\n"));
    assert_eq!(replayer(&["pack", &case, "-o", &folder.name("a.texeltrace"), "--force"]).status.code(), Some(0));
}

#[test]
fn info_shows_every_field_with_its_bits() {
    let case = traces("gfx1035/weight-rounding.toml");
    let shown = text(&replayer(&["info", &case, "--dispatch", "ties"]).stdout);
    for part in
        ["word1[28:20]    FORMAT", "43 ", "word2[21:20]    XY_MAG_FILTER", "word0[2:0]      CLAMP_X", "image_sample_lz"]
    {
        let part: Vec<_> = part.split_whitespace().collect();
        let found = shown.lines().any(|line| part.iter().all(|p| line.contains(p)));
        assert!(found, "{part:?} in {shown}");
    }
    let all = json(&replayer(&["info", &case, "--json"]));
    let dispatch = &all["dispatches"][0];
    let bits = |kind: &str, words: usize| {
        let fields = dispatch[kind]["fields"].as_array().unwrap();
        let mut seen = vec![0u32; words];
        for field in fields {
            let (word, range) = field["bits"].as_str().unwrap().split_once('[').unwrap();
            let range = range.strip_suffix(']').unwrap();
            let (high, low) = range.split_once(':').unwrap_or((range, range));
            let (high, low): (u32, u32) = (high.parse().unwrap(), low.parse().unwrap());
            for bit in low..=high {
                seen[word.strip_prefix("word").unwrap().parse::<usize>().unwrap()] |= 1 << bit;
            }
        }
        seen
    };
    assert_eq!(bits("image", 8), [u32::MAX; 8]);
    assert_eq!(bits("sampler", 4), [u32::MAX; 4]);

    let packed = json(&replayer(&["info", &traces("h200/weights/weights.texeltrace"), "--json"]));
    assert_eq!(packed["problems"], serde_json::json!([]));
    assert!(packed["records"].as_array().unwrap().len() >= 4);
}

#[test]
fn emit_writes_spir_v_that_parses() {
    let case = traces("gfx1035/weight-rounding.toml");
    let module = replayer(&["emit", &case, "--dispatch", "ties"]);
    assert_eq!(module.status.code(), Some(0), "{}", text(&module.stderr));
    assert_eq!(module.stdout[..4], 0x0723_0203u32.to_le_bytes());
    let words: Vec<u32> = module.stdout.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    rspirv::dr::load_words(&words).unwrap();

    let shown = text(&replayer(&["emit", &case, "--dispatch", "ties", "--text"]).stdout);
    assert!(shown.starts_with("; weight-rounding ties, profile gfx1035, entry point main\n"), "{shown}");
    assert!(shown.contains("OpImageFetch"));

    let missing = replayer(&["emit", &case, "--dispatch", "nothing"]);
    assert_eq!(missing.status.code(), Some(64));
    assert!(
        text(&missing.stderr).contains("no dispatch \"nothing\", expected a number below 2 or one of ties, off-grid")
    );
}

#[test]
fn a_damaged_trace_runs_what_is_left_and_says_what_is_lost() {
    let folder = Folder::new();
    let bytes = std::fs::read(traces("h200/random-2d/random-2d.texeltrace")).unwrap();
    std::fs::write(folder.path("cut.texeltrace"), &bytes[..bytes.len() * 3 / 4]).unwrap();
    let output = replayer(&["run", &folder.name("cut.texeltrace"), "--path", "reference", "--json", "-"]);
    let results = json(&output);
    assert_eq!(output.status.code(), Some(3));
    assert!(results["totals"]["match"].as_u64().unwrap() >= 1);
    let message = results["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("at offset "), "{message}");
}

#[test]
fn errors_are_one_line_that_names_the_file() {
    let folder = Folder::new();
    std::fs::write(folder.path("bad.toml"), "schema = 1\nname = 3\n").unwrap();
    for arguments in [["info", &folder.name("bad.toml")], ["info", &folder.name("missing.texeltrace")]] {
        let output = replayer(&arguments);
        assert_eq!(output.status.code(), Some(3));
        let error = text(&output.stderr);
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with(&format!("error: {}", arguments[1])), "{error}");
        // Causes are told once, though libraries put them into their own text as well.
        assert!(error.matches("os error").count() <= 1, "{error}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in [
        vec!["info".to_owned(), traces("h200/random-2d/random-2d.texeltrace")],
        vec!["emit".to_owned(), traces("gfx1035/weight-rounding.toml"), "--text".to_owned()],
        vec!["emit".to_owned(), traces("gfx1035/weight-rounding.toml")],
        vec!["--help".to_owned()],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_replayer"))
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
    }
}

#[test]
fn samples_are_exported_as_parquet_and_csv() {
    let folder = Folder::new();
    let trace = traces("gfx1035/weight-rounding.toml");
    let arguments = |form, file: &str| {
        let output = replayer(&["export", form, &trace, "--path", "reference", "-o", &folder.name(file)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("4 samples of 2 dispatches, 0 left out"), "{}", text(&output.stdout));
    };
    arguments("csv", "a.csv");
    let csv = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    // 1.5/256 of 1.0 rounds to 2/256; only Y was measured.
    let row: Vec<_> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((row[0], row[1], row[7], row[11], row[10]), ("weight-rounding", "ties", "1006632960", "1006632960", ""));
    arguments("parquet", "a.parquet");
    let file = std::fs::File::open(folder.path("a.parquet")).unwrap();
    let reader = <parquet::file::reader::SerializedFileReader<_> as TryFrom<std::fs::File>>::try_from(file).unwrap();
    use parquet::file::reader::FileReader as _;
    assert_eq!(reader.metadata().file_metadata().num_rows(), 4);
}
