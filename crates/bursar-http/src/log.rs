//! The log on standard error: a bounded queue of lines and a thread that writes them.
//!
//! The reader of standard error may be slow or stuck. If the queue is full, a line is dropped and
//! counted, so that no request waits for the log. The number of dropped lines is logged once writing works again.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::terminal::{printable, printable_json};

/// About 5,000 lines.
const QUEUE_BYTES_MAX: usize = 1 << 20;
/// Extra room reserved for the reason of a failure.
const RESERVE_BYTES: usize = 64 << 10;
/// POSIX's PIPE_BUF on Linux: writes to a pipe up to this size are atomic.
const WRITE_BYTES_MAX: usize = 4_096;
/// Lines within this time share one system call.
const GATHER: Duration = Duration::from_millis(1);
/// For a pipe that another process made non-blocking.
const RETRY: Duration = Duration::from_millis(10);
/// How long the process waits at its end for a log that nobody reads.
const FLUSH_MAX: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text { is_colourful: bool },
    Json,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub format: Format,
    /// The current time as lines show it.
    pub clock: fn() -> String,
    /// Masks the secrets in a text.
    pub masked: fn(&str) -> Cow<'_, str>,
}

static LOG: OnceLock<Arc<Queue>> = OnceLock::new();

/// Starts the log on standard error or another file. If the thread cannot be started, every caller writes its own lines.
pub fn start(options: Options, mut to: File) {
    let queue = Arc::new(Queue::new(options));
    let writer = Arc::clone(&queue);
    let started = thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || writer.write_to(&mut to));
    if started.is_ok() {
        let _ = LOG.set(queue);
    }
}

/// The line must end with LF and be safe to display. Never waits.
pub fn line(line: &str) {
    match LOG.get() {
        Some(queue) => queue.push(line.as_bytes(), QUEUE_BYTES_MAX),
        None => write_now(line),
    }
}

/// Writes the reason why the process ends as the last line, after the queued lines if they can be written.
pub fn last(line: &str) {
    match LOG.get() {
        Some(queue) => {
            queue.push(line.as_bytes(), QUEUE_BYTES_MAX + RESERVE_BYTES);
            queue.flush();
        }
        None => write_now(line),
    }
}

/// Logs a bug in the program, regardless of the log level. Returns false if the log was not started.
pub fn fault(message: &str) -> bool {
    let Some(queue) = LOG.get() else {
        return false;
    };
    // A backtrace has several lines; JSON must stay on one.
    let lines = match queue.options.format {
        Format::Json => queue.render("ERROR", message, None),
        Format::Text { .. } => message
            .lines()
            .map(|line| queue.render("ERROR", line, None))
            .collect(),
    };
    queue.push(lines.as_bytes(), QUEUE_BYTES_MAX + RESERVE_BYTES);
    true
}

/// Waits for queued lines to be written, for a bounded time.
pub fn flush() {
    if let Some(queue) = LOG.get() {
        queue.flush();
    }
}

/// Lines dropped since the start.
pub fn dropped() -> u64 {
    LOG.get().map_or(0, |queue| queue.dropped.load(Ordering::Relaxed))
}

/// The writer for `tracing`: each line arrives in one write.
#[derive(Clone, Copy, Debug)]
pub struct Lines(pub Options);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        line(&format!("{}\n", self.0.safe(text.trim_end_matches('\n'))));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A failing log must not fail its caller.
fn write_now(line: &str) {
    let _ = io::stderr().write_all(line.as_bytes());
}

impl Options {
    /// Removes secrets and terminal control characters: the line may contain text from others.
    fn safe(self, line: &str) -> String {
        let line = (self.masked)(line);
        match self.format {
            Format::Json => printable_json(&line).into_owned(),
            Format::Text { is_colourful: false } => printable(&line).into_owned(),
            Format::Text { is_colourful: true } => coloured(&line),
        }
    }
}

/// Like `safe`, but keeps colours: `tracing` escapes control characters in values, so the remaining ones are its own.
fn coloured(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut out = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let codes = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        match codes.filter(|(codes, _)| codes.bytes().all(|b| b.is_ascii_digit() || b == b';')) {
            Some((codes, rest)) => {
                out.push_str("\u{1b}[");
                out.push_str(codes);
                out.push('m');
                out.push_str(&printable(rest));
            }
            None => {
                out.push_str(&printable("\u{1b}"));
                out.push_str(&printable(part));
            }
        }
    }
    out
}

#[derive(Debug)]
struct Queue {
    options: Options,
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Lines dropped since the writer last looked.
    lost: u64,
    is_writing: bool,
    /// The writer sleeps until there is a line.
    is_waiting: bool,
}

impl Queue {
    fn new(options: Options) -> Self {
        Self {
            options,
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            dropped: AtomicU64::new(0),
        }
    }

    /// Nothing panics under this lock, and the lines would still be usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8], bytes_max: usize) {
        let mut state = self.lock();
        if state.lines.len() + line.len() > bytes_max {
            state.lost += 1;
            drop(state);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.lines.extend_from_slice(line);
        let is_waiting = std::mem::take(&mut state.is_waiting);
        drop(state);
        if is_waiting {
            self.filled.notify_one();
        }
    }

    fn flush(&self) {
        let until = Instant::now() + FLUSH_MAX;
        let mut state = self.lock();
        while !state.lines.is_empty() || state.is_writing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.emptied.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn write_to(&self, out: &mut impl Write) {
        let (mut lines, mut untold) = (Vec::new(), 0);
        loop {
            self.wait();
            thread::sleep(GATHER);
            self.write_some(out, &mut lines, &mut untold);
        }
    }

    fn wait(&self) {
        let mut state = self.lock();
        while state.lines.is_empty() {
            state.is_waiting = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes the queued lines, then how many were dropped after them. `untold` counts drops that are not reported yet.
    fn write_some(&self, out: &mut impl Write, lines: &mut Vec<u8>, untold: &mut u64) {
        let mut state = self.lock();
        std::mem::swap(lines, &mut state.lines);
        *untold += std::mem::take(&mut state.lost);
        state.is_writing = true;
        drop(state);
        match write_lines(out, lines) {
            0 if *untold > 0 => {
                let words = "log lines were dropped because standard error was not read in time";
                let told = self.render("WARN", words, Some(*untold));
                if write_lines(out, told.as_bytes()) == 0 {
                    *untold = 0;
                }
            }
            0 => {}
            failed => {
                self.dropped.fetch_add(failed, Ordering::Relaxed);
                *untold += failed;
            }
        }
        lines.clear();
        self.lock().is_writing = false;
        self.emptied.notify_all();
    }

    /// In the format of `tracing`.
    fn render(&self, level: &str, message: &str, dropped: Option<u64>) -> String {
        let at = (self.options.clock)();
        let line = match self.options.format {
            Format::Text { .. } => {
                let dropped = dropped.map_or_else(String::new, |count| format!(" dropped={count}"));
                Cow::from(format!("{at} {level:>5} {message}{dropped}"))
            }
            Format::Json => {
                let mut line = json!({ "timestamp": at, "level": level, "message": message });
                if let Some(count) = dropped {
                    line["dropped"] = json!(count);
                }
                Cow::from(line.to_string())
            }
        };
        format!("{}\n", self.options.safe(&line))
    }
}

/// Returns how many lines could not be written.
fn write_lines(out: &mut impl Write, lines: &[u8]) -> u64 {
    let mut rest = lines;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(whole_lines(rest));
        if write_all(out, part).is_err() {
            return rest.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        rest = after;
    }
    0
}

/// Bytes to write at once: as many whole lines as fit into an atomic write, but at least one.
fn whole_lines(lines: &[u8]) -> usize {
    let start = &lines[..lines.len().min(WRITE_BYTES_MAX)];
    let end = start.iter().rposition(|byte| *byte == b'\n');
    let end = end.or_else(|| lines.iter().position(|byte| *byte == b'\n'));
    end.map_or(lines.len(), |at| at + 1)
}

fn write_all(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of these tests is a word.
    fn options(format: Format) -> Options {
        Options {
            format,
            clock: || "2026-09-21T14:13:20.000000Z".to_owned(),
            masked: |text| text.replace("sesame", "…").into(),
        }
    }

    fn queue(format: Format) -> Queue {
        Queue::new(options(format))
    }

    const TEXT: Format = Format::Text { is_colourful: false };

    /// Accepts so many bytes, a few at a time, and then fails.
    struct Sink {
        taken: Vec<u8>,
        room: usize,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(7).min(self.room);
            if count == 0 {
                return Err(ErrorKind::BrokenPipe.into());
            }
            self.room -= count;
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_queue_drops_and_tells() {
        let queue = queue(TEXT);
        for n in 0..6 {
            queue.push(format!("line {n}\n").as_bytes(), 21);
        }
        queue.push(b"the end\n", 21 + RESERVE_BYTES);
        assert_eq!(queue.dropped.load(Ordering::Relaxed), 3);
        let mut sink = Sink {
            taken: Vec::new(),
            room: usize::MAX,
        };
        let (mut lines, mut untold) = (Vec::new(), 0);
        queue.write_some(&mut sink, &mut lines, &mut untold);
        assert_eq!(
            String::from_utf8(sink.taken).unwrap(),
            "line 0\nline 1\nline 2\nthe end\n2026-09-21T14:13:20.000000Z  WARN log lines were dropped because \
             standard error was not read in time dropped=3\n"
        );
        assert_eq!(untold, 0);
    }

    #[test]
    fn what_cannot_be_written_is_told_when_it_can() {
        let queue = queue(Format::Json);
        let (mut lines, mut untold) = (Vec::new(), 0);
        queue.push(b"one\ntwo\n", 99);
        let mut closed = Sink {
            taken: Vec::new(),
            room: 0,
        };
        queue.write_some(&mut closed, &mut lines, &mut untold);
        assert_eq!((untold, queue.dropped.load(Ordering::Relaxed)), (2, 2));
        queue.push(b"three\n", 99);
        let mut open = Vec::new();
        queue.write_some(&mut open, &mut lines, &mut untold);
        let text = String::from_utf8(open).unwrap();
        let told = text.strip_prefix("three\n").unwrap();
        let told: serde_json::Value = serde_json::from_str(told).unwrap();
        assert_eq!((&told["dropped"], &told["level"]), (&json!(2), &json!("WARN")));
        assert_eq!(untold, 0);
    }

    #[test]
    fn a_write_has_whole_lines() {
        let line = [&[b'x'; 999][..], b"\n"].concat();
        assert_eq!(whole_lines(&line.repeat(9)), 4_000);
        let long = [&[b'x'; 9_999][..], b"\nafter\n"].concat();
        assert_eq!(whole_lines(&long), 10_000);
        assert_eq!(whole_lines(b"no end"), 6);
    }

    #[test]
    fn words_of_others_do_nothing_to_a_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}31m\nforged\u{202e} sesame";
        let shown = "a\\u{1b}[2J\\u{9b}31m\\u{a}forged\\u{202e} …";
        assert_eq!(options(TEXT).safe(hostile), shown);
        let colourful = options(Format::Text { is_colourful: true });
        assert_eq!(colourful.safe(hostile), shown);
        assert_eq!(
            colourful.safe("\u{1b}[2m12:00\u{1b}[0m x\u{7}"),
            "\u{1b}[2m12:00\u{1b}[0m x\\u{7}"
        );
        let json = serde_json::to_string(&["a\u{1b}\u{9b}\u{202e}"]).unwrap();
        assert_eq!(options(Format::Json).safe(&json), r#"["a\u001b\u009b\u202e"]"#);
    }
}
