//! Dispatches with tables of descriptors: causes, one sample in full, and reduction.

use capture_format::{
    Clamp, Column, Coords, Dispatch, Expected, Op, SamplerDescriptor, TableImage, TexelFormat, XyFilter,
};
use replayer::{
    explain::{self, Cause, Limits, PathModel, Subject, detail, explain},
    generate::Random,
    path::{Path, evaluate},
    reduce::reduce,
    rules::{Profile, RuleId},
};

use crate::{Run, oracle, read};

fn causes(explanation: &explain::Explanation) -> Vec<(String, usize)> {
    explanation.groups.iter().map(|group| (group.rule.name(), group.samples)).collect()
}

#[test]
fn samples_of_different_descriptors_are_explained_together() {
    let trace = read("tables/tables.texeltrace");
    let oracle = oracle(&trace);
    let expected: [&[(&str, usize)]; 3] = [
        &[
            ("subtexel-bits: none → 8", 4),
            ("subtexel-bits: none → 8 + point-rounding: floor → nearest-even", 2),
            ("border-swizzle: none → dst-sel", 2),
        ],
        &[("z-filter: follows-xy → own", 6)],
        &[
            ("mip-filter-bits: 25:24 → 27:26", 5),
            ("mip-filter-bits: 25:24 → 27:26 + lod-rounding: none → nearest-even", 1),
        ],
    ];
    for (dispatch, expected) in trace.dispatches.iter().zip(expected) {
        let run = Run::reference(dispatch, &Profile::AS_SUBMITTED, &oracle);
        let explanation = explain(&run.subject(), &Limits::default()).unwrap();
        let found = causes(&explanation);
        let mut found: Vec<_> = found.iter().map(|(cause, samples)| (cause.as_str(), *samples)).collect();
        found.sort();
        let mut wanted = expected.to_vec();
        wanted.sort();
        assert_eq!(found, wanted, "{}", dispatch.name);
    }
}

#[test]
fn a_sample_is_told_with_its_own_descriptors() {
    let trace = read("tables/tables.texeltrace");
    let run = Run::reference(&trace.dispatches[0], &Profile::AS_SUBMITTED, &oracle(&trace));
    let subject = run.subject();
    let explanation = explain(&subject, &Limits::default()).unwrap();
    // Sample 1 reads the border by S#[1], whose colour is white; S#[0] has another.
    let told = detail(&subject, explanation.group_of(1), 1).unwrap();
    let used = told.descriptors.unwrap();
    assert_eq!((used.image.0, used.sampler), ((Some(1)), (Some(1), Some([0x1b6, 0x00ff_f000, 0x0050_0000, 1 << 31]))));
    let border = told.fields.iter().find(|f| f.field.name() == "S#.BORDER_COLOR_TYPE").unwrap();
    assert_eq!(border.value, 2);
    let text = explain::render_sample(&told);
    for part in ["image 1, sampler 1", "T#[1]     0x00000000 0xc2b00000", "S#[1]     0x000001b6 0x00fff000"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // A dispatch with one T# has no number for it.
    let volumes = Run::reference(&trace.dispatches[1], &Profile::AS_SUBMITTED, &oracle(&trace));
    let told = detail(&volumes.subject(), None, 6).unwrap();
    let used = told.descriptors.unwrap();
    assert_eq!((used.image.0, used.sampler.0), (None, Some(2)));
    assert!(explain::render_sample(&told).contains("\n  T#        0x00000000"));
}

#[test]
fn a_table_is_reduced_to_one_pair() {
    let trace = read("tables/tables.texeltrace");
    for dispatch in &trace.dispatches {
        let run = Run::reference(dispatch, &Profile::AS_SUBMITTED, &oracle(&trace));
        let subject = run.subject();
        let explanation = explain(&subject, &Limits::default()).unwrap();
        let mut path = |d: &Dispatch| evaluate(d, Path::Reference, &Profile::AS_SUBMITTED, None, false);
        let reduced = reduce(&subject, &explanation, 0, &trace.name, &trace.oracle, &mut path).unwrap();
        let [small] = reduced.trace.dispatches.as_slice() else { panic!("one dispatch") };
        small.check().unwrap();
        assert!(!small.is_table() && small.coords.columns.iter().all(|column| !column.chooses_entry()));
        assert_eq!(small.sample_count(), 1);
        let entries = dispatch.entries_of(reduced.sample).unwrap();
        let name = format!("S#[{}]", entries.sampler);
        assert!(reduced.trace.oracle.note.contains(&name), "{name} in {}", reduced.trace.oracle.note);
        let got = path(small).unwrap();
        let expected = small.expected.as_ref().unwrap();
        let again = Subject { dispatch: small, got: &got, expected, ..subject };
        assert_eq!(explain(&again, &Limits::default()).unwrap().groups[0].rule, reduced.cause);
    }
}

/// 64 x 64 bilinear samples on 300 images by 64 samplers.
fn bindless() -> Dispatch {
    let mut random = Random::new(5, 0);
    let random = &mut random;
    let format = TexelFormat::R10G11B11_FLOAT;
    let mut images: Vec<TableImage> = (0..300)
        .map(|_| TableImage {
            words: [0, 43 << 20 | 3 << 30, 1 | 7 << 14 | 1 << 31, 9 << 28 | 0x3ac, 0, 0, 0, 0],
            texels: (0..64)
                .map(|_| format.pack(std::array::from_fn(|_| random.uniform(0.0, 1.0).to_bits())))
                .collect::<Vec<u32>>()
                .into(),
        })
        .collect();
    let mut samplers: Vec<[u32; 4]> = (0..64)
        .map(|_| {
            let mut words = SamplerDescriptor::default()
                .with_clamp_x(random.pick(&Clamp::ALL))
                .with_clamp_y(random.pick(&Clamp::ALL))
                .with_xy_mag_filter(XyFilter::Bilinear)
                .with_xy_min_filter(XyFilter::Bilinear)
                .words();
            words[1] = 0xfff << 12;
            words
        })
        .collect();
    let words = (0..64 * 64).flat_map(|_| {
        let [u, v] = [0; 2].map(|_| random.uniform(0.1, 0.9).to_bits());
        [u, v, random.below(300), random.below(64)]
    });
    let words: Vec<u32> = words.collect();
    let first = images.remove(0);
    Dispatch {
        name: "bindless".to_owned(),
        op: Op::SAMPLE_LZ,
        grid: [64, 64, 1],
        image: first.words,
        texels: first.texels,
        sampler: Some(samplers.remove(0)),
        more_images: images,
        more_samplers: samplers,
        border_table: Vec::new(),
        dmask: None,
        coords: Coords { columns: vec![Column::U, Column::V, Column::Image, Column::Sampler], words: words.into() },
        expected: None,
    }
}

#[test]
fn thousands_of_pairs_have_one_cause() {
    let dispatch = bindless();
    let run = |profile: &Profile| evaluate(&dispatch, Path::Reference, profile, None, false).unwrap();
    let floor = Profile { name: "test", rules: Profile::GFX1035.rules.with(RuleId::WeightRounding, 0).unwrap() };
    let (got, words) = (run(&floor), run(&Profile::GFX1035));
    let expected = Expected { words: words.into(), measured: None };
    let path = PathModel::Rules(floor.rules);
    for oracle in [Some(Profile::GFX1035.rules), None] {
        let subject = Subject { dispatch: &dispatch, got: &got, expected: &expected, path, oracle };
        let explanation = explain(&subject, &Limits::default()).unwrap();
        assert!(explanation.mismatched > 3000, "{}", explanation.mismatched);
        let [group] = explanation.groups.as_slice() else { panic!("{:?}", causes(&explanation)) };
        assert!(matches!(&group.rule, Cause::Rules(changes) if changes.len() == 1));
        assert!(group.rule.name().starts_with("weight-rounding: "), "{}", group.rule);
    }
    // A path that takes the wrong descriptors computes by no rules at all.
    let mut wrong = dispatch.clone();
    let moved = dispatch.coords.words.chunks_exact(4).flat_map(|row| [row[0], row[1], (row[2] + 1) % 300, row[3]]);
    wrong.coords.words = moved.collect::<Vec<u32>>().into();
    let got = evaluate(&wrong, Path::Reference, &Profile::GFX1035, None, false).unwrap();
    let oracle = Some(Profile::GFX1035.rules);
    let path = PathModel::Rules(Profile::GFX1035.rules);
    let subject = Subject { dispatch: &dispatch, got: &got, expected: &expected, path, oracle };
    let explanation = explain(&subject, &Limits::default()).unwrap();
    let largest = &explanation.groups[0];
    assert_eq!(largest.rule, Cause::Executor(Vec::new()), "{:?}", causes(&explanation));
    assert!(largest.samples > 3900, "{}", largest.samples);
}
