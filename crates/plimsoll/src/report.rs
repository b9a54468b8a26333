//! Error messages and exit codes: 0 done, 1 failed, 2 misused.

use std::fmt::{self, Display};
use std::process::ExitCode;

use crate::ui::{self, Ui};

/// Advice on an error: a command to paste.
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

/// An error that sets plimsoll's exit code, for example that of a command run for the user. Without
/// `why` nothing is printed, because the command has already reported its error.
#[derive(Debug)]
struct ExitWith {
    code: u8,
    why: Option<anyhow::Error>,
}

impl Display for ExitWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the command ended with {}", self.code)
    }
}

impl std::error::Error for ExitWith {}

/// Returns an error that ends plimsoll with the exit code of a command run for the user.
pub(crate) fn exit_with(code: u8) -> anyhow::Result<()> {
    if code == 0 { Ok(()) } else { Err(ExitWith { code, why: None }.into()) }
}

/// Makes plimsoll exit with `code` if this is an error.
pub(crate) fn fail_with(code: u8, result: anyhow::Result<()>) -> anyhow::Result<()> {
    result.map_err(|why| ExitWith { code, why: Some(why) }.into())
}

/// Prints the error of a command if needed, and returns the exit code.
pub(crate) fn report(ui: &Ui, result: &anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    // The reader of the output has closed it, which is not an error.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(ExitWith { code, why }) = error.downcast_ref() {
        why.iter().for_each(|why| print_error(ui, why));
        return ExitCode::from(*code);
    }
    print_error(ui, error);
    ExitCode::FAILURE
}

fn print_error(ui: &Ui, error: &anyhow::Error) {
    let hint = error.downcast_ref::<Hint>().map(Hint::to_string);
    let mut causes = error.chain().skip(usize::from(hint.is_some()));
    let mut text = String::new();
    if let Some(first) = causes.next() {
        text += &format!("{} {}\n", ui.red("error:"), sanitized(first));
    }
    for cause in causes {
        text += &format!("  caused by: {}\n", sanitized(cause));
    }
    if let Some(hint) = hint {
        text += &format!("{} {}\n", ui.bold("hint:"), sanitized(&hint));
    }
    ui.print_to_stderr(&text);
}

/// Removes control characters: the sentence may contain external text such as paths and keys.
fn sanitized(sentence: &dyn Display) -> String {
    ui::strip_control(&sentence.to_string())
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
    io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
}
