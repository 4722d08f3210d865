//! Tables for people, a JSON file a measure, and the fsync that stands beside every figure of a write.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;

/// Prints rows under a header, in columns.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) {
    let mut all = vec![header.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()];
    all.extend(rows.iter().cloned());
    let width = |column: usize| {
        all.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for row in &all {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(i, (cell, width))| {
                if i == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        println!("{}", cells.join("  ").trim_end());
    }
}

/// Writes `bench/results/NAME.json`: what was measured, beside what it was measured on.
pub(crate) fn save(name: &str, figures: &Value) -> Outcome {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("results/{name}.json"));
    let whole = json!({
        "measure": name,
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "figures": figures,
    });
    let text = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// Fails with the limits that were missed.
pub(crate) fn verdict(missed: &[String]) -> Outcome {
    if missed.is_empty() {
        println!("every limit is kept");
        return Ok(());
    }
    Err(format!("missed: {}", missed.join("; ")))
}

/// What one durable append of a page costs here and now: the median in microseconds.
pub(crate) fn fsync_micros(folder: &Path) -> Outcome<u64> {
    let path = folder.join("fsync-reference");
    let measured = fsync_times(&path);
    // A leftover does no harm.
    let _ = std::fs::remove_file(&path);
    measured
        .map(|times| micros(percentile(&times, 50)))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn fsync_times(path: &Path) -> std::io::Result<Vec<Duration>> {
    let mut file: File = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(path)?;
    let page = [7; 4096];
    let mut times = Vec::new();
    for _ in 0..200 {
        let since = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        times.push(since.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// A percentile of sorted times.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(index).copied().unwrap_or_default()
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The middle one of some numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The nearest whole number.
pub(crate) fn rounded(number: f64) -> u64 {
    format!("{:.0}", number.max(0.0)).parse().unwrap_or(0)
}
