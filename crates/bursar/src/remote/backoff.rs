//! How long to wait before a retry.

use std::time::Duration;

use bursar_domain::Timestamp;

/// The upper bound of the first wait; doubles with every failure.
const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that a server may ask for; beyond it the run ends.
pub(super) const ASKED_SECONDS_MAX: u64 = 300;

/// A random wait up to a doubling bound, so that clients that failed together do not retry together.
pub(super) fn after_failure(failures: u32, random: &mut fastrand::Rng) -> Duration {
    let doubled = FIRST.saturating_mul(2u32.saturating_pow(failures.saturating_sub(1)));
    doubled.min(LONGEST).mul_f64(random.f64())
}

/// For `Retry-After`: never less than it says, and up to a tenth or a second more. `None` when it
/// asks for too long.
pub(super) fn as_asked(seconds: u64, random: &mut fastrand::Rng) -> Option<Duration> {
    if seconds > ASKED_SECONDS_MAX {
        return None;
    }
    let asked = Duration::from_secs(seconds);
    let more = (asked / 10).max(Duration::from_secs(1)).mul_f64(random.f64());
    Some(asked + more)
}

/// Seconds, or a date as a proxy may send it.
pub(super) fn parse_retry_after(text: &str, now: Timestamp) -> Option<u64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let seconds = (parse_date(text)?.micros() - now.micros().div_euclid(1_000_000) * 1_000_000) / 1_000_000;
    Some(u64::try_from(seconds).unwrap_or(0))
}

/// A date as HTTP headers have it.
pub(super) fn parse_date(text: &str) -> Option<Timestamp> {
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(Timestamp::from_micros(at.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_wait_longer_and_longer_and_never_in_step() {
        let mut random = fastrand::Rng::with_seed(7);
        for failures in 1..40 {
            let bound = (250u128 << (failures - 1).min(16)).min(30_000);
            let waits: Vec<u128> = (0..200)
                .map(|_| after_failure(failures, &mut random).as_millis())
                .collect();
            assert!(waits.iter().all(|wait| *wait <= bound), "{failures}: {waits:?}");
            assert!(waits.iter().any(|wait| *wait > bound * 9 / 10), "{failures}");
            assert!(waits.iter().any(|wait| *wait < bound / 10), "{failures}");
        }
    }

    #[test]
    fn what_a_server_asks_for_is_the_least() {
        let mut random = fastrand::Rng::with_seed(7);
        for (seconds, most) in [(0, 1.0), (1, 2.0), (9, 10.0), (60, 66.0), (300, 330.0)] {
            let waits: Vec<f64> = (0..200)
                .map(|_| as_asked(seconds, &mut random).unwrap().as_secs_f64())
                .collect();
            let least = f64::from(u32::try_from(seconds).unwrap());
            assert!(
                waits.iter().all(|wait| (least..=most).contains(wait)),
                "{seconds}"
            );
            assert!(
                waits.iter().any(|wait| wait - least > (most - least) / 2.0),
                "{seconds}"
            );
        }
        assert_eq!(as_asked(301, &mut random), None);
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = Timestamp::from_micros(784_111_767_500_000);
        for (text, seconds) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("1.5", None),
        ] {
            assert_eq!(parse_retry_after(text, now), seconds, "{text}");
        }
    }
}
