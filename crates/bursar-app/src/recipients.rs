//! Who is written to. The response of send-now, the worker and previews use the same rule.
//!
//! A member with a payer is not written to: the payer is, once for all members that the payer pays for.

use std::borrow::Cow;
use std::collections::HashMap;

use bursar_db::recipients::Candidate;
use bursar_db::{memberships, organizations, recipients};
use bursar_domain::Date;
use bursar_domain::email::e164;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::reminder::{Audience, Method, Reminder};

use crate::act::Act;
use crate::error::AppError;
use crate::member_access::Links;
use crate::organizations::is_near;

/// Candidates read at a time to see whether anybody qualifies.
const LOOK_MAX: i64 = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The bytes of the member's or organization's id.
    pub key: [u8; 16],
    pub name: String,
    /// The organization's name, if it is no member.
    pub first_name: String,
    pub last_name: String,
    /// An e-mail address or a telephone number.
    pub address: String,
    /// The member's own, for standing orders and several charges at once.
    pub reference: Option<String>,
    /// Whom the message is about besides the reader.
    pub others: Vec<Other>,
    /// Whether the message is about the reader too.
    pub is_concerned: bool,
    /// Only if the reminder says what is owed.
    pub owed: Vec<OwedLine>,
}

impl Recipient {
    /// To the reader's own page. An organization has none.
    pub(crate) fn link(&self, reminder: &Reminder, links: Option<&Links>) -> Option<String> {
        match reminder.audience() {
            Audience::Member(_) | Audience::Group(_) => Some(links?.to(MemberId::from_bytes(self.key))),
            Audience::Organization(_) | Audience::Nobody => None,
        }
    }
}

/// A member whom the reader pays for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub id: MemberId,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedLine {
    pub description: String,
    pub due_date: Option<Date>,
    pub amount: Money,
    pub reference: Option<String>,
    /// Whose charge it is, if not the reader's.
    pub member: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub key: [u8; 16],
    pub name: String,
    pub reason: Cow<'static, str>,
}

#[derive(Debug, Default)]
pub struct Recipients {
    pub qualify: Vec<Recipient>,
    pub skipped: Vec<Skipped>,
    /// Where the next page begins, if there may be more.
    pub next: Option<[u8; 16]>,
}

/// Looks at up to `limit` candidates. Those who are archived do not qualify, nor those without an address for the
/// method, nor those who owe nothing when the reminder says what is owed.
pub(crate) fn page<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    after: Option<[u8; 16]>,
    limit: usize,
) -> Result<Recipients, AppError> {
    let mut page = Recipients::default();
    let currency = act.own()?.currency;
    match reminder.audience() {
        Audience::Nobody => {}
        Audience::Organization(target) => return organization_page(act, reminder, target, after),
        Audience::Member(_) if after.is_some() => {}
        Audience::Member(member) => match recipients::member(act.tx, act.organization, member)? {
            Some(candidate) => {
                let household = of_member(act, reminder, candidate)?;
                judge(act, reminder, currency, household, &mut page)?;
            }
            None => return Ok(nobody(member.to_bytes(), String::new(), "the member is archived")),
        },
        Audience::Group(group) => {
            let rows = i64::try_from(limit).unwrap_or(i64::MAX);
            let candidates = recipients::of_group(act.tx, act.organization, group, after, rows)?;
            let last = candidates.last().filter(|_| candidates.len() >= limit);
            page.next = last.map(|candidate| candidate.id.to_bytes());
            for household in of_group(act, group, candidates)? {
                judge(act, reminder, currency, household, &mut page)?;
            }
        }
    }
    Ok(page)
}

/// One recipient of an earlier run as they are now, or why they no longer qualify.
pub(crate) fn again<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    key: [u8; 16],
) -> Result<Result<Recipient, Cow<'static, str>>, AppError> {
    let currency = act.own()?.currency;
    let now = match reminder.audience() {
        Audience::Group(group) => {
            let member = MemberId::from_bytes(key);
            let Some(candidate) = recipients::member(act.tx, act.organization, member)? else {
                return Ok(Err("the member is archived".into()));
            };
            let household = in_group(act, group, candidate)?;
            if household.members.is_empty() {
                return Ok(Err("the member has left the group".into()));
            }
            let mut now = Recipients::default();
            judge(act, reminder, currency, household, &mut now)?;
            now
        }
        Audience::Member(_) | Audience::Organization(_) | Audience::Nobody => page(act, reminder, None, 1)?,
    };
    if let Some(recipient) = now.qualify.into_iter().find(|recipient| recipient.key == key) {
        return Ok(Ok(recipient));
    }
    let reason = now.skipped.into_iter().next();
    Ok(Err(reason.map_or(
        "the reminder is for somebody else now".into(),
        |skipped| skipped.reason,
    )))
}

/// Who is written to, and the members whom it is about.
struct Household {
    reader: Candidate,
    members: Vec<Candidate>,
}

/// The households of a page of a group's members, each at its first member in the group.
fn of_group<M>(
    act: &mut Act<'_, '_, M>,
    group: GroupId,
    candidates: Vec<Candidate>,
) -> Result<Vec<Household>, AppError> {
    let payers = payers_of(act, &candidates)?;
    let readers: Vec<MemberId> = candidates
        .iter()
        .map(|candidate| reader(candidate, &payers).id)
        .collect();
    let paying = recipients::paid_for_by(act.tx, act.organization, &readers)?;
    let mut households = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let reader = reader(&candidate, &payers).clone();
        if paying
            .binary_search_by_key(&reader.id, |(payer, _)| *payer)
            .is_err()
        {
            households.push(Household {
                reader,
                members: vec![candidate],
            });
            continue;
        }
        let household = in_group(act, group, reader)?;
        if household
            .members
            .first()
            .is_some_and(|first| first.id == candidate.id)
        {
            households.push(household);
        }
    }
    Ok(households)
}

/// The active members of a group for whom a reader is written to, by id.
fn in_group<M>(act: &mut Act<'_, '_, M>, group: GroupId, reader: Candidate) -> Result<Household, AppError> {
    let mut household = whole(act, reader)?;
    let mut kept = Vec::with_capacity(household.members.len());
    for member in household.members {
        if memberships::joined_at(act.tx, act.organization, group, member.id)?.is_some() {
            kept.push(member);
        }
    }
    household.members = kept;
    Ok(household)
}

/// A reader with all active members who are written to through them, by id.
fn whole<M>(act: &mut Act<'_, '_, M>, reader: Candidate) -> Result<Household, AppError> {
    let paid_for = recipients::paid_for_by(act.tx, act.organization, &[reader.id])?;
    let ids: Vec<MemberId> = paid_for.into_iter().map(|(_, member)| member).collect();
    let mut members = recipients::active(act.tx, act.organization, &ids)?;
    if payers_of(act, std::slice::from_ref(&reader))?.is_empty() {
        members.push(reader.clone());
        members.sort_unstable_by_key(|member| member.id);
    }
    Ok(Household { reader, members })
}

/// A reminder to a member who pays for others, and says what is owed, is about all of them.
fn of_member<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    candidate: Candidate,
) -> Result<Household, AppError> {
    let payers = payers_of(act, std::slice::from_ref(&candidate))?;
    match payers.into_values().next() {
        Some(payer) => Ok(Household {
            reader: payer,
            members: vec![candidate],
        }),
        None if reminder.include_payment_info => whole(act, candidate),
        None => Ok(Household {
            reader: candidate.clone(),
            members: vec![candidate],
        }),
    }
}

/// Active payers by id. A member whose payer is archived is written to directly.
fn payers_of<M>(
    act: &mut Act<'_, '_, M>,
    candidates: &[Candidate],
) -> Result<HashMap<MemberId, Candidate>, AppError> {
    let mut ids: Vec<MemberId> = candidates
        .iter()
        .filter_map(|candidate| candidate.payer_id)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let active = recipients::active(act.tx, act.organization, &ids)?;
    Ok(active.into_iter().map(|payer| (payer.id, payer)).collect())
}

fn reader<'a>(candidate: &'a Candidate, payers: &'a HashMap<MemberId, Candidate>) -> &'a Candidate {
    let payer = candidate.payer_id.and_then(|id| payers.get(&id));
    payer.unwrap_or(candidate)
}

fn judge<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    currency: Currency,
    household: Household,
    page: &mut Recipients,
) -> Result<(), AppError> {
    let Household { reader, members } = household;
    let mut owed = Vec::new();
    if reminder.include_payment_info {
        for member in &members {
            let open = recipients::owed_by_member(act.tx, act.organization, member.id, reminder.group_id)?;
            let whose = (member.id != reader.id).then(|| member.name());
            owed.extend(lines(open, currency, whose.as_deref()));
        }
    }
    let is_other = |member: &&Candidate| member.id != reader.id;
    let address = address(reminder.method, reader.email.as_deref(), reader.phone.as_deref());
    if let Some(address) = address.filter(|_| !reminder.include_payment_info || !owed.is_empty()) {
        let other = |member: &Candidate| Other {
            id: member.id,
            name: member.name(),
        };
        page.qualify.push(Recipient {
            key: reader.id.to_bytes(),
            name: reader.name(),
            address,
            others: members.iter().filter(is_other).map(other).collect(),
            is_concerned: members.iter().any(|member| member.id == reader.id),
            first_name: reader.first_name,
            last_name: reader.last_name,
            reference: reader.reference,
            owed,
        });
        return Ok(());
    }
    let is_debt_free = reminder.include_payment_info && owed.is_empty();
    for member in &members {
        let reason = match (is_debt_free, member.id == reader.id) {
            (true, _) => "nothing is owed".into(),
            (false, true) => no_address(reminder.method).into(),
            (false, false) => format!("{} pays, and {}", reader.name(), no_address(reminder.method)).into(),
        };
        page.skipped.push(Skipped {
            key: member.id.to_bytes(),
            name: member.name(),
            reason,
        });
    }
    Ok(())
}

fn nobody(key: [u8; 16], name: String, reason: &'static str) -> Recipients {
    Recipients {
        skipped: vec![Skipped {
            key,
            name,
            reason: reason.into(),
        }],
        ..Recipients::default()
    }
}

fn no_address(method: Method) -> &'static str {
    match method {
        Method::Email => "there is no e-mail address",
        Method::Sms => "there is no telephone number with a country code",
    }
}

/// Stops at the first who does.
pub(crate) fn somebody_qualifies<M>(act: &mut Act<'_, '_, M>, reminder: &Reminder) -> Result<bool, AppError> {
    let Audience::Group(group) = reminder.audience() else {
        return Ok(!page(act, reminder, None, 1)?.qualify.is_empty());
    };
    // The database leaves out those who cannot qualify, so that a large group of them is quick.
    let wanted = (reminder.method == Method::Sms, reminder.include_payment_info);
    let mut after = None;
    loop {
        let found = recipients::likely_of_group(act.tx, act.organization, group, wanted, after, LOOK_MAX)?;
        let payers = payers_of(act, &found)?;
        let has_address =
            |c: &Candidate| address(reminder.method, c.email.as_deref(), c.phone.as_deref()).is_some();
        if found
            .iter()
            .any(|candidate| has_address(reader(candidate, &payers)))
        {
            return Ok(true);
        }
        match found.last() {
            Some(last) if i64::try_from(found.len()) == Ok(LOOK_MAX) => after = Some(last.id.to_bytes()),
            Some(_) | None => return Ok(false),
        }
    }
}

/// Only the organization itself, its parent and its direct children may be written to.
fn organization_page<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    target: OrganizationId,
    after: Option<[u8; 16]>,
) -> Result<Recipients, AppError> {
    let own = act.own()?;
    let Some(target) = organizations::get(act.tx, target)?.filter(|_| after.is_none()) else {
        return Ok(Recipients::default());
    };
    if !is_near(&own, &target) {
        return Ok(nobody(
            target.id.to_bytes(),
            target.name,
            "only the organization itself, its parent and its direct children are written to",
        ));
    }
    let owed = match reminder.include_payment_info {
        true => {
            let open = recipients::owed_by_organization(act.tx, own.id, target.id)?;
            lines(open, own.currency, None)
        }
        false => Vec::new(),
    };
    let (key, name) = (target.id.to_bytes(), target.name);
    let (email, phone) = (target.contact_email.as_deref(), target.contact_phone.as_deref());
    let Some(address) = address(reminder.method, email, phone) else {
        return Ok(nobody(key, name, no_address(reminder.method)));
    };
    if reminder.include_payment_info && owed.is_empty() {
        return Ok(nobody(key, name, "nothing is owed"));
    }
    let qualify = Recipient {
        key,
        first_name: name.clone(),
        last_name: String::new(),
        name,
        address,
        reference: None,
        others: Vec::new(),
        is_concerned: true,
        owed,
    };
    Ok(Recipients {
        qualify: vec![qualify],
        ..Recipients::default()
    })
}

fn address(method: Method, email: Option<&str>, phone: Option<&str>) -> Option<String> {
    match method {
        Method::Email => email.filter(|email| !email.is_empty()).map(str::to_owned),
        Method::Sms => phone.and_then(e164),
    }
}

fn lines(owed: Vec<recipients::Owed>, currency: Currency, whose: Option<&str>) -> Vec<OwedLine> {
    let line = |owed: recipients::Owed| OwedLine {
        description: owed.description,
        due_date: owed.due_date,
        amount: Money::new(owed.open, currency),
        reference: owed.reference,
        member: whose.map(str::to_owned),
    };
    owed.into_iter().map(line).collect()
}
