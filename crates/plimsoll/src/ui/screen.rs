//! A terminal of which we take the whole screen, and give it back.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// The screen, as long as we have it.
pub(crate) struct Screen {
    /// How the terminal was set before.
    before: Termios,
}

/// What the user asks for by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// To end: `q`, Escape, Ctrl-C or Ctrl-D, or the end of all input.
    Quit,
    /// Nothing we know.
    Other,
}

const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

impl Screen {
    /// Whether there is a screen, and somebody to press a key.
    pub(crate) fn is_there() -> bool {
        io::stdout().is_terminal() && io::stdin().is_terminal()
    }

    /// Takes the screen.
    ///
    /// Keys come as bytes from here on, Ctrl-C too: so the screen is given back before we end.
    pub(crate) fn open() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut ours = before.clone();
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &ours)?;
        let screen = Self { before };
        write(ENTER)?;
        Ok(screen)
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        match termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_row > 0 => size.ws_row.into(),
            _ => 24,
        }
    }

    /// Draws over what was there, in one go: nothing flickers.
    pub(crate) fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let mut frame = String::from("\x1b[H");
        frame += &lines.join("\x1b[K\r\n");
        frame += "\x1b[K\x1b[J";
        write(frame.as_bytes())
    }

    /// The key that is pressed within `time`, if one is.
    pub(crate) fn key_within(&mut self, time: Duration) -> io::Result<Option<Key>> {
        let stdin = io::stdin();
        let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match poll(&mut asked, Some(&time)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 64];
        let read = rustix::io::read(&stdin, &mut bytes)?;
        Ok(Some(match bytes.first() {
            _ if read == 0 => Key::Quit,
            Some(b'q' | b'Q' | 0x03 | 0x04) => Key::Quit,
            Some(0x1b) if read == 1 => Key::Quit,
            _ => Key::Other,
        }))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone need not be given back.
        let _ = write(LEAVE);
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
