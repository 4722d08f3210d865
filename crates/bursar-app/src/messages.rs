//! Messages as officers see them.

use bursar_db::messages::{self, AttemptRecord};
use bursar_db::outbox;
use bursar_domain::access::Role;
use bursar_domain::ids::{MemberId, MessageId, OrganizationId, ReminderId, TokenId, UserId, WebhookId};
use bursar_domain::message::{JobKind, MessageState};
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::states::Machine;
use bursar_domain::{Refusal, Timestamp};
use serde::Serialize;

use crate::act::{Act, View};
use crate::desk::{PAGE_ROWS, Page};
use crate::error::AppError;
use crate::letter;
use crate::member_access::Links;
use crate::outbox::LOOK_AGAIN_SECONDS;
use crate::recipients;
use crate::rule::Rule;

pub const LIST: Rule = Rule::of("message.list", Role::Editor, "read its messages");
pub const RETRY: Rule = Rule::of("message.retry", Role::Editor, "send its messages again");
pub const RULES: &[&Rule] = &[&LIST, &RETRY];

pub const PAGE_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    pub id: MessageId,
    pub kind: JobKind,
    pub reminder_id: Option<ReminderId>,
    pub token_id: Option<TokenId>,
    /// For the notice that a webhook endpoint was disabled.
    pub webhook_id: Option<WebhookId>,
    /// The run of the reminder, or the time at which the notice fell due.
    pub run_at: Timestamp,
    /// The id of a member, an organization or a user; the token's if nobody could be written to, and the reminder's for
    /// a test.
    pub recipient_id: String,
    pub name: Option<String>,
    pub method: Method,
    /// Null after the retention.
    pub address: Option<String>,
    /// Null after the retention.
    pub subject: Option<String>,
    /// How many parts an SMS is sent in.
    pub segments: Option<i64>,
    pub state: MessageState,
    /// The server's last response, or why nothing was sent.
    pub detail: Option<String>,
    pub attempts: i64,
    pub failures: Vec<Failure>,
    /// Null when the message has ended or is being sent.
    pub next_attempt_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub at: Timestamp,
    /// The server's response, or why it could not be reached.
    pub answer: String,
}

#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub reminder: Option<ReminderId>,
    /// The last message of the previous page.
    pub before: Option<MessageId>,
    /// At most [`PAGE_MAX`].
    pub limit: usize,
}

/// Newest first. A page that is not full is the last.
pub fn list(view: &mut View<'_, '_>, query: Query) -> Result<Vec<Sent>, AppError> {
    view.allow(&LIST)?;
    if !(1..=PAGE_MAX).contains(&query.limit) {
        let rule = format!("must be 1 to {PAGE_MAX}, got {}", query.limit);
        return Err(Refusal::invalid("limit", rule).into());
    }
    if let Some(id) = query.reminder {
        view.get::<Reminder>(id)?
            .ok_or_else(|| crate::reminders::no_reminder(id))?;
    }
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let records = messages::newest(view.tx, view.organization, query.reminder, query.before, limit)?;
    records.into_iter().map(|record| describe(view, record)).collect()
}

/// Those that were not delivered, the last first, after the one given.
pub fn failed(view: &mut View<'_, '_>, after: Option<MessageId>) -> Result<Page<Sent>, AppError> {
    view.allow(&LIST)?;
    let before = match after {
        None => None,
        Some(id) => {
            let found = messages::get(view.tx, view.organization, id)?;
            let found = found.ok_or_else(|| Refusal::missing("there is no such message"))?;
            Some((found.ended_at.unwrap_or(found.created_at), id))
        }
    };
    let limit = i64::try_from(PAGE_ROWS + 1).unwrap_or(i64::MAX);
    let mut records = messages::failed(view.tx, view.organization, before, limit)?;
    let is_more = records.len() > PAGE_ROWS;
    records.truncate(PAGE_ROWS);
    let rows = records.into_iter().map(|record| describe(view, record));
    Ok(Page {
        rows: rows.collect::<Result<_, _>>()?,
        is_more,
    })
}

/// To one member, the latest first.
pub fn of_member(view: &mut View<'_, '_>, member: MemberId, limit: usize) -> Result<Vec<Sent>, AppError> {
    view.allow(&LIST)?;
    let limit = i64::try_from(limit.min(PAGE_MAX)).unwrap_or(i64::MAX);
    let records = messages::of_recipient(view.tx, view.organization, member.to_bytes(), limit)?;
    records.into_iter().map(|record| describe(view, record)).collect()
}

/// How many messages of a reminder are in which state.
pub fn counts(view: &mut View<'_, '_>, reminder: ReminderId) -> Result<Vec<(MessageState, i64)>, AppError> {
    view.allow(&LIST)?;
    Ok(messages::counts(view.tx, view.organization, reminder)?)
}

fn describe<M>(act: &mut Act<'_, '_, M>, record: messages::Record) -> Result<Sent, AppError> {
    let failures = match record.attempts {
        0 => Vec::new(),
        _ => messages::attempts(act.tx, act.organization, record.id)?,
    };
    let (reminder_id, token_id) = match record.kind {
        JobKind::Reminder | JobKind::Test => (Some(ReminderId::from_bytes(record.subject_id)), None),
        JobKind::Notice => (None, Some(TokenId::from_bytes(record.subject_id))),
        JobKind::Webhook => (None, None),
    };
    Ok(Sent {
        id: record.id,
        reminder_id,
        token_id,
        webhook_id: (record.kind == JobKind::Webhook).then(|| WebhookId::from_bytes(record.subject_id)),
        run_at: record.run_at,
        recipient_id: recipient_id(act, reminder_id, &record)?,
        kind: record.kind,
        name: record.name.filter(|name| !name.is_empty()),
        method: record.method,
        address: record.address,
        subject: record.subject,
        segments: record.segments,
        next_attempt_at: (record.state == MessageState::Queued).then_some(record.due_at),
        state: record.state,
        detail: record.detail,
        attempts: record.attempts,
        failures: failures.into_iter().map(Failure::from).collect(),
        created_at: record.created_at,
        ended_at: record.ended_at,
    })
}

impl From<AttemptRecord> for Failure {
    fn from(record: AttemptRecord) -> Self {
        Self {
            at: record.at,
            answer: record.detail,
        }
    }
}

/// The kind of recipient follows from what the message is about.
fn recipient_id<M>(
    act: &mut Act<'_, '_, M>,
    reminder: Option<ReminderId>,
    record: &messages::Record,
) -> Result<String, AppError> {
    let Some(id) = reminder else {
        let is_nobody = record.recipient == record.subject_id;
        return Ok(match is_nobody {
            true => TokenId::from_bytes(record.recipient).to_string(),
            false => UserId::from_bytes(record.recipient).to_string(),
        });
    };
    if record.kind == JobKind::Test {
        return Ok(id.to_string());
    }
    let audience = act.get::<Reminder>(id)?.map(|reminder| reminder.audience());
    Ok(match audience {
        Some(Audience::Organization(_)) => OrganizationId::from_bytes(record.recipient).to_string(),
        Some(Audience::Member(_) | Audience::Group(_) | Audience::Nobody) | None => {
            MemberId::from_bytes(record.recipient).to_string()
        }
    })
}

/// Queues a failed message again. A recipient who no longer qualifies is skipped, with the reason.
pub fn retry(act: &mut Act<'_, '_>, id: MessageId) -> Result<Sent, AppError> {
    act.allow(&RETRY)?;
    let organization = act.organization;
    let missing = || Refusal::missing(format!("there is no message {id} in organization {organization}"));
    let record = messages::get(act.tx, organization, id)?.ok_or_else(missing)?;
    if record.state != MessageState::Failed || !record.has_body {
        return Err(not_again(&record).into());
    }
    let now = act.now();
    let action = match qualifies_still(act, &record)? {
        Ok(()) => {
            messages::retry(act.tx, organization, id, now)?;
            if record.kind == JobKind::Reminder {
                resume(act, &record)?;
            }
            RETRY.name
        }
        Err(reason) => {
            messages::skip(act.tx, organization, id, &reason, now)?;
            "message.skip"
        }
    };
    act.log(action, Some(id.to_string()), None)?;
    let record = messages::get(act.tx, organization, id)?.ok_or_else(missing)?;
    describe(act, record)
}

/// Whether the message may still go to its recipient, or why not. The member may have paid, left or changed address,
/// so what is owed and the address are looked up again.
fn qualifies_still(act: &mut Act<'_, '_>, record: &messages::Record) -> Result<Result<(), String>, AppError> {
    match record.kind {
        JobKind::Reminder => {}
        JobKind::Notice => return crate::notices::still_due(act, TokenId::from_bytes(record.subject_id)),
        JobKind::Webhook => {
            return crate::webhooks::notice::still_due(act, WebhookId::from_bytes(record.subject_id));
        }
        // It went to an officer, who asks for it again.
        JobKind::Test => return Ok(Ok(())),
    }
    let id = ReminderId::from_bytes(record.subject_id);
    let found = act.get::<Reminder>(id)?;
    let message = outbox::message(act.tx, act.organization, record.id)?;
    let (Some(reminder), Some(mut message)) = (found, message) else {
        return Ok(Err("the reminder does not exist".to_owned()));
    };
    let recipient = match recipients::again(act, &reminder, record.recipient)? {
        Ok(recipient) => recipient,
        Err(reason) => return Ok(Err(reason.into_owned())),
    };
    let organization = act.own()?;
    let today = organization.time_zone.date(act.now());
    let link = recipient.link(&reminder, Links::of(act)?.as_ref());
    letter::write(
        &mut message,
        &reminder,
        &organization,
        &recipient,
        link.as_deref(),
        today,
    );
    outbox::readdress(act.tx, &message)?;
    Ok(Ok(()))
}

fn not_again(record: &messages::Record) -> Refusal {
    let (id, state) = (record.id, record.state);
    Refusal::conflict(match state {
        MessageState::Failed => format!(
            "message {id} is failed, but its text was removed when its retention ended; schedule a new reminder"
        ),
        MessageState::Queued => format!(
            "message {id} is queued already and will be tried at {}; only a failed message can be sent again",
            record.due_at
        ),
        MessageState::Sending | MessageState::Delivered | MessageState::Written | MessageState::Skipped => {
            format!(
                "message {id} is {state}; only a failed message can be sent again; schedule a new reminder instead"
            )
        }
    })
}

/// Sets a failed reminder back to sending. Its run ends again when the message has ended.
fn resume(act: &mut Act<'_, '_>, record: &messages::Record) -> Result<(), AppError> {
    let id = ReminderId::from_bytes(record.subject_id);
    let Some(mut reminder) = act.get::<Reminder>(id)? else {
        return Ok(());
    };
    if reminder.status != ReminderStatus::Failed {
        return Ok(());
    }
    reminder.status = reminder
        .status
        .to(ReminderStatus::Scheduled)?
        .to(ReminderStatus::Sending)?;
    let look_again = act.now().plus_seconds(LOOK_AGAIN_SECONDS);
    outbox::reopen(act.tx, act.organization, record.job, look_again)?;
    act.update(&mut reminder)
}
