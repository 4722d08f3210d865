//! The engines' plans of a statement.

use bursar_db::testing::{TestDb, postgres_text};
use bursar_db::{DbError, Tx, Value};

/// Asks a new connection with the settings of a reader: a connection in use keeps the plans that it has made. There are
/// no statistics that a plan could depend on, because nothing runs ANALYZE on SQLite.
pub(crate) fn sqlite_plan(test: &TestDb, sql: &'static str) -> Vec<String> {
    let explain: &'static str = Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str());
    let count = (1..=99).rev().find(|n| sql.contains(&format!("?{n}"))).unwrap();
    let plan: Result<Vec<String>, DbError> = test.db.survey(|tx| {
        let statistics = "SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'";
        let gathered = tx.first(statistics, &[], |_| Ok(()))?;
        assert_eq!(
            gathered, None,
            "SQLite has statistics, so plans must be checked with them too"
        );
        let nothing = vec![Value::Null; count];
        tx.rows(explain, &nothing, |row| row.text(3).map(str::to_owned))
    });
    plan.unwrap()
}

pub(crate) fn postgres_plan(
    tx: &mut Tx<'_>,
    sql: &str,
    parameters: &[(&str, &str)],
    settings: &str,
) -> Result<Vec<String>, DbError> {
    let (types, values): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
    tx.batch(&format!(
        "{settings}; PREPARE asked ({}) AS {}",
        types.join(", "),
        postgres_text(sql)
    ))?;
    let explain: &'static str =
        Box::leak(format!("EXPLAIN (COSTS OFF) EXECUTE asked({})", values.join(", ")).into_boxed_str());
    let plan = tx.rows(explain, &[], |row| row.text(0).map(str::to_owned))?;
    tx.batch("DEALLOCATE asked")?;
    Ok(plan)
}

/// Checks PostgreSQL's custom plan, made for these values, and its generic plan, made for any.
pub(crate) fn check_postgres_plans(
    test: &TestDb,
    sql: &str,
    parameters: &[(&str, &str)],
    check: impl Fn(&str, &[String]),
) {
    for mode in ["custom", "generic"] {
        let settings = format!("SET LOCAL plan_cache_mode = force_{mode}_plan");
        let plan: Result<_, DbError> = test
            .db
            .exclusive(|tx| postgres_plan(tx, sql, parameters, &settings));
        check(mode, &plan.unwrap());
    }
}

/// Whether a line of a plan has these words, whole: `orders_member` is not in a line about `orders_member_status`.
pub(crate) fn says(line: &str, words: &str) -> bool {
    format!(" {} ", line.trim()).contains(&format!(" {words} "))
}

/// PostgreSQL searches this index, or one of several ("this or that"), by all these columns.
pub(crate) fn assert_searched(plan: &[String], (indexes, columns): (&str, &[&str]), text: &str) {
    let is_search =
        |line: &String| line.contains("Index") && indexes.split(" or ").any(|index| says(line, index));
    let search = plan.iter().position(is_search);
    let search = search.unwrap_or_else(|| panic!("{text}"));
    let condition = plan[search..]
        .iter()
        .find(|line| line.trim_start().starts_with("Index Cond:"));
    let condition = condition.unwrap_or_else(|| panic!("{text}"));
    assert!(columns.iter().all(|column| condition.contains(column)), "{text}");
}
