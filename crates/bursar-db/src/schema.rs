//! The schema, as numbered steps. A released step is never edited: a change is a new step.
//!
//! One text for both engines, with BIGINT, TEXT and BYTEA. `CLUSTERED` marks tables kept in the order of their primary
//! key, `PLAIN` the others, `CARRYING` what an index holds beside its key, `APART` a column that no other index may
//! stand in for. Keys of tenant data start with the organization, so that the data can be sharded by it.

mod autopay;
mod books;
mod console;
mod events;
mod foundation;
mod member_pages;
mod online;
mod privacy;
mod rules;

use self::autopay::AUTOPAY;
use self::books::{ATTACHMENTS, BOOKS, ENTRY_BY_KEY, LATE_FEES, LEDGER_ENDS, STATEMENTS};
use self::console::{ASIDE, LOGINS, LOOKUPS, PASSKEYS, REMINDERS_BY_TIME, SESSIONS, SIGN_IN_CODES, UPLOADS};
use self::events::{EVENTS, WEBHOOKS};
use self::foundation::{
    DUES_OPEN, EPOCHS, FOUNDATION, MORE_LISTS, PRUNED_BY_EPOCH, SENDERS_APART, TIME_SEEN, UNDATED_PAYMENTS,
};
use self::member_pages::MEMBER_PAGES;
use self::online::ONLINE;
use self::privacy::ERASURE;
use self::rules::RULES;
use crate::engine::{EngineKind, Tx};
use crate::error::DbError;

/// In order. The schema version is the number of steps applied.
pub(crate) const STEPS: &[&str] = &[
    FOUNDATION,
    TIME_SEEN,
    EPOCHS,
    UNDATED_PAYMENTS,
    DUES_OPEN,
    SENDERS_APART,
    RULES,
    MORE_LISTS,
    BOOKS,
    LEDGER_ENDS,
    LATE_FEES,
    ATTACHMENTS,
    STATEMENTS,
    SESSIONS,
    SIGN_IN_CODES,
    UPLOADS,
    PASSKEYS,
    REMINDERS_BY_TIME,
    LOGINS,
    ASIDE,
    LOOKUPS,
    EVENTS,
    WEBHOOKS,
    MEMBER_PAGES,
    ERASURE,
    ONLINE,
    AUTOPAY,
    ENTRY_BY_KEY,
    PRUNED_BY_EPOCH,
];

/// What a step does that SQL cannot. It runs after the step's statements, in the same transaction.
pub(crate) fn finish(tx: &mut Tx<'_>, step: &str) -> Result<(), DbError> {
    match step {
        MORE_LISTS => crate::chapters::list_existing(tx),
        BOOKS => {
            // With the functions of this step, the rules of a journal of 400,000 entries would take hours to check.
            let kind = tx.kind();
            let later = [LOOKUPS, ENTRY_BY_KEY].into_iter();
            for function in later.flat_map(|step| statements(step, kind)) {
                if is_function(function) {
                    tx.batch(function)?;
                }
            }
            crate::begin_books::begin(tx)
        }
        ASIDE => crate::aside::begin(tx),
        _ => Ok(()),
    }
}

/// A statement for one engine alone starts with the engine's name.
pub(crate) fn statements(step: &'static str, kind: EngineKind) -> impl Iterator<Item = &'static str> {
    let (own, other) = match kind {
        EngineKind::Sqlite => ("SQLITE ", "POSTGRES "),
        EngineKind::Postgres => ("POSTGRES ", "SQLITE "),
    };
    step.split_inclusive(";\n").filter_map(move |statement| {
        let text = statement.trim_start();
        match text.starts_with(other) {
            true => None,
            false => Some(text.strip_prefix(own).unwrap_or(statement)),
        }
    })
}

/// If the statement adds a trigger: the table and the trigger's name.
pub(crate) fn added_trigger(statement: &'static str) -> Option<(&'static str, &'static str)> {
    let mut words = statement.strip_prefix("CREATE TRIGGER ")?.split_whitespace();
    let name = words.next()?;
    let table = words.skip_while(|word| *word != "ON").nth(1)?;
    Some((table, name))
}

/// A function that only PostgreSQL has.
pub(crate) fn is_function(statement: &str) -> bool {
    statement.starts_with("CREATE OR REPLACE FUNCTION ")
}

/// If the statement adds a rule for rows: the table, the rule's name and its text.
pub(crate) fn added_rule(statement: &'static str) -> Option<(&'static str, &'static str, &'static str)> {
    let (table, rule) = statement
        .trim()
        .strip_prefix("ALTER TABLE ")?
        .split_once(" ADD CONSTRAINT ")?;
    let (name, rule) = rule.split_once(' ')?;
    Some((table, name, rule.trim_end_matches(';')))
}
