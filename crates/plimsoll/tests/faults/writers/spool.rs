//! Spools: what hooks say, once; and the settings that they cache.

use plimsoll_testbed::generator::SplitMix64;

use super::campaigns;
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;

/// A session at a crossing, which is to be told about once.
#[derive(Default)]
struct Spool {
    sessions: usize,
    /// Somebody has begun to say it.
    is_said: bool,
    /// How many have said it to the end.
    delivered: usize,
    is_failing: bool,
}

impl Spool {
    fn new() -> (TestEnv, Self) {
        (TestEnv::new(), Self::default())
    }

    fn session(&self) -> String {
        format!("crossing-{}", self.sessions)
    }
}

impl Writer for Spool {
    const NAME: &'static str = "spool";
    const SHARE: usize = 180;

    fn next(&mut self, env: &TestEnv, random: &mut SplitMix64) -> Call {
        let session = env.session(&self.session());
        if !session.transcript.exists() {
            session.fill(170_000);
            // The cache of the settings is made anew, too.
            env.user_config(&format!("lines: {{save: {}}}\n", 60 + random.below(10)));
        }
        Call::hook(env, &session.id, "PostToolUse")
    }

    fn note(&mut self, ran: &Ran, harm: Harm) {
        self.is_failing |= harm == Harm::Errors;
        self.is_said |= !ran.stdout.is_empty();
        let is_delivered = ran.status.success() && !ran.stdout.is_empty();
        assert!(!is_delivered || ran.to_user().is_some(), "words are whole or not there: {ran}");
        self.delivered += usize::from(is_delivered);
    }

    /// It is said once, and not before it can be remembered.
    fn check(&mut self, env: &TestEnv) {
        let session = env.session(&self.session());
        let next = session.tool_finished();
        assert!(next.speaks() || next.is_silent(), "{next}");
        assert!(self.delivered <= 1, "said {} times", self.delivered);
        if !self.is_said {
            assert!(next.speaks(), "nobody has said it");
        }
        // What was said and could not be written down is said again.
        if self.delivered == 1 && !self.is_failing {
            assert!(next.is_silent(), "it was said before: {next}");
        }
        let after = session.tool_finished();
        assert!(after.is_silent(), "{after}");
        *self = Self { sessions: self.sessions + 1, ..Self::default() };
    }

    fn finish(&mut self, env: &TestEnv) {
        // The last to leave sweeps.
        env.old_user_config("lines: {save: 66}\n");
        for at in 0..self.sessions {
            let session = env.session(&format!("crossing-{at}"));
            session.tool_finished();
            assert!(session.hook("SessionEnd").is_silent());
        }
    }
}

campaigns!(Spool::new);
