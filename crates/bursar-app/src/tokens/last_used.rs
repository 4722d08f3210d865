//! When tokens were last used: collected in memory as requests come, written at most once a minute.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bursar_db::tokens;
use bursar_domain::Timestamp;
use bursar_domain::ids::{OrganizationId, TokenId};

use crate::act::Whole;
use crate::caller::Identity;
use crate::door::App;
use crate::error::AppError;
use crate::rule::Rule;

const FLUSH_SECONDS: i64 = 60;
/// The tokens that are remembered between two writes. A time that finds no room is lost: it is a convenience.
const TOKENS_MAX: usize = 100_000;
/// The rows that one transaction writes.
const BATCH_MAX: usize = 1_000;

/// The tokens used since the last write. One per process; `note` is cheap enough for every request.
#[derive(Debug, Default)]
pub struct LastUsed(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    uses: BTreeMap<(OrganizationId, TokenId), Timestamp>,
    /// When the uses collected now began to be.
    since: Option<Timestamp>,
}

/// What one transaction writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    /// Whose tokens.
    pub organization: OrganizationId,
    /// Each with the time of its last use.
    pub tokens: Vec<(TokenId, Timestamp)>,
}

impl LastUsed {
    /// Remembers that a token is used now.
    pub fn note(&self, organization: OrganizationId, token: TokenId, now: Timestamp) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Takes what is to be written, once a minute has passed since the first use that was not; else nothing.
    pub fn take_due(&self, now: Timestamp) -> Vec<Uses> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = noted.since.is_some_and(|since| {
            // A wall clock that stepped back must not hold the uses for longer than it stepped.
            now >= since.plus_seconds(FLUSH_SECONDS) || now < since
        });
        if due { noted.take() } else { Vec::new() }
    }

    /// Stores what is due, or everything for a server that stops.
    pub fn store(&self, app: &App, everything: bool) -> Result<(), AppError> {
        let batches = match everything {
            true => self.take_all(),
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

    /// Takes everything, for a server that stops.
    pub fn take_all(&self) -> Vec<Uses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
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

/// Storing when tokens were last used.
pub const STORE: Rule = Rule::of_worker("token.store_last_used", "store when tokens were used");

/// Stores the times of one batch. No clock is taken: nothing that is listed changes.
pub fn store(whole: &mut Whole<'_, '_>, uses: &Uses) -> Result<(), AppError> {
    whole.allow(&STORE)?;
    for (token, at) in &uses.tokens {
        tokens::used(whole.tx, uses.organization, *token, *at)?;
    }
    Ok(())
}
