//! `plimsoll checkpoint show`

use plimsoll_engine::checkpoint::{self, Listed, Place};
use plimsoll_extract::checkpoint::{sections, split};
use serde::Serialize;

use super::{View, found, shown, standing};
use crate::report::HintExt;
use crate::ui::{Ui, strip_control};

/// Show a checkpoint, as it is in its file
///
/// What moves the cursor of a terminal is left out; the file itself has it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll checkpoint show
  plimsoll checkpoint show 2026-11-15-0558
  plimsoll checkpoint show --json | jq -r '.sections[\"Next Steps\"]'")]
pub(crate) struct Args {
    /// Which one: an id, the beginning of one, or `latest` for the newest that you sealed
    #[arg(value_name = "ID", default_value = "latest")]
    id: String,
    /// Print JSON, with the sections apart
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(place: &Place, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let listed = found(checkpoint::find(place, &args.id))?;
    let text = text(place, &listed)?;
    if !listed.is_own() {
        ui.warn(&format!("`{}`: {}", strip_control(&listed.id), standing(&listed)));
    }
    match args.json {
        true => ui.print_json(&view(&listed, &text)),
        false => ui.print(&text.lines().map(|line| shown(line) + "\n").collect::<String>()),
    }
}

/// The text of a checkpoint that was found.
pub(super) fn text(place: &Place, listed: &Listed) -> anyhow::Result<String> {
    checkpoint::text(place, &listed.id)
        .map_err(|problem| {
            let path = strip_control(&listed.path.to_string_lossy());
            anyhow::anyhow!(strip_control(&problem.to_string()))
                .context(format!("could not read the checkpoint `{path}`"))
        })
        .hint("`plimsoll checkpoint list` shows what is there")
}

#[derive(Serialize)]
struct ShowView<'a> {
    #[serde(flatten)]
    view: View<'a>,
    front_matter: &'a str,
    sections: serde_json::Map<String, serde_json::Value>,
}

fn view<'a>(listed: &'a Listed, text: &'a str) -> ShowView<'a> {
    let (front_matter, body) = match split(text) {
        Ok(parts) => (parts.front_matter, parts.body),
        Err(_) => ("", text),
    };
    let section = |(name, text): (&str, &str)| (name.to_owned(), text.trim().into());
    let sections = sections(body).into_iter().map(section).collect();
    ShowView { view: listed.into(), front_matter, sections }
}
