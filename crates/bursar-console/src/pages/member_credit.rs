//! What a member paid in advance: used for open charges, or paid back.

use bursar_app::books::credit;
use bursar_app::desk;
use bursar_app::{View, resources};
use bursar_domain::ids::kind;
use bursar_domain::member::Member;
use bursar_domain::money::Money;

use super::ask::Ask;
use super::charge_end::{read_refund, refund_fields};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::words;

fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Member, (String, String)), Failure> {
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let to = asking.frame.at(&format!("members/{}", member.id));
    let name = member.name();
    Ok((member, (to, name)))
}

pub(crate) fn show_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (member, back) = of(view, asking)?;
    let currency = asking.frame.place.organization.currency;
    let balance = desk::balances(view, &[member.id])?.get(&member.id).copied();
    let credit = balance.map_or(0, |balance| balance.minor.saturating_neg().max(0));
    let today = asking.frame.place.organization.time_zone.date(view.now());
    Ask::new(
        &asking.frame,
        form,
        format!("Refund credit of {}", member.name()),
        back,
    )
    .lead("Send the money yourself; this only records it.")
    .fields(refund_fields(
        &asking.frame.currency(),
        Money::new(credit, currency).to_string(),
        today.to_string(),
    ))
    .button("Record the refund")
    .dangerous()
    .page()
}

pub(crate) fn send_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (member, (to, _)) = of(view, asking)?;
    let (id, refund) = (member.id, read_refund(asking, form)?);
    Ok(Sent::Do(Box::new(move |act| {
        let (_, left) = credit::refund(act, id, &refund)?;
        let said = format!(
            "Recorded the refund. {} of credit are left.",
            words::money_in(left)
        );
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_apply(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (member, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, format!("Use the credit of {}", member.name()), back)
        .lead("What was paid in advance pays the open charges of the member and of those they pay for, oldest first.")
        .button("Use the credit")
        .page()
}

pub(crate) fn send_apply(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (member, (to, _)) = of(view, asking)?;
    let id = member.id;
    Ok(Sent::Do(Box::new(move |act| {
        let applied = credit::apply(act, id)?;
        let said = format!(
            "Used credit for {}.",
            words::count(applied.len(), "charge", "charges")
        );
        Ok(Done::new(to.clone(), said))
    })))
}
