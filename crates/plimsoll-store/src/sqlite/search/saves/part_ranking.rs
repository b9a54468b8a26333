//! Ranking of saves that match by parts of words.
//!
//! Ranking in the database would read the trigram index twice more, and that index is large.

use std::collections::BTreeSet;

use plimsoll_extract::save::Save;

use super::SaveIndex;

impl SaveIndex<'_> {
    /// Returns the best of the saves that pass the filter, the newer first if two rank equal.
    pub(super) fn rank_by_parts(
        &self,
        fit: &BTreeSet<i64>,
        parts: &[String],
    ) -> rusqlite::Result<Vec<Save>> {
        let parts: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
        let mut saves = self.load_passing(fit.iter().rev().copied(), u32::MAX)?;
        saves.sort_by_cached_key(|save| std::cmp::Reverse(score(save, &parts)));
        saves.truncate(self.limit as usize);
        Ok(saves)
    }
}

/// Computes the rank of a save. Matches in task and tags count more than matches in other fields,
/// and each further match of the same part counts less.
fn score(save: &Save, parts: &[String]) -> u64 {
    let what = &save.what;
    let text = |text: &Option<String>| text.as_deref().unwrap_or_default().to_lowercase();
    let columns = [
        (8, what.task.to_lowercase()),
        (6, what.tags.join("\n").to_lowercase()),
        (4, text(&what.next_steps)),
        (4, what.key_artifacts.join("\n").to_lowercase()),
        (2, text(&what.context)),
        (2, text(&what.blockers)),
    ];
    let of_part = |part: &String| -> u64 {
        let worth = columns.iter().map(|(worth, text)| worth * text.matches(part).count() as u64);
        let worth: u64 = worth.sum();
        // The score saturates: each further match adds less.
        1000 * worth / (worth + 4)
    };
    parts.iter().map(of_part).sum()
}
