//! Output for people: colour (only on a terminal), gauges and readable numbers.

pub(crate) mod footer;
pub(crate) mod json;
pub(crate) mod screen;

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;

use plimsoll_core::Tokens;
use plimsoll_core::policy;
use plimsoll_core::reading::Band;
use plimsoll_core::shell;
pub(crate) use plimsoll_core::text::thousands;
use serde::Serialize;

use json::Harmless;

/// Properties of the user's terminal, or of what replaces it.
#[derive(Clone)]
pub(crate) struct Ui {
    colour: bool,
    /// Stdout is a terminal that can redraw a line.
    can_redraw: bool,
}

impl Ui {
    /// Detects the terminal of this process. `NO_COLOR` takes precedence over `CLICOLOR_FORCE`.
    pub(crate) fn detect() -> Self {
        let can_redraw = io::stdout().is_terminal() && !is_dumb();
        let is_forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        Self { colour: (can_redraw || is_forced) && !is_colour_disabled(), can_redraw }
    }

    /// Returns the settings for the client's status line, which shows colours although it is not a
    /// terminal.
    pub(crate) fn for_status_line(colour: bool) -> Self {
        Self { colour: colour && !is_colour_disabled() && !is_dumb(), can_redraw: false }
    }

    /// Whether a line on stdout can be redrawn.
    pub(crate) fn can_redraw(&self) -> bool {
        self.can_redraw
    }

    pub(crate) fn has_colour(&self) -> bool {
        self.colour
    }

    /// Returns the writer for data.
    pub(crate) fn out(&self) -> BufWriter<StdoutLock<'static>> {
        BufWriter::new(io::stdout().lock())
    }

    /// Prints text as data, to stdout.
    pub(crate) fn print(&self, text: &str) -> anyhow::Result<()> {
        let mut out = self.out();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// Prints `view` as JSON, for scripts.
    pub(crate) fn print_json(&self, view: &impl Serialize) -> anyhow::Result<()> {
        let mut out = self.out();
        serde_json::to_writer_pretty(Harmless(&mut out), view)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }

    /// Prints to stderr.
    pub(crate) fn print_to_stderr(&self, text: &str) {
        // If stderr is closed, the error cannot be reported anywhere.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Prints a note about a problem to stderr.
    pub(crate) fn warn(&self, text: &str) {
        self.print_to_stderr(&format!("{} {}\n", self.bold("note:"), strip_control(text)));
    }

    /// Shows the progress of long work on a terminal and clears the line at the end.
    pub(crate) fn progress(&self, what: &str, done: usize, of: usize) {
        const LONG: usize = 20;
        if of < LONG || !io::stderr().is_terminal() {
            return;
        }
        match done == of {
            true => self.print_to_stderr("\r\x1b[K"),
            false => self.print_to_stderr(&format!("\r\x1b[K{what} {done}/{of}")),
        }
    }

    /// Whether a line on stderr can be redrawn.
    pub(crate) fn can_redraw_stderr(&self) -> bool {
        io::stderr().is_terminal() && !is_dumb()
    }

    /// Whether the user can be asked. Only stdin counts, because stdout may go to a pager.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// Asks a yes-or-no question; Enter means the default.
    pub(crate) fn ask(&self, question: &str, default: bool) -> io::Result<bool> {
        let choices = if default { "[Y/n]" } else { "[y/N]" };
        loop {
            self.print_to_stderr(&format!("{question} {choices} "));
            let mut answer = String::new();
            if io::stdin().read_line(&mut answer)? == 0 {
                // End of input counts as no.
                self.print_to_stderr("\n");
                return Ok(false);
            }
            match answer.trim().to_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => self.print_to_stderr("Please answer y or n.\n"),
            }
        }
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.styled("31;1", text)
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.styled("32", text)
    }

    pub(crate) fn yellow(&self, text: &str) -> String {
        self.styled("33", text)
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// Draws a gauge of `used` tokens in a window, with a mark at the compaction trigger.
    pub(crate) fn gauge(&self, used: Tokens, window: Tokens, trigger: Option<Tokens>) -> String {
        let bar = gauge(used, window, trigger, GAUGE_CELLS);
        self.styled(band_colour(Band::of(used, window)), &bar)
    }

    fn styled(&self, style: &str, text: &str) -> String {
        match self.colour {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// Draws a gauge of the given width, with a mark at the compaction trigger.
pub(crate) fn gauge(used: Tokens, window: Tokens, trigger: Option<Tokens>, cells: usize) -> String {
    let cell = |tokens: Tokens| {
        let share = u128::from(tokens.min(window)) * cells as u128;
        share.div_ceil(u128::from(window.max(1))) as usize
    };
    let filled = cell(used);
    let mark = trigger.map(cell).filter(|mark| *mark > filled);
    let cell = |at| match at {
        at if at <= filled => '█',
        at if Some(at) == mark => '│',
        _ => '░',
    };
    (1..=cells).map(cell).collect()
}

/// Default width of a gauge.
pub(crate) const GAUGE_CELLS: usize = 24;

/// Whether the user has disabled colours.
fn is_colour_disabled() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn band_colour(band: Band) -> &'static str {
    match band {
        Band::Healthy => "32",
        Band::Warning => "33",
        Band::Critical => "35",
        Band::Overflow => "31;1",
    }
}

/// Removes from external text all characters that move the cursor or change the writing direction.
pub(crate) fn strip_control(text: &str) -> String {
    text.chars().filter(|character| policy::is_plain(*character)).collect()
}

/// Quotes a path for a command that users paste into a shell.
pub(crate) fn shell_quoted(path: &Path) -> String {
    shell::quote(&path.to_string_lossy())
}

/// Shortens the home folder in a path to `~` and removes control characters.
pub(crate) fn short_path(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", strip_control(&rest.to_string_lossy())),
        Err(_) => strip_control(&path.to_string_lossy()),
    }
}

/// Wraps `text` between words into lines of at most `width` characters.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Formats a number of tokens in a few characters: `84k`, `1.2M`.
pub(crate) fn short_tokens(tokens: Tokens) -> String {
    let tenths = |unit: u64| {
        let tenths = (tokens + unit / 20) / (unit / 10);
        match tenths % 10 {
            0 => (tenths / 10).to_string(),
            rest => format!("{}.{rest}", tenths / 10),
        }
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..9_950 => tenths(1_000) + "k",
        9_950..999_500 => format!("{}k", (tokens + 500) / 1_000),
        _ => tenths(1_000_000) + "M",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_counts_are_shortened() {
        let read = [999, 1_000, 9_400, 83_600, 999_499, 1_000_000, 1_240_000].map(short_tokens);
        assert_eq!(read, ["999", "1k", "9.4k", "84k", "999k", "1M", "1.2M"]);
    }

    #[test]
    fn long_text_wraps_between_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible so", 7), ["incomprehensible", "so"]);
        assert!(wrap("", 7).is_empty());
    }

    #[test]
    fn a_gauge_shows_load_and_trigger() {
        let ui = Ui { colour: false, can_redraw: false };
        assert_eq!(ui.gauge(0, 200_000, None), "░".repeat(24));
        assert_eq!(ui.gauge(100_000, 200_000, Some(167_000)), "████████████░░░░░░░░│░░░");
        assert_eq!(ui.gauge(900_000, 200_000, Some(167_000)), "█".repeat(24));
        assert_eq!(ui.gauge(5, 0, None), "░".repeat(24));
    }
}
