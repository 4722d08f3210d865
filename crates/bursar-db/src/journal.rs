//! The journal. Entries are added and read; the engine refuses everything else.

use std::collections::{BTreeMap, HashSet};

use bursar_domain::Date;
use bursar_domain::account::Standing;
use bursar_domain::ids::{
    AccountId, CampaignId, EntryId, Id, Kind, MemberId, OrderId, OrganizationId, PaymentId, ReceiptId,
    ReimbursementId, kind,
};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Posting, Recorder};

use crate::engine::{OwnedValue, Row, Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns, read};
use crate::sums::sum;
use crate::table::{int, key, text, text_opt};
pub use crate::tables::{JOURNAL_ENTRIES, JOURNAL_NOTES, JOURNAL_POSTINGS};

/// An entry's rows: postings first, then its note, then the entry itself.
#[derive(Debug)]
pub struct EntryRows {
    pub postings: Vec<Vec<OwnedValue>>,
    pub note: Option<Vec<OwnedValue>>,
    pub entry: Vec<OwnedValue>,
}

fn key_opt<K>(id: Option<Id<K>>) -> OwnedValue {
    id.map_or(OwnedValue::Null, key)
}

/// In the order of the columns of the three tables.
pub fn rows(organization: OrganizationId, entry: &Entry) -> EntryRows {
    let date = entry.date.to_string();
    let posting = |(number, posting): (usize, &Posting)| {
        vec![
            key(organization),
            key(entry.id),
            int(i64::try_from(number).unwrap_or(i64::MAX)),
            text(&date),
            key(posting.account),
            int(posting.amount),
            key_opt(posting.about.member),
            key_opt(posting.about.chapter),
            key_opt(posting.about.payment),
            key_opt(posting.about.order),
            key_opt(posting.about.reimbursement),
            key_opt(posting.about.campaign),
        ]
    };
    let note = (entry.note != Note::default()).then(|| {
        vec![
            key(organization),
            key(entry.id),
            text_opt(entry.note.memo.as_deref()),
            text_opt(entry.note.reference.as_deref()),
            text_opt(entry.note.payer_name.as_deref()),
        ]
    });
    EntryRows {
        postings: entry.postings.iter().enumerate().map(posting).collect(),
        note,
        entry: vec![
            key(organization),
            key(entry.id),
            text(&date),
            int(entry.recorded_at.micros()),
            text(entry.kind.as_str()),
            text(&entry.recorder.kind),
            text_opt(entry.recorder.id.as_deref()),
            key_opt(entry.reverses),
            key_opt(entry.receipt),
        ],
    }
}

pub fn add(tx: &mut Tx<'_>, organization: OrganizationId, entry: &Entry) -> Result<(), DbError> {
    let rows = rows(organization, entry);
    let mut put = |sql, row: &[OwnedValue]| {
        let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
        tx.execute(sql, &values).map(drop)
    };
    for posting in &rows.postings {
        put(
            "INSERT INTO journal_postings (organization_id, entry_id, number, date, account_id, amount, member_id, \
             chapter_id, payment_id, order_id, reimbursement_id, campaign_id) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            posting,
        )?;
    }
    if let Some(note) = &rows.note {
        put(
            "INSERT INTO journal_notes (organization_id, entry_id, memo, reference, payer_name) VALUES (?1, ?2, ?3, ?4, ?5)",
            note,
        )?;
    }
    put(
        "INSERT INTO journal_entries (organization_id, id, date, recorded_at, kind, recorder_kind, recorder_id, \
         reverses_id, receipt_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &rows.entry,
    )
}

/// One row for each posting, with the entry's columns before it. `CROSS JOIN` makes SQLite find the entries first.
macro_rules! select_entries {
    ($rest:literal) => {
        concat!(select_all_entries!("", "AND e.organization_id = ?1 "), $rest)
    };
}

macro_rules! select_all_entries {
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT e.id, e.date, e.recorded_at, e.kind, e.recorder_kind, e.recorder_id, e.reverses_id, e.receipt_id, \
             n.memo, n.reference, n.payer_name, p.account_id, p.amount, p.member_id, p.chapter_id, p.payment_id, \
             p.order_id, p.reimbursement_id, p.campaign_id",
            $more,
            " FROM journal_entries e CROSS JOIN journal_postings p \
             LEFT JOIN journal_notes n ON n.organization_id = e.organization_id AND n.entry_id = e.id \
             WHERE p.organization_id = e.organization_id AND p.entry_id = e.id ",
            $rest
        )
    };
}

/// An entry with one of its postings.
struct Line(Entry);

impl FromColumns for Line {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (id, date, recorded_at, kind) = columns.next()?;
        let recorder = Recorder {
            kind: columns.next()?,
            id: columns.next()?,
        };
        let (reverses, receipt) = columns.next()?;
        let note = Note {
            memo: columns.next()?,
            reference: columns.next()?,
            payer_name: columns.next()?,
        };
        let (account, amount) = columns.next()?;
        let about = About {
            member: columns.next()?,
            chapter: columns.next()?,
            payment: columns.next()?,
            order: columns.next()?,
            reimbursement: columns.next()?,
            campaign: columns.next()?,
        };
        Ok(Self(Entry {
            id,
            date,
            recorded_at,
            kind,
            recorder,
            reverses,
            receipt,
            note,
            postings: vec![Posting {
                account,
                amount,
                about,
            }],
        }))
    }
}

/// Puts the lines of one entry together. They must come one after the other.
#[derive(Default)]
struct Gather(Option<Entry>);

impl Gather {
    fn line(&mut self, row: &Row<'_>) -> Result<Option<Entry>, DbError> {
        let Line(mut line) = read(row)?;
        match &mut self.0 {
            Some(entry) if entry.id == line.id => {
                entry.postings.append(&mut line.postings);
                Ok(None)
            }
            current => Ok(current.replace(line)),
        }
    }
}

fn each_entry(
    tx: &mut Tx<'_>,
    sql: &'static str,
    params: &[Value<'_>],
    mut visit: impl FnMut(Entry) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut gather = Gather::default();
    tx.each(sql, params, |row| match gather.line(row)? {
        Some(entry) => visit(entry),
        None => Ok(()),
    })?;
    gather.0.map_or(Ok(()), visit)
}

fn entries(tx: &mut Tx<'_>, sql: &'static str, params: &[Value<'_>]) -> Result<Vec<Entry>, DbError> {
    let mut found = Vec::new();
    each_entry(tx, sql, params, |entry| {
        found.push(entry);
        Ok(())
    })?;
    Ok(found)
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: EntryId) -> Result<Option<Entry>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let mut found = entries(tx, BY_ID, &[Value::Bytes(&organization), Value::Bytes(&id)])?;
    Ok(found.pop())
}

const BY_ID: &str = select_entries!("AND e.id = ?2 ORDER BY p.number");

/// The entry that reverses this one.
pub fn reversal_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: EntryId,
) -> Result<Option<EntryId>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        REVERSAL_OF,
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

const REVERSAL_OF: &str = "SELECT id FROM journal_entries WHERE organization_id = ?1 AND reverses_id = ?2";

macro_rules! by_subject {
    ($name:ident, $id:ty, $column:literal) => {
        /// Every entry with a posting about it, in the order they were recorded.
        pub fn $name(tx: &mut Tx<'_>, organization: OrganizationId, id: $id) -> Result<Vec<Entry>, DbError> {
            let (organization, id) = (organization.to_bytes(), id.to_bytes());
            entries(
                tx,
                select_entries_of!($column),
                &[Value::Bytes(&organization), Value::Bytes(&id)],
            )
        }
    };
}

macro_rules! select_entries_of {
    ($column:literal) => {
        concat!(
            select_entries!(""),
            "AND e.id IN (SELECT entry_id FROM journal_postings WHERE organization_id = ?1 AND ",
            $column,
            " = ?2) ORDER BY e.recorded_at, e.id, p.number"
        )
    };
}

by_subject!(of_member, MemberId, "member_id");
by_subject!(of_payment, PaymentId, "payment_id");
by_subject!(of_reimbursement, ReimbursementId, "reimbursement_id");
by_subject!(of_order, OrderId, "order_id");
by_subject!(of_campaign, CampaignId, "campaign_id");

pub fn of_receipt(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    receipt: ReceiptId,
) -> Result<Vec<Entry>, DbError> {
    let (organization, receipt) = (organization.to_bytes(), receipt.to_bytes());
    entries(
        tx,
        OF_RECEIPT,
        &[Value::Bytes(&organization), Value::Bytes(&receipt)],
    )
}

const OF_RECEIPT: &str = select_entries!("AND e.receipt_id = ?2 ORDER BY e.recorded_at, e.id, p.number");

/// By date and id, both days included.
pub fn each_between(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
    visit: impl FnMut(Entry) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let (organization, from, until) = (organization.to_bytes(), from.to_string(), until.to_string());
    each_entry(
        tx,
        BETWEEN,
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
        ],
        visit,
    )
}

pub(crate) const BETWEEN: &str =
    select_entries!("AND e.date >= ?2 AND e.date <= ?3 ORDER BY e.date, e.id, p.number");

/// Both days included, the last first, after the entry given; only entries with a posting to the account if there is one.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: Option<AccountId>,
    (from, until): (Date, Date),
    after: Option<(Date, EntryId)>,
    limit: i64,
) -> Result<Vec<Entry>, DbError> {
    let (day, id) = after.map_or((until, [0xff; 16]), |(day, id)| (day, id.to_bytes()));
    let (organization, account) = (organization.to_bytes(), account.map(|id| id.to_bytes()));
    let (from, day) = (from.to_string(), day.min(until).to_string());
    let mut values = vec![
        Value::Bytes(&organization),
        Value::Text(&from),
        Value::Text(&day),
        Value::Bytes(&id),
        Value::Int(limit),
    ];
    values.extend(account.as_ref().map(|id| Value::Bytes(id)));
    let sql = match account {
        Some(_) => PAGE_OF_ACCOUNT,
        None => PAGE,
    };
    entries(tx, sql, &values)
}

pub(crate) const PAGE: &str = select_entries!(
    "AND e.id IN (SELECT x.id FROM journal_entries x WHERE x.organization_id = ?1 AND x.date >= ?2 AND x.date <= ?3 \
     AND (x.date, x.id) < (?3, ?4) ORDER BY x.date DESC, x.id DESC LIMIT ?5) ORDER BY e.date DESC, e.id DESC, p.number"
);

/// The postings of the account in the time are put in order each time: an index has them by day, but not by entry.
pub(crate) const PAGE_OF_ACCOUNT: &str = select_entries!(
    "AND e.id IN (SELECT x.entry_id FROM journal_postings x WHERE x.organization_id = ?1 AND x.account_id = ?6 \
     AND x.date >= ?2 AND x.date <= ?3 AND (x.date, x.entry_id) < (?3, ?4) GROUP BY x.date, x.entry_id \
     ORDER BY x.date DESC, x.entry_id DESC LIMIT ?5) ORDER BY e.date DESC, e.id DESC, p.number"
);

/// Entries with a posting to an account, by date and id, both days included.
pub fn each_of_account(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
    visit: impl FnMut(Entry) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until) = (from.to_string(), until.to_string());
    each_entry(
        tx,
        OF_ACCOUNT,
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
            Value::Bytes(&account),
        ],
        visit,
    )
}

pub(crate) const OF_ACCOUNT: &str = select_entries!(
    "AND e.date >= ?2 AND e.date <= ?3 AND e.id IN (SELECT entry_id FROM journal_postings WHERE organization_id = ?1 \
     AND account_id = ?4 AND date >= ?2 AND date <= ?3) ORDER BY e.date, e.id, p.number"
);

/// The day of the first entry between two days, both included.
pub fn first_day(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (from, until): (Date, Date),
) -> Result<Option<Date>, DbError> {
    let (organization, from, until) = (organization.to_bytes(), from.to_string(), until.to_string());
    tx.first(
        "SELECT date FROM journal_entries WHERE organization_id = ?1 AND date >= ?2 AND date <= ?3 ORDER BY date LIMIT 1",
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

/// By id, for the organizations that are `wanted`.
pub fn each_of_all(
    tx: &mut Tx<'_>,
    wanted: impl Fn(OrganizationId) -> bool,
    mut visit: impl FnMut(OrganizationId, Entry) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut gather = Gather::default();
    let mut of = None;
    tx.each(
        select_all_entries!(
            ", e.organization_id",
            "ORDER BY e.id, e.organization_id, p.number"
        ),
        &[],
        |row| {
            let owner = OrganizationId::from_bytes(row.key_opt(OWNER)?.unwrap_or_default());
            if !wanted(owner) {
                return Ok(());
            }
            let before = of.replace(owner);
            match (before, gather.line(row)?) {
                (Some(before), Some(entry)) => visit(before, entry),
                _ => Ok(()),
            }
        },
    )?;
    match (of, gather.0) {
        (Some(of), Some(entry)) => visit(of, entry),
        _ => Ok(()),
    }
}

/// The column after those of an entry and its posting.
const OWNER: usize = 19;

/// What each account gained between two days, both included. Accounts without a posting are left out.
pub fn sums(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Option<Date>,
    until: Option<Date>,
) -> Result<BTreeMap<AccountId, i128>, DbError> {
    let organization = organization.to_bytes();
    let from = from.map_or_else(|| "0001-01-01".to_owned(), |day| day.to_string());
    let until = until.map_or_else(|| "9999-12-31".to_owned(), |day| day.to_string());
    let rows: Vec<(AccountId, i128)> = tx.rows(
        SUMS,
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )?;
    Ok(rows.into_iter().collect())
}

const SUMS: &str = concat!(
    "SELECT account_id, ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND date >= ?2 AND date <= ?3 GROUP BY account_id"
);

/// What an account holds, in minor units; up to a day if one is given.
pub fn balance(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    until: Option<Date>,
) -> Result<i128, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let until = until.map_or_else(|| "9999-12-31".to_owned(), |day| day.to_string());
    let sum = tx.first(
        BALANCE,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&until),
        ],
        read,
    )?;
    Ok(sum.unwrap_or(0))
}

const BALANCE: &str = concat!(
    "SELECT ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 AND date <= ?3"
);

/// What an account gained on each day that has postings, by day.
pub fn daily(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
) -> Result<Vec<(Date, i128)>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    tx.rows(
        DAILY,
        &[Value::Bytes(&organization), Value::Bytes(&account)],
        read,
    )
}

const DAILY: &str = concat!(
    "SELECT date, ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 GROUP BY date ORDER BY date"
);

/// What the journal says is owed for a payment, in minor units.
pub fn owed_for(tx: &mut Tx<'_>, organization: OrganizationId, payment: PaymentId) -> Result<i128, DbError> {
    let (organization, payment) = (organization.to_bytes(), payment.to_bytes());
    let receivable = Standing::Receivable.id().to_bytes();
    let sum = tx.first(
        OWED_FOR,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&payment),
            Value::Bytes(&receivable),
        ],
        read,
    )?;
    Ok(sum.unwrap_or(0))
}

const OWED_FOR: &str = concat!(
    "SELECT ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND payment_id = ?2 AND account_id = ?3"
);

/// What is owed for each payment that has postings.
pub fn each_owed(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(PaymentId, i128) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let (organization, receivable) = (organization.to_bytes(), Standing::Receivable.id().to_bytes());
    tx.each(
        concat!(
            "SELECT payment_id, ",
            sum!("amount"),
            " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 AND payment_id IS NOT NULL \
             GROUP BY payment_id ORDER BY payment_id"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&receivable)],
        |row| {
            let (payment, sum) = read(row)?;
            visit(payment, sum)
        },
    )
}

/// A reimbursement or an order whose status and amount say something else than its postings, in minor units.
#[derive(Clone, Copy, Debug)]
pub struct Disagreement<K: Kind> {
    pub id: Id<K>,
    /// Whether there is such a row. Without one, its postings are named whatever they sum to.
    pub is_there: bool,
    /// Of a reimbursement what is spent and what is still to be paid, of an order what was sold and 0.
    pub said: (i128, i128),
    pub booked: (i128, i128),
}

fn disagreements<K: Kind>(
    tx: &mut Tx<'_>,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<Vec<Disagreement<K>>, DbError> {
    let mut found = Vec::new();
    tx.each(sql, params, |row| {
        let (id, is_there, said, booked): (_, bool, (i128, i128), _) = read(row)?;
        if !is_there || said != booked {
            found.push(Disagreement {
                id,
                is_there,
                said,
                booked,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// By id.
pub fn disagreeing_reimbursements(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<Disagreement<kind::Reimbursement>>, DbError> {
    let (organization, payable) = (organization.to_bytes(), Standing::Payable.id().to_bytes());
    let sql = concat!(
        "SELECT id, MAX(is_there), ",
        sum!("spent"),
        ", ",
        sum!("payable"),
        ", ",
        sum!("booked"),
        ", ",
        sum!("booked_payable"),
        " FROM (SELECT id, 1 AS is_there, CASE WHEN status IN ('approved', 'paid') THEN amount ELSE 0 END AS spent, \
         CASE WHEN status = 'approved' THEN amount ELSE 0 END AS payable, 0 AS booked, 0 AS booked_payable \
         FROM reimbursements WHERE organization_id = ?1 UNION ALL SELECT reimbursement_id, 0, 0, 0, \
         CASE WHEN account_id = ?2 THEN 0 ELSE amount END, CASE WHEN account_id = ?2 THEN -amount ELSE 0 END \
         FROM journal_postings WHERE organization_id = ?1 AND reimbursement_id IS NOT NULL) x GROUP BY id ORDER BY id"
    );
    disagreements(tx, sql, &[Value::Bytes(&organization), Value::Bytes(&payable)])
}

/// By id.
pub fn disagreeing_orders(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<Disagreement<kind::Order>>, DbError> {
    let sql = concat!(
        "SELECT id, MAX(is_there), ",
        sum!("sold"),
        ", 0, 0, ",
        sum!("booked"),
        ", 0, 0 FROM (SELECT id, 1 AS is_there, CASE WHEN status IN ('paid', 'fulfilled') THEN total_amount ELSE 0 END \
         AS sold, 0 AS booked FROM orders WHERE organization_id = ?1 UNION ALL SELECT order_id, 0, 0, -amount \
         FROM journal_postings WHERE organization_id = ?1 AND order_id IS NOT NULL) x GROUP BY id ORDER BY id"
    );
    disagreements(tx, sql, &[Value::Bytes(&organization.to_bytes())])
}

/// Payments for which the journal says something else than their amount and what was paid: what is owed by the row and
/// by the journal. At most a hundred thousand.
pub fn disagreeing(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(PaymentId, i128, i128)>, DbError> {
    let (organization, receivable) = (organization.to_bytes(), Standing::Receivable.id().to_bytes());
    tx.rows(
        "SELECT p.id, owed / 1000000000, owed % 1000000000, booked / 1000000000, booked % 1000000000 FROM ( \
         SELECT p.id, CASE WHEN p.status = 'cancelled' THEN 0 ELSE p.amount - p.paid_to_date END AS owed, \
         CAST(COALESCE(j.booked, 0) AS BIGINT) AS booked FROM payments p LEFT JOIN ( \
         SELECT payment_id, SUM(amount) AS booked FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 \
         AND payment_id IS NOT NULL GROUP BY payment_id) j ON j.payment_id = p.id WHERE p.organization_id = ?1) p \
         WHERE owed <> booked ORDER BY p.id LIMIT 100000",
        &[Value::Bytes(&organization), Value::Bytes(&receivable)],
        read,
    )
}

/// The credit of each member that has any, and of nobody, in minor units. Credits are positive here.
pub fn credits(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(Option<MemberId>, i128)>, DbError> {
    let (organization, credit) = (organization.to_bytes(), Standing::Credit.id().to_bytes());
    let mut credits: Vec<(Option<MemberId>, i128)> = tx.rows(
        CREDITS,
        &[Value::Bytes(&organization), Value::Bytes(&credit)],
        read,
    )?;
    credits.retain(|(_, credit)| *credit != 0);
    Ok(credits)
}

const CREDITS: &str = concat!(
    "SELECT member_id, ",
    sum!("-amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 \
     GROUP BY member_id ORDER BY member_id"
);

pub fn credit_of(tx: &mut Tx<'_>, organization: OrganizationId, member: MemberId) -> Result<i64, DbError> {
    let (organization, credit, member) = (
        organization.to_bytes(),
        Standing::Credit.id().to_bytes(),
        member.to_bytes(),
    );
    let sum: Option<i128> = tx.first(
        CREDIT_OF,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&credit),
            Value::Bytes(&member),
        ],
        read,
    )?;
    Ok(i64::try_from(sum.unwrap_or(0)).unwrap_or(i64::MAX))
}

const CREDIT_OF: &str = concat!(
    "SELECT ",
    sum!("-amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 AND member_id = ?3"
);

/// Entries that used a member's credit for a charge, the latest last.
pub fn credit_uses(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<Entry>, DbError> {
    let (organization, credit, member) = (
        organization.to_bytes(),
        Standing::Credit.id().to_bytes(),
        member.to_bytes(),
    );
    entries(
        tx,
        CREDIT_USES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&credit),
            Value::Bytes(&member),
        ],
    )
}

const CREDIT_USES: &str = select_entries!(
    "AND e.kind = 'credit applied' AND e.id IN (SELECT entry_id FROM journal_postings WHERE organization_id = ?1 \
     AND account_id = ?2 AND member_id = ?3) ORDER BY e.recorded_at, e.id, p.number"
);

/// Entries that do not sum to zero, and postings without an entry. The engine refuses both, so there should be none.
pub fn each_broken(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(EntryId, i128, bool) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        concat!(
            "SELECT p.entry_id, ",
            sum!("p.amount"),
            ", MAX(CASE WHEN e.id IS NULL OR e.date <> p.date THEN 1 ELSE 0 END) FROM journal_postings p \
             LEFT JOIN journal_entries e ON e.organization_id = p.organization_id AND e.id = p.entry_id \
             WHERE p.organization_id = ?1 GROUP BY p.entry_id ORDER BY p.entry_id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        |row| match read(row)? {
            (_, 0, false) => Ok(()),
            (entry, sum, is_apart) => visit(entry, sum, is_apart),
        },
    )
}

/// Every entry of every organization.
pub fn each_id(tx: &mut Tx<'_>, mut visit: impl FnMut(OrganizationId, EntryId)) -> Result<(), DbError> {
    tx.each("SELECT organization_id, id FROM journal_entries", &[], |row| {
        let (organization, id) = read(row)?;
        visit(organization, id);
        Ok(())
    })
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 16] {
    [
        ("entry", BY_ID),
        ("reversal of an entry", REVERSAL_OF),
        ("entries of a member", select_entries_of!("member_id")),
        ("entries of a payment", select_entries_of!("payment_id")),
        (
            "entries of a reimbursement",
            select_entries_of!("reimbursement_id"),
        ),
        ("entries of an order", select_entries_of!("order_id")),
        ("entries of a campaign", select_entries_of!("campaign_id")),
        ("entries of a receipt", OF_RECEIPT),
        ("sums of accounts", SUMS),
        ("balance of an account", BALANCE),
        ("owed for a payment", OWED_FOR),
        ("credits", CREDITS),
        ("credit of a member", CREDIT_OF),
        ("uses of a member's credit", CREDIT_USES),
        ("entries of an account", IDS_OF_ACCOUNT),
        ("entries of later lines", LINKED_AFTER),
    ]
}

/// Entries that reverse one that does not exist. There should be none.
pub fn each_lost_reversal(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(EntryId, EntryId) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT r.id, r.reverses_id FROM journal_entries r LEFT JOIN journal_entries e \
         ON e.organization_id = r.organization_id AND e.id = r.reverses_id \
         WHERE r.organization_id = ?1 AND r.reverses_id IS NOT NULL AND e.id IS NULL ORDER BY r.id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let (entry, reverses) = read(row)?;
            visit(entry, reverses)
        },
    )
}

/// Entries on an account between two days, both included, that account for no line of a statement, by date and id.
/// Reversals and what they reverse are left out: no bank saw them. Lines and reversals after the day `at` do not count.
///
/// In steps, each by an index: PostgreSQL has no good plan for all of it in a database that nobody has analyzed.
pub fn without_line(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    (from, until): (Date, Date),
    at: Date,
) -> Result<Vec<Entry>, DbError> {
    let (organization, account) = (organization.to_bytes(), account.to_bytes());
    let (from, until, day) = (from.to_string(), until.to_string(), at.to_string());
    let of_account: Vec<EntryId> = tx.rows(
        IDS_OF_ACCOUNT,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )?;
    let linked: Vec<EntryId> = tx.rows(
        "SELECT entry_id FROM statement_links WHERE organization_id = ?1 AND account_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&account)],
        read,
    )?;
    let linked_later: Vec<EntryId> = tx.rows(
        LINKED_AFTER,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&day),
        ],
        read,
    )?;
    let reversed: Vec<(EntryId, Date)> = tx.rows(REVERSED, &[Value::Bytes(&organization)], read)?;
    let mut known: HashSet<EntryId> = linked.into_iter().collect();
    for id in &linked_later {
        known.remove(id);
    }
    let reversed = reversed.into_iter().filter(|(_, date)| *date <= at);
    known.extend(reversed.map(|(id, _)| id));
    let wanted: Vec<[u8; 16]> = of_account
        .into_iter()
        .filter(|id| !known.contains(id))
        .map(EntryId::to_bytes)
        .collect();
    let mut found = Vec::new();
    for chunk in wanted.chunks(IDS) {
        let mut params = vec![Value::Bytes(&organization)];
        let last = chunk.last().into_iter().cycle();
        params.extend(chunk.iter().chain(last).take(IDS).map(|id| Value::Bytes(id)));
        found.append(&mut entries(tx, BY_IDS, &params)?);
    }
    found.retain(|entry| entry.kind != EntryKind::Reversal);
    found.sort_by_key(|entry| (entry.date, entry.id));
    Ok(found)
}

/// As many entries are read in one statement.
const IDS: usize = 32;

const BY_IDS: &str = select_entries!(
    "AND e.id IN (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, \
     ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33) ORDER BY e.id, p.number"
);

const IDS_OF_ACCOUNT: &str = "SELECT DISTINCT entry_id FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 \
    AND date >= ?3 AND date <= ?4";

/// The lines of the days after a day first: there are few of them.
const LINKED_AFTER: &str = "SELECT k.entry_id FROM statement_lines l CROSS JOIN statement_links k \
    WHERE l.organization_id = ?1 AND l.account_id = ?2 AND l.date > ?3 AND k.organization_id = ?1 AND k.line_id = l.id";

const REVERSED: &str = "SELECT reverses_id, date FROM journal_entries WHERE organization_id = ?1 AND reverses_id IS NOT NULL \
    AND kind = 'reversal'";
