//! A recorded session of an agent, which can be replayed without the agent.

/// A recorded session.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// One step per line, in recorded order: `{"hook":…}` with a payload, or `{"record":…}` with a
    /// transcript record.
    pub(crate) tape: &'static str,
    /// The home directory of the recording.
    pub(crate) home: &'static str,
}

/// A step of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The agent calls its hook with this payload.
    Hook(String),
    /// The agent appends this record to the transcript.
    Record(String),
}

impl Sample {
    /// Returns the steps, with all paths moved to `home`.
    pub fn steps(self, home: &str) -> impl Iterator<Item = Step> {
        let quoted = serde_json::Value::from(home).to_string();
        let moved = move |json: &str| json.replace(self.home, &quoted[1..quoted.len() - 1]);
        self.tape.lines().filter_map(move |line| {
            let step = line.strip_prefix('{')?.strip_suffix('}')?;
            let hook = step.strip_prefix(r#""hook":"#).map(|json| Step::Hook(moved(json)));
            let record = || step.strip_prefix(r#""record":"#).map(|json| Step::Record(moved(json)));
            hook.or_else(record)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_line_of_a_tape_is_a_step_that_can_be_read_in_any_home() {
        for sample in crate::ALL.iter().filter_map(|agent| agent.sample()) {
            let steps: Vec<Step> = sample.steps(r#"/mnt/a \\ "b""#).collect();
            assert_eq!(steps.len(), sample.tape.lines().count());
            for step in steps {
                let (Step::Hook(json) | Step::Record(json)) = step;
                let value: Value = serde_json::from_str(&json).unwrap();
                assert_eq!(value["cwd"].as_str(), Some(r#"/mnt/a \\ "b"/project"#));
            }
        }
    }

    #[test]
    fn a_tape_is_small_and_holds_nobodys_paths() {
        for tape in crate::ALL.iter().filter_map(|agent| agent.sample()).map(|it| it.tape) {
            assert!(tape.len() < 120 << 10);
            for word in ["/tmp/", "/root", "/work"] {
                assert!(!tape.contains(word), "{word}");
            }
        }
    }
}
