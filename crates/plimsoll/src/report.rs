//! How an error looks, and which exit code it has: 0 done, 1 failed, 2 misused.

use std::fmt::{self, Display};
use std::process::ExitCode;

use crate::ui::{self, Ui};

/// What to do about an error: a command that can be pasted.
#[derive(Debug)]
struct Hint(String);

impl Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds a hint to an error.
pub(crate) trait HintExt<T> {
    fn hint(self, hint: impl Display) -> anyhow::Result<T>;
}

impl<T> HintExt<T> for anyhow::Result<T> {
    fn hint(self, hint: impl Display) -> Self {
        self.map_err(|error| error.context(Hint(hint.to_string())))
    }
}

/// The code that a command which was run for the user ended with, and so do we. It has said why itself,
/// if it ran at all.
#[derive(Debug)]
struct EndsAs {
    code: u8,
    why: Option<anyhow::Error>,
}

impl Display for EndsAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the command ended with {}", self.code)
    }
}

impl std::error::Error for EndsAs {}

/// Ends with the exit code of a command that was run for the user.
pub(crate) fn ends_as(code: u8) -> anyhow::Result<()> {
    if code == 0 { Ok(()) } else { Err(EndsAs { code, why: None }.into()) }
}

/// Ends with this exit code where something failed, and says why.
pub(crate) fn with_code(code: u8, result: anyhow::Result<()>) -> anyhow::Result<()> {
    result.map_err(|why| EndsAs { code, why: Some(why) }.into())
}

/// Prints the error of a command, if it has one worth printing, and gives its exit code.
pub(crate) fn report(ui: &Ui, result: &anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // Whoever reads us has seen enough.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(EndsAs { code, why }) = error.downcast_ref() {
        why.iter().for_each(|why| say(ui, why));
        return ExitCode::from(*code);
    }
    say(ui, error);
    ExitCode::FAILURE
}

fn say(ui: &Ui, error: &anyhow::Error) {
    let hint = error.downcast_ref::<Hint>().map(Hint::to_string);
    let mut causes = error.chain().skip(usize::from(hint.is_some()));
    let mut text = String::new();
    if let Some(first) = causes.next() {
        text += &format!("{} {}\n", ui.red("error:"), shown(first));
    }
    for cause in causes {
        text += &format!("  caused by: {}\n", shown(cause));
    }
    if let Some(hint) = hint {
        text += &format!("{} {}\n", ui.bold("hint:"), shown(&hint));
    }
    ui.complain(&text);
}

/// A sentence that may hold names from outside: paths, keys, whatever a file says.
fn shown(sentence: &dyn Display) -> String {
    ui::plain(&sentence.to_string())
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
}
