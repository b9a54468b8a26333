//! What the user sees: colour on a terminal only, gauges, numbers for people.

pub(crate) mod screen;

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use plimsoll_core::Tokens;
use plimsoll_core::policy;
use plimsoll_core::reading::Band;

/// The user's terminal, or whatever stands in for it.
pub(crate) struct Ui {
    colour: bool,
}

impl Ui {
    /// The terminal of this process. `NO_COLOR` is respected.
    pub(crate) fn of_process() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { colour: wanted && io::stdout().is_terminal() }
    }

    /// Where data goes.
    pub(crate) fn out(&self) -> BufWriter<StdoutLock<'static>> {
        BufWriter::new(io::stdout().lock())
    }

    /// Prints to stderr.
    pub(crate) fn complain(&self, text: &str) {
        // Without a stderr there is nobody left to tell.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Says on stderr what is not as it should be.
    pub(crate) fn warn(&self, text: &str) {
        self.complain(&format!("{} {text}\n", self.bold("note:")));
    }

    /// Shows on a terminal how far a long work is, and wipes that away at its end.
    pub(crate) fn progress(&self, what: &str, done: usize, of: usize) {
        const LONG: usize = 20;
        if of < LONG || !io::stderr().is_terminal() {
            return;
        }
        match done == of {
            true => self.complain("\r\x1b[K"),
            false => self.complain(&format!("\r\x1b[K{what} {done}/{of}")),
        }
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.styled("31;1", text)
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// A gauge of `used` tokens in a window, with a mark where the client compacts.
    pub(crate) fn gauge(&self, used: Tokens, window: Tokens, trigger: Option<Tokens>) -> String {
        const CELLS: u64 = 24;
        let cell = |tokens: Tokens| {
            let share = u128::from(tokens.min(window)) * u128::from(CELLS);
            share.div_ceil(u128::from(window.max(1))) as u64
        };
        let filled = cell(used);
        let mark = trigger.map(cell).filter(|mark| *mark > filled);
        let bar: String = (1..=CELLS)
            .map(|at| match at {
                at if at <= filled => '█',
                at if Some(at) == mark => '│',
                _ => '░',
            })
            .collect();
        self.styled(band_colour(Band::of(used, window)), &bar)
    }

    fn styled(&self, style: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

fn band_colour(band: Band) -> &'static str {
    match band {
        Band::Healthy => "32",
        Band::Warning => "33",
        Band::Critical => "35",
        Band::Overflow => "31;1",
    }
}

/// A text from outside, without what moves the cursor or turns the direction of writing.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|character| policy::is_plain(*character)).collect()
}

/// A number with its thousands apart: `167,000`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A stretch of time, in its two largest units.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        let read = [0, 999, 1000, 167_000, 1_000_000].map(thousands);
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,000,000"]);
        let read = [59, 61, 3700, 90_000].map(duration);
        assert_eq!(read, ["59 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }

    #[test]
    fn a_gauge_shows_load_and_trigger() {
        let ui = Ui { colour: false };
        assert_eq!(ui.gauge(0, 200_000, None), "░".repeat(24));
        assert_eq!(ui.gauge(100_000, 200_000, Some(167_000)), "████████████░░░░░░░░│░░░");
        assert_eq!(ui.gauge(900_000, 200_000, Some(167_000)), "█".repeat(24));
        assert_eq!(ui.gauge(5, 0, None), "░".repeat(24));
    }
}
