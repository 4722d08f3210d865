//! `bursar sync`: a mirror of an organization's lists in NDJSON files, kept current over HTTP alone.
//!
//! It rests on what a walk promises: the pages of a walk are one snapshot in the order of change, nothing is ever
//! deleted, and the last row's `updatedAt` is a correct `updatedSince` for the next walk. Every page is on the disk
//! before the place after it is noted, so that it can be killed at any moment and goes on from there.

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

/// What is mirrored, and where to.
pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) lists: Vec<List>,
    /// The lists were asked for by name, so that one that may not be read is a failure.
    pub(crate) is_chosen: bool,
    /// Every list is walked from its start, and rows that the server does not have any more are dropped.
    pub(crate) is_full: bool,
    /// The server has moved to this address.
    pub(crate) has_moved: bool,
    /// Rows a page.
    pub(crate) page_rows: u32,
}

/// What happens, for whoever watches.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A list is begun, or gone on with.
    Begun(&'a List),
    /// A page is on the disk; the rows of this run so far.
    Rows(u64),
    /// The rows are brought into the file.
    Merging,
    /// The list is done.
    Ended,
    /// A request is tried again after so long.
    Waiting(std::time::Duration, &'a str),
}

pub(crate) type Watch<'a> = dyn FnMut(Event<'_>) + 'a;

/// What a run did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) url: String,
    pub(crate) organization_id: String,
    pub(crate) token_expires_at: String,
    pub(crate) lists: Vec<Report>,
}

/// What `GET /v1/token` tells of the token.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Token {
    organization_id: String,
    expires_at: String,
    effective_scopes: Vec<String>,
}

impl Token {
    /// What this list needs and the token lacks. A scope that this program does not know is of no use to it.
    fn lacks(&self, list: &List) -> ScopeSet {
        let has: Vec<Scope> = self
            .effective_scopes
            .iter()
            .filter_map(|scope| Scope::parse(scope))
            .collect();
        list.scopes.without(ScopeSet::of(&has))
    }
}

/// Mirrors the lists, one after the other: they draw from one bucket anyway.
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
            // What is withheld since the run began, or a chapter that is not one any more, stops this list only.
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
