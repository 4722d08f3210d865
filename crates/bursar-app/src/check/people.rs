//! Who may act: roles, tokens and policies.

use bursar_db::tokens::Token;
use bursar_db::{DbError, Tx, organizations, tokens};
use bursar_domain::access::Role;
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::TOKEN_DAYS_MAX;
use bursar_domain::token::TokenKind;

use super::Check;

impl Check<'_> {
    pub(super) fn people(&mut self, tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
        let roles = organizations::roles(tx, organization);
        for (user, _) in self.readable(organization, "roles", roles) {
            if organizations::user(tx, user)?.is_none() {
                self.problem(
                    "reference",
                    Some(organization),
                    user,
                    "has a role here, but there is no such user",
                );
            }
        }
        let tokens = tokens::all(tx, organization);
        for token in self.readable(organization, "tokens", tokens) {
            if let Some(user) = token.user_id
                && organizations::user(tx, user)?.is_none()
            {
                self.problem(
                    "reference",
                    Some(organization),
                    token.id,
                    &format!("belongs to user {user}, who does not exist"),
                );
            }
            if let Some(rule) = broken_rule(&token) {
                self.problem("rule", Some(organization), token.id, rule);
            }
        }
        let days = organizations::policy(tx, organization)?.and_then(|policy| policy.max_token_days);
        if days.is_some_and(|days| !(1..=TOKEN_DAYS_MAX).contains(&days)) {
            self.problem(
                "rule",
                Some(organization),
                organization,
                "the policy's maxTokenDays must be from 1 to 365",
            );
        }
        Ok(())
    }

    /// Reports what cannot be read as a problem, so that the check goes on.
    pub(super) fn readable<T>(
        &mut self,
        organization: OrganizationId,
        table: &str,
        read: Result<Vec<T>, DbError>,
    ) -> Vec<T> {
        read.unwrap_or_else(|error| {
            self.problem("row", Some(organization), table, &error.to_string());
            Vec::new()
        })
    }
}

fn broken_rule(token: &Token) -> Option<&'static str> {
    match (token.kind, token.user_id, token.role) {
        (TokenKind::Personal, None, _) => return Some("is a personal token of nobody"),
        (TokenKind::Personal, Some(_), Some(_)) => {
            return Some("is a personal token that has a role; only its owner's role may count");
        }
        (TokenKind::Service, _, Some(Role::Admin)) => {
            return Some("is a service token with the role admin, which they cannot have; revoke it");
        }
        (TokenKind::Service, _, None) => return Some("is a service token without a role"),
        (TokenKind::Service, Some(_), Some(_)) => return Some("is a service token that belongs to a user"),
        (TokenKind::Personal, Some(_), None) | (TokenKind::Service, None, Some(_)) => {}
    }
    if !(1..=TOKEN_DAYS_MAX).contains(&token.days) || token.ends_at > token.expires_at {
        return Some("lives longer than a token can: 1 to 365 days, and never past its expiry");
    }
    None
}
