//! Carrying a write out: its key, the look at the caller under the lock, and the record of the answer.

use bursar_app::{Caller, Identity, Once, Output, TokenCaller, Visit};
use bursar_db::DbError;
use bursar_db::idempotency::{self, Record};
use bursar_domain::Timestamp;
use bursar_domain::ids::RequestId;
use bursar_domain::token::TokenHash;

use super::error::Error;
use super::plan::{Answer, Write};
use super::routes::Route;
use super::serve::Edge;
use super::steps::Done;

/// A write that was admitted.
pub(super) struct WriteJob {
    pub(super) route: &'static Route,
    pub(super) caller: TokenCaller,
    pub(super) hash: TokenHash,
    pub(super) key: Option<String>,
    pub(super) is_key_new: bool,
    pub(super) fingerprint: [u8; 32],
    pub(super) work: Write,
    pub(super) request_id: RequestId,
}

impl Edge {
    /// Carries it out, or gives the answer that its key already has.
    pub(super) async fn write(&self, job: WriteJob) -> Result<Done, Error> {
        let WriteJob {
            route,
            caller,
            hash,
            key,
            is_key_new,
            fingerprint,
            mut work,
            request_id,
        } = job;
        let (organization, principal) = (caller.organization(), caller.principal());
        let _held = match &key {
            None => None,
            Some(key) => {
                let held = self.in_flight.take(organization.to_bytes(), principal, key);
                let held = held.await.ok_or(Error::KeyInUse)?;
                // A key that was new may since have been used; the write looks again in any case.
                if !is_key_new {
                    let name = key.clone();
                    let since = self.keys_since((self.clock)());
                    let known = self
                        .app
                        .db()
                        .read::<_, DbError>(move |tx| {
                            idempotency::get(tx, organization, principal, &name, since)
                        })
                        .await?;
                    if let Some(record) = known {
                        return replay(record, fingerprint);
                    }
                }
                Some(held)
            }
        };
        let once = key.map(|key| Once {
            key,
            fingerprint,
            kept_seconds: self.idempotency_seconds,
        });
        let visit = Visit {
            who: Identity::Token(hash),
            request: Some(request_id),
        };
        let written = self.app.act(visit, organization, move |act| {
            // What was looked up before may have changed: a lowered role, the same key.
            if let Caller::Token(caller) = act.caller() {
                caller.require(route.scopes)?;
            }
            if let Some(once) = &once
                && let Some(given) = once.given(act)?
            {
                return Ok((given.into(), true));
            }
            let answer = work(act)?;
            if let Some(once) = &once {
                let output = Output {
                    status: answer.status,
                    body: String::from_utf8_lossy(&answer.body).into_owned(),
                };
                once.record(act, &output)?;
            }
            Ok((answer, false))
        });
        written.await
    }

    /// From when on the keys that were used are known.
    pub(super) fn keys_since(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.idempotency_seconds)
    }
}

/// The original answer again, if the parameters are the same.
pub(super) fn replay(record: Record, fingerprint: [u8; 32]) -> Result<Done, Error> {
    if record.fingerprint != fingerprint {
        return Err(Error::KeyReused);
    }
    Ok((
        Answer {
            status: record.status,
            body: record.body.into(),
        },
        true,
    ))
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            status: output.status,
            body: output.body.into(),
        }
    }
}
