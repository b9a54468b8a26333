//! `plimsoll team`, and what two machines see of each other.

mod away;
mod private;

use std::process::Stdio;

use plimsoll_testbed::Postgres;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::TestEnv;
use crate::hook::worked;
use crate::serve::client::Running;
use crate::ss::plimsoll;

const ALL: &str = "[readings, checkpoints, saves, board]";

/// A machine of somebody's that shares this much.
fn machine(url: &str, person: &str, share: &str) -> TestEnv {
    let env = TestEnv::new();
    env.user_config(&format!(
        "team:\n  database_url: {url}\n  person: {person}\n  share: {share}\n"
    ));
    env
}

/// A database with tables.
fn database() -> (Postgres, String) {
    let server = Postgres::start();
    let url = server.url("postgres");
    let ran = machine(&url, "owner", "[]").plimsoll("team init");
    assert!(ran.status.success(), "{ran}");
    (server, url)
}

#[track_caller]
fn succeeds(env: &TestEnv, arguments: &str) -> String {
    let ran = env.plimsoll(arguments);
    assert!(ran.status.success(), "{arguments}: {ran}");
    ran.stdout
}

#[test]
fn two_machines_have_one_dashboard() {
    let (_server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    ann.session("aaaaaaaa-1").fill(120_000);
    let work = worked(&bob, "bbbbbbbb-2", 90_000);
    succeeds(&bob, "checkpoint create");
    let ran = plimsoll(&bob, &["ss", "release", "--task", "Careen the hull"]);
    assert!(ran.status.success(), "{ran}");
    succeeds(&ann, "team sync");
    succeeds(&bob, "team sync");

    let page = Running::start(&ann, &[]);
    assert!(page.get("/").body.contains("href=\"/team\""), "there is a tab");
    let list = page.get("/team").body;
    for shown in ["ann on ", "bob on ", "aaaaaaaa", "60.0 %", "/team/session/bbbbbbbb-2"] {
        assert!(list.contains(shown), "{shown}: {list}");
    }
    let session = page.get(&format!("/team/session/{}", work.id)).body;
    assert!(session.contains("bob on ") && session.contains("Checkpoints <span class=\"count\">1"));
    let start = session.find("/team/checkpoint/").unwrap();
    let path: String = session[start..].chars().take_while(|it| *it != '"').collect();
    let checkpoint = page.get(&path).body;
    assert!(checkpoint.contains("Next Steps") && checkpoint.contains("bob on "), "{checkpoint}");
    let saves = page.get("/team/saves?q=caree").body;
    assert!(saves.contains("<mark>Caree</mark>n the hull") && saves.contains("bob on "), "{saves}");
    let other = page.get("/team/session/nobody");
    assert_eq!(other.status, 404);
    let own = page.get("/").body;
    assert!(!own.contains("bbbbbbbb"), "what is ours is not mixed with what is theirs");
}

#[test]
fn a_machine_without_a_team_has_no_such_page_and_sends_nothing() {
    let env = TestEnv::new();
    let page = Running::start(&env, &[]);
    assert!(!page.get("/").body.contains("/team"));
    assert_eq!(page.get("/team").status, 404);
    let metrics = page.get("/metrics").body;
    assert!(!metrics.contains("\nplimsoll_team_waiting_rows{"), "{metrics}");
    insta::assert_snapshot!(env.plimsoll("team sync"), @"
    --- stderr
    error: the address of the team's database cannot be used: none is set
    hint: set `team.database_url` in the file that `plimsoll config path` names
    [exit 1]
    ");
}

#[test]
fn an_address_that_cannot_be_used_is_called_so() {
    for url in ["mysql://ann@db/plimsoll", "host=db password=hunter2", "postgres://db:99999/x"] {
        let env = machine(url, "ann", ALL);
        for arguments in ["team status", "team sync"] {
            let ran = env.plimsoll(arguments);
            assert!(ran.stderr.contains("not of the form `postgres://user@host/name`"), "{ran}");
        }
        let ran = env.plimsoll("config check");
        assert_eq!(ran.status.code(), Some(1), "{ran}");
        assert!(!format!("{ran}").contains("hunter2"), "{ran}");
    }
    let ran = machine("postgres://db/x?sslmode=prefer", "ann", ALL).plimsoll("config check");
    assert!(ran.status.code() == Some(1) && ran.stdout.contains("`sslmode` is"), "{ran}");
}

#[test]
fn a_database_that_is_not_there_is_not_waited_for() {
    let (_server, url) = database();
    let other = format!("{}other", url.trim_end_matches("postgres"));
    let ran = machine(&other, "ann", ALL).plimsoll("team status");
    assert!(ran.stderr.contains("createdb"), "{ran}");
    let ran = machine(&format!("{url}?sslmode=require"), "ann", ALL).plimsoll("team status");
    assert!(ran.stderr.contains("sslmode=disable"), "{ran}");
}

#[test]
fn a_message_gets_to_a_session_on_another_machine_once() {
    let (server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    let session = ann.session("aaaaaaaa-1");
    session.fill(50_000);
    succeeds(&ann, "team sync");
    let ran = plimsoll(&bob, &["board", "post", "--to", "aaaaaaaa", "pull first"]);
    assert!(ran.status.success(), "{ran}");
    assert!(!succeeds(&bob, "board list").contains("pull first"), "it is on its way");
    for _ in 0..2 {
        succeeds(&ann, "team sync");
        succeeds(&bob, "team sync");
    }
    let waits = succeeds(&ann, "board list --json");
    assert!(waits.contains("$TEST/project"), "it is of its session's project: {waits}");
    let told = session.tool_finished();
    assert!(told.stdout.contains("pull first"), "{told}");
    // As if the machine had been killed before it could say that it has the message.
    server.sql("UPDATE plimsoll.messages SET delivered = NULL");
    succeeds(&ann, "team sync");
    let told = session.tool_finished();
    assert!(!told.stdout.contains("pull first"), "{told}");
}

#[test]
fn a_message_for_everybody_gets_to_other_machines() {
    let (mut server, url) = database();
    let [ann, bob, cid] = ["ann", "bob", "cid"].map(|person| machine(&url, person, ALL));
    let sessions =
        [ann.session("aaaaaaaa-1"), bob.session("bbbbbbbb-2"), cid.session("cccccccc-3")];
    for session in &sessions {
        session.fill(50_000);
    }
    for env in [&ann, &bob, &cid] {
        succeeds(env, "team sync");
    }
    server.sql("UPDATE plimsoll.sessions SET last_seen = extract(epoch FROM now()) * 1000");
    let ran = plimsoll(&bob, &["board", "post", "--to", "all", "pull first"]);
    assert!(ran.stdout.ends_with("2 of them on 2 other machines of the team.\n"), "{ran}");
    for (env, session) in [(&ann, &sessions[0]), (&cid, &sessions[2])] {
        succeeds(env, "team sync");
        let told = session.tool_finished();
        assert!(told.stdout.contains("from bob: pull first"), "{told}");
    }
    let project = ann.project().display().to_string();
    let ran = plimsoll(&bob, &["board", "post", "--to", &project, "pull again"]);
    assert!(ran.stdout.contains("The session is on another machine of the team."), "{ran}");
    server.kill();
    let ran = plimsoll(&bob, &["board", "post", "--to", "all", "and again"]);
    assert!(ran.status.success() && ran.stderr.contains("only sessions on this machine"), "{ran}");
    let ran = plimsoll(&bob, &["board", "post", "--to", "aaaaaaaa", "and again"]);
    assert_eq!(ran.status.code(), Some(1), "{ran}");
    assert!(ran.stderr.contains("try again when `plimsoll team status` says"), "{ran}");
}

#[test]
fn a_server_delivers_messages_by_itself() {
    let (_server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    let session = ann.session("aaaaaaaa-1");
    session.fill(50_000);
    let _serving = Running::start(&ann, &[]);
    let post = || plimsoll(&bob, &["board", "post", "--to", "aaaaaaaa", "pull first"]);
    away::until("the session is known", || post().status.success());
    away::until("the message is there", || succeeds(&ann, "board list").contains("pull first"));
}

#[test]
fn a_watcher_sends_too_and_ends_when_it_is_asked_to() {
    let (server, url) = database();
    let ann = machine(&url, "ann", "[readings]");
    ann.session("aaaaaaaa-1").fill(50_000);
    let mut watching = ann.command(&["watch"]).stdout(Stdio::null()).spawn().unwrap();
    let count = "SELECT count(*) FROM plimsoll.readings";
    away::until("the reading arrives", || server.sql(count) == "1");
    kill_process(Pid::from_child(&watching), Signal::TERM).unwrap();
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}

#[test]
fn a_claim_holds_on_the_other_machine_until_it_is_given_up() {
    let (_server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    succeeds(&ann, "board claim /srv/hull/src");
    succeeds(&ann, "team sync");
    succeeds(&bob, "team sync");
    let refused = bob.plimsoll("board claim /srv/hull/src/keel.rs");
    assert!(refused.stderr.contains("is claimed by"), "{refused}");
    assert!(succeeds(&bob, "team status").contains("Claimed   /srv/hull/src by "));
    let status: Value = serde_json::from_str(&succeeds(&bob, "team status --json")).unwrap();
    assert_eq!(status["claims"][0]["path"], "/srv/hull/src");
    assert_eq!(status["claims"][0]["person"], "ann");
    succeeds(&ann, "board release /srv/hull/src");
    succeeds(&ann, "team sync");
    succeeds(&bob, "team sync");
    succeeds(&bob, "board claim /srv/hull/src/keel.rs");
}

#[test]
fn a_claim_that_another_machine_ends_is_over_everywhere() {
    let (mut server, url) = database();
    let (ann, bob) = (machine(&url, "ann", ALL), machine(&url, "bob", ALL));
    let share = || [&ann, &bob, &ann, &bob].map(|env| succeeds(env, "team sync"));
    succeeds(&ann, "board claim /srv/hull/src");
    share();
    succeeds(&bob, "board release --force /srv/hull/src");
    share();
    for env in [&ann, &bob] {
        assert!(!succeeds(env, "board list").contains("/srv/hull/src"));
    }
    succeeds(&ann, "board claim /srv/hull/src");
    share();
    assert!(succeeds(&bob, "board list").contains("/srv/hull/src"), "it can be claimed again");
    server.kill();
    let refused = bob.plimsoll("board release --force /srv/hull/src");
    assert_eq!(refused.status.code(), Some(1), "{refused}");
    assert!(refused.stderr.contains("held on another machine"), "{refused}");
    assert!(succeeds(&bob, "board list").contains("/srv/hull/src"));
}

#[test]
fn what_a_team_wants_to_keep_is_kept_so_long() {
    let (server, url) = database();
    let ann = machine(&url, "ann", ALL);
    ann.session("aaaaaaaa-1").fill(50_000);
    succeeds(&ann, "team sync");
    assert_eq!(succeeds(&ann, "team prune"), "Everything is kept: nobody has said for how long.\n");
    succeeds(&ann, "team init --retention-days 30");
    server.sql("UPDATE plimsoll.sessions SET last_seen = 1000");
    assert_eq!(
        succeeds(&ann, "team prune"),
        "Too old, and gone: 1 session, 0 checkpoints and 0 saves.\n"
    );
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.readings"), "0");
}

#[test]
fn how_a_machine_stands_is_told_in_json() {
    let (_server, url) = database();
    let ann = machine(&url, "ann", "[readings]");
    ann.session("aaaaaaaa-1").fill(50_000);
    succeeds(&ann, "team sync");
    let status: Value = serde_json::from_str(&succeeds(&ann, "team status --json")).unwrap();
    assert_eq!((&status["reachable"], &status["waiting"]), (&true.into(), &0.into()));
    assert_eq!(status["machines"][0]["person"], "ann");
    assert_eq!(status["machines"][0]["sessions"], 1);
    assert_eq!(status["claims"], Value::Array(Vec::new()));
    assert!(succeeds(&ann, "team status").contains(": 1 session, heard of "));
    let doctor = ann.plimsoll("doctor").stdout;
    assert!(doctor.contains("team") && doctor.contains("0 rows wait"), "{doctor}");
}
