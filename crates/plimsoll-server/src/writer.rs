//! The thread that writes: many saves, one transaction, and each is answered after its commit.

use plimsoll_store::Store;

use crate::metrics::Metrics;

/// The way to the thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {}

impl Writer {
    pub(crate) fn start(_store: Store, _metrics: &Metrics) -> anyhow::Result<Self> {
        Ok(Self {})
    }

    pub(crate) fn finish(&self) {}
}
