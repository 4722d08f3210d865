//! A key is recorded once.

use bursar_db::DbError;
use bursar_db::idempotency::{Output, get, insert};
use bursar_db::testing::both_engines;
use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

const DAY: i64 = 24 * 3600;

/// Two transactions can only record the same key if one of them wrote without the organization's clock. The second one
/// is refused, so that the request has one effect.
#[test]
fn a_key_that_is_in_use_is_not_recorded_again() {
    both_engines(|test| {
        let organization = OrganizationId::from_bytes([1; 16]);
        let (first, second) = (
            Timestamp::from_micros(1_000_000),
            Timestamp::from_micros(2_000_000),
        );
        let record = |status: u16, at: Timestamp| {
            let body = status.to_string();
            let done: Result<(), DbError> = test.db.exclusive(move |tx| {
                let output = Output { status, body };
                insert(tx, organization, [2; 16], "key", &[3; 32], &output, at)
            });
            done
        };
        let status = |since: Timestamp| {
            let found: Result<_, DbError> = test
                .db
                .read(move |tx| get(tx, organization, [2; 16], "key", since))
                .wait();
            found.unwrap().map(|(_, output)| output.status)
        };
        record(200, first).unwrap();
        record(201, second).unwrap_err();
        assert_eq!(status(first), Some(200));
        // It expired, and was not pruned yet.
        let later = second.plus_seconds(DAY);
        record(202, later).unwrap();
        assert_eq!((status(first), status(later)), (Some(202), Some(202)));
    });
}
