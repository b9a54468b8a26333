//! Which answer a request gets.

use std::collections::{HashSet, VecDeque};

use super::{Answer, Kind, Request};

/// The model's part of a conversation: rules, of which the first that has an answer gives it.
///
/// Requests the client makes for itself ([`Kind::Side`]) never reach a script. A request that no
/// rule answers gets a plain text that says so, a summary that no rule gives a plain summary.
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
}

type Rule = Box<dyn FnMut(&Request) -> Option<Answer> + Send>;

/// What the model says when the script has nothing for it to say.
pub const UNSCRIPTED: &str = "The script has no answer to this request.";

/// What the client hears when it asks for itself; for a prompt hook it means "go ahead".
const ASSENT: &str = r#"{"ok": true}"#;

impl Script {
    /// A script without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers what `rule` answers.
    pub fn rule(mut self, rule: impl FnMut(&Request) -> Option<Answer> + Send + 'static) -> Self {
        self.rules.push(Box::new(rule));
        self
    }

    /// Answers each request that `fits` with the next of `answers`, until they are used up.
    pub fn when(
        self,
        mut fits: impl FnMut(&Request) -> bool + Send + 'static,
        answers: impl IntoIterator<Item = Answer>,
    ) -> Self {
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        self.rule(move |request| if fits(request) { answers.pop_front() } else { None })
    }

    /// The steps of the main conversation.
    pub fn main(self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.when(Request::is_main_turn, answers)
    }

    /// The steps of the subagents whose prompt contains `prompt`.
    ///
    /// They are known by their first request, because a compaction takes the prompt away.
    pub fn subagent(self, prompt: &str, answers: impl IntoIterator<Item = Answer>) -> Self {
        let prompt = prompt.to_owned();
        let mut known = HashSet::new();
        let fits = move |request: &Request| {
            let Some(agent) = request.agent_id.as_ref().filter(|_| request.kind == Kind::Turn)
            else {
                return false;
            };
            if request.first_text().contains(&prompt) {
                known.insert(agent.clone());
            }
            known.contains(agent)
        };
        self.when(fits, answers)
    }

    /// The summaries, of whichever conversation is compacted first.
    pub fn summaries(self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.when(|request| request.kind == Kind::Summary, answers)
    }

    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        if request.kind == Kind::Side {
            return Answer::text(ASSENT);
        }
        let scripted = self.rules.iter_mut().find_map(|rule| rule(request));
        scripted.unwrap_or_else(|| match request.kind {
            Kind::Summary => Answer::summary("The work went on."),
            _ => Answer::text(UNSCRIPTED),
        })
    }
}
