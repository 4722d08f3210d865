//! Files between two forms: one person's, a few at a time, for an hour.

use bursar_app::housekeeping::{self, Retention};
use bursar_app::{AppError, Identity, Whole, uploads};
use bursar_db::testing::both_engines;
use bursar_domain::Timestamp;
use bursar_domain::attachment::PART_BYTES;
use bursar_domain::ids::{Id, UploadId};
use serde_json::json;

use crate::support::{app_at, bundle, import_now, now, numbers, org, usr};

const COUNT: &str = "SELECT COUNT(*) FROM uploads";
const PARTS: &str = "SELECT COUNT(*) FROM upload_parts";

#[test]
fn an_upload_is_one_persons_and_ends_after_an_hour() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = vec![
            json!({"type": "organization", "id": org(1), "name": "One", "kind": "independent"}),
            json!({"type": "organization", "id": org(2), "name": "Two", "kind": "independent"}),
        ];
        for n in 1..=2 {
            records.push(json!({"type": "user", "id": usr(n), "email": format!("u{n}@example.org")}));
            for of in 1..=2 {
                let role =
                    json!({"type": "role", "organizationId": org(of), "userId": usr(n), "role": "editor"});
                records.push(role);
            }
        }
        import_now(db, &bundle(&records)).unwrap();
        let park = |user: u128, size: usize, at: Timestamp| -> Result<UploadId, AppError> {
            let bytes = vec![7; size];
            app_at(db, at)
                .act(Identity::Person(usr(user)), org(1), move |act| {
                    uploads::park(act, "members.csv", &bytes)
                })
                .wait()
        };
        let get = |user: u128, of: u128, id: UploadId, at: Timestamp| {
            app_at(db, at)
                .view(Identity::Person(usr(user)), org(of), move |view| {
                    uploads::get(view, id)
                })
                .wait()
        };
        let first = park(1, 2 * PART_BYTES + 1, now()).unwrap();
        let parked = get(1, 1, first, now()).unwrap();
        assert_eq!(
            (parked.name.as_str(), parked.bytes.len()),
            ("members.csv", 2 * PART_BYTES + 1)
        );
        for (user, of, at) in [
            (2, 1, now()),
            (1, 2, now()),
            (1, 1, now().plus_seconds(uploads::KEPT_SECONDS)),
        ] {
            assert!(get(user, of, first, at).is_err(), "{user} {of} {at}");
        }
        assert!(park(1, 0, now()).is_err() && park(1, uploads::SIZE_MAX + 1, now()).is_err());
        // A sixth replaces the oldest of the same person.
        park(2, 1, now()).unwrap();
        for second in 1..=5 {
            park(1, 1, now().plus_seconds(second)).unwrap();
        }
        assert!(get(1, 1, first, now().plus_seconds(5)).is_err());
        assert_eq!(
            (numbers(db, COUNT, &[]), numbers(db, PARTS, &[])),
            (vec![6], vec![6])
        );
        let prune = |at: Timestamp| {
            let retention = Retention {
                idempotency_seconds: 86_400,
                message_seconds: 86_400,
                event_seconds: 86_400,
            };
            let work = move |whole: &mut Whole<'_, '_>| housekeeping::prune(whole, retention);
            let pruned: Result<bool, AppError> = app_at(db, at)
                .change(Identity::Worker, Id::from_bits(0), work)
                .wait();
            pruned.unwrap()
        };
        prune(now().plus_seconds(uploads::KEPT_SECONDS + 2));
        assert_eq!(numbers(db, COUNT, &[]), [4]);
        prune(now().plus_seconds(2 * uploads::KEPT_SECONDS));
        assert_eq!(
            (numbers(db, COUNT, &[]), numbers(db, PARTS, &[])),
            (vec![0], vec![0])
        );
    });
}
