//! Keeps a mirror current by the list of events, which costs one request for all lists together.
//!
//! A pass walks the lists. Before it, a place in the list of events is fixed, so no list is shown as it was before that
//! place. After it, every event from there on is applied in order, always up to the end of the list of events: a row that
//! has an event becomes what the last one says, and a row that has none did not change since the pass.
//!
//! The marks of lists stay where the pass left them. So the next pass repairs whatever events cannot tell: chapters and their
//! rosters, and changes that happened while a scope was withheld from the token.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use bursar_domain::access::Scope;
use serde::Serialize;

use super::lists::List;
use super::mirror::Journal;
use super::walk::{Report, Walker, journal_path, push_line};
use super::{Event, Mirroring, Summary, Watch};
use crate::remote::{Client, Follower, RequestError};

pub(crate) struct Pace {
    /// Between two looks at the list of events.
    pub(crate) poll: Duration,
    /// Between two passes.
    pub(crate) pass: Duration,
}

/// Writing a large file takes longer than asking. Then events are collected for this many times as long.
const REST: u32 = 4;

/// What was done.
#[derive(Debug)]
pub(crate) enum News<'a> {
    /// The lists were walked.
    Passed(&'a Summary),
    /// Events were applied.
    Applied(&'a Applied),
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Applied {
    pub(crate) events: u64,
    pub(crate) requests: u64,
    pub(crate) lists: Vec<Report>,
}

/// Ends only with an error.
pub(crate) fn follow(
    mut mirroring: Mirroring<'_>,
    pace: &Pace,
    client: &mut Client,
    watch: &mut Watch<'_>,
    tell: &mut dyn FnMut(News<'_>) -> Result<(), String>,
) -> Result<Infallible, String> {
    let needed = Scope::EventsRead;
    if !mirroring.token.scopes().has(needed) {
        return Err(format!(
            "--follow needs a token with {needed}; `bursar token explain` says what withholds it"
        ));
    }
    let pass = i64::try_from(pace.pass.as_micros()).unwrap_or(i64::MAX);
    if mirroring.newest().is_none() {
        // Without a mark the place would be the beginning, and all events that are kept would be read for nothing.
        tell(News::Passed(&mirroring.pass(client, watch)?))?;
    }
    loop {
        let began = client.now();
        let mut follower = mirroring.place(client, watch)?;
        let summary = mirroring.pass(client, watch)?;
        tell(News::Passed(&summary))?;
        let is_mirrored = |list: &&List| {
            let mut reports = summary.lists.iter();
            reports.any(|report| report.list == list.name && report.is_mirrored())
        };
        let current: Vec<List> = mirroring.plan.lists.iter().filter(is_mirrored).cloned().collect();
        let mut pause = pace.poll;
        loop {
            std::thread::sleep(pause);
            // By the wall clock, which goes on while the machine sleeps: events may be pruned meanwhile.
            let age = client.now().micros() - began.micros();
            if !(0..pass).contains(&age) {
                break;
            }
            let started = Instant::now();
            let Some(applied) = mirroring.apply(&mut follower, &current, client, watch)? else {
                break;
            };
            if !applied.lists.is_empty() {
                tell(News::Applied(&applied))?;
            }
            pause = pace.poll.max(started.elapsed() * REST);
        }
        mirroring.renew(client, watch)?;
    }
}

impl Mirroring<'_> {
    /// The newest change in the mirror, by the organization's clock.
    fn newest(&self) -> Option<String> {
        let with_events = self.plan.lists.iter().filter(|list| list.resource.is_some());
        with_events
            .filter_map(|list| self.folder.progress(&list.name).mark)
            .map(|mark| mark.updated_at)
            .max()
    }

    /// A place that is not after this moment: the newest change that is known, or all that is kept if that is later.
    fn place(&self, client: &mut Client, watch: &mut Watch<'_>) -> Result<Follower, String> {
        let mut waits = |pause, why: &str| watch(Event::Waiting(pause, why));
        Follower::from_kept(self.newest(), client, &mut waits).map_err(|error| error.to_string())
    }

    /// Applies what has happened since the place, and moves it. `None` if a pass is needed first.
    fn apply(
        &mut self,
        follower: &mut Follower,
        current: &[List],
        client: &mut Client,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Applied>, String> {
        let before = client.counts;
        let mut next = follower.clone();
        let mut applied = Applied::default();
        let mut journals: BTreeMap<usize, (Journal, u64)> = BTreeMap::new();
        let mut lines = Vec::new();
        let folder = &self.folder;
        let read = next.read(
            client,
            &mut |pause, why| watch(Event::Waiting(pause, why)),
            &mut |told| {
                let resource = &told.envelope.resource;
                let of_event = |list: &List| list.resource.is_some_and(|known| known.as_str() == resource);
                let Some(place) = current.iter().position(of_event) else {
                    return Ok(());
                };
                applied.events += 1;
                lines.clear();
                push_line(&mut lines, told.envelope.data.get());
                let name = &current[place].name;
                let told = |error: std::io::Error| format!("{name}: the journal cannot be written: {error}");
                let (journal, bytes) = match journals.entry(place) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => {
                        let path = journal_path(folder, &current[place]);
                        entry.insert((Journal::open(&path, 0).map_err(told)?, 0))
                    }
                };
                *bytes = journal.add(&lines).map_err(told)?;
                Ok(())
            },
        );
        match read {
            Ok(()) => {}
            Err(RequestError::Behind(_) | RequestError::Cursor) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        }
        for (place, (journal, bytes)) in journals {
            let list = &current[place];
            journal
                .sync()
                .map_err(|error| format!("{}: {error}", list.name))?;
            let mut walker = Walker {
                list,
                folder: &mut self.folder,
                client,
                page_rows: self.plan.page_rows,
            };
            match walker.merge_events(bytes).map_err(|stop| stop.to_string())? {
                Some(report) => applied.lists.push(report),
                // Somebody else changed the file.
                None => return Ok(None),
            }
        }
        applied.requests = client.counts.since(before).requests;
        *follower = next;
        Ok(Some(applied))
    }
}
