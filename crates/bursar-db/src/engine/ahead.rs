//! What a job will probably ask, so that it can be sent before the job runs; and which changes spoil the response.

use std::collections::HashMap;

use super::tx::Locking;
use super::value::{OwnedValue, Value};

/// A statement with its values. A job that asks exactly this gets the response that is already on its way. It changes
/// what a job costs and never what it finds.
#[derive(Debug, Clone)]
pub struct Foreseen {
    pub(super) sql: &'static str,
    pub(super) locking: Locking,
    pub(super) params: Vec<OwnedValue>,
    /// How many of the first values are the key of the one row that it reads. 0 if it may read others.
    key: usize,
}

impl Foreseen {
    pub fn new(sql: &'static str, params: &[Value<'_>]) -> Self {
        Foreseen {
            sql,
            locking: Locking::Not,
            params: params.iter().copied().map(OwnedValue::from).collect(),
            key: 0,
        }
    }

    /// Reads one row, whose key is the first `key` values. A change of another row does not spoil it.
    pub fn of_row(key: usize, sql: &'static str, params: &[Value<'_>]) -> Self {
        Foreseen {
            key,
            ..Foreseen::new(sql, params)
        }
    }

    /// What `first_locked` asks.
    pub(crate) fn locked(sql: &'static str, params: &[Value<'_>]) -> Self {
        Foreseen {
            locking: Locking::Lock,
            ..Foreseen::new(sql, params)
        }
    }

    /// Whether the same text is asked with these values.
    pub(super) fn is<'v>(&self, locking: Locking, values: impl ExactSizeIterator<Item = Value<'v>>) -> bool {
        self.locking == locking
            && self.params.len() == values.len()
            && self.values().zip(values).all(|(own, other)| own == other)
    }

    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        self.params.iter().map(OwnedValue::as_value)
    }

    /// Whether each is about one row, and not about the same.
    pub(super) fn is_apart_from(&self, change: &Change<'_>) -> bool {
        self.key > 0
            && self.key == change.key
            && !self
                .values()
                .take(self.key)
                .eq(change.params.iter().copied().take(self.key))
    }
}

/// A change, and what is known of it before it runs.
#[derive(Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) sql: &'static str,
    pub(super) params: &'a [Value<'a>],
    /// How many of the first values are the key of the one row that it changes. 0 if it may change others.
    pub(super) key: usize,
    /// How many rows it must change.
    pub(super) rows: Option<u64>,
}

impl<'a> Change<'a> {
    /// Nothing is known of it.
    pub(super) fn any(sql: &'static str, params: &'a [Value<'a>]) -> Self {
        Change {
            sql,
            params,
            key: 0,
            rows: None,
        }
    }

    /// Whether it may change what this text reads.
    pub(super) fn concerns(&self, sql: &str) -> bool {
        changed_table(self.sql).is_none_or(|table| names(sql, table))
    }
}

/// Which texts may change what others read. There are few texts, and a batch asks for each change of each job.
#[derive(Default)]
pub(super) struct Concerns {
    /// By the two texts' addresses.
    known: HashMap<(usize, usize), bool>,
}

impl Concerns {
    /// Whether the first text may change what the other reads.
    pub(super) fn of(&mut self, change: &'static str, sql: &'static str) -> bool {
        let pair = (change.as_ptr().addr(), sql.as_ptr().addr());
        let known = self.known.entry(pair);
        *known.or_insert_with(|| Change::any(change, &[]).concerns(sql))
    }
}

/// A text that returns rows may change some too, unless it is a plain SELECT.
pub(super) fn may_change(sql: &str) -> bool {
    !sql.starts_with("SELECT ")
}

/// `None` if the text does not tell.
fn changed_table(sql: &str) -> Option<&str> {
    let rest = ["INSERT INTO ", "UPDATE ", "DELETE FROM "]
        .iter()
        .find_map(|verb| sql.strip_prefix(verb))?;
    let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// Whether the word is in the text. A table that is read is named there.
fn names(sql: &str, word: &str) -> bool {
    sql.match_indices(word)
        .any(|(at, _)| !sql[..at].ends_with(is_word) && !sql[at + word.len()..].starts_with(is_word))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_spoils_what_reads_its_table_or_its_row() {
        let of = |id: i64| {
            Foreseen::of_row(
                2,
                "SELECT name FROM members m WHERE a = ?1 AND id = ?2 AND at > ?3",
                &[Value::Int(1), Value::Int(id), Value::Int(id)],
            )
        };
        let all = Foreseen::new("SELECT COUNT(*) FROM member_words, members", &[]);
        for (sql, key, id, row, every) in [
            ("UPDATE members SET x = 1", 0, 7, true, true),
            ("UPDATE members SET x = 1", 2, 7, true, true),
            ("UPDATE members SET x = 1", 2, 8, false, true),
            ("UPDATE members SET x = 1", 1, 8, true, true),
            ("INSERT INTO members(a) VALUES (?1)", 2, 8, false, true),
            ("DELETE FROM members", 0, 8, true, true),
            ("DELETE FROM member_words WHERE id = ?1", 0, 7, false, true),
            ("DELETE FROM words", 0, 7, false, false),
            ("UPDATE member SET members = 1", 0, 7, false, false),
            ("WITH a AS (SELECT 1) UPDATE words SET x = 1", 0, 7, true, true),
            ("TRUNCATE words", 0, 7, true, true),
        ] {
            let change = Change {
                sql,
                params: &[Value::Int(1), Value::Int(id)],
                key,
                rows: None,
            };
            let spoils = |read: &Foreseen| change.concerns(read.sql) && !read.is_apart_from(&change);
            assert_eq!(spoils(&of(7)), row, "{sql}, {key}, {id}");
            assert_eq!(spoils(&all), every, "{sql}");
        }
    }
}
