//! The pictures of the documentation: what the binary prints, as SVG, so that they cannot go stale.
//!
//! A new picture is a test that sets a [`Scene`] and names picture and command; see
//! `PLIMSOLL_UPDATE_PICTURES` in `docs.rs`.

mod scene;

use std::fs::File;
use std::time::{Duration, SystemTime};

use scene::Scene;
use serde_json::json;

use crate::transcript::{COMPACTING, captured};

#[test]
fn the_picture_of_the_help() {
    Scene::new().shows("help", "--help");
}

#[test]
fn the_picture_of_the_status() {
    let scene = Scene::new();
    let app = || scene.session("5f2c1a3b", "app").ago(2);
    app().grows(COMPACTING, 22_000..113_500);
    app().subagent("a7f03c12").grows(COMPACTING, 12_000..44_800);
    scene.session("c81d90e2", "site").ago(9).grows(COMPACTING, 40_000..158_200);
    scene.session("07b6e4fd", "thesis").ago(26).grows("claude-opus-5-5", 38_000..402_600);
    scene.session("e93a55c8", "dotfiles").ago(64).grows("claude-opus-4-5", 18_000..31_400);
    scene.shows("status", "status");
}

#[test]
fn the_picture_of_the_config() {
    let scene = Scene::new();
    let scene = scene.with("PLIMSOLL_CONTEXT_WINDOW", "1000000");
    scene.env.user_config("lines:\n  warn: 75\nguard:\n  mode: strict\n");
    scene.env.project_config("warn_command: /handoff\nwindow: 64000\n");
    scene.env.client_settings(&json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "80"}}));
    scene.shows("config-show", "config show");
}

#[test]
fn the_picture_of_a_mistake_in_the_config() {
    let scene = Scene::new();
    scene.env.user_config("lines:\n  wran: 75\nguard:\n  mode: fierce\n");
    scene.shows("config-check", "config check");
}

#[test]
fn the_picture_of_the_demo() {
    Scene::new().shows("demo", "demo");
}

#[test]
fn the_picture_of_the_installation() {
    let scene = Scene::new().on_path("claude", "echo '2.1.325 (Claude Code)'");
    let models = [COMPACTING, COMPACTING, "claude-opus-5-5", COMPACTING, "claude-opus-4-5"];
    for (at, used) in [158_200, 151_000, 402_600, 122_000, 61_400].into_iter().enumerate() {
        let name = format!("{at}7b6e4fd");
        scene.session(&name, "app").ago(60 * at as u64).grows(models[at], 18_000..used);
    }
    scene.shows("init", "init --yes");
    scene.shows("doctor", "doctor");
}

#[test]
fn the_picture_of_a_machine_with_something_wrong() {
    let scene = Scene::new();
    scene.env.user_config("lines:\n  wran: 75\n");
    scene.session("c81d90e2", "site").ago(9).grows("house-model", 40_000..158_200);
    scene.shows("doctor-broken", "doctor");
}

#[test]
fn the_picture_of_the_audit() {
    let scene = Scene::new();
    scene.env.session("11111111").write(captured("compact-auto-headless.jsonl"));
    scene.env.session("22222222").write(captured("v2.1.197-compact-auto.jsonl"));
    let settings =
        scene.env.client_settings(&json!({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "4"}}));
    let file = File::options().append(true).open(settings).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    scene.shows("audit", "audit");
}
