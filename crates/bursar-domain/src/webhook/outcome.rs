//! What came of an attempt to deliver an event, and what follows from it.

use super::back_off::{GONE, REFUSALS, REFUSALS_MAX};
use crate::words;

words! {
    /// What came of one attempt.
    Outcome {
        /// The receiver answered 2xx.
        Delivered "delivered",
        /// It is tried again.
        Retried "retried",
        /// It was the last attempt: the event is passed over.
        Failed "failed",
    }
}

/// What follows for the endpoint from an attempt at its next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The cursor moves on.
    Delivered,
    /// The same event again, after a wait.
    Again,
    /// Refused too often: the cursor moves on without it.
    PassOver,
    /// The receiver wants no more.
    Gone,
}

/// Whether a status says that the receiver refuses this event.
pub fn is_refusal(status: Option<u16>) -> bool {
    status.is_some_and(|status| REFUSALS.contains(&status))
}

/// `status` is `None` if there was no complete response in time. `refusals` is how often the event was refused one
/// after the other, this time included.
pub fn judge(status: Option<u16>, refusals: i64) -> Verdict {
    match status {
        Some(200..=299) => Verdict::Delivered,
        Some(GONE) => Verdict::Gone,
        _ if is_refusal(status) && refusals >= REFUSALS_MAX => Verdict::PassOver,
        _ => Verdict::Again,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_of_the_event_pass_it_over() {
        for status in 100..600 {
            let expected = match status {
                200..=299 => [Verdict::Delivered; 2],
                410 => [Verdict::Gone; 2],
                400 | 413 | 422 => [Verdict::Again, Verdict::PassOver],
                _ => [Verdict::Again; 2],
            };
            let judged = [judge(Some(status), 7), judge(Some(status), 8)];
            assert_eq!(judged, expected, "{status}");
        }
        assert_eq!(judge(None, 99), Verdict::Again);
    }
}
