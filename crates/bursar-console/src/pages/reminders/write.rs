//! Writes a reminder: to whom, what, when; then a preview as a recipient sees it, with the number of people.

mod people;

use askama::Template;
use bursar_app::View;
use bursar_app::preview::{self, Preview};
use bursar_app::reminders::{self, NewReminder};
use bursar_domain::Timestamp;
use bursar_domain::ids::{Id, MemberId};
use bursar_domain::reminder::{Audience, Method, Outcome};

use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::pages::members::groups;
use crate::pages::preview::{Person, Preview as PreviewPage, part};
use crate::pages::seen;
use crate::pages::tabbed::Column;
use crate::pages::who::Known;
use crate::words;

const SHOWN: &[&str] = &["member", "subject", "body", "day", "time", "every"];

/// What a text can name, for people.
const PLACEHOLDERS: [(&str, &str); 10] = [
    ("{firstName}", "the reader's first name"),
    ("{lastName}", "the last name"),
    ("{name}", "the whole name"),
    ("{organization}", "the name of the organization"),
    ("{payText}", "how to pay, from the settings"),
    (
        "{payLink}",
        "a link to the reader's own page, where they see what is open and pay",
    ),
    ("{owed}", "what is owed in all"),
    ("{overdue}", "what is overdue"),
    ("{dueDate}", "the first due day"),
    ("{reference}", "what to write on the transfer"),
];

#[derive(Template)]
#[template(path = "reminders/write.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    groups: Vec<(String, String)>,
    to: String,
    member: Known,
    chapter: Option<(String, String)>,
    /// Members who were ticked in the list.
    chosen: Vec<String>,
    chosen_told: String,
    zone: String,
    is_owed: bool,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let chosen = people::chosen(form).unwrap_or_default();
    page(view, asking, form, &chosen)
}

/// The same page for members who were ticked in the list.
pub(crate) fn to_chosen(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
    chosen: &[MemberId],
) -> Result<String, Failure> {
    people::check_count(chosen.len())?;
    page(view, asking, form, chosen)
}

fn page(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
    chosen: &[MemberId],
) -> Result<String, Failure> {
    let frame = &asking.frame;
    let chapter = people::chapter(view, form.or("to", asking.query("chapter")))?;
    let page = Page {
        frame,
        form,
        groups: groups(view)?
            .into_iter()
            .map(|(id, name)| (id.to_string(), name))
            .collect(),
        to: match (asking.query("group"), asking.query("member"), &chapter) {
            (_, _, Some((chapter, _))) => chapter.clone(),
            ("", "", None) if !chosen.is_empty() => form.or("to", people::CHOSEN).to_owned(),
            ("", "", None) => form.or("to", "owing").to_owned(),
            ("", _, None) => form.or("to", "member").to_owned(),
            (group, _, None) => form.or("to", group).to_owned(),
        },
        member: Known::of(view, Id::parse(asking.query("member")))?,
        chosen: chosen.iter().map(ToString::to_string).collect(),
        chosen_told: words::count(chosen.len(), "member", "members"),
        zone: frame.place.organization.time_zone.name().to_owned(),
        is_owed: match form.has("to") {
            true => form.has("owed"),
            false => chapter.is_none(),
        },
        chapter,
    };
    Ok(page.render()?)
}

/// `None` is now.
fn when(asking: &Asking, form: &Form) -> Result<Option<Timestamp>, Problem> {
    let (day, time) = (form.date("day")?, form.get("time"));
    let Some(day) = day else {
        return match time {
            "" => Ok(None),
            _ => Err(Problem::of(
                "day",
                "Choose the day too, or leave both empty to send it now.",
            )),
        };
    };
    let time = if time.is_empty() { "09:00" } else { time };
    let read = time
        .split_once(':')
        .and_then(|(hour, minute)| Some((hour.parse().ok()?, minute.get(..2)?.parse().ok()?)));
    let zone = &asking.frame.place.organization.time_zone;
    let at = read.and_then(|(hour, minute)| zone.instant(day, hour, minute));
    Ok(Some(at.ok_or_else(|| {
        Problem::of("time", "Enter a time such as 09:30.")
    })?))
}

/// What is scheduled, one for each audience, and when.
fn planned(
    view: &mut View<'_, '_>,
    asking: &Asking,
    form: &Form,
) -> Result<(Vec<NewReminder>, Option<Timestamp>), Failure> {
    let at = when(asking, form)?;
    let audiences = people::audiences(view, form)?;
    let every = match form.get("every") {
        "" => None,
        text => Some(
            text.parse()
                .map_err(|_| Problem::of("every", "Enter a number of days."))?,
        ),
    };
    let new = |audience| NewReminder {
        audience,
        method: Method::parse(form.get("method")).unwrap_or(Method::Email),
        at: at.unwrap_or_else(|| view.now()),
        subject: form.some("subject"),
        body: form.some("body").map(|text| text.replace("\r\n", "\n")),
        every_days: every,
        include_payment_info: form.has("owed") || form.get("to") == "owing",
    };
    if at.is_some_and(|at| at < view.now()) {
        return Err(Problem::of(
            "day",
            "This time is in the past. Leave day and time empty to send it now.",
        )
        .into());
    }
    Ok((audiences.into_iter().map(new).collect(), at))
}

/// Beside the field that the form has.
fn placed(failure: Failure) -> Failure {
    match failure.problem() {
        Some(problem) => Failure::Problem(Problem {
            field: problem.field.map(|field| match field.as_str() {
                "scheduledAt" => "day".to_owned(),
                "recurringIntervalDays" => "every".to_owned(),
                "target" | "targetMemberId" | "targetOrganizationId" | "groupId" => "member".to_owned(),
                _ => field,
            }),
            ..problem
        }),
        None => failure,
    }
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (all, at) = planned(view, asking, form)?;
    let mut previews = Vec::new();
    for new in &all {
        previews.push(preview::preview_new(view, new).map_err(|error| placed(error.into()))?);
    }
    // A planned one looks up whom it is to at its time.
    let plan = match at {
        None => super::one::plan(&previews),
        Some(_) => String::new(),
    };
    if form.get("step") != "do" || !form.is_planned(&plan) {
        return show_preview(asking, form, (&previews, plan), at).map(Sent::Show);
    }
    let form = form.clone();
    // Whoever is not reached now would only be a line that says so.
    let is_many = all.len() > 1;
    let reached: Vec<NewReminder> = all
        .into_iter()
        .zip(&previews)
        .filter(|(_, preview)| !is_many || !preview.recipients.is_empty())
        .map(|(new, _)| new)
        .collect();
    let list = asking.frame.at("reminders");
    let zone = asking.frame.place.organization.time_zone.clone();
    Ok(Sent::Do(Box::new(move |act| {
        let mut now = Vec::new();
        if at.is_none() {
            for new in &reached {
                let new = NewReminder {
                    at: act.now(),
                    ..new.clone()
                };
                now.push(preview::preview_new(&mut act.view(), &new)?);
            }
            seen::planned(&form, &super::one::plan(&now))?;
        }
        let (mut last, mut sent) = (None, 0);
        for new in &reached {
            let new = NewReminder {
                at: at.unwrap_or_else(|| act.now()),
                ..new.clone()
            };
            let reminder = reminders::schedule(act, &new)?;
            last = Some(reminder.id);
            if at.is_none() && reminders::send_now(act, reminder.id)?.1 == Outcome::Sent {
                sent += 1;
            }
        }
        let to = match (&reached[..], last) {
            ([_], Some(id)) => format!("{list}/{id}"),
            _ if at.is_none() => format!("{list}?show=running"),
            _ => list.clone(),
        };
        Ok(Done::new(
            to,
            match at {
                Some(at) => format!("Planned for {}.", words::moment_there(at, &zone)),
                None if sent == 0 => "It would reach nobody, so nothing was sent.".to_owned(),
                None => "It is on its way.".to_owned(),
            },
        ))
    })))
}

fn show_preview(
    asking: &Asking,
    form: &Form,
    (previews, plan): (&[Preview], String),
    at: Option<Timestamp>,
) -> Result<String, Failure> {
    let reached: Vec<_> = previews.iter().flat_map(|preview| &preview.recipients).collect();
    let people = words::count(reached.len(), "person", "people");
    let zone = &asking.frame.place.organization.time_zone;
    let when = at.map(|at| words::moment_there(at, zone));
    let mut all = previews.first().cloned();
    if let Some(all) = &mut all {
        all.skipped = previews
            .iter()
            .flat_map(|preview| preview.skipped.clone())
            .collect();
    }
    let (shown, part) = part(&reached, form, |one| one.id.clone());
    let has_owed = reached.iter().any(|one| one.owed.is_some());
    let mut columns = vec![Column::new("Name"), Column::new("Address")];
    if has_owed {
        columns.push(Column {
            is_num: true,
            ..Column::new("Owes")
        });
    }
    // A planned one may reach somebody at its time.
    let is_empty = reached.is_empty() && (at.is_none() || form.get("to") == "owing");
    let page = PreviewPage {
        frame: &asking.frame,
        form,
        title: match &when {
            Some(when) => format!("Plan for {when}: {people}"),
            None => format!("Send now to {people}"),
        },
        back: (asking.frame.at("reminders/new"), "Write a reminder".to_owned()),
        lead: String::new(),
        left_out: all.as_ref().map(super::one::skipped).unwrap_or_default(),
        button: match &when {
            Some(when) => format!("Plan it for {when}"),
            None => format!("Send to {people} now"),
        },
        is_dangerous: false,
        nothing: if is_empty { "It would reach nobody." } else { "" },
        letter: previews.iter().find_map(|preview| preview.message.clone()),
        heading: "Who gets it",
        columns,
        people: shown
            .iter()
            .map(|one| {
                let name = match one.paying_for.is_empty() {
                    true => one.name.clone(),
                    false => format!("{}, for {}", one.name, one.paying_for.join(", ")),
                };
                let owed = has_owed.then(|| one.owed.clone().unwrap_or_default());
                let cells = [one.address.clone()].into_iter().chain(owed);
                Person {
                    name,
                    cells: cells.collect(),
                }
            })
            .collect(),
        nobody: "Nobody at the moment. Who qualifies is looked up again at its time.",
        total: String::new(),
        part,
        plan,
    };
    page.page()
}

/// The audience of one member.
fn of(member: MemberId) -> Audience {
    Audience::Member(member)
}
