//! The terminal while the dashboard uses it. It is restored in every case, even after a panic.

use std::io::{self, Stdin, Stdout, Write};
use std::panic;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use crossterm::cursor::Show;
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::keys::{self, Key};
use crate::report::HintExt;

/// Full-screen mode, until dropped.
pub(crate) struct FullScreen(ratatui::Terminal<CrosstermBackend<Stdout>>);

impl FullScreen {
    /// Enters full-screen mode. A panic restores the terminal before it prints its message.
    pub(crate) fn open() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
        enter()?;
        ratatui::Terminal::new(CrosstermBackend::new(io::stdout())).map(Self).inspect_err(|_| {
            restore();
        })
    }

    /// Draws a frame; only changes are written.
    pub(crate) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.0.draw(picture).map(drop)
    }

    /// Returns the keys pressed since the last call.
    pub(crate) fn keys(&self) -> io::Result<Vec<Key>> {
        let (stdin, mut bytes) = (io::stdin(), Vec::new());
        let mut patience = Duration::ZERO;
        while has_bytes(&stdin, patience)? {
            let mut piece = [0; 256];
            let read = rustix::io::read(&stdin, &mut piece)?;
            if read == 0 {
                return Ok(vec![Key::Interrupt]);
            }
            bytes.extend(&piece[..read]);
            patience = if keys::is_incomplete(&bytes) { SPLIT_KEY_WAIT } else { Duration::ZERO };
        }
        Ok(keys::parse(&bytes))
    }

    /// Copies text to the user's clipboard with an escape sequence, which also works over ssh if
    /// the terminal supports it.
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        out.flush()
    }

    /// Shows text in the user's pager and returns when the pager ends.
    pub(crate) fn page(&mut self, pager: &str, text: &str) -> anyhow::Result<()> {
        restore();
        let shown = run_pager(pager, text);
        enter()?;
        // A new terminal redraws everything. `clear` would query the cursor position and swallow
        // keys.
        self.0 = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        shown
            .with_context(|| format!("could not show it with `{pager}`"))
            .hint("set PAGER, for example `PAGER=more plimsoll top`")
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// On a slow connection a key may arrive in two parts; the second comes within this time.
const SPLIT_KEY_WAIT: Duration = Duration::from_millis(50);

fn has_bytes(stdin: &Stdin, patience: Duration) -> io::Result<bool> {
    let mut asked = [PollFd::new(stdin, PollFlags::IN)];
    let time = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
    match poll(&mut asked, Some(&time)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All)).inspect_err(|_| restore())
}

fn restore() {
    // Ignore errors: the terminal may be gone.
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// Runs the pager through the shell, because it may be a command with arguments.
fn run_pager(pager: &str, text: &str) -> anyhow::Result<()> {
    let mut child = Command::new("/bin/sh").args(["-c", pager]).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Ignore errors: the user may leave the pager before its end.
        let _ = stdin.write_all(text.as_bytes());
    }
    let status = child.wait()?;
    match status.code() {
        Some(126 | 127) => anyhow::bail!("there is no such command"),
        _ => Ok(()),
    }
}

/// Encodes bytes for the clipboard escape sequence.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { digit.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_encoded_correctly() {
        let read = ["", "p", "pl", "pli", "cd ~ && x"].map(|text| base64(text.as_bytes()));
        assert_eq!(read, ["", "cA==", "cGw=", "cGxp", "Y2QgfiAmJiB4"]);
    }
}
