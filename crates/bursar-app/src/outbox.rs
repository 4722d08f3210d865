//! The outbox: jobs become messages, and messages end delivered, failed or skipped, with a reason.
//!
//! The organization's clock is held wherever it is asked whether a run is over, so that two workers who end its last
//! two messages cannot both find the other's still under way.

use bursar_db::outbox::{self, Attempt, Claimed, Job, Message};
use bursar_db::{Tx, messages, organizations, table};
use bursar_domain::ids::{MessageId, ReminderId};
use bursar_domain::organization::Organization;
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::text::percent_encoded;

use crate::act::{Act, Context, no_organization};
use crate::error::AppError;
use crate::messages::Statement;
use crate::recipients::{self, Recipient};
use crate::sms;

/// The kind of a reminder's jobs.
pub const REMINDER_JOB: &str = "reminder";
/// Messages that one transaction makes at most.
pub const EXPAND_MAX: usize = 500;
/// Those who are told of when nobody qualified.
const SKIPPED_TOLD_MAX: usize = 200;
/// A job whose messages are all made is ended by the last of them. It is looked at once more after so many seconds.
pub(crate) const LOOK_AGAIN_SECONDS: i64 = 3_600;

/// Makes the next messages of a job; whether all of them are made now.
pub fn expand(tx: &mut Tx<'_>, context: &mut Context, job: &Job) -> Result<bool, AppError> {
    Act::run(tx, context, job.organization, |act| {
        // Another worker may have gone on with it: what counts is what is written.
        let Some(job) = outbox::job(act.tx, job.organization, job.id)? else {
            return Ok(true);
        };
        if !job.is_expanded
            && job.kind == REMINDER_JOB
            && let Some(next) = expand_reminder(act, &job)?
        {
            let due_at = act.now();
            outbox::expanded(act.tx, &job, Some(next), false, due_at)?;
            return Ok(false);
        }
        // Other kinds are queued with their messages.
        let look_again = act.now().plus_seconds(LOOK_AGAIN_SECONDS);
        outbox::expanded(act.tx, &job, None, true, look_again)?;
        end_if_over(act, &job)?;
        Ok(true)
    })
}

/// Makes the next messages of a reminder's run; where to go on.
fn expand_reminder(act: &mut Act<'_, '_>, job: &Job) -> Result<Option<[u8; 16]>, AppError> {
    let id = ReminderId::from_bytes(job.subject);
    let Some(reminder) = table::get::<Reminder>(act.tx, job.organization, id)? else {
        return Ok(None);
    };
    let organization =
        organizations::get(act.tx, job.organization)?.ok_or_else(|| no_organization(job.organization))?;
    let page = recipients::page(act.tx, job.organization, &reminder, job.expanded_to, EXPAND_MAX)?;
    for recipient in &page.qualify {
        let message = compose(job, &reminder, &organization, recipient, act.new_id());
        outbox::add(act.tx, &message, act.now())?;
    }
    for skipped in &page.skipped {
        let (id, now) = (act.new_id(), act.now());
        let told = (reminder.method.as_str(), skipped.name.as_str(), skipped.reason);
        outbox::add_skipped(act.tx, job.organization, id, job.id, skipped.key, told, now)?;
    }
    Ok(page.next)
}

/// Writes down why nobody was written to; the job is over with it.
pub(crate) fn note_skipped(
    act: &mut Act<'_, '_>,
    reminder: &Reminder,
    job: [u8; 16],
) -> Result<(), AppError> {
    let page = recipients::page(act.tx, act.organization, reminder, None, SKIPPED_TOLD_MAX)?;
    for skipped in &page.skipped {
        let (id, now) = (act.new_id(), act.now());
        let told = (reminder.method.as_str(), skipped.name.as_str(), skipped.reason);
        outbox::add_skipped(act.tx, act.organization, id, job, skipped.key, told, now)?;
    }
    Ok(outbox::done(act.tx, act.organization, job)?)
}

fn compose(
    job: &Job,
    reminder: &Reminder,
    organization: &Organization,
    recipient: &Recipient,
    id: MessageId,
) -> Message {
    let subject = reminder.subject.clone().filter(|subject| !subject.is_empty());
    let mut message = Message {
        organization: job.organization,
        id,
        job: job.id,
        recipient: recipient.key,
        method: reminder.method.as_str().to_owned(),
        address: String::new(),
        name: String::new(),
        subject: subject.unwrap_or_else(|| format!("A reminder from {}", organization.name)),
        body: reminder.body.clone().unwrap_or_default(),
        owed: None,
        headers: unsubscribe(reminder, organization).unwrap_or_default(),
        segments: None,
    };
    address_to(&mut message, reminder, recipient);
    message
}

/// Says whom a message is for, and what they owe.
pub(crate) fn address_to(message: &mut Message, reminder: &Reminder, recipient: &Recipient) {
    message.address.clone_from(&recipient.address);
    message.name.clone_from(&recipient.name);
    message.owed = Statement::of(&recipient.owed).as_ref().map(Statement::to_json);
    if reminder.method == Method::Sms {
        message.segments = i64::try_from(sms::segments(&sms::text(message))).ok();
    }
}

/// A reminder of what is owed is about a debt, and one to a person or an organization is a letter: neither is a list
/// one can leave. What goes to a whole group and names no debt is an announcement: its readers can ask to be left
/// out, by a mail to the organization's contact. Without a contact nobody would read that mail, so nothing is said.
fn unsubscribe(reminder: &Reminder, organization: &Organization) -> Option<String> {
    let (name, host) = organization.contact_email.as_deref()?.rsplit_once('@')?;
    let is_announcement = matches!(reminder.audience(), Audience::Group(_)) && !reminder.include_payment_info;
    (is_announcement && reminder.method == Method::Email).then(|| {
        format!(
            "List-Unsubscribe: <mailto:{}@{host}?subject=Unsubscribe>",
            percent_encoded(name)
        )
    })
}

/// Writes down how an attempt ended, and ends the run when it was the last one.
pub fn attempted(
    tx: &mut Tx<'_>,
    context: &mut Context,
    claimed: &Claimed,
    attempt: &Attempt,
) -> Result<(), AppError> {
    let message = &claimed.message;
    Act::run(tx, context, message.organization, |act| {
        if !outbox::attempted(act.tx, claimed, attempt, act.now())? {
            return Ok(());
        }
        match outbox::job(act.tx, message.organization, message.job)? {
            Some(job) if job.is_expanded => end_if_over(act, &job),
            Some(_) => Ok(()),
            None if matches!(attempt, Attempt::Delivered(_)) => delivered_late(act, message.id),
            None => Ok(()),
        }
    })
}

/// A message that an officer queued again was delivered after its run had ended.
fn delivered_late(act: &mut Act<'_, '_>, id: MessageId) -> Result<(), AppError> {
    let Some(record) = messages::get(act.tx, act.organization, id)?.filter(|r| r.kind == REMINDER_JOB) else {
        return Ok(());
    };
    let id = ReminderId::from_bytes(record.subject_id);
    if let Some(mut reminder) = table::get::<Reminder>(act.tx, act.organization, id)? {
        reminder.sent_at = Some(act.now());
        act.update(&mut reminder)?;
    }
    Ok(())
}

/// Ends a job whose messages have all ended, and the run that it is.
fn end_if_over(act: &mut Act<'_, '_>, job: &Job) -> Result<(), AppError> {
    if outbox::is_under_way(act.tx, job.organization, job.id)? {
        return Ok(());
    }
    outbox::done(act.tx, job.organization, job.id)?;
    if job.kind != REMINDER_JOB {
        return Ok(());
    }
    let id = ReminderId::from_bytes(job.subject);
    let Some(mut reminder) = table::get::<Reminder>(act.tx, job.organization, id)? else {
        return Ok(());
    };
    if reminder.status != ReminderStatus::Sending {
        return Ok(());
    }
    let delivered = outbox::last_delivery(act.tx, job.organization, job.id)?;
    reminder.end_run(delivered, job.run_at, act.now())?;
    act.update(&mut reminder)?;
    let action = if delivered.is_some() {
        "reminder.delivered"
    } else {
        "reminder.failed"
    };
    act.log(action, Some(id.to_string()), None)
}
