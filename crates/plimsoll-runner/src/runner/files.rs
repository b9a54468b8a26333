//! The files of a run beside its journal.

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
pub(super) struct Files(PathBuf);

impl Files {
    pub(super) fn of(paths: &Paths, run: &RunId) -> Self {
        Self(paths.run_folder(run))
    }

    /// What the agent of a leg printed.
    pub(super) fn out(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}.out"))
    }

    /// What it complained about, where that is kept.
    pub(super) fn err(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}.err"))
    }

    /// What a leg's process tells of itself: its number at its beginning, its exit code at its end.
    pub(super) fn leg(&self, job: u32, leg: u32) -> PathBuf {
        self.0.join(format!("{job}-{leg}"))
    }

    /// What the user piped in, for every session anew.
    pub(super) fn input(&self) -> PathBuf {
        self.0.join("stdin")
    }

    /// Keeps what a leg is told, for it to read.
    pub(super) fn keep_prompt(&self, job: u32, leg: u32, prompt: &str) -> io::Result<PathBuf> {
        let path = self.0.join(format!("{job}-{leg}.in"));
        paths::put(&path, prompt.as_bytes())?;
        Ok(path)
    }

    /// Keeps the command as it is, secrets and all; the journal has it without.
    pub(super) fn keep_command(&self, command: &[String]) -> io::Result<()> {
        self.keep("command.json", &serde_json::to_vec(command)?)
    }

    pub(super) fn command(&self) -> io::Result<Vec<String>> {
        let bytes = paths::read_bytes(&self.0.join("command.json"), Links::Refused)?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Keeps the plan that the journal tells as its first, second and so on, counted from 0: as it is,
    /// secrets and all; the journal has it without.
    pub(super) fn keep_plan(&self, number: usize, plan: &Plan) -> io::Result<()> {
        self.keep(&plan_name(number), &serde_json::to_vec(plan)?)
    }

    pub(super) fn plan(&self, number: usize) -> io::Result<Plan> {
        let read = |number| paths::read_bytes(&self.0.join(plan_name(number)), Links::Refused);
        let bytes = match read(number) {
            // An earlier release kept the first one alone: the pieces were always the same.
            Err(error) if error.kind() == io::ErrorKind::NotFound => read(0)?,
            bytes => bytes?,
        };
        Ok(serde_json::from_slice(&bytes)?)
    }

    pub(super) fn keep_input(&self, input: &mut dyn Read) -> io::Result<()> {
        let mut file = paths::write_anew(&self.input())?;
        io::copy(input, &mut file)?;
        file.sync_all()
    }

    /// Keeps a file that the journal is about to rely on: it is on the disk when this returns.
    fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.0.join(name);
        paths::put(&path, bytes)?;
        File::open(path)?.sync_all()?;
        File::open(&self.0)?.sync_all()
    }

    /// What whoever conducts the run holds; nothing if somebody else does. What conductors before left
    /// half written goes.
    pub(super) fn lock(&self) -> io::Result<Option<File>> {
        match lock(|| paths::append(&self.0.join("lock")), Instant::now()) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            taken => {
                let taken = taken?;
                self.sweep();
                Ok(Some(taken))
            }
        }
    }

    /// Removes what conductors have left. What a leg's shell is writing is left to it, for it may live.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(paths::is_temporary) {
                // It goes with the run at the latest.
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

/// The number that the process of a leg has left; nothing if none has ever been started, and then none
/// ever will be: it finds its place taken.
pub(super) fn claimed(leg: &Path) -> io::Result<Option<u32>> {
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
        // It is made first and written then.
        let text = fs::read_to_string(&path)?;
        match text.trim().parse() {
            Ok(pid) if text.ends_with('\n') => return Ok(Some(pid)),
            _ if Instant::now() >= deadline => return Ok(None),
            _ => std::thread::sleep(STEP),
        }
    }
}

/// The number that the process of a leg has left, as far as can be seen.
pub(super) fn left_number(leg: &Path) -> Option<u32> {
    fs::read_to_string(paths::beside(leg, ".pid")).ok()?.trim().parse().ok()
}

/// The exit code that the process of a leg has left.
pub(super) fn exit_code(leg: &Path) -> Option<i32> {
    fs::read_to_string(paths::beside(leg, ".exit")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_takes_a_run_up_removes_what_conductors_left_and_nothing_of_a_living_session() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files(folder.path().to_owned());
        let [left, living] = ["plan.plimsoll-4194305.tmp", "1-1.tmp"].map(|it| files.0.join(it));
        fs::write(&left, "{").unwrap();
        fs::write(&living, "0\n").unwrap();
        assert!(files.lock().unwrap().is_some());
        assert!(!left.exists() && living.exists());
    }
}
