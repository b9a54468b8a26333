//! `plimsoll hook`
//!
//! Whatever happens here, the agent goes on: an error or a panic is logged, nothing is printed and
//! the exit code is 0. Only a decision may stop the agent.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::process;

use anyhow::Context;
use plimsoll_agents::Agent;
use plimsoll_core::bytes;
use plimsoll_engine::hook::{self, LARGEST_PAYLOAD};
use plimsoll_engine::log;
use plimsoll_engine::world::World;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Answer one hook call: the agent's payload on stdin, its dialect on stdout
///
/// The agent calls this, not you. Whatever goes wrong here, the agent goes on as if there were no
/// hook; `plimsoll log` shows what it was. PLIMSOLL=off keeps it silent.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  echo \"$PAYLOAD\" | plimsoll hook; echo $?    nothing and 0: the agent goes on")]
pub(crate) struct Args {
    #[command(flatten)]
    agent: super::AgentArg,
    /// The event, for agents whose payloads do not name it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
}

/// Answers the hook call of this process, and ends it.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ! {
    respond(|world| {
        let Call { agent, event } = call(arguments)?;
        let payload = payload().context("could not read the payload")?;
        answer(world, agent, event.as_deref(), payload)
    })
}

/// Answers a hook call that came without any arguments, and ends the process; returns if stdin holds
/// no payload. A client that ignores `args` in its settings calls us like that.
pub(crate) fn run_if_piped() {
    if let Some(payload) = piped_payload() {
        let payload = payload.context("could not read the payload");
        respond(|world| answer(world, plimsoll_agents::DEFAULT, None, payload?));
    }
}

/// Gives an answer to the agent, and ends the process.
fn respond(answer: impl FnOnce(&World) -> anyhow::Result<u8>) -> ! {
    let Some(world) = World::of_process() else { leave(0) };
    if world.is_off() {
        leave(0);
    }
    survive_panics(world.paths.log());
    let exit = answer(&world).unwrap_or_else(|error| {
        log::write(&world.paths.log(), &format!("{error:#}"));
        0
    });
    leave(exit)
}

/// Ends the process at once; whoever calls has flushed what it said. The way out through the standard
/// library and the C library would touch seven pages more.
fn leave(exit: u8) -> ! {
    if cfg!(training) {
        // The profile is written on that way.
        process::exit(exit.into());
    }
    signal_hook::low_level::exit(exit.into())
}

fn answer(
    world: &World,
    agent: &'static dyn Agent,
    event: Option<&str>,
    payload: Vec<u8>,
) -> anyhow::Result<u8> {
    let answer = hook::answer(world, agent, event, payload)?;
    let exit = answer.output.exit;
    say(io::stdout, &answer.output.stdout)?;
    say(io::stderr, &answer.output.stderr)?;
    if let Err(error) = answer.delivered(world) {
        // The answer stands, whatever became of its memory.
        log::write(&world.paths.log(), &format!("{error:#}"));
    }
    Ok(exit)
}

fn say<W: Write>(to: impl FnOnce() -> W, text: &[u8]) -> anyhow::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut to = to();
    to.write_all(text).and_then(|()| to.flush()).context("could not answer")
}

/// What the command line of a hook says.
struct Call {
    agent: &'static dyn Agent,
    event: Option<String>,
}

/// Reads the arguments by hand: the parser of the other commands would cost more than the rest of a call.
fn call(mut arguments: impl Iterator<Item = OsString>) -> anyhow::Result<Call> {
    let mut call = Call { agent: plimsoll_agents::DEFAULT, event: None };
    while let Some(flag) = arguments.next() {
        let value = arguments.next().map(|value| value.to_string_lossy().into_owned());
        match (flag.to_str(), value) {
            (Some("--agent"), Some(name)) => {
                call.agent = plimsoll_agents::find(&name).context("no agent of that name")?;
            }
            (Some("--event"), event @ Some(_)) => call.event = event,
            _ => anyhow::bail!("hook takes no other arguments than --agent NAME and --event NAME"),
        }
    }
    Ok(call)
}

/// The payload on stdin, as long as it has a size that any agent would send.
fn payload() -> anyhow::Result<Vec<u8>> {
    let mut payload = Vec::new();
    while read_more(&mut payload)? > 0 {}
    Ok(payload)
}

/// Reads once from stdin, and appends what came. Returns how much that was; 0 at the end.
fn read_more(payload: &mut Vec<u8>) -> anyhow::Result<usize> {
    const STEP: usize = 2 << 10;
    if payload.len() == payload.capacity() {
        payload.reserve(STEP);
    }
    let read = loop {
        match rustix::io::read(rustix::stdio::stdin(), spare_capacity(payload)) {
            Err(rustix::io::Errno::INTR) => {}
            read => break read?,
        }
    };
    anyhow::ensure!(payload.len() as u64 <= LARGEST_PAYLOAD, "it is larger than 8 MiB");
    Ok(read)
}

/// The payload of a hook, if that is what comes on stdin: whole or torn, and however large.
fn piped_payload() -> Option<anyhow::Result<Vec<u8>>> {
    let mut payload = beginning_of_object()?;
    let read = loop {
        match read_more(&mut payload) {
            Ok(0) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    bytes::contains(b"\"hook_event_name\"", &payload).then(|| read.map(|()| payload))
}

/// The first bytes of a JSON object on stdin; `None` if something else comes, or nothing soon. A pipe
/// that somebody keeps open must not keep us waiting.
fn beginning_of_object() -> Option<Vec<u8>> {
    let stdin = rustix::stdio::stdin();
    if stdin.is_terminal() {
        return None;
    }
    let mut bytes = Vec::<u8>::new();
    while bytes.trim_ascii_start().is_empty() {
        let has_more = is_ready(stdin) && read_more(&mut bytes).ok()? > 0;
        if !has_more {
            return None;
        }
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii_start();
    text.starts_with(b"{").then_some(bytes)
}

/// Whether anything comes on stdin within a second, be it its end.
fn is_ready(stdin: BorrowedFd<'_>) -> bool {
    const PATIENCE: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut asked, Some(&PATIENCE)).is_ok_and(|ready| ready > 0)
}

/// A panic is logged by its place alone, and the agent goes on.
fn survive_panics(log: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |place| place.to_string());
        log::write(&log, &format!("panicked at {place}"));
        leave(0);
    }));
}
