//! Names a member in a form. A name that several have is chosen among them, by what tells them apart.

use bursar_app::names::{self, Candidate, Meant};
use bursar_app::{AppError, View, resources};
use bursar_domain::ids::{Id, MemberId};
use bursar_domain::member::Member;

use crate::failure::{Choice, Failure, Problem};
use crate::forms::{Form, meaning};
use crate::words;

/// A member whom a page fills in: the name in the field, and who it is beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) text: String,
    pub(crate) meaning: String,
}

impl Known {
    pub(crate) fn of(view: &mut View<'_, '_>, id: Option<MemberId>) -> Result<Self, AppError> {
        let Some(id) = id else {
            return Ok(Self::default());
        };
        let member: Member = resources::one(view, id)?;
        let text = member.name();
        Ok(Self {
            meaning: meaning(id, &text),
            text,
        })
    }
}

/// The member whom this field names; `None` if it is empty.
pub(crate) fn member(view: &mut View<'_, '_>, form: &Form, field: &str) -> Result<Option<MemberId>, Failure> {
    match form.get(field) {
        "" => Ok(None),
        text => named(view, form, field, text).map(Some),
    }
}

/// The same for a field that must be filled in. `problem` is what an empty one is told.
pub(crate) fn required(
    view: &mut View<'_, '_>,
    form: &Form,
    field: &str,
    problem: &str,
) -> Result<MemberId, Failure> {
    let found = member(view, form, field)?;
    Ok(found.ok_or_else(|| Problem::of(field, problem))?)
}

/// The member whom this text of a field names.
pub(crate) fn named(
    view: &mut View<'_, '_>,
    form: &Form,
    field: &str,
    text: &str,
) -> Result<MemberId, Failure> {
    // Somebody of another organization is nobody here.
    let chosen = form
        .chosen(field, text)
        .and_then(Id::<bursar_domain::ids::kind::Member>::parse);
    let sought = chosen.map_or_else(|| text.to_owned(), |id| id.to_string());
    let (message, found) = match names::member(view, &sought)? {
        Meant::One(id) => return Ok(id),
        Meant::Several(found, more) => (several(text, more), found),
        Meant::Nobody(near) => {
            let way_out = match near.is_empty() {
                true => "Enter the name or e-mail address as in the list of members.",
                false => "Choose who is meant, or correct the name.",
            };
            (
                format!("No member is called \u{201c}{text}\u{201d}. {way_out}"),
                near,
            )
        }
    };
    Err(Problem {
        choices: found.iter().map(|one| choice(one, text)).collect(),
        ..Problem::of(field, message)
    }
    .into())
}

fn several(text: &str, more: usize) -> String {
    let what = match text.contains('@') {
        true => format!("Several members have the address {text}."),
        false => format!("Several members are called \u{201c}{text}\u{201d}."),
    };
    match more {
        0 => format!("{what} Choose one."),
        more => {
            let others = words::count(more, "other is", "others are");
            format!("{what} Choose one, or enter an e-mail address: {others} not listed.")
        }
    }
}

fn choice(one: &Candidate, text: &str) -> Choice {
    let email = one.email.clone().unwrap_or_else(|| "no e-mail".to_owned());
    let groups = match one.groups.is_empty() {
        true => "no group".to_owned(),
        false => one.groups.join(", "),
    };
    let mut about = vec![email];
    about.extend(one.phone.clone());
    about.push(groups);
    about.extend(one.joined.map(|day| format!("joined {}", words::day(day))));
    if !one.is_active {
        about.push("archived".to_owned());
    }
    Choice {
        value: meaning(one.id, text),
        name: one.name.clone(),
        about: about.join(" \u{b7} "),
    }
}
