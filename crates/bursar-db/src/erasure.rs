//! Erasing a person: what happens to each table, and the statements that do it.
//!
//! [`FATES`] names every table of the schema, so that a new table asks for a decision.

mod fates;

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use bursar_domain::Timestamp;
use bursar_domain::erasure::ERASED;
use bursar_domain::ids::{
    EntryId, MemberId, MessageId, OnlinePaymentId, OrganizationId, StatementLineId, UserId,
};

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::table::{self, Stored, read_cell};

pub use fates::{FATES, Fate, Place, Shape};

/// Pieces that one statement looks for. With more of them it reads every row.
const PIECES_MAX: usize = 8;

/// Pieces of text in lower case, one of which is in every row that is wanted.
#[derive(Clone, Debug)]
pub struct Pieces(Vec<String>);

impl Pieces {
    /// `None` finds every row.
    pub fn new(pieces: Option<Vec<&str>>) -> Self {
        let mut likes: Vec<String> = match pieces {
            Some(pieces) if !pieces.is_empty() && pieces.len() <= PIECES_MAX => pieces
                .into_iter()
                .map(|piece| format!("%{}%", piece.replace(['%', '_', '\\'], "_")))
                .collect(),
            Some(_) | None => vec!["%".to_owned()],
        };
        let last = likes.last().cloned().unwrap_or_default();
        likes.resize(PIECES_MAX, last);
        Self(likes)
    }

    fn params<'a>(&'a self, organization: &'a [u8; 16]) -> Vec<Value<'a>> {
        let likes = self.0.iter().map(|like| Value::Text(like));
        [Value::Bytes(organization)].into_iter().chain(likes).collect()
    }
}

/// A row with texts.
#[derive(Debug)]
pub struct Found {
    key: Vec<OwnedValue>,
    /// In the order of the place's columns.
    pub texts: Vec<Option<String>>,
}

impl Found {
    /// The id of a row whose key is its id.
    pub fn id(&self) -> Option<[u8; 16]> {
        match self.key.as_slice() {
            [OwnedValue::Bytes(id)] => id.as_slice().try_into().ok(),
            _ => None,
        }
    }
}

/// Rows of a place in which one of the pieces is.
pub fn find(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    place: &Place,
    pieces: &Pieces,
) -> Result<Vec<Found>, DbError> {
    let sql = kept(format!(
        "SELECT {}, {} FROM {} WHERE {} = ?1 AND {}",
        place
            .key
            .iter()
            .map(|(column, _)| *column)
            .collect::<Vec<_>>()
            .join(", "),
        place.columns().collect::<Vec<_>>().join(", "),
        place.table,
        place.tenant,
        has_piece(place.columns())
    ));
    tx.rows(sql, &pieces.params(&organization.to_bytes()), |row| {
        let key = place.key.iter().enumerate();
        let key = key.map(|(i, (_, kind))| read_cell(row, i, *kind).map(OwnedValue::from));
        let key: Vec<OwnedValue> = key.collect::<Result<_, _>>()?;
        let columns = key.len()..key.len() + place.texts.len();
        let texts = columns.map(|i| Ok(row.text_opt(i)?.map(str::to_owned)));
        Ok(Found {
            texts: texts.collect::<Result<_, DbError>>()?,
            key,
        })
    })
}

/// Writes the texts of a row that was found.
pub fn rewrite(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    place: &Place,
    found: &Found,
) -> Result<(), DbError> {
    let sets = place
        .columns()
        .enumerate()
        .map(|(i, c)| format!("{c} = ?{}", i + 2));
    let keys = (place.texts.len() + 2..).zip(place.key);
    let keys = keys.map(|(i, (column, _))| format!(" AND {column} = ?{i}"));
    let sql = kept(format!(
        "UPDATE {} SET {} WHERE {} = ?1{}",
        place.table,
        sets.collect::<Vec<_>>().join(", "),
        place.tenant,
        keys.collect::<String>()
    ));
    let organization = organization.to_bytes();
    let mut params = vec![Value::Bytes(&organization)];
    params.extend(found.texts.iter().map(|text| Value::from(text.as_deref())));
    params.extend(found.key.iter().map(OwnedValue::as_value));
    tx.send_one(sql, &params)
}

/// The ids of a resource's rows that have one of the pieces in these columns.
pub fn find_rows(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    table: &'static str,
    columns: &'static [&'static str],
    pieces: &Pieces,
) -> Result<Vec<[u8; 16]>, DbError> {
    let sql = kept(format!(
        "SELECT id FROM {table} WHERE organization_id = ?1 AND {}",
        has_piece(columns.iter().copied())
    ));
    tx.rows(sql, &pieces.params(&organization.to_bytes()), read)
}

fn has_piece(columns: impl Iterator<Item = &'static str>) -> String {
    let texts: Vec<String> = columns.map(|column| format!("COALESCE({column}, '')")).collect();
    let text = texts.join(" || ' ' || ");
    let likes: Vec<String> = (2..2 + PIECES_MAX)
        .map(|i| format!("lower({text}) LIKE ?{i}"))
        .collect();
    format!("({})", likes.join(" OR "))
}

/// Statements live as long as the program. They are as many as [`FATES`] has places, and a few.
fn kept(sql: String) -> &'static str {
    static TEXTS: LazyLock<RwLock<HashMap<String, &'static str>>> = LazyLock::new(RwLock::default);
    let known = TEXTS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&sql)
        .copied();
    known.unwrap_or_else(|| {
        let text: &'static str = Box::leak(sql.clone().into_boxed_str());
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        texts.entry(sql).or_insert(text)
    })
}

/// The rows that name a member in this column, by id.
pub fn of_member<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    column: &'static str,
    member: MemberId,
) -> Result<Vec<R>, DbError> {
    let sql = kept(table::select::<R>(&format!("AND {column} = ?2 ORDER BY id")));
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    table::rows(tx, sql, &[Value::Bytes(&organization), Value::Bytes(&member)])
}

/// A message to the member, as it is kept.
#[derive(Clone, Debug)]
pub struct Written {
    pub id: MessageId,
    pub method: String,
    pub address: Option<String>,
    pub subject: Option<String>,
    pub body: Option<String>,
    pub owed: Option<String>,
    pub state: String,
    pub detail: Option<String>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

crate::rows::record! { written_columns: Written {
    id, method, address, subject, body, owed, state, detail, created_at, ended_at,
} }

/// Oldest first.
pub fn messages(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<Written>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.rows(
        concat!(
            "SELECT ",
            written_columns!(),
            " FROM outbox_messages WHERE organization_id = ?1 AND recipient = ?2 ORDER BY id"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read,
    )
}

/// Removes what the member's messages said and where they went; those that wait are not sent.
pub fn blank_messages(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.send(
        "UPDATE outbox_messages SET address = NULL, name = NULL, subject = NULL, body = NULL, owed = NULL, \
         headers = NULL, detail = CASE WHEN state = 'queued' THEN 'the member was erased' END, \
         ended_at = CASE WHEN state = 'queued' THEN ?3 ELSE ended_at END, \
         state = CASE WHEN state = 'queued' THEN 'skipped' ELSE state END \
         WHERE organization_id = ?1 AND recipient = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&member),
            Value::Int(now.micros()),
        ],
    )
}

/// A payment of the member through a provider.
#[derive(Clone, Debug)]
pub struct Online {
    pub id: OnlinePaymentId,
    pub amount: i64,
    pub state: String,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub failure: Option<String>,
    /// The provider's name of it.
    pub intent_id: Option<String>,
}

crate::rows::record! { online_columns: Online { id, amount, state, created_at, ended_at, failure, intent_id } }

/// Oldest first.
pub fn online_payments(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<Online>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.rows(
        concat!(
            "SELECT ",
            online_columns!(),
            " FROM online_payments WHERE organization_id = ?1 AND member_id = ?2 ORDER BY id"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read,
    )
}

/// The addresses of the member's payment pages, and what the provider said of failures.
pub fn blank_online_payments(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<(), DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.send(
        "UPDATE online_payments SET success_url = '', cancel_url = '', url = NULL, failure = NULL, problem = NULL \
         WHERE organization_id = ?1 AND member_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&member)],
    )
}

/// The names of card applications for the member.
pub fn blank_applications(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<(), DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.send(
        "UPDATE card_applications SET name = ?3 WHERE organization_id = ?1 AND assigned_member_id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&member),
            Value::Text(ERASED),
        ],
    )
}

/// How many card applications are for the member.
pub fn count_applications(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<i64, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let found = tx.first(
        "SELECT COUNT(*) FROM card_applications WHERE organization_id = ?1 AND assigned_member_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read,
    )?;
    Ok(found.unwrap_or(0))
}

/// Memo, reference and payer's name of an entry.
pub fn blank_note(tx: &mut Tx<'_>, organization: OrganizationId, entry: EntryId) -> Result<(), DbError> {
    let (organization, entry) = (organization.to_bytes(), entry.to_bytes());
    tx.send(
        "DELETE FROM journal_notes WHERE organization_id = ?1 AND entry_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&entry)],
    )
}

/// What the bank wrote in a line. Its identity stays, so that the line is never taken twice.
pub fn blank_line(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    line: StatementLineId,
    text: &str,
) -> Result<(), DbError> {
    let (organization, line) = (organization.to_bytes(), line.to_bytes());
    tx.send(
        "UPDATE statement_lines SET end_to_end = NULL, counterparty_name = NULL, counterparty_account = NULL, text = ?3 \
         WHERE organization_id = ?1 AND id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&line), Value::Text(text)],
    )
}

/// All files between two forms of the console: nobody can search them, and whoever sent one can send it again.
pub fn remove_uploads(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    for sql in [
        "DELETE FROM upload_parts WHERE organization_id = ?1",
        "DELETE FROM uploads WHERE organization_id = ?1",
    ] {
        tx.send(sql, &[Value::Bytes(&organization)])?;
    }
    Ok(())
}

pub fn count_uploads(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i64, DbError> {
    let found = tx.first(
        "SELECT COUNT(*) FROM uploads WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )?;
    Ok(found.unwrap_or(0))
}

/// The sign-in of a person without a role: the row stays, because entries of the journal name it.
pub fn forget_user(tx: &mut Tx<'_>, user: UserId) -> Result<(), DbError> {
    let id = user.to_bytes();
    for sql in [
        "DELETE FROM sessions WHERE user_id = ?1",
        "DELETE FROM sign_in_links WHERE user_id = ?1",
        "DELETE FROM sign_in_codes WHERE user_id = ?1",
        "DELETE FROM passkeys WHERE user_id = ?1",
        "DELETE FROM logins WHERE user_id = ?1",
    ] {
        tx.send(sql, &[Value::Bytes(&id)])?;
    }
    let address = format!("{user}@erased.invalid");
    tx.send_one(
        "UPDATE users SET email = ?2, address_key = ?2, name = NULL WHERE id = ?1",
        &[Value::Bytes(&id), Value::Text(&address)],
    )
}

/// Codes and sessions for the member's own page, and those of an address that nobody else has.
pub fn forget_visits(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    email: Option<&str>,
) -> Result<(), DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let email = email.map(str::to_lowercase);
    for sql in [
        "DELETE FROM member_codes WHERE organization_id = ?1 AND (member_id = ?2 OR lower(email) = ?3)",
        "DELETE FROM member_sessions WHERE organization_id = ?1 AND (member_id = ?2 OR lower(email) = ?3)",
    ] {
        tx.send(
            sql,
            &[
                Value::Bytes(&organization),
                Value::Bytes(&member),
                email.as_deref().into(),
            ],
        )?;
    }
    Ok(())
}

/// Codes that were mailed to an address in the last day.
pub fn forget_codes(tx: &mut Tx<'_>, email: &str) -> Result<(), DbError> {
    tx.send(
        "DELETE FROM sign_in_codes WHERE lower(email) = ?1",
        &[Value::Text(&email.to_lowercase())],
    )
}

/// Names, addresses, phones and bank accounts of everybody else.
pub fn others(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    mut visit: impl FnMut(Other<'_>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.each(
        "SELECT first_name, last_name, email, phone, bank_accounts FROM members \
         WHERE organization_id = ?1 AND id <> ?2 AND erased_at IS NULL",
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        |row| {
            visit(Other {
                first_name: row.text(0)?,
                last_name: row.text(1)?,
                email: row.text_opt(2)?,
                phone: row.text_opt(3)?,
                bank_accounts: row.text(4)?,
            })
        },
    )
}

/// Another member, as far as somebody can be mistaken for them.
#[derive(Clone, Copy, Debug)]
pub struct Other<'a> {
    pub first_name: &'a str,
    pub last_name: &'a str,
    pub email: Option<&'a str>,
    pub phone: Option<&'a str>,
    /// A JSON list.
    pub bank_accounts: &'a str,
}

/// The documents of a member's replaced versions and events, from which earlier names and addresses are learned.
pub fn earlier(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<String>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&member)];
    let mut found = tx.rows(
        "SELECT document FROM history WHERE organization_id = ?1 AND list = 1 AND id = ?2",
        &params,
        read,
    )?;
    found.extend(tx.rows(
        "SELECT document FROM events WHERE organization_id = ?1 AND resource_id = ?2",
        &params,
        read,
    )?);
    found.extend(tx.rows(
        "SELECT previous FROM bulk_subjects WHERE organization_id = ?1 AND subject_id = ?2 AND previous IS NOT NULL",
        &params,
        read,
    )?);
    Ok(found)
}
