//! Archives a member, with the offer to adjust what is open; restores one.

use bursar_app::members;
use bursar_app::pro_rata::{self, Leaving};
use bursar_app::{View, resources};
use bursar_domain::ids::kind;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::money::Money;

use super::ask::{Ask, Field};
use super::rows::described;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::words;

/// What the form wants the member to be.
const ARCHIVED: &str = "archived";
const RESTORED: &str = "active";

/// What is open, and what would be fair.
pub(super) fn told_leaving(open: &[Leaving]) -> Vec<(String, String)> {
    let row = |leaving: &Leaving| {
        let payment = &leaving.payment;
        let owed = payment.amount.minor - payment.paid_to_date.minor;
        let owed = words::money_in(Money::new(owed, payment.amount.currency));
        let result = match leaving.amount {
            None => format!("{owed} open, stays owed"),
            Some(fair) if fair.minor == 0 => format!("{owed} open, not due yet"),
            Some(fair) => format!("{owed} open, {} for the months used", words::money_in(fair)),
        };
        (described(&payment.description), result)
    };
    open.iter().map(row).collect()
}

/// A box to tick, if anything can be adjusted.
pub(super) fn leaving(open: &[Leaving]) -> Option<Field> {
    let is_adjustable = open.iter().any(|leaving| leaving.amount.is_some());
    let label = "Adjust these charges: the months used, and nothing for what is not due yet";
    is_adjustable.then(|| Field::check("adjust", label).value("yes"))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let name = member.name();
    let back = (frame.at(&format!("members/{}", member.id)), name.clone());
    if !member.is_active {
        return Ask::new(frame, form, format!("Restore {name}?"), back)
            .lead("They are an active member again, in the groups they were in. Frozen cards stay frozen.")
            .fields([Field::hidden("to", RESTORED)])
            .button("Restore")
            .page();
    }
    let open = pro_rata::leaving(view, member.id, None)?;
    Ask::new(frame, form, format!("Archive {name}?"), back)
        .lead(
            "Nobody is deleted: what was charged and paid stays in the books. They are charged no more dues, \
             and their active cards are frozen. You can restore them later.",
        )
        .rows(told_leaving(&open))
        .fields(leaving(&open))
        .fields([Field::hidden("to", ARCHIVED)])
        .button("Archive")
        .dangerous()
        .page()
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let to = asking.frame.at(&format!("members/{}", member.id));
    let is_active = match form.get("to") {
        ARCHIVED => false,
        RESTORED => true,
        _ => return Err(Problem::of("to", "Choose whether to archive or to restore the member.").into()),
    };
    let (id, is_adjusted) = (member.id, form.has("adjust") && !is_active);
    Ok(Sent::Do(Box::new(move |act| {
        let member: Member = resources::one(&mut act.view(), id)?;
        if member.is_active == is_active {
            // Somebody else was faster, or another tab.
            let state = if is_active { "active" } else { "archived" };
            let said = format!("{} is already {state}. Nothing was changed.", member.name());
            return Ok(Done::new(to.clone(), said));
        }
        let changed = match is_adjusted {
            true => pro_rata::adjust(act, id, None)?.len(),
            false => 0,
        };
        let change = MemberChange {
            is_active: Some(is_active),
            ..MemberChange::default()
        };
        let member = members::change(act, id, &change)?;
        let done = if is_active { "Restored" } else { "Archived" };
        let adjusted = match changed {
            0 => String::new(),
            changed => format!(" Adjusted {}.", words::count(changed, "charge", "charges")),
        };
        Ok(Done::new(
            to.clone(),
            format!("{done} {}.{adjusted}", member.name()),
        ))
    })))
}
