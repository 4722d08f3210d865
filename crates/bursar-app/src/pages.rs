//! Pages of what officers work through: reimbursements, reminders, entries of the journal and receipts.

use std::cmp::Reverse;

use bursar_db::pages::{self, ByTime, ReminderPlace};
use bursar_db::{journal, receipts as receipt_rows};
use bursar_domain::ids::{EntryId, MemberId, ReceiptId, ReimbursementId, ReminderId};
use bursar_domain::journal::Entry;
use bursar_domain::money::Money;
use bursar_domain::receipt::Receipt;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use bursar_domain::reminder::{Audience, Reminder, ReminderStatus};
use bursar_domain::{Date, Refusal, Timestamp};

use crate::act::View;
use crate::books::receipts::Recorded;
use crate::books::{Books, account, entries, open, receipts as money};
use crate::desk::{PAGE_ROWS, Page};
use crate::error::AppError;
use crate::reminders::{LIST, no_reminder};
use crate::resources::Readable;

/// One more than a page has, to know whether there is another.
const LIMIT: i64 = PAGE_ROWS as i64 + 1;
/// Reminders that are read at once.
const CHUNK: usize = 100;
/// Reminders that a page reads at most: a line can stand for several.
const READ_MAX: usize = 2_000;

/// Reimbursements in a status, the last changed first, after the one that had this time.
pub fn reimbursements(
    view: &mut View<'_, '_>,
    status: ReimbursementStatus,
    after: Option<(Timestamp, ReimbursementId)>,
) -> Result<Page<Reimbursement>, AppError> {
    view.allow(&Reimbursement::READ)?;
    let rows = pages::in_status(view.tx, view.organization, status.as_str(), after, LIMIT)?;
    Ok(Page::of(rows))
}

/// How many reimbursements are in a status.
pub fn reimbursements_in(view: &mut View<'_, '_>, status: ReimbursementStatus) -> Result<i64, AppError> {
    view.allow(&Reimbursement::READ)?;
    let count = pages::count_in_status::<Reimbursement>(view.tx, view.organization, status.as_str())?;
    Ok(count)
}

/// Which reminders, and so in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reminders {
    /// The next first.
    Planned,
    /// The last first.
    Running,
    /// The last first.
    Past,
}

impl Reminders {
    pub const fn of(status: ReminderStatus) -> Self {
        match status {
            ReminderStatus::Scheduled => Self::Planned,
            ReminderStatus::Sending => Self::Running,
            ReminderStatus::Sent
            | ReminderStatus::Failed
            | ReminderStatus::Completed
            | ReminderStatus::Cancelled => Self::Past,
        }
    }

    const fn order(self) -> ByTime {
        match self {
            Self::Planned => ByTime::Next,
            Self::Running | Self::Past => ByTime::Last,
        }
    }

    fn statuses(self) -> impl Iterator<Item = ReminderStatus> {
        let all = ReminderStatus::ALL.iter().copied();
        all.filter(move |status| Self::of(*status) == self)
    }
}

/// A reminder, or several that one form wrote to single members.
#[derive(Clone, Debug)]
pub struct ReminderLine {
    /// The first of them.
    pub reminder: Reminder,
    pub count: usize,
}

/// A page of reminders.
#[derive(Clone, Debug)]
pub struct ReminderPage {
    pub lines: Vec<ReminderLine>,
    /// The next page is after the one with this time.
    pub next: Option<(Timestamp, ReminderId)>,
}

/// Whether one form wrote both: single members, with the same text and time.
fn is_one_set(one: &Reminder, other: &Reminder) -> bool {
    let is_single = |of: &Reminder| matches!(of.audience(), Audience::Member(_)) && !of.is_recurring;
    is_single(one)
        && is_single(other)
        && (one.scheduled_at, one.method, one.status) == (other.scheduled_at, other.method, other.status)
        && (&one.subject, &one.body) == (&other.subject, &other.body)
}

/// By their time. Those that one form wrote to several members are one line.
pub fn reminders(
    view: &mut View<'_, '_>,
    which: Reminders,
    after: Option<(Timestamp, ReminderId)>,
) -> Result<ReminderPage, AppError> {
    view.allow(&LIST)?;
    let mut lines: Vec<ReminderLine> = Vec::new();
    let next = walk(view, which, None, after, |reminder| {
        let is_full = lines.len() == PAGE_ROWS;
        match lines
            .iter_mut()
            .rfind(|line| is_one_set(&line.reminder, reminder))
        {
            Some(line) => line.count += 1,
            None if is_full => return false,
            None => lines.push(ReminderLine {
                reminder: reminder.clone(),
                count: 1,
            }),
        }
        true
    })?;
    Ok(ReminderPage { lines, next })
}

/// Those that the form wrote that wrote this one, and that are in the same status.
pub fn reminders_like(
    view: &mut View<'_, '_>,
    like: ReminderId,
    after: Option<(Timestamp, ReminderId)>,
) -> Result<ReminderPage, AppError> {
    view.allow(&LIST)?;
    let like: Reminder = view.get(like)?.ok_or_else(|| no_reminder(like))?;
    let (which, mut lines, mut is_over) = (Reminders::of(like.status), Vec::new(), false);
    let next = walk(view, which, Some(&like), after, |reminder| {
        is_over = reminder.scheduled_at != like.scheduled_at;
        if is_over || lines.len() == PAGE_ROWS {
            return false;
        }
        if is_one_set(&like, reminder) {
            lines.push(ReminderLine {
                reminder: reminder.clone(),
                count: 1,
            });
        }
        true
    })?;
    Ok(ReminderPage {
        lines,
        next: next.filter(|_| !is_over),
    })
}

/// How many reminders are planned, running or past.
pub fn reminders_in(view: &mut View<'_, '_>, which: Reminders) -> Result<i64, AppError> {
    view.allow(&LIST)?;
    let mut count = 0;
    for status in which.statuses() {
        count += pages::count_in_status::<Reminder>(view.tx, view.organization, status.as_str())?;
    }
    Ok(count)
}

/// Visits reminders in their order until `visit` refuses one. Returns the last one before that, `None` at the end.
fn walk(
    view: &mut View<'_, '_>,
    which: Reminders,
    from_time_of: Option<&Reminder>,
    after: Option<(Timestamp, ReminderId)>,
    mut visit: impl FnMut(&Reminder) -> bool,
) -> Result<Option<(Timestamp, ReminderId)>, AppError> {
    view.allow(&LIST)?;
    let order = which.order();
    let mut place = match (after, from_time_of) {
        (Some((at, id)), _) => ReminderPlace::at(at, id),
        (None, Some(first)) => ReminderPlace::before_time_of(first, order),
        (None, None) => ReminderPlace::start(order),
    };
    let (mut last, mut read) = (None, 0);
    loop {
        let mut chunk = Vec::new();
        for status in which.statuses() {
            let limit = i64::try_from(CHUNK).unwrap_or(i64::MAX);
            let found = pages::reminders(view.tx, view.organization, status, order, place, limit)?;
            chunk.extend(found);
        }
        chunk.sort_by_key(pages::time_key);
        if order == ByTime::Last {
            chunk.reverse();
        }
        let is_end = chunk.len() < CHUNK;
        chunk.truncate(CHUNK);
        for reminder in &chunk {
            if !visit(reminder) {
                return Ok(last);
            }
            let at = pages::time_of(reminder);
            last = Some((at, reminder.id));
            place = ReminderPlace::at(at, reminder.id);
        }
        read += chunk.len();
        match (is_end, read >= READ_MAX) {
            (true, _) => return Ok(None),
            (false, true) => return Ok(last),
            (false, false) => {}
        }
    }
}

/// Entries of the journal between two days, the last first, after the one given; of one account if it is named.
pub fn journal(
    view: &mut View<'_, '_>,
    (from, until): (Date, Date),
    of_account: Option<&str>,
    after: Option<EntryId>,
) -> Result<Page<Entry>, AppError> {
    view.allow(&entries::READ)?;
    let days = entries::range(Some(from), Some(until))?;
    let wanted = of_account
        .map(|name| account(view, "account", name))
        .transpose()?;
    let after = match after {
        Some(id) => Some((entries::find(view, id)?.date, id)),
        None => None,
    };
    let account = wanted.map(|account| account.id);
    let rows = journal::page(view.tx, view.organization, account, days, after, LIMIT)?;
    Ok(Page::of(rows))
}

/// Receipts between two days, the last first, after the one given.
pub fn receipts(
    view: &mut View<'_, '_>,
    (from, until): (Date, Date),
    after: Option<ReceiptId>,
) -> Result<Page<Recorded>, AppError> {
    view.allow(&money::READ)?;
    let books = open(view)?;
    let days = entries::range(Some(from), Some(until))?;
    let after = match after {
        Some(id) => {
            let found = receipt_rows::get(view.tx, view.organization, id)?;
            let found = found.ok_or_else(|| Refusal::missing("there is no such receipt"))?;
            Some((found.date, id))
        }
        None => None,
    };
    let found = Page::of(receipt_rows::page(
        view.tx,
        view.organization,
        days,
        after,
        LIMIT,
    )?);
    told(view, &books, found)
}

/// The last receipts of a member.
pub fn receipts_of(view: &mut View<'_, '_>, payer: MemberId) -> Result<Page<Recorded>, AppError> {
    view.allow(&money::READ)?;
    let books = open(view)?;
    let mut found = receipt_rows::of_payer(view.tx, view.organization, payer)?;
    found.sort_by_key(|receipt| Reverse((receipt.date, receipt.id)));
    told(view, &books, Page::of(found))
}

fn told(view: &mut View<'_, '_>, books: &Books, found: Page<Receipt>) -> Result<Page<Recorded>, AppError> {
    let told = found
        .rows
        .into_iter()
        .map(|receipt| money::shown(view, books, receipt));
    Ok(Page {
        rows: told.collect::<Result<_, _>>()?,
        is_more: found.is_more,
    })
}

/// What came in between two days and stands.
pub fn received(view: &mut View<'_, '_>, (from, until): (Date, Date)) -> Result<Money, AppError> {
    view.allow(&money::READ)?;
    let days = entries::range(Some(from), Some(until))?;
    let sum = receipt_rows::recorded_sum(view.tx, view.organization, days)?;
    Ok(Money::total("this sum", sum, view.own()?.currency)?)
}
