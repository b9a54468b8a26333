//! Passwords given to commands by a short option, which no name announces.

use std::ops::Range;

use super::Secret;
use super::scan::{self, at, end_while, skip_blanks};
use super::value;

/// A command's option that takes a password.
struct Flag {
    command: &'static str,
    option: &'static str,
    given: Given,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// `-psecret`
    Attached,
    /// `-p secret`
    Apart,
    /// `-u user:secret`
    Login,
}

const fn flag(command: &'static str, option: &'static str, given: Given) -> Flag {
    Flag { command, option, given }
}

const FLAGS: &[Flag] = &[
    flag("mysql", "-p", Given::Attached),
    flag("mariadb", "-p", Given::Attached),
    flag("sshpass", "-p", Given::Attached),
    flag("sshpass", "-p", Given::Apart),
    flag("redis-cli", "-a", Given::Apart),
    flag("docker login", "-p", Given::Apart),
    flag("podman login", "-p", Given::Apart),
    flag("az login", "-p", Given::Apart),
    flag("mongo", "-p", Given::Apart),
    flag("sqlcmd", "-P", Given::Apart),
    flag("ldapsearch", "-w", Given::Apart),
    flag("curl", "-u", Given::Login),
    flag("curl", "--user", Given::Login),
    flag("curl", "--proxy-user", Given::Login),
    flag("openssl", "pass", Given::Login),
];

/// The passwords among the options behind a command's name.
pub(super) fn find(text: &[u8], hit: Range<usize>, found: &mut Vec<Secret>) {
    const LONGEST: usize = 1024;
    let name = &text[hit.clone()];
    let line = scan::line_from(text, hit.end, LONGEST);
    let again = text[line.clone()].windows(name.len()).position(|part| part == name);
    let line = line.start..again.map_or(line.end, |again| line.start + again);
    let flags = FLAGS.iter().filter(|flag| name.eq_ignore_ascii_case(flag.command.as_bytes()));
    for flag in flags {
        let ranges = values(text, line.clone(), flag);
        found.extend(ranges.map(|range| Secret { range, kind: "password" }));
    }
}

fn values(text: &[u8], line: Range<usize>, flag: &Flag) -> impl Iterator<Item = Range<usize>> {
    let option = flag.option.as_bytes();
    let stands = move |place: &usize| {
        text[*place..].starts_with(option) && text[*place - 1].is_ascii_whitespace()
    };
    line.skip(1)
        .filter(stands)
        .filter_map(move |place| given(text, place + option.len(), flag.given))
}

/// The password behind an option.
fn given(text: &[u8], option: usize, given: Given) -> Option<Range<usize>> {
    let is_apart = at(text, option).is_ascii_whitespace();
    let from = match given {
        Given::Attached if is_apart => return None,
        Given::Apart if !is_apart => return None,
        _ => skip_blanks(text, option),
    };
    let word = word(text, from);
    let login = text[word.clone()].iter().position(|byte| *byte == b':');
    let start = match (given, login) {
        (Given::Login, None) => return None,
        (Given::Login, Some(colon)) => word.start + colon + 1,
        _ => word.start,
    };
    let password = &text[start..word.end];
    let is_secret = password.len() >= 3 && password[0] != b'-' && !value::is_reference(password);
    let is_number = password.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    (is_secret && !is_number && !value::is_placeholder(password)).then_some(start..word.end)
}

/// The word that begins here, without its quotes.
fn word(text: &[u8], from: usize) -> Range<usize> {
    match scan::quote(text, from) {
        Some((quote, from)) => from..quote.closes(text, from),
        None => from..end_while(text, from, |byte| byte > b' ' && !b"\"'`;|\\".contains(&byte)),
    }
}
