//! What pages are made with and load, from memory.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// The style, which every page carries: the first paint would wait for a request of its own.
pub(crate) const STYLE: &str = include_str!("../../assets/style.css");

pub(super) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../../assets/live.js"))
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml")], include_str!("../../assets/icon.svg"))
}
