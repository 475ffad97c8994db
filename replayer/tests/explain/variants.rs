//! Twenty paths that are wrong on purpose: the cause is named right from their results alone, and reduces to a small case.

use capture_format::{Dispatch, Expected, ImageDescriptor, LodSource, Oracle, OracleSource, TexelFormat};
use replayer::{
    execute::embedded::Embedded,
    explain::{self, Cause, Change, Explanation, Limits, PathModel, Subject, explain_all},
    generate::Generator,
    materialise::materialise,
    path::{Failure, Path, evaluate},
    reduce::reduce,
    rules::{Profile, RuleId, Rules},
};

/// Rule and value of what a path does wrong, and of the second thing where there are two.
type Wrong = &'static [(&'static str, &'static str)];

const VARIANTS: [(&str, Wrong); 20] = [
    ("gfx1035", &[("subtexel-bits", "none")]),
    ("gfx1035", &[("subtexel-bits", "6")]),
    ("gfx1035", &[("weight-rounding", "floor")]),
    ("gfx1035", &[("weight-rounding", "half-up")]),
    ("gfx1035", &[("point-rounding", "floor")]),
    ("gfx1035", &[("trunc-coord", "ignored")]),
    ("gfx1035", &[("trunc-coord", "point-only")]),
    ("gfx1035", &[("z-filter", "follows-xy")]),
    ("gfx1035", &[("mip-filter-bits", "25:24")]),
    ("gfx1035", &[("border-swizzle", "none")]),
    ("gfx1035", &[("lod-rounding", "none")]),
    ("gfx1035", &[("mip-nearest", "half-down")]),
    ("gfx1035", &[("half-border", "as-border")]),
    ("gfx1035", &[("layer-rounding", "half-up")]),
    ("gfx1035", &[("explicit-lod-bias", "ignored")]),
    ("h200", &[("weight-scheme", "product")]),
    ("h200", &[("result-rounding", "nearest-even-11")]),
    ("gfx1035", &[("weight-rounding", "floor"), ("z-filter", "follows-xy")]),
    ("gfx1035", &[("border-swizzle", "none"), ("lod-rounding", "floor")]),
    ("h200", &[("accumulation", "aligned-13"), ("weight-rounding", "nearest-even")]),
];

fn wrong_rules(right: &Rules, wrong: Wrong) -> Rules {
    wrong.iter().fold(*right, |rules, (rule, value)| {
        let rule = RuleId::by_name(rule).unwrap();
        let value = rule.value_names().iter().position(|name| name == value).unwrap();
        rules.with(rule, value).unwrap()
    })
}

/// Random dispatches with what the right rules give, as recorded traces would hold them.
fn recorded(profile: &Profile) -> Vec<Dispatch> {
    let generator = Generator { profiles: vec![profile.clone()], ..Generator::new(0x20_5a, 250) };
    (0..250)
        .map(|index| {
            let mut dispatch = generator.dispatch(index).dispatch;
            let words = evaluate(&dispatch, Path::Reference, profile, None, false).unwrap();
            dispatch.expected = Some(Expected { words: words.into(), measured: None });
            dispatch
        })
        .collect()
}

/// The changes that a set of explanations names, and whether a sample is left without.
fn named(explanations: &[Explanation]) -> (Vec<Change>, usize) {
    let mut changes: Vec<Change> =
        explanations.iter().flat_map(|e| &e.groups).flat_map(|g| g.rule.changes()).copied().collect();
    changes.sort();
    changes.dedup();
    let without = |g: &&explain::Group| g.rule.changes().is_empty();
    (changes, explanations.iter().flat_map(|e| &e.groups).filter(without).map(|g| g.samples).sum())
}

fn explain_variant(computed: &[(&Dispatch, Vec<u32>)], right: &Rules) -> Vec<Explanation> {
    let subjects: Vec<Subject<'_>> = computed
        .iter()
        .map(|(dispatch, got)| Subject {
            dispatch,
            got,
            expected: dispatch.expected.as_ref().unwrap(),
            path: PathModel::Unknown,
            oracle: Some(*right),
        })
        .collect();
    explain_all(&subjects, &Limits::default()).unwrap()
}

fn is_integer(dispatch: &Dispatch) -> bool {
    let format = TexelFormat::from_code(ImageDescriptor::from_words(dispatch.image).format()).unwrap();
    format.kind().is_integer()
}

/// The search leaves out rules on which nothing depends: changing one of these changes no result.
#[test]
fn rules_that_are_left_out_do_not_matter() {
    let mut wrong = std::collections::BTreeSet::new();
    for profile in Profile::ALL.into_iter().chain([Profile::AS_SUBMITTED]) {
        // A CPU's sampler takes eight samples for one.
        let count = if profile.name == "lavapipe" { 100 } else { 300 };
        for index in 0..count {
            let dispatch = Generator::new(0xc0de, 300).dispatch(index).dispatch;
            let run = |rules: Rules| {
                let profile = Profile { name: profile.name, rules };
                evaluate(&dispatch, Path::Reference, &profile, None, false)
            };
            let Ok(base) = run(profile.rules) else { continue };
            let matter = explain::rules_that_matter(&dispatch, &profile.rules).unwrap();
            for (change, rules) in profile.rules.alternatives() {
                let Ok(after) = explain::rules_that_matter(&dispatch, &rules) else { continue };
                let Ok(other) = run(rules) else { continue };
                if other != base && !matter.contains(&change.rule) && !after.contains(&change.rule) {
                    wrong.insert(format!("{}: {change} changes {}", profile.name, dispatch.op));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_wrong_variant_is_named_and_reduced() {
    // A driver would spend minutes on compiling: every variant has modules of its own.
    let mut executor = Embedded::new();
    let oracle = |profile: &Profile| Oracle {
        device: "synthetic".to_owned(),
        profile: profile.name.to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    let mut failures = Vec::new();
    for profile in [Profile::GFX1035, Profile::H200] {
        let dispatches = recorded(&profile);
        for (number, (_, wrong)) in VARIANTS.iter().enumerate().filter(|(_, (name, _))| *name == profile.name) {
            let rules = wrong_rules(&profile.rules, wrong);
            let variant = Profile { name: profile.name, rules };
            let start = std::time::Instant::now();
            let mut run = |dispatch: &Dispatch| -> Result<Vec<u32>, Failure> {
                evaluate(dispatch, Path::Emulated, &variant, Some(&mut executor), false)
            };
            // Wrong bits of a descriptor may hold what is not modelled.
            let computed: Vec<(&Dispatch, Vec<u32>)> = dispatches
                .iter()
                .filter_map(|dispatch| match run(dispatch) {
                    Ok(got) => Some((dispatch, got)),
                    Err(Failure::Refused(_)) => None,
                    Err(failure) => panic!("{}: {failure}", dispatch.name),
                })
                .collect();
            assert!(computed.len() > dispatches.len() / 2);
            for (dispatch, got) in &computed {
                let reference = evaluate(dispatch, Path::Reference, &variant, None, false).unwrap();
                let integer = is_integer(dispatch);
                if !got.iter().zip(&reference).all(|(&a, &b)| explain::same_word(a, b, integer)) {
                    let (name, op) = (&dispatch.name, dispatch.op);
                    failures.push(format!("{number} {wrong:?}: {name}, {op}: not what the reference gives"));
                }
            }
            let explanations = explain_variant(&computed, &profile.rules);
            let (changes, unexplained) = named(&explanations);
            println!("{number} {wrong:?}: {:?}", start.elapsed());
            let right = Change::between(&rules, &profile.rules);
            if changes != right || unexplained > 0 {
                failures
                    .push(format!("{number} {wrong:?}: named {changes:?}, {unexplained} unexplained, not {right:?}"));
                continue;
            }
            for change in right {
                let cause = Cause::Rules(vec![change]);
                // Implicit derivatives need a quad; all else reduces to one sample.
                let alone = |at: usize| !matches!(computed[at].0.op.lod, LodSource::Implicit | LodSource::Bias);
                let groups = explanations.iter().enumerate().filter(|(at, _)| alone(*at)).flat_map(|(at, e)| {
                    e.groups.iter().enumerate().filter(|(_, g)| g.rule == cause).map(move |(n, g)| (g, at, n))
                });
                let clearest = groups.min_by_key(|(g, ..)| 1000 * g.ambiguous / g.samples);
                let found = clearest.map(|(_, at, group)| (at, group));
                let Some((at, group)) = found else {
                    failures.push(format!("{number} {wrong:?}: nothing shows {cause} alone"));
                    continue;
                };
                let (dispatch, got) = &computed[at];
                let subject = Subject {
                    dispatch,
                    got,
                    expected: dispatch.expected.as_ref().unwrap(),
                    path: PathModel::Unknown,
                    oracle: Some(profile.rules),
                };
                match reduce(&subject, &explanations[at], group, "variant", &oracle(&profile), &mut run) {
                    Err(error) => failures.push(format!("{number} {wrong:?}: {error}")),
                    Ok(reduced) => {
                        if let Some(problem) = problem_of(&reduced.trace.dispatches[0], &cause, &mut run, &profile) {
                            failures.push(format!("{number} {wrong:?}: {problem}"));
                        }
                        println!("{number} {cause}: {} tried, {} kept", reduced.tried, reduced.kept);
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What is wrong with a reduced dispatch, if anything.
fn problem_of(
    dispatch: &Dispatch,
    cause: &Cause,
    run: &mut dyn FnMut(&Dispatch) -> Result<Vec<u32>, Failure>,
    profile: &Profile,
) -> Option<String> {
    if dispatch.sample_count() != 1 {
        return Some(format!("{} samples", dispatch.sample_count()));
    }
    let state = materialise(dispatch, &profile.rules).unwrap();
    let [x, y, z] = state.extent.size;
    if x > 4 || y > 4 || z > 4 || state.extent.levels > 2 {
        let image = ImageDescriptor::from_words(dispatch.image);
        return Some(format!("{cause}: {x}x{y}x{z}, {} levels: {image:?}", state.extent.levels));
    }
    let got = run(dispatch).unwrap();
    let expected = dispatch.expected.as_ref().unwrap();
    // The expected result of the small case is the profile's, not only that of the rules that explain it.
    let right = evaluate(dispatch, Path::Reference, profile, None, false).unwrap();
    let target = explain::Target::of_expected(expected, state.format.kind().is_integer());
    if !target.agrees(0, right.as_slice().try_into().unwrap()) {
        return Some("the profile gives something else".to_owned());
    }
    let subject = Subject { dispatch, got: &got, expected, path: PathModel::Unknown, oracle: Some(profile.rules) };
    let explanation = explain::explain(&subject, &Limits::default()).unwrap();
    // On a single sample two rules can do the same: without a grid, a point sample's coordinate is floored, say.
    let shows = |g: &explain::Group| g.rule == *cause || g.alternatives.iter().any(|other| other.rule == *cause);
    (!explanation.groups.iter().any(shows)).then(|| {
        format!("{cause}: reduced shows {:?}", explanation.groups.iter().map(|g| g.rule.name()).collect::<Vec<_>>())
    })
}
