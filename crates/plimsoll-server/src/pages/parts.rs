//! Elements that several pages use.

use std::path::Path;

use maud::{Markup, html};
use plimsoll_core::reading::{Band, ReadingSource};
use plimsoll_core::settings::Lines;
use plimsoll_core::text::{duration, thousands};
use plimsoll_core::time::utc_second;
use plimsoll_core::usage::share;
use plimsoll_core::{Millis, Tokens};
use plimsoll_engine::clock;
use plimsoll_engine::load::Measured;
use plimsoll_engine::world::now;

/// Fullness of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowLoad {
    pub(super) used: Tokens,
    pub(super) window: Tokens,
    pub(super) trigger: Option<Tokens>,
    pub(super) source: ReadingSource,
}

impl WindowLoad {
    pub(super) fn of(measured: &Measured) -> Self {
        let window = measured.window.tokens;
        Self {
            used: measured.reading.used,
            window,
            trigger: measured.trigger.within(window),
            source: measured.reading.source,
        }
    }

    /// Formats the used share in percent. Estimates start with a tilde: `~25.0 %`.
    pub(super) fn percent(self) -> String {
        format!("{}{:.1} %", self.estimate_mark(), share(self.used, self.window))
    }

    /// Formats the tokens in the window. Estimates start with a tilde.
    pub(super) fn tokens(self) -> String {
        format!("{}{}", self.estimate_mark(), tokens(self.used))
    }

    fn estimate_mark(self) -> &'static str {
        match self.source {
            ReadingSource::Measured => "",
            ReadingSource::Estimated => "~",
        }
    }

    /// Returns the name for the fullness, by the user's thresholds.
    pub(super) fn band(self, lines: &Lines) -> &'static str {
        Band::between(self.used, self.window, lines).label()
    }

    /// Draws the gauge, with a text for screen readers.
    pub(super) fn gauge(self, lines: &Lines) -> Markup {
        const WIDTH: f64 = 200.0;
        let at = |tokens: Tokens| (share(tokens, self.window).min(100.0) / 100.0 * WIDTH).round();
        let told = match self.trigger {
            Some(trigger) => format!(
                "{} of the window, {}; compacts at {:.0} %",
                self.percent(),
                self.band(lines),
                share(trigger, self.window)
            ),
            None => format!("{} of the window, {}", self.percent(), self.band(lines)),
        };
        html! {
            svg.gauge viewBox="-8 0 216 22" role="img" aria-label=(told) {
                rect.track x="0" y="7" width="200" height="8" rx="2" {}
                rect.level x="0" y="7" width=(at(self.used).max(1.0)) height="8" rx="2" {}
                @for line in [lines.save, lines.restart] {
                    @let x = at(line.of(self.window));
                    path.tick d=(format!("M{x} 7v8")) {}
                }
                @if let Some(trigger) = self.trigger {
                    @let x = at(trigger);
                    circle.disc cx=(x) cy="11" r="5.5" {}
                    path.line d=(format!("M{x} 1v20")) {}
                }
            }
        }
    }
}

/// Shows how long ago a moment was, with the exact time as tooltip.
pub(super) fn ago(moment: Millis) -> Markup {
    let seconds = (now() as Millis - moment).max(0) as u64 / 1000;
    html! {
        time datetime=(utc_second(moment)) title=(clock::shown_with_zone(moment)) { (duration(seconds)) " ago" }
    }
}

/// Shows a moment: only the time of day if it is today.
pub(super) fn moment(moment: Millis) -> Markup {
    html! {
        time datetime=(utc_second(moment)) title=(clock::shown_with_zone(moment)) { (clock::shown(moment)) }
    }
}

/// Returns the last two components of a project's path.
pub(super) fn short_path(path: &Path) -> String {
    let parts: Vec<_> = path.components().rev().take(2).collect();
    let parts: Vec<_> = parts.iter().rev().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/").replace("//", "/")
}

pub(super) fn tokens(tokens: Tokens) -> String {
    thousands(tokens)
}

/// Links through a list that spans several pages.
pub(super) struct Pager<'a> {
    /// Name of the list, for screen readers.
    pub(super) list: &'a str,
    /// Texts of the links to the previous and the next page.
    pub(super) words: [&'a str; 2],
    /// Current page, counted from 1.
    pub(super) number: u64,
    pub(super) pages: u64,
}

impl Pager<'_> {
    /// Renders links to the previous and the next page; nothing if there is only one page.
    pub(super) fn links(&self, to: impl Fn(u64) -> String) -> Markup {
        let Self { list, words: [before, after], number, pages } = self;
        html! {
            @if *pages > 1 {
                nav.pager aria-label=(list) {
                    @if *number > 1 { a rel="prev" href=(to(number - 1)) { "← " (before) } }
                    span { "page " (number) " of " (pages) }
                    @if number < pages { a rel="next" href=(to(number + 1)) { (after) " →" } }
                }
            }
        }
    }
}

/// Formats a count with its noun.
pub(super) fn count_with_noun(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauge_has_a_text_for_screen_readers() {
        let source = ReadingSource::Measured;
        let load = WindowLoad { used: 150_000, window: 200_000, trigger: Some(167_000), source };
        let gauge = load.gauge(&Lines::default()).into_string();
        assert!(gauge.contains("75.0 % of the window, critical; compacts at 84 %"), "{gauge}");
        let over = WindowLoad { used: 900_000, ..load }.gauge(&Lines::default()).into_string();
        assert!(over.contains(r#"width="200""#), "a gauge is never longer than itself: {over}");
    }

    #[test]
    fn a_project_is_known_by_its_last_parts() {
        assert_eq!(short_path(Path::new("/home/ann/src/hull")), "src/hull");
        assert_eq!(short_path(Path::new("/hull")), "/hull");
    }
}
