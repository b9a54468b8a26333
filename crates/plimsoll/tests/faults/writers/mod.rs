//! Everything that writes, killed and failing at any system call.

mod board;
mod checkpoint;
mod conductor;
mod index;
mod install;
mod outbox;
mod saves;
mod server;
mod spool;
mod store;

use crate::env::{Session, TestEnv};
use crate::transcript::{captured, just_written};

/// A session in which the agent has worked: it wrote `b.txt`, and its window holds so many tokens.
pub(crate) fn worked<'e>(env: &'e TestEnv, id: &str, used: u64) -> Session<'e> {
    let session = env.session(id);
    let project = env.project();
    let text = captured("tools.jsonl").replace("/home/dev/project", project.to_str().unwrap());
    let used = format!("\"cache_read_input_tokens\":{used}");
    session.write(just_written(&text.replace("\"cache_read_input_tokens\":24097", &used)));
    session
}

/// Runs a command that nothing hinders.
#[track_caller]
pub(crate) fn succeeds(env: &TestEnv, arguments: &str) -> String {
    let ran = env.plimsoll(arguments);
    assert!(ran.status.success(), "{arguments}: {ran}");
    ran.stdout
}

/// The two campaigns against a writer.
macro_rules! campaigns {
    ($new:expr) => {
        #[test]
        fn killed_at_any_moment() {
            crate::campaign::harm(crate::campaign::Harm::Kills, $new);
        }

        #[test]
        fn failing_at_any_call() {
            crate::campaign::harm(crate::campaign::Harm::Errors, $new);
        }
    };
}
pub(crate) use campaigns;
