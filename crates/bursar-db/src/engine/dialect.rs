//! The differences between the two engines' SQL: parameters, types and table suffixes.

use super::EngineKind;

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
