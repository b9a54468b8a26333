//! Taking in what is new before a command speaks of it, with a word on how far it is.

use std::time::Duration;

use anyhow::Context;
use plimsoll_engine::checkpoint::Place;
use plimsoll_engine::damage;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::saves;
use plimsoll_engine::sessions::{self, Found};
use plimsoll_engine::world::World;
use plimsoll_store::Store;

use crate::report::HintExt;
use crate::ui::{self, Ui};

const STORE_PATIENCE: Duration = Duration::from_secs(5);

/// Takes these sessions into the store, and what they teach to where the hooks find it.
pub(crate) fn sessions<'a>(
    world: &'a World,
    ui: &Ui,
    found: &[Found],
) -> anyhow::Result<Ingester<'a>> {
    take_in(world, ui, found).map(|(ingester, _)| ingester)
}

/// Takes in every session there is, and says how many could not be.
pub(crate) fn everything<'a>(world: &'a World, ui: &Ui) -> anyhow::Result<Ingester<'a>> {
    let found = sessions::find(world)?;
    let data = ui::shell_quoted(&world.paths.data);
    let (ingester, unreadable) = take_in(world, ui, &found)
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
    here: &Place,
) -> anyhow::Result<Ingester<'a>> {
    let data = ui::shell_quoted(&world.paths.data);
    let taken = mended(world, ui, || {
        let mut ingester = Ingester::open(world, STORE_PATIENCE, None)?;
        take_checkpoints(ui, &mut ingester)?;
        // What is wrong with it was said just now, unless nobody knew of it.
        let _ = ingester.checkpoints(&here.project);
        Ok(ingester)
    });
    taken.hint(format!("run `ls -l {data}` to see whether it can be written"))
}

/// Takes in what was saved.
pub(crate) fn saves(world: &World, ui: &Ui) -> anyhow::Result<Store> {
    let data = ui::shell_quoted(&world.paths.data);
    mended(world, ui, || saves::open(&world.paths, STORE_PATIENCE))
        .hint(format!("run `ls -l {data}` to see whether it can be written"))
}

/// Does something with the store before anything is said of it, and once more with a new one if the
/// store turns out to be damaged.
pub(crate) fn mended<T>(
    world: &World,
    ui: &Ui,
    work: impl Fn() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    match work() {
        Err(error) if damage::is_cause(&error) => {
            renew_store(world, ui)?;
            work()
        }
        done => done,
    }
}

/// Puts a damaged store aside, and says so.
pub(crate) fn renew_store(world: &World, ui: &Ui) -> anyhow::Result<()> {
    if let Some(aside) = damage::put_aside(&world.paths)? {
        ui.warn(&damage::told(&aside));
    }
    Ok(())
}

fn take_checkpoints(ui: &Ui, ingester: &mut Ingester<'_>) -> anyhow::Result<()> {
    match ingester.all_checkpoints() {
        Err(error) if damage::is_cause(&error) => return Err(error),
        Err(error) => ui.warn(&format!("your checkpoints could not be taken in: {error:#}")),
        Ok(_) => {}
    }
    Ok(())
}

fn take_in<'a>(
    world: &'a World,
    ui: &Ui,
    found: &[Found],
) -> anyhow::Result<(Ingester<'a>, usize)> {
    mended(world, ui, || {
        let mut ingester = Ingester::open(world, STORE_PATIENCE, None)?;
        let unreadable =
            ingester.catch_up(found, |done, of| ui.progress("reading transcripts", done, of))?;
        take_checkpoints(ui, &mut ingester)?;
        ingester.saves()?;
        Ok((ingester, unreadable))
    })
}
