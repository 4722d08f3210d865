//! The benchmark of bursar: `bench/README.md` says how to run it and how to read it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark's tables are its output"
)]

mod bare;
mod bundle;
mod callgrind;
mod console;
mod database;
mod fairness;
mod growth;
mod history;
mod http;
mod import;
mod load;
mod page;
mod paths;
mod pgbench;
mod plot;
mod replicas;
mod report;
mod start;
mod writes;

use std::path::PathBuf;
use std::process::ExitCode;

/// Why a measure could not be taken, or which limit it missed: one line.
pub(crate) type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "usage: bench MEASURE [--name value]…
  page       instructions a list page costs, by callgrind   [--members 10000,1000000] [--pages 200]
  paths      instructions the hot paths cost, by callgrind   [--members 10000] [--requests 300] [--profiles FOLDER]
  writes     group commit against a transaction a call      [--rounds 5] [--seconds 3] [--callers 64]
  import     a large bundle: records a second, peak memory  [--members 1000000] [--organizations 20]
  fairness   one organization floods, another works         [--rounds 5] [--seconds 4] [--callers 64]
  http       bursar beside a ceiling, over HTTP             [--members 100000] [--connections 32] [--rounds 3]
             [--milliseconds 1500] [--scenarios get,list-first,…] [--peers nginx,django,fastify | all]
  bare       bursar beside its engines without HTTP         [--rounds 5] [--callers 64] [--milliseconds 1500]
  console    pages of officers, beside the API's page      [--members 100000] [--rounds 5] [--milliseconds 700]
  growth     by members, connections and dead history       [--rounds 9] [--milliseconds 500] [--part history]
  pgbench    durable writes beside pgbench -N, PostgreSQL  [--rounds 3] [--seconds 5]
  replicas   one, two and three processes on PostgreSQL     [--rounds 3] [--connections 48]
  start      from the command to the first answer           [--rounds 20] [--members 100000]
  bundle     only writes a bundle                           --file FILE [--members N] [--organizations N]
On PostgreSQL where BURSAR_TEST_POSTGRES names a server: `scripts/test --services` starts one.
Databases are built in the folder --scratch (target/bench); figures go to bench/results.";

/// The arguments after the measure's name, as pairs.
pub(crate) struct Args(Vec<(String, String)>);

impl Args {
    fn read(words: &[String]) -> Outcome<Self> {
        let pair = |pair: &[String]| match pair {
            [name, value] if name.starts_with("--") => Ok((name[2..].to_owned(), value.clone())),
            _ => Err(format!("{} needs a value\n{USAGE}", pair.join(" "))),
        };
        words.chunks(2).map(pair).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str, default: u64) -> Outcome<u64> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("--{name} must be a number, got {text}")),
        }
    }

    /// The folder for databases and bundles. It must be on a disk: a tmpfs has no fsync to measure.
    pub(crate) fn scratch(&self) -> Outcome<PathBuf> {
        let folder = PathBuf::from(self.text("scratch").unwrap_or("target/bench"));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(folder)
    }
}

fn run() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((measure, rest)) = words.split_first() else {
        return Err(USAGE.to_owned());
    };
    let args = Args::read(rest)?;
    match measure.as_str() {
        "page" => page::measure(&args),
        "pages" => page::read_pages(&args),
        "paths" => paths::measure(&args),
        "path" => paths::walk(&args),
        "writes" => writes::measure(&args),
        "import" => import::measure(&args),
        "fairness" => fairness::measure(&args),
        "bare" => bare::measure(&args),
        "console" => console::measure(&args),
        "growth" => growth::measure(&args),
        "pgbench" => pgbench::measure(&args),
        "replicas" => replicas::measure(&args),
        "start" => start::measure(&args),
        "http" => http::measure(&args),
        "ceiling" => http::ceiling::serve(&args),
        "bundle" => bundle::write_file(&args),
        _ => Err(USAGE.to_owned()),
    }
}

/// The same as in bursar, so that the ceiling differs from it only by the work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}
