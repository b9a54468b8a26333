//! Secrets of many kinds in a session's prompts, tool results, edits and commands: none is stored or
//! given on, whatever plimsoll is asked to do. What only looks like one survives.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::transcript;

/// How each begins, in pieces so that no file of ours holds a token, and how long the rest is.
const KINDS: &[(&[&str], usize, &str)] = &[
    (&["AK", "IA"], 16, UPPER),
    (&["AI", "za"], 35, MIXED),
    (&["GOC", "SPX-"], 28, MIXED),
    (&["ya", "29."], 60, MIXED),
    (&["dop", "_v1_"], 64, HEX),
    (&["nf", "p_"], 36, MIXED),
    (&["tsk", "ey-auth-"], 30, MIXED),
    (&["da", "pi"], 32, HEX),
    (&["gh", "p_"], 36, MIXED),
    (&["gh", "o_"], 36, MIXED),
    (&["gh", "s_"], 36, MIXED),
    (&["gl", "pat-"], 20, MIXED),
    (&["AT", "BB"], 32, MIXED),
    (&["np", "m_"], 36, MIXED),
    (&["py", "pi-AgE"], 160, MIXED),
    (&["ruby", "gems_"], 48, HEX),
    (&["dckr", "_pat_"], 27, MIXED),
    (&["hv", "s."], 90, MIXED),
    (&["AGE-SECRET", "-KEY-1"], 58, UPPER),
    (&["NR", "AK-"], 27, UPPER),
    (&["snt", "rys_"], 80, MIXED),
    (&["xo", "xp-123456789012-"], 32, HEX),
    (&["lin", "_api_"], 40, MIXED),
    (&["nt", "n_"], 46, MIXED),
    (&["fig", "d_"], 40, MIXED),
    (&["sk_", "live_"], 24, MIXED),
    (&["rk_", "live_"], 24, MIXED),
    (&["wh", "sec_"], 32, MIXED),
    (&["sq0", "atp-"], 22, MIXED),
    (&["shp", "at_"], 32, HEX),
    (&["shp", "ss_"], 32, HEX),
    (&["sk-", "ant-api03-"], 95, MIXED),
    (&["sk-", "proj-"], 120, MIXED),
    (&["h", "f_"], 34, MIXED),
    (&["r", "8_"], 37, MIXED),
    (&["gs", "k_"], 52, MIXED),
    (&["AWS_SECRET_ACCESS_KEY="], 40, MIXED),
    (&["DB_PASSWORD="], 14, MIXED),
    (&["JWT_SECRET="], 32, MIXED),
    (&["TWILIO_AUTH_TOKEN="], 32, HEX),
    (&["DATADOG_API_KEY="], 32, HEX),
    (&["VAULT_TOKEN="], 26, MIXED),
    (&["curl -H 'Authorization: Bearer "], 40, MIXED),
    (&["postgres://app:"], 16, MIXED),
];

const UPPER: &str = "QWERTZUIOPASDFGHJKLYXCVBNM23456789";
const HEX: &str = "0123456789abcdef";
const MIXED: &str = "qWeRtZuIoPaSdFgHjKlYxCvBnM0123456789";

const BASE64: &str = "qWeRtZuIoPaSdFgHjKlYxCvBnM0123456789+/";

/// A secret as it stands in a text, and the part of it that nobody may find.
fn secret(at: usize, (begin, length, alphabet): &(&[&str], usize, &str)) -> (String, String) {
    let rest = random(at, *length, alphabet);
    let after = if begin[0].starts_with("postgres") { "@db.internal:5432/app" } else { "" };
    (format!("{}{rest}{after}", begin.concat()), rest)
}

/// So many letters, different for each number.
fn random(at: usize, length: usize, alphabet: &str) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(at as u64 + 7);
    let letter = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(alphabet[(state >> 33) as usize % alphabet.len()])
    };
    (0..length).map(letter).collect()
}

/// A private key of many lines.
fn private_key(at: usize) -> (String, String) {
    let rows: Vec<String> = (0..26).map(|row| random(at + row, 64, BASE64)).collect();
    let rows = rows.join("\n");
    let edge = |word: &str| ["-----", word, " RSA PRIV", "ATE KEY-----"].concat();
    (format!("{}\n{rows}\n{}", edge("BEGIN"), edge("END")), rows)
}

fn web_token(at: usize) -> (String, String) {
    let (claims, signature) = (random(at, 90, MIXED), random(at + 1, 43, MIXED));
    (["ey", "JhbGciOiJIUzI1NiJ9.ey", &claims, ".", &signature].concat(), claims + "." + &signature)
}

/// What tools give back of which only the ends are kept: a key across one of the cuts, at different
/// letters of its lines.
fn long_results(key: &str) -> Vec<String> {
    let lines = |length: usize| "a line of a long log, as builds write them\n".repeat(length / 43);
    let results = (0..4).flat_map(|nth| {
        let shift = "-".repeat(nth * 16);
        [
            format!("{}{shift}\n{key}\n{}", lines(11_000), lines(40_000)),
            format!("{}{key}\n{shift}\n{}", lines(40_000), lines(3_000)),
        ]
    });
    results.collect()
}

/// How much of a secret must not be found anywhere.
const PART: usize = 12;

/// The part of a secret that a text holds.
fn leaked<'t>(parts: &HashSet<&[u8]>, text: &'t str) -> Option<&'t [u8]> {
    text.as_bytes().windows(PART).find(|part| parts.contains(part))
}

const HASH: &str = "1f0c3d5b7a9e2468ace013579bdf02468ace1357";
const UUID: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const FILE: &str = "crates/hull/src/load_line_of_the_keel.rs";

/// A session with `secrets` in every place that a transcript has.
pub(crate) fn session(env: &TestEnv, secrets: &[(String, String)], long: &[String]) -> String {
    let cwd = env.project();
    let record = |id: u8, kind: &str, content: Value| {
        let message = match kind {
            "assistant" => json!({"id": format!("msg_{id}"), "type": "message", "role": kind,
                "model": transcript::MODEL, "content": content, "stop_reason": "tool_use",
                "usage": {"input_tokens": 3, "cache_creation_input_tokens": 400,
                    "cache_read_input_tokens": 30_000, "output_tokens": 40}}),
            _ => json!({"role": kind, "content": content}),
        };
        json!({"type": kind, "message": message, "isSidechain": false, "cwd": cwd,
            "uuid": format!("00000000-0000-4000-8000-{id:012}"), "sessionId": "s",
            "parentUuid": (id > 1).then(|| format!("00000000-0000-4000-8000-{:012}", id - 1)),
            "timestamp": transcript::time(id), "version": "2.1.325", "gitBranch": "main"})
    };
    let all: Vec<&str> = secrets.iter().map(|(text, _)| text.as_str()).collect();
    let lines = all.join("\nthen ");
    let tool = |id: u8, name: &str, input: Value| json!([{"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input}]);
    let result = |id: u8, text: &str| json!([{"type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": text}]);
    let path = cwd.join(FILE);
    let records = [
        record(1, "user", json!(format!("Always use these:\n{lines}\nsee {HASH} and {UUID}"))),
        record(
            2,
            "assistant",
            json!([{"type": "text", "text": format!("I decided so because of {lines}")}]),
        ),
        record(
            3,
            "assistant",
            tool(3, "Write", json!({"file_path": path, "content": format!("// TODO {lines}")})),
        ),
        record(4, "user", result(3, &lines)),
        record(
            5,
            "assistant",
            tool(
                5,
                "Edit",
                json!({"file_path": path, "old_string": lines, "new_string": format!("FIXME {lines}")}),
            ),
        ),
        record(6, "user", result(5, "done")),
        record(
            7,
            "assistant",
            tool(
                7,
                "Bash",
                json!({"command": format!("deploy run {}", all.join(" && deploy run "))}),
            ),
        ),
        record(
            8,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "toolu_7", "is_error": true, "content": format!("error: {lines}")}]),
        ),
        record(
            9,
            "assistant",
            tool(9, "Agent", json!({"description": lines, "prompt": lines, "subagent_type": "x"})),
        ),
        record(10, "user", result(9, &lines)),
        record(
            11,
            "assistant",
            tool(11, "TodoWrite", json!({"todos": [{"content": lines, "status": "pending"}]})),
        ),
        record(12, "user", result(11, "ok")),
    ];
    let long = long.iter().flat_map(|text| [(text, false), (text, true)]);
    let long = (13..).step_by(2).zip(long).flat_map(|(id, (text, failed))| {
        let mut returned = result(id, text);
        returned[0]["is_error"] = json!(failed);
        let called = tool(id, "Bash", json!({"command": format!("deploy log {id}")}));
        [record(id, "assistant", called), record(id + 1, "user", returned)]
    });
    records.into_iter().chain(long).map(|record| format!("{record}\n")).collect()
}

/// Every file below `folder`, as text.
fn stored(env: &TestEnv, folder: &Path, but: &Path) -> Vec<(String, String)> {
    let files = env.all_under(folder).into_iter().filter(|path| path.is_file() && path != but);
    files
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

/// Places in which a value is a secret though it looks like a hash; `§` stands for the value.
const PLACES: &[&str] = &[
    "Authorization: Bearer §",
    "Authorization: Token §",
    "Authorization: ApiKey §",
    "Authorization: §",
    "Authorization: Token token=\"§\"",
    "Authorization: Digest username=\"me\", realm=\"r\", response=\"§\"",
    "Proxy-Authorization: Custom §",
    "{\"Authorization\": \"Bearer §\"}",
    "{'X-Api-Key': '§'}",
    "X-Auth-Token: §",
    "X-Functions-Key: §",
    "PRIVATE-TOKEN: §",
    "X-Acme-Secret: §",
    "api_key = \"§\"",
    "Cookie: theme=dark; session=§",
    "Set-Cookie: id=§; Path=/",
    "curl -b 'sid=§' https://host/x",
    "https://host/x?token=§&page=2",
    "https://host/x?a=1&api_key=§",
    "https://host/x?sig=§",
    "https://host/x?X-Amz-Signature=§",
    "https://host/x?key=§",
    "curl -u me:§ https://host/x",
    "curl -sSu me:§ https://host/x",
    "https://me:§@host/x",
    "https://§@host/x",
    "mysql -u root -p§ app",
    "mongosh -u me -p § host/app",
    "redis-cli -h cache -a § ping",
    "sqlcmd -S host -U sa -P § -Q x",
    "PGPASSWORD=§ psql -h db -p 5432",
    "MYSQL_PWD=§ mysql app",
    "https://api.telegram.org/bot123456789:§/getMe",
    "https://discord.com/api/webhooks/123456789012345678/§",
];

/// Values as hashes and ids are, and a bot's token that nothing announces.
fn placed() -> Vec<(String, String)> {
    let uuid = |at: usize| {
        let part = |(nth, length): (usize, usize)| random(at * 7 + nth, length, HEX);
        let parts: Vec<String> = [8, 4, 4, 4, 12].into_iter().enumerate().map(part).collect();
        parts.join("-")
    };
    let placed = PLACES.iter().zip(2_000..).map(|(place, at)| {
        let value = match at % 3 {
            0 => uuid(at),
            1 => random(at, 40, HEX),
            _ => random(at, 32, HEX),
        };
        (place.replace('§', &value), value)
    });
    let signature = random(3_000, 38, MIXED);
    let bot = ["MTk4NjIyNDgz", "NDcxOTI1MjQ4.Cl2FMQ.", &signature].concat();
    placed.chain([(bot, signature)]).collect()
}

#[test]
fn a_value_that_is_secret_by_its_place_is_not_stored() {
    let secrets = placed();
    assert!(secrets.len() >= 30);
    let env = TestEnv::new().with("CLAUDE_CODE_SESSION_ID", "5f2c81aa");
    let session_of = env.session("5f2c81aa");
    let input = random(4_000, 40, HEX);
    let call = json!({"type": "assistant", "isSidechain": false, "cwd": env.project(),
        "uuid": "00000000-0000-4000-8000-000000000013", "sessionId": "s",
        "parentUuid": "00000000-0000-4000-8000-000000000012", "timestamp": transcript::time(13),
        "version": "2.1.325", "gitBranch": "main",
        "message": {"id": "msg_13", "type": "message", "role": "assistant",
            "model": transcript::MODEL, "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 40, "cache_read_input_tokens": 30_000},
            "content": [{"type": "tool_use", "id": "toolu_13", "name": "mcp__deploy__run",
                "input": {"headers": {"X-Api-Key": input}, "path": FILE}}]}});
    session_of.write(format!("{}{call}\n", session(&env, &secrets, &[])));
    let task = format!("go on with {}", secrets[0].0);
    let mut texts = Vec::new();
    for arguments in [
        &["checkpoint", "create", "5f2c81aa"][..],
        &["restore"],
        &["ss", "release"],
        &["ss", "release", "--task", &task],
        &["rs", "release"],
        &["search", "deploy"],
        &["checkpoint", "show", "latest"],
    ] {
        let ran = env.run(env.command(arguments), b"");
        assert!(ran.status.success(), "{arguments:?}: {ran}");
        texts.push((arguments.join(" "), ran.to_string()));
    }
    texts.extend(stored(&env, &env.home(), &session_of.transcript));
    texts.extend(stored(&env, &env.project(), Path::new("")));
    let hidden = secrets.iter().map(|(_, hidden)| hidden).chain([&input]);
    let parts: HashSet<&[u8]> = hidden.flat_map(|hidden| hidden.as_bytes().windows(PART)).collect();
    for (path, stored) in &texts {
        let leaked = leaked(&parts, stored).map(String::from_utf8_lossy);
        assert_eq!(leaked, None, "in {path}");
    }
    for kept in [HASH, UUID, FILE] {
        let is_kept = |(path, text): &(String, String)| {
            path.contains("/checkpoints/2") && text.contains(kept)
        };
        assert!(texts.iter().any(is_kept), "{kept}");
    }
}

#[test]
fn no_secret_is_stored_or_given_on_and_what_looks_like_one_survives() {
    let mut secrets: Vec<(String, String)> =
        KINDS.iter().enumerate().map(|(at, kind)| secret(at, kind)).collect();
    secrets.extend([private_key(1_000), web_token(1_100)]);
    assert!(secrets.len() >= 40);
    let env = TestEnv::new();
    env.user_config("restore: {mode: inject}\n");
    let session_of = env.session("5f2c81aa");
    let cut = private_key(1_200);
    session_of.write(session(&env, &secrets, &long_results(&cut.0)));
    let mut said = Vec::new();
    let mut hook = |event: &str, more: Value| {
        let mut payload = session_of.payload(event);
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said.push(env.hook(payload.to_string()).to_string());
    };
    hook("PreCompact", json!({"trigger": "auto"}));
    hook("SessionStart", json!({"source": "compact"}));
    hook("PostCompact", json!({"compact_summary": secrets[0].0}));
    hook("UserPromptSubmit", json!({"prompt": secrets[1].0}));
    hook("SessionStart", json!({"source": "resume"}));
    hook("SessionEnd", json!({"reason": "other"}));
    let mut payload = env.session("another").payload("SessionStart");
    payload["source"] = json!("startup");
    let given = env.hook(payload.to_string()).to_string();
    assert!(given.contains("of another session"), "{given}");
    said.push(given.clone());
    for command in
        ["status --all", "resume", "search deploy", "checkpoint show latest", "restore", "score"]
    {
        said.push(env.plimsoll(command).to_string());
    }

    let mut texts: Vec<(String, String)> =
        said.into_iter().map(|text| ("what was said".to_owned(), text)).collect();
    texts.extend(stored(&env, &env.home(), &session_of.transcript));
    texts.extend(stored(&env, &env.project(), Path::new("")));
    assert!(texts.iter().any(|(path, _)| path.contains("/checkpoints/")), "there is one");
    assert!(texts.iter().any(|(path, _)| path.contains("/work/")), "and a saved state");
    let hidden = secrets.iter().chain([&cut]).map(|(_, hidden)| hidden.as_bytes());
    let parts: HashSet<&[u8]> = hidden.flat_map(|hidden| hidden.windows(PART)).collect();
    for (path, stored) in &texts {
        let leaked = leaked(&parts, stored).map(String::from_utf8_lossy);
        assert_eq!(leaked, None, "in {path}");
    }
    for kept in [HASH, UUID, FILE] {
        let is_kept = |(path, text): &&(String, String)| {
            path.contains("/checkpoints/2") && text.contains(kept)
        };
        assert!(texts.iter().any(|text| is_kept(&text)), "{kept}");
    }
    assert!(given.contains(FILE), "{given}");
}
