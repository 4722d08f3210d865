//! Who calls: what somebody presents, and what a look-up in the same transaction makes of it.

use std::sync::Arc;

use bursar_db::tokens::{self, TokenFacts};
use bursar_db::{DbError, Tx, organizations};
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, ScopeSet, effective, why_withheld};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::token::{TokenHash, TokenKind};

use crate::error::AppError;

/// What somebody presents. It says nothing of what they may do: that is looked up in every transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Whoever runs the command line on the machine.
    Operator,
    /// The service itself.
    Worker,
    /// A person.
    Person(UserId),
    /// A program, by the hash of its token.
    Token(TokenHash),
}

/// Who calls, as one transaction sees them.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Whoever runs the command line on the machine.
    Operator,
    /// The service itself.
    Worker,
    /// A person, with the role that they have now in the organization that it is about.
    Person(UserId, Option<Role>),
    /// A program with a token that is in force.
    Token(TokenCaller),
}

/// A token that is in force, with the role that it acts with now.
#[derive(Clone, Debug)]
pub struct TokenCaller {
    facts: Arc<TokenFacts>,
    role: Role,
}

impl Caller {
    /// Looks somebody up who wants to act on an organization.
    pub(crate) fn look_up(
        tx: &mut Tx<'_>,
        who: Identity,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        match who {
            Identity::Person(user) => Ok(Self::Person(user, organizations::role(tx, organization, user)?)),
            Identity::Operator | Identity::Worker | Identity::Token(_) => {
                Self::look_up_anywhere(tx, who, now)
            }
        }
    }

    /// Looks somebody up who acts on no organization. A person has no role there.
    pub(crate) fn look_up_anywhere(tx: &mut Tx<'_>, who: Identity, now: Timestamp) -> Result<Self, AppError> {
        Ok(match who {
            Identity::Operator => Self::Operator,
            Identity::Worker => Self::Worker,
            Identity::Person(user) => Self::Person(user, None),
            Identity::Token(hash) => {
                let facts = tokens::by_hash(tx, &hash)?.map(Arc::new);
                let token = facts.and_then(|facts| TokenCaller::in_force(facts, now));
                Self::Token(token.ok_or(AppError::Unrecognised)?)
            }
        })
    }

    /// What the activity log calls it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Worker => "worker",
            Self::Token(_) => "token",
            Self::Person(..) => "user",
        }
    }

    /// Its id, if it has one.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Operator | Self::Worker => None,
            Self::Token(token) => Some(token.id().to_string()),
            Self::Person(user, _) => Some(user.to_string()),
        }
    }

    /// The organization that it acts from when it acts on this one.
    pub(crate) fn home(&self, organization: OrganizationId) -> Option<OrganizationId> {
        match self {
            Self::Operator | Self::Worker => None,
            Self::Token(token) => Some(token.organization()),
            Self::Person(..) => Some(organization),
        }
    }
}

impl TokenCaller {
    /// The token if it is in force: not revoked, not ended, and its user still has a role.
    pub(crate) fn in_force(facts: Arc<TokenFacts>, now: Timestamp) -> Option<Self> {
        let role = role_at(&facts, now)?;
        Some(Self { facts, role })
    }

    /// What may be looked up again in a read of the same state.
    pub(crate) fn known(tx: &mut Tx<'_>, hash: &TokenHash, now: Timestamp) -> Result<Option<Self>, DbError> {
        let facts = tokens::known_by_hash(tx, hash)?;
        Ok(facts.and_then(|facts| Self::in_force(facts, now)))
    }

    pub(crate) fn facts(&self) -> &TokenFacts {
        &self.facts
    }

    /// The token.
    pub fn id(&self) -> TokenId {
        self.facts.token.id
    }

    /// Where it acts.
    pub fn organization(&self) -> OrganizationId {
        self.facts.token.organization_id
    }

    /// What its organization is.
    pub fn organization_kind(&self) -> OrganizationKind {
        self.facts.organization_kind
    }

    /// The currency of its organization's money.
    pub fn currency(&self) -> Currency {
        self.facts.currency
    }

    /// Whether cards can be issued for its organization.
    pub fn card_issuing(&self) -> CardIssuing {
        self.facts.card_issuing
    }

    /// The role that it acts with now.
    pub fn role(&self) -> Role {
        self.role
    }

    /// What it can do now: granted scopes ∩ role ceiling ∩ policy.
    pub fn scopes(&self) -> ScopeSet {
        effective(self.facts.token.scopes, self.role, self.facts.policy)
    }

    /// Refuses it when it lacks one of these scopes, and says what withholds it.
    pub fn require(&self, required: ScopeSet) -> Result<(), AppError> {
        if self.scopes().covers(required) {
            return Ok(());
        }
        let TokenFacts { token, policy, .. } = &*self.facts;
        let message = why_withheld(token.kind, required, token.scopes, self.role, *policy);
        Err(AppError::Withheld { required, message })
    }

    /// Whose idempotency keys it uses: the user's in this organization, or its family's.
    pub fn principal(&self) -> [u8; 16] {
        match self.facts.token.user_id {
            Some(user) => user.to_bytes(),
            None => self.facts.token.family_id.to_bytes(),
        }
    }
}

/// The role that a token acts with, or `None` when it may not act at all: revoked, ended, or its user left.
pub(crate) fn role_at(facts: &TokenFacts, now: Timestamp) -> Option<Role> {
    if facts.token.revoked_at.is_some() || now >= facts.token.ends_at {
        return None;
    }
    match facts.token.kind {
        TokenKind::Personal => facts.live_role,
        TokenKind::Service => facts.token.role,
    }
}
