//! Money that came in.

use askama::Template;
use bursar_app::books::receipts::RECORD;
use bursar_app::{View, pages};
use bursar_domain::Date;
use bursar_domain::ids::Id;

use super::rows::{self, ReceiptRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

/// How far back the page looks if it is not told.
const DAYS: i64 = 90;

#[derive(Template)]
#[template(path = "money.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_record: bool,
    csv: String,
    from: String,
    until: String,
    receipts: Vec<ReceiptRow>,
    sum: String,
    older: String,
}

/// What the address asks for.
pub(super) fn days(asking: &Asking, today: Date) -> (Date, Date) {
    let from = Date::parse(asking.query("from")).unwrap_or_else(|| today.plus_days(-DAYS));
    let until = Date::parse(asking.query("until")).unwrap_or(today);
    (from, until)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let own = &frame.place.organization;
    let today = own.time_zone.date(view.now());
    let (from, until) = days(asking, today);
    let found = pages::receipts(view, (from, until), Id::parse(asking.query("after")))?;
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.with("money", &[("after", &last.receipt.id.to_string())]),
        _ => String::new(),
    };
    let sum = pages::received(view, (from, until))?;
    let page = Page {
        frame,
        may_record: frame.may(&RECORD),
        csv: asking.with("money/csv", &[]),
        from: from.to_string(),
        until: until.to_string(),
        receipts: rows::receipts(view, &found.rows)?,
        sum: format!(
            "{} from {} to {}",
            words::money_in(sum),
            words::day(from),
            words::day(until)
        ),
        older,
    };
    Ok(page.render()?)
}
