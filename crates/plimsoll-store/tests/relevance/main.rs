//! Measures how well the search for saves finds the intended save: each query names the save that
//! should come first. The test fails if the results are worse than the figures in docs/saves.md.

#![expect(clippy::unwrap_used, reason = "a set that cannot be read is a failed test")]
#![expect(clippy::print_stdout, reason = "the figures are what this is for")]

use plimsoll_extract::save::{NewSave, Save};
use plimsoll_store::{Batch, SaveFilter, SourceFile, Store, StoreError};

const SAVES: &str = include_str!("saves.txt");
const QUERIES: &str = include_str!("queries.txt");
/// The number of results in which the intended save is looked for.
const RESULT_LIMIT: u32 = 10;
const MIN_HITS_AT_1: f64 = 0.96;
const MIN_MRR: f64 = 0.97;

fn lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let told = text.lines().filter(|line| !line.starts_with("# "));
    told.map(|line| line.split(" | ").map(str::trim).collect())
}

fn save(at: usize, parts: &[&str]) -> Save {
    let [id, task, context, next_steps, tags, artifacts] = parts else { panic!("{parts:?}") };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let what = NewSave {
        task: (*task).to_owned(),
        context: Some((*context).to_owned()),
        next_steps: Some((*next_steps).to_owned()),
        tags: words(tags),
        key_artifacts: words(artifacts),
        ..NewSave::default()
    };
    Save { id: (*id).to_owned(), created: at as i64, what }
}

fn store() -> Store {
    let mut store = Store::in_memory().unwrap();
    let saves = lines(SAVES).enumerate().map(|(at, parts)| save(at, &parts)).collect();
    let batch = Batch { saves, ..Batch::default() };
    let source = SourceFile { path: "/saves".into(), inode: 1 };
    store.ingest(&source, |_| Ok::<_, StoreError>(batch)).unwrap();
    store
}

/// Returns the rank of the intended save, counted from 1. `None` if it was not found.
fn rank_of(store: &Store, query: &str, meant: &str) -> Option<usize> {
    let found = store.search_saves(query, &SaveFilter::default(), RESULT_LIMIT).unwrap()?;
    found.saves.iter().position(|save| save.id == meant).map(|at| at + 1)
}

#[test]
fn the_intended_save_comes_first() {
    let store = store();
    let (mut count, mut first, mut ranks) = (0.0, 0.0, 0.0);
    for parts in lines(QUERIES) {
        let [query, meant] = parts[..] else { panic!("{parts:?}") };
        let place = rank_of(&store, query, meant);
        count += 1.0;
        first += f64::from(u8::from(place == Some(1)));
        ranks += place.map_or(0.0, |place| 1.0 / place as f64);
        if place != Some(1) {
            println!("{query}: {meant} is at {place:?}");
        }
    }
    println!("{count} queries: hits@1 {:.3}, MRR {:.3}", first / count, ranks / count);
    assert!(first / count >= MIN_HITS_AT_1 && ranks / count >= MIN_MRR);
}
