//! Merges the checkpoint of the previous session into the current one.
//!
//! A session of a run knows about earlier sessions only from restored text, which is not part of
//! its own work. Without this merge, the third session would know nothing about the first.

use super::checkpoint_body::{EMPTY_SECTION, ROOM};
use super::restore_checkpoint::path;
use crate::checkpoint::{SECTIONS, changed_path, sections, strip_pointer};

/// Adds the lines of `before` that a body lacks, as far as each section has room. The previous
/// session's messages and requests are not added.
pub fn inherit_from_previous(body: &str, before: &str) -> String {
    let (own, before) = (sections(body), sections(before));
    let mut text = String::with_capacity(body.len() + 2_000);
    for (name, room) in SECTIONS.into_iter().zip(ROOM) {
        let own: Vec<&str> = lines(&own, name).collect();
        let older = lines(&before, name).map(strip_pointer);
        let mut told: Vec<&str> = own.clone();
        let mut taken: usize = told.iter().map(|line| line.len() + 1).sum();
        for line in older.filter(|line| is_kept(name, line, &own, body)) {
            let known = told.iter().any(|known| subject(name, known) == subject(name, line));
            if !known && taken + line.len() < room {
                taken += line.len() + 1;
                told.push(line);
            }
        }
        let nothing = if told.is_empty() { EMPTY_SECTION } else { "" };
        text += &format!("## {name}\n\n{}{nothing}\n\n", told.join("\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn lines<'b>(body: &[(&str, &'b str)], name: &str) -> impl Iterator<Item = &'b str> {
    let text = body.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| *text);
    text.lines().filter(|line| !line.is_empty() && *line != EMPTY_SECTION)
}

/// Returns whether a line of an earlier body is still valid.
fn is_kept(section: &str, line: &str, own: &[&str], body: &str) -> bool {
    match section {
        "Why Changed" => false,
        // A later session has its own requests.
        "Task" => line.starts_with("- "),
        // A session that found errors of its own has checked the state again.
        "Active Issues" => own.is_empty(),
        // A session without its own plan continues the old one.
        "Next Steps" => own.iter().all(|step| is_request(step, body)),
        _ => true,
    }
}

/// Returns whether a step only repeats a request.
fn is_request(step: &str, body: &str) -> bool {
    let step = strip_pointer(step).trim_start_matches("- [ ] ").trim_end_matches('…');
    body.lines().any(|line| line.strip_prefix("> ").is_some_and(|asked| asked.starts_with(step)))
}

/// Returns the subject of a line. Of two lines with the same subject, the newer one wins.
fn subject<'l>(section: &str, line: &'l str) -> &'l str {
    let line = strip_pointer(line);
    let item = line.strip_prefix("- ").unwrap_or(line);
    match section {
        "What Changed" => changed_path(item).unwrap_or(item),
        "Commands" => item.rsplit_once('`').map_or(item, |(command, _)| command),
        "Working Set" if !item.starts_with("also: ") => path(item),
        _ => item,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
## What Changed

- [src/a.rs:3-4] - edited @17
- [src/b.rs] - created @18

## Why Changed

- last said: on to the next @19

## Active Issues

- `make` failed @20

## Key Decisions

- we use tar @21

## Next Steps

- [ ] caulk the seams @22

## Task

> Mend the hull. Never touch the ballast. @23
- Never touch the ballast. @24

## Commands

- `make`: failed @25
- `make -C hold`: ok @26

## Working Set

- src/a.rs (3-4): keel @27
- docs/map.md: frames @28

## References

- #12 @29
";

    fn after(own: &str) -> String {
        inherit_from_previous(own, BEFORE)
    }

    fn section<'b>(body: &'b str, name: &str) -> &'b str {
        sections(body).into_iter().find(|(known, _)| *known == name).unwrap().1.trim()
    }

    const OWN: &str = "\
## What Changed

- [src/a.rs:9] - edited @5

## Why Changed

- last said: nearly there @6

## Active Issues

- none seen

## Key Decisions

- none seen

## Next Steps

- [ ] Mend the hull. Never touch the ballast. @7

## Task

> Mend the hull. Never touch the ballast. @7

## Commands

- `make`: ok @8

## Working Set

- src/a.rs (9): keel, rib @9

## References

- none seen
";

    #[test]
    fn older_facts_follow_current_ones() {
        let body = after(OWN);
        assert_eq!(
            section(&body, "What Changed"),
            "- [src/a.rs:9] - edited @5\n- [src/b.rs] - created"
        );
        assert_eq!(section(&body, "Why Changed"), "- last said: nearly there @6");
        assert_eq!(section(&body, "Active Issues"), "- `make` failed");
        assert_eq!(section(&body, "Key Decisions"), "- we use tar");
        let task = "> Mend the hull. Never touch the ballast. @7\n- Never touch the ballast.";
        assert_eq!(section(&body, "Task"), task);
        assert_eq!(section(&body, "Commands"), "- `make`: ok @8\n- `make -C hold`: ok");
        let set = "- src/a.rs (9): keel, rib @9\n- docs/map.md: frames";
        assert_eq!(section(&body, "Working Set"), set);
        assert_eq!(section(&body, "References"), "- #12");
    }

    #[test]
    fn own_plan_and_errors_replace_older_ones() {
        let plan = "- [ ] Mend the hull. Never touch the ballast. @7";
        assert!(section(&after(OWN), "Next Steps").ends_with("- [ ] caulk the seams"));
        let own = OWN.replacen(plan, "- [ ] paint it @7", 1).replacen(
            "## Active Issues\n\n- none seen",
            "## Active Issues\n\n- `ls` failed @3",
            1,
        );
        assert_eq!(section(&after(&own), "Next Steps"), "- [ ] paint it @7");
        assert_eq!(section(&after(&own), "Active Issues"), "- `ls` failed @3");
    }

    #[test]
    fn many_sessions_stay_within_the_limit() {
        let mut body = BEFORE.to_owned();
        for leg in 0..2_000 {
            let own = OWN.replace("src/a.rs", &format!("src/file-number-{leg}.rs"));
            body = inherit_from_previous(&own, &body);
        }
        let longest: usize = ROOM.iter().sum::<usize>() + 500;
        assert!(body.len() <= longest, "{}", body.len());
        assert!(section(&body, "Task").contains("- Never touch the ballast."));
    }
}
