//! The files of a run, except its journal.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_core::plan::Plan;
use plimsoll_core::run::RunId;
use plimsoll_engine::lock::lock;
use plimsoll_engine::paths::{self, Links, Paths};

/// The folder of a run.
#[derive(Clone, Debug)]
pub(super) struct RunFiles(PathBuf);

impl RunFiles {
    pub(super) fn of(paths: &Paths, run: &RunId) -> Self {
        Self(paths.run_folder(run))
    }

    /// Returns the file for a session's stdout.
    pub(super) fn stdout(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}.out"))
    }

    /// Returns the file for a session's stderr. It exists only if stderr is stored.
    pub(super) fn stderr(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}.err"))
    }

    /// Returns the path prefix of a session's process files: `.pid` at its start, `.exit` at its
    /// end.
    pub(super) fn session_prefix(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}"))
    }

    /// Returns the file with the user's piped input, which every session reads.
    pub(super) fn stdin(&self) -> PathBuf {
        self.0.join("stdin")
    }

    /// Writes the prompt that a session reads on stdin.
    pub(super) fn write_prompt(&self, job: u32, leg: u32, prompt: &str) -> io::Result<PathBuf> {
        let path = self.0.join(format!("{job}-{leg}.in"));
        paths::put(&path, prompt.as_bytes())?;
        Ok(path)
    }

    /// Stores the command unredacted; the journal has it redacted.
    pub(super) fn write_command(&self, command: &[String]) -> io::Result<()> {
        self.write_durably("command.json", &serde_json::to_vec(command)?)
    }

    pub(super) fn read_command(&self) -> io::Result<Vec<String>> {
        let bytes = paths::read_bytes(&self.0.join("command.json"), Links::Refused)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Stores plan `number`, counted from 0, unredacted; the journal has it redacted.
    pub(super) fn write_plan(&self, number: usize, plan: &Plan) -> io::Result<()> {
        self.write_durably(&plan_name(number), &serde_json::to_vec(plan)?)
    }

    pub(super) fn read_plan(&self, number: usize) -> io::Result<Plan> {
        let read = |number| paths::read_bytes(&self.0.join(plan_name(number)), Links::Refused);
        let bytes = match read(number) {
            // An earlier release stored only the first plan, because pieces never changed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => read(0)?,
            bytes => bytes?,
        };
        Ok(serde_json::from_slice(&bytes)?)
    }

    pub(super) fn write_stdin(&self, input: &mut dyn Read) -> io::Result<()> {
        let mut file = paths::write_anew(&self.stdin())?;
        io::copy(input, &mut file)?;
        file.sync_all()
    }

    /// Writes a file that the journal is about to rely on. It is on disk when this returns.
    fn write_durably(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(name);
        paths::put(&path, bytes)?;
        File::open(path)?.sync_all()?;
        File::open(&self.0)?.sync_all()
    }

    /// Locks the run and removes temporary files of earlier runners. `None` if another process
    /// holds the lock.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        match lock(|| paths::append(&self.0.join("lock")), Instant::now()) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            taken => {
                let taken = taken?;
                self.remove_temporary_files();
                Ok(Some(taken))
            }
        }
    }

    /// Removes temporary files of earlier runners, but not those of a session's shell, which may
    /// still be running.
    fn remove_temporary_files(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(paths::is_temporary) {
                // A file that stays is removed with the run.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn plan_name(number: usize) -> String {
    match number {
        0 => "plan.json".to_owned(),
        _ => format!("plan-{number}.json"),
    }
}

/// Returns the pid that a session's process recorded. `None` if no process was started. In that
/// case none can start later, because this call has created the pid file that the process must
/// create.
pub(super) fn claim_or_read_pid(leg: &Path) -> io::Result<Option<u32>> {
    const PATIENCE: Duration = Duration::from_secs(2);
    const STEP: Duration = Duration::from_millis(5);
    let path = paths::beside(leg, ".pid");
    match File::options().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The process creates the file before it writes the pid.
        let text = fs::read_to_string(&path)?;
        match text.trim().parse() {
            Ok(pid) if text.ends_with('\n') => return Ok(Some(pid)),
            _ if Instant::now() >= deadline => return Ok(None),
            _ => std::thread::sleep(STEP),
        }
    }
}

/// Returns the pid that a session's process recorded; `None` if it cannot be read.
pub(super) fn read_pid(leg: &Path) -> Option<u32> {
    fs::read_to_string(paths::beside(leg, ".pid")).ok()?.trim().parse().ok()
}

/// Returns the exit code that a session's process recorded.
pub(super) fn read_exit_code(leg: &Path) -> Option<i32> {
    fs::read_to_string(paths::beside(leg, ".exit")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locking_removes_temporary_files_but_not_those_of_a_live_session() {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles(folder.path().to_owned());
        let [left, living] = ["plan.plimsoll-4194305.tmp", "1-1.tmp"].map(|it| files.0.join(it));
        fs::write(&left, "{").unwrap();
        fs::write(&living, "0\n").unwrap();
        assert!(files.lock().unwrap().is_some());
        assert!(!left.exists() && living.exists());
    }
}
