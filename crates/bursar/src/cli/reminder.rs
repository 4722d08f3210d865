use std::collections::BTreeMap;

use bursar_app::names::{self, Names};
use bursar_app::preview::{self, Preview};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::resources;
use bursar_domain::group::Group;
use bursar_domain::ids::{OrganizationId, ReminderId, kind};
use bursar_domain::reminder::{Audience, Method, Outcome as Sending, Reminder, ReminderStatus};
use bursar_domain::{Resource, Timestamp};
use clap::{Args, Subcommand};
use serde_json::value::RawValue;

use super::desk::names_in;
use super::door::{Door, Ref, parse_ref};
use super::{Failure, Globals, Outcome, consent, output, parse_id};
use crate::ambient;

/// Names shown for each reason to skip.
const NAMES_SHOWN: usize = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum ReminderCommand {
    /// Schedule a reminder to a member, a group or an organization
    Schedule(ScheduleArgs),
    /// List reminders, oldest first
    List(ListArgs),
    /// Show whom a reminder reaches now, who is skipped and why, and one message
    Preview(OneArgs),
    /// Send a scheduled reminder now
    Send(SendNowArgs),
    /// Send the message of the first recipient to yourself; the reminder stays as it is
    Test(TestArgs),
    /// Cancel a scheduled reminder, or one imported while it was being sent
    Cancel(OneArgs),
    /// Send a failed reminder again now, or one imported while it was being sent
    Retry(OneArgs),
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["member", "group", "target_organization"]))]
pub(crate) struct ScheduleArgs {
    /// To this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// To the active members of this group
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Option<Ref<kind::Group>>,
    /// To the contact of this organization: itself, its parent or a direct child
    #[arg(long, value_name = "ORG", value_parser = parse_ref::<kind::Organization>)]
    target_organization: Option<Ref<kind::Organization>>,
    /// email or sms
    #[arg(long, value_parser = parse_method, default_value = "email")]
    method: Method,
    /// When: `now`, or a time with an offset such as 2026-12-01T09:00:00Z
    #[arg(long, value_name = "TIME")]
    at: String,
    /// The subject line; placeholders as in the text
    #[arg(long)]
    subject: Option<String>,
    /// The text. {firstName}, {lastName}, {name}, {organization}, {payText}, {payLink} and, with --include-payment-info, {owed},
    /// {overdue}, {dueDate} and {reference} are filled in; {{name}} is the text {name}
    #[arg(long)]
    body: Option<String>,
    /// Repeat every N days
    #[arg(long, value_name = "N")]
    every_days: Option<i64>,
    /// Include the amount owed, and send only to members who owe
    #[arg(long)]
    include_payment_info: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only reminders to this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Only reminders to this group
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Option<Ref<kind::Group>>,
    /// scheduled, sending, sent, failed, completed or cancelled
    #[arg(long, value_parser = parse_status)]
    status: Option<ReminderStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The reminder's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reminder>)]
    id: ReminderId,
}

#[derive(Debug, Args)]
pub(crate) struct SendNowArgs {
    /// The reminder's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reminder>)]
    id: ReminderId,
    /// Show what would be sent without sending it
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The reminder's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reminder>)]
    id: ReminderId,
    /// Your e-mail address; for an SMS your number with its country code
    #[arg(long, value_name = "EMAIL")]
    to: String,
}

fn parse_method(text: &str) -> Result<Method, String> {
    Method::parse(text).ok_or_else(|| format!("must be one of {}", Method::WORDS))
}

fn parse_status(text: &str) -> Result<ReminderStatus, String> {
    ReminderStatus::parse(text).ok_or_else(|| format!("must be one of {}", ReminderStatus::WORDS))
}

pub(crate) fn run(globals: &Globals, command: ReminderCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        ReminderCommand::Schedule(args) => schedule(&door, args),
        ReminderCommand::List(args) => list(&door, &args),
        ReminderCommand::Preview(OneArgs { id }) => {
            let org = door.home::<Reminder>(id)?;
            show(&door, &preview_of(&door, org, id)?)
        }
        ReminderCommand::Send(args) => send(&door, &args),
        ReminderCommand::Test(args) => test(&door, args),
        ReminderCommand::Cancel(args) => cancel(&door, args.id),
        ReminderCommand::Retry(OneArgs { id }) => {
            let org = door.home::<Reminder>(id)?;
            let retried = door.act(org, move |act| reminders::retry(act, id))?;
            let said = "is scheduled again, for now; a running worker sends it";
            tell(&door, org, &retried, said)
        }
    }
}

fn preview_of(door: &Door<'_>, org: OrganizationId, id: ReminderId) -> Result<Preview, Failure> {
    door.survey(org, |view| preview::preview(view, id))
}

fn send(door: &Door<'_>, args: &SendNowArgs) -> Outcome {
    let id = args.id;
    let org = door.home::<Reminder>(id)?;
    if args.dry_run {
        // Refuses what sending would refuse.
        door.rehearse(org, |act| reminders::send_now(act, id))?;
        return show(door, &preview_of(door, org, id)?);
    }
    if !door.globals.yes {
        let reminder = door.view(org, move |view| resources::one::<Reminder>(view, id))?;
        let preview = preview_of(door, org, id)?;
        door.rehearse(org, |act| reminders::send_now(act, id))?;
        let plan = format!("Send {} now: {}.", told(door, org, &reminder)?, counts(&preview));
        consent::confirm(door.globals, &plan)?;
    }
    let (sent, outcome) = door.act(org, move |act| reminders::send_now(act, id))?;
    if door.globals.json {
        let mut document: serde_json::Value = serde_json::from_str(&sent.document())?;
        document["outcome"] = outcome.as_str().into();
        return output::json(&document);
    }
    let said = match outcome {
        Sending::Sent => {
            "is on its way; a running worker sends it, and `bursar messages` says what became of it"
        }
        Sending::Skipped => "reaches nobody now, so nothing was sent; `bursar messages` says why",
    };
    tell(door, org, &sent, said)
}

fn test(door: &Door<'_>, args: TestArgs) -> Outcome {
    let id = args.id;
    let org = door.home::<Reminder>(id)?;
    let to = args.to.clone();
    let message = door.act(org, move |act| preview::test(act, id, &to))?;
    match door.globals.json {
        true => output::json(&serde_json::json!({"id": message, "reminderId": id, "address": args.to}))?,
        false => output::say(&format!(
            "a test of reminder {id} to {} is queued as {message}; a running worker sends it",
            args.to
        )),
    }
    Ok(())
}

/// `12 recipients by email, 3 members skipped`.
fn counts(preview: &Preview) -> String {
    let reached = output::many(preview.recipients.len() as u64, "recipient");
    format!(
        "{reached} by {}, {} skipped",
        preview.method,
        preview.skipped.len()
    )
}

fn show(door: &Door<'_>, preview: &Preview) -> Outcome {
    if door.globals.json {
        return output::json(preview);
    }
    output::say(&format!("{}: {}", preview.id, counts(preview)));
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for skipped in &preview.skipped {
        let name = match skipped.name.as_str() {
            "" => skipped.id.as_str(),
            name => name,
        };
        reasons.entry(&skipped.reason).or_default().push(name);
    }
    for (reason, names) in reasons {
        let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
        let more = match names.len().saturating_sub(NAMES_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        output::say(&format!("skipped, {reason}: {shown}{more}"));
    }
    let Some(message) = &preview.message else {
        output::say("nobody would be written to");
        return Ok(());
    };
    output::say("");
    output::say(&format!("To: {} <{}>", message.name, message.address));
    if let Some(subject) = &message.subject {
        output::say(&format!("Subject: {subject}"));
    }
    if let Some(parts) = message.segments {
        output::say(&format!("Parts: {parts}"));
    }
    output::say("");
    message.text.lines().for_each(output::say);
    Ok(())
}

fn cancel(door: &Door<'_>, id: ReminderId) -> Outcome {
    let org = door.home::<Reminder>(id)?;
    if !door.globals.yes {
        consent::confirm(door.globals, &plan_to_cancel(door, org, id)?)?;
    }
    let cancelled = door.act(org, move |act| reminders::cancel(act, id))?;
    tell(door, org, &cancelled, "is cancelled")
}

fn plan_to_cancel(door: &Door<'_>, org: OrganizationId, id: ReminderId) -> Result<String, Failure> {
    let (reminder, count) = door.view(org, move |view| {
        let reminder: Reminder = resources::one(view, id)?;
        let count = match reminder.audience() {
            Audience::Group(group) => resources::one::<Group>(view, group)?.member_count,
            Audience::Member(_) | Audience::Organization(_) => 1,
            Audience::Nobody => 0,
        };
        Ok((reminder, count))
    })?;
    door.rehearse(org, |act| reminders::cancel(act, id))?;
    Ok(format!(
        "Cancel permanently: {}, {}, scheduled for {}.",
        told(door, org, &reminder)?,
        output::many(count.unsigned_abs(), "recipient"),
        reminder
            .scheduled_at
            .map_or_else(|| "no time".to_owned(), |at| at.to_string())
    ))
}

/// The reminder, and what became of it.
fn tell(door: &Door<'_>, org: OrganizationId, reminder: &Reminder, said: &str) -> Outcome {
    match door.globals.json {
        true => output::document(&reminder.document()),
        false => output::say(&format!("{} {said}", told(door, org, reminder)?)),
    }
    Ok(())
}

/// `reminder rem_… to Seniors ("Dues are due")`
fn told(door: &Door<'_>, org: OrganizationId, reminder: &Reminder) -> Result<String, Failure> {
    let [whom, _] = target(reminder, &names_in(door, org, reminder)?);
    let subject = reminder.subject.as_ref().map(|subject| format!(" ({subject:?})"));
    Ok(format!(
        "reminder {} to {whom}{}",
        reminder.id,
        subject.unwrap_or_default()
    ))
}

/// `None` is now.
fn parse_at(text: &str) -> Result<Option<Timestamp>, String> {
    if text == "now" {
        return Ok(None);
    }
    let rule = "--at must be `now` or a time with an offset such as 2026-12-01T09:00:00Z";
    let at = Timestamp::parse(text).ok_or(rule)?;
    let plausible = at.date().plausible(ambient::now().date());
    plausible.map_err(|rule| format!("--at {rule}"))?;
    Ok(Some(at))
}

fn schedule(door: &Door<'_>, args: ScheduleArgs) -> Outcome {
    let org = door.organization()?;
    let audience = match (&args.member, &args.group, &args.target_organization) {
        (Some(member), _, _) => Audience::Member(door.find(org, member)?),
        (None, Some(group), _) => Audience::Group(door.find(org, group)?),
        (None, None, Some(target)) => Audience::Organization(door.neighbour(org, target)?),
        (None, None, None) => Audience::Nobody,
    };
    let at = parse_at(&args.at)?;
    let reminder = door.act(org, move |act| {
        let new = NewReminder {
            audience,
            method: args.method,
            at: at.unwrap_or(act.now()),
            subject: args.subject.clone(),
            body: args.body.clone(),
            every_days: args.every_days,
            include_payment_info: args.include_payment_info,
        };
        reminders::schedule(act, &new)
    })?;
    let at = reminder.scheduled_at.map(|at| at.to_string()).unwrap_or_default();
    tell(door, org, &reminder, &format!("is scheduled for {at}"))
}

fn list(door: &Door<'_>, args: &ListArgs) -> Outcome {
    let (org, status) = (door.organization()?, args.status);
    let member = door.find_some(org, args.member.as_ref())?;
    let group = door.find_some(org, args.group.as_ref())?;
    let (reminders, names) = door.view(org, move |view| {
        let mut all = reminders::list(view, status)?;
        all.retain(|reminder| {
            member.is_none_or(|id| reminder.target_member_id == Some(id))
                && group.is_none_or(|id| reminder.group_id == Some(id))
        });
        let names = names::of_references(view, &all)?;
        Ok((all, names))
    })?;
    if door.globals.json {
        let documents: Result<Vec<Box<RawValue>>, _> = reminders
            .iter()
            .map(|r| RawValue::from_string(r.document()))
            .collect();
        return output::json(&documents?);
    }
    let rows = reminders.iter().map(|r| {
        let when = |at: Option<Timestamp>| {
            at.map(|at| at.to_string()[..19].replace('T', " "))
                .unwrap_or_default()
        };
        let [whom, whom_id] = target(r, &names);
        [
            r.id.to_string(),
            r.status.to_string(),
            r.method.to_string(),
            whom,
            when(r.scheduled_at),
            r.recurring_interval_days
                .filter(|_| r.is_recurring)
                .map(|days| format!("{days} d"))
                .unwrap_or_default(),
            when(r.sent_at),
            r.subject.clone().unwrap_or_default(),
            whom_id,
        ]
    });
    output::table(
        [
            "id",
            "status",
            "method",
            "to",
            "scheduled (UTC)",
            "every",
            "sent (UTC)",
            "subject",
            "to id",
        ],
        rows.collect(),
        "there are no such reminders",
    );
    Ok(())
}

/// Name and id.
fn target(reminder: &Reminder, names: &Names) -> [String; 2] {
    match reminder.audience() {
        Audience::Member(id) => [names.told(Some(id)), id.to_string()],
        Audience::Group(id) => [names.told(Some(id)), id.to_string()],
        Audience::Organization(id) => [names.told(Some(id)), id.to_string()],
        Audience::Nobody => ["nobody".to_owned(), "-".to_owned()],
    }
}
