//! Decides whether the wall clock can be trusted.
//!
//! Dues, reminders and pruning depend on the wall clock, and what a wrong one starts cannot be undone: next year's
//! dues, delayed mail, deleted history. So a worker compares it with the database server's time, with the
//! last time that a worker trusted, and with a clock that only counts how long the machine has run. While they
//! disagree, nothing that depends on the time is started. See docs/decisions/0005-clock-leaps.md.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_app::worker_clock::{self, Known, Seen};
use bursar_app::{App, AppError, Identity, NO_ORGANIZATION, WallClock};
use bursar_domain::Timestamp;

/// The default for how far clocks may differ.
pub const TOLERANCE_SECONDS: i64 = 60;
/// How far ahead of the last time seen the clock may be at a start. A service may have been off for a season; a
/// wrong clock is usually wrong by years.
const AHEAD_SECONDS_MAX: i64 = 120 * 86_400;
/// How long time must pass steadily before a clock in doubt is trusted, and before anything is pruned.
const STEADY_SECONDS: i64 = 3_600;
/// How often the database is asked for its clocks.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// The same while the clock is in doubt.
const LOOK_EVERY_HELD: Duration = Duration::from_secs(5);

/// How long the machine has run, including sleep, whatever its wall clock is set to.
pub type RunningClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Why the wall clock is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It differs from this time of the database server.
    Server(Timestamp),
    /// It was moved while the worker ran; this is the expected time.
    Leapt(Timestamp),
    /// It is far ahead of this last trusted time.
    Ahead(Timestamp),
    /// It is behind this last trusted time.
    Behind(Timestamp),
    /// It is behind this last recorded change.
    BehindChanges(Timestamp),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(at) => write!(f, "the database server's clock says {at}"),
            Self::Leapt(at) => write!(
                f,
                "it was changed while the worker ran; the expected time is {at}"
            ),
            Self::Ahead(at) => write!(
                f,
                "it is far ahead of {at}, when a worker last ran on this database"
            ),
            Self::Behind(at) => write!(f, "it is behind {at}, when a worker last ran on this database"),
            Self::BehindChanges(at) => write!(f, "it is behind {at}, when this database was last changed"),
        }
    }
}

/// `expected` is the time by the running clock since this process last trusted the wall clock.
pub fn doubt(
    wall: Timestamp,
    expected: Option<Timestamp>,
    known: &Known,
    tolerance_seconds: i64,
) -> Option<Doubt> {
    let agrees = |other: Timestamp| {
        other.plus_seconds(-tolerance_seconds) <= wall && wall <= other.plus_seconds(tolerance_seconds)
    };
    if let Some(server) = known.server_now.filter(|server| !agrees(*server)) {
        return Some(Doubt::Server(server));
    }
    // Another worker trusts this time, or the operator has confirmed it.
    if known.seen.is_some_and(|seen| agrees(seen.at)) {
        return None;
    }
    if let Some(expected) = expected {
        return (!agrees(expected)).then_some(Doubt::Leapt(expected));
    }
    match (known.seen, known.furthest_change) {
        (Some(seen), _) if wall > seen.at.plus_seconds(AHEAD_SECONDS_MAX.max(tolerance_seconds)) => {
            Some(Doubt::Ahead(seen.at))
        }
        (Some(seen), _) if wall < seen.at => Some(Doubt::Behind(seen.at)),
        // A change clock that is ahead means that the wall clock was ahead once, or is behind now. One that is behind means
        // nothing: the last change may be old or imported.
        (None, Some(change)) if wall < change.plus_seconds(-tolerance_seconds) => {
            Some(Doubt::BehindChanges(change))
        }
        (Some(_), _) | (None, _) => None,
    }
}

/// Clones share one state.
#[derive(Clone)]
pub struct ClockGuard(Arc<Inner>);

struct Inner {
    wall: WallClock,
    running: RunningClock,
    /// `None` trusts everything.
    tolerance_seconds: Option<i64>,
    is_held: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// The best known time, and the running clock at that moment.
    anchor: Option<(Timestamp, Duration)>,
    /// Whether this process ever trusted the wall clock.
    has_believed: bool,
    held: Option<Held>,
    /// Since when time has passed without a gap, as seen by workers.
    steady_since: Option<Timestamp>,
    /// When the database was last asked, by the running clock.
    looked_at: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    doubt: Doubt,
    /// The wall clock and the running clock when the wall clock was last seen to leap.
    since: (Timestamp, Duration),
}

impl fmt::Debug for ClockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClockGuard").field(&*self.state()).finish()
    }
}

impl ClockGuard {
    pub fn new(wall: WallClock, running: RunningClock, tolerance_seconds: i64) -> Self {
        Self::with(wall, running, Some(tolerance_seconds))
    }

    /// Trusts the wall clock whatever it says: for tests that move it.
    pub fn trusting(wall: WallClock) -> Self {
        let clock = Arc::clone(&wall);
        let running = move || Duration::from_micros(clock().micros().unsigned_abs());
        Self::with(wall, Arc::new(running), None)
    }

    fn with(wall: WallClock, running: RunningClock, tolerance_seconds: Option<i64>) -> Self {
        Self(Arc::new(Inner {
            wall,
            running,
            tolerance_seconds,
            is_held: AtomicBool::new(false),
            state: Mutex::default(),
        }))
    }

    /// The wall clock, right or wrong.
    pub fn wall(&self) -> Timestamp {
        (self.0.wall)()
    }

    pub fn running(&self) -> Duration {
        (self.0.running)()
    }

    /// The best known time: the wall clock's, unless it is in doubt.
    pub fn now(&self) -> Timestamp {
        let (wall, running) = (self.wall(), self.running());
        let (Some(tolerance), state) = (self.0.tolerance_seconds, *self.state()) else {
            return wall;
        };
        match state.expected(running) {
            Some(expected) if state.held.is_some() || !is_near(wall, expected, tolerance) => expected,
            Some(_) | None => wall,
        }
    }

    /// Whether work that depends on the time must wait.
    pub fn is_held(&self) -> bool {
        self.0.is_held.load(Ordering::Relaxed)
    }

    /// Only after an hour in which time passed steadily, so that a clock that leaps deletes nothing.
    pub fn may_prune(&self) -> bool {
        if self.0.tolerance_seconds.is_none() {
            return true;
        }
        let steady_since = self.state().steady_since;
        !self.is_held() && steady_since.is_some_and(|since| self.now() >= since.plus_seconds(STEADY_SECONDS))
    }

    /// Compares the clocks: the database's once a minute, the running clock always. Records the trusted time.
    pub fn check(&self, app: &App) -> Result<(), AppError> {
        let Some(tolerance) = self.0.tolerance_seconds else {
            return Ok(());
        };
        if !self.is_time_to_look(tolerance) {
            return Ok(());
        }
        let asked_at = self.running();
        let known = app.look(Identity::Worker, worker_clock::known).wait()?;
        let (wall, running) = (self.wall(), self.running());
        // A slow reply must not look like a wrong clock.
        let took = i64::try_from(running.saturating_sub(asked_at).as_secs()).unwrap_or(0);
        let seen = self.judge(wall, running, &known, tolerance + took);
        match seen {
            Some(seen) => {
                let trusted = app.change(Identity::Worker, NO_ORGANIZATION, move |whole| {
                    worker_clock::trust(whole, seen)
                });
                trusted.wait()
            }
            None => Ok(()),
        }
    }

    fn is_time_to_look(&self, tolerance: i64) -> bool {
        let (wall, running) = (self.wall(), self.running());
        let mut state = self.state();
        let every = if state.held.is_some() {
            LOOK_EVERY_HELD
        } else {
            LOOK_EVERY
        };
        let is_due = state
            .looked_at
            .is_none_or(|at| running < at || running - at >= every);
        let leapt = state.held.is_none()
            && state
                .expected(running)
                .is_some_and(|expected| !is_near(wall, expected, tolerance));
        if !is_due && !leapt && state.held.is_none() {
            // Clocks drift a little; only a leap between two checks matters.
            state.anchor = Some((wall, running));
        }
        is_due || leapt
    }

    /// Returns what to record.
    fn judge(&self, wall: Timestamp, running: Duration, known: &Known, tolerance: i64) -> Option<Seen> {
        let mut state = self.state();
        state.looked_at = Some(running);
        let expected = state.expected(running).filter(|_| state.has_believed);
        let reason = doubt(wall, expected, known, tolerance).filter(|doubt| {
            let is_steady = state
                .held
                .is_some_and(|held| held.is_steady(wall, running, tolerance));
            // Waiting an hour proves nothing about two clocks that both run and disagree.
            !is_steady || matches!(doubt, Doubt::Server(_))
        });
        if let Some(reason) = reason {
            state.hold(reason, wall, running, tolerance);
            self.0.is_held.store(true, Ordering::Relaxed);
            return None;
        }
        if let Some(held) = state.held.take() {
            tracing::info!(%wall, doubt = %held.doubt, "the clock is trusted again: automatic work continues");
        }
        self.0.is_held.store(false, Ordering::Relaxed);
        let at = known.server_now.unwrap_or(wall);
        let gap = STEADY_SECONDS.max(tolerance);
        let steady_since = known
            .seen
            .filter(|seen| is_near(wall, seen.at, gap))
            .map_or(at, |seen| seen.steady_since);
        state.anchor = Some((wall, running));
        state.has_believed = true;
        state.steady_since = Some(steady_since);
        Some(Seen { at, steady_since })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The time by the running clock.
    fn expected(&self, running: Duration) -> Option<Timestamp> {
        let (at, then) = self.anchor?;
        let passed = running.saturating_sub(then).as_micros();
        Some(Timestamp::from_micros(
            at.micros()
                .saturating_add(i64::try_from(passed).unwrap_or(i64::MAX)),
        ))
    }

    fn hold(&mut self, doubt: Doubt, wall: Timestamp, running: Duration, tolerance: i64) {
        match (doubt, self.anchor) {
            (Doubt::Server(at), _) | (Doubt::Ahead(at) | Doubt::Behind(at), None) => {
                self.anchor = Some((at, running));
            }
            (Doubt::BehindChanges(_), None) => self.anchor = Some((wall, running)),
            (Doubt::Leapt(_) | Doubt::Ahead(_) | Doubt::Behind(_) | Doubt::BehindChanges(_), _) => {}
        }
        let before = self.held;
        if before.is_none() {
            tracing::error!(%wall, %doubt, "the clock cannot be trusted: dues, reminders, ends of campaigns and pruning wait. \
                Set the clock; if it is right, say so with `bursar clock --accept`");
        }
        let since = before.filter(|held| held.moved_along(wall, running, tolerance));
        self.held = Some(Held {
            doubt,
            since: since.map_or((wall, running), |held| held.since),
        });
    }
}

impl Held {
    /// Whether wall clock and running clock advanced equally since then.
    fn moved_along(&self, wall: Timestamp, running: Duration, tolerance: i64) -> bool {
        let since = State {
            anchor: Some(self.since),
            ..State::default()
        };
        since
            .expected(running)
            .is_some_and(|expected| is_near(wall, expected, tolerance))
    }

    fn is_steady(&self, wall: Timestamp, running: Duration, tolerance: i64) -> bool {
        let hour = Duration::from_secs(STEADY_SECONDS.unsigned_abs());
        running.saturating_sub(self.since.1) >= hour && self.moved_along(wall, running, tolerance)
    }
}

fn is_near(one: Timestamp, other: Timestamp, seconds: i64) -> bool {
    other.plus_seconds(-seconds) <= one && one <= other.plus_seconds(seconds)
}
