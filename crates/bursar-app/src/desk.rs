//! Members, charges and orders as officers' lists have them, and the figures of the overview.

use std::collections::HashMap;

use bursar_db::charges;
use bursar_db::desk::{self, MemberFilter};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::{GroupId, MemberId, OrderId};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::{Date, Refusal, Timestamp};

use crate::act::View;
use crate::error::AppError;
use crate::resources::Readable;
use crate::rule::Rule;
use crate::search;

pub use bursar_db::charges::{ChargeLine, ChargePlace, ChargeQuery, Charges};
pub use bursar_db::desk::{MemberLine, MemberPlace, OrderRow, Orders, ReimbursementRow, Waiting};

pub const OVERVIEW: Rule = Rule::of("overview.read", Role::Viewer, "see the overview");
pub const RULES: &[&Rule] = &[&OVERVIEW];

/// Rows of a page.
pub const PAGE_ROWS: usize = 50;

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub rows: Vec<T>,
    pub is_more: bool,
}

impl<T> Page<T> {
    /// Of one row more than a page has.
    pub(crate) fn of(mut rows: Vec<T>) -> Self {
        let is_more = rows.len() > PAGE_ROWS;
        rows.truncate(PAGE_ROWS);
        Self { rows, is_more }
    }
}

fn limit() -> i64 {
    i64::try_from(PAGE_ROWS + 1).unwrap_or(i64::MAX)
}

#[derive(Clone, Debug, Default)]
pub struct MemberQuery {
    /// Words of the name, the e-mail address or the phone number.
    pub text: String,
    pub filter: Filter,
    /// Where the page before ended.
    pub after: Option<MemberPlace>,
}

pub type Filter = MemberFilter;

/// Members by name. With a text, those who match it, in no pages.
pub fn members(view: &mut View<'_, '_>, query: &MemberQuery) -> Result<Page<MemberLine>, AppError> {
    view.allow(&Member::READ)?;
    if !query.text.trim().is_empty() {
        let (rows, is_more) = search::members(view, &query.text, query.filter, PAGE_ROWS)?;
        return Ok(Page { rows, is_more });
    }
    let rows = desk::members(
        view.tx,
        view.organization,
        query.filter,
        query.after.as_ref(),
        limit(),
    )?;
    Ok(Page::of(rows))
}

/// What each of these members owes, less their credit.
pub fn balances(view: &mut View<'_, '_>, members: &[MemberId]) -> Result<HashMap<MemberId, Money>, AppError> {
    view.allow(&Member::READ)?;
    let currency = view.own()?.currency;
    let mut found = HashMap::new();
    for (member, sum) in desk::balances(view.tx, view.organization, members)? {
        found.insert(member, Money::total("the balance", sum, currency)?);
    }
    Ok(found)
}

/// A page of charges after a place.
pub fn charges(
    view: &mut View<'_, '_>,
    query: &ChargeQuery,
    after: Option<ChargePlace>,
) -> Result<Page<ChargeLine>, AppError> {
    view.allow(&Payment::READ)?;
    let rows = charges::page(view.tx, view.organization, query, after, limit())?;
    Ok(Page::of(rows))
}

/// A page of orders, the last changed first, after the one that had this time.
pub fn orders(
    view: &mut View<'_, '_>,
    which: Orders,
    after: Option<(Timestamp, OrderId)>,
) -> Result<Page<OrderRow>, AppError> {
    view.allow(&Order::READ)?;
    let rows = desk::orders(view.tx, view.organization, which, after, limit())?;
    Ok(Page::of(rows))
}

/// The last reimbursements of a member.
pub fn reimbursements_of(
    view: &mut View<'_, '_>,
    member: MemberId,
) -> Result<Page<ReimbursementRow>, AppError> {
    view.allow(&Reimbursement::READ)?;
    let rows = desk::reimbursements_of(view.tx, view.organization, member, limit())?;
    Ok(Page::of(rows))
}

/// A group's charges that are due this year.
#[derive(Clone, Copy, Debug)]
pub struct GroupYear {
    pub expected: Money,
    pub collected: Money,
    pub owed: Money,
    pub overdue: Money,
}

pub fn group_year(view: &mut View<'_, '_>, group: GroupId) -> Result<GroupYear, AppError> {
    view.allow(&Payment::READ)?;
    let own = view.own()?;
    let today = own.time_zone.date(view.now());
    let days = year_of(today);
    let sums = desk::of_group(view.tx, view.organization, group, days, today)?;
    let money = |sum| total(sum, own.currency);
    Ok(GroupYear {
        expected: money(sums.expected)?,
        collected: money(sums.collected)?,
        owed: money(sums.open)?,
        overdue: money(sums.overdue)?,
    })
}

fn year_of(today: Date) -> (Date, Date) {
    let year = today.to_string().get(..4).unwrap_or("1970").to_owned();
    let day = |text: &str| Date::parse(&format!("{year}-{text}")).unwrap_or(today);
    (day("01-01"), day("12-31"))
}

/// The year so far, and what waits.
#[derive(Clone, Debug)]
pub struct Overview {
    pub today: Date,
    pub expected: Money,
    pub collected: Money,
    pub owed: Money,
    pub overdue: Money,
    /// What members paid in advance.
    pub credit: Money,
    /// Twelve months of this year: expected and collected of what was due in them.
    pub months: Vec<(String, Money, Money)>,
    /// What is owed, by age: not due yet, up to 30 days late, 60, 90, and more.
    pub ages: [Money; 5],
    pub waiting: Waiting,
    /// Whether a group has dues.
    pub has_dues: bool,
}

/// Messages that failed this long ago are no longer shown as waiting.
const FAILED_DAYS: i64 = 30;
/// Tokens that expire so soon should be rotated.
const EXPIRING_DAYS: i64 = 14;

/// Days late at which an age begins.
const AGES: [i64; 4] = [1, 31, 61, 91];

pub fn overview(view: &mut View<'_, '_>) -> Result<Overview, AppError> {
    view.allow(&OVERVIEW)?;
    let own = view.own()?;
    let (currency, today) = (own.currency, own.time_zone.date(view.now()));
    let year = today.to_string().get(..4).unwrap_or("1970").to_owned();
    let day = |text: &str| Date::parse(&format!("{year}-{text}")).unwrap_or(today);
    let found = desk::months(view.tx, view.organization, day("01-01"), day("12-31"))?;
    let money = |sum| total(sum, currency);
    let mut months = Vec::with_capacity(12);
    let (mut expected, mut collected) = (0, 0);
    for month in 1..=12 {
        let name = format!("{year}-{month:02}");
        let of_month = found.iter().find(|line| line.month == name);
        let (due, paid) = of_month.map_or((0, 0), |line| (line.expected, line.collected));
        expected += due;
        collected += paid;
        months.push((name, money(due)?, money(paid)?));
    }
    let ages = owed_by_age(view, today)?;
    let credit = bursar_db::aside::balance(view.tx, view.organization, Standing::Credit.id())?;
    let [not_due, one, two, three, more] = ages;
    Ok(Overview {
        today,
        expected: money(expected)?,
        collected: money(collected)?,
        owed: money(ages.iter().sum())?,
        overdue: money(ages.iter().skip(1).sum())?,
        credit: money(-i128::from(credit))?,
        months,
        ages: [
            money(not_due)?,
            money(one)?,
            money(two)?,
            money(three)?,
            money(more)?,
        ],
        waiting: waiting(view)?,
        has_dues: desk::has_dues(view.tx, view.organization)?,
    })
}

/// What an officer of several organizations sees of each.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    pub owed: Money,
    pub overdue: Money,
    pub waiting: Waiting,
}

pub fn glance(view: &mut View<'_, '_>) -> Result<Glance, AppError> {
    view.allow(&OVERVIEW)?;
    let own = view.own()?;
    let ages = owed_by_age(view, own.time_zone.date(view.now()))?;
    Ok(Glance {
        owed: total(ages.iter().sum(), own.currency)?,
        overdue: total(ages.iter().skip(1).sum(), own.currency)?,
        waiting: waiting(view)?,
    })
}

/// What is not due yet, and what is late by the days of each age.
fn owed_by_age(view: &mut View<'_, '_>, today: Date) -> Result<[i128; 5], AppError> {
    let mut ages = [0; 5];
    for (due, sum) in desk::open_by_day(view.tx, view.organization)? {
        let late = due.map_or(0, |due| today.days() - due.days());
        let age = AGES.iter().filter(|days| late >= **days).count();
        if let Some(held) = ages.get_mut(age) {
            *held += sum;
        }
    }
    Ok(ages)
}

fn waiting(view: &mut View<'_, '_>) -> Result<Waiting, AppError> {
    let now = view.now();
    let found = desk::waiting(
        view.tx,
        view.organization,
        now.plus_days(-FAILED_DAYS),
        now,
        now.plus_days(EXPIRING_DAYS),
    )?;
    Ok(found)
}

fn total(sum: i128, currency: Currency) -> Result<Money, Refusal> {
    Money::total("this sum", sum, currency)
}
