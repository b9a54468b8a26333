//! The index, which is derived from the files.

use std::fs;

use plimsoll_engine::checkpoint::{find, index, verify_all, verify_listed};
use plimsoll_extract::checkpoint::CheckpointProblem;

use crate::bed::{Bed, draft, place};

#[test]
fn a_broken_index_is_made_anew_from_the_projects_it_still_names() {
    let bed = Bed::new();
    let other = place(bed.root(), "other \"project\" ä");
    fs::create_dir_all(&other.project).unwrap();
    let there = plimsoll_engine::checkpoint::seal(&other, &draft("there", 0)).unwrap();
    let here = bed.seal("here");
    let whole = fs::read(&bed.place.index).unwrap();
    for broken in
        [&whole[..whole.len() / 2 + 200], &whole[..whole.len() - 3], b"", b"\0\0\0", b"[]"]
    {
        fs::write(&bed.place.index, broken).unwrap();
        let sealed = bed.seal("next");
        assert!(sealed.warnings[0].contains("was broken"), "{:?}", sealed.warnings);
        let ids: Vec<String> = bed.indexed().into_iter().map(|entry| entry.id).collect();
        assert!(ids.contains(&here.meta.id) && ids.contains(&sealed.meta.id));
        let is_named = String::from_utf8_lossy(broken).contains("ä\"");
        assert_eq!(ids.contains(&there.meta.id), is_named, "{}", String::from_utf8_lossy(broken));
    }
}

#[test]
fn the_index_names_every_project_once_be_it_whole_or_broken() {
    let bed = Bed::new();
    let other = place(bed.root(), "other \"project\" ä");
    fs::create_dir_all(&other.project).unwrap();
    plimsoll_engine::checkpoint::seal(&other, &draft("there", 0)).unwrap();
    bed.seal("here");
    bed.seal("again");
    let expected = [bed.place.project.clone(), other.project].into();
    assert_eq!(index::projects(&bed.place), expected);
    let whole = fs::read(&bed.place.index).unwrap();
    fs::write(&bed.place.index, &whole[..whole.len() - 3]).unwrap();
    assert_eq!(index::projects(&bed.place), expected);
    fs::remove_file(&bed.place.index).unwrap();
    assert!(index::projects(&bed.place).is_empty());
}

#[test]
fn a_rebuild_takes_in_what_we_sealed_and_nothing_else() {
    let bed = Bed::new();
    let ids = [bed.seal("one").meta.id, bed.seal("two").meta.id];
    let foreign = fs::read_to_string(bed.place.file(&ids[0])).unwrap();
    let foreign = foreign.lines().filter(|line| !line.starts_with("mac")).collect::<Vec<_>>();
    fs::write(bed.folder().join("2026-11-16-000000-two.md"), foreign.join("\n")).unwrap();
    let before = bed.indexed();
    fs::write(&bed.place.index, "torn").unwrap();
    bed.seal("three");
    let after = bed.indexed();
    assert_eq!(after.len(), 3);
    assert!(before.iter().all(|entry| after.contains(entry)), "the same as before");
}

#[test]
fn entries_of_other_tools_stay() {
    let bed = Bed::new();
    bed.seal("s");
    let text = fs::read_to_string(&bed.place.index).unwrap();
    let mut index: serde_json::Value = serde_json::from_str(&text).unwrap();
    let theirs = serde_json::json!({"id": "2025-12-20-143022", "path": "/p/x.md", "project": "/p",
        "created": "2025-12-20T14:30:22Z", "trigger": "auto", "verified": true, "iteration": 3,
        "summary": "", "colour": "red"});
    let strange = serde_json::json!({"id": 7, "made by": "somebody"});
    index["checkpoints"].as_array_mut().unwrap().extend([theirs.clone(), strange.clone()]);
    fs::write(&bed.place.index, index.to_string()).unwrap();
    assert_eq!(bed.seal("s").warnings, Vec::<String>::new());
    assert_eq!(bed.indexed().len(), 3);
    let text = fs::read_to_string(&bed.place.index).unwrap();
    let index: serde_json::Value = serde_json::from_str(&text).unwrap();
    let checkpoints = index["checkpoints"].as_array().unwrap();
    assert_eq!(checkpoints.len(), 4);
    assert!(checkpoints.contains(&theirs) && checkpoints.contains(&strange), "{text}");
}

#[test]
fn verifying_tells_the_index() {
    let bed = Bed::new();
    let (one, two) = (bed.seal("one"), bed.seal("two"));
    let verified = |id: &str| {
        let entry = bed.indexed().into_iter().find(|entry| entry.id == id);
        entry.map(|entry| entry.verified)
    };
    let text = fs::read_to_string(&one.path).unwrap();
    fs::write(&one.path, text.replace("something", "anything")).unwrap();
    fs::remove_file(&two.path).unwrap();
    let checked = verify_all(&bed.place).unwrap();
    let problem = |id: &str| {
        let listed = checked.checkpoints.iter().find(|listed| listed.id == id);
        listed.unwrap().verdict.problems.clone()
    };
    assert_eq!(problem(&one.meta.id), [CheckpointProblem::Edited]);
    assert_eq!(
        problem(&two.meta.id),
        [CheckpointProblem::Missing],
        "a phantom of the index is named"
    );
    assert_eq!((verified(&one.meta.id), verified(&two.meta.id)), (Some(false), Some(false)));
    fs::write(&one.path, text).unwrap();
    let listed = find(&bed.place, &one.meta.id).unwrap();
    assert_eq!(verify_listed(&bed.place, listed).warnings, Vec::<String>::new());
    assert_eq!(verified(&one.meta.id), Some(true));
}

#[test]
fn an_index_that_was_moved_elsewhere_by_a_link_stays_there() {
    let bed = Bed::new();
    bed.seal("one");
    let moved = bed.root().join("dotfiles.json");
    fs::rename(&bed.place.index, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &bed.place.index).unwrap();
    bed.seal("two");
    assert!(bed.place.index.is_symlink());
    assert_eq!(bed.indexed().len(), 2);
}
