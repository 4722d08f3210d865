//! What erasing a person needs.

/// How many years an organization keeps its books, and when a member was erased.
pub(super) const ERASURE: &str = r"
ALTER TABLE organizations ADD COLUMN retention_years BIGINT NOT NULL DEFAULT 10;
ALTER TABLE members ADD COLUMN erased_at BIGINT;
ALTER TABLE organizations ADD CONSTRAINT organizations_retention CHECK (retention_years BETWEEN 1 AND 100);
";
