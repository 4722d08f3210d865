//! Sends the messages of one transport: claims them, hands them over, and records the result.
//!
//! If a server is unreachable or refuses the login, the whole transport pauses, and one message after each pause
//! tests whether it works again.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_app::outbox::{self, Attempt, Claimed};
use bursar_app::{AppError, NO_ORGANIZATION};
use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OrganizationId};

use super::base::{Base, is_outage};
use super::outlet::{Fault, Handed, Outlet, Undelivered};
use super::tally::{Counts, Tally};

/// Messages claimed at a time.
const CLAIM_MAX: i64 = 20;
/// Seconds before the second, third … attempt, with a jitter of a fifth. After the last attempt a message has failed.
const BACK_OFF_SECONDS: [i64; 6] = [5, 300, 1_800, 7_200, 18_000, 36_000];
/// The first pause of a transport; each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// The messages that a sender has claimed. Other threads renew or release them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    sending: Option<Claimed>,
    waiting: VecDeque<Claimed>,
}

impl Hand {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces all others.
    fn hold(&self, claimed: Vec<Claimed>) {
        *self.lock() = Held {
            sending: None,
            waiting: claimed.into(),
        };
    }

    fn next(&self) -> Option<Claimed> {
        let mut held = self.lock();
        held.sending = held.waiting.pop_front();
        held.sending.clone()
    }

    /// Removes those that are not being sent yet.
    pub(super) fn take_waiting(&self) -> Vec<Claimed> {
        self.lock().waiting.drain(..).collect()
    }

    /// Renews all claims, so that a slow server does not look like a dead worker.
    pub(super) fn renew(&self, base: &Base, lease_seconds: i64) {
        let named = |claim: &Claimed| (claim.message.organization, claim.message.id, claim.attempt);
        let claims: Vec<(OrganizationId, MessageId, i64)> = {
            let held = self.lock();
            held.sending.iter().chain(&held.waiting).map(named).collect()
        };
        if claims.is_empty() {
            return;
        }
        let until = base.guard.now().plus_seconds(lease_seconds);
        let renewed = base.change(NO_ORGANIZATION, move |whole| outbox::renew(whole, &claims, until));
        if let Err(error) = renewed {
            tracing::warn!(%error, "the worker's claims could not be renewed");
        }
    }
}

/// Released claims do not count as attempts.
pub(super) fn release(base: &Base, claims: Vec<Claimed>, reason: Option<String>) -> Result<(), AppError> {
    match claims.is_empty() {
        true => Ok(()),
        false => base.change(NO_ORGANIZATION, move |whole| {
            outbox::release(whole, &claims, reason.as_deref())
        }),
    }
}

#[derive(Debug)]
pub(super) struct Sender {
    pub(super) hand: Hand,
    base: Base,
    outlet: Outlet,
    random: fastrand::Rng,
    lease_seconds: i64,
    tally: Arc<Tally>,
    /// Attempts that could not be written to the database yet.
    unrecorded: Vec<(Claimed, Attempt)>,
    pause: Option<Pause>,
}

/// Times are those of the running clock.
#[derive(Clone, Copy, Debug)]
struct Pause {
    long: Duration,
    until: Duration,
}

impl Sender {
    pub(super) fn new(
        base: Base,
        outlet: Outlet,
        random: fastrand::Rng,
        lease_seconds: i64,
        tally: Arc<Tally>,
    ) -> Self {
        Self {
            base,
            outlet,
            random,
            lease_seconds,
            tally,
            hand: Hand::default(),
            unrecorded: Vec::new(),
            pause: None,
        }
    }

    pub(super) fn run(mut self) {
        let base = self.base.clone();
        base.run(
            || self.step(),
            |error| {
                // The due-work loop reports an unavailable database.
                if !is_outage(error) {
                    tracing::error!(%error, "messages cannot be claimed; it is tried again");
                }
            },
        );
        if let Err(error) = self.record() {
            let count = self.unrecorded.len();
            tracing::error!(%error, count, "messages were sent that could not be recorded");
        }
    }

    /// Returns how many messages were sent.
    pub(super) fn step(&mut self) -> Result<usize, AppError> {
        self.record()?;
        // Messages left by a step that failed may have been claimed by others since.
        self.hand.hold(Vec::new());
        let method = self.outlet.method();
        let is_paused = self
            .pause
            .is_some_and(|pause| self.base.guard.running() < pause.until);
        if is_paused || !self.base.look(move |whole| outbox::is_due(whole, method))? {
            self.outlet.rest();
            return Ok(0);
        }
        let until = self.base.guard.now().plus_seconds(self.lease_seconds);
        let limit = if self.pause.is_some() { 1 } else { CLAIM_MAX };
        let claimed = self.base.change(NO_ORGANIZATION, move |whole| {
            outbox::claim(whole, method, until, limit)
        })?;
        let count = claimed.len();
        self.hand.hold(claimed);
        let mut is_well = true;
        while is_well
            && !self.base.bell.is_over()
            && let Some(claim) = self.hand.next()
        {
            is_well = self.deliver(claim)?;
        }
        release(&self.base, self.hand.take_waiting(), None)?;
        Ok(if is_well { count } else { 0 })
    }

    /// Returns whether the transport can send more.
    fn deliver(&mut self, claim: Claimed) -> Result<bool, AppError> {
        let sent = self.outlet.send(&claim);
        let fault = sent.as_ref().err().map(|undelivered| undelivered.fault);
        let is_well = !matches!(fault, Some(Fault::Unreachable | Fault::Login));
        match &sent {
            Err(undelivered) if !is_well => self.pause(&undelivered.reason),
            _ => self.go_on(),
        }
        let attempt = match sent {
            Ok(Handed::Over(answer)) => Attempt::Delivered(answer),
            Ok(Handed::ToFile(name)) => Attempt::Written(name),
            // The message is not at fault, so it keeps its attempts.
            Err(undelivered) if undelivered.fault == Fault::Login => {
                release(&self.base, vec![claim], Some(undelivered.reason))?;
                return Ok(false);
            }
            Err(undelivered) => self.judge(&claim, undelivered),
        };
        let count = match attempt {
            Attempt::Delivered(_) => &self.counts().sent,
            Attempt::Written(_) => &self.counts().written,
            Attempt::Failed(_) => &self.counts().failed,
            Attempt::Again(..) => &self.counts().retried,
        };
        count.fetch_add(1, Ordering::Relaxed);
        let id = claim.message.id;
        match &attempt {
            Attempt::Again(reason, at) if is_well => {
                tracing::warn!(message = %id, %reason, again = %at, "delivery failed; it is tried again");
            }
            Attempt::Failed(reason) => tracing::warn!(message = %id, %reason, "delivery failed"),
            Attempt::Again(..) | Attempt::Delivered(_) | Attempt::Written(_) => {}
        }
        self.unrecorded.push((claim, attempt));
        self.record()?;
        Ok(is_well)
    }

    fn counts(&self) -> &Counts {
        self.tally.of(self.outlet.method())
    }

    /// Whether and when a message is retried.
    fn judge(&mut self, claim: &Claimed, undelivered: Undelivered) -> Attempt {
        let Undelivered {
            reason,
            fault,
            retry_after_seconds,
        } = undelivered;
        let tried = usize::try_from(claim.tries).unwrap_or(usize::MAX);
        let back_off = tried.checked_sub(1).and_then(|i| BACK_OFF_SECONDS.get(i));
        match back_off.filter(|_| fault != Fault::Final) {
            Some(seconds) => {
                let wait = jittered(*seconds, &mut self.random).max(micros(retry_after_seconds.unwrap_or(0)));
                let at = Timestamp::from_micros(self.base.guard.now().micros().saturating_add(wait));
                Attempt::Again(reason, at)
            }
            None => Attempt::Failed(reason),
        }
    }

    fn pause(&mut self, reason: &str) {
        let long = match self.pause {
            Some(before) => (before.long * 2).min(PAUSE_MAX),
            None => {
                let method = self.outlet.method();
                tracing::error!(%method, reason, "sending is paused: no message can be sent; retrying");
                PAUSE_FIRST
            }
        };
        let until = self.base.guard.running() + long;
        self.pause = Some(Pause { long, until });
        self.counts().is_paused.store(true, Ordering::Relaxed);
    }

    fn go_on(&mut self) {
        if self.pause.take().is_some() {
            let method = self.outlet.method();
            tracing::info!(%method, "sending resumed");
            self.counts().is_paused.store(false, Ordering::Relaxed);
        }
    }

    /// Records how attempts ended. What cannot be written stays for the next step: a delivered message must
    /// not be sent again because the database was unavailable for a moment.
    fn record(&mut self) -> Result<(), AppError> {
        while let Some((claim, attempt)) = self.unrecorded.last().cloned() {
            let organization = claim.message.organization;
            let (again, kept) = (claim.clone(), attempt.clone());
            let recorded = match organization == NO_ORGANIZATION {
                true => self.base.change(organization, move |whole| {
                    outbox::attempted_only(whole, &claim, &attempt)
                }),
                false => self
                    .base
                    .act(organization, move |act| outbox::attempted(act, &claim, &attempt)),
            };
            if let Err(error) = recorded {
                if is_outage(&error) {
                    return Err(error);
                }
                // Only the end of the run failed, and it is checked again. The attempt
                // itself must be recorded, or the message would be sent forever.
                tracing::error!(%organization, %error, "the end of a run could not be recorded; it is looked at again");
                self.base.change(organization, move |whole| {
                    outbox::attempted_only(whole, &again, &kept)
                })?;
            }
            self.unrecorded.pop();
        }
        Ok(())
    }
}

const fn micros(seconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000)
}

/// In microseconds, with a jitter of a fifth.
fn jittered(seconds: i64, random: &mut fastrand::Rng) -> i64 {
    let fifth = micros(seconds) / 5;
    micros(seconds) + random.i64(-fifth..=fifth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_fifth_at_most_and_spreads() {
        let mut random = fastrand::Rng::with_seed(1);
        for seconds in BACK_OFF_SECONDS {
            let waits: Vec<i64> = (0..1_000).map(|_| jittered(seconds, &mut random)).collect();
            let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
            assert!(*least >= micros(seconds) * 4 / 5 && *most <= micros(seconds) * 6 / 5);
            assert!(most - least > micros(seconds) * 3 / 10);
        }
    }
}
