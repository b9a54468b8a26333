//! The open steps of the work, from the plans made so far.

use plimsoll_core::bytes;
use plimsoll_core::entry::Place;
use serde::{Deserialize, Serialize};

use super::record::StepState;
use super::sentences::cut;
use super::sourced_text::SourcedText;

const MOST_STEPS: usize = 80;
const LONGEST_STEP: usize = 300;
/// After this many messages without a list, the last proposed list is dropped.
const A_WHILE: u32 = 4;

/// The steps of the work: a list that is replaced as a whole, steps added and completed one by one,
/// and the approved plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WorkPlan {
    list: Vec<PlannedStep>,
    steps: Vec<PlannedStep>,
    agreed: Vec<PlannedStep>,
    /// Steps that the model last proposed. `age` counts the messages since.
    proposed: Vec<PlannedStep>,
    age: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PlannedStep {
    /// The agent's name for the step; empty if it has none.
    name: String,
    text: SourcedText,
    done: bool,
}

impl PlannedStep {
    fn new(name: &str, text: &str, done: bool, place: Place) -> Self {
        let text = SourcedText::new(cut(text, LONGEST_STEP), place);
        Self { name: name.to_owned(), text, done }
    }
}

impl WorkPlan {
    /// Returns the open steps. A list is more precise than the plan it came from, so the plan
    /// counts only if there is no list; proposed steps count only if neither has open steps.
    pub(super) fn open(&self) -> impl Iterator<Item = &SourcedText> {
        let proposed = self.proposed.iter().filter(|_| self.planned().next().is_none());
        self.planned().chain(proposed).map(|step| &step.text)
    }

    fn planned(&self) -> impl Iterator<Item = &PlannedStep> {
        let listed = self.list.iter().chain(&self.steps);
        let agreed = self.agreed.iter().filter(|_| self.list.is_empty() && self.steps.is_empty());
        listed.chain(agreed).filter(|step| !step.done)
    }

    /// Reads a message of the model, which may propose next steps.
    pub(super) fn propose(&mut self, text: &str, at: Place) {
        let steps = next_steps(text).take(MOST_STEPS);
        let steps: Vec<PlannedStep> =
            steps.map(|step| PlannedStep::new("", step, false, at)).collect();
        self.age = if steps.is_empty() { self.age + 1 } else { 0 };
        if !steps.is_empty() || self.age >= A_WHILE {
            self.proposed = steps;
        }
    }

    pub(super) fn replace<'t>(&mut self, steps: impl Iterator<Item = (&'t str, bool)>, at: Place) {
        self.list = steps
            .take(MOST_STEPS)
            .map(|(text, done)| PlannedStep::new("", text, done, at))
            .collect();
    }

    pub(super) fn add(&mut self, name: &str, text: &str, at: Place) {
        if self.steps.len() == MOST_STEPS {
            let done = self.steps.iter().position(|step| step.done);
            self.steps.remove(done.unwrap_or(0));
        }
        self.steps.retain(|step| step.name != name);
        self.steps.push(PlannedStep::new(name, text, false, at));
    }

    /// Updates or adds a step that a printed list shows.
    pub(super) fn show(&mut self, name: &str, text: &str, state: StepState, at: Place) {
        let is_known = self.steps.iter().any(|step| step.name == name);
        if !is_known && state == StepState::Open {
            self.add(name, text, at);
        }
        self.set(name, None, Some(state), at);
    }

    pub(super) fn set(
        &mut self,
        name: &str,
        text: Option<&str>,
        state: Option<StepState>,
        at: Place,
    ) {
        let Some(step) = self.steps.iter_mut().find(|step| step.name == name) else { return };
        if let Some(text) = text {
            step.text = SourcedText::new(cut(text, LONGEST_STEP), at);
        }
        match state {
            Some(StepState::Dropped) => self.steps.retain(|step| step.name != name),
            Some(state) => step.done = state == StepState::Done,
            None => {}
        }
    }

    /// Reads an approved plan. Steps listed before it belong to an older plan.
    pub(super) fn agree(&mut self, text: &str, at: Place) {
        self.list.clear();
        self.steps.retain(|step| !step.done);
        self.agreed = steps(text)
            .into_iter()
            .take(MOST_STEPS)
            .map(|(step, done)| PlannedStep::new("", step, done, at))
            .collect();
    }
}

/// Returns the items of the last list below a "next steps" heading in a message.
fn next_steps(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = bytes::lines(text).collect();
    let headed = lines.iter().rposition(|line| is_next(line));
    let below = headed.map_or(lines.len(), |at| at + 1);
    let lines = lines.into_iter().skip(below).filter(|line| !line.trim().is_empty());
    let items = lines.take_while(|line| line.starts_with(' ') || listed(line).is_some());
    items.filter_map(listed)
}

/// Returns whether a line is a heading such as `## Next steps` or `**Next steps:**`.
fn is_next(line: &str) -> bool {
    const LONGEST: usize = 80;
    let is_heading = line.starts_with(['#', '*']) || line.trim_end().ends_with(':');
    if !is_heading || line.len() > LONGEST {
        return false;
    }
    let is_letter = |c: &char| c.is_alphabetic() || *c == ' ';
    let words: String = line.replace('’', "").chars().filter(is_letter).collect();
    let words = words.trim().to_lowercase();
    matches!(&*words, "next" | "next step" | "next steps" | "remaining" | "whats next")
}

/// Returns an open item of a list. An indented item is part of another one.
fn listed(line: &str) -> Option<&str> {
    if let Some((text, done)) = checkbox(line) {
        return Some(text).filter(|_| !done && !line.starts_with(' '));
    }
    let item = ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
    item.or_else(|| numbered(line).filter(|_| !line.starts_with('#'))).map(str::trim)
}

/// Returns the steps of a written plan: its checkboxes, else its numbered items or headings, else
/// its title.
fn steps(text: &str) -> Vec<(&str, bool)> {
    let boxes: Vec<(&str, bool)> = text.lines().filter_map(checkbox).collect();
    if !boxes.is_empty() {
        return boxes;
    }
    let numbered: Vec<(&str, bool)> =
        text.lines().filter_map(numbered).map(|step| (step, false)).collect();
    if !numbered.is_empty() {
        return numbered;
    }
    let title = text.lines().map(|line| line.trim_start_matches('#').trim());
    title.filter(|line| !line.is_empty()).take(1).map(|line| (line, false)).collect()
}

fn checkbox(line: &str) -> Option<(&str, bool)> {
    let rest = line.trim_start().strip_prefix(['-', '*'])?.trim_start().strip_prefix('[')?;
    let (mark, text) = rest.split_once(']')?;
    matches!(mark, " " | "x" | "X").then(|| (text.trim(), mark != " "))
}

/// Returns a numbered step: `3. Do it`, `### 3. Do it`, `## Step 3: Do it`.
fn numbered(line: &str) -> Option<&str> {
    let heading = line.trim_start_matches('#');
    let is_heading = heading.len() < line.len();
    let text = heading.trim_start_matches([' ', '*']);
    // An indented item is part of a step.
    if !is_heading && line.starts_with(' ') {
        return None;
    }
    let named = ["Step ", "Phase ", "Task "].iter().find_map(|name| text.strip_prefix(name));
    let number = named.filter(|_| is_heading).unwrap_or(text);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let rest = number[digits..].strip_prefix(['.', ':', ')'])?;
    (digits > 0 && !rest.trim().is_empty()).then_some(text.trim_end_matches(['*', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(plan: &WorkPlan) -> Vec<&str> {
        plan.open().map(|step| &**step).collect()
    }

    #[test]
    fn steps_are_added_and_ticked_off_by_name() {
        let mut plan = WorkPlan::default();
        plan.add("1", "first", 10);
        plan.add("2", "second", 20);
        plan.add("3", "third", 30);
        plan.set("1", None, Some(StepState::Done), 40);
        plan.set("2", Some("second, better"), Some(StepState::Open), 50);
        plan.set("3", None, Some(StepState::Dropped), 60);
        plan.set("9", None, Some(StepState::Done), 70);
        plan.show("2", "second, better", StepState::Open, 80);
        plan.show("4", "fourth", StepState::Done, 80);
        assert_eq!(open(&plan), ["second, better"]);
        assert_eq!(plan.open().next().map(|step| step.place), Some(50));
    }

    #[test]
    fn a_list_replaces_its_plan() {
        let mut plan = WorkPlan::default();
        plan.agree("# Title\n\n## Context\nwords\n\n### 1. Do a\n- detail\n### 2. Do b\n", 5);
        assert_eq!(open(&plan), ["1. Do a", "2. Do b"]);
        plan.replace([("a", true), ("b", false)].into_iter(), 9);
        assert_eq!(open(&plan), ["b"]);
    }

    #[test]
    fn plan_steps_are_found_in_several_notations() {
        assert_eq!(steps("# T\n- [x] a\n- [ ] b\n1. c"), [("a", true), ("b", false)]);
        assert_eq!(steps("## Step 1: a\n1) b\n   2. c"), [("Step 1: a", false), ("1) b", false)]);
        assert_eq!(steps("# Make it so\nwords"), [("Make it so", false)]);
        assert_eq!(steps(""), []);
    }

    #[test]
    fn proposed_steps_count_without_a_plan() {
        let mut plan = WorkPlan::default();
        let said = "Done:\n- a\n\n**Next steps:**\n\n1. Wire `b` up\n   - in two parts\n2. Test it\n\nShall I?\n- no";
        plan.propose(said, 3);
        assert_eq!(open(&plan), ["1. Wire `b` up", "2. Test it"]);
        plan.propose("Now the next steps: I wire it up.", 4);
        assert_eq!(open(&plan).len(), 2);
        plan.replace([("c", false)].into_iter(), 5);
        assert_eq!(open(&plan), ["c"]);
        plan.replace([("c", true)].into_iter(), 6);
        assert_eq!(open(&plan).len(), 2);
        (0..A_WHILE).for_each(|_| plan.propose("I go on.", 7));
        assert_eq!(open(&plan), [""; 0]);
    }

    #[test]
    fn no_plan_grows_without_bound() {
        let mut plan = WorkPlan::default();
        for number in 0..3 * MOST_STEPS {
            plan.add(&number.to_string(), "step", 1);
        }
        assert_eq!(plan.steps.len(), MOST_STEPS);
    }
}
