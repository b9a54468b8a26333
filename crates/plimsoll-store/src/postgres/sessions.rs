//! Queries for the sessions of all machines: a paged list, one session over time, and the machines.

use std::path::PathBuf;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use tokio_postgres::Row;

use super::column::{get_count, get_tokens, session_from_row};
use super::{TeamError, TeamStore};
use crate::{CurvePoint, CurvePointRow, LastCheckpoint, OverviewRow, RemoteSession};

/// A row with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithOwner<T> {
    /// The person who owns the machine.
    pub person: String,
    /// The host name of the machine.
    pub host: String,
    /// The row itself.
    pub value: T,
}

impl<T> WithOwner<T> {
    /// Adds the owner in `row` to a value.
    pub(super) fn from_row(row: &Row, value: T) -> Self {
        let name = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
        Self { person: name("person"), host: name("host"), value }
    }
}

/// A machine of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRow {
    /// The unique id of the machine.
    pub id: String,
    /// The number of sessions on the machine.
    pub sessions: u64,
    /// The version of plimsoll on the machine.
    pub version: String,
    /// The time of the last arrival from the machine.
    pub last_seen: Millis,
}

impl TeamStore {
    /// Returns the machines of the team, the most recently active first.
    pub async fn machines(&self) -> Result<Vec<WithOwner<MachineRow>>, TeamError> {
        let sql = "SELECT machines.*, (SELECT count(*) FROM plimsoll.sessions
                 WHERE sessions.machine = machines.machine) AS sessions
             FROM plimsoll.machines ORDER BY last_seen DESC, machine";
        let rows = self.query_all("list the machines of", sql, &[]).await?;
        let machine = |row: &Row| MachineRow {
            id: row.get("machine"),
            sessions: get_count(row, "sessions"),
            version: row.get("version"),
            last_seen: row.get("last_seen"),
        };
        Ok(rows.iter().map(|row| WithOwner::from_row(row, machine(row))).collect())
    }

    /// Returns one page of the sessions and their current state, the most recently active first: at
    /// most `limit` after the first `skipped`. Covers one machine if `machine` is given.
    pub async fn overview(
        &self,
        machine: Option<&str>,
        skipped: u32,
        limit: u32,
    ) -> Result<Vec<WithOwner<OverviewRow>>, TeamError> {
        let condition = if machine.is_some() { "machine = $3" } else { "$3::text IS NULL" };
        let page = format!(
            "SELECT * FROM plimsoll.sessions WHERE {condition}
             ORDER BY last_seen DESC, session LIMIT $1 OFFSET $2"
        );
        let sql = format!("{} ORDER BY last_seen DESC, session", with_session_state(&page));
        let (limit, skipped) = (i64::from(limit), i64::from(skipped));
        let rows =
            self.query_all("list the sessions of", &sql, &[&limit, &skipped, &machine]).await?;
        Ok(rows.iter().filter_map(|row| Some(WithOwner::from_row(row, overview(row)?))).collect())
    }

    /// Returns the number of sessions, of one machine or of all.
    pub async fn session_count(&self, machine: Option<&str>) -> Result<u64, TeamError> {
        let condition = if machine.is_some() { "machine = $1" } else { "$1::text IS NULL" };
        let sql = format!("SELECT count(*) FROM plimsoll.sessions WHERE {condition}");
        let row = self.query_one("count the sessions of", &sql, &[&machine]).await?;
        Ok(row.map_or(0, |row| get_count(&row, "count")))
    }

    /// Returns a session and its current state.
    pub async fn session(
        &self,
        id: &SessionId,
    ) -> Result<Option<WithOwner<OverviewRow>>, TeamError> {
        let sql = with_session_state("SELECT * FROM plimsoll.sessions WHERE session = $1");
        let row = self.query_one("read from", &sql, &[&id.as_str()]).await?;
        Ok(row.and_then(|row| Some(WithOwner::from_row(&row, overview(&row)?))))
    }

    /// Returns at most `limit` sessions whose ids begin with `beginning`, an exact match first. Ids
    /// of version 7 may also end with it, because they begin with the time and are much alike
    /// there.
    pub async fn sessions_matching_id(
        &self,
        beginning: &str,
        limit: u32,
    ) -> Result<Vec<SessionId>, TeamError> {
        let sql = "SELECT session FROM plimsoll.sessions
             WHERE left(session, length($1)) = $1
                OR substr(session, 15, 1) = '7'
                    AND right(split_part(session, '@', 1), length($1)) = $1
             ORDER BY session <> $1, session LIMIT $2";
        let rows =
            self.query_all("look for sessions in", sql, &[&beginning, &i64::from(limit)]).await?;
        Ok(rows.iter().filter_map(|row| SessionId::new(row.get::<_, &str>("session"))).collect())
    }

    /// Returns the sessions of all machines except `except` with activity after `since`.
    pub async fn remote_sessions_since(
        &self,
        except: &str,
        since: Millis,
    ) -> Result<Vec<RemoteSession>, TeamError> {
        let sql = "SELECT session, project, machine FROM plimsoll.sessions
             WHERE last_seen > $2 AND machine <> $1 ORDER BY last_seen DESC, session";
        let rows = self.query_all("look for sessions in", sql, &[&except, &since]).await?;
        let found = |row: &Row| {
            let session = SessionId::new(row.get::<_, &str>("session"))?;
            let project = row.get::<_, Option<&str>>("project").map(PathBuf::from);
            Some(RemoteSession { session, project, machine: row.get("machine") })
        };
        Ok(rows.iter().filter_map(found).collect())
    }

    /// Returns the readings and compactions of a session, oldest first.
    pub async fn series(&self, id: &SessionId) -> Result<Vec<CurvePointRow>, TeamError> {
        let sql =
            "SELECT time, subagent, prompt_tokens + output_tokens, NULL::boolean, NULL::bigint,
                 NULL::bigint
             FROM plimsoll.readings WHERE session = $1
             UNION ALL
             SELECT time, subagent, NULL, automatic, tokens_before, tokens_after
             FROM plimsoll.compactions WHERE session = $1";
        let mut rows = self.query_all("list the readings of", sql, &[&id.as_str()]).await?;
        // The index returns the rows nearly sorted, so sorting here costs less than sorting in the
        // database.
        rows.sort_by_key(|row| (row.get::<_, Millis>(0), row.get::<_, Option<bool>>(3)));
        Ok(rows.iter().map(point).collect())
    }
}

/// Wraps a query for sessions in one that adds their current state and owner. The index
/// `readings_by_time` finds the last reading, however many readings there are.
fn with_session_state(sessions: &str) -> String {
    format!(
        "SELECT page.*, person, host,
             coalesce(
                 (SELECT prompt_tokens + output_tokens FROM plimsoll.readings AS own
                     WHERE own.session = page.session AND own.subagent = '' AND own.time > coalesce(
                         (SELECT max(before.time) FROM plimsoll.compactions AS before
                             WHERE before.session = page.session AND before.subagent = ''), -1)
                     ORDER BY own.time DESC LIMIT 1),
                 (SELECT tokens_after FROM plimsoll.compactions AS own
                     WHERE own.session = page.session AND own.subagent = ''
                     ORDER BY own.time DESC LIMIT 1)) AS used,
             (SELECT max(prompt_tokens) FROM plimsoll.readings AS own
                 WHERE own.session = page.session AND own.subagent = '') AS largest,
             (SELECT count(*) FROM plimsoll.compactions AS own
                 WHERE own.session = page.session AND own.subagent = '') AS compactions,
             (SELECT checkpoint FROM plimsoll.checkpoints AS own WHERE own.session = page.session
                 ORDER BY created DESC, iteration DESC LIMIT 1) AS last_checkpoint,
             (SELECT created FROM plimsoll.checkpoints AS own WHERE own.session = page.session
                 ORDER BY created DESC, iteration DESC LIMIT 1) AS last_created
         FROM ({sessions}) AS page
         LEFT JOIN (SELECT machine, person, host FROM plimsoll.machines) AS machines USING (machine)"
    )
}

fn overview(row: &Row) -> Option<OverviewRow> {
    let last: Option<String> = row.get("last_checkpoint");
    let created: Option<Millis> = row.get("last_created");
    Some(OverviewRow {
        session: session_from_row(row)?,
        used: get_tokens(row, "used"),
        largest: get_tokens(row, "largest").unwrap_or(0),
        compactions: get_count(row, "compactions"),
        checkpoint: last.zip(created).map(|(id, created)| LastCheckpoint { id, created }),
    })
}

/// Reads a point by column position: looking up names would be slow for many rows.
fn point(row: &Row) -> CurvePointRow {
    let tokens = |column: usize| row.get::<_, Option<i64>>(column)?.try_into().ok();
    let point = match tokens(2) {
        Some(used) => CurvePoint::Reading { used },
        None => CurvePoint::Compaction {
            automatic: row.get::<_, Option<bool>>(3).unwrap_or_default(),
            tokens_before: tokens(4),
            tokens_after: tokens(5),
        },
    };
    CurvePointRow { subagent: SessionId::new(row.get::<_, &str>(1)), time: row.get(0), point }
}
