//! Posters and takers that are killed at any moment.

use std::collections::BTreeMap;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use super::{TWO, ask, env, to_model, waiting};
use crate::env::{Session, TestEnv, feed};
use crate::hook::checkpoints::{checkpoints, worked};

/// Lets a process run for so long, then kills it, unless it has ended; tells whether it has, in order.
fn killed_after(mut child: Child, micros: u64) -> (bool, String) {
    std::thread::sleep(Duration::from_micros(micros));
    // One that has ended is killed in vain.
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn spawn(mut command: Command) -> Child {
    command.spawn().unwrap()
}

fn tool_finished(env: &TestEnv, session: &Session<'_>) -> Child {
    let child = spawn(env.command(&["hook"]));
    feed(child, session.payload("PostToolUse").to_string().as_bytes())
}

#[test]
fn no_message_that_was_reported_is_lost_and_none_is_told_to_the_end_twice() {
    const POSTS: usize = 25;
    let mut random = SplitMix64::new(20_261_115);
    let env = env();
    let session = env.session(TWO);
    session.fill(50_000);
    let mut told: BTreeMap<String, u32> = BTreeMap::new();
    let mut reported = Vec::new();
    let mut note = |(ended, stdout): (bool, String)| {
        let Ok(answer) = serde_json::from_str::<Value>(&stdout) else { return };
        let words = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        for line in words.lines().filter(|line| line.starts_with("- from")) {
            // What a killed call has said may be said again: nobody knows whether it was heard.
            *told.entry(line.to_owned()).or_default() += if ended { 1 } else { 0 };
        }
    };
    // However fast this machine is right now, about half of the posts are killed.
    let mut longest = 12_000;
    for round in 0.. {
        let text = format!("message-{round}");
        let poster = spawn(env.command(&["board", "post", "--to", TWO, &text]));
        let (posted, _) = killed_after(poster, random.below(longest) as u64);
        longest = if posted { longest * 3 / 4 } else { longest * 4 / 3 }.max(100);
        if posted {
            reported.push(format!("- from ada: {text}"));
        }
        if reported.len() >= POSTS {
            break;
        }
        for _ in 0..random.below(3) {
            note(killed_after(tool_finished(&env, &session), random.below(6_000) as u64));
        }
    }
    while !waiting(&env).is_empty() {
        let ran = session.tool_finished();
        note((ran.status.success(), ran.stdout));
    }
    for line in &reported {
        assert!(told.contains_key(line), "{line} was lost");
    }
    assert!(told.values().all(|times| *times <= 1), "{told:#?}");
}

#[test]
fn a_trigger_seals_one_checkpoint_whenever_its_taker_is_killed() {
    let mut random = SplitMix64::new(3);
    for round in 0..12 {
        let env = env();
        let session = worked(&env, TWO, 500_000);
        ask(&env, TWO, &format!("0198-{round}"));
        for _ in 0..4 {
            killed_after(tool_finished(&env, &session), random.below(12_000) as u64);
        }
        while !waiting(&env).is_empty() {
            session.tool_finished();
        }
        let sealed = checkpoints(&env);
        assert_eq!(sealed.len(), 1, "round {round}");
        assert!(sealed[0].contains("trigger: watcher\n"));
        assert!(env.plimsoll("checkpoint verify --all").status.success());
        assert!(session.tool_finished().is_silent());
    }
}

#[test]
fn a_message_is_told_by_one_of_many_calls_at_once() {
    let env = env();
    let session = env.session(TWO);
    session.fill(50_000);
    for round in 0..10 {
        super::post(&env, TWO, &format!("message-{round}"));
        let calls: Vec<Child> = (0..6).map(|_| tool_finished(&env, &session)).collect();
        let ran = calls.into_iter().map(|call| env.ran(call.wait_with_output().unwrap()));
        let told: Vec<String> =
            ran.filter(|ran| !ran.stdout.is_empty()).map(|ran| to_model(&ran)).collect();
        assert_eq!(told.len(), 1, "{told:?}");
    }
}

/// How long everything is killed; `PLIMSOLL_KILL_SECONDS` makes it longer.
fn time_to_kill() -> Duration {
    let seconds = std::env::var("PLIMSOLL_KILL_SECONDS").ok().and_then(|it| it.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}

/// A fleet over the line, in a home where the watcher decides.
struct Fleet {
    env: TestEnv,
    names: Vec<String>,
}

impl Fleet {
    fn new(round: usize) -> Self {
        let env = env();
        env.user_config("checkpoint: {on_line: watcher}\n");
        let names: Vec<String> = (0..8).map(|ship| format!("ship{ship:04}-{round}")).collect();
        names.iter().for_each(|name| drop(worked(&env, name, 610_000)));
        Self { env, names }
    }

    /// Kills a watcher, and hooks of the fleet beside it.
    fn kill(&self, random: &mut SplitMix64) {
        let watcher = spawn(self.env.command(&["watch"]));
        let hooks: Vec<(Child, u64)> = (0..random.below(6))
            .map(|_| {
                let session = self.env.session(&self.names[random.below(self.names.len())]);
                (tool_finished(&self.env, &session), random.below(20_000) as u64)
            })
            .collect();
        hooks.into_iter().for_each(|(hook, micros)| drop(killed_after(hook, micros)));
        killed_after(watcher, random.below(60_000) as u64);
    }

    /// Lets a watcher and the hooks do what is left, and checks what has come of it.
    fn check(&self) {
        let mut watcher = spawn(self.env.command(&["watch"]));
        while checkpoints(&self.env).len() < self.names.len() {
            self.names.iter().for_each(|name| drop(self.env.session(name).tool_finished()));
        }
        watcher.kill().unwrap();
        watcher.wait().unwrap();
        self.names.iter().for_each(|name| drop(self.env.session(name).tool_finished()));
        let sealed = checkpoints(&self.env);
        for name in &self.names {
            let of = |text: &&String| text.contains(&format!("session_id: {name}\n"));
            let own: Vec<&String> = sealed.iter().filter(of).collect();
            assert_eq!(own.len(), 1, "{name}");
            assert!(own[0].contains("trigger: watcher\n"), "{}", own[0]);
        }
        assert!(waiting(&self.env).is_empty());
        let verified = self.env.plimsoll("checkpoint verify --all");
        assert!(verified.status.success(), "{verified}");
    }
}

#[test]
fn watchers_and_hooks_killed_at_random_lose_no_trigger_and_double_none() {
    let mut random = SplitMix64::new(20_261_115);
    let end = Instant::now() + time_to_kill();
    let mut rounds = 0;
    while Instant::now() < end {
        let fleet = Fleet::new(rounds);
        (0..6).for_each(|_| fleet.kill(&mut random));
        fleet.check();
        rounds += 1;
    }
    assert!(rounds > 0);
}
