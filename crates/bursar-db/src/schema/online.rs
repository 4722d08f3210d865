//! Online payments.

/// The providers of organizations, with their keys encrypted; what members pay through them; and what providers did with
/// the money since. A provider's name for a thing is there once, so that nothing is booked twice. `due_at` says when the
/// provider is to be asked again; `heard` counts reports that something happened, so that one that comes while an answer
/// is on its way is not lost.
pub(super) const ONLINE: &str = r"
CREATE TABLE providers (
    organization_id BYTEA NOT NULL, kind TEXT NOT NULL, key_sealed BYTEA NOT NULL, key_hint TEXT NOT NULL,
    secret_sealed BYTEA, payout_account_id BYTEA NOT NULL, created_at BIGINT NOT NULL, created_by TEXT NOT NULL,
    problem TEXT, swept_at BIGINT NOT NULL, due_at BIGINT NOT NULL, attempts BIGINT NOT NULL, heard BIGINT NOT NULL,
    leased_until BIGINT NOT NULL,
    PRIMARY KEY (organization_id)
) CLUSTERED;
CREATE INDEX providers_due ON providers (due_at);
CREATE TABLE online_payments (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, member_id BYTEA NOT NULL,
    amount BIGINT NOT NULL, currency TEXT NOT NULL, state TEXT NOT NULL, created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, ended_at BIGINT, success_url TEXT NOT NULL, cancel_url TEXT NOT NULL, url TEXT,
    session_id TEXT, intent_id TEXT, charge_id TEXT, failure TEXT, problem TEXT, receipt_id BYTEA, fee BIGINT,
    due_at BIGINT, attempts BIGINT NOT NULL, heard BIGINT NOT NULL, leased_until BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX online_payments_id ON online_payments (id);
CREATE UNIQUE INDEX online_payments_session ON online_payments (organization_id, session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX online_payments_intent ON online_payments (organization_id, intent_id) WHERE intent_id IS NOT NULL;
CREATE UNIQUE INDEX online_payments_charge ON online_payments (organization_id, charge_id) WHERE charge_id IS NOT NULL;
CREATE UNIQUE INDEX online_payments_receipt ON online_payments (organization_id, receipt_id) WHERE receipt_id IS NOT NULL;
CREATE INDEX online_payments_member ON online_payments (organization_id, member_id, id);
CREATE INDEX online_payments_due ON online_payments (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE online_items (
    organization_id BYTEA NOT NULL, online_id BYTEA NOT NULL, number BIGINT NOT NULL, payment_id BYTEA NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (organization_id, online_id, number)
) CLUSTERED;
CREATE INDEX online_items_payment ON online_items (organization_id, payment_id, online_id);
CREATE TABLE online_moves (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, reference TEXT, online_id BYTEA,
    amount BIGINT NOT NULL, fee BIGINT NOT NULL, state TEXT NOT NULL, reason TEXT, created_at BIGINT NOT NULL,
    entry_id BYTEA,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX online_moves_reference ON online_moves (organization_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX online_moves_online ON online_moves (organization_id, online_id, id) WHERE online_id IS NOT NULL;
ALTER TABLE providers ADD CONSTRAINT providers_form CHECK (length(organization_id) = 16
    AND length(payout_account_id) = 16 AND attempts >= 0 AND heard >= 0);
ALTER TABLE online_payments ADD CONSTRAINT online_payments_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(member_id) = 16 AND length(receipt_id) = 16 AND amount > 0 AND attempts >= 0 AND heard >= 0);
ALTER TABLE online_items ADD CONSTRAINT online_items_form CHECK (length(organization_id) = 16 AND length(online_id) = 16
    AND length(payment_id) = 16 AND amount > 0);
ALTER TABLE online_moves ADD CONSTRAINT online_moves_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(online_id) = 16 AND length(entry_id) = 16);
";
