//! Begins the journal of a database from before it: charges, the payment ledger, reimbursements and orders become
//! entries. Ids of entries follow from those of the rows. No stamp moves.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bursar_domain::account::{Account, AccountType, Standing, name_key};
use bursar_domain::catch_up::{self, Missing};
use bursar_domain::ids::{AccountId, EntryId, Id, MemberId, OrganizationId, PaymentId};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Postings, Recorder, derived};
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::states::Word;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Resource, Stamps, Timestamp};

use crate::engine::{LoadTarget, OwnedValue, Row, Tx, Value};
use crate::error::DbError;
use crate::journal;
use crate::rows::{Columns, read};

const ROWS: usize = 1_000;

/// Rows of two kinds can have the same id, so their entries differ by these.
const PAYMENT: u8 = 0;
const REIMBURSEMENT: u8 = 4;
const ORDER: u8 = 8;

pub(crate) fn begin(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let organizations: Vec<OrganizationId> =
        tx.rows("SELECT id FROM organizations ORDER BY id", &[], read)?;
    for organization in organizations {
        let mut begin = Begin {
            organization,
            zone: Zone::default(),
            entries: Vec::new(),
        };
        begin.payments(tx)?;
        begin.ledger(tx)?;
        begin.reimbursements(tx)?;
        begin.orders(tx)?;
        begin.flush(tx)?;
    }
    Ok(())
}

struct Begin {
    organization: OrganizationId,
    zone: Zone,
    entries: Vec<Entry>,
}

type Load<R> = fn(&Row<'_>) -> Result<R, DbError>;

impl Begin {
    fn payments(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let sql = "SELECT id, currency, created_at, updated_at, member_id, target_organization_id, amount, paid_to_date, \
                   status, due_date, paid_at, voided_at FROM payments \
                   WHERE organization_id = ?1 AND (updated_at, id) > (?2, ?3) ORDER BY updated_at, id LIMIT 1000";
        let load = |row: &Row<'_>| {
            let mut columns = Columns::of(row);
            let mut payment = Payment::blank(columns.next()?, columns.next()?, stamps(&mut columns)?);
            payment.member_id = columns.next()?;
            payment.target_organization_id = columns.next()?;
            payment.amount.minor = columns.next()?;
            payment.paid_to_date.minor = columns.next()?;
            payment.status = word(&columns.next::<String>()?)?;
            payment.due_date = columns.next()?;
            payment.paid_at = columns.next()?;
            payment.voided_at = columns.next()?;
            Ok(payment)
        };
        self.each(tx, (sql, load), |begin, payment: &Payment| {
            let today = begin.zone.date(payment.stamps.updated_at);
            for missing in catch_up::of_payment((None, 0), payment, &begin.zone, today) {
                // The ledger has it, by entry.
                if missing.kind != EntryKind::Opening {
                    begin.add_missing((PAYMENT, payment), missing);
                }
            }
        })
    }

    /// Each entry of the payment ledger with its own day, account and reference.
    fn ledger(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let mut after: Option<([u8; 16], [u8; 16])> = None;
        loop {
            let (payment, id) = after.unwrap_or(([0; 16], [0; 16]));
            let rows: Vec<Old> = tx.rows(
                "SELECT l.payment_id, l.id, l.at, l.amount, l.method, l.reference, l.received_on, l.reverses_id, \
                 p.member_id, p.target_organization_id FROM ledger_entries l \
                 LEFT JOIN payments p ON p.organization_id = l.organization_id AND p.id = l.payment_id \
                 WHERE l.organization_id = ?1 AND (l.payment_id, l.id) > (?2, ?3) ORDER BY l.payment_id, l.id LIMIT 1000",
                &[
                    Value::Bytes(&self.organization.to_bytes()),
                    Value::Bytes(&payment),
                    Value::Bytes(&id),
                ],
                |row| {
                    Ok(Old {
                        payment: PaymentId::from_bytes(row.key_opt(0)?.unwrap_or_default()),
                        id: EntryId::from_bytes(row.key_opt(1)?.unwrap_or_default()),
                        at: Timestamp::from_micros(row.int(2)?),
                        amount: row.int(3)?,
                        method: row.text(4)?.to_owned(),
                        reference: row.text_opt(5)?.map(str::to_owned),
                        received_on: row.text_opt(6)?.and_then(Date::parse),
                        reverses: row.key_opt(7)?.map(EntryId::from_bytes),
                        member: row.key_opt(8)?.map(Id::from_bytes),
                        chapter: row.key_opt(9)?.map(Id::from_bytes),
                    })
                },
            )?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = Some((last.payment.to_bytes(), last.id.to_bytes()));
            // Nothing was received by an entry of 0.
            let rows = rows.into_iter().filter(|old| old.amount != 0);
            self.entries.extend(rows.map(|old| old.entry(&self.zone)));
            self.flush_if_full(tx)?;
        }
    }

    fn reimbursements(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let sql = "SELECT id, currency, created_at, updated_at, member_id, recipient_organization_id, amount, category, \
                   incurred_at, status, reviewed_at, paid_at FROM reimbursements \
                   WHERE organization_id = ?1 AND (updated_at, id) > (?2, ?3) ORDER BY updated_at, id LIMIT 1000";
        let load = |row: &Row<'_>| {
            let mut columns = Columns::of(row);
            let mut reimbursement =
                Reimbursement::blank(columns.next()?, columns.next()?, stamps(&mut columns)?);
            reimbursement.member_id = columns.next()?;
            reimbursement.recipient_organization_id = columns.next()?;
            reimbursement.amount.minor = columns.next()?;
            reimbursement.category = columns.next()?;
            reimbursement.incurred_at = columns.next()?;
            reimbursement.status = word(&columns.next::<String>()?)?;
            reimbursement.reviewed_at = columns.next()?;
            reimbursement.paid_at = columns.next()?;
            Ok(reimbursement)
        };
        let mut categories: BTreeMap<AccountId, Account> = BTreeMap::new();
        self.each(tx, (sql, load), |begin, reimbursement: &Reimbursement| {
            let today = begin.zone.date(reimbursement.stamps.updated_at);
            let account = expense_account(reimbursement.category.as_deref());
            let id = account.id;
            let expense = || {
                if account.standing().is_none() {
                    categories.entry(id).or_insert(account);
                }
                Ok::<_, Infallible>(id)
            };
            let Ok(all) = catch_up::of_reimbursement(None, reimbursement, (&begin.zone, today), expense);
            for missing in all {
                begin.add_missing((REIMBURSEMENT, reimbursement), missing);
            }
        })?;
        for account in categories.values() {
            put(tx, self.organization, account)?;
        }
        Ok(())
    }

    fn orders(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let sql = "SELECT id, currency, created_at, updated_at, member_id, total_amount, status, paid_at FROM orders \
                   WHERE organization_id = ?1 AND (updated_at, id) > (?2, ?3) ORDER BY updated_at, id LIMIT 1000";
        let load = |row: &Row<'_>| {
            let mut columns = Columns::of(row);
            let mut order = Order::blank(columns.next()?, columns.next()?, stamps(&mut columns)?);
            order.member_id = columns.next()?;
            order.total_amount.minor = columns.next()?;
            order.status = word(&columns.next::<String>()?)?;
            order.paid_at = columns.next()?;
            Ok(order)
        };
        self.each(tx, (sql, load), |begin, order: &Order| {
            let today = begin.zone.date(order.stamps.updated_at);
            for missing in catch_up::of_order(None, order, &begin.zone, today) {
                begin.add_missing((ORDER, order), missing);
            }
        })
    }

    /// Rows page by page, in the order of their table, so that memory stays bounded. The statements name the columns of
    /// this schema version, which a later one may change.
    fn each<R: Resource>(
        &mut self,
        tx: &mut Tx<'_>,
        (sql, load): (&'static str, Load<R>),
        mut visit: impl FnMut(&mut Self, &R),
    ) -> Result<(), DbError> {
        let (mut updated_at, mut id) = (i64::MIN, Vec::new());
        loop {
            let organization = self.organization.to_bytes();
            let after = [
                Value::Bytes(&organization),
                Value::Int(updated_at),
                Value::Bytes(&id),
            ];
            let page: Vec<R> = tx.rows(sql, &after, load)?;
            let Some(last) = page.last() else { return Ok(()) };
            (updated_at, id) = (last.stamps().updated_at.micros(), last.id().to_bytes().to_vec());
            for row in &page {
                visit(self, row);
            }
            self.flush_if_full(tx)?;
        }
    }

    fn add_missing<R: Resource>(&mut self, (kind, row): (u8, &R), missing: Missing) {
        let Stamps {
            created_at,
            updated_at,
        } = row.stamps();
        self.entries.push(Entry {
            id: derived(row.id(), kind + missing.which),
            date: missing.date,
            recorded_at: match missing.kind {
                EntryKind::Charge => created_at,
                _ => updated_at,
            },
            kind: missing.kind,
            recorder: recorder(),
            reverses: None,
            receipt: None,
            note: Note::default(),
            postings: missing.postings.into_vec(),
        });
    }

    fn flush_if_full(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        match self.entries.len() >= ROWS {
            true => self.flush(tx),
            false => Ok(()),
        }
    }

    fn flush(&mut self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        let (mut postings, mut notes, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.entries.drain(..) {
            let mut rows = journal::rows(self.organization, &entry);
            postings.append(&mut rows.postings);
            notes.extend(rows.note);
            entries.push(rows.entry);
        }
        let mut load = |target: &'static LoadTarget, rows: &[Vec<OwnedValue>]| match rows.is_empty() {
            true => Ok(()),
            false => tx.load(target, rows),
        };
        load(&journal::JOURNAL_POSTINGS, &postings)?;
        load(&journal::JOURNAL_NOTES, &notes)?;
        load(&journal::JOURNAL_ENTRIES, &entries)
    }
}

fn stamps(columns: &mut Columns<'_, '_>) -> Result<Stamps, DbError> {
    Ok(Stamps {
        created_at: columns.next()?,
        updated_at: columns.next()?,
    })
}

fn word<W: Word>(text: &str) -> Result<W, DbError> {
    W::parse(text).ok_or_else(|| DbError::Internal(format!("{text:?} is no known status")))
}

/// The account of a category. If a standing account of another type has that name, it is called `… (expense)`, because
/// names are unique.
fn expense_account(category: Option<&str>) -> Account {
    let Some(category) = category.map(str::trim).filter(|category| !category.is_empty()) else {
        return Standing::OtherExpense.into();
    };
    match <Standing as Word>::parse(&name_key(category)) {
        None => Account::of_category(category),
        Some(standing) if standing.account_type() == AccountType::Expense => standing.into(),
        Some(_) => Account::of_category(&format!("{category} (expense)")),
    }
}

fn recorder() -> Recorder {
    Recorder {
        kind: "operator".to_owned(),
        id: None,
    }
}

/// A row of the payment ledger.
struct Old {
    payment: PaymentId,
    id: EntryId,
    at: Timestamp,
    amount: i64,
    method: String,
    reference: Option<String>,
    received_on: Option<Date>,
    reverses: Option<EntryId>,
    member: Option<MemberId>,
    chapter: Option<OrganizationId>,
}

impl Old {
    fn entry(self, zone: &Zone) -> Entry {
        let about = About {
            member: self.member,
            chapter: self.chapter,
            payment: Some(self.payment),
            ..About::default()
        };
        let (account, kind) = match (self.method.as_str(), self.reverses) {
            ("opening", _) => (Standing::Opening, EntryKind::Opening),
            ("cash", None) => (Standing::Cash, EntryKind::Receipt),
            ("cash", Some(_)) => (Standing::Cash, EntryKind::Bounce),
            (_, None) => (Standing::Bank, EntryKind::Receipt),
            (_, Some(_)) => (Standing::Bank, EntryKind::Bounce),
        };
        Entry {
            id: self.id,
            date: self.received_on.unwrap_or_else(|| zone.date(self.at)),
            recorded_at: self.at,
            kind,
            recorder: recorder(),
            reverses: self.reverses,
            receipt: None,
            note: Note {
                reference: self.reference,
                ..Note::default()
            },
            postings: Postings::paired(account, Standing::Receivable, about, self.amount).into_vec(),
        }
    }
}

/// With the columns that accounts have at this step; later steps add more.
fn put(tx: &mut Tx<'_>, organization: OrganizationId, account: &Account) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), account.id.to_bytes());
    tx.execute(
        "INSERT INTO accounts (organization_id, id, name, name_key, account_type, is_closed) \
         VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (organization_id, id) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(&account.name),
            Value::Text(&name_key(&account.name)),
            Value::Text(account.account_type.as_str()),
        ],
    )
    .map(drop)
}
