//! The outbox: jobs become messages, and messages end delivered, failed or skipped, with a reason.
//!
//! The organization's clock is held wherever it is asked whether a run is over, so that two workers who end its last
//! two messages cannot both find the other's still under way.

use bursar_db::outbox::{self, Attempt, Job, Message};
use bursar_db::{Tx, organizations, table};
use bursar_domain::ids::{MessageId, ReminderId};
use bursar_domain::money::Money;
use bursar_domain::reminder::{Reminder, ReminderStatus};

use crate::act::{Act, Context, no_organization};
use crate::error::AppError;
use crate::recipients::{self, OwedLine, Recipient};

/// The kind of a reminder's jobs.
pub const REMINDER_JOB: &str = "reminder";
/// Messages that one transaction makes at most.
pub const EXPAND_MAX: usize = 500;
/// Those who are told of when nobody qualified.
const SKIPPED_TOLD_MAX: usize = 200;

/// Makes the next messages of a job; whether all of them are made now.
pub fn expand(tx: &mut Tx<'_>, context: &mut Context, job: &Job) -> Result<bool, AppError> {
    Act::run(tx, context, job.organization, |act| {
        // Another worker may have gone on with it: what counts is what is written.
        let Some(job) = outbox::job(act.tx, job.organization, job.id)? else {
            return Ok(true);
        };
        if !job.is_expanded && job.kind == REMINDER_JOB {
            let next = expand_reminder(act, &job)?;
            outbox::expanded(act.tx, &job, next, next.is_none())?;
            if next.is_some() {
                return Ok(false);
            }
        } else if !job.is_expanded {
            // Other kinds are queued with their messages.
            outbox::expanded(act.tx, &job, None, true)?;
        }
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
        let message = compose(job, &reminder, &organization.name, recipient, act.new_id());
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
    organization: &str,
    recipient: &Recipient,
    id: MessageId,
) -> Message {
    let mut body = reminder.body.clone().unwrap_or_default();
    if !recipient.owed.is_empty() {
        let separator = if body.is_empty() { "" } else { "\n\n" };
        body = format!("{body}{separator}{}", owed_text(&recipient.owed));
    }
    let subject = reminder.subject.clone().filter(|subject| !subject.is_empty());
    Message {
        organization: job.organization,
        id,
        job: job.id,
        recipient: recipient.key,
        method: reminder.method.as_str().to_owned(),
        address: recipient.address.clone(),
        name: recipient.name.clone(),
        subject: subject.unwrap_or_else(|| format!("A reminder from {organization}")),
        body,
        headers: String::new(),
        attempts: 0,
    }
}

fn owed_text(owed: &[OwedLine]) -> String {
    let line = |owed: &OwedLine| {
        let due = owed
            .due_date
            .as_deref()
            .map_or_else(String::new, |due| format!(" (due {due})"));
        let what = if owed.description.is_empty() {
            "Payment"
        } else {
            &owed.description
        };
        format!("- {what}{due}: {} {}\n", owed.amount, owed.amount.currency)
    };
    let lines: String = owed.iter().map(line).collect();
    let total = owed.iter().map(|owed| owed.amount.minor).sum();
    let currency = owed[0].amount.currency;
    format!(
        "What is owed:\n{lines}Total: {} {currency}",
        Money::new(total, currency)
    )
}

/// Writes down how an attempt ended, and ends the run when it was the last one.
pub fn attempted(
    tx: &mut Tx<'_>,
    context: &mut Context,
    message: &Message,
    attempt: &Attempt,
) -> Result<(), AppError> {
    Act::run(tx, context, message.organization, |act| {
        outbox::attempted(act.tx, message, attempt, act.now())?;
        match outbox::job(act.tx, message.organization, message.job)? {
            Some(job) if job.is_expanded => end_if_over(act, &job),
            Some(_) | None => Ok(()),
        }
    })
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
