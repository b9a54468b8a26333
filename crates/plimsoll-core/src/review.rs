//! Parses the answer of a reviewer, a command that sees all sessions.
//!
//! The answer has lines `STATUS: …` and `RECOMMENDED_ACTION: …` anywhere in the output, because
//! models like to add text. The status makes a model think before it recommends an action; it has
//! no effect.

use crate::name::is_meant;

/// The answer of a reviewer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The reviewer asks for the second reviewer.
    pub escalates: bool,
    /// The sessions that should make a checkpoint.
    pub checkpoints: Whom,
}

/// A selection of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Whom {
    #[default]
    Nobody,
    /// All sessions whose window is above the checkpoint threshold.
    Due,
    /// The sessions with these names, which may be shortened.
    Named(Vec<String>),
}

/// The action that asks for a checkpoint.
pub const TRIGGER: &str = "trigger_checkpoint";
/// The action that asks for the second reviewer.
pub const ESCALATE: &str = "escalate";

/// Minimum length of a shortened name. Anything shorter is too ambiguous.
const SHORTEST_NAME: usize = 4;

impl Answer {
    /// Parses the output of a reviewer. Ignores unknown actions.
    pub fn parse(text: &str) -> Self {
        let mut answer = Self::default();
        for line in text.lines() {
            if let Some(action) = after(line, "RECOMMENDED_ACTION:") {
                answer.act(action);
            }
        }
        answer
    }

    fn act(&mut self, action: &str) {
        let mut words = action.split(|at: char| at.is_whitespace() || at == ',' || at == '`');
        let mut words = words.by_ref().filter(|word| !word.is_empty());
        match words.next() {
            Some(ESCALATE) => self.escalates = true,
            Some(TRIGGER) => self.checkpoints.add(words.map(str::to_owned).collect()),
            _ => {}
        }
    }
}

impl Whom {
    fn add(&mut self, names: Vec<String>) {
        match (&mut *self, names.is_empty()) {
            (Self::Due, _) => {}
            (_, true) => *self = Self::Due,
            (Self::Named(known), false) => known.extend(names),
            (Self::Nobody, false) => *self = Self::Named(names),
        }
    }

    /// Returns whether the selection includes a session with this name. `is_due` says whether its
    /// window is above the checkpoint threshold.
    pub fn means(&self, name: &str, is_due: bool) -> bool {
        match self {
            Self::Nobody => false,
            Self::Due => is_due,
            Self::Named(names) => {
                let tells = |said: &&String| said.len() >= SHORTEST_NAME.min(name.len());
                names.iter().filter(tells).any(|said| is_meant(name, said))
            }
        }
    }
}

/// Returns the text after a heading, ignoring Markdown markup around it.
fn after<'l>(line: &'l str, heading: &str) -> Option<&'l str> {
    let line = line.trim_start_matches(|at: char| at.is_whitespace() || "*#->`".contains(at));
    Some(line.strip_prefix(heading)?.trim_matches(|at: char| at.is_whitespace() || at == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, escalates: bool, checkpoints: Whom) {
        assert_eq!(Answer::parse(text), Answer { escalates, checkpoints }, "{text}");
    }

    fn named(names: &[&str]) -> Whom {
        Whom::Named(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn an_answer_is_found_in_whatever_else_is_said() {
        check("STATUS: normal\nRECOMMENDED_ACTION: none\n", false, Whom::Nobody);
        check("STATUS: context_high\nRECOMMENDED_ACTION: trigger_checkpoint", false, Whom::Due);
        let chatty = "Sure!\n\n**STATUS: context_high**\n- RECOMMENDED_ACTION: trigger_checkpoint `5f2c81aa`, 77b0";
        check(chatty, false, named(&["5f2c81aa", "77b0"]));
        let two = "RECOMMENDED_ACTION: trigger_checkpoint aaaa\nRECOMMENDED_ACTION: trigger_checkpoint bbbb";
        check(two, false, named(&["aaaa", "bbbb"]));
        check("RECOMMENDED_ACTION: escalate", true, Whom::Nobody);
        check("", false, Whom::Nobody);
        check("RECOMMENDED_ACTION: rm -rf /\nSTATUS: \u{1b}[2Jx", false, Whom::Nobody);
    }

    #[test]
    fn those_who_are_meant_are_known_by_the_beginning_of_their_names() {
        assert!(named(&["5f2c"]).means("5f2c81aa-77b0", false));
        assert!(!named(&["5"]).means("5f2c81aa-77b0", true), "too little to go by");
        assert!(!named(&["77b0"]).means("5f2c81aa-77b0", true));
        assert!(Whom::Due.means("a", true) && !Whom::Due.means("a", false));
        assert!(!Whom::Nobody.means("a", true));
    }
}
