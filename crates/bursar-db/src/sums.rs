//! Sums that cannot overflow. SQLite stops with an error where a `SUM` passes 64 bits, and PostgreSQL where it is cast
//! back to them. So a sum is asked for in two columns, of what is above and below a billion, and put together here.

use crate::engine::Row;
use crate::error::DbError;

/// Where an amount is split. Each half of a 64-bit amount is below ten billion, so a billion rows can be added up.
const SPLIT: i128 = 1_000_000_000;

/// The two columns of a sum, for [`read`].
macro_rules! sum {
    ($amount:literal) => {
        concat!(
            "CAST(COALESCE(SUM((",
            $amount,
            ") / 1000000000), 0) AS BIGINT), CAST(COALESCE(SUM((",
            $amount,
            ") % 1000000000), 0) AS BIGINT)"
        )
    };
}
pub(crate) use sum;

/// The sum whose columns start at `column`.
pub(crate) fn read(row: &Row<'_>, column: usize) -> Result<i128, DbError> {
    Ok(i128::from(row.int(column)?) * SPLIT + i128::from(row.int(column + 1)?))
}
