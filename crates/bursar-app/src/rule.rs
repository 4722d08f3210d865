//! Who may do what. Every operation has its rule beside it and checks it first.

use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope, ScopeSet};

use crate::caller::{Caller, MemberProof, Proof, TokenCaller};
use crate::error::AppError;

/// What an operation requires of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The operation, for example `group.create`.
    pub name: &'static str,
    /// Follows "may" in messages: `make groups`.
    pub deed: &'static str,
    pub operator: bool,
    pub worker: bool,
    /// The least role of a person. `None` if no person may.
    pub person: Option<Role>,
    /// Any person may, about themselves, whatever their role.
    pub oneself: bool,
    /// What a member needs, about themselves and their household. `None` if no member may.
    pub member: Option<MemberProof>,
    /// Whoever opens a page may, without signing in.
    pub visitor: bool,
    /// A person must have proved lately who they are, and is sent a notice.
    pub guarded: bool,
    /// The scopes of a token. `None` if no token may.
    pub token: Option<ScopeSet>,
}

impl Rule {
    /// For people with at least this role, and the operator.
    pub const fn of(name: &'static str, least: Role, deed: &'static str) -> Self {
        Self {
            name,
            deed,
            operator: true,
            worker: false,
            person: Some(least),
            oneself: false,
            member: None,
            visitor: false,
            guarded: false,
            token: None,
        }
    }

    pub const fn of_operator(name: &'static str, deed: &'static str) -> Self {
        Self {
            person: None,
            ..Self::of(name, Role::Admin, deed)
        }
    }

    pub const fn of_worker(name: &'static str, deed: &'static str) -> Self {
        Self {
            operator: false,
            worker: true,
            ..Self::of_operator(name, deed)
        }
    }

    /// For any token, and nobody else.
    pub const fn of_token(name: &'static str, deed: &'static str) -> Self {
        Self {
            operator: false,
            ..Self::of_operator(name, deed)
        }
        .or_token(&[])
    }

    /// For every person, about themselves.
    pub const fn of_oneself(name: &'static str, deed: &'static str) -> Self {
        Self {
            operator: false,
            oneself: true,
            ..Self::of_operator(name, deed)
        }
    }

    /// For every member, about themselves and their household.
    pub const fn of_member(name: &'static str, least: MemberProof, deed: &'static str) -> Self {
        Self {
            operator: false,
            ..Self::of_operator(name, deed)
        }
        .or_member(least)
    }

    /// For whoever opens a page.
    pub const fn of_visitor(name: &'static str, deed: &'static str) -> Self {
        Self {
            operator: false,
            visitor: true,
            ..Self::of_operator(name, deed)
        }
    }

    #[must_use]
    pub const fn or_token(self, scopes: &[Scope]) -> Self {
        Self {
            token: Some(ScopeSet::of(scopes)),
            ..self
        }
    }

    #[must_use]
    pub const fn or_member(self, least: MemberProof) -> Self {
        Self {
            member: Some(least),
            ..self
        }
    }

    #[must_use]
    pub const fn or_worker(self) -> Self {
        Self { worker: true, ..self }
    }

    /// What a stolen session must not be good for.
    #[must_use]
    pub const fn guarded(self) -> Self {
        Self {
            guarded: true,
            ..self
        }
    }

    /// Somebody must answer for it by name, so not even the operator may.
    #[must_use]
    pub const fn people_only(self) -> Self {
        Self {
            operator: false,
            ..self
        }
    }

    /// The refusal says who may.
    pub fn check(&self, caller: &Caller) -> Result<(), AppError> {
        let may = match caller {
            Caller::Operator if !self.operator && self.person.is_some() => {
                let message = format!("{}; name the person with --as EMAIL", self.rule_in_words());
                return Err(Refusal::Forbidden { message }.into());
            }
            Caller::Operator => self.operator,
            Caller::Worker => self.worker,
            Caller::Person(_, role, proof) => {
                let may = self.oneself || self.person.is_some_and(|least| *role >= Some(least));
                if may && self.guarded && *proof == Proof::Stale {
                    return Err(AppError::Stale);
                }
                may
            }
            Caller::Member(_, proof) => {
                let may = self.member.is_some();
                if may && Some(*proof) < self.member {
                    return Err(AppError::Stale);
                }
                may
            }
            Caller::Visitor => self.visitor,
            Caller::Token(token) => return self.check_token(token),
        };
        match may {
            true => Ok(()),
            false => Err(self.forbidden()),
        }
    }

    /// The token's effective scopes must include all scopes of the rule.
    pub fn check_token(&self, token: &TokenCaller) -> Result<(), AppError> {
        token.require(self.token.ok_or_else(|| self.forbidden())?)
    }

    pub(crate) fn forbidden(&self) -> AppError {
        let message = self.rule_in_words();
        Refusal::Forbidden { message }.into()
    }

    fn rule_in_words(&self) -> String {
        let who = match (self.person, self.operator) {
            (Some(Role::Admin), _) => "an admin of the organization",
            (Some(Role::Editor), _) => "an editor or admin of the organization",
            (Some(Role::Viewer), _) => "people with a role in the organization",
            (None, true) => "the operator",
            (None, false) if self.token.is_some() => "a token",
            (None, false) if self.oneself => "a signed-in person",
            (None, false) if self.member.is_some() => "a member",
            (None, false) if self.visitor => "a visitor of the console",
            (None, false) => "the service itself",
        };
        match self.operator || self.person.is_none() {
            true => format!("only {who} may {}", self.deed),
            false => format!("only {who} may {}, under their own name", self.deed),
        }
    }
}
