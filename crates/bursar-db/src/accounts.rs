//! The accounts that officers made or changed, and those of reimbursement categories. The standing accounts have no
//! row until somebody changes one.

use bursar_domain::account::{Account, AccountType, Standing, name_key};
use bursar_domain::ids::{AccountId, OrganizationId};
use bursar_domain::states::Word;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

record! { account_columns: Account { id, name, account_type, is_closed, budget, statement_columns } }

macro_rules! select_account {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            " FROM accounts WHERE organization_id = ?1 ",
            $rest
        )
    };
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: AccountId) -> Result<Option<Account>, DbError> {
    let (organization, key) = (organization.to_bytes(), id.to_bytes());
    let found = tx.first(
        select_account!("AND id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&key)],
        read,
    )?;
    Ok(found.or_else(|| Standing::of_id(id).map(Account::from)))
}

/// Ignores case.
pub fn by_name(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    name: &str,
) -> Result<Option<Account>, DbError> {
    let (organization, key) = (organization.to_bytes(), name_key(name));
    let found = tx.first(
        select_account!("AND name_key = ?2"),
        &[Value::Bytes(&organization), Value::Text(&key)],
        read,
    )?;
    Ok(found.or_else(|| <Standing as Word>::parse(&key).map(Account::from)))
}

/// Those with a row, by id.
pub fn stored(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Account>, DbError> {
    tx.rows(
        select_account!("ORDER BY id"),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// The standing accounts first, then the others by name.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Account>, DbError> {
    let mut rest = stored(tx, organization)?;
    let mut all: Vec<Account> = Standing::ALL.iter().copied().map(Account::from).collect();
    for account in &mut all {
        if let Some(at) = rest.iter().position(|changed| changed.id == account.id) {
            *account = rest.swap_remove(at);
        }
    }
    rest.sort_unstable_by_key(|account| name_key(&account.name));
    all.append(&mut rest);
    Ok(all)
}

/// Adds or replaces the row.
pub fn put(tx: &mut Tx<'_>, organization: OrganizationId, account: &Account) -> Result<(), DbError> {
    let (organization, id, key) = (
        organization.to_bytes(),
        account.id.to_bytes(),
        name_key(&account.name),
    );
    let columns = serde_json::to_string(&account.statement_columns)
        .map_err(|error| DbError::Internal(error.to_string()))?;
    tx.execute(
        "INSERT INTO accounts (organization_id, id, name, name_key, account_type, is_closed, budget, \
         statement_columns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (organization_id, id) DO UPDATE SET name = excluded.name, \
         name_key = excluded.name_key, account_type = excluded.account_type, is_closed = excluded.is_closed, \
         budget = excluded.budget, statement_columns = excluded.statement_columns",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(&account.name),
            Value::Text(&key),
            Value::Text(account.account_type.as_str()),
            Value::Int(i64::from(account.is_closed)),
            account.budget.map_or(Value::Null, Value::Int),
            Value::Text(&columns),
        ],
    )
    .map(drop)
}

/// The type of an account that may have a row.
pub fn account_type(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: AccountId,
) -> Result<Option<AccountType>, DbError> {
    Ok(get(tx, organization, id)?.map(|account| account.account_type))
}
