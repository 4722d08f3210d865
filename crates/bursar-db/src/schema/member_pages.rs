//! What members' own pages need.

/// Where this service is reached and what signs members' links; which links were revoked; the codes that were mailed to
/// members, kept for a day to count them; and the sessions that they began. And the bank account that members pay to.
pub(super) const MEMBER_PAGES: &str = r"
CREATE TABLE site (
    id BIGINT NOT NULL, base_url TEXT NOT NULL, link_key BYTEA NOT NULL,
    PRIMARY KEY (id)
) CLUSTERED;
CREATE TABLE link_revocations (
    organization_id BYTEA NOT NULL, member_id BYTEA NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, member_id)
) CLUSTERED;
CREATE TABLE member_codes (
    browser BYTEA NOT NULL, organization_id BYTEA NOT NULL, email TEXT NOT NULL, is_known BIGINT NOT NULL,
    member_id BYTEA, hash BYTEA NOT NULL, tries BIGINT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, browser)
) CLUSTERED;
CREATE UNIQUE INDEX member_codes_browser ON member_codes (browser);
CREATE INDEX member_codes_email ON member_codes (organization_id, email, created_at);
CREATE TABLE member_sessions (
    hash BYTEA NOT NULL, organization_id BYTEA NOT NULL, email TEXT NOT NULL, member_id BYTEA,
    started_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, hash)
) CLUSTERED;
CREATE UNIQUE INDEX member_sessions_hash ON member_sessions (hash);
ALTER TABLE organizations ADD COLUMN iban TEXT;
ALTER TABLE site ADD CONSTRAINT site_form CHECK (id = 1 AND length(link_key) = 32);
ALTER TABLE link_revocations ADD CONSTRAINT link_revocations_form CHECK (length(organization_id) = 16
    AND length(member_id) = 16);
ALTER TABLE member_codes ADD CONSTRAINT member_codes_form CHECK (length(browser) = 32 AND length(hash) = 32
    AND length(organization_id) = 16 AND length(member_id) = 16 AND is_known IN (0, 1) AND tries >= 0);
ALTER TABLE member_sessions ADD CONSTRAINT member_sessions_form CHECK (length(hash) = 32
    AND length(organization_id) = 16 AND length(member_id) = 16);
";
