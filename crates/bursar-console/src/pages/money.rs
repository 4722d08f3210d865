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
    from: String,
    until: String,
    part: Part<'a>,
}

/// What changes with the days.
#[derive(Template)]
#[template(path = "money_part.html")]
struct Part<'a> {
    frame: &'a Frame,
    csv: String,
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
    let part = Part {
        frame,
        csv: asking.with("money/csv", &[]),
        receipts: rows::receipts(view, &found.rows)?,
        sum: format!(
            "{} from {} to {}",
            words::money_in(sum),
            words::day(from),
            words::day(until)
        ),
        older,
    };
    if asking.is_part {
        return Ok(part.render()?);
    }
    let page = Page {
        frame,
        may_record: frame.may(&RECORD),
        from: from.to_string(),
        until: until.to_string(),
        part,
    };
    Ok(page.render()?)
}
