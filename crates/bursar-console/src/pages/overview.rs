//! The overview: the year in figures, and what waits.

use askama::Template;
use bursar_app::View;
use bursar_app::activity::{self, Query};
use bursar_app::books::receipts::RECORD;
use bursar_app::desk;
use bursar_app::members::ADD;
use bursar_domain::Date;
use bursar_domain::account::Standing;
use bursar_domain::money::Money;

use super::rows::ActivityRow;
use super::{charges, waiting};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

const AGES: [&str; 5] = [
    "Not due yet",
    "Up to 30 days late",
    "31 to 60 days",
    "61 to 90 days",
    "More than 90 days",
];
/// Of the bars, in the units of the drawing.
const BAR_HEIGHT: i128 = 180;
const GROUND: i128 = 192;

struct Bar {
    name: &'static str,
    /// The charges that were due in the month.
    to: String,
    expected: String,
    collected: String,
    title: String,
    expected_y: i128,
    expected_height: i128,
    collected_y: i128,
    collected_height: i128,
}

struct Age {
    name: &'static str,
    /// The charges of this age.
    to: String,
    amount: String,
    width: i128,
    is_late: bool,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct Page<'a> {
    frame: &'a Frame,
    year: String,
    may_record: bool,
    /// No group has dues yet, and the person may bring members in.
    is_new: bool,
    /// The charges behind the figures.
    due: String,
    paid: String,
    late: String,
    expected: String,
    collected: String,
    share: String,
    owed: String,
    overdue: String,
    is_overdue: bool,
    bars: Vec<Bar>,
    ages: Vec<Age>,
    /// Needs attention: where it is, and what to do.
    waiting: Vec<(&'static str, String)>,
    has_credit: bool,
    credit: String,
    /// The account of what was paid in advance.
    credits: String,
    activity: Vec<ActivityRow>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let figures = desk::overview(view)?;
    let frame = &asking.frame;
    let part = |part: Money, whole: i128| match whole {
        0 => 0,
        whole => i128::from(part.minor) * BAR_HEIGHT / whole,
    };
    let months = &figures.months;
    let highest = months
        .iter()
        .map(|(_, expected, collected)| expected.minor.max(collected.minor));
    let highest = i128::from(highest.max().unwrap_or(0));
    let bar = |(place, (month, expected, collected)): (usize, &(String, Money, Money))| {
        let name = words::MONTHS.get(place).copied().unwrap_or("");
        let (tall, full) = (part(*expected, highest), part(*collected, highest));
        Bar {
            name,
            to: frame.at(&charges::end("expected", days_of(month))),
            expected: words::money(*expected),
            collected: words::money(*collected),
            title: format!(
                "{name}: {} of {} collected",
                words::money(*collected),
                words::money_in(*expected)
            ),
            expected_y: GROUND - tall,
            expected_height: tall,
            collected_y: GROUND - full,
            collected_height: full,
        }
    };
    let most = figures.ages.iter().map(|age| age.minor).max().unwrap_or(0).max(1);
    let age = |(place, amount): (usize, &Money)| Age {
        name: AGES.get(place).copied().unwrap_or(""),
        to: frame.at(&charges::end("open", late_by(figures.today, place))),
        amount: words::money(*amount),
        width: i128::from(amount.minor) * 100 / i128::from(most),
        is_late: place > 0,
    };
    let share = match figures.expected.minor {
        0 => "\u{2013}".to_owned(),
        expected => format!(
            "{} %",
            i128::from(figures.collected.minor) * 100 / i128::from(expected)
        ),
    };
    let year = match (months.first(), months.last()) {
        (Some((first, ..)), Some((last, ..))) => (days_of(first).0, days_of(last).1),
        _ => (None, None),
    };
    let page = Page {
        frame,
        year: figures.today.to_string().get(..4).unwrap_or("").to_owned(),
        may_record: frame.may(&RECORD),
        is_new: frame.may(&ADD) && !figures.has_dues,
        due: frame.at(&charges::end("expected", year)),
        paid: frame.at(&charges::end("collected", year)),
        late: frame.at(&charges::end("open", (None, Some(figures.today.plus_days(-1))))),
        expected: words::money_in(figures.expected),
        collected: words::money_in(figures.collected),
        share,
        owed: words::money_in(figures.owed),
        overdue: words::money_in(figures.overdue),
        is_overdue: figures.overdue.minor > 0,
        bars: months.iter().enumerate().map(bar).collect(),
        ages: figures.ages.iter().enumerate().map(age).collect(),
        waiting: waiting::words(figures.waiting, frame.place.role),
        has_credit: figures.credit.minor > 0,
        credit: words::money_in(figures.credit),
        credits: frame.at(&format!("reports/ledger?account={}", Standing::Credit.as_str())),
        activity: match frame.may(&activity::LIST) {
            true => {
                super::activity::rows(
                    view,
                    frame,
                    &Query {
                        limit: 8,
                        ..Query::default()
                    },
                )?
                .0
            }
            false => Vec::new(),
        },
    };
    Ok(page.render()?)
}

/// The first and the last day of a month such as `2026-05`.
fn days_of(month: &str) -> (Option<Date>, Option<Date>) {
    let last = (28..=31)
        .rev()
        .find_map(|day| Date::parse(&format!("{month}-{day}")));
    (Date::parse(&format!("{month}-01")), last)
}

/// The due days of what is late by this age; the first is not late.
fn late_by(today: Date, age: usize) -> (Option<Date>, Option<Date>) {
    let ago = |days: i64| Some(today.plus_days(-days));
    match age {
        0 => (ago(0), None),
        1 => (ago(30), ago(1)),
        2 => (ago(60), ago(31)),
        3 => (ago(90), ago(61)),
        _ => (None, ago(91)),
    }
}
