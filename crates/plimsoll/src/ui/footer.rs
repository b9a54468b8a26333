//! Lines on stderr that stay, and below them one that is drawn again and again.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::termios::tcgetwinsize;

use super::Ui;
use crate::layout::COLUMNS;

/// What is said of work that goes on. Where nobody watches there is no line below.
pub(crate) struct Footer<'u> {
    ui: &'u Ui,
    redraws: bool,
    /// The line as it is drawn now. Whoever writes holds it, so that no thread writes into the line of
    /// another.
    drawn: Mutex<String>,
}

impl<'u> Footer<'u> {
    pub(crate) fn new(ui: &'u Ui) -> Self {
        Self { ui, redraws: ui.can_redraw_stderr(), drawn: Mutex::default() }
    }

    /// Says something that stays.
    pub(crate) fn say(&self, text: &str) {
        let text = self.ui.dim(&format!("plimsoll: {text}"));
        let drawn = self.drawn();
        match self.redraws {
            true => self.ui.print_to_stderr(&format!("\r\x1b[K{text}\n{drawn}")),
            false => self.ui.print_to_stderr(&format!("{text}\n")),
        }
    }

    /// Draws the line anew, if it has changed; it is asked for by how many columns it may have.
    pub(crate) fn draw(&self, line: impl FnOnce(usize) -> String) {
        if !self.redraws {
            return;
        }
        let line = line(columns());
        let mut drawn = self.drawn();
        if *drawn != line {
            self.ui.print_to_stderr(&format!("\r\x1b[K{line}"));
            *drawn = line;
        }
    }

    /// Takes the line away.
    pub(crate) fn wipe(&self) {
        let mut drawn = self.drawn();
        if !drawn.is_empty() {
            drawn.clear();
            self.ui.print_to_stderr("\r\x1b[K");
        }
    }

    fn drawn(&self) -> MutexGuard<'_, String> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many columns a line may have that is to be taken away again: one that fills the last may have
/// begun the next line already.
fn columns() -> usize {
    let size = tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 1);
    size.map_or(COLUMNS, |size| size.ws_col.into()) - 1
}
