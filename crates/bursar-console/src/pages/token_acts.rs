//! Makes, rotates and revokes tokens. A secret is shown once, in the response to its form, and is kept nowhere.

use askama::Template;
use bursar_app::tokens::{self, CREATE_SERVICE, Holder, Issued, NewToken};
use bursar_app::{DbError, View};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::kind;

use super::ask::{Ask, Field, Shape};
use super::policy::in_words;
use super::tokens::curl;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "secret.html")]
struct Secret<'a> {
    frame: &'a Frame,
    name: String,
    to: String,
    secret: &'a str,
    curl: String,
    said: String,
}

/// What to record, and the page with the secret.
fn shown(frame: &Frame, issued: &Issued, said: String) -> Result<(Done, String), DbError> {
    let to = frame.at(&format!("tokens/{}", issued.record.id));
    let page = Secret {
        frame,
        name: issued.record.name.clone(),
        to: to.clone(),
        secret: issued.secret.expose(),
        curl: curl(&frame.origin),
        said: said.clone(),
    };
    let page = page
        .render()
        .map_err(|error| DbError::Internal(error.to_string()))?;
    Ok((Done::new(to, said), page))
}

pub(super) fn entropy<const N: usize>(frame: &Frame) -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    for chunk in bytes.chunks_mut(bursar_domain::sign_in::ENTROPY_BYTES) {
        let random = (frame.entropy)().map_err(DbError::Unavailable)?;
        for (byte, random) in chunk.iter_mut().zip(random) {
            *byte = random;
        }
    }
    Ok(bytes)
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut holders = Vec::new();
    if frame.may(&CREATE_SERVICE) {
        holders.extend([
            ("viewer", "A service that only reads"),
            ("editor", "A service that reads and changes"),
        ]);
    }
    holders.push(("oneself", "Me, with my role"));
    let options = Scope::ALL.iter().map(|scope| {
        (
            scope.as_str().to_owned(),
            format!("{} ({scope})", in_words(*scope)),
        )
    });
    Ask::new(
        frame,
        form,
        "Create a token",
        (frame.at("tokens"), "Tokens".to_owned()),
    )
    .lead("The secret is shown once, on the next page.")
    .fields([
        Field::text("name", "Name").hint("What it is for, such as \u{201c}Website\u{201d}."),
        Field::choice("holder", "Whose it is", holders),
        Field::boxes("scopes", "What it may do", options.collect(), Vec::new()),
        Field::new("days", "Days until it expires", Shape::Line("number"))
            .hint("1 to 365")
            .value(tokens::DAYS_DEFAULT.to_string()),
    ])
    .button("Create the token")
    .page()
}

pub(crate) fn send_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let frame = asking.frame.clone();
    let mut scopes = ScopeSet::NONE;
    for text in form.all("scopes") {
        let scope = Scope::parse(text).ok_or_else(|| Problem::of("scopes", "Choose from the list."))?;
        scopes = scopes.or(ScopeSet::of(&[scope]));
    }
    if scopes.is_empty() {
        return Err(Problem::of("scopes", "Select at least one.").into());
    }
    let days = form.some("days").map(|days| days.parse());
    let new = NewToken {
        holder: match (form.get("holder"), Role::parse(form.get("holder"))) {
            ("oneself", _) => Holder::Person(frame.email.clone()),
            (_, Some(role)) => Holder::Service(role),
            (_, None) => return Err(Problem::of("holder", "Choose whose it is.").into()),
        },
        name: Some(form.required("name", "Enter what it is for.")?),
        scopes,
        days: days
            .transpose()
            .map_err(|_| Problem::of("days", "Enter a number of days."))?,
    };
    let entropy = entropy(&frame)?;
    Ok(Sent::Tell(Box::new(move |act| {
        let issued = tokens::create(act, &new, &entropy)?;
        let said = format!(
            "Created {}. It expires on {}.",
            issued.record.name,
            words::moment_there(issued.record.expires_at, &frame.place.organization.time_zone)
        );
        Ok(shown(&frame, &issued, said)?)
    })))
}

pub(crate) fn show_rotate(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let record = tokens::get(view, asking.id::<kind::Token>(0)?)?;
    let back = (frame.at(&format!("tokens/{}", record.id)), record.name.clone());
    Ask::new(frame, form, format!("Rotate {}", record.name), back)
        .lead("A new secret with the same role and scopes takes its place. The old one works until the overlap ends, so that you can change the program without a gap.")
        .fields([Field::new("overlap-days", "Days both work", Shape::Line("number"))
            .hint("0 to 30. With 0 the old one stops working immediately.")
            .value(tokens::OVERLAP_DAYS_DEFAULT.to_string())])
        .button("Create the new secret")
        .page()
}

pub(crate) fn send_rotate(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let frame = asking.frame.clone();
    let id = asking.id::<kind::Token>(0)?;
    tokens::get(view, id)?;
    let days = form.some("overlap-days").map(|days| days.parse());
    let days = days
        .transpose()
        .map_err(|_| Problem::of("overlap-days", "Enter a number of days."))?;
    let entropy = entropy(&frame)?;
    Ok(Sent::Tell(Box::new(move |act| {
        let rotated = tokens::rotate(act, id, days, &entropy)?;
        let said = format!(
            "Rotated {}. The old secret works until {}.",
            rotated.predecessor.name,
            words::moment_there(
                rotated.predecessor.expires_at,
                &frame.place.organization.time_zone
            )
        );
        Ok(shown(&frame, &rotated.issued, said)?)
    })))
}

pub(crate) fn show_revoke(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let record = tokens::get(view, asking.id::<kind::Token>(0)?)?;
    let back = (frame.at(&format!("tokens/{}", record.id)), record.name.clone());
    let used = record.last_used_at.map_or_else(
        || "It was never used.".to_owned(),
        |at| {
            format!(
                "It was last used on {}.",
                words::moment_there(at, &frame.place.organization.time_zone)
            )
        },
    );
    Ask::new(frame, form, format!("Revoke {}?", record.name), back)
        .lead(format!("{used} Revocation is immediate and permanent."))
        .button(format!("Revoke {} permanently", record.name))
        .dangerous()
        .page()
}

pub(crate) fn send_revoke(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Token>(0)?;
    tokens::get(view, id)?;
    let to = asking.frame.at("tokens");
    Ok(Sent::Do(Box::new(move |act| {
        let record = tokens::revoke(act, id)?;
        Ok(Done::new(to.clone(), format!("Revoked {}.", record.name)))
    })))
}
