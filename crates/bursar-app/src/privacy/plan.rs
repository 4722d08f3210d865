//! What goes, what stays and why, and what stands in the way.

use bursar_db::{accounts, erasure, organizations};
use bursar_domain::Date;
use bursar_domain::ids::MemberId;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::order::OrderStatus;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::ReimbursementStatus;
use serde::Serialize;

use super::known::Known;
use super::texts::Texts;
use crate::act::Act;
use crate::error::AppError;

/// Texts of others that a preview shows.
const MENTIONS_MAX: usize = 50;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub member_id: MemberId,
    pub name: String,
    /// Why the member cannot be erased yet, each with the way out.
    pub open: Vec<String>,
    pub goes: Vec<Item>,
    pub stays: Vec<Item>,
    /// Texts that are not about the member and name the person: the name is replaced there.
    pub mentions: Vec<Mention>,
    pub mentions_more: usize,
    /// What names somebody else too, so that it is not looked for in texts about others.
    pub shared: Vec<String>,
    pub retention_years: i64,
    /// The last day on which the books of the member's last year must be kept.
    pub kept_until: Option<Date>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    pub what: String,
    pub count: usize,
    /// Why it stays, or what becomes of it.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// In words: `bank lines`.
    pub place: String,
    pub text: String,
}

/// The first day whose books must still be kept.
pub(super) fn kept_from(known: &Known, today: Date) -> Date {
    let months = i32::try_from(known.organization.retention_years * 12).unwrap_or(i32::MAX);
    first_of_year(today.plus_months(-months, today.day()))
}

fn first_of_year(day: Date) -> Date {
    let text = day.to_string();
    text.get(..4)
        .and_then(|year| Date::parse(&format!("{year}-01-01")))
        .unwrap_or(day)
}

/// The last day that a charge is about, by which its books are kept.
pub(super) fn last_day(payment: &Payment) -> Date {
    let times = [
        Some(payment.stamps.created_at),
        payment.paid_at,
        payment.voided_at,
    ];
    let days = times.into_iter().flatten().map(|at| at.date());
    days.chain(payment.due_date)
        .max()
        .unwrap_or_else(|| payment.stamps.created_at.date())
}

pub(super) fn of<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Plan, AppError> {
    let years = known.organization.retention_years;
    let last = known.entries.values().map(|entry| entry.date).max();
    let months = i32::try_from((years + 1) * 12).unwrap_or(i32::MAX);
    Ok(Plan {
        member_id: known.member.id,
        name: known.member.name(),
        open: open(act, known)?,
        goes: goes(act, known)?,
        stays: stays(act, known)?,
        mentions: Vec::new(),
        mentions_more: 0,
        shared: known.shared.clone(),
        retention_years: years,
        kept_until: last.map(|day| first_of_year(day).plus_months(months, 1).plus_days(-1)),
    })
}

impl Plan {
    /// What was found in texts that are not about the member.
    pub(super) fn add(&mut self, found: &Texts) {
        for (place, count) in found.counts() {
            self.goes
                .push(Item::new(format!("Name in {place}"), count, "replaced"));
        }
        let mentions = found.mentions();
        self.mentions_more = mentions.len().saturating_sub(MENTIONS_MAX);
        self.mentions = mentions.into_iter().take(MENTIONS_MAX).collect();
    }
}

impl Item {
    fn new(what: impl Into<String>, count: usize, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            count,
            why: why.into(),
        }
    }
}

fn is_open(payment: &Payment) -> bool {
    match payment.status {
        PaymentStatus::Pending
        | PaymentStatus::PartiallyPaid
        | PaymentStatus::Failed
        | PaymentStatus::Processing
        | PaymentStatus::Disputed => true,
        PaymentStatus::Paid | PaymentStatus::Cancelled => false,
    }
}

fn open<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Vec<String>, AppError> {
    let currency = known.organization.currency;
    let mut open = Vec::new();
    let owed = known.payments.iter().filter(|payment| is_open(payment));
    let (count, sum) = owed.fold((0, 0), |(count, sum), payment| {
        let part = i128::from(payment.amount.minor - payment.paid_to_date.minor);
        (count + 1, sum + part)
    });
    if count > 0 {
        let sum = Money::total("what the member owes", sum, currency)?;
        open.push(format!(
            "{sum} {currency} is open in {}; record the money, or cancel or write off what is left",
            many(count, "charge")
        ));
    }
    if known.credit != 0 {
        let credit = Money::new(known.credit, currency);
        open.push(format!(
            "{credit} {currency} is credit; pay it back (`bursar credit refund`) or apply it"
        ));
    }
    let claims = known.reimbursements.iter().filter(|claim| match claim.status {
        ReimbursementStatus::Draft | ReimbursementStatus::Submitted | ReimbursementStatus::Approved => true,
        ReimbursementStatus::Rejected | ReimbursementStatus::Paid | ReimbursementStatus::Voided => false,
    });
    let count = claims.count();
    if count > 0 {
        open.push(format!(
            "{} not settled; pay, reject or void it",
            are(count, "reimbursement")
        ));
    }
    let count = known
        .orders
        .iter()
        .filter(|order| order.status == OrderStatus::Pending)
        .count();
    if count > 0 {
        open.push(format!(
            "{} waiting for money; record it or cancel the order",
            are(count, "order")
        ));
    }
    if known.online.iter().any(|online| online.ended_at.is_none()) {
        open.push("an online payment is under way; wait until it ended".to_owned());
    }
    if known.messages.iter().any(|message| message.state == "sending") {
        open.push("a message is being sent right now; try again in a minute".to_owned());
    }
    let own = &known.organization;
    let is_mine = |text: Option<&str>| text.is_some_and(|text| known.naming.scrub(text).is_some());
    if is_mine(own.contact_email.as_deref()) || is_mine(own.contact_phone.as_deref()) {
        open.push(
            "the member is the organization's contact; `bursar organization set` changes it".to_owned(),
        );
    }
    for account in accounts::stored(act.tx, act.organization)? {
        if is_mine(Some(&account.name)) {
            open.push(format!(
                "the account {:?} is named after the member; `bursar account set` renames it",
                account.name
            ));
        }
    }
    if let Some(user) = &known.user
        && organizations::role(act.tx, act.organization, user.id)?.is_some()
    {
        open.push(format!(
            "{} has a role in the organization; `bursar role remove` removes it",
            user.email
        ));
    }
    Ok(open)
}

fn goes<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Vec<Item>, AppError> {
    let member = &known.member;
    let mut goes = Vec::new();
    let facts = [
        ("E-mail address", member.email.is_some()),
        ("Phone number", member.phone.is_some()),
        ("Join date", member.join_date.is_some()),
    ];
    goes.push(Item::new("Name", 1, "becomes \"Erased member\""));
    goes.extend(
        facts
            .iter()
            .filter(|(_, has)| *has)
            .map(|(what, _)| Item::new(*what, 1, "removed")),
    );
    let described = |description: &str| !description.is_empty();
    let household: Vec<String> = {
        let mut names = Vec::new();
        for id in &known.household {
            names.extend(act.get::<Member>(*id)?.map(|other| other.name()));
        }
        names
    };
    let uploads = erasure::count_uploads(act.tx, act.organization)?;
    let applications = erasure::count_applications(act.tx, act.organization, member.id)?;
    let lists = [
        ("Group memberships", member.groups.len(), "removed".to_owned()),
        ("Bank accounts", member.bank_accounts.len(), "removed".to_owned()),
        (
            "Saved cards",
            known.autopays.len(),
            "the payment provider is told to forget them".to_owned(),
        ),
        (
            "Members paid for",
            household.len(),
            format!("pay for themselves from now on: {}", household.join(", ")),
        ),
        (
            "Descriptions of charges",
            known
                .payments
                .iter()
                .filter(|p| described(&p.description))
                .count(),
            "replaced".to_owned(),
        ),
        (
            "Descriptions and notes of reimbursements",
            known.reimbursements.len(),
            "replaced".to_owned(),
        ),
        ("Names of cards", known.cards.len(), "replaced".to_owned()),
        (
            "Names of card applications",
            usize::try_from(applications).unwrap_or(0),
            "replaced".to_owned(),
        ),
        (
            "Reminders to the member",
            known.reminders.len(),
            "text removed; planned ones are cancelled".to_owned(),
        ),
        (
            "Messages",
            known.messages.len(),
            "address and text removed, with their files".to_owned(),
        ),
        (
            "Receipts",
            known.receipts.len(),
            "the payer's reference and name removed".to_owned(),
        ),
        (
            "Notes of journal entries",
            known.alone.len(),
            "removed".to_owned(),
        ),
        (
            "Bank lines",
            known.lines.len(),
            "text, counterparty and account removed".to_owned(),
        ),
        ("Attached files", known.attachments.len(), "removed".to_owned()),
        (
            "Files sent to the console in the last hour",
            usize::try_from(uploads).unwrap_or(0),
            "removed: they cannot be searched".to_owned(),
        ),
    ];
    let lists = lists.into_iter().filter(|(_, count, _)| *count > 0);
    goes.extend(lists.map(|(what, count, why)| Item::new(what, count, why)));
    if let Some(user) = &known.user
        && organizations::places(act.tx, user.id)?.is_empty()
    {
        goes.push(Item::new(
            "Sign-in",
            1,
            "address, name, passkeys and sessions removed",
        ));
    }
    Ok(goes)
}

fn stays<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Vec<Item>, AppError> {
    let years = known.organization.retention_years;
    let today = known.organization.time_zone.date(act.now());
    let from = kept_from(known, today);
    let books = format!("amounts, dates, accounts and references: books are kept for {years} years");
    let (new, old): (Vec<&Payment>, Vec<&Payment>) = known
        .payments
        .iter()
        .partition(|payment| last_day(payment) >= from);
    let items = [
        ("Charges", new.len(), books.clone()),
        (
            "Charges from before the retention",
            old.len(),
            "amounts, dates and accounts: entries never change; their references are removed".to_owned(),
        ),
        ("Receipts", known.receipts.len(), books.clone()),
        ("Journal entries", known.entries.len(), books.clone()),
        ("Reimbursements", known.reimbursements.len(), books.clone()),
        ("Orders", known.orders.len(), books.clone()),
        ("Online payments", known.online.len(), books),
        (
            "Cards",
            known.cards.len(),
            "number, limits and state, without a name".to_owned(),
        ),
        (
            "Messages",
            known.messages.len(),
            "that one was sent, when, and whether it arrived".to_owned(),
        ),
        (
            "Files of entries about others too",
            known.attachments_of_others,
            "other people's documents; look through them and remove what names the member".to_owned(),
        ),
    ];
    let items = items.into_iter().filter(|(_, count, _)| *count > 0);
    let mut stays: Vec<Item> = items
        .map(|(what, count, why)| Item::new(what, count, why))
        .collect();
    if let Some(user) = &known.user
        && !organizations::places(act.tx, user.id)?.is_empty()
    {
        stays.push(Item::new(
            "Sign-in",
            1,
            "the person has a role in an organization",
        ));
    }
    Ok(stays)
}

fn many(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

fn are(count: usize, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", many(count, noun))
}
