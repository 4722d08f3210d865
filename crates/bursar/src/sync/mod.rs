//! `bursar sync`: mirrors an organization's lists into NDJSON files over HTTP alone.
//!
//! It relies on what a walk guarantees: its pages are one snapshot in the order of change, nothing is ever
//! deleted, and the last row's `updatedAt` is a correct `updatedSince` for the next walk. Two lists differ: orders do
//! not show `updatedAt`, and chapters can move away. Every page is on disk
//! before the position after it is recorded, so a run can be killed at any moment and resumes from there.

mod follow;
mod lists;
mod mirror;
mod state;
mod walk;

use std::path::Path;

use serde::Serialize;

pub(crate) use self::follow::{Applied, News, Pace, follow};
pub(crate) use self::lists::{List, all as all_lists, chapter as chapter_list};
pub(crate) use self::walk::Report;

use self::state::Folder;
use self::walk::Walker;
use crate::remote::{Client, Token};

pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) lists: Vec<List>,
    /// The lists were named by the user, so one that may not be read is a failure.
    pub(crate) is_chosen: bool,
    /// Walks every list from its start, and drops rows that the server no longer has.
    pub(crate) is_full: bool,
    /// The server has moved to this address.
    pub(crate) has_moved: bool,
    /// Per page.
    pub(crate) page_rows: u32,
}

/// Progress events.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A list is started or resumed.
    Begun(&'a List),
    /// A page is on disk; the rows of this run so far.
    Rows(u64),
    Merging,
    Ended,
    /// A request is retried after this wait.
    Waiting(std::time::Duration, &'a str),
}

pub(crate) type Watch<'a> = dyn FnMut(Event<'_>) + 'a;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) url: String,
    pub(crate) organization_id: String,
    pub(crate) token_expires_at: String,
    pub(crate) lists: Vec<Report>,
}

/// A folder that is held, and what is to be in it.
pub(crate) struct Mirroring<'a> {
    plan: Plan<'a>,
    token: Token,
    folder: Folder,
}

impl<'a> Mirroring<'a> {
    pub(crate) fn open(plan: Plan<'a>, client: &mut Client, watch: &mut Watch<'_>) -> Result<Self, String> {
        let token = Token::ask(client, &mut |pause, why| watch(Event::Waiting(pause, why)))?;
        let folder = Folder::open(plan.folder, client.url(), &token.organization_id, plan.has_moved)?;
        Ok(Self { plan, token, folder })
    }

    /// What the token may do can have changed. A pass from the start was the first one.
    fn renew(&mut self, client: &mut Client, watch: &mut Watch<'_>) -> Result<(), String> {
        self.token = Token::ask(client, &mut |pause, why| watch(Event::Waiting(pause, why)))?;
        self.plan.is_full = false;
        Ok(())
    }

    /// Brings one list after the other up to date: they share one rate limit anyway.
    pub(crate) fn pass(&mut self, client: &mut Client, watch: &mut Watch<'_>) -> Result<Summary, String> {
        let scopes = self.token.scopes();
        let mut reports = Vec::new();
        for list in &self.plan.lists {
            let lacking = list.scopes.without(scopes);
            let must = self.plan.is_chosen || list.is_chapter;
            if !lacking.is_empty() {
                let why = format!("the token lacks {lacking}");
                if must {
                    return Err(format!(
                        "{} cannot be mirrored: {why}; `bursar token explain` says what withholds it",
                        list.name
                    ));
                }
                reports.push(Report::skipped(list, why));
                continue;
            }
            let mut walker = Walker {
                list,
                folder: &mut self.folder,
                client,
                page_rows: self.plan.page_rows,
            };
            watch(Event::Begun(list));
            let report = match walker.run(self.plan.is_full, watch) {
                Ok(report) => report,
                // A permission withdrawn during the run, or a chapter that left, stops only this list.
                Err(walk::Stop::Refused(why)) if list.is_of_chapters && !must => Report::skipped(list, why),
                Err(walk::Stop::Refused(why)) => Report::failed(list, why),
                Err(walk::Stop::Withheld(why)) if must => Report::failed(list, why),
                Err(walk::Stop::Withheld(why)) => Report::skipped(list, why),
                Err(walk::Stop::Fatal(why)) => return Err(why),
            };
            watch(Event::Ended);
            reports.push(report);
        }
        Ok(Summary {
            url: client.url().to_owned(),
            organization_id: self.token.organization_id.clone(),
            token_expires_at: self.token.expires_at.clone(),
            lists: reports,
        })
    }
}
