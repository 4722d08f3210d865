//! Who is written to. The response of send-now, the worker and previews use the same rule.

use bursar_db::recipients::Candidate;
use bursar_db::{memberships, organizations, recipients};
use bursar_domain::email::e164;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::reminder::{Audience, Method, Reminder};

use crate::act::Act;
use crate::error::AppError;
use crate::organizations::is_near;

/// Candidates read at a time to see whether anybody qualifies.
const LOOK_MAX: i64 = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The bytes of the member's or organization's id.
    pub key: [u8; 16],
    pub name: String,
    /// An e-mail address or a telephone number.
    pub address: String,
    /// Only if the reminder says what is owed.
    pub owed: Vec<OwedLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedLine {
    pub description: String,
    pub due_date: Option<String>,
    pub amount: Money,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub key: [u8; 16],
    pub name: String,
    pub reason: &'static str,
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
    let (candidates, group) = match reminder.audience() {
        Audience::Nobody => return Ok(Recipients::default()),
        Audience::Organization(target) => {
            return organization_page(act, reminder, target, after);
        }
        Audience::Member(_) if after.is_some() => return Ok(Recipients::default()),
        Audience::Member(member) => match recipients::member(act.tx, act.organization, member)? {
            Some(candidate) => (vec![candidate], reminder.group_id),
            None => return Ok(nobody(member.to_bytes(), String::new(), "the member is archived")),
        },
        Audience::Group(group) => {
            let rows = i64::try_from(limit).unwrap_or(i64::MAX);
            (
                recipients::of_group(act.tx, act.organization, group, after, rows)?,
                Some(group),
            )
        }
    };
    let is_last = matches!(reminder.audience(), Audience::Member(_)) || candidates.len() < limit;
    let mut page = Recipients {
        next: candidates.last().filter(|_| !is_last).map(|c| c.id.to_bytes()),
        ..Recipients::default()
    };
    judge_members(act, reminder, group, candidates, &mut page)?;
    Ok(page)
}

/// One recipient of an earlier run as they are now, or why they no longer qualify.
pub(crate) fn again<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    key: [u8; 16],
) -> Result<Result<Recipient, &'static str>, AppError> {
    let now = match reminder.audience() {
        Audience::Group(group) => {
            let member = MemberId::from_bytes(key);
            let Some(candidate) = recipients::member(act.tx, act.organization, member)? else {
                return Ok(Err("the member is archived"));
            };
            if memberships::joined_at(act.tx, act.organization, group, member)?.is_none() {
                return Ok(Err("the member has left the group"));
            }
            let mut now = Recipients::default();
            judge_members(act, reminder, Some(group), vec![candidate], &mut now)?;
            now
        }
        Audience::Member(_) | Audience::Organization(_) | Audience::Nobody => page(act, reminder, None, 1)?,
    };
    if let Some(recipient) = now.qualify.into_iter().find(|recipient| recipient.key == key) {
        return Ok(Ok(recipient));
    }
    let reason = now.skipped.iter().find(|skipped| skipped.key == key);
    Ok(Err(reason
        .map_or("the reminder is for somebody else now", |skipped| {
            skipped.reason
        })))
}

fn judge_members<M>(
    act: &mut Act<'_, '_, M>,
    reminder: &Reminder,
    group: Option<GroupId>,
    candidates: Vec<Candidate>,
    page: &mut Recipients,
) -> Result<(), AppError> {
    let own = act.own()?;
    for candidate in candidates {
        let owed = match reminder.include_payment_info {
            true => lines(
                recipients::owed_by_member(act.tx, act.organization, candidate.id, group)?,
                own.currency,
            ),
            false => Vec::new(),
        };
        let contact = (candidate.email.as_deref(), candidate.phone.as_deref());
        page.judge(reminder, candidate.id.to_bytes(), candidate.name, contact, owed);
    }
    Ok(())
}

impl Recipients {
    fn judge(
        &mut self,
        reminder: &Reminder,
        key: [u8; 16],
        name: String,
        contact: (Option<&str>, Option<&str>),
        owed: Vec<OwedLine>,
    ) {
        match address(reminder.method, contact.0, contact.1) {
            None => self.skipped.push(Skipped {
                key,
                name,
                reason: no_address(reminder.method),
            }),
            Some(_) if reminder.include_payment_info && owed.is_empty() => {
                self.skipped.push(Skipped {
                    key,
                    name,
                    reason: "nothing is owed",
                });
            }
            Some(address) => self.qualify.push(Recipient {
                key,
                name,
                address,
                owed,
            }),
        }
    }
}

fn nobody(key: [u8; 16], name: String, reason: &'static str) -> Recipients {
    Recipients {
        skipped: vec![Skipped { key, name, reason }],
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
        let has_address =
            |c: &Candidate| address(reminder.method, c.email.as_deref(), c.phone.as_deref()).is_some();
        if found.iter().any(has_address) {
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
        true => lines(
            recipients::owed_by_organization(act.tx, own.id, target.id)?,
            own.currency,
        ),
        false => Vec::new(),
    };
    let mut page = Recipients::default();
    let contact = (target.contact_email.as_deref(), target.contact_phone.as_deref());
    page.judge(reminder, target.id.to_bytes(), target.name.clone(), contact, owed);
    Ok(page)
}

fn address(method: Method, email: Option<&str>, phone: Option<&str>) -> Option<String> {
    match method {
        Method::Email => email.filter(|email| !email.is_empty()).map(str::to_owned),
        Method::Sms => phone.and_then(e164),
    }
}

fn lines(owed: Vec<recipients::Owed>, currency: Currency) -> Vec<OwedLine> {
    let line = |(description, due_date, minor)| OwedLine {
        description,
        due_date,
        amount: Money::new(minor, currency),
    };
    owed.into_iter().map(line).collect()
}
