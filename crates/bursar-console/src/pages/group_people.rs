//! Adds people to a group, and takes one out of it.

use bursar_app::groups::{self, AddedMany};
use bursar_app::pro_rata;
use bursar_app::{View, resources};
use bursar_domain::group::Group;
use bursar_domain::ids::kind;
use bursar_domain::member::Member;

use super::archive::{leaving, told_leaving};
use super::ask::{Ask, Field};
use super::who;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::words;

/// Names that are read from one form.
const LINES_MAX: usize = 500;

fn back(asking: &Asking, group: &Group) -> (String, String) {
    (
        asking.frame.at(&format!("groups/{}", group.id)),
        group.name.clone(),
    )
}

pub(crate) fn show_add(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let back = back(asking, &group);
    Ask::new(&asking.frame, form, format!("Add people to {}", group.name), back)
        .fields([Field::area("people", "Who")
            .hint("One name or e-mail address per line.")
            .of_members()])
        .button("Add them")
        .page()
}

pub(crate) fn send_add(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let text = form.required("people", "Enter at least one name.")?;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    if lines.len() > LINES_MAX {
        let message = format!("Enter at most {LINES_MAX} names at a time, or import a spreadsheet.");
        return Err(Problem::of("people", message).into());
    }
    let mut members = Vec::with_capacity(lines.len());
    for line in lines {
        members.push(who::named(view, form, "people", line)?);
    }
    let (id, to) = back(asking, &group);
    let (group, id) = (group.id, (id, to));
    Ok(Sent::Do(Box::new(move |act| {
        let added = groups::add_many(act, group, &members)?;
        Ok(told(&added, &id))
    })))
}

/// What became of them.
pub(super) fn told(added: &AddedMany, (to, name): &(String, String)) -> Done {
    let mut said = format!(
        "Added {} to {name}.",
        words::count(added.added.len(), "member", "members")
    );
    if !added.already.is_empty() {
        said += &format!(" Already in it: {}.", added.already.join(", "));
    }
    if !added.charges.is_empty() {
        said += &format!(
            " Raised {} for the months left.",
            words::count(added.charges.len(), "charge", "charges")
        );
    }
    Done {
        to: to.clone(),
        said,
        undo: (!added.added.is_empty()).then(|| added.id.to_string()),
        lines: Vec::new(),
    }
}

pub(crate) fn show_remove(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let member: Member = resources::one(view, asking.id::<kind::Member>(1)?)?;
    let open = pro_rata::leaving(view, member.id, Some(group.id))?;
    let title = format!("Remove {} from {}", member.name(), group.name);
    Ask::new(&asking.frame, form, title, back(asking, &group))
        .lead("No further dues of this group are raised for them. What they owe stays owed, unless you adjust it here.")
        .rows(told_leaving(&open))
        .fields(leaving(&open))
        .button("Remove")
        .dangerous()
        .page()
}

pub(crate) fn send_remove(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let member: Member = resources::one(view, asking.id::<kind::Member>(1)?)?;
    let (to, name) = back(asking, &group);
    let (is_adjusted, who) = (form.has("adjust"), member.name());
    let (group, member) = (group.id, member.id);
    Ok(Sent::Do(Box::new(move |act| {
        let changed = match is_adjusted {
            true => pro_rata::adjust(act, member, Some(group))?.len(),
            false => 0,
        };
        groups::remove_member(act, group, member)?;
        let adjusted = match changed {
            0 => String::new(),
            changed => format!(" Adjusted {}.", words::count(changed, "charge", "charges")),
        };
        Ok(Done::new(
            to.clone(),
            format!("Removed {who} from {name}.{adjusted}"),
        ))
    })))
}
