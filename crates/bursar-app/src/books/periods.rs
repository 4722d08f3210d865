//! The closed period: nothing is posted on its last day and before.

use bursar_db::organizations;
use bursar_domain::access::Role;
use bursar_domain::{Date, Refusal};

use super::{open, reason};
use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;

pub const CLOSE: Rule = Rule::of("period.close", Role::Editor, "close periods");
pub const REOPEN: Rule = Rule::of("period.reopen", Role::Admin, "reopen periods");
pub const READ: Rule = Rule::of("period.read", Role::Viewer, "see what is closed");

pub const RULES: &[&Rule] = &[&CLOSE, &REOPEN, &READ];

/// The last closed day.
pub fn show(view: &mut View<'_, '_>) -> Result<Option<Date>, AppError> {
    view.allow(&READ)?;
    Ok(view.own()?.closed_until)
}

/// Posts nothing.
pub fn close(act: &mut Act<'_, '_>, until: Date) -> Result<Date, AppError> {
    act.allow(&CLOSE)?;
    let books = open(act)?;
    if until >= books.today {
        let rule = format!(
            "must be a day that is over, got {until}; today is {}",
            books.today
        );
        return Err(Refusal::invalid("until", rule).into());
    }
    let mut organization = books.organization;
    if let Some(closed) = organization.closed_until.filter(|closed| until < *closed) {
        let message = format!(
            "the books are closed until {closed}; closing until {until} would reopen days, which an admin does with `period \
             reopen`"
        );
        return Err(Refusal::conflict(message).into());
    }
    organization.closed_until = Some(until);
    organizations::update(act.tx, &organization)?;
    act.log(CLOSE.name, Some(until.to_string()), None)?;
    Ok(until)
}

/// Reopens everything, or the days after `until`.
pub fn reopen(act: &mut Act<'_, '_>, until: Option<Date>, why: &str) -> Result<Option<Date>, AppError> {
    act.allow(&REOPEN)?;
    let why = reason(Some(why))?.ok_or_else(|| Refusal::invalid("reason", "is required"))?;
    let mut organization = act.own()?;
    let closed = organization.closed_until;
    let Some(closed) = closed else {
        return Err(Refusal::conflict("no period is closed").into());
    };
    if let Some(until) = until.filter(|until| *until >= closed) {
        let rule = format!("must be before {closed}, got {until}");
        return Err(Refusal::invalid("until", rule).into());
    }
    organization.closed_until = until;
    organizations::update(act.tx, &organization)?;
    act.log(REOPEN.name, Some(format!("{closed}: {why}")), None)?;
    Ok(until)
}
