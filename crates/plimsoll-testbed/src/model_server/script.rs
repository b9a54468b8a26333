//! Chooses the answer to each request.

use std::collections::{HashSet, VecDeque};

use super::{ModelAnswer, ModelRequest, RequestKind};

/// The scripted model's rules. The first rule that returns an answer decides.
///
/// Requests for the client's own use ([`RequestKind::Side`]) never reach a script. If no rule answers, the
/// model sends the text [`UNSCRIPTED`], or a plain summary if the client asked for one.
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
}

type Rule = Box<dyn FnMut(&ModelRequest) -> Option<ModelAnswer> + Send>;

/// Answer to a turn that no rule answers.
pub const UNSCRIPTED: &str = "The script has no answer to this request.";

/// Answer to requests for the client's own use. To a prompt hook it means "go ahead".
const SIDE_ANSWER: &str = r#"{"ok": true}"#;

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule that may answer any request.
    pub fn rule(
        mut self,
        rule: impl FnMut(&ModelRequest) -> Option<ModelAnswer> + Send + 'static,
    ) -> Self {
        self.rules.push(Box::new(rule));
        self
    }

    /// Adds a rule that answers each request accepted by `fits` with the next of `answers`, until
    /// they run out.
    pub fn when(
        self,
        mut fits: impl FnMut(&ModelRequest) -> bool + Send + 'static,
        answers: impl IntoIterator<Item = ModelAnswer>,
    ) -> Self {
        let mut answers: VecDeque<ModelAnswer> = answers.into_iter().collect();
        self.rule(move |request| if fits(request) { answers.pop_front() } else { None })
    }

    /// Answers the turns of the main conversation.
    pub fn main(self, answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        self.when(ModelRequest::is_main_turn, answers)
    }

    /// Answers the turns of subagents whose prompt contains `prompt`.
    ///
    /// Remembers each such subagent from its first request, because a compaction removes the
    /// prompt.
    pub fn subagent(self, prompt: &str, answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        let prompt = prompt.to_owned();
        let mut known = HashSet::new();
        let fits = move |request: &ModelRequest| {
            let Some(agent) =
                request.agent_id.as_ref().filter(|_| request.kind == RequestKind::Turn)
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

    /// Answers summary requests, whichever conversation is compacted.
    pub fn summaries(self, answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        self.when(|request| request.kind == RequestKind::Summary, answers)
    }

    pub(super) fn answer(&mut self, request: &ModelRequest) -> ModelAnswer {
        if request.kind == RequestKind::Side {
            return ModelAnswer::text(SIDE_ANSWER);
        }
        let scripted = self.rules.iter_mut().find_map(|rule| rule(request));
        scripted.unwrap_or_else(|| match request.kind {
            RequestKind::Summary => ModelAnswer::summary("The work went on."),
            _ => ModelAnswer::text(UNSCRIPTED),
        })
    }
}
