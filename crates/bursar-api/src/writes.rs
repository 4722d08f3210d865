//! Carrying a write out: its key, the look at the caller under the lock, and the record of the answer.

use std::sync::{Arc, PoisonError};

use bursar_app::{Act, Actor, Context};
use bursar_db::DbError;
use bursar_db::idempotency::{self, Record};
use bursar_db::tokens::{self, Caller};
use bursar_domain::Timestamp;
use bursar_domain::ids::RequestId;
use bursar_domain::token::TokenHash;

use super::error::Error;
use super::plan::{Answer, Write};
use super::routes::Route;
use super::serve::Edge;
use super::steps::{Done, authorize};

/// A write that was admitted.
pub(super) struct WriteJob {
    pub(super) route: &'static Route,
    pub(super) caller: Arc<Caller>,
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
        let (organization, principal) = (caller.token.organization_id, caller.principal());
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
                        .db
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
        let mut context = self.context(&caller, request_id);
        let clock = Arc::clone(&self.clock);
        let kept_seconds = self.idempotency_seconds;
        let written = self.db.write(organization.to_bytes(), move |tx| {
            context.now = clock();
            let now = context.now;
            let since = now.plus_seconds(-kept_seconds);
            Act::run(tx, &mut context, organization, |act| {
                // What was looked up before may have changed: a revoked token, a lowered role, the same key.
                let caller = tokens::caller(act.tx, &hash)?.filter(|caller| caller.role_at(now).is_some());
                let caller = caller.ok_or(Error::InvalidToken)?;
                authorize(route, &caller, now)?;
                if let Some(key) = &key
                    && let Some(record) = idempotency::get(act.tx, organization, principal, key, since)?
                {
                    return replay(record, fingerprint);
                }
                let answer = work(act, &caller)?;
                if let Some(key) = &key {
                    let record = Record {
                        fingerprint,
                        status: answer.status,
                        body: String::from_utf8_lossy(&answer.body).into_owned(),
                    };
                    idempotency::insert(act.tx, organization, principal, key, &record, now)?;
                }
                Ok((answer, false))
            })
        });
        written.await
    }

    /// From when on the keys that were used are known.
    pub(super) fn keys_since(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.idempotency_seconds)
    }

    /// What an act of this caller is done with.
    pub(super) fn context(&self, caller: &Caller, request_id: RequestId) -> Context {
        let ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner).fork();
        let actor = Actor::Token(caller.token.id, caller.token.organization_id);
        Context {
            now: (self.clock)(),
            ids,
            actor,
            request_id: Some(request_id),
        }
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
