//! Settings of a team: its database, the shared data and projects, and the user's name.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

/// Settings of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Nothing leaves this machine if `None`.
    pub database_url: Option<DatabaseUrl>,
    /// The kinds of data to share, from [`Shared::WORDS`].
    pub share: Vec<String>,
    /// The shared projects: folders with everything in them. `*` matches any part of a name, `**`
    /// any folders.
    pub projects: Vec<String>,
    /// The user's name in the team's database.
    pub person: Option<String>,
}

impl Default for Team {
    fn default() -> Self {
        let share = vec![Shared::Readings.word().to_owned()];
        Self { database_url: None, share, projects: vec!["/".to_owned()], person: None }
    }
}

impl Team {
    /// Overrides these settings with those in a config.
    pub(super) fn take(&mut self, config: &TeamConfig) {
        if let Some(url) = &config.database_url {
            self.database_url = Some(url.clone());
        }
        if let Some(share) = &config.share {
            self.share = share.iter().map(|shared| shared.word().to_owned()).collect();
        }
        if let Some(projects) = &config.projects {
            self.projects.clone_from(projects);
        }
        if let Some(person) = &config.person {
            self.person = Some(person.clone());
        }
    }

    /// Returns whether this kind of data is shared.
    pub fn shares(&self, what: Shared) -> bool {
        self.share.iter().any(|word| word == what.word())
    }

    /// Returns whether data of a project is shared. Data without a project is shared only if all
    /// projects are.
    pub fn sends(&self, project: Option<&Path>, home: &Path) -> bool {
        self.projects.iter().any(|pattern| match project {
            Some(project) => is_within(pattern, project, home),
            None => pattern == "/",
        })
    }
}

/// A kind of data that can be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// Sessions: how full their windows are, and their compactions.
    Readings,
    /// Checkpoints with their contents.
    Checkpoints,
    /// Saves with their contents.
    Saves,
    /// Messages and claims.
    Board,
}

impl Shared {
    /// The kinds as written in a config.
    pub const WORDS: [&str; 4] = ["readings", "checkpoints", "saves", "board"];

    /// Returns the kind as written in a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Readings => Self::WORDS[0],
            Self::Checkpoints => Self::WORDS[1],
            Self::Saves => Self::WORDS[2],
            Self::Board => Self::WORDS[3],
        }
    }
}

/// The URL of a database. It may contain a password, so `Debug` and all output show it without one.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(try_from = "String", into = "String")]
pub struct DatabaseUrl {
    whole: String,
    shown: String,
}

impl DatabaseUrl {
    const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

    /// Parses the URL of a PostgreSQL database; `None` if it has another scheme.
    pub fn new(url: &str) -> Option<Self> {
        let scheme = Self::SCHEMES.into_iter().find(|scheme| url.starts_with(scheme))?;
        let shown = format!("{scheme}{}", without_password(&url[scheme.len()..]));
        Some(Self { whole: url.to_owned(), shown })
    }

    /// Returns the whole URL, to connect with.
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// Returns the URL without its password, and without its parameters, which may contain one.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns whether the URL contains a password.
    pub fn has_password(&self) -> bool {
        self.shown.contains("***") || self.whole.contains("password=")
    }
}

/// Removes the password from the part after the scheme.
///
/// An unescaped password may contain any separator of a URL. So everything between the user and the
/// last `@` is hidden, and all of the URL if even that is uncertain.
fn without_password(rest: &str) -> String {
    let (user, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    if user.contains('?') {
        return "***".to_owned();
    }
    let place = place.split('?').next().unwrap_or_default();
    match user.split_once([':', '/']) {
        Some((user, _)) => format!("{user}:***@{place}"),
        None if user.is_empty() => place.to_owned(),
        None => format!("{user}@{place}"),
    }
}

impl TryFrom<String> for DatabaseUrl {
    type Error = &'static str;

    fn try_from(url: String) -> Result<Self, Self::Error> {
        Self::new(&url).ok_or("an address of a database begins with `postgres://`")
    }
}

#[cfg(test)]
impl From<DatabaseUrl> for String {
    fn from(url: DatabaseUrl) -> Self {
        url.whole
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// The team section of a config.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(default, deny_unknown_fields)]
pub(super) struct TeamConfig {
    pub(super) database_url: Option<DatabaseUrl>,
    pub(super) share: Option<Vec<Shared>>,
    pub(super) projects: Option<Vec<String>>,
    pub(super) person: Option<String>,
}

/// Returns whether a path is a folder that the pattern matches, or is inside one.
fn is_within(pattern: &str, path: &Path, home: &Path) -> bool {
    let path = path.to_string_lossy();
    let pattern = match pattern.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", home.display()),
        None => pattern.to_owned(),
    };
    let parts = |text: &str| -> Vec<String> {
        text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    fits(&parts(&pattern), &parts(&path))
}

fn fits(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((any, rest)) if any == "**" => (0..=path.len()).any(|at| fits(rest, &path[at..])),
        Some((part, rest)) => match path.split_first() {
            Some((name, inner)) => is_like(part, name) && fits(rest, inner),
            None => false,
        },
    }
}

/// Returns whether a name matches a part of a pattern, in which `*` matches any characters.
fn is_like(part: &str, name: &str) -> bool {
    match part.split_once('*') {
        None => part == name,
        Some((begin, rest)) => name.strip_prefix(begin).is_some_and(|name| {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| is_like(rest, &name[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_never_shown_with_its_password() {
        for (url, shown) in [
            (
                "postgres://ann:hunter2@db:5433/plimsoll?sslmode=require",
                "postgres://ann:***@db:5433/plimsoll",
            ),
            ("postgresql://ann@db/plimsoll?password=hunter2", "postgresql://ann@db/plimsoll"),
            ("postgres://a:p@ss:w@db/x", "postgres://a:***@db/x"),
            ("postgres://ann:hun/ter2@db/x", "postgres://ann:***@db/x"),
            ("postgres://ann:hun?ter2@db/x", "postgres://***"),
            ("postgres://db/x?password=hun@ter2", "postgres://***"),
            ("postgres:///plimsoll?host=/run/postgresql", "postgres:///plimsoll"),
        ] {
            let url = DatabaseUrl::new(url).unwrap();
            assert_eq!((url.shown(), format!("{url:?}").as_str()), (shown, shown));
        }
        assert_eq!(DatabaseUrl::new("mysql://db/x"), None);
        assert_eq!(DatabaseUrl::new("host=db password=hunter2"), None);
    }

    #[track_caller]
    fn check(pattern: &str, project: &str, expected: bool) {
        let team = Team { projects: vec![pattern.to_owned()], ..Team::default() };
        let sent = team.sends(Some(Path::new(project)), Path::new("/home/ann"));
        assert_eq!(sent, expected, "{pattern} {project}");
    }

    #[test]
    fn a_folder_goes_with_everything_in_it_and_nothing_beside_it() {
        check("/", "/home/ann/hull", true);
        check("/home/ann/work", "/home/ann/work", true);
        check("/home/ann/work/", "/home/ann/work/hull", true);
        check("/home/ann/work", "/home/ann/workshop", false);
        check("/home/ann/work", "/home/ann", false);
        check("~/work", "/home/ann/work/hull", true);
        check("~/work/*-api", "/home/ann/work/hull-api/x", true);
        check("~/work/*-api", "/home/ann/work/hull", false);
        check("**/hull", "/srv/a/b/hull", true);
        check("**/hull", "/srv/a/b/keel", false);
    }

    #[test]
    fn what_belongs_to_no_project_goes_only_with_all_of_them() {
        assert!(Team::default().sends(None, Path::new("/h")));
        let some = Team { projects: vec!["~/work".to_owned()], ..Team::default() };
        assert!(!some.sends(None, Path::new("/h")));
        let none = Team { projects: Vec::new(), ..Team::default() };
        assert!(!none.sends(Some(Path::new("/h/x")), Path::new("/h")));
    }

    #[test]
    fn only_readings_are_shared_unless_more_is_asked_for() {
        let team = Team::default();
        assert!(team.shares(Shared::Readings) && !team.shares(Shared::Checkpoints));
        assert!(!team.shares(Shared::Saves) && !team.shares(Shared::Board));
    }
}
