//! The change clock: one per organization, strictly ascending in commit order.
//!
//! Every write transaction takes it first. That is also the lock that puts an organization's writes in order on all
//! replicas. It counts up in memory, one microsecond per changed row, and is written back before the commit, once for
//! all jobs of a batch. Until then the row shows what the clock was before.
//!
//! The clock also divides history into epochs. A superseded version belongs to the epoch that is open at that moment;
//! after `EPOCH_CHANGES` changes the next transaction opens another. An epoch is named by the first stamp that can be
//! in it, so whatever is superseded at that stamp or later is in this epoch or a later one.

use bursar_domain::Timestamp;
use bursar_domain::creditor_reference;
use bursar_domain::ids::OrganizationId;

use crate::engine::{Foreseen, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

/// The least number of changes in an epoch of history. A page may read that many useless versions, and looks once into
/// every epoch since its walk began: `docs/decisions/0006-history-in-epochs.md` has the figures.
pub const EPOCH_CHANGES: i64 = 512;

const TAKE: &str = "SELECT clock, last_reference, epoch FROM organizations WHERE id = ?1";

/// What [`Clock::take`] asks, for those of many organizations that nobody else has locked: for PostgreSQL alone.
pub(crate) const CLAIM: &str =
    "SELECT id, clock, last_reference, epoch FROM organizations WHERE id = ANY ($1) FOR UPDATE SKIP LOCKED";

/// Locks the clock of the organization with this key, in hexadecimal digits: for PostgreSQL alone.
pub(crate) fn lock(key: &str) -> String {
    format!("SELECT 1 FROM organizations WHERE id = '\\x{key}' FOR UPDATE")
}

/// When a version is superseded.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub at: Timestamp,
    /// The epoch of history that is open then.
    pub epoch: i64,
}

/// Held by this transaction.
#[derive(Debug)]
pub struct Clock {
    organization: OrganizationId,
    now: i64,
    taken: i64,
    last: i64,
    changes: i64,
    epoch: i64,
    /// The organization's last creditor reference. Like a stamp, a number is taken once.
    reference_taken: i64,
    last_reference: i64,
}

impl Clock {
    /// What [`Clock::take`] asks.
    pub fn take_foreseen(organization: OrganizationId) -> Foreseen {
        Foreseen::locked(TAKE, &[Value::Bytes(&organization.to_bytes())])
    }

    /// `None` if there is no such organization.
    pub fn take(
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<Option<Self>, DbError> {
        let key = organization.to_bytes();
        let taken = match tx.held(&key) {
            Some(left) => Some(left),
            None => {
                let taken: Option<(i64, i64, i64)> = tx.first_locked(TAKE, &[Value::Bytes(&key)], read)?;
                taken.map(|(taken, last_reference, epoch)| [taken, last_reference, epoch, 0])
            }
        };
        Ok(taken.map(|[taken, last_reference, epoch, changes]| Self {
            organization,
            now: now.micros(),
            taken,
            last: taken,
            changes,
            epoch,
            reference_taken: last_reference,
            last_reference,
        }))
    }

    /// For an organization that this transaction creates.
    pub fn start(organization: OrganizationId, now: Timestamp, at: Timestamp) -> Self {
        Self {
            organization,
            now: now.micros(),
            taken: i64::MIN,
            last: at.micros(),
            changes: 0,
            epoch: 0,
            reference_taken: 0,
            last_reference: 0,
        }
    }

    /// The stamp of the next changed row: the wall clock, or a microsecond after the last stamp if the wall clock is
    /// not ahead of it.
    pub fn tick(&mut self) -> Timestamp {
        self.last = if self.last >= self.now {
            self.last + 1
        } else {
            self.now
        };
        self.changes += 1;
        Timestamp::from_micros(self.last)
    }

    /// The stamp of the next changed row, and the open epoch of history.
    pub fn tick_moment(&mut self) -> Moment {
        Moment {
            at: self.tick(),
            epoch: self.epoch,
        }
    }

    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    pub fn last(&self) -> Timestamp {
        Timestamp::from_micros(self.last)
    }

    /// The organization's next creditor reference.
    pub fn next_reference(&mut self) -> String {
        self.last_reference += 1;
        creditor_reference::of_number(self.last_reference)
    }

    pub fn last_reference(&self) -> i64 {
        self.last_reference
    }

    /// Numbers up to this one are in use.
    pub fn skip_references(&mut self, number: i64) {
        self.last_reference = self.last_reference.max(number);
    }

    /// Writes the clock back if it moved. Whoever holds it has locked it, so nobody else moved it. If somebody did, the
    /// database refuses the change: the clock becomes null.
    pub fn give_back(self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        if self.last == self.taken && self.last_reference == self.reference_taken {
            return Ok(());
        }
        let key = self.organization.to_bytes();
        let params = [
            Value::Bytes(&key),
            Value::Int(self.last),
            Value::Int(self.changes),
            Value::Int(EPOCH_CHANGES),
            Value::Int(self.last + 1),
            Value::Int(self.last_reference),
        ];
        tx.hold(
            key,
            [self.last, self.last_reference, self.epoch, self.changes],
            "UPDATE organizations SET clock = CASE WHEN clock <= ?2 THEN ?2 END, last_reference = ?6, \
             epoch = CASE WHEN epoch_changes + ?3 < ?4 THEN epoch ELSE ?5 END, \
             epoch_changes = CASE WHEN epoch_changes + ?3 < ?4 THEN epoch_changes + ?3 ELSE 0 END WHERE id = ?1",
            &params,
        )
    }
}
