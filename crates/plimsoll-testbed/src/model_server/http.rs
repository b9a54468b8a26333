//! The HTTP side of the scripted model.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::answer::{AnswerContent, Block};
use super::{Log, ModelAnswer, ModelRequest, Script, wire};

#[derive(Clone)]
struct ModelState {
    script: Arc<Mutex<Script>>,
    log: Arc<Mutex<Log>>,
}

pub(super) fn router(script: Script, log: Arc<Mutex<Log>>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .fallback(other)
        .layer(DefaultBodyLimit::disable())
        .with_state(ModelState { script: Arc::new(Mutex::new(script)), log })
}

/// Serves until the sender of `stopped` is dropped, then drops all open connections.
pub(super) fn serve(listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the model server should get a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a socket can be made non-blocking");
        let listener = tokio::net::TcpListener::from_std(listener)
            .expect("the runtime should take the model server's socket");
        tokio::spawn(axum::serve(listener, router).into_future());
        stopped.await.ok();
    });
}

async fn messages(State(model): State<ModelState>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).expect("the client should send JSON");
    let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let request = ModelRequest::new(body, header);
    let answer = answer(&model, &request);
    ([("request-id", wire::id("req"))], respond(&request, answer)).into_response()
}

/// Gets the answer from the script and logs the request with its usage.
fn answer(model: &ModelState, request: &ModelRequest) -> ModelAnswer {
    let answer = model.script.lock().expect("no rule of the script should panic").answer(request);
    let mut kept = request.clone();
    kept.usage = matches!(answer.reply, AnswerContent::Message(_)).then_some(answer.usage);
    model.log.lock().expect("the log should be usable").requests.push(kept);
    answer
}

fn respond(request: &ModelRequest, answer: ModelAnswer) -> Response {
    match &answer.reply {
        AnswerContent::Error { status, kind, message } => {
            let status = StatusCode::from_u16(*status).expect("an error's status should be valid");
            (status, Json(wire::error(kind, message))).into_response()
        }
        AnswerContent::Message(blocks) if request.body["stream"] == true => {
            stream(request, blocks, &answer)
        }
        AnswerContent::Message(blocks) => {
            Json(wire::message(request.model(), blocks, &answer.usage)).into_response()
        }
    }
}

fn stream(request: &ModelRequest, blocks: &[Block], answer: &ModelAnswer) -> Response {
    let pause = answer.pause;
    let events = stream::iter(wire::events(request.model(), blocks, &answer.usage));
    let paced = events.then(move |event| async move {
        tokio::time::sleep(pause).await;
        Ok::<_, Infallible>(event)
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(paced)).into_response()
}

/// Counts four bytes per token, as the client's own estimate does.
async fn count_tokens(body: Bytes) -> Json<Value> {
    Json(json!({ "input_tokens": body.len() / 4 }))
}

async fn other(State(model): State<ModelState>, method: Method, uri: Uri) -> Response {
    let call = format!("{method} {uri}");
    model.log.lock().expect("the log should be usable").other_calls.push(call);
    (StatusCode::NOT_FOUND, Json(wire::error("not_found_error", "Not found"))).into_response()
}
