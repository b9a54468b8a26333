//! `plimsoll demo`

use std::io::Write;
use std::thread;
use std::time::Duration;

use plimsoll_core::event::{EventKind, Load, Reply};
use plimsoll_engine::playback::{self, Moment};

use super::status;
use crate::report::HintExt;
use crate::ui::{self, Ui};

/// Show what plimsoll does, on a recorded session
///
/// A session that was recorded from a real client is played through plimsoll, in a folder of its
/// own that is gone afterwards. Nothing needs to be installed, and nothing of yours is touched.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    agent: super::AgentArg,
    /// Do not wait between the steps
    #[arg(long)]
    fast: bool,
}

pub(crate) fn run(ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let agent = args.agent.agent;
    let moments = playback::play(agent)
        .hint("name a folder you can write to, for example `TMPDIR=/var/tmp plimsoll demo`")?;
    let mut screen = Screen { ui, out: ui.out(), waits: ui.can_redraw() && !args.fast };
    screen.introduce(agent.id().as_str())?;
    for moment in &moments {
        screen.show(moment)?;
    }
    screen.sum_up(&moments)
}

/// Where the session is shown.
struct Screen<'a, W> {
    ui: &'a Ui,
    out: W,
    waits: bool,
}

/// How long one can look at a reading that passes, and at what stays.
const READING_PAUSE: Duration = Duration::from_millis(110);
const LASTING_PAUSE: Duration = Duration::from_millis(700);

impl<W: Write> Screen<'_, W> {
    fn introduce(&mut self, agent: &str) -> anyhow::Result<()> {
        writeln!(self.out, "A recorded session of {agent}, played through plimsoll.")?;
        writeln!(self.out, "The mark in the gauge is where the client compacts by itself.\n")?;
        Ok(())
    }

    fn show(&mut self, moment: &Moment) -> anyhow::Result<()> {
        let words = words(moment);
        let passing = words.is_empty() && !matches!(moment.event, EventKind::Compacting { .. });
        self.gauge(moment, passing)?;
        for (whose, text) in &words {
            self.words(whose, text)?;
        }
        self.pause(if passing { READING_PAUSE } else { LASTING_PAUSE })
    }

    /// Draws the gauge. On a terminal the next one takes the place of one that is passing.
    fn gauge(&mut self, moment: &Moment, passing: bool) -> anyhow::Result<()> {
        let measured = moment.measured.as_ref().filter(|_| tells_a_load(moment));
        if measured.is_none() && passing {
            return Ok(());
        }
        let gauge = measured.map_or_else(String::new, |it| status::gauge(self.ui, it));
        let line = format!("{:<17.17} {gauge}", happened(moment));
        match (self.ui.can_redraw(), passing) {
            (true, true) => write!(self.out, "\r\x1b[K{line}")?,
            (true, false) => writeln!(self.out, "\r\x1b[K{line}")?,
            (false, _) => writeln!(self.out, "{line}")?,
        }
        Ok(())
    }

    fn words(&mut self, whose: &str, text: &str) -> anyhow::Result<()> {
        const WIDTH: usize = 80 - 18;
        let lines = text.lines().flat_map(|line| ui::wrap(&ui::strip_control(line), WIDTH));
        for (at, line) in lines.enumerate() {
            let whose = if at == 0 { whose } else { "" };
            writeln!(self.out, "  {} {line}", self.ui.dim(&format!("{whose:<15}")))?;
        }
        Ok(())
    }

    fn pause(&mut self, pause: Duration) -> anyhow::Result<()> {
        if self.waits {
            self.out.flush()?;
            thread::sleep(pause);
        }
        Ok(())
    }

    fn sum_up(&mut self, moments: &[Moment]) -> anyhow::Result<()> {
        let asked = moments.len();
        let spoke = |moment: &&Moment| moment.reply != Reply::default();
        let spoken = moments.iter().filter(spoke).count();
        if self.ui.can_redraw() {
            writeln!(self.out)?;
        }
        writeln!(self.out, "\nAsked {asked} times, plimsoll spoke {spoken} times.")?;
        let next = self.ui.bold("plimsoll init");
        writeln!(self.out, "To have this in your own sessions, run `{next}`.")?;
        self.out.flush()?;
        Ok(())
    }
}

/// What is said at a moment, and who hears it.
fn words(moment: &Moment) -> Vec<(&'static str, &str)> {
    let sealed = moment.sealed.then_some("a checkpoint of the work so far, read back and verified");
    let said = [
        ("sealed", sealed),
        ("you read", moment.reply.to_user.as_deref()),
        ("the model reads", moment.reply.to_model.as_deref()),
        ("refused", moment.reply.refusal.as_deref()),
        ("in strict mode", moment.refusal.as_deref()),
    ];
    said.into_iter().filter_map(|(whose, text)| Some((whose, text?))).collect()
}

/// Whether the reading tells anything: just after a compaction the transcript still shows the window
/// before it, and a pause has no load of its own.
fn tells_a_load(moment: &Moment) -> bool {
    use EventKind::{Cleared, Compacted, Stopped, Summarised};
    !matches!(moment.event, Compacted | Cleared | Summarised(_) | Stopped)
}

fn happened(moment: &Moment) -> String {
    match &moment.event {
        EventKind::Prompted => "you ask".to_owned(),
        EventKind::ToolFinished => "a tool has run".to_owned(),
        EventKind::ToolFailed => "a tool has failed".to_owned(),
        EventKind::Loading(Load::Agent(name)) => format!("agent {name}"),
        EventKind::Loading(Load::Skill(name)) => format!("skill {name}"),
        EventKind::Started => "a session".to_owned(),
        EventKind::Resumed => "it goes on".to_owned(),
        EventKind::Compacting { .. } => "compaction".to_owned(),
        EventKind::Compacted => "restored".to_owned(),
        EventKind::Cleared => "a fresh window".to_owned(),
        EventKind::Ended => "the end".to_owned(),
        EventKind::Stopped => "a pause".to_owned(),
        EventKind::Summarised(_) => "the summary".to_owned(),
        EventKind::Other => String::new(),
    }
}
