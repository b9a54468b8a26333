//! Disks that are full or read-only, and folders that vanish.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use crate::campaign::seed;
use crate::env::{Ran, TestEnv};
use crate::invariants::{self, checkpoints, json};
use crate::writers::worked;

const INSIDE: &str = "PLIMSOLL_FAULTS_INSIDE";

/// Runs a test where it may mount what it likes: in a namespace of its own, which needs no privilege
/// but that of making one.
fn where_one_may_mount(name: &str, test: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let run = |flags: &str| {
        let mut command = Command::new("unshare");
        command.arg(flags).arg(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(INSIDE, "yes").output().unwrap()
    };
    let is_possible = |flags: &str| {
        Command::new("unshare").args([flags, "true"]).status().is_ok_and(|it| it.success())
    };
    let flags = ["-rm", "-m"].into_iter().find(|flags| is_possible(flags));
    let ran = run(flags.expect("nobody here may mount: run as root, or allow user namespaces"));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stdout));
}

#[track_caller]
fn mount(arguments: &[&str], at: &Path) {
    let status = Command::new("mount").args(arguments).arg(at).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

/// A machine whose home and project are on one small disk each.
fn small(kilobytes: usize) -> TestEnv {
    let env = TestEnv::new().with("USER", "ada");
    for folder in [env.home(), env.project()] {
        mount(&["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "none"], &folder);
    }
    env
}

/// What was acknowledged.
#[derive(Default)]
struct Acknowledged {
    checkpoints: BTreeSet<String>,
    saves: BTreeSet<String>,
    messages: BTreeSet<String>,
}

impl Acknowledged {
    /// Does everything that writes once, whatever comes of it.
    fn try_all(&mut self, env: &TestEnv, round: usize) {
        let created = bound(env.plimsoll("checkpoint create worked"));
        let path = created.stdout.strip_suffix(".md\n").and_then(|path| path.rsplit('/').next());
        self.checkpoints.extend(path.map(str::to_owned));
        if bound(env.plimsoll(&format!("ss sea --task task-{round}"))).status.success() {
            self.saves.insert(format!("task-{round}"));
        }
        let posted = env.plimsoll(&format!("board post --to waiting word-{round}"));
        if bound(posted).status.success() {
            self.messages.insert(format!("word-{round}"));
        }
        for arguments in
            ["status --all", "board claim a.rs", "init --yes", "checkpoint verify --all"]
        {
            bound(env.plimsoll(arguments));
        }
        hooks_are_neutral(env);
    }

    fn check(&self, env: &TestEnv) {
        let ids = told(&checkpoints(env), "id");
        assert!(self.checkpoints.is_subset(&ids), "lost: {:?} of {ids:?}", self.checkpoints);
        let saves = told(&json(&env.plimsoll("rs sea --limit 1000 --json")), "task");
        assert!(self.saves.is_subset(&saves), "lost: {:?} of {saves:?}", self.saves);
        let board = env.plimsoll("board list --json");
        let board: Value =
            serde_json::from_str(&board.stdout).unwrap_or_else(|_| panic!("{board}"));
        let waiting = told(board["messages"].as_array().unwrap(), "text");
        assert!(self.messages.is_subset(&waiting), "lost: {:?} of {board}", self.messages);
    }
}

fn told(list: &[Value], field: &str) -> BTreeSet<String> {
    list.iter().filter_map(|it| it[field].as_str()).map(str::to_owned).collect()
}

/// It did its work or said why not.
#[track_caller]
fn bound(ran: Ran) -> Ran {
    assert!(ran.status.success() || ran.stderr.contains("error: "), "{ran}");
    invariants::bound(ran)
}

#[track_caller]
fn hooks_are_neutral(env: &TestEnv) {
    let session = env.session("worked");
    for event in ["PostToolUse", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"] {
        let began = Instant::now();
        invariants::neutral(&session.hook(event));
        assert!(began.elapsed() < 2 * invariants::IN_TIME, "{event} took {:?}", began.elapsed());
    }
}

/// Fills a disk but for so many bytes.
fn fill(disk: &Path, left: usize) {
    let file = disk.join("filler");
    // A disk says how full it is by refusing.
    let _ = fs::write(&file, vec![b'x'; 8 << 20]);
    let len = fs::metadata(&file).unwrap().len();
    let file = fs::File::options().write(true).open(file).unwrap();
    file.set_len(len.saturating_sub(left as u64)).unwrap();
}

fn settled(env: &TestEnv) {
    worked(env, "worked", 610_000);
    env.session("waiting").fill(20_000);
    invariants::the_hook_answers(env);
}

#[test]
fn a_disk_that_is_full_costs_nothing_that_was_acknowledged() {
    where_one_may_mount("disk::a_disk_that_is_full_costs_nothing_that_was_acknowledged", || {
        let mut random = SplitMix64::new(seed());
        let env = small(4_096);
        settled(&env);
        let mut acknowledged = Acknowledged::default();
        acknowledged.try_all(&env, 0);
        assert_eq!(acknowledged.saves.len(), 1);
        for round in 1..8 {
            let left = random.below(1 << (10 + round));
            [env.home(), env.project()].iter().for_each(|disk| fill(disk, left));
            acknowledged.try_all(&env, 2 * round);
            [env.home(), env.project()]
                .iter()
                .for_each(|disk| fs::remove_file(disk.join("filler")).unwrap());
            acknowledged.check(&env);
            invariants::hold(&env);
            acknowledged.try_all(&env, 2 * round + 1);
            let last = format!("task-{}", 2 * round + 1);
            assert!(acknowledged.saves.contains(&last), "there is room again");
        }
    });
}

#[test]
fn a_disk_that_became_read_only_keeps_what_is_there_and_the_agent_goes_on() {
    let name = "disk::a_disk_that_became_read_only_keeps_what_is_there_and_the_agent_goes_on";
    where_one_may_mount(name, || {
        for both in [true, false] {
            let env = small(4_096);
            settled(&env);
            let mut acknowledged = Acknowledged::default();
            acknowledged.try_all(&env, 0);
            let disks = if both { vec![env.home(), env.project()] } else { vec![env.home()] };
            disks.iter().for_each(|disk| mount(&["-o", "remount,bind,ro"], disk));
            let before = acknowledged.saves.clone();
            acknowledged.try_all(&env, 1);
            assert_eq!(acknowledged.saves, before, "nothing can have been saved");
            disks.iter().for_each(|disk| mount(&["-o", "remount,bind,rw"], disk));
            acknowledged.check(&env);
            acknowledged.try_all(&env, 2);
            assert!(acknowledged.saves.contains("task-2"), "it can be written again");
            invariants::hold(&env);
        }
    });
}

#[test]
fn folders_that_vanished_are_made_again() {
    let vanishing =
        ["home/.local/share/plimsoll", "home/.claude/clc", "project/.claude", "home/.config"];
    for folder in vanishing {
        let env = TestEnv::new().with("USER", "ada");
        settled(&env);
        Acknowledged::default().try_all(&env, 0);
        let _ = fs::remove_dir_all(env.path(folder));
        let mut after = Acknowledged::default();
        after.try_all(&env, 1);
        assert_eq!((after.saves.len(), after.checkpoints.len()), (1, 1), "{folder}");
        after.check(&env);
        // Checkpoints under a key that is gone are nobody's, and say so.
        invariants::the_hook_answers(&env);
        invariants::the_store_is_sound(&env);
    }
}

#[test]
fn folders_that_vanish_all_the_time_stop_nobody() {
    let env = TestEnv::new().with("USER", "ada");
    settled(&env);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let folders = [env.data(), env.path("project/.claude"), env.home().join(".claude/clc")];
        let is_over = &is_over;
        scope.spawn(move || {
            let mut random = SplitMix64::new(seed());
            while !is_over.load(Ordering::Relaxed) {
                // Somebody may be writing there.
                let _ = fs::remove_dir_all(&folders[random.below(folders.len())]);
            }
        });
        let tried = std::panic::catch_unwind(|| {
            (0..12).for_each(|round| Acknowledged::default().try_all(&env, round));
        });
        is_over.store(true, Ordering::Relaxed);
        tried.unwrap();
    });
    let mut after = Acknowledged::default();
    after.try_all(&env, 100);
    after.check(&env);
    invariants::the_hook_answers(&env);
}

#[test]
fn a_project_that_is_gone_with_everything_in_it_is_no_reason_to_stop() {
    let env = TestEnv::new();
    settled(&env);
    let payload = env.session("worked").payload("PostToolUse").to_string();
    let script = "mkdir gone; cd gone; rmdir ../gone; exec \"$0\" \"$@\"";
    for arguments in [&["hook"][..], &["status"], &["checkpoint", "list"], &["doctor"]] {
        let ran = env.run(env.shell(script, arguments), payload.as_bytes());
        assert!(!ran.stderr.contains("panicked") && ran.status.code() < Some(2), "{ran}");
    }
    fs::remove_dir_all(env.project()).unwrap();
    fs::remove_file(env.session("worked").transcript).unwrap();
    let mut command = env.command(&["hook"]);
    command.current_dir("/");
    invariants::neutral(&env.run(command, payload.as_bytes()));
}
