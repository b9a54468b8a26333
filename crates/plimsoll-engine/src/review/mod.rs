//! The reviewer: a command of the user that sees the state of all sessions at intervals and may
//! request checkpoints.
//!
//! The process with the watcher's lock runs it, in a separate thread; no hook ever does. The policy
//! does not depend on it. The command receives figures and names, no transcript text. It runs in
//! our data folder with plimsoll switched off, so that a reviewer that is an agent itself is
//! neither reviewed nor advised.

mod budget;
mod fleet;

use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_agents::Owner;
use plimsoll_core::Millis;
use plimsoll_core::board::Reason;
use plimsoll_core::metrics::ContextStatus;
use plimsoll_core::review::{Answer, Whom};
use plimsoll_core::settings::keys::variables;
use plimsoll_core::settings::{ReviewerSettings, Settings};
use plimsoll_extract::board::MessageContent;

use self::fleet::Fleet;
use crate::board::{self, Lasting, NewMessage};
use crate::child::{Leaves, Terms, run_as};
use crate::log;
use crate::paths;
use crate::settings;
use crate::watch::{Change, Notice};
use crate::world::{World, now};

/// Time limit for a command.
const PATIENCE: Duration = Duration::from_secs(120);
/// Longest interval between two reviews, within the range of the clock.
const LONGEST_INTERVAL: Duration = Duration::from_secs(365 * 24 * 3600);
/// Interval between checks whether the command has ended.
const STEP: Duration = Duration::from_millis(50);
/// Interval between checks whether the settings have changed.
const LOOK: Duration = Duration::from_secs(2);
/// Time until a request expires. The next review repeats it.
const LIVES: Duration = Duration::from_secs(3600);
/// Sender of the requests, and their reason.
const REVIEWER: &str = "reviewer";

/// Runs `watch` and reviews the fleet meanwhile, if the user's settings ask for that. `watch` has
/// to pass every notice to its argument. `tell` receives a notice for each requested checkpoint.
pub fn beside<T>(
    world: &World,
    tell: &(dyn Fn(Vec<Notice>) + Sync),
    watch: impl FnOnce(&dyn Fn(&[Notice])) -> T,
) -> T {
    let own = paths::canonical(&world.paths.data);
    let (shared, wakes) = (Mutex::default(), Condvar::new());
    let reviewer = Reviewer { world, shared, wakes };
    thread::scope(|scope| {
        scope.spawn(|| reviewer.run(tell));
        // Ends the thread even if the watcher panics.
        let _ends = Ends(&reviewer);
        watch(&|news| reviewer.shared().fleet.notice(news, &own))
    })
}

struct Reviewer<'a> {
    world: &'a World,
    shared: Mutex<Shared>,
    wakes: Condvar,
}

#[derive(Default)]
struct Shared {
    fleet: Fleet,
    is_over: bool,
}

struct Ends<'a>(&'a Reviewer<'a>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.shared().is_over = true;
        self.0.wakes.notify_all();
    }
}

impl Reviewer<'_> {
    fn run(&self, tell: &(dyn Fn(Vec<Notice>) + Sync)) {
        let mut looked = Instant::now();
        while let Some(settings) = self.rest(looked) {
            match self.review(&settings) {
                Ok(asked) if asked.is_empty() => {}
                Ok(asked) => tell(asked),
                Err(error) => self.complain(&format!("{error:#}")),
            }
            looked = Instant::now();
        }
    }

    /// Waits until the next review is due, with the settings that are current by then. Returns
    /// those settings; `None` if the watcher has ended.
    fn rest(&self, looked: Instant) -> Option<Settings> {
        loop {
            let settings = self.settings();
            let interval = Duration::from_secs(settings.reviewer.interval_seconds);
            let left = interval.min(LONGEST_INTERVAL).saturating_sub(looked.elapsed());
            let is_wanted = !settings.reviewer.command.is_empty();
            if left.is_zero() && is_wanted {
                return (!self.shared().is_over).then_some(settings);
            }
            let pause = if is_wanted { left.min(LOOK) } else { LOOK };
            if self.is_over_within(pause) {
                return None;
            }
        }
    }

    /// Waits for `pause`. Returns whether the watcher has ended.
    fn is_over_within(&self, pause: Duration) -> bool {
        let waited = self.wakes.wait_timeout_while(self.shared(), pause, |it| !it.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    fn settings(&self) -> Settings {
        settings::of_user(self.world)
    }

    /// Shows the fleet to the reviewers if anything changed, and posts their requests.
    fn review(&self, settings: &Settings) -> anyhow::Result<Vec<Notice>> {
        let ReviewerSettings { command, second_command, .. } = &settings.reviewer;
        if !std::mem::take(&mut self.shared().fleet.has_news) {
            return Ok(Vec::new());
        }
        let Some(first) = self.ask(settings, command, None)? else { return Ok(Vec::new()) };
        let mut answer = Answer::parse(&first);
        if answer.escalates && !second_command.is_empty() {
            let Some(second) = self.ask(settings, second_command, Some(&first))? else {
                return Ok(Vec::new());
            };
            answer = Answer::parse(&second);
        }
        self.post(&answer)
    }

    /// Runs a command and returns its output; `None` if today's budget is spent or the watcher has
    /// ended.
    fn ask(
        &self,
        settings: &Settings,
        command: &[String],
        before: Option<&str>,
    ) -> anyhow::Result<Option<String>> {
        let [program, arguments @ ..] = command else { return Ok(None) };
        let now = now() as Millis;
        if !budget::spend(&self.world.paths, settings.reviewer.most_per_day, now)? {
            return Ok(None);
        }
        let shown = self.shared().fleet.shown(&settings.lines, now, before);
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.world.paths.data).env("PLIMSOLL", "off");
        // The URL may contain a password, and a model may see the environment.
        for name in variables::DATABASE_URL.names {
            command.env_remove(name);
        }
        let is_over = || self.shared().is_over;
        let terms =
            Terms { patience: PATIENCE, step: STEP, leaves: Leaves::Ended, is_over: &is_over };
        let ran = run_as(&mut command, shown, &terms)
            .map_err(|error| anyhow::anyhow!("could not run `{program}`: {error}"))?;
        match ran.status {
            _ if is_over() => Ok(None),
            Some(status) if status.success() => {
                Ok(Some(String::from_utf8_lossy(&ran.stdout).into_owned()))
            }
            Some(status) => anyhow::bail!("`{program}` failed: {status}"),
            None => anyhow::bail!("`{program}` took longer than {} s", PATIENCE.as_secs()),
        }
    }

    /// Posts a trigger to each selected session that has none waiting.
    fn post(&self, answer: &Answer) -> anyhow::Result<Vec<Notice>> {
        if answer.checkpoints == Whom::Nobody {
            return Ok(Vec::new());
        }
        let waiting = board::list(&self.world.paths)?;
        let reason = Reason::Other(REVIEWER.to_owned());
        let shared = self.shared();
        let meant = shared.fleet.sessions().filter(|known| {
            let is_due = known.status == ContextStatus::High;
            let is_asked = waiting.iter().any(|posted| {
                posted.message.to == known.session && posted.message.checkpoint_reason().is_some()
            });
            answer.checkpoints.means(known.session.as_str(), is_due) && !is_asked
        });
        let messages: Vec<NewMessage> = meant
            .map(|known| NewMessage {
                to: known.session.clone(),
                project: Some(known.project.clone()),
                from: REVIEWER.to_owned(),
                what: MessageContent::CheckpointTrigger { reason: reason.clone() },
                lives: LIVES,
            })
            .collect();
        drop(shared);
        let posted = board::post(&self.world.paths, messages, Lasting::Kill)?;
        if let Err(error) = board::show(self.world, &posted) {
            self.complain(&format!("the project does not show the board: {error}"));
        }
        let notice = |session| {
            let owner = Owner { session, subagent: None };
            Notice { at: now(), owner, change: Change::Asked(reason.clone()) }
        };
        Ok(posted.into_iter().map(|message| notice(message.to)).collect())
    }

    fn complain(&self, why: &str) {
        log::write(&self.world.paths.log(), &format!("review: {why}"));
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
