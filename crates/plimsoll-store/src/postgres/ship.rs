//! Arrival of a machine's rows. A shipment arrives as a whole or not at all, and each row is stored
//! once, however often it is sent.

use plimsoll_core::Millis;
use plimsoll_extract::save::Save;
use tokio::time::timeout;
use tokio_postgres::{Error, Transaction};

use super::column::{
    count_column, optional_without_nul, path_column, subagent_column, without_nul,
};
use super::{QUERY_TIMEOUT, TeamError, TeamStore};
use crate::{CheckpointRow, CompactionRow, ReadingRow, SessionRow, Shipment};

/// The machine that sends rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendingMachine {
    /// The unique id of the machine.
    pub id: String,
    pub host: String,
    /// The person who owns the machine.
    pub person: String,
    /// The version of plimsoll on the machine.
    pub version: String,
}

impl TeamStore {
    /// Stores a shipment of a machine in one transaction.
    pub async fn ship(
        &mut self,
        machine: &SendingMachine,
        shipment: &Shipment,
        now: Millis,
    ) -> Result<(), TeamError> {
        const TASK: &str = "ship to";
        let sent = timeout(QUERY_TIMEOUT, async {
            let transaction = self.client.transaction().await?;
            put_machine(&transaction, machine, now).await?;
            put_rows(&transaction, machine, shipment).await?;
            transaction.commit().await
        });
        let sent = sent.await.map_err(|_| TeamError::TimedOut(TASK))?;
        sent.map_err(|error| TeamError::from_query(TASK, error))
    }
}

async fn put_rows(
    to: &Transaction<'_>,
    machine: &SendingMachine,
    shipment: &Shipment,
) -> Result<(), Error> {
    let Shipment { sessions, readings, compactions, checkpoints, saves, .. } = shipment;
    if !sessions.is_empty() {
        put_sessions(to, machine, sessions).await?;
    }
    if !readings.is_empty() {
        put_readings(to, readings).await?;
    }
    if !compactions.is_empty() {
        put_compactions(to, compactions).await?;
    }
    if !checkpoints.is_empty() {
        put_checkpoints(to, machine, checkpoints).await?;
    }
    if !saves.is_empty() {
        put_saves(to, machine, saves).await?;
    }
    Ok(())
}

async fn put_machine(
    to: &Transaction<'_>,
    machine: &SendingMachine,
    now: Millis,
) -> Result<(), Error> {
    let sql = "INSERT INTO plimsoll.machines AS known (machine, host, person, version, last_seen)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (machine) DO UPDATE SET host = excluded.host, person = excluded.person,
             version = excluded.version, last_seen = greatest(known.last_seen, excluded.last_seen)";
    let SendingMachine { id, host, person, version } = machine;
    to.execute(sql, &[id, &without_nul(host), &without_nul(person), version, &now]).await.map(drop)
}

/// Collects one value of each row into an array parameter, so that one statement inserts many rows.
fn column<'r, R, T>(rows: &'r [R], value: impl Fn(&'r R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

async fn put_sessions(
    to: &Transaction<'_>,
    machine: &SendingMachine,
    rows: &[SessionRow],
) -> Result<(), Error> {
    let sql = "INSERT INTO plimsoll.sessions AS known
             (machine, session, agent, project, version, model, started, last_seen)
         SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
             $7::bigint[], $8::bigint[])
         ON CONFLICT (session) DO UPDATE SET machine = excluded.machine,
             project = coalesce(excluded.project, known.project),
             version = coalesce(excluded.version, known.version),
             model = coalesce(excluded.model, known.model),
             started = least(known.started, excluded.started),
             last_seen = greatest(known.last_seen, excluded.last_seen)
         WHERE known.last_seen < excluded.last_seen OR known.started > excluded.started
             OR known.machine <> excluded.machine
             OR known.project IS DISTINCT FROM excluded.project
             OR known.version IS DISTINCT FROM excluded.version
             OR known.model IS DISTINCT FROM excluded.model";
    to.execute(
        sql,
        &[
            &machine.id,
            &column(rows, |row| row.id.as_str()),
            &column(rows, |row| without_nul(&row.agent)),
            &column(rows, |row| row.project.as_deref().map(path_column)),
            &column(rows, |row| optional_without_nul(row.version.as_deref())),
            &column(rows, |row| optional_without_nul(row.model.as_deref())),
            &column(rows, |row| row.started),
            &column(rows, |row| row.last_seen),
        ],
    )
    .await
    .map(drop)
}

async fn put_readings(to: &Transaction<'_>, rows: &[ReadingRow]) -> Result<(), Error> {
    let sql = "INSERT INTO plimsoll.readings AS known
             (session, subagent, message, time, model, prompt_tokens, output_tokens, turn)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
             $6::bigint[], $7::bigint[], $8::bigint[])
         ON CONFLICT (session, subagent, message) DO UPDATE
         SET output_tokens = excluded.output_tokens
         WHERE excluded.output_tokens > known.output_tokens";
    to.execute(
        sql,
        &[
            &column(rows, |row| row.session.as_str()),
            &column(rows, |row| subagent_column(row.subagent.as_ref())),
            &column(rows, |row| without_nul(&row.message)),
            &column(rows, |row| row.time),
            &column(rows, |row| without_nul(&row.model)),
            &column(rows, |row| count_column(row.prompt_tokens)),
            &column(rows, |row| count_column(row.output_tokens)),
            &column(rows, |row| i64::from(row.turn)),
        ],
    )
    .await
    .map(drop)
}

async fn put_compactions(to: &Transaction<'_>, rows: &[CompactionRow]) -> Result<(), Error> {
    let sql = "INSERT INTO plimsoll.compactions (session, subagent, entry, time, model, version,
             automatic, tokens_before, tokens_after)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[],
             $6::text[], $7::boolean[], $8::bigint[], $9::bigint[])
         ON CONFLICT (session, subagent, entry) DO NOTHING";
    to.execute(
        sql,
        &[
            &column(rows, |row| row.session.as_str()),
            &column(rows, |row| subagent_column(row.subagent.as_ref())),
            &column(rows, |row| without_nul(&row.entry)),
            &column(rows, |row| row.time),
            &column(rows, |row| optional_without_nul(row.model.as_deref())),
            &column(rows, |row| optional_without_nul(row.version.as_deref())),
            &column(rows, |row| row.automatic),
            &column(rows, |row| row.tokens_before.map(count_column)),
            &column(rows, |row| row.tokens_after.map(count_column)),
        ],
    )
    .await
    .map(drop)
}

async fn put_checkpoints(
    to: &Transaction<'_>,
    machine: &SendingMachine,
    rows: &[CheckpointRow],
) -> Result<(), Error> {
    let sql =
        "INSERT INTO plimsoll.checkpoints (machine, session, checkpoint, path, project, created,
             occasion, iteration, partial, used_tokens, window_tokens, summary, body)
         SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[],
             $7::text[], $8::bigint[], $9::boolean[], $10::bigint[], $11::bigint[], $12::text[],
             $13::text[])
         ON CONFLICT (session, checkpoint) DO NOTHING";
    to.execute(
        sql,
        &[
            &machine.id,
            &column(rows, |row| without_nul(&row.session)),
            &column(rows, |row| without_nul(&row.id)),
            &column(rows, |row| path_column(&row.path)),
            &column(rows, |row| path_column(&row.project)),
            &column(rows, |row| row.created),
            &column(rows, |row| without_nul(&row.occasion)),
            &column(rows, |row| count_column(row.iteration)),
            &column(rows, |row| row.partial),
            &column(rows, |row| row.used.map(count_column)),
            &column(rows, |row| row.window.map(count_column)),
            &column(rows, |row| without_nul(&row.summary)),
            &column(rows, |row| without_nul(&row.body)),
        ],
    )
    .await
    .map(drop)
}

/// Inserts saves, or updates their late fields: the session, checkpoint and full hash of a commit
/// become known after its save.
async fn put_saves(
    to: &Transaction<'_>,
    machine: &SendingMachine,
    rows: &[Save],
) -> Result<(), Error> {
    let sql =
        "INSERT INTO plimsoll.saves AS known (machine, id, created, environment, kind, project,
             session, checkpoint, commit_hash, task, context, blockers, next_steps, tags,
             key_artifacts)
         SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[],
             $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
             $14::text[], $15::text[])
         ON CONFLICT (id) DO UPDATE SET project = excluded.project, session = excluded.session,
             checkpoint = excluded.checkpoint, commit_hash = excluded.commit_hash
         WHERE known.project IS DISTINCT FROM excluded.project
             OR known.session IS DISTINCT FROM excluded.session
             OR known.checkpoint IS DISTINCT FROM excluded.checkpoint
             OR known.commit_hash IS DISTINCT FROM excluded.commit_hash";
    to.execute(
        sql,
        &[
            &machine.id,
            &column(rows, |save| without_nul(&save.id)),
            &column(rows, |save| save.created),
            &column(rows, |save| save.what.environment.as_str()),
            &column(rows, |save| save.what.kind.label()),
            &column(rows, |save| optional_without_nul(save.what.project.as_deref())),
            &column(rows, |save| optional_without_nul(save.what.session.as_deref())),
            &column(rows, |save| optional_without_nul(save.what.checkpoint.as_deref())),
            &column(rows, |save| optional_without_nul(save.what.commit.as_deref())),
            &column(rows, |save| without_nul(&save.what.task)),
            &column(rows, |save| optional_without_nul(save.what.context.as_deref())),
            &column(rows, |save| optional_without_nul(save.what.blockers.as_deref())),
            &column(rows, |save| optional_without_nul(save.what.next_steps.as_deref())),
            &column(rows, |save| without_nul(&save.what.tags.join("\n"))),
            &column(rows, |save| without_nul(&save.what.key_artifacts.join("\n"))),
        ],
    )
    .await
    .map(drop)
}
