//! Idempotency: runs an act once per key. The key, the request's fingerprint and the output are recorded in the act's
//! transaction.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use bursar_db::idempotency;
use bursar_domain::Timestamp;
use bursar_domain::ids::{OrganizationId, UserId};

use crate::act::Act;
use crate::ahead::Next;
use crate::caller::TokenCaller;
use crate::error::AppError;
use crate::notices;
use crate::rule::Rule;

pub use bursar_db::idempotency::Output;

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

    /// A form's key belongs to the person who sent it.
    pub fn of_person(
        organization: OrganizationId,
        user: UserId,
        key: String,
        fingerprint: [u8; 32],
        kept_seconds: i64,
    ) -> Self {
        Self::of_browser(organization, user.to_bytes(), key, fingerprint, kept_seconds)
    }

    /// A member's browser has no person: its keys belong to the link or the session that it presents.
    pub fn of_browser(
        organization: OrganizationId,
        principal: [u8; 16],
        key: String,
        fingerprint: [u8; 32],
        kept_seconds: i64,
    ) -> Self {
        let name = Name {
            organization,
            principal,
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
        self.given_since(act, self.since(act.now()))
    }

    /// Keys that were used before this are forgotten.
    pub(crate) fn since(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.kept_seconds)
    }

    fn given_since<M>(&self, act: &mut Act<'_, '_, M>, since: Timestamp) -> Result<Option<Output>, AppError> {
        let Name {
            organization,
            principal,
            key,
        } = &self.name;
        match idempotency::get(act.tx, *organization, *principal, key, since)? {
            None => Ok(None),
            Some((fingerprint, _)) if fingerprint != self.fingerprint => Err(AppError::KeyReused),
            Some((_, output)) => Ok(Some(output)),
        }
    }

    /// What [`Once::run`] asks first.
    pub(crate) fn next(&self, since: Timestamp) -> Next {
        Next::key(self.name.key.clone(), since)
    }

    pub(crate) fn organization(&self) -> OrganizationId {
        self.name.organization
    }

    /// Ignores keys used before `since`. Returns the recorded output and true, or else runs the work and records its output.
    pub(crate) fn run<E: From<AppError>>(
        &self,
        act: &mut Act<'_, '_>,
        rule: &Rule,
        since: Timestamp,
        work: impl FnOnce(&mut Act<'_, '_>) -> Result<Output, E>,
    ) -> Result<(Output, bool), E> {
        act.allow(rule)?;
        if let Some(given) = self.given_since(act, since)? {
            return Ok((given, true));
        }
        let output = work(act)?;
        if let Some(rule) = act.guarded() {
            notices::tell_of(act, &rule)?;
        }
        self.record(act, &output)?;
        Ok((output, false))
    }

    fn record(&self, act: &mut Act<'_, '_>, output: &Output) -> Result<(), AppError> {
        let Name {
            organization,
            principal,
            key,
        } = &self.name;
        let now = act.now();
        let fingerprint = &self.fingerprint;
        Ok(idempotency::insert(
            act.tx,
            *organization,
            *principal,
            key,
            fingerprint,
            output,
            now,
        )?)
    }
}

/// Keys whose first act is still running in this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running(Arc<Mutex<HashSet<Name>>>);

/// Marks an act as running until it is dropped.
pub(crate) struct Begun {
    all: Running,
    name: Name,
}

impl Running {
    /// `None` when one is running already.
    pub(crate) fn begin(&self, once: &Once) -> Option<Begun> {
        let is_first = self.lock(|all| all.insert(once.name.clone()));
        is_first.then(|| Begun {
            all: self.clone(),
            name: once.name.clone(),
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
