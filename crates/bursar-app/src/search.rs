//! Finds members by the words they are called by, and anything by its reference or id.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bursar_db::desk::{self, MemberFilter, MemberLine};
use bursar_db::{aside, names as kept_names, open_charges};
use bursar_domain::ids::{Id, MemberId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;
use bursar_domain::{Refusal, creditor_reference, search};

use crate::act::View;
use crate::error::AppError;
use crate::names::text;
use crate::resources::Readable;

/// Members with the first word that are looked at for the others.
const CANDIDATES_MAX: usize = 2_000;

/// Members by name, and whether there are more.
pub type Found = (Vec<MemberLine>, bool);

/// Members who have, for each word of the text, a word that begins like it: of the name, the e-mail address or the phone
/// number. A creditor reference finds its member, or the member whose charge has it. Answers from an index.
pub fn members(
    view: &mut View<'_, '_>,
    text: &str,
    filter: MemberFilter,
    limit: usize,
) -> Result<Found, AppError> {
    view.allow(&Member::READ)?;
    let referred = creditor_reference::parse(text).map(|reference| with_reference(view, &reference));
    if let Some(member) = referred.transpose()?.flatten() {
        return Ok((
            desk::members_among(view.tx, view.organization, filter, &[member])?,
            false,
        ));
    }
    let wanted = search::wanted(text);
    let Some(first) = wanted.first() else {
        return Err(Refusal::invalid("text", "must have at least one character to look for").into());
    };
    let (mut known, mut ids) = (HashSet::new(), Vec::new());
    aside::each_found(view.tx, view.organization, first, |member| {
        if known.insert(member) {
            ids.push(member);
        }
        match ids.len() > CANDIDATES_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let mut is_more = ids.len() > CANDIDATES_MAX;
    let mut found = Vec::new();
    for chunk in ids.chunks(desk::AMONG_MAX) {
        let lines = desk::members_among(view.tx, view.organization, filter, chunk)?;
        found.extend(lines.into_iter().filter(|line| is_found(&wanted, line)));
        if found.len() > limit {
            is_more = true;
            break;
        }
    }
    found.sort_by(|one, other| {
        (&one.last_name, &one.first_name, one.id).cmp(&(&other.last_name, &other.first_name, other.id))
    });
    found.truncate(limit);
    Ok((found, is_more))
}

fn is_found(wanted: &[String], line: &MemberLine) -> bool {
    let names = [line.first_name.as_str(), &line.last_name];
    wanted.len() == 1
        || search::finds(
            wanted,
            &search::words(names, line.email.as_deref(), line.phone.as_deref()),
        )
}

/// The same for who can wait: if nobody is found, everybody's name, address and number is searched for parts.
pub fn members_by_parts(
    view: &mut View<'_, '_>,
    text: &str,
    limit: usize,
) -> Result<(Vec<Member>, bool), AppError> {
    view.allow(&Member::READ)?;
    let (found, mut is_more) = members(view, text, MemberFilter::default(), limit)?;
    let mut ids: Vec<MemberId> = found.into_iter().map(|line| line.id).collect();
    if ids.is_empty() {
        let words = text::words(text)?;
        let patterns = text::holds(&words);
        kept_names::holding(
            view.tx,
            &kept_names::MEMBERS,
            view.organization,
            &patterns,
            |row| {
                if text::is_held(&words, &row) {
                    ids.push(row.id());
                }
                match ids.len() > limit {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            },
        )?;
        is_more = ids.len() > limit;
        ids.truncate(limit);
    }
    let found = ids.into_iter().map(|id| view.find(id));
    Ok((found.collect::<Result<_, _>>()?, is_more))
}

fn with_reference(view: &mut View<'_, '_>, reference: &str) -> Result<Option<MemberId>, AppError> {
    let (payment, member) = open_charges::by_reference(view.tx, view.organization, reference)?;
    match (member, payment) {
        (None, Some(payment)) => Ok(view.find::<Payment>(payment)?.member_id),
        (member, _) => Ok(member),
    }
}

/// The charge with this creditor reference.
pub fn charge(view: &mut View<'_, '_>, text: &str) -> Result<Option<Payment>, AppError> {
    view.allow(&Payment::READ)?;
    let Some(reference) = creditor_reference::parse(text) else {
        return Ok(None);
    };
    let (payment, _) = open_charges::by_reference(view.tx, view.organization, &reference)?;
    payment.map(|id| view.find(id)).transpose()
}

/// Whether the organization has this, if the text is an id of its kind.
pub fn has<R: Readable>(view: &mut View<'_, '_>, text: &str) -> Result<Option<Id<R::Kind>>, AppError> {
    view.allow(&R::READ)?;
    match Id::parse(text) {
        Some(id) => Ok(view.get::<R>(id)?.map(|_| id)),
        None => Ok(None),
    }
}
