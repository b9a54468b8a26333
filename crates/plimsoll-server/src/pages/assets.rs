//! Style, script and icon of the pages, embedded in the binary.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// Style sheet, inlined in every page: a separate request would delay the first paint.
pub(crate) const STYLE: &str = include_str!("../../assets/style.css");

pub(super) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../../assets/live.js"))
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml")], include_str!("../../assets/icon.svg"))
}
