//! Keeps what stands beside the rows: charges summed by due day and group, the balances of accounts, and the words that
//! find members. It changes in the transaction of its rows, once at its end; `bursar check` compares it with them.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use bursar_domain::aside::{Aside, Charged, Sums};
use bursar_domain::ids::{AccountId, GroupId, Id, MemberId, OrganizationId};
use bursar_domain::journal::Entry;
use bursar_domain::{Date, search};

use crate::engine::{EngineKind, OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::sums::sum;
use crate::table::{Stored, key};
use crate::tables::MEMBER_WORDS;

/// From this many words on they are loaded.
const LOADED_MIN: usize = 64;
/// Words loaded at a time.
const CHUNK_ROWS: usize = 5_000;
/// Organization, word and member.
const WORD_KEY: usize = 3;
/// The day and the group of charges without one.
const NO_DAY: &str = "";
const NO_GROUP: &[u8] = &[];

/// What one transaction changes.
#[derive(Debug, Default)]
pub struct Changes {
    charges: BTreeMap<(OrganizationId, Option<Date>, Option<GroupId>), Sums>,
    accounts: BTreeMap<(OrganizationId, AccountId), i64>,
    /// Whether a word finds a member from now on.
    words: BTreeMap<Word, bool>,
}

/// A word that finds a member.
type Word = (OrganizationId, String, MemberId);

impl Changes {
    /// A row is new.
    pub fn add<R: Stored>(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        row: &R,
    ) -> Result<(), DbError> {
        if let Some(aside) = row.aside() {
            self.replace(organization, row.id().bits(), None, aside);
        }
        // So that a large import does not hold the words of all its members.
        if self.words.len() >= CHUNK_ROWS {
            write_words(tx, std::mem::take(&mut self.words))?;
        }
        Ok(())
    }

    /// A row changes.
    pub fn change<R: Stored>(&mut self, organization: OrganizationId, before: Option<&R>, after: &R) {
        if let Some(aside) = after.aside() {
            let before = before.and_then(R::aside);
            self.replace(organization, after.id().bits(), before, aside);
        }
    }

    /// The books have a new entry.
    pub fn post(&mut self, organization: OrganizationId, entry: &Entry) {
        for posting in &entry.postings {
            let held = self.accounts.entry((organization, posting.account)).or_default();
            *held = held.saturating_add(posting.amount);
        }
    }

    fn replace(&mut self, organization: OrganizationId, id: u128, before: Option<Aside>, after: Aside) {
        if before.as_ref() == Some(&after) {
            return;
        }
        match (before, &after) {
            (Some(Aside::Words(before)), Aside::Words(after)) => {
                self.find_by(organization, id, &before, after)
            }
            (_, Aside::Words(after)) => self.find_by(organization, id, &[], after),
            (before, Aside::Charge(after)) => {
                if let Some(Aside::Charge(before)) = before {
                    self.charge(organization, &before, -1);
                }
                self.charge(organization, after, 1);
            }
        }
    }

    /// Sums beyond what the table can hold are refused there.
    fn charge(&mut self, organization: OrganizationId, charged: &Charged, sign: i64) {
        let key = (organization, charged.due, charged.group);
        let held = self.charges.entry(key).or_default();
        let add = |held: &mut i64, amount: i64| *held = held.saturating_add(sign * amount);
        add(&mut held.expected, charged.sums.expected);
        add(&mut held.collected, charged.sums.collected);
        add(&mut held.open, charged.sums.open);
    }

    fn find_by(&mut self, organization: OrganizationId, id: u128, before: &[String], after: &[String]) {
        let member = MemberId::from_bits(id);
        let mut note = |words: &[String], others: &[String], is_added| {
            for word in words.iter().filter(|word| !others.contains(word)) {
                let word = (organization, word.clone(), member);
                // What is taken back before it was written was never there.
                if self.words.remove(&word).is_none_or(|other| other == is_added) {
                    self.words.insert(word, is_added);
                }
            }
        };
        note(before, after, false);
        note(after, before, true);
    }

    /// Writes all of it.
    pub fn write(self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        for ((organization, due, group), sums) in self.charges {
            if sums != Sums::default() {
                add_sums(tx, organization, due, group, sums)?;
            }
        }
        for ((organization, account), amount) in self.accounts {
            if amount != 0 {
                add_balance(tx, organization, account, amount)?;
            }
        }
        write_words(tx, self.words)
    }
}

fn write_words(tx: &mut Tx<'_>, words: BTreeMap<Word, bool>) -> Result<(), DbError> {
    let mut added = Vec::new();
    for (found, is_added) in words {
        if is_added {
            added.push(found);
            continue;
        }
        let (organization, word, member) = found;
        tx.send_of_row(
            WORD_KEY,
            "DELETE FROM member_words WHERE organization_id = ?1 AND word = ?2 AND member_id = ?3",
            &[
                Value::Bytes(&organization.to_bytes()),
                Value::Bytes(word.as_bytes()),
                Value::Bytes(&member.to_bytes()),
            ],
        )?;
    }
    add_words(tx, &added)
}

fn add_sums(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    due: Option<Date>,
    group: Option<GroupId>,
    sums: Sums,
) -> Result<(), DbError> {
    let (due, group) = (due.map(|due| due.to_string()), group.map(|id| id.to_bytes()));
    tx.send_of_row(
        3,
        "INSERT INTO charge_totals (organization_id, due_date, group_id, expected, collected, open) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (organization_id, due_date, group_id) DO UPDATE SET \
         expected = charge_totals.expected + excluded.expected, \
         collected = charge_totals.collected + excluded.collected, open = charge_totals.open + excluded.open",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(due.as_deref().unwrap_or(NO_DAY)),
            Value::Bytes(group.as_ref().map_or(NO_GROUP, |group| group)),
            Value::Int(sums.expected),
            Value::Int(sums.collected),
            Value::Int(sums.open),
        ],
    )
}

fn add_balance(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    amount: i64,
) -> Result<(), DbError> {
    tx.send_of_row(
        2,
        "INSERT INTO account_totals (organization_id, account_id, amount) VALUES (?1, ?2, ?3) \
         ON CONFLICT (organization_id, account_id) DO UPDATE SET amount = account_totals.amount + excluded.amount",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&account.to_bytes()),
            Value::Int(amount),
        ],
    )
}

/// A statement that adds one word and these others.
macro_rules! add_words {
    ($others:literal) => {
        concat!(
            "INSERT INTO member_words (organization_id, word, member_id) VALUES (?1, ?2, ?3)",
            $others
        )
    };
}

fn add_words(tx: &mut Tx<'_>, added: &[Word]) -> Result<(), DbError> {
    if added.len() >= LOADED_MIN {
        let row = |(organization, word, member): &Word| {
            vec![
                key(*organization),
                OwnedValue::Bytes(word.as_bytes().to_vec()),
                key(*member),
            ]
        };
        let rows: Vec<Vec<OwnedValue>> = added.iter().map(row).collect();
        return tx.load(&MEMBER_WORDS, &rows);
    }
    // PostgreSQL's engine puts single ones together, with those of other jobs.
    let together_max = match tx.kind() {
        EngineKind::Sqlite => usize::MAX,
        EngineKind::Postgres => 1,
    };
    let mut rest = added;
    while !rest.is_empty() {
        let (count, sql) = match rest.len().min(together_max) {
            8.. => (
                8,
                add_words!(
                    ", (?4, ?5, ?6), (?7, ?8, ?9), (?10, ?11, ?12), (?13, ?14, ?15), \
                               (?16, ?17, ?18), (?19, ?20, ?21), (?22, ?23, ?24)"
                ),
            ),
            4.. => (4, add_words!(", (?4, ?5, ?6), (?7, ?8, ?9), (?10, ?11, ?12)")),
            2.. => (2, add_words!(", (?4, ?5, ?6)")),
            _ => (1, add_words!("")),
        };
        let (chunk, others) = rest.split_at(count);
        rest = others;
        let ids: Vec<([u8; 16], [u8; 16])> = chunk
            .iter()
            .map(|(organization, _, member)| (organization.to_bytes(), member.to_bytes()))
            .collect();
        let values: Vec<Value<'_>> = ids
            .iter()
            .zip(chunk)
            .flat_map(|((organization, member), (_, word, _))| {
                [
                    Value::Bytes(organization),
                    Value::Bytes(word.as_bytes()),
                    Value::Bytes(member),
                ]
            })
            .collect();
        match count {
            1 => tx.send_of_row(WORD_KEY, sql, &values)?,
            _ => tx.send(sql, &values)?,
        }
    }
    Ok(())
}

/// For a database made by a version that did not keep it. Reads only columns that such a database has.
pub(crate) fn begin(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let mut added = Vec::new();
    tx.each(
        "SELECT organization_id, id, first_name, last_name, email, phone FROM members",
        &[],
        |row| {
            let (organization, id, first, last, email, phone): (
                _,
                _,
                String,
                String,
                Option<String>,
                Option<String>,
            ) = read(row)?;
            let names = [first.as_str(), &last];
            let words = search::words(names, email.as_deref(), phone.as_deref());
            added.extend(words.into_iter().map(|word| (organization, word, id)));
            Ok(())
        },
    )?;
    for chunk in added.chunks(CHUNK_ROWS) {
        add_words(tx, chunk)?;
    }
    tx.batch(
        "INSERT INTO charge_totals (organization_id, due_date, group_id, expected, collected, open) \
         SELECT organization_id, COALESCE(due_date, ''), COALESCE(group_id, CAST('' AS BYTEA)), \
         CAST(SUM(CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END) AS BIGINT), \
         CAST(SUM(paid_to_date) AS BIGINT), CAST(SUM(CASE WHEN status IN ('pending', 'partially_paid', 'failed') \
         THEN amount - paid_to_date ELSE 0 END) AS BIGINT) FROM payments GROUP BY 1, 2, 3; \
         INSERT INTO account_totals (organization_id, account_id, amount) \
         SELECT organization_id, account_id, CAST(SUM(amount) AS BIGINT) FROM journal_postings GROUP BY 1, 2",
    )
}

/// The balance of an account over all days.
pub fn balance(tx: &mut Tx<'_>, organization: OrganizationId, account: AccountId) -> Result<i64, DbError> {
    let found = tx.first(
        BALANCE,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&account.to_bytes()),
        ],
        read,
    )?;
    Ok(found.unwrap_or(0))
}

const BALANCE: &str = "SELECT amount FROM account_totals WHERE organization_id = ?1 AND account_id = ?2";

/// Members with a word that begins like this, by word, until `visit` breaks. A member with several such words comes
/// several times.
pub fn each_found(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    start: &str,
    mut visit: impl FnMut(MemberId) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let mut end = start.as_bytes().to_vec();
    // No text in UTF-8 has this byte.
    end.push(0xff);
    tx.each_until(
        FOUND,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(start.as_bytes()),
            Value::Bytes(&end),
        ],
        |row| Ok(visit(read(row)?)),
    )
}

const FOUND: &str = "SELECT member_id FROM member_words WHERE organization_id = ?1 AND word >= ?2 AND word < ?3 \
                     ORDER BY word, member_id";

/// For tests that read query plans.
pub const STATEMENTS: [(&str, &str); 2] = [("a balance", BALANCE), ("members by a word", FOUND)];

/// What is kept for an organization, for comparing it with the rows.
#[derive(Debug, Default)]
pub struct Kept {
    pub charges: HashMap<(Option<Date>, Option<GroupId>), Sums>,
    pub accounts: HashMap<AccountId, i64>,
}

pub fn kept(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Kept, DbError> {
    let mut kept = Kept::default();
    let own = organization.to_bytes();
    tx.each(
        "SELECT due_date, group_id, expected, collected, open FROM charge_totals WHERE organization_id = ?1",
        &[Value::Bytes(&own)],
        |row| {
            let group = match row.bytes(1)? {
                NO_GROUP => None,
                _ => Some(Id::from_bytes(row.key(1)?)),
            };
            let sums = Sums {
                expected: row.int(2)?,
                collected: row.int(3)?,
                open: row.int(4)?,
            };
            kept.charges.insert((Date::parse(row.text(0)?), group), sums);
            Ok(())
        },
    )?;
    let accounts = tx.rows(
        "SELECT account_id, amount FROM account_totals WHERE organization_id = ?1",
        &[Value::Bytes(&own)],
        read,
    )?;
    kept.accounts = accounts.into_iter().collect();
    Ok(kept)
}

/// Every word of every member.
pub fn each_word(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(MemberId, &[u8]),
) -> Result<(), DbError> {
    tx.each(
        "SELECT member_id, word FROM member_words WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            visit(Id::from_bytes(row.key(0)?), row.bytes(1)?);
            Ok(())
        },
    )
}

/// The balances of accounts as their postings say.
pub fn posted(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<HashMap<AccountId, i128>, DbError> {
    let sql = concat!(
        "SELECT account_id, ",
        sum!("amount"),
        " FROM journal_postings WHERE organization_id = ?1 GROUP BY account_id"
    );
    let rows = tx.rows(sql, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(rows.into_iter().collect())
}
