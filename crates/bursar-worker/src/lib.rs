//! The background worker.
//!
//! One thread does due work, one thread per transport sends, and each webhook endpoint that has events to get has one for
//! a while, so a server that hangs delays only its own messages. All claim their work with leases, so that several workers never send the same message and a dead worker's
//! claims are freed. They wake when something is queued, and otherwise once a second.

mod base;
mod bell;
mod due;
pub mod guard;
mod html;
pub mod mail;
mod online;
pub mod outlet;
mod sender;
mod setbacks;
pub mod sms;
pub mod smtp;
mod tally;
mod url;
mod webhooks;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use bursar_app::housekeeping::Retention;
use bursar_app::online::Teller;
use bursar_app::{App, AppError};

pub use bell::{Bell, Heard};
pub use tally::{Figure, Tally};

use base::Base;
use due::DueWork;
use guard::ClockGuard;
use online::Asking;
use outlet::Outlet;
use sender::{Hand, Sender};
use webhooks::{Dispatcher, Held};

pub use webhooks::Delivery;

/// How long a stopping worker waits for the message in hand. A slower one keeps its claim and is sent again
/// when its lease ends.
const DRAIN: Duration = Duration::from_millis(1_500);

#[derive(Debug)]
pub struct Setup {
    pub app: App,
    pub guard: ClockGuard,
    pub bell: Bell,
    /// One for each method.
    pub outlets: [Outlet; 2],
    /// For the jitter of retries.
    pub random: fastrand::Rng,
    pub retention: Retention,
    /// How long the claims of a dead worker block others.
    pub lease_seconds: i64,
    pub tally: Arc<Tally>,
    /// To webhook endpoints.
    pub delivery: Delivery,
    /// Asks the payment providers.
    pub teller: Teller,
}

#[derive(Debug)]
pub struct Worker {
    due: DueWork,
    senders: [Sender; 2],
    dispatcher: Dispatcher,
    asking: Asking,
}

impl Worker {
    pub fn new(setup: Setup) -> Self {
        let Setup {
            app,
            guard,
            bell,
            outlets,
            mut random,
            retention,
            lease_seconds,
            tally,
            delivery,
            teller,
        } = setup;
        let clock = guard.clone();
        let app = app.at(Arc::new(move || clock.now()));
        let base = Base { app, guard, bell };
        let senders = outlets.map(|outlet| {
            let (base, tally) = (base.clone(), Arc::clone(&tally));
            Sender::new(base, outlet, random.fork(), lease_seconds, tally)
        });
        let (others, counts) = (base.clone(), Arc::clone(&tally));
        let dispatcher = Dispatcher::new(others, delivery, random.fork(), lease_seconds, counts);
        let asking = Asking::new(base.clone(), teller, lease_seconds);
        let due = DueWork::new(base, retention, lease_seconds, tally);
        Self {
            due,
            senders,
            dispatcher,
            asking,
        }
    }

    pub fn start(self) -> std::io::Result<Running> {
        let (base, lease_seconds) = (self.due.base.clone(), self.due.lease_seconds);
        let hands = self.senders.each_ref().map(|sender| sender.hand.clone());
        let held = self.dispatcher.held.clone();
        // Nothing is sent: the channel closes when the last thread has ended.
        let (alive, ended) = channel::<()>();
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let alive = alive.clone();
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(move || {
                run();
                drop(alive);
            })
        };
        let (keeper, kept, endpoints) = (base.clone(), hands.clone(), held.clone());
        let keep = move || {
            // Three times per lease.
            while !keeper
                .bell
                .pause(Duration::from_secs(lease_seconds.unsigned_abs()) / 3)
            {
                kept.iter().for_each(|hand| hand.renew(&keeper, lease_seconds));
                endpoints.renew(&keeper, lease_seconds);
            }
        };
        spawn("bursar-due", Box::new(move || self.due.run()))?;
        spawn("bursar-leases", Box::new(keep))?;
        for sender in self.senders {
            spawn("bursar-sender", Box::new(move || sender.run()))?;
        }
        let asking = self.asking;
        spawn("bursar-online", Box::new(move || asking.run()))?;
        let (dispatcher, others) = (self.dispatcher, alive.clone());
        spawn("bursar-webhooks", Box::new(move || dispatcher.run(&others)))?;
        Ok(Running {
            base,
            hands,
            held,
            ended,
        })
    }

    /// Does due work and sends, one after the other; returns how much was done. For tests that move the time.
    pub fn step(&mut self) -> Result<usize, AppError> {
        let mut done = self.due.step()?;
        for sender in &mut self.senders {
            done += sender.step()?;
        }
        Ok(done + self.asking.step()? + self.dispatcher.step()?)
    }

    pub fn guard(&self) -> &ClockGuard {
        &self.due.base.guard
    }

    pub fn keep_house(&mut self) -> Result<(), AppError> {
        self.due.keep_house()
    }
}

#[derive(Debug)]
pub struct Running {
    base: Base,
    hands: [Hand; 2],
    held: Held,
    ended: Receiver<()>,
}

impl Running {
    /// Waits briefly for the messages in hand, and releases those that are not being sent yet.
    pub fn stop(self) {
        self.base.bell.stop();
        if self.ended.recv_timeout(DRAIN) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!(
                "stopped while a message was being sent; it is sent again unless it was recorded in time"
            );
            for hand in &self.hands {
                if let Err(error) = sender::release(&self.base, hand.take_waiting(), None) {
                    tracing::warn!(%error, "claims could not be released; they run out");
                }
            }
            if let Err(error) = self.held.release(&self.base) {
                tracing::warn!(%error, "claims on webhook endpoints could not be released; they run out");
            }
        }
    }
}
