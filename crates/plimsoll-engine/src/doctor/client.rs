//! The agent's client: is it there, and one that plimsoll was tried with?

use plimsoll_agents::Adapter;
use plimsoll_agents::install::Version;

use super::Finding;
use crate::install;
use crate::world::World;

const SUBJECT: &str = "client";

/// The client's version, where it can be found out, and what is to be said of it.
pub(super) fn examine(world: &World, adapter: &dyn Adapter) -> (Option<Version>, Finding) {
    let installer = adapter.installer();
    let name = installer.program();
    let Some(program) = install::on_path(world, name).next() else {
        let text = format!("`{name}` is not on the PATH");
        return (None, Finding::note(SUBJECT, text, format!("command -v {name}")));
    };
    let Some(version) = install::version(installer, &program) else {
        let text = format!("`{}` does not tell its version", program.display());
        return (None, Finding::note(SUBJECT, text, format!("{name} --version")));
    };
    let (oldest, newest) = installer.tried();
    let text = format!("`{}` is version {version}", program.display());
    let finding = if version < oldest {
        let text = format!("{text}, older than any that plimsoll works with ({oldest})");
        Finding::broken(SUBJECT, text, installer.update())
    } else if version > newest {
        let text = format!("{text}, newer than any that plimsoll was tried with ({newest})");
        Finding::note(SUBJECT, text, "plimsoll status   # do the figures fit those of the client?")
    } else {
        Finding::fine(SUBJECT, text)
    };
    (Some(version), finding)
}
