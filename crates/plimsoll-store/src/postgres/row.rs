//! How our values are kept in columns.

use std::path::Path;

use plimsoll_core::Tokens;
use plimsoll_core::event::SessionId;
use tokio_postgres::Row;

use crate::SessionRow;

/// A text as the database takes it, which is without NUL.
pub(super) fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The same of a text that may not be there.
pub(super) fn some_text(it: Option<&str>) -> Option<String> {
    it.map(text)
}

/// A path as people read it. Nobody opens it: it is one of another machine.
pub(super) fn path(path: &Path) -> String {
    text(&path.to_string_lossy())
}

/// A count read from somebody's file may be absurd; it must not keep the rest from being stored.
pub(super) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A subagent in a column that is part of a key.
pub(super) fn subagent(subagent: Option<&SessionId>) -> &str {
    subagent.map_or("", SessionId::as_str)
}

/// What [`count`] has put there.
pub(super) fn get_count(row: &Row, column: &str) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

/// The same of a column that may be empty.
pub(super) fn get_tokens(row: &Row, column: &str) -> Option<Tokens> {
    row.get::<_, Option<i64>>(column).and_then(|count| u64::try_from(count).ok())
}

/// A session; nothing if somebody has put there what is no name of one.
pub(super) fn session(row: &Row) -> Option<SessionRow> {
    Some(SessionRow {
        id: SessionId::new(row.get::<_, &str>("session"))?,
        agent: row.get("agent"),
        project: row.get::<_, Option<&str>>("project").map(Into::into),
        transcript: None,
        version: row.get("version"),
        model: row.get("model"),
        started: row.get("started"),
        last_seen: row.get("last_seen"),
    })
}
