use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

const LONG: Duration = Duration::from_secs(3600);

fn bed() -> (tempfile::TempDir, Paths) {
    let folder = tempfile::tempdir().unwrap();
    let paths = Paths {
        home: folder.path().into(),
        data: folder.path().join("data"),
        config: folder.path().join("c.yaml"),
    };
    (folder, paths)
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn new(to: &str, text: &str) -> NewMessage {
    let what = MessageContent::Message { text: text.to_owned() };
    NewMessage { to: session(to), project: None, from: "me".to_owned(), what, lives: LONG }
}

fn post_one(paths: &Paths, to: &str, text: &str) -> MessageId {
    post(paths, vec![new(to, text)], Lasting::Crash).unwrap().remove(0).id
}

fn take_all(paths: &Paths, to: &str, taker: Taker) -> Vec<MessageId> {
    let taken = take(paths, &session(to), taker, usize::MAX, |_| true).unwrap();
    taken.into_iter().map(|message| message.id).collect()
}

#[test]
fn a_message_waits_is_taken_by_one_and_is_gone_when_acknowledged() {
    let (_folder, paths) = bed();
    assert!(!has_mail(&paths, &session("a")));
    let ids = [post_one(&paths, "a", "one"), post_one(&paths, "a", "two")];
    assert!(has_mail(&paths, &session("a")) && !has_mail(&paths, &session("b")));
    let file = paths.inbox(&session("a")).join(ids[0].as_str());
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(take_all(&paths, "a", Taker::anybody(LONG)), ids);
    assert!(take_all(&paths, "a", Taker::anybody(LONG)).is_empty());
    assert!(list(&paths).unwrap().iter().all(|posted| posted.taker.is_some()));
    acknowledge(&paths, &session("a"), &ids).unwrap();
    assert!(list(&paths).unwrap().is_empty());
    assert!(!has_mail(&paths, &session("a")));
    let state = spool::state(&paths.spool_of(&session("a"), None)).unwrap();
    assert!(ids.iter().all(|id| is_handled(&state, id)));
}

#[test]
fn a_message_comes_back_from_who_is_late_or_gone() {
    let (_folder, paths) = bed();
    let id = [post_one(&paths, "a", "one")];
    assert_eq!(take_all(&paths, "a", Taker::anybody(Duration::ZERO)), id);
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let gone = Taker::parse(&format!("{}-1-{}", child.id(), i64::MAX)).unwrap();
    assert_eq!(take_all(&paths, "a", gone), id);
    assert_eq!(take_all(&paths, "a", Taker::this_process(LONG)), id);
    assert!(take_all(&paths, "a", Taker::this_process(LONG)).is_empty());
}

#[test]
fn of_many_takers_one_gets_each_message_and_none_is_lost_while_inboxes_come_and_go() {
    const EACH: usize = 100;
    let (_folder, paths) = bed();
    let [taken, refused] = [const { AtomicUsize::new(0) }; 2];
    let done = || taken.load(Ordering::Relaxed) + refused.load(Ordering::Relaxed);
    let post_some = || {
        let posts = (0..EACH).map(|_| post(&paths, vec![new("a", "x")], Lasting::Kill));
        refused.fetch_add(posts.filter(Result::is_err).count(), Ordering::Relaxed);
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(post_some);
        }
        for _ in 0..3 {
            scope.spawn(|| {
                while done() < 4 * EACH {
                    let ids = take_all(&paths, "a", Taker::this_process(LONG));
                    taken.fetch_add(ids.len(), Ordering::Relaxed);
                    remove(&paths, &session("a"), &ids).unwrap();
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 4 * EACH);
    assert!(list(&paths).unwrap().is_empty());
}

#[test]
fn a_message_that_arrives_again_is_one() {
    let (_folder, paths) = bed();
    let message = post(&paths, vec![new("a", "x")], Lasting::Kill).unwrap().remove(0);
    deliver(&paths, &message, Lasting::Kill).unwrap();
    take_all(&paths, "a", Taker::anybody(LONG));
    deliver(&paths, &message, Lasting::Crash).unwrap();
    assert_eq!(list(&paths).unwrap().len(), 1);
}

#[test]
fn what_has_expired_is_read_by_nobody_and_swept_away() {
    let (_folder, paths) = bed();
    post(&paths, vec![NewMessage { lives: Duration::ZERO, ..new("a", "x") }], Lasting::Kill)
        .unwrap();
    assert!(list(&paths).unwrap().is_empty());
    tidy(&paths).unwrap();
    assert!(!has_mail(&paths, &session("a")));
}

#[test]
fn what_is_no_message_is_left_alone_and_what_the_dead_left_half_done_goes() {
    let (_folder, paths) = bed();
    post_one(&paths, "a", "x");
    let inbox = paths.inbox(&session("a"));
    fs::write(inbox.join("0198-torn"), "{").unwrap();
    fs::write(inbox.join("0198-empty"), "").unwrap();
    fs::write(inbox.join("notes.txt"), "mine").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", inbox.join("0198-link")).unwrap();
    fs::write(paths.drafts().join(format!("0198.{}", i32::MAX)), "{").unwrap();
    tidy(&paths).unwrap();
    assert_eq!(list(&paths).unwrap().len(), 1);
    assert_eq!(fs::read_dir(paths.drafts()).unwrap().count(), 0);
    assert_eq!(fs::read_dir(inbox).unwrap().count(), 4);
}

#[test]
fn the_newest_that_were_handled_are_remembered() {
    let ids: Vec<MessageId> =
        (0..40).map(|nth| MessageId::new(&format!("m{nth}")).unwrap()).collect();
    let state = ids
        .iter()
        .fold(SessionState::default(), |state, id| state.with_handled(vec![id.to_string()]));
    assert!(!is_handled(&state, &ids[23]) && ids[24..].iter().all(|id| is_handled(&state, id)));
}

#[test]
fn a_claim_keeps_others_out_until_it_is_given_up_or_runs_out() {
    let (_folder, paths) = bed();
    let src = PathBuf::from("/p/src");
    claim(&paths, src.clone(), "one", LONG).unwrap();
    let held = claim(&paths, src.join("a.rs"), "two", LONG).unwrap_err();
    assert_eq!(held.to_string(), "`/p/src` is claimed by `one`");
    claim(&paths, src.clone(), "one", LONG * 2).unwrap();
    assert_eq!(claims(&paths).unwrap().len(), 1);
    let kept = release(&paths, &src, Some("two")).unwrap_err();
    assert!(matches!(kept, NotReleased::NotYours(_)));
    release(&paths, &src, Some("one")).unwrap();
    assert!(matches!(release(&paths, &src, None), Err(NotReleased::Unknown(_))));
    claim(&paths, src.clone(), "one", Duration::ZERO).unwrap();
    claim(&paths, src, "two", LONG).unwrap();
    tidy(&paths).unwrap();
    assert_eq!(claims(&paths).unwrap()[0].holder, "two");
}

#[test]
fn a_claim_that_somebody_was_killed_over_is_none_and_goes() {
    let (_folder, paths) = bed();
    claim(&paths, "/p/a".into(), "one", LONG).unwrap();
    let finished = fs::read_dir(paths.claims()).unwrap().next().unwrap().unwrap().path();
    let unfinished = finished.with_extension(format!("plimsoll-{}.tmp", i32::MAX));
    fs::rename(finished, &unfinished).unwrap();
    assert_eq!(claims(&paths).unwrap(), []);
    claim(&paths, "/p/a".into(), "two", LONG).unwrap();
    tidy(&paths).unwrap();
    assert!(!unfinished.exists());
    assert_eq!(claims(&paths).unwrap()[0].holder, "two");
}

#[test]
fn of_many_who_claim_a_path_at_once_one_gets_it() {
    let (_folder, paths) = bed();
    let got = AtomicUsize::new(0);
    thread::scope(|scope| {
        for nth in 0..8 {
            let (paths, got) = (&paths, &got);
            scope.spawn(move || {
                let claimed = claim(paths, "/p/a".into(), &format!("holder {nth}"), LONG);
                got.fetch_add(usize::from(claimed.is_ok()), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(got.into_inner(), 1);
}
