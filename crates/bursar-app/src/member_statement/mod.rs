//! A member's statement: charges, money, credit and the balance, day by day; for a payer with the whole household.
//!
//! Everything comes from the postings to what is owed and to credit, so it agrees with the journal. The balance is what
//! is owed less credit.

mod document;
mod mail;

use std::collections::{BTreeMap, HashMap};

use bursar_db::{journal, open_charges};
use bursar_domain::access::Role;
use bursar_domain::account::Standing as Account;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::ids::{EntryId, MemberId, PaymentId};
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;
use crate::statement::Standing;
use crate::texts::TEXTS;

pub use document::pdf;
pub use mail::{MAIL, mail};

pub const READ: Rule = Rule::of("report.member", Role::Viewer, "read reports");
pub const RULES: &[&Rule] = &[&READ, &MAIL];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberStatement {
    pub organization: String,
    pub contact: Option<String>,
    pub currency: Currency,
    pub from: Date,
    pub until: Date,
    pub member: Person,
    /// Who pays for the member, if somebody else does.
    pub payer: Option<Person>,
    /// Members whom the member pays for.
    pub household: Vec<Person>,
    /// Owed before the first day; negative for credit.
    pub opening: Money,
    pub lines: Vec<Line>,
    pub charged: Money,
    pub credited: Money,
    /// Owed at the end of the last day; negative for credit.
    pub closing: Money,
    /// Of the closing balance, what was overdue on the last day.
    pub overdue: Money,
    /// Charges that were open at the end of the last day.
    pub open: Vec<OpenCharge>,
    /// What was paid in advance, at the end of the last day.
    pub credit: Money,
    pub how_to_pay: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    pub id: MemberId,
    pub name: String,
    pub email: Option<String>,
    pub reference: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub date: Date,
    pub entry_id: EntryId,
    pub kind: EntryKind,
    /// In words.
    pub what: String,
    /// The charges that it is about.
    pub charges: Vec<String>,
    /// Whose charges they are, if not the member's own.
    pub members: Vec<String>,
    /// Of the charge, or what the payer wrote.
    pub reference: Option<String>,
    /// More is owed; 0 if not.
    pub charged: Money,
    /// Less is owed; 0 if not.
    pub credited: Money,
    pub balance: Money,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCharge {
    pub payment_id: PaymentId,
    pub description: String,
    /// If not the member's own.
    pub member: Option<String>,
    pub due_date: Option<Date>,
    pub standing: Standing,
    pub reference: Option<String>,
    pub open: Money,
}

/// Both days are included.
pub fn read(
    view: &mut View<'_, '_>,
    member: MemberId,
    (from, until): (Option<Date>, Option<Date>),
) -> Result<MemberStatement, AppError> {
    view.allow(&READ)?;
    statement(view, member, (from, until))
}

pub(crate) fn statement<M>(
    view: &mut Act<'_, '_, M>,
    member: MemberId,
    (from, until): (Option<Date>, Option<Date>),
) -> Result<MemberStatement, AppError> {
    let organization = view.own()?;
    let today = organization.time_zone.date(view.now());
    let until = until.unwrap_or(today);
    let from = from.unwrap_or_else(|| until.plus_months(-12, until.day()).plus_days(1));
    if until < from {
        let rule = format!("must not be before {from}, got {until}");
        return Err(Refusal::invalid("until", rule).into());
    }
    let member: Member = view.find(member)?;
    let payer = match member.payer_id {
        Some(payer) => view.get::<Member>(payer)?,
        None => None,
    };
    let mut people = vec![member];
    for id in open_charges::household(view.tx, view.organization, people[0].id)? {
        people.extend(view.get::<Member>(id)?);
    }
    let mut entries = BTreeMap::new();
    for person in &people {
        for entry in journal::of_member(view.tx, view.organization, person.id)? {
            entries.insert((entry.date, entry.recorded_at, entry.id), entry);
        }
    }
    entries.retain(|(date, ..), _| *date <= until);
    let mut payments = HashMap::new();
    for id in entries
        .values()
        .flat_map(|entry| &entry.postings)
        .filter_map(|p| p.about.payment)
    {
        if let std::collections::hash_map::Entry::Vacant(place) = payments.entry(id)
            && let Some(payment) = view.get::<Payment>(id)?
        {
            place.insert(payment);
        }
    }
    let account = Books {
        currency: organization.currency,
        people: &people,
        payments: &payments,
    };
    account.statement(
        &organization,
        payer.as_ref(),
        (from, until),
        entries.into_values(),
    )
}

/// What a statement is made from.
struct Books<'a> {
    currency: Currency,
    /// The member first.
    people: &'a [Member],
    payments: &'a HashMap<PaymentId, Payment>,
}

impl Books<'_> {
    fn statement(
        &self,
        organization: &Organization,
        payer: Option<&Member>,
        (from, until): (Date, Date),
        entries: impl Iterator<Item = Entry>,
    ) -> Result<MemberStatement, AppError> {
        let (mut balance, mut credit, mut charged, mut credited) = (0_i128, 0_i128, 0_i128, 0_i128);
        let mut opening = 0;
        let mut open: BTreeMap<PaymentId, i128> = BTreeMap::new();
        let mut lines = Vec::new();
        for entry in entries {
            let Some(moved) = self.moved(&entry) else { continue };
            balance += moved.sum;
            credit -= moved.credit;
            for (payment, amount) in &moved.payments {
                *open.entry(*payment).or_default() += amount;
            }
            if entry.date < from {
                opening = balance;
                continue;
            }
            charged += moved.sum.max(0);
            credited += (-moved.sum).max(0);
            lines.push(self.line(&entry, &moved, balance)?);
        }
        let open = self.open(open, until)?;
        let overdue = open.iter().filter(|charge| charge.standing == Standing::Overdue);
        let overdue = overdue.map(|charge| i128::from(charge.open.minor)).sum();
        Ok(MemberStatement {
            organization: organization.name.clone(),
            contact: organization.contact_email.clone(),
            currency: self.currency,
            from,
            until,
            member: Person::of(&self.people[0]),
            payer: payer.map(Person::of),
            household: self.people[1..].iter().map(Person::of).collect(),
            opening: self.money(opening)?,
            lines,
            charged: self.money(charged)?,
            credited: self.money(credited)?,
            closing: self.money(balance)?,
            overdue: self.money(overdue)?,
            open,
            credit: self.money(credit)?,
            how_to_pay: organization.pay_text.clone(),
        })
    }

    fn money(&self, minor: i128) -> Result<Money, Refusal> {
        Money::total("the member's statement", minor, self.currency)
    }

    fn name(&self, id: MemberId) -> Option<String> {
        let other = self.people[1..].iter().find(|person| person.id == id);
        other.map(Member::name)
    }

    /// What an entry does to what these people owe; `None` if nothing.
    fn moved(&self, entry: &Entry) -> Option<Moved> {
        let mut moved = Moved::default();
        let mut is_ours = false;
        for posting in &entry.postings {
            let is_of_person = posting
                .about
                .member
                .is_some_and(|id| self.people.iter().any(|p| p.id == id));
            let standing = Account::of_id(posting.account);
            let amount = i128::from(posting.amount);
            match standing.filter(|_| is_of_person) {
                Some(Account::Receivable) => {
                    if let Some(payment) = posting.about.payment {
                        moved.payments.push((payment, amount));
                    }
                }
                Some(Account::Credit) => moved.credit += amount,
                _ => continue,
            }
            is_ours = true;
            moved.sum += amount;
        }
        is_ours.then_some(moved)
    }

    fn line(&self, entry: &Entry, moved: &Moved, balance: i128) -> Result<Line, Refusal> {
        let mut charges: Vec<String> = Vec::new();
        let mut members: Vec<String> = Vec::new();
        let mut references = Vec::new();
        for (id, _) in &moved.payments {
            let Some(payment) = self.payments.get(id) else {
                continue;
            };
            let what = described(payment);
            if !charges.contains(&what) {
                charges.push(what);
            }
            let whose = payment.member_id.and_then(|id| self.name(id));
            if let Some(whose) = whose.filter(|whose| !members.contains(whose)) {
                members.push(whose);
            }
            references.extend(payment.reference.as_deref().map(spaced));
        }
        let of_charge = match references.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        };
        Ok(Line {
            date: entry.date,
            entry_id: entry.id,
            kind: entry.kind,
            what: (TEXTS.entry)(entry.kind).to_owned(),
            charges,
            members,
            reference: match entry.kind {
                EntryKind::Charge => of_charge,
                _ => entry.note.reference.clone(),
            },
            charged: self.money(moved.sum.max(0))?,
            credited: self.money((-moved.sum).max(0))?,
            balance: self.money(balance)?,
        })
    }

    /// By due day, without one last.
    fn open(&self, open: BTreeMap<PaymentId, i128>, until: Date) -> Result<Vec<OpenCharge>, Refusal> {
        let mut charges = Vec::new();
        for (id, amount) in open.into_iter().filter(|(_, amount)| *amount > 0) {
            let Some(payment) = self.payments.get(&id) else {
                continue;
            };
            charges.push(OpenCharge {
                payment_id: id,
                description: described(payment),
                member: payment.member_id.and_then(|id| self.name(id)),
                due_date: payment.due_date,
                standing: Standing::on(until, payment.due_date),
                reference: payment.reference.as_deref().map(spaced),
                open: self.money(amount)?,
            });
        }
        charges.sort_by_key(|charge| (charge.due_date.is_none(), charge.due_date));
        Ok(charges)
    }
}

/// What an entry does.
#[derive(Default)]
struct Moved {
    /// To what is owed less credit.
    sum: i128,
    /// To the credit account: positive if credit was used.
    credit: i128,
    payments: Vec<(PaymentId, i128)>,
}

impl Person {
    fn of(member: &Member) -> Self {
        Self {
            id: member.id,
            name: member.name(),
            email: member.email.clone(),
            reference: member.reference.as_deref().map(spaced),
        }
    }
}

impl Line {
    /// `Payment received: Dues 2026 (Kim Łoś)`.
    pub fn told(&self) -> String {
        let what = match (self.charges.is_empty(), self.kind) {
            (true, _) => self.what.clone(),
            (false, EntryKind::Charge) => self.charges.join(", "),
            (false, _) => format!("{}: {}", self.what, self.charges.join(", ")),
        };
        match self.members.is_empty() {
            true => what,
            false => format!("{what} ({})", TEXTS.list(&self.members)),
        }
    }
}

pub(crate) fn described(payment: &Payment) -> String {
    let one_line = payment
        .description
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    match one_line.is_empty() {
        true => TEXTS.charge.to_owned(),
        false => one_line,
    }
}
