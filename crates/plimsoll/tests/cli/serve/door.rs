//! Who may come in.

use std::process::Command;

use serde_json::json;

use super::client::Running;
use crate::env::TestEnv;

/// What curl says as a user who is not ours.
fn as_another_user(arguments: &[&str]) -> String {
    assert!(rustix::process::geteuid().is_root(), "only root can become somebody else");
    let output = Command::new("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "curl",
            "-sS",
            "-w",
            " %{http_code}",
        ])
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn another_user_can_neither_read_nor_write_without_the_token() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    server.post("/ss", &json!({"task": "nobody else's business"}));
    let at = |path: &str| format!("http://{}{path}", server.address);
    let body = r#"{"task":"intrude"}"#;
    let post = ["-H", "Content-Type: application/json", "-d", body];
    for path in [
        "/sessions",
        "/context/usage?used_tokens=1",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/events",
        "/nowhere",
        "/",
    ] {
        let said = as_another_user(&[&at(path)]);
        assert!(said.ends_with(" 401") && !said.contains("business"), "{path}: {said}");
    }
    let said = as_another_user(&[&post[..], &[at("/ss").as_str()]].concat());
    assert!(said.ends_with(" 401"), "{said}");
    for wrong in ["x".to_owned(), server.token().to_uppercase(), server.token()[..63].to_owned()] {
        let header = format!("Authorization: Bearer {wrong}");
        let said = as_another_user(&["-H", &header, &at("/sessions")]);
        assert!(said.ends_with(" 401"), "{said}");
    }
    assert_eq!(server.saves().len(), 1, "nothing was stored");
    let header = format!("Authorization: Bearer {}", server.token());
    let said = as_another_user(&["-H", &header, &at("/sessions")]);
    assert!(said.contains("business") && said.ends_with(" 200"), "{said}");
    let said = as_another_user(&[&post[..], &["-H", &header, at("/ss").as_str()]].concat());
    assert!(said.ends_with(" 200"), "{said}");
    let said = as_another_user(&[&format!("{}?token={}", at("/sessions"), server.token())]);
    assert!(said.ends_with(" 200"), "{said}");
    assert!(!server.log().contains(&server.token()), "the log has no tokens");
}

#[test]
fn who_hangs_up_at_once_is_nobody() {
    // A socket that nobody holds any more counts as root's to the kernel, which we may be.
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let script = format!(
        "import socket\nfor _ in range(200):\n s=socket.create_connection(('127.0.0.1',{}))\n \
         b=b'{{\"task\":\"intrude\"}}'\n s.sendall(b'POST /ss HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\
         Content-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(b)+b)\n s.close()\n",
        server.address.port()
    );
    let python = Command::new("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "/usr/bin/env",
            "python3",
            "-c",
            &script,
        ])
        .status()
        .unwrap();
    assert!(python.success());
    assert!(server.saves().is_empty());
}

#[test]
fn the_token_is_the_users_alone_and_stays() {
    use std::os::unix::fs::MetadataExt;
    let env = TestEnv::new();
    let token = Running::start(&env, &[]).token();
    assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let metadata = std::fs::metadata(env.data().join("serve.token")).unwrap();
    assert_eq!(metadata.mode() & 0o777, 0o600);
    assert_eq!(Running::start(&env, &[]).token(), token);
}

#[test]
fn the_token_stands_in_no_list_of_processes() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    for file in ["cmdline", "environ"] {
        let shown = std::fs::read(format!("/proc/{}/{file}", server.process())).unwrap();
        assert!(!String::from_utf8_lossy(&shown).contains(&server.token()), "{file}");
    }
}

#[test]
fn names_that_may_lead_anywhere_are_refused() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let port = server.address.port();
    for host in
        ["evil.example", "evil.example:8100", "127.0.0.1.evil.example", "localhost.evil.example"]
    {
        server.ask("GET", "/healthz", &[("Host", host)], "").refuses(403);
    }
    let token = format!("Bearer {}", server.token());
    let named = [("Host", "box.example"), ("Authorization", token.as_str())];
    assert_eq!(server.ask("GET", "/healthz", &named, "").status, 200);
    for host in ["localhost", "127.0.0.1", &format!("localhost:{port}"), "[::1]:8100"] {
        assert_eq!(server.ask("GET", "/healthz", &[("Host", host)], "").status, 200, "{host}");
    }
    let without = b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n";
    server.exchange(without).unwrap().refuses(400);
    let absolute =
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    server.exchange(absolute).unwrap().refuses(400);
}

#[test]
fn other_sites_are_refused() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    let own = format!("http://{}", server.address);
    let post = |header: (&str, &str)| {
        let headers = [("Content-Type", "application/json"), header];
        server.ask("POST", "/ss", &headers, r#"{"task":"x"}"#)
    };
    for origin in
        ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "file://"]
    {
        post(("Origin", origin)).refuses(403);
    }
    post(("Sec-Fetch-Site", "cross-site")).refuses(403);
    assert!(server.saves().is_empty());
    assert_eq!(post(("Origin", own.as_str())).status, 200);
    let visit = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
    assert_eq!(server.ask("GET", "/healthz", &visit, "").status, 200, "a link may be followed");
    let read = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")];
    server.ask("GET", "/sessions", &read, "").refuses(403);
    let asked = [("Origin", own.as_str()), ("Access-Control-Request-Method", "POST")];
    let answer = server.ask("OPTIONS", "/ss", &asked, "");
    assert!(!answer.head.contains("access-control-allow"), "{answer:?}");
}

#[test]
fn every_answer_is_armoured() {
    let env = TestEnv::new();
    let server = Running::start(&env, &[]);
    for path in ["/healthz", "/nowhere", "/context/usage"] {
        let head = server.get(path).head;
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
    }
}

#[test]
fn too_many_writes_are_refused_until_later() {
    let env = TestEnv::new();
    let server = Running::start(&env, &["--writes-per-second", "1"]);
    let answers: Vec<_> = (0..6).map(|_| server.post("/ss", &json!({"task": "x"}))).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("one is too many");
    assert!(refused.refuses(429).head.contains("retry-after: 1"), "{refused:?}");
    assert_eq!(server.get("/healthz").status, 200, "reading goes on");
}
