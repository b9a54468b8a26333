//! Long work: batches and runs over many sessions. Synchronous throughout.
//!
//! [`batch`] plans tasks and [`run`] decides what comes next in a run; both are pure. The other
//! modules read task files, start agents and write to the store.

pub mod batch;
pub mod calibration;
pub mod run;
pub mod runner;
pub mod runs;
pub mod task_files;
