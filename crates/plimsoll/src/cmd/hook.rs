//! `plimsoll hook`
//!
//! Whatever happens here, the agent goes on: an error or a panic is logged, nothing is printed and
//! the exit code is 0. Only a decision may stop the agent.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process;

use anyhow::Context;
use plimsoll_agents::Adapter;
use plimsoll_engine::hook::{self, LARGEST_PAYLOAD};
use plimsoll_engine::log;
use plimsoll_engine::world::World;
use rustix::buffer::spare_capacity;

/// Answer one hook call: the agent's payload on stdin, its dialect on stdout
///
/// The agent calls this, not you. Whatever goes wrong here, the agent goes on as if there were no
/// hook; `plimsoll log` shows what it was. PLIMSOLL=off keeps it silent.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  echo \"$PAYLOAD\" | plimsoll hook; echo $?    nothing and 0: the agent goes on")]
pub(crate) struct Args {
    /// The agent that calls
    #[arg(long, default_value = plimsoll_agents::DEFAULT)]
    agent: String,
}

/// Answers the hook call of this process, and ends it.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ! {
    let Some(world) = World::of_process() else { leave(0) };
    if world.is_off() {
        leave(0);
    }
    survive_panics(world.paths.log());
    let exit = answer(&world, arguments).unwrap_or_else(|error| {
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

fn answer(world: &World, arguments: impl Iterator<Item = OsString>) -> anyhow::Result<u8> {
    let adapter = adapter(arguments)?;
    let payload = payload().context("could not read the payload")?;
    if world.env("PLIMSOLL_TEST_PANIC").is_some() {
        panic!("asked to");
    }
    let answer = hook::answer(world, adapter, payload)?;
    let exit = answer.output.exit;
    say(io::stdout, &answer.output.stdout)?;
    say(io::stderr, &answer.output.stderr)?;
    if let Err(error) = answer.delivered() {
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

fn adapter(mut arguments: impl Iterator<Item = OsString>) -> anyhow::Result<&'static dyn Adapter> {
    match (arguments.next(), arguments.next()) {
        (None, _) => Ok(plimsoll_agents::ALL[0]),
        (Some(flag), Some(name)) if flag == "--agent" => {
            plimsoll_agents::find(&name.to_string_lossy()).context("no adapter of that name")
        }
        _ => anyhow::bail!("hook takes no other argument than --agent NAME"),
    }
}

/// The payload on stdin, as long as it has a size that any agent would send.
fn payload() -> anyhow::Result<Vec<u8>> {
    const STEP: usize = 2 << 10;
    let mut payload = Vec::with_capacity(STEP);
    loop {
        if payload.len() == payload.capacity() {
            payload.reserve(STEP);
        }
        match rustix::io::read(rustix::stdio::stdin(), spare_capacity(&mut payload)) {
            Ok(0) => return Ok(payload),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        anyhow::ensure!(payload.len() as u64 <= LARGEST_PAYLOAD, "it is larger than 8 MiB");
    }
}

/// A panic is logged by its place alone, and the agent goes on.
fn survive_panics(log: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or_else(String::new, |place| place.to_string());
        log::write(&log, &format!("panicked at {place}"));
        leave(0);
    }));
}
