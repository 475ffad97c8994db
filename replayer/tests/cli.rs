//! The program on the traces that ship, with the paths that need no driver.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod assemble;
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

/// All match but what the expectations beside the traces name, by count and cause.
#[test]
fn every_shipped_dispatch_is_as_expected_by_the_reference() {
    let expectations = traces("expectations.toml");
    let output = replayer(&["run", &traces(""), "--path", "reference", "--expectations", &expectations, "--json", "-"]);
    let results = json(&output);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let dispatches = results["dispatches"].as_array().unwrap();
    assert!(dispatches.len() >= 308);
    for dispatch in dispatches.iter().filter(|d| d["status"] != "match") {
        assert_eq!(dispatch["status"], "mismatch");
        assert!(matches!(dispatch["trace"].as_str(), Some("h200-footprints" | "h200-probe-texels")), "{dispatch:#}");
    }
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

/// Words that would be NaNs are numbers like others where the format holds integers.
#[test]
fn integers_that_look_like_nans_differ() {
    let folder = Folder::new();
    let case = r#"schema = 1
name = "integers"
oracle = { device = "by hand", profile = "exact", source = "synthetic" }
[[dispatch]]
name = "load"
op = "image_load"
grid = [1, 1, 1]
image = [0, "0x01400000", "0x80000000", "0x900003ac", 0, 0, 0, 0]
texels = { words = ["0xfffffffe"] }
coords = { columns = ["x", "y"], rows = [[0, 0]] }
expected = { rows = [["0xffffffff", "*", "*", "*"]] }
"#;
    std::fs::write(folder.path("case.toml"), case).unwrap();
    let output = replayer(&["run", &folder.name("case.toml"), "--path", "reference", "--json", "-"]);
    let result = json(&output);
    assert_eq!((&result["totals"]["mismatch"], &result["dispatches"][0]["max_ulp"]), (&1.into(), &1.into()));
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
fn info_sums_up_tables_and_shows_entries_on_request() {
    let case = traces("tables");
    let shown = text(&replayer(&["info", &case, "--dispatch", "planes"]).stdout);
    for line in [
        "  texels   128 words in 4 images",
        "  T#       table of 4 entries, 4 in use, 2 distinct",
        "  S#       table of 5 entries, 5 in use, 5 distinct",
        "    word3[2:0]   DST_SEL_X                    0 0 (1×), 4 X (3×)",
        "    word0[27]    TRUNC_COORD                  0 (4×), 1 (1×)",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line} in {shown}");
    }
    assert!(shown.lines().count() < 90, "{}", shown.lines().count());
    let entry = ["info", &case, "--dispatch", "planes", "--descriptor", "S#[4]", "--descriptor", "T#9"];
    let shown = text(&replayer(&entry).stdout);
    assert!(shown.contains("\n  S#[4] used by 2 samples\n  S#[4]       0x08000092 0x00fff000 0x00000000 0x00000000\n"));
    assert!(shown.ends_with("\n  T#[9] is not there\n"), "{shown}");
    let all = json(&replayer(&["info", &case, "--json", "--descriptor", "S#[4]"]));
    let planes = &all["dispatches"][0];
    assert!(planes.get("image").is_none() && planes.get("sampler").is_none(), "no entry passes for the only one");
    assert_eq!(planes["images"].as_array().unwrap().len(), 4);
    assert_eq!((&planes["images"][3]["samples"], &planes["images"][3]["texel_words"]), (&4.into(), &32.into()));
    let samplers = planes["samplers"].as_array().unwrap();
    let full: Vec<usize> = (0..5).filter(|&n| samplers[n].get("fields").is_some()).collect();
    assert_eq!(full, [4]);
    let volumes = &all["dispatches"][1];
    assert!(volumes["image"]["fields"].is_array() && volumes.get("images").is_none());
    let bad = replayer(&["info", &case, "--descriptor", "4"]);
    assert!(text(&bad.stderr).contains("expected T#[N] or S#[N]"), "{}", text(&bad.stderr));
}

#[test]
fn tables_of_descriptors_go_through_the_commands() {
    let (case, folder) = (traces("tables/tables.texeltrace"), Folder::new());
    let embedded = ["run", &case, "--executor", "embedded", "--quiet", "--json", "-"];
    assert_eq!(json(&replayer(&embedded))["totals"]["match"], 3);
    // Container to case and back gives the same bytes.
    let unpacked = folder.name("case");
    assert_eq!(replayer(&["unpack", &case, "-o", &unpacked]).status.code(), Some(0));
    assert_eq!(
        replayer(&["pack", &unpacked, "-o", &folder.name("again.texeltrace"), "--compress"]).status.code(),
        Some(0)
    );
    assert!(std::fs::read(folder.path("again.texeltrace")).unwrap() == std::fs::read(&case).unwrap());
    let emitted = text(&replayer(&["emit", &case, "--dispatch", "planes", "--text"]).stdout);
    assert!(emitted.starts_with("; tables planes, profile gfx1035, table form with 6 states in rows of 52 words"));
    // Clamping differs, the mip mode does not: bit 8 of what is common.
    assert!(emitted.contains("\n; SpecId 8 = 0 (0x0) mip_mode\n") && !emitted.contains("\n; SpecId 2 = "), "{emitted}");
    assert!(!emitted.contains("OpTypeImage"));
    let step = replayer(&["step", &case, "--dispatch", "planes", "--sample", "4,0,0", "--json"]);
    let step = json(&step);
    assert_eq!(step["words"][1], "0x40400000");
    assert_eq!(step["specialization"][2], serde_json::json!({ "spec_id": 7, "name": "slice_filter", "value": 0 }));
    assert_eq!(step["state"][2], serde_json::json!({ "word": 2, "name": "address_x", "value": 2 }));
    let kit = replayer(&["export", "hw-oracle", &case, "--dispatch", "planes", "-o", &folder.name("kit")]);
    assert_eq!(kit.status.code(), Some(3));
    assert!(text(&kit.stderr).contains("tables of descriptors = 4 T#, 5 S#"), "{}", text(&kit.stderr));
    let reduce = ["reduce", &case, "--path", "as-submitted", "--executor", "embedded", "--dispatch", "volumes"];
    let small = folder.name("small");
    let reduced = replayer(&[&reduce[..], &["-o", &small]].concat());
    assert_eq!(reduced.status.code(), Some(0), "{}", text(&reduced.stderr));
    let small = std::fs::read_to_string(folder.path("small/case.toml")).unwrap();
    assert!(small.contains("\nsampler = [") && !small.contains("samplers") && small.contains(" with S#["), "{small}");
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
fn info_on_a_damaged_trace_says_once_what_is_lost() {
    let folder = Folder::new();
    let bytes = std::fs::read(traces("tables/tables.texeltrace")).unwrap();
    std::fs::write(folder.path("cut.texeltrace"), &bytes[..bytes.len() * 3 / 4]).unwrap();
    let output = replayer(&["info", &folder.name("cut.texeltrace")]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout).matches("lost 224 bytes at offset 3520").count(), 1, "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("cut.texeltrace: parts of it are damaged"), "{}", text(&output.stderr));
}

/// Nobody can make files in /proc, root neither.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_can_not_be_written_is_told_before_the_run() {
    let weights = traces("h200/weights/weights.texeltrace");
    for option in ["--json", "--junit", "--markdown", "--html"] {
        let output = replayer(&["run", &weights, "--path", "reference", option, "/proc/report"]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{error}");
        assert!(error.starts_with(&format!("error: {option} /proc/report")), "{error}");
        assert!(!error.contains(".tmp"), "{error}");
        assert!(output.stdout.is_empty(), "{option}");
    }
}

/// Every command with an output looks at its place first.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_can_not_be_written_is_told_before_the_work() {
    let folder = Folder::new();
    std::fs::write(folder.path("file"), "").unwrap();
    let (file, inside) = (folder.name("file"), folder.name("file/case"));
    let (weights, case) = (traces("h200/weights/weights.texeltrace"), traces("gfx1035/weight-rounding.toml"));
    let to_file: [&[&str]; 5] = [
        &["export", "csv", &weights, "--path", "reference"],
        &["export", "parquet", &weights, "--path", "reference"],
        &["pack", &case],
        &["emit", &weights],
        &["import", "hw-oracle", "kit", "--target", "gfx1035"],
    ];
    let to_folder: [&[&str]; 5] = [
        &["unpack", &weights],
        &["reduce", &weights],
        &["fuzz", "--a", "reference:gfx1035", "--b", "reference:h200"],
        &["capture", "--suite", "all", "--device", "none"],
        &["export", "hw-oracle", &weights],
    ];
    let check = |command: &[&str], output: &str, reason: &str| {
        let found = replayer(&[command, &["--output", output]].concat());
        let error = text(&found.stderr);
        assert_eq!(found.status.code(), Some(64), "{command:?} {error}");
        assert!(error.starts_with(&format!("error: --output {output}: {reason}")), "{command:?} {error}");
        assert!(!output.starts_with("/proc") || !error.contains(".tmp"), "{error}");
    };
    for command in to_file {
        check(command, &folder.name("."), "cannot be written: expected a file, it is a folder");
        check(command, &folder.name("none/file"), "cannot be written: there is no folder");
        check(command, "/proc/file", "cannot be written");
    }
    for command in to_folder {
        check(command, &file, "expected a folder, it is a file");
        check(command, &inside, &format!("{file} is a file"));
        check(command, "/proc/folder/case", "cannot be written");
    }
}

/// What a command reads is not what it writes, and two reports have two places.
#[test]
fn an_input_is_never_replaced() {
    let folder = Folder::new();
    let trace = folder.name("in.texeltrace");
    std::fs::copy(traces("h200/weights/weights.texeltrace"), &trace).unwrap();
    let before = std::fs::read(&trace).unwrap();
    std::fs::copy(traces("gfx1035/weight-rounding.toml"), folder.path("case.toml")).unwrap();
    let (case, inside, case_folder) = (folder.name("case.toml"), folder.name("new.json"), folder.name(""));
    std::fs::write(folder.path("expectations.toml"), "schema = 1\n").unwrap();
    let expectations = folder.name("expectations.toml");
    let commands: [&[&str]; 11] = [
        &["run", &trace, "--path", "reference", "--json", &trace],
        &["run", &trace, "--path", "reference", "--junit", &trace],
        &["run", &trace, "--path", "reference", "--markdown", &trace],
        &["run", &trace, "--path", "reference", "--expectations", &expectations, "--json", &expectations],
        &["run", &trace, "--path", "reference", "--json", &inside, "--junit", &inside],
        &["run", &trace, "--path", "reference", "--html", &inside, "--json", &inside],
        &["export", "csv", &trace, "--path", "reference", "--output", &trace],
        &["export", "parquet", &trace, "--path", "reference", "--output", &trace],
        &["emit", &trace, "--output", &trace],
        &["pack", &case, "--output", &case, "--force"],
        &["capture", "--case", &trace, "--output", &trace, "--force"],
    ];
    for command in commands {
        let output = replayer(command);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(64), "{command:?} {error}");
        assert!(error.contains("expected another"), "{command:?} {error}");
    }
    let packed = replayer(&["pack", &case_folder, "--output", &case, "--force"]);
    assert_eq!(packed.status.code(), Some(64), "{}", text(&packed.stderr));
    assert_eq!(std::fs::read(&trace).unwrap(), before);
    assert!(!folder.path("new.json").exists());
}

/// Traces and cases are not made again at will: they are replaced when that is asked for.
#[test]
fn traces_and_cases_that_are_there_stay_without_force() {
    let folder = Folder::new();
    let case = traces("gfx1035/weight-rounding.toml");
    let (trace, unpacked, kit) = (folder.name("t.texeltrace"), folder.name("unpacked"), folder.name("kit"));
    let commands: [&[&str]; 4] = [
        &["pack", &case, "--output", &trace],
        &["unpack", &trace, "--output", &unpacked],
        &["export", "hw-oracle", &case, "--output", &kit],
        &["capture", "--case", &case, "--output", &trace, "--device", "none"],
    ];
    for (n, command) in commands.into_iter().enumerate() {
        if n < 3 {
            let first = replayer(command);
            assert!(first.status.success(), "{command:?} {}", text(&first.stderr));
        }
        let again = replayer(command);
        assert_eq!(again.status.code(), Some(64), "{command:?} {}", text(&again.stderr));
        assert!(text(&again.stderr).contains("--force"), "{command:?} {}", text(&again.stderr));
        if n < 3 {
            let forced = replayer(&[command, &["--force"]].concat());
            assert!(forced.status.success(), "{command:?} {}", text(&forced.stderr));
        }
    }
}

#[test]
fn an_export_of_nothing_leaves_no_file() {
    let folder = Folder::new();
    let (weights, table) = (traces("h200/weights/weights.texeltrace"), folder.name("table.csv"));
    let missing = folder.name("missing.texeltrace");
    for (arguments, code, words) in [
        (vec!["export", "csv", &missing, "-o", &table], 3, "missing.texeltrace: "),
        (vec!["export", "csv", &weights, "--filter", "none", "-o", &table], 4, "no dispatch passes --filter"),
    ] {
        let output = replayer(&arguments);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
        assert!(!folder.path("table.csv").exists());
    }
}

/// Checking a place leaves a report that is there as it is, and makes none.
#[test]
fn a_wrong_command_line_leaves_reports_alone() {
    let folder = Folder::new();
    std::fs::write(folder.path("old.json"), "old").unwrap();
    let weights = traces("h200/weights/weights.texeltrace");
    let (old, new, nowhere) = (folder.name("old.json"), folder.name("new.xml"), folder.name("no/where.md"));
    let output = replayer(&["run", &weights, "--json", &old, "--junit", &new, "--markdown", &nowhere]);
    assert_eq!(output.status.code(), Some(64), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(folder.path("old.json")).unwrap(), "old");
    assert!(!folder.path("new.xml").exists());
}

#[test]
fn errors_are_one_line_that_names_the_file() {
    let folder = Folder::new();
    std::fs::write(folder.path("bad.toml"), "schema = 1\nname = 3\n").unwrap();
    let run = replayer(&["run", &folder.name("bad.toml"), "--path", "reference", "--json", "-"]);
    let message = json(&run)["errors"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("2:8: "), "{message}");
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

#[test]
fn step_shows_each_instruction_with_its_values_and_the_rule_behind_it() {
    let case = traces("gfx1035/weight-rounding.toml");
    let output = replayer(&["step", &case, "--dispatch", "ties", "--sample", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    // 2.505859375 texels are 641.5/256, a tie that goes to the even neighbour.
    let line = shown.lines().find(|line| line.contains("RoundEven") && line.contains("641.5")).expect("the rounding");
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words[1], "weight-rounding");
    assert!(line.ends_with("-> 642.0 (0x44208000)"), "{line}");
    let operand = shown.lines().find(|line| line.contains(" u = Load &operands+0")).expect("the operand");
    assert!(operand.ends_with(&format!("-> {} (0x3da06000)", 0x3da0_6000)), "{operand}");
    assert!(
        shown.ends_with("Y 0x3c000000 0x1p-7 0.0078125\nZ 0x3c000000 0x1p-7 0.0078125\nW 0x3f800000 0x1p+0 1.0\n"),
        "{shown}"
    );

    let output =
        replayer(&["step", &case, "--sample", "0", "--section", "weight-rounding", "--op", "roundeven", "--json"]);
    let trace = json(&output);
    assert_eq!(trace["words"][1], "0x3c000000");
    let steps = trace["steps"].as_array().unwrap();
    assert!(trace["executed"].as_u64().unwrap() > 10 * steps.len() as u64);
    // Once along x and once along y.
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0]["rule"], serde_json::json!(["weight-rounding", "nearest-even"]));
    assert_eq!(
        steps[0]["value"],
        serde_json::json!({ "type": "float", "bits": 32, "word": "0x44208000", "value": "642.0" })
    );
    let trunc = trace["specialization"].as_array().unwrap().iter().find(|s| s["name"] == "trunc_coord").unwrap();
    assert_eq!(trunc["value"], 0);

    let error = |arguments: &[&str]| {
        let output = replayer(&[&["step", &case], arguments].concat());
        assert_eq!(output.status.code(), Some(64), "{arguments:?}");
        text(&output.stderr)
    };
    assert!(error(&["--sample", "3,0,0"]).contains("expected a place in the grid 3x1x1 of ties"));
    assert!(error(&["--sample", "0", "--section", "colour"]).contains("expected one of operands, levels"));
    assert!(error(&["--sample", "0", "--path", "reference"]).contains("expected emulated or as-submitted"));
}

#[test]
fn without_a_vulkan_loader_the_shipped_traces_have_the_same_verdicts() {
    let folder = Folder::new();
    // The system's loader is hidden by a file of its name that is none.
    std::fs::write(folder.path("libvulkan.so.1"), "").unwrap();
    let run = |hidden: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replayer"));
        command.args(["run", &traces(""), "--expectations", &traces("expectations.toml"), "--json", "-"]);
        command.stdin(Stdio::null());
        if hidden {
            command.env("LD_LIBRARY_PATH", folder.0.path());
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (json(&output), text(&output.stderr))
    };
    let ((with, told_with), (without, told_without)) = (run(false), run(true));
    assert!(told_with.contains("runs on vulkan: "), "this test needs a Vulkan device (lavapipe): {told_with}");
    assert!(told_without.contains("runs on embedded: "), "{told_without}");
    let verdicts = |results: &Value, executor: &str| -> Vec<Value> {
        let dispatches = results["dispatches"].as_array().unwrap();
        assert!(dispatches.iter().all(|d| d["executor"] == executor));
        let kept = ["trace", "dispatch", "status", "samples", "mismatched", "max_ulp", "causes"];
        dispatches.iter().map(|d| kept.iter().map(|&k| d[k].clone()).collect()).collect()
    };
    let (with, without) = (verdicts(&with, "vulkan"), verdicts(&without, "embedded"));
    assert!(with.len() >= 46);
    assert_eq!(with, without);
}

/// What asks for something that isn't there says what is there, with the exit code for it.
#[test]
fn explain_reduce_and_coverage_say_what_is_missing() {
    let folder = Folder::new();
    let weights = traces("h200/weights/weights.texeltrace");
    let swizzle = traces("gfx1035/border-swizzle.texeltrace");
    let (case, empty) = (folder.name("case"), folder.name("empty"));
    let nowhere = folder.name("no/where.json");
    std::fs::create_dir(&empty).unwrap();
    for (arguments, exit, message) in [
        (&["explain", &swizzle, "--sample", "0"][..], 64, "dispatches, expected --dispatch N|NAME"),
        (
            &["explain", &weights, "--dispatch", "0", "--sample", "-1,0"],
            64,
            "\"-1\": expected a whole number from 0 to",
        ),
        (&["explain", &weights, "--dispatch", "0", "--sample", "1,2,3,4"], 64, "4 numbers: expected X, X,Y or X,Y,Z"),
        (&["step", &weights, "--sample", "99999999999"], 64, "\"99999999999\": expected a whole number"),
        (&["reduce", &weights, "-o", &case], 4, "no dispatch differs, there is nothing to reduce"),
        (
            &["reduce", &weights, "--path", "as-submitted", "--cause", "99", "-o", &case],
            64,
            "--cause: dispatch sweep has no cause number 99",
        ),
        (&["fuzz", "--a", "recorded", "--b", "reference"], 64, "random dispatches are none"),
        (&["run", &weights, "--path", "native", "--executor", "embedded"], 64, "expected vulkan"),
        (&["run", &weights, "--json", &nowhere], 64, "there is no folder"),
        (&["run", &weights, "--junit", &empty], 64, "expected a file, it is a folder"),
        (&["coverage", &folder.name("no*.toml")], 3, "no case (.toml) matches this pattern"),
        (&["coverage", &empty], 3, "no trace (.texeltrace) and no case (.toml) in it"),
    ] {
        let output = replayer(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    // A trace of one dispatch needs no --dispatch.
    let output = replayer(&["explain", &weights, "--path", "reference", "--sample", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("sample 3 at 3,0,0"), "{}", text(&output.stdout));
}

/// The page tells the worst samples in full: cause, taps, weights, both results.
#[test]
fn the_page_explains_the_worst_samples() {
    let folder = Folder::new();
    let page = folder.name("page");
    let weights = traces("h200/weights/weights.texeltrace");
    let output = replayer(&["run", &weights, "--path", "reference", "--profile", "gfx1035", "--html", &page]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(folder.path("page").join("index.html")).unwrap();
    assert_eq!(page.matches("<pre class=\"explained\">").count(), 3);
    let told = page.split("<pre class=\"explained\">").nth(1).unwrap();
    for part in
        ["image_sample_lz sample", "operands", "tap texel", "expected, by the rules that give it", "weights in 1/256"]
    {
        assert!(told.contains(part), "{part:?}: {told}");
    }
    assert!(page.contains(": weight rounding (weight-rounding nearest-even → half-up)</h3>"), "{told}");
}

/// What could not be compared is told, and decides the exit code.
#[test]
fn explain_ends_by_what_could_not_be_compared() {
    let folder = Folder::new();
    let case = std::fs::read_to_string(traces("gfx1035/decode.toml")).unwrap();
    let no_oracle = &case[..case.find("expected = ").unwrap()];
    let refused = case.replace("\"0x82b00000\"", "\"0x83c00000\"");
    for (name, text, exit, told) in [
        ("none", no_oracle, 3, "load: no oracle\n"),
        ("refused", &refused, 1, "load: refused: "),
        ("good", &case, 0, "agree"),
    ] {
        std::fs::write(folder.path(&format!("{name}.toml")), text).unwrap();
        let output = replayer(&["explain", &folder.name(&format!("{name}.toml")), "--path", "reference"]);
        assert_eq!(output.status.code(), Some(exit), "{name}: {}", text_of(&output));
        assert!(text_of(&output).contains(told), "{name}: {}", text_of(&output));
    }
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// What is left by a writer that died before its first dispatch was whole can't be run; that is no empty selection.
#[test]
fn a_trace_cut_before_its_first_dispatch_is_an_error() {
    let folder = Folder::new();
    let whole = std::fs::read(traces("gfx1035/decode.texeltrace")).unwrap();
    std::fs::write(folder.path("cut.texeltrace"), &whole[..640]).unwrap();
    let output = replayer(&["run", &folder.name("cut.texeltrace"), "--path", "reference"]);
    assert_eq!(output.status.code(), Some(3), "{}", text_of(&output));
    assert!(text_of(&output).contains("cut.texeltrace: the file does not end in a trailer"), "{}", text_of(&output));
}

/// A signal ends `fuzz` with its figures and its state, from which it goes on.
#[cfg(unix)]
#[test]
fn fuzz_ended_by_a_signal_keeps_its_state() {
    let folder = Folder::new();
    let state = folder.name("state.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_replayer"))
        .args(["fuzz", "--a", "reference:exact", "--b", "emulated:exact:embedded", "--count", "100000000"])
        .args(["--state", &state, "-o", &folder.name("difference")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path("state.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let state: Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
    let next = state["next"].as_u64().unwrap();
    assert!(text(&output.stdout).contains(&format!("next is {next}\n")), "{}", text(&output.stdout));
}

#[test]
fn raw_descriptors_are_for_amd_s_devices() {
    let folder = Folder::new();
    let output = replayer(&["capture", "--raw", "--suite", "weights", "-o", &folder.name("out")]);
    assert_eq!(output.status.code(), Some(64));
    let error = text(&output.stderr);
    assert!(error.contains("raw descriptors are T# and S#, which AMD's devices have"), "{error}");
    assert!(!folder.path("out").exists());
    assert!(text(&replayer(&["capture", "--help"]).stdout).contains("UNTESTED ON HARDWARE"));
}
