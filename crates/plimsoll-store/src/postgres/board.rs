//! Messages to sessions on other machines, and the claims of all machines.

use std::path::{Path, PathBuf};

use plimsoll_core::Millis;
use plimsoll_extract::board::PathClaim;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::column::{path_column, without_nul};
use super::{TeamError, TeamStore, WithOwner};

/// A message to a session on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMessage {
    pub id: String,
    /// The id of the receiving session.
    pub session: String,
    /// The message in the format of an inbox file.
    pub body: String,
    /// The time after which the message is no longer delivered.
    pub expires: Millis,
}

pub type ClaimRow = WithOwner<PathClaim>;

/// The notification channel for new messages.
const CHANNEL: &str = "plimsoll_board";

/// The value of `until` for a claim that another machine ended. It is earlier than the end of any
/// claim that was released or expired.
const ENDED_REMOTELY: Millis = 0;

impl TeamStore {
    /// Subscribes to notifications of new messages.
    pub async fn listen(&self) -> Result<(), TeamError> {
        let heard = self.client.batch_execute(&format!("LISTEN {CHANNEL}")).await;
        heard.map_err(|error| TeamError::from_query("listen to", error))
    }

    /// Stores messages of a machine and notifies the others. A message that is posted again is
    /// stored once.
    pub async fn post_messages(
        &self,
        machine: &str,
        mail: &[TeamMessage],
    ) -> Result<(), TeamError> {
        let sql = "INSERT INTO plimsoll.messages (machine, message, session, body, expires)
             SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])
             ON CONFLICT (message) DO NOTHING";
        let column = |value: fn(&TeamMessage) -> String| mail.iter().map(value).collect::<Vec<_>>();
        let (ids, to) = (column(|it| it.id.clone()), column(|it| it.session.clone()));
        let body = column(|it| without_nul(&it.body));
        let expires: Vec<Millis> = mail.iter().map(|it| it.expires).collect();
        self.query_all("post to", sql, &[&machine, &ids, &to, &body, &expires]).await?;
        self.query_all("post to", "SELECT pg_notify($1, '')", &[&CHANNEL]).await.map(drop)
    }

    /// Returns at most 1000 undelivered messages for sessions of a machine, oldest first.
    pub async fn undelivered_messages(
        &self,
        machine: &str,
        now: Millis,
    ) -> Result<Vec<TeamMessage>, TeamError> {
        let sql = "SELECT messages.message, messages.session, messages.body, messages.expires
             FROM plimsoll.messages JOIN plimsoll.sessions ON sessions.session = messages.session
             WHERE messages.delivered IS NULL AND messages.expires > $2 AND sessions.machine = $1
             ORDER BY messages.message LIMIT 1000";
        let rows = self.query_all("take messages from", sql, &[&machine, &now]).await?;
        let mail = |row: &Row| TeamMessage {
            id: row.get("message"),
            session: row.get("session"),
            body: row.get("body"),
            expires: row.get("expires"),
        };
        Ok(rows.iter().map(mail).collect())
    }

    /// Marks messages as delivered to the inboxes of their sessions.
    pub async fn mark_delivered(&self, ids: &[String], now: Millis) -> Result<(), TeamError> {
        let sql = "UPDATE plimsoll.messages SET delivered = $2 WHERE message = ANY ($1::text[])";
        self.query_all("take messages from", sql, &[&ids, &now]).await.map(drop)
    }

    /// Replaces the claims of a machine: claims that are not in `claims` end.
    pub async fn put_claims(
        &self,
        machine: &str,
        claims: &[PathClaim],
        now: Millis,
    ) -> Result<(), TeamError> {
        const TASK: &str = "claim in";
        let paths: Vec<String> = claims.iter().map(|claim| path_column(&claim.path)).collect();
        let holders: Vec<String> = claims.iter().map(|claim| without_nul(&claim.holder)).collect();
        let since: Vec<Millis> = claims.iter().map(|claim| claim.since).collect();
        let until: Vec<Millis> = claims.iter().map(|claim| claim.until).collect();
        // A released claim expires instead of being deleted, so the role needs no right to delete.
        let sql = "UPDATE plimsoll.claims SET until = $3
             WHERE machine = $1 AND until > $3 AND NOT path = ANY ($2::text[])";
        self.query_all(TASK, sql, &[&machine, &paths, &now]).await?;
        let sql = "INSERT INTO plimsoll.claims AS known (machine, path, holder, since, until)
             SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[])
             ON CONFLICT (machine, path) DO UPDATE
             SET holder = excluded.holder, since = excluded.since, until = excluded.until
             WHERE (known.holder <> excluded.holder OR known.until <> excluded.until)
                 AND (known.until <> $6 OR known.since <> excluded.since)";
        let params: &[&(dyn ToSql + Sync)] =
            &[&machine, &paths, &holders, &since, &until, &ENDED_REMOTELY];
        self.query_all(TASK, sql, params).await.map(drop)
    }

    /// Ends a claim of a machine other than `machine`, identified by its host name. That machine
    /// finds out through [`Self::ended_claims`].
    pub async fn end_claim(
        &self,
        machine: &str,
        at: &Path,
        holder: &str,
        host: &str,
    ) -> Result<(), TeamError> {
        let sql = "UPDATE plimsoll.claims SET until = $5 FROM plimsoll.machines
             WHERE machines.machine = claims.machine AND claims.machine <> $1
                 AND path = $2 AND holder = $3 AND host = $4";
        let params: &[&(dyn ToSql + Sync)] =
            &[&machine, &path_column(at), &holder, &host, &ENDED_REMOTELY];
        self.query_all("end a claim in", sql, params).await.map(drop)
    }

    /// Returns the claims of a machine that other machines ended: path and start of each.
    pub async fn ended_claims(&self, machine: &str) -> Result<Vec<(PathBuf, Millis)>, TeamError> {
        let sql = "SELECT path, since FROM plimsoll.claims WHERE machine = $1 AND until = $2";
        let rows = self.query_all("list the claims of", sql, &[&machine, &ENDED_REMOTELY]).await?;
        Ok(rows.iter().map(|row| (row.get::<_, &str>("path").into(), row.get("since"))).collect())
    }

    /// Returns the active claims of all machines except `except`, ordered by path.
    pub async fn claims(&self, except: &str, now: Millis) -> Result<Vec<ClaimRow>, TeamError> {
        let sql = "SELECT claims.*, person, host FROM plimsoll.claims
             LEFT JOIN plimsoll.machines USING (machine)
             WHERE until > $2 AND machine <> $1 ORDER BY path, machine";
        let rows = self.query_all("list the claims of", sql, &[&except, &now]).await?;
        let claim = |row: &Row| PathClaim {
            path: row.get::<_, &str>("path").into(),
            holder: row.get("holder"),
            since: row.get("since"),
            until: row.get("until"),
        };
        Ok(rows.iter().map(|row| WithOwner::from_row(row, claim(row))).collect())
    }
}
