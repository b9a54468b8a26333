//! Checks that the agent's client is installed, in a version that plimsoll was tested with.

use plimsoll_agents::Agent;
use plimsoll_agents::install::Version;

use super::Finding;
use crate::install;
use crate::world::World;

const SUBJECT: &str = "client";

/// Returns the client's version, if it can be determined, and the finding.
pub(super) fn examine(world: &World, agent: &'static dyn Agent) -> (Option<Version>, Finding) {
    let installer = agent.installer();
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
