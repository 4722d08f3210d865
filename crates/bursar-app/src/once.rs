//! Idempotency: runs an act once per key. The key, the request's fingerprint and the output are recorded in the act's
//! transaction.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use bursar_db::idempotency::{self, Record};
use bursar_db::{DbError, Reply};
use bursar_domain::ids::OrganizationId;

use crate::act::Act;
use crate::caller::TokenCaller;
use crate::door::{App, Visit};
use crate::error::AppError;
use crate::rule::Rule;

/// An idempotency key, and the fingerprint of its request.
#[derive(Clone, Debug)]
pub struct Once {
    name: Name,
    fingerprint: [u8; 32],
    kept_seconds: i64,
}

/// Keys belong to a principal in an organization.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name {
    organization: OrganizationId,
    principal: [u8; 16],
    key: String,
}

/// The response that a key was answered with, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub status: u16,
    pub body: String,
}

pub struct Doing<E> {
    /// The output, and whether it is a replay.
    pub reply: Reply<(Output, bool), E>,
    /// Whether an earlier act with this key was still running in this process. This one runs after it.
    pub is_second: bool,
}

impl Once {
    /// `fingerprint` is the hash of the whole request. For `kept_seconds` after its use, the key is refused with
    /// another fingerprint.
    pub fn new(caller: &TokenCaller, key: String, fingerprint: [u8; 32], kept_seconds: i64) -> Self {
        let name = Name {
            organization: caller.organization(),
            principal: caller.principal(),
            key,
        };
        Self {
            name,
            fingerprint,
            kept_seconds,
        }
    }

    /// The recorded output, if the key was used before.
    pub fn given<M>(&self, act: &mut Act<'_, '_, M>) -> Result<Option<Output>, AppError> {
        let Name {
            organization,
            principal,
            key,
        } = &self.name;
        let since = act.now().plus_seconds(-self.kept_seconds);
        match idempotency::get(act.tx, *organization, *principal, key, since)? {
            None => Ok(None),
            Some(record) if record.fingerprint != self.fingerprint => Err(AppError::KeyReused),
            Some(Record { status, body, .. }) => Ok(Some(Output { status, body })),
        }
    }

    fn record(&self, act: &mut Act<'_, '_>, output: Output) -> Result<Output, AppError> {
        let Name {
            organization,
            principal,
            key,
        } = &self.name;
        let Output { status, body } = output;
        let record = Record {
            fingerprint: self.fingerprint,
            status,
            body,
        };
        let now = act.now();
        idempotency::insert(act.tx, *organization, *principal, key, &record, now)?;
        let Record { status, body, .. } = record;
        Ok(Output { status, body })
    }
}

impl App {
    /// Runs an act once under its key, or returns the recorded output. The acts of one organization run one after the
    /// other, so an act with the same key sees the record of the first.
    pub fn once<E>(
        &self,
        visit: impl Into<Visit>,
        rule: &'static Rule,
        once: Once,
        mut work: impl FnMut(&mut Act<'_, '_>) -> Result<Output, E> + Send + 'static,
    ) -> Doing<E>
    where
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let running = self.running.begin(&once.name);
        let is_second = running.is_none();
        let reply = self.act(visit, once.name.organization, move |act| {
            // Counts as running until the job is dropped, which is after its commit.
            let _ = &running;
            act.allow(rule)?;
            if let Some(given) = once.given(act)? {
                return Ok((given, true));
            }
            let output = work(act)?;
            Ok((once.record(act, output)?, false))
        });
        Doing { reply, is_second }
    }
}

/// Keys whose first act is still running in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running(Arc<Mutex<HashSet<Name>>>);

/// Marks an act as running until it is dropped.
struct Begun {
    all: Running,
    name: Name,
}

impl Running {
    /// `None` when one is running already.
    fn begin(&self, name: &Name) -> Option<Begun> {
        let is_first = self.lock(|all| all.insert(name.clone()));
        is_first.then(|| Begun {
            all: self.clone(),
            name: name.clone(),
        })
    }

    fn lock<T>(&self, work: impl FnOnce(&mut HashSet<Name>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.all.lock(|all| all.remove(&self.name));
    }
}
