//! A machine to be pictured: a home called `/home/me`, sessions of known age, colours.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anstyle::RgbColor as Rgb;
use anstyle_svg::{Palette, Term};
use plimsoll_core::time::utc;

use crate::docs::is_told;
use crate::env::{Session, TestEnv, at_noon};
use crate::transcript;

pub(super) struct Scene {
    pub(super) env: TestEnv,
    /// How many minutes ago its sessions were answered last.
    ages: RefCell<BTreeSet<u64>>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let env = TestEnv::with_project("home/app");
        let env = env.with("CLICOLOR_FORCE", "1").with("COLUMNS", "92");
        Self { env, ages: RefCell::default() }
    }

    pub(super) fn with(self, name: &str, value: &str) -> Self {
        Self { env: self.env.with(name, value), ..self }
    }

    /// The same with a program on the path, a script of the shell.
    pub(super) fn on_path(self, name: &str, script: &str) -> Self {
        let program = self.env.write(&format!("home/bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        self.with("PATH", &path)
    }

    /// A session in the project of that name.
    pub(super) fn session(&self, id: &str, project: &str) -> Pictured<'_> {
        let cwd = self.env.home().join(project);
        let session = self.env.session(id);
        Pictured { ages: &self.ages, session, cwd, minutes: 0, is_subagent: false }
    }

    /// Runs the command and compares what it prints with the picture of that name.
    #[track_caller]
    pub(super) fn shows(&self, picture: &str, command: &str) {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let ran = self.env.run(self.env.shell(r#""$0" "$@" 2>&1"#, &arguments), b"");
        let output = timeless(&ran.stdout.replace("$TEST/home", "/home/me"));
        let output = punctual(output, &self.ages.borrow());
        let svg = draw(&format!("\x1b[32;1m$\x1b[0m plimsoll {command}\n{output}"));
        let by = format!("`plimsoll {command}` prints\n{output}");
        is_told(&format!("pictures/{picture}.svg"), &svg, &by);
    }
}

/// The output without what is another at each run: where the binary lies, the day, a measured time.
fn timeless(output: &str) -> String {
    let output = output.replace(env!("CARGO_BIN_EXE_plimsoll"), "/home/me/.local/bin/plimsoll");
    let output = at_noon(&output);
    let lines = output.lines().map(|line| {
        let until = |word: &str| line.find(word).map(|at| &line[..at + word.len()]);
        let sums_up = until(" project since ").or_else(|| until(" projects since "));
        match (sums_up, until("own hook takes ")) {
            (Some(head), _) => format!("{head}last week\n"),
            (None, Some(head)) => format!("{head}… ms\n"),
            (None, None) => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// The output as if no time had passed since the sessions were written.
fn punctual(output: String, ages: &BTreeSet<u64>) -> String {
    const LATEST: u64 = 5;
    let told = |minutes: u64| match minutes {
        0..60 => format!("measured {minutes} min ago"),
        _ => format!("measured {} h {} min ago", minutes / 60, minutes % 60),
    };
    let late = ages.iter().flat_map(|age| (1..=LATEST).map(move |late| (age + late, *age)));
    // An age that another session has is nobody's delay.
    late.filter(|(late, _)| !ages.contains(late))
        .fold(output, |output, (late, age)| output.replace(&told(late), &told(age)))
}

/// The text as a terminal's window would show it.
fn draw(text: &str) -> String {
    const BUTTONS: &str = r##"
  <circle cx="18" cy="18" r="5" fill="#f7768e"/><circle cx="35" cy="18" r="5" fill="#e0af68"/><circle cx="52" cy="18" r="5" fill="#9ece6a"/>"##;
    const BACKGROUND: &str = r#"rx="4.5" class="bg" />"#;
    let svg = Term::new().palette(PALETTE).min_width_px(600).render_svg(&format!("\n{text}"));
    // Viewers know no opacity of a part of a text, but of its colour; and it should be readable.
    svg.replace("opacity: 0.4", "fill-opacity: 0.6")
        .replace(BACKGROUND, &format!(r#"rx="8" class="bg" />{BUTTONS}"#))
}

/// Dark, and with colours that can be told apart on it. Black is the background.
const PALETTE: Palette = Palette([
    Rgb(26, 27, 38),
    Rgb(247, 118, 142),
    Rgb(158, 206, 106),
    Rgb(224, 175, 104),
    Rgb(122, 162, 247),
    Rgb(187, 154, 247),
    Rgb(125, 207, 255),
    Rgb(192, 202, 245),
    Rgb(86, 95, 137),
    Rgb(247, 118, 142),
    Rgb(158, 206, 106),
    Rgb(224, 175, 104),
    Rgb(122, 162, 247),
    Rgb(187, 154, 247),
    Rgb(125, 207, 255),
    Rgb(255, 255, 255),
]);

/// A session whose transcript is written to be pictured.
pub(super) struct Pictured<'e> {
    ages: &'e RefCell<BTreeSet<u64>>,
    session: Session<'e>,
    cwd: PathBuf,
    minutes: u64,
    is_subagent: bool,
}

impl Pictured<'_> {
    pub(super) fn subagent(self, id: &'static str) -> Self {
        Self { session: self.session.subagent(id), is_subagent: true, ..self }
    }

    /// The last answer came so many minutes ago.
    pub(super) fn ago(self, minutes: u64) -> Self {
        Self { minutes, ..self }
    }

    /// Writes turns in which the window fills at a steady pace, three minutes each.
    pub(super) fn grows(&self, model: &str, tokens: Range<u64>) {
        const TURNS: u8 = 15;
        self.ages.borrow_mut().insert(self.minutes);
        let mut text = String::new();
        for turn in 1..=TURNS {
            let grown = (tokens.end - tokens.start) * u64::from(turn - 1) / u64::from(TURNS - 1);
            text += &self.turn(turn, model, tokens.start + grown, self.answered(TURNS - turn));
        }
        self.session.write(text);
        let file = File::options().append(true).open(self.session.own_transcript()).unwrap();
        file.set_modified(self.answered(0)).unwrap();
    }

    /// When the answer came that has so many after it.
    fn answered(&self, turns_before_last: u8) -> SystemTime {
        let minutes = self.minutes + 3 * u64::from(turns_before_last);
        SystemTime::now() - Duration::from_secs(minutes * 60)
    }

    fn turn(&self, turn: u8, model: &str, counted: u64, at: SystemTime) -> String {
        let (prompt, answer) = (2 * turn - 1, 2 * turn);
        let (cwd, side) = (&self.cwd, self.is_subagent);
        let text = transcript::user(prompt, prompt - 1, cwd, side, r#""go on""#, "")
            + &transcript::answer(answer, prompt, model, counted, cwd, side);
        let time = utc(at.duration_since(UNIX_EPOCH).unwrap().as_millis() as i64);
        text.replace(&transcript::time(prompt), &time).replace(&transcript::time(answer), &time)
    }
}
