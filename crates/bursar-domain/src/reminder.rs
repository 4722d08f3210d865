//! Reminders: a promise to write to a person at a time, once or again and again.

use crate::fields::Fields;
use crate::ids::{GroupId, Id, MemberId, OrganizationId, ReminderId, kind};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::resource::{Reference, Resource, Stamps, Surroundings, Writer};
use crate::states::Machine;
use crate::text::{BODY, SUBJECT};
use crate::time::{DAY_MICROS, Timestamp};
use crate::words;

/// Days between the runs of a recurring reminder at most.
pub const INTERVAL_DAYS_MAX: i64 = 3_650;

words! {
    /// How a reminder is sent.
    Method {
        /// By e-mail.
        Email "email",
        /// By SMS.
        Sms "sms",
    }
}

words! {
    /// Where a reminder stands.
    ReminderStatus {
        /// Waits for its time.
        Scheduled "scheduled",
        /// Messages are on their way.
        Sending "sending",
        /// At least one message was delivered.
        Sent "sent",
        /// No message was delivered.
        Failed "failed",
        /// There was nobody to write to.
        Completed "completed",
        /// Called off.
        Cancelled "cancelled",
    }
}

impl Machine for ReminderStatus {
    const NOUN: &'static str = "reminder";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Scheduled => &[Self::Sending, Self::Cancelled, Self::Completed],
            Self::Sending => &[Self::Sent, Self::Failed, Self::Scheduled],
            Self::Failed => &[Self::Scheduled],
            Self::Sent | Self::Completed | Self::Cancelled => &[],
        }
    }
}

words! {
    /// What became of a send-now.
    Outcome {
        /// Somebody is written to.
        Sent "sent",
        /// Nobody qualified.
        Skipped "skipped",
    }
}

/// Whom a reminder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// One member; what is owed counts for the group only, when there is one.
    Member(MemberId),
    /// The active members of a group.
    Group(GroupId),
    /// The contact of an organization: itself, its parent or a direct child.
    Organization(OrganizationId),
    /// Nobody: the reminder names no target.
    Nobody,
}

/// A reminder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// Names it.
    pub id: ReminderId,
    /// The member to write to.
    pub target_member_id: Option<MemberId>,
    /// The organization whose contact to write to.
    pub target_organization_id: Option<OrganizationId>,
    /// The group to write to.
    pub group_id: Option<GroupId>,
    /// How.
    pub method: Method,
    /// Where it stands.
    pub status: ReminderStatus,
    /// The subject line.
    pub subject: Option<String>,
    /// The text.
    pub body: Option<String>,
    /// When to send it.
    pub scheduled_at: Option<Timestamp>,
    /// When something was last delivered.
    pub sent_at: Option<Timestamp>,
    /// Whether it comes back.
    pub is_recurring: bool,
    /// After how many days.
    pub recurring_interval_days: Option<i64>,
    /// Says what is owed, and goes only to those who owe.
    pub include_payment_info: bool,
    /// Its time was already past when it was imported: it waits for an officer's send-now. Not part of any
    /// representation.
    pub is_held: bool,
    /// When it was made and changed.
    pub stamps: Stamps,
}

impl Reminder {
    /// Whom it is for. A member named beside a group is the one to write to.
    pub fn audience(&self) -> Audience {
        match (self.target_member_id, self.group_id, self.target_organization_id) {
            (Some(member), _, _) => Audience::Member(member),
            (None, Some(group), _) => Audience::Group(group),
            (None, None, Some(organization)) => Audience::Organization(organization),
            (None, None, None) => Audience::Nobody,
        }
    }

    /// Starts a run at `run_at`, when `somebody_qualifies` or not. A run with recipients is `sending`; one
    /// without is over at once.
    pub fn start_run(
        &mut self,
        somebody_qualifies: bool,
        run_at: Timestamp,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        if self.status != ReminderStatus::Scheduled {
            return Err(Refusal::conflict(format!(
                "the reminder is {}; only a scheduled reminder can be sent",
                self.status
            )));
        }
        if somebody_qualifies {
            self.status = self.status.to(ReminderStatus::Sending)?;
            return Ok(Outcome::Sent);
        }
        match self.next_run(run_at, now) {
            Some(next) => self.schedule(next),
            None => self.status = self.status.to(ReminderStatus::Completed)?,
        }
        Ok(Outcome::Skipped)
    }

    /// Ends the run of `run_at`: `delivered` is the time of the last delivery, if there was one.
    pub fn end_run(
        &mut self,
        delivered: Option<Timestamp>,
        run_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let next_run = self.next_run(run_at, now);
        let next = match (next_run, delivered) {
            (Some(_), _) => ReminderStatus::Scheduled,
            (None, Some(_)) => ReminderStatus::Sent,
            (None, None) => ReminderStatus::Failed,
        };
        self.status = self.status.to(next)?;
        if let Some(next) = next_run {
            self.schedule(next);
        }
        if delivered.is_some() {
            self.sent_at = delivered;
        }
        Ok(())
    }

    /// Gives up a run that nothing is left of, as an import can bring one: as far as is known it delivered nothing.
    pub fn give_up_run(&mut self) -> Result<(), Refusal> {
        self.status = self.status.to(ReminderStatus::Failed)?;
        Ok(())
    }

    /// Schedules it once more after it failed.
    pub fn retry(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.status = self.status.to(ReminderStatus::Scheduled)?;
        self.schedule(at);
        Ok(())
    }

    fn schedule(&mut self, at: Timestamp) {
        self.scheduled_at = Some(at);
        self.is_held = false;
    }

    /// When the run after that of `run_at` is due, for a recurring reminder: whole intervals later, so that it
    /// does not drift, and not in the past, so that downtime makes no burst.
    pub fn next_run(&self, run_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let days = self
            .recurring_interval_days
            .filter(|days| self.is_recurring && *days > 0)?;
        let behind = now.micros().saturating_sub(run_at.micros()).max(0);
        let intervals = behind / (days * DAY_MICROS) + 1;
        Some(run_at.plus_days(days.saturating_mul(intervals)))
    }
}

impl Resource for Reminder {
    type Kind = kind::Reminder;
    const TYPE: &'static str = "reminder";

    fn blank(id: Id<Self::Kind>, _: Currency, stamps: Stamps) -> Self {
        Self {
            id,
            target_member_id: None,
            target_organization_id: None,
            group_id: None,
            method: Method::Email,
            status: ReminderStatus::Scheduled,
            subject: None,
            body: None,
            scheduled_at: None,
            sent_at: None,
            is_recurring: false,
            recurring_interval_days: None,
            include_payment_info: false,
            is_held: false,
            stamps,
        }
    }

    fn id(&self) -> ReminderId {
        self.id
    }

    fn stamps(&self) -> Stamps {
        self.stamps
    }

    fn stamps_mut(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.field("targetMemberId", &self.target_member_id);
        out.organization("targetOrganizationId", self.target_organization_id);
        out.field("groupId", &self.group_id);
        out.field("method", &self.method);
        out.field("status", &self.status);
        out.field("subject", &self.subject);
        out.field("body", &self.body);
        out.field("scheduledAt", &self.scheduled_at);
        out.field("sentAt", &self.sent_at);
        out.field("isRecurring", &self.is_recurring);
        out.field("recurringIntervalDays", &self.recurring_interval_days);
        out.field("includePaymentInfo", &self.include_payment_info);
        out.stamps(self.stamps);
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields
            .id("targetMemberId")?
            .set_or_null(&mut self.target_member_id);
        fields
            .id("targetOrganizationId")?
            .set_or_null(&mut self.target_organization_id);
        fields.id("groupId")?.set_or_null(&mut self.group_id);
        fields
            .word("method", Method::parse, Method::WORDS)?
            .fill(&mut self.method)?;
        fields
            .word("status", ReminderStatus::parse, ReminderStatus::WORDS)?
            .set(&mut self.status)?;
        fields.text("subject", SUBJECT)?.set_or_null(&mut self.subject);
        fields.text("body", BODY)?.set_or_null(&mut self.body);
        fields
            .timestamp("scheduledAt")?
            .set_or_null(&mut self.scheduled_at);
        fields.timestamp("sentAt")?.set_or_null(&mut self.sent_at);
        fields.boolean("isRecurring")?.set(&mut self.is_recurring)?;
        fields
            .integer("recurringIntervalDays", 1..=INTERVAL_DAYS_MAX)?
            .set_or_null(&mut self.recurring_interval_days);
        fields
            .boolean("includePaymentInfo")?
            .set(&mut self.include_payment_info)?;
        Ok(())
    }

    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        let refuse = |field, rule: &str| Err(Refusal::invalid(field, rule));
        let members = (self.target_member_id, self.group_id);
        match (members, self.target_organization_id) {
            ((None, None), Some(_)) | ((Some(_), _) | (_, Some(_)), None) => {}
            ((None, None), None) if around.is_part => {}
            ((None, None), None) => {
                return refuse(
                    "targetMemberId",
                    "is required unless groupId or targetOrganizationId is given",
                );
            }
            (_, Some(_)) => {
                return refuse(
                    "targetOrganizationId",
                    "must be null when targetMemberId or groupId is given; a reminder has one target",
                );
            }
        }
        match (self.is_recurring, self.recurring_interval_days) {
            (true, None) => {
                return refuse("recurringIntervalDays", "is required when isRecurring is true");
            }
            (false, Some(_)) => {
                return refuse("recurringIntervalDays", "must be null when isRecurring is false");
            }
            (true, Some(_)) | (false, None) => {}
        }
        if self.is_recurring && matches!(self.status, ReminderStatus::Sent | ReminderStatus::Completed) {
            let rule = format!(
                "must not be {} when isRecurring is true: a recurring reminder is scheduled again",
                self.status
            );
            return Err(Refusal::invalid("status", rule));
        }
        around.past("sentAt", self.sent_at)
    }

    fn references(&self, visit: &mut dyn FnMut(Reference)) {
        if let Some(id) = self.target_member_id {
            visit(Reference::Member("targetMemberId", id));
        }
        if let Some(id) = self.group_id {
            visit(Reference::Group("groupId", id));
        }
        if let Some(id) = self.target_organization_id {
            visit(Reference::Organization("targetOrganizationId", id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::testing::assert_table;

    #[test]
    fn transitions() {
        assert_table(
            ReminderStatus::ALL,
            &[
                "scheduled → sending, cancelled, completed",
                "sending → sent, failed, scheduled",
                "failed → scheduled",
                "sent → ",
                "completed → ",
                "cancelled → ",
            ],
        );
    }

    fn reminder(days: Option<i64>) -> Reminder {
        let at = Timestamp::from_micros(0);
        let mut reminder = Reminder::blank(ReminderId::from_bits(1), Currency::USD, Stamps::at(at));
        reminder.is_recurring = days.is_some();
        reminder.recurring_interval_days = days;
        reminder
    }

    #[test]
    fn a_run_ends_by_what_was_delivered() {
        let (run, sent) = (
            Timestamp::from_micros(1_000_000),
            Timestamp::from_micros(9_000_000),
        );
        for (days, delivered, status) in [
            (None, Some(sent), ReminderStatus::Sent),
            (None, None, ReminderStatus::Failed),
            (Some(30), Some(sent), ReminderStatus::Scheduled),
            (Some(30), None, ReminderStatus::Scheduled),
        ] {
            let mut r = reminder(days);
            assert_eq!(r.start_run(true, run, run), Ok(Outcome::Sent));
            assert!(
                r.start_run(true, run, run)
                    .unwrap_err()
                    .message()
                    .contains("sending")
            );
            r.end_run(delivered, run, sent).unwrap();
            assert_eq!((r.status, r.sent_at), (status, delivered));
            assert_eq!(r.scheduled_at, days.map(|d| run.plus_days(d)));
        }
    }

    #[test]
    fn after_downtime_the_next_run_is_on_the_grid_and_ahead() {
        let weekly = reminder(Some(7));
        let run = Timestamp::from_micros(1_000_000);
        for (late_days, next_days) in [(0, 7), (6, 7), (7, 14), (20, 21), (700, 707)] {
            assert_eq!(
                weekly.next_run(run, run.plus_days(late_days)),
                Some(run.plus_days(next_days)),
                "{late_days}"
            );
        }
        assert_eq!(reminder(None).next_run(run, run), None);
    }

    #[test]
    fn a_run_for_nobody_is_over_at_once() {
        let run = Timestamp::from_micros(1_000_000);
        let mut once = reminder(None);
        assert_eq!(once.start_run(false, run, run), Ok(Outcome::Skipped));
        assert_eq!(once.status, ReminderStatus::Completed);
        let mut weekly = reminder(Some(7));
        assert_eq!(weekly.start_run(false, run, run), Ok(Outcome::Skipped));
        assert_eq!(
            (weekly.status, weekly.scheduled_at),
            (ReminderStatus::Scheduled, Some(run.plus_days(7)))
        );
    }
}
