//! Groups: members who owe the same dues.

use serde::Serialize;

use crate::fields::Fields;
use crate::late_fee::LateRule;
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Resource, Surroundings, resource, take_fields};
use crate::text::{NAME, NOTE};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// How often dues come back.
    Interval {
        /// Every seven days.
        Weekly "weekly",
        /// Every month.
        Monthly "monthly",
        /// Every three months.
        Quarterly "quarterly",
        /// Every six months.
        Semiannual "semiannual",
        /// Every year.
        Annual "annual",
    }
}

impl Interval {
    /// `anchor_day` is the day of the month that the series began on.
    pub fn after(self, due: Date, anchor_day: i8) -> Date {
        match self {
            Self::Weekly => due.plus_days(7),
            Self::Monthly => due.plus_months(1, anchor_day),
            Self::Quarterly => due.plus_months(3, anchor_day),
            Self::Semiannual => due.plus_months(6, anchor_day),
            Self::Annual => due.plus_months(12, anchor_day),
        }
    }
}

words! {
    /// What a member who joins within a period is charged at once.
    ProRata {
        /// Nothing.
        None "none",
        /// The months left of the period.
        Monthly "monthly",
    }
}

resource! {
    /// Members who owe the same dues. The dues are set by officers and read-only here.
    Group = "group" {
        /// Name of the group.
        name: String => shown("name").text(NAME).required(),
        /// Purpose of the group. Empty if there is none.
        description: String => shown("description").text(NOTE),
        /// Dues of each member for a period. Null if the group has no dues.
        amount_due: Option<Money> => shown("amountDue").read_only(),
        /// The day on which the next dues are due.
        due_date: Option<Date> => shown("dueDate").read_only(),
        /// Whether the dues are recurring.
        is_recurring: bool => shown("isRecurring").read_only(),
        /// Interval of recurring dues. Null unless `isRecurring`.
        recurring_interval: Option<Interval> => shown("recurringInterval").read_only(),
        /// The day of the month that the series of due dates began on.
        due_anchor_day: Option<i8> => hidden("dueAnchorDay").range(1, 31),
        /// Dues that fell due before this day are not raised.
        dues_from: Option<Date> => internal(),
        /// What is charged once when dues are late.
        late_fee: Option<Money> => hidden("lateFee"),
        /// What is charged once when dues are late, in percent of what is open.
        late_percent: Option<i64> => hidden("latePercent").range(1, 100),
        /// How many days after the due day dues are late.
        late_after_days: Option<i64> => hidden("lateAfterDays").range(0, 3_650),
        /// The most that a late fee can be.
        late_cap: Option<Money> => hidden("lateCap"),
        /// What a member who joins within a period is charged at once.
        pro_rata: ProRata => hidden("proRata"),
        /// The first due day of the dues as they are set: before it there is no period to join.
        dues_since: Option<Date> => hidden("duesSince"),
        /// When the rule for late fees was set. Charges from before it that were late then have no fee.
        late_since: Option<Timestamp> => internal(),
        /// The day from which late charges are looked for again. Null without a rule.
        late_next: Option<Date> => internal(),
        /// Number of active members.
        member_count: i64 => derived("memberCount").range(0, i64::MAX).read_only(),
        /// The organization's currency, which its dues are in.
        currency: Currency => internal(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGroup {
    pub name: String,
    pub description: String,
}

impl NewGroup {
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        refuse_read_only(fields)?;
        Ok(Self {
            name: fields.text("name", NAME)?.required()?,
            description: fields.text("description", NOTE)?.optional().unwrap_or_default(),
        })
    }
}

/// `None` keeps the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupChange {
    pub name: Option<String>,
    pub description: Option<String>,
}

impl GroupChange {
    /// Null is refused.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        refuse_read_only(fields)?;
        Ok(Self {
            name: fields.text("name", NAME)?.unless_null()?,
            description: fields.text("description", NOTE)?.unless_null()?,
        })
    }

    /// `None` if nothing changes.
    pub fn apply(self, group: &Group) -> Option<Group> {
        let mut changed = group.clone();
        changed.name = self.name.unwrap_or(changed.name);
        changed.description = self.description.unwrap_or(changed.description);
        (changed != *group).then_some(changed)
    }
}

/// Refuses a field that callers see and cannot set.
pub fn refuse_read_only(fields: &Fields<'_>) -> Result<(), Refusal> {
    let mut read_only = Group::FIELDS.iter().filter(|field| field.spec.is_read_only);
    match read_only.find(|field| fields.has(field.spec.name)) {
        Some(field) => Err(Refusal::invalid(
            field.spec.name,
            "is read-only through the API; leave it out",
        )),
        None => Ok(()),
    }
}

impl Group {
    /// The next due date to raise, even if it is in the future. Dates before `dues_from` are skipped:
    /// recurring dues continue with the first date of their series that is not, others are over.
    pub fn next_due(&self) -> Option<Date> {
        self.amount_due.filter(|amount| amount.minor > 0)?;
        let due = self.due_date?;
        match self.dues_from {
            Some(from) if from > due => self.due_from(from),
            Some(_) | None => Some(due),
        }
    }

    /// Skips the due dates before this day. Recurring dues store the first date that is left, so that nobody
    /// has to search for it again.
    pub fn skip_dues_before(&mut self, day: Date) {
        self.dues_from = self
            .due_date
            .map(|due| (due < day).then(|| self.due_from(day)).flatten().unwrap_or(day));
    }

    /// Call it after the dues of `due` were raised: moves to the next date of the series, or ends it.
    pub fn move_on(&mut self, due: Date) {
        match self.interval() {
            Some(interval) => {
                let next = interval.after(due, self.anchor_day(due));
                self.due_date = Some(next);
                self.dues_from = Some(next);
            }
            // The date stays, but is not raised again.
            None => self.dues_from = Some(due.plus_days(1)),
        }
    }

    /// The first date of the series on or after this day.
    fn due_from(&self, day: Date) -> Option<Date> {
        let (interval, mut due) = (self.interval()?, self.due_date?);
        while due < day {
            let next = interval.after(due, self.anchor_day(due));
            if next <= due {
                // The calendar ends here.
                return None;
            }
            due = next;
        }
        Some(due)
    }

    /// Call it when the rule for late fees may have changed. With a new rule, or with fewer days, charges that would have
    /// been late before today are left alone: a new rule must not surprise everybody who owes.
    pub fn follow_late_rule(&mut self, before: Option<&Self>, now: Timestamp, today: Date) {
        let (old, new) = (before.and_then(LateRule::of), LateRule::of(self));
        let Some(rule) = new else {
            (self.late_since, self.late_next) = (None, None);
            return;
        };
        if old == new {
            return;
        }
        if self.late_since.is_none() || old.is_none_or(|old| rule.after_days < old.after_days) {
            self.late_since = Some(now);
        }
        self.late_next = Some(today);
    }

    /// A late fee is an amount or a percentage, and has a day.
    fn check_late(&self) -> Result<(), Refusal> {
        let refuse = |field, rule: &str| Err(Refusal::invalid(field, rule));
        let is_positive = |amount: Option<Money>| amount.is_none_or(|amount| amount.minor > 0);
        if !is_positive(self.late_fee) {
            return refuse(
                "lateFee",
                "must be greater than 0; null for a group without late fees",
            );
        }
        if !is_positive(self.late_cap) {
            return refuse(
                "lateCap",
                "must be greater than 0; null for late fees without a cap",
            );
        }
        match (self.late_fee.is_some(), self.late_percent.is_some()) {
            (true, true) => refuse("latePercent", "must be null when lateFee is given"),
            (false, false) if self.late_after_days.is_some() => {
                refuse("lateAfterDays", "must be null without lateFee or latePercent")
            }
            (false, false) if self.late_cap.is_some() => {
                refuse("lateCap", "must be null without lateFee or latePercent")
            }
            (true, false) | (false, true) if self.late_after_days.is_none() => {
                refuse("lateAfterDays", "is required with lateFee or latePercent")
            }
            (true, false) | (false, true) | (false, false) => Ok(()),
        }
    }

    fn interval(&self) -> Option<Interval> {
        self.recurring_interval.filter(|_| self.is_recurring)
    }

    fn anchor_day(&self, due: Date) -> i8 {
        self.due_anchor_day.unwrap_or_else(|| due.day())
    }
}

impl Invariants for Group {
    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        let due_before = self.due_date;
        take_fields(self, fields)?;
        if self.due_date != due_before && !fields.has("dueAnchorDay") {
            self.due_anchor_day = None;
        }
        if self.due_date.is_none() && self.due_anchor_day.is_some() {
            return Err(Refusal::invalid(
                "dueAnchorDay",
                "must be null when dueDate is null",
            ));
        }
        self.loaded().map_err(|rule| Refusal::invalid("dueDate", rule))
    }

    /// Without an anchor day, a series begins on its due date.
    fn loaded(&mut self) -> Result<(), String> {
        self.due_anchor_day = self.due_date.map(|due| self.anchor_day(due));
        Ok(())
    }

    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        let refuse = |field, rule: &str| Err(Refusal::invalid(field, rule));
        if self.amount_due.is_some_and(|amount| amount.minor <= 0) {
            return refuse(
                "amountDue",
                "must be greater than 0; null for a group without dues",
            );
        }
        match (self.is_recurring, self.recurring_interval) {
            (true, None) => return refuse("recurringInterval", "is required when isRecurring is true"),
            (false, Some(_)) => {
                return refuse("recurringInterval", "must be null when isRecurring is false");
            }
            (true, Some(_)) | (false, None) => {}
        }
        self.check_late()?;
        let Some(due) = self.due_date else {
            return Ok(());
        };
        let is_by_months = self
            .interval()
            .is_some_and(|interval| interval != Interval::Weekly);
        let anchor = self.anchor_day(due);
        if is_by_months && due.plus_months(0, anchor) != due {
            let rule = format!("must be a day that leads to dueDate, {due}, got {anchor}");
            return Err(Refusal::invalid("dueAnchorDay", rule));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::GroupId;
    use crate::resource::Stamps;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    fn group(due: &str, interval: Option<Interval>) -> Group {
        let at = crate::Timestamp::from_micros(0);
        Group {
            amount_due: Some(Money::new(500, Currency::USD)),
            due_date: Some(date(due)),
            due_anchor_day: Some(date(due).day()),
            is_recurring: interval.is_some(),
            recurring_interval: interval,
            ..Group::blank(GroupId::from_bits(1), Currency::USD, Stamps::at(at))
        }
    }

    #[test]
    fn dues_before_a_day_are_skipped_and_the_series_goes_on() {
        for (due, interval, day, next) in [
            (
                "2026-01-31",
                Some(Interval::Monthly),
                "2026-11-15",
                Some("2026-11-30"),
            ),
            (
                "2026-01-31",
                Some(Interval::Monthly),
                "2026-02-28",
                Some("2026-02-28"),
            ),
            (
                "2026-01-31",
                Some(Interval::Monthly),
                "2026-03-01",
                Some("2026-03-31"),
            ),
            (
                "2026-11-12",
                Some(Interval::Weekly),
                "2026-11-15",
                Some("2026-11-19"),
            ),
            (
                "2024-02-29",
                Some(Interval::Annual),
                "2026-11-15",
                Some("2027-02-28"),
            ),
            (
                "2026-01-31",
                Some(Interval::Quarterly),
                "2026-05-01",
                Some("2026-07-31"),
            ),
            (
                "2026-11-15",
                Some(Interval::Monthly),
                "2026-11-15",
                Some("2026-11-15"),
            ),
            (
                "2026-12-01",
                Some(Interval::Monthly),
                "2026-11-15",
                Some("2026-12-01"),
            ),
            ("2026-11-14", None, "2026-11-15", None),
            ("2026-11-15", None, "2026-11-15", Some("2026-11-15")),
        ] {
            let mut skipped = group(due, interval);
            skipped.skip_dues_before(date(day));
            assert_eq!(skipped.next_due(), next.map(date), "{due} from {day}");
            assert_eq!(skipped.due_date, Some(date(due)), "what is told stays as it was");
            // The same with only the day stored.
            skipped.dues_from = Some(date(day));
            assert_eq!(skipped.next_due(), next.map(date), "{due} from {day}");
        }
    }

    #[test]
    fn a_series_comes_back_to_its_day_and_ends_with_the_calendar() {
        let mut monthly = group("2026-01-31", Some(Interval::Monthly));
        for due in ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"] {
            assert_eq!(monthly.next_due(), Some(date(due)));
            monthly.move_on(date(due));
        }
        let mut last = group("9999-12-31", Some(Interval::Annual));
        last.dues_from = Some(date("9999-12-31"));
        assert_eq!(last.next_due(), Some(date("9999-12-31")));
        let mut once = group("2026-01-31", None);
        once.move_on(date("2026-01-31"));
        assert_eq!((once.next_due(), once.due_date), (None, Some(date("2026-01-31"))));
    }
}
