//! The outbox: what goes to a team's database arrives, once, whoever is killed on the way.

use plimsoll_testbed::Postgres;
use plimsoll_testbed::generator::SplitMix64;

use super::{succeeds, worked};
use crate::campaign::{Harm, Writer};
use crate::env::{Ran, TestEnv};
use crate::fault::Call;

struct Outbox<'s> {
    server: &'s Postgres,
    /// Whose rows these are.
    person: String,
    saves: usize,
    /// How many of them must have arrived.
    sent: usize,
}

impl<'s> Outbox<'s> {
    fn new(server: &'s Postgres) -> (TestEnv, Self) {
        let env = TestEnv::new();
        let number = server.sql("SELECT count(*) FROM plimsoll.machines");
        let person = format!("sailor-{number}-{}", std::process::id());
        env.user_config(&format!(
            "team:\n  database_url: {}\n  person: {person}\n  share: [readings, checkpoints, saves, board]\n",
            server.url("postgres")
        ));
        worked(&env, "aaaaaaaa-1", 90_000);
        (env, Self { server, person, saves: 0, sent: 0 })
    }

    fn arrived(&self) -> (usize, usize) {
        let sql = format!(
            "SELECT count(*), count(DISTINCT task) FROM plimsoll.saves JOIN plimsoll.machines \
             ON machines.machine = saves.machine WHERE person = '{}'",
            self.person
        );
        let told = self.server.sql(&sql);
        let (all, distinct) = told.split_once('|').unwrap_or_else(|| panic!("{told}"));
        (all.parse().unwrap(), distinct.parse().unwrap())
    }
}

/// A database with tables.
fn database() -> Postgres {
    let server = Postgres::start();
    let env = TestEnv::new();
    env.user_config(&format!("team:\n  database_url: {}\n", server.url("postgres")));
    succeeds(&env, "team init");
    server
}

impl Writer for Outbox<'_> {
    const NAME: &'static str = "outbox";
    const SHARE: usize = 25;

    fn next(&mut self, env: &TestEnv, _: &mut SplitMix64) -> Call {
        self.saves += 1;
        succeeds(env, &format!("ss release --task task-{}", self.saves));
        Call::new(env, &["team", "sync"])
    }

    fn note(&mut self, ran: &Ran, _: Harm) {
        if ran.status.success() {
            self.sent = self.saves;
        }
    }

    /// Whatever was reported as sent is there, and nothing twice.
    fn check(&mut self, _: &TestEnv) {
        let (all, distinct) = self.arrived();
        assert_eq!(all, distinct, "some are there twice");
        assert!(all >= self.sent, "{} were sent, and {all} are there", self.sent);
    }

    fn finish(&mut self, env: &TestEnv) {
        succeeds(env, "team sync");
        assert_eq!(self.arrived(), (self.saves, self.saves));
    }
}

#[test]
fn killed_at_any_moment() {
    let server = database();
    crate::campaign::harm(Harm::Kills, || Outbox::new(&server));
}

#[test]
fn failing_at_any_call() {
    let server = database();
    crate::campaign::harm(Harm::Errors, || Outbox::new(&server));
}
