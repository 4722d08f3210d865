//! Who calls: what somebody presents, and what a look-up in the same transaction finds.

use std::sync::Arc;

use bursar_db::tokens::{self, TokenFacts};
use bursar_db::{DbError, Tx, member_access, organizations, sign_in};
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, ScopeSet, effective, why_withheld};
use bursar_domain::ids::{MemberId, OrganizationId, TokenId, UserId};
use bursar_domain::member_access::MemberLink;
use bursar_domain::money::Currency;
use bursar_domain::organization::CardIssuing;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::token::{TokenHash, TokenKind};

use crate::error::AppError;

/// What somebody presents. It does not say what they may do: that is looked up in every transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    Operator,
    Worker,
    Person(UserId),
    /// A signed-in browser.
    Session(SecretHash),
    /// A browser with a member's link.
    Link(MemberLink),
    /// A browser in which a member entered a code.
    MemberSession(SecretHash),
    /// Somebody who has not signed in.
    Visitor,
    Token(TokenHash),
}

/// What the look-up of an identity found in this transaction.
#[derive(Clone, Debug)]
pub enum Caller {
    Operator,
    Worker,
    /// With the person's current role in the organization, and whether they have proved lately who they are.
    Person(UserId, Option<Role>, Proof),
    /// About themselves and their household.
    Member(MemberId, MemberProof),
    Visitor,
    Token(TokenCaller),
}

/// How a member got in. A code was mailed to the address that is known; a link may have been passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberProof {
    Link,
    Code,
}

/// How long ago a person proved who they are. Some acts need a fresh proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    Fresh,
    Stale,
}

/// A token in force, with its current role.
#[derive(Clone, Debug)]
pub struct TokenCaller {
    facts: Arc<TokenFacts>,
    role: Role,
}

impl Caller {
    pub(crate) fn look_up(
        tx: &mut Tx<'_>,
        who: Identity,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        match who {
            Identity::Person(_) | Identity::Session(_) => match Self::look_up_anywhere(tx, who, now)? {
                Self::Person(user, _, proof) => {
                    let role = organizations::role(tx, organization, user)?;
                    Ok(Self::Person(user, role, proof))
                }
                other => Ok(other),
            },
            Identity::Link(link) => match link.organization == organization {
                true => Self::look_up_anywhere(tx, who, now),
                false => Err(AppError::Unrecognised),
            },
            Identity::MemberSession(hash) => Self::of_member_session(tx, &hash, Some(organization), now),
            Identity::Operator | Identity::Worker | Identity::Visitor | Identity::Token(_) => {
                Self::look_up_anywhere(tx, who, now)
            }
        }
    }

    fn of_member_session(
        tx: &mut Tx<'_>,
        hash: &SecretHash,
        organization: Option<OrganizationId>,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        let session = member_access::session(tx, hash)?.filter(|session| session.is_in_force(now));
        let session = session.filter(|session| organization.is_none_or(|id| id == session.organization));
        let member = session.and_then(|session| session.member);
        let member = member.ok_or(AppError::Unrecognised)?;
        Ok(Self::Member(member, MemberProof::Code))
    }

    /// Looks up a caller for a transaction that is not about one organization. A person has no role there.
    pub(crate) fn look_up_anywhere(tx: &mut Tx<'_>, who: Identity, now: Timestamp) -> Result<Self, AppError> {
        Ok(match who {
            Identity::Operator => Self::Operator,
            Identity::Worker => Self::Worker,
            // Whoever acts for a person has the machine.
            Identity::Person(user) => Self::Person(user, None, Proof::Fresh),
            Identity::Visitor => Self::Visitor,
            Identity::Link(link) => {
                let site = member_access::site(tx)?;
                let is_ours = site.is_some_and(|(_, key)| link.is_signed_by(&key));
                let revoked_at = member_access::revoked_at(tx, link.organization, link.member)?;
                if !is_ours || !link.is_in_force(now, revoked_at) {
                    return Err(AppError::Unrecognised);
                }
                Self::Member(link.member, MemberProof::Link)
            }
            Identity::MemberSession(hash) => Self::of_member_session(tx, &hash, None, now)?,
            Identity::Session(hash) => {
                let session = sign_in::session(tx, &hash)?.filter(|session| session.is_in_force(now));
                let session = session.ok_or(AppError::Unrecognised)?;
                let proof = match session.is_fresh(now) {
                    true => Proof::Fresh,
                    false => Proof::Stale,
                };
                Self::Person(session.user, None, proof)
            }
            Identity::Token(hash) => {
                let facts = tokens::by_hash(tx, &hash)?.map(Arc::new);
                let token = facts.and_then(|facts| TokenCaller::in_force(facts, now));
                Self::Token(token.ok_or(AppError::Unrecognised)?)
            }
        })
    }

    /// The kind of actor in the activity log.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Worker => "worker",
            Self::Token(_) => "token",
            Self::Person(..) => "user",
            Self::Member(..) => "member",
            Self::Visitor => "visitor",
        }
    }

    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Operator | Self::Worker | Self::Visitor => None,
            Self::Token(token) => Some(token.id().to_string()),
            Self::Person(user, ..) => Some(user.to_string()),
            Self::Member(member, _) => Some(member.to_string()),
        }
    }

    /// The organization that the caller belongs to: a token's own, or for a person the one acted on.
    pub(crate) fn home(&self, organization: OrganizationId) -> Option<OrganizationId> {
        match self {
            Self::Operator | Self::Worker | Self::Visitor => None,
            Self::Token(token) => Some(token.organization()),
            Self::Person(..) | Self::Member(..) => Some(organization),
        }
    }
}

impl TokenCaller {
    pub(crate) fn in_force(facts: Arc<TokenFacts>, now: Timestamp) -> Option<Self> {
        let role = role_at(&facts, now)?;
        Some(Self { facts, role })
    }

    /// The same later on.
    pub(crate) fn at(self, now: Timestamp) -> Option<Self> {
        Self::in_force(self.facts, now)
    }

    /// Like `look_up`, but a reader may use what it remembers while nothing was committed.
    pub(crate) fn known(tx: &mut Tx<'_>, hash: &TokenHash, now: Timestamp) -> Result<Option<Self>, DbError> {
        let facts = tokens::known_by_hash(tx, hash)?;
        Ok(facts.and_then(|facts| Self::in_force(facts, now)))
    }

    pub(crate) fn facts(&self) -> &TokenFacts {
        &self.facts
    }

    pub fn id(&self) -> TokenId {
        self.facts.token.id
    }

    pub fn organization(&self) -> OrganizationId {
        self.facts.token.organization_id
    }

    pub fn currency(&self) -> Currency {
        self.facts.currency
    }

    pub fn card_issuing(&self) -> CardIssuing {
        self.facts.card_issuing
    }

    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether two look-ups found the same, in everything that others can see of a caller.
    pub fn is_as(&self, other: &Self) -> bool {
        let seen = |caller: &Self| {
            let names = (caller.id(), caller.organization(), caller.principal());
            let money = (caller.currency(), caller.card_issuing());
            (
                names,
                money,
                caller.role,
                caller.scopes(),
                caller.facts.token.ends_at,
            )
        };
        seen(self) == seen(other)
    }

    /// Granted scopes ∩ role ceiling ∩ policy.
    pub fn scopes(&self) -> ScopeSet {
        effective(self.facts.token.scopes, self.role, self.facts.policy)
    }

    /// The refusal says what withholds each scope.
    pub fn require(&self, required: ScopeSet) -> Result<(), AppError> {
        if self.scopes().covers(required) {
            return Ok(());
        }
        let TokenFacts { token, policy, .. } = &*self.facts;
        let message = why_withheld(token.kind, required, token.scopes, self.role, *policy);
        Err(AppError::Withheld { required, message })
    }

    /// Whose idempotency keys it uses: the user's in this organization, or the token family's.
    pub fn principal(&self) -> [u8; 16] {
        match self.facts.token.user_id {
            Some(user) => user.to_bytes(),
            None => self.facts.token.family_id.to_bytes(),
        }
    }
}

/// `None` when the token may not act: revoked, ended, or its user has left the organization.
pub(crate) fn role_at(facts: &TokenFacts, now: Timestamp) -> Option<Role> {
    if facts.token.revoked_at.is_some() || now >= facts.token.ends_at {
        return None;
    }
    match facts.token.kind {
        TokenKind::Personal => facts.live_role,
        TokenKind::Service => facts.token.role,
    }
}
