//! The embedded executor against modules whose results are known.

mod modules;

use modules::shader::ImageType;
use modules::{Bound, Case, Exactness};
use replayer::execute::ExecuteError;
use replayer::execute::embedded::{Choice, Embedded, Limits, StorageImage, Value};
use replayer::execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions};
use rspirv::spirv::{Dim, ImageFormat, Op};

fn is_nan_pair(a: u32, b: u32) -> bool {
    f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

#[test]
fn every_module_gives_what_is_expected() {
    let mut executor = Embedded::new();
    let mut wrong = vec![];
    for case in modules::all() {
        match case.run(&mut executor) {
            Ok(words) => {
                let same = words.len() == case.expected.len()
                    && words.iter().zip(&case.expected).all(|(&a, &b)| a == b || is_nan_pair(a, b));
                if !same {
                    wrong.push(format!("{}: got {words:x?}, expected {:x?}", case.name, case.expected));
                }
            }
            Err(e) => wrong.push(format!("{}: {e}", case.name)),
        }
        let report = executor.take_report();
        match case.exactness {
            Exactness::Choice if report.findings.is_empty() => wrong.push(format!("{}: no finding", case.name)),
            Exactness::Exact | Exactness::Inexact if !report.findings.is_empty() => {
                wrong.push(format!("{}: {}", case.name, report.findings[0]));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Modules that Vulkan prescribes to run, and that are not run on lavapipe, with the reason.
const NOT_ON_LAVAPIPE: &[(&str, &str)] =
    &[("Exp2.f16", "Mesa 22.3 ends the process with a segmentation fault on exp2 of a 16-bit float")];

/// How far off an inexact function may be: what Vulkan allows sine and cosine, the least exact of those in the modules.
fn is_close(a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || is_nan_pair(a, b) || (x - y).abs() <= 2f32.powi(-11).max(y.abs() * 2f32.powi(-13))
}

#[test]
fn lavapipe_agrees_on_what_vulkan_prescribes() {
    let mut vulkan = VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default())
        .expect("this test runs on a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)");
    let (mut ran, mut unsupported, mut wrong) = (0, vec![], vec![]);
    for case in modules::all() {
        // What Vulkan leaves open is each implementation's own.
        if case.exactness == Exactness::Choice || NOT_ON_LAVAPIPE.iter().any(|(name, _)| *name == case.name) {
            continue;
        }
        // A driver that crashes ends the process: --nocapture shows at which module.
        println!("{}", case.name);
        match case.run(&mut vulkan) {
            Ok(words) => {
                ran += 1;
                let same = |a: u32, b: u32| match case.exactness {
                    Exactness::Inexact => is_close(a, b),
                    _ => a == b || is_nan_pair(a, b),
                };
                let agrees =
                    words.len() == case.expected.len() && words.iter().zip(&case.expected).all(|(&a, &b)| same(a, b));
                if !agrees {
                    wrong.push(format!("{}: got {words:x?}, expected {:x?}", case.name, case.expected));
                }
            }
            Err(ExecuteError::Unsupported(reason)) => unsupported.push(format!("{}: {reason}", case.name)),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    println!("{ran} modules ran on {}; not: {unsupported:#?}; {NOT_ON_LAVAPIPE:#?}", vulkan.device().name);
    for (name, _) in NOT_ON_LAVAPIPE {
        find(name);
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(ran >= 300, "{ran}");
}

#[test]
fn there_are_at_least_150_modules_with_names_of_their_own() {
    let cases = modules::all();
    let names: std::collections::HashSet<&str> = cases.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() >= 150, "{}", cases.len());
}

fn find(name: &str) -> Case {
    modules::all().into_iter().find(|c| c.name == name).expect("a case of that name")
}

#[test]
fn missing_bindings_are_named() {
    let mut case = find("buffer.copy");
    case.bindings = vec![Bound::Output(200)];
    let error = case.run(&mut Embedded::new()).expect_err("binding 1 is not there");
    assert!(matches!(&error, ExecuteError::InvalidJob(t) if t.contains("set 0, binding 1")), "{error}");
}

#[test]
fn an_element_that_is_not_there_ends_the_run_with_an_error_that_names_it() {
    let refused = |name: &str, change: fn(&mut Vec<Option<Bound>>), problem: &str| {
        let mut case = find(name);
        let Bound::Array(elements) = &mut case.bindings[1] else { panic!("{name} has no array at binding 1") };
        change(elements);
        let error = case.run(&mut Embedded::new()).expect_err("an element is missing");
        let text = error.to_string();
        assert!(matches!(error, ExecuteError::InvalidJob(_)) && text.contains("set 0, binding 1"), "{text}");
        assert!(text.contains(problem), "{text}");
    };
    refused("array.images.non-uniform", |list| list[3] = None, "accesses element 3, which is not bound");
    refused("array.images.non-uniform", |list| list.truncate(4), "is an array of 5: OpImageFetch at word");
    refused("array.images.runtime", |list| list.truncate(4), "is an array of 4: OpImageFetch at word");
    refused("array.images.runtime", |list| list.truncate(4), "accesses element 4, which is out of range");
    refused("array.buffers", |list| list.truncate(2), "accesses element 2, which is not bound");
    refused("array.images.runtime", Vec::clear, "is not bound");
}

#[test]
fn findings_name_the_instruction_and_the_first_invocation() {
    let mut executor = Embedded::new();
    let case = find("buffer.out-of-bounds");
    case.run(&mut executor).expect("runs");
    let report = executor.take_report();
    // Invocations 2 and 3 read beyond two words, and all four write word 1000.
    let short: Vec<_> = report.findings.iter().map(|f| (f.choice, f.opcode.as_str(), f.count, f.first)).collect();
    let beyond = Choice::BufferOutOfBounds;
    assert_eq!(short, [(beyond, "OpLoad", 2, [2, 0, 0]), (beyond, "OpStore", 4, [0, 0, 0])]);
    let load = &report.findings[0];
    let words = &case.module.words;
    assert_eq!(words[load.word as usize] & 0xffff, rspirv::spirv::Op::Load as u32);
    assert_eq!(Some(words[load.word as usize + 2]), load.result);
    assert_eq!(load.module, case.module.key);
    assert!(executor.take_report().findings.is_empty(), "taking a report empties it");
}

#[test]
fn each_choice_is_told() {
    let expected = [
        ("UDiv.zero", Choice::DivisionByZero),
        ("SDiv.overflow", Choice::DivisionOverflow),
        ("SDiv.i8.overflow", Choice::DivisionOverflow),
        ("ShiftLeftLogical.wide", Choice::ShiftTooWide),
        ("SMod.i32.negative", Choice::NegativeRemainder),
        ("BitFieldUExtract.wide", Choice::BitFieldTooWide),
        ("ConvertFToU.nan", Choice::NanToInteger),
        ("ConvertFToS.i8.range", Choice::FloatOutOfRange),
        ("FMin.nan", Choice::NanInMinMax),
        ("FMax.zeros", Choice::ZerosInMinMax),
        ("FClamp.limits", Choice::ClampLimits),
        ("Round.half", Choice::RoundHalf),
        ("Fma.rounding", Choice::FusedRounding),
        ("Log2.zero", Choice::OutOfDomain),
        ("VectorExtractDynamic.beyond", Choice::IndexOutOfBounds),
        ("Undef", Choice::Undefined),
        ("image.out-of-bounds", Choice::ImageOutOfBounds),
    ];
    let mut executor = Embedded::new();
    for (name, choice) in expected {
        find(name).run(&mut executor).expect(name);
        let found: Vec<Choice> = executor.take_report().findings.iter().map(|f| f.choice).collect();
        assert_eq!(found, [choice], "{name}");
    }
    find("variable.uninitialized-and-beyond").run(&mut executor).expect("runs");
    let found: Vec<Choice> = executor.take_report().findings.iter().map(|f| f.choice).collect();
    assert_eq!(found, [Choice::IndexOutOfBounds, Choice::Uninitialized]);
}

#[test]
fn a_trace_has_each_instruction_with_its_values() {
    let mut executor = Embedded::new();
    let case = find("image.2d.fetch.0");
    let steps = case.with_job(|job| executor.trace_invocation(job, [3, 2, 0])).expect("traces");
    let fetch = steps.iter().find(|s| s.opcode == "OpImageFetch").expect("a fetch");
    let texel = 1000 + 2 * 5 + 3;
    let u = |v: u64| Value::Unsigned(v, 32);
    assert_eq!(fetch.value, Some(Value::Composite(vec![u(texel), u(0), u(0), u(1)])));
    assert_eq!(fetch.operands[1].value, Value::Composite(vec![u(3), u(2)]));
    let access = fetch.fetch.as_ref().expect("an image access");
    assert_eq!((access.set, access.binding, &access.coordinates[..], access.level), (0, 1, &[3, 2][..], 0));
    assert_eq!((u64::from(access.word), access.write), (texel, false));
    let store = steps.iter().find(|s| s.opcode == "OpStore").expect("a store");
    assert_eq!(store.operands[1].value, u(texel));
    assert!(matches!(store.operands[0].value, Value::Pointer { offset: Some(52), .. }), "{store}");
    assert_eq!(steps.last().map(|s| s.opcode.as_str()), Some("OpReturn"));
    // Word offsets lead to the instructions.
    for s in &steps {
        let code = case.module.words[s.word as usize] & 0xffff;
        let name = rspirv::spirv::Op::from_u32(code).map(|o| format!("Op{o:?}"));
        assert_eq!(name.as_deref(), Some(s.opcode.as_str()));
    }
}

#[test]
fn a_trace_follows_the_invocation_through_loops_and_barriers() {
    let mut executor = Embedded::new();
    // Five rounds, each of which compares once, and the last comparison.
    let case = find("loop.divergent");
    let steps = case.with_job(|job| executor.trace_invocation(job, [5, 0, 0])).expect("traces");
    assert_eq!(steps.iter().filter(|s| s.opcode == "OpULessThan").count(), 6);
    let case = find("workgroup.reverse");
    let steps = case.with_job(|job| executor.trace_invocation(job, [210, 0, 0])).expect("traces");
    let last = steps.iter().rfind(|s| s.opcode == "OpStore").expect("a store");
    assert_eq!(last.operands[1].value, Value::Unsigned(289, 32));
    let error = case.with_job(|job| executor.trace_invocation(job, [300, 0, 0])).expect_err("beyond the grid");
    assert!(matches!(error, ExecuteError::InvalidJob(_)), "{error}");
}

#[test]
fn a_trace_of_thousands_of_steps_is_quick() {
    let mut executor = Embedded::new();
    let case = find("loop.nested");
    let start = std::time::Instant::now();
    let steps = case.with_job(|job| executor.trace_invocation(job, [39, 0, 0])).expect("traces");
    // The benchmark measures it; here a debug build on a busy machine gets more time than the 50 ms that it may take.
    assert!(start.elapsed().as_millis() < 1000 && steps.len() > 1000, "{:?} for {}", start.elapsed(), steps.len());
}

#[test]
fn endless_loops_are_cut() {
    let mut s = modules::shader::Shader::new([1, 1, 1]);
    let [header, next, merge] = [s.id(), s.id(), s.id()];
    s.effect(Op::Branch, &[header]);
    s.label(header);
    s.effect(Op::LoopMerge, &[merge, next, 0]);
    s.effect(Op::Branch, &[next]);
    s.label(next);
    s.effect(Op::Branch, &[header]);
    s.label(merge);
    s.effect(Op::Return, &[]);
    let case = Case::new("endless", s, vec![], vec![]);
    let mut executor = Embedded::with_limits(Limits { steps: 10_000, ..Limits::default() });
    let error = case.run(&mut executor).expect_err("is cut");
    assert!(matches!(error, ExecuteError::Timeout(_)), "{error}");
}

#[test]
fn what_is_too_large_is_refused() {
    let case = find("workgroup.reverse");
    let small = Limits { workgroup_invocations: 64, ..Limits::default() };
    let error = case.run(&mut Embedded::with_limits(small)).expect_err("100 invocations");
    assert!(matches!(&error, ExecuteError::Unsupported(t) if t.contains("at most 64")), "{error}");
    let few = Limits { invocations: 10, ..Limits::default() };
    let error = case.run(&mut Embedded::with_limits(few)).expect_err("300 invocations");
    assert!(matches!(error, ExecuteError::Unsupported(_)), "{error}");
    let tiny = Limits { memory_bytes: 16, ..Limits::default() };
    let error = case.run(&mut Embedded::with_limits(tiny)).expect_err("300 words of output");
    assert!(matches!(error, ExecuteError::OutOfMemory(_)), "{error}");
}

#[test]
fn what_is_missing_is_refused_by_name_and_place() {
    let mut s = modules::shader::Shader::new([1, 1, 1]);
    let word = s.ty(modules::shader::U32);
    let scope = s.u(3);
    let id = s.op(Op::GroupNonUniformElect, word, &[scope]);
    s.effect(Op::Return, &[]);
    let case = Case::new("elect", s, vec![], vec![]);
    let error = case.run(&mut Embedded::new()).expect_err("is refused").to_string();
    let at = case.module.words.windows(3).position(|w| w == [4 << 16 | Op::GroupNonUniformElect as u32, word, id]);
    let want = format!("module: OpGroupNonUniformElect at word {} (%{id}): is not supported", at.expect("there"));
    assert_eq!(error, want);
}

#[test]
fn recursion_is_refused() {
    let mut s = modules::shader::Shader::new([1, 1, 1]);
    let main = s.main;
    let void = s.ty(modules::shader::Kind::Void);
    s.op(Op::FunctionCall, void, &[main]);
    s.effect(Op::Return, &[]);
    let error = Case::new("recursion", s, vec![], vec![]).run(&mut Embedded::new()).expect_err("is refused");
    assert!(error.to_string().contains("calls itself"), "{error}");
}

#[test]
fn a_barrier_that_not_all_reach_is_told_and_does_not_hang() {
    let mut s = modules::shader::Shader::new([2, 1, 1]);
    let output = s.buffer(0);
    let index = s.builtin(rspirv::spirv::BuiltIn::LocalInvocationIndex, modules::shader::U32);
    let word = s.ty(modules::shader::U32);
    let i = s.load(word, index);
    let (zero, scope, semantics) = (s.u(0), s.u(2), s.u(0x108));
    let first = s.kind_op(Op::IEqual, modules::shader::BOOL, &[i, zero]);
    let [yes, merge] = [s.id(), s.id()];
    s.effect(Op::SelectionMerge, &[merge, 0]);
    s.effect(Op::BranchConditional, &[first, yes, merge]);
    s.label(yes);
    s.effect(Op::ControlBarrier, &[scope, scope, semantics]);
    s.effect(Op::Branch, &[merge]);
    s.label(merge);
    let seven = s.u(7);
    s.store_word(output, i, seven);
    s.effect(Op::Return, &[]);
    let mut executor = Embedded::new();
    let case = Case::new("divergent", s, vec![Bound::Output(2)], vec![7, 7]);
    assert_eq!(case.run(&mut executor).expect("runs"), case.expected);
    let findings = executor.take_report().findings;
    let short: Vec<_> = findings.iter().map(|f| (f.choice, f.opcode.as_str(), f.count)).collect();
    assert_eq!(short, [(Choice::DivergentBarrier, "OpControlBarrier", 1)]);
}

#[test]
fn storage_images_are_read_and_written() {
    let t =
        ImageType { dim: Dim::Dim2D, arrayed: false, storage: Some(ImageFormat::Rgba8), channel: modules::shader::F32 };
    let mut s = modules::shader::Shader::new([1, 1, 1]);
    let image = s.image(0, t);
    let gid = s.builtin(rspirv::spirv::BuiltIn::GlobalInvocationId, modules::shader::U32.by(3));
    let v3 = s.ty(modules::shader::U32.by(3));
    let id = s.load(v3, gid);
    let at = s.kind_op(Op::VectorShuffle, modules::shader::U32.by(2), &[id, id, 0, 1]);
    let ty = s.image_type(t);
    let i = s.load(ty, image);
    let texel = s.kind_op(Op::ImageRead, modules::shader::F32.by(4), &[i, at]);
    // The channels in reverse.
    let texel = s.kind_op(Op::VectorShuffle, modules::shader::F32.by(4), &[texel, texel, 3, 2, 1, 0]);
    s.effect(Op::ImageWrite, &[i, at, texel]);
    s.effect(Op::Return, &[]);
    let case = Case::new("storage", s, vec![], vec![]).groups([2, 2, 1]);
    let mut images = [StorageImage {
        set: 0,
        binding: 0,
        dim: replayer::execute::ImageDim::D2,
        extent: [2, 2, 1],
        layers: 1,
        texels: vec![0x0102_0304, 0xff00_0000, 0x8040_2010, 0],
    }];
    case.with_job(|job| Embedded::new().run_with_images(job, &mut images)).expect("runs");
    assert_eq!(images[0].texels, [0x0403_0201, 0x0000_00ff, 0x1020_4080, 0]);
}

#[test]
fn damaged_modules_neither_panic_nor_hang() {
    let cases = modules::all();
    let mut executor = Embedded::with_limits(modules::mutate::tight_limits());
    let mut tally = modules::mutate::Tally::default();
    for seed in 0..3000 {
        modules::mutate::run_one(&cases, 0x5eed_0000 + seed, &mut executor, &mut tally);
    }
    assert!(tally.ran > 100 && tally.refused > 1000, "{tally:?}");
    assert!(tally.slowest.as_secs() < 20, "{tally:?}");
}

#[test]
fn modules_cut_at_any_word_are_refused_or_run() {
    let mut executor = Embedded::with_limits(modules::mutate::tight_limits());
    let mut case = find("loop.nested");
    let words = case.module.words.clone();
    for n in 0..words.len() {
        case.module = replayer::execute::Module::new(words[..n].to_vec());
        assert!(case.run(&mut executor).is_err(), "cut after {n} words");
    }
}

#[test]
fn a_stepped_sample_returns_what_a_run_returns() {
    use replayer::{emulated::section::Section, generate::Generator, path::Path, step::trace_sample, table::Parts};
    let generator = Generator { tables: 8, ..Generator::new(0x57e9, 60) };
    let mut executor = Embedded::new();
    let (mut rules, mut unmarked) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let mut tables = 0;
    for index in 0..60 {
        let generated = generator.dispatch(index);
        let (dispatch, profile) = (&generated.dispatch, &generated.profile);
        let parts = Parts::new(dispatch).expect("it is modelled");
        let states = parts.states(&profile.rules).expect("it is modelled");
        let run = replayer::emulated::run_parts(&mut executor, profile.rules, &parts, &states).expect("runs");
        tables += usize::from(dispatch.is_table());
        for sample in [0, run.len() / 8, run.len() / 4 - 1] {
            let trace = trace_sample(dispatch, Path::Emulated, profile, sample).expect("traces");
            assert_eq!(trace.words[..], run[4 * sample..][..4], "dispatch {index}, sample {sample}");
            for s in &trace.steps {
                match s.section {
                    Some(Section::Rule(rule)) => {
                        rules.insert(rule);
                    }
                    Some(Section::Stage(_)) => {}
                    None => {
                        unmarked.insert(s.step.opcode.clone());
                    }
                }
            }
        }
    }
    // Only control flow and the declarations of variables belong to no section.
    let control = ["OpBranch", "OpBranchConditional", "OpReturn", "OpVariable"];
    assert!(unmarked.iter().all(|opcode| control.contains(&opcode.as_str())), "{unmarked:?}");
    assert!(rules.len() >= 25, "{rules:?}");
    assert!(tables > 3, "{tables}");
    let generated = generator.dispatch(0);
    let beyond = generated.dispatch.coords.rows();
    let refused =
        trace_sample(&generated.dispatch, Path::Emulated, &generated.profile, beyond).expect_err("is refused");
    assert!(refused.to_string().contains("sample"), "{refused}");
    let reference = trace_sample(&generated.dispatch, Path::Reference, &generated.profile, 0).expect_err("is refused");
    assert!(reference.to_string().contains("emulated and as-submitted"), "{reference}");
}
