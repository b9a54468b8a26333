//! Everybody's sessions: a list of them by pages, one of them over time, and the machines they are on.

use std::path::PathBuf;

use plimsoll_core::Millis;
use plimsoll_core::event::SessionId;
use tokio_postgres::Row;

use super::row::{get_count, get_tokens, session};
use super::{TeamError, TeamStore};
use crate::{LastCheckpoint, OverviewRow, Point, PointRow};

/// Something of somebody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theirs<T> {
    /// Whose it is.
    pub person: String,
    /// The machine it is on, as people call it.
    pub host: String,
    /// What it is.
    pub it: T,
}

impl<T> Theirs<T> {
    /// What a row holds, with whose it is.
    pub(super) fn of(row: &Row, it: T) -> Self {
        let name = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
        Self { person: name("person"), host: name("host"), it }
    }
}

/// A machine of the team's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRow {
    /// Its name, which no other has.
    pub id: String,
    /// How many sessions were held on it.
    pub sessions: u64,
    /// The version of plimsoll there.
    pub version: String,
    /// When something last arrived from there.
    pub last_seen: Millis,
}

/// A session on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The session.
    pub session: SessionId,
    /// The project it works on, as that is called there.
    pub project: Option<PathBuf>,
    /// The machine, by the name that no other has.
    pub machine: String,
}

impl TeamStore {
    /// The machines of the team, those last heard of first.
    pub async fn machines(&self) -> Result<Vec<Theirs<MachineRow>>, TeamError> {
        let sql = "SELECT machines.*, (SELECT count(*) FROM plimsoll.sessions
                 WHERE sessions.machine = machines.machine) AS sessions
             FROM plimsoll.machines ORDER BY last_seen DESC, machine";
        let rows = self.all("list the machines of", sql, &[]).await?;
        let machine = |row: &Row| MachineRow {
            id: row.get("machine"),
            sessions: get_count(row, "sessions"),
            version: row.get("version"),
            last_seen: row.get("last_seen"),
        };
        Ok(rows.iter().map(|row| Theirs::of(row, machine(row))).collect())
    }

    /// Sessions with how they stand, those last heard of first: at most `limit`, after `skipped` of
    /// them; of one machine only, if it is named.
    pub async fn overview(
        &self,
        machine: Option<&str>,
        skipped: u32,
        limit: u32,
    ) -> Result<Vec<Theirs<OverviewRow>>, TeamError> {
        let condition = if machine.is_some() { "machine = $3" } else { "$3::text IS NULL" };
        let page = format!(
            "SELECT * FROM plimsoll.sessions WHERE {condition}
             ORDER BY last_seen DESC, session LIMIT $1 OFFSET $2"
        );
        let sql = format!("{} ORDER BY last_seen DESC, session", standing(&page));
        let (limit, skipped) = (i64::from(limit), i64::from(skipped));
        let rows = self.all("list the sessions of", &sql, &[&limit, &skipped, &machine]).await?;
        Ok(rows.iter().filter_map(|row| Some(Theirs::of(row, overview(row)?))).collect())
    }

    /// How many sessions there are, or are of one machine.
    pub async fn session_count(&self, machine: Option<&str>) -> Result<u64, TeamError> {
        let condition = if machine.is_some() { "machine = $1" } else { "$1::text IS NULL" };
        let sql = format!("SELECT count(*) FROM plimsoll.sessions WHERE {condition}");
        let row = self.one("count the sessions of", &sql, &[&machine]).await?;
        Ok(row.map_or(0, |row| get_count(&row, "count")))
    }

    /// A session with how it stands.
    pub async fn session(&self, id: &SessionId) -> Result<Option<Theirs<OverviewRow>>, TeamError> {
        let sql = standing("SELECT * FROM plimsoll.sessions WHERE session = $1");
        let row = self.one("read from", &sql, &[&id.as_str()]).await?;
        Ok(row.and_then(|row| Some(Theirs::of(&row, overview(&row)?))))
    }

    /// The sessions whose names begin so: at most `limit`, one that is called exactly so first.
    pub async fn sessions_named(
        &self,
        beginning: &str,
        limit: u32,
    ) -> Result<Vec<SessionId>, TeamError> {
        let sql = "SELECT session FROM plimsoll.sessions
             WHERE left(session, length($1)) = $1
                OR substr(session, 15, 1) = '7' AND right(session, length($1)) = $1
             ORDER BY session <> $1, session LIMIT $2";
        let rows = self.all("look for sessions in", sql, &[&beginning, &i64::from(limit)]).await?;
        Ok(rows.iter().filter_map(|row| SessionId::new(row.get::<_, &str>("session"))).collect())
    }

    /// The sessions of all machines but `except` that were heard of after `since`.
    pub async fn sessions_since(
        &self,
        except: &str,
        since: Millis,
    ) -> Result<Vec<Elsewhere>, TeamError> {
        let sql = "SELECT session, project, machine FROM plimsoll.sessions
             WHERE last_seen > $2 AND machine <> $1 ORDER BY last_seen DESC, session";
        let rows = self.all("look for sessions in", sql, &[&except, &since]).await?;
        let found = |row: &Row| {
            let session = SessionId::new(row.get::<_, &str>("session"))?;
            let project = row.get::<_, Option<&str>>("project").map(PathBuf::from);
            Some(Elsewhere { session, project, machine: row.get("machine") })
        };
        Ok(rows.iter().filter_map(found).collect())
    }

    /// The curve of a session's windows, oldest first: readings, and compactions.
    pub async fn series(&self, id: &SessionId) -> Result<Vec<PointRow>, TeamError> {
        let sql =
            "SELECT time, subagent, prompt_tokens + output_tokens, NULL::boolean, NULL::bigint,
                 NULL::bigint
             FROM plimsoll.readings WHERE session = $1
             UNION ALL
             SELECT time, subagent, NULL, automatic, tokens_before, tokens_after
             FROM plimsoll.compactions WHERE session = $1";
        let mut rows = self.all("list the readings of", sql, &[&id.as_str()]).await?;
        // The index gives them nearly in order, so that this costs less than a sort over there.
        rows.sort_by_key(|row| (row.get::<_, Millis>(0), row.get::<_, Option<bool>>(3)));
        Ok(rows.iter().map(point).collect())
    }
}

/// How the sessions of a query stand, and whose they are. The last reading is asked for through
/// `readings_by_time`, whatever the number of readings.
fn standing(sessions: &str) -> String {
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
        session: session(row)?,
        used: get_tokens(row, "used"),
        largest: get_tokens(row, "largest").unwrap_or(0),
        compactions: get_count(row, "compactions"),
        checkpoint: last.zip(created).map(|(id, created)| LastCheckpoint { id, created }),
    })
}

/// A point by the places of its columns: there may be many, and their names need not be looked up.
fn point(row: &Row) -> PointRow {
    let tokens = |column: usize| row.get::<_, Option<i64>>(column)?.try_into().ok();
    let point = match tokens(2) {
        Some(used) => Point::Reading { used },
        None => Point::Compaction {
            automatic: row.get::<_, Option<bool>>(3).unwrap_or_default(),
            tokens_before: tokens(4),
            tokens_after: tokens(5),
        },
    };
    PointRow { subagent: SessionId::new(row.get::<_, &str>(1)), time: row.get(0), point }
}
