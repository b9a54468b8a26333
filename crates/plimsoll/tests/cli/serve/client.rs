//! A server that really runs, and somebody who asks it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::TestEnv;

/// A running `plimsoll serve`; it ends with this value.
pub(crate) struct Running<'e> {
    pub(crate) env: &'e TestEnv,
    pub(crate) address: SocketAddr,
    child: Child,
    logging: Option<JoinHandle<()>>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// It is a problem as every problem is told.
    #[track_caller]
    pub(crate) fn refuses(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.head.contains("content-type: application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], status, "{self:?}");
        for field in ["type", "title", "detail", "error", "hint"] {
            assert!(problem[field].as_str().is_some_and(|it| !it.is_empty()), "{field}: {self:?}");
        }
        self
    }
}

/// How long anything may take. No test passes or fails by less.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

impl<'e> Running<'e> {
    /// Starts a server at a free port.
    pub(crate) fn start(env: &'e TestEnv, arguments: &[&str]) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Self::over(env, &all)
    }

    pub(crate) fn over(env: &'e TestEnv, arguments: &[&str]) -> Self {
        let mut command = env.command(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.strip_prefix("Listening on http://").and_then(|it| it.split(';').next());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}"));
        let address = address.parse().unwrap();
        // What it logs must not fill the pipe.
        let mut log = File::create(env.path("serve.log")).unwrap();
        let logging = std::thread::spawn(move || drop(std::io::copy(&mut stderr, &mut log)));
        Self { env, address, child, logging: Some(logging) }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[("Content-Type", "application/json")], &body.to_string())
    }

    /// Sends a request, and reads the answer to its end.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.try_ask(method, path, headers, body).unwrap()
    }

    pub(crate) fn try_ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> std::io::Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let names_host = headers.iter().any(|(name, _)| *name == "Host");
        let host = self.address.to_string();
        let own = [("Host", host.as_str())];
        let own = if names_host { &[][..] } else { &own[..] };
        for (name, value) in own.iter().chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.exchange(head.as_bytes())
    }

    /// Sends these bytes as they are.
    pub(crate) fn exchange(&self, bytes: &[u8]) -> std::io::Result<Answer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(bytes)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").ok_or(std::io::ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(std::io::ErrorKind::InvalidData)?;
        Ok(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
    }

    /// The token for others.
    pub(crate) fn token(&self) -> String {
        std::fs::read_to_string(self.env.data().join("serve.token")).unwrap()
    }

    /// Every save there is.
    pub(crate) fn saves(&self) -> Vec<Value> {
        let answer = self.get("/sessions?all=true&limit=100");
        answer.json()["sessions"].as_array().unwrap().clone()
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it has ended, and tells how.
    pub(crate) fn ended(&mut self) -> std::process::ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.logging.take().map(JoinHandle::join);
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.env.path("serve.log")).unwrap()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
