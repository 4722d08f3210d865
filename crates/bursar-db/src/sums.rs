//! Sums that cannot overflow. SQLite fails if a `SUM` exceeds 64 bits, and PostgreSQL if it is cast back to them. So a
//! sum is selected as two columns, above and below a billion, and put together here.

use crate::error::DbError;
use crate::rows::{Columns, FromColumns};

/// Each half of a 64-bit amount is below ten billion, so a billion rows can be added.
const SPLIT: i128 = 1_000_000_000;

/// The two columns of a sum.
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

/// A sum, from its two columns.
impl FromColumns for i128 {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (above, below): (i64, i64) = columns.next()?;
        Ok(Self::from(above) * SPLIT + Self::from(below))
    }
}
