use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use super::*;

const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a place in a temporary folder.
fn place() -> (tempfile::TempDir, Place) {
    let root = tempfile::tempdir().unwrap();
    let place = Place {
        project: root.path().to_owned(),
        folder: "outer/checkpoints",
        other_folders: Vec::new(),
        is_other: false,
        index: root.path().join("index.json"),
        key: root.path().join("key"),
        patience: PATIENCE,
    };
    (root, place)
}

fn reserve<'f>(folder: &'f Folder, id: &str) -> Option<Reserved<'f>> {
    folder.lock(Instant::now() + PATIENCE).unwrap().reserve(id).unwrap()
}

#[test]
fn a_folder_that_was_replaced_is_another_one() {
    let (root, place) = place();
    assert!(Folder::open(&place).unwrap().is_none());
    let folder = Folder::make(&place).unwrap();
    assert!(folder.is_at(&place));
    let aside = root.path().join("aside");
    fs::rename(place.path(), &aside).unwrap();
    assert!(!folder.is_at(&place), "there is none");
    symlink(&aside, place.path()).unwrap();
    assert!(!folder.is_at(&place), "a link to it is not it");
    fs::remove_file(place.path()).unwrap();
    Folder::make(&place).unwrap();
    assert!(!folder.is_at(&place), "it is a new one");
}

#[test]
fn what_is_done_after_opening_stays_in_what_was_opened() {
    let (root, place) = place();
    let folder = Folder::make(&place).unwrap();
    let mut reserved = reserve(&folder, "id").unwrap();
    let (aside, outside) = (root.path().join("aside"), root.path().join("outside"));
    fs::rename(place.path(), &aside).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, place.path()).unwrap();
    reserved.write("text").unwrap();
    assert!(reserved.publish().unwrap());
    folder.lock(Instant::now() + PATIENCE).unwrap().point_latest_to("id").unwrap();
    assert_eq!(fs::read(aside.join("id.md")).unwrap(), b"text");
    assert!(outside.read_dir().unwrap().next().is_none());
}

#[test]
fn a_name_is_given_once_whichever_way_the_file_system_goes_about_it() {
    let (_root, place) = place();
    let folder = Folder::make(&place).unwrap();
    for (at, publish) in [Reserved::rename, Reserved::link].into_iter().enumerate() {
        let id = format!("id{at}");
        let mut reserved = reserve(&folder, &id).unwrap();
        assert!(reserve(&folder, &id).is_none(), "somebody is writing it");
        reserved.write("text").unwrap();
        publish(&reserved).unwrap();
        drop(reserved);
        assert_eq!(fs::read(place.file(&id)).unwrap(), b"text");
        assert!(reserve(&folder, &id).is_none(), "it is there");
        let late = reserve(&folder, "late").unwrap();
        fs::write(place.file("late"), "theirs").unwrap();
        assert_eq!(publish(&late), Err(Errno::EXIST));
        drop(late);
        assert_eq!(fs::read(place.file("late")).unwrap(), b"theirs");
        folder.remove("late").unwrap();
    }
    let names = folder.names().unwrap();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
}

#[test]
fn only_what_nobody_writes_any_more_is_swept() {
    let (_root, place) = place();
    let folder = Folder::make(&place).unwrap();
    let mut alive = reserve(&folder, "alive").unwrap();
    fs::write(place.path().join(".dead.md.tmp"), "half").unwrap();
    folder.lock(Instant::now() + PATIENCE).unwrap().swept().unwrap();
    alive.write("text").unwrap();
    assert!(alive.publish().unwrap());
    assert!(!place.path().join(".dead.md.tmp").exists());
}

#[test]
fn a_lock_that_is_kept_too_long_is_done_without() {
    let (_root, place) = place();
    let folder = Folder::make(&place).unwrap();
    let kept = folder.lock(Instant::now() + PATIENCE).unwrap();
    let error = folder.lock(Instant::now()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(kept);
    folder.lock(Instant::now()).unwrap();
}
