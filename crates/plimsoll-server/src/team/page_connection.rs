//! The connection through which pages read the team database; reopened when lost.

use std::sync::Arc;

use plimsoll_core::settings::DatabaseUrl;
use plimsoll_store::postgres::{TeamError, TeamStore};
use tokio::sync::Mutex;

/// The connection, if one is open.
#[derive(Debug, Default)]
pub(crate) struct PageConnection(Mutex<Option<(DatabaseUrl, Arc<TeamStore>)>>);

impl PageConnection {
    /// Returns the connection to the database at `url`, and opens it if necessary.
    pub(crate) async fn get(&self, url: &DatabaseUrl) -> Result<Arc<TeamStore>, TeamError> {
        let mut link = self.0.lock().await;
        match &*link {
            Some((known, store)) if known == url && !store.is_closed() => Ok(store.clone()),
            _ => {
                *link = None;
                let (store, _) = TeamStore::open(url.whole()).await?;
                let store = Arc::new(store);
                *link = Some((url.clone(), store.clone()));
                Ok(store)
            }
        }
    }
}
