//! Takes a statement file in, whole or not at all.

use std::collections::{HashMap, HashSet};

use bursar_db::{accounts, statements as rows};
use bursar_domain::account::Account;
use bursar_domain::ids::{StatementId, StatementLineId};
use bursar_domain::journal::Recorder;
use bursar_domain::matching::Reason;
use bursar_domain::money::Money;
use bursar_domain::statement::{
    Balance, LineIdentity, LineStatus, Statement, StatementFormat, StatementLine, fitted,
};
use bursar_domain::text::{NAME, NOTE, REFERENCE};
use bursar_domain::{Date, Refusal};
use bursar_statements::{Column, Format, Options, StatementFile};
use sha2::{Digest, Sha256};

use super::{IMPORT, bank_account, confirm, propose};
use crate::act::{Act, View};
use crate::books;
use crate::error::AppError;

/// Lines may be dated so many days ahead: banks book on the next working day.
const DAYS_AHEAD_MAX: i64 = 7;

#[derive(Clone, Debug)]
pub struct NewStatement {
    /// An account's name.
    pub account: String,
    pub bytes: Vec<u8>,
    /// Told from the content if left out.
    pub format: Option<Format>,
    /// What the columns of a CSV file mean; as the last time if left out.
    pub columns: Vec<Column>,
}

/// A file that was read for an account.
#[derive(Clone, Debug)]
pub struct StatementRead {
    statement: Statement,
    lines: Vec<StatementLine>,
    /// Lines that the bank has not booked, or that are of no amount.
    left_out: usize,
    columns: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The statement, or the one of the same file that was imported before.
    pub id: StatementId,
    pub account: String,
    pub format: StatementFormat,
    pub lines: usize,
    pub new: usize,
    pub known: usize,
    /// New lines with a proposal.
    pub proposed: usize,
    /// New lines that were booked by their reference.
    pub booked: usize,
    /// Lines that the bank has not booked, or that are of no amount.
    pub left_out: usize,
    /// How the columns of a CSV file were read.
    pub columns: Vec<String>,
}

/// Reads a file for an account, without writing anything.
pub fn read(view: &mut View<'_, '_>, new: &NewStatement) -> Result<StatementRead, AppError> {
    view.allow(&IMPORT)?;
    let account = bank_account(view, &new.account)?;
    account.check_open("account")?;
    let currency = view.own()?.currency;
    let remembered: Result<Vec<Column>, String> = account
        .statement_columns
        .iter()
        .map(|column| column.parse())
        .collect();
    let remembered = remembered.unwrap_or_default();
    // A bank can change its columns. Then their names tell what they are, as the first time.
    let is_remembered = new.columns.is_empty() && bursar_statements::has_columns(&new.bytes, &remembered);
    let options = Options {
        currency: currency.code().to_owned(),
        decimals: currency.digits(),
        columns: match is_remembered {
            true => remembered,
            false => new.columns.clone(),
        },
    };
    let file = bursar_statements::read(&new.bytes, new.format, &options)
        .map_err(|problem| Refusal::unreadable(problem.to_string()))?;
    let today = books::open(view)?.today;
    Ok(StatementRead::new(&account, file, &new.bytes, today)?)
}

impl StatementRead {
    fn new(account: &Account, file: StatementFile, bytes: &[u8], today: Date) -> Result<Self, Refusal> {
        let own_account = only_account(&file)?;
        let mut seen: HashSet<(Date, i64, LineIdentity, i64)> = HashSet::new();
        let (mut lines, mut left_out) = (Vec::new(), file.pending);
        for statement in &file.statements {
            // Equal lines are counted in each statement of a file, because statements in one file can overlap too.
            let mut equal: HashMap<(Date, i64, LineIdentity), i64> = HashMap::new();
            for given in &statement.lines {
                if given.amount == 0 {
                    left_out += 1;
                    continue;
                }
                let mut line = line(account, given);
                check_line(&line, given.place, today)?;
                let identity = line.identity();
                let number = equal.entry((line.date, line.amount, identity)).or_insert(0);
                *number += 1;
                line.number = *number;
                if seen.insert((line.date, line.amount, identity, line.number)) {
                    lines.push(line);
                }
            }
        }
        lines.sort_by_key(|line| line.date);
        let (first, last) = (lines.first(), lines.last());
        let (first_date, last_date) = (first.map(|line| line.date), last.map(|line| line.date));
        let balance = |given: Option<bursar_statements::Balance>, fallback: Option<Date>| {
            let given = given?;
            let date = given.day.map(Date::from).or(fallback)?;
            Some(Balance {
                date,
                amount: given.amount,
            })
        };
        let of_all = file.statements.iter();
        let opening = of_all
            .clone()
            .find_map(|statement| balance(statement.opening, first_date));
        let closing = of_all
            .rev()
            .find_map(|statement| balance(statement.closing, last_date));
        let hash = Sha256::digest(bytes);
        let statement = Statement {
            id: StatementId::from_bits(0),
            account: account.id,
            format: format_of(file.format),
            file_hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            own_account,
            first_date,
            last_date,
            opening,
            closing,
            recorder: Recorder {
                kind: String::new(),
                id: None,
            },
            imported_at: bursar_domain::Timestamp::from_micros(0),
        };
        Ok(Self {
            statement,
            lines,
            left_out,
            columns: file.columns.iter().map(Column::to_string).collect(),
        })
    }
}

fn format_of(format: Format) -> StatementFormat {
    match format {
        Format::Camt053 => StatementFormat::Camt053,
        Format::Mt940 => StatementFormat::Mt940,
        Format::Ofx => StatementFormat::Ofx,
        Format::Csv => StatementFormat::Csv,
    }
}

/// The account that a file is about.
fn only_account(file: &StatementFile) -> Result<Option<String>, Refusal> {
    let mut accounts: Vec<&str> = file
        .statements
        .iter()
        .filter_map(|statement| statement.account.as_deref())
        .collect();
    accounts.sort_unstable();
    accounts.dedup();
    match accounts[..] {
        [] => Ok(None),
        [one] => Ok(fitted(NAME, one)),
        _ => Err(Refusal::unreadable(format!(
            "the file has statements of {} accounts: {}; export one account at a time",
            accounts.len(),
            accounts.join(", ")
        ))),
    }
}

fn line(account: &Account, given: &bursar_statements::Line) -> StatementLine {
    let fit = |rule, text: &Option<String>| text.as_deref().and_then(|text| fitted(rule, text));
    StatementLine {
        id: StatementLineId::from_bits(0),
        statement: StatementId::from_bits(0),
        account: account.id,
        date: given.day.into(),
        amount: given.amount,
        reference: fit(REFERENCE, &given.reference),
        end_to_end: fit(REFERENCE, &given.end_to_end),
        counterparty_name: fit(NAME, &given.counterparty_name),
        counterparty_account: fit(NAME, &given.counterparty_account),
        text: fitted(NOTE, &given.text).unwrap_or_default(),
        number: 1,
        status: LineStatus::Open,
        chosen: Vec::new(),
    }
}

fn check_line(line: &StatementLine, place: usize, today: Date) -> Result<(), Refusal> {
    let refuse = |reason: String| Err(Refusal::unreadable(format!("line {place}: {reason}")));
    let last = today.plus_days(DAYS_AHEAD_MAX);
    if line.date > last {
        return refuse(format!(
            "the booking day {} is in the future; today is {today}. Check how the file writes dates",
            line.date
        ));
    }
    if let Err(rule) = line.date.plausible(today) {
        return refuse(format!("the booking day {rule}"));
    }
    let size = i128::from(line.amount.unsigned_abs());
    match Money::within_limit(size, bursar_domain::money::Currency::USD) {
        Ok(_) => Ok(()),
        Err(_) => refuse("the amount is larger than what the books can hold".to_owned()),
    }
}

/// `auto_reference` books exact matches of our references, as the organization's own setting does.
pub fn import(
    act: &mut Act<'_, '_>,
    read: &StatementRead,
    auto_reference: bool,
) -> Result<Imported, AppError> {
    act.allow(&IMPORT)?;
    let own = act.own()?;
    let (organization, account_id) = (act.organization, read.statement.account);
    let account = bank_account(act, &account_id.to_string())?;
    account.check_open("account")?;
    let earlier = rows::of_account(act.tx, organization, account_id)?;
    let mut imported = Imported {
        id: act.new_id(),
        account: account.name.clone(),
        format: read.statement.format,
        lines: read.lines.len(),
        new: 0,
        known: read.lines.len(),
        proposed: 0,
        booked: 0,
        left_out: read.left_out,
        columns: read.columns.clone(),
    };
    check_own_account(&account, &earlier, &read.statement)?;
    let known = known_lines(act, read)?;
    let statement = imported.id;
    let mut new = Vec::new();
    for line in &read.lines {
        if !known.contains(&(line.date, line.amount, line.identity(), line.number)) {
            new.push(StatementLine {
                id: act.new_id(),
                statement,
                ..line.clone()
            });
        }
    }
    let same = earlier
        .iter()
        .find(|other| other.file_hash == read.statement.file_hash);
    if let (true, Some(same)) = (new.is_empty(), same) {
        imported.id = same.id;
        return Ok(imported);
    }
    check_formats(act, read)?;
    let statement = Statement {
        id: imported.id,
        recorder: Recorder {
            kind: act.caller.kind().to_owned(),
            id: act.caller.id(),
        },
        imported_at: act.now(),
        ..read.statement.clone()
    };
    rows::insert(act.tx, organization, &statement)?;
    rows::insert_lines(act.tx, organization, &new)?;
    if !read.columns.is_empty() && account.statement_columns != read.columns {
        let account = Account {
            statement_columns: read.columns.clone(),
            ..account.clone()
        };
        accounts::put(act.tx, organization, &account)?;
    }
    imported.new = new.len();
    imported.known = read.lines.len() - new.len();
    act.log(
        IMPORT.name,
        Some(imported.id.to_string()),
        i64::try_from(new.len()).ok(),
    )?;
    if new.is_empty() {
        return Ok(imported);
    }
    let ids: HashSet<StatementLineId> = new.iter().map(|line| line.id).collect();
    let proposals = propose::proposals(act, &account)?;
    let of_new = proposals
        .iter()
        .filter(|proposed| ids.contains(&proposed.line.id));
    if auto_reference || own.auto_reference {
        let exact: Vec<_> = of_new
            .filter(|proposed| {
                let proposal = &proposed.proposal;
                proposal.is_exact && proposal.reason == Reason::Reference
            })
            .cloned()
            .collect();
        imported.booked = confirm::carry_out_all(act, &account, &exact)?.len();
        let proposals = propose::proposals(act, &account)?;
        let of_new = proposals
            .iter()
            .filter(|proposed| ids.contains(&proposed.line.id));
        imported.proposed = of_new.count();
    } else {
        imported.proposed = of_new.count();
    }
    Ok(imported)
}

fn known_lines(
    act: &mut Act<'_, '_>,
    read: &StatementRead,
) -> Result<HashSet<(Date, i64, LineIdentity, i64)>, AppError> {
    let (Some(first), Some(last)) = (read.statement.first_date, read.statement.last_date) else {
        return Ok(HashSet::new());
    };
    let account = read.statement.account;
    let known = rows::identities(act.tx, act.organization, account, (first, last))?;
    Ok(known.into_iter().collect())
}

/// The same money has other references and texts in another format, so it would be taken twice.
fn check_formats(act: &mut Act<'_, '_>, read: &StatementRead) -> Result<(), AppError> {
    let (Some(first), Some(last)) = (read.statement.first_date, read.statement.last_date) else {
        return Ok(());
    };
    let days: HashSet<Date> = read.lines.iter().map(|line| line.date).collect();
    let (account, format) = (read.statement.account, read.statement.format);
    let mut other = rows::days_in_other_formats(act.tx, act.organization, account, (first, last), format)?;
    other.retain(|(day, ..)| days.contains(day));
    let (Some((from, format, id)), Some((until, ..))) = (other.first(), other.last()) else {
        return Ok(());
    };
    let days = match from == until {
        true => format!("{from} was"),
        false => format!("days from {from} to {until} were"),
    };
    Err(Refusal::conflict(format!(
        "{days} imported as {format} before, in {id}, and the same lines would be taken twice; import that format, export \
         other days only, or take the earlier import back with `bursar statement undo {id}`"
    ))
    .into())
}

/// A file of another bank account is most likely a mistake.
fn check_own_account(account: &Account, earlier: &[Statement], new: &Statement) -> Result<(), Refusal> {
    let Some(given) = &new.own_account else {
        return Ok(());
    };
    let other = earlier.iter().rev().find(|other| {
        other.format == new.format && other.own_account.as_ref().is_some_and(|own| own != given)
    });
    match other.and_then(|other| other.own_account.as_ref()) {
        Some(own) => Err(Refusal::conflict(format!(
            "the file is of bank account {given}, and earlier files for {:?} were of {own}; choose the account that it is \
             for, or create one with `bursar account create`",
            account.name
        ))),
        None => Ok(()),
    }
}
