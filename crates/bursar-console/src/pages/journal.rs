//! The journal: entries of a time, of one account or all.

use askama::Template;
use bursar_app::View;
use bursar_app::books::entries;
use bursar_domain::Date;

use super::rows::{self, EntryRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;

/// How far back the page looks if it is not told.
const DAYS: i64 = 30;
const SHOWN_MAX: usize = 200;

#[derive(Template)]
#[template(path = "journal.html")]
struct Page<'a> {
    frame: &'a Frame,
    from: String,
    until: String,
    accounts: Vec<(String, bool)>,
    entries: Vec<EntryRow>,
    is_cut: bool,
    shown: usize,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let today = frame.place.organization.time_zone.date(view.now());
    let from = Date::parse(asking.query("from")).unwrap_or_else(|| today.plus_days(-DAYS));
    let until = Date::parse(asking.query("until")).unwrap_or(today);
    let account = Some(asking.query("account")).filter(|name| !name.is_empty());
    let mut found = entries::list(view, (Some(from), Some(until)), account)?;
    let is_cut = found.len() > SHOWN_MAX;
    found.truncate(SHOWN_MAX);
    let (accounts, currency) = entries::accounts(view)?;
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
        entries: rows::entries(&found, &accounts, currency),
        is_cut,
        shown: SHOWN_MAX,
    };
    Ok(page.render()?)
}
