//! Charges: what members and chapters owe, and what officers do to it.

mod plan;
mod raise;

use bursar_db::{journal, organizations};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::{EntryId, PaymentId};
use bursar_domain::journal::{About, Entry, EntryKind, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::{Method, Receipt, ReceiptStatus};
use bursar_domain::text::NOTE;
use bursar_domain::{Date, Refusal, words};

use crate::act::{Act, View};
use crate::books::promised::Promised;
use crate::books::receipts::{self, NewReceipt};
use crate::books::refunds::{self, Paid, Refund};
use crate::books::{Closed, NewEntry, charges, open, post, reason, settle};
use crate::error::AppError;
use crate::rule::Rule;

pub use plan::{Every, NewPlan, plan};
pub use raise::{Charges, Debtor, NewCharges, RAISE_MAX, preview, raise};

pub const RAISE: Rule = Rule::of("payments.raise", Role::Editor, "raise charges");
pub const RECORD: Rule = Rule::of("payment.record", Role::Editor, "record payments");
pub const REVERSE: Rule = Rule::of("payment.reverse", Role::Editor, "reverse payments");
pub const CHANGE: Rule = Rule::of("payment.change", Role::Editor, "change payments");
pub const REFUND: Rule = Rule::of("payment.refund", Role::Editor, "refund payments").guarded();
pub const SHOW: Rule = Rule::of("payment.show", Role::Viewer, "read payments");

pub const RULES: &[&Rule] = &[&RAISE, &RECORD, &REVERSE, &CHANGE, &REFUND, &SHOW];

/// Money received for one payment.
#[derive(Clone, Debug)]
pub struct Received {
    /// Text in the payment's currency.
    pub amount: String,
    pub method: Method,
    /// Today if left out.
    pub received_on: Option<Date>,
    /// The payer's or the bank's own reference.
    pub reference: Option<String>,
    /// Record it although the same was recorded before with this reference.
    pub again: bool,
}

/// Records a receipt for this payment alone, at most what is open.
pub fn record(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    received: &Received,
) -> Result<(Payment, EntryId), AppError> {
    act.allow(&RECORD)?;
    let payment: Payment = act.find(id)?;
    let amount =
        Money::parse(&received.amount, payment.amount.currency).map_err(Refusal::of_field("amount"))?;
    // Refuses what the payment cannot take.
    payment.clone().receive(amount.minor, act.now())?;
    let new = NewReceipt {
        amount: received.amount.clone(),
        method: received.method,
        date: received.received_on,
        account: None,
        payer: None,
        payer_name: match (payment.member_id, payment.target_organization_id) {
            (None, Some(chapter)) => organizations::get(act.tx, chapter)?.map(|chapter| chapter.name),
            _ => None,
        },
        reference: received.reference.clone(),
        payments: vec![id],
        campaign: None,
        income: None,
        // Equal parts in cash on one day are no mistake.
        again: received.again || received.reference.is_none(),
    };
    let recorded = receipts::record(act, &new)?;
    Ok((act.find(id)?, recorded.receipt.entry))
}

/// Takes back an entry that settled the payment: the bank took the money back, or it was a mistake. The entry itself
/// stays.
pub fn reverse(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    entry: EntryId,
    why: Option<&str>,
    is_mistake: bool,
) -> Result<Payment, AppError> {
    act.allow(&REVERSE)?;
    let _: Payment = act.find(id)?;
    let entries = journal::of_payment(act.tx, act.organization, id)?;
    let original = standing(&entries, id, entry)?.clone();
    let books = open(act)?;
    match original.receipt {
        Some(receipt) if is_mistake => drop(receipts::reverse(act, receipt, why)?),
        Some(receipt) => drop(receipts::bounce(act, receipt, None, why)?),
        None if is_mistake || original.kind == EntryKind::CreditApplied => {
            receipts::unrecord(act, &books, &original, reason(why)?)?;
        }
        None => receipts::bounce_entry(act, &books, &original, (books.entry_day()?, reason(why)?))?,
    }
    act.log(REVERSE.name, Some(id.to_string()), None)?;
    act.find(id)
}

/// An entry that settled a part of the payment and stands.
fn standing(entries: &[Entry], payment: PaymentId, id: EntryId) -> Result<&Entry, Refusal> {
    let found = entries.iter().find(|entry| entry.id == id);
    let found = found.ok_or_else(|| Refusal::missing(format!("the payment has no journal entry {id}")))?;
    if found.reverses.is_some() || entries.iter().any(|other| other.reverses == Some(id)) {
        let message = format!("journal entry {id} is a reversal or was reversed before");
        return Err(Refusal::conflict(message));
    }
    match found.kind {
        EntryKind::Receipt | EntryKind::CreditApplied | EntryKind::Opening if found.owed_for(payment) < 0 => {
            Ok(found)
        }
        kind => Err(Refusal::conflict(format!(
            "journal entry {id} ({kind}) brought no money; name the entry of a receipt"
        ))),
    }
}

words! {
    /// Why an amount changes.
    Adjustment {
        /// Less, as a favour.
        Discount "discount",
        /// Less, because it is not asked for.
        Waiver "waiver",
        /// It was wrong.
        Correction "correction",
    }
}

/// A full waiver of a charge that nobody paid cancels it.
pub fn adjust(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    amount: &str,
    kind: Adjustment,
    why: &str,
) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let mut payment: Payment = act.find(id)?;
    let new = Money::parse(amount, payment.amount.currency).map_err(Refusal::of_field("amount"))?;
    let why = reason(Some(why))?.ok_or_else(|| Refusal::invalid("reason", "is required"))?;
    let (before, paid) = (payment.amount, payment.paid_to_date.minor);
    let down = before.minor - new.minor;
    if kind != Adjustment::Correction && down <= 0 {
        let rule = format!("must be below {before} for a {kind}, got {new}; a correction can raise it");
        return Err(Refusal::invalid("amount", rule).into());
    }
    let entry_kind = match kind {
        Adjustment::Discount => EntryKind::Discount,
        Adjustment::Waiver => EntryKind::Waiver,
        Adjustment::Correction => EntryKind::Correction,
    };
    if new.minor == 0 && paid == 0 && kind != Adjustment::Correction {
        charges::cancel(act, &books, &mut payment, (EntryKind::Waiver, Some(why)))?;
        act.log("payment.adjust", Some(id.to_string()), None)?;
        return Ok(payment);
    }
    if down == 0 {
        return Ok(payment);
    }
    let at = charges::paid_at(act, &books, &payment, None)?;
    payment.adjust(new.minor, at)?;
    let (against, date) = match kind {
        Adjustment::Discount | Adjustment::Waiver => (Standing::Discounts.id(), books.entry_day()?),
        Adjustment::Correction => {
            let charged = charges::date_of(act, &books, &payment)?;
            let date = books.date("date", charged, Closed::UseToday)?;
            (payment.income_account(), date)
        }
    };
    let postings = Postings::paired(against, Standing::Receivable, payment.about(), down);
    post(act, NewEntry::of(entry_kind, date, postings).memo(Some(why)))?;
    settle(act, &mut payment)?;
    act.log("payment.adjust", Some(id.to_string()), None)?;
    Ok(payment)
}

#[derive(Clone, Debug, Default)]
pub struct PaymentChange {
    /// `Some(None)` removes it.
    pub due_date: Option<Option<Date>>,
    pub description: Option<String>,
}

/// A new due day leaves which dues it is.
pub fn set(act: &mut Act<'_, '_>, id: PaymentId, change: &PaymentChange) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let before: Payment = act.find(id)?;
    if !before.status.is_owed() {
        let message = format!(
            "the payment is {}; only a pending, partially paid or failed one can be changed",
            before.status
        );
        return Err(Refusal::conflict(message).into());
    }
    let mut payment = before.clone();
    if let Some(due) = change.due_date {
        payment.due_date = due;
    }
    if let Some(text) = &change.description {
        payment.description = NOTE.check(text).map_err(Refusal::of_field("description"))?;
    }
    if payment == before {
        return Ok(before);
    }
    act.update(&mut payment)?;
    let books = open(act)?;
    charges::follow_due_date(act, &books, &payment)?;
    act.log("payment.set", Some(id.to_string()), None)?;
    Ok(payment)
}

/// Cancels what is open; what was received stays. A write-off says that it will not come.
pub fn cancel(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    is_write_off: bool,
    why: Option<&str>,
) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let mut payment: Payment = act.find(id)?;
    let kind = match is_write_off {
        true => EntryKind::WriteOff,
        false => EntryKind::Cancel,
    };
    charges::cancel(act, &books, &mut payment, (kind, reason(why)?))?;
    act.log("payment.cancelled", Some(id.to_string()), None)?;
    Ok(payment)
}

/// Pays money back. All of it cancels the payment.
pub fn refund(act: &mut Act<'_, '_>, id: PaymentId, refund: &Refund) -> Result<Payment, AppError> {
    act.allow(&REFUND)?;
    let books = open(act)?;
    let payment: Payment = act.find(id)?;
    let amount = books.amount("amount", &refund.amount)?;
    let entries = journal::of_payment(act.tx, act.organization, id)?;
    let came = entries.iter().filter(|entry| entry.kind == EntryKind::Receipt);
    // It goes back the way it came.
    let method = match came.clone().next_back().and_then(|entry| entry.receipt) {
        Some(receipt) => receipts::find(act, receipt)?.method,
        None => Method::Transfer,
    };
    let paid = Paid::read(act, &books, refund, method)?;
    for receipt in came.clone().filter_map(|entry| entry.receipt) {
        paid.refuse_online(act, receipt)?;
    }
    if let Some(first) = came.map(|entry| entry.date).min() {
        paid.check_after(first)?;
    }
    let promised = Promised::read(act)?;
    let payment = refunds::refund_payment(act, &books, payment, (amount, &paid))?;
    promised.keep(act, &books)?;
    act.log(REFUND.name, Some(id.to_string()), None)?;
    Ok(payment)
}

/// The bank withdraws the money while the payer objects.
pub fn dispute(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let (mut payment, books) = (act.find::<Payment>(id)?, open(act)?);
    refuse_at_provider(act, id)?;
    payment.dispute(act.now())?;
    let postings = Postings::pair(
        Standing::Disputes,
        payment.about(),
        Standing::Clearing,
        payment.paid_to_date.minor,
    );
    post(
        act,
        NewEntry::of(EntryKind::Dispute, books.entry_day()?, postings),
    )?;
    disputed(act, payment)
}

/// The payment is paid again.
pub fn win_dispute(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let (mut payment, books) = (act.find::<Payment>(id)?, open(act)?);
    refuse_at_provider(act, id)?;
    let at = charges::paid_at(act, &books, &payment, None)?;
    payment.win_dispute(at)?;
    let postings = won(&payment, payment.paid_to_date.minor);
    post(
        act,
        NewEntry::of(EntryKind::DisputeWon, books.entry_day()?, postings),
    )?;
    disputed(act, payment)
}

/// What the payment provider says about its dispute is booked when it says it.
fn refuse_at_provider(act: &mut Act<'_, '_>, id: PaymentId) -> Result<(), AppError> {
    match charges::in_dispute(act, id)?.by_provider {
        0 => Ok(()),
        _ => {
            let message = "the dispute is at the payment provider; respond there, and the outcome is booked automatically";
            Err(Refusal::conflict(message).into())
        }
    }
}

fn won(payment: &Payment, minor: i64) -> Postings {
    Postings::default()
        .debit(Standing::Clearing, minor, About::default())
        .credit(Standing::Disputes, minor, payment.about())
}

/// The payment fails, and what the bank took back is owed again: the entries named, or all of it.
pub fn lose_dispute(act: &mut Act<'_, '_>, id: PaymentId, named: &[EntryId]) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let (mut payment, books) = (act.find::<Payment>(id)?, open(act)?);
    refuse_at_provider(act, id)?;
    let day = books.entry_day()?;
    let entries = journal::of_payment(act.tx, act.organization, id)?;
    for entry in named {
        standing(&entries, id, *entry)?;
    }
    let is_taken = |entry: &&Entry| match named {
        [] => standing(&entries, id, entry.id).is_ok(),
        _ => named.contains(&entry.id),
    };
    // What was refunded is not there to be lost: the latest money goes first.
    let mut left = payment.paid_to_date.minor;
    let mut lost: Vec<(&Entry, i64)> = Vec::new();
    for entry in entries.iter().rev().filter(is_taken) {
        let part = left.min(-entry.owed_for(id));
        if part > 0 {
            left -= part;
            lost.push((entry, part));
        }
    }
    payment.lose_dispute(payment.paid_to_date.minor - left, act.now())?;
    let about = payment.about();
    for (entry, part) in lost {
        let postings = Postings::default()
            .debit(Standing::Receivable, part, about)
            .credit(Standing::Disputes, part, about);
        let mut lost = NewEntry::of(EntryKind::DisputeLost, day, postings);
        lost.reverses = Some(entry.id);
        post(act, lost)?;
        bounce_lost(act, entry)?;
    }
    let rest = won(&payment, left);
    if !rest.is_empty() {
        post(act, NewEntry::of(EntryKind::DisputeWon, day, rest))?;
    }
    disputed(act, payment)
}

/// A receipt of which a bank took all the money back has bounced, as in a dispute at the payment provider.
fn bounce_lost(act: &mut Act<'_, '_>, entry: &Entry) -> Result<(), AppError> {
    let Some(receipt) = entry.receipt else {
        return Ok(());
    };
    let receipt = receipts::find(act, receipt)?;
    let mut lost = 0;
    for payment in entry.postings.iter().filter_map(|posting| posting.about.payment) {
        let entries = journal::of_payment(act.tx, act.organization, payment)?;
        let of_receipt = entries
            .iter()
            .filter(|other| other.kind == EntryKind::DisputeLost && other.reverses == Some(entry.id));
        lost += of_receipt.map(|other| other.owed_for(payment)).sum::<i64>();
    }
    if lost == receipt.amount {
        let bounced = Receipt {
            status: ReceiptStatus::Bounced,
            ..receipt
        };
        bursar_db::receipts::update(act.tx, act.organization, &bounced)?;
    }
    Ok(())
}

fn disputed(act: &mut Act<'_, '_>, mut payment: Payment) -> Result<Payment, AppError> {
    settle(act, &mut payment)?;
    act.log(
        &format!("payment.{}", payment.status),
        Some(payment.id.to_string()),
        None,
    )?;
    Ok(payment)
}

/// A payment with its entries, and the names of what it refers to.
#[derive(Clone, Debug)]
pub struct Shown {
    pub payment: Payment,
    pub debtor: Option<String>,
    pub entries: Vec<Entry>,
}

pub fn show(view: &mut View<'_, '_>, id: PaymentId) -> Result<Shown, AppError> {
    view.allow(&SHOW)?;
    let payment: Payment = view.find(id)?;
    let debtor = match (payment.member_id, payment.target_organization_id) {
        (Some(member), _) => view.get::<Member>(member)?.map(|member| member.name()),
        (None, Some(chapter)) => organizations::get(view.tx, chapter)?.map(|chapter| chapter.name),
        (None, None) => None,
    };
    let entries = journal::of_payment(view.tx, view.organization, id)?;
    Ok(Shown {
        payment,
        debtor,
        entries,
    })
}
