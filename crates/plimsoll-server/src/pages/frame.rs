//! The frame around every page, and the error page.

use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plimsoll_engine::clock;

use super::assets::STYLE;
use super::site::Site;
use crate::http::Problem;

/// Pages in the navigation bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Sessions,
    Runs,
    Saves,
    Tax,
    Score,
    Criteria,
    Team,
}

const TABS: [(Tab, &str, &str); 7] = [
    (Tab::Sessions, "/", "Sessions"),
    (Tab::Runs, "/runs", "Runs"),
    (Tab::Saves, "/saves", "Saves"),
    (Tab::Tax, "/tax", "Hook tax"),
    (Tab::Score, "/score", "Score"),
    (Tab::Criteria, "/criteria", "Criteria"),
    (Tab::Team, "/team", "Team"),
];

/// Renders a page.
pub(super) fn page(site: &Site, tab: Option<Tab>, title: &str, body: &Markup) -> Markup {
    framed(site, tab, title, None, body)
}

/// Renders a page that the browser reloads after `seconds`.
pub(super) fn reloading_page(
    site: &Site,
    tab: Tab,
    title: &str,
    seconds: u32,
    body: &Markup,
) -> Markup {
    framed(site, Some(tab), title, Some(seconds), body)
}

fn framed(site: &Site, tab: Option<Tab>, title: &str, again: Option<u32>, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(seconds) = again { meta http-equiv="refresh" content=(seconds); }
                title { (title) " · plimsoll" }
                link rel="icon" type="image/svg+xml" href=(site.to("/assets/icon.svg"));
                style { (PreEscaped(STYLE)) }
                script defer src=(site.to("/assets/live.js")) data-events=(site.to("/events")) {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href=(site.to("/")) { (mark()) "plimsoll" }
                    nav aria-label="Pages" {
                        @for (this, path, name) in TABS.into_iter().filter(|it| site.has_team || it.0 != Tab::Team) {
                            a href=(site.to(path)) aria-current=[(tab == Some(this)).then_some("page")] {
                                (name)
                            }
                        }
                    }
                    span #live role="status" {}
                }
                main #main tabindex="-1" { (body) }
                footer.quiet { "Times are local to the server (" (clock::zone()) ")." }
            }
        }
    }
}

/// The logo, a load line: a disc with a line through it.
fn mark() -> Markup {
    const MARK: &str = r#"<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><circle cx="12" cy="12" r="7"/><path d="M1 12h22"/></svg>"#;
    PreEscaped(MARK.to_owned())
}

/// An error, shown as a page.
pub(super) struct PageError {
    site: Site,
    problem: Problem,
}

impl PageError {
    /// Returns a converter from [`Problem`], for `map_err`.
    pub(super) fn of(site: &Site) -> impl FnOnce(Problem) -> Self + use<> {
        let site = site.clone();
        move |problem| Self { site, problem }
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, error, hint) = self.problem.parts();
        let body = html! {
            h1 { (status.canonical_reason().unwrap_or("Error")) }
            p { (error) }
            p.quiet { (hint) }
        };
        (status, page(&self.site, None, "Not here", &body)).into_response()
    }
}
