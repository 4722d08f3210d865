//! Money that came in.

use askama::Template;
use bursar_app::View;
use bursar_app::books::receipts::{self, RECORD};
use bursar_domain::Date;
use bursar_domain::money::Money;
use bursar_domain::receipt::ReceiptStatus;

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
    let mut found = receipts::list(view, (Some(from), Some(until)), None)?;
    found.reverse();
    let counted = found
        .iter()
        .filter(|recorded| recorded.receipt.status == ReceiptStatus::Recorded);
    let sum = counted.map(|recorded| i128::from(recorded.amount.minor)).sum();
    let page = Page {
        frame,
        may_record: frame.may(&RECORD),
        csv: asking.with("money/csv", &[]),
        from: from.to_string(),
        until: until.to_string(),
        receipts: rows::receipts(view, &found)?,
        sum: format!(
            "{} from {} to {}",
            words::money_in(Money::total("this sum", sum, own.currency)?),
            words::day(from),
            words::day(until)
        ),
    };
    Ok(page.render()?)
}
