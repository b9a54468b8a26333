//! A scripted model: the part of the Messages API that the client uses, on a loopback port.
//!
//! It runs on a thread of its own and ends when dropped. What it answers is in [`Script`], what
//! it was asked is kept and can be looked at.

mod answer;
mod http;
mod request;
mod script;
mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

pub use answer::{Answer, Usage};
pub use request::{Kind, Request};
pub use script::{Script, UNSCRIPTED};

/// A running scripted model.
pub struct ModelServer {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What has been asked so far.
#[derive(Default)]
struct Log {
    requests: Vec<Request>,
    other_calls: Vec<String>,
}

impl ModelServer {
    /// Listens on a free loopback port and answers as `script` says.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("the model server should get a loopback port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let log = Arc::new(Mutex::new(Log::default()));
        let (stop, stopped) = oneshot::channel();
        let router = http::router(script, Arc::clone(&log));
        let thread = thread::spawn(move || http::serve(listener, router, stopped));
        Self { address, log, stop: Some(stop), thread: Some(thread) }
    }

    /// The address to give to the client as its API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order they came.
    pub fn requests(&self) -> Vec<Request> {
        self.log().requests.clone()
    }

    /// The steps of the main conversation so far.
    pub fn main_turns(&self) -> Vec<Request> {
        self.requests_where(Request::is_main_turn)
    }

    /// The steps of subagents so far.
    pub fn subagent_turns(&self) -> Vec<Request> {
        self.requests_where(|request| request.kind == Kind::Turn && request.agent_id.is_some())
    }

    /// The summaries asked for so far.
    pub fn summaries(&self) -> Vec<Request> {
        self.requests_where(|request| request.kind == Kind::Summary)
    }

    /// Calls to anything but the Messages API, as `METHOD target`.
    ///
    /// The server is also the client's proxy, which it refuses to be: a call that was meant for
    /// another host shows up here.
    pub fn other_calls(&self) -> Vec<String> {
        self.log().other_calls.clone()
    }

    fn requests_where(&self, fits: impl Fn(&Request) -> bool) -> Vec<Request> {
        self.log().requests.iter().filter(|request| fits(request)).cloned().collect()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("the model server should not have panicked")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed where it happened.
            let _ = thread.join();
        }
    }
}
