//! A charge, with its entries in the books.

use askama::Template;
use bursar_app::books::entries;
use bursar_app::books::receipts::RECORD;
use bursar_app::{View, names, payments};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{PaymentId, kind};
use bursar_domain::money::Money;
use bursar_domain::payment::PaymentStatus;

use super::rows::{self, EntryRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "charge.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: PaymentId,
    what: String,
    status: PaymentStatus,
    state: String,
    may_record: bool,
    amount: String,
    paid: String,
    open: String,
    /// The id, for a link.
    member: String,
    who: String,
    group: String,
    due: String,
    reference: String,
    entries: Vec<EntryRow>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let shown = payments::show(view, asking.id::<kind::Payment>(0)?)?;
    let payment = shown.payment;
    let names = names::of_references(view, std::slice::from_ref(&payment))?;
    let (accounts, currency) = entries::accounts(view)?;
    let open = match payment.status {
        PaymentStatus::Cancelled => 0,
        _ => payment.amount.minor - payment.paid_to_date.minor,
    };
    let is_open = open > 0
        && matches!(
            payment.status,
            PaymentStatus::Pending | PaymentStatus::PartiallyPaid | PaymentStatus::Failed
        );
    let page = Page {
        frame,
        id: payment.id,
        what: rows::described(&payment.description),
        status: payment.status,
        state: words::label(payment.status.as_str()),
        may_record: frame.may(&RECORD) && is_open,
        amount: words::money_in(payment.amount),
        paid: words::money_in(payment.paid_to_date),
        open: words::money_in(Money::new(open, currency)),
        member: payment.member_id.map(|id| id.to_string()).unwrap_or_default(),
        who: match payment.member_id {
            Some(member) => names.told(Some(member)),
            None => names.told(payment.target_organization_id),
        },
        group: names.told(payment.group_id),
        due: words::day_or_dash(payment.due_date),
        reference: payment
            .reference
            .as_deref()
            .map_or_else(|| "\u{2013}".to_owned(), creditor_reference::spaced),
        entries: rows::entries(&shown.entries, &accounts, currency),
    };
    Ok(page.render()?)
}
