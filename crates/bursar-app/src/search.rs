//! Finds members by the words they are called by, and anything by its reference or id.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bursar_db::desk::{self, MemberFilter, MemberLine};
use bursar_db::{aside, names as kept_names, open_charges};
use bursar_domain::ids::{Id, MemberId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;
use bursar_domain::{creditor_reference, search};

use crate::act::View;
use crate::error::AppError;
use crate::names::text;
use crate::resources::Readable;

/// Members with the longest word who are looked at one by one for the other words.
const FEW: usize = 2_000;
/// Members with one word at most.
const MANY: usize = 100_000;
/// Members who are tried against the filter.
const TRIED_MAX: usize = 20_000;

/// Members by name, and whether there are more.
pub type Found = (Vec<MemberLine>, bool);

/// Members who have, for each word of the text, a word that begins like it: of the name, the e-mail address or the phone
/// number. A creditor reference finds its member, or the member whose charge has it. Answers from an index. If there are
/// more than the limit, any of them; if nobody is found but there are more, too many begin like that to try them all.
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
    let found = with_words(view, &search::wanted(text), filter, limit)?;
    let parts = search::wanted_in_parts(text);
    match found.0.is_empty() && parts != search::wanted(text) {
        // `St.John` looks like an address and may be a name.
        true => with_words(view, &parts, filter, limit),
        false => Ok(found),
    }
}

fn with_words(
    view: &mut View<'_, '_>,
    wanted: &[String],
    filter: MemberFilter,
    limit: usize,
) -> Result<Found, AppError> {
    let Some((first, others)) = wanted.split_first() else {
        return Ok((Vec::new(), false));
    };
    let ids = with_word(view, first, FEW)?;
    let is_all = ids.len() < FEW;
    let (mut found, _) = among(view, wanted, filter, &ids, limit)?;
    let mut is_more = found.len() > limit;
    if !is_all && !is_more {
        let mut ids = with_word(view, first, MANY)?;
        is_more = ids.len() == MANY;
        for word in others {
            let also: HashSet<MemberId> = with_word(view, word, MANY)?.into_iter().collect();
            is_more |= also.len() == MANY;
            ids.retain(|id| also.contains(id));
        }
        let (all, is_whole) = among(view, wanted, filter, &ids, limit)?;
        is_more |= all.len() > limit || !is_whole;
        found = all;
    }
    found.sort_by(|one, other| {
        (&one.last_name, &one.first_name, one.id).cmp(&(&other.last_name, &other.first_name, other.id))
    });
    found.truncate(limit);
    Ok((found, is_more))
}

/// Members with a word that begins like this, each once, by that word.
fn with_word(view: &mut View<'_, '_>, start: &str, most: usize) -> Result<Vec<MemberId>, AppError> {
    let (mut known, mut ids) = (HashSet::new(), Vec::new());
    aside::each_found(view.tx, view.organization, start, |member| {
        if known.insert(member) {
            ids.push(member);
        }
        match ids.len() == most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(ids)
}

/// Those whom the words and the filter let pass, until there are more than the limit; and whether all were tried.
fn among(
    view: &mut View<'_, '_>,
    wanted: &[String],
    filter: MemberFilter,
    ids: &[MemberId],
    limit: usize,
) -> Result<(Vec<MemberLine>, bool), AppError> {
    let mut found = Vec::new();
    let tried = ids.get(..TRIED_MAX).unwrap_or(ids);
    for chunk in tried.chunks(desk::AMONG_MAX) {
        let lines = desk::members_among(view.tx, view.organization, filter, chunk)?;
        found.extend(lines.into_iter().filter(|line| is_found(wanted, line)));
        if found.len() > limit {
            break;
        }
    }
    Ok((found, tried.len() == ids.len()))
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
