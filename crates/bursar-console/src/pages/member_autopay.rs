//! The card that a member's dues are charged to, and the end of it.

use bursar_app::View;
use bursar_app::online::autopay;
use bursar_domain::Refusal;
use bursar_domain::ids::kind;

use super::ask::Ask;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::words;

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (frame, id) = (&asking.frame, asking.id::<kind::Member>(0)?);
    let none = || Refusal::missing("the member has saved no card");
    let saved = autopay::of_member(view, id)?.ok_or_else(none)?;
    let name = saved.member_name;
    let back = (frame.at(&format!("members/{id}")), name.clone());
    let card = saved.card.unwrap_or_default();
    let next = match saved.planned.first() {
        Some(next) => format!(
            " The next charge is {} on {}.",
            words::money_in(next.amount),
            words::day(next.on)
        ),
        None => String::new(),
    };
    Ask::new(frame, form, format!("Automatic payments of {name}"), back)
        .lead(format!(
            "Dues of {name} and their household are charged to {card} on the day they are due.{next} If you stop this, Stripe \
             forgets the card and {name} gets a mail. Only {name} can start it again."
        ))
        .button("Stop automatic payments")
        .dangerous()
        .page()
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Member>(0)?;
    let to = asking.frame.at(&format!("members/{id}"));
    Ok(Sent::Do(Box::new(move |act| {
        let stopped = autopay::stop(act, Some(id))?;
        let said = format!("Stopped the automatic payments of {}.", stopped.member_name);
        Ok(Done::new(to.clone(), said))
    })))
}
