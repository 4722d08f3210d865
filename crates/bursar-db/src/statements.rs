//! Bank statements: imported files, their lines, and the journal entries that account for a line.

use bursar_domain::Date;
use bursar_domain::ids::{AccountId, EntryId, MemberId, OrganizationId, StatementId, StatementLineId};
use bursar_domain::journal::Recorder;
use bursar_domain::statement::{
    Balance, LineIdentity, LineStatus, Statement, StatementFormat, StatementLine, Target,
};

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns, read};
use crate::sums::sum;
use crate::table::{int, key, text, text_opt};
pub use crate::tables::{STATEMENT_LINES, STATEMENT_LINKS, STATEMENTS};

const CHUNK_ROWS: usize = 1_000;

macro_rules! statement_columns {
    () => {
        "id, account_id, format, file_hash, own_account, first_date, last_date, opening_date, opening_balance, \
         closing_date, closing_balance, recorder_kind, recorder_id, imported_at"
    };
}

macro_rules! line_columns {
    () => {
        "id, statement_id, account_id, date, amount, reference, end_to_end, counterparty_name, counterparty_account, \
         text, number, status, chosen"
    };
}

macro_rules! select_statements {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            statement_columns!(),
            " FROM statements WHERE organization_id = ?1 ",
            $rest
        )
    };
}

macro_rules! select_lines {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM statement_lines WHERE organization_id = ?1 ",
            $rest
        )
    };
}

fn balance(columns: &mut Columns<'_, '_>) -> Result<Option<Balance>, DbError> {
    let (date, amount): (Option<Date>, Option<i64>) = columns.next()?;
    Ok(date.zip(amount).map(|(date, amount)| Balance { date, amount }))
}

impl FromColumns for Statement {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        Ok(Self {
            id: columns.next()?,
            account: columns.next()?,
            format: columns.next()?,
            file_hash: columns.next()?,
            own_account: columns.next()?,
            first_date: columns.next()?,
            last_date: columns.next()?,
            opening: balance(columns)?,
            closing: balance(columns)?,
            recorder: Recorder {
                kind: columns.next()?,
                id: columns.next()?,
            },
            imported_at: columns.next()?,
        })
    }
}

impl FromColumns for StatementLine {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        Ok(Self {
            id: columns.next()?,
            statement: columns.next()?,
            account: columns.next()?,
            date: columns.next()?,
            amount: columns.next()?,
            reference: columns.next()?,
            end_to_end: columns.next()?,
            counterparty_name: columns.next()?,
            counterparty_account: columns.next()?,
            text: columns.next()?,
            number: columns.next()?,
            status: columns.next()?,
            chosen: targets(columns.next()?)?,
        })
    }
}

fn targets(kept: Option<String>) -> Result<Vec<Target>, DbError> {
    let read = |id: &str| {
        Target::parse(id).ok_or_else(|| DbError::Internal(format!("{id:?} cannot be chosen for a line")))
    };
    kept.unwrap_or_default().split_whitespace().map(read).collect()
}

fn chosen(targets: &[Target]) -> Option<String> {
    let ids: Vec<String> = targets.iter().map(Target::to_string).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}

fn date_opt(date: Option<Date>) -> OwnedValue {
    date.map_or(OwnedValue::Null, |date| text(&date.to_string()))
}

pub fn statement_values(organization: OrganizationId, statement: &Statement) -> Vec<OwnedValue> {
    let date = |balance: Option<Balance>| date_opt(balance.map(|balance| balance.date));
    let amount = |balance: Option<Balance>| balance.map_or(OwnedValue::Null, |balance| int(balance.amount));
    vec![
        key(organization),
        key(statement.id),
        key(statement.account),
        text(statement.format.as_str()),
        text(&statement.file_hash),
        text_opt(statement.own_account.as_deref()),
        date_opt(statement.first_date),
        date_opt(statement.last_date),
        date(statement.opening),
        amount(statement.opening),
        date(statement.closing),
        amount(statement.closing),
        text(&statement.recorder.kind),
        text_opt(statement.recorder.id.as_deref()),
        int(statement.imported_at.micros()),
    ]
}

pub fn line_values(organization: OrganizationId, line: &StatementLine) -> Vec<OwnedValue> {
    vec![
        key(organization),
        key(line.id),
        key(line.statement),
        key(line.account),
        text(&line.date.to_string()),
        int(line.amount),
        text_opt(line.reference.as_deref()),
        text_opt(line.end_to_end.as_deref()),
        text_opt(line.counterparty_name.as_deref()),
        text_opt(line.counterparty_account.as_deref()),
        text(&line.text),
        OwnedValue::Bytes(line.identity().to_vec()),
        int(line.number),
        text(line.status.as_str()),
        text_opt(chosen(&line.chosen).as_deref()),
    ]
}

pub fn insert(tx: &mut Tx<'_>, organization: OrganizationId, statement: &Statement) -> Result<(), DbError> {
    tx.load(&STATEMENTS, &[statement_values(organization, statement)])
}

pub fn insert_lines(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    lines: &[StatementLine],
) -> Result<(), DbError> {
    for chunk in lines.chunks(CHUNK_ROWS) {
        let rows: Vec<_> = chunk.iter().map(|line| line_values(organization, line)).collect();
        tx.load(&STATEMENT_LINES, &rows)?;
    }
    Ok(())
}

pub fn get(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: StatementId,
) -> Result<Option<Statement>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        select_statements!("AND id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// In the order they were imported.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Statement>, DbError> {
    tx.rows(
        select_statements!("ORDER BY id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// In the order they were imported.
pub fn of_account(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
) -> Result<Vec<Statement>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    tx.rows(
        OF_ACCOUNT,
        &[Value::Bytes(&organization), Value::Bytes(&account)],
        read,
    )
}

const OF_ACCOUNT: &str = select_statements!(
    "AND id IN (SELECT id FROM statements WHERE organization_id = ?1 AND account_id = ?2) ORDER BY id"
);

/// How many lines of each statement have which status.
pub fn counts(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(StatementId, LineStatus, i64)>, DbError> {
    tx.rows(
        "SELECT statement_id, status, COUNT(*) FROM statement_lines WHERE organization_id = ?1 \
         GROUP BY statement_id, status",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// What tells the lines of these days apart, both days included: day, amount, identity and number.
pub fn identities(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
) -> Result<Vec<(Date, i64, LineIdentity, i64)>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        IDENTITIES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

const IDENTITIES: &str = "SELECT date, amount, identity, number FROM statement_lines \
    WHERE organization_id = ?1 AND account_id = ?2 AND date >= ?3 AND date <= ?4";

/// Days with lines that came in another format, by day.
pub fn days_in_other_formats(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
    format: StatementFormat,
) -> Result<Vec<(Date, StatementFormat, StatementId)>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        IN_OTHER_FORMATS,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
            Value::Text(format.as_str()),
        ],
        read,
    )
}

const IN_OTHER_FORMATS: &str = "SELECT DISTINCT l.date, s.format, s.id FROM statement_lines l CROSS JOIN statements s \
    WHERE l.organization_id = ?1 AND l.account_id = ?2 AND l.date >= ?3 AND l.date <= ?4 \
    AND s.organization_id = ?1 AND s.id = l.statement_id AND s.format <> ?5 ORDER BY l.date, s.id";

pub fn line(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: StatementLineId,
) -> Result<Option<StatementLine>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        select_lines!("AND id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// By day and id.
pub fn open_lines(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
) -> Result<Vec<StatementLine>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    tx.rows(
        OPEN_LINES,
        &[Value::Bytes(&organization), Value::Bytes(&account)],
        read,
    )
}

const OPEN_LINES: &str = select_lines!("AND account_id = ?2 AND status = 'open' ORDER BY date, id");

/// By day and id, both days included.
pub fn lines_between(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
) -> Result<Vec<StatementLine>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        LINES_BETWEEN,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

const LINES_BETWEEN: &str =
    select_lines!("AND account_id = ?2 AND date >= ?3 AND date <= ?4 ORDER BY date, id");

/// By id.
pub fn lines_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    statement: StatementId,
) -> Result<Vec<StatementLine>, DbError> {
    let (organization, statement) = (organization.to_bytes(), statement.to_bytes());
    tx.rows(
        LINES_OF,
        &[Value::Bytes(&organization), Value::Bytes(&statement)],
        read,
    )
}

const LINES_OF: &str = select_lines!(
    "AND id IN (SELECT id FROM statement_lines WHERE organization_id = ?1 AND statement_id = ?2) ORDER BY id"
);

/// The sum of an account's lines between two days, both included, by status.
pub fn sums(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
) -> Result<Vec<(LineStatus, i128)>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        concat!(
            "SELECT status, ",
            sum!("amount"),
            " FROM statement_lines WHERE organization_id = ?1 AND account_id = ?2 AND date >= ?3 AND date <= ?4 \
             GROUP BY status"
        ),
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

pub fn update_line(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    line: &StatementLine,
) -> Result<(), DbError> {
    let (organization, id, chosen) = (organization.to_bytes(), line.id.to_bytes(), chosen(&line.chosen));
    tx.execute(
        "UPDATE statement_lines SET status = ?3, chosen = ?4 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(line.status.as_str()),
            chosen.as_deref().map_or(Value::Null, Value::Text),
        ],
    )
    .map(drop)
}

/// Takes the file and its lines out again. None of them may have links.
pub fn remove(tx: &mut Tx<'_>, organization: OrganizationId, statement: StatementId) -> Result<(), DbError> {
    let (organization, statement) = (organization.to_bytes(), statement.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&statement)];
    tx.execute(
        "DELETE FROM statement_lines WHERE organization_id = ?1 AND statement_id = ?2",
        &params,
    )?;
    tx.execute(
        "DELETE FROM statements WHERE organization_id = ?1 AND id = ?2",
        &params,
    )
    .map(drop)
}

/// An entry that accounts for a line, or for a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub line: StatementLineId,
    pub entry: EntryId,
    pub account: AccountId,
    /// The entry was made from the line, so that undo takes it back.
    pub is_made: bool,
}

crate::rows::record! { link_columns: Link { line = "line_id", entry = "entry_id", account = "account_id", is_made } }

macro_rules! select_links {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            link_columns!(),
            " FROM statement_links WHERE organization_id = ?1 ",
            $rest
        )
    };
}

pub fn link_values(organization: OrganizationId, link: &Link) -> Vec<OwnedValue> {
    vec![
        key(organization),
        key(link.line),
        key(link.entry),
        key(link.account),
        int(i64::from(link.is_made)),
    ]
}

pub fn insert_links(tx: &mut Tx<'_>, organization: OrganizationId, links: &[Link]) -> Result<(), DbError> {
    let rows: Vec<_> = links.iter().map(|link| link_values(organization, link)).collect();
    tx.load(&STATEMENT_LINKS, &rows)
}

/// By entry.
pub fn links_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    line: StatementLineId,
) -> Result<Vec<Link>, DbError> {
    let (organization, line) = (organization.to_bytes(), line.to_bytes());
    tx.rows(
        LINKS_OF,
        &[Value::Bytes(&organization), Value::Bytes(&line)],
        read,
    )
}

const LINKS_OF: &str = select_links!("AND line_id = ?2 ORDER BY entry_id");

/// The lines that an entry accounts for, one for each account.
pub fn links_of_entry(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    entry: EntryId,
) -> Result<Vec<Link>, DbError> {
    let (organization, entry) = (organization.to_bytes(), entry.to_bytes());
    tx.rows(
        LINKS_OF_ENTRY,
        &[Value::Bytes(&organization), Value::Bytes(&entry)],
        read,
    )
}

const LINKS_OF_ENTRY: &str = select_links!("AND entry_id = ?2 ORDER BY account_id");

/// Of the lines of these days, both included, by line and entry.
pub fn links_between(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
) -> Result<Vec<Link>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        LINKS_BETWEEN,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

const LINKS_BETWEEN: &str = "SELECT k.line_id, k.entry_id, k.account_id, k.is_made FROM statement_lines l \
    CROSS JOIN statement_links k WHERE l.organization_id = ?1 AND l.account_id = ?2 AND l.date >= ?3 AND l.date <= ?4 \
    AND k.organization_id = ?1 AND k.line_id = l.id ORDER BY k.line_id, k.entry_id";

/// Lines up to a day that entries after it account for: what these add to the account, by line.
pub fn settled_later(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    at: Date,
) -> Result<Vec<(StatementLineId, i128)>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let at = at.to_string();
    tx.rows(
        SETTLED_LATER,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&at),
        ],
        read,
    )
}

/// The entries of the days after a day first: there are few of them.
const SETTLED_LATER: &str = concat!(
    "SELECT l.id, ",
    sum!("p.amount"),
    " FROM journal_postings p CROSS JOIN statement_links k CROSS JOIN statement_lines l \
     WHERE p.organization_id = ?1 AND p.account_id = ?2 AND p.date > ?3 \
     AND k.organization_id = ?1 AND k.entry_id = p.entry_id AND k.account_id = ?2 \
     AND l.organization_id = ?1 AND l.id = k.line_id AND l.date <= ?3 GROUP BY l.id ORDER BY l.id"
);

pub fn remove_links(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    line: StatementLineId,
) -> Result<(), DbError> {
    let (organization, line) = (organization.to_bytes(), line.to_bytes());
    tx.execute(
        "DELETE FROM statement_links WHERE organization_id = ?1 AND line_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&line)],
    )
    .map(drop)
}

/// Whether money of a member came from this bank account, by the receipts of other lines.
pub fn is_taught_elsewhere(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (bank_account, member): (&str, MemberId),
    but: StatementLineId,
) -> Result<bool, DbError> {
    let (organization, member, but) = (organization.to_bytes(), member.to_bytes(), but.to_bytes());
    let found: Option<i64> = tx.first(
        TAUGHT_ELSEWHERE,
        &[
            Value::Bytes(&organization),
            Value::Text(bank_account),
            Value::Bytes(&member),
            Value::Bytes(&but),
        ],
        read,
    )?;
    Ok(found.is_some())
}

const TAUGHT_ELSEWHERE: &str = "SELECT 1 FROM statement_lines l CROSS JOIN statement_links k CROSS JOIN journal_entries e \
    CROSS JOIN receipts r WHERE l.organization_id = ?1 AND l.counterparty_account = ?2 AND l.id <> ?4 \
    AND k.organization_id = ?1 AND k.line_id = l.id AND e.organization_id = ?1 AND e.id = k.entry_id \
    AND r.organization_id = ?1 AND r.id = e.receipt_id AND r.payer_id = ?3 LIMIT 1";

/// Every statement of every organization.
pub fn each_id(tx: &mut Tx<'_>, mut visit: impl FnMut(OrganizationId, StatementId)) -> Result<(), DbError> {
    tx.each("SELECT organization_id, id FROM statements", &[], |row| {
        let (organization, id) = read(row)?;
        visit(organization, id);
        Ok(())
    })
}

/// Every line of every organization.
pub fn each_line_id(
    tx: &mut Tx<'_>,
    mut visit: impl FnMut(OrganizationId, StatementLineId),
) -> Result<(), DbError> {
    tx.each("SELECT organization_id, id FROM statement_lines", &[], |row| {
        let (organization, id) = read(row)?;
        visit(organization, id);
        Ok(())
    })
}

/// By id, for the organizations that are `wanted`.
pub fn each_of_all(
    tx: &mut Tx<'_>,
    wanted: impl Fn(OrganizationId) -> bool,
    mut visit: impl FnMut(OrganizationId, Statement) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        concat!(
            "SELECT organization_id, ",
            statement_columns!(),
            " FROM statements ORDER BY id, organization_id"
        ),
        &[],
        |row| {
            let (organization, statement) = read(row)?;
            match wanted(organization) {
                true => visit(organization, statement),
                false => Ok(()),
            }
        },
    )
}

/// By id, for the organizations that are `wanted`.
pub fn each_line_of_all(
    tx: &mut Tx<'_>,
    wanted: impl Fn(OrganizationId) -> bool,
    mut visit: impl FnMut(OrganizationId, StatementLine) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        concat!(
            "SELECT organization_id, ",
            line_columns!(),
            " FROM statement_lines ORDER BY id, organization_id"
        ),
        &[],
        |row| {
            let (organization, line) = read(row)?;
            match wanted(organization) {
                true => visit(organization, line),
                false => Ok(()),
            }
        },
    )
}

/// By line and entry.
pub fn all_links(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Link>, DbError> {
    tx.rows(
        select_links!("ORDER BY line_id, entry_id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Lines that their links do not explain: what the line says, what its entries sum to in its account, how many there
/// are, and whether one of them does not exist. There should be none.
pub fn each_unexplained(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(Unexplained) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(UNEXPLAINED, &[Value::Bytes(&organization.to_bytes())], |row| {
        let ((line, status), (amount, links, lost), booked) = read(row)?;
        let found = Unexplained {
            line,
            status,
            amount,
            links,
            lost,
            booked,
        };
        let is_settled = matches!(found.status, LineStatus::Matched | LineStatus::Booked);
        let is_good = match is_settled {
            true => found.links > 0 && found.lost == 0 && found.booked == i128::from(found.amount),
            false => found.links == 0,
        };
        match is_good {
            true => Ok(()),
            false => visit(found),
        }
    })
}

#[derive(Clone, Copy, Debug)]
pub struct Unexplained {
    pub line: StatementLineId,
    pub status: LineStatus,
    pub amount: i64,
    pub links: i64,
    /// Links to entries that do not exist.
    pub lost: i64,
    pub booked: i128,
}

/// The account is no condition: SQLite would look for the postings by it, and not by the entry.
const UNEXPLAINED: &str = concat!(
    "SELECT l.id, l.status, l.amount, COUNT(DISTINCT k.entry_id), \
     COUNT(DISTINCT CASE WHEN e.id IS NULL THEN k.entry_id END), ",
    sum!("CASE WHEN p.account_id = l.account_id THEN p.amount ELSE 0 END"),
    " FROM statement_lines l LEFT JOIN statement_links k ON k.organization_id = l.organization_id AND k.line_id = l.id \
     LEFT JOIN journal_entries e ON e.organization_id = l.organization_id AND e.id = k.entry_id \
     LEFT JOIN journal_postings p ON p.organization_id = l.organization_id AND p.entry_id = k.entry_id \
     WHERE l.organization_id = ?1 GROUP BY l.id, l.status, l.amount ORDER BY l.id"
);

/// Links of a line that does not exist, or with another account than the line has; and lines of a statement that does
/// not exist. There should be none.
pub fn each_stray(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(StatementLineId) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT k.line_id FROM statement_links k LEFT JOIN statement_lines l ON l.organization_id = k.organization_id \
         AND l.id = k.line_id AND l.account_id = k.account_id WHERE k.organization_id = ?1 AND l.id IS NULL \
         UNION SELECT l.id FROM statement_lines l LEFT JOIN statements s ON s.organization_id = l.organization_id \
         AND s.id = l.statement_id AND s.account_id = l.account_id WHERE l.organization_id = ?1 AND s.id IS NULL \
         ORDER BY 1",
        &[Value::Bytes(&organization.to_bytes())],
        |row| visit(read(row)?),
    )
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 8] {
    [
        ("identities of lines", IDENTITIES),
        ("open lines", OPEN_LINES),
        ("lines of a time", LINES_BETWEEN),
        ("lines of a statement", LINES_OF),
        ("links of a line", LINKS_OF),
        ("links of an entry", LINKS_OF_ENTRY),
        ("another line that taught an account", TAUGHT_ELSEWHERE),
        ("lines that were settled later", SETTLED_LATER),
    ]
}
