//! HTTP: every request gets an answer, and no request makes the server fail.

use std::cell::RefCell;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, Response, header};
use plimsoll_engine::token;
use plimsoll_server::{AppState, LogFormat, ServerOptions, router};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::sandbox::{Sandbox, agent};

/// Takes `METHOD PATH` from the first line and the body from the rest.
pub(crate) fn run(input: &[u8]) {
    let Some(request) = request(input) else { return };
    SERVER.with_borrow_mut(|server| {
        let kept = server.take().filter(|server| server.requests < REQUESTS);
        server.get_or_insert(kept.unwrap_or_else(Server::new)).answer(request);
    });
}

/// The number of requests after which the server is replaced. Stored rows slow it down over time.
const REQUESTS: usize = 500;

thread_local! {
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

fn request(input: &[u8]) -> Option<Request<Body>> {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (line, body) = (std::str::from_utf8(&input[..at]).ok()?, input.get(at + 1..));
    let (method, path) = line.split_once(' ')?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, "127.0.0.1:8100")
        .header(header::CONTENT_TYPE, "application/json");
    request.body(Body::from(body.unwrap_or_default().to_vec())).ok()
}

struct Server {
    requests: usize,
    router: Router,
    bearer: String,
    runtime: Runtime,
    _sandbox: Sandbox,
}

impl Server {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let world = sandbox.env(&[]);
        let transcripts = world.with_home(agent(), |home| agent().transcript().layout(home).root);
        let transcript = transcripts.join("project/recorded.jsonl");
        sandbox.write_file(transcript.to_str().unwrap(), sandbox.recorded_transcript().as_bytes());
        let token = token::read_or_make(&world.paths).unwrap();
        let bearer = format!("Bearer {}", String::from_utf8(token).unwrap());
        let options = ServerOptions { log: LogFormat::Text, writes_per_second: u32::MAX };
        let router = router(AppState::new(world, &options).unwrap());
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { requests: 0, router, bearer, runtime, _sandbox: sandbox }
    }

    fn answer(&mut self, mut request: Request<Body>) {
        self.requests += 1;
        request.headers_mut().insert(header::AUTHORIZATION, self.bearer.parse().unwrap());
        let router = self.router.clone();
        let is_head = request.method() == Method::HEAD;
        self.runtime.block_on(async {
            let Ok(response) = router.oneshot(request).await;
            check_response(response, is_head).await;
        });
    }
}

/// Checks that the server has not failed, that the body has the declared type, and that the answer
/// to `HEAD` has no body.
async fn check_response(response: Response<Body>, is_head: bool) {
    let status = response.status();
    assert!(!status.is_server_error() || status.as_u16() == 503, "{status}");
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap());
    let kind = kind.unwrap_or_default().to_owned();
    // An event stream has no end.
    if kind.starts_with("text/event-stream") {
        return;
    }
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    if is_head {
        assert!(body.is_empty(), "a head with {} bytes", body.len());
    } else if kind.contains("json") {
        serde_json::from_slice::<serde_json::Value>(&body).unwrap();
    }
}
