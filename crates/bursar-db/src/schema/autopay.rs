//! Autopay.

/// Saved cards, by the provider's names for them, and the charges that are announced or tried. `amount` is what was
/// announced: no more is charged. The last indexes are for the console's lists of card payments.
pub(super) const AUTOPAY: &str = r"
ALTER TABLE organizations ADD COLUMN autopay_retries TEXT NOT NULL DEFAULT '3,5,7';
ALTER TABLE online_payments ADD COLUMN autopay_id BYTEA;
CREATE TABLE autopays (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, kind TEXT NOT NULL, member_id BYTEA NOT NULL, state TEXT NOT NULL,
    created_at BIGINT NOT NULL, started_at BIGINT, expires_at BIGINT NOT NULL, success_url TEXT NOT NULL,
    cancel_url TEXT NOT NULL, url TEXT, session_id TEXT, customer_id TEXT, method_id TEXT, card TEXT, card_until TEXT,
    problem TEXT, due_at BIGINT NOT NULL, attempts BIGINT NOT NULL, heard BIGINT NOT NULL, leased_until BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX autopays_session ON autopays (organization_id, session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX autopays_active ON autopays (organization_id, member_id) WHERE state = 'active';
CREATE INDEX autopays_member ON autopays (organization_id, member_id, id);
CREATE INDEX autopays_due ON autopays (due_at);
CREATE TABLE autopay_charges (
    organization_id BYTEA NOT NULL, payment_id BYTEA NOT NULL, member_id BYTEA NOT NULL, step TEXT NOT NULL,
    amount BIGINT NOT NULL, first_on TEXT NOT NULL, try_on TEXT NOT NULL, tries BIGINT NOT NULL, online_id BYTEA,
    PRIMARY KEY (organization_id, payment_id)
) CLUSTERED;
CREATE INDEX autopay_charges_member ON autopay_charges (organization_id, member_id, payment_id);
CREATE INDEX autopay_charges_online ON autopay_charges (organization_id, online_id) WHERE online_id IS NOT NULL;
CREATE INDEX online_payments_state ON online_payments (organization_id, state, id);
CREATE INDEX online_payments_problem ON online_payments (organization_id, problem) WHERE problem IS NOT NULL;
CREATE INDEX online_moves_kind ON online_moves (organization_id, kind, state);
ALTER TABLE autopays ADD CONSTRAINT autopays_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(member_id) = 16 AND attempts >= 0 AND heard >= 0);
ALTER TABLE autopay_charges ADD CONSTRAINT autopay_charges_form CHECK (length(organization_id) = 16
    AND length(payment_id) = 16 AND length(member_id) = 16 AND length(online_id) = 16 AND amount > 0 AND tries >= 0);
";
