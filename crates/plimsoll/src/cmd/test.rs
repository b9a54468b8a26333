//! `plimsoll test`

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::Context;
use plimsoll_core::breakpoint::tally;
use plimsoll_core::shell;
use plimsoll_engine::world::World;
use plimsoll_engine::{saves, settings};
use plimsoll_extract::save::NewSave;
use plimsoll_extract::save::templates::{self, TestRun};

use crate::report::{self, HintExt};
use crate::ui::Ui;

/// Run tests, save what they came to, and end as they did
///
/// What the command prints passes through as it comes, and its exit code stays. The counts of cargo,
/// nextest, pytest, jest, vitest, go and others are read from the output; what failed is saved with
/// them. `plimsoll rs` finds it again. `auto_context.hooks.test_result: false` keeps it from being saved.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll test -- cargo test
  plimsoll test --env release -- npx vitest run")]
pub(crate) struct Args {
    /// What to file it under; by default PLIMSOLL_ENV or CONTEXTS_ENV, else `development`
    #[arg(long = "env", value_name = "ENV")]
    environment: Option<String>,
    /// The command that runs the tests
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let environment = super::rs::environment(world, args.environment.as_deref())?;
    let began = Instant::now();
    let line = line(&args.command);
    let ran = match watch(&args.command) {
        Ok(ran) => ran,
        Err(error) => return not_run(&line, error),
    };
    let seconds = began.elapsed().as_secs_f64();
    let told = plain(&ran.output);
    let tally = tally(&told);
    let passed = ran.status.success();
    let failed = tally.failed.unwrap_or(0).into();
    let (count, command) = (tally.count().map(u64::from), Some(line.as_str()));
    let run = TestRun { passed, count, failed, seconds, command, names: &tally.names };
    let save = templates::test_run_save(environment, &run);
    let lacking = !passed && save.blockers.is_none();
    let blockers = if lacking { Some(last_lines(&told)) } else { save.blockers };
    if let Err(error) = keep(world, NewSave { blockers, ..save }) {
        ui.warn(&format!("what the tests came to was not saved: {error:#}"));
    }
    report::exit_with(code(ran.status))
}

/// A command that cannot be run ends as in a shell.
fn not_run(line: &str, error: io::Error) -> anyhow::Result<()> {
    let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
    let failed: anyhow::Result<()> = Err(error).with_context(|| format!("could not run `{line}`"));
    report::fail_with(code, failed.hint("look whether it is on your PATH, and may be run"))
}

fn keep(world: &World, save: NewSave) -> anyhow::Result<()> {
    let project = super::project(world)?;
    let is_wanted = settings::of_project(world, &project).saves_tests();
    if is_wanted && !world.is_off() {
        let save = saves::made_here(world, &project, save);
        saves::keep(&world.paths, vec![save], saves::PATIENTLY)?;
    }
    Ok(())
}

/// What a command came to.
struct Ran {
    status: ExitStatus,
    /// The end of what it printed to either side.
    output: Vec<u8>,
}

/// Runs a command, and lets through what it prints.
fn watch(command: &[OsString]) -> io::Result<Ran> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let err = thread::spawn(move || err.map(|err| pass(err, io::stderr())));
    let mut output = out.map(|out| pass(out, io::stdout())).unwrap_or_default();
    let status = child.wait()?;
    output.push(b'\n');
    output.extend(err.join().ok().flatten().unwrap_or_default());
    Ok(Ran { status, output })
}

/// How much of an output is kept at least. Runners sum up at the end.
const KEPT: usize = 4 << 20;

/// Lets through what comes, and gives the end of it. Where nobody listens any more the command is to
/// run to its end all the same.
fn pass(mut from: impl Read, mut to: impl Write) -> Vec<u8> {
    let (mut kept, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return kept,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return kept,
        };
        let _ = to.write_all(&piece[..read]).and_then(|()| to.flush());
        kept.extend_from_slice(&piece[..read]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
}

/// An output without colours.
fn plain(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.extend(parts.next());
    for part in parts {
        let end = part.find(|it: char| ('@'..='~').contains(&it)).map_or(part.len(), |end| end + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

/// The last words of an output, where nothing else says what failed.
fn last_lines(output: &str) -> String {
    const LINES: usize = 8;
    let mut lines: Vec<&str> =
        output.lines().rev().filter(|line| !line.trim().is_empty()).take(LINES).collect();
    lines.reverse();
    lines.join("\n")
}

/// A command as it was typed.
fn line(command: &[OsString]) -> String {
    let words = command.iter().map(|word| shell::quote(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

/// The exit code of a command; a shell's for one that a signal ended.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_no_part_of_what_was_said() {
        assert_eq!(plain(b"\x1b[1m\x1b[32mok\x1b[0m\x1b[38;5;1m 3\x1b["), "ok 3");
    }

    #[test]
    fn the_last_words_are_kept() {
        let output: String = (0..20).map(|line| format!("{line}\n\n")).collect();
        assert_eq!(last_lines(&output), "12\n13\n14\n15\n16\n17\n18\n19");
    }
}
