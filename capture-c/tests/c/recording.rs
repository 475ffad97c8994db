//! What programs in C record.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use capture_format::{ComputeDispatch, Recorded, TraceReader};

use super::programs::{program, run};

fn dispatches(path: &Path) -> Vec<ComputeDispatch> {
    let recording = TraceReader::open(path).unwrap().read_recording().unwrap();
    let compute = |dispatch| match dispatch {
        Recorded::Compute(dispatch) => dispatch,
        Recorded::Sample(dispatch) => panic!("{:?} is a sample dispatch", dispatch.name),
    };
    recording.dispatches.into_iter().map(compute).collect()
}

fn after(dispatch: &ComputeDispatch) -> &[u32] {
    dispatch.bindings[0].contents().1.unwrap()
}

#[test]
fn calls_in_a_bad_order_are_errors_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("order.texeltrace");
    run(Command::new(program("order")).arg(&path));
    let found = dispatches(&path);
    let shown: Vec<_> = found.iter().map(|d| (d.name.as_str(), d.bindings.len(), d.ended)).collect();
    assert_eq!(shown, [("a", 2, true), ("a#2", 0, true), ("given-up", 0, false), ("open-at-close", 0, false)]);
    assert_eq!(after(&found[0]), [1, 2, 3, 4]);
    assert_eq!(found[0].specialization.len(), 1);
    assert_eq!(found[0].guest_shader.hash, Some(5));
}

#[test]
fn four_threads_record_ten_thousand_dispatches_in_the_order_in_which_they_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("threads.texeltrace");
    let output = run(Command::new(program("threads")).arg(&path));
    let order = String::from_utf8(output.stdout).unwrap();
    let found = dispatches(&path);
    assert_eq!(found.len(), 10_000);
    assert!(order.lines().eq(found.iter().map(|dispatch| dispatch.name.as_str())));
    for dispatch in &found {
        let (thread, number) = dispatch.name.split_once('-').unwrap();
        let first = thread.parse::<u32>().unwrap() << 24 | number.parse::<u32>().unwrap() << 8;
        let expected: Vec<u32> = (0..16).map(|i| first | i).collect();
        assert_eq!(dispatch.bindings[0].contents().0.unwrap().as_slice(), expected, "{}", dispatch.name);
        assert!(after(dispatch).iter().zip(&expected).all(|(after, before)| *after == !before), "{}", dispatch.name);
    }
}

#[test]
fn only_what_passes_the_filter_is_recorded_and_no_more_than_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("filtered.texeltrace");
    run(Command::new(program("limits")).arg("filtered").arg(&path));
    let found = dispatches(&path);
    let names: Vec<_> = found.iter().map(|dispatch| dispatch.name.as_str()).collect();
    assert_eq!(names, ["shader-0000000000000009", "shader-0000000000000009#2", "shader-0000000000000009#3"]);
    assert!(found.iter().zip(0..).all(|(dispatch, number)| after(dispatch) == [number]));
}

#[test]
fn a_file_stays_within_its_limit_and_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("small.texeltrace");
    run(Command::new(program("limits")).arg("small").arg(&path));
    let bytes = fs::metadata(&path).unwrap().len();
    // Short dispatches fill what long ones have no room in.
    assert!((150_000..=200_000).contains(&bytes), "{bytes}");
    let found = dispatches(&path);
    assert!(found.len() > 3 && found.iter().all(|dispatch| dispatch.ended));
}

#[test]
fn a_full_disk_is_an_error_and_leaves_what_was_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("full.texeltrace");
    // A limit of the shell on the length of files stands for a full disk: writes fail alike, and no signal ends the program.
    let script = "trap '' XFSZ; ulimit -f 2000; exec \"$0\" full \"$1\"";
    let output = run(Command::new("bash").args(["-c", script]).arg(program("limits")).arg(&path));
    let complete: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let reader = TraceReader::open(&path).unwrap();
    assert!(reader.recovery().is_some());
    let ended = (0..reader.len()).filter(|&index| reader.compute(index).unwrap().ended).count();
    // The one in which it failed may have been complete.
    assert!(complete >= 3 && (complete..=complete + 1).contains(&ended), "{complete} complete, {ended} read");
}

#[test]
fn a_recorder_that_is_killed_loses_no_dispatch_that_was_complete() {
    let program = program("endless");
    let dir = tempfile::tempdir().unwrap();
    let mut moment = 1u64;
    for round in 0..100 {
        let path = dir.path().join(format!("{round}.texeltrace"));
        let mut child = Command::new(&program).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || output.lines().map_while(Result::ok).last());
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(3000 + (moment >> 40) % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let complete: usize = reader.join().unwrap().map_or(0, |line| line.parse().unwrap());
        let Ok(reader) = TraceReader::open(&path) else {
            assert_eq!(complete, 0, "round {round}");
            continue;
        };
        let found: Vec<_> = (0..reader.len()).map(|index| reader.compute(index).unwrap()).collect();
        let ended = found.iter().take_while(|dispatch| dispatch.ended).count();
        assert!(ended >= complete, "round {round}: {complete} were complete, {ended} are read");
        assert!(found.len() <= ended + 1, "round {round}");
        for (number, dispatch) in found.iter().take(ended).enumerate() {
            assert_eq!(after(dispatch)[0], !u32::try_from(number).unwrap(), "round {round}");
        }
        fs::remove_file(&path).unwrap();
    }
}
