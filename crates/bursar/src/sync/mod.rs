//! `bursar sync`: mirrors an organization's lists into NDJSON files over HTTP alone.
//!
//! It relies on what a walk guarantees: its pages are one snapshot in the order of change, nothing is ever
//! deleted, and the last row's `updatedAt` is a correct `updatedSince` for the next walk. Two lists differ: orders do
//! not show `updatedAt`, and chapters can move away. Every page is on disk
//! before the position after it is recorded, so a run can be killed at any moment and resumes from there.

mod backoff;
mod client;
mod lists;
mod mirror;
mod state;
mod walk;

use std::path::Path;

use bursar_domain::access::{Scope, ScopeSet};
use serde::{Deserialize, Serialize};

pub(crate) use self::client::{Client, RequestError, Settings};
pub(crate) use self::lists::{List, all as all_lists, chapter as chapter_list};
pub(crate) use self::walk::Report;

use self::state::Folder;
use self::walk::Walker;

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

/// The response of `GET /v1/token`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    organization_id: String,
    expires_at: String,
    effective_scopes: Vec<String>,
}

impl Token {
    /// Scopes that the list needs and the token lacks. Scopes unknown to this program are ignored.
    fn lacks(&self, list: &List) -> ScopeSet {
        let has: Vec<Scope> = self
            .effective_scopes
            .iter()
            .filter_map(|scope| Scope::parse(scope))
            .collect();
        list.scopes.without(ScopeSet::of(&has))
    }
}

/// One list after the other: they share one rate limit anyway.
pub(crate) fn run(plan: Plan<'_>, client: &mut Client, watch: &mut Watch<'_>) -> Result<Summary, String> {
    let token: Token = match client.get("/v1/token", watch) {
        Ok(token) => token,
        Err(RequestError::NotFound(_)) => {
            return Err(format!(
                "{} has no /v1/token: is it a bursar server, and its address without /v1?",
                client.url()
            ));
        }
        Err(refusal) => return Err(refusal.to_string()),
    };
    let mut folder = Folder::open(plan.folder, client.url(), &token.organization_id, plan.has_moved)?;
    let mut reports = Vec::new();
    for list in plan.lists {
        let lacking = token.lacks(&list);
        let must = plan.is_chosen || list.is_chapter;
        if !lacking.is_empty() {
            let why = format!("the token lacks {lacking}");
            if must {
                return Err(format!(
                    "{} cannot be mirrored: {why}; `bursar token explain` says what withholds it",
                    list.name
                ));
            }
            reports.push(Report::skipped(&list, why));
            continue;
        }
        let mut walker = Walker {
            list: &list,
            folder: &mut folder,
            client,
            page_rows: plan.page_rows,
        };
        watch(Event::Begun(&list));
        let report = match walker.run(plan.is_full, watch) {
            Ok(report) => report,
            // A permission withdrawn during the run, or a chapter that left, stops only this list.
            Err(walk::Stop::Refused(why)) if list.is_of_chapters && !must => Report::skipped(&list, why),
            Err(walk::Stop::Refused(why)) => Report::failed(&list, why),
            Err(walk::Stop::Withheld(why)) if must => Report::failed(&list, why),
            Err(walk::Stop::Withheld(why)) => Report::skipped(&list, why),
            Err(walk::Stop::Fatal(why)) => return Err(why),
        };
        watch(Event::Ended);
        reports.push(report);
    }
    Ok(Summary {
        url: client.url().to_owned(),
        organization_id: token.organization_id,
        token_expires_at: token.expires_at,
        lists: reports,
    })
}
