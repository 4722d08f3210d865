use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bursar_domain::ids::{OrganizationId, kind};
use bursar_http::terminal::printable;
use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::url::{is_in_the_clear, parse_base_url};
use super::{Failure, Globals, Outcome, output, parse_id};
use crate::ambient;
use crate::sync::{self, Client, Event, List, Plan, Report, Settings, Summary};

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// The server, such as https://dues.example.org
    #[arg(long, value_name = "URL", value_parser = parse_server)]
    url: String,
    /// Access token. Other users of this machine can see command arguments; prefer BURSAR_TOKEN or --token-file
    #[arg(long, value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with the access token, or - for standard input; overrides --token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Directory of the mirror; created if missing
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// Only these lists; by default all lists the token may read
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_list)]
    lists: Vec<List>,
    /// Also mirror this chapter's roster (repeatable, or separated by commas); each page read appears in the chapter's activity log
    #[arg(long, value_name = "ORG", value_delimiter = ',', value_parser = parse_id::<kind::Organization>)]
    chapter: Vec<OrganizationId>,
    /// Fetch everything again and drop rows that no longer exist
    #[arg(long)]
    full: bool,
    /// Accept that the server of an existing mirror has a new URL
    #[arg(long)]
    moved: bool,
    /// PEM file of the certificate authority to trust instead of the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Rows per page
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    page_size: u32,
    /// Number of attempts for a failing request
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
}

fn parse_server(text: &str) -> Result<String, String> {
    let url = parse_base_url(text)?;
    // The URL is shown in messages and stored in the folder.
    if url.contains('@') {
        return Err("must not hold a password: give the token with --token-file".to_owned());
    }
    let url = url.trim_end_matches('/');
    Ok(url.strip_suffix("/v1").unwrap_or(url).to_owned())
}

fn parse_list(text: &str) -> Result<List, String> {
    let lists = sync::all_lists();
    let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    let known = format!("must be of {}", names.join(", "));
    let found = lists.iter().find(|list| list.name == text);
    found.cloned().ok_or(known)
}

pub(crate) fn run(globals: &Globals, args: &SyncArgs) -> Outcome {
    let is_chosen = !args.lists.is_empty();
    let mut lists = match is_chosen {
        true => args.lists.clone(),
        false => sync::all_lists(),
    };
    lists.extend(args.chapter.iter().filter_map(|id| sync::chapter_list(*id)));
    if is_in_the_clear(&args.url) {
        output::complain(&format!(
            "warning: {} is not https, so that the token crosses the network in the clear",
            args.url
        ));
    }
    let ca = args.ca.as_deref().map(|file| {
        std::fs::read(file).map_err(|error| format!("--ca {} cannot be read: {error}", file.display()))
    });
    let mut client = Client::new(Settings {
        url: args.url.clone(),
        token: read_token(args)?,
        attempts: args.attempts,
        ca: ca.transpose()?,
        random: fastrand::Rng::with_seed(u64::from_le_bytes(ambient::entropy()?)),
        clock: ambient::now,
    })?;
    let plan = Plan {
        folder: &args.to,
        lists,
        is_chosen,
        is_full: args.full,
        has_moved: args.moved,
        page_rows: args.page_size,
    };
    let mut bars = Bars::new();
    let done = sync::run(plan, &mut client, &mut |event| bars.show(&event));
    bars.clear();
    tell(globals, &done?)
}

fn tell(globals: &Globals, done: &Summary) -> Outcome {
    if globals.json {
        output::json(done)?;
    } else {
        let mirrored = done.lists.iter().filter(|report| report.is_mirrored());
        output::table(
            [
                "list",
                "rows",
                "new",
                "changed",
                "unchanged",
                "removed",
                "pages",
                "requests",
                "waits",
            ],
            mirrored.map(line).collect(),
            "nothing was mirrored",
        );
        for report in &done.lists {
            let skipped = report.skipped.iter().map(|why| format!("skipped, {why}"));
            for note in skipped.chain(report.notes.iter().cloned()) {
                output::say(&format!("{}: {note}", report.list));
            }
        }
    }
    let failed: Vec<String> = done
        .lists
        .iter()
        .filter_map(|report| Some(format!("{}: {}", report.list, report.failed.as_ref()?)))
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!("not mirrored: {}", failed.join("; ")))),
    }
}

fn line(report: &Report) -> [String; 9] {
    let waits = match report.waits {
        0 => "0".to_owned(),
        waits => format!("{waits} ({:.1} s)", report.waited.as_secs_f64()),
    };
    [
        report.list.clone(),
        report.rows.to_string(),
        report.new.to_string(),
        report.changed.to_string(),
        report.unchanged.to_string(),
        report.removed.to_string(),
        report.pages.to_string(),
        report.requests.to_string(),
        waits,
    ]
}

/// From the file if one is given. Errors never contain the token.
fn read_token(args: &SyncArgs) -> Result<String, String> {
    let text = match (&args.token_file, &args.token) {
        (Some(file), _) => read_file(file)
            .map_err(|error| format!("--token-file {} cannot be read: {error}", file.display()))?,
        (None, Some(token)) => token.clone(),
        (None, None) => {
            return Err(
                "a token is needed: --token-file FILE, or the variable BURSAR_TOKEN; `bursar token create` makes one"
                    .to_owned(),
            );
        }
    };
    let token = text.trim();
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    match is_plain {
        true => Ok(token.to_owned()),
        false => Err("the token must be one word of letters, digits and signs".to_owned()),
    }
}

fn read_file(file: &Path) -> std::io::Result<String> {
    if file != Path::new("-") {
        return std::fs::read_to_string(file);
    }
    let mut text = String::new();
    std::io::stdin().lock().take(4_096).read_to_string(&mut text)?;
    Ok(text)
}

/// One bar per list, on a terminal only.
struct Bars {
    all: Option<MultiProgress>,
    bar: ProgressBar,
    name: String,
}

impl Bars {
    fn new() -> Self {
        Self {
            all: std::io::stderr().is_terminal().then(MultiProgress::new),
            bar: ProgressBar::hidden(),
            name: String::new(),
        }
    }

    fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Begun(list) => {
                if let Some(all) = &self.all {
                    self.bar = all.add(ProgressBar::no_length());
                    if let Ok(style) =
                        ProgressStyle::with_template("{prefix:<16} {pos:>9} rows  {elapsed:>4}  {msg}")
                    {
                        self.bar.set_style(style);
                    }
                    self.bar.enable_steady_tick(Duration::from_millis(200));
                }
                self.name.clone_from(&list.name);
                self.bar.set_prefix(self.name.clone());
            }
            Event::Rows(rows) => {
                self.bar.set_position(*rows);
                self.bar.set_message("");
            }
            Event::Waiting(pause, why) => {
                let seconds = pause.as_secs_f64();
                self.bar
                    .set_message(format!("waiting {seconds:.1} s: {}", printable(why)));
            }
            Event::Merging => self.bar.set_message("writing the file"),
            Event::Ended => self.bar.finish_with_message("done"),
        }
    }

    /// The table that follows repeats everything.
    fn clear(self) {
        if let Some(all) = self.all {
            let _ = all.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        for (text, url) in [
            ("https://dues.example.org/", Some("https://dues.example.org")),
            ("https://example.org/dues/v1/", Some("https://example.org/dues")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("https://user:secret@example.org", None),
            ("example.org", None),
            ("https://example.org?x=1", None),
        ] {
            assert_eq!(parse_server(text).ok().as_deref(), url, "{text}");
        }
    }
}
