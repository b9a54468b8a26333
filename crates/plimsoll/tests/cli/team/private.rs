//! What leaves a machine, for whose eyes, and by whose leave.

use std::path::Path;
use std::process::Command;

use plimsoll_testbed::Postgres;
use rustix::process::Signal;

use super::{ALL, database, machine, succeeds};
use crate::env::TestEnv;
use crate::hook::worked;
use crate::serve::client::Running;
use crate::ss::plimsoll;

/// Every row of every table, as text.
fn dump(server: &Postgres) -> String {
    let tables = [
        "machines",
        "sessions",
        "readings",
        "compactions",
        "checkpoints",
        "saves",
        "messages",
        "claims",
    ];
    tables.iter().map(|table| server.sql(&format!("SELECT * FROM plimsoll.{table}"))).collect()
}

#[test]
fn only_readings_leave_unless_more_is_shared() {
    let (server, url) = database();
    let env = TestEnv::new();
    env.user_config(&format!("team:\n  database_url: {url}\n"));
    worked(&env, "aaaaaaaa-1", 90_000);
    succeeds(&env, "checkpoint create");
    plimsoll(&env, &["ss", "release", "--task", "Careen the hull"]);
    succeeds(&env, "team sync");
    assert_ne!(server.sql("SELECT count(*) FROM plimsoll.readings"), "0");
    for table in ["checkpoints", "saves", "messages", "claims"] {
        assert_eq!(server.sql(&format!("SELECT count(*) FROM plimsoll.{table}")), "0", "{table}");
    }
    assert!(!dump(&server).contains(".jsonl"), "paths of transcripts stay here");
}

#[test]
fn only_projects_that_are_named_leave() {
    let (server, url) = database();
    let env = TestEnv::new();
    let text = format!("team:\n  database_url: {url}\n  share: {ALL}\n  projects: [~/work]\n");
    env.user_config(&text);
    worked(&env, "aaaaaaaa-1", 90_000);
    plimsoll(&env, &["ss", "release", "--task", "Careen the hull"]);
    succeeds(&env, "board claim /srv/secret");
    succeeds(&env, "team sync");
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.sessions"), "0");
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.claims"), "0");
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.saves"), "0");
    env.user_config(&text.replace("~/work", &env.project().display().to_string()));
    succeeds(&env, "team sync");
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.sessions"), "1", "it is sent now");
}

#[test]
fn a_project_cannot_send_its_user_to_a_database() {
    let env = TestEnv::new();
    env.project_config("team: {database_url: 'postgres://evil.example.com/x', share: [saves]}\n");
    let shown = succeeds(&env, "config show");
    assert!(shown.contains("`team.database_url` in a project's config is ignored"), "{shown}");
    assert!(!shown.contains("evil"), "{shown}");
    assert!(env.plimsoll("team sync").stderr.contains("none is set"));
}

#[test]
fn the_password_is_shown_nowhere() {
    let env = machine("postgres://ann:hunter2@127.0.0.1:1/plimsoll", "ann", ALL)
        .with("PLIMSOLL_DATABASE_URL", "postgres://ann:swordfish@127.0.0.1:1/plimsoll?password=x");
    env.session("aaaaaaaa-1").fill(50_000);
    for arguments in [
        "config show",
        "config show --json",
        "config check",
        "team status",
        "team status --json",
        "team init",
        "team sync",
        "doctor",
        "team prune",
    ] {
        let ran = env.plimsoll(arguments).to_string();
        assert!(!ran.contains("hunter2") && !ran.contains("swordfish"), "{arguments}: {ran}");
    }
    assert!(succeeds(&env, "config show").contains("postgres://ann:***@127.0.0.1:1/plimsoll"));
    let mut page = Running::start(&env, &[]);
    let answer = page.get("/team");
    assert_eq!(answer.status, 503, "{answer:?}");
    page.signal(Signal::TERM);
    page.ended();
    for file in env.all_under(&env.data()).iter().filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        let has = |secret: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!has(b"hunter2") && !has(b"swordfish"), "{}", file.display());
    }
    let log = page.log();
    assert!(!log.contains("hunter2") && !log.contains("swordfish"), "{log}");
}

/// The roles as the documentation makes them.
fn documented_roles() -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/team.md");
    let text = std::fs::read_to_string(docs).unwrap();
    text.split("```sql\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

#[test]
fn a_member_sends_and_looks_and_may_do_no_more() {
    let (server, _) = database();
    server.sql(&documented_roles());
    server.sql("CREATE ROLE ann LOGIN IN ROLE plimsoll_member");
    server.sql("CREATE ROLE vic LOGIN IN ROLE plimsoll_viewer");
    let ann = machine(&server.url("ann"), "ann", ALL);
    worked(&ann, "aaaaaaaa-1", 90_000);
    succeeds(&ann, "checkpoint create");
    succeeds(&ann, "board claim /srv/hull");
    succeeds(&ann, "team sync");
    plimsoll(&ann, &["ss", "release", "--task", "Careen the hull"]);
    succeeds(&ann, "team sync");
    assert_eq!(server.sql("SELECT count(*) FROM plimsoll.saves"), "1");
    let refused = ann.plimsoll("team prune");
    assert!(refused.stdout.contains("Everything is kept"), "{refused}");
    server.sql("INSERT INTO plimsoll.meta VALUES ('retention_days', '1')");
    insta::assert_snapshot!(ann.plimsoll("team prune"), @"
    --- stderr
    error: could not take what is too old out of the team's database: the role may not: ERROR: permission denied for table readings
    hint: ask whoever owns the database for the rights that docs/team.md lists
    [exit 1]
    ");
    server.sql("DELETE FROM plimsoll.migrations WHERE version > 1");
    let refused = ann.plimsoll("team init");
    assert!(refused.stderr.contains("the role may not"), "{refused}");
    assert!(ann.plimsoll("team sync").stderr.contains("those of an older plimsoll"));
    server.sql("INSERT INTO plimsoll.migrations VALUES (2, 1, '0.1.0', 0)");

    let vic = machine(&server.url("vic"), "vic", "[]");
    succeeds(&vic, "team status");
    assert!(succeeds(&vic, "team sync").starts_with("0 rows"), "who only looks sends nothing");
    let curious = machine(&server.url("vic"), "vic", ALL).plimsoll("team sync");
    assert!(curious.stderr.contains("permission denied"), "{curious}");
    let page = Running::start(&vic, &[]);
    assert!(page.get("/team").body.contains("ann on "));
}

/// A certificate for `name`, with the authority that signed it.
fn certificates(folder: &Path, name: &str) {
    let openssl = |arguments: &str| {
        let ran = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ours");
    openssl(&format!("req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN={name}"));
    std::fs::write(folder.join("ext"), format!("subjectAltName=IP:127.0.0.1,DNS:{name}")).unwrap();
    openssl(
        "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out own.pem -days 2 -extfile ext",
    );
}

#[test]
fn over_tls_only_a_server_with_a_good_certificate_is_spoken_to() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "db.example.com");
    let path = |name: &str| folder.path().join(name);
    let server = Postgres::with_tls(&path("own.pem"), &path("own.key"));
    let url = server.url("postgres");
    let plain = machine(&url, "ann", ALL).plimsoll("team init");
    assert!(plain.stderr.contains("no encryption"), "the server wants TLS: {plain}");
    let strange = machine(&format!("{url}?sslmode=require"), "ann", ALL).plimsoll("team init");
    assert!(strange.stderr.contains("invalid peer certificate: UnknownIssuer"), "{strange}");
    let root = path("ca.pem").display().to_string();
    let trusted = machine(&format!("{url}?sslmode=require&sslrootcert={root}"), "ann", ALL);
    succeeds(&trusted, "team init");
    trusted.session("aaaaaaaa-1").fill(50_000);
    succeeds(&trusted, "team sync");
    let misnamed = url.replace("127.0.0.1", "localhost");
    let misnamed = machine(&format!("{misnamed}?sslmode=require&sslrootcert={root}"), "ann", ALL);
    let refused = misnamed.plimsoll("team status");
    assert!(refused.stderr.contains("not valid for name"), "{refused}");
    let gone = machine(&format!("{url}?sslmode=require&sslrootcert=/nowhere.pem"), "ann", ALL);
    assert!(gone.plimsoll("team status").stderr.contains("could not read the certificates"));
}
