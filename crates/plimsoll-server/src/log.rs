//! The server's log on stderr: one line per request, without bodies, query strings or tokens.
//!
//! Lines are buffered, because one system call per request would cost as much as the answer.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use plimsoll_core::Millis;
use plimsoll_core::time::utc_second;
use plimsoll_engine::clock;
use plimsoll_engine::world::now;
use serde::Serialize;

/// Format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Plain text for people, with local times.
    Text,
    /// One JSON object per line, with times in UTC.
    Json,
}

impl LogFormat {
    fn timestamp(self, moment: Millis) -> String {
        match self {
            LogFormat::Text => clock::exact(moment),
            LogFormat::Json => utc_second(moment),
        }
    }
}

/// Buffered log, written when the buffer is full or on request. Clones share the buffer.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    form: LogFormat,
    lines: Arc<Mutex<Vec<u8>>>,
}

/// Buffer size in bytes that triggers a write.
const FLUSH_BYTES: usize = 16 << 10;

#[derive(Serialize)]
struct RequestRecord<'a> {
    time: &'a str,
    method: &'a str,
    route: &'a str,
    status: u16,
    millis: f64,
}

#[derive(Serialize)]
struct MessageRecord<'a> {
    time: &'a str,
    message: &'a str,
}

impl Log {
    pub(crate) fn new(form: LogFormat) -> Self {
        Self { form, lines: Arc::default() }
    }

    /// Logs an answered request.
    pub(crate) fn request(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let millis = took.as_micros() as f64 / 1000.0;
        let (time, method) = (&self.form.timestamp(now() as Millis), method.as_str());
        self.put(|lines| match self.form {
            LogFormat::Json => {
                let line = RequestRecord { time, method, route, status, millis };
                serde_json::to_writer(lines, &line).map_err(Into::into)
            }
            LogFormat::Text => {
                write!(lines, "{time} {status} {method} {route} {millis:.1} ms")
            }
        });
    }

    /// Logs a message and writes the buffer at once.
    pub(crate) fn message(&self, message: &str) {
        let time = &self.form.timestamp(now() as Millis);
        let message: String = message
            .chars()
            .filter(|character| plimsoll_core::policy::is_plain(*character))
            .collect();
        self.put(|lines| match self.form {
            LogFormat::Json => {
                serde_json::to_writer(lines, &MessageRecord { time, message: &message })
                    .map_err(Into::into)
            }
            LogFormat::Text => write!(lines, "{time} {message}"),
        });
        self.flush();
    }

    /// Writes the buffer to stderr.
    pub(crate) fn flush(&self) {
        let lines = std::mem::take(&mut *self.lines());
        if !lines.is_empty() {
            // If stderr is closed, the error cannot be reported anywhere.
            let _ = std::io::stderr().lock().write_all(&lines);
        }
    }

    fn put(&self, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
        let mut lines = self.lines();
        // Writing to a `Vec` cannot fail.
        let _ = write(&mut lines);
        lines.push(b'\n');
        let is_enough = lines.len() >= FLUSH_BYTES;
        drop(lines);
        if is_enough {
            self.flush();
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_local_times_with_their_zone_and_json_has_utc() {
        const MOMENT: Millis = 1_794_722_294_946;
        assert_eq!(LogFormat::Text.timestamp(MOMENT), clock::exact(MOMENT));
        assert!(LogFormat::Text.timestamp(MOMENT).ends_with(&clock::wall_time(MOMENT).zone()));
        assert_eq!(LogFormat::Json.timestamp(MOMENT), "2026-11-15T05:58:14Z");
    }
}
