//! What was owed at the end of a day, from the journal.

use bursar_domain::Date;
use bursar_domain::account::Standing;
use bursar_domain::ids::{AccountId, MemberId, OrganizationId, PaymentId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::sums::sum;

/// A member or a chapter.
pub type Debtor = (Option<MemberId>, Option<OrganizationId>);

/// What an account held of each member and chapter.
pub fn by_debtor(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    until: Date,
) -> Result<Vec<(Debtor, i128)>, DbError> {
    let (organization, account, until) = (organization.to_bytes(), account.to_bytes(), until.to_string());
    tx.rows(
        BY_DEBTOR,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&until),
        ],
        read,
    )
}

const BY_DEBTOR: &str = concat!(
    "SELECT member_id, chapter_id, ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 AND date <= ?3 \
     GROUP BY member_id, chapter_id"
);

/// Charges of which something was owed, by member and payment.
pub fn open_charges(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    until: Date,
) -> Result<Vec<(Option<PaymentId>, Debtor, i128)>, DbError> {
    let (organization, until) = (organization.to_bytes(), until.to_string());
    let receivable = Standing::Receivable.id().to_bytes();
    let mut open: Vec<(Option<PaymentId>, Debtor, i128)> = tx.rows(
        OPEN,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&receivable),
            Value::Text(&until),
        ],
        read,
    )?;
    open.retain(|(.., sum)| *sum != 0);
    open.sort_unstable_by_key(|(payment, debtor, _)| (*debtor, *payment));
    Ok(open)
}

const OPEN: &str = concat!(
    "SELECT payment_id, member_id, chapter_id, ",
    sum!("amount"),
    " FROM journal_postings WHERE organization_id = ?1 AND account_id = ?2 AND date <= ?3 \
     GROUP BY payment_id, member_id, chapter_id"
);
