//! Back-off for due work that failed: each row backs off by itself, so that bad rows delay no others.
//!
//! Kept in memory. A restart tries every row once more, and several workers try it a few times more often; storing
//! it would need the database, which may be what fails.

use std::collections::HashMap;
use std::time::Duration;

use bursar_domain::ids::{CampaignId, GroupId, ReminderId, TokenId};

/// The wait after the first failure; doubles with each further one.
const FIRST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(3_600);
/// Rows beyond this are tried at every step.
const ROWS_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Row {
    Reminder(ReminderId),
    Dues(GroupId),
    LateFees(GroupId),
    Notice(TokenId),
    Campaign(CampaignId),
    Job([u8; 16]),
}

/// Times are those of the running clock.
#[derive(Debug, Default)]
pub(super) struct Setbacks(HashMap<Row, Setback>);

#[derive(Clone, Copy, Debug)]
struct Setback {
    wait: Duration,
    until: Duration,
}

impl Setbacks {
    /// A search for due work must look past this many rows.
    pub(super) fn count(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    pub(super) fn is_waiting(&self, row: Row, now: Duration) -> bool {
        self.0.get(&row).is_some_and(|setback| now < setback.until)
    }

    /// Seconds that a row waits after its latest failure.
    pub(super) fn wait(&self, row: Row) -> Option<i64> {
        let setback = self.0.get(&row)?;
        i64::try_from(setback.wait.as_secs()).ok()
    }

    /// Returns how long the row waits now.
    pub(super) fn failed(&mut self, row: Row, now: Duration) -> Duration {
        let wait = match self.0.get(&row) {
            Some(before) => (before.wait * 2).min(LONGEST),
            None => FIRST,
        };
        if self.0.len() < ROWS_MAX || self.0.contains_key(&row) {
            let until = now + wait;
            self.0.insert(row, Setback { wait, until });
        }
        wait
    }

    pub(super) fn worked(&mut self, row: Row) {
        self.0.remove(&row);
    }

    /// Forgets rows that were not tried for long: they are gone, or done by other workers.
    pub(super) fn tidy(&mut self, now: Duration) {
        self.0.retain(|_, setback| now < setback.until + LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_waits_longer_each_time_and_is_forgotten_when_it_works() {
        let (mut setbacks, row) = (Setbacks::default(), Row::Job([1; 16]));
        let mut now = Duration::from_secs(100);
        for seconds in [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600] {
            let wait = setbacks.failed(row, now);
            assert_eq!(wait, Duration::from_secs(seconds));
            assert!(setbacks.is_waiting(row, now + wait - Duration::from_millis(1)));
            now += wait;
            assert!(!setbacks.is_waiting(row, now));
        }
        assert!(!setbacks.is_waiting(Row::Job([2; 16]), now));
        setbacks.worked(row);
        assert_eq!((setbacks.count(), setbacks.failed(row, now)), (0, FIRST));
        setbacks.tidy(now + FIRST + LONGEST);
        assert_eq!(setbacks.count(), 0);
    }
}
