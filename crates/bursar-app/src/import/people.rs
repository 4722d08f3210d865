//! Users, roles and policies of a bundle.

use bursar_db::{Tx, organizations};
use bursar_domain::Refusal;
use bursar_domain::access::Policy;
use bursar_domain::fields::Fields;
use bursar_domain::ids::UserId;
use bursar_domain::organization::{User, address_key, apply_policy, read_role};

use super::ImportError;
use super::load::Load;
use super::scan::read_user;
use crate::error::AppError;
use crate::policy::changes as policy_changes;

pub(super) struct PendingUser {
    line: u64,
    before: Option<User>,
    after: User,
}

impl Load<'_> {
    pub(super) fn user(&mut self, tx: &mut Tx<'_>, line: u64, fields: Fields<'_>) -> Result<(), AppError> {
        let (before, after) = read_user(tx, fields)?;
        if before.as_ref() == Some(&after) {
            self.done.unchanged += 1;
        } else {
            self.users.push(PendingUser { line, before, after });
        }
        Ok(())
    }

    /// Users who change their address give it up first, so that an address can pass from one user to another in any
    /// order.
    pub(super) fn put_users(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        let users = std::mem::take(&mut self.users);
        for PendingUser { before, after, .. } in &users {
            if let Some(before) = before
                && address_key(&before.email) != address_key(&after.email)
            {
                organizations::give_up_address(tx, after.id)?;
            }
        }
        for PendingUser { line, before, after } in users {
            if let Some(other) =
                organizations::user_by_email(tx, &after.email)?.filter(|other| other.id != after.id)
            {
                let rule = format!(
                    "is the address of user {} already; one user has one address",
                    other.id
                );
                return Err(ImportError::Line(line, Refusal::invalid("email", rule)));
            }
            if before.is_some() {
                organizations::update_user(tx, &after)?;
            } else {
                organizations::insert_user(tx, &after)?;
            }
            self.count(before.is_some());
        }
        Ok(())
    }

    pub(super) fn role(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = self.organization_of(&mut fields)?;
        let user: UserId = fields.id("userId")?.required()?;
        let role = read_role(&mut fields)?;
        if !self.plan.users.contains(&user) && organizations::user(tx, user)?.is_none() {
            return Err(Refusal::invalid(
                "userId",
                format!("{user} is neither in this bundle nor in the database"),
            )
            .into());
        }
        let before = organizations::role(tx, organization, user)?;
        if before == Some(role) {
            self.done.unchanged += 1;
            return Ok(());
        }
        organizations::set_role(tx, organization, user, role)?;
        let (action, subject) = (format!("role.set.{role}"), Some(user.to_string()));
        self.context
            .log(tx, self.caller, organization, &action, subject, None)?;
        self.count(before.is_some());
        Ok(())
    }

    pub(super) fn policy(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = self.organization_of(&mut fields)?;
        let before = organizations::policy(tx, organization)?;
        let mut policy = before.unwrap_or(Policy::default());
        apply_policy(&mut policy, &mut fields)?;
        if before == Some(policy) {
            self.done.unchanged += 1;
            return Ok(());
        }
        organizations::set_policy(tx, organization, policy)?;
        for (action, subject, count) in policy_changes(before.unwrap_or_default(), policy) {
            self.context
                .log(tx, self.caller, organization, action, subject, count)?;
        }
        self.count(before.is_some());
        Ok(())
    }
}
