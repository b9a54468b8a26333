//! Listing, finding and pruning.

use std::fs;

use plimsoll_core::Millis;
use plimsoll_engine::checkpoint::{NotFound, find, prune};

use crate::bed::{Bed, NOW};

const DAY: Millis = 24 * 3600 * 1000;

fn ids(bed: &Bed) -> Vec<String> {
    bed.list().into_iter().map(|listed| listed.id).collect()
}

#[test]
fn checkpoints_are_listed_newest_first_with_their_age() {
    let bed = Bed::new();
    assert!(bed.list().is_empty());
    let old = bed.seal_at("old", NOW - 2 * DAY);
    let new = bed.seal_at("new", NOW - DAY / 2);
    let listed = bed.list();
    assert_eq!(ids(&bed), [new.meta.id, old.meta.id]);
    assert_eq!(listed[0].age(NOW).unwrap().as_secs(), 12 * 3600);
    assert_eq!((listed[0].is_stale(NOW), listed[1].is_stale(NOW)), (false, true));
    assert_eq!(listed[0].age(0).unwrap().as_secs(), 0, "one from the future is as new as can be");
}

#[test]
fn a_checkpoint_is_found_by_the_beginning_of_its_id() {
    let bed = Bed::new();
    assert!(matches!(find(&bed.place, "latest"), Err(NotFound::NoneOwn(_))));
    let old = bed.seal_at("old", NOW - 2 * DAY).meta.id;
    let new = bed.seal_at("new", NOW).meta.id;
    let found = |name: &str| find(&bed.place, name).map(|listed| listed.id);
    assert_eq!(found("latest").unwrap(), new);
    assert_eq!(found(&old).unwrap(), old);
    assert_eq!(found("2026-11-13").unwrap(), old);
    assert!(matches!(found("2026"), Err(NotFound::Ambiguous(..))));
    for unknown in ["2027", "", "../../x"] {
        assert!(matches!(found(unknown), Err(NotFound::Unknown(..))), "{unknown}");
    }
}

#[test]
fn what_is_older_than_a_week_goes_but_never_the_newest() {
    let bed = Bed::new();
    let old = bed.seal_at("old", NOW - 9 * DAY).meta.id;
    let kept = bed.seal_at("kept", NOW - 9 * DAY).meta.id;
    let newest = bed.seal_at("newest", NOW - 8 * DAY).meta.id;
    let foreign = bed.folder().join("2020-01-01-000000-x.md");
    fs::write(&foreign, "not ours to remove").unwrap();
    let pruned = prune(&bed.place, NOW, &|id| id == kept).unwrap();
    let removed: Vec<&str> = pruned.removed.iter().map(|listed| listed.id.as_str()).collect();
    assert_eq!((removed, pruned.kept), (vec![&*old], 2));
    assert!(foreign.exists());
    assert_eq!(ids(&bed)[..2], [newest.clone(), kept.clone()]);
    let indexed: Vec<String> = bed.indexed().into_iter().map(|entry| entry.id).collect();
    assert_eq!(indexed, [kept, newest]);
}

#[test]
fn fifty_of_a_project_are_kept() {
    let bed = Bed::new();
    let sealed: Vec<String> =
        (0..53).map(|at| bed.seal_at("s", NOW + at * 1_000).meta.id).collect();
    let pruned = prune(&bed.place, NOW, &|id| id == sealed[1]).unwrap();
    let removed: Vec<&str> = pruned.removed.iter().map(|listed| listed.id.as_str()).collect();
    assert_eq!(removed, [&sealed[2], &sealed[0]]);
    assert_eq!((bed.list().len(), bed.indexed().len()), (51, 51));
    assert!(prune(&bed.place, NOW, &|id| id == sealed[1]).unwrap().removed.is_empty());
}
