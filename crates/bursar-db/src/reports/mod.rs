//! Sums for reports, made by the database from indexes.

mod cash;
mod dues;
mod owing;

use bursar_domain::ids::OrganizationId;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::journal;
use crate::rows::read;

pub use cash::{CashSum, cash};
pub use dues::{DuesKey, DuesSums, dues};
pub use owing::{AGES, Owed, owing, processing};

const ACTIVE_MEMBERS: &str = "SELECT COUNT(*) FROM members WHERE organization_id = ?1 AND is_active = 1";

pub fn active_members(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i64, DbError> {
    let count = tx.first(ACTIVE_MEMBERS, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(count.unwrap_or(0))
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 9] {
    [
        ("dues", dues::DATED),
        ("dues, undated", dues::UNDATED),
        ("dues, discounts", dues::DISCOUNTS),
        ("owing", owing::OWING),
        ("owing, processing", owing::PROCESSING),
        ("journal", journal::BETWEEN),
        ("journal of an account", journal::OF_ACCOUNT),
        ("cash", cash::CASH),
        ("chapters, members", ACTIVE_MEMBERS),
    ]
}
