//! `plimsoll search`

use std::fs;

use crate::checkpoint::{self, MINUTE, planted, sealed};
use crate::env::TestEnv;

#[test]
fn checkpoints_are_found_by_what_is_in_them() {
    let env = TestEnv::new();
    let old = sealed(&env, "5f2c81aa-77b0", 30 * MINUTE, "mend the load_line of the hull");
    let new = sealed(&env, "5f2c81aa-77b0", 12 * MINUTE, "paint the hull");
    planted(&env, "2099-01-01-000000-abc.md", "the load_line of somebody else");
    let shown = env.plimsoll("search load_line").to_string().replace(&old.meta.id, "ID");
    insta::assert_snapshot!(shown, @"
    --- stdout
    ID
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
    assert_eq!(elsewhere.stdout, "No checkpoint has `hull` in it.\n");
    assert!(elsewhere.status.success());
    fs::remove_file(&new.path).unwrap();
    let found = checkpoint::json(&env.plimsoll("search hull --project . --json"));
    assert_eq!(found.as_array().unwrap().len(), 1, "what is gone is not found");
}

#[test]
fn what_was_found_instead_is_said() {
    let env = TestEnv::new();
    sealed(&env, "s", MINUTE, "mend the hull");
    let ran = env.plimsoll("search mend hlul");
    assert_eq!(ran.stderr, "note: no checkpoint has `hlul` in it; these have `hull`\n");
    let ran = env.plimsoll("search hull xylophone");
    assert_eq!(ran.stderr, "note: no checkpoint has all of these words; these have some of them\n");
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
