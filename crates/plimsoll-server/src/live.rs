//! What happens right now: told to everybody who listens.

use serde::Serialize;
use tokio::sync::{broadcast, watch};
use utoipa::ToSchema;

/// The news of the machine's sessions.
#[derive(Debug)]
pub(crate) struct Live {
    news: broadcast::Sender<News>,
    over: watch::Sender<bool>,
}

/// One piece of news.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum News {
    /// A save is on disk.
    Saved {
        /// Its id.
        save: String,
        /// Its environment.
        environment: String,
        /// What it is about.
        task: String,
    },
}

impl News {
    /// What the event is called.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Saved { .. } => "saved",
        }
    }
}

/// How much a slow listener may lag behind before it misses something.
const LAG: usize = 1024;

impl Default for Live {
    fn default() -> Self {
        Self { news: broadcast::Sender::new(LAG), over: watch::Sender::new(false) }
    }
}

impl Live {
    /// Tells everybody who listens.
    pub(crate) fn tell(&self, news: News) {
        // It is fine if nobody does.
        let _ = self.news.send(news);
    }

    /// Listens from now on.
    pub(crate) fn listen(&self) -> (broadcast::Receiver<News>, watch::Receiver<bool>) {
        (self.news.subscribe(), self.over.subscribe())
    }

    /// Ends all streams: the server is about to.
    pub(crate) fn end(&self) {
        self.over.send_replace(true);
    }
}
