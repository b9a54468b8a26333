//! Taking in what is new before a command speaks of it, with a word on how far it is.

use std::time::Duration;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_engine::checkpoint::Place;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::world::World;

use crate::report::HintExt;
use crate::ui::{self, Ui};

const STORE_PATIENCE: Duration = Duration::from_secs(5);

/// Takes these sessions into the store, and what they teach to where the hooks find it.
pub(crate) fn sessions<'a>(
    world: &'a World,
    ui: &Ui,
    adapter: &'a dyn Adapter,
    found: &[Found],
) -> anyhow::Result<Ingester<'a>> {
    take_in(world, ui, adapter, found).map(|(ingester, _)| ingester)
}

/// Takes in every session there is, and says how many could not be.
pub(crate) fn everything<'a>(
    world: &'a World,
    ui: &Ui,
    adapter: &'a dyn Adapter,
) -> anyhow::Result<Ingester<'a>> {
    let found = sessions::find(world, adapter)?;
    let data = ui::pasted(&world.paths.data);
    let (ingester, unreadable) = take_in(world, ui, adapter, &found)
        .context("could not take in your transcripts")
        .hint(format!("run `ls -l {data}` to see whether it can be written"))?;
    match unreadable {
        0 => {}
        1 => ui.warn("one transcript could not be read and is left out"),
        many => ui.warn(&format!("{many} transcripts could not be read and are left out")),
    }
    Ok(ingester)
}

/// Takes in the checkpoints of all projects that are known, and of this one.
pub(crate) fn checkpoints<'a>(
    world: &'a World,
    ui: &Ui,
    adapter: &'a dyn Adapter,
    here: &Place,
) -> anyhow::Result<Ingester<'a>> {
    let data = ui::pasted(&world.paths.data);
    let mut ingester = Ingester::open(world, adapter, STORE_PATIENCE, None)
        .hint(format!("run `ls -l {data}` to see whether it can be written"))?;
    take_checkpoints(ui, &mut ingester);
    // What is wrong with it was said just now, unless nobody knew of it.
    let _ = ingester.checkpoints(here);
    Ok(ingester)
}

fn take_checkpoints(ui: &Ui, ingester: &mut Ingester<'_>) {
    if let Err(error) = ingester.all_checkpoints() {
        ui.warn(&format!("your checkpoints could not be taken in: {error:#}"));
    }
}

fn take_in<'a>(
    world: &'a World,
    ui: &Ui,
    adapter: &'a dyn Adapter,
    found: &[Found],
) -> anyhow::Result<(Ingester<'a>, usize)> {
    let mut ingester = Ingester::open(world, adapter, STORE_PATIENCE, None)?;
    let unreadable =
        ingester.catch_up(found, |done, of| ui.progress("reading transcripts", done, of))?;
    take_checkpoints(ui, &mut ingester);
    ingester.saves()?;
    Ok((ingester, unreadable))
}
