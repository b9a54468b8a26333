//! `plimsoll status --watch`: as many sessions as fit the screen, looked at again and again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions::Found;
use plimsoll_engine::world::World;

use super::{Args, choose, text};
use crate::ingest;
use crate::listing::{Listing, Shown};
use crate::report::HintExt;
use crate::ui::Ui;
use crate::ui::screen::{Key, Screen};

const PERIOD: Duration = Duration::from_secs(2);
/// How many lines a session takes at least.
const LINES: usize = 3;

pub(super) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    if !Screen::is_there() {
        return Err(anyhow::anyhow!("could not watch: this is no terminal"))
            .hint("run `plimsoll status` to look once, or `plimsoll status --json` in a script");
    }
    // What takes long, or is an error, comes before the screen is taken.
    let chosen = choose(world, args)?;
    let ingester = ingest::sessions(world, ui, &chosen).ok();
    let mut watch = Watch { world, ui, args, ingester, seen: HashMap::new() };
    let mut screen = Screen::open()?;
    loop {
        screen.draw(&watch.frame(screen.rows())?)?;
        if screen.key_within(PERIOD)? == Some(Key::Quit) {
            return Ok(());
        }
    }
}

struct Watch<'a> {
    world: &'a World,
    ui: &'a Ui,
    args: &'a Args,
    /// Without a store there is no forecast, and nothing else is missing.
    ingester: Option<Ingester<'a>>,
    /// What was shown of each transcript: one that has not changed since is not measured again.
    seen: HashMap<PathBuf, Shown>,
}

impl Watch<'_> {
    /// The lines of the next picture.
    fn frame(&mut self, rows: usize) -> anyhow::Result<Vec<String>> {
        let mut chosen = choose(self.world, self.args)?;
        chosen.truncate(rows.div_ceil(LINES));
        if let Some(ingester) = &mut self.ingester {
            // What cannot be stored now is stored the next time.
            let _ = ingester.catch_up(&chosen, |_, _| ());
            let _ = ingester.all_checkpoints();
        }
        let mut lines = self.sessions(&chosen)?;
        if lines.is_empty() {
            lines.push("No session was active in the last 24 hours.".to_owned());
        }
        lines.truncate(rows.saturating_sub(1));
        lines.push(self.ui.dim("q quits"));
        Ok(lines)
    }

    fn sessions(&mut self, chosen: &[Found]) -> anyhow::Result<Vec<String>> {
        // Words on stderr would tear the picture.
        let silence = |_: &str| ();
        let mut listing = Listing::new(self.world, self.ingester.as_ref(), &silence);
        let (mut shown, mut lines) = (HashMap::new(), Vec::new());
        for found in chosen {
            let is_current =
                |known: &Shown| known.is_current(found) && known.claims == listing.claims_of(found);
            let known = self.seen.remove(&found.path).filter(is_current);
            let Some(session) = known.or_else(|| listing.show(found)) else { continue };
            let mut text = Vec::new();
            text::print(self.world, self.ui, &mut text, &session, text::ROOM)?;
            lines.extend(String::from_utf8_lossy(&text).lines().map(str::to_owned));
            shown.insert(found.path.clone(), session);
        }
        self.seen = shown;
        Ok(lines)
    }
}
