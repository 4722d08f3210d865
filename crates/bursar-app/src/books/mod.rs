//! The books: every act that moves money or a claim posts an entry to the organization's journal.

pub mod accounts;
mod changed;
pub mod charges;
pub mod count;
pub mod credit;
pub mod entries;
pub mod periods;
pub(crate) mod promised;
pub mod receipts;
pub mod refunds;

use bursar_db::{accounts as rows, journal};
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::{AccountId, EntryId, ReceiptId};
use bursar_domain::journal::{Entry, EntryKind, Note, Postings, Recorder};
use bursar_domain::money::Money;
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Method;
use bursar_domain::text::{REFERENCE, TextRule};
use bursar_domain::{Date, Refusal, Timestamp};

use crate::act::Act;
use crate::error::AppError;
use crate::names;
use crate::statements::links;

/// An organization's settings for its books, and its day.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    pub organization: Organization,
    /// In the organization's time zone.
    pub today: Date,
}

/// What happens to a date in a closed period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Refuse,
    /// Corrections, approvals and the worker. What a correction takes its day from can be after today where the time zone
    /// moved west since. It keeps that day, so that neither stands without the other on any day.
    UseToday,
}

pub(crate) fn open<M>(act: &mut Act<'_, '_, M>) -> Result<Books, AppError> {
    let organization = act.own()?;
    let today = organization.time_zone.date(act.now());
    Ok(Books { organization, today })
}

impl Books {
    /// The date of an entry: not in the future, never in a closed period.
    pub(crate) fn date(&self, field: &'static str, wanted: Date, closed: Closed) -> Result<Date, Refusal> {
        if wanted > self.today && closed == Closed::Refuse {
            return Err(Refusal::invalid(
                field,
                format!("must not be in the future, got {wanted}; today is {}", self.today),
            ));
        }
        match (self.closed(wanted), closed) {
            (None, _) => Ok(wanted),
            (Some(_), Closed::UseToday) => self.entry_day(),
            (Some(until), Closed::Refuse) => Err(Refusal::invalid(
                field,
                format!(
                    "{wanted} is in a closed period: the books are closed until {until}; use a later date, or have an \
                     admin reopen the period"
                ),
            )),
        }
    }

    /// The last closed day, if this day is closed.
    fn closed(&self, day: Date) -> Option<Date> {
        self.organization.closed_until.filter(|until| day <= *until)
    }

    /// Today, as the date of an entry. It can be closed only if the time zone moved west after a period was closed.
    pub(crate) fn entry_day(&self) -> Result<Date, Refusal> {
        match self.closed(self.today) {
            None => Ok(self.today),
            Some(until) => Err(Refusal::conflict(format!(
                "today, {}, is in a closed period: the books are closed until {until}; wait until {}, or have an admin reopen \
                 the period",
                self.today,
                until.plus_days(1)
            ))),
        }
    }

    /// The day of money that came or went; today if nobody says.
    pub(crate) fn money_date(&self, wanted: Option<Date>) -> Result<Date, Refusal> {
        self.date("date", wanted.unwrap_or(self.today), Closed::Refuse)
    }

    /// When money of a day was received: now if that is today, else the day's first instant. A day after today was today
    /// before the time zone moved west.
    pub(crate) fn instant(&self, day: Date, now: Timestamp) -> Timestamp {
        match day >= self.today {
            true => now,
            false => self.organization.time_zone.start(day),
        }
    }

    pub(crate) fn amount(&self, field: &'static str, text: &str) -> Result<i64, Refusal> {
        let amount = Money::parse(text, self.organization.currency).map_err(Refusal::of_field(field))?;
        match amount.minor > 0 {
            true => Ok(amount.minor),
            false => Err(Refusal::invalid(field, "must be greater than 0")),
        }
    }

    pub(crate) fn money(&self, minor: i64) -> Money {
        Money::new(minor, self.organization.currency)
    }
}

/// An entry to be posted.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub kind: EntryKind,
    pub date: Date,
    pub note: Note,
    pub reverses: Option<EntryId>,
    pub receipt: Option<ReceiptId>,
    pub postings: Postings,
}

impl NewEntry {
    pub(crate) fn of(kind: EntryKind, date: Date, postings: Postings) -> Self {
        Self {
            kind,
            date,
            note: Note::default(),
            reverses: None,
            receipt: None,
            postings,
        }
    }

    #[must_use]
    pub(crate) fn memo(mut self, memo: Option<String>) -> Self {
        self.note.memo = memo;
        self
    }

    #[must_use]
    pub(crate) fn reversing(mut self, entry: &Entry) -> Self {
        self.reverses = Some(entry.id);
        self.receipt = entry.receipt;
        self
    }
}

pub(crate) fn post(act: &mut Act<'_, '_>, new: NewEntry) -> Result<Entry, AppError> {
    let entry = Entry {
        id: act.new_id(),
        date: new.date,
        recorded_at: act.now(),
        kind: new.kind,
        recorder: Recorder {
            kind: act.caller.kind().to_owned(),
            id: act.caller.id(),
        },
        reverses: new.reverses,
        receipt: new.receipt,
        note: new.note,
        postings: new.postings.into_vec(),
    };
    entry.check()?;
    journal::add(act.tx, act.organization, &entry)?;
    act.posts(&entry);
    Ok(entry)
}

/// Undoes a mistake. The reversal has the date of what it reverses, and a statement line that it accounted for is open
/// again.
pub(crate) fn reverse(
    act: &mut Act<'_, '_>,
    books: &Books,
    entry: &Entry,
    memo: Option<String>,
) -> Result<Entry, AppError> {
    let date = books.date("date", entry.date, Closed::UseToday)?;
    links::release(act, entry.id)?;
    let postings = Postings::reverse_of(&entry.postings);
    let new = NewEntry::of(EntryKind::Reversal, date, postings).reversing(entry);
    post(act, new.memo(memo))
}

/// Writes the payment, and proves that the journal agrees with it.
pub(crate) fn settle(act: &mut Act<'_, '_>, payment: &mut Payment) -> Result<(), AppError> {
    prove(act, payment)?;
    act.update(payment)
}

fn prove(act: &mut Act<'_, '_>, payment: &Payment) -> Result<(), AppError> {
    let owed = journal::owed_for(act.tx, act.organization, payment.id)?;
    if owed != i128::from(payment.receivable_minor()) {
        let message = format!(
            "the journal says that {owed} minor units are owed for {}, not {}",
            payment.id,
            payment.receivable_minor()
        );
        return Err(bursar_db::DbError::Internal(message).into());
    }
    Ok(())
}

/// By name, ignoring case, or by id.
pub(crate) fn account<M>(
    act: &mut Act<'_, '_, M>,
    field: &'static str,
    name: &str,
) -> Result<Account, AppError> {
    let found = match AccountId::parse(name) {
        Some(id) => rows::get(act.tx, act.organization, id)?,
        None => rows::by_name(act.tx, act.organization, name)?,
    };
    if let Some(account) = found {
        return Ok(account);
    }
    let all = rows::all(act.tx, act.organization)?;
    Err(names::no_account(field, name, all).into())
}

/// Where money came to or goes from.
pub(crate) fn money_account<M>(
    act: &mut Act<'_, '_, M>,
    given: Option<&str>,
    method: Method,
) -> Result<Account, AppError> {
    let name = given.unwrap_or(method.account().as_str());
    let found = account(act, "account", name)?;
    found.check_open("account")?;
    if !found.holds_money() {
        let rule = format!(
            "must be an account that holds money, such as cash or bank; {:?} is {}",
            found.name,
            match found.standing() {
                Some(Standing::Receivable | Standing::Disputes) => "a claim".to_owned(),
                _ => format!("of type {}", found.account_type),
            }
        );
        return Err(Refusal::invalid("account", rule).into());
    }
    Ok(found)
}

/// A text that an officer gave, or nothing.
pub(crate) fn text(
    field: &'static str,
    rule: TextRule,
    given: Option<&str>,
) -> Result<Option<String>, Refusal> {
    let checked = given
        .map(|text| rule.check(text))
        .transpose()
        .map_err(Refusal::of_field(field))?;
    Ok(checked.filter(|text| !text.is_empty()))
}

pub(crate) fn reason(given: Option<&str>) -> Result<Option<String>, Refusal> {
    text("reason", REFERENCE, given)
}
