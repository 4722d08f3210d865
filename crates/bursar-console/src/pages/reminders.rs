//! Reminders: planned, running, past, with what became of each.

pub(crate) mod one;
pub(crate) mod write;

use askama::Template;
use bursar_app::names::{self, Names};
use bursar_app::reminders::{self, SCHEDULE};
use bursar_app::{View, messages};
use bursar_domain::ids::ReminderId;
use bursar_domain::message::MessageState;
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::zone::Zone;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

const PAGE_ROWS: usize = 50;

struct Row {
    id: ReminderId,
    /// Where it leads.
    to: String,
    what: String,
    who: String,
    when: String,
    how: &'static str,
    status: ReminderStatus,
    state: &'static str,
    became: String,
}

#[derive(Template)]
#[template(path = "reminders/list.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_write: bool,
    tabs: Vec<(String, String, bool)>,
    rows: Vec<Row>,
    is_past: bool,
    empty: &'static str,
    older: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    Planned,
    Running,
    Past,
}

const TABS: [(Tab, &str, &str); 3] = [
    (Tab::Planned, "planned", "Planned"),
    (Tab::Running, "running", "Running"),
    (Tab::Past, "past", "Past"),
];

fn tab_of(status: ReminderStatus) -> Tab {
    match status {
        ReminderStatus::Scheduled => Tab::Planned,
        ReminderStatus::Sending => Tab::Running,
        ReminderStatus::Sent
        | ReminderStatus::Failed
        | ReminderStatus::Completed
        | ReminderStatus::Cancelled => Tab::Past,
    }
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let all = reminders::list(view, None)?;
    let (tab, word, _) = TABS
        .into_iter()
        .find(|(_, word, _)| *word == asking.query("show"))
        .unwrap_or(TABS[0]);
    let tabs = TABS.into_iter().map(|(other, word, name)| {
        let count = all.iter().filter(|one| tab_of(one.status) == other).count();
        (
            asking.with("reminders", &[("show", word)]),
            format!("{name} ({count})"),
            other == tab,
        )
    });
    let tabs: Vec<_> = tabs.collect();
    let mut found: Vec<&Reminder> = all.iter().filter(|one| tab_of(one.status) == tab).collect();
    match tab {
        Tab::Planned => found.sort_by_key(|one| (one.scheduled_at, one.id)),
        Tab::Running | Tab::Past => {
            found.sort_by_key(|one| std::cmp::Reverse((one.sent_at.or(one.scheduled_at), one.id)));
        }
    }
    // Those that one form wrote to several members are one line, unless they are what is asked for.
    let batch = asking.query("batch");
    let sets = sets(&found);
    let mut lines: Vec<(&Reminder, usize)> = match batch {
        "" => sets
            .into_iter()
            .filter_map(|set| Some((*set.first()?, set.len())))
            .collect(),
        batch => sets
            .into_iter()
            .filter(|set| set.first().is_some_and(|first| first.id.to_string() == batch))
            .flatten()
            .map(|one| (one, 1))
            .collect(),
    };
    if let Some(place) = lines
        .iter()
        .position(|(one, _)| one.id.to_string() == asking.query("after"))
    {
        lines.drain(..=place);
    }
    let is_more = lines.len() > PAGE_ROWS;
    lines.truncate(PAGE_ROWS);
    let older = match (is_more, lines.last()) {
        (true, Some((last, _))) => {
            asking.with("reminders", &[("after", &last.id.to_string()), ("show", word)])
        }
        _ => String::new(),
    };
    let shown: Vec<Reminder> = lines.iter().map(|(one, _)| (*one).clone()).collect();
    let named = names::of_references(view, &shown)?;
    let mut rows = Vec::new();
    for (one, count) in lines {
        rows.push(row(view, asking, one, count, &named)?);
    }
    let page = Page {
        frame,
        may_write: frame.may(&SCHEDULE),
        tabs,
        rows,
        is_past: tab == Tab::Past,
        empty: match tab {
            Tab::Planned => {
                "Nothing is planned. Write the first reminder: to a group, to everybody who owes, or to one member."
            }
            Tab::Running => "Nothing is being sent at the moment.",
            Tab::Past => "Nothing was sent yet.",
        },
        older,
    };
    Ok(page.render()?)
}

/// Reminders of the same text and time to single members, together.
fn sets<'r>(found: &[&'r Reminder]) -> Vec<Vec<&'r Reminder>> {
    let mut sets: Vec<Vec<&Reminder>> = Vec::new();
    for one in found {
        let is_same = |other: &Reminder| {
            let is_single = |of: &Reminder| matches!(of.audience(), Audience::Member(_)) && !of.is_recurring;
            is_single(one)
                && is_single(other)
                && (one.scheduled_at, one.method, one.status)
                    == (other.scheduled_at, other.method, other.status)
                && (&one.subject, &one.body) == (&other.subject, &other.body)
        };
        match sets
            .iter_mut()
            .find(|set| set.first().is_some_and(|first| is_same(first)))
        {
            Some(set) => set.push(one),
            None => sets.push(vec![one]),
        }
    }
    sets
}

fn row(
    view: &mut View<'_, '_>,
    asking: &Asking,
    reminder: &Reminder,
    count: usize,
    named: &Names,
) -> Result<Row, Failure> {
    let frame = &asking.frame;
    let became = match (tab_of(reminder.status), count) {
        (Tab::Planned, _) | (_, 2..) => String::new(),
        _ => became(&messages::counts(view, reminder.id)?),
    };
    let id = reminder.id;
    Ok(Row {
        to: match count {
            1 => frame.at(&format!("reminders/{id}")),
            _ => asking.with("reminders", &[("batch", &id.to_string())]),
        },
        id,
        what: what(reminder),
        who: match count {
            1 => who(reminder, named),
            count => words::count(count, "member", "members"),
        },
        when: when(reminder, &frame.place.organization.time_zone),
        how: how(reminder.method),
        status: reminder.status,
        state: state(reminder.status),
        became,
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

pub(super) fn when(reminder: &Reminder, zone: &Zone) -> String {
    let at = match reminder.status {
        ReminderStatus::Sent => reminder.sent_at.or(reminder.scheduled_at),
        _ => reminder.scheduled_at,
    };
    let at = at.map_or_else(|| "\u{2013}".to_owned(), |at| words::moment_there(at, zone));
    match (reminder.is_held, reminder.recurring_interval_days) {
        (true, _) => format!("{at}, held"),
        (false, Some(1)) => format!("{at}, then every day"),
        (false, Some(days)) => format!("{at}, then every {days} days"),
        (false, None) => at,
    }
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
