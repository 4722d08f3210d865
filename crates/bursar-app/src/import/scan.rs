//! The first pass: checks every line alone, and remembers the ids that the bundle brings.

use std::collections::hash_map;
use std::collections::{BTreeMap, HashMap, HashSet};

use bursar_db::{DbError, Stored, Tx, organizations};
use bursar_domain::access::Policy;
use bursar_domain::account::{Account, AccountType, Standing};
use bursar_domain::attachment::{Attachment, Part};
use bursar_domain::creditor_reference;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{AccountId, AttachmentId, EntryId, Id, Kind, OrganizationId, UserId};
use bursar_domain::journal::Entry;
use bursar_domain::money::Currency;
use bursar_domain::organization::{Organization, User, address_key, apply_policy, read_role};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Receipt;
use bursar_domain::statement::LineIdentity;
use bursar_domain::text::CREDITOR_REFERENCE;
use bursar_domain::{Date, Refusal, Resource, Timestamp};

use super::lines::{Extent, each_line};
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
    pub(super) books: KnownBooks,
    pub(super) extent: Extent,
}

/// The account, day, amount, identity and number of a line.
pub(super) type FullIdentity = (AccountId, Date, i64, LineIdentity, i64);

/// What a bundle brings of the books.
#[derive(Default)]
pub(super) struct KnownBooks {
    pub(super) accounts: HashSet<(OrganizationId, AccountId)>,
    /// Their lines with the numbers of these. Others need the accounts, so they are written first.
    pub(super) account_lines: Vec<(u64, String)>,
    parts: HashSet<(AttachmentId, i64)>,
    /// What tells lines apart.
    pub(super) identities: HashSet<(OrganizationId, FullIdentity)>,
    /// Entries that account for a line of an account.
    pub(super) linked: HashSet<(OrganizationId, EntryId, AccountId)>,
    /// Payments, reimbursements and orders that entries of the bundle are about.
    pub(super) posted: Posted,
    /// The numbers of creditor references, and the largest for each organization.
    references: HashSet<(OrganizationId, i64)>,
    pub(super) last_reference: HashMap<OrganizationId, i64>,
    /// New members and payments without a reference: organization, type and id. Numbered in this order, whatever the
    /// order of the lines.
    unnumbered: Vec<(OrganizationId, bool, [u8; 16])>,
    /// The place of each in its organization, from 1.
    numbers: HashMap<(bool, [u8; 16]), i64>,
    pub(super) numbered: HashMap<OrganizationId, i64>,
}

/// Ids by type.
#[derive(Default)]
pub(super) struct Posted(HashMap<&'static str, HashSet<[u8; 16]>>);

impl Posted {
    fn add<K: Kind>(&mut self, id: Option<Id<K>>) {
        if let Some(id) = id {
            self.0.entry(K::PREFIX).or_default().insert(id.to_bytes());
        }
    }

    pub(super) fn has<K: Kind>(&self, id: Id<K>) -> bool {
        self.0
            .get(K::PREFIX)
            .is_some_and(|ids| ids.contains(&id.to_bytes()))
    }

    pub(super) fn has_any<K: Kind>(&self) -> bool {
        self.0.contains_key(K::PREFIX)
    }
}

impl KnownBooks {
    fn number(&mut self) {
        self.unnumbered.sort_unstable();
        for (organization, is_payment, id) in std::mem::take(&mut self.unnumbered) {
            let count = self.numbered.entry(organization).or_default();
            *count += 1;
            self.numbers.insert((is_payment, id), *count);
        }
    }

    /// The place of a new member or payment without a reference.
    pub(super) fn place<R: Resource>(&self, id: [u8; 16]) -> Option<i64> {
        self.numbers.get(&(R::TYPE == Payment::TYPE, id)).copied()
    }

    fn reference(&mut self, organization: OrganizationId, reference: &str) -> Result<(), Refusal> {
        let number = creditor_reference::given(reference)?;
        if !self.references.insert((organization, number)) {
            let rule = format!("{reference} is given twice in this bundle");
            return Err(Refusal::invalid("reference", rule));
        }
        let last = self.last_reference.entry(organization).or_default();
        *last = (*last).max(number);
        Ok(())
    }
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
    /// Ids of the books that the database has for another organization.
    elsewhere: HashSet<(&'static str, [u8; 16])>,
}

impl Known {
    pub(super) fn add<K: Kind>(&mut self, id: Id<K>, organization: OrganizationId) -> Result<(), Refusal> {
        let index = match self.index.entry(organization) {
            hash_map::Entry::Occupied(entry) => *entry.get(),
            hash_map::Entry::Vacant(entry) => {
                self.organizations.push(organization);
                *entry.insert(u32::try_from(self.organizations.len() - 1).unwrap_or(u32::MAX))
            }
        };
        match self
            .by_type
            .entry(K::PREFIX)
            .or_default()
            .insert(id.to_bytes(), index)
        {
            None => Ok(()),
            Some(_) => Err(given_twice(id)),
        }
    }

    fn owner<K: Kind>(&self, id: Id<K>) -> Option<OrganizationId> {
        let index = self.by_type.get(K::PREFIX)?.get(&id.to_bytes())?;
        self.organizations.get(*index as usize).copied()
    }

    pub(super) fn has<K: Kind>(&self, id: Id<K>, organization: OrganizationId) -> bool {
        self.owner(id) == Some(organization)
    }

    pub(super) fn has_any<K: Kind>(&self) -> bool {
        self.by_type.contains_key(K::PREFIX)
    }

    /// Takes note of an id in the database.
    pub(super) fn meet<K: Kind>(&mut self, id: Id<K>, owner: OrganizationId) {
        if self.owner(id).is_some_and(|brought| brought != owner) {
            self.elsewhere.insert((K::PREFIX, id.to_bytes()));
        }
    }

    pub(super) fn check_owner<K: Kind>(&self, id: Id<K>) -> Result<(), Refusal> {
        match self.elsewhere.contains(&(K::PREFIX, id.to_bytes())) {
            true => Err(Refusal::invalid(
                "id",
                format!("{id} belongs to another organization"),
            )),
            false => Ok(()),
        }
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
            books: KnownBooks::default(),
            extent: Extent::default(),
        },
        now,
        addresses: HashMap::new(),
        roles: HashSet::new(),
        policies: HashSet::new(),
    };
    scan.plan.extent = each_line(source, 1, progress, &mut |number, line| {
        scan.line(tx, number, line).map_err(at_line(number))
    })?;
    scan.plan.books.number();
    Ok(scan.plan)
}

pub(super) struct Scan {
    pub(super) plan: Plan,
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
            RecordType::Account => self.account((number, line), fields),
            RecordType::Entry => self.entry(fields),
            RecordType::Receipt => self.receipt(fields),
            RecordType::Attachment => self.attachment(fields),
            RecordType::AttachmentPart => self.attachment_part(fields),
            RecordType::Statement => self.statement(fields),
            RecordType::StatementLine => self.statement_line(fields),
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

    /// The currency, if the organization's line came before or it is in the database.
    pub(super) fn currency(&self, organization: OrganizationId) -> Option<Currency> {
        self.plan.organization(organization).map(|o| o.currency)
    }

    fn account(&mut self, (number, line): (u64, &str), mut fields: Fields<'_>) -> Result<(), AppError> {
        self.plan.books.account_lines.push((number, line.to_owned()));
        let (id, organization) = owned(&mut fields)?;
        self.plan.touched.insert(organization);
        if !self.plan.books.accounts.insert((organization, id)) {
            return Err(given_twice(id).into());
        }
        if let Some(currency) = self.currency(organization) {
            read_account(id, fields, None, currency)?;
        }
        Ok(())
    }

    fn entry(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        self.plan.touched.insert(organization);
        self.plan.known.add(id, organization)?;
        let mut fields = fields.new_record(true);
        let entry = Entry::read(id, &mut fields, self.currency(organization))?;
        fields.finish()?;
        for about in entry.postings.iter().map(|posting| posting.about) {
            let posted = &mut self.plan.books.posted;
            posted.add(about.payment);
            posted.add(about.reimbursement);
            posted.add(about.order);
        }
        Ok(())
    }

    fn receipt(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        self.plan.touched.insert(organization);
        self.plan.known.add(id, organization)?;
        if let Some(currency) = self.currency(organization) {
            let mut fields = fields.new_record(true);
            Receipt::read(id, &mut fields, currency)?;
            fields.finish()?;
        }
        Ok(())
    }

    fn attachment(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        self.plan.touched.insert(organization);
        self.plan.known.add(id, organization)?;
        let mut fields = fields.new_record(true);
        Attachment::read(id, &mut fields)?;
        fields.finish()?;
        Ok(())
    }

    fn attachment_part(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = fields.id("organizationId")?.required()?;
        self.plan.touched.insert(organization);
        let mut fields = fields.new_record(true);
        let part = Part::read(&mut fields)?;
        fields.finish()?;
        match self.plan.books.parts.insert((part.attachment, part.number)) {
            true => Ok(()),
            false => {
                let rule = format!("part {} of {} is given twice", part.number, part.attachment);
                Err(Refusal::invalid("number", rule).into())
            }
        }
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

/// The id and the organization of a line of the books.
pub(super) fn owned<K: Kind>(fields: &mut Fields<'_>) -> Result<(Id<K>, OrganizationId), Refusal> {
    Ok((
        fields.id("id")?.required()?,
        fields.id("organizationId")?.required()?,
    ))
}

pub(super) fn read_account(
    id: AccountId,
    fields: Fields<'_>,
    before: Option<&Account>,
    currency: Currency,
) -> Result<Account, Refusal> {
    let blank = || match Standing::of_id(id) {
        Some(standing) => Account::from(standing),
        None => Account {
            id,
            name: String::new(),
            account_type: AccountType::Expense,
            is_closed: false,
            budget: None,
            statement_columns: Vec::new(),
        },
    };
    let mut account = before.cloned().unwrap_or_else(blank);
    let mut fields = fields.new_record(before.is_none());
    account.apply(&mut fields, currency)?;
    fields.finish()?;
    Ok(account)
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
    scan.plan.known.add(header.id, organization)?;
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
    let before = if is_new { None } else { header.before(tx)? };
    if R::FIELDS.iter().any(|field| field.column == "reference") {
        let books = &mut scan.plan.books;
        match fields.text("reference", CREDITOR_REFERENCE)?.optional() {
            Some(reference) => books.reference(organization, &reference)?,
            None if before.is_none() => {
                let row = (organization, R::TYPE == Payment::TYPE, header.id.to_bytes());
                books.unnumbered.push(row);
            }
            None => {}
        }
    }
    // Amounts need the organization's currency. If its line comes later, the second pass checks this one.
    if let Some(currency) = scan.plan.organization(organization).map(|o| o.currency) {
        header.apply(fields, before.as_ref(), currency)?;
    }
    Ok(())
}
