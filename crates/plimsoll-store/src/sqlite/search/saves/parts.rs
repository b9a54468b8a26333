//! How much a part of a word tells of a save.
//!
//! The database would go through the index twice more to weigh parts, and an index of parts is long.

use std::collections::BTreeSet;

use plimsoll_core::save::Save;

use super::Saves;

impl Saves<'_> {
    /// Those of the saves that pass and are most about the parts, most first; of two the newer.
    pub(super) fn most_telling(
        &self,
        fit: &BTreeSet<i64>,
        parts: &[String],
    ) -> rusqlite::Result<Vec<Save>> {
        let parts: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
        let mut saves = self.first(fit.iter().rev().copied(), u32::MAX)?;
        saves.sort_by_cached_key(|save| std::cmp::Reverse(weight(save, &parts)));
        saves.truncate(self.limit as usize);
        Ok(saves)
    }
}

/// What a save is about and how it is tagged counts more than what it came across; something new more
/// than the same again.
fn weight(save: &Save, parts: &[String]) -> u64 {
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
        // A third time adds less than the second.
        1000 * worth / (worth + 4)
    };
    parts.iter().map(of_part).sum()
}
