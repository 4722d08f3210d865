//! When tokens were last used: collected in memory with each request, written at most once a minute.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_db::tokens;
use bursar_domain::Timestamp;
use bursar_domain::ids::{OrganizationId, TokenId};

use crate::act::Whole;
use crate::caller::Identity;
use crate::door::App;
use crate::error::AppError;
use crate::rule::Rule;

const FLUSH_SECONDS: i64 = 60;
/// Tokens remembered between two writes. A use beyond that is lost, which is acceptable.
const TOKENS_MAX: usize = 100_000;
/// Rows that one transaction writes.
const BATCH_MAX: usize = 1_000;

/// Tokens used since the last write, one value per process. `note` is cheap enough for every request.
#[derive(Debug, Default)]
pub struct LastUsed(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    uses: BTreeMap<(OrganizationId, TokenId), Timestamp>,
    /// The time of the first use collected.
    since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    pub organization: OrganizationId,
    /// Each with its last use.
    pub tokens: Vec<(TokenId, Timestamp)>,
}

impl LastUsed {
    pub fn note(&self, organization: OrganizationId, token: TokenId, now: Timestamp) {
        let mut noted = self.lock();
        noted.since.get_or_insert(now);
        let full = noted.uses.len() >= TOKENS_MAX;
        match noted.uses.get_mut(&(organization, token)) {
            Some(at) => *at = now.max(*at),
            None if full => {}
            None => {
                noted.uses.insert((organization, token), now);
            }
        }
    }

    /// Returns the collected uses once a minute has passed since the first of them, else nothing.
    pub fn take_due(&self, now: Timestamp) -> Vec<Uses> {
        let mut noted = self.lock();
        let due = noted.since.is_some_and(|since| {
            // A wall clock that stepped back must not delay the uses for longer than it stepped.
            now >= since.plus_seconds(FLUSH_SECONDS) || now < since
        });
        if due { noted.take() } else { Vec::new() }
    }

    /// With `everything`, for a server that stops, also what is not due yet.
    pub fn store(&self, app: &App, everything: bool) -> Result<(), AppError> {
        let batches = match everything {
            true => self.lock().take(),
            false => self.take_due(app.now()),
        };
        for uses in batches {
            app.change(Identity::Worker, uses.organization, move |whole| {
                store(whole, &uses)
            })
            .wait()?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    fn take(&mut self) -> Vec<Uses> {
        self.since = None;
        let mut batches: Vec<Uses> = Vec::new();
        for ((organization, token), at) in std::mem::take(&mut self.uses) {
            match batches.last_mut() {
                Some(last) if last.organization == organization && last.tokens.len() < BATCH_MAX => {
                    last.tokens.push((token, at));
                }
                _ => batches.push(Uses {
                    organization,
                    tokens: vec![(token, at)],
                }),
            }
        }
        batches
    }
}

pub const STORE: Rule = Rule::of_worker("token.store_last_used", "store when tokens were used");

/// Takes no change clock, because nothing that is listed changes.
pub fn store(whole: &mut Whole<'_, '_>, uses: &Uses) -> Result<(), AppError> {
    whole.allow(&STORE)?;
    for (token, at) in &uses.tokens {
        tokens::used(whole.tx, uses.organization, *token, *at)?;
    }
    Ok(())
}
