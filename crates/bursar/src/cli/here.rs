//! `bursar serve` within a process that is not bursar, for tests that ask a server and never kill it.

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

/// A server that stops when it is dropped.
#[derive(Debug)]
pub struct Served {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts what `bursar serve` with these words would start in this folder; it accepts connections when this returns.
/// Only the log is not its own: a process has one.
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

/// Writes the log of this process to a file, with everything in it and as JSON.
pub fn log_to(file: File) {
    let args = LogArgs {
        log_format: "json".to_owned(),
        log_level: "debug".to_owned(),
    };
    serve::start_log_on(&args, file);
}

/// Waits for what was logged to be written.
pub fn flush_log() {
    bursar_http::log::flush();
}
