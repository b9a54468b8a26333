//! Properties of a sealed checkpoint.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use plimsoll_engine::checkpoint::{Unsealed, newest_own, seal};
use plimsoll_extract::checkpoint::{CheckpointProblem, MAX_BYTES};

use crate::bed::{Bed, NOW, all_under, draft};

#[test]
fn a_sealed_checkpoint_is_on_disk_for_the_user_alone() {
    let bed = Bed::new();
    let sealed = bed.seal("5f2c81aa-77b0");
    assert_eq!(sealed.warnings, Vec::<String>::new());
    assert_eq!(sealed.path, bed.folder().join("2026-11-15-055814-5f2c81aa.md"));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&sealed.path), 0o600);
    assert_eq!(mode(&bed.folder()), 0o700);
    assert_eq!(mode(&bed.place.key), 0o600);
    assert_eq!(fs::read_to_string(bed.folder().join(".gitignore")).unwrap(), "*\n");
    let latest = bed.folder().join("latest.md");
    assert_eq!(fs::read(&latest).unwrap(), fs::read(&sealed.path).unwrap());
    assert!(fs::read_link(&latest).unwrap().is_relative());
    bed.check();
}

#[test]
fn the_index_is_as_other_tools_expect_it() {
    let bed = Bed::new();
    let sealed = bed.seal("5f2c81aa-77b0");
    bed.seal_at("older", NOW - 5_000);
    let text = fs::read_to_string(&bed.place.index).unwrap();
    let index: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(index["version"], "1.0");
    assert!(index["last_updated"].as_str().unwrap().ends_with('Z'));
    let last = index["checkpoints"].as_array().unwrap().last().unwrap();
    let expected = serde_json::json!({
        "id": "2026-11-15-055814-5f2c81aa",
        "path": sealed.path,
        "project": bed.place.project,
        "created": "2026-11-15T05:58:14Z",
        "trigger": "auto",
        "verified": true,
        "iteration": 1,
        "summary": "[a.rs:1] - something - 1 file modified",
    });
    assert_eq!(*last, expected);
}

#[test]
fn a_checkpoint_names_the_one_before_it() {
    let bed = Bed::new();
    let mut first = draft("one", NOW);
    first.restored = Some("2026-11-14-000000-zero".to_owned());
    let one = seal(&bed.place, &first).unwrap().meta;
    assert_eq!(one.parent.as_deref(), Some("2026-11-14-000000-zero"), "the one restored");
    let other = bed.seal_at("two", NOW + 1_000).meta;
    assert_eq!(other.parent, None, "another session's is no parent");
    let third = bed.seal_at("one", NOW + 2_000).meta;
    assert_eq!((third.parent, third.iteration), (Some(one.id), 3));
}

#[test]
fn counting_goes_on_whatever_happens_to_the_count() {
    let bed = Bed::new();
    let outer = bed.folder().parent().unwrap().to_owned();
    fs::create_dir_all(&outer).unwrap();
    let mirror = outer.join(".checkpoint_iteration");
    fs::write(&mirror, "12\n").unwrap();
    assert_eq!(bed.seal("s").meta.iteration, 13, "others have counted before us");
    fs::remove_file(&mirror).unwrap();
    fs::remove_file(bed.folder().join(".lock")).unwrap();
    assert_eq!(bed.seal("s").meta.iteration, 14);
    for nonsense in ["18446744073709551615", "-3", "many", "", "9".repeat(9_999).as_str()] {
        fs::write(&mirror, nonsense).unwrap();
        fs::write(bed.folder().join(".lock"), nonsense).unwrap();
        bed.seal("s");
    }
    assert_eq!(bed.seal("s").meta.iteration, 20);
    assert_eq!(fs::read_to_string(&mirror).unwrap(), "20\n");
}

#[test]
fn what_is_no_checkpoint_is_refused_before_anything_is_touched() {
    let bed = Bed::new();
    let mut long = draft("s", NOW);
    long.body.to_mut().push_str(&"x".repeat(MAX_BYTES));
    assert!(matches!(seal(&bed.place, &long), Err(Unsealed::TooLong(_))));
    let mut bare = draft("s", NOW);
    bare.body = bare.body.replace("## Next Steps", "## Later").into();
    let refused = seal(&bed.place, &bare);
    assert!(matches!(
        refused,
        Err(Unsealed::Unfit(CheckpointProblem::MissingSection("Next Steps")))
    ));
    assert!(all_under(&bed.place.project).is_empty());
}

#[test]
fn the_front_matter_counts_too() {
    let bed = Bed::new();
    let mut long = draft("s", NOW);
    let more = MAX_BYTES - long.body.len() - 1;
    long.body.to_mut().push_str(&"x".repeat(more));
    assert!(matches!(seal(&bed.place, &long), Err(Unsealed::TooLong(len)) if len >= MAX_BYTES));
    assert_eq!(bed.litter(), Vec::<std::path::PathBuf>::new());
    assert!(newest_own(&bed.place).unwrap().is_none());
}
