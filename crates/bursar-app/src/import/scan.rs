//! The first pass: checks every line alone, and remembers the ids that the bundle brings.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use bursar_db::{DbError, Stored, Tx, organizations};
use bursar_domain::access::Policy;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{Id, Kind, OrganizationId, UserId};
use bursar_domain::organization::{Organization, User, address_key, apply_policy, read_role};
use bursar_domain::{Refusal, Resource, Timestamp};

use super::lines::each_line;
use super::record::{Header, RecordType, open};
use super::{ImportError, Progress, Source, at_line};
use crate::act::Whole;
use crate::error::AppError;
use crate::resources::match_resource;

pub(super) struct Plan {
    /// Organizations in the database before the import.
    pub(super) existing: HashMap<OrganizationId, Organization>,
    pub(super) brought: BTreeMap<OrganizationId, Brought>,
    /// Organizations that records of the bundle belong to.
    pub(super) touched: HashSet<OrganizationId>,
    /// The largest stamp that the bundle gives a new organization.
    pub(super) newest: HashMap<OrganizationId, Timestamp>,
    pub(super) known: Known,
    pub(super) users: HashSet<UserId>,
}

/// An organization after its line is applied.
pub(super) struct Brought {
    pub(super) line: u64,
    pub(super) organization: Organization,
}

/// Which ids a bundle brings, and for which organization. The organization is an index, so that a million ids stay
/// small.
#[derive(Default)]
pub(super) struct Known {
    organizations: Vec<OrganizationId>,
    index: HashMap<OrganizationId, u32>,
    by_type: HashMap<&'static str, HashMap<[u8; 16], u32>>,
}

impl Known {
    fn add<R: Resource>(&mut self, id: Id<R::Kind>, organization: OrganizationId) -> Result<(), Refusal> {
        let index = match self.index.entry(organization) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.organizations.push(organization);
                *entry.insert(u32::try_from(self.organizations.len() - 1).unwrap_or(u32::MAX))
            }
        };
        match self
            .by_type
            .entry(R::TYPE)
            .or_default()
            .insert(id.to_bytes(), index)
        {
            None => Ok(()),
            Some(_) => Err(given_twice(id)),
        }
    }

    pub(super) fn has<R: Resource>(&self, id: Id<R::Kind>, organization: OrganizationId) -> bool {
        let index = self.by_type.get(R::TYPE).and_then(|ids| ids.get(&id.to_bytes()));
        index.and_then(|index| self.organizations.get(*index as usize)) == Some(&organization)
    }
}

fn given_twice<K: Kind>(id: Id<K>) -> Refusal {
    Refusal::invalid("id", format!("{id} is given twice in this bundle"))
}

impl Plan {
    pub(super) fn is_new(&self, organization: OrganizationId) -> bool {
        !self.existing.contains_key(&organization)
    }

    /// Whether the database still has the organizations that the plan was made for.
    pub(super) fn is_current(&self, tx: &mut Tx<'_>) -> Result<bool, DbError> {
        let now = organizations::all(tx)?;
        let is_same = |organization: &Organization| self.existing.get(&organization.id) == Some(organization);
        Ok(now.len() == self.existing.len() && now.iter().all(is_same))
    }

    /// The organization after the import.
    pub(super) fn organization(&self, id: OrganizationId) -> Option<&Organization> {
        self.brought
            .get(&id)
            .map(|brought| &brought.organization)
            .or_else(|| self.existing.get(&id))
    }
}

pub(super) fn scan(
    whole: &mut Whole<'_, '_>,
    source: &Source<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Plan, ImportError> {
    let (now, tx) = (whole.now(), &mut *whole.tx);
    let existing = organizations::all(tx)?.into_iter().map(|o| (o.id, o)).collect();
    let mut scan = Scan {
        plan: Plan {
            existing,
            brought: BTreeMap::new(),
            touched: HashSet::new(),
            newest: HashMap::new(),
            known: Known::default(),
            users: HashSet::new(),
        },
        now,
        addresses: HashMap::new(),
        roles: HashSet::new(),
        policies: HashSet::new(),
    };
    each_line(source, 1, progress, &mut |number, line| {
        scan.line(tx, number, line).map_err(at_line(number))
    })?;
    Ok(scan.plan)
}

struct Scan {
    plan: Plan,
    now: Timestamp,
    addresses: HashMap<String, UserId>,
    roles: HashSet<(OrganizationId, UserId)>,
    policies: HashSet<OrganizationId>,
}

impl Scan {
    fn line(&mut self, tx: &mut Tx<'_>, number: u64, line: &str) -> Result<(), AppError> {
        let (record_type, fields) = open(line)?;
        match_resource!(record_type, RecordType: R => resource::<R>(self, tx, fields),
            RecordType::Organization => self.organization(number, fields),
            RecordType::User => self.user(tx, fields),
            RecordType::Role => self.role(fields),
            RecordType::Policy => self.policy(fields),
        )
    }

    fn organization(&mut self, line: u64, mut fields: Fields<'_>) -> Result<(), AppError> {
        let id: OrganizationId = fields.id("id")?.required()?;
        if self.plan.brought.contains_key(&id) {
            return Err(given_twice(id).into());
        }
        let before = self.plan.existing.get(&id);
        let mut organization = before.cloned().unwrap_or_else(|| Organization::blank(id));
        let mut fields = fields.new_record(before.is_none());
        organization.apply(&mut fields)?;
        fields.finish()?;
        if let Some(before) = before.filter(|before| before.currency != organization.currency) {
            let rule = format!(
                "cannot change: the organization's money is in {}",
                before.currency
            );
            return Err(Refusal::invalid("currency", rule).into());
        }
        self.plan.touched.insert(id);
        self.plan.brought.insert(id, Brought { line, organization });
        Ok(())
    }

    fn user(&mut self, tx: &mut Tx<'_>, fields: Fields<'_>) -> Result<(), AppError> {
        let (_, user) = read_user(tx, fields)?;
        if !self.plan.users.insert(user.id) {
            return Err(given_twice(user.id).into());
        }
        match self.addresses.insert(address_key(&user.email), user.id) {
            None => Ok(()),
            Some(other) => Err(Refusal::invalid(
                "email",
                format!("is the address of user {other} too; one user has one address"),
            )
            .into()),
        }
    }

    fn role(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (organization, user) = (
            fields.id("organizationId")?.required()?,
            fields.id("userId")?.required()?,
        );
        read_role(&mut fields)?;
        fields.finish()?;
        self.plan.touched.insert(organization);
        if self.roles.insert((organization, user)) {
            return Ok(());
        }
        Err(Refusal::invalid(
            "userId",
            format!("{user} has a role in {organization} on an earlier line"),
        )
        .into())
    }

    fn policy(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization: OrganizationId = fields.id("organizationId")?.required()?;
        apply_policy(&mut Policy::default(), &mut fields)?;
        fields.finish()?;
        self.plan.touched.insert(organization);
        if self.policies.insert(organization) {
            return Ok(());
        }
        Err(Refusal::invalid(
            "organizationId",
            format!("{organization} has a policy on an earlier line"),
        )
        .into())
    }
}

/// Returns the user in the database, and the user after the line is applied.
pub(super) fn read_user(tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(Option<User>, User), AppError> {
    let id: UserId = fields.id("id")?.required()?;
    let before = organizations::user(tx, id)?;
    let mut user = before.clone().unwrap_or_else(|| User {
        id,
        email: String::new(),
        name: None,
    });
    let mut fields = fields.new_record(before.is_none());
    user.apply(&mut fields)?;
    fields.finish()?;
    Ok((before, user))
}

fn resource<R: Stored>(scan: &mut Scan, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
    let header = Header::<R>::read(&mut fields, tx)?;
    let organization = header.organization;
    scan.plan.known.add::<R>(header.id, organization)?;
    scan.plan.touched.insert(organization);
    let is_new = scan.plan.is_new(organization);
    if is_new {
        header.check_stamps(scan.now)?;
        let newest = scan
            .plan
            .newest
            .entry(organization)
            .or_insert(Timestamp::from_micros(0));
        *newest = (*newest).max(header.updated_at.or(header.created_at).unwrap_or(*newest));
    }
    // Amounts need the organization's currency. If its line comes later, the second pass checks this one.
    if let Some(currency) = scan.plan.organization(organization).map(|o| o.currency) {
        let before = if is_new { None } else { header.before(tx)? };
        header.apply(fields, before.as_ref(), currency)?;
    }
    Ok(())
}
