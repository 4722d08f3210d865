use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use bursar_domain::ids::{OrganizationId, kind};
use bursar_http::terminal::printable;
use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::server::ServerArgs;
use super::{Failure, Globals, Outcome, output, parse_id};
use crate::sync::{self, Applied, Event, List, Mirroring, News, Pace, Plan, Report, Summary};

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    #[command(flatten)]
    server: ServerArgs,
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
    /// Rows per page
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    page_size: u32,
    /// Number of attempts for a failing request
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// Keep running: apply events to the mirror as they happen. Needs events:read
    #[arg(long)]
    follow: bool,
    /// With --follow, how often to ask for events
    #[arg(long, default_value_t = 2, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    /// With --follow, how often to read all lists, for chapters and for data that the token could not read before
    #[arg(long, default_value_t = 60, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=1440))]
    pass_every: u64,
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
    let mut client = args.server.client("sync", true, args.attempts)?;
    let plan = Plan {
        folder: &args.to,
        lists,
        is_chosen,
        is_full: args.full,
        has_moved: args.moved,
        page_rows: args.page_size,
    };
    // Shown during a pass, and cleared when there is something to say.
    let bars = RefCell::new(Bars::new());
    let mut watch = |event: Event<'_>| bars.borrow_mut().show(&event);
    let opened = Mirroring::open(plan, &mut client, &mut watch);
    if !args.follow {
        let done = opened.and_then(|mut mirroring| mirroring.pass(&mut client, &mut watch));
        bars.borrow_mut().clear();
        return tell(globals, &done?);
    }
    let pace = Pace {
        poll: Duration::from_secs(args.every),
        pass: Duration::from_secs(args.pass_every * 60),
    };
    let mut has_passed = false;
    let mut tell = |news: News<'_>| {
        bars.borrow_mut().clear();
        tell_news(globals, news, &mut has_passed)
    };
    let ended = opened
        .and_then(|mirroring| sync::follow(mirroring, &pace, &mut client, &mut watch, &mut tell))
        .map(|never| match never {});
    bars.borrow_mut().clear();
    Ok(ended?)
}

/// While following, a list that fails does not stop the others: the next pass tries again.
fn tell_news(globals: &Globals, news: News<'_>, has_passed: &mut bool) -> Result<(), String> {
    let said = match (news, globals.json) {
        (News::Passed(summary), _) if !*has_passed || has_changed(&summary.lists) => {
            *has_passed = true;
            tell(globals, summary)
        }
        (News::Passed(_), _) => Ok(()),
        (News::Applied(applied), true) => output::json(applied),
        (News::Applied(applied), false) => {
            output::say(&in_words(applied));
            Ok(())
        }
    };
    if let Err(failure) = said {
        output::complain(&failure.message);
    }
    Ok(())
}

fn has_changed(reports: &[Report]) -> bool {
    reports.iter().any(|report| {
        report.new + report.changed + report.removed > 0
            || report.failed.is_some()
            || !report.notes.is_empty()
    })
}

/// `payments: 1 new, 2 changed; members: 1 changed`.
fn in_words(applied: &Applied) -> String {
    let of_list = |report: &Report| {
        let counts = [
            (report.new, "new"),
            (report.changed, "changed"),
            (report.unchanged, "unchanged"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
        format!("{}: {}", report.list, counts.join(", "))
    };
    let lists: Vec<String> = applied.lists.iter().map(of_list).collect();
    lists.join("; ")
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
    fn clear(&mut self) {
        if let Some(all) = &self.all {
            let _ = all.clear();
            *self = Self::new();
        }
    }
}
