//! Doing a thing once: the key that a caller chose, the fingerprint of what was asked, and the output that was given,
//! recorded in the transaction of the act.

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

/// A key under which a thing is done once.
#[derive(Clone, Debug)]
pub struct Once {
    name: Name,
    fingerprint: [u8; 32],
    kept_seconds: i64,
}

/// Keys belong to a principal in an organization: a user, or a family of service tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Name {
    organization: OrganizationId,
    principal: [u8; 16],
    key: String,
}

/// What was given out for a key: a status and the very bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The status.
    pub status: u16,
    /// The bytes, which are a text.
    pub body: String,
}

/// An act under a key.
pub struct Doing<E> {
    /// The output, and whether it was given before.
    pub reply: Reply<(Output, bool), E>,
    /// Whether an earlier act with this key was still running in this process: this one comes after it.
    pub is_second: bool,
}

impl Once {
    /// A key of this caller. The same key with another fingerprint, the hash of all that is asked, is refused for so
    /// many seconds after its use.
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

    /// What was given out for this key before.
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

    /// Records what is given out for this key, in the act that it is given out for.
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
    /// An act on the organization of the key that is done once: when its output was given before, that is given again.
    /// Acts of one organization come one after the other, so an act with the same key sees the record of the one before.
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
            // It is running until the job is dropped, which is after its commit.
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

/// Says that an act is running until it is dropped.
struct Begun {
    all: Running,
    name: Name,
}

impl Running {
    /// None when one is running already.
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
