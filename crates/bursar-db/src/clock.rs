//! The change clock: one per organization, strictly ascending in commit order.
//!
//! It is taken first in every write transaction, which is also the lock that puts an organization's writes in
//! order on every replica; it is counted up in memory, one microsecond per changed row, and written back before
//! the commit.
//!
//! The clock also divides history into epochs. A version that is superseded belongs to the epoch that is open then;
//! after `EPOCH_CHANGES` changes the next transaction opens another. An epoch is named by the first stamp that can be
//! in it, so all that is superseded at that stamp or later is in this epoch or a later one.

use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;

/// How many changes an epoch of history has at least. A page may pass over as many versions that are of no use to it,
/// and looks once into every epoch since its walk began: `docs/decisions/0006-history-in-epochs.md` has the figures.
pub const EPOCH_CHANGES: i64 = 512;

/// An organization's clock, held by this transaction.
#[derive(Debug)]
pub struct Clock {
    organization: OrganizationId,
    now: i64,
    taken: i64,
    last: i64,
    changes: i64,
}

impl Clock {
    /// Takes the clock; `None` when there is no such organization.
    pub fn take(
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Result<Option<Self>, DbError> {
        let params = [Value::Bytes(&organization.to_bytes())];
        let taken = tx.first_locked("SELECT clock FROM organizations WHERE id = ?1", &params, read)?;
        Ok(taken.map(|taken| Self {
            organization,
            now: now.micros(),
            taken,
            last: taken,
            changes: 0,
        }))
    }

    /// A clock for an organization that this transaction makes.
    pub fn start(organization: OrganizationId, now: Timestamp, at: Timestamp) -> Self {
        Self {
            organization,
            now: now.micros(),
            taken: i64::MIN,
            last: at.micros(),
            changes: 0,
        }
    }

    /// The stamp of the next changed row: the wall clock, or a microsecond after the last stamp where the wall
    /// clock is not ahead of it.
    pub fn tick(&mut self) -> Timestamp {
        self.last = if self.last >= self.now {
            self.last + 1
        } else {
            self.now
        };
        self.changes += 1;
        Timestamp::from_micros(self.last)
    }

    /// The last stamp given.
    pub fn last(&self) -> Timestamp {
        Timestamp::from_micros(self.last)
    }

    /// Writes the clock back, if it moved.
    pub fn give_back(self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        if self.last == self.taken {
            return Ok(());
        }
        let params = [
            Value::Bytes(&self.organization.to_bytes()),
            Value::Int(self.last),
            Value::Int(self.changes),
            Value::Int(EPOCH_CHANGES),
            Value::Int(self.last + 1),
        ];
        tx.execute(
            "UPDATE organizations SET clock = ?2, \
             epoch = CASE WHEN epoch_changes + ?3 < ?4 THEN epoch ELSE ?5 END, \
             epoch_changes = CASE WHEN epoch_changes + ?3 < ?4 THEN epoch_changes + ?3 ELSE 0 END WHERE id = ?1",
            &params,
        )
        .map(drop)
    }
}
