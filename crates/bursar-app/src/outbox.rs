//! The outbox: jobs become messages, and messages end delivered, failed or skipped, with a reason.
//!
//! An act that checks whether a run is over holds the organization's change clock, so that two workers who end its
//! last two messages cannot both find the other's still under way.

use bursar_db::{messages, outbox};
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId};
use bursar_domain::message::JobKind;
use bursar_domain::organization::Organization;
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::text::percent_encoded;
use bursar_domain::{Date, Timestamp};

use crate::act::{Act, Whole};
use crate::error::AppError;
use crate::letter;
use crate::member_access::Links;
use crate::personal;
use crate::recipients::{self, Recipient, Recipients};
use crate::rule::Rule;

pub use bursar_db::outbox::{Attempt, Claimed, Job, Message};

/// Messages that one transaction makes.
pub const EXPAND_MAX: usize = 500;
/// Skipped recipients to record when nobody qualified.
const SKIPPED_TOLD_MAX: usize = 200;
/// The last message to end also ends its job. The job is checked once more after this time.
pub(crate) const LOOK_AGAIN_SECONDS: i64 = 3_600;

pub const IS_DUE: Rule = Rule::of_worker("outbox.is_due", "see what is to be sent");
pub const CLAIM: Rule = Rule::of_worker("outbox.claim", "claim what is to be sent");
pub const EXPAND: Rule = Rule::of_worker("outbox.expand", "make the messages of a job");
pub const ATTEMPTED: Rule = Rule::of_worker("outbox.attempted", "say how an attempt ended");
pub const RULES: &[&Rule] = &[&IS_DUE, &CLAIM, &EXPAND, &ATTEMPTED];

/// Claiming writes, so the worker checks this first.
pub fn is_due(whole: &mut Whole<'_, '_>, method: Method) -> Result<bool, AppError> {
    whole.allow(&IS_DUE)?;
    let now = whole.now();
    Ok(outbox::is_due(whole.tx, method, now)?)
}

pub fn has_due_job(whole: &mut Whole<'_, '_>) -> Result<bool, AppError> {
    whole.allow(&IS_DUE)?;
    let now = whole.now();
    Ok(outbox::has_due_job(whole.tx, now)?)
}

/// Only jobs that still have something to expand.
pub fn claim_jobs(whole: &mut Whole<'_, '_>, until: Timestamp, limit: i64) -> Result<Vec<Job>, AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    Ok(outbox::claim_jobs(whole.tx, now, until, limit)?)
}

/// Leases a job that failed, so that it rests until then.
pub fn put_off(whole: &mut Whole<'_, '_>, job: &Job, until: Timestamp) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    Ok(outbox::lease_job(whole.tx, job, until)?)
}

/// A claim counts as an attempt.
pub fn claim(
    whole: &mut Whole<'_, '_>,
    method: Method,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<Claimed>, AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    let (late, claimed) = outbox::claim(whole.tx, method, now, until, limit)?
        .into_iter()
        .partition(|claimed: &Claimed| personal::is_late(claimed, now));
    let late: Vec<Claimed> = late;
    for claimed in late {
        outbox::remove(whole.tx, &claimed.message)?;
    }
    Ok(claimed)
}

/// Extends the claims that are still held. A claim is named by its organization, message and attempt.
pub fn renew(
    whole: &mut Whole<'_, '_>,
    claims: &[(OrganizationId, MessageId, i64)],
    until: Timestamp,
) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    for (organization, id, attempt) in claims {
        outbox::renew(whole.tx, *organization, *id, *attempt, until)?;
    }
    Ok(())
}

/// Releases claims that were not used; they do not count as attempts.
pub fn release(whole: &mut Whole<'_, '_>, claims: &[Claimed], reason: Option<&str>) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    for claim in claims {
        outbox::release(whole.tx, claim, reason)?;
    }
    Ok(())
}

/// Makes due what was put off while the wall clock ran ahead.
pub fn pull_in(whole: &mut Whole<'_, '_>) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    Ok(outbox::pull_in(whole.tx, now)?)
}

/// Records the attempt and nothing else, for messages of no organization and for when [`attempted`] cannot end the run.
pub fn attempted_only(
    whole: &mut Whole<'_, '_>,
    claimed: &Claimed,
    attempt: &Attempt,
) -> Result<(), AppError> {
    whole.allow(&ATTEMPTED)?;
    let now = whole.now();
    let has_ended = !matches!(attempt, Attempt::Again(..));
    match has_ended && personal::is_personal(&claimed.message) {
        true => outbox::remove(whole.tx, &claimed.message)?,
        false => drop(outbox::attempted(whole.tx, claimed, attempt, now)?),
    }
    Ok(())
}

/// Returns whether all messages of the job are made.
pub fn expand(act: &mut Act<'_, '_>, job: &Job) -> Result<bool, AppError> {
    act.allow(&EXPAND)?;
    // Another worker may have continued with it, so read it again.
    let Some(job) = outbox::job(act.tx, job.organization, job.id)? else {
        return Ok(true);
    };
    if !job.is_expanded
        && job.kind == JobKind::Reminder
        && let Some(next) = expand_reminder(act, &job)?
    {
        let due_at = act.now();
        outbox::expanded(act.tx, &job, Some(next), false, due_at)?;
        return Ok(false);
    }
    // Other kinds of job are queued with their messages.
    let look_again = act.now().plus_seconds(LOOK_AGAIN_SECONDS);
    outbox::expanded(act.tx, &job, None, true, look_again)?;
    end_if_over(act, &job)?;
    Ok(true)
}

/// Returns where to continue.
fn expand_reminder(act: &mut Act<'_, '_>, job: &Job) -> Result<Option<[u8; 16]>, AppError> {
    let id = ReminderId::from_bytes(job.subject);
    let Some(reminder) = act.get::<Reminder>(id)? else {
        return Ok(None);
    };
    let organization = act.own()?;
    let page = recipients::page(act, &reminder, job.expanded_to, EXPAND_MAX)?;
    let today = organization.time_zone.date(act.now());
    let links = Links::of(act)?;
    for recipient in &page.qualify {
        let link = recipient.link(&reminder, links.as_ref());
        let message = compose(
            job,
            &reminder,
            &organization,
            (recipient, link.as_deref()),
            act.new_id(),
            today,
        );
        outbox::add(act.tx, &message, act.now())?;
    }
    note_all_skipped(act, &reminder, job.id, &page)?;
    Ok(page.next)
}

fn note_all_skipped(
    act: &mut Act<'_, '_>,
    reminder: &Reminder,
    job: [u8; 16],
    page: &Recipients,
) -> Result<(), AppError> {
    for skipped in &page.skipped {
        let (id, now) = (act.new_id(), act.now());
        let told = (reminder.method, skipped.name.as_str(), skipped.reason.as_ref());
        outbox::add_skipped(act.tx, act.organization, id, job, skipped.key, told, now)?;
    }
    Ok(())
}

/// Records why nobody was written to, and ends the job.
pub(crate) fn note_skipped(
    act: &mut Act<'_, '_>,
    reminder: &Reminder,
    job: [u8; 16],
) -> Result<(), AppError> {
    let page = recipients::page(act, reminder, None, SKIPPED_TOLD_MAX)?;
    note_all_skipped(act, reminder, job, &page)?;
    Ok(outbox::done(act.tx, act.organization, job)?)
}

fn compose(
    job: &Job,
    reminder: &Reminder,
    organization: &Organization,
    (recipient, link): (&Recipient, Option<&str>),
    id: MessageId,
    today: Date,
) -> Message {
    let mut message = Message {
        organization: job.organization,
        id,
        job: job.id,
        recipient: recipient.key,
        method: reminder.method,
        address: String::new(),
        name: String::new(),
        subject: String::new(),
        body: String::new(),
        owed: None,
        headers: unsubscribe(reminder, organization).unwrap_or_default(),
        segments: None,
    };
    letter::write(&mut message, reminder, organization, recipient, link, today);
    message
}

/// Only a message to a whole group that names no debt is an announcement, which readers can unsubscribe from: by mail
/// to the organization's contact. Without a contact nobody would read that mail, so there is no header.
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

/// Records how an attempt ended, and ends the run if it was the last.
pub fn attempted(act: &mut Act<'_, '_>, claimed: &Claimed, attempt: &Attempt) -> Result<(), AppError> {
    act.allow(&ATTEMPTED)?;
    let message = &claimed.message;
    if !outbox::attempted(act.tx, claimed, attempt, act.now())? {
        return Ok(());
    }
    match outbox::job(act.tx, message.organization, message.job)? {
        Some(job) if job.is_expanded => end_if_over(act, &job),
        Some(_) => Ok(()),
        None if matches!(attempt, Attempt::Delivered(_) | Attempt::Written(_)) => {
            delivered_late(act, message.id)
        }
        None => Ok(()),
    }
}

/// For a message that an officer queued again, delivered after its run had ended.
fn delivered_late(act: &mut Act<'_, '_>, id: MessageId) -> Result<(), AppError> {
    let Some(record) = messages::get(act.tx, act.organization, id)?.filter(|r| r.kind == JobKind::Reminder)
    else {
        return Ok(());
    };
    let id = ReminderId::from_bytes(record.subject_id);
    if let Some(mut reminder) = act.get::<Reminder>(id)? {
        reminder.sent_at = Some(act.now());
        act.update(&mut reminder)?;
    }
    Ok(())
}

/// Ends a job and its run when all its messages have ended.
fn end_if_over(act: &mut Act<'_, '_>, job: &Job) -> Result<(), AppError> {
    if outbox::is_under_way(act.tx, job.organization, job.id)? {
        return Ok(());
    }
    outbox::done(act.tx, job.organization, job.id)?;
    match job.kind {
        JobKind::Reminder => {}
        JobKind::Notice | JobKind::Webhook | JobKind::Test => return Ok(()),
    }
    let id = ReminderId::from_bytes(job.subject);
    let Some(mut reminder) = act.get::<Reminder>(id)? else {
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
