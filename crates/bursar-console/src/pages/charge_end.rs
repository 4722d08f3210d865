//! Ends a charge: cancel, write off, dispute, refund; or takes back what settled it.

use bursar_app::View;
use bursar_app::books::refunds::Refund;
use bursar_app::payments;
use bursar_domain::ids::kind;
use bursar_domain::receipt::Method;

use super::ask::{Ask, Field};
use super::charge::{of, open};
use super::online::refund::instead_of_charge;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::words;

pub(crate) fn show_cancel(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    let open = words::money_in(open(&payment));
    let ways = [
        ("cancel", "It was never owed: no income is counted"),
        ("write-off", "It will not be paid: count it as written off"),
    ];
    Ask::new(&asking.frame, form, "Cancel the charge", back)
        .lead(format!(
            "{open} are open and will no longer be owed. What was paid stays."
        ))
        .fields([
            Field::choice("how", "Reason", ways),
            Field::text("reason", "Reason").hint("Optional. It is kept in the books."),
        ])
        .button(format!("Cancel {open}"))
        .dangerous()
        .page()
}

pub(crate) fn send_cancel(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let (id, why) = (payment.id, form.some("reason"));
    let is_write_off = form.get("how") == "write-off";
    Ok(Sent::Do(Box::new(move |act| {
        payments::cancel(act, id, is_write_off, why.as_deref())?;
        let said = match is_write_off {
            true => "Wrote off what was open.",
            false => "Cancelled what was open.",
        };
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_dispute(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, "Mark as disputed", back)
        .lead(format!(
            "The payer's bank disputes this payment and holds {}. The charge is disputed until you resolve it.",
            words::money_in(payment.paid_to_date)
        ))
        .button("Mark as disputed")
        .dangerous()
        .page()
}

pub(crate) fn send_dispute(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let id = payment.id;
    Ok(Sent::Do(Box::new(move |act| {
        payments::dispute(act, id)?;
        Ok(Done::new(to.clone(), "The charge is disputed."))
    })))
}

pub(crate) fn show_resolve(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    let ways = [
        ("won", "The money stays: the charge is paid"),
        ("lost", "The bank took the money back: it is owed again"),
    ];
    Ask::new(&asking.frame, form, "Resolve the dispute", back)
        .fields([Field::choice("outcome", "How it ended", ways)])
        .button("Resolve")
        .page()
}

pub(crate) fn send_resolve(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let id = payment.id;
    let is_won = match form.get("outcome") {
        "won" => true,
        "lost" => false,
        _ => return Err(Problem::of("outcome", "Choose how it ended.").into()),
    };
    Ok(Sent::Do(Box::new(move |act| {
        let said = match is_won {
            true => {
                payments::win_dispute(act, id)?;
                "The money stays; the charge is paid."
            }
            false => {
                payments::lose_dispute(act, id, &[])?;
                "The money was returned; the charge is owed again."
            }
        };
        Ok(Done::new(to.clone(), said))
    })))
}

/// What every refund asks for.
pub(super) fn refund_fields(currency: &str, amount: String, today: String) -> [Field; 3] {
    [
        Field::text("amount", "Amount")
            .hint(format!("In {currency}."))
            .value(amount),
        Field::method("Refund method"),
        Field::date("date", "Day")
            .hint("The day the money was sent.")
            .value(today),
    ]
}

pub(super) fn read_refund(asking: &Asking, form: &Form) -> Result<Refund, Failure> {
    Ok(Refund {
        amount: form.required_amount(
            "amount",
            asking.frame.place.organization.currency,
            "Enter the amount to refund.",
        )?,
        date: form.date("date")?,
        method: Method::parse(form.get("method")),
        account: None,
    })
}

pub(crate) fn show_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (payment, back) = of(view, asking)?;
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let instead = instead_of_charge(view, &asking.frame, payment.id)?;
    Ask::new(&asking.frame, form, "Refund", back)
        .instead(instead)
        .lead(format!(
            "{} was paid. Refunding all of it cancels the charge. Send the money yourself; this only records it.",
            words::money_in(payment.paid_to_date)
        ))
        .fields(refund_fields(
            &asking.frame.currency(),
            payment.paid_to_date.to_string(),
            today.to_string(),
        ))
        .button("Record the refund")
        .dangerous()
        .page()
}

pub(crate) fn send_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let (id, refund) = (payment.id, read_refund(asking, form)?);
    Ok(Sent::Do(Box::new(move |act| {
        let payment = payments::refund(act, id, &refund)?;
        let said = format!(
            "Refunded. The charge is {} now.",
            words::label(payment.status.as_str()).to_lowercase()
        );
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_reverse(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    asking.id::<kind::Entry>(1)?;
    let ways = [
        ("returned", "The money was returned"),
        ("mistake", "It was recorded by mistake"),
    ];
    Ask::new(&asking.frame, form, "Reverse the payment", back)
        .lead("What it paid is owed again. The entry and its reversal stay in the books.")
        .fields([
            Field::choice("how", "What happened", ways),
            Field::text("reason", "Reason").hint("Optional."),
        ])
        .button("Reverse it")
        .dangerous()
        .page()
}

pub(crate) fn send_reverse(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (payment, (to, _)) = of(view, asking)?;
    let (id, entry) = (payment.id, asking.id::<kind::Entry>(1)?);
    let (why, is_mistake) = (form.some("reason"), form.get("how") == "mistake");
    Ok(Sent::Do(Box::new(move |act| {
        payments::reverse(act, id, entry, why.as_deref(), is_mistake)?;
        Ok(Done::new(to.clone(), "Reversed the payment."))
    })))
}
