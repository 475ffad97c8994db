//! Compute dispatches in the window: outputs, bindings, module, steps.

use std::{
    fs,
    path::{Path, PathBuf},
};

use analyzer_gui::{
    args::Args,
    model::{causes::Known, choice::ExecutorChoice, outcome::Verdict},
    ui::{app::AnalyzerApp, panes::Pane},
};
use capture_format::{
    BoundBuffer, BoundImage, BoundResource, BoundSampler, BufferLayout, Case, ComputeBinding, ComputeDispatch,
    ElementType, GuestShader, HostFormat, HostView, Oracle, OracleSource, Recorded, Recording, SpecializationValue,
    TexelFormat, TraceMeta, WriteOptions, write_recording,
};
use clap::Parser as _;
use egui_kittest::{Harness, kittest::Queryable as _};
use replayer::{execute::embedded::Embedded, path::Path as ReplayPath, recorded};

use crate::{
    assemble::assemble,
    choose, click,
    support::{settle, window},
    verdict,
};

const TEXELS: [u32; 2] = [6, 4];
const SAMPLES: [u32; 2] = [16, 9];
const DISTANCE: f32 = 0.3;

fn module() -> Vec<u32> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capture-format/examples/recording/filter43.spvasm");
    assemble(&fs::read_to_string(source).unwrap())
}

fn texel(x: u32, y: u32) -> u32 {
    (y * TEXELS[0] + x).wrapping_mul(0x9e37_79b9) & 0x73bd_79ef
}

fn samples() -> impl Iterator<Item = [u32; 2]> {
    (0..SAMPLES[1]).flat_map(|y| (0..SAMPLES[0]).map(move |x| [x, y]))
}

/// T# of format 43, as large as the texels or the samples.
fn t_sharp([width, height]: [u32; 2]) -> [u32; 8] {
    [0, 43 << 20 | (width - 1) << 30, (width - 1) >> 2 | (height - 1) << 14, 0x9000_0fac, 0, 0, 0, 0]
}

/// Filters the texels, with weights to the nearest 1/256, or rounded down. Outputs are those of the embedded executor, but for the
/// storage image, which has the word of each sample's upper left texel.
fn dispatch(name: &str, round_down: bool) -> ComputeDispatch {
    let at = |binding, resource| ComputeBinding { set: 0, binding, element: 0, resource };
    let texels = (0..TEXELS[1]).flat_map(|y| (0..TEXELS[0]).map(move |x| texel(x, y)));
    let image = |extent: [u32; 2], storage| BoundImage {
        storage,
        descriptor: Some(t_sharp(extent)),
        combined: false,
        sampler: None,
        format: HostFormat::R32_UINT,
        view: HostView::D2,
        extent: [extent[0], extent[1], 1],
        layers: 1,
        levels: 1,
        before: None,
        output: storage,
        after: None,
    };
    let source = BoundImage {
        before: Some(texels.collect::<Vec<_>>().into()),
        sampler: Some([0x92, 0, 0x0050_0000, 0]),
        ..image(TEXELS, false)
    };
    let nearest = samples().map(|place| {
        let [x, y] = place.map(|n| (n as f32 * DISTANCE) as u32);
        texel(x.min(TEXELS[0] - 1), y.min(TEXELS[1] - 1))
    });
    let nearest = BoundImage { after: Some(nearest.collect::<Vec<_>>().into()), ..image(SAMPLES, true) };
    let filtered = BoundBuffer {
        uniform: false,
        descriptor: None,
        words: u64::from(SAMPLES[0] * SAMPLES[1] * 4),
        before: None,
        output: true,
        layout: BufferLayout { element: ElementType::Float, channels: 4, grid: Some([SAMPLES[0], SAMPLES[1], 1]) },
        after: None,
    };
    let mut dispatch = ComputeDispatch {
        name: name.to_owned(),
        module: module().into(),
        entry: "main".to_owned(),
        specialization: vec![SpecializationValue { id: 0, value: 0, bytes: 4 }],
        push_constants: vec![SAMPLES[0], SAMPLES[1], DISTANCE.to_bits()].into(),
        groups: [2, 2, 1],
        bindings: vec![
            at(0, BoundResource::Image(source)),
            at(2, BoundResource::Image(nearest)),
            at(1, BoundResource::Buffer(filtered)),
        ],
        guest_shader: GuestShader { hash: Some(0xabc), isa: vec![0xbf81_0000].into() },
        labels: vec!["frame 3".to_owned()],
        ended: true,
    };
    let outputs = recorded::run(&dispatch, &mut Embedded::new()).unwrap();
    set_after(&mut dispatch, 2, Some(outputs[1].words.clone()));
    dispatch.specialization[0].value = round_down.into();
    dispatch
}

fn set_after(dispatch: &mut ComputeDispatch, place: usize, words: Option<Vec<u32>>) {
    match &mut dispatch.bindings[place].resource {
        BoundResource::Image(image) => image.after = words.map(Into::into),
        BoundResource::Buffer(buffer) => buffer.after = words.map(Into::into),
        BoundResource::Sampler(_) => panic!("a sampler has no contents"),
    }
}

fn after(dispatch: &ComputeDispatch, place: usize) -> &[u32] {
    dispatch.bindings[place].contents().1.unwrap()
}

fn write(folder: &Path, dispatches: Vec<ComputeDispatch>) -> PathBuf {
    let oracle = Oracle {
        device: "tables".to_owned(),
        profile: "gfx1035".to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    let meta = TraceMeta { name: "recording".to_owned(), summary: String::new(), oracle };
    let path = folder.join("recording.texeltrace");
    let dispatches = dispatches.into_iter().map(Recorded::Compute).collect();
    write_recording(&path, &Recording { meta, dispatches }, WriteOptions::default()).unwrap();
    path
}

fn embedded(path: &Path) -> Args {
    Args { traces: vec![path.to_owned()], executor: Some(ExecutorChoice::Embedded), ..Args::default() }
}

/// Samples of the filtered output that differ between both roundings.
fn differing() -> (u64, usize) {
    let down = dispatch("down", true);
    let got = recorded::run(&down, &mut Embedded::new()).unwrap().remove(1).words;
    let (got, wanted) = (got.chunks(4), after(&down, 2).chunks(4));
    let differs: Vec<bool> = got.zip(wanted).map(|(got, wanted)| got != wanted).collect();
    (differs.iter().filter(|&&differs| differs).count() as u64, differs.iter().position(|&differs| differs).unwrap())
}

fn says(harness: &Harness<'_, AnalyzerApp>, text: &str) -> bool {
    harness.query_all_by_label_contains(text).next().is_some()
}

const FILTERED: &str = "set 0 binding 1: buffer of 576 words, float by 4";
const NEAREST: &str = "set 0 binding 2: image 16x9x1, 11_11_10_FLOAT (R10_G11_B11)";

#[test]
fn the_outputs_of_a_compute_dispatch_are_compared_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let dispatches = vec![dispatch("even", false), dispatch("down", true)];
    let path = write(folder.path(), dispatches.clone());
    let mut harness = window(embedded(&path));
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    assert_eq!(harness.state().session().path(), ReplayPath::Recorded);
    let (mismatched, first) = differing();
    for label in
        ["recording / even: match".to_owned(), "recording / down: mismatch".to_owned(), "path recorded".to_owned()]
    {
        assert!(says(&harness, &label), "{label}");
    }
    assert_eq!(harness.get_by_label("Output").value(), Some(format!("{NEAREST}: match")));
    // An image as any other, with the recorded texels on both sides.
    let got = harness.state().session().outcome().unwrap().0.got(17).unwrap();
    let [r, g, b, _] = TexelFormat::R10G11B11_FLOAT.unpack(after(&dispatches[0], 1)[17]);
    assert_eq!(got, [r, g, b, 0]);
    for view in ["Oracle image", "Result image", "Heatmap image", "Source texture image"] {
        assert!(harness.query_by_label(view).is_some(), "{view}");
    }

    // Of the other one the output that differs is shown.
    harness.key_press(egui::Key::PageDown);
    settle(&mut harness);
    assert_eq!(verdict(&harness), (Verdict::Mismatch, mismatched));
    assert_eq!(harness.get_by_label("Output").value(), Some(format!("{FILTERED}: mismatch")));
    assert!(says(&harness, &format!("{mismatched} of 144 samples differ")));
    click(&mut harness, "Next mismatch");
    let session = harness.state().session();
    assert_eq!(session.sample(), Some(first));
    let got = session.outcome().unwrap().0.got(first).unwrap();
    let wanted = session.shown().unwrap().dispatch.expected.as_ref().unwrap().sample(first).unwrap();
    assert_eq!(wanted, after(&dispatches[1], 2)[first * 4..first * 4 + 4]);
    let channel = (0..4).find(|&c| got[c] != wanted[c]).unwrap();
    for bits in [got[channel], wanted[channel]] {
        assert!(says(&harness, &format!("{bits:#010x}")), "{bits:#010x}");
    }
    for metric in ["|E|", "signed", "relative", "ULP"] {
        click(&mut harness, metric);
        harness.render().unwrap();
    }
    assert!(matches!(harness.state().session().causes(), Known::Failed(_)));
    assert!(says(&harness, "A compute dispatch is a program of its own"));

    choose(&mut harness, "Output", &format!("{NEAREST}: match"));
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    assert_eq!(harness.state().session().output(), 0);
    assert!(says(&harness, "recording / down: mismatch"), "the list has the verdict on all outputs");
    harness.render().unwrap();
}

#[test]
fn what_is_bound_and_what_runs_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), vec![dispatch("even", false)]);
    let mut harness = window(embedded(&path));
    for text in [
        "Bindings",
        "set 0 binding 0",
        "image 2d 6×4×1, 1 layers, 1 levels, VK_FORMAT_R32_UINT",
        "set 0 binding 2, output",
        "CLAMP_X",
        "2 CLAMP_LAST_TEXEL",
        "43 11_11_10_FLOAT",
        "storage buffer of 576 words, samples of 4 × float in 16×9×1",
        "contents before: not recorded, after: 576 words",
        "push constants",
        "0x00000010 0x00000009 0x3e99999a",
        "2 x 2 x 1",
        "frame 3",
        "0x0000000000000abc",
    ] {
        assert!(says(&harness, text), "{text}");
    }
    assert!(!says(&harness, "What the recording lacks"));
    harness.state_mut().show_pane(Pane::Spirv);
    settle(&mut harness);
    for text in ["ROUNDING", "OpCapability ImageQuery", "OpEntryPoint GLCompute"] {
        assert!(says(&harness, text), "{text}");
    }

    harness.state_mut().show_pane(Pane::Steps);
    choose(&mut harness, "Output", &format!("{FILTERED}: match"));
    harness.state_mut().session_mut().select_sample(Some(5 + 16 * 4));
    settle(&mut harness);
    assert!(says(&harness, "invocation 5,4,0, recorded"));
    assert!(says(&harness, "Texels of invocation 5,4,0"));
    // 5 * 0.3 and 4 * 0.3 lie in the texels from (1, 1) on.
    for (x, y) in [(1, 1), (2, 1), (1, 2), (2, 2)] {
        assert!(says(&harness, &format!("{x},{y}")) && says(&harness, &format!("{:#010x}", texel(x, y))), "{x},{y}");
    }
    harness.get_by_label("Filter steps").focus();
    harness.step();
    harness.get_by_label("Filter steps").type_text("ImageFetch");
    settle(&mut harness);
    click(&mut harness, "First step");
    let at = harness.state().steps().current();
    assert!(harness.query_by_label(&format!("Step {at}: OpImageFetch")).is_some());
    harness.render().unwrap();

    // The whole of it is written as a case.
    click(&mut harness, "Bindings");
    click(&mut harness, "Export as case…");
    harness.get_by_label("Export path").focus();
    harness.step();
    harness.get_by_label("Export path").type_text(&folder.path().join("case").display().to_string());
    settle(&mut harness);
    click(&mut harness, "Write file");
    let case = Case::read_recording(&folder.path().join("case")).unwrap();
    assert_eq!(case.dispatches, [Recorded::Compute(dispatch("even", false))]);
}

#[test]
fn a_link_opens_the_same_output_and_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), vec![dispatch("even", false)]);
    let mut harness = window(embedded(&path));
    choose(&mut harness, "Output", &format!("{FILTERED}: match"));
    harness.state_mut().session_mut().select_sample(Some(18));
    settle(&mut harness);
    let link = harness.state().link().unwrap();
    let again = window(Args::try_parse_from(link.split(' ').map(|word| word.trim_matches('\''))).unwrap());
    assert_eq!(again.state().link().unwrap(), link);
    assert_eq!(again.state().session().sample(), Some(18));
    assert_eq!(again.state().session().output(), 1);
}

#[test]
fn recordings_that_are_not_replayed_say_what_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    let good = dispatch("good", false);
    let mut cut = ComputeDispatch { name: "cut".to_owned(), ended: false, ..good.clone() };
    set_after(&mut cut, 1, None);
    set_after(&mut cut, 2, None);
    let mut sampler = ComputeDispatch { name: "sampler".to_owned(), ..good.clone() };
    let resource = BoundResource::Sampler(BoundSampler { descriptor: Some([0x92, 0, 0, 0]) });
    sampler.bindings.push(ComputeBinding { set: 1, binding: 0, element: 0, resource });
    let mut format = ComputeDispatch { name: "format".to_owned(), ..good.clone() };
    if let BoundResource::Image(image) = &mut format.bindings[1].resource {
        (image.format, image.descriptor) = (HostFormat(51), None);
    }
    let module = ComputeDispatch { name: "module".to_owned(), module: vec![1, 2, 3].into(), ..good.clone() };
    let mut silent = ComputeDispatch { name: "silent".to_owned(), ..good };
    silent.bindings.truncate(1);
    let path = write(folder.path(), vec![cut, sampler, format, module, silent]);
    let mut harness = window(embedded(&path));
    // Those that did not end stand last.
    for (name, found, reason, lack) in [
        ("sampler", Verdict::Refused, "the state of the host's sampler is not recorded", "set 1 binding 0: the state"),
        ("format", Verdict::Refused, "outputs of this host format are recorded, but not compared", "set 0 binding 2"),
        ("module", Verdict::Failed, "module", "module: 3 words, a SPIR-V header takes 5"),
        ("silent", Verdict::NoOracle, "the recording declares no output", "no output is declared"),
        ("cut", Verdict::NoOracle, "the recording ended before the dispatch did", "the end of the dispatch"),
    ] {
        let label = format!("recording / {name}: ");
        harness.query_all_by_label_contains(&label).next().expect(name).click();
        settle(&mut harness);
        assert_eq!(harness.state().session().selected_name(), Some(name));
        assert_eq!(verdict(&harness).0, found, "{name}");
        let summary = harness.state().session().outcome().unwrap().0.summary.clone();
        assert!(summary.reason.as_deref().is_some_and(|text| text.contains(reason)), "{name}: {summary:?}");
        assert!(says(&harness, summary.reason.as_deref().unwrap()), "{name}");
        assert!(says(&harness, summary.advice.unwrap()), "{name}");
        assert!(says(&harness, lack), "{name}: {lack}");
        for pane in [Pane::Spirv, Pane::Steps, Pane::Difference, Pane::Descriptors, Pane::Heatmap] {
            harness.state_mut().show_pane(pane);
            harness.state_mut().session_mut().select_sample(Some(0));
            settle(&mut harness);
            harness.render().unwrap();
        }
    }
}

#[test]
fn without_a_driver_a_compute_dispatch_runs_on_the_embedded_executor() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), vec![dispatch("even", false)]);
    let executor = Some(ExecutorChoice::Vulkan("no such device".to_owned()));
    let mut harness = window(Args { executor, ..embedded(&path) });
    assert_eq!(verdict(&harness).0, Verdict::Failed);
    assert!(says(&harness, "no such device") && says(&harness, "needs no driver"));
    click(&mut harness, "Use the embedded executor");
    assert_eq!(verdict(&harness).0, Verdict::Match);
}

#[test]
fn recordings_that_are_cut_short_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), vec![dispatch("even", false)]);
    let whole = fs::read(&path).unwrap();
    for part in (0..7).map(|n| whole.len() * n / 7).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..part]).unwrap();
        let mut harness = window(embedded(&path));
        let broken = harness.query_by_label("recording.texeltrace: cannot be opened").is_some();
        assert!(broken != says(&harness, "read in part"), "{part} of {} bytes: one of both is said", whole.len());
        if let Some((outcome, _)) = harness.state().session().outcome() {
            // Its end was written, or it was not: a part of the outputs is never taken for the whole.
            let verdict = outcome.summary.verdict;
            assert!(matches!(verdict, Verdict::Match | Verdict::NoOracle), "{part}: {verdict}");
        }
        harness.render().unwrap();
    }
}

#[test]
fn outputs_of_odd_shapes_and_values_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut nan = dispatch("nan", false);
    let words = after(&nan, 2).len();
    set_after(&mut nan, 2, Some(vec![0x7fc0_0000; words]));
    let mut one = dispatch("one", false);
    let layout = BufferLayout { element: ElementType::Sint, channels: 1, grid: None };
    one.push_constants = vec![1, 1, 0].into();
    for (place, words) in [(1, 1u32), (2, 4)] {
        match &mut one.bindings[place].resource {
            BoundResource::Image(image) => {
                (image.extent, image.after, image.descriptor) = ([1, 1, 1], Some(vec![texel(0, 0)].into()), None);
            }
            BoundResource::Buffer(buffer) => {
                (buffer.words, buffer.layout) = (words.into(), layout);
                let [r, g, b, _] = TexelFormat::R10G11B11_FLOAT.unpack(texel(0, 0));
                buffer.after = Some(vec![r, g, b, 0x3f80_0000].into());
            }
            BoundResource::Sampler(_) => panic!("nothing is bound to a sampler"),
        }
    }
    let path = write(folder.path(), vec![nan, one]);
    let mut harness = window(embedded(&path));
    assert_eq!(verdict(&harness), (Verdict::Mismatch, 144), "no result is NaN");
    for metric in ["|E|", "signed", "relative", "ULP"] {
        click(&mut harness, metric);
        harness.key_press(egui::Key::N);
        settle(&mut harness);
        harness.render().unwrap();
    }
    harness.key_press(egui::Key::PageDown);
    settle(&mut harness);
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    for output in [
        "set 0 binding 1: buffer of 4 words, sint by 1: match",
        "set 0 binding 2: image 1x1x1, VK_FORMAT_R32_UINT: match",
    ] {
        choose(&mut harness, "Output", output);
        harness.state_mut().session_mut().select_sample(Some(0));
        settle(&mut harness);
        click(&mut harness, "Close up");
        harness.render().unwrap();
    }
}
