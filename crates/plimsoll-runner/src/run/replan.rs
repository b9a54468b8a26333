//! Replanning of the remaining work.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_core::Tokens;
use plimsoll_core::plan::{Kind, Piece, Plan};
use plimsoll_core::run::{Job, Run};
use plimsoll_core::text::thousands;

use crate::batch::{self, CoChanges};

/// Replan if a batch takes more than 3/2 of its estimate.
const REPLAN_RATIO: (u128, u128) = (3, 2);

/// Measured and estimated tokens.
type MeasuredEstimated = (Tokens, Tokens);

/// Returns a new plan and the reason for it, if the last batch took far more than estimated and
/// work of the same kinds is left. `None` otherwise.
///
/// The remaining pieces of those kinds are scaled in proportion. All pieces after that batch are
/// split to fit the budget and packed again.
///
/// The result stays the same until it is recorded. If a runner is killed before that, the next
/// runner therefore makes the same plan.
pub fn replan(run: &Run, together: &dyn Fn(&[String]) -> CoChanges) -> Option<(Plan, String)> {
    let plan = run.plan.as_ref()?;
    let number = run.last_batch().filter(|number| run.planned_after() != Some(*number))?;
    let (kept, rest) = plan.batches.split_at_checked(number as usize)?;
    let closed = run.closed(plan);
    if !kept.last()?.iter().all(|piece| closed.contains(piece.id.as_str())) {
        return None;
    }
    let far_more = underestimated_kinds(run, number);
    let mut rest: Vec<Piece> = rest.concat();
    let mut kinds = BTreeSet::new();
    // A figure given by the user is not an estimate, so it is not scaled.
    for piece in rest.iter_mut().filter(|piece| !piece.given) {
        if let Some(taken) = far_more.get(&piece.kind) {
            scale_piece(piece, *taken);
            kinds.insert(piece.kind);
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let planned = batch::repack(kept, rest, plan.available, together).ok()?.plan;
    let why = format!("{}: {}", reason(run, number, &kinds), planned.extent());
    Some((Plan { done: plan.done.clone(), ..planned }, why))
}

fn reason(run: &Run, number: u32, kinds: &BTreeSet<Kind>) -> String {
    let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
    let (measured, estimated) =
        measured_jobs(run, number).fold((0, 0), |sum, (_, taken)| add(sum, taken));
    format!(
        "batch {number} took {} tokens and was estimated at {}; what is left of its kinds ({}) is \
         estimated in proportion",
        thousands(measured),
        thousands(estimated),
        words.join(", ")
    )
}

/// Returns the jobs of a batch with their measured and estimated tokens.
fn measured_jobs(run: &Run, number: u32) -> impl Iterator<Item = (&Job, MeasuredEstimated)> {
    let jobs = run.jobs.iter().filter(move |job| job.begun.batch == Some(number));
    jobs.filter_map(|job| Some((job, job.measured().zip(job.begun.tokens)?)))
}

/// Returns the kinds whose jobs took far more than estimated, with the sums over those jobs.
fn underestimated_kinds(run: &Run, number: u32) -> BTreeMap<Kind, MeasuredEstimated> {
    let mut sums: BTreeMap<Kind, MeasuredEstimated> = BTreeMap::new();
    for (job, taken) in measured_jobs(run, number) {
        let pieces = job.begun.pieces.iter().filter_map(|id| run.piece(id));
        for kind in pieces.map(|piece| piece.kind).collect::<BTreeSet<Kind>>() {
            let sum = sums.entry(kind).or_default();
            *sum = add(*sum, taken);
        }
    }
    let (times, of) = REPLAN_RATIO;
    sums.retain(|_, (measured, estimated)| {
        u128::from(*measured) * of > u128::from(*estimated) * times
    });
    sums
}

/// Scales the estimate of a piece and of its parts, except parts whose figure the user gave.
fn scale_piece(piece: &mut Piece, taken: MeasuredEstimated) {
    // Calibration learns from the unscaled figure of the formula.
    piece.formula.get_or_insert(piece.tokens);
    piece.tokens = scale(piece.tokens, taken);
    let parts = piece.parts.iter_mut().filter(|part| !part.given);
    parts.for_each(|part| scale_piece(part, taken));
}

fn add(one: MeasuredEstimated, other: MeasuredEstimated) -> MeasuredEstimated {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

/// Scales `tokens` by the ratio of measured to estimated tokens.
fn scale(tokens: Tokens, (measured, estimated): MeasuredEstimated) -> Tokens {
    let scaled = u128::from(tokens) * u128::from(measured) / u128::from(estimated.max(1));
    Tokens::try_from(scaled).unwrap_or(Tokens::MAX)
}

#[cfg(test)]
mod tests {
    use plimsoll_core::plan;

    use super::super::jobs::tests::{RunBuilder, piece};
    use super::*;

    fn no_relations(_: &[String]) -> CoChanges {
        CoChanges::default()
    }

    fn story(measured: Tokens) -> RunBuilder {
        let fix = |id: &str, after: &[&str]| Piece { tokens: 40, ..piece(id, "fix", after) };
        let add = Piece { tokens: 60, ..piece("other", "add", &[]) };
        RunBuilder::new(vec![
            vec![fix("a", &[]), fix("b", &[])],
            vec![fix("c", &["a"]), add],
            vec![fix("d", &["c"]), fix("e", &[])],
        ])
        .job(1, 1, &["a", "b"], 80)
        .session(1, measured)
        .job_done(1)
    }

    fn batch_of(plan: &Plan, id: &str) -> Option<usize> {
        plan.batches.iter().position(|batch| batch.iter().any(|piece| piece.id == id))
    }

    #[test]
    fn an_underestimated_batch_scales_and_repacks_the_rest() {
        let run = story(160).build();
        let (plan, why) = replan(&run, &no_relations).unwrap();
        assert_eq!(plan.batches[0], run.plan.as_ref().unwrap().batches[0]);
        let mut rest: Vec<(&str, Tokens)> =
            plan.batches[1..].iter().flatten().map(|piece| (&*piece.id, piece.tokens)).collect();
        rest.sort_unstable();
        assert_eq!(rest, [("c", 80), ("d", 80), ("e", 80), ("other", 60)]);
        assert!(plan.batches.iter().all(|pieces| plan::load(pieces) <= plan.available));
        assert!(batch_of(&plan, "c") < batch_of(&plan, "d"));
        assert_eq!(plan.batches[batch_of(&plan, "c").unwrap()][0].after, ["a"]);
        let expected = "batch 1 took 160 tokens and was estimated at 80; what is left of its kinds (fix) \
                        is estimated in proportion: 6 tasks in 5 batches";
        assert_eq!(why, expected);
    }

    #[test]
    fn up_to_half_above_the_estimate_changes_nothing() {
        assert_eq!(replan(&story(120).build(), &no_relations), None);
        assert!(replan(&story(121).build(), &no_relations).is_some());
    }

    #[test]
    fn without_work_of_the_kind_nothing_changes() {
        let last = vec![vec![Piece { tokens: 40, ..piece("a", "fix", &[]) }]];
        let run = RunBuilder::new(last).job(1, 1, &["a"], 40).session(1, 999).job_done(1).build();
        assert_eq!(replan(&run, &no_relations), None);
    }

    #[test]
    fn figures_given_by_the_user_are_not_scaled() {
        let fix = |id: &str, given| Piece { tokens: 40, given, ..piece(id, "fix", &[]) };
        let rest = |batch| {
            let story = RunBuilder::new(vec![vec![fix("a", false)], batch]);
            let run = story.job(1, 1, &["a"], 40).session(1, 80).job_done(1).build();
            replan(&run, &no_relations).map(|(plan, _)| plan.batches[1..].concat())
        };
        let part = Piece { parts: vec![fix("c.1", true)], ..fix("c", false) };
        let rest_of = rest(vec![fix("b", true), part]).unwrap();
        let of = |id: &str| rest_of.iter().find(|piece| piece.id == id).unwrap();
        assert_eq!((of("b").tokens, of("c").tokens, of("c").parts[0].tokens), (40, 80, 40));
        assert_eq!(rest(vec![fix("b", true)]), None, "nothing is left to estimate");
    }

    #[test]
    fn replans_once_after_a_finished_batch() {
        let run = story(160).build();
        let (plan, why) = replan(&run, &no_relations).unwrap();
        assert_eq!(
            replan(&run, &no_relations),
            Some((plan.clone(), why.clone())),
            "nobody wrote it down"
        );
        let planned = story(160).replanned(plan.clone(), &why);
        assert_eq!(replan(&planned.build(), &no_relations), None);
        let begun = story(160).replanned(plan, &why).job(2, 2, &["c"], 80).session(2, 999);
        assert_eq!(replan(&begun.build(), &no_relations), None, "the batch is not done");
    }

    #[test]
    fn the_unscaled_formula_figure_is_kept_for_calibration() {
        let (plan, _) = replan(&story(160).build(), &no_relations).unwrap();
        let told = |id: &str| plan.pieces().find(|piece| piece.id == id).unwrap().formula;
        assert_eq!((told("c"), told("other"), told("a")), (Some(40), None, None));
    }
}
