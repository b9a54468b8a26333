//! The board: messages that are posted, told, taken and acknowledged, and claims.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use super::{campaigns, succeeds};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;

const SESSION: &str = "22222222-two";

#[derive(Default)]
struct Board {
    posts: usize,
    /// The texts that were reported as posted.
    posted: BTreeSet<String>,
    /// How often each was told by a call that came to its end; zero if one was killed amid it.
    told: BTreeMap<String, usize>,
    /// The paths that were reported as claimed.
    claimed: BTreeSet<String>,
    is_failing: bool,
}

impl Board {
    fn new() -> (TestEnv, Self) {
        let env = TestEnv::new().with("USER", "ada");
        // A session that began long ago would be due for a checkpoint.
        env.session(SESSION).fill_now(50_000);
        (env, Self::default())
    }

    /// Every message that was reported waits or was told; no claim that was reported is lost.
    fn check_against(&self, board: &Value) {
        let waiting: BTreeSet<&str> = texts(&board["messages"], "text");
        for text in &self.posted {
            let is_there = waiting.contains(&**text) || self.told.contains_key(text);
            assert!(is_there, "{text} was posted and is lost: {board}");
        }
        let claims = texts(&board["claims"], "path");
        for path in &self.claimed {
            let is_there = claims.iter().any(|claim| claim.ends_with(&**path));
            assert!(is_there, "{path} was claimed and is not: {board}");
        }
        let twice = self.told.iter().find(|(_, times)| **times > 1 && !self.is_failing);
        assert_eq!(twice, None, "told to the end twice");
    }
}

fn texts<'b>(list: &'b Value, name: &str) -> BTreeSet<&'b str> {
    list.as_array().unwrap().iter().filter_map(|entry| entry[name].as_str()).collect()
}

fn board(env: &TestEnv) -> Value {
    serde_json::from_str(&succeeds(env, "board list --json")).unwrap()
}

impl Writer for Board {
    const NAME: &'static str = "board";
    const SHARE: usize = 180;
    const STEPS: usize = 12;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        self.posts += 1;
        let name = format!("word-{}", self.posts);
        match random.below(6) {
            0 | 1 => Call::hook(env, SESSION, "PostToolUse"),
            2 => Call::new(env, &["board", "claim", &name]),
            _ => Call::new(env, &["board", "post", "--to", SESSION, &name, "--json"]),
        }
    }

    fn note(&mut self, ran: &Ran, harm: Harm) {
        self.is_failing |= harm == Harm::Errors;
        let claimed = ran.stdout.split_whitespace().find(|word| word.contains("word-"));
        match serde_json::from_str::<Value>(&ran.stdout) {
            Ok(Value::Array(posted)) => {
                let texts = posted.iter().map(|message| message["text"].as_str().unwrap());
                self.posted.extend(texts.map(str::to_owned));
            }
            Ok(answer) => {
                let words = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
                for text in words.lines().filter_map(|line| line.strip_prefix("- from ada: ")) {
                    let times = self.told.entry(text.to_owned()).or_default();
                    *times += usize::from(ran.status.success());
                }
            }
            Err(_) if ran.stdout.starts_with('{') => {}
            Err(_) => self.claimed.extend(claimed.map(named)),
        }
    }

    fn check(&mut self, env: &TestEnv) {
        self.check_against(&board(env));
    }

    fn finish(&mut self, env: &TestEnv) {
        for _ in 0..200 {
            self.note(&env.session(SESSION).tool_finished(), Harm::Kills);
            if board(env)["messages"].as_array().unwrap().is_empty() {
                break;
            }
        }
        let board = board(env);
        self.check_against(&board);
        assert_eq!(board["messages"], serde_json::json!([]), "somebody keeps them");
        succeeds(env, &format!("board post --to {SESSION} the-last"));
        env.session(SESSION).tool_finished();
    }
}

/// The name of a claimed path in a sentence.
fn named(word: &str) -> String {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.trim_matches(|it: char| !it.is_ascii_alphanumeric()).to_owned()
}

campaigns!(Board::new);
