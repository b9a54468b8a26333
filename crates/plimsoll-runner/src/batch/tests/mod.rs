//! What planning promises.

mod properties;
mod seed;
mod splitting;
