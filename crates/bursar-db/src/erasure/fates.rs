//! What erasing a person does to each table.

use crate::engine::ColumnType;

/// What becomes of a table when a person is erased.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// Nothing: it has amounts, dates, ids and settings, or is gone before anybody asks. Says which.
    Stays(&'static str),
    /// Rows of a resource. Those about the member are blanked; in others, these columns are searched. Each is written as
    /// every change is, with history and event.
    Rows(&'static [&'static str]),
    /// Searched, and rewritten in place.
    Texts(Place),
    /// Removed or blanked in a way of its own. Says how.
    Own(&'static str),
    /// The way of its own, and the rest is searched.
    OwnAndTexts(&'static str, Place),
}

impl Fate {
    pub fn place(&'static self) -> Option<&'static Place> {
        match self {
            Self::Texts(place) | Self::OwnAndTexts(_, place) => Some(place),
            Self::Stays(_) | Self::Rows(_) | Self::Own(_) => None,
        }
    }
}

/// Texts that are searched.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub table: &'static str,
    /// In words, for the preview.
    pub told: &'static str,
    /// The column with the organization.
    pub tenant: &'static str,
    /// The rest of the primary key.
    pub key: &'static [(&'static str, ColumnType)],
    pub texts: &'static [(&'static str, Shape)],
}

impl Place {
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.texts.iter().map(|(column, _)| *column)
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Text,
    /// JSON, as an object or a list.
    Document,
}

use ColumnType::{Bytes, Int, Text};
use Shape::Document;

macro_rules! place {
    ($table:literal, $told:literal, [$($key:literal $kind:ident),*], [$($column:literal $shape:ident),*]) => {
        place!($table, $told, "organization_id", [$($key $kind),*], [$($column $shape),*])
    };
    ($table:literal, $told:literal, $tenant:literal, [$($key:literal $kind:ident),*], [$($column:literal $shape:ident),*]) => {
        Place {
            table: $table,
            told: $told,
            tenant: $tenant,
            key: &[$(($key, $kind)),*],
            texts: &[$(($column, place!(@ $shape))),*],
        }
    };
    (@ Text) => { Shape::Text };
    (@ Document) => { Document };
}

const AMOUNTS: &str = "amounts, dates, accounts and ids: the books";
const NO_PERSON: &str = "nothing about a person";
const SHORT: &str = "gone within minutes or a day";

/// A test compares the names with the schema.
pub static FATES: [(&str, Fate); 65] = [
    (
        "organizations",
        Fate::Texts(place!("organizations", "settings", "id", ["id" Bytes], ["pay_text" Text])),
    ),
    (
        "users",
        Fate::Own("the sign-in of a person without a role is blanked"),
    ),
    (
        "roles",
        Fate::Stays("who has a role is refused; `bursar role remove` comes first"),
    ),
    ("policies", Fate::Stays(NO_PERSON)),
    (
        "members",
        Fate::Own("the row becomes a placeholder; whoever the member paid for has no payer"),
    ),
    ("groups", Fate::Rows(&["name", "description"])),
    ("memberships", Fate::Own("the member leaves all groups")),
    ("payments", Fate::Rows(&["description", "provider_id"])),
    ("dues_open", Fate::Stays(AMOUNTS)),
    (
        "accounts",
        Fate::Stays("an account named after the member is refused; `bursar account set` comes first"),
    ),
    ("journal_postings", Fate::Stays(AMOUNTS)),
    (
        "journal_notes",
        Fate::OwnAndTexts(
            "notes of entries about the member alone are removed",
            place!("journal_notes", "notes of journal entries", ["entry_id" Bytes],
                ["memo" Text, "reference" Text, "payer_name" Text]),
        ),
    ),
    ("journal_entries", Fate::Stays(AMOUNTS)),
    (
        "receipts",
        Fate::OwnAndTexts(
            "the reference and the payer's name of the member's receipts are removed",
            place!("receipts", "receipts", ["id" Bytes], ["payer_name" Text, "reference" Text]),
        ),
    ),
    (
        "attachments",
        Fate::OwnAndTexts(
            "files of the member's reimbursements, and of entries about the member alone, are removed",
            place!("attachments", "names of attached files", ["id" Bytes], ["name" Text]),
        ),
    ),
    ("attachment_parts", Fate::Own("removed with their attachments")),
    ("statements", Fate::Stays("about the organization's own account")),
    (
        "statement_lines",
        Fate::OwnAndTexts(
            "text, counterparty and account of lines that are matched with the member's money alone are removed",
            place!("statement_lines", "bank lines", ["id" Bytes],
                ["reference" Text, "end_to_end" Text, "counterparty_name" Text, "counterparty_account" Text,
                 "text" Text]),
        ),
    ),
    ("statement_links", Fate::Stays(AMOUNTS)),
    (
        "reimbursements",
        Fate::Rows(&[
            "category",
            "description",
            "receipts",
            "payout_reference",
            "reviewer_note",
        ]),
    ),
    ("reminders", Fate::Rows(&["subject", "body"])),
    ("cards", Fate::Rows(&["name"])),
    (
        "card_applications",
        Fate::OwnAndTexts(
            "the name of the member's applications is removed",
            place!("card_applications", "card applications", ["id" Bytes], ["name" Text]),
        ),
    ),
    ("campaigns", Fate::Rows(&["name", "note"])),
    ("listings", Fate::Rows(&["name", "description", "items"])),
    ("orders", Fate::Stays("amounts, dates and what was bought")),
    ("chapters", Fate::Stays(NO_PERSON)),
    (
        "history",
        Fate::Texts(
            place!("history", "replaced versions of records", ["list" Int, "updated_at" Int, "id" Bytes],
            ["document" Document]),
        ),
    ),
    ("history_horizons", Fate::Stays(NO_PERSON)),
    (
        "events",
        Fate::Texts(place!("events", "events", ["created_at" Int, "id" Bytes], ["document" Document])),
    ),
    ("event_horizons", Fate::Stays(NO_PERSON)),
    (
        "webhooks",
        Fate::Texts(
            place!("webhooks", "webhook endpoints", ["id" Bytes], ["description" Text, "disabled_reason" Text]),
        ),
    ),
    ("webhook_secrets", Fate::Stays(NO_PERSON)),
    (
        "webhook_extras",
        Fate::Texts(
            place!("webhook_extras", "webhook deliveries", ["webhook_id" Bytes, "event_id" Bytes],
            ["document" Document]),
        ),
    ),
    (
        "webhook_deliveries",
        Fate::Texts(place!("webhook_deliveries", "webhook deliveries",
            ["webhook_id" Bytes, "at" Int, "event_id" Bytes, "attempt" Int], ["error" Text])),
    ),
    (
        "providers",
        Fate::Texts(place!("providers", "payment providers", ["kind" Text], ["problem" Text])),
    ),
    (
        "online_payments",
        Fate::OwnAndTexts(
            "addresses of the member's payment pages are removed; amounts and the provider's ids stay",
            place!("online_payments", "online payments", ["id" Bytes], ["failure" Text, "problem" Text]),
        ),
    ),
    ("online_items", Fate::Stays(AMOUNTS)),
    (
        "online_moves",
        Fate::Texts(place!("online_moves", "refunds and disputes", ["id" Bytes], ["reason" Text])),
    ),
    (
        "autopays",
        Fate::Own("stopped; the provider is told to forget the card, and then the row goes"),
    ),
    ("autopay_charges", Fate::Stays(AMOUNTS)),
    (
        "tokens",
        Fate::Texts(place!("tokens", "names of tokens", ["id" Bytes], ["name" Text])),
    ),
    (
        "idempotency",
        Fate::Texts(
            place!("idempotency", "recorded responses", ["principal" Bytes, "key" Text], ["body" Document]),
        ),
    ),
    (
        "activity",
        Fate::Texts(place!("activity", "lines of the activity log", ["id" Bytes], ["subject" Text])),
    ),
    ("bulk_acts", Fate::Stays(NO_PERSON)),
    (
        "bulk_subjects",
        Fate::Texts(
            place!("bulk_subjects", "values kept for undo", ["act_id" Bytes, "subject_id" Bytes],
            ["previous" Document]),
        ),
    ),
    ("outbox_jobs", Fate::Stays(NO_PERSON)),
    (
        "outbox_messages",
        Fate::OwnAndTexts(
            "address, name and text of messages to the member are removed, with their files in the outbox",
            place!("outbox_messages", "messages to others", ["id" Bytes],
                ["address" Text, "name" Text, "subject" Text, "body" Text, "owed" Text, "headers" Text,
                 "detail" Text]),
        ),
    ),
    (
        "outbox_attempts",
        Fate::Texts(
            place!("outbox_attempts", "delivery attempts", ["message_id" Bytes, "attempt" Int],
            ["detail" Text]),
        ),
    ),
    ("worker_clock", Fate::Stays(NO_PERSON)),
    ("site", Fate::Stays(NO_PERSON)),
    (
        "link_revocations",
        Fate::Own("links to the member's page are revoked; the row has ids and a time"),
    ),
    (
        "member_codes",
        Fate::Own("removed: codes for the member's page, and to the member's address"),
    ),
    (
        "member_sessions",
        Fate::Own("removed: sessions on the member's page, and of the member's address"),
    ),
    ("sessions", Fate::Own("removed with the person's sign-in")),
    ("sign_in_links", Fate::Own("removed with the person's sign-in")),
    (
        "sign_in_codes",
        Fate::Own("removed with the person's sign-in, and those to the member's address"),
    ),
    (
        "uploads",
        Fate::Own("all of the organization's are removed: a file cannot be searched"),
    ),
    ("upload_parts", Fate::Own("removed with their uploads")),
    ("passkeys", Fate::Own("removed with the person's sign-in")),
    ("ceremonies", Fate::Stays(SHORT)),
    ("logins", Fate::Own("removed with the person's sign-in")),
    ("charge_totals", Fate::Stays(AMOUNTS)),
    ("account_totals", Fate::Stays(AMOUNTS)),
    ("member_words", Fate::Own("follows from the member's row")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::EVERY_TABLE;

    #[test]
    fn every_table_has_a_fate() {
        let decided: Vec<&str> = FATES.iter().map(|(table, _)| *table).collect();
        let tables: Vec<&str> = EVERY_TABLE.iter().map(|target| target.table).collect();
        assert_eq!(
            decided, tables,
            "say in FATES what erasing a person does to each table"
        );
    }

    /// A column that is searched and does not exist would fail only when somebody is erased.
    #[test]
    fn every_searched_column_exists() {
        for ((table, fate), target) in FATES.iter().zip(EVERY_TABLE) {
            let columns: Vec<&str> = target.columns.iter().map(|(column, _)| *column).collect();
            let searched: Vec<&str> = match fate {
                Fate::Rows(columns) => columns.to_vec(),
                Fate::Texts(place) | Fate::OwnAndTexts(_, place) => {
                    assert_eq!(place.table, *table);
                    let key = place.key.iter().map(|(column, _)| *column);
                    place.columns().chain(key).chain([place.tenant]).collect()
                }
                Fate::Stays(_) | Fate::Own(_) => Vec::new(),
            };
            for column in searched {
                assert!(columns.contains(&column), "{table} has no {column}");
            }
        }
    }
}
