//! The store that a team shares, in a PostgreSQL database. Async: whoever asks it waits for a network.
//!
//! Each machine works on its own store and sends what may leave it (`ship`); here it is asked for what
//! all of them know. One connection carries any number of queries at once. Names are qualified, and the
//! SQL is plain, so that a pooler or another engine that speaks the protocol does not matter.

mod address;
mod board;
mod checkpoints;
mod error;
mod migrations;
mod retention;
mod row;
mod saves;
mod sessions;
mod ship;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Row};

use self::address::Address;
pub use self::board::{ClaimRow, Mail};
pub use self::error::TeamError;
pub use self::migrations::Migrated;
pub use self::retention::Pruned;
pub use self::sessions::{Elsewhere, MachineRow, Theirs};
pub use self::ship::Machine;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long anything that is asked may take.
const ANSWER: Duration = Duration::from_secs(30);

/// A connection to a team's database.
#[derive(Debug)]
pub struct TeamStore {
    client: Client,
}

/// What a database tells of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name, which no other has.
    pub id: String,
    /// How many migrations it has seen.
    pub version: i32,
    /// How long things are kept there; for ever if nobody has said.
    pub retention_days: Option<u32>,
}

/// Rings when others notify us: once, however often they did since it was last heard. What they say is
/// not looked at.
pub type Bell = Arc<Notify>;

impl TeamStore {
    /// Connects to the database at `url`, whose tables must be there and be such as we know.
    pub async fn open(url: &str) -> Result<(Self, About), TeamError> {
        let (store, _) = Self::connect(url).await?;
        let about = store.about().await?;
        Ok((store, about))
    }

    /// Connects, whatever is there. The bell rings once it listens.
    pub async fn connect(url: &str) -> Result<(Self, Bell), TeamError> {
        let address = Address::parse(url)?;
        let connected = timeout(CONNECT, connect(&address)).await;
        let (client, bell) = connected.map_err(|_| TeamError::Slow("connect to"))??;
        Ok((Self { client }, bell))
    }

    /// Whether an address makes sense, as far as that can be told from here.
    pub fn check(url: &str) -> Result<(), TeamError> {
        Address::parse(url).map(drop)
    }

    /// Whether the connection is gone.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn all(
        &self,
        task: &'static str,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, TeamError> {
        let answered = timeout(ANSWER, self.client.query(sql, params)).await;
        let answered = answered.map_err(|_| TeamError::Slow(task))?;
        answered.map_err(|error| TeamError::of(task, error))
    }

    async fn one(
        &self,
        task: &'static str,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>, TeamError> {
        Ok(self.all(task, sql, params).await?.into_iter().next())
    }
}

async fn connect(address: &Address) -> Result<(Client, Bell), TeamError> {
    let unreachable = TeamError::unreachable;
    match address.tls()? {
        None => {
            let (client, connection) = address.config.connect(NoTls).await.map_err(unreachable)?;
            Ok((client, drive(connection)))
        }
        Some(tls) => {
            let (client, connection) = address.config.connect(tls).await.map_err(unreachable)?;
            Ok((client, drive(connection)))
        }
    }
}

/// Keeps a connection going as long as it lasts.
fn drive<S, T>(mut connection: Connection<S, T>) -> Bell
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bell = Bell::default();
    let rung = bell.clone();
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    tokio::spawn(async move {
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(_) = message {
                rung.notify_one();
            }
        }
    });
    bell
}
