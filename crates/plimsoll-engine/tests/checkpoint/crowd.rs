//! Many processes sealing at once.

use std::collections::BTreeSet;
use std::process::Child;

use plimsoll_engine::checkpoint::{newest_own, seal};

use crate::bed::{Bed, NOW, draft};
use crate::child::{reported, sealing};

#[track_caller]
fn check(session: impl Fn(usize) -> String) {
    let bed = Bed::new();
    let start = |at: usize| sealing(bed.root(), &session(at), 1).spawn().unwrap();
    let children: Vec<Child> = (0..50).map(start).collect();
    let said = |child: Child| reported(&child.wait_with_output().unwrap().stdout);
    let ids: BTreeSet<String> = children.into_iter().flat_map(said).collect();
    assert_eq!(ids.len(), 50, "each has sealed one of its own");
    bed.check();
    let listed = bed.list();
    assert_eq!(listed.iter().map(|listed| listed.id.clone()).collect::<BTreeSet<_>>(), ids);
    let indexed: BTreeSet<String> = bed.indexed().into_iter().map(|entry| entry.id).collect();
    assert_eq!(indexed, ids);
    let iteration = |listed: &plimsoll_engine::checkpoint::Listed| {
        listed.verdict.meta.as_ref().unwrap().iteration
    };
    let iterations: BTreeSet<u64> = listed.iter().map(iteration).collect();
    assert_eq!(iterations, (1..=50).collect());
    let mirror = bed.folder().parent().unwrap().join(".checkpoint_iteration");
    assert_eq!(std::fs::read_to_string(mirror).unwrap(), "50\n");
    let newest = newest_own(&bed.place).unwrap().unwrap();
    let latest = std::fs::read_link(bed.folder().join("latest.md")).unwrap();
    assert_eq!(latest.file_stem().unwrap().to_str(), Some(&*newest.id));
    assert_eq!(bed.litter(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn fifty_processes_of_one_session_seal_fifty_checkpoints() {
    check(|_| "5f2c81aa-77b0".to_owned());
}

#[test]
fn fifty_sessions_seal_fifty_checkpoints() {
    check(|at| format!("{at:08}-77b0"));
}

#[test]
fn several_within_a_second_are_told_apart() {
    let bed = Bed::new();
    let ids: Vec<String> = (0..12).map(|_| bed.seal("5f2c81aa-77b0").meta.id).collect();
    assert_eq!(ids[0], "2026-11-15-055814-5f2c81aa");
    assert_eq!(ids[1], "2026-11-15-055814-5f2c81aa-2");
    assert_eq!(ids[11], "2026-11-15-055814-5f2c81aa-12");
    assert_eq!(newest_own(&bed.place).unwrap().unwrap().id, ids[11]);
    let metas: Vec<_> = bed.list().into_iter().map(|listed| listed.verdict.meta.unwrap()).collect();
    assert_eq!(metas[0].parent.as_ref(), Some(&ids[10]), "each goes on from the one before");
}

#[test]
fn threads_of_one_process_keep_apart_too() {
    let bed = Bed::new();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| seal(&bed.place, &draft("5f2c81aa", NOW)).unwrap());
        }
    });
    bed.check();
    assert_eq!((bed.list().len(), bed.indexed().len()), (20, 20));
}
