//! What is kept between runs, in memory and on disk, and how long runs take.

use std::num::NonZeroUsize;

use replayer::execute::{
    Binding, Executor, Job, Resource,
    vulkan::{CacheState, VulkanExecutor},
};

use crate::{assert_copies, assert_silent, job, modules, only_file, open};

fn specialized(executor: &mut VulkanExecutor, value: u32) {
    let module = modules::constants();
    let bindings = [Binding { set: 1, binding: 3, element: 0, resource: Resource::Output(1) }];
    let job = Job { specialization: &[(7, value)], push_constants: &[0, 0], ..job(&module, &bindings, 1) };
    assert_eq!(executor.run(&job), Ok(vec![vec![value * 1000 + 5]]));
}

#[test]
fn pipelines_are_made_once_a_state() {
    let mut executor = open(|_| {});
    for value in [1, 2, 1, 2, 2, 1] {
        specialized(&mut executor, value);
    }
    let counts = executor.pipeline_counts();
    assert_eq!((counts.modules_made, counts.layouts_made), (1, 1));
    assert_eq!((counts.pipelines_made, counts.pipelines_reused, counts.pipelines_kept), (2, 4, 2));
    assert_copies(&mut executor, &[1]);
    let counts = executor.pipeline_counts();
    assert_eq!((counts.modules_made, counts.layouts_made, counts.pipelines_made), (2, 2, 3));
    assert_silent(&mut executor);
}

#[test]
fn the_least_recently_used_pipeline_goes() {
    let mut executor = open(|o| o.pipelines_kept = NonZeroUsize::new(2).unwrap());
    for value in [1, 2, 1, 3, 1, 2] {
        specialized(&mut executor, value);
    }
    // 2 was pushed out by 3, then 3 by 2.
    let counts = executor.pipeline_counts();
    assert_eq!((counts.pipelines_made, counts.pipelines_reused, counts.pipelines_kept), (4, 2, 2));
    assert_silent(&mut executor);
}

#[test]
fn the_cache_on_disk_is_taken_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("made/by/it");
    let mut first = open(|o| o.cache_dir = Some(cache.clone()));
    assert_eq!(first.cache_state(), CacheState::New);
    assert_copies(&mut first, &[1, 2]);
    first.flush_cache();
    assert_eq!(first.take_notes(), Vec::<String>::new());
    let file = only_file(&cache);
    let device = first.device().clone();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with(&format!("pipelines-v1-{:08x}-{:08x}-", device.vendor_id, device.device_id)), "{name}");
    drop(first);

    let mut second = open(|o| o.cache_dir = Some(cache.clone()));
    let CacheState::Loaded(bytes) = second.cache_state() else {
        panic!("{:?}", second.cache_state());
    };
    // The file has 44 bytes of header before the driver's data.
    assert_eq!(bytes as u64 + 44, std::fs::metadata(&file).unwrap().len());
    assert_copies(&mut second, &[1, 2]);
    assert_silent(&mut second);
}

#[test]
fn a_damaged_cache_is_ignored_with_a_note_and_written_anew() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().to_owned();
    let mut first = open(|o| o.cache_dir = Some(cache.clone()));
    assert_copies(&mut first, &[1]);
    drop(first);
    let file = only_file(&cache);
    let good = std::fs::read(&file).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut longer = good.clone();
    longer.push(0);
    let mut version = good.clone();
    version[4] ^= 0xff;
    for bad in [&flipped[..], &longer, &version, &good[..good.len() - 1], &good[..20], &[]] {
        std::fs::write(&file, bad).unwrap();
        let mut executor = open(|o| o.cache_dir = Some(cache.clone()));
        assert!(matches!(executor.cache_state(), CacheState::Ignored(_)), "{:?}", executor.cache_state());
        let notes = executor.take_notes();
        assert!(notes.len() == 1 && notes[0].contains(file.to_str().unwrap()), "{notes:?}");
        assert_copies(&mut executor, &[7, 8]);
        drop(executor);
        let again = open(|o| o.cache_dir = Some(cache.clone()));
        assert!(matches!(again.cache_state(), CacheState::Loaded(_)), "{:?}", again.cache_state());
    }
}

#[test]
fn executors_that_write_one_cache_at_once_leave_a_good_one() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().to_owned();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let mut executor = open(|o| o.cache_dir = Some(cache.clone()));
                    assert!(!matches!(executor.cache_state(), CacheState::Ignored(_)), "{:?}", executor.cache_state());
                    assert_copies(&mut executor, &[1]);
                    executor.flush_cache();
                    assert_eq!(executor.take_notes(), Vec::<String>::new());
                }
            });
        }
    });
    only_file(&cache);
    assert!(matches!(open(|o| o.cache_dir = Some(cache.clone())).cache_state(), CacheState::Loaded(_)));
}

#[test]
fn a_cache_that_can_not_be_written_is_a_note() {
    let dir = tempfile::tempdir().unwrap();
    // A file where the folder should be: refused for every user.
    let cache = dir.path().join("file");
    std::fs::write(&cache, "").unwrap();
    let mut executor = open(|o| o.cache_dir = Some(cache.clone()));
    assert_copies(&mut executor, &[1]);
    executor.take_notes();
    executor.flush_cache();
    let notes = executor.take_notes();
    assert!(notes.len() == 1 && notes[0].contains("not written"), "{notes:?}");
}

#[test]
fn timestamps_time_the_dispatch() {
    let module = modules::scramble();
    let bindings = [Binding { set: 0, binding: 0, element: 0, resource: Resource::Output(1) }];
    let run = |executor: &mut VulkanExecutor| {
        executor.run(&Job { push_constants: &[60_000], ..job(&module, &bindings, 1) }).unwrap();
        executor.last_run_timing().unwrap()
    };
    let mut executor = open(|o| o.timestamps = true);
    assert_eq!(executor.last_run_timing(), None);
    let timing = run(&mut executor);
    assert!(timing.submitted <= timing.total);
    if executor.device().timestamp_period_ns > 0.0 {
        let kernel = timing.kernel.unwrap();
        assert!(!kernel.is_zero() && kernel <= timing.submitted, "{timing:?}");
    } else {
        assert_eq!(timing.kernel, None);
    }
    assert_silent(&mut executor);
    assert_eq!(run(&mut open(|_| {})).kernel, None);
}
