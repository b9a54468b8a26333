//! Authorizes requests and adds security headers to every response.
//!
//! A process of the server's own user on this machine needs no token; every other client does. A
//! browser also runs as that user but acts for the site it shows. A request without the token must
//! therefore name the server by IP address or `localhost`, because a DNS name could have been
//! pointed here by an attacker (DNS rebinding). No request may come from another site.

mod peer;
mod rate_limit;

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

pub(crate) use peer::Peer;
pub(crate) use rate_limit::TokenBucket;

use crate::http::Problem;
use crate::pages::STYLE;
use crate::state::AppState;

/// Time limit for a request, including the time to receive its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Authorizes a request, runs it, and records the outcome in the metrics and the log.
pub(crate) async fn handle_request(
    State(app): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let mut response = match authorize(&app, &request) {
        Ok(()) => tokio::time::timeout(REQUEST_TIMEOUT, next.run(request))
            .await
            .unwrap_or_else(|_| timed_out().into_response()),
        Err(problem) => problem.into_response(),
    };
    response.headers_mut().extend(security_headers());
    let route = path.as_ref().map_or("-", MatchedPath::as_str);
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.count_request(&method, route, status, took);
    app.log.request(&method, route, status, took);
    response
}

fn authorize(app: &AppState, request: &Request) -> Result<(), Problem> {
    let peer = request.extensions().get::<Arc<Peer>>();
    let has_token = has_valid_token(app, request);
    check_host(request, has_token)?;
    check_site(request)?;
    if !has_token && !peer.is_some_and(|peer| peer.is_own_user()) {
        return Err(no_token());
    }
    if is_write(request.method()) {
        app.writes.take().map_err(|seconds| Problem::too_many("too many writes", seconds))?;
    }
    Ok(())
}

fn is_write(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn timed_out() -> Problem {
    let hint = "send the whole request at once, or ask for less";
    Problem::new(StatusCode::REQUEST_TIMEOUT, "the request took longer than 10 s", hint)
}

fn no_token() -> Problem {
    let hint =
        "send `Authorization: Bearer TOKEN`; `plimsoll serve` says at its start where the token is";
    Problem::new(StatusCode::UNAUTHORIZED, "only the user who serves may ask without a token", hint)
}

/// Returns whether the request has the token, in the `Authorization` header or in the `token` query
/// parameter for clients that cannot set headers.
fn has_valid_token(app: &AppState, request: &Request) -> bool {
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    let same = |shown: &[u8]| bool::from(shown.ct_eq(&app.token));
    let query = request.uri().query().filter(|query| query.contains("token=")).unwrap_or_default();
    let shown = form_urlencoded::parse(query.as_bytes())
        .any(|(name, value)| name == "token" && same(value.as_bytes()));
    shown || header.is_some_and(|token| same(token.as_bytes()))
}

/// Refuses a request whose `Host` is a DNS name other than `localhost`.
///
/// With the token any name is accepted: a page loaded through DNS rebinding does not know the
/// token.
fn check_host(request: &Request, has_token: bool) -> Result<(), Problem> {
    let host = host(request.headers(), request.uri()).ok_or_else(|| {
        Problem::bad_request(
            "the request names no host, or more than one",
            "send one `Host` header",
        )
    })?;
    match has_token || is_address(host) {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "this name is not known to lead here",
            "ask by address, as in `http://127.0.0.1:8100`, or show the token",
        )),
    }
}

/// Returns the `Host` of a request with its port. `None` if it is missing, repeated, or contradicts
/// the request URI.
fn host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let mut named = headers.get_all(header::HOST).iter();
    let (first, second) = (named.next(), named.next());
    let host = first?.to_str().ok()?;
    let is_alone = second.is_none() && uri.authority().is_none_or(|other| other.as_str() == host);
    is_alone.then_some(host)
}

/// Returns whether the host is an IP address or `localhost`, so that no DNS lookup leads to it.
fn is_address(host: &str) -> bool {
    let without_port = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = without_port.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    without_port.eq_ignore_ascii_case("localhost")
        || bare.unwrap_or(without_port).parse::<IpAddr>().is_ok()
}

/// Refuses requests that a browser sends for another site. Following a link to this server is
/// allowed.
fn check_site(request: &Request) -> Result<(), Problem> {
    let text = |name: &HeaderName| request.headers().get(name).map(|value| value.to_str().ok());
    let host = host(request.headers(), request.uri()).unwrap_or_default();
    let own = |origin: &str| origin.strip_prefix("http://").is_some_and(|origin| origin == host);
    let strange_origin = text(&header::ORIGIN).is_some_and(|origin| !origin.is_some_and(own));
    let is_visit = request.method() == Method::GET && text(&FETCH_MODE) == Some(Some("navigate"));
    let strange_site = text(&FETCH_SITE)
        .is_some_and(|site| !matches!(site, Some("same-origin" | "none")) && !is_visit);
    match strange_origin || strange_site {
        false => Ok(()),
        true => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "requests from other sites are refused",
            "ask from a script, or from a page that this server gave out",
        )),
    }
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Security headers of every response: no caching, framing, content sniffing or referrer, and pages
/// load nothing from other origins.
fn security_headers() -> [(HeaderName, HeaderValue); 6] {
    let value = HeaderValue::from_static;
    [
        (header::CONTENT_SECURITY_POLICY, POLICY.clone()),
        (header::X_CONTENT_TYPE_OPTIONS, value("nosniff")),
        (header::X_FRAME_OPTIONS, value("DENY")),
        (header::REFERRER_POLICY, value("no-referrer")),
        (header::CACHE_CONTROL, value("no-store")),
        (HeaderName::from_static("cross-origin-resource-policy"), value("same-origin")),
    ]
}

/// Content security policy. It allows only our own inline style, identified by its hash.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'sha256-{style}'; img-src 'self' data:; \
         connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    HeaderValue::try_from(policy).expect("visible ASCII")
});

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request {
        let mut request = Request::builder().method("POST").uri("/ss");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(axum::body::Body::empty()).unwrap()
    }

    #[test]
    fn addresses_are_distinguished_from_names() {
        for host in ["127.0.0.1:8100", "127.0.0.1", "localhost:8100", "LOCALHOST", "[::1]:8100"] {
            assert!(is_address(host), "{host}");
        }
        for host in ["evil.example:8100", "localhost.evil.example", "127.0.0.1.nip.io", "", "[::1"]
        {
            assert!(!is_address(host), "{host}");
        }
    }

    #[test]
    fn host_header_must_be_present_once() {
        assert!(check_host(&request(&[("host", "127.0.0.1:8100")]), false).is_ok());
        assert!(check_host(&request(&[]), false).is_err());
        assert!(check_host(&request(&[("host", "a"), ("host", "127.0.0.1")]), true).is_err());
        assert!(check_host(&request(&[("host", "box.example")]), false).is_err());
        assert!(check_host(&request(&[("host", "box.example")]), true).is_ok());
    }

    #[test]
    fn other_sites_are_refused() {
        let own = ("host", "127.0.0.1:8100");
        let check = |header| check_site(&request(&[own, header])).is_ok();
        assert!(check(("origin", "http://127.0.0.1:8100")));
        assert!(check(("sec-fetch-site", "same-origin")));
        for origin in
            ["http://evil.example", "null", "https://127.0.0.1:8100", "http://127.0.0.1:1"]
        {
            assert!(!check(("origin", origin)), "{origin}");
        }
        assert!(!check(("sec-fetch-site", "cross-site")));
        assert!(!check(("sec-fetch-site", "same-site")), "another port is another site");
    }
}
