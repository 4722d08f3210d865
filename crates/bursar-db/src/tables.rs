//! Every table with its columns, for copying a whole database.

use std::sync::{LazyLock, OnceLock};

use bursar_domain::ids::OrganizationId;

use crate::engine::{LoadTarget, OwnedValue, Tx};
use crate::error::DbError;
use crate::resources::{
    CAMPAIGNS, CARDS, CHAPTERS, GROUPS, LISTINGS, MEMBERS, ORDERS, PAYMENTS, REIMBURSEMENTS, REMINDERS,
};
use crate::rows::read;
use crate::table::read_cell;

/// A table by its name, and its columns with their types.
macro_rules! load_target {
    ($table:literal { $($column:ident $kind:ident,)* }) => {
        $crate::engine::LoadTarget {
            table: $table,
            columns: &[$((stringify!($column), $crate::engine::ColumnType::$kind),)*],
        }
    };
}
pub(crate) use load_target;

static ORGANIZATIONS: LoadTarget = load_target! { "organizations" {
    id Bytes, name Text, kind Text, parent_id Bytes, currency Text, contact_email Text, contact_phone Text,
    card_issuing Text, clock Int, epoch Int, epoch_changes Int, time_zone Text, closed_until Text, auto_credit Int,
    auto_reference Int, pay_text Text, last_reference Int, iban Text, retention_years Int, autopay_retries Text,
} };
static USERS: LoadTarget = load_target! { "users" { id Bytes, email Text, address_key Text, name Text, } };
static ROLES: LoadTarget = load_target! { "roles" { organization_id Bytes, user_id Bytes, role Text, } };
static POLICIES: LoadTarget =
    load_target! { "policies" { organization_id Bytes, blocked_scopes Int, max_token_days Int, } };
static DUES_OPEN: LoadTarget =
    load_target! { "dues_open" { organization_id Bytes, group_id Bytes, due_date Text, amount Int, } };
static ACCOUNTS: LoadTarget = load_target! { "accounts" {
    organization_id Bytes, id Bytes, name Text, name_key Text, account_type Text, is_closed Int, budget Int,
    statement_columns Text,
} };
pub static JOURNAL_POSTINGS: LoadTarget = load_target! { "journal_postings" {
    organization_id Bytes, entry_id Bytes, number Int, date Text, account_id Bytes, amount Int, member_id Bytes,
    chapter_id Bytes, payment_id Bytes, order_id Bytes, reimbursement_id Bytes, campaign_id Bytes,
} };
pub static JOURNAL_NOTES: LoadTarget = load_target! { "journal_notes" {
    organization_id Bytes, entry_id Bytes, memo Text, reference Text, payer_name Text,
} };
pub static JOURNAL_ENTRIES: LoadTarget = load_target! { "journal_entries" {
    organization_id Bytes, id Bytes, date Text, recorded_at Int, kind Text, recorder_kind Text, recorder_id Text,
    reverses_id Bytes, receipt_id Bytes,
} };
pub static RECEIPTS: LoadTarget = load_target! { "receipts" {
    organization_id Bytes, id Bytes, date Text, recorded_at Int, amount Int, method Text, account_id Bytes,
    payer_id Bytes, payer_name Text, reference Text, entry_id Bytes, status Text,
} };
pub static STATEMENTS: LoadTarget = load_target! { "statements" {
    organization_id Bytes, id Bytes, account_id Bytes, format Text, file_hash Text, own_account Text, first_date Text,
    last_date Text, opening_date Text, opening_balance Int, closing_date Text, closing_balance Int, recorder_kind Text,
    recorder_id Text, imported_at Int,
} };
pub static STATEMENT_LINES: LoadTarget = load_target! { "statement_lines" {
    organization_id Bytes, id Bytes, statement_id Bytes, account_id Bytes, date Text, amount Int, reference Text,
    end_to_end Text, counterparty_name Text, counterparty_account Text, text Text, identity Bytes, number Int,
    status Text, chosen Text,
} };
pub static STATEMENT_LINKS: LoadTarget = load_target! { "statement_links" {
    organization_id Bytes, line_id Bytes, entry_id Bytes, account_id Bytes, is_made Int,
} };
static APPLICATIONS: LoadTarget = load_target! { "card_applications" {
    organization_id Bytes, id Bytes, created_at Int, status Text, name Text, spend_limit Int,
    spend_limit_frequency Text, transaction_limit Int, assigned_member_id Bytes, currency Text,
} };
static HISTORY: LoadTarget = load_target! { "history" {
    organization_id Bytes, list Int, epoch Int, updated_at Int, id Bytes, superseded_at Int, document Text,
    is_active Int, status Text, member_id Bytes, listing_id Bytes,
} };
static HISTORY_HORIZONS: LoadTarget =
    load_target! { "history_horizons" { organization_id Bytes, superseded_at Int, } };
static TOKENS: LoadTarget = load_target! { "tokens" {
    organization_id Bytes, id Bytes, kind Text, name Text, hash Bytes, user_id Bytes, role Text, scopes Int, days Int,
    created_at Int, expires_at Int, ends_at Int, revoked_at Int, family_id Bytes, predecessor_id Bytes,
    successor_id Bytes, created_by Text, last_used_at Int, noticed_days Int,
} };
static IDEMPOTENCY: LoadTarget = load_target! { "idempotency" {
    organization_id Bytes, principal Bytes, key Text, fingerprint Bytes, status Int, body Text, created_at Int,
} };
static ACTIVITY: LoadTarget = load_target! { "activity" {
    organization_id Bytes, id Bytes, at Int, action Text, actor_kind Text, actor_id Text,
    actor_organization_id Bytes, subject Text, count Int, request_id Bytes,
} };
static BULK_ACTS: LoadTarget =
    load_target! { "bulk_acts" { organization_id Bytes, id Bytes, kind Text, at Int, undone_at Int, } };
pub(crate) static BULK_SUBJECTS: LoadTarget = load_target! { "bulk_subjects" {
    organization_id Bytes, act_id Bytes, subject_id Bytes, other_id Bytes, updated_at Int, previous Text,
} };
static OUTBOX_JOBS: LoadTarget = load_target! { "outbox_jobs" {
    organization_id Bytes, id Bytes, kind Text, subject_id Bytes, run_at Int, state Text, expanded_to Bytes,
    due_at Int, leased_until Int, created_at Int,
} };
static OUTBOX_MESSAGES: LoadTarget = load_target! { "outbox_messages" {
    organization_id Bytes, id Bytes, job_id Bytes, recipient Bytes, method Text, address Text, name Text, subject Text,
    body Text, owed Text, headers Text, segments Int, state Text, detail Text, attempts Int, attempts_before Int,
    due_at Int, leased_until Int, created_at Int, ended_at Int,
} };
static OUTBOX_ATTEMPTS: LoadTarget = load_target! { "outbox_attempts" {
    organization_id Bytes, message_id Bytes, attempt Int, at Int, detail Text,
} };
static SESSIONS: LoadTarget = load_target! { "sessions" {
    hash Bytes, user_id Bytes, started_at Int, seen_at Int, signed_in_at Int, agent Text,
} };
static SIGN_IN_LINKS: LoadTarget =
    load_target! { "sign_in_links" { hash Bytes, user_id Bytes, created_at Int, } };
static SIGN_IN_CODES: LoadTarget = load_target! { "sign_in_codes" {
    browser Bytes, email Text, user_id Bytes, hash Bytes, tries Int, created_at Int, login Text,
} };
static PASSKEYS: LoadTarget = load_target! { "passkeys" {
    hash Bytes, user_id Bytes, name Text, credential Text, created_at Int, used_at Int,
} };
static CHARGE_TOTALS: LoadTarget = load_target! { "charge_totals" {
    organization_id Bytes, due_date Text, group_id Bytes, expected Int, collected Int, open Int,
} };
static ACCOUNT_TOTALS: LoadTarget =
    load_target! { "account_totals" { organization_id Bytes, account_id Bytes, amount Int, } };
pub(crate) static MEMBER_WORDS: LoadTarget =
    load_target! { "member_words" { organization_id Bytes, word Bytes, member_id Bytes, } };
static CEREMONIES: LoadTarget = load_target! { "ceremonies" { browser Bytes, state Text, created_at Int, } };
static LOGINS: LoadTarget = load_target! { "logins" {
    issuer Text, subject Text, email Text, user_id Bytes, created_at Int, used_at Int,
} };
static WORKER_CLOCK: LoadTarget = load_target! { "worker_clock" { id Int, seen_at Int, steady_since Int, } };

/// A test compares the columns with the schema of both engines. An entry of the journal comes after its postings.
pub static EVERY_TABLE: [&LoadTarget; 65] = [
    &ORGANIZATIONS,
    &USERS,
    &ROLES,
    &POLICIES,
    &MEMBERS.target,
    &GROUPS.target,
    &crate::memberships::MEMBERSHIPS,
    &PAYMENTS.target,
    &DUES_OPEN,
    &ACCOUNTS,
    &JOURNAL_POSTINGS,
    &JOURNAL_NOTES,
    &JOURNAL_ENTRIES,
    &RECEIPTS,
    &crate::attachments::ATTACHMENTS,
    &crate::attachments::ATTACHMENT_PARTS,
    &STATEMENTS,
    &STATEMENT_LINES,
    &STATEMENT_LINKS,
    &REIMBURSEMENTS.target,
    &REMINDERS.target,
    &CARDS.target,
    &APPLICATIONS,
    &CAMPAIGNS.target,
    &LISTINGS.target,
    &ORDERS.target,
    &CHAPTERS.target,
    &HISTORY,
    &HISTORY_HORIZONS,
    &crate::events::EVENTS,
    &crate::events::HORIZONS,
    &crate::webhooks::WEBHOOKS,
    &crate::webhooks::SECRETS,
    &crate::webhooks::EXTRAS,
    &crate::webhooks::DELIVERIES,
    &crate::online::PROVIDERS,
    &crate::online::PAYMENTS,
    &crate::online::ITEMS,
    &crate::online::MOVES,
    &crate::autopay::AUTOPAYS,
    &crate::autopay::CHARGES,
    &TOKENS,
    &IDEMPOTENCY,
    &ACTIVITY,
    &BULK_ACTS,
    &BULK_SUBJECTS,
    &OUTBOX_JOBS,
    &OUTBOX_MESSAGES,
    &OUTBOX_ATTEMPTS,
    &WORKER_CLOCK,
    &crate::member_access::SITE,
    &crate::member_access::REVOCATIONS,
    &crate::member_access::CODES,
    &crate::member_access::SESSIONS,
    &SESSIONS,
    &SIGN_IN_LINKS,
    &SIGN_IN_CODES,
    &crate::uploads::UPLOADS,
    &crate::uploads::UPLOAD_PARTS,
    &PASSKEYS,
    &CEREMONIES,
    &LOGINS,
    &CHARGE_TOTALS,
    &ACCOUNT_TOTALS,
    &MEMBER_WORDS,
];

pub fn read_rows(
    tx: &mut Tx<'_>,
    table: &'static LoadTarget,
    visit: &mut dyn FnMut(Vec<OwnedValue>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    static TEXTS: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        EVERY_TABLE
            .iter()
            .map(|table| (table.table, select(table)))
            .collect()
    });
    let text = texts
        .iter()
        .find(|(name, _)| *name == table.table)
        .map(|(_, text)| text.as_str());
    let text = text.ok_or_else(|| DbError::Internal(format!("{} is not among the tables", table.table)))?;
    tx.each(text, &[], |row| {
        let columns = table.columns.iter().enumerate();
        let values = columns.map(|(i, (_, kind))| read_cell(row, i, *kind).map(OwnedValue::from));
        visit(values.collect::<Result<_, _>>()?)
    })
}

/// Removes what belongs to no organization. Only for a database without organizations.
pub fn clear(tx: &mut Tx<'_>) -> Result<(), DbError> {
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let is_nobodys = |table: &&&LoadTarget| table.columns[0].0 != "organization_id";
        let text = |table: &&LoadTarget| format!("DELETE FROM {}", table.table);
        EVERY_TABLE.iter().filter(is_nobodys).map(text).collect()
    });
    TEXTS.iter().try_for_each(|text| tx.execute(text, &[]).map(drop))
}

fn select(table: &LoadTarget) -> String {
    let columns: Vec<&str> = table.columns.iter().map(|(column, _)| *column).collect();
    format!("SELECT {} FROM {}", columns.join(", "), table.table)
}

/// Each table with the organizations that it has rows of.
pub fn organizations_named(tx: &mut Tx<'_>) -> Result<Vec<(&'static str, OrganizationId)>, DbError> {
    static TEXTS: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let of_tenants = EVERY_TABLE
            .iter()
            .filter(|table| table.columns[0].0 == "organization_id");
        of_tenants
            .map(|t| {
                (
                    t.table,
                    format!("SELECT DISTINCT organization_id FROM {}", t.table),
                )
            })
            .collect()
    });
    let mut named = Vec::new();
    for (table, text) in texts {
        named.extend(tx.rows(text, &[], |row| Ok((*table, read(row)?)))?);
    }
    Ok(named)
}
