//! The differences between the two engines' SQL: parameters, types and table suffixes.

use super::EngineKind;
use super::value::oid;

/// Makes SQLite return a text's bytes without conversion.
pub(crate) const RAW_DOCUMENT: &str = "CAST(document AS BLOB)";

/// Makes SQLite use the index that follows.
const INDEXED: &str = " INDEXED BY ";

/// Rewrites `?1` to `$1` outside of quotes. PostgreSQL needs no cast for the bytes of a document, and cannot be told
/// which index to use.
pub(crate) fn postgres_text(sql: &str) -> String {
    let mut sql = sql.replace(RAW_DOCUMENT, "document");
    while let Some(start) = sql.find(INDEXED) {
        let name = &sql[start + INDEXED.len()..];
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let end = end.map_or(sql.len(), |end| start + INDEXED.len() + end);
        sql.replace_range(start..end, "");
    }
    let mut rewritten = String::with_capacity(sql.len());
    let mut quote = None;
    let mut characters = sql.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_digit = characters.peek().is_some_and(char::is_ascii_digit);
        match quote {
            Some(open) if character == open => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            _ => {}
        }
        let parameter = quote.is_none() && character == '?' && next_is_digit;
        rewritten.push(if parameter { '$' } else { character });
    }
    rewritten
}

/// A text for many rows from one for a single row, both for PostgreSQL: each parameter becomes an array with a value for
/// each row. A question also returns the number of the row that an answer is for, as the first column. `None` if the
/// text is none of those that are known here, or a type is not.
///
/// The planner has no choice: it looks each row up by itself, also while the table is small. And it does not see how long
/// the arrays are, so it need not plan again for each length. That is what the offsets are for.
pub(crate) fn postgres_many(text: &str, types: &[u32]) -> Option<String> {
    let all = |name: fn(usize) -> String| (1..=types.len()).map(name).collect::<Vec<_>>().join(", ");
    let array = |(i, kind): (usize, &u32)| Some(format!("${i}::{}[] AS a{i}", oid::name(*kind)?));
    let arrays: Vec<String> = (1..).zip(types).map(array).collect::<Option<_>>()?;
    let rows = |number: &str, names: &str| {
        format!(
            "(SELECT {} OFFSET 0) AS arrays CROSS JOIN LATERAL unnest({}){number} AS each_row ({}{names})",
            arrays.join(", "),
            all(|i| format!("arrays.a{i}")),
            all(|i| format!("p{i}"))
        )
    };
    let found = |select: &str| format!("LATERAL ({} OFFSET 0) AS found", of_each_row(select));
    if text.starts_with("SELECT ") {
        let rows = rows(" WITH ORDINALITY", ", number");
        let found = found(text);
        return Some(format!(
            "SELECT each_row.number, found.* FROM {rows} CROSS JOIN {found}"
        ));
    }
    let rows = rows("", "");
    if text.starts_with("INSERT INTO ") {
        let places = all(|i| format!("${i}"));
        if let Some((head, rest)) = text.split_once(&format!(" VALUES ({places})")) {
            return (!rest.contains('$')).then(|| format!("{head} SELECT each_row.* FROM {rows}{rest}"));
        }
        let (head, select) = text.split_once(" SELECT ")?;
        let found = found(&format!("SELECT {select}"));
        return Some(format!("{head} SELECT found.* FROM {rows} CROSS JOIN {found}"));
    }
    let (head, condition) = text.split_once(" WHERE ")?;
    let (table, joint) = match head.strip_prefix("DELETE FROM ") {
        Some(table) => (table, "USING"),
        None => (head.strip_prefix("UPDATE ")?.split_once(' ')?.0, "FROM"),
    };
    let place = format!(
        "(SELECT ctid FROM {table} WHERE {}) AS place",
        of_each_row(condition)
    );
    let rows = format!("(SELECT each_row.*, {place} FROM {rows} OFFSET 0) AS each_row");
    let head = of_each_row(head);
    Some(format!(
        "{head} {joint} {rows} WHERE {table}.ctid = each_row.place"
    ))
}

/// Rewrites `$1` to the column of that number.
fn of_each_row(text: &str) -> String {
    text.replace('$', "each_row.p")
}

/// Translates schema text, written once, for an engine.
///
/// `CLUSTERED` and `PLAIN` follow a table's closing parenthesis: rows are kept in the order of the primary key, or not.
/// `CARRYING` precedes the last columns of an index, which are in it so that the table need not be read. PostgreSQL
/// drops them, because its index entries are limited to 2,704 bytes. `APART` follows a number in an index that
/// PostgreSQL must not match with the column of that name or serve with another index; SQLite can be told which index
/// to use.
pub(super) fn ddl(sql: &str, kind: EngineKind) -> String {
    let replacements = match kind {
        EngineKind::Sqlite => [
            ("BIGINT", "INTEGER"),
            ("BYTEA", "BLOB"),
            ("CLUSTERED", "WITHOUT ROWID, STRICT"),
            ("PLAIN", "STRICT"),
            ("CARRYING", ","),
            ("APART", ""),
        ],
        EngineKind::Postgres => [
            ("BIGINT", "BIGINT"),
            ("BYTEA", "BYTEA"),
            ("CLUSTERED", ""),
            ("PLAIN", ""),
            ("CARRYING", ""),
            ("APART", "+ 0"),
        ],
    };
    let mut rewritten = String::with_capacity(sql.len());
    let mut rest = sql;
    let mut quoted = false;
    while let Some(first) = rest.chars().next() {
        let word_end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        if word_end == 0 {
            quoted ^= first == '\'';
            rewritten.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let word = &rest[..word_end];
        let replaced = replacements.iter().find(|(from, _)| !quoted && *from == word);
        rewritten.push_str(replaced.map_or(word, |(_, to)| to));
        rest = &rest[word_end..];
        if kind == EngineKind::Postgres && !quoted && word == "CARRYING" {
            rest = &rest[rest.find(')').unwrap_or(rest.len())..];
        }
    }
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_for_one_row_becomes_one_for_many() {
        let (bytes, int, text) = (oid::BYTEA, oid::INT8, oid::TEXT);
        const TWO: &str = "(SELECT $1::bytea[] AS a1, $2::int8[] AS a2 OFFSET 0) AS arrays CROSS JOIN \
                           LATERAL unnest(arrays.a1, arrays.a2)";
        const TEXT: &str =
            "(SELECT $1::text[] AS a1 OFFSET 0) AS arrays CROSS JOIN LATERAL unnest(arrays.a1)";
        for (one, types, many) in [
            (
                "INSERT INTO t (a, b) VALUES ($1, $2)",
                &[bytes, int][..],
                Some(format!(
                    "INSERT INTO t (a, b) SELECT each_row.* FROM {TWO} AS each_row (p1, p2)"
                )),
            ),
            (
                "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
                &[text],
                Some(format!(
                    "INSERT INTO t (a) SELECT each_row.* FROM {TEXT} AS each_row (p1) \
                     ON CONFLICT (a) DO UPDATE SET a = excluded.a"
                )),
            ),
            (
                "INSERT INTO h (a, b) SELECT a, $2 FROM t WHERE a = $1",
                &[bytes, int],
                Some(format!(
                    "INSERT INTO h (a, b) SELECT found.* FROM {TWO} AS each_row (p1, p2) CROSS JOIN \
                     LATERAL (SELECT a, each_row.p2 FROM t WHERE a = each_row.p1 OFFSET 0) AS found"
                )),
            ),
            (
                "UPDATE t SET b = b + $2 WHERE a = $1",
                &[bytes, int],
                Some(format!(
                    "UPDATE t SET b = b + each_row.p2 FROM (SELECT each_row.*, \
                     (SELECT ctid FROM t WHERE a = each_row.p1) AS place FROM {TWO} AS each_row (p1, p2) OFFSET 0) \
                     AS each_row WHERE t.ctid = each_row.place"
                )),
            ),
            (
                "DELETE FROM t WHERE a = $1",
                &[text],
                Some(format!(
                    "DELETE FROM t USING (SELECT each_row.*, (SELECT ctid FROM t WHERE a = each_row.p1) AS place \
                     FROM {TEXT} AS each_row (p1) OFFSET 0) AS each_row WHERE t.ctid = each_row.place"
                )),
            ),
            (
                "SELECT a, b FROM t WHERE a = $1 AND b > $2",
                &[bytes, int],
                Some(format!(
                    "SELECT each_row.number, found.* FROM {TWO} WITH ORDINALITY AS each_row (p1, p2, number) \
                     CROSS JOIN LATERAL (SELECT a, b FROM t WHERE a = each_row.p1 AND b > each_row.p2 OFFSET 0) AS found"
                )),
            ),
            // Several rows already, values that are computed, a condition with values, no condition.
            ("INSERT INTO t (a) VALUES ($1), ($2)", &[int, int], None),
            ("INSERT INTO t (a) VALUES ($1 + 1)", &[int], None),
            (
                "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = $1",
                &[int],
                None,
            ),
            ("UPDATE t SET a = $1", &[int], None),
            ("INSERT INTO t (a) VALUES ($1)", &[oid::BOOL], None),
        ] {
            assert_eq!(postgres_many(one, types), many, "{one}");
        }
    }

    #[test]
    fn parameters_are_rewritten_outside_of_quotes() {
        assert_eq!(
            postgres_text("SELECT id, CAST(document AS BLOB) FROM t WHERE id = ?1"),
            "SELECT id, document FROM t WHERE id = $1"
        );
        assert_eq!(
            postgres_text(
                "SELECT a FROM (SELECT a FROM t INDEXED BY t_b WHERE b = ?1) u JOIN v x INDEXED BY v_c"
            ),
            "SELECT a FROM (SELECT a FROM t WHERE b = $1) u JOIN v x"
        );
        assert_eq!(
            postgres_text("SELECT '?1 it''s ?2', \"?3\" FROM t WHERE a = ?1 AND b > ?12 AND c ? d"),
            "SELECT '?1 it''s ?2', \"?3\" FROM t WHERE a = $1 AND b > $12 AND c ? d"
        );
    }

    #[test]
    fn schema_text_gets_the_types_and_suffixes_of_the_engine() {
        let text = "CREATE TABLE é (a BIGINT, b BYTEA, c TEXT CHECK (c <> 'BIGINT PLAIN')) CLUSTERED;\
                    CREATE TABLE PLAINER (BIGINT_2 BIGINT) PLAIN;\
                    CREATE INDEX i ON é (a CARRYING b, c); CREATE INDEX j ON é ((a APART));";
        assert_eq!(
            ddl(text, EngineKind::Sqlite),
            "CREATE TABLE é (a INTEGER, b BLOB, c TEXT CHECK (c <> 'BIGINT PLAIN')) WITHOUT ROWID, STRICT;\
             CREATE TABLE PLAINER (BIGINT_2 INTEGER) STRICT;\
             CREATE INDEX i ON é (a , b, c); CREATE INDEX j ON é ((a ));"
        );
        assert_eq!(
            ddl(text, EngineKind::Postgres),
            "CREATE TABLE é (a BIGINT, b BYTEA, c TEXT CHECK (c <> 'BIGINT PLAIN')) ;\
             CREATE TABLE PLAINER (BIGINT_2 BIGINT) ;\
             CREATE INDEX i ON é (a ); CREATE INDEX j ON é ((a + 0));"
        );
    }
}
