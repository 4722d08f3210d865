//! Online payments with the charges that they are for. [`providers`] has who collects them, [`moves`] what happened to
//! the money since.

pub mod moves;
pub mod providers;

use bursar_domain::Timestamp;
use bursar_domain::ids::{AutopayId, MemberId, OnlinePaymentId, OrganizationId, PaymentId, ReceiptId};
use bursar_domain::money::Currency;
use bursar_domain::online::{OnlineState, ProviderKind};

use crate::engine::{LoadTarget, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::tables::load_target;

pub(crate) static PROVIDERS: LoadTarget = load_target! { "providers" {
    organization_id Bytes, kind Text, key_sealed Bytes, key_hint Text, secret_sealed Bytes, payout_account_id Bytes,
    created_at Int, created_by Text, problem Text, swept_at Int, due_at Int, attempts Int, heard Int, leased_until Int,
} };
pub(crate) static PAYMENTS: LoadTarget = load_target! { "online_payments" {
    organization_id Bytes, id Bytes, kind Text, member_id Bytes, amount Int, currency Text, state Text, created_at Int,
    expires_at Int, ended_at Int, success_url Text, cancel_url Text, url Text, session_id Text, intent_id Text,
    charge_id Text, failure Text, problem Text, receipt_id Bytes, fee Int, due_at Int, attempts Int, heard Int,
    leased_until Int, autopay_id Bytes,
} };
pub(crate) static ITEMS: LoadTarget = load_target! { "online_items" {
    organization_id Bytes, online_id Bytes, number Int, payment_id Bytes, amount Int,
} };
pub(crate) static MOVES: LoadTarget = load_target! { "online_moves" {
    organization_id Bytes, id Bytes, kind Text, reference Text, online_id Bytes, amount Int, fee Int, state Text,
    reason Text, created_at Int, entry_id Bytes,
} };

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlinePayment {
    pub organization_id: OrganizationId,
    pub id: OnlinePaymentId,
    pub kind: ProviderKind,
    pub member_id: MemberId,
    /// In minor units.
    pub amount: i64,
    pub currency: Currency,
    pub state: OnlineState,
    pub created_at: Timestamp,
    /// Until then the payer can pay.
    pub expires_at: Timestamp,
    /// When it succeeded, failed or expired.
    pub ended_at: Option<Timestamp>,
    /// Where the provider sends the payer back to.
    pub success_url: String,
    pub cancel_url: String,
    /// The provider's page.
    pub url: Option<String>,
    /// The provider's names.
    pub session_id: Option<String>,
    pub intent_id: Option<String>,
    pub charge_id: Option<String>,
    /// Why the last attempt failed, for the payer.
    pub failure: Option<String>,
    /// What keeps it from being asked or booked, for officers.
    pub problem: Option<String>,
    pub receipt_id: Option<ReceiptId>,
    /// What the provider kept, in minor units, as booked.
    pub fee: Option<i64>,
    /// When to ask next. `None` if nothing is expected.
    pub due_at: Option<Timestamp>,
    /// Questions since the last news.
    pub attempts: i64,
    /// Counts reports that something happened.
    pub heard: i64,
    /// The saved card that it is charged to. `None` if the payer pays on the provider's page.
    pub autopay_id: Option<AutopayId>,
}

record! { payment_columns: OnlinePayment {
    organization_id, id, kind, member_id, amount, currency, state, created_at, expires_at, ended_at, success_url,
    cancel_url, url, session_id, intent_id, charge_id, failure, problem, receipt_id, fee, due_at, attempts, heard,
    autopay_id,
} }

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", payment_columns!(), " FROM online_payments ", $rest)
    };
}

pub mod lists;

/// Sorts after every id.
const AFTER_ALL: [u8; 16] = [0xff; 16];

/// A part of an online payment: a charge and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub payment: PaymentId,
    /// In minor units.
    pub amount: i64,
}

record! { item_columns: Item { payment = "payment_id", amount } }

/// An online payment that a worker has leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub organization: OrganizationId,
    pub id: OnlinePaymentId,
}

record! { claim_columns: Claim { organization = "organization_id", id } }

pub fn insert(tx: &mut Tx<'_>, new: &OnlinePayment, items: &[Item]) -> Result<(), DbError> {
    let (organization, id) = (new.organization_id.to_bytes(), new.id.to_bytes());
    let autopay = new.autopay_id.map(|id| id.to_bytes());
    tx.execute(
        "INSERT INTO online_payments (organization_id, id, kind, member_id, amount, currency, state, created_at, \
         expires_at, success_url, cancel_url, due_at, autopay_id, attempts, heard, leased_until) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0, 0)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(new.kind.as_str()),
            Value::Bytes(&new.member_id.to_bytes()),
            Value::Int(new.amount),
            Value::Text(new.currency.code()),
            Value::Text(new.state.as_str()),
            Value::Int(new.created_at.micros()),
            Value::Int(new.expires_at.micros()),
            Value::Text(&new.success_url),
            Value::Text(&new.cancel_url),
            new.due_at.map(Timestamp::micros).into(),
            autopay.as_ref().into(),
        ],
    )?;
    for (number, item) in (1..).zip(items) {
        tx.execute(
            "INSERT INTO online_items (organization_id, online_id, number, payment_id, amount) VALUES (?1, ?2, ?3, ?4, ?5)",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&id),
                Value::Int(number),
                Value::Bytes(&item.payment.to_bytes()),
                Value::Int(item.amount),
            ],
        )?;
    }
    Ok(())
}

/// Writes what the provider said. When to ask next is [`rest`]'s.
pub fn update(tx: &mut Tx<'_>, payment: &OnlinePayment) -> Result<(), DbError> {
    let receipt = payment.receipt_id.map(|id| id.to_bytes());
    tx.execute(
        "UPDATE online_payments SET state = ?3, ended_at = ?4, url = ?5, session_id = ?6, intent_id = ?7, charge_id = ?8, \
         failure = ?9, problem = ?10, receipt_id = ?11, fee = ?12 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&payment.organization_id.to_bytes()),
            Value::Bytes(&payment.id.to_bytes()),
            Value::Text(payment.state.as_str()),
            payment.ended_at.map(Timestamp::micros).into(),
            payment.url.as_deref().into(),
            payment.session_id.as_deref().into(),
            payment.intent_id.as_deref().into(),
            payment.charge_id.as_deref().into(),
            payment.failure.as_deref().into(),
            payment.problem.as_deref().into(),
            receipt.as_ref().into(),
            payment.fee.into(),
        ],
    )
    .map(drop)
}

pub fn get(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: OnlinePaymentId,
) -> Result<Option<OnlinePayment>, DbError> {
    tx.first(
        select!("WHERE organization_id = ?1 AND id = ?2"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )
}

pub fn organization_of(tx: &mut Tx<'_>, id: OnlinePaymentId) -> Result<Option<OrganizationId>, DbError> {
    tx.first(
        "SELECT organization_id FROM online_payments WHERE id = ?1",
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

pub fn of_receipt(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    receipt: ReceiptId,
) -> Result<Option<OnlinePayment>, DbError> {
    tx.first(
        select!("WHERE organization_id = ?1 AND receipt_id = ?2"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&receipt.to_bytes()),
        ],
        read,
    )
}

/// Oldest first.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<OnlinePayment>, DbError> {
    tx.rows(
        select!("WHERE organization_id = ?1 ORDER BY id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Online payments that items name and that do not exist.
pub fn stray_items(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<OnlinePaymentId>, DbError> {
    tx.rows(
        "SELECT DISTINCT i.online_id FROM online_items i LEFT JOIN online_payments p \
         ON p.organization_id = i.organization_id AND p.id = i.online_id \
         WHERE i.organization_id = ?1 AND p.id IS NULL ORDER BY i.online_id",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// The newest first.
pub fn of_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    limit: i64,
) -> Result<Vec<OnlinePayment>, DbError> {
    tx.rows(
        select!("WHERE organization_id = ?1 AND member_id = ?2 ORDER BY id DESC LIMIT ?3"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
            Value::Int(limit),
        ],
        read,
    )
}

/// In the order in which they were chosen.
pub fn items(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: OnlinePaymentId,
) -> Result<Vec<Item>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            item_columns!(),
            " FROM online_items WHERE organization_id = ?1 AND online_id = ?2 ORDER BY number"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )
}

/// Whether another online payment brought money for this charge.
pub fn was_paid_by_another(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
    than: OnlinePaymentId,
) -> Result<bool, DbError> {
    let found = tx.first(
        "SELECT 1 FROM online_items i JOIN online_payments p ON p.organization_id = i.organization_id \
         AND p.id = i.online_id WHERE i.organization_id = ?1 AND i.payment_id = ?2 AND i.online_id <> ?3 \
         AND p.receipt_id IS NOT NULL LIMIT 1",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&payment.to_bytes()),
            Value::Bytes(&than.to_bytes()),
        ],
        read::<i64>,
    )?;
    Ok(found.is_some())
}

/// How many are still to be asked about.
pub fn expected(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i64, DbError> {
    let count = tx.first(
        "SELECT COUNT(*) FROM online_payments WHERE organization_id = ?1 AND due_at IS NOT NULL",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )?;
    Ok(count.unwrap_or(0))
}

/// Asks again at once about those that the provider calls so. Returns how many there are.
pub fn hear(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    name: &str,
    now: Timestamp,
) -> Result<u64, DbError> {
    let organization = organization.to_bytes();
    let mut found = 0;
    for sql in [
        "UPDATE online_payments SET due_at = ?3, attempts = 0, heard = heard + 1 WHERE organization_id = ?1 AND session_id = ?2",
        "UPDATE online_payments SET due_at = ?3, attempts = 0, heard = heard + 1 WHERE organization_id = ?1 AND intent_id = ?2",
        "UPDATE online_payments SET due_at = ?3, attempts = 0, heard = heard + 1 WHERE organization_id = ?1 AND charge_id = ?2",
    ] {
        found += tx.execute(
            sql,
            &[
                Value::Bytes(&organization),
                Value::Text(name),
                Value::Int(now.micros()),
            ],
        )?;
    }
    Ok(found)
}

/// The same for one that is known here.
pub fn ask_soon(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: OnlinePaymentId,
    now: Timestamp,
) -> Result<u64, DbError> {
    tx.execute(
        "UPDATE online_payments SET due_at = ?3, attempts = 0, heard = heard + 1 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Int(now.micros()),
        ],
    )
}

/// When to ask next, and gives the lease back. A report that came since `heard` was read counts first.
pub fn rest(
    tx: &mut Tx<'_>,
    payment: &OnlinePayment,
    due_at: Option<Timestamp>,
    attempts: i64,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE online_payments SET due_at = CASE WHEN heard = ?3 THEN ?4 ELSE due_at END, \
         attempts = CASE WHEN heard = ?3 THEN ?5 ELSE 0 END, leased_until = 0 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&payment.organization_id.to_bytes()),
            Value::Bytes(&payment.id.to_bytes()),
            Value::Int(payment.heard),
            due_at.map(Timestamp::micros).into(),
            Value::Int(attempts),
        ],
    )
    .map(drop)
}

/// For tests that read query plans.
pub const DUE: &str = concat!(
    "SELECT ",
    claim_columns!(),
    " FROM online_payments WHERE due_at IS NOT NULL AND due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2"
);

/// When a provider is to be asked next.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let found = tx.first(
        "SELECT MIN(at) FROM (SELECT MIN(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) AS at \
         FROM online_payments WHERE due_at IS NOT NULL UNION ALL \
         SELECT MIN(due_at) AS at FROM autopays UNION ALL \
         SELECT MIN(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) AS at FROM providers) AS times",
        &[],
        read::<Option<Timestamp>>,
    )?;
    Ok(found.flatten())
}

/// Leases those that are due, the longest waiting first.
pub fn claim(tx: &mut Tx<'_>, now: Timestamp, until: Timestamp, limit: i64) -> Result<Vec<Claim>, DbError> {
    let due: Vec<Claim> = tx.rows(DUE, &[Value::Int(now.micros()), Value::Int(limit)], read)?;
    let mut claimed = Vec::new();
    for claim in due {
        let changed = tx.execute(
            "UPDATE online_payments SET leased_until = ?3 WHERE organization_id = ?1 AND id = ?2 AND leased_until <= ?4",
            &[
                Value::Bytes(&claim.organization.to_bytes()),
                Value::Bytes(&claim.id.to_bytes()),
                Value::Int(until.micros()),
                Value::Int(now.micros()),
            ],
        )?;
        if changed > 0 {
            claimed.push(claim);
        }
    }
    Ok(claimed)
}

/// Makes due what a clock that was ahead has put off beyond this time.
pub fn pull_in(tx: &mut Tx<'_>, now: Timestamp, beyond: Timestamp) -> Result<(), DbError> {
    for sql in [
        "UPDATE online_payments SET due_at = ?1, leased_until = 0 WHERE due_at IS NOT NULL AND (due_at > ?2 OR leased_until > ?2)",
        "UPDATE providers SET due_at = ?1, leased_until = 0 WHERE due_at > ?2 OR leased_until > ?2",
        // These wait until the next morning.
        "UPDATE autopays SET due_at = ?1, leased_until = 0 WHERE due_at > ?2 + 86400000000 OR leased_until > ?2",
    ] {
        tx.execute(sql, &[Value::Int(now.micros()), Value::Int(beyond.micros())])?;
    }
    Ok(())
}
