//! The server's routes, asked in this process: no port, no process, no waiting for either.

use axum::body::Body;
use axum::http::Request;
use axum::{Router, body};
use plimsoll_server::{AppState, LogFormat, ServerOptions};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt as _;

use super::client::Answer;
use crate::env::TestEnv;

/// All that answers requests, for somebody who has the token.
pub(crate) struct Local {
    router: Router,
    runtime: Runtime,
    token: String,
}

impl Local {
    pub(crate) fn new(env: &TestEnv) -> Self {
        let options = ServerOptions { log: LogFormat::Text, writes_per_second: u32::MAX };
        let app = AppState::new(env.world().unwrap(), &options).unwrap();
        let token = std::fs::read_to_string(env.data().join("serve.token")).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { router: plimsoll_server::router(app), runtime, token }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[("Content-Type", "application/json")], &body.to_string())
    }

    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let token = format!("Bearer {}", self.token.trim_end());
        let own = [("Host", "127.0.0.1:8100"), ("Authorization", token.as_str())];
        let request = Request::builder().method(method).uri(path);
        let request = own
            .iter()
            .chain(headers)
            .fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (status, mut head) = (response.status().as_u16(), String::new());
            for (name, value) in response.headers() {
                head += &format!("{name}: {}\r\n", value.to_str().unwrap().to_lowercase());
            }
            let body = body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            Answer { status, head, body: String::from_utf8_lossy(&body).into_owned() }
        })
    }

    /// Every save there is.
    pub(crate) fn saves(&self) -> Vec<Value> {
        let answer = self.get("/sessions?all=true&limit=100");
        answer.json()["sessions"].as_array().unwrap().clone()
    }
}
