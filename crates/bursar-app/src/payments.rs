//! Charges, and the money received for them. The ledger is append-only.

use std::collections::BTreeSet;

use bursar_db::bulk::Subject;
use bursar_db::ledger::{self, Entry};
use bursar_db::{organizations, recipients};
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::{BulkId, EntryId, GroupId, MemberId, OrganizationId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::text::{NOTE, REFERENCE};
use bursar_domain::{Date, Refusal, Resource, Stamps, Timestamp, words};

use crate::act::Act;
use crate::bulk;
use crate::error::AppError;
use crate::rule::Rule;

pub const RAISE: Rule = Rule::of("payments.raise", Role::Editor, "raise charges");
pub const RECORD: Rule = Rule::of("payment.record", Role::Editor, "record payments");
pub const REVERSE: Rule = Rule::of("payment.reverse", Role::Editor, "reverse payments");
pub const CHANGE: Rule = Rule::of("payment.change", Role::Editor, "change payments");

pub const RULES: &[&Rule] = &[&RAISE, &RECORD, &REVERSE, &CHANGE];

words! {
    /// How money came.
    ReceivedBy {
        /// In notes and coins.
        Cash "cash",
        /// By check.
        Check "check",
        /// By bank transfer.
        Transfer "transfer",
        /// By card.
        Card "card",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debtor {
    Member(MemberId),
    /// Every active member of the group.
    Group(GroupId),
    /// A direct child of the organization.
    Chapter(OrganizationId),
}

#[derive(Clone, Debug)]
pub struct NewCharges {
    pub debtor: Debtor,
    /// Per debtor, as text in the organization's currency. If left out, a group's own dues.
    pub amount: Option<String>,
    pub description: String,
    pub due_date: Option<Date>,
}

#[derive(Clone, Debug)]
pub struct Charges {
    /// Undo takes this id. A preview has none.
    pub id: Option<BulkId>,
    pub payments: Vec<Payment>,
    pub total: Money,
}

/// A preview writes nothing.
pub fn raise(act: &mut Act<'_, '_>, new: &NewCharges, is_preview: bool) -> Result<Charges, AppError> {
    act.allow(&RAISE)?;
    let currency = act.own()?.currency;
    let description = NOTE
        .check(&new.description)
        .map_err(|rule| Refusal::invalid("description", rule))?;
    let given = new.amount.as_deref().map(|text| Money::parse(text, currency));
    let given = given
        .transpose()
        .map_err(|rule| Refusal::invalid("amount", rule))?;
    let (debtors, group) = debtors(act, new.debtor)?;
    let amount = given.or(group.as_ref().and_then(|group| group.amount_due));
    let amount = amount
        .filter(|amount| amount.minor > 0)
        .ok_or_else(|| Refusal::invalid("amount", "is required and must be greater than 0"))?;
    let mut payments = Vec::with_capacity(debtors.len());
    for (member_id, target_organization_id) in debtors {
        let id = act.new_id();
        let stamps = Stamps::at(if is_preview { act.now() } else { act.tick() });
        payments.push(Payment {
            member_id,
            group_id: group.as_ref().map(|group| group.id),
            target_organization_id,
            description: description.clone(),
            amount,
            due_date: new.due_date,
            ..Payment::blank(id, currency, stamps)
        });
    }
    let total = payments
        .iter()
        .map(|payment| i128::from(payment.amount.minor))
        .sum();
    let mut charges = Charges {
        id: None,
        total: Money::total("these charges", total, currency)?,
        payments,
    };
    if is_preview {
        return Ok(charges);
    }
    for payment in &charges.payments {
        act.insert(payment)?;
    }
    let subject = |payment: &Payment| Subject {
        id: payment.id.to_bytes(),
        other: None,
        updated_at: payment.stamps.updated_at,
        previous: None,
    };
    let subjects: Vec<Subject> = charges.payments.iter().map(subject).collect();
    charges.id = Some(bulk::note(act, &RAISE, &subjects)?);
    Ok(charges)
}

type Debtors = (Vec<(Option<MemberId>, Option<OrganizationId>)>, Option<Group>);

fn debtors(act: &mut Act<'_, '_>, debtor: Debtor) -> Result<Debtors, AppError> {
    match debtor {
        Debtor::Member(id) => {
            let member: Member = act.find(id)?;
            if !member.is_active {
                return Err(Refusal::conflict(
                    "the member is archived; restore the member to raise a charge",
                )
                .into());
            }
            Ok((vec![(Some(id), None)], None))
        }
        Debtor::Group(id) => {
            let group: Group = act.find(id)?;
            let members = recipients::of_group(act.tx, act.organization, id, None, i64::MAX)?;
            Ok((
                members.iter().map(|member| (Some(member.id), None)).collect(),
                Some(group),
            ))
        }
        Debtor::Chapter(id) => {
            let chapter =
                organizations::get(act.tx, id)?.filter(|chapter| chapter.parent_id == Some(act.organization));
            chapter.ok_or_else(|| Refusal::missing(format!("{id} is not a direct child chapter")))?;
            Ok((vec![(None, Some(id))], None))
        }
    }
}

#[derive(Clone, Debug)]
pub struct Receipt {
    /// Text in the payment's currency.
    pub amount: String,
    pub method: ReceivedBy,
    /// Today if left out.
    pub received_on: Option<Date>,
    /// The payer's or the bank's own reference.
    pub reference: Option<String>,
}

/// Adds a ledger entry and updates the payment.
pub fn record(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    receipt: &Receipt,
) -> Result<(Payment, EntryId), AppError> {
    act.allow(&RECORD)?;
    let mut payment: Payment = act.find(id)?;
    let amount = Money::parse(&receipt.amount, payment.amount.currency)
        .map_err(|rule| Refusal::invalid("amount", rule))?;
    let reference = receipt
        .reference
        .as_deref()
        .map(|text| REFERENCE.check(text))
        .transpose();
    let reference = reference.map_err(|rule| Refusal::invalid("reference", rule))?;
    let today = act.now().date();
    let received_on = receipt.received_on.unwrap_or(today);
    if received_on > today {
        return Err(Refusal::invalid("date", format!("must not be in the future, got {received_on}")).into());
    }
    payment.receive(amount.minor, act.now())?;
    let entry = Entry {
        payment: id,
        id: act.new_id(),
        at: act.now(),
        amount: amount.minor,
        method: receipt.method.as_str().to_owned(),
        reference,
        received_on: Some(received_on),
        reverses: None,
    };
    let entry_id = entry.id;
    enter(act, &mut payment, &[entry], RECORD.name)?;
    Ok((payment, entry_id))
}

/// Adds a counter-entry; the entry itself stays.
pub fn reverse(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    entry: EntryId,
    reason: Option<&str>,
) -> Result<Payment, AppError> {
    act.allow(&REVERSE)?;
    let mut payment: Payment = act.find(id)?;
    let reason = reason.map(|text| REFERENCE.check(text)).transpose();
    let reason = reason.map_err(|rule| Refusal::invalid("reason", rule))?;
    let entries = ledger::of_payment(act.tx, act.organization, id)?;
    let original = standing(&entries, entry)?;
    payment.take_back(original.amount, act.now())?;
    let counter = counter_entry(act, original, reason);
    enter(act, &mut payment, &[counter], REVERSE.name)?;
    Ok(payment)
}

/// An entry that is neither a reversal nor reversed.
fn standing(entries: &[Entry], id: EntryId) -> Result<&Entry, Refusal> {
    let found = entries.iter().find(|entry| entry.id == id);
    let found = found.ok_or_else(|| Refusal::missing(format!("the payment has no ledger entry {id}")))?;
    if found.reverses.is_some() || entries.iter().any(|other| other.reverses == Some(id)) {
        let message = format!("ledger entry {id} is a reversal or was reversed before");
        return Err(Refusal::conflict(message));
    }
    Ok(found)
}

fn counter_entry(act: &mut Act<'_, '_>, original: &Entry, reason: Option<String>) -> Entry {
    Entry {
        payment: original.payment,
        id: act.new_id(),
        at: act.now(),
        amount: -original.amount,
        method: original.method.clone(),
        reference: reason,
        received_on: Some(act.now().date()),
        reverses: Some(original.id),
    }
}

/// Writes the entries, the payment and its activity line. The ledger must add up to `paidToDate` first.
fn enter(
    act: &mut Act<'_, '_>,
    payment: &mut Payment,
    entries: &[Entry],
    action: &str,
) -> Result<(), AppError> {
    for entry in entries {
        ledger::add(act.tx, act.organization, entry)?;
    }
    let sum = ledger::sum(act.tx, act.organization, payment.id)?;
    if sum != i128::from(payment.paid_to_date.minor) {
        let message = format!(
            "the ledger of {} sums up to {sum}, not to {}",
            payment.id, payment.paid_to_date.minor
        );
        return Err(bursar_db::DbError::Internal(message).into());
    }
    act.update(payment)?;
    act.log(action, Some(payment.id.to_string()), None)
}

/// What was received stays in the ledger.
pub fn cancel(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    change(act, id, Payment::cancel)
}

pub fn dispute(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    change(act, id, Payment::dispute)
}

/// The payment is paid again.
pub fn win_dispute(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    change(act, id, Payment::win_dispute)
}

fn change(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    deed: fn(&mut Payment, Timestamp) -> Result<(), Refusal>,
) -> Result<Payment, AppError> {
    let mut payment: Payment = act.find(id)?;
    deed(&mut payment, act.now())?;
    act.update(&mut payment)?;
    act.log(&format!("payment.{}", payment.status), Some(id.to_string()), None)?;
    Ok(payment)
}

/// The payment fails, and the entries that the bank took back are reversed: those named, or all that stand.
pub fn lose_dispute(act: &mut Act<'_, '_>, id: PaymentId, named: &[EntryId]) -> Result<Payment, AppError> {
    act.allow(&CHANGE)?;
    let mut payment: Payment = act.find(id)?;
    let entries = ledger::of_payment(act.tx, act.organization, id)?;
    let taken: Vec<&Entry> = match named {
        [] => entries
            .iter()
            .filter(|entry| standing(&entries, entry.id).is_ok())
            .collect(),
        _ => {
            let named: BTreeSet<EntryId> = named.iter().copied().collect();
            named
                .into_iter()
                .map(|id| standing(&entries, id))
                .collect::<Result<_, _>>()?
        }
    };
    payment.lose_dispute(taken.iter().map(|entry| entry.amount).sum(), act.now())?;
    let reason = Some("dispute lost".to_owned());
    let counters: Vec<Entry> = taken
        .iter()
        .map(|entry| counter_entry(act, entry, reason.clone()))
        .collect();
    enter(act, &mut payment, &counters, "payment.failed")?;
    Ok(payment)
}
