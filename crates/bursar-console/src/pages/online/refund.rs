//! Refunds a card payment through the provider, and leads there from where a refund is only recorded.

use bursar_app::View;
use bursar_app::books::receipts::Recorded;
use bursar_app::online::{self, lists};
use bursar_domain::ids::{OnlinePaymentId, PaymentId};
use bursar_domain::receipt::Method;

use super::one::{left, of};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::pages::ask::{Ask, Field};
use crate::words;

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = of(view, asking)?;
    let left = left(&record);
    let ask = Ask::new(&asking.frame, form, "Refund by card", back).dangerous();
    if left.minor == 0 {
        let lead =
            "Nothing can be refunded now: all of it was refunded, or the payer's bank holds the money.";
        return ask.lead(lead).button("").page();
    }
    ask.lead(format!(
        "Stripe refunds the money to the card of {}. It is booked once Stripe has done so: credit is refunded first, then the \
         charges that it paid, newest first. Stripe keeps its fee.",
        record.member_name
    ))
    .fields([
        Field::text("amount", "Amount")
            .hint(format!(
                "In {}. At most {}.",
                asking.frame.currency(),
                words::money(left)
            ))
            .value(left.to_string()),
        Field::text("reason", "Reason").hint("Optional. It is kept in the books."),
    ])
    .button("Refund through Stripe")
    .page()
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = of(view, asking)?;
    let amount = form.required_amount(
        "amount",
        asking.frame.place.organization.currency,
        "Enter the amount to refund.",
    )?;
    let (id, reason) = (record.id, form.some("reason"));
    let said = format!("Asked Stripe to refund {amount} {}.", record.currency);
    let work = move |act: &mut bursar_app::Act<'_, '_>| {
        online::refund(act, id, Some(&amount), reason.as_deref())?;
        Ok(Done::new(to.clone(), said.clone()))
    };
    Ok(Sent::DoAndAsk(Box::new(work), id))
}

/// The card payment that brought the money of a receipt.
pub(in crate::pages) fn of_receipt(
    view: &mut View<'_, '_>,
    receipt: &Recorded,
) -> Result<Option<OnlinePaymentId>, Failure> {
    match receipt.receipt.method {
        Method::Card => Ok(online::of_receipt(view, receipt.receipt.id)?),
        _ => Ok(None),
    }
}

/// The better way to refund a charge that was paid by card.
pub(in crate::pages) fn instead_of_charge(
    view: &mut View<'_, '_>,
    frame: &Frame,
    charge: PaymentId,
) -> Result<Option<(String, String, String)>, Failure> {
    for id in lists::of_charge(view, charge)? {
        if left(&online::get(view, id)?).minor > 0 {
            return Ok(Some(instead(frame, id)));
        }
    }
    Ok(None)
}

/// Where money goes back to the card; its words, and why.
pub(in crate::pages) fn instead(frame: &Frame, id: OnlinePaymentId) -> (String, String, String) {
    (
        frame.at(&format!("online/{id}/refund")),
        "Refund it through Stripe".to_owned(),
        "This was paid by card. The form below only records money that you paid back in another way, such as in cash."
            .to_owned(),
    )
}
