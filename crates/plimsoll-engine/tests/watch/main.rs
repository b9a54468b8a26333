//! The watcher reports changes of files, whatever happens to them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asking;

use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_agents::{ALL, DEFAULT, Owner};
use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use plimsoll_core::session::SessionState;
use plimsoll_core::time::utc;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::spool::{self, Locked, SpoolLine};
use plimsoll_engine::watch::{Change, Notice, Stopper, Watcher, stopper};
use plimsoll_engine::world::{World, now};
use plimsoll_engine::{sessions, watch};
use plimsoll_store::CurvePoint;

/// Timeout for what should happen at once. No test depends on the exact value.
const HANGS: Duration = Duration::from_secs(60);

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a home with the folder of transcripts.
    fn with_project() -> Self {
        let home = Self::new();
        fs::create_dir_all(home.path(".claude/projects/app")).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn transcript(&self, session: &str) -> Transcript {
        self.file(&format!(".claude/projects/app/{session}.jsonl"))
    }

    fn subagent(&self, session: &str, subagent: &str) -> Transcript {
        self.file(&format!(".claude/projects/app/{session}/subagents/agent-{subagent}.jsonl"))
    }

    fn file(&self, name: &str) -> Transcript {
        Transcript { path: self.path(name), lines: 0, time: utc(now() as Millis) }
    }

    fn watch(&self) -> Watched {
        Watched::start(self.0.path(), |world| Watcher::new(world, ALL))
    }

    fn poll(&self) -> Watched {
        const PERIOD: Duration = Duration::from_millis(50);
        Watched::start(self.0.path(), |world| Watcher::polling(world, ALL, PERIOD))
    }

    /// Returns the reading that `status` would show for a transcript.
    fn status(&self, transcript: &Transcript) -> u64 {
        let world = world(self.0.path());
        let found = sessions::find(&world).unwrap();
        let found = found.iter().find(|found| found.path == transcript.path).unwrap();
        sessions::measure(&world, found).unwrap().unwrap().reading.used
    }

    fn spool(&self, session: &str, what: &str) {
        self.remember(session, what, SessionState::default());
    }

    /// Writes a spool record as a hook would.
    fn remember(&self, session: &str, what: &str, state: SessionState) {
        let path = world(self.0.path()).paths.spool_of(&SessionId::new(session).unwrap(), None);
        let line = SpoolLine::unmeasured(what, state);
        Locked::open(&path).unwrap().unwrap().append(&line).unwrap();
    }
}

fn world(home: &Path) -> World {
    let home = home.to_str().unwrap().to_owned();
    World::new(Box::new(move |name| (name == "HOME").then(|| home.clone()))).unwrap()
}

/// A transcript as a client would write it.
struct Transcript {
    path: PathBuf,
    lines: u64,
    /// Timestamp of its records.
    time: String,
}

impl Transcript {
    /// Sets the timestamp to `millis` milliseconds ago.
    fn written_before(self, millis: u64) -> Self {
        Self { time: utc((now() - millis) as Millis), ..self }
    }

    /// Appends prompts of a client that records no token counts.
    fn prompts(&mut self, prompts: u64) -> &mut Self {
        for _ in 0..prompts {
            self.lines += 1;
            let line = format!(
                r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"go on"}},"uuid":"p{}","timestamp":"{}","cwd":"/app","version":"2.1.325"}}"#,
                self.lines, self.time
            );
            self.append(&format!("{line}\n"));
        }
        self
    }

    /// Appends a response of the model to a prompt of this many tokens.
    fn answers(&mut self, prompt: u64) -> &mut Self {
        let parent = self.lines;
        self.lines += 1;
        let parent = if parent == 0 { "null".to_owned() } else { format!("\"u{parent}\"") };
        let side = self.path.to_str().unwrap().contains("/subagents/");
        let line = format!(
            r#"{{"parentUuid":{parent},"isSidechain":{side},"message":{{"id":"m{0}","type":"message","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"Done."}}],"stop_reason":"end_turn","usage":{{"input_tokens":{prompt},"output_tokens":40}}}},"type":"assistant","uuid":"u{0}","timestamp":"{1}","cwd":"/app","version":"2.1.325"}}"#,
            self.lines, self.time
        );
        self.append(&format!("{line}\n"))
    }

    fn append(&mut self, text: &str) -> &mut Self {
        fs::create_dir_all(self.path.parent().unwrap()).unwrap();
        let mut file = File::options().create(true).append(true).open(&self.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        self
    }
}

/// A watcher in its own thread.
struct Watched {
    news: Receiver<Notice>,
    stopper: Option<Stopper>,
    thread: Option<JoinHandle<()>>,
}

impl Watched {
    /// Starts a watcher and waits until its first look at all files is complete.
    fn start(home: &Path, watcher: fn(&World) -> Watcher<'_>) -> Self {
        let (stopper, stop) = stopper().unwrap();
        let (sender, news) = mpsc::channel();
        let home = home.to_owned();
        let mark = home.join(".claude/projects/mark/mark.jsonl");
        let had_root = home.join(".claude/projects").exists();
        let thread = std::thread::spawn(move || {
            let world = world(&home);
            let tell = |news: Vec<Notice>| {
                news.into_iter().for_each(|notice| sender.send(notice).unwrap_or_default());
                ControlFlow::Continue(())
            };
            watcher(&world).run(&stop, tell).unwrap();
        });
        let watched = Self { news, stopper: Some(stopper), thread: Some(thread) };
        if had_root {
            // Notices from here on come after those of this session.
            let time = utc(now() as Millis);
            Transcript { path: mark.clone(), lines: 0, time }.answers(1_000);
            watched.until(|notice| notice.owner.session.as_str() == "mark");
            fs::remove_dir_all(mark.parent().unwrap()).unwrap();
            watched.until(|notice| matches!(notice.change, Change::Ended));
        }
        watched
    }

    /// Skips notices until one is wanted, and returns it.
    #[track_caller]
    fn until(&self, is_wanted: impl Fn(&Notice) -> bool) -> Notice {
        loop {
            let notice = self.news.recv_timeout(HANGS).expect("it is never told");
            if is_wanted(&notice) {
                return notice;
            }
        }
    }

    /// Waits until the reading of a transcript is reported to be the one that `status` shows.
    #[track_caller]
    fn reads(&self, home: &Home, transcript: &Transcript) {
        let used = home.status(transcript);
        let owner = DEFAULT.transcript().owner(&transcript.path).unwrap();
        self.until(|notice| notice.owner == owner && used_of(notice) == Some(used));
    }

    #[track_caller]
    fn tells(&self, session: &str, change: fn(&Change) -> bool) -> Notice {
        self.until(|notice| notice.owner.session.as_str() == session && change(&notice.change))
    }

    /// Stops the watcher and returns its remaining notices.
    fn stop(mut self) -> Vec<Notice> {
        self.stopper.take().unwrap().stop();
        self.thread.take().unwrap().join().unwrap();
        self.news.try_iter().collect()
    }
}

fn used_of(notice: &Notice) -> Option<u64> {
    match &notice.change {
        Change::Read(standing) => Some(standing.reading.used),
        _ => None,
    }
}

#[test]
fn a_new_session_and_each_of_its_answers_is_told() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(10_000);
    watched.tells("one", |change| matches!(change, Change::Started));
    watched.reads(&home, &session);
    session.answers(12_000).append("{\"half\":");
    watched.reads(&home, &session);
    session.append("1}\n").answers(13_000);
    watched.reads(&home, &session);
    assert!(watched.stop().is_empty(), "and nothing else");
}

#[test]
fn a_burst_is_read_to_its_end_and_not_line_by_line() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    for prompt in 0..2_000 {
        session.answers(10_000 + prompt);
    }
    let last = home.status(&session);
    let mut told = 0;
    while used_of(&watched.until(|notice| used_of(notice).is_some())) != Some(last) {
        told += 1;
    }
    assert!(told < 1_000, "{told} readings");
    assert!(watched.stop().is_empty(), "after the last");
}

#[test]
fn what_was_there_before_is_told_first_and_only_of_the_living() {
    let home = Home::with_project();
    let (mut old, mut over, mut alive) =
        (home.transcript("old"), home.transcript("over"), home.transcript("alive"));
    for session in [&mut old, &mut over, &mut alive] {
        session.answers(10_000);
    }
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    File::options().append(true).open(&old.path).unwrap().set_modified(long_ago).unwrap();
    home.spool("over", spool::ENDED);
    let (stopper, stop) = stopper().unwrap();
    let mut told = Vec::new();
    let world = world(home.0.path());
    let tell = |news: Vec<Notice>| {
        told.extend(news);
        stopper.stop();
        ControlFlow::Continue(())
    };
    Watcher::new(&world, ALL).run(&stop, tell).unwrap();
    let [only] = &told[..] else { panic!("{told:?}") };
    assert_eq!(only.owner.session.as_str(), "alive");
    assert!(used_of(only).is_some());
}

#[test]
fn a_session_that_goes_on_after_long_is_told() {
    let home = Home::with_project();
    let mut old = home.transcript("old");
    old.answers(10_000);
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    File::options().append(true).open(&old.path).unwrap().set_modified(long_ago).unwrap();
    let watched = home.watch();
    old.answers(11_000);
    watched.tells("old", |change| matches!(change, Change::Started));
    watched.reads(&home, &old);
}

#[test]
fn a_file_that_is_cut_replaced_or_deleted_is_read_as_it_is() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000).answers(60_000);
    watched.reads(&home, &session);
    File::create(&session.path).unwrap();
    session.lines = 0;
    session.answers(20_000);
    watched.reads(&home, &session);
    let mut other = home.file("other.txt");
    other.answers(70_000).answers(80_000).answers(30_000);
    fs::rename(&other.path, &session.path).unwrap();
    watched.reads(&home, &session);
    fs::remove_file(&session.path).unwrap();
    watched.tells("one", |change| matches!(change, Change::Ended));
    session.answers(20_000);
    watched.reads(&home, &session);
}

#[test]
fn a_renamed_transcript_is_another_session() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000);
    watched.reads(&home, &session);
    let mut renamed = home.transcript("two");
    fs::rename(&session.path, &renamed.path).unwrap();
    renamed.lines = session.lines;
    watched.reads(&home, &renamed);
    renamed.answers(60_000);
    watched.reads(&home, &renamed);
}

#[test]
fn subagents_are_told_as_windows_of_their_own() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000);
    watched.reads(&home, &session);
    for name in ["a1", "a2"] {
        let mut subagent = home.subagent("one", name);
        subagent.answers(9_000);
        let owner = DEFAULT.transcript().owner(&subagent.path).unwrap();
        assert_eq!(owner.subagent.as_ref().map(SessionId::as_str), Some(name));
        watched.until(|notice| notice.owner == owner && used_of(notice).is_some());
        subagent.answers(9_500);
        watched.until(|notice| {
            notice.owner == owner && used_of(notice).is_some_and(|used| used > 9_500)
        });
    }
    home.spool("one", spool::ENDED);
    let ended = watched.tells("one", |change| matches!(change, Change::Ended));
    assert!(ended.owner.subagent.is_some());
    watched.until(|notice| {
        notice.owner == Owner { session: SessionId::new("one").unwrap(), subagent: None }
            && matches!(notice.change, Change::Ended)
    });
}

#[test]
fn folders_that_are_not_there_yet_are_waited_for() {
    let home = Home::new();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(50_000);
    watched.reads(&home, &session);
    let mut other = home.file(".claude/projects/new/two.jsonl");
    other.answers(40_000);
    watched.reads(&home, &other);
    other.answers(41_000);
    watched.reads(&home, &other);
}

#[test]
fn without_file_events_everything_is_found_by_looking() {
    let home = Home::new();
    let watched = home.poll();
    let mut session = home.transcript("one");
    session.answers(50_000);
    watched.reads(&home, &session);
    let mut subagent = home.subagent("one", "a1");
    subagent.answers(9_000);
    let owner = DEFAULT.transcript().owner(&subagent.path).unwrap();
    watched.until(|notice| notice.owner == owner && used_of(notice).is_some());
    session.answers(51_000);
    watched.reads(&home, &session);
    home.spool("one", spool::ENDED);
    watched.tells("one", |change| matches!(change, Change::Ended));
    let mut other = home.transcript("two");
    other.answers(50_000);
    watched.reads(&home, &other);
    fs::remove_file(&other.path).unwrap();
    watched.tells("two", |change| matches!(change, Change::Ended));
}

#[test]
fn the_clients_notes_tell_who_runs_and_who_has_died() {
    let home = Home::with_project();
    let notes = home.path(".claude/sessions");
    fs::create_dir_all(&notes).unwrap();
    let note = |session: &str, process: u32| {
        let text = format!(r#"{{"pid":{process},"sessionId":"{session}","cwd":"/app"}}"#);
        fs::write(notes.join(format!("{process}.json")), text).unwrap();
    };
    let watched = home.watch();
    let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    note("dies", child.id());
    watched.tells("dies", |change| matches!(change, Change::Started));
    note("ends", std::process::id());
    watched.tells("ends", |change| matches!(change, Change::Started));
    child.kill().unwrap();
    child.wait().unwrap();
    // Any change of the list makes the watcher read all of it; without one it waits for the next
    // tick.
    fs::remove_file(notes.join(format!("{}.json", std::process::id()))).unwrap();
    let told = [(); 2]
        .map(|()| watched.until(|notice| matches!(notice.change, Change::Died | Change::Ended)));
    let died = |notice: &Notice| matches!(notice.change, Change::Died);
    for notice in &told {
        assert_eq!(died(notice), notice.owner.session.as_str() == "dies", "{notice:?}");
    }
}

#[test]
fn two_hundred_sessions_at_once_are_all_read_to_their_end() {
    let home = Home::with_project();
    let watched = home.watch();
    let mut sessions: Vec<Transcript> = (0..200)
        .map(|number| home.file(&format!(".claude/projects/p{}/s{number}.jsonl", number % 7)))
        .collect();
    for round in 1..=5 {
        for (number, session) in (0..).zip(&mut sessions) {
            session.answers(10_000 * round + number);
        }
    }
    let mut wanted: std::collections::HashMap<String, u64> = sessions
        .iter()
        .map(|session| {
            let name = session.path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, home.status(session))
        })
        .collect();
    while !wanted.is_empty() {
        let notice = watched.until(|notice| used_of(notice).is_some());
        let name = notice.owner.session.as_str();
        if wanted.get(name).copied() == used_of(&notice) {
            wanted.remove(name);
        }
    }
}

#[test]
fn a_compaction_is_told_and_taken_into_the_store() {
    let fixtures = Path::new("../plimsoll-agents/fixtures/claude-code/transcripts");
    let text = fs::read_to_string(fixtures.join("compact-auto-headless.jsonl")).unwrap();
    let home = Home::with_project();
    let watched = home.watch();
    let mut session = home.transcript("one");
    session.answers(10_000);
    watched.reads(&home, &session);
    session.append(&text);
    watched.tells("one", |change| matches!(change, Change::Compacted(_)));
    watched.reads(&home, &session);
    watched.stop();
    let world = world(home.0.path());
    let store = Ingester::open(&world, HANGS, None).unwrap().store;
    let points = store.series(&SessionId::new("one").unwrap(), 0).unwrap();
    let compactions =
        points.iter().filter(|row| matches!(row.point, CurvePoint::Compaction { .. })).count();
    assert!(compactions == 1 && points.len() > 3, "{points:?}");
}

#[test]
fn a_watcher_ends_when_nobody_listens_or_its_stopper_is_dropped() {
    let home = Home::with_project();
    home.transcript("one").answers(10_000);
    let world = world(home.0.path());
    let (stopper, stop) = watch::stopper().unwrap();
    Watcher::new(&world, ALL).run(&stop, |_| ControlFlow::Break(())).unwrap();
    drop(stopper);
    Watcher::new(&world, ALL).run(&stop, |_| ControlFlow::Continue(())).unwrap();
}
