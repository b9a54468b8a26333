//! Seals in a separate process, which can be killed or restricted.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use plimsoll_core::Millis;
use plimsoll_engine::checkpoint::seal;
use plimsoll_engine::world;

use crate::bed::{draft, place};

/// Printed before each seal.
pub(crate) const BEGIN: &str = "begin\n";

const ROOT: &str = "PLIMSOLL_TEST_ROOT";
const SESSION: &str = "PLIMSOLL_TEST_SESSION";
const TIMES: &str = "PLIMSOLL_TEST_TIMES";

/// Creates a command that seals `times` checkpoints in the project below `root`. For each it prints
/// `begin`, then `sealed ID` or `unsealed WHY`.
pub(crate) fn sealing(root: &Path, session: &str, times: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::seals_when_asked_to", "--nocapture"]);
    command.env_clear().env(ROOT, root).env(SESSION, session).env(TIMES, times.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns the ids that a process reported as sealed.
pub(crate) fn reported(stdout: &[u8]) -> Vec<String> {
    after(stdout, "sealed ")
}

/// Returns the errors that a process reported.
pub(crate) fn refused(stdout: &[u8]) -> Vec<String> {
    after(stdout, "unsealed ")
}

/// Parses complete lines only: a process killed while printing has reported nothing.
fn after(stdout: &[u8], begin: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    lines.filter_map(|line| line.strip_prefix(begin)).map(str::to_owned).collect()
}

/// Not a test: the process that [`sealing`] starts.
#[test]
fn seals_when_asked_to() {
    let Ok(root) = std::env::var(ROOT) else { return };
    let session = std::env::var(SESSION).unwrap();
    let times: usize = std::env::var(TIMES).unwrap().parse().unwrap();
    let mut out = std::io::stdout();
    out.write_all(b"\n").unwrap();
    for _ in 0..times {
        out.write_all(BEGIN.as_bytes()).unwrap();
        let draft = draft(&session, world::now() as Millis);
        let line = match seal(&place(Path::new(&root), "project"), &draft) {
            Ok(sealed) if sealed.warnings.is_empty() => format!("sealed {}\n", sealed.meta.id),
            Ok(sealed) => format!("unsealed only in part: {:?}\n", sealed.warnings),
            Err(why) => format!("unsealed {why}: {:?}\n", std::error::Error::source(&why)),
        };
        out.write_all(line.as_bytes()).unwrap();
    }
}
