//! Due work: notices, dues, reminders, ends of campaigns, jobs to expand, and housekeeping. It sends nothing.

use std::sync::Arc;
use std::time::Duration;

use bursar_app::dues::{self, DuesWork, Raising};
use bursar_app::housekeeping::{self, Retention};
use bursar_app::late_fees::{self, Charging, LateWork};
use bursar_app::webhooks::delivery;
use bursar_app::{
    Act, AppError, NO_ORGANIZATION, Whole, backlog, campaigns, notices, online, outbox, reminders,
};
use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use super::base::{Base, is_outage};
use super::setbacks::{Row, Setbacks};
use super::tally::Tally;

/// Rows of each kind per step.
const STEP_MAX: i64 = 20;
/// Groups whose dues are checked per step.
const GROUPS_MAX: i64 = 100;
const HOUSEKEEPING: Duration = Duration::from_secs(60);
const MEASURING: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct DueWork {
    pub(super) base: Base,
    pub(super) lease_seconds: i64,
    retention: Retention,
    tally: Arc<Tally>,
    setbacks: Setbacks,
    pass: DuesPass,
    /// Where the pass over late charges goes on.
    late_after: Option<LateWork>,
}

/// A pass over all dues that are due. A failure does not hold up the others.
#[derive(Clone, Debug, Default)]
struct DuesPass {
    started_at: Option<Timestamp>,
    after: Option<DuesWork>,
}

impl DueWork {
    pub(super) fn new(base: Base, retention: Retention, lease_seconds: i64, tally: Arc<Tally>) -> Self {
        Self {
            base,
            retention,
            lease_seconds,
            tally,
            setbacks: Setbacks::default(),
            pass: DuesPass::default(),
            late_after: None,
        }
    }

    pub(super) fn run(mut self) {
        let base = self.base.clone();
        let (mut kept_house, mut measured) = (None, None);
        let step = || {
            if is_time(&base, &mut kept_house, HOUSEKEEPING)
                && let Err(error) = self.keep_house()
            {
                tracing::warn!(%error, "housekeeping was put off");
            }
            let done = self.step()?;
            if is_time(&base, &mut measured, MEASURING) {
                self.tally.measured(self.base.look(backlog::measure)?);
            }
            Ok(done)
        };
        base.run(step, |error| {
            tracing::error!(%error, "the worker has stopped; it continues when this is resolved");
        });
    }

    /// Returns how much was done.
    pub(super) fn step(&mut self) -> Result<usize, AppError> {
        self.base.guard.check(&self.base.app)?;
        let mut done = self.queue_notices()?;
        match self.base.guard.is_held() {
            // Mail that a request queued by a wrong clock is still sent at once.
            true => self.base.change(NO_ORGANIZATION, outbox::pull_in)?,
            false => done += self.start_what_is_due()?,
        }
        if self.base.look(outbox::has_due_job)? {
            done += self.expand_jobs()?;
        }
        Ok(done)
    }

    /// Work that depends on the time, so it waits while the clock is in doubt. Dues and late fees come before reminders,
    /// which state what is owed.
    fn start_what_is_due(&mut self) -> Result<usize, AppError> {
        let (mut done, complete_at) = self.raise_dues()?;
        if let Some(at) = complete_at {
            let (fees, is_complete) = self.charge_late_fees()?;
            done += fees;
            if is_complete {
                done += self.start_reminders(at)?;
            }
        }
        Ok(done + self.end_campaigns()?)
    }

    fn is_waiting(&self, row: Row) -> bool {
        self.setbacks.is_waiting(row, self.base.guard.running())
    }

    /// A failure is logged and its row backs off; an unavailable database ends the step.
    fn judge<T>(
        &mut self,
        row: Row,
        organization: OrganizationId,
        worked: Result<T, AppError>,
    ) -> Result<Option<T>, AppError> {
        match worked {
            Ok(value) => {
                self.setbacks.worked(row);
                Ok(Some(value))
            }
            Err(error) if is_outage(&error) => Err(error),
            Err(error) => {
                let seconds = self.setbacks.failed(row, self.base.guard.running()).as_secs();
                tracing::error!(%organization, ?row, %error, seconds, "a task of the background worker failed; it will be retried");
                Ok(None)
            }
        }
    }

    /// Notices use the wall clock even in doubt, because tokens expire by it.
    fn queue_notices(&mut self) -> Result<usize, AppError> {
        let (now, limit) = (self.base.guard.wall(), STEP_MAX + self.setbacks.count());
        let mut done = 0;
        for expiring in self.base.look(move |whole| notices::due(whole, now, limit))? {
            let (row, organization) = (Row::Notice(expiring.token.id), expiring.token.organization_id);
            if self.is_waiting(row) {
                continue;
            }
            let queued = self
                .base
                .change(organization, move |whole| notices::queue(whole, &expiring, now));
            done += usize::from(self.judge(row, organization, queued)?.is_some());
        }
        Ok(done)
    }

    fn start_reminders(&mut self, now: Timestamp) -> Result<usize, AppError> {
        let limit = STEP_MAX + self.setbacks.count();
        let mut done = 0;
        for (organization, id) in self.base.look(move |whole| reminders::due(whole, now, limit))? {
            if self.is_waiting(Row::Reminder(id)) {
                continue;
            }
            let run = self
                .base
                .act(organization, move |act| reminders::run_due(act, id));
            done += usize::from(self.judge(Row::Reminder(id), organization, run)?.is_some());
        }
        Ok(done)
    }

    fn end_campaigns(&mut self) -> Result<usize, AppError> {
        let (now, limit) = (self.base.guard.now(), STEP_MAX + self.setbacks.count());
        let mut done = 0;
        for (organization, id) in self.base.look(move |whole| campaigns::over(whole, now, limit))? {
            if self.is_waiting(Row::Campaign(id)) {
                continue;
            }
            let ended = self
                .base
                .act(organization, move |act| campaigns::end_if_over(act, id));
            done += usize::from(self.judge(Row::Campaign(id), organization, ended)?.is_some());
        }
        Ok(done)
    }

    /// Advances each job by one transaction, so that a large one does not hold up the others, and wakes the
    /// senders. A job that fails stays claimed while it backs off, so that no other worker tries it.
    fn expand_jobs(&mut self) -> Result<usize, AppError> {
        let until = self.base.guard.now().plus_seconds(self.lease_seconds);
        let claimed = self.base.change(NO_ORGANIZATION, move |whole| {
            outbox::claim_jobs(whole, until, STEP_MAX)
        });
        let mut done = 0;
        for job in claimed? {
            let (row, organization, again) = (Row::Job(job.id), job.organization, job.clone());
            let expanded = self.base.act(organization, move |act| outbox::expand(act, &job));
            if self.judge(row, organization, expanded)?.is_some() {
                done += 1;
            } else if let Some(wait) = self.setbacks.wait(row) {
                let until = self.base.guard.now().plus_seconds(wait);
                self.base
                    .change(organization, move |whole| outbox::put_off(whole, &again, until))?;
            }
        }
        if done > 0 {
            self.base.bell.ring();
        }
        Ok(done)
    }

    /// Continues the pass over all dues. Returns how much was done and, once nothing is left, the time as of which all dues
    /// are raised. Each step is bounded, so that other work does not wait for a large federation.
    fn raise_dues(&mut self) -> Result<(usize, Option<Timestamp>), AppError> {
        let now = self.base.guard.now();
        // If the clock was set back, start again.
        let started_at = *self.pass.started_at.insert(match self.pass.started_at {
            Some(at) if at <= now => at,
            Some(_) | None => now,
        });
        let after = self.pass.after.clone();
        let found = self
            .base
            .look(move |whole| dues::due(whole, started_at, after.as_ref(), GROUPS_MAX))?;
        let is_last = i64::try_from(found.len()) != Ok(GROUPS_MAX);
        let mut done = 0;
        for work in found {
            if work.is_time(started_at) {
                done += self.raise_one(&work)?;
            }
            self.pass.after = Some(work);
            if self.base.bell.is_over() {
                return Ok((done, None));
            }
        }
        if !is_last {
            return Ok((done.max(1), None));
        }
        self.pass = DuesPass::default();
        Ok((done, Some(started_at)))
    }

    /// After downtime a group can be several periods behind: each is raised.
    fn raise_one(&mut self, work: &DuesWork) -> Result<usize, AppError> {
        let row = Row::Dues(work.group);
        let (mut done, mut after) = (0, None);
        while !self.base.bell.is_over() && !self.is_waiting(row) {
            let (group, due, is_raised) = (work.group, work.due, work.is_raised);
            let raising = self.base.act(work.organization, move |act| match is_raised {
                true => dues::end_day(act, group, due, after),
                false => dues::raise(act, group, after),
            });
            after = match self.judge(row, work.organization, raising)? {
                Some(Raising::Some(_, last)) => Some(last),
                Some(Raising::Period(_)) => None,
                Some(Raising::Nothing) | None => break,
            };
            done += 1;
        }
        Ok(done)
    }

    /// Continues the pass over groups with late fees. Returns how much was done, and whether nothing is left.
    fn charge_late_fees(&mut self) -> Result<(usize, bool), AppError> {
        let (now, after) = (self.base.guard.now(), self.late_after.take());
        let found = self
            .base
            .look(move |whole| late_fees::due(whole, after.as_ref(), GROUPS_MAX))?;
        let is_last = i64::try_from(found.len()) != Ok(GROUPS_MAX);
        let mut done = 0;
        for work in found {
            if work.zone.date(now) >= work.next {
                done += self.charge_one(&work)?;
            }
            self.late_after = Some(work).filter(|_| !is_last);
            if self.base.bell.is_over() {
                return Ok((done, false));
            }
        }
        // A pass that is not at its end goes on at once.
        Ok((if is_last { done } else { done.max(1) }, is_last))
    }

    fn charge_one(&mut self, work: &LateWork) -> Result<usize, AppError> {
        let (row, group) = (Row::LateFees(work.group), work.group);
        let (mut done, mut after) = (0, None);
        while !self.base.bell.is_over() && !self.is_waiting(row) {
            let charging = self
                .base
                .act(work.organization, move |act| late_fees::raise(act, group, after));
            after = match self.judge(row, work.organization, charging)? {
                Some(Charging::Some(_, last)) => Some(last),
                Some(Charging::Done(_)) => return Ok(done + 1),
                Some(Charging::Nothing) | None => break,
            };
            done += 1;
        }
        Ok(done)
    }

    pub(super) fn keep_house(&mut self) -> Result<(), AppError> {
        self.setbacks.tidy(self.base.guard.running());
        self.base.guard.check(&self.base.app)?;
        self.base.change(NO_ORGANIZATION, outbox::pull_in)?;
        self.base.change(NO_ORGANIZATION, delivery::pull_in)?;
        self.base.change(NO_ORGANIZATION, online::pull_in)?;
        if !self.base.guard.may_prune() {
            return Ok(());
        }
        let retention = self.retention;
        let prune = || {
            self.base.change(NO_ORGANIZATION, move |whole| {
                housekeeping::prune(whole, retention)
            })
        };
        while prune()? && !self.base.bell.is_over() {}
        let prunable = move |whole: &mut Whole<'_, '_>| housekeeping::prunable(whole, retention);
        for organization in self.base.look(prunable)? {
            if self.base.bell.is_over() {
                break;
            }
            let prune = || {
                let work = move |act: &mut Act<'_, '_>| housekeeping::prune_organization(act, retention);
                self.base.act(organization, work)
            };
            while prune()? && !self.base.bell.is_over() {}
        }
        Ok(())
    }
}

fn is_time(base: &Base, last: &mut Option<Duration>, every: Duration) -> bool {
    let now = base.guard.running();
    let is_time = last.is_none_or(|at| now < at || now - at >= every);
    if is_time {
        *last = Some(now);
    }
    is_time
}
