//! What the bank says an account holds against what the books say, and what explains the difference.

use bursar_db::{journal, statements as rows};
use bursar_domain::account::Account;
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::money::Money;
use bursar_domain::statement::{Balance, LineStatus, StatementLine};
use bursar_domain::{Date, Refusal};

use super::{RECONCILE, bank_account};
use crate::act::View;
use crate::books;
use crate::error::AppError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    pub account: Account,
    pub at: Date,
    /// The last closing balance that a statement gave, if one did, with the day it is of.
    pub stated: Option<(Date, Money)>,
    /// What the account holds by the bank: the stated balance and the lines since. Without a stated one, what the books
    /// had before the first line, and all lines.
    pub bank_balance: Money,
    pub book_balance: Money,
    /// Lines that are in nobody's books yet.
    pub open_lines: Vec<StatementLine>,
    pub open_total: Money,
    /// Lines that stay out of the books.
    pub ignored_total: Money,
    /// Entries since the first statement that account for no line.
    pub entries: Vec<(Entry, Money)>,
    pub entries_total: Money,
    /// What is left of the difference between a stated balance and the books: statements are missing, or the opening
    /// balance is wrong.
    pub unexplained: Option<Money>,
}

/// At the end of a day; today if left out.
pub fn reconciliation(
    view: &mut View<'_, '_>,
    account: &str,
    at: Option<Date>,
) -> Result<Reconciliation, AppError> {
    view.allow(&RECONCILE)?;
    let books = books::open(view)?;
    let account = bank_account(view, account)?;
    let (organization, at) = (view.organization, at.unwrap_or(books.today));
    let total = |what, minor| Money::total(what, minor, books.organization.currency);
    let statements = rows::of_account(view.tx, organization, account.id)?;
    if statements.is_empty() {
        return Err(Refusal::missing(format!(
            "there are no statements of {:?}; import one with `bursar statement import`",
            account.name
        ))
        .into());
    }
    let book = journal::balance(view.tx, organization, account.id, Some(at))?;
    let stated = statements
        .iter()
        .filter_map(|statement| statement.closing)
        .filter(|closing| closing.date <= at)
        .max_by_key(|closing| closing.date);
    let first = statements
        .iter()
        .filter_map(|statement| statement.first_date)
        .min();
    let first = first.unwrap_or(at);
    let sums = rows::sums(view.tx, organization, account.id, (Date::FIRST, at))?;
    let sum_of = |wanted: LineStatus| -> i128 {
        let of = sums.iter().filter(|(status, _)| *status == wanted);
        of.map(|(_, sum)| *sum).sum()
    };
    // Where no statement gave a balance, the books say what there was before the first one.
    let (begin, known) = match stated {
        Some(Balance { date, amount }) => (date.plus_days(1), i128::from(amount)),
        None => {
            let before = Some(first.plus_days(-1));
            let held = journal::balance(view.tx, organization, account.id, before)?;
            (first, held)
        }
    };
    let since = match begin <= at {
        true => rows::sums(view.tx, organization, account.id, (begin, at))?,
        false => Vec::new(),
    };
    let bank = known + since.iter().map(|(_, sum)| *sum).sum::<i128>();
    let mut open_lines = rows::open_lines(view.tx, organization, account.id)?;
    open_lines.retain(|line| line.date <= at);
    // A line that was settled by entries of later days is open until then; one that was settled in part, for the rest.
    let mut later = 0;
    for (id, part) in rows::settled_later(view.tx, organization, account.id, at)? {
        later += part;
        let line = rows::line(view.tx, organization, id)?;
        let amount = i64::try_from(part).unwrap_or(i64::MAX);
        open_lines.extend(line.map(|line| StatementLine { amount, ..line }));
    }
    open_lines.sort_by_key(|line| (line.date, line.id));
    let mut entries = Vec::new();
    let mut loose = 0;
    for entry in journal::without_line(view.tx, organization, account.id, (first, at), at)? {
        let part = entry.sum_of(account.id);
        if part != 0 && entry.kind != EntryKind::Opening {
            loose += part;
            entries.push((entry, total("an entry", part)?));
        }
    }
    let (open, ignored) = (sum_of(LineStatus::Open) + later, sum_of(LineStatus::Ignored));
    let unexplained = stated.map(|_| bank - book - open - ignored + loose);
    Ok(Reconciliation {
        stated: stated.map(|closing| (closing.date, books.money(closing.amount))),
        bank_balance: total("the bank balance", bank)?,
        book_balance: total("the book balance", book)?,
        open_total: total("the open lines", open)?,
        ignored_total: total("the ignored lines", ignored)?,
        entries_total: total("the entries", loose)?,
        unexplained: unexplained
            .map(|minor| total("the difference", minor))
            .transpose()?,
        open_lines,
        entries,
        account,
        at,
    })
}
