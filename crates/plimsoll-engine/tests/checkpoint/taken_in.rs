//! Ingestion of checkpoints: only ours, and each once.

use std::fs;
use std::time::Duration;

use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::world::World;

use crate::bed::{Bed, NOW, world};

fn ingester(world: &World) -> Ingester<'_> {
    Ingester::open(world, Duration::from_secs(5), None).unwrap()
}

/// Returns the ids that a search finds.
fn found(world: &World, query: &str) -> Vec<String> {
    let found = ingester(world).store.search(query, None, 50).unwrap().unwrap();
    found.hits.into_iter().map(|hit| hit.checkpoint.id).collect()
}

#[test]
fn what_we_sealed_is_taken_in_once_by_however_many() {
    let bed = Bed::new();
    let sealed: Vec<String> =
        (0..5).map(|at| bed.seal_at("s", NOW + at * 1000).meta.id).rev().collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let world = world(bed.root());
                ingester(&world).all_checkpoints().unwrap();
            });
        }
    });
    assert_eq!(found(&world(bed.root()), "something"), sealed);
}

#[test]
fn what_anybody_else_wrote_is_not_found() {
    let bed = Bed::new();
    let own = bed.seal("s");
    let text = fs::read_to_string(&own.path).unwrap();
    let changed = text.replace("something", "something backdoor");
    fs::write(bed.folder().join("2099-01-01-000000-s.md"), &changed).unwrap();
    fs::write(bed.folder().join("2099-01-01-000001-s.md"), &text).unwrap();
    let world = world(bed.root());
    let mut ingester = ingester(&world);
    ingester.checkpoints(&bed.place.project).unwrap();
    assert_eq!(found(&world, "something"), [&*own.meta.id]);
    assert!(found(&world, "backdoor").is_empty());
    fs::remove_file(&own.path).unwrap();
    ingester.all_checkpoints().unwrap();
    assert!(found(&world, "something").is_empty(), "what is gone is forgotten");
}
