//! Spools: whatever a spool contains, the next hook call is answered and recorded.

use plimsoll_core::event::SessionId;
use plimsoll_engine::spool;
use serde_json::Value;

use crate::hook;
use crate::sandbox::{Sandbox, agent};

pub(crate) fn run(input: &[u8]) {
    let sandbox = Sandbox::new();
    let session = SessionId::new("session").unwrap();
    let transcript = sandbox.write_file("session.jsonl", sandbox.recorded_transcript().as_bytes());
    let path = sandbox.env(&[]).paths.spool_of(&session, None);
    sandbox.write_file(path.to_str().unwrap(), input);
    let payload = agent().hooks().everyday_payload(&session, &transcript);
    let mut payload: Value = serde_json::from_slice(&payload).unwrap();
    payload["cwd"] = sandbox.project().to_str().into();
    for world in [sandbox.env(&[]), sandbox.env(hook::SMALL_WINDOW)] {
        hook::answer_and_check(&world, agent(), payload.to_string().into_bytes());
        spool::state(&path).unwrap();
    }
}
