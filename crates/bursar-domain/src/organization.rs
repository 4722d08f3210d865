//! Organizations, the people who act for them, and their permissions.

use crate::access::{Policy, Role, Scope, ScopeSet, unknown_scope};
use crate::autopay::RetryDays;
use crate::fields::Fields;
use crate::iban;
use crate::ids::{OrganizationId, UserId};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::{NAME, NOTE};
use crate::time::Date;
use crate::words;
use crate::zone::Zone;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
    pub kind: OrganizationKind,
    /// Only a chapter has one.
    pub parent_id: Option<OrganizationId>,
    pub currency: Currency,
    pub contact_email: Option<String>,
    pub contact_phone: Option<String>,
    pub card_issuing: CardIssuing,
    /// Days begin and end by it.
    pub time_zone: Zone,
    /// Nothing is posted on this day and before.
    pub closed_until: Option<Date>,
    /// Whether a member's credit is applied when a charge is raised.
    pub auto_credit: bool,
    /// Whether a bank line with exactly one reference is booked without a person.
    pub auto_reference: bool,
    /// How members pay, for reminders and statements.
    pub pay_text: Option<String>,
    /// The bank account that members pay to.
    pub iban: Option<String>,
    /// How many years after its end a year's books are kept.
    pub retention_years: i64,
    /// When a failed charge to a saved card is tried again.
    pub autopay_retries: RetryDays,
}

/// What most tax laws ask for.
pub const RETENTION_YEARS: i64 = 10;
pub const RETENTION_YEARS_MAX: i64 = 100;

impl Organization {
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
            time_zone: Zone::default(),
            closed_until: None,
            auto_credit: true,
            auto_reference: false,
            pay_text: None,
            iban: None,
            retention_years: RETENTION_YEARS,
            autopay_retries: RetryDays::default(),
        }
    }

    /// Reads the fields of a bundle line, without the id.
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
        fields.string("timeZone", Zone::parse)?.set(&mut self.time_zone)?;
        fields
            .date("closedUntil")?
            .or_null()
            .set(&mut self.closed_until)?;
        fields.boolean("autoCredit")?.set(&mut self.auto_credit)?;
        fields.boolean("autoReference")?.set(&mut self.auto_reference)?;
        fields.text("payText", NOTE)?.or_null().set(&mut self.pay_text)?;
        fields
            .string("iban", iban::parse)?
            .or_null()
            .set(&mut self.iban)?;
        fields
            .integer("retentionYears", 1..=RETENTION_YEARS_MAX)?
            .set(&mut self.retention_years)?;
        fields
            .string("autopayRetries", RetryDays::parse)?
            .set(&mut self.autopay_retries)?;
        self.check_parent()
    }

    /// Only a chapter has a parent. It can be missing if the bundle did not include it.
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
    pub id: UserId,
    /// One user per address.
    pub email: String,
    pub name: Option<String>,
}

impl User {
    /// Reads the fields of a bundle line, without the id.
    pub fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.email("email")?.fill(&mut self.email)?;
        fields.text("name", NAME)?.or_null().set(&mut self.name)?;
        Ok(())
    }
}

/// Addresses that differ only in case belong to one user.
pub fn address_key(email: &str) -> String {
    email.to_ascii_lowercase()
}

pub fn read_role(fields: &mut Fields<'_>) -> Result<Role, Refusal> {
    fields.word("role")?.required()
}

pub const TOKEN_DAYS_MAX: u16 = 365;

/// Reads the fields of a bundle line.
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
