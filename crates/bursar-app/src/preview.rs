//! What a reminder would send now: to whom, to whom not and why, and one message; and a test of it to an officer.

use bursar_db::outbox;
use bursar_db::outbox::Message;
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::email::{check_email, e164};
use bursar_domain::ids::{Id, MemberId, MessageId, OrganizationId, ReminderId};
use bursar_domain::message::JobKind;
use bursar_domain::organization::Organization;
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use serde::Serialize;

use crate::act::{Act, View};
use crate::error::AppError;
use crate::letter;
use crate::member_access::Links;
use crate::outbox::EXPAND_MAX;
use crate::recipients::{self, Recipient};
use crate::reminders::{NewReminder, no_reminder, queue_run, written};
use crate::rule::Rule;
use crate::sms;
use crate::statement::Statement;
use crate::texts::{TEXTS, say};

pub const PREVIEW: Rule = Rule::of("reminder.preview", Role::Editor, "see who its reminders reach");
pub const TEST: Rule = Rule::of("reminder.test", Role::Editor, "send test messages");
pub const RULES: &[&Rule] = &[&PREVIEW, &TEST];

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    pub id: ReminderId,
    pub status: ReminderStatus,
    pub method: Method,
    pub recipients: Vec<Reached>,
    pub skipped: Vec<LeftOut>,
    /// The first one, as its reader sees it; null when there is none.
    pub message: Option<Shown>,
}

/// Somebody who gets one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reached {
    /// Of a member or an organization.
    pub id: String,
    pub name: String,
    pub address: String,
    /// With the currency; only if the reminder says what is owed.
    pub owed: Option<String>,
    /// Members whom the reader pays for and the message is about.
    pub paying_for: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub id: String,
    pub name: String,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub name: String,
    pub address: String,
    /// Null for an SMS.
    pub subject: Option<String>,
    pub text: String,
    /// The parts of an SMS.
    pub segments: Option<i64>,
}

/// Reads all recipients, so a large group takes a moment.
pub fn preview(view: &mut View<'_, '_>, id: ReminderId) -> Result<Preview, AppError> {
    view.allow(&PREVIEW)?;
    let reminder: Reminder = view.get(id)?.ok_or_else(|| no_reminder(id))?;
    look(view, &reminder)
}

/// The same for a reminder that is being written. Nothing is stored.
pub fn preview_new(view: &mut View<'_, '_>, new: &NewReminder) -> Result<Preview, AppError> {
    view.allow(&PREVIEW)?;
    let reminder = written(view, new)?;
    look(view, &reminder)
}

fn look(view: &mut View<'_, '_>, reminder: &Reminder) -> Result<Preview, AppError> {
    let organization = view.own()?;
    let today = organization.time_zone.date(view.now());
    let mut preview = Preview {
        id: reminder.id,
        status: reminder.status,
        method: reminder.method,
        recipients: Vec::new(),
        skipped: Vec::new(),
        message: None,
    };
    let mut after = None;
    loop {
        let page = recipients::page(view, reminder, after, EXPAND_MAX)?;
        if let (None, Some(first)) = (&preview.message, page.qualify.first()) {
            let mut message = blank(reminder, view.organization, Id::from_bits(0), [0; 16]);
            let link = example(view, reminder)?;
            letter::write(
                &mut message,
                reminder,
                &organization,
                first,
                link.as_deref(),
                today,
            );
            preview.message = Some(shown(&message, &organization));
        }
        let reached = |recipient: Recipient| Reached {
            id: id_of(reminder, recipient.key),
            owed: Statement::of(&recipient.owed, today, None).map(|owed| owed.money(&owed.total)),
            paying_for: recipient.others.into_iter().map(|other| other.name).collect(),
            name: recipient.name,
            address: recipient.address,
        };
        preview.recipients.extend(page.qualify.into_iter().map(reached));
        let left_out = |skipped: recipients::Skipped| LeftOut {
            id: id_of(reminder, skipped.key),
            name: skipped.name,
            reason: skipped.reason.into_owned(),
        };
        preview.skipped.extend(page.skipped.into_iter().map(left_out));
        after = page.next;
        if after.is_none() {
            return Ok(preview);
        }
    }
}

/// Queues the message that the first recipient would get, to an address of the officer's choice. The reminder stays as
/// it is.
pub fn test(act: &mut Act<'_, '_>, id: ReminderId, to: &str) -> Result<MessageId, AppError> {
    act.allow(&TEST)?;
    let reminder: Reminder = act.get(id)?.ok_or_else(|| no_reminder(id))?;
    let address = match reminder.method {
        Method::Email => check_email(to).map_err(Refusal::of_field("to"))?,
        Method::Sms => e164(to).ok_or_else(|| {
            let rule = "must be a telephone number with a country code, such as +12025550100: the reminder is an SMS";
            Refusal::invalid("to", rule)
        })?,
    };
    let recipient = first(act, &reminder)?.ok_or_else(|| {
        Refusal::conflict(format!(
            "reminder {id} reaches nobody now, so there is no message to test; `bursar reminder preview {id}` says why"
        ))
    })?;
    let (organization, now) = (act.own()?, act.now());
    let job = queue_run(act, JobKind::Test, id, now)?;
    let message_id = act.new_id();
    let mut message = blank(&reminder, act.organization, message_id, id.to_bytes());
    message.job = job;
    let link = example(act, &reminder)?;
    letter::write(
        &mut message,
        &reminder,
        &organization,
        &recipient,
        link.as_deref(),
        organization.time_zone.date(now),
    );
    message.subject = say(TEXTS.test_subject, &[("subject", &message.subject)]);
    message.address = address;
    message.name = String::new();
    outbox::add(act.tx, &message, now)?;
    act.log(TEST.name, Some(id.to_string()), None)?;
    Ok(message_id)
}

/// In place of a link that would open a member's page.
fn example<M>(act: &mut Act<'_, '_, M>, reminder: &Reminder) -> Result<Option<String>, AppError> {
    let is_for_members = !matches!(reminder.audience(), Audience::Organization(_));
    Ok(Links::of(act)?
        .filter(|_| is_for_members)
        .map(|links| links.example()))
}

fn first(act: &mut Act<'_, '_>, reminder: &Reminder) -> Result<Option<Recipient>, AppError> {
    if !recipients::somebody_qualifies(act, reminder)? {
        return Ok(None);
    }
    let mut after = None;
    loop {
        let page = recipients::page(act, reminder, after, EXPAND_MAX)?;
        after = page.next;
        let found = page.qualify.into_iter().next();
        if found.is_some() || after.is_none() {
            return Ok(found);
        }
    }
}

fn blank(reminder: &Reminder, organization: OrganizationId, id: MessageId, recipient: [u8; 16]) -> Message {
    Message {
        organization,
        id,
        job: [0; 16],
        recipient,
        method: reminder.method,
        address: String::new(),
        name: String::new(),
        subject: String::new(),
        body: String::new(),
        owed: None,
        headers: String::new(),
        segments: None,
    }
}

fn shown(message: &Message, organization: &Organization) -> Shown {
    let text = match message.method {
        Method::Email => {
            let contact = organization.contact_email.as_deref();
            letter::mail_text(message, &organization.name, contact)
        }
        Method::Sms => sms::text(message),
    };
    Shown {
        name: message.name.clone(),
        address: message.address.clone(),
        subject: (message.method == Method::Email).then(|| message.subject.clone()),
        text,
        segments: message.segments,
    }
}

fn id_of(reminder: &Reminder, key: [u8; 16]) -> String {
    match reminder.audience() {
        Audience::Organization(_) => OrganizationId::from_bytes(key).to_string(),
        Audience::Member(_) | Audience::Group(_) | Audience::Nobody => MemberId::from_bytes(key).to_string(),
    }
}
