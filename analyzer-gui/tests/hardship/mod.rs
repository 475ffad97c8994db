//! What goes wrong in use: damaged and vanishing files, values that are no numbers, odd shapes, no driver.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use analyzer_gui::{
    args::Args,
    model::{choice::ExecutorChoice, outcome::Verdict, raster::Metric},
    ui::app::AnalyzerApp,
};
use capture_format::{
    Column, Coords, Dispatch, Expected, ImageDescriptor, Op, Oracle, OracleSource, SamplerDescriptor, Trace, Words,
    WriteOptions, write_trace,
};
use clap::Parser as _;
use egui_kittest::{Harness, kittest::Queryable as _};
use replayer::{
    path::{Path as ReplayPath, evaluate},
    rules::Profile,
};

use crate::{
    click, open,
    support::{settle, trace, window},
    verdict,
};

const NAN: u32 = 0x7fc0_0000;
const INFINITY: u32 = 0x7f80_0000;

/// A dispatch that samples a texture of 4×4 texels of format 43, bilinear and clamped to the edge.
fn dispatch(name: &str, grid: [u32; 3], coordinate: impl Fn(u32) -> [u32; 2]) -> Dispatch {
    let image = ImageDescriptor::from_words([0, 0, 0x8000_0000, 0x9000_03ac, 0, 0, 0, 0]);
    let samples = grid.iter().product::<u32>();
    Dispatch {
        name: name.to_owned(),
        op: Op::SAMPLE_LZ,
        grid,
        image: image.with_format(43).unwrap().with_width(4).unwrap().with_height(4).unwrap().words(),
        sampler: Some(SamplerDescriptor::from_words([0x92, 0x00ff_f000, 0x0050_0000, 0]).words()),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: (0..16u32).map(|n| n << 5 | n << 16 | n << 26).collect::<Vec<_>>().into(),
        coords: Coords {
            columns: vec![Column::U, Column::V],
            words: (0..samples).flat_map(coordinate).collect::<Vec<_>>().into(),
        },
        expected: None,
    }
}

fn along_x(samples: u32) -> impl Fn(u32) -> [u32; 2] {
    move |n| [(n as f32 / samples as f32).to_bits(), 0.5f32.to_bits()]
}

fn with_expected(dispatch: Dispatch, word: impl Fn(usize) -> u32) -> Dispatch {
    let words: Words = (0..dispatch.sample_count() as usize * 4).map(word).collect::<Vec<_>>().into();
    Dispatch { expected: Some(Expected { words, measured: None }), ..dispatch }
}

/// Writes a trace and returns its path.
fn write(folder: &Path, name: &str, dispatches: Vec<Dispatch>) -> PathBuf {
    let path = folder.join(format!("{name}.texeltrace"));
    let oracle = Oracle {
        device: "made by hand".to_owned(),
        profile: "gfx1035".to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    let trace = Trace { name: name.to_owned(), summary: String::new(), oracle, dispatches };
    write_trace(&path, &trace, WriteOptions::default()).unwrap();
    path
}

fn window_on(path: &Path) -> Harness<'static, AnalyzerApp> {
    window(Args { traces: vec![path.to_owned()], ..Args::default() })
}

/// Runs frames until a message holds a text; files are looked at once a second.
fn wait_for(harness: &mut Harness<'_, AnalyzerApp>, text: &str) {
    let started = Instant::now();
    while harness.query_all_by_label_contains(text).next().is_none() {
        assert!(started.elapsed() < Duration::from_secs(30), "{text:?} is never said");
        std::thread::sleep(Duration::from_millis(20));
        harness.step();
    }
    settle(harness);
}

/// Goes through all that can be shown of what is selected.
fn look_at_everything(harness: &mut Harness<'_, AnalyzerApp>) {
    for metric in Metric::ALL {
        click(harness, metric.name());
    }
    for key in [egui::Key::X, egui::Key::W, egui::Key::Num0, egui::Key::B, egui::Key::S, egui::Key::L, egui::Key::N] {
        harness.key_press(key);
        settle_blinking(harness);
    }
    harness.key_press(egui::Key::B);
    let image = harness.get_by_label("Result image").rect();
    harness.hover_at(image.center());
    settle(harness);
    harness.render().unwrap();
    harness.state_mut().session_mut().select_sample(Some(0));
    settle(harness);
    click(harness, "Close up");
    harness.render().unwrap();
}

/// As `settle`, while pictures alternate.
fn settle_blinking(harness: &mut Harness<'_, AnalyzerApp>) {
    for _ in 0..4 {
        harness.step();
    }
}

#[test]
fn traces_that_are_cut_short_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(trace("gfx1035/weight-rounding.texeltrace")).unwrap();
    let path = folder.path().join("cut.texeltrace");
    for part in [0, 1, 8, 40, whole.len() / 4, whole.len() / 2, whole.len() * 9 / 10, whole.len() - 1] {
        fs::write(&path, &whole[..part]).unwrap();
        let mut harness = window_on(&path);
        settle(&mut harness);
        let broken = harness.query_by_label("cut.texeltrace: cannot be opened").is_some();
        let in_part = harness.query_all_by_label_contains("read in part").next().is_some();
        assert!(broken != in_part, "{part} of {} bytes: one of both is said", whole.len());
        let shown = harness.state().session().shown().is_some();
        assert!(!(broken && shown), "nothing of a file that does not open is shown");
    }
}

/// The text of a shipped case with something of it replaced.
fn case_with(folder: &Path, from: &str, to: &str) -> PathBuf {
    let text = fs::read_to_string(trace("gfx1035/weight-rounding.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let path = folder.join("case.toml");
    fs::write(&path, text.replace(from, to)).unwrap();
    path
}

#[test]
fn what_is_no_trace_says_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("folder.texeltrace")).unwrap();
    fs::write(at("text.txt"), "nothing").unwrap();
    fs::write(at("noise.texeltrace"), [0x5a; 4096]).unwrap();
    fs::write(at("case.toml"), "schema = 1\nname = [").unwrap();
    for (name, expected) in [
        ("folder.texeltrace", "no traces there; expected .texeltrace files or folders with case.toml"),
        ("text.txt", "expected a .texeltrace file, a case (.toml), or a folder with case.toml"),
        ("noise.texeltrace", "noise.texeltrace: cannot be opened"),
        ("case.toml", "case.toml: cannot be opened"),
        ("absent.texeltrace", "absent.texeltrace"),
    ] {
        let mut harness = window_on(&at(name));
        assert!(harness.query_all_by_label_contains(expected).next().is_some(), "{name}");
        assert!(harness.query_by_label("No trace is open").is_some(), "{name}");
        harness.render().unwrap();
    }
}

#[test]
fn sizes_that_nothing_has_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("grid = [3, 1, 1]", "grid = [4294967295, 4294967295, 4294967295]"),
        ("grid = [3, 1, 1]", "grid = [0, 1, 1]"),
        ("\"0x80000007\"", "\"0xffffffff\""),
    ] {
        let mut harness = window_on(&case_with(folder.path(), from, to));
        let broken = harness.query_by_label("case.toml: cannot be opened").is_some();
        let refused = harness.state().session().outcome().is_some_and(|(o, _)| o.summary.verdict == Verdict::Refused);
        assert!(broken || refused, "{to}");
        if refused {
            let (outcome, _) = harness.state().session().outcome().unwrap();
            let reason = outcome.summary.reason.clone().unwrap();
            assert!(harness.query_all_by_label_contains(&reason).next().is_some(), "{to}: {reason}");
            look_at_everything(&mut harness);
        }
        harness.render().unwrap();
    }
}

#[test]
fn bytes_that_are_wrong_are_said_for_their_dispatch_only() {
    let folder = tempfile::tempdir().unwrap();
    let dispatches = ["a", "b"].map(|name| with_expected(dispatch(name, [64, 64, 1], along_x(4096)), |n| n as u32));
    let path = write(folder.path(), "wrong", dispatches.to_vec());
    let mut bytes = fs::read(&path).unwrap();
    // The last words of the second dispatch's results; equal arrays are stored once, so both have the same.
    let at = bytes.windows(8).rposition(|w| w == [0xfe, 0x3f, 0, 0, 0xff, 0x3f, 0, 0]).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let harness = window_on(&path);
    let reason = harness.state().session().unreadable().expect("the checksum does not hold");
    assert!(reason.contains("wrong.texeltrace"), "{reason}");
    assert!(harness.query_all_by_label_contains(reason).next().is_some());
    assert!(harness.query_all_by_label_contains("other dispatches of the trace can still be read").next().is_some());
}

#[test]
fn a_file_that_is_deleted_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone.texeltrace");
    fs::copy(trace("gfx1035/weight-rounding.texeltrace"), &path).unwrap();
    let mut harness = window_on(&path);
    fs::remove_file(&path).unwrap();
    wait_for(&mut harness, "gone.texeltrace: was deleted");
    click(&mut harness, "Run again");
    assert_eq!(verdict(&harness).0, Verdict::Match);
}

#[test]
fn a_file_that_is_replaced_can_be_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "first", vec![dispatch("old", [2, 1, 1], along_x(2))]);
    let mut harness = window_on(&path);
    assert_eq!(harness.state().session().selected_name(), Some("old"));
    let other = write(folder.path(), "second", vec![dispatch("new", [3, 1, 1], along_x(3))]);
    fs::rename(other, &path).unwrap();
    wait_for(&mut harness, "first.texeltrace: was replaced");
    assert_eq!(harness.state().session().selected_name(), Some("old"), "nothing changes unasked");
    click(&mut harness, "Open again");
    assert_eq!(harness.state().session().selected_name(), Some("new"));
    assert!(harness.query_all_by_label_contains("was replaced").next().is_none(), "the message is gone");
}

#[cfg(unix)]
#[test]
fn nothing_of_a_file_that_was_shortened_is_read_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let samples = 512 * 512;
    let large = with_expected(dispatch("large", [512, 512, 1], along_x(samples)), |n| n as u32);
    let path = write(folder.path(), "short", vec![large]);
    let mut harness = window_on(&path);
    assert!(harness.state().session().shown().unwrap().dispatch.expected.as_ref().unwrap().words.is_mapped());
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(100).unwrap();
    // No frame may come between: it could draw what is gone. The look at the file is in another thread.
    std::thread::sleep(Duration::from_millis(2500));
    wait_for(&mut harness, "short.texeltrace: was shortened by another program");
    assert!(harness.state().session().shown().is_none());
    harness.render().unwrap();
}

#[test]
fn values_that_are_no_numbers_are_shown_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let odd = |n: u32| [[NAN, INFINITY, 0xff80_0000, 1][n as usize % 4], [INFINITY, NAN, 0x8000_0000][n as usize % 3]];
    let sample = dispatch("odd", [16, 16, 1], odd);
    let nan_texels = Dispatch { texels: vec![u32::MAX; 16].into(), ..dispatch("nan", [16, 16, 1], along_x(256)) };
    let dispatches = vec![
        with_expected(sample.clone(), |_| NAN),
        with_expected(Dispatch { name: "infinite".to_owned(), ..sample }, |n| {
            [INFINITY, 0xff80_0000, 1, 0x8000_0000][n % 4]
        }),
        with_expected(nan_texels, |n| if n % 2 == 0 { NAN } else { INFINITY }),
    ];
    let path = write(folder.path(), "odd", dispatches);
    let mut harness = window_on(&path);
    for _ in 0..3 {
        look_at_everything(&mut harness);
        harness.key_press(egui::Key::PageDown);
        settle(&mut harness);
    }
    // NaN against NaN agrees, NaN against a number does not.
    let (verdict, mismatched) = verdict(&harness);
    assert_eq!((verdict, mismatched), (Verdict::Mismatch, 256), "W is 1, never NaN or infinite");
    let found = harness.state().session().outcome().unwrap().0.difference(0).unwrap();
    assert_eq!(found.channels, 0b1010, "X and Z are NaN on both sides");
}

#[test]
fn odd_shapes_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let shapes = [[65_536, 1, 1], [1, 65_536, 1], [1, 1, 1], [3, 1, 5], [20_000, 3, 1], [1, 1, 300]];
    let dispatches = shapes
        .map(|grid| {
            let samples = grid.iter().product::<u32>();
            let dispatch = dispatch(&format!("{grid:?}"), grid, along_x(samples));
            let words = evaluate(&dispatch, ReplayPath::Reference, &Profile::GFX1035, None, false).unwrap();
            // The last sample differs alone.
            let last = words.len() - 4;
            with_expected(dispatch, |n| words[n] ^ u32::from(n == last))
        })
        .to_vec();
    let path = write(folder.path(), "shapes", dispatches);
    let mut harness = window_on(&path);
    for grid in shapes {
        let name = format!("{grid:?}");
        assert_eq!(harness.state().session().selected_name(), Some(name.as_str()));
        assert_eq!(verdict(&harness), (Verdict::Mismatch, 1), "{name}");
        let last = grid.iter().product::<u32>() as usize - 1;
        harness.key_press(egui::Key::N);
        settle(&mut harness);
        assert_eq!(harness.state().session().sample(), Some(last), "{name}");
        click(&mut harness, "Close up");
        harness.render().unwrap();
        harness.state_mut().session_mut().select_sample(Some(0));
        harness.get_by_label("Go to sample").focus();
        harness.step();
        let text = format!("{},{},{}", grid[0] - 1, grid[1] - 1, grid[2] - 1);
        harness.get_by_label("Go to sample").type_text(&text);
        harness.step();
        harness.key_press(egui::Key::Enter);
        settle(&mut harness);
        assert_eq!(harness.state().session().sample(), Some(last), "{name}");
        assert_eq!(harness.state().session().slice(), grid[2] - 1, "{name}");
        harness.key_press(egui::Key::PageDown);
        settle(&mut harness);
    }
}

#[test]
fn a_dispatch_without_oracle_shows_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "alone", vec![dispatch("alone", [8, 8, 1], along_x(64))]);
    let mut harness = window_on(&path);
    assert_eq!(verdict(&harness), (Verdict::NoOracle, 0));
    assert!(harness.query_all_by_label_contains("no oracle to hold them against").next().is_some());
    harness.state_mut().session_mut().select_sample(Some(9));
    settle(&mut harness);
    for label in ["Sample 1,1,0", "Taps", "not measured"] {
        assert!(harness.query_all_by_label(label).next().is_some(), "{label}");
    }
    harness.render().unwrap();
}

#[test]
fn a_texture_larger_than_its_texels_is_refused() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    for (field, value) in [("WIDTH_HI", 0xfff), ("HEIGHT", 0x3fff)] {
        let field = ImageDescriptor::field(field).unwrap();
        let image = analyzer_gui::model::edits::Descriptor::Image;
        harness.state_mut().session_mut().set_field(image, field, value).unwrap();
        settle(&mut harness);
    }
    let (verdict, _) = verdict(&harness);
    assert_eq!(verdict, Verdict::Refused);
    assert!(harness.state().session().shown().unwrap().texture.is_err());
    harness.render().unwrap();
}

#[test]
fn without_the_chosen_device_the_window_says_what_to_do() {
    let mut harness = window(Args {
        traces: vec![trace("gfx1035/weight-rounding.texeltrace")],
        path: Some(ReplayPath::Emulated),
        executor: Some(ExecutorChoice::Vulkan("no such device".to_owned())),
        ..Args::default()
    });
    assert_eq!(verdict(&harness).0, Verdict::Failed);
    assert!(harness.query_all_by_label_contains("no such device").next().is_some());
    assert!(harness.query_all_by_label_contains("needs no driver").next().is_some());
    click(&mut harness, "Use the reference path");
    assert_eq!(verdict(&harness).0, Verdict::Match);
}

#[test]
fn a_window_may_be_of_any_size() {
    let mut harness = open(&["h200/random-2d/random-2d.texeltrace"]);
    click_next(&mut harness);
    for [width, height] in [[320.0, 320.0], [100.0, 60.0], [1.0, 1.0], [2600.0, 200.0], [200.0, 1400.0]] {
        harness.set_size(egui::vec2(width, height));
        settle(&mut harness);
        harness.render().unwrap();
    }
}

fn click_next(harness: &mut Harness<'_, AnalyzerApp>) {
    harness.state_mut().session_mut().select_sample(Some(5));
    settle(harness);
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn files_and_folders_are_dropped_on_the_window() {
    let mut harness = window(Args::default());
    let paths = [trace("gfx1035/trunc-coord.texeltrace"), trace("h200/mips")];
    harness.input_mut().dropped_files = paths.iter().map(|path| Arc::new(Dropped(path.clone())) as _).collect();
    settle(&mut harness);
    let names: Vec<_> = harness.state().session().traces().iter().map(|entry| entry.path.clone()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(harness.query_all_by_label_contains("Trace mips").next().is_some());
}

#[test]
fn the_traces_of_the_list_are_folded() {
    let mut harness = open(&["gfx1035/trunc-coord.texeltrace", "h200/random-2d/random-2d.texeltrace"]);
    assert!(harness.query_by_label("random-2d / edge: match").is_some());
    click(&mut harness, "Trace random-2d: 5 match");
    assert!(harness.query_by_label("random-2d / edge: match").is_none());
    assert!(harness.query_by_label("trunc-coord / set: match").is_some());
    click(&mut harness, "Trace random-2d: 5 match");
    assert!(harness.query_by_label("random-2d / edge: match").is_some());
}

#[test]
fn a_link_opens_the_same_view() {
    let mut harness = window(Args {
        traces: vec![trace("h200/random-2d")],
        goto: Some("edge:17,3,0".parse().unwrap()),
        profile: Some("gfx1035".to_owned()),
        ..Args::default()
    });
    harness
        .state_mut()
        .session_mut()
        .set_field(analyzer_gui::model::edits::Descriptor::Sampler, &SamplerDescriptor::TRUNC_COORD, 1)
        .unwrap();
    settle(&mut harness);
    click(&mut harness, "Close up");
    click(&mut harness, "relative");
    harness.key_press(egui::Key::Y);
    settle(&mut harness);
    let link = harness.state().link().unwrap();
    // The words of a shell: this link has none with a quote in it.
    let words = link.split(' ').map(|word| word.trim_matches('\''));
    let args = Args::try_parse_from(words).unwrap();
    let again = window(args);
    assert_eq!(again.state().link().unwrap(), link);
    assert_eq!(verdict(&again), verdict(&harness));
    assert_eq!(again.state().view().viewport, harness.state().view().viewport);
    assert_eq!(again.state().session().sample(), Some(3 * 128 + 17));
}
