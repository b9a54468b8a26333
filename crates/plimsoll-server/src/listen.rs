//! Accepts connections and shuts them down gracefully.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::auth::Peer;
use crate::backfill;
use crate::http;
use crate::run_events;
use crate::state::AppState;
use crate::team::Shipper;
use crate::watch::WatcherThread;

/// A server that is bound to an address but does not answer yet.
pub struct Server {
    listener: std::net::TcpListener,
    app: AppState,
}

/// Error of a failed [`bind`].
#[derive(Debug, thiserror::Error)]
#[error("could not listen on `{address}`")]
pub struct ListenError {
    address: SocketAddr,
    #[source]
    why: io::Error,
}

impl ListenError {
    /// Suggests what to do about the error.
    pub fn hint(&self) -> String {
        let next =
            SocketAddr::new(self.address.ip(), self.address.port().wrapping_add(1).max(1024));
        match self.why.kind() {
            io::ErrorKind::AddrInUse => {
                format!("another server is there: end it, or run `plimsoll serve --listen {next}`")
            }
            io::ErrorKind::PermissionDenied => {
                "take a port above 1023, as in `plimsoll serve --listen 127.0.0.1:8100`".to_owned()
            }
            _ => "take an address of this machine, as in `plimsoll serve --listen 127.0.0.1:8100`"
                .to_owned(),
        }
    }
}

/// Maximum number of open connections; further ones wait.
const CONNECTIONS: usize = 1024;
/// Time limit for receiving the request headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that running requests have to finish at shutdown.
const GRACE: Duration = Duration::from_secs(10);
/// Interval at which the log is written.
const LOG_INTERVAL: Duration = Duration::from_millis(200);

/// Binds the address. Callers do this first, so that a second server fails before it changes
/// anything.
pub fn bind(address: SocketAddr) -> Result<std::net::TcpListener, ListenError> {
    let listener = std::net::TcpListener::bind(address);
    let ready = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    ready.map_err(|why| ListenError { address, why })
}

impl Server {
    pub fn new(listener: std::net::TcpListener, app: AppState) -> Self {
        Self { listener, app }
    }

    /// Returns the address the server listens on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves requests until SIGINT or SIGTERM, then stops accepting and finishes running requests.
    pub fn run(self) -> anyhow::Result<()> {
        // One thread is faster than two, because blocking work runs on other threads.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(8)
            .build()?;
        runtime.block_on(self.serve())
    }

    async fn serve(self) -> anyhow::Result<()> {
        let Self { listener, app } = self;
        let listener = TcpListener::from_std(listener)?;
        let mut stop = StopSignals::new()?;
        let watch = WatcherThread::start(app.clone())?;
        backfill::start(app.clone())?;
        let log = app.log.clone();
        let shipper = Shipper::start(app.clone(), move |text| log.message(text))?;
        let writing = tokio::spawn(write_log(app.clone()));
        let following = tokio::spawn(run_events::follow(app.clone()));
        let connections = GracefulShutdown::new();
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        let router = http::router(app.clone());
        loop {
            tokio::select! {
                (stream, remote, place) = accept(&listener, &room) => {
                    serve_connection(stream, remote, place, &router, &connections);
                }
                () = stop.recv() => break,
            }
        }
        drop(listener);
        app.live.end();
        tokio::select! {
            () = connections.shutdown() => {}
            () = tokio::time::sleep(GRACE) => {}
            // A second signal ends the wait for running requests.
            () = stop.recv() => {}
        }
        app.writer.finish();
        watch.finish();
        shipper.finish();
        following.abort();
        writing.abort();
        app.log.flush();
        Ok(())
    }
}

/// The signals that stop the server.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn new() -> io::Result<Self> {
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

async fn write_log(app: AppState) {
    let mut tick = tokio::time::interval(LOG_INTERVAL);
    loop {
        tick.tick().await;
        app.log.flush();
    }
}

/// Accepts the next connection once a slot is free.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let place = room.clone().acquire_owned().await;
        match (listener.accept().await, place) {
            (Ok((stream, remote)), Ok(place)) => return (stream, remote, place),
            // The client has gone, or too many files are open and some will be closed soon.
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Serves requests on a connection, in its own task.
fn serve_connection(
    stream: TcpStream,
    remote: SocketAddr,
    place: OwnedSemaphorePermit,
    router: &Router,
    connections: &GracefulShutdown,
) {
    let Ok(local) = stream.local_addr() else { return };
    // Answers are small and must not wait for Nagle's algorithm.
    let _ = stream.set_nodelay(true);
    let peer = Arc::new(Peer::new(remote, local));
    let router = TowerToHyperService::new(router.clone());
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.call(request.map(Body::new))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        // A connection that the client closes early is not an error.
        let _ = connection.await;
        drop(place);
    });
}
