//! Who is written to: one rule for the answer of send-now, for the worker and for previews.

use bursar_db::{Tx, organizations, recipients};
use bursar_domain::email::e164;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::{Currency, Money};
use bursar_domain::reminder::{Audience, Method, Reminder};

use crate::act::no_organization;
use crate::error::AppError;

/// Somebody who qualifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The bytes of the member's or organization's id.
    pub key: [u8; 16],
    /// The name.
    pub name: String,
    /// The e-mail address or telephone number.
    pub address: String,
    /// What is owed, line by line, when the reminder says so.
    pub owed: Vec<OwedLine>,
}

/// One payment that is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedLine {
    /// What for.
    pub description: String,
    /// When it is or was due.
    pub due_date: Option<String>,
    /// How much.
    pub amount: Money,
}

/// A page of recipients.
#[derive(Debug, Default)]
pub struct Recipients {
    /// Those who qualify, by key.
    pub qualify: Vec<Recipient>,
    /// Where the next page begins, when there may be more.
    pub next: Option<[u8; 16]>,
}

/// Looks at up to `limit` candidates after `after`: an archived one, one without an address for the method, and
/// one who owes nothing where the reminder tells what is owed do not qualify.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reminder: &Reminder,
    after: Option<[u8; 16]>,
    limit: usize,
) -> Result<Recipients, AppError> {
    let own = organizations::get(tx, organization)?.ok_or_else(|| no_organization(organization))?;
    let (candidates, group) = match reminder.audience() {
        Audience::Nobody => return Ok(Recipients::default()),
        Audience::Organization(target) => return organization_page(tx, &own, reminder, target, after),
        Audience::Member(_) if after.is_some() => return Ok(Recipients::default()),
        Audience::Member(member) => (recipients::member(tx, organization, member)?.into_iter().collect(), reminder.group_id),
        Audience::Group(group) => {
            let rows = i64::try_from(limit).unwrap_or(i64::MAX);
            (recipients::of_group(tx, organization, group, after, rows)?, Some(group))
        }
    };
    let is_last = matches!(reminder.audience(), Audience::Member(_)) || candidates.len() < limit;
    let next = candidates.last().filter(|_| !is_last).map(|candidate| candidate.id.to_bytes());
    let mut qualify = Vec::new();
    for candidate in candidates {
        let Some(address) = address(reminder.method, Some(&candidate.email), candidate.phone.as_deref()) else { continue };
        let owed = match reminder.include_payment_info {
            true => lines(recipients::owed_by_member(tx, organization, candidate.id, group)?, own.currency),
            false => Vec::new(),
        };
        if !reminder.include_payment_info || !owed.is_empty() {
            qualify.push(Recipient { key: candidate.id.to_bytes(), name: candidate.name, address, owed });
        }
    }
    Ok(Recipients { qualify, next })
}

/// Whether anybody qualifies; it looks no further than the first.
pub fn somebody_qualifies(tx: &mut Tx<'_>, organization: OrganizationId, reminder: &Reminder) -> Result<bool, AppError> {
    let mut after = None;
    loop {
        let found = page(tx, organization, reminder, after, 200)?;
        if !found.qualify.is_empty() {
            return Ok(true);
        }
        match found.next {
            Some(next) => after = Some(next),
            None => return Ok(false),
        }
    }
}

/// The contact of an organization: itself, its parent or a direct child; no other may be written to.
fn organization_page(
    tx: &mut Tx<'_>,
    own: &bursar_domain::organization::Organization,
    reminder: &Reminder,
    target: OrganizationId,
    after: Option<[u8; 16]>,
) -> Result<Recipients, AppError> {
    let Some(target) = organizations::get(tx, target)?.filter(|_| after.is_none()) else { return Ok(Recipients::default()) };
    let is_near = target.id == own.id || own.parent_id == Some(target.id) || target.parent_id == Some(own.id);
    let address = address(reminder.method, target.contact_email.as_deref(), target.contact_phone.as_deref());
    let Some(address) = address.filter(|_| is_near) else { return Ok(Recipients::default()) };
    let owed = match reminder.include_payment_info {
        true => lines(recipients::owed_by_organization(tx, own.id, target.id)?, own.currency),
        false => Vec::new(),
    };
    if reminder.include_payment_info && owed.is_empty() {
        return Ok(Recipients::default());
    }
    let recipient = Recipient { key: target.id.to_bytes(), name: target.name, address, owed };
    Ok(Recipients { qualify: vec![recipient], next: None })
}

fn address(method: Method, email: Option<&str>, phone: Option<&str>) -> Option<String> {
    match method {
        Method::Email => email.filter(|email| !email.is_empty()).map(str::to_owned),
        Method::Sms => phone.and_then(e164),
    }
}

fn lines(owed: Vec<recipients::Owed>, currency: Currency) -> Vec<OwedLine> {
    let line = |(description, due_date, minor)| OwedLine { description, due_date, amount: Money::new(minor, currency) };
    owed.into_iter().map(line).collect()
}
