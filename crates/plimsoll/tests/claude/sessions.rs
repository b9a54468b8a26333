//! Sessions side by side: none hears less because another was warned.

use std::thread;

use plimsoll_testbed::{ModelAnswer, Script};

use crate::bed::{Bed, shown, step};

#[test]
fn two_sessions_of_one_project_at_once_each_hear_their_own_warning() {
    let session = |tokens| {
        Script::new().main([
            step(tokens),
            step(tokens + 200),
            ModelAnswer::text("all done").prompt_tokens(tokens + 400),
        ])
    };
    let (one, other) = (Bed::new(session(166_000)), Bed::new(session(168_000)));
    let project = one.sandbox.project();
    let data = one.sandbox.home().join("data");
    let run =
        |bed: &Bed| bed.prompt("go").directory(&project).env("PLIMSOLL_DATA_DIR", &data).run();

    let outcomes = thread::scope(|scope| {
        let both = [&one, &other].map(|bed| scope.spawn(|| run(bed)));
        both.map(|thread| thread.join().unwrap())
    });

    assert!(outcomes.iter().all(|outcome| outcome.text() == "all done"));
    assert_eq!(one.heard_at_last(), ["CONTEXT: ~83% used."]);
    assert_eq!(other.heard_at_last(), ["CONTEXT: ~84% used."]);
    let spools = std::fs::read_dir(data.join("spool")).unwrap().count();
    assert_eq!(spools, 2);
}

#[test]
fn a_new_session_of_the_same_user_and_project_hears_its_own_warning() {
    let turn = || [step(166_000), ModelAnswer::text("all done").prompt_tokens(166_200)];
    let bed = Bed::new(Script::new().main(turn().into_iter().chain(turn())));

    let first = bed.prompt("go").run();
    let second = bed.prompt("go").run();

    assert_ne!(first.session_id(), second.session_id());
    assert_eq!(shown(&first.transcript()), shown(&second.transcript()));
    let heard = "CONTEXT: ~83% used.";
    assert_eq!(bed.heard(), [vec![], vec![heard], vec![], vec![heard]]);
    assert_eq!(bed.spools().len(), 2);
}
