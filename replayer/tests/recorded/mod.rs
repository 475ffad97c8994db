//! The commands on a recording of compute dispatches.

use std::{
    fs,
    path::{Path, PathBuf},
};

use capture_format::{
    BoundBuffer, BoundImage, BoundResource, BufferLayout, ComputeBinding, ComputeDispatch, ElementType, GuestShader,
    HostFormat, HostView, Oracle, OracleSource, Recorded, Recording, TexelFormat, TraceMeta, WriteOptions,
    write_recording,
};

use super::{Folder, assemble::assemble, json, replayer, text};

const WIDTH: u32 = 6;
const HEIGHT: u32 = 4;

fn module(name: &str) -> Vec<u32> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capture-format/examples/recording");
    assemble(&fs::read_to_string(examples.join(name)).unwrap())
}

fn texels() -> Vec<u32> {
    (0..WIDTH * HEIGHT).map(|i| i.wrapping_mul(0x9e37_79b9)).collect()
}

/// Unpacks an image of FORMAT 43; its outputs are by the format tables of `capture-format`.
fn dispatch() -> ComputeDispatch {
    let at = |binding, resource| ComputeBinding { set: 0, binding, element: 0, resource };
    let descriptor = [0, 43 << 20 | (WIDTH - 1) << 30, (WIDTH - 1) >> 2 | (HEIGHT - 1) << 14, 0x9000_03ac, 0, 0, 0, 0];
    let image = BoundImage {
        storage: false,
        descriptor: Some(descriptor),
        combined: false,
        sampler: Some([0x12, 0, 0x0050_0000, 0]),
        format: HostFormat::R32_UINT,
        view: HostView::D2,
        extent: [WIDTH, HEIGHT, 1],
        layers: 1,
        levels: 1,
        before: Some(texels().into()),
        output: false,
        after: None,
    };
    let unpacked = texels().into_iter().flat_map(|word| {
        let [r, g, b, _] = TexelFormat::R10G11B11_FLOAT.unpack(word);
        [r, g, b]
    });
    let buffer = BoundBuffer {
        uniform: false,
        descriptor: None,
        words: u64::from(WIDTH * HEIGHT * 3),
        before: None,
        output: true,
        layout: BufferLayout { element: ElementType::Float, channels: 3, grid: Some([WIDTH, HEIGHT, 1]) },
        after: Some(unpacked.collect::<Vec<_>>().into()),
    };
    ComputeDispatch {
        name: "unpack".to_owned(),
        module: module("unpack43.spvasm").into(),
        entry: "main".to_owned(),
        specialization: Vec::new(),
        push_constants: Vec::new().into(),
        groups: [1, 1, 1],
        bindings: vec![at(0, BoundResource::Image(image)), at(1, BoundResource::Buffer(buffer))],
        guest_shader: GuestShader { hash: Some(0xabc), isa: vec![0xbf81_0000].into() },
        labels: vec!["frame 3".to_owned()],
        ended: true,
    }
}

fn write(folder: &Folder, name: &str, dispatches: Vec<ComputeDispatch>) -> PathBuf {
    let oracle = Oracle {
        device: "tables".to_owned(),
        profile: "gfx1035".to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    let meta = TraceMeta { name: name.to_owned(), summary: String::new(), oracle };
    let dispatches = dispatches.into_iter().map(Recorded::Compute).collect();
    let path = folder.path(&format!("{name}.texeltrace"));
    write_recording(&path, &Recording { meta, dispatches }, WriteOptions::default()).unwrap();
    path
}

fn output(dispatch: &mut ComputeDispatch) -> &mut BoundBuffer {
    match &mut dispatch.bindings[1].resource {
        BoundResource::Buffer(buffer) => buffer,
        other => panic!("expected a buffer, found {other:?}"),
    }
}

#[test]
fn each_dispatch_is_judged_by_its_outputs() {
    let folder = Folder::new();
    let good = dispatch();
    let mut wrong = ComputeDispatch { name: "wrong".to_owned(), ..good.clone() };
    let mut words = output(&mut wrong).after.clone().unwrap().to_vec();
    words[3 * 7 + 1] ^= 1;
    output(&mut wrong).after = Some(words.into());
    let mut cut = ComputeDispatch { name: "cut".to_owned(), ended: false, ..good.clone() };
    output(&mut cut).after = None;
    let trace = write(&folder, "recording", vec![good, wrong, cut]).display().to_string();

    let run = replayer(&["run", &trace, "--executor", "embedded", "--json", "-"]);
    // A dispatch without an oracle is an input that is missing.
    assert_eq!(run.status.code(), Some(3), "{}", text(&run.stderr));
    let results = json(&run);
    let status = |index: usize| results["dispatches"][index]["status"].as_str().unwrap().to_owned();
    assert_eq!([status(0), status(1), status(2)], ["match", "mismatch", "no-oracle"]);
    let differing = &results["dispatches"][1];
    assert_eq!((differing["path"].as_str(), differing["mismatched"].as_u64()), (Some("recorded"), Some(1)));
    assert_eq!(differing["grid"], serde_json::json!([WIDTH, HEIGHT, 1]));
    let named = &differing["outputs"][0];
    assert_eq!(named["name"], "set 0 binding 1: buffer of 72 words, float by 3");
    assert_eq!(named["first"][0]["position"], serde_json::json!([1, 1, 0]));
    assert_eq!(named["first"][0]["channels"], 0b10);
    assert!(
        results["dispatches"][2]["reason"].as_str().unwrap().contains("the recording ended before the dispatch did")
    );

    let shown = text(&replayer(&["run", &trace, "--executor", "embedded", "--filter", "wrong"]).stdout);
    assert!(
        shown.contains("output set 0 binding 1: buffer of 72 words, float by 3: 1 of 24 samples differ"),
        "{shown}"
    );
    assert!(shown.contains("(1,1,0)        Y  got "), "{shown}");

    for (arguments, reason) in [
        (["--path", "emulated"], "a compute dispatch is run by its own SPIR-V, expected the path recorded"),
        (["--against", "reference"], "held against its recorded outputs, expected oracle"),
    ] {
        let refused = replayer(&[&["run", &trace, "--executor", "embedded", "--json", "-"][..], &arguments].concat());
        let first = &json(&refused)["dispatches"][0];
        assert_eq!(first["status"], "refused");
        assert!(first["reason"].as_str().unwrap().contains(reason), "{first}");
    }
    let sample = super::traces("gfx1035/weight-rounding.toml");
    let refused = replayer(&["run", &sample, "--path", "recorded", "--executor", "embedded", "--json", "-"]);
    let first = &json(&refused)["dispatches"][0];
    assert!(first["reason"].as_str().unwrap().contains("a sample dispatch holds no SPIR-V"), "{first}");
}

#[test]
fn a_self_check_says_what_is_missing_and_runs_nothing() {
    let folder = Folder::new();
    let good = dispatch();
    let complete = write(&folder, "complete", vec![good.clone()]).display().to_string();
    let check = replayer(&["run", "--self-check", &complete]);
    let shown = text(&check.stdout);
    assert_eq!((check.status.code(), shown.lines().next()), (Some(0), Some("complete   complete/unpack")), "{shown}");

    let mut cut = ComputeDispatch { name: "cut".to_owned(), ended: false, ..good.clone() };
    output(&mut cut).after = None;
    cut.bindings.remove(0);
    let mut other = ComputeDispatch { name: "other".to_owned(), entry: "start".to_owned(), ..good.clone() };
    other.module = vec![1, 2, 3].into();
    let mut unlike = ComputeDispatch { name: "unlike".to_owned(), entry: "start".to_owned(), ..good };
    unlike.bindings.swap(0, 1);
    unlike.bindings[0].binding = 0;
    unlike.bindings[1].binding = 1;
    let lacking = write(&folder, "lacking", vec![cut, other, unlike]).display().to_string();
    let check = replayer(&["run", "--self-check", &lacking]);
    let shown = text(&check.stdout);
    assert_eq!(check.status.code(), Some(3), "{shown}");
    for line in [
        "lacks      lacking/cut",
        "           the end of the dispatch was not recorded",
        "           set 0 binding 0: the module uses it, nothing was recorded there",
        "           module: 3 words, a SPIR-V header takes 5",
        "           the module has no entry point \"start\" for compute, there are: main",
        "           set 0 binding 0: the module has an image without a sampler, a storage buffer was recorded",
        "           set 0 binding 1: the module has a storage buffer, an image without a sampler was recorded",
        "0 of 3 dispatches can be replayed and compared",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line:?} in {shown}");
    }
}

#[test]
fn a_recording_is_shown_and_goes_to_text_and_back() {
    let folder = Folder::new();
    let trace = write(&folder, "recording", vec![dispatch()]);
    let name = trace.display().to_string();
    let shown = text(&replayer(&["info", &name]).stdout);
    for part in [
        "unpack  compute dispatch",
        "label    frame 3",
        "guest    shader 0x0000000000000abc, 1 words of machine code",
        "set 0 binding 0: image 2d 6×4×1, 1 layers, 1 levels, VK_FORMAT_R32_UINT",
        "11_11_10_FLOAT",
        "XY_MAG_FILTER",
        "set 0 binding 1: storage buffer of 72 words, samples of 3 × float in 6×4×1",
        "output 72 words",
    ] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    let all = json(&replayer(&["info", &name, "--dispatch", "unpack", "--json"]));
    assert_eq!(all["dispatches"][0]["bindings"][1]["after_words"], 72);

    let unpacked = replayer(&["unpack", &name, "-o", &folder.name("case"), "--inline", "30"]);
    assert_eq!(unpacked.status.code(), Some(0), "{}", text(&unpacked.stderr));
    let packed = replayer(&["pack", &folder.name("case"), "-o", &folder.name("again.texeltrace")]);
    assert_eq!(packed.status.code(), Some(0), "{}", text(&packed.stderr));
    assert!(fs::read(&trace).unwrap() == fs::read(folder.path("again.texeltrace")).unwrap());
    // The text form runs as well.
    let run = replayer(&["run", &folder.name("case"), "--executor", "embedded"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
}

#[test]
fn an_invocation_is_explained_by_its_taps_beside_those_of_the_rules() {
    let folder = Folder::new();
    let trace = write(&folder, "recording", vec![dispatch()]).display().to_string();
    let explained = replayer(&["explain", &trace, "--dispatch", "unpack", "--sample", "8,0,0", "--at", "0.4,0.4"]);
    let shown = text(&explained.stdout);
    assert_eq!(explained.status.code(), Some(0), "{shown}{}", text(&explained.stderr));
    let word = texels()[8];
    let [r, ..] = TexelFormat::R10G11B11_FLOAT.unpack(word);
    let tap = format!("  reads  set 0 binding 0  level 0  (2,1)  {word:#010x}   X {}", f32::from_bits(r));
    assert!(shown.contains("invocation (8,0,0), 1 accesses to images"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with(&tap)), "{tap:?} in {shown}");
    assert!(shown.contains("by the rules of gfx1035:"), "{shown}");
    assert!(!shown.contains("outside the image"), "{shown}");
    // Texels 1.9 and 1.1 less a half: the four around it.
    for texel in [(1, 1), (2, 1), (1, 2), (2, 2)].map(|(x, y)| texels()[x + 6 * y]) {
        assert!(shown.contains(&format!("{texel:#010x}")), "{texel:#010x} in {shown}");
    }

    let outside = replayer(&["explain", &trace, "--dispatch", "unpack", "--sample", "64,0,0"]);
    assert_eq!(outside.status.code(), Some(64), "{}", text(&outside.stderr));
    let without = replayer(&["explain", &trace, "--dispatch", "unpack"]);
    assert!(text(&without.stderr).contains("expected --sample X,Y,Z"), "{}", text(&without.stderr));
}

/// Stores texel (0, 0) of the image of its own number, in an array of unknown length.
const BINDLESS: &str = "
               OpCapability Shader
               OpCapability RuntimeDescriptorArray
               OpCapability ShaderNonUniform
               OpCapability SampledImageArrayNonUniformIndexing
               OpExtension \"SPV_EXT_descriptor_indexing\"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main \"main\" %lane
               OpExecutionMode %main LocalSize 4 1 1
               OpName %images \"images\"
               OpDecorate %lane BuiltIn LocalInvocationIndex
               OpDecorate %images DescriptorSet 0
               OpDecorate %images Binding 0
               OpDecorate %results DescriptorSet 0
               OpDecorate %results Binding 1
               OpDecorate %words ArrayStride 4
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %place NonUniform
               OpDecorate %one NonUniform
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
      %uint2 = OpTypeVector %uint 2
      %uint4 = OpTypeVector %uint 4
      %image = OpTypeImage %uint 2D 0 0 0 1 Unknown
      %array = OpTypeRuntimeArray %image
   %to_array = OpTypePointer UniformConstant %array
   %to_image = OpTypePointer UniformConstant %image
     %images = OpVariable %to_array UniformConstant
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
   %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
    %results = OpVariable %to_block StorageBuffer
      %input = OpTypePointer Input %uint
       %lane = OpVariable %input Input
       %zero = OpConstant %uint 0
     %origin = OpConstantComposite %uint2 %zero %zero
  %signature = OpTypeFunction %void
       %main = OpFunction %void None %signature
      %label = OpLabel
          %n = OpLoad %uint %lane
      %place = OpAccessChain %to_image %images %n
        %one = OpLoad %image %place
      %texel = OpImageFetch %uint4 %one %origin Lod %zero
       %word = OpCompositeExtract %uint %texel 0
     %result = OpAccessChain %to_word %results %zero %n
               OpStore %result %word
               OpReturn
               OpFunctionEnd
";

#[test]
fn images_chosen_by_each_invocation_are_replayed_and_explained() {
    let folder = Folder::new();
    let mut bindless = ComputeDispatch { module: assemble(BINDLESS).into(), ..dispatch() };
    let BoundResource::Image(image) = bindless.bindings[0].resource.clone() else { panic!("an image comes first") };
    let element = |element: u32| {
        let before = Some(vec![10 * element].into());
        let image = BoundImage { descriptor: None, extent: [1, 1, 1], before, ..image.clone() };
        ComputeBinding { set: 0, binding: 0, element, resource: BoundResource::Image(image) }
    };
    let buffer = output(&mut bindless);
    let layout = BufferLayout { element: ElementType::Uint, channels: 1, grid: None };
    *buffer = BoundBuffer { words: 4, layout, after: Some(vec![0, 10, 20, 30].into()), ..buffer.clone() };
    let results = bindless.bindings[1].clone();
    bindless.bindings = [3, 0, 2, 1].map(element).into_iter().chain([results]).collect();
    let mut short = ComputeDispatch { name: "short".to_owned(), ..bindless.clone() };
    short.bindings.remove(0);
    let trace = write(&folder, "bindless", vec![bindless, short]).display().to_string();

    let run = json(&replayer(&["run", &trace, "--executor", "embedded", "--json", "-"]));
    assert_eq!(run["dispatches"][0]["status"], "match", "{run}");
    let problem = "set 0, binding 0 (images) is an array of 3: OpImageFetch at word";
    let reason = run["dispatches"][1]["reason"].as_str().unwrap();
    assert!(reason.contains(problem) && reason.ends_with("accesses element 3, which is out of range"), "{reason}");

    let explained = replayer(&["explain", &trace, "--dispatch", "unpack", "--sample", "2,0,0"]);
    let shown = text(&explained.stdout);
    assert!(shown.contains("reads  set 0 binding 0 element 2  level 0  (0,0)  0x00000014"), "{shown}");

    let check = text(&replayer(&["run", "--self-check", &trace]).stdout);
    assert!(check.contains("complete   bindless/unpack"), "{check}");
}
