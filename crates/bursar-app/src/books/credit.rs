//! Credit: what members paid in advance.

use std::collections::BTreeMap;

use bursar_db::{journal, open_charges};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::MemberId;
use bursar_domain::journal::{About, Entry, EntryKind, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::{Method, share_out};
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use super::changed::Changed;
use super::promised::Promised;
use super::receipts::{self, Allocation};
use super::refunds::{Paid, Refund};
use super::{Books, charges, open, post, settle};
use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;

pub const LIST: Rule = Rule::of("credit.list", Role::Viewer, "read credit");
pub const APPLY: Rule = Rule::of("credit.apply", Role::Editor, "apply credit");
pub const REFUND: Rule = Rule::of("credit.refund", Role::Editor, "refund credit").guarded();

pub const RULES: &[&Rule] = &[&LIST, &APPLY, &REFUND];

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreditLine {
    /// Null for money that nobody was named for.
    pub member_id: Option<MemberId>,
    pub name: String,
    pub amount: Money,
}

pub fn list(view: &mut View<'_, '_>) -> Result<Vec<CreditLine>, AppError> {
    view.allow(&LIST)?;
    let books = open(view)?;
    let mut lines = Vec::new();
    for (member_id, amount) in journal::credits(view.tx, view.organization)? {
        let name = match member_id {
            Some(id) => view
                .get::<Member>(id)?
                .map_or_else(|| id.to_string(), |m| m.name()),
            None => "(nobody named)".to_owned(),
        };
        lines.push(CreditLine {
            member_id,
            amount: Money::total(&name, amount, books.organization.currency)?,
            name,
        });
    }
    Ok(lines)
}

/// Settles open charges of a member and the household with the member's credit, by due day.
pub fn apply(act: &mut Act<'_, '_>, member: MemberId) -> Result<Vec<Allocation>, AppError> {
    act.allow(&APPLY)?;
    let books = open(act)?;
    let found: Member = act.find(member)?;
    let credit = journal::credit_of(act.tx, act.organization, member)?;
    if credit <= 0 {
        return Err(Refusal::conflict(format!("{} has no credit", found.name())).into());
    }
    let charges = open_charges::of_household(act.tx, act.organization, member)?;
    let (parts, _) = share_out(credit, &charges);
    let day = books.entry_day()?;
    if parts.is_empty() {
        let message = format!(
            "{} has {} of credit and no open charge",
            found.name(),
            books.money(credit)
        );
        return Err(Refusal::conflict(message).into());
    }
    let promised = Promised::read(act)?;
    let mut applied = Vec::new();
    for (id, part) in parts {
        let mut payment: Payment = act.find(id)?;
        charges::receive(act, &books, &mut payment, (part, day))?;
        charges::apply_credit(act, &books, &payment, (member, part))?;
        settle(act, &mut payment)?;
        applied.push(Allocation {
            payment_id: id,
            amount: books.money(part),
        });
    }
    promised.keep(act, &books)?;
    act.log(APPLY.name, Some(member.to_string()), None)?;
    Ok(applied)
}

/// Pays a member's credit back. Returns what is left of it.
pub fn refund(act: &mut Act<'_, '_>, member: MemberId, refund: &Refund) -> Result<(Entry, Money), AppError> {
    act.allow(&REFUND)?;
    let books = open(act)?;
    let found: Member = act.find(member)?;
    let amount = books.amount("amount", &refund.amount)?;
    let credit = journal::credit_of(act.tx, act.organization, member)?;
    if amount > credit {
        let rule = format!(
            "must be at most the credit of {}, {}, got {}",
            found.name(),
            books.money(credit),
            books.money(amount)
        );
        return Err(Refusal::invalid("amount", rule).into());
    }
    let paid = Paid::read(act, &books, refund, Method::Transfer)?;
    if let Some(came) = came(act, member, amount)? {
        paid.check_after(came)?;
    }
    let promised = Promised::read(act)?;
    let entry = pay_back(act, Some(member), amount, &paid)?;
    promised.keep(act, &books)?;
    act.log(REFUND.name, Some(member.to_string()), None)?;
    Ok((entry, books.money(credit - amount)))
}

/// The day since which a member has had so much credit.
fn came(act: &mut Act<'_, '_>, member: MemberId, amount: i64) -> Result<Option<Date>, AppError> {
    let mut days: BTreeMap<Date, i64> = BTreeMap::new();
    for entry in journal::of_member(act.tx, act.organization, member)? {
        let of_credit = entry.postings.iter().filter(|posting| {
            posting.account == Standing::Credit.id() && posting.about.member == Some(member)
        });
        *days.entry(entry.date).or_default() -= of_credit.map(|posting| posting.amount).sum::<i64>();
    }
    let (mut credit, mut since) = (0, None);
    for (day, change) in days {
        credit += change;
        since = since.or(Some(day)).filter(|_| credit >= amount);
    }
    Ok(since)
}

pub(super) fn pay_back(
    act: &mut Act<'_, '_>,
    member: Option<MemberId>,
    amount: i64,
    paid: &Paid,
) -> Result<Entry, AppError> {
    let about = About {
        member,
        ..About::default()
    };
    let postings = Postings::pair(Standing::Credit, about, paid.account.id, amount);
    post(act, paid.entry(EntryKind::CreditRefund, postings))
}

/// Before a receipt is taken back: credit that it gave and that was applied since is taken off those charges, the
/// latest first, so that the member's credit is there to be taken back.
pub(super) fn free(
    act: &mut Act<'_, '_>,
    books: &Books,
    entry: &Entry,
    changed: &mut Changed,
) -> Result<(), AppError> {
    for posting in &entry.postings {
        let Some(member) = posting
            .about
            .member
            .filter(|_| posting.account == Standing::Credit.id())
        else {
            continue;
        };
        let mut missing = -posting.amount - journal::credit_of(act.tx, act.organization, member)?;
        if missing <= 0 {
            continue;
        }
        let mut applied = journal::credit_uses(act.tx, act.organization, member)?;
        while missing > 0
            && let Some(used) = applied.pop()
        {
            if journal::reversal_of(act.tx, act.organization, used.id)?.is_some() {
                continue;
            }
            let part = i64::try_from(used.sum_of(Standing::Credit.id())).unwrap_or(0);
            for posting in used.postings.iter().filter(|posting| posting.amount < 0) {
                let Some(id) = posting.about.payment else { continue };
                let payment = changed.find(act, id)?;
                charges::refuse_withdrawn(act, books, payment, -posting.amount)?;
                payment.unrecord(-posting.amount, act.now())?;
                let date = super::reverse(act, books, &used, None)?.date;
                receipts::reopen_cancelled(act, books, payment, (-posting.amount, date))?;
            }
            missing -= part;
        }
        if missing > 0 {
            return Err(Refusal::conflict(format!(
                "{} of the credit that it gave was paid back; record that money again first",
                books.money(missing)
            ))
            .into());
        }
    }
    Ok(())
}
