//! The officers' commands, which create and change what the API reads.

pub(crate) mod account;
pub(crate) mod attachment;
pub(crate) mod audit;
pub(crate) mod campaign;
pub(crate) mod card;
pub(crate) mod credit;
pub(crate) mod group;
pub(crate) mod journal;
mod leaving;
mod list;
pub(crate) mod member;
pub(crate) mod member_statement;
pub(crate) mod payment;
pub(crate) mod period;
mod privacy;
pub(crate) mod receipt;
pub(crate) mod reimbursement;
pub(crate) mod report;
pub(crate) mod statement;
pub(crate) mod store;
pub(crate) mod undo;

use bursar_app::names::{self, Names};
use bursar_app::resources::Readable;
use bursar_domain::Date;
use bursar_domain::ids::{MemberId, OrganizationId};
use bursar_domain::receipt::Method;

use super::door::Door;
use super::{Failure, Globals, Outcome, output};
use crate::ambient;

/// The names of what a resource refers to.
pub(crate) fn names_in<R: Readable + Sync>(
    door: &Door<'_>,
    organization: OrganizationId,
    resource: &R,
) -> Result<Names, Failure> {
    let resource = resource.clone();
    door.view(organization, move |view| {
        names::of_references(view, std::slice::from_ref(&resource))
    })
}

/// `Ada Larsen (mem_…)`
pub(crate) fn member_told(
    door: &Door<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<String, Failure> {
    let names = door.view(organization, move |view| names::of(view, &[member]))?;
    Ok(format!("{} ({member})", names.told(Some(member))))
}

/// The representation for programs, lines for people.
pub(crate) fn tell(globals: &Globals, document: &str, lines: &str) -> Outcome {
    match globals.json {
        true => output::document(document),
        false => lines.lines().for_each(output::say),
    }
    Ok(())
}

pub(crate) fn parse_method(text: &str) -> Result<Method, String> {
    Method::parse(text).ok_or_else(|| format!("must be one of {}", Method::WORDS))
}

pub(crate) fn parse_date(text: &str) -> Result<Date, String> {
    let date = Date::parse(text).ok_or_else(|| "must be a calendar date such as 2026-11-15".to_owned())?;
    date.plausible(ambient::now().date())
}

pub(crate) fn or_dash(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
