//! Finds passwords passed to commands in options, arguments or standard input, where no name
//! announces them.

use std::ops::Range;

use super::scan::{self, Alphabet, DOTTED, at, end_while, skip_blanks};
use super::{Secret, header, value};

/// A command's option that takes a password.
struct Flag {
    command: &'static str,
    option: &'static str,
    form: ArgumentForm,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentForm {
    /// `-psecret`
    Attached,
    /// `-p secret`
    Separate,
    /// `-u user:secret`, `-uuser:secret`
    Login,
    /// `-a user:secret`, `-a token`
    LoginOrToken,
    /// `-b name=secret`
    Cookies,
}

const fn flag(command: &'static str, option: &'static str, given: ArgumentForm) -> Flag {
    Flag { command, option, form: given }
}

const FLAGS: &[Flag] = &[
    flag("mysql", "-p", ArgumentForm::Attached),
    flag("mariadb", "-p", ArgumentForm::Attached),
    flag("mycli", "-p", ArgumentForm::Attached),
    flag("mycli", "-p", ArgumentForm::Separate),
    flag("mycli", "--pass", ArgumentForm::Separate),
    flag("mydumper", "-p", ArgumentForm::Separate),
    flag("myloader", "-p", ArgumentForm::Separate),
    flag("cypher-shell", "-p", ArgumentForm::Separate),
    flag("beeline", "-p", ArgumentForm::Separate),
    flag("mosquitto", "-P", ArgumentForm::Separate),
    flag("sshpass", "-p", ArgumentForm::Attached),
    flag("sshpass", "-p", ArgumentForm::Separate),
    flag("redis-cli", "-a", ArgumentForm::Separate),
    flag("redis-cli", "--pass", ArgumentForm::Separate),
    flag("valkey-cli", "-a", ArgumentForm::Separate),
    flag("valkey-cli", "--pass", ArgumentForm::Separate),
    flag("iredis", "-a", ArgumentForm::Separate),
    flag("docker login", "-p", ArgumentForm::Separate),
    flag("podman login", "-p", ArgumentForm::Separate),
    flag("az login", "-p", ArgumentForm::Separate),
    flag("mongo", "-p", ArgumentForm::Separate),
    flag("mongo", "-p", ArgumentForm::Attached),
    flag("sqlcmd", "-P", ArgumentForm::Attached),
    flag("sqlcmd", "-P", ArgumentForm::Separate),
    flag("mssql-cli", "-P", ArgumentForm::Attached),
    flag("mssql-cli", "-P", ArgumentForm::Separate),
    flag("cqlsh", "-p", ArgumentForm::Separate),
    flag("ldap", "-w", ArgumentForm::Separate),
    flag("curl", "-u", ArgumentForm::Login),
    flag("curl", "--user", ArgumentForm::Login),
    flag("curl", "--proxy-user", ArgumentForm::Login),
    flag("curl", "-b", ArgumentForm::Cookies),
    flag("openssl", "pass", ArgumentForm::Login),
    flag("openssl", "-k", ArgumentForm::Separate),
    flag("openssl", "-K", ArgumentForm::Separate),
    flag("twine", "-p", ArgumentForm::Separate),
    flag("zip", "-P", ArgumentForm::Separate),
];

/// Adds the passwords in the options after a command's name.
pub(super) fn find(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    if !is_command(text, &hit) {
        return;
    }
    let name = &text[hit.clone()];
    let flags = FLAGS.iter().filter(|flag| name.eq_ignore_ascii_case(flag.command.as_bytes()));
    take_options(text, arguments(text, &hit), flags, found);
}

fn take_options<'f>(
    text: &[u8],
    line: Range<usize>,
    flags: impl Iterator<Item = &'f Flag>,
    found: &mut Vec<Secret>,
) {
    for flag in flags {
        for option in options(text, line.clone(), flag) {
            add_password(text, option, flag.form, found);
        }
    }
}

/// Adds the password in `http --auth user:password`, an option of HTTPie and xh.
pub(super) fn httpie(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const COMMANDS: [&[u8]; 4] = [b"http", b"https", b"xh", b"xhs"];
    const OPTIONS: [Flag; 2] = [
        flag("http", "-a", ArgumentForm::LoginOrToken),
        flag("http", "--auth", ArgumentForm::LoginOrToken),
    ];
    let name = text[hit.clone()].trim_ascii_end().len();
    let name = hit.start..end_of_name(text, hit.start + name);
    if COMMANDS.contains(&&text[name.clone()]) && is_command(text, &name) {
        take_options(text, arguments(text, &name), OPTIONS.iter(), found);
    }
}

/// Adds the password in `rabbitmqctl add_user NAME PASSWORD` and similar subcommands.
pub(super) fn rabbitmq(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const SUBCOMMANDS: [&str; 3] = ["add_user", "change_password", "authenticate_user"];
    if !is_command(text, &hit) {
        return;
    }
    let line = arguments(text, &hit);
    for subcommand in SUBCOMMANDS {
        let place = scan::position(&text[line.clone()], subcommand);
        let end = place.map(|place| line.start + place + subcommand.len());
        let password = end.and_then(|end| second_argument(text, end));
        let password = password.filter(|range| is_password(&text[range.clone()]));
        found.extend(password.map(|range| Secret { range, kind: "password" }));
    }
}

/// Returns the second word after a subcommand, in a shell command or in a list of strings.
fn second_argument(text: &[u8], subcommand: usize) -> Option<Range<usize>> {
    let from = argument(text, subcommand);
    let first = word(text, from);
    let is_quoted = first.start > from;
    let end = if is_quoted { scan::skip_quote(text, first.end) } else { first.end };
    let blanks = skip_blanks(text, end);
    let second = match scan::quote(text, subcommand) {
        Some(_) if at(text, blanks) == b',' => skip_blanks(text, blanks + 1),
        Some(_) => return None,
        None => blanks,
    };
    (second > end).then(|| word(text, second))
}

/// Adds the password that a command reads from standard input: `echo PASSWORD | docker login
/// --password-stdin`, or `docker login --password-stdin <<< PASSWORD`.
pub(super) fn from_stdin(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let line = scan::line_from(text, hit.end, LONGEST_LINE);
    let here = scan::position(&text[line.clone()], "<<<")
        .map(|place| word(text, skip_blanks(text, line.start + place + "<<<".len())));
    let password = here.or_else(|| printed_before(text, hit.start));
    let password = password.filter(|range| is_password(&text[range.clone()]));
    found.extend(password.map(|range| Secret { range, kind: "password" }));
}

/// Adds the password piped into `sudo -S`. The lower-case `-s` reads none.
pub(super) fn sudo(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    if text[hit.clone()].ends_with(b"S ") {
        from_stdin(text, hit, found);
    }
}

/// Returns the last word that `echo` or `printf` prints into the pipe before `command`.
fn printed_before(text: &[u8], command: usize) -> Option<Range<usize>> {
    const MOST_WORDS: usize = 8;
    const PRINTERS: [&str; 2] = ["echo ", "printf "];
    let start = command.saturating_sub(LONGEST_LINE);
    let pipe = start + text[start..command].iter().rposition(|byte| *byte == b'|')?;
    let is_same_line = scan::line_from(text, pipe, LONGEST_LINE).end >= command;
    let is_same_command =
        [";", "&&"].iter().all(|end| scan::position(&text[pipe..command], end).is_none());
    if !is_same_line || !is_same_command {
        return None;
    }
    let printer = |place: usize| {
        let name = PRINTERS.iter().find(|name| scan::matches_at(text, place, name))?;
        scan::at_edge(text, place).then_some(place + name.len())
    };
    let mut from = (start..pipe).rev().find_map(printer)?;
    for _ in 0..MOST_WORDS {
        from = skip_blanks(text, from);
        let printed = word(text, from);
        let is_quoted = printed.start > from;
        let end = if is_quoted { scan::skip_quote(text, printed.end) } else { printed.end };
        let next = skip_blanks(text, end);
        if next == pipe {
            return Some(printed);
        }
        if next == from || next > pipe {
            return None;
        }
        from = next;
    }
    None
}

/// Adds the token in `vault login TOKEN`. A sentence about logging in has no token there.
pub(super) fn vault_login(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let word = word(text, skip_blanks(text, hit.end));
    if value::is_credential(&text[word.clone()], 16) {
        found.push(Secret { range: word, kind: "token" });
    }
}

/// Adds the value in `kubectl create secret … --from-literal=name=value`.
pub(super) fn from_literal(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let word = word(text, argument(text, hit.end));
    let Some(equals) = text[word.clone()].iter().position(|byte| *byte == b'=') else { return };
    let value = word.start + equals + 1..word.end;
    if is_password(&text[value.clone()]) {
        found.push(Secret { range: value, kind: "password" });
    }
}

/// Adds the quoted password in SQL's `IDENTIFIED BY 'password'`.
pub(super) fn identified_by(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    let from = skip_blanks(text, hit.end);
    let password = word(text, from);
    if scan::quote(text, from).is_some() && is_password(&text[password.clone()]) {
        found.push(Secret { range: password, kind: "password" });
    }
}

/// Adds the password in `sqlplus user/password@database`.
pub(super) fn sqlplus(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    if !is_command(text, &hit) {
        return;
    }
    for slash in arguments(text, &hit).filter(|place| text[*place] == b'/') {
        let password = oracle_password(text, slash);
        found.extend(password.map(|range| Secret { range, kind: "password" }));
    }
}

/// Returns the password between this slash and an `@`, if a user name precedes it: not in a path,
/// nor in `user@//host/service`.
fn oracle_password(text: &[u8], slash: usize) -> Option<Range<usize>> {
    const USER: Alphabet = DOTTED.with(b"$#");
    const LONGEST: usize = 128;
    let user = scan::skip_escape_letter(text, USER.run_start(text, slash, LONGEST)).min(slash);
    let before = user.checked_sub(1).map_or(0, |before| text[before]);
    let begins_word = before.is_ascii_whitespace() || matches!(before, b'"' | b'\'');
    let password = match scan::quote(text, slash + 1) {
        Some((quote, from)) => from..quote.closing_position(text, from),
        None => word_before_at(text, slash + 1),
    };
    let is_login = user < slash
        && begins_word
        && at(text, scan::skip_quote(text, password.end)) == b'@'
        && is_password(&text[password.clone()]);
    is_login.then_some(password)
}

/// Returns the word that starts here, up to an `@`.
fn word_before_at(text: &[u8], from: usize) -> Range<usize> {
    from..end_while(text, from, |byte| byte > b' ' && !b"@\"'`;|\\".contains(&byte))
}

/// Returns whether a keyword is the name of a command or starts one of its family: `mysqldump`, but
/// neither `mongoose` nor `mysql:8`.
fn is_command(text: &[u8], hit: &Range<usize>) -> bool {
    let end = end_of_name(text, hit.end);
    let is_other = scan::matches_at(text, hit.end, "ose");
    let is_ended = matches!(at(text, end), b' ' | b'\t' | b'"' | b'\'' | b'\\');
    scan::at_edge(text, hit.start) && is_ended && !is_other
}

/// Returns the end of a command's name, at most 32 bytes further.
fn end_of_name(text: &[u8], from: usize) -> usize {
    const LONGEST: usize = 32;
    let most = text.len().min(from + LONGEST);
    end_while(&text[..most], from, |byte| byte.is_ascii_lowercase() || b"_-".contains(&byte))
}

/// Length limit, in bytes, of the part of a command line that is searched.
const LONGEST_LINE: usize = 1024;

/// Returns the rest of a command's line, up to the next command.
fn arguments(text: &[u8], hit: &Range<usize>) -> Range<usize> {
    const ENDS: [&[u8]; 4] = [b" && ", b" || ", b" | ", b"; "];
    let line = scan::line_from(text, hit.end, LONGEST_LINE);
    let name = &text[hit.clone()];
    let ends = |place: &usize| {
        let rest = &text[*place..line.end];
        let is_next = || is_command(text, &(*place..*place + name.len()));
        rest.starts_with(name) && is_next() || ENDS.iter().any(|end| rest.starts_with(end))
    };
    line.start..line.clone().find(ends).unwrap_or(line.end)
}

/// Returns the positions after each occurrence of an option, before any blanks.
fn options(text: &[u8], line: Range<usize>, flag: &Flag) -> impl Iterator<Item = usize> {
    let begins = move |place: &usize| {
        let before = text[*place - 1];
        before.is_ascii_whitespace() || matches!(before, b'"' | b'\'')
    };
    line.skip(1).filter(begins).filter_map(move |place| end_of_option(text, place, flag))
}

/// Returns the end of the option if it is here: alone, or after other one-letter options (`-sSu`).
fn end_of_option(text: &[u8], place: usize, flag: &Flag) -> Option<usize> {
    let option = flag.option.as_bytes();
    if text[place..].starts_with(option) {
        return Some(place + option.len());
    }
    let letters = end_while(text, place + 1, |byte| byte.is_ascii_alphabetic());
    let is_joined = matches!(
        flag.form,
        ArgumentForm::Login | ArgumentForm::LoginOrToken | ArgumentForm::Cookies
    ) && matches!(option, [b'-', letter] if text[letters - 1] == *letter)
        && at(text, place) == b'-'
        && letters > place + 1
        && at(text, letters).is_ascii_whitespace();
    is_joined.then_some(letters)
}

/// Adds the password after an option.
fn add_password(text: &[u8], option: usize, given: ArgumentForm, found: &mut Vec<Secret>) {
    let from = argument(text, option);
    let is_apart = from > option;
    match given {
        ArgumentForm::Attached if is_apart => return,
        ArgumentForm::Separate if !is_apart => return,
        ArgumentForm::Cookies => {
            return header::add_cookies(text, scan::skip_quote(text, from), found);
        }
        _ => {}
    }
    let word = word(text, from);
    let password = match given {
        ArgumentForm::Login => login_part(text, word),
        ArgumentForm::LoginOrToken if text[word.clone()].contains(&b':') => login_part(text, word),
        ArgumentForm::LoginOrToken => Some(word).filter(|word| is_token(&text[word.clone()])),
        _ => Some(word),
    };
    let password = password.filter(|range| is_password(&text[range.clone()]));
    found.extend(password.map(|range| Secret { range, kind: "password" }));
}

/// Returns the start of an option's argument: after blanks, after `=`, or as the next item of a
/// list.
fn argument(text: &[u8], option: usize) -> usize {
    let item = skip_blanks(text, scan::skip_quote(text, option));
    let is_item = scan::quote(text, option).is_some() && at(text, item) == b',';
    match at(text, option) {
        _ if is_item => skip_blanks(text, item + 1),
        b'=' => option + 1,
        _ => skip_blanks(text, option),
    }
}

/// Returns the secret part of `user:password`. With an empty password, a key can be given as the
/// user.
fn login_part(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let login = &text[word.clone()];
    let colon = word.start + login.iter().position(|byte| *byte == b':')?;
    let is_key = colon + 1 == word.end && value::is_credential(&text[word.start..colon], 16);
    let is_ids = login.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    let password = if is_key { word.start..colon } else { colon + 1..word.end };
    (!is_ids).then_some(password)
}

/// Returns whether a word is a token, not a user name.
fn is_token(word: &[u8]) -> bool {
    value::is_hash(word) || value::is_random(word, 16)
}

/// Returns whether a word can be a password: not an option, a reference or a port.
fn is_password(word: &[u8]) -> bool {
    let is_port = word.iter().all(|byte| byte.is_ascii_digit() || b":./".contains(byte))
        && (word.len() < 6 || word.iter().any(|byte| b":./".contains(byte)));
    word.len() >= 3
        && word[0] != b'-'
        && !is_port
        && !value::is_reference(word)
        && !value::is_placeholder(word)
}

/// Returns the word that starts here, without its quotes.
fn word(text: &[u8], from: usize) -> Range<usize> {
    match scan::quote(text, from) {
        Some((quote, from)) => from..quote.closing_position(text, from),
        None => from..end_while(text, from, |byte| byte > b' ' && !b"\"'`;|\\".contains(&byte)),
    }
}
