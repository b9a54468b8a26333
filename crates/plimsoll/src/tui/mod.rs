//! The terminal dashboard. `state` contains the data and handles keys, `view` draws, `feed` reads
//! sessions, and this module runs the loop.

mod feed;
mod keys;
mod session;
mod state;
mod terminal;
mod view;

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::of_session;
use plimsoll_core::event::SessionId;
use plimsoll_engine::checkpoint::{self, Place};
use plimsoll_engine::world::{World, now};
use ratatui::widgets::TableState;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

use self::feed::{Feed, FeedMessage, FeedRequest};
use self::state::{DashboardState, KeyAction};
use self::terminal::FullScreen;
use self::view::{DashboardView, Theme};
use crate::ui::{shell_quoted, strip_control};

/// Interval for redrawing ages if nothing else happens.
const PERIOD: Duration = Duration::from_secs(5);

/// Shows all sessions until the user quits or a signal ends the process.
pub(crate) fn run(world: World, has_colour: bool, is_all: bool) -> anyhow::Result<()> {
    let world = Arc::new(world);
    let bells = Wakeups::register().context("could not listen to signals")?;
    let bell = bells.wake_sender.try_clone().context("could not listen to signals")?;
    let feed =
        Feed::start(world.clone(), bell, is_all).context("could not start reading the sessions")?;
    let terminal = FullScreen::open().context("could not take the terminal")?;
    let picture = DashboardView { theme: Theme { has_colour }, table: TableState::default() };
    let state = DashboardState::default();
    Dashboard { world: &world, feed, terminal, picture, state, bells }.run()
}

struct Dashboard<'a> {
    world: &'a World,
    feed: Feed,
    terminal: FullScreen,
    picture: DashboardView,
    state: DashboardState,
    bells: Wakeups,
}

impl Dashboard<'_> {
    fn run(&mut self) -> anyhow::Result<()> {
        loop {
            if let Some((session, id)) = self.state.request_missing_text() {
                self.feed.ask(FeedRequest::Text(session, id));
            }
            let (picture, state) = (&mut self.picture, &self.state);
            self.terminal.draw(|frame| picture.draw(frame, state, now() as i64))?;
            if self.bells.wait(PERIOD)? {
                return Ok(());
            }
            for news in self.feed.news()? {
                self.apply_news(news);
            }
            for key in self.terminal.keys()? {
                let act = self.state.press(key);
                if act == KeyAction::Quit {
                    return Ok(());
                }
                self.carry_out(act);
            }
        }
    }

    fn apply_news(&mut self, news: FeedMessage) {
        match news {
            FeedMessage::Progress(done, of) => {
                self.state.progress = (done < of).then_some((done, of))
            }
            FeedMessage::Sessions(sessions) => self.state.set_sessions(sessions),
            FeedMessage::Checkpoint(id, lines) => self.state.set_checkpoint_text(&id, lines),
            FeedMessage::Runs(runs, members) => self.state.set_runs(runs, members),
            FeedMessage::Criteria(found) => self.state.criteria = Some(found),
            FeedMessage::Message(told) => self.state.message = Some(told),
        }
    }

    fn carry_out(&mut self, act: KeyAction) {
        match act {
            KeyAction::None | KeyAction::Quit => {}
            KeyAction::ReadCriteria => self.feed.ask(FeedRequest::Criteria),
            KeyAction::Seal(session) => {
                self.state.message = Some("making a checkpoint…".to_owned());
                self.feed.ask(FeedRequest::Seal(session));
            }
            KeyAction::Copy(session) => self.state.message = self.copy(&session),
            KeyAction::Page(session, id) => {
                let shown = self.page(&session, &id);
                self.state.message = shown.err().map(|error| strip_control(&format!("{error:#}")));
            }
        }
    }

    /// Copies the command that resumes a session. Also returns it for display, because not every
    /// terminal can copy.
    fn copy(&mut self, session: &SessionId) -> Option<String> {
        let session = self.state.sessions().iter().find(|known| known.id == *session)?;
        let resume = of_session(&session.id)?.installer().resume(&session.id);
        let command = strip_control(&format!("cd {} && {resume}", shell_quoted(&session.folder)));
        // If copying fails, the user can still read the command.
        let _ = self.terminal.copy(&command);
        Some(command)
    }

    fn page(&mut self, session: &SessionId, id: &str) -> anyhow::Result<()> {
        let known = self.state.sessions().iter().find(|known| known.id == *session);
        let folder = known.map(|known| known.folder.clone()).context("the session is gone")?;
        let place = Place::of_project(self.world, folder);
        let text = checkpoint::text(&place, id)
            .map_err(|problem| anyhow::anyhow!("could not read `{id}`: {problem}"))?;
        let text: String = text.lines().map(|line| strip_control(line) + "\n").collect();
        let pager = self.world.env("PAGER").unwrap_or_else(|| "less".to_owned());
        let shown = self.terminal.page(&pager, &text);
        self.bells.clear_interrupt();
        shown
    }
}

/// Wake-up sources: keys, news, a resized terminal, and signals that end the process.
struct Wakeups {
    /// Written to for news and on a change of size.
    wake_sender: UnixStream,
    wake_receiver: UnixStream,
    ended: UnixStream,
    /// Separate from `ended`: Ctrl-C in a pager must end only the pager.
    interrupted: UnixStream,
}

impl Wakeups {
    fn register() -> io::Result<Self> {
        let (ring, heard) = UnixStream::pair()?;
        let (end, ended) = UnixStream::pair()?;
        let (interrupt, interrupted) = UnixStream::pair()?;
        for stream in [&ring, &heard, &end, &interrupt, &interrupted] {
            stream.set_nonblocking(true)?;
        }
        pipe::register(SIGWINCH, OwnedFd::from(ring.try_clone()?))?;
        pipe::register(SIGINT, OwnedFd::from(interrupt))?;
        for signal in [SIGTERM, SIGHUP] {
            pipe::register(signal, OwnedFd::from(end.try_clone()?))?;
        }
        Ok(Self { wake_sender: ring, wake_receiver: heard, ended, interrupted })
    }

    /// Sleeps until something happens or `time` has passed. Returns whether the process must end.
    fn wait(&self, time: Duration) -> io::Result<bool> {
        let stdin = io::stdin();
        let wakes = PollFlags::IN;
        let mut asked = [
            PollFd::new(&self.ended, wakes),
            PollFd::new(&self.interrupted, wakes),
            PollFd::new(&self.wake_receiver, wakes),
            PollFd::new(&stdin, wakes),
        ];
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match poll(&mut asked, Some(&time)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [ended, interrupted, rang, keys] = asked.map(|fd| fd.revents());
        if !rang.is_empty() {
            // One wake-up handles everything, so drain them all.
            let _ = (&self.wake_receiver).read(&mut [0; 256]);
        }
        let is_gone = keys.intersects(PollFlags::HUP | PollFlags::ERR);
        Ok(!ended.is_empty() || !interrupted.is_empty() || is_gone)
    }

    fn clear_interrupt(&self) {
        let _ = (&self.interrupted).read(&mut [0; 256]);
    }
}
