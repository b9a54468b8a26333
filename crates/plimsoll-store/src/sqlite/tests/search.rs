//! Checkpoints are stored once and found by their content.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::{CheckpointListing, CheckpointRow, MatchKind};

const PROJECT: &str = "/p";

fn row(id: &str, created: i64, summary: &str, lines: &str) -> CheckpointRow {
    CheckpointRow {
        id: id.to_owned(),
        path: format!("{PROJECT}/{id}.md").into(),
        project: PROJECT.into(),
        session: "s1".to_owned(),
        created,
        occasion: "auto".to_owned(),
        iteration: created as u64,
        partial: false,
        used: Some(120_000),
        window: None,
        summary: summary.to_owned(),
        body: format!("## What Changed\n\n{lines}\n\n## Task\n\n> {summary}\n"),
    }
}

fn sync_checkpoints(store: &mut Store, project: &str, there: &[CheckpointRow]) {
    let look = |known: &BTreeSet<String>| {
        let new = there.iter().filter(|row| !known.contains(&row.id)).cloned().collect();
        let ids = there.iter().map(|row| row.id.clone()).collect();
        Ok::<_, StoreError>(Some(CheckpointListing { ids, new }))
    };
    store.sync_checkpoints(Path::new(project), look).unwrap();
}

fn ids(store: &Store, query: &str) -> Vec<String> {
    let found = store.search(query, None, 20).unwrap().unwrap();
    found.hits.into_iter().map(|hit| hit.checkpoint.id).collect()
}

/// Returns the checkpoints of a few weeks of work.
fn weeks_of_checkpoints() -> Vec<CheckpointRow> {
    [
        (
            "auth",
            "Implement login with OAuth2",
            "- [src/auth/login.rs:12] - edited\n- `OAuthClient::exchange_code`",
        ),
        (
            "hull",
            "Mend the load line of the hull",
            "- [crates/hull/src/load_line.rs:3-9] - edited\n- fn load_line_of(draught)",
        ),
        (
            "pg",
            "The migration fails on PostgreSQL",
            "- error: connection refused (os error 111)\n- `sqlx migrate run`",
        ),
        (
            "sqlite",
            "Move the store to SQLite",
            "- [store/src/sqlite.rs:1-80] - written\n- `PRAGMA journal_mode = wal`",
        ),
        (
            "ui",
            "Colours for the status line",
            "- [src/ui/theme.rs:5] - edited\n- NO_COLOR is respected",
        ),
        ("bench", "Benchmark of the parser", "- `cargo bench --bench parse`\n- 2.3 GB/s"),
        (
            "docs",
            "Write the handbook",
            "- [docs/handbook.md:1] - written\n- mentions login in passing",
        ),
        (
            "ci",
            "CI is red on musl",
            "- `cargo build --target x86_64-unknown-linux-musl`\n- linker `cc` not found",
        ),
        (
            "json",
            "Parse JSON without copying",
            "- [src/json/reader.rs:44] - edited\n- Cow<'_, str> for strings",
        ),
        (
            "flaky",
            "A flaky test of the watcher",
            "- test watcher::sees_growth ... FAILED\n- assertion `left == right` failed",
        ),
        ("release", "Release 0.4.0", "- commit 8d3e4ed31b\n- `git tag v0.4.0`"),
        (
            "search",
            "Full text search",
            "- fts5, porter and trigram\n- authentication is another matter",
        ),
        ("retry", "Retries with backoff", "- [net/retry.rs:7] - edited\n- see issue #4711"),
        (
            "cache",
            "Cache invalidation",
            "- [src/cache.rs:100] - edited\n- HashMap<PathBuf, Instant>",
        ),
        ("i18n", "Übersetzungen für Menüs", "- [i18n/de.toml:1] - written\n- größe statt groesse"),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (id, summary, lines))| row(id, at as i64, summary, lines))
    .collect()
}

#[test]
fn the_intended_checkpoint_comes_first() {
    let mut store = Store::in_memory().unwrap();
    sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints());
    for (query, first) in [
        ("load_line", "hull"),
        ("load_line_of", "hull"),
        ("exchange_code", "auth"),
        ("OAuthClient", "auth"),
        ("login", "auth"),
        ("authClient::exch", "auth"),
        ("crates/hull/src/load_line.rs", "hull"),
        ("src/json/reader.rs", "json"),
        ("reader.rs", "json"),
        ("connection refused", "pg"),
        ("\"assertion `left == right` failed\"", "flaky"),
        ("linker `cc` not found", "ci"),
        ("migrations", "pg"),
        ("benchmarking", "bench"),
        ("8d3e4ed", "release"),
        ("#4711", "retry"),
        ("journal wal", "sqlite"),
        ("postgers", "pg"),
        ("handbok", "docs"),
        ("invaldation", "cache"),
        ("übersetzung", "i18n"),
        ("GROSSE", "i18n"),
    ] {
        let found = ids(&store, query);
        assert_eq!(found.first().map(String::as_str), Some(first), "{query}: {found:?}");
    }
}

#[test]
fn typed_text_contains_no_operators() {
    let mut store = Store::in_memory().unwrap();
    sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints());
    for query in [
        "\"",
        "login\"",
        "\"\"",
        "*",
        "log*",
        "AND",
        "OR NOT",
        "-login",
        "login -oauth",
        "NEAR(a b)",
        "body:login",
        "^login",
        "(",
        "{a b}: c",
        "a + b",
        "\0",
        "'; DROP TABLE checkpoints; --",
        "\\",
        "%",
        "a",
        "é",
        "login AND (oauth",
        "日本語",
        "\u{2}x\u{3}",
    ] {
        let found = store.search(query, None, 20);
        assert!(found.is_ok(), "{query:?}: {found:?}");
    }
    assert_eq!(ids(&store, "-login")[0], "auth");
    assert_eq!(store.search(" * -- \"\"", None, 20).unwrap(), None, "there is no word in it");
    assert!(ids(&store, "xylophone").is_empty());
    assert!(ids(&store, "changed").is_empty(), "headings are in all of them");
}

#[test]
fn a_search_reports_how_results_match() {
    let mut store = Store::in_memory().unwrap();
    sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints());
    let by = |query: &str| store.search(query, None, 20).unwrap().unwrap().matched_by;
    assert_eq!(by("login"), MatchKind::AllWords);
    assert_eq!(by("AuthClient"), MatchKind::WordParts);
    let corrected = vec![("handbok".to_owned(), "handbook".to_owned())];
    assert_eq!(by("write handbok"), MatchKind::Corrected(corrected));
    assert_eq!(by("login musl"), MatchKind::SomeWords);
    let hit = store.search("refused", None, 1).unwrap().unwrap().hits.remove(0);
    let line: String = hit.line.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!(
        (hit.section.as_str(), line.as_str()),
        ("What Changed", "- error: connection refused (os error 111)")
    );
    let fits: Vec<_> =
        hit.line.iter().filter(|piece| piece.is_match).map(|piece| &*piece.text).collect();
    assert_eq!(fits, ["refused"]);
}

#[test]
fn equal_matches_are_sorted_newest_first() {
    let mut store = Store::in_memory().unwrap();
    let rows = [("a", 1), ("c", 3), ("b", 2)].map(|(id, at)| row(id, at, "Mend it", "- x"));
    sync_checkpoints(&mut store, PROJECT, &rows);
    assert_eq!(ids(&store, "mend"), ["c", "b", "a"]);
}

#[test]
fn deleted_checkpoints_are_removed_and_none_is_stored_twice() {
    let mut store = Store::in_memory().unwrap();
    let other = CheckpointRow {
        project: "/q".into(),
        path: "/q/x.md".into(),
        ..row("x", 1, "Mend it", "")
    };
    sync_checkpoints(&mut store, "/q", std::slice::from_ref(&other));
    for _ in 0..2 {
        sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints());
        assert_eq!(ids(&store, "login"), ["auth", "docs"]);
    }
    sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints()[1..]);
    assert_eq!(ids(&store, "login"), ["docs"]);
    let found = store.search("mend", Some(Path::new("/q")), 20).unwrap().unwrap().hits;
    assert_eq!(found[0].checkpoint, other);
    assert_eq!(found.len(), 1);
    let unreadable = |_: &BTreeSet<String>| Ok::<_, StoreError>(None);
    store.sync_checkpoints(Path::new(PROJECT), unreadable).unwrap();
    assert_eq!(ids(&store, "login"), ["docs"], "what cannot be looked at stays");
}

#[test]
fn concurrent_syncs_store_each_checkpoint_once() {
    let (_folder, path) = new_file();
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut store = Store::open(&path, PATIENCE).unwrap();
                sync_checkpoints(&mut store, PROJECT, &weeks_of_checkpoints());
            });
        }
    });
    let store = Store::open(&path, PATIENCE).unwrap();
    assert_eq!(ids(&store, "login"), ["auth", "docs"]);
}
