//! Raises dues: all that are due, a bounded number at a step, so that mail does not wait for a federation's year.

use bursar_app::AppError;
use bursar_app::dues::{self, DuesWork, Raised};
use bursar_domain::Timestamp;

use super::Worker;

/// Groups that are looked at in a step.
const GROUPS_MAX: i64 = 100;

/// A pass over all dues that are due. One that cannot be raised does not keep the others from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DuesPass {
    started_at: Option<Timestamp>,
    after: Option<DuesWork>,
}

impl Worker {
    /// Goes on with the pass: how much it did, and once nothing is left the time as of which all dues are raised.
    pub(super) fn raise_dues(&mut self) -> Result<(usize, Option<Timestamp>), AppError> {
        let now = self.guard.now();
        // A clock that was set back begins anew.
        let started_at = *self.dues.started_at.insert(match self.dues.started_at {
            Some(at) if at <= now => at,
            Some(_) | None => now,
        });
        let after = self.dues.after;
        let found =
            self.look(move |whole| dues::due(whole, started_at.date(), after.as_ref(), GROUPS_MAX))?;
        let mut done = 0;
        for work in &found {
            done += self.raise_one(*work)?;
            self.dues.after = Some(*work);
            if self.bell.is_over() {
                return Ok((done, None));
            }
        }
        if i64::try_from(found.len()) == Ok(GROUPS_MAX) {
            return Ok((done.max(1), None));
        }
        self.dues = DuesPass::default();
        Ok((done, Some(started_at)))
    }

    /// After downtime a group can be several periods behind: each is raised.
    fn raise_one(&mut self, work: DuesWork) -> Result<usize, AppError> {
        let (mut done, mut after) = (0, None);
        while !self.bell.is_over() {
            let raising = self.act(work.organization, move |act| match work.is_raised {
                true => dues::end_day(act, work.group, work.due, after),
                false => dues::raise(act, work.group, after),
            })?;
            after = match raising {
                Some(Raised::Some(_, last)) => Some(last),
                Some(Raised::Period(_)) => None,
                Some(Raised::Nothing) | None => break,
            };
            done += 1;
        }
        Ok(done)
    }
}
