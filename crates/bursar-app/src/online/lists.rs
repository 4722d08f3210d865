//! Online payments, disputes and payouts as officers look at them, a page at a time.

use bursar_db::online::lists::{self as rows, Which as Rows};
use bursar_db::online::moves;
use bursar_db::{journal, statements};
use bursar_domain::Date;
use bursar_domain::ids::{EntryId, MemberId, OnlineMoveId, OnlinePaymentId, PaymentId, StatementLineId};
use bursar_domain::money::Money;
use bursar_domain::online::{MoveKind, OnlineState};

use super::record::{self, MoveRecord, Record};
use super::{PAGE_MAX, READ, find};
use crate::act::View;
use crate::desk::{PAGE_ROWS, Page};
use crate::error::AppError;

/// One more than a page has, to know whether there is another.
const LIMIT: i64 = PAGE_ROWS as i64 + 1;

/// Which online payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    UnderWay,
    Succeeded,
    /// Failed, or not paid in time.
    Failed,
    /// Paid back, all of it.
    Refunded,
    /// Those that cannot be asked about or booked.
    Stuck,
}

impl Which {
    const fn rows(self) -> Rows<'static> {
        match self {
            Self::All => Rows::All,
            Self::UnderWay => Rows::In(&[OnlineState::Created, OnlineState::Open, OnlineState::Processing]),
            Self::Succeeded => Rows::In(&[OnlineState::Succeeded]),
            Self::Failed => Rows::In(&[OnlineState::Failed, OnlineState::Expired]),
            Self::Refunded => Rows::In(&[OnlineState::Refunded]),
            Self::Stuck => Rows::WithProblem,
        }
    }
}

/// The newest first, after this one.
pub fn payments(
    view: &mut View<'_, '_>,
    which: Which,
    after: Option<OnlinePaymentId>,
) -> Result<Page<Record>, AppError> {
    view.allow(&READ)?;
    let found = rows::payments(view.tx, view.organization, which.rows(), after, LIMIT)?;
    let is_more = found.len() > PAGE_ROWS;
    let shown = found.into_iter().take(PAGE_ROWS);
    let records: Result<Vec<Record>, AppError> = shown.map(|payment| record::of(view, payment)).collect();
    Ok(Page {
        rows: records?,
        is_more,
    })
}

/// Those that brought money for a charge, the newest first.
pub fn of_charge(view: &mut View<'_, '_>, charge: PaymentId) -> Result<Vec<OnlinePaymentId>, AppError> {
    view.allow(&READ)?;
    Ok(rows::of_charge(view.tx, view.organization, charge, LIMIT)?)
}

/// The one that the provider calls so.
pub fn by_name(view: &mut View<'_, '_>, name: &str) -> Result<Option<OnlinePaymentId>, AppError> {
    view.allow(&READ)?;
    Ok(rows::by_name(view.tx, view.organization, name)?)
}

/// A dispute, and whose payment it is about.
#[derive(Clone, Debug)]
pub struct Dispute {
    pub found: MoveRecord,
    pub payment: OnlinePaymentId,
    pub member_id: MemberId,
    pub member_name: String,
}

/// Those that have not ended first. An organization has few.
pub fn disputes(view: &mut View<'_, '_>) -> Result<Vec<Dispute>, AppError> {
    view.allow(&READ)?;
    let limit = i64::try_from(PAGE_MAX).unwrap_or(i64::MAX);
    let mut disputes = Vec::new();
    for found in moves::disputes(view.tx, view.organization, limit)? {
        // Every dispute has one; see the table.
        let Some(id) = found.online_id else {
            continue;
        };
        let payment = find(view, id)?;
        disputes.push(Dispute {
            found: record::of_move(found, |minor| Money::new(minor, payment.currency)),
            payment: id,
            member_id: payment.member_id,
            member_name: record::payer(view, payment.member_id)?,
        });
    }
    Ok(disputes)
}

/// A payout, and where it is in the books.
#[derive(Clone, Debug)]
pub struct Payout {
    pub found: MoveRecord,
    /// The day of its entry.
    pub booked: Option<Date>,
    /// The line of a bank statement that its entry accounts for.
    pub line: Option<StatementLineId>,
}

/// The newest first, after this one.
pub fn payouts(view: &mut View<'_, '_>, after: Option<OnlineMoveId>) -> Result<Page<Payout>, AppError> {
    view.allow(&READ)?;
    let currency = view.own()?.currency;
    let mut found = moves::page(view.tx, view.organization, MoveKind::Payout, after, LIMIT)?;
    let is_more = found.len() > PAGE_ROWS;
    found.truncate(PAGE_ROWS);
    let mut rows = Vec::with_capacity(found.len());
    for payout in found {
        let (booked, line) = match payout.entry_id {
            Some(entry) => booked(view, entry)?,
            None => (None, None),
        };
        let found = record::of_move(payout, |minor| Money::new(minor, currency));
        rows.push(Payout { found, booked, line });
    }
    Ok(Page { rows, is_more })
}

fn booked(
    view: &mut View<'_, '_>,
    entry: EntryId,
) -> Result<(Option<Date>, Option<StatementLineId>), AppError> {
    let links = statements::links_of_entry(view.tx, view.organization, entry)?;
    let entry = journal::get(view.tx, view.organization, entry)?;
    Ok((entry.map(|entry| entry.date), links.first().map(|link| link.line)))
}

/// What waits for an officer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub stuck: i64,
    pub disputes: i64,
}

pub fn counts(view: &mut View<'_, '_>) -> Result<Counts, AppError> {
    view.allow(&READ)?;
    let (stuck, disputes) = rows::waiting(view.tx, view.organization)?;
    Ok(Counts { stuck, disputes })
}
