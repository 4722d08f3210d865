//! A member's statement of account, to print or to send as a PDF.

use askama::Template;
use bursar_app::View;
use bursar_app::member_statement::{self, MAIL, MemberStatement};
use bursar_domain::Date;
use bursar_domain::ids::kind;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::reply::Download;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;
use bursar_app::DbError;

const SHOWN: &[&str] = &[];

#[derive(Template)]
#[template(path = "statement.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    /// The address that it can be mailed to; empty if it cannot be.
    mail_to: String,
    member: String,
    name: String,
    pdf: String,
    from: String,
    until: String,
    days: String,
    closing_name: &'static str,
    closing: String,
    overdue: String,
    is_overdue: bool,
    how_to_pay: String,
    sheet: Sheet,
    open: Vec<(String, String, String)>,
}

fn read(view: &mut View<'_, '_>, asking: &Asking) -> Result<MemberStatement, Failure> {
    let day = |name| Date::parse(asking.query(name));
    let member = asking.id::<kind::Member>(0)?;
    Ok(member_statement::read(view, member, (day("from"), day("until")))?)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let statement = read(view, asking)?;
    let id = statement.member.id;
    let mut rows = vec![vec![
        Cell::Day(Some(statement.from)),
        Cell::text("Balance before"),
        Cell::Nothing,
        Cell::Nothing,
        Cell::Money(statement.opening),
    ]];
    let some = |amount: bursar_domain::money::Money| match amount.minor {
        0 => Cell::Nothing,
        _ => Cell::Money(amount),
    };
    rows.extend(statement.lines.iter().map(|line| {
        vec![
            Cell::Day(Some(line.date)),
            Cell::Text(line.told()),
            some(line.charged),
            some(line.credited),
            Cell::Money(line.balance),
        ]
    }));
    let page = Page {
        frame,
        form,
        mail_to: match frame.may(&MAIL) {
            true => statement.member.email.clone().unwrap_or_default(),
            false => String::new(),
        },
        member: id.to_string(),
        pdf: asking.with(&format!("members/{id}/statement/pdf"), &[]),
        from: statement.from.to_string(),
        until: statement.until.to_string(),
        days: format!(
            "{} to {}",
            words::day(statement.from),
            words::day(statement.until)
        ),
        closing_name: if statement.closing.minor < 0 {
            "Paid in advance"
        } else {
            "Owed"
        },
        closing: words::money_in(bursar_domain::money::Money::new(
            statement.closing.minor.saturating_abs(),
            statement.currency,
        )),
        overdue: words::money_in(statement.overdue),
        is_overdue: statement.overdue.minor > 0,
        how_to_pay: statement.how_to_pay.clone().unwrap_or_default(),
        sheet: Sheet {
            columns: vec!["Day", "What", "Charged", "Paid or deducted", "Balance"],
            amounts: 2,
            sections: vec![Section {
                rows,
                ..Section::default()
            }],
            totals: vec![vec![
                Cell::Day(Some(statement.until)),
                Cell::text("Total"),
                Cell::Money(statement.charged),
                Cell::Money(statement.credited),
                Cell::Money(statement.closing),
            ]],
        },
        open: statement
            .open
            .iter()
            .map(|open| {
                (
                    super::rows::described(&open.description),
                    words::day_or_dash(open.due_date),
                    words::money(open.open),
                )
            })
            .collect(),
        name: statement.member.name,
    };
    Ok(page.render()?)
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let member = asking.id::<kind::Member>(0)?;
    let named = bursar_app::names::of(view, &[member])?.told(Some(member));
    let days = (form.date("from")?, form.date("until")?);
    let to = asking.frame.at(&format!("members/{member}"));
    Ok(Sent::Do(Box::new(move |act| {
        member_statement::mail(act, member, days)?;
        Ok(Done::new(
            to.clone(),
            format!("The statement is on its way to {named}."),
        ))
    })))
}

pub(crate) fn pdf(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let statement = read(view, asking)?;
    let bytes = member_statement::pdf(&statement).map_err(|unset| DbError::Internal(unset.to_string()))?;
    let name = format!(
        "statement-{}-{}.pdf",
        statement.member.name.replace(' ', "-"),
        statement.until
    );
    Ok(Download::pdf(name, bytes))
}
