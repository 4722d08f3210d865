//! Tables for people, JSON for machines, progress on a terminal.
#![expect(clippy::print_stderr, reason = "this is where the command line speaks")]

use std::io::{ErrorKind, IsTerminal, Write};
use std::time::Duration;

use bursar_app::spreadsheet::field;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::Failure;

/// One line on standard error.
pub(crate) fn complain(message: &str) {
    eprintln!("bursar: {}", message.replace('\n', " "));
}

/// One line on standard output. A reader that has seen enough, like `head`, ends the command quietly; an output
/// that cannot be written is a failure.
pub(crate) fn say(line: &str) {
    let Err(error) = writeln!(std::io::stdout(), "{line}") else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    complain(&format!("the output cannot be written: {error}"));
    std::process::exit(1);
}

/// A value as JSON, on one line.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    say(&serde_json::to_string(value)?);
    Ok(())
}

/// A table with a header; a line when there are no rows.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>, none: &str) {
    if rows.is_empty() {
        say(none);
        return;
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.map(str::to_uppercase));
    table.add_rows(rows);
    for line in table.to_string().lines() {
        let line = line.trim_end();
        say(line.strip_prefix(' ').unwrap_or(line));
    }
}

/// A bar on a terminal; nothing elsewhere.
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

/// Comma-separated values, safe for spreadsheets.
pub(crate) fn csv<const N: usize>(header: [&str; N], rows: &[[String; N]]) {
    say(&header.map(field).join(","));
    for row in rows {
        say(&row.each_ref().map(|text| field(text)).join(","));
    }
}
