//! The numbered lines of a bundle, with a limit on their length.

use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, Read};

use bursar_domain::Refusal;

use super::{ImportError, Progress, Source};

/// No record is nearly as long.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// Lines between two progress reports.
const REPORT_LINES: u64 = 1_000;

/// What was read. Two passes over the same bundle read the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent {
    bytes: u64,
    lines: u64,
    hash: u64,
}

/// Calls `visit` with each line that is not blank and its number.
pub(super) fn each_line(
    source: &Source<'_>,
    pass: u8,
    progress: &mut dyn FnMut(Progress),
    visit: &mut dyn FnMut(u64, &str) -> Result<(), ImportError>,
) -> Result<Extent, ImportError> {
    let mut input = (source.open)()?;
    let mut buffer = Vec::new();
    let (mut bytes, mut number) = (0, 0);
    let mut hasher = DefaultHasher::new();
    loop {
        buffer.clear();
        let read = input
            .by_ref()
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut buffer)? as u64;
        if read == 0 {
            progress(Progress {
                pass,
                bytes,
                lines: number,
            });
            return Ok(Extent {
                bytes,
                lines: number,
                hash: hasher.finish(),
            });
        }
        hasher.write(&buffer);
        bytes += read;
        number += 1;
        let refuse = |message: &str| Err(ImportError::Line(number, Refusal::unreadable(message)));
        if read == LINE_BYTES_MAX {
            return refuse("the line is longer than 4 MiB; each record is one line");
        }
        let Ok(text) = std::str::from_utf8(&buffer) else {
            return refuse("the line is not UTF-8");
        };
        let text = if number == 1 {
            text.trim_start_matches('\u{feff}')
        } else {
            text
        };
        let text = text.trim_end_matches(['\n', '\r']);
        if !text.trim().is_empty() {
            visit(number, text)?;
        }
        if number % REPORT_LINES == 0 {
            progress(Progress {
                pass,
                bytes,
                lines: number,
            });
        }
    }
}
