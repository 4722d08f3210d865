//! Entries for rows whose books are not known: rows of a database from before the journal, and rows that an import
//! brings without entries. Money whose account is not known comes from `opening`.

use crate::account::Standing;
use crate::ids::AccountId;
use crate::journal::{About, EntryKind, Postings};
use crate::order::{Order, OrderStatus};
use crate::payment::{Payment, PaymentStatus};
use crate::reimbursement::{Reimbursement, ReimbursementStatus};
use crate::time::{Date, Timestamp};
use crate::zone::Zone;

/// An entry to be made. `which` tells the entries of one row apart, and those of a payment from those of an order with
/// the same bits in its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub which: u8,
    pub kind: EntryKind,
    pub date: Date,
    pub postings: Postings,
}

/// The day a charge counts: its due day if that is past, else the day it was raised.
pub fn charge_date(due: Option<Date>, raised: Date) -> Date {
    due.filter(|due| *due < raised).unwrap_or(raised)
}

/// What the journal must gain when a payment becomes `after`. `disputed` is what the journal has in dispute, in minor units,
/// if the dispute ends with this change. `today` dates changes of a payment that is known.
pub fn of_payment(
    (before, disputed): (Option<&Payment>, i64),
    after: &Payment,
    zone: &Zone,
    today: Date,
) -> Vec<Missing> {
    let (about, income) = (after.about(), after.income_account());
    let day = |at: Timestamp| zone.date(at);
    let raised = charge_date(after.due_date, day(after.stamps.created_at));
    let is_new = before.is_none();
    let amount = |p: &Payment| p.amount.minor;
    let paid = |p: &Payment| p.paid_to_date.minor;
    let dropped = |p: &Payment| match p.status {
        PaymentStatus::Cancelled => p.amount.minor - p.paid_to_date.minor,
        _ => 0,
    };
    let change = |of: fn(&Payment) -> i64| of(after) - before.map_or(0, of);
    // A dispute is lost for what is not paid any more, and won for the rest.
    let lost = disputed.min(-change(paid)).max(0);
    let won = disputed - lost;
    let mut missing = Vec::new();
    let mut add = |which, kind, date: Date, postings: Postings| {
        if !postings.is_empty() {
            missing.push(Missing {
                which,
                kind,
                date,
                postings,
            });
        }
    };
    // Entries never change, so what they say of another payer or income is taken back and said anew.
    if let Some(before) = before {
        let (old_about, old_income) = (before.about(), before.income_account());
        let (counted, open) = (
            amount(before) - dropped(before),
            amount(before) - dropped(before) - paid(before),
        );
        let mut moved = Postings::default();
        if old_about != about {
            moved.add(Standing::Receivable, -open, old_about);
            moved.add(Standing::Receivable, open, about);
        }
        if old_income != income {
            moved.add(old_income, counted, About::default());
            moved.add(income, -counted, About::default());
        }
        add(11, EntryKind::Correction, today, moved);
    }
    let (kind, date) = match is_new {
        true => (EntryKind::Charge, raised),
        false => (EntryKind::Correction, today),
    };
    let charge = Postings::pair(Standing::Receivable, about, income, change(amount));
    add(1, kind, date, charge);
    // When it was received is not known. It cannot be before the charge.
    let received = match after.paid_at.map(day) {
        Some(day) if is_new => day,
        _ if is_new => day(after.stamps.created_at),
        _ => today,
    };
    let opening = Postings::paired(
        Standing::Opening,
        Standing::Receivable,
        about,
        change(paid) + lost,
    );
    add(2, EntryKind::Opening, received, opening);
    let cancelled = after.voided_at.filter(|_| is_new).map_or(
        if is_new {
            day(after.stamps.updated_at)
        } else {
            today
        },
        day,
    );
    let cancel = Postings::paired(income, Standing::Receivable, about, change(dropped));
    add(3, EntryKind::Cancel, cancelled, cancel);
    if after.status == PaymentStatus::Disputed && before.is_none_or(|p| p.status != PaymentStatus::Disputed) {
        let date = if is_new {
            day(after.stamps.updated_at)
        } else {
            today
        };
        let dispute = Postings::pair(Standing::Disputes, about, Standing::Clearing, paid(after));
        add(4, EntryKind::Dispute, date, dispute);
    }
    let back = Postings::paired(Standing::Clearing, Standing::Disputes, about, won);
    add(9, EntryKind::DisputeWon, today, back);
    let owed = Postings::default()
        .debit(Standing::Receivable, lost, about)
        .credit(Standing::Disputes, lost, about);
    add(10, EntryKind::DisputeLost, today, owed);
    missing
}

/// `expense` gives the account of the category. It is asked only if something was spent, because it may have to make one.
pub fn of_reimbursement<E>(
    before: Option<&Reimbursement>,
    after: &Reimbursement,
    (zone, today): (&Zone, Date),
    expense: impl FnOnce() -> Result<AccountId, E>,
) -> Result<Vec<Missing>, E> {
    use ReimbursementStatus::{Approved, Paid};
    let spent = |r: &Reimbursement| match r.status {
        Approved | Paid => r.amount.minor,
        _ => 0,
    };
    let settled = |r: &Reimbursement| match r.status {
        Paid => r.amount.minor,
        _ => 0,
    };
    let change = |of: fn(&Reimbursement) -> i64| of(after) - before.map_or(0, of);
    let about = About {
        member: after.member_id,
        chapter: after.recipient_organization_id,
        reimbursement: Some(after.id),
        ..About::default()
    };
    let is_new = before.is_none();
    let day = |at: Option<Timestamp>| match at {
        Some(at) if is_new => zone.date(at),
        _ if is_new => zone.date(after.stamps.updated_at),
        _ => today,
    };
    let mut missing = Vec::new();
    if change(spent) != 0 {
        let postings = Postings::default()
            .debit(expense()?, change(spent), about)
            .credit(Standing::Payable, change(spent), about);
        let kind = if change(spent) > 0 {
            EntryKind::Expense
        } else {
            EntryKind::Voided
        };
        missing.push(Missing {
            which: 5,
            kind,
            date: after
                .incurred_at
                .filter(|_| is_new)
                .unwrap_or_else(|| day(after.reviewed_at)),
            postings,
        });
    }
    let payout = Postings::pair(Standing::Payable, about, Standing::Opening, change(settled));
    if !payout.is_empty() {
        missing.push(Missing {
            which: 6,
            kind: if change(settled) > 0 {
                EntryKind::Paid
            } else {
                EntryKind::Returned
            },
            date: day(after.paid_at),
            postings: payout,
        });
    }
    Ok(missing)
}

pub fn of_order(before: Option<&Order>, after: &Order, zone: &Zone, today: Date) -> Vec<Missing> {
    use OrderStatus::{Fulfilled, Paid, Refunded};
    let is_new = before.is_none();
    let about = About {
        member: after.member_id,
        order: Some(after.id),
        ..About::default()
    };
    let sold = |order: &Order| match order.status {
        Paid | Fulfilled => order.total_amount.minor,
        _ => 0,
    };
    let total = after.total_amount.minor;
    let paid_on = match after.paid_at {
        Some(at) if is_new => zone.date(at),
        _ if is_new => zone.date(after.stamps.updated_at),
        _ => today,
    };
    let mut missing = Vec::new();
    let mut add = |which, kind, date, amount| {
        let postings = Postings::paired(Standing::Opening, Standing::Shop, about, amount);
        if !postings.is_empty() {
            missing.push(Missing {
                which,
                kind,
                date,
                postings,
            });
        }
    };
    if is_new && after.status == Refunded {
        add(7, EntryKind::Sale, paid_on, total);
        let refunded_on = zone.date(after.stamps.updated_at).max(paid_on);
        add(8, EntryKind::SaleRefund, refunded_on, -total);
        return missing;
    }
    let change = sold(after) - before.map_or(0, sold);
    let kind = if change > 0 {
        EntryKind::Sale
    } else {
        EntryKind::SaleRefund
    };
    add(7, kind, paid_on, change);
    missing
}
