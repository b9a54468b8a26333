use std::time::Duration;

use plimsoll_core::plan::{Kind, Plan};
use plimsoll_core::run::{
    Begun, Ending, Fingerprint, LegBegun, LegEnd, Limits, Line, RunId, Sort, What,
};
use plimsoll_core::{Millis, Tokens};

use super::*;

/// Builds a run of a plan, record by record.
pub(in crate::run) struct RunBuilder(Vec<What>);

pub(in crate::run) fn piece(id: &str, description: &str, after: &[&str]) -> Piece {
    Piece {
        id: id.to_owned(),
        description: description.to_owned(),
        tokens: 10,
        kind: Kind::of(description),
        after: after.iter().map(|id| (*id).to_owned()).collect(),
        ..Piece::default()
    }
}

impl RunBuilder {
    pub(in crate::run) fn new(batches: Vec<Vec<Piece>>) -> Self {
        let begun = Begun {
            sort: Sort::Plan,
            project: "/p".to_owned(),
            title: "Refit".to_owned(),
            command: vec!["agent".to_owned()],
            limits: Limits::default(),
            pace: None,
        };
        let plan = Plan { available: 100, batches, done: Vec::new() };
        Self(vec![What::Begun(begun), What::Planned { plan, why: None }])
    }

    pub(in crate::run) fn job(
        mut self,
        job: u32,
        batch: u32,
        pieces: &[&str],
        tokens: Tokens,
    ) -> Self {
        let pieces = pieces.iter().map(|id| (*id).to_owned()).collect();
        let (batch, tokens) = (Some(batch), Some(tokens));
        self.0.push(What::JobBegun(JobBegun { job, title: String::new(), batch, pieces, tokens }));
        self
    }

    /// Adds a finished session whose window grew by `grown` tokens.
    pub(in crate::run) fn session(mut self, job: u32, grown: Tokens) -> Self {
        let leg = LegBegun { job, leg: 1, attempt: 1, session: None, restore: None };
        self.0.push(What::LegBegun(leg));
        self.0.push(What::LegEnded(LegEnd {
            job,
            leg: 1,
            how: Ending::Exited { code: 0 },
            first: Some(5),
            used: Some(5 + grown),
            window: None,
            responses: 1,
            checkpoint: None,
            fingerprint: Fingerprint::default(),
        }));
        self
    }

    pub(in crate::run) fn job_done(mut self, job: u32) -> Self {
        self.0.push(What::JobDone { job, checkpoint: Some(format!("c{job}")) });
        self
    }

    pub(in crate::run) fn replanned(mut self, plan: Plan, why: &str) -> Self {
        self.0.push(What::Planned { plan, why: Some(why.to_owned()) });
        self
    }

    fn job_failed(mut self, job: u32) -> Self {
        self.0.push(What::JobFailed { job, why: "exit code 1".to_owned() });
        self
    }

    pub(in crate::run) fn build(self) -> Run {
        let id = RunId::new("019a8f00-0000-7000-8000-0123456789ab").unwrap();
        let lines = self.0.into_iter().enumerate();
        Run::fold(id, lines.map(|(at, what)| Line { at: at as Millis, what })).unwrap()
    }
}

/// Two batches: `c` depends on `a`, and `d` on `b`.
fn two_batches() -> RunBuilder {
    RunBuilder::new(vec![
        vec![piece("a", "fix", &[]), piece("b", "fix", &[])],
        vec![piece("c", "fix", &["a"]), piece("d", "fix", &["b"])],
    ])
}

fn next_jobs_brief(run: &Run, per: SessionPer) -> Vec<(u32, u32, String)> {
    let told = |job: JobBegun| (job.job, job.batch.unwrap(), job.pieces.join(" "));
    next_jobs(run, per).into_iter().map(told).collect()
}

#[track_caller]
fn check(story: RunBuilder, per: SessionPer, expected: &[(u32, u32, &str)]) {
    let found = next_jobs_brief(&story.build(), per);
    let expected: Vec<_> =
        expected.iter().map(|(job, batch, ids)| (*job, *batch, (*ids).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn batches_come_in_order_and_finished_work_is_not_repeated() {
    check(two_batches(), SessionPer::Batch, &[(1, 1, "a b")]);
    check(two_batches(), SessionPer::Task, &[(1, 1, "a"), (2, 1, "b")]);
    check(
        two_batches().job(1, 1, &["a", "b"], 20).job_done(1),
        SessionPer::Batch,
        &[(2, 2, "c d")],
    );
    let all =
        two_batches().job(1, 1, &["a", "b"], 20).job_done(1).job(2, 2, &["c", "d"], 20).job_done(2);
    check(all, SessionPer::Batch, &[]);
}

#[test]
fn a_begun_job_continues_under_its_number() {
    let begun = two_batches().job(1, 1, &["a"], 10).job(2, 1, &["b"], 10).job_done(1);
    check(begun, SessionPer::Task, &[(2, 1, "b")]);
    let begun = two_batches().job(1, 1, &["a"], 10).job_done(1);
    check(begun, SessionPer::Batch, &[(2, 1, "b")]);
}

#[test]
fn a_begun_job_keeps_its_pieces_when_the_setting_changes() {
    let begun = || two_batches().job(1, 1, &["a", "b"], 20);
    check(begun(), SessionPer::Task, &[(1, 1, "a b")]);
    check(begun().job_done(1), SessionPer::Task, &[(2, 2, "c"), (3, 2, "d")]);
    let begun = two_batches().job(1, 1, &["a"], 10);
    check(begun, SessionPer::Batch, &[(1, 1, "a"), (2, 1, "b")]);
}

#[test]
fn dependents_of_a_failed_task_are_skipped() {
    let failed =
        two_batches().job(1, 1, &["a"], 10).job_failed(1).job(2, 1, &["b"], 10).job_done(2);
    check(failed, SessionPer::Task, &[(3, 2, "d")]);
}

#[test]
fn a_failed_job_can_be_begun_again() {
    let again = two_batches().job(1, 1, &["a", "b"], 20).job_failed(1).job(1, 1, &["a", "b"], 20);
    check(again, SessionPer::Batch, &[(1, 1, "a b")]);
}

#[test]
fn done_and_open_pieces_are_listed_in_order() {
    let run =
        two_batches().job(1, 1, &["a"], 10).job(2, 1, &["b"], 10).job_done(2).job_done(1).build();
    let ids = |pieces: Vec<&Piece>| pieces.iter().map(|piece| piece.id.clone()).collect::<String>();
    assert_eq!(
        (ids(run.done_pieces()), ids(run.open_pieces())),
        ("ba".to_owned(), "cd".to_owned())
    );
    assert_eq!(run.last_checkpoint(), Some("c1"));
}

#[test]
fn pauses_double_up_to_five_minutes() {
    let base = Duration::from_secs(2);
    let pauses = [1, 2, 3, 4, 100].map(|attempt| retry_pause(base, attempt).as_secs());
    assert_eq!(pauses, [2, 4, 8, 16, 300]);
    assert_eq!(retry_pause(Duration::ZERO, 9), Duration::ZERO);
}

#[test]
fn extreme_numbers_do_not_overflow() {
    let large = |id: &str| Piece { tokens: Tokens::MAX, ..piece(id, "fix", &[]) };
    let story = RunBuilder::new(vec![vec![large("a"), large("b")]]).job(u32::MAX, 9, &["c"], 1);
    let jobs = next_jobs(&story.build(), SessionPer::Task);
    assert_eq!(jobs.iter().map(|job| job.job).collect::<Vec<_>>(), [u32::MAX; 2]);
}
