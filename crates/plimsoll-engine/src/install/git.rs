//! Installs the hook that git calls after a commit.
//!
//! In an existing hook, our lines go right after the first line, and the rest stays as it was. Our
//! lines cannot fail and print nothing.

use std::path::Path;

use plimsoll_agents::install::Unfit;
use plimsoll_core::shell;

use super::record::Record;
use super::{Edit, Failed, Plan, removal};
use crate::world::World;

const BEGIN: &str =
    "# plimsoll:begin (saves the state of the work; `plimsoll uninstall --git` removes it)";
const END: &str = "# plimsoll:end";
const SHELL: &str = "#!/bin/sh\n";

/// Plans the installation of our lines in the hook at `path`.
pub fn plan_git(world: &World, program: &str, folder: &Path, path: &Path) -> Result<Plan, Failed> {
    let record = Record::read(&world.paths.installed())?;
    let mut plan = Plan::of(world, &record);
    let edit = Edit { put: &|text| with(text, program), take: &|text, _| without(text) };
    plan.changes.extend(edit.plan(&record, path)?);
    let folder = shell::quote(&folder.to_string_lossy());
    for entry in plan.changes.iter_mut().filter_map(|change| change.entry.as_mut()) {
        entry.undo = format!("cd {folder} && plimsoll uninstall --git");
    }
    Ok(plan)
}

/// Plans the removal of our lines.
pub fn plan_git_removal(world: &World, path: &Path) -> Result<Plan, Failed> {
    let record = Record::read(&world.paths.installed())?;
    let mut plan = Plan::of(world, &record);
    plan.changes.extend(removal(&record, path, &|text, _| without(text))?);
    Ok(plan)
}

fn with(text: &str, program: &str) -> Result<String, Unfit> {
    let text = without(text)?;
    let text = if text.trim().is_empty() { SHELL } else { &text };
    let end = text.find('\n').map_or(text.len(), |end| end + 1);
    let (first, rest) = text.split_at(end);
    if !is_shell(first) {
        let what = "the first line of the hook that is there".to_owned();
        return Err(Unfit::Form { what, expected: "that of a shell script" });
    }
    let newline = if first.ends_with('\n') { "" } else { "\n" };
    let program = shell::quote(program);
    let call = format!("{program} git-hook </dev/null >/dev/null 2>&1 || :");
    Ok(format!("{first}{newline}{BEGIN}\n{call}\n{END}\n{rest}"))
}

fn without(text: &str) -> Result<String, Unfit> {
    let Some((before, rest)) = text.split_once(BEGIN) else { return Ok(text.to_owned()) };
    let end = format!("{END}\n");
    let (_, after) = rest.split_once(&end).ok_or(Unfit::OpenParagraph)?;
    Ok(match before == SHELL && after.is_empty() {
        true => String::new(),
        false => format!("{before}{after}"),
    })
}

fn is_shell(first: &str) -> bool {
    let line = first.trim_end();
    let program = line.strip_prefix("#!").unwrap_or_default().split_whitespace();
    let program = program.map(|word| word.rsplit('/').next().unwrap_or_default());
    let mut names = program.filter(|name| *name != "env");
    names.next().is_some_and(|name| matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_that_is_there_stays_whole_below_ours() {
        for text in ["#!/bin/sh\nset -e\nexit 3\n", "#!/usr/bin/env bash\n", "#!/bin/dash -e\nx"] {
            let ours = with(text, "/opt/plimsoll").unwrap();
            assert!(ours.contains("\n/opt/plimsoll git-hook </dev/null"), "{ours}");
            assert_eq!(without(&ours).unwrap(), text);
            assert_eq!(with(&ours, "/opt/plimsoll").unwrap(), ours, "once");
        }
    }

    #[test]
    fn a_new_hook_is_a_script_of_its_own() {
        let ours = with("", "/a b/plimsoll").unwrap();
        assert!(ours.starts_with("#!/bin/sh\n# plimsoll:begin"), "{ours}");
        assert!(ours.contains("\n'/a b/plimsoll' git-hook"), "{ours}");
        assert_eq!(without(&ours).unwrap(), "");
    }

    #[test]
    fn what_is_no_shell_script_is_left_alone() {
        for text in ["#!/usr/bin/env python3\n", "\u{7f}ELF", "echo hi\n"] {
            assert!(with(text, "p").is_err(), "{text}");
        }
        assert_eq!(without("x").unwrap(), "x");
    }
}
