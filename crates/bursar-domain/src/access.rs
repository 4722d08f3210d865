//! Who may do what: effective permission = granted scopes ∩ role ceiling ∩ organization policy.
//!
//! Every request asks, so scopes are bits and the intersection is two `and`s.

use std::fmt;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::token::TokenKind;
use crate::words;

macro_rules! scopes {
    ($($name:ident $text:literal $plain:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Scope { $(#[doc = $plain] $name),* }

        impl Scope {
            /// There is no wildcard.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            pub const fn in_words(self) -> &'static str {
                match self { $(Self::$name => $plain),* }
            }
        }
    };
}

scopes! {
    CardsRead "cards:read" "see cards";
    CardsWrite "cards:write" "create cards";
    ChaptersRead "chapters:read" "see child chapters and, with members:read, their rosters";
    FundraiseRead "fundraise:read" "see campaigns";
    GroupsRead "groups:read" "see groups and their dues";
    GroupsWrite "groups:write" "create and change groups and remove members from them";
    MembersRead "members:read" "see members";
    MembersWrite "members:write" "change and archive members";
    PaymentsRead "payments:read" "see payments";
    ReimbursementsRead "reimbursements:read" "see reimbursements";
    RemindersRead "reminders:read" "see reminders";
    RemindersWrite "reminders:write" "send reminders";
    StoreRead "store:read" "see the store and its orders";
    // Tokens keep scopes as bits, so a new one comes last.
    EventsRead "events:read" "see events of the resources it can read";
}

impl Scope {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == text)
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScopeSet(u16);

impl ScopeSet {
    pub const NONE: Self = Self(0);

    pub const fn of(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < scopes.len() {
            bits |= scopes[i].bit();
            i += 1;
        }
        Self(bits)
    }

    /// Bits without a meaning are dropped.
    pub fn from_bits(bits: i64) -> Self {
        Self(u16::try_from(bits & i64::from(Self::of(Scope::ALL).0)).unwrap_or(0))
    }

    pub fn bits(self) -> i64 {
        i64::from(self.0)
    }

    pub const fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// In the catalogue's order.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.iter().copied().filter(move |scope| self.has(*scope))
    }

    /// Reads `a,b`. The error names what is not a scope.
    pub fn parse(list: &str) -> Result<Self, String> {
        let mut set = Self::NONE;
        for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let scope = Scope::parse(part).ok_or_else(|| unknown_scope(part))?;
            set = set.or(Self::of(&[scope]));
        }
        Ok(set)
    }
}

pub fn unknown_scope(text: &str) -> String {
    format!(
        "{text:?} is not a scope; the scopes are {}",
        ScopeSet::of(Scope::ALL)
    )
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, scope) in self.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(scope.as_str())?;
        }
        Ok(())
    }
}

impl Serialize for ScopeSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for scope in self.iter() {
            seq.serialize_element(&scope)?;
        }
        seq.end()
    }
}

words! {
    /// What a person is in an organization, or a service token is made as; the least first.
    Role {
        /// Sees.
        Viewer "viewer",
        /// Sees and changes.
        Editor "editor",
        /// Everything, settings and approvals included.
        Admin "admin",
    }
}

impl Role {
    /// The most that a token with this role can do.
    pub const fn ceiling(self) -> ScopeSet {
        use Scope::*;
        const VIEWER: ScopeSet = ScopeSet::of(&[
            ChaptersRead,
            EventsRead,
            FundraiseRead,
            GroupsRead,
            MembersRead,
            PaymentsRead,
            ReimbursementsRead,
            RemindersRead,
            StoreRead,
        ]);
        const EDITOR: ScopeSet = VIEWER.or(ScopeSet::of(&[
            CardsRead,
            MembersWrite,
            GroupsWrite,
            RemindersWrite,
        ]));
        const ADMIN: ScopeSet = EDITOR.or(ScopeSet::of(&[CardsWrite]));
        match self {
            Self::Viewer => VIEWER,
            Self::Editor => EDITOR,
            Self::Admin => ADMIN,
        }
    }
}

/// Limits that an organization's admins set for all tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub blocked_scopes: ScopeSet,
    /// Caps the lifetime of new tokens.
    pub max_token_days: Option<u16>,
}

/// The layer that withholds a scope from a token. The role is checked before the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    Token,
    Role,
    Policy,
}

impl Withheld {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Role => "role",
            Self::Policy => "policy",
        }
    }
}

pub const fn effective(granted: ScopeSet, role: Role, policy: Policy) -> ScopeSet {
    granted.and(role.ceiling()).without(policy.blocked_scopes)
}

/// `None` if the token has the scope.
pub const fn withheld_by(scope: Scope, granted: ScopeSet, role: Role, policy: Policy) -> Option<Withheld> {
    if !granted.has(scope) {
        Some(Withheld::Token)
    } else if !role.ceiling().has(scope) {
        Some(Withheld::Role)
    } else if policy.blocked_scopes.has(scope) {
        Some(Withheld::Policy)
    } else {
        None
    }
}

/// For each required scope that is not effective: what withholds it, and the way out.
pub fn why_withheld(
    kind: TokenKind,
    required: ScopeSet,
    granted: ScopeSet,
    role: Role,
    policy: Policy,
) -> String {
    let by = |layer| {
        let withheld = required
            .iter()
            .filter(|scope| withheld_by(*scope, granted, role, policy) == Some(layer));
        ScopeSet::of(&withheld.collect::<Vec<_>>())
    };
    let (token, ceiling, blocked) = (by(Withheld::Token), by(Withheld::Role), by(Withheld::Policy));
    let mut reasons = Vec::new();
    if !token.is_empty() {
        reasons.push(format!(
            "the token was not given {token}: create a token with every scope that the call requires"
        ));
    }
    if !ceiling.is_empty() {
        let needed = Role::ALL
            .iter()
            .copied()
            .find(|role| role.ceiling().covers(ceiling));
        let needed = needed.unwrap_or(Role::Admin);
        let way_out = match (kind, needed) {
            (TokenKind::Personal, _) => "which an admin of the organization can give",
            (TokenKind::Service, Role::Admin) => {
                "which no service token can have: use a personal token of an admin"
            }
            (TokenKind::Service, _) => {
                "and a service token keeps the role it was created with: create another one"
            }
        };
        reasons.push(format!(
            "the role {role} withholds {ceiling}: it takes the role {needed}, {way_out}"
        ));
    }
    if !blocked.is_empty() {
        reasons.push(format!(
            "the organization's policy blocks {blocked} for all tokens: an admin of the organization can allow it"
        ));
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ceilings() {
        let reads: Vec<Scope> = Scope::ALL
            .iter()
            .copied()
            .filter(|s| s.as_str().ends_with(":read") && *s != Scope::CardsRead)
            .collect();
        assert_eq!(Role::Viewer.ceiling(), ScopeSet::of(&reads));
        let more = [
            Scope::CardsRead,
            Scope::MembersWrite,
            Scope::GroupsWrite,
            Scope::RemindersWrite,
        ];
        assert_eq!(
            Role::Editor.ceiling().without(Role::Viewer.ceiling()),
            ScopeSet::of(&more)
        );
        assert_eq!(Role::Admin.ceiling(), ScopeSet::of(Scope::ALL));
        assert_eq!(
            Role::Admin.ceiling().without(Role::Editor.ceiling()),
            ScopeSet::of(&[Scope::CardsWrite])
        );
        assert_eq!(Scope::ALL.len(), 14);
    }

    #[test]
    fn effective_and_withheld_agree() {
        for granted in (0..1 << 14).step_by(37).map(ScopeSet::from_bits) {
            for role in Role::ALL.iter().copied() {
                for blocked in (0..1 << 14).step_by(101).map(ScopeSet::from_bits) {
                    let policy = Policy {
                        blocked_scopes: blocked,
                        max_token_days: None,
                    };
                    let effective = effective(granted, role, policy);
                    for scope in Scope::ALL {
                        assert_eq!(
                            effective.has(*scope),
                            withheld_by(*scope, granted, role, policy).is_none()
                        );
                    }
                }
            }
        }
        let policy = Policy {
            blocked_scopes: ScopeSet::of(&[Scope::CardsWrite]),
            max_token_days: None,
        };
        let all = ScopeSet::of(Scope::ALL);
        assert_eq!(
            withheld_by(Scope::CardsWrite, all, Role::Editor, policy),
            Some(Withheld::Role)
        );
        assert_eq!(
            withheld_by(Scope::CardsWrite, all, Role::Admin, policy),
            Some(Withheld::Policy)
        );
        assert_eq!(
            withheld_by(Scope::CardsWrite, ScopeSet::NONE, Role::Viewer, policy),
            Some(Withheld::Token)
        );
    }

    #[test]
    fn lists_of_scopes() {
        assert_eq!(
            ScopeSet::parse("members:read, groups:read").unwrap().to_string(),
            "groups:read, members:read"
        );
        assert!(ScopeSet::parse("members:*").unwrap_err().contains("members:*"));
        assert_eq!(ScopeSet::from_bits(-1), ScopeSet::of(Scope::ALL));
    }
}
