//! Money that goes back: of a receipt, of a charge.

use bursar_db::journal;
use bursar_domain::access::Role;
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::ReceiptId;
use bursar_domain::journal::{About, Entry, EntryKind, Posting, Postings};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::{Method, Receipt};
use bursar_domain::{Date, Refusal};

use super::promised::Promised;
use super::receipts::{Recorded, shown, standing};
use super::{Books, NewEntry, charges, credit, money_account, open, post, settle};
use crate::act::Act;
use crate::error::AppError;
use crate::rule::Rule;

pub const REFUND: Rule = Rule::of("receipt.refund", Role::Editor, "refund receipts").guarded();

pub const RULES: &[&Rule] = &[&REFUND];

#[derive(Clone, Debug)]
pub struct Refund {
    /// Decimal text.
    pub amount: String,
    pub date: Option<Date>,
    pub method: Option<Method>,
    pub account: Option<String>,
}

/// Pays money of a receipt back: first what is left of it as credit, then what it settled, the last charge first.
pub fn refund(act: &mut Act<'_, '_>, id: ReceiptId, refund: &Refund) -> Result<Recorded, AppError> {
    act.allow(&REFUND)?;
    let books = open(act)?;
    let (receipt, entry) = standing(act, id)?;
    let amount = books.amount("amount", &refund.amount)?;
    let rest = receipt.amount - refunded(&journal::of_receipt(act.tx, act.organization, id)?);
    if amount > rest {
        let rule = format!(
            "must be at most what is left of the {} that came, {}, got {}",
            books.money(receipt.amount),
            books.money(rest),
            books.money(amount)
        );
        return Err(Refusal::invalid("amount", rule).into());
    }
    let paid = Paid {
        receipt: Some(id),
        ..Paid::read(act, &books, refund, receipt.method)?
    };
    paid.refuse_online(act, id)?;
    paid.check_after(receipt.date)?;
    let promised = Promised::read(act)?;
    give_back(act, &books, &receipt, &entry, (amount, &paid))?;
    promised.keep(act, &books)?;
    act.log(REFUND.name, Some(id.to_string()), None)?;
    shown(act, &books, receipt)
}

/// Books that so much of a receipt went back: first what is left of it as credit, then what it settled, the last charge
/// first.
pub(crate) fn give_back(
    act: &mut Act<'_, '_>,
    books: &Books,
    receipt: &Receipt,
    entry: &Entry,
    (amount, paid): (i64, &Paid),
) -> Result<(), AppError> {
    let entries = journal::of_receipt(act.tx, act.organization, receipt.id)?;
    let mut left = amount;
    if matches!(entry.kind, EntryKind::Donation | EntryKind::Income)
        && let Some(income) = entry.postings.iter().find(|posting| posting.amount < 0)
    {
        let postings = Postings::pair(income.account, income.about, paid.account.id, left);
        post(act, paid.entry(EntryKind::Refund, postings))?;
        left = 0;
    }
    for posting in entry.postings.iter().filter(|posting| posting.amount < 0) {
        if posting.account == Standing::Credit.id() {
            let most = left.min(left_of(posting, &entries));
            left -= pay_credit(act, receipt, (most, paid))?;
        }
    }
    for posting in entry.postings.iter().rev() {
        if posting.account != Standing::Receivable.id() || left == 0 {
            continue;
        }
        let Some(payment) = posting.about.payment else {
            continue;
        };
        let payment: Payment = act.find(payment)?;
        let disputed = charges::in_dispute(act, payment.id)?.sum();
        let part = left
            .min(left_of(posting, &entries))
            .min(payment.paid_to_date.minor - disputed);
        if part > 0 {
            refund_payment(act, books, payment, (part, paid))?;
            left -= part;
        }
    }
    if left > 0 && receipt.payer.is_some() && paid.is_of_provider(act, receipt.id)? {
        // The money has gone. What a failed refund brought back is credit of the payer.
        left -= pay_credit(act, receipt, (left, paid))?;
    }
    if left > 0 {
        let message = format!(
            "{} of {} is not there any more: it was refunded or used; nothing was refunded",
            books.money(left),
            receipt.id
        );
        return Err(Refusal::conflict(message).into());
    }
    Ok(())
}

/// Pays the payer's credit back, at most so much and what is there. Returns how much.
fn pay_credit(act: &mut Act<'_, '_>, receipt: &Receipt, (most, paid): (i64, &Paid)) -> Result<i64, AppError> {
    let part = match receipt.payer {
        Some(member) => most.min(journal::credit_of(act.tx, act.organization, member)?),
        None => most,
    };
    if part <= 0 {
        return Ok(0);
    }
    credit::pay_back(act, receipt.payer, part, paid)?;
    Ok(part)
}

/// What is left of a posting of a receipt after what its entries gave back of the same.
pub(super) fn left_of(posting: &Posting, entries: &[Entry]) -> i64 {
    let gives_back = |entry: &&Entry| {
        matches!(
            entry.kind,
            EntryKind::Refund | EntryKind::CreditRefund | EntryKind::DisputeLost
        )
    };
    let is_same = |other: &&Posting| {
        other.amount > 0 && other.account == posting.account && other.about == posting.about
    };
    let postings = entries
        .iter()
        .filter(gives_back)
        .flat_map(|entry| &entry.postings);
    let back: i64 = postings.filter(is_same).map(|other| other.amount).sum();
    -posting.amount - back
}

/// What was paid back of a receipt, by its entries.
pub(super) fn refunded(entries: &[Entry]) -> i64 {
    let is_refund = |entry: &&Entry| matches!(entry.kind, EntryKind::Refund | EntryKind::CreditRefund);
    let postings = entries.iter().filter(is_refund).flat_map(|entry| &entry.postings);
    // What is given up: income or credit. Receivables are met and opened again.
    let given_up =
        postings.filter(|posting| posting.amount > 0 && posting.account != Standing::Receivable.id());
    given_up.map(|posting| posting.amount).sum()
}

/// What was paid back is gone: the rest of the story of such a receipt is no longer simple.
pub(super) fn refuse_refunded(
    act: &mut Act<'_, '_>,
    books: &Books,
    receipt: &Receipt,
) -> Result<(), AppError> {
    let back = refunded(&journal::of_receipt(act.tx, act.organization, receipt.id)?);
    match back {
        0 => Ok(()),
        back => Err(Refusal::conflict(format!(
            "{} of {} was paid back; what happened since is booked with `bursar journal record`",
            books.money(back),
            receipt.id
        ))
        .into()),
    }
}

/// What a member paid online goes back through the payment provider; otherwise it and the books disagree.
pub(super) fn refuse_online(act: &mut Act<'_, '_>, receipt: ReceiptId) -> Result<(), AppError> {
    match bursar_db::online::of_receipt(act.tx, act.organization, receipt)? {
        None => Ok(()),
        Some(online) => Err(Refusal::conflict(format!(
            "the money of {receipt} came through the payment provider and goes back the same way; `bursar online refund \
             {}` pays it back",
            online.id
        ))
        .into()),
    }
}

/// From where and when money goes back.
pub(crate) struct Paid {
    pub date: Date,
    pub account: Account,
    /// The receipt that it is of.
    pub receipt: Option<ReceiptId>,
}

/// Money goes back on the day it came or went at the earliest.
pub(crate) fn check_after(back: Date, (moved, first): (&str, Date)) -> Result<(), Refusal> {
    match back < first {
        true => Err(Refusal::invalid(
            "date",
            format!("must not be before the day the money {moved}, {first}, got {back}"),
        )),
        false => Ok(()),
    }
}

impl Paid {
    pub(crate) fn read(
        act: &mut Act<'_, '_>,
        books: &Books,
        refund: &Refund,
        method: Method,
    ) -> Result<Self, AppError> {
        Ok(Self {
            date: books.money_date(refund.date)?,
            account: money_account(act, refund.account.as_deref(), refund.method.unwrap_or(method))?,
            receipt: None,
        })
    }

    /// Only the provider pays from where the provider's money is.
    pub(crate) fn refuse_online(&self, act: &mut Act<'_, '_>, receipt: ReceiptId) -> Result<(), AppError> {
        match self.account.id == Standing::Clearing.id() {
            true => refuse_online(act, receipt),
            false => Ok(()),
        }
    }

    /// Whether the payment provider paid it: nobody else pays such a receipt back from its account.
    fn is_of_provider(&self, act: &mut Act<'_, '_>, receipt: ReceiptId) -> Result<bool, AppError> {
        let online = bursar_db::online::of_receipt(act.tx, act.organization, receipt)?;
        Ok(online.is_some() && self.account.id == Standing::Clearing.id())
    }

    /// Money goes back on the day it came at the earliest.
    pub(crate) fn check_after(&self, came: Date) -> Result<(), Refusal> {
        check_after(self.date, ("came", came))
    }

    pub(crate) fn entry(&self, kind: EntryKind, postings: Postings) -> NewEntry {
        let mut new = NewEntry::of(kind, self.date, postings);
        new.receipt = self.receipt;
        new
    }
}

/// Both pairs: the income is given up, and the money goes. All of it cancels the charge, and with it what was open and
/// its unpaid late fees.
pub(crate) fn refund_payment(
    act: &mut Act<'_, '_>,
    books: &Books,
    mut payment: Payment,
    (part, paid): (i64, &Paid),
) -> Result<Payment, AppError> {
    let open = payment.receivable_minor();
    let disputed = charges::in_dispute(act, payment.id)?.sum();
    payment.refund(part, disputed, act.now())?;
    let (about, income) = (payment.about(), payment.income_account());
    let postings = Postings::default()
        .debit(income, part, About::default())
        .credit(Standing::Receivable, part, about)
        .debit(Standing::Receivable, part, about)
        .credit(paid.account.id, part, About::default());
    post(act, paid.entry(EntryKind::Refund, postings))?;
    if payment.receivable_minor() == 0 && open > 0 {
        let postings = Postings::paired(income, Standing::Receivable, about, open);
        let date = charges::day_to_cancel(act, books, &payment, paid.date)?;
        post(act, NewEntry::of(EntryKind::Cancel, date, postings))?;
    }
    if let Some(before) = payment.paid_at {
        // The refund may have taken the latest money.
        let (zone, at) = (
            &books.organization.time_zone,
            charges::paid_at(act, books, &payment, None)?,
        );
        if zone.date(at) != zone.date(before) {
            payment.paid_at = Some(at);
        }
    }
    settle(act, &mut payment)?;
    if payment.status == PaymentStatus::Cancelled {
        charges::cancel_fees(act, books, payment.id)?;
    }
    Ok(payment)
}
