//! `plimsoll top`

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use rustix::process::Signal;

use crate::env::TestEnv;
use crate::terminal::Terminal;
use crate::transcript::{self, COMPACTING};

/// Whether the screen and the cursor were given back, and nothing was written after that.
fn is_given_back(drawn: &str) -> bool {
    drawn.contains("\x1b[?1049l") && drawn.ends_with("\x1b[?25h")
}

fn top(env: &TestEnv) -> Terminal {
    Terminal::start(env.command(&["top"]))
}

#[test]
fn sessions_are_followed_until_the_user_has_seen_enough() {
    let env = TestEnv::new();
    env.session("11111111-one").fill_with(COMPACTING, 100_000);
    let mut terminal = top(&env);
    terminal.wait_for("\x1b[?1049h");
    terminal.wait_for("11111111");
    terminal.wait_for("50");
    // Seen empty first, its figures would be drawn bit by bit.
    let text = transcript::reading(COMPACTING, 160_000, &env.project(), false);
    let whole = env.write("home/.claude/whole", text);
    fs::rename(whole, env.session("22222222-two").transcript).unwrap();
    terminal.wait_for("22222222");
    terminal.wait_for("80!");
    terminal.press("q");
    let (rest, status) = terminal.end();
    assert!(status.success() && is_given_back(&rest), "{status}: {rest:?}");
}

#[test]
fn whoever_ends_it_finds_the_terminal_as_it_was() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let env = TestEnv::new();
        env.session("11111111-one").fill(100_000);
        let mut terminal = top(&env);
        terminal.wait_for("11111111");
        terminal.signal(signal);
        let (rest, status) = terminal.end();
        assert!(status.success() && is_given_back(&rest), "{status}: {rest:?}");
    }
}

#[test]
fn a_session_is_acted_on_from_the_screen() {
    let mut env = TestEnv::new();
    let (paged, project) = (env.path("paged"), env.project());
    env = env.with("PAGER", &format!("cat > {}", paged.display()));
    env.session("11111111-one").fill(100_000);
    let mut terminal = top(&env);
    terminal.wait_for("11111111");

    terminal.press("c");
    terminal.wait_for("/.claude/checkpoints/");
    terminal.press("\r");
    terminal.wait_for("## What Changed");
    terminal.press("y");
    let copied = terminal.wait_for("\x07");
    assert!(copied.contains("\x1b]52;c;"), "{copied:?}");
    terminal.wait_for("--resume");
    terminal.press("o");
    // The screen is given to the pager, and taken again.
    terminal.wait_for("\x1b[?1049l");
    terminal.wait_for("\x1b[?1049h");
    terminal.press("q");
    terminal.end();

    let checkpoints = fs::read_dir(project.join(".claude/checkpoints")).unwrap();
    let names = checkpoints.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with("-11111111.md")).count(), 1);
    assert!(fs::read_to_string(paged).unwrap().contains("## Next Steps"));
}

#[test]
fn another_watcher_goes_on() {
    let env = TestEnv::new();
    env.session("11111111-one").fill(100_000);
    let (mut watcher, _lines) = watch(&env);
    let mut terminal = top(&env);
    terminal.wait_for("11111111");
    terminal.press("q");
    terminal.end();
    assert!(watcher.try_wait().unwrap().is_none(), "it still watches");
    watcher.kill().unwrap();
    watcher.wait().unwrap();

    let mut terminal = top(&env);
    terminal.wait_for("11111111");
    let (mut watcher, _lines) = watch(&env);
    watcher.kill().unwrap();
    watcher.wait().unwrap();
    terminal.press("q");
    terminal.end();
}

/// A watcher that has begun, and what it tells, which must be heard or it ends.
fn watch(env: &TestEnv) -> (Child, BufReader<ChildStdout>) {
    let mut watcher = env.command(&["watch"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("11111111"), "{line}");
    (watcher, lines)
}

#[test]
fn it_fits_any_size_and_needs_no_colours() {
    let env = TestEnv::new().with("NO_COLOR", "1");
    env.session("11111111-one").fill(190_000);
    let mut terminal = top(&env);
    let mut drawn = terminal.wait_for("95!");
    terminal.resize(200, 50);
    drawn += &terminal.wait_for("MODEL");
    terminal.resize(9, 3);
    terminal.press("\r?");
    terminal.resize(80, 24);
    drawn += &terminal.wait_for("PgDn");
    for colour in ["\x1b[38;", "\x1b[31m", "\x1b[48;"] {
        assert!(!drawn.contains(colour), "{drawn:?}");
    }
    terminal.press("q");
    terminal.end();
}

#[test]
fn what_is_no_terminal_is_told_what_to_do_instead() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("top"), @"
    --- stderr
    error: could not draw: this is no terminal
    hint: run `plimsoll status` to look once, or `plimsoll watch` for a line whenever something changes
    [exit 1]
    ");
    let env = env.with("TERM", "dumb");
    let mut terminal = top(&env);
    terminal.wait_for("TERM=dumb");
    terminal.wait_for("plimsoll status");
    let (rest, status) = terminal.end();
    assert!(status.code() == Some(1) && !rest.contains('\x1b'), "{rest:?}");
}
