//! The demo's bank statement: money that is in the books, money for open charges, and lines that somebody has to look at.

use bursar_app::books::receipts;
use bursar_app::resources;
use bursar_app::statements::{self, Booking, Lines, NewStatement, StatementRead};
use bursar_app::{AppError, Identity, View, Whole};
use bursar_domain::account::Standing;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::Organization;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::Method;
use bursar_domain::{Date, Timestamp};

/// The statement covers so many days before today.
const DAYS: i64 = 14;
const FEE_MINOR: i64 = -450;

/// Imports the statement; then half of what is proposed is confirmed, and the bank's fee is booked. The rest waits.
pub(super) fn bring_in(
    whole: &mut Whole<'_, '_>,
    organization: &Organization,
    treasurer: Identity,
    at: Timestamp,
    today: Date,
) -> Result<(), AppError> {
    let id = organization.id;
    let read = whole.view(id, |view| statement(view, today, organization.currency))?;
    let imported = whole.act_as(treasurer, at, id, |act| statements::import(act, &read, false))?;
    let which = Lines {
        statement: Some(imported.id),
        open_only: true,
        ..Lines::default()
    };
    let shown = whole.view(id, |view| statements::show(view, &which))?;
    let proposed: Vec<_> = shown.iter().filter(|one| one.proposed.is_some()).collect();
    let half: Vec<_> = proposed
        .iter()
        .take(proposed.len() / 2)
        .map(|one| one.line.id)
        .collect();
    let fee = shown
        .iter()
        .find(|one| one.line.amount == FEE_MINOR)
        .map(|one| one.line.id);
    whole.act_as(treasurer, at.plus_seconds(240), id, |act| {
        statements::confirm(act, &half)?;
        let Some(fee) = fee else { return Ok(()) };
        let booking = Booking {
            account: Some(Standing::BankFees.as_str().to_owned()),
            campaign: None,
            memo: None,
        };
        statements::book(act, fee, &booking).map(drop)
    })
}

/// Reads the statement as an officer's bank would write it.
fn statement(view: &mut View<'_, '_>, today: Date, currency: Currency) -> Result<StatementRead, AppError> {
    let mut rows: Vec<(Date, String, String, String)> = Vec::new();
    let first = today.plus_days(-DAYS);
    let mut people = std::collections::HashMap::new();
    resources::each(view, |member: Member| {
        people.insert(member.id, member.name());
    })?;
    let recorded = receipts::list(view, (Some(first), Some(today.plus_days(-1))), None)?;
    let transfers = recorded
        .iter()
        .filter(|one| one.receipt.method == Method::Transfer && one.receipt.payer.is_some());
    for one in transfers.take(6) {
        let name = one.receipt.payer.and_then(|payer| people.get(&payer));
        let text = one.receipt.reference.clone().unwrap_or_default();
        rows.push((
            one.receipt.date,
            one.amount.to_string(),
            name.cloned().unwrap_or_default(),
            text,
        ));
    }
    let mut open = Vec::new();
    resources::each(view, |payment: Payment| {
        if payment.status == PaymentStatus::Pending && payment.member_id.is_some() {
            open.push(payment);
        }
    })?;
    for (number, payment) in open.iter().step_by(3).take(7).enumerate() {
        let name = payment.member_id.and_then(|member| people.get(&member));
        let text = match (&payment.reference, number % 2) {
            (Some(reference), 0) => reference.clone(),
            _ => "Membership".to_owned(),
        };
        let day = first.plus_days(2 + i64::try_from(number).unwrap_or(0));
        rows.push((
            day,
            payment.amount.to_string(),
            name.cloned().unwrap_or_default(),
            text,
        ));
    }
    let other = |minor: i64| Money::new(minor, currency).to_string();
    for (days, minor, name, text) in [
        (9, FEE_MINOR, "Harbour Bank", "Account fee"),
        (6, -32_000, "Quayside Properties", "Rent of the boat shed"),
        (4, 2_500, "P. Winter", "For the young rowers"),
        (2, 5_850, "Lind and Sons", "two of us, and a gift"),
    ] {
        rows.push((
            today.plus_days(-days),
            other(minor),
            name.to_owned(),
            text.to_owned(),
        ));
    }
    rows.sort_by_key(|(day, ..)| *day);
    let mut text = "Booking date;Amount;Name;Purpose\n".to_owned();
    for (day, amount, name, purpose) in rows {
        text += &format!("{day};{amount};{name};{purpose}\n");
    }
    let new = NewStatement {
        account: Standing::Bank.as_str().to_owned(),
        bytes: text.into_bytes(),
        format: None,
        columns: Vec::new(),
    };
    statements::read(view, &new)
}
