//! `plimsoll search`

use std::fs;

use serde_json::Value;

use crate::checkpoint::{self, MINUTE, planted, sealed};
use crate::env::TestEnv;
use crate::ss::plimsoll;

#[test]
fn checkpoints_are_found_by_what_is_in_them() {
    let env = TestEnv::new();
    let old = sealed(&env, "5f2c81aa-77b0", 30 * MINUTE, "mend the load_line of the hull");
    let new = sealed(&env, "5f2c81aa-77b0", 12 * MINUTE, "paint the hull");
    planted(&env, "2099-01-01-000000-abc.md", "the load_line of somebody else");
    let shown = env.plimsoll("search load_line").to_string().replace(&old.meta.id, "ID");
    insta::assert_snapshot!(shown, @"
    --- stdout
    checkpoint ID
      30 min ago · $TEST/project · auto
      Implementing auth feature - 1 file modified
      Next Steps  [ ] mend the load_line of the hull
    [exit 0]
    ");
    let found = checkpoint::json(&env.plimsoll("search hull --json"));
    assert_eq!(
        (&found[0]["id"], &found[1]["id"]),
        (&(*new.meta.id).into(), &(*old.meta.id).into())
    );
    assert_eq!(
        found[0]["path"],
        new.path
            .to_str()
            .unwrap()
            .replace(env.path("").to_str().unwrap().trim_end_matches('/'), "$TEST")
    );
    assert_eq!(
        (&found[0]["trigger"], &found[0]["section"]),
        (&"auto".into(), &"Next Steps".into())
    );
    assert_eq!(found[0]["snippet"], "[ ] paint the hull");
    assert_eq!(
        checkpoint::json(&env.plimsoll("search hull --limit 1 --json")).as_array().unwrap().len(),
        1
    );
    let elsewhere = env.plimsoll(&format!("search hull --project {}", env.home().display()));
    assert_eq!(elsewhere.stdout, "No checkpoint and no save has `hull` in it.\n");
    assert!(elsewhere.status.success());
    fs::remove_file(&new.path).unwrap();
    let found = checkpoint::json(&env.plimsoll("search hull --project . --json"));
    assert_eq!(found.as_array().unwrap().len(), 1, "what is gone is not found");
}

#[test]
fn saves_are_found_beside_checkpoints_the_newer_of_the_best_first() {
    let env = TestEnv::new();
    let old = sealed(&env, "5f2c81aa-77b0", 30 * MINUTE, "mend the load_line of the hull");
    let saved = |task: &str, more: &[&str]| {
        let ran = plimsoll(&env, &[&["ss", "release", "--task", task], more].concat());
        assert!(ran.status.success(), "{ran}");
    };
    saved("Paint it", &["--context", "first dry\nthe hull is grey", "--tag", "paint"]);
    saved("Launch the hull", &[]);
    let shown = env.plimsoll("search hull").to_string().replace(&old.meta.id, "ID");
    let shown = ageless(&shown);
    insta::assert_snapshot!(shown, @"
    --- stdout
    save in release
      AGE · $TEST/project · manual
      Launch the hull
      Task  Launch the hull

    checkpoint ID
      30 min ago · $TEST/project · auto
      Implementing auth feature - 1 file modified
      Next Steps  [ ] mend the load_line of the hull

    save in release
      AGE · $TEST/project · manual
      Paint it
      Context  the hull is grey
    [exit 0]
    ");
    let found = checkpoint::json(&env.plimsoll("search hull --limit 2 --json"));
    let [save, checkpoint] = &found.as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!((&save["kind"], &checkpoint["kind"]), (&"save".into(), &"checkpoint".into()));
    assert_eq!(save["environment"], "release");
    assert_eq!((&save["summary"], &save["trigger"]), (&"Launch the hull".into(), &"manual".into()));
    assert_eq!((&save["path"], &checkpoint["environment"]), (&Value::Null, &Value::Null));
    assert_eq!(checkpoint["id"], *old.meta.id);
    let elsewhere = env.plimsoll(&format!("search hull --project {}", env.home().display()));
    assert_eq!(elsewhere.stdout, "No checkpoint and no save has `hull` in it.\n");
    let here = checkpoint::json(&env.plimsoll("search paint --project . --json"));
    assert_eq!(here[0]["summary"], "Paint it");
}

/// A listing in which what was made just now is of no age.
fn ageless(shown: &str) -> String {
    let lines = shown.lines().map(|line| match line.split_once(" s ago · ") {
        Some((_, rest)) => format!("  AGE · {rest}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_fits_closest_is_shown_and_nothing_else() {
    let env = TestEnv::new();
    sealed(&env, "s", MINUTE, "mend the hulk");
    assert!(plimsoll(&env, &["ss", "--task", "paint the hull"]).status.success());
    let found = checkpoint::json(&env.plimsoll("search hull --json"));
    assert_eq!(found.as_array().unwrap().len(), 1, "what is spelt almost like it is not needed");
    assert_eq!(found[0]["kind"], "save");
    let ran = env.plimsoll("search paintt");
    assert_eq!(ran.stderr, "note: nothing has `paintt` in it; this has `paint`\n");
    let coloured = env.with("CLICOLOR_FORCE", "1").plimsoll("search paintt").stdout;
    assert!(coloured.contains("\u{1b}[33mpaint\u{1b}[0m the hull"), "{coloured:?}");
}

#[test]
fn what_was_found_instead_is_said() {
    let env = TestEnv::new();
    sealed(&env, "s", MINUTE, "mend the hull");
    let ran = env.plimsoll("search mend hlul");
    assert_eq!(ran.stderr, "note: nothing has `hlul` in it; this has `hull`\n");
    let ran = env.plimsoll("search hull xylophone");
    assert_eq!(ran.stderr, "note: nothing has all of these words; this has some of them\n");
    insta::assert_snapshot!(env.plimsoll("search -- --"), @"
    --- stderr
    error: there is no word to search for in `--`
    hint: give a word, for example `plimsoll search migration`
    [exit 1]
    ");
    assert_eq!(env.plimsoll("search").status.code(), Some(2));
}

#[test]
fn matches_are_marked_on_a_terminal_only_and_nothing_moves_the_cursor() {
    let env = TestEnv::new();
    sealed(&env, "s", MINUTE, "mend\u{1b}[2J the hull");
    assert!(!env.plimsoll("search hull").stdout.contains('\u{1b}'));
    let coloured = env.with("CLICOLOR_FORCE", "1").plimsoll("search hull").stdout;
    assert!(coloured.contains("mend[2J the \u{1b}[33mhull\u{1b}[0m"), "{coloured:?}");
}

#[test]
fn a_long_line_is_cut_around_what_fits() {
    let env = TestEnv::new();
    sealed(&env, "s", MINUTE, &format!("{}hull {}", "before ".repeat(30), "after ".repeat(30)));
    let ran = env.plimsoll("search hull");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
    assert!(ran.stdout.contains(" hull after"), "{ran}");
}
