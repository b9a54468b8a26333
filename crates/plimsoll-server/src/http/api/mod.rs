//! The read-only JSON API of the dashboard's data: sessions, checkpoints, runs, costs and scores.

pub(super) mod checkpoints;
pub(crate) mod runs;
pub(super) mod sessions;
pub(super) mod stats;

use plimsoll_core::Tokens;
use plimsoll_core::reading::Band;
use plimsoll_core::usage::share;
use serde::Serialize;
use utoipa::ToSchema;

/// How full a window is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Fullness {
    /// Tokens in the window.
    pub(crate) used: Tokens,
    /// Window size in tokens.
    pub(crate) window: Tokens,
    /// Used share in percent, with one decimal.
    pub(crate) percent: f64,
    /// Name for that share: `healthy`, `warning`, `critical` or `overflow`.
    pub(crate) status: &'static str,
}

impl Fullness {
    pub(crate) fn new(used: Tokens, window: Tokens) -> Self {
        let percent = (share(used, window) * 10.0).round() / 10.0;
        Self { used, window, percent, status: Band::of(used, window).label() }
    }
}
