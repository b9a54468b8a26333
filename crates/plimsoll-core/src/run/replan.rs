//! Planning again what is left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Job, Run};
use crate::Tokens;
use crate::batch::{self, Kind, Piece, Plan};
use crate::text::thousands;

/// How much more than estimated a batch must take for the rest to be planned again: half as much.
const FAR_MORE: (u128, u128) = (3, 2);

/// What was measured, and what was estimated.
type Taken = (Tokens, Tokens);

impl Run {
    /// The plan anew, and why, where the batch of that number has taken far more than was estimated and
    /// work of the same kinds is left: that is estimated in proportion, and all that nobody has begun is
    /// packed again.
    pub fn replan(&self, number: u32) -> Option<(Plan, String)> {
        let plan = self.plan.as_ref()?;
        let (kept, rest) = plan.batches.split_at_checked(number as usize)?;
        let is_begun =
            |piece: &Piece| self.jobs.iter().any(|job| job.begun.pieces.contains(&piece.id));
        if rest.iter().flatten().any(is_begun) {
            return None;
        }
        let far_more = self.far_more(number);
        let mut rest: Vec<Piece> = rest.concat();
        let mut kinds = BTreeSet::new();
        for piece in &mut rest {
            if let Some(taken) = far_more.get(&piece.kind) {
                piece.tokens = in_proportion(piece.tokens, *taken);
                kinds.insert(piece.kind);
            }
        }
        if kinds.is_empty() {
            return None;
        }
        let batches = [kept, &packed(rest, plan.available)?].concat();
        Some((Plan { available: plan.available, batches }, self.why(number, &kinds)))
    }

    fn why(&self, number: u32, kinds: &BTreeSet<Kind>) -> String {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        let (measured, estimated) =
            self.taken(number).fold((0, 0), |sum, (_, taken)| add(sum, taken));
        format!(
            "batch {number} took {} tokens and was estimated at {}; what is left of its kinds ({}) is \
             estimated in proportion",
            thousands(measured),
            thousands(estimated),
            words.join(", ")
        )
    }

    /// What each job of a batch has taken.
    fn taken(&self, number: u32) -> impl Iterator<Item = (&Job, Taken)> {
        let jobs = self.jobs.iter().filter(move |job| job.begun.batch == Some(number));
        jobs.filter_map(|job| Some((job, job.measured().zip(job.begun.tokens)?)))
    }

    /// The kinds whose jobs have taken far more than was estimated, and what they took.
    fn far_more(&self, number: u32) -> BTreeMap<Kind, Taken> {
        let mut sums: BTreeMap<Kind, Taken> = BTreeMap::new();
        for (job, taken) in self.taken(number) {
            let pieces = job.begun.pieces.iter().filter_map(|id| self.piece(id));
            for kind in pieces.map(|piece| piece.kind).collect::<BTreeSet<Kind>>() {
                let sum = sums.entry(kind).or_default();
                *sum = add(*sum, taken);
            }
        }
        let (times, of) = FAR_MORE;
        sums.retain(|_, (measured, estimated)| {
            u128::from(*measured) * of > u128::from(*estimated) * times
        });
        sums
    }
}

/// Batches of these pieces. What each comes after stays as it was: it may have failed.
fn packed(pieces: Vec<Piece>, available: Tokens) -> Option<Vec<Vec<Piece>>> {
    let after = |piece: &Piece| (piece.id.clone(), piece.after.clone());
    let mut after: HashMap<String, Vec<String>> = pieces.iter().map(after).collect();
    let mut batches = batch::repack(pieces, available).ok()?.plan.batches;
    for piece in batches.iter_mut().flatten() {
        piece.after = after.remove(&piece.id).unwrap_or_default();
    }
    Some(batches)
}

fn add(one: Taken, other: Taken) -> Taken {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

/// As much more of `tokens` as was measured.
fn in_proportion(tokens: Tokens, (measured, estimated): Taken) -> Tokens {
    let scaled = u128::from(tokens) * u128::from(measured) / u128::from(estimated.max(1));
    Tokens::try_from(scaled).unwrap_or(Tokens::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::nodes::tests::{Story, piece};
    use super::*;

    fn story(measured: Tokens) -> Run {
        let fix = |id: &str, after: &[&str]| Piece { tokens: 40, ..piece(id, "fix", after) };
        let add = Piece { tokens: 60, ..piece("other", "add", &[]) };
        Story::new(vec![
            vec![fix("a", &[]), fix("b", &[])],
            vec![fix("c", &["a"]), add],
            vec![fix("d", &["c"]), fix("e", &[])],
        ])
        .job(1, 1, &["a", "b"], 80)
        .leg(1, measured)
        .done(1)
        .run()
    }

    fn place(plan: &Plan, id: &str) -> Option<usize> {
        plan.batches.iter().position(|batch| batch.iter().any(|piece| piece.id == id))
    }

    #[test]
    fn what_takes_far_more_than_estimated_makes_the_rest_dearer_and_is_packed_again() {
        let run = story(160);
        let (plan, why) = run.replan(1).unwrap();
        assert_eq!(plan.batches[0], run.plan.as_ref().unwrap().batches[0]);
        let mut rest: Vec<(&str, Tokens)> =
            plan.batches[1..].iter().flatten().map(|piece| (&*piece.id, piece.tokens)).collect();
        rest.sort_unstable();
        assert_eq!(rest, [("c", 80), ("d", 80), ("e", 80), ("other", 60)]);
        assert!(plan.batches.iter().all(|pieces| batch::load(pieces) <= plan.available));
        assert!(place(&plan, "c") < place(&plan, "d"));
        assert_eq!(plan.batches[place(&plan, "c").unwrap()][0].after, ["a"]);
        let expected = "batch 1 took 160 tokens and was estimated at 80; what is left of its kinds (fix) \
                        is estimated in proportion";
        assert_eq!(why, expected);
    }

    #[test]
    fn what_takes_half_as_much_again_changes_nothing() {
        assert_eq!(story(120).replan(1), None);
        assert!(story(121).replan(1).is_some());
    }

    #[test]
    fn where_no_work_of_the_kind_is_left_nothing_changes() {
        assert_eq!(story(999).replan(3), None);
    }
}
