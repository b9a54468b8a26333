//! The dashboard in a real browser: headless Chromium, driven through its own driver.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../cli/serve/client.rs"]
#[expect(dead_code, reason = "the other suite asks for more")]
mod client;
mod driver;
#[path = "../cli/env.rs"]
#[expect(dead_code, reason = "the other suite asks for more")]
mod env;
mod hostile;
#[path = "../cli/journal.rs"]
mod journal;
mod live;
mod pages;
mod pictures;
mod story;
#[path = "../cli/transcript.rs"]
#[expect(dead_code, reason = "the other suite asks for more")]
mod transcript;
