//! Reports: one page for all of them, one file for each.

mod balances;
mod chapters;
mod dues;
mod income;
mod ledger;
mod owing;

use askama::Template;
use bursar_app::View;
use bursar_domain::organization::OrganizationKind;
use bursar_domain::{Date, Refusal};

use super::chart::Chart;
use super::period::{Chosen, Quick};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::reply::Download;
use crate::sheet::Sheet;
use crate::words;

/// What a report says.
pub(super) struct Report {
    /// What is counted, in a sentence.
    lead: String,
    sheet: Sheet,
    chart: Option<Chart>,
    /// A sentence below the table.
    note: String,
}

/// A report as it was asked for.
struct Asked<'a> {
    asking: &'a Asking,
    chosen: &'a Chosen,
}

type Make = fn(&mut View<'_, '_>, &Asked<'_>) -> Result<Report, Failure>;

/// What a person can choose beside the days.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    None,
    Basis,
    Account,
    /// The day at whose end it is, and no first day.
    At,
    /// Always as of today.
    Today,
}

struct Kind {
    word: &'static str,
    name: &'static str,
    about: &'static str,
    choice: Choice,
    make: Make,
}

const KINDS: [Kind; 6] = [
    Kind {
        word: "income",
        name: "Income and expense",
        about: "What was earned and spent, beside the period before and the budget.",
        choice: Choice::Basis,
        make: income::make,
    },
    Kind {
        word: "balances",
        name: "Balances",
        about: "What every account holds at the end of a day.",
        choice: Choice::At,
        make: balances::make,
    },
    Kind {
        word: "dues",
        name: "Dues",
        about: "What was expected and collected, by group and due day.",
        choice: Choice::None,
        make: dues::make,
    },
    Kind {
        word: "owing",
        name: "Who owes",
        about: "Everybody who owes today, by the age of the debt.",
        choice: Choice::Today,
        make: owing::make,
    },
    Kind {
        word: "ledger",
        name: "Ledger",
        about: "Entries of the journal, or one account with its running balance.",
        choice: Choice::Account,
        make: ledger::make,
    },
    Kind {
        word: "chapters",
        name: "Chapters",
        about: "Members and dues of every chapter, without anybody's name.",
        choice: Choice::None,
        make: chapters::make,
    },
];

fn is_there(kind: &Kind, frame: &Frame) -> bool {
    kind.word != "chapters" || frame.place.organization.kind == OrganizationKind::National
}

#[derive(Template)]
#[template(path = "reports.html")]
struct Index<'a> {
    frame: &'a Frame,
    /// Address, name, what it tells.
    kinds: Vec<(String, &'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    frame: &'a Frame,
    title: &'static str,
    here: String,
    csv: String,
    choice: Choice,
    from: String,
    until: String,
    quick: Vec<Quick>,
    basis: &'a str,
    accounts: Vec<(String, bool)>,
    wrong: String,
    report: Option<Report>,
    /// Chapters have currencies of their own.
    is_own_currency: bool,
}

pub(crate) fn index(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let there = KINDS.iter().filter(|kind| is_there(kind, frame));
    let page = Index {
        frame,
        kinds: there
            .map(|kind| (frame.at(&format!("reports/{}", kind.word)), kind.name, kind.about))
            .collect(),
    };
    Ok(page.render()?)
}

fn kind(asking: &Asking) -> Result<&'static Kind, Failure> {
    let word = asking.params.first().map_or("", String::as_str);
    let found = KINDS
        .iter()
        .find(|kind| kind.word == word && is_there(kind, &asking.frame));
    Ok(found.ok_or_else(|| Refusal::missing("there is no such report"))?)
}

fn today(view: &View<'_, '_>, frame: &Frame) -> Date {
    frame.place.organization.time_zone.date(view.now())
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let (kind, frame) = (kind(asking)?, &asking.frame);
    let end = format!("reports/{}", kind.word);
    let today = today(view, frame);
    let chosen = Chosen::of(asking, &end, today);
    let made = (kind.make)(
        view,
        &Asked {
            asking,
            chosen: &chosen,
        },
    );
    let (report, wrong) = match made {
        Ok(report) => (Some(report), String::new()),
        Err(failure) => match failure.problem() {
            Some(problem) => (None, problem.message),
            None => return Err(failure),
        },
    };
    let until = match kind.choice {
        Choice::At => balances::day(asking, today),
        _ => chosen.until,
    };
    let page = Page {
        frame,
        title: kind.name,
        csv: asking.with(&format!("{end}/csv"), &[]),
        here: frame.at(&end),
        choice: kind.choice,
        from: chosen.from.to_string(),
        until: until.to_string(),
        quick: match kind.choice {
            Choice::At | Choice::Today => Vec::new(),
            Choice::None | Choice::Basis | Choice::Account => chosen.quick,
        },
        basis: income::basis(asking).as_str(),
        accounts: match kind.choice {
            Choice::Account => ledger::accounts(view, asking)?,
            _ => Vec::new(),
        },
        wrong,
        report,
        is_own_currency: kind.word != "chapters",
    };
    Ok(page.render()?)
}

/// For a spreadsheet.
pub(crate) fn csv(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let kind = kind(asking)?;
    let today = today(view, &asking.frame);
    let chosen = Chosen::of(asking, "", today);
    let report = (kind.make)(
        view,
        &Asked {
            asking,
            chosen: &chosen,
        },
    )?;
    let days = match kind.choice {
        Choice::Today => today.to_string(),
        Choice::At => balances::day(asking, today).to_string(),
        Choice::None | Choice::Basis | Choice::Account => format!("{}-{}", chosen.from, chosen.until),
    };
    Ok(Download::csv(
        format!("{}-{days}.csv", kind.word),
        report.sheet.csv(),
    ))
}

/// "1 Jan 2026 to 31 Dec 2026"
fn days(from: Date, until: Date) -> String {
    format!("{} to {}", words::day(from), words::day(until))
}
