//! Saves are stored once, listed and found.

use plimsoll_extract::save::{NewSave, Save, SaveEnvironment, SaveKind};

use super::*;
use crate::{MatchKind, SaveFilter, SaveKinds};

const ALL: SaveFilter<'static> =
    SaveFilter { environment: None, project: None, kinds: SaveKinds::All };

fn save(id: &str, created: i64, what: NewSave) -> Save {
    Save { id: id.to_owned(), created, what }
}

fn task(task: &str) -> NewSave {
    NewSave { task: task.to_owned(), ..NewSave::default() }
}

fn commit(sha: &str) -> NewSave {
    let (kind, commit) = (SaveKind::Commit, Some(sha.to_owned()));
    NewSave { kind, commit, ..task(&format!("Commit: {sha}")) }
}

fn ingest_saves(store: &mut Store, saves: &[Save]) {
    let batch = Batch { saves: saves.to_vec(), ..Batch::default() };
    ingest(store, &source(1), batch).unwrap();
}

fn ids(saves: Vec<Save>) -> Vec<String> {
    saves.into_iter().map(|save| save.id).collect()
}

#[test]
fn a_save_comes_back_as_it_was() {
    let mut store = Store::in_memory().unwrap();
    let text = |text: &str| Some(text.to_owned());
    let list = |items: [&str; 2]| items.map(str::to_owned).to_vec();
    let what = NewSave {
        environment: SaveEnvironment::new("staging").unwrap(),
        kind: SaveKind::Auto,
        task: "Mend it\nnow".to_owned(),
        context: text("Branch: main"),
        blockers: text("no access"),
        next_steps: text("- ask"),
        tags: list(["a b", "c"]),
        key_artifacts: list(["src/a.rs", "x"]),
        project: text("/p"),
        session: text("s1"),
        checkpoint: text("c1"),
        commit: text("0123456"),
    };
    let kept = [save("1", 5, what), save("2", 4, task("plain"))];
    ingest_saves(&mut store, &kept);
    assert_eq!(store.save("1").unwrap().as_ref(), Some(&kept[0]));
    assert_eq!(store.newest_saves(&ALL, 9).unwrap(), kept);
    assert_eq!(store.saves_of_session("s1").unwrap(), kept[..1]);
    assert_eq!(store.saved_checkpoints().unwrap(), ["c1".to_owned()].into());
    assert_eq!(store.save("3").unwrap(), None);
}

#[test]
fn the_newest_come_first_by_environment_and_kind() {
    let mut store = Store::in_memory().unwrap();
    let staging = SaveEnvironment::new("staging").unwrap();
    let auto = NewSave { kind: SaveKind::Auto, ..task("full") };
    let tests = NewSave { kind: SaveKind::Tests, ..task("tests") };
    let other = NewSave { environment: staging.clone(), ..commit("0123456") };
    ingest_saves(
        &mut store,
        &[
            save("1", 1, task("first")),
            save("4", 4, auto),
            save("3", 3, other),
            save("2", 2, task("second")),
            save("5", 5, tests),
            save("6", 6, commit("0123456")),
        ],
    );
    let newest = |environment: Option<&SaveEnvironment>, kinds, limit| {
        ids(store.newest_saves(&SaveFilter { environment, kinds, ..ALL }, limit).unwrap())
    };
    let development = SaveEnvironment::default();
    assert_eq!(newest(None, SaveKinds::All, 9), ["6", "5", "4", "3", "2", "1"]);
    assert_eq!(newest(None, SaveKinds::Restorable, 2), ["4", "2"]);
    assert_eq!(newest(Some(&development), SaveKinds::Restorable, 1), ["4"]);
    assert_eq!(newest(Some(&staging), SaveKinds::Restorable, 9), [""; 0]);
    let restored = |environment, kinds| {
        let filter = SaveFilter { environment: Some(environment), kinds, ..ALL };
        ids(store.saves_to_restore(&filter, 9).unwrap())
    };
    assert_eq!(restored(&development, SaveKinds::Restorable), ["4", "2", "1"]);
    assert_eq!(restored(&development, SaveKinds::All), ["6", "5", "4", "2", "1"]);
    assert_eq!(restored(&staging, SaveKinds::Restorable), ["3"], "there is nothing else");
    let counts = store.environments().unwrap();
    assert_eq!(counts, [(development, 5), (staging, 1)]);
}

#[test]
fn a_commit_is_one_save_in_each_environment() {
    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
    let mut store = Store::in_memory().unwrap();
    let staging = SaveEnvironment::new("staging").unwrap();
    let there = |sha| NewSave { environment: staging.clone(), ..commit(sha) };
    ingest_saves(&mut store, &[save("1", 1, commit(SHA)), save("2", 2, there(&SHA[..7]))]);
    ingest_saves(&mut store, &[save("3", 3, there(SHA)), save("4", 4, commit(&SHA[..9]))]);
    assert_eq!(ids(store.newest_saves(&ALL, 9).unwrap()), ["2", "1"]);
    for environment in [SaveEnvironment::default(), staging] {
        let one = store.save_of_commit(&environment, SHA).unwrap().unwrap().what;
        assert_eq!((one.commit.as_deref(), &one.environment), (Some(SHA), &environment));
    }
    let nowhere = SaveEnvironment::new("nowhere").unwrap();
    assert_eq!(store.save_of_commit(&nowhere, SHA).unwrap(), None);
}

#[test]
fn repeated_saves_of_a_commit_are_merged() {
    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
    let mut store = Store::in_memory().unwrap();
    let told = NewSave { session: Some("s1".to_owned()), ..commit(&SHA[..7]) };
    let checked = NewSave { checkpoint: Some("c1".to_owned()), ..commit(SHA) };
    ingest_saves(
        &mut store,
        &[save("1", 1, told), save("2", 2, commit(SHA)), save("3", 3, checked)],
    );
    ingest_saves(
        &mut store,
        &[save("4", 4, commit("0123456fff")), save("5", 5, commit("fffffff"))],
    );
    assert_eq!(ids(store.newest_saves(&ALL, 9).unwrap()), ["5", "4", "1"]);
    let one = store.save_of_commit(&SaveEnvironment::default(), SHA).unwrap().unwrap().what;
    assert_eq!(one.commit.as_deref(), Some(SHA));
    assert_eq!((one.session.as_deref(), one.checkpoint.as_deref()), (Some("s1"), Some("c1")));
    assert_eq!(store.save_of_commit(&SaveEnvironment::default(), "abc").unwrap(), None);
}

#[test]
fn a_save_read_twice_is_stored_once() {
    let mut store = Store::in_memory().unwrap();
    for _ in 0..2 {
        ingest_saves(&mut store, &[save("1", 1, task("Mend the hull"))]);
    }
    assert_eq!(store.newest_saves(&ALL, 9).unwrap().len(), 1);
    assert_eq!(store.search_saves("hull", &ALL, 9).unwrap().unwrap().saves.len(), 1);
}

#[test]
fn a_search_goes_by_words_then_parts_then_spelling() {
    let mut store = Store::in_memory().unwrap();
    let found = |store: &Store, typed: &str| {
        let found = store.search_saves(typed, &SaveFilter::default(), 9).unwrap().unwrap();
        (ids(found.saves), found.matched_by)
    };
    let auto = NewSave { kind: SaveKind::Auto, ..task("Mend the hull") };
    let tagged = NewSave { tags: vec!["hull".to_owned()], ..task("Paint") };
    ingest_saves(
        &mut store,
        &[
            save("1", 1, task("Mend the load_line of the hull")),
            save("2", 2, auto),
            save("3", 3, tagged),
        ],
    );
    let both = vec!["2".to_owned(), "1".to_owned()];
    assert_eq!(found(&store, "mending hull"), (both, MatchKind::AllWords));
    assert_eq!(found(&store, "oad_lin"), (vec!["1".to_owned()], MatchKind::WordParts));
    let corrected = MatchKind::Corrected(vec![("piant".to_owned(), "paint".to_owned())]);
    assert_eq!(found(&store, "piant"), (vec!["3".to_owned()], corrected));
    assert_eq!(found(&store, "xylophone"), (vec![], MatchKind::SomeWords));
    assert_eq!(store.search_saves("--", &ALL, 9).unwrap(), None);
    let staging = SaveEnvironment::new("staging").unwrap();
    let there = SaveFilter { environment: Some(&staging), ..ALL };
    assert_eq!(store.search_saves("hull", &there, 9).unwrap().unwrap().saves, []);
}
