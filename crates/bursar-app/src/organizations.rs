//! Organizations and their tree.

use std::collections::{HashMap, HashSet};

use bursar_db::clock::{Clock, Moment};
use bursar_db::organizations;
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::autopay::RetryDays;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::iban;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, Organization, OrganizationKind, RETENTION_YEARS_MAX};
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::zone::Zone;

use crate::act::{Act, View, Whole, no_organization};
use crate::chapters;
use crate::error::AppError;
use crate::rule::Rule;

#[derive(Clone, Debug)]
pub struct NewOrganization {
    pub name: String,
    pub kind: OrganizationKind,
    pub parent_id: Option<OrganizationId>,
    pub currency: Currency,
    pub contact_email: Option<String>,
    pub contact_phone: Option<String>,
    pub card_issuing: CardIssuing,
    pub time_zone: Zone,
}

pub const CREATE: Rule = Rule::of_operator("organization.create", "create organizations");
pub const LIST: Rule = Rule::of("organization.list", Role::Viewer, "see the organization");
pub const COUNT: Rule = Rule::of_operator("organization.count", "count what there is");
pub const SET: Rule = Rule::of(
    "organization.set",
    Role::Admin,
    "change the organization's settings",
)
.guarded();
/// Whether cards can be issued is not the organization's own decision.
pub const APPROVE: Rule = Rule::of_operator("organization.approve", "approve card issuing");
pub const RULES: &[&Rule] = &[&CREATE, &LIST, &COUNT, &SET, &APPROVE];

/// All organizations for the operator; for a person, those where they have a role.
pub fn list(whole: &mut Whole<'_, '_>) -> Result<Vec<Organization>, AppError> {
    let mut found = Vec::new();
    for organization in organizations::all(whole.tx)? {
        if whole.may(&LIST, organization.id)? {
            found.push(organization);
        }
    }
    Ok(found)
}

/// The organization of the view.
pub fn show(view: &mut View<'_, '_>) -> Result<Organization, AppError> {
    view.allow(&LIST)?;
    view.own()
}

/// The number of members and of payments in all organizations.
pub fn count(whole: &mut Whole<'_, '_>) -> Result<(i64, i64), AppError> {
    whole.allow(&COUNT)?;
    Ok(organizations::members_and_payments(whole.tx)?)
}

pub fn create(
    whole: &mut Whole<'_, '_>,
    id: OrganizationId,
    new: &NewOrganization,
) -> Result<Organization, AppError> {
    whole.allow(&CREATE)?;
    let organization = add(whole, id, new)?;
    whole.log(id, CREATE.name, Some(id.to_string()), None)?;
    Ok(organization)
}

pub(crate) fn add(
    whole: &mut Whole<'_, '_>,
    id: OrganizationId,
    new: &NewOrganization,
) -> Result<Organization, AppError> {
    let organization = Organization {
        id,
        name: NAME.check(&new.name).map_err(Refusal::of_field("name"))?,
        kind: new.kind,
        parent_id: new.parent_id,
        currency: new.currency,
        contact_email: new
            .contact_email
            .as_deref()
            .map(check_email)
            .transpose()
            .map_err(Refusal::of_field("contact-email"))?,
        contact_phone: new
            .contact_phone
            .as_deref()
            .map(check_phone)
            .transpose()
            .map_err(Refusal::of_field("contact-phone"))?,
        card_issuing: new.card_issuing,
        time_zone: new.time_zone.clone(),
        ..Organization::blank(id)
    };
    match (organization.kind, organization.parent_id) {
        (OrganizationKind::Chapter, None) => {
            return Err(Refusal::invalid(
                "parent",
                "is required for a chapter: the national or chapter it is below",
            )
            .into());
        }
        (OrganizationKind::National | OrganizationKind::Independent, Some(_)) => {
            return Err(Refusal::invalid(
                "parent",
                format!("must be left out for a {} organization", organization.kind),
            )
            .into());
        }
        (OrganizationKind::Chapter, Some(parent)) => {
            let parent = organizations::get(whole.tx, parent)?.ok_or_else(|| no_organization(parent))?;
            check_is_parent(&parent)?;
        }
        (OrganizationKind::National | OrganizationKind::Independent, None) => {}
    }
    let now = whole.now();
    // The parent's list of chapters changes, by the parent's change clock.
    let mut clock = match organization.parent_id {
        Some(parent) => Clock::take(whole.tx, parent, now)?,
        None => None,
    };
    organizations::insert(whole.tx, &organization, now)?;
    chapters::follow(whole.tx, None, &organization, |_| {
        clock
            .as_mut()
            .map_or(Moment { at: now, epoch: 0 }, Clock::tick_moment)
    })?;
    if let Some(clock) = clock {
        clock.give_back(whole.tx)?;
    }
    Ok(organization)
}

/// `None` keeps the value, `Some(None)` removes it.
#[derive(Clone, Debug, Default)]
pub struct OrganizationChange {
    pub name: Option<String>,
    pub time_zone: Option<Zone>,
    pub contact_email: Option<Option<String>>,
    pub contact_phone: Option<Option<String>>,
    /// For the operator alone.
    pub card_issuing: Option<CardIssuing>,
    pub auto_credit: Option<bool>,
    pub auto_reference: Option<bool>,
    pub pay_text: Option<Option<String>>,
    pub iban: Option<Option<String>>,
    pub retention_years: Option<i64>,
    /// Days as text.
    pub autopay_retries: Option<String>,
}

/// A new time zone leaves the dates that are there.
pub fn set(act: &mut Act<'_, '_>, change: &OrganizationChange) -> Result<Organization, AppError> {
    // Who may approve may set everything.
    act.allow(if change.card_issuing.is_some() {
        &APPROVE
    } else {
        &SET
    })?;
    let before = act.own()?;
    let mut after = before.clone();
    if let Some(name) = &change.name {
        after.name = NAME.check(name).map_err(Refusal::of_field("name"))?;
    }
    if let Some(email) = &change.contact_email {
        let email = email.as_deref().map(check_email).transpose();
        after.contact_email = email.map_err(Refusal::of_field("contact-email"))?;
    }
    if let Some(phone) = &change.contact_phone {
        let phone = phone.as_deref().map(check_phone).transpose();
        after.contact_phone = phone.map_err(Refusal::of_field("contact-phone"))?;
    }
    if let Some(text) = &change.pay_text {
        let text = text.as_deref().map(|text| NOTE.check(text)).transpose();
        let text = text.map_err(Refusal::of_field("pay-text"))?;
        after.pay_text = text.filter(|text| !text.is_empty());
    }
    if let Some(iban) = &change.iban {
        let iban = iban.as_deref().map(iban::parse).transpose();
        after.iban = iban.map_err(Refusal::of_field("iban"))?;
    }
    if let Some(years) = change.retention_years {
        if !(1..=RETENTION_YEARS_MAX).contains(&years) {
            let rule = format!("must be 1 to {RETENTION_YEARS_MAX}, got {years}");
            return Err(Refusal::invalid("retention-years", rule).into());
        }
        after.retention_years = years;
    }
    if let Some(days) = &change.autopay_retries {
        let days = RetryDays::parse(days);
        after.autopay_retries = days.map_err(Refusal::of_field("autopay-retries"))?;
    }
    after.card_issuing = change.card_issuing.unwrap_or(after.card_issuing);
    after.time_zone = change.time_zone.clone().unwrap_or(after.time_zone);
    after.auto_credit = change.auto_credit.unwrap_or(after.auto_credit);
    after.auto_reference = change.auto_reference.unwrap_or(after.auto_reference);
    if after == before {
        return Ok(before);
    }
    organizations::update(act.tx, &after)?;
    follow(act, &before, &after)?;
    act.log(SET.name, Some(after.id.to_string()), None)?;
    Ok(after)
}

/// The parent's list of chapters has the name, and changes by the parent's change clock.
fn follow(act: &mut Act<'_, '_>, before: &Organization, after: &Organization) -> Result<(), AppError> {
    let parent = after.parent_id.filter(|_| before.name != after.name);
    let clock = match parent {
        Some(parent) => Clock::take(act.tx, parent, act.now())?,
        None => None,
    };
    if let Some(mut clock) = clock {
        chapters::follow(act.tx, Some(before), after, |_| clock.tick_moment())?;
        clock.give_back(act.tx)?;
    }
    Ok(())
}

fn check_is_parent(parent: &Organization) -> Result<(), Refusal> {
    match parent.kind {
        OrganizationKind::National | OrganizationKind::Chapter => Ok(()),
        OrganizationKind::Independent => Err(Refusal::invalid(
            "parentId",
            format!(
                "must be a national organization or a chapter; {} is independent",
                parent.id
            ),
        )),
    }
}

/// The parent must exist, may have chapters, and must not be below the organization.
pub fn check_place(
    organization: &Organization,
    all: &HashMap<OrganizationId, Organization>,
) -> Result<(), Refusal> {
    organization.check_parent()?;
    let mut above = organization.parent_id;
    for _ in 0..=all.len() {
        let Some(id) = above else { return Ok(()) };
        if id == organization.id {
            return Err(Refusal::invalid(
                "parentId",
                "makes a circle: the organization would be above itself",
            ));
        }
        let parent = all
            .get(&id)
            .ok_or_else(|| Refusal::invalid("parentId", format!("{id} does not exist")))?;
        check_is_parent(parent)?;
        above = parent.parent_id;
    }
    Err(Refusal::invalid(
        "parentId",
        "makes a circle among the organizations above",
    ))
}

/// Organizations imported without the ones above them: their topmost one is a chapter without a parent. Their
/// references to organizations outside the export are null.
pub fn parts(all: &HashMap<OrganizationId, Organization>) -> HashSet<OrganizationId> {
    let is_cut = |o: &Organization| o.kind == OrganizationKind::Chapter && o.parent_id.is_none();
    if !all.values().any(is_cut) {
        return HashSet::new();
    }
    let top = |organization: &Organization| {
        let mut top = organization.id;
        // The bound also ends a circle, which should not exist.
        for _ in 0..all.len() {
            match all.get(&top).and_then(|o| o.parent_id) {
                Some(parent) => top = parent,
                None => break,
            }
        }
        top
    };
    let mut parts: HashSet<OrganizationId> = all.keys().copied().collect();
    parts.retain(|id| all.get(id).and_then(|o| all.get(&top(o))).is_some_and(is_cut));
    parts
}

/// Whether `target` is the organization itself, its parent or a direct child.
pub(crate) fn is_near(own: &Organization, target: &Organization) -> bool {
    target.id == own.id || own.parent_id == Some(target.id) || target.parent_id == Some(own.id)
}

/// An organization and all below it, the root first.
pub fn subtree(root: OrganizationId, all: &[Organization]) -> Vec<OrganizationId> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(id) = found.get(next).copied() {
        next += 1;
        found.extend(all.iter().filter(|o| o.parent_id == Some(id)).map(|o| o.id));
    }
    found
}
