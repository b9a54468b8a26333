//! One line per request on stderr: no bodies, no addresses with what follows their `?`, no tokens.
//!
//! Lines are gathered and written together, for a system call per request would cost as much as the
//! answer.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use plimsoll_core::time::utc_second;
use plimsoll_engine::world::now;
use serde::Serialize;

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// What is written when there is enough of it, or when it is asked for; a clone is the same log.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    form: LogForm,
    lines: Arc<Mutex<Vec<u8>>>,
}

/// From here on lines are written at once.
const ENOUGH: usize = 16 << 10;

#[derive(Serialize)]
struct Answered<'a> {
    time: &'a str,
    method: &'a str,
    route: &'a str,
    status: u16,
    millis: f64,
}

#[derive(Serialize)]
struct Said<'a> {
    time: &'a str,
    message: &'a str,
}

impl Log {
    pub(crate) fn new(form: LogForm) -> Self {
        Self { form, lines: Arc::default() }
    }

    /// A request was answered.
    pub(crate) fn answered(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let millis = took.as_micros() as f64 / 1000.0;
        let (time, method) = (&utc_second(now() as i64), method.as_str());
        self.put(|lines| match self.form {
            LogForm::Json => {
                let line = Answered { time, method, route, status, millis };
                serde_json::to_writer(lines, &line).map_err(Into::into)
            }
            LogForm::Text => {
                write!(lines, "{time} {status} {method} {route} {millis:.1} ms")
            }
        });
    }

    /// Something else is worth a line, and at once.
    pub(crate) fn say(&self, message: &str) {
        let time = &utc_second(now() as i64);
        let message: String = message
            .chars()
            .filter(|character| plimsoll_core::policy::is_plain(*character))
            .collect();
        self.put(|lines| match self.form {
            LogForm::Json => {
                serde_json::to_writer(lines, &Said { time, message: &message }).map_err(Into::into)
            }
            LogForm::Text => write!(lines, "{time} {message}"),
        });
        self.flush();
    }

    /// Writes what was gathered.
    pub(crate) fn flush(&self) {
        let lines = std::mem::take(&mut *self.lines());
        if !lines.is_empty() {
            // Without a stderr there is nobody left to tell.
            let _ = std::io::stderr().lock().write_all(&lines);
        }
    }

    fn put(&self, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
        let mut lines = self.lines();
        // Memory takes everything.
        let _ = write(&mut lines);
        lines.push(b'\n');
        let is_enough = lines.len() >= ENOUGH;
        drop(lines);
        if is_enough {
            self.flush();
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
