//! Reminders, and when a run starts: on request or at its time.

use bursar_db::{due, organizations, outbox, table};
use bursar_domain::access::{Role, Scope};
use bursar_domain::group::Group;
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId};
use bursar_domain::member::Member;
use bursar_domain::message::JobKind;
use bursar_domain::organization::Organization;
use bursar_domain::reminder::{Audience, INTERVAL_DAYS_MAX, Method, Outcome, Reminder, ReminderStatus};
use bursar_domain::states::Machine;
use bursar_domain::template::{self, Placeholder};
use bursar_domain::text::{BODY, SUBJECT};
use bursar_domain::{Refusal, Resource, Stamps, Timestamp};

use crate::act::{Act, View, Whole};
use crate::error::AppError;
use crate::organizations::is_near;
use crate::outbox::note_skipped;
use crate::recipients;
use crate::rule::Rule;
use crate::sms;

/// Runs of one reminder that may share a time.
const RUNS_AT_ONCE_MAX: i64 = 100;

pub const SCHEDULE: Rule = Rule::of("reminder.schedule", Role::Editor, "schedule reminders");
pub const LIST: Rule = Rule::of("reminder.list", Role::Editor, "list its reminders");
pub const CANCEL: Rule = Rule::of("reminder.cancel", Role::Editor, "cancel reminders");
pub const RETRY: Rule = Rule::of("reminder.retry", Role::Editor, "send reminders again");
pub const SEND_NOW: Rule =
    Rule::of("reminder.send", Role::Editor, "send reminders").or_token(&[Scope::RemindersWrite]);
pub const DUE: Rule = Rule::of_worker("reminder.due", "look for reminders of all organizations");
pub const RUN_DUE: Rule = Rule::of_worker("reminder.run_due", "start reminders at their time");
pub const RULES: &[&Rule] = &[&SCHEDULE, &LIST, &CANCEL, &RETRY, &SEND_NOW, &DUE, &RUN_DUE];

#[derive(Clone, Debug)]
pub struct NewReminder {
    pub audience: Audience,
    pub method: Method,
    pub at: Timestamp,
    pub subject: Option<String>,
    pub body: Option<String>,
    pub every_days: Option<i64>,
    /// Says what is owed, and goes only to those who owe.
    pub include_payment_info: bool,
}

pub(crate) fn no_reminder(id: ReminderId) -> Refusal {
    Refusal::missing(format!(
        "there is no reminder {id}; `bursar reminder list` lists them"
    ))
}

pub fn schedule(act: &mut Act<'_, '_>, new: &NewReminder) -> Result<Reminder, AppError> {
    act.allow(&SCHEDULE)?;
    let mut reminder = written(act, new)?;
    reminder.id = act.new_id();
    reminder.stamps = Stamps::at(act.tick());
    act.insert(&reminder)?;
    act.log(SCHEDULE.name, Some(reminder.id.to_string()), None)?;
    Ok(reminder)
}

/// A reminder as it would be, without an id of its own.
pub(crate) fn written<M>(act: &mut Act<'_, '_, M>, new: &NewReminder) -> Result<Reminder, AppError> {
    let text = |given: &Option<String>| given.clone().filter(|text| !text.trim().is_empty());
    let subject = text(&new.subject).map(|s| SUBJECT.check(&s)).transpose();
    let body = text(&new.body).map(|s| BODY.check(&s)).transpose();
    let subject = subject.map_err(Refusal::of_field("subject"))?;
    let body = body.map_err(Refusal::of_field("body"))?;
    let own = act.own()?;
    check_new(new, act.now())?;
    check_texts(new, subject.as_deref(), body.as_deref(), &own)?;
    check_audience(act, new.audience)?;
    let (id, stamps) = (ReminderId::from_bits(0), Stamps::at(act.now()));
    let mut reminder = Reminder {
        method: new.method,
        subject,
        body,
        scheduled_at: Some(new.at),
        is_recurring: new.every_days.is_some(),
        recurring_interval_days: new.every_days,
        include_payment_info: new.include_payment_info,
        ..Reminder::blank(id, own.currency, stamps)
    };
    match new.audience {
        Audience::Member(member) => reminder.target_member_id = Some(member),
        Audience::Group(group) => reminder.group_id = Some(group),
        Audience::Organization(target) => reminder.target_organization_id = Some(target),
        Audience::Nobody => {}
    }
    Ok(reminder)
}

fn check_new(new: &NewReminder, now: Timestamp) -> Result<(), Refusal> {
    if new.at < now {
        let rule = format!("must not be in the past, got {}; `now` sends it at once", new.at);
        return Err(Refusal::invalid("scheduledAt", rule));
    }
    if let Some(days) = new.every_days
        && !(1..=INTERVAL_DAYS_MAX).contains(&days)
    {
        let rule = format!("must be 1 to {INTERVAL_DAYS_MAX}, got {days}");
        return Err(Refusal::invalid("recurringIntervalDays", rule));
    }
    Ok(())
}

/// The texts must be there, fit, and have placeholders that can be filled in.
fn check_texts(
    new: &NewReminder,
    subject: Option<&str>,
    body: Option<&str>,
    own: &Organization,
) -> Result<(), Refusal> {
    for (field, text) in [("subject", subject), ("body", body)] {
        let text = text.unwrap_or_default();
        template::check(field, text, new.include_payment_info)?;
        let mut placeholders = template::placeholders(text);
        if own.pay_text.is_none() && placeholders.any(|known| known == Placeholder::PayText) {
            return Err(Refusal::invalid(
                field,
                "has {payText}, but the organization has no text on how to pay; \
                 `bursar organization set --pay-text TEXT` sets one",
            ));
        }
    }
    let Some(body) = body else {
        return match new.include_payment_info {
            true => Ok(()),
            false => Err(Refusal::invalid(
                "body",
                "is required, unless the reminder says what is owed (--include-payment-info)",
            )),
        };
    };
    // The organization's name, a colon and a space come before the text.
    let max = sms::TEXT_MAX - own.name.chars().count() - 2;
    let count = body.chars().count();
    if new.method == Method::Sms && count > max {
        let all = sms::TEXT_MAX;
        let rule = format!(
            "must have at most {max} characters for an SMS ({all} with the organization's name), got {count}"
        );
        return Err(Refusal::invalid("body", rule));
    }
    Ok(())
}

fn check_audience<M>(act: &mut Act<'_, '_, M>, audience: Audience) -> Result<(), AppError> {
    match audience {
        Audience::Nobody => {
            Err(Refusal::invalid("target", "is required: a member, a group or an organization").into())
        }
        Audience::Group(id) => match act.get::<Group>(id)? {
            Some(_) => Ok(()),
            None => Err(Refusal::missing_reference("groupId", id).into()),
        },
        Audience::Member(id) => match act.get::<Member>(id)? {
            Some(member) if member.is_active => Ok(()),
            Some(_) => Err(Refusal::conflict(format!(
                "member {id} is archived and is not written to; restore the member first"
            ))
            .into()),
            None => Err(Refusal::missing_reference("targetMemberId", id).into()),
        },
        Audience::Organization(id) => {
            let own = act.own()?;
            let target = organizations::get(act.tx, id)?;
            match target.is_some_and(|target| is_near(&own, &target)) {
                true => Ok(()),
                false => Err(Refusal::invalid(
                    "targetOrganizationId",
                    "must be the organization itself, its parent or a direct child",
                )
                .into()),
            }
        }
    }
}

/// Oldest first.
pub fn list(view: &mut View<'_, '_>, status: Option<ReminderStatus>) -> Result<Vec<Reminder>, AppError> {
    view.allow(&LIST)?;
    let mut reminders = Vec::new();
    table::each::<Reminder>(view.tx, view.organization, |kept| {
        let reminder = kept.resource?;
        if status.is_none_or(|status| reminder.status == status) {
            reminders.push(reminder);
        }
        Ok(())
    })?;
    Ok(reminders)
}

/// Cancels a scheduled reminder, or one whose run is lost.
pub fn cancel(act: &mut Act<'_, '_>, id: ReminderId) -> Result<Reminder, AppError> {
    act.allow(&CANCEL)?;
    let mut reminder = act.get(id)?.ok_or_else(|| no_reminder(id))?;
    if give_up_lost_run(act, &mut reminder)? {
        // A failed reminder must be scheduled before it can be cancelled.
        reminder.status = reminder.status.to(ReminderStatus::Scheduled)?;
    }
    reminder.status = reminder.status.to(ReminderStatus::Cancelled)?;
    act.update(&mut reminder)?;
    act.log(CANCEL.name, Some(id.to_string()), None)?;
    Ok(reminder)
}

/// Schedules a failed reminder for now, or one whose run is lost.
pub fn retry(act: &mut Act<'_, '_>, id: ReminderId) -> Result<Reminder, AppError> {
    act.allow(&RETRY)?;
    let mut reminder = act.get(id)?.ok_or_else(|| no_reminder(id))?;
    give_up_lost_run(act, &mut reminder)?;
    if reminder.status != ReminderStatus::Failed {
        let way_out = match reminder.status {
            ReminderStatus::Scheduled => "it will be sent at its time",
            ReminderStatus::Sending => "it is on its way",
            ReminderStatus::Sent => "`bursar messages --retry` sends a single failed message again",
            ReminderStatus::Completed | ReminderStatus::Cancelled => "schedule a new one",
            ReminderStatus::Failed => "",
        };
        let status = reminder.status;
        let message = format!("reminder {id} is {status}; only a failed one can be sent again; {way_out}");
        return Err(Refusal::conflict(message).into());
    }
    let at = act.now();
    reminder.retry(at)?;
    act.update(&mut reminder)?;
    act.log(RETRY.name, Some(id.to_string()), None)?;
    Ok(reminder)
}

/// Gives up the run of a reminder that is `sending` without a job. Only an import brings one, and no worker will ever
/// end it. Returns whether it did.
fn give_up_lost_run(act: &mut Act<'_, '_>, reminder: &mut Reminder) -> Result<bool, AppError> {
    let subject = reminder.id.to_bytes();
    let is_lost = reminder.status == ReminderStatus::Sending
        && !outbox::has_job(act.tx, act.organization, JobKind::Reminder, subject)?;
    if is_lost {
        reminder.give_up_run()?;
    }
    Ok(is_lost)
}

/// For a recurring reminder this is its next run.
pub fn send_now(act: &mut Act<'_, '_>, id: ReminderId) -> Result<(Reminder, Outcome), AppError> {
    act.allow(&SEND_NOW)?;
    let missing = || Refusal::missing("there is no such reminder");
    let reminder: Reminder = act.get(id)?.ok_or_else(missing)?;
    let run_at = act.now();
    start(act, reminder, run_at)
}

/// Reminders of all organizations due by `now`, longest due first.
pub fn due(
    whole: &mut Whole<'_, '_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, ReminderId)>, AppError> {
    whole.allow(&DUE)?;
    Ok(due::reminders(whole.tx, now, limit)?)
}

/// Checks again: the reminder may have been sent, moved or cancelled since it was found due.
pub fn run_due(act: &mut Act<'_, '_>, id: ReminderId) -> Result<Option<Outcome>, AppError> {
    act.allow(&RUN_DUE)?;
    let Some(reminder) = act.get::<Reminder>(id)? else {
        return Ok(None);
    };
    let due = reminder
        .scheduled_at
        .filter(|at| *at <= act.now() && !reminder.is_held);
    let Some(run_at) = due.filter(|_| reminder.status == ReminderStatus::Scheduled) else {
        return Ok(None);
    };
    start(act, reminder, run_at).map(|(_, outcome)| Some(outcome))
}

/// Writes the reminder's state, the job and its activity line.
fn start(
    act: &mut Act<'_, '_>,
    mut reminder: Reminder,
    run_at: Timestamp,
) -> Result<(Reminder, Outcome), AppError> {
    let somebody =
        reminder.status == ReminderStatus::Scheduled && recipients::somebody_qualifies(act, &reminder)?;
    let outcome = reminder.start_run(somebody, run_at, act.now())?;
    let job = queue_run(act, JobKind::Reminder, reminder.id, run_at)?;
    if outcome == Outcome::Skipped {
        note_skipped(act, &reminder, job)?;
    }
    act.update(&mut reminder)?;
    let action = match outcome {
        Outcome::Sent => SEND_NOW.name,
        Outcome::Skipped => "reminder.skip",
    };
    act.log(action, Some(reminder.id.to_string()), None)?;
    Ok((reminder, outcome))
}

/// A clock that steps back, or a retry, can name the time of an earlier run. This run then takes the next
/// microsecond, so that each run has its own job.
pub(crate) fn queue_run(
    act: &mut Act<'_, '_>,
    kind: JobKind,
    reminder: ReminderId,
    run_at: Timestamp,
) -> Result<[u8; 16], AppError> {
    let job: MessageId = act.new_id();
    let (job, subject) = (job.to_bytes(), reminder.to_bytes());
    for later in 0..RUNS_AT_ONCE_MAX {
        let run_at = Timestamp::from_micros(run_at.micros() + later);
        if outbox::queue(act.tx, act.organization, job, kind, subject, run_at, act.now())? {
            return Ok(job);
        }
    }
    Err(Refusal::conflict("the reminder was sent too often at this very moment; try again").into())
}
