//! How many files a server may have open, and how many of them are left for connections.

use bursar_http::{listen, metrics};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::cli::serve::ServeArgs;

/// For the log, the outbox, libraries, and connections to other services.
const BESIDE: u64 = 64;
/// The SQLite file, its log and its index.
const PER_DATABASE_CONNECTION: u64 = 3;

/// `None` is unlimited.
pub(crate) fn allowed() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Raises the limit to the maximum and returns it. Systems start programs with a low limit for
/// the sake of old ones that cannot handle more.
pub(crate) fn raise() -> Option<u64> {
    let before = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    match setrlimit(Resource::Nofile, most) {
        Ok(()) => before.maximum,
        Err(error) => {
            tracing::debug!(%error, "cannot raise the limit of open files");
            before.current
        }
    }
}

/// Files that a server with these flags may need beside its client connections.
pub(crate) fn beside(args: &ServeArgs) -> u64 {
    let metrics = args.metrics_listen.map_or(0, |_| metrics::CONNECTIONS_MAX as u64);
    BESIDE + metrics + u64::from(args.database_connections) * PER_DATABASE_CONNECTION
}

pub(crate) fn connections_max(allowed: Option<u64>, beside: u64) -> usize {
    let wanted = listen::Options::default().connections_max;
    let Some(allowed) = allowed else { return wanted };
    let left = allowed.saturating_sub(beside).max(allowed / 2).max(1);
    usize::try_from(left).map_or(wanted, |left| left.min(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_rest() {
        for (allowed, connections) in [
            (None, 10_000),
            (Some(1 << 20), 10_000),
            (Some(10_088), 10_000),
            (Some(1_024), 936),
            (Some(256), 168),
            (Some(100), 50),
            (Some(0), 1),
        ] {
            assert_eq!(connections_max(allowed, 88), connections, "{allowed:?}");
        }
    }
}
