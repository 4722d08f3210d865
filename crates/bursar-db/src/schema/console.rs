//! What the console needs: sign-in, uploads, and what is kept beside rows.

/// Sessions of signed-in people, and the links that begin them; only hashes are kept. And members in the order of a roster.
pub(super) const SESSIONS: &str = r"
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
pub(super) const SIGN_IN_CODES: &str = r"
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
pub(super) const UPLOADS: &str = r"
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
pub(super) const PASSKEYS: &str = r"
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
pub(super) const REMINDERS_BY_TIME: &str = r"
CREATE INDEX reminders_time ON reminders (organization_id, status, COALESCE(scheduled_at, 0), id);
";

/// Logins of people at an OpenID Connect provider. A code can carry one, which it links when it is entered.
pub(super) const LOGINS: &str = r"
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
pub(super) const ASIDE: &str = r"
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

/// Receipts by what the cheque or the bank said, whatever its case, and reimbursements of a member. PostgreSQL keeps the
/// plan that it makes for a trigger while the journal is empty, so only the primary key may have the order asked for.
pub(super) const LOOKUPS: &str = r"
CREATE INDEX receipts_reference ON receipts (organization_id, LOWER(reference), id) WHERE reference IS NOT NULL;
CREATE INDEX reimbursements_member ON reimbursements (organization_id, member_id, updated_at, id);
POSTGRES CREATE OR REPLACE FUNCTION bursar_entry_balanced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF COALESCE((SELECT SUM(p.amount) = 0 AND COUNT(*) > 1 AND MIN(p.date) = NEW.date AND MAX(p.date) = NEW.date FROM (SELECT amount, date FROM journal_postings WHERE organization_id = NEW.organization_id AND entry_id = NEW.id ORDER BY number) p), false) THEN RETURN NEW; END IF; RAISE EXCEPTION 'the postings of a journal entry must sum to zero and have its date' USING ERRCODE = 'check_violation'; END $$;
POSTGRES CREATE OR REPLACE FUNCTION bursar_posting_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1 FROM journal_entries e WHERE (e.organization_id, e.id) >= (NEW.organization_id, NEW.entry_id) AND (e.organization_id, e.id) <= (NEW.organization_id, NEW.entry_id) ORDER BY e.organization_id, e.id LIMIT 1; IF FOUND THEN RAISE EXCEPTION 'a journal entry that is written takes no more postings' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
";
