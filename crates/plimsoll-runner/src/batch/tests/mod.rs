//! Tests of planning.

mod properties;
mod seed;
mod splitting;
