//! Tables for people, JSON for programs, progress on a terminal.
#![expect(clippy::print_stderr, reason = "this is where the command line speaks")]

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use bursar_app::private;
use bursar_app::spreadsheet::record;
use bursar_domain::token::masked;
use bursar_http::log;
use bursar_http::terminal::{printable, printable_json};
use clap::builder::styling::{AnsiColor, Style, Styles};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::Failure;

pub(crate) const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(Style::new().dimmed());

/// Colours only on a terminal, and not if NO_COLOR is set (https://no-color.org).
#[expect(clippy::disallowed_methods, reason = "NO_COLOR is a wish to every program")]
pub(crate) fn is_colourful(output: &impl IsTerminal) -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    output.is_terminal() && !is_refused && !is_dumb
}

/// One line on standard error. Secrets are masked, because terminals and logs keep what they show.
pub(crate) fn complain(message: &str) {
    let message = message.replace('\n', " ");
    let message = printable(&masked(&message)).into_owned();
    log::last(&match is_colourful(&std::io::stderr()) {
        true => {
            let red = AnsiColor::Red.on_default().bold();
            format!("{red}bursar:{red:#} {message}\n")
        }
        false => format!("bursar: {message}\n"),
    });
}

/// Reports a panic safely in one line, in the log if there is one: its message may contain text from others.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.payload_as_str().unwrap_or("without a word");
        let place = panic
            .location()
            .map_or_else(String::new, |place| format!(" at {place}"));
        let trace = Backtrace::capture();
        let trace = match trace.status() {
            BacktraceStatus::Captured => format!("\n{trace}"),
            _ => String::new(),
        };
        let message = format!("panicked{place}: {words}{trace}");
        if !log::fault(&message) {
            complain(&message);
        }
    }));
}

/// On standard error; the answer follows on the same line.
pub(crate) fn prompt(question: &str) {
    eprint!("{}", printable(question));
}

/// One line for people on standard output. It may contain text from others.
pub(crate) fn say(line: &str) {
    write(format!("{}\n", printable(line)).as_bytes());
}

/// The same, from a server. It goes on if nobody reads.
pub(crate) fn announce(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", printable(line)).and_then(|()| out.flush());
}

/// Bold on a terminal.
pub(crate) fn say_bold(title: &str) {
    let bold = Style::new().bold();
    let title = printable(title);
    match is_colourful(&std::io::stdout()) {
        true => write(format!("{bold}{title}{bold:#}\n").as_bytes()),
        false => write(format!("{title}\n").as_bytes()),
    }
}

/// JSON that is already rendered.
pub(crate) fn document(json: &str) {
    write(format!("{}\n", printable_json(json)).as_bytes());
}

/// Makes an empty output file readable by its owner only: what follows is personal data. A file that
/// has content already, or belongs to another user, stays as it is.
pub(crate) fn keep_private() {
    let Ok(out) = std::io::stdout().as_fd().try_clone_to_owned().map(File::from) else {
        return;
    };
    if out.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
        let _ = private::restrict(&out);
    }
}

/// A reader that stops early, like `head`, ends the command quietly; any other write error is a failure.
pub(crate) fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    complain(&format!("the output cannot be written: {error}"));
    std::process::exit(1);
}

pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    document(&serde_json::to_string(value)?);
    Ok(())
}

/// Prints `none` when there are no rows.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>, none: &str) {
    match rows.is_empty() {
        true => say(none),
        false => sheet(header, N, rows),
    }
}

/// Columns from `amounts` on are numbers, which end at the right.
pub(crate) fn sheet<const N: usize>(header: [&str; N], amounts: usize, rows: Vec<[String; N]>) {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    let is_colourful = is_colourful(&std::io::stdout());
    if is_colourful {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header.map(|name| Cell::new(name.to_uppercase()).add_attribute(Attribute::Bold)));
    for row in rows {
        table.add_row(header.into_iter().zip(row).map(|(name, text)| {
            match (colour(name, &text), Cell::new(printable(&text))) {
                (Some(colour), cell) => cell.fg(colour),
                (None, cell) => cell,
            }
        }));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if place >= amounts {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.to_string().lines() {
        write(format!("{}\n", line.trim_end()).as_bytes());
    }
}

/// A colour for a state: good, waiting, failed or over.
fn colour(header: &str, text: &str) -> Option<Color> {
    if !matches!(header, "state" | "status") {
        return None;
    }
    match text.split(',').next().unwrap_or(text) {
        "active" | "approved" | "completed" | "delivered" | "fulfilled" | "paid" | "sent" => {
            Some(Color::DarkGreen)
        }
        "draft" | "frozen" | "invited" | "partially_paid" | "pending" | "processing" | "queued"
        | "replaced" | "scheduled" | "sending" | "submitted" | "written" => Some(Color::DarkYellow),
        "denied" | "disputed" | "failed" | "rejected" => Some(Color::DarkRed),
        "archived" | "canceled" | "cancelled" | "ended" | "expired" | "refunded" | "revoked"
        | "rotated_out" | "skipped" | "voided" => Some(Color::DarkGrey),
        _ => None,
    }
}

/// `1 member`, `2 members`.
pub(crate) fn many(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Hidden unless standard error is a terminal.
pub(crate) fn progress(total: u64, unit: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    let template = match unit {
        "bytes" => "{msg:<10} {bar:32} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        _ => "{msg:<10} {pos} {per_sec} {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Safe for spreadsheets.
pub(crate) fn csv<const N: usize>(header: [&str; N], rows: &[[String; N]]) {
    write(record(header).as_bytes());
    for row in rows {
        write(record(row).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use bursar_app::tokens::State;
    use bursar_domain::campaign::CampaignStatus;
    use bursar_domain::card::CardStatus;
    use bursar_domain::message::MessageState;
    use bursar_domain::order::OrderStatus;
    use bursar_domain::payment::PaymentStatus;
    use bursar_domain::reimbursement::ReimbursementStatus;
    use bursar_domain::reminder::ReminderStatus;

    use super::colour;

    #[test]
    fn every_state_has_its_colour() {
        let words = PaymentStatus::ALL
            .iter()
            .map(|state| state.as_str())
            .chain(CampaignStatus::ALL.iter().map(|state| state.as_str()))
            .chain(CardStatus::ALL.iter().map(|state| state.as_str()))
            .chain(OrderStatus::ALL.iter().map(|state| state.as_str()))
            .chain(ReimbursementStatus::ALL.iter().map(|state| state.as_str()))
            .chain(ReminderStatus::ALL.iter().map(|state| state.as_str()))
            .chain(MessageState::ALL.iter().map(|state| state.as_str()))
            .chain(State::ALL.iter().map(|state| state.as_str()));
        for word in words {
            assert!(colour("status", word).is_some(), "{word}");
        }
        assert!(colour("status", "queued, 2 tries, next 2026-11-15 01:39:08").is_some());
        assert!(colour("name", "paid").is_none());
    }
}
