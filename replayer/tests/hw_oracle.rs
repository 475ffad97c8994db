//! Kits for the hardware oracle: out, assembled, and back.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use capture_format::{Case, Column, Dispatch, Expected, LodSource, Op, OpKind, OracleSource, Trace};
use replayer::{
    capture::{Plan, Suite},
    interchange::hw_oracle::{Measured, export, import, write},
    path::{Path as Way, evaluate},
    rules::Profile,
};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/gfx1035");
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    cases.sort();
    assert!(cases.len() >= 6);
    cases
}

fn measured() -> Measured {
    Measured { target: "gfx1035".to_owned(), note: "test".to_owned() }
}

/// Assembles with LLVM for gfx1035.
#[track_caller]
fn assemble(body: &str) {
    use std::io::Write as _;
    let mut child = Command::new("llvm-mc")
        .args(["-arch=amdgcn", "-mcpu=gfx1035", "-filetype=obj", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tests of kits need llvm-mc (package llvm) with the AMDGPU target");
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}\n{body}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.starts_with(b"\x7fELF"));
}

/// Prints words as the oracle does, with the fillers that a run needs.
fn answer(kit: &Path, trace: &Trace) {
    for (index, dispatch) in trace.dispatches.iter().enumerate() {
        let prefix = format!("{index:03}-");
        let folder = fs::read_dir(kit).unwrap().map(|e| e.unwrap().path());
        let folder =
            folder.into_iter().find(|p| p.file_name().unwrap().to_str().unwrap().starts_with(&prefix)).unwrap();
        let words = &dispatch.expected.as_ref().unwrap().words;
        let mut samples = words.chunks_exact(4);
        for run in 0.. {
            let rows = folder.join(format!("rows-{run:03}.txt"));
            let Ok(rows) = fs::read_to_string(rows) else { break };
            let mut text = String::new();
            for _ in rows.lines() {
                let row = samples.next().unwrap_or(&[0x1234_5678; 4]);
                let row: Vec<String> = row.iter().map(|word| format!("{word:08x}")).collect();
                writeln!(text, "{}", row.join(" ")).unwrap();
            }
            fs::write(folder.join(format!("out-{run:03}.txt")), text).unwrap();
        }
        assert!(samples.next().is_none(), "every sample is in a run");
    }
}

#[test]
fn every_case_goes_out_assembles_and_comes_back() {
    for case in cases() {
        let trace = Case::read(&case).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(&trace, folder.path(), false).unwrap();
        for dispatch in &trace.dispatches {
            assemble(&export(dispatch).unwrap().body);
        }
        answer(folder.path(), &trace);
        let back = import(folder.path(), &measured()).unwrap();
        // Everything is measured now, and by whom is known.
        let mut wanted = trace.clone();
        for dispatch in &mut wanted.dispatches {
            dispatch.expected.as_mut().unwrap().measured = None;
        }
        assert_eq!(back.dispatches, wanted.dispatches, "{}", case.display());
        assert_eq!((back.name, back.summary), (wanted.name, wanted.summary));
        assert_eq!((back.oracle.device.as_str(), back.oracle.source), ("AMD gfx1035", OracleSource::Measured));
        assert!(back.oracle.note.contains("modes --ieee 0 --denorm32 3"), "{}", back.oracle.note);
    }
}

#[test]
fn every_instruction_and_view_assembles() {
    let plan = Plan { seed: 1, samples: 4 };
    let mut seen = std::collections::BTreeSet::new();
    for &suite in Suite::ALL {
        for dispatch in suite.dispatches(&plan).unwrap() {
            if let Ok(kit) = export(&dispatch)
                && seen.insert(kit.body.lines().find(|l| l.contains("image_")).unwrap().to_owned())
            {
                assemble(&kit.body);
            }
        }
    }
    assert!(seen.len() >= 15, "{seen:#?}");
    // More operands than registers have room for in a row: derivatives in 2D, with offsets.
    let mut dispatch = Suite::Gradients.dispatches(&plan).unwrap().remove(0);
    let kit = export(&dispatch).unwrap();
    assert!(
        kit.body.contains("image_sample_d v[10:13], [v4, v5, v6, v7, v14, v15], s[16:23], s[24:27]"),
        "{}",
        kit.body
    );
    dispatch.op.offset = true;
    dispatch.coords.columns.push(Column::Offset);
    let rows: Vec<u32> = dispatch.coords.words.chunks_exact(6).flat_map(|row| [row, &[0x3f]].concat()).collect();
    dispatch.coords.words = rows.into();
    let kit = export(&dispatch).unwrap();
    assemble(&kit.body);
    // The offset comes first, then du/dx, dv/dx, du/dy; further operands follow T# and S#, three a lane.
    let row = &dispatch.coords.words[..7];
    let first = kit.runs[0].rows.lines().next().unwrap();
    assert_eq!(first, format!("0x0000003f {:#010x} {:#010x} {:#010x}", row[2], row[3], row[4]));
    let further: Vec<u32> =
        kit.runs[0].extra[48..60].chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(further, [row[5], row[0], row[1]]);
    assert_eq!(kit.rows, 32);
}

/// A dispatch of 2,500 samples with words that a profile gives.
fn long() -> Trace {
    let plan = Plan { seed: 3, samples: 2500 };
    let mut dispatch: Dispatch =
        Suite::Addressing.dispatches(&plan).unwrap().into_iter().find(|d| d.name == "wrap-linear").unwrap();
    let words = evaluate(&dispatch, Way::Reference, &Profile::GFX1035, None, false).unwrap();
    dispatch.expected = Some(Expected { words: words.into(), measured: None });
    let template = Case::read(&cases()[0]).unwrap();
    Trace { name: "long".to_owned(), dispatches: vec![dispatch], ..template }
}

#[test]
fn long_dispatches_are_cut_into_runs_of_one_length() {
    let trace = long();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(write(&trace, folder.path(), false).unwrap(), 3);
    let kit = export(&trace.dispatches[0]).unwrap();
    assert_eq!(
        kit.runs.iter().map(|run| (run.rows.lines().count(), run.samples)).collect::<Vec<_>>(),
        [(1024, 1024), (1024, 1024), (1024, 452)]
    );
    answer(folder.path(), &trace);
    assert_eq!(import(folder.path(), &measured()).unwrap().dispatches, trace.dispatches);
}

#[test]
fn broken_kits_are_errors_that_name_the_line() {
    let trace = long();
    let place = |folder: &Path| folder.join("000-wrap-linear");
    let error = |file: &str, change: &dyn Fn(String) -> String| {
        let folder = tempfile::tempdir().unwrap();
        write(&trace, folder.path(), false).unwrap();
        answer(folder.path(), &trace);
        let path = place(folder.path()).join(file);
        fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
        let text = import(folder.path(), &measured()).unwrap_err().to_string();
        text.strip_prefix(&place(folder.path()).display().to_string()).unwrap().to_owned()
    };
    let without_last_line = |text: String| text.lines().take(1023).map(|l| format!("{l}\n")).collect();
    assert_eq!(
        error("out-001.txt", &without_last_line),
        "/out-001.txt:1024: the end after 1023 rows, expected 1024 rows"
    );
    let one_more = |text: String| text + "00000000 00000000 00000000 00000000\n";
    assert_eq!(error("out-000.txt", &one_more), "/out-000.txt:1025: row 1025, expected 1024 rows");
    let bad_word = |text: String| {
        let lines: Vec<&str> = text.lines().collect();
        let word = &lines[6][9..17];
        let line = lines[6].replacen(word, "3f80000g", 1);
        [&lines[..6], &[line.as_str()], &lines[7..]].concat().join("\n")
    };
    assert_eq!(error("out-002.txt", &bad_word), "/out-002.txt:7: \"3f80000g\", expected 8 hex digits");
    let short_word = |text: String| text.replacen("3f800000", "3f80000", 1);
    assert_eq!(error("out-000.txt", &short_word), "/out-000.txt:1: \"3f80000\", expected 8 hex digits");
    let missing_word = |text: String| text.replacen(" 3f800000", "", 1);
    assert_eq!(error("out-000.txt", &missing_word), "/out-000.txt:1: 3 words, expected 4");
    let misplaced = |text: String| text.replacen(text.lines().nth(2).unwrap(), &["7fbad256"; 4].join(" "), 1);
    let text = error("out-000.txt", &misplaced);
    assert_eq!(text, "/out-000.txt:3: the oracle's input was not at a multiple of 256 bytes, so nothing was sampled");
    let no_mode = |text: String| {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        [lines[0].clone(), lines[1].replace("--denorm16 3 ", ""), lines[2].clone()].join("\n")
    };
    assert_eq!(error("commands.txt", &no_mode), "/commands.txt:2: --denorm16 is missing, the oracle wants every mode");
    let bad_mode = |text: String| text.replacen("--ieee 0", "--ieee 2", 1);
    assert_eq!(error("commands.txt", &bad_mode), "/commands.txt:1: --ieee \"2\", expected a number from 0 to 1");
    let other_mode = |text: String| text.replacen("--ieee 0", "--ieee 1", 1);
    assert!(error("commands.txt", &other_mode).starts_with("/commands.txt:2: modes --ieee 0"));
    let other_row = |text: String| text.replacen("0x00000000 0x00000000\n", "0x00000000 0x00000001\n", 1);
    assert!(error("rows-000.txt", &other_row).starts_with("/rows-000.txt:1: "));
    let other_body = |text: String| text.replace("image_sample_lz", "image_sample_l");
    assert!(error("body.s", &other_body).contains("expected \"  image_sample_lz v[10:13], [v4, v5]"));
}

#[test]
fn what_a_kit_can_not_express_is_refused_by_name() {
    let trace = long();
    let refused = |change: &dyn Fn(&mut Dispatch)| {
        let mut dispatch = trace.dispatches[0].clone();
        change(&mut dispatch);
        export(&dispatch).unwrap_err().to_string()
    };
    let implicit = |d: &mut Dispatch| {
        d.op = Op::plain(OpKind::Sample, LodSource::Implicit);
        d.grid = [50, 50, 1];
    };
    assert!(refused(&implicit).starts_with("op = image_sample: a LOD from the quad's coordinates"));
    assert!(refused(&|d| d.image[6] |= 1 << 21).starts_with("T#.COMPRESSION_EN (word6[21])"));
    assert!(refused(&|d| d.image[4] |= 127).starts_with("T#.DEPTH (word4[12:0])"));
    let table = |d: &mut Dispatch| {
        d.sampler = Some([0x1b6, 0x00ff_f000, 0x0050_0000, 3 << 30]);
        d.border_table = vec![[0; 4]];
    };
    assert!(refused(&table).starts_with("S#.BORDER_COLOR_TYPE (word3[31:30])"), "{}", refused(&table));
}
