//! The server: what it answered as saved is there after it was killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use plimsoll_testbed::generator::SplitMix64;

use super::saves::tasks;
use crate::campaign::{Harm, harmed_by};
use crate::env::TestEnv;
use crate::invariants;

/// How many ask it at once.
const CLIENTS: usize = 4;
/// How often each of them does at most: a list of saves ends after a thousand.
const MOST: usize = 250;

/// A server that listens, and where.
fn start(env: &TestEnv) -> (Child, SocketAddr) {
    let mut command = env.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let address = line.strip_prefix("Listening on http://").and_then(|it| it.split(';').next());
    let address = address.unwrap_or_else(|| panic!("it does not listen: {line}")).parse().unwrap();
    // What it logs must not fill the pipe.
    thread::spawn(move || drop(std::io::copy(&mut stderr, &mut std::io::sink())));
    (child, address)
}

/// What is saved at one server is filed apart.
fn environment(address: SocketAddr) -> String {
    format!("sea-{}", address.port())
}

/// Asks for a save; whether it was answered as done.
fn save(address: SocketAddr, task: &str) -> bool {
    let body = format!(r#"{{"environment":"{}","task":"{task}"}}"#, environment(address));
    let request = format!(
        "POST /ss HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let exchange = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    exchange().is_ok_and(|answer| answer.starts_with("HTTP/1.1 2"))
}

/// Saves until the server is gone; gives what was answered as saved.
fn save_on(address: SocketAddr, client: usize) -> Vec<String> {
    let tasks = (0..MOST).map(|at| format!("task-{}-{client}-{at}", address.port()));
    tasks.take_while(|task| save(address, task)).collect()
}

/// Kills a server; gives what it had answered as saved, and under which name that was filed.
fn killed(env: &TestEnv, micros: u64) -> (String, BTreeSet<String>) {
    let (mut server, address) = start(env);
    let saved = thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || save_on(address, client))).collect();
        thread::sleep(Duration::from_micros(micros));
        server.kill().unwrap();
        server.wait().unwrap();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    (environment(address), saved)
}

#[test]
fn killed_at_any_moment() {
    harmed_by("server", Harm::Kills, 15, |seed, count| {
        let (mut random, env) = (SplitMix64::new(seed), TestEnv::new());
        let mut reported = Vec::new();
        for _ in 0..4 {
            reported.push(killed(&env, random.below(40_000) as u64));
            *count += 1;
            for (environment, saved) in &reported {
                let found: BTreeSet<String> = tasks(&env, environment).into_iter().collect();
                let lost: Vec<_> = saved.difference(&found).collect();
                assert!(lost.is_empty(), "answered as saved, and lost: {lost:?}");
            }
            invariants::hold(&env);
        }
    });
}
