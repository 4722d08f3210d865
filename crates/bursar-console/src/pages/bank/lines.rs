//! Lines of a statement, or all that are open: confirm what is proposed, keep some out of the books, take back.

use askama::Template;
use bursar_app::desk::PAGE_ROWS;
use bursar_app::statements::{self, CHANGE, Lines, ShownLine};
use bursar_app::{AppError, View};
use bursar_domain::Refusal;
use bursar_domain::ids::{Id, StatementLineId, kind};
use bursar_domain::money::Money;
use bursar_domain::statement::LineStatus;

use super::rows::{self, LineRow};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::sheet::Cell;
use crate::words;

const SHOWN: &[&str] = &[];

#[derive(Template)]
#[template(path = "bank/lines.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: String,
    /// The statement's, if it is one.
    account: String,
    remove: String,
    tabs: Vec<(String, &'static str, bool)>,
    may_change: bool,
    proposed: Vec<LineRow>,
    unclear: Vec<LineRow>,
    done: Vec<LineRow>,
    empty: &'static str,
    older: String,
    csv: String,
}

fn end(asking: &Asking) -> Result<String, Failure> {
    Ok(match asking.params.is_empty() {
        true => "bank/open".to_owned(),
        false => format!("bank/{}", asking.id::<kind::Statement>(0)?),
    })
}

/// What the address asks for, and about it.
struct Asked {
    title: String,
    account: String,
    remove: String,
    tab: &'static str,
    tabs: Vec<(String, &'static str, bool)>,
    shown: Vec<ShownLine>,
}

fn asked(view: &mut View<'_, '_>, asking: &Asking) -> Result<Asked, Failure> {
    let (frame, end) = (&asking.frame, end(asking)?);
    let mut which = Lines {
        open_only: true,
        ..Lines::default()
    };
    let (mut title, mut account, mut remove) = ("Lines to match".to_owned(), String::new(), String::new());
    let tab = match asking.query("show") {
        "done" if !asking.params.is_empty() => "done",
        _ => "open",
    };
    let mut tabs = Vec::new();
    if !asking.params.is_empty() {
        let id = asking.id::<kind::Statement>(0)?;
        let listed = statements::list(view, None)?;
        let missing = || Refusal::missing("there is no such statement");
        let one = listed
            .iter()
            .find(|one| one.statement.id == id)
            .ok_or_else(missing)?;
        title = super::days(one.statement.first_date, one.statement.last_date);
        account = words::label(&one.account);
        if frame.may(&statements::IMPORT) && one.lines() == one.count(LineStatus::Open) {
            remove = frame.at(&format!("undo/statement/{id}"));
        }
        which = Lines {
            statement: Some(id),
            from: one.statement.first_date,
            until: one.statement.last_date,
            open_only: tab == "open",
            ..Lines::default()
        };
        for (word, name) in [("open", "To match"), ("done", "Done")] {
            tabs.push((asking.with(&end, &[("show", word)]), name, word == tab));
        }
    }
    let mut shown = statements::show(view, &which)?;
    shown.retain(|one| tab == "open" || one.line.status != LineStatus::Open);
    Ok(Asked {
        title,
        account,
        remove,
        tab,
        tabs,
        shown,
    })
}

/// All of them, for a spreadsheet.
pub(in crate::pages) fn cells(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<Vec<Cell>>, Failure> {
    let shown = asked(view, asking)?.shown;
    let named = rows::lines(view, &shown)?;
    let row = |(one, row): (&ShownLine, LineRow)| {
        vec![
            Cell::Day(Some(one.line.date)),
            Cell::Text(row.who),
            Cell::Text(row.text),
            Cell::Text(row.state),
            Cell::Text(row.what),
            Cell::text(row.why),
            Cell::Money(Money::new(one.line.amount, one.currency)),
        ]
    };
    Ok(shown.iter().zip(named).map(row).collect())
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (frame, end) = (&asking.frame, end(asking)?);
    let Asked {
        title,
        account,
        remove,
        tab,
        tabs,
        shown,
    } = asked(view, asking)?;
    let (shown, is_more) = page(shown, Id::parse(asking.query("after")));
    let older = match (is_more, shown.last()) {
        (true, Some(last)) => asking.with(&end, &[("after", &last.line.id.to_string()), ("show", tab)]),
        _ => String::new(),
    };
    let (mut proposed, mut unclear, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows::lines(view, &shown)? {
        match (row.status, row.what.is_empty()) {
            (LineStatus::Open, false) => proposed.push(row),
            (LineStatus::Open, true) => unclear.push(row),
            (LineStatus::Matched | LineStatus::Booked | LineStatus::Ignored, _) => done.push(row),
        }
    }
    let page = Page {
        frame,
        form,
        title,
        account,
        remove,
        tabs,
        may_change: frame.may(&CHANGE),
        proposed,
        unclear,
        done,
        empty: match tab {
            "done" => "No line is done yet.",
            _ => "Every line is done.",
        },
        older,
        csv: asking.with(&format!("{end}/csv"), &[]),
    };
    Ok(page.render()?)
}

/// Those after a line, as many as a page has.
fn page(mut shown: Vec<ShownLine>, after: Option<StatementLineId>) -> (Vec<ShownLine>, bool) {
    let place = shown.iter().position(|one| Some(one.line.id) == after);
    if let Some(place) = place {
        shown.drain(..=place);
    }
    let is_more = shown.len() > PAGE_ROWS;
    shown.truncate(PAGE_ROWS);
    (shown, is_more)
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let lines: Vec<StatementLineId> = form.all("line").filter_map(Id::parse).collect();
    if lines.is_empty() {
        return Err(Problem::of("lines", "Choose at least one line.").into());
    }
    let to = asking.with(&end(asking)?, &[]);
    let undo = format!("lines/{}", form.get("key"));
    let many = |count| words::count(count, "line", "lines");
    Ok(Sent::Do(match form.get("do") {
        "confirm" => {
            let form = form.clone();
            Box::new(move |act| {
                let settled = statements::confirm(act, &lines)?;
                rows::check_plans(&form, &settled)?;
                let sum: i64 = settled.iter().map(|one| one.line.amount).sum();
                let sum = settled.first().map(|one| Money::new(sum, one.currency));
                let sum = sum.map_or_else(String::new, |sum| format!(", {} in all", words::money_in(sum)));
                let said = format!("Confirmed {}{sum}.", many(settled.len()));
                Ok(settled_by(&to, said, &undo, &lines))
            })
        }
        "ignore" => Box::new(move |act| {
            let ignored = statements::ignore(act, &lines)?;
            let said = format!("Excluded {} from the books.", many(ignored.len()));
            Ok(settled_by(&to, said, &undo, &lines))
        }),
        "undo" => Box::new(move |act| -> Result<Done, AppError> {
            let undone = statements::undo(act, &lines)?;
            Ok(Done::new(
                to.clone(),
                format!("Undone: {} to match again.", many(undone.len())),
            ))
        }),
        _ => return Err(Problem::of("do", "Choose what to do with the lines.").into()),
    }))
}

/// What was done with lines, and can be undone.
pub(super) fn settled_by(to: &str, said: String, undo: &str, lines: &[StatementLineId]) -> Done {
    Done {
        undo: Some(undo.to_owned()),
        lines: lines.iter().map(ToString::to_string).collect(),
        ..Done::new(to, said)
    }
}
