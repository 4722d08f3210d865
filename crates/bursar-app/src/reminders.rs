//! Reminders: when a run starts, on request or at its time.

use bursar_db::{Tx, outbox, table};
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId};
use bursar_domain::reminder::{Outcome, Reminder, ReminderStatus};
use bursar_domain::{Refusal, Timestamp};

use crate::act::{Act, Context};
use crate::error::AppError;
use crate::outbox::{REMINDER_JOB, note_skipped};
use crate::recipients;

/// Sends a scheduled reminder now. On a recurring one this is its next run.
pub fn send_now(act: &mut Act<'_, '_>, id: ReminderId) -> Result<(Reminder, Outcome), AppError> {
    let missing = || Refusal::missing("there is no such reminder");
    let reminder: Reminder = table::get(act.tx, act.organization, id)?.ok_or_else(missing)?;
    let run_at = act.now();
    start(act, reminder, run_at)
}

/// Starts the run of a reminder whose time has come. It is looked at again: it may have been sent, moved or called
/// off since it was found due.
pub fn run_due(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    id: ReminderId,
) -> Result<Option<Outcome>, AppError> {
    Act::run(tx, context, organization, |act| {
        let Some(reminder) = table::get::<Reminder>(act.tx, organization, id)? else {
            return Ok(None);
        };
        let due = reminder
            .scheduled_at
            .filter(|at| *at <= act.now() && !reminder.is_held);
        let Some(run_at) = due.filter(|_| reminder.status == ReminderStatus::Scheduled) else {
            return Ok(None);
        };
        start(act, reminder, run_at).map(|(_, outcome)| Some(outcome))
    })
}

/// One transaction: the reminder's state, the job, and its activity line.
fn start(
    act: &mut Act<'_, '_>,
    mut reminder: Reminder,
    run_at: Timestamp,
) -> Result<(Reminder, Outcome), AppError> {
    let somebody = reminder.status == ReminderStatus::Scheduled
        && recipients::somebody_qualifies(act.tx, act.organization, &reminder)?;
    let outcome = reminder.start_run(somebody, run_at, act.now())?;
    let job: MessageId = act.new_id();
    let job = job.to_bytes();
    outbox::queue(
        act.tx,
        act.organization,
        job,
        REMINDER_JOB,
        reminder.id.to_bytes(),
        run_at,
        act.now(),
    )?;
    if outcome == Outcome::Skipped {
        note_skipped(act, &reminder, job)?;
    }
    act.update(&mut reminder)?;
    let action = match outcome {
        Outcome::Sent => "reminder.send",
        Outcome::Skipped => "reminder.skip",
    };
    act.log(action, Some(reminder.id.to_string()), None)?;
    Ok((reminder, outcome))
}
