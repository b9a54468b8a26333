//! `plimsoll config show`

use std::fmt::Write as _;
use std::path::Path;

use plimsoll_agents::Agent;
use plimsoll_core::settings::keys::{Key, Value};
use plimsoll_engine::settings::{self, ClientFact, Complaint, Explanation, Origin};
use plimsoll_engine::world::World;
use serde::Serialize;

use crate::ui::{self, Ui};

/// Show every setting with its value in force and where that comes from
///
/// For the project that you stand in. Below our own settings stands what the agent's client is set
/// to do with its windows, as far as its settings files and the environment tell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll config show
  plimsoll config show --json | jq -r '.keys[] | select(.from != \"default\") | .key'")]
pub(crate) struct Args {
    #[command(flatten)]
    agent: crate::cmd::AgentArg,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let agent = args.agent.agent;
    let project = crate::cmd::project(world)?;
    let explanation = settings::explain(world, agent, &project);
    match args.json {
        true => ui.print_json(&view(&explanation, agent, &project)),
        false => ui.print(&text(world, ui, &explanation, agent, &project)),
    }
}

/// A line of the table.
struct Row {
    name: String,
    value: String,
    origin: String,
    is_default: bool,
}

impl Row {
    fn new(world: &World, name: &str, value: &str, origin: &Origin) -> Self {
        let origin_text = match origin {
            Origin::Default => "default".to_owned(),
            Origin::File(path, place) => {
                let line = place.map_or_else(String::new, |place| format!(":{}", place.line));
                format!("{}{line}", ui::short_path(path, &world.paths.home))
            }
            Origin::Variable(name) => format!("${name}"),
        };
        Self {
            name: name.to_owned(),
            value: ui::strip_control(value),
            origin: origin_text,
            is_default: *origin == Origin::Default,
        }
    }
}

fn text(
    world: &World,
    ui: &Ui,
    explanation: &Explanation,
    agent: &'static dyn Agent,
    project: &Path,
) -> String {
    let Explanation { settings, keys, client, .. } = explanation;
    let ours = keys
        .iter()
        .map(|(key, origin)| Row::new(world, key.name, &(key.value)(settings).to_string(), origin));
    let theirs = client.iter().map(|fact| {
        let number = fact.value.as_f64().map(|number| number.to_string());
        let value = number.unwrap_or_else(|| fact.value.to_string());
        Row::new(world, &fact.name.replace('_', " "), &value, &fact.origin)
    });
    let rows: Vec<Row> = ours.chain(theirs).collect();
    let lines = aligned(ui, &rows);
    let (ours, theirs) = lines.split_at(keys.len());
    let here = ui::short_path(project, &world.paths.home);
    let mut text = format!("{}\n{}", ui.bold(&format!("In force in {here}")), ours.concat());
    let _ = write!(
        text,
        "\n{}\n{}",
        ui.bold(&format!("Client {}", agent.id().as_str())),
        theirs.concat()
    );
    text + &ignored(world, ui, explanation)
}

/// What is set but does not count.
fn ignored(world: &World, ui: &Ui, explanation: &Explanation) -> String {
    let place = |complaint: &Complaint| {
        let path = ui::short_path(&complaint.path, &world.paths.home);
        format!("{path}{}", complaint.at())
    };
    let complaints = explanation.complaints.iter();
    let lines = complaints
        .map(|complaint| {
            format!("{}\n  {}\n", place(complaint), ui::strip_control(&complaint.what))
        })
        .chain(explanation.useless_variables.iter().map(|sentence| format!("{sentence}\n")));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{}\n{lines}", ui.bold("Ignored")) }
}

/// The rows with their columns aligned; what is at its default steps back.
fn aligned(ui: &Ui, rows: &[Row]) -> Vec<String> {
    const WIDEST_VALUE: usize = 16;
    let width = |text: &str| text.chars().count();
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let values = rows.iter().map(|row| width(&row.value)).filter(|width| *width <= WIDEST_VALUE);
    let values = values.max().unwrap_or(0);
    let line = |row: &Row| {
        let Row { name, value, origin, is_default } = row;
        let apart = match width(value) <= values {
            true => " ".repeat(values - width(value) + 2),
            false => format!("\n{}", " ".repeat(names + values + 4)),
        };
        let line = format!("{name:<names$}  {value}{apart}{origin}");
        format!("{}\n", if *is_default { ui.dim(&line) } else { line })
    };
    rows.iter().map(line).collect()
}

#[derive(Serialize)]
struct ConfigView<'a> {
    project: &'a Path,
    keys: Vec<KeyView<'a>>,
    agent: &'static str,
    client: Vec<ClientView<'a>>,
    ignored: Vec<String>,
}

#[derive(Serialize)]
struct KeyView<'a> {
    key: &'static str,
    value: Value<'a>,
    #[serde(flatten)]
    origin: OriginView<'a>,
    meaning: &'static str,
}

#[derive(Serialize)]
struct ClientView<'a> {
    setting: &'a str,
    value: &'a serde_json::Value,
    #[serde(flatten)]
    origin: OriginView<'a>,
}

#[derive(Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
enum OriginView<'a> {
    Default,
    File { path: &'a Path, line: Option<u64> },
    Environment { variable: &'static str },
}

fn view<'a>(
    explanation: &'a Explanation,
    agent: &'static dyn Agent,
    project: &'a Path,
) -> ConfigView<'a> {
    let Explanation { settings, keys, client, complaints, useless_variables } = explanation;
    let key = |(key, origin): &'a (&'static Key, Origin)| {
        let (value, origin) = ((key.value)(settings), origin_view(origin));
        KeyView { key: key.name, value, origin, meaning: key.meaning }
    };
    let fact = |ClientFact { name, value, origin }: &'a ClientFact| ClientView {
        setting: name,
        value,
        origin: origin_view(origin),
    };
    ConfigView {
        project,
        keys: keys.iter().map(key).collect(),
        agent: agent.id().as_str(),
        client: client.iter().map(fact).collect(),
        ignored: complaints
            .iter()
            .map(Complaint::to_string)
            .chain(useless_variables.iter().cloned())
            .collect(),
    }
}

fn origin_view(origin: &Origin) -> OriginView<'_> {
    match origin {
        Origin::Default => OriginView::Default,
        Origin::File(path, place) => OriginView::File { path, line: place.map(|place| place.line) },
        Origin::Variable(variable) => OriginView::Environment { variable },
    }
}
