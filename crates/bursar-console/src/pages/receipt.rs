//! A receipt: what it paid, and how it is taken back.

use askama::Template;
use bursar_app::books::entries;
use bursar_app::books::receipts::{self, CHANGE, Recorded};
use bursar_app::books::refunds;
use bursar_app::{View, names, resources};
use bursar_domain::ids::kind;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::ReceiptStatus;

use super::ask::{Ask, Field};
use super::charge_end::{read_refund, refund_fields};
use super::online::refund;
use super::rows::{self, EntryRow};
use super::who;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "receipt.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: String,
    title: String,
    state: String,
    status: &'static str,
    may_change: bool,
    amount: String,
    credit: String,
    day: String,
    how: String,
    /// The id, for a link.
    payer: String,
    who: String,
    reference: String,
    /// The id of the card payment that brought it; empty if none did.
    online: String,
    counts_for: String,
    /// Address, name, amount.
    paid: Vec<(String, String, String)>,
    entries: Vec<EntryRow>,
}

fn payer(view: &mut View<'_, '_>, recorded: &Recorded) -> Result<String, Failure> {
    let receipt = &recorded.receipt;
    let named = names::of(view, receipt.payer.as_slice())?;
    Ok(match (receipt.payer, &receipt.payer_name) {
        (Some(member), _) => named.told(Some(member)),
        (None, Some(name)) => name.clone(),
        (None, None) => "somebody".to_owned(),
    })
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let recorded = receipts::show(view, asking.id::<kind::Receipt>(0)?)?;
    let who = payer(view, &recorded)?;
    let mut paid = Vec::new();
    for part in &recorded.allocations {
        let charge: Payment = resources::one(view, part.payment_id)?;
        paid.push((
            frame.at(&format!("charges/{}", charge.id)),
            rows::described(&charge.description),
            words::money(part.amount),
        ));
    }
    let (accounts, currency) = entries::accounts(view)?;
    let online = refund::of_receipt(view, &recorded)?;
    let receipt = &recorded.receipt;
    let page = Page {
        frame,
        id: receipt.id.to_string(),
        title: format!("{} from {who}", words::money_in(recorded.amount)),
        state: words::label(receipt.status.as_str()),
        status: receipt.status.as_str(),
        may_change: frame.may(&CHANGE) && receipt.status == ReceiptStatus::Recorded,
        amount: words::money_in(recorded.amount),
        credit: match recorded.credit.minor {
            0 => String::new(),
            _ => words::money(recorded.credit),
        },
        day: words::day(receipt.date),
        how: format!(
            "{} in {}",
            words::label(receipt.method.as_str()),
            words::label(&recorded.account.name).to_lowercase()
        ),
        payer: receipt.payer.map(|id| id.to_string()).unwrap_or_default(),
        who,
        reference: receipt.reference.clone().unwrap_or_else(|| "\u{2013}".to_owned()),
        online: online.map(|id| id.to_string()).unwrap_or_default(),
        counts_for: recorded.counts_for.clone().unwrap_or_default(),
        paid,
        entries: rows::entries(&recorded.entries, &accounts, currency),
    };
    Ok(page.render()?)
}

fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Recorded, (String, String)), Failure> {
    let recorded = receipts::show(view, asking.id::<kind::Receipt>(0)?)?;
    let to = asking.frame.at(&format!("money/{}", recorded.receipt.id));
    let name = format!(
        "{} from {}",
        words::money_in(recorded.amount),
        payer(view, &recorded)?
    );
    Ok((recorded, (to, name)))
}

pub(crate) fn show_reverse(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    let ways = [
        (
            "returned",
            "The bank took the money back, such as a bounced cheque",
        ),
        ("mistake", "It was recorded by mistake"),
    ];
    Ask::new(&asking.frame, form, "Reverse the receipt", back)
        .lead("What it paid is owed again. The entries and their reversals stay in the books.")
        .fields([
            Field::choice("how", "What happened", ways),
            Field::date("date", "Day").hint("The day the bank took it. Leave it empty for today."),
            Field::text("reason", "Reason").hint("Optional."),
        ])
        .button("Reverse it")
        .dangerous()
        .page()
}

pub(crate) fn send_reverse(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (recorded, (to, _)) = of(view, asking)?;
    let (id, date, why) = (recorded.receipt.id, form.date("date")?, form.some("reason"));
    let is_mistake = form.get("how") == "mistake";
    Ok(Sent::Do(Box::new(move |act| {
        match is_mistake {
            true => receipts::reverse(act, id, why.as_deref())?,
            false => receipts::bounce(act, id, date, why.as_deref())?,
        };
        Ok(Done::new(to.clone(), "Reversed the receipt."))
    })))
}

/// Right after it was recorded.
pub(crate) fn show_undo(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, format!("Undo {}?", back.1), back)
        .lead("It was recorded by mistake, and no money was received. What it paid is owed again. The entries and their reversals stay in the books.")
        .button("Undo it")
        .dangerous()
        .page()
}

pub(crate) fn send_undo(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (recorded, (_, name)) = of(view, asking)?;
    let (id, to) = (recorded.receipt.id, asking.frame.at("money"));
    Ok(Sent::Do(Box::new(move |act| {
        receipts::reverse(act, id, None)?;
        Ok(Done::new(to.clone(), format!("Undid {name}.")))
    })))
}

pub(crate) fn show_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (recorded, back) = of(view, asking)?;
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let online = refund::of_receipt(view, &recorded)?;
    Ask::new(&asking.frame, form, "Refund", back)
        .instead(online.map(|id| refund::instead(&asking.frame, id)))
        .lead("Credit is refunded first, then the charges that it paid, newest first. Send the money yourself; this only records it.")
        .fields(refund_fields(
            &asking.frame.currency(),
            recorded.amount.to_string(),
            today.to_string(),
        ))
        .button("Record the refund")
        .dangerous()
        .page()
}

pub(crate) fn send_refund(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (recorded, (to, _)) = of(view, asking)?;
    let (id, refund) = (recorded.receipt.id, read_refund(asking, form)?);
    Ok(Sent::Do(Box::new(move |act| {
        refunds::refund(act, id, &refund)?;
        Ok(Done::new(to.clone(), "Recorded the refund."))
    })))
}

pub(crate) fn show_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, "Move to another member", back)
        .lead("The money is from another member. It pays what they owe instead, and what it paid here is owed again.")
        .fields([Field::member("member", "Whose money it is").hint("Name or e-mail address")])
        .button("Move it")
        .page()
}

pub(crate) fn send_move(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (recorded, (to, _)) = of(view, asking)?;
    let member = who::required(view, form, "member", "Enter whose money it is.")?;
    let id = recorded.receipt.id;
    Ok(Sent::Do(Box::new(move |act| {
        let moved = receipts::move_to(act, id, member)?;
        let at = to.rsplit_once('/').map_or("", |(start, _)| start);
        Ok(Done::new(
            format!("{at}/{}", moved.receipt.id),
            "Moved the receipt.",
        ))
    })))
}
