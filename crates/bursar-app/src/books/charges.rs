//! Charges: raised, changed, cancelled, and settled with what members paid in advance.

use std::collections::HashMap;

use bursar_db::{DbError, Tx, journal, late_fees, open_charges};
use bursar_domain::account::Standing;
use bursar_domain::catch_up::charge_date;
use bursar_domain::ids::{MemberId, OrganizationId, PaymentId};
use bursar_domain::journal::{About, Entry, EntryKind, Postings};
use bursar_domain::member::Member;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Date, Refusal, Timestamp};

use super::{Books, Closed, NewEntry, post, promised, reverse};
use crate::act::Act;
use crate::error::AppError;

/// What members paid in advance, read once for many charges.
#[derive(Debug, Default)]
pub(crate) struct Credits(HashMap<MemberId, i64>);

impl Credits {
    /// Nothing where the organization does not apply credit by itself.
    pub(crate) fn read(act: &mut Act<'_, '_>, books: &Books) -> Result<Self, AppError> {
        if !books.organization.auto_credit {
            return Ok(Self::default());
        }
        let credits = journal::credits(act.tx, act.organization)?;
        let unpromised = promised::credit(act)?;
        let of_members = credits.into_iter().filter_map(|(member, amount)| {
            let (member, amount) = (member?, i64::try_from(amount).ok()?);
            let amount = unpromised.get(&member).copied().unwrap_or(amount);
            (amount > 0).then_some((member, amount))
        });
        Ok(Self(of_members.collect()))
    }

    /// The payer of a member with credit, and how much of it can be used.
    fn of(
        &mut self,
        act: &mut Act<'_, '_>,
        member: MemberId,
    ) -> Result<Option<(MemberId, &mut i64)>, AppError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let payer = payer_of(act, member)?;
        Ok(self.0.get_mut(&payer).map(|credit| (payer, credit)))
    }
}

/// Who pays for a member: themselves, unless they have a payer.
pub(crate) fn payer_of<M>(act: &mut Act<'_, '_, M>, member: MemberId) -> Result<MemberId, AppError> {
    let found: Option<Member> = act.get(member)?;
    Ok(found.and_then(|member| member.payer_id).unwrap_or(member))
}

/// Posts a new charge and writes the payment. The payer's credit is applied to it next: what that makes of the payment is
/// a state of its own.
pub(crate) fn raise(
    act: &mut Act<'_, '_>,
    books: &Books,
    credits: &mut Credits,
    payment: &mut Payment,
    closed: Closed,
) -> Result<(), AppError> {
    payment.reference = Some(act.next_reference());
    follow_due_date(act, books, payment)?;
    let date = books.date("due", charge_date(payment.due_date, books.today), closed)?;
    let (about, amount) = (payment.about(), payment.amount.minor);
    let postings = Postings::pair(Standing::Receivable, about, payment.income_account(), amount);
    post(act, NewEntry::of(EntryKind::Charge, date, postings))?;
    act.insert(payment)?;
    if let Some(member) = payment.member_id
        && let Some((payer, credit)) = credits.of(act, member)?
    {
        let part = (*credit).min(amount);
        if part > 0 {
            *credit -= part;
            let now = act.now();
            apply_credit(act, books, payment, (payer, part))?;
            payment.receive(part, now)?;
            act.update(payment)?;
        }
    }
    Ok(())
}

/// A charge whose due day is over may be late at once, so its group is looked at again today.
pub(crate) fn follow_due_date(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
) -> Result<(), AppError> {
    if let (Some(group), Some(due), None) = (payment.group_id, payment.due_date, payment.fee_of)
        && due < books.today
    {
        late_fees::look_again(act.tx, act.organization, group, books.today)?;
    }
    Ok(())
}

/// Posts credit of a member against a charge.
pub(super) fn apply_credit(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
    (payer, part): (MemberId, i64),
) -> Result<Entry, AppError> {
    let of_payer = About {
        member: Some(payer),
        ..About::default()
    };
    let postings = Postings::default()
        .debit(Standing::Credit, part, of_payer)
        .credit(Standing::Receivable, part, payment.about());
    post(
        act,
        NewEntry::of(EntryKind::CreditApplied, books.entry_day()?, postings),
    )
}

/// The entry that raised a payment.
fn charge_entry(act: &mut Act<'_, '_>, id: PaymentId) -> Result<Option<Entry>, AppError> {
    let entries = journal::of_payment(act.tx, act.organization, id)?;
    Ok(entries.into_iter().find(|entry| entry.kind == EntryKind::Charge))
}

/// The day a charge counts, for what corrects it.
pub(crate) fn date_of(act: &mut Act<'_, '_>, books: &Books, payment: &Payment) -> Result<Date, AppError> {
    let charge = charge_entry(act, payment.id)?;
    let raised = books.organization.time_zone.date(payment.stamps.created_at);
    Ok(charge.map_or(charge_date(payment.due_date, raised), |entry| entry.date))
}

/// When to cancel what money that went on this day left open of a charge: on the same day, but not before the charge itself
/// counts.
pub(crate) fn day_to_cancel(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
    went: Date,
) -> Result<Date, AppError> {
    let charged = date_of(act, books, payment)?;
    Ok(books.date("date", went.max(charged), Closed::UseToday)?)
}

/// Takes back a charge of a bulk act that nothing happened to since: the charge and the credit applied to it.
pub(crate) fn take_back(act: &mut Act<'_, '_>, books: &Books, payment: &mut Payment) -> Result<(), AppError> {
    let entries = journal::of_payment(act.tx, act.organization, payment.id)?;
    let reversed: Vec<_> = entries.iter().filter_map(|entry| entry.reverses).collect();
    for entry in &entries {
        let is_standing = entry.reverses.is_none() && !reversed.contains(&entry.id);
        if is_standing && matches!(entry.kind, EntryKind::Charge | EntryKind::CreditApplied) {
            reverse(act, books, entry, None)?;
        }
    }
    payment.cancel_raised(act.now())?;
    super::settle(act, payment)
}

/// Cancels what is open: against its income, or as written off. Unpaid late fees of the charge go with it.
pub(crate) fn cancel(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &mut Payment,
    (kind, memo): (EntryKind, Option<String>),
) -> Result<(), AppError> {
    let open = payment.amount.minor - payment.paid_to_date.minor;
    payment.cancel(act.now())?;
    let against = match kind {
        EntryKind::WriteOff => Standing::WriteOffs.id(),
        EntryKind::Waiver => Standing::Discounts.id(),
        _ => payment.income_account(),
    };
    let postings = Postings::paired(against, Standing::Receivable, payment.about(), open);
    if !postings.is_empty() {
        post(act, NewEntry::of(kind, books.entry_day()?, postings).memo(memo))?;
    }
    super::settle(act, payment)?;
    cancel_fees(act, books, payment.id)
}

pub(crate) fn cancel_fees(act: &mut Act<'_, '_>, books: &Books, payment: PaymentId) -> Result<(), AppError> {
    for fee in open_charges::fees_of(act.tx, act.organization, payment)? {
        let mut fee: Payment = act.find(fee)?;
        if fee.paid_to_date.minor == 0 && matches!(fee.status, PaymentStatus::Pending | PaymentStatus::Failed)
        {
            cancel(act, books, &mut fee, (EntryKind::Cancel, None))?;
        }
    }
    Ok(())
}

/// How much of a charge's money its payers' banks withdrew, in disputes that have not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InDispute {
    /// Said by officers.
    pub(crate) by_hand: i64,
    /// Said by the payment provider, which ends them too.
    pub(crate) by_provider: i64,
}

impl InDispute {
    pub(crate) const fn sum(self) -> i64 {
        self.by_hand + self.by_provider
    }
}

pub(crate) fn in_dispute(act: &mut Act<'_, '_>, id: PaymentId) -> Result<InDispute, AppError> {
    Ok(disputed(act.tx, act.organization, id)?)
}

pub(crate) fn disputed(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: PaymentId,
) -> Result<InDispute, DbError> {
    let mut found = InDispute::default();
    for entry in journal::of_payment(tx, organization, id)? {
        // The provider's disputes are of a receipt, an officer's are of the charge.
        let sum = match entry.receipt {
            Some(_) => &mut found.by_provider,
            None => &mut found.by_hand,
        };
        *sum += entry.disputed_of(id);
    }
    Ok(found)
}

/// Refuses to take back money that a dispute at the payment provider needs: it could not be booked as lost.
pub(super) fn refuse_withdrawn(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
    part: i64,
) -> Result<(), AppError> {
    let withdrawn = in_dispute(act, payment.id)?.by_provider;
    let paid = payment.paid_to_date.minor;
    if withdrawn == 0 || part <= paid - withdrawn {
        return Ok(());
    }
    Err(Refusal::conflict(format!(
        "{} of {} cannot be taken back: the payer's bank has withdrawn {} of the {} that was received for it; wait until the \
         dispute has ended",
        books.money(part),
        payment.id,
        books.money(withdrawn),
        books.money(paid)
    ))
    .into())
}

/// The instant of the latest money on a payment, with `new` money beside it. Money that was refunded is not on it: of the
/// receipt that the refund names, else the latest first.
pub(crate) fn paid_at(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &Payment,
    new: Option<Date>,
) -> Result<Timestamp, AppError> {
    let mut latest = new;
    if payment.paid_to_date.minor > 0 || new.is_none() {
        let entries = journal::of_payment(act.tx, act.organization, payment.id)?;
        latest = latest.max(latest_left(&entries, payment.id));
    }
    Ok(books.instant(latest.unwrap_or(books.today), act.now()))
}

/// The day of the latest money on a payment that was neither taken back nor refunded.
fn latest_left(entries: &[Entry], payment: PaymentId) -> Option<Date> {
    let reversed: Vec<_> = entries.iter().filter_map(|entry| entry.reverses).collect();
    let standing = || entries.iter().filter(|entry| !reversed.contains(&entry.id));
    let is_money = |entry: &&Entry| {
        matches!(
            entry.kind,
            EntryKind::Receipt | EntryKind::CreditApplied | EntryKind::Opening
        )
    };
    let mut money: Vec<(&Entry, i64)> = standing()
        .filter(is_money)
        .map(|entry| (entry, -entry.owed_for(payment)))
        .collect();
    money.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.date));
    let refunds = standing().filter(|entry| entry.kind == EntryKind::Refund);
    let (named, others): (Vec<&Entry>, Vec<&Entry>) = refunds.partition(|entry| entry.receipt.is_some());
    for refund in named.into_iter().chain(others) {
        let of_payment = refund.postings.iter().filter(|posting| {
            posting.amount > 0
                && posting.account == Standing::Receivable.id()
                && posting.about.payment == Some(payment)
        });
        let mut back: i64 = of_payment.map(|posting| posting.amount).sum();
        for (entry, left) in &mut money {
            if refund.receipt.is_none() || refund.receipt == entry.receipt {
                let part = back.min(*left).max(0);
                back -= part;
                *left -= part;
            }
        }
    }
    let left = money.iter().filter(|(_, left)| *left > 0);
    left.map(|(entry, _)| entry.date).max()
}

/// Lets money settle a part of a payment; the entry is posted by the caller.
pub(crate) fn receive(
    act: &mut Act<'_, '_>,
    books: &Books,
    payment: &mut Payment,
    (part, day): (i64, Date),
) -> Result<(), AppError> {
    let at = paid_at(act, books, payment, Some(day))?;
    payment.receive(part, at)?;
    Ok(())
}
