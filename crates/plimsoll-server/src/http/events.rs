//! `/events`: live changes as a stream of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::stream::{iter, unfold};
use futures_util::{Stream, StreamExt};
use tokio::sync::broadcast::error::RecvError;

use super::Problem;
use super::problem::Problems;
use crate::live::News;
use crate::state::AppState;

/// Maximum number of concurrent listeners.
const LISTENERS: i64 = 64;
/// Interval of keep-alive messages on a silent stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Stream live readings, session changes and saves as server-sent events
///
/// The stream starts with a reading of every live window. The event `missed` means that the client
/// was too slow and must reload everything.
#[utoipa::path(get, path = "/events", responses(
    (status = 200, body = News, content_type = "text/event-stream"), Problems))]
pub(crate) async fn events(
    State(app): State<AppState>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let place = ListenerSlot::take(app.clone())?;
    let (known, news, over) = app.live.subscribe();
    let known = iter(known).map(|news| Ok(event(&news)));
    let stream = unfold((news, over, place), |(mut news, mut over, place)| async move {
        let event = tokio::select! {
            told = news.recv() => match told {
                Ok(news) => event(&news),
                Err(RecvError::Lagged(_)) => Event::default().event("missed").data("{}"),
                Err(RecvError::Closed) => return None,
            },
            _ = over.wait_for(|over| *over) => return None,
        };
        Some((Ok(event), (news, over, place)))
    });
    Ok(Sse::new(known.chain(stream)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)))
}

fn event(news: &News) -> Event {
    let event = Event::default().event(news.name());
    event.json_data(news).unwrap_or_default()
}

/// A listener's slot, freed on drop.
struct ListenerSlot(AppState);

impl ListenerSlot {
    fn take(app: AppState) -> Result<Self, Problem> {
        let taken = app.metrics.listeners.inc();
        let place = Self(app);
        match taken < LISTENERS {
            true => Ok(place),
            false => Err(Problem::too_many("too many listen already", 5)),
        }
    }
}

impl Drop for ListenerSlot {
    fn drop(&mut self) {
        self.0.metrics.listeners.dec();
    }
}
