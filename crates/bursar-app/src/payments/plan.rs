//! Instalments: one charge becomes several.

use bursar_domain::account::Standing;
use bursar_domain::ids::PaymentId;
use bursar_domain::journal::{EntryKind, Postings};
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::text::NOTE;
use bursar_domain::{Date, Refusal, Resource, Stamps, words};

use super::CHANGE;
use crate::act::Act;
use crate::books::{NewEntry, charges, open, post, settle};
use crate::error::AppError;

words! {
    /// The time between two instalments.
    Every {
        Week "week",
        Month "month",
        Quarter "quarter",
    }
}

impl Every {
    /// The n-th instalment after the first one.
    fn after(self, first: Date, n: usize) -> Date {
        let n = i32::try_from(n).unwrap_or(i32::MAX);
        match self {
            Self::Week => first.plus_days(7 * i64::from(n)),
            Self::Month => first.plus_months(n, first.day()),
            Self::Quarter => first.plus_months(3 * n, first.day()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct NewPlan {
    /// 2 to 24.
    pub into: usize,
    pub every: Every,
    /// The due day of the first one. If left out, the payment's own, or today if that is over.
    pub first: Option<Date>,
}

/// Equal parts; spare minor units go to the first ones. The first is never below what was paid.
fn parts(amount: i64, paid: i64, into: usize) -> Vec<i64> {
    let share = |amount: i64, into: usize| -> Vec<i64> {
        let count = i64::try_from(into).unwrap_or(i64::MAX);
        let spare = usize::try_from(amount % count).unwrap_or(0);
        (0..into).map(|n| amount / count + i64::from(n < spare)).collect()
    };
    let equal = share(amount, into);
    if equal[0] >= paid {
        return equal;
    }
    let mut parts = vec![paid];
    parts.extend(share(amount - paid, into - 1));
    parts
}

/// The payment shrinks to the first instalment; the others are new payments of the same group and category. Those of a late
/// fee are late fees of the same charge.
pub fn plan(act: &mut Act<'_, '_>, id: PaymentId, plan: &NewPlan) -> Result<Vec<Payment>, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let mut payment: Payment = act.find(id)?;
    if !payment.status.is_owed() {
        let message = format!(
            "the payment is {}; only a pending, partially paid or failed one can be paid in instalments",
            payment.status
        );
        return Err(Refusal::conflict(message).into());
    }
    if !(2..=24).contains(&plan.into) {
        return Err(Refusal::invalid("into", format!("must be 2 to 24, got {}", plan.into)).into());
    }
    let parts = parts(payment.amount.minor, payment.paid_to_date.minor, plan.into);
    if parts.contains(&0) {
        let rule = format!("is too many: {} cannot be shared out so", payment.amount);
        return Err(Refusal::invalid("into", rule).into());
    }
    let first = match (plan.first, payment.due_date) {
        (Some(first), _) => first,
        (None, Some(due)) => due.max(books.today),
        (None, None) => books.today,
    };
    let too_late = |rule| Refusal::invalid("first", format!("is too late: the last instalment {rule}"));
    first.plausible(books.today).map_err(Refusal::of_field("first"))?;
    plan.every
        .after(first, plan.into - 1)
        .plausible(books.today)
        .map_err(too_late)?;
    let name = |n: usize| {
        let of = format!(" ({n} of {})", plan.into);
        let room = NOTE.max.saturating_sub(of.chars().count());
        let what: String = payment.description.chars().take(room).collect();
        format!("{}{of}", what.trim_end()).trim_start().to_owned()
    };
    let names: Vec<String> = (1..=plan.into).map(name).collect();
    let mut postings = Postings::default();
    let mut made = Vec::new();
    for (n, part) in parts.iter().enumerate().skip(1) {
        let (id, stamps) = (act.new_id(), Stamps::at(act.tick()));
        let instalment = Payment {
            member_id: payment.member_id,
            group_id: payment.group_id,
            target_organization_id: payment.target_organization_id,
            description: names[n].clone(),
            amount: Money::new(*part, payment.amount.currency),
            due_date: Some(plan.every.after(first, n)),
            income_account_id: payment.income_account_id,
            fee_of: payment.fee_of,
            reference: Some(act.next_reference()),
            ..Payment::blank(id, payment.amount.currency, stamps)
        };
        postings.add(Standing::Receivable, *part, instalment.about());
        made.push(instalment);
    }
    let rest: i64 = parts[1..].iter().sum();
    postings.add(Standing::Receivable, -rest, payment.about());
    post(act, NewEntry::of(EntryKind::Plan, books.entry_day()?, postings))?;
    for instalment in &made {
        act.insert(instalment)?;
    }
    let at = charges::paid_at(act, &books, &payment, None)?;
    payment.adjust(parts[0], at)?;
    payment.due_date = Some(first);
    payment.description = names[0].clone();
    settle(act, &mut payment)?;
    act.log(
        "payment.plan",
        Some(id.to_string()),
        i64::try_from(plan.into).ok(),
    )?;
    made.insert(0, payment);
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instalments_sum_to_the_amount_and_spare_units_come_first() {
        assert_eq!(parts(10_000, 0, 3), [3_334, 3_333, 3_333]);
        assert_eq!(parts(10_001, 0, 4), [2_501, 2_500, 2_500, 2_500]);
        assert_eq!(parts(10_000, 3_334, 3), [3_334, 3_333, 3_333]);
        assert_eq!(parts(10_000, 5_000, 3), [5_000, 2_500, 2_500]);
        assert_eq!(parts(10_000, 9_999, 3), [9_999, 1, 0]);
    }
}
