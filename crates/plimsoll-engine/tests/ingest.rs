//! Ingestion stores everything once, in whatever steps it is read.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use plimsoll_agents::DEFAULT;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions;
use plimsoll_engine::spool::{Locked, SpoolLine};
use plimsoll_engine::world::World;
use plimsoll_testbed::generator::{self, GeneratorOptions};

const SESSION: &str = "5f2c1a3b-0000-4000-8000-000000000000";

/// Message, prompt tokens, output tokens and turn.
type Reading = (String, u64, u64, u32);

struct Home {
    folder: tempfile::TempDir,
    world: World,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { world: world_in(folder.path()), folder }
    }

    fn transcript(&self) -> PathBuf {
        let path = self.folder.path().join(format!(".claude/projects/app/{SESSION}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn ingester(&self) -> Ingester<'_> {
        Ingester::open(&self.world, Duration::from_secs(5), None).unwrap()
    }

    fn ingest(&self) {
        self.ingester().session(DEFAULT, &self.transcript()).unwrap();
    }

    /// Returns everything that the store has of the session, without row ids.
    fn stored(&self) -> (Vec<Reading>, Vec<Option<u64>>) {
        let session = SessionId::new(SESSION).unwrap();
        let store = self.ingester().store;
        let readings = store.readings(&session, None).unwrap();
        let readings = readings
            .into_iter()
            .map(|row| (row.message, row.prompt_tokens, row.output_tokens, row.turn))
            .collect();
        let compactions = store.compactions().unwrap();
        (readings, compactions.into_iter().map(|row| row.tokens_before).collect())
    }
}

fn world_in(home: &Path) -> World {
    let home = home.to_str().unwrap().to_owned();
    World::new(Box::new(move |name| (name == "HOME").then(|| home.clone()))).unwrap()
}

fn generated(seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    generator::write(
        &mut bytes,
        &GeneratorOptions { size: 2_000_000, seed, ..GeneratorOptions::default() },
    )
    .unwrap();
    bytes
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_transcript_that_grows_in_any_steps_is_stored_as_if_read_at_once() {
    let bytes = generated(3);
    let whole = Home::new();
    append(&whole.transcript(), &bytes);
    whole.ingest();
    let expected = whole.stored();
    assert!(expected.0.len() > 20 && !expected.1.is_empty(), "the transcript has something in it");

    let grown = Home::new();
    for step in bytes.chunks(bytes.len() / 37) {
        append(&grown.transcript(), step);
        grown.ingest();
    }
    assert_eq!(grown.stored(), expected);
    grown.ingest();
    assert_eq!(grown.stored(), expected, "read again");
}

#[test]
fn many_processes_may_ingest_at_once() {
    let home = Home::new();
    append(&home.transcript(), &generated(4));
    let (folder, transcript) = (home.folder.path(), home.transcript());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let world = world_in(folder);
                let patience = Duration::from_secs(30);
                let mut own = Ingester::open(&world, patience, None).unwrap();
                own.session(DEFAULT, &transcript).unwrap();
            });
        }
    });
    let together = home.stored();
    let alone = Home::new();
    append(&alone.transcript(), &generated(4));
    alone.ingest();
    assert_eq!(together, alone.stored());
}

#[test]
fn a_transcript_replaced_or_shrunk_is_read_from_its_start() {
    let home = Home::new();
    append(&home.transcript(), &generated(5));
    home.ingest();
    let before = home.stored().0.len();
    let other = generated(6);
    fs::write(home.transcript(), &other[..other.len() / 2]).unwrap();
    home.ingest();
    assert!(home.stored().0.len() > before, "the new rows are there, and the old ones stay");
}

#[test]
fn only_what_has_news_is_read_again() {
    let home = Home::new();
    append(&home.transcript(), &generated(7));
    let read = || {
        let found = sessions::find(&home.world).unwrap();
        let files = Cell::new(0);
        home.ingester().catch_up(&found, |_, of| files.set(of)).unwrap();
        files.get()
    };
    assert_eq!((read(), read()), (1, 0));
    append(&home.transcript(), &generated(8));
    assert_eq!((read(), read()), (1, 0));
    let (readings, _) = home.stored();
    let whole = Home::new();
    append(&whole.transcript(), &[generated(7), generated(8)].concat());
    whole.ingest();
    assert_eq!(readings, whole.stored().0);
}

#[test]
fn hook_runs_are_stored_however_the_transcript_grows() {
    let runs = |home: &Home| home.ingester().store.hook_counts(0).unwrap();
    let (whole, grown) = (Home::new(), Home::new());
    let bytes = generated(3);
    append(&whole.transcript(), &bytes);
    whole.ingest();
    for step in bytes.chunks(bytes.len() / 7) {
        append(&grown.transcript(), step);
        grown.ingest();
    }
    assert!(runs(&whole).iter().map(|count| count.runs).sum::<u64>() > 10);
    assert_eq!(runs(&grown), runs(&whole));
}

#[test]
fn where_the_client_compacted_is_told_to_the_hooks() {
    let home = Home::new();
    append(&home.transcript(), &generated(3));
    home.ingest();
    home.ingester().learn().unwrap();
    let learned = fs::read_to_string(home.world.paths.learned()).unwrap();
    let (_, compactions) = home.stored();
    for tokens in compactions.iter().flatten().rev().take(5) {
        assert!(learned.contains(&tokens.to_string()), "{tokens} in {learned}");
    }
}

#[test]
fn a_spool_is_kept_until_it_is_in_the_store_and_old() {
    let home = Home::new();
    append(&home.transcript(), &generated(3));
    let session = SessionId::new(SESSION).unwrap();
    let spool = home.world.paths.spool_of(&session, None);
    let line = SpoolLine {
        at: 1_794_722_294_946,
        what: "warned".to_owned(),
        used: 160_000,
        window: 200_000,
        state: SessionState::default(),
    };
    Locked::open(&spool).unwrap().unwrap().append(&line).unwrap();
    home.ingest();
    home.ingester().prune().unwrap();
    assert!(spool.exists(), "it is new");
    let week_ago = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
    fs::File::options().append(true).open(&spool).unwrap().set_modified(week_ago).unwrap();
    home.ingester().prune().unwrap();
    assert!(!spool.exists(), "it is old and in the store");
    let work = home.world.paths.work(&session);
    fs::create_dir_all(work.parent().unwrap()).unwrap();
    fs::write(&work, "kept").unwrap();
    home.ingester().prune().unwrap();
    assert!(work.exists(), "what is kept of the work is new");
    fs::File::options().append(true).open(&work).unwrap().set_modified(week_ago).unwrap();
    home.ingester().prune().unwrap();
    assert!(!work.exists(), "and now it is old");
    let decisions = home.ingester().store.decisions(&session).unwrap();
    let words: Vec<_> = decisions.iter().map(|row| (row.label.as_str(), row.used)).collect();
    assert_eq!(words, [("warned", 160_000)]);
}
