//! State shared by all requests.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use plimsoll_core::settings::{Settings, Team};
use plimsoll_engine::criteria::Criteria;
use plimsoll_engine::damage;
use plimsoll_engine::ingest::Ingester;
use plimsoll_engine::token;
use plimsoll_engine::world::World;
use plimsoll_store::Store;

use crate::auth::TokenBucket;
use crate::http::Problem;
use crate::live::Live;
use crate::log::{Log, LogFormat};
use crate::metrics::Metrics;
use crate::pages::{Cached, CompactionScores, HookTax};
use crate::settings_cache::{SettingsCache, TeamSettingsCache};
use crate::writer::{Writer, WriterDeps};

/// Options of the server.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    pub log: LogFormat,
    /// Maximum number of write requests per second.
    pub writes_per_second: u32,
}

/// State shared by all requests. Cloning is cheap.
#[derive(Clone)]
pub struct AppState(Arc<App>);

/// The data behind [`AppState`].
pub struct App {
    /// Paths and environment of the user.
    pub(crate) world: World,
    /// The agent whose sessions are served.
    /// Live windows and events.
    pub(crate) live: Live,
    pub(crate) token: Vec<u8>,
    pub(crate) writes: TokenBucket,
    pub(crate) metrics: Metrics,
    pub(crate) log: Log,
    pub(crate) writer: Writer,
    /// Cached hook costs and compaction scores.
    pub(crate) tax: Cached<HookTax>,
    pub(crate) score: Cached<CompactionScores>,
    /// Cached success criteria.
    pub(crate) criteria: Cached<Criteria>,
    settings: SettingsCache,
    team: TeamSettingsCache,
    stores: Mutex<Vec<Store>>,
}

impl AsRef<World> for AppState {
    fn as_ref(&self) -> &World {
        &self.world
    }
}

impl Deref for AppState {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}

/// Time limit for waiting on other writers of the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

impl AppState {
    /// Opens the store, reads the token and starts the writer thread.
    pub fn new(world: World, options: &ServerOptions) -> anyhow::Result<Self> {
        let token = token::read_or_make(&world.paths)?;
        let (live, metrics, log) = (Live::default(), Metrics::new(), Log::new(options.log));
        let desk = WriterDeps {
            paths: world.paths.clone(),
            store: open_store(&world)?,
            live: live.clone(),
            metrics: metrics.clone(),
            log: log.clone(),
        };
        let writer = Writer::start(desk).context("could not start the thread that writes")?;
        Ok(Self(Arc::new(App {
            live,
            token,
            writes: TokenBucket::new(options.writes_per_second),
            log,
            writer,
            metrics,
            tax: Cached::default(),
            score: Cached::default(),
            criteria: Cached::default(),
            settings: SettingsCache::default(),
            team: TeamSettingsCache::default(),
            stores: Mutex::default(),
            world,
        })))
    }

    /// Returns the user's settings.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.settings.get(&self.world)
    }

    /// Returns the team settings.
    pub(crate) fn team(&self) -> Arc<Team> {
        self.team.get(&self.world)
    }

    /// Runs blocking work on a separate thread.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|_| Err(Problem::internal("the request could not be carried out")))
    }

    /// Runs blocking work with exclusive use of a store connection.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App, &mut Store) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.blocking(move |app| {
            let mut store = app.store()?;
            let done = work(app, &mut store);
            // After a failure the connection is dropped, because the store file may have been
            // replaced.
            if done.is_ok() {
                app.stores().push(store);
            }
            done
        })
        .await
    }
}

impl App {
    /// Logs an internal error, moves a damaged store aside, and returns the error for the client.
    pub(crate) fn internal_error(&self, error: &anyhow::Error) -> Problem {
        self.log.message(&format!("{error:#}"));
        if damage::is_cause(error) {
            self.stores().clear();
            match damage::put_aside(&self.world.paths) {
                Ok(Some(aside)) => self.log.message(&damage::told(&aside)),
                Ok(None) => {}
                Err(error) => self.log.message(&format!("{error:#}")),
            }
        }
        Problem::internal("the request could not be carried out")
    }

    fn store(&self) -> Result<Store, Problem> {
        let kept = self.stores().pop();
        kept.map_or_else(|| open_store(&self.world), Ok)
            .map_err(|error| self.internal_error(&error))
    }

    fn stores(&self) -> std::sync::MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_store(world: &World) -> anyhow::Result<Store> {
    let ingester = Ingester::open(world, STORE_TIMEOUT, None);
    ingester.map(|ingester| ingester.store).context("could not open the store")
}
