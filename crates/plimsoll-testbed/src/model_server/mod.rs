//! A scripted model: a server on a loopback port with the part of the Messages API that the client
//! uses.
//!
//! The server runs on its own thread and stops when dropped. [`Script`] defines its answers. It
//! records every request for tests to inspect.

mod answer;
mod http;
mod request;
mod script;
mod wire;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

pub use answer::{AnswerUsage, ModelAnswer};
pub use request::{ModelRequest, RequestKind};
pub use script::{Script, UNSCRIPTED};

/// A running scripted model.
pub struct ModelServer {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Requests received so far.
#[derive(Default)]
struct Log {
    requests: Vec<ModelRequest>,
    other_calls: Vec<String>,
}

impl ModelServer {
    /// Listens on a free loopback port and answers as `script` defines.
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

    /// Returns the address to configure in the client as its API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.log().requests.clone()
    }

    /// Returns the turns of the main conversation so far.
    pub fn main_turns(&self) -> Vec<ModelRequest> {
        self.requests_where(ModelRequest::is_main_turn)
    }

    /// Returns the turns of subagents so far.
    pub fn subagent_turns(&self) -> Vec<ModelRequest> {
        self.requests_where(|request| {
            request.kind == RequestKind::Turn && request.agent_id.is_some()
        })
    }

    /// Returns the requests for a summary so far.
    pub fn summaries(&self) -> Vec<ModelRequest> {
        self.requests_where(|request| request.kind == RequestKind::Summary)
    }

    /// Returns calls to anything but the Messages API, as `METHOD target`.
    ///
    /// The server is also configured as the client's proxy and refuses to act as one, so calls
    /// meant for other hosts appear here.
    pub fn other_calls(&self) -> Vec<String> {
        self.log().other_calls.clone()
    }

    fn requests_where(&self, fits: impl Fn(&ModelRequest) -> bool) -> Vec<ModelRequest> {
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
            // If the thread panicked, the panic has already been printed.
            let _ = thread.join();
        }
    }
}
