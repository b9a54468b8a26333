//! `plimsoll serve`

use std::net::SocketAddr;

use anyhow::Context as _;
use clap::ValueEnum;
use plimsoll_engine::world::World;
use plimsoll_server::{AppState, LogFormat, Server, ServerOptions, bind};

use crate::report::HintExt;
use crate::ui::{self, Ui};

/// Serve usage, saves and live readings over HTTP
///
/// Listens on this machine alone, where it answers your own processes; everybody else must show the
/// token, a file in plimsoll's data folder. `/openapi.json` describes what can be asked for. Ends with
/// Ctrl-C, after whatever was asked is answered.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  plimsoll serve
  plimsoll serve --listen 127.0.0.1:8101 --log json
  curl 'http://127.0.0.1:8100/context/usage?used_tokens=150000'
  curl -H \"Authorization: Bearer $(cat ~/.local/share/plimsoll/serve.token)\" http://box:8100/healthz")]
pub(crate) struct Args {
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8100")]
    listen: SocketAddr,
    /// How the log on stderr looks
    #[arg(long, value_enum, default_value = "text")]
    log: LogArg,
    /// How many writes may come in a second; more are refused with 429
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    writes_per_second: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogArg {
    /// A line for people
    Text,
    /// A JSON object per line
    Json,
}

impl From<LogArg> for LogFormat {
    fn from(log: LogArg) -> Self {
        match log {
            LogArg::Text => Self::Text,
            LogArg::Json => Self::Json,
        }
    }
}

pub(crate) fn run(world: World, ui: &Ui, args: &Args) -> anyhow::Result<()> {
    let listener = bind(args.listen).or_else(|error| {
        let hint = error.hint();
        Err(error.into()).hint(hint)
    })?;
    let (token, data) =
        (ui::shell_quoted(&world.paths.token()), ui::shell_quoted(&world.paths.data));
    let options = ServerOptions { log: args.log.into(), writes_per_second: args.writes_per_second };
    let app = AppState::new(world, &options)
        .hint(format!("run `ls -l {data}` to see whether it can be written"))?;
    let server = Server::new(listener, app);
    let address = server.address().context("could not find out where we listen")?;
    ui.print_to_stderr(&format!(
        "Listening on http://{address}; the token for others is in {token}\n"
    ));
    server.run().context("could not serve").hint("run `plimsoll doctor`")
}
