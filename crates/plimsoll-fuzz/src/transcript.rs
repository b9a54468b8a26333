//! Transcripts: any bytes, read in any pieces, result in the same state of the work.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::event::SessionId;
use plimsoll_core::reading::Scope;
use plimsoll_engine::jsonl::JsonLines;
use plimsoll_engine::tail::{self, Start};
use plimsoll_engine::work::{Folded, fold, scan};
use plimsoll_extract::redact::redact;
use plimsoll_extract::work::{self, Work};

use crate::fence;
use crate::sandbox::{Sandbox, agent};

pub(crate) fn run(input: &[u8]) {
    let agent = agent();
    input.split(|byte| *byte == b'\n').for_each(|line| parse_line(agent, line));
    let sandbox = Sandbox::new();
    let path = sandbox.write_file("session.jsonl", input);
    let transcript = JsonLines::open(&path).unwrap().unwrap();
    for scope in [Scope::Main, Scope::Subagent] {
        read_from_both_ends(agent, &transcript, scope);
    }
    let whole = scan(agent, &transcript).unwrap();
    assert_eq!(read_in_pieces(&sandbox, input), whole, "any split gives what one pass gives");
    check_texts(&whole.work);
}

/// Parses a single line in every way.
fn parse_line(agent: &'static dyn Agent, line: &[u8]) {
    for scope in [Scope::Main, Scope::Subagent] {
        let _ = agent.transcript().entry(line, scope);
        let _ = agent.transcript().record(line, scope);
        let _ = agent.transcript().shown(line, scope);
    }
    let _ = agent.transcript().weigh(line);
    let _ = agent.transcript().request(line);
    let _ = agent.transcript().hook_runs(line);
    let _ = agent.transcript().folder_of(line);
}

/// Takes a reading from either end of a transcript. The two may differ for lines that no client
/// writes, such as one response with two different usages.
fn read_from_both_ends(agent: &'static dyn Agent, transcript: &JsonLines, scope: Scope) {
    let tail = tail::look_back(agent, transcript, scope).unwrap();
    assert_ne!(tail.start, Start::OutOfSight, "nothing so short is out of sight");
    let _ = plimsoll_engine::reading::take(agent, transcript, scope, &tail).unwrap();
    let _ = plimsoll_engine::reading::scan(agent, transcript, scope).unwrap().reading();
}

/// Returns the work of a transcript that grows in three steps and is read after each.
fn read_in_pieces(sandbox: &Sandbox, input: &[u8]) -> Folded {
    let paths = sandbox.env(&[]).paths;
    let path = sandbox.write_file("growing.jsonl", b"");
    let session = SessionId::new("growing").unwrap();
    let third = input.len().div_ceil(3).max(1);
    let mut grown = Folded::default();
    for piece in input.chunks(third) {
        append(&path, piece);
        let transcript = JsonLines::open(&path).unwrap().unwrap();
        grown = fold(&paths, agent(), &session, &transcript, None).unwrap();
    }
    grown
}

fn append(path: &Path, bytes: &[u8]) {
    File::options().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Checks that texts about the work contain no secrets and stay inside their fence.
fn check_texts(work: &Work) {
    let body = work::render_body(work);
    assert_eq!(redact(&body), body, "what is kept has no secrets");
    let restored = work::restore(work, BUDGET, &work::unknown_status);
    assert_eq!(redact(&restored), restored, "what is given back has no secrets");
    fence::check_closed_once(&work::fenced(&restored, "From afar."), &restored);
    let _ = work::summary_instructions(work, BUDGET);
    let _ = work::missing_facts(work, &[&restored], BUDGET);
}

const BUDGET: usize = 2_400;
