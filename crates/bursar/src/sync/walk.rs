//! Brings one list up to date.
//!
//! A walk has legs. Usually there is one, from the mark of the last walk (or from the beginning) to the end. When the
//! server no longer accepts the cursor, because it is older than a day, the rows received so far are as good as a walk
//! that ended there: rows come in the order of change, so the next leg begins at the last row received.

use std::fmt::{self, Write as _};
use std::time::Duration;

use bursar_domain::text::percent_encoded;
use serde::{Deserialize, Serialize};

use super::lists::List;
use super::mirror::{self, Journal, Merged};
use super::state::{Folder, Mark, Progress, Walk};
use super::{Event, Watch};
use crate::remote::{Client, Counts, Page, RequestError};

/// Per run: a server that accepts none of its own cursors must not keep us forever.
const LEGS_MAX: u32 = 8;

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) list: String,
    pub(crate) file: String,
    /// In the file now.
    pub(crate) rows: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) unchanged: u64,
    pub(crate) removed: u64,
    pub(crate) pages: u64,
    pub(crate) requests: u64,
    pub(crate) waits: u64,
    #[serde(rename = "waitedSeconds", serialize_with = "as_seconds")]
    pub(crate) waited: Duration,
    /// It continued where an earlier run had stopped.
    pub(crate) is_resumed: bool,
    /// Why it was left out, if the user did not name it.
    pub(crate) skipped: Option<String>,
    /// Why it is not current.
    pub(crate) failed: Option<String>,
    pub(crate) notes: Vec<String>,
}

fn as_seconds<S: serde::Serializer>(waited: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Milliseconds are precise enough.
    serializer.serialize_f64((waited.as_secs_f64() * 1_000.0).round() / 1_000.0)
}

impl Report {
    fn of(list: &List) -> Self {
        Self {
            list: list.name.clone(),
            file: list.file(),
            ..Self::default()
        }
    }

    pub(crate) fn is_mirrored(&self) -> bool {
        self.skipped.is_none() && self.failed.is_none()
    }

    pub(super) fn skipped(list: &List, why: String) -> Self {
        Self {
            skipped: Some(why),
            ..Self::of(list)
        }
    }

    pub(super) fn failed(list: &List, why: String) -> Self {
        Self {
            failed: Some(why),
            ..Self::of(list)
        }
    }
}

/// Why a list was not completed.
#[derive(Debug)]
pub(super) enum Stop {
    /// The token may not read it.
    Withheld(String),
    /// The server refuses only this list.
    Refused(String),
    /// The other lists would fail too.
    Fatal(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Withheld(why) | Self::Refused(why) | Self::Fatal(why) => f.write_str(why),
        }
    }
}

/// A row that does not show when it changed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Undated {
    id: String,
    created_at: String,
}

pub(super) struct Walker<'a> {
    pub(super) list: &'a List,
    pub(super) folder: &'a mut Folder,
    pub(super) client: &'a mut Client,
    pub(super) page_rows: u32,
}

impl Walker<'_> {
    /// Brings the list to its state at the start of this run, or later.
    pub(super) fn run(&mut self, is_full: bool, watch: &mut Watch<'_>) -> Result<Report, Stop> {
        let before = self.client.counts;
        let mut report = Report::of(self.list);
        self.walk(is_full || self.list.is_of_chapters, &mut report, watch)?;
        if report.is_resumed {
            // The resumed walk shows the list as of its own start, which may have been yesterday.
            self.walk(self.list.is_of_chapters, &mut report, watch)?;
        }
        let Counts {
            requests,
            waits,
            waited,
        } = self.client.counts.since(before);
        Ok(Report {
            requests,
            waits,
            waited,
            ..report
        })
    }

    fn walk(&mut self, is_full: bool, report: &mut Report, watch: &mut Watch<'_>) -> Result<(), Stop> {
        let mut progress = self.begin(is_full, report)?;
        let mut legs = 0;
        while progress.walk.as_ref().is_some_and(|walk| !walk.is_complete) {
            legs += 1;
            if legs > LEGS_MAX {
                let why = format!("{}: the server ends every walk before its end", self.list.name);
                return Err(Stop::Fatal(why));
            }
            self.leg(&mut progress, report, watch)?;
        }
        watch(Event::Merging);
        let merged = self.finish(progress)?;
        report.rows = merged.rows;
        report.new += merged.new;
        report.changed += merged.changed;
        report.unchanged += merged.unchanged;
        report.removed += merged.removed;
        Ok(())
    }

    /// The walk under way, or a new one from the mark.
    fn begin(&mut self, is_full: bool, report: &mut Report) -> Result<Progress, Stop> {
        let mut progress = self.folder.progress(&self.list.name);
        if let Some(walk) = &progress.walk {
            // A complete walk may have replaced the file already without recording it.
            let is_whole = walk.is_complete || walk.is_full || self.is_untouched(&progress);
            let has_journal = file_bytes(&self.journal()).unwrap_or(0) >= walk.journal_bytes;
            if is_whole && has_journal && (walk.is_full || !is_full) {
                report.is_resumed = true;
                return Ok(progress);
            }
        }
        let is_current = progress.mark.is_some() && self.is_untouched(&progress);
        if progress.mark.is_some() && !is_current {
            report.notes.push(format!(
                "{} was changed or removed by somebody else, so everything was asked for again",
                self.list.file()
            ));
        }
        progress.walk = Some(if is_current && !is_full {
            Walk {
                since: progress.mark.clone(),
                ..Walk::default()
            }
        } else {
            from_the_beginning()
        });
        self.note(&progress)?;
        Ok(progress)
    }

    /// Whether the file is as we left it.
    fn is_untouched(&self, progress: &Progress) -> bool {
        file_bytes(&self.folder.file(&self.list.file())) == Some(progress.bytes)
    }

    /// Requests pages until the last one, or until the server no longer accepts the cursor.
    fn leg(
        &mut self,
        progress: &mut Progress,
        report: &mut Report,
        watch: &mut Watch<'_>,
    ) -> Result<(), Stop> {
        let mut walk = progress.walk.take().unwrap_or_default();
        let mut journal =
            Journal::open(&self.journal(), walk.journal_bytes).map_err(|error| self.broken(&error))?;
        let mut rows = 0;
        loop {
            let mut waits = |pause, why: &str| watch(Event::Waiting(pause, why));
            let page: Page = match self.client.get(&self.query(&walk), &mut waits) {
                Ok(page) => page,
                Err(RequestError::Cursor) if walk.cursor.is_some() => {
                    // Everything up to the last row was received: the next leg begins there.
                    walk = Walk {
                        since: walk.last.clone().or(walk.since),
                        has_seen_since: false,
                        cursor: None,
                        ..walk
                    };
                    break;
                }
                Err(RequestError::Withheld(why)) => return Err(Stop::Withheld(why)),
                Err(RequestError::NotFound(why)) => return Err(Stop::Refused(why)),
                Err(refusal) => return Err(Stop::Fatal(refusal.to_string())),
            };
            report.pages += 1;
            rows += page.data.len() as u64;
            page.expect_progress(walk.cursor.as_deref())
                .map_err(|what| self.out_of_promise(what))?;
            let (lines, met_again) = self.take(&page, &mut walk)?;
            if walk.since == progress.mark {
                report.unchanged += met_again;
            }
            walk.journal_bytes = journal.append(&lines).map_err(|error| self.broken(&error))?;
            walk.cursor = page.next_cursor.filter(|_| page.has_more);
            if !page.has_more {
                if walk.since.is_some() && !walk.has_seen_since {
                    report.notes.push(
                        "the server has lost rows that it had, as after a backup was restored, so everything was asked for again"
                            .to_owned(),
                    );
                    report.unchanged = 0;
                    walk = from_the_beginning();
                } else {
                    walk.is_complete = true;
                }
            }
            let is_over = walk.cursor.is_none();
            progress.walk = Some(walk);
            self.note(progress)?;
            watch(Event::Rows(rows));
            if is_over {
                return Ok(());
            }
            walk = progress.walk.take().unwrap_or_default();
        }
        progress.walk = Some(walk);
        self.note(progress)
    }

    /// Returns a page's lines for the journal, and how many rows were left out because they are already there. The walk
    /// moves to the page's last row.
    fn take(&self, page: &Page, walk: &mut Walk) -> Result<(Vec<u8>, u64), Stop> {
        let (mut lines, mut met_again) = (Vec::new(), 0);
        if self.list.hides_updated_at {
            self.take_undated(page, walk, &mut lines)?;
            return Ok((lines, 0));
        }
        // A leg begins with the last row of the one before.
        let mut previous = walk.last.clone().filter(|_| walk.cursor.is_some());
        for row in &page.data {
            let text = row.get();
            let mark: Mark = serde_json::from_str(text)
                .map_err(|_| self.out_of_promise("a row without id or updatedAt"))?;
            let is_behind = |last: &Mark| (&mark.updated_at, &mark.id) <= (&last.updated_at, &last.id);
            if previous.as_ref().is_some_and(is_behind) {
                return Err(self.out_of_promise(&format!("{} out of the order of change", mark.id)));
            }
            if let Some(since) = &walk.since {
                walk.has_seen_since |= since.id == mark.id;
            }
            if walk.since.as_ref() == Some(&mark) {
                met_again += 1;
            } else {
                push_line(&mut lines, text);
            }
            previous = Some(mark);
        }
        walk.last = previous.or(walk.last.take());
        Ok((lines, met_again))
    }

    /// For rows that do not show when they changed. The mark is the row with the largest `createdAt`, which is not
    /// after the last change received: asking from there misses nothing, and gives the row of the mark again.
    fn take_undated(&self, page: &Page, walk: &mut Walk, lines: &mut Vec<u8>) -> Result<(), Stop> {
        for row in &page.data {
            let text = row.get();
            let row: Undated = serde_json::from_str(text)
                .map_err(|_| self.out_of_promise("a row without id or createdAt"))?;
            let mark = Mark {
                id: row.id,
                updated_at: row.created_at,
            };
            if let Some(since) = &walk.since {
                walk.has_seen_since |= since.id == mark.id;
            }
            push_line(lines, text);
            let is_later = |last: &Mark| (&mark.updated_at, &mark.id) > (&last.updated_at, &last.id);
            if walk.last.as_ref().is_none_or(is_later) {
                walk.last = Some(mark);
            }
        }
        Ok(())
    }

    /// Merges the journal into the file, and records it.
    fn finish(&mut self, mut progress: Progress) -> Result<Merged, Stop> {
        let walk = progress.walk.take().unwrap_or_default();
        let file = self.folder.file(&self.list.file());
        let is_needed = walk.is_full || walk.journal_bytes > 0 || !file.exists();
        let merged = if is_needed {
            // A kill may have left bytes that do not count.
            Journal::open(&self.journal(), walk.journal_bytes).map_err(|error| self.broken(&error))?;
            mirror::merge(&self.journal(), &file, walk.is_full).map_err(|error| self.broken(&error))?
        } else {
            Merged {
                rows: progress.rows,
                bytes: progress.bytes,
                ..Merged::default()
            }
        };
        progress.mark = match walk.is_full {
            true => walk.last,
            false => walk.last.or(progress.mark),
        };
        progress.rows = merged.rows;
        progress.bytes = merged.bytes;
        self.note(&progress)?;
        // The journal no longer counts, so a failure to remove it does not matter.
        let _ = std::fs::remove_file(self.journal());
        Ok(merged)
    }

    /// Merges a journal of what events brought. The mark stays: the next walk begins where the last one ended. `None` if
    /// somebody else changed the file.
    pub(super) fn merge_events(&mut self, journal_bytes: u64) -> Result<Option<Report>, Stop> {
        let mut progress = self.folder.progress(&self.list.name);
        if progress.walk.is_some() || !self.is_untouched(&progress) {
            return Ok(None);
        }
        // As a walk that is complete it is merged again after a kill.
        progress.walk = Some(Walk {
            is_complete: true,
            journal_bytes,
            ..Walk::default()
        });
        self.note(&progress)?;
        let merged = self.finish(progress)?;
        Ok(Some(Report {
            rows: merged.rows,
            new: merged.new,
            changed: merged.changed,
            unchanged: merged.unchanged,
            ..Report::of(self.list)
        }))
    }

    fn query(&self, walk: &Walk) -> String {
        let mut query = format!("{}?limit={}", self.list.path, self.page_rows);
        // Writing to a String cannot fail.
        if let Some(since) = &walk.since {
            let _ = write!(query, "&updatedSince={}", percent_encoded(&since.updated_at));
        }
        if let Some(cursor) = &walk.cursor {
            let _ = write!(query, "&cursor={}", percent_encoded(cursor));
        }
        query
    }

    fn journal(&self) -> std::path::PathBuf {
        journal_path(self.folder, self.list)
    }

    fn note(&mut self, progress: &Progress) -> Result<(), Stop> {
        self.folder
            .note(&self.list.name, progress.clone())
            .map_err(Stop::Fatal)
    }

    fn broken(&self, error: &std::io::Error) -> Stop {
        Stop::Fatal(format!(
            "{}: {error}; free some space or restore the folder's permissions and run it again, or start over with --full",
            self.list.name
        ))
    }

    fn out_of_promise(&self, what: &str) -> Stop {
        Stop::Fatal(format!(
            "{}: the server sent {what}; it does not keep the promises of bursar's API, so nothing of this page was kept",
            self.list.name
        ))
    }
}

pub(super) fn journal_path(folder: &Folder, list: &List) -> std::path::PathBuf {
    folder.hidden(&format!("{}.journal", list.name))
}

/// JSON may have white space anywhere; a row is one line.
pub(super) fn push_line(lines: &mut Vec<u8>, text: &str) {
    lines.extend(
        text.bytes()
            .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
    );
    lines.push(b'\n');
}

fn file_bytes(path: &std::path::Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|file| file.len())
}

fn from_the_beginning() -> Walk {
    Walk {
        is_full: true,
        ..Walk::default()
    }
}
