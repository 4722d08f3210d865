//! Saved cards, and the charges that are announced for them or tried.

use bursar_domain::autopay::{AutopayState, AutopayStep};
use bursar_domain::ids::{AutopayId, MemberId, OnlinePaymentId, OrganizationId, PaymentId};
use bursar_domain::online::ProviderKind;
use bursar_domain::{Date, Timestamp};

use crate::engine::{LoadTarget, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::tables::load_target;

pub(crate) static AUTOPAYS: LoadTarget = load_target! { "autopays" {
    organization_id Bytes, id Bytes, kind Text, member_id Bytes, state Text, created_at Int, started_at Int,
    expires_at Int, success_url Text, cancel_url Text, url Text, session_id Text, customer_id Text, method_id Text,
    card Text, card_until Text, problem Text, due_at Int, attempts Int, heard Int, leased_until Int,
} };
pub(crate) static CHARGES: LoadTarget = load_target! { "autopay_charges" {
    organization_id Bytes, payment_id Bytes, member_id Bytes, step Text, amount Int, first_on Text, try_on Text,
    tries Int, online_id Bytes,
} };

/// A card that a member saves or has saved at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autopay {
    pub organization_id: OrganizationId,
    pub id: AutopayId,
    pub kind: ProviderKind,
    pub member_id: MemberId,
    pub state: AutopayState,
    pub created_at: Timestamp,
    /// When the card was saved.
    pub started_at: Option<Timestamp>,
    /// Until then the member can save the card.
    pub expires_at: Timestamp,
    /// Where the provider sends the member back to.
    pub success_url: String,
    pub cancel_url: String,
    /// The provider's page.
    pub url: Option<String>,
    /// The provider's names.
    pub session_id: Option<String>,
    pub customer_id: Option<String>,
    pub method_id: Option<String>,
    /// `Visa ending in 4242`.
    pub card: Option<String>,
    /// The card's last month: `2028-04`.
    pub card_until: Option<String>,
    /// What keeps it from being asked about, for officers.
    pub problem: Option<String>,
    /// When to look at it next.
    pub due_at: Timestamp,
    /// Looks since the last news.
    pub attempts: i64,
    /// Counts reports that something happened.
    pub heard: i64,
}

record! { autopay_columns: Autopay {
    organization_id, id, kind, member_id, state, created_at, started_at, expires_at, success_url, cancel_url, url,
    session_id, customer_id, method_id, card, card_until, problem, due_at, attempts, heard,
} }

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", autopay_columns!(), " FROM autopays ", $rest)
    };
}

/// A charge that is to be paid by a saved card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    pub payment_id: PaymentId,
    /// Who pays.
    pub member_id: MemberId,
    pub step: AutopayStep,
    /// What was announced, in minor units.
    pub amount: i64,
    /// The day of the first try.
    pub first_on: Date,
    /// The day of the next one.
    pub try_on: Date,
    /// Tries that failed.
    pub tries: i64,
    /// The last try.
    pub online_id: Option<OnlinePaymentId>,
}

record! { charge_columns: Charge { payment_id, member_id, step, amount, first_on, try_on, tries, online_id } }

macro_rules! select_charges {
    ($rest:literal) => {
        concat!("SELECT ", charge_columns!(), " FROM autopay_charges ", $rest)
    };
}

pub fn insert(tx: &mut Tx<'_>, new: &Autopay) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO autopays (organization_id, id, kind, member_id, state, created_at, expires_at, success_url, cancel_url, \
         due_at, attempts, heard, leased_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0, 0)",
        &[
            Value::Bytes(&new.organization_id.to_bytes()),
            Value::Bytes(&new.id.to_bytes()),
            Value::Text(new.kind.as_str()),
            Value::Bytes(&new.member_id.to_bytes()),
            Value::Text(new.state.as_str()),
            Value::Int(new.created_at.micros()),
            Value::Int(new.expires_at.micros()),
            Value::Text(&new.success_url),
            Value::Text(&new.cancel_url),
            Value::Int(new.due_at.micros()),
        ],
    )
    .map(drop)
}

/// Writes what the provider said. When to look next is [`rest`]'s.
pub fn update(tx: &mut Tx<'_>, autopay: &Autopay) -> Result<(), DbError> {
    tx.execute(
        "UPDATE autopays SET state = ?3, started_at = ?4, url = ?5, session_id = ?6, customer_id = ?7, method_id = ?8, \
         card = ?9, card_until = ?10, problem = ?11 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&autopay.organization_id.to_bytes()),
            Value::Bytes(&autopay.id.to_bytes()),
            Value::Text(autopay.state.as_str()),
            autopay.started_at.map(Timestamp::micros).into(),
            autopay.url.as_deref().into(),
            autopay.session_id.as_deref().into(),
            autopay.customer_id.as_deref().into(),
            autopay.method_id.as_deref().into(),
            autopay.card.as_deref().into(),
            autopay.card_until.as_deref().into(),
            autopay.problem.as_deref().into(),
        ],
    )
    .map(drop)
}

pub fn delete(tx: &mut Tx<'_>, organization: OrganizationId, id: AutopayId) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM autopays WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
    )
    .map(drop)
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: AutopayId) -> Result<Option<Autopay>, DbError> {
    tx.first(
        select!("WHERE organization_id = ?1 AND id = ?2"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )
}

/// In every state.
pub fn of_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<Autopay>, DbError> {
    tx.rows(
        select!("WHERE organization_id = ?1 AND member_id = ?2 ORDER BY id"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
        ],
        read,
    )
}

/// In every state, the oldest first.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Autopay>, DbError> {
    tx.rows(
        select!("WHERE organization_id = ?1 ORDER BY id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Looks again at once at the one whose page the provider calls so. Returns how many there are.
pub fn hear(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    session: &str,
    now: Timestamp,
) -> Result<u64, DbError> {
    tx.execute(
        "UPDATE autopays SET due_at = ?3, attempts = 0, heard = heard + 1 \
         WHERE organization_id = ?1 AND session_id = ?2 AND state = 'saving'",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(session),
            Value::Int(now.micros()),
        ],
    )
}

/// When to look next, and gives the lease back. A report that came since `heard` was read counts first.
pub fn rest(tx: &mut Tx<'_>, autopay: &Autopay, due_at: Timestamp, attempts: i64) -> Result<(), DbError> {
    tx.execute(
        "UPDATE autopays SET due_at = CASE WHEN heard = ?3 THEN ?4 ELSE due_at END, \
         attempts = CASE WHEN heard = ?3 THEN ?5 ELSE 0 END, leased_until = 0 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&autopay.organization_id.to_bytes()),
            Value::Bytes(&autopay.id.to_bytes()),
            Value::Int(autopay.heard),
            Value::Int(due_at.micros()),
            Value::Int(attempts),
        ],
    )
    .map(drop)
}

/// For tests that read query plans.
pub const DUE: &str = "SELECT organization_id, id FROM autopays WHERE due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2";

/// Leases those that are due, the longest waiting first.
pub fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, AutopayId)>, DbError> {
    let due: Vec<(OrganizationId, AutopayId)> =
        tx.rows(DUE, &[Value::Int(now.micros()), Value::Int(limit)], read)?;
    let mut claimed = Vec::new();
    for (organization, id) in due {
        let changed = tx.execute(
            "UPDATE autopays SET leased_until = ?3 WHERE organization_id = ?1 AND id = ?2 AND leased_until <= ?4",
            &[
                Value::Bytes(&organization.to_bytes()),
                Value::Bytes(&id.to_bytes()),
                Value::Int(until.micros()),
                Value::Int(now.micros()),
            ],
        )?;
        if changed > 0 {
            claimed.push((organization, id));
        }
    }
    Ok(claimed)
}

/// Adds a charge, or replaces it.
pub fn put_charge(tx: &mut Tx<'_>, organization: OrganizationId, charge: &Charge) -> Result<(), DbError> {
    delete_charge(tx, organization, charge.payment_id)?;
    let online = charge.online_id.map(|id| id.to_bytes());
    tx.execute(
        "INSERT INTO autopay_charges (organization_id, payment_id, member_id, step, amount, first_on, try_on, tries, \
         online_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&charge.payment_id.to_bytes()),
            Value::Bytes(&charge.member_id.to_bytes()),
            Value::Text(charge.step.as_str()),
            Value::Int(charge.amount),
            Value::Text(&charge.first_on.to_string()),
            Value::Text(&charge.try_on.to_string()),
            Value::Int(charge.tries),
            online.as_ref().into(),
        ],
    )
    .map(drop)
}

pub fn delete_charge(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM autopay_charges WHERE organization_id = ?1 AND payment_id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&payment.to_bytes()),
        ],
    )
    .map(drop)
}

pub fn charge(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
) -> Result<Option<Charge>, DbError> {
    tx.first(
        select_charges!("WHERE organization_id = ?1 AND payment_id = ?2"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&payment.to_bytes()),
        ],
        read,
    )
}

/// Announced or tried for a payer, by charge.
pub fn charges_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<Charge>, DbError> {
    tx.rows(
        select_charges!("WHERE organization_id = ?1 AND member_id = ?2 ORDER BY payment_id"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
        ],
        read,
    )
}

/// Whose last try is this.
pub fn tried_by(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    online: OnlinePaymentId,
) -> Result<Vec<Charge>, DbError> {
    tx.rows(
        select_charges!("WHERE organization_id = ?1 AND online_id = ?2 ORDER BY payment_id"),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&online.to_bytes()),
        ],
        read,
    )
}

pub fn all_charges(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Charge>, DbError> {
    tx.rows(
        select_charges!("WHERE organization_id = ?1 ORDER BY payment_id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Charges that do not exist.
pub fn stray_charges(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<PaymentId>, DbError> {
    tx.rows(
        "SELECT payment_id FROM autopay_charges AS c WHERE organization_id = ?1 AND NOT EXISTS \
         (SELECT 1 FROM payments AS p WHERE p.organization_id = ?1 AND p.id = c.payment_id) ORDER BY payment_id",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}
