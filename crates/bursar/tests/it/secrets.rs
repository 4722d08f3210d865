//! A secret that was given in place of an id is not repeated: a terminal, a log and a bug report may keep it.

use crate::cli::UNION;
use crate::support::{EVERY_RECORD, Place};

const SECRET: &str = "bursar_pat_7Jg0AiQhWwvQ1zWvYyq3nqGdG3oT1u0abcde";

#[test]
fn a_secret_is_never_repeated() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    let made = place.json(&[
        "token",
        "create",
        "--organization",
        UNION,
        "--service",
        "--role",
        "viewer",
        "--scopes",
        "members:read",
    ]);
    let real = made["secret"].as_str().unwrap();
    // One that is mistyped, or cut off by the terminal, is as good as whole.
    for secret in [real, SECRET, &real[..30]] {
        for args in [
            &["token", "revoke", secret][..],
            &["token", "show", secret],
            &["token", "explain", secret],
            &["token", "rotate", secret],
            &["token", "list", "--organization", secret],
            &["member", "archive", secret],
            &["payment", "cancel", secret],
            &["card", "freeze", secret],
            &["undo", secret],
            &["messages", "--organization", UNION, "--retry", secret],
            &["reminder", "cancel", secret, "--organization", UNION],
            &["export", "--organization", secret],
            &[
                "role",
                "set",
                "--organization",
                UNION,
                "--role",
                "viewer",
                "--user",
                secret,
            ],
            &[
                "member",
                "archive",
                "mem_01jbst1c00e008000000000000",
                "--as",
                secret,
            ],
            &["token", secret],
            &["import", secret],
            &["check", secret],
            &["check", "--database", secret],
        ] {
            let done = place.run(args);
            assert_ne!(done.code, Some(0), "{args:?}");
            let said = done.one_line();
            assert!(!said.contains(&secret[12..]) && done.stdout.is_empty(), "{said}");
        }
    }
    let said = place.run(&["token", "revoke", real]).one_line();
    for words in ["secret of a token", "not an id", "bursar token list", "revoke"] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(
        place.json(&["token", "show", made["id"].as_str().unwrap()])["state"],
        "active"
    );
}
