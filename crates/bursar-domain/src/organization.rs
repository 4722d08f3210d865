//! Organizations, the people who act for them, and what those may do.

use crate::access::{Policy, Role, Scope, ScopeSet, unknown_scope};
use crate::fields::Fields;
use crate::ids::{OrganizationId, UserId};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::NAME;
use crate::words;

words! {
    /// What an organization is.
    OrganizationKind {
        /// The head of a tree of chapters.
        National "national",
        /// A chapter below a national or another chapter.
        Chapter "chapter",
        /// One by itself.
        Independent "independent",
    }
}

words! {
    /// Whether cards can be issued for it.
    CardIssuing {
        /// Yes.
        Approved "approved",
        /// Not yet: a new card is an application.
        Pending "pending",
    }
}

/// An organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    /// Names it.
    pub id: OrganizationId,
    /// What people call it.
    pub name: String,
    /// What it is.
    pub kind: OrganizationKind,
    /// What it is below; a chapter's only.
    pub parent_id: Option<OrganizationId>,
    /// The one currency of its money.
    pub currency: Currency,
    /// Where to write to it.
    pub contact_email: Option<String>,
    /// Where to send it an SMS.
    pub contact_phone: Option<String>,
    /// Whether cards can be issued for it.
    pub card_issuing: CardIssuing,
}

impl Organization {
    /// An organization with every field null or at its default.
    pub fn blank(id: OrganizationId) -> Self {
        Self {
            id,
            name: String::new(),
            kind: OrganizationKind::Independent,
            parent_id: None,
            currency: Currency::USD,
            contact_email: None,
            contact_phone: None,
            card_issuing: CardIssuing::Pending,
        }
    }

    /// Takes what a bundle's line says of its fields; the id is not among them.
    pub fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.text("name", NAME)?.fill(&mut self.name)?;
        fields.word("kind")?.fill(&mut self.kind)?;
        fields.id("parentId")?.or_null().set(&mut self.parent_id)?;
        fields.currency("currency")?.set(&mut self.currency)?;
        fields
            .email("contactEmail")?
            .or_null()
            .set(&mut self.contact_email)?;
        fields
            .phone("contactPhone")?
            .or_null()
            .set(&mut self.contact_phone)?;
        fields.word("cardIssuing")?.set(&mut self.card_issuing)?;
        self.check_parent()
    }

    /// A parent is a chapter's only, and a chapter has one unless its bundle left it outside.
    pub fn check_parent(&self) -> Result<(), Refusal> {
        match (self.kind, self.parent_id) {
            (OrganizationKind::National | OrganizationKind::Independent, Some(_)) => Err(Refusal::invalid(
                "parentId",
                format!("must be null for a {} organization", self.kind),
            )),
            (_, Some(parent)) if parent == self.id => Err(Refusal::invalid(
                "parentId",
                "must not be the organization itself",
            )),
            _ => Ok(()),
        }
    }
}

/// A person who acts for organizations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Names it.
    pub id: UserId,
    /// Where to write to; one user an address.
    pub email: String,
    /// What people call the person.
    pub name: Option<String>,
}

impl User {
    /// Takes what a bundle's line says of its fields; the id is not among them.
    pub fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.email("email")?.fill(&mut self.email)?;
        fields.text("name", NAME)?.or_null().set(&mut self.name)?;
        Ok(())
    }
}

/// Addresses are one user's whatever the case of their letters.
pub fn address_key(email: &str) -> String {
    email.to_ascii_lowercase()
}

/// Reads a role from a bundle's line.
pub fn read_role(fields: &mut Fields<'_>) -> Result<Role, Refusal> {
    fields.word("role")?.required()
}

/// The longest that a token can live, in days.
pub const TOKEN_DAYS_MAX: u16 = 365;

/// Takes what a bundle's line says of a policy.
pub fn apply_policy(policy: &mut Policy, fields: &mut Fields<'_>) -> Result<(), Refusal> {
    let scopes = fields.strings("blockedScopes", |text| {
        Scope::parse(text).ok_or_else(|| format!("is unknown: {}", unknown_scope(text)))
    })?;
    scopes
        .map(|list| ScopeSet::of(&list))
        .set(&mut policy.blocked_scopes)?;
    let days = fields.integer("maxTokenDays", 1..=i64::from(TOKEN_DAYS_MAX))?;
    days.map(|days| u16::try_from(days).unwrap_or(TOKEN_DAYS_MAX))
        .or_null()
        .set(&mut policy.max_token_days)?;
    Ok(())
}
