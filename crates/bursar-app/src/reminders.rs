//! Reminders: sending now, and what the worker does with a run.

use bursar_db::outbox::{self, Attempt, Job, Message};
use bursar_db::{Tx, organizations, table};
use bursar_domain::ids::{MessageId, ReminderId};
use bursar_domain::money::Money;
use bursar_domain::reminder::{Outcome, Reminder, ReminderStatus};
use bursar_domain::Refusal;

use crate::act::{Act, Context, no_organization};
use crate::error::AppError;
use crate::recipients::{self, OwedLine, Recipient};

/// The kind of a reminder's jobs.
pub const REMINDER_JOB: &str = "reminder";
/// Messages that one transaction makes at most.
pub const EXPAND_MAX: usize = 500;

/// Sends a scheduled reminder now: a job is queued when somebody qualifies, else the run is over.
pub fn send_now(act: &mut Act<'_, '_>, id: ReminderId) -> Result<(Reminder, Outcome), AppError> {
    let missing = || Refusal::missing("there is no such reminder");
    let mut reminder: Reminder = table::get(act.tx, act.organization, id)?.ok_or_else(missing)?;
    let run_at = act.now();
    let somebody = reminder.status == ReminderStatus::Scheduled
        && recipients::somebody_qualifies(act.tx, act.organization, &reminder)?;
    let outcome = reminder.start_run(somebody, run_at)?;
    if outcome == Outcome::Sent {
        let job: MessageId = act.new_id();
        outbox::queue(act.tx, act.organization, job.to_bytes(), REMINDER_JOB, id.to_bytes(), run_at, act.now())?;
    }
    act.update(&mut reminder)?;
    act.log("reminder.send", Some(id.to_string()), None)?;
    Ok((reminder, outcome))
}

/// Makes the next messages of a job; whether all of them are made now.
pub fn expand(tx: &mut Tx<'_>, context: &mut Context, job: &Job) -> Result<bool, AppError> {
    // Another worker may have gone on with it: what counts is what is written.
    let Some(job) = outbox::job(tx, job.organization, job.id)? else { return Ok(true) };
    if job.is_expanded {
        return end_if_over(tx, context, &job).map(|()| true);
    }
    let reminder: Option<Reminder> = table::get(tx, job.organization, ReminderId::from_bytes(job.subject))?;
    let found = match &reminder {
        Some(reminder) => recipients::page(tx, job.organization, reminder, job.expanded_to, EXPAND_MAX)?,
        None => recipients::Recipients::default(),
    };
    if let Some(reminder) = &reminder {
        let organization = organizations::get(tx, job.organization)?.ok_or_else(|| no_organization(job.organization))?;
        for recipient in &found.qualify {
            let message = compose(&job, reminder, &organization.name, recipient, context.ids.next(context.now));
            outbox::add(tx, &message, context.now)?;
        }
    }
    outbox::expanded(tx, &job, found.next, found.next.is_none())?;
    if found.next.is_some() {
        return Ok(false);
    }
    end_if_over(tx, context, &job).map(|()| true)
}

fn compose(job: &Job, reminder: &Reminder, organization: &str, recipient: &Recipient, id: MessageId) -> Message {
    let mut body = reminder.body.clone().unwrap_or_default();
    if !recipient.owed.is_empty() {
        let separator = if body.is_empty() { "" } else { "\n\n" };
        body = format!("{body}{separator}{}", owed_text(&recipient.owed));
    }
    Message {
        organization: job.organization,
        id,
        job: job.id,
        recipient: recipient.key,
        method: reminder.method.as_str().to_owned(),
        address: recipient.address.clone(),
        name: recipient.name.clone(),
        subject: reminder.subject.clone().filter(|s| !s.is_empty()).unwrap_or_else(|| format!("A reminder from {organization}")),
        body,
        headers: String::new(),
        attempts: 0,
    }
}

fn owed_text(owed: &[OwedLine]) -> String {
    let line = |owed: &OwedLine| {
        let due = owed.due_date.as_deref().map_or_else(String::new, |due| format!(" (due {due})"));
        let what = if owed.description.is_empty() { "Payment" } else { &owed.description };
        format!("- {what}{due}: {} {}\n", owed.amount, owed.amount.currency)
    };
    let lines: String = owed.iter().map(line).collect();
    let total = owed.iter().map(|owed| owed.amount.minor).sum();
    let currency = owed[0].amount.currency;
    format!("What is owed:\n{lines}Total: {} {currency}", Money::new(total, currency))
}

/// Writes down how an attempt ended, and ends the run when it was the last one.
pub fn attempted(tx: &mut Tx<'_>, context: &mut Context, message: &Message, attempt: &Attempt) -> Result<(), AppError> {
    outbox::attempted(tx, message, attempt, context.now)?;
    match outbox::job(tx, message.organization, message.job)? {
        Some(job) if job.is_expanded => end_if_over(tx, context, &job),
        Some(_) | None => Ok(()),
    }
}

fn end_if_over(tx: &mut Tx<'_>, context: &mut Context, job: &Job) -> Result<(), AppError> {
    if outbox::is_under_way(tx, job.organization, job.id)? {
        return Ok(());
    }
    Act::run(tx, context, job.organization, |act| {
        outbox::done(act.tx, job.organization, job.id)?;
        let id = ReminderId::from_bytes(job.subject);
        let Some(mut reminder) = table::get::<Reminder>(act.tx, job.organization, id)? else { return Ok(()) };
        if reminder.status != ReminderStatus::Sending {
            return Ok(());
        }
        let delivered = outbox::last_delivery(act.tx, job.organization, job.id)?;
        reminder.end_run(delivered, job.run_at)?;
        act.update(&mut reminder)?;
        act.log(&format!("reminder.{}", reminder.status), Some(id.to_string()), None)
    })
}
