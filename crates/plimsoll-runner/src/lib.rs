//! Long work: batches and runs over many sessions. Synchronous throughout.
//!
//! [`batch`] and [`run`] are pure: how tasks are planned, and what comes next in a run. The other modules
//! read task files, start agents and keep the store informed.

pub mod batch;
pub mod calibration;
pub mod run;
pub mod runner;
pub mod runs;
pub mod task_files;
