//! One visit to the team's database.

use std::time::Duration;

use plimsoll_agents::Adapter;
use plimsoll_core::Millis;
use plimsoll_core::settings::{Shared, Team};
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::settings;
use plimsoll_engine::world::{World, now};
use plimsoll_store::postgres::{About, Bell, Machine, TeamError, TeamStore};
use plimsoll_store::{Allowed, Shipment, Store};

/// How many rows go at once: few enough that others get to write in between.
const BATCH: u32 = 500;
/// How long other writers of the store are waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The way there, open.
pub(super) struct Office {
    pub(super) there: TeamStore,
    pub(super) about: About,
    /// Rings when somebody posts.
    pub(super) bell: Bell,
    pub(super) machine: Machine,
    pub(super) store: Store,
}

/// The store of this machine.
pub(super) fn store(world: &World, adapter: &dyn Adapter) -> anyhow::Result<Store> {
    Ok(Ingester::open(world, adapter, PATIENCE, None)?.store)
}

impl Office {
    /// Goes there. From now on whatever changes here is noted as to be sent.
    pub(super) async fn open(
        world: &World,
        adapter: &dyn Adapter,
        team: &Team,
    ) -> anyhow::Result<Self> {
        let url = team.database_url.as_ref().ok_or_else(|| no_database(world))?;
        let (there, bell) = TeamStore::connect(url.whole()).await?;
        let about = there.about().await?;
        let store = store(world, adapter)?;
        store.start_shipping(&errand(&about, team))?;
        if team.shares(Shared::Board) {
            there.listen().await?;
        }
        let machine = machine(world, team, &store);
        Ok(Self { there, about, bell, machine, store })
    }

    /// Sends what waits, as much as goes at once. Tells how many rows went; nothing if none waited.
    pub(super) async fn ship(
        &mut self,
        world: &World,
        team: &Team,
    ) -> anyhow::Result<Option<usize>> {
        let now = now() as Millis;
        let home = &world.paths.home;
        let allowed = Allowed {
            readings: team.shares(Shared::Readings),
            checkpoints: team.shares(Shared::Checkpoints),
            saves: team.shares(Shared::Saves),
            sends: &|project| team.sends(project, home),
            since: self.about.since(now),
        };
        let Some(shipment) = self.store.next_shipment(&allowed, BATCH)? else { return Ok(None) };
        if !shipment.is_empty() {
            self.there.ship(&self.machine, &shipment, now).await?;
        }
        self.store.shipped(&shipment, now)?;
        Ok(Some(shipment.len()))
    }

    /// Says that this machine is there, though it has nothing to send.
    pub(super) async fn greet(&mut self) -> anyhow::Result<()> {
        self.there.ship(&self.machine, &Shipment::default(), now() as Millis).await?;
        Ok(self.store.note_trouble(None)?)
    }
}

/// Why there is no address to go to.
pub(super) fn no_database(world: &World) -> TeamError {
    TeamError::Address(match settings::has_useless_database(world) {
        true => "it is not of the form `postgres://user@host/name`",
        false => "none is set",
    })
}

/// What is sent where: something else is sent from the start.
fn errand(about: &About, team: &Team) -> String {
    format!("{} {} {}", about.id, team.share.join(","), team.projects.join(","))
}

fn machine(world: &World, team: &Team, store: &Store) -> Machine {
    Machine {
        id: store.machine().to_owned(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        person: team.person.clone().unwrap_or_else(|| world.login()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
