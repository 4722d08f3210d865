//! SQL that makes many rows of numbers, on either engine.

use bursar_db::EngineKind;

pub(crate) struct Series {
    /// A table with a column `n`, from 0.
    pub(crate) numbers: String,
    /// Sixteen bytes of a number.
    pub(crate) key: fn(&str) -> String,
    /// A day of a number, from 2026-01-01.
    pub(crate) day: fn(&str) -> String,
}

impl Series {
    pub(crate) fn new(kind: EngineKind, count: i64) -> Self {
        let last = count - 1;
        match kind {
            EngineKind::Sqlite => Self {
                numbers: format!(
                    "(WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) \
                     SELECT n FROM numbers) AS numbers"
                ),
                key: |n| format!("CAST(printf('%016d', {n}) AS BLOB)"),
                day: |n| format!("date('2026-01-01', '+' || ({n}) || ' days')"),
            },
            EngineKind::Postgres => Self {
                numbers: format!("(SELECT generate_series(0, {last}) AS n) AS numbers"),
                key: |n| format!("CAST(lpad(CAST({n} AS TEXT), 16, '0') AS BYTEA)"),
                day: |n| format!("CAST(CAST('2026-01-01' AS DATE) + CAST(({n}) AS INTEGER) AS TEXT)"),
            },
        }
    }
}
