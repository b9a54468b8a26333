//! A database that is away for a while, and machines that are killed meanwhile.

use std::time::{Duration, Instant};

use plimsoll_testbed::generator::SplitMix64;

use super::{ALL, database, machine, succeeds};
use crate::env::TestEnv;
use crate::hook::killed::killed_after;
use crate::serve::client::Running;
use crate::ss::plimsoll;

/// How long anything may take. No test passes or fails by less.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something has happened.
#[track_caller]
pub(super) fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let since = Instant::now();
    while !happened() {
        assert!(since.elapsed() < PATIENCE, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn save(env: &TestEnv, task: &str) {
    let ran = plimsoll(env, &["ss", "release", "--task", task]);
    assert!(ran.status.success(), "{ran}");
}

#[test]
fn what_happens_while_the_database_is_away_arrives_once_when_it_is_back() {
    let (mut server, url) = database();
    let ann = machine(&url, "ann", ALL);
    ann.session("aaaaaaaa-1").fill(50_000);
    let serving = Running::start(&ann, &[]);
    let count = "SELECT count(*) FROM plimsoll.saves";
    save(&ann, "first");
    until("the first save arrives", || server.sql(count) == "1");
    until("all else arrives", || ann.plimsoll("team status").stdout.contains("  0 rows;"));
    server.kill();
    for nth in 0..5 {
        save(&ann, &format!("meanwhile {nth}"));
    }
    until("it is told", || {
        let status = ann.plimsoll("team status");
        assert_eq!(status.status.code(), Some(1), "{status}");
        status.stdout.contains("could not connect")
    });
    until("the doctor knows", || ann.plimsoll("doctor").stdout.contains("5 rows wait"));
    let waiting = "\nplimsoll_team_waiting_rows{} 5.0\n";
    until("it is counted", || serving.get("/metrics").body.contains(waiting));
    assert_eq!(serving.get("/").status, 200, "what is ours is shown all the same");
    assert_eq!(serving.get("/team").status, 503);
    server.launch();
    until("all have arrived", || server.sql(count) == "6");
    until("the page is back", || serving.get("/team").status == 200);
    let again = "SELECT count(*), count(DISTINCT task) FROM plimsoll.saves";
    assert_eq!(server.sql(again), "6|6");
    until("the trouble is over", || !ann.plimsoll("doctor").stdout.contains("could not"));
    let log = std::fs::read_to_string(ann.path("serve.log")).unwrap();
    let mut said: Vec<&str> =
        log.lines().filter_map(|line| line.split_once("nothing goes")).map(|it| it.1).collect();
    assert!(!said.is_empty(), "{log}");
    said.sort_unstable();
    assert!(said.windows(2).all(|two| two[0] != two[1]), "it is said once: {log}");
}

#[test]
fn a_table_that_somebody_has_altered_is_told_of_and_things_go_on_when_it_is_mended() {
    let (server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    succeeds(&ann, "board claim /srv/hull/src");
    succeeds(&ann, "team sync");
    server.sql("ALTER TABLE plimsoll.claims ALTER COLUMN since TYPE numeric");
    let serving = Running::start(&bob, &[]);
    let log = || std::fs::read_to_string(bob.path("serve.log")).unwrap();
    until("it is said", || {
        log().contains("nothing goes to the team's database for now: something")
    });
    assert!(bob.plimsoll("doctor").stdout.contains("since"), "it is said which column");
    server.sql("ALTER TABLE plimsoll.claims ALTER COLUMN since TYPE bigint");
    until("the claim is known here", || succeeds(&bob, "board list").contains("/srv/hull/src"));
    assert_eq!(serving.get("/team").status, 200);
}

/// How often something is killed; more where somebody has the time.
fn kills() -> u32 {
    std::env::var("PLIMSOLL_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

#[test]
fn whatever_is_killed_everything_arrives_once() {
    let (mut server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    let session = ann.session("aaaaaaaa-1");
    session.fill(130_000);
    succeeds(&ann, "team sync");
    let mut random = SplitMix64::new(15);
    let (mut posted, mut told, mut muttered) = (Vec::new(), Vec::new(), Vec::new());
    for nth in 0..kills() {
        let serving = [Running::start(&ann, &[]), Running::start(&bob, &[])];
        if nth % 2 == 1 {
            server.kill();
        }
        save(&ann, &format!("ann {nth}"));
        save(&bob, &format!("bob {nth}"));
        let text = format!("message {nth} is there");
        // One that could not be posted says so.
        let post = plimsoll(&bob, &["board", "post", "--to", "aaaaaaaa", &text]);
        posted.extend(post.status.success().then_some(text));
        std::thread::sleep(Duration::from_millis(u64::from(nth % 7) * 300));
        drop(serving);
        if nth % 2 == 1 {
            server.launch();
        }
        // A hook, too. What it said before it was killed may be said again.
        let hook = killed_after(&ann, &session, random.below(5_000) as u64);
        let heard = if hook.status.success() { &mut told } else { &mut muttered };
        heard.push(hook.stdout);
        told.push(session.tool_finished().stdout);
    }
    for _ in 0..2 {
        succeeds(&bob, "team sync");
        succeeds(&ann, "team sync");
        told.push(session.tool_finished().stdout);
    }
    let (told, muttered) = (told.concat(), muttered.concat());
    for text in &posted {
        let times = told.matches(text.as_str()).count();
        assert!(times == 1 || times == 0 && muttered.contains(text), "{text}: {times}\n{told}");
    }
    let count = "SELECT count(*), count(DISTINCT task) FROM plimsoll.saves";
    let all = 2 * kills();
    assert_eq!(server.sql(count), format!("{all}|{all}"));
    // What was killed may have sealed a checkpoint and told nobody; none is a phantom.
    let verified = ann.plimsoll("checkpoint verify --all");
    assert!(verified.status.success() && verified.stdout.contains("sealed by you"), "{verified}");
}
