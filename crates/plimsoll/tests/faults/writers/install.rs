//! What `init` writes into the agent's settings, and `uninstall` takes out.

use std::fs;

use plimsoll_testbed::generator::SplitMix64;
use serde_json::Value;

use super::{campaigns, succeeds};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;

const SETTINGS: &str = "home/.claude/settings.json";

/// Settings with an indentation of their own, and a hook of somebody else's.
const THEIRS: &str = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]
    }
}
"#;

struct Install;

impl Install {
    fn new() -> (TestEnv, Self) {
        let env = TestEnv::new();
        env.write(SETTINGS, THEIRS);
        (env, Self)
    }
}

impl Writer for Install {
    const NAME: &'static str = "install";
    const SHARE: usize = 80;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        match random.below(2) {
            0 => Call::new(env, &["init", "--yes", "--commands", "--instructions"]),
            _ => Call::new(env, &["uninstall", "--yes"]),
        }
    }

    fn note(&mut self, _: &Ran, _: Harm) {}

    /// What is theirs is there at any time.
    fn check(&mut self, env: &TestEnv) {
        let text = fs::read_to_string(env.path(SETTINGS)).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(settings["model"], "opus", "{text}");
        assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], "beep", "{text}");
    }

    /// Whatever happened before, putting it in and taking it out gives back every byte.
    fn finish(&mut self, env: &TestEnv) {
        succeeds(env, "init --yes --commands --instructions");
        succeeds(env, "uninstall --yes");
        assert_eq!(fs::read_to_string(env.path(SETTINGS)).unwrap(), THEIRS);
        let commands = env.home().join(".claude/commands");
        let left = fs::read_dir(&commands).into_iter().flatten().count();
        assert_eq!(left, 0, "commands of ours are left");
    }
}

campaigns!(Install::new);
