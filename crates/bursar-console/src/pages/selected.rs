//! Acts on members who were ticked in the list: a charge, a reminder, a group, the archive. Each is previewed with every
//! name.

use askama::Template;
use bursar_app::payments::{Debtor, NewCharges};
use bursar_app::{View, groups, members, names, resources};
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, Id, MemberId};
use bursar_domain::member::Member;

use super::ask::{Ask, Field};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

/// As many as a page of the list has, several times over.
const SELECTED_MAX: usize = 500;

#[derive(Template)]
#[template(path = "selected.html")]
struct Page<'a> {
    frame: &'a Frame,
}

/// Somebody opened the address: what is ticked comes with a form.
pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    match chosen(form) {
        Ok(_) => ask(view, asking, form),
        Err(_) => Ok(Page { frame: &asking.frame }.render()?),
    }
}

fn chosen(form: &Form) -> Result<Vec<MemberId>, Failure> {
    let mut ids: Vec<MemberId> = form.all("member").filter_map(Id::parse).collect();
    ids.sort_unstable();
    ids.dedup();
    match ids.len() {
        0 => Err(Problem::of("member", "Select at least one member in the list.").into()),
        1..=SELECTED_MAX => Ok(ids),
        _ => Err(Problem::of("member", format!("Choose at most {SELECTED_MAX} members.")).into()),
    }
}

/// The page for each act: who is meant, and what else is needed.
fn ask(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let ids = chosen(form)?;
    let named = names::of(view, &ids)?;
    let rows: Vec<(String, String)> = ids
        .iter()
        .map(|id| (named.told(Some(*id)), String::new()))
        .collect();
    let who = words::count(ids.len(), "member", "members");
    let hidden = ids.iter().map(|id| Field::hidden("member", id.to_string()));
    let act = form.get("act").to_owned();
    // Charges are shown once more, with amounts and a total.
    let step = if act == "raise" { "preview" } else { "do" };
    let kept = [Field::hidden("act", act.clone()), Field::hidden("step", step)];
    let back = (frame.at("members"), "Members".to_owned());
    let page = |title: String| Ask::new(frame, form, title, back).fields(hidden).fields(kept);
    match act.as_str() {
        "raise" => page(format!("Raise a charge for {who}"))
            .rows(rows)
            .fields([
                Field::text("amount", "Amount each").hint(format!("In {}.", frame.currency())),
                Field::text("description", "What it is for").hint("The members read this in their reminders."),
                Field::date("due-date", "Due").hint("Leave it empty for no due day."),
            ])
            .button("Preview".to_owned())
            .page(),
        "remind" => super::reminders::write::to_chosen(view, asking, form, &ids),
        "group" => {
            let groups = super::members::groups(view)?;
            page(format!("Add {who} to a group"))
                .rows(rows)
                .fields([Field::choice(
                    "group",
                    "Group",
                    groups.into_iter().map(|(id, name)| (id.to_string(), name)),
                )])
                .button(format!("Add {who}"))
                .page()
        }
        "archive" => page(format!("Archive {who}?"))
            .lead("Nobody is deleted: what was charged and paid stays in the books. Their active cards are frozen.")
            .rows(rows)
            .button(format!("Archive {who}"))
            .dangerous()
            .page(),
        _ => Err(Problem::of("act", "Choose what to do with them.").into()),
    }
}

/// Who is active, and who is archived.
fn by_state(view: &mut View<'_, '_>, ids: &[MemberId]) -> Result<(Vec<MemberId>, Vec<MemberId>), Failure> {
    let (mut active, mut archived) = (Vec::new(), Vec::new());
    for id in ids {
        match resources::one::<Member>(view, *id)?.is_active {
            true => active.push(*id),
            false => archived.push(*id),
        }
    }
    Ok((active, archived))
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let ids = chosen(form)?;
    let is_preview = form.get("act") == "raise" && form.get("step") == "preview";
    if form.get("step") != "do" && !is_preview {
        return ask(view, asking, form).map(Sent::Show);
    }
    let frame = &asking.frame;
    let to = frame.at("members");
    match form.get("act") {
        "raise" => {
            let (active, archived) = by_state(view, &ids)?;
            let new = NewCharges {
                debtor: Debtor::Members(active),
                amount: Some(form.required_amount(
                    "amount",
                    frame.place.organization.currency,
                    "Enter the amount for each member.",
                )?),
                description: form.get("description").to_owned(),
                due_date: form.date("due-date")?,
                category: None,
                again: false,
            };
            super::raise::previewed(view, asking, form, new, (to, "Members"), &archived)
        }
        "group" => {
            let group: Option<GroupId> = Id::parse(form.get("group"));
            let group = group.ok_or_else(|| Problem::of("group", "Choose a group."))?;
            let group: Group = resources::one(view, group)?;
            let place = (frame.at(&format!("groups/{}", group.id)), group.name);
            Ok(Sent::Do(Box::new(move |act| {
                let added = groups::add_many(act, group.id, &ids)?;
                Ok(super::group_people::told(&added, &place))
            })))
        }
        "archive" => Ok(Sent::Do(Box::new(move |act| {
            let (id, count) = members::archive_many(act, &ids)?;
            Ok(Done {
                to: to.clone(),
                said: format!("Archived {}.", words::count(count, "member", "members")),
                undo: (count > 0).then(|| id.to_string()),
                lines: Vec::new(),
            })
        }))),
        _ => Err(Problem::of("act", "Choose what to do with them.").into()),
    }
}
