//! Doing a thing once: the key that a caller chose, the fingerprint of what was asked, and the output that was given,
//! recorded in the transaction of the act.

use bursar_db::idempotency::{self, Record};
use bursar_domain::Timestamp;

use crate::act::Act;
use crate::caller::Caller;
use crate::error::AppError;

/// A key under which a thing is done once.
#[derive(Clone, Debug)]
pub struct Once {
    /// The key, as the caller chose it.
    pub key: String,
    /// The hash of all that was asked. The same key with another one is refused.
    pub fingerprint: [u8; 32],
    /// How long a key is known after its use, in seconds.
    pub kept_seconds: i64,
}

/// What was given out for a key: a status and the very bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The status.
    pub status: u16,
    /// The bytes, which are a text.
    pub body: String,
}

impl Once {
    fn since(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.kept_seconds)
    }

    /// What was given out for this key before.
    pub fn given<M>(&self, act: &mut Act<'_, '_, M>) -> Result<Option<Output>, AppError> {
        let Some(principal) = principal(&act.caller) else {
            return Ok(None);
        };
        let since = self.since(act.now());
        let record = idempotency::get(act.tx, act.organization, principal, &self.key, since)?;
        match record {
            None => Ok(None),
            Some(record) if record.fingerprint != self.fingerprint => Err(AppError::KeyReused),
            Some(record) => Ok(Some(Output {
                status: record.status,
                body: record.body,
            })),
        }
    }

    /// Records what is given out for this key, in the act that it is given out for.
    pub fn record(&self, act: &mut Act<'_, '_>, output: &Output) -> Result<(), AppError> {
        let Some(principal) = principal(&act.caller) else {
            return Ok(());
        };
        let record = Record {
            fingerprint: self.fingerprint,
            status: output.status,
            body: output.body.clone(),
        };
        let now = act.now();
        idempotency::insert(act.tx, act.organization, principal, &self.key, &record, now)?;
        Ok(())
    }
}

/// Whose keys a caller uses. The operator and the service use none.
fn principal(caller: &Caller) -> Option<[u8; 16]> {
    match caller {
        Caller::Operator | Caller::Worker => None,
        Caller::Person(user, _) => Some(user.to_bytes()),
        Caller::Token(token) => Some(token.principal()),
    }
}
