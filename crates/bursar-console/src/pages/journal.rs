//! The journal: entries of a time, of one account or all, the last first.

use askama::Template;
use bursar_app::books::entries;
use bursar_app::{View, pages};
use bursar_domain::Date;
use bursar_domain::ids::Id;

use super::rows::{self, EntryRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;

/// How far back the page looks if it is not told.
const DAYS: i64 = 30;

#[derive(Template)]
#[template(path = "journal.html")]
struct Page<'a> {
    frame: &'a Frame,
    from: String,
    until: String,
    accounts: Vec<(String, bool)>,
    part: Part,
}

/// What changes with the days and the account.
#[derive(Template)]
#[template(path = "journal_part.html")]
struct Part {
    csv: String,
    entries: Vec<EntryRow>,
    older: String,
}

/// What the address asks for: the first and last day, and an account.
pub(super) fn asked(asking: &Asking, today: Date) -> ((Date, Date), Option<&str>) {
    let from = Date::parse(asking.query("from")).unwrap_or_else(|| today.plus_days(-DAYS));
    let until = Date::parse(asking.query("until")).unwrap_or(today);
    let account = Some(asking.query("account")).filter(|name| !name.is_empty());
    ((from, until), account)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let today = frame.place.organization.time_zone.date(view.now());
    let ((from, until), account) = asked(asking, today);
    let found = pages::journal(view, (from, until), account, Id::parse(asking.query("after")))?;
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.with("journal", &[("after", &last.id.to_string())]),
        _ => String::new(),
    };
    let (accounts, currency) = entries::accounts(view)?;
    let part = Part {
        csv: asking.with("journal/csv", &[]),
        entries: rows::entries(&found.rows, &accounts, currency),
        older,
    };
    if asking.is_part {
        return Ok(part.render()?);
    }
    let mut names: Vec<(String, bool)> = accounts
        .values()
        .map(|held| (held.name.clone(), account == Some(held.name.as_str())))
        .collect();
    names.sort();
    let page = Page {
        frame,
        from: from.to_string(),
        until: until.to_string(),
        accounts: names,
        part,
    };
    Ok(page.render()?)
}
