//! Pages change while they are looked at.

use std::io::Write;

use crate::client::Running;
use crate::driver::Browser;
use crate::env::TestEnv;
use crate::journal::half_done;
use crate::transcript;

#[test]
fn a_gauge_moves_without_a_reload_when_the_transcript_grows() {
    let env = TestEnv::new();
    let session = env.session("alive");
    session.fill(50_000);
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    browser.go(&format!("http://{}/", server.address));
    let row = "[data-session=alive]";
    let is_there = || browser.run("return document.querySelector('.gauge') !== null") == true;
    browser.wait("the session", is_there);
    browser.wait("the stream", || browser.text("#live") == "live");
    assert!(browser.text(row).contains("25.0 %"), "{}", browser.text(row));
    browser.run("window.unharmed = true; document.querySelector('[data-session=alive] a').focus()");

    let answer = transcript::answer(3, 2, transcript::MODEL, 150_000, &env.project(), false);
    let mut file = std::fs::File::options().append(true).open(&session.transcript).unwrap();
    file.write_all(answer.as_bytes()).unwrap();
    browser.wait("75 %", || browser.text(row).contains("75.0 %"));
    assert!(browser.text(row).contains("critical"), "the colour is told in a word, too");
    let label = browser.run("return document.querySelector('.gauge').getAttribute('aria-label')");
    assert!(label.as_str().unwrap().starts_with("75.0 % of the window, critical"), "{label}");
    assert_eq!(browser.run("return window.unharmed"), true, "the page was not loaded again");
    assert_eq!(browser.focus(), "a /session/alive", "the focus stays where it was");

    env.session("newcomer").fill(20_000);
    browser.wait("a new session", || {
        browser.run("return document.querySelector('[data-session=newcomer]') !== null") == true
    });
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn an_estimate_is_told_as_one_until_the_service_has_counted() {
    let env = TestEnv::new();
    let session = env.session("asked");
    session.write(transcript::unanswered(90_000, &env.project()));
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    browser.go(&format!("http://{}/", server.address));
    let share = || browser.text("[data-session=asked] .percent");
    let is_there =
        || browser.run("return document.querySelector('[data-session=asked] .percent') !== null");
    browser.wait("the session", || is_there() == true);
    assert!(share().starts_with('~'), "{}", share());
    let label = browser.run("return document.querySelector('.gauge').getAttribute('aria-label')");
    assert!(label.as_str().unwrap().starts_with('~'), "{label}");

    session.fill(50_000);
    browser.wait("what was counted", || share() == "25.0 %");

    session.write(transcript::unanswered(90_000, &env.project()));
    browser.go(&format!("http://{}/session/asked", server.address));
    assert!(browser.text(".big .percent").starts_with('~'), "the session's page tells it too");
}

#[test]
fn a_run_moves_on_without_a_reload_when_its_journal_grows() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    browser.go(&format!("http://{}/runs", server.address));
    browser.wait("the stream", || browser.text("#live") == "live");
    let mut run = half_done(&env, 1, true);
    browser.wait("the run", || browser.text("main").contains("2 of 3 tasks done"));
    let label = browser.run("return document.querySelector('.gauge').getAttribute('aria-label')");
    assert_eq!(label, "2 of 3 tasks done");
    browser.find("tbody a").click();
    browser.wait("the stream", || browser.text("#live") == "live");
    assert!(browser.text("main").contains("Batch 2: The hold"), "{}", browser.text("main"));
    run.ends(2, 1, 30_000, false);
    run.done(2);
    run.says(serde_json::json!({"what": "ended", "outcome": "done"}));
    browser.wait("the end", || browser.text("main").contains("3 of 3 tasks done"));
    browser.find("tbody a").click();
    browser.wait("the session's page", || {
        browser.run("return location.pathname").as_str().unwrap().starts_with("/session/")
    });
    assert_eq!(
        browser.console().len(),
        1,
        "the session is not known here: {:?}",
        browser.console()
    );
}

#[test]
fn a_save_appears_where_it_is_looked_for() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let browser = Browser::start();
    browser.go(&format!("http://{}/saves", server.address));
    browser.wait("the stream", || browser.text("#live") == "live");
    assert!(browser.text("main").contains("No save yet"));
    server.post("/ss", &serde_json::json!({"task": "caulk the seams"}));
    browser.wait("the save", || browser.text("main").contains("caulk the seams"));
    assert_eq!(browser.console(), [""; 0]);
}
