//! Events and webhook endpoints.

/// Events keep what they tell. Indexes have the type last before the place, so that a page of any types, of all rows or
/// of one, is read in order. What an organization did before it had events is behind its horizon.
pub(super) const EVENTS: &str = r"
CREATE TABLE events (
    organization_id BYTEA NOT NULL, created_at BIGINT NOT NULL, id BYTEA NOT NULL, type TEXT NOT NULL,
    resource_id BYTEA NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (organization_id, created_at, id)
) CLUSTERED;
CREATE INDEX events_type ON events (organization_id, type, created_at, id);
CREATE INDEX events_resource ON events (organization_id, resource_id, type, created_at, id);
CREATE TABLE event_horizons (
    organization_id BYTEA NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id)
) CLUSTERED;
INSERT INTO event_horizons (organization_id, created_at) SELECT id, clock FROM organizations;
ALTER TABLE events ADD CONSTRAINT events_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(resource_id) = 16);
ALTER TABLE event_horizons ADD CONSTRAINT event_horizons_form CHECK (length(organization_id) = 16);
";

/// Webhook endpoints with their places in the list of events, what signs their deliveries, what is to be sent out of turn, and
/// what came of each attempt. A lease of an endpoint is one delivery in flight.
pub(super) const WEBHOOKS: &str = r"
CREATE TABLE webhooks (
    organization_id BYTEA NOT NULL, id BYTEA NOT NULL, url TEXT NOT NULL, description TEXT, types TEXT,
    scopes BIGINT NOT NULL, is_enabled BIGINT NOT NULL, disabled_at BIGINT, disabled_reason TEXT,
    created_at BIGINT NOT NULL, created_by TEXT NOT NULL, cursor_at BIGINT NOT NULL, cursor_id BYTEA NOT NULL,
    attempts BIGINT NOT NULL, refusals BIGINT NOT NULL, failing_since BIGINT, delivered_at BIGINT,
    due_at BIGINT NOT NULL, leased_until BIGINT NOT NULL, claim BIGINT NOT NULL,
    PRIMARY KEY (organization_id, id)
) CLUSTERED;
CREATE UNIQUE INDEX webhooks_id ON webhooks (id);
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE is_enabled = 1;
CREATE INDEX webhooks_leased ON webhooks (leased_until) WHERE leased_until > 0;
CREATE TABLE webhook_secrets (
    organization_id BYTEA NOT NULL, webhook_id BYTEA NOT NULL, number BIGINT NOT NULL, sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL, ends_at BIGINT,
    PRIMARY KEY (organization_id, webhook_id, number)
) CLUSTERED;
CREATE TABLE webhook_extras (
    organization_id BYTEA NOT NULL, webhook_id BYTEA NOT NULL, event_id BYTEA NOT NULL, document TEXT,
    created_at BIGINT NOT NULL, attempts BIGINT NOT NULL, due_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, webhook_id, event_id)
) CLUSTERED;
CREATE TABLE webhook_deliveries (
    organization_id BYTEA NOT NULL, webhook_id BYTEA NOT NULL, at BIGINT NOT NULL, event_id BYTEA NOT NULL,
    attempt BIGINT NOT NULL, type TEXT NOT NULL, duration_ms BIGINT NOT NULL, status BIGINT, error TEXT,
    outcome TEXT NOT NULL,
    PRIMARY KEY (organization_id, webhook_id, at, event_id, attempt)
) CLUSTERED;
CREATE INDEX webhook_deliveries_at ON webhook_deliveries (at);
ALTER TABLE webhooks ADD CONSTRAINT webhooks_form CHECK (length(organization_id) = 16 AND length(id) = 16
    AND length(cursor_id) = 16 AND is_enabled IN (0, 1) AND attempts >= 0 AND refusals >= 0);
ALTER TABLE webhook_secrets ADD CONSTRAINT webhook_secrets_form CHECK (length(organization_id) = 16
    AND length(webhook_id) = 16);
ALTER TABLE webhook_extras ADD CONSTRAINT webhook_extras_form CHECK (length(organization_id) = 16
    AND length(webhook_id) = 16 AND length(event_id) = 16 AND attempts >= 0);
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_form CHECK (length(organization_id) = 16
    AND length(webhook_id) = 16 AND length(event_id) = 16 AND duration_ms >= 0);
";
