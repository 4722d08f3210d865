//! The files: a journal of rows in the order of change, and its merge into a mirror sorted by id.
//!
//! A merge streams from files to files and holds one run of the journal in memory, however long the list is. Repeating
//! it gives the same mirror, so it may be interrupted anywhere.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bursar_app::private;
use serde::Deserialize;

use super::state::replace;

/// Bytes of the journal that are sorted in memory at a time.
const RUN_BYTES_MAX: usize = 32 << 20;
/// Runs merged at a time, each an open file.
const RUNS_MAX: usize = 64;
const BUFFER: usize = 1 << 16;

/// Rows as received. Only the bytes recorded in the state count.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    bytes: u64,
}

impl Journal {
    /// Cuts off bytes that the state does not know: a page that arrived before its position was recorded.
    pub(super) fn open(path: &Path, bytes: u64) -> io::Result<Self> {
        let mut file = private::open(path)?;
        if file.metadata()?.len() < bytes {
            return Err(io::Error::other(format!(
                "{} is shorter than it was",
                path.display()
            )));
        }
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes))?;
        Ok(Self { file, bytes })
    }

    /// Appends rows, one per line; they are on disk when this returns. Returns the journal's length.
    pub(super) fn append(&mut self, rows: &[u8]) -> io::Result<u64> {
        if !rows.is_empty() {
            self.add(rows)?;
            self.sync()?;
        }
        Ok(self.bytes)
    }

    /// Appends without waiting for the disk. Returns the journal's length.
    pub(super) fn add(&mut self, rows: &[u8]) -> io::Result<u64> {
        self.file.write_all(rows)?;
        self.bytes += rows.len() as u64;
        Ok(self.bytes)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Merged {
    /// In the mirror now.
    pub(super) rows: u64,
    /// Of the mirror.
    pub(super) bytes: u64,
    pub(super) new: u64,
    pub(super) changed: u64,
    /// Rows received again without a change.
    pub(super) unchanged: u64,
    /// Rows that a full walk did not return.
    pub(super) removed: u64,
}

/// `is_full` means that the journal has every row.
pub(super) fn merge(journal: &Path, mirror: &Path, is_full: bool) -> io::Result<Merged> {
    merge_with(journal, mirror, is_full, RUN_BYTES_MAX, RUNS_MAX)
}

fn merge_with(
    journal: &Path,
    mirror: &Path,
    is_full: bool,
    run_bytes: usize,
    runs_max: usize,
) -> io::Result<Merged> {
    let mut runs = sort(journal, run_bytes)?;
    let mut number = runs.len();
    while runs.len() > runs_max {
        let path = run_path(journal, number);
        number += 1;
        let oldest: Vec<PathBuf> = runs.drain(..runs_max).collect();
        let mut out = create(&path)?;
        let mut rows = Newest::open(&oldest)?;
        while let Some(row) = rows.next()? {
            out.write_all(&row.line)?;
        }
        out.flush()?;
        remove(&oldest)?;
        // It has the oldest rows, so it stays first.
        runs.insert(0, path);
    }
    let new = journal.with_extension("merged");
    let merged = combine(&runs, mirror, &new, is_full)?;
    // Keep the permissions that somebody gave to the mirror.
    if let Ok(old) = fs::metadata(mirror) {
        fs::set_permissions(&new, old.permissions())?;
    }
    replace(&new, mirror)?;
    remove(&runs)?;
    Ok(merged)
}

/// Merges the mirror and the runs in the order of ids.
fn combine(runs: &[PathBuf], mirror: &Path, to: &Path, is_full: bool) -> io::Result<Merged> {
    let mut out = create(to)?;
    let mut merged = Merged::default();
    let mut fresh = Newest::open(runs)?;
    let mut old = match File::open(mirror) {
        Ok(file) => Some(Rows::new(file, mirror)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut next_old = || -> io::Result<Option<Row>> {
        match &mut old {
            None => Ok(None),
            // A full walk replaces the mirror, so a damaged one is just not compared.
            Some(rows) => match rows.next() {
                Err(error) if is_full && error.kind() == ErrorKind::InvalidData => {
                    old = None;
                    Ok(None)
                }
                row => row,
            },
        }
    };
    let (mut came, mut there) = (fresh.next()?, next_old()?);
    loop {
        let order = match (&came, &there) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(came), Some(there)) => came.id.cmp(&there.id),
        };
        let mut keep = |row: &Option<Row>| -> io::Result<()> {
            if let Some(row) = row {
                out.write_all(&row.line)?;
                merged.rows += 1;
                merged.bytes += row.line.len() as u64;
            }
            Ok(())
        };
        match order {
            Ordering::Less => {
                keep(&came)?;
                merged.new += 1;
                came = fresh.next()?;
            }
            Ordering::Equal => {
                keep(&came)?;
                if came.as_ref().map(|row| &row.line) == there.as_ref().map(|row| &row.line) {
                    merged.unchanged += 1;
                } else {
                    merged.changed += 1;
                }
                (came, there) = (fresh.next()?, next_old()?);
            }
            Ordering::Greater if is_full => {
                merged.removed += 1;
                there = next_old()?;
            }
            Ordering::Greater => {
                keep(&there)?;
                there = next_old()?;
            }
        }
    }
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(merged)
}

/// Splits a journal into runs sorted by id, the oldest first; for an id that occurs twice, the last row stays.
fn sort(journal: &Path, run_bytes: usize) -> io::Result<Vec<PathBuf>> {
    let mut rows = Rows::new(File::open(journal)?, journal);
    rows.is_sorted = false;
    let mut runs = Vec::new();
    let mut next = rows.next()?;
    while next.is_some() {
        let (mut run, mut bytes) = (Vec::new(), 0);
        while let Some(row) = next.take() {
            bytes += row.line.len() + row.id.len();
            run.push(row);
            next = rows.next()?;
            if bytes >= run_bytes {
                break;
            }
        }
        run.sort_by(|a, b| a.id.cmp(&b.id));
        let path = run_path(journal, runs.len());
        let mut out = create(&path)?;
        let mut sorted = run.iter().peekable();
        while let Some(row) = sorted.next() {
            if sorted.peek().is_none_or(|later| later.id != row.id) {
                out.write_all(&row.line)?;
            }
        }
        out.flush()?;
        runs.push(path);
    }
    Ok(runs)
}

fn run_path(journal: &Path, number: usize) -> PathBuf {
    journal.with_extension(format!("run-{number}"))
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    Ok(BufWriter::with_capacity(BUFFER, private::create(path)?))
}

fn remove(files: &[PathBuf]) -> io::Result<()> {
    files.iter().try_for_each(fs::remove_file)
}

/// A line with its line break, and the id in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    id: String,
    line: Vec<u8>,
}

struct Rows<'p> {
    reader: BufReader<File>,
    path: &'p Path,
    number: u64,
    is_sorted: bool,
    last: String,
}

#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl<'p> Rows<'p> {
    fn new(file: File, path: &'p Path) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, file),
            path,
            number: 0,
            is_sorted: true,
            last: String::new(),
        }
    }

    fn next(&mut self) -> io::Result<Option<Row>> {
        let mut line = Vec::new();
        if self.reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let id = match serde_json::from_slice::<Identified<'_>>(&line) {
            Ok(row) if line.ends_with(b"\n") => row.id.into_owned(),
            _ => return Err(self.wrong("is not a row")),
        };
        if self.is_sorted {
            if id <= self.last {
                return Err(self.wrong("is out of order"));
            }
            self.last.clone_from(&id);
        }
        Ok(Some(Row { id, line }))
    }

    fn wrong(&self, what: &str) -> io::Error {
        io::Error::new(
            ErrorKind::InvalidData,
            format!("{} line {} {what}", self.path.display(), self.number),
        )
    }
}

/// Several runs merged in the order of ids; for an id in several runs, the row of the last one.
struct Newest<'p> {
    runs: Vec<Rows<'p>>,
    /// The next row of each run.
    heads: Vec<Option<Row>>,
    order: BinaryHeap<Reverse<(String, Reverse<usize>)>>,
}

impl<'p> Newest<'p> {
    fn open(paths: &'p [PathBuf]) -> io::Result<Self> {
        let mut newest = Newest {
            runs: Vec::new(),
            heads: vec![None; paths.len()],
            order: BinaryHeap::new(),
        };
        for (run, path) in paths.iter().enumerate() {
            newest.runs.push(Rows::new(File::open(path)?, path));
            newest.pull(run)?;
        }
        Ok(newest)
    }

    fn pull(&mut self, run: usize) -> io::Result<()> {
        let row = self.runs[run].next()?;
        if let Some(row) = &row {
            self.order.push(Reverse((row.id.clone(), Reverse(run))));
        }
        self.heads[run] = row;
        Ok(())
    }

    fn take(&mut self) -> io::Result<Option<Row>> {
        let Some(Reverse((_, Reverse(run)))) = self.order.pop() else {
            return Ok(None);
        };
        let row = self.heads[run].take();
        self.pull(run)?;
        Ok(row)
    }

    fn next(&mut self) -> io::Result<Option<Row>> {
        let Some(row) = self.take()? else {
            return Ok(None);
        };
        while self.order.peek().is_some_and(|Reverse((id, _))| *id == row.id) {
            self.take()?;
        }
        Ok(Some(row))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn line(id: u16, value: u8) -> String {
        format!("{{\"id\":\"mem_{id:05}\",\"updatedAt\":\"x\",\"value\":{value}}}\n")
    }

    fn text(rows: &BTreeMap<u16, u8>) -> String {
        rows.iter().map(|(id, value)| line(*id, *value)).collect()
    }

    proptest! {
        // Each case waits for the disk a few times.
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Compared with the simplest implementation: a map.
        #[test]
        fn a_merge_is_what_a_map_would_be(
            there in proptest::collection::btree_map(0u16..60, 0u8..3, 0..50),
            came in proptest::collection::vec((0u16..60, 0u8..3), 0..80),
            is_full: bool,
            run_bytes in 1usize..600,
            runs_max in 2usize..5,
        ) {
            let place = tempfile::tempdir().unwrap();
            let (journal, mirror) = (place.path().join("members.journal"), place.path().join("members.ndjson"));
            fs::write(&mirror, text(&there)).unwrap();
            let rows: String = came.iter().map(|(id, value)| line(*id, *value)).collect();
            fs::write(&journal, rows).unwrap();

            let fresh: BTreeMap<u16, u8> = came.into_iter().collect();
            let mut expected = if is_full { BTreeMap::new() } else { there.clone() };
            expected.extend(&fresh);
            let count = |test: &dyn Fn(Option<&u8>, u8) -> bool| {
                fresh.iter().filter(|(id, value)| test(there.get(*id), **value)).count() as u64
            };
            let merged = merge_with(&journal, &mirror, is_full, run_bytes, runs_max).unwrap();
            prop_assert_eq!(fs::read_to_string(&mirror).unwrap(), text(&expected));
            prop_assert_eq!(merged, Merged {
                rows: expected.len() as u64,
                bytes: text(&expected).len() as u64,
                new: count(&|old, _| old.is_none()),
                changed: count(&|old, new| old.is_some_and(|old| *old != new)),
                unchanged: count(&|old, new| old == Some(&new)),
                removed: if is_full { there.keys().filter(|id| !fresh.contains_key(id)).count() as u64 } else { 0 },
            });
            // Again, as after a kill between the rename and recording it.
            let again = merge_with(&journal, &mirror, is_full, run_bytes, runs_max).unwrap();
            prop_assert_eq!(fs::read_to_string(&mirror).unwrap(), text(&expected));
            prop_assert_eq!((again.new, again.changed, again.removed), (0, 0, 0));
            // Only the two files are left.
            prop_assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn a_journal_forgets_what_was_not_noted() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("members.journal");
        let mut journal = Journal::open(&path, 0).unwrap();
        let noted = journal.append(line(1, 1).as_bytes()).unwrap();
        journal.append(b"{\"id\":\"mem_00002\",\"upda").unwrap();
        drop(journal);
        let mut journal = Journal::open(&path, noted).unwrap();
        journal.append(line(3, 3).as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), line(1, 1) + &line(3, 3));
        assert!(Journal::open(&path, 10_000).is_err());
    }

    #[test]
    fn a_mirror_that_was_touched_is_named_and_a_full_walk_makes_it_anew() {
        let place = tempfile::tempdir().unwrap();
        let (journal, mirror) = (place.path().join("m.journal"), place.path().join("m.ndjson"));
        fs::write(&journal, line(2, 2)).unwrap();
        for (touched, said) in [
            (line(1, 1) + "oops\n", "line 2 is not a row"),
            (line(3, 1) + &line(1, 1), "line 2 is out of order"),
            (line(1, 1) + line(3, 3).trim_end(), "line 2 is not a row"),
        ] {
            fs::write(&mirror, &touched).unwrap();
            let error = merge(&journal, &mirror, false).unwrap_err();
            assert!(error.to_string().ends_with(said), "{error}");
            assert_eq!(fs::read_to_string(&mirror).unwrap(), touched, "it stays as it is");
            merge(&journal, &mirror, true).unwrap();
            assert_eq!(fs::read_to_string(&mirror).unwrap(), line(2, 2));
        }
    }
}
