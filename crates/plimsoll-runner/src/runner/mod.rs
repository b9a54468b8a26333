//! Runs: work that continues over as many sessions as it needs.
//!
//! The journal ([`Journal`](plimsoll_engine::run_journal::Journal)) is the source of truth for a
//! run; plimsoll-core defines its records. A [`Runner`] carries out jobs, one after another or
//! several at once. It starts an agent and waits for its end. If one of plimsoll's hooks stopped
//! the agent, it starts a new session that continues. All it knows about a session comes from the
//! journal, the spool and the transcript, so another process can take over at any moment.

mod agent;
mod files;
mod fingerprint;
mod job;
mod job_checkpoint;
mod lifecycle;
mod output;
mod plan;
mod session_process;
mod session_result;
mod stop_flag;
mod wait;

pub use agent::{AgentCommand, AgentCommandError, MAX_ARGUMENT_BYTES};
pub use lifecycle::{JobEnd, JobOrder, ResumeError, RunContext, RunProgress, Runner, agent_of};
pub use output::{OutputTail, output_files, output_tail};
pub use plan::{JobNews, PlanOptions, default_pause};
pub use session_process::StderrTarget;
pub use stop_flag::StopFlag;
