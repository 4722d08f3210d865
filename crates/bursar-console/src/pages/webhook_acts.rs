//! Makes, changes, tests and removes webhook endpoints. A secret is shown once, in the response to its form.

use askama::Template;
use bursar_app::webhooks::{
    self, Destination, Issued, NewWebhook, OVERLAP_HOURS_DEFAULT, Record, SECRET_ENTROPY, WebhookChange,
};
use bursar_app::{AppError, DbError, View};
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::event::EventType;
use bursar_domain::ids::{EventId, WebhookId, kind};
use bursar_domain::sealed::SecretKey;
use bursar_domain::{Date, Refusal, Timestamp};

use super::ask::{Ask, Field, Shape};
use super::policy::in_words;
use super::seen::Seen;
use super::token_acts::entropy;
use super::webhooks::name;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "webhook_secret.html")]
struct Secret<'a> {
    frame: &'a Frame,
    name: String,
    to: String,
    secret: String,
    said: String,
}

/// What to record, and the page with the secret.
fn shown(frame: &Frame, issued: &Issued, said: String) -> Result<(Done, String), DbError> {
    let to = place(frame, issued.record.id);
    let page = Secret {
        frame,
        name: name(&issued.record),
        to: to.clone(),
        secret: issued.secret.text(),
        said: said.clone(),
    };
    let page = page
        .render()
        .map_err(|error| DbError::Internal(error.to_string()))?;
    Ok((Done::new(to, said), page))
}

fn place(frame: &Frame, id: WebhookId) -> String {
    frame.at(&format!("webhooks/{id}"))
}

/// The key that seals secrets, and what a new secret is made from.
fn means(view: &mut View<'_, '_>, frame: &Frame) -> Result<(SecretKey, [u8; SECRET_ENTROPY]), Failure> {
    let key = match webhooks::key(view, &frame.webhooks.key, entropy(frame)?) {
        // The message names the file, for whoever runs the server.
        Err(AppError::Refused(Refusal::Conflict { message, .. })) => {
            tracing::error!("no secret of a webhook endpoint can be made: {message}");
            return Err(Problem::new(
                "The server has no key for stored secrets, or has lost it. Its log says what to do.",
            )
            .into());
        }
        key => key?,
    };
    Ok((key, entropy(frame)?))
}

fn destination(frame: &Frame, url: &str) -> Result<Destination, Failure> {
    let checked = frame.webhooks.reach.check(url);
    Ok(checked.map_err(|rule| Problem::of("url", format!("The address {rule}.")))?)
}

/// `None` is every type.
fn types(form: &Form) -> Result<Option<Vec<EventType>>, Failure> {
    let words: Vec<&str> = form
        .get("types")
        .split([',', '\n', '\r', ' '])
        .filter(|word| !word.is_empty())
        .collect();
    match words.is_empty() {
        true => Ok(None),
        false => Ok(Some(webhooks::parse_types(&words.join(","))?)),
    }
}

fn scopes(form: &Form) -> Result<ScopeSet, Failure> {
    let mut scopes = ScopeSet::NONE;
    for text in form.all("scopes") {
        let scope = Scope::parse(text).ok_or_else(|| Problem::of("scopes", "Choose from the list."))?;
        scopes = scopes.or(ScopeSet::of(&[scope]));
    }
    match scopes.is_empty() {
        true => Err(Problem::of("scopes", "Select at least one.").into()),
        false => Ok(scopes),
    }
}

/// `None` for a new endpoint.
fn fields(record: Option<&Record>) -> Vec<Field> {
    let options = webhooks::all_scopes();
    let ticked = record.map_or(options, |record| record.scopes);
    let of = |scopes: ScopeSet| scopes.iter().filter(move |scope| options.has(*scope));
    let types = record.and_then(|record| record.types.clone()).unwrap_or_default();
    let description = record
        .and_then(|record| record.description.clone())
        .unwrap_or_default();
    vec![
        Field::new("url", "Address", Shape::Line("url"))
            .hint("Such as https://example.org/webhooks. It must be reachable from the internet.")
            .value(record.map(|record| record.url.clone()).unwrap_or_default()),
        Field::text("description", "What it is for").value(description),
        Field::area("types", "Only these types of events")
            .hint("One per line, such as payment.paid. Leave it empty for every type.")
            .value(types.join("\n")),
        Field::boxes(
            "scopes",
            "What it may get",
            of(options)
                .map(|scope| {
                    (
                        scope.as_str().to_owned(),
                        format!("{} ({scope})", in_words(scope)),
                    )
                })
                .collect(),
            of(ticked).map(|scope| scope.as_str().to_owned()).collect(),
        ),
    ]
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let back = (asking.frame.at("webhooks"), "Webhooks".to_owned());
    Ask::new(&asking.frame, form, "Add an endpoint", back)
        .lead("It gets events from now on. The secret is shown once, on the next page.")
        .fields(fields(None))
        .button("Add the endpoint")
        .page()
}

pub(crate) fn send_new(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let frame = asking.frame.clone();
    let new = NewWebhook {
        destination: destination(&frame, &form.required("url", "Enter the address.")?)?,
        types: types(form)?,
        scopes: Some(scopes(form)?),
        description: form.some("description"),
    };
    let (key, entropy) = means(view, &frame)?;
    Ok(Sent::Tell(Box::new(move |act| {
        let issued = webhooks::create(act, &new, &key, &entropy)?;
        let said = format!("Added {}.", name(&issued.record));
        Ok(shown(&frame, &issued, said)?)
    })))
}

/// The endpoint that the address names, and the way back to it.
fn found(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Record, (String, String)), Failure> {
    let record = webhooks::get(view, asking.id::<kind::Webhook>(0)?)?;
    let back = (place(&asking.frame, record.id), name(&record));
    Ok((record, back))
}

pub(crate) fn show_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Edit {}", name(&record)), back)
        .lead("The change takes effect with the next event.")
        .fields(fields(Some(&record)))
        .editing(view.now())
        .page()
}

pub(crate) fn send_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = found(view, asking)?;
    let url = form.required("url", "Enter the address.")?;
    // An address that stays was checked before, and is again at every delivery.
    let destination = match url == record.url {
        true => None,
        false => Some(destination(&asking.frame, &url)?),
    };
    let change = WebhookChange {
        destination,
        types: Some(types(form)?),
        scopes: Some(scopes(form)?),
        description: Some(form.some("description")),
    };
    let seen = Seen::new(asking, form, record.id);
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(Some(&webhooks::get(view, record.id)?))))?;
        let record = webhooks::set(act, record.id, &change)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", name(&record))))
    })))
}

pub(crate) fn show_rotate(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Rotate the secret of {}", name(&record)), back)
        .lead("The new secret is shown once, on the next page. Until the overlap ends every delivery is signed with both, so that you can change the receiver without a gap.")
        .fields([Field::new("overlap-hours", "Hours both sign", Shape::Line("number"))
            .hint("0 to 168. With 0 the old one stops signing immediately.")
            .value(OVERLAP_HOURS_DEFAULT.to_string())])
        .button("Create the new secret")
        .page()
}

pub(crate) fn send_rotate(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let frame = asking.frame.clone();
    let (record, _) = found(view, asking)?;
    let hours = form.some("overlap-hours").map(|hours| hours.parse());
    let hours = hours
        .transpose()
        .map_err(|_| Problem::of("overlap-hours", "Enter a number of hours."))?;
    let (key, entropy) = means(view, &frame)?;
    Ok(Sent::Tell(Box::new(move |act| {
        let issued = webhooks::rotate(act, record.id, hours, &key, &entropy)?;
        let old = issued.record.secrets.iter().find_map(|secret| secret.ends_at);
        let zone = &frame.place.organization.time_zone;
        let until = old.map_or_else(
            || "The old one no longer signs.".to_owned(),
            |ends| format!("The old one signs until {}.", words::moment_there(ends, zone)),
        );
        let said = format!("{} has a new secret. {until}", name(&issued.record));
        Ok(shown(&frame, &issued, said)?)
    })))
}

pub(crate) fn show_disable(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Disable {}?", name(&record)), back)
        .lead("Nothing more is sent to it, except an attempt in progress. It keeps its position in the list of events.")
        .button("Disable it")
        .page()
}

pub(crate) fn send_disable(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = found(view, asking)?;
    Ok(Sent::Do(Box::new(move |act| {
        let record = webhooks::disable(act, record.id)?;
        Ok(Done::new(to.clone(), format!("Disabled {}.", name(&record))))
    })))
}

pub(crate) fn show_enable(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    let at = words::moment_there(record.cursor_at, &asking.frame.place.organization.time_zone);
    Ask::new(&asking.frame, form, format!("Enable {}", name(&record)), back)
        .lead(format!(
            "It continues where it was: with what happened after {at}."
        ))
        .fields([Field::check("skip", "Skip events that are no longer kept")])
        .button("Enable it")
        .page()
}

pub(crate) fn send_enable(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = found(view, asking)?;
    let skip = form.has("skip");
    Ok(Sent::Do(Box::new(move |act| {
        let record = webhooks::enable(act, record.id, skip)?;
        Ok(Done::new(to.clone(), format!("Enabled {}.", name(&record))))
    })))
}

pub(crate) fn show_test(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Test {}", name(&record)), back)
        .lead("Sends one event of type test with empty data, signed like every other. The deliveries show the response.")
        .button("Send a test event")
        .page()
}

pub(crate) fn send_test(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = found(view, asking)?;
    Ok(Sent::Do(Box::new(move |act| {
        let event = webhooks::test(act, record.id)?;
        let said = format!("The test event {event} is on its way. Reload this page to see the result.");
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_replay(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Replay to {}", name(&record)), back)
        .lead("Sends one event again, out of turn; or everything since a time, in order. The receiver ignores what it already has.")
        .fields([
            Field::text("event", "One event").hint("Its id, such as evt_01h455vb4pex5vsknk084sn02q.").value(asking.query("event")),
            Field::text("since", "Or everything since").hint("A day such as 2026-11-15, or a time such as 2026-11-15T01:39:08Z."),
        ])
        .button("Send again")
        .page()
}

pub(crate) fn send_replay(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = found(view, asking)?;
    let id = record.id;
    match (form.some("event"), form.some("since")) {
        (Some(event), None) => {
            let event: EventId = EventId::parse(&event)
                .ok_or_else(|| Problem::of("event", "This is not an event id: those begin with evt_."))?;
            Ok(Sent::Do(Box::new(move |act| {
                webhooks::replay(act, id, event)?;
                Ok(Done::new(to.clone(), format!("{event} is on its way.")))
            })))
        }
        (None, Some(since)) => {
            let since = Date::parse(&since)
                .map(Date::start)
                .or_else(|| Timestamp::parse_since(&since));
            let since = since.ok_or_else(|| {
                Problem::of(
                    "since",
                    "Enter a date such as 2026-11-15, or a time with an offset.",
                )
            })?;
            Ok(Sent::Do(Box::new(move |act| {
                webhooks::replay_since(act, id, since)?;
                Ok(Done::new(
                    to.clone(),
                    format!("Everything since {since} is sent again."),
                ))
            })))
        }
        _ => Err(Problem::of("event", "Enter either an event or a time.").into()),
    }
}

pub(crate) fn show_delete(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (record, back) = found(view, asking)?;
    Ask::new(&asking.frame, form, format!("Delete {}?", name(&record)), back)
        .lead("Its secrets, its position in the list of events and its deliveries are deleted permanently. To pause it, disable it instead.")
        .button("Delete permanently")
        .dangerous()
        .page()
}

pub(crate) fn send_delete(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (record, _) = found(view, asking)?;
    let to = asking.frame.at("webhooks");
    Ok(Sent::Do(Box::new(move |act| {
        webhooks::delete(act, record.id)?;
        Ok(Done::new(to.clone(), format!("Deleted {}.", name(&record))))
    })))
}
