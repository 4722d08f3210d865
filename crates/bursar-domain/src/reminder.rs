//! Reminders: messages to members or an organization at a set time, once or recurring.

use crate::ids::{GroupId, MemberId, OrganizationId};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Surroundings, resource};
use crate::states::Machine;
use crate::text::{BODY, SUBJECT};
use crate::time::{DAY_MICROS, Timestamp};
use crate::words;

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
        /// It is waiting for its time.
        Scheduled "scheduled",
        /// Messages are being delivered.
        Sending "sending",
        /// At least one message was delivered.
        Sent "sent",
        /// No message was delivered.
        Failed "failed",
        /// Nobody qualified, so nothing was sent.
        Completed "completed",
        /// It was cancelled.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// If the reminder names a group too, only what is owed for that group counts.
    Member(MemberId),
    /// Its active members.
    Group(GroupId),
    /// The contact of the organization itself, its parent or a direct child.
    Organization(OrganizationId),
    /// The reminder names no target.
    Nobody,
}

resource! {
    /// A message by e-mail or SMS to members or to an organization, sent once or repeatedly.
    Reminder = "reminder" {
        /// The member who gets it.
        target_member_id: Option<MemberId> => shown("targetMemberId"),
        /// The organization whose contact gets it.
        target_organization_id: Option<OrganizationId> => shown("targetOrganizationId"),
        /// The group whose active members get it. With `targetMemberId`, only that member gets it, and only dues of this
        /// group are considered.
        group_id: Option<GroupId> => shown("groupId"),
        /// Channel: e-mail or SMS.
        method: Method => shown("method").required(),
        /// Status of the reminder.
        status: ReminderStatus => shown("status"),
        /// Subject of the e-mail.
        subject: Option<String> => shown("subject").text(SUBJECT),
        /// Text of the message.
        body: Option<String> => shown("body").text(BODY),
        /// When it will be sent.
        scheduled_at: Option<Timestamp> => shown("scheduledAt"),
        /// When a message was last delivered.
        sent_at: Option<Timestamp> => shown("sentAt"),
        /// Whether it is sent repeatedly.
        is_recurring: bool => shown("isRecurring"),
        /// Days between two runs.
        recurring_interval_days: Option<i64> => shown("recurringIntervalDays").range(1, INTERVAL_DAYS_MAX),
        /// Whether the message includes the recipient's open amount. If so, only members who owe something get it.
        include_payment_info: bool => shown("includePaymentInfo"),
        /// Its time was already past when it was imported: it waits for an officer's send-now.
        is_held: bool => internal(),
    }
}

impl Reminder {
    /// A member named beside a group is the one to write to.
    pub fn audience(&self) -> Audience {
        match (self.target_member_id, self.group_id, self.target_organization_id) {
            (Some(member), _, _) => Audience::Member(member),
            (None, Some(group), _) => Audience::Group(group),
            (None, None, Some(organization)) => Audience::Organization(organization),
            (None, None, None) => Audience::Nobody,
        }
    }

    /// A run with recipients is `sending`; one without is over at once.
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

    /// `delivered` is the time of the last delivery, if any.
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

    /// For a run without messages, which an import can bring: as far as known, it delivered nothing.
    pub fn give_up_run(&mut self) -> Result<(), Refusal> {
        self.status = self.status.to(ReminderStatus::Failed)?;
        Ok(())
    }

    pub fn retry(&mut self, at: Timestamp) -> Result<(), Refusal> {
        self.status = self.status.to(ReminderStatus::Scheduled)?;
        self.schedule(at);
        Ok(())
    }

    fn schedule(&mut self, at: Timestamp) {
        self.scheduled_at = Some(at);
        self.is_held = false;
    }

    /// For a recurring reminder: whole intervals after `run_at`, so that it does not drift, and not in the
    /// past, so that downtime causes no burst.
    pub fn next_run(&self, run_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let days = self
            .recurring_interval_days
            .filter(|days| self.is_recurring && *days > 0)?;
        let behind = now.micros().saturating_sub(run_at.micros()).max(0);
        let intervals = behind / (days * DAY_MICROS) + 1;
        Some(run_at.plus_days(days.saturating_mul(intervals)))
    }
}

impl Invariants for Reminder {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ReminderId;
    use crate::money::Currency;
    use crate::resource::{Resource, Stamps};
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
