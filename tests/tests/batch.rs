//! The batch with a backend that crashes, hangs, flakes and eats memory: each verdict is right and no other dispatch is touched.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use capture_format::{WriteOptions, write_trace};
use end_to_end::mock::trace;
use serde_json::Value;

struct Bench {
    folder: tempfile::TempDir,
}

struct Run {
    exit: Option<i32>,
    out: String,
    err: String,
    json: Value,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn trace(&self, name: &str, dispatches: &[&str]) -> PathBuf {
        let path = self.path(&format!("{name}.texeltrace"));
        write_trace(&path, &trace(name, dispatches), WriteOptions::default()).unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replayer-mock"));
        command.current_dir(self.folder.path());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let json = self.path("results.json");
        let _ = std::fs::remove_file(&json);
        let output = self.command().arg("run").args(arguments).args(["--json", "results.json"]).output().unwrap();
        Run {
            exit: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            json: read_json(&json),
        }
    }
}

fn read_json(path: &Path) -> Value {
    std::fs::read(path).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
}

impl Run {
    fn dispatch(&self, name: &str) -> &Value {
        self.json["dispatches"].as_array().unwrap().iter().find(|d| d["dispatch"] == name).unwrap()
    }

    fn status(&self, name: &str) -> &str {
        self.dispatch(name)["status"].as_str().unwrap()
    }

    fn reason(&self, name: &str) -> &str {
        self.dispatch(name)["reason"].as_str().unwrap()
    }
}

#[test]
fn each_failure_is_the_verdict_of_its_dispatch_alone() {
    let bench = Bench::new();
    let names = [
        "match 1",
        "segv in the shader compiler",
        "match 2",
        "abort at line 7",
        "match 3",
        "hang",
        "match 4",
        "memory",
        "match 5",
        "lost",
        "match 6",
        "panic",
        "match 7",
        "mismatch 3",
        "match 8",
        "refuse",
        "match 9",
    ];
    bench.trace("t", &names);
    for jobs in ["1", "3"] {
        let run = bench.run(&["t.texeltrace", "--jobs", jobs, "--timeout", "2", "--memory", "512"]);
        assert_eq!(run.exit, Some(1), "{}", run.err);
        let order: Vec<_> = run.json["dispatches"].as_array().unwrap().iter().map(|d| &d["dispatch"]).collect();
        assert_eq!(order, names);
        for name in names.iter().filter(|n| n.starts_with("match")) {
            assert_eq!(run.status(name), "match");
        }
        assert_eq!(run.status("segv in the shader compiler"), "crash");
        assert_eq!(
            run.reason("segv in the shader compiler"),
            "the worker ended by signal 11 (SIGSEGV); its last words: driver: in the shader compiler"
        );
        assert_eq!(
            run.reason("abort at line 7"),
            "the worker ended by signal 6 (SIGABRT); its last words: assertion failed in driver: at line 7"
        );
        assert_eq!(run.status("hang"), "timeout");
        assert_eq!(run.reason("hang"), "no result after 2 s; the worker's last words: waiting for a fence");
        assert_eq!(run.status("memory"), "crash");
        assert!(
            run.reason("memory").contains("memory allocation of 67108864 bytes failed"),
            "{}",
            run.reason("memory")
        );
        assert_eq!(run.status("lost"), "crash");
        assert_eq!(run.reason("lost"), "device lost: vkQueueSubmit");
        assert_eq!(run.status("panic"), "crash");
        assert_eq!(run.reason("panic"), "the path panicked: mock panic");
        assert_eq!((run.status("mismatch 3"), &run.dispatch("mismatch 3")["mismatched"]), ("mismatch", &3.into()));
        assert_eq!(run.status("refuse"), "refused");
        assert_eq!(run.reason("refuse"), "T#.TYPE (word3[31:28]) = 14: not modelled");
        assert_eq!(
            run.json["totals"],
            serde_json::json!({ "match": 9, "mismatch": 1, "refused": 1, "crash": 5, "timeout": 1, "no_oracle": 0 })
        );
        // A crash is told with the executor it happened on.
        assert_eq!(run.dispatch("hang")["device"], "mock device, revision 2");
    }
}

#[test]
fn an_unexpected_result_runs_once_more_and_a_different_one_is_flaky() {
    let bench = Bench::new();
    let marker = bench.path("marker");
    let name = format!("flaky {}", marker.display());
    bench.trace("t", &["match", &name, "mismatch 2"]);
    for isolation in ["process", "none"] {
        let _ = std::fs::remove_file(&marker);
        let run = bench.run(&["t.texeltrace", "--isolation", isolation]);
        assert_eq!(run.exit, Some(1));
        assert_eq!((run.status(&name), &run.dispatch(&name)["outcome"]), ("mismatch", &"flaky".into()));
        assert_eq!(run.reason(&name), "a second run gave match, 8 samples");
        // The same again is no flake.
        assert_eq!(run.dispatch("mismatch 2")["outcome"], "regression");
        assert_eq!(run.dispatch("match")["outcome"], "expected");
    }
    std::fs::remove_file(&marker).unwrap();
    let run = bench.run(&["t.texeltrace", "--no-rerun"]);
    assert_eq!(run.dispatch(&name)["outcome"], "regression");
}

#[test]
fn exit_codes_are_as_documented() {
    let bench = Bench::new();
    bench.trace("good", &["match"]);
    bench.trace("bad", &["mismatch 2"]);
    std::fs::write(bench.path("broken.texeltrace"), b"no trace").unwrap();
    std::fs::create_dir(bench.path("empty")).unwrap();
    let expect = "schema = 1\n[[expect]]\ntrace = 'bad'\nverdict = 'mismatch'\nreason = 'r'\nmismatched = ";
    std::fs::write(bench.path("known.toml"), format!("{expect}2\n")).unwrap();
    std::fs::write(bench.path("more.toml"), format!("{expect}5\n")).unwrap();
    std::fs::write(bench.path("fewer.toml"), format!("{expect}1\n")).unwrap();

    let exit = |arguments: &[&str]| bench.run(arguments).exit;
    assert_eq!(exit(&["good.texeltrace"]), Some(0));
    assert_eq!(exit(&["bad.texeltrace"]), Some(1));
    assert_eq!(exit(&["good.texeltrace", "bad.texeltrace", "--expectations", "known.toml"]), Some(0));
    assert_eq!(exit(&["good.texeltrace", "bad.texeltrace", "--expectations", "more.toml"]), Some(2));
    assert_eq!(exit(&["good.texeltrace", "bad.texeltrace", "--expectations", "fewer.toml"]), Some(1));
    assert_eq!(exit(&["good.texeltrace", "--expectations", "missing.toml"]), Some(3));
    assert_eq!(exit(&["missing.texeltrace"]), Some(3));
    assert_eq!(exit(&["good.texeltrace", "--filter", "nothing*"]), Some(4));
    assert_eq!(exit(&["good.texeltrace", "--device", "none"]), Some(64));
    assert_eq!(exit(&["good.texeltrace", "--profile", "voodoo2"]), Some(64));
    assert_eq!(exit(&["good.texeltrace", "--frobnicate"]), Some(64));
    assert_eq!(exit(&["good.texeltrace", "--shard", "slice:3/2"]), Some(64));
    assert_eq!(exit(&["good.texeltrace", "--isolation", "none", "--timeout", "1"]), Some(64));
    assert_eq!(bench.output(&[]).status.code(), Some(64));
    assert_eq!(bench.output(&["--help"]).status.code(), Some(0));

    // The others run all the same.
    let run = bench.run(&["broken.texeltrace", "good.texeltrace"]);
    assert_eq!(run.exit, Some(3));
    assert_eq!(run.json["totals"]["match"], 1);
    assert_eq!(run.json["errors"][0]["file"], "broken.texeltrace");
    assert!(run.out.contains("broken.texeltrace"), "{}", run.out);
}

#[test]
fn unused_expectations_are_told() {
    let bench = Bench::new();
    bench.trace("good", &["match"]);
    let text = "schema = 1\n[[expect]]\ntrace = 'gone'\nverdict = 'crash'\nreason = 'r'\n";
    std::fs::write(bench.path("known.toml"), text).unwrap();
    let run = bench.run(&["good.texeltrace", "--expectations", "known.toml"]);
    assert_eq!(run.exit, Some(0));
    assert_eq!(run.json["unused_expectations"], serde_json::json!(["known.toml:2: gone / *: crash"]));
    assert!(run.out.contains("gone / *"));
}

#[test]
fn bless_shows_then_writes_and_refuses_crashes() {
    let bench = Bench::new();
    bench.trace("t", &["mismatch 2", "refuse", "segv", "match"]);
    assert_eq!(bench.run(&["t.texeltrace"]).exit, Some(1));
    let bless =
        |more: &[&str]| bench.output(&[&["bless", "results.json", "--expectations", "known.toml"], more].concat());
    let dry = bless(&[]);
    assert!(!bench.path("known.toml").exists());
    assert!(String::from_utf8_lossy(&dry.stdout).contains("2 entries would change"));
    let written = bless(&["--write", "--reason", "because"]);
    assert_eq!(written.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&written.stdout).contains("not blessed: t/segv (emulated): crash"));
    let run = bench.run(&["t.texeltrace", "--expectations", "known.toml"]);
    assert_eq!(run.dispatch("mismatch 2")["outcome"], "expected");
    assert_eq!(run.dispatch("refuse")["outcome"], "expected");
    assert_eq!(run.dispatch("segv")["outcome"], "regression");
    assert_eq!(run.exit, Some(1));
}

#[test]
fn merged_shards_equal_the_unsharded_run() {
    let bench = Bench::new();
    let names: Vec<String> =
        (0..23).map(|n| if n % 5 == 0 { format!("mismatch 1 {n}") } else { format!("match {n}") }).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bench.trace("a", &names[..9]);
    bench.trace("b", &names[9..]);
    let strip = |mut json: Value| {
        for result in json["dispatches"].as_array_mut().unwrap() {
            let result = result.as_object_mut().unwrap();
            result.remove("seconds");
            result.remove("evaluate_seconds");
        }
        (json["dispatches"].clone(), json["totals"].clone(), json["errors"].clone())
    };
    let whole = strip(bench.run(&["."]).json);
    assert_eq!(whole.0.as_array().unwrap().len(), 23);
    for kind in ["slice", "hash"] {
        let files: Vec<String> = (1..=4)
            .map(|index| {
                let file = format!("{kind}-{index}.json");
                let output = bench.output(&["run", ".", "--shard", &format!("{kind}:{index}/4"), "--json", &file]);
                assert!(matches!(output.status.code(), Some(0 | 1)));
                file
            })
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let merge = |files: &[&str]| bench.output(&[&["merge"], files, &["--json", "merged.json"]].concat());
        let merged = merge(&files);
        assert_eq!(merged.status.code(), Some(1), "{}", String::from_utf8_lossy(&merged.stderr));
        assert_eq!(strip(read_json(&bench.path("merged.json"))), whole);

        let missing = merge(&[files[0], files[2]]);
        assert_eq!(missing.status.code(), Some(3));
        assert_eq!(String::from_utf8_lossy(&missing.stderr), "error: of 4 shards these are missing: 2, 4\n");
        let twice = merge(&[files[0], files[0], files[1]]);
        assert_eq!(twice.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&twice.stderr).contains("shard 1 is in both"));
    }
    let foreign = bench.output(&["merge", "slice-1.json", "hash-2.json"]);
    assert!(String::from_utf8_lossy(&foreign.stderr).contains("expected one of 4 slices of 23 dispatches, run "));
    // A shard of a run that judges otherwise.
    bench.output(&["run", ".", "--strict", "--shard", "slice:2/4", "--json", "strict-2.json"]);
    let mixed = bench.output(&["merge", "slice-1.json", "strict-2.json", "slice-3.json", "slice-4.json"]);
    assert_eq!(mixed.status.code(), Some(3));
    let error = String::from_utf8_lossy(&mixed.stderr);
    assert!(error.starts_with("error: strict-2.json: a shard of 4 slices of 23 dispatches, run "), "{error}");
    let unsharded = bench.output(&["merge", "results.json"]);
    assert!(String::from_utf8_lossy(&unsharded.stderr).contains("expected the results of a shard"));
}

#[test]
fn shards_come_from_the_environment_of_a_job_array() {
    let bench = Bench::new();
    bench.trace("t", &["match 0", "match 1", "match 2", "match 3"]);
    let output = bench
        .command()
        .args(["run", "t.texeltrace", "--shard", "auto", "--json", "-"])
        .envs([("JOB_COMPLETION_INDEX", "1"), ("JOB_COMPLETIONS", "2")])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut shard = json["shard"].clone();
    assert!(shard.as_object_mut().unwrap().remove("run").is_some_and(|run| run.as_u64().is_some_and(|run| run > 0)));
    assert_eq!(shard, serde_json::json!({ "kind": "slice", "index": 2, "count": 2, "selected": 4 }));
    let names: Vec<_> = json["dispatches"].as_array().unwrap().iter().map(|d| &d["dispatch"]).collect();
    assert_eq!(names, ["match 2", "match 3"]);
}

#[test]
fn a_signal_ends_workers_and_the_reports_are_written() {
    let bench = Bench::new();
    let hanging = bench.path("hanging");
    bench.trace("t", &["match 1", &format!("hang {}", hanging.display()), "match 2"]);
    let child = bench
        .command()
        .args(["run", "t.texeltrace", "--jobs", "1", "--timeout", "600", "--json", "results.json", "--junit", "j.xml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let start = Instant::now();
    while !hanging.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no worker came to the second dispatch");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Workers are children of the threads of the run.
    let children: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok())
        .flat_map(|children| children.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(children.len(), 1);
    interrupt(pid);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let json = read_json(&bench.path("results.json"));
    assert_eq!(json["totals"]["match"], 1);
    assert_eq!((&json["not_run"], &json["ended"]), (&2.into(), &"by a signal".into()));
    assert!(bench.path("j.xml").exists());
    assert!(!Path::new(&format!("/proc/{}", children[0])).exists(), "the worker is still there");
}

fn interrupt(pid: i32) {
    assert!(Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn ten_thousand_small_dispatches_cost_little() {
    let bench = Bench::new();
    let names: Vec<String> = (0..10_000).map(|n| format!("match {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bench.trace("t", &names);
    let run = bench.run(&["t.texeltrace", "--jobs", "2", "--quiet"]);
    assert_eq!((run.exit, &run.json["totals"]["match"]), (Some(0), &10_000.into()));
    let seconds = run.json["seconds"].as_f64().unwrap();
    assert!(seconds < 20.0, "{seconds} s, expected at most 2 ms each");
}

#[test]
fn only_changes_are_shown_against_an_earlier_run() {
    let bench = Bench::new();
    bench.trace("t", &["match 1", "mismatch 2", "match 3"]);
    bench.run(&["t.texeltrace"]);
    std::fs::rename(bench.path("results.json"), bench.path("base.json")).unwrap();
    bench.trace("t", &["match 1", "mismatch 2", "match 4"]);
    let run = bench.run(&["t.texeltrace", "--base", "base.json"]);
    let lines: Vec<_> = run.out.lines().take(3).collect();
    assert_eq!(
        lines,
        [
            "t/match 4: new: match (8 samples)",
            "t/match 3: match (8 samples) → not in this run",
            "2 of 3 dispatches changed"
        ]
    );
}

#[test]
fn junit_holds_every_dispatch_and_no_failure_is_lost() {
    let bench = Bench::new();
    let names = ["match <1>", "mismatch 2 & more", "segv", "refuse", "hang"];
    bench.trace("t", &names);
    std::fs::write(bench.path("broken.texeltrace"), b"no trace").unwrap();
    let text = "schema = 1\n[[expect]]\ntrace = 't'\ndispatch = 'refuse'\nverdict = 'refused'\nreason = 'known'\n";
    std::fs::write(bench.path("known.toml"), text).unwrap();
    let run = bench.run(&[
        "t.texeltrace",
        "broken.texeltrace",
        "--timeout",
        "1",
        "--junit",
        "j.xml",
        "--expectations",
        "known.toml",
    ]);
    assert_eq!(run.exit, Some(3));
    let xml = std::fs::read_to_string(bench.path("j.xml")).unwrap();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let count = |name| root.attribute(name).unwrap().parse::<usize>().unwrap();
    assert_eq!((count("tests"), count("failures"), count("errors")), (6, 1, 3));
    let cases: Vec<_> = document.descendants().filter(|n| n.has_tag_name("testcase")).collect();
    assert_eq!(cases.iter().filter_map(|c| c.attribute("name")).take(5).collect::<Vec<_>>(), names);
    assert!(cases.iter().all(|c| c.attribute("classname").is_some()));
    let child = |at: usize| cases[at].children().find(|n| n.is_element()).map(|n| n.tag_name().name().to_owned());
    assert_eq!(child(0), None);
    assert_eq!(child(1).as_deref(), Some("failure"));
    assert_eq!(child(2).as_deref(), Some("error"));
    assert_eq!(child(3).as_deref(), Some("skipped"));
    assert_eq!(child(4).as_deref(), Some("error"));
    assert_eq!(child(5).as_deref(), Some("error"));
    assert!(cases[1].descendants().any(|n| n.text().is_some_and(|t| t.contains("got 0x3f800001"))));
    // The attributes that Jenkins's schema (junit-10.xsd of its xUnit plugin) allows.
    let suite: &[_] =
        &["name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id"];
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let allowed: &[&str] = match element.tag_name().name() {
            "testsuites" => &["name", "time", "tests", "failures", "errors"],
            "testsuite" => suite,
            "testcase" => &["name", "time", "classname", "group"],
            "failure" | "error" | "skipped" => &["type", "message"],
            other => panic!("unexpected element {other}"),
        };
        let found: Vec<_> = element.attributes().map(|a| a.name()).collect();
        assert!(found.iter().all(|name| allowed.contains(name)), "{}: {found:?}", element.tag_name().name());
    }
}

#[test]
fn the_page_stands_alone() {
    let bench = Bench::new();
    bench.trace("t", &["match", "mismatch 2", "<script>alert(1)</script>"]);
    bench.run(&["t.texeltrace", "--html", "page"]);
    let page = std::fs::read_to_string(bench.path("page/index.html")).unwrap();
    assert_eq!(page.matches("<details").count(), 3);
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), 3);
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("analyzer-gui t.texeltrace --goto 1:0,0,0"));
    let left: Vec<_> = std::fs::read_dir(bench.path("page")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["index.html"]);
}

#[test]
fn markdown_and_annotations_name_what_failed() {
    let bench = Bench::new();
    bench.trace("t", &["match", "mismatch 2"]);
    std::fs::write(bench.path("summary.md"), "before\n").unwrap();
    let run = bench.run(&["t.texeltrace", "--markdown", "summary.md", "--github-annotations"]);
    let summary = std::fs::read_to_string(bench.path("summary.md")).unwrap();
    assert!(summary.starts_with("before\n## Texel traces: 2 dispatches\n"));
    assert!(summary.contains("| regression | t/mismatch 2 | mismatch | 1 ULP | 2 of 8 samples differ |"), "{summary}");
    assert!(run.out.contains("::error title=t/mismatch 2::mismatch: 2 of 8 samples differ"), "{}", run.out);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let bench = Bench::new();
    let names: Vec<String> = (0..2000).map(|n| format!("match {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bench.trace("t", &names);
    let mut child = bench
        .command()
        .args(["run", "t.texeltrace", "--isolation", "none"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("anic"), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A report that goes to a pipe or through a link leaves both what they are.
#[test]
fn reports_replace_neither_pipes_nor_links() {
    let bench = Bench::new();
    bench.trace("t", &["match"]);
    std::fs::write(bench.path("real.json"), "").unwrap();
    std::os::unix::fs::symlink("real.json", bench.path("link.json")).unwrap();
    assert!(bench.output(&["run", "t.texeltrace", "--json", "link.json"]).status.success());
    assert!(bench.path("link.json").is_symlink());
    assert!(std::fs::read_to_string(bench.path("real.json")).unwrap().contains("\"schema\""));
    // A device is opened by a link, so that a wrong program would replace the link alone.
    std::os::unix::fs::symlink("/dev/full", bench.path("full.json")).unwrap();
    let full = bench.output(&["run", "t.texeltrace", "--json", "full.json"]);
    assert_eq!(full.status.code(), Some(70), "{}", String::from_utf8_lossy(&full.stderr));
    assert!(bench.path("full.json").is_symlink());
}
