//! The journal, receipts, fees, attachments and bank statements.

/// The journal instead of the payment ledger, with accounts and receipts; members without an address and with a payer;
/// references; rules of groups and organizations. `begin_books` makes the entries for what is there.
///
/// The engine holds the journal's two rules. An entry is written after its postings, and only if they sum to zero and
/// have its date; no posting is added to an entry that is written. Nothing of the two is changed or deleted. SQLite
/// fires no trigger for a row that INSERT OR REPLACE deletes, so it refuses to write an entry twice.
pub(super) const BOOKS: &str = r"
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
pub(super) const LEDGER_ENDS: &str = r"
DROP TABLE ledger_entries;
";

/// When the worker looks for late charges of a group, since when its rule holds, and since when its dues do.
pub(super) const LATE_FEES: &str = r"
ALTER TABLE groups ADD COLUMN dues_since TEXT;
ALTER TABLE groups ADD COLUMN late_since BIGINT;
ALTER TABLE groups ADD COLUMN late_next TEXT;
CREATE INDEX groups_late ON groups (late_next, organization_id, id) WHERE late_next IS NOT NULL;
";

/// Files that belong to reimbursements and entries. Their bytes are in parts, so that no row is large.
pub(super) const ATTACHMENTS: &str = r"
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
pub(super) const STATEMENTS: &str = r"
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

/// Finds an entry by its key, whatever its place among the others: the least that is not before it. PostgreSQL goes on to
/// the organization's last entry if it is asked for all between two pairs, and derived ids are not in order.
pub(super) const ENTRY_BY_KEY: &str = r"
POSTGRES CREATE OR REPLACE FUNCTION bursar_posting_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF (SELECT e.id FROM journal_entries e WHERE e.organization_id = NEW.organization_id AND e.id >= NEW.entry_id ORDER BY e.id LIMIT 1) = NEW.entry_id THEN RAISE EXCEPTION 'a journal entry that is written takes no more postings' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;
";
