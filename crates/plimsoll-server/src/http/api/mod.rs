//! What an overview of the machine shows.

pub(super) mod checkpoints;
pub(super) mod past;
pub(crate) mod runs;
pub(super) mod sessions;

use plimsoll_core::Tokens;
use plimsoll_core::reading::Band;
use plimsoll_core::usage::share;
use serde::Serialize;
use utoipa::ToSchema;

/// How full a window is.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Fullness {
    /// The tokens in it.
    pub(crate) used: Tokens,
    /// Its size.
    pub(crate) window: Tokens,
    /// The share in percent, with one decimal.
    pub(crate) percent: f64,
    /// The name for that share.
    pub(crate) status: &'static str,
}

impl Fullness {
    pub(crate) fn new(used: Tokens, window: Tokens) -> Self {
        let percent = (share(used, window) * 10.0).round() / 10.0;
        Self { used, window, percent, status: Band::of(used, window).label() }
    }
}
