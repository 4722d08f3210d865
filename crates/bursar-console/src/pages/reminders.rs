//! Reminders: planned, running, past, with what became of each.

mod failed;
pub(crate) mod one;
pub(crate) mod write;

use askama::Template;
use bursar_app::names::{self, Names};
use bursar_app::pages::{self, ReminderLine, Reminders};
use bursar_app::reminders::SCHEDULE;
use bursar_app::{View, messages};
use bursar_domain::ids::Id;
use bursar_domain::message::MessageState;
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::zone::Zone;

use super::tabbed::{Cell, Column, Row, Tabbed, tab};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words::{self, Moment};

const TABS: [(Reminders, &str, &str, &str); 3] = [
    (
        Reminders::Planned,
        "planned",
        "Planned",
        "Nothing is planned. Write the first reminder: to a group, to everybody who owes, or to one member.",
    ),
    (
        Reminders::Running,
        "running",
        "Running",
        "Nothing is being sent at the moment.",
    ),
    (Reminders::Past, "past", "Past", "Nothing was sent yet."),
];

/// The tab that the address asks for.
pub(super) fn here(asking: &Asking) -> (Reminders, &'static str, &'static str, &'static str) {
    let asked = asking.query("show");
    let found = TABS.into_iter().find(|(_, word, ..)| *word == asked);
    found.unwrap_or(TABS[0])
}

/// Whether the address asks for messages that were not delivered.
pub(super) fn is_failed(asking: &Asking) -> bool {
    asking.query("show") == failed::WORD
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let ((here, word, _, empty), is_failed) = (here(asking), is_failed(asking));
    let mut tabs = Vec::new();
    for (which, word, name, _) in TABS {
        let waiting = match which {
            Reminders::Planned | Reminders::Running => Some(pages::reminders_in(view, which)?),
            Reminders::Past => None,
        };
        let to = asking.with("reminders", &[("show", word), ("batch", "")]);
        tabs.push((to, tab(name, waiting), which == here && !is_failed));
    }
    if frame.may(&messages::LIST) {
        let to = asking.with("reminders", &[("show", failed::WORD), ("batch", "")]);
        tabs.push((to, "Not delivered".to_owned(), is_failed));
        if is_failed {
            return failed::show(view, asking, tabs);
        }
    }
    // Those that one form wrote to several members are one line, unless they are what is asked for.
    let after = asking.place();
    let found = match Id::parse(asking.query("batch")) {
        Some(like) => pages::reminders_like(view, like, after)?,
        None => pages::reminders(view, here, after)?,
    };
    let older = found.next.map(|(at, last)| asking.after("reminders", at, last));
    let shown: Vec<Reminder> = found.lines.iter().map(|line| line.reminder.clone()).collect();
    let named = names::of_references(view, &shown)?;
    let mut rows = Vec::new();
    for line in &found.lines {
        rows.push(row(view, asking, line, (here, word), &named)?);
    }
    let mut columns: Vec<Column> = ["What", "To", "When", "How", "State"]
        .into_iter()
        .map(Column::new)
        .collect();
    if here == Reminders::Past {
        columns.push(Column::new("Messages"));
    }
    let page = Tabbed {
        frame,
        title: "Reminders",
        act: write(frame),
        tabs,
        columns,
        rows,
        empty,
        older: older.unwrap_or_default(),
        csv: asking.with("reminders/csv", &[]),
    };
    Ok(page.render()?)
}

fn write(frame: &Frame) -> Option<(String, &'static str)> {
    frame
        .may(&SCHEDULE)
        .then(|| (frame.at("reminders/new"), "Write a reminder"))
}

fn row(
    view: &mut View<'_, '_>,
    asking: &Asking,
    line: &ReminderLine,
    (here, word): (Reminders, &str),
    named: &Names,
) -> Result<Row, Failure> {
    let frame = &asking.frame;
    let reminder = &line.reminder;
    let id = reminder.id.to_string();
    let mut cells = vec![
        Cell::Text(to(line, named)),
        Cell::Moment(when(reminder, &frame.place.organization.time_zone)),
        Cell::Text(how(reminder.method).to_owned()),
        Cell::Badge(reminder.status.as_str(), state(reminder.status).to_owned()),
    ];
    if here == Reminders::Past {
        cells.push(Cell::Text(match line.count {
            1 => became(&messages::counts(view, reminder.id)?),
            _ => String::new(),
        }));
    }
    Ok(Row {
        to: match line.count {
            1 => frame.at(&format!("reminders/{id}")),
            _ => asking.with("reminders", &[("show", word), ("batch", &id)]),
        },
        what: what(reminder),
        cells,
    })
}

/// The subject, or how the text begins.
pub(super) fn what(reminder: &Reminder) -> String {
    let text = reminder.subject.as_ref().or(reminder.body.as_ref());
    let line = text.and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("What is owed");
    let short: String = line.chars().take(80).collect();
    match short.len() < line.len() {
        true => format!("{short}…"),
        false => short,
    }
}

/// Whom one line of the list is to.
pub(super) fn to(line: &ReminderLine, named: &Names) -> String {
    match line.count {
        1 => who(&line.reminder, named),
        count => words::count(count, "member", "members"),
    }
}

pub(super) fn who(reminder: &Reminder, named: &Names) -> String {
    match reminder.audience() {
        Audience::Member(id) => named.told(Some(id)),
        Audience::Group(id) => named.told(Some(id)),
        Audience::Organization(id) => named.told(Some(id)),
        Audience::Nobody => "Nobody".to_owned(),
    }
}

pub(super) fn how(method: Method) -> &'static str {
    match method {
        Method::Email => "E-mail",
        Method::Sms => "SMS",
    }
}

pub(super) fn state(status: ReminderStatus) -> &'static str {
    match status {
        ReminderStatus::Scheduled => "Planned",
        ReminderStatus::Sending => "Being sent",
        ReminderStatus::Sent => "Sent",
        ReminderStatus::Failed => "Failed",
        ReminderStatus::Completed => "Reached nobody",
        ReminderStatus::Cancelled => "Stopped",
    }
}

pub(super) fn when(reminder: &Reminder, zone: &Zone) -> Moment {
    let at = match reminder.status {
        ReminderStatus::Sent => reminder.sent_at.or(reminder.scheduled_at),
        _ => reminder.scheduled_at,
    };
    let mut when = Moment::or_dash(at, zone);
    when.told += &match (reminder.is_held, reminder.recurring_interval_days) {
        (true, _) => ", held".to_owned(),
        (false, Some(1)) => ", then every day".to_owned(),
        (false, Some(days)) => format!(", then every {days} days"),
        (false, None) => String::new(),
    };
    when
}

/// `34 delivered, 2 failed`
pub(super) fn became(counts: &[(MessageState, i64)]) -> String {
    let of = |wanted: &[MessageState]| -> i64 {
        let found = counts.iter().filter(|(state, _)| wanted.contains(state));
        found.map(|(_, count)| *count).sum()
    };
    let told = [
        (of(&[MessageState::Delivered]), "delivered"),
        (of(&[MessageState::Queued, MessageState::Sending]), "on the way"),
        (of(&[MessageState::Written]), "written to a file"),
        (of(&[MessageState::Failed]), "failed"),
        (of(&[MessageState::Skipped]), "skipped"),
    ];
    let told = told.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, word)| format!("{count} {word}"))
        .collect::<Vec<_>>()
        .join(", ")
}
