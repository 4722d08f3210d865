use bursar_app::names::{self, Names};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::resources;
use bursar_domain::group::Group;
use bursar_domain::ids::{OrganizationId, ReminderId, kind};
use bursar_domain::reminder::{Audience, Method, Reminder, ReminderStatus};
use bursar_domain::{Resource, Timestamp};
use clap::{Args, Subcommand};
use serde_json::value::RawValue;

use super::desk::names_in;
use super::door::{Door, Ref, parse_ref};
use super::{Failure, Globals, Outcome, consent, output, parse_id};
use crate::ambient;

#[derive(Debug, Subcommand)]
pub(crate) enum ReminderCommand {
    /// Schedule a reminder to a member, a group or an organization
    Schedule(ScheduleArgs),
    /// List reminders, oldest first
    List(ListArgs),
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
    /// The subject line
    #[arg(long)]
    subject: Option<String>,
    /// The text
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
        ReminderCommand::Cancel(args) => cancel(&door, args.id),
        ReminderCommand::Retry(OneArgs { id }) => {
            let org = door.home::<Reminder>(id)?;
            let retried = door.act(org, move |act| reminders::retry(act, id))?;
            let said = "is scheduled again, for now; a running worker sends it";
            tell(&door, org, &retried, said)
        }
    }
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
        "Cancel for good: {}, {}, scheduled for {}.",
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
