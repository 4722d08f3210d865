//! Online payments a page at a time, and by what they paid or are called.

use bursar_domain::ids::{OnlinePaymentId, OrganizationId, PaymentId};
use bursar_domain::online::OnlineState;

use super::OnlinePayment;
use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;

const ALL: &str = select!("WHERE organization_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3");
const IN_STATE: &str =
    select!("WHERE organization_id = ?1 AND id < ?2 AND state = ?4 ORDER BY id DESC LIMIT ?3");
const WITH_PROBLEM: &str =
    select!("WHERE organization_id = ?1 AND id < ?2 AND problem IS NOT NULL ORDER BY id DESC LIMIT ?3");

/// Which online payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    All,
    In(&'a [OnlineState]),
    /// Something keeps them from being asked about or booked.
    WithProblem,
}

/// Those before `after`, the newest first.
pub fn payments(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    which: Which<'_>,
    after: Option<OnlinePaymentId>,
    limit: i64,
) -> Result<Vec<OnlinePayment>, DbError> {
    let (organization, before) = (
        organization.to_bytes(),
        after.map_or(super::AFTER_ALL, |id| id.to_bytes()),
    );
    let place = [
        Value::Bytes(&organization),
        Value::Bytes(&before),
        Value::Int(limit),
    ];
    match which {
        Which::All => tx.rows(ALL, &place, read),
        Which::WithProblem => tx.rows(WITH_PROBLEM, &place, read),
        Which::In(states) => {
            let mut found: Vec<OnlinePayment> = Vec::new();
            for state in states {
                let [organization, before, limit] = place;
                let place = [organization, before, limit, Value::Text(state.as_str())];
                found.extend(tx.rows(IN_STATE, &place, read::<OnlinePayment>)?);
            }
            found.sort_by_key(|payment| std::cmp::Reverse(payment.id));
            found.truncate(usize::try_from(limit).unwrap_or(0));
            Ok(found)
        }
    }
}

/// Those that brought money for a charge, the newest first.
pub fn of_charge(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    charge: PaymentId,
    limit: i64,
) -> Result<Vec<OnlinePaymentId>, DbError> {
    tx.rows(
        "SELECT p.id FROM online_items i JOIN online_payments p ON p.organization_id = i.organization_id \
         AND p.id = i.online_id WHERE i.organization_id = ?1 AND i.payment_id = ?2 AND p.receipt_id IS NOT NULL \
         ORDER BY p.id DESC LIMIT ?3",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&charge.to_bytes()),
            Value::Int(limit),
        ],
        read,
    )
}

/// The one that the provider calls so: its page, its payment or its charge.
pub fn by_name(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    name: &str,
) -> Result<Option<OnlinePaymentId>, DbError> {
    let organization = organization.to_bytes();
    for sql in [
        "SELECT id FROM online_payments WHERE organization_id = ?1 AND session_id = ?2",
        "SELECT id FROM online_payments WHERE organization_id = ?1 AND intent_id = ?2",
        "SELECT id FROM online_payments WHERE organization_id = ?1 AND charge_id = ?2",
    ] {
        let found = tx.first(sql, &[Value::Bytes(&organization), Value::Text(name)], read)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

const WAITING: &str = "SELECT (SELECT COUNT(*) FROM online_payments WHERE organization_id = ?1 AND problem > ''), \
     (SELECT COUNT(*) FROM online_moves WHERE organization_id = ?1 AND kind = 'dispute' \
     AND state NOT IN ('won', 'lost', 'failed'))";

/// For tests that read query plans.
pub const fn statements() -> [(&'static str, &'static str); 4] {
    [
        ("a page of all", ALL),
        ("a page of a state", IN_STATE),
        ("a page of those with a problem", WITH_PROBLEM),
        ("what waits", WAITING),
    ]
}

/// How many payments have a problem, and how many disputes have not ended.
pub fn waiting(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(i64, i64), DbError> {
    let found = tx.first(WAITING, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(found.unwrap_or((0, 0)))
}
