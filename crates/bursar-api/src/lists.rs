//! List pages and single documents: the same for every resource.

use bursar_db::walk::{self, Ask, Page};
use bursar_db::{Stored, Tx, table};
use bursar_domain::cursor::{Belongs, Cursor};
use bursar_domain::ids::{Id, Kind, OrganizationId};

use super::error::Error;
use super::plan::{Answer, Plan, Request};
use super::query::{self, ListQuery, ListRules};

/// One resource by the id in the path.
pub(super) fn get<R: Stored>(request: &Request) -> Result<Plan, Error> {
    let id: Id<R::Kind> = request.id(0)?;
    let organization = request.organization();
    Ok(Plan::Read(Box::new(move |tx| {
        let document = table::document::<R>(tx, organization, id)?;
        document
            .map(Answer::ok)
            .ok_or_else(|| Error::no_such(R::Kind::NOUN))
    })))
}

/// A page of a list of the caller's organization.
pub(super) fn list<R: Stored>(
    request: &Request,
    path: &'static str,
    rules: &ListRules,
) -> Result<Plan, Error> {
    let query = query::list(request.query.as_deref(), rules)?;
    let walk = Walk::open(request, path.to_owned(), rules, query, request.organization())?;
    let is_first = walk.cursor.is_none();
    let read = Box::new(move |tx: &mut Tx<'_>| walk.page::<R>(tx).map(|(answer, _)| answer));
    Ok(if is_first {
        Plan::Read(read)
    } else {
        Plan::Snapshot(read)
    })
}

/// A walk at one of its pages.
pub(super) struct Walk {
    query: ListQuery,
    /// The walk so far; none on its first page.
    cursor: Option<Cursor>,
    path: String,
    words: &'static [&'static str],
    /// The token's organization, which the cursor is bound to.
    caller: OrganizationId,
    /// Whose rows are read.
    of: OrganizationId,
    now: bursar_domain::Timestamp,
}

impl Walk {
    /// Checks the cursor, if there is one.
    pub(super) fn open(
        request: &Request,
        path: String,
        rules: &ListRules,
        query: ListQuery,
        of: OrganizationId,
    ) -> Result<Self, Error> {
        let caller = request.organization();
        let belongs = Belongs {
            organization: caller,
            path: &path,
            words: rules.status,
        };
        let cursor = match &query.cursor {
            Some(text) => Some(Cursor::decode(text, belongs, &query.filters, request.now)?),
            None => None,
        };
        Ok(Self {
            query,
            cursor,
            path,
            words: rules.status,
            caller,
            of,
            now: request.now,
        })
    }

    /// Reads the page; how many rows it has.
    pub(super) fn page<R: Stored>(&self, tx: &mut Tx<'_>) -> Result<(Answer, usize), Error> {
        let ask = Ask {
            organization: self.of,
            limit: self.query.limit,
        };
        let body = b"{\"data\":[".to_vec();
        let page = match &self.cursor {
            None => walk::first_page::<R>(tx, ask, self.query.filters, self.now, body)?,
            Some(cursor) => walk::next_page::<R>(tx, ask, cursor, body)?,
        };
        let count = page.count;
        Ok((Answer::ok(self.close(page)), count))
    }

    /// Ends the envelope that the page stands in.
    fn close(&self, page: Page) -> Vec<u8> {
        let mut body = page.text;
        match &page.next {
            None => body.extend_from_slice(b"],\"hasMore\":false,\"nextCursor\":null}"),
            Some(cursor) => {
                let belongs = Belongs {
                    organization: self.caller,
                    path: &self.path,
                    words: self.words,
                };
                body.extend_from_slice(b"],\"hasMore\":true,\"nextCursor\":\"");
                body.extend_from_slice(cursor.encode(belongs).as_bytes());
                body.extend_from_slice(b"\"}");
            }
        }
        body
    }
}
