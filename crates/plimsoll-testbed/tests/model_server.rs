//! Tests the scripted model without a client.

use std::io::{Read, Write};
use std::net::TcpStream;

use plimsoll_testbed::{AnswerUsage, ModelAnswer, ModelServer, Script};
use serde_json::{Value, json};

#[test]
fn a_stream_has_every_event_in_order() {
    let usage = AnswerUsage { input: 1, cache_read: 2, cache_creation: 3, output: 4 };
    let answer =
        ModelAnswer::thinking("hm").then_tool("Bash", json!({ "command": "ls" })).usage(usage);
    let server = ModelServer::start(Script::new().main([answer]));

    let events = post(&server, "/v1/messages", &turn(true));

    let events: Vec<Value> = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("an event is JSON"))
        .collect();
    let names: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(events[0]["message"]["usage"]["cache_creation_input_tokens"], 3);
    assert_eq!(events[6]["delta"]["partial_json"], r#"{"command":"ls"}"#);
    assert_eq!(events[8]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[8]["usage"]["output_tokens"], 4);
}

#[test]
fn a_request_without_a_stream_gets_one_object() {
    let server = ModelServer::start(Script::new().main([ModelAnswer::text("whole")]));

    let message: Value = serde_json::from_str(&post(&server, "/v1/messages", &turn(false)))
        .expect("the answer is JSON");

    assert_eq!(message["content"], json!([{ "type": "text", "text": "whole" }]));
    assert_eq!(message["stop_reason"], "end_turn");
    assert_eq!(message["model"], "some-model");
}

#[test]
fn tokens_are_counted_and_other_calls_are_recorded() {
    let server = ModelServer::start(Script::new());

    let count = post(&server, "/v1/messages/count_tokens", &turn(false));
    let other = post(&server, "/api/anything", &json!({}));

    assert!(count.starts_with(r#"{"input_tokens":"#), "{count}");
    assert!(other.contains("not_found_error"), "{other}");
    assert_eq!(server.other_calls(), ["POST /api/anything"]);
    assert!(server.requests().is_empty());
}

fn turn(stream: bool) -> Value {
    json!({
        "model": "some-model",
        "max_tokens": 100,
        "stream": stream,
        "tools": [{ "name": "Bash" }],
        "messages": [{ "role": "user", "content": "hello" }],
    })
}

/// Posts a request and returns the response body. Uses HTTP/1.0, so that the body is not chunked
/// and the connection closes after it.
fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let url = server.url();
    let address = url.strip_prefix("http://").expect("the server speaks plain HTTP");
    let mut connection = TcpStream::connect(address).expect("the server listens");
    write!(connection, "POST {path} HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .expect("the server takes the request");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("the server answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a head and a body");
    body.to_owned()
}
