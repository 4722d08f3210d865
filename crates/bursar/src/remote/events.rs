//! Follows the list of events: each is given once, in order.

use std::fmt::Write as _;

use bursar_domain::text::percent_encoded;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CREATED_SINCE, Client, Page, RequestError, Waits};

const PATH: &str = "/v1/events";
const PAGE_ROWS: u32 = 100;

/// An event as the server sent it.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) envelope: Envelope<'a>,
    /// All of it.
    pub(crate) text: &'a str,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Envelope<'a> {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) event_type: String,
    pub(crate) created_at: String,
    pub(crate) resource: String,
    #[serde(borrow)]
    pub(crate) data: &'a RawValue,
}

/// A place in the list of events.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    /// Events from this time on; `None` is all that are kept.
    since: Option<String>,
    /// The last one that was read. `createdSince` is inclusive, so it comes again.
    last: Option<String>,
}

impl Follower {
    pub(crate) fn from(since: Option<String>) -> Self {
        Self { since, last: None }
    }

    /// From this time on, or all that are kept if the server has forgotten some since.
    pub(crate) fn from_kept(
        since: Option<String>,
        client: &mut Client,
        waits: &mut Waits<'_>,
    ) -> Result<Self, RequestError> {
        let follower = Self::from(since);
        match client.get::<Page>(&follower.query(1, None), waits) {
            Ok(_) => Ok(follower),
            Err(RequestError::Behind(_)) => Ok(Self::from(None)),
            Err(error) => Err(error),
        }
    }

    /// Reads what has happened until now. The place moves with every event that `take` accepts.
    pub(crate) fn read(
        &mut self,
        client: &mut Client,
        waits: &mut Waits<'_>,
        take: &mut dyn FnMut(&Told<'_>) -> Result<(), String>,
    ) -> Result<(), RequestError> {
        let out_of_promise = |what: &str| {
            RequestError::GivenUp(format!(
                "events: the server sent {what}; it does not keep the promises of bursar's API"
            ))
        };
        let mut cursor: Option<String> = None;
        loop {
            let page: Page = client.get(&self.query(PAGE_ROWS, cursor.as_deref()), waits)?;
            page.expect_progress(cursor.as_deref()).map_err(out_of_promise)?;
            for row in &page.data {
                let envelope: Envelope<'_> =
                    serde_json::from_str(row.get()).map_err(|_| out_of_promise("an event that is none"))?;
                if self.last.as_ref() == Some(&envelope.id) {
                    continue;
                }
                let place = (envelope.created_at.clone(), envelope.id.clone());
                let told = Told {
                    envelope,
                    text: row.get(),
                };
                take(&told).map_err(RequestError::GivenUp)?;
                self.since = Some(place.0);
                self.last = Some(place.1);
            }
            if !page.has_more {
                return Ok(());
            }
            cursor = page.next_cursor;
        }
    }

    fn query(&self, rows: u32, cursor: Option<&str>) -> String {
        let mut query = format!("{PATH}?limit={rows}");
        // Writing to a String cannot fail. The cursor carries the time.
        match (cursor, &self.since) {
            (Some(cursor), _) => {
                let _ = write!(query, "&cursor={}", percent_encoded(cursor));
            }
            (None, Some(since)) => {
                let _ = write!(query, "&{CREATED_SINCE}={}", percent_encoded(since));
            }
            (None, None) => {}
        }
        query
    }
}
