//! Card payments, disputes and payouts.

use bursar_app::View;
use bursar_app::online::lists::{self, Dispute, Payout};
use bursar_app::online::{MoveRecord, Record};
use bursar_domain::ids::{OnlineMoveId, OnlinePaymentId};

use super::{all, file, next, whole};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::pages::online as page;
use crate::reply::Download;
use crate::sheet::Cell;

pub(crate) fn online(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let row = |record: &Record| {
        let name = |name: &Option<String>| Cell::Text(name.clone().unwrap_or_default());
        vec![
            Cell::Text(record.member_name.clone()),
            Cell::Text(page::paid_for(record)),
            Cell::Day(Some(zone.date(record.created_at))),
            Cell::text(page::state(record).1),
            Cell::Text(page::remark(record)),
            Cell::money(record.fee),
            Cell::Money(record.refunded),
            Cell::Money(record.amount),
            name(&record.intent_id),
            Cell::Text(record.id.to_string()),
        ]
    };
    let which = page::which(asking);
    let rows = all(|after: Option<OnlinePaymentId>| {
        let found = lists::payments(view, which, after)?;
        let rows = found.rows.iter().map(row).collect();
        Ok((rows, next(&found, |record| record.id)))
    })?;
    let columns = [
        "From",
        "For",
        "Day",
        "State",
        "Remark",
        "Fee",
        "Refunded",
        "Amount",
        "Payment at Stripe",
        "Id",
    ];
    Ok(file(view, asking, "card-payments", &columns, rows))
}

fn reference(found: &MoveRecord) -> Cell {
    Cell::Text(found.reference.clone().unwrap_or_default())
}

pub(crate) fn disputes(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let row = |dispute: Dispute| {
        let found = &dispute.found;
        vec![
            Cell::Text(dispute.member_name.clone()),
            Cell::Day(Some(zone.date(found.created_at))),
            Cell::text(page::progress(found).1),
            Cell::Text(page::reason(found)),
            Cell::text(page::answer(found.state)),
            Cell::Money(found.fee),
            Cell::Money(found.amount),
            reference(found),
            Cell::Text(dispute.payment.to_string()),
        ]
    };
    let rows = whole(lists::disputes(view)?.into_iter().map(row).collect());
    let columns = [
        "From",
        "Day",
        "State",
        "Reason",
        "What to do",
        "Fee",
        "Amount",
        "Dispute at Stripe",
        "Payment",
    ];
    Ok(file(view, asking, "disputes", &columns, rows))
}

pub(crate) fn payouts(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let row = |payout: &Payout| {
        let found = &payout.found;
        let text = |text: Option<String>| Cell::Text(text.unwrap_or_default());
        vec![
            reference(found),
            Cell::Day(Some(page::day_of(&asking.frame, payout))),
            Cell::text(page::progress(found).1),
            Cell::text(page::accounted(payout)),
            Cell::Money(found.amount),
            text(found.entry_id.map(|id| id.to_string())),
            text(payout.line.map(|id| id.to_string())),
        ]
    };
    let rows = all(|after: Option<OnlineMoveId>| {
        let found = lists::payouts(view, after)?;
        let rows = found.rows.iter().map(row).collect();
        Ok((rows, next(&found, |payout| payout.found.id)))
    })?;
    let columns = [
        "Payout",
        "Day",
        "State",
        "Bank statement",
        "Amount",
        "Entry",
        "Bank line",
    ];
    Ok(file(view, asking, "payouts", &columns, rows))
}
