//! `plimsoll config check`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_core::settings::Settings;
use plimsoll_engine::settings::{self, Complaint, ConfigFile, Layer};
use plimsoll_engine::world::World;
use plimsoll_server::team;
use serde::Serialize;

use crate::report::HintExt;
use crate::ui::{self, Ui};

/// Say what is wrong in the config files
///
/// Checks your config and that of the project you stand in: keys nobody knows, values that are not
/// allowed, keys that only your own config may set, lines that contradict each other. The exit code
/// is 1 if anything is wrong.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll config check
  plimsoll config check dotfiles/plimsoll.yaml && cp dotfiles/plimsoll.yaml ~/.config/plimsoll/config.yaml")]
pub(crate) struct Args {
    /// Check this file instead; one called .plimsoll.yaml counts as a project's
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let mut files = match &args.file {
        Some(path) => vec![named(path)?],
        None => settings::config_files(world, &crate::cmd::project(world)?),
    };
    for file in &mut files {
        file.complaints.extend(address(file));
    }
    let complaints: Vec<&Complaint> = files.iter().flat_map(|file| &file.complaints).collect();
    match args.json {
        true => ui.print_json(&complaints.iter().map(|it| view(it)).collect::<Vec<_>>())?,
        false => ui.print(&text(ui, &files))?,
    }
    for sentence in settings::useless_variables(world) {
        ui.warn(&sentence);
    }
    if let Some(sentence) = in_force(&files).batch.contradiction() {
        ui.warn(sentence);
    }
    match complaints.len() {
        0 => Ok(()),
        1 => Err(anyhow::anyhow!("1 mistake in the config")),
        many => Err(anyhow::anyhow!("{many} mistakes in the config")),
    }
    .hint("`plimsoll config default` explains every key")
}

/// What the files say together.
fn in_force(files: &[ConfigFile]) -> Settings {
    let mut settings = Settings::default();
    let read = files.iter().filter_map(|file| ConfigFile::read(&file.path, file.layer));
    read.for_each(|mut file| file.lay_over(&mut settings));
    settings
}

/// What is wrong with the address of the team's database that a file sets.
fn address(file: &ConfigFile) -> Option<Complaint> {
    let place = Some(file.place("team.database_url")?);
    let mut settings = Settings::default();
    ConfigFile::read(&file.path, file.layer)?.lay_over(&mut settings);
    let error = team::check_url(&settings.team.database_url?).err()?;
    Some(Complaint { path: file.path.clone(), place, what: error.to_string() })
}

fn named(path: &Path) -> anyhow::Result<ConfigFile> {
    let of_project = path.file_name() == settings::project_config(Path::new("")).file_name();
    let layer = if of_project { Layer::Project } else { Layer::User };
    let mut file = ConfigFile::read(path, layer)
        .with_context(|| format!("could not check `{}`: there is no such file", path.display()))
        .hint("`plimsoll config path` says where the config files are")?;
    file.lay_over(&mut Settings::default());
    Ok(file)
}

fn text(ui: &Ui, files: &[ConfigFile]) -> String {
    let mut text = String::new();
    for file in files {
        let path = ui::strip_control(&file.path.to_string_lossy());
        if file.complaints.is_empty() {
            let _ = writeln!(text, "{} {path}", ui.green("ok:"));
        }
        for complaint in &file.complaints {
            let place = ui.bold(&format!("{path}{}:", complaint.at()));
            let _ = writeln!(text, "{place} {}", ui::strip_control(&complaint.what));
        }
    }
    if files.is_empty() {
        let _ = writeln!(text, "{} there is no config; all is at its default", ui.green("ok:"));
    }
    text
}

#[derive(Serialize)]
struct ComplaintView<'a> {
    path: &'a Path,
    line: Option<u64>,
    column: Option<u64>,
    what: &'a str,
}

fn view(complaint: &Complaint) -> ComplaintView<'_> {
    let Complaint { path, place, what } = complaint;
    let (line, column) = (place.map(|place| place.line), place.map(|place| place.column));
    ComplaintView { path, line, column, what }
}
