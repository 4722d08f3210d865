//! Finds what a person means by a name: an organization, a member, a group, a campaign, a listing. Case is ignored.
//! A name is refused if several match or none does, and the refusal lists those that may be meant.
//!
//! A further kind needs a shelf in `bursar_db::names` and an `impl Called` here.

pub(crate) mod text;

use std::collections::HashMap;
use std::ops::ControlFlow;

use bursar_db::names::{self, Named, Shelf};
use bursar_db::{open_charges, organizations, table};
use bursar_domain::account::Account;
use bursar_domain::campaign::Campaign;
use bursar_domain::creditor_reference;
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, Kind, MemberId, OrganizationId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::organization::Organization;
use bursar_domain::{Date, Reference, Refusal};

use crate::act::{View, Whole};
use crate::caller::Caller;
use crate::error::AppError;
use crate::organizations::{LIST, is_near};
use crate::resources::Readable;
use crate::rule::Rule;

/// Matches listed in a refusal.
const LISTED_MAX: usize = 20;
/// Nearest names listed in a refusal.
const NEAR_MAX: usize = 5;
/// Rows among which the nearest are looked for.
const NEAR_ROWS: i64 = 50;

/// A kind that people call by name.
pub trait Called: Kind + Sized {
    /// Who may read it may look for it.
    const READ: Rule;
    /// Continues "give".
    const WAY_OUT: &'static str;
    fn shelf() -> &'static Shelf;

    /// What has this creditor reference.
    fn referred(view: &mut View<'_, '_>, reference: &str) -> Result<Option<Id<Self>>, AppError> {
        let _ = (view, reference);
        Ok(None)
    }

    /// What tells it from others with the same name.
    fn describe(view: &mut View<'_, '_>, found: &Named) -> Result<String, AppError> {
        let _ = view;
        Ok(format!("{} {}", found.name, found.id::<Self>()))
    }
}

macro_rules! called {
    ($($kind:ident $resource:ty, $shelf:ident;)*) => {
        $(impl Called for kind::$kind {
            const READ: Rule = <$resource as Readable>::READ;
            const WAY_OUT: &'static str = "the id";

            fn shelf() -> &'static Shelf {
                &names::$shelf
            }
        })*
    };
}

called! {
    Group Group, GROUPS;
    Campaign Campaign, CAMPAIGNS;
    Listing Listing, LISTINGS;
}

impl Called for kind::Member {
    const READ: Rule = <Member as Readable>::READ;
    const WAY_OUT: &'static str = "the e-mail address, the reference or the id";

    fn shelf() -> &'static Shelf {
        &names::MEMBERS
    }

    fn referred(view: &mut View<'_, '_>, reference: &str) -> Result<Option<MemberId>, AppError> {
        Ok(open_charges::by_reference(view.tx, view.organization, reference)?.1)
    }

    fn describe(view: &mut View<'_, '_>, found: &Named) -> Result<String, AppError> {
        let id: MemberId = found.id();
        let member: Option<Member> = table::get(view.tx, view.organization, id)?;
        let groups = member.as_ref().map(|m| m.groups.clone()).unwrap_or_default();
        let names = of(view, &groups)?;
        let mut words: Vec<String> = vec![match found.address.as_str() {
            "" => found.name.clone(),
            address => format!("{} <{address}>", found.name),
        }];
        let in_groups: Vec<&str> = groups.iter().filter_map(|id| names.get(*id)).collect();
        words.push(match in_groups.is_empty() {
            true => "no group".to_owned(),
            false => in_groups.join(" and "),
        });
        if member.is_some_and(|member| !member.is_active) {
            words.push("archived".to_owned());
        }
        words.push(id.to_string());
        Ok(words.join(", "))
    }
}

/// The one thing with this name, or for a member with this e-mail address or reference.
pub fn find<K: Called>(view: &mut View<'_, '_>, text: &str) -> Result<Id<K>, AppError> {
    view.allow(&K::READ)?;
    if let Some(id) = Id::parse(text.trim()) {
        return Ok(id);
    }
    if let Some(reference) = creditor_reference::parse(text)
        && let Some(id) = K::referred(view, &reference)?
    {
        return Ok(id);
    }
    let (matching, more) = matching::<K>(view, text)?;
    match matching.as_slice() {
        [one] => Ok(one.id()),
        [] => {
            let near = nearest::<K>(view, text)?;
            let near = near.iter().map(|row| K::describe(view, row));
            let near = near.collect::<Result<Vec<_>, _>>()?;
            Err(nothing(K::NOUN, text, &near).into())
        }
        several => {
            let told = several.iter().map(|row| K::describe(view, row));
            let told = told.collect::<Result<Vec<_>, _>>()?;
            Err(ambiguous(K::NOUN, K::WAY_OUT, text, &told, more).into())
        }
    }
}

/// A member who may be meant by a name, with what tells them from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub id: MemberId,
    pub name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub joined: Option<Date>,
    /// The names of their groups.
    pub groups: Vec<String>,
    pub is_active: bool,
}

/// Whom a text means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    One(MemberId),
    /// Some of those with this name, and how many more there are.
    Several(Vec<Candidate>, usize),
    /// Nobody, but these are called like it.
    Nobody(Vec<Candidate>),
}

/// Like [`find`] for a member, for callers who let people choose.
pub fn member(view: &mut View<'_, '_>, text: &str) -> Result<Meant, AppError> {
    view.allow(&Member::READ)?;
    if let Some(id) = Id::parse(text.trim()) {
        return Ok(match view.get::<Member>(id)? {
            Some(member) => Meant::One(member.id),
            None => Meant::Nobody(Vec::new()),
        });
    }
    if let Some(reference) = creditor_reference::parse(text)
        && let Some(id) = kind::Member::referred(view, &reference)?
    {
        return Ok(Meant::One(id));
    }
    let (matching, more) = matching::<kind::Member>(view, text)?;
    match matching.as_slice() {
        [one] => Ok(Meant::One(one.id())),
        [] => {
            let near = nearest::<kind::Member>(view, text)?;
            Ok(Meant::Nobody(candidates(view, &near)?))
        }
        several => Ok(Meant::Several(candidates(view, several)?, more)),
    }
}

fn candidates(view: &mut View<'_, '_>, rows: &[Named]) -> Result<Vec<Candidate>, AppError> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let member: Member = view.find(row.id())?;
        let names = of(view, &member.groups)?;
        let groups = member.groups.iter().filter_map(|id| names.get(*id));
        found.push(Candidate {
            id: member.id,
            name: member.name(),
            groups: groups.map(str::to_owned).collect(),
            is_active: member.is_active,
            joined: member.join_date,
            email: member.email,
            phone: member.phone,
        });
    }
    Ok(found)
}

/// Those with this name, and how many more there are.
fn matching<K: Called>(view: &mut View<'_, '_>, text: &str) -> Result<(Vec<Named>, usize), AppError> {
    let mut matching: Vec<Named> = Vec::new();
    let (mut more, organization) = (0_usize, view.organization);
    names::called(view.tx, K::shelf(), organization, &text::pattern(text), |row| {
        if text::is_meant(text, &row) {
            match matching.len() < LISTED_MAX {
                true => matching.push(row),
                false => more += 1,
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok((matching, more))
}

fn nearest<K: Called>(view: &mut View<'_, '_>, text: &str) -> Result<Vec<Named>, AppError> {
    let pieces = text::pieces(text);
    let rows = match pieces.is_empty() {
        true => Vec::new(),
        false => names::near(view.tx, K::shelf(), view.organization, &pieces, NEAR_ROWS)?,
    };
    Ok(text::nearest(text, rows, NEAR_MAX))
}

fn nothing(noun: &str, text: &str, near: &[String]) -> Refusal {
    let said = format!("there is no {noun} {:?}", text.trim());
    Refusal::missing(match near {
        [] => format!("{said}; `bursar {} list` lists them", command(noun)),
        [one] => format!("{said}; did you mean {one}?"),
        several => format!("{said}; the nearest are {}", several.join("; ")),
    })
}

/// For a name of an account that there is none of, with the nearest of all of them.
pub(crate) fn no_account(field: &'static str, text: &str, all: Vec<Account>) -> Refusal {
    let rows = all.into_iter().map(|account| Named {
        id: account.id.to_bytes(),
        name: account.name,
        address: String::new(),
        phone: String::new(),
    });
    let near = text::nearest(text, rows.collect(), NEAR_MAX);
    let near: Vec<String> = near.into_iter().map(|row| row.name).collect();
    let message = nothing("account", text, &near).message().to_owned();
    // A form shows it where the account was given.
    let field = Some(field);
    Refusal::Missing { field, message }
}

fn ambiguous(noun: &'static str, way_out: &str, text: &str, told: &[String], more: usize) -> Refusal {
    let more = match more {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let listed = told.join("; ");
    let rule = format!(
        "{:?} is the name of several: {listed}{more}. Give {way_out}",
        text.trim()
    );
    Refusal::invalid(noun, rule)
}

/// `store listing` is the noun of `bursar listing`.
fn command(noun: &str) -> &str {
    noun.rsplit(' ').next().unwrap_or(noun)
}

/// Names by id, for what is shown to people.
#[derive(Clone, Debug, Default)]
pub struct Names(HashMap<(&'static str, u128), String>);

impl Names {
    /// Ids of two kinds can have the same bits.
    fn key<K: Kind>(id: Id<K>) -> (&'static str, u128) {
        (K::PREFIX, id.bits())
    }

    pub fn get<K: Kind>(&self, id: Id<K>) -> Option<&str> {
        self.0.get(&Self::key(id)).map(String::as_str)
    }

    /// The name; the id of what has none, a dash for nothing.
    pub fn told<K: Kind>(&self, id: Option<Id<K>>) -> String {
        let name = |id: Id<K>| self.get(id).map_or_else(|| id.to_string(), str::to_owned);
        id.map_or_else(|| "-".to_owned(), name)
    }
}

/// The names of these ids. Ids that are not there are left out.
pub fn of<K: Called>(view: &mut View<'_, '_>, ids: &[Id<K>]) -> Result<Names, AppError> {
    view.allow(&K::READ)?;
    let mut keys: Vec<[u8; 16]> = ids.iter().map(|id| id.to_bytes()).collect();
    keys.sort_unstable();
    keys.dedup();
    let rows = names::of(view.tx, K::shelf(), view.organization, &keys)?;
    let named = |row: Named| (Names::key(row.id::<K>()), row.name);
    Ok(Names(rows.into_iter().map(named).collect()))
}

/// The names of organizations that the organization deals with.
pub fn of_organizations(view: &mut View<'_, '_>, ids: &[OrganizationId]) -> Result<Names, AppError> {
    view.allow(&LIST)?;
    let mut found = HashMap::new();
    for id in ids {
        if !found.contains_key(&Names::key(*id))
            && let Some(organization) = organizations::get(view.tx, *id)?
        {
            found.insert(Names::key(*id), organization.name);
        }
    }
    Ok(Names(found))
}

/// The names of everything that these resources refer to.
pub fn of_references<R: Readable>(view: &mut View<'_, '_>, resources: &[R]) -> Result<Names, AppError> {
    view.allow(&R::READ)?;
    let (mut members, mut groups) = (Vec::new(), Vec::new());
    let (mut listings, mut organizations) = (Vec::new(), Vec::new());
    for resource in resources {
        resource.references(&mut |reference| match reference {
            Reference::Member(_, id) => members.push(id),
            Reference::Group(_, id) => groups.push(id),
            Reference::Listing(_, id) => listings.push(id),
            Reference::Organization(_, id) => organizations.push(id),
            // A payment has no name, and an account of the books is shown by them.
            Reference::Payment(..) | Reference::Account(..) => {}
        });
    }
    let mut names = Names::default();
    // Who reads these need not be allowed to read what none of them refers to.
    if !members.is_empty() {
        names.0.extend(of(view, &members)?.0);
    }
    if !groups.is_empty() {
        names.0.extend(of(view, &groups)?.0);
    }
    if !listings.is_empty() {
        names.0.extend(of(view, &listings)?.0);
    }
    if !organizations.is_empty() {
        names.0.extend(of_organizations(view, &organizations)?.0);
    }
    Ok(names)
}

type May = fn(&mut Whole<'_, '_>, OrganizationId) -> Result<bool, AppError>;

/// Every organization for the operator; for a person, those where they have a role.
fn visible(
    whole: &mut Whole<'_, '_>,
    pattern: Option<&str>,
    may: May,
) -> Result<Vec<Organization>, AppError> {
    let candidates = match (&whole.caller, pattern) {
        (Caller::Person(user, ..), _) => {
            let places = organizations::places(whole.tx, *user)?;
            places.into_iter().map(|(organization, _)| organization).collect()
        }
        (_, Some(pattern)) => names::organizations(whole.tx, pattern)?,
        (_, None) => names::first_organizations(whole.tx, NEAR_ROWS)?,
    };
    let mut seen = Vec::new();
    for organization in candidates {
        if may(whole, organization.id)? {
            seen.push(organization);
        }
    }
    Ok(seen)
}

/// The one organization with this name among those that the caller may see.
pub fn organization(whole: &mut Whole<'_, '_>, text: &str) -> Result<OrganizationId, AppError> {
    let may: May = |whole, id| whole.may(&LIST, id);
    if let Some(id) = Id::parse(text.trim()) {
        return Ok(id);
    }
    let candidates = visible(whole, Some(&text::pattern(text)), may)?;
    let is_many = candidates.len() > 1;
    match among(candidates, text) {
        Ok(found) => Ok(found),
        Err(_) if !is_many => {
            let all = visible(whole, None, may)?;
            Ok(among(all, text)?)
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The only organization that the caller may see, for commands that are told none.
pub fn only_organization(whole: &mut Whole<'_, '_>) -> Result<OrganizationId, AppError> {
    let may: May = |whole, id| whole.may(&LIST, id);
    let all = visible(whole, None, may)?;
    match all.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Refusal::missing(match whole.caller {
            Caller::Person(..) => "this person has no role in any organization; `bursar role set` gives one",
            _ => {
                "there is no organization yet; create one with `bursar organization create` or `bursar import`"
            }
        })
        .into()),
        several => {
            let told: Vec<String> = several.iter().take(NEAR_MAX).map(told).collect();
            let more = if several.len() > told.len() {
                "; and more"
            } else {
                ""
            };
            Err(Refusal::invalid(
                "organization",
                format!(
                    "must be named, because there are several: --organization NAME, or BURSAR_ORGANIZATION. There are {}{more}",
                    told.join("; ")
                ),
            )
            .into())
        }
    }
}

/// An organization that this one deals with: itself, its parent or a chapter of it. The operator may name any.
pub fn neighbour(view: &mut View<'_, '_>, text: &str) -> Result<OrganizationId, AppError> {
    view.allow(&LIST)?;
    if let Some(id) = Id::parse(text.trim()) {
        return Ok(id);
    }
    let candidates = match view.caller {
        Caller::Operator => {
            let named = names::organizations(view.tx, &text::pattern(text))?;
            match named.is_empty() {
                true => names::first_organizations(view.tx, NEAR_ROWS)?,
                false => named,
            }
        }
        _ => {
            let own = view.own()?;
            let mut near = organizations::children(view.tx, own.id)?;
            if let Some(parent) = own.parent_id {
                near.extend(organizations::get(view.tx, parent)?);
            }
            near.push(own.clone());
            near.retain(|other| is_near(&own, other));
            near
        }
    };
    Ok(among(candidates, text)?)
}

fn told(organization: &Organization) -> String {
    format!("{} {}", organization.name, organization.id)
}

fn among(candidates: Vec<Organization>, text: &str) -> Result<OrganizationId, Refusal> {
    let noun = kind::Organization::NOUN;
    let named = |organization: &Organization| Named {
        id: organization.id.to_bytes(),
        name: organization.name.clone(),
        address: String::new(),
        phone: String::new(),
    };
    let rows: Vec<Named> = candidates.iter().map(named).collect();
    let meant: Vec<&Named> = rows.iter().filter(|row| text::is_meant(text, row)).collect();
    let told = |row: &Named| format!("{} {}", row.name, row.id::<kind::Organization>());
    match meant.as_slice() {
        [one] => Ok(one.id()),
        [] => {
            let near = text::nearest(text, rows, NEAR_MAX);
            let near: Vec<String> = near.iter().map(told).collect();
            Err(nothing(noun, text, &near))
        }
        several => {
            let listed: Vec<String> = several.iter().take(LISTED_MAX).map(|row| told(row)).collect();
            let more = several.len() - listed.len();
            Err(ambiguous(noun, "the id", text, &listed, more))
        }
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::ids::GroupId;

    use super::*;

    #[test]
    fn a_name_belongs_to_its_kind() {
        let (member, group) = (MemberId::from_bits(7), GroupId::from_bits(7));
        let names = Names(HashMap::from([(Names::key(member), "Ada".to_owned())]));
        assert_eq!((names.get(member), names.get(group)), (Some("Ada"), None));
        assert_eq!(names.told(Some(group)), group.to_string());
    }
}
