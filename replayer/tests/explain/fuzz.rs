//! Random dispatches between two sides.

use capture_format::Dispatch;
use replayer::{
    fuzz::{FuzzError, Progress, Side, fuzz},
    generate::Generator,
    path::{Path, evaluate},
    rules::{Profile, WeightRounding},
};

fn side(name: &str, profile: Option<Profile>) -> Side<'static> {
    let run = |dispatch: &Dispatch, profile: &Profile| evaluate(dispatch, Path::Reference, profile, None, false);
    Side { name: name.to_owned(), profile, run: Box::new(run) }
}

#[test]
fn equal_sides_agree_and_the_sequence_goes_on_where_it_ended() {
    let generator = Generator::new(3, 40);
    let (mut a, mut b) = (side("a", None), side("b", None));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    let mut progress = Progress::start(&generator, &a, &b).resume(&file).unwrap();
    let outcome = fuzz(&generator, &mut progress, 30, &mut a, &mut b, &mut |_| true).unwrap();
    assert!(outcome.difference.is_none());
    assert_eq!((outcome.compared + outcome.refused, progress.next), (30, 30));
    assert_eq!(outcome.tally.dispatches, outcome.compared);
    progress.store(&file).unwrap();

    let mut progress = Progress::start(&generator, &a, &b).resume(&file).unwrap();
    assert_eq!(progress.next, 30);
    let outcome = fuzz(&generator, &mut progress, 30, &mut a, &mut b, &mut |next| next < 35).unwrap();
    assert_eq!((outcome.compared + outcome.refused, progress.next), (5, 35));

    let error = Progress::start(&Generator::new(4, 40), &a, &b).resume(&file).unwrap_err();
    assert!(matches!(error, FuzzError::Other { what: "seed", .. }), "{error}");
    std::fs::write(&file, "{}").unwrap();
    assert!(Progress::start(&generator, &a, &b).resume(&file).is_err());
}

#[test]
fn the_first_difference_is_explained_and_reduced() {
    let mut wrong = Profile::GFX1035;
    wrong.rules.weight_rounding = WeightRounding::Floor;
    let generator = Generator { profiles: vec![Profile::GFX1035], ..Generator::new(11, 60) };
    let (mut a, mut b) = (side("wrong", Some(wrong)), side("right", Some(Profile::GFX1035)));
    let mut progress = Progress::start(&generator, &a, &b);
    let outcome = fuzz(&generator, &mut progress, 500, &mut a, &mut b, &mut |_| true).unwrap();
    let difference = outcome.difference.unwrap();
    assert_eq!(progress.next, difference.index);
    let explanation = difference.explanation.unwrap();
    assert_eq!(explanation.groups[0].rule.name(), "weight-rounding: floor → nearest-even");
    let reduced = difference.reduction.unwrap();
    assert_eq!(reduced.cause, explanation.groups[0].rule);
    let dispatch = &difference.trace.dispatches[0];
    assert!(dispatch.texels.len() <= 64, "{}", dispatch.texels.len());
    let folder = tempfile::tempdir().unwrap();
    let path = capture_format::write_case(&difference.trace, folder.path(), &Default::default()).unwrap();
    assert_eq!(capture_format::Case::read(&path).unwrap(), difference.trace);
}
