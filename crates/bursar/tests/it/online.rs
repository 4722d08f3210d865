//! The payment provider by command, and the reports that it sends. `scripts/stripe` has the way of money, with programs of
//! others.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use bursar::here;
use bursar_stripe::signature::sign;

use crate::support::{Place, roster};

const KEY: &str = "rk_test_51abcdefghijklmnop4242";
const SECRET: &str = "whsec_abcdefghijklmnop";

fn seconds() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "a report is signed now")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

#[test]
fn a_provider_is_set_shown_and_removed_and_only_signed_reports_are_taken() {
    let (place, roster) = (Place::sqlite(), roster(1));
    place.import(place.bundle("roster.ndjson", &roster.text));
    let organization = roster.organization.to_string();
    let (key, secret) = (place.file("key"), place.file("secret"));
    fs::write(&key, format!("{KEY}\n")).unwrap();
    fs::write(&secret, SECRET).unwrap();
    assert!(
        place
            .refused(&["provider", "show"])
            .contains("has no payment provider")
    );
    let set = place.ok(&[
        "provider",
        "set",
        "--key-file",
        key.to_str().unwrap(),
        "--webhook-secret-file",
        secret.to_str().unwrap(),
    ]);
    let shown = place.ok(&["provider", "show"]);
    for told in [&set, &shown, &place.export(), &place.ok(&["activity"])] {
        assert!(!told.contains(KEY) && !told.contains(SECRET), "{told}");
    }
    let path = format!("/hooks/stripe/{organization}");
    assert!(
        shown.contains("rk_test_…4242") && shown.contains(&path),
        "{shown}"
    );
    let refused = place.refused(&["provider", "test", "--stripe-api", "http://127.0.0.1:1"]);
    assert!(refused.contains("Stripe cannot be reached"), "{refused}");

    let words = [
        "--database",
        &place.database,
        "--listen",
        "127.0.0.1:0",
        "--no-worker",
    ];
    let served = here::serve(&words, place.folder.path()).unwrap();
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .new_agent();
    let send = |path: &str, header: &str, body: &str| {
        let sent = agent
            .post(format!("http://{}{path}", served.address))
            .header("content-type", "application/json; charset=utf-8")
            .header("stripe-signature", header)
            .header("origin", "https://stripe.example.org")
            .send(body);
        sent.unwrap().status().as_u16()
    };
    let body = r#"{"id":"evt_1","type":"payout.paid","data":{"object":{"object":"payout","id":"po_1"}}}"#;
    let now = seconds();
    let good = sign(body.as_bytes(), SECRET, now).unwrap();
    assert_eq!(send(&path, &good, body), 200);
    assert_eq!(send(&path, &good, body), 200, "replayed");
    assert_eq!(send(&path, &good, &format!("{body} ")), 400, "another body");
    let other = sign(body.as_bytes(), "whsec_other", now).unwrap();
    let old = sign(body.as_bytes(), SECRET, now - 400).unwrap();
    for forged in [other.as_str(), old.as_str(), "", "t=1,v1=00"] {
        assert_eq!(send(&path, forged, body), 400, "{forged}");
    }
    let elsewhere = "/hooks/stripe/org_01h455vb4pex5vsknk084sn02q";
    assert_eq!(send(elsewhere, &good, body), 400);
    assert_eq!(send("/hooks/stripe/nobody", &good, body), 400);
    assert_eq!(send("/hooks/other", &good, body), 404);
    assert_eq!(send(&path, &good, &"x".repeat(600 << 10)), 413);
    drop(served);

    place.check();
    place.ok(&["provider", "remove", "--yes"]);
    assert!(
        place
            .refused(&["provider", "test"])
            .contains("has no payment provider")
    );
}
