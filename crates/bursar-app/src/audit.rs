//! The auditor's pack: the books of a year as files, with their checksums.
//!
//! Everything goes by the date of entries, so the pack of a closed year is always the same.

use bursar_db::{audit as rows, journal};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::attachment::Subject;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::Organization;
use bursar_domain::payment::Payment;
use bursar_domain::{Date, Refusal};

use crate::act::View;
use crate::attachments;
use crate::error::AppError;
use crate::export::ExportError;
use crate::journal_export::{self, Format};
use crate::reports::{self, Basis, IncomeLine, Span};
use crate::rule::Rule;
use crate::spreadsheet::record;

pub const PACK: Rule = Rule::of("report.audit", Role::Viewer, "read reports");
pub const RULES: &[&Rule] = &[&PACK];

/// Takes a file of the pack, in order.
pub type Sink<'a> = &'a mut dyn FnMut(&str, &[u8]) -> Result<(), ExportError>;

/// The files of a calendar year; the first one explains the others.
pub fn pack(view: &mut View<'_, '_>, year: i16, sink: Sink<'_>) -> Result<(), ExportError> {
    view.allow(&PACK)?;
    let own = view.own()?;
    let (first, last) = days(year).map_err(AppError::from)?;
    let today = own.time_zone.date(view.now());
    if first > today {
        let rule = format!("must not be after this year, got {year}");
        return Err(AppError::from(Refusal::invalid("year", rule)).into());
    }
    let mut journal = Vec::new();
    let entries = export(view, Format::Csv, (first, last), &mut journal)?;
    sink(
        "README.txt",
        readme(&own, year, (first, last), entries).as_bytes(),
    )?;
    sink("journal.csv", &journal)?;
    for (name, format) in [
        ("journal.hledger", Format::Hledger),
        ("journal.beancount", Format::Beancount),
    ] {
        journal.clear();
        export(view, format, (first, last), &mut journal)?;
        sink(name, &journal)?;
    }
    let before = first.plus_days(-1);
    sink("balances-start.csv", balances(view, before)?.as_bytes())?;
    sink("balances-end.csv", balances(view, last)?.as_bytes())?;
    for (name, basis) in [
        ("income-accrual.csv", Basis::Accrual),
        ("income-cash.csv", Basis::Cash),
    ] {
        sink(name, income(view, Span::of(first, last), basis)?.as_bytes())?;
    }
    sink(
        "members.csv",
        members(view, own.currency, (before, last))?.as_bytes(),
    )?;
    sink("owing.csv", owing(view, own.currency, last)?.as_bytes())?;
    attached(view, (first, last), sink)
}

fn export(
    view: &mut View<'_, '_>,
    format: Format,
    (first, last): (Date, Date),
    out: &mut Vec<u8>,
) -> Result<u64, ExportError> {
    journal_export::export(view, format, (Some(first), Some(last)), out, &mut |_| {})
}

fn readme(own: &Organization, year: i16, (first, last): (Date, Date), entries: u64) -> String {
    let closed = match own.closed_until {
        Some(day) if day >= last => format!("The books are closed until {day}."),
        Some(day) => format!("The books are closed until {day}; entries after that can still be added."),
        None => "The books are not closed: entries can still be added.".to_owned(),
    };
    README
        .replace("{year}", &year.to_string())
        .replace("{first}", &first.to_string())
        .replace("{last}", &last.to_string())
        .replace("{currency}", own.currency.code())
        .replace("{entries}", &entries.to_string())
        .replace("{closed}", &closed)
        .replace("{organization}", &own.name)
}

/// Receipts of the year's entries, and of reimbursements with an entry in the year.
fn attached(view: &mut View<'_, '_>, (first, last): (Date, Date), sink: Sink<'_>) -> Result<(), ExportError> {
    for attachment in attachments::list(view, None)? {
        let entries = match attachment.subject {
            Subject::Entry(id) => journal::get(view.tx, view.organization, id)?
                .into_iter()
                .collect(),
            Subject::Reimbursement(id) => journal::of_reimbursement(view.tx, view.organization, id)?,
        };
        if entries.iter().any(|entry| (first..=last).contains(&entry.date)) {
            let file = attachments::get(view, attachment.id)?;
            sink(
                &format!("attachments/{}-{}", attachment.id, attachment.name),
                &file.bytes,
            )?;
        }
    }
    Ok(())
}

const README: &str = "{organization}: the books of {year}

{first} to {last}, {entries} entries, amounts in {currency}. {closed}

journal.csv         every entry with its postings; a debit is positive, a credit negative
journal.hledger     the same for hledger and ledger
journal.beancount   the same for beancount
balances-start.csv  what each account held before the first day
balances-end.csv    what each account held at the end of the last day
income-accrual.csv  income and expense by what was charged and spent, beside the year before and the budget
income-cash.csv     income and expense by what was received and paid
members.csv         what each member and chapter owed, and their credit, before the first day and at the end of the last
owing.csv           the charges that were open at the end of the last day
attachments/        receipts of the year's entries and reimbursements, if there are any, by id and name
SHA256SUMS          checksums; `sha256sum -c SHA256SUMS` checks them

The sums of members.csv are the accounts receivable and credit of the balances; the sum of owing.csv is receivable.
";

fn days(year: i16) -> Result<(Date, Date), Refusal> {
    let day = |text: String| Date::parse(&text);
    let days = day(format!("{year:04}-01-01")).zip(day(format!("{year:04}-12-31")));
    days.filter(|_| year >= 1_900)
        .ok_or_else(|| Refusal::invalid("year", format!("must be a year since 1900, got {year}")))
}

fn balances(view: &mut View<'_, '_>, at: Date) -> Result<String, AppError> {
    let (lines, _) = reports::balances(view, Some(at))?;
    let mut out = record(["type", "account", "amount"]);
    for line in lines.iter().filter(|line| line.amount.minor != 0) {
        out += &record([
            line.r#type.to_string(),
            line.account.clone(),
            line.amount.to_string(),
        ]);
    }
    Ok(out)
}

fn income(view: &mut View<'_, '_>, span: Span, basis: Basis) -> Result<String, AppError> {
    let report = reports::income(view, span, basis)?;
    let mut out = record(["type", "account", "amount", "year before", "budget"]);
    let mut section = |kind: &str, lines: &[IncomeLine]| {
        for line in lines {
            let budget = line.budget.map_or_else(String::new, |budget| budget.to_string());
            out += &record([
                kind.to_owned(),
                line.account.clone(),
                line.amount.to_string(),
                line.before.to_string(),
                budget,
            ]);
        }
    };
    section("income", &report.income);
    section("expense", &report.expense);
    let before = report.totals_before.result;
    out += &record([
        "result".to_owned(),
        String::new(),
        report.result.to_string(),
        before.to_string(),
        String::new(),
    ]);
    Ok(out)
}

/// Owed and credit of everybody who has some on one of two days, and the sums.
fn members(
    view: &mut View<'_, '_>,
    currency: Currency,
    (before, last): (Date, Date),
) -> Result<String, AppError> {
    let accounts = [Standing::Receivable.id(), Standing::Credit.id()];
    let mut found = std::collections::BTreeMap::new();
    for (n, day) in [before, last].into_iter().enumerate() {
        for (m, account) in accounts.into_iter().enumerate() {
            for (debtor, sum) in rows::by_debtor(view.tx, view.organization, account, day)? {
                found.entry(debtor).or_insert([0; 4])[n * 2 + m] += sum;
            }
        }
    }
    found.retain(|_, sums: &mut [i128; 4]| *sums != [0; 4]);
    let mut out = record([
        "name",
        "id",
        "owed at start",
        "credit at start",
        "owed at end",
        "credit at end",
    ]);
    let mut totals = [0; 4];
    for (debtor, sums) in found {
        let (name, id) = named(view, debtor)?;
        out += &record([name, id].into_iter().chain(amounts(sums, currency)?));
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += sum;
        }
    }
    out += &record(
        ["total".to_owned(), String::new()]
            .into_iter()
            .chain(amounts(totals, currency)?),
    );
    Ok(out)
}

/// Credit is shown positive.
fn amounts(
    [owed, credit, owed_after, credit_after]: [i128; 4],
    currency: Currency,
) -> Result<[String; 4], Refusal> {
    let money =
        |minor: i128| Money::total("what members owe", minor, currency).map(|money| money.to_string());
    Ok([
        money(owed)?,
        money(-credit)?,
        money(owed_after)?,
        money(-credit_after)?,
    ])
}

fn named(view: &mut View<'_, '_>, debtor: rows::Debtor) -> Result<(String, String), AppError> {
    Ok(match debtor {
        (Some(member), _) => {
            let found = view.get::<Member>(member)?;
            (
                found.map_or_else(String::new, |member| member.name()),
                member.to_string(),
            )
        }
        (None, Some(chapter)) => {
            let found = bursar_db::organizations::get(view.tx, chapter)?;
            (
                found.map_or_else(String::new, |chapter| chapter.name),
                chapter.to_string(),
            )
        }
        (None, None) => ("(nobody named)".to_owned(), String::new()),
    })
}

/// Charges that were open at the end of a day.
fn owing(view: &mut View<'_, '_>, currency: Currency, last: Date) -> Result<String, AppError> {
    let mut out = record([
        "name",
        "id",
        "payment",
        "description",
        "due date",
        "days overdue",
        "reference",
        "open",
    ]);
    let mut total = 0;
    for (payment, debtor, open) in rows::open_charges(view.tx, view.organization, last)? {
        let (name, id) = named(view, debtor)?;
        let found = match payment {
            Some(payment) => view.get::<Payment>(payment)?,
            None => None,
        };
        let due = found.as_ref().and_then(|payment| payment.due_date);
        let overdue = due
            .filter(|due| *due < last)
            .map(|due| (last.days() - due.days()).to_string());
        let reference = found
            .as_ref()
            .and_then(|payment| payment.reference.as_deref())
            .map(spaced);
        out += &record([
            name,
            id,
            payment.map(|id| id.to_string()).unwrap_or_default(),
            found.map(|payment| payment.description).unwrap_or_default(),
            due.map(|due| due.to_string()).unwrap_or_default(),
            overdue.unwrap_or_default(),
            reference.unwrap_or_default(),
            Money::total("what is owed", open, currency)?.to_string(),
        ]);
        total += open;
    }
    let total = Money::total("what is owed", total, currency)?.to_string();
    out += &record(["total", "", "", "", "", "", "", &total]);
    Ok(out)
}
