//! The lines of a data bundle that are not resources: organizations, users, roles and policies.

use bursar_domain::access::{Policy, Role};
use bursar_domain::ids::{OrganizationId, UserId};
use bursar_domain::organization::{Organization, User};
use serde::Serialize;

/// The parent is null when the bundle does not contain it.
pub fn organization_line(organization: &Organization, parent_id: Option<OrganizationId>) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: OrganizationId,
        name: &'a str,
        kind: &'static str,
        parent_id: Option<OrganizationId>,
        currency: &'static str,
        contact_email: Option<&'a str>,
        contact_phone: Option<&'a str>,
        card_issuing: &'static str,
    }
    json(&Line {
        r#type: "organization",
        id: organization.id,
        name: &organization.name,
        kind: organization.kind.as_str(),
        parent_id,
        currency: organization.currency.code(),
        contact_email: organization.contact_email.as_deref(),
        contact_phone: organization.contact_phone.as_deref(),
        card_issuing: organization.card_issuing.as_str(),
    })
}

pub fn user_line(user: &User) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        id: UserId,
        email: &'a str,
        name: Option<&'a str>,
    }
    json(&Line {
        r#type: "user",
        id: user.id,
        email: &user.email,
        name: user.name.as_deref(),
    })
}

pub fn role_line(organization_id: OrganizationId, user_id: UserId, role: Role) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        r#type: &'static str,
        organization_id: OrganizationId,
        user_id: UserId,
        role: Role,
    }
    json(&Line {
        r#type: "role",
        organization_id,
        user_id,
        role,
    })
}

pub fn policy_line(organization_id: OrganizationId, policy: Policy) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        r#type: &'static str,
        organization_id: OrganizationId,
        blocked_scopes: bursar_domain::access::ScopeSet,
        max_token_days: Option<u16>,
    }
    json(&Line {
        r#type: "policy",
        organization_id,
        blocked_scopes: policy.blocked_scopes,
        max_token_days: policy.max_token_days,
    })
}

/// Cannot fail: ids, texts and numbers always have a JSON form.
fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
