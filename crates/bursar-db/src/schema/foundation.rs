//! What the API stands on: organizations, people, resources with their history, tokens, the outbox.

pub(super) const FOUNDATION: &str = r"
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
pub(super) const TIME_SEEN: &str = r"
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
pub(super) const EPOCHS: &str = r"
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
pub(super) const UNDATED_PAYMENTS: &str = r"
CREATE INDEX payments_undated ON payments (organization_id, created_at, group_id, status, amount, paid_to_date, due_date)
    WHERE due_date IS NULL;
";

/// Due days on which dues were raised before the day was over: whoever joins later that day is charged at its end.
pub(super) const DUES_OPEN: &str = r"
CREATE TABLE dues_open (
    organization_id BYTEA NOT NULL, group_id BYTEA NOT NULL, due_date TEXT NOT NULL, amount BIGINT NOT NULL,
    PRIMARY KEY (organization_id, group_id, due_date)
) CLUSTERED;
CREATE INDEX dues_open_due ON dues_open (due_date);
";

/// Mail and SMS are claimed separately: finding one does not read what waits for the other.
pub(super) const SENDERS_APART: &str = r"
DROP INDEX outbox_messages_due;
CREATE INDEX outbox_messages_due ON outbox_messages (method, due_at) WHERE state IN ('queued', 'sending');
";

/// Versions are pruned by their epoch.
pub(super) const PRUNED_BY_EPOCH: &str = "DROP INDEX history_superseded;";

/// The lists of campaigns, orders and chapters: what they are filtered by, and a row for every chapter in the list of
/// its parent.
///
/// Versions in `history` from before this step have no status and no listing. No walk needs them: there were no such
/// lists.
pub(super) const MORE_LISTS: &str = r"
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
