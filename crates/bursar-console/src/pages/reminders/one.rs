//! A reminder: its text, whom it reaches, what became of its messages; send now, stop, send again, try.

use askama::Template;
use bursar_app::messages::{self, Query, Sent as Message};
use bursar_app::preview::{self, Preview};
use bursar_app::reminders::{self, CANCEL, SEND_NOW};
use bursar_app::{View, names, resources};
use bursar_domain::ids::{Id, MessageId, ReminderId, kind};
use bursar_domain::message::MessageState;
use bursar_domain::reminder::{Outcome, Reminder, ReminderStatus};

use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::pages::preview::some_names;
use crate::pages::seen::{self, Digest};
use crate::words::{self, Moment};

const SHOWN: &[&str] = &["to"];
const MESSAGES: usize = 50;
/// Messages that are sent again at once.
const AGAIN_MAX: usize = 500;

struct MessageRow {
    who: String,
    /// The member's id, for a link.
    member: String,
    address: String,
    state: MessageState,
    told: &'static str,
    why: String,
    when: Moment,
}

#[derive(Template)]
#[template(path = "reminders/one.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    what: String,
    status: ReminderStatus,
    state: &'static str,
    who: String,
    when: Moment,
    how: &'static str,
    is_owed: bool,
    subject: String,
    body: String,
    became: String,
    preview: Option<Preview>,
    /// A digest of whom it reaches.
    plan: String,
    people: String,
    skipped: Vec<(String, String)>,
    messages: Vec<MessageRow>,
    older: String,
    failed: usize,
    may_act: bool,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id: ReminderId = asking.id::<kind::Reminder>(0)?;
    let reminder: Reminder = resources::one(view, id)?;
    let named = names::of_references(view, std::slice::from_ref(&reminder))?;
    let preview = match reminder.status {
        ReminderStatus::Scheduled => Some(preview::preview(view, id)?),
        _ => None,
    };
    let query = Query {
        reminder: Some(id),
        before: Id::parse(asking.query("after")),
        limit: MESSAGES + 1,
    };
    let mut found = messages::list(view, query)?;
    let is_more = found.len() > MESSAGES;
    found.truncate(MESSAGES);
    let older = match (is_more, found.last()) {
        (true, Some(last)) => asking.with(&format!("reminders/{id}"), &[("after", &last.id.to_string())]),
        _ => String::new(),
    };
    let counts = messages::counts(view, id)?;
    let failed = counts.iter().find(|(state, _)| *state == MessageState::Failed);
    let zone = &frame.place.organization.time_zone;
    let reached = preview.as_ref().map_or(0, |preview| preview.recipients.len());
    let page = Page {
        frame,
        form,
        what: super::what(&reminder),
        status: reminder.status,
        state: super::state(reminder.status),
        who: super::who(&reminder, &named),
        when: super::when(&reminder, zone),
        how: super::how(reminder.method),
        is_owed: reminder.include_payment_info,
        subject: reminder.subject.clone().unwrap_or_default(),
        body: reminder.body.clone().unwrap_or_default(),
        became: super::became(&counts),
        people: words::count(reached, "person", "people"),
        skipped: preview.as_ref().map(skipped).unwrap_or_default(),
        plan: plan(preview.as_slice()),
        preview,
        messages: found.iter().map(|message| row(message, frame)).collect(),
        older,
        failed: failed.map_or(0, |(_, count)| usize::try_from(*count).unwrap_or(0)),
        may_act: frame.may(&SEND_NOW) && frame.may(&CANCEL),
    };
    Ok(page.render()?)
}

/// Who is written to, where, and what they owe.
pub(super) fn plan(previews: &[Preview]) -> String {
    let mut digest = Digest::default();
    for one in previews.iter().flat_map(|preview| &preview.recipients) {
        let owed = one.owed.as_deref().unwrap_or_default();
        digest.add(&one.id).add(&one.address).add(owed);
    }
    digest.text()
}

/// Why people are left out, and who.
pub(super) fn skipped(preview: &Preview) -> Vec<(String, String)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for left in &preview.skipped {
        match reasons.iter_mut().find(|(reason, _)| *reason == left.reason) {
            Some((_, names)) => names.push(&left.name),
            None => reasons.push((&left.reason, vec![&left.name])),
        }
    }
    let told = |(reason, names): (&str, Vec<&str>)| {
        let people = words::count(names.len(), "person is left out", "people are left out");
        (format!("{people}: {reason}"), some_names(names.into_iter()))
    };
    reasons.into_iter().map(told).collect()
}

fn row(message: &Message, frame: &Frame) -> MessageRow {
    let zone = &frame.place.organization.time_zone;
    let is_member = Id::<kind::Member>::parse(&message.recipient_id).is_some();
    let why = message.detail.clone().unwrap_or_default();
    MessageRow {
        who: message.name.clone().unwrap_or_else(|| "Nobody".to_owned()),
        member: match is_member && message.name.is_some() {
            true => message.recipient_id.clone(),
            false => String::new(),
        },
        address: message.address.clone().unwrap_or_default(),
        state: message.state,
        told: match message.state {
            MessageState::Queued => "Waiting",
            MessageState::Sending => "Being sent",
            MessageState::Delivered => "Delivered",
            MessageState::Written => "Written to a file",
            MessageState::Failed => "Failed",
            MessageState::Skipped => "Skipped",
        },
        why: match message.state {
            MessageState::Delivered => String::new(),
            _ => why,
        },
        when: Moment::there(message.ended_at.unwrap_or(message.created_at), zone),
    }
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id: ReminderId = asking.id::<kind::Reminder>(0)?;
    let to = asking.frame.at(&format!("reminders/{id}"));
    Ok(Sent::Do(match form.get("do") {
        "send" => {
            let form = form.clone();
            Box::new(move |act| {
                let now = preview::preview(&mut act.view(), id)?;
                seen::planned(&form, &plan(&[now]))?;
                let (_, outcome) = reminders::send_now(act, id)?;
                Ok(Done::new(
                    to.clone(),
                    match outcome {
                        Outcome::Sent => "It is on its way.",
                        Outcome::Skipped => "Nobody qualifies any more, so nothing was sent.",
                    },
                ))
            })
        }
        "stop" => Box::new(move |act| {
            reminders::cancel(act, id)?;
            Ok(Done::new(to.clone(), "Stopped. It will not be sent."))
        }),
        "retry" => Box::new(move |act| {
            reminders::retry(act, id)?;
            Ok(Done::new(to.clone(), "It will be sent again in a moment."))
        }),
        "failed" => {
            let failed = failed(view, id)?;
            Box::new(move |act| {
                let (mut sent, mut skipped) = (0, 0);
                for message in &failed {
                    match messages::retry(act, *message)?.state {
                        MessageState::Skipped => skipped += 1,
                        _ => sent += 1,
                    }
                }
                Ok(Done::new(to.clone(), told_again(sent, skipped)))
            })
        }
        "test" => {
            let address = form.required("to", "Enter where to send the test.")?;
            Box::new(move |act| {
                preview::test(act, id, &address)?;
                Ok(Done::new(to.clone(), format!("A test goes to {address}.")))
            })
        }
        _ => return Err(Problem::of("do", "Choose what to do with the reminder.").into()),
    }))
}

/// What came of sending failed messages again. Whoever no longer qualifies is skipped.
fn told_again(sent: usize, skipped: usize) -> String {
    let many = |count| words::count(count, "message", "messages");
    let why = "whose recipients no longer qualify";
    match (sent, skipped) {
        (sent, 0) => format!("Sending {} again.", many(sent)),
        (0, skipped) => format!("Skipped {} {why}. Nothing is sent again.", many(skipped)),
        (sent, skipped) => format!("Sending {} again. Skipped {} {why}.", many(sent), many(skipped)),
    }
}

fn failed(view: &mut View<'_, '_>, id: ReminderId) -> Result<Vec<MessageId>, Failure> {
    let (mut failed, mut before) = (Vec::new(), None);
    loop {
        let query = Query {
            reminder: Some(id),
            before,
            limit: messages::PAGE_MAX,
        };
        let page = messages::list(view, query)?;
        before = page.last().map(|message| message.id);
        let of_page = page
            .iter()
            .filter(|message| message.state == MessageState::Failed);
        failed.extend(of_page.map(|message| message.id));
        if page.len() < messages::PAGE_MAX || failed.len() >= AGAIN_MAX {
            break;
        }
    }
    failed.truncate(AGAIN_MAX);
    match failed.is_empty() {
        true => Err(Problem::of("do", "No message of this reminder failed.").into()),
        false => Ok(failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_messages_are_not_counted_as_sent() {
        for (sent, skipped, told) in [
            (2, 0, "Sending 2 messages again."),
            (
                1,
                2,
                "Sending 1 message again. Skipped 2 messages whose recipients no longer qualify.",
            ),
            (
                0,
                1,
                "Skipped 1 message whose recipients no longer qualify. Nothing is sent again.",
            ),
        ] {
            assert_eq!(told_again(sent, skipped), told);
        }
    }
}
