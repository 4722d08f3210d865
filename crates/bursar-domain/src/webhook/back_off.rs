//! When a delivery that failed is retried, and when an endpoint is given up.

/// Seconds before the second, third … attempt. The last one repeats.
pub const STEPS_SECONDS: [i64; 5] = [5, 60, 300, 1_800, 3_600];
/// A wait is up to a tenth shorter or longer, so that endpoints of one receiver do not return together.
const JITTER: i64 = 10;
/// The longest wait that a receiver may ask for.
pub const RETRY_AFTER_SECONDS_MAX: i64 = 3_600;
/// An endpoint without a 2xx for this long is disabled.
pub const GIVE_UP_SECONDS: i64 = 5 * 86_400;
/// An event that is refused with one of [`REFUSALS`] this often, one after the other, is passed over.
pub const REFUSALS_MAX: i64 = 8;
/// Statuses that are about the event and not about the receiver.
pub const REFUSALS: [u16; 3] = [400, 413, 422];
/// The receiver wants no more deliveries.
pub const GONE: u16 = 410;

/// The waits, in microseconds. Tests make them shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// Every wait is divided by this.
    pub faster: i64,
}

impl Default for BackOff {
    fn default() -> Self {
        Self { faster: 1 }
    }
}

impl BackOff {
    const fn micros(self, seconds: i64) -> i64 {
        let faster = if self.faster < 1 { 1 } else { self.faster };
        seconds.saturating_mul(1_000_000) / faster
    }

    /// After this many failures one after the other, at least one. `retry_after` is what the receiver asked for, in
    /// seconds; it takes the place of the step. `random` is any number.
    pub fn wait_micros(self, failures: i64, retry_after: Option<i64>, random: u64) -> i64 {
        if let Some(seconds) = retry_after {
            return self.micros(seconds.clamp(1, RETRY_AFTER_SECONDS_MAX));
        }
        let last = STEPS_SECONDS.len() - 1;
        let step = usize::try_from(failures.saturating_sub(1)).unwrap_or(0).min(last);
        let wait = self.micros(STEPS_SECONDS[step]);
        let most = wait / JITTER;
        // From minus a tenth to plus a tenth.
        let spread = u64::try_from(2 * most).unwrap_or(0).saturating_add(1);
        wait - most + i64::try_from(random % spread).unwrap_or(0)
    }

    /// For how long an endpoint may fail.
    pub const fn give_up_micros(self) -> i64 {
        self.micros(GIVE_UP_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_a_tenth_of_jitter() {
        let real = BackOff::default();
        for (failures, seconds) in [
            (0, 5),
            (1, 5),
            (2, 60),
            (3, 300),
            (4, 1_800),
            (5, 3_600),
            (6, 3_600),
            (i64::MAX, 3_600),
        ] {
            let micros = seconds * 1_000_000;
            let waits: Vec<i64> = (0..1_000)
                .map(|i| real.wait_micros(failures, None, i * 7_919 * 104_729))
                .collect();
            let (least, most) = (*waits.iter().min().unwrap(), *waits.iter().max().unwrap());
            assert!(
                least >= micros * 9 / 10 && most <= micros * 11 / 10,
                "{failures}: {least} to {most}"
            );
            assert!(most - least > micros / 10, "{failures}: {least} to {most}");
            assert_eq!(real.wait_micros(failures, None, 0), micros * 9 / 10);
            assert_eq!(
                real.wait_micros(failures, None, u64::try_from(micros / 5).unwrap()),
                micros * 11 / 10
            );
        }
    }

    #[test]
    fn a_receiver_may_ask_for_up_to_an_hour() {
        let real = BackOff::default();
        for (asked, seconds) in [(-1, 1), (0, 1), (7, 7), (3_600, 3_600), (86_400, 3_600)] {
            assert_eq!(real.wait_micros(1, Some(asked), 99), seconds * 1_000_000);
        }
    }

    #[test]
    fn a_thousand_times_faster() {
        let fast = BackOff { faster: 1_000 };
        assert_eq!(fast.wait_micros(1, None, 0), 4_500);
        assert_eq!(fast.wait_micros(9, Some(2), 0), 2_000);
        assert_eq!(fast.give_up_micros(), 432_000_000);
        assert_eq!(
            BackOff { faster: 0 }.give_up_micros(),
            BackOff::default().give_up_micros()
        );
    }
}
