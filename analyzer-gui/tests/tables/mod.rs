//! Dispatches with tables of descriptors: the panels show the entries of the selected sample.

use analyzer_gui::{
    args::Args,
    model::{edits::Descriptor, fields, outcome::Verdict},
};
use capture_format::{Entries, SamplerDescriptor};
use egui_kittest::kittest::Queryable as _;

use crate::{
    support::{settle, trace, window},
    verdict,
};

#[test]
fn the_descriptors_of_the_selected_sample_are_shown_and_changed() {
    let goto = Some("planes:4,0,0".parse().unwrap());
    let mut harness = window(Args { traces: vec![trace("tables/tables.texeltrace")], goto, ..Args::default() });
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    for label in ["T#[3] of 4  image", "S#[3] of 5  sampler", "S#[3] TRUNC_COORD", "T#[3] WIDTH_LO"] {
        assert!(harness.query_by_label(label).is_some(), "{label}");
    }
    let texels = |harness: &egui_kittest::Harness<'_, analyzer_gui::ui::app::AnalyzerApp>| {
        let texture = harness.state().session().shown().unwrap().texture.as_ref();
        texture.unwrap_or_else(|error| panic!("{error}")).dispatch.texels.clone()
    };
    let fourth = texels(&harness);
    let recorded = harness.state().session().shown().unwrap().recorded.clone();
    assert_eq!(&fourth, recorded.image_at(3).unwrap().1);

    // Two samples use this S#, and both were rounded up.
    harness.state_mut().session_mut().set_field(Descriptor::Sampler, &SamplerDescriptor::TRUNC_COORD, 1).unwrap();
    settle(&mut harness);
    assert_eq!(verdict(&harness), (Verdict::Mismatch, 2));
    let edits = harness.state().session().edits();
    let changed = edits.apply(&recorded);
    assert_eq!(changed.sampler, recorded.sampler);
    let differing: Vec<usize> =
        (1..5).filter(|&entry| changed.sampler_at(entry) != recorded.sampler_at(entry)).collect();
    assert_eq!(differing, [3]);
    assert_eq!(fields::settings(&recorded, &edits), ["S#[3].TRUNC_COORD=0x1"]);

    harness.state_mut().session_mut().select_sample(Some(1));
    settle(&mut harness);
    assert_eq!(harness.state().session().shown().unwrap().entries, Entries { image: 1, sampler: 1 });
    assert!(harness.query_by_label("S#[1] of 5  sampler").is_some());
    assert_eq!(&texels(&harness), recorded.image_at(1).unwrap().1);
    harness.state_mut().session_mut().revert_all();
    settle(&mut harness);
    assert_eq!(verdict(&harness), (Verdict::Match, 0));
    harness.render().unwrap();
}

#[test]
fn a_link_changes_the_entry_that_it_names() {
    let set = vec!["S#[4].TRUNC_COORD=0".to_owned(), "S#[9].TRUNC_COORD=1".to_owned()];
    let traces = vec![trace("tables/tables.texeltrace")];
    let harness = window(Args { traces, set, ..Args::default() });
    assert_eq!(verdict(&harness), (Verdict::Mismatch, 2));
    assert!(harness.query_by_label("TRUNC_COORD: there is no S#[9] in planes").is_some());
}
