//! A connection to the team database that sends rows.

use std::time::Duration;

use plimsoll_core::Millis;
use plimsoll_core::settings::{Shared, Team};
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::settings;
use plimsoll_engine::world::{World, now};
use plimsoll_store::postgres::{DatabaseInfo, Notifications, SendingMachine, TeamError, TeamStore};
use plimsoll_store::{Shipment, ShipmentFilter, Store};

/// Rows per shipment: few enough to let other writers in between.
const BATCH: u32 = 500;
/// Time limit for waiting on other writers of the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// An open connection to the team database.
pub(super) struct TeamConnection {
    pub(super) database: TeamStore,
    pub(super) about: DatabaseInfo,
    /// Notifies when a message is posted.
    pub(super) bell: Notifications,
    pub(super) machine: SendingMachine,
    pub(super) store: Store,
}

/// Opens this machine's store.
pub(super) fn open_store(world: &World) -> anyhow::Result<Store> {
    Ok(Ingester::open(world, STORE_TIMEOUT, None)?.store)
}

impl TeamConnection {
    /// Connects, and makes the store record changed rows from now on.
    pub(super) async fn open(world: &World, team: &Team) -> anyhow::Result<Self> {
        let url = team.database_url.as_ref().ok_or_else(|| no_database(world))?;
        let (there, bell) = TeamStore::connect(url.whole()).await?;
        let about = there.database_info().await?;
        let store = open_store(world)?;
        store.start_shipping(&shipping_target(&about, team))?;
        if team.shares(Shared::Board) {
            there.listen().await?;
        }
        let machine = machine(world, team, &store);
        Ok(Self { database: there, about, bell, machine, store })
    }

    /// Sends the next batch of waiting rows and returns its size. `None` if no rows are waiting.
    pub(super) async fn ship(
        &mut self,
        world: &World,
        team: &Team,
    ) -> anyhow::Result<Option<usize>> {
        let now = now() as Millis;
        let home = &world.paths.home;
        let allowed = ShipmentFilter {
            readings: team.shares(Shared::Readings),
            checkpoints: team.shares(Shared::Checkpoints),
            saves: team.shares(Shared::Saves),
            allows_project: &|project| team.sends(project, home),
            since: self.about.retention_start(now),
        };
        let Some(shipment) = self.store.next_shipment(&allowed, BATCH)? else { return Ok(None) };
        if !shipment.is_empty() {
            self.database.ship(&self.machine, &shipment, now).await?;
        }
        self.store.mark_shipped(&shipment, now)?;
        Ok(Some(shipment.len()))
    }

    /// Updates this machine's entry in the team database, without sending rows.
    pub(super) async fn announce(&mut self) -> anyhow::Result<()> {
        self.database.ship(&self.machine, &Shipment::default(), now() as Millis).await?;
        Ok(self.store.set_shipping_error(None)?)
    }
}

/// Returns the error for a missing or malformed database address.
pub(super) fn no_database(world: &World) -> TeamError {
    TeamError::InvalidAddress(match settings::has_useless_database(world) {
        true => "it is not of the form `postgres://user@host/name`",
        false => "none is set",
    })
}

/// Identifies the database and what is shared with it. When this changes, the store sends
/// everything again.
fn shipping_target(about: &DatabaseInfo, team: &Team) -> String {
    format!("{} {} {}", about.id, team.share.join(","), team.projects.join(","))
}

fn machine(world: &World, team: &Team, store: &Store) -> SendingMachine {
    SendingMachine {
        id: store.machine_id().to_owned(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        person: team.person.clone().unwrap_or_else(|| world.login()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
