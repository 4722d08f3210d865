//! `bursar serve` inside a test's process, for tests that never kill the server.

use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use bursar_app::Opening;
use clap::FromArgMatches;
use tokio::sync::oneshot;

use super::serve::{self, LogArgs, Until};
use super::{Cli, Command, Failure, definition, open};

/// Stops when dropped.
#[derive(Debug)]
pub struct Served {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts `bursar serve` with these arguments in this folder; it accepts connections when this returns.
/// The log is not started: a process has only one.
pub fn serve(words: &[&str], folder: &Path) -> Result<Served, String> {
    let words = ["bursar", "serve"].iter().chain(words);
    let parsed = definition()
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = parsed.map_err(|error| error.to_string())?;
    let (Command::Serve(mut args), Some(database)) = (cli.command, cli.database) else {
        return Err("--database is missing".to_owned());
    };
    args.send.outbox = Some(folder.join("outbox"));
    let told = |failure: Failure| failure.message;
    let url = database.parse().map_err(|error| told(Failure::from(error)))?;
    let app = open(&url, &args.options(), Opening::Migrate).map_err(told)?;
    let (stop, stopped) = oneshot::channel();
    let (listens, address) = mpsc::channel();
    let thread = thread::spawn(move || {
        let failed = listens.clone();
        let mut started = |address: &str| {
            let _ = listens.send(Ok(address.trim_start_matches("http://").parse()));
        };
        if let Err(failure) = serve::serve(app, &url, &args, Until::Told(stopped), &mut started) {
            let _ = failed.send(Err(failure.message));
        }
    });
    let address = address.recv().map_err(|error| error.to_string())??;
    Ok(Served {
        address: address.map_err(|error: std::net::AddrParseError| error.to_string())?,
        stop: Some(stop),
        thread: Some(thread),
    })
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes this process's log to a file as JSON, at every level.
pub fn log_to(file: File) {
    let args = LogArgs {
        log_format: "json".to_owned(),
        log_level: "debug".to_owned(),
    };
    serve::start_log_on(&args, file);
}

pub fn flush_log() {
    bursar_http::log::flush();
}
