//! Finds out whether a file was changed or removed since a checkpoint.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use plimsoll_core::Millis;
use plimsoll_extract::work::FileStatus;

/// Returns whether `path` in `project` was changed or removed since `moment`. `None` if it is
/// unchanged or that is unknown.
///
/// A transcript may abbreviate a path, so a file counts as removed only if its folder exists. If
/// the project does not exist (a transcript from another machine), nothing is known.
pub fn fate(project: &Path, moment: Millis, path: &str) -> Option<FileStatus> {
    let file = project.join(path);
    match fs::metadata(&file) {
        Ok(metadata) if metadata.is_file() => {
            let moment = UNIX_EPOCH + Duration::from_millis(moment.max(0) as u64);
            (metadata.modified().ok()? > moment).then_some(FileStatus::Changed)
        }
        Ok(_) => None,
        Err(_) => {
            let folder = path.contains('/').then(|| file.parent().is_some_and(Path::is_dir))?;
            folder.then_some(FileStatus::Gone)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_gone_changed_or_as_it_was() {
        let project = tempfile::tempdir().unwrap();
        let of = |moment, path: &str| fate(project.path(), moment, path);
        fs::create_dir(project.path().join("src")).unwrap();
        fs::write(project.path().join("src/a.rs"), "").unwrap();
        let later = Millis::MAX / 2;
        assert_eq!(of(0, "src/a.rs"), Some(FileStatus::Changed));
        assert_eq!(of(later, "src/a.rs"), None);
        assert_eq!(of(later, "src/b.rs"), Some(FileStatus::Gone));
        assert_eq!(of(later, "b.rs"), None, "it may lie in any folder");
        assert_eq!(of(later, "elsewhere/b.rs"), None, "half a path tells nothing");
        assert_eq!(of(0, "src"), None);
    }
}
