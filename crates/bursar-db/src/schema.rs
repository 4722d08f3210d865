//! The schema, as numbered steps. A released step is never edited: a change is a new step.
//!
//! One text for both engines, with BIGINT, TEXT and BYTEA. `CLUSTERED` marks tables kept in the order of their primary
//! key, `PLAIN` the others, `CARRYING` what an index holds beside its key, `APART` a column that no other index may
//! stand in for. Keys of tenant data start with the organization, so that the data can be sharded by it.

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
];

/// What a step does that SQL cannot. It runs after the step's statements, in the same transaction.
pub(crate) fn finish(tx: &mut Tx<'_>, step: &str) -> Result<(), DbError> {
    match step {
        MORE_LISTS => crate::chapters::list_existing(tx),
        BOOKS => crate::begin_books::begin(tx),
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

const FOUNDATION: &str = r"
CREATE TABLE organizations (
    id BYTEA NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, parent_id BYTEA, currency TEXT NOT NULL,
    contact_email TEXT, contact_phone TEXT, card_issuing TEXT NOT NULL, clock BIGINT NOT NULL,
    PRIMARY KEY (id)
) CLUSTERED;
CREATE INDEX organizations_parent ON organizations (parent_id, id);

CREATE TABLE users (
    id BYTEA NOT NULL, email TEXT NOT NULL, address_key TEXT NOT NULL, name TEXT,
    PRIMARY KEY (id)
) CLUSTERED;
CREATE UNIQUE INDEX users_address ON users (address_key);

CREATE TABLE roles (
    organization_id BYTEA NOT NULL, user_id BYTEA NOT NULL, role TEXT NOT NULL,
    PRIMARY KEY (organization_id, user_id)
) CLUSTERED;

CREATE TABLE policies (
    organization_id BYTEA NOT NULL, blocked_scopes BIGINT NOT NULL, max_token_days BIGINT,
    PRIMARY KEY (organization_id)
) CLUSTERED;

CREATE TABLE members (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    first_name TEXT NOT NULL, last_name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT, is_active BIGINT NOT NULL,
    join_date TEXT, group_ids BYTEA NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX members_id ON members (id, organization_id);
CREATE INDEX members_active ON members (organization_id, is_active, updated_at, id CARRYING document);

CREATE TABLE groups (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    name TEXT NOT NULL, description TEXT NOT NULL, amount_due BIGINT, due_date TEXT, is_recurring BIGINT NOT NULL,
    recurring_interval TEXT, due_anchor_day BIGINT, dues_from TEXT, member_count BIGINT NOT NULL, currency TEXT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX groups_id ON groups (id, organization_id);
CREATE INDEX groups_due ON groups (due_date) WHERE amount_due IS NOT NULL;

CREATE TABLE memberships (
    organization_id BYTEA NOT NULL, group_id BYTEA NOT NULL, member_id BYTEA NOT NULL, joined_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, group_id, member_id)
) CLUSTERED;

CREATE TABLE payments (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    member_id BYTEA, group_id BYTEA, target_organization_id BYTEA, description TEXT NOT NULL, amount BIGINT NOT NULL,
    paid_to_date BIGINT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL, due_date TEXT, paid_at BIGINT,
    voided_at BIGINT, provider_id TEXT,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX payments_id ON payments (id, organization_id);
CREATE INDEX payments_status ON payments (organization_id, status, updated_at, id);
CREATE INDEX payments_member ON payments (organization_id, member_id, updated_at, id);
CREATE INDEX payments_due ON payments (organization_id, due_date, group_id, status, amount, paid_to_date);
CREATE INDEX payments_owed ON payments (organization_id, COALESCE(due_date, '9999-12-31'), id)
    WHERE status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date;
CREATE INDEX payments_dues ON payments (organization_id, group_id, due_date, member_id);

CREATE TABLE dues_raised (
    organization_id BYTEA NOT NULL, group_id BYTEA NOT NULL, due_date TEXT NOT NULL, member_id BYTEA NOT NULL,
    payment_id BYTEA NOT NULL,
    PRIMARY KEY (organization_id, group_id, due_date, member_id)
) CLUSTERED;

CREATE TABLE ledger_entries (
    organization_id BYTEA NOT NULL, payment_id BYTEA NOT NULL, id BYTEA NOT NULL, at BIGINT NOT NULL, amount BIGINT NOT NULL,
    method TEXT NOT NULL, reference TEXT, received_on TEXT, reverses_id BYTEA,
    PRIMARY KEY (organization_id, payment_id, id)
) CLUSTERED;
CREATE INDEX ledger_entries_at ON ledger_entries (organization_id, at, id);

CREATE TABLE reimbursements (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    member_id BYTEA, recipient_organization_id BYTEA, amount BIGINT NOT NULL, currency TEXT NOT NULL, category TEXT,
    description TEXT NOT NULL, incurred_at TEXT, status TEXT NOT NULL, submitted_at BIGINT, reviewed_at BIGINT,
    paid_at BIGINT, voided_at BIGINT, receipts TEXT NOT NULL, payout_reference TEXT, reviewer_note TEXT,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX reimbursements_id ON reimbursements (id, organization_id);
CREATE INDEX reimbursements_status ON reimbursements (organization_id, status, updated_at, id);

CREATE TABLE reminders (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    target_member_id BYTEA, target_organization_id BYTEA, group_id BYTEA, method TEXT NOT NULL, status TEXT NOT NULL,
    subject TEXT, body TEXT, scheduled_at BIGINT, sent_at BIGINT, is_recurring BIGINT NOT NULL,
    recurring_interval_days BIGINT, include_payment_info BIGINT NOT NULL, is_held BIGINT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX reminders_id ON reminders (id, organization_id);
CREATE INDEX reminders_status ON reminders (organization_id, status, updated_at, id);
CREATE INDEX reminders_due ON reminders (scheduled_at) WHERE status = 'scheduled' AND is_held = 0;

CREATE TABLE cards (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    name TEXT, status TEXT, last4 TEXT, spend_limit BIGINT, spend_limit_frequency TEXT, transaction_limit BIGINT,
    assigned_member_id BYTEA, invited_at BIGINT, activated_at BIGINT, canceled_at BIGINT, currency TEXT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX cards_id ON cards (id, organization_id);
CREATE INDEX cards_status ON cards (organization_id, status, updated_at, id);

CREATE TABLE card_applications (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, created_at BIGINT NOT NULL, status TEXT NOT NULL, name TEXT NOT NULL,
    spend_limit BIGINT NOT NULL, spend_limit_frequency TEXT NOT NULL, transaction_limit BIGINT, assigned_member_id BYTEA,
    currency TEXT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;

CREATE TABLE campaigns (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    name TEXT NOT NULL, note TEXT, goal_amount BIGINT, currency TEXT NOT NULL, start_date TEXT, end_date TEXT,
    status TEXT NOT NULL, is_held BIGINT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX campaigns_id ON campaigns (id, organization_id);
CREATE INDEX campaigns_over ON campaigns (end_date) WHERE status = 'active' AND is_held = 0;

CREATE TABLE listings (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    name TEXT NOT NULL, description TEXT NOT NULL, currency TEXT NOT NULL, is_active BIGINT NOT NULL, items TEXT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX listings_id ON listings (id, organization_id);

CREATE TABLE orders (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    listing_id BYTEA, member_id BYTEA, total_amount BIGINT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
    paid_at BIGINT, lines TEXT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX orders_id ON orders (id, organization_id);

CREATE TABLE history (
    organization_id BYTEA NOT NULL, list BIGINT NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL,
    superseded_at BIGINT NOT NULL, document TEXT NOT NULL, is_active BIGINT, status TEXT, member_id BYTEA,
    PRIMARY KEY (organization_id, list, updated_at, id)
) CLUSTERED;
CREATE INDEX history_active ON history (organization_id, list, is_active, updated_at, id) WHERE is_active IS NOT NULL;
CREATE INDEX history_status ON history (organization_id, list, status, updated_at, id) WHERE status IS NOT NULL;
CREATE INDEX history_member ON history (organization_id, list, member_id, updated_at, id) WHERE member_id IS NOT NULL;
CREATE INDEX history_superseded ON history (superseded_at);

CREATE TABLE tokens (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, hash BYTEA NOT NULL,
    user_id BYTEA, role TEXT, scopes BIGINT NOT NULL, days BIGINT NOT NULL, created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, ends_at BIGINT NOT NULL, revoked_at BIGINT, family_id BYTEA NOT NULL,
    predecessor_id BYTEA, successor_id BYTEA, created_by TEXT NOT NULL, last_used_at BIGINT, noticed_days BIGINT,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX tokens_hash ON tokens (hash);
CREATE INDEX tokens_id ON tokens (id);
CREATE INDEX tokens_expiring ON tokens (expires_at) WHERE revoked_at IS NULL AND successor_id IS NULL;

CREATE TABLE idempotency (
    organization_id BYTEA NOT NULL, principal BYTEA NOT NULL, key TEXT NOT NULL, fingerprint BYTEA NOT NULL,
    status BIGINT NOT NULL, body TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, principal, key)
) CLUSTERED;
CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TABLE activity (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, at BIGINT NOT NULL, action TEXT NOT NULL, actor_kind TEXT NOT NULL,
    actor_id TEXT, actor_organization_id BYTEA, subject TEXT, count BIGINT, request_id BYTEA,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;

CREATE TABLE bulk_acts (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, at BIGINT NOT NULL, undone_at BIGINT,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE INDEX bulk_acts_id ON bulk_acts (id);

CREATE TABLE bulk_subjects (
    organization_id BYTEA NOT NULL, act_id BYTEA NOT NULL, subject_id BYTEA NOT NULL, other_id BYTEA, updated_at BIGINT NOT NULL,
    previous TEXT,
    PRIMARY KEY (organization_id, act_id, subject_id)
) CLUSTERED;
CREATE INDEX bulk_subjects_version ON bulk_subjects (organization_id, subject_id, updated_at);

CREATE TABLE outbox_jobs (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, subject_id BYTEA NOT NULL, run_at BIGINT NOT NULL,
    state TEXT NOT NULL, expanded_to BYTEA, due_at BIGINT NOT NULL, leased_until BIGINT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX outbox_jobs_run ON outbox_jobs (organization_id, kind, subject_id, run_at);
CREATE INDEX outbox_jobs_due ON outbox_jobs (due_at) WHERE state <> 'done';

CREATE TABLE outbox_messages (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, job_id BYTEA NOT NULL, recipient BYTEA NOT NULL, method TEXT NOT NULL,
    address TEXT, name TEXT, subject TEXT, body TEXT, owed TEXT, headers TEXT, segments BIGINT, state TEXT NOT NULL, detail TEXT,
    attempts BIGINT NOT NULL, attempts_before BIGINT NOT NULL, due_at BIGINT NOT NULL, leased_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL, ended_at BIGINT,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX outbox_messages_recipient ON outbox_messages (organization_id, job_id, recipient);
CREATE INDEX outbox_messages_job ON outbox_messages (organization_id, job_id, state);
CREATE INDEX outbox_messages_due ON outbox_messages (due_at) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_messages_kept ON outbox_messages (ended_at) WHERE ended_at IS NOT NULL AND body IS NOT NULL;

CREATE TABLE outbox_attempts (
    organization_id BYTEA NOT NULL, message_id BYTEA NOT NULL, attempt BIGINT NOT NULL, at BIGINT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (organization_id, message_id, attempt)
) CLUSTERED;
";

/// How far each organization's history was pruned, and the last time that a worker trusted.
const TIME_SEEN: &str = r"
CREATE TABLE history_horizons (
    organization_id BYTEA NOT NULL, superseded_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id)
) CLUSTERED;

CREATE TABLE worker_clock (
    id BIGINT NOT NULL, seen_at BIGINT NOT NULL, steady_since BIGINT NOT NULL,
    PRIMARY KEY (id)
) CLUSTERED;
";

/// Keeps history in epochs, so that a page skips the versions of epochs that ended before its walk began. Adds the
/// index of payments by member and status.
///
/// Versions from before this step form epoch 0, which ends with it. `APART` keeps PostgreSQL from using the primary key
/// instead of these indexes.
const EPOCHS: &str = r"
ALTER TABLE organizations ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organizations ADD COLUMN epoch_changes BIGINT NOT NULL DEFAULT 0;
UPDATE organizations SET epoch = clock + 1;

ALTER TABLE history ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
DROP INDEX history_active;
DROP INDEX history_status;
DROP INDEX history_member;
CREATE INDEX history_epoch ON history (organization_id, list, epoch, (updated_at APART), id, superseded_at);
CREATE INDEX history_active ON history (organization_id, list, is_active, epoch, (updated_at APART), id, superseded_at)
    WHERE is_active IS NOT NULL;
CREATE INDEX history_status ON history (organization_id, list, status, epoch, (updated_at APART), id, superseded_at)
    WHERE status IS NOT NULL;
CREATE INDEX history_member ON history (organization_id, list, member_id, epoch, (updated_at APART), id, superseded_at)
    WHERE member_id IS NOT NULL;
CREATE INDEX history_member_status ON history (organization_id, list, member_id, status, epoch, (updated_at APART), id, superseded_at)
    WHERE member_id IS NOT NULL AND status IS NOT NULL;

CREATE INDEX payments_member_status ON payments (organization_id, member_id, status, updated_at, id);
";

/// The dues report counts payments without a due date on the day they were raised. SQLite needs the due date in the
/// index, though it is always null there.
const UNDATED_PAYMENTS: &str = r"
CREATE INDEX payments_undated ON payments (organization_id, created_at, group_id, status, amount, paid_to_date, due_date)
    WHERE due_date IS NULL;
";

/// Due days on which dues were raised before the day was over: whoever joins later that day is charged at its end.
const DUES_OPEN: &str = r"
CREATE TABLE dues_open (
    organization_id BYTEA NOT NULL, group_id BYTEA NOT NULL, due_date TEXT NOT NULL, amount BIGINT NOT NULL,
    PRIMARY KEY (organization_id, group_id, due_date)
) CLUSTERED;
CREATE INDEX dues_open_due ON dues_open (due_date);
";

/// Mail and SMS are claimed separately: finding one does not read what waits for the other.
const SENDERS_APART: &str = r"
DROP INDEX outbox_messages_due;
CREATE INDEX outbox_messages_due ON outbox_messages (method, due_at) WHERE state IN ('queued', 'sending');
";

/// Those rules of `bursar check` that the engine can enforce on a row by itself: ids have 16 bytes, words are known,
/// booleans are 0 or 1, amounts are not negative, no more is paid than is due, and nothing has two debtors. NULL
/// passes. Rules that may be loosened one day, or that look at other rows, stay in the program. For an IN with more
/// than two words SQLite would make a temporary table for every row written.
const RULES: &str = r"
ALTER TABLE organizations ADD CONSTRAINT organizations_form CHECK (length(id) = 16 AND length(parent_id) = 16
    AND (kind = 'national' OR kind = 'chapter' OR kind = 'independent')
    AND card_issuing IN ('approved', 'pending'));
ALTER TABLE users ADD CONSTRAINT users_form CHECK (length(id) = 16);
ALTER TABLE roles ADD CONSTRAINT roles_form CHECK (length(organization_id) = 16 AND length(user_id) = 16
    AND (role = 'viewer' OR role = 'editor' OR role = 'admin'));
ALTER TABLE policies ADD CONSTRAINT policies_form CHECK (length(organization_id) = 16
    AND max_token_days BETWEEN 1 AND 365);
ALTER TABLE tokens ADD CONSTRAINT tokens_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(user_id) = 16 AND length(family_id) = 16
    AND (role = 'viewer' OR role = 'editor' OR role = 'admin') AND days BETWEEN 1 AND 365
    AND ends_at <= expires_at);
ALTER TABLE tokens ADD CONSTRAINT tokens_owner CHECK (
    (kind = 'personal' AND user_id IS NOT NULL AND role IS NULL)
        OR (kind = 'service' AND user_id IS NULL AND role IS NOT NULL));
ALTER TABLE members ADD CONSTRAINT members_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(group_ids) % 16 = 0 AND is_active IN (0, 1));
ALTER TABLE groups ADD CONSTRAINT groups_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND is_recurring IN (0, 1)
    AND (recurring_interval = 'weekly' OR recurring_interval = 'monthly' OR recurring_interval = 'quarterly'
        OR recurring_interval = 'semiannual' OR recurring_interval = 'annual')
    AND due_anchor_day BETWEEN 1 AND 31);
ALTER TABLE groups ADD CONSTRAINT groups_amounts CHECK (amount_due >= 0 AND member_count >= 0);
ALTER TABLE memberships ADD CONSTRAINT memberships_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND length(member_id) = 16);
ALTER TABLE payments ADD CONSTRAINT payments_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(member_id) = 16 AND length(group_id) = 16 AND length(target_organization_id) = 16
    AND (status = 'pending' OR status = 'processing' OR status = 'partially_paid' OR status = 'paid'
        OR status = 'cancelled' OR status = 'failed' OR status = 'disputed'));
ALTER TABLE payments ADD CONSTRAINT payments_amounts CHECK (paid_to_date >= 0 AND paid_to_date <= amount);
ALTER TABLE payments ADD CONSTRAINT payments_debtor CHECK (member_id IS NULL OR target_organization_id IS NULL);
ALTER TABLE dues_raised ADD CONSTRAINT dues_raised_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND length(member_id) = 16 AND length(payment_id) = 16);
ALTER TABLE dues_open ADD CONSTRAINT dues_open_form CHECK (length(organization_id) = 16
    AND length(group_id) = 16 AND amount >= 0);
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_form CHECK (length(organization_id) = 16
    AND length(payment_id) = 16 AND length(id) = 16 AND length(reverses_id) = 16);
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_form CHECK (length(organization_id) = 16
    AND length(id) = 16 AND length(member_id) = 16 AND length(recipient_organization_id) = 16
    AND (status = 'draft' OR status = 'submitted' OR status = 'approved' OR status = 'rejected'
        OR status = 'paid' OR status = 'voided'));
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_amounts CHECK (amount >= 0);
ALTER TABLE reimbursements ADD CONSTRAINT reimbursements_recipient CHECK (
    member_id IS NULL OR recipient_organization_id IS NULL);
ALTER TABLE reminders ADD CONSTRAINT reminders_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(target_member_id) = 16 AND length(target_organization_id) = 16 AND length(group_id) = 16
    AND method IN ('email', 'sms')
    AND (status = 'scheduled' OR status = 'sending' OR status = 'sent' OR status = 'failed'
        OR status = 'completed' OR status = 'cancelled') AND is_recurring IN (0, 1)
    AND include_payment_info IN (0, 1) AND is_held IN (0, 1) AND recurring_interval_days > 0);
ALTER TABLE reminders ADD CONSTRAINT reminders_target CHECK (
    target_organization_id IS NULL OR (target_member_id IS NULL AND group_id IS NULL));
ALTER TABLE cards ADD CONSTRAINT cards_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(assigned_member_id) = 16
    AND (status = 'active' OR status = 'frozen' OR status = 'canceled' OR status = 'invited'
        OR status = 'denied')
    AND (spend_limit_frequency = 'daily' OR spend_limit_frequency = 'weekly'
        OR spend_limit_frequency = 'monthly' OR spend_limit_frequency = 'one_time'));
ALTER TABLE cards ADD CONSTRAINT cards_amounts CHECK (spend_limit >= 0 AND transaction_limit >= 0);
ALTER TABLE campaigns ADD CONSTRAINT campaigns_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND (status = 'draft' OR status = 'active' OR status = 'ended') AND is_held IN (0, 1));
ALTER TABLE campaigns ADD CONSTRAINT campaigns_amounts CHECK (goal_amount >= 0);
ALTER TABLE listings ADD CONSTRAINT listings_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND is_active IN (0, 1));
ALTER TABLE orders ADD CONSTRAINT orders_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(listing_id) = 16 AND length(member_id) = 16
    AND (status = 'pending' OR status = 'paid' OR status = 'fulfilled' OR status = 'cancelled'
        OR status = 'refunded'));
ALTER TABLE orders ADD CONSTRAINT orders_amounts CHECK (total_amount >= 0);
";

/// The lists of campaigns, orders and chapters: what they are filtered by, and a row for every chapter in the list of
/// its parent.
///
/// Versions in `history` from before this step have no status and no listing. No walk needs them: there were no such
/// lists.
const MORE_LISTS: &str = r"
CREATE INDEX campaigns_status ON campaigns (organization_id, status, updated_at, id);

CREATE INDEX orders_member ON orders (organization_id, member_id, updated_at, id);
CREATE INDEX orders_status ON orders (organization_id, status, updated_at, id);
CREATE INDEX orders_member_status ON orders (organization_id, member_id, status, updated_at, id);
CREATE INDEX orders_listing ON orders (organization_id, listing_id, updated_at, id);
CREATE INDEX orders_member_listing ON orders (organization_id, member_id, listing_id, updated_at, id);
CREATE INDEX orders_status_listing ON orders (organization_id, status, listing_id, updated_at, id);
CREATE INDEX orders_member_status_listing ON orders (organization_id, member_id, status, listing_id, updated_at, id);

ALTER TABLE history ADD COLUMN listing_id BYTEA;
CREATE INDEX history_listing ON history (organization_id, list, listing_id, epoch, (updated_at APART), id, superseded_at)
    WHERE listing_id IS NOT NULL;
CREATE INDEX history_member_listing ON history (organization_id, list, member_id, listing_id, epoch, (updated_at APART), id, superseded_at)
    WHERE member_id IS NOT NULL AND listing_id IS NOT NULL;
CREATE INDEX history_status_listing ON history (organization_id, list, status, listing_id, epoch, (updated_at APART), id, superseded_at)
    WHERE status IS NOT NULL AND listing_id IS NOT NULL;
CREATE INDEX history_member_status_listing ON history (organization_id, list, member_id, status, listing_id, epoch, (updated_at APART), id, superseded_at)
    WHERE member_id IS NOT NULL AND status IS NOT NULL AND listing_id IS NOT NULL;

CREATE TABLE chapters (
    organization_id BYTEA NOT NULL, updated_at BIGINT NOT NULL, id BYTEA NOT NULL, document TEXT NOT NULL, created_at BIGINT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (organization_id, updated_at, id)
) CLUSTERED;
CREATE UNIQUE INDEX chapters_id ON chapters (id, organization_id);
ALTER TABLE chapters ADD CONSTRAINT chapters_form CHECK (length(organization_id) = 16 AND length(id) = 16);
";

/// The journal instead of the payment ledger, with accounts and receipts; members without an address and with a payer;
/// references; rules of groups and organizations. `begin_books` makes the entries for what is there.
///
/// The engine holds the journal's two rules. An entry is written after its postings, and only if they sum to zero and
/// have its date; no posting is added to an entry that is written. Nothing of the two is changed or deleted. SQLite
/// fires no trigger for a row that INSERT OR REPLACE deletes, so it refuses to write an entry twice.
const BOOKS: &str = r"
ALTER TABLE organizations ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE organizations ADD COLUMN closed_until TEXT;
ALTER TABLE organizations ADD COLUMN auto_credit BIGINT NOT NULL DEFAULT 1;
ALTER TABLE organizations ADD COLUMN auto_reference BIGINT NOT NULL DEFAULT 0;
ALTER TABLE organizations ADD COLUMN pay_text TEXT;
ALTER TABLE organizations ADD COLUMN last_reference BIGINT NOT NULL DEFAULT 0;

ALTER TABLE members ALTER COLUMN email DROP NOT NULL;
ALTER TABLE members ADD COLUMN payer_id BYTEA;
ALTER TABLE members ADD COLUMN reference TEXT;
CREATE INDEX members_payer ON members (organization_id, payer_id, id) WHERE payer_id IS NOT NULL;

ALTER TABLE groups ADD COLUMN late_fee BIGINT;
ALTER TABLE groups ADD COLUMN late_percent BIGINT;
ALTER TABLE groups ADD COLUMN late_after_days BIGINT;
ALTER TABLE groups ADD COLUMN late_cap BIGINT;
ALTER TABLE groups ADD COLUMN pro_rata TEXT NOT NULL DEFAULT 'none';

ALTER TABLE payments ADD COLUMN dues_for TEXT;
ALTER TABLE payments ADD COLUMN income_account_id BYTEA;
ALTER TABLE payments ADD COLUMN fee_of BYTEA;
ALTER TABLE payments ADD COLUMN reference TEXT;
UPDATE payments SET dues_for = due_date WHERE group_id IS NOT NULL AND member_id IS NOT NULL;
UPDATE payments SET dues_for = r.due_date FROM dues_raised r
    WHERE r.organization_id = payments.organization_id AND r.payment_id = payments.id;
DROP TABLE dues_raised;
DROP INDEX payments_dues;
CREATE INDEX payments_dues ON payments (organization_id, dues_for, group_id, member_id);
CREATE INDEX payments_fee_of ON payments (organization_id, fee_of) WHERE fee_of IS NOT NULL;

UPDATE members SET reference = n.reference FROM (
    SELECT id, organization_id, 'RF' || CASE WHEN 98 - (number * 1000000 + 271500) % 97 < 10 THEN '0' ELSE '' END
        || CAST(98 - (number * 1000000 + 271500) % 97 AS TEXT) || CAST(number AS TEXT) AS reference
    FROM (SELECT id, organization_id, ROW_NUMBER() OVER (PARTITION BY organization_id ORDER BY id) AS number
        FROM members) numbered) n
    WHERE n.organization_id = members.organization_id AND n.id = members.id;
UPDATE payments SET reference = n.reference FROM (
    SELECT id, organization_id, 'RF' || CASE WHEN 98 - (number * 1000000 + 271500) % 97 < 10 THEN '0' ELSE '' END
        || CAST(98 - (number * 1000000 + 271500) % 97 AS TEXT) || CAST(number AS TEXT) AS reference
    FROM (SELECT p.id, p.organization_id, ROW_NUMBER() OVER (PARTITION BY p.organization_id ORDER BY p.id)
            + COALESCE(m.members, 0) AS number
        FROM payments p LEFT JOIN (SELECT organization_id, COUNT(*) AS members FROM members GROUP BY organization_id) m
            ON m.organization_id = p.organization_id) numbered) n
    WHERE n.organization_id = payments.organization_id AND n.id = payments.id;
UPDATE organizations SET last_reference = (SELECT COUNT(*) FROM members m WHERE m.organization_id = organizations.id)
    + (SELECT COUNT(*) FROM payments p WHERE p.organization_id = organizations.id);
CREATE UNIQUE INDEX members_reference ON members (organization_id, reference) WHERE reference IS NOT NULL;
CREATE UNIQUE INDEX payments_reference ON payments (organization_id, reference) WHERE reference IS NOT NULL;

CREATE TABLE accounts (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL, account_type TEXT NOT NULL,
    is_closed BIGINT NOT NULL, budget BIGINT,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX accounts_name ON accounts (organization_id, name_key);

CREATE TABLE journal_postings (
    organization_id BYTEA NOT NULL, entry_id BYTEA NOT NULL, number BIGINT NOT NULL, date TEXT NOT NULL,
    account_id BYTEA NOT NULL, amount BIGINT NOT NULL, member_id BYTEA, chapter_id BYTEA, payment_id BYTEA, order_id BYTEA,
    reimbursement_id BYTEA, campaign_id BYTEA,
    PRIMARY KEY (organization_id, entry_id, number)
) CLUSTERED;
CREATE INDEX journal_postings_account ON journal_postings (organization_id, account_id, date, amount, member_id);
CREATE INDEX journal_postings_payment ON journal_postings (organization_id, payment_id, account_id, amount)
    WHERE payment_id IS NOT NULL;
CREATE INDEX journal_postings_order ON journal_postings (organization_id, order_id, entry_id) WHERE order_id IS NOT NULL;
CREATE INDEX journal_postings_reimbursement ON journal_postings (organization_id, reimbursement_id, entry_id)
    WHERE reimbursement_id IS NOT NULL;
CREATE INDEX journal_postings_campaign ON journal_postings (organization_id, campaign_id, entry_id)
    WHERE campaign_id IS NOT NULL;
CREATE INDEX journal_postings_member ON journal_postings (organization_id, member_id, account_id, amount)
    WHERE member_id IS NOT NULL;

CREATE TABLE journal_entries (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, date TEXT NOT NULL, recorded_at BIGINT NOT NULL, kind TEXT NOT NULL,
    recorder_kind TEXT NOT NULL, recorder_id TEXT, reverses_id BYTEA, receipt_id BYTEA,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE INDEX journal_entries_date ON journal_entries (organization_id, date, id);
CREATE INDEX journal_entries_reverses ON journal_entries (organization_id, reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX journal_entries_receipt ON journal_entries (organization_id, receipt_id) WHERE receipt_id IS NOT NULL;

CREATE TABLE journal_notes (
    organization_id BYTEA NOT NULL, entry_id BYTEA NOT NULL, memo TEXT, reference TEXT, payer_name TEXT,
    PRIMARY KEY (organization_id, entry_id)
) CLUSTERED;

CREATE TABLE receipts (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, date TEXT NOT NULL, recorded_at BIGINT NOT NULL, amount BIGINT NOT NULL,
    method TEXT NOT NULL, account_id BYTEA NOT NULL, payer_id BYTEA, payer_name TEXT, reference TEXT,
    entry_id BYTEA NOT NULL, status TEXT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE INDEX receipts_date ON receipts (organization_id, date, id);
CREATE INDEX receipts_same ON receipts (organization_id, account_id, date, amount);
CREATE INDEX receipts_payer ON receipts (organization_id, payer_id, id) WHERE payer_id IS NOT NULL;

SQLITE CREATE TRIGGER journal_entries_balanced BEFORE INSERT ON journal_entries WHEN COALESCE((SELECT SUM(amount) = 0 AND COUNT(*) > 1 AND MIN(date) = NEW.date AND MAX(date) = NEW.date FROM journal_postings WHERE organization_id = NEW.organization_id AND entry_id = NEW.id), 0) = 0 BEGIN SELECT RAISE(ABORT, 'the postings of a journal entry must sum to zero and have its date'); END;
SQLITE CREATE TRIGGER journal_entries_once BEFORE INSERT ON journal_entries WHEN EXISTS (SELECT 1 FROM journal_entries WHERE organization_id = NEW.organization_id AND id = NEW.id) BEGIN SELECT RAISE(ABORT, 'a journal entry is written once'); END;
SQLITE CREATE TRIGGER journal_postings_first BEFORE INSERT ON journal_postings WHEN EXISTS (SELECT 1 FROM journal_entries WHERE organization_id = NEW.organization_id AND id = NEW.entry_id) BEGIN SELECT RAISE(ABORT, 'a journal entry that is written takes no more postings'); END;
SQLITE CREATE TRIGGER journal_entries_stay BEFORE UPDATE ON journal_entries BEGIN SELECT RAISE(ABORT, 'a journal entry cannot be changed'); END;
SQLITE CREATE TRIGGER journal_entries_remain BEFORE DELETE ON journal_entries BEGIN SELECT RAISE(ABORT, 'a journal entry cannot be deleted'); END;
SQLITE CREATE TRIGGER journal_postings_stay BEFORE UPDATE ON journal_postings BEGIN SELECT RAISE(ABORT, 'a posting cannot be changed'); END;
SQLITE CREATE TRIGGER journal_postings_remain BEFORE DELETE ON journal_postings BEGIN SELECT RAISE(ABORT, 'a posting cannot be deleted'); END;
POSTGRES CREATE OR REPLACE FUNCTION bursar_entry_balanced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF COALESCE((SELECT SUM(p.amount) = 0 AND COUNT(*) > 1 AND MIN(p.date) = NEW.date AND MAX(p.date) = NEW.date FROM journal_postings p WHERE p.organization_id = NEW.organization_id AND p.entry_id = NEW.id), false) THEN RETURN NEW; END IF; RAISE EXCEPTION 'the postings of a journal entry must sum to zero and have its date' USING ERRCODE = 'check_violation'; END $$;
POSTGRES CREATE OR REPLACE FUNCTION bursar_posting_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM journal_entries e WHERE e.organization_id = NEW.organization_id AND e.id = NEW.entry_id) THEN RAISE EXCEPTION 'a journal entry that is written takes no more postings' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
POSTGRES CREATE OR REPLACE FUNCTION bursar_journal_stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the journal cannot be changed or deleted' USING ERRCODE = 'check_violation'; END $$;
POSTGRES CREATE TRIGGER journal_entries_balanced BEFORE INSERT ON journal_entries FOR EACH ROW EXECUTE FUNCTION bursar_entry_balanced();
POSTGRES CREATE TRIGGER journal_postings_first BEFORE INSERT ON journal_postings FOR EACH ROW EXECUTE FUNCTION bursar_posting_first();
POSTGRES CREATE TRIGGER journal_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON journal_entries FOR EACH STATEMENT EXECUTE FUNCTION bursar_journal_stays();
POSTGRES CREATE TRIGGER journal_postings_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON journal_postings FOR EACH STATEMENT EXECUTE FUNCTION bursar_journal_stays();

ALTER TABLE organizations ADD CONSTRAINT organizations_settings CHECK (auto_credit IN (0, 1) AND auto_reference IN (0, 1)
    AND last_reference >= 0);
ALTER TABLE members ADD CONSTRAINT members_payer_form CHECK (length(payer_id) = 16 AND payer_id <> id);
ALTER TABLE groups ADD CONSTRAINT groups_late CHECK (late_fee > 0 AND late_percent BETWEEN 1 AND 100
    AND late_after_days >= 0 AND late_cap > 0 AND pro_rata IN ('none', 'monthly'));
ALTER TABLE payments ADD CONSTRAINT payments_books_form CHECK (length(income_account_id) = 16 AND length(fee_of) = 16);
ALTER TABLE accounts ADD CONSTRAINT accounts_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND (account_type = 'asset' OR account_type = 'liability' OR account_type = 'income' OR account_type = 'contra-income'
        OR account_type = 'expense' OR account_type = 'equity') AND is_closed IN (0, 1));
ALTER TABLE journal_postings ADD CONSTRAINT journal_postings_form CHECK (length(organization_id) = 16
    AND length(entry_id) = 16 AND length(account_id) = 16 AND amount <> 0 AND length(member_id) = 16
    AND length(chapter_id) = 16 AND length(payment_id) = 16 AND length(order_id) = 16
    AND length(reimbursement_id) = 16 AND length(campaign_id) = 16);
ALTER TABLE journal_entries ADD CONSTRAINT journal_entries_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(reverses_id) = 16 AND length(receipt_id) = 16 AND length(date) = 10);
ALTER TABLE journal_notes ADD CONSTRAINT journal_notes_form CHECK (length(organization_id) = 16 AND length(entry_id) = 16);
ALTER TABLE receipts ADD CONSTRAINT receipts_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(account_id) = 16 AND length(payer_id) = 16 AND length(entry_id) = 16 AND amount > 0);
";

/// The payment ledger, after its entries are in the journal.
const LEDGER_ENDS: &str = r"
DROP TABLE ledger_entries;
";

/// When the worker looks for late charges of a group, since when its rule holds, and since when its dues do.
const LATE_FEES: &str = r"
ALTER TABLE groups ADD COLUMN dues_since TEXT;
ALTER TABLE groups ADD COLUMN late_since BIGINT;
ALTER TABLE groups ADD COLUMN late_next TEXT;
CREATE INDEX groups_late ON groups (late_next, organization_id, id) WHERE late_next IS NOT NULL;
";

/// Files that belong to reimbursements and entries. Their bytes are in parts, so that no row is large.
const ATTACHMENTS: &str = r"
CREATE TABLE attachments (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, reimbursement_id BYTEA, entry_id BYTEA, name TEXT NOT NULL,
    content_type TEXT NOT NULL, size BIGINT NOT NULL, sha256 BYTEA NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX attachments_id ON attachments (id);
CREATE INDEX attachments_reimbursement ON attachments (organization_id, reimbursement_id, id)
    WHERE reimbursement_id IS NOT NULL;
CREATE INDEX attachments_entry ON attachments (organization_id, entry_id, id) WHERE entry_id IS NOT NULL;

CREATE TABLE attachment_parts (
    organization_id BYTEA NOT NULL, attachment_id BYTEA NOT NULL, number BIGINT NOT NULL, data BYTEA NOT NULL,
    PRIMARY KEY (organization_id, attachment_id, number)
) PLAIN;

ALTER TABLE attachments ADD CONSTRAINT attachments_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(reimbursement_id) = 16 AND length(entry_id) = 16 AND length(sha256) = 32
    AND (reimbursement_id IS NULL) <> (entry_id IS NULL) AND size > 0);
ALTER TABLE attachment_parts ADD CONSTRAINT attachment_parts_form CHECK (length(organization_id) = 16
    AND length(attachment_id) = 16 AND number >= 0 AND length(data) > 0);
";

/// Bank statements: files, their lines, and the entries that account for a line. An entry accounts for at most one line
/// of an account. A member's learned bank accounts, and the columns of an account's CSV files.
const STATEMENTS: &str = r"
ALTER TABLE members ADD COLUMN bank_accounts TEXT NOT NULL DEFAULT '[]';
ALTER TABLE accounts ADD COLUMN statement_columns TEXT NOT NULL DEFAULT '[]';

CREATE TABLE statements (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, account_id BYTEA NOT NULL, format TEXT NOT NULL, file_hash TEXT NOT NULL,
    own_account TEXT, first_date TEXT, last_date TEXT, opening_date TEXT, opening_balance BIGINT, closing_date TEXT,
    closing_balance BIGINT, recorder_kind TEXT NOT NULL, recorder_id TEXT, imported_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE INDEX statements_account ON statements (organization_id, account_id, id);

CREATE TABLE statement_lines (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, statement_id BYTEA NOT NULL, account_id BYTEA NOT NULL, date TEXT NOT NULL,
    amount BIGINT NOT NULL, reference TEXT, end_to_end TEXT, counterparty_name TEXT, counterparty_account TEXT,
    text TEXT NOT NULL, identity BYTEA NOT NULL, number BIGINT NOT NULL, status TEXT NOT NULL, chosen TEXT,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX statement_lines_identity ON statement_lines (organization_id, account_id, date, amount, identity, number);
CREATE INDEX statement_lines_open ON statement_lines (organization_id, account_id, date, id) WHERE status = 'open';
CREATE INDEX statement_lines_statement ON statement_lines (organization_id, statement_id, id);
CREATE INDEX statement_lines_payer ON statement_lines (organization_id, counterparty_account, id)
    WHERE counterparty_account IS NOT NULL;

CREATE TABLE statement_links (
    organization_id BYTEA NOT NULL, line_id BYTEA NOT NULL, entry_id BYTEA NOT NULL, account_id BYTEA NOT NULL,
    is_made BIGINT NOT NULL,
    PRIMARY KEY (organization_id, line_id, entry_id)
) CLUSTERED;
CREATE UNIQUE INDEX statement_links_entry ON statement_links (organization_id, entry_id, account_id);

ALTER TABLE statements ADD CONSTRAINT statements_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(account_id) = 16);
ALTER TABLE statement_lines ADD CONSTRAINT statement_lines_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(statement_id) = 16 AND length(account_id) = 16 AND length(identity) = 32 AND length(date) = 10
    AND amount <> 0 AND number > 0
    AND (status = 'open' OR status = 'matched' OR status = 'booked' OR status = 'ignored'));
ALTER TABLE statement_links ADD CONSTRAINT statement_links_form CHECK (length(organization_id) = 16
    AND length(line_id) = 16 AND length(entry_id) = 16 AND length(account_id) = 16 AND is_made IN (0, 1));
";

/// Sessions of signed-in people, and the links that begin them; only hashes are kept. And members in the order of a roster.
const SESSIONS: &str = r"
CREATE TABLE sessions (
    hash BYTEA NOT NULL, user_id BYTEA NOT NULL, started_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
    signed_in_at BIGINT NOT NULL, agent TEXT NOT NULL,
    PRIMARY KEY (hash)
) CLUSTERED;
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX members_name ON members (organization_id, last_name, first_name, id);
CREATE TABLE sign_in_links (
    hash BYTEA NOT NULL, user_id BYTEA NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (hash)
) CLUSTERED;
ALTER TABLE sessions ADD CONSTRAINT sessions_form CHECK (length(hash) = 32 AND length(user_id) = 16);
ALTER TABLE sign_in_links ADD CONSTRAINT sign_in_links_form CHECK (length(hash) = 32 AND length(user_id) = 16);
";

/// Codes that were mailed. They are kept for a day, to count them.
const SIGN_IN_CODES: &str = r"
CREATE TABLE sign_in_codes (
    browser BYTEA NOT NULL, email TEXT NOT NULL, user_id BYTEA, hash BYTEA NOT NULL, tries BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (browser)
) CLUSTERED;
CREATE INDEX sign_in_codes_email ON sign_in_codes (email, created_at);
ALTER TABLE sign_in_codes ADD CONSTRAINT sign_in_codes_form CHECK (length(browser) = 32 AND length(hash) = 32
    AND length(user_id) = 16 AND tries >= 0);
";

/// Files between two forms of the console, each for one person and a short time. Their bytes are in parts, so that no row
/// is large.
const UPLOADS: &str = r"
CREATE TABLE uploads (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, user_id BYTEA NOT NULL, name TEXT NOT NULL, size BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE INDEX uploads_created ON uploads (created_at, organization_id, id);
CREATE TABLE upload_parts (
    organization_id BYTEA NOT NULL, upload_id BYTEA NOT NULL, number BIGINT NOT NULL, data BYTEA NOT NULL,
    PRIMARY KEY (organization_id, upload_id, number)
) PLAIN;
ALTER TABLE uploads ADD CONSTRAINT uploads_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(user_id) = 16 AND size > 0);
ALTER TABLE upload_parts ADD CONSTRAINT upload_parts_form CHECK (length(organization_id) = 16
    AND length(upload_id) = 16 AND number >= 0 AND length(data) > 0);
";

/// Passkeys of people, and the ceremonies under way with a browser: any replica can finish one.
const PASSKEYS: &str = r"
CREATE TABLE passkeys (
    hash BYTEA NOT NULL, user_id BYTEA NOT NULL, name TEXT NOT NULL, credential TEXT NOT NULL, created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (hash)
) CLUSTERED;
CREATE INDEX passkeys_user ON passkeys (user_id);
CREATE TABLE ceremonies (
    browser BYTEA NOT NULL, state TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (browser)
) CLUSTERED;
ALTER TABLE passkeys ADD CONSTRAINT passkeys_form CHECK (length(hash) = 32 AND length(user_id) = 16);
ALTER TABLE ceremonies ADD CONSTRAINT ceremonies_form CHECK (length(browser) = 32);
";

/// Reminders of a status in the order of their times.
const REMINDERS_BY_TIME: &str = r"
CREATE INDEX reminders_time ON reminders (organization_id, status, COALESCE(scheduled_at, 0), id);
";

/// Logins of people at an OpenID Connect provider. A code can carry one, which it links when it is entered.
const LOGINS: &str = r"
CREATE TABLE logins (
    issuer TEXT NOT NULL, subject TEXT NOT NULL, email TEXT NOT NULL, user_id BYTEA NOT NULL, created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (issuer, subject)
) CLUSTERED;
CREATE INDEX logins_user ON logins (user_id);
ALTER TABLE sign_in_codes ADD COLUMN login TEXT;
ALTER TABLE logins ADD CONSTRAINT logins_form CHECK (length(user_id) = 16 AND length(issuer) > 0 AND length(subject) > 0);
";

/// What stands beside the rows, so that a page need not read all of them. A day or a group that a charge lacks is empty.
/// Words are bytes, so that their order is the same whatever the language of the database. Messages that failed are
/// counted.
const ASIDE: &str = r"
CREATE TABLE charge_totals (
    organization_id BYTEA NOT NULL, due_date TEXT NOT NULL, group_id BYTEA NOT NULL, expected BIGINT NOT NULL,
    collected BIGINT NOT NULL, open BIGINT NOT NULL,
    PRIMARY KEY (organization_id, due_date, group_id)
) CLUSTERED;
CREATE INDEX charge_totals_open ON charge_totals (organization_id, due_date, group_id, open) WHERE open <> 0;
CREATE TABLE account_totals (
    organization_id BYTEA NOT NULL, account_id BYTEA NOT NULL, amount BIGINT NOT NULL,
    PRIMARY KEY (organization_id, account_id)
) CLUSTERED;
CREATE TABLE member_words (
    organization_id BYTEA NOT NULL, word BYTEA NOT NULL, member_id BYTEA NOT NULL,
    PRIMARY KEY (organization_id, word, member_id)
) CLUSTERED;
CREATE INDEX outbox_messages_failed ON outbox_messages (organization_id, ended_at) WHERE state = 'failed';
ALTER TABLE charge_totals ADD CONSTRAINT charge_totals_form CHECK (length(organization_id) = 16
    AND length(group_id) IN (0, 16) AND length(due_date) IN (0, 10)
    AND expected BETWEEN -9000000000000000000 AND 9000000000000000000
    AND collected BETWEEN -9000000000000000000 AND 9000000000000000000
    AND open BETWEEN -9000000000000000000 AND 9000000000000000000);
ALTER TABLE account_totals ADD CONSTRAINT account_totals_form CHECK (length(organization_id) = 16
    AND length(account_id) = 16 AND amount BETWEEN -9000000000000000000 AND 9000000000000000000);
ALTER TABLE member_words ADD CONSTRAINT member_words_form CHECK (length(organization_id) = 16
    AND length(member_id) = 16 AND length(word) > 0);
";
