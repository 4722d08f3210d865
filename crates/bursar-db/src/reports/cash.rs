//! What money came for and went to, by account: the cash basis of the income report.

use bursar_domain::Date;
use bursar_domain::account::Standing;
use bursar_domain::ids::{AccountId, OrganizationId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::sums::sum;

/// What one account gained by the entries that moved money, credit or disputes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CashSum {
    pub account: AccountId,
    /// What a posting to a claim or a debt settles: the income account of the charge (none for dues), the expense account
    /// of the reimbursement, or `credit` for a dispute of money that settled no charge.
    pub settles: Option<AccountId>,
    /// In minor units. A debit is positive.
    pub sum: i128,
}

/// One account at a time: SQLite would read the whole journal for several.
macro_rules! of_account {
    ($account:literal) => {
        concat!(
            "SELECT entry_id FROM journal_postings WHERE organization_id = ?1 AND account_id = ",
            $account,
            " AND date >= ?2 AND date <= ?3"
        )
    };
}

/// Entries that touch an account that holds money, credit or disputes, between two days, both included. Entries that touch
/// `opening` are left out.
pub(super) const CASH: &str = concat!(
    "WITH touching (entry_id) AS (",
    of_account!("?4"),
    " UNION ",
    of_account!("?5"),
    " UNION ",
    of_account!("?6"),
    " UNION ",
    of_account!("?7"),
    " UNION ",
    of_account!("?9"),
    " UNION SELECT p.entry_id FROM accounts a CROSS JOIN journal_postings p \
     WHERE a.organization_id = ?1 AND a.account_type = 'asset' AND a.id <> ?8 AND a.id <> ?9 \
     AND p.organization_id = ?1 AND p.account_id = a.id AND p.date >= ?2 AND p.date <= ?3 \
     EXCEPT ",
    of_account!("?10"),
    ") SELECT account_id, settles, ",
    sum!("amount"),
    " FROM (SELECT p.account_id, p.amount, CASE \
     WHEN p.account_id = ?9 AND p.payment_id IS NULL THEN ?7 \
     WHEN p.account_id = ?8 OR p.account_id = ?9 THEN \
     (SELECT y.income_account_id FROM payments y WHERE y.id = p.payment_id AND y.organization_id = ?1) \
     WHEN p.account_id = ?11 THEN (SELECT x.account_id FROM journal_entries e CROSS JOIN journal_postings x \
     WHERE e.organization_id = ?1 AND e.kind = 'expense' AND e.id IN (SELECT entry_id FROM journal_postings \
     WHERE organization_id = ?1 AND reimbursement_id = p.reimbursement_id) \
     AND x.organization_id = ?1 AND x.entry_id = e.id AND x.account_id <> ?11 ORDER BY e.recorded_at LIMIT 1) END AS settles \
     FROM touching t CROSS JOIN journal_postings p WHERE p.organization_id = ?1 AND p.entry_id = t.entry_id) lines \
     GROUP BY account_id, settles"
);

pub fn cash(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
) -> Result<Vec<CashSum>, DbError> {
    let (organization, from, until) = (organization.to_bytes(), from.to_string(), until.to_string());
    let accounts = [
        Standing::Cash,
        Standing::Bank,
        Standing::Clearing,
        Standing::Credit,
        Standing::Receivable,
        Standing::Disputes,
        Standing::Opening,
        Standing::Payable,
    ]
    .map(|standing| standing.id().to_bytes());
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Text(&from),
        Value::Text(&until),
    ];
    params.extend(accounts.iter().map(|key| Value::Bytes(key)));
    tx.rows(CASH, &params, |row| {
        let (account, settles, sum) = read(row)?;
        Ok(CashSum {
            account,
            settles,
            sum,
        })
    })
}
