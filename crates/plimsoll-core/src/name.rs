//! Short names of sessions and runs.

/// Length of a short name, in characters.
const SAID: usize = 8;

/// Returns the short name of a session or run: the first characters of its id. Ids that start with
/// a time have the same first characters, so for those it returns the last ones.
pub fn short(name: &str) -> &str {
    let name = own_id(name);
    match begins_with_time(name) {
        true => &name[name.len() - SAID..],
        false => name.char_indices().nth(SAID).map_or(name, |(end, _)| &name[..end]),
    }
}

/// Returns whether a user may mean `name` by `said`: `said` is its beginning, or its end if the
/// name starts with a time.
pub fn is_meant(name: &str, said: &str) -> bool {
    let own = own_id(name);
    let ends = begins_with_time(own) && own.ends_with(said);
    !said.is_empty() && (name.starts_with(said) || ends)
}

/// Returns a session's id without the agent's name behind it.
fn own_id(name: &str) -> &str {
    name.split('@').next().unwrap_or_default()
}

/// Returns whether a name is a version 7 UUID, as the ids of runs and their sessions are.
fn begins_with_time(name: &str) -> bool {
    let is_uuid = name.len() == 36 && name.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    is_uuid && name.as_bytes()[14] == b'7'
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: &str = "5f2c81aa-93b1-4d02-8f4e-2b1c7a9d0e36";
    const TIMED: [&str; 2] =
        ["019a8f00-0000-7000-8000-012345678901", "019a8f00-0000-7000-8000-fedcba987654"];

    #[test]
    fn what_people_say_tells_names_apart() {
        assert_eq!(short(RANDOM), "5f2c81aa");
        assert_eq!(TIMED.map(short), ["45678901", "ba987654"]);
        assert_eq!(short("019a8f00-0000-7000-8000-012345678901@paper"), "45678901");
        assert_eq!([short("ab"), short("größenwahn"), short("")], ["ab", "größenwa", ""]);
    }

    #[test]
    fn what_is_shown_may_be_said() {
        for name in [RANDOM, TIMED[0], "ab"] {
            assert!(is_meant(name, short(name)) && is_meant(name, name), "{name}");
            assert!(is_meant(name, &name[..2]) && !is_meant(name, "") && !is_meant(name, "zz"));
        }
        assert!(!is_meant(TIMED[1], short(TIMED[0])));
        assert!(!is_meant(RANDOM, "2b1c7a9d0e36"), "its beginning is enough");
    }
}
