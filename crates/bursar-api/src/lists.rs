//! List pages and single resources, the same for every resource type.

use bursar_app::resources::{self, Page, Readable, Walk};
use bursar_app::{Next, chapters, events};
use bursar_domain::cursor::{Belongs, Cursor};
use bursar_domain::ids::{Id, OrganizationId};

use super::error::Error;
use super::handlers::{chapter_id, list_rules};
use super::plan::{Answer, Plan, Request};
use super::query;

pub(super) fn get<R: Readable>(request: &Request) -> Result<Plan, Error> {
    let id: Id<R::Kind> = request.id(0)?;
    Ok(Plan::Read(Box::new(move |view| {
        Ok(Answer::ok(resources::get::<R>(view, id)?))
    })))
}

/// What [`get`] reads. An id that is percent-encoded is read later.
pub(super) fn one<R: Readable>(id: &str) -> Option<Next> {
    Id::parse(id).map(Next::document::<R>)
}

/// What a change of a resource reads first.
pub(super) fn whole<R: Readable>(id: &str) -> Option<Next> {
    Id::parse(id).map(Next::resource::<R>)
}

pub(super) fn list<R: Readable>(request: &Request) -> Result<Plan, Error> {
    let list = List::open(request, request.route.path.to_owned())?;
    Ok(Plan::Read(Box::new(move |view| {
        let page = resources::page::<R>(view, &list.walk, List::start())?;
        Ok(list.close(page))
    })))
}

pub(super) fn chapter_list(request: &Request) -> Result<Plan, Error> {
    let list = List::open(request, request.route.path.to_owned())?;
    Ok(Plan::Read(Box::new(move |view| {
        let page = chapters::page(view, &list.walk, List::start())?;
        Ok(list.close(page))
    })))
}

pub(super) fn event_list(request: &Request) -> Result<Plan, Error> {
    let list = List::open(request, request.route.path.to_owned())?;
    Ok(Plan::Read(Box::new(move |view| {
        let page = events::page(view, &list.walk, List::start())?;
        Ok(list.close(page))
    })))
}

/// The cursor is bound to the path including the chapter's id.
pub(super) fn roster(request: &Request) -> Result<Plan, Error> {
    let chapter = chapter_id(request, 0)?;
    let list = List::open(request, format!("/v1/chapters/{chapter}/members"))?;
    Ok(Plan::Roster(
        chapter,
        Box::new(move |view| {
            let page = chapters::roster(view, chapter, &list.walk, List::start())?;
            let count = page.count;
            Ok((list.close(page), count))
        }),
    ))
}

struct List {
    walk: Walk,
    caller: OrganizationId,
    path: String,
    words: &'static [&'static str],
}

impl List {
    fn open(request: &Request, path: String) -> Result<Self, Error> {
        let rules = list_rules(request.route.operation).unwrap_or_default();
        let query = query::list(request.query(), &rules)?;
        let mut list = Self {
            walk: Walk {
                limit: query.limit,
                filters: query.filters,
                cursor: None,
            },
            caller: request.organization(),
            path,
            words: rules.status,
        };
        if let Some(text) = &query.cursor {
            list.walk.cursor = Some(Cursor::decode(
                text,
                list.belongs(),
                &query.filters,
                request.now(),
            )?);
        }
        Ok(list)
    }

    fn belongs(&self) -> Belongs<'_> {
        Belongs {
            organization: self.caller,
            path: &self.path,
            words: self.words,
        }
    }

    fn start() -> Vec<u8> {
        b"{\"data\":[".to_vec()
    }

    fn close(&self, page: Page) -> Answer {
        let mut body = page.text;
        match &page.next {
            None => body.extend_from_slice(b"],\"hasMore\":false,\"nextCursor\":null}"),
            Some(cursor) => {
                body.extend_from_slice(b"],\"hasMore\":true,\"nextCursor\":\"");
                body.extend_from_slice(cursor.encode(self.belongs()).as_bytes());
                body.extend_from_slice(b"\"}");
            }
        }
        Answer::ok(body)
    }
}
